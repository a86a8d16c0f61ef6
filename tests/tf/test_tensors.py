"""Tensors and variables of `gradcli.tf`: what they print, take and refuse, as TensorFlow 2.21 does.

`recorded.json` holds expressions and what TensorFlow printed of their values, or the class of the
error that it raised. What prints or behaves otherwise is in DIFFERENT, with the reason; the page on
TensorFlow lists the same.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from conftest import folded
from folders import DATA

import gradcli.tf as tf
from gradcli import GradcliError

RECORDED = json.loads((DATA / "tf" / "tensors.json").read_text("utf-8"))
HEAD = RECORDED["head"]

WRAPPED = "whole numbers that are too large are an error, not wrapped around"
UNREAD = "`assign` returns the variable, under its name"
METHODS = "tensors have the attributes of arrays, too"
EDGE = "what has no value is an error"
# Expression: what is printed here, and why.
DIFFERENT = {
    "v.assign([1.,2.,4.])": UNREAD, "tf.Variable(0.).assign(1)": UNREAD, "x.T": METHODS,
    "x.size": METHODS,
    "tf.constant(300,tf.int32)*tf.constant(10**8)": WRAPPED,
    "tf.cast(float('nan'),tf.int32)": EDGE, "tf.reduce_max([])": EDGE,
}


def shown(expression: str, names: dict[str, Any]) -> str:
    """The printed form of a value, or `raised`."""
    try:
        return repr(eval(expression, names))
    except (GradcliError, TypeError, ValueError, AttributeError, RuntimeError):
        return "raised"


@folded
@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case[0])
def test_printed_as_tensorflow(case: list[str]) -> None:
    expression, expected = case
    names: dict[str, Any] = {"tf": tf, "np": np}
    exec(HEAD, names)
    found = shown(expression, names)
    if expression in DIFFERENT:
        assert found != expected
    else:
        assert found == expected


def test_what_differs_was_asked() -> None:
    assert set(DIFFERENT) <= {expression for expression, _ in RECORDED["cases"]}


def test_value_of_a_variable_is_a_method() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v.value() ** 2)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


def test_copies_are_variables_of_the_same_kind() -> None:
    import copy

    v = tf.Variable([1.0], name="v")
    for made in (copy.copy(v), copy.deepcopy(v)):
        assert repr(made) == repr(v)
        made.assign([2.0])
    assert v.numpy().tolist() == [1.0]


def test_tensors_are_no_keys() -> None:
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert {x.ref(): 1}[x.ref()] == 1
    assert x.ref().deref() is x


def test_numpy_leaves_the_tape() -> None:
    x = tf.Variable([1.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        left = tf.reduce_sum(np.sqrt(x))
        stays = tf.reduce_sum(np.ones(2) * x)
    assert tape.gradient(left, x) is None
    assert tape.why(left, x)[0].code == "path-left-engine"
    assert tape.gradient(stays, x).numpy().tolist() == [1.0, 1.0]
