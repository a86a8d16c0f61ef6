"""`gradcli why`: causes with their places, ways with their slopes, fixes that are made in the file.

Ways are counted and slopes multiplied here by other means than in gradcli: by hand, or by walking
over all ways of a small formula.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from asked import SCHEMAS, gradients, loaded, valid
from conftest import folded
from folders import DATA, ROOT
from loaded import command, loaded_by
from rich.cells import cell_len
from terminals import bare, on_terminal, pty
from transcripts import in_process

from gradcli.cli.options import FORMATS
from gradcli.explain.path import MAX_PATHS
from gradcli.python.program import loads
from gradcli.questions import Question
from gradcli.questions import why as explaining

BROKEN = sorted(path for path in (ROOT / "samples" / "none").glob("*.txt"))
ERRORS = {"path-no-rule", "tape-consumed", "tape-not-entered"}   # of these no question is answered
EXPLAINED = [path for path in BROKEN if path.stem not in ERRORS]
CUT = "var x = 3.0\nconst c = 2.0\ny = c*x^2\nk = floor(y)\nz = k*1.5\n"


def why(*arguments: str, stdin: str = "") -> Any:
    """The JSON answer of a command that succeeds, held to its schema."""
    return loaded("why", *arguments, stdin=stdin.encode())


def sources(*arguments: str, stdin: str = "") -> dict[str, Any]:
    """Source to what is said of it, of the first result."""
    result = why(*arguments, stdin=stdin)["results"][0]
    return {source["wrt"]: source for source in result["sources"]}


def steps(source: dict[str, Any]) -> list[tuple[int, str, bool]]:
    return [(step["line"], step["text"], step["recorded"]) for step in source["path"]]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """`file(text)` is a program in a folder of its own."""
    def make(text: str | bytes) -> Path:
        path = tmp_path / "model.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


# --- what is asked ----------------------------------------------------------------------------


def test_the_last_result_by_every_variable_and_input() -> None:
    answer = why("-e", "var a = 2; const c = 3; n = 4; a*c*n*x", "--at", "x=1")
    (result,) = answer["results"]
    assert (result["of"], [s["wrt"] for s in result["sources"]]) == ("f", ["a", "x"])
    assert {n["name"]: (n["watched"], n["kind"]) for n in result["names"]} == {
        "a": (True, "a variable"), "c": (False, "a constant"), "n": (False, "a value without var"),
        "x": (True, "an input")}


def test_plain_numbers_where_there_is_nothing_else() -> None:
    found = sources("-e", "u = 1.0; v = 2.0; u*v")
    assert {name: source["gradient"] for name, source in found.items()} == {"u": 2.0, "v": 1.0}
    assert in_process(["why", "-e", "1 + 1"])[0] == 3


def test_names_on_the_command_line() -> None:
    answer = why("-", "--of=y", "--of=z", "--wrt=x,c", "--watch=c", stdin=CUT)
    assert [r["of"] for r in answer["results"]] == ["y", "z"]
    assert [s["gradient"] for s in answer["results"][0]["sources"]] == [12.0, 9.0]
    assert [s["gradient"] for s in answer["results"][1]["sources"]] == [None, None]
    assert sources("-", "--tf", stdin="a = 3.0\nvar b = 2.0\na*b")["b"]["gradient"] == 3.0
    by_rule = sources("-", "--tf", "--wrt=a", stdin="a = 3.0\nvar b = 2.0\na*b")["a"]
    assert by_rule["gradient"] is None
    zero = sources("-", "--unconnected=zero", stdin=CUT)["x"]
    assert zero["gradient"] == 0.0
    assert zero["reasons"]


TAPES = """\
var x = 2.0
var b = 1.0, trainable=false
total = 0.0
for k in range(3):
    tape t:
        y = x^2 + b
    g, h = t.gradient(y, [x, b])
    x.assign_sub(0.25*g)
with tape(persistent=true) as s:
    z = sin(x)
"""


def test_each_question_of_the_file_once_where_it_stands() -> None:
    program = TAPES.replace("with tape(persistent=true) as s:", "tape s:") + \
        "print(s.gradient(z, [x]))\n"
    answer = why("-", stdin=program)
    first, second = answer["results"]
    assert (first["question"], first["line"]) == ("t.gradient(y, [x, b])", 7)
    assert (second["question"], second["line"]) == ("s.gradient(z, [x])", 11)
    x, b = first["sources"]
    # The values are those of the first turn, not those at the end: 2, then 1, 0.5, 0.25.
    assert (x["wrt"], x["at"], x["gradient"], first["value"]) == ("x", 2.0, 4.0, 5.0)
    assert (b["wrt"], b["gradient"], b["reasons"][0]["code"]) == ("b", None, "source-nontrainable")
    assert second["sources"][0]["at"] == 0.25
    assert [n["name"] for n in first["names"] if n["watched"]] == ["x"]


def test_what_is_bound_after_a_question_is_not_listed() -> None:
    program = "var x = 2.0\ntape t:\n    y = x^2\ng = t.gradient(y, x)\nvar late = 1.0\nn = 3\n"
    assert [n["name"] for n in why("-", stdin=program)["results"][0]["names"]] == ["x"]


def test_options_ask_other_questions_than_the_file() -> None:
    program = "var x = 2.0\ntape t:\n    y = x^2\n    z = x^3\ng = t.gradient(y, x)\n"
    assert "question" in why("-", stdin=program)["results"][0]
    (result,) = why("-", "--of=z", stdin=program)["results"]
    assert "question" not in result
    assert result["sources"][0]["gradient"] == 12.0
    (result,) = why("-", "--tape=t", stdin=program)["results"]
    assert "question" not in result


def test_a_question_for_a_derivative_of_a_derivative() -> None:
    program = """\
