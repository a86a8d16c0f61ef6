"""gradcli's tape against TensorFlow's recorded answers, case by case.

`data/tensorflow.json` and `data/tensorflow_more.json` hold programs written for TensorFlow with
what TensorFlow 2.21.0 answered (CPU, NumPy 2.4.6). Each runs as it stands, with `gradcli.tf` in
TensorFlow's place. A case is in one of three groups, and a test fails when it moves to another:
it agrees in everything that was recorded; it differs on purpose in the outputs that `DIFFERENT`
names and agrees in the others; or it is excluded, for a reason.

Outputs agree if values are equal to a relative 1e-12, element by element, types and shapes are
equal, None is None; errors, if one was raised exactly where TensorFlow raised one.
"""

from __future__ import annotations

import json
import math
import re
import traceback
from functools import cache
from typing import Any

import numpy as np
import pytest
from conftest import folded
from folders import DATA

import gradcli
import gradcli.tf as tf
from gradcli import GradcliError, Tensor

FIRST, MORE = [
    {case["id"]: case for case in json.loads((DATA / name).read_text())["cases"]}
    for name in ("tensorflow.json", "tensorflow_more.json")]
CASES = {**FIRST, **MORE}

EXCLUDED = {
    "hess_graph_mode": "graph mode: tf.hessians inside tf.function",
    "register_gradient": "TensorFlow's own registry, for names of operations that do not exist",
}

SUBNORMAL = "TensorFlow flushes subnormal numbers to 0"
POWER = "x^0 and x^1 have the derivative of the polynomial at 0, not NaN"
POLE = "digamma(0) is -inf, the limit from the right, as in SciPy; TensorFlow says NaN"
BESSEL = "TensorFlow's derivative of I1 at 0 is 1; it is 1/2"
FACTOR = "x*f(y) has the slope f(y) at x = 0 too; TensorFlow guards the factor and says 0"

# Case: why, and the outputs that differ.
DIFFERENT: dict[str, tuple[str, set[str]]] = {
    "s002_log1pexp_naive_float32": (SUBNORMAL, {"grad"}),
    "denormals_flush": (SUBNORMAL, {"tf"}),
    "arg_output_gradients": (
        "None among the weights means ones, as documented, and a list of numbers is a vector",
        {"with_none", "python_list"}),
    "fwd_errors": ("a tangent of the wrong shape is an error", {"tangent_shape"}),
    "cg_errors": ("a gradient of the wrong shape is an error", {"wrong_shape"}),
    "cg_keyword_arguments": (
        "a custom gradient applies to keywords", {"keywords[0]", "keywords[1]"}),
    "nan_zero_times_inf": (
        "cumprod has its exact derivative at zeros, as reduce_prod in both; x*log(x) falls with an"
        " infinite slope at 0", {"cumprod_zero['g']", "xlogy['g']"}),
    "op1_pow_0": (POWER, {"g", "g2"}),
    "op1_pow_1": (POWER, {"g2"}),
    "op2_pow": (f"{POWER}; in y the slope of 0^y at 0 is -inf", {"da", "db"}),
    "op1_digamma": (POLE, {"y", "g2"}),
    "op1_lgamma": (POLE, {"g"}),
    "op1_bessel_i0": (BESSEL, {"g2"}),
    "op1_bessel_i1": (BESSEL, {"g", "g2"}),
    "op1_xlogx": (FACTOR, {"g", "g2"}),
    "op2_xlogy": (FACTOR, {"da"}),
    "op2_xlog1py": (FACTOR, {"da"}),
    "op2_xdivy": (FACTOR, {"da"}),
    "op1_softsign": ("TensorFlow has no rule for the second derivative", {"g2"}),
    "op1_elu": ("elu'' at 0 is that of its left side, exp(0), not 0", {"g2"}),
    "op3_norm_at_zero": ("norm at 0 has the subgradient 0, not NaN", {"g"}),
    "op3_std_of_equals": ("std of equal values has the subgradient 0, not NaN", {"g"}),
    "op4_det_singular": ("det of a singular matrix has the cofactors as its gradient", {"g"}),
    "op1_leaky_relu": (
        "the first derivative is constant: None throughout; TensorFlow has 0 for this one", {"g2"}),
}

