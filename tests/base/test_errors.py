"""Every code of an error and the error of Python's own that it is as well."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
from folders import ROOT

import gradcli
from gradcli import GradcliError, GradientTape, Variable, constant, ops
from gradcli.base.errors import BUILTINS, Diagnostic, Source, builtins_of, error
from gradcli.ops import TABLE

CODES = sorted({
    code for file in (ROOT / "gradcli").rglob("*.py") if file.name != "errors.py"
    for code in re.findall(r"\bE0\d{3}\b", file.read_text(encoding="utf-8"))})


def test_the_table_is_whole() -> None:
    listed = " ".join(codes for _, codes in BUILTINS).split()
    assert sorted(listed) == CODES


@pytest.mark.parametrize("code", CODES)
def test_an_error_is_one_of_pythons_own_as_well(code: str) -> None:
    source = Source("y = 2*sinn(x)", "f.txt")
    made = GradcliError(Diagnostic(code, "message", span=(6, 10), source=source, help="help"))
    builtins = builtins_of(code)
    assert builtins
    for again in (made, copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert isinstance(again, GradcliError)
        assert all(isinstance(again, builtin) for builtin in builtins)
        assert (again.code, again.message, again.span, again.help) == (
            code, "message", (6, 10), "help")
        assert (str(again), repr(again)) == (
            f"f.txt:1:7: error[{code}]: message", "GradcliError('message')")
        assert (type(again).__name__, type(again).__module__) == ("GradcliError", "gradcli")
    for other in {ValueError, TypeError, LookupError, RuntimeError} - set(builtins):
        assert isinstance(made, other) == any(issubclass(b, other) for b in builtins)


def test_an_unknown_code_is_no_error_of_pythons_own() -> None:
    assert type(error("E9999", "message")) is GradcliError


def test_the_table_of_the_page() -> None:
    """Of the codes that Python code can meet: the rest is ValueError, or RuntimeError."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w*Error`(?:, `\w*Error`)*) \| (E0.*?) \|", page, re.M)
    told = {}
    for classes, codes in rows:
        for first, last in re.findall(r"(E0\d+)(?: to (E0\d+))?", codes):
            for code in CODES[CODES.index(first):CODES.index(last or first) + 1]:
                told[code] = re.findall(r"\w+Error", classes)
    for code in CODES:
        names = [b.__name__ for b in builtins_of(code)]
        assert names == told.get(code, ["ValueError"]) or (
            code >= "E06" and names == ["RuntimeError"] and code not in told)


def _twice() -> None:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    tape.gradient(y, x)


def _reentered() -> None:
    with GradientTape() as tape, tape:
        pass


def _watched() -> None:
    with GradientTape() as tape:
        tape.watch(3.0)


def _asked(target: Any = None, source: Any = None, **options: Any) -> None:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = x * x
    tape.gradient(y if target is None else target, x if source is None else source, **options)


def _custom(function: Callable[..., Any]) -> None:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = gradcli.custom_gradient(function)(x)
    tape.gradient(y, x)


def _registered_twice() -> None:
    gradcli.register_gradient("sin")(lambda *_: None)


W = Variable(3.0)

