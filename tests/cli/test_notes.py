"""Notes beside bare numbers: what JSON has inside, the others have on standard error, and -q and
--strict mean the same everywhere.

The reference of every format is the JSON of the same question.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

import numpy as np
import pytest
from conftest import folded
from transcripts import in_process

from gradcli.ops import TABLE

# Formula and point: NaN, infinity, a kink, a tie, a sum, an absorbed zero, None; nothing to say.
QUESTIONS = {
    "nan": ("ln(x)", "x=-1"), "pole": ("1/x", "x=0"), "steep": ("sqrt(x)", "x=0"),
    "spread": ("x*y", "x=nan,y=2"), "kink": ("abs(x)", "x=0"), "tie": ("max(x, y)", "x=1,y=1"),
    "sum": ("[x^2, x^3]", "x=2"), "dead": ("where(x > 0, sqrt(x), 0)", "x=0"),
    "zero": ("relu(x)", "x=-2"), "none": ("floor(x)", "x=1.5"), "fine": ("x^2", "x=3"),
    "overflow": ("exp(x)", "x=800"), "fine, two": ("x*y", "x=1,y=2"),
}
COMMANDS = ("grad", "jac", "hess", "eval", "steps")
FORMATS = ("plain", "csv", "tsv", "json", "ndjson", "table", "markdown", "latex")
BARE = ("plain", "csv", "tsv")


def parts(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for result in answer["results"]
            for part in (result, *result.get("sources", ()), *result.get("blocks", ()))]


def bad(value: Any) -> bool:
    """Whether NaN or infinity is in a number of JSON."""
    return any(map(bad, value)) if isinstance(value, list) else value in (
        "NaN", "Infinity", "-Infinity")


@pytest.mark.parametrize("case", QUESTIONS)
@pytest.mark.parametrize("command", COMMANDS)
def test_bare_numbers_have_their_notes_on_standard_error(command: str, case: str) -> None:
    formula, at = QUESTIONS[case]
    asked = [command, "-e", formula, "--at", at]
    found = parts(json.loads(in_process([*asked, "--format", "json"])[1]))
    said = {note["message"] for part in found for note in part["notes"]}
    causes = {reason["message"] for part in found for reason in part.get("reasons", ())}
    for format in FORMATS:
        status, out, err = in_process([*asked, "--format", format])
        quiet = in_process([*asked, "--format", format, "-q"])
        assert status == quiet[0] == 0
        assert quiet[2] == ""
        if format in BARE:
            assert out == quiet[1], "standard output is data"
            assert bool(err) == bool(said or causes)
            # Of one cause the longer sentence, about the derivative, stands for both.
            assert all(line.removeprefix("note: ").count("note: ") == 0 for line in err.split("\n"))
            assert any(text in err for text in said) or not said
            assert all(text in err for text in causes)
        else:
            assert err == ""


@folded
@pytest.mark.parametrize("case", QUESTIONS)
@pytest.mark.parametrize("command", ["grad", "jac", "hess", "eval", "why"])
def test_strict_fails_on_none_nan_and_infinity(command: str, case: str) -> None:
    formula, at = QUESTIONS[case]
    asked = [command, "-e", formula, "--at", at, "--format", "json"]
    found = parts(json.loads(in_process(asked)[1]))
    wrong = any(part.get("reasons") or any(bad(part.get(field)) for field in (
        "value", "gradient", "jacobian", "hessian")) for part in found)
    status, out, _ = in_process([*asked, "--strict"])
    assert status == wrong
    assert out == in_process(asked)[1]


def test_the_way_shown_is_the_same_at_each_run() -> None:
    """Ids grow from run to run in a process, and with them the order of a set of them changes."""
    asked = ["why", "-e", "[x^2, x^3]", "--at", "x=2", "--format", "json"]
    assert len({in_process(asked)[1] for _ in range(60)}) == 1


def test_strict_by_hand() -> None:
    """The same without JSON between."""
    for command, formula, at, status in (
            ("grad", "ln(x)", "x=-1", 1), ("grad", "ln(x)", "x=2", 0), ("eval", "ln(x)", "x=0", 1),
            ("eval", "abs(x)", "x=0", 0), ("grad", "abs(x)", "x=0", 0),
            ("hess", "abs(x)^1.5", "x=0", 1), ("jac --sparse", "[sqrt(x), x]", "x=0", 1),
            ("jac --sparse", "[sqrt(x), x]", "x=1", 0)):
        assert in_process([*command.split(), "-e", formula, "--at", at, "--strict"])[0] == status


def test_a_slope_where_there_is_no_value_is_told() -> None:
    status, out, err = in_process(["grad", "-e", "ln(x)", "--at", "x=-1"])
    assert (status, out) == (0, "df/dx\t-1\n")
    assert "the gradient looks healthy, but the value is NaN" in err


ROWS = "x\n1\n-1\n0\n-2\n"


@pytest.mark.parametrize("format", ["csv", "tsv", "plain", "ndjson", "json"])
@pytest.mark.parametrize("command", ["grad", "eval"])
def test_rows_that_are_not_finite_are_counted(command: str, format: str) -> None:
    asked = [command, "-e", "ln(x)", "--points", "-", "--points-format", "csv", "--format", format]
    status, out, err = in_process(asked, ROWS.encode())
    assert status == 0
    assert "3 rows have NaN or infinity, first row 1 (counted from 0), where x = -1\n" in err
    assert "`ln` of -1 is not a number" in err
    assert in_process([*asked, "-q"], ROWS.encode()) == (0, out, "")
    assert in_process([*asked, "--strict"], ROWS.encode())[0] == 1
    status, _, err = in_process([*asked, "--strict"], b"x\n1\n2\n")
    assert (status, err) == (0, "")


def test_rows_left_out_are_not_counted_as_nan() -> None:
    asked = ["grad", "-e", "sqrt(x)", "--points", "-", "--points-format", "csv",
             "--on-error", "skip", "--strict"]
    status, _, err = in_process(asked, b"x\n1\noops\n4\n")
    assert status == 0
    assert "NaN" not in err


PRINTS = {
    "var x = -1.0\nprint(ln(x))": "`ln` of -1 is not a number",
    "x = -1\nprint(ln(x))": "`ln` of -1 is not a number",
    "print([1, 0/0])": "NaN is made of plain numbers",
    "var x = 0.0\ntape t:\n    y = sqrt(x)\nprint(t.gradient(y, x))": "has an infinite slope",
    "var x = 0.0\ntape t:\n    y = sqrt(x)\ng = t.gradient(y, x)\nprint(2*g)":
        "has an infinite slope",
    "var x = [1.0, -1.0]\nprint(1, log(x), 2)": "`log` of -1 at element [1]",
}


@pytest.mark.parametrize("format", ["plain", "csv", "tsv", "table"])
@pytest.mark.parametrize("program", PRINTS)
def test_run_speaks_up_beside_a_printed_nan(program: str, format: str) -> None:
    status, out, err = in_process(["run", "-e", program, "--format", format])
    assert status == 0
    assert PRINTS[program] in err
    assert err.count("\n") == 1
    assert in_process(["run", "-e", program, "--format", format, "-q"]) == (0, out, "")


@pytest.mark.parametrize("program", ["print(1, inf)", "var x = 2.0\nprint(ln(x), [x])"])
def test_run_is_silent_beside_numbers(program: str) -> None:
    assert in_process(["run", "-e", program])[2] == ""


def test_a_printed_nan_has_its_note_in_json() -> None:
    _, out, err = in_process(["run", "-e", "var x = -1.0\nprint(ln(x))", "--format", "json"])
    (note,) = json.loads(out)["printed"][0]["values"][0]["notes"]
    assert note["code"] == "nan-domain"
    assert err == ""
    assert math.isnan(float(json.loads(out)["printed"][0]["values"][0]["value"]))


# --- the digits that matter -----------------------------------------------------------------------

def edges() -> list[tuple[str, float]]:
    """Elementwise operations of one number, and numbers barely outside of where they have values:
    found by halving between a number that has one and a number that has none.
    """
    found = []
    for name in sorted(TABLE):
        op = TABLE[name]
        if not op.elementwise or len(op.parameters) != 1 or op.attributes or not op.domain:
            continue
        for inside, outside in itertools.product((0.5, 1.5, 3.0), (-7.3, -0.7, 1.7, 7.3)):
            def has(x: float) -> bool:
                with np.errstate(all="ignore"):
                    y = op(x)   # noqa: B023
                return not (isinstance(y, float) and math.isnan(y))

            if not has(inside) or has(outside):
                continue
            a, b = inside, outside
            for _ in range(200):
                middle = (a + b)/2
                if middle in (a, b):
                    break
                a, b = (middle, b) if has(middle) else (a, middle)
            if abs(b - round(b)) < 1e-9:
                found += [(name, b), *[(name, round(b) + math.copysign(d, outside - inside))
                                       for d in (1e-7, 3e-9, 1.2345e-12)]]
    return sorted({one for one in found if abs(one[1]) > 1e-300})


EDGES = edges()


def test_there_are_edges() -> None:
    assert {"acos", "asin", "acosh", "atanh", "log1p"} <= {name for name, _ in EDGES}


@folded
@pytest.mark.parametrize(("name", "x"), EDGES)
def test_what_a_sentence_says_is_true_of_the_number_that_it_prints(name: str, x: float) -> None:
    _, out, _ = in_process(["eval", "-e", f"{name}(x)", "--at", f"x={x!r}", "--format", "json"])
    (note,) = json.loads(out)["results"][0]["notes"]
    said = re.search(r"` of (\S+) is not a number", note["message"])
    assert said is not None
    with np.errstate(all="ignore"):
        assert math.isnan(TABLE[name](float(said[1])))


@pytest.mark.parametrize(("formula", "at", "words"), [
    ("acos(x)", "x=1.0000001", "`acos` of 1.0000001 is not a number"),
    ("sqrt(x)", "x=-1e-20", "`sqrt` of -1e-20 is not"),
    ("max(x, y)", "x=1,y=1.00000001", "takes 1.00000001 and not 1"),
    ("clip(x, 0, 1)", "x=1.0000001", "cuts 1.0000001 off at 1"),
    ("relu6(x)", "x=6.0000001", "6.0000001"), ("ln(x)", "x=-0.3333333333", "of -0.333333 is"),
])
def test_digits_that_tell_numbers_apart(formula: str, at: str, words: str) -> None:
    wrt = ["--wrt", "x"]
    assert words in in_process(["grad", "-e", formula, "--at", at, *wrt])[2]


def test_errors_and_conditions_tell_numbers_apart() -> None:
    assert "`x` = 1.0000001 is outside its domain [0, 1]" in in_process(
        ["grad", "-e", "input x: float64, domain=[0, 1]\nx^2", "--at", "x=1.0000001"])[2]
    assert "not at 1.0000001" in in_process(["eval", "-e", "sum(bernoulli(3, p=1.0000001))"])[2]
