"""What rounding made of a value or derivative is told: where more than half of the digits are
wrong, and not where they are right. The reference is mpmath at 80 digits, on the same doubles.

A note is due where the formula loses digits that its sources have: what rounding a source would do
is no fault of the formula.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from transcripts import in_process

from gradcli import questions
from gradcli.python.program import loads
from gradcli.questions import Question

CODE = "digits-cancelled"
Function = Callable[[mpf], mpf]
# What goes to 0 or 1 with x, or is near 1 far out, and loses digits there.
SHOWING: list[tuple[str, Function]] = [
    ("ln(1+{})", lambda u: mp.log(1 + u)), ("log2(1-{})", lambda u: mp.log(1 - u) / mp.ln2),
    ("(exp({})-1)", lambda u: mp.exp(u) - 1), ("(1-cos({}))", lambda u: 1 - mp.cos(u)),
    ("(cosh({})-1)", lambda u: mp.cosh(u) - 1), ("(sqrt(1+{})-1)", lambda u: mp.sqrt(1 + u) - 1),
    ("(1-exp(-{}))", lambda u: 1 - mp.exp(-u)), ("((1+{})^2-1)", lambda u: (1 + u)**2 - 1),
    ("({0}-sin({0}))", lambda u: u - mp.sin(u)), ("(1/(1-{0})-1)", lambda u: 1/(1 - u) - 1),
    ("(sin({0})^2+cos({0})^2-1+{0})", lambda u: u)]
# What does not.
PLAIN: list[tuple[str, Function]] = [
    ("log1p({})", mp.log1p), ("expm1({})", mp.expm1), ("sin({})", mp.sin), ("tanh({})", mp.tanh),
    ("(2*sin({}/2)^2)", lambda u: 2*mp.sin(u/2)**2), ("exp({})", mp.exp),
    ("(2+{})", lambda u: 2 + u), ("sqrt({})", mp.sqrt), ("({0}*{0})", lambda u: u*u)]
OUTER: list[tuple[str, Function]] = [
    ("({})/x", lambda v: v), ("({})*3.5", lambda v: v), ("exp({})", mp.exp), ("({})", lambda v: v),
    ("sqrt(2+{})", lambda v: mp.sqrt(2 + v)), ("({})/x^2", lambda v: v)]
# Digits lost of which nothing need be told, and of which something has to be.
FEW, MANY = 1e-10, 1e-5


def drawn(rng: random.Random, shows: bool) -> tuple[str, Function]:
    inner, f = rng.choice(SHOWING if shows else PLAIN)
    factor = rng.choice((1.0, 0.5, 3.0, 0.1))
    k = rng.randrange(len(OUTER))
    outer, g = OUTER[k]

    def function(x: mpf) -> mpf:
        v = f(mpf(factor) * x)
        return v / x if k == 0 else v * mpf(3.5) if k == 1 else v / x**2 if k == 5 else g(v)

    return outer.format(inner.format(f"({factor!r}*x)" if factor != 1.0 else "x")), function


def asked(command: str, text: str, x: float) -> dict[str, Any]:
    _, out, err = in_process([command, "-e", text, "--at", f"x={x!r}", "--format", "json"], b"")
    assert out, (text, x, err)
    found: dict[str, Any] = json.loads(out)["results"][0]
    return found


def derivatives(f: Function, x: float) -> list[mpf]:
    """Value, first and second derivative."""
    with mpmath.workdps(200):
        h = abs(mpf(x)) * mpf(10)**-40
        low, here, high = (f(mpf(x) + s*h) for s in (-1, 0, 1))
        return [here, (high - low)/(2*h), (high - 2*here + low)/h**2]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_lost_is_told_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    silent, false = [], []
    for _ in range(25):
        shows = rng.random() < 0.7
        text, f = drawn(rng, shows)
        x = rng.choice((1e-13, 1e-12, 1e-11, 1e-9, 1e-8, 1e-6, 1e-3, 0.1, 0.7, 2.0)) * rng.uniform(
            0.5, 1.5)
        if "1-(" in text or "ln(1-" in text or "log2(1-" in text or "/(1-" in text:
            x = min(x, 0.3)
        right = derivatives(f, x)
        answer = asked("grad", text, x)
        (source,) = answer["sources"]
        block = asked("hess", text, x)["blocks"][0]
        for order, (got, told) in enumerate(((answer["value"], answer), (
                source["gradient"], source), (block["hessian"], block))):
            notes = [n["code"] for n in told["notes"]]
            if order and (abs(right[order]) < 1e-9
                          or abs(right[order])*x**order < 1e-9*abs(right[0])):
                continue  # next to nothing, also by the size of the value: nothing is promised
            off = abs(mpf(float(got)) - right[order])
            if off > MANY*abs(right[order]) and not notes:
                silent.append((text, x, order, got, mp.nstr(right[order], 8)))
            # Near 0 digits that are right where they need not be are good luck.
            healthy = order == 0 and (x > 0.05 or not shows)
            if healthy and off < FEW*abs(right[order]) and CODE in notes:
                false.append((text, x, order, got, mp.nstr(right[order], 8)))
    assert not silent
    assert not false


# Next to the end of a domain or to a root, where the rounding of what is there shows.
STEEP: list[tuple[str, Function, list[float]]] = [
    ("acos(1-x^2)", lambda x: mp.acos(1 - x*x), [1e-7, 1e-5]),
    ("asin(1-x)", lambda x: mp.asin(1 - x), [1e-14, 3e-12]),
    ("acosh(1+x^2)", lambda x: mp.acosh(1 + x*x), [1e-6, 1e-5]),
    ("atanh(1-x)", lambda x: mp.atanh(1 - x), [1e-14, 1e-12]),
    ("asec(1+x)", lambda x: mp.asec(1 + x), [1e-14, 3e-12]),
    ("lgamma(1+x)/x", lambda x: mp.loggamma(1 + x)/x, [1e-7, 1e-9]),
    ("digamma(1.4616321449683622+x)*1e5", lambda x: mp.psi(0, mpf(1.4616321449683622) + x)*1e5,
     [1e-12]),
    ("log(1+x)/x", lambda x: mp.log(1 + x)/x, [1e-7, 1e-6]),
    ("acos(sin(0.9)*sin(0.9+x)+cos(0.9)*cos(0.9+x))", lambda x: x, [1e-7, 1e-6])]


@pytest.mark.parametrize(("text", "f", "points"), STEEP, ids=[text for text, *_ in STEEP])
def test_the_rounding_of_what_is_at_a_steep_place_is_told(text: str, f: Function,
                                                         points: list[float]) -> None:
    for x in points:
        right = derivatives(f, x)
        answer = asked("grad", text, x)
        (source,), (block,) = answer["sources"], asked("hess", text, x)["blocks"]
        lost = 0
        for order, (got, told) in enumerate(((answer["value"], answer), (
                source["gradient"], source), (block["hessian"], block))):
            if abs(mpf(float(got)) - right[order]) > MANY*abs(right[order]):
                lost += 1
                assert CODE in [n["code"] for n in told["notes"]], (x, order, got)
        assert lost


ORDINARY: list[tuple[str, Function]] = [
    ("acos(x/11)", lambda x: mp.acos(x/11)), ("atanh(x/10.5)", lambda x: mp.atanh(x/10.5)),
    ("acosh(1+x)", lambda x: mp.acosh(1 + x)), ("sqrt(x^2+1)-x", lambda x: mp.sqrt(x*x + 1) - x),
    ("log(x)^2", lambda x: mp.log(x)**2), ("x^2*log(x)", lambda x: x*x*mp.log(x)),
    ("lgamma(x)", mp.loggamma), ("exp(x)/(1+exp(x))", lambda x: 1/(1 + mp.exp(-x))),
    ("x-tanh(x)", lambda x: x - mp.tanh(x)), ("sin(x)/x", lambda x: mp.sin(x)/x),
    ("4*(1/x^12-1/x^6)", lambda x: 4*(x**-12 - x**-6)), ("(1+1/x)^x", lambda x: (1 + 1/x)**x),
    ("x*log(x)+(11-x)*log(11-x)", lambda x: x*mp.log(x) + (11 - x)*mp.log(11 - x)),
    ("besselj(1,x)/x", lambda x: mp.besselj(1, x)/x), ("(x-5)^10", lambda x: (x - 5)**10),
    ("log(cosh(x))", lambda x: mp.log(mp.cosh(x))), ("sin(pi*x)", lambda x: mp.sin(mp.pi*x))]


@pytest.mark.parametrize(("text", "f"), ORDINARY, ids=[text for text, _ in ORDINARY])
def test_ordinary_formulas_are_silent(text: str, f: Function) -> None:
    for x in (0.1, 0.25, 0.9, 1.0, 2.0, 5.0, 10.0):
        right = derivatives(f, x)
        answer = asked("grad", text, x)
        (source,), (block,) = answer["sources"], asked("hess", text, x)["blocks"]
        for order, (got, told) in enumerate(((answer["value"], answer), (
                source["gradient"], source), (block["hessian"], block))):
            if abs(mpf(float(got)) - right[order]) <= FEW*abs(right[order]):
                assert CODE not in [n["code"] for n in told["notes"]], (x, order, got)


@pytest.mark.parametrize(("text", "at", "new", "old"), [
    ("ln(1+x)/x", "x=1e-12", "log1p(x)", "ln(1+x)"),
    ("ln(x*y+1)/x", "x=1e-12,y=3", "log1p(x*y)", "ln(x*y+1)"),
    ("ln(1-2x)/x", "x=1e-12", "log1p(-2x)", "ln(1-2x)"),
    ("(exp(x)-1)/x", "x=1e-13", "expm1(x)", "exp(x)-1"),
    ("(1-exp(-x))/x", "x=1e-13", "-expm1(-x)", "1-exp(-x)"),
    ("(1-cos(x))/x^2", "x=1e-9", "2*sin(x/2)^2", "1-cos(x)"),
    ("(1-cos(2x))/x^2", "x=1e-9", "2*sin(2x/2)^2", "1-cos(2x)"),
    ("exp(x)*(1-tanh(x))", "x=18", "2*sigmoid(-2*x)", "1-tanh(x)"),
    ("exp(x^2)*(1-erf(x))", "x=5.9", "erfc(x)", "1-erf(x)"),
    ("(1+1/n)^n", "n=1e12", "exp(n*log1p(1/n))", "(1+1/n)^n"),
    ("(1 + r/n)^(n*t)", "n=1e11,r=0.05,t=10", "exp((n*t)*log1p(r/n))", "(1 + r/n)^(n*t)")])
def test_a_rewrite_is_offered_and_right(text: str, at: str, new: str, old: str) -> None:
    def value(formula: str) -> tuple[float, list[str]]:
        _, out, _ = in_process(["eval", "-e", formula, *[word for pair in at.split(",")
                                for word in ("--at", pair)], "--format", "json"], b"")
        (found,) = json.loads(out)["results"]
        return float(found["value"]), [n["message"] for n in found["notes"]]

    _, (message,) = value(text)
    assert re.findall("write `([^`]*)` for `([^`]*)`", message) == [(new, old)]
    changed, notes = value(text.replace(old, f"({new})"))
    assert not notes
    with mpmath.workdps(60):
        names = {n: mpf(float(v)) for n, v in (pair.split("=") for pair in at.split(","))}
        right = mpmath.mpmathify(_in_mpmath(text, names))
        assert abs(changed/right - 1) < 1e-13


def _in_mpmath(text: str, names: dict[str, Any]) -> Any:
    formula = re.sub(r"(\d)([a-z])", r"\1*\2", text.replace("^", "**"))
    number = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"mpf(\1)", formula)
    return eval(number, {"ln": mp.log, "exp": mp.exp, "cos": mp.cos, "tanh": mp.tanh,
                         "erf": mp.erf, "mpf": mpf, **names})


@pytest.mark.parametrize(("text", "at"), [
    ("x^2-2", "x=1.4142135623730951"), ("ln(x)", "x=1.000000000001"), ("x-0.3", "x=0.3"),
    ("w*3-y", "w=0.1,y=0.3"), ("(w*3-y)^2", "w=0.1,y=0.3"), ("x^2-4", "x=2.000000000001"),
    ("sum((v-0.1)^2)", "v=[0.1,0.1]"), ("1+x-1", "x=0.5"), ("x-x", "x=0.1"),
    ("mean(v)-0.2", "v=[0.1,0.3]"), ("ln(x/y)", "x=0.3,y=0.3")])
def test_what_the_sources_do_not_tell_better_is_not_told(text: str, at: str) -> None:
    words = [word for name in re.findall(r"\w+=[^=]*(?=,\w+=|$)", at) for word in ("--at", name)]
    for command in ("eval", "grad"):
        _, out, _ = in_process([command, "-e", text, *words, "--format", "json"], b"")
        assert CODE not in out


@pytest.mark.parametrize(("text", "at"), [
    ("softmax(1e60*v)[1]", "v=[1,2]"), ("sum(softmax(1e60*v)*[1,2])", "v=[1,2]"),
    ("sum(softmax(1e60*v))", "v=[1,2]"), ("tanh(1e9*x)*x^2-x^2", "x=3"),
    ("sigmoid(1e4*x)*(x-1)^2", "x=1")])
def test_what_is_saturated_has_lost_nothing(text: str, at: str) -> None:
    _, out, _ = in_process(["grad", "-e", text, "--at", at, "--format", "json"], b"")
    (source,) = json.loads(out)["results"][0]["sources"]
    assert all(n["code"] != CODE for n in source["notes"])


def test_sums_of_many() -> None:
    assert asked("eval", "sum([1e16, x, -1e16])", 1.0)["notes"][0]["code"] == CODE
    assert not asked("eval", "sum([1e15, x, -1e15])", 2.0)["notes"]


def test_nothing_is_loaded_where_no_digit_is_lost() -> None:
    code = ("import sys\n"
            "sys.argv = ['gradcli', 'grad', '-e', 'x^2*ln(x)+x-1', '--at', 'x=3']\n"
            "from gradcli.cli.main import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "assert not {'numpy', 'gradcli.explain.numbers.cancelled'} & set(sys.modules)\n")
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(("text", "x", "old"), [
    ("ln(1-tanh(x))", 20.0, "1-tanh(x)"), ("ln(1-cos(x))", 1e-9, "1-cos(x)"),
    ("1/(1-cos(x))", 1e-9, "1-cos(x)"), ("x/(exp(x)-1)", 1e-17, "exp(x)-1"),
    ("ln(1-erf(x))", 6.5, "1-erf(x)"), ("sqrt(1-sin(x)^2-cos(x)^2)", 0.4, "1-sin(x)^2-cos(x)^2")])
def test_a_zero_made_of_rounding_is_no_pole(text: str, x: float, old: str) -> None:
    """Nor the end of a domain; and the rewrite, if there is one, has the value."""
    (note,) = asked("eval", text, x)["notes"]
    assert note["code"] == CODE
    assert f"all digits cancel in `{old}`" in note["message"]
    assert "pole" not in note["message"]
    for new, written in re.findall("write `([^`]*)` for `([^`]*)`", note["message"]):
        found = asked("eval", text.replace(written, f"({new})"), x)
        with mpmath.workdps(60):
            right = _in_mpmath(text, {"x": mpf(x)})
            assert abs(found["value"]/right - 1) < 1e-14
        assert not found["notes"]
    assert "write" in note["message"] or text.startswith("sqrt")


@pytest.mark.parametrize(("text", "x"), [
    ("1/(x^2-0.09)", 0.3), ("ln(1-x)", 1.0), ("1/(1-cos(x))", 0.0), ("ln(x-0.1)", 0.1),
    ("1/(0.5-sin(x)*0)", 1.0), ("1/(2x-0.6)", 0.3)])
def test_a_pole_that_the_source_is_at_stays_one(text: str, x: float) -> None:
    assert all(n["code"] != CODE for n in asked("eval", text, x)["notes"])


@pytest.mark.parametrize("outer", ["1/{}", "1/({})^2", "ln(abs({}))", "(x+2)/{}", "1/sqrt(abs({}))",
                                   "exp(x)/({})^3", "1+1/{}", "({})^(-1)"])
def test_beside_a_pole_that_rounding_hides_it_is_told(outer: str) -> None:
    """In decimals it is at the pole; what floats have there is of any size, if they rounded."""
    rng, hidden = random.Random(outer), 0
    for _ in range(30):
        a, x = rng.randrange(3, 99), Fraction(rng.randrange(1, 99), rng.choice((10, 100)))
        hides = a*float(x) != float(a*x) and a*float(x) != a*Fraction(float(x))
        answer = asked("grad", outer.format(f"({a}*x-{float(a*x)!r})"), float(x))
        told = [n["code"] for n in answer["sources"][0]["notes"]]
        assert (CODE in told) == hides
        if hides and "ln" not in outer:
            hidden += 1
            assert [n["code"] for n in answer["notes"]] == [CODE]
    assert hidden > 2 or "ln" in outer


@pytest.mark.parametrize(("text", "at"), [
    ("sqrt(1-(v/c)^2)", "v=299792458,c=299792458"), ("sqrt(1-v^2/c^2)", "v=299792458,c=299792458"),
    ("sqrt(v^2-c^2)", "v=0.3,c=0.3"), ("sqrt(v/c-3)", "v=899377374,c=299792458"),
    ("sqrt(sqrt(v)-c)", "v=1000018000081,c=1000009"), ("1/(sin(v)-sin(c))", "v=0.7,c=0.7"),
    ("ln(exp(v)/exp(c)-1)", "v=0.1,c=0.1")])
def test_what_is_exact_here_has_lost_nothing(text: str, at: str) -> None:
    """Whole quotients and roots, and what is made of the same numbers in the same way."""
    for command in ("eval", "grad"):
        _, out, _ = in_process([command, "-e", text, *[word for pair in at.split(",")
                                for word in ("--at", pair)], "--format", "json"], b"")
        assert CODE not in out


def test_no_warning_of_numpy_where_it_was_not_loaded() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "eval", "-e", "sqrt(1-sin(x)^2-cos(x)^2)", "--at",
         "x=0.5"], check=True, capture_output=True)
    assert done.stdout == b"f\t0\n"
    assert b"Warning" not in done.stderr


@pytest.mark.parametrize(("text", "at", "told"), [
    ("sum(x)", {"x": [1e16, 1.0, -1e16]}, True), ("sum(x)", {"x": [1e15, 1.0, -1e15]}, False),
    ("dot(x, [1, 1, 1])", {"x": [1e16, 1.0, -1e16]}, True),
    ("dot(x, [1e8, 1])", {"x": [1.0, -1e8]}, False),
    ("a*d-b*c", {"a": 1e8, "b": 1e8 + 1, "c": 1e8 - 1, "d": 1e8}, True),
    ("a*d-b*c", {"a": 1e3, "b": 1e3 + 1, "c": 1e3 - 1, "d": 1e3}, False),
    ("a*d-b*c", {"a": 0.1, "b": 0.1, "c": 0.7, "d": 0.7}, False),
    ("det(A)", {"A": [[1e8, 1e8 + 1], [1e8 - 1, 1e8]]}, True),
    ("det(A)", {"A": [[1.0, 2.0], [2.0, 4.0]]}, False),
    ("(x+1e16)-1e16", {"x": 2.0}, False), ("(x+1e16)-1e16", {"x": 1.0}, True),
    ("(x+1e16)-1e16", {"x": [2.0, 4.0]}, False), ("(x+1e8)-1e8", {"x": 0.5}, False),
    ("(x+1e8)-1e8", {"x": 0.3}, True), ("(x*x - 1e16)", {"x": 1e8}, False),
    ("log(1+exp(-40))", {}, True), ("1-cos(1e-9)", {}, True), ("(1e8+1e-9)-1e8", {}, True),
    ("(1e8+0.5)-1e8", {}, False), ("1-cos(0)", {}, False), ("exp(2)-exp(x)", {"x": 2.0}, False)])
def test_numbers_that_are_the_decimals_that_stand_for_them_are_exact(
        text: str, at: dict[str, Any], told: bool) -> None:
    (result,) = questions.evaluate(Question(loads(text), at=at))["results"]
    codes = [n["code"] for n in result["notes"]]
    assert codes == ["digits-cancelled"]*told
    if all(isinstance(v, float) for v in at.values()):
        with mpmath.workdps(60):
            names = {"exp": mp.exp, "log": mp.log, "cos": mp.cos, "mpf": mpf}
            right = eval(re.sub(r"(?<![\w.])([0-9.]+(?:e-?[0-9]+)?)", r"mpf('\1')", text),
                         names | {name: mpf(v) for name, v in at.items()})
            assert (abs(right - result["value"]) > 1e-9*abs(right)) == told


@pytest.mark.parametrize("outer", ["sqrt({})", "log({})", "1/({})", "({})^2", "{}"])
@pytest.mark.parametrize("size", [1e3, 1e7, 1e8])
def test_digits_of_a_gradient_are_not_told_by_the_sum_of_its_elements(outer: str, size: float
                                                                      ) -> None:
    """Where its elements cancel, each may be off none the less."""
    at = [size, size + 1.0, size + 2.0]
    text = outer.format("mean(x^2)-mean(x)^2")
    (result,) = questions.grad(Question(loads(text), at={"x": np.array(at)}))["results"]
    (source,) = result["sources"]
    slope = {"sqrt({})": lambda v: 1/(2*v**0.5), "log({})": lambda v: 1/v,
             "1/({})": lambda v: -1/v**2, "({})^2": lambda v: 2*v, "{}": lambda v: 1.0}[outer](2/3)
    right = slope*2/3*(np.array(at) - size - 1.0)
    off = float(np.max(np.abs(np.subtract(source["gradient"], right)))/np.max(np.abs(right)))
    said = " ".join(n["message"] for n in (*source["notes"], *result["notes"])
                    if "this derivative" in n["message"])
    if off > 0.1:
        assert "what is left is rounding" in said
    if off < 1e-10:
        assert not said
