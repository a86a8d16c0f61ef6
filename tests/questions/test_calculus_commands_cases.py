"""taylor, tangent, implicit, newton and propagate against sympy, mpmath and `uncertainties`.

The numbers are in data/calculus/cases.json, written by data/calculus/make.py: 50 for each command.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from asked import loaded
from folders import DATA

CASES: dict[str, list[Any]] = json.loads(
    (DATA / "calculus/cases.json").read_text())


def cases(command: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "case", CASES[command], ids=[f"{k}-{c['text']}" for k, c in enumerate(CASES[command])])


def point(at: dict[str, float]) -> str:
    return ",".join([f"{name}={value!r}" for name, value in at.items()])


def asked(command: str, case: Any, *options: str) -> Any:
    return loaded(command, "-e", case["text"], *options)["results"][0]


def near(got: float, text: str, scale: float = 0.0, rel: float = 1e-12) -> None:
    """To `rel` of the number, or of what it is a difference of."""
    want = float(text)
    assert math.isclose(got, want, rel_tol=rel, abs_tol=rel * scale), (got, want)


def test_there_are_fifty_of_each() -> None:
    assert {name: len(found) for name, found in CASES.items()} == dict.fromkeys(
        ("taylor", "tangent", "implicit", "newton", "propagate"), 50)


@cases("taylor")
def test_taylor(case: Any) -> None:
    found = asked("taylor", case, "--at", f"x={case['at']!r}", "--order", str(case["order"]))
    terms = found["terms"]
    assert [t["powers"] for t in terms] == [{"x": k} if k else {} for k in range(case["order"] + 1)]
    scale = max([abs(float(c)) for c in case["coefficients"]])
    for k, (term, want) in enumerate(zip(terms, case["coefficients"], strict=True)):
        near(term["coefficient"], want, scale)
        assert math.isclose(term["derivative"], term["coefficient"] * math.factorial(k),
                            rel_tol=1e-14)


@cases("tangent")
def test_tangent(case: Any) -> None:
    found = asked("tangent", case, "--at", point(case["at"]), "--wrt", ",".join(case["at"]))
    assert found["kind"] == ("line" if len(case["at"]) == 1 else "plane")
    for name, want in case["slopes"].items():
        near(found["slopes"][name], want)
    scale = abs(found["value"]) + sum([
        abs(float(m) * case["at"][name]) for name, m in case["slopes"].items()])
    near(found["intercept"], case["intercept"], scale)
    # The normal is orthogonal to every direction in the tangent.
    for k, slope in enumerate(found["slopes"].values()):
        assert abs(found["unit_normal"][k] + slope * found["unit_normal"][-1]) < 1e-14
    assert math.isclose(math.hypot(*found["unit_normal"]), 1.0)


@cases("implicit")
def test_implicit(case: Any) -> None:
    found = asked("implicit", case, "--wrt", "x", "--dependent", "y", "--order",
                  str(case["order"]), "--at", point({"x": case["x"], "y": case["y"]}))
    scale = max([abs(float(d)) for d in case["derivatives"]])
    for one, want in zip(found["derivatives"], case["derivatives"], strict=True):
        near(one["derivative"], want, scale)


@cases("newton")
def test_newton(case: Any) -> None:
    options = ["--minimum"] if case["goal"] == "minimum" else []
    found = asked("newton", case, "--at", f"x={case['start']!r}", *options)
    assert found["converged"] is True
    near(found["solution"]["x"], case["solution"], abs(case["start"]), 1e-9 if options else 1e-12)
    rows = found["iterates"]
    assert [row["step"] for row in rows] == list(range(found["steps"] + 1))
    assert rows[0]["at"] == {"x": case["start"]}
    assert rows[-1]["at"] == found["solution"]
    for before, row in pairwise(rows):
        assert math.isclose(abs(row["at"]["x"] - before["at"]["x"]), row["length"])


@cases("propagate")
def test_propagate(case: Any) -> None:
    names = list(case["at"])
    options = ["--sigma", point(case["sigma"])]
    if case["correlation"]:
        options += ["--correlation", point(case["correlation"])]
    found = asked("propagate", case, "--at", point(case["at"]), "--wrt", ",".join(names), *options)
    assert math.isclose(found["value"], case["value"], rel_tol=1e-13)
    # The package takes correlated values apart by eigenvectors, which costs it some digits.
    assert math.isclose(found["sigma"], case["std"], rel_tol=1e-9 if case["correlation"] else 1e-12)
    assert math.isclose(sum([one["share"] for one in found["inputs"]]), 1.0)
