"""What a person at a terminal sees: in this process with streams that say they are terminals, and
on a real one.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Mapping
from io import BytesIO, TextIOWrapper

from gradcli.cli.environment import Environment
from gradcli.cli.main import run


class Terminal(TextIOWrapper):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


def on_terminal(arguments: list[str], encoding: str = "utf-8", piped: tuple[str, ...] = (),
                **variables: str) -> tuple[int, str, str]:
    """(status, stdout, stderr), both on a terminal but for those that are piped."""
    streams = {name: (TextIOWrapper if name in piped else Terminal)(
        BytesIO(), encoding=encoding, newline="") for name in ("stdout", "stderr")}
    environment = Environment(BytesIO(), **streams, variables={"TERM": "xterm", **variables})
    status = run(arguments, environment)
    shown = []
    for stream in streams.values():
        stream.flush()
        assert isinstance(stream.buffer, BytesIO)
        shown.append(stream.buffer.getvalue().decode(encoding))
    return status, *shown


def bare(text: str) -> str:
    """Without colours, and without the blanks that a colour ends behind."""
    return re.sub(r" +$", "", re.sub(r"\x1b\[[0-9;]*m", "", text), flags=re.MULTILINE)


def pty(arguments: list[str], home: Mapping[str, str | None], columns: int = 80, **variables: str
        ) -> tuple[int, str]:
    """A process on a terminal of its own: its status, and both streams together."""
    import fcntl
    import termios

    parent, child = os.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {**os.environ, **home, "PYTHONIOENCODING": "utf-8", "COLUMNS": None, **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", *arguments], stdin=child, stdout=child, stderr=child,
        env={name: value for name, value in settings.items() if value is not None})
    os.close(child)
    data = b""
    while True:
        try:
            chunk = os.read(parent, 65536)
        except OSError:     # Linux says so when the other end is closed
            break
        if not chunk:
            break
        data += chunk
    os.close(parent)
    return process.wait(60), data.decode().replace("\r\n", "\n")
