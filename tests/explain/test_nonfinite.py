"""Why a value or a gradient is NaN or infinite: the class, the place, the rewrite.

Gradients, classes and places were derived by hand. Each rewrite that a note offers is put into the
program: the value, where there was one, stays, and the gradient is finite.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from asked import loaded
from conftest import folded
from folders import ROOT
from transcripts import header_commands, in_process

from gradcli.engine.sweeps import absorbing, reverse
from gradcli.explain import notes as shares
from gradcli.explain.numbers import nonfinite
from gradcli.ops import TABLE

FOLDER = ROOT / "samples/nan"
NAN, INF = math.nan, math.inf


class Case(NamedTuple):
    """A program in which x is the source and z the target.

    gradient: dz/dx. code, place: of the note on it; place is LINE:COLUMN, and text what stands
    there. old, new: the rewrite that the note offers for a part of the program; empty: only advice.
    mended: the gradient of the program with it, where that is not clear to be anything finite.
    """

    program: str
    gradient: Any
    code: str
    place: str
    text: str
    old: str = ""
    new: str = ""
    mended: Any = None
    options: tuple[str, ...] = ()


def x(value: Any, *lines: str) -> str:
    return "\n".join([f"var x = {value}", *lines, ""])


DEAD, STEEP, TIMES = "nan-dead-branch", "nan-infinite-slope", "nan-zero-times-inf"
OVER, UNDER, DOMAIN = "nan-overflow", "nan-underflow", "nan-domain"
POLE, VAGUE, SPREAD = "nan-pole", "nan-indeterminate", "nan-spread"

CASES = {
    # The value is not used: 0 by selection, and NaN with TensorFlow's rule.
    "where sqrt": Case(
        x(0.0, "z = where(x > 0, sqrt(x), 0)"), 0.0, DEAD, "2:18", "sqrt(x)",
        "where(x > 0, sqrt(x), 0)", "where(x > 0, sqrt(where(x > 0, x, 1)), 0)", 0.0),
    "where log, --tf": Case(
        x(0.0, "z = where(x > 0, log(x), 0)"), NAN, DEAD, "2:18", "log(x)",
        "where(x > 0, log(x), 0)", "where(x > 0, log(where(x > 0, x, 1)), 0)", 0.0, ("--tf",)),
    "where, second branch": Case(
        x(0.0, "z = where(x == 0, 1, sin(x)/x)"), 0.0, DEAD, "2:22", "sin(x)/x",
        "where(x == 0, 1, sin(x)/x)", "where(x == 0, 1, sin(x)/where(x == 0, 1, x))", 0.0),
    "where 1/x, --tf": Case(
        x(0.0, "z = where(x > 0, 1/x, x)"), NAN, DEAD, "2:18", "1/x",
        "where(x > 0, 1/x, x)", "where(x > 0, 1/where(x > 0, x, 1), x)", 1.0, ("--tf",)),
    "where power, one element": Case(
        x([4.0, 0.0], "z = sum(where(x > 0, x^0.5, x))"), [0.25, 1.0], DEAD, "2:22", "x^0.5",
        "where(x > 0, x^0.5, x)", "where(x > 0, where(x > 0, x, 1)^0.5, x)", [0.25, 1.0]),
    "where acos": Case(
        x(1.0, "z = where(x < 1, acos(x), 0)"), 0.0, DEAD, "2:18", "acos(x)",
        "where(x < 1, acos(x), 0)", "where(x < 1, acos(where(x < 1, x, 0)), 0)", 0.0),
    "where, made before": Case(
        x(0.0, "y = log(x)", "z = where(x > 0, y, 1)"), 0.0, DEAD, "2:5", "log(x)",
        "log(x)", "log(maximum(x, 1e-12))", 0.0),
    "where, in a function": Case(
        x(0.0, "def f(t):", "    return sqrt(t)", "z = where(x > 0, f(x), 0)"), 0.0, DEAD, "3:12",
        "sqrt(t)", "sqrt(t)", "sqrt(maximum(t, 1e-12))", 0.0),
    "maximum": Case(
        x(0.0, "z = maximum(sqrt(x), 1)"), 0.0, DEAD, "2:13", "sqrt(x)",
        "sqrt(x)", "sqrt(maximum(x, 1e-12))", 0.0),
    "minimum of a pole": Case(
        x(0.0, "z = minimum(1/x, 5)*x"), 5.0, DEAD, "2:13", "1/x"),
    "clip": Case(
        x(0.0, "z = clip(sqrt(x), 1, 2)"), 0.0, DEAD, "2:10", "sqrt(x)",
        "sqrt(x)", "sqrt(maximum(x, 1e-12))", 0.0),
    "relu of log": Case(
        x(0.0, "z = relu(log(x))"), 0.0, DEAD, "2:10", "log(x)",
        "log(x)", "log(maximum(x, 1e-12))", 0.0),
    "sqrt of relu": Case(
        x(-1.0, "z = sqrt(relu(x))"), 0.0, DEAD, "2:5", "sqrt(relu(x))",
        "sqrt(relu(x))", "sqrt(relu(x) + 1e-12)", 0.0),
    "a pole that a bound cuts off": Case(
        x(0.0, "z = minimum(1/x, 100)"), 0.0, DEAD, "2:13", "1/x",
        "1/x", "1/where(x == 0, 1e-12, x)", 0.0),
    "nested where": Case(
        x(0.0, "z = where(x > -1, where(x > 0, log(x), 2*x), 0)"), 2.0, DEAD, "2:32", "log(x)",
        "where(x > 0, log(x), 2*x)", "where(x > 0, log(where(x > 0, x, 1)), 2*x)", 2.0),
    "where, exp behind it": Case(
        x(1000.0, "z = where(x > 50, x, log(1 + exp(x)))"), 1.0, DEAD, "2:30", "exp(x)",
        "where(x > 50, x, log(1 + exp(x)))",
        "where(x > 50, x, log(1 + exp(where(x > 50, 1, x))))", 1.0),
    "where of a mask made before": Case(
        x([-1.0, 4.0], "m = x > 0", "z = sum(where(m, sqrt(x), 0))"), [0.0, 0.25], DEAD, "3:18",
        "sqrt(x)", "where(m, sqrt(x), 0)", "where(m, sqrt(where(m, x, 1)), 0)", [0.0, 0.25]),
    # An infinite slope is right.
    "sqrt": Case(
        x(0.0, "z = sqrt(x)"), INF, STEEP, "2:5", "sqrt(x)",
        "sqrt(x)", "sqrt(x + 1e-12)", 0.5e6),
    "power": Case(
        x(0.0, "z = x^0.5"), INF, STEEP, "2:5", "x^0.5", "x^0.5", "(x + 1e-12)^0.5", 0.5e6),
    "power below a half": Case(
        x(0.0, "z = x^0.3"), INF, STEEP, "2:5", "x^0.3", "x^0.3", "(x + 1e-20)^0.3", 0.3e14),
    "cbrt": Case(
        x(0.0, "z = cbrt(x)"), INF, STEEP, "2:5", "cbrt(x)", "cbrt(x)", "cbrt(x + 1e-18)"),
    "3-norm": Case(
        x([0.0, 0.0], "z = sum(abs(x)^3)^(1/3)"), [NAN, NAN], STEEP, "2:5", "sum(abs(x)^3)^(1/3)",
        "sum(abs(x)^3)^(1/3)", "(sum(abs(x)^3) + 1e-18)^(1/3)", [0.0, 0.0]),
    "distance of equal points": Case(
        x([1.0, 2.0], "y = [1.0, 2.0]", "z = sqrt(sum((x - y)^2))"), [NAN, NAN], STEEP, "3:5",
        "sqrt(sum((x - y)^2))", "sqrt(sum((x - y)^2))", "sqrt(sum((x - y)^2) + 1e-12)", [0.0, 0.0]),
    "distances of all pairs": Case(
        x([1.0, 2.0], "d = reshape(x, [2, 1]) - reshape(x, [1, 2])", "z = sum(sqrt(d^2))"),
        [NAN, NAN], STEEP, "3:9", "sqrt(d^2)", "sqrt(d^2)", "abs(d)", [-2.0, 2.0]),
    "spread of equal values": Case(
        x([3.0, 3.0], "z = sqrt(mean((x - mean(x))^2))"), [NAN, NAN], STEEP, "2:5",
        "sqrt(mean((x - mean(x))^2))", "sqrt(mean((x - mean(x))^2))",
        "sqrt(mean((x - mean(x))^2) + 1e-12)", [0.0, 0.0]),
    "geometric mean": Case(
        x([0.0, 4.0], "z = prod(x)^(1/2)"), [INF, NAN], STEEP, "2:5", "prod(x)^(1/2)",
        "prod(x)^(1/2)", "(prod(x) + 1e-12)^(1/2)", [2e6, 0.0]),
    "acos": Case(
        x(1.0, "z = acos(x)"), -INF, STEEP, "2:5", "acos(x)", "acos(x)", "acos((1 - 1e-12)*x)"),
    "asin of a sum": Case(
        x(0.5, "z = asin(x + 0.5)"), INF, STEEP, "2:5", "asin(x + 0.5)",
        "asin(x + 0.5)", "asin((1 - 1e-12)*(x + 0.5))"),
    "one bad element": Case(
        x([1.0, 0.0, 4.0], "z = sum(sqrt(x))"), [0.5, INF, 0.25], STEEP, "2:9", "sqrt(x)",
        "sqrt(x)", "sqrt(x + 1e-12)"),
    "sqrt of a square": Case(
        x(0.0, "z = sqrt(x*x)"), NAN, STEEP, "2:5", "sqrt(x*x)", "sqrt(x*x)", "abs(x)", 0.0),
    "sqrt of a matrix product": Case(
        x([[0.0, 1.0], [4.0, 0.0]], "z = sum(sqrt(x @ x))"), [[INF, NAN], [NAN, INF]], STEEP,
        "2:9", "sqrt(x @ x)", "sqrt(x @ x)", "sqrt(x @ x + 1e-12)"),
    "in a loop": Case(
        x(0.0, "z = 0.0", "for k in range(4):", "    z = z + sqrt(k*x)"), INF, STEEP, "4:13",
        "sqrt(k*x)", "sqrt(k*x)", "sqrt(k*x + 1e-12)", 0.5e6*(0 + 1 + 2 + 3)),
    "in a tape": Case(
        "var x = 0.0\ntape t:\n    z = 3*sqrt(x)\n", INF, STEEP, "3:11", "sqrt(x)",
        "sqrt(x)", "sqrt(x + 1e-12)", 1.5e6),
    # 0 times infinity, and nothing selects. Where a constant 0 made it, the gradient is 0, but the
    # value may be NaN.
    "constant factor 0": Case(
        x(0.0, "z = 0*sqrt(x)"), 0.0, TIMES, "2:7", "sqrt(x)",
        "sqrt(x)", "sqrt(maximum(x, 1e-12))", 0.0),
    "sqrt of 0*x": Case(
        x(7.0, "z = sqrt(0*x)"), 0.0, TIMES, "2:5", "sqrt(0*x)",
        "sqrt(0*x)", "sqrt(0*x + 1e-12)", 0.0),
    "entropy": Case(
        x([0.5, 0.5, 0.0], "z = -sum(x*log(x))"), [math.log(2) - 1, math.log(2) - 1, NAN], TIMES,
        "2:12", "log(x)"),
    "-p*log(p), p a copy": Case(
        x(0.0, "p = x", "z = -p*log(p)"), NAN, TIMES, "3:8", "log(p)"),
    "y*log(1 + x)": Case(
        x(-1.0, "y = 0.0", "z = y*log1p(x)"), 0.0, VAGUE, "3:7", "log1p(x)",
        "y*log1p(x)", "xlog1py(y, x)", 0.0),
    "y*log(x), y = 0": Case(
        x(0.0, "y = 0.0", "z = y*log(x)"), 0.0, VAGUE, "3:7", "log(x)",
        "y*log(x)", "xlogy(y, x)", 0.0),
    "root squared": Case(
        x(0.0, "z = 3*sqrt(x)^2"), 0.0, TIMES, "2:7", "sqrt(x)", "sqrt(x)^2", "x", 3.0),
    "root of a sum squared": Case(
        x([0.0, 0.0], "z = sqrt(sum(x))^2"), [0.0, 0.0], TIMES, "2:5", "sqrt(sum(x))",
        "sqrt(sum(x))^2", "sum(x)", [1.0, 1.0]),
    "power squared": Case(
        x(0.0, "z = (x^0.5)^2"), NAN, TIMES, "2:6", "x^0.5", "(x^0.5)^2", "x", 1.0),
    "x times power": Case(
        x(0.0, "z = x*x^0.25"), NAN, TIMES, "2:7", "x^0.25", "x*x^0.25", "x^1.25", 0.0),
    "x times root": Case(
        x(0.0, "z = x*sqrt(x)"), 0.0, TIMES, "2:7", "sqrt(x)", "x*sqrt(x)", "x^1.5", 0.0),
    # Too large.
    "softplus": Case(
        x(800.0, "z = log(1 + exp(x))"), NAN, OVER, "2:13", "exp(x)",
        "log(1 + exp(x))", "softplus(x)", 1.0),
    "softplus, e^x": Case(
        x([0.0, 800.0], "z = sum(log(e^x + 1))"), [0.5, NAN], OVER, "2:13", "e^x",
        "log(e^x + 1)", "softplus(x)", [0.5, 1.0]),
    "softplus, log1p, several lines": Case(
        x(400.0, "y = 2*x", "big = exp(y)", "z = log1p(big)"), NAN, OVER, "3:7", "exp(y)",
        "log1p(big)", "softplus(y)", 2.0),
    "sigmoid": Case(
        x(1000.0, "z = 1/(1 + exp(x))"), NAN, OVER, "2:12", "exp(x)",
        "1/(1 + exp(x))", "sigmoid(-x)", 0.0),
    "sigmoid, exp twice": Case(
        x(800.0, "z = exp(x)/(1 + exp(x))"), NAN, OVER, "2:5", "exp(x)",
        "exp(x)/(1 + exp(x))", "sigmoid(x)", 0.0),
    "softmax": Case(
        x([1000.0, 1000.0], "e = exp(x)", "p = e/sum(e)", "z = p[0]"), [NAN, NAN], OVER, "2:5",
        "exp(x)", "e/sum(e)", "softmax(x)", [0.25, -0.25]),
    "log of softmax": Case(
        x([1000.0, 1000.0], "p = log(exp(x)/sum(exp(x)))", "z = p[0]"), [NAN, NAN], OVER, "2:9",
        "exp(x)", "log(exp(x)/sum(exp(x)))", "log_softmax(x)", [0.5, -0.5]),
    "logsumexp": Case(
        x([1000.0, 1000.0], "z = log(sum(exp(x)))"), [NAN, NAN], OVER, "2:13", "exp(x)",
        "log(sum(exp(x)))", "logsumexp(x)", [0.5, 0.5]),
    "logsumexp of rows": Case(
        x([[900.0, 900.0], [0.0, 0.0]], "z = sum(log(sum(exp(x), axis=1)))"),
        [[NAN, NAN], [0.5, 0.5]], OVER, "2:17", "exp(x)",
        "log(sum(exp(x), axis=1))", "logsumexp(x, axis=-1)", [[0.5, 0.5], [0.5, 0.5]]),
    "quotient of exps": Case(
        x(800.0, "z = exp(x)/exp(x - 1)"), NAN, OVER, "2:5", "exp(x)",
        "exp(x)/exp(x - 1)", "exp(x - (x - 1))", 0.0),
    "product of exps": Case(
        x(800.0, "z = exp(x)*exp(-x/2 - 400)"), NAN, OVER, "2:5", "exp(x)",
        "exp(x)*exp(-x/2 - 400)", "exp(x - x/2 - 400)", 0.5),
    "root of exp": Case(
        x(800.0, "z = sqrt(exp(x))"), NAN, OVER, "2:10", "exp(x)",
        "sqrt(exp(x))", "exp(x/2)", 0.5*math.exp(400)),
    "one over exp": Case(
        x(300.0, "z = 1/exp(3*x)"), NAN, OVER, "2:7", "exp(3*x)",
        "1/exp(3*x)", "exp(-(3*x))", 0.0),
    "softmax of rows": Case(
        x([[1000.0, 1000.0], [0.0, 0.0]], "e = exp(x)", "s = e/sum(e, axis=1, keepdims=true)",
          "z = s[0, 0]"), [[NAN, NAN], [0.0, 0.0]], OVER, "2:5", "exp(x)",
        "e/sum(e, axis=1, keepdims=true)", "softmax(x, axis=-1)", [[0.25, -0.25], [0.0, 0.0]]),
    "softplus in float32": Case(
        "var x: float32 = 100.0\nz = log(1 + exp(x))\n", NAN, OVER, "2:13", "exp(x)",
        "log(1 + exp(x))", "softplus(x)", 1.0),
    "length in float32": Case(
        "var x: float32 = 1e25\nz = sqrt(x*x)\n", 1.0, OVER, "2:10", "x*x",
        "sqrt(x*x)", "abs(x)", 1.0),
    "cosh": Case(
        x(800.0, "z = log(cosh(x))"), NAN, OVER, "2:9", "cosh(x)",
        "log(cosh(x))", "logcosh(x)", 1.0),
    "tanh": Case(
        x(800.0, "z = sinh(x)/cosh(x)"), NAN, OVER, "2:5", "sinh(x)",
        "sinh(x)/cosh(x)", "tanh(x)", 0.0),
    "tanh by exps": Case(
        x(800.0, "z = (exp(x) - exp(-x))/(exp(x) + exp(-x))"), NAN, OVER, "2:6", "exp(x)",
        "(exp(x) - exp(-x))/(exp(x) + exp(-x))", "tanh(x)", 0.0),
    "tanh by exps, far below 0": Case(
        x([-400.0, 0.0], "u = exp(2*x)", "v = exp(-2*x)", "z = sum((u - v)/(u + v))"), [NAN, 2.0],
        OVER, "3:5", "exp(-2*x)", "(u - v)/(u + v)", "tanh(2*x)", [0.0, 2.0]),
    "length": Case(
        x(3e200, "y = 4e200", "z = sqrt(x^2 + y^2)"), 0.6, OVER, "3:10", "x^2",
        "sqrt(x^2 + y^2)", "hypot(x, y)", 0.6),
    "in a function of a function": Case(
        x(0.5, "def loss(t):", "    return log(1 + exp(t))", "def scaled(t):",
          "    return loss(2000*t)", "z = scaled(x)"), NAN, OVER, "3:20", "exp(t)",
        "log(1 + exp(t))", "softplus(t)", 2000.0),
    "difference of exps": Case(
        x(800.0, "z = exp(x) - exp(x + 1)"), NAN, OVER, "2:14", "exp(x + 1)"),
    "a loop": Case(
        x(2.0, "z = x", "for k in range(12):", "    z = z*z"), INF, OVER, "4:9", "z*z"),
    "a slope": Case(
        x(1e-160, "z = 1/x"), -INF, OVER, "2:5", "1/x"),
    "upstream times slope": Case(
        x(1e-200, "z = 1e300*sqrt(x)"), INF, OVER, "2:11", "sqrt(x)"),
    "gamma": Case(x(200.0, "z = gamma(x)"), INF, OVER, "2:5", "gamma(x)"),
    "dot": Case(x([1e200, 0.0], "z = dot(x, x)"), [2e200, 0.0], OVER, "2:5", "dot(x, x)"),
    # Too small.
    "log of exp": Case(
        x(-800.0, "z = log(exp(x))"), NAN, UNDER, "2:9", "exp(x)", "log(exp(x))", "x", 1.0),
    "one over exp, truly too large": Case(
        x(-300.0, "z = 1/exp(3*x)"), NAN, UNDER, "2:7", "exp(3*x)"),
    "log of sigmoid": Case(
        x(-800.0, "z = log(sigmoid(x))"), NAN, UNDER, "2:9", "sigmoid(x)",
        "log(sigmoid(x))", "log_sigmoid(x)", 1.0),
    "log of a product": Case(
        x(1e-200, "z = log(x*x)"), INF, UNDER, "2:9", "x*x", "log(x*x)",
        "log(abs(x)) + log(abs(x))", 2e200),
    "softmax of small ones": Case(
        x([-1000.0, -1000.0], "p = exp(x)/sum(exp(x))", "z = p[1]"), [NAN, NAN], UNDER, "2:16",
        "exp(x)", "exp(x)/sum(exp(x))", "softmax(x)", [-0.25, 0.25]),
    "log of a likelihood": Case(
        x([1e-200, 1e-150, 0.5], "z = log(prod(x))"), [INF, INF, NAN], UNDER, "2:9", "prod(x)",
        "log(prod(x))", "sum(log(abs(x)))", [1e200, 1e150, 2.0]),
    "log of softmax of small ones": Case(
        x([0.0, -1000.0], "z = log(softmax(x))[1]"), [NAN, NAN], UNDER, "2:9", "softmax(x)",
        "log(softmax(x))", "log_softmax(x)", [-1.0, 1.0]),
    "log of a part of softmax": Case(
        x([0.0, -1000.0], "p = softmax(x)", "z = log(p[1])"), [NAN, NAN], UNDER, "2:5",
        "softmax(x)", "log(p[1])", "log_softmax(x)[1]", [-1.0, 1.0]),
    "log of a part of softmax of large ones": Case(
        x([0.0, 800.0], "p = exp(x)/sum(exp(x))", "z = log(p[0])"), [NAN, NAN], OVER, "2:16",
        "exp(x)", "log(p[0])", "log_softmax(x)[0]", [1.0, -1.0]),
    "log of 1/(1 + exp(-x))": Case(
        x(-1000.0, "s = 1/(1 + exp(-x))", "z = log(s)"), NAN, OVER, "2:12", "exp(-x)",
        "log(s)", "log_sigmoid(x)", 1.0),
    "square below 1e-324": Case(
        x(1e-200, "z = 1/(x*x)"), -INF, UNDER, "2:8", "x*x"),
    # Outside of the domain.
    "log": Case(
        x(-1.0, "z = log(x)"), -1.0, DOMAIN, "2:5", "log(x)",
        "log(x)", "log(maximum(x, 1e-12))", 0.0),
    "log squared": Case(
        x(-0.5, "z = log(x)^2"), NAN, DOMAIN, "2:5", "log(x)",
        "log(x)", "log(maximum(x, 1e-12))", 0.0),
    "mean of logs": Case(
        x([1.0, -2.0], "z = mean(log(x))"), [0.5, -0.25], DOMAIN, "2:10", "log(x)",
        "log(x)", "log(maximum(x, 1e-12))", [0.5, 0.0]),
    "sqrt of a negative number": Case(
        x(2.0, "z = sqrt(1 - x^2)"), NAN, DOMAIN, "2:5", "sqrt(1 - x^2)",
        "sqrt(1 - x^2)", "sqrt(maximum(1 - x^2, 1e-12))", 0.0),
    "root of a negative number": Case(
        x(-8.0, "z = x^(1/3)"), NAN, DOMAIN, "2:5", "x^(1/3)",
        "x^(1/3)", "cbrt(x)", 1/12),
    "asin of 3": Case(
        x(3.0, "z = asin(x)"), NAN, DOMAIN, "2:5", "asin(x)",
        "asin(x)", "asin(clip(x, -1 + 1e-12, 1 - 1e-12))", 0.0),
    "behind a matrix product": Case(
        x([1.0, 2.0], "w = [[1.0, 0.0], [0.0, -1.0]]", "z = sum(log(w @ x))"), [1.0, 0.5], DOMAIN,
        "3:9", "log(w @ x)", "log(w @ x)", "log(maximum(w @ x, 1e-12))", [1.0, 0.0]),
    "Cholesky factor": Case(
        x(1.0, "A = [[1.0, 2.0], [2.0, 1.0]]", "z = sum(cholesky(x*A))"), NAN, DOMAIN, "3:9",
        "cholesky(x*A)"),
    # At a pole.
    "one over x": Case(
        x(0.0, "z = 1/x"), -INF, POLE, "2:5", "1/x", "1/x", "divide_no_nan(1, x)", 0.0),
    "one over a difference": Case(
        x([1.0, 2.0], "z = sum(3/(x - 2))"), [-3.0, -INF], POLE, "2:9", "3/(x - 2)",
        "3/(x - 2)", "divide_no_nan(3, x - 2)", [-3.0, 0.0]),
    "negative power": Case(
        x(0.0, "z = x^-1"), -INF, POLE, "2:5", "x^-1", "x^-1",
        "where(x == 0, 1e-12, x)^(-1)", 0.0),
    "log at 0": Case(
        x(1.0, "z = log(1 - x)"), -INF, POLE, "2:5", "log(1 - x)",
        "log(1 - x)", "log(maximum(1 - x, 1e-12))", 0.0),
    "log of a length": Case(
        x(0.0, "z = log(abs(x))"), NAN, POLE, "2:5", "log(abs(x))",
        "log(abs(x))", "log(maximum(abs(x), 1e-12))", 0.0),
    "atanh": Case(
        x(1.0, "z = atanh(x)"), INF, POLE, "2:5", "atanh(x)",
        "atanh(x)", "atanh(clip(x, -1 + 1e-12, 1 - 1e-12))", 0.0),
    "angle of a quotient": Case(
        x(0.0, "z = atan(1/x)"), NAN, TIMES, "2:10", "1/x",
        "1/x", "1/where(x == 0, 1e-12, x)", 0.0),
    "log of a quotient": Case(
        x(1.0, "z = log(x/(1 - x))"), NAN, TIMES, "2:9", "x/(1 - x)",
        "x/(1 - x)", "x/where(1 - x == 0, 1e-12, 1 - x)", 1.0),
    "cross entropy of a wrong answer": Case(
        x(800.0, "q = sigmoid(x)", "z = -log(1 - q)"), NAN, POLE, "3:6", "log(1 - q)",
        "log(1 - q)", "log_sigmoid(-x)", 1.0),
    "cross entropy, 0*log(0)": Case(
        x([0.0, 1.0], "t = [0.0, 1.0]", "z = -sum(t*log(x))"), [0.0, -1.0], VAGUE, "3:12",
        "log(x)", "t*log(x)", "xlogy(t, x)", [0.0, -1.0]),
    "division by a mask": Case(
        x([1.0, 2.0], "m = [1.0, 0.0]", "z = sum(x/m)"), [1.0, INF], POLE, "3:9", "x/m",
        "x/m", "divide_no_nan(x, m)", [1.0, 0.0]),
    "gamma at 0": Case(x(0.0, "z = gamma(x)"), -INF, POLE, "2:5", "gamma(x)"),
    # No value at all.
    "x^1.5/x": Case(
        x(0.0, "z = x^1.5/x"), NAN, VAGUE, "2:5", "x^1.5/x",
        "x^1.5/x", "divide_no_nan(x^1.5, x)", 0.0),
    "x/norm(x)": Case(
        x([0.0, 0.0], "z = sum(x/norm(x))"), [NAN, NAN], VAGUE, "2:9", "x/norm(x)",
        "x/norm(x)", "divide_no_nan(x, norm(x))", [0.0, 0.0]),
    "cosine of a zero vector": Case(
        x([0.0, 0.0], "y = [1.0, 2.0]", "z = dot(x, y)/(norm(x)*norm(y))"), [NAN, NAN], VAGUE,
        "3:5", "dot(x, y)", "dot(x, y)/(norm(x)*norm(y))",
        "divide_no_nan(dot(x, y), norm(x)*norm(y))", [0.0, 0.0]),
    "standardised equal values": Case(
        x([2.0, 2.0], "u = (x - mean(x))/std(x)", "z = u[0]"), [NAN, NAN], VAGUE, "2:5",
        "(x - mean(x))/std(x)", "(x - mean(x))/std(x)", "divide_no_nan(x - mean(x), std(x))",
        [0.0, 0.0]),
    "hypot": Case(
        x(0.0, "z = hypot(x, 2*x)"), NAN, VAGUE, "2:5", "hypot(x, 2*x)",
        "hypot(x, 2*x)", "sqrt(x^2 + (2*x)^2 + 1e-24)", 0.0),
    "atan2": Case(x(0.0, "z = atan2(x, x)"), NAN, VAGUE, "2:5", "atan2(x, x)"),
    "infinity less infinity": Case(x("inf", "z = x - 2*x"), -1.0, VAGUE, "2:5", "x - 2*x"),
    "0 times infinity": Case(x("inf", "z = exp(-x)*x"), NAN, VAGUE, "2:5", "exp(-x)*x"),
    # It came with the data.
    "norm": Case(x([3.0, NAN], "z = norm(x)"), [NAN, NAN], SPREAD, "2:5", "norm(x)"),
    "mean": Case(x([1.0, NAN], "z = mean(x^2)"), [1.0, NAN], SPREAD, "1:5", "x"),
    "a constant": Case(x(3.0, "y = nan", "z = x*y"), NAN, SPREAD, "2:1", "y"),
    "a number in the formula": Case(x(3.0, "z = x*nan"), NAN, SPREAD, "2:5", "x*nan"),
    "clipped": Case(
        x([1.0, NAN], "y, n = clip_by_global_norm([x, 2*x], 1.0)", "z = sum(y)"), [NAN, NAN],
        SPREAD, "1:5", "x"),
    "norm of logs": Case(
        x([1.0, -2.0], "y = log(x)", "z = norm(y)"), [NAN, NAN], SPREAD, "3:5", "norm(y)",
        "log(x)", "log(maximum(x, 1e-12))"),
}

# Gradients with nothing to say of NaN: x, formula, gradient.
HEALTHY = [
    (math.pi/2, "tan(x)", 1/math.cos(math.pi/2)**2),  # 2.67e32: a float is never at the pole
    ([0.0, 0.0], "norm(x)^2", [0.0, 0.0]),
    ([4.0, -1.0], "sum(where(x > 0, log(x), x))", [0.25, 1.0]),
    (0.0, "xlogy(0, x)", 0.0),
    (800.0, "softplus(x)", 1.0),
    ("inf", "1/x", 0.0),
]


def asked(program: str, *options: str, command: str = "grad") -> dict[str, Any]:
    """The first result."""
    status, out, err = in_process(
        [command, "-", "--of", "z", "--wrt", "x", "--format", "json", *options], program.encode())
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)["results"][0]
    return found


def flat(value: Any) -> list[float]:
    return [n for item in value for n in flat(item)] if isinstance(value, list) else [float(value)]


def same(got: Any, expected: Any, rel: float = 1e-12, absolute: float = 0.0) -> bool:
    one, other = flat(got), flat(expected)
    return len(one) == len(other) and all(
        (a != a and b != b) or math.isclose(a, b, rel_tol=rel, abs_tol=absolute)
        for a, b in zip(one, other, strict=True))


def said(item: dict[str, Any]) -> dict[str, Any]:
    """The one note of a result or a source that is about NaN."""
    (note,) = [note for note in item["notes"] if note["code"] in nonfinite.CODES]
    return note  # type: ignore[no-any-return]


def offered(note: dict[str, Any]) -> str:
    """The expression that a note says to write; empty if it says none."""
    found = re.search(r"; (?:guard it: |if 0 is meant there, |for a finite slope, of another"
                      r" function, )?write `([^`]*)`(?: for `.*)?$", note["message"])
    return found[1] if found else ""


def replaced(note: dict[str, Any]) -> str:
    """What a note says to write it for."""
    found = re.search(r"` for `([^`]*)`(?: in line \d+)?$", note["message"])
    return found[1] if found else ""


# --- each class, place and rewrite ------------------------------------------------------------


@cache
def answer(name: str) -> dict[str, Any]:
    """What a case is answered as it stands."""
    return asked(CASES[name].program, *CASES[name].options)


@pytest.mark.parametrize("name", CASES)
def test_class_place_and_gradient(name: str) -> None:
    case = CASES[name]
    source = answer(name)["sources"][0]
    assert same(source["gradient"], case.gradient)
    note = said(source)
    assert note["code"] == case.code
    assert f"{note['line']}:{note['column']}" == case.place
    assert case.program.splitlines()[note["line"] - 1][note["column"] - 1:].startswith(case.text)


@folded
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.new])
def test_the_rewrite_keeps_the_value_and_mends_the_gradient(name: str) -> None:
    case = CASES[name]
    before = answer(name)
    note = said(before["sources"][0])
    assert (offered(note), replaced(note)) == (case.new, case.old)
    assert case.program.count(case.old) == 1
    after = asked(case.program.replace(case.old, case.new), *case.options)
    if all(map(math.isfinite, flat(before["value"]))):
        # The guards stay 1e-12 off the edge, of which sqrt and acos make about 1e-6.
        assert same(after["value"], before["value"], rel=0.0, absolute=1.5e-6*(
            7 if name == "in a loop" else 3))
    assert all(map(math.isfinite, flat(after["value"])))
    gradient = after["sources"][0]["gradient"]
    assert all(map(math.isfinite, flat(gradient)))
    if case.mended is not None:
        assert same(gradient, case.mended)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.new])
def test_where_no_rewrite_mends_it_advice_is_given(name: str) -> None:
    note = said(answer(name)["sources"][0])
    assert "; " in note["message"]
    assert not note["message"].endswith(("NaN", "inf"))


def test_every_class_has_cases() -> None:
    assert {case.code for case in CASES.values()} == set(nonfinite.CODES)


@pytest.mark.parametrize(("at", "formula", "gradient"), HEALTHY)
def test_nothing_is_said_where_all_is_well(at: Any, formula: str, gradient: Any) -> None:
    result = asked(x(at, f"z = {formula}"))
    (source,) = result["sources"]
    assert same(source["gradient"], gradient)
    assert {n["code"] for n in (*result["notes"], *source["notes"])}.isdisjoint(nonfinite.CODES)


# --- what a note says -------------------------------------------------------------------------


def message(name: str) -> str:
    case = CASES[name]
    return str(said(asked(case.program, *case.options)["sources"][0])["message"])


@pytest.mark.parametrize(("name", "words"), [
    # The operation's operand and element, the slope, the upstream, what selects.
    ("where power, one element", "`x^0.5` (0^0.5 at element [1]) is not used here"),
    ("where sqrt", "here: `where` (line 2, column 5) takes the other value"),
    ("where sqrt", "the gradient there is 0, because the value is not used"),
    ("where log, --tf", "its slope still counts, and 0 times inf is not a number"),
    ("one bad element", "`sqrt` of 0 at element [1] has an infinite slope: inf is right"),
    ("one bad element", "the gradient is inf at element [1]"),
    ("entropy", "slope inf; `x*log(x)` (line 2, column 10) has slope 0 there"),
    ("entropy", "the gradient is NaN at element [2]"),
    ("sqrt of a square", "`x*x` (line 2, column 10) has slope 0 there, and 0 times inf is"),
    ("constant factor 0", "with a factor 0 the value is not used"),
    ("root squared", "0 times inf counts as 0 at `sqrt`, as in TensorFlow"),
    ("softplus", "`exp` of 800 is too large for a float; what comes after has slope 0"),
    ("log of exp", "`exp` of -800 is too small for a float and becomes 0; `log` of 0 is infinite"),
    ("log", "`log` of -1 is not a number (domain: x > 0)"),
    ("log", "the gradient looks healthy, but the value is NaN"),
    ("length", "the gradient looks healthy, but the value is inf"),
    ("one over a difference", "`3/(x - 2)` (3/0 at element [1]) is infinite"),
    ("x^1.5/x", "(0/0) is not a number; z has no values on the left and tends to 0 from the right"),
    ("infinity less infinity", "`x - 2*x` (inf - inf) is not a number; `x` is inf where it"),
    ("norm", "`x` is NaN at element [1] where it gets its value; `norm` (line 2, column 5)"),
    ("a constant", "`y` is NaN where it gets its value"),
    ("norm of logs", "`log` of -2 at element [1] is not a number; `norm` (line 3, column 5)"),
])
def test_words(name: str, words: str) -> None:
    assert words in message(name)


def test_what_is_replaced_may_stand_in_another_line() -> None:
    note = said(asked(x([0.0, -1000.0], "p = softmax(x)", "z = log(p)[1]"))["sources"][0])
    assert (offered(note), replaced(note)) == ("log_softmax(x)", "log(p)")
    assert note["message"].endswith(" in line 3")


def test_the_bad_element_may_be_none_of_the_source() -> None:
    """[1, 0] of the transposed array is [0, 1] of x."""
    note = said(asked(x([[1.0, 0.0]], "z = sum(log(transpose(x)))"))["sources"][0])
    assert (note["code"], replaced(note)) == (POLE, "log(transpose(x))")
    assert "`log` of 0 at element [1, 0] is infinite" in note["message"]
    assert "the gradient is inf at element [0, 1]" in note["message"]


def test_a_function_of_the_file_is_the_place_and_names_are_those_of_the_file() -> None:
    assert offered({"message": message("where, in a function")}) == "sqrt(maximum(t, 1e-12))"


@pytest.mark.parametrize(("program", "code", "place"), [
    (x(0.0, "z = x*log(x)"), VAGUE, "2:7"),           # 0 * -inf: the log has to be mended
    (x(0.0, "z = log(x) - log(2*x)"), VAGUE, "2:5"),  # -inf + inf: named by both operands
    (x(0.0, "z = 1/x - 1/x"), VAGUE, "2:5"),
    (x(0.0, "z = 0/x"), VAGUE, "2:5"),
    (x(-0.2, "z = log(x)^2 + 1"), DOMAIN, "2:5"),
    (x(800.0, "z = 1/exp(-x)"), UNDER, "2:7"),
    (x(800.0, "z = exp(x) - exp(x + 1)"), OVER, "2:5"),
    (x([1.0, -1.0, 0.0], "z = log(x)"), DOMAIN, "2:5"),
    (x(1.0, "z = mod(x, 0)"), DOMAIN, "2:5"),
    (x(NAN, "z = x"), SPREAD, "1:5"),
    (x([[1.0, 2.0], [2.0, 4.0]], "z = log(det(x))"), POLE, "2:5"),
])
def test_values(program: str, code: str, place: str) -> None:
    note = said(asked(program))
    assert (note["code"], f"{note['line']}:{note['column']}") == (code, place)


# --- other questions --------------------------------------------------------------------------


def test_an_absorbed_zero_does_not_explain_another_elements_nan() -> None:
    result = asked(x([0.0, 1000.0], "z = sum(where(x > 0, log(x), 0)) + 1/(1 + exp(x[1]))"))
    (source,) = result["sources"]
    assert same(source["gradient"], [0.0, NAN])
    assert said(source)["code"] == OVER
    assert offered(said(source)) == "sigmoid(-x[1])"


def test_several_sources_have_their_own_causes() -> None:
    program = "var x = 0.0\nvar y = 800.0\nvar t = 1.0\nz = sqrt(x) + log(1 + exp(y)) + t\n"
    status, out, _ = in_process(["grad", "-", "--format", "json"], program.encode())
    assert status == 0
    codes = {source["wrt"]: [note["code"] for note in source["notes"]]
             for source in json.loads(out)["results"][0]["sources"]}
    # The value is infinite, and t's gradient a healthy 1.
    assert codes == {"x": [STEEP], "y": [OVER], "t": [OVER]}


@pytest.mark.parametrize("options", [(), ("--mode", "forward")])
def test_jacobian(options: tuple[str, ...]) -> None:
    source = asked(x([0.0, 1.0], "z = sqrt(x)"), *options, command="jac")["sources"][0]
    assert same(source["jacobian"], [[INF, 0.0], [0.0, 0.5]])
    note = said(source)
    assert (note["code"], note["line"], note["column"]) == (STEEP, 2, 5)
    assert "at element [0]" in note["message"]


def test_jacobian_whose_zeros_absorb() -> None:
    source = asked(x([0.0, 1.0], "z = where(x > 0, log(x), x)"), command="jac")["sources"][0]
    assert same(source["jacobian"], [[1.0, 0.0], [0.0, 1.0]])
    assert said(source)["code"] == DEAD


def test_forward_mode_has_the_same_answer_and_cause() -> None:
    program = x([0.0, 1.0], "z = sum(sqrt(x))")
    source = asked(program, "--mode", "forward")["sources"][0]
    assert same(source["gradient"], [INF, 0.5])
    note = said(source)
    assert note["code"] == STEEP
    dead = asked(x(0.0, "z = where(x > 0, sqrt(x), 0)"), "--mode", "forward")["sources"][0]
    assert same(dead["gradient"], 0.0)
    assert said(dead)["code"] == DEAD


def test_the_output_gradient_may_be_the_cause() -> None:
    source = asked(x(2.0, "z = 3*x"), "--output-gradient", "nan")["sources"][0]
    assert same(source["gradient"], NAN)
    assert said(source)["code"] == SPREAD
    assert "output gradient itself" in said(source)["message"]


@pytest.mark.parametrize(("lines", "place"), [
    (["z = 1e308*x + 1e308*x"], "1:5"),
    (["y = 2*x", "z = 1e308*y + 1e308*y"], "2:5"),
])
def test_parts_that_add_up_to_more_than_a_float(lines: list[str], place: str) -> None:
    source = asked(x(0.0, *lines))["sources"][0]
    assert same(source["gradient"], INF)
    note = said(source)
    assert (note["code"], f"{note['line']}:{note['column']}") == (OVER, place)
    assert "add up to more than a float holds" in note["message"]


def test_infinite_parts_of_both_signs() -> None:
    source = asked(x(0.0, "z = sqrt(x) - sqrt(2*x)"))["sources"][0]
    assert same(source["gradient"], NAN)
    note = said(source)
    assert (note["code"], note["line"], note["column"]) == (STEEP, 2, 15)
    assert "infinite parts of both signs meet" in note["message"]
    assert "is right" not in note["message"]


def test_the_output_gradient_counts() -> None:
    source = asked(x(0.0, "z = sqrt(x)"), "--output-gradient", "-2")["sources"][0]
    assert same(source["gradient"], -INF)
    assert "has an infinite slope: -inf is right" in said(source)["message"]


def test_a_kink_that_the_series_meets_late_is_no_bug() -> None:
    """`xlogy` of 0 and 0 is a kink that is seen only when later coefficients are asked for."""
    source = asked(x(1e-150, "s = 3*x", *["s = xlogy(s, s)^2"] * 3, "t = norm([s, x, s])/x",
                     "z = norm([t, t])"))["sources"][0]
    assert same(source["gradient"], NAN)
    assert said(source)["code"] == TIMES


def test_a_value_given_on_the_command_line() -> None:
    result = asked(x(1.0, "z = 2*x"), "--at", "x=nan")
    assert (said(result)["code"], said(result)["line"]) == (SPREAD, 1)


@pytest.mark.parametrize(("formula", "at", "second", "code", "words"), [
    ("x^1.5", 0.0, INF, STEEP, "the slope of `x^1.5`"),   # 3/4 x^(-1/2)
    ("sqrt(x)", 0.0, -INF, STEEP, "the first derivative is inf"),  # -1/4 x^(-3/2)
    ("1/x", 0.0, INF, POLE, "the first derivative is -inf"),  # 2/x^3
])
def test_second_order(formula: str, at: float, second: float, code: str, words: str) -> None:
    block = asked(x(at, f"z = {formula}"), command="hess")["blocks"][0]
    assert same(block["hessian"], second)
    note = said(block)
    assert (note["code"], note["line"], note["column"]) == (code, 2, 5)
    assert words in note["message"]


def test_a_rule_of_the_file_that_gives_nan() -> None:
    program = ("@custom_gradient\ndef twice(t):\n    def grad(upstream):\n"
               "        return upstream*nan\n    return 2*t\nvar x = 3.0\nz = twice(x)\n")
    source = asked(program)["sources"][0]
    assert same(source["gradient"], NAN)
    note = said(source)
    assert (note["code"], note["line"], note["column"]) == (VAGUE, 7, 5)
    assert "a rule of its own for the gradient" in note["message"]


@pytest.mark.parametrize(("at", "code", "words"), [
    ("-1.0", "nan-domain", "`f(x)` is not a number"), ("0.0", "nan-overflow", "is infinite")])
def test_a_function_of_the_file_without_a_value(at: str, code: str, words: str) -> None:
    program = ("@custom_gradient\ndef f(t):\n    def grad(upstream):\n        return upstream\n"
               f"    return log(t)\nvar x = {at}\nz = f(x)\n")
    source = asked(program)["sources"][0]
    assert source["gradient"] == 1.0
    note = said(source)
    assert (note["code"], note["line"], note["column"]) == (code, 7, 5)
    assert words in note["message"]


def test_complex_numbers() -> None:
    source = asked(x(0.0, "y = complex(1/x, 1/x)", "z = real(y)"))["sources"][0]
    assert (said(source)["code"], said(source)["line"]) == (TIMES, 2)
    status, out, _ = in_process(
        ["grad", "-", "--wrt", "x", "--mode", "forward", "--format", "table"],
        x([0.0, 2.0], "y = complex(1/x, 1/x)", "z = sum(y)").encode())
    assert status == 0
    assert "divide_no_nan(1, x)" in out


def test_one_note_is_enough() -> None:
    """Of a 0 that was absorbed, of a 0 with a value that is none, of one cause in text."""
    for line in ("where(x > 0, log(x), 0)", "minimum(1/x, 100)", "0*log(x)"):
        note, *more = asked(x(0.0, f"z = {line}"))["sources"][0]["notes"]
        assert note["code"] in nonfinite.CODES
        # That the value jumps there is another thing.
        assert [one["code"] for one in more] == ["boundary"]*line.startswith("where")
    result = asked(x(0.0, "z = 1/x"))
    assert [note["code"] for note in (*result["notes"], *result["sources"][0]["notes"])] == [
        POLE, POLE]
    status, out, _ = in_process(
        ["grad", "-", "--wrt", "x", "--format", "table"], x(0.0, "z = 1/x").encode())
    assert status == 0
    assert out.count("note:") == 1


def test_what_is_wrong_comes_before_conventions() -> None:
    notes = asked(x([0.0, 0.0], "z = 1/norm(x)"))["sources"][0]["notes"]
    assert [note["code"] for note in notes] == [POLE, "kink"]


# Sources that are 0 somewhere, where what is a constant factor for one moves with another.
TOGETHER = [
    "x*sqrt(y)", "x*y*log(w)", "x*log(y) + y*log(w)", "where(x > 0, log(y), x)*w",
    "x*sqrt(y) + 0*log(w)", "(x + y)*sqrt(w) + sqrt(x*y)", "x*(y*(w*sqrt(x + y)))",
]


@pytest.mark.parametrize("formula", TOGETHER)
@pytest.mark.parametrize("command", ["grad", "hess"])
def test_sources_together_answer_as_each_alone(formula: str, command: str) -> None:
    program = f"var x = 0.0\nvar y = 0.0\nvar w = 0.0\nz = {formula}\n".encode()

    def answers(wrt: str) -> dict[str, Any]:
        _, out, _ = in_process(
            [command, "-", "--of", "z", "--wrt", wrt, "--format", "json"], program)
        (result,) = json.loads(out)["results"]
        if command == "hess":
            return {b["row"]: b for b in result["blocks"] if b["row"] == b["col"]}
        return {s["wrt"]: s for s in result["sources"]}

    together = answers("x,y,w")
    for name in "xyw":
        if command == "grad":
            assert together[name] == answers(name)[name]
        else:
            assert same(together[name]["hessian"] or 0.0, answers(name)[name]["hessian"] or 0.0)


def test_sources_that_are_nan_together_are_swept_together(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = []

    def counted(*args: Any, **options: Any) -> Any:
        swept.append(args[2])
        return reverse.reverse(*args, **options)

    monkeypatch.setattr(absorbing, "swept", counted)
    monkeypatch.setattr(shares, "reverse", counted)
    names = [f"x{k}" for k in range(20)]
    program = "".join(f"var {name} = 0.0\n" for name in names) + "z = " + " + ".join(
        f"sin({name})/{name}" for name in names) + "\n"
    status, out, _ = in_process(["grad", "-", "--format", "json"], program.encode())
    assert status == 0
    for k, source in enumerate(json.loads(out)["results"][0]["sources"]):
        assert same(source["gradient"], NAN)
        x = f"x{k}"
        assert offered(said(source)) == f"where({x} == 0, 1, sin({x})/where({x} == 0, 1, {x}))"
    # Those of one source are of rewrites that are tried.
    assert [len(sources) for sources in swept if len(sources) > 1] == [20, 20]


# --- the samples ------------------------------------------------------------------------------

# Code: place of the note on the gradient, text there, the gradient.
SAMPLES = {
    DEAD: ("4:31", "log(counts)", [0.5, 0.0, 0.2]),
    STEEP: ("4:8", "sqrt(2*height/9.81)", INF),
    TIMES: ("4:8", "area^0.5", NAN),
    OVER: ("4:16", "exp(score)", NAN),
    UNDER: ("4:14", "exp(-t^2/2)", NAN),
    DOMAIN: ("4:15", "log(prices)", [1/6, 1/12, -1/3]),
    POLE: ("4:8", "100/speed", -INF),
    VAGUE: ("4:8", "sin(x)/x", NAN),
    SPREAD: ("3:5", "readings", [NAN, NAN, NAN]),
}


def test_the_samples_are_all_codes() -> None:
    for ending in ("txt", "expected"):
        assert {path.stem for path in FOLDER.glob(f"*.{ending}")} == set(nonfinite.CODES)
    assert set(SAMPLES) == set(nonfinite.CODES)


@pytest.mark.parametrize("code", nonfinite.CODES)
def test_sample(code: str) -> None:
    place, text, gradient = SAMPLES[code]
    path = FOLDER / f"{code}.txt"
    (command,) = header_commands(path)
    status, out, err = in_process([*command[:command.index("--format")], "--format", "json"])
    assert status == 0, err
    (source,) = json.loads(out)["results"][0]["sources"]
    assert same(source["gradient"], gradient)
    note = said(source)
    assert (note["code"], f"{note['line']}:{note['column']}") == (code, place)
    line = path.read_text(encoding="utf-8").splitlines()[note["line"] - 1]
    assert line[note["column"] - 1:].startswith(text)


def test_the_classes_are_documented() -> None:
    table = re.findall(r"^\| (nan-[a-z-]+) \|", nonfinite.__doc__ or "", re.MULTILINE)
    assert sorted(table) == sorted(nonfinite.CODES)


# --- what it costs ----------------------------------------------------------------------------


@pytest.mark.parametrize(("program", "due"), [
    (x(2.0, "z = where(x > 0, sqrt(x), 0)"), False),
    (x(0.0, "z = where(x > 0, sqrt(x), 0)"), True),
])
def test_nothing_is_loaded_where_nothing_is_nan(program: str, due: bool) -> None:
    script = ("import sys\nfrom gradcli.cli.main import main\ntry:\n    main()\n"
              "except SystemExit:\n    pass\n"
              "print([m for m in sys.modules if 'nonfinite' in m], file=sys.stderr)")
    done = subprocess.run(
        [sys.executable, "-c", script, "grad", "-", "--wrt", "x", "--format", "json"],
        input=program, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ("nonfinite" in done.stderr) is due, done.stderr


def test_a_comparison_among_the_operands_is_no_keyword() -> None:
    (result,) = loaded("eval", "-e", "div(x if x <= 1 else 2, y)", "--at", "x=1,y=0")["results"]
    assert [n["code"] for n in result["notes"]] == ["nan-pole"]


@pytest.mark.parametrize("text", ["1/x", "log(x)/x", "sin(x)/x", "x + 1/x^2", "log(x - 1)"])
def test_differences_where_there_is_no_value(text: str) -> None:
    """No slope: what values beside the point make is no number of it. Elsewhere they have one."""
    for at, finite in (("x=0", [False]), ("x=[0,2,0]", [False, True, False])):
        for command in ("grad", "jac"):
            _, out, _ = in_process(
                [command, "-e", text, "--at", at, "--mode", "finite", "--format", "json"])
            source = json.loads(out)["results"][0]["sources"][0]
            if command == "jac":
                found = np.diag(np.atleast_2d(np.array(source["jacobian"], float)))
                assert np.isfinite(found).tolist() == finite
            else:
                assert not np.isfinite(np.array(source["gradient"], float)).any()
            assert source["notes"]


# Programs of lines that a block can hold.
BLOCKS = [name for name, case in CASES.items() if not case.options
          and case.program.startswith("var x") and not re.search(r"(?m)^(def|@|var (?!x))|^\S.*:$",
                                                                 case.program)]


@pytest.mark.parametrize("name", BLOCKS)
def test_a_printed_gradient_has_the_cause_that_grad_tells(name: str) -> None:
    """Also where it is a number because zeros absorbed, or that of no value."""
    first, *lines = CASES[name].program.splitlines()
    text = "\n".join([first, "tape seen:", *[f"    {line}" for line in lines],
                      "print(seen.gradient(z, x))", ""])
    status, out, _ = in_process(["run", "-", "--format", "json"], stdin=text.encode())
    told = json.loads(out)["printed"][0]["values"][0]
    assert (status, [n["code"] for n in told["notes"] if n["code"].startswith("nan-")]) == (
        0, [CASES[name].code]), told
    # In text it is told beside what is printed.
    assert "note: what is printed in line" in in_process(["run", "-"], stdin=text.encode())[2]


@pytest.mark.parametrize(("text", "inner"), [
    ("erfc(x)*exp(x^2)", "x"), ("exp(x*x)*erfc(x)", "x"), ("erfc(2*x)*exp((2*x)^2)", ""),
    ("y = 2*x\n3 + exp(y^2)*erfc(y)", "y"), ("exp(x^2)*erfc(2*x)", ""), ("exp(x^2)/erfc(x)", "")])
def test_the_scaled_error_function_is_offered(text: str, inner: str) -> None:
    """Where the two factors are of the same number, and the advice is right when followed."""
    _, out, _ = in_process(["grad", "-e", text, "--at", "x=30", "--format", "json"])
    message = json.loads(out)["results"][0]["sources"][0]["notes"][0]["message"]
    assert (f"write `erfcx({inner})` for" in message) == bool(inner), message


@pytest.mark.parametrize(("loss", "slope"), [
    ("w^4", lambda w: 4*w**3), ("w^6 + w", lambda w: 6*w**5 + 1),
    ("exp(w)", math.exp), ("w*w*w*w", lambda w: 4*w*w*w), ("sqrt(w)", lambda w: 0.5/math.sqrt(w))])
@pytest.mark.parametrize("start", [1.0, 3.0, 0.25])
@pytest.mark.parametrize("wanted", ["w", "g", "w, loss", "[2*w]"])
def test_a_training_that_diverges_names_the_turn(
        loss: str, slope: Any, start: float, wanted: str) -> None:
    """The turn in which Python's floats end, and the operation there, not where w got its value."""
    w, turn, turns, sign = start, 0, 60, -1 if loss == "exp(w)" else 1
    while turn < turns:
        turn += 1
        try:
            w -= sign*0.9*slope(w)
            value = eval(loss.replace("^", "**"), {"exp": math.exp, "sqrt": math.sqrt, "w": w})
            if not math.isfinite(value):
                break
        except (OverflowError, ValueError, ZeroDivisionError):
            break
    else:
        pytest.skip("it does not diverge")
    program = (
        f"var w = {start}\nfor i in range({turns}):\n    tape t:\n        loss = {loss}\n"
        f"    g = t.gradient(loss, w)\n    w.assign_{'add' if sign < 0 else 'sub'}(0.9*g)\n"
        f"print({wanted})\n")
    told = in_process(["run", "-"], stdin=program.encode())[2]
    assert "gets its value" not in told
    assert f"in turn {turn + 1} of {turns}" in told
    assert told.rstrip().endswith("(line 4)")


