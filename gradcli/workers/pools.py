"""The executor that the user asked for."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor


@contextmanager
def pool(jobs: int, scheduler: str | None) -> Iterator[tuple[Executor | None, int]]:
    """An executor and how many tasks it does at once; None: this process does them.

    Raises E0617 where there is no such scheduler, or no Dask.
    """
    if scheduler is not None:
        from gradcli.workers.cluster import cluster

        with cluster(scheduler) as found:
            yield found
    elif jobs > 1:
        from gradcli.workers.processes import processes

        with processes(jobs) as several:
            yield several, jobs
    else:
        yield None, 1
