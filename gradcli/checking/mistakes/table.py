"""All wrong answers to one component of a problem, made once for all that answer it.

A wrong answer is a node of the reference's formula; its values at the sample are a row of a matrix.
"""

from __future__ import annotations

from gradcli.checking.mistakes.sample import LEAST, ROUGH, near
from gradcli.checking.mistakes.wrong import EVERYWHERE, PAIR, SITE, Found
from gradcli.ops.lazy import np
from gradcli.sweeps.rounding import error_of
from gradcli.sweeps.wrong_rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.checking.mistakes.sample import Given, Sample
    from gradcli.checking.mistakes.ways import Step, Way

MAX_NODES = 12_000
"""So many nodes at most are made for the wrong answers to one problem; then no more are tried."""
MAX_PAIRS = 400
NAMES = tuple(dict.fromkeys([rule.name for rule in RULES]))


class Table:
    """Wrong answers with their values: found[k] belongs to row k of the matrix."""

    __slots__ = ("found", "matrix")

    def __init__(self, sample: Sample, c: int, found: list[Found]) -> None:
        """Those that are the right answer in disguise, or undefined, are left out."""
        nodes = [f.node for f in found if f.node is not None]
        matrix = sample.of(nodes)
        right = sample.right[c]
        finite = np.isfinite(matrix) & np.isfinite(right)
        with np.errstate(all="ignore"):
            same = near(matrix, right, ROUGH / 10) | ~finite
        few = 1 if sample.single else 4
        kept = np.flatnonzero(~same.all(axis=1) & (finite.sum(axis=1) >= few)) if nodes else []
        self.found = [found[k] for k in kept]
        self.matrix = matrix[kept] if nodes else matrix

    def hits(self, given: Given) -> list[Found]:
        """The wrong answers that an answer is, compared at all points."""
        found = []
        for k in given.matches(self.matrix):
            one = self.found[k]
            assert one.node is not None
            agree = given.agreeing(one.node)
            if agree and (given.sample.single or agree >= LEAST):
                found.append(one.but(agree=agree, sure=one.sure and not given.constant))
        return found


def wrong_steps(way: Way, c: int) -> list[Found]:
    """One rule used wrongly at one place, and at all places."""
    formula = way.reference.formula
    steps = list(dict.fromkeys(way.steps(c)))
    limit = len(formula.ops) + MAX_NODES
    found: list[Found] = []
    seen: set[tuple[str, int]] = {("", way.component(c, way.right))}

    def keep(one: Found) -> None:
        assert one.node is not None
        if (one.name, one.node) not in seen and ("", one.node) not in seen:
            seen.add((one.name, one.node))
            found.append(one)

    for number, step in enumerate(steps):
        for rule, site, tangent in way.sweeps(step).singles():
            if len(formula.ops) > limit:
                return found
            wrong = way.or_zero(tangent)
            node = way.component(c, lambda s, step=step, wrong=wrong: (  # type: ignore[misc]
                wrong if s == step else way.right(s)))
            keep(Found(rule.name, SITE, rule.rank + number / 100, node=node, step=step, site=site,
                       rule=rule))
    for rank, name in enumerate(NAMES):
        if len(formula.ops) > limit:
            break
        keep(Found(name, EVERYWHERE, rank, node=way.component(
            c, lambda s, name=name: way.or_zero(way.sweeps(s).everywhere(name))),  # type: ignore[misc]
            step=steps[0] if steps else None))
    return found


def nested_pairs(way: Way, c: int, singles: list[Found]) -> list[Found]:
    """Two rules used wrongly, one inside the other, in one differentiation."""
    formula = way.reference.formula
    limit = len(formula.ops) + MAX_NODES
    found: list[Found] = []
    pool = [f for f in singles if f.level == SITE and f.step is not None]
    order = sorted(
        [(one.rank + other.rank, k, m) for k, one in enumerate(pool)
         for m, other in enumerate(pool) if one.step == other.step and one.site != other.site])
    for rank, k, m in order:
        one, other = pool[k], pool[m]
        step = one.step
        assert step is not None and one.site is not None and other.site is not None
        assert one.rule is not None and other.rule is not None
        sweeps = way.sweeps(step)
        if not sweeps.above(other.site, one.site):
            continue
        if len(found) >= MAX_PAIRS or len(formula.ops) > limit:
            break
        tangent = sweeps.pair((one.rule, one.site), (other.rule, other.site))
        if tangent is None:
            continue
        node = way.component(c, lambda s, step=step, t=tangent: (  # type: ignore[misc]
            t if s == step else way.right(s)))
        found.append(_pair(one, other, rank, node))
    return found


def _pair(one: Found, other: Found, rank: float, node: int | None) -> Found:
    first, second = (one, other) if one.rank <= other.rank else (other, one)
    return first.but(level=PAIR, rank=rank, node=node, also=second)


def sums(table: Table, given: Given) -> list[Found]:
    """Two mistakes that do not touch each other: their effects on a sum of derivatives add up."""
    sites = [k for k, f in enumerate(table.found) if f.level == SITE]
    if given.sample.single or len(sites) < 2:
        return []
    right = given.sample.right[given.c]
    good = given.clear & np.isfinite(right)
    good = good & np.isfinite(table.matrix[sites]).all(axis=0) if len(sites) < 60 else good
    columns = np.flatnonzero(good)[:16]
    if len(columns) < LEAST:
        return []
    with np.errstate(all="ignore"):
        moved = table.matrix[np.ix_(sites, columns)] - right[columns]
        rest = given.at[columns] - right[columns]
        scale = np.maximum(abs(given.at[columns]), abs(right[columns]))
        # Pairs whose sum fits at the first point; of these, those that fit at all.
        fit = abs(moved[:, None, :2] + moved[None, :, :2] - rest[:2]) <= ROUGH * scale[:2]
    found: list[Found] = []
    for k, m in np.argwhere(np.triu(fit.all(axis=2), 1)):
        one, other = table.found[sites[k]], table.found[sites[m]]
        if (one.step, one.site) == (other.step, other.site):
            continue
        with np.errstate(all="ignore"):
            fits = (abs(moved[k] + moved[m] - rest) <= ROUGH * scale).all()
        agree = given.agreeing_with(*_added(given, one, other)) if fits else 0
        if agree >= LEAST:
            found.append(_pair(one, other, one.rank + other.rank, None).but(
                agree=agree, sure=not given.constant))
    return found


def _added(given: Given, one: Found, other: Found) -> tuple[Any, Any]:
    """What two mistakes make together, and its errors."""
    assert one.node is not None and other.node is not None
    prepared = given.sample.prepared
    right = prepared.reference.nodes[given.c]
    (v, e), (w, f), (d, g) = [
        (value, error_of(value, bound))
        for value, bound in prepared.values.of([one.node, other.node, right])]
    return v + w - d, e + f + g
