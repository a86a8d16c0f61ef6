"""The kinds of homework problems, a row each: what is asked for, how students get there, and which
answers to another question they give.

A row names the functions that derive a component and its shape, those that make wrong answers of
the kind alone, and the one that judges what stands on the left of an answer (`ProblemKind`).
"""

from __future__ import annotations

import re
from functools import partial
from math import hypot

from gradcli.base.errors import error
from gradcli.formulas.nodes import Tangents
from gradcli.homework.checking import lengths, tangents
from gradcli.homework.checking.problem import SLOPE, ProblemKind, refused, slope, solved, weighted
from gradcli.lang.paper.left import claim
from gradcli.ops.table.elementwise import add, divide, multiply, negative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.homework.checking.problem import Differentiator, Mistaken, Reference
    from gradcli.lang.paper.left import Claim

MAX_NODES = 80
"""So many nodes at most are made for derivatives of other orders."""
HIGHEST = 4
"""The highest other order that an answer is compared with."""
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


# ---- variables and shapes ----------------------------------------------------------------------


def repeatedly(reference: Reference, c: int) -> tuple[str, ...]:
    return reference.wrt[:1] * reference.problem.order


def each(reference: Reference, c: int) -> tuple[str, ...]:
    return (reference.wrt[c % len(reference.wrt)],)


def _each_time(reference: Reference, c: int) -> tuple[str, ...]:
    """Return a variable as often as the order says: of several, each in its component."""
    return reference.wrt[c:c + 1] * reference.problem.order


def _never(reference: Reference, c: int) -> tuple[str, ...]:
    return ()


def repeatedly_or_each(reference: Reference, c: int) -> tuple[str, ...]:
    return (repeatedly if len(reference.wrt) == 1 else each)(reference, c)


def in_turn(reference: Reference, c: int) -> tuple[str, ...]:
    """Return all variables: by x, y is the mixed second derivative."""
    return reference.wrt if len(reference.wrt) > 1 else repeatedly(reference, c)


def pairs(reference: Reference, c: int) -> tuple[str, ...]:
    row, column = divmod(c, len(reference.wrt))
    return reference.wrt[row], reference.wrt[column]


def vector(reference: Reference) -> tuple[int, ...]:
    return (len(reference.wrt),)


def number_or_vector(reference: Reference) -> tuple[int, ...]:
    return () if len(reference.wrt) == 1 else vector(reference)


def matrix(reference: Reference) -> tuple[int, ...]:
    return len(reference.functions), len(reference.wrt)


def square(reference: Reference) -> tuple[int, ...]:
    return len(reference.wrt), len(reference.wrt)


# ---- derivatives -------------------------------------------------------------------------------


def derivatives(reference: Reference, c: int, beyond: int | None = None) -> Mistaken:
    """Yield the function itself, its derivatives of other orders and by other variables, and 1 over
    the right one.

    beyond: the number of higher orders; by default up to the fourth.
    """
    formula, d, f = reference.formula, reference.nodes[c], reference.function(c)
    names = reference.by(c)
    yield "answered_original", f, {}
    yield from _orders(reference, f, names, HIGHEST if beyond is None else len(names) + beyond)
    yield from _variables(reference, f, names)
    if formula.value(d) is None:
        yield "reciprocal_of_derivative", formula.share(divide, (formula.number(1.0), d)), {}


def _orders(reference: Reference, f: int, names: tuple[str, ...], highest: int) -> Mistaken:
    formula = reference.formula
    limit = len(formula.ops) + MAX_NODES
    if len(set(names)) > 1:
        for name in dict.fromkeys(names):
            yield "wrong_order", slope(formula, f, name), {"order": "first", "by": f" by {name}"}
        return
    node, name = f, names[0]
    for order in range(1, highest + 1):
        node = slope(formula, node, name)
        if order != len(names):
            yield "wrong_order", node, {"order": ordinal(order)}
        if len(formula.ops) > limit:
            return


