"""Every sample runs the commands in its header and prints what its `.expected` file shows."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import folded
from folders import DATA, ROOT
from transcripts import SAMPLES, header_commands, in_process

# Samples that show an error: their runs end with status 3.
ERRORS = {
    "no_gradient_registered", "not_persistent", "path-no-rule", "tape-consumed",
    "tape_never_opened", "tape-not-entered"}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_sample_prints_what_it_shows(path: Path, golden: Callable[[Path, str], None]) -> None:
    commands = header_commands(path)
    shown = []
    for arguments in commands or [["grad", str(path.relative_to(ROOT)), "--wrt", "x"]]:
        status, out, err = in_process(arguments)
        assert status == (3 if path.stem in ERRORS else 0), err
        shown.append(f"$ gradcli {shlex.join(arguments)}\n{out}{err}")
    golden(path.with_suffix(".expected"), "\n".join(shown))


# --- the articles' programs against what TensorFlow computes ----------------------------------

CASES = {
    case["id"]: case for case in json.loads(
        (DATA / "tensorflow_seeds.json").read_text())["cases"]}

# sample, target, source, options, case, output of the case
AGAINST_TENSORFLOW = [
    ("square", "y", "x", [], "s003_square", "dy_dx"),
    ("product", "z", "x", [], "s001_basic_repaired", "dz_dx"),
    ("product", "z", "y", [], "s001_basic_repaired", "dz_dy"),
    ("intermediate", "z", "x", [], "s003_intermediate", "dz[0]"),
    ("intermediate", "z", "y", [], "s003_intermediate", "dz[1]"),
    ("power_of_power", "z", "x", [], "s000_persistent_pow16", "dz_dx"),
    ("power_of_power", "y", "x", [], "s000_persistent_pow16", "dy_dx"),
    ("power_of_power", "z", "y", [], "s000_persistent_pow16", "dz_dy"),
    ("two_targets", "y0", "x", [], "s003_two_targets_separately", "dy0"),
    ("two_targets", "y1", "x", [], "s003_two_targets_separately", "dy1"),
    ("two_targets", "y0+y1", "x", [], "s003_two_targets_separately", "both_list"),
    ("vector_target", "y", "x", [], "s003_vector_target_sums", "grad"),
    ("linear_layer", "loss", "w", [], "s000_linear_list_and_dict_sources", "as_list[0]"),
    ("linear_layer", "loss", "b", [], "s000_linear_list_and_dict_sources", "as_list[1]"),
    ("dense_relu", "loss", "kernel", [], "s003_keras_dense", "grad[0]"),
    ("dense_relu", "loss", "bias", [], "s003_keras_dense", "grad[1]"),
    ("sigmoid", "y", "x", [], "s002_sigmoid_curve", "dy_dx"),
    ("branch", "result", "v0", [], "s003_control_flow", "dv[0]"),
    ("branch", "result", "v1", [], "s003_control_flow", "dv[1]"),
    ("branch", "result", "x", [], "s003_control_flow", "dx"),
    ("branch", "result", "v0", ["--at", "x=-1"], "s000_control_flow_other_branch", "dv[0]"),
    ("branch", "result", "v1", ["--at", "x=-1"], "s000_control_flow_other_branch", "dv[1]"),
    ("source_kinds", "y", "x0", [], "s003_source_kinds", "grad[0]"),
    ("source_kinds", "y", "x3", [], "s003_source_kinds", "grad[3]"),
    ("unrelated", "z", "x", [], "s003_unrelated_none", "dz_dx"),
    ("unrelated", "z", "x", ["--unconnected", "zero"], "s003_unrelated_none", "dz_dx_zero"),
    ("integer", "y", "x", [], "s003_none_3_integer", "grad"),
    ("integer_cast", "y", "x", [], "s002_integer_cast_cuts", "grad"),
    ("loss", "loss", "weights", [], "s004_squared_difference", "grad"),
    ("loss_sqrt", "loss", "weights", [], "s004_forward_only_gradient", "grad"),
    ("chain", "y", "x1", [], "s004_chain_log_sqrt_sin", "dy['x1']"),
    ("chain", "y", "x2", [], "s004_chain_log_sqrt_sin", "dy['x2']"),
    ("chain", "y", "x3", [], "s004_chain_log_sqrt_sin", "dy['x3']"),
    ("chain", "y", "x4", [], "s004_chain_log_sqrt_sin", "dy['x4']"),
    ("chain", "y", "x5", [], "s004_chain_log_sqrt_sin", "dy['x5']"),
    ("chain", "y", "x6", [], "s004_chain_log_sqrt_sin", "dy['x6']"),
    ("chain", "x3", "x1", [], "s004_chain_log_sqrt_sin", "dx3_dx1"),
    ("chain", "x5", "x3", [], "s004_chain_log_sqrt_sin", "dx5_dx3"),
]


def flat(value: Any) -> list[float]:
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


@folded
@pytest.mark.parametrize(("sample", "of", "wrt", "options", "case", "output"), AGAINST_TENSORFLOW)
def test_sample_agrees_with_tensorflow(
        sample: str, of: str, wrt: str, options: list[str], case: str, output: str) -> None:
    status, out, err = in_process(
        ["grad", f"samples/seeds/{sample}.txt", "--of", of, "--wrt", wrt, "--format", "json",
         *options])
    assert status == 0, err
    source = json.loads(out)["results"][0]["sources"][0]
    expected = CASES[case]["outputs"][output]
    if expected is None:
        assert source["gradient"] is None
        # TensorFlow gives no cause; the catalogue's code for the case was assigned by hand.
        assert source["reasons"][0]["code"] == CASES[case]["why_none"][output]
    else:
        got, want = flat(source["gradient"]), flat(expected)
        assert len(got) == len(want)
        # One rounding in each of some operations, in another order than TensorFlow's.
        assert all(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(got, want, strict=True))
