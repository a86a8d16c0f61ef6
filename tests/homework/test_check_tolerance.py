"""How near a number has to be, to the last digit: bounds by fractions, never by floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from conftest import folded
from draws import drawn
from test_check import check

# Kind to the fields of a problem and its right answer in order, a fraction for a fraction P.
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "value": ({"function": "x^2", "kind": "value", "at": {"x": "P"}}, "2P"),
    "cubic": ({"function": "x^3 - x", "kind": "value", "at": {"x": "P"}}, "3PP-1"),
    "derivative": ({"function": "7x", "wrt": "x", "at": {"x": "P"}}, "7"),
    "second": ({"function": "x^4", "wrt": "x", "order": 2, "at": {"x": "P"}}, "12PP"),
    "partial": ({"function": "x^2 y", "kind": "partial", "wrt": "x", "at": {"x": "P", "y": 3}},
                "6P"),
    "gradient": ({"function": "x^2 + 4y", "wrt": "x,y", "at": {"x": "P", "y": 1}}, "2P;4"),
    "jacobian": ({"function": "[x^2, 5y]", "kind": "jacobian", "wrt": "x,y",
                  "at": {"x": "P", "y": 1}}, "2P;0;0;5"),
    "hessian": ({"function": "x^3 + x y", "kind": "hessian", "wrt": "x,y",
                 "at": {"x": "P", "y": 1}}, "6P;1;1;0"),
    "directional": ({"function": "x^2 + y", "direction": [3, 4], "wrt": "x,y",
                     "at": {"x": "P", "y": 1}}, "(6P+4)/5"),
    "implicit": ({"function": "x y = 8", "dependent": "y", "wrt": "x", "at": {"x": 2, "y": 4}},
                 "-2"),
    "parametric": ({"function": "[t^2, t^3]", "kind": "parametric", "wrt": "t", "at": {"t": "P"}},
                   "3P/2"),
}


def numbers(text: str, point: Fraction) -> list[Fraction]:
    """The right answer by Python's own arithmetic."""
    plain = text.replace("PP", "P*P")
    for digit in "0123456789":
        plain = plain.replace(f"{digit}P", f"{digit}*P")
    return [eval(part, {"P": point}) * Fraction(1) for part in plain.split(";")]


def decimal(value: Fraction) -> str:
    """A fraction whose denominator divides a power of ten, written out."""
    shift = 0
    while value.denominator != 1:
        value *= 10
        shift += 1
        assert shift < 30, value
    digits = str(abs(value.numerator)).rjust(shift + 1, "0")
    text = f"{digits[:-shift]}.{digits[-shift:]}" if shift else digits
    return f"-{text}" if value < 0 else text


def bound(tolerance: str, right: Fraction) -> Fraction:
    """The difference that a tolerance allows, as docs/homework.md says."""
    size = abs(right)
    if tolerance.endswith("%"):
        return Fraction(tolerance[:-1]) / 100 * size
    number, _, kind = tolerance.partition(" ")
    if kind == "digits":
        exponent = 0
        while size and size >= Fraction(10) ** (exponent + 1):
            exponent += 1
        while size and size < Fraction(10) ** exponent:
            exponent -= 1
        return Fraction(10) ** (exponent + 1 - int(number)) / 2
    return Fraction(number) * (1 if kind == "abs" else size if kind == "rel" else max(
        Fraction(1), size))


TOLERANCES = ("1%", "29%", "0.1%", "7%", "150%", "0.05 rel", "1e-3 rel", "0.5 abs", "0.07 abs",
              "0.003 abs", "0.01", "0.3", "1e-6", "3 digits", "2 digits", "6 digits")


@pytest.mark.parametrize("kind", KINDS)
def test_the_tolerance_itself_is_allowed_and_nothing_beyond(kind: str) -> None:
    fields, answer = KINDS[kind]
    for seed, tolerance in enumerate(TOLERANCES):
        draw = drawn(f"{kind} {seed}")
        point = Fraction(draw.randint(1, 999), draw.choice((1, 1, 2, 4, 5, 10, 100)))
        right = numbers(answer, point)
        which = draw.choice([k for k, value in enumerate(right) if value] or [0])
        allowed = bound(tolerance, right[which])
        given = {**fields, "tolerance": tolerance, "at": {
            name: decimal(point) if value == "P" else value
            for name, value in fields["at"].items()}}
        for sign in (1, -1):
            for share, expected in ((Fraction(1), "correct"), (Fraction(999_999, 10**6), "correct"),
                                    (Fraction(1_000_001, 10**6), "wrong"), (Fraction(2), "wrong")):
                typed = [decimal(value + (sign * share * allowed if k == which else 0))
                         for k, value in enumerate(right)]
                text = typed[0] if len(typed) == 1 else f"({', '.join(typed)})"
                if kind in ("jacobian", "hessian"):
                    text = f"[[{typed[0]}, {typed[1]}], [{typed[2]}, {typed[3]}]]"
                found = check(answer=text, seed=seed, **given)
                assert found["verdict"] == expected, (kind, tolerance, text, found["message"])


