"""The destination and the format of an answer."""

from __future__ import annotations

from gradcli import render
from gradcli.cli.environment import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.base.errors import Diagnostic
    from gradcli.cli.environment import Environment
    from gradcli.cli.options import Options
    from gradcli.render.page import Page

PIPE_WIDTH = 10_000
TERMINAL_DIGITS, EXACT_DIGITS = 6, 17
# Names and numbers alone: these have no room for reasons and notes.
BARE = ("plain", "csv", "tsv")


class Destination:
    """The destination that -o and --format choose. path: a file, or None for standard output.
    format: by default that of the file's ending, else tables for people, plain lines for programs.
    """

    __slots__ = ("_environment", "_options", "format", "path", "to_terminal")

    def __init__(self, options: Options, environment: Environment) -> None:
        self._environment = environment
        self._options = options
        self.path = None if options.output == "-" else options.output
        if options.open and self.path is None:
            self.path = _temporary()
        self.to_terminal = self.path is None and environment.terminal(environment.stdout)
        self.format = options.chosen() or ("table" if self.to_terminal else "plain")

    def encoding(self) -> str:
        """Return the encoding of the destination."""
        if self.path is not None:
            return "utf-8"
        return getattr(self._environment.stdout, "encoding", None) or "ascii"

    def color(self) -> bool:
        """Return whether to colour the answer: never in a file."""
        return self.path is None and self._environment.color(
            self._environment.stdout, self._options.color)

    def digits(self) -> int:
        """Return the digits of tables: by default six for a terminal, else all of them."""
        return self._options.digits or (TERMINAL_DIGITS if self.to_terminal else EXACT_DIGITS)

    def view(self) -> dict[str, Any]:
        """Return encoding, color, digits and width of tables: as wide and as exact as their reader.
        """
        return {
            "encoding": self.encoding(), "color": self.color(), "digits": self.digits(),
            "width": self._environment.width(self._environment.stdout) if self.to_terminal else
            PIPE_WIDTH}

    def rounded(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the answer rounded to --digits in formats that people read; tables round for
        themselves.
        """
        if self.format not in render.DOCUMENTS or self._options.digits is None:
            return answer
        from gradcli.render.numbers import rounded

        found: dict[str, Any] = rounded(answer, self._options.digits)
        return found

    def write(self, answer: dict[str, Any], pages: Iterable[Page] | None = None, **view: Any
              ) -> None:
        """Print an answer, or write it to the file: all of it or nothing. pages: where its command
        does not say them. view: of tables, what is not as their reader has it.
        """
        view = {**self.view(), **view} if self.format == "table" else {}
        self.put(render.write(answer, pages, self.format, **view) if pages is not None else
                 render.text(answer, self.format, **{"digits": self._options.digits, **view}))

    def put(self, text: str) -> None:
        """Print the text, or write it to the file: all of it or nothing."""
        if self.path is None:
            write(self._environment.stdout, text)
        else:
            from gradcli.cli.files import write_file

            write_file(self.path, text)
            if self._options.open:
                self._show(self.path)

    def _show(self, path: str) -> None:
        """Show a file in the browser, and tell its name, for where there is none."""
        import webbrowser
        from pathlib import Path

        self.remark(f"{path}\n")
        webbrowser.open(Path(path).resolve().as_uri())

    def put_bytes(self, data: bytes) -> None:
        """Write the bytes of a picture to the destination."""
        if self.path is None:
            with self._environment.output() as stream:
                stream.write(data)
        else:
            from gradcli.cli.files import whole_file

            with whole_file(self.path) as file:
                file.write(data)

    def bare(self) -> bool:
        """Return whether remarks go to standard error, since the format has no room for them."""
        return self.format in BARE and not self._options.quiet

    def remark(self, text: str) -> None:
        """Write a remark that has no room in the answer to where messages go."""
        self._environment.tell(text)


def _temporary() -> str:
    """Return the path of a new file for a page that stays when gradcli ends."""
    import os
    from tempfile import mkstemp

    number, path = mkstemp(".html", "gradcli-")
    os.close(number)
    return path


def deliver(answer: dict[str, Any], options: Options, environment: Environment) -> None:
    """Print an answer, or write it to the file of -o."""
    destination = Destination(options, environment)
    if options.quiet:
        _without_notes(answer)
    destination.write(answer, whole=not destination.to_terminal)
    # What `why` has to say is its answer.
    if destination.bare() and answer["command"] != "why" and (options.verbose or _has_more(answer)):
        from gradcli.render.messages import remarks

        text = remarks(answer)
        if options.verbose and answer["command"] == "grad" and destination.format == "plain":
            from gradcli.render.layouts import paths

            text += paths.plain_paths(answer)
        destination.remark(text)


def _has_more(answer: dict[str, Any]) -> bool:
    return any(
        part.get("reasons") or part.get("notes") for result in answer.get("results", ())
        for part in (result, *result.get("sources", ()), *result.get("blocks", ())))


def _without_notes(answer: dict[str, Any]) -> None:
    for result in answer.get("results", ()):
        for part in (result, *result.get("sources", ()), *result.get("blocks", ())):
            if "notes" in part:
                part["notes"] = []


def complain(diagnostics: Sequence[Diagnostic], options: Options, environment: Environment,
             end: str = "") -> None:
    """Print errors to standard error, in the format of the answer where that is JSON."""
    from gradcli.render import machine, messages

    if options.format in ("json", "ndjson"):
        environment.tell(
            machine.dump(messages.as_json(diagnostics, options.file or "-e")) + "\n")
        return
    stream = environment.stderr
    environment.tell(messages.render(
        diagnostics, environment.color(stream, options.color), environment.width(stream),
        getattr(stream, "encoding", None) or "utf-8", wrapped=environment.terminal(stream)) + end)
