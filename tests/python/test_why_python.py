"""Why a gradient of Python code is None: `GradientTape.why` and `ForwardAccumulator.why`."""

from __future__ import annotations

import gc
import json
import linecache
import weakref
from typing import Any

import numpy as np
import pytest
from asking import Asked, Names
from folders import DATA

import gradcli
import gradcli.tf as tf
from gradcli import ForwardAccumulator, GradcliError, GradientTape, Variable, constant, ops
from gradcli.engine.record import provenance
from gradcli.engine.record import record as records

CASES = {case["id"]: case for case in json.loads(
    (DATA / "tensorflow.json").read_text())["cases"]}
WHY = [(id, name) for id, case in CASES.items() for name in case.get("why_none") or {}]

# Where gradcli has a gradient, or nothing was asked.
EXCEPTIONS = {
    ("op1_ceil", "g2"): "the program asks for no second derivative where the first one is None",
    ("op1_rint", "g2"): "the program asks for no second derivative where the first one is None",
}


pytestmark = pytest.mark.usefixtures("fresh_trace")


# --- the oracle -------------------------------------------------------------------------------


class Outputs(dict[str, Any]):
    """The outputs of a program, each with the question that it answers."""

    def __init__(self, asked: list[Asked]) -> None:
        super().__init__()
        self.asked = asked
        self.reasons: dict[str, list[Any]] = {}

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        for question in reversed(self.asked):
            if question.answer is value:
                self.reasons |= {
                    f"{name}{path}": found for path, found in question.reasons.items()}
                self.asked.clear()
                return
        if isinstance(value, list) and len(value) == len(self.asked) and all(
                item is question.answer for item, question in zip(value, self.asked, strict=True)):
            for k, question in enumerate(self.asked):
                self.reasons |= {
                    f"{name}[{k}]{path}": found for path, found in question.reasons.items()}
            self.asked.clear()


def run(id: str, tensorflow_semantics: bool) -> Outputs:
    case = CASES[id]
    name = f"<{id}>"
    code = case["tf_code"]
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    names = Names(tensorflow_semantics)
    out = Outputs(names.asked)

    def catch(name: str, f: Any) -> None:
        try:
            out[name] = f()
        except Exception:
            names.asked.clear()

    exec(compile(code, name, "exec"), {
        "tf": names, "np": np, "inp": case["inputs"], "out": out, "catch": catch,
        "D": tf.float64, "__name__": "case"})
    return out


@pytest.mark.parametrize(("id", "name"), [pair for pair in WHY if pair not in EXCEPTIONS])
def test_as_the_oracle_says(id: str, name: str) -> None:
    found = run(id, True).reasons.get(name)
    assert found, f"no reasons: {found}"
    assert found[0].code == CASES[id]["why_none"][name], "\n".join(map(str, found))


CONSTANT = [pair for pair in WHY if CASES[pair[0]]["why_none"][pair[1]] == "derivative-constant"]


@pytest.mark.parametrize(("id", "name"), CONSTANT)
def test_the_0_that_stands_for_a_none_is_explained_too(id: str, name: str) -> None:
    found = run(id, False).reasons[name]
    assert [r.code for r in found] == ["derivative-constant"]
    assert " is 0: " in str(found[0])


# --- programs ---------------------------------------------------------------------------------

