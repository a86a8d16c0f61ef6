"""Derivatives of high order, as one operation: against mpmath, and against sweep after sweep."""

from __future__ import annotations

from functools import cache

import mpmath as mp
import pytest

from gradcli import GradcliError, loads
from gradcli.lang.running import verbs

FORMULAS = {
    "exp(sin(t))": lambda t, a: mp.exp(mp.sin(t)),
    "exp(a*sin(t))/(1 + t^2)": lambda t, a: mp.exp(a * mp.sin(t)) / (1 + t * t),
    "log(1 + a*t^2)": lambda t, a: mp.log(1 + a * t * t),
    "t^a*cos(t)": lambda t, a: t ** a * mp.cos(t),
    "sqrt(t)*atan(a*t)": lambda t, a: mp.sqrt(t) * mp.atan(a * t),
    "1/(1 + exp(-a*t))": lambda t, a: 1 / (1 + mp.exp(-a * t)),
    "tanh(t)^3 + sinh(a*t)": lambda t, a: mp.tanh(t) ** 3 + mp.sinh(a * t),
    "tan(t)/(2 + a)": lambda t, a: mp.tan(t) / (2 + a),
    "erf(a*t)*t^7": lambda t, a: mp.erf(a * t) * t ** 7,
    "a^t": lambda t, a: a ** t,
}
X, A = 0.7, 1.3
ORDERS = 4, 5, 8, 13, 25


@cache
def coefficients(formula: str, parameter: bool) -> list[mp.mpf]:
    """Return Taylor coefficients in t of a function, or of its derivative in a, from mpmath."""
    f = FORMULAS[formula]
    with mp.workdps(180):
        h = mp.mpf(10) ** -90
        g = f if not parameter else (lambda t, a: (f(t, a + h) - f(t, a - h)) / (2 * h))
        return [c * mp.factorial(k) for k, c in enumerate(
            mp.taylor(lambda t: g(t, mp.mpf(A)), mp.mpf(X), ORDERS[-1] + 1))]


def exact(formula: str, order: int, parameter: bool = False) -> float:
    return float(coefficients(formula, parameter)[order])


def program(formula: str, order: int, nested: bool = False) -> str:
    begin = f"var x = {X}\nvar a = {A}\n"
    if not nested:
        return f"{begin}f(t) = {formula}\ny = f{chr(39) * order}(x)\n"
    lines = [f"g{k} = grad(g{k - 1}, x)" for k in range(1, order + 1)]
    return "\n".join([begin + f"f(t) = {formula}", "g0 = f(x)", *lines, f"y = g{order}", ""])


def close(found: float | None, expected: float, digits: float = 1e-12) -> bool:
    return found is not None and abs(found - expected) <= digits * abs(expected)


@pytest.mark.parametrize("formula", FORMULAS)
def test_every_order_has_the_digits_of_mpmath(formula: str) -> None:
    wrong = []
    for order in ORDERS:
        for nested in (False, True) if order < 10 else (False,):
            asked = loads(program(formula, order, nested))
            found = {"": asked.value("y"), **asked.gradient("y", ["x", "a"])}
            for name, expected in (("", exact(formula, order)), ("x", exact(formula, order + 1)),
                                   ("a", exact(formula, order, True))):
                if (expected or name != "a") and not close(float(found[name]), expected):
                    wrong.append((order, nested, name, found[name], expected))
    assert wrong == []


def answers(text: str) -> list[float]:
    """Return the value, the gradient and the Hessian."""
    asked, names = loads(text), ["x", "a"]
    slopes, second = asked.gradient("y", names), asked.hessian("y", names)
    return [asked.value("y"), *[slopes[n] for n in names],
            *[second[n][m] for n in names for m in names]]


@pytest.mark.parametrize("formula", FORMULAS)
def test_they_are_what_sweep_after_sweep_gives(formula: str, monkeypatch: pytest.MonkeyPatch
                                               ) -> None:
    """Values, gradients and Hessians of the fifth order, and through operations behind it."""
    text = program(formula, 5).replace("y = ", "d = ") + "y = sin(d/100)*a\n"
    fast = answers(text)
    monkeypatch.setattr(verbs, "HIGH", 100)
    slow = answers(text)
    scale = max(map(abs, slow))
    assert [k for k, (f, s) in enumerate(zip(fast, slow, strict=True))
            if abs(f - s) > 1e-10 * scale] == []


def test_a_record_of_a_high_order_is_short() -> None:
    assert len(loads(program("exp(sin(t))", 30)).run().record.compact()) < 20


@pytest.mark.parametrize(("text", "at", "expected"), [
    ("abs(t)^5", 0.0, 0.0),          # a kink in the fifth derivative's row: by sweeps
    ("t^3", 0.7, 0.0),
    ("floor(t)*t^6", 1.7, 720*1.7),
    ("where(t > 0, t^6, -t^6)", -1.0, 720.0),
])
def test_where_a_series_cannot_tell_sweeps_do(text: str, at: float, expected: float) -> None:
    found = loads(f"f(t) = {text}\ny = f'''''(x)").value(at={"x": at})
    assert found == pytest.approx(expected, abs=1e-12)


def test_an_order_that_no_float_holds_ends_with_an_error() -> None:
    with pytest.raises(GradcliError) as problem:
        loads(f"f(t) = 1/(1 - t)\ny = f{chr(39) * 300}(x)").run({"x": 0.5}, max_steps=20_000)
    assert problem.value.code == "E0401"
