"""`gradcli plot`: the pictures are looked at, in files, in the terminal, and as data.

An SVG is parsed; its tick marks give the transform from the page to the axes, and the curves are
compared with formulas from `math` and `mpmath` at known points.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import mpmath
import pytest
from asked import valid
from commands import run
from folders import ROOT
from transcripts import in_process

from gradcli.cli import main
from gradcli.cli.environment import Environment
from gradcli.cli.options.pictures import HIGHEST

SVG = "{http://www.w3.org/2000/svg}"
SIGMOID = ["plot", "-e", "1/(1 + exp(-x))", "--over", "x=-10:10"]


def data(*arguments: str) -> Any:
    """The picture as data, held to its schema."""
    status, out, err = in_process(["plot", *arguments, "--format", "json"])
    assert (status, err) == (0, "")
    answer = json.loads(out)
    valid(answer, "plot")
    return answer


def notes(answer: Any) -> dict[str, str]:
    return {note["code"]: note["message"] for note in answer["notes"]}


class Page:
    """An SVG picture. texts: all of them. scale: axis to (factor, offset) from page to data."""

    def __init__(self, svg: str) -> None:
        self.root = ET.fromstring(svg)
        self.texts = [t.text or "" for t in self.root.iter(f"{SVG}text")]
        self.scale = {axis: self._scale(axis) for axis in "xy"}

    def _scale(self, axis: str) -> tuple[float, float]:
        known = []
        for tick in self.element("axes_1").iter(f"{SVG}g"):
            if re.fullmatch(f"{axis}tick_[0-9]+", tick.get("id", "")):
                text = next(t.text for t in tick.iter(f"{SVG}text"))
                uses = [use for use in tick.iter(f"{SVG}use") if use.get(axis)]
                assert text is not None
                known.append((float(uses[0].get(axis, "")), float(text.replace("\u2212", "-"))))
        (a, va), (b, vb) = known[0], known[-1]
        factor = (vb - va) / (b - a)
        for place, value in known:      # a linear axis
            assert place * factor + va - a * factor == pytest.approx(value, abs=1e-9 + 1e-4 * abs(
                vb - va))
        return factor, va - a * factor

    def element(self, name: str) -> ET.Element:
        return next(g for g in self.root.iter(f"{SVG}g") if g.get("id") == name)

    def has(self, name: str) -> bool:
        return any(g.get("id") == name for g in self.root.iter())

    def pieces(self, name: str) -> list[list[tuple[float, float]]]:
        """The pieces of a curve in the coordinates of the axes."""
        path = next(self.element(name).iter(f"{SVG}path")).get("d", "")
        found: list[list[tuple[float, float]]] = []
        for sign, x, y in re.findall(r"([ML]) ([-\d.]+) ([-\d.]+)", path):
            if sign == "M":
                found.append([])
            found[-1].append(self.place(float(x), float(y)))
        return found

    def place(self, x: float, y: float) -> tuple[float, float]:
        (ax, bx), (ay, by) = self.scale["x"], self.scale["y"]
        return x * ax + bx, y * ay + by

    def marks(self, name: str) -> list[tuple[float, float]]:
        return [self.place(float(use.get("x", "")), float(use.get("y", "")))
                for use in self.element(name).iter(f"{SVG}use")]


def at(pieces: list[list[tuple[float, float]]], x: float) -> float:
    """The height of a curve at a place."""
    for piece in pieces:
        for (x0, y0), (x1, y1) in pairwise(piece):
            if x0 <= x <= x1 and x0 < x1:
                return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise AssertionError(f"the curve does not reach {x}")


def page(tmp_path: Path, *arguments: str) -> tuple[Page, str]:
    """The SVG of a command, and what it says."""
    path = tmp_path / "picture.svg"
    status, out, err = in_process(["plot", *arguments, "-o", str(path)])
    assert (status, out) == (0, "")
    return Page(path.read_text(encoding="utf-8")), err


# --- curves in a picture --------------------------------------------------------------------------


def test_sigmoid_and_its_derivative(tmp_path: Path) -> None:
    picture, said = page(tmp_path, *SIGMOID[1:])
    assert said == ""
    f, slope = picture.pieces("curve-0"), picture.pieces("curve-1")
    assert len(f) == len(slope) == 1
    for x in (-9.0, -4.0, -1.5, 0.0, 0.7, 3.0, 9.5):
        s = 1 / (1 + math.exp(-x))
        assert at(f, x) == pytest.approx(s, abs=2e-3)
        assert at(slope, x) == pytest.approx(s * (1 - s), abs=2e-3)
    assert f[0][0][0] == pytest.approx(-10, abs=0.02)
    assert f[0][-1][0] == pytest.approx(10, abs=0.02)
    assert {"f", "f'", "x", "f(x)", "1/(1 + exp(-x))"} <= set(picture.texts)


@pytest.mark.parametrize(("formula", "expected"), [
    ("sin(x)*exp(-x/3)", lambda x: mpmath.sin(x) * mpmath.exp(-x / 3)),
    ("x^3 - 2*x", lambda x: x**3 - 2 * x),
    ("log(x + 2)", lambda x: mpmath.log(x + 2)),
    ("erf(x)", mpmath.erf),
])
def test_derivatives_to_the_third(formula: str, expected: Callable[[Any], Any],
                                  tmp_path: Path) -> None:
    picture, _ = page(tmp_path, "-e", formula, "--over", "x=-1:1", "--derivatives", "1,2,3")
    low, high = data("-e", formula, "--over", "x=-1:1", "--derivatives", "1,2,3")["range"]
    for order in range(4):
        curve = picture.pieces(f"curve-{order}")
        for x in (-0.83, -0.2, 0.41, 0.9):
            assert at(curve, x) == pytest.approx(
                float(mpmath.diff(expected, x, order)), abs=3e-3 * (high - low))
    assert {"f", "f'", "f''", "f'''"} <= set(picture.texts)


def test_data_is_exact() -> None:
    """Every point of every curve, not only what a picture shows."""
    (f, first, second) = data("-e", "tanh(x)", "--over", "x=-3:3", "--derivatives", "1,2")["curves"]
    for x, y in f["segments"][0]:
        assert y == pytest.approx(math.tanh(x), rel=1e-14, abs=1e-16)
    for x, y in first["segments"][0]:
        assert y == pytest.approx(float(mpmath.sech(x))**2, rel=1e-12)
    for x, y in second["segments"][0]:
        assert y == pytest.approx(-2 * math.tanh(x) / math.cosh(x)**2, rel=1e-11, abs=1e-15)
    assert [c["name"] for c in (f, first, second)] == ["f", "f'", "f''"]
    assert len(f["segments"][0]) >= 601


def test_other_inputs_and_several_targets(tmp_path: Path) -> None:
    program = tmp_path / "program.txt"
    program.write_text("input a = 2.0\ny = a*x^2\nz = a + x\n")
    answer = data(str(program), "--over", "x=-1:1", "--of", "y", "--of", "z", "--at", "a=3")
    assert [c["name"] for c in answer["curves"]] == ["y", "y'", "z", "z'"]
    for curve, expected in zip(answer["curves"], (
            lambda x: 3 * x * x, lambda x: 6 * x, lambda x: 3 + x, lambda x: 1.0), strict=True):
        for x, y in curve["segments"][0]:
            assert y == pytest.approx(expected(x), rel=1e-13, abs=1e-15)
    assert answer["title"] == "y = a*x^2, z = a + x\nat a = 3"
    (both,) = data(str(program), "--over", "x=-1:1", "--of", "y+z", "--derivatives", "none")[
        "curves"]
    assert both["segments"][0][0][1] == pytest.approx(2 + 1)    # the sum, with a = 2
    picture, _ = page(tmp_path, str(program), "--over", "x=-1:1", "--of", "y", "--of", "z")
    assert {"y", "y'", "z", "z'", "at a = 2"} <= set(picture.texts)


def test_the_view_can_be_chosen() -> None:
    assert data("-e", "x^2", "--over", "x=-1:1", "--range", "-1:5*pi")["range"] == [
        -1, pytest.approx(5 * math.pi)]
    assert data("-e", "5 + 0*x", "--over", "x=-1:1")["range"] == [
        pytest.approx(v) for v in (-0.25, 5.25)]


# --- kinks, poles, gaps ---------------------------------------------------------------------------


def test_a_kink_is_marked_and_the_slope_not_joined(tmp_path: Path) -> None:
    picture, said = page(tmp_path, "-e", "abs(x - 0.3)", "--over", "x=-1:1")
    assert len(picture.pieces("curve-0")) == 1
    left, right = picture.pieces("curve-1")
    assert left[-1] == pytest.approx((0.3, -1.0), abs=0.01)
    assert right[0] == pytest.approx((0.3, 1.0), abs=0.01)
    assert picture.marks("kinks-0") == [pytest.approx((0.3, 0.0), abs=0.01)]
    assert "f has a kink at x = 0.3; `abs` is at a kink" in said
    answer = data("-e", "abs(x - 0.3)", "--over", "x=-1:1")
    assert answer["curves"][0]["kinks"] == [pytest.approx([0.3, 0.0], abs=1e-12)]
    assert answer["curves"][1]["jumps"] == [pytest.approx(0.3, abs=1e-12)]


def test_a_tie_is_a_kink() -> None:
    answer = data("-e", "min(x^2, 1)", "--over", "x=-3:3")
    assert [x for x, _ in answer["curves"][0]["kinks"]] == pytest.approx([-1, 1], abs=1e-11)
    assert "tie" in notes(answer)["kink"]


def test_poles_are_not_joined(tmp_path: Path) -> None:
    picture, said = page(tmp_path, "-e", "tan(x)", "--over", "x=-4.5:4.5", "--derivatives", "none")
    pieces = picture.pieces("curve-0")
    assert len(pieces) == 3
    for piece, (low, high) in zip(pieces, (
            (-4.5, -math.pi / 2), (-math.pi / 2, math.pi / 2), (math.pi / 2, 4.5)), strict=True):
        assert low - 0.05 < piece[0][0]
        assert piece[-1][0] < high + 0.05
        middle = 0.5 * (low + high)
        assert at([piece], middle) == pytest.approx(math.tan(middle), abs=0.05)
        assert [y for _, y in piece] == sorted(y for _, y in piece)
    assert said == "f has poles at x = -1.57080, 1.57080\n"
    lines = sorted(float(g.get("id", "")[5:]) for g in picture.root.iter(f"{SVG}g")
                   if g.get("id", "").startswith("pole-"))
    assert lines == pytest.approx([-math.pi / 2, math.pi / 2], abs=1e-9)
    low, high = data("-e", "tan(x)", "--over", "x=-4.5:4.5")["range"]
    assert -30 < low < -3
    assert 3 < high < 30


@pytest.mark.parametrize(("formula", "pole"), [
    ("1/x", 0.0), ("1/(x - 0.3)", 0.3), ("1/(x - 0.3)^2", 0.3), ("1/sqrt(abs(x - 0.123))", 0.123),
    ("1/(x - pi/7)^3", math.pi / 7), ("exp(x)/(x^2 - 0.25)", 0.5), ("gamma(x)", 0.0),
])
def test_poles_are_found(formula: str, pole: float) -> None:
    answer = data("-e", formula, "--over", "x=-0.9:1")
    f = answer["curves"][0]
    assert any(abs(x - pole) < 1e-9 for x in f["poles"])
    assert not f["jumps"]
    assert not any(s[0][0] < pole < s[-1][0] for s in f["segments"])
    assert "pole" in notes(answer)
    low, high = answer["range"]
    assert high - low < 1e4


@pytest.mark.parametrize("formula", [
    "tanh(1e6*x)", "1/(x^2 + 1e-6)", "exp(-1e6*x^2)", "sin(50*x)", "sin(1/x)", "x^2*sin(1/x)",
    "atan(1e9*x)", "exp(5*x)", "x^9", "5 + 0*x", "log(x + 1.000001)"])
def test_what_is_steep_is_no_pole_and_no_jump(formula: str) -> None:
    answer = data("-e", formula, "--over", "x=-1:1.1", "--derivatives", "none")
    (f,) = answer["curves"]
    assert (f["poles"], f["jumps"], f["kinks"]) == ([], [], [])
    assert len(f["segments"]) == 1


def test_jumps_and_single_values() -> None:
    answer = data("-e", "sign(x)", "--over", "x=-1:1", "--derivatives", "none")
    (f,) = answer["curves"]
    assert f["jumps"] == [0.0]
    left, here, right = f["segments"]
    assert left[-1] == pytest.approx([0, -1], abs=1e-11)
    assert here == [[0.0, 0.0]]
    assert right[0] == pytest.approx([0, 1], abs=1e-11)
    steps = data("-e", "floor(x)", "--over", "x=-1.5:1.5")
    assert steps["curves"][0]["jumps"] == pytest.approx([-1, 0, 1], abs=1e-11)
    assert [c["name"] for c in steps["curves"]] == ["f"]
    assert "f' is None" in notes(steps)["none"]


def test_gaps() -> None:
    answer = data("-e", "sqrt(x^2 - 1)", "--over", "x=-3:3")
    f, slope = answer["curves"]
    left, right = f["segments"]
    assert left[-1] == pytest.approx([-1, 0], abs=1e-5)
    assert right[0] == pytest.approx([1, 0], abs=1e-5)
    assert slope["poles"] == pytest.approx([-1, 1], abs=1e-9)
    assert notes(answer)["gap"] == "f has no finite value for x from -1 to 1"
    # The slope of log(x) is 1/x, but not where there is no log(x).
    first, second = data("-e", "log(x)", "--over", "x=-1:3")["curves"]
    assert min(x for s in second["segments"] for x, _ in s) > 0
    assert first["poles"] == [0.0]
    overflow = data("-e", "exp(x^3)", "--over", "x=-10:10")
    assert "from 8.92021 to 10" in notes(overflow)["gap"]


def test_branches_of_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program.txt"
    program.write_text("if x > 0.5:\n    y = x^2\nelse:\n    y = 1 - x\n")
    answer = data(str(program), "--over", "x=-1:1")
    assert answer["curves"][0]["jumps"] == pytest.approx([0.5], abs=1e-11)
    assert answer["curves"][0]["segments"][1][-1] == pytest.approx([1, 1])
    assert answer["title"].startswith("y in ")


# --- two inputs -----------------------------------------------------------------------------------


def test_gradient_field() -> None:
    answer = data("-e", "x^2 - y^2", "--over", "x=-2:2", "--over", "y=-1:1")
    field = answer["field"]
    for j, y in list(enumerate(field["y"]))[::20]:
        for i, x in list(enumerate(field["x"]))[::20]:
            assert field["values"][j][i] == pytest.approx(x * x - y * y, abs=1e-13)
    assert len(field["arrows"]) == 400
    for x, y, dx, dy in field["arrows"]:
        cx, cy = x + dx / 2, y + dy / 2
        # (dx, dy) points where the gradient (2x, -2y) does, and is no longer than its cell.
        assert dx * -2 * cy - dy * 2 * cx == pytest.approx(0, abs=1e-12)
        assert dx * 2 * cx + dy * -2 * cy > 0
        assert math.hypot(dx / 0.2, dy / 0.1) < 1
    assert answer["notes"] == []


@pytest.mark.parametrize("more", ["1000", "-1000"])
def test_gaps_are_the_same_at_any_height(more: str) -> None:
    over = ("--over", "x=-1:1", "--over", "y=-0.7:0.7")
    low, high = (data("-e", text, *over) for text in (
        "x + floor(y)", f"x + floor(y) + ({more})"))
    assert "jump" in notes(low)
    assert notes(low) == notes(high)
    assert [[v is None for v in row] for row in low["field"]["values"]] == [
        [v is None for v in row] for row in high["field"]["values"]]


def test_a_field_has_gaps_at_jumps_and_poles() -> None:
    steps = data("-e", "x + floor(y)", "--over", "x=-1:1", "--over", "y=-0.7:0.7")
    rows = [j for j, row in enumerate(steps["field"]["values"]) if None in row]
    assert {round(steps["field"]["y"][j], 2) for j in rows} <= {-0.01, 0.0, 0.01}
    assert rows
    assert "jump" in notes(steps)
    pole = data("-e", "1/(x - y)", "--over", "x=-2:2", "--over", "y=-2:2")
    for j, row in enumerate(pole["field"]["values"]):
        assert row[j] is None
    low, high = pole["range"]
    assert high - low < 100
    disc = data("-e", "sqrt(1 - x^2 - y^2)", "--over", "x=-2:2", "--over", "y=-2:2")
    for y, row in zip(disc["field"]["y"], disc["field"]["values"], strict=True):
        for x, value in zip(disc["field"]["x"], row, strict=True):
            assert (value is None) == (x * x + y * y > 1) or abs(x * x + y * y - 1) < 1e-9
    smooth = data("-e", "exp(-20*(x^2+y^2))", "--over", "x=-2:2", "--over", "y=-2:2")
    assert smooth["notes"] == []
    assert smooth["range"] == pytest.approx([0, 1], abs=1e-12)


def test_a_field_as_a_picture(tmp_path: Path) -> None:
    picture, said = page(tmp_path, "-e", "x^2 - y^2", "--over", "x=-2:2", "--over", "y=-2:2")
    assert said == ""
    assert {"x", "y", "f", "x^2 - y^2"} <= set(picture.texts)
    arrows = picture.element("gradient").findall(f".//{SVG}path")
    assert len(arrows) == 400
    assert len(list(picture.root.iter(f"{SVG}path"))) > 420


# --- elements of arrays ---------------------------------------------------------------------------


def test_an_array_is_a_curve_for_each_element(tmp_path: Path) -> None:
    picture, said = page(tmp_path, "-e", "[x^2, sin(x), 3*x]", "--over", "x=-1:1")
    assert said == ""
    assert {"f[0]", "f[0]'", "f[1]", "f[1]'", "f[2]", "f[2]'"} <= set(picture.texts)
    expected: list[Callable[[float], float]] = [
        lambda x: x * x, lambda x: 2 * x, math.sin, math.cos, lambda x: 3 * x, lambda x: 3.0]
    for k, truth in enumerate(expected):
        for x in (-0.8, 0.1, 0.6):
            assert at(picture.pieces(f"curve-{k}"), x) == pytest.approx(truth(x), abs=0.02)


@pytest.mark.parametrize(("of", "name", "factor"), [
    ("y[1][0]", "y[1][0]", 3), ("y[1,2]", "y[1][2]", 5), ("y[-1,-1]", "y[1][2]", 5)])
def test_one_element(of: str, name: str, factor: float) -> None:
    program = "y = x^2*[[0, 1, 2], [3, 4, 5]]"
    (f, slope) = data("-e", program, "--over", "x=0:1", "--of", of)["curves"]
    assert (f["name"], slope["name"]) == (name, f"{name}'")
    for x, y in slope["segments"][0]:
        assert y == pytest.approx(2 * factor * x, rel=1e-13)


def test_of_many_elements_the_first_are_drawn() -> None:
    answer = data("-e", "x*linspace(1, 20, 20)", "--over", "x=0:1", "--derivatives", "none")
    assert [c["name"] for c in answer["curves"]] == [f"f[{k}]" for k in range(6)]
    assert notes(answer)["elements"] == (
        "f has 20 elements, of which the first 6 are drawn; --of f[19] draws another one")


def test_over_one_element_of_an_array(tmp_path: Path) -> None:
    """The others stay as they are; derivatives of any order are in that element."""
    program = tmp_path / "program.txt"
    program.write_text("input x = [2.0, 3.0]\ny = x[0]^3*x[1] + exp(x[1])\n")
    answer = data(str(program), "--over", "x[0]=-1:1", "--derivatives", "1,2,3")
    assert answer["title"] == "y = x[0]^3*x[1] + exp(x[1])\nat x[1] = 3"
    assert answer["over"][0]["name"] == "x[0]"
    for curve, truth in zip(answer["curves"], (
            lambda x: 3 * x**3 + math.exp(3), lambda x: 9 * x * x, lambda x: 18 * x,
            lambda x: 18.0), strict=True):
        for x, y in curve["segments"][0]:
            assert y == pytest.approx(truth(x), rel=1e-12, abs=1e-12)
    (second, _) = data(str(program), "--over", "x[-1]=0:1", "--at", "x=[1, 0]")["curves"]
    for x, y in second["segments"][0]:
        assert y == pytest.approx(x + math.exp(x), rel=1e-13)


def test_a_field_over_two_elements() -> None:
    field = data("-e", "x[0]^2 - y*x[1]", "--over", "x[0]=-2:2", "--over", "x[1]=-1:1", "--at",
                 "x=[0, 0],y=3")["field"]
    for x, y, dx, dy in field["arrows"]:
        cx = x + dx / 2
        assert dx * -3 - dy * 2 * cx == pytest.approx(0, abs=1e-12), y
    for j, y in list(enumerate(field["y"]))[::30]:
        for i, x in list(enumerate(field["x"]))[::30]:
            assert field["values"][j][i] == pytest.approx(x * x - 3 * y, abs=1e-13)


@pytest.mark.parametrize(("arguments", "words"), [
    (["-e", "x@x", "--over", "x[5]=0:1", "--at", "x=[1,2]"], "so no `x[5]`"),
    (["-e", "x@x", "--over", "x=0:1", "--at", "x=[1,2]"], "--over x[0]=0:1"),
    (["-e", "x@x", "--over", "x[0]=0:1"], "`x`"),
    (["-e", "x^2", "--over", "x[0]=0:1", "--at", "x=2"], "write x"),
    (["-e", "x^2", "--over", "x=0:1", "--of", "f[0]"], "so no `f[0]`"),
    (["-e", "x*[1,2]", "--over", "x=0:1", "--of", "f[2]"], "f[0] to f[1]"),
    (["-e", "x*[1,2]", "--over", "x=0:1", "--of", "f[a]"], "names no element"),
    (["-e", "x*[1,2]", "--over", "x[=0:1"], "names no input"),
])
def test_elements_that_there_are_not(arguments: list[str], words: str) -> None:
    status, out, err = in_process(["plot", *arguments])
    assert (status, out) == (3, "")
    assert err.startswith("error[E")
    assert words in err


# --- what a picture shows -------------------------------------------------------------------------


def within(answer: Any, number: int) -> float:
    """The share of a curve's points that the picture shows."""
    low, high = answer["range"]
    points = [y for s in answer["curves"][number]["segments"] for _, y in s]
    return sum([low <= y <= high for y in points]) / len(points)


