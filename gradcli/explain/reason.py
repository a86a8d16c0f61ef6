"""What an explanation is made of: one cause of a missing gradient; a note on one that is there."""

from __future__ import annotations

from gradcli.tape.record import PLACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Span
    from gradcli.tape.record import Entry

    Edit = tuple[int, int, str]


class Fix:
    """What to write instead. text: how it reads; edits: the changes of the program's text, which
    is one fix only together; empty: advice that nobody can try out.
    """

    __slots__ = ("edits", "text")

    def __init__(self, text: str, *edits: Edit) -> None:
        self.text = text
        self.edits = list(edits)


class Reason:
    """One cause. span: offsets in the program's text. related: (span, what is there). fixes: what
    may be written instead, the smallest first; once they were tried, `fix` and `edits` are those
    of the chosen one, and fix_works tells whether all that was chosen brings the gradient back.
    """

    __slots__ = ("code", "edit", "edits", "fix", "fix_works", "fixes", "message", "related", "span")

    def __init__(self, code: str, message: str, span: Span | None, *fixes: Fix | str | None,
                 related: Sequence[tuple[Span, str]] = (), fix: str | None = None,
                 edit: Edit | None = None) -> None:
        if fix is not None:
            fixes = (Fix(fix, edit) if edit else Fix(fix),)
        self.edit = edit
        self.code = code
        self.message = message
        self.span = span
        self.fixes = [Fix(f) if isinstance(f, str) else f for f in fixes if f is not None]
        self.related = list(related)
        self.fix = self.fixes[0].text if self.fixes else None
        self.edits = self.fixes[0].edits if self.fixes else []
        self.fix_works: bool | None = None

    def choose(self, fix: Fix) -> None:
        """Offer this one of the fixes."""
        self.fix, self.edits = fix.text, fix.edits


class Note:
    """A code, a sentence, a place."""

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span


def span_of(entry: Entry) -> Span | None:
    """Where an operation stands in the program's text."""
    place = entry[PLACE]
    return (place[2], place[3]) if place is not None else None
