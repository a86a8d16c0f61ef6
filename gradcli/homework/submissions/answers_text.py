"""answers.txt: what a student types into an editor.

    # student: s1234567
    1a: 2x sin x + x^2 cos x
    1b) f'(x) = 3x^2
    2 = <2x+3y, 3x>
    3:                          nothing is no answer
    4: x^2 + 2x +
       17                       indented lines continue

Other lines that begin with # are comments. A line that is not indented and begins with no id was
most likely broken by an editor: it continues, too, and a note says so. The end of a line stays in
an answer where a formula may end there: lines may be steps of their own.
"""

from __future__ import annotations

import re

from gradcli.homework.submissions.parsed import WORD, Ids, Parsed, short
from gradcli.reading.left import formula_lines

_STUDENT = re.compile(r"#\s*+student(?:\s+id)?\s*[:=]\s*(\S.*)", re.IGNORECASE)
# An id that could be one, but is not of this sheet: 7: 12b) a3:
_OTHER = re.compile(
    rf"(?:{WORD}\s*)?\(?(\d{{1,4}}[a-z]{{0,3}}(?:[.-]\w{{1,3}})?|[a-z]\d{{1,4}})\s*[:)]\s*(.*)",
    re.IGNORECASE | re.DOTALL)


def parse(text: str, ids: Ids) -> Parsed:
    """The answers in a text."""
    parsed = Parsed(ids)
    id: str | None = None
    lines: list[str] = []
    start = 0

    def finish() -> None:
        if id is not None:
            formulas = formula_lines("\n".join(filter(None, map(str.strip, lines))), minus=True)
            parsed.add(id, "\n".join([one.replace("\n", " ") for one in formulas]), start)

    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare:
            continue
        if line.startswith("#"):
            said = _STUDENT.match(line)
            if said and parsed.student is None:
                parsed.student = said[1].strip()
            continue
        if line[0].isspace() and id is not None:
            lines.append(bare)
            continue
        found = ids.line.fullmatch(bare)
        if found:
            finish()
            id, start, lines = found[1] or found[2], number, [found[3]]
            continue
        found = _OTHER.fullmatch(bare)
        if found:
            finish()
            id, start, lines = found[1], number, [found[2]]
        elif id is None:
            parsed.note("skipped", f"`{short(bare)}` belongs to no problem", number)
        else:
            parsed.note("joined", f"`{short(bare)}` is taken for the rest of the answer to {id}",
                        number)
            lines.append(bare)
    finish()
    return parsed
