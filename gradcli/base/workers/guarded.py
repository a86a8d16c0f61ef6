"""Work on items that nobody trusts: each in a process that is killed when it takes too long.

An item that kills its process costs itself alone: it is found by the size of a file to which the
process writes a byte for each item, so the process need not be able to report it. A thread watches
that size and kills. `run` may be called from threads here, processes, or Dask's workers, which must
not have children of `multiprocessing`. The processes of `--jobs` are the same without limits.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from gradcli.base.errors import error
from gradcli.base.workers import child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any

    Outcome = tuple[bool, Any]
    Task = tuple[Callable[..., Any], Sequence[Any]]


# Seconds for an item, and for everything else that a process may be asked to do.
LIMIT = 2.0
SETUP = 60.0
# Seconds between looks at a process.
STEP = 0.1
# Seconds after which a process that has nothing to do ends.
IDLE = 60.0
# So often may a process die, but not at an item, before nobody tries again.
DEATHS = 3
TOO_LONG = f"it takes longer than {LIMIT:g} seconds"
DIED = "the process that works on it dies"


class Lost(Exception):
    """The error that processes die without an item to blame, or that the guard was closed."""


class Guarded:
    """One process at a time, and the setups it knows. limited: in time and memory of an item."""

    def __init__(self, limited: bool = True) -> None:
        self.closed = False
        self._limited = limited
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._progress: Any = None
        self._keys: set[str] = set()
        self._working = False
        # For the thread that watches: time of the last progress, sizes of the progress file.
        self._since = 0.0
        self._size = 0
        self._base = 0
        self._killed_at: int | None = None

    def run(self, make: Callable[[Any], Callable[[Any], Any]], key: str, payload: Any,
            items: Sequence[Any]) -> list[Outcome]:
        """Return for each item (True, result of make(payload)(item)), or (False, reason).

        A process that dies at an item is replaced, and dies twice before it is the item's fault;
        one that takes too long is at fault at once. Raises what `make` raises, and `Lost`.
        """
        found: list[Outcome | None] = [None] * len(items)
        suspects: set[int] = set()
        deaths = 0
        left = list(range(len(items)))
        while left:
            try:
                self._prepare(make, key, payload)
                self._ask(("items", key, [items[k] for k in left]))
                for k, outcome in zip(left, self._outcomes(len(left)), strict=True):
                    found[k] = outcome
            except (EOFError, OSError, pickle.UnpicklingError):
                place, slow = self._end()
                if self.closed:
                    raise Lost("closed") from None
                at = left[place] if place is not None and place < len(left) else None
                if at is None or found[at] is not None:
                    deaths += 1
                    if deaths > DEATHS:
                        raise Lost("processes die one after another") from None
                elif slow or at in suspects:
                    found[at] = False, TOO_LONG if slow else DIED
                else:
                    suspects.add(at)
            left = [k for k in left if found[k] is None]
        return [outcome for outcome in found if outcome is not None]

    def close(self) -> None:
        """Kill the process, so that the thread that waits for it gets `Lost`."""
        self.closed = True
        with self._lock:
            if self._process is not None and self._working:
                self._process.kill()
            else:
                self._discard()

    def _prepare(self, make: Any, key: str, payload: Any) -> None:
        with self._lock:
            if self.closed:
                raise Lost("closed")
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._working, self._since = True, time.monotonic()
            self._base = self._size = os.fstat(self._progress.fileno()).st_size
        if key not in self._keys:
            self._ask(("setup", key, make, payload))
            problem = self._answer()
            if problem is not None:
                self._working = False
                raise problem
            # The process drops the oldest setup, too.
            self._keys = {key} if len(self._keys) >= child.KEPT else self._keys | {key}

    def _start(self) -> None:
        self._discard()
        self._progress = tempfile.TemporaryFile()
        code = (f"import sys; sys.path[:] = {sys.path!r};"
                f" from gradcli.base.workers.child import main;"
                f" main({os.getpid()}, {self._limited})")
        threads = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS") if self._limited else (),
            "1")
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._progress, env={**os.environ, **threads})
        self._keys = set()
        self._killed_at = None
        threading.Thread(target=self._look, args=(self._process, self._progress),
                         daemon=True).start()

    def _ask(self, message: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin, 5)
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)

    def _outcomes(self, count: int) -> Iterator[Outcome]:
        while count > 0:
            some = self._answer()
            count -= len(some)
            yield from some
        self._working = False

    def _end(self) -> tuple[int | None, bool]:
        """Discard a process that is gone, or whose answers make no sense; return the position of
        the item that it was at, or None, and whether it was slow.
        """
        with self._lock:
            self._working = False
            killed_at = self._killed_at
            size = os.fstat(self._progress.fileno()).st_size if killed_at is None else killed_at
            self._discard()
        begun = size - self._base
        return (begun - 1 if begun else None), killed_at is not None

    def _discard(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                try:
                    pipe.close()
                except OSError:
                    pass
            self._progress.close()
            self._process = None

    def _look(self, process: subprocess.Popen[bytes], progress: Any) -> None:
        """Watch a process while it lives: kill it when it takes too long, or is not needed."""
        while process.poll() is None:
            time.sleep(STEP)
            with self._lock:
                if self._process is not process:
                    return
                now = time.monotonic()
                size = os.fstat(progress.fileno()).st_size
                if size != self._size:
                    self._size, self._since = size, now
                allowed = IDLE if not self._working else (
                    SETUP if size <= self._base else LIMIT if self._limited else float("inf"))
                if now - self._since > allowed - STEP:
                    if self._working:
                        self._killed_at = size
                        process.kill()
                    else:
                        self._discard()
                    return


# --- the one of each thread ---------------------------------------------------------------------

_local = threading.local()


class _Family:
    """The processes of an executor's threads."""

    __slots__ = ("closed", "limited", "lock", "members")

    def __init__(self, limited: bool) -> None:
        self.limited = limited
        self.members: list[Guarded] = []
        self.lock = threading.Lock()
        self.closed = False

    def close(self) -> None:
        with self.lock:
            self.closed = True
            for member in self.members:
                member.close()


