"""Rows with their results, in each format.

An `Output` writes blocks of rows as pieces, each by itself, so that workers can; a `Sink` puts the
pieces together: a head before the first, text between them and a tail after the last. Formats:

    csv, tsv    the row as in the input, then its results
    plain       the row and its results, separated by tabs, invisible characters as escapes
    markdown    the row and its results as a table
    ndjson      {"row": 0, "y": 9.0, "dy/dx": 6.0} per row, the first row of the input being 0
    json        one object, "points" being the objects of NDJSON
    parquet     the columns of the input, then the results as float64
    arrow       the columns of Parquet in Arrow's file format, which is Feather's

A gradient that does not exist is `None`, in JSON and Arrow null. A row that failed is left out, or
with on_error "null" has no results; in JSON it says why.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.points.cells import BETWEEN, json_texts, texts, written
from gradcli.points.table import library
from gradcli.render import machine as as_json
from gradcli.render import markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, BinaryIO, Self

    from gradcli.base.errors import Diagnostic
    from gradcli.points.table import Rows, Table

    Failed = Mapping[int, Diagnostic]


def output(format: str, table: Table, wanted: Sequence[int], titles: Sequence[str], on_error: str,
           about: Mapping[str, Any]) -> Output:
    """Return the writer of results with these titles behind the columns of a table.

    wanted: the columns that are read as numbers.
    on_error: "stop", "skip" or "null".
    about: what JSON says before the points.

    Raises E0612 for a title that a column beside it has.
    """
    keep = on_error == "null"
    if format in ("ndjson", "json"):
        return Objects(format, titles, keep, about)
    for column, name in enumerate(table.names):
        if name in titles:
            raise table.column_error(
                column, f"the table has a column `{name}` already, and an answer is called so, too",
                "give the column another name")
    if format in ("parquet", "arrow"):
        return Columns(format, table, wanted, titles, keep)
    return Delimited(format, table, titles, keep)


class Output(ABC):
    """A writer of one format. echo: the form in which `Block.parse` has to repeat the input."""

    __slots__ = ("between", "echo", "format", "head", "keep", "tail", "titles")

    def __init__(self, format: str, echo: str | None, titles: Sequence[str], keep: bool, head: str,
                 between: str = "", tail: str = "") -> None:
        self.format = format
        self.echo = echo
        self.titles = list(titles)
        self.keep = keep
        self.head, self.between, self.tail = (
            text.encode("utf-8", "backslashreplace") for text in (head, between, tail))

    @abstractmethod
    def piece(self, rows: Rows, answers: Sequence[Any], failed: Failed) -> bytes:
        """Return the rows of a block, written; nothing if no row is left.

        answers: one array [rows] for each title, of dtype object where some are None, or None where
        all are. failed: the rows without results and why, bad ones included.
        """

    def sink(self, stream: BinaryIO) -> Sink:
        """Return the sink for the pieces, in order."""
        return Sink(self, stream)


class Sink:
    """A stream that pieces are put together on."""

    __slots__ = ("_output", "_started", "_stream")

    def __init__(self, output: Output, stream: BinaryIO) -> None:
        self._output = output
        self._started = False
        self._stream = stream

    def write(self, piece: bytes) -> None:
        """Write the next piece."""
        if piece:
            self._stream.write(self._output.between if self._started else self._output.head)
            self._stream.write(piece)
            self._started = True

    def close(self) -> None:
        """Write the end; the stream stays open."""
        if not self._started:
            self._stream.write(self._output.head)
        self._stream.write(self._output.tail)

    def abandon(self) -> None:
        """Give up: nothing more is written, and what is written is not whole."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class Delimited(Output):
    """A writer of lines of cells."""

    __slots__ = ()

    def __init__(self, format: str, table: Table, titles: Sequence[str], keep: bool) -> None:
        between = BETWEEN[format].decode()
        if format == "markdown":
            names = [markdown.code(title) for title in (*table.names, *titles)]
            head = markdown.table(names, [markdown.RIGHT] * len(names), [])
        else:
            added = [cell.decode() for cell in written(titles, format)]
            head = between.join([table.header(format), *added]) + "\n"
        super().__init__(format, format, titles, keep, head)

    def piece(self, rows: Rows, answers: Sequence[Any], failed: Failed) -> bytes:
        between = BETWEEN[self.format]
        columns = [[b"None"] * rows.count if a is None else texts(a) for a in answers]
        assert rows.echo is not None
        lines = list(map(between.join, zip(rows.echo, *columns, strict=True)))
        if self.keep:
            for k in failed:
                lines[k] = rows.echo[k] + between * len(self.titles)
        elif failed:
            lines = [line for k, line in enumerate(lines) if k not in failed]
        if self.format == "markdown":
            lines = [b"| %b |" % line for line in lines]
        return b"\n".join([*lines, b""]) if lines else b""


