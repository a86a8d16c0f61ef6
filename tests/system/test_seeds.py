"""The articles' programs in `samples/seeds` against what TensorFlow computes, case by case, and the
programs in `samples/training` against published numbers.

`data/tensorflow.json` holds what TensorFlow 2.21 answered to each program; the codes of a None were
assigned by hand, because TensorFlow gives no cause.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Any

import pytest
from conftest import folded
from folders import DATA, ROOT
from test_samples import flat
from transcripts import in_process

CASES = {
    case["id"]: case for case in json.loads(
        (DATA / "tensorflow.json").read_text())["cases"]
    if case["id"].startswith(("s000_", "s001_", "s002_", "s003_", "s004_", "adv_"))}

# An output of a case: the label of the print that shows it. `label#2` is the third print of that
# label; `#1` the second column of the prints without a label.
Labels = dict[str, str]
_DY_DX = {"dy_dx": "dy/dx"}
_GRADIENT = {"grad": "gradient"}
_SOURCES = {"y": "y", **{f"grad[{k}]": f"dy/dx{k}" for k in range(4)}}
_AUTO_WATCH = {"ys": "ys", "grad['x0']": "dys/dx0", "grad['x1']": "dys/dx1"}
_BRANCH = {"dv[0]": "dresult/dv0", "dv[1]": "dresult/dv1", "dx": "dresult/dx"}
_TWO = {"dz_dx": "dz/dx", "dy_dx": "dy/dx"}
_CURVE = {"y": "y", "grad": "dy/dx"}
_CLIPPED = {"output": "output", "grad": "gradient"}
_UNRELATED = {"dz_dx": "dz/dx", "dz_dx_zero": "dz/dx, zero"}
_REPLACED = {"grad[0]": "epoch#0", "grad[1]": "epoch#1"}
_STATE = {"y": "y", "dy_dx0": "dy/dx0", "dy_dx1": "dy/dx1"}
_INTERMEDIATE = {"dz[0]": "dz/dx", "dz[1]": "dz/dy"}
_HESSIAN = {"loss": "loss", "g": "g", "h": "hessian", "h_shape": "shape", "symmetric": "symmetric",
            "newton_step": "step", "K_after": "K"}
_TRACE = {f"trace[{k}]['{word}']": f"{label}#{k}" for k in range(3)
          for word, label in (("loss", "loss"), ("grad", "gradient"), ("weights", "weights"))}
_XY = {"grad['x']": "dz/dx", "grad['y']": "dz/dy"}

PROGRAMS: list[tuple[str, str, Labels, list[str]]] = [
    ("s000_linear_list_and_dict_sources", "linear_layer",
     {"y": "y", "loss": "loss", "as_list": "as list", "as_dict": "as dict"}, []),
    ("s000_source_kinds", "source_kinds", _SOURCES, []),
    ("s002_none_kinds", "source_kinds", _SOURCES, []),
    ("s003_source_kinds", "source_kinds", _SOURCES, []),
    ("s000_watch_accessed_false", "watch_accessed_variables", _AUTO_WATCH, []),
    ("s003_watch_accessed_false", "watch_accessed_variables", _AUTO_WATCH, []),
    ("s000_persistent_pow16", "power_of_power", {**_TWO, "dz_dy": "dz/dy"}, []),
    ("s000_control_flow_taken", "control_flow", _BRANCH, []),
    ("s000_control_flow_other_branch", "control_flow", _BRANCH, ["--at", "x=-1"]),
    ("s003_control_flow", "control_flow", _BRANCH, []),
    ("s001_basic_repaired", "product", {"z": "z", "dz_dx": "dz/dx", "dz_dy": "dz/dy"}, []),
    ("s001_variable_repaired", "variable", {"grad": "dy/dw"}, []),
    ("s001_nested_gradient_inside_outer", "second_derivative",
     {"dy": "dy/dx", "d2y": "d2y/dx2"}, []),
    ("s002_higher_order_nested", "nested_tapes", {"dy": "dy/dx", "d2y": "d2y/dx2"}, []),
    ("s002_sigmoid_curve", "sigmoid", {"x": "#0", "y": "#1", "dy_dx": "#2"}, []),
    ("s003_sigmoid_grid_201", "sigmoid_grid",
     {"n": "points", "max": "largest slope", "argmax_x": "at x", "sum": "sum", "first": "first",
      "mid": "middle", "last": "last"}, []),
    ("s002_scalar_loss", "scalar_loss", {"loss": "loss", "grad": "dloss/dw"}, []),
    ("s002_dense_vector_input", "dense_layer",
     {"loss": "loss", "dw": "dloss/dw", "db": "dloss/db"}, []),
    ("s002_gradient_descent_step", "descent_step",
     {"w": "w", "b": "b", "loss_after": "loss after"}, []),
    ("s002_small_classifier_step", "classifier_step",
     {"loss": "loss", "grads": "gradients", "after": "weights after the step"}, []),
    ("s002_vector_target_sums", "vector_target", {"y": "y", **_GRADIENT}, []),
    ("s003_vector_target_sums", "vector_target", {"y": "y", **_GRADIENT}, []),
    ("s002_persistent_twice", "persistent", _TWO, []),
    ("s003_persistent", "persistent", _TWO, ["--at", "x=[1,3]"]),
    ("s002_log1pexp_naive", "log1pexp_naive", _CURVE, []),
    ("s002_log1pexp_naive_float32", "log1pexp_naive",
     {"y": "32 bits: y", "grad": "32 bits: dy/dx"}, []),
    ("s002_log1pexp_custom_gradient", "log1pexp_custom", _CURVE, []),
    ("s002_softplus_is_stable", "softplus", _CURVE, []),
    ("s002_clip_gradient_by_norm", "clip_gradient", _CLIPPED, []),
    ("adv_clip_gradients", "clip_gradient", _CLIPPED, []),
    ("s002_watch_constant", "watch_constant", _DY_DX, []),
    ("s003_watch_constant", "watch_constant", _DY_DX, []),
    ("s002_intermediate_source", "intermediate", _INTERMEDIATE, []),
    ("s003_intermediate", "intermediate", _INTERMEDIATE, []),
    ("s002_unrelated_none", "unrelated", _UNRELATED, []),
    ("s003_unrelated_none", "unrelated", _UNRELATED, []),
    ("s002_numpy_exit", "numpy_exit", _CURVE, []),
    ("s003_none_2_numpy", "numpy_exit", _CURVE, []),
    ("s002_rebound_variable_becomes_tensor", "replaced_variable", _REPLACED, []),
    ("s003_none_1_replaced_variable", "replaced_variable", _REPLACED, []),
    ("s002_assign_add_keeps_variable", "assign_add", {**_REPLACED, "x": "x"}, []),
    ("s002_state_blocks", "state", _STATE, []),
    ("s003_none_4_state", "state", _STATE, []),
    ("s002_state_repaired", "state_repaired", {"y": "y", "grad": "dy/dx0, dy/dx1"}, []),
    ("s002_jacobian_scalar_source", "jacobian",
     {"y": "y", "jacobian": "dy/ddelta", "shape": "shape"}, []),
    ("s002_hessian", "newton_step", _HESSIAN, []),
    ("adv_hessian", "newton_step", _HESSIAN, []),
    ("s003_square", "square", _DY_DX, []),
    ("s003_linear_shapes", "linear_shapes",
     {"w_shape": "shape of w", "dl_dw_shape": "shape of dl/dw", "dl_dw": "dl/dw",
      "b_from_dict": "dl/db"}, []),
    ("s003_keras_dense", "dense_relu",
     {"y": "y", "loss": "loss", "grad[0]": "dkernel", "grad[1]": "dbias"}, []),
    ("s003_two_targets_separately", "two_targets",
     {"dy0": "dy0/dx", "dy1": "dy1/dx", "both_dict": "both as dict", "both_list": "both as list"},
     []),
    ("s003_none_3_integer", "integer", {"grad": "dy/dx"}, []),
    ("s003_zeros_instead_of_none", "zeros_instead_of_none", {"grad": "dz/dx"}, []),
    ("s004_forward_only_gradient", "loss_sqrt", _GRADIENT, []),
    ("s004_squared_difference", "loss", {"loss": "loss", **_GRADIENT}, []),
    ("s004_constant_unwatched", "constant_weights", _GRADIENT, []),
    ("s004_constant_watched_persistent", "constant_watched",
     {**_GRADIENT, "grad_again": "again"}, []),
    ("s004_training_loop", "training_loop", {**_TRACE, "weights": "weights#2"}, []),
    ("s004_three_ways", "three_ways",
     {"reverse": "reverse", "forward": "forward", "symbolic": "by hand",
      "central_difference": "central difference"}, []),
    ("s004_chain_log_sqrt_sin", "chain",
     {"y": "y", "dy": "dy", "dx3_dx1": "dx3/dx1", "dx5_dx3": "dx5/dx3", "dy_dx5": "dy/dx5"}, []),
    ("adv_reset", "reset", _XY, []),
    ("adv_stop_gradient", "stop_gradient", {"z": "z", **_XY}, []),
    ("adv_multiple_tapes", "multiple_tapes", {"d0": "dys/dx0", "d1": "dys/dx1"}, []),
    ("adv_input_gradient_regularization", "input_gradient",
     {"g1": "g1", "mag": "mag", "dmag": "dmag"}, []),
    ("adv_custom_gradient_not_traceable_lookup", "shuffle", {"gradient": "dy/dx"}, []),
]

# Programs that end in an error in TensorFlow, and here: sample, our code, what is printed before.
ERRORS = [
    ("s001_basic_as_printed", "tape_never_opened", "E0507", ""),
    ("s001_variable_as_printed", "tape_never_opened", "E0507", ""),
    ("s002_not_persistent_twice", "not_persistent", "E0501", "dz/dx = 108\n"),
    ("s003_no_gradient_registered", "no_gradient_registered", "E0503",
     "new image: [[[0.5, 0, 0]]]\n"),
]

# Programs asked by another command than `run`.
ASKED = [
    ("s002_integer_cast_cuts", "grad", "integer_cast", ["--wrt", "x"]),
    ("s004_forward_only", "eval", "forward_only", ["--of", "output", "--of", "loss"]),
]

# What is not a number or has no counterpart: names, Python's types and truths about them.
NOT_COMPARED = {"watched", "kind", "dtype", "same_shape", "names", "shapes"}

# TensorFlow takes numbers below the smallest normal one for 0, such as 1/e^709, or 1/e^88 in 32
# bits, and has the slope 0 there. It is 1.
FLUSHED = {("s002_log1pexp_naive", "grad", 2), ("s002_log1pexp_naive_float32", "grad", 1)}

RTOL = {"s002_log1pexp_naive_float32": 1e-6}


@cache
def printed(sample: str, *options: str) -> dict[str, list[Any]]:
    """What a program printed: label to (value, reasons) of each print that has it; prints without a
    label are under "", as lists of values.
    """
    status, out, err = in_process(
        ["run", f"samples/{sample}.txt", "--format", "json", *options])
    assert status == 0, err
    answer = json.loads(out)
    assert answer["expects"]
    assert all(expect["holds"] for expect in answer["expects"])
    found: dict[str, list[Any]] = {}
    for one in answer["printed"]:
        values = one["values"]
        if isinstance(values[0]["value"], str):
            label = values[0]["value"].strip(" :=")
            found.setdefault(label, []).append((values[-1]["value"], values[-1]["reasons"]))
        else:
            found.setdefault("", []).append([v["value"] for v in values])
    return found


def shown(prints: dict[str, list[Any]], labels: Labels, output: str) -> tuple[Any, Any]:
    """The printed value of an output, and the reasons beside it."""
    base, path = (output, "") if output in labels else re.fullmatch(
        r"(\w+)(.*)", output).groups()  # type: ignore[union-attr]
    label, _, number = labels[base].partition("#")
    if not label:
        return [row[int(number)] for row in prints[""]], []
    value, reasons = prints[label][int(number or 0)]
    for key in re.findall(r"\[(\d+|'\w+')\]", path):
        value = value[int(key) if key.isdigit() else key.strip("'")]
    return value, reasons


def number(value: Any) -> float:
    return float(value.replace("Infinity", "inf") if isinstance(value, str) else value)


def same(got: Any, want: Any, rtol: float) -> bool:
    if isinstance(want, bool) or want is None:
        return got is want
    a, b = number(got), number(want)
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=rtol)


def shape(value: Any) -> list[int]:
    return [len(value), *shape(value[0])] if isinstance(value, list) and value else []


def test_every_program_of_the_articles_has_a_sample() -> None:
    rows = [case for case, *_ in (*PROGRAMS, *ERRORS, *ASKED)]
    assert len(rows) == len(set(rows))
    assert set(rows) == set(CASES)


@folded
@pytest.mark.parametrize(
    ("case", "sample", "labels", "options"), PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_program_prints_what_tensorflow_computes(
        case: str, sample: str, labels: Labels, options: list[str]) -> None:
    prints = printed(f"seeds/{sample}", *options)
    outputs = CASES[case]["outputs"]
    compared = 0
    for output, expected in outputs.items():
        if output.partition("[")[0] in NOT_COMPARED:
            continue
        value, reasons = shown(prints, labels, output)
        compared += 1
        if expected is None:
            assert value is None, output
            assert reasons[0]["code"] == CASES[case]["why_none"][output], output
            continue
        got, want = flat(value), flat(expected)
        assert shape(value) == shape(expected), output
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            if (case, output, k) in FLUSHED:
                assert number(b) == 0
                assert math.isclose(number(a), 1, rel_tol=1e-7)
            else:
                assert same(a, b, RTOL.get(case, 1e-12)), (output, k, a, b)
    assert compared


@pytest.mark.parametrize(
    ("case", "sample", "code", "before"), ERRORS, ids=[row[0] for row in ERRORS])
def test_program_ends_in_an_error_as_in_tensorflow(
        case: str, sample: str, code: str, before: str) -> None:
    assert CASES[case]["errors"]
    status, out, err = in_process(["run", f"samples/seeds/{sample}.txt"])
    assert status == 3
    assert out.startswith(before)
    assert err.startswith(f"error[{code}]")


def test_a_cast_gives_none_with_its_cause() -> None:
    case, command, sample, options = ASKED[0]
    status, out, err = in_process(
        [command, f"samples/seeds/{sample}.txt", "--format", "json", *options])
    assert status == 0, err
    result = json.loads(out)["results"][0]
    assert result["value"] == CASES[case]["outputs"]["y"]
    assert CASES[case]["outputs"]["grad"] is result["sources"][0]["gradient"] is None
    assert result["sources"][0]["reasons"][0]["code"] == CASES[case]["why_none"]["grad"]


def test_values_without_a_tape() -> None:
    case, command, sample, options = ASKED[1]
    status, out, err = in_process(
        [command, f"samples/seeds/{sample}.txt", "--format", "json", *options])
    assert status == 0, err
    for result in json.loads(out)["results"]:
        want = CASES[case]["outputs"][result["of"]]
        assert math.isclose(result["value"][0][0], want[0][0], rel_tol=1e-12)


# --- training ---------------------------------------------------------------------------------

# The positions of Keras' optimizers (TensorFlow 2.21, floatx float64, rates as in the samples) on
# Rosenbrock's function from (-1.2, 1), after so many steps. Keras keeps 32 bits of the momentum and
# of the powers of Adam's rates of decay; what that costs grows along the way.
TRAJECTORIES = {
    ("gradient_descent", 1e-12, 1e-12): {
        1: [-0.9843999999999999, 1.088], 2: [-1.0272715665664, 1.0642086720000001],
        5: [-1.0253114876941536, 1.0592414284989586],
        500: [-0.5097132981403509, 0.2673661432884418],
        2000: [0.7206509274071017, 0.5180277834672461]},
    ("momentum", 1e-7, 1e-7): {
        1: [-0.9843999999999999, 1.088], 2: [-0.8332315717067046, 1.1434086699019166],
        5: [-1.1113499511253522, 0.8806079267408745],
        500: [0.9573960401094496, 0.9164322032751068],
        2000: [0.9999224296268722, 0.9998445548507701]},
    ("adam", 1e-6, 1e-4): {
        1: [-1.1800001338081316, 1.0199998657665186], 2: [-1.1601731910731095, 1.0398443850465058],
        5: [-1.103482828298202, 1.0967563046721092],
        500: [-0.3530092828554272, 0.12789875306417775],
        2000: [0.972005849819846, 0.9447053714546403]},
}


@pytest.mark.parametrize("key", TRAJECTORIES, ids=lambda key: key[0])
def test_optimizer_goes_the_way_of_keras(key: tuple[str, float, float]) -> None:
    name, early, late = key
    status, out, err = in_process(["run", f"samples/training/{name}.txt", "--format", "json"])
    assert status == 0, err
    positions = {
        row["values"][0]["value"]: row["values"][2]["value"] for row in json.loads(out)["printed"]}
    for step, expected in TRAJECTORIES[key].items():
        for a, b in zip(positions[step], expected, strict=True):
            assert math.isclose(a, b, rel_tol=early if step <= 5 else late), step


def test_published_training_example() -> None:
    """The weights that TensorFlow prints, and its losses and weights in 32 bits at each step."""
    status, out, err = in_process(["run", "samples/training/three_points.txt", "--format", "json"])
    assert status == 0, err
    rows = [[v["value"] for v in row["values"]] for row in json.loads(out)["printed"]]
    expected = [(12.25, 0.20000001788139343, 0.6100000143051147),
                (3.724900245666504, 0.08420002460479736, 0.4942000210285187),
                (0.4598197638988495, 0.029952015727758408, 0.47385701537132263)]
    for row, (loss, w0, w1) in zip(rows, expected, strict=True):
        for a, b in zip([*flat(row[1]), *flat(row[3])], (loss, w0, w1), strict=True):
            assert math.isclose(a, b, rel_tol=1e-6)


def test_dense_layer_finds_the_map_that_made_the_data() -> None:
    prints = printed("training/dense_layer")
    losses = [loss for loss, _ in prints["step"]]
    assert len(losses) == 3
    assert losses[0] > 1
    assert losses[-1] < 1e-6


def test_logistic_regression_finds_the_maximum_of_the_likelihood() -> None:
    """The root of the score equations and the loss there, computed with mpmath to 30 digits."""
    values = [v for v, _ in printed("training/logistic_regression")["Newton"]]
    assert math.isclose(values[-1], 8.0298784643446743, rel_tol=1e-14)
    status, out, err = in_process(
        ["run", "samples/training/logistic_regression.txt", "--format", "json"])
    assert status == 0, err
    newton = [row for row in json.loads(out)["printed"] if row["values"][0]["value"] == "Newton"]
    for a, b in zip(newton[-1]["values"][2]["value"],
                    (-4.0777134310876307, 1.5046454283733335), strict=True):
        assert math.isclose(a, b, rel_tol=1e-13)


def test_digits_are_learnt() -> None:
    """Printed losses differ in their last digits from one machine to the next, so that there is no
    file of what is printed; what must hold is that it learns.
    """
    prints = printed("digits")
    losses = [loss for loss, _ in prints["epoch"]]
    assert len(losses) == 6
    assert losses[-1] < 0.5*losses[0]
    assert prints["test accuracy"][0][0] >= 0.95


def test_digits_are_the_published_ones() -> None:
    rows = [[int(cell) for cell in line.split(",")]
            for line in (ROOT / "samples/data/digits.csv").read_text().splitlines()]
    assert len(rows) == 1797
    assert {len(row) for row in rows} == {65}
    assert all(0 <= pixel <= 16 for row in rows for pixel in row[:64])
    # How many of each digit the description of the data set names.
    assert [sum(row[64] == d for row in rows) for d in range(10)] == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
