"""`verify` at points near 0: the complex step is relative to the point. The reference is mpmath."""

from __future__ import annotations

import json
from typing import Any

import mpmath
import pytest
from transcripts import in_process

CASES: list[tuple[str, Any]] = [
    ("x^0.3", lambda x: x**mpmath.mpf(0.3)), ("x^x", lambda x: x**x),
    ("log(x)", mpmath.log), ("sqrt(x)", mpmath.sqrt), ("x*log(x)", lambda x: x*mpmath.log(x)),
    ("x^2 + x", lambda x: x**2 + x), ("sin(x)", mpmath.sin), ("1/(1+x)", lambda x: 1/(1 + x)),
]


@pytest.mark.parametrize("at", ["1e-90", "1e-200", "1e-300"])
@pytest.mark.parametrize(("text", "f"), CASES, ids=[text for text, _ in CASES])
def test_no_false_alarm_near_0(text: str, f: Any, at: str) -> None:
    status, out, _ = in_process(
        ["verify", "-e", text, "--at", f"x={at}", "--format", "json"], b"")
    result = json.loads(out)["results"][0]
    (element,) = result["sources"][0]["elements"]
    with mpmath.workdps(700):
        x = mpmath.mpf(float(at))
        right = float(mpmath.diff(f, x, h=x*mpmath.mpf(10)**-30))
    assert status == 0
    assert "has another value" not in out
    assert float(element["complex"]) == pytest.approx(right, rel=1e-9)