# Name: a program that asks for `found`, and the code, line and column of each reason.
PROGRAMS: dict[str, tuple[str, list[tuple[str, int, int]]]] = {
    "exit_float": ("""
x = Variable(3.0)
with GradientTape() as tape:
    y = x * 2.0
    z = float(y)
    w = ops.sin(constant(z))
found = tape.why(w, x)
""", [("path-left-engine", 4, 9)]),
    "exit_numpy_call": ("""
x = Variable([1.0, 2.0])
with GradientTape() as tape:
    a = (x * x).numpy()
    b = a + 1.0
    y = ops.sum(b * Variable(2.0))
found = tape.why(y, x)
""", [("path-left-engine", 3, 9)]),
    "exit_in_function": ("""
def length(v):
    return np.sqrt(np.sum(v.numpy() ** 2))
x = Variable([3.0, 4.0])
k = Variable(2.0)
with GradientTape() as tape:
    y = k * length(x)
found = tape.why(y, x)
""", [("path-left-engine", 2, 27)]),
    "exit_in_place": ("""
x = Variable(2.0)
with GradientTape() as tape:
    y = constant(2.0) * x.numpy()
found = tape.why(y, x)
""", [("path-left-engine", 3, 25)]),
    "exit_only_printed": ("""
x = Variable(2.0)
k = Variable(5.0)
with GradientTape() as tape:
    shown = f"{float(x):.2f}"
    y = k * 3.0
found = tape.why(y, x)
""", [("source-unrelated", 1, 5)]),
    "exit_list": ("""
x = Variable(2.0)
with GradientTape() as tape:
    parts = []
    for n in range(3):
        parts.append(float(x * n))
    y = ops.sum(constant(parts))
found = tape.why(y, x)
""", [("path-left-engine", 5, 22)]),
    "exit_assigned": ("""
x = Variable(2.0)
v = Variable(0.0)
with GradientTape() as tape:
    v.assign(float(x) * 2)
    y = v * v
found = tape.why(y, x)
""", [("path-left-engine", 4, 14)]),
    "exit_property": ("""
class Weight:
    def __init__(self):
        self.value = Variable(2.0)
    @property
    def data(self):
        return self.value.numpy()
p = Weight()
with GradientTape() as tape:
    y = constant(3.0) * p.data
found = tape.why(y, p.value)
""", [("path-left-engine", 6, 16)]),
    "exit_loop": ("""
n = Variable(3.0)
w = Variable(1.0)
with GradientTape() as tape:
    y = w * 1.0
    for k in range(int(n)):
        y = y * k
found = tape.why(y, n)
""", [("path-left-engine", 5, 20)]),
    "exit_walrus": ("""
x = Variable(3.0)
w = Variable(1.0)
with GradientTape() as tape:
    if (k := float(x)) > 1.0:
        y = w * k
found = tape.why(y, x)
""", [("path-left-engine", 4, 14)]),
    "custom_none_before_the_question": ("""
@gradcli.custom_gradient
def f(x):
    return x * 2.0, lambda g: None
x = Variable(1.0)
with GradientTape() as tape:
    y = f(x)
found = tape.why(y, x)
""", [("path-custom-none", 3, 1)]),
    "custom_rule_that_fails": ("""
@gradcli.custom_gradient
def f(x):
    return x * 2.0, lambda g: 1/0
x, k = Variable(1.0), Variable(2.0)
with GradientTape() as tape:
    y = f(x)
found = tape.why(y, k)
""", [("source-unrelated", 4, 23)]),
    "a_derivative_of_a_tape_that_let_go": ("""
w = Variable(0.5)
x = constant(0.1)
with GradientTape() as outer:
    pass
with GradientTape() as inner:
    inner.watch(x)
    out = ops.sin(w * x)
slope = inner.gradient(out, x)
with outer:
    loss = slope * slope
found = outer.why(loss, w)
""", [("path-gradient-not-recorded", 8, 9), ("path-outside-tape", 7, 11)]),
    "unicode": ("""
größe = Variable(2.0)
with GradientTape() as tape:
    äöü = größe * 2.0; ergebnis = ops.floor(äöü) + ops.ceil(äöü)
found = tape.why(ergebnis, größe)
""", [("path-step-function", 3, 52), ("path-step-function", 3, 35)]),
    "in_function": ("""
def f(v):
    r = ops.round(
        v * 2.0)
    return r * 3.0
x = Variable(1.2)
with GradientTape() as tape:
    y = f(x)
found = tape.why(y, x)
""", [("path-step-function", 2, 9)]),
    "rebound": ("""
x = Variable(1.0)
with GradientTape() as tape:
    y = x * x
x = Variable(2.0)
found = tape.why(y, x)
""", [("source-rebound", 4, 1)]),
    "rebound_loop": ("""
w = Variable(1.0)
for step in range(3):
    with GradientTape() as tape:
        loss = w * w
    g = tape.gradient(loss, w)
    if g is None:
        found = tape.why(loss, w)
        break
    w = w - 0.1 * g
""", [("source-rebound", 9, 5)]),
    "other_function_same_name": ("""
def g(x):
    x = ops.exp(x)
    return x
v = Variable(1.0)
x = Variable(2.0)
with GradientTape() as tape:
    y = g(v)
found = tape.why(y, x)
""", [("source-shadowed", 1, 7)]),
    "not_watched_on_this": ("""
x = constant(1.0)
with GradientTape() as a, GradientTape() as b:
    a.watch(x)
    y = x * x
found = b.why(y, x)
""", [("source-not-watched-on-this-tape", 3, 5)]),
    "watched_late": ("""
x = constant(2.0)
with GradientTape() as tape:
    y = x * x
    tape.watch(x)
found = tape.why(y, x)
""", [("source-watched-late", 3, 9)]),
    "watch_reset": ("""
x = constant(2.0)
with GradientTape() as tape:
    tape.watch(x)
    tape.reset()
    y = x * x
found = tape.why(y, x)
""", [("source-watch-reset", 4, 5)]),
    "copy": ("""
v = Variable([1.0, 2.0])
first = v[0]
with GradientTape() as tape:
    y = ops.sum(v * v)
found = tape.why(y, first)
""", [("source-is-copy", 2, 9)]),
    "after": ("""
x = Variable(1.0)
with GradientTape() as tape:
    y = x * x
late = Variable(1.0)
found = tape.why(y, late)
""", [("source-after-target", 4, 8)]),
    "downstream": ("""
x = Variable(1.0)
with GradientTape(persistent=True) as tape:
    y = x * x
    z = y * 2.0
found = tape.why(x, z)
""", [("source-downstream", 5, 9)]),
    "consumed": ("""
x = Variable(2.0)
tape = GradientTape()
with tape:
    y = x * x
tape.gradient(y, x)
with tape:
    z = x * 3.0
found = tape.why(y, x)
""", [("target-consumed", 5, 1)]),
    "empty": ("""
x = Variable(2.0)
with GradientTape() as tape:
    y = x * x
found = tape.why([], x)
""", [("target-empty", 4, 9)]),
    "constant_target": ("""
x = Variable(2.0)
with GradientTape() as tape:
    y = constant(3.0)
    tape.watch(y)
found = tape.why(y, x)
""", [("target-constant", 3, 9)]),
    "shadow": ("""
scale = Variable(2.0)
def area(r, scale):
    return r * r * scale
r = Variable(1.0)
with GradientTape() as tape:
    y = area(r, 3.0)
found = tape.why(y, scale)
""", [("source-shadowed", 2, 13)]),
    "while_zero": ("""
x = Variable(2.0)
n = constant(0.0)
with GradientTape() as tape:
    y = Variable(1.0) * 2.0
    while n > 0.5:
        y = y * x
        n = n - 1.0
found = tape.why(y, x)
""", [("source-in-dead-code", 5, 11)]),
    "ifexp": ("""
x = Variable(2.0)
a = Variable(1.0); b = Variable(1.0)
with GradientTape() as tape:
    y = a * 2.0 if x > 5.0 else b * 3.0
found = tape.why(y, a) + tape.why(y, x)
""", [("source-untaken-branch", 4, 20), ("source-condition-only", 4, 20)]),
    "early_return": ("""
a = Variable(1.0)
b = Variable(1.0)
def f(x):
    if x > 0.0:
        return a * x
    return b * x
with GradientTape() as tape:
    y = f(constant(2.0))
found = tape.why(y, b)
""", [("source-untaken-branch", 4, 8)]),
    "method": ("""
class Model(gradcli.Module):
    def __init__(self):
        self.w = Variable(1.0)
        self.u = Variable(2.0)
    def __call__(self, x):
        if x > 0.0 and not x > 10.0:
            out = self.w * x
        else:
            out = self.u * x
        return out
model = Model()
with GradientTape() as tape:
    y = model(constant(1.0))
found = tape.why(y, model.u)
""", [("source-untaken-branch", 6, 12)]),
    "not_picked_key": ("""
a = Variable(1.0)
b = Variable(-4.0)
with GradientTape() as tape:
    y = max(a, b, key=lambda v: v * v) * 2.0
found = tape.why(y, a)
""", [("source-not-picked", 4, 9)]),
    "sorted": ("""
a = Variable(1.0)
b = Variable(4.0)
with GradientTape() as tape:
    y = sorted([a, b])[0] * 2.0
found = tape.why(y, b)
""", [("source-not-picked", 4, 9)]),
    "state": ("""
a = Variable(1.0)
b = Variable(4.0)
with GradientTape() as tape:
    b.assign(a * 2.0)
    y = b * b
found = tape.why(y, a)
""", [("path-state-write", 4, 5)]),
    "declared_from": ("""
a = Variable(1.0)
with GradientTape() as tape:
    b = Variable(a * 2.0)
    y = b * b
found = tape.why(y, a)
""", [("path-state-write", 3, 9)]),
    "zeros_like": ("""
x = Variable([1.0, 2.0])
with GradientTape() as tape:
    y = ops.sum(ops.zeros_like(x))
found = tape.why(y, x)
""", [("path-value-independent", 3, 17)]),
    "argmax": ("""
x = Variable([1.0, 2.0])
with GradientTape() as tape:
    y = ops.cast(ops.argmax(x), "float64") * 2.0
found = tape.why(y, x)
""", [("path-nondifferentiable", 3, 18)]),
    "two_cuts": ("""
x = Variable(2.0)
with GradientTape() as tape:
    a = ops.floor(x)
    b = ops.stop_gradient(x)
    y = a + b
found = tape.why(y, x)
""", [("path-stop-gradient", 4, 9), ("path-step-function", 3, 9)]),
    "second_outside": ("""
x = Variable(2.0)
with GradientTape() as outer:
    with GradientTape() as inner:
        y = x ** 3
g = inner.gradient(y, x)
found = outer.why(g, x)
""", [("path-gradient-not-recorded", 5, 5)]),
    "second_const": ("""
x = Variable(2.0)
with GradientTape() as outer:
    with GradientTape() as inner:
        y = 3.0 * x
    g = inner.gradient(y, x)
found = outer.why(g, x)
""", [("derivative-constant", 4, 13)]),
    "wrong_order": ("""
x = constant(2.0)
v = constant(1.0)
with ForwardAccumulator(x, v) as outer:
    with ForwardAccumulator(x, v) as inner:
        y = x ** 3
found = inner.why(outer.jvp(y))
""", [("forward-wrong-order", 6, 9)]),
    "right": ("""
x = Variable(2.0)
with GradientTape() as tape:
    y = x * x
found = tape.why(y, x)
""", []),
    "nontrainable": ("""
x = Variable(2.0, trainable=False)
with GradientTape() as tape:
    y = x * x
found = tape.why(y, x)
""", [("source-nontrainable", 1, 19)]),
    "int_variable": ("""
n = Variable(2)
with GradientTape() as tape:
    y = n * n
found = tape.why(y, n)
""", [("source-dtype", 1, 5), ("target-dtype", 3, 9)]),
    "dict_sources": ("""
params = {"w": Variable(1.0), "b": Variable(0.0)}
with GradientTape() as tape:
    y = params["w"] * 2.0
found = tape.why(y, params["b"])
""", [("source-unrelated", 1, 36)]),
    "multi_line": ("""
x = Variable(1.0)
with GradientTape() as tape:
    y = (x * 2.0
         + ops.sign(x)) * 0.0
    y = ops.floor(
        x
        + 1.0)
found = tape.why(y, x)
""", [("path-step-function", 5, 9)]),
    "after_answer": ("""
x = Variable(1.0)
u = Variable(1.0)
with GradientTape() as tape:
    y = ops.floor(x) + u
g = tape.gradient(y, [x, u])
found = tape.why(y, x)
""", [("path-step-function", 4, 9)]),
    "thread_pause": ("""
x = Variable(1.0)
with GradientTape() as tape:
    with tape.stop_recording():
        y = x * 2.0
    z = y * x
found = tape.why(y, x)
""", [("path-stop-recording", 4, 13)]),
    "custom_internal": ("""
kept = []
@gradcli.custom_gradient
def f(x):
    m = x * x
    kept.append(m)
    return m * 3.0, lambda up: up * 6.0 * x
x = Variable(2.0)
with GradientTape() as tape:
    y = f(x)
found = tape.why(y, kept[0])
""", [("path-custom-internal", 9, 9)]),
    "custom_none": ("""
@gradcli.custom_gradient
def f(a, b):
    return a * b, lambda up: (up * b, None)
a, b = Variable(2.0), Variable(3.0)
with GradientTape() as tape:
    y = f(a, b)
g = tape.gradient(y, [a, b])
found = tape.why(y, b)
""", [("path-custom-none", 3, 1)]),
    "auto_off": ("""
x = Variable(2.0)
tape = GradientTape(watch_accessed_variables=False)
with tape:
    y = x * x
found = tape.why(y, x)
""", [("source-auto-watch-off", 2, 21)]),
    "thread": ("""
import threading
x = Variable(2.0)
box = []
with GradientTape() as tape:
    worker = threading.Thread(target=lambda: box.append(x * 2.0))
    worker.start(); worker.join()
    y = box[0] * 3.0
found = tape.why(y, x)
""", [("path-outside-tape", 5, 57)]),
    "many_targets": ("""
x = Variable(2.0)
k = Variable(2.0)
with GradientTape() as tape:
    a = k * 1.0
    b = ops.floor(x)
found = tape.why([a, b], x)
""", [("path-step-function", 5, 9)]),
    "int_index": ("""
v = Variable([1.0, 2.0, 3.0])
n = Variable(1.0)
with GradientTape() as tape:
    y = v[int(n)]
found = tape.why(y, n)
""", [("path-left-engine", 4, 11)]),
    "loop_state": ("""
total = Variable(0.0)
x = Variable(2.0)
with GradientTape() as tape:
    for k in range(3):
        total.assign_add(x * k)
    y = total * 1.0
found = tape.why(y, x)
""", [("path-state-write", 5, 9)]),
    "unpacked": ("""
a, b = [Variable(v) for v in (1.0, 2.0)]
with GradientTape() as tape:
    y = a * a
found = tape.why(y, b)
""", [("source-unrelated", 1, 9)]),
    "comprehension": ("""
ws = [Variable(1.0), Variable(2.0)]
with GradientTape() as tape:
    y = sum(ops.round(w) for w in ws)
found = tape.why(y, ws[1])
""", [("path-step-function", 3, 13)]),
    "why_before_gradient": ("""
x = constant(1.0)
with GradientTape() as tape:
    y = x * 2.0
    found = tape.why(y, x)
""", [("source-constant-unwatched", 1, 5)]),
    "compare_if_no_else": ("""
x = Variable(2.0)
w = Variable(1.0)
with GradientTape() as tape:
    y = w * 1.0
    if x > 5.0:
        y = y * x
found = tape.why(y, x)
""", [("source-untaken-branch", 5, 8)]),
    "and_or": ("""
x = Variable(2.0); u = Variable(0.5); w = Variable(1.0)
with GradientTape() as tape:
    if x > 5.0 or u > 1.0:
        y = w * x
    else:
        y = w * 1.0
found = tape.why(y, x) + tape.why(y, u)
""", [("source-untaken-branch", 3, 8), ("source-condition-only", 3, 8)]),
    "unrelated_condition": ("""
x = Variable(2.0); w = Variable(1.0)
with GradientTape() as tape:
    if x > 1.0:
        other = x * 2.0
    y = w * 1.0
found = tape.why(y, x)
""", [("source-unrelated", 1, 5)]),
    "nested_functions": ("""
def model(w, x):
    hidden = ops.tanh(w * x)
    return ops.cast(hidden > 0.0, "float64")
def loss(w):
    return ops.mean(model(w, constant([1.0, 2.0])))
w = Variable(0.3)
with GradientTape() as tape:
    value = loss(w)
found = tape.why(value, w)
""", [("path-nondifferentiable", 3, 21)]),
    "numpy_outside": ("""
x = Variable([1.0, 4.0])
with GradientTape() as tape:
    y = np.sum(np.sign(x))
found = tape.why(y, x)
""", [("zero-flat", 3, 16)]),
    "bare_read": ("""
x = Variable(1.0)
r = x.read_value()
with GradientTape() as tape:
    y = x * x
found = tape.why(y, r)
""", [("source-is-copy", 2, 5)]),
    "target_float": ("""
x = Variable(1.0)
with GradientTape() as tape:
    y = x > 0.0
found = tape.why(y, x)
""", [("target-dtype", 3, 9)]),
    "reassigned_param": ("""
def f(x):
    x = ops.stop_gradient(x)
    return x * 2.0
x = Variable(1.0)
with GradientTape() as tape:
    y = f(x)
found = tape.why(y, x)
""", [("path-stop-gradient", 2, 9)]),
    "lambda": ("""
f = lambda t: ops.floor(t) * 2.0
x = Variable(1.5)
with GradientTape() as tape:
    y = f(x)
found = tape.why(y, x)
""", [("path-step-function", 1, 15)]),
    "consumed_bystander": ("""
x = Variable(2.0)
with GradientTape() as a:
    y = x * x
a.gradient(y, x)
with GradientTape() as b:
    z = y * 3.0
found = b.why(z, x)
""", [("path-outside-tape", 3, 9)]),
    "metrics": ("""
w = Variable(1.0)
x = Variable(3.0)
history = []
with GradientTape() as tape:
    loss = w * 2.0
    history.append(float(x))
found = tape.why(loss, x)
""", [("source-unrelated", 2, 5)]),
    "reset_then": ("""
x = Variable(1.0)
with GradientTape() as tape:
    y = x * x
    tape.reset()
    z = y * 1.0
found = tape.why(z, x)
""", [("path-reset", 4, 5)]),
    "decorated": ("""
def trace(f):
    def inner(*args):
        return f(*args)
    return inner
@trace
def g(v):
    return ops.ceil(v)
x = Variable(1.5)
with GradientTape() as tape:
    y = g(x)
found = tape.why(y, x)
""", [("path-step-function", 7, 12)]),
    "assert_condition": ("""
x = Variable(1.5); w = Variable(1.0)
with GradientTape() as tape:
    assert x > 0.0
    y = w * 2.0
found = tape.why(y, x)
""", [("source-unrelated", 1, 5)]),
}


