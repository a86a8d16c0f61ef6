"""Tests that start from the answer: its derivative, its ratio to the right one, its constants."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.formulas.rounding import error_of
from gradcli.homework.checking.pool import corner
from gradcli.homework.checking.problem import slope
from gradcli.homework.mistakes.derivation import BETWEEN, LEFT, SITE, WHOLE, Explanation
from gradcli.homework.mistakes.rules import RARE
from gradcli.homework.mistakes.sample import EXACT, LEAST, RTOL, evaluated, near, rows, taken
from gradcli.homework.mistakes.whole import is_on_curve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.mistakes.derivation import AnswerDerivation
    from gradcli.homework.mistakes.sample import AnswerComponent, Sample

POINTS = (1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.0)
ROUNDED = 0.02
PRIMES = (1, 7, 11, 13, 17, 19, 23, 29)


def from_answer(derivation: AnswerDerivation, trial: Trial, given: AnswerComponent
                ) -> list[Explanation]:
    """Return explanations of one component of an answer that is a formula."""
    if given.sample.single:
        return _rounded_number(derivation, given)
    found: list[Explanation] = []
    found += _constant_answer(derivation, trial, given)
    found += _integrated(derivation, trial, given)
    found += _ratio(derivation, given)
    found += _offset(derivation, trial, given)
    found += _part_of_domain(derivation, trial, given)
    return found


def undefined(trial: Trial, deadline: float) -> list[Explanation]:
    """Explain an answer that is not a number anywhere: not where the right one is, nor at any size.

    deadline: of `time.thread_time`; raises TimeoutError after it.
    """
    size = np.geomspace(1e-6, 1e3, 64)
    values = np.concatenate([-size[::-1], [0.0], size])
    formula, nodes = trial.answered.formula, trial.answered.nodes
    # Names go through the values in steps of their own, so that all signs and sizes meet.
    inputs = {name: values[(np.arange(512) * step) % len(values)]
              for name, step in zip(formula.leaves(nodes), PRIMES * 8, strict=False)}
    found = evaluated(formula, nodes, inputs, {}, deadline)
    if any(np.isfinite(value).any() for value in found):
        return []
    return [Explanation("undefined_answer", WHOLE, agree=trial.prepared.size)]


def _rounded_number(derivation: AnswerDerivation, given: AnswerComponent) -> list[Explanation]:
    """Explain a number that is the right one, but not to enough digits."""
    right, value = float(given.sample.right[given.c][0]), float(given.at[0])
    if value == 0 and right != 0:
        return [Explanation("answer_zero", LEFT, sure=False)]
    if right and 0 < abs(value / right - 1) <= ROUNDED + EXACT:
        return [Explanation("rounded_constant", WHOLE, 9.0, agree=1,
                            sure=abs(value / right - 1) < 1e-2, detail={"sentence":
                            "this is near, but not near enough: round at the end only" + (
                                ", to 3 digits or more" if derivation.problem.tolerance is None
                                else "")})]
    return []


def _node(trial: Trial, given: AnswerComponent) -> int:
    return trial.answered.nodes[given.c]


def _constant_answer(derivation: AnswerDerivation, trial: Trial, given: AnswerComponent
                     ) -> list[Explanation]:
    """Explain zero, the value at a point, or a number where a formula is asked for."""
    if trial.answered.formula.leaves([_node(trial, given)]) and not given.constant:
        return []
    value = float(given.at[0])
    if value == 0:
        return [Explanation("answer_zero", WHOLE, sure=False, agree=len(given.at))]
    reference = derivation.reference
    if reference.kind.line:
        return [Explanation("not_a_formula", LEFT, -1.0, sure=False, detail={"sentence":
                "this is only the slope: the equation of the line is asked for"
                if _is_slope(derivation, value) else
                f"this is a number: the equation of the {_line(derivation)} is asked for"})]
    d = reference.nodes[given.c]
    names = reference.formula.leaves([d])
    if not names:
        return [Explanation("constant_to_one", LEFT, sure=False)
                ] if value == 1 and reference.formula.value(d) == 0 else []
    found = [Explanation("not_a_formula", LEFT, -1.0, sure=False, detail={
        "sentence": "a formula is asked for, and this is a number"})]
    at = derivation.problem.at
    points: list[Mapping[str, float]] = [dict.fromkeys(names, p) for p in POINTS]
    if set(names) <= set(at):
        points.insert(0, at)
    for point in [point for point in points if is_on_curve(derivation, point)]:
        wanted, = evaluated(reference.formula, [d], point, {})
        if near(wanted, value, EXACT) and _is_slope_at(derivation, d, names, point):
            text = ", ".join([f"{n} = {point[n]:g}" for n in names])
            # Much is the same at 0, without anybody having put in 0.
            rank = BETWEEN - 1 if any(point.values()) else 2 * RARE
            return [Explanation("evaluated_at_point", SITE, rank, sure=False, detail={"at": text}),
                    *found]
    return found


def _line(derivation: AnswerDerivation) -> str:
    return "line" if len(derivation.reference.wrt) == 1 else "plane"


def _is_slope(derivation: AnswerDerivation, value: float) -> bool:
    """Return whether a number is the slope of the tangent that is asked for."""
    reference, at = derivation.reference, derivation.problem.at
    steep, *others = reference.slopes()
    if others or not set(reference.formula.leaves([steep])) <= set(at):
        return False
    wanted, = evaluated(reference.formula, [steep], at, {})
    return bool(near(wanted, value, EXACT))


def _is_slope_at(derivation: AnswerDerivation, d: int, names: Sequence[str],
                 point: Mapping[str, float]
                 ) -> bool:
    """Return whether a derivative exists at a point: the function has a value, and no corner."""
    formula = derivation.reference.formula
    known = [f for f in derivation.reference.functions if set(formula.leaves([f])) <= set(point)]
    return bool(np.isfinite(evaluated(formula, known, point, {})).all()) and corner(
        formula, [d], point, names) is None


def _integrated(derivation: AnswerDerivation, trial: Trial, given: AnswerComponent
                ) -> list[Explanation]:
    """Explain an answer whose derivative is the function. No integral is needed to find it."""
    reference, formula = derivation.reference, trial.answered.formula
    if not reference.kind.plain:
        return []
    f, name = reference.function(given.c), reference.by(given.c)[0]
    if f == reference.nodes[given.c]:
        return []
    try:
        derived = slope(formula, _node(trial, given), name)
    except GradcliError:
        return []
    sample = given.sample
    inputs = taken(trial.inputs, sample.columns[:8])
    try:
        value, = evaluated(formula, [derived], inputs, {})
    except KeyError:
        return []
    wanted = sample.of([f])[0][:8]
    rough = np.isfinite(wanted) & np.isfinite(value)
    if not rough.any() or not (near(wanted, value, 1e-5) | ~rough).all():
        return []
    (a, e), = trial.values.of([derived])
    (b, g), = sample.prepared.values.of([f])
    with np.errstate(all="ignore"):
        error = error_of(a, e) + error_of(b, g)
        size = np.maximum(abs(a), abs(b))
        usable = np.isfinite(size)
        if (usable & (abs(a - b) > RTOL * size + 16 * error)).any():
            return []
        agree = int(np.broadcast_to(
            usable & (error <= 1e-4 * size), (sample.prepared.size,)).sum())
    if agree < LEAST:
        return []
    return [Explanation("integrated", WHOLE, 0.5, agree=agree, sure=not given.constant)]


def _ratio(derivation: AnswerDerivation, given: AnswerComponent) -> list[Explanation]:
    """Explain the right answer times a constant, or rounded somewhere."""
    sample = given.sample
    right = sample.right[given.c]
    with np.errstate(all="ignore"):
        ratio = given.at / right
        clear = given.exact()
        good = clear & np.isfinite(ratio) & (ratio != 0)
    ratio = ratio[good]
    if len(ratio) < given.least():
        return []
    k = float(np.median(ratio))
    spread = float(abs(ratio - k).max())
    far = float(abs(ratio - 1).max())
    found: list[Explanation] = []
    if given.constant:
        return [Explanation("rounded_constant", LEFT, 0.0, sure=False, detail={"k": k})
                ] if 0 < far <= ROUNDED + EXACT else []
    if spread <= EXACT * abs(k) and good.sum() >= clear.sum() - 1:
        if k == -1 or abs(k + 1) <= EXACT:
            return []  # the table has it
        name = "constant_factor"
        if any(abs(abs(k) * v - 1) <= 1e-7 or abs(abs(k) / v - 1) <= 1e-7
               for v in _literals(derivation, given.c)):
            found.append(Explanation("constant_factor_dropped", LEFT, 0.5, sure=False,
                                     detail={"k": k} if derivation.reference.kind.line else {
                                         "k": k, "sentence": "a constant factor is missing: this is"
                                         " the right derivative times {k}"}))
        found.append(Explanation(name, LEFT, 1.0, sure=False, detail={"k": k}))
    if 0 < far <= ROUNDED + EXACT:
        found.append(Explanation("rounded_constant", LEFT, 0.0, detail={"k": k}))
    return found


def _literals(derivation: AnswerDerivation, c: int) -> list[float]:
    """Return the numbers that stand in the function, without 0 and 1."""
    formula = derivation.reference.formula
    found = []
    for k in formula.needed([derivation.reference.function(c)]):
        value = formula.value(k)
        if value is not None and abs(value) not in (0.0, 1.0):
            found.append(abs(value))
    return found


def _offset(derivation: AnswerDerivation, trial: Trial, given: AnswerComponent
            ) -> list[Explanation]:
    """Explain the right answer plus a constant, +C among them."""
    sample = given.sample
    right = sample.right[given.c]
    good = given.exact() & np.isfinite(right)
    if good.sum() < given.least() or given.constant:
        return []
    with np.errstate(all="ignore"):
        rest = (given.at - right)[good]
        size = np.maximum(abs(given.at), abs(right))[good]
    for name in trial.answered.unknown:
        values = trial.inputs[name]
        values = values if type(values) is float else values[sample.columns][good]
        if (abs(rest - values) <= EXACT * (size + abs(values))).all():
            return [Explanation("constant_added", LEFT, 0.2, detail={"k": name},
                                agree=int(good.sum()))]
    middle = float(np.median(rest))
    if middle and (abs(rest - middle) <= EXACT * (size + abs(middle))).all() and (
            size <= 1e6 * abs(middle)).any():
        several = len(derivation.reference.wrt) > 1
        return [Explanation("constant_added", LEFT, 2.0, sure=False, detail={"k": middle, **({
            "sentence": f"the slope{'s are' if several else ' is'} right, but the"
            f" {_line(derivation)} lies {abs(middle):.6g} too {'high' if middle > 0 else 'low'}"
        } if derivation.reference.kind.line else {})})]
    return []


def _part_of_domain(derivation: AnswerDerivation, trial: Trial, given: AnswerComponent
                    ) -> list[Explanation]:
    """Explain an answer that is right at some of the points, with the region of these."""
    comparison = trial.comparison
    if comparison is None:
        return []
    agree, disagree = comparison.agree[given.c], comparison.disagree[given.c]
    usable = int(agree.sum()) + int(disagree.sum())
    if not usable or not 0.2 <= agree.sum() / usable <= 0.98 or agree.sum() < LEAST:
        return []
    return [Explanation("right_on_part_of_domain", LEFT, -0.5, agree=int(agree.sum()), sure=True,
                        detail={"region": _region(trial, agree, disagree)})]


def _region(trial: Trial, agree: Any, disagree: Any) -> str:
    """Return the region where an answer is right, as an inequality; "" where none fits."""
    for name, values in trial.inputs.items():
        if type(values) is float:
            continue
        inside, outside = values[agree], values[disagree]
        for sign, low, high in ((">", inside, outside), ("<", outside, inside)):
            if low.min() > high.max():
                return f"{name} {sign} {_between(float(high.max()), float(low.min()))}"
        for bound in (1.0, 2.0, 0.5, 3.0):
            if (abs(inside) <= bound).all() and (abs(outside) >= bound).all():
                return f"|{name}| < {bound:g}"
            if (abs(inside) >= bound).all() and (abs(outside) <= bound).all():
                return f"|{name}| > {bound:g}"
    return ""


def _between(low: float, high: float) -> str:
    """Return the simplest number between two; 0 is where signs change."""
    if low <= 0 <= high:
        return "0"
    for digits in range(6):
        rounded = round((low + high) / 2, digits)
        if low <= rounded <= high:
            return f"{rounded + 0.0:g}"
    return f"{(low + high) / 2:g}"


# --------------------------------------------------------------------------------------------------
# Vectors and matrices: right components in the wrong places, too few of them, or their sum.

MOST = 4
"""So many components are permuted at most."""
SAME = 1e-7


def rearranged(sample: Sample, givens: list[AnswerComponent], shape: tuple[int, ...],
               wrong: list[int]) -> list[Explanation]:
    """Return explanations of an answer whose components are right, but in another order.

    givens: the components.
    shape: of the answer.
    wrong: the components that are wrong.
    """
    n = len(givens)
    if n < 2:
        return []
    right = sample.right
    given = np.array([g.at for g in givens])
    good = np.isfinite(right) & np.array([g.clear for g in givens])
    if good.all(axis=0).sum() < (1 if sample.single else 4):
        return []
    columns = good.all(axis=0)
    right, given = right[:, columns], given[:, columns]
    agree = sample.prepared.size
    constant = _constant(right)
    found: list[Explanation] = []
    if len(shape) == 2:
        found += _matrix(right, given, shape, wrong, agree, constant)
    elif n <= MOST:
        for order in _permutations(n):
            if order != tuple(range(n)) and near(right[list(order)], given, SAME).all():
                found.append(Explanation("components_swapped", WHOLE, -3.0, agree=agree,
                                         sure=not constant))
                break
    return found


def _constant(values: Any) -> bool:
    return bool(near(values, values[:, :1], SAME).all())


def _matrix(right: Any, given: Any, shape: tuple[int, ...], wrong: list[int], agree: int,
            constant: bool) -> list[Explanation]:
    m, n = shape
    square = right.reshape(m, n, -1)
    typed = given.reshape(m, n, -1)
    found: list[Explanation] = []
    if m == n and near(square.transpose(1, 0, 2), typed, SAME).all():
        found.append(Explanation("transposed", WHOLE, -4.0, agree=agree, sure=not constant))
    for axis, length in enumerate(shape):
        if 1 < length <= MOST:
            for order in _permutations(length):
                turned = square[list(order)] if axis == 0 else square[:, list(order)]
                if order != tuple(range(length)) and near(turned, typed, SAME).all():
                    found.append(Explanation("components_swapped", WHOLE, -3.0, agree=agree,
                                             sure=not constant))
                    break
    if m == n:
        off = [k for k in range(m * n) if k // n != k % n and (right[k] != 0).any()]
        if set(wrong) <= set(off) and all((given[k] == 0).all() for k in wrong):
            found.append(Explanation("mixed_partials_missing", WHOLE, -2.0, agree=agree, detail={
                "entries": entries(wrong, shape)}))
    lines = {k // n for k in wrong}
    if len(lines) == 1 and m > 1 and n > 1:
        found.append(Explanation("one_row_wrong", LEFT, -0.2, agree=agree, detail={
            "row": str(lines.pop() + 1), "entries": entries(wrong, shape)}))
    return found


def _permutations(n: int) -> list[tuple[int, ...]]:
    """Return all orders of n things, the swaps of two neighbours among the first."""
    if n == 1:
        return [(0,)]
    return [(*rest[:k], n - 1, *rest[k:]) for rest in _permutations(n - 1)
            for k in range(n - 1, -1, -1)]


def entries(wrong: list[int], shape: tuple[int, ...]) -> str:
    """Return the indices of components as a text, counted from 1."""
    n = shape[1] if len(shape) == 2 else 1
    return ", ".join([f"({k // n + 1},{k % n + 1})" if len(shape) == 2 else str(k + 1)
                      for k in wrong[:6]])


def _gradient(sample: Sample, trial: Trial, given: Any) -> list[Explanation]:
    """Explain first derivatives where the second ones are asked for."""
    reference = trial.prepared.reference
    slopes = sample.of(reference.slopes())
    right = rows([np.broadcast_to(s, given[0].shape) for s in slopes], len(sample.columns))
    if not near(right, given, SAME).all():
        return []
    return [Explanation("wrong_order", WHOLE, agree=sample.prepared.size,
                        detail={"order": "first"})]


def misshaped(sample: Sample, trial: Trial) -> list[Explanation]:
    """Return explanations of an answer whose shape is not the one asked for."""
    answered, reference = trial.answered, trial.prepared.reference
    wanted = reference.shape
    nodes = answered.nodes
    try:
        given = rows(evaluated(answered.formula, nodes, taken(trial.inputs, sample.columns), {}),
                     len(sample.columns))
    except KeyError:
        given = rows([], len(sample.columns))
    right = sample.right
    if answered.transposed and len(given):
        order = [i * wanted[0] + j for j in range(wanted[0]) for i in range(wanted[1])]
        sure = bool(near(right, given[order], SAME).all())
        return [Explanation("transposed", WHOLE, agree=sample.prepared.size, sure=sure)]
    if not wanted:
        number = sample.single or trial.prepared.problem.direction
        names = ("not_a_number", "not_a_formula") if number else ("not_a_formula", "not_a_number")
        return [Explanation(name, WHOLE, rank, agree=sample.prepared.size)
                for rank, name in enumerate(names)]
    if reference.axes == 2 and len(nodes) == len(reference.wrt):
        found = _gradient(sample, trial, given)
        if found:
            return found
    detail = {"wanted": str(len(right)), "given": str(len(nodes))}
    if len(nodes) == 1:
        total = right.sum(axis=0)
        with np.errstate(all="ignore"):
            if len(given) and near(total, given[0], SAME).all():
                return [Explanation("components_summed", WHOLE, agree=sample.prepared.size)]
    if len(nodes) < len(right):
        sure = len(given) > 0 and all(near(right, g, SAME).all(axis=1).any() for g in given)
        return [Explanation("components_missing", WHOLE, agree=sample.prepared.size, sure=sure,
                            detail=detail)]
    return []
