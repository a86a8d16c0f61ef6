"""Lines of numbers run together against the same lines run one operation at a time.

Values, gradients, what the record expands into, notes, explanations and diagnostics have to be the
same to the last bit and letter; the interpreter's ordinary way is the reference, tested on its own
against mpmath.
"""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from commands import run
from conftest import folded
from draws import drawn
from folders import ROOT
from transcripts import in_process

import gradcli
from gradcli.engine.record.record import ANS, IDS, OP, OUT, PLACE, VALUES
from gradcli.engine.record.tensor import value_of
from gradcli.lang.running import lines, program
from gradcli.ops import PUBLIC
from gradcli.ops.kinds import ELEMENTWISE, FLAT, Op

ROWS = [op for name, op in PUBLIC.items()
        if name == op.name and op.kind in (ELEMENTWISE, FLAT) and op.elementwise
        and op.floats is not None and not op.attributes]

Both = Callable[[Callable[[], Any]], tuple[Any, Any]]


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Both:
    """What something answers when all lines of numbers are run together, and when none are."""
    def answers(action: Callable[[], Any]) -> tuple[Any, Any]:
        out = []
        for long, worth in ((0, 1), (10**9, 1)):
            with monkeypatch.context() as patched:
                patched.setattr(program, "LONG", long)
                patched.setattr(lines, "WORTH", worth)
                out.append(action())
        return out[0], out[1]
    return answers


