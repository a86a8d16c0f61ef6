"""None, 0 and a 0 that was asked for, told apart: which note, where, and what it says.

Codes, places and numbers were derived by hand: the slope of each operation at the point, and where
a cotangent that is not 0 becomes 0, nearest to the target.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from conftest import folded
from folders import ROOT
from transcripts import in_process

import gradcli
from gradcli import ops
from gradcli.python.program import loads
from gradcli.questions import Question, grad, hess, jac
from gradcli.questions.running import run

# Code, line, column, words that the note has.
Told = tuple[str, int, int, str]


def ask(text: str, wrt: str, command: Any = grad, **options: Any) -> dict[str, Any]:
    program = loads(text)
    found: dict[str, Any] = command(Question(program, wrt=wrt.split(","), **options))["results"][0]
    return found


def told(notes: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(n["code"], n["line"], n["column"]) for n in notes]


def check(notes: list[dict[str, Any]], expected: list[Told]) -> None:
    assert told(notes) == [one[:3] for one in expected]
    for note, (*_, words) in zip(notes, expected, strict=True):
        assert words in note["message"], note["message"]


# --- scalars ------------------------------------------------------------------------------------

FLAT: list[tuple[str, list[Told]]] = [
    ("sign(x)", [("zero-flat", 1, 1, "`sign` is flat: its slope is 0 everywhere")]),
    ("3 + 2*sign(x^2)", [("zero-flat", 1, 7, "`sign` is flat")]),
    ("copysign(2, x)", [("zero-flat", 1, 1, "`copysign` is flat")]),
    ("x^0", [("zero-flat", 1, 1, "`x^0` is 1 whatever the base")]),
]
DEAD: list[tuple[str, list[Told]]] = [
    ("relu(x - 4.1)", [
        ("zero-dead", 1, 1, "relu(-2.1) is off: its slope is 0 for every x below 0")]),
    ("relu6(x + 5)", [("zero-dead", 1, 1, "relu6(7) is at its bound 6")]),
    ("relu6(-x)", [("zero-dead", 1, 1, "relu6(-2) is off")]),
    ("1 + clip(4x, 0, 5)", [
        ("zero-dead", 1, 5, "`clip` cuts 8 off at 5: its slope is 0 above that bound")]),
    ("clip(-x, 0, 5)", [
        ("zero-dead", 1, 1, "`clip` cuts -2 off at 0: its slope is 0 below that bound")]),
    ("clip(3, x, 5)", [("zero-dead", 1, 1, "no use for its bound 2: 3 is not below it")]),
    ("clip(1, 0, x)", [("zero-dead", 1, 1, "no use for its bound 2: 1 is not above it")]),
    ("max(x, 9)", [("zero-dead", 1, 1, "`max` takes 9 and not 2: the smaller one has slope 0")]),
    ("min(x^2, 1)", [("zero-dead", 1, 1, "`min` takes 1 and not 4: the larger one has slope 0")]),
    ("max([x, 5, 3])", [("zero-dead", 1, 1, "does not take 2 in element [0]: it is not the")]),
    ("where(x > 3, x^2, 1)", [
        ("zero-dead", 1, 1, "`where` takes the other value: the condition is false there")]),
    ("where(x > 1, 1, x^2)", [("zero-dead", 1, 1, "the condition is true there")]),
    ("0*x", [("zero-dead", 1, 1, "a factor in `0*x` is exactly 0")]),
    ("k = 0.0\nk*sin(x)", [("zero-dead", 2, 1, "the factor `k` in `k*sin(x)` is exactly 0")]),
    ("var k = 0.0\nk*sin(x)", [("zero-dead", 2, 1, "the factor `k` in `k*sin(x)` is exactly 0")]),
    ("0/x", [("zero-dead", 1, 1, "the numerator in `0/x` is exactly 0")]),
    ("1^x", [("zero-dead", 1, 1, "`1^x` is 1 for every exponent")]),
    ("0^x", [("zero-dead", 1, 1, "`0^x` is 0 for every exponent above 0")]),
    ("1 % x", [("zero-dead", 1, 1, "does not move with its divisor 2, which is the larger one")]),
    ("tanh(400x)", [("zero-dead", 1, 1, "tanh(800) is saturated")]),
    ("5*sigmoid(400x)", [("zero-dead", 1, 3, "sigmoid(800) is saturated")]),
    ("exp(-400x)", [("zero-dead", 1, 1, "exp(-800) is saturated")]),
    ("erf(20x)", [("zero-dead", 1, 1, "erf(40) is saturated")]),
    ("sech(400x)", [("zero-dead", 1, 1, "sech(800) is saturated")]),
    ("1e-110/(x*1e200)", [("zero-dead", 1, 1, "`1e-110/(x*1e200)` is saturated at 2e+200")]),
    ("1e-200*(1e-200*x)", [("zero-dead", 1, 9, "multiply to less than a float holds")]),
    ("hard_sigmoid(x + 3)", [("zero-dead", 1, 1, "hard_sigmoid(5) is flat")]),
    ("w = stack([x, 7])\nw[1]^2", [("zero-dead", 2, 1, "`w[1]` does not use element [0]")]),
    ("median([x, 7, 9])", [("zero-dead", 1, 1, "`median([x, 7, 9])` does not use element [0]")]),
    ("relu(-x)^2 + 1", [("zero-dead", 1, 1, "relu(-2) is off")]),
    ("cummax([3, x])[1]", [("zero-dead", 1, 1, "it is not the largest so far")]),
    ("segment_max([x, 4], [0, 0])[0]", [("zero-dead", 1, 1, "not the largest of its segment")]),
    ("def f(t):\n    return 3*relu(t)\nf(-x)", [("zero-dead", 2, 14, "relu(-2) is off")]),
    ("f(t) = relu(t)\nf(-x)^2 + 1", [("zero-dead", 1, 8, "relu(-2) is off")]),
]
CANCELLED: list[tuple[str, list[Told]]] = [
    ("x - x", [("zero-cancelled", 1, 1, "cancel: 1 and -1, both through `x - x`")]),
    ("x/x", [("zero-cancelled", 1, 1, "cancel: 0.5 and -0.5, both through `x/x`")]),
    ("a = 3x\nb = 3x\na - b", [
        ("zero-cancelled", 2, 5, "-3 through `3x` (line 2, column 5) and 3 through `3x`")]),
    ("sin(x) - sin(x) + 5", [("zero-cancelled", 1, 10, "0.416147 through `sin(x)` (line 1")]),
    ("sum(x*[1, -1])", [("zero-cancelled", 1, 5, "cancel: 1 and -1, both through `x*[1, -1]`")]),
    ("4x - x - x - 2x", [("zero-cancelled", 1, 14, "-2 through `2x`")]),
]
# Smooth slopes that vanish at the point; what a note on a kink says already.
SILENT = ["(x - 2)^2", "(x - 2)*(x - 2)", "cos(x - 2)", "cosh(x - 2)", "hypot(x - 2, 3)",
          "sech(x - 2)", "abs(x - 2)", "relu(x - 2)", "max(2, x)", "clip(x - 2, -1, 1)^2"]


@folded
@pytest.mark.parametrize(("text", "expected"), [*FLAT, *DEAD, *CANCELLED])
def test_a_zero_of_a_scalar(text: str, expected: list[Told]) -> None:
    found = ask(text, "x", at={"x": 2.0})["sources"][0]
    assert found["gradient"] == 0.0
    assert found["reasons"] == []
    check(found["notes"], expected)


@pytest.mark.parametrize("text", SILENT)
def test_a_slope_that_vanishes_at_the_point_needs_no_word(text: str) -> None:
    found = ask(text, "x", at={"x": 2.0})["sources"][0]
    assert found["gradient"] == 0.0
    assert not [n for n in found["notes"] if n["code"].startswith("zero")]


def test_of_several_causes_the_one_nearest_to_the_target_comes_first() -> None:
    found = ask("a = relu(-x)\nb = clip(x, 0, 1)\na + b", "x", at={"x": 3.0})["sources"][0]
    check(found["notes"], [("zero-dead", 2, 5, "cuts 3 off at 1"),
                           ("zero-dead", 1, 5, "relu(-3) is off")])
    # What is dead twice is dead where it is dead last.
    found = ask("0*relu(-x)", "x", at={"x": 3.0})["sources"][0]
    check(found["notes"], [("zero-dead", 1, 1, "a factor")])


def test_a_loop_has_one_note_for_its_place() -> None:
    text = "y = 0\nfor i in range(2000):\n    y = y + relu(x - i)\ny"
    found = ask(text, "x", at={"x": -1.0})["sources"][0]
    check(found["notes"], [("zero-dead", 3, 13, "relu(-2000) is off")])


def test_a_long_way_is_followed_to_its_end() -> None:
    text = "y = x\nfor i in range(30000):\n    y = y*1.00001\nrelu(-y)"
    check(ask(text, "x", at={"x": 1.0})["sources"][0]["notes"],
          [("zero-dead", 4, 1, "relu(-1.34986) is off")])


def test_at_most_three_causes_are_told() -> None:
    text = "\n".join([f"a{k} = relu(x - {k})" for k in range(6)]) + "\na0 + a1 + a2 + a3 + a4 + a5"
    found = ask(text, "x", at={"x": -1.0})["sources"][0]
    assert told(found["notes"]) == [("zero-dead", 6, 6), ("zero-dead", 5, 6), ("zero-dead", 4, 6)]


def test_an_output_gradient_of_zero() -> None:
    found = ask("x^2", "x", at={"x": 2.0}, output_gradient=0.0)["sources"][0]
    assert [(n["code"], n["message"]) for n in found["notes"]] == [
        ("zero-dead", "the output gradient is exactly 0")]


def test_a_rule_of_the_file_that_gives_zero() -> None:
    text = ("@custom_gradient\ndef f(t):\n    def grad(g):\n        return 0*g\n"
            "    return t^2\n2*f(x)")
    found = ask(text, "x", at={"x": 2.0})["sources"][0]
    check(found["notes"], [("zero-dead", 6, 3, "the gradient rule of `f` gives 0 here")])


# --- arrays -------------------------------------------------------------------------------------

ARRAYS: list[tuple[str, dict[str, Any], list[Told]]] = [
    ("sum(relu(v))", {"v": [-1.0, -2.0, -0.5]}, [
        ("zero-dead", 1, 5, "`relu` is off in 3 of 3 elements (-1 in element [0])")]),
    ("3*relu(v)", {"v": [[-1.0], [-2.0]]}, [
        ("zero-dead", 1, 3, "`relu` is off in 2 of 2 elements (-1 in element [0, 0])")]),
    # Each element has its own cause.
    ("sum(relu(v)*where(v > 0, 0, 1))", {"v": [-1.0, 2.0]}, [
        ("zero-dead", 1, 5, "is exactly 0 in element [1]"),
        ("zero-dead", 1, 5, "")]),
    ("sum(max(v, 5))", {"v": [1.0, 2.0]}, [
        ("zero-dead", 1, 5, "takes 5 and not 1 in element [0]: the smaller one has slope 0 (in 2"
         " of 2 elements)")]),
    ("sum(0*v)", {"v": [1.0, 2.0]}, [("zero-dead", 1, 5, "a factor in `0*v` is exactly 0")]),
    ("sum(v*[0, 0])", {"v": [1.0, 2.0]}, [("zero-dead", 1, 5, "exactly 0 in element [0]")]),
    ("sum(matmul([[0, 0], [0, 0]], v))", {"v": [[1.0], [2.0]]}, [
        ("zero-dead", 1, 5, "all that element [0, 0] is multiplied with")]),
    ("sum(v - mean(v))", {"v": [1.0, 2.0, 3.0, 4.0]}, [
        ("zero-cancelled", 1, 5, "in element [0] cancel: 1 through `v - mean(v)`")]),
    ("sum(softmax(v))", {"v": [1.0, 1.0]}, [
        ("zero-cancelled", 1, 5, "cancel: 0.5 and -0.5, both through `softmax(v)`")]),
    ("sum(clip(v, 0, 1))", {"v": [2.0, -3.0]}, [
        ("zero-dead", 1, 5, "cuts 2 off at 1 in element [0]")]),
    ("sum(v^2)", {"v": [0.0, 0.0]}, []), ("prod(v)", {"v": [0.0, 0.0, 3.0]}, []),
    ("sum(relu(v)^2)", {"v": [-1.0, -2.0]}, [("zero-dead", 1, 5, "`relu` is off in 2 of 2")]),
    ("norm(v)", {"v": [0.0, 0.0]}, [("kink", 1, 1, "`norm` is at a kink; slope 0 at 0")]),
    # One use does not count, another one does, and its slope vanishes just at this point.
    ("cumprod(v)[2]", {"v": [0.0, 0.0, 3.0]}, []),
    ("v[0]^2", {"v": [0.0, 1.0]}, []),
    ("sum(maximum(0, 1 - v))", {"v": [3.0, 4.0]}, [
        ("zero-dead", 1, 5, "takes 0 and not -2 in element [0]: the smaller one has slope 0")]),
    ("max(0, 1 - (v[0] - v[1]))", {"v": [3.0, 1.0]}, [
        ("zero-dead", 1, 1, "`max` takes 0 and not -1")]),
    ("min([3, v[0], v[1]])", {"v": [5.0, 6.0]}, [("zero-dead", 1, 1, "it is not the smallest")]),
    ("sum(relu(2*relu([0.1, 0.2] + v) - 1))", {"v": [-1.0, -1.0]}, [
        ("zero-dead", 1, 5, "`relu` is off in 2 of 2 elements (-1 in element [0])")]),
]


@pytest.mark.parametrize(("text", "at", "expected"), ARRAYS)
def test_a_zero_of_an_array(text: str, at: dict[str, Any], expected: list[Told]) -> None:
    found = ask(text, "v", at=at)["sources"][0]
    assert set(str(found["gradient"])) <= set("[]-0., ")
    notes = found["notes"]
    if len(expected) > 1:  # one place has one note
        notes, expected = notes[:1], expected[:1]
    check(notes, expected)


def test_a_tie_behind_stop_gradient_is_no_convention() -> None:
    # softmax subtracts the largest element, which no derivative passes.
    assert ask("softmax(v)[0]", "v", at={"v": [1.0, 1.0]})["sources"][0]["notes"] == []


def test_a_gradient_with_other_elements_is_no_zero() -> None:
    assert ask("sum(relu(v))", "v", at={"v": [-1.0, 1.0]})["sources"][0]["notes"] == []


def test_a_jacobian_of_zeros() -> None:
    at = {"v": [-1.0, -2.0]}
    found = ask("relu(v)", "v", command=jac, at=at)["sources"][0]
    assert found["jacobian"] == [[0.0, 0.0], [0.0, 0.0]]
    check(found["notes"], [("zero-dead", 1, 1, "`relu` is off in 2 of 2 elements")])
    # Rows do not cancel: the sum of x and -x has gradient 0, the Jacobian has not.
    found = ask("[x, -x]", "x", command=jac, at={"x": 2.0})["sources"][0]
    assert (found["jacobian"], found["notes"]) == ([1.0, -1.0], [])
    found = ask("h = relu(x)\n[h, -h]", "x", command=jac, at={"x": -2.0})["sources"][0]
    check(found["notes"], [("zero-dead", 1, 5, "relu(-2) is off")])


# --- second derivatives -------------------------------------------------------------------------

def blocks(text: str, wrt: str, **options: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(b["row"], b["col"]): b for b in ask(text, wrt, command=hess, **options)["blocks"]}


def test_zeros_of_a_hessian() -> None:
    at = {"x": -1.0, "y": 2.0}
    found = blocks("relu(x)^2 + x*y", "x,y", at=at)
    check(found["x", "x"]["notes"], [
        ("zero-dead", 1, 1, "a factor in the derivative of `relu(x)` is exactly 0")])
    assert found["x", "y"]["notes"] == []
    check(found["y", "y"]["notes"], [("derivative-constant", 1, 1, "does not depend on y")])
    found = blocks("abs(x)", "x", at={"x": 2.0})
    check(found["x", "x"]["notes"], [
        ("zero-flat", 1, 1, "`sign` in the derivative of `abs(x)` is flat")])
    assert blocks("(x - 2)^3", "x", at={"x": 2.0})["x", "x"]["notes"] == []


def test_a_hessian_has_requested_zeros() -> None:
    (block,) = blocks("floor(x)", "x", at={"x": 2.0}, unconnected="zero").values()
    assert block["hessian"] == 0.0
    assert [r["code"] for r in block["reasons"]] == ["path-step-function"]
    assert [n["code"] for n in block["notes"]] == ["zero-requested", "zero-flat"]


@pytest.mark.parametrize("command", [grad, jac])
def test_a_derivative_that_does_not_depend_on_the_source_is_zero(command: Any) -> None:
    text = "ramp = 3x + y\nslope = grad(ramp, y)\nslope"
    field = "gradient" if command is grad else "jacobian"
    for wrt in ("x", "y"):
        found = ask(text, wrt, command=command, at={"x": 1.0, "y": 2.0})["sources"][0]
        assert (found[field], found["reasons"]) == (0.0, [])
        check(found["notes"], [("derivative-constant", 1, 8, f"does not depend on `{wrt}`")])
        tf = ask("var x = 1\nvar y = 2\n" + text, wrt, command=command, tf=True)["sources"][0]
        assert tf[field] is None
        assert [r["code"] for r in tf["reasons"]] == ["derivative-constant"]
    # The user's own formula cuts the path: that is a None, and to be explained.
    cut = ask("grad(x*stop_gradient(x), x)", "x", command=command, at={"x": 1.0})["sources"][0]
    assert cut[field] is None
    assert cut["notes"] == []


def test_no_path_to_any_of_several_targets_may_be_cut() -> None:
    x = gradcli.Variable(2.0)
    with gradcli.GradientTape(persistent=True) as outer:
        with gradcli.GradientTape() as inner:
            y = 3.0*x
        slope = inner.gradient(y, x)
        cut = ops.stop_gradient(x)*1.0
    assert outer.gradient(slope, x).numpy() == 0.0
    assert outer.gradient([slope, cut], x) is None
    assert outer.gradient([cut, slope], x) is None


def test_a_sum_is_told_of_lists_and_tapes() -> None:
    at = {"v": [1.0, 2.0, 3.0]}
    assert "f has 6 elements" in ask("[v, v^2]", "v", at=at)["notes"][0]["message"]
    text = "v = [1.0, 2.0]\ntape t:\n    t.watch(v)\n    y = v^2\n"
    (note,) = ask(text, "v", tape="t")["notes"]
    assert (note["code"], note["message"]) == (
        "sum", "y has 2 elements: this is the gradient of their sum; `gradcli jac` gives each")


# --- kinks and ties -----------------------------------------------------------------------------

CONVENTIONS = [
    ("abs(v[0])", [0.0], "`abs` is at a kink; slope 0 at 0"),
    ("sum(abs(v))", [0.0, 1.0, 0.0], "`abs`: 2 of 3 elements are at a kink; slope 0 at 0"),
    ("sum(relu(v))", [0.0, 1.0], "`relu`: 1 of 2 elements is at a kink; slope 0 at 0"),
    ("sum(clip(v, 0, 1))", [1.0, 3.0], "`clip`: 1 of 2 elements is at a kink; slope 1 inside"),
    ("max(v)", [1.0, 3.0, 3.0], "`max`: 2 of 3 elements tie; ties share the gradient evenly"),
    ("reduce_min(v)", [1.0, 1.0, 1.0], "`reduce_min`: 3 of 3 elements tie; ties share"),
    ("max(v[0], v[1])", [2.0, 2.0], "`max`: both arguments tie; a tie goes to the first argument"),
    ("sum(maximum(v, [1, 3, 3]))", [1.0, 2.0, 3.0], "`maximum`: 2 of 3 elements tie; a tie goes"),
    ("sum(segment_max(v, [0, 0, 1]))", [4.0, 4.0, 1.0], "`segment_max`: 2 of 3 elements tie"),
    ("sum(unsorted_segment_min(v, [0, 1, 0], num_segments=2))", [4.0, 4.0, 4.0],
     "`unsorted_segment_min`: 2 of 3 elements tie"),
    ("sum(sort(v)*[1, 2, 3, 4])", [3.0, 1.0, 3.0, 3.0],
     "`sort`: 3 of 4 elements tie; ties keep their order"),
    ("sum(top_k(v, k=2)[0]*[1, 2])", [3.0, 1.0, 3.0],
     "`top_k`: 2 of 3 elements tie; ties keep"),
    ("median(v)", [1.0, 1.0, 2.0], "`median`: 2 of 3 elements tie"),
    ("sum(max_pool(reshape(v, [1, 2, 2, 1])))", [1.0, 1.0, 0.0, 0.0],
     "`max_pool`: elements tie in 1 of 1 places; a tie goes to the first element of the window"),
    ("sum(cummax(v))", [1.0, 1.0, 2.0], "`cummax`: elements tie in 1 of 2 places"),
    ("norm(v)", [0.0, 0.0], "`norm` is at a kink; slope 0 at 0"),
]


@pytest.mark.parametrize(("text", "v", "words"), CONVENTIONS)
def test_conventions_are_told_in_one_style(text: str, v: list[float], words: str) -> None:
    notes = [n for n in ask(text, "v", at={"v": v})["sources"][0]["notes"]
             if n["code"] in ("tie", "kink")]
    assert len(notes) == 1
    assert notes[0]["code"] == ("tie" if "tie" in words else "kink")
    assert words in notes[0]["message"]


def test_a_hessian_of_a_derivative() -> None:
    (block,) = blocks("grad(3x, x)", "x", at={"x": 1.0}).values()
    assert (block["hessian"], told(block["notes"])) == (0.0, [("derivative-constant", 1, 1)])


# --- three answers ------------------------------------------------------------------------------

def test_three_answers_are_told_apart() -> None:
    text = "floor(s) + relu(d)"
    at = {"s": 2.5, "d": -3.0, "u": 1.0}
    plain = ask("u\n" + text, "u,s,d", at=at)["sources"]
    assert [s["gradient"] for s in plain] == [None, None, 0.0]
    assert [[r["code"] for r in s["reasons"]] for s in plain] == [
        ["source-unrelated"], ["path-step-function"], []]
    assert [[n["code"] for n in s["notes"]] for s in plain] == [[], [], ["zero-dead"]]
    asked = ask("u\n" + text, "u,s,d", at=at, unconnected="zero")["sources"]
    assert [s["gradient"] for s in asked] == [0.0, 0.0, 0.0]
    assert [[r["code"] for r in s["reasons"]] for s in asked] == [
        ["source-unrelated"], ["path-step-function"], []]
    assert [[n["code"] for n in s["notes"]] for s in asked] == [
        ["zero-requested"], ["zero-requested", "zero-flat"], ["zero-dead"]]


TAPE = ("var x = 2.0\ntape t, persistent=true:\n    y = relu(-x)\n    z = x^2\n    w = floor(x)\n")


def test_a_tape_of_a_file() -> None:
    check(ask(TAPE, "x", of=["y"], tape="t")["sources"][0]["notes"],
          [("zero-dead", 3, 9, "relu(-2) is off")])
    assert ask(TAPE, "x", of=["z"], tape="t")["sources"][0]["notes"] == []
    used = TAPE.replace(", persistent=true", "") + "g = t.gradient(z, x)\n"
    check(ask(used, "x", of=["y"], tape="t")["sources"][0]["notes"],
          [("zero-dead", 3, 9, "relu(-2) is off")])
    changed = TAPE.replace("    y =", "    x.assign_add(1)\n    y =")
    check(ask(changed, "x", of=["y"], tape="t")["sources"][0]["notes"],
          [("zero-dead", 4, 9, "relu(-3) is off")])


# --- what a program prints ----------------------------------------------------------------------

def printed(text: str, notes: bool = True) -> tuple[list[list[dict[str, Any]]], list[str]]:
    """The notes on each printed value, and the codes of the notes on the run."""
    found = run(Question(loads(text)), notes=notes)
    return ([item["notes"] for one in found["printed"] for item in one["values"]],
            [n["code"] for n in found["notes"]])


def test_printed_zeros() -> None:
    text = TAPE + (
        "print(t.gradient(y, x), t.gradient(z, x), 0.0, x - 2)\n"
        'print(t.gradient(w, x, unconnected_gradients="zero"))\nprint([t.jacobian(y, x)])\n')
    (dead, slope, number, value, requested, listed), _ = printed(text)
    check(dead, [("zero-dead", 3, 9, "relu(-2) is off")])
    assert slope == number == value == []
    check(requested, [("zero-requested", 7, 7, "no path")])
    check(listed, [("zero-dead", 3, 9, "relu(-2) is off")])
    assert printed(text, notes=False)[0] == [[]] * 6


def test_printed_derivatives_of_derivatives() -> None:
    (constant, first), _ = printed("var x = 2.0\nprint(grad(grad(3x, x), x), grad(3x, x))\n")
    check(constant, [("derivative-constant", 2, 17, "does not depend on `x`")])
    assert first == []
    text = ("var x = 2.0\ntape a:\n    tape b:\n        y = 3*x\n    g = b.gradient(y, x)\n"
            "print(a.gradient(g, x))\n")
    (constant,), _ = printed(text)
    assert told(constant) == [("derivative-constant", 4, 13)]


def test_printed_gradients_of_sums() -> None:
    text = ("v = [1.0, 2.0, 3.0]\ntape t, persistent=true:\n    t.watch(v)\n    z = v^2\n"
            "print(t.gradient(z, v), t.jacobian(z, v), t.gradient([z, z], v))\n"
            "print(t.gradient(z[0], v))\n")
    (one, each, both, single), _ = printed(text)
    check(one, [("sum", 5, 7, "the target has 3 elements: this is the gradient of their sum")])
    check(both, [("sum", 5, 43, "6 elements")])
    assert each == single == []
    (plain, lone), _ = printed("x = 2\nprint(grad([x, x^2], x), grad(x^2, x))\n")
    check(plain, [("sum", 2, 7, "2 elements")])
    assert lone == []


def test_the_text_of_a_run_has_notes_only_with_v() -> None:
    text = TAPE + "print(t.gradient(y, x))\n"
    status, out, err = in_process(["run", "-"], text.encode())
    assert (status, out, err) == (0, "-0\n", "")
    _, out, err = in_process(["run", "-", "-v"], text.encode())
    assert out == "-0\n"
    assert "note: the gradient printed in line 6: relu(-2) is off" in err
    _, out, _ = in_process(["run", "-", "--format", "json"], text.encode())
    assert json.loads(out)["printed"][0]["values"][0]["notes"][0]["code"] == "zero-dead"


# --- tapes that look like a mistake -------------------------------------------------------------

SUSPICIOUS: list[tuple[str, list[str]]] = [
    ("const c = 3.0\ntape t:\n    t.watch(c)\n    y = x^2\nprint(t.gradient(y, x))\n",
     ["tape-watched-unused"]),
    ("tape t:\n    t.watch(x)\n    y = x^2\nprint(t.gradient(y, x))\n", []),
    ("tape t:\n    t.watch(x)\n    x.assign_add(1)\n    y = x^2\nprint(t.gradient(y, x))\n", []),
    ("const c = 3.0\ntape t:\n    t.watch(c)\n    y = c*x\n    t.reset()\n    y = x^2\n"
     "print(t.gradient(y, x))\n", []),
    ("tape t, watch_accessed_variables=false:\n    y = x^2\nprint(y)\n", ["tape-empty"]),
    ("tape t:\n    y = x^2\nprint(y)\n", ["tape-unasked"]),
    ("tape t:\n    y = x^2\n    g = grad(y, x)\nprint(g)\n", []),
    ("tape t:\n    y = x^2\n    g = t.gradient(y, x)\nprint(g)\n", ["recording-ended"]),
    ("print(grad(x^2, x))\n", []),
]


@pytest.mark.parametrize(("text", "expected"), SUSPICIOUS)
def test_suspicious_tapes(text: str, expected: list[str]) -> None:
    assert printed("var x = 2.0\n" + text)[1] == expected


# --- what it costs ------------------------------------------------------------------------------

LOADED = """
import io, json, sys
from gradcli.cli.environment import Environment
from gradcli.cli.main import run
out = io.TextIOWrapper(io.BytesIO())
assert run(sys.argv[1:], Environment(io.BytesIO(), out, out, variables={})) == 0
print(json.dumps([m for m in sys.modules if m == "numpy" or m.startswith("gradcli.explain.")]))
"""


def loaded(*arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True,
                          text=True, check=True, cwd=ROOT)
    found: list[str] = json.loads(done.stdout)
    return found


def test_explanations_are_loaded_only_for_a_zero() -> None:
    assert loaded("grad", "-e", "x^2", "--at", "x=3") == []
    assert "gradcli.explain.numbers.zeros" in loaded("grad", "-e", "0*x", "--at", "x=3")
    assert "gradcli.explain.notes" not in loaded("run", "samples/seeds/persistent.txt")
