"""An answer as it was read, fitted to the shape that the problem asks for."""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import Values, error_of
from gradcli.homework.checking import built, compare
from gradcli.homework.checking import pool as points
from gradcli.homework.checking.built import CONSTANTS, Solved, build
from gradcli.homework.checking.compare import SAFETY, Comparison, Side
from gradcli.homework.checking.prepared import PreparedProblem
from gradcli.homework.checking.problem import differentiated
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.left import Claim, claim
from gradcli.lang.paper.names import UNITS
from gradcli.lang.paper.unknown import unknown_word
from gradcli.lang.syntax.code import BINARY, PUSH, UNARY
from gradcli.ops.table.elementwise import multiply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.homework.checking.built import Tree
    from gradcli.homework.checking.problem import Problem, Reference
    from gradcli.lang.paper.answer import Reading
    from gradcli.lang.syntax.code import Code


STRANGERS = 3
"""So many letters that nobody knows are words, not a formula."""


class Answered:
    """The components of an answer as nodes of a formula.

    nodes: one for each component, row by row.
    shape: as it was written, None where rows differ in length.
    fits: whether that is the shape asked for.
    transposed: whether it is that of the transpose.
    solved: the equation that it is, or None.
    unknown: names that the problem does not know.
    """

    __slots__ = ("fits", "formula", "nodes", "reading", "shape", "solved", "transposed", "unknown")

    def __init__(self, reading: Reading, reference: Reference, problem: Problem) -> None:
        """Build the nodes of a reading. Raises GradcliError for what is not a formula."""
        self.reading = reading
        self.formula = Formula()
        degrees, real = problem.angle == "degree", problem.real_roots
        variables = reference.variables
        tree = built.build(reading.code, self.formula, variables, degrees=degrees, real_roots=real)
        left: Tree = []
        self.solved: Solved | None = None
        if reading.equation is not None:
            left = built.build(reading.equation, self.formula, variables, degrees=degrees,
                               real_roots=real)
        elif reference.kind.line and reading.sides and is_equation(reading, reference):
            left = self.formula.leaf(reading.sides.strip())
        if isinstance(left, int) and isinstance(tree, int):
            self.solved = Solved.of(self.formula, left, tree, variables)
            tree = tree if self.solved is None else self.solved.value
        tree = _by_units(self.formula, tree, reference)
        if reading.labels:
            tree = arranged(tree, reading.labels, reference)
        self.nodes = built.flat(tree)
        if reading.scale not in (0.0, 1.0):
            self.nodes = [self.formula.add(multiply, (self.formula.number(reading.scale), node))
                          for node in self.nodes]
        self.shape = built.shape(tree)
        wanted = reference.shape
        self.transposed = len(wanted) == 2 and wanted[0] != wanted[1] and \
            self.shape == wanted[::-1]
        self.fits = self.shape == wanted or (
            # A row, a column and a vector are one thing; so are a number and a vector of one.
            len(self.nodes) == len(reference.nodes) and self.shape is not None
            and min(_long(self.shape), _long(wanted)) <= 1 and max(
                _long(self.shape), _long(wanted)) <= 1)
        # Mostly there is none, and no need to see what the components depend on.
        self.unknown = tuple([
            n for n in self.formula.leaves(self.nodes) if n not in reference.variables
        ]) if not set(reference.variables).issuperset(self.formula.names()) else ()
        if len(self.unknown) > 1:   # `2x or -2x`, `yes`
            word = unknown_word(reading, reference.names, apart=True)
            if word is not None:
                raise word
        if len(self.unknown) >= STRANGERS:
            raise error("E0711", "this reads as a product of letters that the problem does not"
                        f" have: {', '.join(self.unknown)}", (0, len(reading.text)),
                        help=f"give a formula in {', '.join(reference.variables)}")


def _long(shape: tuple[int, ...]) -> int:
    """Return the number of axes with more than one element."""
    return sum([n > 1 for n in shape])


