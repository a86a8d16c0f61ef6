"""Text that people read in two ways: 1/2x, e^2x, sin x/2, sin x^2, sin x(y + 1).

Other readings of an answer are those that a student may have meant who forgot brackets; these are
the few that somebody may mean who forgets none.
"""

from __future__ import annotations

from gradcli.reading import tokens as t
from gradcli.reading.answer import Reading, other_readings
from gradcli.reading.other import OPENING, Places, edited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.reading.other import Edit
    from gradcli.reading.tokens import Tokens


def ambiguous(reading: Reading) -> list[Reading]:
    """The other readings of what is ambiguous in a text; none where it is clear."""
    tokens = reading.tokens
    return other_readings(reading, [edited(tokens, edit) for edit in _edits(tokens)])


def shorter_arguments(reading: Reading) -> list[Reading]:
    """The readings in which functions without brackets end behind a first factor, before a blank or
    bracket: ln 3 (x + 1), ln3 x. All such functions at once, then each alone.
    """
    tokens = reading.tokens
    places = Places(tokens)
    found: list[tuple[tuple[int, int], int]] = []
    for first, last in places.closing:
        factor = first + 1
        if places.kinds[factor] not in (t.NUMBER, t.NAME):
            continue
        behind = factor + 1
        if behind in places.products and (
                not _close(tokens, behind) or places.kinds[behind + 1] in OPENING):
            found.append(((-1, behind), last))
    chosen = [[one] for one in found]
    return other_readings(reading, [
        edited(tokens, (tuple([pair for pair, _ in some]), tuple([last for _, last in some])))
        for some in ([found, *chosen] if len(found) > 1 else chosen)])


def _edits(tokens: Tokens) -> Iterator[Edit]:
    places = Places(tokens)
    kinds = places.kinds
    for at, kind in enumerate(kinds):
        if kind not in (t.SLASH, t.CIRCUMFLEX):
            continue
        end = places.unary_end(at + 1)
        # Of 1/2 x and e^2 x the blank says enough, and x^2y is a product to everybody.
        if end in places.products and _close(tokens, end) and (
                kind == t.SLASH or kinds[at - 1] == t.NUMBER or places.words[at - 1] == "e"):
            yield ((at + 1, places.letters_end(at + 1)),), ()
            yield ((at + 1, places.juxtaposed_end(at + 1)),), ()
    for first, last in places.closing:
        yield from _of_function(places, first, last)


def _close(tokens: Tokens, product: int) -> bool:
    """Whether nothing stands between the factors on both sides of a product."""
    return tokens.ends[product - 1] == tokens.starts[product + 1]


def _of_function(places: Places, first: int, last: int) -> Iterator[Edit]:
    """What a function without brackets is taken of. Its brackets were put in."""
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