var x = 2.0
tape outer:
    tape inner:
        y = x^3
    dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)
"""
    first, second = why("-", stdin=program)["results"]
    assert [first["sources"][0]["gradient"], second["sources"][0]["gradient"]] == [12.0, 12.0]
    assert second["of"] == "dy"
    assert steps(second["sources"][0])[-1] == (5, "inner.gradient(y, x)", True)


KINDS = """\
var x = [1.0, 2.0]
var b = 1.2
tape t, persistent=true:
    y = x^2*sum(x)
    h = hessian(sum(y), x)
    w = vjp(y, x, [1.0, 0.0])
j = t.jacobian(y, x)
both = t.gradient({"p": y, "q": [b, 2.0]}, [x, b])
v = t.gradient(y, x, output_gradients=[1.0, 0.0])
"""


def test_questions_of_every_kind() -> None:
    """y = x^2 sum(x): dy_i/dx_k = 2 x_i sum(x) [i = k] + x_i^2; the Hessian of sum(y), by hand."""
    results = why("-", stdin=KINDS)["results"]
    assert [(r["kind"], r["of"], [s["wrt"] for s in r["sources"]]) for r in results] == [
        ("hessian", "sum(y)", ["x"]), ("vjp", "y", ["x"]), ("jacobian", "y", ["x"]),
        ("gradient", "y,b,the target", ["x", "b"]), ("vjp", "y", ["x"])]
    hessian, weighted, jacobian, both, again = [r["sources"][0]["gradient"] for r in results]
    assert jacobian == [[7.0, 1.0], [4.0, 16.0]]
    assert hessian == [[10.0, 6.0], [6.0, 14.0]]
    assert weighted == again == [7.0, 1.0]
    assert both == [11.0, 17.0]
    assert results[3]["sources"][1]["gradient"] == 1.0
    out = in_process(["why", "-"], KINDS.encode())[1]
    assert "\nd2(sum(y))/dxdx[0,1]\t6\n" in out
    assert "\ndy/dx[0,1]\t1\n" in out


def test_what_values_are_called_does_not_tell_what_was_asked() -> None:
    text = "var x = 3.0\ntape t:\n    output_gradients = x^2\n"
    text += "print(t.gradient(output_gradients, x))"
    (result,) = why("-", stdin=text)["results"]
    assert result["kind"] == "gradient"
    assert result["of"] == "output_gradients"


def test_targets_and_sources_are_called_as_in_the_question() -> None:
    program = """\
var b = 1.2
def slope(w):
    tape t:
        t.watch(w)
        energy = b
    return t.gradient(energy, w)
