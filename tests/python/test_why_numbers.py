"""Why a gradient of Python code is NaN, infinite or 0 everywhere: `GradientTape.why`."""

from __future__ import annotations

import contextlib
import json
import linecache
import re
from typing import Any
from unittest import mock

import numpy as np
import pytest
from conftest import folded
from folders import DATA

import gradcli
import gradcli.tf as tf
from gradcli import GradientTape, Variable, constant, ops
from gradcli.engine.record.tensor import flatten
from gradcli.engine.tapes import tape as tapes

# Name: a program that asks tape.why(y, x) once x and y are there; what the gradient is; code, line
# and column of each cause; a part of the message; the fix or its beginning.
PROGRAMS: dict[str, tuple[str, str, list[tuple[str, int, int]], str, str | None]] = {
    # --- NaN ----------------------------------------------------------------------------------
    "dead_branch": ("""
x = Variable([-1.0, 4.0])
with GradientTape() as tape:
    y = ops.sum(ops.where(x > 0, x**0.5, 0.0*x))
""", "finite", [], "", None),
    "dead_branch_tf": ("""
x = Variable([0.0, 4.0])
with GradientTape(tensorflow_semantics=True) as tape:
    y = ops.sum(ops.where(x > 0, x**0.5, 0.0*x))
""", "NaN", [("nan-dead-branch", 4, 34)], "takes the other value",
        "write `ops.where(x > 0, ops.where(x > 0, x, 1)**0.5, 0.0*x)` for"),
    "norm_at_0": ("""
x = Variable([0.0, 0.0])
with GradientTape() as tape:
    d = ops.sum(x*x)
    y = ops.sqrt(d)
""", "NaN", [("nan-infinite-slope", 5, 9)], "`sqrt` of 0 has an infinite slope",
        "write `ops.sqrt(d + 1e-12)` for `ops.sqrt(d)`"),
    "log_of_exp": ("""
x = Variable(800.0)
with GradientTape() as tape:
    z = ops.exp(x)
    y = ops.log(1 + z)
""", "NaN", [("nan-overflow", 4, 9)], "`exp` of 800 is too large for a float",
        "write `ops.softplus(x)` for `ops.log(1 + z)` in line 5"),
    "softmax_by_hand": ("""
def softmax(v):
    e = np.exp(v)
    return e/np.sum(e)
x = Variable([1000.0, 1.0])
with GradientTape() as tape:
    y = -np.log(softmax(x)[0])
""", "NaN", [("nan-overflow", 3, 9)], "`exp` of 1000 at element [0] is too large", None),
    "entropy": ("""
x = Variable([0.0, 1.0])
with GradientTape() as tape:
    y = -ops.sum(x*ops.log(x))
""", "NaN", [("nan-zero-times-inf", 4, 20)], "0 times inf is not a number", None),
    "zero_by_zero": ("""
x = Variable([0.0, 2.0])
def scaled(v, eps=0.0):
    return v/(ops.abs(v) + eps)
with GradientTape() as tape:
    y = ops.sum(scaled(x))
""", "NaN", [("nan-indeterminate", 4, 12)], "is not a number",
        "if 0 is meant there, write `ops.divide_no_nan(v, ops.abs(v) + eps)` for"),
    "log_of_a_negative": ("""
x = Variable([0.5, -2.0])
with GradientTape() as tape:
    h = ops.log(x)*3.0
    y = ops.sum(h)
""", "finite", [("nan-domain", 4, 9)], "`log` of -2 at element [1] is not a number", "guard it: "),
    "data": ("""
data = constant([1.0, np.nan])
x = Variable([1.0, 2.0])
with GradientTape() as tape:
    y = ops.sum(x*data)
""", "NaN", [("nan-spread", 2, 1)], "`data` is NaN at element [1]", "give `data` finite values"),
    "long_data": ("""
data = constant(np.where(np.arange(200) == 7, np.inf, 1.0))
x = Variable(np.ones(200))
with GradientTape() as tape:
    h = x + data
    y = ops.sum(h*1.0)
""", "finite", [("nan-spread", 2, 1)], "`data` is inf at element [7]", "give `data` finite values"),
    "long_values_are_found_again": ("""
x = Variable(np.linspace(-1.0, 1.0, 200))
with GradientTape() as tape:
    h = ops.log(x + 2.0) + 1.0
    z = ops.sqrt(h - 1.0)
    y = ops.sum(z)
""", "infinite", [("nan-infinite-slope", 5, 9)], "`sqrt` of 0 at element [0] has an infinite slope",
        "for a finite slope, of another function, write `ops.sqrt(h - 1.0 + 1e-12)` for"),
    "infinite_slope": ("""
x = Variable(0.0)
with GradientTape() as tape:
    y = ops.sqrt(x)
""", "infinite", [("nan-infinite-slope", 4, 9)], "inf is right", None),
    "float32": ("""
x = Variable(np.float32(100.0))
with GradientTape() as tape:
    y = ops.log(1.0 + ops.exp(x))
""", "NaN", [("nan-overflow", 4, 23)], "`exp` of 100 is too large for a float",
        "write `ops.softplus(x)` for"),
    "in_a_loop": ("""
x = Variable(3.0)
with GradientTape() as tape:
    y = x
    for _ in range(12):
        y = y*y
""", "infinite", [("nan-overflow", 6, 13)], "too large for a float", "scale the operands"),
    "persistent": ("""
x = Variable(0.0)
with GradientTape(persistent=True) as tape:
    y = ops.sqrt(x*x)*2.0
tape.gradient(x, x)
""", "NaN", [("nan-infinite-slope", 4, 9)], "has an infinite slope", "write `ops.abs(x)` for"),
    # --- 0 ------------------------------------------------------------------------------------
    "dead_relu": ("""
x = Variable([-1.0, -2.0])
with GradientTape() as tape:
    h = ops.relu(x)
    y = ops.sum(h*h)
""", "0", [("zero-dead", 4, 9)], "`relu` is off in 2 of 2 elements (-1 in element [0])", None),
    "flat": ("""
x = Variable(2.5)
with GradientTape() as tape:
    y = ops.sign(x)*4.0
""", "0", [("zero-flat", 4, 9)], "`sign` is flat: its slope is 0 everywhere", None),
    "saturated": ("""
x = Variable([3000.0, -4000.0])
with GradientTape() as tape:
    h = ops.tanh(x*10.0)
    y = ops.sum(h)
""", "0", [("zero-dead", 4, 9)], "`tanh` is saturated in 2 of 2 elements", None),
    "cancelled": ("""
x = Variable(3.0)
with GradientTape() as tape:
    a = x*2.0
    y = a - x - x
""", "0", [("zero-cancelled", 5, 9)], "the parts of the gradient cancel: ", None),
    "clipped": ("""
x = Variable(3.0)
with GradientTape() as tape:
    y = ops.clip(x, 0.0, 1.0)**2
""", "0", [("zero-dead", 4, 9)], "`clip` cuts 3 off at 1", None),
    "masked": ("""
mask = constant([0.0, 0.0])
x = Variable([1.0, 2.0])
with GradientTape() as tape:
    y = ops.sum(x*mask)
""", "0", [("zero-dead", 5, 17)], "the factor `mask` in `x*mask` is exactly 0", None),
    "at_a_kink": ("""
x = Variable(0.0)
with GradientTape() as tape:
    y = ops.abs(x)
""", "0", [("kink", 4, 9)], "`abs` is at a kink", None),
    # --- nothing is wrong -----------------------------------------------------------------------
    "healthy": ("""
x = Variable([1.0, 2.0])
with GradientTape(persistent=True) as tape:
    y = ops.sum(ops.log(x))
""", "finite", [], "", None),
    "minimum": ("""
x = Variable(0.0)
with GradientTape() as tape:
    y = x*x
""", "0", [], "", None),
    "zero_in_part": ("""
x = Variable([-1.0, 2.0])
with GradientTape(persistent=True) as tape:
    y = ops.sum(ops.relu(x))
""", "finite", [], "", None),
    "double_where": ("""
x = Variable([0.0, 4.0])
with GradientTape(persistent=True, tensorflow_semantics=True) as tape:
    safe = ops.where(x > 0, x, 1.0)
    y = ops.sum(ops.where(x > 0, ops.sqrt(safe), 0.0*x))
""", "finite", [], "", None),
}


