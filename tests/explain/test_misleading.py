"""Causes that are planted: in each program one thing cuts the gradient, and that is what is named,
with its line; and no program that is whole, or cut elsewhere, is blamed for it.
"""

from __future__ import annotations

import itertools
import json
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import ROOT
from transcripts import brief, in_process

import gradcli
from gradcli import GradientTape, Variable, constant, ops
from gradcli.base.errors import Source
from gradcli.engine.record import provenance
from gradcli.engine.record import record as records
from gradcli.python.program import Program


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """What tests before did is of no use here: not in this thread, nor in any other."""
    record = records.current()
    before, record.trace = record.trace, provenance.PythonEvents()
    known = list(provenance.traces)
    provenance.traces.clear()
    yield
    provenance.traces.extend(known)
    record.trace = before


def run(text: str) -> dict[str, Any]:
    """The names of a Python program."""
    text = text.lstrip("\n")
    name = "<planted>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {
        "ops": ops, "gradcli": gradcli, "GradientTape": GradientTape, "Variable": Variable,
        "constant": constant, "np": np, "__name__": "planted"}
    exec(compile(text, name, "exec"), names)
    return names


def line_of(text: str, mark: str = "# here") -> int:
    """The marked line of a text, from 1."""
    return next(k for k, line in enumerate(text.lstrip("\n").splitlines(), 1) if mark in line)


def why(path: Path, text: str) -> list[dict[str, Any]]:
    """The answers of `why` to a file, per source."""
    path.write_text(text, encoding="utf-8")
    status, out, err = in_process(["why", str(path), "--format", "json"])
    assert status == 0, err
    return [one for result in json.loads(out)["results"] for one in result["sources"]]


# --- what only an operation inside another one stops -----------------------------------------

# Operations that are made of others, a stop_gradient among them, and what goes in.
MADE = ["softmax({})", "log_softmax({})", "logsumexp({})", "clip_by_norm({}, 2.0)",
        "l2_normalize({})", "softmax_cross_entropy([0.5, 0.5], {})", "std({})"]


@pytest.mark.parametrize("form", MADE)
def test_a_source_that_is_not_watched_is_all_there_is(form: str, tmp_path: Path) -> None:
    (told,) = why(tmp_path / "a.txt", f"""const image = [1.0, 2.0]
var W = [[1.0, 2.0], [0.5, -1.0]]
tape t:
    loss = sum({form.format("image @ W")})
g = t.gradient(loss, image)
""")
    assert [r["code"] for r in told["reasons"]] == ["source-constant-unwatched"]


@pytest.mark.parametrize("form", MADE)
def test_what_cuts_before_it_is_all_there_is(form: str, tmp_path: Path) -> None:
    (told,) = why(tmp_path / "a.txt", f"""var x = [1.0, 2.5]
loss = sum({form.format("floor(x)")})
""")
    assert [(r["code"], r["line"], r["fix_works"]) for r in told["reasons"]] == [
        ("path-step-function", 2, True)]


# --- numbers that leave and come back ---------------------------------------------------------

EXITS = ["float(theta)", "theta.numpy()", "theta.read().numpy()", "2.0*float(theta)"]
# How the number is handed on; what is computed with it stands in the last line.
ROUTES = {
    "argument": ("def f(v):\n    return constant(v) * 2.0", "y = f({exit})"),
    "keyword": ("def f(a, *, v):\n    return a * v", "y = f(k, v={exit})"),
    "twice": ("def g(u):\n    return constant(u) + 1.0\ndef f(a, b):\n    c = b * 2\n"
              "    return a * g(c)", "y = f(k, {exit})"),
    "star": ("def f(*parts):\n    return k * parts[0]", "y = f({exit})"),
    "lambda": ("f = lambda v: constant(v) * 2.0", "y = f({exit})"),
    "object": ("class M:\n    def __call__(self, v):\n        return k * v\nm = M()",
               "y = m({exit})"),
    "method": ("class M:\n    def run(self, v):\n        return k * v\nm = M()",
               "y = m.run({exit})"),
    "attribute": ("class M:\n    def __init__(self, v):\n        self.v = v\n"
                  "    def __call__(self, x):\n        return x * self.v", "y = M({exit})(k)"),
    "comprehension": ("", "y = sum([k * v for v in [{exit}]])"),
    "list": ("kept = []", "kept.append({exit}); y = k * kept[0]"),
}
# Here it goes somewhere else; the name of what it is bound to there is used on the way as well.
ELSEWHERE = {
    "same name": ("def show(k):\n    return k * 2", "show({exit}); y = k * 3.0"),
    "not used": ("def f(v):\n    return v", "f({exit}); y = k * 2.0"),
    "another object": ("class M:\n    def __call__(self, k):\n        return k * 2.0\nm = M()",
                       "z = constant({exit}); y = m(k)"),
}


