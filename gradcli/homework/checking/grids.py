r"""Vectors and matrices as people write them: rows on lines of their own, columns in brackets over
lines, `2x & 1 \\ y & x`, `[a] [b]`, `2x, 1 / y, x`, `a i, b j`.

A text is split at the signs that give the shape that is asked for. What comes of it is a list,
`[2x, 1; y, x]`, which is read as any other. It is sure where the text says this shape; where it
only can be cut so, a person decides.
"""

from __future__ import annotations

import re
from itertools import combinations, islice, product

from gradcli.lang.paper.left import closed
from gradcli.lang.paper.names import UNITS
from gradcli.lang.paper.tokens import ALONE, SCHOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.lang.paper.names import ProblemNames

    Cells = tuple[list[str], bool]

MOST = 8
"""So many ways to split a text are tried."""
DRAWN = str.maketrans(dict.fromkeys("⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠", " "))
"""Brackets over several lines, of pieces."""
BREAK = re.compile(r"\\\\(?:\s*\[[\d.]+[a-z]+\])?")
BINOMIAL = re.compile(r"\\[dt]?binom\s*(?=\{)")
ROWS = re.compile(r"\n+"), re.compile(";"), re.compile(r"(?<=\s)/(?=\s)")
CELLS = re.compile("&"), re.compile(r"\t+"), re.compile(r"\|"), re.compile(","), re.compile(
    r"(?<=[^\s+*/^·=−-]) {2,}(?=[^\s+*/^·=−-])")
DIGITS = re.compile(r"(?<!\d),|,(?!\d)")
"""A comma that is not a decimal one."""
GAP = re.compile(r"(?<=[^\s+*/^·=−-])\s+(?=[^\s+*/^·=])")
GROUPED = re.compile(r"\d\s+\d{3}(?!\d)|\d\s+\d+\s*/\s*\d")
"""Digits that may be one number in a column, too: 1 000, 1 1/2."""
TWO_NUMBERS = re.compile(r"(?<![\^\d.])\d+\s+\d")
UNIT = r"(.+?)[\s*·]*{}"
PARTS = re.compile(r"[\n\t&]|\\\\|[^\s,;+*/^·=−-] {2,}[^\s,;+*/^·=−-]|[⎡⎛]")
"""Signs that split a text into parts."""


def layouts(text: str, shape: tuple[int, ...], names: ProblemNames) -> Iterator[tuple[str, bool]]:
    """Yield the lists of a shape that a text may be laid out as, and whether each is sure."""
    begin = text.rfind("=") + 1
    if not shape or "\\begin" in text or ("=" in text[:begin - 1] and re.search(
            r"[,;\n]", text[:begin])):
        return
    left, body = text[:begin], BREAK.sub("\n", text[begin:].translate(DRAWN)).strip().rstrip(".;,")
    column = _binomials(body)
    if column != body:
        yield left + column, True
    factor, body = _factor(body)
    long = [n for n in shape if n > 1]
    if len(long) < 2:
        found = _vectors(body, max(shape), names)
    else:
        found = _matrices(body, shape[0], shape[1], names)
    apart = "\n" in body or not has_two_numbers(body)       # lines show where columns are
    for one, sure in islice(found, MOST):
        # |a, b| is a length, |a b⏎c d| a determinant.
        yield f"{left}{factor}[{one}]", sure and apart and not (body[:1] == body[-1:] == "|" and (
            "\n" not in body or _bars(body)))


def has_parts(text: str) -> bool:
    """Return whether signs that split it stand in a text."""
    return PARTS.search(text.strip()) is not None


def has_two_numbers(text: str) -> bool:
    """Return whether digits stand side by side, which may be one number."""
    return TWO_NUMBERS.search(text) is not None


def _binomials(text: str) -> str:
    r"""Return the text with columns for binomials: \binom{a}{b} is [a; b]."""
    for found in reversed(list(BINOMIAL.finditer(text))):
        first = closed(text, found.end())
        second = closed(text, first)
        if second:
            text = (f"{text[:found.start()]}[{text[found.end() + 1:first - 1]}; "
                    f"{text[first + 1:second - 1]}]{text[second:]}")
    return text


def _factor(body: str) -> tuple[str, str]:
    """Return what stands before a column in brackets, 1/√17 (4⏎1), and the column or all."""
    at = next((k for k in range(len(body)) if closed(body, k) == len(body)), 0)
    return (body[:at], body[at:]) if "\n" in body[at:] and "\n" not in body[:at] else ("", body)


# ---- rows ----------------------------------------------------------------------------------------

def _vectors(body: str, n: int, names: ProblemNames) -> Iterator[tuple[str, bool]]:
    rows, told = _rows(body, n)
    if len(rows) == n:
        bars = any(_bars(row) for row in rows)
        columns = [_cells(row, 1, names) for row in rows]
        if all(columns):
            yield "; ".join(_without_units([one[0][0][0] for one in columns], names)
                            ), told and not bars
    elif len(rows) == 1:
        for cells, sure in _cells(body, n, names):
            yield ", ".join(_without_units(cells, names)), sure and (
                "," in body or _bare(body) != body)


