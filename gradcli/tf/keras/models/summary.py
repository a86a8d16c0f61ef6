"""The table of a model's layers."""

from __future__ import annotations

import builtins
import shutil

from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.render.terminal import ruled
from gradcli.tf.dtypes import SIZES, as_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TITLES = ("Layer (type)", "Output Shape", "Param #")
PLACES = (0.45, 0.8, 1.0)      # where columns end


def summary(model: Any, line_length: int | None, print_fn: Any) -> None:
    """Print the layers of a model, their shapes and numbers of variables, as Keras does."""
    length = line_length or min(88, shutil.get_terminal_size().columns - 4)
    ends = [0, *[int(place * length) for place in PLACES]]
    rows = [(f"{layer.name} ({getattr(layer, 'title', type(layer).__name__)})", _shape(layer),
             _count(layer)) for layer in getattr(model, "operations", model.layers)]
    table = ruled([(title, b - a) for title, a, b in zip(
        TITLES, ends[:-1], ends[1:], strict=True)], rows, length)
    text = "".join([f'Model: "{model.name}"\n', table, *[
        f" {title} params: {_size(variables)}\n" for title, variables in _totals(model)]])
    if print_fn is None:
        builtins.print(text, end="")
    else:
        print_fn(text)


def _shape(layer: Any) -> str:
    output = getattr(layer, "output", None)
    shapes = [str(tuple(x.shape)).replace(",)", ")") for x in engine.flatten(output)
              if x is not None]
    return "?" if not shapes else shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"


def _count(layer: Any) -> str:
    if not getattr(layer, "built", True):
        return "0 (unbuilt)"
    return f"{sum([int(np.prod(v.shape, dtype=int)) for v in layer.weights]):,}"


def _totals(model: Any) -> list[tuple[str, list[Any]]]:
    optimizer = getattr(model, "optimizer", None)
    more = optimizer.variables if optimizer is not None and optimizer.built else []
    rows = [("Total", [*model.weights, *more]), ("Trainable", model.trainable_weights),
            ("Non-trainable", model.non_trainable_weights)]
    return [*rows, ("Optimizer", more)] if more else rows


def _size(variables: list[Any]) -> str:
    lengths = [int(np.prod(v.shape, dtype=int)) for v in variables]
    size: float = sum([n * SIZES[as_dtype(v.dtype).name]
                       for n, v in zip(lengths, variables, strict=True)])
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            break
        size /= 1024
    return f"{sum(lengths):,} ({size:.2f} {unit})"
