"""Formulas that people read in two ways, which a calculator does not decide: sin x/2, x^2y."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.ambiguous import ambiguous, first_mixed
from gradcli.lang.paper.answer import Reading, other_readings
from gradcli.lang.paper.marks import arrange
from gradcli.lang.paper.other import PartEnds, edited, other_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.lang.paper.names import ProblemNames
    from gradcli.lang.paper.tokens import AnswerTokens


def refuse_two_readings(reading: Reading, names: ProblemNames) -> None:
    """Raise E0104, which shows both readings, for a formula that has two."""
    place = first_mixed(reading)
    if place is not None:
        raise error("E0104", "a mixed number, or a product", place,
                    help="put + and brackets, or a sign of a product, between number and fraction")
    others = ambiguous(reading, brackets=False)
    others += other_readings(reading, [*_powers(reading.tokens), *_arguments(reading.tokens)])
    raw = reading.tokens.raw
    if raw is not None and raw.kinds.count(t.BAR) > 2:
        others += other_readings(reading, _bars(raw, names))
    if others:
        raise two_readings(reading, others[0])


def two_readings(reading: Reading, other: Reading) -> GradcliError:
    """Return E0104 for a formula that has another reading as well."""
    text = reading.text
    return error("E0104", f"`{text.strip()}` can be read in two ways", (0, len(text)),
                 help=f"write `{reading.read_as}` or `{other.read_as}`")


def _powers(tokens: AnswerTokens) -> Iterator[AnswerTokens]:
    """Yield the tokens in which the number or letter of an exponent multiplies what touches it:
    x^2y, x^ny.
    """
    places = PartEnds(tokens)
    for at, kind in enumerate(places.kinds):
        end = at + 2
        if kind == t.CIRCUMFLEX and places.kinds[at + 1] in (t.NUMBER, t.NAME) and (
                end in places.products and tokens.ends[end - 1] == tokens.starts[end + 1]
                and (places.kinds[at + 1] == t.NUMBER or places.kinds[end + 1] == t.NAME)):
            yield edited(tokens, (((at + 1, places.juxtaposed_end(at + 1)),), ()))


def _arguments(tokens: AnswerTokens) -> Iterator[AnswerTokens]:
    """Yield the tokens in which the argument of a function without brackets ends before a blank, if
    a variable stands before it: sin x y, ln 2x y, but sin 2 x.
    """
    places = PartEnds(tokens)
    for first, last in places.closing:
        at = places.unary_end(first + 1)
        while at in places.products and tokens.ends[at - 1] == tokens.starts[at + 1]:
            at = places.unary_end(at + 1)
        if at in places.products and at < last and any(
                kind == t.NAME and word not in ("pi", "e") for kind, word in zip(
                    places.kinds[first + 1:at], places.words[first + 1:at], strict=True)):
            yield edited(tokens, (((-1, at),), (last,)))


def _bars(raw: AnswerTokens, names: ProblemNames) -> Iterator[AnswerTokens]:
    """Yield the tokens in which bars stand inside of each other: |x|y|z|."""
    for other in other_words(raw, names):
        if t.BAR not in other.kinds:
            try:
                yield arrange(other, names)
            except GradcliError:
                continue