def run(text: str, name: str) -> dict[str, Any]:
    """The names that a program leaves, with its gradient `g`."""
    text = f"{text}g = tape.gradient(y, x)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"GradientTape": GradientTape, "Variable": Variable, "constant": constant,
             "gradcli": gradcli, "ops": ops, "np": np}
    exec(compile(text, name, "exec"), scope)
    return scope


def reasons(scope: dict[str, Any]) -> list[Any]:
    return list(eval("tape.why(y, x)", scope)) if scope["tape"].past or (
        scope["tape"].persistent) else []


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    text, answer, expected, said, fix = PROGRAMS[name]
    scope = run(text, f"<{name}>")
    found = reasons(scope)
    assert [(r.code, r.line, r.column) for r in found] == expected, "\n".join(map(str, found))
    for reason in found:
        assert reason.answer == answer
        assert not reason.missing
        assert said in reason.message
        assert f" is {answer}: " in str(reason)
        if fix is not None:
            assert (reason.fix or "").startswith(fix)


REWRITTEN = [name for name, (*_, fix) in PROGRAMS.items() if fix and fix.startswith((
    "write `", "if 0 is meant"))]


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_rewrite_gives_the_slope(name: str) -> None:
    """As written into the program, it makes the gradient finite, and that of the original nearby:
    there by differences of the original's values.
    """
    text = PROGRAMS[name][0]
    reason, = reasons(run(text, f"<{name}>"))
    new, old = re.search("write `(.*)` for `(.*?)`", reason.fix).groups()  # type: ignore[union-attr]
    assert text.count(old) == 1
    changed = text.replace(old, new)
    assert np.isfinite(run(changed, f"<{name} changed>")["g"].numpy()).all()
    start = re.search(r"Variable\((.*)\)", text)
    assert start is not None
    at = "30.0" if "exp(" in text else f"{start[1]} + np.asarray(0.25)"

    def of(program: str, shift: float) -> dict[str, Any]:
        moved = program.replace(start[0], f"Variable(np.asarray({at} + {shift}))", 1)
        return run(moved, f"<{name} {shift}>")

    h = 1e-5
    slope = (of(text, h)["y"].numpy() - of(text, -h)["y"].numpy())/(2*h)
    assert np.sum(of(changed, 0.0)["g"].numpy()) == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_the_value_is_the_same_and_the_tape_lets_go_of_a_healthy_answer() -> None:
    x = Variable(np.ones(1000))
    with GradientTape() as tape:
        y = ops.sum(ops.log(x))
    tape.gradient(y, x)
    assert tape.stats()["bytes"] == 0
    assert tape.past is None
    with GradientTape() as tape:
        y = ops.sum(ops.log(x - 1.0))
    tape.gradient(y, x)
    assert tape.past is not None
    with tape:
        assert tape.past is None