CONSTANT = "the first derivative does not depend on the source, so the second is 0, not None"
ROWS = "batch_jacobian is None where no path leads, and refuses rows that depend on other rows"

# The same without `tensorflow_semantics`, where it is another.
OWN: dict[str, tuple[str, set[str]]] = {
    "second_derivative_of_linear_is_none": (CONSTANT, {f"{name}_second" for name in (
        "x_plus_1", "three_x", "x", "x_minus_x", "neg", "div", "maximum", "where", "sum", "cast",
        "clip")}),
    "third_derivative_exhausts": (CONSTANT, {"d3"}),
    "hess_partly_separable": (CONSTANT, {"xy", "yx", "yy"}),
    "hess_of_linear_is_none": (CONSTANT, {"h"}),
    **{f"op1_{name}": (CONSTANT, {"g2"}) for name in (
        "sign", "clip", "minimum_0", "maximum_0", "maximum_0_left", "mod_1_5", "neg", "add", "mul",
        "div", "identity")},
    "op1_leaky_relu": ("the switch is off: 0 as in TensorFlow", set()),
    "jac_batch_unconnected": (ROWS, {"none"}),
    "jac_batch_twice_outside_is_zeros": (ROWS, {"second"}),
    "adv_batch_jacobian_dependent_rows": (ROWS, {"batch"}),
    "nan_where_both_branches": (
        "the zero of the branch that was not taken absorbs an infinite slope",
        {"log['g']", "recip['g']", "overflow['g']"}),
    "arg_output_gradients": (
        "their number has to be right; None means ones, a list of numbers is a vector",
        {"with_none", "python_list", "too_few", "too_many"}),
}

# TensorFlow computes these in float32, or with a series of that accuracy.
ROUGH = re.compile(
    r"opt_|numeric_check|op1_(erf|gelu|lgamma|digamma|bessel)|s002_log1pexp_naive_float32"
    r"|s003_no_gradient_registered|no_gradient_registered_")
# Elements that are not compared: 1/(1 + exp(709)) is subnormal.
UNCOMPARED = {("s002_log1pexp_naive", "grad"): [2]}
# Below this TensorFlow's derivatives of what saturates are 0, by cancellation: 1 - tanh(100)^2.
SATURATED = 1e-40
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


# --- running and comparing --------------------------------------------------------------------


class Own:
    """TensorFlow's names with gradcli's own tape."""

    GradientTape = gradcli.GradientTape

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)


def run(case: dict[str, Any], tf: Any) -> tuple[dict[str, Any], dict[str, Exception | None], str]:
    """What the program put out, the errors it caught by name, and what ended it, if anything."""
    out: dict[str, Any] = {}
    errors: dict[str, Exception | None] = {}

    def catch(name: str, f: Any) -> None:
        try:
            out[name], errors[name] = f(), None
        except Exception as e:
            errors[name] = e

    try:
        exec(case["tf_code"], {
            "tf": tf, "np": np, "inp": case["inputs"], "out": out, "catch": catch,
            "D": tf.float64, "__name__": "case"})
    except Exception:
        return out, errors, traceback.format_exc(limit=-3)
    return out, errors, ""


