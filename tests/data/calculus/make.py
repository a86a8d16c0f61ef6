"""Writes cases.json: answers of sympy, mpmath and the `uncertainties` package for the commands of
calculus; and series.json: coefficients of mpmath's functions to order 100. Run once, by hand:
`python make.py` with sympy 1.14, mpmath 1.3 and uncertainties 3.2.

Formulas are written so that gradcli, sympy and Python (with ** for ^) read the same.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import mpmath as mp
import sympy as sp
from uncertainties import correlated_values_norm, umath

mp.mp.dps = 60
DIGITS = 25

TAYLOR = [
    ("sin(x)", 0, 9), ("cos(x)", 0, 8), ("exp(x)", 0, 10), ("log(1+x)", 0, 8), ("1/(1-x)", 0, 10),
    ("sqrt(1+x)", 0, 7), ("tan(x)", 0, 9), ("atan(x)", 0, 9), ("asin(x)", 0, 7), ("sinh(x)", 0, 7),
    ("cosh(x)", 0.5, 6), ("tanh(x)", 0.3, 8), ("exp(-x^2)", 0, 10), ("exp(-x^2)", 1.2, 8),
    ("sin(x)*exp(x)", 0, 8), ("x*exp(-x)", 2, 6), ("log(x)", 1, 9), ("log(x)", 3.5, 6),
    ("1/x", 2, 8), ("1/x^2", -1.5, 6), ("sqrt(x)", 4, 8), ("x^3-2*x+1", 1, 5), ("x^5", 0, 6),
    ("x^2.5", 2, 7), ("2^x", 0, 6), ("x^x", 1, 6), ("x^x", 2.5, 5), ("sin(x^2)", 0.7, 8),
    ("cos(sin(x))", 0.4, 8), ("exp(sin(x))", 0, 7), ("exp(cos(x))", 1, 6), ("log(cos(x))", 0.5, 6),
    ("sqrt(1+sin(x))", 0.2, 7), ("x/(1+x^2)", 0, 9), ("x/(1+x^2)", 1.5, 7),
    ("(1+x)/(2+x^3)", 0.6, 6), ("sin(x)*cos(x)", 1.1, 8), ("sin(x)^3", 0.9, 6),
    ("tan(x)^2", 0.4, 6), ("atan(x^2)", 0.8, 6), ("asin(x/2)", 0.5, 6), ("acos(x/3)", 1, 6),
    ("exp(x)/(1+exp(x))", 0.5, 7), ("log(1+exp(x))", -1, 6), ("erf(x)", 0.3, 8),
    ("exp(1/x)", 2, 6), ("asinh(x)", 0.7, 6), ("log(x)/x", 2, 7), ("x^2*log(x)", 1.3, 6),
    ("sqrt(x^2+1)*atan(x)", -0.8, 6),
]
LINES = [
    *[(text, at) for text, at, _ in TAYLOR if at != 0][:26],
    ("sin(x)", 2), ("cos(x)", -1), ("exp(3*x)", 0.2), ("x^4-x", -1.2)]
PLANES = [
    ("x^2+y^2", 1, 2), ("x*y", 3, -2), ("sin(x)*cos(y)", 0.4, 1.1), ("exp(x*y)", 0.5, 0.7),
    ("sqrt(x^2+y^2)", 3, 4), ("log(x^2+y)", 1, 2), ("x/y", 2, 5), ("x^y", 2, 1.5),
    ("atan(y/x)", 1, 2), ("x^2*y-y^3", -1, 0.5), ("1/(1+x^2+y^2)", 0.3, 0.6),
    ("x*exp(-y)", 2, 0.1), ("sin(x+y^2)", 1, 1), ("cosh(x)*y", 0.5, 3), ("x^3/(1+y)", 1.5, 1),
    ("sqrt(x)*log(y)", 4, 3), ("tanh(x-y)", 0.2, 0.9), ("exp(-x^2-y^2)", 0.5, -0.5),
    ("x*y^2+y*x^2", 1.1, 0.9), ("(x+y)/(x-y)", 3, 1)]
CURVES = [
    ("x^2+y^2-25", 3, 4), ("x^2+y^2-25", -4, 3), ("x^2+y^2-2", 1, 1), ("x*y-6", 2, 3),
    ("x^3+y^3-6*x*y", 3, 3), ("y^2-x^3-x-2", 1, 2), ("x^2/9+y^2/4-1", 1, 1.9),
    ("y^5+y-x", 2, 1), ("y^3+x*y-2", 1, 1), ("exp(y)+x*y-1", 0.5, 0.1), ("sin(y)+y-x", 1, 0.5),
    ("x*exp(y)-y-1", 0.5, 1), ("cos(x*y)-y", 0.5, 0.9), ("y-x*sin(y)-1", 0.3, 1.2),
    ("log(y)+y-x", 2, 1.5), ("sqrt(x)+sqrt(y)-3", 1, 4), ("x^2*y+y^2*x-6", 1, 2),
    ("x^4+y^4-17", 1, 2), ("y^2-2*x*y-x^2-1", 0.5, 2), ("exp(x*y)-x-y", 0.4, 1.2),
    ("atan(y)-x*y+0.2", 0.5, 0.6), ("x+y+sin(x*y)-2", 0.7, 0.8), ("y^3-3*y-x", 0.5, 1.8),
    ("(x^2+y^2)^2-4*(x^2-y^2)", 1.2, 0.7), ("x^2-y^3+y", 0.4, 1.05), ("tan(y)-x", 0.8, 0.6),
    ("y*log(y)-x", 1, 1.7), ("y^y-x", 3, 1.8), ("x*y^2-sin(x)-1", 1, 1.3), ("y+exp(y)-x", 2, 0.4),
    ("x^3*y-y^3-3", 2, 0.4), ("cosh(y)-x", 2, 1.3), ("sinh(x)+y^3-2", 0.5, 1.1),
    ("y^2*exp(x)-x-3", 0.3, 1.5), ("1/x+1/y-1", 3, 1.5), ("x/y+y/x-2.5", 2, 1.1),
    ("sqrt(x*y)-x+y-1", 2, 1.2), ("log(x^2+y^2)-atan(y/x)-1", 1, 1.6), ("y^4-x*y-1", 1, 1.2),
    ("x^2+x*y+y^2-7", 1, 2), ("y*(1+x^2)-1", 0.5, 0.8), ("y^3-x^2-4", 2, 2),
    ("sin(x)*cos(y)-0.3", 0.8, 1.1), ("x*tanh(y)-0.4", 0.9, 0.5), ("exp(-x*y)-y+0.5", 0.5, 1.1),
    ("y^2-x^2*(1-x^2)", 0.5, 0.43), ("2^y-x*y-1", 0.3, 1.2), ("x^5+y^5-33", 1, 2),
    ("y-exp(-x*y)", 1, 0.57), ("y*sqrt(1+x*y)-2", 1, 1.4)]
ROOTS = [
    ("x^2-2", 1), ("x^2-2", -1), ("x^3-x-2", 1.5), ("cos(x)-x", 0.7), ("exp(x)-3", 1),
    ("log(x)-1", 2), ("x^5-5", 1.4), ("tan(x)-1", 0.7), ("x*exp(x)-1", 0.5), ("sin(x)-0.5", 0.4),
    ("x^3-6*x^2+11*x-6.1", 0.9), ("sqrt(x)-1.7", 2), ("atan(x)-1", 1), ("x-2*sin(x)", 2),
    ("exp(-x)-x", 0.5), ("x^4-10", 1.8), ("1/x-0.3", 3), ("x^2-x-1", 1.5), ("x^2-x-1", -0.5),
    ("cosh(x)-2", 1), ("tanh(x)-0.5", 0.5), ("x^x-10", 2.5), ("x*log(x)-2", 2),
    ("erf(x)-0.5", 0.4), ("2^x-x^2-3", 3), ("exp(x^2)-5", 1.2), ("x^3+x-1", 0.6),
    ("sin(x)/x-0.5", 1.8), ("x^7-3*x+1", 0.3), ("log(1+x^2)-x/2", 0.6), ("x-cos(x)^2", 0.6),
    ("asinh(x)-1", 1.1), ("x^2-10^6", 900), ("x^2-10^(-6)", 0.002)]
MINIMA = [
    ("x^2-4*x+1", 0), ("x^4-3*x^2+x", 1), ("exp(x)-2*x", 0), ("x*log(x)", 0.5), ("cosh(x-1)", 0),
    ("x+1/x", 0.8), ("sin(x)", -1), ("-exp(-(x-2)^2)", 1.7), ("x^2+cos(x)+x", -0.3),
    ("sqrt(1+(x-3)^2)", 2.5), ("log(1+x^2)+x^2/10-x/5", 0.1), ("x^6-x", 0.7), ("2^x+2^(-x)", 0.4),
    ("x*atan(x)-x/3", 0.3), ("(x-1)^2*exp(x)", 0.9), ("exp(2*x)-3*x", 0.2)]
SUMS = [
    "a*b", "a/b", "a+b", "a-b", "a*b*c", "a^2", "sqrt(a)", "exp(a)", "log(a)", "sin(a)*b",
    "a*exp(-b)", "a^b", "a/(b+c)", "(a-b)/(a+b)", "sqrt(a^2+b^2)", "a*sin(b)+c", "log(a*b)/c",
    "a^2*b^3", "a*b/c^2", "cos(a)+sin(b)", "exp(-a^2)*b", "1/(1/a+1/b)", "a*(1+b*c)", "tan(a/3)*b",
    "atan(b/a)"]
# At 1.3: how gradcli writes it, mpmath's function, and how far the nearest singularity is.
SERIES: list[tuple[str, Any, float]] = [
    ("sigmoid(x)", lambda x: 1 / (1 + mp.exp(-x)), 3), ("softplus(x)", lambda x: mp.log1p(
        mp.exp(x)), 3), ("swish(x)", lambda x: x / (1 + mp.exp(-x)), 3),
    ("log_sigmoid(x)", lambda x: -mp.log1p(mp.exp(-x)), 3),
    ("mish(x)", lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), 2),
    ("logaddexp(x, 2x)", lambda x: mp.log(mp.exp(x) + mp.exp(2 * x)), 3),
    ("logsumexp([x, -x])", lambda x: mp.log(mp.exp(x) + mp.exp(-x)), 2),
    ("softmax([x, x^2])[0]", lambda x: 1 / (1 + mp.exp(x * x - x)), 1.5),
    ("norm([x, 1])", lambda x: mp.sqrt(x * x + 1), 1.6),
    ("det([[x, 2], [1, x^2]])", lambda x: x ** 3 - 2, 9),
    ("inv([[x, 1], [-2, x]])[0, 0]", lambda x: x / (x * x + 2), 1.9),
    ("betainc(2.5, 3, x/4)", lambda x: mp.betainc(2.5, 3, 0, x / 4, regularized=True), 1.3),
    ("gammainc(2.5, x)", lambda x: mp.gammainc(2.5, x), 1.3),
    ("exp(x)", mp.exp, 60), ("sin(x)", mp.sin, 60), ("tan(x)", mp.tan, 0.27),
    ("sec(x)", mp.sec, 0.27),
    ("csc(x)", mp.csc, 1.3), ("tanh(x)", mp.tanh, 2), ("sech(x)", mp.sech, 2),
    ("atan(x)", mp.atan, 1.6), ("asin(x/3)", lambda x: mp.asin(x / 3), 1.7),
    ("acos(x/3)", lambda x: mp.acos(x / 3), 1.7), ("atan2(x, 2)", lambda x: mp.atan(x / 2), 2.3),
    ("asinh(x)", mp.asinh, 1.6), ("acosh(x + 1)", lambda x: mp.acosh(x + 1), 1.3),
    ("atanh(x/3)", lambda x: mp.atanh(x / 3), 1.7), ("sqrt(x)", mp.sqrt, 1.3),
    ("cbrt(x)", lambda x: mp.root(x, 3), 1.3), ("x^2.5", lambda x: x ** 2.5, 1.3),
    ("x^20", lambda x: x ** 20, 9), ("x^x", lambda x: x ** x, 1.3), ("log(x)", mp.log, 1.3),
    ("log2(x)/x", lambda x: mp.log(x, 2) / x, 1.3), ("1/x", lambda x: 1 / x, 1.3),
    ("hypot(x, 2)", lambda x: mp.sqrt(x * x + 4), 2.3), ("erf(x)", mp.erf, 9),
    ("gelu(x)", lambda x: x * (1 + mp.erf(x / mp.sqrt(2))) / 2, 9), ("gamma(x)", mp.gamma, 1.3),
    ("lgamma(x)", mp.loggamma, 1.3), ("digamma(x)", mp.digamma, 1.3),
    ("zeta(3, x)", lambda x: mp.zeta(3, x), 1.3), ("besselj(0, x)", lambda x: mp.besselj(0, x), 60),
    ("besselk(1, x)", lambda x: mp.besselk(1, x), 1.3), ("lambertw(x)", mp.lambertw, 1.6),
    ("exp(sin(x))/(1 + x^2)", lambda x: mp.exp(mp.sin(x)) / (1 + x * x), 1.6),
    ("sigmoid(x)*gamma(x)", lambda x: mp.gamma(x) / (1 + mp.exp(-x)), 1.3),
]


def decimal(value: Any) -> str:
    return str(mp.nstr(mp.mpf(value), DIGITS))


def symbolic(text: str) -> Any:
    return sp.sympify(text.replace("^", "**"), rational=True)


def exact(number: float) -> Any:
    """The rational number that a float is."""
    return sp.Rational(*float(number).as_integer_ratio())


def evaluated(expression: Any, **at: float) -> Any:
    return mp.mpf(str(sp.N(expression.subs({k: exact(v) for k, v in at.items()}), 50)))


def derivatives(text: str, x: float, order: int) -> list[Any]:
    found, f = [], symbolic(text)
    for _ in range(order + 1):
        found.append(evaluated(f, x=x))
        f = sp.diff(f, "x")
    return found


def taylor() -> list[Any]:
    return [{"text": text, "at": x, "order": n, "coefficients": [
        decimal(d / mp.factorial(k)) for k, d in enumerate(derivatives(text, x, n))]}
        for text, x, n in TAYLOR]


def tangent() -> list[Any]:
    found = []
    for text, *at in [*LINES, *PLANES]:
        point = dict(zip("xy", at, strict=False))
        slopes = {n: evaluated(sp.diff(symbolic(text), n), **point) for n in point}
        value = evaluated(symbolic(text), **point)
        found.append({"text": text, "at": point,
                      "slopes": {n: decimal(m) for n, m in slopes.items()},
                      "intercept": decimal(value - sum(slopes[n] * mp.mpf(point[n])
                                                       for n in point))})
    return found


def implicit() -> list[Any]:
    found = []
    for text, x, near in CURVES:
        f = symbolic(text)
        y = polished(f, x, near)
        order = 3
        values = [evaluated(sp.idiff(f, sp.Symbol("y"), sp.Symbol("x"), k), x=x, y=y)
                  for k in range(1, order + 1)]
        found.append({"text": text, "x": x, "y": y, "order": order,
                      "derivatives": [decimal(v) for v in values]})
    return found


def polished(f: Any, x: float, y: float) -> float:
    """The float nearest to the root."""
    value = mp.mpf(y)
    slope = sp.diff(f, "y")
    for _ in range(8):
        at = {"x": exact(x), "y": sp.Float(str(value), 55)}
        step = mp.mpf(str(sp.N(f.subs(at), 50))) / mp.mpf(str(sp.N(slope.subs(at), 50)))
        value -= step
    return float(value)


def newton() -> list[Any]:
    found = []
    for goal, cases in (("root", ROOTS), ("minimum", MINIMA)):
        for text, start in cases:
            f = symbolic(text)
            f = sp.diff(f, "x") if goal == "minimum" else f
            g = sp.lambdify("x", f, "mpmath")
            found.append({"text": text, "start": start, "goal": goal,
                          "solution": decimal(mp.findroot(g, mp.mpf(start)))})
    return found


def propagate() -> list[Any]:
    stream = random.Random(7)
    found = []
    for k in range(50):
        text = SUMS[k % len(SUMS)]
        names = sorted({str(s) for s in symbolic(text).free_symbols})
        at = {n: round(stream.uniform(0.5, 3.0), 2) for n in names}
        sigma = {n: round(stream.uniform(0.01, 0.2), 3) for n in names}
        pairs = {}
        if k >= len(SUMS):
            for i, a in enumerate(names):
                for b in names[i + 1:]:
                    pairs[f"{a}:{b}"] = round(stream.uniform(-0.45, 0.45), 2)
        matrix = [[1.0 if a == b else pairs.get(f"{a}:{b}", pairs.get(f"{b}:{a}", 0.0))
                   for b in names] for a in names]
        values = correlated_values_norm([(at[n], sigma[n]) for n in names], matrix)
        space = {name: getattr(umath, name) for name in (
            "sin", "cos", "tan", "atan", "exp", "log", "sqrt")}
        y = eval(text.replace("^", "**"), {**space, **dict(zip(names, values, strict=True))})
        found.append({"text": text, "at": at, "sigma": sigma, "correlation": pairs,
                      "value": y.nominal_value, "std": y.std_dev})
    return found


def series() -> list[Any]:
    """By Cauchy's integral over a circle of half the radius, whose error is 2^-POINTS."""
    points = 256
    found = []
    with mp.workdps(90):
        turns = [mp.expjpi(mp.mpf(2 * k) / points) for k in range(points)]
        for text, f, radius in SERIES:
            r = mp.mpf(radius) / 2
            values = [f(mp.mpf(1.3) + r * turn) for turn in turns]
            c = [mp.re(mp.fsum([v * turns[-j * k % points] for k, v in enumerate(values)])
                       / points / r ** j) for j in [*range(51), 100]]
            scale = [max([mp.fabs(v) for v in values]) / r ** j for j in [*range(51), 100]]
            # What is nothing but the rounding of 90 digits is 0.
            found.append({"text": text, "at": 1.3, "coefficients": [
                mp.nstr(v if abs(v) > mp.mpf(10) ** -60 * s else mp.mpf(0), 20)
                for v, s in zip(c, scale, strict=True)]})
    return found


if __name__ == "__main__":
    cases = {"taylor": taylor(), "tangent": tangent(), "implicit": implicit(), "newton": newton(),
             "propagate": propagate()}
    assert {len(v) for v in cases.values()} == {50}, {k: len(v) for k, v in cases.items()}
    (Path(__file__).parent / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    (Path(__file__).parent / "series.json").write_text(json.dumps(series(), indent=0) + "\n")
