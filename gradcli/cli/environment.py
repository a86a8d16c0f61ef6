"""Streams and terminal facts, in one object that every command is given."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO, TextIO

    from gradcli.render.progress import Progress

# Exit statuses.
OK, WRONG, USAGE, BAD_INPUT, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130


class Environment:
    """The streams and variables of one command line. Tests make their own."""

    __slots__ = ("stderr", "stdin", "stdout", "variables")

    def __init__(self, stdin: BinaryIO | None = None, stdout: TextIO | None = None,
                 stderr: TextIO | None = None, variables: Mapping[str, str] | None = None) -> None:
        self.stdin = stdin
        self.stdout = stdout if stdout is not None else _open(sys.stdout, "r")
        self.stderr: TextIO = stderr if stderr is not None else Messages(  # type: ignore[assignment]
            _open(sys.stderr, "w"))
        self.variables = os.environ if variables is None else variables

    def input(self) -> BinaryIO:
        """Return standard input, as bytes; empty if it is closed."""
        if self.stdin is not None:
            return self.stdin
        if sys.stdin is None:
            return open(os.devnull, "rb")
        return sys.stdin.buffer

    def output(self) -> BinaryIO:
        """Return standard output, for bytes. A `with` leaves it open."""
        self.stdout.flush()
        return _Bytes(self.stdout)  # type: ignore[return-value]

    def tell(self, text: str) -> None:
        """Write a message to standard error, behind all that was printed until then."""
        self.stdout.flush()
        write(self.stderr, text)

    def terminal(self, stream: TextIO) -> bool:
        """Tell if a person reads this stream."""
        try:
            return stream.isatty()
        except (AttributeError, ValueError):
            return False

    def color(self, stream: TextIO, choice: str) -> bool:
        """Decide if a stream is coloured: --color, then NO_COLOR, CLICOLOR_FORCE, TERM=dumb."""
        if choice != "auto":
            return choice == "always"
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("CLICOLOR_FORCE", "0") not in ("", "0"):
            return True
        return self.terminal(stream) and self.variables.get("TERM") != "dumb"

    def progress(self, quiet: bool, rows: bool = False) -> Progress | None:
        """Return a bar of progress on standard error, None unless a person watches it. rows:
        whether the answer comes out on standard output meanwhile.
        """
        if quiet or not self.terminal(self.stderr) or (rows and self.terminal(self.stdout)):
            return None
        from gradcli.render.progress import Progress

        return Progress(self.stderr)

    def width(self, stream: TextIO) -> int:
        """Return the columns of a terminal: COLUMNS, else asked of it, else 80."""
        columns = self.variables.get("COLUMNS", "")
        if columns.isascii() and columns.isdigit() and int(columns[:4]) > 0:
            return int(columns[:4])
        try:
            return os.get_terminal_size(stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            return 80


class _Bytes:
    """A text stream that takes UTF-8."""

    __slots__ = ("_stream",)
    closed = False      # Arrow asks

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        binary = getattr(self._stream, "buffer", None)
        if binary is None:
            return self._stream.write(data.decode())
        return int(binary.write(data))

    def flush(self) -> None:
        self._stream.flush()

    def __enter__(self) -> _Bytes:
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()


class Messages:
    """Standard error. What it does not take, because a disk is full or nobody listens, is lost; the
    exit status speaks of the answer.
    """

    __slots__ = ("_stream",)

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; a stream that does not take it is given up."""
        try:
            return self._stream.write(text)
        except OSError:
            forget(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush all that was written."""
        try:
            self._stream.flush()
        except OSError:
            forget(self._stream)


def _open(stream: TextIO | None, mode: str) -> TextIO:
    """Return a stream; for one that the caller closed (`>&-`, where Python has None) nowhere, which
    with the mode "r" refuses what is written.
    """
    return open(os.devnull, mode) if stream is None else stream  # type: ignore[return-value]


def forget(stream: TextIO) -> None:
    """Keep Python's shutdown from trying a failed write again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError, AttributeError):
        pass


def write(stream: TextIO, text: str) -> None:
    """Write a text to a stream; what its encoding lacks becomes a visible escape."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