def routed(setup: str, use: str, exit: str) -> str:
    return (f"{setup}\ntheta = Variable(1.5)\nk = Variable(3.0)\nwith GradientTape() as tape:\n"
            f"    {use.format(exit=exit)}  # here\nfound = tape.why(y, theta)\n").lstrip("\n")


@pytest.mark.parametrize("exit", EXITS)
@pytest.mark.parametrize("route", ROUTES)
def test_a_number_is_followed(route: str, exit: str) -> None:
    text = routed(*ROUTES[route], exit)
    found = run(text)["found"]
    assert (found[0].code, found[0].line) == ("path-left-engine", line_of(text))


@pytest.mark.parametrize("exit", EXITS)
@pytest.mark.parametrize("route", ELSEWHERE)
def test_a_number_that_goes_elsewhere_is_not_blamed(route: str, exit: str) -> None:
    found = run(routed(*ELSEWHERE[route], exit))["found"]
    assert [r.code for r in found] == ["source-unrelated"]


def test_a_part_is_explained_by_the_whole() -> None:
    text = """
pic = constant([1.0, 3.0])
w = Variable([1.0, 2.0])
def predict(x):
    return constant(x) * w
with GradientTape() as tape:
    tape.watch(pic)
    p = predict(pic.numpy())  # here
    loss = ops.sum(p)
found = tape.why(loss, pic[0])
other = tape.why(w[0], pic[0])
"""
    names = run(text)
    assert [(r.code, r.fix) for r in names["found"]][:1] == [
        ("source-is-copy", "ask for pic itself")]
    assert [(r.code, r.line) for r in names["found"]][1:] == [("path-left-engine", line_of(text))]
    (other,) = names["other"]
    assert other.code == "source-unrelated"
    assert "pic[0] is taken from pic" in other.message


# --- what decides a loop ----------------------------------------------------------------------

TURNS, END, BRANCH = "how often the loop runs", "when the loop ends", "which branch runs"
DECIDING = {
    "while": ("while n > 0.5:  # here\n    y = y*x\n    n.assign_sub(1.0)", TURNS),
    "while and": ("k = 0\nwhile k < n and k < 9:  # here\n    y = y*x\n    k = k + 1", TURNS),
    "or": ("k = 0\nwhile k < 2 or k < n:  # here\n    y = y*x\n    k = k + 1", TURNS),
    "range": ("for k in range(int(n)):  # here\n    y = y*x", TURNS),
    "break": ("for k in range(9):\n    y = y*x\n    if k > n:  # here\n        break", END),
    "break in else": ("for k in range(9):\n    if k < n:  # here\n        y = y*x\n    else:\n"
                      "        break", END),
    "return": ("def f(y, n):\n    for k in range(9):\n        y = y*x\n        if k > n:  # here\n"
               "            return y\n    return y\ny = f(y, n)", END),
    "if": ("if n > 2:  # here\n    y = y*x\nelse:\n    y = y + x", BRANCH),
    "if in a loop": ("for k in range(4):\n    if n > 2:  # here\n        y = y*x\n    else:\n"
                     "        y = y + x", BRANCH),
    "a loop in else": ("for k in range(2):\n    if n > 2:  # here\n        y = y*x\n    else:\n"
                       "        for j in range(3):\n            y = y + x", BRANCH),
}