start = [1.2, 1.2]
print(slope(start))
"""
    (result,) = why("-", stdin=program)["results"]
    assert (result["of"], result["value"], result["sources"][0]["wrt"]) == ("energy", 1.2, "w")
    assert in_process(["why", "-"], program.encode())[1].startswith("line 6: t.gradient(energy, w)")


def test_slopes_of_functions_are_called_as_they_are_written() -> None:
    program = "f(a) = floor(a)*3\nx = 1.5\nprint(f'(2.5), f''(x), floor'(1.5))\n"
    results = why("-", stdin=program)["results"]
    assert [(r["of"], r["sources"][0]["wrt"]) for r in results] == [
        ("f(2.5)", "a"), ("f'(x)", "x"), ("floor(1.5)", "the source")]
    # What happens inside the question is on its own path, step by step.
    assert steps(results[0]["sources"][0])[1:] == [
        (1, "floor(a)", False), (1, "floor(a)*3", True)]


# --- the way ----------------------------------------------------------------------------------


def test_a_chain_has_one_way_and_its_slopes_multiply_to_the_gradient() -> None:
    x = sources("-e", "a = x^2; b = sin(a); 3*b", "--at", "x=0.7")["x"]
    assert steps(x) == [(1, "x", True), (1, "x^2", True), (1, "sin(a)", True), (1, "3*b", True)]
    assert [step["name"] for step in x["path"]] == ["x", "a", "b", None]
    assert [step["operation"] for step in x["path"]] == [None, "power", "sin", "multiply"]
    product = 1.0
    for step in x["path"][1:]:
        product *= step["slope"]
    assert x["gradient"] == pytest.approx(product, rel=1e-15)
    assert x["ways"] == 1


@pytest.mark.parametrize(("formula", "ways"), [
    ("x", 1), ("x*x", 1), ("x*(x + 1)", 2), ("exp(x)*sin(x)*cos(x)", 3),
    # To a leads 1 way, to b 2, to c 1 + 2: to the last 3 + 2.
    ("a = x*2; b = a + x; c = a*b; c*b", 5),
    ("stop_gradient(x)*sin(x)", 1), ("floor(x) + x", 1), ("floor(x)", 0),
])
def test_ways_are_counted(formula: str, ways: int) -> None:
    assert sources("-e", formula, "--at", "x=0.3")["x"]["ways"] == ways


def test_counting_ways_ends() -> None:
    program = "y = x\nfor k in range(200):\n    y = sin(y) + cos(y)\ny\n"    # 2^200 of them
    assert sources("-", "--at", "x=0.1", stdin=program)["x"]["ways"] == MAX_PATHS
    out = in_process(["why", "-", "--at", "x=0.1"], program.encode())[1]
    assert "and 1000 or more other paths, together" in out


def test_an_open_way_is_shown_before_a_shorter_one_that_is_cut() -> None:
    x = sources("-e", "floor(x) + exp(sin(cos(x)))", "--at", "x=1.5")["x"]
    assert [step["operation"] for step in x["path"]] == [None, "cos", "sin", "exp", "add"]
    assert all(step["recorded"] for step in x["path"])
    cut = sources("-e", "floor(x)*floor(exp(x)) + 1", "--at", "x=1.5")["x"]
    assert [step["operation"] for step in cut["path"]] == [None, "floor", "multiply", "add"]
    assert [step["recorded"] for step in cut["path"]] == [True, False, True, True]


def test_turns_of_a_loop_are_one_place() -> None:
    program = "var x = 3.0\ny = x\nfor i in range(3):\n    y = 1.5*y\nz = y^2\n"
    x = sources("-", stdin=program)["x"]
    assert [(s["line"], s["times"], s["slope"]) for s in x["path"]] == [
        (1, 1, None), (4, 3, 1.5**3), (5, 1, 20.25)]
    out = in_process(["why", "-"], program.encode())[1]
    assert "1.5*y (3 times)" in out


def test_long_ways_are_shown_without_their_middle() -> None:
    program = "y = x\n" + "".join([f"y = sin(y)\ny = {k} + y\n" for k in range(100)])
    out = in_process(["why", "-", "--at", "x=1"], program.encode())[1]
    assert len(out.splitlines()) < 40
    assert "... 181 more" in out
    assert len(sources("-", "--at", "x=1", stdin=program)["x"]["path"]) == 201


def test_the_target_itself_is_a_way_of_one_place() -> None:
    x = sources("-e", "x", "--at", "x=2")["x"]
    assert (x["gradient"], x["ways"], steps(x)) == (1.0, 1, [(1, "x", True)])


def test_no_way_has_no_path() -> None:
    b = sources("-", stdin="var a = 1.0\nvar b = 2.0\na^2\n")["b"]
    assert (b["path"], b["ways"], b["reasons"][0]["code"]) == ([], 0, "source-unrelated")


def test_a_value_assigned_to_a_variable_is_on_the_way() -> None:
    payment = sources(str(ROOT / "samples/none/path-state-write.txt"))["payment"]
    assert [(step["operation"], step["recorded"], step["value"]) for step in payment["path"]] == [
        (None, True, 3.0), ("assign", False, 4.0), ("power", True, 16.0)]


def test_a_custom_rule_that_returns_none_is_closed() -> None:
    gain = sources(str(ROOT / "samples/none/path-custom-none.txt"))["gain"]
    assert gain["path"][-1]["recorded"] is False


@folded
@pytest.mark.parametrize("path", EXPLAINED, ids=lambda path: path.stem)
def test_where_a_gradient_is_none_the_way_is_closed_and_where_it_is_not_it_is_open(
        path: Path) -> None:
    if path.stem == "forward-wrong-order":
        return      # the way is open: it is the question that is wrong
    for result in why(str(path))["results"]:
        for source in result["sources"]:
            way = source["path"]
            assert (source["gradient"] is None) == bool(source["reasons"])
            if source["gradient"] is None:
                assert not way or not all(step["recorded"] for step in way)
            else:
                assert all(step["recorded"] for step in way)
                assert source["ways"] >= 1


def test_an_integer_is_not_watched() -> None:
    result = why("-", "--wrt=n", stdin="var n: int64 = 3\nm = 2.0*float(n)\n")["results"][0]
    assert [n["watched"] for n in result["names"]] == [False]
    assert result["sources"][0]["path"][0]["recorded"] is False


def test_operations_are_called_as_they_are_written() -> None:
    """A call that is made of several operations is one, and not counted as turns of a loop."""
    def called(formula: str, at: str) -> list[tuple[str, int]]:
        path = sources("-e", formula, "--at", at)["x"]["path"]
        return [(step["operation"], step["times"]) for step in path[1:]]

    assert called("cross(x, [0.0, 1.0, 2.0])", "x=[1, 2, 3]") == [("cross", 1)]
    assert called("max(float(int(x)), 1) + 2*sin(x)", "x=1.5") == [
        ("sin", 1), ("multiply", 1), ("add", 1)]
    assert called("1 + np.mean(x)", "x=[1.5]") == [("np.mean", 1), ("add", 1)]
    assert called("-2*(x)", "x=3") == [("multiply", 1)]


CUSTOM = """\
@custom_gradient
def twice(x):
    def grad(upstream):
        return 2*upstream
    return 2*x
var x = [inf, nan, 1.0]
sum(twice(x))
"""


@pytest.mark.filterwarnings("error")
def test_a_rule_by_hand_is_asked_at_infinity_too() -> None:
    assert sources("-", stdin=CUSTOM)["x"]["ways"] == 1


# --- zeros and sums ---------------------------------------------------------------------------

ZEROS = """\
var x = 2.0
tape t, persistent=true:
    y = floor(x)
    z = relu(-x)
