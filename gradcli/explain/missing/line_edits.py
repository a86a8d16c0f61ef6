"""The context of fixes (text, scene and question), and fixes that move lines."""

from __future__ import annotations

import re

from gradcli.engine.record.record import OP, OUT
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing.outline import FixContext
from gradcli.explain.missing.scene import Hop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.explain.missing.outline import Line
    from gradcli.explain.missing.scene import Gap


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
