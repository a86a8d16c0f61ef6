r"""The conditions of cases: `x < 0`, `\text{if } 0 \le x < 1`, `x \in [0, 1)`, `x = 0`.

A row is a value and its condition, behind `&`, behind a word such as `\text{if}`, or behind the
last comma. Comparisons may be chained; `and` binds tighter than `or`.
"""

from __future__ import annotations

import re

from gradcli.base.errors import error
from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Code

    # The code of a part of the text, given by its place.
    Read = Callable[[int, int], Code]

RELATIONS = {
    "<": "less", r"\lt": "less", ">": "greater", r"\gt": "greater",
    **dict.fromkeys((r"\le", r"\leq", r"\leqslant", "≤", "<="), "less_equal"),
    **dict.fromkeys((r"\ge", r"\geq", r"\geqslant", "≥", ">="), "greater_equal"),
    **dict.fromkeys((r"\ne", r"\neq", "≠"), "not_equal"), "=": "equal",
}
ELEMENT = r"\in"
AND, OR = "logical_and", "logical_or"
JOINED = {r"\land": AND, r"\wedge": AND, "∧": AND, ",": AND, r"\lor": OR, r"\vee": OR, "∨": OR}
JOINING_WORDS = {"and": AND, "und": AND, "et": AND, "or": OR, "oder": OR, "ou": OR}
OTHERWISE = frozenset((
    "otherwise", "else", "elsewhere", "sonst", "sinon", "if otherwise", "in all other cases"))
BEFORE = frozenset((
    "", "if", "for", "for all", "when", "where", "falls", "wenn", "für", "si", "pour", "and", "or",
    "und", "oder", "et", "ou"))

COMMAND = r"\\[A-Za-z]+|\\."
TEXT = re.compile(r"\\(?:text|textrm|textnormal|mbox|mathrm|textit|operatorname)\s*\{([^{}]*)\}")
BLANK = re.compile(r"(?:\s|~|\\[,;:!> ]|\\q?quad(?![A-Za-z])|\\(?:textstyle|displaystyle)"
                   r"(?![A-Za-z]))*")
PIECES = re.compile(rf"{TEXT.pattern}|{COMMAND}|[({{\[]|[)}}\]]|&|,|[<>]=?|[=≤≥≠∧∨]")
INTERVAL = re.compile(r"\s*(?:\\left)?\s*([\[(\]])(.*?)(?:\\right)?\s*([\])\[])\s*$", re.DOTALL)


def rows_of(text: str, begin: int, end: int) -> list[tuple[Span, Span | None]]:
    """Return the spans of value and condition of each row of text[begin:end]; None: otherwise.

    Raises E0720 for a row that has no condition.
    """
    found = []
    for first, last in _rows(text, begin, end):
        at = _split(text, first, last)
        if at is None:
            raise error("E0720", "a case without its condition", _stripped(text, first, last),
                        help=r"write it behind &, as in x & x > 0")
        value, condition = _stripped(text, first, at[0]), _bare(text, at[1], last)
        if value[0] == value[1]:
            raise error("E0720", "a case without its value", (first, last),
                        help=r"write it before &, as in x & x > 0")
        found.append((value, None if _is_otherwise(text, *condition) else condition))
    if not found:
        raise error("E0720", "there are no cases", (begin, end), help=r"as in x & x > 0")
    return found


def test_of(text: str, begin: int, end: int, read: Read) -> Code:
    """Return the code of a condition, true or false. Raises E0720 for one that is not understood.

    read: returns the code of a part of the text.
    """
    alternatives: list[Code] = []
    together: Code = []
    joined = OR
    for operation, first, last in _conditions(text, begin, end):
        if joined == OR:
            together = _comparisons(text, first, last, read)
            alternatives.append(together)
        else:
            together += [*_comparisons(text, first, last, read),
                         (c.CALL, (AND, 2, ()), begin, end)]
        joined = operation
    found = alternatives[0]
    for other in alternatives[1:]:
        found = [*found, *other, (c.CALL, (OR, 2, ()), begin, end)]
    return found


OPPOSITE = {"less": "greater_equal", "less_equal": "greater", "equal": "not_equal"}
OPPOSITE |= {other: one for one, other in OPPOSITE.items()}


def is_opposite(one: Code, other: Code) -> bool:
    """Return whether one of two conditions holds just if the other does not: x < 0, x >= 0."""
    *sides, last = [ins[:2] for ins in one]
    *other_sides, other_last = [ins[:2] for ins in other]
    return sides == other_sides and last[0] == other_last[0] == c.CALL and (
        OPPOSITE.get(last[1][0]) == other_last[1][0])


