"""gradcli derive: formulas against reference derivatives, in every language that can be run here.

The corpora have their derivatives from computations with 50 and 110 digits; second derivatives
that they lack come from mpmath. Lengths are compared with those that SymPy 1.14 printed
(`benchmarks/formula_lengths.py` measures them all).
"""

from __future__ import annotations

import ast
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from asked import valid
from corpora import COUNTS, agrees, cases
from folders import DATA, ROOT
from transcripts import blocks, brief, in_process, question, steps

from gradcli.base.errors import GradcliError
from gradcli.cli.options import find
from gradcli.formulas.text import LANGUAGES, language_of
from gradcli.formulas.text.languages import renamed
from gradcli.python.program import load, loads
from gradcli.questions.derive.answer import answered
from gradcli.questions.derive.derive import Derivation
from gradcli.questions.question import Question
from gradcli.render.layouts import formula
from gradcli.render.layouts.formula import heading, identifiers

Row = dict[str, Any]
FOLDER = DATA / "derive"


def derived(text: str, language: str = "gradcli", *, order: int = 1, what: str = "gradient",
            named: bool = True, **asked: Any) -> tuple[Any, str]:
    """The answer and the file of a language."""
    answer = answered(
        Derivation(Question(loads(text), **asked), what, order), language, False, named)
    return answer, language_of(language).file(answer)


def formulas(text: str, **options: Any) -> list[str]:
    """Derivatives written out, as gradcli writes them."""
    answer, _ = derived(text, named=False, **options)
    return [r["formula"] for r in answer["results"]]


