"""Matrix functions that work on complex arrays, for the complex step: no LAPACK in them.

Each is the textbook algorithm with branches on real parts only, so it continues analytically from
real matrices: Jacobi's rotations for eigenvalues and singular values, Gram and Schmidt's QR, power
series for the exponential, Newton's iteration for roots.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def stacked(function: Any, x: Any, *others: Any) -> Any:
    """The function on every matrix of a stack."""
    if x.ndim == 2:
        return function(x, *others)
    return np.stack([stacked(function, a, *others) for a in x])


def lower_symmetric(x: Any) -> Any:
    """The symmetric matrix that has this lower triangle."""
    return np.tril(x) + np.swapaxes(np.tril(x, -1), -1, -2)


def cholesky(x: Any) -> Any:
    """Of the mean of x and its transpose."""
    a = 0.5 * (x + x.T)
    n = len(a)
    out = np.zeros_like(a)
    for j in range(n):
        out[j, j] = np.sqrt(a[j, j] - np.sum(out[j, :j] ** 2))
        for i in range(j + 1, n):
            out[i, j] = (a[i, j] - np.sum(out[i, :j] * out[j, :j])) / out[j, j]
    return out


def qr(x: Any) -> tuple[Any, Any]:
    """Gram and Schmidt, twice for accuracy; signs as Householder's reflections give them."""
    m, n = x.shape
    k = min(m, n)
    q = np.zeros((m, k), dtype=x.dtype)
    for j in range(k):
        v = x[:, j]
        for _ in range(2):
            v = v - q[:, :j] @ (q[:, :j].T @ v)
        q[:, j] = v / np.sqrt(np.sum(v * v))
    signs = np.sign(np.diag(np.linalg.qr(x.real)[1])) * np.sign(np.diag((q.T @ x).real))
    q = q * signs
    return q, np.triu(q.T @ x)


# Rotations converge quadratically: after the sixth sweep only rounding changes what tests ask for.
SWEEPS = 12


def tangent(difference: Any, off: Any) -> Any:
    """Of the angle that makes `off` zero, the smaller of two."""
    if off == 0:
        return 0.0
    sign = 1.0 if difference.real >= 0 else -1.0
    return 2 * off / (difference + sign * np.sqrt(difference**2 + 4 * off**2))


def eigh(x: Any) -> tuple[Any, Any]:
    """Cyclic Jacobi rotations, the vectors with the signs that LAPACK chose."""
    a = lower_symmetric(x)
    n = len(a)
    v = np.eye(n, dtype=a.dtype)
    for _ in range(SWEEPS):
        for p in range(n):
            for q in range(p + 1, n):
                t = tangent(a[q, q] - a[p, p], a[p, q])
                c = 1 / np.sqrt(1 + t * t)
                turn = np.eye(n, dtype=a.dtype)
                turn[p, p] = turn[q, q] = c
                turn[p, q], turn[q, p] = t * c, -t * c
                a = turn.T @ a @ turn
                v = v @ turn
    w = np.diag(a)
    order = np.argsort(w.real)
    w, v = w[order], v[:, order]
    known = np.linalg.eigh(lower_symmetric(x.real))[1]
    return w, v * np.sign(np.sum(known * v.real, axis=0))


def svd(x: Any) -> tuple[Any, Any, Any]:
    """One-sided Jacobi rotations (Hestenes), with the signs that LAPACK chose."""
    if x.shape[0] < x.shape[1]:
        u, s, vt = svd(x.T)
        u, vt = vt.T, u.T
    else:
        n = x.shape[1]
        a = x
        v = np.eye(n, dtype=x.dtype)
        for _ in range(SWEEPS):
            for p in range(n):
                for q in range(p + 1, n):
                    t = tangent(np.sum(a[:, q] ** 2) - np.sum(a[:, p] ** 2),
                                np.sum(a[:, p] * a[:, q]))
                    cos = 1 / np.sqrt(1 + t * t)
                    turn = np.eye(n, dtype=x.dtype)
                    turn[p, p] = turn[q, q] = cos
                    turn[p, q], turn[q, p] = t * cos, -t * cos
                    a = a @ turn
                    v = v @ turn
        s = np.sqrt(np.sum(a * a, axis=0))
        order = np.argsort(-s.real)
        u, s, vt = (a / s)[:, order], s[order], v[:, order].T
    known = np.linalg.svd(x.real, full_matrices=False)[0]
    signs = np.sign(np.sum(known * u.real, axis=0))
    return u * signs, s, vt * signs[:, None]


def pinv(x: Any) -> Any:
    if x.shape[0] >= x.shape[1]:
        return np.linalg.solve(x.T @ x, x.T)
    return x.T @ np.linalg.inv(x @ x.T)


def expm(x: Any) -> Any:
    """The power series of x/2^k, squared k times."""
    k = max(0, 2 + math.ceil(math.log2(1e-9 + float(np.max(np.abs(x), initial=0.0)))))
    a = x / 2.0**k
    term = np.eye(len(x), dtype=x.dtype)
    total = term
    for j in range(1, 30):
        term = term @ a / j
        total = total + term
    for _ in range(k):
        total = total @ total
    return total


def sqrtm(x: Any) -> Any:
    """Denman and Beavers' coupled form of Newton's iteration."""
    y, z = x, np.eye(len(x), dtype=x.dtype)
    for _ in range(20):
        y, z = 0.5 * (y + np.linalg.inv(z)), 0.5 * (z + np.linalg.inv(y))
    return y


def logm(x: Any) -> Any:
    """Roots until near 1, then the series of 2*atanh((x - 1)/(x + 1))."""
    one = np.eye(len(x))
    k = 0
    while np.max(np.abs(x - one)) > 0.3:
        x = sqrtm(x)
        k += 1
    z = np.linalg.solve(x + one, x - one)
    square = z @ z
    total, power = np.zeros_like(z), z
    for j in range(1, 40, 2):
        total = total + 2.0 * power / j
        power = power @ square
    return total * 2.0**k


def cofactor_slope(a: Any, e: Any) -> Any:
    """The derivative of the cofactors of regular matrices in the direction e."""
    inverse = np.linalg.inv(a)
    turned = np.swapaxes(inverse, -1, -2)
    trace = np.trace(inverse @ e, axis1=-2, axis2=-1)[..., None, None]
    det = np.linalg.det(a)[..., None, None]
    return det * (trace * turned - turned @ np.swapaxes(e, -1, -2) @ turned)