def _by_units(formula: Formula, tree: Tree, reference: Reference) -> Tree:
    """Return the components of 2x i + 3 j: its values with one unit vector 1 and the others 0."""
    n = len(reference.nodes)
    if not isinstance(tree, int) or len(reference.shape) != 1 or not 1 < n <= 3:
        return tree
    there = set(formula.leaves([tree]))
    for units in (UNITS[:n], ("e_1", "e_2", "e_3")[:n], [f"e_{name}" for name in reference.wrt]):
        if len(units) == n and not there.isdisjoint(units) and \
                set(units).isdisjoint(reference.variables):
            return [formula.substituted(tree, {
                formula.leaf(u): formula.number(float(u == unit)) for u in units})
                for unit in units]
    return tree


# ---- what the left side of an answer names, and what was asked for -------------------------------
#
# Components may say what they are: f_y = 3, f_x = 2x is a gradient in another order. Of an answer
# that names another quantity than the one asked for, a person decides what is meant.

NEAR = 1e-8


def arranged(tree: Tree, labels: Sequence[str], reference: Reference) -> Tree:
    """Return the components in the order of their labels; the tree if these do not fit.

    Of a Hessian, one mixed derivative stands for both.
    """
    items = [tree] if isinstance(tree, int) else tree       # f_x = f_y = 1
    if len(items) != len(labels):
        return tree
    wrt = reference.wrt
    if reference.form == "several" and len(reference.shape) == 2:
        return _by_functions(labels, items, reference) or tree
    found = _by_variables(labels, items, reference)
    if found is None:
        return tree
    if reference.axes == 1:
        return [found[x,] for x in wrt]
    return [[found.get((x, y), found.get((y, x), 0)) for y in wrt] for x in wrt]


def _by_functions(labels: Sequence[str], items: Sequence[Tree], reference: Reference) -> Tree:
    """Return the rows of a Jacobian by their labels, ∇f_1, ∇f_2 or u_x, u_y, v_x, v_y; empty where
    these do not name all in the order of their names. Raises E0711 for numbers of other rows.
    """
    rows = [found[1] for label in labels for found in re.finditer(r"_\{?(\d)\}?$", label)]
    if len(rows) == len(labels):
        if len({*rows}) < len(rows) or int(max(rows)) > len(rows) or "0" in rows:
            raise error("E0711", f"rows are numbered {', '.join(rows)}", help="number each once")
        return [items[rows.index(row)] for row in sorted(rows)]
    said = [claim(label, reference.names) for label in labels]
    found = {(one.of, one.by): item for one, item in zip(said, items, strict=True)
             if one is not None}
    functions = list(dict.fromkeys([of for of, _ in found]))
    wanted = [[(of, (name,)) for name in reference.wrt] for of in functions]
    if len(found) != len(labels) or functions != sorted(functions) or any(
            key not in found for row in wanted for key in row):
        return []
    return [[found[key] for key in row] for row in wanted]


def _by_variables(labels: Sequence[str], items: Sequence[Tree], reference: Reference
                  ) -> dict[tuple[str, ...], Tree] | None:
    """Return the items by the variables of their labels; None if these are not the right ones."""
    order = reference.axes
    if not order:
        return None
    found: dict[tuple[str, ...], Tree] = {}
    for label, item in zip(labels, items, strict=True):
        for one in label.replace(":", "=").split("="):      # f_xy = f_yx
            said = claim(one, reference.names)
            by = _numbered(one, reference) or (     # x = 2x, y = 3 is for a person
                said and (said.by or (said.of,)))
            if not by or len(by) != order or by in found:
                return None
            found[by] = item
    wrt = reference.wrt
    wanted = [(x,) for x in wrt] if order == 1 else [(x, y) for x in wrt for y in wrt]
    if set(found) <= set(wanted) and all(w in found or w[::-1] in found for w in wanted):
        return found
    return None


def _numbered(label: str, reference: Reference) -> tuple[str, ...]:
    """Return the variables that an index numbers, f_12, f_{12}; empty without numbers."""
    found = re.fullmatch(r"[A-Za-z]_(?:\{([1-9]+)\}|([1-9]+))", label)
    numbers = [int(n) for n in (found[1] or found[2])] if found else []
    if not numbers or max(numbers) > len(reference.wrt) or label in reference.names.written:
        return ()
    return tuple([reference.wrt[n - 1] for n in numbers])