def ordinal(order: int) -> str:
    """Return an order in words."""
    return ORDINALS[order] if order < len(ORDINALS) else f"{order}th"


def _variables(reference: Reference, f: int, names: tuple[str, ...]) -> Mistaken:
    formula = reference.formula
    if len(set(names)) > 1:
        for name in names:
            yield "wrong_variable", slope(formula, f, name, len(names)), {"variable": (
                f"{name}, {len(names)} times: asked for is the one by {', then '.join(names)}")}
        return
    others = [n for n in formula.leaves([f]) if n not in names]
    for other in others:
        yield "wrong_variable", slope(formula, f, other, len(names)), {"variable": other}
    free = [n for n in others if n not in reference.problem.parameters]
    if len(names) == 1:
        for chosen in [free] if len(free) < 2 else [free, *([n] for n in free)]:
            if chosen:
                yield "other_variable_not_constant", weighted(formula, [
                    slope(formula, f, n) for n in (names[0], *chosen)],
                    [1.0] * (len(chosen) + 1)), {"variable": " and ".join(chosen)}


def left_of_derivatives(said: Claim, reference: Reference) -> str:
    """Describe a derivative of another order, by other variables or of another function."""
    problem, wrt, wanted = reference.problem, reference.wrt, reference.by()
    assert said.order is not None
    if reference.shape:
        if said.order != len(wanted) and (said.by or len(wanted) > 1 or said.order > 1):
            return f"the {ordinal(said.order)} derivative"
        return f"the derivative by {' and '.join(said.by)} alone" if said.by else ""
    if said.order != len(wanted):
        return f"the {ordinal(said.order)} derivative, not the {ordinal(len(wanted))}"
    if said.by and sorted(said.by) != sorted(wanted):
        of = f" of {problem.dependent}" if problem.dependent else ""
        return f"{_derivative(said)}, not{of} by {', '.join(wanted)}"
    if said.of in wrt or (said.of in reference.variables and said.of != problem.dependent):
        return f"a derivative of {said.of}"
    named = claim(reference.reading.sides, reference.names)
    of = named.of if named is not None and named.order is None and named.at else ""
    if of and said.of not in ("", of, "y"):
        return f"a derivative of {said.of}, not of {of}"
    return ""


def _derivative(said: Claim) -> str:
    of = f" of {said.of}" if said.of in ("x", "y") else ""
    return f"a derivative{of} by {', '.join(said.by)}" if said.by else f"a derivative{of}"


def left_of_any(said: Claim, reference: Reference) -> str:
    return ""


# ---- derivatives along a direction -------------------------------------------------------------


def _check_direction(reference: Reference) -> None:
    direction = reference.problem.direction
    if len(direction) != len(reference.wrt):
        raise refused(f"the direction has {len(direction)} components for"
                      f" {len(reference.wrt)} variables", "write one number a variable",
                      "direction")
    if not hypot(*direction):
        raise refused("the direction is 0", "write direction = [3, 4]", "direction")


def _length(reference: Reference) -> float:
    """Return the number that a direction is divided by."""
    problem = reference.problem
    return hypot(*problem.direction) if problem.normalize else 1.0


def _directional(reference: Reference, c: int, d: Differentiator) -> int:
    formula, length = reference.formula, _length(reference)
    total = weighted(formula, [d((reference.functions[0], n, None)) for n in reference.wrt],
                     reference.problem.direction)
    return formula.share(divide, (total, formula.number(length))) if length != 1 else total


def _mistaken_directions(reference: Reference, c: int) -> Mistaken:
    formula, d, direction = reference.formula, reference.nodes[0], reference.problem.direction
    yield "answered_original", reference.functions[0], {}
    length = _length(reference)
    if length != 1:
        for op in (multiply, divide):
            yield "direction_not_normalised", formula.share(
                op, (d, formula.number(length))), {"length": f"{length:g}"}
    slopes = reference.slopes()
    if min(direction) < 0:
        along = weighted(formula, slopes, [abs(v) for v in direction])
        yield "sign_error", formula.share(divide, (along, formula.number(length))), {
            "sentence": "a minus sign of the direction was lost"}
    yield "components_summed", weighted(formula, slopes, [1.0] * len(slopes)), {
        "sentence": "the derivatives were added up: multiply each by its component of the unit"
        " vector"}
    for name, node in zip(reference.wrt, slopes, strict=True):
        yield "missing_term", node, {"sentence": f"this is the derivative by {name} alone"}