@cache
def disagreements(id: str, tensorflow_semantics: bool) -> dict[str, str]:
    """The names of the outputs and errors that are not TensorFlow's, and how they differ."""
    case = CASES[id]
    out, errors, failure = run(case, tf if tensorflow_semantics else Own())
    found = {"program": failure} if failure else {}
    for name, theirs in case["errors"].items():
        ours = errors.get(name)
        if (theirs is None) != (ours is None):
            found[name] = f"raised {ours!r}, TensorFlow {theirs}"
        elif ours is not None and not isinstance(ours, GradcliError) and (
                type(ours).__name__ != theirs["class"]):
            found[name] = f"a bare {ours!r}"
    for name, expected in case["outputs"].items():
        if name in found:
            continue
        try:
            got = part(out, name)
        except (KeyError, IndexError, TypeError) as e:
            found[name] = f"no such output: {e!r}"
            continue
        tolerance = 1e-6 if ROUGH.match(id) else 1e-12
        for k in UNCOMPARED.get((id, name), ()):
            got, expected = [[x for n, x in enumerate(v) if n != k] for v in (plain(got), expected)]
        tensor = case["tensors"].get(name)
        if not same(plain(got), expected, tolerance):
            found[name] = f"{plain(got)}, TensorFlow {expected}"
        elif tensor is not None and isinstance(got, Tensor) and (
                got.dtype != tensor["dtype"] or list(got.shape) != tensor["shape"]):
            found[name] = f"{got.dtype} {list(got.shape)}, TensorFlow {tensor}"
        elif (tensor is not None) != isinstance(got, Tensor) and (id, name) not in UNCOMPARED:
            found[name] = f"a {type(got).__name__}, TensorFlow {'a' if tensor else 'no'} tensor"
    for name in out.keys() - {re.split(r"\[", n)[0] for n in case["outputs"]}:
        if plain(out[name]) not in ([], {}):
            found[name] = f"{plain(out[name])}, TensorFlow has no such output"
    return found


def part(out: dict[str, Any], name: str) -> Any:
    """The output `trace[0]['loss']`: the item 'loss' of the first item of out['trace']."""
    first, *keys = re.findall(r"^[^\[]+|\[[^\]]+\]", name)
    value = out[first]
    for key in keys:
        value = value[json.loads(key[1:-1].replace("'", '"'))]
    return value


def plain(value: Any) -> Any:
    """Numbers, texts and lists, as the recorded answers are."""
    if isinstance(value, Tensor):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, complex):
        return {"re": value.real, "im": value.imag}
    return value


def same(got: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(
            same(g, e, tolerance) for g, e in zip(got, expected, strict=True))
    if isinstance(expected, dict):
        return isinstance(got, dict) and list(got) == list(expected) and all(
            same(got[key], e, tolerance) for key, e in expected.items())
    if isinstance(expected, str):
        expected = SPECIAL.get(expected, expected)
    if not isinstance(expected, (int, float)) or not isinstance(got, (int, float)):
        return bool(got == expected)
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    return math.isclose(got, expected, rel_tol=tolerance, abs_tol=SATURATED)


# --- tests ------------------------------------------------------------------------------------

RUNNING = [id for id in CASES if id not in EXCLUDED]


@folded
@pytest.mark.parametrize("id", RUNNING)
def test_as_tensorflow(id: str) -> None:
    found = disagreements(id, True)
    _, expected = DIFFERENT.get(id, ("", set()))
    assert found.keys() == expected, "\n".join(f"{name}: {text}" for name, text in found.items())


@folded
@pytest.mark.parametrize("id", RUNNING)
def test_own_semantics(id: str) -> None:
    found = disagreements(id, False)
    _, expected = OWN.get(id) or DIFFERENT.get(id, ("", set()))
    assert found.keys() == expected, "\n".join(f"{name}: {text}" for name, text in found.items())


@pytest.mark.parametrize(("cases", "tensorflow_semantics", "counts"), [
    (FIRST, True, (185, 11, 2)),
    (FIRST, False, (175, 21, 2)),
    (MORE, True, (225, 13, 0)),
    (MORE, False, (217, 21, 0)),
], ids=["first", "first own", "more", "more own"])
def test_counts(cases: dict[str, Any], tensorflow_semantics: bool, counts: tuple[int, int, int]
                ) -> None:
    """How many agree, differ on purpose, are excluded: of the first 198 at least 90 % agree."""
    different = [
        id for id in cases if id not in EXCLUDED and disagreements(id, tensorflow_semantics)]
    excluded = [id for id in cases if id in EXCLUDED]
    agree = len(cases) - len(different) - len(excluded)
    assert (agree, len(different), len(excluded)) == counts, different


def test_nine_of_ten_agree() -> None:
    agree = [id for id in FIRST if id not in EXCLUDED and not disagreements(id, True)]
    assert len(agree) >= 0.9 * len(FIRST) == 0.9 * 198
    assert {*EXCLUDED, *DIFFERENT, *OWN} <= CASES.keys()