@pytest.mark.parametrize(("text", "at"), [
    ("x^2", "1e200"), ("exp(x)", "1000"), ("x*x*x", "-1e150")])
def test_differences_of_infinite_values_blame_no_path(text: str, at: str) -> None:
    _, out, err = in_process(["grad", "-e", text, "--at", f"x={at}", "--mode", "finite"])
    assert "on the path" not in err
    assert out.split() == ["df/dx", "nan"]


@pytest.mark.parametrize(("text", "at", "advice"), [
    ("float32(x)", "x=1e300", "keep the float64"),
    ("det(A)", "A=[[1e200,0],[0,1e200]]", "work with its logarithm: logabsdet")])
def test_what_is_too_large_has_advice_of_its_own(text: str, at: str, advice: str) -> None:
    _, _, err = in_process(["eval", "-e", text, "--at", at])
    assert f"too large for a float; {advice}" in " ".join(err.split())


BENEATH = [op.name for op in TABLE.values() if op.kind == "elementwise" and len(
    op.parameters) == 1 and op.samples and not op.internal and hasattr(mpmath, op.name)
    and not op.name.startswith("fresnel")]    # which takes mpmath long


@pytest.mark.parametrize("name", BENEATH)
@pytest.mark.parametrize("inner", ["1/x", "1/(1/x)", "x*x*1e300"])
def test_what_counts_beyond_the_range_is_not_called_unused(name: str, inner: str) -> None:
    """Where the derivative is none of 0, no sentence says that it is, because nothing uses it."""
    _, out, err = in_process(["grad", "-e", f"{name}({inner})", "--at", "x=1e-200"])
    inside = {"1/x": lambda x: 1/x, "1/(1/x)": lambda x: x, "x*x*1e300": lambda x: x*x*1e300}
    with mpmath.workdps(450):
        try:
            slope = mpmath.diff(lambda x: getattr(mpmath, name)(inside[inner](x)),
                                mpmath.mpf(10)**-200, h=mpmath.mpf(10)**-300)
        except (ValueError, ZeroDivisionError, mpmath.libmp.NoConvergence, OverflowError):
            pytest.skip("no value there")
    if abs(slope) > 1e-300:
        assert "not used" not in err, (out, slope)


