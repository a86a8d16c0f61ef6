"""One answer against one problem.

`prepare` does what all answers to a problem share: it reads the function, derives the right answer
and evaluates it on a pool of points. `check` reads an answer, evaluates it there, and compares.
"""

from __future__ import annotations

from time import perf_counter, thread_time

from gradcli.checking import pool as points
from gradcli.checking import switches, tolerance, verdict
from gradcli.checking.answered import Answered
from gradcli.checking.compare import Comparison, Side
from gradcli.checking.reference import Reference, names, slope
from gradcli.errors import GradcliError, error
from gradcli.lang.code import LIST
from gradcli.ops.lazy import np
from gradcli.reading import alternatives, read
from gradcli.sweeps.rounding import UNIT, Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.checking.problem import Problem
    from gradcli.reading import Reading

MORE = 4096
SLOW = 0.25
"""Seconds of work after which an answer is left to a person."""
DIAGNOSIS = 1.0
"""Seconds of work for finding out what is wrong with one; hardly any takes a hundredth."""


class Prepared:
    """A problem with its right answer at a pool of points.

    inputs: name to an array over the points, or a float where `at` fixes it; errors: of inputs that
    are not exact. size: how many points; single: there is one, and numbers are compared. side: the
    right answer; zeros: a column, true for components that are 0 by their form. cache: what else
    about the problem was found out once (`gradcli.checking.mistakes`).
    """

    __slots__ = ("cache", "errors", "inputs", "problem", "reference", "seed", "side", "single",
                 "size", "values", "zeros")

    def __init__(self, problem: Problem, reference: Reference, seed: object,
                 inputs: dict[str, Any], errors: dict[str, Any]) -> None:
        self.problem = problem
        self.reference = reference
        self.seed = seed
        self.inputs = inputs
        self.errors = errors
        self.size = max((len(v) for v in inputs.values() if type(v) is not float), default=1)
        self.single = all(type(v) is float for v in inputs.values())
        self.values = Values(reference.formula, inputs, errors)
        self.side = Side(self.values.of(reference.nodes), self.size)
        if reference.constraint is None and problem.kind != "tangent":
            self._only_where_defined()
        self.zeros = np.array([[reference.formula.value(k) == 0] for k in reference.nodes])
        self.cache: dict[Any, Any] = {}

    def _only_where_defined(self) -> None:
        """A derivative counts where the function has a value: 1/x is that of ln x for x > 0."""
        for value, _ in self.values.of(self.reference.functions):
            self.side.finite &= ~np.isnan(value)

    def random(self, *about: object) -> Any:
        """Random numbers of this problem, the same each time."""
        return points.generator(self.seed, self.problem.id, self.problem.function, *about)


def prepare(problem: Problem, seed: object = 0) -> Prepared:
    """A problem, ready for answers.

    Raises E0702 for fields that are missing, E0704 for a function that cannot be read or has no
    derivative, E0705 where an expected answer is not right.
    """
    reference = Reference(problem)
    random = points.generator(seed, problem.id, problem.function)
    known = reference.variables
    unknown = [n for n in (*problem.at, *problem.domain) if n not in known]
    if unknown:
        raise error("E0704", f"the function does not depend on `{unknown[0]}`",
                    help=f"its variables are {', '.join(known)}")
    # A point such as pi/2 is not exact.
    errors: dict[str, Any] = {
        n: np.float64(UNIT * abs(v)) for n, v in problem.at.items()
        if problem.kind != "tangent" and not float(v * 1024).is_integer()}

    found = points.pool(problem, known, random)
    if reference.constraint is not None and problem.dependent not in problem.at:
        found, errors = _curve(reference, problem, found, errors)
        prepared = Prepared(problem, reference, seed, found, errors)
    else:
        prepared = _with_enough_points(Prepared(problem, reference, seed, found, errors), random)
    if prepared.single and not prepared.side.finite.all():
        raise error("E0704", "the right answer is not defined at this point",
                    help="choose another point: at = ...")
    for text in (problem.expected,) if problem.expected is not None else ():
        result = check(prepared, text)
        if result["verdict"] not in ("correct", "domain"):
            raise error("E0705", f"the expected answer `{text}` is not right:"
                        f" {result['message']}", help="correct the sheet: expected = ...")
    return prepared


