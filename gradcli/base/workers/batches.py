"""Batches of items through an executor: results in order, flat memory, and an item that kills a
process costs itself only.

Only `submit` of the executor is used, and `result`, `cancel` and `done` of its futures. The data
that a task needs besides its items is sent once to each process that does tasks.
"""

from __future__ import annotations

from collections import deque

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.base.workers import child, guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any

    from gradcli.base.workers.guarded import Outcome

    Make = Callable[[Any], Callable[[Any], Any]]
    OnResult = Callable[[Sequence[Any], list[Outcome]], None]

# Batches that each worker may be ahead.
AHEAD = 4
# Payloads that a process keeps, of several runs on one cluster.
KEPT = 8

_payloads: dict[str, Any] = {}


class Job:
    """The work to do on items: make(payload)(sent(item)) is the result for an item. `make` is
    imported by its name where that is done, `sent` is called here. key: equal for equal payloads
    only.
    """

    __slots__ = ("key", "make", "payload", "sent")

    def __init__(self, make: Make, payload: Any, key: str,
                 sent: Callable[[Any], Any] = lambda item: item) -> None:
        self.make = make
        self.payload = payload
        self.key = key
        self.sent = sent


def task(make: Make, key: str, payload: Any, items: Sequence[Any]) -> list[Outcome] | None:
    """Run one batch in a worker of the executor.

    payload: None if it should be known there already; the result is None if it is not.
    """
    if payload is not None:
        while len(_payloads) >= KEPT:
            del _payloads[next(iter(_payloads))]
        _payloads[key] = payload
    known = _payloads.get(key)
    return None if known is None else guarded.run(make, key, known, items)


def run_batches(executor: Executor | None, workers: int, job: Job,
                batches: Iterable[Sequence[Any]], on_result: OnResult) -> None:
    """Call `on_result(batch, outcomes)` for each batch, in their order. An outcome is (True,
    result), or (False, reason) where there is none.

    executor: None: this process does it, without a limit on the time or memory of an item. workers:
    the number of batches that the executor does at once.

    An interruption cancels the batches that have not begun, and hands over those that have ended
    first. Raises what `job.make` does, and E0738 where no worker can do anything.
    """
    if executor is None:
        work = job.make(job.payload)
        for batch in batches:
            on_result(batch, [child.attempt(work, job.sent(item)) for item in batch])
        return
    _Run(executor, job).all(batches, AHEAD * workers, on_result)


class _Run:
    __slots__ = ("executor", "good", "job", "running")

    def __init__(self, executor: Executor, job: Job) -> None:
        self.executor = executor
        self.job = job
        self.running: deque[tuple[Sequence[Any], Future[list[Outcome] | None]]] = deque()
        self.good = False       # whether any task has ever come back

    def all(self, batches: Iterable[Sequence[Any]], ahead: int, on_result: OnResult) -> None:
        try:
            for batch in batches:
                self.running.append((batch, self.submit(batch)))
                if len(self.running) >= ahead:
                    self.first(on_result)
            while self.running:
                self.first(on_result)
        except BaseException as problem:
            for _, future in self.running:
                future.cancel()
            if isinstance(problem, KeyboardInterrupt):
                self.finished(on_result)
            raise

    def submit(self, items: Sequence[Any], payload: Any = None) -> Future[list[Outcome] | None]:
        try:
            return self.executor.submit(task, self.job.make, self.job.key, payload,
                                        [self.job.sent(item) for item in items])
        except (RuntimeError, OSError) as problem:
            raise helpless(problem) from None

    def first(self, on_result: OnResult) -> None:
        """Wait for the oldest batch and hand over its outcomes."""
        batch, future = self.running[0]
        try:
            outcomes = self.outcomes(batch, future)
        except GradcliError:
            raise
        except Exception as problem:
            outcomes = self.singly(batch, problem)
        self.good = True
        self.running.popleft()
        on_result(batch, outcomes)

    def outcomes(self, items: Sequence[Any], future: Future[list[Outcome] | None]
                 ) -> list[Outcome]:
        found = future.result()
        if found is None:
            found = self.submit(items, self.job.payload).result()
        assert found is not None
        return found

    def singly(self, batch: Sequence[Any], problem: Exception) -> list[Outcome]:
        """Run the items of a batch that did not come back, one by one. problem: its exception."""
        outcomes: list[Outcome] = []
        lost = 0
        for item in batch:
            try:
                outcomes += self.outcomes([item], self.submit([item]))
            except GradcliError:
                raise
            except Exception as again:
                problem = again
                outcomes.append((False, guarded.DIED))
                lost += 1
        if lost == len(batch) and (lost > 1 or not self.good):
            raise helpless(problem)
        return outcomes

    def finished(self, on_result: OnResult) -> None:
        """Hand over the batches that have ended."""
        for batch, future in self.running:
            if future.done() and not future.cancelled() and future.exception() is None:
                found = future.result()
                if found is not None:
                    on_result(batch, found)


def helpless(problem: Exception) -> GradcliError:
    """Return E0738 for the exception of an executor that has lost its workers."""
    why = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return GradcliError(Diagnostic(
        "E0738", f"no worker can do the work: {why:.200}",
        help="workers of a cluster need the same version of gradcli as this machine"))
