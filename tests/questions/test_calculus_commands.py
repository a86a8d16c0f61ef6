"""The commands of calculus: what the numbers of the 50 cases do not show, their formats, and
docs/calculus.md, every command of which is run at a terminal of 80 columns.
"""

from __future__ import annotations

import csv
import io
import json
import math
from operator import mul
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
from asked import SCHEMAS, loaded, ok
from conftest import OnPage
from folders import DATA, ROOT
from loaded import FORMULA, command, loaded_by
from transcripts import blocks, in_process, on_terminal, steps

import gradcli
from gradcli.cli.options import FORMATS
from gradcli.cli.options import calculus as calculus_rows
from gradcli.engine.sweeps.series import Expansion, Series, polynomial
from gradcli.questions import Question
from gradcli.questions.calculus import taylor as taylors
from gradcli.questions.calculus.implicit import implicit
from gradcli.questions.calculus.point import Point

ROWS = {row.name: row for row in calculus_rows.ROWS}

PAGE = ROOT / "docs/calculus.md"
SHOWN = [step for block in blocks(PAGE.read_text()) for step in steps(block)]

# A question, and a number of its answer.
USUAL: dict[str, tuple[list[str], str]] = {
    "verify": (["-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"], "1.43827661581260"),
    "taylor": (["-e", "exp(x)*cos(x)", "--at", "x=0.5", "--order", "3"], "1.44688903658416"),
    "tangent": (["-e", "x^2 + y^2", "--at", "x=1,y=2"], "4"),
    "directional": (["-e", "x^2*y", "--at", "x=1,y=2", "--direction", "3,4"], "4"),
    "divergence": (["-e", "[x*y, y*z, z*x]", "--at", "x=1,y=2,z=3"], "3"),
    "curl": (["-e", "[-y, x, z]", "--wrt", "x,y,z", "--at", "x=1,y=2,z=3"], "-1"),
    "laplacian": (["-e", "log(x^2 + y^2)", "--at", "x=1,y=2"], "-0.24"),
    "study": (["-e", "x^2 - 2"], "1.41421356237309"),
    "limit": (["-e", "(1 + 1/x)^x", "--at", "x=inf"], "2.71828182845904"),
    "implicit": (
        ["-e", "x^2 + y^2 - 25", "--wrt", "x", "--dependent", "y", "--at", "x=3,y=4"], "-0.75"),
    "newton": (["-e", "x^2 - 2", "--at", "x=1"], "1.41421356237309"),
    "propagate": (["-e", "a*b", "--at", "a=2,b=3", "--sigma", "a=0.1,b=0.2"], "0.3"),
}


def first(*arguments: str) -> Any:
    return loaded(*arguments)["results"][0]


def failed(*arguments: str) -> str:
    """The first line of an error."""
    status, out, err = in_process(list(arguments))
    assert (status, out) == (3, "")
    return err.splitlines()[0]


# --- the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "shown"), SHOWN, ids=[line for line, _ in SHOWN])
def test_page_shows_what_is_printed(
        line: str, shown: str, shim: Path, on_page: OnPage) -> None:
    on_page(PAGE, line, shown, on_terminal(line, ROOT, shim))


def test_page_shows_every_command() -> None:
    used = {line.split()[1] for line, _ in SHOWN if line.startswith("gradcli ")}
    assert used == set(ROWS)
    assert all(len(line) <= 80 for command, shown in SHOWN if "csv" not in command
               for line in shown.splitlines())


# --- options and formats --------------------------------------------------------------------------


def test_the_tables_name_the_same_commands() -> None:
    assert set(USUAL) == set(ROWS)
    assert set(ROWS) <= set(SCHEMAS)


@pytest.mark.parametrize("name", ROWS)
def test_help_shows_every_option_and_example(name: str) -> None:
    import shlex
    import subprocess
    import sys

    ran = subprocess.run([sys.executable, "-m", "gradcli", name, "--help"], cwd=ROOT, check=True,
                         capture_output=True, text=True)
    for option in ROWS[name].options:
        assert option.flags[-1] in ran.stdout
    for example in ROWS[name].examples:
        assert example[:60] in ran.stdout
        arguments = shlex.split(example)[1:]
        if "-e" in arguments:
            assert in_process(arguments)[0] == 0


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format(name: str, format: str, tmp_path: Path) -> None:
    """The same numbers in all of them, on standard output and in a file."""
    asked, number = USUAL[name]
    arguments = [name, *asked, "--format", format]
    out = ok(*arguments)
    assert out.endswith("\n")
    path = tmp_path / "answer"
    assert ok(*arguments, "-o", str(path)) == ""
    assert path.read_text(encoding="utf-8").splitlines()[0] == out.splitlines()[0]
    assert number in out
    if format in ("csv", "tsv"):
        rows = list(csv.reader(io.StringIO(out), delimiter="\t" if format == "tsv" else ","))
        assert len({len(row) for row in rows}) == 1 < len(rows)
    if format == "markdown":
        assert "| :--" in out
    if format == "latex":
        assert out.count(r"\begin") == out.count(r"\end") > 0
    if format in ("json", "ndjson"):
        json.loads(out)


def test_text_of_others_is_safe_in_every_format() -> None:
    text = "var α_1 = 2.0\nβ = α_1^2\n"
    for format in FORMATS:
        status, out, _ = in_process(["tangent", "-", "--format", format], text.encode())
        assert (status, bool(out)) == (0, True)
    assert r"\alpha_{1}" in in_process(
        ["tangent", "-", "--format", "latex"], text.encode())[1]


@pytest.mark.parametrize("arguments", [
    ["taylor"], ["taylor", "-e", "x", "--order", "0"], ["taylor", "-e", "x", "--at", "x"],
    ["directional", "-e", "x"], ["propagate", "-e", "x"],
    ["propagate", "-e", "x", "--sigma", "x"], ["newton", "-e", "x", "--tolerance", "-1"],
    ["propagate", "-e", "x", "--sigma", "x=1", "--correlation", "x=1"],
    ["taylor", "-e", "x", "--direction", "1"], ["verify", "-e", "x", "--order", "2"]])
def test_usage(arguments: list[str]) -> None:
    assert in_process(arguments)[0] == 2


# --- taylor ---------------------------------------------------------------------------------------


def test_the_polynomial_can_be_read_back() -> None:
    """It is an expression whose derivatives at the point are those of the function."""
    text = "exp(x)*sin(2x)"
    out = ok("taylor", "-e", text, "--at", "x=0.7", "--order", "5")
    polynomial = dict(line.split("\t") for line in out.splitlines())["T5(f)"]
    for k, want in enumerate(mp.taylor(lambda x: mp.exp(x) * mp.sin(2 * x), 0.7, 5)):
        terms = first("taylor", "-e", polynomial, "--at", "x=0.7", "--order", "5")["terms"]
        assert math.isclose(terms[k]["coefficient"], want, rel_tol=1e-12)