def misnamed(reading: Reading, prepared: PreparedProblem) -> str:
    """Return the quantity named by the left side if it is not the one asked for, else ""."""
    reference = prepared.reference
    if reading.labels:
        return _misnamed_components(reading.labels, reference)
    said = claim(reading.sides, reference.names) if reading.sides else None
    if said is None or (reference.kind.line and is_equation(reading, reference)):
        return ""
    return another(said, prepared)


def another(said: Claim, prepared: PreparedProblem) -> str:
    """Describe the quantity that is named if it is not the one asked for, else return ""."""
    reference = prepared.reference
    return (_quantity(said, reference) or _motion(said, prepared) or _place(said, reference)
            or _operand(said, prepared))


def is_only_a_name(side: str, reference: Reference) -> bool:
    """Return whether a left side is a name, and not one times something: dy/dx y, y'(2y), f^2."""
    # Those of a fraction in LaTeX: ((π)/(6)).
    side = re.sub(r"(?<=[(/])\((\w+)\)", r"\1", "".join(side.split()))
    said = claim(side, reference.names)
    if said is None:
        return not any(sign in side for sign in "'/^")
    of_curve = reference.constraint is not None and len(said.at) == 1
    return all(_value(text) is not None or (text.isalpha() and not (
        of_curve and text in reference.variables and text not in reference.wrt))
        for name, text in said.at if not name)


def is_equation(reading: Reading, reference: Reference) -> bool:
    """Return whether the letter left of a tangent's answer is in its equation: x = (y + 9)/6."""
    left = reading.sides.strip()
    return left in (*reading.names, *reference.wrt) and not {
        *reference.variables, *CONSTANTS}.issuperset((left, *reading.names))


def _misnamed_components(labels: Sequence[str], reference: Reference) -> str:
    said = [claim(label, reference.names) for label in labels]
    known = [one for one in said if one is not None]
    if not reference.shape:
        return ""
    if reference.form == "several":
        wrt = reference.wrt
        if any(one is not None and one.by not in (None, (wrt[k % len(wrt)],))
               for k, one in enumerate(said)):
            return "other derivatives than those asked for"
    elif any(one.by for one in known) and _by_variables(
            labels, labels, reference) is None:  # type: ignore[arg-type]
        return "other derivatives than those asked for"
    elif reference.axes and reference.kind.component is differentiated and any(
            one.of in reference.wrt and not one.by for one in known):
        return "components by variables, not by derivatives"
    return next(filter(None, [_place(one, reference) for one in known]), "")


def _quantity(said: Claim, reference: Reference) -> str:
    """Describe the named quantity if it is not the one asked for, else return ""."""
    kind, wrt = reference.kind, reference.wrt
    if said.operator in ("∇", "H") and len(wrt) > 1 and not kind.called(said, reference):
        matrix = said.operator == "H"
        if matrix == (reference.axes == 2):
            return "" if reference.shape else "a gradient, not a number or formula"
        return "a Hessian matrix" if matrix else "a gradient"
    if said.order is None:
        named = kind.called(said, reference)
        if named:
            return named
        itself = said.of == "x" if kind.function == "curve" else said.of in (
            reference.variables if kind.line else wrt)
        return f"the variable {said.of}" if itself and not said.at and not said.operator else ""
    return kind.left(said, reference)


MOTION = ("s", "v", "a")
QUANTITIES = ("a position", "a velocity", "an acceleration")


def _motion(said: Claim, prepared: PreparedProblem) -> str:
    """Describe the position, velocity or acceleration that is named if another one is asked for, as
    the unit or the name of the function says; else return "".
    """
    reference = prepared.reference
    if said.of not in MOTION or said.of in reference.names.written or said.operator:
        return ""
    function = claim(reference.reading.sides, reference.names)
    wanted = -1
    if function is not None and function.of in MOTION:
        wanted = MOTION.index(function.of) + len(reference.by())
    elif prepared.problem.unit:
        from gradcli.homework.checking.units import unit_of

        bases = dict(unit_of(prepared).bases)
        if bases.pop("meter", 0) == 1 and bases.keys() <= {"second"}:
            wanted = int(-bases.get("second", 0))
    given = MOTION.index(said.of) + (said.order or 0)
    return "" if wanted in (-1, given) else QUANTITIES[given] if given < len(QUANTITIES) else (
        "a further derivative")


