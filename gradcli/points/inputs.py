"""Which columns give a program its inputs: `x`, or for a vector `x[0]`, `x[1]`, ...

Other columns are handed through: a table may have more than a program reads.
"""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError
from gradcli.ops.lazy import np
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.points.table import Table
    from gradcli.program import Program


class Input:
    """An input that columns give. shape: of its value. places: per element, in row-major order,
    which of the wanted columns it is.
    """

    __slots__ = ("name", "places", "shape")

    def __init__(self, name: str, shape: tuple[int, ...], places: Sequence[int]) -> None:
        self.name = name
        self.shape = shape
        self.places = list(places)

    def array(self, columns: Sequence[Any]) -> Any:
        """[points, shape] from one array for each wanted column."""
        if not self.shape:
            return columns[self.places[0]]
        return np.stack([columns[k] for k in self.places], axis=1).reshape(-1, *self.shape)


def inputs_of(program: Program, table: Table, at: Mapping[str, Any]
              ) -> tuple[list[Input], list[int]]:
    """The inputs that a table gives, and the positions of the columns that they need.

    Raises E0614 where no column is an input, a name is given twice or an element is missing.
    """
    found: dict[str, dict[tuple[int, ...], str]] = {}
    for column in dict.fromkeys(table.names):
        name, index = _element(column)
        if name in program.names.order and name not in program.names.functions:
            found.setdefault(name, {})[index] = column
    if not found:
        columns = ", ".join(table.names[:8]) + (", ..." if len(table.names) > 8 else "")
        wanted = program.default_sources() or list(program.names.order)
        raise _bad(table, f"no column of {columns} is an input of `{program.source.name}`",
                   f"call a column {wanted[0]}" if wanted else
                   "the program reads no input; leave --points out")
    inputs: list[Input] = []
    wanted_columns: list[int] = []
    for name, elements in found.items():
        if name in at:
            raise _bad(table, f"`{name}` has a column and a value in --at", "give one of them")
        shape = _shape(table, name, elements)
        places = range(len(wanted_columns), len(wanted_columns) + len(elements))
        inputs.append(Input(name, shape, places))
        for index in np.ndindex(*shape):
            position = table.position(elements[index])
            assert position is not None
            wanted_columns.append(position)
    return inputs, wanted_columns


def _element(column: str) -> tuple[str, tuple[int, ...]]:
    """("x", (0, 1)) of `x[0,1]`; (column, ()) of anything else."""
    name, bracket, rest = column.partition("[")
    parts = [part.strip() for part in rest[:-1].split(",")]
    if not bracket or not rest.endswith("]") or not all(
            part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return column, ()
    return name.strip(), tuple(map(int, parts))


def _shape(table: Table, name: str, elements: Mapping[tuple[int, ...], str]) -> tuple[int, ...]:
    """The shape whose elements these are: all of them, no others."""
    ranks = {len(index) for index in elements}
    if len(ranks) > 1:
        raise _bad(table, f"{', '.join(map('`{}`'.format, elements.values()))} do not fit together",
                   f"give the elements of `{name}` as {name}[0], {name}[1], ...")
    shape = tuple([1 + max(axis) for axis in zip(*elements, strict=True)])
    if int(np.prod(shape, dtype=object)) != len(elements):
        missing = next(at for at in np.ndindex(*shape) if at not in elements)
        raise _bad(table, f"column `{name}[{','.join(map(str, missing))}]` is missing",
                   f"give all elements of `{name}`")
    return shape


def _bad(table: Table, message: str, help: str) -> GradcliError:
    line = table.header(None)
    return GradcliError(Diagnostic(
        "E0614", message, span=(0, len(line)), source=Source(line, table.name), help=help))