def test_a_high_order_is_no_trouble() -> None:
    terms = first(
        "taylor", "-e", "exp(sin(x))/(1 + x^2)", "--at", "x=0.2", "--order", "40")["terms"]
    with mp.workdps(60):
        want = mp.taylor(lambda x: mp.exp(mp.sin(x)) / (1 + x * x), mp.mpf(0.2), 40)
    scale = max(map(abs, want))
    for term, c in zip(terms, want, strict=True):
        assert abs(term["coefficient"] - float(c)) <= 1e-13 * float(scale)


@pytest.mark.parametrize("text", [
    "exp(sin(x))/x", "x^x", "tanh(x)*log(x)", "softmax([x, x^2])[0]", "det([[x, 2], [1, x^2]])",
    "erf(x)*sqrt(x)", "norm([x, 1])", "sum(cumsum([x, x^2, x^3])*[1, 2, 3])", "max(x, 1)*x",
    "sigmoid(x)/gamma(x)", "logsumexp([x, 2x])", "mean([sin(x), cos(x)])"])
def test_series_are_derivatives_of_derivatives(text: str) -> None:
    """Two ways that share the rules only."""
    program = gradcli.loads(text)
    run = program.run({"x": 1.3})
    with run.record:
        point = Point(Question(program, at={"x": 1.3}), run, program.targets(run)[0])
        by_series = taylors.series_of(point, 5)
        by_derivatives = taylors.by_derivatives(point.tensor, point.sources[0], 5)
    assert by_series == pytest.approx(by_derivatives, rel=1e-9, abs=1e-10)


SERIES: list[Any] = json.loads((DATA / "calculus/series.json").read_text())


@pytest.mark.parametrize("case", SERIES, ids=[case["text"] for case in SERIES])
def test_orders_up_to_a_hundred(case: Any) -> None:
    """mpmath's functions (data/calculus/make.py): every coefficient to order 50, and the last."""
    at = f"x={case['at']}"
    terms = first("taylor", "-e", case["text"], "--at", at, "--order", "100")["terms"]
    got = [t["coefficient"] for t in terms]
    *want, last = map(float, case["coefficients"])
    for k, c in (*enumerate(want), (100, last)):
        assert math.isclose(got[k], c, rel_tol=2e-12, abs_tol=1e-300), k


def test_the_work_grows_like_a_polynomial() -> None:
    """Streams and coefficients of rules that lead on and on are counted, not timed."""
    def work(text: str, order: int) -> int:
        program = gradcli.loads(text)
        run = program.run({"x": 1.3})
        with run.record:
            point = Point(Question(program, at={"x": 1.3}), run, program.targets(run)[0])
            x = polynomial(1.3, 1.0)
            (source,) = point.sources
            assert source.id is not None
            assert point.tensor.id is not None
            Expansion(run.record.history(), {source.id: x}, [point.tensor.id]).of(
                point.tensor.id, order)
        return sum([len(made.c) for made, _ in x.known.values() if isinstance(made, Series)])

    for text in ("sigmoid(x)", "softplus(x)", "mish(x)", "logaddexp(x, 2x)", "betainc(2, 3, x/4)",
                 "gammainc(2, x)", "besselj(0, x)", "norm([x, 1])"):
        assert work(text, 40) < 6 * work(text, 20) + 1000, text


def test_kinks_have_no_polynomial() -> None:
    for text in ("abs(x)", "relu(x)", "x*abs(x)", "x^2*abs(x)", "max(x, 0)", "clip(x, 0, 1)",
                 "norm([x, 0])"):
        message = failed("taylor", "-e", text, "--at", "x=0")
        assert message.startswith("error[E0833]: there is no Taylor polynomial of `f`"), text
        assert len(first("taylor", "-e", text, "--at", "x=0.5")["terms"]) == 4
    assert "`abs`" in failed("taylor", "-e", "abs(x)", "--at", "x=0")
    # The slope of softsign leads to |x|: one order further there is none.
    assert first("taylor", "-e", "softsign(x)", "--at", "x=0", "--order", "1")["terms"]
    assert "passes through `abs`" in failed("taylor", "-e", "softsign(x)", "--at", "x=0")
    assert "passes through `abs`" in failed("taylor", "-e", "softsign(x)*y", "--at", "x=0,y=1")
    assert "passes through `abs`" in failed("laplacian", "-e", "softsign(x)*y", "--at", "x=0,y=1")
    assert first("laplacian", "-e", "relu(x)*y^2", "--at", "x=-1,y=1")["laplacian"] == 0
    # What nothing weighs or moves does not count to first order: x*|x| and |x^2| have slope 0.
    for text in ("x*abs(x)", "abs(x^2)"):
        assert first("tangent", "-e", text, "--at", "x=0")["slopes"] == {"x": 0}
    assert first("taylor", "-e", "x^2 + relu(x)", "--at", "x=-1")["terms"][2]["coefficient"] == 1


@pytest.mark.parametrize("asked", [
    ("tangent",), ("directional", "--direction", "-1"), ("propagate", "--sigma", "x=0.1"),
    ("laplacian",), ("implicit", "--dependent", "y")], ids=lambda asked: asked[0])
def test_a_kink_is_told_by_all(asked: tuple[str, ...]) -> None:
    at = "x=0,y=0" if asked[0] == "implicit" else "x=0"
    text = "abs(x) - y" if asked[0] == "implicit" else "abs(x)"
    for format in FORMATS:
        status, out, err = in_process([
            asked[0], "-e", text, "--at", at, *asked[1:], "--format", format])
        assert (status, out) == (3, "")
        assert "E0833" in err
        assert "`abs` is at a kink" in err
    # A function that jumps is not continuous, whatever its weight.
    assert "error[E0833]" in failed("tangent", "-e", "x*sign(x)", "--at", "x=0")


