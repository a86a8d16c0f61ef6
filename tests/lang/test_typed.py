"""What people type, through the commands: read as it is meant, or refused with both readings."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import corpora
import pytest
from asked import valid
from conftest import folded
from folders import DATA, ROOT
from transcripts import in_process
from typed_formulas import POINT, Row, rows

import gradcli
from gradcli.base.errors import GradcliError, Source
from gradcli.lang.running.program import Program
from gradcli.lang.typed.program import program

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
    assert problem["help"] or row.code in ("E0101", "E0106")
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


@folded
@pytest.mark.parametrize(("argv", "out"), [
    (["x^2 sin x"], "df/dx\t2*x*sin(x) + x^2*cos(x)\n"), (["-x^2"], "df/dx\t-2*x\n"),
    (["x"], "df/dx\t1\n"), (["sinx"], "df/dx\tcos(x)\n"),
    (["x^2", "--at", "3"], "df/dx\t2*x\ndf/dx at x = 3\t6\n"),
    (["derive", "x^2", "--at", "x=3", "--value"], "df/dx\t2*x\ndf/dx at x = 3\t6\n"),
    (["derive", "x^3", "--order", "2", "--at=3", "--value"],
     "d2f/dxdx\t6*x\nd2f/dxdx at x = 3\t18\n"),
    (["x y", "--at", "x=3, y=2", "--wrt", "x"], "df/dx\ty\ndf/dx at x = 3, y = 2\t2\n"),
    (["x y", "--at", "x=3"], "df/dx\ty\ndf/dy\tx\n"),
    (["x^2", "--format", "python"], "def gradient(x):\n    \"\"\"Derivatives of f, from formula:"
     " df/dx.\"\"\"\n    return 2*x\n"),
    (["grad", "x y", "--at", "x=3 y=2"], "df/dx\t2\ndf/dy\t3\n"),
    (["grad", "x y", "--at", "x=3,", "y=2"], "df/dx\t2\ndf/dy\t3\n"),
    (["grad", "x y", "--at", "x=3", "y=2"], "df/dx\t2\ndf/dy\t3\n"),
    (["grad", "--at", "x=3,", "x^2 + 1"], "df/dx\t6\n"),
    (["grad", "--at=3", "x^2 + 1"], "df/dx\t6\n"), (["grad", "-x^2", "--at", "3"], "df/dx\t-6\n"),
    (["grad", "--at", "x=3,", "y=2", "x y"], "df/dx\t2\ndf/dy\t3\n"),
    (["grad", "x y", "--wrt", "x, y", "--at=x=3,", "y=2"], "df/dx\t2\ndf/dy\t3\n"),
    (["eval", "x sin x", "--at", "x=sin(0)"], "f\t0\n"),
    (["eval", "xe^x", "--at", "ln(1)"], "f\t0\n"),
    (["eval", "x sin πx", "--at", "x=e^0,"], "f\t1.2246467991473532e-16\n"),
    (["eval", "sin x", "--at", "30°"], "f\t0.49999999999999994\n"),
    (["eval", "x", "--at", "x=√2"], "f\t1.4142135623730951\n"),
    (["eval", "x", "--at", "-∞"], "f\t-inf\n"), (["eval", "x", "--at", "inf"], "f\tinf\n"),
    (["eval", "x", "--at", "2π"], "f\t6.283185307179586\n"),
    (["grad", "θ sin θ", "--wrt", "theta", "--at", "0"], "df/dtheta\t0\n"),
    (["grad", "λ e^(-λ t)", "--at", "lambda=1,t=0", "--wrt", "t"], "df/dt\t-1\n"),
    (["eval", "3+4"], "f\t7\n"), (["eval", "f(x) = x^2", "--at", "3"], "f\t9\n"),
    (["grad", "f(x) = x e^x\nf(x) sin x", "--at", "0"], "dresult/dx\t0\n"),
    (["eval", "h(s) = s^2; 2 h(3) x", "--at", "5"], "f\t90\n"),
    (["grad", "f(x) = x^2; g(y) = f(y)^2", "--at", "2"], "dresult/dy\t32\n"),
    (["implicit", "x^2 + y^2 = 25", "--at", "x=3,y=4"],
     "f\t0\ndf/dx\t6\ndf/dy\t8\ndy/dx\t-0.75\n"),
    (["implicit", "u^2 + v^2 = 25", "--at", "u=3,v=4", "--wrt", "u"],
     "f\t0\ndf/du\t6\ndf/dv\t8\ndv/du\t-0.75\n"),
    (["implicit", "y = x y + 1", "--at", "x=0,y=1"], "f\t0\ndf/dx\t-1\ndf/dy\t1\ndy/dx\t1\n"),
    (["grad", "a = x^2; b = 5x", "--at", "1", "--of", "a,b"], "da/dx\t2\ndb/dx\t5\n")])
def test_the_short_way(argv: list[str], out: str) -> None:
    status, found, err = in_process(argv)
    assert (status, found) == (0, out), err


@folded
@pytest.mark.parametrize(("argv", "status", "told"), [
    (["grad", "x y", "--at", "3"], 3, "`3` does not say which name has this value"),
    (["grad", "x y", "--at", "3"], 3, "write x=...,y=..."),
    (["eval", "2", "--at", "3"], 3, "leave it out: the formula has no variable"),
    (["eval", "x", "--at", "1/2pi"], 3, "can be read in two ways"),
    (["implicit", "u^2 + v^2 = 25", "--at", "u=3,v=4"], 3, "--dependent v"),
    (["implicit", "x^2", "--at", "3"], 3, "such as x^2 + y^2 = 25"),
    (["grad", "model.txt"], 3, "cannot read `model.txt`"), (["grad", "expr"], 3, "cannot read"),
    (["grad", "folder/expr"], 3, "cannot read"),
    (["diff", "x^2"], 2, "Did you mean 'derive'?"),
    (["solve", "x = 2"], 2, "Did you mean 'newton'?"),
    (["help"], 2, "Did you mean '--help'?"), (["lim", "x"], 2, "Did you mean 'limit'?"),
    (["grda", "x"], 2, "Did you mean 'grad'?"), (["derive", "x", "-w"], 2, "No such option: -w")])
def test_what_is_meant_is_named(argv: list[str], status: int, told: str) -> None:
    found, out, err = in_process(argv)
    assert (found, out) == (status, "")
    assert told in " ".join(err.split())


def test_a_file_of_that_name_wins(tmp_path: Path) -> None:
    path = tmp_path / "x^2"
    path.write_text("t^3\n")
    for argv in (["derive", str(path)], [str(path)]):
        assert in_process(argv)[1] == "df/dt\t3*t^2\n"
    path.unlink()
    assert in_process(["derive", str(path)])[0] == 3


def test_lines_of_a_file(tmp_path: Path) -> None:
    """Lines that the language reads stay; errors have their places in what was typed."""
    path = tmp_path / "model.txt"
    path.write_text("# a model\nvar w = 2.0\nu = 3w sin w   # a comment\n"
                    "def g(s):\n    return s e^s\n"
                    "v = g(w); y = sin^2 u + v\n")
    status, out, err = in_process(["grad", str(path), "--wrt", "w", "--format", "json"])
    assert status == 0, err
    answer = json.loads(out)
    assert answer["read_as"] == "u = 3*w*sin(w); return s*e^s; y = sin(u)^2 + v"
    w = 2.0
    u, du = 3*w*math.sin(w), 3*math.sin(w) + 3*w*math.cos(w)
    assert answer["results"][0]["sources"][0]["gradient"] == pytest.approx(
        math.sin(2*u)*du + math.exp(w)*(1 + w))
    path.write_text("var w = 2.0\nu = 3w sin w\ny = u*log(0*w - 1) + [1, 2, 3]@[1, 2]\n")
    problem = json.loads(in_process(["grad", str(path), "--format", "json"])[2])["error"]
    assert (problem["code"], problem["line"], problem["column"]) == ("E0301", 3, 22)


def test_what_the_language_reads_is_read_unchanged() -> None:
    """All formulas of the corpora, with values for their names and without, and all samples."""
    changed = []
    for corpus in corpora.COUNTS:
        for row in {row["expr"]: row for row in corpora.cases(corpus)}.values():
            for known in (row["vars"], ()):
                made = program(Source(row["expr"], "-e"), set(known), alone=True)
                if made.source.text != row["expr"] or made.source.read_as:
                    changed.append((row["expr"], made.source.text))
    count = 0
    for path in sorted([*ROOT.glob("samples/**/*.txt"), *DATA.glob("**/*.txt")]):
        source = Source(path.read_text(encoding="utf-8", errors="replace"), path.name)
        try:
            Program(source)
        except GradcliError:
            continue
        count += 1
        if path.stem != "E0206-call-of-value" and program(source).source is not source:
            changed.append((path.name, ""))
    assert not changed
    assert count > 150


def test_fixes_are_changes_of_what_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text("# keep\nvar w = 2.5\ny = floor(w) sin w   # and this\nz = 3w\n")
    status, out, err = in_process(["why", str(path), "--of", "y", "--wrt", "w", "--fix"])
    assert status == 0, err
    path.write_text("# keep\nvar w = 2.5\ny = 2 floor w   # and this\nz = 3w\n")
    status, out, err = in_process(["why", str(path), "--of", "y", "--wrt", "w", "--fix"])
    assert "-y = 2 floor w   # and this\n" in out
    assert " z = 3w\n" in out
    assert in_process(["why", str(path), "--of", "y", "--wrt", "w", "--write"])[0] == 0
    text = path.read_text()
    assert text.startswith("# keep\nvar w = 2.5\ny = 2*")
    assert "   # and this\nz = 3w\n" in text
    assert in_process(["grad", str(path), "--of", "y", "--wrt", "w"])[1] == "dy/dw\t2\n"


def test_columns_of_a_table_are_names(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("xsinx,x\n2,3\n")
    for text, status in (("xsinx*x", 0), ("xsinx x", 3), ("x sin x", 0)):
        assert in_process(["eval", text, "--points", str(points)])[0] == status
