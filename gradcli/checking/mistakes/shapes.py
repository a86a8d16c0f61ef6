"""Vectors and matrices: right components in the wrong places, too few of them, or their sum."""

from __future__ import annotations

from gradcli.checking.mistakes.sample import evaluated, near, rows, taken
from gradcli.checking.mistakes.wrong import LEFT, WHOLE, Found
from gradcli.checking.reference import slope
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.checking.mistakes.sample import Given, Sample
    from gradcli.checking.trial import Trial

MOST = 4
"""So many components are permuted at most."""
SAME = 1e-7


def rearranged(sample: Sample, givens: list[Given], shape: tuple[int, ...],
               wrong: list[int]) -> list[Found]:
    """Explanations of an answer of the right shape by where its components stand."""
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
    found: list[Found] = []
    if len(shape) == 2:
        found += _matrix(right, given, shape, wrong, agree, constant)
    elif n <= MOST:
        for order in _permutations(n):
            if order != tuple(range(n)) and near(right[list(order)], given, SAME).all():
                found.append(Found("components_swapped", WHOLE, -3.0, agree=agree,
                                   sure=not constant))
                break
    return found


def _constant(values: Any) -> bool:
    return bool(near(values, values[:, :1], SAME).all())


def _matrix(right: Any, given: Any, shape: tuple[int, ...], wrong: list[int], agree: int,
            constant: bool) -> list[Found]:
    m, n = shape
    square = right.reshape(m, n, -1)
    typed = given.reshape(m, n, -1)
    found: list[Found] = []
    if m == n and near(square.transpose(1, 0, 2), typed, SAME).all():
        found.append(Found("transposed", WHOLE, -4.0, agree=agree, sure=not constant))
    for axis, length in enumerate(shape):
        if 1 < length <= MOST:
            for order in _permutations(length):
                turned = square[list(order)] if axis == 0 else square[:, list(order)]
                if order != tuple(range(length)) and near(turned, typed, SAME).all():
                    found.append(Found("components_swapped", WHOLE, -3.0, agree=agree,
                                       sure=not constant))
                    break
    if m == n:
        off = [k for k in range(m * n) if k // n != k % n and (right[k] != 0).any()]
        if set(wrong) <= set(off) and all((given[k] == 0).all() for k in wrong):
            found.append(Found("mixed_partials_missing", WHOLE, -2.0, agree=agree, detail={
                "entries": entries(wrong, shape)}))
    lines = {k // n for k in wrong}
    if len(lines) == 1 and m > 1 and n > 1:
        found.append(Found("one_row_wrong", LEFT, -0.2, agree=agree, detail={
            "row": str(lines.pop() + 1), "entries": entries(wrong, shape)}))
    return found


def _permutations(n: int) -> list[tuple[int, ...]]:
    """All orders of n things, the swaps of two neighbours among the first."""
    if n == 1:
        return [(0,)]
    return [(*rest[:k], n - 1, *rest[k:]) for rest in _permutations(n - 1)
            for k in range(n - 1, -1, -1)]


def entries(wrong: list[int], shape: tuple[int, ...]) -> str:
    """Which components, counted from 1."""
    n = shape[1] if len(shape) == 2 else 1
    return ", ".join([f"({k // n + 1},{k % n + 1})" if len(shape) == 2 else str(k + 1)
                      for k in wrong[:6]])


def _gradient(sample: Sample, trial: Trial, given: Any) -> list[Found]:
    """The first derivatives where the second ones are asked for."""
    reference = trial.prepared.reference
    slopes = sample.of([slope(reference.formula, reference.functions[0], n)
                        for n in reference.wrt])
    right = rows([np.broadcast_to(s, given[0].shape) for s in slopes], len(sample.columns))
    if not near(right, given, SAME).all():
        return []
    return [Found("wrong_order", WHOLE, agree=sample.prepared.size, detail={"order": "first"})]


def misshaped(sample: Sample, trial: Trial) -> list[Found]:
    """Explanations of an answer whose shape is not the one asked for."""
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
        return [Found("transposed", WHOLE, agree=sample.prepared.size, sure=sure)]
    if not wanted:
        number = sample.single or trial.prepared.problem.kind == "directional"
        names = ("not_a_number", "not_a_formula") if number else ("not_a_formula", "not_a_number")
        return [Found(name, WHOLE, rank, agree=sample.prepared.size)
                for rank, name in enumerate(names)]
    if trial.prepared.problem.kind == "hessian" and len(nodes) == len(reference.wrt):
        found = _gradient(sample, trial, given)
        if found:
            return found
    detail = {"wanted": str(len(right)), "given": str(len(nodes))}
    if len(nodes) == 1:
        total = right.sum(axis=0)
        with np.errstate(all="ignore"):
            if len(given) and near(total, given[0], SAME).all():
                return [Found("components_summed", WHOLE, agree=sample.prepared.size)]
    if len(nodes) < len(right):
        sure = len(given) > 0 and all(near(right, g, SAME).all(axis=1).any() for g in given)
        return [Found("components_missing", WHOLE, agree=sample.prepared.size, sure=sure,
                      detail=detail)]
    return []
