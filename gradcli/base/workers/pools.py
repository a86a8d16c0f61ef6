"""The executor that the user asked for."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor


@contextmanager
def pool(jobs: int, scheduler: str | None, guarded: bool = False
         ) -> Iterator[tuple[Executor | None, int]]:
    """Yield an executor and the number of tasks it does at once; None: this process does them.

    guarded: the tasks call `gradcli.base.workers.guarded.run`, which brings processes of its own.

    Raises E0617 where there is no such scheduler, or no Dask.
    """
    if scheduler is not None:
        from gradcli.base.workers.cluster import cluster

        with cluster(scheduler) as found:
            yield found
    elif jobs > 1 and guarded:
        from gradcli.base.workers.guarded import guards

        with guards(jobs) as threads:
            yield threads, jobs
    elif jobs > 1:
        from gradcli.base.workers.processes import processes

        with processes(jobs) as several:
            yield several, jobs
    else:
        yield None, 1