def python_function(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    (function,) = [v for k, v in names.items() if callable(v) and getattr(v, "__code__", None)]
    return function  # type: ignore[no-any-return]


def tupled(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def wrong(rows: list[Row], order: int) -> list[str]:
    """What the files of one formula get wrong at the points of all its cases."""
    ask = Question(loads(rows[0]["expr"]), wrt=rows[0]["wrt"])
    found = Derivation(ask, "gradient", order)
    ours, theirs = [answered(found, language, False, True) for language in ("gradcli", "python")]
    program = loads(language_of("gradcli").file(ours))
    function = python_function(language_of("python").file(theirs))
    names = identifiers(ours)
    out = []
    for row in rows:
        run = program.run({one["name"]: row["vars"][one["name"]] for one in ours["inputs"]})
        first = [program.targets(run, [name])[0].tensor.value for name in names]
        second = tupled(function(**{
            one["name"]: np.float64(row["vars"].get(one["name"], row["vars"].get(
                one["name"].rstrip("_")))) for one in theirs["inputs"]}))
        for result, *got in zip(ours["results"], first, second, strict=True):
            by = [w["name"] for w in result["wrt"]]
            if order == 2:
                i, j = [row["wrt"].index(n) for n in by]
                want = row["hess"][i][j]
            else:
                want = row["grad"][by[0]]
            if not all(agrees(g, want, row.get("f64", [0.0, 0.0])[1]) for g in got):
                out.append(f"{row['id']}: {heading(result)} {got}, not {want}")
    return out


def by_text(name: str) -> list[list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in cases(name):
        found.setdefault(row["expr"], []).append(row)
    return list(found.values())


@pytest.mark.parametrize("name", COUNTS)
def test_first_derivatives_of_a_corpus_evaluate_to_the_reference(name: str) -> None:
    assert [line for rows in by_text(name) for line in wrong(rows, 1)] == []


@pytest.mark.parametrize("name", ["feynman", "benchfuncs", "lineshapes"])
def test_second_derivatives_of_a_corpus_evaluate_to_the_reference(name: str) -> None:
    kept = [[row for row in rows if "hess" in row] for rows in by_text(name)]
    assert [line for rows in kept if rows for line in wrong(rows, 2)] == []


def test_second_derivatives_of_single_functions_agree_with_mpmath() -> None:
    """At one inner point of each function that mpmath has by the same name."""
    known = {
        "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sec": mp.sec, "csc": mp.csc, "cot": mp.cot,
        "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "sinh": mp.sinh, "cosh": mp.cosh,
        "tanh": mp.tanh, "sech": mp.sech, "csch": mp.csch, "coth": mp.coth, "asinh": mp.asinh,
        "atanh": mp.atanh, "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "erf": mp.erf,
        "erfc": mp.erfc, "erfi": mp.erfi, "gamma": mp.gamma, "lgamma": mp.loggamma,
        "digamma": mp.digamma, "expm1": mp.expm1, "log1p": mp.log1p, "cbrt": mp.cbrt,
        "asec": mp.asec, "acsc": mp.acsc, "acosh": mp.acosh, "asech": mp.asech}
    above = {"asec", "acsc", "acosh"}
    with mp.workdps(40):
        for name, function in known.items():
            x = 1.7 if name in above else 0.4
            want = float(mp.diff(function, x, 2))
            for language in ("gradcli", "python"):
                _, text = derived(f"{name}(x)", language, order=2)
                if language == "gradcli":
                    got = loads(text).value(at={"x": x})
                else:
                    got = python_function(text)(np.float64(x))
                assert got == pytest.approx(want, rel=1e-9), (name, text)


SAMPLES = [path for path in sorted((ROOT / "samples").rglob("*.txt"))
           if "errors" not in path.parts and "homework" not in path.parts]
# Their programs train for seconds, or give a gradient that is not a number.
SLOW = {"digits.txt"}
# Samples that show an error, or have inputs that the command line gives.
UNANSWERED = {
    "expr": "E0211", "forward-wrong-order": "E0211", "no_gradient_registered": "E0503",
    "not_persistent": "E0501", "path-no-rule": "E0503", "tape-consumed": "E0501",
    "tape-not-entered": "E0502", "tape_never_opened": "E0507", "target-empty": "E0309"}


@pytest.mark.parametrize("path", [p for p in SAMPLES if p.name not in SLOW],
                         ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_formulas_of_the_samples_evaluate_to_the_gradient(path: Path) -> None:
    """As `grad` answers at the values in the file; what cannot be a formula says so."""
    if path.stem in UNANSWERED:
        with pytest.raises(GradcliError) as caught:
            load(str(path)).gradient()
        assert caught.value.code == UNANSWERED[path.stem]
        return
    text = brief(path)
    try:
        want = loads(text).gradient()
        ask = Question(loads(text))
    except GradcliError:    # a sample for a run: what it asks itself
        target, sources = question(path)
        want = loads(text).gradient(target, sources.split(","))
        ask = Question(loads(text), of=[target], wrt=sources.split(","))
    found = Derivation(ask, "gradient", 1)
    for language in ("gradcli", "python"):
        answer = answered(found, language, False, True)
        text = language_of(language).file(answer)
        if language == "gradcli":
            program = loads(text)
            run = program.run({}) if any(r["formula"] for r in answer["results"]) else None
            got = [None if r["formula"] is None or run is None else
                   program.targets(run, [name])[0].tensor for name, r in zip(
                       identifiers(answer), answer["results"], strict=True)]
            got = [getattr(g, "value", g) for g in got]
        else:
            try:
                with np.errstate(all="ignore"):
                    got = list(tupled(python_function(text)()))
            except ZeroDivisionError:
                assert path.parent.name == "nan"
                continue
        for result, g in zip(answer["results"], got, strict=True):
            truth = want[result["wrt"][0]["name"]]
            if truth is None:
                # What a derivative does not depend on has the slope 0, as in `grad`.
                assert g is None or np.all(g == 0)
                continue
            assert g is not None
            assert np.shape(g) == np.shape(truth)
            # A formula may have a value where the sweep met 0*inf; numbers of 32 bits are rounded.
            exact = getattr(truth, "dtype", None) != np.float32
            same = np.isclose(g, truth, rtol=1e-9 if exact else 1e-5, atol=1e-12, equal_nan=True)
            assert np.all(same | np.isnan(truth)), text


ARRAYS = [
    "sum((A@x - b)^2)", "sum(softmax(A@x)*b)", "mean(A*x) + max(b)", "x[0]*x[1]^2 + sum(x[1:])",
    "sum(exp(x)/sum(exp(x)))", "sum(A.T@b)", "logsumexp(A@x)", "norm(x)*sum(b)",
    "sum(where(x > 0.3, x^2, sin(x)))", "sum(tanh(A@x + b)^2)", "sum(x*[1, 2])",
    "sum(relu(A@x)*sigmoid(b))", "det(A)*sum(x)", "sum(solve(A, b))", "sum(concat(x, b)^2)",
    "sum(cumsum(x)*b)", "prod(x)*b[-1]",
]
POINT = {"A": [[1.0, 0.5], [0.3, 2.0]], "x": [0.2, 0.7], "b": [0.4, 1.1]}


@pytest.mark.parametrize("text", ARRAYS)
def test_formulas_of_arrays(text: str) -> None:
    used = [n for n in POINT if re.search(rf"\b{n}\b", text)]
    at = {n: np.array(POINT[n]) for n in used}
    want = loads(text).gradient(at=at, wrt=used)
    answer, file = derived(text, at=at, wrt=used)
    program = loads(file)
    for name, result in zip(identifiers(answer), answer["results"], strict=True):
        got = program.value(of=name)
        truth = want[result["wrt"][0]["name"]]
        assert np.shape(got) == np.shape(truth)
        np.testing.assert_allclose(got, truth, rtol=1e-12, atol=1e-15)
    answer, file = derived(text, "python", at=at, wrt=used)
    for result, got in zip(answer["results"], tupled(python_function(file)()), strict=True):
        np.testing.assert_allclose(got, want[result["wrt"][0]["name"]], rtol=1e-12, atol=1e-15)


# `c` is a number to the tape, and no rule of these reads it, or all of it.
BESIDE_A_TAPE = [
    "sum((x - c)^2)", "sum((c - x)^2)", "mean((c + x)^3)", "sum(exp(x + c))",
    "sum(maximum(x, c)^2)", "sum(hypot(x, c))", "sum(where(c > 0.3, x + c, x)^2)",
    "sum((x[:30] + c[3:33])^2)", "sum(x*c)", "sum(c/x)", "sum((concat(x, c) - concat(c, x))^2)",
    "sum((stack(x, c) + c)^3)", "sum((atan2(x, c) - c)^2)", "sum((cumsum(x) - c)^2)",
]


@pytest.mark.parametrize("text", BESIDE_A_TAPE)
def test_formulas_of_a_tape_have_the_constants_in_them(text: str) -> None:
    """Large ones too, of which a tape keeps only what its rules read."""
    file = (f"var x = linspace(1, 2, 40)\nc = linspace(0.2, 0.9, 40)^2\ntape t:\n    y = {text}\n"
            "g = t.gradient(y, x)")
    h, c, x = 1e-6, np.linspace(0.2, 0.9, 40)**2, np.linspace(1, 2, 40)
    plain = loads(f"input x\ninput c\n{text}")
    slope = [(plain.value(at={"x": x + d, "c": c}) - plain.value(at={"x": x - d, "c": c}))/(2*h)
             for d in np.eye(40)*h]
    answer, written = derived(file)
    assert [r["of"] for r in answer["results"]] == ["y"]
    (name,) = identifiers(answer)
    np.testing.assert_allclose(loads(written).value(of=name), slope, rtol=1e-6, atol=1e-6)


def test_a_variable_with_two_large_values_has_no_formula() -> None:
    """Which is found out by comparing them."""
    with pytest.raises(GradcliError) as caught:
        derived("var w = linspace(0, 1, 50)\ntape t:\n    y = sum(w + 1)\n    w.assign(2*w)\n"
                "    y = y + sum(w + 3)\ng = t.gradient(y, w)")
    assert caught.value.code == "E0804"


def test_attributes_tell_arrays_apart_in_all_digits() -> None:
    """What ran outside of the engine has its value as an attribute: these differ in the 10th."""
    file = ("var x = 2.0\na = np.sin([x, 1.000000001])\nb = np.sin([x, 1.000000002])\n"
            "y = x*(a[1] - b[1])")
    with pytest.raises(GradcliError) as caught:  # the slope is not 0, and has no formula
        derived(file)
    assert caught.value.code == "E0802"


def test_second_derivatives_by_arrays_are_told_element_by_element() -> None:
    at = {"x": np.array([0.2, 0.7])}
    answer, file = derived("sum(exp(x))*x[0]^2", order=2, at=at)
    want = loads("sum(exp(x))*x[0]^2").hessian(at=at)["x"]["x"]
    program = loads(file)
    names = identifiers(answer)
    assert names == ["d2f_dx0dx", "d2f_dx1dx"]
    for row, name in zip(want, names, strict=True):
        np.testing.assert_allclose(program.value(of=name), row, rtol=1e-12)


# --- what people see ------------------------------------------------------------------------------

SHOWN = {
    "x^2*sin(x)": ["x^2*cos(x) + 2*x*sin(x)"],
    "x^n": ["n*x^(n - 1)", "x^n*log(x)"],
    "log(x)/x": ["(1 - log(x))/x^2"],
    "1/(1 + exp(-x))": ["exp(-x)/(exp(-x) + 1)^2"],
    "sqrt(x^2 + y^2)": ["x/sqrt(x^2 + y^2)", "y/sqrt(x^2 + y^2)"],
    "-(a - b)*c": ["-c", "c", "b - a"],
    "a/(b/c)": ["c/b", "-a*c/b^2", "a/b"],
    "exp(x)*exp(2*x)": ["3*exp(3*x)"],
    "x*x*x": ["3*x^2"],
    "2*pi*x/4": ["pi/2"],
    "log2(x)": ["1/(x*log(2))"],
    "where(x > 0, x^2, -x)": ["where(x > 0, 2*x, -1)"],
    "relu(x)*y": ["where(x > 0, y, 0)", "relu(x)"],
    "x^x": ["x^x*(log(x) + 1)"],
    "cos(-x)": ["-sin(x)"],
    "x - x + y": ["0", "1"],
    "0.1*x + 0.2*x": ["0.3"],
    "x/3": ["1/3"],
    "x^2/(2*s^2)": ["x/s^2", "-x^2/s^3"],
    "abs(x)^3": ["3*x^2*sign(x)"],
    "-x^-y": ["y/x^(y + 1)", "log(x)/x^y"],
}


@pytest.mark.parametrize("text", SHOWN)
def test_formulas_read_as_people_write_them(text: str) -> None:
    assert formulas(text) == SHOWN[text]


# What SymPy 1.14 prints for str(diff(f, x)), all names together: characters.
SYMPY = {
    "exp(-theta^2/2)/sqrt(2*pi)": 44,
    "A/(s*sqrt(2*pi))*exp(-(x - c)^2/(2*s^2))": 342,
    "100*(y - x^2)^2 + (1 - x)^2": 45,
    "log(exp(x) - 1)": 19,
    "x^2*sin(x)": 24,
}


@pytest.mark.parametrize("text", SYMPY)
def test_formulas_are_not_long(text: str) -> None:
    answer, _ = derived(text)
    length = sum([len(r["formula"]) for r in answer["results"]]) + sum(
        [len(d["name"]) + 3 + len(d["formula"]) for d in answer["definitions"]])
    assert length <= 1.2 * SYMPY[text]


def test_brackets_are_minimal() -> None:
    """Without any pair of brackets that is no call, the text is another formula or none."""
    for text in (*SHOWN, "(x + y)^2/(x*y)", "-(x + y)/(x - y)", "exp(-(x - c)^2/(2*s^2))"):
        for found in formulas(text):
            tree = ast.dump(ast.parse(found.replace("^", "**"), mode="eval"))
            for k, character in enumerate(found):
                if character != "(" or (k and (found[k - 1].isalnum() or found[k - 1] == "_")):
                    continue
                end = k + 1
                depth = 1
                while depth:
                    depth += {"(": 1, ")": -1}.get(found[end], 0)
                    end += 1
                bare = found[:k] + found[k + 1:end - 1] + found[end:]
                assert ast.dump(ast.parse(bare.replace("^", "**"), mode="eval")) != tree, found


def test_names_do_not_clash_with_those_of_the_file() -> None:
    answer, file = derived("t1 = sin(x*y)^2 + cos(x*y)^3\nt2 = exp(t1 + z)/(t1 + z)", of=["t2"])
    taken = {"t1", "t2", "x", "y", "z"}
    assert answer["definitions"]
    assert not taken & {d["name"] for d in answer["definitions"]}
    at = {"x": 0.3, "y": 0.8, "z": 0.5}
    want = loads("t1 = sin(x*y)^2 + cos(x*y)^3\nt2 = exp(t1 + z)/(t1 + z)").gradient(at=at)
    for name, result in zip(identifiers(answer), answer["results"], strict=True):
        assert loads(file).value(of=name, at=at) == pytest.approx(
            want[result["wrt"][0]["name"]], rel=1e-13)


def test_names_that_hide_constants_and_words_of_other_languages() -> None:
    text = "e*sin(2*pi*lambda_) + pi*exp(1)"
    at = {"e": 1.5, "pi": 2.0, "lambda_": 0.3}
    want = loads(text).gradient(at=at, wrt=list(at))
    answer, file = derived(text, wrt=list(at), at=at)
    for name, result in zip(identifiers(answer), answer["results"], strict=True):
        here = {i["name"]: at[i["name"]] for i in answer["inputs"]}
        assert loads(file).value(of=name, at=here) == pytest.approx(
            want[result["wrt"][0]["name"]], rel=1e-13)
    _, file = derived("def_^2*np*is_", "python")
    assert python_function(file)(3.0, 2.0, 1.0) == (12.0, 9.0, 18.0)
    _, file = derived("double^2*register", "c")
    assert "double double_" in file


def test_what_decides_the_way_is_told() -> None:
    text = "input x = 2\nif x > 1:\n    y = x^2\nelse:\n    y = 3*x"
    answer, file = derived(text)
    assert answer["conditions"] == ["x > 1"]
    assert [r["formula"] for r in answer["results"]] == ["2*x"]
    assert "# They hold where x > 1\n" in file
    answer, _ = derived(text, at={"x": 0.5})
    assert answer["conditions"] == ["x <= 1"]
    assert [r["formula"] for r in answer["results"]] == ["3"]


def test_a_singularity_is_not_lost_without_a_word() -> None:
    for text, condition in (("x^2/x", "x != 0"), ("exp(log(x))", "x > 0"),
                            ("sqrt(x)*sqrt(x)", "x >= 0"), ("y^x", "y > 0")):
        answer, _ = derived(text)
        assert answer["conditions"] == [condition], text
    answer, _ = derived("1/x^2")
    assert answer["conditions"] == []


def test_loops_are_unrolled_and_too_much_is_refused() -> None:
    assert formulas("y = x\nfor k in range(3): y = y*x\ny") == ["4*x^3"]
    with pytest.raises(GradcliError) as refused:
        derived("y = x\nfor k in range(30000): y = sin(y)\ny", at={"x": 0.5})
    assert refused.value.code == "E0803"


def test_a_deep_formula_needs_no_recursion() -> None:
    answer, _ = derived("y = x\nfor k in range(400): y = sin(y)\ny", at={"x": 0.5})
    names = {d["name"]: d["formula"] for d in answer["definitions"]}
    value = {"x": 0.5, "cos": math.cos, "sin": math.sin}
    for name, text in names.items():
        value[name] = eval(text.replace("^", "**"), {}, value)
    got = eval(answer["results"][0]["formula"].replace("^", "**"), {}, value)
    y, want = 0.5, 1.0
    for _ in range(400):
        want *= math.cos(y)
        y = math.sin(y)
    assert got == pytest.approx(want, rel=1e-9)


def test_an_array_is_what_c_does_not_have() -> None:
    with pytest.raises(GradcliError) as refused:
        derived("sum(x*[1, 2])", "c", at={"x": np.array([1.0, 2.0])})
    assert refused.value.code == "E0802"


def test_operations_without_a_function_in_numpy_come_from_gradcli() -> None:
    _, text = derived("digamma(x)", "python")
    assert "from gradcli import ops" in text
    assert python_function(text)(1.0) == pytest.approx(math.pi**2 / 6, rel=1e-14)
    _, text = derived("lgamma(x) + erf(x)", "python")
    assert "scipy" not in text


def test_c_evaluates_to_the_same() -> None:
    """As Python reads it: what C calls functions are those of `math`."""
    text = ("A/(s*sqrt(2*pi))*exp(-(x - c)^2/(2*s^2)) + x^3*c + log2(A)*erf(x/3) + s^1.5/x^2"
            " + 3/sqrt(x)")
    at = {"A": 1.5, "s": 0.7, "x": 0.4, "c": 1.1}
    answer, file = derived(text, "c")
    known = {name: getattr(math, name) for name in dir(math)} | at
    for name, body in re.findall(r"const double (\w+) = (.*);", file):
        known[name] = eval(body, {}, known)
    want = loads(text).gradient(at=at)
    bodies = re.findall(r"out\[[0-9]+\] = (.*);", file)
    for result, body in zip(answer["results"], bodies, strict=True):
        assert not re.search(r"(?<![\w.])[0-9]+(?![\w.])", body), "an integer in C divides"
        assert eval(body, {}, known) == pytest.approx(want[result["wrt"][0]["name"]], rel=1e-13)


def test_c_compiles_where_there_is_a_compiler(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        return  # what it computes is tested above
    text = "A/(s*sqrt(2*pi))*exp(-(x - c)^2/(2*s^2)) + where(x > c, x^3, sign(x)*erf(x/3))"
    at = {"A": 1.5, "s": 0.7, "x": 0.4, "c": 1.1}
    answer, file = derived(text, "c")
    n = len(answer["results"])
    call = ", ".join([repr(at[i["name"]]) for i in answer["inputs"]])
    (tmp_path / "f.c").write_text(
        f"{file}\n#include <stdio.h>\nint main(void)\n{{\n    double out[{n}];\n"
        f"    gradient({call}, out);\n"
        f'    for (int k = 0; k < {n}; k++) printf("%.17g\\n", out[k]);\n    return 0;\n}}\n')
    subprocess.run(["cc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-o", "f", "f.c", "-lm"],
                   cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "f"], capture_output=True, text=True, check=True).stdout
    want = loads(text).gradient(at=at)
    for result, line in zip(answer["results"], printed.splitlines(), strict=True):
        assert float(line) == pytest.approx(want[result["wrt"][0]["name"]], rel=1e-13)


# --- the command ----------------------------------------------------------------------------------

GOLDEN = [
    ("gaussian", "-e", "A/(s*sqrt(2*pi))*exp(-(x - c)^2/(2*s^2))"),
    ("sigmoid", "-e", "1/(1 + exp(-x))", "--order", "3"),
    ("polar", "-e", "[r*cos(t), r*sin(t)]", "--what", "jacobian"),
    ("rosenbrock", "samples/rosenbrock.txt", "--what", "hessian"),
    ("power", "-e", "x^n"),
    ("branch", "-e", "where(x > 0, x*log(x), 0)"),
]
FORMATS = ("table", "plain", "json", "markdown", *LANGUAGES)


def test_a_language_is_in_the_schema_and_tells_of_others(request: pytest.FixtureRequest) -> None:
    path = ROOT / "gradcli/schemas/derive.schema.json"
    text = path.read_text(encoding="utf-8")
    names = re.sub(r'(?<="language": {"enum": )\[.*\]', json.dumps(list(LANGUAGES)), text)
    if request.config.getoption("--update-golden"):
        path.write_text(names, encoding="utf-8")
    else:
        assert names == text
    assert json.loads(names)["properties"]["language"]["enum"] == list(LANGUAGES)
    assert set(LANGUAGES) <= set(find("derive").formats())
    for name in LANGUAGES:
        language = language_of(name)
        assert language.title
        assert set(language.others) <= {*LANGUAGES} - {name}


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case[0])
def test_every_format(case: tuple[str, ...], golden: Callable[[Path, str], None]) -> None:
    name, *arguments = case
    shown = ""
    for chosen in FORMATS:
        status, out, err = in_process(["derive", *arguments, "--format", chosen])
        assert status == 0, err
        shown += f"== {chosen}\n{out}{err}"
        if chosen == "json":
            valid(json.loads(out), "derive")
    golden(FOLDER / f"{name}.txt", shown)


FILES = ["expr --wrt x", "least_squares", "normal", "pendulum", "polar", "seeds/chain",
         "seeds/dense_layer", "seeds/branch", "training/logistic_regression", "taylor"]


@pytest.mark.parametrize("case", FILES)
def test_a_dozen_samples(case: str, golden: Callable[[Path, str], None]) -> None:
    name, *rest = case.split()
    shown = ""
    for chosen in ("table", "python"):
        arguments = [f"samples/{name}.txt", *rest, "--format", chosen]
        status, out, err = in_process(["derive", *arguments])
        shown += f"$ gradcli derive {' '.join(arguments)}\n{out}{err}"
        assert status in (0, 3)
    golden(FOLDER / f"sample-{name.replace('/', '-')}.txt", shown)


def test_strict_quiet_and_none() -> None:
    text = "const c = 2\ninput x = 3\ny = c*x"
    status, out, err = in_process(["derive", "-e", text, "--wrt", "x,c", "--strict"])
    assert (status, out) == (1, "dy/dx\tc\ndy/dc\tNone\n")
    assert err == "dy/dc is None: c is a constant, which nothing watches\n"
    status, out, err = in_process(["derive", "-e", text, "--wrt", "c", "--watch", "c", "-q"])
    assert (status, out, err) == (0, "dy/dc\tx\n", "")
    status, out, _ = in_process(["derive", "-e", text, "--wrt", "c", "--unconnected", "zero"])
    assert (status, out) == (0, "dy/dc\t0\n")


def test_usage() -> None:
    for arguments in (["-e", "x", "--order", "0"], ["-e", "x", "--order", "99"], [],
                      ["-e", "x", "--what", "hessian", "--order", "3"], ["-e", "x", "--at", "x"]):
        assert in_process(["derive", *arguments])[0] == 2


def test_sympy_is_not_loaded_unless_asked() -> None:
    code = ("import sys; sys.argv = ['gradcli', 'derive', '-e', 'x^2']\n"
            "from gradcli.cli.main import main\n"
            "try: main()\nexcept SystemExit: pass\n"
            "print('sympy' in sys.modules, 'lark' in sys.modules, 'typer' in sys.modules)")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                         check=True)
    assert ran.stdout.splitlines()[-1] == "False False False"


PAGE = ROOT / "docs/formulas.md"


def test_the_page_shows_what_is_printed(golden: Callable[[Path, str], None]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for block in blocks(text):
        shown = ""
        for command, _ in steps(block):
            status, out, err = in_process(shlex.split(command)[1:])
            assert status == 0, command
            shown += f"$ {command}\n{out}{err}"
        text = text.replace(block, shown)
    golden(PAGE, text)


def test_simplification_needs_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    status, out, err = in_process(["derive", "-e", "x^2", "--simplify"])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0805]: --simplify needs SymPy")


def test_what_sympy_finds_is_checked_and_shorter() -> None:
    status, out, err = in_process([
        "derive", "-e", "log(exp(x) + 1) + sin(x)^2", "--simplify", "--format", "gradcli"])
    assert (status, err) == (0, "")
    for x in (-1.3, 0.2, 2.5):
        want = math.exp(x) / (math.exp(x) + 1) + math.sin(2 * x)
        assert loads(out).value(of="df_dx", at={"x": x}) == pytest.approx(want, rel=1e-12)
    plain = in_process(["derive", "-e", "log(exp(x) + 1) + sin(x)^2", "--format", "gradcli"])[1]
    assert len(out) <= len(plain)
    status, out, _ = in_process(["derive", "-e", "(x^2 - 1)/(x - 1)", "--simplify"])
    assert (status, out) == (0, "df/dx\t1\n")


def test_a_simplification_with_other_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcli.questions.derive import simplify

    monkeypatch.setitem(sys.modules, "sympy", ModuleType("sympy"))

    def other(a: Any, term: Any, sympy: Any) -> Any:
        return a.times(term, a.constant(1.0001))

    monkeypatch.setattr(simplify, "_simplified", other)
    found = Derivation(Question(loads("x^2*sin(x)")), "gradient", 1)
    answer = answered(found, "gradcli", True, True)
    assert answer["results"][0]["formula"] == "x^2*cos(x) + 2*x*sin(x)"
    assert [n["code"] for n in answer["notes"]] == ["not-simplified"]


def test_a_variable_has_the_value_of_the_state_that_is_read() -> None:
    text = "input x\nvar v = 1.0\nv.assign(x)\ny = v*x"
    assert [i["value"] for i in derived(text)[0]["inputs"]] == [None, None]
    assert [i["value"] for i in derived(text, at={"x": 2.0})[0]["inputs"]] == [2.0, 2.0]


# --- second derivatives without a Hessian in the corpora ------------------------------------------


def second_references() -> list[list[Row]]:
    """By formula: what `derive_references.py` computed with mpmath, at a few points each."""
    found: dict[str, list[Row]] = {}
    for line in (FOLDER / "second.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["expr"], []).append(row)
    return list(found.values())


def test_second_derivatives_evaluate_to_those_of_mpmath() -> None:
    kept = second_references()
    assert sum([len(rows) for rows in kept]) == 150
    assert [line for rows in kept for line in wrong(rows, 2)] == []


# --- custom gradients -----------------------------------------------------------------------------

CUSTOM: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "value": ("    def grad(u):\n        return u*3*x^2*sin(x)\n    return x^3\n",
              lambda x: x**3, lambda x, u: u * 3 * x**2 * mp.sin(x)),
    "choice": ("    def grad(u):\n        return u*where(x > 0, x, 1)\n    return x^2/2\n",
               lambda x: x**2 / 2, lambda x, u: u * x),
    "upstream": ("    def grad(u):\n        return u^2*x + u\n    return exp(x)\n",
                 mp.exp, lambda x, u: u**2 * x + u),
}
"""What a function f(x) does, its value, and what its rule gives for an upstream gradient."""


@pytest.mark.parametrize("name", CUSTOM)
def test_custom_gradients_are_formulas_to_any_order(name: str) -> None:
    """y = f(x)*x has the slope f(x) + rule(x, x); in the next one f has the slope of its rule."""
    body, value, rule = CUSTOM[name]
    text = f"@custom_gradient\ndef f(x):\n{body}\ninput x = 0.7\ny = f(x)*x\n"
    files = [derived(text, order=order)[1] for order in (1, 2)]
    for point in (0.7, 1.9):
        x = mp.mpf(point)
        first = value(x) + rule(x, x)
        second = rule(x, mp.mpf(1)) + mp.diff(rule, (x, x), (1, 0)) + mp.diff(
            rule, (x, x), (0, 1))
        for file, of, want in zip(files, ("dy_dx", "d2y_dxdx"), (first, second), strict=True):
            got = loads(file).value(of=of, at={"x": point})
            assert got == pytest.approx(float(want), rel=1e-12), file


def test_several_values_of_a_custom_function_and_a_rule_that_is_not_symmetric() -> None:
    text = ("@custom_gradient\ndef f(x, y):\n    def grad(u, v):\n"
            "        return u*y + v, where(x > 0, x, 1)*v\n    return x*y, x + y\n"
            "input x = 2\ninput y = 3\na, b = f(x, y)\nz = a*b\n")
    answer, file = derived(text)
    assert [r["formula"] for r in answer["results"]] == [
        "y*(2*x + y)", "x*y*where(x > 0, x, 1)"]
    assert answer["conditions"] == []
    answer, file = derived(text, order=2)
    # Of (u*y + v at u = x + y, v = x*y) and of where(x > 0, x, 1)*v at the same, by the rule again.
    want = {"x": {"x": 6.0, "y": 11.0}, "y": {"x": 12.0, "y": 0.0}}
    assert identifiers(answer) == ["d2z_dxdx", "d2z_dxdy", "d2z_dydx", "d2z_dydy"]
    for name, result in zip(identifiers(answer), answer["results"], strict=True):
        first, second = [w["name"] for w in result["wrt"]]
        assert loads(file).value(of=name) == want[first][second]


def test_constants_among_the_values_of_a_custom_function() -> None:
    text = ("@custom_gradient\ndef f(x):\n    def grad(u, v):\n        return u*2*x\n"
            "    return x^2, 3.0\ninput x\na, b = f(x)\ny = a*b\n")
    assert formulas(text) == ["6*x"]
    assert formulas(text, order=2) == ["6"]


def test_a_rule_that_the_file_registers_has_a_formula() -> None:
    text = ("@gradient_of(adjust_contrast)\ndef rule(upstream, image, factor):\n"
            "    centred = image - mean(image, axis=[0, 1], keepdims=true)\n"
            "    return upstream*factor, sum(upstream*centred)\nvar factor = 2.0\n"
            "const image = [[[1.0], [2.0]], [[3.0], [6.0]]]\n"
            "y = sum(adjust_contrast(image, factor)^2)\n")
    _, file = derived(text)
    assert loads(file).value(of="dy_dfactor") == 56.0  # as docs/language.md
    _, file = derived(text, order=2)
    assert loads(file).value(of="d2y_dfactordfactor") == 28.0


# --- what was wrong once --------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "at"), [
    ("z*exp(x)^y*exp(x)", {"x": 0.3, "y": 1.7, "z": 2.0}),
    ("exp(x)^y", {"x": -0.4, "y": 0.9}),
    ("exp(2*x)^(y*z)/exp(x)", {"x": 0.3, "y": 1.1, "z": 0.6}),
])
def test_a_power_of_an_exponential_keeps_its_exponent(text: str, at: dict[str, float]) -> None:
    f = eval(f"lambda {', '.join(at)}: {text.replace('^', '**')}", {"exp": mp.exp})
    answer, file = derived(text)
    for name, result in zip(identifiers(answer), answer["results"], strict=True):
        orders = tuple(int(n == result["wrt"][0]["name"]) for n in at)
        here = {i["name"]: at[i["name"]] for i in answer["inputs"]}
        assert loads(file).value(of=name, at=here) == pytest.approx(
            float(mp.diff(f, tuple(at.values()), orders)), rel=1e-10)