def _matrices(body: str, height: int, width: int, names: ProblemNames
              ) -> Iterator[tuple[str, bool]]:
    rows, told = _rows(body, height)
    if len(rows) == height:
        for some in product(*[_cells(row, width, names) for row in rows]):
            sure = all(sure for _, sure in some)
            yield "; ".join([", ".join(cells) for cells, _ in some]), told and sure
        return
    flat = rows if len(rows) == height * width else next(
        (cells for cells, _ in _cells(body, height * width, names)), [])
    if len(rows) in (1, len(flat)) and flat:
        yield "; ".join([", ".join(flat[k:k + width])
                         for k in range(0, len(flat), width)]), False


def _rows(body: str, wanted: int) -> tuple[list[str], bool]:
    """Return the rows of a text, and whether it says them: (a)(b) may be a product."""
    inside = _bare(body)
    for text in dict.fromkeys((body, inside)):
        for sign in ROWS:
            rows = _split(text, sign)
            if len(rows) > 1:
                # a / b is a quotient, too, and a line that begins with a minus the rest of a sum.
                cut = sign is ROWS[-1] or any(row[0] in "-−" for row in rows[1:])
                return rows, not cut or all("," in row or "&" in row for row in rows)
        groups = _groups(text)
        if len(groups) == wanted > 1:
            return groups, all(one[0] == "[" or "," in one for one in groups)
    return [body], True


def _groups(text: str) -> list[str]:
    """Return the brackets of a text of nothing but brackets and commas between them."""
    found = []
    at = 0
    while at < len(text):
        end = closed(text, at)
        if not end:
            return []
        found.append(text[at:end])
        at = end
        while text[at:at + 1] in (" ", ","):
            at += 1
    return found


# ---- cells ---------------------------------------------------------------------------------------

def _cells(row: str, count: int, names: ProblemNames) -> list[Cells]:
    """Return the ways to split a row into so many cells."""
    row = _bare(row.strip().rstrip(",;"))
    for sign in CELLS:
        if sign.pattern == "," and names.decimal_comma:
            sign = DIGITS
        parts = _split(row, sign)
        if len(parts) == count > 1:
            return [(parts, True)]
        if len(parts) > 1 and sign.pattern != CELLS[-1].pattern:
            return []
    if count == 1:
        return [([row], True)] if row else []
    gaps = [found.span() for found in GAP.finditer(row)
            if not _depth(row, found.start()) and not _takes(row[:found.start()])]
    some = islice(combinations(gaps, count - 1), MOST)
    sure = len(gaps) == count - 1 and GROUPED.search(row) is None
    return [(_cut(row, spans), sure) for spans in some]


def _cut(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    begins, ends = [0, *[end for _, end in spans]], [*[begin for begin, _ in spans], len(text)]
    return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _split(text: str, sign: re.Pattern[str]) -> list[str]:
    """Return the parts between a sign outside of brackets; one where a part is no formula."""
    spans = [found.span() for found in sign.finditer(text) if not _depth(text, found.start())]
    parts = [part.strip() for part in _cut(text, tuple(spans))]
    whole = all(part and part[-1] not in "+-−*/^=·×" and part[0] not in "+*/^=·×" for part in parts)
    return parts if whole else [text]


def _takes(text: str) -> bool:
    """Return whether a text ends in a function whose argument follows: cos y."""
    word = re.search(r"\\?([A-Za-z]+)(?:\^\S+)?$", text)
    return word is not None and (word[1] in SCHOOL or word[1] in ALONE or any(
        word[1].endswith(name) for name in ("sin", "cos", "tan", "exp", "ln", "log", "sqrt")))


def _depth(text: str, at: int) -> int:
    return sum([(c in "([{") - (c in ")]}") for c in text[:at]])


def _bars(text: str) -> bool:
    text = text.strip()
    return text[:1] == text[-1:] == "|" and text.count("|") == 2


def _bare(text: str) -> str:
    """Return a text without the brackets or bars around all of it."""
    text = text.strip()
    if len(text) > 1 and (closed(text, 0) == len(text) or _bars(text)
                          or text[0] + text[-1] == "<>"):
        return text[1:-1].strip()
    return text


def _is_sum(text: str) -> bool:
    """Return whether a sign of a sum stands behind the first character, outside of brackets."""
    bare = _bare(text)
    return any(bare[k] in "+-−" and not _depth(bare, k) for k in range(1, len(bare)))


def _without_units(cells: list[str], names: ProblemNames) -> list[str]:
    """Return the components of `a i, b j`; the cells where not all are named so."""
    units = UNITS[:len(cells)]
    if len(units) != len(cells) or not names.written.keys().isdisjoint(units):
        return cells
    found = [re.fullmatch(UNIT.format(unit), cell) for unit, cell in zip(units, cells, strict=True)]
    bare = [one[1] for one in found if one is not None and (
        not _is_sum(one[1]) or closed(one[1], 0) == len(one[1]))]
    return bare if len(bare) == len(cells) else cells
