"""Answers to another question: the function itself, another order, another variable, an inverse."""

from __future__ import annotations

from functools import partial

from gradcli.base.errors import GradcliError
from gradcli.formulas.nodes import Tangents
from gradcli.homework.checking import built
from gradcli.homework.checking.problem import Problem
from gradcli.homework.checking.reference import Reference, slope, weighted
from gradcli.homework.mistakes.derivation import (
    BETWEEN,
    SITE,
    SLOPE,
    WHOLE,
    Explanation,
    at_point,
    line,
    solved,
)
from gradcli.homework.mistakes.sample import evaluated
from gradcli.ops.table.elementwise import add, divide, multiply, negative, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcli.homework.mistakes.derivation import AnswerDerivation

MAX_NODES = 80
"""So many nodes at most are made for derivatives of other orders."""
ORDERS = 4
SURE = frozenset(("answered_original", "slope_not_evaluated"))
"""Of tangent lines, what cannot be chance; other lines have a slope that many ways lead to."""


def whole(derivation: AnswerDerivation, c: int) -> list[Explanation]:
    """Return other answers to one component that are made without looking at the student's."""
    made: list[Explanation] = []
    for name, node, detail in _all(derivation, c):
        # Of one variable and constants, few differentiate by a constant.
        if name == "sign_error" or (derivation.problem.kind == "tangent" and name not in SURE) or (
                name == "wrong_variable" and derivation.problem.kind == "derivative"):
            made.append(Explanation(name, SITE, BETWEEN + len(made) / 10, node=node, detail=detail))
        else:
            made.append(Explanation(name, WHOLE, len(made), node=node, detail=detail))
    return made


def _all(derivation: AnswerDerivation, c: int) -> Iterator[tuple[str, int, dict[str, str]]]:
    reference, problem = derivation.reference, derivation.problem
    formula = reference.formula
    d = reference.nodes[c]
    kind = problem.kind
    f = function(derivation, c)
    yield "sign_error", formula.share(negative, (d,)), {}
    if kind == "implicit":
        yield from _implicit(derivation)
        return
    if kind == "parametric":
        yield from _parametric(derivation)
        return
    yield "answered_original", f, {}
    if kind == "tangent":
        yield from _tangent(derivation)
        return
    if kind == "directional":
        yield from _directional(derivation, d)
        return
    yield from _orders(derivation, c, f)
    yield from _variables(derivation, c, f)
    if formula.value(d) is None:
        yield "reciprocal_of_derivative", formula.share(divide, (formula.number(1.0), d)), {}


