"""gradcli derive: formulas against reference derivatives, in every language that can be run here.

The corpora have their derivatives from computations with 50 and 110 digits; second derivatives
that they lack come from mpmath. Lengths are compared with those that SymPy 1.14 printed
(`benchmarks/formula_lengths.py` measures them all).
"""

from __future__ import annotations

import ast
import importlib.util
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

import jsonschema
import numpy as np
import pytest
from asked import SCHEMAS
from conftest import ROOT
from test_corpora import COUNTS, agrees, cases
from transcripts import blocks, in_process, steps

from gradcli.answers.ask import Ask
from gradcli.errors import GradcliError
from gradcli.formulas.derive import Derivation
from gradcli.program import load, loads
from gradcli.render import formula

Row = dict[str, Any]
DATA = Path(__file__).parent / "data" / "derive"


def derived(text: str, language: str = "gradcli", *, order: int = 1, what: str = "gradient",
            named: bool = True, **asked: Any) -> tuple[Any, str]:
    """The answer and the file of a language."""
    answer = Derivation(Ask(loads(text), **asked), what, order).answer(language, False, named)
    return answer, formula.render(answer, language)


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
    ask = Ask(loads(rows[0]["expr"]), wrt=rows[0]["wrt"])
    found = Derivation(ask, "gradient", order)
    ours, theirs = [found.answer(language, False, True) for language in ("gradcli", "python")]
    program, function = loads(formula.gradcli(ours)), python_function(formula.python(theirs))
    names = formula.identifiers(ours)
    out = []
    for row in rows:
        run = program.run({one["name"]: row["vars"][one["name"]] for one in ours["inputs"]})
        first = [program.targets(run, [name])[0].tensor.value for name in names]
        second = tupled(function(**{
            one["name"]: np.float64(row["vars"].get(one["name"], row["vars"].get(
                one["name"].rstrip("_")))) for one in theirs["inputs"]}))
        for result, *got in zip(ours["results"], first, second, strict=True):
            by = [w["name"] for w in result["wrt"]]
            want = row["grad"][by[0]]
            if order == 2:
                place = [row["wrt"].index(n) for n in by]
                want = row["hess"][place[0]][place[1]]
            if not all(agrees(g, want, row["f64"][1]) for g in got):
                out.append(f"{row['id']}: {formula.heading(result)} {got}, not {want}")
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
    import mpmath as mp

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
# Their programs train for seconds, or give a gradient that is no number.
SLOW = {"digits.txt"}


