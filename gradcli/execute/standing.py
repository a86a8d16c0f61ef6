"""Entries that stand for many: what every operation of such an entry has."""

from __future__ import annotations

from gradcli.tape.record import fresh_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.tape.record import Entry


class Standing:
    """The operation of an entry that stands for `count` ordinary ones, whose ids, `first` to
    `last`, are set aside. kink: that of one of them, if any has one. partial: whether one is.
    """

    __slots__ = ("first", "kink", "last", "partial")
    name = "stretch"
    kind = "stretch"
    elementwise = False
    by_parts = False
    smooth = True
    holomorphic = False

    def __init__(self, count: int, kink: Callable[..., Any] | None, partial: bool) -> None:
        self.first, self.last = fresh_ids(count)
        self.kink = kink
        self.partial = partial

    def edge(self, k: int) -> bool:
        """A derivative passes from every input."""
        return True

    def role(self, k: int) -> str:
        """All inputs are data."""
        return "data"

    def made(self) -> range:
        """The ids of the values that it made."""
        return range(self.first, self.last + 1)

    def pull_back(self, adjoints: dict[int, float], asked: set[int], wanted: dict[int, float]
                  ) -> bool:
        """Take the adjoints of what it made, add to those of its inputs, put those that are `asked`
        for and were made inside into `wanted`.

        False, or what Python's arithmetic raises at an edge, with all as it was, where only the
        entries that it stands for can tell.
        """
        raise NotImplementedError  # a stretch and a passage sweep in ways of their own

    def is_extreme(self) -> bool:
        """Whether a number that it was run on is very large, or a constant very small (see
        `gradcli.sweeps.extremes`).
        """
        raise NotImplementedError  # a stretch and a passage keep their numbers in ways of their own

    def expand(self) -> list[Entry]:
        """The entries that it stands for."""
        raise NotImplementedError  # a stretch and a passage run in ways of their own