# What TensorFlow 2.21 raised where the same was written with its names; where that is an
# InvalidArgumentError, which is none of Python's own, the case is left out.
TENSORFLOW: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "a second question": (RuntimeError, _twice),
    "a tape never entered": (RuntimeError, lambda: GradientTape().gradient(constant(1.0), W)),
    "a tape entered twice": (ValueError, _reentered),
    "reset outside": (ValueError, lambda: GradientTape().reset()),
    "stop_recording outside": (
        RuntimeError, lambda: GradientTape().stop_recording().__enter__()),
    "watch of a number": (ValueError, _watched),
    "unconnected_gradients": (ValueError, lambda: _asked(unconnected_gradients="zeros")),
    "a gradient twice": (KeyError, _registered_twice),
    "the name of an operation": (
        TypeError, lambda: gradcli.register_gradient(3)),  # type: ignore[arg-type]
    "rows of several lengths": (ValueError, lambda: constant([[1.0, 2.0], [3.0]])),
    "None": (ValueError, lambda: constant(None)),
    "assign of a shape": (ValueError, lambda: Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0])),
    "assign of a type": (ValueError, lambda: W.assign(constant(1.0, dtype="float32"))),
    "an item assigned": (TypeError, lambda: _set(constant([1.0]))),
    "an index that is a fraction": (TypeError, lambda: constant([1.0])[1.5]),
    "a condition of two": (ValueError, lambda: bool(constant([1.0, 2.0]) > 0)),
    "one number looped over": (TypeError, lambda: list(constant(1.0))),
    "the length of a number": (TypeError, lambda: len(constant(1.0))),
    "int of NaN": (ValueError, lambda: int(constant(float("nan")))),
    "a type that is none": (TypeError, lambda: ops.cast(constant(1.0), "float23")),
    "a text as a number": (TypeError, lambda: constant("a", dtype="float32")),
    "an unknown option": (TypeError, lambda: ops.reduce_sum(constant([1.0]), ax=1)),
    "no arguments": (TypeError, lambda: ops.sin()),
    "too many arguments": (TypeError, lambda: ops.sin(1.0, 2.0, 3.0)),
    "gradients of a custom function": (
        ValueError, lambda: _custom(lambda x: (x * 1.0, lambda d: (d, d)))),
    "a custom function without a rule": (TypeError, lambda: _custom(lambda x: x * 1.0)),
    "a custom function of a variable": (
        TypeError, lambda: _custom(lambda x: (x * W, lambda d: d))),
    "a tangent's type": (ValueError, lambda: gradcli.ForwardAccumulator(
        W, constant(1.0, dtype="float32"))),
    "a primal twice": (ValueError, lambda: gradcli.ForwardAccumulator(
        [W, W], [constant(1.0), constant(1.0)])),
    "more values than names": (ValueError, lambda: _unpacked(constant([1.0, 2.0, 3.0]))),
}


def _set(values: Any) -> None:
    values[0] = 3.0


def _unpacked(values: Any) -> None:
    _, _ = values


@pytest.mark.parametrize("case", TENSORFLOW)
def test_what_tensorflow_raises(case: str) -> None:
    builtin, run = TENSORFLOW[case]
    with pytest.raises(builtin):
        run()


@pytest.mark.parametrize("text", [
    "y = [1, 2][5]", "y = sum([1, 2], axis=7)", "y = reshape([1, 2, 3], [2, 2])",
    "a = float32(1); b = 2.0; y = a + b", "y = one_hot([1], 3.5)", "y = cast(1.5, \"int99\")",
    "y = gather([1, 2], 9)", "y = zeros([3], \"float23\")", "y = full([2], [1, 2, 3])"])
def test_an_error_below_others_is_not_taken_for_one_of_pythons_own(text: str) -> None:
    """A handler of ValueError for what Python or NumPy refuse lets errors of gradcli pass."""
    with pytest.raises(GradcliError) as caught:
        gradcli.loads(text).value()
    assert caught.value.__cause__ is None
    assert not isinstance(caught.value.__context__, GradcliError)


def test_functions_on_numbers_raise_only_errors_of_pythons_own() -> None:
    """The sweeps rely on it: where Python's arithmetic raises, they ask NumPy."""
    numbers = (0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e308, float("inf"), float("nan"))
    for op in TABLE.values():
        count = len(op.parameters)
        of_values = [(f, count, kind) for f, kind in ((op.floats, float), (op.integers, int)) if f]
        of_slopes = [(rule, count + 1, float) for rule in op.rules
                     if callable(rule)] if op.elementwise else []
        for function, n, kind in of_values + of_slopes:
            given = numbers if kind is float else (0, 1, -1, 2, 2**62)
            for values in itertools.islice(itertools.product(given, repeat=n), 800):
                assert not isinstance(_raised(function, values), GradcliError), (op.name, values)


def _raised(function: Callable[..., Any], values: tuple[Any, ...]) -> Exception | None:
    try:
        function(*values)
    except Exception as problem:
        return problem
    return None