def _place(said: Claim, reference: Reference) -> str:
    """Describe the named point if it is another one than the one asked for, else return ""."""
    from gradcli.homework.checking.compare import shown

    known = reference.names.written
    values = [(known.get(name, name), None if value in known else _value(value), value)
              for name, value in said.at]
    at, kind = reference.problem.to or reference.fixed, reference.kind
    if not at:
        for _, value, text in values:
            if value is not None:
                return f"a value at {text}, not a formula"
        if len(values) == 1 and said.of and kind.plain and not reference.shape and \
                len(values[0][2]) == 1 and values[0][2].isalpha() and known.keys().isdisjoint(
                    (values[0][2], values[0][2].swapcase())):
            return f"a value at {values[0][2]}"
        return ""
    for name, value, _ in values:
        if name in at and value is not None and not _same(value, at[name]):
            return f"a value at {name} = {shown(value)}, not {shown(at[name])}"
    placed = [value for name, value, _ in values if not name]
    # Along a curve, a number in brackets may be that of a coordinate.
    if not placed or None in placed or kind.function == "curve":
        return ""
    if len(placed) == 1:
        orders: list[tuple[str, ...]] = [reference.wrt[:1]]
    else:
        orders = [tuple(at), tuple(sorted(at)), reference.wrt]
    orders = [order for order in orders if len(order) == len(placed) and set(order) <= set(at)]
    if not orders or any(all(map(_same, placed, [at[n] for n in order])) for order in orders):
        return ""
    return (f"a value at ({', '.join(shown(v) for v in placed if v is not None)}), not"
            f" ({', '.join(shown(at[n]) for n in orders[0])})")


def _operand(said: Claim, prepared: PreparedProblem) -> str:
    """Describe the differentiated formula if it is not a function plus a number, else return ""."""
    reference, problem = prepared.reference, prepared.problem
    if not said.operand or not reference.kind.plain or reference.shape:
        return ""
    formula = Formula()
    try:
        tree = build(read(said.operand, reference.names).code, formula, reference.variables,
                     degrees=problem.angle == "degree", real_roots=problem.real_roots)
        if not isinstance(tree, int) or not set(formula.leaves([tree])) <= set(prepared.inputs):
            return ""
        values = Values(formula, prepared.inputs, prepared.errors)
        values.deadline = prepared.values.deadline
        (given, noise), = values.of([tree])
        (right, bound), = prepared.values.of(reference.functions)
    except GradcliError:
        return ""
    with np.errstate(all="ignore"):
        noise = SAFETY*(error_of(given, noise) + error_of(right, bound))
        size = abs(given) + abs(right)
        apart = np.broadcast_to(given - right, (prepared.size,))
        known = np.flatnonzero(np.broadcast_to(np.isfinite(apart) & (noise <= NEAR*size),
                                               apart.shape))
        if len(known) and (abs(apart - apart[known[0]]) > NEAR*(size + abs(apart[known[0]]))
                           )[known].any():
            return "the derivative of another formula"
    return ""


def _value(text: str) -> float | None:
    from gradcli.homework.checking.built import constant

    try:
        return constant("at", text)
    except GradcliError:
        return None


def _same(value: float | None, other: float) -> bool:
    """Return whether a number equals another one, or that one rounded to the digits typed."""
    from gradcli.homework.checking.compare import half_unit

    return value is not None and abs(value - other) <= max(
        half_unit(value), half_unit(other), 1e-9*abs(other))


# --------------------------------------------------------------------------------------------------
# The answer at the points of its problem.

MORE = 4096


