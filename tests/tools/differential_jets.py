"""Second-order jets of mpmath numbers: derivatives that share nothing with gradcli.

A jet is a value, its gradient and its Hessian in a few variables, at 300 bits and with exponents
of any size. None in a place says that nothing depends there, so that it stays 0 times an infinity.
With `noise` each result of an operation, and each slope, is moved by a few units in the last place
of a double and by a few of the smallest doubles: what a program of floats, however good, may do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
from differential_functions import NAN, PERIODIC, Undecided

LARGEST = mp.mpf(1.7976931348623157e308)
TINY = mp.mpf(2) ** -1074
UNIT = 2.0**-52
SMALLEST = mp.mpf(2) ** -1022


class Jets:
    """The arithmetic over n variables."""

    def __init__(self, n: int, noise: random.Random | None = None) -> None:
        self.n = n
        self.pairs = [(i, j) for i in range(n) for j in range(i, n)]
        self.noise = noise
        self.overflowed = False
        self.choices: list[Any] = []
        self.angles: list[Any] = []

    def constant(self, value: float) -> list[Any]:
        return [mp.mpf(value), *[None] * (self.n + len(self.pairs))]

    def variable(self, k: int, value: float) -> list[Any]:
        jet = self.constant(value)
        if self.n:
            jet[1 + k] = mp.mpf(1)
        if self.noise:
            jet[0] *= 1 + self.noise.uniform(-2, 2) * UNIT
        return jet

    def done(self, jet: list[Any]) -> list[Any]:
        value = jet[0]
        if mp.isfinite(value) and abs(value) > LARGEST:
            self.overflowed = True
        if self.noise:
            draw = self.noise.uniform
            jet = [part if part is None else
                   part * (1 + mp.mpf(draw(-2, 2) * UNIT)) + TINY * draw(-1, 1) for part in jet]
        return jet

    def unary(self, function: Callable[[Any], Sequence[Any]], a: list[Any]) -> list[Any]:
        if function in PERIODIC:
            self.angles.append(a[0])
        f0, f1, f2 = self.moved(called(function, a[0]))
        n = self.n
        out = [f0, *[times(f1, g) for g in a[1:n + 1]]]
        for k, (i, j) in enumerate(self.pairs, n + 1):
            out.append(plus(times(f2, times(a[1 + i], a[1 + j])), times(f1, a[k])))
        return self.done(out)

    def binary(self, function: Callable[[Any, Any, bool], Sequence[Any]], a: list[Any],
               b: list[Any]) -> list[Any]:
        n = self.n
        fixed = all(part is None for part in b[1:])
        f0, fa, fb, faa, fab, fbb = self.moved(
            called(function, a[0], b[0], fixed, parts=6))
        out = [f0]
        for k in range(1, n + 1):
            out.append(plus(times(fa, a[k]), times(fb, b[k])))
        for k, (i, j) in enumerate(self.pairs, n + 1):
            ai, aj, bi, bj = a[1 + i], a[1 + j], b[1 + i], b[1 + j]
            mixed = plus(times(ai, bj), times(bi, aj))
            out.append(plus(plus(plus(times(faa, times(ai, aj)), times(fab, mixed)),
                                 times(fbb, times(bi, bj))),
                            plus(times(fa, a[k]), times(fb, b[k]))))
        return self.done(out)

    def moved(self, parts: Sequence[Any]) -> Sequence[Any]:
        """Slopes as a rule of floats finds them."""
        if not self.noise:
            return parts
        draw, unit = self.noise.uniform, mp.mpf(UNIT)
        if 0 < abs(parts[0]) < SMALLEST:
            unit += TINY / abs(parts[0])  # of a rule in terms of the answer
        return [p if p is None else p * (1 + draw(-2, 2) * unit) for p in parts]

    def compare(self, sign: str, a: list[Any], b: list[Any]) -> bool:
        """Whether a < b and so on; Undecided where a few units decide it."""
        x, y = a[0], b[0]
        if mp.isnan(x) or mp.isnan(y):
            raise Undecided
        if abs(x - y) <= 1e-11 * (abs(x) + abs(y)) + 8 * TINY or abs(x) > LARGEST < abs(y):
            raise Undecided
        found = bool(x < y) if sign in ("<", "<=") else bool(x > y)
        self.choices.append(found)
        return found


def times(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a * b


def plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def called(function: Callable[..., Sequence[Any]], *arguments: Any, parts: int = 3
           ) -> Sequence[Any]:
    """Value and derivatives, NaN where there are none (poles, outside of the domain)."""
    try:
        if not all(mp.isfinite(a) for a in arguments if type(a) is not bool):
            return [NAN] * parts
        found = function(*arguments)
    except (ZeroDivisionError, ValueError, OverflowError, mp.mp.NoConvergence, TypeError):
        return [NAN] * parts
    return [NAN if type(f) is mp.mpc else f for f in found]


def finite(value: Any) -> bool:
    return bool(mp.isfinite(value))
