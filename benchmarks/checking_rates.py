"""How often right answers are accepted and wrong ones rejected, by where one looks and how closely.

    python benchmarks/checking_rates.py [--seeds N] [--write]

The answers of tests/data/homework to problems of the kinds derivative and partial, once for each
seed, without the domains that their problems declare. gradcli reads all of them and calculates all
values; beside its own way of comparing stand the sampling settings that homework systems have by
default (openwebwork/pg, lib/Value/Formula.pm; drlippman/IMathAS, FunctionExpressionScorePart.php;
numbas/Numbas, jme.js), and its own points without the bounds of rounding errors. Who sets a problem
there can choose others, and many do.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.case import ROOT
from gradcli.formulas.rounding import Values
from gradcli.homework.check import prepare
from gradcli.homework.checking.answered import Answered, Trial
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.checking.judge import judge
from gradcli.homework.checking.prepared import derive
from gradcli.lang.paper.answer import read

PAIRS = ROOT / "tests" / "data" / "homework" / "pairs.ndjson"
TITLE = "Right and wrong answers, by how they are compared"
NOT_ASKED = {"id", "answer", "verdict", "mistake", "ok", "second", "domain", "variants"}
ACCEPT, REJECT, UNDECIDED = "accept", "reject", "undecided"
ENOUGH, CLEAR, HUGE, TINY = 12, 100.0, 1e290, 1e-290

Random = np.random.Generator
Array = Any


class Question:
    """An answer, and what it is compared with. names: what both depend on."""

    def __init__(self, pair: dict[str, Any]) -> None:
        self.id = str(pair["id"])
        self.right = pair["verdict"] == "correct"
        self.problem = from_fields({name: value for name, value in pair.items()
                                    if name not in NOT_ASKED and not name.endswith("_sympy")})
        self.reference = derive(self.problem)
        self.answered = Answered(read(pair["answer"], self.reference.names), self.reference,
                                 self.problem)
        self.names = self.reference.variables

    @property
    def readable(self) -> bool:
        """Whether it has the shape and the names that are asked for; else any system refuses it."""
        return self.answered.fits and not self.answered.unknown

    def expected(self, points: dict[str, Array]) -> Array:
        return _values(self.reference.formula, self.reference.nodes, points)

    def given(self, points: dict[str, Array]) -> Array:
        return _values(self.answered.formula, self.answered.nodes, points)

    def random(self, seed: int) -> Random:
        return np.random.default_rng([seed, zlib.crc32(self.id.encode())])


def _values(formula: Any, nodes: Sequence[int], points: dict[str, Array]) -> Array:
    """Of one component; not a number where it has no finite value."""
    size = max(len(v) for v in points.values())
    (value, _), = Values(formula, points).of(nodes[:1])
    found = np.array(np.broadcast_to(value, (size,)), float)
    found[~np.isfinite(found)] = np.nan
    return found


# ---- how answers are compared --------------------------------------------------------------------


def gradcli(question: Question, seed: int) -> str:
    """The verdict, without looking for what is wrong."""
    result: dict[str, Any] = {}
    judge(Trial(prepare(question.problem, seed), question.answered, float("inf")), result)
    return {"correct": ACCEPT, "domain": ACCEPT, "wrong": REJECT}.get(result["verdict"], UNDECIDED)


def webwork(question: Question, seed: int) -> str:
    """5 points of a grid in [-2, 2]: where the right answer is undefined another is drawn, at most
    10 in a row. Relative to it, but for values below 1e-14; undefined is wrong.
    """
    if not question.readable:
        return REJECT
    drawn = question.random(seed).integers(0, 1001, (len(question.names), 55)) * 0.004 - 2.0
    points = dict(zip(question.names, drawn, strict=True))
    expected = question.expected(points)
    chosen: list[int] = []
    misses = 0
    for k in range(55):
        misses = misses + 1 if np.isnan(expected[k]) else 0
        if misses == 0:
            chosen.append(k)
        if misses > 10 or len(chosen) == 5:
            break
    if len(chosen) < 5:
        return UNDECIDED
    r, s = expected[chosen], question.given(points)[chosen]
    tiny = (abs(r) < 1e-14) | (abs(s) < 1e-14)
    return ACCEPT if np.all(abs(r - s) < np.where(tiny, 1e-12, 1e-4 * abs(r))) else REJECT


def imathas(question: Question, seed: int) -> str:
    """20 points, one in each twentieth of [-10, 10], in another order for each variable. One of
    them may be undefined.
    """
    if not question.readable:
        return REJECT
    random = question.random(seed)
    points = {name: random.permutation(20) - 10.0 + random.random(20) for name in question.names}
    r, s = question.expected(points), question.given(points)
    here = ~np.isnan(r)
    if not here.any():
        return UNDECIDED
    r, s = r[here], s[here]
    if np.isnan(s).sum() > 1:
        return REJECT
    far = abs(s - r) / (abs(r) + 1e-4) > 0.0015 + 1e-12
    return REJECT if far.any() else ACCEPT


def numbas(question: Question, seed: int) -> str:
    """5 points in [0, 1], absolute differences to 1e-4."""
    if not question.readable:
        return REJECT
    points = dict(zip(question.names, question.random(seed).random((len(question.names), 5)),
                      strict=True))
    r = question.expected(points)
    if np.isnan(r).any():
        return UNDECIDED
    return ACCEPT if np.all(abs(question.given(points) - r) <= 1e-4) else REJECT


def without_bounds(rtol: float) -> Callable[[Question, int], str]:
    """gradcli's points and its verdicts, with nothing but a relative tolerance."""
    def compare(question: Question, seed: int) -> str:
        if not question.readable:
            return REJECT
        points = prepare(question.problem, seed).inputs
        r, s = question.expected(points), question.given(points)
        scale = np.maximum(abs(r), abs(s))
        usable = (scale <= HUGE) & (scale >= TINY)
        r, s, scale = r[usable], s[usable], scale[usable]
        excess = abs(r - s) / (rtol * scale)
        differ = np.count_nonzero(excess > 1)
        if differ >= 2 or (excess > CLEAR).any():
            return REJECT
        return UNDECIDED if differ or len(r) < ENOUGH else ACCEPT
    return compare


