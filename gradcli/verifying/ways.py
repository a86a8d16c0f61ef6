"""A Jacobian between weights and directions, by sweeps and by differences of the whole program."""

from __future__ import annotations

from gradcli import calculus
from gradcli.finite import estimate
from gradcli.lang.targets import parts
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.answers.ask import Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target
    from gradcli.tape.tensor import Tensor
    from gradcli.verifying.directions import Directions

NEAR = 1e-6     # the step of one-sided differences, which only have to tell a kink


def reverse(targets: Sequence[Tensor], source: Tensor, along: Directions, weight: float = 1.0
            ) -> Any:
    """Row by row a reverse sweep, times the directions; None where no path leads. weight: of all
    cotangents, which the answer is divided by.
    """
    rows = []
    for k in range(len(along.rows)):
        (g,) = calculus.gradient(targets, [source], seeds=along.weights(k, weight))
        rows.append(None if g is None else np.asarray(g, float).ravel() / weight)
    if all(row is None for row in rows):
        return None
    n = along.columns.shape[1]
    lines = np.stack([np.zeros(n) if row is None else row for row in rows])
    with quiet():
        return lines @ along.columns.T if along.random else lines


def forward(targets: Sequence[Tensor], source: Tensor, along: Directions) -> Any:
    """Column by column a tangent sweep, times the weights."""
    columns = []
    for k in range(len(along.columns)):
        v = along.direction(k)
        found = [calculus.jvp(t, [source], [v]) for t in targets]
        columns.append(along.of_values([
            np.zeros(t.shape) if d is None else np.asarray(d, float)
            for t, d in zip(targets, found, strict=True)]))
    return np.stack(columns, axis=-1)


class Differences:
    """By central differences: values, an error estimate for each column, and the slopes to the
    left and right of the point.
    """

    __slots__ = ("errors", "left", "right", "values")

    def __init__(self, values: Any, errors: Any, left: Any, right: Any) -> None:
        self.values = values
        self.errors = errors
        self.left = left
        self.right = right


def central(ask: Ask, target: Target, binding: Binding, along: Directions) -> Differences:
    """Column by column Ridders' method on runs of the whole program."""
    value = binding.value.value
    columns, errors, left, right = [], [], [], []
    with quiet():
        for k in range(len(along.columns)):
            v = along.direction(k)
            length = float(np.abs(np.asarray(v)).max())
            # Steps are relative to the element that moves; in a random direction all do.
            base = float(value) if not shape_of(value) else (
                0.0 if along.random else float(value.ravel()[k]))

            def moved(t: float, v: Any = v, base: float = base) -> Any:
                return _values(ask, target, binding, value + (t - base) * v, along)

            found, error = estimate(moved, base)
            step = NEAR * max(1.0, abs(base)) / max(1.0, length)
            here, below, above = moved(base), moved(base - step), moved(base + step)
            columns.append(found)
            errors.append(error)
            left.append((here - below) / step)
            right.append((above - here) / step)
    return Differences(np.stack(columns, axis=-1), np.array(errors), np.stack(left, axis=-1),
                       np.stack(right, axis=-1))


def _values(ask: Ask, target: Target, binding: Binding, x: Any, along: Directions) -> Any:
    if shape_of(binding.value.value) or type(binding.value.value) is not float:
        x = np.asarray(x).astype(np.asarray(binding.value.value).dtype)
    else:
        x = float(x)
    run = ask.run({binding.name: x})
    with run.record:
        tensors = parts(ask.same_target(run, target))
    if [t.shape for t in tensors] != along.row_shapes:
        return np.full(len(along.rows), np.nan)
    return along.of_values([np.asarray(t.value, float) for t in tensors])


def unchangeable(run: Run, binding: Binding) -> str:
    """Why a run with another value does not answer the question; empty if it does."""
    if binding.kind == "computed":
        return f"{binding.name} is computed: no other value can be given to it"
    if binding.kind == "constant":
        return f"{binding.name} is a const: no other value can be given to it"
    for name, variable in run.variables.items():
        if variable.id != variable.origin().id:
            return f"{name} is assigned in the file: a run from another point goes elsewhere"
    return ""
