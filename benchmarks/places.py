"""What it costs that Python tensors note where they are used, for `GradientTape.why`.

    python benchmarks/places.py [--rounds N]

In one process, in turns: operations as they are, and with the trace of the thread taken away, so
that no place is looked for and nothing is remembered. The table shows medians over the rounds in
nanoseconds per operation. Memory is what the process held more while it had the record of 200,000
operations, and what the rings of a thread take when they are full.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable

import gradcli
from gradcli import GradientTape, Variable, ops
from gradcli.engine.record import provenance
from gradcli.engine.record import record as records

OPERATIONS = 20_000
LARGE = 200_000


def arithmetic(x: Variable) -> None:
    """Recorded: the short way of `tape.operators`."""
    with GradientTape():
        s = a = x * 1.0
        for _ in range(OPERATIONS // 2):
            s = s * a + 0.5


def mixed(x: Variable) -> None:
    """Recorded: a*b + sin(s)*0.5."""
    with GradientTape():
        s = a = x * 1.0
        b = x + 0.5
        for _ in range(OPERATIONS // 4):
            s = a * b + ops.sin(s) * 0.5


def off_the_tape(x: Variable) -> None:
    """The same as `arithmetic` without a tape."""
    s = a = x * 1.0
    for _ in range(OPERATIONS // 2):
        s = s * a + 0.5


def conditions(x: Variable) -> None:
    """Tensors that decide what runs."""
    a = x * 1.0
    for _ in range(OPERATIONS):
        if a:
            pass


def constants(x: Variable) -> None:
    """Constants are made."""
    for _ in range(OPERATIONS):
        gradcli.constant(1.0)


def exits(x: Variable) -> None:
    """Values leave the engine."""
    a = x * 1.0
    for _ in range(OPERATIONS):
        float(a)


def turn(action: Callable[[Variable], None]) -> float:
    gc.collect()
    x = Variable(0.5)
    start = time.perf_counter()
    action(x)
    return (time.perf_counter() - start) / OPERATIONS * 1e9


def memory() -> tuple[float, float, float]:
    """Bytes per recorded operation with and without places, and of full rings."""
    record = records.current()
    held = []
    for trace in (provenance.PythonEvents(), None):
        record.trace = trace
        x = Variable(0.5)
        gc.collect()
        tracemalloc.start()
        with GradientTape():
            s = a = x * 1.0
            for _ in range(LARGE // 2):
                s = s * a + 0.5
            held.append(tracemalloc.get_traced_memory()[0] / LARGE)
        tracemalloc.stop()
    gc.collect()
    tracemalloc.start()
    record.trace = trace = provenance.PythonEvents()
    y = Variable(0.5) * 1.0
    for _ in range(provenance.MAX_TRACED):
        gradcli.constant(1.0)
        float(y)
        y = y * 0.5
    held.append(float(tracemalloc.get_traced_memory()[0]))
    tracemalloc.stop()
    return held[0], held[1], held[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    record = records.current()
    print(f"{'':14}{'with':>8}{'without':>9}{'cost':>7}   ns per operation")
    for action in (arithmetic, mixed, off_the_tape, conditions, constants, exits):
        times: tuple[list[float], list[float]] = [], []
        for _ in range(rounds):
            for trace, into in zip((provenance.PythonEvents(), None), times, strict=True):
                record.trace = trace
                into.append(turn(action))
        with_, without = map(statistics.median, times)
        print(f"{action.__name__:14}{with_:8.0f}{without:9.0f}{with_ - without:7.0f}")
    with_, without, rings = memory()
    print(f"{with_:.0f} bytes per recorded operation, {without:.0f} without;"
          f" full rings take {rings / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
