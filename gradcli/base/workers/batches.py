"""Batches of items through an executor: results in order, flat memory, and an item that kills a
process costs itself only. Items that are alike share one outcome, whichever process finds it.

Only `submit` of the executor is used, and `result`, `cancel` and `done` of its futures. The data
that a task needs besides its items is sent once to each process that does tasks.
"""

from __future__ import annotations

from collections import deque

from gradcli.base.errors import GradcliError
from gradcli.base.workers import child, guarded
from gradcli.base.workers.pools import helpless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any

    from gradcli.base.workers.guarded import Outcome

    Make = Callable[[Any], Callable[[Any], Any]]
    OnResult = Callable[[Sequence[Any], list[Outcome]], None]
    # The outcome of an item, and of all that are alike, once it is there.
    Place = list[Outcome]

# Batches that each worker may be ahead.
AHEAD = 4
# Payloads that a process keeps, of several runs on one cluster.
KEPT = 8
# Outcomes that are kept for items that come again, and characters of what these are told by.
OUTCOMES, CHARACTERS = 16_384, 4_000_000

_payloads: dict[str, Any] = {}


class Job:
    """The work to do on items: make(payload)(sent(item)) is the result for an item. `make` is
    imported by its name where that is done, `sent` is called here. key: equal for equal payloads
    only. alike: equal texts for items that have the same outcome, which is found once, in several
    calls of `run_batches` too.
    """

    __slots__ = ("key", "known", "make", "payload", "sent")

    def __init__(self, make: Make, payload: Any, key: str,
                 sent: Callable[[Any], Any] = lambda item: item,
                 alike: Callable[[Any], str] | None = None) -> None:
        self.make = make
        self.payload = payload
        self.key = key
        self.sent = sent
        self.known = _Outcomes(alike)


class _Outcomes:
    """The places of the outcomes of the latest items, by what items that are alike have in common.
    """

    __slots__ = ("alike", "characters", "places")

    def __init__(self, alike: Callable[[Any], str] | None) -> None:
        self.alike = alike
        self.characters = 0
        self.places: dict[str, Place] = {}

    def of(self, batch: Sequence[Any]) -> tuple[list[Place], list[int]]:
        """Return the places of the outcomes of a batch, and which of its items are to be done."""
        if self.alike is None:
            return [[] for _ in batch], [*range(len(batch))]
        found: list[Place] = []
        new = []
        for k, item in enumerate(batch):
            text = self.alike(item)
            place = self.places.pop(text, None)
            if place is None:
                place = []
                new.append(k)
                self.characters += len(text)
            self.places[text] = place       # the last to be dropped
            found.append(place)
        while len(self.places) > OUTCOMES or self.characters > CHARACTERS:
            oldest = next(iter(self.places))
            del self.places[oldest]
            self.characters -= len(oldest)
        return found, new


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
            places, new = job.known.of(batch)
            for k in new:
                places[k].append(child.attempt(work, job.sent(batch[k])))
            on_result(batch, [place[0] for place in places])
        return
    _Run(executor, job, on_result).all(batches, AHEAD * workers)


class _Run:
    __slots__ = ("executor", "good", "job", "on_result", "running")

    def __init__(self, executor: Executor, job: Job, on_result: OnResult) -> None:
        self.executor = executor
        self.job = job
        self.on_result = on_result
        # Batches, the places of their outcomes, and the future of those items that are to be done.
        self.running: deque[tuple[Sequence[Any], list[Place], list[int],
                                  Future[list[Outcome] | None] | None]] = deque()
        self.good = False       # whether any task has ever come back

    def all(self, batches: Iterable[Sequence[Any]], ahead: int) -> None:
        try:
            for batch in batches:
                places, new = self.job.known.of(batch)
                self.running.append((batch, places, new, self.submit(
                    [batch[k] for k in new]) if new else None))
                if len(self.running) >= ahead:
                    self.first()
            while self.running:
                self.first()
        except BaseException as problem:
            for *_, future in self.running:
                if future is not None:
                    future.cancel()
            if isinstance(problem, KeyboardInterrupt):
                self.finished()
            raise

    def submit(self, items: Sequence[Any], payload: Any = None) -> Future[list[Outcome] | None]:
        try:
            return self.executor.submit(task, self.job.make, self.job.key, payload,
                                        [self.job.sent(item) for item in items])
        except (RuntimeError, OSError) as problem:
            raise helpless(problem) from None

    def first(self) -> None:
        """Wait for the oldest batch and hand over its outcomes."""
        batch, places, new, future = self.running[0]
        if future is not None:
            items = [batch[k] for k in new]
            try:
                outcomes = self.outcomes(items, future)
            except GradcliError:
                raise
            except Exception as problem:
                outcomes = self.singly(items, problem)
            self.good = True
            for k, outcome in zip(new, outcomes, strict=True):
                places[k].append(outcome)
        self.running.popleft()
        self.on_result(batch, [place[0] for place in places])

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

    def finished(self) -> None:
        """Hand over the batches that have ended."""
        for batch, places, new, future in self.running:
            if future is not None and future.done() and not future.cancelled() \
                    and future.exception() is None:
                for k, outcome in zip(new, future.result() or (), strict=False):
                    places[k].append(outcome)
            if all(places):
                self.on_result(batch, [place[0] for place in places])

