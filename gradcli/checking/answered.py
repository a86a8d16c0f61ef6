"""An answer as it was read, fitted to the shape that the problem asks for."""

from __future__ import annotations

from gradcli.checking import built
from gradcli.errors import error
from gradcli.ops.elementwise import divide, negative, subtract
from gradcli.reading.names import UNITS
from gradcli.reading.refusals import unknown_word
from gradcli.tape.formula import Formula

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.checking.built import Tree
    from gradcli.checking.problem import Problem
    from gradcli.checking.reference import Reference
    from gradcli.reading import Reading

STRANGERS = 3
"""So many letters that nobody knows are words, not a formula."""


class Answered:
    """nodes: of its components, row by row. shape: as it was written, None where rows differ in
    length. fits: whether that is the shape asked for; transposed: it is that of the transpose.
    unknown: names that the problem does not know.
    """

    __slots__ = ("fits", "formula", "nodes", "reading", "shape", "transposed", "unknown")

    def __init__(self, reading: Reading, reference: Reference, problem: Problem) -> None:
        """Raises GradcliError for what is no formula."""
        self.reading = reading
        self.formula = Formula()
        degrees, real = problem.angle == "degree", problem.real_roots
        variables = reference.variables
        tree = built.build(reading.code, self.formula, variables, degrees=degrees, real_roots=real)
        if reading.equation is not None:
            left = built.build(reading.equation, self.formula, variables, degrees=degrees,
                               real_roots=real)
            tree = _solved(self.formula, left, tree, variables)
        elif problem.kind == "tangent" and reading.sides:
            from gradcli.checking.labels import is_equation

            if is_equation(reading, reference):
                tree = _solved(self.formula, self.formula.leaf(reading.sides.strip()), tree,
                               variables)
        tree = _by_units(self.formula, tree, reference)
        if reading.labels:
            from gradcli.checking.labels import arranged

            tree = arranged(tree, reading.labels, reference, problem.kind)
        self.nodes = built.flat(tree)
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
        if len(self.unknown) >= STRANGERS or {"o", "r"}.issubset(self.unknown):  # `2x or -2x`
            word = unknown_word(reading, reference.names)
            if word is not None:
                raise word
        if len(self.unknown) >= STRANGERS:
            raise error("E0711", "this reads as a product of letters that the problem does not"
                        f" have: {', '.join(self.unknown)}", (0, len(reading.text)),
                        help=f"give a formula in {', '.join(reference.variables)}")


def _long(shape: tuple[int, ...]) -> int:
    """How many of the axes have more than one element."""
    return sum([n > 1 for n in shape])


def _solved(formula: Formula, left: Tree, right: Tree, variables: tuple[str, ...]) -> Tree:
    """An equation, solved for the one name that is no variable: y - 4 = 3(x - 2) is a line.

    It is linear in that name, or what comes out is wrong, as it should be.
    """
    if not isinstance(left, int) or not isinstance(right, int):
        return right
    free = [n for n in formula.leaves([left, right]) if n not in variables]
    if len(free) != 1:
        return right
    rest = formula.add(subtract, (left, right))
    at_0, at_1 = [formula.substituted(rest, {formula.leaf(free[0]): formula.number(v)})
                  for v in (0.0, 1.0)]
    return formula.add(negative, (formula.add(divide, (
        at_0, formula.add(subtract, (at_1, at_0)))),))


def _by_units(formula: Formula, tree: Tree, reference: Reference) -> Tree:
    """The components of 2x i + 3 j: what it is where one unit vector is 1 and the others 0."""
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
