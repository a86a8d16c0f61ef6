"""Loops run as stretches against the same loops run one operation at a time.

What a stretch computes, its gradients, what it expands into and what it says where nothing leads
have to be the same to the last bit; the interpreter's ordinary way is the reference, tested on its
own against mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asked import loaded
from draws import drawn, many
from programs import Draw, Form, Grammar

import gradcli
from gradcli.engine import calculus
from gradcli.engine.record.record import OP
from gradcli.lang.running import loops
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import ELEMENTWISE

UNARY = [name for name, op in PUBLIC.items() if name == op.name and op.kind == ELEMENTWISE
         and len(op.parameters) == 1 and op.smooth and not op.attributes and op.floats is not None]
SIMPLE = ("sin", "cos", "tanh", "exp", "sigmoid", "atan", "softplus", "erf", "square", "asinh")


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, dict[str, float]], Any]:
    """A program run without stretches."""
    def run(text: str, at: dict[str, float]) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(loops, "PATIENCE", 10**9)
            return answers(text, at)
    return run


def answers(text: str, at: dict[str, float]) -> Any:
    program = gradcli.loads(text)
    run = program.run(at)
    with run.record:
        targets = program.targets(run)
        return (
            {name: [b.value.value for b in (bindings[0], bindings[-1])]
             for name, bindings in run.bindings.items()},
            program.gradient(at=at), program.hessian(at=at), len(targets),
            run.record.everything and [
                (entry[OP].name, entry[3], entry[4]) for entry in run.record.history()])


def stretches(text: str, at: dict[str, float]) -> int:
    run = gradcli.loads(text).run(at)
    return sum(entry[OP].kind == "stretch" for entry in run.record.compact())


# Loops of a few lines that calculate with x, a, b and y, and bind some of them again.
LOOPS = Grammar({
    "program": ["var x = 0.{d}{d}7\nvar w = 1.5\na = x*w\nb = 0.7\ny = sin(x)\n"
                "for i in range({turns}):\n    {lines}\ny*a + b*{last}\n"],
    "turns": ["25", "40", "61"], "last": ["w", "x", "y"], "d": [*"2345678"],
    "lines": ["{line}", Form("{line}\n{lines}", 2)],
    "line": ["{bound} = 0.5*tanh({t3}) + 0.1*{t1}"], "bound": ["a", "b", "y"],
    "t": ["x", "a", "b", "y", Form("{d}.{d}{d}", 0.5), Form("0.{d}{d}", 0.5),
          Form("{simple}({t})", 2), Form("({t} {sign} {t})", 3)],
    "sign": [*"+-*/"], "simple": SIMPLE}, ends={"t": 0.2})


@pytest.mark.parametrize("seed", range(many(12, 30)))
def test_random_bodies(seed: int, plainly: Callable[..., Any]) -> None:
    text = Draw(LOOPS, drawn(seed)).text("program", 4)
    assert same(answers(text, {}), plainly(text, {})), text


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-13 * max(abs(a), abs(b))
    return bool(a == b)


@pytest.mark.parametrize("name", UNARY)
def test_every_operation_of_one_argument(name: str, plainly: Callable[..., Any]) -> None:
    low, high = PUBLIC[name].samples[0]
    x = low + 0.37 * (high - low)
    text = f"var x = {x!r}\ns = x\nfor i in range(30):\n    s = 0.9*s + {name}(x)*x\ns\n"
    assert stretches(text, {}) == 1
    assert same(answers(text, {}), plainly(text, {})), text


PROGRAMS = {
    "a name that is bound and not carried":
        "var x = 0.5\ny = 0\nfor i in range(30):\n    t = sin(x)*2\n    y = t*x\ny + t",
    "an edge in the middle":
        "var x = 40.0\ny = x\nfor i in range(60):\n    y = y - 1\n    z = y*log(y*y)\ny + z*0",
    "division by zero":
        "var x = 30.0\ny = x\ns = 0\nfor i in range(60):\n    y = y - 1\n    s = 1/y\ns*0 + y",
    "overflow":
        "var x = 2.0\ny = x\nfor i in range(40):\n    y = y*y\n    z = exp(y*0.001)\nx*1",
    "an infinite slope":
        "var x = 0.0\ny = x\nfor i in range(40):\n    y = sqrt(x) + x\ny",
    "a source that is not used":
        "var x = 0.5\nvar u = 2.0\ny = x\nfor i in range(40):\n    y = y*0.9\n    v = u*1.0\ny",
    "an output that does not depend on the source":
        "var x = 0.5\ny = 1.0\nz = x\nfor i in range(40):\n    y = y*0.9\n    z = z*x\ny*1 + z*0",
    "dependence that takes turns to arrive":
        "var x = 0.5\na = x*1\nb = 1.0\nc = 1.0\nfor i in range(30):\n    d = c*1.0\n"
        "    c = b*1.0\n    b = a*1.0\nd",
    "a loop in a loop":
        "var x = 0.5\ny = x\nfor k in range(5):\n    for i in range(30):\n        y = y*0.5 + x\n"
        "    y = y*x\ny",
    "a function of the file":
        "var x = 0.5\ndef f(x):\n    s = x\n    for i in range(40):\n        s = s*x + 1\n"
        "    return s\nf(x)",
    "its derivative by name":
        "var x = 0.5\ndef f(x):\n    s = x\n    for i in range(40):\n        s = s*x + 1\n"
        "    return s\nf''(x)",
    "a variable that is assigned":
        "var x = 0.5\ny = x\nfor i in range(40):\n    y = y*x\nx.assign(2)\nfor i in range(40):\n"
        "    y = y + x*0.1\ny",
    "a gradient inside":
        "var x = 0.5\ny = x\nfor i in range(40):\n    y = y*x + x\ng = grad(y, x)\ng*x",
    "items of a list":
        "var x = 0.5\ny = x\nfor q in [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]"
        ":\n    y = y*0.5 + x\ny",
    "a break":
        "var x = 0.5\ny = x\nfor i in range(40):\n    y = y*x\n    if y < 1e-5: break\ny",
    "the counter is read":
        "var x = 0.5\ny = x\nfor i in range(40):\n    y = y + x*i\ny",
    "powers":
        "var x = 0.5\ny = x\nfor i in range(40):\n    y = (y^2 + x^1.5)/(1 + y^2)\ny",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, plainly: Callable[..., Any]) -> None:
    text = PROGRAMS[name] + "\n"
    assert same(answers(text, {}), plainly(text, {}))


TAPES = {
    "watched by itself": "tape t, persistent=true:\n    y = x*1\n    for i in range(40):\n"
                         "        y = y*0.5 + sin(x)\n",
    "not watched": "tape t, persistent=true, watch_accessed_variables=false:\n    t.watch(w)\n"
                   "    y = w*1\n    for i in range(40):\n        y = y*0.5 + sin(x)*w\n",
    "tracked from the second turn on": "tape t, persistent=true:\n    y = c*1\n"
                                       "    for i in range(40):\n        y = y*x\n",
    "half outside": "y = x*1\nfor i in range(40):\n    y = y*0.5 + x\n"
                    "tape t, persistent=true:\n    for i in range(40):\n        y = y*0.5 + x\n",
}


@pytest.mark.parametrize("name", TAPES)
def test_tapes_of_a_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ("var x = 0.3\nvar w = 0.4\nconst c = 2.0\n" + TAPES[name]
            + "print(y, t.gradient(y, x), t.gradient(y, w), t.gradient(y, c), t.jacobian(y, x))\n")

    def printed() -> list[Any]:
        run = gradcli.loads(text).run()
        return [getattr(v, "value", None) for v in run.prints[0].values]

    found = printed()
    monkeypatch.setattr(loops, "PATIENCE", 10**9)
    assert same(found, printed())


def test_a_loop_is_one_entry_and_expands_into_all() -> None:
    text = "var x = 0.5\ny = x\nfor i in range(1000):\n    y = y*0.5 + x\ny"
    program = gradcli.loads(text)
    run = program.run()
    assert len(run.record.compact()) < 20
    before = calculus.gradient(
        [program.targets(run)[0].tensor], [run.bindings["x"][0].value],
        entries=run.record.compact())
    assert len(run.record.history()) == 2000
    after = calculus.gradient(
        [program.targets(run)[0].tensor], [run.bindings["x"][0].value],
        entries=run.record.history())
    assert before == pytest.approx(after, rel=1e-15)
    outs = [entry[1] for entry in run.record.history()]
    assert outs == sorted(set(outs))


def test_notes_on_kinks_are_made_of_a_loop_too() -> None:
    text = "var x = 0.0\ny = x\nfor i in range({}):\n    y = abs(x)*0.5 + y\ny"

    def notes(turns: int) -> Any:
        return loaded("grad", "-e", text.format(turns))["results"][0]["sources"][0]["notes"]

    assert stretches(text.format(40), {}) == 1
    assert notes(40) == notes(4)
    assert [note["code"] for note in notes(40)] == ["kink"]


def test_steps_are_counted() -> None:
    with pytest.raises(gradcli.GradcliError) as caught:
        gradcli.loads("y = 1.0\nfor i in range(1000000): y = y*0.5").run(max_steps=100_000)
    assert caught.value.code == "E0401"


HEAD = "var x = 0.5\ny = x\n"
SOURCES = {
    "an intermediate of the loop": HEAD + "for i in range(40):\n    y = y*x\n    z = y*2\nz + y",
    "its own last value": HEAD + "for i in range(40):\n    y = y*x\n    z = y*2\nz",
    "two names of one value": HEAD + "for i in range(40):\n    y = y*x\n    z = y\nz + y",
    "names that Python takes for one": "var x = 0.5\nφ = x\nϕ = x\nfor i in range(40):\n"
                                       "    φ = φ*x\n    ϕ = ϕ + φ\nφ + ϕ",
    "a name with a subscript": "var x = 0.5\nx₁ = x\nfor i in range(40):\n    x₁ = x₁*x + x\nx₁",
    "numbers that are too large": HEAD + "for i in range(40):\n    y = y*x + 1e999*0\ny",
    "a constant of the language": HEAD + "for i in range(40):\n    y = sin(y)*pi*x\ny",
    "a constant that is bound later":
        HEAD + "for i in range(40):\n    y = sin(y)*e*x\ne = 2.0\ny*e",
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_name_may_be_the_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SOURCES[name] + "\n"

    def gradients() -> list[Any]:
        program = gradcli.loads(text)
        names = [n for n in program.names.order if n not in ("i", "pi", "e")]
        return [program.gradient(wrt=n)[n] for n in names] + [
            program.jacobian(wrt=n)[n] for n in names]

    found = gradients()
    monkeypatch.setattr(loops, "PATIENCE", 10**9)
    assert same(found, gradients())


def test_a_function_that_is_defined_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ("def f(x):\n    s = x\n    for i in range(40):\n        s = sin(s)*x\n    return s\n"
            "a = f(0.9)\nsin(t) = t*2\nb = f(0.9)\na + b\n")
    found = gradcli.loads(text).value()
    monkeypatch.setattr(loops, "PATIENCE", 10**9)
    assert found == gradcli.loads(text).value()


def test_pruning_keeps_a_stretch_whose_values_live() -> None:
    text = ("var x = 0.5\ndef f(x):\n    y = x\n    for i in range(40):\n        y = y*x\n"
            "        z = y*1\n    return y\ny = f(x)\nk = 0\nwhile k < 60000:\n    k = k + 1\n"
            "    w = k*x\ny\n")
    assert gradcli.loads(text).gradient()["x"] == pytest.approx(41 * 0.5**40, rel=1e-12)


def test_constants_of_the_language_do_not_stop_a_stretch() -> None:
    assert stretches(HEAD + "for i in range(40):\n    y = sin(y)*pi*x\ny\n", {}) == 1


@pytest.mark.parametrize("turns", [1, 3, 40])
@pytest.mark.parametrize(("body", "name"), [
    ("    y = sin(y)*x\n", "y"), ("    y = y*x\n    z = y*2\n    y = y/2\n", "y"),
    ("    z = y*2\n    y = y*x\n    z = y + x\n", "z")])
def test_the_target_is_what_is_bound_last_however_many_turns(
        body: str, name: str, turns: int) -> None:
    program = gradcli.loads(f"{HEAD}for i in range({turns}):\n{body}")
    (target,) = program.targets(program.run())
    assert target.name == name


def test_a_counter_is_the_target_of_a_file_that_binds_nothing_else() -> None:
    program = gradcli.loads("for t in [1.0, 2.0]:\n    print(t)\n")
    assert program.targets(program.run())[0].name == "t"
