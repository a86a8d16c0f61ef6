"""Which values of a large record are drawn as one node."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.answers.ask import Ask
    from gradcli.graphs.made import Made

    Key = Any


class Chosen:
    """What is one node. key: of what was made, or None where it is left out. note: what a reader
    has to know, or "".
    """

    __slots__ = ("key", "level", "note")

    def __init__(self, key: Callable[[Made], Key], level: int, note: str) -> None:
        self.key = key
        self.level = level
        self.note = note


def keys(ask: Ask, kept: Sequence[Made], most: int) -> Chosen:
    """The finest way to put values together that gives at most so many nodes."""
    def each(one: Made) -> Key:
        return one.id if one.question is None else ("question", one.question)

    def place(one: Made) -> Key:
        if one.question is not None:
            return ("question", one.span)
        return (one.operation, one.span) if one.span is not None else one.operation

    def line(one: Made) -> Key:
        return None if one.span is None else ask.program.source.position(one.span[0])[0]

    count = len(kept)
    for level, (key, what) in enumerate((
            (each, ""), (place, "what ran in one place is one node"),
            (line, "each line is one node"))):
        nodes = len({key(one) for one in kept})
        if nodes <= most:
            return Chosen(key, level, f"{count:,} operations are {nodes:,} nodes: {what}"
                           if what else "")
    last = sorted({line(one) for one in kept} - {None})[-most:]
    shown = set(last)

    def near(one: Made) -> Key:
        found = line(one)
        return found if found in shown else ("before", 0)

    return Chosen(near, 3, f"{count:,} operations are drawn as their last {most:,} lines; raise"
                   " --max-nodes for more")
