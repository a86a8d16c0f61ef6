"""A branch of which one arm ran, as a `where` that computes both."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:

    from gradcli.explain.missing.ground import Ground
    from gradcli.explain.missing.outline import Line
    from gradcli.explain.reason import Edit, Reason


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
