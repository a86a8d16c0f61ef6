"""The statements of a program's text as lines and blocks, and changes that insert or move them."""

from __future__ import annotations

import re

from gradcli.engine.record.record import OP, OUT
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing.scene import Hop, place_of
from gradcli.lang.syntax.lexer import (
    COLON,
    DEDENT,
    DEF,
    ELIF,
    ELSE,
    END,
    ERROR,
    FOR,
    FORWARD,
    IF,
    INDENT,
    NEWLINE,
    RESUME,
    SEMICOLON,
    STOP_RECORDING,
    TAPE,
    WHILE,
    lex,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.explain.missing.scene import Gap, Scene

HEADS = frozenset((TAPE, FORWARD, STOP_RECORDING, RESUME, IF, ELIF, ELSE, FOR, WHILE, DEF))


class Line:
    """A statement with all the lines that its brackets span; of a block its head.

    start, end: offsets of the whole lines, the line end included.
    first, last: offsets of the statement, without indentation, comment and line end.
    parent: the head of the block that contains it.
    alone: no other statement is on its lines.
    """

    __slots__ = ("alone", "end", "first", "indent", "is_head", "last", "parent", "start")

    def __init__(self, start: int, end: int, first: int, last: int, indent: str,
                 parent: Line | None, is_head: bool, alone: bool) -> None:
        self.start = start
        self.end = end
        self.first = first
        self.last = last
        self.indent = indent
        self.parent = parent
        self.is_head = is_head
        self.alone = alone


class Outline:
    """The statements of a text, in order."""

    __slots__ = ("lines", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: list[Line] = []
        heads: list[Line] = []
        kinds, starts, ends = lex(text)
        first = -1
        plain, head = True, False
        last: int = ERROR
        for k, kind in enumerate(kinds):
            if kind == INDENT:
                heads.append(self.lines[-1])
                self.lines[-1].is_head = True
            elif kind == DEDENT:
                if heads:
                    heads.pop()
            elif kind in (NEWLINE, END):
                if first >= 0:
                    self._add(first, ends[k - 1], heads, plain)
                first, plain, head = -1, True, False
            else:
                if first < 0:
                    first, head = starts[k], kind in HEADS
                plain = plain and kind != SEMICOLON and not (head and last == COLON)
                last = kind

    def _add(self, first: int, last: int, heads: list[Line], alone: bool) -> None:
        start = max(self.text.rfind("\n", 0, first), self.text.rfind("\r", 0, first)) + 1
        end = self.text.find("\n", last)
        end = len(self.text) if end < 0 else end + 1
        self.lines.append(Line(start, end, first, last, self.text[start:first],
                               heads[-1] if heads else None, False, alone))

    def at(self, offset: int) -> Line | None:
        """Return the statement around an offset; None if there is none."""
        return next((line for line in self.lines if line.start <= offset < line.end), None)

    def inside(self, head: Line) -> list[Line]:
        """Return all statements in a block, nested ones included."""
        found = []
        for line in self.lines:
            up = line.parent
            while up is not None and up is not head:
                up = up.parent
            if up is head:
                found.append(line)
        return found

    def chain(self, line: Line) -> list[Line]:
        """Return an `if` with its `elif` and `else` heads, of which `line` is one; else `line`."""
        same = [other for other in self.lines if other.parent is line.parent]
        at = first = same.index(line)
        while first > 0 and self._continues(same[first]):
            first -= 1
        while at + 1 < len(same) and self._continues(same[at + 1]):
            at += 1
        return same[first:at + 1]

    def _continues(self, line: Line) -> bool:
        return re.match(r"(else|elif)\b", self.text[line.first:line.last]) is not None

    def whole(self, line: Line) -> Span:
        """Return the span of a statement's lines, its block included."""
        inner = self.inside(line)
        return line.start, (inner[-1].end if inner else line.end)

    def insertion(self, text: str, before: Line) -> Edit:
        """Return the edit that inserts a line before a statement, indented alike."""
        return before.start, before.start, f"{before.indent}{text}{self.ending}"

    def behind(self, text: str, line: Line) -> Edit:
        """Return the edit that inserts a line after a statement and its block, indented alike."""
        end = self.whole(line)[1]
        lead = "" if self.text[end - 1:end] in ("\n", "\r") else self.ending
        return end, end, f"{lead}{line.indent}{text}{self.ending}"

    def appended_lines(self, text: str, head: Line) -> Edit:
        """Return the edit that appends whole lines to a block."""
        end = self.whole(head)[1]
        lead = "" if self.text[end - 1:end] in ("\n", "\r") else self.ending
        return end, end, lead + text

    def semicolons(self, line: Line) -> list[int]:
        """Return the offsets of the semicolons between the statements of a line."""
        kinds, starts, _ = lex(self.text[line.first:line.last])
        return [line.first + at for kind, at in zip(kinds, starts, strict=True)
                if kind == SEMICOLON]

    def shifted(self, lines: Sequence[Line], indent: str) -> str:
        """Return the text of statements with their blocks at another indentation."""
        out = []
        for line in lines:
            start, end = self.whole(line)
            for row in self.text[start:end].splitlines(keepends=True):
                kept = row[len(line.indent):] if row.startswith(line.indent) else row.lstrip(" \t")
                out.append(indent + kept if row.strip() else row)
            if not out[-1].endswith(("\n", "\r")):
                out[-1] += self.ending
        return "".join(out)

    @property
    def ending(self) -> str:
        """The line ending of the text."""
        return "\r\n" if "\r\n" in self.text else "\n"


def applied(text: str, edits: list[Edit]) -> str | None:
    """Return the text with all edits, identical ones once; None where two of them overlap."""
    end = len(text)
    out = text
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit[0], edit[1]))
    for start, stop, new in reversed(ordered):
        if stop > end:
            return None
        out = out[:start] + new + out[stop:]
        end = start
    return out


