"""Errors as data: a code, a span, a message, one suggestion; the sources of text, and its lists.

A `Diagnostic` knows nothing of terminals or text formats; `gradcli.render.messages` prints it.
Spans are half-open ranges of code points in a `Source`. Codes are stable (E01xx syntax, E02xx
names, E03xx shapes and types, E04xx evaluation and budgets, E05xx tapes, E06xx files and input);
wording may improve freely.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, BinaryIO, Self

Span = tuple[int, int]

if TYPE_CHECKING:
    # The part of a call or operation that an error is about:
    # ("value", v)     the argument that is v, or that v stands in
    # ("option", name) the name of an option
    # ("beyond", n)    the arguments behind the first n
    # ("callee", None) the name of what is called or asked for
    About = tuple[str, Any]


class Diagnostic:
    """One finding.

    code: such as "E0201".
    message: lower case, no full stop, the offending text in backquotes.
    span: (start, end) in code points of `source.text`, or None where no text is involved.
    label: text beside the caret.
    related: further locations, each (span, label).
    notes: sentences without a location.
    help: one suggestion, best something to type.
    """

    __slots__ = ("code", "help", "label", "message", "notes", "related", "source", "span")

    def __init__(
        self,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        source: Source | None = None,
        label: str = "",
        related: Sequence[tuple[Span, str]] = (),
        notes: Sequence[str] = (),
        help: str | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.source = source
        self.label = label
        self.related = tuple(related)
        self.notes = tuple(notes)
        self.help = help

    def __repr__(self) -> str:
        return f"Diagnostic({self.code!r}, {self.message!r}, span={self.span!r})"


# Which of Python's own errors an error is as well, by its code: those that TensorFlow raises in the
# same place, where that is one of Python's; both where it raises either.
BUILTINS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((IndexError,), "E0305"),
    ((KeyError,), "E0506"),
    ((LookupError,), "E0201 E0202 E0213 E0308 E0503 E0507"),
    ((TypeError,), "E0205 E0206 E0207 E0208 E0209 E0306 E0316 E0317 E0318"),
    ((ValueError, TypeError), "E0302 E0303"),
    ((ValueError, RuntimeError), "E0504"),
    # What the machine or a budget does not allow, and tapes that cannot answer.
    ((RuntimeError,),
     "E0401 E0402 E0403 E0406 E0407 E0501 E0502 E0505 E0601 E0605 E0617 E0730 E0734 E0738 E0748"
     " E0750 E0751 E0805 E0811 E0821 E0822"),
    ((ValueError,),
     "E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 E0111 E0112 E0113 E0114"
     " E0203 E0204 E0210 E0211 E0212 E0214"
     " E0301 E0304 E0307 E0309 E0310 E0311 E0312 E0313 E0314 E0315"
     " E0404 E0405"
     " E0602 E0603 E0604 E0610 E0611 E0612 E0613 E0614 E0615 E0616"
     " E0701 E0702 E0703 E0704 E0705 E0706 E0707 E0708 E0709 E0710 E0711 E0712 E0713 E0714 E0715"
     " E0716 E0717 E0718 E0719 E0720 E0721 E0731 E0732 E0733 E0735 E0740 E0741 E0742 E0743 E0744"
     " E0745 E0746 E0747 E0749"
     " E0801 E0802 E0803 E0804 E0812 E0813 E0814 E0831 E0832 E0833 E0834 E0835 E0836"),
)

_joined: dict[tuple[type, tuple[type, ...]], Any] = {}


def builtins_of(code: str) -> tuple[type[Exception], ...]:
    """Return the errors of Python's own that an error with this code is as well."""
    return next((classes for classes, codes in BUILTINS if code in codes), ())


class GradcliError(Exception):
    """Bad input, reported as one or more diagnostics; the first one is the error's own.

    Attributes: `code`, `message`, `span` ((start, end) offsets or None), `help`, `source` and
    `diagnostics` (all that were found). about: see `About`; the code that knows the text turns it
    into the first diagnostic's span.

    By its code it is one of Python's own errors as well (`BUILTINS`), so a handler of these that
    does not want it, around code that may raise it, stands behind `except GradcliError: raise`.
    """

    __module__ = "gradcli"      # where users have it from
    about: About | None = None

    def __new__(cls, *diagnostics: Diagnostic) -> Self:
        builtins = builtins_of(diagnostics[0].code)
        if builtins and not issubclass(cls, builtins):
            key = cls, builtins
            if key not in _joined:
                _joined[key] = type(cls.__name__, (cls, *builtins), {"__module__": cls.__module__})
            cls = _joined[key]
        return super().__new__(cls, *diagnostics)

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = diagnostics
        super().__init__(diagnostics[0].message)

    def __reduce__(self) -> tuple[type[GradcliError], tuple[Diagnostic, ...]]:
        return GradcliError, self.diagnostics

    @property
    def code(self) -> str:
        return self.diagnostics[0].code

    @property
    def message(self) -> str:
        return self.diagnostics[0].message

    @property
    def span(self) -> Span | None:
        return self.diagnostics[0].span

    @property
    def help(self) -> str | None:
        return self.diagnostics[0].help

    @property
    def source(self) -> Source | None:
        return self.diagnostics[0].source

    def __str__(self) -> str:
        first = self.diagnostics[0]
        place = ""
        if first.source is not None and first.span is not None:
            line, column = first.source.position(first.span[0])
            place = f"{first.source.name}:{line}:{column}: "
        return f"{place}error[{first.code}]: {first.message}"