def test_without_a_tolerance_half_a_unit_of_the_last_digit_is_allowed() -> None:
    draw = drawn(7)
    for seed in range(60):
        digits = draw.randint(1, 3)
        unit = Fraction(1, 10**digits)
        right = draw.randint(100, 9999) * unit + unit / 2     # as near to the one as to the other
        for typed, expected in ((right - unit / 2, "correct"), (right + unit / 2, "correct"),
                                (right - 3 * unit / 2, "wrong"), (right + 3 * unit / 2, "wrong")):
            text = f"{float(typed):.{digits}f}"
            found = check(f"{decimal(right)} x", text, seed, kind="value", wrt="x", at={"x": 1})
            assert found["verdict"] == expected, (right, text, found["message"])


@pytest.mark.parametrize("answer", ["7", "100", "4.01"])
def test_what_rounding_hides_is_left_to_a_person(answer: str) -> None:
    fields: dict[str, Any] = {"kind": "value", "at": {"x": 2}}
    assert check("x^2 + x acos(cos(0))", answer, **fields)["verdict"] == "undecided"
    assert check("x^2 + x acos(cos(0))", "4", **fields)["verdict"] == "correct"


# ---- formulas ----------------------------------------------------------------------------------

# A term, its derivative for a coefficient 1, and the factor that comes down.
TERMS = (("x^4", "x^3", 4), ("x^3", "x^2", 3), ("x^2", "x", 2), ("x", "1", 1), ("sin(3x)",
         "cos(3x)", 3), ("e^(2x)", "e^(2x)", 2), ("1/x", "(-1/x^2)", 1), ("ln x", "1/x", 1),
         ("x e^x", "(1 + x) e^x", 1))


def written(numbers: list[Fraction], factors: list[str]) -> str:
    return " + ".join([f"{decimal(number)}*{factor}" for number, factor in zip(
        numbers, factors, strict=True)])


@pytest.mark.parametrize("seed", range(24))
def test_in_a_formula_the_tolerance_is_that_of_each_number(seed: int) -> None:
    draw = drawn(seed)
    chosen = draw.sample(TERMS, draw.randint(1, 4))
    numbers = [Fraction(draw.randint(101, 9999) * 2 + 1, 10**4) for _ in chosen]
    right = [number * down for number, (_, _, down) in zip(numbers, chosen, strict=True)]
    function = written(numbers, [term for term, _, _ in chosen])
    factors = [factor for _, factor, _ in chosen]
    tolerance = draw.choice(("1%", "0.02 rel", "3 digits", "0.004 abs", "0.01"))
    changes = [bound(tolerance, number) * draw.choice((-1, 1)) for number in right]

    def told(shares: list[Fraction], extra: str = "") -> str:
        typed = [number + share * change for number, share, change in zip(
            right, shares, changes, strict=True)]
        return str(check(function, written(typed, factors) + extra, seed, wrt="x",
                         tolerance=tolerance)["verdict"])

    assert told([Fraction(1)] * len(right)) == "correct"
    assert told([Fraction(0)] * len(right)) == "correct"
    which = draw.randrange(len(right))
    assert told([Fraction(10001, 10000) if k == which else Fraction(3, 10)
                 for k in range(len(right))]) == "wrong"
    # Nothing else hides below it: a small term more, a term less, another factor.
    assert told([Fraction(1)] * len(right), " + 1e-5*x^5") == "wrong"
    if len(right) > 1:
        kept = [k for k in range(len(right)) if k != which]
        less = written([right[k] for k in kept], [factors[k] for k in kept])
        assert check(function, less, seed, wrt="x", tolerance="10%")["verdict"] == "wrong"


