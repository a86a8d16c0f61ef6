"""A kink is noted where slopes to both sides differ, or the convention is neither, and only there.

The reference are one-sided differences of the program's values.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from functools import cache

import pytest
from transcripts import in_process

import gradcli
from gradcli.ops import PUBLIC, TABLE
from gradcli.ops.kinds import UNREGISTERED

# Rows of one argument with a kink at 0, and others as formulas of x that have one there.
ROWS = sorted(name for name in TABLE for op in [TABLE[name]]
              if op.elementwise and op.kink is not None and len(op.parameters) == 1
              and op.kind != UNREGISTERED and not op.attributes and op.kink(0.0))
KINKS = [f"{name}({{}})" for name in ROWS if name not in ("sqrt", "cbrt")] + [
    "maximum({}, 0)", "minimum({}, 2*x)", "maximum({}, -x)", "clip({}, 0, 1)", "norm([{}, x])",
    "max([{}, 2*x, 0])", "min([{}, -x])", "sum(sort([{}, x, 0])*[1, 2, 3])", "clip_by_norm({}, 1)",
    "relu({})", "median([{}, 0, -x])", "hard_tanh({} - 1)", "leaky_relu({})", "prelu({}, 0.3)",
    "where(x > -1, abs({}), x)", "where(x > 5, abs({}), x)", "huber_loss({}, x)",
    "sum(relu([{}, 1, -x]))"]
AROUND = ["{}", "x*{}", "({})^2", "{0} - {0}", "{} + sin(x)", "exp({})", "-2*{}", "abs({})",
          "where(x < 5, {}, x)", "{} + abs(x)", "{} - abs(x)", "maximum({}, x)"]
INSIDE = ["x", "-x", "x^2", "x^3", "sin(x)", "x + x"]
JUMPS = [name for name in ROWS if "jumps" in TABLE[name].kinks]
STEP, CLOSE = 1e-6, 1e-3


def formulas() -> list[str]:
    every = [outer.format(kink.format(inner)) for outer, kink, inner in itertools.product(
        AROUND, KINKS, INSIDE)]
    plain = [kink.format("x") for kink in KINKS]
    return plain + random.Random(15).sample(every, 400)


@cache
def usable() -> list[str]:
    """Those that a file may write."""
    found = []
    for formula in formulas():
        try:
            value = gradcli.loads(formula).value(at={"x": 0.0})
        except gradcli.GradcliError:
            continue
        if isinstance(value, float) and math.isfinite(value):
            found.append(formula)
    return found


def test_there_are_enough() -> None:
    assert len(usable()) > 300
    assert len(ROWS) >= 5


def sides(formula: str) -> tuple[float, float] | None:
    """The slopes to the left and right by differences; None where the value jumps."""
    program = gradcli.loads(formula)

    def f(x: float) -> float:
        return float(program.value(at={"x": x}))

    if any(abs(f(h) - f(0.0)) > 1e-3 for h in (-STEP, STEP)):
        return None
    # Twice the half step less the step: exact for parabolas.
    return tuple((4*f(h/2) - f(h) - 3*f(0.0))/h for h in (-STEP, STEP))  # type: ignore[return-value]


@pytest.mark.parametrize("part", range(6))
def test_a_kink_is_noted_where_it_is_one(part: int) -> None:
    kinks = 0
    for formula in usable()[part::6]:
        status, out, err = in_process(
            ["grad", "-e", formula, "--at", "x=0", "--format", "json"])
        assert status == 0, err
        source = json.loads(out)["results"][0]["sources"][0]
        noted = [n for n in source["notes"] if n["code"] in ("kink", "tie")]
        slopes = sides(formula)
        g = source["gradient"]
        if slopes is None or not isinstance(g, (int, float)):
            continue
        left, right = slopes
        differ = abs(left - right) > CLOSE or abs(g - right) > CLOSE
        # What jumps is told even where it cancels.
        right_so = bool(noted) == differ or (noted and any(f"{n}(" in formula for n in JUMPS))
        assert right_so, (formula, left, right, g, source["notes"])
        kinks += differ
    assert kinks > 10


@pytest.mark.parametrize(("formula", "at", "noted"), [
    ("clip_by_norm(x, 1)", "x=0", False), ("clip_by_norm(x, 1)", "x=[0,0]", False),
    ("sum(clip_by_norm(x, 1))", "x=[0,0]", False), ("clip_by_norm(x, 1)", "x=1", True),
    ("sum(abs(x))", "x=[0,1]", True), ("sum(abs(x)*[0,1])", "x=[0,1]", False),
    ("sum(x*abs(x))", "x=[0,1]", False), ("max(x)", "x=[1,1]", True), ("max(x)", "x=[1,2]", False),
    ("norm(x)", "x=[0,0]", True), ("norm(x)^2", "x=[0,0]", False),
    ("max(x)", "x=[[1,1],[0,0]]", True), ("sum(sort(x))", "x=[1,1]", False),
    ("sum(sort(x)*[1,2])", "x=[1,1]", True), ("maximum(x, x)", "x=1", False),
])
def test_kinks_by_hand(formula: str, at: str, noted: bool) -> None:
    _, out, _ = in_process(["grad", "-e", formula, "--at", at, "--format", "json"])
    notes = json.loads(out)["results"][0]["sources"][0]["notes"]
    assert any(n["code"] in ("kink", "tie") for n in notes) == noted


def test_a_second_derivative_has_the_kinks_of_the_first() -> None:
    for formula in ("relu(x)^2", "x*abs(x)"):
        _, out, _ = in_process(["hess", "-e", formula, "--at", "x=0", "--format", "json"])
        assert "kink" in out
    assert in_process(["taylor", "-e", "x*abs(x)", "--at", "x=0"])[0] == 3
    assert in_process(["tangent", "-e", "x*abs(x)", "--at", "x=0"])[0] == 0
    assert in_process(["tangent", "-e", "abs(x)", "--at", "x=0"])[0] == 3


@pytest.mark.parametrize("name", ["xdivy", "divide_no_nan"])
def test_a_quotient_that_is_0_by_convention(name: str) -> None:
    """A note where x/y has no limit: values beside the point are far from the one there."""
    for x, y in itertools.product((0.0, 1.0, -2.0), repeat=2):
        def value(a: float, b: float) -> float:
            return a / b if b and (a or name != "xdivy") else 0.0 if not a or b == 0 else math.inf

        if name == "xdivy" and x and not y:
            continue  # a pole
        here = value(x, y)
        jumps = any(abs(value(x + s * STEP, y + t * STEP) - here) > 0.5
                    for s, t in ((1, 1), (1, -1), (0, 1)))
        status, out, _ = in_process(["grad", "-e", f"{name}(x, y)", "--at", f"x={x},y={y}",
                                     "--format", "json"])
        assert status == 0
        sources = json.loads(out)["results"][0]["sources"]
        codes = {n["code"] for source in sources for n in source["notes"]}
        assert ("kink" in codes) == jumps, (x, y, codes)


ARMS = ["x", "-x", "x^2", "-x^2", "sin(x)", "exp(x)", "x*abs(x)", "1 + x", "0*x", "3*x - x^3"]
CHOICES = ["where(x > 0, {0}, {1})", "where(0 >= x, {0}, {1})", "{0} if x < 0 else {1}",
           "{0} if x^2 + x >= 0 and x < 1 else {1}", "where(x == 0, {0}, {1})",
           "where(sin(x) > x^3, {0}, {1})", "{0} if not x <= 0 else {1}",
           "x + where(floor(x + 0.5) == 0, {0}, {1})", "({0} if x > 0 else {1})*cos(x)"]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_at_its_boundary_is_noted_where_the_sides_differ(choice: str) -> None:
    """By where or if; the reference are differences of the values."""
    noted = 0
    for one, other in itertools.product(ARMS, repeat=2):
        formula = choice.format(one, other)
        status, out, err = in_process(["grad", "-e", formula, "--at", "x=0", "--format", "json"])
        assert status == 0, err
        source = json.loads(out)["results"][0]["sources"][0]
        slopes = sides(formula)
        differ = slopes is None or any(abs(source["gradient"] - s) > CLOSE for s in slopes)
        assert any(n["code"] == "boundary" for n in source["notes"]) == differ, (
            formula, slopes, source)
        noted += differ
    assert (noted > 30) == ("floor" not in choice)


@pytest.mark.parametrize(("formula", "at", "first", "second"), [
    ("where(x > 0, x^2, -x^2)", "x=0", False, True), ("x^3 if x > 0 else x^4", "x=0", False, False),
    ("sum(where(x > 0, x, -x))", "x=[0,1]", True, True), ("where(x > y, x, y)", "x=1,y=1", True, 1),
    ("sum(where(x > 0, x^2, -x^2))", "x=[0,1]", False, True),
    ("where(x > 1e15, x, 1e15)", "x=1e15", True, True),
    ("where(x > 0, sqrt(x), 0)", "x=0", True, True), ("where(x > 0, x^1.5, 0)", "x=0", False, True),
    ("[x if x > 0 else -x, x][1]", "x=0", False, False)])
def test_boundaries_by_hand(formula: str, at: str, first: bool, second: bool) -> None:
    for command, expected in (("grad", first), ("hess", second)):
        _, out, _ = in_process([command, "-e", formula, "--at", at, "--format", "json"])
        assert ('"boundary"' in out) == bool(expected), (command, out)


# Formulas of 0/0 at 0 whose rounding beside 0 is large, with their limits by mpmath.
HOLES = [
    ("(exp(x) - 1)/x", 1.0), ("log(1 + x)/x", 1.0), ("(1 - cos(x))/x^2", 0.5),
    ("(sqrt(1 + x) - 1)/x", 0.5), ("(x - sin(x))/x^3", 1/6), ("(tan(x) - x)/x^3", 1/3),
    ("(exp(x) - 1 - x)/x^2", 0.5), ("((1 + x)^5 - 1)/x", 5.0), ("(2^x - 1)/x", math.log(2)),
    ("tan(x)/x", 1.0)]


@pytest.mark.parametrize(("formula", "limit"), HOLES)
def test_rounding_beside_a_hole_is_no_jump(formula: str, limit: float) -> None:
    for filled in ("where(x == 0, {1}, {0})", "where(x != 0, {0}, {1})"):
        for off in (0.0, 0.01, -3.0):
            _, out, _ = in_process(["grad", "-e", filled.format(formula, f"({limit + off!r})"),
                                    "--at", "x=0", "--format", "json"])
            assert ("the value jumps there" in out) == (off != 0.0), out


def test_second_derivatives_beside_a_hole() -> None:
    """The limit of sin(x)/x has the second derivative -1/3."""
    for inside, differ in (("1", True), ("1 - x^2/6", False), ("1 - x^2/5", True),
                           ("1 - 0.16666666666666666*x^2", False)):
        _, out, _ = in_process([
            "hess", "-e", f"where(x == 0, {inside}, sin(x)/where(x == 0, 1, x))", "--at", "x=0",
            "--format", "json"])
        assert ("derivatives of order 2 differ" in out) == differ, inside


# What compares inside, as one operation, and is at a kink there.
COMPOSITES = sorted({op.name for op in PUBLIC.values() if op.expand is not None and op.parameters})


@pytest.mark.parametrize("at", ["x=0,y=1", "x=1,y=1", "x=0,y=0"])
def test_a_kink_of_an_operation_is_told_once(at: str) -> None:
    tied = set()
    for name, rest in itertools.product(COMPOSITES, ("", ", 1", ", [1, 0]")):
        for command, parts in (("grad", "sources"), ("hess", "blocks")):
            status, out, _ = in_process([command, "-e", f"sum({name}([x, y]{rest}))", "--at", at,
                                         "--format", "json"])
            if status:
                continue
            (result,) = json.loads(out)["results"]
            for part in result[parts]:
                told = [n["code"] for n in (*result["notes"], *part["notes"])
                        if n["code"] in ("kink", "tie", "boundary")]
                assert len(told) < 2 or "boundary" not in told, (name, rest, told)
                tied |= {name} if told else set()
    assert "clip_by_norm" in tied or at != "x=0,y=1"


@pytest.mark.parametrize("formula", ["abs(x) + abs(x)", "where(x>0, x, -x)*2 + where(x>0, x, -x)",
                                     "relu(x)*y + relu(x)", "abs(x)*sqrt(abs(x))"])
@pytest.mark.parametrize("command", ["grad", "hess", "jac", "verify", "directional"])
def test_a_line_of_notes_is_printed_once(formula: str, command: str) -> None:
    at = ["--at", "x=0,y=1" if "y" in formula else "x=0"]
    more = ["--direction", "1,1" if "y" in formula else "1"] if command == "directional" else []
    for form in ("plain", "table"):
        status, out, err = in_process([command, "-e", formula, *at, *more, "--format", form])
        notes = [one for one in (out + err).splitlines() if "kink" in one or "equal" in one
                 or "both sides" in one]
        assert len(notes) == len(set(notes))
        assert status or notes or command == "verify"
