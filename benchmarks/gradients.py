"""The first gradient of a scalar program, beside autograd, torch, jax and TensorFlow.

    python benchmarks/gradients.py [--rounds N]

The program is `y = y*0.5 + sin(y)*x`, 250 times: 1,000 operations, and one reverse sweep. gradcli
runs it from a parsed file (as a loop, and written out line by line) and with Python tensors; every
peer runs the same loop in Python. Each round starts one process per entrant, so that a machine that
changes its speed changes it for all; a process warms up twice and reports its fastest of 15 turns
(parsing of files and compilation of peers not counted, gradcli's own compilation of the loop is).
The table shows medians over the rounds and ratios to torch and TensorFlow. Memory is what the
process grew by while it held the record of 200,000 operations (25,000 for TensorFlow, 10,000 for
jax), divided by their number.

Only entrants that this Python can import take part.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TURNS, OPERATIONS = 250, 1_000
LARGE = 50_000  # turns for the memory: four operations each

LOOP = "var x = 0.7\ny = x\nfor i in range({}):\n    y = y*0.5 + sin(y)*x\ny\n"
LINES = "var x = 0.7\ny = x\n{}y\n"


def calculation(x: Any, sin: Callable[[Any], Any], turns: int) -> Any:
    """The program, for whatever calculates with Python's signs."""
    y = x
    for _ in range(turns):
        y = y * 0.5 + sin(y) * x
    return y


class Entrant:
    """action: one gradient. hold: build a record of so many turns and return it alive."""

    def __init__(self, action: Callable[[], float], hold: Callable[[int], Any],
                 large: int = LARGE) -> None:
        self.action = action
        self.hold = hold
        self.large = large


def file_entrant(text: Callable[[int], str]) -> Entrant:
    import gradcli

    program = gradcli.loads(text(TURNS))
    return Entrant(lambda: program.gradient(wrt="x")["x"],
                   lambda turns: gradcli.loads(text(turns)).run())


def tensors() -> Entrant:
    from gradcli import GradientTape, constant, ops

    def hold(turns: int) -> Any:
        x = constant(0.7)
        with GradientTape() as tape:
            tape.watch(x)
            y = calculation(x, ops.sin, turns)
        return tape, x, y

    def action() -> float:
        tape, x, y = hold(TURNS)
        return float(tape.gradient(y, x))

    return Entrant(action, hold)


def autograd() -> Entrant:
    import autograd.numpy as anp
    from autograd import grad
    from autograd.core import VJPNode
    from autograd.tracer import trace

    def f(x: Any) -> Any:
        return calculation(x, anp.sin, TURNS)

    def hold(turns: int) -> Any:
        root = VJPNode.new_root()
        kept: list[Any] = []

        def keeping(x: Any) -> Any:
            kept.append(calculation(x, anp.sin, turns))
            return kept[0]

        trace(root, keeping, 0.7)
        return kept

    return Entrant(lambda: float(grad(f)(0.7)), hold)


def torch() -> Entrant:
    import torch as t

    t.set_num_threads(1)

    def hold(turns: int) -> Any:
        x = t.tensor(0.7, dtype=t.float64, requires_grad=True)
        return x, calculation(x, t.sin, turns)

    def action() -> float:
        x, y = hold(TURNS)
        y.backward()
        return float(x.grad)

    return Entrant(action, hold)


def tensorflow() -> Entrant:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    def hold(turns: int) -> Any:
        x = tf.Variable(0.7, dtype=tf.float64)
        with tf.GradientTape() as tape:
            y = calculation(x, tf.sin, turns)
        return tape, x, y

    def action() -> float:
        tape, x, y = hold(TURNS)
        return float(tape.gradient(y, x))

    return Entrant(action, hold, large=6_250)


def jax() -> Entrant:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)

    def f(x: Any) -> Any:
        return calculation(x, jnp.sin, TURNS)

    return Entrant(lambda: float(j.grad(f)(0.7)), lambda turns: j.vjp(
        lambda x: calculation(x, jnp.sin, turns), 0.7), large=2_500)


ENTRANTS: dict[str, tuple[str, Callable[[], Entrant]]] = {
    "gradcli, file with a loop": ("gradcli", lambda: file_entrant(LOOP.format)),
    "gradcli, file line by line": ("gradcli", lambda: file_entrant(
        lambda turns: LINES.format("y = y*0.5 + sin(y)*x\n" * turns))),
    "gradcli, Python tensors": ("gradcli", tensors),
    "autograd": ("autograd", autograd),
    "torch": ("torch", torch),
    "jax, not compiled": ("jax", jax),
    "TensorFlow": ("tensorflow", tensorflow),
}


def resident() -> int:
    """Bytes of memory that the process has; where the system does not tell, its highest so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(name: str) -> dict[str, float]:
    """In a process of its own: microseconds and bytes per operation, and the gradient."""
    entrant = ENTRANTS[name][1]()
    times = []
    gradient = 0.0
    for turn in range(17):
        gc.collect()
        began = time.perf_counter()
        gradient = entrant.action()
        if turn > 1:
            times.append(time.perf_counter() - began)
    gc.collect()
    before = resident()
    held = entrant.hold(entrant.large)
    grown = resident() - before
    del held
    return {"us": 1e6 * min(times) / OPERATIONS, "bytes": grown / (4 * entrant.large),
            "gradient": gradient}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", choices=list(ENTRANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    there = [n for n, (package, _) in ENTRANTS.items() if importlib.util.find_spec(package)]
    found: dict[str, list[dict[str, float]]] = {name: [] for name in there}
    for _ in range(options.rounds):
        for name in there:
            out = subprocess.run(
                [sys.executable, __file__, "--one", name], capture_output=True, text=True,
                check=True)
            found[name].append(json.loads(out.stdout.splitlines()[-1]))
    show(found)


def show(found: dict[str, list[dict[str, float]]]) -> None:
    from importlib.metadata import PackageNotFoundError, version

    us = {name: statistics.median([r["us"] for r in rounds]) for name, rounds in found.items()}
    print(f"{'':28}{'us/op':>8}{'bytes/op':>10}{'to torch':>10}{'to TensorFlow':>15}")
    for name, rounds in found.items():
        size = statistics.median([r["bytes"] for r in rounds])
        ratios = "".join([
            f"{us[name] / us[peer]:>{width}.4f}" if peer in us else " " * width
            for peer, width in (("torch", 10), ("TensorFlow", 15))])
        print(f"{name:28}{us[name]:8.2f}{size:10.0f}{ratios}")
    values = {f"{rounds[0]['gradient']:.12g}" for rounds in found.values()}
    print(f"gradient: {', '.join(sorted(values))}")
    versions = [f"Python {sys.version.split()[0]}"]
    for package in dict.fromkeys(package for package, _ in ENTRANTS.values()):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    print(", ".join(versions))


if __name__ == "__main__":
    main()