@pytest.mark.parametrize("formula", ["1/x", "log(x)"])
def test_a_derivative_with_a_pole_is_seen(formula: str) -> None:
    answer = data("-e", formula, "--over", "x=0:1")
    low, high = answer["range"]
    slope = {x: y for s in answer["curves"][1]["segments"] for x, y in s}
    shown = [x for x, y in slope.items() if low <= y <= high]
    assert min(shown) < 0.55
    assert max(shown) == 1


def test_a_derivative_that_oscillates_without_end_does_not_hide_the_function() -> None:
    low, high = data("-e", "x*sin(1/x)", "--over", "x=-1:1")["range"]
    assert -30 < low < -1
    assert 1 < high < 30


@pytest.mark.parametrize(("formula", "low", "high"), [
    ("sin(1/x)", -1, 1), ("atan(1e6*x)", -math.pi/2, math.pi/2), ("x^100", 0, 1),
    ("tanh(1000*x)", -1, 1)])
def test_no_derivative_makes_the_function_flat(formula: str, low: float, high: float) -> None:
    answer = data("-e", formula, "--over", "x=-1:1")
    first, last = answer["range"]
    assert first <= low < high <= last
    assert (high - low) > 0.1*(last - first)
    assert notes(answer)["range"] == "f' goes beyond the picture; --range shows more"
    steep = data("-e", "sin(12*x)", "--over", "x=-1:1")
    assert within(steep, 1) == 1
    assert "range" not in notes(steep)