def test_files_are_told_apart() -> None:
    helper = "def root(v):\n    return ops.sqrt(v)\n"
    linecache.cache["<helper.py>"] = (len(helper), None, helper.splitlines(keepends=True),
                                      "<helper.py>")
    inside: dict[str, Any] = {"ops": ops}
    exec(compile(helper, "<helper.py>", "exec"), inside)
    scope: dict[str, Any] = {
        "GradientTape": GradientTape, "Variable": Variable, "root": inside["root"]}
    text = "x = Variable(0.0)\nwith GradientTape() as tape:\n    y = root(x)*root(x*2.0)*x\n" \
        "    y = y/x\ng = tape.gradient(y, x)\nfound = tape.why(y, x)\n"
    linecache.cache["<main>"] = (len(text), None, text.splitlines(keepends=True), "<main>")
    exec(compile(text, "<main>", "exec"), scope)
    (reason,) = scope["found"]
    assert (reason.file, reason.line) == ("<main>", 4)
    assert "0/0" in reason.message


# In TensorFlow's names and types: program, code, the fix.
IN_TENSORFLOW = {
    "where": ("""
x = tf.Variable([0.0, 1.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.where(x > 0, tf.math.log(x), tf.zeros_like(x)))
""", "nan-dead-branch", "write `tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1)),"
        " tf.zeros_like(x))` for `tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))`"),
    "softmax_by_hand": ("""
x = tf.Variable([[100.0, 2.0, 3.0]])
with tf.GradientTape() as tape:
    p = tf.exp(x)/tf.reduce_sum(tf.exp(x), axis=1, keepdims=True)
    y = -tf.reduce_sum(tf.constant([[0.0, 1.0, 0.0]])*tf.math.log(p))
""", "nan-overflow", "write `tf.nn.log_softmax(x, axis=-1)` for `tf.math.log(p)` in line 5"),
    "log_of_softmax": ("""
x = tf.Variable([1000.0, 1.0, 2.0])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(x)
    y = -tf.math.log(p[1])
""", "nan-underflow", "write `tf.nn.log_softmax(x)[1]` for `tf.math.log(p[1])` in line 5"),
    "one_row_of_a_sum": ("""
x = tf.Variable([[-1.0, -2.0], [-900.0, -800.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.math.log(tf.reduce_sum(tf.exp(x), axis=1)))
""", "nan-underflow", "write `tf.reduce_logsumexp(x, axis=-1)` for"
        " `tf.math.log(tf.reduce_sum(tf.exp(x), axis=1))`"),
    "rounded_sigmoid": ("""
x = tf.Variable(50.0)
with tf.GradientTape() as tape:
    p = tf.sigmoid(x)
    y = tf.math.log(1.0 - p)
""", "nan-pole", "guard it: write `tf.math.log_sigmoid(-x)` for `tf.math.log(1.0 - p)`"),
    "two_elements": ("""
x = tf.Variable([1.0, -1.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.atanh(x))
""", "nan-pole", "guard it: write `tf.atanh(tf.clip_by_value(x, -1 + 1e-7, 1 - 1e-7))` for"
        " `tf.atanh(x)`"),
    "training": ("""
x = tf.Variable(3.0)
for step in range(20):
    with tf.GradientTape() as tape:
        y = (x*x - 1.0)**2
    x.assign_sub(tape.gradient(y, x))
with tf.GradientTape() as tape:
    y = (x*x - 1.0)**2
""", "nan-spread", "ask the tape of the step before, whose gradient or size of step made it so"),
    "second_derivative": ("""
x = tf.Variable([0.0, 1.0])
with tf.GradientTape(persistent=True) as tape:
    with tf.GradientTape() as inner:
        first = tf.reduce_sum(x**1.5)
    y = inner.gradient(first, x)
""", "nan-infinite-slope", None),
}


