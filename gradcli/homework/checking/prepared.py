"""A problem ready for answers: its function is read, its right answer derived, and both evaluated
at the points where answers are compared.
"""

from __future__ import annotations

from math import prod

from gradcli.base.errors import GradcliError, Source, error
from gradcli.base.lazy import np
from gradcli.formulas.rounding import UNIT, Values, error_of
from gradcli.homework.checking import built
from gradcli.homework.checking import pool as points
from gradcli.homework.checking.compare import TINY, Side, chosen, half_unit, vanishing
from gradcli.homework.checking.kinds import DERIVATIVE, KINDS
from gradcli.homework.checking.pool import corner
from gradcli.homework.checking.problem import Reference, refused, slope
from gradcli.lang.paper.ambiguous import first_mixed
from gradcli.lang.paper.answer import MAX_LENGTH, read
from gradcli.lang.paper.names import ProblemNames, other_case
from gradcli.lang.paper.plain import counts
from gradcli.lang.paper.unknown import unknown_word
from gradcli.ops.table.elementwise import subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from gradcli.homework.checking.problem import Problem
    from gradcli.lang.paper.answer import Reading
    from gradcli.lang.syntax.code import Code

    Made = TypeVar("Made")

MAX_COMPONENTS = 64


def derive(problem: Problem) -> Reference:
    """Return the right answer to a problem, formulas derived from the function by the tape's rules.

    Raises E0701 for fields that the kind has not, E0702 for those that are missing, and E0704 for a
    function that cannot be read or has no derivative.
    """
    kind = KINDS[problem.kind]
    reference = Reference(problem, kind)
    formula = reference.formula
    reference.form = form = form_of(problem)
    several = form in ("several", "curve")
    reference.names = names(problem, several)
    reading = reference.reading = _read(problem, form, reference.names)
    if reading.equation is not None and form != "equation":
        raise _equation(problem, reading)
    reference.functions = built.flat(_built(reference, reading.code))
    reference.wrt = _variables(reference)
    _check_used(reference)
    if len(reference.functions) > 1 and not several:
        raise refused(f"a {kind.name} problem has a function of one component, not"
                      f" {len(reference.functions)}", 'write kind = "jacobian" for several')
    if form == "equation":
        if reading.equation is not None:
            left = _built(reference, reading.equation)
            if not isinstance(left, int):
                raise refused("the curve is an equation between numbers", "write x^2 + y^2 = 25")
            reference.functions = [formula.add(subtract, (left, reference.functions[0]))]
        reference.constraint = reference.functions[0]
    reference.variables = tuple(sorted({
        *formula.names(), *reference.wrt, *problem.parameters, *kind.letters(reference.wrt),
        *filter(None, [problem.dependent])}))
    kind.check(reference)
    if reference.contact is not None and reference.evaluated is not reference.functions:
        reference.variables = tuple(sorted({*reference.contact.names}.union(
            {*reference.variables}.difference(reference.wrt, [problem.dependent]))))
    reference.shape = kind.shape(reference)
    count = prod(reference.shape)
    if count > MAX_COMPONENTS:
        raise refused(f"an answer has at most {MAX_COMPONENTS} components, not {count}",
                      "ask for some of the variables only: wrt = ...")
    right = reference.differentiator()
    nodes = [kind.component(reference, c, right) for c in range(count)]
    zeros = vanishing(formula, nodes)
    reference.nodes = [formula.number(0.0) if k in zeros else k for k in nodes]
    reference.names = names(problem, bool(reference.shape), [
        *formula.leaves(reference.functions), *kind.letters(reference.wrt)], reference.wrt)
    return reference