a = t.gradient(y, x, unconnected_gradients="zero")
b = t.gradient(z, x, unconnected_gradients="zero")
"""


def test_a_zero_that_the_file_asks_for_is_told_from_one_that_is_there() -> None:
    first, second = [r["sources"][0] for r in why("-", stdin=ZEROS)["results"]]
    assert (first["gradient"], [n["code"] for n in first["notes"]]) == (
        0.0, ["kink", "zero-requested"])
    assert (second["gradient"], [n["code"] for n in second["notes"]]) == (0.0, ["zero-dead"])
    out = in_process(["why", "-", "--format", "csv"], ZEROS.encode())[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["reason"], row["line"]) for row in rows] == [
        ("zero-requested", "5"), ("zero-dead", "4")]


@pytest.mark.parametrize(("formula", "summed"), [
    ("[[3*x]]", False), ("[x, x]", True), ("x", False), ("w", True)])
def test_one_element_is_no_sum(formula: str, summed: bool) -> None:
    for asking in ("grad", "why"):
        result = loaded(asking, "-", "--of=f", "--wrt=x,w", stdin=(
            f"var x = 2.0\nvar w = [1.0, 2.0]\nf = {formula}\n").encode())["results"][0]
        assert result["summed"] is summed
        assert ("sum" in [n["code"] for n in result["notes"]]) is summed


def test_no_target_is_called_as_the_list_without_one() -> None:
    (result,) = why(str(ROOT / "samples/none/target-empty.txt"))["results"]
    assert result["of"] == "losses"


# --- grad -v ----------------------------------------------------------------------------------


def test_grad_shows_the_path_on_request_only() -> None:
    arguments = ["grad", "-", "--wrt=x"]
    for format in FORMATS:
        quiet = in_process([*arguments, "--format", format], CUT.encode())
        loud = in_process([*arguments, "--format", format, "-v"], CUT.encode())
        assert " operation " not in quiet[1] + quiet[2]
        if format in ("table", "plain"):
            shown = loud[1] if format == "table" else loud[2]
            assert " from x to z " in shown
            assert " operation " in shown
            assert "stops" in shown
        if format in ("plain", "csv", "tsv", "markdown", "latex"):
            assert quiet[1] == loud[1]
    (given,) = loaded(*arguments, "-v", stdin=CUT.encode())["results"][0]["sources"]
    wanted = sources("-", "--wrt=x", stdin=CUT)["x"]
    assert (given["path"], given["ways"]) == (wanted["path"], wanted["ways"])
    (plain,) = loaded(*arguments, stdin=CUT.encode())["results"][0]["sources"]
    assert "path" not in plain


@pytest.mark.parametrize("arguments", [
    ["-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"], ["samples/none/path-value-independent.txt"],
    ["-e", "sum(softmax(A @ b))", "--at", "A=ones(3, 3),b=[1, 2, 3]"]])
def test_the_paths_of_grad_fit_the_terminal(
        arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status, out, err = on_terminal(["grad", *arguments, "-v"], COLUMNS="80")
    assert (status, err) == (0, "")
    assert "derivative" in out
    assert all(cell_len(line) <= 80 for line in bare(out).splitlines())


# --- the page ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [
    "path-dtype-cast", "source-auto-watch-off", "path-gradient-not-recorded", "source-unrelated",
    "path-state-write", "target-consumed"])
@pytest.mark.parametrize("format", ["table", "plain", "markdown", "latex", "csv"])
def test_transcripts(name: str, format: str, golden: Callable[[Path, str], None]) -> None:
    arguments = ["why", f"samples/none/{name}.txt", "--format", format]
    if format == "table":
        status, out, err = on_terminal([*arguments, "--color=never"], COLUMNS="80")
    else:
        status, out, err = in_process(arguments)
    assert (status, err) == (0, "")
    golden(DATA / "why" / f"{name}.{format}", out)


def test_plain_has_a_line_per_element_and_all_else_is_indented() -> None:
    out = in_process(["why", "-e", "sum(w*floor(v))", "--at", "w=[1, 2],v=[1.5, 3]"])[1]
    title, *lines = out.splitlines()
    assert title == "f = 7 at w = [1, 2], v = [1.5, 3]"
    values = [line for line in lines if line and not line.startswith("  ")]
    assert values == ["df/dw[0]\t1", "df/dw[1]\t3", "df/dv\tNone"]


def test_sources_that_are_cut_at_one_place_share_a_paragraph() -> None:
    program = "loss = float(int(a*b + c*d))\n"
    at = ["--at", "a=1.5,b=2,c=3,d=4"]
    out = in_process(["why", "-", *at], program.encode())[1]
    assert "4 of 4 derivatives are None (dloss/da, dloss/db, dloss/dc, dloss/dd): the path from" \
        " a, b, c, d to loss is cut" in out
    assert out.count("fix:") == 1
    out = in_process(["why", "-", *at], (program + "out = loss*a\n").encode())[1]
    assert "3 of 4 derivatives are None (dout/db, dout/dc, dout/dd)" in out
    assert "dout/da\t15\n" in out
    grad = in_process(["grad", "-", *at], program.encode())[2]
    assert grad.startswith("4 of 4 derivatives are None (dloss/da, dloss/db, dloss/dc, dloss/dd):")
    assert "line 1   loss = float(int(a*b + c*d))\n" in grad


def test_zeros_and_nans_answer_with_their_note_and_its_place() -> None:
    status, out, _ = on_terminal(["why", "-e", "relu(x)*y", "--at=x=-1,y=2", "--color=never"],
                                 COLUMNS="80")
    assert status == 0
    assert "df/dx = 0: " in out
    assert " 1 | relu(x)*y\n   | ^" in out
    out = in_process(["why", "-e", "sqrt(x)*2", "--at=x=0"])[1]
    assert "df/dx\tinf\n  df/dx = inf: " in out


def test_quiet_drops_the_notes() -> None:
    loud = why("-e", "abs(x)", "--at", "x=0")["results"][0]["sources"][0]
    quiet = why("-e", "abs(x)", "--at", "x=0", "-q")["results"][0]["sources"][0]
    assert loud["notes"]
    assert quiet["notes"] == []


def test_small_arrays_are_written_without_the_blanks_of_a_grid() -> None:
    out = on_terminal(["why", "-e", "sum(A^2)", "--at=A=[[1, 20], [300, 4]]", "--color=never"],
                      COLUMNS="80")[1]
    assert out.startswith("f = 90417 at A = [[1, 20], [300, 4]]\n")
    assert "\ndf/dA = [[2, 40], [600, 8]]\n" in out


def test_a_long_line_does_not_widen_the_others() -> None:
    program = f"var x = 1.5\ny = floor({' + '.join(['x']*2500)})\n"
    out = in_process(["why", "-"], program.encode())[1]
    assert [line for line in out.splitlines() if "var x = 1.5" in line and len(line) < 200]


PAGES: list[list[str]] = [
    *[["why", str(path.relative_to(ROOT))] for path in EXPLAINED],
    ["why", "-e", "relu(x)*y + x*y*sin(x)^2", "--at", "x=-1.23456789,y=2.3456789"],
    ["why", "-e", "sum(w*w)*x", "--at", "w=linspace(0, 1, 50),x=1e-300"],
    ["why", "-e", "sum(A @ A.T)", "--at", "A=[[1.23456, 2], [3, 4]]"],
    ["why", "-e", "where(x > 0, sqrt(x), 0)*log(y)", "--at", "x=0,y=1e-310"],
    ["why", "-e", "+".join([f"floor(a_rather_long_name_{k}*b)" for k in range(6)]), "--at",
     ",".join([*[f"a_rather_long_name_{k}={k}.25" for k in range(6)], "b=2"])],
    ["why", "-e", "λ^2*漢字*floor(θ)", "--at", "λ=1,漢字=2,θ=3"],
    ["why", "samples/training/logistic_regression.txt"],
]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("arguments", PAGES, ids=lambda arguments: arguments[1][-30:])
def test_nothing_is_wider_than_the_terminal(
        arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status, out, err = on_terminal(arguments, encoding, COLUMNS="80")
    assert (status, err) == (0, "")
    for line in bare(out).splitlines():
        assert cell_len(line) <= 80, line
        assert line.isprintable()
    assert bare(out) == on_terminal([*arguments, "--color=never"], encoding, COLUMNS="80")[1]
    if encoding == "ascii":
        assert on_terminal(arguments, encoding, COLUMNS="20")[0] == 0


def test_a_real_terminal(home: dict[str, str | None], file: Callable[[str], Path]) -> None:
    path = file(CUT)
    status, text = pty(["why", str(path), "--wrt", "x,c"], home)
    assert status == 0
    assert "\x1b[33mdz/dx is None: " in text
    lines = bare(text).splitlines()
    assert max([cell_len(line) for line in lines if str(path.parent) not in line]) <= 80
    at = next(k for k, line in enumerate(lines) if "floor(y)" in line and " | " in line)
    assert lines[at + 1].index("^") == lines[at].index("floor(y)")
    status, text = pty(["why", str(path), "--fix"], home)
    assert status == 0
    assert "\x1b[31m-k = floor(y)\x1b[0m\n\x1b[32m+k = " in text


# --- machine formats --------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXPLAINED, ids=lambda path: path.stem)
def test_every_format_of_every_cause(path: Path) -> None:
    answer = why(str(path))
    assert "lines" not in answer
    for format in FORMATS:
        status, out, err = in_process(["why", str(path), "--format", format])
        assert (status, err) == (0, "")
        assert out.endswith("\n")
        if format == "ndjson":
            found = [json.loads(line) for line in out.splitlines()]
            assert [one["of"] for one in found] == [one["of"] for one in answer["results"]]
        elif format in ("csv", "tsv"):
            rows = list(csv.DictReader(
                io.StringIO(out), delimiter="\t" if format == "tsv" else ","))
            wanted = [s for r in answer["results"] for s in r["sources"]]
            first = [row for row in rows if "[" not in row["wrt"] or row["wrt"].endswith("[0]")]
            assert len(first) == len(wanted)
            for row, source in zip(first, wanted, strict=True):
                cause = source["reasons"][0] if source["reasons"] else {}
                assert row["reason"] == cause.get("code", "")
                assert row["line"] == str(cause.get("line") or "")
                assert row["fix"].lstrip("'") == (cause.get("fix") or "").lstrip("'")


def test_the_schema_refuses_what_is_wrong() -> None:
    answer = why("-", stdin=CUT)
    schema = SCHEMAS["why"]
    jsonschema.Draft202012Validator.check_schema(schema)
    for key, wrong in (("ways", MAX_PATHS + 1), ("path", [{"line": 1}]), ("gradient", "six"),
                       ("path", None), ("reasons", [{"code": "x"}])):
        broken = json.loads(json.dumps(answer))
        broken["results"][0]["sources"][0][key] = wrong
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


# --- exit statuses ----------------------------------------------------------------------------


def test_strict_asks_what_is_still_missing_after_a_write(file: Callable[[str], Path]) -> None:
    path = file(CUT)
    assert in_process(["why", str(path), "--strict"])[0] == 1
    assert in_process(["why", str(path), "--strict", "--fix"])[0] == 1
    assert in_process(["why", str(path), "--strict", "--write"])[0] == 0
    assert in_process(["why", str(path), "--strict"])[0] == 0
    left = file("var x = 1.5\nvar y = 2.0\nz = floor(x)\n")      # y is not in z: no change helps
    status, _, said = in_process(["why", str(left), "--strict", "--write"])
    assert status == 1
    assert "dz/dy stays None" in said


@pytest.mark.parametrize(("expected", "arguments"), [
    (0, ["-e", "x^2", "--at", "x=1", "--strict"]), (0, ["-e", "floor(x)", "--at", "x=1.5"]),
    (1, ["-e", "floor(x)", "--at", "x=1.5", "--strict"]),
    (1, ["-e", "floor(x)", "--at", "x=1.5", "--strict", "--fix"]),
    (0, ["-e", "floor(x)", "--at", "x=1.5", "--fix"]),
    (2, ["-e", "x", "--at", "x=1", "--write"]), (2, ["-", "--write"]), (2, ["--fix"]),
    (2, ["-e", "x", "--at", "x=1", "--fix", "--format", "json"]), (2, ["-e", "x", "--mode=finite"]),
    (3, ["-e", "x^2"]), (3, ["-e", "x^"]), (3, ["no-such-file.txt"]),
    (3, ["no-such-file.txt", "--write"]), (3, ["-e", "x", "--at", "x=1", "--wrt", "y"]),
    (3, ["samples/none/tape-consumed.txt"]), (3, ["samples/none/path-no-rule.txt"]),
    (3, ["-e", "for k in range(1000): x = x + 1", "--at", "x=1", "--max-steps", "50"]),
])
def test_status(expected: int, arguments: list[str]) -> None:
    status, out, _ = in_process(["why", *arguments])
    assert status == expected
    if status in (2, 3):
        assert out == ""


# --- fixes ------------------------------------------------------------------------------------


def applied(before: str, diff: str) -> str:
    """What a unified diff makes of a text."""
    lines = before.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:]) - 1
            out += lines[at:start]
            at = start
        elif line.startswith("\\"):
            out[-1:] = [out[-1].removesuffix("\n")] if out else []
        elif line[0] == "+":
            out.append(line[1:])
        else:
            assert lines[at].rstrip("\n") == line[1:].rstrip("\n")
            at += 1
            out += [line[1:]] if line[0] == " " else []
    return "".join(out + lines[at:])


@pytest.mark.parametrize("path", EXPLAINED, ids=lambda path: path.stem)
def test_a_fix_is_shown_and_made_and_works(path: Path, file: Callable[[bytes], Path]) -> None:
    text = path.read_text(encoding="utf-8")
    mine = file(text.encode())
    before = [s for r in why(str(mine))["results"] for s in r["sources"] if s["reasons"]]
    works = [s for s in before if any(r["fix_works"] for r in s["reasons"])]
    status, diff, said = in_process(["why", str(mine), "--fix"])
    assert status == 0
    assert mine.read_text(encoding="utf-8") == text
    if not works:
        assert diff == ""
        assert (" None: no change" if before else "nothing to mend") in said
    else:
        assert applied(text, diff) != text
        assert "--write makes it" in said
    status, out, said = in_process(["why", str(mine), "--write"])
    assert (status, out) == (0, "")
    assert mine.read_text(encoding="utf-8") == applied(text, diff)
    after = [s for r in why(str(mine))["results"] for s in r["sources"] if s["reasons"]]
    assert len(after) == len(before) - len(works)
    assert os.listdir(mine.parent) == ["model.txt"]


def test_all_fixes_are_made_together_and_equal_ones_once(file: Callable[[str], Path]) -> None:
    path = file("var x = 1.5\nvar y = 2.5\nvar k = 3.0, trainable=false\nu = floor(x*y)\nu*k\n")
    assert in_process(["why", str(path), "--write", "--wrt=x,y,k"])[0] == 0
    assert path.read_text().splitlines()[2] == "var k = 3.0"
    assert path.read_text().count("stop_gradient") == 1
    assert all(g is not None for g in gradients(str(path), "--wrt=x,y,k").values())


def test_a_second_write_has_nothing_to_do(file: Callable[[str], Path]) -> None:
    path = file(CUT)
    assert in_process(["why", str(path), "--write"])[2] == f"{path} is changed: dz/dx now has a" \
        " gradient\n"
    inode = path.stat().st_ino
    assert in_process(["why", str(path), "--write"])[2] == "nothing to mend: no gradient is None\n"
    assert path.stat().st_ino == inode


def test_quiet_says_nothing_besides(file: Callable[[str], Path]) -> None:
    status, out, err = in_process(["why", str(file(CUT)), "--fix", "--write", "-q"])
    assert (status, err) == (0, "")
    assert out.startswith("--- ")


def test_the_diff_goes_to_a_file(file: Callable[[str], Path], tmp_path: Path) -> None:
    path = file(CUT)
    shown = in_process(["why", str(path), "--fix"])[1]
    assert in_process(["why", str(path), "--fix", "-o", str(tmp_path / "d.patch")])[1] == ""
    assert (tmp_path / "d.patch").read_text() == shown


@pytest.mark.parametrize("text", [
    CUT, CUT.rstrip("\n"), CUT.replace("\n", "\r\n"), CUT.replace("\n", "\r\n").rstrip(),
    "\ufeff" + CUT, "# \u202e\x1b[31m \x85 \x0c\n" + CUT, "\n\n" + CUT + "\n\n"])
def test_nothing_but_the_fix_is_changed(text: str, file: Callable[[bytes], Path]) -> None:
    path = file(text.encode())
    path.chmod(0o640)
    fix = sources(str(path))["x"]["reasons"][0]["fix"]
    assert in_process(["why", str(path), "--write"])[0] == 0
    after = path.read_bytes().decode()
    assert after == text.replace("k = floor(y)", f"k = {fix}") or \
        after == text.replace("floor(y)", f"({fix})")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(file: Callable[[str], Path], tmp_path: Path) -> None:
    path = file(CUT)
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    assert in_process(["why", str(link), "--write"])[0] == 0
    assert link.is_symlink()
    assert "stop_gradient" in path.read_text()


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    for name, to in (("one", "other"), ("other", "one"), ("dangling", "nothing")):
        (tmp_path / name).symlink_to(to)
    for name in ("one", "dangling"):
        status, out, err = in_process(["why", str(tmp_path / name), "--write"])
        assert (status, out) == (3, "")
        assert "error[E0601]: cannot read" in err
        assert f"did you mean `{tmp_path / name}`" not in err


def test_a_failed_write_changes_nothing(
        file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(CUT)

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    status, out, err = in_process(["why", str(path), "--fix", "--write"])
    assert (status, out) == (3, "")
    assert "error[E0605]" in err
    assert "no space left" in err
    assert path.read_text() == CUT
    assert os.listdir(path.parent) == ["model.txt"]


def test_a_file_that_changed_meanwhile_is_left_alone(
        file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(CUT)
    mended = explaining.mended

    def slow(found: explaining.Explained) -> Any:
        path.write_text("var x = 1.0\n")
        return mended(found)

    monkeypatch.setattr(explaining, "mended", slow)
    status, _, err = in_process(["why", str(path), "--write"])
    assert status == 3
    assert "it was changed meanwhile" in err
    assert path.read_text() == "var x = 1.0\n"


def test_what_is_no_file_is_not_replaced(file: Callable[[str], Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = os.fork()
    if child == 0:
        with open(pipe, "w") as stream:
            stream.write(CUT)
        os._exit(0)
    status, _, err = in_process(["why", str(pipe), "--write"])
    os.waitpid(child, 0)
    assert status == 3
    assert "it is no regular file" in err


def test_fixes_that_overlap_or_do_not_work_together_are_left_out() -> None:
    program = loads("var x = 2.0\nvar y = 3.0\nfloor(x)*ceil(y)\n")
    found = explaining.explained(Question(program))
    assert explaining.mended(found).gained == {(0, 0), (0, 1)}
    # The second of two changes of one place is not made; a change that breaks another neither.
    for i, (result, source, _) in enumerate(list(found.mends)):
        clash = [(30, 40, "x")] if i else [(24, 40, "x*y")]
        found.mends[i] = (result, source, clash)
    mended = explaining.mended(found)
    assert (mended.gained, mended.left) == ({(0, 0)}, {(0, 1)})
    assert mended.text == "var x = 2.0\nvar y = 3.0\nx*y\n"
    found.mends[:] = [(0, 0, [(24, 40, "unknown(x)")]), (0, 1, [(24, 32, "x")])]
    mended = explaining.mended(found)
    assert (mended.text, mended.gained) == (program.source.text, set())
    assert mended.left == {(0, 0), (0, 1)}
    assert mended.broken == mended.left
    found.mends[:] = [(0, 0, [(24, 40, "x*y")]), (0, 1, [(24, 40, "y*x")])]
    mended = explaining.mended(found)
    assert (mended.left, mended.broken) == ({(0, 1)}, set())


def test_a_fix_that_the_rest_of_the_program_does_not_take_is_left_out(
        file: Callable[[str], Path]) -> None:
    """The gradient would be there, but what follows asks for a variable."""
    text = """\
