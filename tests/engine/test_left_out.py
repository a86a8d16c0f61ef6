"""A derivative that leaves out a part, since an operation has no rule for one of its numbers, says
so everywhere. The reference is mpmath's derivative of the whole.
"""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
from asked import answered
from transcripts import in_process

CODE = "part-left-out"
# (formula, name, point, the same function in mpmath)
CASES: list[tuple[str, str, str, Any]] = [
    ("zeta(x,1)*(x-1)", "x", "2", lambda x: mpmath.zeta(x, 1)*(x - 1)),
    ("besselj(n,2)*n", "n", "1.5", lambda n: mpmath.besselj(n, 2)*n),
    ("bessely(n,2) + n", "n", "1.5", lambda n: mpmath.bessely(n, 2) + n),
    ("besseli(n,n)", "n", "1.5", lambda n: mpmath.besseli(n, n)),
    ("besselk(n,n)", "n", "1.5", lambda n: mpmath.besselk(n, n)),
    ("betainc(a,2,0.5)+a", "a", "2", lambda a: mpmath.betainc(
        a, 2, 0, 0.5, regularized=True) + a),
    ("betainc(2,b,0.5)*b", "b", "2", lambda b: mpmath.betainc(
        2, b, 0, 0.5, regularized=True)*b),
    ("sin(zeta(zeta(x,1), 2)) + x", "x", "2", lambda x: mpmath.sin(
        mpmath.zeta(mpmath.zeta(x, 1), 2)) + x),
]
NAMES = [text for text, *_ in CASES]
# What moves no number without a rule, or is meant to pass none.
WHOLE = ["zeta(3,x)*x", "besselj(1,x)*x", "besselj(floor(x),x)", "besselj(stop_gradient(x),x)",
         "betainc(2,3,x/4)", "where(x>1, x, 2*x)", "digamma(x)*x", "polygamma(round(x), x)"]


def codes(part: dict[str, Any]) -> list[str]:
    return [n["code"] for n in part["notes"]]


@pytest.mark.parametrize(("text", "name", "at", "f"), CASES, ids=NAMES)
def test_a_part_that_is_left_out_is_told(text: str, name: str, at: str, f: Any) -> None:
    with mpmath.workdps(30):
        right = float(mpmath.diff(f, mpmath.mpf(at)))
    point = f"{name}={at}"
    for mode in ("reverse", "forward"):
        status, found = answered("grad", "-e", text, "--at", point, "--strict", "--mode", mode)
        (source,) = found["results"][0]["sources"]
        assert status == 1
        assert abs(source["gradient"] - right) > 1e-3
        assert CODE in codes(source)
        assert source["notes"][0]["line"] == 1
    status, found = answered("grad", "-e", text, "--at", point, "--strict", "--mode", "finite")
    (source,) = found["results"][0]["sources"]
    assert status == 0
    assert codes(source) == []
    assert source["gradient"] == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize(("text", "name", "at", "f"), CASES, ids=NAMES)
def test_every_command_that_prints_derivatives_tells_it(text: str, name: str, at: str, f: Any
                                                        ) -> None:
    point = f"{name}={at}"
    for argv in (["jac"], ["steps"]):
        _, found = answered(*argv, "-e", text, "--at", point)
        assert CODE in codes(found["results"][0]["sources"][0]), argv
    for argv in (["taylor"], ["tangent"], ["newton"], ["propagate", "--sigma", f"{name}=0.1"],
                 ["directional", "--direction", "1"]):
        _, found = answered(*argv, "-e", text, "--at", point)
        assert CODE in codes(found["results"][0]), argv
    status, _, err = in_process(["derive", "-e", text, "--strict"], b"")
    assert status == 1
    assert "Not the whole derivative" in err
    status, _, err = in_process(
        ["grad", "-e", text, "--points", f"{name}=linspace({at},3,4)", "--strict"], b"")
    assert status == 1
    assert err.count("not the whole derivative") in (1, 2)  # once for each operation


def test_every_block_of_a_hessian_tells_it() -> None:
    status, found = answered("hess", "-e", "besselj(n,x)*n", "--at", "n=1,x=2", "--strict")
    told = {(b["row"], b["col"]): CODE in codes(b) for b in found["results"][0]["blocks"]}
    assert told == {("n", "n"): True, ("n", "x"): True, ("x", "n"): True, ("x", "x"): False}
    assert status == 1


@pytest.mark.parametrize(("text", "name", "at", "f"), CASES, ids=NAMES)
def test_verify_holds_it_to_be_wrong(text: str, name: str, at: str, f: Any) -> None:
    status, found = answered("verify", "-e", text, "--at", f"{name}={at}")
    assert (status, found["verdict"]) == (1, "differ")


@pytest.mark.parametrize("text", WHOLE)
def test_nothing_is_said_where_nothing_is_left_out(text: str) -> None:
    status, found = answered("grad", "-e", text, "--at", "x=2.4", "--strict")
    assert CODE not in codes(found["results"][0]["sources"][0])
    assert status == 0


@pytest.mark.parametrize("body", [
    "y = x\nfor k in range(300):\n  y = y + besselj(x, 0.5)\n",
    "y = x\n" + "".join([f"y{k} = y + besselj(x, 0.5)\ny = y{k}\n" for k in range(200)])])
def test_loops_and_long_files_tell_it(body: str) -> None:
    status, out, _ = in_process(["grad", "-", "--strict", "--format", "json"],
                                  f"input x = 1.5\n{body}".encode())
    assert status == 1
    assert CODE in out


def test_digits_that_cancel_fail_strict() -> None:
    for text, at, status in (("(1-cos(x))/x^2", "1e-9", 1), ("(1-cos(x))/x^2", "0.5", 0)):
        found, _ = answered("grad", "-e", text, "--at", f"x={at}", "--strict")
        assert found == status
    assert answered("eval", "-e", "1-cos(x)", "--at", "x=1e-9", "--strict")[0] == 1
