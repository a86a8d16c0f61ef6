"""Answers with exact numbers in place of floats, where there are any: -pi^2, 1/2, sqrt(3)/4.

The target becomes a term, its derivatives as many as the answer has, and exact values stand for its
names. A number is exchanged where the exact one has the same value.
"""

from __future__ import annotations

from math import factorial, isfinite

from gradcli.base.errors import GradcliError, Source
from gradcli.base.lazy import quiet
from gradcli.formulas.algebra import Algebra
from gradcli.formulas.analysis.constants import exactly, turns, value_of
from gradcli.formulas.build import TermReplay, terms_of
from gradcli.formulas.rewrites import factored, rebuilt
from gradcli.formulas.terms import HALF, MINUS, NUMBER, ONE, ZERO
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.formulas.text.latex import Latex
from gradcli.formulas.textbook import textbook
from gradcli.lang.running.program import Program
from gradcli.lang.running.run import tensor_of
from gradcli.questions.derive.derive import names_of
from gradcli.render.numbers import Exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.formulas.terms import Term
    from gradcli.lang.running.run import Run
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

LARGEST, LONGEST = 200, 60
"""Formulas of more parts, and exact numbers of more characters, nobody reads."""
SMALL = 30
"""Derivatives of more parts are differentiated again as they are."""
NEAR = 1e-9
"""So near the float an exact number has to be, for itself or in comparison with 1."""


def exact(question: Question, answer: Answer, given: Mapping[str, str]) -> Answer:
    """Exchange the numbers of an answer for exact ones and return it. given: the values of the
    point as they were typed. What has no exact form, or a formula of arrays, stays as it is.
    """
    with quiet():
        try:
            point = ExactPoint(question, given)
        except GradcliError:    # what has no formula has no exact numbers
            return answer
        for result in answer["results"]:
            term = point.terms.get(result["of"])
            if term is None or type(result.get("value")) is not float:
                continue
            try:
                EXCHANGED[answer["command"]](point, result, term)
            except GradcliError:    # a derivative is too long for a formula
                pass
        for one in answer.get("inputs", ()):
            if one["name"] in point.values:
                one["value"] = point.number(point.values[one["name"]], one["value"])
    return answer


class ExactPoint:
    """A program at a point. terms: name of a target to the term of its value. values: name to the
    term of what it is there.
    """

    def __init__(self, question: Question, given: Mapping[str, str]) -> None:
        a = self.algebra = Algebra(decimals=False, near=True)
        self.question = question
        run, program = _run(question)
        bindings = [b for b in names_of(run, question.wrt or program.asked_alone(run))
                    if type(b.value.value) is float]
        self.names = {b.name: b.value.value for b in bindings}
        known = {b.value.id: a.table.name(b.name) for b in bindings if b.value.id is not None}
        with run.record:
            targets = program.targets(run, question.of, derived=False)
        tensors = {t.name: tensor_of(t) for t in targets if not isinstance(t.tensor, list)}
        self.terms = dict(zip(tensors, terms_of(
            a, run.record.history(), known, list(tensors.values()), written=True), strict=True))
        self.values = {name: self._typed(given[name]) if name in given else a.constant(value)
                       for name, value in self.names.items()}
        self.slopes: dict[tuple[int, str], Term] = {}
        self.replay = TermReplay(a, self.names)

    def _typed(self, text: str) -> Term:
        """Return the term of a constant as it was typed."""
        program = Program(Source(text, "--at")).recording_constants()
        run = program.traced_run({})
        with run.record:
            (target,) = program.targets(run, derived=False)
        (term,) = terms_of(self.algebra, run.record.history(), {}, [tensor_of(target)])
        return term

    def slope(self, term: Term, name: str) -> Term:
        """Return the derivative of a term by a name."""
        found = self.slopes.get((term.number, name))
        if found is None:
            (made,) = self.replay.gradient(term, [name])
            if made is None:
                found = self.algebra.number(ZERO)
            else:
                (found,) = factored(self.algebra, [made])
                found = textbook(self.algebra, found) if len(
                    self.algebra.table.of([found])) < SMALL else found
            self.slopes[term.number, name] = found
        return found

    def at_point(self, term: Term) -> Term:
        """Return the value of a term at the point."""
        a = self.algebra
        by_number = {a.table.name(name).number: value for name, value in self.values.items()}
        found: dict[int, Term] = {}
        for t in a.table.of([term]):
            found[t.number] = by_number[t.number] if t.number in by_number else exactly(
                a, rebuilt(a, t, found, lambda old, args: a.call(
                    old.operation, args, old.attributes, old.shape)))
        return textbook(a, found[term.number])

    def is_large(self, term: Term) -> bool:
        """Return whether nobody reads the values of a term, nor differentiates it again."""
        return len(self.algebra.table.of([term])) > LARGEST

    def number(self, term: Term, near: float) -> float:
        """Return the exact value of a term, or the float that is given if there is none."""
        a = self.algebra
        if not isfinite(near) or self.is_large(term):
            return near
        made = self.at_point(term)
        value = value_of(a, made)
        parts = a.table.of([made])
        if not abs(value - near) <= NEAR * max(1.0, abs(near)) or any(
                t.shape or (t.kind == NUMBER and type(t.value) is float) or _is_pole(t)
                for t in parts):
            return near
        if made.kind == NUMBER and made.value.denominator == 1:
            return value
        both = [made, a.negative(made)]
        texts, tex = [writer(a, paper=True).texts(both, {}) for writer in (Gradcli, Latex)]
        return Exact(value, texts, tex) if len(texts[0]) <= LONGEST else near