def error(code: str, message: str, span: Span | None = None, help: str | None = None,
          label: str = "", notes: Sequence[str] = (), about: About | None = None) -> GradcliError:
    """Return a `GradcliError` with one diagnostic; the code that knows the source fills it in."""
    found = GradcliError(Diagnostic(code, message, span=span, help=help, label=label, notes=notes))
    if about is not None:
        found.about = about
    return found


# --------------------------------------------------------------------------------------------------
# Sources of text (a file, standard input or an option), with lines and columns.

MAX_BYTES = 16 * 1024 * 1024


class Source:
    """A text with a name. Offsets, lines and columns count code points, the latter two from 1."""

    __slots__ = ("_starts", "name", "text")

    read_as = ""
    """The program in the language where it was typed otherwise (`gradcli.lang.typed`)."""

    @property
    def as_typed(self) -> Source:
        """The source of what was typed, where this one was written for it."""
        return self

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.text = text
        self.name = name
        self._starts: list[int] | None = None

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset, both from 1; the text's end has a position too."""
        from bisect import bisect_right

        starts = self._line_starts()
        line = bisect_right(starts, max(0, min(offset, len(self.text))))
        return line, max(0, min(offset, len(self.text))) - starts[line - 1] + 1

    def where(self, offset: int) -> str:
        """Return the line and column of an offset in words."""
        line, column = self.position(offset)
        return f"line {line}, column {column}"

    def line(self, number: int) -> str:
        """Return the text of line `number` (from 1) without its end; empty beyond the last line."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1]:end].rstrip("\r")


def decode(data: bytes, name: str) -> Source:
    """Return bytes as a `Source`: UTF-8, a byte order mark tolerated, line ends as they are.

    Raises E0602 (too large), E0603 (not UTF-8) and E0604 (a NUL byte: not a text).
    """
    if len(data) > MAX_BYTES:
        raise GradcliError(Diagnostic(
            "E0602", f"`{name}` is larger than {MAX_BYTES // 1024 ** 2} MiB",
            source=Source("", name), span=(0, 0),
            help="split the file, or give the numbers with --at"))
    data = data.removeprefix(b"\xef\xbb\xbf")     # as "utf-8-sig", a codec to load, does
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        before = data[:problem.start].decode("utf-8", "replace")
        shown = Source(before + "\ufffd", name)
        at = len(before)
        raise GradcliError(Diagnostic(
            "E0603", f"`{name}` is not UTF-8 text: byte 0x{data[problem.start]:02x}"
            f" at offset {problem.start}",
            source=shown, span=(at, at + 1), label="not UTF-8 from here",
            help="save the file as UTF-8")) from None
    nul = text.find("\0")
    if nul >= 0:
        raise GradcliError(Diagnostic(
            "E0604", f"`{name}` is not a text file: it holds a NUL character",
            source=Source(text, name), span=(nul, nul + 1), label="NUL character",
            help="give a text file with one statement per line"))
    return Source(text, name)


def read(path: str, stdin: BinaryIO | None = None) -> Source:
    """Return the text of a file, or of `stdin` for the path "-".

    Raises E0601 (cannot be read) besides what `decode` raises.
    """
    name = path
    try:
        if path == "-" and stdin is not None:
            name = "<stdin>"
            data = stdin.read(MAX_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        from gradcli.base.similar import nearby

        reason = getattr(problem, "strerror", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0601", f"cannot read `{path}`: {reason.lower()}", source=Source("", path),
            span=(0, 0), help=nearby(path))) from None
    return decode(data, name)


# --------------------------------------------------------------------------------------------------
# Comma lists, as options, tables and sheets have them.


def split(text: str) -> list[str]:
    """Split a comma list; commas inside brackets do not separate, and empty parts are left out."""
    parts, depth, start = [], 0, 0
    for k, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def listed(texts: list[str]) -> list[str]:
    """Return the parts of several comma lists."""
    return [part for text in texts for part in split(text)]
