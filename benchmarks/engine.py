"""The engine: microseconds per operation for parsing and for value plus gradient, peak memory.

    python benchmarks/engine.py [--repeat N]

Each case is parsed, then asked for its value and gradient (what `gradcli grad` does between
reading the file and printing), best of N. "x ast" compares the parser with `ast.parse`, which is
written in C and does not check names, on the same formula in Python's spelling. Peak memory is
tracemalloc's, for parsing and one gradient together, in a run of its own.
"""

from __future__ import annotations

import argparse
import ast
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gradcli  # the checkout's

SMALL = "x^2*sin(y) + exp(x*y)/(1+x^2)"


class Case:
    """A formula file, the number of operations in it, and where to take the gradient."""

    def __init__(self, name: str, text: str, operations: int, at: dict[str, float],
                 loops: int = 1) -> None:
        self.name = name
        self.text = text
        self.operations = operations
        self.at = at
        self.loops = loops


def cases() -> list[Case]:
    n, degree = 100_000, 500
    chain = "".join([f"y{i} = y{i - 1}*0.5 + x\n" for i in range(1, n // 2 + 1)])
    horner = "p = 1.0\n" + "".join([f"p = p*x + {1 + i % 7}\n" for i in range(degree)])
    flat = "".join([f"y{i} = sin(y{i - 1})\n" for i in range(1, n + 1)])
    return [
        Case(f"{len(SMALL)} characters", SMALL, 8, {"x": 1.5, "y": 0.5}, loops=2_000),
        Case("sum of 100,000 terms", " + ".join([f"{1 + i % 9}*x" for i in range(n)]),
             2 * n - 1, {"x": 1.5}),
        Case("chain of 100,000 bindings", f"y0 = x\n{flat}", n, {"x": 1.5}),
        Case("50,000 bindings of two operations", f"y0 = x\n{chain}", n, {"x": 1.5}),
        Case("degree 500 by Horner", horner, 2 * degree, {"x": 0.9}, loops=20),
    ]


def best(action: Callable[[], object], loops: int, repeat: int) -> float:
    """Seconds per call, best of `repeat`."""
    times = []
    for _ in range(repeat):
        gc.collect()
        began = time.perf_counter()
        for _ in range(loops):
            action()
        times.append((time.perf_counter() - began) / loops)
    return min(times)


def python_parse(text: str, loops: int, repeat: int) -> float | None:
    """Seconds of `ast.parse`, or None where it gives up: its tree is as deep as a sum is long."""
    spelled = text.replace("^", "**")
    try:
        return best(lambda: ast.parse(spelled), loops, repeat)
    except (RecursionError, MemoryError, SyntaxError):
        return None


def peak(action: Callable[[], object]) -> int:
    """Bytes at the peak of an action."""
    gc.collect()
    tracemalloc.start()
    action()
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return highest


def measured(case: Case, repeat: int) -> str:
    program = gradcli.loads(case.text)
    wrt = list(case.at)
    parse = best(lambda: gradcli.loads(case.text), case.loops, repeat)
    answer = best(lambda: program.gradient(wrt=wrt, at=case.at), case.loops, repeat)
    python = python_parse(case.text, case.loops, repeat)
    memory = peak(lambda: gradcli.loads(case.text).gradient(wrt=wrt, at=case.at))
    ratio = f"{parse / python:.1f}" if python else "(fails)"
    return (f"{case.name:34}{case.operations:9,}"
            f"{1e3 * parse:10.3f}{1e6 * parse / case.operations:7.2f}{ratio:>8}"
            f"{1e3 * answer:10.3f}{1e6 * answer / case.operations:7.2f}"
            f"{memory / 2 ** 20:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="best of N (default 5)")
    options = parser.parse_args()
    gradcli.loads("x").gradient(at={"x": 1.0})  # the tables are read once
    print(f"Python {sys.version.split()[0]}, best of {options.repeat}\n")
    print(f"{'':34}{'':9}{'parse':>10}{'':7}{'':8}{'value + gradient':>17}{'peak':>9}")
    print(f"{'':34}{'ops':>9}{'ms':>10}{'us/op':>7}{'x ast':>8}{'ms':>10}{'us/op':>7}{'MiB':>9}")
    for case in cases():
        print(measured(case, options.repeat), flush=True)


if __name__ == "__main__":
    main()
