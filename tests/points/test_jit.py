"""Machine code against the Python statements that it is made of: the same bits, and where these
raise, it asks them.
"""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from corpora import COUNTS, cases
from draws import drawn
from folders import ROOT
from programs import Draw
from test_executors_agree import GRAMMARS, HEADS, columns_of, points_of

from gradcli.base.errors import GradcliError
from gradcli.engine.compiled import jit, machine
from gradcli.engine.compiled.llvm import Refused
from gradcli.engine.compiled.python import Formula, Writer
from gradcli.engine.compiled.trace import Doubtful, Elsewhere
from gradcli.ops import TABLE
from gradcli.ops.kinds import EDGE
from gradcli.python.program import Program, loads
from gradcli.questions.many import prepared


class Compared:
    """Both functions called at each point, and where their bits differ.

    native: how many functions there are. asked: calls in which machine code asked the statements.
    """

    def __init__(self) -> None:
        self.native = self.calls = self.asked = 0
        self.refused: list[str] = []
        self.wrong: list[str] = []

    def patient(self, writer: Any, answers: Any, use: Any) -> Callable[..., Any]:
        function = writer.function(answers)

        def statements(values: Sequence[float]) -> Any:
            return function(*values)

        def otherwise(values: Sequence[float]) -> Any:
            self.asked += 1
            return statements(values)

        try:
            code = jit.native(writer, answers, otherwise)
        except Refused as problem:
            self.refused.append(str(problem))
            return statements
        self.native += 1

        def both(values: Sequence[float]) -> Any:
            self.calls += 1
            expected, found = bits(statements, values), bits(code, values)
            if found != expected:
                self.wrong.append(f"{values}: {found}, not {expected}")
            return statements(values)

        return both

    def agree(self) -> None:
        assert not self.wrong
        assert set(self.refused) <= {jit.WHOLE, jit.TRUTH}


def bits(function: Callable[..., Sequence[Any]], values: Sequence[float]) -> list[str] | str:
    try:
        return [x.hex() if type(x) is float else repr(x) for x in function(values)]
    except (Elsewhere, Doubtful, *EDGE) as problem:
        return type(problem).__name__


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    found = Compared()
    monkeypatch.setattr(jit, "patient", found.patient)
    monkeypatch.setattr(jit, "OUTSIDE", 0)
    monkeypatch.setattr(prepared, "PATIENCE", 1)
    return found


def ask(program: Program, points: Sequence[dict[str, Any]], wrt: Any = None,
        what: Sequence[str] = ("gradient", "hessian")) -> None:
    for kind in what:
        question = program.prepare(wrt=wrt, what=kind)
        for at in points:
            try:
                question(at)
            except GradcliError:
                pass


@pytest.mark.parametrize("name", COUNTS)
def test_formulas_of_a_corpus(name: str, compared: Compared) -> None:
    rows = cases(name)[::1 if COUNTS[name] < 100 else 4]
    for row in rows:
        ask(loads(row["expr"]), [
            {n: v*(1.0 + 0.07*k) if type(v) is float else v for n, v in row["vars"].items()}
            for k in range(3)], row["wrt"])
    compared.agree()
    assert compared.native > 1.5*len(rows)
    assert compared.asked < compared.calls / 10


def sample_points(program: Program) -> Iterator[dict[str, Any]]:
    run = program.run()
    at = {name: value for name in program.default_sources
          if type(value := run.bindings[name][0].value.value) is float}
    for k in range(4):
        yield {name: v*(1.0 + 0.07*k) for name, v in at.items()}


def test_samples(compared: Compared) -> None:
    for path in sorted((ROOT / "samples").rglob("*.txt")):
        if path.parent.name in ("errors", "training"):
            continue
        try:
            program = loads(path.read_text("utf-8"))
            points = [*sample_points(program)]
        except (GradcliError, UnicodeDecodeError):
            continue
        ask(program, points, what=("gradient",))
    compared.agree()
    assert compared.native > 5


COUNT = 40


