"""Questions prepared for many points against the same questions asked at each point anew.

Over numbers the answers must be the same to the last bit, over arrays to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import test_ops_arrays
import test_ops_layers
import test_ops_linalg
import test_ops_shapes
from conftest import folded
from corpora import COUNTS, agrees, cases
from random_programs import KINKED, SMOOTH, RandomProgram
from test_ops_shapes import Case, arrays_of, plain

from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.engine.compiled import python as writing
from gradcli.engine.compiled.single import Replay
from gradcli.engine.compiled.trace import Doubtful, Trace
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import Tensor, leaf, value_of
from gradcli.ops import NAMES
from gradcli.python.program import Program, loads
from gradcli.questions.many import prepared as asking
from gradcli.questions.many.prepared import Prepared

At = Mapping[str, Any]


class Counted(Prepared):
    """Counts the points that are asked through the program, and learns a way at the first."""

    __slots__ = ("asked",)

    def __init__(self, program: Program, wrt: Any = None, of: str | None = None,
                 what: str = "gradient") -> None:
        super().__init__(program, of, wrt, what)
        self.asked = 0

    def _asked(self, at: At) -> Any:
        self.asked += 1
        for known in self._known.values():
            if known.left is not None:
                known.left = 1
        return super()._asked(at)

    @property
    def ways(self) -> int:
        return sum(len(known.paths) for known in self._known.values())


def both(program: Program, at: At, wrt: Any = None) -> Any:
    return program.value(at=at), program.gradient(at=at, wrt=wrt)


def same(got: Any, want: Any, rtol: float = 0.0) -> None:
    """Equal in type, None and number: to the last bit for floats, or up to rtol."""
    assert type(got) is type(want), (got, want)
    if isinstance(want, dict):
        assert list(got) == list(want)
        for name in want:
            same(got[name], want[name], rtol)
    elif isinstance(want, (tuple, list)):
        for a, b in zip(got, want, strict=True):
            same(a, b, rtol)
    elif isinstance(want, np.ndarray):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert got.flags.writeable
        if want.dtype.kind in "fc":
            np.testing.assert_allclose(
                got, want, rtol=rtol or 1e-12, atol=rtol or 1e-12*np.abs(want).max(initial=0))
        else:
            np.testing.assert_array_equal(got, want)
    elif isinstance(want, float) and rtol:
        assert got == pytest.approx(want, rel=rtol, abs=rtol, nan_ok=True)
    elif isinstance(want, float):
        assert got.hex() == want.hex()
    else:
        assert got == want


# --- the corpora --------------------------------------------------------------------------------


def moved(at: At, factor: float) -> dict[str, float]:
    return {name: value*factor for name, value in at.items()}


@pytest.mark.parametrize("name", COUNTS)
def test_corpora_to_the_last_bit(name: str) -> None:
    by_text: dict[str, list[Any]] = {}
    for row in cases(name):
        by_text.setdefault(row["expr"], []).append(row)
    asked = points = 0
    for text, rows in by_text.items():
        program = loads(text)
        prepared = Counted(program, rows[0]["wrt"])
        prepared(rows[0]["vars"])
        for row in rows:
            value, slopes = prepared(row["vars"])
            assert agrees(value, row["value"], row["f64"][0]), row["id"]
            for v in row["wrt"]:
                assert agrees(slopes[v], row["grad"][v], row["f64"][1]), row["id"]
            for at in (row["vars"], moved(row["vars"], 1.03125)):
                same(prepared(at), both(program, at, row["wrt"]))
                points += 2
        asked += prepared.asked - 1
        assert prepared.ways, text
    assert asked < 0.05*points  # domain edges, and other ways


@pytest.mark.parametrize("name", COUNTS)
def test_corpora_through_arrays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same formulas as NumPy calls, on scalars."""
    monkeypatch.setattr(writing, "is_scalar", lambda recorded: False)
    for row in cases(name)[::3]:
        program = loads(row["expr"])
        prepared = Counted(program, row["wrt"])
        prepared(row["vars"])
        value, slopes = prepared(row["vars"])
        assert agrees(value, row["value"], row["f64"][0]), row["id"]
        for v in row["wrt"]:
            assert agrees(slopes[v], row["grad"][v], row["f64"][1]), row["id"]
        assert prepared.ways, row["id"]


