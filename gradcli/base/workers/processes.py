"""Processes of this machine that do tasks, and end as soon as nobody waits for them.

They are those of `gradcli.base.workers.guarded` without its limits: one that is killed is replaced,
and its task begun again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from gradcli.base.errors import error
from gradcli.base.workers import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any

    Task = tuple[Callable[..., Any], Sequence[Any]]


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Yield an executor of `jobs` processes; an exception in the block ends them at once."""
    with guarded.guards(jobs, _Processes, limited=False) as executor:
        yield executor


class _Processes(ThreadPoolExecutor):
    """Threads, each of which hands its tasks to a process."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        assert not named
        return super().submit(_elsewhere, work, arguments)


def _elsewhere(work: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Run a task in the process of this thread. Raises what it raises, and E0738 if that dies."""
    try:
        ((done, found),) = guarded.run(_doer, "task", None, [(work, arguments)])
    except guarded.Lost as lost:
        done, found = False, str(lost)
    if not done:
        raise error("E0738", f"a process of --jobs cannot do its part: {found}", (0, 0),
                    "ask for fewer --jobs; what works on much data at once may lack memory")
    result, problem = found
    if problem is not None:
        raise problem
    return result


def _doer(payload: None) -> Callable[[Task], tuple[Any, Exception | None]]:
    """Return the function that runs a task in a process: (its result, None), or (None, error)."""
    def do(task: Task) -> tuple[Any, Exception | None]:
        work, arguments = task
        try:
            return work(*arguments), None
        except Exception as problem:
            return None, problem

    return do
