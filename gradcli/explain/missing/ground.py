"""What a fix stands on: the text and its lines, what ran, and what was asked."""

from __future__ import annotations

import re

from gradcli.engine.record.record import OUT
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing.scene import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.explain.missing.outline import Line, Outline
    from gradcli.explain.missing.scene import Scene, Subject


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


# --------------------------------------------------------------------------------------------------
# A branch of which one arm ran, as a `where` that computes both.

def where_for(ground: Ground, reason: Reason) -> Edit | None:
    """The change, if both arms only bind one name, or are the two of an expression."""
    unrun = reason.about
    if unrun is None or reason.span is None:
        return None
    line = ground.outline.at(reason.span[0])
    if line is None:
        return None
    condition = ground.text[reason.span[0]:reason.span[1]]
    if line.is_head:
        return _where_for_block(ground, line, condition)
    statement = ground.text[line.first:line.last]
    found = re.match(
        rf"(\w+\s*=\s*)(.+?)\s+if\s+{re.escape(condition)}\s+else\s+(.+)$", statement, re.DOTALL)
    if found is None or not line.alone or " if " in found[2] or " if " in found[3]:
        return None
    return line.first, line.last, f"{found[1]}where({condition}, {found[2]}, {found[3]})"


def _where_for_block(ground: Ground, head: Line, condition: str) -> Edit | None:
    outline = ground.outline
    k = outline.lines.index(head)
    arms = outline.lines[k + 1:k + 4]
    if len(arms) != 3 or arms[0].parent is not head or not arms[1].is_head or (
            arms[2].parent is not arms[1]) or arms[1].parent is not head.parent:
        return None
    if outline.inside(head) != [arms[0]] or outline.inside(arms[1]) != [arms[2]]:
        return None
    texts = [ground.text[line.first:line.last] for line in (head, *arms)]
    if not texts[0].startswith("if") or texts[2].rstrip(" :") != "else":
        return None
    found = [re.match(r"(\w+)\s*=(?!=)\s*(.+)$", text, re.DOTALL) for text in (texts[1], texts[3])]
    if found[0] is None or found[1] is None or found[0][1] != found[1][1]:
        return None
    text = f"{found[0][1]} = where({condition}, {found[0][2]}, {found[1][2]})"
    return head.first, arms[2].last, text
