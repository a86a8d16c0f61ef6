r"""Text that people read in two ways: 1/2x, e^2x, sin x/2, sin x^2, sin x(y + 1).

Other readings of an answer are those that a student may have meant who forgot brackets; these are
the few that somebody may mean who forgets none. A mixed number 2\frac{1}{2} is 2 + 1/2 to those who
were taught so, and 2*(1/2) to others.
"""

from __future__ import annotations

from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.answer import Reading, other_readings
from gradcli.lang.paper.other import CLOSING, OPENING, PartEnds, edited
from gradcli.lang.paper.tokens import AnswerTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.base.errors import Span
    from gradcli.lang.paper.other import Edit


ROOTS = ("sqrt", "cbrt")
FUNCTIONS = (t.FUNCTION, t.POWERED, t.BASED)


def ambiguous(reading: Reading, brackets: bool = True) -> list[Reading]:
    """Return the other readings of what is ambiguous in a text; empty where it is clear. brackets:
    a letter in an exponent may multiply the bracket behind it, e^x(1 + x), and a bracket there what
    touches it, e^(x)sin(x); and ln x/x may be ln(x/x).
    """
    tokens = reading.tokens
    return other_readings(reading, [edited(tokens, edit) for edit in _edits(tokens, brackets)])


def shorter_arguments(reading: Reading) -> list[Reading]:
    """Return the readings in which functions without brackets end behind a first factor, before a
    blank or bracket: ln 3 (x + 1), ln3 x, ln sqrt 3 (x + 1), sin pi/4 (x + 1). First all such
    functions at once, then each alone.
    """
    tokens = reading.tokens
    places = PartEnds(tokens)
    found: list[tuple[tuple[int, int], int]] = []
    inside: dict[int, int] = {}     # where the argument of an inner function may end: ln sqrt 3 (x)
    for first, last in sorted(places.closing, reverse=True):
        factor = first + 1
        behind = 0
        if places.kinds[factor] in (t.NUMBER, t.NAME):
            behind = factor + 1
            if places.kinds[last + 1] == t.SLASH and places.kinds[last + 2] == t.NUMBER:
                behind = last + 3       # sin pi/4 (x + 1)
        elif places.kinds[factor] in FUNCTIONS:
            behind = inside.get(places.partner.get(factor + 1, 0), 0)
        if behind in places.products and (
                not _close(tokens, behind) or places.kinds[behind + 1] in OPENING):
            found.append(((-1, behind), last))
            inside[last] = behind
    chosen = [[one] for one in found]
    return other_readings(reading, [
        edited(tokens, (tuple([pair for pair, _ in some]), tuple([last for _, last in some])))
        for some in ([found, *chosen] if len(found) > 1 else chosen)])


def doubt(reading: Reading, other: Reading) -> str:
    """Return what in an answer's own spelling speaks against the brackets that another reading puts
    in: "blank", "sum", or "".

    A product below a slash or in an exponent has no blanks, 1/2x; a sum there may have them, (x +
    y)/x + 2y. A sum that would be an argument has none, sqrt x+1, and one that would be a factor or
    be subtracted has them around as well: 2x - x+1.
    """
    before, tokens, found = _put_in(reading.tokens), other.tokens, ""
    for place, (first, last) in _put_in(tokens).items():
        if place in before:
            continue
        beside = tokens.kinds[first - 1], tokens.kinds[last + 1]
        joined = not {t.MINUS, t.STAR}.isdisjoint(beside)
        depth, terms, close = 0, False, True
        for at in range(first + 1, last):
            kind = tokens.kinds[at]
            depth += (kind in OPENING) - (kind in CLOSING)
            if not depth:
                terms |= kind in (t.PLUS, t.MINUS) and at > first + 1
                close &= at + 1 == last or kind in FUNCTIONS or not _blank(reading, tokens, at)
        if not terms:
            found = found or ("" if close else "blank")
        elif ((joined or beside[0] in FUNCTIONS) and not close) or (joined and not (
                _apart(reading, tokens, first - 1) and _apart(reading, tokens, last + 1))):
            return "sum"
    return found


def _put_in(tokens: AnswerTokens) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the brackets that were not typed: (start, end) in the text to their tokens."""
    opened, found = [], {}
    for at, kind in enumerate(tokens.kinds):
        if kind in OPENING:
            opened.append(at)
        elif kind in CLOSING:
            first = opened.pop()
            if tokens.starts[first] == tokens.ends[first]:
                found[tokens.starts[first], tokens.starts[at]] = first, at
    return found


def _blank(reading: Reading, tokens: AnswerTokens, at: int) -> bool:
    """Return whether a blank was typed behind a token; one behind a LaTeX command only ends it."""
    start, end = tokens.ends[at], tokens.starts[at + 1]
    if not tokens.text[start:end].strip(" ") and start < end:
        if reading.origin is None:
            return True
        start, end = reading.origin.span(start, end)
        return " " in reading.text[start:end] and "\\" not in reading.text
    return False


def _apart(reading: Reading, tokens: AnswerTokens, at: int) -> bool:
    """Return whether blanks beside the operator of a sum leave room for the sum's brackets."""
    if tokens.kinds[at] not in (t.MINUS, t.STAR):
        return True
    return _blank(reading, tokens, at - 1) or _blank(reading, tokens, at)


