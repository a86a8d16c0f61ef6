"""Jacobians and Hessians as coordinate triples in an answer."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.calculus import size
from gradcli.ops.values import check_bytes, shape_of
from gradcli.questions.plain_data import EACH, data, is_finite, undata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.sparse.triples import Triples
    from gradcli.questions.plain_data import Answer

# What is 0 or not finite in a larger one is not explained: that takes sweeps in all directions.
MAX_EXPLAINED = 1_000_000


def remarkable(g: Triples) -> Any:
    """The values of triples; the whole array where there is something to say."""
    if g.values.any() and is_finite(g.values):
        return g.values
    return g.dense() if size(g.shape) <= MAX_EXPLAINED else g.values[:0]


def triples(g: Any, source: Sequence[int]) -> Answer:
    """A derivative in what has the shape `source` as triples; of an array, what is not 0."""
    if not hasattr(g, "coordinates"):
        from gradcli.engine.sparse.triples import nonzeros

        g = nonzeros(g, len(shape_of(g)) - len(source))
    rows, columns = g.coordinates()
    return {"sparse": {"shape": list(g.shape), "rows": rows, "columns": columns,
                       "values": data(g.values)}}


def whole(item: Answer, field: str) -> Any:
    """A derivative of an answer as one array, or None."""
    found = item.get("sparse")
    if found is None:
        return undata(item[field])
    check_bytes(EACH * size(found["shape"]))
    array = np.zeros(found["shape"])
    for row, column, value in zip(
            found["rows"], found["columns"], found["values"], strict=True):
        array[(*row, *column)] = value
    return array


def derivative(field: str, g: Any, source: Any, sparse: bool) -> Answer:
    """A derivative in the value `source` as data: under its name, or triples under `sparse`."""
    if not sparse or g is None:
        return {field: data(g)}

    return triples(g, shape_of(source))


def seen(g: Any) -> Any:
    """What notes on a derivative look at."""
    if not hasattr(g, "coordinates"):
        return g

    return remarkable(g)
