"""`--scheduler`: a Dask cluster answers as one process does, also when a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Ran, run
from folders import ROOT

from gradcli.cli import main
from gradcli.cli.environment import Environment

# Importing Dask warns about what it finds or not; none of that is ours.
pytestmark = pytest.mark.filterwarnings("default")

QUESTION = (
    "grad", "-e", "sin(x)*exp(-y^2) if x > 0 else x*y", "--points", "x=linspace(-1,1,1000)",
    "--points", "y=linspace(0,3,200)", "--format", "csv")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))     # for the workers
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
                      ) as found:
        yield found


def test_a_worker_that_is_killed_loses_nothing(cluster: object, tmp_path: Path,
                                               home: dict[str, str | None]) -> None:
    alone = tmp_path / "alone.csv"
    assert run(*command(), *QUESTION, "-o", str(alone), env=home).returncode == 0
    pids = [worker.process.pid for worker in cluster.workers.values()]  # type: ignore[attr-defined]
    killed = threading.Event()

    class Stream:
        """Kills a worker when the first answers come: others are under way then."""

        def __init__(self) -> None:
            self.buffer = self
            self.data: list[bytes] = []

        def write(self, data: bytes) -> int:
            if len(self.data) == 1:
                os.kill(pids[0], signal.SIGKILL)
                killed.set()
            self.data.append(data)
            return len(data)

        def flush(self) -> None:
            pass

        def isatty(self) -> bool:
            return False

    stream = Stream()
    status = main.run(
        [*QUESTION, "--scheduler", cluster.scheduler_address],  # type: ignore[attr-defined]
        Environment(stdout=stream))     # type: ignore[arg-type]
    assert status == 0
    assert killed.is_set()
    assert b"".join(stream.data) == alone.read_bytes()


def command() -> list[str]:
    import sys

    return [sys.executable, "-m", "gradcli"]


def test_without_dask_the_error_says_what_to_install(tmp_path: Path, home: dict[str, str | None]
                                                     ) -> None:
    # A folder in front of the path, with a package that cannot be imported.
    (tmp_path / "distributed.py").write_text("raise ImportError\n")
    env = {**home, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    ran: Ran = run(*command(), *QUESTION, "--scheduler", "tcp://127.0.0.1:1", env=env)
    assert ran.returncode == 3
    assert "error[E0617]" in ran.stderr
    assert "gradcli[cluster]" in ran.stderr
