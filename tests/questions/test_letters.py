"""Derivations with letters: each line against SymPy, each general rule with functions put in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from asked import valid
from folders import DATA
from transcripts import in_process

# Derivatives of one chapter after the other; of these every fifth is derived, and what is here.
TEXTBOOK = [line.split("\t")[0] for line in (DATA / "derive/textbook.tsv").read_text(
    encoding="utf-8").splitlines() if line and not line.startswith("#")]
OWN = [
    "x^2*sin(x)", "sin(x^2)^3*exp(x)", "(x+1)/(x-1)", "x^x", "a*x^2*y + y/x", "u*x^2/v",
    "x*exp(x)*sin(x)", "where(x > 0, x^2, sin(x))", "sqrt(x + sqrt(x))", "1/(1 + exp(-x))",
    "2^(x^2)", "atan2(y, x)", "stop_gradient(x)*x", "floor(x)*x", "max(x, x^2)*abs(x)", "5*x^3",
    "x", "log(log(x))", "x^2 + 3*x - x^2"]
# All usual letters are the file's own.
TAKEN = "+".join([f"{name}*x^2" for name in "abcknmuvwpqrsfgh"])
CHOSEN = list(dict.fromkeys([*OWN, *TEXTBOOK[::5]]))       # what golden files have
ALL = list(dict.fromkeys([*OWN, *TEXTBOOK, TAKEN]))
IMPLICIT = [
    "x^2 + y^2 - 25", "x^3 + y^3 - 6*x*y", "x^2 + x*y^3 - 25", "sin(x*y) - x",
    "x^2*exp(y) + y*log(x) - 1", "6*x + 4 - 2*y^2", "x^2 + y^2 + z^2 - 9", "sqrt(x) + sqrt(y) - 3"]
POINTS = (0.37, 1.83, 0.61)
X, D = sp.Symbol("x", real=True), sp.Function("D")
FUNCTIONS: dict[str, Any] = {
    "abs": sp.Abs, "maximum": sp.Max, "minimum": sp.Min, "max": sp.Max, "min": sp.Min,
    "where": lambda c, u, v: sp.Piecewise((u, c), (v, True)),
    "hypot": lambda u, v: sp.sqrt(u**2 + v**2), "e": sp.E, "pi": sp.pi, "D": D,
    "log2": lambda u: sp.log(u, 2), "log10": lambda u: sp.log(u, 10), "cbrt": sp.cbrt,
    "exp2": lambda u: 2**u, "square": lambda u: u**2, "log1p": lambda u: sp.log(1 + u),
    "expm1": lambda u: sp.exp(u) - 1, "sigmoid": lambda u: 1/(1 + sp.exp(-u)),
    "floor": sp.floor, "stop_gradient": lambda u: sp.Function("kept")(u)}
LETTERS = {"u": 2 + sp.sin(X), "v": 1 + X**2, "w": sp.exp(X/3), "p": 3 + X, "q": 2 + X**3,
           "n": sp.Integer(3), "m": sp.Integer(3), "c": sp.Integer(5), "a": sp.Integer(5)}


def derivations(formula: str, *more: str, command: str = "steps") -> Any:
    status, out, err = in_process([command, "-e", formula, "--format", "json", *more])
    assert status == 0, (formula, err)
    found = json.loads(out)
    valid(found, command)
    return found


def read(text: str, of: str = "x") -> sp.Expr:
    """Read a line, with D for derivatives by a name that are still to be taken."""
    text = text.replace(f"d/d{of}(", "D(")
    while ")'" in text:
        end = start = text.index(")'")
        depth = 1
        while depth:
            start -= 1
            depth += {")": 1, "(": -1}.get(text[start], 0)
        text = f"{text[:start]}D{text[start:end + 1]}{text[end + 2:]}"
    text = re.sub(r"\b([a-z])'", r"D(\1)", text).replace("^", "**")
    names = {name: sp.Symbol(name, real=True) for name in re.findall(r"\b[a-zA-Z]\w*\b", text)}
    return sp.sympify(text, locals={**names, **{
        name: FUNCTIONS[name] for name in names if name in FUNCTIONS}, **{
        name: getattr(sp, name) for name in names if name not in FUNCTIONS and len(name) > 1
        and hasattr(sp, name)}})


def values(made: sp.Expr, by: sp.Symbol) -> list[complex]:
    """Return the values of a line, its derivatives taken. What is kept stands still."""
    made = made.replace(D, lambda u: sp.diff(u, by))
    made = made.replace(lambda e: isinstance(e, sp.Derivative) or (
        isinstance(e, sp.Subs)), lambda e: sp.Integer(0))
    made = made.replace(sp.Function("kept"), lambda u: u)
    others = sorted(made.free_symbols, key=str)
    return [complex(made.subs({name: point + 0.29*k for k, name in enumerate(others)}).evalf(30))
            for point in POINTS]


def near(one: list[complex], other: list[complex]) -> bool:
    return all(abs(a - b) <= 1e-9*max(1, abs(a), abs(b)) or (a != a and b != b)
               for a, b in zip(one, other, strict=True))


def test_each_line_follows_from_the_one_before() -> None:
    """Whatever is still to be taken is taken by SymPy: all lines have one value, that of the
    derivative; and each step names its rule, which holds for other functions.
    """
    wrong = []
    for formula in ALL:
        for result in derivations(formula)["results"]:
            by = sp.Symbol(result["wrt"], real=True)
            expected = values(D(read(formula)), by)
            for step in result["steps"]:
                try:
                    if not near(values(read(step["formula"], result["wrt"]), by), expected):
                        wrong.append((formula, result["wrt"], step["formula"]))
                except (TypeError, sp.SympifyError) as problem:
                    wrong.append((formula, step["formula"], str(problem)))
                assert step["rule"]
            assert result["derivative"] == result["steps"][-1]["formula"]
            assert "'" not in result["derivative"]
            assert "d/d" not in result["derivative"]
    assert not wrong


def test_general_rules_hold() -> None:
    seen: dict[str, str] = {}
    for formula in ALL:
        for result in derivations(formula)["results"]:
            for step in result["steps"]:
                if step["general"] and result["wrt"] == "x":
                    seen[step["general"]] = formula
    wrong = []
    for general, formula in seen.items():
        if "stop" in general or "floor" in general:
            continue
        put_in = {sp.Symbol(name, real=True): of for name, of in LETTERS.items()}
        left, right = [read(side).subs(put_in) for side in general.split(" = ")]
        if not near(values(left, X), values(right, X)):
            wrong.append((general, formula))
    assert not wrong
    assert len(seen) > 25


def test_equations_are_differentiated_on_both_sides_and_solved() -> None:
    y = sp.Symbol("y", real=True)
    for equation in IMPLICIT:
        for result in derivations(equation, "--dependent", "y", command="implicit")["results"]:
            by = sp.Symbol(result["wrt"], real=True)
            of = read(equation)
            slope = -sp.diff(of, by)/sp.diff(of, y)
            assert near(values(read(result["derivative"]), by), values(slope, by)), equation
            for step in result["steps"][:-1]:
                assert step["line"].endswith(" = 0")
                made = read(step["formula"], result["wrt"])
                made = made.subs(D(y), slope).replace(
                    D, lambda u: sp.diff(u, by) + slope*sp.diff(u, y))  # noqa: B023
                assert near(values(made, by), [0j]*3), (equation, step)


def test_hints_show_the_first_steps() -> None:
    whole, first = (derivations("x^2*sin(x)", *more)["results"][0]
                    for more in ([], ["--hint", "1"]))
    assert whole["steps"][:1] == first["steps"]
    assert first["more"] == len(whole["steps"]) - 1
    assert first["derivative"] is None
    status, out, err = in_process(["steps", "-e", "x^2*sin(x)", "--hint", "1"])
    assert (status, out.count("\n"), err) == (0, 1, "2 more steps\n")


def test_with_a_point_steps_are_of_numbers() -> None:
    assert derivations("x^2", "--at", "x=3")["mode"] == "reverse"
    assert derivations("var x = 3\nx^2")["mode"] == "reverse"
    assert derivations("var x = 3\nx^2", "--hint", "1")["mode"] == "letters"
    assert in_process(["steps", "-e", "x^2", "--mode", "forward"])[0] == 3


@pytest.mark.parametrize(("arguments", "code"), [
    (["steps", "-e", "v = [x, 2]\nv @ v"], "E0804"),
    (["implicit", "-e", "x^2", "--dependent", "y"], "E0835"),
    (["steps", "-e", "*".join([f"sin({k}*x^{k})" for k in range(2, 120)])], "E0803")])
def test_what_has_no_derivation_says_so(arguments: list[str], code: str) -> None:
    status, _, err = in_process([*arguments, "--format", "json"])
    assert status == 3
    assert json.loads(err)["error"]["code"] == code


@pytest.mark.parametrize("format", ["table", "plain", "markdown", "latex", "csv", "html"])
def test_every_format(format: str, request: pytest.FixtureRequest) -> None:
    shown = []
    for arguments in (["steps", "-e", "sin(x^2)/x"], ["steps", "-e", "a*x^2*y"],
                      ["implicit", "-e", "x^2 + y^2 - 25", "--dependent", "y"],
                      ["steps", "-e", "floor(x)"]):
        status, out, err = in_process([*arguments, "--format", format])
        assert status == 0
        shown.append(out.partition("<main>")[2] if format == "html" else out + err)
    path = Path(DATA / "steps" / f"letters.{format}")
    text = "\n".join(shown)
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_bytes().decode()


def test_forty_derivations_are_as_they_were(request: pytest.FixtureRequest) -> None:
    path = DATA / "steps" / "letters.forty"
    text = "".join([in_process(["steps", "-e", formula, "--format", "table"])[1]
                    for formula in CHOSEN])
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_bytes().decode()
