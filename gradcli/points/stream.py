"""Blocks of rows through a job, in order, with bounded memory, on one process or many."""

from __future__ import annotations

from collections import deque
from itertools import chain

from gradcli.points.job import Done, first_layout, likely_layout, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from gradcli.points.job import Job
    from gradcli.points.table import Block

# Blocks that each worker may be ahead: enough to be busy, few enough to hold.
AHEAD = 2


def prepared(job: Job, blocks: Iterable[Block]) -> Iterator[Block]:
    """The same blocks, once the first point that can be answered has told what an answer looks
    like: `job.layout`, which stays None where no point can.
    """
    rest = iter(blocks)
    seen = []
    for block in rest:
        seen.append(block)
        job.layout = first_layout(job, block)
        if job.layout is not None:
            break
    if not seen:
        job.layout = likely_layout(job)
    return chain(seen, rest)


def done(job: Job, blocks: Iterable[Block], pool: Executor | None, workers: int
         ) -> Generator[Done]:
    """Each block done, in the order of the blocks.

    pool: anything with the interface of `concurrent.futures`; None: this process.
    """
    if pool is None:
        for block in blocks:
            yield work(job, block)
        return
    running: deque[Future[Done]] = deque()
    for block in blocks:
        running.append(pool.submit(work, job, block))
        if len(running) > AHEAD * workers:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()
