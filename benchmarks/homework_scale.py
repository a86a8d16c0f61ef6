"""A large class: 1,000 students answer 100 problems each, checked by `gradcli hw run` on two cores.

    python benchmarks/homework_scale.py [--students N] [--jobs N] [--wrong SHARE] [--write]

The answers are made of those of tests/data/homework, the same each time: three in five are right, a
third is wrong, some are blank or cannot be read. Half of them are typed as somebody else types
them, too; the others have spaces, brackets, a left side or a number of their own. Time and memory
are those of the whole command, from a cold start to all files of results; memory is what the system
counts as resident, summed over the processes (what they share counts once) ten times a second.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.harness import report
from benchmarks.harness.case import ROOT

PAIRS = ROOT / "tests" / "data" / "homework" / "pairs.ndjson"
TITLE = "A large class"
PROBLEMS = 100
UNREADABLE = ("2x +", "idk", "x^^2", "3x(", "the derivative of f", "2,5x", ")x(", "sin", "x = = 2")
FIELDS = ("kind", "function", "wrt", "at", "order", "dependent", "direction", "parameters",
          "tolerance", "domain", "log")

Pair = dict[str, Any]


def problems() -> list[list[Pair]]:
    """The pairs of each problem, of those that have right and wrong answers."""
    found: dict[str, list[Pair]] = {}
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        key = json.dumps([pair.get(name) for name in FIELDS])
        found.setdefault(key, []).append(pair)
    usable = [pairs for pairs in found.values()
              if {"correct", "wrong"} <= {pair["verdict"] for pair in pairs}]
    step = len(usable) / PROBLEMS
    return [usable[int(k * step)] for k in range(PROBLEMS)]


def sheet(asked: list[list[Pair]]) -> str:
    lines = ["schema = 1", "[sheet]", 'id = "scale"', 'title = "A large class"']
    for number, pairs in enumerate(asked, 1):
        lines += ["[[problem]]", f'id = "p{number}"']
        for name in FIELDS:
            if (value := pairs[0].get(name)) is not None:
                lines.append(f"{name} = {toml(value)}")
    return "\n".join(lines) + "\n"


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(v)}" for name, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def answer(pairs: list[Pair], draw: random.Random) -> str:
    """What one student types."""
    share = draw.random()
    if share < 0.04:
        return ""
    if share < 0.07:
        return draw.choice(UNREADABLE)
    wanted = "correct" if share < 0.67 else "wrong"
    text = str(draw.choice([pair for pair in pairs if pair["verdict"] == wanted])["answer"])
    return text if draw.random() < 0.5 else varied({**pairs[0], "answer": text, "verdict": wanted},
                                                   draw)


def varied(pair: Pair, draw: random.Random) -> str:
    """An answer as somebody types it in another way."""
    text, wanted, pairs = str(pair["answer"]), pair["verdict"], [pair]
    if "=" in text:
        return text
    way = draw.randrange(5)
    if way == 0:
        return f"f'(x) = {text}"
    if way == 1:
        return text.replace("+", " + ").replace("*", " * ").replace("/", "/ ")
    if pairs[0]["kind"] in ("derivative", "partial") and way == 2:
        k = draw.randint(2, 99)
        return f"{k}({text})" if wanted == "wrong" else f"{k}({text})/{k}"
    if pairs[0]["kind"] in ("derivative", "partial") and way == 3:
        k = draw.randint(2, 99)
        return f"({text}) + {k}" if wanted == "wrong" else f"({text}) + {k} - {k}"
    return f"{text} "


RANKS, EXPONENT = 120, 1.0
"""Different answers of each verdict that students may choose from, and how the share of one falls
with its rank: of 100,000 answers some 16,000 are different.
"""


class Repeated:
    """Answers to a problem that repeat as in a class, by Zipf: the second most frequent of a
    verdict is half as frequent as the first one, the third a third.
    """

    def __init__(self, pairs: list[Pair], wrong: float) -> None:
        draw = random.Random(len(pairs[0]["function"]))
        self.wrong = wrong
        self.texts = {}
        for verdict in ("correct", "wrong"):
            own = [pair for pair in pairs if pair["verdict"] == verdict]
            texts = dict.fromkeys(str(pair["answer"]) for pair in own)
            for _ in range(4 * RANKS):
                if len(texts) < RANKS:
                    texts[varied(draw.choice(own), draw)] = None
            self.texts[verdict] = list(texts)
        self.weights = {verdict: list(itertools.accumulate(
            (k + 1) ** -EXPONENT for k in range(len(texts)))) for verdict, texts
            in self.texts.items()}

    def answer(self, draw: random.Random) -> str:
        share = draw.random()
        if share < 0.04:
            return "" if share < 0.02 else draw.choice(UNREADABLE)
        verdict = "wrong" if share < 0.04 + self.wrong else "correct"
        return draw.choices(self.texts[verdict], cum_weights=self.weights[verdict])[0]


def write(folder: Path, students: int, wrong: float | None) -> tuple[int, int]:
    """The sheet and the answers; how many answers, and how many different ones."""
    asked = problems()
    repeated = [Repeated(pairs, wrong) for pairs in asked] if wrong is not None else []
    (folder / "sheet.toml").write_text(sheet(asked), encoding="utf-8")
    draw = random.Random(20261122)
    different: set[tuple[int, str]] = set()
    for k in range(students):
        home = folder / "submissions" / f"s{k:04d}"
        home.mkdir(parents=True)
        typed = [one.answer(draw) for one in repeated] or [answer(pairs, draw) for pairs in asked]
        different.update(enumerate(typed))
        (home / "answers.txt").write_text(
            "".join(f"p{n}: {text}\n" for n, text in enumerate(typed, 1)), encoding="utf-8")
    return students * len(asked), len(different)


# ---- memory --------------------------------------------------------------------------------------


def family(pid: int) -> list[int]:
    """A process and all that come from it."""
    found = [pid]
    for known in found:
        for task in Path(f"/proc/{known}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def megabytes(pid: int) -> tuple[float, float]:
    """What the processes hold together, and the largest of them."""
    together = largest = 0
    for process in family(pid):
        try:
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name == "Pss":
                    together += int(rest.split()[0])
                elif name == "Rss":
                    largest = max(largest, int(rest.split()[0]))
        except OSError:  # it has ended meanwhile
            pass
    return together / 1024, largest / 1024


def watched(argv: list[str]) -> tuple[float, float, float]:
    """Seconds, megabytes together and of the largest process of a command."""
    together = largest = 0.0
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT)})
    while True:
        try:
            _, errors = process.communicate(timeout=0.1)
            break
        except subprocess.TimeoutExpired:
            try:
                one, other = megabytes(process.pid)
            except OSError:
                continue
            together, largest = max(together, one), max(largest, other)
    seconds = time.perf_counter() - began
    if process.returncode not in (0, 1):
        raise SystemExit(f"exit status {process.returncode}: {errors.strip()[-500:]}")
    return seconds, together, largest


def measured(students: int, jobs: int, wrong: float | None) -> str:
    folder = Path(tempfile.mkdtemp(prefix="gradcli-class-"))
    try:
        count, different = write(folder, students, wrong)
        argv = [sys.executable, "-m", "gradcli", "hw", "run", str(folder / "sheet.toml"),
                str(folder / "submissions"), "-o", str(folder / "results"), "-j", str(jobs),
                "--format", "plain"]
        rows = []
        for name in ("all of them", "again, nothing changed"):
            seconds, together, largest = watched(argv)
            rows.append([name, f"{seconds:.1f} s", f"{count/seconds:,.0f}", f"{together:.0f} MB",
                         f"{largest:.0f} MB"])
        verdicts: dict[str, int] = {}
        with open(folder / "results" / "results.ndjson", encoding="utf-8") as results:
            for line in results:
                verdict = json.loads(line)["verdict"]
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
    finally:
        shutil.rmtree(folder)
    told = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(verdicts.items()))
    return (f"{time.strftime('%Y-%m-%d')}, {report.machine()}: {count:,} answers of {students:,}"
            f" students to {PROBLEMS} problems, {different:,} of them different; `gradcli hw run"
            f" -j {jobs}`, the whole command (`benchmarks/homework_scale.py`). Verdicts: {told}."
            "\n\n" + report.table(["", " time", " answers a second", " memory, all processes",
                                   " the largest process"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--students", type=int, default=1000, help="(default 1000)")
    parser.add_argument("--jobs", type=int, default=2, help="(default 2)")
    parser.add_argument("--wrong", type=float, help="the share of wrong answers; drawn by Zipf")
    parser.add_argument("--write", action="store_true", help="into benchmarks/results.md, too")
    given = parser.parse_args()
    text = measured(given.students, given.jobs, given.wrong)
    print(text)
    if given.write:
        report.write_section(ROOT / "benchmarks" / "results.md", TITLE, text)


if __name__ == "__main__":
    main()
