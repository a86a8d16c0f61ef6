"""The process of one engine: builds, warms up, then times one round whenever it is told to.

    python -m benchmarks.harness.worker CASE SIDE MINIMUM

It answers on what was its standard output when it started, one line of JSON each: when it is ready
(the answer's digest and how often a round calls the action), and for every line that it reads the
figure of a round. Whatever libraries print goes to standard error.
"""

from __future__ import annotations

import gc
import json
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.cases import case_of
from benchmarks.harness.case import Worker
from benchmarks.harness.compare import digest


def calls_for(action: Callable[[], Any], minimum: float) -> int:
    """How many calls last `minimum` seconds, after some to warm up."""
    warm = time.perf_counter() + minimum
    while True:
        began = time.perf_counter()
        action()
        ended = time.perf_counter()
        if ended >= warm:
            return max(1, math.ceil(minimum/(ended - began)))


def timed(action: Callable[[], Any], calls: int) -> float:
    """Seconds per call."""
    turns = range(calls)
    began = time.perf_counter()
    for _ in turns:
        action()
    return (time.perf_counter() - began)/calls


def main() -> None:
    key, name, minimum = sys.argv[1], sys.argv[2], float(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**what: Any) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    case = case_of(key)
    side = case.side(name)
    assert isinstance(side, Worker)
    action = side.build()
    if case.unit == "s":
        tell(answer=digest(side.read(action())), calls=(calls := calls_for(action, minimum)))
    else:
        tell(answer=[], calls=(calls := 1))
    for _ in sys.stdin:
        gc.collect()
        tell(figure=timed(action, calls)/case.per if case.unit == "s" else float(action()))


if __name__ == "__main__":
    main()