var x = 2.5
var s = 1.0
tape t:
    s.assign(x*3)
    y = s*2
g = t.gradient(y, x)
s.assign_add(2)
"""
    path = file(text)
    status, out, err = in_process(["why", str(path), "--fix", "--write", "--strict"])
    assert (status, out, path.read_text()) == (1, "", text)
    assert err == "dy/dx stays None: no change that was tried helps\n"


# Programs with a derivative that is None, which a change would bring back; with the line after
# which that change does more than that, and what it does: an alias of what is assigned, a loop that
# runs in the block, a state that is read later.
ELSEWHERE = {
    "alias": ("""\
var x = 3.0
start = x
x = x + 1
tape t:
    y = x^2
print(t.gradient(y, x))
""", 'print("moved by", x - start)\n'),
    "slopes": ("""\
var x = 2.0
for i in range(3):
    tape t, persistent=true:
        y = x^i
    s = t.gradient(y, x)
    print("turn")
for k in range(2):
    y = y*x
print("last", t.gradient(y, x))
""", 'print("slope", s)\n'),
    "expect": ("""\
var x = 3.0
start = x
x = x - 1
tape t:
    y = x^2
g = t.gradient(y, x)
""", "expect start - x == 1\n"),
    "none": ("""\
var x = 3.0
start = x
x = x + 1
tape t:
    y = x^2
