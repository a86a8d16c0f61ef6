"""Why a gradient is None: code, place, fix; and whether a fix that is said to work does.

An offered fix is applied here as a user would: the shown text takes the place of the line or call
that it names, and the changed file is differentiated again.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from conftest import folded

from gradcli.base.errors import GradcliError
from gradcli.explain.missing.scene import Scene
from gradcli.python.program import loads
from gradcli.questions import Question, evaluate, grad, hess, jac
from gradcli.questions.causes import causes

AT = {"x": 1.5, "y": 0.5}


def ask(text: str, wrt: str = "", command: Any = grad, **options: Any) -> dict[str, Any]:
    program = loads(text)
    at = options.pop("at", {k: v for k, v in AT.items()
                            if k in program.names.inputs or k in program.names.early})
    found = command(Question(program, at=at, wrt=wrt.split(",") if wrt else [], **options))
    result: dict[str, Any] = found["results"][0]
    return result


def source(text: str, wrt: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = ask(text, wrt, **options)["sources"][0]
    return found


def codes(found: dict[str, Any]) -> list[str]:
    return [r["code"] for r in found["reasons"]]


def place(reason: dict[str, Any]) -> str:
    return f"{reason['line']}:{reason['column']}-{reason['end_line']}:{reason['end_column']}"


# --- each cause, where it stands and what to write instead --------------------------------------
# (text, source, [(code, place, fix, fix_works)]); a fix of "..." is advice whose wording is free.

CAUSES: list[tuple[str, str, list[tuple[str, str, str | None, bool | None]]]] = [
    ("const c = 3\nc*x", "c",
     [("source-constant-unwatched", "1:1-1:8", "var c = 3", True)]),
    ("y = 2\nconst c: float64 = 3 # why\nc*x*y", "c",
     [("source-constant-unwatched", "2:1-2:8", "var c: float64 = 3", True)]),
    ("var c = 2, trainable=false\nc*x", "c",
     [("source-nontrainable", "1:12-1:27", "var c = 2", True)]),
    ('var c = 2, trainable=false, name="w"\nc*x', "c",
     [("source-nontrainable", "1:12-1:27", 'var c = 2, name="w"', True)]),
    ("var n: int64 = 2\nfloat(n)*x", "n", [("source-dtype", "1:8-1:13", "var n = 2", True)]),
    ("input n: int32 = 2\nfloat(n)*x", "n", [("source-dtype", "1:10-1:15", "input n = 2", True)]),
    ("n = int(3)\nfloat(n)*x", "n", [("source-dtype", "1:1-1:2", "n = 3", True)]),
    ('var s: string = "a"\nx', "s", [("source-dtype", "1:8-1:14", "...", None)]),
    ("input b: bool = true\nx if b else 0", "b", [("source-dtype", "1:10-1:14", "...", None)]),
    ("z = 2*x\ny^2", "x", [("source-unrelated", "2:1-2:4", "...", None)]),
    ("var w = 3\ny^2", "w", [("source-unrelated", "1:5-1:6", "...", None)]),
    ("x = 3\nx = y*2\nz = x^2", "x", [("source-rebound", "2:1-2:2", "...", None)]),
    ("x = 3\nw = x*2\nx = 4\nz = x^2", "x", [("source-rebound", "3:1-3:2", "...", None)]),
    ("z = y if x > 1 else x", "x",
     [("source-untaken-branch", "1:10-1:15", "z = where(x > 1, y, x)", True)]),
    ("z = y if y < 1 else x", "x",
     [("source-untaken-branch", "1:10-1:15", "z = where(y < 1, y, x)", True)]),
    ("f(t, u) = t if t < 1 else u\nz = f(y, x)", "x",
     [("source-untaken-branch", "1:16-1:21", "...", None)]),
    ("z = 1 if x > 1 else 2", "x", [("source-condition-only", "1:10-1:15", "...", None)]),
    ("c = x > 1\nz = y if c else 0", "x", [("source-condition-only", "2:10-2:11", "...", None)]),
    ("z = y if x > 1 and y < 2 else 0", "x",
     [("source-condition-only", "1:10-1:15", "...", None)]),
    ("z = y if y < 2 or x > 9 else 0", "x", [("source-untaken-branch", "1:10-1:24", "...", None)]),
    ("z = int(x)", "x",
     [("target-dtype", "1:5-1:11", "x + stop_gradient(float(int(x)) - x)", True)]),
    ("z = x > 1", "x", [("target-dtype", "1:5-1:10", "...", None)]),
    ("z = string(x)", "x", [("target-dtype", "1:5-1:14", "...", None)]),
    ("z = argmax([x, y])", "x", [("target-dtype", "1:5-1:19", "...", None)]),
    ("x^2; 3", "x", [("target-constant", "1:6-1:7", None, None)]),
    ("x^2; [1, 2]", "x", [("target-constant", "1:6-1:12", None, None)]),
    ("w = x\nz = 3", "x", [("target-constant", "2:1-2:2", None, None)]),
    ("z = floor(x)", "x",
     [("path-step-function", "1:5-1:13", "x + stop_gradient(floor(x) - x)", True)]),
    ("z = 3*floor(2*x) + 1", "x",
     [("path-step-function", "1:7-1:17", "2*x + stop_gradient(floor(2*x) - 2*x)", True)]),
    ("z = y*ceil(x + y)^2", "x",
     [("path-step-function", "1:7-1:18", "(x + y) + stop_gradient(ceil(x + y) - (x + y))", True)]),
    ("z = 2round(sin(x))", "x", [("path-step-function", "1:6-1:19", "...", True)]),
    ("z = trunc(x)", "x",
     [("path-step-function", "1:5-1:13", "x + stop_gradient(trunc(x) - x)", True)]),
    ("z = rint(x)", "x", [("path-step-function", "1:5-1:12", "...", True)]),
    ("f(t) = floor(t)*2\nz = f(x)", "x",
     [("path-step-function", "1:8-1:16", "t + stop_gradient(floor(t) - t)", True)]),
    ("z = x//y", "x",
     [("path-step-function", "1:5-1:9", "x/y + stop_gradient(x//y - x/y)", True)]),
    ("z = stop_gradient(x)*y", "x", [("path-stop-gradient", "1:5-1:21", "x", True)]),
    ("z = 2stop_gradient(x + 1)^2", "x", [("path-stop-gradient", "1:6-1:26", "x + 1", True)]),
    ("z = detach(x)", "x", [("path-stop-gradient", "1:5-1:14", "x", True)]),
    ("w = stop_gradient(x^2)\nz = w*y", "x", [("path-stop-gradient", "1:5-1:23", "x^2", True)]),
    ("z = float(int(x))", "x", [("path-dtype-cast", "1:11-1:17", "...", True)]),
    ("k = int(x)\nz = float(k*2)", "x", [("path-dtype-cast", "1:5-1:11", "...", True)]),
    ('z = cast(cast(x, "int32"), "float64")', "x", [("path-dtype-cast", "1:10-1:26", "...", True)]),
    ("z = float(bool(x))", "x", [("path-dtype-cast", "1:11-1:18", "...", None)]),
    ("z = where(x > 1, y, 2)", "x", [("path-nondifferentiable", "1:11-1:16", "...", None)]),
    ("c = x > 1\nz = where(c, y, 2)", "x", [("path-nondifferentiable", "1:5-1:10", "...", None)]),
    ("z = float(x > 1)*y", "x", [("path-nondifferentiable", "1:11-1:16", "...", None)]),
    ("z = float(argmax([x, y]))", "x", [("path-nondifferentiable", "1:11-1:25", "...", None)]),
    ("z = zeros_like(x) + y", "x", [("path-value-independent", "1:5-1:18", "...", None)]),
    ("z = ones_like(x)*y", "x", [("path-value-independent", "1:5-1:17", "...", None)]),
    ("v = [x, y]\nz = float(size(v*1))*y", "x", [("path-value-independent", "2:11-2:20", "...",
                                                 None)]),
    # Several at once: all that hold, the one to mend first on top.
    ("z = floor(x) + ceil(x)", "x",
     [("path-step-function", "1:16-1:23", "...", True), ("path-step-function", "1:5-1:13", "...",
                                                        True)]),
    ("const c = 2.5\nz = floor(c)*x", "c",
     [("path-step-function", "2:5-2:13", "...", True),
      ("source-constant-unwatched", "1:1-1:8", "var c = 2.5", True)]),
    ("var c = 2.5, trainable=false\nz = stop_gradient(c)*x", "c",
     [("path-stop-gradient", "2:5-2:21", "c", True),
      ("source-nontrainable", "1:14-1:29", "var c = 2.5", True)]),
    ("const c = 2\nz = x", "c",
     [("source-unrelated", "1:7-1:8", "...", None),
      ("source-constant-unwatched", "1:1-1:8", "var c = 2", False)]),
    ("const c: int64 = 2\nz = float(c)*x", "c",
     [("source-dtype", "1:10-1:15", "const c = 2", True),
      ("source-constant-unwatched", "1:1-1:8", "var c: int64 = 2", True)]),
    ("var n: int64 = 2\nz = floor(float(n))*x", "n",
     [("source-dtype", "1:8-1:13", "var n = 2", True), ("path-step-function", "2:5-2:20", "...",
                                                       True)]),
    ("n = int(x)\nz = n > 1", "x",
     [("target-dtype", "2:5-2:10", "...", None), ("path-dtype-cast", "1:5-1:11", "...", False)]),
]


@folded
@pytest.mark.parametrize(("text", "wrt", "expected"), CAUSES, ids=[c[0] for c in CAUSES])
def test_causes(text: str, wrt: str, expected: list[tuple[str, str, str | None, bool | None]]
                ) -> None:
    found = source(text, wrt)
    assert found["gradient"] is None
    told = found["reasons"]
    assert [(r["code"], place(r)) for r in told] == [(c, p) for c, p, _, _ in expected]
    for reason, (_, _, fix, works) in zip(told, expected, strict=True):
        if fix == "...":
            assert reason["fix"]
        else:
            assert reason["fix"] == fix
        assert reason["fix_works"] is works
        assert reason["message"]
        assert reason["message"][0].islower() or not reason["message"][0].isalpha() or (
            reason["message"].startswith(wrt))


# --- fixes, applied as a user would -------------------------------------------------------------

def with_fixes(text: str, wrt: str) -> str:
    """The text with all offered changes put in, from the end backwards."""
    program = loads(text)
    asked = Question(program, wrt=[wrt], at={
        k: v for k, v in AT.items() if k in program.names.inputs or k in program.names.early})
    run = asked.run()
    (target,) = program.targets(run)
    (binding,) = program.sources(run, [wrt])
    edits = {edit for r in causes(asked, run, target, binding) if r.fix_works is not None
             for edit in r.edits}
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@folded
@pytest.mark.parametrize("text", [c[0] for c in CAUSES if any(w is not None for *_, w in c[2])])
def test_fix_works_is_the_truth(text: str) -> None:
    wrt = next(c[1] for c in CAUSES if c[0] == text)
    before = ask(text, wrt)
    reasons = before["sources"][0]["reasons"]
    said = {r["fix_works"] for r in reasons} - {None}
    after = ask(with_fixes(text, wrt), wrt)
    mended = after["sources"][0]["gradient"] is not None and after["value"] == pytest.approx(
        before["value"], rel=1e-12)
    assert said == {mended}


@pytest.mark.parametrize(("text", "wrt"), [
    ("const a = 1; const c = 2; z = a*c*x", "c"), ("myconst = 1; const c = 2; z = c*myconst", "c"),
    ("var a: int64 = 1; var n: int64 = 2; z = float(a)*float(n)", "n"),
    ("var a = 1, trainable=false; var c = 2, trainable=false; z = a*c*x", "c"),
    ('s = "const # not a comment"; const c = 2; z = c*x', "c"),
])
def test_the_fix_of_a_crowded_line_changes_the_right_statement(text: str, wrt: str) -> None:
    """What is shown is what was tried: put in place of its line, or of its statement, it mends."""
    reason = source(text, wrt)["reasons"][0]
    assert reason["fix_works"] is True
    fix = reason["fix"]
    if ";" in fix:
        changed = fix
    else:
        statements = text.split("; ")
        row = next(k for k, s in enumerate(statements) if s.split()[1:2] in ([wrt], [wrt + ":"],
                                                                              [wrt + ","]))
        changed = "; ".join([*statements[:row], fix, *statements[row + 1:]])
    assert ask(changed, wrt)["sources"][0]["gradient"] is not None


@pytest.mark.parametrize("text", [
    "v = [1, 2, 3]*y\nz = v[int(x)]", "z = floor(x)\nw = floor(x)*y\nu = w + z",
    "const c = 2.5\nz = floor(c) + ceil(c)*x", "z = floor(x)*stop_gradient(x)",
    "z = stop_gradient(floor(x))", "z = round(x) + y",
    "z = floor(x # comment\n)", "f(t) = stop_gradient(t)\nz = f(x)*f(y)", "z = floor( x )",
    "z = sum(floor([x, y]))", "z = floor(x)^floor(y)", "z = -floor(-x)", "z = 1/ceil(x)/2",
    "z = where(floor(x) > 0, y, 0)", "var c = 2, trainable=false; z = floor(c)",
])
def test_no_fix_is_said_to_work_that_does_not(text: str) -> None:
    wrt = "c" if "c = " in text else "x"
    before = ask(text, wrt)
    reasons = before["sources"][0]["reasons"]
    assert reasons
    if any(r["fix_works"] for r in reasons):
        after = ask(with_fixes(text, wrt), wrt)
        assert after["sources"][0]["gradient"] is not None
        assert after["value"] == pytest.approx(before["value"], rel=1e-12)


def test_a_parameter_of_the_same_name_is_not_the_source() -> None:
    told = source("f(x) = x if x < 10 else 2x\nz = f(y) + 1\nw = x", "x", of=["z"])
    assert codes(told) == ["source-shadowed"]
    told = source("f(t) = t if t < 10 else 2t\nz = f(y) + 1\nw = x", "x", of=["z"])
    assert codes(told) == ["source-unrelated"]


def test_a_variable_made_from_an_input_says_where_the_path_ends() -> None:
    told = source("var w = 2y\nz = w^2", "y")["reasons"]
    assert told[0]["code"] == "path-state-write" or "w" in told[0]["message"]
    assert told[0]["line"] == 1


def test_a_cut_inside_a_cut_is_told_too() -> None:
    assert codes(source("z = floor(stop_gradient(x))", "x")) == [
        "path-step-function", "path-stop-gradient"]


def test_the_uses_of_an_unrelated_source_are_shown() -> None:
    told = source("w = 2*x\ny^2", "x")["reasons"][0]
    assert [(r["line"], r["column"]) for r in told["related"]] == [(1, 5)]
    assert "y" in told["fix"]


def test_several_targets_are_connected_by_one_path() -> None:
    assert source("z = floor(x)\nw = x^2", "x", of=["z,w"])["gradient"] == 3.0
    assert codes(source("z = floor(x)\nw = ceil(x)", "x", of=["z,w"])) == [
        "path-step-function", "path-step-function"]


# --- 0 and None are different -------------------------------------------------------------------

@pytest.mark.parametrize("text", [
    "x*0", "x - x", "relu(-x)", "clip(x, 0, 1)", "max(x, 9)", "sign(x)", "where(true, y, x)",
    "(x - 1.5)^2", "0*floor(x) + 0*x", "sum([y, x][:1]*1) + 0*x", "abs(x - 1.5)", "x^0",
])
def test_a_path_with_slope_0_is_0_and_not_none(text: str) -> None:
    found = source(text, "x")
    assert found["gradient"] == 0.0
    assert found["reasons"] == []


def test_a_requested_zero_is_told_from_a_true_one() -> None:
    found = source("floor(x)", "x", unconnected="zero")
    assert found["gradient"] == 0.0
    assert codes(found) == ["path-step-function"]
    assert [n["code"] for n in found["notes"]] == ["zero-requested", "zero-flat"]
    true = source("0*x", "x", unconnected="zero")
    assert (true["gradient"], true["reasons"]) == (0.0, [])
    assert [n["code"] for n in true["notes"]] == ["zero-dead"]


def test_a_requested_zero_has_the_shape_of_the_derivative() -> None:
    at = {"v": [1.0, 2.0, 3.0]}
    text = "var w = [1, 2]\nv^2"
    assert source(text, "w", at=at, unconnected="zero")["gradient"] == [0.0, 0.0]
    assert source(text, "w", at=at, command=jac, unconnected="zero")["jacobian"] == [[0.0, 0.0]] * 3


def blocks(text: str, wrt: str, **options: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(b["row"], b["col"]): b for b in ask(text, wrt, command=hess, **options)["blocks"]}


def test_hessians_tell_structural_zeros_from_missing_blocks() -> None:
    found = blocks("x^2 + 3y", "x,y")
    assert {k: b["hessian"] for k, b in found.items()} == {
        ("x", "x"): 2.0, ("x", "y"): 0.0, ("y", "x"): 0.0, ("y", "y"): 0.0}
    assert all(b["reasons"] == [] for b in found.values())
    assert [n["code"] for n in found["y", "y"]["notes"]] == ["derivative-constant"]
    assert found["x", "x"]["notes"] == []
    found = blocks("y^2 + floor(x)", "x,y")
    assert {k: b["hessian"] for k, b in found.items()} == {
        ("x", "x"): None, ("x", "y"): None, ("y", "x"): None, ("y", "y"): 2.0}
    assert codes(found["x", "y"]) == ["path-step-function"]
    found = blocks("const c = 2\nc^2*x", "c,x")
    assert found["c", "x"]["hessian"] is None
    assert codes(found["c", "x"]) == ["source-constant-unwatched"]
    # A zero that the point makes is no structural one.
    assert blocks("(x - 1.5)^3", "x")["x", "x"]["notes"] == []


def test_recorded_derivatives_tell_a_constant_one_from_a_cut_one() -> None:
    assert ask("grad(grad(2x, x), x)", command=evaluate)["value"] == 0.0
    assert ask("grad(grad(2x + y, y), x)", command=evaluate)["value"] == 0.0
    assert ask("grad(grad(x*stop_gradient(x), x), x)", command=evaluate)["value"] is None


def test_a_missing_gradient_of_a_file_has_its_reason() -> None:
    for text, expected in (("g = grad(floor(x), x)", "path-step-function"),
                           ("g = grad(y, x)", "source-unrelated"),
                           ("g = grad(stop_gradient(x)*y, x)", "path-stop-gradient"),
                           ("n = int(x)\ng = grad(n + 1, n)", "source-dtype"),
                           ("f(t) = floor(t)\ng = f'(x)", "path-step-function"),
                           ("g = jacobian([y, 2y], x)", "source-unrelated")):
        found = ask(text, command=evaluate)
        assert found["value"] is None
        assert codes(found)[0] == expected


@pytest.mark.parametrize("text", ["g = grad(y, x)\ng + 1", "g = grad(floor(x), x)\n2g",
                                  "g = grad(y, x)\nh = 1 if y < 1 else x\ng*h"])
def test_arithmetic_with_none_ends_in_its_reason_and_does_not_recurse(text: str) -> None:
    with pytest.raises(GradcliError) as problem:
        ask(text, "x")
    assert problem.value.code == "E0309"
    assert problem.value.diagnostics[0].notes


# --- which sources count ------------------------------------------------------------------------

def test_watching_and_tensorflows_rule() -> None:
    assert source("const c = 2\nc*x", "c", watch=["c"])["gradient"] == 1.5
    assert codes(source("x^2", "x", tf=True)) == ["source-constant-unwatched"]
    assert source("x^2", "x", tf=True, watch=["x"])["gradient"] == 3.0
    assert source("var w = 2\nw*x", "w", tf=True)["gradient"] == 1.5
    assert source("var w = 2, trainable=false\nw*x", "w", watch=["w"])["gradient"] == 1.5


# --- notes --------------------------------------------------------------------------------------

def notes(text: str, at: dict[str, Any], **options: Any) -> list[tuple[str, int, int]]:
    found = ask(text, at=at, **options)
    every = [*found["notes"], *[n for s in found["sources"] for n in s["notes"]]]
    return sorted({(n["code"], n["line"], n["column"]) for n in every})


@pytest.mark.parametrize(("text", "at", "expected"), [
    ("abs(x)", {"x": 0.0}, [("kink", 1, 1)]), ("2*relu(x)", {"x": 0.0}, [("kink", 1, 3)]),
    ("clip(x, 0, 1)", {"x": 1.0}, [("kink", 1, 1)]),
    ("sign(x)*x", {"x": 0.0}, [("kink", 1, 1), ("zero-dead", 1, 1)]),
    ("x % 2", {"x": 4.0}, [("kink", 1, 1)]), ("norm(v)", {"v": [0.0, 0.0]},
                                             [("kink", 1, 1)]),
    ("std(v)", {"v": [1.0, 1.0]}, [("kink", 1, 1)]),
    ("max(x, y)", {"x": 1.0, "y": 1.0}, [("tie", 1, 1)]),
    ("y = 1\nmin(x, y)", {"x": 1.0}, [("tie", 2, 1)]), ("max(v)", {"v": [1.0, 1.0, 0.0]},
                                                       [("tie", 1, 1)]),
    ("min(v)", {"v": [1.0, 1.0, 0.0]}, []), ("abs(x)", {"x": 1.0}, []),
    ("max(x, y)", {"x": 1.0, "y": 2.0}, [("zero-dead", 1, 1)]),
    # Only on the way from the source to the target.
    ("z = abs(y)\nx^2", {"x": 1.0, "y": 0.0}, []),
    ("v^2", {"v": [1.0, 2.0]}, [("sum", 1, 1)]), ("[x, x^2]", {"x": 1.0}, [("sum", 1, 1)]),
    ("log(x)", {"x": -1.0}, [("nan-domain", 1, 1)]), ("y = 2\n1 + sqrt(x)*y", {"x": -1.0},
                                                     [("nan-domain", 2, 5)]),
    ("2*log(x)", {"x": 0.0}, [("nan-pole", 1, 3)]), ("1/x", {"x": 0.0}, [("nan-pole", 1, 1)]),
    ("exp(x) - 1", {"x": 1000.0}, [("nan-overflow", 1, 1)]),
    ("sum(log(v))", {"v": [1.0, -1.0]}, [("nan-domain", 1, 5)]),
    ("x^2", {"x": 1.0}, []),
])
def test_notes(text: str, at: dict[str, Any], expected: list[tuple[str, int, int]]) -> None:
    assert notes(text, at) == expected


def test_the_number_of_ties_is_told() -> None:
    found = source("sum(max(v, w))", "v", at={"v": [1.0, 2.0, 3.0], "w": [1.0, 2.0, 4.0]})
    assert "2" in found["notes"][0]["message"]


def test_a_rebound_name_is_told_where() -> None:
    found = source("var x = 3\nx = x + 1\nz = x^2", "x")
    assert found["gradient"] == 8.0
    assert [(n["code"], n["line"], n["column"]) for n in found["notes"]] == [("rebound", 2, 1)]


def test_the_question_around_a_value_is_the_innermost() -> None:
    draw = random.Random(5)
    for _ in range(200):
        starts = draw.sample(range(100), draw.randrange(12))
        questions = [(first, first + draw.randrange(40), f"at {first}") for first in starts]
        scene = Scene([], requests=questions)
        for id in range(150):
            lengths = {place: last - first for first, last, place in questions
                       if first <= id <= last}
            told = scene.asked(id)
            assert told is None if not lengths else lengths[told] == min(lengths.values())
