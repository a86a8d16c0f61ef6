"""Guards against what does not end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Hang(BaseException):
    """Not an Exception: nothing on the way may swallow it."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise Hang in this thread after so many seconds of work, or ten times as many of waiting: the
    machine may have other things to do.
    """
    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = [signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)
