"""Work for the tests of processes that may be killed: an item says what it does to its process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from gradcli.base.errors import error


def make(payload: str) -> Callable[[str], Any]:
    """payload + item, unless the item is one of those below. A payload may be hostile, too."""
    if payload == "refused":
        raise error("E0704", "no such function", (1, 2), "write another one")
    if payload == "broken":
        raise ZeroDivisionError("by nothing")
    if payload == "deadly":
        os._exit(1)

    def work(item: str) -> Any:
        what, _, rest = item.partition(":")
        if what == "forever":           # in Python
            while True:
                pass
        if what == "hold":              # without letting any other thread run
            return len(str(9 ** (9 ** 7) * 9 ** (9 ** 7)))
        if what == "exit":
            os._exit(3)
        if what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "raise":
            raise ValueError("what is that")
        if what == "memory":
            return len(bytearray(3 * 1024 ** 3))
        if what == "deep":
            return work(item)
        if what == "once":              # a file that is not there the second time
            try:
                os.unlink(rest)
            except FileNotFoundError:
                return payload + "once"
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "print":
            print("noise", flush=True)
            os.write(2, b"noise" * 100)
        if what == "pid":
            return os.getpid()
        return payload + item

    return work


def act(item: str) -> Any:
    """The same as a task of its own, whatever becomes of it."""
    if item == "typed":
        raise error("E0704", "no such function", (1, 2), "write another one")
    if item == "bug":
        raise ZeroDivisionError("by nothing")
    return make("p")(item)
