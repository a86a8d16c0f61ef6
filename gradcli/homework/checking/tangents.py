"""What touches: tangents and normals of functions, equations and curves, and what is estimated or
written with them, linear approximations and differentials.

A line is y = y0 + m (x - x0), a plane has two slopes. Where a line is upright, it is solved for the
other variable.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import UNIT, Values, error_of
from gradcli.homework.checking.built import build, flat
from gradcli.homework.checking.problem import SLOPE, Contact, refused, slope
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.left import claim
from gradcli.ops.table.elementwise import add, divide, multiply, negative, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.homework.checking.problem import Differentiator, Mistaken, Reference
    from gradcli.lang.paper.left import Claim

SAFETY = 16.0


def check_point(reference: Reference) -> None:
    """Find where a line touches. Raises E0702 for a point without a value, and E0704 for one where
    nothing touches.
    """
    problem = reference.problem
    names = (*reference.wrt, *[problem.dependent] * (reference.form == "equation"))
    missing = [n for n in names if n not in problem.at]
    if missing:
        raise error("E0702", f"`at` gives `{missing[0]}` no value",
                    help=f"write at = {{{missing[0]} = 2}}")
    if reference.form == "equation":
        _choose(reference, names)
    reference.contact = _contact(reference)


def _choose(reference: Reference, names: tuple[str, ...]) -> None:
    """Choose the variable that the tangent of an equation is solved for: not x where it has the
    same x everywhere.
    """
    (node,) = reference.functions
    steep = [n for n in names[::-1] if not _is_zero(reference, slope(reference.formula, node, n))]
    if not steep:
        raise error("E0704", "nothing touches the curve there: all its derivatives are 0",
                    help="choose another point", about=("option", "at"))
    reference.problem.dependent = steep[0]
    reference.wrt = tuple([n for n in names if n != steep[0]])


def _contact(reference: Reference) -> Contact:
    formula, problem, here = reference.formula, reference.problem, at_point(reference)
    if reference.form == "curve":
        x, y = [formula.substituted(f, here) for f in reference.functions]
        speeds = [_is_zero(reference, slope(formula, f, reference.wrt[0]))
                  for f in reference.functions]
        if all(speeds):
            raise error("E0704", "the curve stops there: both its derivatives are 0",
                        help="choose another point", about=("option", "at"))
        return Contact(("y",), (y,), x) if speeds[0] else Contact(("x",), (x,), y)
    foot = tuple([formula.number(problem.at[n]) for n in reference.wrt])
    height = formula.number(problem.at[problem.dependent]) if reference.form == "equation" else (
        formula.substituted(reference.functions[0], here))
    return Contact(reference.wrt, foot, height)


def check_normal(reference: Reference) -> None:
    """Find where a normal stands. Raises E0702 and E0704 as a tangent, and E0704 for a surface."""
    check_point(reference)
    contact = reference.contact
    assert contact is not None
    if len(contact.names) > 1:
        raise refused(f"a normal line needs one variable, not {', '.join(contact.names)}",
                      "ask for the tangent plane, or for the unit vector of the gradient")
    if _is_zero(reference, reference.slopes()[0]):
        (name,), (foot,) = contact.names, contact.foot
        up = {"x": "y", "y": "x"}.get(name, "y") if reference.form == "curve" else (
            reference.problem.dependent or "y")
        reference.contact = Contact((up,), (contact.height,), foot, turned=True)


def _is_zero(reference: Reference, node: int) -> bool:
    """Return whether a derivative is 0 at the point, as far as rounding lets one see."""
    at = reference.problem.at
    if not set(reference.formula.leaves([node])) <= set(at):
        return False        # some letter may have any value
    errors = {n: UNIT * abs(v) for n, v in at.items()}
    (value, noise), = Values(reference.formula, at, errors).of([node])
    return bool(abs(value) <= SAFETY * error_of(value, noise))


def at_point(reference: Reference) -> dict[int, int]:
    """Return the variables' nodes, and those of their values at the point of a tangent."""
    formula, problem = reference.formula, reference.problem
    names = (*reference.wrt, *[problem.dependent] * (reference.form == "equation"))
    return {formula.leaf(n): formula.number(problem.at[n]) for n in names}