def _left_of_directional(said: Claim, reference: Reference) -> str:
    along = said.operator == "D" or not said.by or not set(said.by) <= set(reference.wrt)
    return "" if along else f"the derivative by {said.by[0]} alone"  # type: ignore[index]


# ---- implicit functions ------------------------------------------------------------------------


def _check_dependent(reference: Reference) -> None:
    dependent = reference.problem.dependent
    if reference.formula.value(reference.quotient()[1]) == 0:
        raise refused(f"the equation does not depend on `{dependent}`",
                      f"write an equation with {dependent}", "dependent")


def of_dependent(text: str, reference: Reference) -> str:
    """Leave out what the dependent variable is a function of: y(x) is y, not y times x."""
    of = r"\s*,\s*".join(map(re.escape, reference.wrt))
    return re.sub(rf"({re.escape(reference.problem.dependent)})(?:\\left)?\(\s*{of}\s*"
                  r"(?:\\right)?\)", r"\1 ", text)


def _implicit(reference: Reference, c: int, d: Differentiator) -> int:
    """Return dy/dx of F(x, y) = 0; higher orders differentiate that along the curve."""
    name, dependent = reference.wrt[c], reference.problem.dependent
    assert reference.constraint is not None
    first = found = d((reference.constraint, name,
                       (dependent, reference.formula.leaf(SLOPE), True)))
    for _ in range(reference.problem.order - 1):
        found = d((found, name, (dependent, first, False)))
    return found


def _mistaken_equations(reference: Reference, c: int) -> Mistaken:
    formula = reference.formula
    by_x, by_y = reference.quotient(reference.wrt[c])
    right = formula.share(divide, (by_x, by_y))
    if reference.problem.order > 1:
        yield "wrong_order", formula.share(negative, (right,)), {"order": "first"}
        return
    yield "implicit_sign", right, {}
    inverted = formula.share(divide, (by_y, by_x))
    yield "implicit_inverted", formula.share(negative, (inverted,)), {}
    yield "implicit_inverted", inverted, {}
    yield "implicit_missing_dydx", formula.share(add, (by_x, by_y)), {}
    yield "implicit_missing_dydx", by_x, {}
    yield from _dydx_lost(reference, c)


def _dydx_lost(reference: Reference, c: int) -> Mistaken:
    """Yield answers without dy/dx at one of the operations on y, which has the tangent 1 there."""
    formula, dependent, f = reference.formula, reference.problem.dependent, reference.constraint
    assert f is not None
    y, one = formula.leaf(dependent), formula.number(1.0)
    for k in formula.needed([f]):
        args = formula.args[k]
        if formula.ops[k] is None or y not in args:
            continue
        lost = formula.leaf(f"{dependent} here")
        node = formula.substituted(f, {k: formula.substituted(k, {y: lost})})
        total = Tangents(formula, {
            reference.wrt[c]: one, dependent: formula.leaf(SLOPE),
            f"{dependent} here": one}).of(node)
        if total is not None:
            made = solved(formula, formula.substituted(total, {lost: y}))
            yield "implicit_missing_dydx", made, {}


# ---- curves with a parameter -------------------------------------------------------------------


def _check_coordinates(reference: Reference) -> None:
    if len(reference.functions) != 2:
        raise refused(f"a parametric curve has two components, not {len(reference.functions)}",
                      "write function = [cos(t), sin(t)]")


