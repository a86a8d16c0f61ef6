"""Who does the blocks: this process, several on this machine, or a Dask cluster.

All are the `Executor` of `concurrent.futures`; a cluster gives one, too.
"""

from __future__ import annotations

from contextlib import contextmanager

from gradcli.errors import Diagnostic, GradcliError
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor
    from typing import Any

# How often a block is given to another worker when one is lost.
RETRIES = 3
# Seconds that a scheduler may take to answer.
PATIENCE = 10


@contextmanager
def pool(jobs: int, scheduler: str | None) -> Iterator[tuple[Executor | None, int]]:
    """An executor and how many blocks it does at once; None: this process does them.

    Raises E0617 where there is no such scheduler, or no Dask.
    """
    if scheduler is not None:
        with _cluster(scheduler) as found:
            yield found
    elif jobs > 1:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs, initializer=_quiet) as processes:
            try:
                yield processes, jobs
            except BaseException:
                processes.shutdown(wait=False, cancel_futures=True)
                raise
    else:
        yield None, 1


def _quiet() -> None:
    """An interrupt is for the process that the user sees."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _cluster(address: str) -> Iterator[tuple[Executor, int]]:
    try:
        from distributed import Client
    except ImportError:
        raise _unreachable(address, "Dask is not installed",
                           "pip install 'gradcli[cluster]'") from None
    try:
        client: Any = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as problem:
        raise _unreachable(
            address, f"no scheduler answers there: {str(problem).splitlines()[0]:.200}",
            "start one with `dask scheduler`, and workers with `dask worker`") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise _unreachable(address, "the scheduler has no workers",
                               f"start one with `dask worker {address}`")
        yield client.get_executor(retries=RETRIES, pure=False), workers


def _unreachable(address: str, why: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0617", why, span=(0, len(address)), source=Source(address, "--scheduler"), help=help))