def steepness(reference: Reference, d: Differentiator) -> list[int]:
    """Return the slopes at the point."""
    formula, here = reference.formula, at_point(reference)
    if reference.form == "curve":
        (t,), pair = reference.wrt, [*reference.functions]
        assert reference.contact is not None
        if reference.contact.names == ("y",) and not reference.contact.turned:
            pair.reverse()
        below, above = [d((f, t, None)) for f in pair]
        found = [formula.share(divide, (above, below))]
    else:
        other = (reference.problem.dependent, formula.leaf(SLOPE), True) if (
            reference.form == "equation") else None
        found = [d((reference.functions[0], n, other)) for n in reference.wrt]
    return [formula.substituted(s, here) for s in found]


def line(reference: Reference, slopes: list[int]) -> int:
    """Return the line or plane f(a) + m (x - a) with given slopes m."""
    contact = reference.contact
    assert contact is not None
    total = contact.height
    for k, steep in enumerate(slopes):
        total = reference.formula.share(add, (total, _rise(reference, k, steep)))
    return total


def _rise(reference: Reference, k: int, steep: int) -> int:
    formula, contact = reference.formula, reference.contact
    assert contact is not None
    return formula.share(multiply, (steep, formula.share(
        subtract, (formula.leaf(contact.names[k]), contact.foot[k]))))


def tangent(reference: Reference, c: int, d: Differentiator) -> int:
    """Return the tangent line or plane."""
    return line(reference, steepness(reference, d))


def normal(reference: Reference, c: int, d: Differentiator) -> int:
    """Return the line at a right angle to the tangent."""
    formula, contact = reference.formula, reference.contact
    assert contact is not None
    (steep,) = steepness(reference, d)
    minus = formula.share(negative, (steep,))
    return line(reference, [minus if contact.turned else formula.share(
        divide, (formula.number(1.0), minus))])


def mistaken_lines(reference: Reference, c: int) -> Mistaken:
    """Yield the curve itself and other lines through the point in place of a tangent."""
    formula, here = reference.formula, at_point(reference)
    slopes = reference.slopes()
    if reference.form == "one":
        yield "answered_original", reference.functions[0], {}
        yield "slope_not_evaluated", line(reference, slopes), {}
    for node in slopes if len(slopes) == 1 else []:
        if reference.form == "one":
            yield "slope_not_evaluated", node, {}
        steep = formula.substituted(node, here)
        yield "missing_term", _rise(reference, 0, steep), {
            "sentence": "this is the line without f(a)" if reference.form == "one" else
            "this line goes through 0: it has to go through the point"}
        for above, sentence in (
                (-1.0, "this is the normal, at a right angle to the tangent"),
                (1.0, "the slope is upside down: turn it over")):
            yield "reciprocal_of_derivative", line(reference, [formula.share(
                divide, (formula.number(above), steep))]), {"sentence": sentence}
    if len(slopes) > 1:
        for k, node in enumerate(slopes):
            parts = [formula.number(0.0)] * len(slopes)
            parts[k] = formula.substituted(node, here)
            yield "missing_term", line(reference, parts), {
                "sentence": f"only the slope in {reference.wrt[k]} is there"}
    if reference.form == "equation":
        for sign, said in ((-1.0, ""), (1.0, ", and its minus")):
            yield "missing_term", line(reference, [formula.share(multiply, (
                formula.number(sign), formula.substituted(reference.quotient(n)[0], here)))
                for n in reference.wrt]), {"sentence": "the division by the derivative by"
                                           f" {reference.problem.dependent}{said}, is missing"}
    turned = [formula.share(negative, (formula.substituted(s, here),)) for s in slopes]
    yield "sign_error", line(reference, turned), {
        "sentence": f"the slope{' has' if len(slopes) == 1 else 's have'} the wrong sign"}


