"""Causes of None in Python code that hide: behind closures, behind each other, in another run of
the same function, in the number of rounds, in an array of NumPy's.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

from gradcli import GradientTape, Variable, constant, custom_gradient, ops

# Name: a program that asks tape.why(y, x); (code, line) of each cause in order; the first fix, or
# words in it; lines named besides.
PROGRAMS: dict[str, tuple[str, list[tuple[str, int]], str, list[int]]] = {
    # --- computed twice -----------------------------------------------------------------------
    "feature_maps_of_another_run": ("""
w1 = Variable([[1.0, 2.0], [3.0, 4.0]])
w2 = Variable([[1.0], [0.5]])
def features(image):
    return ops.relu(image @ w1)
def model(image):
    return features(image) @ w2
picture = constant([[1.0, 2.0]])
with GradientTape() as tape:
    x = features(picture)
    y = model(picture)
""", [("source-computed-twice", 11)], "compute x once, and y from it", [5]),
    "computed_before_the_tape_and_again": ("""
w1 = Variable([[1.0, 2.0], [3.0, 4.0]])
def features(image):
    return ops.relu(image @ w1)
picture = constant([[1.0, 2.0]])
x = features(picture)
with GradientTape() as tape:
    y = ops.sum(features(picture)**2)
""", [("source-computed-twice", 8)], "compute x once", [4]),
    "written_twice": ("""
a = Variable(2.0)
with GradientTape() as tape:
    x = ops.sin(a)*a
    y = ops.exp(ops.sin(a)*a)
""", [("source-computed-twice", 5)], "compute x once", [4]),
    "not_twice_with_another_number": ("""
a = Variable(2.0)
def f(v, k):
    return v*k + 1.0
with GradientTape(persistent=True) as tape:
    x = f(a, 2.0)
    y = f(a, 3.0)
""", [("source-unrelated", 4)], 'ask for what y depends on: a; if 0 is meant, ask for 0:'
     ' unconnected_gradients="zero"', []),
    "not_twice_of_another_value": ("""
a, b = Variable(2.0), Variable(2.0)
with GradientTape() as tape:
    x = ops.sin(a)
    y = ops.sin(b)
""", [("source-unrelated", 4)], "ask for what y depends on: b", []),
    "not_twice_but_random": ("""
a = Variable(2.0)
with GradientTape() as tape:
    x = a*constant(np.random.default_rng(0).normal())
    y = a*constant(np.random.default_rng(1).normal())
""", [("source-unrelated", 4)], "ask for what y depends on", []),
    # --- the number of rounds -----------------------------------------------------------------
    "rounds_of_range": ("""
x = Variable(3.0)
b = Variable(2.0)
with GradientTape() as tape:
    y = b
    for _ in range(int(x)):
        y = y*b
""", [("source-condition-only", 6)], "let all turns run and weigh each with a smooth gate", []),
    "rounds_through_a_function": ("""
def power(base, k):
    p = base
    for _ in range(k):
        p = p*base
    return p
x = Variable(3.0)
with GradientTape() as tape:
    y = power(Variable(2.0), int(x))
""", [("source-condition-only", 4)], "let all turns run", []),
    "rounds_of_while": ("""
x = Variable(3.0)
b = Variable(2.0)
with GradientTape() as tape:
    y, k = b, 0
    while k < x:
        y, k = y*b, k + 1
""", [("source-condition-only", 6)], "let all turns run", []),
    "rounds_of_numpy": ("""
x = Variable(3.0)
b = Variable(2.0)
with GradientTape() as tape:
    k = x.numpy()
    y = b
    for i in np.arange(k):
        y = y*b
""", [("source-condition-only", 7)], "let all turns run", []),
    # --- closures -----------------------------------------------------------------------------
    "closure_over_another_one": ("""
def train():
    x = Variable(2.0)
    def loss(v):
        return x*v
    return loss
x = Variable(1.0)
loss = train()
with GradientTape() as tape:
    y = loss(3.0)
""", [("source-shadowed", 3)], "rename one of the two", [7]),
    "variable_of_a_function": ("""
def loss(v):
    x = Variable(2.0)
    return x*v
x = Variable(1.0)
with GradientTape() as tape:
    y = loss(3.0)
""", [("source-shadowed", 3)], "rename one of the two", [5]),
    "closure_over_a_number": ("""
def make(scale):
    def loss(v):
        return v*v*scale
    return loss
x = Variable(2.0)
f = make(x.numpy())
with GradientTape() as tape:
    y = f(Variable(3.0))
""", [("path-left-engine", 7)], "use an operation of gradcli.ops", []),
    "closure_over_a_constant": ("""
x = constant(2.0)
def loss(v):
    return x*v
with GradientTape() as tape:
    y = loss(Variable(3.0))
""", [("source-constant-unwatched", 2)], "tape.watch(x)", [4]),
    "default_value": ("""
x = Variable(2.0)
def loss(v, w=x*1.0):
    return w*v
with GradientTape() as tape:
    y = loss(3.0)
""", [("path-outside-tape", 3)], "move the line into the block of tape", [5]),
    # --- behind each other --------------------------------------------------------------------
    "three_behind_each_other": ("""
x = Variable(2.0)
with GradientTape() as tape:
    a = ops.stop_gradient(x*2.0)
    b = ops.cast(ops.cast(a, "int32"), "float64")
    c = ops.floor(b*1.5)
    y = c*c
""", [("path-step-function", 6), ("path-dtype-cast", 5), ("path-stop-gradient", 4)],
        "b * 1.5 + ops.stop_gradient(", []),
    "four_behind_each_other": ("""
