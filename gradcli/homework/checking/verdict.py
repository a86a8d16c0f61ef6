"""Verdicts: what points that agree and points that disagree lead to, with one that shows it."""

from __future__ import annotations

from math import isfinite, isinf

from gradcli.base.lazy import np
from gradcli.formulas.rounding import applied
from gradcli.homework.checking.compare import BLURRED, HUGE, shown
from gradcli.homework.checking.pool import ENOUGH
from gradcli.ops.table.elementwise import divide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.checking.compare import Side

CLEAR = 100.0
UNDEFINED = 0.02
EXACT = 1e-14
NOTHING = 1e-9
"""A value within rounding of 0 is called so where rounding is small itself."""
NEARBY = 1e-3
TOO_LARGE = "this is too large to be calculated: a person has to look at it"
SCORES = {"note": 1.0, "reject": 0.0, "review": 0.0}


def judge_function(trial: Trial, result: dict[str, Any]) -> None:
    """Fill in the verdict on a formula."""
    prepared, comparison = trial.prepared, trial.comparison
    assert comparison is not None
    assert trial.side is not None
    usable = comparison.usable.sum(axis=1)
    agree = comparison.agree.sum(axis=1)
    disagree = comparison.disagree.sum(axis=1)
    large = _large(trial)
    overflown = _overflown(trial, large)
    undefined = ((comparison.undefined & ~overflown) | _divided(trial, large)).sum(axis=1)
    clear = (disagree >= 2) | (comparison.excess.max(axis=1) > CLEAR)
    right = prepared.side.finite.sum(axis=1)
    nowhere = (undefined == right) & (right > 0)
    result["points"] = {"usable": int(usable.min()), "agree": int(agree.min()),
                        "disagree": int(disagree.max()), "undefined": int(undefined.max())}
    if clear.any() or (nowhere.any() and (right >= ENOUGH).all()):
        result["verdict"] = "wrong"
        result["score"] = float(np.mean(~clear & ~nowhere & (agree >= ENOUGH)))
        _explain(trial, result, clear, nowhere)
    elif disagree.any() or (agree < ENOUGH).any():
        result.update(verdict="undecided", score=0.0, message=(
            "a single point disagrees, and only just: a person has to look at it"
            if disagree.any() else TOO_LARGE if _too_large(trial, overflown)
            else _too_few(prepared, agree)))
    elif (undefined > UNDEFINED * right).any():
        policy = prepared.problem.domain_policy
        k = int(np.argmax(undefined))
        j = int(np.argmax(comparison.undefined[k]))
        result.update(verdict="domain", score=SCORES[policy], message=(
            f"right where it is defined; at {point_text(trial, j)} it is not, and the right answer"
            f" is {_shown(prepared.side, k, j)}"))
        result["witness"] = witness(trial, j)
    else:
        result.update(verdict="correct", score=1.0, message=_with_notes("right", trial))


def certain(trial: Trial, result: dict[str, Any]) -> bool:
    """Fill in the verdict on the usual answer, and return whether it was one.

    That is an answer as near to the right one as the tolerance asks for, at every point, before
    rounding errors are looked at. Then it is right, whatever they are.
    """
    prepared = trial.prepared
    assert trial.side is not None
    allowed, count = prepared.certain
    if allowed is None:
        return False
    with np.errstate(all="ignore"):
        near = abs(trial.side.values - prepared.side.values) <= allowed
    if np.count_nonzero(near) != count:
        return False
    least = count if len(near) == 1 else int(near.sum(axis=1).min())
    result["points"] = {"usable": least, "agree": least, "disagree": 0, "undefined": 0}
    result.update(verdict="correct", score=1.0, message=_with_notes("right", trial))
    return True


def _large(trial: Trial) -> set[int]:
    """Return the constants that are too large for a float, as 9^9^9^9, but no poles, as 1/0, which
    are finite for operands nearby.
    """
    formula, known = trial.answered.formula, trial.values.known
    found: set[int] = set()
    for node in sorted(known):
        value, op, args = known[node], formula.ops[node], formula.args[node]
        if type(value) is not float or isfinite(value) or op is None:
            continue
        xs = [known[a] for a in args]
        if found.intersection(args) or (
                all(map(isfinite, xs)) and isinf(value) and isinf(float(
                    applied(op, [x*(1 + NEARBY) + NEARBY for x in xs])))):
            found.add(node)
    return found