def mistaken_normals(reference: Reference, c: int) -> Mistaken:
    """Yield the tangent and lines of related slopes in place of a normal."""
    formula, contact = reference.formula, reference.contact
    assert contact is not None
    if reference.form == "one" and not contact.turned:
        yield "answered_original", reference.functions[0], {}
    steep = formula.substituted(reference.slopes()[0], at_point(reference))
    if contact.turned:
        return
    upside = formula.share(divide, (formula.number(1.0), steep))
    for node, sentence in (
            (steep, "this is the tangent: the normal is at a right angle to it"),
            (upside, "the minus is missing: the slope of the normal is -1/m"),
            (formula.share(negative, (steep,)), "the slope of the normal is -1/m, not -m")):
        yield "reciprocal_of_derivative", line(reference, [node]), {"sentence": sentence}
    yield "missing_term", _rise(reference, 0, formula.share(negative, (upside,))), {
        "sentence": "this line goes through 0: it has to go through the point"}


def left_of_line(said: Claim, reference: Reference) -> str:
    """Describe a derivative where a line is asked for."""
    return f"a derivative, not the {reference.kind.name}"


# ---- what is estimated or written with a tangent -----------------------------------------------


def check_estimate(reference: Reference) -> None:
    """Raise E0702 for a variable whose other value is missing."""
    check_point(reference)
    missing = [n for n in reference.wrt if n not in reference.problem.to]
    if missing:
        raise error("E0702", f"`to` gives `{missing[0]}` no value",
                    help=f"write to = {{{missing[0]} = 2.1}}")


def estimate(reference: Reference, c: int, d: Differentiator) -> int:
    """Return the value of the tangent at another point."""
    return _there(reference, line(reference, steepness(reference, d)))


def without_point(text: str, reference: Reference) -> str:
    """Leave out the point behind a line: y = 12x - 16 at x = 2."""
    line, at, point = text.partition(" at ")
    return line if at and line.strip() and point.strip()[:1] in "(xyzt" else text


def of_normal(text: str, reference: Reference) -> str:
    """Leave out the point behind a normal, and call it a tangent, as any line is called in an
    answer; a tangent is none here.
    """
    import re

    named = {"normal": "tangent", "tangent": "normal"}
    return without_point(re.sub("normal|tangent", lambda found: named[found.group()], text),
                         reference)


def estimated(text: str, reference: Reference) -> str:
    """Leave out left sides that are the function's value there, by name or in any form that has
    this value: sqrt(4.1) ≈ L(4.1) = 2.025.
    """
    left, sign, right = text.replace("≈", "=").replace("\\approx", "=").partition("=")
    return estimated(right, reference) if sign and right.strip() and _is_estimated(
        left, reference) else text


def _is_estimated(side: str, reference: Reference) -> bool:
    """Return whether a left side is the value that is estimated: f(4.1), 4.1^(1/2)."""
    problem = reference.problem
    said = claim(side, reference.names)
    formula = Formula()
    try:
        if said is not None:
            places = [float(text) for _, text in said.at]
            return sorted(places) == sorted(problem.to.values())
        nodes = flat(build(read(side.strip(" $"), reference.names).code, formula, (),
                           degrees=problem.angle == "degree", real_roots=problem.real_roots))
        (value, noise), = Values(formula, {}).of(nodes)
        (exact, bound), = Values(reference.formula, {}).of([
            _there(reference, reference.functions[0])])
    except (GradcliError, KeyError, ValueError):
        return False    # a letter, a vector
    return bool(abs(value - exact) <= error_of(value, noise) + error_of(exact, bound))


def _there(reference: Reference, node: int) -> int:
    formula = reference.formula
    return formula.substituted(node, {
        formula.leaf(n): formula.number(reference.problem.to[n]) for n in reference.wrt})


