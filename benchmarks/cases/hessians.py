"""Hessians: Rosenbrock's function of 1,000 variables (a band) and a quartic of 100 (dense).

Once with everything known and compiled on either side, and once from nothing but imports: text or
function, structure, compilation and the first answer. Answers are dense arrays where it does not
say sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.cases.ours import prepared
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Worker

ROSENBROCK = "sum(100*(x[1:] - x[:-1]^2)^2 + (1 - x[:-1])^2)"
QUARTIC = "sum((A @ x)^4)"

Data = dict[str, Any]


def rosenbrock(x: Any) -> Any:
    """For whatever has slices and Python's signs; before the sum."""
    return 100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2


def band() -> Data:
    import numpy as np

    return {"x": np.random.default_rng(1).uniform(-1, 1, 1000)}


def dense() -> Data:
    import numpy as np

    rng = np.random.default_rng(2)
    return {"x": rng.uniform(-1, 1, 100), "A": rng.uniform(-1, 1, (100, 100))/10}


# --- once more, everything compiled ---------------------------------------------------------------


def gradcli(text: str, data: Callable[[], Data], sparse: bool = False) -> Callable[[], Any]:
    return prepared(text, data(), "x", "hessian", sparse=sparse)


def jax_function(data: Data) -> tuple[Callable[..., Any], list[Any]]:
    """A new function each time, which jax has not seen, and its arguments."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    if "A" in data:
        return lambda x, a: jnp.sum((a @ x)**4), [jnp.asarray(data["x"]), jnp.asarray(data["A"])]
    return lambda x: jnp.sum(rosenbrock(x)), [jnp.asarray(data["x"])]


def jax(data: Callable[[], Data]) -> Callable[[], Any]:
    import jax as j

    f, arguments = jax_function(data())
    hessian = j.jit(j.hessian(f))
    return lambda: hessian(*arguments).block_until_ready()


def torch(data: Callable[[], Data]) -> Callable[[], Any]:
    import torch as t

    given = {name: t.tensor(value) for name, value in data().items()}
    f = (lambda x: ((given["A"] @ x)**4).sum()) if "A" in given else (
        lambda x: rosenbrock(x).sum())
    hessian = t.func.hessian(f)
    return lambda: hessian(given["x"])


def tensorflow(data: Callable[[], Data]) -> Callable[[], Any]:
    import tensorflow as tf

    given = {name: tf.constant(value) for name, value in data().items()}

    def hessian(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.linalg.matvec(given["A"], x)**4 if "A" in given
                                  else rosenbrock(x))
            gradient = inner.gradient(y, x)
        return outer.jacobian(gradient, x)

    compiled = tf.function(hessian)
    return lambda: compiled(given["x"])


def autograd(data: Callable[[], Data]) -> Callable[[], Any]:
    import autograd.numpy as anp
    from autograd import hessian

    given = data()
    found = hessian((lambda x: anp.sum((given["A"] @ x)**4)) if "A" in given
                    else lambda x: anp.sum(rosenbrock(x)))
    return lambda: found(given["x"])


def casadi(data: Callable[[], Data]) -> Callable[[], Any]:
    import casadi as ca

    given = data()
    x = ca.SX.sym("x", len(given["x"]))
    y = ca.sum1(ca.mtimes(ca.DM(given["A"]), x)**4 if "A" in given else rosenbrock(x))
    hessian = ca.Function("h", [x], [ca.hessian(y, x)[0]])
    return lambda: hessian(given["x"])


def full(matrix: Any) -> Any:
    return matrix.full()


def full_of_triples(found: Any) -> Any:
    return found["x"]["x"].dense()


# --- from nothing ---------------------------------------------------------------------------------


def first_gradcli(text: str, data: Callable[[], Data]) -> Callable[[], Any]:
    import gradcli as g

    at = data()
    return lambda: g.loads(text).hessian(wrt="x", at=at)["x"]["x"]


def first_jax(data: Callable[[], Data]) -> Callable[[], Any]:
    import jax as j

    given = data()

    def action() -> Any:
        f, arguments = jax_function(given)
        return j.jit(j.hessian(f))(*arguments).block_until_ready()

    return action


def first_casadi(data: Callable[[], Data]) -> Callable[[], Any]:
    given = data()
    return lambda: casadi(lambda: given)()


def cases(key: str, title: str, text: str, data: Callable[[], Data]) -> list[Case]:
    return [
        Case(f"hessian-{key}", f"Hessian of {title}", [
            Worker("gradcli", CHECKOUT, lambda: gradcli(text, data)),
            Worker("gradcli, sparse", CHECKOUT, lambda: gradcli(text, data, True), full_of_triples),
            Worker("jax jit", "jax", lambda: jax(data)),
            Worker("torch.func", "torch", lambda: torch(data)),
            Worker("tf.function", "tensorflow", lambda: tensorflow(data)),
            Worker("autograd", "autograd", lambda: autograd(data)),
            Worker("casadi, sparse", "casadi", lambda: casadi(data), full),
        ], [Ratio("gradcli", "jax jit", 0.6), Ratio("gradcli, sparse", "casadi, sparse")]),
        Case(f"hessian-{key}-first", f"Hessian of {title}, the first one, all included", [
            Worker("gradcli", CHECKOUT, lambda: first_gradcli(text, data)),
            Worker("jax jit", "jax", lambda: first_jax(data)),
            Worker("casadi, sparse", "casadi", lambda: first_casadi(data), full),
        ], [Ratio("gradcli", "jax jit", 0.2), Ratio("gradcli", "casadi, sparse")]),
    ]


CASES = [
    *cases("rosenbrock", "Rosenbrock's function, n = 1000", ROSENBROCK, band),
    *cases("quartic", "a dense quartic, n = 100", QUARTIC, dense),
]
