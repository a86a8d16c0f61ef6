"""Differences in which all digits cancel: never a silent wrong number, never a note without one.

The reference is mpmath at many digits.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import mpmath
import pytest
from asked import answered
from references import COMPLEX_ROWS
from transcripts import in_process

from gradcli.ops import PUBLIC

CODE = "digits-cancelled"
# (formula, the same in mpmath, points)
FORMULAS: list[tuple[str, Any, list[str]]] = [
    ("(sqrt(1+x)-1)/x", lambda x: (mpmath.sqrt(1 + x) - 1)/x, ["1e-20", "1e-12", "0.5", "3"]),
    ("(1-cos(x))/x^2", lambda x: (1 - mpmath.cos(x))/x**2, ["1e-9", "1e-8", "0.5", "2"]),
    ("(x-sin(x))/x^3", lambda x: (x - mpmath.sin(x))/x**3, ["1e-6", "1e-5", "0.5"]),
    ("exp(x^2)*(1-erf(x))", lambda x: mpmath.exp(x**2)*(1 - mpmath.erf(x)), ["10", "8", "0.5"]),
    ("sqrt(1-cos(x))", lambda x: mpmath.sqrt(1 - mpmath.cos(x)), ["1e-9", "0.5"]),
    ("cos(x)-1", lambda x: mpmath.cos(x) - 1, ["1e-9", "1e-5", "1"]),
    ("sin(x)^2+cos(x)^2-1", lambda x: mpmath.mpf(0)*x, ["0.3", "1e-9", "2"]),
    ("sqrt(x^2-4)", lambda x: mpmath.sqrt(x**2 - 4), ["2.000000000001", "3"]),
    ("(exp(x)-1)/x", lambda x: (mpmath.exp(x) - 1)/x, ["1e-13", "0.5"]),
]


def number(value: Any) -> float:
    return float(value)


@pytest.mark.parametrize(("text", "f", "points"), FORMULAS, ids=[text for text, *_ in FORMULAS])
def test_a_derivative_is_right_or_told_to_be_rounding(text: str, f: Any, points: list[str]
                                                      ) -> None:
    for at in points:
        with mpmath.workdps(60):
            right = [float(mpmath.diff(f, mpmath.mpf(float(at)), k, h=mpmath.mpf(10)**-35))
                     for k in (1, 2)]
        _, answer = answered("grad", "-e", text, "--at", f"x={at}")
        source = answer["results"][0]["sources"][0]
        _check(text, at, number(source["gradient"]), right[0], source["notes"])
        _, answer = answered("hess", "-e", text, "--at", f"x={at}")
        block = answer["results"][0]["blocks"][0]
        _check(text, at, number(block["hessian"]), right[1], block["notes"])


@pytest.mark.parametrize(("text", "f", "points"), FORMULAS, ids=[text for text, *_ in FORMULAS])
def test_what_is_printed_is_right_or_told_to_be_rounding(text: str, f: Any, points: list[str]
                                                         ) -> None:
    for at in points:
        with mpmath.workdps(60):
            right = [float(f(mpmath.mpf(float(at)))),
                     float(mpmath.diff(f, mpmath.mpf(float(at)), h=mpmath.mpf(10)**-35))]
        program = f"var x = {at}\ntape t:\n    y = {text}\nprint(y, t.gradient(y, x))\n"
        status, out, _ = in_process(["run", "-", "--format", "json"], program.encode())
        assert status == 0
        items = json.loads(out)["printed"][0]["values"]
        for k, (item, value) in enumerate(zip(items, right, strict=True)):
            off = abs(number(item["value"]) - value)
            told = [note["code"] for note in item["notes"]]
            # Beside an infinite slope the value alone has nothing to be told of its rounding.
            wrong = not off <= 0.1*max(abs(value), 1e-9) and (
                k == 1 or "sqrt(1-cos" not in text)
            assert told == [CODE] if wrong else told in ([], [CODE], ["zero-cancelled"])
        # Who reads text is told as well.
        told = in_process(["run", "-"], program.encode())[2]
        assert ("cancel" in told) == (CODE in out)


def _check(text: str, at: str, found: float, right: float, notes: list[dict[str, Any]]) -> None:
    off = abs(found - right)
    if off > 0.1*max(abs(right), 1e-9) or off != off:
        (note,) = notes
        assert note["code"] == CODE, (text, at, found, right, note)
        assert "is right" not in note["message"]
    elif off <= 1e-6*abs(right):
        assert all(note["code"] != CODE for note in notes), (text, at, found, right, notes)


@pytest.mark.parametrize("name", ["sin", "tan", "tanh", "atan", "sinh", "asin"])
@pytest.mark.parametrize("at", ["1e-7", "1e-6", "1e-5", "0.5"])
def test_a_small_derivative_is_right_or_has_its_note(name: str, at: str) -> None:
    f = getattr(mpmath, name)
    for text, made in ((f"{name}(x)/x", lambda x: f(x)/x), (f"x/{name}(x)", lambda x: x/f(x))):
        with mpmath.workdps(60):
            right = float(mpmath.diff(made, mpmath.mpf(at), h=mpmath.mpf(10)**-35))
        _, answer = answered("grad", "-e", text, "--at", f"x={at}")
        source = answer["results"][0]["sources"][0]
        noted = CODE in [n["code"] for n in source["notes"]]
        assert noted or abs(number(source["gradient"]) - right) <= 1e-6*abs(right), (text, at)
        assert not (noted and at == "0.5")


@pytest.mark.parametrize(("text", "at"), [
    ("sqrt(x^2+y^2-25)", "x=3,y=4"), ("sqrt(x-1)", "x=1"), ("sqrt(x^2-4)", "x=2"),
    ("sqrt(1-exp(x))", "x=0"), ("sqrt(x-0.1)", "x=0.1")])
def test_what_is_0_exactly_has_an_infinite_slope(text: str, at: str) -> None:
    _, answer = answered("grad", "-e", text, "--at", at)
    for source in answer["results"][0]["sources"]:
        assert [note["code"] for note in source["notes"]] == ["nan-infinite-slope"]
        # A rewrite there is of another function, and is said to be.
        assert "is right; for a finite slope, of another function, write" in (
            source["notes"][0]["message"])


def test_one_element_of_several() -> None:
    _, answer = answered("grad", "-e", "sum((1-cos(x))/x^2)", "--at", "x=[1e-9, 1]")
    assert [n["code"] for n in answer["results"][0]["sources"][0]["notes"]] == [CODE]


@pytest.mark.parametrize(("text", "at", "verdict"), [
    ("(sqrt(1+x)-1)/x", "1e-20", "undecided"), ("(1-cos(x))/x^2", "1e-9", "undecided"),
    ("(x-sin(x))/x^3", "1e-6", "undecided"), ("cos(x)-1", "1e-9", "agree"),
    ("(1-cos(x))/x^2", "0.5", "agree")])
def test_verify_does_not_agree_on_rounding(text: str, at: str, verdict: str) -> None:
    _, answer = answered("verify", "-e", text, "--at", f"x={at}")
    assert answer["verdict"] == verdict
    said = [note["code"] for one in answer["results"] for source in one["sources"]
            for note in source["notes"]]
    # Where the methods already differ by rounding it is another reason.
    assert said in ([["undecided-cancelled"], ["undecided-rounding"]] if verdict == "undecided"
                    else [[]])


@pytest.mark.parametrize(("formula", "at", "gradient"), [
    ("xlogy(x, x)", "x=0", "-Infinity"), ("-xlogy(x, x)", "x=0", "Infinity"),
    ("xlogy(x, 2*x)", "x=0", "-Infinity"), ("xlog1py(x, x-1)", "x=0", "-Infinity"),
    ("x^x", "x=0", "-Infinity")])
def test_what_falls_like_x_log_x_has_its_infinite_slope(formula: str, at: str, gradient: str
                                                        ) -> None:
    _, answer = answered("grad", "-e", formula, "--at", at)
    (result,) = answer["results"]
    assert result["value"] == (1 if "^" in formula else 0)
    assert float(result["sources"][0]["gradient"]) == float(gradient)


@pytest.mark.parametrize("formula", ["x*ln(x)", "x*ln(2*x)", "-x*ln(x)", "exp(x*ln(x))", "0^x"])
def test_no_rewrite_has_a_finite_slope_where_it_is_infinite(formula: str) -> None:
    _, answer = answered("grad", "-e", formula, "--at", "x=-1" if formula == "0^x" else "x=0")
    (result,) = answer["results"]
    for note in (*result["notes"], *result["sources"][0]["notes"]):
        for new, old in re.findall("write `([^`]*)` for `([^`]*)`", note["message"]):
            _, mended = answered("grad", "-e", formula.replace(old, new), "--at", "x=0")
            assert not math.isfinite(float(mended["results"][0]["sources"][0]["gradient"]))


def test_a_rule_without_a_derivative_is_no_error() -> None:
    text = "var x = [[1e-9, 2.0], [3.0, 4.0]]\nz = sum((1 - cos(x))*lu(x)[0])\n"
    for command in ("grad", "hess"):
        with_it = in_process([command, "-", "--of", "z"], text.encode())
        without = in_process([command, "-", "--of", "z"], text.replace("1 - ", "2 - ").encode())
        assert with_it[0] == without[0] != 70


def test_complex_numbers_on_the_way_are_no_error() -> None:
    for name in [name for name, op in PUBLIC.items() if len(op.roles) in (1, 2) and (
            op.elementwise or name in COMPLEX_ROWS)]:
        for z in ("complex(1,x)", "complex(x,0.25)"), ("exp(complex(0,x))", "log(complex(x,1))"):
            text = f"abs({name}({', '.join(z[:len(PUBLIC[name].roles)])}))"
            for command in (["eval"], ["grad"], ["hess"], ["tangent"]):
                status, _, err = in_process([*command, "-e", text, "--at", "x=2"])
                assert status != 70, (command, text, err)


def test_operands_in_other_types_are_no_error() -> None:
    status, answer = answered("laplacian", "-e", "batch_norm(x, x, y, x, epsilon=float32(1e-45))",
                           "--at", "x=0.5,y=0.5")
    assert (status, answer["results"][0]["laplacian"]) == (0, 0.0)


def test_digits_of_complex_numbers_cancel_as_well() -> None:
    for text, at in (("real(exp(complex(0,x)) - 1)/x", "1e-9"),
                     ("abs(exp(complex(0,x)))^2 - 1", "2")):
        _, answer = answered("eval", "-e", text, "--at", f"x={at}")
        assert [n["code"] for n in answer["results"][0]["notes"]] == [CODE]


# The derivatives of each command, as (names of fields, order) of its answer.
ANALYSES: list[tuple[list[str], Any]] = [
    (["tangent"], lambda r: [(r["slopes"]["x"], 1)]),
    (["directional", "--direction", "1"], lambda r: [(r["derivative"], 1)]),
    (["propagate", "--sigma", "x=0.1"], lambda r: [(r["inputs"][0]["derivative"], 1)]),
    (["laplacian"], lambda r: [(r["laplacian"], 2)]),
    (["taylor", "--order", "2"], lambda r: [
        (term["derivative"], k) for k, term in enumerate(r["terms"]) if k]),
]


@pytest.mark.parametrize(("command", "derivatives"), ANALYSES, ids=[a[0] for a, _ in ANALYSES])
def test_other_commands_tell_it_as_well(command: list[str], derivatives: Any) -> None:
    for text, f, points in [*FORMULAS, ("sin(x)/x", lambda x: mpmath.sin(x)/x, ["1e-8", "0.5"])]:
        for at in points:
            status, out, _ = in_process(
                [*command, "-e", text, "--at", f"x={at}", "--format", "json"], b"")
            if status:
                continue  # no derivative there
            (result,) = json.loads(out)["results"]
            told = [n["message"] for n in result["notes"] if n["code"] == CODE
                    and n["message"].startswith("derivative of f")]
            for found, k in derivatives(result):
                with mpmath.workdps(60):
                    right = float(mpmath.diff(
                        f, mpmath.mpf(float(at)), k, h=mpmath.mpf(10)**-35))
                by = "by x and x:" if k == 2 else "by x:"
                if abs(found - right) > 0.1*max(abs(right), 1e-9):
                    assert any(by in message for message in told), (text, at, k)
                elif abs(found - right) <= 1e-12*abs(right):
                    assert not any(by in message for message in told), (text, at, k)