def function(derivation: AnswerDerivation, c: int) -> int:
    """Return the function that a component is a derivative of."""
    functions = derivation.reference.functions
    if len(functions) > 1 and derivation.problem.kind == "jacobian":
        return functions[c // len(derivation.reference.wrt)]
    return functions[0]


def names_of(derivation: AnswerDerivation, c: int) -> list[str]:
    """Return the variables of a component, one for each time that it is differentiated."""
    wrt, n = derivation.reference.wrt, len(derivation.reference.wrt)
    kind = derivation.problem.kind
    if kind == "hessian":
        return [wrt[c // n], wrt[c % n]]
    if kind in ("gradient", "jacobian") or (kind == "value" and n > 1):
        return [wrt[c % n]]
    if kind == "partial" and n > 1:
        return list(wrt)
    return [wrt[0]] * derivation.problem.order


def _orders(derivation: AnswerDerivation, c: int, f: int
            ) -> Iterator[tuple[str, int, dict[str, str]]]:
    formula = derivation.reference.formula
    names = names_of(derivation, c)
    limit = len(formula.ops) + MAX_NODES
    # One number is equal to much: there, only the orders next to the one asked for.
    highest = len(names) + 1 if derivation.problem.kind == "value" else ORDERS
    if len(set(names)) > 1:
        for name in dict.fromkeys(names):
            yield "wrong_order", slope(formula, f, name), {"order": "first", "by": f" by {name}"}
        return
    node, name = f, names[0]
    for order in range(1, highest + 1):
        node = slope(formula, node, name)
        if order != len(names):
            yield "wrong_order", node, {"order": _ordinal(order)}
        if len(formula.ops) > limit:
            return


def _ordinal(order: int) -> str:
    names = ("first", "second", "third", "fourth")
    return names[order - 1] if order <= len(names) else f"{order}th"


def _variables(derivation: AnswerDerivation, c: int, f: int
               ) -> Iterator[tuple[str, int, dict[str, str]]]:
    formula = derivation.reference.formula
    names = names_of(derivation, c)
    others = [n for n in formula.leaves([f]) if n not in names]
    if len(set(names)) > 1:
        for name in names:
            node = f
            for _ in names:
                node = slope(formula, node, name)
            yield "wrong_variable", node, {"variable": (
                f"{name}, {len(names)} times: asked for is the one by {', then '.join(names)}")}
        return
    for other in others:
        node = f
        for _ in names:
            node = slope(formula, node, other)
        yield "wrong_variable", node, {"variable": other}
    free = [n for n in others if n not in derivation.problem.parameters]
    if len(names) == 1:
        for chosen in [free] if len(free) < 2 else [free, *([n] for n in free)]:
            if chosen:
                yield "other_variable_not_constant", weighted(formula, [
                    slope(formula, f, n) for n in (names[0], *chosen)],
                    [1.0] * (len(chosen) + 1)), {"variable": " and ".join(chosen)}


def _directional(derivation: AnswerDerivation, d: int) -> Iterator[tuple[str, int, dict[str, str]]]:
    from math import hypot

    reference, problem = derivation.reference, derivation.problem
    formula, length = reference.formula, hypot(*problem.direction)
    if problem.normalize and length != 1:
        yield "direction_not_normalised", formula.share(
            multiply, (d, formula.number(length))), {"length": f"{length:g}"}
        yield "direction_not_normalised", formula.share(
            divide, (d, formula.number(length))), {"length": f"{length:g}"}
    slopes = [slope(formula, reference.functions[0], n) for n in reference.wrt]
    if min(problem.direction) < 0:
        along = weighted(formula, slopes, [abs(v) for v in problem.direction])
        yield "sign_error", formula.share(divide, (
            along, formula.number(length if problem.normalize else 1.0))), {"direction": "1"}
    yield "components_summed", weighted(formula, slopes, [1.0] * len(slopes)), {"directional": "1"}
    for name, node in zip(reference.wrt, slopes, strict=True):
        yield "missing_term", node, {"piece": f"the derivative by {name} alone"}


def _implicit(derivation: AnswerDerivation) -> Iterator[tuple[str, int, dict[str, str]]]:
    reference, problem = derivation.reference, derivation.problem
    formula, f = reference.formula, reference.constraint
    assert f is not None
    by_x, by_y = slope(formula, f, reference.wrt[0]), slope(formula, f, problem.dependent)
    right = formula.share(negative, (formula.share(divide, (by_x, by_y)),))
    if problem.order > 1:
        yield "wrong_order", right, {"order": "first"}
        return
    yield "implicit_sign", formula.share(divide, (by_x, by_y)), {}
    inverted = formula.share(divide, (by_y, by_x))
    yield "implicit_inverted", formula.share(negative, (inverted,)), {}
    yield "implicit_inverted", inverted, {}
    yield "implicit_missing_dydx", formula.share(add, (by_x, by_y)), {}
    yield "implicit_missing_dydx", by_x, {}
    yield from _dydx_lost(derivation, f)


def _dydx_lost(derivation: AnswerDerivation, f: int) -> Iterator[tuple[str, int, dict[str, str]]]:
    """Yield answers without dy/dx at one of the operations on y, which has the tangent 1 there."""
    reference = derivation.reference
    formula, dependent = reference.formula, derivation.problem.dependent
    y = formula.leaf(dependent)
    one = formula.number(1.0)
    for k in formula.needed([f]):
        args = formula.args[k]
        if formula.ops[k] is None or y not in args:
            continue
        lost = formula.leaf(f"{dependent} here")
        node = formula.substituted(f, {k: formula.substituted(k, {y: lost})})
        total = Tangents(formula, {
            reference.wrt[0]: one, dependent: formula.leaf(SLOPE),
            f"{dependent} here": one}).of(node)
        if total is not None:
            made = solved(formula, formula.substituted(total, {lost: y}))
            yield "implicit_missing_dydx", made, {}


def _parametric(derivation: AnswerDerivation) -> Iterator[tuple[str, int, dict[str, str]]]:
    reference, order = derivation.reference, derivation.problem.order
    formula, t = reference.formula, reference.wrt[0]
    x, y = [slope(formula, f, t) for f in reference.functions]
    first = formula.share(divide, (y, x))
    yield "reciprocal_of_derivative", formula.share(divide, (x, y)), {}
    if order == 1:
        yield "missing_chain_factor", y, {"inner": f"d{_letter(derivation)}/d{t}",
                                          "parametric": "1"}
        yield "wrong_variable", x, {"variable": t}
        yield "product_of_derivatives", formula.share(multiply, (x, y)), {"parametric": "1"}
        return
    yield "wrong_order", first, {"order": "first"}
    downs, ups = [slope(formula, f, t, order) for f in reference.functions]
    yield "quotient_of_derivatives", formula.share(divide, (ups, downs)), {"parametric": "1"}
    yield "missing_chain_factor", slope(formula, first, t), {
        "inner": f"d{_letter(derivation)}/d{t}", "parametric": "1"}
    yield "wrong_order", slope(formula, reference.functions[1], t, order), {"order": "other"}


def _letter(derivation: AnswerDerivation) -> str:
    return "x" if derivation.reference.wrt[0] != "x" else "u"


def _tangent(derivation: AnswerDerivation) -> Iterator[tuple[str, int, dict[str, str]]]:
    reference, problem = derivation.reference, derivation.problem
    formula, f = reference.formula, reference.functions[0]
    slopes = [slope(formula, f, n) for n in reference.wrt]
    yield "slope_not_evaluated", line(derivation, slopes, problem.at), {}
    here = at_point(derivation)
    for node in slopes if len(slopes) == 1 else []:
        yield "slope_not_evaluated", node, {}
        steep = formula.substituted(node, here)
        yield "missing_term", formula.share(multiply, (steep, formula.share(subtract, (
            formula.leaf(reference.wrt[0]),
            formula.number(problem.at[reference.wrt[0]]))))), {"piece": "the line without f(a)"}
        # The normal instead of the tangent: the slope of the line at a right angle.
        yield "reciprocal_of_derivative", line(derivation, [formula.share(
            divide, (formula.number(-1.0), steep))], problem.at), {"normal": "1"}
        yield "reciprocal_of_derivative", line(derivation, [formula.share(
            divide, (formula.number(1.0), steep))], problem.at), {}
    turned = [formula.share(negative, (formula.substituted(s, here),)) for s in slopes]
    yield "sign_error", line(derivation, turned, problem.at), {"slope": "1"}


def misread(derivation: AnswerDerivation) -> list[tuple[str, list[int]]]:
    """Return (text, nodes of its right answer) of functions that this one is easily taken for."""
    made = []
    for text in derivation.problem.variants:
        fields = {**derivation.problem.fields(), "function": text, "expected": None}
        try:
            other = Reference(Problem(**fields))
        except GradcliError:
            continue
        if other.shape == derivation.reference.shape:
            made.append((text, _copied(other, derivation.reference)))
    return made


def _copied(other: Reference, reference: Reference) -> list[int]:
    """Return the nodes of one reference's answer in the formula of another."""
    source, target = other.formula, reference.formula
    places: dict[int, int] = {}
    for k in source.needed(other.nodes):
        op = source.ops[k]
        if op is None:
            value = source.given[k]
            places[k] = target.leaf(value) if isinstance(value, str) else target.number(value)
        else:
            places[k] = target.share(op, tuple([places[a] for a in source.args[k]]))
    return [places[k] for k in other.nodes]


def in_degrees(derivation: AnswerDerivation, c: int) -> list[Explanation]:
    """Return the right derivative with the arguments of trigonometric functions in degrees, or,
    where degrees are asked for, in radians.
    """
    reference = derivation.reference
    formula, d = reference.formula, reference.nodes[c]
    unit = formula.number(built.PI / 180)
    places: dict[int, int] = {}
    changed = False
    for k in formula.needed([d]):
        op = formula.ops[k]
        if op is None:
            places[k] = k
            continue
        args = [places[a] for a in formula.args[k]]
        if "of_angle" in op.traits:
            changed = True
            args = [formula.share(
                divide if derivation.problem.angle == "degree" else multiply, (args[0], unit))]
        places[k] = formula.share(op, tuple(args)) if args != list(formula.args[k]) else k
    if not changed:
        return []
    once = places[d]
    return [Explanation("degree_mode", WHOLE, 20, node=once),
            Explanation("degree_mode", WHOLE, 21, node=formula.share(multiply, (once, unit)))]


# --------------------------------------------------------------------------------------------------
# Numbers that belong to another point: for problems that ask for a value, or a tangent there.

NEAR = 1e-6
"""How far from a curve a point of it may be, whose numbers may be rounded."""


def other_points(derivation: AnswerDerivation, c: int) -> list[Explanation]:
    """Return the right formula at another point, and other numbers at the right one."""
    formula = derivation.reference.formula
    d = derivation.reference.nodes[c]
    made: list[Explanation] = []
    for point in filter(partial(is_on_curve, derivation), _points(derivation)):
        text = ", ".join([f"{n} = {v:g}" for n, v in point.items()])
        node = formula.substituted(d, {
            formula.leaf(n): formula.number(v) for n, v in point.items()})
        made.append(Explanation("evaluated_at_wrong_point", WHOLE, 10 + len(made), node=node,
                                detail={"at": text}))
    for text, node in _values(derivation, c):
        made.append(Explanation("evaluated_at_wrong_point", WHOLE, 10 + len(made), node=node,
                                detail={"what": text}))
    return made


def is_on_curve(derivation: AnswerDerivation, point: Mapping[str, float]) -> bool:
    """Return whether a point can be on the curve of an implicit problem; True if there is none."""
    formula, node = derivation.reference.formula, derivation.reference.constraint
    if node is None or not set(formula.leaves([node])) <= set(point):
        return True
    value, = evaluated(formula, [node], point, {})
    return bool(abs(value) <= NEAR * (1.0 + max(map(abs, point.values()))))


def _points(derivation: AnswerDerivation) -> Iterator[dict[str, float]]:
    at = derivation.problem.at
    names = list(at)
    values = list(at.values())
    yield {n: -v for n, v in at.items()}
    for value in (0.0, 1.0):
        yield dict.fromkeys(names, value)
    if len(names) > 1:
        yield dict(zip(names, values[1:] + values[:1], strict=True))
        yield dict(zip(names, values[::-1], strict=True))
        for k, name in enumerate(names):
            yield {**at, name: -values[k]}
            yield {**at, name: 0.0}


def _values(derivation: AnswerDerivation, c: int) -> Iterator[tuple[str, int]]:
    """Yield f(p), f''(p) and f(p + 1) - f(p)."""
    formula, at = derivation.reference.formula, derivation.problem.at
    f = function(derivation, c)
    if derivation.problem.kind in ("implicit", "parametric"):
        return
    yield "the value of the function itself there", f
    names = names_of(derivation, c)
    yield "the second derivative there", slope(formula, f, names[0], 2)
    if names[0] in at:
        shifted = formula.substituted(f, {
            formula.leaf(names[0]): formula.number(at[names[0]] + 1.0)})
        yield "the difference to the next whole step", formula.share(subtract, (shifted, f))


def other_lines(derivation: AnswerDerivation) -> list[Explanation]:
    """Return tangents whose slope belongs to another point, or is another number."""
    reference, problem = derivation.reference, derivation.problem
    formula, f = reference.formula, reference.functions[0]
    slopes = [slope(formula, f, n) for n in reference.wrt]
    made: list[Explanation] = []

    def keep(steep: list[int], text: str) -> None:
        made.append(Explanation("evaluated_at_wrong_point", WHOLE, 10 + len(made),
                                node=line(derivation, steep, problem.at), detail={"what": text}))

    for point in _points(derivation):
        leaves = {formula.leaf(n): formula.number(v) for n, v in point.items()}
        keep([formula.substituted(s, leaves) for s in slopes], "the slope at another point")
    here = at_point(derivation)
    if len(slopes) == 1:
        keep([formula.substituted(f, here)], "the function's value as the slope")
        keep([formula.substituted(slope(formula, slopes[0], reference.wrt[0]), here)],
             "the second derivative as the slope")
    return made
