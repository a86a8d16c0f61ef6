"""A rewrite is offered only where a point tells that it is the same function: not where all that
was compared is 0 or infinite. The reference is mpmath: what is offered is put in and compared.
"""

from __future__ import annotations

import json
import re

import mpmath
import pytest
from transcripts import in_process

# (formula, point, whether a rewrite is to be offered)
CASES = [
    ("(x+5)/exp(x)", 720.0, False), ("x/exp(x^2)", 27.0, False),
    ("1e10*x/exp(x+719)", 1.0, False), ("1 + x/exp(x)", 720.0, False),
    ("x^2/exp(x)", 720.0, False), ("1e-8*x/exp(x)", 720.0, False), ("sin(x)/exp(x)", 720.0, False),
    ("3/exp(x)", 720.0, False), ("(2*x+1)/exp(2*x)", 400.0, False),
    ("1/exp(x)", 720.0, True), ("log(1+exp(x))", 1000.0, True),
]
FUNCTIONS = {name: getattr(mpmath, name) for name in ("exp", "log", "sin", "sqrt")}
FUNCTIONS |= {
    "log_sigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)), "maximum": max, "abs": abs,
    "sigmoid": lambda x: 1/(1 + mpmath.exp(-x))}
FUNCTIONS["softplus"] = lambda x: mpmath.log1p(mpmath.exp(x))


def value(text: str, x: float) -> mpmath.mpf:
    with mpmath.workdps(800):
        found: mpmath.mpf = eval(text.replace("^", "**"), {**FUNCTIONS, "x": mpmath.mpf(x)})
        return found


@pytest.mark.parametrize("command", ["grad", "hess", "eval"])
@pytest.mark.parametrize(("text", "at", "wanted"), CASES, ids=[text for text, *_ in CASES])
def test_what_is_offered_is_the_same_function(command: str, text: str, at: float, wanted: bool
                                              ) -> None:
    _, out, err = in_process(
        [command, "-e", text, "--at", f"x={at}", "--format", "json"], b"")
    assert out, err
    offered = re.findall(r"write `([^`]*)` for `([^`]*)`", json.dumps(json.loads(out)))
    for new, old in offered:
        assert old in text
        changed = text.replace(old, f"({new})")
        for x in (at, at/2, 3.0, 0.7):
            assert mpmath.almosteq(value(changed, x), value(text, x), 1e-12), (changed, x)
    if wanted and command != "eval":
        assert offered

# What is 0 or infinite only as a float, and what needs another number than that.
FLUSHED = ["exp(x)", "1/exp(x)", "exp(-x^2)", "1/(1+exp(x))", "exp(x)/(1+exp(x))", "exp(x)*exp(x)",
           "1/(2+exp(x)*3)", "exp(x)^3", "1/(1+exp(x))^2", "x*exp(x)", "exp(exp(x)*0.01)"]
OUTER = ["log({})", "log({})^2", "sin(log({})*1e-3)", "1/log({})", "exp(log({})*1e-3)"]


@pytest.mark.parametrize("inner", FLUSHED)
@pytest.mark.parametrize("outer", OUTER)
def test_no_guard_hides_a_number(outer: str, inner: str) -> None:
    text = outer.format(inner)
    for command in ("grad", "eval"):
        for at in (800.0, -800.0):
            _, out, err = in_process(
                [command, "-e", text, "--at", f"x={at}", "--format", "json"], b"")
            assert out, err
            for new, old in re.findall(r"write `([^`]*)` for `([^`]*)`", out):
                changed = text.replace(old, f"({new})")
                for x in (at, at*0.9):
                    assert mpmath.almosteq(value(changed, x), value(text, x), 1e-9), changed