def test_a_condition_at_its_boundary_is_told() -> None:
    """Where the branches differ there is no tangent, as at any other kink."""
    for text in ("where(x > 0, x, -x)", "where(x < 2 and x >= 0, x, -x)", "where(x^2 <= 0, 1, x)",
                 "x if x > 0 else -x"):
        for asked in ("tangent", "taylor"):
            assert "both sides of the comparison are equal" in failed(
                asked, "-e", text, "--at", "x=0")
        assert first("tangent", "-e", text, "--at", "x=0.5")["notes"] == []
    for text in ("where(x > 0, x^2, -x^2)", "x^2 if x > 0 else x^3", "where(x == 0, 1, cos(x))"):
        assert first("tangent", "-e", text, "--at", "x=0")["notes"] == []
        assert first("taylor", "-e", text, "--at", "x=0", "--order", "1")["notes"] == []
    assert "order 2" in failed("taylor", "-e", "where(x > 0, x^2, -x^2)", "--at", "x=0")
    assert first("taylor", "-e", "where(y > 0, x, x^2)", "--wrt", "x", "--at", "x=1,y=0")[
        "notes"] == []


def test_determinants_keep_their_digits() -> None:
    """Where the determinant is 0 and its matrix has no inverse, too."""
    text = "det([[x, 2, sin(x), 1], [1, x^2, 3, x], [exp(x), 1, x, 2], [2, x, 1, 1/x]])"

    def determinant(x: Any) -> Any:
        return mp.det(mp.matrix([[x, 2, mp.sin(x), 1], [1, x ** 2, 3, x], [mp.exp(x), 1, x, 2],
                                 [2, x, 1, 1 / x]]))

    with mp.workdps(60):
        want = mp.taylor(determinant, mp.mpf(1.3), 12)
    terms = first("taylor", "-e", text, "--at", "x=1.3", "--order", "12")["terms"]
    for term, c in zip(terms, want, strict=True):
        assert math.isclose(term["coefficient"], c, rel_tol=1e-10)
    singular = first("taylor", "-e", "det([[x, 2, 1], [2, 4x, 2], [1, x, x]])", "--at", "x=1",
                     "--order", "8")["terms"]
    # x (4x^2 - 2x) - 2 (2x - 2) + (2x - 4x)
    assert [t["derivative"] for t in singular] == pytest.approx([0, 2, 20, 24, *[0] * 5])


@pytest.mark.parametrize(("text", "function"), [
    ("expm([[x, 1], [2, x]])[0, 1]", lambda x: mp.exp(x) * mp.sinh(mp.sqrt(2)) / mp.sqrt(2)),
    ("sqrtm([[x^2 + 9, 6x], [6x, x^2 + 9]])[0, 1]", lambda x: x),
    ("sqrtm([[exp(x), 0], [1, exp(x)]])[1, 0]", lambda x: mp.exp(-x / 2) / 2),
    ("logm([[exp(x), 0], [1, exp(x)]])[1, 0]", lambda x: mp.exp(-x))])
def test_functions_of_matrices(text: str, function: Any) -> None:
    """By blocks, not by rules that double the matrix with each order."""
    terms = first("taylor", "-e", text, "--at", "x=1.3", "--order", "30")["terms"]
    with mp.workdps(80):
        want = mp.taylor(function, mp.mpf(1.3), 30)
    for term, c in zip(terms, want, strict=True):
        assert math.isclose(term["coefficient"], c, rel_tol=1e-11, abs_tol=1e-12)


def test_functions_with_a_gradient_of_their_own() -> None:
    text = """@custom_gradient
def f(x):
    def grad(upstream):
        return upstream*cos(x)
    return sin(x)
var x = 0.5
y = f(x)*x
"""
    status, out, _ = in_process(["taylor", "-", "--order", "4", "--format", "json"], text.encode())
    assert status == 0
    got = [t["coefficient"] for t in json.loads(out)["results"][0]["terms"]]
    assert got == pytest.approx([float(c) for c in mp.taylor(
        lambda x: mp.sin(x) * x, 0.5, 4)], rel=1e-12)


def test_a_coefficient_0_has_no_sign() -> None:
    """-x^2 is -0 at 0, and so is what is multiplied with it."""
    _, out, _ = in_process(["taylor", "-e", "-x^2", "--at", "x=0", "--format", "json"])
    terms = json.loads(out)["results"][0]["terms"]
    assert [repr(t["coefficient"]) for t in terms] == ["0.0", "0.0", "-1.0", "0.0"]


def test_several_variables() -> None:
    terms = first("taylor", "-e", "exp(x)*cos(y)", "--at", "x=0,y=0", "--order", "2")["terms"]
    assert [(t["powers"], t["coefficient"]) for t in terms] == [
        ({}, 1), ({"x": 1}, 1), ({"y": 1}, 0), ({"x": 2}, 0.5), ({"x": 1, "y": 1}, 0),
        ({"y": 2}, -0.5)]
    vector = first("taylor", "-e", "v[0]*v[1]", "--at", "v=[2,3]", "--order", "2")["terms"]
    assert [t["coefficient"] for t in vector] == [6, 3, 2, 0, 1, 0]


@pytest.mark.parametrize(("text", "point", "order"), [
    ("exp(x*y)*sin(x+y)", {"x": 0.5, "y": 0.25}, 6),
    ("log(x^2+y^2+z)/(1+x*z)", {"x": 1.0, "y": 2.0, "z": 0.5}, 4),
    ("sqrt(x+y)*atan(z)", {"x": 1.0, "y": 2.0, "z": 0.5}, 5),
])
def test_several_variables_to_any_order(text: str, point: dict[str, float], order: int) -> None:
    """Each derivative against mpmath's."""
    def function(*at: Any) -> Any:
        return eval(text.replace("^", "**"), {
            **dict(zip(point, at, strict=True)), "exp": mp.exp, "sin": mp.sin, "log": mp.log,
            "sqrt": mp.sqrt, "atan": mp.atan})

    at = ",".join([f"{n}={v}" for n, v in point.items()])
    terms = first("taylor", "-e", text, "--at", at, "--order", str(order))["terms"]
    assert len(terms) == math.comb(len(point) + order, order)
    with mp.workdps(60):
        for term in terms:
            powers = [term["powers"].get(n, 0) for n in point]
            want = mp.diff(function, tuple(map(mp.mpf, point.values())), tuple(powers)
                           ) if any(powers) else function(*map(mp.mpf, point.values()))
            assert term["derivative"] == pytest.approx(float(want), rel=1e-13, abs=1e-13)
            assert term["coefficient"] == pytest.approx(
                term["derivative"] / math.prod(map(math.factorial, powers)), rel=1e-15)


def test_a_constant_has_a_polynomial() -> None:
    terms = first("taylor", "-e", "x*0 + 5 + y - y", "--at", "x=1,y=1", "--wrt", "x")["terms"]
    assert [t["coefficient"] for t in terms] == [5, 0, 0, 0]