def reasons_of(text: str, name: str = "program") -> list[Any]:
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {
        "gradcli": gradcli, "ops": ops, "np": np, "Variable": Variable, "constant": constant,
        "GradientTape": GradientTape, "ForwardAccumulator": ForwardAccumulator}
    exec(compile(text, file, "exec"), names)
    found: list[Any] = names["found"]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    text, expected = PROGRAMS[name]
    text = text.lstrip("\n")
    found = reasons_of(text, name)
    assert [(r.code, r.line, r.column) for r in found] == expected, "\n".join(map(str, found))
    for reason in found:
        assert reason.file == f"<{name}>"
        assert reason.text == text.splitlines()[reason.line - 1].strip()


def test_what_left_in_another_file() -> None:
    """What a function of another file returns, it returns to whoever calls it."""
    text = "def values(v):\n    return v.numpy()\n"
    linecache.cache["<library>"] = (len(text), None, text.splitlines(keepends=True), "<library>")
    library: dict[str, Any] = {}
    exec(compile(text, "<library>", "exec"), library)
    x, w = Variable(2.0), Variable(3.0)
    values = library["values"]
    with GradientTape() as tape:
        h = values(x)
        y = w * h
    reason, = tape.why(y, x)
    assert (reason.code, reason.file, reason.line, reason.column) == (
        "path-left-engine", "<library>", 2, 12)