def _with_enough_points(prepared: Prepared, random: Any) -> Prepared:
    """The same, with other points where too few of these tell anything."""
    problem, reference = prepared.problem, prepared.reference
    formula, nodes = reference.formula, reference.nodes

    def defined(inputs: dict[str, Any]) -> Any:
        """Where all components of the right answer are numbers."""
        size = max((len(v) for v in inputs.values() if type(v) is not float), default=1)
        found = Values(formula, inputs)
        finite = Side(found.of(nodes), size).finite.all(axis=0)
        for value, _ in found.of(reference.functions):
            finite &= ~np.isnan(value)
        return finite

    def again(inputs: dict[str, Any]) -> Prepared:
        return Prepared(problem, reference, prepared.seed, inputs, prepared.errors)

    if not prepared.single and prepared.side.finite.all(axis=0).sum() < points.ENOUGH:
        prepared = again(points.searched(problem, prepared.inputs, defined, random))
    found = switches.switches(formula, [*reference.functions, *nodes])
    more = switches.more_points(prepared.values, found) if found else None
    return prepared if more is None else again(more)


def _curve(reference: Reference, problem: Problem, found: dict[str, Any],
           known: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Points on the curve: of a closed one, few starts find one, so several scales are tried."""
    from gradcli.checking.curve import on_curve

    assert reference.constraint is not None
    by = slope(reference.formula, reference.constraint, problem.dependent)
    kept: list[Any] = []
    for scale in (1.0, 0.1, 10.0):
        there, errors = on_curve(reference.formula, reference.constraint, by, problem.dependent,
                                 points.scaled(problem, found, scale))
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


# ---- one answer ------------------------------------------------------------------------------


def check(prepared: Prepared, answer: str) -> dict[str, Any]:
    """The result for one answer, as plain data; whatever was typed, nothing is raised.

    Keys: verdict, mistake, also, confidence, message, read_as, alternatives, witness, points,
    score, ms; and `fingerprint`, a text that is the same for answers of the same values.
    """
    start = perf_counter()
    result: dict[str, Any] = {
        "verdict": "unreadable", "mistake": None, "also": [], "confidence": None, "message": "",
        "read_as": None, "alternatives": [], "witness": None,
        "points": {"usable": 0, "agree": 0, "disagree": 0, "undefined": 0}, "score": 0.0,
        "fingerprint": None}
    try:
        if not answer.strip():
            result.update(verdict="blank", message="nothing was answered")
        else:
            _check(prepared, answer, result, thread_time() + SLOW)
    except GradcliError as problem:
        result["message"] = problem.message + (f"; {problem.help}" if problem.help else "")
    except (TimeoutError, MemoryError, RecursionError) as problem:
        result.update(verdict="undecided", message="this took too long or too much memory to"
                      f" check ({type(problem).__name__}): a person has to look at it")
    result["ms"] = round((perf_counter() - start) * 1e3, 3)
    return result


def _check(prepared: Prepared, text: str, result: dict[str, Any], deadline: float) -> None:
    problem, reference = prepared.problem, prepared.reference
    reading = _read(prepared, text)
    result["read_as"] = reading.read_as
    answered = Answered(reading, reference, problem)
    trial = Trial(prepared, answered, deadline)
    trial.judge(result)
    if result["verdict"] in ("wrong", "undecided"):
        others = alternatives(reading, reference.names)
        result["alternatives"] = [other.read_as for other in others]
        if result["verdict"] == "wrong":
            from gradcli.checking.mistakes import diagnose

            if any(is_right(prepared, other, deadline) for other in _accepted(prepared)):
                result.update(verdict="correct", score=1.0, witness=None,
                              message="right: one of the answers that the sheet accepts")
                return
            diagnose(prepared, trial, others, result, thread_time() + DIAGNOSIS)


def _read(prepared: Prepared, text: str) -> Reading:
    """An answer, read as what is asked for, or else as a vector: that it is one is no misprint."""
    reference = prepared.reference
    try:
        return read(text, reference.names)
    except GradcliError:
        if not reference.shape and text.strip()[:1] in "([{<":
            try:
                reading = read(text, names(prepared.problem, True, reference.variables))
                if reading.code[-1][0] == LIST:
                    return reading
            except GradcliError:
                pass
        raise


def _accepted(prepared: Prepared) -> list[Reading]:
    return [read(text, prepared.reference.names) for text in prepared.problem.accept]


def is_right(prepared: Prepared, reading: Reading, deadline: float) -> bool:
    """Whether another reading of an answer, or another answer, is right.

    deadline: of `time.thread_time`; raises TimeoutError after it.
    """
    found: dict[str, Any] = {}
    try:
        Trial(prepared, Answered(reading, prepared.reference, prepared.problem), deadline
              ).judge(found)
    except GradcliError:
        return False
    return found["verdict"] in ("correct", "domain")


class Trial:
    """An answer at the points of its problem.

    inputs: those of the problem, and values of names that only the answer has; side: the answer's
    values, None if its shape is not the one asked for.
    """

    __slots__ = ("answered", "comparison", "deadline", "inputs", "notes", "prepared", "side",
                 "values")

    def __init__(self, prepared: Prepared, answered: Answered, deadline: float) -> None:
        self.prepared = prepared
        self.answered = answered
        self.deadline = deadline
        self.notes: list[str] = []
        self.inputs = prepared.inputs
        errors = prepared.errors
        if answered.unknown:
            self.inputs = {**self.inputs, **self._unknown(answered.unknown)}
        self.values = Values(answered.formula, self.inputs, errors)
        self.values.deadline = deadline
        self.side: Side | None = None
        self.comparison: Comparison | None = None

    def _unknown(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Values of names that the problem does not know: y and f are the function itself."""
        prepared = self.prepared
        found: dict[str, Any] = {}
        for name in names:
            functions = prepared.reference.functions
            if name in ("y", "f") and len(functions) == 1 and \
                    prepared.reference.constraint is None and prepared.problem.kind != "tangent":
                found[name] = prepared.values.of(functions)[0][0]
                self.notes.append(f"`{name}` was taken for the function itself")
            elif prepared.single:
                found[name] = float(prepared.random(name).random() * 2.7 + 0.3)
            else:
                found[name] = prepared.random(name).random(prepared.size) * 2.7 + 0.3
        return found

    def judge(self, result: dict[str, Any]) -> None:
        """Fill in verdict, message, witness, points and score."""
        prepared, answered = self.prepared, self.answered
        if not answered.fits:
            verdict.misshaped(self, result)
            return
        self.side = Side(self.values.of(answered.nodes), prepared.size)
        left = self._left_over()
        if left:
            verdict.not_evaluated(self, left, result)
            return
        self.comparison = Comparison(
            prepared.side, self.side, prepared.problem.rtol, prepared.zeros)
        if prepared.single:
            verdict.number(self, result, self._allowed())
            return
        found = switches.switches(answered.formula, answered.nodes)
        more = switches.more_points(self.values, found) if found else None
        if more is not None and prepared.reference.constraint is None:
            self._again(more).judge(result)
            return
        verdict.function(self, result)
        if result["verdict"] == "undecided" and self.comparison.disagree.any():
            self._resampled().judge_once(result)

    def _left_over(self) -> list[str]:
        """Variables in the answer although the problem says where they are."""
        problem = self.prepared.problem
        if not problem.at or problem.kind == "tangent":
            return []
        return [n for n in self.answered.formula.leaves(self.answered.nodes) if n in problem.at]

    def judge_once(self, result: dict[str, Any]) -> None:
        """The verdict at these points, whatever it is."""
        assert self.side is not None
        verdict.function(self, result)

    def _again(self, inputs: dict[str, Any]) -> Trial:
        """The same answer at other points."""
        prepared = self.prepared
        known = {n: inputs[n] for n in prepared.inputs}
        other = Prepared(prepared.problem, prepared.reference, prepared.seed, known,
                         prepared.errors)
        return Trial(other, self.answered, self.deadline)

    def _resampled(self) -> Trial:
        """The same answer at many more points, to settle a single difference."""
        prepared = self.prepared
        random = prepared.random("again")
        if prepared.reference.constraint is not None:
            return self
        trial = self._again(points.pool(
            prepared.problem, prepared.reference.variables, random, MORE))
        trial.side = Side(trial.values.of(self.answered.nodes), trial.prepared.size)
        trial.comparison = Comparison(trial.prepared.side, trial.side, prepared.problem.rtol,
                                      prepared.zeros)
        return trial

    def _allowed(self) -> Any:
        """How far each number may be from the right one; a column."""
        prepared, answered = self.prepared, self.answered
        side = self.side
        assert side is not None
        texts = _components(answered.reading.text, len(answered.nodes))
        return np.array([[tolerance.allowed(
            prepared.problem.tolerance, float(right), float(typed), text)]
            for right, typed, text in zip(
                prepared.side.values[:, 0], side.values[:, 0], texts, strict=True)])


def _components(text: str, n: int) -> list[str]:
    """The texts of the components of a vector of numbers; all of it where they are not that."""
    bare = text.rpartition("=")[2].strip()
    if n == 1:
        return [bare.strip("()[]<>{} ")]
    parts = bare.replace(";", ",").replace("[", "").replace("]", "").strip("()<>{} ").split(",")
    return parts if len(parts) == n else [text] * n