@pytest.mark.parametrize("path", [p for p in SAMPLES if p.name not in SLOW],
                         ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_formulas_of_the_samples_evaluate_to_the_gradient(path: Path) -> None:
    """As `grad` answers at the values in the file; what cannot be a formula says so."""
    try:
        want = load(str(path)).gradient()
    except GradcliError:
        return  # a sample for a run, or with inputs that the command line gives
    ask = Ask(load(str(path)))
    found = Derivation(ask, "gradient", 1)
    for language in ("gradcli", "python"):
        answer = found.answer(language, False, True)
        text = formula.render(answer, language)
        if language == "gradcli":
            program = loads(text)
            run = program.run({}) if any(r["formula"] for r in answer["results"]) else None
            got = [None if r["formula"] is None or run is None else
                   program.targets(run, [name])[0].tensor for name, r in zip(
                       formula.identifiers(answer), answer["results"], strict=True)]
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
                assert g is None or g == 0
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
    for name, result in zip(formula.identifiers(answer), answer["results"], strict=True):
        got = program.value(of=name)
        truth = want[result["wrt"][0]["name"]]
        assert np.shape(got) == np.shape(truth)
        np.testing.assert_allclose(got, truth, rtol=1e-12, atol=1e-15)
    answer, file = derived(text, "python", at=at, wrt=used)
    for result, got in zip(answer["results"], tupled(python_function(file)()), strict=True):
        np.testing.assert_allclose(got, want[result["wrt"][0]["name"]], rtol=1e-12, atol=1e-15)


def test_second_derivatives_by_arrays_are_told_element_by_element() -> None:
    at = {"x": np.array([0.2, 0.7])}
    answer, file = derived("sum(exp(x))*x[0]^2", order=2, at=at)
    want = loads("sum(exp(x))*x[0]^2").hessian(at=at)["x"]["x"]
    program = loads(file)
    names = formula.identifiers(answer)
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
    "relu(x)*y": ["y*sign(relu(x))", "relu(x)"],
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
    for name, result in zip(formula.identifiers(answer), answer["results"], strict=True):
        assert loads(file).value(of=name, at=at) == pytest.approx(
            want[result["wrt"][0]["name"]], rel=1e-13)


def test_names_that_hide_constants_and_words_of_other_languages() -> None:
    text = "e*sin(2*pi*lambda_) + pi*exp(1)"
    at = {"e": 1.5, "pi": 2.0, "lambda_": 0.3}
    want = loads(text).gradient(at=at, wrt=list(at))
    answer, file = derived(text, wrt=list(at), at=at)
    for name, result in zip(formula.identifiers(answer), answer["results"], strict=True):
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
    known = {name: getattr(math, name) for name in dir(math)} | at | {
        "M_PI": math.pi, "M_E": math.e}
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
    subprocess.run(["cc", "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Werror", "-o", "f", "f.c", "-lm"],
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
FORMATS = ("table", "plain", "json", "markdown", "gradcli", "python", "c", "latex", "sympy")


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case[0])
def test_every_format(case: tuple[str, ...], golden: Callable[[Path, str], None]) -> None:
    name, *arguments = case
    shown = ""
    for chosen in FORMATS:
        status, out, err = in_process(["derive", *arguments, "--format", chosen])
        assert status == 0, err
        shown += f"== {chosen}\n{out}{err}"
        if chosen == "json":
            jsonschema.validate(json.loads(out), SCHEMAS["derive"])
    golden(DATA / f"{name}.txt", shown)


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
    golden(DATA / f"sample-{name.replace('/', '-')}.txt", shown)


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


def test_what_sympy_finds_is_checked_and_shorter() -> None:
    """Where SymPy is installed; where it is not, E0805 says so."""
    status, out, err = in_process([
        "derive", "-e", "log(exp(x) + 1) + sin(x)^2", "--simplify", "--format", "gradcli"])
    if importlib.util.find_spec("sympy") is None:
        assert (status, out) == (3, "")
        assert err.startswith("error[E0805]: --simplify needs SymPy")
        return
    assert (status, err) == (0, "")
    for x in (-1.3, 0.2, 2.5):
        want = math.exp(x) / (math.exp(x) + 1) + math.sin(2 * x)
        assert loads(out).value(of="df_dx", at={"x": x}) == pytest.approx(want, rel=1e-12)
    plain = in_process(["derive", "-e", "log(exp(x) + 1) + sin(x)^2", "--format", "gradcli"])[1]
    assert len(out) <= len(plain)
    status, out, _ = in_process(["derive", "-e", "(x^2 - 1)/(x - 1)", "--simplify"])
    assert (status, out) == (0, "df/dx\t1\n")


def test_a_simplification_with_other_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcli.formulas import simplify

    monkeypatch.setitem(sys.modules, "sympy", ModuleType("sympy"))

    def other(a: Any, term: Any, sympy: Any) -> Any:
        return a.times(term, a.constant(1.0001))

    monkeypatch.setattr(simplify, "_simplified", other)
    found = Derivation(Ask(loads("x^2*sin(x)")), "gradient", 1)
    answer = found.answer("gradcli", True, True)
    assert answer["results"][0]["formula"] == "x^2*cos(x) + 2*x*sin(x)"
    assert [n["code"] for n in answer["notes"]] == ["not-simplified"]


def test_a_variable_has_the_value_of_the_state_that_is_read() -> None:
    text = "input x\nvar v = 1.0\nv.assign(x)\ny = v*x"
    assert [i["value"] for i in derived(text)[0]["inputs"]] == [None, None]
    assert [i["value"] for i in derived(text, at={"x": 2.0})[0]["inputs"]] == [2.0, 2.0]