x = constant(2.0)
with GradientTape() as tape:
    a = x.numpy()*2.0
    b = ops.floor(constant(a))
    y = Variable(b)*3.0
""", [("path-left-engine", 4), ("path-state-write", 6), ("path-step-function", 5),
      ("source-constant-unwatched", 2)], "use an operation of gradcli.ops", [4]),
    # --- what need not count ------------------------------------------------------------------
    "one_of_three": ("""
a, b, x = Variable(2.0), Variable(3.0), Variable(4.0)
with GradientTape() as tape:
    y = a*a*b
""", [("source-unrelated", 2)], 'ask for what y depends on: a, b; if 0 is meant, ask for 0:'
     ' unconnected_gradients="zero"', []),
    "branch_not_taken": ("""
a, x = Variable(2.0), Variable(3.0)
with GradientTape() as tape:
    y = a*a
    if a > 5.0:
        y = y + x
""", [("source-untaken-branch", 5)], 'if 0 is meant here, ask for 0: unconnected_gradients="zero"',
        [6]),
    # --- nested custom gradients --------------------------------------------------------------
    "custom_in_custom": ("""
x = constant(5.0)
@custom_gradient
def inner(v, k):
    def grad(g):
        return g*k, g*v
    return v*k, grad
@custom_gradient
def outer(v):
    def grad(g):
        return g*3.0
    return inner(v, x), grad
with GradientTape() as tape:
    tape.watch(x)
    y = outer(Variable(3.0))
""", [("path-custom-internal", 15)], "make x an argument of outer", [12]),
    "custom_in_custom_without_a_gradient": ("""
@custom_gradient
def inner(v):
    def grad(g):
        return g*7.0
    return v*2.0, grad
@custom_gradient
def outer(v):
    def grad(g):
        return None
    return inner(v)*1.0, grad
x = Variable(3.0)
with GradientTape() as tape:
    y = outer(x)
""", [("path-custom-none", 9)], "return a gradient for this argument", [14, 11]),
    # --- arrays of NumPy's --------------------------------------------------------------------
    "item_of_an_array": ("""
x = Variable([1.0, 2.0, 3.0])
res = np.zeros(3)
with GradientTape() as tape:
    for m in range(3):
        res[m] = (x[m]*2.0).numpy()
    y = ops.sum(constant(res))
""", [("path-left-engine", 6)],
        "collect the values in a list and stack it: res.append(x[m] * 2.0), then res ="
        " ops.stack(res)", []),
    "item_set_before_the_tape": ("""
x = Variable([1.0, 2.0, 3.0])
res = np.zeros(3)
for m in range(3):
    res[m] = x[m]*2.0
with GradientTape() as tape:
    y = ops.sum(constant(res)*2.0)
""", [("path-left-engine", 5), ("path-outside-tape", 5)],
        "collect the values in a list and stack it: res.append(x[m] * 2.0)", [6]),
}


pytestmark = pytest.mark.usefixtures("fresh_trace")


def run(text: str, name: str) -> dict[str, Any]:
    text += "g = tape.gradient(y, x)\nfound = tape.why(y, x)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"GradientTape": GradientTape, "Variable": Variable, "constant": constant, "ops": ops,
             "np": np, "custom_gradient": custom_gradient}
    exec(compile(text, name, "exec"), scope)
    return scope


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    text, expected, fix, besides = PROGRAMS[name]
    scope = run(text, f"<{name}>")
    found = scope["found"]
    assert scope["g"] is None
    assert [(r.code, r.line) for r in found] == expected, "\n".join(map(str, found))
    assert fix in (found[0].fix or "")
    assert [line for r in found for _, line, *_ in r.related] == besides


# Neighbours in which nothing is wrong.
WHOLE = {
    "features_computed_once": """
w1 = Variable([[1.0, 2.0], [3.0, 4.0]])
w2 = Variable([[1.0], [0.5]])
picture = constant([[1.0, 2.0]])
with GradientTape(persistent=True) as tape:
    x = ops.relu(picture @ w1)
    y = x @ w2
""",
    "stacked": """
x = Variable([1.0, 2.0, 3.0])
with GradientTape(persistent=True) as tape:
    res = []
    for m in range(3):
        res.append(x[m]*2.0)
    y = ops.sum(ops.stack(res))
""",
    "closure_over_the_source": """
x = Variable(2.0)
def make(k):
    def loss(v):
        return k*v*x
    return loss
with GradientTape(persistent=True) as tape:
    y = make(2.0)(3.0)
""",
    "nested_custom_gradients": """
@custom_gradient
def inner(v):
    def grad(g):
        return g*7.0
    return v*2.0, grad
@custom_gradient
def outer(v):
    def grad(g):
        return g*3.0
    return inner(v)*1.0, grad
x = Variable(3.0)
with GradientTape(persistent=True) as tape:
    y = outer(x)
""",
}


@pytest.mark.parametrize("name", WHOLE)
def test_neighbours_are_no_causes(name: str) -> None:
    scope = run(WHOLE[name], f"<{name}>")
    assert scope["g"] is not None
    assert scope["found"] == []


def test_an_element_of_an_array_that_is_set_to_a_tensor_says_what_to_do() -> None:
    """NumPy puts an error of its own around it."""
    x = Variable([1.0, 2.0])
    array = np.zeros(2)
    with GradientTape(), pytest.raises(ValueError, match="setting an array element") as caught:
        array[0] = x[0]*2.0
    cause: Any = caught.value.__cause__
    assert cause.code == "E0209"
    assert "gradcli.ops.stack(values)" in cause.help
