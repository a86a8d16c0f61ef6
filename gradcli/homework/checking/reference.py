"""The right answer to a problem: formulas derived from the function by the tape's rules."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, Source, error
from gradcli.base.lazy import np
from gradcli.formulas.nodes import Formula, Tangents
from gradcli.formulas.rounding import Values, error_of
from gradcli.homework.checking import built
from gradcli.homework.checking.zeros import vanishing
from gradcli.lang.paper.ambiguous import first_mixed
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.plain import counts
from gradcli.lang.paper.unknown import unknown_word
from gradcli.ops.table.elementwise import add, divide, multiply, negative, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.homework.checking.built import Tree
    from gradcli.homework.checking.problem import Problem
    from gradcli.lang.paper.answer import Reading

REPEATED = ("derivative", "value", "partial", "implicit", "parametric")
"""Kinds that differentiate `order` times by one variable."""
MAX_COMPONENTS = 64
MAX_DERIVED = 20_000
"""So many operations of a derivative are evaluated at all points in a blink."""


class Reference:
    """A right answer.

    reading: of the function.
    functions: the nodes of its components.
    nodes: those of the answer, row by row.
    shape: (), (n,) or (m, n).
    names: the names that answers may use.
    variables: the names that the right answer may depend on.
    wrt: the variables of differentiation.
    constraint: the node that is 0 where an answer counts (implicit functions).
    """

    __slots__ = ("constraint", "formula", "functions", "names", "nodes", "reading", "shape",
                 "variables", "wrt")

    def __init__(self, problem: Problem) -> None:
        self.formula = Formula()
        vector = problem.kind in ("jacobian", "parametric")
        self.names = known = names(problem, vector)
        self.reading = _read(problem, known)
        if self.reading.equation is not None and problem.kind != "implicit":
            raise self._equation(problem)
        tree = built.build(self.reading.code, self.formula, self.names.variables,
                           degrees=problem.angle == "degree", real_roots=problem.real_roots)
        self.functions = built.flat(tree)
        self.constraint: int | None = None
        self.wrt = self._wrt(problem)
        _check_used(problem, self.wrt)
        self.nodes: list[int] = []
        self.shape: tuple[int, ...] = ()
        if len(self.functions) > 1 and not vector:
            raise _bad(f"a {problem.kind} problem has a function of one component, not"
                       f" {len(self.functions)}", 'write kind = "jacobian" for several')
        derive(self, problem, tree)
        zeros = vanishing(self.formula, self.nodes)
        self.nodes = [self.formula.number(0.0) if k in zeros else k for k in self.nodes]
        self.names = names(problem, bool(self.shape), self.formula.leaves(self.functions), self.wrt)
        found = set(self.formula.names())
        self.variables = tuple(sorted(found | set(self.wrt) | set(problem.parameters) | (
            {problem.dependent} if problem.dependent else set())))

    def _equation(self, problem: Problem) -> GradcliError:
        if problem.dependent:
            return error("E0702", f"an equation is asked for, but `kind` is {problem.kind}",
                         help="the kind of an equation is implicit")
        if problem.kind == "derivative" and len(self.reading.names) > 1:
            return error("E0702", "of an equation, `dependent` is missing",
                         help='write dependent = "y"')
        return _bad(f"a {problem.kind} problem has a function, not an equation",
                    "write a function, such as x^2")

    def _wrt(self, problem: Problem) -> tuple[str, ...]:
        """Return the variables of differentiation; by default all that are no parameters."""
        if problem.kind == "derivative" and len(problem.wrt) == 1:
            return problem.wrt
        free = [n for n in self.formula.leaves(self.functions) if n not in problem.parameters]
        if problem.kind == "implicit":
            # Of an equation, the function is the right side only.
            free = [n for n in self.reading.names if n not in problem.parameters and (
                n not in built.CONSTANTS or n in self.names.variables)]
            if not problem.dependent:
                problem.dependent = "y" if "y" in free and "y" not in problem.wrt else ""
            if not problem.dependent:
                raise error("E0702", "`dependent` is missing", help='write dependent = "y"')
            free = [n for n in free if n != problem.dependent]
        wrt = problem.wrt or tuple(sorted(free))
        if problem.kind == "parametric" and not set(wrt) & set(self.formula.leaves(
                self.functions)):
            # y by x was asked for: the one letter that there is runs along the curve.
            wrt = tuple(self.formula.leaves(self.functions))
        single = problem.kind in ("derivative", "implicit", "parametric")
        if not wrt or (single and len(wrt) != 1):
            raise error("E0702", "`wrt` is missing: the function depends on"
                        f" {', '.join(wrt) or 'nothing'}" if not problem.wrt else
                        f"`wrt` names {len(wrt)} variables, but a {problem.kind} has one",
                        help=f'write wrt = "{next((n for n in "xtuz" if n in wrt), wrt[0])}"'
                        if wrt else 'write wrt = "x"')
        return wrt


def names(problem: Problem, vector: bool, others: Sequence[str] = (), wrt: Sequence[str] = ()
          ) -> ProblemNames:
    """Return the names that texts about a problem may use.

    others: further names of the function. wrt: the variables of differentiation, where the problem
    does not say.
    """
    listed = [*others, *problem.wrt, *problem.parameters, *problem.at, *problem.domain]
    if problem.kind == "implicit":
        listed.append(problem.dependent or "y")
    wrt = wrt or problem.wrt
    fixed: frozenset[str] = frozenset()
    if "gamma" in problem.function or counts(problem.function):     # else `2a!` is only loud
        fixed = frozenset(listed if wrt else problem.parameters).difference(
            wrt, [problem.dependent])
    key = tuple(sorted(set(listed))), problem.log, problem.decimal_comma, vector, fixed
    found = _names.get(key)
    if found is None:
        if len(_names) >= MAX_NAMES:
            _names.clear()
        found = _names[key] = ProblemNames(
            key[0], log=problem.log, decimal_comma=problem.decimal_comma, vector=vector,
            fixed=fixed)
    return found


# Names know the words that they met; most problems have the same.
MAX_NAMES = 64
_names: dict[Any, ProblemNames] = {}


def _read(problem: Problem, known: ProblemNames) -> Reading:
    text = problem.function
    if problem.kind in ("parametric", "jacobian"):
        text = bracketed(text)
    try:
        found = read(text, known, both=problem.kind == "implicit")
        place = first_mixed(found) if "\\" in text else None
        if place is not None:
            raise error("E0704", "a mixed number, or a product", place,
                        help="put + and brackets, or a sign of a product, between number and"
                        " fraction")
        unknown = unknown_word(found, known)
        if unknown is not None:
            raise unknown
        return found
    except GradcliError as unreadable:
        source = Source(problem.function, "function")
        for d in unreadable.diagnostics:
            d.code = "E0704"
            d.source = d.source or source
        raise


def bracketed(text: str) -> str:
    """Put components that are only listed, x = cos t, y = sin t, in brackets."""
    parts, depth, begin = [], 0, 0
    bare = text.strip()
    for at, character in enumerate(bare):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character in ",;" and depth == 0:
            parts.append(bare[begin:at])
            begin = at + 1
    if not parts:
        return text
    parts.append(bare[begin:])
    return f"[{', '.join([part.rpartition('=')[2].strip() for part in parts])}]"


def _check_used(problem: Problem, wrt: tuple[str, ...]) -> None:
    """Raise E0701 for an order, direction or dependent variable that the kind has not: the author
    meant another question.
    """
    kind, order, n = problem.kind, problem.order, len(wrt)
    own = {"hessian": 2, "partial": n}.get(kind, 1)
    if order not in (1, own) and (n > 1 or kind not in REPEATED):
        field, said = "order", f" {order}, with respect to {', '.join(wrt)}"
        help = "the kind of a mixed derivative is partial" if (
            kind in ("gradient", "value") and order == n) else "leave `order` out"
    elif problem.direction and kind != "directional":
        field, said, help = "direction", "", "the kind of a derivative along one is directional"
    elif problem.dependent and kind != "implicit":
        field, said, help = "dependent", "", "leave `dependent` out"
    else:
        return
    raise error("E0701", f"a problem of the kind {kind} has no `{field}`{said}", help=help,
                about=("option", field))


def _bad(message: str, help: str) -> GradcliError:
    return error("E0704", message, help=help)


# ---- derivatives -----------------------------------------------------------------------------


def slope(formula: Formula, node: int, name: str, order: int = 1) -> int:
    """Return the node of a derivative; the number 0 where there is none.

    Raises E0704 for a long one.
    """
    return _repeated(Tangents(formula, {name: formula.number(1.0)}), node, order)


def _repeated(tangents: Tangents, node: int, order: int) -> int:
    formula = tangents.formula
    found: int | None = node
    for _ in range(order):
        if found is not None:
            found = tangents.of(found)
        if len(formula.ops) > MAX_DERIVED:
            raise _bad(f"the derivative has more than {MAX_DERIVED:,} operations",
                       "set a shorter function, or one of a lower order")
    return formula.number(0.0) if found is None else found


def _check_components(count: int) -> None:
    if count > MAX_COMPONENTS:
        raise _bad(f"an answer has at most {MAX_COMPONENTS} components, not {count}",
                   "ask for some of the variables only: wrt = ...")


def derive(reference: Reference, problem: Problem, tree: Tree) -> None:
    """Fill in the nodes of the right answer, its shape, and the constraint, if there is one."""
    DERIVATIONS[problem.kind](reference, problem, tree)


def _derivative(reference: Reference, problem: Problem, tree: Tree) -> None:
    reference.nodes = [slope(reference.formula, reference.functions[0], reference.wrt[0],
                             problem.order)]


def _value(reference: Reference, problem: Problem, tree: Tree) -> None:
    """Set the nodes to a derivative, or a gradient, at a point."""
    if len(reference.wrt) == 1:
        _derivative(reference, problem, tree)
    else:
        _gradient(reference, problem, tree)


def _partial(reference: Reference, problem: Problem, tree: Tree) -> None:
    """Differentiate by each variable in turn: x, y is the mixed second derivative."""
    formula, node = reference.formula, reference.functions[0]
    order = problem.order if len(reference.wrt) == 1 else 1
    for name in reference.wrt:
        node = slope(formula, node, name, order)
    reference.nodes = [node]


def _gradient(reference: Reference, problem: Problem, tree: Tree) -> None:
    formula, node = reference.formula, reference.functions[0]
    _check_components(len(reference.wrt))
    reference.nodes = [slope(formula, node, name) for name in reference.wrt]
    reference.shape = (len(reference.wrt),)


def _jacobian(reference: Reference, problem: Problem, tree: Tree) -> None:
    formula = reference.formula
    _check_components(len(reference.functions)*len(reference.wrt))
    reference.nodes = [slope(formula, f, name)
                       for f in reference.functions for name in reference.wrt]
    reference.shape = (len(reference.functions), len(reference.wrt))


def _hessian(reference: Reference, problem: Problem, tree: Tree) -> None:
    formula, node = reference.formula, reference.functions[0]
    _check_components(len(reference.wrt)**2)
    slopes = [slope(formula, node, name) for name in reference.wrt]
    reference.nodes = [slope(formula, s, name) for s in slopes for name in reference.wrt]
    reference.shape = (len(reference.wrt), len(reference.wrt))


def _directional(reference: Reference, problem: Problem, tree: Tree) -> None:
    from math import hypot

    formula, node = reference.formula, reference.functions[0]
    direction = problem.direction
    if len(direction) != len(reference.wrt):
        raise _bad(f"the direction has {len(direction)} components for"
                   f" {len(reference.wrt)} variables", "write one number a variable")
    length = hypot(*direction)
    if not length:
        raise _bad("the direction is 0", "write direction = [3, 4]")
    total = weighted(formula, [slope(formula, node, n) for n in reference.wrt], direction)
    if problem.normalize and length != 1:
        total = formula.share(divide, (total, formula.number(length)))
    reference.nodes = [total]


def weighted(formula: Formula, nodes: Sequence[int], weights: Sequence[float]) -> int:
    """Return the node of the weighted sum of nodes."""
    total = formula.number(0.0)
    for node, weight in zip(nodes, weights, strict=True):
        total = formula.share(add, (
            total, formula.share(multiply, (formula.number(weight), node))))
    return total


def _implicit(reference: Reference, problem: Problem, tree: Tree) -> None:
    """Set the node to dy/dx = -Fx/Fy; higher orders differentiate that along the curve."""
    formula, node = reference.formula, reference.functions[0]
    if reference.reading.equation is not None:
        left = built.build(reference.reading.equation, formula, reference.names.variables,
                           degrees=problem.angle == "degree", real_roots=problem.real_roots)
        if not isinstance(left, int):
            raise _bad("the curve is an equation between numbers", "write x^2 + y^2 = 25")
        node = formula.add(subtract, (left, node))
        reference.functions = [node]
        reference.wrt = reference._wrt(problem)
    reference.constraint = node
    by_x = slope(formula, node, reference.wrt[0])
    by_y = slope(formula, node, problem.dependent)
    if formula.value(by_y) == 0:
        raise _bad(f"the equation does not depend on `{problem.dependent}`",
                   f"write an equation with {problem.dependent}")
    first = formula.share(negative, (formula.share(divide, (by_x, by_y)),))
    along = Tangents(formula, {reference.wrt[0]: formula.number(1.0), problem.dependent: first})
    reference.nodes = [_repeated(along, first, problem.order - 1)]


def _parametric(reference: Reference, problem: Problem, tree: Tree) -> None:
    """Set the node to dy/dx of a curve (x(t), y(t)); higher orders divide by x'(t) once more."""
    formula = reference.formula
    if len(reference.functions) != 2:
        raise _bad(f"a parametric curve has two components, not {len(reference.functions)}",
                   "write function = [cos(t), sin(t)]")
    x, y = reference.functions
    speed = slope(formula, x, reference.wrt[0])
    found = y
    for _ in range(problem.order):
        found = formula.share(divide, (slope(formula, found, reference.wrt[0]), speed))
    reference.nodes = [found]