# --- every row over arrays ------------------------------------------------------------------------


def recorded(ours: Callable[..., Any], arrays: Sequence[Any], second: bool
             ) -> tuple[Trace, list[Any]]:
    """The value of a function of arrays, the gradient of a weighted sum of its squares and perhaps
    the Hessian, as they are recorded; and their values.
    """
    with Record() as record:
        record.guards = []
        record.absorbing = False
        xs = [leaf(plain(a)) for a in arrays]
        y = ours(*xs)
        guards, record.guards = record.guards, None
        own = len(record.history())
        weights = np.linspace(0.5, 2.0, math.prod(y.shape)).reshape(y.shape)
        total = NAMES["sum"](NAMES["square"](y)*plain(weights))
        found = [y, *calculus.gradient([total], xs, emit=True)]
        if second:
            found += calculus.hessian(total, xs, emit=True).blocks.values()
        values = [value_of(f) for f in found]
        return Trace(
            record.history(), {x.id: x.value for x in xs if x.id is not None},
            [(f.id if isinstance(f, Tensor) else None, v) for f, v in
             zip(found, values, strict=True)], guards, list(record.derived), own), values


ROWS = [pytest.param(p.values[0], k % 4 == 0, id=p.id) for k, p in enumerate(
    p for module in (test_ops_shapes, test_ops_arrays, test_ops_layers, test_ops_linalg)
    for p in module.CASES)]


@folded
@pytest.mark.parametrize(("case", "second"), ROWS)
def test_every_row_at_other_points(case: Case, second: bool) -> None:
    first = arrays_of(case)
    trace, known = recorded(case.ours, first, second)
    replay = Replay(trace)
    larger = [a*1.0625 + 0.015625 for a in first]
    # In another order what is sorted or selected is something else.
    turned = [a.ravel()[::-1].reshape(a.shape)*0.875 for a in first]
    for arrays in (first, larger, turned):
        want = known if arrays is first else recorded(case.ours, arrays, second)[1]
        try:
            got = replay.run(*[plain(a) for a in arrays])
        except Doubtful:
            assert any(w is not None and np.isnan(w).any() for w in want[1:])
            continue
        for a, b in zip(got, want, strict=True):
            same(a, b, 1e-9)


# --- random programs ------------------------------------------------------------------------------

SCALARS: dict[str, tuple[int, ...]] = {"x": (), "y": (), "z": ()}
ARRAYS: dict[str, tuple[int, ...]] = {"A": (2, 3), "v": (3,), "s": ()}


def at_random(program: RandomProgram, parsed: Program, seed: int) -> list[dict[str, Any]]:
    """Some points near that of the program; of the names that it reads."""
    rng = np.random.default_rng(seed)
    return [{n: plain(np.asarray(v)*rng.uniform(0.8, 1.2, np.shape(v)))
             for n, v in program.at.items() if n in parsed.names.inputs} for _ in range(6)]


@pytest.mark.parametrize("seed", range(500, 560))
def test_random_programs_over_numbers_to_the_last_bit(seed: int) -> None:
    program = RandomProgram(seed, SCALARS, 12, [*SMOOTH, *KINKED])
    parsed = loads(program.text)
    prepared = Counted(parsed, of="out")
    for at in at_random(program, parsed, seed):
        same(prepared(at), (parsed.value("out", at=at), parsed.gradient("out", at=at)))
    assert prepared.ways == 1
    assert prepared.asked == 1