@pytest.mark.parametrize(("function", "answer", "expected"), [
    ("0.00591x^4", "0.0236x^3", "correct"), ("x^2", "2.01x", "wrong"),
    ("0.5x^2 + 3x", "1.005x + 3", "wrong"), ("103.5x + sin x", "103.5", "wrong"),
    ("103.5x + sin x", "103 + cos x", "correct"), ("pi x^2", "6.28x", "correct"),
    ("12.34e^(0.56x)", "6.91e^(0.56x)", "correct"),
    ("12.34e^(0.56x)", "6.91e^(0.561x)", "undecided"),
    ("1.5(x^2+0.33x)e^(0.2x)", "(0.3x^2+3.1x+0.495)e^(0.2x)", "correct"),
    ("0.00591x^4", "(1000.5 - 1000.5)x^3", "wrong"), ("0.00591x^4", "0", "wrong"),
    ("0.00591x^4", "0.0236x^3 + 0.5 - 0.5", "correct"), ("0.00591x^4", "0.0236x^3.001", "wrong"),
    ("1.7ln(x) + 0.3x", "(1.7 + 0.301x)/x", "correct"), ("0.37x^2", "0.74|x|", "wrong"),
    ("1000.5x sin^2 x + 1000.5x cos^2 x - 999.5x", "0", "wrong"),
    ("1000.5x sin^2 x + 1000.5x cos^2 x - 999.5x", "1", "correct"),
    ("0.37x^2", "0.741x + 1e-9", "wrong"), ("x^2/3", "0.667x", "correct")])
def test_formulas_with_decimals(function: str, answer: str, expected: str) -> None:
    for seed in range(3):
        found = check(function, answer, seed, wrt="x", tolerance="1%")
        assert found["verdict"] == expected, found["message"]
    if "." in answer and expected == "correct" and answer != "0.0236x^3 + 0.5 - 0.5":
        assert check(function, answer, wrt="x")["verdict"] == "wrong"


def test_components_and_lines_may_be_rounded_too() -> None:
    assert check("0.123x^2 + 0.5x y", "(0.246x + 0.501y, 0.499x)", wrt="x,y",
                 tolerance="1%")["verdict"] == "correct"
    found = check("0.123x^2 + 0.5x y", "(0.246x + 0.501y, 0.52x)", wrt="x,y", tolerance="1%")
    assert (found["verdict"], found["score"]) == ("wrong", 0.5)
    assert "component 2" in found["message"]
    for answer, expected in (("y = 0.693 + 0.5(x - 2)", "correct"), ("0.5x - 0.307", "correct"),
                             ("0.5x - 0.315", "wrong"), ("0.5x", "wrong")):
        assert check("ln x", answer, kind="tangent", wrt="x", at={"x": 2},
                     tolerance="1%")["verdict"] == expected, answer


MIXED = {     # of the gradient of a function at x = 1, y = 2: each component, exact and rounded
    "3x + e^y": (("3", "6/2"), ("e^2", "7.39", "7.389", "7.38906")),
    "x^2 + ln(x + y)": (("7/3", "2.33", "2.3333"), ("1/3", "0.333", ".3333")),
    "1000x + x y": (("1002", "1000 + 2"), ("1", "2/2")),
    "x^2/3 - e^y": (("2/3", "0.667"), ("-e^2", "-7.39", "-7.3891"))}


@pytest.mark.parametrize("form", ["({}, {})", "<{}; {}>", "({})i + ({})j", "({1})j + ({0})i",
                                  "-(-({}), -({}))"])
@pytest.mark.parametrize("function", MIXED)
def test_exact_and_rounded_components_side_by_side(function: str, form: str) -> None:
    first, second = MIXED[function]
    for a in first:
        for b in second:
            answer = form.format(a, b)
            for kind in ("gradient", "value"):
                found = check(function, answer, kind=kind, wrt="x,y", at={"x": 1, "y": 2})
                assert found["verdict"] == "correct", (answer, found["message"])


@pytest.mark.parametrize("answer", [
    "(7/3, 0.33)", "(7/3, 0.334)", "(2.34, 1/3)", "(2.3, 1/3)", "7/3 i + 0.3 j",
    "(2.3 + 0.033, 1/3)", "(7/3, 0.111*3)", "(0.333, 7/3)"])
def test_components_that_are_not_correctly_rounded_are_wrong(answer: str) -> None:
    found = check("x^2 + ln(x + y)", answer, kind="value", wrt="x,y", at={"x": 1, "y": 2})
    assert found["verdict"] == "wrong"