@pytest.mark.parametrize("case", DECIDING)
def test_what_decides_is_named_in_a_file(case: str, tmp_path: Path) -> None:
    code, what = DECIDING[case]
    text = f"var x = 2.0\nvar n = 3.0\ny = x\n{code}\ny\n"
    (told,) = [one for one in why(tmp_path / "a.txt", text) if one["wrt"] == "n"]
    reason = told["reasons"][0]
    assert (reason["code"], reason["line"]) == ("source-condition-only", line_of(text))
    assert f"n only decides {what};" in reason["message"]


@pytest.mark.parametrize("plain", [False, True], ids=["tensor", "number"])
@pytest.mark.parametrize("case", DECIDING)
def test_what_decides_is_named_in_python(case: str, plain: bool) -> None:
    code, what = DECIDING[case]
    if plain and "assign_sub" in code:
        code = code.replace("n > 0.5", "float(n) > 0.5")
    elif plain:
        code = f"m = float(n)\n{code.replace('int(n)', 'int(m)').replace('< n', '< m')}"
        code = code.replace("> n", "> m").replace("n > 2", "m > 2")
    inner = "\n".join(f"    {line}" for line in code.splitlines())
    text = f"""n = Variable(3.0)
x = Variable(2.0)
with GradientTape() as tape:
    y = x * 1.0
{inner}
found = tape.why(y, n)
"""
    reason = run(text)["found"][0]
    assert (reason.code, reason.line) == ("source-condition-only", line_of(text))
    assert f"n only decides {what};" in reason.message


def test_a_loop_that_makes_something_else_decides_nothing() -> None:
    (reason,) = run("""
n = Variable(3.0)
x = Variable(2.0)
with GradientTape() as tape:
    y = x * 1.0
    z = x * 2.0
    for _ in range(int(n)):
        z = z * x
found = tape.why(y, n)
""")["found"]
    assert reason.code == "source-unrelated"


# --- names bound again ------------------------------------------------------------------------

AGAIN = {
    "a number": "y = x*x\ny = 7.0  # here\nz = w*y",
    "an alias": "y = x*x\ny = w  # here\nz = 2*y",
    "computed": "y = x*x\ny = w*w  # here\nz = 2*y",
    "after a loop": "y = 0.0*w\nfor k in range(3):\n    y = y + x*k\ny = w*1.0  # here\nz = y*2",
    "in a loop": "for v in [x, w]:\n    y = 0.0*w  # here\n    y = y + v*v\nz = y*2",
}


@pytest.mark.parametrize("case", AGAIN)
def test_a_name_bound_again(case: str, tmp_path: Path) -> None:
    text = f"var x = 2.0\nvar w = 3.0\n{AGAIN[case]}\n"
    told = why(tmp_path / "a.txt", text)[0]
    assert [(r["code"], r["line"]) for r in told["reasons"]] == [("path-rebound", line_of(text))]
    inner = "\n".join(f"    {line}" for line in AGAIN[case].splitlines())
    text = (f"x = Variable(2.0)\nw = Variable(3.0)\nwith GradientTape() as tape:\n{inner}\n"
            "found = tape.why(z, x)\n")
    found = run(text)["found"]
    assert [(r.code, r.line) for r in found] == [("path-rebound", line_of(text))]


def test_the_names_of_another_call_are_not_bound_again(tmp_path: Path) -> None:
    body = "def f(a):\n    h = a*2\n    h = h*h\n    return h\n"
    told = why(tmp_path / "a.txt", f"var x = 1.0\nvar w = 2.0\n{body}u = f(x)\nz = f(w)\n")[0]
    assert [r["code"] for r in told["reasons"]] == ["source-unrelated"]
    found = run(f"x = Variable(1.0)\nw = Variable(2.0)\n{body}with GradientTape() as tape:\n"
                "    u = f(x)\n    z = f(w)\nfound = tape.why(z, x)\n")["found"]
    assert [r.code for r in found] == ["source-unrelated"]


# --- custom gradients, integers, derivatives --------------------------------------------------


@pytest.mark.parametrize("made", ["const k = 2.0", "const c = 2.0\ntape t:\n    t.watch(c)\n    "
                                  "k = 3*c"])
