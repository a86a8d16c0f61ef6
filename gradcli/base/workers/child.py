"""The worker process that may be killed: it does one item after another.

It reads pickled messages from standard input: ("setup", key, make, payload), answered by None or by
the exception; ("items", key, items), answered by lists of (True, result) or (False, reason), until
there is one for each item. Before each item a byte goes to standard error, which is a file: its
size tells at which item a process died that cannot tell any more.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from threading import Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    Work = Callable[[Any], Any]

# Seconds of work whose results are kept back before they are sent.
SEND = 0.05
# Seconds between looks at whether there is anybody left to work for.
STEP = 0.5
MAX_MEMORY = 1024 ** 3
# Setups that are kept, of several runs on one cluster.
KEPT = 4


def main(parent: int, limited: bool = True) -> None:
    """Answer messages until standard input or the process `parent` ends. limited: in memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)    # it is for the process that the user sees
    incoming = sys.stdin.buffer
    outgoing = os.fdopen(os.dup(1), "wb")
    progress = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)      # for what libraries print
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    if limited:
        _limit_memory()
    works: dict[str, Work] = {}
    while True:
        try:
            kind, key, *rest = pickle.load(incoming)
            if kind == "setup":
                answer = _setup(works, key, *rest)
            else:
                _items(works[key], rest[0], progress, outgoing)
                continue
            _send(answer, outgoing)
        except (EOFError, OSError):
            return


def _setup(works: dict[str, Work], key: str, make: Callable[[Any], Work], payload: Any
           ) -> Exception | None:
    while len(works) >= KEPT:
        del works[next(iter(works))]
    try:
        works[key] = make(payload)
    except Exception as problem:
        try:
            pickle.loads(pickle.dumps(problem))
        except Exception:
            return RuntimeError(f"{type(problem).__name__}: {problem}")
        return problem
    return None


def _items(work: Work, items: list[Any], progress: int, outgoing: BinaryIO) -> None:
    results: list[tuple[bool, Any]] = []
    sent = time.monotonic()
    for item in items:
        os.write(progress, b".")
        results.append(attempt(work, item))
        now = time.monotonic()
        if now - sent > SEND:
            _send(results, outgoing)
            results, sent = [], now
    if results:
        _send(results, outgoing)


def attempt(work: Work, item: Any) -> tuple[bool, Any]:
    """Return (True, result of an item), or (False, reason)."""
    try:
        return True, work(item)
    except MemoryError:
        return False, "it takes too much memory"
    except Exception as problem:
        return False, f"{type(problem).__name__}: {str(problem)[:200]}"


def _send(answer: Any, outgoing: BinaryIO) -> None:
    pickle.dump(answer, outgoing, 5)
    outgoing.flush()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(STEP)
    os._exit(1)


def _limit_memory() -> None:
    """Limit the address space to MAX_MEMORY bytes, where the system can."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = MAX_MEMORY if hard == resource.RLIM_INFINITY else min(MAX_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