def test_no_polynomial() -> None:
    assert "derivative of order 1 of `f` is inf" in failed("taylor", "-e", "sqrt(x)", "--at", "x=0")
    assert "order 3 of `f`" in failed("taylor", "-e", "x^2.5", "--at", "x=0", "--order", "4")
    assert failed("taylor", "-e", "x", "--at", "x=0", "--order", "101").startswith("error[E0832]")
    assert failed("taylor", "-e", "[x, x]", "--at", "x=0").startswith("error[E0831]")
    assert failed("taylor", "-e", "round(x)", "--at", "x=0").startswith("error[E0833]")


# --- tangent and directional ----------------------------------------------------------------------


def test_a_horizontal_tangent_has_a_vertical_normal() -> None:
    assert first("tangent", "-e", "x^2", "--at", "x=0")["normal"] is None
    assert "normal(f)\tx = 0\n" in ok("tangent", "-e", "x^2", "--at", "x=0")


def test_the_tangent_of_a_curve() -> None:
    found = first("tangent", "-e", "[3cos(t), 3sin(t), 4t]", "--at", "t=0")
    assert (found["kind"], found["point"], found["length"]) == ("curve", [3, 0, 0], 5)
    assert found["vector"] == [0, 3, 4]
    assert found["unit_vector"] == pytest.approx([0, 0.6, 0.8])
    assert first("tangent", "-e", "[t^2, t^3]", "--at", "t=0")["unit_vector"] is None


def test_a_direction_by_name_and_its_unit() -> None:
    for given in ("3,4", "x=3,y=4", "y=4,x=3"):
        found = first("directional", "-e", "x^2*y", "--at", "x=1,y=2", "--direction", given)
        assert (found["derivative"], found["per_length"], found["length"]) == (16, 3.2, 5)
        assert math.isclose(found["steepest"], math.sqrt(17))
    assert failed("directional", "-e", "x*y", "--at", "x=1,y=2", "--direction", "0,0").startswith(
        "error[E0834]")
    assert failed("directional", "-e", "x*y", "--at", "x=1,y=2", "--direction", "z=1").startswith(
        "error[E0834]")


def test_a_curve_that_stands_still() -> None:
    """(t^2, t^3) has a cusp, (t^3, t^6) none; each has a tangent along the first axis."""
    for text, order in (("[t^2, t^3]", 2), ("[t^3, t^6]", 3)):
        found = first("tangent", "-e", text, "--at", "t=0")
        assert (found["direction"], found["order"], found["length"]) == ([1, 0], order, 0)
        (note,) = found["notes"]
        assert note["code"] == "singular"
        assert ("cusp" in note["message"]) is (order == 2)
        assert "stands still" in in_process(["tangent", "-e", text, "--at", "t=0", "--format",
                                             "table"])[1]
    assert first("tangent", "-e", "[t, t^2]", "--at", "t=0")["order"] == 1


def test_the_tangent_plane_of_a_surface() -> None:
    """Of a sphere the normal is the radius; the surface runs through the plane."""
    sphere = "[sin(u)*cos(v), sin(u)*sin(v), cos(u)]"
    found = first("tangent", "-e", sphere, "--at", "u=0.7,v=0.4")
    assert found["kind"] == "surface"
    assert found["unit_normal"] == pytest.approx(found["point"], rel=1e-14)
    assert math.isclose(math.hypot(*found["normal_vector"]), math.sin(0.7), rel_tol=1e-14)
    for vector in found["vectors"].values():
        assert abs(sum(map(mul, vector, found["unit_normal"]))) < 1e-15
    for format in FORMATS:
        assert in_process(["tangent", "-e", sphere, "--at", "u=0.7,v=0.4", "--format", format]
                          )[0] == 0
    pole = first("tangent", "-e", sphere, "--at", "u=0,v=0")
    assert pole["unit_normal"] is None
    assert pole["notes"][0]["code"] == "singular"
    assert "normal_vector" not in first("tangent", "-e", "[u, v, u, v]", "--at", "u=1,v=2")
    level = first("tangent", "-e", "x^2 + y^2 + z^2", "--at", "x=1,y=2,z=2")
    assert level["notes"][0]["code"] == "level-surface"


def test_a_direction_of_a_vector() -> None:
    found = first("directional", "-e", "v[0]*v[1]*x", "--at", "v=[2,3],x=5", "--direction",
                  "v=[1,2]")
    assert found["direction"] == {"v[0]": 1, "v[1]": 2, "x": 0}
    assert found["derivative"] == 15 + 2 * 10
    assert "has 1 number, and there are 2 variables" in failed(
        "directional", "-e", "x*y", "--at", "x=1,y=2", "--direction", "3")
    assert "has 2 numbers, and there is 1 variable" in failed(
        "directional", "-e", "x", "--at", "x=1", "--direction", "3,4")


# --- fields ---------------------------------------------------------------------------------------


def test_the_order_of_variables_is_that_of_at() -> None:
    """Where the formula does not begin with x."""
    found = first("curl", "-e", "[-y, x, z]", "--at", "x=1,y=2,z=3")
    assert (found["curl"], found["variables"]) == ([0, 0, 2], ["x", "y", "z"])
    assert first("curl", "-e", "[y, -x]", "--at", "x=1,y=2")["curl"] == -2
    assert first("divergence", "-e", "[y^2*x, x*y]", "--at", "x=3,y=5")["divergence"] == 25 + 3
    along = first("directional", "-e", "y^2*x", "--at", "x=3,y=5", "--direction", "1,0")
    assert (along["direction"], along["derivative"]) == ({"x": 1, "y": 0}, 25)
    assert list(first("tangent", "-e", "y + 2x", "--at", "x=1,y=1")["slopes"]) == ["x", "y"]
    assert "at x = 1, y = 2\n" in in_process(
        ["curl", "-e", "[y, -x]", "--at", "x=1,y=2", "--format", "table"])[1]
    assert first("curl", "-e", "[y, -x]", "--wrt", "y,x", "--at", "x=1,y=2")["variables"] == [
        "y", "x"]


def test_the_order_of_variables_of_a_file() -> None:
    """That of the declarations; of names in a row where some are not declared; else nobody knows.
    """
    def asked(text: str, *at: str) -> Any:
        status, out, err = in_process(["curl", "-", *at, "--format", "json"], text.encode())
        return json.loads(out)["results"][0]["variables"] if status == 0 else err

    field = "field = [-y, x]\n"
    assert asked("input x = 1\ninput y = 2\n" + field) == ["x", "y"]
    assert asked("input y = 1\ninput x = 2\n" + field) == ["y", "x"]
    assert asked("input y = 1\ninput x = 2\n" + field, "--at", "x=1,y=3") == ["x", "y"]
    assert asked("input y = 1\n" + field, "--at", "x=1") == ["x", "y"]
    assert asked("input x10 = 1\nfield = [x10, x9]", "--at", "x9=1") == ["x9", "x10"]
    assert "E0831" in asked("input b = 1\nfield = [alpha*b, b]", "--at", "alpha=1")


