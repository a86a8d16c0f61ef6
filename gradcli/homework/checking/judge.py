"""The judge of an answer: compares it with the right one at all points, as numbers, as a function
or as rounded values, and gives the verdict (`verdict`) of the comparison that counts.
"""

from __future__ import annotations

import math

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.homework.checking import compare, verdict
from gradcli.homework.checking.answered import Answered, Trial
from gradcli.homework.checking.compare import Comparison, Side
from gradcli.homework.checking.outcome import RIGHT
from gradcli.homework.checking.pool import ENOUGH, more_points, switches
from gradcli.ops.table.elementwise import (
    add,
    cbrt,
    divide,
    multiply,
    negative,
    power,
    sqrt,
    subtract,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.lang.paper.answer import Reading

    # A number, and what it is a factor of: the nodes above and below a fraction bar.
    Product = tuple[float, tuple[int, ...], tuple[int, ...]]
    # The same with the values of the factor.
    TermValues = tuple[float, Any]


def judge(trial: Trial, result: dict[str, Any], switching: bool = True, placed: bool = False
          ) -> None:
    """Fill in verdict, message, witness, points and score.

    placed: variables that have a value may stand for it.
    switching: whether to look for points on the sides of switches that have few; once, since the
    new points may be few on a side again.
    """
    prepared, answered = trial.prepared, trial.answered
    if not answered.fits:
        verdict.misshaped(trial, result)
        return
    trial.side = Side(trial.values, answered.nodes, prepared.size)
    left = [] if placed else trial.left_over()
    if left:
        verdict.not_evaluated(trial, left, result)
        return
    found = switches(answered.formula, answered.nodes) if (
        switching and not prepared.single and prepared.reference.constraint is None) else []
    if not prepared.single and not found and verdict.certain(trial, result):
        return
    trial.comparison = Comparison(
        prepared.side, trial.side, prepared.problem.rtol, prepared.zeros)
    if prepared.single:
        verdict.judge_number(trial, result, trial.allowed())
        return
    more = more_points(trial.values, found) if found else None
    if more is not None:
        judge(trial.again(more), result, switching=False)
        return
    verdict.judge_function(trial, result)
    if result["verdict"] == "undecided" and trial.comparison.disagree.any():
        verdict.judge_function(trial.resampled(), result)
    if result["verdict"] == "wrong" and prepared.problem.tolerance is not None:
        judge_rounded(trial, result)


def is_right(prepared: PreparedProblem, reading: Reading, deadline: float, placed: bool = False
             ) -> bool:
    """Return whether another reading of an answer, or another answer, is right.

    deadline: of `time.thread_time`; raises TimeoutError after it. placed: see `judge`.
    """
    found: dict[str, Any] = {}
    try:
        judge(Trial(prepared, Answered(reading, prepared.reference, prepared.problem), deadline),
              found, placed=placed)
    except GradcliError:
        return False
    return found["verdict"] in RIGHT


# --------------------------------------------------------------------------------------------------
# Formulas with rounded numbers, where a problem has a tolerance: 0.0236x^3 for 0.02364x^3.
#
# The right answer is a sum of terms, each a number times something. An answer is that sum with
# other numbers, or it is not: the numbers are found by a linear fit; with the right ones in their
# place the answer must be right to the last digit. So nothing hides below a tolerance but the
# rounding of numbers. A whole number is not rounded. An answer that would be right with exact
# numbers inside of its functions and exponents is left to a person.

MOST = 24
"""So many terms a right answer may have."""
FACTORS = 64
"""So many factors a power may have that is written out."""
ROOTS = (sqrt, cbrt)
NEAR = 1e-9
"""What is left of a fit: rounding errors, far below any tolerance."""


def judge_rounded(trial: Trial, result: dict[str, Any]) -> None:
    """Turn the verdict on an answer into right, if only its numbers are rounded; into undecided, if
    some of them stand inside of functions.
    """
    before = trial.side, trial.comparison
    judged = _judged(trial)
    if judged["verdict"] != "domain" and judged["score"] <= result["score"]:
        typed = _exact_inside(trial)
        inside = _judged(trial) if typed else {"verdict": "wrong"}
        trial.side, trial.comparison = before
        if inside["verdict"] == "correct":
            result.update(verdict="undecided", score=0.0, witness=None, message=(
                f"right, but for rounding {', '.join(typed)} where the tolerance does not reach:"
                " a person has to look at it"))
        return
    if judged["verdict"] == "correct":
        judged["message"] = judged["message"].replace("right", "right within the tolerance", 1)
    result.update({"witness": None, "fingerprint": None, **judged})


def _judged(trial: Trial) -> dict[str, Any]:
    """Return the verdict on an answer with the right numbers in its terms; the trial keeps them."""
    prepared = trial.prepared
    trial.side = _corrected(trial)
    trial.comparison = Comparison(prepared.side, trial.side, prepared.problem.rtol, prepared.zeros)
    judged: dict[str, Any] = {}
    verdict.judge_function(trial, judged)
    return judged


def _exact_inside(trial: Trial) -> list[str]:
    """Put numbers of the right answer, and 1 over them, in place of those that are within the
    tolerance of one; return the texts of those that were replaced.
    """
    prepared, formula = trial.prepared, trial.answered.formula
    reference = prepared.reference
    numbers = {abs(value) for value in prepared.values.plain(
        [*reference.formula.needed([*reference.functions, *reference.nodes])])
        if type(value) is float and 0 < abs(value) < math.inf}
    numbers = {value for one in numbers for value in (one, 1 / one) if not _is_whole(value)}
    exact: dict[int, int] = {}
    typed: list[str] = []
    for k in formula.needed(trial.answered.nodes):
        value = formula.value(k) if formula.ops[k] is None else None
        if value is None or _is_whole(value) or not numbers:
            continue
        near = min(numbers, key=lambda number: abs(number - abs(value)))
        if 0 < abs(near - abs(value)) <= (1 + NEAR) * compare.allowed(
                prepared.problem.tolerance, near, value, ""):
            exact[k] = formula.number(math.copysign(near, value))
            typed.append(f"{value:.6g}")
    if exact:
        trial.side = Side(trial.values, [formula.substituted(k, exact) for k in
                                         trial.answered.nodes], prepared.size)
    return typed


def may_round(prepared: PreparedProblem) -> bool:
    """Return whether the right answer has numbers that are not whole, as far as it is expanded."""
    return any(not parts or not all(_is_whole(number) for number, _ in parts)
               for parts in [_terms(prepared, c) for c in range(len(prepared.reference.nodes))])


def hides_numbers(prepared: PreparedProblem) -> bool:
    """Return whether a number that is not whole stands inside of a function or an exponent of the
    right answer, which a tolerance does not reach: sin(x/3), e^(pi*x), sqrt(2*x).
    """
    formula, values = prepared.reference.formula, prepared.values

    def constant(node: int) -> float | None:
        (value,) = values.plain([node])
        return value if type(value) is float else None

    factors = {k for c in prepared.reference.nodes for _, above, below in _expanded(prepared, c)
               for k in (*above, *below)}
    for k in formula.needed([a for factor in factors if formula.ops[factor] is not None
                             for a in formula.args[factor]]):
        number = constant(k)
        if number is not None and not _is_whole(number):
            return True
        if formula.ops[k] is divide and number is None and constant(formula.args[k][1]) is not None:
            return True
    # A root of a product has a number in it that may stand before the root.
    return any(formula.ops[k] in ROOTS and formula.ops[formula.args[k][0]] is multiply
               and None not in map(constant, formula.args[formula.args[k][0]][:1])
               for k in factors)


def _corrected(trial: Trial) -> Side:
    """Return the values of an answer with the right numbers in it; a component stays unchanged
    where its numbers are further off than the tolerance.
    """
    side, right = trial.side, trial.prepared.side
    assert side is not None
    values = side.values.copy()
    noise = np.zeros_like(values)
    for c in range(len(values)):
        parts = _terms(trial.prepared, c)
        rounded = [part for part in parts if not _is_whole(part[0])]
        if not rounded:
            continue
        with np.errstate(all="ignore"):
            size = sum([abs(number * factor) for number, factor in parts])
            shares = _shares(values[c] - right.values[c], size, rounded)
            if all(abs(share * number) <= (1 + NEAR) * compare.allowed(
                    trial.prepared.problem.tolerance, number, number * (1 + share), "")
                    for (number, _), share in zip(rounded, shares, strict=True)):
                for (number, factor), share in zip(rounded, shares, strict=True):
                    values[c] -= share * number * factor
                noise[c] = NEAR * 1e-2 * size
    return side.moved(values, noise)


def _shares(difference: Any, size: Any, parts: list[TermValues]) -> Any:
    """Fit the relative change of each number that explains the difference; zeros without a fit."""
    columns = np.array([number * factor / size for number, factor in parts])
    wanted = difference / size
    good = np.isfinite(wanted) & np.isfinite(columns).all(axis=0)
    if np.count_nonzero(good) < max(ENOUGH, 2 * len(parts)):
        return np.zeros(len(parts))
    found, _, rank, _ = np.linalg.lstsq(columns[:, good].T, wanted[good], rcond=1e-10)
    # Where terms depend on each other, as sin^2 x, cos^2 x and 1, numbers are not determined.
    return found if rank == len(parts) else np.zeros(len(parts))


def _is_whole(number: float) -> bool:
    """Return whether a number has no digits that may be rounded; NaN and infinities have none."""
    return not math.isfinite(number) or abs(number - round(number)) <= NEAR * abs(number)


def _terms(prepared: PreparedProblem, c: int) -> list[TermValues]:
    """Return the terms of a component, each a number and an array, with those that differ by a
    number only joined. Empty where there are too many.
    """
    return prepared.kept(("terms", c), lambda: _joined(
        prepared, _expanded(prepared, prepared.reference.nodes[c])))


def _joined(prepared: PreparedProblem, terms: list[Product]) -> list[TermValues]:
    parts: list[TermValues] = []
    if len(terms) > MOST:
        return parts
    for number, above, below in terms:
        factor = np.ones(prepared.size)
        with np.errstate(all="ignore"):
            for value in prepared.values.plain(above):
                factor = factor * value
            for value in prepared.values.plain(below):
                factor = factor / value
            for k, (other, like) in enumerate(parts):
                ratio = factor / like
                ratio = ratio[np.isfinite(ratio)]
                if len(ratio) >= ENOUGH and np.ptp(ratio) <= NEAR * abs(ratio[0]):
                    parts[k] = (other + number * float(ratio[0]), like)
                    break
            else:
                parts.append((number, factor))
    return [(number, factor) for number, factor in parts if number]


def _expanded(prepared: PreparedProblem, node: int) -> list[Product]:
    """Return a node as a sum of terms; more than MOST of them are not written out."""
    formula = prepared.reference.formula
    values = prepared.values
    known: dict[int, list[Product]] = {}
    for k in formula.needed([node]):
        op, args = formula.ops[k], formula.args[k]
        value = values.plain([k])[0]
        inner = [known[a] for a in args]
        made: list[Product] = [(1.0, (k,), ())]
        if type(value) is float:
            made = [(value, (), ())]
        elif op in (add, subtract):
            sign = -1.0 if op is subtract else 1.0
            made = [*inner[0], *[(sign * n, up, down) for n, up, down in inner[1]]]
        elif op is negative:
            made = [(-n, up, down) for n, up, down in inner[0]]
        elif op is multiply:
            made = [(n * m, up + other, down + lower) for n, up, down in inner[0]
                    for m, other, lower in inner[1]]
        elif op is divide:
            (n, above, below), *more = inner[1]
            if more:
                n, above, below = 1.0, (args[1],), ()
            if n:
                made = [(m / n, up + below, down + above) for m, up, down in inner[0]]
        elif op is power and len(inner[0]) == 1 and not inner[1][0][1] and _is_whole(
                inner[1][0][0]) and inner[0][0][1]:
            (n, up, down), exponent = inner[0][0], inner[1][0][0]
            if n != 1 and 1 < exponent and exponent * len(up + down) <= FACTORS and (
                    0 < abs(scale := power.on_scalars((n, exponent))) < math.inf):
                made = [(scale, up * int(exponent), down * int(exponent))]
        known[k] = made if len(made) <= MOST else [(1.0, (k,), ())]
    return known[node]