def test_what_a_closure_takes_up(made: str, tmp_path: Path) -> None:
    inside = "tape" in made
    source = "c" if inside else "k"
    lead = "    " if inside else ""
    head = "" if inside else "tape t:\n    t.watch(k)\n"
    text = (f"var x = 3.0\n{made}\n{lead}@custom_gradient\n{lead}def f(a):\n"
            f"{lead}    def grad(upstream):\n{lead}        return upstream*2\n"
            f"{lead}    return a*k\n{head}    y = f(x)  # here\ng = t.gradient(y, {source})\n")
    (told,) = why(tmp_path / "a.txt", text)
    (reason,) = told["reasons"]
    assert (reason["code"], reason["line"]) == ("path-custom-internal", line_of(text))
    assert reason["fix"] == "make k an argument of f"


@pytest.mark.parametrize(("op", "advice"), [
    ("argsort", "sort(x)"), ("argmax", "softmax(x)"), ("argmin", "softmax(-x)")])
def test_an_integer_by_nature_cannot_be_kept_a_float(op: str, advice: str, tmp_path: Path) -> None:
    for text in (f"var x = [3.0, 1.0]\nz = {op}(x)\n",
                 f"var x = [3.0, 1.0]\nk = {op}(x)\nz = sum(k*2)\n"):
        (told,) = why(tmp_path / "a.txt", text)
        assert told["reasons"][0]["line"] == 2
        assert all(advice in r["fix"] for r in told["reasons"])


PARTS = ["x1*3.0", "x1*x2", "x1 + x2", "x1*ops.floor(x2)", "x1*x1*x2", "x2*3.0"]


@pytest.mark.parametrize("parts", [*itertools.combinations(PARTS, 2)], ids=" and ".join)
def test_why_says_None_where_the_gradient_is_None(parts: tuple[str, str]) -> None:
    names = run(f"""
x1, x2, x3 = Variable(2.0), Variable(3.5), Variable(1.0)
with GradientTape(persistent=True) as outer:
    with GradientTape(persistent=True) as inner:
        y = {parts[0]}
        z = {parts[1]}
    dy, dz = inner.gradient(y, x1), inner.gradient(z, x1)
asked = [d for d in (dy, dz) if d is not None]
told = [(outer.gradient(d, x), outer.why(d, x)) for x in (x1, x2, x3)
        for d in ([*asked, asked] if asked else ())]
""")
    assert names["told"]
    for g, found in names["told"]:
        if g is None:
            assert found
            assert found[0].missing
        else:
            assert not found or (not found[0].missing and float(g) == 0)


# --- fixes ------------------------------------------------------------------------------------

STEPS = ["ops.round({})", "ops.floor({})", "ops.ceil({})", "(({})//0.5)", "ops.trunc({})"]


@pytest.mark.parametrize("use", ["{}", "{}**2", "3.0 - {}", "ops.sin({})", "-{}"])
@pytest.mark.parametrize("inner", ["x", "x*2.0", "x + 1.0", "-x", "ops.exp(x)"])
@pytest.mark.parametrize("step", STEPS)
def test_a_step_in_python_may_be_passed_by(step: str, inner: str, use: str) -> None:
    """With the fix, the value is the same and the slope that of what it steps along."""
    call = step.format(inner)
    head = "x = Variable(1.3)\nwith GradientTape() as tape:\n    y = "
    tail = "\nfound = tape.why(y, x)\ng = tape.gradient(y, x)\n"
    names = run(f"{head}{use.format(call)}{tail}")
    (reason,) = names["found"]
    at = slice(reason.column - 1, reason.end_column - 1)
    line = f"    y = {use.format(call)}"
    mended = run(f"{head[:-8]}{line[:at.start]}{reason.fix}{line[at.stop:]}{tail}")
    assert float(mended["y"]) == pytest.approx(float(names["y"]), rel=1e-12)
    # By hand: the slope of the use at the step's value, times that of what it steps along.
    scale = 2.0 if "//" in step else 1.0
    slopes = {"x": 1.0, "x*2.0": 2.0, "x + 1.0": 1.0, "-x": -1.0, "ops.exp(x)": np.exp(1.3)}
    value = float(run(f"x = Variable(1.3)\nv = {call}\n")["v"])
    outer = {"{}": 1.0, "{}**2": 2*value, "3.0 - {}": -1.0, "ops.sin({})": np.cos(value),
             "-{}": -1.0}[use]
    assert float(mended["g"]) == pytest.approx(outer*scale*slopes[inner], rel=1e-12)


