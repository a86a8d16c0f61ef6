"""A table of numbers: named columns, read block by block.

A `Table` holds the open file and stays in its process. Its blocks are unparsed pieces of the file,
cheap to cut, and know how to be parsed: on any thread, process or machine. An error in one row is a
diagnostic for that row; an error in the whole is raised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from gradcli.base.errors import MAX_BYTES, Diagnostic, GradcliError, Source
from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, BinaryIO, Protocol, Self

    class Block(Protocol):
        """Some rows.

        first: number of the first one, from 0. done: the amount of the table's total up to its end.
        """

        @property
        def first(self) -> int: ...

        @property
        def done(self) -> int: ...

        def parse(self, wanted: Sequence[int], echo: str | None) -> Rows:
            """Return the numbers of the columns at these positions.

            echo: the format of the output, which repeats the row in front of its results; None if
            it does not.
            """

HELP = ("give a CSV, TSV, NDJSON, Parquet or Arrow file, `-` for standard input, or a range such as"
        " x=linspace(0,1,11)")

# Bytes that a number takes in a file of text, about.
CELL = 16

class Rows:
    """A parsed block.

    columns: one float64 [count] for each wanted column, NaN in bad rows.
    bad: index in the block to its diagnostic.
    echo: for text formats the text of each row, for Arrow formats each column of the input, numbers
        where it was wanted, else text or an Arrow array.
    """

    __slots__ = ("bad", "columns", "count", "echo", "first")

    def __init__(self, first: int, count: int, columns: list[Any], echo: list[Any] | None,
                 bad: Mapping[int, Diagnostic]) -> None:
        self.first = first
        self.count = count
        self.columns = columns
        self.echo = echo
        self.bad = dict(bad)


class Excerpt(Source):
    """Some lines of a file that is not kept: the first one has the number that it has there."""

    __slots__ = ("start",)

    def __init__(self, text: str, name: str, start: int) -> None:
        super().__init__(text, name)
        self.start = start

    def position(self, offset: int) -> tuple[int, int]:
        line, column = super().position(offset)
        return line + self.start - 1, column

    def line(self, number: int) -> str:
        return super().line(number - self.start + 1)


class Table(ABC):
    """Named columns.

    name: of the file.
    format: of the file.
    names: of the columns, possibly empty or given twice.
    total: of `unit` ("bytes" or "rows"); None where it is not known.
    """

    __slots__ = ("format", "name", "names", "total", "unit")

    def __init__(self, name: str, format: str, names: Sequence[str], total: int | None,
                 unit: str) -> None:
        self.name = name
        self.format = format
        self.names = list(names)
        self.total = total
        self.unit = unit

    def position(self, name: str) -> int | None:
        """Return the index of a column; None if there is none. Raises E0612 if there are two."""
        found = [k for k, other in enumerate(self.names) if other == name]
        if len(found) > 1:
            raise self.column_error(
                found[1], f"two columns are called `{name}`", "give each a name of its own")
        return found[0] if found else None

    def header(self, echo: str | None) -> str:
        """Return the names as the first cells of a head line; None: the line as in the file."""
        from gradcli.points.cells import joined

        return joined([self.names], echo or "csv")[0].decode()

    def rows(self) -> int:
        """Return about how many rows there are; 0 where that is not known."""
        if self.total is None or self.unit == "rows":
            return self.total or 0
        return self.total // (CELL * max(len(self.names), 1))

    def column_error(self, column: int, message: str, help: str) -> GradcliError:
        """Return E0612, about a column."""
        return failure("E0612", message, self.name, help)

    def arrow_schema(self, wanted: Sequence[int]) -> Any:
        """Return the columns in Arrow's terms: numbers where they are wanted, else text."""

        pa = library(self.name)
        return pa.schema([
            (name, pa.float64() if k in wanted else pa.string())
            for k, name in enumerate(self.names)])

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield all rows in order, once. Raises errors that make it impossible to go on."""

    def close(self) -> None:  # noqa: B027 -- a grid has nothing to close
        """Close the file, if it is one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def unreadable(name: str, problem: Exception) -> GradcliError:
    """Return E0601, with the system's reason."""
    reason = getattr(problem, "strerror", None) or str(problem)
    return failure("E0601", f"cannot read `{name}`: {reason.lower()}", name)


def failure(code: str, message: str, name: str, help: str = HELP) -> GradcliError:
    """Return an error about a file as a whole."""
    return GradcliError(Diagnostic(code, message, span=(0, 0), source=Source("", name), help=help))


# --------------------------------------------------------------------------------------------------
# Whole lines from a stream, as many at a time as are asked for.
#
# A chunk's line ends are found once, all together, so that cutting costs next to nothing: 0.02 s
# for a million lines. What a pipe brings in small pieces is put together.

CHUNK = 1 << 20
NEWLINE = 10
MARK = b"\xef\xbb\xbf"


class Lines:
    """The lines of a stream, without a byte order mark.

    line: number of the next one, from 1. done: the number of bytes handed out.
    """

    __slots__ = ("_at", "_chunk", "_ends", "_next", "_read", "_stream", "_tail", "done", "line",
                 "name")

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.line = 1
        self.done = 0
        self._stream = stream
        # Whatever a pipe has, rather than to wait for all of it.
        self._read = getattr(stream, "read1", stream.read)
        self._chunk = b""
        self._ends = np.empty(0, int)
        self._at = 0        # what of the chunk is handed out
        self._next = 0      # the first end that is not
        self._tail = 0      # bytes since the last line end that was read

    def take(self, count: int) -> bytes:
        """Return the next `count` lines with their ends, fewer at the end of the stream.

        Raises E0601 where it cannot be read on and E0602 for a line without an end.
        """
        parts = []
        while True:
            left = len(self._ends) - self._next
            if count <= left:
                stop = int(self._ends[self._next + count - 1]) + 1
                parts.append(self._chunk[self._at:stop])
                self._at, self._next = stop, self._next + count
                self.line += count
                break
            parts.append(self._chunk[self._at:])
            count -= left
            self.line += left
            if not self._more():
                self.line += bool(parts[-1]) and not parts[-1].endswith(b"\n")
                break
        taken = b"".join(parts)
        at_start = self.done == 0
        self.done += len(taken)
        return taken.removeprefix(MARK) if at_start else taken

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _more(self) -> bool:
        """Read the next chunk, and return whether there was one."""
        import zlib

        try:
            self._chunk = self._read(CHUNK)
        except (OSError, ValueError, EOFError, zlib.error) as problem:
            raise unreadable(self.name, problem) from None
        self._ends = np.flatnonzero(np.frombuffer(self._chunk, np.uint8) == NEWLINE)
        self._at = self._next = 0
        size = len(self._chunk)
        self._tail = size - 1 - int(self._ends[-1]) if len(self._ends) else self._tail + size
        if self._tail > MAX_BYTES:
            raise failure(
                "E0602", f"`{self.name}` has a line of more than {MAX_BYTES // 1024 ** 2} MiB",
                self.name, "give a text file with one row per line")
        return size > 0


def library(name: str) -> Any:
    """Return pyarrow. Raises E0611 where it is missing."""
    try:
        import pyarrow
    except ImportError:
        raise failure("E0611", f"`{name}`: Parquet and Arrow need pyarrow, which is not installed",
                      name, "pip install 'gradcli[arrow]'") from None
    return pyarrow