def test_a_choice_by_zero_is_no_guard_of_a_rule() -> None:
    assert formulas("where(x == 0, a, b)", wrt=["a", "b"]) == [
        "where(x == 0, 1, 0)", "where(x == 0, 0, 1)"]
    assert formulas("where(0 > log2(z), y, x)", wrt=["x"]) == ["where(0 > log2(z), 0, 1)"]
    answer, _ = derived("x^y + y^0")
    assert [r["formula"] for r in answer["results"]] == ["y*x^(y - 1)", "x^y*log(x)"]


def test_zero_to_a_power_and_division_by_zero() -> None:
    assert formulas("0^(1/3)*x") == ["0"]
    assert formulas("((x - x)*y)^0.5 + x") == ["1", "0"]
    text = "where(x > 0, x, y/0)"
    _, file = derived(text, "python")
    with np.errstate(all="ignore"):
        assert python_function(file)(2.0, 1.0) == (1, 0)


def test_a_long_sum_takes_time_in_proportion() -> None:
    """Two thousand summands: a partial sum of each would have millions of parts."""
    text = " + ".join([f"{k % 5 + 1}*x^{k % 9}*sin(x*{k})" for k in range(2000)])
    found = Derivation(Question(loads(text)), "gradient", 1)
    parts = sum([len(t.items) for t in found.algebra.table.all])
    assert parts < 100_000
    file = language_of("gradcli").file(answered(found, "gradcli", False, True))
    want = sum([(k % 5 + 1) * ((k % 9) * 0.3**(k % 9 - 1) * math.sin(0.3 * k)
                               + 0.3**(k % 9) * k * math.cos(0.3 * k)) for k in range(2000)])
    assert loads(file).value(of="df_dx", at={"x": 0.3}) == pytest.approx(want, rel=1e-9)


