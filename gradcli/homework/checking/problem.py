"""A problem as it is set, its kind, and its right answer: what the rows of `kinds.py` work on."""

from __future__ import annotations

from typing import NamedTuple

from gradcli.base.errors import GradcliError, error
from gradcli.formulas.nodes import Formula, Tangents
from gradcli.ops.table.elementwise import add, divide, multiply, negative, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from gradcli.lang.paper.answer import Reading
    from gradcli.lang.paper.left import Claim
    from gradcli.lang.paper.names import ProblemNames

    # A node, the variable, and the other seed: a name, the node of its tangent, and whether that
    # is a name itself, for which the derivative is solved.
    Differentiation: TypeAlias = "tuple[int, str, tuple[str, int, bool] | None]"
    Differentiator: TypeAlias = Callable[[Differentiation], int]
    # The name of a mistake, the answer that it leads to, and texts for its sentence.
    Mistaken: TypeAlias = "Iterator[tuple[str, int, dict[str, str]]]"

MAX_DERIVED = 20_000
"""So many operations of a derivative are evaluated at all points in a blink."""
SLOPE = "dy/dx"
"""The name of the derivative that an implicit equation is solved for."""


DEFAULTS: dict[str, Any] = {
    "id": "", "title": "", "kind": "", "function": "", "wrt": (), "at": {}, "order": 1,
    "to": {}, "direction": (), "dependent": "", "parameters": (), "tolerance": None, "domain": {},
    "positive": (), "integer": (), "points": 1.0, "expected": None, "accept": (), "variants": (),
    "forms": (), "words": (), "follows": "", "steps": "review",
    "hidden": False, "log": "natural", "angle": "radian", "rtol": 1e-8, "domain_policy": "note",
    "real_roots": False, "decimal_comma": False, "normalize": True, "credit": {},
    "unit": "", "unit_required": False}


