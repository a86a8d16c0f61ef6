"""All wrong answers to one component of a problem, made once for all that answer it.

A wrong answer is a node of the reference's formula; its values at the sample are a row of a matrix.
"""

from __future__ import annotations

from gradcli.checking.mistakes.sample import LEAST, ROUGH, near
from gradcli.checking.mistakes.steps import node_of, pair
from gradcli.checking.mistakes.wrong import PAIR, SITE, Found
from gradcli.ops.lazy import np
from gradcli.sweeps.rounding import error_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.checking.mistakes.sample import Given
    from gradcli.checking.mistakes.steps import Pair, Steps

MAX_SITES = 300
"""Of more wrong answers not all pairs are formed."""


class Table:
    """Wrong answers with their values: found[k] belongs to row k of the matrix."""

    __slots__ = ("found", "matrix", "way")

    def __init__(self, steps: Steps, found: Sequence[Found | Pair], matrix: Any) -> None:
        """Those that are the right answer in disguise, or undefined, are left out."""
        self.way = steps.way
        sample = steps.sample
        right = sample.right[steps.c]
        finite = np.isfinite(matrix) & np.isfinite(right)
        same = near(matrix, right, ROUGH / 10) | ~finite
        few = 1 if sample.single else 4
        kept = np.flatnonzero(~same.all(axis=1) & (finite.sum(axis=1) >= few))
        self.found = [found[k] for k in kept.tolist()]
        self.matrix = matrix[kept]

    def hits(self, given: Given) -> list[Found]:
        """The wrong answers that an answer is, compared at all points."""
        found = []
        for k in given.matches(self.matrix):
            one = self.found[k]
            if isinstance(one, tuple):
                one = self.found[k] = pair(*one)
            one.node = node_of(self.way, given.c, one)
            agree = given.agreeing(one.node)
            if agree and (given.sample.single or agree >= LEAST):
                found.append(one.but(agree=agree, sure=one.sure and not given.constant))
        return found


def single_mistakes(steps: Steps, others: list[Found]) -> Table:
    """One wrong rule, in one place or in all, and other answers that have nodes."""
    others = others + steps.in_earlier()
    singles, rows = steps.singles()
    everywhere, more = steps.everywhere()
    nodes = [f.node for f in others if f.node is not None]
    return Table(steps, [*singles, *everywhere, *others],
                 np.concatenate([rows, more, steps.sample.of(nodes)]))


def double_mistakes(steps: Steps) -> Table:
    """Two wrong rules, one inside of the other."""
    return Table(steps, *steps.pairs())


def mistakes_at_one_place(steps: Steps) -> Table:
    """Two mistakes with one operation."""
    return Table(steps, *steps.doubles())


def sums(table: Table, given: Given) -> list[Found]:
    """Two mistakes that do not touch each other: their effects on a sum of derivatives add up."""
    sites = [k for k, f in enumerate(table.found) if isinstance(f, Found) and f.level == SITE]
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
    found: list[Found] = []
    for k, m in np.argwhere(np.triu(fit.all(axis=2), 1)):
        one, other = table.found[sites[k]], table.found[sites[m]]
        assert isinstance(one, Found)
        assert isinstance(other, Found)
        if (one.step, one.site) == (other.step, other.site):
            continue
        with np.errstate(all="ignore"):
            fits = (abs(moved[k] + moved[m] - rest) <= ROUGH * scale).all()
        agree = given.agreeing_with(*_added(table, given, one, other)) if fits else 0
        if agree >= LEAST:
            first, second = sorted((one, other), key=lambda f: f.rank)
            found.append(first.but(level=PAIR, rank=first.rank + second.rank, also=second,
                                   agree=agree, sure=not given.constant))
    return found


def _added(table: Table, given: Given, one: Found, other: Found) -> tuple[Any, Any]:
    """What two mistakes make together, and its errors."""
    prepared = given.sample.prepared
    nodes = [node_of(table.way, given.c, one), node_of(table.way, given.c, other),
             prepared.reference.nodes[given.c]]
    (v, e), (w, f), (d, g) = [
        (value, error_of(value, bound)) for value, bound in prepared.values.of(nodes)]
    with np.errstate(all="ignore"):
        return v + w - d, e + f + g
