"""From a wrong answer to the name of its mistake."""

from __future__ import annotations

from time import thread_time

from gradcli.checking.mistakes import shapes
from gradcli.checking.mistakes.answers import from_answer, undefined
from gradcli.checking.mistakes.points import other_lines, other_points
from gradcli.checking.mistakes.readings import other_brackets, other_names
from gradcli.checking.mistakes.sample import Given, Sample
from gradcli.checking.mistakes.sentences import sentence
from gradcli.checking.mistakes.steps import Steps
from gradcli.checking.mistakes.table import (
    Table,
    double_mistakes,
    mistakes_at_one_place,
    single_mistakes,
    sums,
)
from gradcli.checking.mistakes.ways import Way
from gradcli.checking.mistakes.whole import in_degrees, misread, whole
from gradcli.checking.mistakes.wrong import (
    BETWEEN,
    LEFT,
    MOST,
    SITE,
    WHOLE,
    Found,
    confidence,
    ranked,
)
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from gradcli.checking.prepared import Prepared
    from gradcli.checking.trial import Trial
    from gradcli.reading import Reading

    Made = TypeVar("Made")


def diagnose(prepared: Prepared, trial: Trial, others: list[Reading], result: dict[str, Any],
             deadline: float) -> None:
    """Fill in mistake, also, confidence and hint, which goes before the message too.

    others: other readings of the answer. deadline: of `time.thread_time`. Never raises: a verdict
    is not lost because nobody knows why.
    """
    try:
        found = ranked(explanations(prepared, trial, others, deadline))
        if found:
            name(prepared, found, result)
        elif trial.answered.unknown:
            told = result["hint"] = (
                f"the problem has no letter {', '.join(trial.answered.unknown)}")
            result["message"] = f"{told}; {result['message']}"
    except Exception:
        result.update(mistake=None, also=[], confidence=None, hint=None)


def name(prepared: Prepared, found: list[Found], result: dict[str, Any]) -> None:
    """Write the best explanation into a result, and the others' names beside it."""
    first = found[0]
    names = [f.name for one in found for f in (one, one.also) if f is not None]
    result["mistake"] = first.name
    result["also"] = [n for n in dict.fromkeys(names) if n != first.name][:MOST]
    result["confidence"] = confidence(
        found, prepared.single, prepared.single or prepared.problem.kind == "tangent")
    told = result["hint"] = sentence(_way(prepared), first)
    result["message"] = f"{told}; {result['message']}" if result["message"] else told


def explanations(prepared: Prepared, trial: Trial, others: list[Reading], deadline: float
                 ) -> list[Found]:
    """All that explains an answer, in no order."""
    reread = other_brackets(prepared, trial, _sample(prepared), others, deadline)
    return _of_values(prepared, trial, deadline) + reread


def _of_values(prepared: Prepared, trial: Trial, deadline: float) -> list[Found]:
    """What explains an answer as it was read."""
    sample = _sample(prepared)
    if trial.side is None:
        return shapes.misshaped(sample, trial)
    found: list[Found] = []
    if trial.answered.unknown:
        found = other_names(prepared, trial)
        if found:
            return found
    if not np.isfinite(trial.side.values[:, prepared.side.finite.all(axis=0)]).any():
        return undefined(trial, deadline) or [
            Found("undefined_answer", LEFT, agree=prepared.size, sure=False)]
    givens = [Given(trial, sample, c) for c in range(len(prepared.reference.nodes))]
    wrong = _wrong(trial, len(givens))
    found = [] if trial.comparison is not None else [
        Found("not_a_number", WHOLE, -6.0, agree=prepared.size, detail={"formula": "1"})]
    found += shapes.rearranged(sample, givens, prepared.reference.shape, wrong)
    found += _misread(prepared, sample, givens)
    each: list[list[Found]] = []
    for c in wrong:
        if thread_time() > deadline:
            break
        each.append(_of_component(prepared, trial, sample, givens[c], deadline))
    if 0 < len(wrong) < len(givens):
        shape = prepared.reference.shape
        each = [[_weaker(f, shapes.entries([c], shape)) for f in one]
                for c, one in zip(wrong, each, strict=False)]
    return found + _in_common(each)


