"""The first gradient of a scalar program of 1,000 operations, and the memory of its record.

gradcli runs the program from a parsed file, or with Python tensors; every peer runs it as a Python
function. One reverse sweep. Parsing is not counted; what gradcli compiles, it compiles anew each
time. The chain (programs.py) is also asked as a loop, which gradcli runs as one operation.

Memory is what a process grew by while it held the record of 200,000 operations of the chain (25,000
for TensorFlow, 10,000 for jax), divided by their number.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from benchmarks.cases import programs
from benchmarks.cases.programs import (
    CHAIN_AT,
    CHAIN_LOOP,
    MIXED,
    MIXED_AT,
    RECURRENCE,
    TURNS,
    Function,
)
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Worker

Program = Callable[[Any], Function]   # module of functions -> function of numbers
Action = Callable[[], Any]
Build = Callable[[], Action]
Hold = Callable[[int], Any]   # a record of so many turns of the chain, alive


# --- each engine: its functions, and one gradient -------------------------------------------------


def file(text: str) -> Action:
    import gradcli

    program = gradcli.loads(text)
    return lambda: program.gradient()


def tensors(program: Program, at: list[float]) -> Action:
    from gradcli import GradientTape, constant, ops

    f = program(ops)

    def action() -> Any:
        given = [constant(x) for x in at]
        with GradientTape() as tape:
            for x in given:
                tape.watch(x)
            y = f(*given)
        return [float(g) for g in tape.gradient(y, given)]

    return action


def torch(program: Program, at: list[float]) -> Action:
    import torch as t

    f = program(t)

    def action() -> Any:
        given = [t.tensor(x, dtype=t.float64, requires_grad=True) for x in at]
        f(*given).backward()
        return [float(x.grad) for x in given]

    return action


def autograd(program: Program, at: list[float]) -> Action:
    import autograd.numpy as anp
    from autograd import grad

    gradient = grad(program(anp), tuple(range(len(at))))
    return lambda: [float(g) for g in gradient(*at)]


def tensorflow_names() -> Any:
    import tensorflow as tf

    return SimpleNamespace(sin=tf.sin, cos=tf.cos, tanh=tf.tanh, exp=tf.exp)


def tensorflow(program: Program, at: list[float]) -> Action:
    import tensorflow as tf

    f = program(tensorflow_names())

    def action() -> Any:
        given = [tf.Variable(x, dtype=tf.float64) for x in at]
        with tf.GradientTape() as tape:
            y = f(*given)
        return [float(g) for g in tape.gradient(y, given)]

    return action


def jax(program: Program, at: list[float]) -> Action:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    gradient = j.grad(program(jnp), tuple(range(len(at))))
    return lambda: [float(g) for g in gradient(*at)]


# --- records to hold ------------------------------------------------------------------------------


def hold_file(text: Callable[[int], str]) -> Hold:
    import gradcli

    return lambda turns: gradcli.loads(text(turns)).run()


def hold_tensors() -> Hold:
    from gradcli import GradientTape, constant, ops

    def hold(turns: int) -> Any:
        x = constant(0.7)
        with GradientTape() as tape:
            tape.watch(x)
            y = programs.chain(ops, turns)(x)
        return tape, x, y

    return hold


def hold_torch() -> Hold:
    import torch as t

    def hold(turns: int) -> Any:
        x = t.tensor(0.7, dtype=t.float64, requires_grad=True)
        return x, programs.chain(t, turns)(x)

    return hold


def hold_autograd() -> Hold:
    import autograd.numpy as anp
    from autograd.core import VJPNode
    from autograd.tracer import trace

    def hold(turns: int) -> Any:
        kept: list[Any] = []

        def keeping(x: Any) -> Any:
            kept.append(programs.chain(anp, turns)(x))
            return kept[0]

        trace(VJPNode.new_root(), keeping, 0.7)
        return kept

    return hold


def hold_tensorflow() -> Hold:
    import tensorflow as tf

    names = tensorflow_names()

    def hold(turns: int) -> Any:
        x = tf.Variable(0.7, dtype=tf.float64)
        with tf.GradientTape() as tape:
            y = programs.chain(names, turns)(x)
        return tape, x, y

    return hold


def hold_jax() -> Hold:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    return lambda turns: j.vjp(programs.chain(jnp, turns), 0.7)


def resident() -> int:
    """Bytes of memory that the process has; where the system does not tell, its highest so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1])*os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def weighed(engine: Callable[[], Hold], turns: int) -> Build:
    """Bytes per operation that a record takes, in a process that has made a small one before."""

    def build() -> Action:
        hold = engine()
        hold(TURNS)

        def bytes_per_operation() -> float:
            gc.collect()
            before = resident()
            held = hold(turns)
            grown = resident() - before
            del held
            return grown/(4*turns)

        return bytes_per_operation

    return build


# --- the cases ------------------------------------------------------------------------------------

PEERS: list[tuple[str, str, Callable[[Program, list[float]], Action]]] = [
    ("torch", "torch", torch), ("autograd", "autograd", autograd),
    ("TensorFlow tape", "tensorflow", tensorflow), ("jax, not compiled", "jax", jax)]
TARGETS = {"torch": 1/15, "autograd": 1/40, "TensorFlow tape": 1/200}


def case(key: str, title: str, texts: dict[str, str], program: Program, at: dict[str, float]
         ) -> Case:
    """texts: side of gradcli -> file."""
    point = list(at.values())

    def worker(name: str, needs: str, engine: Callable[[Program, list[float]], Action]) -> Worker:
        return Worker(name, needs, lambda: engine(program, point))

    def from_file(name: str, text: str) -> Worker:
        return Worker(name, CHECKOUT, lambda: file(text))

    return Case(
        key, title,
        [*[from_file(name, text) for name, text in texts.items()],
         worker("gradcli, Python tensors", CHECKOUT, tensors), *[worker(*peer) for peer in PEERS]],
        [Ratio(name, peer, target) for name in texts for peer, target in TARGETS.items()])


CASES = [
    case("first-gradient", "first gradient of 1,000 scalar operations, a chain", {
        "gradcli": programs.chain_lines(TURNS),
        "gradcli, file with a loop": CHAIN_LOOP.format(TURNS)}, programs.chain, CHAIN_AT),
    case("first-gradient-recurrence", "first gradient of 1,000 scalar operations, a recurrence",
         {"gradcli": RECURRENCE}, programs.recurrence, MIXED_AT),
    case("first-gradient-mixed", "first gradient of 1,000 scalar operations, mixed",
         {"gradcli": MIXED}, programs.mixed, MIXED_AT),
    # Once: a process that held one record before keeps its memory for the next.
    Case("first-gradient-memory", "memory of the record, per scalar operation", [
        Worker("gradcli", CHECKOUT, weighed(lambda: hold_file(programs.chain_lines), 50_000)),
        Worker("gradcli, file with a loop", CHECKOUT,
               weighed(lambda: hold_file(CHAIN_LOOP.format), 50_000)),
        Worker("gradcli, Python tensors", CHECKOUT, weighed(hold_tensors, 50_000)),
        Worker("torch", "torch", weighed(hold_torch, 50_000)),
        Worker("autograd", "autograd", weighed(hold_autograd, 50_000)),
        Worker("TensorFlow tape", "tensorflow", weighed(hold_tensorflow, 6_250)),
        Worker("jax, not compiled", "jax", weighed(hold_jax, 2_500)),
    ], [Ratio("gradcli", "torch"), Ratio("gradcli", "autograd"),
        Ratio("gradcli", "TensorFlow tape")], unit="bytes", rounds=1),
]