@pytest.mark.parametrize("seed", range(600, 640))
@pytest.mark.parametrize("what", ["gradient", "hessian"])
def test_random_programs_over_arrays(seed: int, what: str) -> None:
    program = RandomProgram(seed, ARRAYS, 9)
    parsed = loads(program.text)
    prepared = Counted(parsed, of="out", what=what)
    for at in at_random(program, parsed, seed):
        same(prepared(at), (parsed.value("out", at=at), getattr(parsed, what)("out", at=at)), 1e-10)
    assert prepared.asked == prepared.ways == 1


@pytest.mark.parametrize("seed", range(700, 720))
def test_jacobians_of_random_programs(seed: int) -> None:
    program = RandomProgram(seed, ARRAYS, 9)
    parsed = loads(program.text)
    vector = program.nodes[-1].name
    prepared = Counted(parsed, of=vector, what="jacobian")
    for at in at_random(program, parsed, seed):
        same(prepared(at), (parsed.value(vector, at=at), parsed.jacobian(vector, at=at)), 1e-10)
    assert prepared.asked == prepared.ways == 1


# --- ways -----------------------------------------------------------------------------------------

WAYS = [
    ("y = x^2 if x > 0 else x^3\n2y", 2),
    ("input x = 1\nL = [x, 2x, 3x]\nL[int(abs(x))]^2", 2),
    ("input x = 1\ns = abs(x) + 0.1\nwhile s < 10:\n    s = s*2 + 0.5\ns*x", 6),
    ("input x = 1\nn = int(abs(x)*5)\ns = 0.0\nfor k in range(n):\n    s = s + x^k\ns*x", 10),
    ("f(t) = t if t < 1 and t > -1 else sin(t)\nf(x) + f(2x)", 6),
    ("input x = 1\nclip(x, 0.5, round(abs(x)))*x", 1),
    ("input x = 1\nv = [x, x^2]\nsum(v) if x > 0.5 else norm(v)", 2),
    ("input x = 1\ny = x if x > 0 else 3\ny", 2),
]


@pytest.mark.parametrize(("text", "ways"), WAYS)
def test_each_point_takes_its_own_way(text: str, ways: int) -> None:
    program = loads(text)
    prepared = Counted(program)
    for x in np.random.default_rng(9).uniform(-2, 2, 200).tolist():
        same(prepared({"x": x}), both(program, {"x": x}), 1e-13 if "norm" in text else 0.0)
    assert min(ways, 2) <= prepared.ways <= ways
    assert prepared.asked == prepared.ways


def test_points_that_each_take_their_own_way_are_asked() -> None:
    program = loads("input x = 1\ns = 0.0\nfor k in range(int(x)):\n    s = s + x\ns")
    prepared = Counted(program)
    for x in range(1, 60):
        same(prepared({"x": x}), both(program, {"x": x}))
    assert prepared.ways == asking.MAX_PATHS
    assert prepared.asked == 59
    same(prepared({"x": 5.5}), both(program, {"x": 5.5}))
    assert prepared.asked == 59


def test_other_names_and_shapes_are_other_ways() -> None:
    program = loads("input a = 2\nsum(a*x^2)")
    prepared = Counted(program)
    ats: list[dict[str, Any]] = [
        {"x": 1.5}, {"x": np.array([1.0, 2.0])}, {"x": [1, 2, 3]}, {"x": 2.5, "a": 3},
        {"a": np.ones((2, 2)), "x": 1.0}, {"x": np.array(0.5)}, {"x": np.float32(0.25)}]
    for _ in range(3):
        for at in ats:
            same(prepared(at), both(program, at))
    assert prepared.ways == prepared.asked == 5


def test_points_that_each_give_other_shapes_are_asked() -> None:
    program = loads("sum(x^2)")
    prepared = Counted(program)
    for n in range(1, asking.MAX_KNOWN + 3):
        same(prepared({"x": np.ones(n)}), both(program, {"x": np.ones(n)}))
    assert prepared.ways == asking.MAX_KNOWN
    same(prepared({"x": np.ones(n)}), both(program, {"x": np.ones(n)}))
    assert prepared.asked == n + 1