def _wrong(trial: Trial, n: int) -> list[int]:
    """The components that are wrong; all, if it is not seen at these points which."""
    comparison = trial.comparison
    found = [] if comparison is None else [
        c for c in range(n) if comparison.disagree[c].any() or not comparison.agree[c].any()]
    return found or list(range(n))


def _weaker(found: Found, component: str) -> Found:
    """Where other components are right, one of them is hardly the answer to another question."""
    found = found.but(detail={**found.detail, "component": component})
    return found.but(level=SITE, rank=BETWEEN + 1 + found.rank) if found.level == WHOLE else found


def _of_component(prepared: Prepared, trial: Trial, sample: Sample, given: Given, deadline: float
                  ) -> list[Found]:
    table = _table(prepared, sample, given.c)
    found = table.hits(given)
    found += from_answer(_way(prepared), trial, given)
    if sample.single:
        return found
    if all(f.level == LEFT for f in found):
        found = _doubles(prepared, sample, given.c).hits(given) + found
    if not found:
        if _way(prepared).linear:
            found = sums(table, given)
        if not found and thread_time() < deadline:
            found = _pairs(prepared, sample, given.c).hits(given)
    return found


def _in_common(each: list[list[Found]]) -> list[Found]:
    """Explanations that hold for all wrong components; else those of the first, less sure."""
    if not each:
        return []
    if len(each) == 1:
        return each[0]
    names = set.intersection(*({f.name for f in found} for found in each))
    if names:
        return [f for found in each for f in found if f.name in names]
    return [f.but(sure=False) for found in each for f in found]


# ---- what is known of a problem ----------------------------------------------------------------


def _kept(prepared: Prepared, key: Any, make: Callable[[], Made]) -> Made:
    """What was made of a problem when it was first asked for."""
    found: Made | None = prepared.cache.get(key)
    if found is None:
        found = prepared.cache[key] = make()
    return found


def _way(prepared: Prepared) -> Way:
    return _kept(prepared, "way", lambda: Way(prepared.reference, prepared.problem))


def _sample(prepared: Prepared) -> Sample:
    return _kept(prepared, "sample", lambda: Sample(prepared))


def _steps(prepared: Prepared, sample: Sample, c: int) -> Steps:
    return _kept(prepared, ("steps", c), lambda: Steps(_way(prepared), sample, c))


def _table(prepared: Prepared, sample: Sample, c: int) -> Table:
    def make() -> Table:
        way = _way(prepared)
        made = whole(way, c) + in_degrees(way, c)
        if prepared.problem.kind == "tangent":
            made += other_lines(way)
        elif sample.single:
            made += other_points(way, c)
        return single_mistakes(_steps(prepared, sample, c), made)

    return _kept(prepared, ("table", c), make)


def _doubles(prepared: Prepared, sample: Sample, c: int) -> Table:
    return _kept(prepared, ("doubles", c),
                 lambda: mistakes_at_one_place(_steps(prepared, sample, c)))


def _pairs(prepared: Prepared, sample: Sample, c: int) -> Table:
    return _kept(prepared, ("pairs", c), lambda: double_mistakes(_steps(prepared, sample, c)))


def _misread(prepared: Prepared, sample: Sample, givens: list[Given]) -> list[Found]:
    """The right answer for another function, which is easily read in place of this one."""
    if not prepared.problem.variants:
        return []
    for text, nodes in _kept(prepared, "variants", lambda: misread(_way(prepared))):
        agree = [given.agreeing(node) if len(given.matches(sample.of([node]))) else 0
                 for given, node in zip(givens, nodes, strict=True)]
        if all(agree):
            return [Found("misread_function", WHOLE, -5.0, agree=min(agree), detail={
                "piece": text}, sure=not all(g.constant for g in givens))]
    return []