@pytest.mark.parametrize(("text", "at"), [
    ("a*a*x*b*b", "x=1,a=1e-200,b=1e200"), ("a*x*a*b*b", "x=1,a=1e-200,b=1e200"),
    ("1/(1/x+1/y)", "x=1e-200,y=2e-200")])
def test_products_beyond_the_range_are_not_called_unused(text: str, at: str) -> None:
    assert "not used" not in in_process(["grad", "-e", text, "--at", at])[2]


@pytest.mark.parametrize("name", ["acos", "asin", "atanh", "acosh"])
@pytest.mark.parametrize("inner", ["1-x", "1-x^2", "cos(x)", "(1-x)*1", "[1-x, 0.5][0]"])
def test_an_edge_that_rounding_made_is_no_infinite_slope(name: str, inner: str) -> None:
    text = f"{name}(2 - ({inner}))" if name == "acosh" else f"{name}({inner})"
    err = in_process(["grad", "-e", text, "--at", "x=1e-17"])[2]
    assert "is rounded to 1; " in err
    assert "is right" not in err
    assert "write" not in err
    there = in_process(["grad", "-e", text, "--at", "x=0"])[2]
    assert "rounded" not in there


def test_an_operand_that_underflowed_beside_a_true_zero_is_the_cause() -> None:
    err = in_process(["grad", "-e", "log(x^2+y^2)", "--at", "x=0,y=1e-200"])[2]
    assert err.count("`y^2` (1e-200^2) is too small for a float and becomes 0") == 2


@pytest.mark.parametrize("text", [
    "exp(1000)/exp(999)", "sqrt(-1)", "log(0)", "1e200*1e200", "0/0", "(-8)^(1/3)", "acos(1 + 1)"])
@pytest.mark.parametrize("around", ["{}", "x*({})", "x + ({})"])
def test_of_constants_the_operation_is_told(text: str, around: str) -> None:
    command = "eval" if around == "{}" else "grad"
    err = in_process([command, "-e", around.format(text), "--at", "x=2"][
        :3 if command == "eval" else None])[2]
    assert "a constant" not in err
    assert f"`{text}`" in err or f"`{text.partition('(')[0]}` of" in err


def test_a_derivative_that_is_0_because_constants_left_the_range_may_be_wrong() -> None:
    asked = ["grad", "-e", "1e-200*1e-200*x*1e300*1e100", "--at", "x=1"]
    assert "the derivative in x may be wrong" in in_process(asked)[2]
    assert in_process([*asked, "--strict"])[0] == 1
    assert "wrong" not in in_process(["grad", "-e", "(1/3-1/3)*x", "--at", "x=1"])[2]