def _tangent(reference: Reference, problem: Problem, tree: Tree) -> None:
    """Set the node to f(a) + f'(a)(x - a), for as many variables as there are."""
    formula, node = reference.formula, reference.functions[0]
    missing = [n for n in reference.wrt if n not in problem.at]
    if missing:
        raise error("E0702", f"`at` gives `{missing[0]}` no value",
                    help=f"write at = {{{missing[0]} = 2}}")
    here = {formula.leaf(n): formula.number(problem.at[n]) for n in reference.wrt}
    total = formula.substituted(node, here)
    for name in reference.wrt:
        steep = formula.substituted(slope(formula, node, name), here)
        step = formula.share(subtract, (formula.leaf(name), formula.number(problem.at[name])))
        total = formula.share(add, (total, formula.share(multiply, (steep, step))))
    reference.nodes = [total]


DERIVATIONS = {
    "derivative": _derivative, "value": _value, "partial": _partial, "gradient": _gradient,
    "jacobian": _jacobian, "hessian": _hessian, "directional": _directional,
    "implicit": _implicit, "parametric": _parametric, "tangent": _tangent}


# --------------------------------------------------------------------------------------------------
# Points on a curve F = 0: Newton's method in the dependent variable, from random starts.
#
# An implicit derivative is right or wrong on its curve only: for xy = 1, -y/x is -1/x^2.