def form_of(problem: Problem) -> str:
    """Return the form of the function of a problem whose kind may have several: an equation has two
    sides, and a curve two coordinates.
    """
    first, *others = KINDS[problem.kind].function.split()
    text = problem.function.strip()
    if not others:
        return first
    from gradcli.lang.paper.left import closed, is_label

    listed = bracketed(text) != text or (closed(text, 0) == len(text) and bracketed(
        text[1:-1]) != text[1:-1])
    for form in others:
        if listed and form != "equation":
            return form
    left, equal, _ = text.partition("=")
    if "equation" in others and equal and (problem.dependent or left.strip() in problem.at or (
            not is_label(left, names(problem, False)))):
        return "equation"
    return first


def _built(reference: Reference, code: Code) -> built.Tree:
    problem = reference.problem
    return built.build(code, reference.formula, reference.names.variables,
                       degrees=problem.angle == "degree", real_roots=problem.real_roots)


def _equation(problem: Problem, reading: Reading) -> GradcliError:
    """Return the error of an equation where a function is asked for."""
    if problem.dependent:
        return error("E0702", f"an equation is asked for, but `kind` is {problem.kind}",
                     help="the kind of an equation is implicit")
    if problem.kind == DERIVATIVE and len(reading.names) > 1:
        return error("E0702", "of an equation, `dependent` is missing",
                     help='write dependent = "y"')
    return refused(f"a {problem.kind} problem has a function, not an equation",
                   "write a function, such as x^2")


def _variables(reference: Reference) -> tuple[str, ...]:
    """Return the variables of differentiation; by default all that are no parameters."""
    problem, kind = reference.problem, reference.kind
    leaves = reference.formula.leaves(reference.functions)
    free = [n for n in leaves if n not in problem.parameters]
    if reference.form == "equation":
        # Of an equation, the function is the right side only.
        free = [n for n in reference.reading.names if n not in problem.parameters and (
            n not in built.CONSTANTS or n in reference.names.variables)]
        if kind.line:       # whatever it is solved for, the point has all
            if len(free) < 2:
                raise refused(f"a {kind.name} problem has a function, or an equation between"
                              " variables", "write a function, such as x^2")
            others = [n for n in sorted(free) if n not in problem.wrt] or sorted(free)
            problem.dependent = problem.dependent or others[-1]
            problem.wrt = tuple([n for n in problem.wrt if n != problem.dependent])
        if not problem.dependent:
            problem.dependent = "y" if "y" in free and "y" not in problem.wrt else ""
        if not problem.dependent:
            raise error("E0702", "`dependent` is missing", help='write dependent = "y"')
        free = [n for n in free if n != problem.dependent]
    wrt = problem.wrt or tuple(sorted(free))
    if reference.form == "curve" and not set(wrt) & set(leaves):
        # y by x was asked for: the one letter that there is runs along the curve.
        wrt = tuple(leaves)
    one = kind.single and not (reference.form == "equation" and problem.wrt)
    if not wrt or (one and len(wrt) != 1):
        raise error("E0702", "`wrt` is missing: the function depends on"
                    f" {', '.join(wrt) or 'nothing'}" if not problem.wrt else
                    f"`wrt` names {len(wrt)} variables, but a {problem.kind} has one",
                    help=f'write wrt = "{next((n for n in "xtuz" if n in wrt), wrt[0])}"'
                    if wrt else 'write wrt = "x"')
    return wrt


def _check_used(reference: Reference) -> None:
    """Raise E0701 for an order, direction or dependent variable that the kind has not: the author
    meant another question.
    """
    problem, kind, n = reference.problem, reference.kind, len(reference.wrt)
    order = problem.order
    foreign = next((other for other in KINDS.values() if other.own and other is not kind
                    and getattr(problem, other.own)
                    and not (other.own == "dependent" and reference.form == "equation")), None)
    if order not in (1, len(reference.by())):
        field, said = "order", f" {order}, with respect to {', '.join(reference.wrt)}"
        help = "the kind of a mixed derivative is partial" if (
            len(kind.shape(reference)) == 1 and order == n) else "leave `order` out"
    elif foreign is not None:
        field, said, help = foreign.own, "", (
            foreign.own_help or f"leave `{foreign.own}` out")
    else:
        return
    raise error("E0701", f"a problem of the kind {kind.name} has no `{field}`{said}", help=help,
                about=("option", field))