class Objects(Output):
    """A writer of JSON objects, one on a line."""

    __slots__ = ("template",)

    def __init__(self, format: str, titles: Sequence[str], keep: bool, about: Mapping[str, Any]
                 ) -> None:
        whole = as_json.dump({"schema": 1, **about})
        super().__init__(format, None, titles, keep, *(
            (f'{whole[:-1]}, "points": [\n', ",\n", "\n]}\n") if format == "json" else ("",)))
        keys = [as_json.dump(title).replace("%", "%%") for title in titles]
        fields = "".join([f", {key}: %b" for key in keys])
        self.template = f'{{"row": %d{fields}}}'.encode()

    def piece(self, rows: Rows, answers: Sequence[Any], failed: Failed) -> bytes:
        columns = [[b"null"] * rows.count if a is None else json_texts(a) for a in answers]
        template = self.template
        lines = [template % row for row in zip(
            range(rows.first, rows.first + rows.count), *columns, strict=True)]
        if self.keep:
            for k, why in failed.items():
                lines[k] = self._failed(rows.first + k, why)
        elif failed:
            lines = [line for k, line in enumerate(lines) if k not in failed]
        if self.format == "json":
            return b",\n".join(lines)
        return b"\n".join([*lines, b""]) if lines else b""

    def _failed(self, row: int, why: Diagnostic) -> bytes:
        return as_json.dump({
            "row": row, **dict.fromkeys(self.titles),
            "error": {"code": why.code, "message": why.message}}).encode()


# --------------------------------------------------------------------------------------------------
# Rows with their answers as Parquet and Arrow files.
#
# A piece is a record batch with its schema, as Arrow streams it; the sink puts the batches into the
# file, which for Parquet gathers them into row groups.

class Columns(Output):
    """A writer of record batches: the columns of the table, and a float64 column for each title."""

    __slots__ = ("schema",)

    def __init__(self, format: str, table: Table, wanted: Sequence[int], titles: Sequence[str],
                 keep: bool) -> None:
        pa = library(table.name)
        super().__init__(format, format, titles, keep, "")
        schema = table.arrow_schema(wanted)
        for title in titles:
            schema = schema.append(pa.field(title, pa.float64()))
        self.schema = schema

    def piece(self, rows: Rows, answers: Sequence[Any], failed: Failed) -> bytes:
        import pyarrow as pa

        assert rows.echo is not None
        lost = np.zeros(rows.count, bool)
        lost[list(failed)] = True
        columns = [pa.array(column, field.type) if isinstance(column, list | np.ndarray) else column
                   for column, field in zip(rows.echo, self.schema, strict=False)]
        columns += [_floats(title, values, lost)
                    for title, values in zip(self.titles, answers, strict=True)]
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        if failed and not self.keep:
            batch = batch.filter(pa.array(~lost))
        if not batch.num_rows:
            return b""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema) as writer:
            writer.write_batch(batch)
        return bytes(sink.getvalue().to_pybytes())

    def sink(self, stream: BinaryIO) -> Sink:
        return BatchSink(self, stream)


def _floats(title: str, values: Any, lost: Any) -> Any:
    """Return a column of results, null where there is none. Raises E0616 for complex ones."""
    import pyarrow as pa

    if values is None:
        return pa.nulls(len(lost), pa.float64())
    if values.dtype.kind == "c":
        raise error("E0616", f"`{title}` is complex, for which Parquet and Arrow have no column",
                    help="use another format, or ask for real(...) and imag(...)")
    if values.dtype.kind == "O":
        lost = lost | np.array([value is None for value in values.tolist()])
        values = np.where(lost, np.nan, values)
    return pa.array(values.astype(float), pa.float64(), mask=lost)


class BatchSink(Sink):
    """A file that record batches are put into."""

    __slots__ = ("_writer",)

    def __init__(self, output: Columns, stream: BinaryIO) -> None:
        super().__init__(output, stream)
        if output.format == "parquet":
            from pyarrow.parquet import ParquetWriter

            self._writer: Any = ParquetWriter(stream, output.schema)
        else:
            from pyarrow import ipc

            self._writer = ipc.new_file(stream, output.schema)

    def write(self, piece: bytes) -> None:
        if piece:
            from pyarrow import ipc

            for batch in ipc.open_stream(piece):
                self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        # Else it closes itself when it is collected, onto a stream that is closed by then.
        self._writer.is_open = False
