"""Rows with their answers as Parquet and Arrow files.

A piece is a record batch with its schema, as Arrow streams it; the sink puts the batches into the
file, which for Parquet gathers them into row groups.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.lazy import np
from gradcli.points.arrow import library
from gradcli.points.writing import Output, Sink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, BinaryIO

    from gradcli.points.table import Rows, Table
    from gradcli.points.writing import Failed


class Columns(Output):
    """Record batches of the schema of the table, and a float64 column for each title."""

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
    """A column of answers, null where there is none. Raises E0616 for complex ones."""
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
    """Puts record batches into a file."""

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