STEPS = 60


def on_curve(formula: Formula, constraint: int, slope: int, name: str, points: dict[str, Any],
             deadline: float = float("inf")) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the points with `name` moved to make the constraint 0, and the errors of its values.

    slope: the node of the constraint's derivative by that name. Where Newton's iteration does not
    settle, the value is NaN. Raises TimeoutError after the deadline, of `time.thread_time`.
    """
    def here() -> Any:
        found = Values(formula, {**points, name: y})
        found.deadline = deadline
        return found.of([constraint, slope])

    size = max((len(v) for v in points.values() if type(v) is not float), default=1)
    y = np.broadcast_to(np.asarray(points[name], float), (size,)).copy()
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            (f, _), (g, _) = here()
            step = np.asarray(f / g)
            # Far steps are cut, so that what is defined on one side of 0 only is not left.
            limit = 1.0 + 2.0 * abs(y)
            y = y - np.clip(np.where(np.isfinite(step), step, 0.3 * limit), -limit, limit)
        (f, noise), (g, _) = here()
        # What is left of F, and what rounding makes of it, move y by as much over the slope.
        left = abs(f) + error_of(f, noise)
        error = left / abs(g) + 2.0**-52 * abs(y)
        y = np.where(error <= 1e-9 * (abs(y) + 1e-3), y, np.nan)
    return {**points, name: y}, {name: error}