@pytest.mark.parametrize("piece", [3, 500])
def test_random_programs(piece: int, compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many points lie on kinks and edges, and take other paths."""
    monkeypatch.setattr(jit, "PIECE", piece)
    for seed in range(piece, piece + COUNT):
        draw = drawn(seed)
        text = HEADS[0] + Draw(GRAMMARS[0], draw, {"s": ["x", "y"]}).text("program", 4)
        try:
            ask(loads(text), points_of(columns_of(draw, False, 12)))
        except GradcliError:
            continue
    compared.agree()
    assert compared.native > COUNT / 3


EDGES = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.5, -7.25, 1e-8, 710.0, -750.0, 1e30, -1e-30,
         5e-324, 1.7e308, math.inf, -math.inf, math.nan)


# Rows of floats that have no machine code: their functions call others, or make whole numbers.
OUTSIDE = {"mod", "floor_divide", "floor", "ceil", "round", "trunc", "hypot", "unit_part", "ldexp",
           "heaviside"}


def test_each_row_at_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function of a row alone: what libm or LLVM has is written, other things are called."""
    monkeypatch.setattr(jit, "OUTSIDE", 0)
    wrong, outside = [], set()
    for name, op in TABLE.items():
        if not op.elementwise or op.floats is None:
            continue
        count = len(op.parameters)
        writer = Writer(count)
        number = writer.node((name,), tuple(range(count)))
        writer.formulas.append(Formula(name, range(count), op.floats))
        asked: list[Sequence[float]] = []

        def statements(values: Sequence[float], op: Any = op) -> Any:
            return (op.floats(*values),)

        def otherwise(values: Sequence[float], asked: Any = asked, op: Any = op) -> Any:
            asked.append(values)
            return (op.floats(*values),)

        try:
            code = jit.native(writer, [number], otherwise)
        except Refused:     # its answer is a truth value
            continue
        if jit.Pieces(writer, [number]).outside.count:
            outside.add(name)
        draw = random.Random(name)
        points = [[draw.choice(EDGES) for _ in range(count)] for _ in range(60)]
        points += [[x]*count for x in EDGES]
        for values in points:
            expected, found = bits(statements, values), bits(code, values)
            if found != expected:
                wrong.append(f"{name}{values}: {found}, not {expected}")
            elif asked and name not in outside and 5e-324 not in values and (
                    max(map(abs, values)) < 5.0 and type(found) is list and (
                        abs(float.fromhex(found[0])) < 1e9)):
                wrong.append(f"{name}{values} asks for {found}")
            asked.clear()
    assert not wrong
    assert {n for n in outside if TABLE[n].floats.__name__ != "call"} == OUTSIDE


LINES = "x = 0.7\ny = x\n" + "y = y*0.5 + sin(y)*x + tanh(y - x)\n"*30 + "y\n"


def test_machine_code_is_made_when_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    native = jit.native
    monkeypatch.setattr(jit, "native", lambda *parts: (made.append(len(parts)), native(*parts))[1])
    monkeypatch.setattr(jit, "CALLS", 10)
    monkeypatch.setattr(jit, "LOADING", 0)
    program = loads(LINES)
    question = program.prepare(wrt="x")
    for k in range(prepared.PATIENCE + 20):
        at = {"x": 0.01*k}
        assert question(at) == (program.value(at=at), program.gradient(at=at, wrt="x"))
        assert len(made) == (k >= prepared.PATIENCE + 9)


def test_many_statements_pay_sooner() -> None:
    assert [jit.waits(n) for n in (10, 1000, 100_000)] == [501_500, 6500, 1550]


def test_without_llvmlite_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(jit, "native", None)
    machine.available.cache_clear()
    question = loads(LINES).prepare(wrt="x")
    for _ in range(prepared.PATIENCE + 5):
        question({"x": 0.3})
    monkeypatch.undo()
    machine.available.cache_clear()


def test_an_llvmlite_that_does_not_load_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "available", lambda: True)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    for part in (machine.binding, machine.libm):
        part.cache_clear()
    monkeypatch.setattr(jit, "CALLS", 1)
    monkeypatch.setattr(jit, "LOADING", 0)
    program = loads(LINES)
    question = program.prepare(wrt="x")
    for k in range(prepared.PATIENCE + 5):
        at = {"x": 0.01*k}
        assert question(at) == (program.value(at=at), program.gradient(at=at, wrt="x"))
    monkeypatch.undo()


def test_what_users_do_passes_through_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption while a function of Python is called is raised, and then all is as before."""
    writer = Writer(1)
    number = writer.node(("f",), (0,))

    limit = 1.0

    def interrupted(x: float) -> float:
        if x > limit:
            raise KeyboardInterrupt
        return float(x)

    writer.formulas.append(Formula("f", (0,), interrupted))
    monkeypatch.setattr(jit, "OUTSIDE", 0)
    code = jit.native(writer, [number], lambda values: ["asked"])
    assert code([0.5]) == [0.5]
    with pytest.raises(KeyboardInterrupt):
        code([2.0])
    assert code([0.25]) == [0.25]
