"""Value and gradient of a formula of 30 operations with three inputs at a million points.

By hand means forward and reverse written out by a person who saw what the two share; numba's is one
loop over the points, numpy's works on the whole arrays. On one core, data in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.cases import formulas
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Side, Worker

POINTS = 1_000_000
Formula = Callable[[Any], Callable[..., Any]]   # module of functions -> function of x, y, z


def columns() -> list[Any]:
    import numpy as np

    rng = np.random.default_rng(20261122)
    return [rng.uniform(-2, 2, POINTS) for _ in range(3)]


def gradcli(text: str, paired: bool = True, expected: int = 0) -> Callable[[], Any]:
    """paired: sine and cosine together from the tangent, where that is exact on this machine.
    expected: how many points machine code is made for.
    """
    import gradcli as g
    from gradcli.engine.compiled import statements
    from gradcli.questions.many.rows import Points
    from gradcli.questions.question import Question

    if not paired:
        statements.available = lambda: False

    points = Points(Question(g.loads(text)), "grad", ["x", "y", "z"], expected=expected)
    data = columns()
    return lambda: points.answers(data).arrays


def numpy(by_hand: Formula) -> Callable[[], Any]:
    import numpy as np

    f, data = by_hand(np), columns()
    return lambda: f(*data)


def numba(by_hand: Formula) -> Callable[[], Any]:
    import math

    import numba as nb
    import numpy as np

    f = nb.njit(by_hand(math), error_model="numpy", inline="always")
    data = columns()

    def everywhere(x: Any, y: Any, z: Any) -> Any:
        n = len(x)
        value, dx, dy, dz = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        for k in range(n):
            value[k], dx[k], dy[k], dz[k] = f(x[k], y[k], z[k])
        return value, dx, dy, dz

    compiled = nb.njit(everywhere, error_model="numpy")
    return lambda: compiled(*data)


def jax(formula: Formula) -> Callable[[], Any]:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    run = j.jit(j.vmap(j.value_and_grad(formula(jnp), (0, 1, 2))))
    data = [jnp.asarray(c) for c in columns()]
    return lambda: j.block_until_ready(run(*data))


def torch(formula: Formula) -> Callable[[], Any]:
    import torch as t

    f = formula(t)
    data = [t.tensor(c, requires_grad=True) for c in columns()]

    def action() -> Any:
        value = f(*data)
        return value.detach(), t.autograd.grad(value.sum(), data)

    return action


def tensorflow(formula: Formula) -> Callable[[], Any]:
    import tensorflow as tf

    f, data = formula(TensorFlowNames(tf)), [tf.constant(c) for c in columns()]

    def run(*given: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(given)
            value = f(*given)
        return value, tape.gradient(value, given)

    compiled = tf.function(run)
    return lambda: compiled(*data)


class TensorFlowNames:
    def __init__(self, tf: Any) -> None:
        self.sin, self.cos, self.exp, self.log = tf.sin, tf.cos, tf.exp, tf.math.log
        self.sqrt, self.tanh = tf.sqrt, tf.tanh


def autograd(formula: Formula) -> Callable[[], Any]:
    import autograd.numpy as anp
    from autograd import make_vjp

    f, data = formula(anp), columns()
    ones = anp.ones(POINTS)

    def action() -> Any:
        vjp, value = make_vjp(lambda given: f(*given))(tuple(data))
        return value, vjp(ones)

    return action


PEERS: list[tuple[str, str, Callable[[Formula], Callable[[], Any]]]] = [
    ("jax jit", "jax", jax), ("torch", "torch", torch), ("tf.function", "tensorflow", tensorflow),
    ("autograd", "autograd", autograd)]


def sides(text: str, formula: Formula, by_hand: Formula) -> list[Side]:
    def worker(name: str, needs: str, engine: Callable[[Formula], Callable[[], Any]]) -> Worker:
        return Worker(name, needs, lambda: engine(formula))

    return [
        Worker("gradcli", CHECKOUT, lambda: gradcli(text)),
        Worker(CODE, "llvmlite", lambda: gradcli(text, expected=1000*POINTS)),
        Worker("numpy by hand", "numpy", lambda: numpy(by_hand)),
        Worker("numba by hand", "numba", lambda: numba(by_hand)),
        *[worker(*peer) for peer in PEERS],
    ]


CODE = "gradcli, llvmlite"
UNPAIRED = "gradcli, np.sin and np.cos"

CASES = [
    Case("points-waves", "value and gradient of 30 operations with sines and cosines, 1e6 points", [
        *sides(formulas.WAVES, formulas.waves, formulas.waves_by_hand),
        Worker(UNPAIRED, CHECKOUT, lambda: gradcli(formulas.WAVES, paired=False)),
    ], [
        Ratio("gradcli", "numba by hand", 0.6), Ratio(CODE, "numba by hand", 0.15),
        Ratio("gradcli", "torch", 0.5),
        Ratio("gradcli", "jax jit", 0.4), Ratio("gradcli", "numpy by hand"),
        Ratio(UNPAIRED, "numba by hand"), Ratio(UNPAIRED, "torch"), Ratio(UNPAIRED, "jax jit"),
    ]),
    Case("points-plain", "the same without sine and cosine",
         sides(formulas.PLAIN, formulas.plain, formulas.plain_by_hand),
         [Ratio("gradcli", "numba by hand", 1.2), Ratio(CODE, "numba by hand", 0.4),
          Ratio("gradcli", "torch"), Ratio("gradcli", "jax jit"),
          Ratio("gradcli", "numpy by hand")]),
]
