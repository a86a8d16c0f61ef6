"""What people type, through the commands: read as it is meant, or refused with both readings."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from asked import valid
from conftest import folded
from transcripts import in_process
from typed_formulas import POINT, Row, rows

import gradcli

ROWS = rows()
READ = [row for row in ROWS if len(row.readings) == 1]


def derived(text: str) -> dict[str, Any]:
    """The derivatives at POINT by each name, out of the formulas that `derive` prints."""
    status, out, err = in_process(["derive", "-e", text, "--inline", "--format", "json"])
    assert status == 0, err
    found = {}
    for result in json.loads(out)["results"]:
        program = gradcli.loads(result["formula"])
        at = {name: POINT[name] for name in program.names.inputs}
        found[result["wrt"][0]["name"]] = program.value(at=at)
    return found


@folded
@pytest.mark.parametrize("row", READ, ids=lambda row: row.typed)
def test_a_formula_is_read_as_it_is_meant(row: Row) -> None:
    assert derived(row.typed) == pytest.approx(row.readings[0], rel=1e-11, abs=1e-13)


@folded
@pytest.mark.parametrize("row", [row for row in ROWS if len(row.readings) != 1],
                         ids=lambda row: row.typed)
def test_what_has_two_readings_or_is_no_formula_is_refused(row: Row) -> None:
    """Both readings are shown, and are read as they stand."""
    status, out, err = in_process(["derive", "-e", row.typed, "--format", "json"])
    assert (status, out) == (3, "")
    problem = json.loads(err)["error"]
    assert problem["code"] == (row.code or "E0104")
    assert problem["help"]
    if row.readings:
        first, second = [derived(one) for one in re.findall(r"`([^`]+)`", problem["help"])]
        expected = [pytest.approx(one, rel=1e-11, abs=1e-13) for one in row.readings]
        assert [first, second] in (expected, expected[::-1])


@folded
@pytest.mark.parametrize("command", ["grad", "steps"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.typed)
def test_other_commands_read_the_same(command: str, row: Row) -> None:
    names = [name for reading in row.readings for name in reading]
    at = ",".join([f"{name}={POINT[name]}" for name in dict.fromkeys(names)])
    status, out, err = in_process([
        command, "-e", row.typed, "--format", "json", *(["--at", at] if at else [])])
    if len(row.readings) != 1:
        assert (status, out) == (3, "")
        return
    assert status == 0, err
    (result,) = json.loads(out)["results"]
    assert {one["wrt"]: one["gradient"] for one in result["sources"]} == pytest.approx(
        row.readings[0], rel=1e-11, abs=1e-13)


SOME = {
    "sin^2 x": math.sin(0.7)**2, "xe^x": 0.7*math.exp(0.7), "x² sin x": 0.49*math.sin(0.7),
    "\\frac{x}{x+1}": 0.7/1.7, "f(x) = x sin x": 0.7*math.sin(0.7), "√(3&x)": 0.7**(1/3)}


@pytest.mark.parametrize("argv", [
    ["plot", "--over", "x=0.5:0.9"], ["study"], ["propagate", "--at", "0.7", "--sigma", "x=0.1"],
    *[[name, "--at", "0.7"] for name in (
        "taylor", "tangent", "graph", "verify", "hess", "why", "jac", "eval", "laplacian")],
    ["newton", "--at", "0.7"], ["limit", "--at", "x=0.7"]], ids=lambda argv: argv[0])
def test_every_command_says_how_it_read(argv: list[str]) -> None:
    """In JSON beside the file, else once on standard error; not with --quiet."""
    for text, value in SOME.items():
        status, out, err = in_process([argv[0], text, *argv[1:], "--format", "json"])
        assert status == 0, err
        answer = json.loads(out)
        assert answer["file"] == "formula"
        valid(answer, argv[0])
        assert gradcli.loads(answer["read_as"]).value(at={"x": 0.7}) == pytest.approx(value)
        assert "read as" not in err
    usual = ["--format", "text"] if argv[0] == "plot" else []
    told = in_process([argv[0], "sin^2 x", *argv[1:], *usual])[2]
    assert told.count("read as sin(x)^2\n") == 1
    assert "read as" not in in_process([argv[0], "sin^2 x", *argv[1:], *usual, "-q"])[2]
    status, _, err = in_process([argv[0], "sin^2 x", *argv[1:], *usual, "--strict-syntax"])
    assert status == 3
    assert "error[E0106]" in err
