"""A sparse array of derivatives as coordinate triples."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.ops.values import check_bytes, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.ops.values import Shape


class Triples:
    """Derivatives of a value of shape `target` in one of shape `source`, as coordinate triples.

    rows, columns: flat indices in these of each element that can differ from 0, row by row, columns
    ascending; values: the elements.
    """

    __slots__ = ("columns", "rows", "source", "target", "values")

    def __init__(self, target: Shape, source: Shape, rows: Any, columns: Any, values: Any) -> None:
        self.target = target
        self.source = source
        self.rows = rows
        self.columns = columns
        self.values = values

    @property
    def shape(self) -> Shape:
        """Return the shape of the whole array."""
        return self.target + self.source

    def dense(self) -> Any:
        """Return the whole array. Raises E0403 where it does not fit."""
        m, n = (int(np.prod(s, dtype=np.int64)) for s in (self.target, self.source))
        check_bytes(float(self.values.itemsize) * m * n)
        found = np.zeros(m * n, self.values.dtype)
        found[self.rows * n + self.columns] = self.values
        return plain(found.reshape(self.shape))

    def coordinates(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return the indices of each element along the axes of the target, and of the source."""
        return _unravelled(self.rows, self.target), _unravelled(self.columns, self.source)


def empty(target: Shape, source: Shape) -> Triples:
    """Return triples of nothing but zeros."""
    none = np.zeros(0, np.int64)
    return Triples(target, source, none, none, np.zeros(0))


def nonzeros(whole: Any, split: int) -> Triples:
    """Return the elements of an array that are not 0.

    split: the number of its axes that are the target's.
    """
    array = np.asarray(whole)
    target, source = array.shape[:split], array.shape[split:]
    flat = array.reshape([int(np.prod(s, dtype=np.int64)) for s in (target, source)])
    rows, columns = np.nonzero(flat)
    return Triples(target, source, rows, columns, flat[rows, columns])


def everywhere(whole: Any, target: Shape, source: Shape) -> Triples:
    """Return all elements of an array."""
    flat = np.ravel(whole)
    n = int(np.prod(source, dtype=np.int64))
    places = np.arange(flat.size)
    return Triples(target, source, places // max(n, 1), places % max(n, 1), flat)


def _unravelled(places: Any, shape: Shape) -> list[list[int]]:
    found: list[list[int]] = np.stack(
        np.unravel_index(places, shape), axis=-1).tolist() if shape else [[]] * len(places)
    return found