def mistaken_estimates(reference: Reference, c: int) -> Mistaken:
    """Yield the exact value, the value at the point, and the change alone."""
    formula, contact = reference.formula, reference.contact
    assert contact is not None
    here = at_point(reference)
    slopes = [formula.substituted(s, here) for s in reference.slopes()]
    there = _there(reference, line(reference, slopes))
    yield "answered_original", _there(reference, reference.functions[0]), {
        "sentence": "this is the function's own value: the tangent's is asked for"}
    yield "missing_term", contact.height, {
        "sentence": "this is f(a): the change f'(a) (x - a) is missing"}
    yield "missing_term", formula.share(subtract, (there, contact.height)), {
        "sentence": "this is the change alone: f(a) is missing"}
    yield "sign_error", formula.share(subtract, (formula.share(
        add, (contact.height, contact.height)), there)), {
            "sentence": "the change has the wrong sign"}


def differentials(names: tuple[str, ...]) -> list[str]:
    """Return the differentials of variables: dx of x."""
    return [f"d{name}" for name in names]


def of_differentials(text: str, reference: Reference) -> str:
    """Write a sign before each differential, 2x dx, which is no argument of a function, and leave
    out a left side that is one: dy = 2x dx.
    """
    import re

    names = "|".join(reference.wrt)
    text = re.sub(r"(?:Δ|\\Delta(?![A-Za-z]))\s*(?=[A-Za-z](?![A-Za-z]))", "d", text)
    text = text.replace("≈", "=")
    text = re.sub(r"\\(?:mathrm|text|operatorname)\s*\{\s*d\s*\}\s*", "d", text)
    text = re.sub(rf"(?<=[\w)\]}}|!])(\s*(?:\\[,;:! ])?\s*)\*?\s*(?=d(?:{names})\b)", r"\1*", text)
    left, equal, right = text.partition("=")
    bare = left.strip(" $*")
    return right if equal and len(bare) == 2 and bare[0] == "d" and bare not in differentials(
        reference.wrt) else text


def left_of_differential(said: Claim, reference: Reference) -> str:
    """Describe a derivative where a differential is asked for."""
    return "a derivative, not the differential"


def called_differential(said: Claim, reference: Reference) -> str:
    """Describe what is no differential, and that of a variable: y = 2x dx, dx = 2x dx."""
    return f"{said.of}, not the differential of the function"


def differential(reference: Reference, c: int, d: Differentiator) -> int:
    """Return f_x dx + f_y dy."""
    formula = reference.formula
    total = formula.number(0.0)
    for name, change in zip(reference.wrt, differentials(reference.wrt), strict=True):
        total = formula.share(add, (total, formula.share(multiply, (
            d((reference.functions[0], name, None)), formula.leaf(change)))))
    return total


def mistaken_differentials(reference: Reference, c: int) -> Mistaken:
    """Yield the function itself, derivatives without dx, and those by one variable alone."""
    formula = reference.formula
    slopes = reference.slopes()
    yield "answered_original", reference.functions[0], {}
    total = formula.number(0.0)
    for node in slopes:
        total = formula.share(add, (total, node))
    yield "differential_missing", total, {}
    changes = [formula.leaf(change) for change in differentials(reference.wrt)]
    if len(slopes) > 1:
        for name, node, change in zip(reference.wrt, slopes, changes, strict=True):
            yield "missing_term", formula.share(multiply, (node, change)), {
                "sentence": f"only the part of d{name} is there"}
        yield "wrong_variable", formula.substituted(reference.nodes[c], dict(zip(
            changes, changes[1:] + changes[:1], strict=True))), {
                "sentence": "the differentials belong to the other derivatives"}
    yield "constant_added", formula.share(add, (
        reference.functions[0], reference.nodes[c])), {
            "sentence": "the function itself was added: its differential is asked for"}