class Trial:
    """An answer at the points of its problem.

    inputs: those of the problem, and values of names that only the answer has; side: the answer's
    values, None if its shape is not the one asked for.
    """

    __slots__ = ("answered", "comparison", "deadline", "errors", "inputs", "notes", "prepared",
                 "side", "values")

    def __init__(self, prepared: PreparedProblem, answered: Answered, deadline: float) -> None:
        self.prepared = prepared
        self.answered = answered
        self.deadline = deadline
        self.notes: list[str] = []
        self.inputs = prepared.inputs
        self.errors = prepared.errors
        if answered.unknown:
            self.inputs = {**self.inputs, **self._unknown(answered.unknown)}
        self.values = Values(answered.formula, self.inputs, self.errors)
        self.values.deadline = deadline
        self.side: Side | None = None
        self.comparison: Comparison | None = None

    def _unknown(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return values of names that the problem does not know; y and f are the function."""
        prepared = self.prepared
        found: dict[str, Any] = {}
        functions = prepared.reference.functions
        kind = prepared.reference.kind
        for name in names:
            if kind.function == "curve" and name in ("x", "y"):
                (value, bound), = prepared.values.of([functions[name == "y"]])
                found[name] = value
                self.errors = {**self.errors, name: error_of(value, bound)}
                if not self.notes:
                    self.notes.append("x and y were taken for the coordinates of the curve")
            elif name in ("y", "f") and len(functions) == 1 and \
                    prepared.reference.constraint is None and not kind.line:
                found[name] = prepared.values.of(functions)[0][0]
                self.notes.append(f"`{name}` was taken for the function itself")
            elif prepared.single:
                found[name] = float(prepared.random(name).random() * 2.7 + 0.3)
            else:
                found[name] = prepared.random(name).random(prepared.size) * 2.7 + 0.3
        return found

    def left_over(self) -> list[str]:
        """Return the variables in the answer to which the problem has given values."""
        fixed = self.prepared.reference.fixed
        return [n for n in self.answered.formula.leaves(self.answered.nodes)
                if n in fixed] if fixed else []

    def again(self, inputs: dict[str, Any]) -> Trial:
        """Return the trial of this answer at other points."""
        prepared = self.prepared
        known = {n: inputs[n] for n in prepared.inputs}
        other = PreparedProblem(prepared.problem, prepared.reference, prepared.seed, known,
                                prepared.errors, self.deadline)
        return Trial(other, self.answered, self.deadline)

    def resampled(self) -> Trial:
        """Return the trial of this answer at many more points, to settle a single difference; the
        same where a constraint gives the points.
        """
        prepared = self.prepared
        if prepared.reference.constraint is not None:
            return self
        trial = self.again(points.pool(
            prepared.reference, points.seed_number(
                prepared.seed, prepared.problem.id, prepared.problem.function, "again"), MORE))
        trial.side = Side(trial.values, self.answered.nodes, trial.prepared.size)
        trial.comparison = Comparison(trial.prepared.side, trial.side, prepared.problem.rtol,
                                      trial.prepared.zeros)
        return trial

    def allowed(self) -> Any:
        """Return the allowed difference of each number from the right one, a column."""
        prepared = self.prepared
        side = self.side
        assert side is not None
        # Digits are those typed, in the unit of the answer.
        unit = 1.0
        if prepared.problem.tolerance is None:
            unit = self.answered.reading.scale or 1.0
        return np.array([[unit * compare.allowed(
            prepared.problem.tolerance, float(right) / unit, float(typed) / unit, text)]
            for right, typed, text in zip(
                prepared.side.values[:, 0], side.values[:, 0], components(self), strict=True)])


def components(trial: Trial) -> list[str]:
    """Return the numbers of an answer as they were typed, without signs; "" for a calculated one.

    A component has the value of a number that stands in the text, 7.39 of 2/9 i + 7.39 j, or not.
    """
    assert trial.side is not None
    reading = trial.answered.reading
    code = reading.code
    values = (trial.side.values[:, 0] / (reading.scale or 1.0)).tolist()
    if len(values) == 1 and _is_scientific(code):
        return [reading.text[code[-1][2]:code[-1][3]]]
    typed = [(ins[1], reading.text[ins[2]:ins[3]]) for ins in code if ins[0] == PUSH]
    found = []
    for value in values:
        k = next((k for k, (number, _) in enumerate(typed)
                  if abs(number - abs(value)) <= 1e-15 * number), None)
        found.append("" if k is None else typed.pop(k)[1])
    return found


def _is_scientific(code: Code) -> bool:
    """Return whether the code is a number times a power of ten: 7.39*10^3."""
    steps = [ins[:2] for ins in code if ins[:2] != (UNARY, "negative")]
    return (len(steps) == 5 and steps[1] == (PUSH, 10.0) and steps[0][0] == steps[2][0] == PUSH
            and steps[3:] == [(BINARY, "power"), (BINARY, "multiply")])