def _belong(family: _Family) -> None:
    _local.family = family


def run(make: Callable[[Any], Callable[[Any], Any]], key: str, payload: Any, items: Sequence[Any]
        ) -> list[Outcome]:
    """Run items in the process of this thread, as `Guarded.run`."""
    return mine().run(make, key, payload, items)


def mine() -> Guarded:
    """Return the process of this thread; make it if there is none."""
    found: Guarded | None = getattr(_local, "guarded", None)
    if found is None or found.closed:
        family: _Family | None = getattr(_local, "family", None)
        found = _local.guarded = Guarded(family is None or family.limited)
        if family is not None:
            with family.lock:
                family.members.append(found)
                found.closed = family.closed
    return found


@contextmanager
def guards(jobs: int, kind: type[ThreadPoolExecutor] = ThreadPoolExecutor, limited: bool = True
           ) -> Iterator[Executor]:
    """Yield an executor of threads, each with a process for the items that it passes to `run`.

    jobs: number of threads.
    kind: their executor class.
    limited: as in `Guarded`.
    """
    family = _Family(limited)
    executor = kind(jobs, initializer=_belong, initargs=(family,))
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        family.close()
        executor.shutdown(wait=True)


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Yield an executor of `jobs` processes without limits; an exception in the block ends them at
    once. One that is killed is replaced, and its task begun again.
    """
    with guards(jobs, _Processes, limited=False) as executor:
        yield executor


class _Processes(ThreadPoolExecutor):
    """Threads, each of which hands its tasks to a process."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        assert not named
        return super().submit(_elsewhere, work, arguments)


def _elsewhere(work: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Run a task in the process of this thread. Raises what it raises, and E0738 if that dies."""
    try:
        ((done, found),) = run(_doer, "task", None, [(work, arguments)])
    except Lost as lost:
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