def _overflown(trial: Trial, large: set[int]) -> Any:
    """Return a mask of the points where some part of the answer is too large for a float: that it
    is undefined there says nothing about the answer. large: the constants that are.
    """
    found = np.full(trial.prepared.size, bool(large))
    for value in trial.values.known.values():
        if type(value) is not float:
            found |= np.isinf(value)
    return found


def _too_large(trial: Trial, overflown: Any) -> bool:
    """Return whether the answer has no value to compare because it is too large everywhere."""
    assert trial.side is not None
    with np.errstate(all="ignore"):
        large = overflown | (trial.side.size > HUGE)
    finite = trial.prepared.side.finite
    return bool(large.any()) and bool((large | ~finite).all(axis=1).any())


def _divided(trial: Trial, large: set[int]) -> Any:
    """Return a mask of the points where an answer has no value since a constant in it has none,
    1/0, x + ln 0; a row for each component.
    """
    side, formula, nodes = trial.side, trial.answered.formula, trial.answered.nodes
    assert side is not None
    found = trial.prepared.side.finite & np.isinf(side.values)
    for c in np.flatnonzero(found.any(axis=1)).tolist():
        found[c] &= any(_is_pole(trial, k, large) for k in formula.needed([nodes[c]]))
    return found


def _is_pole(trial: Trial, node: int, large: set[int]) -> bool:
    formula = trial.answered.formula
    (value,) = trial.values.plain([node])
    if isinstance(value, float):
        return not isfinite(value) and node not in large
    if formula.ops[node] is not divide:
        return False
    (below,) = trial.values.plain([formula.args[node][1]])
    return isinstance(below, float) and below == 0


def judge_number(trial: Trial, result: dict[str, Any], allowed: Any) -> None:
    """Fill in the verdict on numbers at one point. allowed: a column of differences."""
    prepared, comparison = trial.prepared, trial.comparison
    assert comparison is not None
    assert trial.side is not None
    right, typed = prepared.side.values, trial.side.values
    noise = prepared.side.noise + trial.side.noise
    with np.errstate(all="ignore"):
        difference = abs(right - typed)
        scale = np.maximum(abs(right), abs(typed))
        bound = np.maximum(allowed * (1 + EXACT), prepared.problem.rtol * scale)
        # What rounding did comes on top: 2.02 is 1 % from 2, in floats a little more.
        good = (difference <= bound + noise) & np.isfinite(typed)
        blurred = good & (difference > bound) & (noise > BLURRED * np.maximum(scale, 1.0))
    undefined = ~np.isfinite(typed)
    if undefined.any() and _large(trial):
        result.update(verdict="undecided", score=0.0, message=TOO_LARGE)
        return
    result["points"] = {"usable": 1, "agree": int(good.all()), "disagree": int(not good.all()),
                        "undefined": int(undefined.any())}
    if not good.all():
        result["verdict"] = "wrong"
        result["score"] = float(np.mean(good))
        _explain(trial, result, ~good[:, 0], undefined[:, 0])
    elif blurred.any():
        result.update(verdict="undecided", score=0.0, message=(
            "rounding errors are too large to tell: a person has to look at it"))
    else:
        result.update(verdict="correct", score=1.0, message=_with_notes("right", trial))


def misshaped(trial: Trial, result: dict[str, Any]) -> None:
    """Fill in the verdict on an answer of another shape than the one asked for."""
    wanted, given = trial.prepared.reference.shape, trial.answered.shape
    if trial.prepared.reference.kind.name == "function" and given == (
            len(trial.prepared.problem.at) + 1,):
        result.update(verdict="undecided", score=0.0, message=(
            "this may be the point of the graph, whose value is asked for: a person has to look at"
            " it"))
        return
    if trial.prepared.reference.kind.line and given is not None and len(given) == 1 and (
            trial.answered.unknown):
        result.update(verdict="undecided", score=0.0, message=(
            "this may be a line as a point and a direction: a person has to look at it"))
        return
    result.update(verdict="wrong", score=0.0, message=(
        f"{described(wanted)} is asked for, this is {described(given)}"))


def not_evaluated(trial: Trial, names: list[str], result: dict[str, Any]) -> None:
    """Fill in the verdict on a formula where its value at a point is asked for."""
    prepared = trial.prepared
    at = ", ".join([f"{n} = {shown(v)}" for n, v in prepared.problem.at.items()])
    result.update(verdict="wrong", score=0.0, message=(
        f"the value at {at} is asked for, this still depends on {', '.join(names)}"))


