"""The rows of one argument keep their digits to second order, against mpmath at 130 digits.

A value is right at every float, however ill-conditioned; a derivative within its conditioning: what
it does when the source changes by some units in the last place. Points are where textbook forms
cancel: near 0, near the ends of domains, far out.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from references import FUNCTIONS

from gradcli.ops import PUBLIC, TABLE
from gradcli.python.program import loads

POINTS = (1e-12, -1e-12, 1e-8, -1e-8, 1e-4, 0.01, -0.3, 0.5 + 1e-9, 0.5 - 1e-9, 0.999, 1 - 1e-8,
          1 - 1e-12, -1 + 1e-8, 1 + 1e-8, 1 + 1e-12, -1 - 1e-8, 1.7, -2.5, 6.2, 20.0, -20.0, 37.0,
          -37.0, 300.0, -300.0, 1e4, -1e4, 1e8)
# What mpmath takes seconds for; steps; and `shi`, whose sinh(x)/x cancels in second order.
LEFT_OUT = frozenset((
    "zeta", "polygamma", "digamma", "lgamma", "gamma", "erfinv", "erfcinv", "ndtri", "ci", "ei",
    "e1", "li", "chi", "si", "fresnels", "fresnelc", "lambertw", "ellipk", "ellipe_complete",
    "dawsn", "erfi", "sign", "shi", "erfcx", "log_ndtr", "sinc"))
ROWS = sorted(name for name, row in TABLE.items()
              if name in PUBLIC and name in FUNCTIONS and name not in LEFT_OUT and row.elementwise
              and row.rules and len(row.parameters) == 1)
DIGITS = 130
LOST = 1e-12
# Beyond this a number is neither right nor wrong.
SMALL, LARGE = 1e-45, 1e300


def true(name: str, x: mpf) -> list[mpf]:
    """Value, first and second derivative."""
    h = abs(x) * mpf(10) ** -40
    low, here, high = (FUNCTIONS[name](x + s * h) for s in (-1, 0, 1))
    return [here, (high - low) / (2 * h), (high - 2 * here + low) / h**2]


def far_off(name: str, x: float) -> str:
    """What is more wrong than rounding explains, or an empty text; raises ValueError for no value.
    """
    with mpmath.workdps(DIGITS):
        right, beside = true(name, mpf(x)), true(name, mpf(x) * (1 + mpf(10) ** -20))
        if not all(isinstance(v, mpf) and mp.isfinite(v) for v in right):
            raise ValueError
        program = loads(f"{name}(x)")
        at = {"x": x}
        found = [program.value(at=at), program.gradient(at=at)["x"],
                 program.hessian(at=at)["x"]["x"]]
        arrays = float(TABLE[name](np.array([x]))[0])
        for order, (got, t, b) in enumerate([*zip(found, right, beside, strict=True),
                                             (arrays, right[0], beside[0])]):
            if not SMALL < abs(t) < LARGE:
                continue
            moved = abs(b - t) * mpf(10) ** 20 if 0 < order < 3 else 0
            if not (math.isfinite(got) and abs(mpf(got) - t) <= LOST * max(abs(t), moved)):
                return f"{name}({x!r}), order {order % 3}: {got!r}, right {mp.nstr(t, 17)}"
    return ""


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    failed, tried = [], 0
    with np.errstate(all="ignore"):
        for x in POINTS:
            try:
                failed.append(far_off(name, x))
            except (ArithmeticError, ValueError, TypeError):
                continue
            tried += 1
    assert tried > 3
    assert not [f for f in failed if f]


@pytest.mark.parametrize(("text", "f", "x"), [
    ("square(asech(x))", lambda x: mp.asech(x) ** 2, 0.99999999),
    ("square(asec(x))", lambda x: mp.asec(x) ** 2, 1.00000001),
    ("square(acosh(x))", lambda x: mp.acosh(x) ** 2, 1.00000001)])
def test_well_conditioned_functions_of_ill_conditioned_rows(text: str, f: object, x: float
                                                                  ) -> None:
    with mpmath.workdps(60):
        for order, got in enumerate((loads(text).value(at={"x": x}),
                                     loads(text).gradient(at={"x": x})["x"])):
            right = mpmath.diff(f, mpf(x), order, h=mpf(10) ** -25)
            assert abs(got / right - 1) < 1e-13, (text, order)


# --- rows of two arguments ----------------------------------------------------------------------

def step(x: mpf) -> mpf:
    return x * mpf(10) ** -25


def scaled_series(sign: int, n: float, x: float) -> list[mpf]:
    """sqrt(pi/(2 x)) times DLMF 10.40.1 or 10.40.2, and two derivatives, term by term."""
    found = [mpf(0)] * 3
    term, front = mpf(1), 1 / mp.sqrt(2 * mp.pi) if sign < 0 else mp.sqrt(mp.pi / 2)
    for j in range(40):
        p = -mpf(1) / 2 - j
        for order, factor in enumerate((1, p, p * (p - 1))):
            found[order] += front * term * factor * mpf(x) ** (p - order)
        term *= sign * (4 * mpf(n) ** 2 - (2 * j + 1) ** 2) / (8 * (j + 1))
    return found


def scaled_k(n: float, x: float) -> list[mpf]:
    """exp(x) Kn(x) and two derivatives: DLMF 10.32.9 by the trapezoidal rule."""
    h, found, weight, j = mpf(1) / 40, [mpf(0)] * 3, mpf(1), 0
    while weight > mpf(10) ** -30:
        rise = mp.cosh(j * h) - 1
        weight = mp.exp(-x * rise) * mp.cosh(n * j * h) * (h if j else h / 2)
        found = [f + weight * (-rise) ** k for k, f in enumerate(found)]
        j += 1
    return found


@pytest.mark.parametrize("n", [0.0, 1.0, 2.0, 7.0, 0.5, 2.25])
@pytest.mark.parametrize(("name", "sign"), [("besselie", -1), ("besselke", 1)])
def test_scaled_bessel_functions(name: str, sign: int, n: float) -> None:
    """Far out by the asymptotic series, which is exact there."""
    with mpmath.workdps(45):
        for x in (0.05, 0.7, 3.0, 24.0, 40.0, 90.0, 1e4, 1e10, 1e15, 1e100):
            if x > 60.0:
                right = scaled_series(sign, n, x)
            elif sign > 0:
                right = scaled_k(n, x)
            else:
                right = [mpmath.diff(lambda v: mp.exp(-v) * mp.besseli(n, v), mpf(x), k,
                                     h=mpf(10) ** -12) for k in range(3)]
            program, at = loads(f"{name}({n!r}, x)"), {"x": x}
            found = [program.value(at=at), program.gradient(at=at)["x"],
                     program.hessian(at=at)["x"]["x"]]
            for order, (got, true) in enumerate(zip(found, right, strict=True)):
                if abs(true) > SMALL:  # near 25 the second derivative is one of differences
                    assert abs(got / true - 1) < 2e-12, (x, order, got, mp.nstr(true, 17))


@pytest.mark.parametrize("x", [-0.4, -3.0, -60.0, -1e8])
@pytest.mark.parametrize("n", [0, 1])
def test_the_scaled_function_is_even_or_odd(n: int, x: float) -> None:
    program, sign = loads(f"besselie({n}, x)"), 1 - 2 * n
    for at, mirror in (({"x": x}, {"x": -x}),):
        assert program.gradient(at=at)["x"] == -sign * program.gradient(at=mirror)["x"]
        assert program.hessian(at=at)["x"]["x"] == sign * program.hessian(at=mirror)["x"]["x"]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", ["beta", "lbeta"])
def test_beta(name: str, swapped: bool) -> None:
    """The derivatives of arguments of very different sizes, and below 0."""
    points = [(1e-12, 300.0), (1e-12, 0.3), (1e-8, 5.0), (2.0, 1e-9), (3.0, 1e4), (50.0, 1e6),
              (1e-3, 1e9), (0.5, 0.25), (9.0, 11.0), (-0.3, 1e-9), (-2.5, 1e-7), (-7.25, 20.5)]
    function = FUNCTIONS[name] if name == "beta" else lambda a, b: mp.log(abs(mp.beta(a, b)))
    for a, b in points:
        with mpmath.workdps(DIGITS):
            A, B = mpf(a), mpf(b)
            h, k = step(A), step(B)
            first = [(function(A + h, B) - function(A - h, B)) / (2 * h),
                     (function(A, B + k) - function(A, B - k)) / (2 * k)]
            second = [(function(A + h, B) - 2 * function(A, B) + function(A - h, B)) / h**2,
                      (function(A, B + k) - 2 * function(A, B) + function(A, B - k)) / k**2]
        program, at = loads(f"{name}(y, x)" if swapped else f"{name}(x, y)"), {"x": a, "y": b}
        g, hessian = program.gradient(at=at), program.hessian(at=at)
        found = [g["x"], g["y"], hessian["x"]["x"], hessian["y"]["y"]]
        for got, true in zip(found, (*first, *second), strict=True):
            if SMALL < abs(true) < LARGE:
                assert abs(got / true - 1) < 1e-11, (a, b, got, mp.nstr(true, 12))


PAIRS = sorted(name for name, row in TABLE.items()
               if name in PUBLIC and name in FUNCTIONS and row.elementwise and row.rules
               and len(row.parameters) == 2 and all(row.rules[k] is not None for k in (0, 1))
               and name not in ("beta", "lbeta", "gammainc", "gammaincl", "igamma", "igammac",
                                "ellipf", "ellipe_incomplete", "mod", "fmod"))


@pytest.mark.parametrize("name", PAIRS)
def test_row_of_two(name: str) -> None:
    """First and second derivatives in each argument, within their conditioning."""
    function, tried = FUNCTIONS[name], 0
    sizes = (1e-12, 0.3, 20.0, 1e6, -0.4)
    for pair in [(a, b) for a in sizes for b in sizes if a != b]:
        at = dict(zip("xy", pair, strict=True))
        for k in (0, 1):
            def beside(s: int, k: int = k, pair: tuple[float, float] = pair) -> mpf:
                xs = [mpf(v) for v in pair]
                xs[k] += s * step(xs[k])
                return function(*xs)

            with mpmath.workdps(DIGITS):
                try:
                    a, b, c, d, e = map(beside, (-2, -1, 0, 1, 2))
                except (ArithmeticError, ValueError, TypeError):
                    continue
                if not all(isinstance(v, mpf) and mp.isfinite(v) for v in (a, b, c, d, e)):
                    continue
                h = step(mpf(pair[k]))
                slopes = [(d - b) / (2 * h), (d - 2 * c + b) / h**2,
                          (e - 2 * d + 2 * b - a) / (2 * h**3)]
                letter, program = "xy"[k], loads(f"{name}(x, y)")
                found = [program.gradient(at=at)[letter],
                         program.hessian(at=at)[letter][letter]]
                for order, got in enumerate(found):
                    true, moved = slopes[order], abs(slopes[order + 1] * pair[k])
                    if SMALL < abs(true) < LARGE and got is not None:
                        assert abs(got - true) <= 1e-9 * (abs(true) + moved), (
                            pair, letter, order + 1, got, mp.nstr(true, 12))
                        tried += 1
    assert tried > 3