class Problem:
    """One problem.

    wrt: the variables, by default those of the function.
    at: name to value, where the answer is wanted at one point only.
    to: name to value, where a tangent at another point estimates the function.
    direction: of a directional derivative, one number a variable.
    dependent: the variable that the others determine.
    parameters: letters that stand for positive constants.
    tolerance: see `gradcli.homework.checking.compare`.
    domain: name to (low, high).
    positive, integer: names.
    points: the worth of a right answer.
    expected, accept: what the author holds to be right.
    variants: functions that are easily read in place of this one.
    forms: functions that equal this one and are differentiated otherwise.
    words: the answers that are right, where there is no formula.
    follows: the id of the part whose answer this part starts from.
    steps: the treatment of an answer of several sides of which some are wrong.
    hidden: feedback says no more than the verdict.
    log: what `log` means, "natural" or "ten".
    angle: "radian" or "degree".
    domain_policy: the treatment of an answer that is right where it is defined, but defined on
        less.
    real_roots: x^(1/3) is real for negative x.
    normalize: a direction counts as its unit vector.
    unit: the unit of the answer; unit_required: whether an answer has to give one.
    credit: name of a mistake to the share of the points that it leaves.
    """

    __slots__ = tuple(sorted(DEFAULTS))

    id: str
    title: str
    kind: str
    function: str
    wrt: tuple[str, ...]
    at: dict[str, float]
    order: int
    to: dict[str, float]
    direction: tuple[float, ...]
    dependent: str
    parameters: tuple[str, ...]
    tolerance: Any
    domain: dict[str, tuple[float, float]]
    positive: tuple[str, ...]
    integer: tuple[str, ...]
    points: float
    expected: str | None
    accept: tuple[str, ...]
    variants: tuple[str, ...]
    forms: tuple[str, ...]
    words: tuple[str, ...]
    follows: str
    steps: str
    hidden: bool
    log: str
    angle: str
    rtol: float
    domain_policy: str
    real_roots: bool
    decimal_comma: bool
    normalize: bool
    credit: dict[str, float]
    unit: str
    unit_required: bool

    def __init__(self, **fields: Any) -> None:
        for name in Problem.__slots__:
            setattr(self, name, fields[name] if name in fields else DEFAULTS[name])

    def fields(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults; `from_fields` inverts it."""
        found = {name: getattr(self, name) for name in Problem.__slots__}
        return {name: value for name, value in found.items() if value != DEFAULTS[name]}


class Contact(NamedTuple):
    """The point of a line or plane.

    names: the variables that it runs over. foot: the nodes of their values. height: that of the
    variable that it is solved for. turned: whether a normal is upright and so solved for the other
    variable.
    """

    names: tuple[str, ...]
    foot: tuple[int, ...]
    height: int
    turned: bool = False


class Solution(NamedTuple):
    """A point of a set, and what the function does there: "max", "min", "neither", "inflection", or
    "" if that is unknown or not asked for.
    """

    at: tuple[float, ...]
    sort: str


class Reference:
    """A right answer.

    reading: of the function.
    form: what the function is, see `ProblemKind.function`.
    functions: the nodes of its components.
    nodes: those of the answer, row by row.
    shape: (), (n,) or (m, n).
    names: the names that answers may use.
    variables: the names that the right answer may depend on.
    wrt: the variables of differentiation.
    constraint: the node that is 0 where an answer counts (implicit functions).
    contact: where a line touches.
    solutions: the numbers or points that a set is compared with.
    """

    __slots__ = ("constraint", "contact", "form", "formula", "functions", "kind", "names", "nodes",
                 "problem", "reading", "shape", "solutions", "variables", "wrt")

    names: ProblemNames
    reading: Reading
    variables: tuple[str, ...]

    def __init__(self, problem: Problem, kind: ProblemKind) -> None:
        self.problem = problem
        self.kind = kind
        self.formula = Formula()
        self.form = kind.function
        self.functions: list[int] = []
        self.nodes: list[int] = []
        self.shape: tuple[int, ...] = ()
        self.wrt: tuple[str, ...] = ()
        self.constraint: int | None = None
        self.contact: Contact | None = None
        self.solutions: list[Solution] | None = None

    @property
    def fixed(self) -> dict[str, float]:
        """Return the point at which the answer is wanted; a line is wanted everywhere."""
        return {} if self.kind.line else self.problem.at

    def function(self, c: int) -> int:
        """Return the function that a component is a derivative of."""
        return self.functions[c // len(self.wrt) if self.form == "several" else 0]

    @property
    def axes(self) -> int:
        """Return 1 for a gradient, 2 for a matrix of second derivatives, else 0."""
        return len(self.shape) if self.form in ("one", "equation") else 0

    def by(self, c: int = 0) -> tuple[str, ...]:
        """Return the variables of a component, one for each time that it is differentiated."""
        return self.kind.by(self, c)

    @property
    def evaluated(self) -> list[int]:
        """Return the functions that have values at the points of answers."""
        moved = self.contact is not None and (self.form != "one" or self.contact.turned)
        return [] if moved or self.solutions is not None else self.functions

    def slopes(self) -> list[int]:
        """Return the nodes of the function's derivatives by each variable; of a tangent, its slopes
        at any point.
        """
        formula = self.formula
        if self.form == "curve":
            pair = [slope(formula, f, self.wrt[0]) for f in self.functions]
            upright = self.contact is not None and self.contact.names == ("y",) and (
                not self.contact.turned)
            return [formula.share(divide, tuple(pair if upright else pair[::-1]))]
        if self.constraint is not None:
            return [formula.share(negative, (formula.share(divide, self.quotient(name)),))
                    for name in self.wrt]
        return [slope(formula, self.functions[0], name) for name in self.wrt]

    def quotient(self, name: str = "") -> tuple[int, int]:
        """Return the nodes of Fx and Fy, the derivatives of an equation's difference of sides."""
        assert self.constraint is not None
        return (slope(self.formula, self.constraint, name or self.wrt[0]),
                slope(self.formula, self.constraint, self.problem.dependent))

    def differentiator(self) -> Differentiator:
        """Return the function that derives rightly; it raises E0704 for a long derivative."""
        formula = self.formula
        known: dict[Any, Tangents] = {}

        def right(step: Differentiation) -> int:
            node, name, other = step
            if is_solved(step):
                above, below = self.quotient(name)
                return formula.share(negative, (formula.share(divide, (above, below)),))
            tangents = known.get((name, other))
            if tangents is None:
                seeds = {name: formula.number(1.0)}
                if other is not None:
                    seeds[other[0]] = other[1]
                tangents = known[name, other] = Tangents(formula, seeds)
            return _tangent(tangents, node)

        return right


def refused(message: str, help: str, field: str = "function") -> GradcliError:
    """Return the error of a function that has no answer of this kind. field: what to correct."""
    return error("E0704", message, help=help, about=("option", field))


def slope(formula: Formula, node: int, name: str, order: int = 1) -> int:
    """Return the node of a derivative; the number 0 where there is none.

    Raises E0704 for a long one.
    """
    tangents = Tangents(formula, {name: formula.number(1.0)})
    for _ in range(order):
        node = _tangent(tangents, node)
    return node


def _tangent(tangents: Tangents, node: int) -> int:
    formula = tangents.formula
    found = tangents.of(node)
    if len(formula.ops) > MAX_DERIVED:
        raise refused(f"the derivative has more than {MAX_DERIVED:,} operations",
                      "set a shorter function, or one of a lower order")
    return formula.number(0.0) if found is None else found


def differentiated(reference: Reference, c: int, d: Differentiator) -> int:
    """Differentiate a function by the variables of a component, one after the other."""
    node = reference.function(c)
    for name in reference.by(c):
        node = d((node, name, None))
    return node


def is_solved(step: Differentiation) -> bool:
    """Return whether a tangent still contains dy/dx, for which it will be solved."""
    return step[2] is not None and step[2][2]


def solved(formula: Formula, total: int) -> int:
    """Return dy/dx of F(x, y) = 0 from the total derivative, in which it is a name."""
    leaf = formula.leaf(SLOPE)
    at_0, at_1 = [formula.substituted(total, {leaf: formula.number(v)}) for v in (0.0, 1.0)]
    return formula.share(negative, (formula.share(divide, (
        at_0, formula.share(subtract, (at_1, at_0)))),))


def weighted(formula: Formula, nodes: Sequence[int], weights: Sequence[float]) -> int:
    """Return the node of the weighted sum of nodes."""
    total = formula.number(0.0)
    for node, weight in zip(nodes, weights, strict=True):
        total = formula.share(add, (
            total, formula.share(multiply, (formula.number(weight), node))))
    return total


class ProblemKind(NamedTuple):
    """A kind of problem: a row of `gradcli.homework.checking.kinds`.

    by: function from a reference and a component to the variables by which that is differentiated.
    mistakes: function from a reference and a component to the answers to another question.
    left: function from a claim on the left of an answer to the quantity that it names if it is
        not the one asked for, else "".
    called: the same for a name that says nothing of a derivative: f, ∇f.
    function: its form: "one" formula, "several", the coordinates of a "curve", or an "equation";
        of several forms the one that fits.
    single: whether it has one variable.
    own: the field that no other kind has, or "".
    own_help: for those that give it to another kind, "" to leave it out.
    needs: the field that it cannot do without, or "".
    letters: function from the variables to further names that answers have.
    typed: function from an answer and the reference to the text that is read.
    shape: function from a reference to the shape of its answer.
    component: function from a reference, the number of a component and a differentiator to that
        component. With right derivatives it is the right answer, with a wrong one a wrong answer.
    check: function from a reference that raises E0702 or E0704 where there is no answer.
    linear: whether the answer is a sum of derivatives, so two mistakes in it add up.
    line: whether the answer is the equation of a line or plane; `at` says through which point.
    unlikely: names of mistakes that are less likely than a common wrong rule.
    solved: of a set, the order of the derivative that is 0 at its points.
    sorted: whether each point has to be called a maximum or a minimum.
    """

    name: str
    by: Callable[[Reference, int], tuple[str, ...]]
    mistakes: Callable[[Reference, int], Mistaken]
    left: Callable[[Claim, Reference], str]
    called: Callable[[Claim, Reference], str] = lambda said, reference: ""
    function: str = "one"
    single: bool = False
    own: str = ""
    own_help: str = ""
    needs: str = ""
    letters: Callable[[tuple[str, ...]], Sequence[str]] = lambda wrt: ()
    typed: Callable[[str, Reference], str] = lambda text, reference: text
    shape: Callable[[Reference], tuple[int, ...]] = lambda reference: ()
    component: Callable[[Reference, int, Differentiator], int] = differentiated
    check: Callable[[Reference], None] = lambda reference: None
    linear: bool = True
    line: bool = False
    unlikely: tuple[str, ...] = ()
    solved: int = 0
    sorted: bool = False

    @property
    def plain(self) -> bool:
        """Return whether the components are derivatives of the functions, as formulas."""
        return self.component is differentiated and self.needs != "at"
