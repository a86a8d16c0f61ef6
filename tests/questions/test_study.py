"""gradcli study against points that mpmath found: what is there is found, and nothing else is told.
"""

from __future__ import annotations

import json
from math import inf, isfinite
from typing import Any

import pytest
from asked import valid
from folders import DATA
from sympy import sympify
from transcripts import in_process

# Of each function: zeros, maxima, minima, flat (critical, no extremum) and inflections by bisection
# with 40 digits, in a window that has all of them or that `over` names; the rest by hand.
KINDS = {"maxima": "maximum", "minima": "minimum"}
NEAR = 1e-7
LEAST = 0.95    # of what is there


def table() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    formula = ""
    for line in (DATA / "study/one.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            what, _, value = line.strip().partition(" ")
            found[formula][what] = value.strip()
        else:
            formula = line
            found[formula] = {}
    return found


STUDIES = table()


def studied(formula: str, *more: str) -> dict[str, Any]:
    status, out, err = in_process(["study", "-e", formula, "--format", "json", *more])
    assert status == 0, (formula, err)
    answer = json.loads(out)
    valid(answer, "study")
    (result,) = answer["results"]
    return dict(result)


def numbers(text: str) -> list[float]:
    return [float(sympify(part)) for part in text.split(",") if part.strip()]


def points(result: dict[str, Any]) -> dict[str, list[float]]:
    """What a study tells, in the words of the table; kinks that are extrema are both."""
    critical = [*result["critical"], *[one for one in result["kinks"] if one.get("kind")]]
    return {
        "zeros": [one["x"] for one in result["zeros"]],
        **{what: [one["x"] for one in critical if one["kind"] == kind]
           for what, kind in KINDS.items()},
        "inflections": [one["x"] for one in result["inflections"]],
        "poles": [one["x"] for one in result["poles"] if one["kind"] not in ("removable", "jump")],
        "removable": [one["x"] for one in result["poles"] if one["kind"] == "removable"]}


def compared(formula: str) -> tuple[list[str], list[str], int]:
    """Return what is missing, what is told and is not there, and how much there is."""
    expected = STUDIES[formula]
    over = expected.get("over")
    found = points(studied(formula, *(["--over", f"x={over}"] if over else [])))
    missing, false, count = [], [], 0
    for what, told in found.items():
        there = numbers(expected.get(what, ""))
        count += len(there)
        close = [[x for x in told if abs(x - y) <= NEAR * (1 + abs(y))] for y in there]
        missing += [f"{what} {y}" for y, one in zip(there, close, strict=True) if not one]
        if all(isfinite(x) for x in told):
            near = [x for one in close for x in one]
            false += [f"{what} {x}" for x in told if x not in near]
    return missing, false, count


def test_what_is_there_is_found_and_nothing_else_is_told() -> None:
    missing: dict[str, list[str]] = {}
    false: dict[str, list[str]] = {}
    count = 0
    for formula in STUDIES:
        lost, wrong, there = compared(formula)
        count += there
        if lost:
            missing[formula] = lost
        if wrong:
            false[formula] = wrong
    assert not false
    assert count > 150
    assert sum(map(len, missing.values())) <= (1 - LEAST) * count, missing


def test_limits_at_the_ends_and_asymptotes() -> None:
    wrong: list[tuple[Any, ...]] = []
    missing = count = 0
    for formula, expected in STUDIES.items():
        if "over" in expected:
            continue
        result = studied(formula)
        for end, text in zip(("-inf", "inf"), expected.get("limits", "").split(), strict=False):
            told = result["limits"].get(end)
            if told is not None and text != "." and abs(float(told) - float(text)) > NEAR and (
                    float(told) != float(text)):
                wrong.append((formula, end, told, text))
        wanted = [one.strip() for one in expected.get("asymptotes", "").split(";") if one.strip()]
        told = [one["formula"] for one in result["asymptotes"]]
        missing += len(set(wanted) - set(told))
        count += len(wanted)
        wrong += [(formula, "asymptote", one, wanted) for one in told if one not in wanted]
    assert not wrong
    assert missing <= (1 - LEAST) * count


@pytest.mark.parametrize("formula", ["x*sin(x)", "x^2*cos(x)", "exp(-x^2)*sin(3*x)"])
def test_numbers_of_symmetric_functions_are_symmetric(formula: str) -> None:
    """The same zero on both sides is the same number, to some units of the last digit."""
    found = studied(formula, "--over", "x=-9:9")
    for what in ("zeros", "critical", "inflections"):
        xs = sorted(one["x"] for one in found[what])
        assert xs == pytest.approx([-x for x in reversed(xs)], rel=1e-15, abs=0), what


def test_what_proves_a_number_is_around_it() -> None:
    for formula in ("x*sin(x)", "x^5 - x - 1", "exp(x) - 3*x"):
        found = studied(formula)
        for what in ("zeros", "critical", "inflections"):
            for one in found[what]:
                low, high = one.get("between") or (-inf, inf)
                assert low <= one["x"] <= high


def test_limits_against_sympy() -> None:
    """None is another than SymPy's, and at most four of 83 are not known."""
    rows = [line.split("\t") for line in (DATA / "study/limits.tsv").read_text(
        encoding="utf-8").splitlines() if not line.startswith("#")]
    wrong, unknown = [], []
    for formula, point, side, said, number in rows:
        status, out, err = in_process([
            "limit", "-e", formula, "--at", f"x={point}", "--format", "json",
            *(["--side", side] if side else [])])
        assert status == 0, (formula, err)
        answer = json.loads(out)
        valid(answer, "limit")
        (result,) = answer["results"]
        told = result["value"]
        expected = float(number.replace("oo", "inf"))
        if told is None:
            unknown.append((formula, point))
        elif abs(expected) == inf and float(told) != expected:
            wrong.append((formula, point, told, said))
        elif isfinite(expected) and abs(float(told) - expected) > 1e-9 * (1 + abs(expected)):
            wrong.append((formula, point, told, said))
    assert len(rows) >= 80
    assert not wrong
    assert len(unknown) <= 4, unknown
