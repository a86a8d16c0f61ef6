"""What people type, through the commands: read as it is meant, or refused with both readings."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
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