class FixContext:
    """The text, scene and gap of fixes. variables: names declared with `var`."""

    __slots__ = ("gap", "outline", "scene", "text", "variables")

    def __init__(self, outline: Outline, scene: Scene, gap: Gap, variables: Sequence[str]
                 ) -> None:
        self.outline = outline
        self.text = outline.text
        self.scene = scene
        self.gap = gap
        self.variables = variables

    def has_name(self) -> bool:
        """Return whether the source can be written as a name."""
        return self.gap.source.isidentifier()

    def is_variable(self, name: str) -> bool:
        """Return whether a name is declared with `var`."""
        return name in self.variables

    def free_name(self, name: str) -> str:
        """Return a similar name that the text does not contain."""
        k = 2
        while re.search(rf"\b{re.escape(name)}_?{k}\b", self.text):
            k += 1
        return f"{name}_{k}" if name[-1:].isdigit() else f"{name}{k}"

    def row(self, line: Line) -> int:
        """Return the number of a line, from 1."""
        return self.text.count("\n", 0, line.first) + 1

    def changed(self, *edits: Edit) -> Fix:
        """Return the fix of edits inside one statement; its text is the changed statement."""
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
            # Of several statements in one line, the one around the offset.
            for at in self.outline.semicolons(line):
                if at < offset:
                    start = at + 1
                elif at >= offset:
                    end = min(end, at)
        return start, end

    def site(self, entry: Entry) -> Line | None:
        """Return the statement in which an operation ran: in a function that the tape is not in,
        the statement of the call. None without a location.
        """
        span = self.scene.asked(entry[OUT]) or place_of(entry)
        if span is None:
            return None
        window = self.gap.window
        called = self.scene.caller(entry[OUT], span, window.span if window is not None else None)
        return self.outline.at((called or span)[0])

    def block(self) -> Line | None:
        """Return the head of the block of the tape that was asked; None if it has no block."""
        window = self.gap.window
        head = self.outline.at(window.span[0]) if window is not None and window.span else None
        return head if head is not None and head.is_head else None