RECURRENCE = ("input x\na = x\nb = x\nc = x\nfor k in range(60):\n    d = sin(a)*b/2 + c/4\n"
              "    c = b\n    b = a\n    a = d\na")


def test_texts_do_not_grow_with_every_way_through_the_terms() -> None:
    """The function is not shown, and its derivative without names is refused: 2^60 characters."""
    answer, file = derived(RECURRENCE)
    assert [t["formula"] for t in answer["targets"]] == [None]
    a = b = c = 0.4
    da = db = dc = 1.0
    for _ in range(60):
        a, b, c, da, db, dc = (
            math.sin(a) * b / 2 + c / 4, a, b,
            (math.cos(a) * da * b + math.sin(a) * db) / 2 + dc / 4, da, db)
    got = loads(file).value(of=identifiers(answer)[0], at={"x": 0.4})
    assert got == pytest.approx(da, rel=1e-9)
    with pytest.raises(GradcliError) as refused:
        derived(RECURRENCE, named=False)
    assert refused.value.code == "E0803"


def test_too_many_formulas_are_refused_before_any_is_made() -> None:
    status, _, err = in_process(["derive", "-e", "sin(x*y*z)*a*b*c*d", "--order", "6"])
    assert status == 3
    assert err.startswith("error[E0803]: that would be 924 formulas; the limit is 400")


