"""Lengths of derivatives and unit vectors along them: of a gradient, of the velocity on a curve."""

from __future__ import annotations

import re

from gradcli.homework.checking.problem import refused, weighted
from gradcli.lang.paper.left import claim
from gradcli.ops.table.elementwise import absolute, add, divide, sqrt, square, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.homework.checking.problem import Differentiator, Mistaken, Reference
    from gradcli.lang.paper.left import Claim


def check_vector(reference: Reference) -> None:
    """Raise E0704 for a matrix of derivatives, which has no length here."""
    if len(reference.functions) > 1 and len(reference.wrt) > 1:
        raise refused("several functions of several variables have a matrix of derivatives",
                      "write one function, or one variable")


def _vector(reference: Reference, d: Differentiator) -> list[int]:
    """Return the gradient of a function, or the velocity along a curve."""
    return [d((f, n, None)) for f in reference.functions for n in reference.wrt]


def _length_of(reference: Reference, nodes: list[int]) -> int:
    formula, total = reference.formula, reference.formula.number(0.0)
    for node in nodes:
        total = formula.share(add, (total, formula.share(square, (node,))))
    return formula.share(sqrt, (total,))


def norm(reference: Reference, c: int, d: Differentiator) -> int:
    """Return the length of the gradient, or of the velocity."""
    return _length_of(reference, _vector(reference, d))


def unit(reference: Reference, c: int, d: Differentiator) -> int:
    """Return a component of the gradient, or of the velocity, over its length."""
    nodes = _vector(reference, d)
    return reference.formula.share(divide, (nodes[c], _length_of(reference, nodes)))


BAR = r"(?:\\[lr]?[Vv]ert\b|\\?\|{1,2}|‖)"
BARS = re.compile(rf"\s*\$?\s*(?:\\left\s*)?{BAR}([^|‖]*?)(?:\\right\s*)?{BAR}\s*")
WORDS = ("length", "magnitude", "norm", "speed")


def unbarred(text: str, reference: Reference) -> str:
    """Leave out a left side that is a formula between bars, |(3, 4)| = 5, or a word, and write v
    for one that is the length of a derivative: |f'(2)| = 3 is v(2) = 3.
    """
    left, equal, right = text, "", ""
    if sign := re.search(r"[=≈]|\\approx\b", text):
        left, equal, right = text[:sign.start()], sign.group(), text[sign.end():]
    found = BARS.fullmatch(left)
    if not equal or found is None:
        return right if equal and left.strip().lower() in WORDS else text
    said = claim(found[1], reference.names)
    if said is None:
        return right
    if said.order == 1 or said.operator == "∇":
        at = ",".join([f"{name}={value}" if name else value for name, value in said.at])
        return f"{'$' * (left.count('$') % 2)}v{f'({at})' if at else ''} {equal} {right}"
    return text if said.of != "v" else text.replace(found[0], f" {found[1]} ", 1)


def left_of_norm(said: Claim, reference: Reference) -> str:
    """Describe a derivative where its length is asked for: s' is one."""
    return "" if (said.of, said.order) == ("s", 1) else "a derivative, not its length"


def called_norm(said: Claim, reference: Reference) -> str:
    """Describe a name that is not that of a length, as v and s are."""
    return "" if said.of in ("v", "s") and not said.operator else "a vector or function, not the" \
        " length of its derivative"


def left_of_unit(said: Claim, reference: Reference) -> str:
    """Describe a derivative where the unit vector along it is asked for."""
    return "a derivative, not the unit vector along it"


def called_unit(said: Claim, reference: Reference) -> str:
    """Describe a gradient where the unit vector along it is asked for."""
    return "a gradient, not the unit vector along it" if said.operator == "∇" else ""


def parts(reference: Reference) -> tuple[int, ...]:
    """Return the shape of a gradient or velocity."""
    return (len(reference.functions) * len(reference.wrt),)


def mistaken_norms(reference: Reference, c: int) -> Mistaken:
    """Yield what is taken for a length."""
    formula, nodes = reference.formula, _vector(reference, reference.differentiator())
    whole = _length_of(reference, nodes)
    yield "root_missing", formula.share(square, (whole,)), {}
    yield "components_summed", weighted(formula, nodes, [1.0] * len(nodes)), {
        "sentence": "the components were added up: the length is the root of the sum of their"
        " squares"}
    yield "components_summed", weighted(
        formula, [formula.share(absolute, (n,)) for n in nodes], [1.0] * len(nodes)), {
            "sentence": "the components were added up: square them first, then take the root"}
    yield "answered_original", (
        reference.functions[0] if len(reference.functions) == 1 else _length_of(
            reference, reference.functions)), {
                "sentence": "this is the function itself, not the length of its derivative"}
    if len(nodes) > 1:
        yield "sign_error", formula.share(sqrt, (formula.share(subtract, (formula.share(
            square, (nodes[0],)), formula.share(square, (nodes[1],)))),)), {
                "sentence": "the squares are added, not subtracted"}


def mistaken_units(reference: Reference, c: int) -> Mistaken:
    """Yield what is taken for a unit vector."""
    formula, nodes = reference.formula, _vector(reference, reference.differentiator())
    whole = _length_of(reference, nodes)
    yield "direction_not_normalised", nodes[c], {
        "sentence": "this is not a unit vector: divide by its length"}
    for divisor in (formula.share(square, (whole,)), weighted(formula, nodes, [1.0] * len(nodes))):
        yield "direction_not_normalised", formula.share(divide, (nodes[c], divisor)), {
            "sentence": "this is not a unit vector: divide by the length, the root of the sum of"
            " the squares"}
    if len(reference.functions) > 1:
        yield "answered_original", formula.share(divide, (reference.functions[c], _length_of(
            reference, reference.functions))), {
                "sentence": "this is the unit vector of the function itself, not of its derivative"}