def test_variables_that_do_not_occur() -> None:
    at = ["--at", "x=1,y=1,z=1"]
    found = first("divergence", "-e", "[x^2, 0, 0]", *at)
    assert (found["divergence"], found["variables"]) == (2, ["x", "y", "z"])
    assert [note["code"] for note in found["notes"]] == ["free-variable"] * 2
    assert first("curl", "-e", "[0, x, 0]", *at)["curl"] == [0, 0, 1]
    assert first("laplacian", "-e", "x^2", *at)["laplacian"] == 2
    assert first("tangent", "-e", "x^2", "--at", "x=1,y=3")["slopes"] == {"x": 2, "y": 0}
    assert first("directional", "-e", "x^2", "--at", "x=1,y=3", "--direction", "1,1"
                 )["derivative"] == 2
    assert len(first("taylor", "-e", "x^2", "--at", "x=1,y=3", "--order", "2")["terms"]) == 6
    # Where a name has no value, the other may be it, written wrong; so in a file with declarations.
    assert failed("taylor", "-e", "x^2*alpha", "--at", "x=1,alfa=3").startswith("error[E020")
    assert in_process(["taylor", "-", "--at", "y=1"], b"var x = 1.0\nx^2")[2].startswith(
        "error[E0204]")
    assert failed("newton", "-e", "x^2", *at).startswith("error[E0204]")


@pytest.mark.parametrize("arguments", [
    ("laplacian", "-e", "log(x^2+y^2)", "--at", "x=0,y=0"),
    ("divergence", "-e", "[x/y, y*x]", "--at", "x=1,y=0"),
    ("curl", "-e", "[sqrt(y), x]", "--at", "x=0,y=0"),
    ("propagate", "-e", "sqrt(x)", "--at", "x=0", "--sigma", "x=1")])
def test_what_is_no_number_is_no_answer(arguments: tuple[str, ...]) -> None:
    assert failed(*arguments).startswith("error[E0833]: a derivative of `f` is ")


@pytest.mark.parametrize("arguments", [
    ("tangent", "-e", "ln(x)", "--at", "x=-1"), ("tangent", "-e", "0*ln(x)", "--at", "x=0"),
    ("directional", "-e", "ln(x) + y", "--at", "x=-1,y=1", "--direction", "1,1"),
    ("propagate", "-e", "ln(x)", "--at", "x=-1", "--sigma", "x=0.1"),
    ("laplacian", "-e", "ln(x) + y^2", "--at", "x=-1,y=1"),
    ("divergence", "-e", "[x/y, y/x]", "--at", "x=0,y=0")])
def test_where_there_is_no_value_there_are_no_derivatives(arguments: tuple[str, ...]) -> None:
    assert failed(*arguments).startswith("error[E0833]: `f` has no value there")


def test_fields_of_known_values() -> None:
    """Of x y^2 z etc. by hand: div = y^2 z + 2 z + y, curl = (1 - 2 y, x y^2 - 0, 0 - 2 x y z)."""
    at = ["--wrt", "x,y,z", "--at", "x=2,y=3,z=5"]
    field = "[x*y^2*z, 2*y*z, y*z]"
    assert first("divergence", "-e", field, *at)["divergence"] == 9 * 5 + 2 * 5 + 3
    assert first("curl", "-e", field, *at)["curl"] == [5 - 6, 2 * 9, -2 * 2 * 3 * 5]
    assert first("curl", "-e", "[-y^2, x^3]", "--wrt", "x,y", "--at", "x=2,y=3")["curl"] == 18
    assert first("laplacian", "-e", "x^3*y^2 + z^4", *at)["laplacian"] == (
        6 * 2 * 9 + 2 * 8 + 12 * 25)
    assert first("laplacian", "-e", "[x^2, y^3, x*z]", *at)["laplacian"] == [2, 18, 0]


def test_identities() -> None:
    """The curl of a gradient and the divergence of a curl are 0."""
    program = ("f(x, y, z) = exp(x*y)*sin(z) + x*z^3\ninput x = 0.4\ninput y = 1.1\ninput z = 0.7\n"
               "w = f(x, y, z)\ng = grad(w, [x, y, z])\n"
               "field = [g[0], g[1], g[2]]\n")
    status, out, err = in_process(["curl", "-", "--of", "field", "--format", "json"],
                                  program.encode())
    assert status == 0, err
    assert json.loads(out)["results"][0]["curl"] == pytest.approx([0, 0, 0], abs=1e-14)


def test_a_vector_as_the_variable() -> None:
    found = first("divergence", "-e", "[v[0]^2, v[0]*v[1]]", "--at", "v=[3,4]")
    assert found["divergence"] == 9
    assert [t["wrt"] for t in found["terms"]] == ["v[0]", "v[1]"]


# --- implicit -------------------------------------------------------------------------------------


def test_implicit_to_a_high_order() -> None:
    """y = sqrt(25 - x^2)."""
    found = first("implicit", "-e", "x^2 + y^2 - 25", "--wrt", "x", "--dependent", "y", "--at",
                  "x=3,y=4", "--order", "12")["derivatives"]
    with mp.workdps(40):
        want = mp.taylor(lambda x: mp.sqrt(25 - x * x), 3, 12)
    for one, c in zip(found, want[1:], strict=True):
        assert math.isclose(one["derivative"], c * mp.factorial(one["order"]), rel_tol=1e-11)


def test_the_other_variable_may_depend() -> None:
    asked = ["-e", "x^2 + y^2 - 25", "--at", "x=3,y=4"]
    found = first("implicit", *asked, "--wrt", "y", "--dependent", "x")
    assert (found["wrt"], found["derivatives"][0]["derivative"]) == ("y", -4 / 3)
    assert first("implicit", *asked, "--dependent", "y")["wrt"] == "x"
    assert failed("implicit", *asked, "--dependent", "z").startswith("error[E0834]")
    assert failed("implicit", "-e", "x + y + z", "--at", "x=1,y=1,z=-2", "--dependent", "z,y,x"
                  ).startswith("error[E0831]")


def test_implicit_to_order_100() -> None:
    """The circle, as a polynomial and with a sigmoid on the way."""
    asked = ["--wrt", "x", "--dependent", "y", "--at", "x=3,y=4", "--order", "100"]
    with mp.workdps(150):
        want = mp.taylor(lambda x: mp.sqrt(25 - x * x), 3, 100)
    for text in ("x^2 + y^2 - 25", "sigmoid(x^2 + y^2 - 25) - 1/2"):
        found = first("implicit", "-e", text, *asked)["derivatives"]
        for one, c in zip(found, want[1:], strict=True):
            assert math.isclose(one["derivative"], c * mp.factorial(one["order"]), rel_tol=1e-9)


