"""From the engine's values to plain data: floats, strings, None and nested lists."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.ops.values import SCALAR_TYPES, is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.base.errors import Source

    Answer = dict[str, Any]


# Bytes of a number of an answer: in the array, and as a float in a list.
EACH = 8.0 + 32.0


def data(value: Any) -> Any:
    """A value as numbers and nested lists."""
    if value is None or type(value) in SCALAR_TYPES:
        return value
    if isinstance(value, dict):
        return {k: data(v) for k, v in value.items()}
    if isinstance(value, list):
        return [data(v) for v in value]
    if value.dtype.name == "float32":
        # The shortest text that reads back as the same 32 bits: 0.1, not 0.10000000149011612.
        return value.astype(str).astype(float).tolist()
    return value.tolist()


def undata(value: Any) -> Any:
    """Nested lists back to an array."""
    if not isinstance(value, list):
        return value
    from gradcli.base.lazy import np

    return np.array(value)


def shape(value: Any) -> list[int] | None:
    """The shape of a value; None for a structure."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return list(shape_of(value))


def lines(source: Source, items: Iterable[Answer]) -> Answer:
    """The text of each line that one of the items, or what is related to it, names."""
    numbers = {place["line"] for item in items for place in (item, *(item.get("related") or ()))}
    return {n: source.line(n) for n in sorted(numbers - {None})}


def is_finite(value: Any) -> bool:
    """Whether a value has neither NaN nor infinity in it."""
    if type(value) is float:
        return value - value == 0.0
    return not is_float(value) or bool(np.isfinite(value).all())


def is_zero(value: Any) -> bool:
    """Whether a derivative is exactly 0 in all its elements, of which there are some."""
    if type(value) is float:
        return value == 0.0
    return is_float(value) and value.size > 0 and not np.any(value)
