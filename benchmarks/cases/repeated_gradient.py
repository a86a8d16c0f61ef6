"""The gradient of the programs of `first_gradient` once more.

Everything is compiled before: jax's from the loop written out, as the file is, and as `fori_loop`,
whose code is a loop; casadi's is called through its buffers, which is its fastest way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.cases import programs
from benchmarks.cases.first_gradient import Action, Program, tensorflow_names
from benchmarks.cases.ours import machine_code, prepared
from benchmarks.cases.programs import CHAIN_AT, MIXED, MIXED_AT, RECURRENCE, TURNS
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Worker


def jax(program: Program, at: dict[str, float]) -> Action:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    point = list(at.values())
    gradient = j.jit(j.grad(program(jnp), tuple(range(len(at)))))
    return lambda: j.block_until_ready(gradient(*point))


def jax_loop(program: Program, at: dict[str, float]) -> Action:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    gradient = j.jit(j.grad(lambda x: j.lax.fori_loop(
        0, TURNS, lambda _, y: y*0.5 + jnp.sin(y)*x, x)))
    return lambda: gradient(at["x"]).block_until_ready()


def tensorflow(program: Program, at: dict[str, float]) -> Action:
    import tensorflow as tf

    f, point = program(tensorflow_names()), [tf.constant(x, tf.float64) for x in at.values()]

    def gradient(*given: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = f(*given)
        return tape.gradient(y, given)

    compiled = tf.function(gradient)
    return lambda: [float(g) for g in compiled(*point)]


def casadi(program: Program, at: dict[str, float]) -> Action:
    import casadi as ca
    import numpy as np

    x = [ca.SX.sym(name) for name in at]
    function = ca.Function("g", x, [ca.gradient(program(ca)(*x), ca.vertcat(*x))])
    buffer, call = function.buffer()
    given, found = [np.array([v]) for v in at.values()], np.zeros(len(at))
    for k, value in enumerate(given):
        buffer.set_arg(k, value.data)
    buffer.set_res(0, found.data)

    def action(kept: Any = (function, buffer)) -> Any:   # which `call` does not keep
        for k, value in enumerate(at.values()):
            given[k][0] = value
        call()
        return found.tolist()

    return action


def numpy(program: Program, at: dict[str, float]) -> Action:
    """Tape and sweep by hand, one operation after the other."""
    import numpy as np

    def action() -> Any:
        x = y = np.float64(at["x"])
        kept = []
        for _ in range(TURNS):
            kept.append(y)
            y = y*0.5 + np.sin(y)*x
        gradient, cotangent = np.float64(0.0), np.float64(1.0)
        for y in reversed(kept):
            gradient += cotangent*np.sin(y)
            cotangent = cotangent*(0.5 + np.cos(y)*x)
        return gradient + cotangent

    return action


def numba(program: Program, at: dict[str, float]) -> Action:
    """Tape and sweep by hand."""
    import math

    import numba as nb
    import numpy as np

    def gradient(x: float) -> float:
        y = x
        kept = np.empty(TURNS)
        for k in range(TURNS):
            kept[k] = y
            y = y*0.5 + math.sin(y)*x
        found, cotangent = 0.0, 1.0
        for k in range(TURNS - 1, -1, -1):
            found += cotangent*math.sin(kept[k])
            cotangent = cotangent*(0.5 + math.cos(kept[k])*x)
        return found + cotangent

    compiled = nb.njit(gradient, error_model="numpy")
    return lambda: compiled(at["x"])


CODE = "gradcli, llvmlite"
Engine = Callable[[Program, dict[str, float]], Action]
PEERS: list[tuple[str, str, Engine]] = [
    ("jax jit", "jax", jax), ("tf.function", "tensorflow", tensorflow),
    ("casadi, buffers", "casadi", casadi)]
LOOPS: list[tuple[str, str, Engine]] = [
    ("jax jit, fori_loop", "jax", jax_loop), ("numba by hand", "numba", numba),
    ("numpy by hand", "numpy", numpy)]


def case(key: str, title: str, text: str, program: Program, at: dict[str, float],
         peers: list[tuple[str, str, Engine]]) -> Case:
    def worker(name: str, needs: str, engine: Engine) -> Worker:
        return Worker(name, needs, lambda: engine(program, at))

    return Case(key, title, [
        Worker("gradcli", CHECKOUT, lambda: prepared(text, at)),
        Worker(CODE, "llvmlite", lambda: machine_code(text, at)),
        *[worker(*peer) for peer in peers],
    ], [Ratio("gradcli", "jax jit", 1/8), Ratio(CODE, "casadi, buffers", 0.6), *[
        Ratio("gradcli", name) for name, _, _ in peers if name != "jax jit"]])


CASES = [
    case("repeated-gradient", "repeated gradient of the chain", programs.chain_lines(TURNS),
         programs.chain, CHAIN_AT, PEERS + LOOPS),
    case("repeated-gradient-recurrence", "repeated gradient of the recurrence", RECURRENCE,
         programs.recurrence, MIXED_AT, PEERS),
    case("repeated-gradient-mixed", "repeated gradient of the mixed program", MIXED,
         programs.mixed, MIXED_AT, PEERS),
]
