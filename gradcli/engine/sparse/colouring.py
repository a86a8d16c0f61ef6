"""Directions that share a sweep: colours of the columns (or rows) of a sparse matrix.

Two columns with a common row need different colours, so that in a sum of columns of one colour each
element is one element of the matrix (Curtis, Powell and Reid 1974). A symmetric matrix needs fewer:
an element may be read in its row or, transposed, in its column, which is what a star colouring
allows: each path over four vertices has three colours. Both are greedy, with sets of colours as the
bits of a number.

Sources: Gebremedhin, Manne and Pothen, What color is your Jacobian?, SIAM Review 47 (2005),
section 3; Gebremedhin, Tarafdar, Manne and Pothen, New acyclic and star coloring algorithms with
application to computing Hessians, SIAM J. Sci. Comput. 29 (2007), section 4.
"""

from __future__ import annotations

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# With so few colours a matrix is not worth a second look.
FEW = 8


class Sparse:
    """The structure of a matrix: the elements that can differ from 0.

    rows, columns: indices of these elements, row by row, columns ascending.
    """

    __slots__ = ("columns", "rows", "shape")

    def __init__(self, shape: tuple[int, int], rows: Any, columns: Any) -> None:
        self.shape = shape
        self.rows = rows
        self.columns = columns

    def transposed(self) -> Sparse:
        """Return the transpose, in the same order of its own rows."""
        order = np.lexsort((self.rows, self.columns))
        return Sparse(self.shape[::-1], self.columns[order], self.rows[order])

    def fullest(self) -> int:
        """Return the most elements in a row: columns need as many colours at least."""
        return int(np.bincount(self.rows, minlength=1).max()) if len(self.rows) else 0

    def lines(self) -> list[list[int]]:
        """Return the columns of each row."""
        ends = np.searchsorted(self.rows, np.arange(self.shape[0]), side="right").tolist()
        columns = self.columns.tolist()
        return [columns[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def of_columns(matrix: Sparse) -> list[int]:
    """Return a colour for each column, from 0; -1 for an empty one."""
    there = np.zeros(matrix.shape[1], bool)
    there[matrix.columns] = True
    if matrix.fullest() == there.sum():  # a row with all of them: no two can share a colour
        return list(np.where(there, np.cumsum(there) - 1, -1).tolist())
    lines = matrix.transposed().lines()
    found = _of_columns(lines, matrix.shape[0], range(len(lines)))
    if max(found, default=-1) + 1 > max(FEW, matrix.fullest()):
        again = _of_columns(lines, matrix.shape[0], largest_first(lines))
        if max(again) < max(found):
            found = again
    return found


def largest_first(lines: Sequence[Sequence[int]]) -> list[int]:
    """Return the vertices by number of neighbours, largest first, for a greedy colouring."""
    return sorted(range(len(lines)), key=lambda k: -len(lines[k]))


def _of_columns(lines: Sequence[Sequence[int]], rows: int, order: Sequence[int]) -> list[int]:
    used = [0] * rows
    found = [-1] * len(lines)
    for column in order:
        line = lines[column]
        taken = 0
        for row in line:
            taken |= used[row]
        if line:
            bit = ~taken & (taken + 1)
            found[column] = bit.bit_length() - 1
            for row in line:
                used[row] |= bit
    return found


def star(matrix: Sparse) -> list[int]:
    """Return a colour for each vertex of the graph of a symmetric matrix; -1 for an empty row."""
    lines = matrix.lines()
    neighbours = [[u for u in line if u != v] for v, line in enumerate(lines)]
    n = len(lines)
    bits = [0] * n
    # Colours that stand once, and at least twice, among the neighbours of each vertex.
    once, twice = [0] * n, [0] * n
    # Colours of the middle vertices of the stars that each vertex is an end of.
    hubs = [0] * n
    for v in largest_first(lines):
        if not lines[v]:
            continue
        taken = once[v]
        for w in neighbours[v]:
            taken |= once[w] if bits[w] & twice[v] else hubs[w]
        bit = bits[v] = ~taken & (taken + 1)
        for u in neighbours[v]:
            if once[u] & bit and not twice[u] & bit:
                twice[u] |= bit
                for w in neighbours[u]:  # the other one of this colour
                    if bits[w] == bit:
                        hubs[w] |= bits[u]
            elif once[u] & bit:
                hubs[v] |= bits[u]
            once[u] |= bit
        if twice[v]:
            for w in neighbours[v]:
                if bits[w] & twice[v]:
                    hubs[w] |= bit
    return [b.bit_length() - 1 for b in bits]


# --------------------------------------------------------------------------------------------------
# A sparse matrix of derivatives from few sweeps: which directions share one, and where each
# element of the matrix stands in what comes out.

class Compression:
    """A colouring of the columns or rows of a sparse matrix.

    matrix: the structure.
    by_columns: whether sweeps carry sums of columns (tangents), else of rows (cotangents).
    colours: of each column, or row.
    count: the number of colours.
    slots: for each element of the structure its index in the flattened array [colour, row], or
        [colour, column].
    """

    __slots__ = ("by_columns", "colours", "count", "matrix", "slots")

    def __init__(self, matrix: Sparse, by_columns: bool, colours: Any, slots: Any) -> None:
        self.matrix = matrix
        self.by_columns = by_columns
        self.colours = colours
        self.count = int(colours.max(initial=-1)) + 1
        self.slots = slots

    def seeds(self, dtype: str = "float64") -> Any:
        """Return one direction for each colour: [colours, columns or rows]."""
        found = np.zeros((self.count, len(self.colours)), dtype)
        used = np.flatnonzero(self.colours >= 0)
        found[self.colours[used], used] = 1.0
        return found


def compressed(matrix: Sparse, sides: str = "any") -> Compression:
    """Return the colouring of the side with fewer colours.

    sides: "columns" or "rows" if only one will do.
    """
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
    """Return a colouring of a symmetric matrix: of columns, or a star colouring if smaller."""
    found = _by_columns(matrix)
    # Each of the places in what a star colouring gives is read twice at most: where more than half
    # of them are full, few colours could be saved.
    if found.count <= FEW or 2 * len(matrix.rows) > found.count * matrix.shape[0]:
        return found
    colours = np.array(star(matrix), np.int64)
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
    colours = np.array(of_columns(matrix), np.int64)
    return Compression(matrix, True, colours, _slots(
        colours[matrix.columns], matrix.rows, matrix.shape[0]))


def _slots(colours: Any, places: Any, length: int) -> Any:
    return colours * length + places
