"""Transcripts: `$ command` lines and the output that follows, as README and samples show it."""

from __future__ import annotations

import os
import re
import shlex
import struct
import subprocess
from collections.abc import Iterator
from html import unescape
from io import BufferedWriter, BytesIO, StringIO, TextIOWrapper
from pathlib import Path

from commands import Ran
from folders import ROOT
from terminals import Terminal

from gradcli.cli.environment import Environment
from gradcli.cli.main import run

# digits.txt has a test of its own: the last digits of its losses differ between machines.
SAMPLES = sorted(
    path for folder in (
        "samples", "samples/nan", "samples/none", "samples/seeds", "samples/training",
        "samples/zero")
    for path in (ROOT / folder).glob("*.txt") if path.stem != "digits")


def blocks(markdown: str) -> Iterator[str]:
    """The texts of the ```console blocks of a Markdown page."""
    for part in markdown.split("```console\n")[1:]:
        yield part.split("```")[0]


def steps(block: str) -> Iterator[tuple[str, str]]:
    """(command, output) for each `$ ` line of a block; a line ending in a backslash goes on."""
    command, output = "", ""
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:].rstrip("\n"), ""
        else:
            output += line
    if command:
        yield command, output


def brief(path: Path) -> str:
    """A sample that trains for hundreds of turns with twenty of them, and without what it expects
    in the end; any other as it is.
    """
    text, found = re.subn(r"range\(1, \d{3,}\)", "range(1, 21)", path.read_text(encoding="utf-8"))
    return re.sub(r"^expect .*$", "", text, flags=re.MULTILINE) if found else text


def in_process(arguments: list[str], stdin: bytes = b"") -> tuple[int, str, str]:
    """A piped command line in this process: status, stdout, stderr."""
    printed, told = BytesIO(), BytesIO()
    out = TextIOWrapper(
        BufferedWriter(printed), encoding="utf-8", newline="")  # type: ignore[arg-type]
    err = Messages(told, out, printed)
    environment = Environment(BytesIO(stdin), out, err, variables={"COLUMNS": "80"})
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        status = run(arguments, environment)
    finally:
        os.chdir(before)
    out.flush()
    err.flush()
    assert err.early == [], "a message came before what had been printed until then"
    return status, printed.getvalue().decode(), told.getvalue().decode()


class Messages(TextIOWrapper):
    """Standard error; early: the messages before which standard output was not flushed, so that a
    terminal shows them before what was printed earlier.
    """

    def __init__(self, told: BytesIO, out: TextIOWrapper, printed: BytesIO) -> None:
        super().__init__(told, encoding="utf-8", newline="")
        self.out = out
        self.printed = printed
        self.early: list[str] = []

    def write(self, text: str) -> int:
        before = self.printed.tell()
        self.out.flush()
        if self.printed.tell() != before:
            self.early.append(text)
        return super().write(text)


def here(*arguments: str, stdin: str = "") -> Ran:
    """What the fixture `gradcli` gives, from this process."""
    status, out, err = in_process([*arguments], stdin.encode())
    return Ran(out, err, status)


def header_commands(path: Path) -> list[list[str]]:
    """The commands in a sample's header, `# gradcli grad FILE --wrt x`, as argument lists."""
    name = str(path.relative_to(ROOT))
    found = []
    for line in path.read_bytes().splitlines():
        if line.startswith(b"# gradcli "):
            words = shlex.split(line[2:].decode())[1:]
            found.append([name if word == "FILE" else word for word in words])
    return found


def question(path: Path) -> tuple[str, ...]:
    """(target, sources) that a sample's program asks a tape for first; empty if it asks none."""
    asked = re.search(r"\bgrad(?:ient)?\((\w+), ([^()]*)\)", path.read_text(encoding="utf-8"))
    if asked is None:
        return ()
    sources = re.findall(r"(?<![\w.\"])[A-Za-z]\w*(?![\w\"=])", asked[2].partition(", unconn")[0])
    return (asked[1], ",".join(sources))


def on_terminal(command: str, folder: Path, shim: Path, colour: bool = False) -> str:
    """Return what a person at a terminal of 80 columns sees of a shell command, both streams
    together; with the escapes of its colours if these are asked for. A gradcli alone, without
    anything for the shell, runs in this process: the page of help aside, as Typer looks once
    whether it may colour.
    """
    if command.startswith("gradcli ") and not SHELL.search(
            re.sub("'[^']*'", "", command)):
        return _rows(_alone(shlex.split(command)[1:], folder, colour))
    import fcntl
    import pty
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
        env={**os.environ, "PATH": f"{shim}:{os.environ['PATH']}", "TERM": "xterm-256color",
             "PYTHONIOENCODING": "utf-8", **({} if colour else {"NO_COLOR": "1"})})
    os.close(slave)
    data = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end is closed: Linux says so by an error
            break
        if not chunk:
            break
        data += chunk
    os.close(master)
    process.wait()
    return _rows(data.decode().replace("\r\n", "\n"))


def _rows(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


SHELL = re.compile(r"[|&;<>$`\\\n*?~#]|--help")


def _alone(arguments: list[str], folder: Path, colour: bool) -> str:
    """Both streams of a command line that runs in this process, in a folder."""
    printed = BytesIO()
    screen = Terminal(BufferedWriter(printed), encoding="utf-8",  # type: ignore[arg-type]
                      newline="", write_through=True)
    environment = Environment(BytesIO(), screen, screen, variables={
        **os.environ, "TERM": "xterm-256color", **({} if colour else {"NO_COLOR": "1"})})
    before = Path.cwd()
    os.chdir(folder)
    try:
        run(arguments, environment)
    finally:
        os.chdir(before)
    screen.flush()
    return printed.getvalue().decode()


def picture(command: str, screen: str) -> str:
    """Return an SVG of a terminal in which a command has printed what stands on its screen."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, file=StringIO(), width=80, force_terminal=True,
                      color_system="truecolor")
    console.print(Text(f"$ {command}"), Text.from_ansi(screen.rstrip("\n")), sep="\n")
    drawn = console.export_svg(title="gradcli", unique_id="terminal")
    # Rich would have the reader's browser fetch a font.
    return re.sub(r"\s*@font-face \{[^}]*\}", "", drawn)


def texts(svg: str) -> list[str]:
    """Return the texts of a picture from the top to the bottom, from the left to the right."""
    found = [(float(y), float(x), unescape(text)) for x, y, text in re.findall(
        r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg)]
    return [text for _, _, text in sorted(found)]