def test_integers_and_truth_values_run_with_some_of_their_own() -> None:
    assert formulas('input n: int32\ninput x\ny = x^2*cast(n, "float64")') == [
        '2*x*cast(n, "float64")']
    assert formulas("input b: bool\ninput x\ny = where(b, x, x^2)") == ["where(b, 1, 2*x)"]


def test_sympy_compares_values_and_knows_infinity() -> None:
    assert "Eq(x, y)" in derived("where(x == y, x^2, x^3)", "sympy")[1]
    assert "Ne(x, y)" in derived("where(x != y, x^2, x^3)", "sympy")[1]
    assert "df_dx = oo\n" in derived("x/0", "sympy")[1]


@pytest.mark.parametrize("text", ["sum((A@x - b)^2)", "x[0]*x[1]^2 + sum(x[1:])"])
def test_latex_refuses_arrays_that_it_would_not_show_in_full(text: str) -> None:
    used = {n: np.array(POINT[n]) for n in POINT if re.search(rf"\b{n}\b", text)}
    with pytest.raises(GradcliError) as refused:
        derived(text, "latex", at=used)
    assert refused.value.code == "E0802"


def test_a_none_of_a_higher_order_names_all_its_derivatives() -> None:
    text = "const c = 2\ninput x = 3\ny = c*x"
    _, out, err = in_process(["derive", "-e", text, "--wrt", "c", "--order", "2"])
    assert (out, err) == (
        "d2y/dcdc\tNone\n", "d2y/dcdc is None: c is a constant, which nothing watches\n")


