"""Every format of every command on a fixed set of formulas: the same numbers to the last bit."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from asked import loaded, ok, valid
from conftest import folded
from transcripts import in_process

import gradcli
from gradcli.cli.options import FORMATS
from gradcli.cli.options.questions import ROWS

QUESTIONS = [row.name for row in ROWS]

FORMULAS = [
    ("x^2*sin(y) + exp(x*y)", {"x": 1.5, "y": 0.5}),
    ("x/3", {"x": 0.1}),
    ("1/x", {"x": 5e-324}),
    ("x^0.5", {"x": 0.0}),
    ("log(x)", {"x": -1.0}),
    ("A @ w + x", {"A": [[1.0, 2.0], [0.1, 1e-17]], "w": [1.0, -1 / 3], "x": 2.0}),
    ("sum(w^3)*x", {"w": [1.0, 2.0, 0.3], "x": 1e300}),
    ("[x, x*y, 7]", {"x": 1 / 3, "y": 2.0}),
    ("floor(x)*y", {"x": 1.5, "y": 2.0}),
    ("abs(x) + θ", {"x": 0.0, "θ": 1.0}),
    ("var n: int64 = 3\nvar v = 2\nfloat(n)*v", {}),
]
IDS = [formula.splitlines()[0] for formula, _ in FORMULAS]
formulas = pytest.mark.parametrize(("formula", "point"), FORMULAS, ids=IDS)


def at(point: dict[str, Any]) -> list[str]:
    return ["--at", ",".join([f"{k}={v!r}" for k, v in point.items()])] if point else []


def number(value: Any) -> Any:
    """What a JSON value stands for, as floats and nested lists."""
    if isinstance(value, list):
        return [number(item) for item in value]
    return None if value is None else float(value)


def same(told: Any, computed: Any) -> bool:
    """To the last bit; NaN is NaN, a zero has its sign."""
    if told is None or computed is None:
        return told is None and computed is None
    left, right = np.array(number(told)), np.asarray(computed, dtype=float)
    return left.shape == right.shape and bool(np.all(
        ((left == right) & (np.signbit(left) == np.signbit(right)))
        | ((left != left) & (right != right))))


@pytest.mark.parametrize("command", ["eval", "grad", "jac", "hess", "why"])
def test_complex_numbers_are_strings_that_read_back(command: str) -> None:
    argv = [command, "-e", "var x = 2.0\nf = complex(1, 2)*x", "--format"]
    answer = json.loads(in_process([*argv, "json"])[1])
    valid(answer, command)
    assert complex(answer["results"][0]["value"]) == 2 + 4j
    for format in FORMATS:
        assert in_process([*argv, format])[0] == 0


@formulas
def test_json_reads_back_to_the_last_bit(formula: str, point: dict[str, Any]) -> None:
    program = gradcli.loads(formula)
    for command in QUESTIONS:
        status, out, err = in_process([command, "-e", formula, *at(point), "--format", "json"])
        assert status == 0, err
        answer = json.loads(out)
        valid(answer, command)
        (result,) = answer["results"]
        assert same(result["value"], program.value(at=point))
        if command == "grad":
            want = program.gradient(at=point)
            assert [s["wrt"] for s in result["sources"]] == list(want)
            assert all(same(s["gradient"], want[s["wrt"]]) for s in result["sources"])
        elif command == "jac":
            jacobian = program.jacobian(at=point)
            assert all(same(s["jacobian"], jacobian[s["wrt"]]) for s in result["sources"])
        elif command == "hess":
            hessian = program.hessian(at=point)
            assert all(same(b["hessian"], hessian[b["row"]][b["col"]]) for b in result["blocks"])
            assert len(result["blocks"]) == len(hessian) ** 2


@formulas
def test_ndjson_is_the_same_in_lines(formula: str, point: dict[str, Any]) -> None:
    for command in QUESTIONS:
        argv = [command, "-e", formula, *at(point), "--format"]
        whole = json.loads(in_process([*argv, "json"])[1])
        lines = [json.loads(line) for line in in_process([*argv, "ndjson"])[1].splitlines()]
        common = {key: value for key, value in whole.items() if key != "results"}
        assert lines == [{**common, **result} for result in whole["results"]]


def leaves(value: Any) -> list[Any]:
    """The elements of nested lists, in order; None and a float are one element."""
    return [x for item in value for x in leaves(item)] if isinstance(value, list) else [value]


def texts(command: str, result: dict[str, Any]) -> list[Any]:
    """The derivatives of a result in the order of plain output; a missing one once."""
    if command == "eval":
        return leaves(result["value"])
    if command == "hess":
        rows = []
        for row in dict.fromkeys(block["row"] for block in result["blocks"]):
            blocks = [b for b in result["blocks"] if b["row"] == row]
            rows += [leaves(b["hessian"]) for b in blocks]
        return [x for row in rows for x in row]
    field = "gradient" if command == "grad" else "jacobian"
    return [x for source in result["sources"] for x in leaves(source[field])]


def read_number(text: str) -> float | None:
    return None if text == "None" else float(text)


@formulas
def test_line_formats_hold_the_same_numbers(formula: str, point: dict[str, Any]) -> None:
    """plain, CSV and TSV, as multisets: the order of rows is a matter of taste."""
    for command in QUESTIONS:
        argv = [command, "-e", formula, *at(point), "--format"]
        result = json.loads(in_process([*argv, "json"])[1])["results"][0]
        want = sorted([repr(None if v is None else float(v)) for v in texts(command, result)])
        plain = in_process([*argv, "plain"])[1]
        shown = [read_number(line.split("\t")[1]) for line in plain.splitlines()]
        assert sorted(map(repr, shown)) == want
        names = [line.split("\t")[0] for line in plain.splitlines()]
        assert len(set(names)) == len(names)
        column = {"grad": "gradient", "jac": "jacobian", "hess": "hessian"}.get(command, "value")
        for format, delimiter in (("csv", ","), ("tsv", "\t")):
            rows = list(csv.DictReader(io.StringIO(in_process([*argv, format])[1]),
                                       delimiter=delimiter))
            assert sorted(repr(read_number(row[column])) for row in rows) == want


@formulas
@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_formats_for_people_name_target_and_sources(
        formula: str, point: dict[str, Any], format: str) -> None:
    for command in QUESTIONS:
        status, out, err = in_process([command, "-e", formula, *at(point), "--format", format])
        assert (status, err) == (0, "")
        assert out.endswith("\n")
        assert "f" in out
        if command != "eval":
            for name in point:
                assert name in out or (name == "θ" and "\\theta" in out)
        if format == "table":
            assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.parametrize("format", FORMATS)
def test_ops_in_every_format(format: str) -> None:
    assert "sin" in ok("ops", "--format", format)
    assert "cos" in ok("ops", "sin", "--format", format)
    assert ok("ops", "ln", "--format", format) == ok("ops", "log", "--format", format)


def test_ops_json() -> None:
    listed = loaded("ops")["operations"]
    assert len(listed) > 100
    for operation in listed[::9]:
        for name in (operation["name"], *operation["aliases"]):
            (one,) = loaded("ops", name)["operations"]
            assert one == operation


def test_many_results_in_every_format() -> None:
    argv = ["-e", "a = x^2; b = [x, y]; c = floor(x)", "--at", "x=2,y=3", "--of=a", "--of=b",
            "--of=c", "--of=a+c"]
    for command in QUESTIONS:
        for format in FORMATS:
            status, out, _ = in_process([command, *argv, "--format", format])
            assert (status, bool(out)) == (0, True)
        assert len(loaded(command, *argv, "-q")["results"]) == 4


@folded
@pytest.mark.parametrize("format", ["csv", "tsv", "markdown"])
@pytest.mark.parametrize("formula", ["sum(x)", "x^2", "prod(x)*2"])
@pytest.mark.parametrize("command", sorted({*QUESTIONS, "verify"}))
def test_rows_of_what_is_empty_are_as_wide_as_their_titles(
        command: str, formula: str, format: str) -> None:
    status, out, _ = in_process([command, "-e", formula, "--at", "x=[]", "--format", format])
    delimiter = {"csv": ",", "tsv": "\t", "markdown": "|"}[format]
    lines = [line for line in out.splitlines() if format != "markdown" or line.startswith("|")]
    rows = list(csv.reader(lines, delimiter=delimiter))
    assert status in (0, 3)
    assert len({len(row) for row in rows}) <= 1, out
