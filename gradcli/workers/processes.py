"""Processes of this machine that do tasks, and end as soon as nobody waits for them.

The one that the user sees holds the end of a pipe. When it lets go of it, or ends, however it does,
the others end too, in the middle of a task. Only what is being sent is sent whole, for whoever
reads the half of it waits for the rest.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import Pipe
from threading import Lock, Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection
    from typing import Any

# Held by a worker while it does not work, when it may be sending an answer.
_sending = Lock()
# Seconds between looks at whether there is anybody left to send it to.
STEP = 0.5


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """So many processes, as an executor. What goes wrong within ends them at once."""
    life, held = Pipe(duplex=False)
    with life, held, _Processes(
            jobs, initializer=_worker, initargs=(life, held, os.getpid())) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            held.close()
            raise


class _Processes(ProcessPoolExecutor):
    """Workers may end while they work, not while they send."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        return super().submit(_working, work, *arguments, **named)


def _working(work: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    _sending.release()
    try:
        return work(*arguments, **named)
    finally:
        _sending.acquire()


def _worker(life: Connection, held: Connection, parent: int) -> None:
    """An interrupt is for the process that the user sees."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    held.close()
    _sending.acquire()
    Thread(target=_end_with, args=(life, parent), daemon=True).start()


def _end_with(life: Connection, parent: int) -> None:
    life.poll(None)
    while os.getppid() == parent and not _sending.acquire(timeout=STEP):
        pass
    os._exit(1)