def test_places_in_tests() -> None:
    """Whoever writes a test anew, as pytest does, leaves lines and columns as they were."""
    x = Variable(1.5)
    with GradientTape() as tape:
        assert ops.floor(x) > 0.0
        y = ops.floor(x) * 2.0
        assert y > 1.0
    reason, = tape.why(y, x)
    assert (reason.code, reason.text, reason.column) == (
        "path-step-function", "y = ops.floor(x) * 2.0", 13)


def test_a_reason_is_told_in_three_lines() -> None:
    found = reasons_of("\n".join([
        "x = Variable(2.5)", "with GradientTape() as tape:",
        "    k = ops.cast(x, 'int32')", "    y = ops.cast(k, 'float64') * 2.0",
        "found = tape.why(y, x)", ""]))
    assert [str(reason) for reason in found] == [
        "dy/dx is None: the path from x to y is cut by a cast to int32\n"
        "  <program>:3:9   k = ops.cast(x, 'int32')\n"
        "  try: keep it a float; x + stop_gradient(round(x) - x) rounds and passes the gradient"]
    assert (found[0].end_line, found[0].end_column) == (3, 29)


def test_related_places() -> None:
    found = reasons_of("\n".join([
        "x = Variable(2.0)", "with GradientTape() as tape:", "    y = x * x", "z = y * 2.0",
        "w = z + x", "found = tape.why(w, x)", ""]))
    assert [(r.code, r.line) for r in found] == [("path-outside-tape", 5)]
    assert found[0].related == [
        ("<program>", 2, 1, "`tape` begins here"), ("<program>", 4, 5, "and here")]