def test_implicit_by_several_variables() -> None:
    """Of the sphere, dz/dx = -x/z and dz/dy = -y/z."""
    found = first("implicit", "-e", "x^2 + y^2 + z^2 - 9", "--dependent", "z", "--at",
                  "x=1,y=2,z=2")
    assert (found["wrt"], found["dependent"]) == (["x", "y"], "z")
    assert [(d["of"], d["wrt"], d["derivative"]) for d in found["derivatives"]] == [
        ("z", "x", -0.5), ("z", "y", -1)]
    assert failed("implicit", "-e", "x + y + z", "--at", "x=1,y=1,z=-2", "--dependent", "z",
                  "--order", "2").startswith("error[E0832]")


def test_systems_of_implicit_functions() -> None:
    """Polar coordinates: dr = (x dx + y dy)/r, dp = (x dy - y dx)/r^2. And u = exp(x) with
    v = x exp(2x) to a higher order.
    """
    polar = ["-e", "[r*cos(p) - x, r*sin(p) - y]", "--dependent", "r,p", "--wrt", "x,y", "--at",
             f"x=3,y=4,r=5,p={math.atan2(4, 3)!r}"]
    found = first("implicit", *polar)
    assert [d["derivative"] for d in found["derivatives"]] == pytest.approx(
        [3 / 5, 4 / 5, -4 / 25, 3 / 25], rel=1e-14)
    assert [(d["of"], d["wrt"]) for d in found["derivatives"]] == [
        ("r", "x"), ("r", "y"), ("p", "x"), ("p", "y")]
    e = math.exp(0.3)
    at = f"x=0.3,u={e!r},v={0.3 * e * e!r}"
    one = first("implicit", "-e", "[log(u) - x, v - x*u^2]", "--dependent", "u,v", "--at", at,
                "--order", "9")["derivatives"]
    for name, f in (("u", mp.exp), ("v", lambda x: x * mp.exp(2 * x))):
        with mp.workdps(40):
            want = mp.taylor(f, 0.3, 9)[1:]
        for d, c in zip([d for d in one if d["of"] == name], want, strict=True):
            assert math.isclose(d["derivative"], c * mp.factorial(d["order"]), rel_tol=1e-11)
    text = "a = log(u) - x\nb = v - x*u^2\n"
    status, out, _ = in_process(["implicit", "-", "--of", "a", "--of", "b", "--dependent", "u,v",
                                 "--at", at, "--format", "json"], text.encode())
    assert status == 0
    (both,) = json.loads(out)["results"]
    assert [d["derivative"] for d in both["derivatives"]] == pytest.approx(
        [e, (1 + 0.6) * e * e], rel=1e-14)
    vector = first("implicit", "-e", "v^2 - [x, 4x]", "--dependent", "v", "--at", "x=1,v=[1,2]",
                   "--order", "2")["derivatives"]
    assert [d["derivative"] for d in vector] == pytest.approx([0.5, -0.25, 1, -0.5])


def test_several_dependent_options_are_all_taken() -> None:
    program = gradcli.loads("[u + v - x, u - v - 2x]")
    found = implicit(Question(program, at={"x": 1.0, "u": 1.5, "v": -0.5}),
                     ["u", "v"])["results"][0]
    assert [d["derivative"] for d in found["derivatives"]] == pytest.approx([1.5, -0.5])
    assert failed("implicit", "-e", "x + y", "--dependent", "y,y", "--at", "x=1,y=-1").startswith(
        "error[E0834]")


def test_a_singular_point_is_told() -> None:
    message = failed("implicit", "-e", "x^3 + y^3 - 3x*y", "--dependent", "y", "--at", "x=0,y=0")
    assert message.startswith("error[E0835]: the point is singular")
    assert "singular matrix" in failed("implicit", "-e", "[u + v - x, 2u + 2v - 2x]", "--dependent",
                                       "u,v", "--at", "x=2,u=1,v=1")
    assert "equation 1 is 1 there" in failed("implicit", "-e", "[u - x, v + x]", "--dependent",
                                             "u,v", "--at", "x=1,u=1,v=0")


# --- newton ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "start", "root"), [
    ("x^2", 1, 0), ("x^3", 1, 0), ("cbrt(x)", 1, 0), ("(x-1)^2", 3, 1), ("(x-2)^5", 9, 2),
    ("sin(x)^2", 1, 0), ("1 - cos(x)", 1, 0), ("x^2*exp(x)", 1, 0), ("x^7", 100, 0)])
def test_roots_of_higher_multiplicity(text: str, start: float, root: float) -> None:
    found = first("newton", "-e", text, "--at", f"x={start}")
    assert found["converged"] is True
    assert abs(found["solution"]["x"] - root) < 2e-8 * start


@pytest.mark.parametrize(("text", "at", "words"), [
    ("x^3", "x=1", "inflection"), ("x^3", "x=0", "order 3"), ("(x-1)^3", "x=2", "inflection"),
    ("x^3 + y^2", "x=1,y=1", "inflection along x"), ("x^5", "x=0", "order 5"),
    ("-x^4", "x=0", "order 4 is negative"), ("x^2 - y^4", "x=0,y=0", "along y is negative"),
    ("x^2 - y^2", "x=0,y=0", "a second derivative is negative")])
def test_what_is_no_minimum(text: str, at: str, words: str) -> None:
    status, out, _ = in_process(["newton", "-e", text, "--minimum", "--at", at, "--format", "json"])
    (found,) = json.loads(out)["results"]
    assert (status, found["converged"]) == (1, False)
    assert words in found["reason"]


@pytest.mark.parametrize(("text", "at", "solution", "words"), [
    ("x^4", "x=1", {"x": 0}, "the one of order 4 decides"),
    ("(x-1)^4", "x=0", {"x": 1}, "the one of order 4 decides"),
    ("x^6", "x=2", {"x": 0}, "the one of order 6 decides"),
    ("x^4-4x^3+6x^2-4x+1", "x=3", {"x": 1}, "the one of order 4 decides"),
    ("x^4 + y^2", "x=1,y=1", {"x": 0, "y": 0}, "does not decide beside it"),
    ("(x-y)^2", "x=1,y=2", {"x": 1.5, "y": 1.5}, "not a single point")])