def names(problem: Problem, vector: bool, others: Sequence[str] = (), wrt: Sequence[str] = ()
          ) -> ProblemNames:
    """Return the names that texts about a problem may use.

    others: further names of the function. wrt: the variables of differentiation, where the problem
    does not say.
    """
    listed = [*others, *problem.wrt, *problem.parameters, *problem.at, *problem.domain]
    if KINDS[problem.kind].function == "equation":
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


def _read(problem: Problem, form: str, known: ProblemNames) -> Reading:
    text = problem.function
    if form in ("several", "curve"):
        text = bracketed(text)
    try:
        if len(text) > MAX_LENGTH:
            raise error("E0704", f"a function has at most {MAX_LENGTH} characters, not"
                        f" {len(text)}", (MAX_LENGTH, len(text)), help="set a smaller problem")
        found = read(text, known, both=form == "equation")
        place = first_mixed(found) if "\\" in text else None
        if place is not None:
            raise error("E0704", "a mixed number, or a product", place,
                        help="put + and brackets, or a sign of a product, between number and"
                        " fraction")
        strange = known.other_case.intersection(found.tokens.spellings())
        if strange:
            at = problem.function.find(min(strange))
            raise other_case(min(strange), (at, at + 1))
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


def in_form(prepared: PreparedProblem, form: str) -> PreparedProblem:
    """Return a problem with another form of its function, at the same points."""
    fields = {**prepared.problem.fields(), "function": form, "forms": (), "expected": None}
    problem = type(prepared.problem)(**fields)
    return PreparedProblem(problem, derive(problem), prepared.seed, prepared.inputs,
                           prepared.errors, prepared.values.deadline)


