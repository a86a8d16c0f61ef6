"""The executor that the user asked for: none, processes of this machine, or a Dask cluster."""

from __future__ import annotations

import re
from contextlib import contextmanager

from gradcli.base.errors import Diagnostic, GradcliError, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor
    from typing import Any


@contextmanager
def pool(jobs: int, scheduler: str | None, guarded: bool = False
         ) -> Iterator[tuple[Executor | None, int]]:
    """Yield an executor and the number of tasks it does at once; None: this process does them.

    guarded: the tasks call `gradcli.base.workers.guarded.run`, which brings processes of its own.

    Raises E0617 where there is no such scheduler, or no Dask.
    """
    if scheduler is not None:
        with cluster(scheduler) as found:
            yield found
    elif jobs > 1 and guarded:
        from gradcli.base.workers.guarded import guards

        with guards(jobs) as threads:
            yield threads, jobs
    elif jobs > 1:
        from gradcli.base.workers.guarded import processes

        with processes(jobs) as several:
            yield several, jobs
    else:
        yield None, 1


# The number of times that a task is given to another worker when one is lost.
RETRIES = 3
# Seconds that a scheduler may take to answer.
PATIENCE = 10
ADDRESS = re.compile(r"(?:tcp|tls|ucx|wss?)://(?:\[[^]\s]+\]|[^:/\s]+):\d{1,5}")


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Connect to a scheduler; yield an executor and the number of tasks it does at once.

    Raises E0617 where there is no such scheduler, or no Dask.
    """
    import asyncio

    try:
        from distributed import Client
    except ImportError:
        raise _unreachable(address, "Dask is not installed",
                           "pip install 'gradcli[cluster]'") from None
    if ADDRESS.fullmatch(address) is None:
        raise _unreachable(address, "that is no address of a scheduler",
                           "give one such as tcp://host:8786")
    # A client that cannot connect takes 20 seconds to be collected, and complains then. What goes
    # wrong is up to the protocol: one that is not installed, or has no certificate, is a TypeError.
    try:
        asyncio.run(_connected(address))
        client: Any = Client(address, timeout=PATIENCE, set_as_default=False)
    except Exception as problem:
        why = (str(problem) or type(problem).__name__).splitlines()[0]
        raise _unreachable(
            address, f"no scheduler answers there: {why:.200}",
            "start one with `dask scheduler`, and workers with `dask worker`") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise _unreachable(address, "the scheduler has no workers",
                               f"start one with `dask worker {address}`")
        yield client.get_executor(retries=RETRIES, pure=False), workers


async def _connected(address: str) -> None:
    """Connect to a scheduler with the settings of Dask, and disconnect."""
    from distributed.comm.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=PATIENCE, **Security().get_connection_args("client"))
    await comm.close()


def _unreachable(address: str, why: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0617", why, span=(0, len(address)), source=Source(address, "--scheduler"), help=help))


def helpless(problem: Exception) -> GradcliError:
    """Return E0738 for the exception of an executor that has lost its workers."""
    why = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return GradcliError(Diagnostic(
        "E0738", f"no worker can do the work: {why:.200}",
        help="workers of a cluster need the same version of gradcli as this machine"))
