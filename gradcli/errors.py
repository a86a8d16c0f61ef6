"""What went wrong, as data: a code, a place, a message, one suggestion.

A `Diagnostic` knows nothing of terminals or text formats; `gradcli.render.diagnostics` prints it.
Places are half-open ranges of code points in a `Source`. Codes are stable (E01xx syntax, E02xx
names, E03xx shapes and types, E04xx evaluation and budgets, E05xx tapes, E06xx files and input);
wording may improve freely.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.source import Source

Span = tuple[int, int]

if TYPE_CHECKING:
    # What an error is about, within the call or operation that raises it:
    # ("value", v)     the argument that is v, or that v stands in
    # ("option", name) the name of an option
    # ("beyond", n)    the arguments behind the first n
    # ("callee", None) the name of what is called or asked for
    About = tuple[str, Any]


class Diagnostic:
    """One finding.

    code: such as "E0201". message: lower case, no full stop, the offending text in backquotes.
    span: (start, end) in code points of `source.text`, or None where no text is involved.
    label: what stands beside the caret. related: further places, each (span, label).
    notes: sentences without a place. help: one suggestion, best something to type.
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


class GradcliError(Exception):
    """Bad input, told as one or more diagnostics; the first one is the error's own.

    Attributes: `code`, `message`, `span` ((start, end) offsets or None), `help`, `source` and
    `diagnostics` (all that were found). about: see `About`; whoever knows the text turns it into
    the first diagnostic's place.
    """

    about: About | None = None

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
    """A `GradcliError` with one diagnostic; whoever knows the source fills it in."""
    found = GradcliError(Diagnostic(code, message, span=span, help=help, label=label, notes=notes))
    if about is not None:
        found.about = about
    return found