def test_python_takes_what_a_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / 'a"""\\.txt'
    path.write_text("x^2")
    status, out, _ = in_process(["derive", str(path), "--format", "python"])
    assert status == 0
    assert 'a"""\\.txt' in str(python_function(out).__doc__)
    path = tmp_path / "b\\"
    path.write_text("x^2")
    _, out, _ = in_process(["derive", str(path), "--format", "c"])
    assert not any(line.endswith("\\") for line in out.splitlines())


def test_rows_for_spreadsheets() -> None:
    import csv

    text = "const c = 2\ninput x\nsin(x)*c/x - x*c"
    for chosen, delimiter in (("csv", ","), ("tsv", "\t")):
        status, out, _ = in_process(
            ["derive", "-e", text, "--wrt", "x,c", "--inline", "--format", chosen])
        assert status == 0
        rows = list(csv.DictReader(out.splitlines(), delimiter=delimiter))
        assert [(r["wrt"], r["reason"]) for r in rows] == [
            ("x", ""), ("c", "source-constant-unwatched")]
        got = loads(rows[0]["formula"].lstrip("'")).value(at={"x": 0.7, "c": 2.0})
        want = 2 * (math.cos(0.7) / 0.7 - math.sin(0.7) / 0.49) - 2
        assert got == pytest.approx(want, rel=1e-13)
        assert rows[1]["formula"] == "None"
    _, out, _ = in_process(["derive", "-e", "[x^n, -400*x]", "--what", "jacobian",
                            "--format", "csv"])
    assert out == ("of,element,wrt,formula,conditions,reason\nf,0,x,n*x^(n - 1),x > 0,\n"
                   "f,0,n,x^n*log(x),x > 0,\nf,1,x,-400,x > 0,\nf,1,n,0,x > 0,\n")


def test_a_narrow_terminal_folds_and_a_none_is_yellow() -> None:
    answer, _ = derived("A/(s*sqrt(2*pi))*exp(-(x - c)^2/(2*s^2)) + y^n*log(A + s + x + c + y)")
    wide, narrow = formula.render(answer, "table"), formula.render(answer, "table", 40)
    assert max(map(len, wide.splitlines())) > 60
    assert "".join(narrow.split()) == "".join(wide.split())
    for line in narrow.splitlines():
        assert len(line) <= 40 or " " not in line.strip()
    answer, _ = derived("const c = 2\ninput x\nf = c*x", wrt=["c", "x"])
    shown = formula.render(answer, "table", 80, True)
    assert [line for line in shown.splitlines() if "\x1b" in line] == [
        "\x1b[33mdf/dc = None: c is a constant, which nothing watches\x1b[0m"]


# --- what a reader of the files met ---------------------------------------------------------------


C_FILES: dict[str, tuple[Callable[..., Any], dict[str, float]]] = {
    "pi*x^2*exp(x) + e^x + e*x": (
        lambda x: mp.pi * x**2 * mp.exp(x) + mp.exp(x) + mp.e * x, {"x": 0.7}),
    "out*sin(t1)": (lambda out, t1: out * mp.sin(t1), {"out": 1.3, "t1": 0.4}),
    "α^2*β₁ + alpha": (lambda a, b, c: a**2 * b + c, {"α": 1.2, "β₁": -0.7, "alpha": 3.0}),
    "double^2*erf(x*erf)": (lambda d, x, f: d**2 * mp.erf(x * f),
                            {"double": 1.1, "x": 0.6, "erf": 0.8}),
    "3*y + x^2": (lambda y, x: 3 * y + x**2, {"y": 2.0, "x": 1.5}),
    "bessel_j0(x)*y0": (lambda x, y: mp.besselj(0, x) * y, {"x": 1.4, "y0": 0.3}),
    "2^x*3^y/(1 + e^(-x))": (lambda x, y: mp.mpf(2)**x * 3**y / (1 + mp.exp(-x)),
                             {"x": 0.3, "y": 0.2}),
    "relu(x)^2*y + where(logical_or(x > y, logical_and(x < 0, y > 1)), x*y, x)": (
        lambda x, y: x**2 * y + x * y, {"x": 0.9, "y": 0.5}),
    "e*pi*gradient": (lambda x: mp.e * mp.pi * x, {"gradient": 2.0}),
    "xlogy(x, y) + xdivy(z, w)": (
        lambda x, y, z, w: x * mp.log(y) + z / w, {"x": 0.4, "y": 1.7, "z": 0.3, "w": 2.5}),
    "pi^2*e + x*pi": (lambda pi, e, x: pi**2 * e + x * pi, {"pi": 1.5, "e": 0.5, "x": 2.0}),
}
"""A formula, the same by mpmath and a point, in the order of the names in the text."""


VECTORS: dict[str, Callable[..., Any]] = {
    "log(softmax([x, y, z])[0])": lambda x, y, z: x - mp.log(mp.exp(x) + mp.exp(y) + mp.exp(z)),
    "logsumexp([x*y, 2])*z": lambda x, y, z: mp.log(mp.exp(x * y) + mp.exp(2)) * z,
    "sum([x, y, z]^2*[1, 2, 3])": lambda x, y, z: x**2 + 2 * y**2 + 3 * z**2,
    "sum(softmax([x, y])*[z, 1])": lambda x, y, z: (
        z * mp.exp(x) + mp.exp(y)) / (mp.exp(x) + mp.exp(y)),
    "dot([x, y], [y, z])": lambda x, y, z: x * y + y * z,
    "sum(sin([x, y, z] - z)[1:])": lambda x, y, z: mp.sin(y - z),
}


@pytest.mark.parametrize("text", VECTORS)
def test_short_vectors_of_numbers_are_taken_apart(text: str) -> None:
    """So that languages of numbers have them; at a point and where elements tie."""
    for at in ({"x": 0.3, "y": 1.2, "z": -0.4}, {"x": 0.5, "y": 0.5, "z": 0.5}):
        for order in (1, 2):
            answer, file = derived(text, order=order)
            for name, result in zip(identifiers(answer), answer["results"], strict=True):
                by = [w["name"] for w in result["wrt"]]
                want = mp.diff(VECTORS[text], tuple(at.values()), tuple([by.count(n) for n in at]))
                got = loads(file).value(of=name, at=at)
                assert got == pytest.approx(float(want), rel=1e-9, abs=1e-12), file
    if "[1:]" not in text:
        assert "stack" not in file
        assert derived(text, "c")[1].startswith("//")


def test_a_slope_of_elements_that_tie_is_shared() -> None:
    _, file = derived("max([x, y])")
    at = {"x": 2.0, "y": 2.0}
    assert [loads(file).value(of=n, at=at) for n in ("df_dx", "df_dy")] == [0.5, 0.5]


def test_c_is_c99_and_right(tmp_path: Path) -> None:
    """All in one file, each under a name of its own, with what a strict compiler says an error."""
    if shutil.which("cc") is None:
        return  # what it computes is tested above
    heads, body, calls, want = set(), "", "", []
    for k, (text, (f, at)) in enumerate(C_FILES.items()):
        hidden = [n for n in ("pi", "e") if n in at]
        answer, file = derived(text, "c", wrt=list(at) if hidden else [], at=at if hidden else {})
        lines = file.splitlines(keepends=True)
        heads |= {line for line in lines if line.startswith("#define")}
        body += re.sub(r"\bgradient_?(?=\()", f"f{k}", "".join(
            [line for line in lines if not line.startswith("#")]))
        names = [i["name"] for i in answer["inputs"]]
        assert len(names) == len(at)
        given = ", ".join([repr(v) for v in at.values()])
        n = len(answer["results"])
        calls += f"    {{ double out[{n}]; " + (
            f"out[0] = f{k}({given}); " if n == 1 else f"f{k}({given}, out); ") + (
            f'for (int k = 0; k < {n}; k++) printf("%.17g\\n", out[k]); }}\n')
        order = list(at)
        for result in answer["results"]:
            place = order.index(result["wrt"][0]["name"])
            want.append((text, float(mp.diff(f, tuple(at.values()), tuple(
                [int(j == place) for j in range(len(at))])))))
    _, nothing = derived("floor(x)", "c")
    assert "out[0]" not in nothing
    body += "".join([line for line in nothing.splitlines(keepends=True) if line[:1] != "#"])
    (tmp_path / "all.c").write_text(
        f"{''.join(heads)}#include <math.h>\n#include <stdio.h>\n{body}\n"
        f"int main(void)\n{{\n{calls}    return 0;\n}}\n", encoding="utf-8")
    subprocess.run(["cc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-o", "all", "all.c", "-lm"],
                   cwd=tmp_path, check=True)
    out = subprocess.run([tmp_path / "all"], capture_output=True, text=True, check=True).stdout
    assert len(out.splitlines()) == len(want)
    for line, (text, value) in zip(out.splitlines(), want, strict=True):
        assert float(line) == pytest.approx(value, rel=1e-12), text


