"""Complex numbers: values, gradients in TensorFlow's convention, tangents.

The numbers of GRADIENTS are what TensorFlow 2.21 answers at z = 1 + 2i; derivatives of second order
and tangents are compared with complex differences of the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from references import FUNCTIONS

import gradcli
from gradcli import ForwardAccumulator, GradientTape, Tensor, Variable, constant, ops
from gradcli.ops import TABLE
from gradcli.python.program import loads
from gradcli.questions import Question, grad

Function = Callable[[Any], Any]

GRADIENTS: dict[str, tuple[Function, complex, complex]] = {
    "abs^2": (lambda z: abs(z) ** 2, 5.0, 2 + 4j),
    "exp": (ops.exp, -1.1312043837568135 + 2.4717266720048188j,
            -1.1312043837568135 - 2.4717266720048188j),
    "sin": (ops.sin, 3.165778513216168 + 1.9596010414216063j,
            2.0327230070196656 + 3.0518977991518j),
    "log": (ops.log, 0.8047189562170503 + 1.1071487177940904j, 0.2 + 0.4j),
    "conj": (ops.conj, 1 - 2j, 1 - 0j),
    "angle": (ops.angle, 1.1071487177940904, -0.4 + 0.2j),
    "abs": (ops.abs, 2.23606797749979, 0.4472135954999579 + 0.8944271909999159j),
    "square": (ops.square, -3 + 4j, 2 - 4j),
    "sqrt": (ops.sqrt, 1.272019649514069 + 0.7861513777574233j,
             0.28443224050289156 + 0.17578879212707146j),
    "1/z": (lambda z: 1.0 / z, 0.2 - 0.4j, 0.12 - 0.16j),
    "z^3": (lambda z: z ** 3, -11 - 2j, -9 - 12j),
    "z*conj(z)": (lambda z: z * ops.conj(z), 5.0, 2 + 4j),
    "sum": (lambda z: ops.sum(ops.stack([z, z])), 2 + 4j, 2 + 0j),
    "matmul": (lambda z: ops.sum(ops.abs(ops.stack([[z, z]]) @ ops.stack([[z], [2 * z]]))),
               15.0, 6 + 12j),
    "real": (ops.real, 1.0, 1 + 0j),
    "imag": (ops.imag, 2.0, 1j),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_tensorflow(name: str) -> None:
    f, value, gradient = GRADIENTS[name]
    z = Variable(1 + 2j, dtype="complex128")
    with GradientTape() as tape:
        y = f(z)
    assert complex(y.numpy()) == pytest.approx(value, rel=1e-14)
    found = tape.gradient(y, z)
    assert found.dtype == "complex128"
    assert complex(found.numpy()) == pytest.approx(gradient, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("name", GRADIENTS)
def test_tangents_agree_with_differences(name: str) -> None:
    f, _, _ = GRADIENTS[name]
    z, v = constant(1 + 2j), constant(0.3 - 0.7j)
    with ForwardAccumulator(z, v) as acc:
        y = f(z)
    h = 1e-6
    ahead, behind = f(constant(1 + 2j + h * (0.3 - 0.7j))), f(constant(1 + 2j - h * (0.3 - 0.7j)))
    difference = (complex(ahead.numpy()) - complex(behind.numpy())) / (2 * h)
    assert complex(acc.jvp(y).numpy()) == pytest.approx(difference, rel=1e-8, abs=1e-9)


def test_a_real_source_has_a_real_gradient() -> None:
    x, z = Variable(0.7), constant(1 + 2j)
    with GradientTape() as tape:
        y = ops.real(z * ops.complex(x, x))
    found = tape.gradient(y, x)
    assert found.dtype == "float64"
    assert float(found) == pytest.approx(-1.0, rel=1e-15)


def test_second_order() -> None:
    z = Variable(1 + 2j, dtype="complex128")
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = abs(z) ** 2
        g = inner.gradient(y, z)
        part = ops.real(g)
    assert complex(g.numpy()) == pytest.approx(2 + 4j)
    # Re(2z) grows by 2 along the real axis only.
    assert complex(outer.gradient(part, z).numpy()) == pytest.approx(2 + 0j)


def test_arrays_and_zero() -> None:
    z = Variable(np.array([0j, 3 + 4j]))
    with GradientTape() as tape:
        y = abs(z)
    assert y.numpy().tolist() == [0.0, 5.0]
    np.testing.assert_allclose(tape.gradient(y, z).numpy(), [0, 0.6 + 0.8j], rtol=1e-15)


def test_complex_does_not_mix_with_real_tensors_in_silence() -> None:
    with pytest.raises(gradcli.GradcliError) as caught:
        ops.multiply(constant(1 + 1j), constant(2.0))
    assert caught.value.code == "E0302"


def test_the_parts_of_a_real_number() -> None:
    x = constant(-2.5)
    assert isinstance(ops.conj(x), Tensor)
    assert float(ops.real(x)) == -2.5
    assert float(ops.imag(x)) == 0.0
    assert float(ops.angle(x)) == pytest.approx(np.pi)


def test_a_tangent_that_is_no_number_is_told_without_a_warning() -> None:
    """Warnings are errors in these tests; (1 + inf i) times 1 is one to NumPy."""
    for text in ("complex(1, inf)*x", "sum(complex([1, 2], inf)*x)"):
        found = grad(Question(loads(text), at={"x": 2.0}, mode="forward"))
        assert np.isnan(found["results"][0]["sources"][0]["gradient"])


HOLOMORPHIC = sorted(
    name for name, op in TABLE.items() if op.elementwise and len(op.parameters) == 1
    and not op.variadic and not op.attributes and op.smooth and op.holomorphic
    and name not in ("abs", "sign"))


@pytest.mark.parametrize("z", [0.3 + 0.4j, -1.2 + 0.7j, 0.4 - 2j])
def test_every_function_of_one_number_is_right_or_refused(z: complex) -> None:
    """Slopes along both axes are the rule's: what is made for real numbers has other ones."""
    taken = []
    for name in HOLOMORPHIC:
        op = TABLE[name]
        try:
            value = op(constant(z)).numpy()
            slope = op.rules[0](np.array(z), value) if callable(op.rules[0]) else op.rules[0]
        except gradcli.GradcliError:
            continue
        taken.append(name)
        if name in FUNCTIONS and name != "asech":    # which may lie on the other side of its cut
            assert abs(value - complex(FUNCTIONS[name](mpmath.mpc(z)))) < 1e-12*abs(value), name
        for h in (1e-6, 1e-6j):
            found = (op(np.array(z + h)) - op(np.array(z - h)))/(2*h)
            assert abs(found - slope) < 1e-6*max(1.0, abs(slope)), name
    assert {"exp", "sin", "sigmoid", "silu", "tanh", "log", "sqrt"} <= set(taken)
    assert not {"relu", "logcosh", "softsign", "elu"} & set(taken)


@pytest.mark.parametrize("text", [
    "z < 2", "2 > z", "maximum(z, 1)", "minimum(1, z)", "relu(z)", "clip(z, 0, 1)", "softsign(z)",
    "logcosh(z)", "elu(z)"])
def test_complex_numbers_have_no_order(text: str) -> None:
    with pytest.raises(gradcli.GradcliError) as refused:
        gradcli.loads(f"z = complex(x, 1)\n{text}").value(at={"x": 2.0})
    assert refused.value.code == "E0302"
    assert "real(z)" in refused.value.help
