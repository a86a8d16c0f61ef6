"""Derivatives at extreme points where something else is in the way: a value, or a neighbour, that
overflows; parts far smaller than what cancels beside them; numbers that are only large.
"""

from __future__ import annotations

import decimal
import math
import random
import re
from collections.abc import Callable, Iterator

import draws
import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from test_range import COUNT, POINTS, SEED, Skipped, link, truth
from transcripts import in_process

from gradcli import questions
from gradcli.python.program import load, loads
from gradcli.questions import Question
from gradcli.questions.running import run as run_printed

# --- values that overflow -----------------------------------------------------------------------


def of_first(text: str, at: dict[str, object]) -> list[tuple[float, list[str]]]:
    """First and second derivative in the first source, each with the notes on its slopes."""
    out = []
    for ask, parts, field in ((questions.grad, "sources", "gradient"),
                              (questions.hess, "blocks", "hessian")):
        found = ask(Question(loads(text), at=at, wrt=["x"]))["results"][0]
        part = found[parts][0]
        number = part[field]
        while isinstance(number, list):
            number = number[0]
        notes = [n["code"] for n in (*found["notes"], *part["notes"])]
        out.append((number, [n for n in notes if n == "range-slope"]))
    return out


@pytest.mark.parametrize("form", ["{0} + exp(y)", "sum([{0}, exp(y), exp(-y)])", "exp(y) - ({0})"])
def test_beside_a_value_that_overflows(form: str) -> None:
    rng = random.Random(f"{SEED} {form}")
    tried = 0
    for _ in range(COUNT // 2):
        links = [link(rng) for _ in range(rng.choice((1, 2)))]
        x = rng.choice(POINTS)
        text = "x"
        for template, _ in links:
            text = template.format(text)
        try:
            (_, *found), (_, *error) = truth(links, x)
        except (Skipped, ArithmeticError, ValueError, TypeError, mp.NoConvergence):
            continue
        sign = -1 if "-" in form[:8] else 1
        answer = of_first(form.format(text), {"x": x, "y": 800.0})
        for (got, notes), true, off in zip(answer, found, error, strict=True):
            assert notes or not math.isfinite(got) or abs(sign * mpf(got) - true) <= off, (
                form, text, x, got, mp.nstr(true, 8))
            tried += math.isfinite(got)
    assert tried > COUNT // 10


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_neighbour_that_overflows(mode: str, sparse: bool) -> None:
    """ln(1 + e^x) at 800 has no value in floats; that at 400 has a second derivative of 0."""
    ask = Question(loads("sum(ln(1+exp(x)))"), at={"x": np.array([400.0, 800.0])}, mode=mode,
                   sparse=sparse)
    (block,) = questions.hess(ask)["results"][0]["blocks"]
    assert (block["sparse"]["values"][0] if sparse else block["hessian"][0][0]) == 0
    ask = Question(loads("x^2/exp(x^2)+y^3*x"), at={"x": 19.8277, "y": 1e200}, mode=mode)
    blocks = {(b["row"], b["col"]): b["hessian"]
              for b in questions.hess(ask)["results"][0]["blocks"]}
    assert blocks["x", "x"] == pytest.approx(1.124221808e-165)
    assert blocks["y", "y"] == pytest.approx(6 * 1e200 * 19.8277)
    (source,) = questions.grad(Question(
        loads("x^2/exp(x^2)+y^3"), at={"x": 19.8277, "y": 1e200}, wrt=["x"], mode=mode)
        )["results"][0]["sources"]
    assert source["gradient"] == pytest.approx(-2.84585455e-167)


# --- small parts beside what cancels ------------------------------------------------------------

# What has a second derivative of nearly 0, found as the difference of two parts of about 1.
CANCELLING = [("ln(1+exp(x))", 400.0), ("ln(exp(x)+exp(-x))", 390.0), ("ln(exp(x))", 500.0),
              ("ln(3+exp(2*x))", 300.0), ("sqrt(1+exp(2*x))/exp(x)", 350.0),
              ("ln(cosh(x))", 600.0)]
SMALL_PARTS = ["{c!r}*x^2", "{c!r}*x*x", "{c!r}*exp(x - {a!r})", "{c!r}*x*sin(x)"]


def of_small(template: str, c: float, x: float) -> float:
    second = {0: 2.0, 1: 2.0, 2: 1.0, 3: 2 * math.cos(x) - x * math.sin(x)}
    return c * second[SMALL_PARTS.index(template)]


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(("mass", "x"), CANCELLING)
def test_a_part_beside_what_cancels_survives(mass: str, x: float, mode: str) -> None:
    rng = random.Random(f"{SEED} {mass} {mode}")
    for template in SMALL_PARTS:
        c = rng.uniform(4, 9) * 10.0 ** -rng.randint(4, 14)
        parts = [mass, template.format(c=c, a=x)]
        rng.shuffle(parts)
        text = " + ".join(parts)
        right = of_small(template, c, x)
        question = Question(loads(text), at={"x": x}, mode=mode)
        (block,) = questions.hess(question)["results"][0]["blocks"]
        assert abs(block["hessian"] - right) <= 2e-15 + 1e-9 * abs(right), (text, x)
        at = {"x": np.array([0.5, x])}
        (block,) = questions.hess(Question(loads(f"sum({text})"), at=at, mode=mode)
                                )["results"][0]["blocks"]
        assert abs(block["hessian"][1][1] - right) <= 2e-15 + 1e-9 * abs(right), (text, x)


@pytest.mark.parametrize(("mass", "x"), CANCELLING)
def test_what_cancels_alone_leaves_nothing(mass: str, x: float) -> None:
    with mpmath.workdps(800):
        right = mpmath.diff(lambda v: {
            "ln(1+exp(x))": lambda: mp.log(1 + mp.exp(v)),
            "ln(exp(x)+exp(-x))": lambda: mp.log(mp.exp(v) + mp.exp(-v)),
            "ln(exp(x))": lambda: v, "ln(3+exp(2*x))": lambda: mp.log(3 + mp.exp(2 * v)),
            "sqrt(1+exp(2*x))/exp(x)": lambda: mp.sqrt(1 + mp.exp(2 * v)) / mp.exp(v),
            "ln(cosh(x))": lambda: mp.log(mp.cosh(v))}[mass](), mpf(x), 2, h=mpf(10) ** -200)
    (block,) = questions.hess(Question(loads(mass), at={"x": x}))["results"][0]["blocks"]
    assert abs(block["hessian"] - right) <= 4e-15


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(("text", "f"), [
    ("1/(1+1/x)", lambda x: 1/(1 + 1/x)), ("1/(x+1/x)", lambda x: 1/(x + 1/x)),
    ("x/(1+1/x)", lambda x: x/(1 + 1/x)), ("3/(2+5/x)", lambda x: 3/(2 + 5/x)),
    ("1/(1+1/x)+x^2", lambda x: 1/(1 + 1/x) + x*x), ("(1+1/x)^(-1)", lambda x: 1/(1 + 1/x))])
def test_what_is_left_of_parts_that_are_no_floats_is_right_or_doubted(
        text: str, f: Callable[[mpf], mpf], mode: str) -> None:
    for x in (1e-104, 3e-104, 1.3e-120, 1e-160, 1.7e-160, 1e-200):
        with mpmath.workdps(700):
            right = mpmath.diff(f, mpf(x), 2, h=mpf(x)*mpf(10)**-40)
        found = questions.hess(Question(loads(text), at={"x": x}, mode=mode))["results"][0]
        notes = [*found["notes"], *found["blocks"][0]["notes"]]
        off = abs(mpf(found["blocks"][0]["hessian"]) - right) > 1e-9*abs(right)
        assert not off or {n["code"] for n in notes} & {"range-slope", "digits-cancelled"}, found
        assert not any("inf through" in n["message"] for n in notes)


# --- values on the way that overflow inside of an operation as a whole --------------------------

INNER = {
    "prod(u)": lambda u: u[0] * u[1] * u[2],
    "var(u)": lambda u: sum((v - sum(u) / 3) ** 2 for v in u) / 3,
    "dot(u, u)": lambda u: sum(v * v for v in u),
    "norm(u*u)": lambda u: mp.sqrt(sum(v ** 4 for v in u)),
    "sum(u*u*u)": lambda u: sum(v ** 3 for v in u),
    "cumprod(u)[2]": lambda u: u[0] * u[1] * u[2],
    "matmul([u], transpose([u*u]))[0, 0]": lambda u: sum(v ** 3 for v in u)}
VECTORS = ([1e200, 1e150, 3.0], [1e300, -1e300, 1e300], [1e-200, 1e-180, 1e-150],
           [1e160, 2e160, 1e-300], [5e-324, 1e-300, 2.0])
TRUE = {
    "({0})^(-0.25)": lambda v, _: v ** mpf(-0.25), "rsqrt({0})": lambda v, _: 1 / mp.sqrt(v),
    "1/({0})": lambda v, _: 1 / v, "atan2({0}, 1e300)": lambda v, _: mp.atan2(v, mpf(1e300)),
    "atan2(1.0, {0})": lambda v, _: mp.atan2(1, v), "asinh({0})": lambda v, _: mp.asinh(v),
    "besselj(0, asinh({0}))": lambda v, _: mp.besselj(0, mp.asinh(v)),
    "({0})*1e-300*1e-300": lambda v, _: v * mpf(1e-300) ** 2,
    "({0})*1e300": lambda v, _: v * mpf(1e300), "lgamma({0})": lambda v, _: mp.loggamma(v),
    "log1p({0})": lambda v, _: mp.log1p(v), "tanh(1e300*({0}))": lambda v, _: mp.tanh(1e300 * v),
    "rsqrt(gamma({0}))": lambda v, _: mp.mpf(0) if v > 1e3 else 1 / mp.sqrt(mp.gamma(v)),
    "atan2(log1p({0}), 1-sum(u))": lambda v, u: mp.atan2(mp.log1p(v), 1 - sum(u))}


@pytest.mark.parametrize("outer", TRUE)
@pytest.mark.parametrize("inner", INNER)
def test_inner_values_that_leave_the_range(inner: str, outer: str) -> None:
    for u in VECTORS:
        text = outer.format(inner)
        found = questions.evaluate(Question(loads(text), at={"u": np.array(u)}))["results"][0]
        with mpmath.workdps(900):
            exact = [mpf(v) for v in u]
            value = INNER[inner](exact)
            if value < 0 and not outer.startswith(("1/", "atan2({0}", "asinh", "({0})*", "tanh")):
                continue
            if outer.startswith("lgamma") and value > 1e200:
                right = value * (mp.log(value) - 1)
            else:
                right = TRUE[outer](value, exact)
        notes = [n["code"] for n in found["notes"]]
        got = found["value"]
        if not math.isfinite(got):
            assert notes or abs(right) > 1e308, (text, u)
        else:
            assert notes or abs(got - right) <= 1e-9 * abs(right) + 1e-300, (
                text, u, got, mp.nstr(right, 8))


# --- numbers that are only large -----------------------------------------------------------------

LARGE_ONLY = ["1e60*x^3*sin(x)", "sin(1e60*x/1e60)*x", "exp(x)*1e60/(1 + x^2)", "1e-60*x^3 + x",
              "relu(x*1e60)*x", "sum([x, x^2])*1e60", "dot([x, 1e60], [x^2, x])", "x*(1e60 - x)"]
NO_NUMBER = ["log(x - 2)*x", "sqrt(x - 3) + x", "(x - 2)^x", "acos(x*2)^2", "asin(x + 1)*log(x)"]


@pytest.mark.parametrize("text", LARGE_ONLY)
def test_what_lost_nothing_is_not_swept_again(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with numbers nor with arrays, backwards or forwards."""
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("swept again")

    monkeypatch.setattr("gradcli.engine.sweeps.wide.WideValues", refused)
    for mode in ("reverse", "forward"):
        questions.grad(Question(loads(text), at={"x": 1.5}, mode=mode))
    if "[" not in text:
        questions.grad(Question(loads(f"sum({text})"), at={"x": np.array([1.5, 0.5, 2.0])}))
        questions.jac(Question(loads(text), at={"x": np.array([1.5, 0.5, 2.0])}))


@pytest.mark.parametrize("text", NO_NUMBER)
def test_no_range_helps_where_tame_numbers_have_no_value(text: str, monkeypatch: pytest.MonkeyPatch
                                                         ) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("swept again")

    monkeypatch.setattr("gradcli.engine.sweeps.wide.WideValues", refused)
    for x in (1.5, np.array([1.5, 1.25])):
        g = loads(f"sum({text})").gradient(at={"x": x})["x"]
        assert np.isnan(g).all()


def test_what_lost_something_is_swept_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    from gradcli.engine.sweeps import wide

    whole = wide.WideValues
    monkeypatch.setattr(wide, "WideValues", lambda *a: seen.append(1) or whole(*a))
    for text, x in (("ln(x^60)", 1000.0), ("exp(-400*x)*1e300", 2.0), ("x^2/exp(x^2)", 19.8277)):
        seen.clear()
        questions.grad(Question(loads(text), at={"x": x}))
        assert seen


# --- who is told ---------------------------------------------------------------------------------

DOUBTFUL = ["exp(-x)*x^20*1e300", "besselk(0, x)*1e300*x"]


@pytest.mark.parametrize("text", DOUBTFUL)
@pytest.mark.parametrize("command", ["eval", "grad", "jac", "hess"])
@pytest.mark.parametrize("form", ["plain", "json", "csv", "points"])
def test_strict_fails_where_a_number_may_be_wrong(command: str, text: str, form: str) -> None:
    """With a note or without room for one, at one point or at many."""
    def asked(x: str, *options: str) -> tuple[int, str]:
        where = ["--points", f"x=[1,{x}]"] if form == "points" else [
            "--at", f"x={x}", "--format", form]
        status, out, err = in_process([command, "-e", text, *where, *options])
        return status, out + err

    status, told = asked("750")
    assert status == 0
    assert any(words in told for words in ("too small or too large", "range-"))
    assert asked("750", "--strict")[0] == 1
    assert asked("2", "--strict")[0] == 0


def test_programs_of_python_are_warned() -> None:
    program = loads("besselk(0, x)*1e300*x")
    for ask in (program.gradient, program.jacobian, program.hessian):
        with pytest.warns(RuntimeWarning, match="may be wrong"):
            ask(at={"x": 750.0})
    prepared = program.prepare()
    for k in range(25):
        prepared({"x": 1.0 + k})
    with pytest.warns(RuntimeWarning, match="may be wrong"):
        prepared({"x": 750.0})


@pytest.mark.parametrize("order", [(-30, -30, 30, 30), (30, 30, -30, -30), (-25, -25, 20, 30)])
def test_constants_of_float32_have_its_range(order: tuple[int, ...]) -> None:
    factors = "*".join(f"1e{k}" for k in order)
    for x in ("1.0", "[1.0, 2.0]"):
        program = loads(f"var x: float32 = {x}\nsum(x*{factors})")
        found = questions.evaluate(Question(program))["results"][0]
        assert [n["code"] for n in found["notes"]]


def test_a_rewrite_without_a_second_derivative_is_no_crash() -> None:
    text = ("input u = [1, 1, 1]\nif sinc(x) < sum(u):\n    s0 = (x+sum(u))*x\nelse:\n"
            "    s0 = min(u)\n"
            "out = xlogy(where(s0 < softmax(u)[0], s0, x), exp(x))")
    at = {"x": -1000.0, "u": np.array([-2.3444, 1.3206, -250.0])}
    for mode in ("reverse", "forward"):
        assert questions.hess(Question(loads(text), at=at, mode=mode))["results"][0]["blocks"]


NEAR_1 = [1.0, 1 + 2.0**-52, 1.00000001, 1.01, 1.09, 1.1, 1.3, 1e200, math.inf]


@pytest.mark.parametrize("x", NEAR_1)
def test_the_inverse_cosecant_keeps_its_digits_near_1(x: float) -> None:
    with mpmath.workdps(60):
        right = mp.acsc(mpf(x)) if x < 1e300 else mpf(0)
        rest = mp.pi / 2 - right
        for sign in (1.0, -1.0):
            for got in (loads("acsc(x)").value(at={"x": sign * x}),
                        loads("acsc(x)").value(at={"x": np.array([sign * x])})[0]):
                assert abs(sign * got - right) <= 2e-16 * right + 1e-300
        if 1 < x < 1.1:
            slope = loads("csc(acsc(x))").gradient(at={"x": x})["x"]
            assert abs(slope - 1) <= 4e-16 / rest


# --- values that are printed --------------------------------------------------------------------

@pytest.mark.parametrize("form", [
    "exp(-{0})*1e300*{1}", "{1}*1e-200*1e-200*1e300", "exp({0})/1e300/{1}",
    "exp(-{0}/10)*{1}", "{1}^5/1e290", "{1}*{1}/1e-60", "{0} + {1}", "exp(-{0}*{0})"])
def test_printed_values_that_left_the_range_are_noted(form: str) -> None:
    """By decimal, whose exponents have no end: a float that is another one is told, no other is."""
    with decimal.localcontext(decimal.Context(prec=30, Emax=10**9, Emin=-(10**9))):
        y, x = decimal.Decimal(800), decimal.Decimal("1e60")
        text = form.format("y", "x").replace("^", "**")
        text = re.sub(r"\d+e-?\d+", lambda m: f"decimal.Decimal('{m[0]}')", text)
        right = eval(text, {"decimal": decimal, "x": x, "y": y,
                            "exp": lambda v: v.exp()})
    source = f"var x = 1e60\nvar y = 800.0\nz = {form.format('y', 'x')}\nprint(z)\n"
    (told,) = run_printed(Question(loads(source)), notes=True)["printed"]
    (item,) = told["values"]
    near = float(right) if abs(right) < decimal.Decimal("1.7e308") else math.inf
    wrong = math.isfinite(item["value"]) and not math.isclose(item["value"], near, rel_tol=1e-9)
    assert [n["code"] for n in item["notes"] if n["code"] == "range-value"] == (
        ["range-value"] if wrong else [])
    status, out, err = in_process(["run", "-"], source.encode())
    assert status == 0, (out, err)
    assert ("printed in line 4: the value of `z` is not right" in err) == wrong, (out, err)


# --- derivatives that are floats though what they are made of is none ---------------------------

# What falls below the range of floats, what brings it back, and where.
FALLING = {"exp(-x^2/2)": lambda v: mp.exp(-v**2 / 2), "exp(-20*x)": lambda v: mp.exp(-20 * v),
           "2^(-28*x)": lambda v: mp.power(2, -28 * v), "sech(19.5*x)": lambda v: mp.sech(19.5 * v)}
RISING = {"x^10": lambda v: v**10, "x^20": lambda v: v**20, "exp(x)": mp.exp,
          "(x*1e9)": lambda v: v * 10**9, "sinh(x)": mp.sinh}
BELOW = (37.2, 38.5, 38.7)
# Values that are floats; slopes, or parts of them, are none.
STEEP = {"log(1/x)": (lambda v: -mp.log(v), [1e-160, 1e-150, 1e-140, 1e-120]),
         "x^x": (lambda v: v**v, [1e-300, 1e-200, 1e-308]),
         "gamma(x)/gamma(x-1)": (lambda v: v - 1, [171.5, 171.6, 171.1]),
         "sqrt(1/x)*x": (mp.sqrt, [1e-250, 1e-180, 1e-120]),
         "exp(x)/exp(x/2)/x": (lambda v: mp.exp(v / 2) / v, [709.5, 709.7])}


def derivatives(function: Callable[[mpf], mpf], x: float) -> list[mpf]:
    with mpmath.workdps(1000):
        h = abs(mpf(x)) * mpf(10) ** -60
        low, here, high = (function(mpf(x) + s * h) for s in (-1, 0, 1))
        return [(high - low) / (2 * h), (high - 2 * here + low) / h**2]


def in_all_ways(text: str, x: float) -> Iterator[tuple[int, float]]:
    """(order, derivative) at a point alone, among others, and as an element."""
    for order, ask, parts, field in ((0, questions.grad, "sources", "gradient"),
                                     (1, questions.hess, "blocks", "hessian")):
        for mode in ("reverse", "forward"):
            found = ask(Question(loads(text), at={"x": x}, mode=mode))["results"][0][parts][0]
            yield order, found[field]
            found = ask(Question(loads(f"sum({text})"), at={"x": np.array([x, 2.5])}, mode=mode)
                        )["results"][0][parts][0]
            yield order, np.ravel(found[field])[0]
        _, out, _ = in_process([field[:4], "-e", text, "--points", f"x=[2.5,{x!r}]", "--format",
                                "csv"])
        yield order, float(out.splitlines()[2].split(",")[-1])


@pytest.mark.parametrize("falling", FALLING)
def test_what_is_lost_below_the_range_is_found(falling: str) -> None:
    for k, rising in enumerate(RISING, [*FALLING].index(falling)):
        for x in BELOW[k % 3:k % 3 + 1] if draws.SEED is None else BELOW:
            right = derivatives(lambda v, r=rising: FALLING[falling](v) * RISING[r](v), x)
            for order, got in in_all_ways(f"{falling}*{rising}", x):
                assert abs(got - right[order]) <= 1e-9 * abs(right[order]) + 1e-307, (
                    falling, rising, x, order, got, mp.nstr(right[order], 8))


@pytest.mark.parametrize("text", STEEP)
def test_slopes_that_overflow_where_the_values_do_not(text: str) -> None:
    function, points = STEEP[text]
    for x in points:
        right = derivatives(function, x)
        for order, got in in_all_ways(text, x):
            least = 1e-9 * abs(right[0] / x)  # parts of a second derivative cancel
            if abs(right[order]) > 1.7e308:
                assert got == math.copysign(math.inf, right[order]), (text, x, order, got)
            else:
                assert abs(got - right[order]) <= 1e-9 * abs(right[order]) + least, (
                    text, x, order, got, mp.nstr(right[order], 8))


@pytest.mark.parametrize("beside", ["sqrt(x^2+y^2)", "exp(-x)*(y*1e-160)^2*exp(300)", "x^2/y/y"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_values_beside_the_path_are_found_again(beside: str, mode: str) -> None:
    """What the source does not move is lost as well as what it does."""
    at = {"x": 3.0, "y": 1e-170} if "exp" in beside else {"x": 1e200, "y": 1.5e200}
    text = re.sub(r"(\d+(?:e-?\d+)?)", r"mpf('\1')", beside.replace("^", "**"))
    with mpmath.workdps(900):
        h = mpf(at["x"]) * mpf(10) ** -60
        low, here, high = (eval(text, {"x": at["x"] + s * h, "y": mpf(at["y"]), "mpf": mpf,
                                       "sqrt": mp.sqrt, "exp": mp.exp}) for s in (-1, 0, 1))
        right = [(high - low) / (2 * h), (high - 2 * here + low) / h**2]
    (source,) = questions.grad(Question(loads(beside), at=at, wrt=["x"], mode=mode)
                             )["results"][0]["sources"]
    (block,) = questions.hess(Question(loads(beside), at=at, wrt=["x"], mode=mode)
                            )["results"][0]["blocks"]
    assert source["gradient"] == pytest.approx(float(right[0]), rel=1e-9)
    assert block["hessian"] == pytest.approx(float(right[1]), rel=1e-9)


def test_a_file_tape_lacks_values_that_no_rule_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """And none is made of what stands in their place."""
    path = "samples/training/dense_layer.txt"
    before = questions.grad(Question(load(path)))["results"][0]
    monkeypatch.setattr("gradcli.engine.sweeps.derivatives.extreme", lambda *_: True)
    monkeypatch.setattr("gradcli.engine.sweeps.wide.tame", lambda *_, **__: False)
    after = questions.grad(Question(load(path)))["results"][0]
    assert after["sources"] == before["sources"]


# --- slopes that are no floats ------------------------------------------------------------------

@pytest.mark.parametrize(("text", "x"), [
    ("gamma(x)", 171.4), ("x^x", 143.0), ("1/x", 1e-160), ("rsqrt(x)", 1e-300), ("log(x)", 1e-310),
    ("csch(x)", 1e-200), ("coth(x)", 1e-200), ("besselk(0, x)", 1e-310)])
def test_a_slope_too_large_for_a_float_is_not_infinite(text: str, x: float) -> None:
    found = questions.grad(Question(loads(text), at={"x": x}))["results"][0]["sources"][0]
    (note,) = found["notes"]
    assert math.isinf(found["gradient"])
    assert note["code"] == "nan-overflow", note
    assert "too large for a float" in note["message"]
    assert "infinite slope" not in note["message"]


@pytest.mark.parametrize(("text", "x"), [
    ("sqrt(x)", 0.0), ("acos(x)", 1.0), ("asin(x)", -1.0), ("acosh(x)", 1.0), ("cbrt(x)", 0.0)])
def test_a_slope_that_is_infinite_is_right(text: str, x: float) -> None:
    found = questions.grad(Question(loads(text), at={"x": x}))["results"][0]["sources"][0]
    assert [n["code"] for n in found["notes"]] == ["nan-infinite-slope"]
