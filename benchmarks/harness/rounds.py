"""One case: its engines are made ready one after the other, then take turns, round by round."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.harness.case import Case, Command, Place, Side, Worker
from benchmarks.harness.compare import alone
from benchmarks.harness.engines import PROGRAMS, Engines
from benchmarks.harness.processes import CommandProcess, Failure, WorkerProcess


class Result:
    """Of one case. figures: side -> one figure for each round. missing: side -> what is not
    installed. failed: side -> why. wrong: sides whose numbers are not those of the others.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.figures: dict[str, list[float]] = {}
        self.missing: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.wrong: list[str] = []

    def median(self, side: str) -> float | None:
        figures = self.figures.get(side)
        return statistics.median(figures) if figures else None

    def ratio(self, ours: str, peer: str) -> float | None:
        a, b = self.median(ours), self.median(peer)
        return None if a is None or b is None else a/b


@contextmanager
def bound(cores: int) -> Iterator[None]:
    """Bound to the last so many of the cores at hand, with all processes started meanwhile."""
    if not hasattr(os, "sched_setaffinity"):
        print("this system does not bind processes to cores", file=sys.stderr)
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[-cores:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run(case: Case, engines: Engines, rounds: int, minimum: float) -> Result:
    """minimum: seconds that a round of one worker lasts, by repetition."""
    result = Result(case)
    rounds = min(rounds, case.rounds or rounds)
    with ExitStack() as stack:
        programs: list[tuple[Side, str]] = []
        for side in case.sides:
            if path := engines.program(side.needs):
                programs.append((side, path))
            else:
                result.missing[side.name] = side.needs
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gradcli-bench-")))
        if case.prepare:
            case.prepare(folder)
        stack.enter_context(bound(case.cores))
        running: dict[str, WorkerProcess | CommandProcess] = {}
        for side, path in programs:
            try:
                running[side.name] = started(case, side, path, folder, minimum)
            except Failure as failure:
                result.failed[side.name] = str(failure)
            else:
                stack.callback(running[side.name].close)
        result.wrong = alone({n: p.answer for n, p in running.items() if p.answer}, case.tolerance)
        for _ in range(rounds):
            for name in [n for n in running if n not in result.failed]:
                try:
                    result.figures.setdefault(name, []).append(running[name].round())
                except Failure as failure:
                    result.failed[name] = str(failure)
                    result.figures.pop(name, None)
    return result


def started(case: Case, side: Side, path: str, folder: Path, minimum: float
            ) -> WorkerProcess | CommandProcess:
    print(f"  {side.name}", file=sys.stderr, flush=True)
    if isinstance(side, Worker):
        # One that talks to a program does so from the running Python.
        path = sys.executable if side.needs in PROGRAMS else path
        return WorkerProcess(case, side, Place(path, folder), minimum)
    assert isinstance(side, Command)
    return CommandProcess(case, side, Place(path, folder))