g = t.gradient(y, x)
""", "print(start if g == none else 2*start)\n"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_fix_that_changes_another_answer_is_not_offered(
        file: Callable[[str], Path], name: str) -> None:
    """Without the last line some fix works; with it, that one does not."""
    text, more = ELSEWHERE[name]
    path = file(text + more)
    status, out, err = in_process(["why", str(path), "--fix", "--write"])
    assert "fix: " not in in_process(["why", str(path)])[1]
    assert (status, out, path.read_text()) == (0, "", text + more)
    assert "stays None: no change that was tried helps" in err
    if name != "slopes":  # there the answer inside the loop is another one too
        path = file(text)
        assert "now has a gradient" in in_process(["why", str(path), "--write"])[2]


def test_what_a_program_makes_of_a_missing_gradient_may_change(file: Callable[[str], Path]) -> None:
    """Only because the gradient is there, as does the step that was not taken."""
    text = """\
const x = 3.0
tape t, persistent=true:
    y = x^2
g = t.gradient(y, x)
print(g, g == none, 0.0 if g == none else g)
print(t.gradient(y, x, unconnected_gradients="zero"))
if g != none:
    print(x - 0.1*g)
expect g == none
"""
    path = file(text)
    assert "now has a gradient" in in_process(["why", str(path), "--write"])[2]
    assert in_process(["run", str(path)])[1].splitlines() == ["6 false 6", "6", "2.4"]


@pytest.mark.parametrize("path", sorted((ROOT / "samples/none").glob("*.txt")),
                         ids=lambda path: path.stem)
def test_all_else_that_a_sample_prints_stays(path: Path, file: Callable[[str], Path]) -> None:
    mine = file(path.read_text())
    before = in_process(["run", str(mine)])[1].splitlines()
    in_process(["why", str(mine), "--write"])
    after = in_process(["run", str(mine)])[1].splitlines()
    assert len(before) == len(after)
    assert [b for b, a in zip(before, after, strict=True) if b != a and "None" not in b] == []


def test_what_a_later_turn_lacks_is_mended_too(file: Callable[[str], Path]) -> None:
    """The first turn lacks its gradient for the state, the second for the name bound again."""
    path = file("""\
