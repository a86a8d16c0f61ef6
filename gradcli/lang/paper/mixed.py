r"""Mixed numbers: 2\frac{1}{2} is 2 + 1/2 to those who were taught so, and 2*(1/2) to others."""

from __future__ import annotations

from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.answer import other_readings
from gradcli.lang.paper.other import edited
from gradcli.lang.paper.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span
    from gradcli.lang.paper.answer import Reading

# What a number and a \frac of two numbers are among the tokens.
SHAPE = [t.NUMBER, t.STAR, t.LPAR, t.LPAR, t.NUMBER, t.RPAR, t.SLASH, t.LPAR, t.NUMBER, t.RPAR,
         t.RPAR]


def mixed_numbers(reading: Reading) -> list[Reading]:
    """The reading with sums for all that may be mixed numbers; none if there are none."""
    tokens = reading.tokens
    places = _places(reading)
    if not places:
        return []
    other = Tokens(tokens.text)
    other.kinds, other.words = tokens.kinds[:], tokens.words
    other.starts, other.ends = tokens.starts, tokens.ends
    for at in places:
        other.kinds[at + 1] = t.PLUS
    pairs = tuple([(at, at + len(SHAPE)) for at in places])
    return other_readings(reading, [edited(other, (pairs, ()))])


def first_mixed(reading: Reading) -> Span | None:
    """Where the first one stands in the text."""
    places = _places(reading)
    if not places:
        return None
    assert reading.origin is not None
    tokens = reading.tokens
    return reading.origin.span(tokens.starts[places[0]], tokens.ends[places[0] + len(SHAPE) - 1])


def _places(reading: Reading) -> list[int]:
    """Where a whole number stands right before a proper fraction that LaTeX set."""
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