CUT = {
    "round": "y = round(k*w)", "stop": "y = stop_gradient(k*w)", "cast": "y = float(int(k*w))"}


@pytest.mark.parametrize("case", CUT)
def test_arithmetic_with_a_None_offers_the_fix_of_why(case: str, tmp_path: Path) -> None:
    head = f"var w = 1.0\nvar k = 3.0\ntape t:\n    {CUT[case]}\n"
    (told,) = why(tmp_path / "a.txt", f"{head}g = t.gradient(y, w)\n")
    path = tmp_path / "b.txt"
    path.write_text(f"{head}w.assign_sub(0.1*t.gradient(y, w))\n")
    status, _, err = in_process(["run", str(path)])
    assert status == 3
    assert f"= help: fix: {told['reasons'][0]['fix']}\n" in err
    assert "(line 4)" in err


@pytest.mark.parametrize("deep", [1, 2, 3])
def test_the_call_is_named_not_a_line_of_the_function(deep: int) -> None:
    functions = "def f1(w):\n    return (w*2.0 - 1.0)*w\n" + "".join(
        f"def f{k}(w):\n    return f{k - 1}(w)*1.0\n" for k in range(2, deep + 1))
    text = (f"{functions}w = Variable(1.0)\nloss = f{deep}(w)  # here\nwith GradientTape() as t:\n"
            "    k = w*1.0\nfound = t.why(loss, w)\n")
    (reason,) = run(text)["found"]
    assert (reason.code, reason.line) == ("path-outside-tape", line_of(text))
    assert reason.fix == "move the line into the block of t"
    twice = text.replace("with Gr", f"other = f{deep}(w)\nwith Gr")
    assert "call f" in run(twice)["found"][0].fix


# --- what is not used is one line -------------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "table", "markdown", "latex"])
def test_sources_that_are_not_used_are_one_line(form: str, tmp_path: Path) -> None:
    names = "abcdef"
    path = tmp_path / "a.txt"
    path.write_text("".join(f"var {n} = 1.0\n" for n in names) + "var x = 2.0\ny = x^2\n")
    for command in ("grad", "why", "jac"):
        status, out, err = in_process([command, str(path), "--format", form])
        assert status == 0, err
        said = " ".join((out + err).split())
        assert said.count("does not depend on") == 1
        assert said.count("ask for what y depends on: x") == 1
        assert "y does not depend on a, b, c, d and 2 more" in said
    status, out, _ = in_process(["grad", str(path), "--format", "json"])
    sources = json.loads(out)["results"][0]["sources"]
    assert [len(s.get("reasons") or ()) for s in sources] == [1]*6 + [0]


def test_sources_that_a_file_asks_for_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("var a = 1.0\nvar b = 1.0\nvar x = 2.0\ntape t:\n    y = x^2\n"
                    "print(t.gradient(y, [a, b, x]))\n")
    status, out, err = in_process(["run", str(path)])
    assert status == 0, err
    assert (out + err).count("y does not depend on a, b") == 1


# --- one choice of the target -----------------------------------------------------------------