def test_a_condition_before_a_long_loop_is_not_forgotten(prunings: list[int]) -> None:
    """The record of a loop is pruned; what decided the way before it must not be lost."""
    program = loads("input x = 0.5\ny = x if x > 1 else 3x\nk = 0*x\n"
                    "while k < 2500:\n    k = k + 1.0\ny")
    prepared = Counted(program)
    for x in (0.5, 0.75, 2.5):
        same(prepared({"x": x}), both(program, {"x": x}))
    assert prunings


def test_truth_values_and_texts_belong_to_the_way() -> None:
    program = loads("input deep = true\ninput how = \"sin\"\n"
                    "y = x^2 if deep else x^3\nprint(how)\ny")
    prepared = Counted(program, "x")
    for _ in range(2):
        for deep in (True, False):
            for how in ("sin", "cos"):
                for x in (0.5, 0.75):
                    at = {"x": x, "deep": deep, "how": how}
                    same(prepared(at), both(program, at, "x"))
    assert prepared.ways == prepared.asked == 4


# --- None, errors, edges --------------------------------------------------------------------------


def test_none_where_no_path_joins() -> None:
    program = loads("const c = 3\ny = floor(x)*c + z\ny")
    prepared = Counted(program, "x,z,c")
    for x in (1.5, 2.5, 3.5):
        answer = prepared({"x": x, "z": 1.0})
        assert answer == (math.floor(x)*3.0 + 1.0, {"x": None, "z": 1.0, "c": None})
    assert prepared.asked == 1


EDGES: list[tuple[str, list[float]]] = [
    ("log(x)", [2.0, 0.0, -1.0, 3.0, math.inf, math.nan]),
    ("1/x + sqrt(x)", [2.0, 0.0, -0.0, -1.0, 1e-320, 1e308]),
    ("exp(x)*exp(x)", [1.0, 400.0, 800.0, -800.0]),
    ("where(x > 0, log(x), 0)", [2.0, 0.0, -1.0, 1.0]),
    ("where(x > 0, sqrt(x), x)", [2.0, 0.0, -1.0, 4.0]),
    ("0*sqrt(x)", [1.0, 0.0, 2.0]),
    ("x^0.5 + x^x", [1.0, 0.0, -1.0, 2.0]),
    ("y = sin(x)*grad(sqrt(x)*0, x)\ny", [1.0, 0.0, 2.0]),
    ("input x = 1\nu = sqrt(x)*x\ng = grad(where(u > 0, log(u), 0), u)\nwhere(x > 0, g, x)",
     [1.0, 0.0, 2.0, 0.5]),
    ("input x = 1\nu = x*1.0\ng = grad(where(u > 0, log(u), 0), u)\nwhere(g > -1, 1, 2)*x",
     [1.0, 0.0, 2.0, -1.0]),
    ("sum([x, 2x]/x)", [1.0, 0.0, 2.0]),
    ("norm([x, 2x])", [1.0, 0.0, 2.0]),
]


@pytest.mark.parametrize(("text", "points"), EDGES)
def test_edges_are_those_of_the_program(text: str, points: list[float]) -> None:
    program = loads(text)
    prepared = Counted(program, "x")
    for x in points + points:
        got, want = prepared({"x": x}), both(program, {"x": x}, "x")
        for a, b in ((got[0], want[0]), (got[1]["x"], want[1]["x"])):
            assert type(a) is type(b)
            assert a == b or (a != a and b != b), (x, a, b)
    assert prepared.ways >= 1
    assert prepared.asked < 2*len(points)


ERRORS = [
    ("input x = 1\nL = [x, 2x]\nL[int(x)]^2", 7.0),
    ("input x = 3\nsum(inv([[x, 1], [1, 1]]))", 1.0),
    ("input x = 3\nA = inv([[x, 1], [1, 1]])\nx^2", 1.0),   # nobody reads A
    ("input x = 2\nn = int(x)\nx*2.0", math.nan),
]


