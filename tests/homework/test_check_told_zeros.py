"""What is 0 within rounding is called 0 in sentences: cos(pi/2) is no 6e-17."""

from __future__ import annotations

import math

import pytest
from test_check import check

PI = math.pi


@pytest.mark.parametrize(("function", "at"), [
    ("sin x", PI/2), ("sin x", -3*PI/2), ("cos x", PI), ("cos x", 7*PI), ("sin^2 x", PI),
    ("x sin x + cos x", PI/2), ("sin(3x)", PI/6)])
def test_a_right_value_of_0_is_told_as_0(function: str, at: float) -> None:
    result = check(function, "1", kind="value", at={"x": at})
    assert result["verdict"] == "wrong"
    assert result["message"].endswith("this is 1, and should be 0")
    assert check(function, "0", kind="value", at={"x": at})["verdict"] == "correct"


def test_an_answer_of_0_is_told_as_0() -> None:
    assert "this is 0, and should be -1" in check(
        "cos x", "cos(pi/2)", kind="value", at={"x": PI/2})["message"]


@pytest.mark.parametrize("factor", ["1e-12", "1e-20", "1e-200"])
def test_a_small_value_is_no_zero(factor: str) -> None:
    message = check(f"{factor} x^2", "1", kind="value", at={"x": 3})["message"]
    assert message.endswith(f"should be {6*float(factor):.6g}")