# --------------------------------------------------------------------------------------------------
# A branch of which one arm ran, as a `where` that computes both.

def where_for(context: FixContext, reason: Reason) -> Edit | None:
    """Return the edit that replaces a branch by `where`; None unless both arms only bind one name,
    or are those of a conditional expression.
    """
    unrun = reason.about
    if unrun is None or reason.span is None:
        return None
    line = context.outline.at(reason.span[0])
    if line is None:
        return None
    condition = context.text[reason.span[0]:reason.span[1]]
    if line.is_head:
        return _where_for_block(context, line, condition)
    statement = context.text[line.first:line.last]
    found = re.match(
        rf"(\w+\s*=\s*)(.+?)\s+if\s+{re.escape(condition)}\s+else\s+(.+)$", statement, re.DOTALL)
    if found is None or not line.alone or " if " in found[2] or " if " in found[3]:
        return None
    return line.first, line.last, f"{found[1]}where({condition}, {found[2]}, {found[3]})"


def _where_for_block(context: FixContext, head: Line, condition: str) -> Edit | None:
    outline = context.outline
    k = outline.lines.index(head)
    arms = outline.lines[k + 1:k + 4]
    if len(arms) != 3 or arms[0].parent is not head or not arms[1].is_head or (
            arms[2].parent is not arms[1]) or arms[1].parent is not head.parent:
        return None
    if outline.inside(head) != [arms[0]] or outline.inside(arms[1]) != [arms[2]]:
        return None
    texts = [context.text[line.first:line.last] for line in (head, *arms)]
    if not texts[0].startswith("if") or texts[2].rstrip(" :") != "else":
        return None
    found = [re.match(r"(\w+)\s*=(?!=)\s*(.+)$", text, re.DOTALL) for text in (texts[1], texts[3])]
    if found[0] is None or found[1] is None or found[0][1] != found[1][1]:
        return None
    text = f"{found[0][1]} = where({condition}, {found[0][2]}, {found[1][2]})"
    return head.first, arms[2].last, text


def watch_line(context: FixContext, gap: Gap) -> Edit | None:
    """Return the edit that inserts a watch of the source early enough; None if none does."""
    head = context.block()
    if head is None or not context.has_name():
        return None
    assert context.gap.window is not None
    call = f"{context.gap.window.name}.watch({context.gap.source})"
    inside = [line for line in context.outline.inside(head) if line.parent is head]
    naming = context.scene.naming(gap.own)
    born = context.outline.at(naming.span[0]) if naming is not None and naming.span else None
    if born is not None and born in inside:
        return context.outline.behind(call, born)
    return context.outline.insertion(call, inside[0]) if inside else None


def watch_earlier(context: FixContext, reason: Reason) -> list[Edit]:
    """Return the edits that move the line of a watch above the first use."""
    place = reason.related[0][0] if reason.related else None
    line = context.outline.at(place[0]) if place is not None else None
    head = context.block()
    if line is None or head is None or not line.alone:
        return []
    text = context.text[line.first:line.last]
    gone = line.start, line.end, ""
    uses = [site for entry in context.scene.uses(context.gap.own)
            if not isinstance(entry[OP], Hop)
            for site in [context.site(entry)] if site is not None]
    for use in uses:
        within = _child_of(use, head)
        if within is not None:
            return [context.outline.insertion(text, within), gone]
    return []


def _child_of(line: Line, head: Line) -> Line | None:
    """Return the statement directly in a block that contains a line; None if there is none."""
    up: Line | None = line
    while up is not None and up.parent is not head:
        up = up.parent
    return up