def _edits(tokens: AnswerTokens, brackets: bool) -> Iterator[Edit]:
    places = PartEnds(tokens)
    kinds = places.kinds
    for at, kind in enumerate(kinds):
        if kind not in (t.SLASH, t.CIRCUMFLEX):
            continue
        end = places.unary_end(at + 1)
        if not brackets and kind == t.CIRCUMFLEX and (
                places.partner.get(at + 1) == end - 1 or (
                    kinds[at + 1] == t.NAME and end == at + 2
                    and end in places.products and kinds[end + 1] in OPENING)):
            continue
        # In 1/2 x and e^2 x the blank says enough, and x^2y is a product to everybody.
        if end in places.products and _close(tokens, end) and (
                kind == t.SLASH or kinds[at - 1] == t.NUMBER or places.words[at - 1] == "e"):
            yield ((at + 1, places.letters_end(at + 1)),), ()
            yield ((at + 1, places.juxtaposed_end(at + 1)),), ()
        # Nobody writes x^1; x^-1/2 may be the one or the other, and x^2/2 is a half.
        if kind == t.CIRCUMFLEX and kinds[end - 1:end + 2] == [t.NUMBER, t.SLASH, t.NUMBER] and (
                kinds[at + 1] == t.MINUS or places.words[at + 1] == "1") and (
                tokens.ends[end - 1] == tokens.starts[end + 1] - 1):
            yield ((at + 1, end + 2),), ()
    for first, last in places.closing:
        if brackets or not _cancels(places, first, last):
            yield from _of_function(places, first, last)
        behind = last + 1
        if places.words[first - 1] in ROOTS:
            if behind in places.products and _close(tokens, behind):      # √2x
                yield ((-1, places.unary_end(behind + 1)),), (last,)
            elif kinds[behind] in (t.PLUS, t.MINUS) and (                 # √x+1
                    tokens.ends[last] == tokens.starts[behind + 1] - 1):
                yield ((-1, places.product_end(behind + 1)),), (last,)


def _close(tokens: AnswerTokens, product: int) -> bool:
    """Return whether nothing stands between the factors on both sides of a product."""
    return tokens.ends[product - 1] == tokens.starts[product + 1]


def _cancels(places: PartEnds, first: int, last: int) -> bool:
    """Return whether a power of what a function is taken of stands below it: nobody means ln(x/x).
    """
    divisor = last + 2
    end = places.unary_end(divisor) if places.kinds[last + 1] == t.SLASH else 0
    return bool(end) and places.kinds[divisor] == t.NAME and places.words[first + 1:last] == [
        places.words[divisor]]


def _of_function(places: PartEnds, first: int, last: int) -> Iterator[Edit]:
    """Yield edits that move the end of the argument of a function without brackets."""
    kinds = places.kinds
    at = first + 1
    while at < last:  # to the last factor
        factor = at
        at = places.unary_end(at)
        at += at in places.products
    power = places.atom_end(factor) if kinds[factor] not in (t.PLUS, t.MINUS) else last
    if power < last and kinds[power] == t.CIRCUMFLEX:
        yield ((-1, power),), (last,)
    behind = last + 1
    if behind in places.products and kinds[behind + 1] in OPENING:
        yield ((-1, places.unary_end(behind + 1)),), (last,)
    elif kinds[behind] == t.SLASH:
        yield ((-1, places.unary_end(behind + 1)),), (last,)


# The tokens of a number and a \frac of two numbers.
SHAPE = [t.NUMBER, t.STAR, t.LPAR, t.LPAR, t.NUMBER, t.RPAR, t.SLASH, t.LPAR, t.NUMBER, t.RPAR,
         t.RPAR]


def mixed_numbers(reading: Reading) -> list[Reading]:
    """Return the reading with sums for all that may be mixed numbers; empty if there are none."""
    tokens = reading.tokens
    places = _mixed_numbers(reading)
    if not places:
        return []
    other = AnswerTokens(tokens.text)
    other.kinds, other.words = tokens.kinds[:], tokens.words
    other.starts, other.ends = tokens.starts, tokens.ends
    for at in places:
        other.kinds[at + 1] = t.PLUS
    pairs = tuple([(at, at + len(SHAPE)) for at in places])
    return other_readings(reading, [edited(other, (pairs, ()))])


def first_mixed(reading: Reading) -> Span | None:
    """Return the span of the first mixed number in the text; None if there is none."""
    places = _mixed_numbers(reading)
    if not places:
        return None
    assert reading.origin is not None
    tokens = reading.tokens
    return reading.origin.span(tokens.starts[places[0]], tokens.ends[places[0] + len(SHAPE) - 1])


def _mixed_numbers(reading: Reading) -> list[int]:
    """Return the tokens of whole numbers right before a proper fraction that LaTeX set."""
    tokens, origin = reading.tokens, reading.origin
    if origin is None or "frac" not in reading.text:
        return []
    found = []
    for product in tokens.products:
        at = product - 1
        if tokens.kinds[at:at + len(SHAPE)] != SHAPE or tokens.kinds[at - 1] == t.CIRCUMFLEX or (
                at and at - 1 in tokens.products and tokens.kinds[at - 2] == t.NUMBER):
            continue
        if reading.text[origin.starts[tokens.starts[at + 2]]] != "\\":
            continue
        whole, top, bottom = [tokens.words[at + k] for k in (0, 4, 8)]
        if all(word.isdecimal() for word in (whole, top, bottom)) and (
                0 < int(whole) and 0 < int(top) < int(bottom)):
            found.append(at)
    return found