@pytest.mark.parametrize("name", IN_TENSORFLOW)
def test_in_the_words_of_tensorflow(name: str) -> None:
    text, code, fix = IN_TENSORFLOW[name]
    text += "g = tape.gradient(y, x)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"tf": tf}
    exec(compile(text, name, "exec"), scope)
    reason, *_ = reasons(scope)
    assert reason.code == code, str(reason)
    if fix is None:
        assert "the slope of `x**1.5`" in reason.message
    else:
        assert reason.fix == fix


# Program, the text that the error points at, the message.
CHECKED = {
    "forwards": ("y = ops.sum(\n    ops.log(x - 1.0))\n", "ops.log(x - 1.0)",
                 "`log` of -1 made NaN"),
    "operator": ("y = x / (x*1.0)\n", "x / (x*1.0)", "`divide` of 0 and 0 made NaN"),
    "array": ("y = np.sqrt(constant([1.0, -1.0]))\n", "np.sqrt(constant([1.0, -1.0]))",
              "`sqrt` made NaN"),
    "backwards": ("with GradientTape() as tape:\n    y = ops.sqrt(x)*2.0\ntape.gradient(y, x)\n",
                  "ops.sqrt(x)", "the gradient of `sqrt` made infinity"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_check_numerics_has_file_and_line(name: str) -> None:
    text, at, message = CHECKED[name]
    file = f"<checked {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"GradientTape": GradientTape, "x": Variable(0.0), "ops": ops, "np": np,
             "constant": constant}
    gradcli.enable_check_numerics()
    try:
        with pytest.raises(gradcli.GradcliError) as caught:
            exec(compile(text, file, "exec"), scope)
    finally:
        gradcli.disable_check_numerics()
    error = caught.value
    assert (error.code, error.message) == ("E0404", message)
    assert error.source is not None
    assert error.span is not None
    assert error.source.text[slice(*error.span)] == at
    line = text[:text.index(at)].count("\n") + 1
    assert str(error).startswith(f"{file}:{line}:")


# --- recorded programs --------------------------------------------------------------------------

CASES = {case["id"]: case for name in ("tensorflow.json", "tensorflow_more.json")
         for case in json.loads((DATA / name).read_text())["cases"]}
# Those about NaN, infinity and 0, and others in which nothing is wrong.
ASKED = [id for id in CASES if re.match(
    r"nan_|none_or_zero|s002_(log|none|soft)|op1_(a|e|l|p|r|s)|op2_|op3_|python_max", id)]
# Some are 0 just at this point, which is right: x^2 at 0.
STATIONARY = {"op1_square", "op1_cos", "op1_cosh", "op1_pow_2", "op1_pow_3", "nan_zero_times_inf"}


@folded
@pytest.mark.parametrize("id", ASKED)
def test_what_is_told_fits_what_tensorflow_answered(id: str) -> None:
    """A reason for each gradient that is NaN, infinite or 0 everywhere, and none for the others;
    that the gradients are TensorFlow's is tested with the oracle.
    """
    case, wrong = CASES[id], []
    plain = tapes.GradientTape.gradient

    def gradient(self: Any, target: Any, sources: Any, weights: Any = None, *rest: Any) -> Any:
        found = plain(self, target, sources, weights, *rest)
        notable = [(s, g) for s, g in zip(flatten(sources), flatten(found), strict=True)
                   if g is not None and weights is None and not rest[:1] == ("zero",)]
        if isinstance(self, tf.GradientTape) and (self.persistent or self.past is not None):
            healthy = all(np.isfinite(t.numpy()).all() for t in flatten(target))
            for s, g in notable:
                codes = [r.code for r in self.why(target, s)]
                value = g.numpy()
                kind = "nan" if not (np.isfinite(value).all() and healthy) else (
                    "" if value.any() or value.size == 0 else "zero")
                fits = {"nan": ("nan-", "digits-"), "zero": ("zero-", "kink", "tie", "nan-",
                                                            "derivative-constant"), "": ()}[kind]
                if not all(code.startswith(fits) for code in codes) or (
                        bool(codes) != bool(kind) and not (
                            kind == "zero" and id in STATIONARY)):
                    wrong.append((kind, codes, value))
        return found

    name, code = f"<{id}>", case["tf_code"]
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)

    def catch(name: str, f: Any) -> None:
        with contextlib.suppress(Exception):
            f()

    with mock.patch.object(tapes.GradientTape, "gradient", gradient), contextlib.suppress(
            RuntimeError, ModuleNotFoundError):
        exec(compile(code, name, "exec"), {
            "tf": tf, "np": np, "inp": case["inputs"], "out": {}, "catch": catch, "D": tf.float64,
            "__name__": "case"})
    assert wrong == []