def test_a_derivative_beside_a_pole_is_seen_on_both_sides() -> None:
    low, high = data("-e", "1/x^2", "--over", "x=-2:2")["range"]
    assert low < -15
    assert high > 15


def test_large_ranges(tmp_path: Path) -> None:
    picture, _ = page(tmp_path, "-e", "x", "--over", "x=-1e300:1e300")
    (piece,) = picture.pieces("curve-0")
    assert len(piece) >= 2
    answer = data("-e", "x", "--over", "x=-1e300:1e300")
    assert within(answer, 0) == 1
    assert in_process(["plot", "-e", "x^2", "--over", "x=-1e300:1e300", "-q"])[2] == ""


def test_the_end_of_a_domain_is_no_kink_and_small_poles_are_poles() -> None:
    answer = data("-e", "x^x", "--over", "x=-2:2")
    assert set(notes(answer)) == {"gap", "pole"}
    assert notes(answer)["pole"] == "f' has a pole at x = 0"
    poles = data("-e", "gamma(x)", "--over", "x=-5.5:5")["curves"][0]["poles"]
    assert poles == pytest.approx([-5, -4, -3, -2, -1, 0], abs=1e-9)


def test_names_in_a_terminal_are_folded() -> None:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    command = ["plot", "-e", "x*[1, 2, 3, 4]", "--over", "x=-1:1"]
    assert main.run(command, Environment(io.BytesIO(), *streams, variables={"COLUMNS": "40"})) == 0
    streams[0].flush()
    lines = streams[0].buffer.getvalue().decode().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= 40
    assert lines[-1].split() == ["++", "f[2]", "oo", "f[2]'", "**", "f[3]", "xx", "f[3]'"]