def test_names_that_a_language_cannot_have_are_told() -> None:
    text = "α^2*β₁*β_1*lambda_*ϵ"
    _, file = derived(text, "python")
    assert "`β₁` is called beta_1 here" in file
    assert "`ϵ` is called epsilon here" in file  # Python reads it as ε
    grad = python_function(file)(1.5, 2.0, 3.0, 1.0, 0.5)
    assert grad == (2 * 1.5 * 3, 1.5**2 * 1.5, 1.5**2, 1.5**2 * 3, 1.5**2 * 6)
    _, file = derived("β₁^2*beta_1", "python")
    assert "def gradient(beta_1_, beta_1):" in file
    assert python_function(file)(3.0, 2.0) == (12.0, 9.0)
    _, file = derived(text, "sympy")
    ast.parse(file)
    assert "df_dbeta_1 = " in file
    _, file = derived("é*x₁*ΔT*λ", "c")
    assert "(double e, double x_1, double DeltaT, double lambda, double out[4])" in file
    _, file = derived("E*exp(1)*x", "sympy")
    assert "df_dx = E*E_\n" in file
    assert "called" not in derived(text)[1]


NAMES = ["_if", "_", "__", "_1", "if", "if_", "if1", "_x", "x", "x_", "x1", "_β₁", "beta_1", "β_1",
         "_é_", "é", "e", "猫_"]


@pytest.mark.parametrize("refused", [
    "_.*", ".*_", ".*_.*", ".*__.*", "(_.*)|(.*_)", ".*[^a-z].*", r".*\d", "[a-z]",
    r"(?!if\d).*"])
@pytest.mark.parametrize("reserved", [set(), {"x", "if1", "beta1", "v"}])
def test_whatever_a_language_refuses_there_is_another_name(
        refused: str, reserved: set[str]) -> None:
    def accepted(name: str) -> bool:
        letters = re.fullmatch("[a-z]+[0-9]+", name) is not None and int(
            re.sub("[a-z]", "", name)) > 9
        return name.isascii() and name != "if" and (
            letters or not re.fullmatch(refused, name))

    found = renamed(NAMES, accepted, reserved)
    called = [found.get(name, name) for name in NAMES]
    assert len({*called}) == len(NAMES)
    assert not reserved & {*called}
    assert all(map(accepted, called))
    assert [name for name in found if accepted(name)] == [
        name for name in NAMES if name in reserved and accepted(name)]


def test_what_the_target_reads_stays_in_the_signature() -> None:
    answer, file = derived("3*y + x^2 + w", wrt=["y", "x"])
    program = loads(file)
    at = {"x": 1.0, "y": 2.0, "w": 0.0}
    assert [program.value(of=name, at=at) for name in identifiers(answer)] == [3.0, 2.0]
    for language, signature in (("python", "gradient(y, x, w):"),
                                ("c", "(double y, double x, double w, double out[2])")):
        assert signature in derived("3*y + x^2 + w", language, wrt=["y", "x"])[1]
    assert "gradient(x, y)" in derived("x + floor(y) - floor(y)", "python", wrt=["x"])[1]
    _, file = derived("x - x + y", "python")
    assert python_function(file)(5.0, 1.0) == (0, 1)
    status, out, _ = in_process(["derive", "-e", "sum(x^2) + 3*y", "--at", "x=[1,2]", "--wrt", "y",
                                 "--format", "c"])
    assert (status, "gradient(double y)" in out) == (0, True)


NEWTON = ("a = 2.0\nz = 1.0\nwhile abs(z^2 - a) > 1e-12:\n    z = (z + a/z)/2\nroot = z")


def test_all_conditions_of_a_loop_are_told() -> None:
    for language in ("gradcli", "python", "c", "latex", "sympy"):
        answer, file = derived(NEWTON, language, wrt=["a"])
        found = answer["conditions"]
        assert len(found) == 6
        assert [c.rsplit(" ", 2)[1:] for c in found] == 5 * [[">", "1e-12"]] + [["<=", "1e-12"]]
        assert " and ".join(found) in file
    # Each holds where the names of the file have their values; elsewhere some do not.
    answer, file = derived(NEWTON, wrt=["a"])
    checked = file + "".join([f"c{k} = {c}\n" for k, c in enumerate(answer["conditions"])])
    for a, all_hold in ((2.0, True), (2.1, True), (1.0, False), (50.0, False)):
        held = [bool(loads(checked).value(of=f"c{k}", at={"a": a})) for k in range(6)]
        assert all(held) == all_hold


def test_conditions_that_are_not_shown_are_counted_behind_the_last_decision() -> None:
    answer, _ = derived(NEWTON, wrt=["a"], named=False)
    first, *others, rest = answer["conditions"]
    assert first.endswith(" <= 1e-12")
    assert all(c.endswith(" > 1e-12") for c in others)
    assert rest == f"{6 - 1 - len(others)} more, not shown"
    text = "input x = 1.01\ny = x\nwhile y < 2:\n    y = y*x\ny"
    answer, _ = derived(text)
    assert answer["conditions"][:2] == ["x^70 >= 2", "x < 2"]
    assert len(answer["conditions"]) == 13
    assert answer["conditions"][-1] == "58 more, not shown"  # of 70 decisions


def test_values_outside_of_a_condition_are_told() -> None:
    for chosen in ("python", "c", "gradcli", "latex", "sympy", "table", "markdown"):
        status, out, _ = in_process(["derive", "-e", "x^x", "--at", "x=-2", "--format", chosen])
        assert (status, "The given values do not meet x > 0" in out) == (0, True)
    status, _, err = in_process(["derive", "-e", "x^x", "--at", "x=-2", "--strict"])
    assert (status, err) == (1, "holds where x > 0\nThe given values do not meet x > 0\n")
    status, _, err = in_process(["derive", "-e", "x^x", "--at", "x=2", "--strict"])
    assert (status, err) == (0, "holds where x > 0\n")
    _, out, _ = in_process(["derive", "-e", "x^x", "--at", "x=-2", "--format", "json"])
    valid(json.loads(out), "derive")
    assert [n["code"] for n in json.loads(out)["notes"]] == ["outside"]


@pytest.mark.parametrize("text", [
    "x*ln(x) - x", "log(exp(x) + exp(y))*exp(x)", "x^2*exp(x)/(exp(x) + exp(-x))", "x/(x^2 + 1)",
    "x^pi", "x*log(x)/x^2", "sqrt(x)*x", "x^3*log(x^2 + y^2 + 1)"])
def test_conditions_that_say_nothing_are_left_out(text: str) -> None:
    assert derived(text)[0]["conditions"] == []
    assert derived(text, order=2)[0]["conditions"] == []


def test_conditions_on_one_side_of_a_choice_are_told() -> None:
    assert derived("where(x > 0, log(x), 0) + x^2/x")[0]["conditions"] == ["x != 0"]
    assert derived("(x + y)^2/(x + y)")[0]["conditions"] == ["x + y != 0"]
    assert derived("(x^2 + y^2)*x/(x^2 + y^2)")[0]["conditions"] == ["x^2 + y^2 != 0"]


