"""What a fix stands on: the text and its lines, what ran, and what was asked."""

from __future__ import annotations

import re

from gradcli.explain.missing.scene import place_of
from gradcli.explain.reason import Fix
from gradcli.tape.record import OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Span
    from gradcli.explain.missing.outline import Line, Outline
    from gradcli.explain.missing.scene import Scene, Subject
    from gradcli.explain.reason import Edit
    from gradcli.tape.record import Entry


class Ground:
    """variables: the names declared with `var`."""

    __slots__ = ("outline", "scene", "subject", "text", "variables")

    def __init__(self, outline: Outline, scene: Scene, subject: Subject, variables: Sequence[str]
                 ) -> None:
        self.outline = outline
        self.text = outline.text
        self.scene = scene
        self.subject = subject
        self.variables = variables

    def has_name(self) -> bool:
        """Whether the source can be written as a name."""
        return self.subject.source.isidentifier()

    def is_variable(self, name: str) -> bool:
        """Whether a name is declared with `var`."""
        return name in self.variables

    def free_name(self, name: str) -> str:
        """A name like another one that the text does not have yet."""
        k = 2
        while re.search(rf"\b{re.escape(name)}_?{k}\b", self.text):
            k += 1
        return f"{name}_{k}" if name[-1:].isdigit() else f"{name}{k}"

    def row(self, line: Line) -> int:
        """The number of a line, from 1."""
        return self.text.count("\n", 0, line.first) + 1

    def changed(self, *edits: Edit) -> Fix:
        """A change inside one statement, told as the statement reads then."""
        start, end = self._statement(edits[0][0])
        text = self.text[start:end]
        for first, last, new in sorted(edits, reverse=True):
            text = text[:first - start] + new + text[last - start:]
        return Fix(text.strip(), *edits)

    def _statement(self, offset: int) -> Span:
        line = self.outline.at(offset)
        if line is None:
            return offset, offset
        start, end = line.first, line.last
        if not line.alone:
            # Of several statements in one line, the one that it is about.
            for at in self.outline.semicolons(line):
                if at < offset:
                    start = at + 1
                elif at >= offset:
                    end = min(end, at)
        return start, end

    def site(self, entry: Entry) -> Line | None:
        """The statement in which an operation ran: that of the call if it stands in a function, but
        for the one in which the tape stands as well.
        """
        span = self.scene.asked(entry[OUT]) or place_of(entry)
        if span is None:
            return None
        window = self.subject.window
        called = self.scene.caller(entry[OUT], span, window.span if window is not None else None)
        return self.outline.at((called or span)[0])

    def block(self) -> Line | None:
        """The head of the block of the tape that was asked; None if it is no block of lines."""
        window = self.subject.window
        head = self.outline.at(window.span[0]) if window is not None and window.span else None
        return head if head is not None and head.is_head else None