# --- files ----------------------------------------------------------------------------------------


def test_svg_png_pdf_open(tmp_path: Path) -> None:
    import matplotlib.image

    svg, png, pdf = (tmp_path / f"sigmoid.{ending}" for ending in ("svg", "png", "pdf"))
    for path in (svg, png, pdf):
        assert in_process([*SIGMOID, "-o", str(path)]) == (0, "", "")
    pixels = matplotlib.image.imread(png)
    assert pixels.shape == (600, 900, 4)
    blue = (pixels[..., 2] > pixels[..., 0] + 0.3) & (pixels[..., 2] > 0.5)
    assert blue.sum() > 1000
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert pdf.read_bytes().rstrip().endswith(b"%%EOF")
    assert Page(svg.read_text()).root.tag == f"{SVG}svg"


def test_the_same_picture_is_the_same_bytes(tmp_path: Path) -> None:
    for format in ("svg", "png", "pdf"):
        found = set()
        for k in range(2):
            path = tmp_path / f"{k}.picture"
            assert in_process([*SIGMOID, "-o", str(path), "--format", format])[0] == 0
            found.add(path.read_bytes())
        assert len(found) == 1
        assert b"/home" not in found.pop()


def test_a_picture_on_standard_output(gradcli: Callable[..., Any]) -> None:
    ran = gradcli(*SIGMOID, "--format", "svg", "-o", "-")
    assert ran.returncode == 0
    assert Page(ran.stdout).pieces("curve-0")