def test_minima_without_a_second_derivative(text: str, at: str, solution: dict[str, float],
                                            words: str) -> None:
    found = first("newton", "-e", text, "--minimum", "--at", at)
    assert found["converged"] is True
    assert found["solution"] == pytest.approx(solution, abs=1e-6)
    assert words in found["notes"][-1]["message"]


def test_the_number_of_steps_is_said_once() -> None:
    out = in_process(["newton", "-e", "exp(x)", "--at", "x=0", "--format", "table"])[1]
    assert "no root found: no convergence in 50 steps\n" in out


@pytest.mark.parametrize(("text", "at", "options", "words"), [
    ("x^2 + 1", "x=1", [], "derivative is 0"),
    ("exp(x)", "x=0", [], "no convergence in 50 steps"),
    ("exp(x)", "x=0", ["--iterations", "3"], "no convergence in 3 steps"),
    ("x^3 - 2x + 2", "x=0", [], "smallest without a root"),
    ("[x + y, 2x + 2y - 1]", "x=0,y=0", [], "singular"),
    ("1/x", "x=0", [], "not finite"), ("x^3 - 3x", "x=-1", ["--minimum"], "saddle"),
    ("-x", "x=0", ["--minimum"], "second derivatives are all 0"),
    ("x^4 - x^5", "x=3", ["--minimum"], "no convergence")])
def test_failure_is_told(text: str, at: str, options: list[str], words: str) -> None:
    status, out, _ = in_process(["newton", "-e", text, "--at", at, *options, "--format", "json"])
    (found,) = json.loads(out)["results"]
    assert (status, found["converged"]) == (1, False)
    assert words in found["reason"]


def test_systems() -> None:
    found = first("newton", "-e", "[x^2 + y^2 - 4, x*y - 1]", "--at", "x=2,y=0.3")["solution"]
    assert math.isclose(found["x"], math.sqrt(2 + math.sqrt(3)), rel_tol=1e-12)
    assert math.isclose(found["y"], math.sqrt(2 - math.sqrt(3)), rel_tol=1e-12)
    vector = first("newton", "-e", "v^2 - [2, 3]", "--at", "v=[1,1]")["solution"]
    assert list(vector.values()) == pytest.approx([math.sqrt(2), math.sqrt(3)], rel=1e-14)
    assert failed("newton", "-e", "x + y", "--at", "x=1,y=1").startswith("error[E0831]")


def test_rosenbrock() -> None:
    found = first("newton", "-e", "100(y-x^2)^2+(1-x)^2", "--minimum", "--at", "x=-1.2,y=1")
    assert found["solution"] == pytest.approx({"x": 1, "y": 1}, rel=1e-12)
    values = [row["value"] for row in found["iterates"]]
    assert values == sorted(values, reverse=True)


def test_the_start_may_be_the_solution() -> None:
    assert first("newton", "-e", "x^2 - 4", "--at", "x=2")["steps"] == 0
    assert first("newton", "-e", "x^2", "--minimum", "--at", "x=0")["converged"] is True


def test_a_minimum_is_no_maximum() -> None:
    """From beside a maximum the way leads down."""
    found = first("newton", "-e", "cos(x)", "--minimum", "--at", "x=0.1")
    assert math.isclose(found["solution"]["x"], math.pi, rel_tol=1e-8)


# --- propagate ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("formula", "at", "curved"), [
    ("x^2", "x=0", True), ("cos(x)", "x=0", True), ("x*y", "x=0,y=0", True), ("x^3", "x=0", False),
    ("x^2", "x=1", False), ("0*x", "x=1", False), ("where(x > 0, x^2, 3*x^2)", "x=0", True)])
def test_an_uncertainty_that_is_of_second_order_alone_is_told(
        formula: str, at: str, curved: bool) -> None:
    sigma = ",".join(f"{part[0]}=0.1" for part in at.split(","))
    asked = ("propagate", "-e", formula, "--at", at, "--sigma", sigma)
    found = first(*asked)
    assert ["first-order-zero"]*curved == [n["code"] for n in found["notes"]]
    if curved:
        more = first(*asked, "--second-order")
        assert more["second_order"]["sigma"] > 0
        assert "first-order-zero" not in [n["code"] for n in more["notes"]]



def test_shares_and_vectors() -> None:
    found = first("propagate", "-e", "U/I", "--at", "U=12,I=0.4", "--sigma", "U=0.1,I=0.02")
    assert math.isclose(found["sigma"], math.hypot(0.1 / 0.4, 12 * 0.02 / 0.16), rel_tol=1e-14)
    assert [one["wrt"] for one in found["inputs"]] == ["U", "I"]
    mean = first("propagate", "-e", "mean(v)", "--at", "v=[1,2,3,4]", "--sigma", "v=0.2")
    assert math.isclose(mean["sigma"], 0.1)
    assert [one["share"] for one in mean["inputs"]] == pytest.approx([0.25] * 4)
    each = first("propagate", "-e", "sum(v)", "--at", "v=[1,2]", "--sigma", "v=[0.3,0.4]")
    assert math.isclose(each["sigma"], 0.5)


def test_full_correlation() -> None:
    for r, sigma in (("1", 0.3), ("-1", 0.1), ("0", math.sqrt(0.05))):
        found = first("propagate", "-e", "a + b", "--at", "a=1,b=1", "--sigma", "a=0.1,b=0.2",
                      "--correlation", f"a:b={r}")
        assert math.isclose(found["sigma"], sigma)
    zero = first("propagate", "-e", "a - b", "--at", "a=1,b=1", "--sigma", "a=0.1,b=0.1",
                 "--correlation", "a:b=1")
    assert zero["sigma"] == 0
    assert failed("propagate", "-e", "a+b+c", "--at", "a=1,b=1,c=1", "--sigma", "a=1,b=1,c=1",
                  "--correlation", "a:b=0.9,b:c=0.9,a:c=-0.9").startswith("error[E0834]")
    for one in ("a:a=0.5", "a:b=1.5"):
        assert failed("propagate", "-e", "a+b", "--at", "a=1,b=1", "--sigma", "a=1,b=1",
                      "--correlation", one).startswith("error[E0834]: a correlation of `a` with")


def test_second_order() -> None:
    """x^2 with x normal: mean m^2 + s^2, variance 4 m^2 s^2 + 2 s^4, both exact."""
    found = first("propagate", "-e", "x^2", "--at", "x=0.2", "--sigma", "x=0.1", "--second-order")
    second = found["second_order"]
    assert math.isclose(second["mean"], 0.05)
    assert math.isclose(second["sigma"], math.sqrt(4 * 0.04 * 0.01 + 2e-4))
    assert [n["code"] for n in found["notes"]] == ["second-order"]
    product = first("propagate", "-e", "a*b", "--at", "a=2,b=3", "--sigma", "a=0.5,b=0.4",
                    "--correlation", "a:b=0.5", "--second-order")["second_order"]
    # Of a product of normal variables: mean + rho s t; variance (Bohrnstedt and Goldberger 1969).
    assert math.isclose(product["shift"], 0.5 * 0.5 * 0.4)
    assert math.isclose(product["sigma"] ** 2, 4 * 0.16 + 9 * 0.25 + 2 * 6 * 0.1
                        + 0.25 * 0.16 + 0.1 ** 2)