def _parametric(reference: Reference, c: int, d: Differentiator) -> int:
    """Return dy/dx of a curve (x(t), y(t)); higher orders divide by x'(t) once more."""
    name = reference.wrt[0]
    x, found = reference.functions
    speed = d((x, name, None))
    for _ in range(reference.problem.order):
        found = reference.formula.share(divide, (d((found, name, None)), speed))
    return found


def _mistaken_curves(reference: Reference, c: int) -> Mistaken:
    formula, order, t = reference.formula, reference.problem.order, reference.wrt[0]
    x, y = [slope(formula, f, t) for f in reference.functions]
    first = formula.share(divide, (y, x))
    inner = {"inner": f"d{'x' if t != 'x' else 'u'}/d{t}",
             "sentence": "the division by {inner} is missing"}
    yield "reciprocal_of_derivative", formula.share(divide, (x, y)), {}
    if order == 1:
        yield "missing_chain_factor", y, inner
        yield "wrong_variable", x, {"variable": t}
        yield "product_of_derivatives", formula.share(multiply, (x, y)), {
            "sentence": "the derivatives were multiplied: divide the second by the first"}
        return
    yield "wrong_order", first, {"order": "first"}
    downs, ups = [slope(formula, f, t, order) for f in reference.functions]
    yield "quotient_of_derivatives", formula.share(divide, (ups, downs)), {
        "sentence": "the second derivatives were divided: differentiate the slope once more, and"
        " divide by the speed"}
    yield "missing_chain_factor", slope(formula, first, t), inner
    yield "wrong_order", ups, {"sentence": "the division by the speed is missing"}


def _left_of_curve(said: Claim, reference: Reference) -> str:
    wanted = reference.by()
    assert said.order is not None
    if said.order != len(wanted):
        return f"the {ordinal(said.order)} derivative, not the {ordinal(len(wanted))}"
    # Its coordinates may have any names.
    if said.of == "x" or (said.by and (set(said.by) & {*reference.wrt, "y"})):
        return f"{_derivative(said)}, not dy/dx"
    return ""


# ---- the function itself -----------------------------------------------------------------------


def _itself(reference: Reference, c: int, d: Differentiator) -> int:
    return reference.functions[c]


def _mistaken_values(reference: Reference, c: int) -> Mistaken:
    """Yield derivatives and the value doubled and halved in place of the function's own value."""
    f = reference.functions[c]
    for name in reference.wrt:
        yield "wrong_order", slope(reference.formula, f, name), {
            "sentence": f"this is the derivative by {name}: the function itself is asked for"}
    yield "reciprocal_of_derivative", reference.formula.share(
        divide, (reference.formula.number(1.0), f)), {
            "sentence": "this is 1 over the value: turn it over"}


def _left_of_value(said: Claim, reference: Reference) -> str:
    return "a derivative, not the function itself"


# ---- sets of numbers and points ----------------------------------------------------------------


def _solutions(reference: Reference) -> None:
    from gradcli.homework.checking.solutions import find

    reference.solutions = find(reference, reference.kind.solved)
    reference.variables = ()
    if reference.kind.sorted and any(not one.sort for one in reference.solutions):
        raise refused("at one of its points gradcli cannot tell a maximum from a minimum",
                      'ask for kind = "critical"')


def _listed(reference: Reference) -> tuple[int, ...]:
    from gradcli.homework.checking.solutions import wanted

    n = len(reference.wrt)
    return (len(wanted(reference)), n) if n > 1 else (len(wanted(reference)),)


def _solution(reference: Reference, c: int, d: Differentiator) -> int:
    from gradcli.homework.checking.solutions import wanted

    row, column = divmod(c, len(reference.wrt))
    return reference.formula.number(wanted(reference)[row].at[column])


def _in_words(reference: Reference) -> None:
    if not reference.problem.words:
        raise error("E0702", "`words` is missing", help='write words = ["does not exist"]')
    reference.solutions, reference.variables = [], ()


def _none(reference: Reference, c: int) -> Mistaken:
    return iter(())


