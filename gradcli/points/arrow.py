"""Parquet and Arrow files (Feather too), read with pyarrow where it is installed.

Columns of numbers keep their names; a list of fixed size is the columns `x[0]`, `x[1]`. A null is
no number.
"""

from __future__ import annotations

import io

from gradcli.base.errors import Diagnostic, Source
from gradcli.base.lazy import np
from gradcli.points.cells import BETWEEN, texts, written
from gradcli.points.table import Rows, Table, failure, library, unreadable
from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, BinaryIO

# What an Arrow file begins with; the stream itself follows.
MAGIC = b"ARROW1\0\0"


def opened(path: str, name: str, format: str, stdin: BinaryIO | None, size: int) -> Table:
    """Open the table in a Parquet or Arrow file, or on standard input.

    path, name: of the file, and as messages show it.
    format: "parquet" or "arrow".
    size: rows of a block.
    """
    library(name)
    if path == "-":
        assert stdin is not None
        stream = stdin
    else:
        try:
            stream = open(path, "rb")
        except (OSError, ValueError) as problem:
            raise unreadable(name, problem) from None
    try:
        return (_parquet if format == "parquet" else _arrow)(stream, name, size)
    except BaseException:
        stream.close()
        raise


def _parquet(stream: BinaryIO, name: str, size: int) -> Table:
    """Open a Parquet file. Its end holds the index, so a pipe is read as a whole."""
    from pyarrow.parquet import ParquetFile

    def first() -> Any:
        return ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))

    file = _sound(name, first)
    return Batches(
        name, "parquet", file.schema_arrow, file.metadata.num_rows, size, stream,
        lambda: file.iter_batches(batch_size=size))


def _arrow(stream: BinaryIO, name: str, size: int) -> Table:
    from pyarrow import ipc

    def first() -> Any:
        buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(
            stream)
        if buffered.peek(len(MAGIC)).startswith(MAGIC):
            buffered.read(len(MAGIC))
        return ipc.open_stream(buffered)

    reader = _sound(name, first)
    return Batches(name, "arrow", reader.schema, None, size, stream, lambda: reader)


class Batches(Table):
    """The table in a stream of record batches."""

    __slots__ = ("_batches", "_columns", "_size", "_stream", "schema")

    def __init__(self, name: str, format: str, schema: Any, total: int | None, size: int,
                 stream: BinaryIO, batches: Callable[[], Any]) -> None:
        self._columns = [
            column for k, field in enumerate(schema) for column in _columns(k, (), field.type)]
        self._size = size
        self._stream = stream
        self._batches = batches
        self.schema = schema
        super().__init__(name, format, [
            numbers.indexed(schema.field(column.field).name, column.index)
            for column in self._columns], total, "rows")

    def position(self, name: str) -> int | None:
        found = super().position(name)
        if found is not None and not self._columns[found].is_number():
            raise self.column_error(
                found, f"column `{name}` holds {self._columns[found].type}, not numbers",
                "write it as numbers")
        return found

    def arrow_schema(self, wanted: Sequence[int]) -> Any:
        return self.schema

    def blocks(self) -> Iterator[Block]:
        batches, first = iter(_sound(self.name, self._batches)), 0
        while True:
            batch = _sound(self.name, lambda: next(batches, None))
            if batch is None:
                return
            for start in range(0, batch.num_rows, self._size):
                part = batch.slice(start, self._size)
                yield Block(self.name, self.names, self._columns, part, first)
                first += part.num_rows

    def close(self) -> None:
        self._stream.close()


class Column:
    """A column of the file, or one element of a column of lists. type: of its elements."""

    __slots__ = ("field", "index", "type")

    def __init__(self, field: int, index: tuple[int, ...], type: Any) -> None:
        self.field = field
        self.index = index
        self.type = type

    def of(self, batch: Any) -> Any:
        """Return its part of a batch."""
        from pyarrow import compute

        found = batch.column(self.field)
        for k in self.index:
            found = compute.list_element(found, k)
        return found

    def is_number(self) -> bool:
        from pyarrow import types

        return bool(types.is_floating(self.type) or types.is_integer(self.type)
                    or types.is_decimal(self.type))


def _columns(field: int, index: tuple[int, ...], type: Any) -> Iterator[Column]:
    from pyarrow import types

    if types.is_fixed_size_list(type) and type.list_size:
        for k in range(type.list_size):
            yield from _columns(field, (*index, k), type.value_type)
    else:
        yield Column(field, index, type)


class Block:
    """Some rows of a batch."""

    __slots__ = ("batch", "columns", "done", "first", "name", "names")

    def __init__(self, name: str, names: Sequence[str], columns: Sequence[Column], batch: Any,
                 first: int) -> None:
        self.name = name
        self.names = names
        self.columns = columns
        self.batch = batch
        self.first = first
        self.done = first + batch.num_rows

    def __reduce__(self) -> tuple[Any, ...]:
        # A slice would be sent with all of its batch.
        return _block, (self.name, self.names, self.columns, self.batch.schema,
                        self.batch.serialize().to_pybytes(), self.first)

    def parse(self, wanted: Sequence[int], echo: str | None) -> Rows:
        import pyarrow as pa

        found: list[Any] = []
        bad: dict[int, Diagnostic] = {}
        for k in wanted:
            column = self.columns[k].of(self.batch)
            # Integers beyond 2^53 are rounded, as in any other format.
            values = column.cast(pa.float64(), safe=False)
            found.append(np.array(values.to_numpy(zero_copy_only=False)))
            if values.null_count:
                for row in np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False)).tolist():
                    bad.setdefault(row, self._null(row, k))
        for row in bad:
            for values in found:
                values[row] = np.nan
        return Rows(self.first, self.batch.num_rows, found, self._echo(echo), bad)

    def _null(self, row: int, column: int) -> Diagnostic:
        return Diagnostic(
            "E0612", f"a null is not a number: row {self.first + row} (the first is 0), column"
            f" `{self.names[column]}`", span=(0, 0), source=Source("", self.name),
            help="leave out the row, or write nan")

    def _echo(self, echo: str | None) -> list[Any] | None:
        if echo is None:
            return None
        if echo not in BETWEEN:
            return list(self.batch.columns)
        columns = [_texts(column.of(self.batch), echo) for column in self.columns]
        return list(map(BETWEEN[echo].join, zip(*columns, strict=True)))


def _block(name: str, names: Sequence[str], columns: Sequence[Column], schema: Any, batch: bytes,
           first: int) -> Block:
    from pyarrow import ipc

    return Block(name, names, columns, ipc.read_record_batch(batch, schema), first)


def _texts(column: Any, echo: str) -> list[bytes]:
    import pyarrow as pa

    if column.type == pa.float64() and not column.null_count:
        return texts(column.to_numpy())
    return written(["" if item is None else numbers.exact(item) for item in column.to_pylist()],
                   echo)


def _sound(name: str, read: Callable[[], Any]) -> Any:
    """Return the result of `read`. Raises E0611 for a file that is damaged or no such file."""
    import pyarrow as pa

    try:
        return read()
    except (pa.ArrowException, OSError, ValueError, EOFError) as problem:
        reason = (str(problem).splitlines() or [""])[0]
        raise failure("E0611", f"cannot read `{name}`: {reason:.200}", name,
                      "give a whole Parquet or Arrow file") from None
