"""Derivatives of random programs at ordinary and extreme points, against mpmath.

    python tests/tools/differential.py --count 20000 --seed 1

A result is right within conditioning: within a few times of what moving every intermediate result
by a few units in the last place, and by a few of the smallest doubles, does to it; below the
smallest normal number nothing is held against a result. What is not right has to be told: None,
NaN, or a note. A wrong result without a note is printed, made as small as it stays wrong, and the
run fails.
"""

from __future__ import annotations

import argparse
import collections
import math
import multiprocessing
import random
import signal
import sys
import time
import traceback
from typing import Any

import mpmath as mp
from differential_functions import PRECISION, Undecided
from differential_jets import LARGEST, SMALLEST, Jets, finite
from differential_programs import Drawn, Evaluation, Point, drawn_point, drawn_program

from gradcli.base.errors import GradcliError, Source
from gradcli.python.program import Program
from gradcli.questions import first_order
from gradcli.questions.derivatives import gradients
from gradcli.questions.question import Question
from gradcli.questions.second_order import second_order

MOVED = 4
"""Runs of the reference with noise."""
SECONDS = 10
MODES = ("reverse", "forward")


class Reference:
    """Value, first and second derivatives of a program, and how far each is determined.

    parts: by place, (right, tolerance); a tolerance of None where nothing is determined.
    """

    def __init__(self, program: Drawn, point: Point, seed: str) -> None:
        self.slots = [(n, k) for n in program.inputs
                      for k in (range(len(point[n])) if isinstance(point[n], list) else (None,))]
        n = len(self.slots)
        with mp.workprec(PRECISION):
            plain = Jets(n)
            right = Evaluation(program, point, plain).out
            self.overflowed = plain.overflowed
            moved = []
            for k in range(MOVED):
                jets = Jets(n, random.Random(f"{seed} {k}"))
                moved.append(Evaluation(program, point, jets).out)
                self.overflowed |= jets.overflowed
                if jets.choices != plain.choices or _turned(jets.angles, plain.angles):
                    raise Undecided
            places: list[Any] = [(), *[(i,) for i in range(n)], *plain.pairs]
            self.parts = {place: (mp.mpf(0) if r is None else r,
                                  _tolerance(r, [m[k] for m in moved]))
                          for k, (place, r) in enumerate(zip(places, right, strict=True))}


def _turned(moved: list[Any], angles: list[Any]) -> bool:
    """Whether a few units in the last place turn an angle: then anything may come of it."""
    return any(not abs(m - a) < 0.01 for m, a in zip(moved, angles, strict=True)
               if finite(m) and finite(a))


def _tolerance(right: Any, moved: list[Any]) -> Any:
    if right is None:
        return mp.mpf(0)
    if not finite(right) or not all(finite(m) for m in moved):
        return None
    return 16 * max(abs(m - right) for m in moved) + abs(right) * mp.mpf(2) ** -40 + SMALLEST


def answers(program: Drawn, point: Point) -> list[tuple[str, Any, float | None, list[str]]]:
    """(way, place, number, codes of the notes on it) of all that gradcli says."""
    text = program.text
    at = {n: v if isinstance(v, float) else list(v) for n, v in point.items()}
    parsed = Program(Source(text, "differential"))
    wrt = program.inputs
    starts = {}
    for name in wrt:
        starts[name] = len(starts) and sum(_size(point[w]) for w in wrt[:wrt.index(name)])
    found: list[tuple[str, Any, float | None, list[str]]] = []
    read = [n for n in wrt if n in parsed.names.inputs or n in parsed.names.early]
    at = {n: v for n, v in at.items() if n in read}
    if not read:
        return []
    for mode in MODES:
        question = Question(parsed, at=at, wrt=read, mode=mode)
        whole = first_order(question, "grad", "gradient", gradients)
        result = whole["results"][0]
        common = [n["code"] for n in result["notes"]]
        found.append(("value", (), result["value"], common))
        for source in result["sources"]:
            codes = common + [n["code"] for n in source["notes"]]
            for k, v in enumerate(_flat(source["gradient"], point[source["wrt"]])):
                found.append((f"grad {mode}", (starts[source["wrt"]] + k,), v, codes))
        whole = second_order(Question(parsed, at=at, wrt=read, mode=mode))
        result = whole["results"][0]
        common = [n["code"] for n in result["notes"]]
        for block in result["blocks"]:
            codes = common + [n["code"] for n in block["notes"]]
            m, n = _size(point[block["row"]]), _size(point[block["col"]])
            flat = _flattened(block["hessian"], m * n)
            for i in range(m):
                for j in range(n):
                    place = tuple(sorted((starts[block["row"]] + i, starts[block["col"]] + j)))
                    found.append((f"hess {mode}", place, flat[i * n + j], codes))
    return found


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


def _flat(g: Any, value: Any) -> list[Any]:
    return _flattened(g, _size(value))


def _flattened(g: Any, count: int) -> list[Any]:
    if g is None:
        return [None] * count
    if not isinstance(g, list):
        return [g]
    return [v for item in g for v in (_flattened(item, 1) if isinstance(item, list) else [item])]