def test_no_display_and_no_settings_of_the_user(home: dict[str, str | None], tmp_path: Path
                                                ) -> None:
    (tmp_path / "matplotlibrc").write_text("backend: TkAgg\nlines.linewidth: 30\n")
    here = tmp_path / "here.svg"
    ran = run(sys.executable, "-m", "gradcli", *SIGMOID, "-o", str(here), cwd=tmp_path,
              env={**home, "DISPLAY": None, "WAYLAND_DISPLAY": None, "MPLBACKEND": None,
                   "MATPLOTLIBRC": str(tmp_path), "MPLCONFIGDIR": str(tmp_path / "config")})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    there = tmp_path / "there.svg"
    assert in_process([*SIGMOID, "-o", str(there)])[0] == 0
    assert here.read_bytes() == there.read_bytes()


def test_hostile_names(tmp_path: Path) -> None:
    """No mathematics is read into labels, no markup written."""
    program = tmp_path / "a$x$_{<b>&\u202e.txt"
    program.write_text("_y = x^2\nif x < 0:\n    _y = 1\n", encoding="utf-8")
    picture, _ = page(tmp_path, str(program), "--over", "x=-1:1", "--of", "_y")
    assert any("a$x$_{<b>&" in text for text in picture.texts)
    assert "\u200b_y" in picture.texts
    status, out, _ = in_process(["plot", str(program), "--over", "x=-1:1", "--of", "_y"])
    assert status == 0
    assert "\u202e" not in out