var q = 0.0
var x = 2.0
for step in range(2):
    tape t:
        q.assign(tanh(x))
        loss = sin(q)
    print(t.gradient(loss, x))
    x = 0.5*x
""")
    assert in_process(["run", str(path)])[1] == "None\nNone\n"
    said = in_process(["why", str(path), "--write"])[2]
    assert said == f"{path} is changed: dloss/dx now has a gradient\n"
    first, second = map(float, in_process(["run", str(path)])[1].split())
    for x, slope in ((2.0, first), (1.0, second)):
        assert slope == pytest.approx(math.cos(math.tanh(x))*(1 - math.tanh(x)**2), rel=1e-14)


def test_a_gradient_that_a_fix_takes_away_is_told(file: Callable[[str], Path]) -> None:
    path = file("var total = 0.0\nvar w = 1.5\ntotal.assign(w^2)\n3*total\n")
    said = in_process(["why", str(path), "--fix", "--wrt=total,w"])[2]
    assert said.startswith("df/dtotal becomes None: ")
    assert "with this change df/dw has a gradient" in said


# --- hostile texts ----------------------------------------------------------------------------


def test_names_of_files_and_lines_cannot_command_the_terminal(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a\x1b[31m\u202e\nb.txt"
    path.write_text('var x = 1.5\ny = floor(x)  # \x1b]0;title\x07 \u202e \x9b\n'
                    'print("\x1b[2J", y)\n')
    monkeypatch.chdir(tmp_path)
    for format in FORMATS:
        out = in_process(["why", str(path), "--format", format])[1]
        assert all(line.isprintable() for line in out.replace("\t", " ").splitlines())
    for option in ("--fix", "--color=never"):
        status, out, err = on_terminal(["why", str(path), option, "--color=never"])
        assert status == 0
        assert all(line.isprintable() for line in (out + err).splitlines())
    # A program gets the bytes.
    out = in_process(["why", str(path), "--fix"])[1]
    assert "# \x1b]0;title\x07 \u202e \x9b\n" in out


# --- what it loads ----------------------------------------------------------------------------


def test_a_gradient_that_is_there_loads_no_explanation(home: dict[str, str | None]) -> None:
    _, modules = loaded_by(command("grad", "-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"), home)
    assert not [name for name in modules if name.startswith(
        ("gradcli.explain", "gradcli.questions.why", "gradcli.questions.causes",
         "gradcli.render.layouts.why",
         "gradcli.cli.commands.why", "difflib"))]


def test_a_piped_page_loads_no_rich(home: dict[str, str | None]) -> None:
    loaded_by(command("eval", "-e", "1"), home)     # a first run makes the parser's tables
    _, modules = loaded_by(command("why", "-e", "x*floor(y)", "--at", "x=1.5,y=0.5"), home)
    assert not modules & {"rich", "typer", "lark", "difflib", "json"}


def test_a_file_without_default_sources_may_ask_for_a_0(
        file: Callable[[str | bytes], Path]) -> None:
    path = file("var x = 0.8, trainable=false\ntape t:\n    t.watch(x)\n    y = relu(-x)\n"
                "print(t.gradient(y, x))\n")
    (result,) = why(str(path))["results"]
    (source,) = result["sources"]
    assert (source["gradient"], source["notes"][0]["code"]) == (0.0, "zero-dead")


def test_the_point_stands_in_the_title_where_it_fits() -> None:
    names = [f"a{k}" for k in range(1, 7)]
    for count, full in ((1, True), (2, True), (6, False)):
        _, out, _ = on_terminal(["why", "-e", f"sin({'+'.join(names[:count])})", "--at", ",".join(
            [f"{n}=0.123456" for n in names[:count]]), "--color=never"], COLUMNS="80")
        title = out.splitlines()[0]
        assert ("at a1 = 0.123456" in title) == full
        assert cell_len(title) <= 80


def test_shapes_have_words() -> None:
    _, out, _ = in_process(["why", "-e", "sum(A*x)", "--at", "A=ones(2,3),x=[1,2,4]",
                            "--format", "table"])
    assert "2 x 3 array" in out
    assert "vector of 3" in out


@pytest.mark.parametrize(("asked", "name"), [
    ("[z, u]", "[z, u]"), ('{"p": z, "q": u}', "[z, u]"), ("both", "[z, u]"), ("z", "z"),
    ("[x*3, u]", "[x*3, u]"), ("[z, z]", "z"), ("x*3", "x*3")])
def test_a_list_of_targets_is_named_by_all_of_them(asked: str, name: str) -> None:
    program = loads(f"""var x = 2.0
