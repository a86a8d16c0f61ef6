"""newton far from a root: it gets there, or says the true reason."""

from __future__ import annotations

import json
import math
import random

import pytest
from draws import drawn
from transcripts import in_process

# Functions of x with the value 0 at x = a only.
ROOTS = ["exp(x) - exp({a})", "10^x - 10^{a}", "2^x - 2^{a}", "x^2 - {a}^2", "x^3 - {a}^3",
         "x^5 + x - ({a}^5 + {a})", "sinh(x) - sinh({a})", "exp(x) + x - (exp({a}) + {a})",
         "exp(-x) - exp(-{a})", "x^2*exp(x) - {a}^2*exp({a})", "atan(x) - atan({a})",
         "(x - {a})^2", "(x - {a})^3*exp(x)", "sqrt(x) - sqrt({a})", "ln(x) - ln({a})"]


def asked(text: str, start: float) -> tuple[int, dict[str, object]]:
    status, out, _ = in_process(
        ["newton", "-e", text, "--at", f"x={start!r}", "--format", "json"])
    (found,) = json.loads(out)["results"]
    return status, found


@pytest.mark.parametrize(("text", "start", "root"), [
    ("exp(x)-1", 20.0, 0.0), ("exp(x)-5", 30.0, math.log(5)), ("10^x-1e5", 20.0, 5.0),
    ("x^2-2", 1e10, math.sqrt(2)), ("exp(x)-5", -81.0, math.log(5))])
def test_far_from_a_root(text: str, start: float, root: float) -> None:
    status, found = asked(text, start)
    assert (status, found["converged"]) == (0, True)
    assert found["solution"]["x"] == pytest.approx(root, abs=1e-12)  # type: ignore[index]


@pytest.mark.parametrize("template", ROOTS)
def test_a_root_is_found_or_the_reason_is_true(template: str) -> None:
    rng: random.Random = drawn(len(template))
    converged = 0
    for _ in range(8):
        a = round(rng.uniform(0.5, 6), 3)
        start = a + rng.choice((1, 3, 10, 25, 25)) * rng.uniform(0, 1)
        text = template.format(a=a)
        _, found = asked(text, start)
        x = found["solution"]["x"]  # type: ignore[index]
        if found["converged"]:
            converged += 1
            assert abs(x - a) <= 1e-4 * a or (text[0] == "x" and abs(x + a) <= 1e-9), (text, start)
            continue
        reason = str(found["reason"])
        assert "no root" not in reason
        if "another start" in reason:
            # Not after steps that led nearer by their own length each.
            assert abs(x - a) > 1, (text, start, found)
        else:
            assert any(w in reason for w in (
                "in 50 steps", "is 0 there", "not finite")), (text, start, reason)
    assert converged >= 5 or template.startswith("atan")