@pytest.mark.parametrize(("text", "wrong"), ERRORS)
def test_errors_are_those_of_the_program(text: str, wrong: float) -> None:
    program = loads(text)
    prepared = Counted(program)
    for x in (1.5, 1.75):
        same(prepared({"x": x}), both(program, {"x": x}), 1e-13)
    assert prepared.asked == 1
    with pytest.raises(GradcliError) as expected:
        program.gradient(at={"x": wrong})
    with pytest.raises(GradcliError) as caught:
        prepared({"x": wrong})
    assert (caught.value.code, caught.value.message, caught.value.span) == (
        expected.value.code, expected.value.message, expected.value.span)
    same(prepared({"x": 1.25}), both(program, {"x": 1.25}), 1e-13)


def test_wrong_values_are_errors_at_each_call() -> None:
    prepared = Counted(loads("y = x^2\ny*z"))
    prepared({"x": 1.0, "z": 2.0})
    for at, code in (({"x": 1.0}, "E0203"), ({"x": 1.0, "z": 2.0, "w": 3.0}, "E0204"),
                     ({"x": None, "z": 1.0}, "E0306"), ({"x": 1.0, "z": 2.0, "y": 1.0}, "E0204")):
        for _ in range(3):
            with pytest.raises(GradcliError) as caught:
                prepared(at)
            assert caught.value.code == code
    for wrong in ([1.0, 2.0], 3.0):
        with pytest.raises(TypeError):
            prepared(wrong)  # type: ignore[arg-type]
    with pytest.raises(GradcliError, match="`slope`"):
        loads("x").prepare(what="slope")


# --- what is asked at each point ------------------------------------------------------------------

ASKED = {
    "a tape": "var x = 2\ntape t:\n    y = x^2\nz = t.gradient(y, x)\ny",
    "an assignment": "var w = 1\ny = w*x\nw.assign(x)\ny*w",
    "a custom gradient": "@custom_gradient\ndef f(t):\n    def grad(g):\n        return 2g*t\n"
                         "    return t^2\nf(x)",
    "NumPy": "y = np.sin(x)\nx*y",
    "a structure": "d = [[x, 2x], 3x]\nd",
}


@pytest.mark.parametrize("text", ASKED.values(), ids=ASKED)
def test_what_does_not_hold_elsewhere_is_asked(text: str) -> None:
    program = loads(text)
    prepared = Counted(program, "x")
    for x in (1.5, 2.5, -0.5):
        same(prepared({"x": x}), both(program, {"x": x}, "x"))
    assert (prepared.asked, prepared.ways) == (3, 0)


RUN_AGAIN = {
    "derivatives in the file": "y = x^3\ngrad(y, x)*f'(x)\nf(t) = sin(t)*t",
    "an accumulator": "v = [x, x^2]\njvp(sum(v^2), x, 2.0)",
    "random numbers": "sum(normal(3, seed=2)*x)",
    "a Hessian in the file": "y = x^4*sin(x)\nhessian(y, x)*x",
    "whole numbers": "n = int(3*x/x)\nfloat(n//2) + x",
    "a list": "[x, x^2, 3]",
    "a loop": "input x = 1\ns = x\nfor k in range(50):\n    s = s + sin(s)/(1 + s^2)\ns",
}


@pytest.mark.parametrize("text", RUN_AGAIN.values(), ids=RUN_AGAIN)
def test_what_holds_elsewhere_is_run_again(text: str) -> None:
    lines = text.split("\n")
    program = loads("\n".join([*(t for t in lines if "(t) =" in t),
                               *(t for t in lines if "(t) =" not in t)]))
    prepared = Counted(program, "x")
    for x in (1.5, 2.5, 0.5):
        same(prepared({"x": x}), both(program, {"x": x}, "x"), 1e-13)
    assert prepared.asked == prepared.ways == 1