def test_numbers_near_the_ends_of_the_range() -> None:
    """Squares of contributions neither overflow nor vanish."""
    for text, sigma in (("x*1e200", 1e200), ("x*1e-200", 1e-200), ("x*1e200 + y*1e200", 5e200)):
        found = first("propagate", "-e", text, "--at", "x=1,y=1" if "y" in text else "x=1",
                      "--sigma", "x=3,y=4" if "y" in text else "x=1", "--second-order")
        assert math.isclose(found["sigma"], sigma, rel_tol=1e-15)
        assert math.isclose(found["second_order"]["sigma"], sigma, rel_tol=1e-15)
        assert math.isclose(sum([one["share"] for one in found["inputs"]]), 1.0)
    curved = first("propagate", "-e", "x^2*1e200", "--at", "x=1", "--sigma", "x=1",
                   "--second-order")["second_order"]
    assert math.isclose(curved["sigma"], math.sqrt(6) * 1e200, rel_tol=1e-14)
    status, out, err = in_process(["propagate", "-e", "x*y", "--at", "x=1e200,y=1e200", "--sigma",
                                   "x=1e190,y=1e190"])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0833]: the uncertainty of `f`")
    assert "Warning" not in err


@pytest.mark.parametrize(("given", "place"), [
    (["--sigma", "y=0.1"], "--sigma:1:1"), (["--sigma", "x=abc"], "--sigma:1:"),
    (["--sigma", "x=0.1,x=0.2"], "--sigma:1:"),
    (["--sigma", "x=0.1", "--correlation", "x:x=0.5"], "--correlation:1:1")])
def test_the_option_is_named_that_is_wrong(given: list[str], place: str) -> None:
    status, out, err = in_process(["propagate", "-e", "x^2", "--at", "x=1", *given])
    assert (status, out) == (3, "")
    assert f"--> {place}" in err


def test_a_pair_has_one_correlation() -> None:
    assert failed("propagate", "-e", "x*y", "--at", "x=1,y=2", "--sigma", "x=1,y=1",
                  "--correlation", "x:y=0.5,y:x=0.3").startswith("error[E0834]")
    assert "has 1 element and 2 uncertainties" in failed(
        "propagate", "-e", "sum(v)", "--at", "v=[1]", "--sigma", "v=[1,2]")


# --- what others load -----------------------------------------------------------------------------

NEW = ("gradcli.questions.calculus", "gradcli.questions.verify.verify",
       "gradcli.cli.options.calculus",
       "gradcli.cli.commands.answer",
       "gradcli.render.layouts.calculus")


def test_other_commands_load_none_of_this(warm: dict[str, str | None]) -> None:
    """All in one process."""
    _, modules = loaded_by("".join([command(*arguments) for arguments in (
        ("grad", *FORMULA, "--format", "json"), ("jac", *FORMULA),
        ("hess", *FORMULA), ("eval", "-e", "1"), ("ops", "sin"), ("why", *FORMULA),
        ("run", str(ROOT / "samples/training/three_points.txt")),
        ("check", "x^2", "2x"))]), warm)
    assert "gradcli.homework.check" in modules
    assert not [name for name in modules if name.startswith(NEW)]


def test_the_option_loads_what_verifies_and_no_more(
        warm: dict[str, str | None]) -> None:
    _, modules = loaded_by(command("grad", *FORMULA, "--verify"), warm)
    assert "gradcli.questions.verify.verify" in modules
    assert not [name for name in modules if name.startswith(NEW)
                and not name.startswith("gradcli.questions.verify.verify")]


def test_a_command_loads_its_own_part_only(warm: dict[str, str | None]) -> None:
    _, modules = loaded_by(command("tangent", "-e", "x^2", "--at", "x=3"), warm)
    assert "gradcli.questions.calculus.tangents" in modules
    assert not [name for name in modules if name.startswith((
        "gradcli.questions.verify.verify", "gradcli.questions.calculus.newton",
        "gradcli.engine.sweeps.series", "rich"))]


# --- what is no question --------------------------------------------------------------------------

OPTIONS: dict[str, list[list[str]]] = {
    "taylor": [["--order", "3"], ["--order", "2"]],
    "directional": [["--direction", text] for text in (
        "1", "1,2", "x=1", "inf,nan", "'a'", "x='a'", "[1,2]")],
    "implicit": [["--dependent", "y"], ["--dependent", "x", "--order", "3"]],
    "newton": [[], ["--minimum", "--tolerance", "1e-300"]],
    "propagate": [["--sigma", text] for text in (
        "x=0.1", "x=[0.1,0.2]", "x=-1", "x='a'", "x=nan")] + [
            ["--sigma", "x=0.1,y=0.2", "--correlation", "x:y=nan"],
            ["--sigma", "x=0", "--second-order"]],
}
STRANGE = (
    "5", "'a'", "{}", "x > 1", "[x, 'a']", "int(x)", "complex(x, 1)", "nan*x", "x/0",
    "[[x, y], [y, x]]", "zeros(0)*x", "float32(x)", "eigh([[x, 1], [1, 2]])", "{'a': x}",
    "[x, [x, y]]", "exp(1000x)", "print(x)", "none", "f(t)=t^2\nf", "var x = 2\nx.assign(3)\nx^2",
    "tape t:\n    t.watch(x)\n    y=x^2\ny", "input q: int64 = 3\nq", "const c=3\nc^2*x", "x^y^x",
    "log(-1 - x^2)", "grad(x^3, x)", "[x > 1, x]", "where([x, y] > 0, [x, y], 0)")


@pytest.mark.parametrize("name", ROWS)
def test_nothing_is_a_bug(name: str) -> None:
    """Whatever is asked of whatever, there is an answer or an error with a place."""
    for text in STRANGE:
        for extra in OPTIONS.get(name, [[]]):
            for at in (["--at", "x=1.5,y=0.5"], ["--at", "x=[1,2],y=0"], []):
                status, _, err = in_process([name, "-", *extra, *at], text.encode())
                assert status in (0, 1, 3), (text, extra, at, err)
                assert (status == 3) == err.startswith("error[E0"), (text, extra, at, err)