def test_small_exponentials_stay_below_the_line() -> None:
    """0/exp(-740) is 0, and 0*exp(740) is not a number."""
    at = {"z": np.array([0.0, 740.0]), "y": np.array([0.0, 1.0])}
    text = "-sum(y*log(softmax(z)))"
    want = loads(text).gradient(at=at, wrt=["z"])["z"]
    assert want[0] > 0
    answer, file = derived(text, at=at, wrt=["z"])
    got = loads(file).value(of=identifiers(answer)[0])
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-300)
    assert got[0] == want[0]


def test_a_shift_by_the_largest_exponent_keeps_its_digits() -> None:
    """exp(2*x)*exp(u - m) with u and m of 1e15: the sum of the exponents would lose 2*x."""
    text = "logsumexp([k*exp(2*x), y])"
    at = {"k": 1e15, "x": 0.7, "y": 3.0}
    answer, file = derived(text)
    got = [loads(file).value(of=n, at=at) for n in identifiers(answer)]
    want = [math.exp(1.4), 2e15 * math.exp(1.4), 0.0]
    assert got == pytest.approx(want, rel=1e-13)


CONSTANTS = {
    "2^x*3^y": ["2^x*3^y*log(2)", "2^x*3^y*log(3)"],
    "10.5^x": ["10.5^x*log(10.5)"],
    "sqrt(2)*x^2*pi^2*sin(1)": ["2*sqrt(2)*pi^2*x*sin(1)"],
    "x^2*exp(2)/sqrt(5)": ["2*e^2*x/sqrt(5)"],
    "x^2*exp(-1)*cos(2) + 5*exp(3)*x": ["5*e^3 + 2*x*cos(2)/e"],
    "x^2/(1 + e^(-x))": ["(2*x + x^2*exp(-x)/(exp(-x) + 1))/(exp(-x) + 1)"],
    "e^(x*y)*pi": ["pi*y*exp(x*y)", "pi*x*exp(x*y)"],
    "relu(x)": ["where(x > 0, 1, 0)"],
    "1/exp(x)": ["-exp(-x)"],
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants_keep_their_form(text: str) -> None:
    assert formulas(text) == CONSTANTS[text]


def test_a_difference_with_a_name_keeps_its_sign_outside() -> None:
    for text in ("x*(u - v)^2*sin(u - v)", "-x*(cos(u) - v)*exp(cos(u) - v)"):
        answer, _ = derived(text, order=2)
        assert not any("(-t" in one["formula"] for one in (
            *answer["definitions"], *answer["results"]))


def test_python_calls_numpy_where_it_can() -> None:
    _, file = derived("lgamma(x)", "python")
    assert "vectorize" not in file
    assert file.startswith("from gradcli import ops\n\n\ndef")
    _, file = derived("logsumexp(x)", "python", at={"x": np.array([1.0, 2.0])})
    assert "ops" not in file
    got = python_function(file)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(got, [1 / (1 + math.e), math.e / (1 + math.e)], rtol=1e-14)


def test_latex_of_one_variable_has_a_straight_d() -> None:
    assert r"\frac{df}{dx} &= 3 x^2" in derived("x^3", "latex")[1]
    assert r"\frac{d^{2} f}{dx^{2}} &= 6 x" in derived("x^3", "latex", order=2)[1]
    assert r"{\partial x^{2} \, \partial y} &= 6 x" in derived("x^3*y", "latex", order=3)[1]
    assert r"\frac{\partial f}{\partial x} &= y" in derived("x*y", "latex", wrt=["x"])[1]


def test_latex_has_commands_for_letters_that_are_not_ascii() -> None:
    _, file = derived("y₁ = sin(β₁)^2*α", "latex", wrt=["β₁"])
    assert file.split("\n", 1)[1].isascii()
    assert r"\frac{\partial y_{1}}{\partial \beta_{1}} &= 2 \alpha" in file


def test_names_of_higher_derivatives_are_short() -> None:
    def named(text: str, order: int) -> list[tuple[str, str]]:
        answer, file = derived(text, order=order)
        loads(file)
        return list(zip(map(heading, answer["results"]), identifiers(answer), strict=True))

    assert named("x^3*y", 3)[:2] == [("d3f/dx3", "d3f_dx3"), ("d3f/dx2dy", "d3f_dx2dy")]
    assert named("x^3", 2) == [("d2f/dxdx", "d2f_dxdx")]  # as hess has it
    assert named("x1^3", 3) == [("d3f/dx1dx1dx1", "d3f_dx1dx1dx1")]
    found = [name for pair in named("x^4*y^4*dx*x2", 4) for name in pair]
    assert len(set(found)) == len(found)


def test_errors_stand_at_their_cause() -> None:
    text = "A = [[1, 2], [3, 4]]\ninput x = [1.0, 2.0]\ny = A @ x\nloss = sum(y^2)"
    for chosen in ("latex", "c", "sympy"):
        status, _, err = in_process(["derive", "-e", text, "--format", chosen])
        assert status == 3
        assert err.startswith("error[E0802]: arrays cannot be written as ")
        assert "3 | y = A @ x\n   |     ^^^^^" in err
        assert "--format gradcli or --format python writes them" in err
    for arguments in (["sinn(x)"], ["x^2", "--at", "z=3"]):
        assert "placeholder" not in in_process(["derive", "-e", *arguments])[2]
    assert "placeholder" in in_process(["derive", "-e", "x@[1, 2]"])[2]


def test_numbers_are_no_arrays_in_c() -> None:
    for chosen in ("c", "sympy"):
        with pytest.raises(GradcliError) as refused:
            derived("sum(x*y)", chosen, at={"x": np.ones(2), "y": np.ones(2)})
        assert refused.value.code == "E0802"


@pytest.mark.parametrize(("name", "start"), [
    ("f.py", "def gradient(x):"), ("f.c", "// Derivatives"), ("f.TEX", "% Derivatives"),
    ("f.json", "{"), ("f.csv", "of,element,"), ("f.md", "| |"), ("f.txt", "df/dx\t2*x"),
    ("py", "df/dx\t2*x")])
def test_the_name_of_a_file_tells_its_format(name: str, start: str, tmp_path: Path) -> None:
    assert in_process(["derive", "-e", "x^2", "-o", str(tmp_path / name)])[0] == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    arguments = ["derive", "-e", "x^2", "--format", "sympy", "-o", str(tmp_path / name)]
    assert in_process(arguments)[0] == 0
    assert "from sympy import *" in (tmp_path / name).read_text(encoding="utf-8")


def test_help_names_the_highest_order() -> None:
    assert "at most 12" in " ".join(in_process(["derive", "--help"])[1].split())


def test_a_source_behind_another_source_counts() -> None:
    """Values on the way that are asked for, too, are no inputs of the derivative by what they are
    computed from; of a list as well.
    """
    text = "var x = 1.5\nu = sin(x)\nv = u*u*x\nz = v*exp(u)\nw = [z, u*x]\n"
    names: dict[str, Any] = {"sin": math.sin, "cos": math.cos, "exp": math.exp, "x": 1.5}
    names["u"] = math.sin(1.5)
    names["v"] = names["u"]**2*1.5
    for of in ("z", "w"):
        options = ["-", "--of", of, "--wrt", "x,u,v", "--format", "json"]
        status, out, err = in_process(["derive", *options], text.encode())
        assert status == 0, err
        answer = json.loads(out)
        for made in answer["definitions"]:
            names[made["name"]] = eval(made["formula"].replace("^", "**"), names)
        found = [eval(r["formula"].replace("^", "**"), names) for r in answer["results"]]
        _, out, _ = in_process(["grad", *options], text.encode())
        want = [float(s["gradient"]) for s in json.loads(out)["results"][0]["sources"]]
        assert found == pytest.approx(want, rel=1e-12)
