"""Processes that take part in rounds: workers that wait to be told, and commands run each time."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import tempfile
import threading
import time
from typing import Any

from benchmarks.harness.case import ROOT, Case, Command, Place, Worker
from benchmarks.harness.compare import Digest, digest

LIMIT = 600.0  # seconds that building, or one round, may take

THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


class Failure(Exception):
    """An engine did not answer."""


def surroundings(cores: int) -> dict[str, str]:
    """The environment of a process that is bound to so many cores."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "XLA_FLAGS", *THREADS)}
    env.update(TERM="xterm-256color", COLUMNS="80", LINES="24", TF_CPP_MIN_LOG_LEVEL="3",
               TF_ENABLE_ONEDNN_OPTS="0", JAX_PLATFORMS="cpu", PYTHONWARNINGS="ignore")
    env.update(dict.fromkeys(THREADS, str(cores)))
    if cores == 1:
        env["XLA_FLAGS"] = XLA
    return env


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


class WorkerProcess:
    """A worker that has built what it times. Raises `Failure`."""

    def __init__(self, case: Case, side: Worker, place: Place, minimum: float) -> None:
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(
            [place.program, "-m", "benchmarks.harness.worker", case.key, side.name, str(minimum)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            cwd=place.folder, env={**surroundings(case.cores), "PYTHONPATH": str(ROOT)})
        try:
            ready = self._heard()
        except BaseException:
            self.close()
            raise
        self.answer: list[Digest] = [(n, values, size) for n, values, size in ready["answer"]]

    def round(self) -> float:
        assert self.process.stdin
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failure("it ended") from None
        return float(self._heard()["figure"])

    def _heard(self) -> dict[str, Any]:
        """The next line of the worker."""
        assert self.process.stdout
        alarm = threading.Timer(LIMIT, self.process.kill)
        alarm.start()
        line = self.process.stdout.readline()
        late = not alarm.is_alive()
        alarm.cancel()
        if not line:
            self.errors.seek(0)
            raise Failure(f"took longer than {LIMIT:.0f} s" if late
                          else last_line(self.errors.read()))
        heard: dict[str, Any] = json.loads(line)
        return heard

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()


class CommandProcess:
    """A command that is run anew in each round; twice to warm up: files into the page cache, tables
    into the user's. Raises `Failure`.
    """

    def __init__(self, case: Case, side: Command, place: Place) -> None:
        self.case = case
        self.side = side
        self.place = place
        self.argv = side.argv(place)
        self.answer: list[Digest] = []
        for _ in range(0 if case.rounds == 1 else 2):
            _, _, output = self._run()
            if side.read:
                self.answer = digest(side.read(output, place.folder))

    def round(self) -> float:
        seconds, megabytes, _ = self._run()
        return megabytes if self.case.unit == "MB" else seconds

    def _run(self) -> tuple[float, float, str]:
        """Seconds from start to end, megabytes at its largest, and what it wrote."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            ours, theirs = pty.openpty() if self.side.terminal else os.pipe()
            began = time.perf_counter()
            process = subprocess.Popen(
                self.argv, stdin=theirs if self.side.terminal else subprocess.DEVNULL,
                stdout=theirs, stderr=theirs if self.side.terminal else errors,
                cwd=self.place.folder, env=surroundings(self.case.cores))
            os.close(theirs)
            output = b""
            try:
                while piece := os.read(ours, 1 << 16):
                    output += piece
            except OSError:  # how Linux says that the other side of a terminal is closed
                pass
            os.close(ours)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            text = output.decode(errors="replace")
            if process.returncode:
                errors.seek(0)
                raise Failure(last_line(errors.read() or text))
            return seconds, usage.ru_maxrss/1024, text

    def close(self) -> None:
        pass