# --- the terminal ---------------------------------------------------------------------------------


def dots(line: str) -> set[int]:
    """Columns of a line in which something is drawn, two to a character."""
    found = set()
    for k, c in enumerate(line):
        if "\u2800" < c <= "\u28ff":
            bits = ord(c) - 0x2800
            found |= {2 * k} if bits & 0b01000111 else set()
            found |= {2 * k + 1} if bits & 0b10111000 else set()
    return found


def test_in_the_terminal() -> None:
    status, out, err = in_process([*SIGMOID, "--derivatives", "none"])
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].strip() == "1/(1 + exp(-x))"
    assert max(map(len, lines)) <= 80
    rows = [line.partition("│")[2] for line in lines if "│" in line]
    assert len(rows) == 18
    width = 2 * len(next(line for line in lines if "└" in line).partition("└")[2])
    low, high = data(*SIGMOID[1:], "--derivatives", "none")["range"]
    for k, row in enumerate(rows):
        for column in dots(row):
            x = -10 + 20 * (column + 0.5) / width
            y = high - (k + 0.5) * (high - low) / 18
            # Within half a character and a dot up or down, and a dot to the side.
            near = [1 / (1 + math.exp(-(x + d))) for d in (-20 / width, 20 / width)]
            room = (high - low) / 18 * (1 / 2 + 1 / 4)
            assert near[0] - room <= y <= near[1] + room
    drawn = set().union(*map(dots, rows))
    assert len(drawn) == width
    assert lines[-2].split() == ["-10", "x", "10"]
    assert lines[-1] == "── f"