def bits(value: Any) -> Any:
    """A structure with its numbers as they are in memory, all NaN alike."""
    if isinstance(value, float):
        return "nan" if value != value else struct.pack("d", value)
    if isinstance(value, dict):
        return {name: bits(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(v) for v in value]
    return bits(value.tolist()) if hasattr(value, "tolist") else value


def together(text: str) -> int:
    """How many entries of a run stand for lines that were run together."""
    return sum(entry[OP].kind == "stretch" for entry in gradcli.loads(text).run().record.compact())


def all_of(text: str) -> Any:
    """What a run leaves: bindings, results, the record with its ids numbered anew."""
    left = gradcli.loads(text).run()
    numbers: dict[int | None, int | None] = {None: None}
    known = []
    for entry in left.record.history():
        ids = [numbers.setdefault(i, len(numbers)) for i in (*entry[IDS], entry[OUT])]
        known.append((entry[OP].name, ids, entry[VALUES], entry[ANS], entry[PLACE]))
    return bits((
        [(name, [(value_of(b.value), b.kind, b.span, numbers.get(getattr(b.value, "id", None)))
                 for b in found]) for name, found in left.bindings.items()],
        [(span, value_of(value)) for span, value in left.results.items()],
        left.last, left.steps, known))


def gradients(text: str, each: bool = True) -> Any:
    """The gradient of the last result and of a name before by some names, variables first: by each
    alone, or by all at once and the first alone.
    """
    p = gradcli.loads(text)
    names = [name for name in p.names.order if name in p.names.bound]
    some = [*dict.fromkeys([*names[:3], *names[3::5], *names[-2:]])]
    asked = [[name] for name in some] if each else [some, some[:1]]
    return bits([p.gradient(of, sources) for of in (None, names[-2]) for sources in asked])


def questions(text: str, *options: str, commands: Sequence[str] = ("grad", "hess", "eval")) -> Any:
    """What the command line answers."""
    return [in_process([command, "-e", text, "--format", "json", *options])
            for command in commands]


def lines_of(draw: random.Random, count: int, rows: list[Op], wild: float) -> str:
    """Bindings of one to three operations each, some names bound again; `wild`: how often an
    operand may lie where the operation has no value, or an edge.
    """
    names = ["x", "y", "w"]

    def operand(low: float, high: float) -> str:
        name = draw.choice([*names[-8:], "x", "y"])
        if draw.random() < wild:
            return draw.choice([name, "0.0", "-1.5", "x*0", f"1e200*{name}", "pi", f"-{name}"])
        if draw.random() < 0.2:
            return f"{draw.uniform(low, high):.3f}"
        return f"({low} + {high - low}*sigmoid({name}))"

    out = []
    for k in range(count):
        op = draw.choice(rows)
        low_high = op.samples or ((0.2, 0.8),) * len(op.parameters)
        call = f"{op.name}({', '.join([operand(*pair) for pair in low_high])})"
        if draw.random() < 0.4:
            call = f"{draw.choice(names[-5:])} {draw.choice('+-*/')} {call}"
        if draw.random() < 0.2:
            call = f"{call} {draw.choice('+-*/')} {draw.choice(names[-5:])}^2"
        name = draw.choice(names[2:]) if draw.random() < 0.2 else f"t{k}"
        kind = draw.random()
        out.append(f"{name} = {draw.choice(names)}" if kind < 0.03 else
                   f"{name} = {draw.uniform(-1, 1):.3f}" if kind < 0.06 else
                   call if kind < 0.09 else f"{name} = {call}")
        if (name not in names and kind > 0.09) or kind < 0.06:
            names.append(name)
    return "var x = 0.7\nvar y = -0.3\nw = x*y\n" + "\n".join(out) + f"\n{names[-1]} + x*0\n"


# What is drawn may lie where a derivative is doubtful: both say so, or neither.
@pytest.mark.filterwarnings("ignore:a derivative may be wrong")
@pytest.mark.parametrize("seed", range(30))
def test_random_lines(seed: int, both: Both) -> None:
    draw = drawn(seed)
    text = lines_of(draw, 40, ROWS, draw.choice([0.0, 0.0, 0.1, 0.3]))
    assert both(lambda: together(text)) == (1, 0)
    for action in (all_of, gradients):
        found, expected = both(lambda action=action: action(text))  # type: ignore[misc]
        assert found == expected, text


@pytest.mark.parametrize("seed", range(12))
def test_random_lines_on_the_command_line(seed: int, both: Both) -> None:
    draw = random.Random(1000 + seed)
    rows = [op for op in ROWS if op.kind == ELEMENTWISE or draw.random() < 0.5]
    text = lines_of(draw, 14, rows, 0.15)
    found, expected = both(lambda: questions(text))
    assert found == expected, text
    found, expected = both(lambda: in_process(["why", "-e", text]))
    assert found == expected, text


# 1e308 is beyond what some slopes can be known for: that is told, and not what is compared here.
@pytest.mark.filterwarnings("ignore:a derivative may be wrong:RuntimeWarning")
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_every_operation(op: Op, both: Both) -> None:
    inside = [(a + b) / 2 for a, b in op.samples] or [0.4] * len(op.parameters)
    edge = [0.0, -1.0, 1.0, 2.0, 1e308, -5.5]
    text = "".join([f"var x{k} = {x!r}\n" for k, x in enumerate(inside)])
    names = [f"x{k}" for k in range(len(inside))]
    text += f"a = {op.name}({', '.join(names)})*x0\n"
    for e in edge:
        for k in range(len(names)):
            operands = [*names[:k], f"({e}*x{k}/x{k})", *names[k + 1:]]
            text += f"a = a*0.5 + {op.name}({', '.join(operands)})\n"
            text += f"b = {op.name}({', '.join([*names[:k], repr(e), *names[k + 1:]])}) - x0\nb\n"
    for action in (all_of, partial(gradients, each=False)):
        found, expected = both(lambda action=action: action(text))  # type: ignore[misc]
        assert found == expected


@folded
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_rows_make_floats_of_floats(op: Op) -> None:
    inside = [(a + b) / 2 for a, b in op.samples] or [0.4] * len(op.parameters)
    assert type(op.on_scalars(inside)) is float
    for x in (0.0, -0.0, 1.0, -1.0, -2.5, 1e5, 1e308, math.inf, -math.inf, math.nan):
        for k in range(len(inside)):
            assert type(op.on_scalars([*inside[:k], x, *inside[k + 1:]])) is float, (x, k)


HEAD = "var x = 0.5\nvar u = 2.0\n"
PROGRAMS = {
    "another name of a variable": HEAD + "y = x\ny = y*x + x\nz = y\nz*z\ny*x",
    "another name of a variable from before": HEAD + "y = x\nprint(y)\ny = y*x + x*y\nx*y*u",
    "two names of one tensor from before":
        HEAD + "y = x*u\nprint(y)\nz = y\nprint(z)\na = y*z + sin(z)\nb = a*y\nb*z*x",
    "a source that is not used": HEAD + "y = x*0.9\ny = y*y\nv = u*1.0\ny",
    "a step on the way": HEAD + "y = floor(x*3)\nz = y*2\nz + floor(x)",
    "an infinite slope": HEAD + "z = x*0\ny = sqrt(z) + x\ny*2",
    "0 times an infinite slope": HEAD + "z = x*0\ny = u*0*sqrt(z) + x\ny*2",
    "a kink": HEAD + "z = x - 0.5\ny = abs(z) + relu(z)*x + max(z, 0*x)\ny",
    "an edge in the middle": HEAD + "y = x - 0.5\nz = log(y)\na = 1/y\nb = log(-u)\nc = z + x\nc",
    "overflow": HEAD + "y = exp(2000*x)\nz = y*x\na = (1e300*u)^3\na - z",
    "numbers alone": HEAD + "a = 2*3\nb = -a\nc = a*x\nd = 1/0\nlog(-1)\n2 - 3\nsin(1) + c",
    "constants of the language": HEAD + "a = pi*x\nb = sin(e*a)\nb - inf",
    "a constant that is bound": HEAD + "a = pi*x\npi = 3.0\nb = pi*x\nb + a",
    "a constant that is bound first": HEAD + "e = 3.0\nb = e*x\ne = b*e\ne",
    "a constant that is read, then bound": HEAD + "a = e*x\ne = a*x\ne*a",
    "a name without a value": HEAD + "a = x*u\nb = a*q\nc = b*x",
    "a function that there is not": HEAD + "a = x*u\nb = sine(a)\nc = b*x",
    "an error before": HEAD + "a = zeros(2)*ones(3)\nb = a*x\nc = x*u\nd = b*c\nc",
    "errors in between": HEAD + "b = x*2\na = zeros(2)*ones(3)\nc = a*u\nd = x*\"t\"\nf = b*x\nf",
    "an array": HEAD + "m = [1.0, 2.0]\na = x*u\nb = m*a\nc = sum(b)\nd = c*x\nd*d",
    "an integer": HEAD + "k = len([1, 2])\na = x*k\nb = a*x\nb",
    "a type": "var x: float32 = 0.5\na = x*x\nb = a*2\nb",
    "a truth value": HEAD + "c = x < u\na = x*u\nb = where(c, a, x)\nb*x",
    "a text": HEAD + "a = x*u\nb = \"text\"\nc = a*x\nc",
    "a function of the file": HEAD + "f(t) = t*x\na = f(u)*2\nb = f(a)\nb*b",
    "a function that hides an operation": HEAD + "sin(t) = t*3\na = sin(x)*u\nb = a*a\nb",
    "a function between": HEAD + "a = sin(x)*u\ndef sin(t): return t*x\nb = sin(a)\nc = b*a\nc",
    "a name that a function reads": HEAD + "a = x*u\nb = a*a\nf(t) = t*b\nc = b*x\nf(c)",
    "a loop between": HEAD + "a = x*u\nfor i in range(3): a = a*x\nb = a*a\nc = b*x\nc",
    "assignment": HEAD + "a = x*u\nx.assign(2.0)\nb = a*x\nb*x",
    "a tape": HEAD + "a = x*u\ntape t:\n    t.watch(a)\n    b = a*x\nc = b*x\n"
              "print(t.gradient(b, a))",
    "a gradient": HEAD + "a = x*u*x\nb = a*a\ng = grad(b, x)\nh = g*a\nh*x",
    "a gradient of its own": HEAD + "a = x*u*x\nb = a*a\ng = grad(b, a)\nh = grad(g, a)\nh + g",
    "a derivative by name": HEAD + "a = x*u\nf(t) = t^3*a\nb = f'(a)\nc = b*a\nc",
    "a rule of the file": HEAD + "@gradient_of(atan2)\ndef rule(g, y, x): return g, g\n"
                          "a = atan2(x, u)\nb = a*x\nb",
    "conditions": HEAD + "a = x*u if x > 0 else x\nb = a*a\nc = b if b < 9 else a\nc*c",
    "several results": HEAD + "x*u\nx + u\nx\nsin(x)*u",
    "nothing but names": HEAD + "a = x\nb = u\nc = a\nc",
    "many operands":
        HEAD + "a = clip(x*3, 0.1, u)\nb = lerp(a, x, u*0.1)\nc = clip(2.0, a, u)\nb*c",
    "names of Python": HEAD + "lambda1 = x*u\nφ = x*lambda1\nϕ = φ*2\nφ*ϕ",
    "an input": "input a\nb = a*2\nc = b*a\nc",
    "notes": HEAD + "y = x*u\ny = y*x\nx*y",
}
OPTIONS = {
    "a name that a function reads": ["--wrt", "a,x"], "an input": ["--at", "a=3"],
    "numbers alone": ["--at", "a=5"], "another name of a variable": ["--of", "z", "--wrt", "y,x"],
    "notes": ["--of", "y", "--wrt", "x"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, both: Both) -> None:
    text = PROGRAMS[name] + "\n"
    options = OPTIONS.get(name, [])
    for asked in (options, ["--of", "a", *options], ["--wrt", "a"],
                  ["--max-steps", "12"], ["--max-steps", "25"]):
        found, expected = both(lambda asked=asked: questions(text, *asked))  # type: ignore[misc]
        assert found == expected, asked
    # Hessians are held against gradients elsewhere, as gradients are against values: some suffice.
    verified = ("grad", "hess") if [*PROGRAMS].index(name) % 3 == 0 else ("grad",)
    found, expected = both(lambda: questions(text, "--verify", *options, commands=verified))
    assert found == expected
    found, expected = both(lambda: in_process(["why", "-e", text, *options]))
    assert found == expected
    found, expected = both(lambda: in_process(["jac", "-e", text, *options]))
    assert found == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_programs_leave(name: str, both: Both) -> None:
    text = PROGRAMS[name] + "\n"
    if name in ("an input", "an array", "a name without a value", "a tape"):
        text = text.replace("input a", "var a = 2.0").replace("*q", "*u").replace("m*a", "a")
        text = text.partition("tape t")[0]

    def outcome() -> Any:
        try:
            return all_of(text), gradients(text)
        except gradcli.GradcliError as problem:
            return [(d.code, d.message, d.span) for d in problem.diagnostics]

    found, expected = both(outcome)
    assert found == expected


LONG = "var x = 0.3\nvar u = 0.2\nt0 = x\nt1 = u\nt2 = x*u\n" + "".join([
    f"t{k} = sin(t{k - 1})*0.5 + t{k - 3}\n" for k in range(3, 200)]) + "t199\n"


def test_a_long_file_is_one_entry_and_expands_into_all() -> None:
    p = gradcli.loads(LONG)
    left = p.run()
    assert len(left.record.compact()) == 1
    history = left.record.history()
    assert len(history) == 1 + 3*197
    outs = [entry[OUT] for entry in history]
    assert outs == sorted(set(outs))


def test_a_long_file_has_its_derivatives(both: Both) -> None:
    found, expected = both(lambda: (all_of(LONG), bits(gradcli.loads(LONG).hessian())))
    assert found == expected


def test_names_are_made_when_they_are_asked_for(both: Both) -> None:
    def names() -> Any:
        bindings = gradcli.loads(LONG).run().bindings
        return bits([
            "t5" in bindings, "q" in bindings, bindings["t5"][0].value.value,
            bindings.get("t7", [])[0].span, bindings.get("q"), len(bindings), list(bindings),
            [b[0].value.value for b in bindings.values()]])

    found, expected = both(names)
    assert found == expected
    assert gradcli.loads(LONG).run().bindings["t5"] is not None


def test_a_name_that_is_bound_very_often(both: Both) -> None:
    text = "var x = 0.7\ny = x\n" + "y = y*0.5 + sin(y)*x\n" * 300 + "y = y*x\n"
    found, expected = both(lambda: all_of(text))
    assert found == expected
    found, expected = both(lambda: gradients(text))
    assert found == expected


def test_one_long_expression(both: Both) -> None:
    text = "var x = 0.7\n" + " + ".join([f"{1 + k % 9}*x^{k % 5}" for k in range(300)]) + "\n"
    assert together(text) == 1
    found, expected = both(lambda: (all_of(text), bits(gradcli.loads(text).hessian())))
    assert found == expected


def test_a_program_runs_again_at_another_point() -> None:
    p = gradcli.loads(LONG)
    assert p.gradient(at={"x": 0.9}) != p.gradient()
    assert p.gradient(at={"x": 0.3}) == p.gradient()
    assert p.value(at={"x": 0.0, "u": 0.0}) == 0.0


def test_a_point_of_another_kind_takes_the_ordinary_way() -> None:
    p = gradcli.loads(LONG)
    assert p.gradient("t199", "x", at={"x": [0.3, 0.4]})["x"].shape == (2,)
    assert all(entry[OP].kind != "stretch" for entry in p.run({"x": [0.3, 0.4]}).record.compact())


def test_tapes_of_a_file_see_every_operation() -> None:
    text = LONG.replace("t199\n", "tape t:\n    y = t199*x\nprint(t.gradient(y, x))\n")
    left = gradcli.loads(text).run()
    assert left.prints[0].values[0].value == pytest.approx(
        gradcli.loads(LONG).value(), rel=1e-15)


def test_short_files_load_nothing() -> None:
    code = ("import sys, gradcli\ngradcli.loads({!r}).gradient()\n"
            "print('gradcli.lang.running.lines' in sys.modules)")
    for text, loaded in (("var x = 2.0\nx^2", "False"), (LONG, "True")):
        found = run(sys.executable, "-c", code.format(text), env={"PYTHONPATH": str(ROOT)})
        assert found.stdout.strip() == loaded


def test_a_copy_of_the_bindings_is_whole() -> None:
    bindings = gradcli.loads(LONG).run().bindings
    assert all(dict(bindings).values())
    assert all({**gradcli.loads(LONG).run().bindings}.values())