def test_answers_belong_to_the_caller() -> None:
    prepared = Counted(loads("input A = [[1, 2], [3, 4]]\ny = A @ v\ny"), "A,v")
    at = {"v": np.array([1.0, 2.0])}
    prepared(at)
    first = prepared(at)
    kept = [a.copy() for a in (first[0], *first[1].values())]
    at["v"] *= 3.0
    second = prepared(at)
    for a, b in zip((first[0], *first[1].values()), kept, strict=True):
        np.testing.assert_array_equal(a, b)
        a += 1.0
    np.testing.assert_array_equal(second[0], [15.0, 33.0])
    same(prepared(at), second)


def test_the_first_points_are_asked() -> None:
    numbers = loads("x^2").prepare()
    arrays = loads("sum(x^2)").prepare()
    for _ in range(asking.PATIENCE - 1):
        numbers({"x": 2.0})
    assert [known.paths for known in numbers._known.values()] == [[]]
    numbers({"x": 2.0})
    assert [len(known.paths) for known in numbers._known.values()] == [1]
    for _ in range(asking.PATIENCE_OF_ARRAYS):
        arrays({"x": [1.0, 2.0]})
    assert [len(known.paths) for known in arrays._known.values()] == [1]


# --- size -----------------------------------------------------------------------------------------


def chain(n: int) -> str:
    """n operations on a few names, none of which the answer could do without."""
    lines = ["a = sin(x)", "b = x*y"]
    for k in range((n - 2)//5):
        lines.append(f"a = a*0.5 + sin(b) - {k % 7}*y" if k % 2 else "b = cos(a)*b/(1.5 + b*b)")
    return "\n".join([*lines, "a + b"])


@pytest.mark.parametrize("n", [100, 1_000, 3_000])
def test_long_programs_to_the_last_bit(n: int) -> None:
    program = loads(chain(n))
    prepared = Counted(program)
    for at in ({"x": 0.5, "y": 0.25}, {"x": 0.75, "y": -0.5}, {"x": -1.5, "y": 2.0}
               )[:2 if n > 1_000 else 3]:
        same(prepared(at), both(program, at))
    assert prepared.asked == 1


def test_a_deep_expression_is_cut_into_statements() -> None:
    program = loads("x" + " + sin(x"*150 + ")"*150 + " + y"*3000)
    prepared = Counted(program)
    for x in (0.5, 0.75):
        same(prepared({"x": x, "y": 2.0}), both(program, {"x": x, "y": 2.0}))
    assert prepared.asked == 1


def test_expressions_of_any_length_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    program = loads(chain(300))
    at = {"x": 0.5, "y": 0.25}
    want = both(program, at)
    for nested in (1, 2, 20):
        monkeypatch.setattr(writing, "NESTED", nested)
        prepared = Counted(program)
        prepared(at)
        same(prepared(at), want)
        assert prepared.asked == 1


UNDERFLOWS = [
    "exp(-x)", "-exp(-x)", "exp(-x)*1e30", "x^2/exp(x^2)", "tanh(x)", "cos(exp(-x))", "sech(x)^2",
    "exp(-x^2)*exp(x^2/2)", "exp(x)*exp(-2x)", "softplus(-x)", "1/(1+exp(x))", "x^-9*exp(-x)"]


@pytest.mark.parametrize("text", UNDERFLOWS)
@pytest.mark.parametrize("what", ["gradient", "hessian"])
def test_derivatives_that_left_the_range_are_those_of_the_program(text: str, what: str) -> None:
    """As where what is next to nothing meets what is large: 0 is found again in a wider range."""
    program = loads(text)
    prepared = Counted(program, what=what)
    prepared({"x": 1.0})
    prepared({"x": 2.0})
    assert prepared.asked == 1
    for x in (20.0, 28.0, 30.0, 38.0, 200.0, 400.0, 750.0, 1e5):
        expected = getattr(program, what)(at={"x": x})
        _, found = prepared({"x": x})
        a, b = (d["x"] if what == "gradient" else d["x"]["x"] for d in (expected, found))
        if a == a or b == b:
            assert math.isclose(a, b, rel_tol=1e-12), x
            assert math.copysign(1.0, a) == math.copysign(1.0, b), x