def test_lines_that_nobody_can_read_still_have_numbers() -> None:
    names: dict[str, Any] = {"gradcli": gradcli, "ops": ops}
    exec(compile("\n".join([
        "x = gradcli.Variable(2.0)", "with gradcli.GradientTape() as tape:",
        "    y = ops.floor(x)", "found = tape.why(y, x)"]), "<gone>", "exec"), names)
    reason, = names["found"]
    assert (reason.code, reason.file, reason.line, reason.text) == (
        "path-step-function", "<gone>", 3, "")
    assert str(reason).startswith("dy/dx is None: the path from x to y is cut by `floor`")


# --- tapes ------------------------------------------------------------------------------------


def test_why_may_be_asked_as_often_as_one_likes() -> None:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = ops.floor(x)
    before = [r.code for r in tape.why(y, x)]
    assert tape.gradient(y, x) is None
    after = [[r.code for r in tape.why(y, x)] for _ in range(2)]
    assert [before, *after] == [["path-step-function"]] * 3


def test_a_tape_that_is_used_up_cannot_tell() -> None:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is not None
    assert tape.past is None
    assert tape.stats() == {"entries": 0, "bytes": 0, "watched": 0}
    with pytest.raises(GradcliError, match="used up") as caught:
        tape.why(y, x)
    assert caught.value.code == "E0501"
    assert "persistent=True" in str(caught.value.help)