# ---- the table ---------------------------------------------------------------------------------

DERIVATIVE = "derivative"
"""The kind of a problem that says nothing else."""
GRADIENT = "gradient"
"""The kind of one that names several variables."""

ROWS = (
    ProblemKind(
        DERIVATIVE, repeatedly, derivatives, left_of_derivatives, single=True,
        unlikely=("wrong_variable",)),      # of one variable, few differentiate by a constant
    ProblemKind(
        "value", repeatedly_or_each, partial(derivatives, beyond=1),    # one number equals much
        left_of_derivatives, shape=number_or_vector, needs="at"),
    ProblemKind("partial", in_turn, derivatives, left_of_derivatives),
    ProblemKind(GRADIENT, each, derivatives, left_of_derivatives, shape=vector),
    ProblemKind("jacobian", each, derivatives, left_of_any, function="several", shape=matrix),
    ProblemKind("hessian", pairs, derivatives, left_of_derivatives, shape=square),
    ProblemKind(
        "directional", each, _mistaken_directions, _left_of_directional, own="direction",
        own_help="the kind of a derivative along one is directional", needs="direction",
        component=_directional, check=_check_direction),
    ProblemKind(
        "implicit", _each_time, _mistaken_equations, left_of_derivatives, function="equation",
        single=True, shape=number_or_vector, own="dependent", typed=of_dependent,
        component=_implicit, check=_check_dependent, linear=False),
    ProblemKind(
        "parametric", repeatedly, _mistaken_curves, _left_of_curve, function="curve", single=True,
        component=_parametric, check=_check_coordinates, linear=False),
    ProblemKind(
        "tangent", each, tangents.mistaken_lines, tangents.left_of_line,
        function="one curve equation", needs="at", typed=tangents.without_point,
        component=tangents.tangent, check=tangents.check_point, line=True,
        unlikely=("missing_term", "reciprocal_of_derivative")),
    ProblemKind(
        "normal", each, tangents.mistaken_normals, tangents.left_of_line,
        function="one curve equation", needs="at", typed=tangents.of_normal,
        component=tangents.normal,
        check=tangents.check_normal, line=True, linear=False, unlikely=("missing_term",)),
    ProblemKind(
        "linearization", each, tangents.mistaken_lines, tangents.left_of_line, needs="at",
        typed=tangents.without_point, component=tangents.tangent, check=tangents.check_point,
        line=True,
        unlikely=("missing_term", "reciprocal_of_derivative")),
    ProblemKind(
        "estimate", each, tangents.mistaken_estimates, tangents.left_of_line, own="to",
        needs="at", typed=tangents.estimated, component=tangents.estimate,
        check=tangents.check_estimate, linear=False),
    ProblemKind(
        "differential", each, tangents.mistaken_differentials, tangents.left_of_differential,
        tangents.called_differential,
        letters=tangents.differentials, typed=tangents.of_differentials,
        component=tangents.differential),
    ProblemKind(
        "function", _never, _mistaken_values, _left_of_value, component=_itself, linear=False),
    ProblemKind(
        "norm", each, lengths.mistaken_norms, lengths.left_of_norm, lengths.called_norm,
        function="one several",
        typed=lengths.unbarred, component=lengths.norm, check=lengths.check_vector, linear=False),
    ProblemKind(
        "unit", each, lengths.mistaken_units, lengths.left_of_unit, lengths.called_unit,
        function="one several", shape=lengths.parts, component=lengths.unit,
        check=lengths.check_vector, linear=False),
    *[ProblemKind(
        name, each, _none, left_of_any, shape=_listed, component=_solution, check=_solutions,
        linear=False, solved=order, sorted=name == "extrema")
      for name, order in (("zeros", 0), ("critical", 1), ("extrema", 1), ("inflection", 2))],
    ProblemKind(
        "words", each, _none, left_of_any, shape=_listed, component=_itself, check=_in_words,
        own="words", linear=False),
)
KINDS = {kind.name: kind for kind in ROWS}