def _rows(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the spans between line breaks outside of all environments and braces."""
    depth = 0
    first = begin
    for found in re.compile(rf"{COMMAND}|[{{}}]").finditer(text, begin, end):
        word = found.group()
        depth += (word in ("\\begin", "{")) - (word in ("\\end", "}"))
        # The braces of \begin{...} open and close again behind it.
        if word == "\\\\" and depth == 0:
            if text[first:found.start()].strip():
                yield first, found.start()
            first = found.end()
            space = re.compile(r"\[[^\]]*\]").match(text, first)
            first = space.end() if space else first
    if text[first:end].strip():
        yield first, end


def _pieces(text: str, begin: int, end: int) -> Iterator[re.Match[str]]:
    """Yield signs and words outside of all brackets and environments."""
    depth = 0
    for found in PIECES.finditer(text, begin, end):
        word = found.group()
        if word in ("(", "[", "{", "\\begin", "\\{"):
            depth += 1
        elif word in (")", "]", "}", "\\end", "\\}"):
            depth -= 1
        elif depth <= 0:
            yield found


def _split(text: str, begin: int, end: int) -> Span | None:
    """Return the offsets at which the value ends and its condition begins; None without one."""
    last = None
    for found in _pieces(text, begin, end):
        if found.group() == "&":
            return found.span()
        if found.group(1) is not None and last is None:
            last = found.start(), found.start()
            if _words(found) in OTHERWISE or _words(found) in BEFORE:
                return last
        if found.group() == "," and text[found.end():end].strip():
            last = found.span()
    return last


def _words(found: re.Match[str]) -> str:
    return " ".join((found.group(1) or "").replace("~", " ").lower().strip(" ,.:").split())


def _is_otherwise(text: str, begin: int, end: int) -> bool:
    found = TEXT.match(text, begin, end)
    return found is not None and _words(found) in OTHERWISE and not text[
        found.end():end].strip(" ,.;")


def _bare(text: str, begin: int, end: int) -> Span:
    """Return the span of a condition without the words and blanks around it."""
    begin, end = _stripped(text, begin, end)
    found = TEXT.match(text, begin, end)
    if found is not None and _words(found) in BEFORE:
        return _stripped(text, found.end(), end)
    return begin, end


def _stripped(text: str, begin: int, end: int) -> Span:
    """Return a span without blanks, and without the comma or full stop at its end."""
    found = BLANK.match(text, begin, end)
    begin = found.end() if found else begin
    while begin < end:
        if text[end - 1] in " \t\r\n~&" or (text[end - 1] in ",.;:" and text[end - 2] != "\\"):
            end -= 1
            continue
        for blank in (r"\quad", r"\qquad", r"\,", r"\;", r"\ ", r"\:"):
            if text.endswith(blank, begin, end):
                end -= len(blank)
                break
        else:
            break
    return begin, end


def _conditions(text: str, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield (operation that joins it to the next, start, end) of each comparison. Raises E0720."""
    first = begin
    for found in _pieces(text, begin, end):
        operation = JOINED.get(found.group())
        if found.group(1) is not None:
            operation = JOINING_WORDS.get(_words(found))
            if operation is None:
                raise error("E0720", "this condition is not understood", found.span(),
                            help="write it as comparisons, such as x > 0")
        if operation is not None:
            yield operation, *_stripped(text, first, found.start())
            first = found.end()
    yield OR, *_bare(text, first, end)


def _comparisons(text: str, begin: int, end: int, read: Read) -> Code:
    """Return the code of a < b, a < b <= c, a in [b, c). Raises E0720."""
    signs = [found for found in _pieces(text, begin, end)
             if found.group() in RELATIONS or found.group() == ELEMENT]
    if not signs:
        raise error("E0720", "this condition is not understood", (begin, end),
                    help="write it as comparisons, such as x > 0")
    if any(found.group() == ELEMENT for found in signs):
        return _element(text, begin, end, signs, read)
    sides = []
    first = begin
    for sign in [*signs, None]:
        last = end if sign is None else sign.start()
        side = _stripped(text, first, last)
        if side[0] >= side[1]:
            raise error("E0720", "a comparison without one of its sides", (begin, end),
                        help="write it as comparisons, such as x > 0")
        sides.append(read(*side))
        first = last if sign is None else sign.end()
    found: Code = []
    for k, sign in enumerate(signs):
        found += [*sides[k], *sides[k + 1],
                  (c.CALL, (RELATIONS[sign.group()], 2, ()), begin, end)]
        if k:
            found.append((c.CALL, (AND, 2, ()), begin, end))
    return found


def _element(text: str, begin: int, end: int, signs: list[re.Match[str]], read: Read) -> Code:
    """Return the code of x in [a, b), in an interval. Raises E0720."""
    (sign, *more) = signs
    interval = INTERVAL.match(text, sign.end(), end)
    bounds = interval.group(2) if interval else ""
    comma = bounds.find(",")
    if comma < 0:
        comma = bounds.find(";")
    if more or interval is None or comma < 0 or bounds.count(",") > 1:
        raise error("E0720", "this condition is not understood", (begin, end),
                    help="write it as comparisons, such as 0 < x < 1")
    value = read(*_stripped(text, begin, sign.start()))
    at = interval.start(2)
    found: Code = []
    count = 0
    for first, last, operation in (
            (at, at + comma, "greater_equal" if interval.group(1) == "[" else "greater"),
            (at + comma + 1, interval.end(2),
             "less_equal" if interval.group(3) == "]" else "less")):
        if "\\infty" in text[first:last] or "∞" in text[first:last]:
            continue
        count += 1
        found += [*value, *read(*_stripped(text, first, last)),
                  (c.CALL, (operation, 2, ()), begin, end)]
    if not count:
        raise error("E0720", "this condition always holds", (begin, end),
                    help="write the value alone")
    return [*found, (c.CALL, (AND, 2, ()), begin, end)] if count == 2 else found
