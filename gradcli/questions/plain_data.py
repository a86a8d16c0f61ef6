"""From the engine's values to plain data: floats, strings, None, nested lists, and triples."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.calculus import size
from gradcli.ops.values import SCALAR_TYPES, check_bytes, is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.base.errors import Source
    from gradcli.engine.sparse.triples import Triples

    Answer = dict[str, Any]


# Bytes of a number of an answer: in the array, and as a float in a list.
NUMBER_BYTES = 8.0 + 32.0


def heading(source: Source, command: str) -> Answer:
    """Return what every answer begins with. `read_as`, the formulas that were read otherwise than
    typed, is there only where some were.
    """
    found = {"schema": 1, "command": command, "file": source.name}
    return {**found, "read_as": source.read_as} if source.read_as else found


def data(value: Any) -> Any:
    """Return a value as numbers and nested lists."""
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
    """Return nested lists as an array."""
    if not isinstance(value, list):
        return value
    from gradcli.base.lazy import np

    return np.array(value)


def shape(value: Any) -> list[int] | None:
    """Return the shape of a value; None for a structure."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return list(shape_of(value))


def lines(source: Source, items: Iterable[Answer]) -> Answer:
    """Return the text of each line that one of the items, or what is related to it, names."""
    numbers = {place["line"] for item in items for place in (item, *(item.get("related") or ()))}
    return {n: source.line(n) for n in sorted(numbers - {None})}


def is_finite(value: Any) -> bool:
    """Return whether a value has neither NaN nor infinity in it."""
    if type(value) is float:
        return value - value == 0.0
    return not is_float(value) or bool(np.isfinite(value).all())


def is_zero(value: Any) -> bool:
    """Return whether a derivative is exactly 0 in all its elements, of which there are some."""
    if type(value) is float:
        return value == 0.0
    return is_float(value) and value.size > 0 and not np.any(value)


# --------------------------------------------------------------------------------------------------
# Jacobians and Hessians as coordinate triples.

# What is 0 or not finite in a larger one is not explained: that takes sweeps in all directions.
MAX_EXPLAINED = 1_000_000


def remarkable(g: Triples) -> Any:
    """Return the values of triples; the whole array where there is something to say."""
    if g.values.any() and is_finite(g.values):
        return g.values
    return g.dense() if size(g.shape) <= MAX_EXPLAINED else g.values[:0]


def triples(g: Any, source: Sequence[int]) -> Answer:
    """Return a derivative by a source of shape `source` as triples; of an array, its nonzero
    elements.
    """
    if not hasattr(g, "coordinates"):
        from gradcli.engine.sparse.triples import nonzeros

        g = nonzeros(g, len(shape_of(g)) - len(source))
    rows, columns = g.coordinates()
    return {"sparse": {"shape": list(g.shape), "rows": rows, "columns": columns,
                       "values": data(g.values)}}


def whole(item: Answer, field: str) -> Any:
    """Return a derivative of an answer as one array, or None."""
    found = item.get("sparse")
    if found is None:
        return undata(item[field])
    check_bytes(NUMBER_BYTES * size(found["shape"]))
    array = np.zeros(found["shape"])
    for row, column, value in zip(
            found["rows"], found["columns"], found["values"], strict=True):
        array[(*row, *column)] = value
    return array


def derivative(field: str, g: Any, source: Any, sparse: bool) -> Answer:
    """Return a derivative by the value `source` as data: under its name, or triples under `sparse`.
    """
    if not sparse or g is None:
        return {field: data(g)}

    return triples(g, shape_of(source))


def seen(g: Any) -> Any:
    """Return what notes on a derivative look at."""
    if not hasattr(g, "coordinates"):
        return g

    return remarkable(g)