def moved_into_block(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to move unrecorded lines into the tape's block: before their use, else to the end."""
    head = context.block()
    if head is None:
        return []
    lines = _liftable(context, [context.site(entry) for entry in reason.abouts], head)
    made = {entry[OUT] for entry in reason.abouts}
    return _moved(context, lines, head, made)


def _liftable(context: FixContext, lines: Sequence[Line | None], head: Line) -> list[Line]:
    """Return the outermost statements around lines but not the block; empty if one cannot move."""
    found: list[Line] = []
    around = _around(head)
    for line in lines:
        if line is None:
            return []
        while line.parent is not None and line.parent not in around:
            line = line.parent
        for part in context.outline.chain(line):
            if part is head or part in around or not (part.alone or part.is_head):
                return []
            if part not in found:
                found.append(part)
    return sorted(found, key=lambda line: line.start)


def _around(line: Line) -> list[Line]:
    found = [line]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found


def _moved(context: FixContext, lines: Sequence[Line], head: Line, made: set[int]) -> list[Fix]:
    if not lines:
        return []
    outline = context.outline
    inside = [line for line in outline.inside(head) if line.parent is head]
    if any(line in inside for line in lines):
        return []
    indent = inside[0].indent if inside else head.indent + "  "
    edits: list[Edit] = [(*outline.whole(line), "") for line in lines]
    before = [line for line in lines if line.start < head.start]
    use = _first_use(context, before, made, head) if before else None
    if use is not None:
        edits.append((use.start, use.start, outline.shifted(before, indent)))
    late = [line for line in lines if use is None or line not in before]
    if late:
        edits.append(outline.appended_lines(outline.shifted(late, indent), head))
    told = [line for line in lines if outline.chain(line)[0] is line]
    shown = "; ".join(context.text[line.first:line.last] for line in told[:3])
    more = f" and {len(told) - 3} more lines" if len(told) > 3 else ""
    window = context.gap.window
    assert window is not None
    kind = "forward" if window.forward else "tape"
    return [Fix(f"move {shown}{more} into the block of {kind} {window.name}", *edits)]


def _first_use(context: FixContext, lines: Sequence[Line], made: set[int], head: Line
               ) -> Line | None:
    """Return the first statement directly in a block that uses a value of `made` or a name of
    `lines`.
    """
    outline = context.outline
    uses = {id(_child_of(site, head)) for entry in context.scene.uses(made)
            if not isinstance(entry[OP], Hop)
            for site in [context.site(entry)] if site is not None}
    names = {name for line in lines for name in re.findall(
        r"^[ \t]*(\w+)[ \t]*=(?!=)", context.text[slice(*outline.whole(line))], re.MULTILINE)}
    named = re.compile(rf"\b(?:{'|'.join(names)})\b") if names else None
    for line in outline.inside(head):
        if line.parent is not head:
            continue
        text = context.text[line.first:outline.whole(line)[1]]
        begin = outline.chain(line)[0]
        if id(line) in uses or (named is not None and named.search(text)):
            return begin
    return None


def out_of_pause(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to move lines out of a block in which the tape pauses: behind it, or before it."""
    place = reason.related[0][0] if reason.related else None
    head = context.outline.at(place[0]) if place is not None else None
    if head is None or not head.is_head:
        return []
    outline = context.outline
    lines: list[Line] = []
    for entry in reason.abouts:
        site = context.site(entry)
        within = _child_of(site, head) if site is not None else None
        if within is None:
            return []
        if within not in lines:
            lines.append(within)
    lines.sort(key=lambda line: line.start)
    start, end = outline.whole(head)
    rest = [line for line in outline.inside(head) if line.parent is head and line not in lines]
    gone: list[Edit] = [(*outline.whole(line), "") for line in lines] if rest else [
        (start, end, "")]
    text = outline.shifted(lines, head.indent)
    shown = "; ".join(context.text[line.first:line.last] for line in lines[:3])
    said = f"move {shown} out of the block"
    if not rest:
        return [Fix(said, (start, end, text))]
    lead = "" if context.text[end - 1:end] in ("\n", "\r") else outline.ending
    return [Fix(said, *gone, (end, end, lead + text)), Fix(said, *gone, (start, start, text))]