ASKING = [path for folder in ("seeds", "training", "none")
          for path in sorted((ROOT / "samples" / folder).glob("*.txt"))
          if ".gradient(" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_the_target_is_what_the_tape_was_asked_about(path: Path, tmp_path: Path) -> None:
    (tmp_path / path.name).write_text(brief(path), encoding="utf-8")
    path = tmp_path / path.name
    status, out, _ = in_process(["why", str(path), "--format", "json"])
    results = json.loads(out)["results"] if status == 0 else []
    asked = {result["of"] for result in results if result.get("kind")}
    status, out, err = in_process(["grad", str(path), "--format", "json"])
    assert "E0310" not in err
    if status == 0 and asked:
        program = Program(Source(path.read_text(encoding="utf-8")))
        tape = program.run().tape()
        if tape is not None and tape.asked:
            assert json.loads(out)["results"][0]["of"] in asked | {program.unnamed}


@pytest.mark.parametrize(("text", "of"), [
    ("var x = 3.0\ntape t:\n    y = x^2\ng = t.gradient(y, x)\n", "y"),
    ("var x = 3.0\ntape t:\n    y = x^2\nt.gradient(y, x)\n", "y"),
    ("var x = 3.0\ntape t:\n    y = x^2\n    z = y*2\ng = t.gradient(y, x)\nz\n", "f"),
    ("var x = 3.0\ntape t:\n    y = x^2\nz = 5*x\n", "z"),
    ("var x = 3.0\ntape t, persistent=true:\n    y = x^2\n    z = y*2\na = t.gradient(z, x)\n"
     "b = t.gradient(y, x)\n", "z"),
    ("var x = 3.0\nfor k in range(3):\n    tape t:\n        loss = x^2\n"
     "    x.assign_sub(0.1*t.gradient(loss, x))\n", "loss"),
    ("var x = 3.0\nvar w = 1.0\ntape t:\n    y = x^2\n    z = w*x\n"
     "g = t.gradient([y, z], [x, w])\n", "y,z"),
])
def test_the_target_of_a_file(text: str, of: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    for command in ("grad", "jac", "steps", "verify", "derive"):
        status, out, err = in_process([command, str(path), "--format", "json"])
        assert status == 0 or (command == "jac" and status == 3), (command, err)
        if status == 0:
            assert json.loads(out)["results"][0]["of"] == of, command
    program = Program(Source(text))
    assert program.gradient() == program.gradient(of=of) == program.prepare()()[1]
    if "," not in of:
        assert program.hessian() == program.hessian(of=of) == program.prepare(what="hessian")()[1]


def test_verify_of_a_constant_that_the_tape_watches(tmp_path: Path) -> None:
    """Its other runs do not change what is on the tape of the one that is asked."""
    path = tmp_path / "a.txt"
    path.write_text("x = 3.0\ntape t:\n    t.watch(x)\n    y = x^2\ng = t.gradient(y, x)\n")
    status, out, _ = in_process(["verify", str(path), "--wrt", "x", "--format", "json"])
    (block,) = json.loads(out)["results"][0]["blocks"]
    assert (status, block["elements"][0]["reverse"], block["verdict"]) == (0, 2.0, "agree")


@pytest.mark.parametrize(("program", "said"), [
    ("s = 0\nfor i in range({n}):\n    s = s + x*i\ny = s*1.0", "how often the loop runs"),
    ("s = x\nfor i in range(1, {n}):\n    s = s*x\ny = s", "how often the loop runs"),
    ("y = sum(v[:int({n})])*x", "an index or a shape in `v[:int({n})]`"),
    ("y = v[int({n})]*x", "an index or a shape in `v[int({n})]`"),
    ("k = int({n})\ny = v[k]*v[k - 1]*x", "an index or a shape in `v[k]`"),
    ("y = sum(one_hot(int({n}), 4)*v)*x", "an index or a shape in `one_hot(int({n}), 4)`"),
    ("y = gather(v, int({n}) - 1)*x", "an index or a shape in `gather(v, int({n}) - 1)`"),
    # A number that is used as such as well is no mere index.
    ("k = int({n})\ny = v[k]*float(k)*x", ""),
    ("y = sum(roll(v, int({n}))*v)*x", "an index or a shape in `roll(v, int({n}))`"),
    ("y = sum(reshape(v, [int({n}), 2])[0])*x", "an index or a shape in"),
    # What goes over a list is no count.
    ("y = 0\nfor p in [n, x]:\n    y = 3*p", ""), ("k = sum(v[:int(n)])\ny = x", "")])
@pytest.mark.parametrize("n", ["n", "n + 0"])
def test_what_is_only_a_number_of_turns_or_elements_decides_it(
        program: str, said: str, n: str) -> None:
    text = f"input n = 2\ninput x = 3.0\ninput v = [1.0, 2.0, 3.0, 4.0]\n{program.format(n=n)}\n"
    status, out, _ = in_process(["grad", "-", "--of", "y", "--wrt", "n,x", "--format", "json"],
                                stdin=text.encode())
    assert status == 0
    n_, x = json.loads(out)["results"][0]["sources"]
    (reason,) = n_["reasons"]
    assert x["gradient"] is not None
    assert bool(re.match("n (only )?decides", reason["message"])) == bool(said)
    assert said.format(n=n) in reason["message"]
    assert "float" not in (reason["fix"] or "") or not said


@pytest.mark.parametrize(("condition", "arms", "said"), [
    ("x > 2", "z = x*y; z = x", "in the branch that was not taken: the condition is false"),
    ("x > y", "z = x*y; z = x",
     "in the condition and in the branch that was not taken: the condition is false"),
    ("x > 2", "z = x*y; z = y^2; z = x", "in branches that were not taken"),
    ("x > y", "z = x*y; z = y^2; z = x", "in the condition and in branches that were not taken")])
def test_a_branch_is_not_said_to_be_all_that_uses_a_source(
        condition: str, arms: str, said: str) -> None:
    first, *others, last = arms.split("; ")
    text = "".join([f"var x = 2.0\nvar y = 3.0\nif {condition}:\n    {first}\n",
                    *[f"elif x > 5:\n    {arm}\n" for arm in others], f"else:\n    {last}\nz\n"])
    status, out, _ = in_process(["grad", "-", "--wrt", "y", "--format", "json"],
                                stdin=text.encode())
    (reason,) = json.loads(out)["results"][0]["sources"][0]["reasons"]
    assert (status, reason["message"]) == (0, f"y is used only {said}")
    lines = [place["line"] for place in reason["related"]]
    assert lines == [4, 6][:len(others) + 1]


@pytest.mark.parametrize(("question", "advice"), [
    ("t.gradient(y, x)", 't.gradient(y, x, unconnected_gradients="zero")'),
    ("t.jacobian(y, x)", 't.jacobian(y, x, unconnected_gradients="zero")')])
@pytest.mark.parametrize("step", ["floor(x*3)/3", "round(x*10)/10", "ceil(7*x)/7"])
def test_advice_on_a_step_in_a_file_is_what_a_file_has(
        question: str, advice: str, step: str) -> None:
    def told(asked: str) -> tuple[int, str, str]:
        text = f"var x = 1.5\ntape t:\n    y = float(int({step}))\nprint({asked})\n"
        return in_process(["run", "-"], stdin=text.encode())

    status, _, err = told(question)
    assert "--unconnected" not in err
    assert 'ask for 0: unconnected_gradients="zero"' in err
    assert told(advice)[:2] == (status, "0\n")


@pytest.mark.parametrize("made", [
    "arange(n)", "ones(n)", "zeros(2, n) + 1", "eye(n)", "tri(n)", "linspace(0, 1, n)",
    "fill([n], 3)", "normal(n, seed=1)", "uniform([n, 2], seed=1)", "logspace(0, 1, n)"])
@pytest.mark.parametrize("use", ["y = sum({}*2)", "k = {}\ny = sum(k)^2",
                                 "f(v) = sum(v)\ny = f({})", "var x = 2.0\ny = sum({}*x)"])
def test_a_size_that_the_source_decides_is_named(made: str, use: str) -> None:
    text = "var n = 3.0\n" + use.format(made)
    status, out, _ = in_process(["grad", "-", "--of", "y", "--wrt", "n", "--format", "json"],
                                text.encode())
    assert status == 0
    (reason,) = json.loads(out)["results"][0]["sources"][0]["reasons"]
    assert reason["code"] == "source-condition-only"
    assert made.partition("(")[0] in text.splitlines()[reason["line"] - 1]
    assert f"n decides an index or a shape in `{made.partition(' +')[0]}`" in reason["message"]


def test_a_bound_that_the_source_decides_is_no_size() -> None:
    for text, code in (("sum(arange(x, 5))", "path-nondifferentiable"),
                       ("sum(np.exp(x))", "path-left-engine")):
        _, out, _ = in_process(["grad", "-e", text, "--at", "x=2", "--format", "json"])
        (reason,) = json.loads(out)["results"][0]["sources"][0]["reasons"]
        assert reason["code"] == code
