"""A graph of numbered operations, operands before their users, and the walks over it.

The nodes of a formula, its terms and the statements of a compiled program are such graphs. Other
properties of a node stand in columns of their own, by the same numbers. (The record is none: its
ids have gaps, and `gradcli.engine.record.record` walks over the list of entries.)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import Any, TypeVar

    Node = TypeVar("Node", bound=Hashable)


class Graph:
    """Operations by number.

    args: for each number those that it reads, none for a leaf. known: key to the number of the one
    operation with that key.
    """

    __slots__ = ("args", "known")

    def __init__(self, leaves: int = 0) -> None:
        self.args: list[tuple[int, ...]] = [()] * leaves
        self.known: dict[Any, int] = {}

    def node(self, key: Any, args: tuple[int, ...]) -> int:
        """Return the number of the operation with this key: a new one if there is none."""
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = len(self.args)
            self.args.append(args)
        return number

    def needed(self, numbers: Iterable[int]) -> list[int]:
        """Return the operations that lead to some numbers, themselves included, in order."""
        args = self.args
        found = {*numbers}
        pending = [*found]
        while pending:
            for a in args[pending.pop()]:
                if a not in found:
                    found.add(a)
                    pending.append(a)
        return sorted(found)

    def uses(self, numbers: Iterable[int], once: Callable[[int, int], bool]) -> list[int]:
        """Count the occurrences of each operation in the texts of some numbers.

        once: whether an operation with this number of uses is written a single time, and its
        operands with it.
        """
        found = [0] * len(self.args)
        for k in numbers:
            found[k] += 1
        for k in range(len(found) - 1, -1, -1):
            if found[k]:
                n = 1 if once(k, found[k]) else found[k]
                for a in self.args[k]:
                    found[a] += n
        return found

    def last_uses(self) -> dict[int, int]:
        """Return for each number that is read the last one that reads it."""
        return {a: k for k, args in enumerate(self.args) for a in args}


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Return all nodes that are reached from some nodes, themselves included."""
    found = set(starts)
    pending = list(found)
    add, push, pop = found.add, pending.append, pending.pop
    while pending:
        for other in following(pop()):
            if other not in found:
                add(other)
                push(other)
    return found

