"""Gradient of the log-likelihood of a Gaussian mixture (ADBench's objective; d=10, k=25, n=1000).

Inverse covariances are L' L, where L has the diagonal exp(q) and below it the strict lower part of
a matrix; ADBench packs that part into a vector, here it is the lower part of an array [k, d, d].
The parameters are differentiated, the observations are given. The weight of the Wishart prior is 1,
its extra degrees of freedom 0.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from benchmarks.cases.ours import prepared
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Worker

D, K, N = 10, 25, 1000
TEXT = """
below = tril(L, -1)
centred = expand_dims(x, 1) - means
projected = exp(q)*centred + einsum("kij,nkj->nki", below, centred)
inner = alphas + sum(q, axis=1) - 0.5*sum(projected^2, axis=2)
prior = 0.5*(sum(exp(q)^2) + sum(below^2))
sum(logsumexp(inner, axis=1)) - 1000*logsumexp(alphas) + prior
"""
PARAMETERS = ("alphas", "means", "q", "L")


def data() -> list[Any]:
    """The parameters, then the observations."""
    import numpy as np

    rng = np.random.default_rng(4)
    return [rng.normal(size=shape)*0.5 for shape in ((K,), (K, D), (K, D), (K, D, D), (N, D))]


def likelihood(m: Any) -> Callable[..., Any]:
    """m: sum(x, axis), exp, tril, einsum, logsumexp over the last axis."""

    def f(alphas: Any, means: Any, q: Any, lower: Any, x: Any) -> Any:
        below = m.tril(lower, -1)
        centred = x[:, None, :] - means
        projected = m.exp(q)*centred + m.einsum("kij,nkj->nki", below, centred)
        inner = alphas + m.sum(q, 1) - 0.5*m.sum(projected**2, 2)
        prior = 0.5*(m.sum(m.exp(q)**2) + m.sum(below**2))
        return m.sum(m.logsumexp(inner)) - N*m.logsumexp(alphas) + prior

    return f


def gradcli() -> Callable[[], Any]:
    return prepared(TEXT, dict(zip((*PARAMETERS, "x"), data(), strict=True)), ",".join(PARAMETERS))


def numpy() -> Callable[[], Any]:
    """By hand: projections of all components are one product of matrices, and so are their
    adjoints; nothing of the size [n, k, d, d] or [n, k, d] of centred observations is made.
    """
    import numpy as np

    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(-1, keepdims=True))
        return e/e.sum(-1, keepdims=True)

    def gradient(alphas: Any, means: Any, q: Any, lower: Any, x: Any) -> Any:
        below, scale = np.tril(lower, -1), np.exp(q)
        roots = below + scale[:, :, None]*np.eye(D)                      # [k, d, d]
        offsets = (roots @ means[:, :, None]).reshape(K*D)
        projected = x @ roots.reshape(K*D, D).T
        projected -= offsets                                             # [n, k*d]
        inner = (projected*projected).reshape(N, K, D) @ np.full(D, -0.5)
        inner += alphas + q.sum(1)
        share = softmax(inner)                                           # [n, k]
        counts = share.sum(0)
        projected.reshape(N, K, D)[...] *= share[:, :, None]
        totals = projected.sum(0).reshape(K, D)
        slopes = (projected.T @ x).reshape(K, D, D) - totals[:, :, None]*means[:, None, :]
        return (counts - N*softmax(alphas),
                (totals[:, None, :] @ roots)[:, 0],
                counts[:, None] - scale*np.einsum("kii->ki", slopes) + scale**2,
                below - np.tril(slopes, -1))

    given = data()
    return lambda: gradient(*given)


def jax() -> Callable[[], Any]:
    import jax as j
    import jax.numpy as jnp

    j.config.update("jax_enable_x64", True)
    gradient = j.jit(j.grad(likelihood(SimpleNamespace(
        sum=jnp.sum, exp=jnp.exp, tril=jnp.tril, einsum=jnp.einsum,
        logsumexp=lambda x: j.nn.logsumexp(x, axis=-1))), (0, 1, 2, 3)))
    given = [jnp.asarray(a) for a in data()]
    return lambda: j.block_until_ready(gradient(*given))


def torch() -> Callable[[], Any]:
    import torch as t

    f = likelihood(SimpleNamespace(
        sum=t.sum, exp=t.exp, tril=t.tril, einsum=t.einsum,
        logsumexp=lambda x: t.logsumexp(x, -1)))
    *parameters, x = [t.tensor(a) for a in data()]
    for p in parameters:
        p.requires_grad_()
    return lambda: t.autograd.grad(f(*parameters, x), parameters)


def tensorflow() -> Callable[[], Any]:
    import tensorflow as tf

    mask = tf.constant([[float(i > j) for j in range(D)] for i in range(D)], tf.float64)
    f = likelihood(SimpleNamespace(
        sum=tf.reduce_sum, exp=tf.exp, tril=lambda x, k: x*mask, einsum=tf.einsum,
        logsumexp=lambda x: tf.reduce_logsumexp(x, -1)))
    *parameters, x = [tf.constant(a) for a in data()]

    def gradient(parameters: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            y = f(*parameters, x)
        return tape.gradient(y, parameters)

    compiled = tf.function(gradient)
    return lambda: compiled(parameters, x)


def autograd() -> Callable[[], Any]:
    import autograd.numpy as anp
    from autograd import grad

    def logsumexp(x: Any) -> Any:
        top = anp.max(x, -1, keepdims=True)
        return anp.squeeze(top, -1) + anp.log(anp.sum(anp.exp(x - top), -1))

    gradient = grad(likelihood(SimpleNamespace(
        sum=anp.sum, exp=anp.exp, tril=anp.tril, einsum=anp.einsum, logsumexp=logsumexp)),
        (0, 1, 2, 3))
    given = data()
    return lambda: gradient(*given)


CASES = [
    Case("mixture", "gradient of a Gaussian mixture (d=10, k=25, n=1000)", [
        Worker("gradcli", CHECKOUT, gradcli),
        Worker("numpy by hand", "numpy", numpy),
        Worker("jax jit", "jax", jax),
        Worker("torch", "torch", torch),
        Worker("tf.function", "tensorflow", tensorflow),
        Worker("autograd", "autograd", autograd),
    ], [Ratio("gradcli", "jax jit", 1.5), Ratio("gradcli", "torch", 0.7),
        Ratio("gradcli", "numpy by hand")]),
]