var a = 1.0
tape t:
    z = 3*x
    u = 2*x
    both = [z, u]
    print(t.gradient({asked}, a))
""")
    answer = explaining.why(Question(program))
    messages = {r["message"] for s in answer["results"][0]["sources"] for r in s["reasons"]}
    assert messages == {f"{name} does not depend on a"}


# Of answers in a loop, by k: the one that is told of.
@pytest.mark.parametrize(("target", "turn"), [
    ("w^k", 4), ("sqrt(w - k)", 2), ("w if k != 2 else 1.0*floor(w)", 3),
    ("where(k > 1, w, w^2)", 4),
    ("log(w - k - 1)", 1), ("w*k if k < 3 else stop_gradient(w)", 4)])
def test_of_a_question_in_a_loop_the_worst_answer_is_told_of(target: str, turn: int) -> None:
    """The first that is None, else the first that is not a number, else the last."""
    text = (f"var w = 1.0\nfor k in range(4):\n    tape t:\n        y = {target}\n"
            "    g = t.gradient(y, w)\n")
    answer = json.loads(in_process(["why", "-", "--format", "json"], stdin=text.encode())[1])
    (result,) = answer["results"]
    assert (result["turn"], result["turns"]) == (turn, 4)
    valid(answer, "why")
    said = in_process(["why", "-"], stdin=text.encode())[1]
    assert f"line 5: t.gradient(y, w) (answer {turn} of 4)" in said