def described(shape: tuple[int, ...] | None) -> str:
    """Return a shape in words."""
    if shape is None:
        return "a matrix whose rows differ in length"
    if not shape:
        return "one number or formula"
    if len(shape) == 1:
        return f"a vector of {shape[0]} components"
    return f"a {shape[0]} by {shape[1]} matrix"


def _too_few(prepared: Any, agree: Any) -> str:
    return (f"only {int(agree.min())} of {prepared.size} points can be compared: a person has to"
            " look at it, or the problem needs a domain")


def _explain(trial: Trial, result: dict[str, Any], wrong: Any, nowhere: Any) -> None:
    """Fill in message and witness of a wrong answer. wrong, nowhere: masks over the components."""
    result["fingerprint"] = fingerprint(trial)
    prepared, comparison = trial.prepared, trial.comparison
    assert comparison is not None
    assert trial.side is not None
    k = int(np.argmax(wrong | nowhere))
    if nowhere[k] and not wrong[k]:
        j = int(np.argmax(prepared.side.finite[k]))
        result["message"] = ("this is not defined at any of the points where the right answer is,"
                             f" such as {point_text(trial, j)}")
    else:
        # The first points are short numbers; the witness should differ visibly.
        excess = comparison.excess[k]
        far = np.flatnonzero(excess > min(CLEAR, excess.max() / 2))
        j = int(far[0]) if len(far) else 0
        which = f"component {_index(prepared.reference.shape, k)}" if len(wrong) > 1 else "this"
        at = point_text(trial, j)
        got, wanted = _shown(trial.side, k, j), _shown(prepared.side, k, j)
        if got == wanted:
            got, wanted = _apart(float(trial.side.values[k, j]), float(prepared.side.values[k, j]))
        result["message"] = _with_notes(
            f"{f'at {at} ' if at else ''}{which} is {got}, and should be {wanted}", trial)
    result["witness"] = witness(trial, j)


def _index(shape: tuple[int, ...], k: int) -> str:
    """Return the index of component k as a text, counted from 1."""
    if len(shape) < 2:
        return str(k + 1)
    return f"({k // shape[1] + 1},{k % shape[1] + 1})"


def _with_notes(message: str, trial: Trial) -> str:
    return "; ".join([message, *trial.answered.reading.notes, *trial.notes])


def point_text(trial: Trial, j: int) -> str:
    """Return point j in words: x = 1.3, y = 0.7."""
    return ", ".join([f"{n} = {shown(v)}" for n, v in where(trial, j).items()])


def where(trial: Trial, j: int) -> dict[str, float]:
    """Return the values of the names that matter at point j."""
    reference = trial.prepared.reference
    used = set(reference.formula.leaves([*reference.evaluated, *reference.nodes]))
    used |= set(trial.answered.formula.leaves(trial.answered.nodes))
    used |= set(reference.wrt)
    return {n: float(v if type(v) is float else v[j])
            for n, v in trial.inputs.items() if n in used}


def witness(trial: Trial, j: int) -> dict[str, Any]:
    """Return the point with the right values and the answer's, each a number or nested lists."""
    prepared = trial.prepared
    assert trial.side is not None
    return {"at": where(trial, j),
            "expected": _nested(prepared.side.values[:, j].tolist(), prepared.reference.shape),
            "got": _nested(trial.side.values[:, j].tolist(), prepared.reference.shape)}


def _nested(values: list[float], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    n = shape[1]
    return [values[k:k + n] for k in range(0, len(values), n)]


def _shown(side: Side, k: int, j: int) -> str:
    """Return a value for people: 0 where it is that within rounding, as cos(pi/2) is."""
    zero = side.near_zero[k, j] and side.noise[k, j] <= NOTHING
    return "0" if zero else shown(side.values[k, j])


def _apart(first: float, second: float) -> tuple[str, str]:
    """Return two numbers to as many digits as distinguish them."""
    for digits in range(7, 18):
        texts = f"{first:.{digits}g}", f"{second:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def fingerprint(trial: Trial) -> str:
    """Return a text that is equal for equal answers: five digits at some points where all is
    defined.
    """
    assert trial.side is not None
    with np.errstate(all="ignore"):
        good = (trial.side.noise <= 1e-9 * trial.side.size) | (trial.side.size == 0)
        columns = np.flatnonzero(good.all(axis=0))[:8]
        texts = [f"{v:.5e}" for v in trial.side.values[:, columns].ravel().tolist()]
    return " ".join([",".join(map(str, columns.tolist())), *texts])