def test_lint_says_where_a_tolerance_does_nothing() -> None:
    from gradcli.homework.lint import lint
    from gradcli.homework.sheets.formats import parse

    problems = {"x^2": True, "0.00591x^4": False, "x^2/3": False, "sin x": True, "2.5x^2": True}
    text = "".join([f'[[problem]]\nid = "{k}"\nfunction = "{function}"\nwrt = "x"\n'
                    'tolerance = "1%"\n' for k, function in enumerate(problems)])
    found, wrong = lint(parse(text, "sheet.toml"))
    assert not wrong
    for problem, silent in zip(found["problems"], problems.values(), strict=True):
        assert any("does nothing" in w for w in problem["warnings"]) is silent, problem
    text = '[[problem]]\nid = "1"\nfunction = "x^2"\nat = "x=1"\ntolerance = "1%"\n'
    assert not lint(parse(text, "sheet.toml"))[0]["problems"][0]["warnings"]


@folded
@pytest.mark.parametrize("sign", ["*", " x ", "x", "X", "×", "·", r"\times ", r" \cdot "])
@pytest.mark.parametrize("power", ["^-1", "^(-1)", "^{-1}", "**-1", "⁻¹"])
def test_powers_of_ten_in_any_notation(sign: str, power: str) -> None:
    for digits, expected in (("6.67", "correct"), ("6.66", "wrong"), ("6.670", "wrong")):
        found = check("x^2/3", f"{digits}{sign}10{power}", kind="value", wrt="x", at={"x": 1})
        assert found["verdict"] == expected, found["message"]


@pytest.mark.parametrize(("function", "answer", "expected"), [
    ("1.5 (0.3x)^(-2)", "-33.3x^(-3)", "correct"), ("1.5 (0.3x)^(-2)", "-32.9x^(-3)", "wrong"),
    ("(0.3x)^10", "0.0000591x^9", "correct"), ("(0.3x)^10", "0.0000583x^9", "wrong"),
    ("1.5 (0.3x)^(1/2)", "0.411/x^(1/2)", "correct")])
def test_a_number_below_a_power_that_is_not_written_out(
        function: str, answer: str, expected: str) -> None:
    """-33.33x^-3, 5.9049e-5x^9 and 0.41079/sqrt(x), rounded to one percent or beyond."""
    found = check(function, answer, tolerance="1%")
    assert found["verdict"] == expected, found["message"]


@pytest.mark.parametrize(("function", "answer"), [
    ("(2e200 x)^9 / 10^900", "x^8"), ("((((0.3x)^60)^60)^60)^60", "x"),
    ("(1e-200 x)^9 + 0.25x", "0.25")])
def test_numbers_that_leave_the_range_of_floats_end_in_a_verdict(
        function: str, answer: str) -> None:
    assert check(function, answer, tolerance="1%")["verdict"] in (
        "correct", "wrong", "undecided", "unusable", "unreadable")


INSIDE = [
    ("sin(x/3)", "0.333cos(0.333x)", "undecided"), ("sin(x/3)", "0.33cos(0.33x)", "undecided"),
    ("x^(1/3)", "0.333x^(-0.667)", "undecided"), ("e^(pi x)", "3.14e^(3.14x)", "undecided"),
    ("x^2.5", "2.5x^1.49", "undecided"), ("sqrt(2)^x", "0.3466*1.414^x", "undecided"),
    ("sin(x/3) + e^(x/7)", "0.333cos(0.333x) + 0.1429e^(0.1429x)", "undecided"),
    ("sin(x/3)", "0.33cos(x/3)", "correct"), ("x^2", "2.01x", "wrong"),
    ("sin(x/3)", "0.333sin(0.333x)", "wrong"), ("sin(x/3)", "-0.333cos(0.333x)", "wrong"),
    ("sin(x/3)", "0.333cos(0.35x)", "wrong"), ("sin(3x)", "3cos(2.99x)", "wrong"),
    ("sin(x/3)", "0.333cos(0.333x) + 0.001", "wrong")]


@pytest.mark.parametrize(("function", "answer", "verdict"), INSIDE)
def test_numbers_inside_of_functions_are_for_a_person(
        function: str, answer: str, verdict: str) -> None:
    found = check(function, answer, wrt="x", tolerance="1%")
    assert found["verdict"] == verdict
    assert (found["score"] == 1) == (verdict == "correct")
    if verdict == "undecided":
        assert "a person has to look at it" in found["message"]
        assert check(function, answer, wrt="x")["verdict"] == "wrong"
