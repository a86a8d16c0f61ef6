"""A sparse matrix of derivatives from few sweeps: which directions share one, and where each
element of the matrix stands in what comes out.
"""

from __future__ import annotations

from gradcli.ops.lazy import np
from gradcli.structure import colouring
from gradcli.structure.colouring import FEW, Sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Compression:
    """matrix: the structure. by_columns: sweeps carry sums of columns (tangents), else of rows
    (cotangents). colours: of each column, or row. count: how many colours. slots: for each element
    of the structure its place in the flattened array [colour, row], or [colour, column].
    """

    __slots__ = ("by_columns", "colours", "count", "matrix", "slots")

    def __init__(self, matrix: Sparse, by_columns: bool, colours: Any, slots: Any) -> None:
        self.matrix = matrix
        self.by_columns = by_columns
        self.colours = colours
        self.count = int(colours.max(initial=-1)) + 1
        self.slots = slots

    def seeds(self, dtype: str = "float64") -> Any:
        """One direction per colour: [colours, columns or rows]."""
        found = np.zeros((self.count, len(self.colours)), dtype)
        used = np.flatnonzero(self.colours >= 0)
        found[self.colours[used], used] = 1.0
        return found


def compressed(matrix: Sparse, sides: str = "any") -> Compression:
    """The side with fewer colours. sides: "columns" or "rows" if only one will do."""
    transposed = matrix.transposed() if sides != "columns" else None
    found: Compression | None = None
    if sides != "rows":
        found = _by_columns(matrix)
    if transposed is not None and (found is None or (
            found.count > FEW and transposed.fullest() < found.count)):
        other = _by_columns(transposed)
        if found is None or other.count < found.count:
            found = Compression(matrix, False, other.colours, _slots(
                other.colours[matrix.rows], matrix.columns, matrix.shape[1]))
    assert found is not None
    return found


def symmetric(matrix: Sparse) -> Compression:
    """Of a symmetric matrix: columns, or a star colouring where that takes fewer."""
    found = _by_columns(matrix)
    # Each of the places in what a star colouring gives is read twice at most: where more than half
    # of them are full, few colours could be saved.
    if found.count <= FEW or 2 * len(matrix.rows) > found.count * matrix.shape[0]:
        return found
    colours = np.array(colouring.star(matrix), np.int64)
    if colours.max(initial=-1) + 1 >= found.count:
        return found
    n, rows, columns = matrix.shape[0], matrix.rows, matrix.columns
    count = int(colours.max()) + 1
    # An element is read in its row unless another one of its colour stands there.
    own, other = rows * count + colours[columns], columns * count + colours[rows]
    alone = np.bincount(own, minlength=n * count) == 1
    direct = alone[own]
    assert np.all(direct | alone[other])
    return Compression(matrix, True, colours, np.where(
        direct, _slots(colours[columns], rows, n), _slots(colours[rows], columns, n)))


def _by_columns(matrix: Sparse) -> Compression:
    colours = np.array(colouring.of_columns(matrix), np.int64)
    return Compression(matrix, True, colours, _slots(
        colours[matrix.columns], matrix.rows, matrix.shape[0]))


def _slots(colours: Any, places: Any, length: int) -> Any:
    return colours * length + places
