"""Traces: what ran at one point and holds at others, which executors run there."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gradcli.engine.record.record import (
    ATTRIBUTES,
    IDS,
    OP,
    OUT,
    VALUES,
    ancestry,
    descendants,
    fresh_ids,
)
from gradcli.ops.rows import Unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry


class Unrecorded(Exception):
    """A question that is asked at each point anew: what ran does not hold at others."""


class Elsewhere(Exception):
    """A point takes another way through the program than the one that was recorded."""


class Doubtful(Exception):
    """A derivative at a point is NaN: there zeros may absorb, which only a sweep knows."""


class Trace:
    """The trace of a program at one point, with the values that decided its path.

    entries: in order, derivatives included. inputs: ids of the values that a point gives, in order,
    to the values. answers: (id, value) of what is wanted; what no input leads to is answered by its
    value. guards: (id, value) of what decided the way: another value is another way.
    derivatives: ids of values that are doubtful if they are NaN; slopes: those that the program
    takes itself. own: how many entries are those of the program; the others are of the question.
    steps: the entries that depend on the inputs and lead to what has to be known.
    """

    __slots__ = ("_steps", "answers", "derivatives", "entries", "guards", "inputs", "own", "slopes")

    def __init__(self, entries: Sequence[Entry], inputs: Mapping[int, Any],
                 answers: Sequence[tuple[int | None, Any]], guards: Sequence[tuple[int, Any]],
                 derivatives: Sequence[int], own: int, slopes: Sequence[int] = ()) -> None:
        self.entries = entries
        self.inputs = dict(inputs)
        self.answers = list(answers)
        self.guards = list(guards)
        self.derivatives = list(derivatives)
        self.own = own
        self.slopes = list(slopes)
        self._steps: list[Entry] | None = None

    @property
    def steps(self) -> list[Entry]:
        if self._steps is None:
            self._steps = self._needed()
        return self._steps

    def _needed(self) -> list[Entry]:
        wanted = {i for i, _ in (*self.answers, *self.guards)}
        wanted.update(self.derivatives)
        wanted.update(self.fragile())
        needed = ancestry(self.entries, wanted)
        known = descendants(self.entries, self.inputs)
        return [e for e in self.entries if e[OUT] in needed and not known.isdisjoint(e[IDS])]

    def fragile(self) -> list[int]:
        """Return the ids of values of the program that may be refused at another point, read or
        not.
        """
        return [e[OUT] for e in self.entries[:self.own] if may_fail(e)]


def mixes_points(entry: Entry, varies: Collection[int | None]) -> bool:
    """Return whether an operation does not leave an axis of points in front alone: because it looks
    at all elements, or because it cannot tell this axis from one of an index that depends on the
    point.
    """
    op, along = entry[OP], entry[ATTRIBUTES].get("axis") is not None
    return not op.elementwise and not along and ("whole_tensor" in op.traits or any(
        i in varies and op.role(k) == "index" for k, i in enumerate(entry[IDS])))


def may_fail(entry: Entry) -> bool:
    """Return whether an operation may refuse other values than those it ran on: it is not a formula
    of floats, such as a matrix inverse.
    """
    return not entry[OP].elementwise or any(
        type(v) is int and i is not None for v, i in zip(entry[VALUES], entry[IDS], strict=True))


def holds(entry: Entry) -> bool:
    """Return whether an operation is a row of the table that calculates from its operands."""
    op: Any = entry[OP]
    return op.name != "left_engine" and (op.elementwise or getattr(op, "arrays", None) is not None)


# --------------------------------------------------------------------------------------------------
# Entries that stand for many: what every operation of such an entry has.

class Standing(Unlisted, ABC):
    """The operation of an entry that stands for `count` ordinary ones, whose ids, `first` to
    `last`, are set aside. kink: that of one of them, if any has one. partial: whether one is.
    """

    __slots__ = ("first", "kink", "last", "partial")
    name = "stretch"
    kind = "stretch"

    def __init__(self, count: int, kink: Callable[..., Any] | None, partial: bool) -> None:
        self.first, self.last = fresh_ids(count)
        self.kink = kink
        self.partial = partial

    def made(self) -> range:
        """Return the ids of the values that it made."""
        return range(self.first, self.last + 1)

    @abstractmethod
    def pull_back(self, adjoints: dict[int, float], asked: set[int], wanted: dict[int, float]
                  ) -> bool:
        """Take the adjoints of what it made, add to those of its inputs, put those that are `asked`
        for and were made inside into `wanted`.

        False, or what Python's arithmetic raises at an edge, with all as it was, where only the
        entries that it stands for can tell.
        """

    @abstractmethod
    def is_extreme(self) -> bool:
        """Return whether a number that it was run on is very large, or a constant very small (see
        `gradcli.engine.sweeps.extremes`).
        """

    @abstractmethod
    def expand(self) -> list[Entry]:
        """Return the entries that it stands for."""
