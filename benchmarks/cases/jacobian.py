"""The Jacobian of Broyden's tridiagonal function of 1,000 variables, once its structure is known.

casadi's sparse Jacobian is called as users call it, from an array to one of its matrices, and
through its buffers, which leave only the numbers to be calculated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.cases.ours import prepared
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Worker

N = 1000
TEXT = "(3 - 2*x)*x - pad(x[:-1], [1, 0]) - 2*pad(x[1:], [0, 1]) + 1"


def point() -> Any:
    import numpy as np

    return np.random.default_rng(3).uniform(-1, 1, N)


def broyden(x: Any, below: Any, above: Any) -> Any:
    """below: x moved down by one, with a zero; above: moved up."""
    return (3 - 2*x)*x - below - 2*above + 1


def gradcli(sparse: bool = False) -> Callable[[], Any]:
    return prepared(TEXT, {"x": point()}, "x", "jacobian", sparse=sparse)


def full_of_triples(found: Any) -> Any:
    return found["x"].dense()


def jax() -> Callable[[], Any]:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    x = jnp.asarray(point())
    jacobian = j.jit(j.jacfwd(lambda x: broyden(
        x, jnp.pad(x[:-1], (1, 0)), jnp.pad(x[1:], (0, 1)))))
    return lambda: jacobian(x).block_until_ready()


def jax_coloured() -> Callable[[], Any]:
    """Three tangents, chosen by hand, and the bands that they give."""
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    x = jnp.asarray(point())
    seeds = jnp.asarray((jnp.arange(N) % 3 == jnp.arange(3)[:, None]).astype(float))

    def f(x: Any) -> Any:
        return broyden(x, jnp.pad(x[:-1], (1, 0)), jnp.pad(x[1:], (0, 1)))

    bands = j.jit(lambda x: j.vmap(lambda s: j.jvp(f, (x,), (s,))[1])(seeds))
    return lambda: bands(x).block_until_ready()


def torch() -> Callable[[], Any]:
    import torch as t

    x = t.tensor(point())
    jacobian = t.func.jacfwd(lambda x: broyden(
        x, t.nn.functional.pad(x[:-1], (1, 0)), t.nn.functional.pad(x[1:], (0, 1))))
    return lambda: jacobian(x)


def casadi_function() -> Any:
    import casadi as ca

    x = ca.SX.sym("x", N)
    y = broyden(x, ca.vertcat(0, x[:-1]), ca.vertcat(x[1:], 0))
    return ca.Function("j", [x], [ca.jacobian(y, x)])


def casadi() -> Callable[[], Any]:
    function, x = casadi_function(), point()
    return lambda: function(x)


def casadi_dense() -> Callable[[], Any]:
    function, x = casadi_function(), point()
    return lambda: function(x).full()


def casadi_buffers() -> Callable[[], Any]:
    import numpy as np

    function, x = casadi_function(), point()
    sparsity = function.sparsity_out(0)
    found = np.zeros(sparsity.nnz())
    buffer, call = function.buffer()
    buffer.set_arg(0, x.data)
    buffer.set_res(0, found.data)

    def action() -> Any:
        call()
        return (function, buffer, x), sparsity, found   # `call` does not keep the first three

    return action


def full(matrix: Any) -> Any:
    return matrix.full()


def full_of_buffers(found: Any) -> Any:
    import casadi as ca

    return ca.DM(found[1], found[2]).full()


def full_of_bands(bands: Any) -> Any:
    """Row i of the Jacobian has column j in the band of the colour j % 3."""
    import numpy as np

    found = np.zeros((N, N))
    for offset in (-1, 0, 1):
        rows = np.arange(max(0, -offset), min(N, N - offset))
        found[rows, rows + offset] = np.asarray(bands)[(rows + offset) % 3, rows]
    return found


CASES = [
    Case("jacobian-sparse", "banded Jacobian, n = 1000, sparse", [
        Worker("gradcli", CHECKOUT, lambda: gradcli(sparse=True), full_of_triples),
        Worker("casadi, sparse", "casadi", casadi, full),
        Worker("casadi, sparse, buffers", "casadi", casadi_buffers, full_of_buffers),
        Worker("jax jit, coloured by hand", "jax", jax_coloured, full_of_bands),
    ], [Ratio("gradcli", "casadi, sparse", 1.2), Ratio("gradcli", "casadi, sparse, buffers"),
        Ratio("gradcli", "jax jit, coloured by hand")]),
    Case("jacobian-dense", "banded Jacobian, n = 1000, dense", [
        Worker("gradcli", CHECKOUT, gradcli),
        Worker("jax jit(jacfwd)", "jax", jax),
        Worker("torch.func.jacfwd", "torch", torch),
        Worker("casadi, made dense", "casadi", casadi_dense),
    ], [Ratio("gradcli", "jax jit(jacfwd)", 0.3), Ratio("gradcli", "casadi, made dense")]),
]