def judged(ours: float | None, right: Any, tolerance: Any, codes: list[str]) -> str:
    """right, told, unsure (nothing is determined there), or wrong."""
    if tolerance is None:
        return "unsure"
    if ours is None:
        return "right" if right == 0 else "none"
    if type(ours) is str:
        ours = float(ours)
    if not finite(right):
        return "unsure"
    if math.isnan(ours):
        return "told NaN"
    if abs(right) + tolerance > LARGEST:
        fine = math.isinf(ours) or abs(mp.mpf(ours) - right) <= tolerance
        return "right" if fine else "told" if codes else "wrong"
    if math.isinf(ours):
        return "told inf" if codes else "wrong"
    if abs(mp.mpf(ours) - right) <= tolerance:
        return "right"
    return "told" if codes else "wrong"


class Finding:
    """One wrong number."""

    def __init__(self, program: Drawn, point: Point, way: str, place: Any, ours: Any,
                 right: Any, overflowed: bool) -> None:
        self.program = program
        self.point = point
        self.way = way
        self.place = place
        self.ours = ours
        self.right = mp.nstr(right, 8)
        self.overflowed = overflowed

    def __str__(self) -> str:
        at = ",".join(f"{n}={v!r}" for n, v in self.point.items())
        return (f"{self.program.text}\n    --at {at}  {self.way} {self.place}: {self.ours!r},"
                f" right {self.right}{'  [a value overflows]' if self.overflowed else ''}")


def compared(program: Drawn, point: Point, seed: str, counts: collections.Counter[str],
             ) -> Finding | None:
    """The first wrong number, if there is one. Raises Undecided, GradcliError."""
    reference = Reference(program, point, seed)
    worst = None
    for way, place, ours, codes in answers(program, point):
        right, tolerance = reference.parts[place]
        verdict = judged(ours, right, tolerance, codes)
        counts[f"{way.split()[0]} {verdict}"] += 1
        if verdict == "told" or verdict == "told inf":
            for code in set(codes):
                counts[f"note {code}"] += 1
        if verdict == "wrong" and worst is None:
            worst = Finding(program, point, way, place, ours, right, reference.overflowed)
    return worst


def shrunk(finding: Finding, seed: str) -> Finding:
    """The smallest program found that is wrong in the same kind of derivative."""
    tried, ended = 0, time.process_time() + 20
    better = True
    while better and time.process_time() < ended:
        better = False
        for program in finding.program.smaller():
            tried += 1
            if time.process_time() > ended:
                break
            try:
                found = compared(program, finding.point, seed, collections.Counter())
            except (Undecided, GradcliError, KeyError, IndexError):
                continue
            if found and found.way.split()[0] == finding.way.split()[0] and (
                    found.overflowed <= finding.overflowed):
                finding, better = found, True
                break
    return finding


def _alarm(*_: Any) -> None:
    raise TimeoutError


def one(seed: str) -> tuple[collections.Counter[str], str | None, str | None]:
    """Draw a program and a point where it has a value, and compare."""
    counts: collections.Counter[str] = collections.Counter()
    draw = random.Random(seed)
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        program = drawn_program(draw)
        for _ in range(8):
            point = drawn_point(draw, program.inputs)
            try:
                with mp.workprec(60):
                    value = Evaluation(program, point, Jets(0)).out[0]
            except Undecided:
                continue
            if finite(value) and abs(value) < LARGEST:
                break
        try:
            finding = compared(program, point, seed, counts)
        except Undecided:
            counts["programs at a kink"] += 1
            return counts, None, None
        except GradcliError as error:
            counts["programs refused"] += 1
            return counts, None, f"{error}\n{program.text}"
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            counts["programs crashed"] += 1
            at = ",".join(f"{n}={v!r}" for n, v in point.items())
            return counts, None, f"{program.text}\n    --at {at}\n{traceback.format_exc()}"
        counts["programs compared"] += 1
        if finding is None:
            return counts, None, None
        counts["programs wrong"] += 1
        if finding.overflowed:
            counts["programs wrong, a value overflows"] += 1
    except TimeoutError:
        counts["programs given up (mpmath too slow)"] += 1
        return counts, None, None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return counts, f"# {seed}\n{shrunk(finding, seed)}", None


def run(count: int, seed: int, jobs: int = 2, start: int = 0
        ) -> tuple[collections.Counter[str], list[str], list[str]]:
    counts: collections.Counter[str] = collections.Counter()
    wrong, refused = [], []
    seeds = [f"{seed}-{k}" for k in range(start, start + count)]
    with multiprocessing.Pool(jobs) as pool:
        for k, (c, finding, error) in enumerate(pool.imap_unordered(one, seeds, chunksize=8)):
            counts += c
            if finding:
                wrong.append(finding)
                print(finding, end="\n\n", flush=True)
            if error:
                refused.append(error)
            if sys.stderr.isatty() and k % 100 == 0:
                print(f"\r{k}/{count} {len(wrong)} wrong", end="", file=sys.stderr)
    return counts, wrong, refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    began = time.monotonic()
    counts, wrong, refused = run(given.count, given.seed, given.jobs, given.start)
    for error in refused[:10]:
        print("refused:", error)
    print()
    for name, n in sorted(counts.items()):
        print(f"{n:>9} {name}")
    print(f"{len(wrong)} of {given.count} programs wrong without a note;"
          f" {time.monotonic() - began:.0f} s")
    return 1 if wrong or refused else 0


if __name__ == "__main__":
    sys.exit(main())