class PreparedProblem:
    """A problem with its right answer at a pool of points.

    inputs: name to an array over the points, or a float where `at` fixes it.
    errors: of inputs that are not exact.
    size: the number of points.
    single: whether there is one, where numbers are compared.
    side: the right answer.
    zeros: where its components are 0 by their form, a column or a mask over the points.
    cache: results about the problem that are found once: see `kept`.
    certain: see `_certain`.
    """

    __slots__ = ("cache", "certain", "errors", "inputs", "problem", "reference", "seed", "side",
                 "single", "size", "values", "zeros")

    def __init__(self, problem: Problem, reference: Reference, seed: object,
                 inputs: dict[str, Any], errors: dict[str, Any],
                 deadline: float = float("inf")) -> None:
        """Evaluate the right answer. Raises TimeoutError after the deadline, of `thread_time`."""
        self.problem = problem
        self.reference = reference
        self.seed = seed
        self.inputs = inputs
        self.errors = errors
        self.size = max((len(v) for v in inputs.values() if type(v) is not float), default=1)
        self.single = all(type(v) is float for v in inputs.values())
        self.values = Values(reference.formula, inputs, errors)
        self.values.deadline = deadline
        self.values.plain([*reference.evaluated, *reference.nodes])
        self.side = Side(self.values, reference.nodes, self.size)
        if reference.constraint is None and not reference.kind.line:
            self._only_where_defined()
        self.zeros = np.array([reference.formula.value(k) == 0 for k in reference.nodes],
                              bool)[:, None]
        if ((self.side.values == 0) & ~self.zeros).any():
            self.zeros = np.array([np.broadcast_to(mask, (self.size,)) for mask in chosen(
                self.values, reference.nodes)])
        self.certain = self._certain(bool(self.zeros.any()))
        self.cache: dict[Any, Any] = {}

    def kept(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return a value from the cache, made on first use."""
        found: Made | None = self.cache.get(key)
        if found is None:
            found = self.cache[key] = make()
        return found

    def _certain(self, zeros: bool) -> tuple[Any, int]:
        """Return the differences that are allowed to an answer that is right beyond doubt, and the
        number of points where they must hold; None where it takes a closer look. zeros: whether
        there are any.
        """
        side, finite = self.side, self.side.finite
        if not len(finite):     # an empty set
            return None, 0
        count = int(np.count_nonzero(finite))
        telling = side.size >= TINY
        if zeros:
            telling |= self.zeros
        if np.count_nonzero(telling & finite) != count or (
                count if len(finite) == 1 else int(finite.sum(axis=1).min())) < points.ENOUGH:
            return None, 0
        allowed = self.problem.rtol * side.size
        return allowed if count == finite.size else np.where(finite, allowed, -1.0), count

    def _only_where_defined(self) -> None:
        """Restrict the points to where the function has a value: 1/x is the slope of ln x for x >
        0.
        """
        for value in self.values.plain(self.reference.evaluated):
            self.side.finite &= ~np.isnan(value)

    def random(self, *about: object) -> Any:
        """Return random numbers of this problem, the same each time."""
        return points.generator(self.seed, self.problem.id, self.problem.function, *about)


def prepared_problem(problem: Problem, seed: object = 0, deadline: float = float("inf")
                     ) -> PreparedProblem:
    """Return a problem that is ready for answers.

    Raises E0701 for fields that the kind has not, E0702 for those that are missing, E0704 for a
    function that cannot be read or has no derivative, and TimeoutError after the deadline, of
    `time.thread_time`.
    """
    reference = derive(problem)
    known = {*reference.variables, *reference.wrt, problem.dependent}
    unknown = [n for n in (*problem.at, *problem.domain) if n not in known]
    if unknown:
        raise error("E0704", f"the function does not depend on `{unknown[0]}`",
                    help=f"its variables are {', '.join(reference.variables)}",
                    about=("option", "at" if unknown[0] in problem.at else "domain"))
    if reference.constraint is not None and problem.at:
        missing = [n for n in (*reference.wrt, problem.dependent) if n not in problem.at]
        if missing:
            raise error("E0702", f"`at` gives `{missing[0]}` no value",
                        help=f"give {reference.wrt[0]} and {problem.dependent} at a point of the"
                        " curve", about=("option", "at"))
        _check_on_curve(reference, problem)
    # A point such as pi/2 is not exact.
    errors: dict[str, Any] = {
        n: np.float64(UNIT * abs(v)) for n, v in reference.fixed.items()
        if not float(v * 1024).is_integer()}

    found = points.pool(reference, points.seed_number(seed, problem.id, problem.function))
    if reference.constraint is not None and problem.dependent not in problem.at:
        found, errors = _curve(reference, problem, found, errors, deadline)
        prepared = PreparedProblem(problem, reference, seed, found, errors, deadline)
    else:
        prepared = _with_enough_points(
            PreparedProblem(problem, reference, seed, found, errors, deadline))
    finite = prepared.side.finite.any(axis=1)       # whatever letters are that `at` does not give
    if (prepared.single or reference.fixed) and not finite.all():
        raise error("E0704", "the right answer is not defined at this point",
                    help="choose another point", about=("option", "at"))
    _check_corner(prepared)
    return prepared


def _check_corner(prepared: PreparedProblem) -> None:
    """Raise E0704 for the one point of a problem if the slope jumps there.

    Letters that `at` does not give, as in a*abs(x), have any value.
    """
    reference, problem = prepared.reference, prepared.problem
    if reference.kind.line:
        slopes = reference.slopes()
    elif reference.constraint is None and problem.at.keys() >= set(reference.wrt):
        slopes = reference.nodes
    else:
        return
    fixed = {n: v if type(v) is float else float(v[0]) for n, v in prepared.inputs.items()}
    name = corner(reference.formula, slopes, {**fixed, **problem.at}, problem.at)
    if name is not None:
        raise error("E0704", f"the function has a corner at this point: its slope in {name} is"
                    " another one from each side", help="choose another point",
                    about=("option", "at"))


def _with_enough_points(prepared: PreparedProblem) -> PreparedProblem:
    """Return the problem with other points if too few of its points are usable."""
    problem, reference = prepared.problem, prepared.reference
    formula, nodes = reference.formula, reference.nodes

    def defined(inputs: dict[str, Any]) -> Any:
        """Return a mask of the points where all components of the right answer are numbers."""
        size = max((len(v) for v in inputs.values() if type(v) is not float), default=1)
        found = Values(formula, inputs)
        found.deadline = prepared.values.deadline
        finite = Side(found, nodes, size).finite.all(axis=0)
        for value in found.plain(reference.evaluated):
            finite &= ~np.isnan(value)
        return finite

    def again(inputs: dict[str, Any]) -> PreparedProblem:
        return PreparedProblem(problem, reference, prepared.seed, inputs, prepared.errors,
                               prepared.values.deadline)

    if prepared.certain[0] is None and not prepared.single and \
            prepared.side.finite.all(axis=0).sum() < points.ENOUGH:
        # Many more, since it takes only one to find others.
        many = points.pool(reference, points.seed_number(
            prepared.seed, problem.id, problem.function), points.MANY)
        prepared = again(points.searched(problem, many, defined, prepared.random()))
    found = points.switches(formula, [*reference.evaluated, *nodes])
    more = points.more_points(prepared.values, found) if found else None
    return prepared if more is None else again(more)


def _check_on_curve(reference: Reference, problem: Problem) -> None:
    """Raise E0704 for a point off the curve: beyond the digits that its numbers are given with."""
    from gradcli.homework.checking.compare import shown

    formula, node, name = reference.formula, reference.constraint, problem.dependent
    assert node is not None

    def off(at: dict[str, float]) -> float:
        """Return the difference of the equation's sides; 0 within the digits of the point."""
        errors = {n: np.float64(half_unit(v)) for n, v in at.items()}
        with np.errstate(all="ignore"):
            (left, noise), = Values(formula, at, errors).of([node])
            return 0.0 if abs(left) <= error_of(left, noise) else float(left)

    if not set(formula.leaves([node])) <= set(problem.at):
        return  # some parameter makes it a point of the curve
    left = off(problem.at)
    if left == 0:
        return
    there, _ = points.on_curve(formula, node, slope(formula, node, name), name, problem.at)
    near = float(there[name][0])
    texts = (shown(near), repr(near)) if np.isfinite(near) else ()
    right = [t for t in texts if off({**problem.at, name: float(t)}) == 0]
    raise error("E0704", "`at` is not a point of the curve: " + (
        f"its two sides differ by {shown(left)}" if np.isfinite(left) else "it has no value there"),
        help=f"give {name} the value {right[0]}" if right else None, about=("option", "at"))


def _curve(reference: Reference, problem: Problem, found: dict[str, Any],
           known: dict[str, Any], deadline: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return points on the curve, and the errors of their values.

    Several scales are tried, since few starts find a closed curve.

    found: the starts, name to values.
    known: errors of inputs that are not exact.
    deadline: of `time.thread_time`.
    """

    assert reference.constraint is not None
    by = reference.quotient()[1]
    kept: list[Any] = []
    for scale in (1.0, 0.1, 10.0):
        there, errors = points.on_curve(
            reference.formula, reference.constraint, by, problem.dependent,
            points.scaled(problem, found, scale), deadline)
        good = np.isfinite(there[problem.dependent])
        kept.append(({n: np.broadcast_to(v, good.shape)[good] for n, v in there.items()
                      if n == problem.dependent or type(v) is not float},
                     errors[problem.dependent][good]))
        if sum([len(e) for _, e in kept]) >= points.SIZE // 4:
            break
    if not sum([len(e) for _, e in kept]):
        raise error("E0704", "no point of the curve was found",
                    help="give the ranges in which to look: domain = {x = [0, 5]}")
    inputs = {n: np.concatenate([p[n] for p, _ in kept]) if n in kept[0][0] else v
              for n, v in found.items()}
    return inputs, {**known, problem.dependent: np.concatenate([e for _, e in kept])}
