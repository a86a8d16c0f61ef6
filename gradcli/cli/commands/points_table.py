"""The rows of `--points` as a table: gathered, since a table's columns are as wide as its rows."""

from __future__ import annotations

from collections import deque

from gradcli.cli.commands.output import EXACT_DIGITS, PIPE_WIDTH, TERMINAL_DIGITS
from gradcli.cli.environment import write
from gradcli.cli.files import write_file
from gradcli.render.rows import print_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment

# A terminal is shown so many rows from either end.
SHOWN = 10


class Gathered:
    """Takes tab-separated lines and prints them as a table at the end: on a terminal the first and
    the last, elsewhere all of them.
    """

    __slots__ = ("count", "environment", "first", "last", "path", "rest", "terminal", "values")

    def __init__(self, path: str | None, values: dict[str, Any], environment: Environment) -> None:
        self.path = path
        self.values = values
        self.environment = environment
        self.terminal = path is None and environment.terminal(environment.stdout)
        self.first: list[str] = []
        self.last: deque[str] = deque(maxlen=SHOWN if self.terminal else None)
        self.count = 0
        self.rest = b""

    def write(self, data: bytes) -> int:
        """Some more bytes, which need not end with a line."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if len(self.first) <= SHOWN:      # the head line is one more
                self.first.append(line.decode())
            else:
                self.last.append(line.decode())
            self.count += 1
        return len(data)

    def flush(self) -> None:
        pass

    def __enter__(self) -> Gathered:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is not None or not self.first:
            return
        from io import StringIO

        environment, stdout = self.environment, self.environment.stdout
        encoding = "utf-8" if self.path else getattr(stdout, "encoding", None) or "ascii"
        buffer = StringIO()
        header, *first = [line.split("\t") for line in self.first]
        last = [line.split("\t") for line in self.last]
        print_rows(
            header, first, last, self.count - 1 - len(first) - len(last), buffer,
            encoding=encoding,
            width=environment.width(stdout) if self.terminal else PIPE_WIDTH,
            digits=self.values["digits"] or (
                TERMINAL_DIGITS if self.terminal else EXACT_DIGITS),
            color=not self.path and environment.color(stdout, self.values["color"]))
        if self.path:
            write_file(self.path, buffer.getvalue())
        else:
            write(stdout, buffer.getvalue())
