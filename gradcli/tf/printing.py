"""`tf.print`: values as TensorFlow writes them."""

from __future__ import annotations

import builtins
import sys

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The digits that a type is written with if they are the number, and else.
DIGITS = {"float32": (6, 9), "float64": (15, 17)}


def print(*inputs: Any, output_stream: Any = None, summarize: Any = 3, sep: str = " ",
          end: str = "\n", name: Any = None) -> None:
    """Print values: to the stream of errors, tensors as their numbers.

    summarize: elements at both ends of each axis; -1: all.
    """
    most = -1 if summarize is None else int(summarize)
    builtins.print(*[_input(x, most) for x in inputs], sep=sep, end=end,
                   file=output_stream or sys.stderr)


def _input(value: Any, most: int) -> str:
    return value if isinstance(value, str) else _text(value, most)


def _text(value: Any, most: int) -> str:
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        inside = ", ".join([_text(v, most) for v in value])
        one = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{one})"
    if isinstance(value, dict):
        inside = ", ".join([f"{key!r}: {_text(v, most)}" for key, v in value.items()])
        return f"{{{inside}}}"
    if not hasattr(value, "__gradcli_apply__"):
        return repr(value)
    return _array(np.asarray(value.value), most, "")


def _array(value: Any, most: int, indent: str) -> str:
    """Return the elements, those in the middle of a long axis left out."""
    if not value.ndim:
        return _number(value)
    cut = 0 <= 2 * most < len(value)
    parts = [*value[:most], *value[len(value) - most:]] if cut else list(value)
    texts = [_array(np.asarray(part), most, f"{indent} ") for part in parts]
    if cut:
        texts.insert(most, "...")
    between = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + f"{indent} "
    return f"[{between.join(texts)}]"


def _number(value: Any) -> str:
    if value.dtype.kind == "b":
        return str(int(value))
    if value.dtype.kind in "US":
        return f'"{value.item()}"'
    few, many = DIGITS.get(value.dtype.name, (0, 0))
    if not few:
        return str(value)
    short = f"{value.item():.{few}g}"
    return short if value.dtype.type(short) == value or value != value else (
        f"{value.item():.{many}g}")