METHODS: dict[str, Callable[[Question, int], str]] = {
    "gradcli": gradcli,
    "WeBWorK's settings: 5 points in [-2, 2], relative 1e-4": webwork,
    "IMathAS's settings: 20 points in [-10, 10], relative 0.0015": imathas,
    "Numbas's settings: 5 points in [0, 1], absolute 1e-4": numbas,
    "gradcli's points, relative 1e-8 alone": without_bounds(1e-8),
    "gradcli's points, relative 1e-4 alone": without_bounds(1e-4),
}


# ---- the table -----------------------------------------------------------------------------------


def questions() -> list[Question]:
    """Those that are right or wrong; others are neither, by what their files say."""
    pairs = map(json.loads, PAIRS.read_text(encoding="utf-8").splitlines())
    return [Question(pair) for pair in pairs
            if pair["kind"] in ("derivative", "partial") and pair["verdict"] in ("correct", "wrong")
            and "at" not in pair]


def row(name: str, asked: Sequence[Question], seeds: int) -> list[str]:
    found: Counter[tuple[bool, str]] = Counter()
    unsteady = 0
    with np.errstate(all="ignore"):
        for question in asked:
            verdicts = [METHODS[name](question, seed) for seed in range(seeds)]
            found.update((question.right, verdict) for verdict in verdicts)
            unsteady += len(set(verdicts)) > 1

    def share(right: bool, verdict: str) -> str:
        of = sum(n for (known, _), n in found.items() if known is right)
        return f"{100 * found[right, verdict] / max(of, 1):.1f} %"

    return [name, *[share(True, v) for v in (ACCEPT, UNDECIDED, REJECT)],
            *[share(False, v) for v in (ACCEPT, UNDECIDED)], str(unsteady)]


def table(asked: Sequence[Question], seeds: int) -> str:
    right = sum(q.right for q in asked)
    return (f"{time.strftime('%Y-%m-%d')}: {right} right and {len(asked) - right} wrong answers of"
            f" tests/data/homework, {seeds} seeds; the last column counts answers whose verdict is"
            " not the same for all seeds (`benchmarks/checking_rates.py`).\n\n" + report.table(
                ["compared how", " right accepted", " undecided", " rejected", " wrong accepted",
                 " undecided", " by luck"], [row(name, asked, seeds) for name in METHODS]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="(default 20)")
    parser.add_argument("--write", action="store_true", help="into benchmarks/results.md, too")
    given = parser.parse_args()
    text = table(questions(), given.seeds)
    print(text)
    if given.write:
        report.write_section(ROOT / "benchmarks" / "results.md", TITLE, text)


if __name__ == "__main__":
    main()
