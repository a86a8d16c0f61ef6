"""Zeros that absorb: what a selection does not use has no derivative, whatever its slopes are.

Programs with a dead branch of nested products, quotients and powers are generated; the reference is
mpmath's numerical derivative of what is alive, which never meets the dead elements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from draws import SEED, drawn
from programs import Draw, Form, Grammar

from gradcli import GradientTape, Variable, loads, ops
from gradcli.questions import Question, grad, second_order
from gradcli.questions.derivatives import gradients, jacobians

LIVE, DEAD = (1.7, 2.6), (0.0, -1.0)
POINT = {"x": np.array([DEAD[0], LIVE[0], DEAD[1], LIVE[1]]), "a": 1.25,
         "b": np.array([0.5, 1.5, 2.0, 0.75])}
NAMES = {"log": mp.log, "sqrt": mp.sqrt, "exp": mp.exp, "sin": mp.sin}


# What is finite, and not flat, where x > 1.
FORMULAS = Grammar({"f": [
    "log(x)", "sqrt(x)", "(1/x)", "x", "a", "b", "log(a*x)", "x^(-0.5)", "({f}*{f?})",
    "({f}/(2 + {f?}^2))", "({f}^2*{f?})", "({f} - {f?}*x)", "(({f})^2 + 1)^a",
    Form("exp(-{f})", 0.5), Form("sin({f})", 0.5)]}, ends={"f": 0})


def formula(seed: int, depth: int) -> str:
    return Draw(FORMULAS, drawn(seed)).text("f", depth)


def element(text: str, k: int) -> Any:
    """The formula at element k, as a function of its x, a and its b."""
    code = compile(text.replace("^", "**"), text, "eval")
    return lambda x, a, b: eval(code, {**NAMES, "x": x, "a": a, "b": b})


@cache
def expected(text: str) -> dict[str, Any]:
    """First and second derivatives of the sum over the elements that are alive."""
    out = {"x": np.zeros(4), "a": 0.0, "b": np.zeros(4)}
    second = 0.0
    with mp.workdps(30):
        for k, x in enumerate(POINT["x"]):
            if x > 1:
                f, at = element(text, k), (mp.mpf(x), mp.mpf(1.25), mp.mpf(POINT["b"][k]))
                out["x"][k] = mp.diff(f, at, (1, 0, 0))
                out["a"] += float(mp.diff(f, at, (0, 1, 0)))
                out["b"][k] = mp.diff(f, at, (0, 0, 1))
                second += float(mp.diff(f, at, (0, 2, 0)))
    return {**out, "aa": second}


@pytest.mark.parametrize("choice", [
    "where(x > 1, {}, 0)", "where(x <= 1, 0, {})", "where(x > 1, where(x > 0, {}, 1/x), 3)",
    "where(x > 1, {}, 0)*where(x > 1, 1, 0)"])
@pytest.mark.parametrize("seed", range(12))
def test_a_dead_branch_has_no_derivative(seed: int, choice: str) -> None:
    text = formula(seed, 3)
    wanted = expected(text)
    program = loads(f"y = sum({choice.format(text)})\ng = 0*a*x[0]*b[0]")
    for wrt in ("x,a,b", "a", "x", "b", "a,x"):
        found = program.gradient("y", wrt=wrt, at=POINT)
        for name, g in found.items():
            if g is None:
                assert not np.any(wanted[name])
            else:
                np.testing.assert_allclose(g, wanted[name], rtol=1e-9, atol=1e-12, err_msg=text)
    second = program.hessian("y", wrt="a", at=POINT)["a"]["a"]
    np.testing.assert_allclose(0.0 if second is None else second, wanted["aa"], rtol=1e-7,
                               atol=1e-9, err_msg=text)


# A choice, and what it is of the formula f where the formula is alive: nothing bends elsewhere.
WITHIN: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "where(x > 1, {}, 0)": lambda f, x, a, b: f,
    "where(x <= 1, 0, {})^2": lambda f, x, a, b: f**2,
    "a*where(x > 1, where(x > 0, {}, 1/x), 3)*0.5": lambda f, x, a, b: a*f/2,
    "where(x > 0, where(x > 1, {}, 0)*x, a)": lambda f, x, a, b: f*x,
    "where(x > 1, {}, 0)/(a + 2)": lambda f, x, a, b: f/(a + 2),
    "(1 + where(x > 1, {}, 0))^2*where(x > 1, 1, 0)": lambda f, x, a, b: (1 + f)**2,
    "exp(-where(x > 1, {}, 0))": lambda f, x, a, b: mp.exp(-f)}
ORDERS = {"x": (1, 0, 0), "a": (0, 1, 0), "b": (0, 0, 1)}


def bent(text: str, within: Callable[..., Any], row: str, column: str) -> Any:
    """The block of second derivatives in a row and a column."""
    order = tuple(m + n for m, n in zip(ORDERS[row], ORDERS[column], strict=True))
    each = np.zeros(4)
    for k, x in enumerate(POINT["x"]):
        if x > 1:
            f = element(text, k)
            at = mp.mpf(x), mp.mpf(1.25), mp.mpf(POINT["b"][k])
            each[k] = mp.diff(lambda x, a, b, f=f: within(f(x, a, b), x, a, b), at, order)
    if "a" not in (row, column):
        return np.diag(each)
    return each.sum() if row == column else each


@pytest.mark.parametrize(("seed", "choice"), [
    (seed, choice) for k, choice in enumerate(WITHIN) for j, seed in enumerate((1, 5, 8))
    if SEED is not None or k % 3 == j])
def test_a_dead_branch_has_no_second_derivative(seed: int, choice: str) -> None:
    """In whatever the choice is nested, whichever sources there are, in both modes."""
    text = formula(seed, 3)
    with mp.workdps(30):
        wanted = {pair: bent(text, WITHIN[choice], *pair)
                  for pair in ("xx", "xa", "xb", "aa", "ab", "bb")}
    program = loads(f"y = sum({choice.format(text)})\ng = 0*a*x[0]*b[0]")
    some = (("ax", "reverse"), ("x", "forward"), ("b", "reverse"))
    k = [*WITHIN].index(choice) % 3
    for wrt, mode in (("xab", "reverse"), *(some[k:k + 1] if SEED is None else some),
                      ("xab", "forward")):
        ask = Question(program, at=POINT, of=["y"], wrt=[*wrt], mode=mode)
        run = ask.run()
        with run.record:
            target, bindings = program.targets(run, ["y"])[0], program.sources(run, [*wrt])
            blocks = second_order.hessian(ask, run, target, bindings).blocks
        for (i, j), found in blocks.items():
            np.testing.assert_allclose(
                0.0 if found is None else found, wanted["".join(sorted(
                    wrt[i] + wrt[j], key="xab".index))], rtol=1e-7, atol=1e-9,
                err_msg=f"{choice} {text} {wrt}")


@pytest.mark.parametrize("choice", WITHIN)
@pytest.mark.parametrize("seed", [5])
def test_both_modes_absorb_alike(seed: int, choice: str) -> None:
    text = choice.format(formula(seed, 2))
    for question, target in ((gradients, f"sum({text})"), (jacobians, text)):
        program = loads(f"y = {target}\ng = 0*a*x[0]*b[0]")
        for tf in (False, True):
            found = []
            for mode in ("reverse", "forward"):
                ask = Question(program, at=POINT, of=["y"], wrt=["x", "a", "b"], mode=mode, tf=tf)
                run = ask.run()
                with run.record:
                    found.append(question(ask, run, program.targets(run, ["y"])[0],
                                          program.sources(run, ["x", "a", "b"])))
            for one, other in zip(*found, strict=True):
                if one is None or other is None:
                    assert one is other
                else:
                    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_slope_that_is_infinite_only_the_second_time() -> None:
    """The first derivatives are numbers without absorbing."""
    text = "y = sum(where(x > 0, abs(x)^1.5, 0)^2*a)"
    found = loads(text).hessian(wrt="x,a", at={"x": [0.0, 4.0], "a": 2.0})
    np.testing.assert_allclose(found["x"]["x"], [[0.0, 0.0], [0.0, 48.0]])
    np.testing.assert_allclose(found["x"]["a"], [0.0, 48.0])


@pytest.mark.parametrize(("text", "x", "slope"), [
    ("sum(where(x > 0, alpha*log(x), 0))", [0.0, 2.0], ([0.0, 1.5], np.log(2.0))),
    ("sum(where(x > 0, log(x)^alpha, 0))", [0.0, 2.0], None),
    ("log(x)[1]*alpha", [0.0, 2.0], ([0.0, 1.5], np.log(2.0))),
    ("alpha*reduce_max(log(x))", [0.0, 2.0], ([0.0, 1.5], np.log(2.0))),
    ("alpha*sort(log(x))[1]", [0.0, 2.0], ([0.0, 1.5], np.log(2.0))),
    ("alpha*dot([0, 1], log(x))", [0.0, 2.0], ([0.0, 1.5], np.nan)),
    ("alpha*sum([0, 1]*log(x))", [0.0, 2.0], ([0.0, 1.5], np.nan)),
    ("alpha*([[0, 1]] @ log(x))[0]", [0.0, 2.0], ([0.0, 1.5], np.nan)),
    ('alpha*einsum("i,i->", [0, 1], log(x))', [0.0, 2.0], ([0.0, 1.5], np.nan)),
    ("sum(where([false, true], [[1, 1], [0, alpha]] @ log(x), 0))", [0.0, 2.0],
     ([0.0, 1.5], np.log(2.0))),
    # Where 0 times infinity is the value itself, the slope in alpha is NaN as well.
    # An element that is used keeps its infinity, and one that arithmetic made 0 its NaN.
    ("sum(where([true, false], [[1, 0], [0, alpha]] @ log(x), 0))", [0.0, 2.0],
     ([np.inf, 0.0], 0.0)),
])
def test_what_a_selection_leaves_out(text: str, x: list[float], slope: Any) -> None:
    found = loads(text).gradient(at={"x": x, "alpha": 3.0})
    if slope is None:
        assert all(np.isfinite(g).all() for g in found.values())
    else:
        np.testing.assert_array_equal(found["x"], slope[0])
        np.testing.assert_allclose(found["alpha"], slope[1], rtol=1e-15)


def test_tensorflows_way_and_tapes() -> None:
    text = "sum(where(x > 0, alpha*log(x), 0))"
    ask = Question(loads(f"var x = [0, 2]\nvar alpha = 3.0\n{text}"), tf=True)
    sources = grad(ask)["results"][0]["sources"]
    assert np.isnan(sources[0]["gradient"][0])
    assert np.isnan(sources[1]["gradient"])
    x, alpha = Variable([0.0, 2.0]), Variable(3.0)
    for tensorflow in (False, True):
        with GradientTape(tensorflow_semantics=tensorflow) as tape:
            y = ops.sum(ops.where(x > 0, alpha * ops.log(x), 0.0))
        assert np.isnan(tape.gradient(y, alpha).numpy()) == tensorflow