def _is_pole(t: Term) -> bool:
    """Return whether a term is tan(pi/2) or its like, which floats miss."""
    turn = turns(t.args[0]) if t.is_call("tan", "sec", "csc", "cot") else None
    return turn is not None and (
        turn if t.is_call("csc", "cot") else turn + HALF).denominator == 1


def _run(question: Question) -> tuple[Run, Program]:
    """Run the program at the point, with constants recorded where its operations allow it."""
    program = question.program
    try:
        other = program.recording_constants()
        return other.traced_run(question.at, **question.options()), other
    except GradcliError:
        return program.traced_run(question.at, **question.options()), program


# --- what is exchanged, by command ----------------------------------------------------------------

def _value(point: ExactPoint, result: Answer, term: Term) -> None:
    result["value"] = point.number(term, result["value"])


def _derivative(point: ExactPoint, result: Answer, term: Term) -> None:
    for one in result["wrt"]:
        if one["name"] not in point.values or point.is_large(term):
            return
        term = point.slope(term, one["name"])
    _value(point, result, term)


def _sources(point: ExactPoint, result: Answer, term: Term) -> None:
    _value(point, result, term)
    for source in result["sources"]:
        name = source["wrt"]
        if name in point.values and type(source["gradient"]) is float:
            source["at"] = point.number(point.algebra.table.name(name), source["at"])
            source["gradient"] = point.number(point.slope(term, name), source["gradient"])


def _at(point: ExactPoint, result: Answer) -> bool:
    """Exchange the coordinates; return whether all variables are numbers."""
    names = point.algebra.table.name
    result["at"] = {name: point.number(names(name), value) if name in point.values else value
                    for name, value in result["at"].items()}
    return all(name in point.values for name in result["at"])


def _tangent(point: ExactPoint, result: Answer, term: Term) -> None:
    _value(point, result, term)
    if not _at(point, result) or "slopes" not in result:
        return
    a, number = point.algebra, point.number
    slopes = {name: point.at_point(point.slope(term, name)) for name in result["slopes"]}
    result["slopes"] = {
        name: number(m, result["slopes"][name]) for name, m in slopes.items()}
    y = point.at_point(term)
    result["intercept"] = number(a.add(y, *[a.negative(a.times(
        m, point.values[name])) for name, m in slopes.items()]), result["intercept"])
    length = a.power(a.add(a.number(ONE), *[a.times(m, m) for m in slopes.values()]),
                     a.number(-HALF))
    down = a.number(MINUS)
    for key, factor in (("normal_vector", a.number(ONE)), ("unit_normal", length)):
        result[key] = [number(a.times(m, factor), near) for m, near in zip(
            [*slopes.values(), down], result[key], strict=True)]
    if result.get("normal"):
        (name, m), = slopes.items()
        steep = a.power(m, down)
        result["normal"] = {
            "slope": number(a.negative(steep), result["normal"]["slope"]),
            "intercept": number(a.add(y, a.times(point.values[name], steep)),
                                result["normal"]["intercept"])}


def _taylor(point: ExactPoint, result: Answer, term: Term) -> None:
    _value(point, result, term)
    if not _at(point, result) or result["order"] > MOST or len(result["terms"]) > MOST_TERMS:
        return
    a = point.algebra
    for one in result["terms"]:
        slope, below = term, 1
        for name, k in one["powers"].items():
            below *= factorial(k)
            for _ in range(k):
                if point.is_large(slope):
                    return
                slope = point.slope(slope, name)
        if not point.is_large(slope):
            value = point.at_point(slope)
            one["derivative"] = point.number(value, one["derivative"])
            one["coefficient"] = point.number(
                a.times(value, a.number(ONE / below)), one["coefficient"])


MOST, MOST_TERMS = 12, 50
"""Formulas of higher derivatives are too long, and more of them take too long."""

EXCHANGED: dict[str, Callable[[ExactPoint, Any, Term], None]] = {
    "eval": _value, "derive": _derivative, "grad": _sources, "tangent": _tangent,
    "taylor": _taylor}
