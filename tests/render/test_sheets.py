"""How the answers of calculus look: the same facts in every format, names that scripts can rely on,
and tables that a terminal has room for.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from typing import Any

import pytest
from asked import ok
from rich.cells import cell_len
from terminals import on_terminal
from transcripts import in_process

from gradcli.cli.options.calculus import ROWS
from gradcli.render import latex
from gradcli.render.terminal import broken

ASKED: dict[str, list[str]] = {
    "verify": ["verify", "-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"],
    "verify-vectors": ["verify", "-e", "v^2", "--at", "v=[1,2,3,4,5]"],
    "verify-many": ["verify", "-e", "sum(sin(v))", "--at", "v=linspace(0,3,200)"],
    "verify-wrong": ["verify", "samples/calculus/wrong.txt"],
    "taylor": ["taylor", "-e", "sin(x)*exp(x)", "--at", "x=0.123456789", "--order", "5"],
    "taylor-two": ["taylor", "-e", "exp(x*y)", "--at", "x=0.5,y=0.25", "--order", "3"],
    "tangent-line": ["tangent", "-e", "x^2", "--at", "x=3"],
    "tangent-flat": ["tangent", "-e", "x^2", "--at", "x=0"],
    "tangent-plane": ["tangent", "-e", "x^2*y", "--at", "x=1.23456789,y=-2"],
    "tangent-curve": ["tangent", "-e", "[cos(t), sin(t), t]", "--at", "t=1.23456"],
    "tangent-still": ["tangent", "-e", "[t^2, t^3]", "--at", "t=0"],
    "tangent-surface": ["tangent", "-e", "[u*cos(v), u*sin(v), v]", "--at", "u=1,v=0.5"],
    "directional": ["directional", "-e", "x^2*y", "--at", "x=1,y=2", "--direction", "3,4"],
    "divergence": ["divergence", "-e", "[x*y, y*z, z*x]", "--at", "x=1.234567,y=2,z=3"],
    "curl": ["curl", "-e", "[-y, x, z]", "--wrt", "x,y,z", "--at", "x=1,y=2,z=3"],
    "curl-plane": ["curl", "-e", "[-y, x]", "--wrt", "x,y", "--at", "x=1,y=2"],
    "laplacian": ["laplacian", "-e", "log(x^2 + 2y^2)", "--at", "x=1,y=2"],
    "laplacian-vector": ["laplacian", "-e", "[x^2*y, y^3]", "--at", "x=1,y=2"],
    "implicit": ["implicit", "-e", "x^2 + y^2 - 25", "--wrt", "x", "--dependent", "y", "--at",
                 "x=3,y=4", "--order", "4"],
    "newton": ["newton", "-e", "x^2 - 2", "--at", "x=1"],
    "newton-failed": ["newton", "-e", "x^2 + 1", "--at", "x=1"],
    "newton-large": ["newton", "-e", "x^3 - 1e9", "--at", "x=1e5"],
    "newton-slow": ["newton", "-e", "exp(x)", "--at", "x=0"],
    "newton-system": ["newton", "-e", "[x^2+y^2+z^2-4, x-y, z-x*y]", "--at", "x=1,y=2,z=0.3"],
    "newton-minimum": ["newton", "-e", "100(y-x^2)^2+(1-x)^2", "--minimum", "--at", "x=-1.2,y=1"],
    "propagate": ["propagate", "-e", "a*b", "--at", "a=2,b=3", "--sigma", "a=0.1,b=0.2",
                  "--correlation", "a:b=0.5", "--second-order"],
    "propagate-names": [
        "propagate", "-e", "a_name_that_is_long*another_name_that_is_longer", "--at",
        "a_name_that_is_long=2.123456,another_name_that_is_longer=3.3e-10", "--sigma",
        "a_name_that_is_long=0.1"],
}
for row in ROWS:    # a command that is not above is asked its own example
    if all(asked[0] != row.name for asked in ASKED.values()):
        ASKED[row.name] = shlex.split(next(e for e in row.examples if " -e " in e))[1:]
every = pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
SHAKY = ["propagate", "-e", "x^2", "--at", "x=0.2", "--sigma", "x=0.1", "--second-order"]


def out(arguments: list[str], *more: str) -> str:
    status, text, _ = in_process([*arguments, *more])
    assert status in (0, 1)
    return text


def results(arguments: list[str]) -> Any:
    return json.loads(out(arguments, "--format", "json"))["results"]


def rows(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def plain(text: str) -> dict[str, str]:
    """Name to value; every line has just these, and no name stands twice."""
    lines = [line.split("\t") for line in text.splitlines()]
    assert {len(line) for line in lines} == {2}
    assert len({name for name, _ in lines}) == len(lines)
    return dict(lines)


def numbers_in(value: Any) -> list[float]:
    """All numbers of an answer; -0 is 0, which nobody tells apart in text."""
    if isinstance(value, dict):
        return [n for key, one in value.items() if key != "notes" for n in numbers_in(one)]
    if isinstance(value, list):
        return [n for one in value for n in numbers_in(one)]
    return [value + 0.0] if isinstance(value, float) else []


# --- CSV ------------------------------------------------------------------------------------------


@every
def test_every_number_stands_in_the_table(asked: list[str]) -> None:
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        found = rows(out(asked, "--format", format), delimiter)
        assert list(found[0])[:3] == ["of", "quantity", "value"]
        cells = [cell for row in found for cell in row.values()]
        assert None not in cells, "a row has fewer cells than the head"
        known = set()
        for cell in cells:
            try:
                known.add(float(cell))
            except ValueError:
                continue
        for number in numbers_in(results(asked)):
            assert number in known, number


def test_facts_and_iterates_of_newton() -> None:
    found = rows(ok(*ASKED["newton"], "--format", "csv"))
    facts = {row["quantity"]: row["value"] for row in found if row["quantity"] != "iterates"}
    assert facts["converged"] == "true"
    assert float(facts["solution.x"]) == pytest.approx(2 ** 0.5)
    (answer,) = results(ASKED["newton"])
    assert facts["reason"] == answer["reason"]
    way = [row for row in found if row["quantity"] == "iterates"]
    assert [float(row["at.x"]) for row in way] == [i["at"]["x"] for i in answer["iterates"]]
    assert [float(row["value"]) for row in way] == [i["value"] for i in answer["iterates"]]
    assert way[0]["length"] == ""


def test_facts_of_the_others() -> None:
    def fact(case: str, quantity: str) -> str:
        (found,) = [row["value"] for row in rows(out(ASKED[case], "--format", "csv"))
                    if row["quantity"] == quantity]
        return found

    assert fact("directional", "derivative") == "16"
    assert fact("directional", "per_length") == "3.2"
    assert fact("directional", "gradient.x") == "4"
    assert fact("curl-plane", "curl") == "2"
    assert fact("curl", "curl[2]") == "2"
    assert fact("tangent-line", "tangent") == "6*x - 9"
    assert fact("tangent-line", "intercept") == "-9"
    assert fact("tangent-line", "normal.intercept") == "9.5"
    assert float(fact("tangent-curve", "length")) == pytest.approx(2 ** 0.5)
    assert fact("implicit", "partials.y") == "8"
    assert float(fact("propagate", "second_order.shift")) == pytest.approx(0.5 * 0.1 * 0.2)
    (pair,) = [row for row in rows(ok(*ASKED["propagate"], "--format", "csv"))
               if row["quantity"] == "correlations"]
    assert (pair["first"], pair["second"], pair["correlation"]) == ("a", "b", "0.5")


def test_powers_are_numbers_in_every_row() -> None:
    found = [row for row in rows(ok(*ASKED["taylor-two"], "--format", "csv"))
             if row["quantity"] == "terms"]
    assert {(int(row["powers.x"]), int(row["powers.y"])) for row in found} == {
        (i, j) for i in range(4) for j in range(4 - i)}


def test_tables_of_several_targets_are_one() -> None:
    text = ok("tangent", "-e", "a = x^2; b = [x, x^3]", "--of", "a", "--of", "b", "--at", "x=2",
              "--format", "csv")
    assert {row["of"] for row in rows(text)} == {"a", "b"}
    assert text.count("quantity") == 1


def test_formulas_cannot_run_in_a_spreadsheet() -> None:
    text = ok("tangent", "-e", "-x^2", "--at", "x=3", "--format", "csv")
    assert "f,tangent,'-6*x + 9" in text


# --- plain ----------------------------------------------------------------------------------------


@every
def test_plain_is_a_name_and_a_value(asked: list[str]) -> None:
    said = plain(out(asked))
    (answer,) = results(asked)
    if asked[0] == "study":     # of a whole curve, no point
        assert said["domain"] == answer["domain_text"]
        return
    if asked[0] == "limit":
        assert float(said["limit"]) == answer["value"]
        return
    value = answer["found"] if asked[0] == "newton" else answer["value"]
    if isinstance(value, list):
        assert [float(said[f"{answer['of']}[{k}]"]) for k in range(len(value))] == value
    else:
        assert float(said[answer["of"]]) == value


def test_plain_names() -> None:
    said = plain(ok(*ASKED["propagate"]))
    assert (said["df/da"], said["sigma(a)"], said["correlation(a,b)"]) == ("3", "0.1", "0.5")
    assert {"sigma(f)", "relative(f)", "share(b)", "contribution(b)",
            "second_order_mean(f)"} <= set(said)
    said = plain(ok(*ASKED["tangent-line"]))
    assert (said["tangent(f)"], said["df/dx"], said["intercept(f)"]) == ("6*x - 9", "6", "-9")
    said = plain(ok(*ASKED["taylor-two"]))
    assert {"d3f/dx2dy", "df/dx", "coefficient((x - 0.5)^2*(y - 0.25))",
            "coefficient(x - 0.5)"} <= set(said)


@pytest.mark.parametrize("arguments", [
    ["propagate", "--at", "x=1,y=2", "--sigma", "x=0.1,y=0.2"],
    ["taylor", "--at", "x=1,y=2"], ["tangent", "--at", "x=1,y=2"],
    ["directional", "--at", "x=1,y=2", "--direction", "3,4"], ["laplacian", "--at", "x=1,y=2"],
    ["newton", "--minimum", "--at", "x=1,y=2"], ["verify", "--at", "x=1,y=2"]],
    ids=lambda arguments: arguments[0])
def test_names_of_several_targets_tell_them_apart(arguments: list[str]) -> None:
    formula = ["-e", "a = x^2 + y^2; b = x^2*y^2 + x^4", "--of", "a", "--of", "b"]
    said = plain(out([*arguments, *formula]))
    for target in ("a", "b"):
        assert target in said
    one = plain(out([*arguments, "-e", "a = x^2 + y^2"]))
    assert all(name in said or f"a.{name}" in said for name in one)


def test_targets_together_have_brackets() -> None:
    said = plain(out([
        "newton", "-e", "p = x + y - 1; q = x - y", "--of", "p,q", "--at", "x=0,y=1"]))
    assert (said["(p,q)[0]"], said["x"]) == ("0", "0.5")


# --- verdicts, notes, small things ----------------------------------------------------------------


@pytest.mark.parametrize("format", ["table", "plain", "csv", "tsv", "markdown", "latex", "json"])
def test_every_format_tells_a_failure(format: str) -> None:
    status, text, _ = in_process([*ASKED["newton-failed"], "--format", format])
    assert status == 1
    assert "the derivative is 0 there" in text
    shown = [line for line in text.splitlines() if not line.startswith("%")]
    told = {"plain": "converged\tfalse", "csv": "converged,false", "tsv": "converged\tfalse",
            "json": '"converged": false'}.get(format, "no root found after 1 step")
    assert told in "\n".join(shown)


def test_a_wrong_gradient_is_told_in_markdown_and_latex() -> None:
    for format in ("markdown", "latex"):
        assert "derivatives differ" in out(ASKED["verify-wrong"], "--format", format)


@pytest.mark.parametrize("format", ["plain", "csv", "tsv"])
def test_notes_go_where_messages_go(format: str) -> None:
    status, text, err = in_process([*SHAKY, "--format", format])
    assert (status, err.startswith("note: the second order"), "enough" in text) == (0, True, False)
    assert in_process([*SHAKY, "--format", format, "-q"]) == (0, text, "")


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "json"])
def test_notes_have_room_in_the_others(format: str) -> None:
    status, text, err = in_process([*SHAKY, "--format", format])
    assert (status, "is not enough" in text, err) == (0, True, "")


def test_nobody_asked_for_the_sign_of_zero() -> None:
    asked = ["propagate", "-e", "-x*y", "--at", "x=0,y=2", "--sigma", "y=0.1"]
    for format in ("table", "plain", "csv", "markdown", "latex"):
        assert not re.search(r"-0(?![.\d])", out(asked, "--format", format))


def test_inputs_that_stand_still_are_named() -> None:
    asked = ["tangent", "-e", "x*y", "--at", "x=1,y=2", "--wrt", "y"]
    assert out(asked, "--format", "table").startswith("f = 2 at y = 2 with x = 1\n")
    assert out(asked[:-2], "--format", "table").startswith("f = 2 at x = 1, y = 2\n")


# --- digits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_digits_for_people(format: str) -> None:
    asked = ["propagate", "-e", "U/I", "--at", "U=12,I=0.7", "--sigma", "U=0.1,I=0.02"]
    exact = repr(results(asked)[0]["sigma"])
    assert exact in out(asked, "--format", format)
    text = out(asked, "--format", format, "--digits", "3")
    assert exact not in text
    assert f"{float(exact):.3g}" in text
    for format in ("json", "plain", "csv"):
        assert exact in out(asked, "--format", format, "--digits", "3")


def test_a_polynomial_keeps_its_centre() -> None:
    """Where it holds is not rounded, its coefficients are."""
    for format, centre in (("table", "(x - 0.123456789)^2"), ("markdown", "(x - 0.123456789)^2"),
                           ("latex", r"\left(x - 0.123456789\right)^{2}")):
        text = out(ASKED["taylor"], "--format", format, "--digits", "3")
        assert centre in text
        assert re.search(r"\b1\.26\b", text)
        assert "1.262" not in text


# --- LaTeX ----------------------------------------------------------------------------------------


@every
def test_mathematics_is_mathematics(asked: list[str]) -> None:
    text = out(asked, "--format", "latex")
    shown = "\n".join([line for line in text.splitlines() if not line.startswith("%")])
    assert "textasciicircum" not in shown
    assert not re.search(r"\bd\d?\w+/d\w", shown)
    assert shown.count(r"\begin") == shown.count(r"\end") > 0
    assert shown.count("$") % 2 == 0
    depth = 0
    for character in re.sub(r"\\[{}]", "", shown):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0


def test_derivatives_in_latex() -> None:
    assert r"$\frac{d^{2}y}{dx^{2}}$" in out(ASKED["implicit"], "--format", "latex")
    assert r"\frac{\partial f}{\partial x} &= 6" in out(ASKED["implicit"], "--format", "latex")
    assert r"\frac{\partial^{2} f}{\partial x^{2}}" in out(ASKED["laplacian"], "--format", "latex")
    assert r"\frac{\partial f_{0}}{\partial x}" in out(ASKED["divergence"], "--format", "latex")
    assert latex.element("v[0,1]") == "v_{0,1}"
    assert latex.element("alpha_1") == r"\alpha_{1}"
    assert latex.element("a,b") == r"\text{a,b}"
    assert latex.derivative("f", {"x": 1, "y": 2}) == (
        r"\frac{\partial^{3} f}{\partial x \partial y^{2}}")


# --- tables ---------------------------------------------------------------------------------------


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@every
@pytest.mark.parametrize("columns", [80, 40])
def test_tables_fit_and_end_where_their_text_ends(asked: list[str], columns: int) -> None:
    _, text, _ = on_terminal(asked, COLUMNS=str(columns))
    for line in bare(text).splitlines():
        assert cell_len(line) <= columns, line
        assert line == line.rstrip()


@every
def test_narrow_tables_have_every_number(asked: list[str]) -> None:
    """What does not fit beside goes below: nothing is left out."""
    _, wide, _ = on_terminal(asked, COLUMNS="200", NO_COLOR="1")
    _, narrow, _ = on_terminal(asked, COLUMNS="40", NO_COLOR="1")
    for number in re.findall(r"(?<![\w.])-?\d+\.\d+(?:e[+-]\d+)?(?![\w.)])", wide):
        assert number in narrow


def test_formulas_break_between_terms() -> None:
    text = "1.5 + 2*(x - 0.5) - 3*(x - 0.5)^2*(y + 1) + x[0] - 1e-05*x"
    for width in (1, 12, 20, 30, 200):
        lines = broken(text, width)
        assert " ".join(lines) == text
        assert all(line.count("(") == line.count(")") for line in lines)
        assert all(len(line) <= width for line in lines if " " in line[2:].split("(")[0])
    assert broken(text, 200) == [text]
    assert broken("-x", 1) == ["-x"]


def test_a_long_way_is_shown_by_its_ends() -> None:
    asked = ASKED["newton-slow"]
    _, text, _ = on_terminal(asked, COLUMNS="80", NO_COLOR="1")
    steps = re.findall(r"^(\d+|\.\.\.)(?:  |$)", text, re.MULTILINE)
    assert steps == ["0", "1", "2", "3", "4", "5", "...", "47", "48", "49", "50"]
    assert "51 rows, the first 6 and the last 4 shown; -v shows all" in text
    _, text, _ = on_terminal([*asked, "-v"], COLUMNS="80", NO_COLOR="1")
    assert re.findall(r"^(\d+|\.\.\.)(?:  |$)", text, re.MULTILINE) == [str(k) for k in range(51)]
    assert len(results(asked)[0]["iterates"]) == 51
    piped = out(asked, "--format", "table")
    assert re.findall(r"^(\d+|\.\.\.)(?:  |$)", piped, re.MULTILINE) == [str(k) for k in range(51)]


def test_large_and_small_numbers_in_one_column_are_no_wider_than_they_are() -> None:
    _, text, _ = on_terminal(["newton", "-e", "x^3 - 1e27", "--at", "x=1"], COLUMNS="80",
                             NO_COLOR="1")
    rule = max(text.splitlines(), key=lambda line: line.count("\u2500"))
    assert len(rule) <= 70


def test_directions_have_short_names_and_one_sentence() -> None:
    _, text, _ = on_terminal(ASKED["verify-many"], COLUMNS="80", NO_COLOR="1")
    assert re.findall(r"^df/dv\*r\d", text, re.MULTILINE) == [f"df/dv*r{k}" for k in range(1, 9)]
    assert text.count("random direction") == 1


def test_arrays_of_many_elements_are_their_shape() -> None:
    asked = ["laplacian", "-e", "v^2", "--at", "v=linspace(0,1,70)"]
    _, text, _ = on_terminal(asked, COLUMNS="80", NO_COLOR="1")
    assert text.startswith("f = (vector of 70) at v[0] = 0")
    assert len(text.splitlines()) < 120
    assert "4,900 rows, the first 40 and the last 10 shown" in text