def test_the_terminal_joins_no_poles() -> None:
    out = in_process(["plot", "-e", "1/x", "--over", "x=-1:1", "--derivatives", "none"])[1]
    rows = [line.partition("│")[2] for line in out.splitlines() if "│" in line]
    width = 2 * len(next(line for line in out.splitlines() if "└" in line).partition("└")[2])
    top, bottom = dots(rows[0]), dots(rows[-1])
    assert min(top) >= width // 2
    assert max(bottom) <= width // 2
    middle = set().union(*map(dots, rows[8:10]))
    assert not {width // 2 - 2, width // 2 + 2} & middle


@pytest.mark.parametrize("over", [["--over", "x=-2:2"], ["--over", "x=-2:2", "--over", "y=-2:2"]])
def test_terminals_without_braille(over: list[str], gradcli: Callable[..., Any]) -> None:
    ran = gradcli("plot", "-e", "x^2 - y^2", *over, *(["--at", "y=1"] if len(over) == 2 else []),
                  env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert ran.returncode == 0
    assert ran.stdout.isascii()
    assert "\\u" not in ran.stdout
    assert "|" in ran.stdout
    assert "+--" in ran.stdout


def test_a_field_in_the_terminal() -> None:
    status, out, err = in_process(
        ["plot", "-e", "x^2 + y^2", "--over", "x=-2:2", "--over", "y=-2:2"])
    assert (status, err) == (0, "")
    rows = [line.partition("│")[2] for line in out.splitlines() if "│" in line]
    for row in rows[1:6]:       # above, arrows point away from the middle
        assert not set(row) & set("↓↙↘")
    assert any("→" in row for row in rows[8:10])
    assert "arrows: the direction of its gradient" in out


def test_colour() -> None:
    plain = in_process([*SIGMOID])[1]
    coloured = in_process([*SIGMOID, "--color", "always"])[1]
    assert "\x1b" not in plain
    assert "\x1b[34m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain


# --- what is missing and what is wrong ------------------------------------------------------------


@pytest.mark.parametrize(("library", "more"), [
    ("matplotlib", ["--format", "svg"]), ("plotille", []),
    ("contourpy", ["--over", "y=0:1"])])
def test_without_the_extra(library: str, more: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """E0811 names what to install."""
    for name in [n for n in sys.modules if n.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    formula = "x^2 + y" if library == "contourpy" else "x^2"
    status, out, err = in_process(["plot", "-e", formula, "--over", "x=0:1", *more])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0811]: ")
    assert f"`{library}`" in err
    assert "help: pip install 'gradcli[plot]'" in err


@pytest.mark.parametrize(("arguments", "words"), [
    (["-e", "x^2"], "--over x=-10:10"),
    (["-e", "x^2", "--over", "x=0:1", "-o", "picture.gif"], "does not tell the format"),
    (["-e", "x^2", "--over", "x=0:1", "--derivatives", "0"], "from 1 to"),
    (["-e", "x^2", "--over", "x=0:1", "--derivatives", str(HIGHEST + 1)], "from 1 to"),
    (["--over", "x=0:1"], "give a formula"), (["-e", "u^2"], "--over u=-10:10"),
    (["-e", "x", "--over", "x=0:1", "-o", "a.png", "--format", "svg"], "leave one of them out"),
])
def test_misuse(arguments: list[str], words: str) -> None:
    ran = run(sys.executable, "-m", "gradcli", "plot", *arguments,
              env={"PYTHONPATH": str(ROOT), "NO_COLOR": "1"})
    assert ran.returncode == 2
    assert words in " ".join(ran.stderr.split())


@pytest.mark.parametrize(("over", "code"), [
    (["x"], "E0812"), (["x=1"], "E0812"), (["x=1:"], "E0812"), (["x=a:1"], "E0214"),
    (["x=1:1"], "E0812"), (["x=0:1/0"], "E0812"), (["x=0:[1,2]"], "E0812"), (["3=0:1"], "E0812"),
    (["x=0:1", "x=0:1"], "E0812"), (["x=0:1", "y=0:1", "x2=0:1"], "E0812"), (["q=0:1"], "E0812"),
    (["x=1:1.0000000001"], "E0812"), (["x=0:1e-300"], "E0812"),
    (["x=0:\"a\""], "E0812"), (["x=-1e308:1e308"], "E0812"),
])
def test_ranges_that_are_none(over: list[str], code: str) -> None:
    words = [word for text in over for word in ("--over", text)]
    status, out, err = in_process(["plot", "-e", "x*y + x2", *words, "--at", "x2=1"])
    assert (status, out) == (3, "")
    assert err.startswith(f"error[{code}]: ")
    assert "--over" in err


@pytest.mark.parametrize(("arguments", "words"), [
    (["-e", "x + a", "--over", "x=0:1"], "`a` has no value"),
    (["-e", "x + a", "--over", "x=0:1", "--at", "a=1,x=2"], "a range in --over and a value in"),
    (["-e", "complex(x, 1)", "--over", "x=0:1", "--derivatives", "none"], "complex"),
    (["-e", "x + 1", "--over", "x=0:1", "--of", "q"], "`q`"),
    (["-e", "inverse(eye(2)*0*x)[0,0]", "--over", "x=0:1"], ""),
    (["-e", "a = x + y; b = x*y", "--over", "x=0:1", "--over", "y=0:1", "--of", "a,b"],
     "one target"),
])
def test_programs_that_cannot_be_drawn(arguments: list[str], words: str) -> None:
    status, out, err = in_process(["plot", *arguments])
    assert (status, out) == (3, "")
    assert err.startswith("error[E")
    assert words in err


def test_highest_order() -> None:
    answer = data("-e", "exp(2*x)", "--over", "x=-1:0", "--derivatives", str(HIGHEST))
    curve = answer["curves"][1]
    assert curve["name"] == f"f^({HIGHEST})"
    for x, y in curve["segments"][0]:
        assert y == pytest.approx(2**HIGHEST * math.exp(2 * x), rel=1e-12)


# --- what others import ---------------------------------------------------------------------------


@pytest.mark.parametrize("commands", [
    [["grad", "-e", "x^2", "--at", "x=3"], ["eval", "-e", "2"],
     ["why", "-e", "floor(x)", "--at", "x=1.5"], ["check", "x^2", "2x"], ["ops", "tanh"],
     ["grad", "-e", "x^2", "--points", "x=linspace(0,1,5)"]],
    [["plot", "-e", "x^2", "--over", "x=0:1", "--format", "json"],
     ["graph", "-e", "x^2", "--at", "x=3"]]], ids=lambda commands: commands[0][0])
def test_other_commands_import_none_of_it(
        commands: list[list[str]], home: dict[str, str | None]) -> None:
    """What is drawn with is imported where something is drawn."""
    code = ("import sys\nfrom gradcli.cli.main import main\n"
            f"for arguments in {commands!r}:\n    sys.argv = ['gradcli', *arguments]\n"
            "    try:\n        main()\n    except SystemExit as end:\n"
            "        assert not end.code, arguments\n"
            "print(*sys.modules, file=sys.stderr)")
    ran = run(sys.executable, "-c", code, env=home)
    assert ran.returncode == 0, ran.stderr
    modules = set(ran.stderr.splitlines()[-1].split())
    assert not {"matplotlib", "plotille", "contourpy"} & modules
    assert "gradcli.render.pictures.files" not in modules
    if commands[0][0] != "plot":
        assert not [m for m in modules if m.startswith(
            ("gradcli.questions.pictures", "gradcli.cli.options.pictures"))]


# --- where values are rounding --------------------------------------------------------------------


@pytest.mark.parametrize(("formula", "derivatives", "over", "hidden"), [
    ("(exp(x) - 1)/x", "1", "x=-1:1", {"f'"}), ("(exp(x) - 1)/x", "1", "x=-0.3:0.9", {"f'"}),
    ("log(1 + x)/x", "1", "x=-0.9:1", set()),
    ("(1 - cos(x))/x^2", "1,2", "x=-1:1", {"f", "f'", "f''"}),
    ("(x^2 - 1)/(x - 1)", "1", "x=-1:2", {"f'"}),
    ("sin(x)/x", "1,2,3", "x=-3:3", {"f''", "f'''"}),
    ("(tan(x) - sin(x))/x^3", "1", "x=-1:1", {"f", "f'"}),
])
def test_rounding_beside_removable_singularities_is_no_kink(
        formula: str, derivatives: str, over: str, hidden: set[str]) -> None:
    answer = data("-e", formula, "--over", over, "--derivatives", derivatives)
    told = [note["message"] for note in answer["notes"]]
    where = 1 if "x - 1" in formula else 0
    assert {text.split()[2] for text in told if text.endswith(f" near x = {where}")} == hidden
    assert not {"kink", "jump", "pole", "gap"} - {"pole"} & set(notes(answer))
    for curve in answer["curves"]:
        assert curve["kinks"] == curve["jumps"] == []
        assert where not in curve["poles"]
        # What is drawn is the curve: to a hundredth of the picture, by mpmath.
        exact = re.sub(r"\b(\d+)\b", r"mpf(\1)", formula.replace("^", "**"))
        room = 0.01 * (answer["range"][1] - answer["range"][0])
        with mpmath.workdps(60):
            def true(x: Any, exact: str = exact) -> Any:
                return eval(exact, {"x": x, "exp": mpmath.exp, "log": mpmath.log,
                                    "cos": mpmath.cos, "sin": mpmath.sin, "tan": mpmath.tan,
                                    "mpf": mpmath.mpf})

            for x, y in [p for s in curve["segments"] for p in s]:
                if x != where and abs(x - where) < 0.01 and abs(x - where) > 1e-9:
                    assert abs(y - mpmath.diff(true, x, curve["order"], h=1e-14)) < room, x


@pytest.mark.parametrize(("formula", "kinks", "jumps"), [
    ("abs(x - 0.25)", [0.25], []), ("floor(2*x)", [], [-0.5, 0, 0.5, 1]),
    ("sign(x - 0.3)*x", [], [0.3]), ("round(3*x)", [], [-5/6, -0.5, -1/6, 1/6, 0.5, 5/6]),
    ("min(x, x^2)", [0, 1], []), ("max(x, -x, 0.2)", [-0.2, 0.2], []), ("atan(1/x)", [], [0]),
    ("where(x > 0.1, x, x^2)", [], [0.1]), ("where(x > 0, sin(x)/x, 2)", [], [0]),
])
def test_kinks_and_jumps_are_still_found(
        formula: str, kinks: list[float], jumps: list[float]) -> None:
    curve = data("-e", formula, "--over", "x=-1:1")["curves"][0]
    assert [x for x, _ in curve["kinks"]] == pytest.approx(kinks, abs=1e-11)
    assert curve["jumps"] == pytest.approx(jumps, abs=1e-11)


def test_rounding_of_high_derivatives_and_of_several_targets(tmp_path: Path) -> None:
    answer = data("-e", "sin(x)/x", "--over", "x=-3:3", "--derivatives", "1,2,3,4,5")
    assert [c["jumps"] + c["kinks"] for c in answer["curves"]] == [[]]*6
    program = tmp_path / "two.txt"
    program.write_text("a = (exp(x) - 1)/x*[1, 2]\nb = abs(x)\n")
    answer = data(str(program), "--over", "x=-1:1", "--of", "a", "--of", "b")
    found = {c["name"]: (c["jumps"], [x for x, _ in c["kinks"]]) for c in answer["curves"]}
    assert found.pop("b") == ([], [0])
    assert found.pop("b'") == ([0], [])
    assert set(map(str, found.values())) == {"([], [])"}
    (one,) = [n for n in answer["notes"] if n["code"] == "kink"]
    assert one["message"].startswith("b has a kink at x = 0")


def test_a_pole_between_points_is_no_jump() -> None:
    answer = data("-e", "gamma(3*x)", "--over", "x=-1:1")
    assert answer["curves"][0]["jumps"] == []
    assert set(notes(answer)) == {"pole"}


def test_timeout_and_steps_end_a_picture(tmp_path: Path) -> None:
    program = tmp_path / "many.txt"
    program.write_text("y = x\n" + "".join(
        [f"y = y + sin({k}*x)/{k + 1}\n" for k in range(3000)]))
    command = ["plot", str(program), "--over", "x=-1:1"]
    status, out, err = in_process([*command, "--timeout", "0.2"])
    assert (status, out) == (3, "")
    assert "error[E0406]: stopped after 0.2 seconds" in err
    status, out, err = in_process([*command, "--max-steps", "100"])
    assert (status, out) == (3, "")
    assert "error[E0401]" in err


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("arguments", [
    ["plot", "-e", "x^2", "--over", "x=0:1", "--format", "png"],
    ["graph", "-e", "x^2", "--at", "x=1", "--format", "pdf"]])
def test_no_bytes_of_a_picture_on_a_terminal(arguments: list[str]) -> None:
    streams = [Terminal(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    assert main.run(arguments, Environment(io.BytesIO(), *streams)) == 2
    for stream in streams:
        stream.flush()
    out, err = [s.buffer.getvalue().decode() for s in streams]  # type: ignore[attr-defined]
    assert out == ""
    assert f"-o picture.{arguments[-1]}" in err


def test_what_is_wrong_with_the_file_is_told_before_the_axis() -> None:
    status, _, err = in_process(["plot", "-e", "x +* 2"])
    assert (status, "--over" in err) == (3, False)
    _, _, err = in_process(["plot", "-e", "x", "--over", "x=0:1", "--over", "x=0:2"])
    assert "`x` has two ranges" in err


def test_curves_differ_without_colour() -> None:
    """x, then 1 - x with gaps: of a straight line every column has a dot, of a dashed one some."""
    out = in_process(["plot", "-e", "x^2", "--over", "x=-1:1"])[1]
    assert out.splitlines()[-1] == "── f   ╌╌ f'"
    out = in_process(["plot", "-e", "x*[1, 0, -1]", "--over", "x=0.5:1", "--derivatives",
                      "none"])[1]
    lines = out.splitlines()
    assert lines[-1] == "── f[0]   ╌╌ f[1]   ·· f[2]"
    rows = [line.partition("│")[2] for line in lines if "│" in line]
    width = 2 * len(next(line for line in lines if "└" in line).partition("└")[2])
    counts = [len(set().union(*map(dots, part))) for part in (rows[:7], rows[7:11], rows[11:])]
    assert counts[0] == width
    assert counts[1] == pytest.approx(0.6 * width, abs=6)       # six dots of ten
    assert counts[2] == pytest.approx(0.25 * width, abs=6)      # one of four


@pytest.mark.parametrize(("range", "marks"), [
    ("-1:1", {0: "1", 9: "0", 17: "-1"}), ("0:10", {0: "10", 9: "5", 17: "0"}),
    ("-0.03:0.02", {0: "0.02", 7: "0", 14: "-0.02"})])
def test_marks_of_the_axis_are_round(range: str, marks: dict[int, str]) -> None:
    out = in_process(["plot", "-e", "x", "--over", "x=0:1", "--range=" + range])[1]
    rows = [line.partition("│")[0].strip() for line in out.splitlines() if "│" in line]
    for row, mark in marks.items():
        assert rows[row] == mark