def test_errors() -> None:
    x = Variable(2.0)
    tape = GradientTape(persistent=True)
    with pytest.raises(GradcliError) as caught:
        tape.why(x, x)
    assert caught.value.code == "E0502"
    with tape:
        y = x * x
    for target, source in ((y, [x]), (2.0, x), (y, 2.0)):
        with pytest.raises(GradcliError) as caught:
            tape.why(target, source)  # type: ignore[arg-type]
        assert caught.value.code == "E0310"


def test_events_of_a_tape() -> None:
    x, c = Variable(2.0), constant(1.0)
    with GradientTape(persistent=True) as tape:
        tape.watch([x, c])
        y = x * c
        with tape.stop_recording():
            z = y * 1.0
        tape.reset()
    with tape:
        pass
    tape.gradient(z, x)
    assert [kind for kind, *_ in tape.events] == [
        "open", "watch", "pause", "resume", "reset", "close", "open", "close", "ask"]
    times = [time for _, time, _, _ in tape.events]
    assert times == sorted(times)
    assert times[1] < y.id < times[2] < z.id < times[3]
    assert tape.events[1][3] == (x.id, c.id)
    lines = [provenance.position(place) for _, _, place, _ in tape.events]
    first = lines[0]
    assert first is not None
    assert first[0] == __file__
    assert [at[1] - first[1] for at in lines if at] == [0, 1, 3, 3, 5, 0, 6, 6, 8]


# --- what is remembered -----------------------------------------------------------------------


def test_no_value_is_kept() -> None:
    array = np.ones(1000)
    held = weakref.ref(array)
    x = Variable(1.0)
    with GradientTape() as tape:
        y = ops.sum(ops.floor(x * array)) * x.numpy()
    if y > 0.0:
        z = y * array
    z = constant(array) * array
    assert tape.gradient(z, x) is None
    assert tape.past is not None
    del array, y, z
    gc.collect()
    assert held() is None


def test_what_is_remembered_has_an_end() -> None:
    record = records.current()
    before, record.trace = record.trace, provenance.PythonEvents()
    try:
        x = constant(1.0)
        for _ in range(provenance.MAX_TRACED + 10):
            y = x * 2.0
        for _ in range(provenance.MAX_EVENTS + 10):
            constant(1.0)
            bool(y)
            float(y)
        entries = records.entries_of(record.trace)
        assert len(entries) == provenance.MAX_TRACED
        assert entries[-1][:3] == (ops.multiply, y.id, (x.id, None))
        for _ in range(provenance.MAX_REQUESTS + 10):
            with GradientTape() as tape:
                tape.watch(x)
                y = x * 2.0
            tape.gradient(y, x)
        assert len(record.trace.requests) == provenance.MAX_REQUESTS
        for ring in (record.trace.births, record.trace.conditions, record.trace.exits):
            assert len(ring) == provenance.MAX_EVENTS
    finally:
        record.trace = before


def test_the_locals_of_a_function_stay_its_own() -> None:
    """Conditions note the names of their frame; what `locals()` gave before is left alone."""
    x = Variable(1.0)
    array = np.ones(3)
    names = locals()
    assert bool(x > 0.0)
    assert names["x"] is x
    assert names["array"] is array


def test_a_program_that_runs_twice_is_not_bound_again() -> None:
    text, expected = PROGRAMS["exit_in_place"]
    for _ in range(2):
        found = reasons_of(text.lstrip("\n"))
        assert [(r.code, r.line, r.column) for r in found] == expected


def test_loops_that_decide_often_are_told_fast() -> None:
    found = reasons_of("\n".join([
        "w, u, v = Variable(1.0), Variable(2.0), Variable(3.0)", "for step in range(3000):",
        "    with GradientTape() as tape:", "        loss = (w - 3.0)**2",
        "        if loss > 9.0:", "            loss = loss + u", "    w.assign_sub(0.001 * w)",
        "found = tape.why(loss, u) + tape.why(loss, v)", ""]))
    assert [(r.code, r.line) for r in found] == [
        ("source-untaken-branch", 5), ("source-unrelated", 1)]


def test_files_leave_no_trace() -> None:
    record = records.current()
    before, record.trace = record.trace, provenance.PythonEvents()
    try:
        program = gradcli.loads("y = 2*x\nif y > 1:\n    y = floor(y)\n")
        assert program.gradient(at={"x": 1.0})["x"] is None
        trace = record.trace
        assert not [*records.entries_of(trace), *trace.births, *trace.conditions, *trace.requests]
    finally:
        record.trace = before


def test_places_are_the_user_s_own() -> None:
    x = Variable([1.0, 4.0])
    with GradientTape(persistent=True) as tape:
        a = np.sin(x)
        b = a.sum()
        c = b / 2.0 - ops.cos(b)
    first = provenance.position(tape.events[0][2])
    assert first is not None
    places = [provenance.position(entry[records.PLACE]) for entry in tape.window()]
    assert [(at[0], at[1] - first[1]) for at in places if at] == [
        (__file__, 1), (__file__, 2), (__file__, 3), (__file__, 3), (__file__, 3)]
    assert c.id == tape.window()[-1][records.OUT]


def test_layers_between_do_not_count() -> None:
    """What `gradcli.tf` does stands where it was called."""
    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.math.reduce_mean(tf.stack([x, x]))
    assert {provenance.position(entry[records.PLACE])[0]  # type: ignore[index]
            for entry in tape.window()} == {__file__}
    assert y.id is not None


# --- what is beside the target, and what to write instead ----------------------------------------

