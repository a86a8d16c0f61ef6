"""The diagnosis of a wrong answer: the name of its mistake."""

from __future__ import annotations

from functools import partial
from time import thread_time

from gradcli.base.lazy import np
from gradcli.formulas.rounding import error_of
from gradcli.homework.checking.answered import Trial
from gradcli.homework.checking.judge import judge
from gradcli.homework.checking.prepared import in_form
from gradcli.homework.mistakes import answers
from gradcli.homework.mistakes.answers import from_answer, undefined
from gradcli.homework.mistakes.derivation import (
    BETWEEN,
    LEFT,
    MOST,
    PAIR,
    SITE,
    WHOLE,
    AnswerDerivation,
    Explanation,
    Steps,
    confidence,
    node_of,
    pair,
    ranked,
)
from gradcli.homework.mistakes.sample import LEAST, ROUGH, AnswerComponent, Sample, near
from gradcli.homework.mistakes.sentences import other_brackets, other_names, sentence
from gradcli.homework.mistakes.whole import (
    in_degrees,
    misread,
    other_lines,
    other_points,
    other_questions,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.homework.mistakes.derivation import Pair
    from gradcli.lang.paper.answer import Reading


COMPONENTS = 9
"""Of so many wrong components mistakes are looked for; of more, none is sure."""


def diagnose(prepared: PreparedProblem, trial: Trial, others: list[Reading], result: dict[str, Any],
             deadline: float) -> None:
    """Fill in mistake, also, confidence and hint, which goes before the message too.

    others: other readings of the answer. deadline: of `time.thread_time`. Never raises: a verdict
    is not lost because no explanation is found.
    """
    try:
        found = ranked(explanations(prepared, trial, others, deadline))
        for form in prepared.problem.forms:
            other = prepared.kept(("form", form), partial(in_form, prepared, form))
            again = Trial(other, trial.answered, deadline)
            judge(again, {})
            more = ranked(_of_values(other, again, deadline))
            if more and (not found or (more[0].level, more[0].rank) < (
                    found[0].level, found[0].rank)):
                prepared, found = other, more
        if found:
            fill_in(prepared, found, result)
        elif trial.answered.unknown:
            hint = result["hint"] = (
                f"the problem has no letter {', '.join(trial.answered.unknown)}")
            result["message"] = f"{hint}; {result['message']}"
    except Exception:
        result.update(mistake=None, also=[], confidence=None, hint=None)


def fill_in(prepared: PreparedProblem, found: list[Explanation], result: dict[str, Any]) -> None:
    """Write the best explanation into a result, and the others' names beside it."""
    first = found[0]
    names = [f.name for one in found for f in (one, one.also) if f is not None]
    result["mistake"] = first.name
    result["also"] = [n for n in dict.fromkeys(names) if n != first.name][:MOST]
    result["confidence"] = confidence(
        found, prepared.single, prepared.single or prepared.reference.kind.line)
    hint = result["hint"] = sentence(_derivation(prepared), first)
    result["message"] = f"{hint}; {result['message']}" if result["message"] else hint


def explanations(prepared: PreparedProblem, trial: Trial, others: list[Reading], deadline: float
                 ) -> list[Explanation]:
    """Return all explanations of an answer, in no order.

    others: other readings of the answer. deadline: of `time.thread_time`.
    """
    reread = other_brackets(prepared, trial, _sample(prepared), others, deadline)
    return _of_values(prepared, trial, deadline) + reread


def _of_values(prepared: PreparedProblem, trial: Trial, deadline: float) -> list[Explanation]:
    """Return the explanations of an answer as it was read."""
    sample = _sample(prepared)
    if trial.side is None:
        return answers.misshaped(sample, trial)
    found: list[Explanation] = []
    if trial.answered.unknown:
        found = other_names(prepared, trial)
        if found:
            return found
    if not np.isfinite(trial.side.values[:, prepared.side.finite.all(axis=0)]).any():
        return undefined(trial, deadline) or [
            Explanation("undefined_answer", LEFT, agree=prepared.size, sure=False)]
    givens = [AnswerComponent(trial, sample, c) for c in range(len(prepared.reference.nodes))]
    wrong = _wrong(trial, len(givens))
    found = [] if trial.comparison is not None else [
        Explanation("not_a_number", WHOLE, -6.0, agree=prepared.size, detail={
            "sentence": "the point was not put in: {number} asked for"})]
    found += answers.rearranged(sample, givens, prepared.reference.shape, wrong)
    found += _misread(prepared, sample, givens)
    each: list[list[Explanation]] = []
    for c in wrong[:COMPONENTS]:
        if thread_time() > deadline:
            break
        each.append(_of_component(prepared, trial, sample, givens[c], deadline))
    if 0 < len(wrong) < len(givens):
        shape = prepared.reference.shape
        each = [[_weaker(f, answers.entries([c], shape)) for f in one]
                for c, one in zip(wrong, each, strict=False)]
    return found + [f.replaced(sure=f.sure and len(each) == len(wrong)) for f in _in_common(each)]


def _wrong(trial: Trial, n: int) -> list[int]:
    """Return the components that are wrong; all, if these points do not show which."""
    comparison = trial.comparison
    found = [] if comparison is None else [
        c for c in range(n) if comparison.disagree[c].any() or not comparison.agree[c].any()]
    return found or list(range(n))


def _weaker(found: Explanation, component: str) -> Explanation:
    """Return an explanation with its component named, and a weaker level: where other components
    are right, one of them is hardly the answer to another question.
    """
    found = found.replaced(detail={**found.detail, "component": component})
    return found.replaced(level=SITE,
                          rank=BETWEEN + 1 + found.rank) if found.level == WHOLE else found


def _of_component(prepared: PreparedProblem, trial: Trial, sample: Sample, given: AnswerComponent,
                  deadline: float) -> list[Explanation]:
    table = _table(prepared, sample, given.c)
    found = table.hits(given)
    found += from_answer(_derivation(prepared), trial, given)
    if sample.single:
        return found
    if all(f.level == LEFT for f in found):
        found = _doubles(prepared, sample, given.c).hits(given) + found
    if not found:
        if prepared.reference.kind.linear:
            found = sums(table, given)
        if not found and thread_time() < deadline:
            found = _pairs(prepared, sample, given.c).hits(given)
    return found


def _in_common(each: list[list[Explanation]]) -> list[Explanation]:
    """Return explanations that hold for all wrong components; else those of each one, less sure."""
    if not each:
        return []
    if len(each) == 1:
        return each[0]
    names = set.intersection(*({f.name for f in found} for found in each))
    if names:
        return [f for found in each for f in found if f.name in names]
    return [f.replaced(sure=False) for found in each for f in found]


# ---- what is known of a problem ----------------------------------------------------------------


def _derivation(prepared: PreparedProblem) -> AnswerDerivation:
    return prepared.kept("derivation", lambda: AnswerDerivation(prepared.reference))


def _sample(prepared: PreparedProblem) -> Sample:
    return prepared.kept("sample", lambda: Sample(prepared))


def _steps(prepared: PreparedProblem, sample: Sample, c: int) -> Steps:
    return prepared.kept(("steps", c), lambda: Steps(_derivation(prepared), sample, c))


def _table(prepared: PreparedProblem, sample: Sample, c: int) -> WrongAnswers:
    def make() -> WrongAnswers:
        derivation = _derivation(prepared)
        made = other_questions(derivation, c) + in_degrees(derivation, c)
        if prepared.reference.kind.line:
            made += other_lines(derivation)
        elif sample.single:
            made += other_points(derivation, c)
        return single_mistakes(_steps(prepared, sample, c), made)

    return prepared.kept(("table", c), make)


def _doubles(prepared: PreparedProblem, sample: Sample, c: int) -> WrongAnswers:
    return prepared.kept(("doubles", c),
                         lambda: two_mistakes_at_one_site(_steps(prepared, sample, c)))


def _pairs(prepared: PreparedProblem, sample: Sample, c: int) -> WrongAnswers:
    return prepared.kept(("pairs", c), lambda: double_mistakes(_steps(prepared, sample, c)))


def _misread(prepared: PreparedProblem, sample: Sample, givens: list[AnswerComponent]
             ) -> list[Explanation]:
    """Explain the right answer for another function, which is easily read in place of this one."""
    if not prepared.problem.variants:
        return []
    for text, nodes in prepared.kept("variants", lambda: misread(_derivation(prepared))):
        agree = [given.agreeing(node) if len(given.matches(sample.of([node]))) else 0
                 for given, node in zip(givens, nodes, strict=True)]
        if all(agree):
            return [Explanation("misread_function", WHOLE, -5.0, agree=min(agree), detail={
                "piece": text}, sure=not all(g.constant for g in givens))]
    return []


# --------------------------------------------------------------------------------------------------
# All wrong answers to one component of a problem, made once for all that answer it.
#
# A wrong answer is a node of the reference's formula; its values at the sample are a row of a
# matrix.

MAX_SITES = 300
"""Of more wrong answers not all pairs are formed."""


class WrongAnswers:
    """Wrong answers with their values: found[k] belongs to row k of the matrix."""

    __slots__ = ("derivation", "found", "matrix")

    def __init__(self, steps: Steps, found: Sequence[Explanation | Pair], matrix: Any) -> None:
        """Keep the wrong answers that are defined and differ from the right one at some point."""
        self.derivation = steps.derivation
        sample = steps.sample
        right = sample.right[steps.c]
        finite = np.isfinite(matrix) & np.isfinite(right)
        same = near(matrix, right, ROUGH / 10) | ~finite
        few = 1 if sample.single else 4
        kept = np.flatnonzero(~same.all(axis=1) & (finite.sum(axis=1) >= few))
        self.found = [found[k] for k in kept.tolist()]
        self.matrix = matrix[kept]

    def hits(self, given: AnswerComponent) -> list[Explanation]:
        """Return the wrong answers that equal a component of an answer, compared at all points."""
        found = []
        for k in given.matches(self.matrix):
            one = self.found[k]
            if isinstance(one, tuple):
                one = self.found[k] = pair(*one)
            one.node = node_of(self.derivation, given.c, one)
            agree = given.agreeing(one.node)
            if agree and (given.sample.single or agree >= LEAST):
                found.append(one.replaced(agree=agree, sure=one.sure and not given.constant))
        return found


def single_mistakes(steps: Steps, others: list[Explanation]) -> WrongAnswers:
    """Return the table of one wrong rule, at one operation or at all, and of `others`."""
    others = others + steps.in_earlier()
    singles, rows = steps.singles()
    everywhere, more = steps.everywhere()
    nodes = [f.node for f in others if f.node is not None]
    return WrongAnswers(steps, [*singles, *everywhere, *others],
                        np.concatenate([rows, more, steps.sample.of(nodes)]))


def double_mistakes(steps: Steps) -> WrongAnswers:
    """Return the table of two wrong rules, one inside of the other."""
    return WrongAnswers(steps, *steps.pairs())


def two_mistakes_at_one_site(steps: Steps) -> WrongAnswers:
    """Return the table of two mistakes with one operation."""
    return WrongAnswers(steps, *steps.doubles())


def sums(table: WrongAnswers, given: AnswerComponent) -> list[Explanation]:
    """Return pairs of mistakes at operations apart from each other, whose effects on a sum of
    derivatives add up to the answer.
    """
    sites = [k for k, f in enumerate(table.found) if isinstance(f, Explanation) and f.level == SITE]
    if given.sample.single or not 2 <= len(sites) <= MAX_SITES:
        return []
    right = given.sample.right[given.c]
    good = given.clear & np.isfinite(right)
    good = good & np.isfinite(table.matrix[sites]).all(axis=0) if len(sites) < 60 else good
    columns = np.flatnonzero(good)[:16]
    if len(columns) < LEAST:
        return []
    with np.errstate(all="ignore"):
        moved = table.matrix[sites][:, columns] - right[columns]
        rest = given.at[columns] - right[columns]
        scale = np.maximum(abs(given.at[columns]), abs(right[columns]))
        # Pairs whose sum fits at the first point; of these, those that fit at all.
        fit = abs(moved[:, None, :2] + moved[None, :, :2] - rest[:2]) <= ROUGH * scale[:2]
    found: list[Explanation] = []
    for k, m in np.argwhere(np.triu(fit.all(axis=2), 1)):
        one, other = table.found[sites[k]], table.found[sites[m]]
        assert isinstance(one, Explanation)
        assert isinstance(other, Explanation)
        if (one.step, one.site) == (other.step, other.site):
            continue
        with np.errstate(all="ignore"):
            fits = (abs(moved[k] + moved[m] - rest) <= ROUGH * scale).all()
        agree = given.agreeing_with(*_added(table, given, one, other)) if fits else 0
        if agree >= LEAST:
            first, second = sorted((one, other), key=lambda f: f.rank)
            found.append(first.replaced(level=PAIR, rank=first.rank + second.rank, also=second,
                                   agree=agree, sure=not given.constant))
    return found


def _added(table: WrongAnswers, given: AnswerComponent, one: Explanation, other: Explanation
           ) -> tuple[Any, Any]:
    """Return the values with two mistakes added up, and their errors."""
    prepared = given.sample.prepared
    nodes = [node_of(table.derivation, given.c, one), node_of(table.derivation, given.c, other),
             prepared.reference.nodes[given.c]]
    (v, e), (w, f), (d, g) = [
        (value, error_of(value, bound)) for value, bound in prepared.values.of(nodes)]
    with np.errstate(all="ignore"):
        return v + w - d, e + f + g
