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

from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# With so few colours a matrix is not worth a second look.
FEW = 8


class Sparse:
    """Which elements of a matrix can differ from 0: rows, columns: of these, row by row, columns
    ascending.
    """

    __slots__ = ("columns", "rows", "shape")

    def __init__(self, shape: tuple[int, int], rows: Any, columns: Any) -> None:
        self.shape = shape
        self.rows = rows
        self.columns = columns

    def transposed(self) -> Sparse:
        """The transpose, in the same order of its own rows."""
        order = np.lexsort((self.rows, self.columns))
        return Sparse(self.shape[::-1], self.columns[order], self.rows[order])

    def fullest(self) -> int:
        """The most elements in a row: columns need as many colours at least."""
        return int(np.bincount(self.rows, minlength=1).max()) if len(self.rows) else 0

    def lines(self) -> list[list[int]]:
        """The columns of each row."""
        ends = np.searchsorted(self.rows, np.arange(self.shape[0]), side="right").tolist()
        columns = self.columns.tolist()
        return [columns[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def of_columns(matrix: Sparse) -> list[int]:
    """A colour for each column, from 0; -1 for an empty one."""
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
    """The order of a greedy colouring by how many others a vertex meets."""
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
    """A colour for each vertex of the graph of a symmetric matrix, from 0; -1 for an empty row."""
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