def _why(body: str, target: str = "y", source: str = "x") -> Any:
    """The first cause in a program of its own file."""
    text = f"""import copy
import gradcli
from gradcli import GradientTape, Module, Variable, constant, ops
x = Variable(2.0)
k = constant(1.0)
{body}
reasons = t.why({target}, {source})
"""
    file = f"<beside {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, file, "exec"), names)
    reason = names["reasons"][0]
    return reason, linecache.getline(file, reason.line).strip() if reason.line else ""


# Statements that have to do with x; what makes z of them, and the cause if that is the target.
BESIDE = {
    "print": ("if x > 1: print('big')", ""),
    "branch": ("z = k\n    if x > 1: z = k*3", "source-condition-only"),
    "untaken": ("z = k*2\n    if k > 5: z = x", "source-untaken-branch"),
    "loop": ("z = k*1\n    while z < x: z = z*2", "source-condition-only"),
    "break": ("z = k*1\n    while True:\n        z = z*2\n        if z > x: break",
              "source-condition-only"),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_condition_beside_the_target_is_no_cause(name: str) -> None:
    lines, code = BESIDE[name]
    for body in (f"with GradientTape() as t:\n    t.watch(k)\n    {lines}\n    y = k*2",
                 f"with GradientTape() as t:\n    t.watch(k)\n    y = k*2\n    {lines}"):
        assert _why(body)[0].code == "source-unrelated"
    if code:
        body = f"with GradientTape() as t:\n    t.watch(k)\n    {lines}\n    y = z*2"
        assert _why(body)[0].code == code


def test_a_condition_before_the_tape() -> None:
    before = "if x > 1: z = k*3\nwith GradientTape() as t:\n    y = "
    assert _why(before + "k*2")[0].code == "source-unrelated"
    assert _why(before + "z*2")[0].code == "source-condition-only"


@pytest.mark.parametrize(("method", "calls", "said"), [
    ("__call__", ["model(k)"], "call model(k)"),
    ("__call__", ["self.model(k)"], "call self.model(k)"),
    ("__call__", ["model(k)", "model(k*2)"], "use the Dense"),
    ("__matmul__", ["model @ k"], "use the Dense"),
    ("scaled", ["model.scaled(k)"], "move the line"),
    ("scaled", ["model.scaled(k)", "model.scaled(2*k)"], "call scaled")])
def test_what_an_object_did_before_the_block_is_told_by_its_call(
        method: str, calls: list[str], said: str) -> None:
    head = (f"class Dense(Module):\n    def {method}(self, v):\n        u = x * v\n"
            "        return u * 2.0\n")
    head += "self = Module()\nself.model = Dense()\n" if "self" in calls[0] else "model = Dense()\n"
    made = "".join(f"z = {call}\n" for call in calls)
    reason, _ = _why(f"{head}{made}with GradientTape() as t:\n    y = z**2")
    assert reason.code == "path-outside-tape"
    assert reason.fix.startswith(said)
    assert "__" not in reason.fix
    inside = f"with GradientTape() as t:\n    z = {calls[-1]}\n    y = z**2"
    names: dict[str, Any] = {name: getattr(gradcli, name) for name in (
        "GradientTape", "Module", "Variable", "constant")}
    exec(f"x = Variable(2.0)\nk = constant(1.0)\n{head}{inside}\ng = t.gradient(y, x)", names)
    assert names["g"] is not None


def test_what_should_have_been_the_target_is_a_question() -> None:
    reason, _ = _why("with GradientTape() as t:\n    y = constant(7.0)\n    v = x*4")
    assert (reason.code, reason.fix) == ("target-constant", "did you mean v?")


@pytest.mark.parametrize(("step", "fix"), [
    ("x = x - 0.1*g", "x.assign_sub(0.1 * g)"), ("x -= 0.1*g", "x.assign_sub(0.1 * g)"),
    ("x = x + g", "x.assign_add(g)"), ("x += g", "x.assign_add(g)"),
    ("x = 0.9*x", "x.assign(0.9 * x)")])
def test_a_variable_that_is_bound_again_is_to_be_assigned(step: str, fix: str) -> None:
    reason, line = _why(f"""for i in range(2):
    with GradientTape() as t:
        y = x*x
    g = t.gradient(y, x)
    if g is None:
        break
    {step}""")
    assert (reason.code, reason.fix, line) == ("source-rebound", fix, step)


# An assignment would change the target, be refused, or is none: the value has a name of its own.
@pytest.mark.parametrize("body", [
    "alias = x\nwith GradientTape() as t:\n    x = x - 0.5\n    y = alias**2",
    "x = Variable([1.0, 2.0])\nwith GradientTape() as t:\n    y = x*x\nx = x[0]",
    "x = Variable([1.0, 2.0])\nwith GradientTape() as t:\n    y = x*x\nx = ops.sum(x)",
    "with GradientTape() as t:\n    y = x*x\nx = ops.cast(x, 'float32')",
    "b = x\nwith GradientTape() as t:\n    y = x*x\nx, b = x - 0.1, b*2",
    "with GradientTape() as t:\n    y = x*x\nx = x*2\nx = x + 1",
    "with GradientTape() as t:\n    y = x*x\nx = x.numpy()\nx = constant(x)"])
def test_a_variable_that_cannot_be_assigned_is_not_to_be(body: str) -> None:
    reason, _ = _why(body)
    assert (reason.code, reason.fix) == ("source-rebound", "give the new value a name of its own")


def test_a_new_value_that_the_target_uses_is_to_be_watched() -> None:
    reason, _ = _why("x = x[None]\nwith GradientTape() as t:\n    y = x*x")
    assert (reason.code, reason.fix) == ("source-rebound", "t.watch(x)")


# What k holds where it is read, by the order of execution. @ stands for what left the engine.
READ = "    z = v*k"
HELD = (f"    k = @\n{READ}", f"    k = 5.0\n    k = @\n{READ}",
        "    k = 2.0\n    for _ in range(3):\n        z = v*k\n        k = @",
        f"    k = 2.0\n    for _ in range(3):\n        k = @\n{READ}",
        f"    if v > 0:\n        k = @\n    else:\n        k = 1.0\n{READ}",
        f"    k = @\n    k += 1.0\n{READ}", f"    k = @\n    k = k*2\n{READ}",
        f"    k = @\n    for _ in range(2):\n        k = k + 1\n{READ}",
        f"    k = @\n    if v < 0:\n        k = 1.0\n{READ}",
        f"    try:\n        k = @\n    except ValueError:\n        k = 1.0\n{READ}",
        f"    k, n = 1.0, 2.0\n    k, n = @, 3.0\n{READ}",
        "    k = [0.0]\n    k[0] = @\n    z = v*k[0]")
LOST = (f"    k = @\n    k = 5.0\n{READ}", f"    k = 5.0\n{READ}\n    k = @",
        "    for _ in range(3):\n        k = 2.0\n        z = v*k\n        k = @",
        f"    k = @\n    if v > 0:\n        k = 1.0\n    else:\n        k = 2.0\n{READ}",
        f"    k = @\n    with GradientTape():\n        k = 1.0\n    if v > 0:\n    {READ}",
        f"    k = @\n    k, n = 1.0, 2.0\n{READ}", f"    k = @\n    k = 2.0\n    k += 1.0\n{READ}")


@pytest.mark.parametrize("way", ["float(x)", "x.numpy()", "float(x)*2 + 1"])
@pytest.mark.parametrize("text", HELD + LOST)
def test_what_a_name_holds_goes_by_the_order_of_execution(text: str, way: str) -> None:
    # In the end nobody may read what left the engine, though it leaves all the same.
    reason, *_ = _why("v = Variable(3.0)\nz = v\nwith GradientTape() as t:\n"
                      f"{text.replace('@', way)}\n    y = z*1.0")
    assert reason.code == ("path-left-engine" if text in HELD else "source-unrelated")


@pytest.mark.parametrize(("made", "source"), [
    ("c = copy.deepcopy(x)", "c"), ("c = copy.copy(x)", "c"),
    ("m = Module(); m.w = x; c = copy.deepcopy(m)", "c.w"),
    ("c = copy.deepcopy([x])", "c[0]")])
def test_a_copy_of_a_variable_is_another_one(made: str, source: str) -> None:
    reason, line = _why(f"{made}\nwith GradientTape() as t:\n    y = x*x", source=source)
    assert reason.code == "source-is-copy"
    assert reason.fix.startswith("ask for ")
    assert line == made


def test_what_a_closure_takes_up() -> None:
    body = """c = Variable(3.0)
with GradientTape() as t:
    d = c*2
    @gradcli.custom_gradient
    def h(a):
        return a*d, lambda up: up*d
    y = h(x)"""
    reason, _ = _why(body, source="c")
    assert "takes up d" in reason.message
    assert reason.fix == "make d an argument of h"


@pytest.mark.parametrize("how", ["x.item()*2", "float(x)*2", "x.numpy()*2"])
def test_a_number_as_a_target_was_a_tensor_once(how: str) -> None:
    for question in ("gradient", "jacobian", "why"):
        with pytest.raises(GradcliError) as raised:
            _why(f"with GradientTape() as t:\n    y = {how}\nt.{question}(y, x)")
        assert raised.value.help is not None
        assert raised.value.help.startswith("keep it a tensor")


# What takes a tensor y on, out of the tape; and how its name held what left gradcli before.
LEFT = ("y = x*float(x)", "y = ops.sin(x) + int(x)", "y = x.item()",
        "def f(v): return int(v) + 0.5\nwith GradientTape() as s:\n    y = x*f(x)")
TAKEN_ON = ("z = y + 1", "z = ops.multiply(y, 2.0)", "z = 3 - y", "y += 1\nz = y",
            "y = ops.sin(2.0*y)\nz = y")


@pytest.mark.parametrize("taken", TAKEN_ON)
@pytest.mark.parametrize("left", LEFT)
def test_what_a_name_held_before_is_no_cause(left: str, taken: str) -> None:
    body = f"{left}\nwith GradientTape() as t:\n    y = x*2\n{taken}\ny = z"
    reason, line = _why(body)
    assert (reason.code, line) == ("path-outside-tape", taken.partition("\n")[0])


@pytest.mark.parametrize("taken", [
    "y = k*n", "y = n + k", "y = ops.add(k, n)", "y = k\n    y += n"])
def test_a_number_that_left_is_the_plain_operand(taken: str) -> None:
    reason, line = _why(f"n = float(x)\nwith GradientTape() as t:\n    {taken}")
    assert (reason.code, line) == ("path-left-engine", "n = float(x)")


def test_what_to_do_about_an_unrelated_source_is_to_ask_for_another() -> None:
    reason, _ = _why("with GradientTape() as t:\n    y = k*2.0")
    assert (reason.code, reason.fix) == (
        "source-unrelated", "ask for what y depends on: k; if 0 is meant, ask for 0:"
        ' unconnected_gradients="zero"')
