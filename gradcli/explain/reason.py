"""What an explanation is made of: one cause of a missing gradient; a note on one that is there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

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
    """One cause. span: a place, in a file offsets in its text. related: (span, what is there), of
    those that have a place.
    fixes: what may be written instead, the smallest first; once they were tried, `fix` and `edits`
    are those of the chosen one, and fix_works tells whether all that was chosen brings the
    gradient back. about, abouts: what the cause was found in, for who looks for a fix.
    """

    __slots__ = ("about", "abouts", "code", "edits", "fix", "fix_works", "fixes", "message",
                 "related", "span")

    def __init__(self, code: str, message: str, span: Any, *fixes: Fix | str | None,
                 related: Sequence[tuple[Any, str]] = (), about: Any = None,
                 abouts: Sequence[Entry] = ()) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.fixes = [Fix(f) if isinstance(f, str) else f for f in fixes if f is not None]
        self.related = [(place, said) for place, said in related if place is not None]
        self.fix: str | None = None
        self.edits: list[Edit] = []
        self.about = about
        self.abouts = list(abouts)
        if self.fixes:
            self.choose(self.fixes[0])
        self.fix_works: bool | None = None

    def choose(self, fix: Fix) -> None:
        """Offer this one of the fixes."""
        self.fix, self.edits = fix.text, fix.edits

    def advise(self) -> None:
        """Offer only advice."""
        self.fix = next((fix.text for fix in self.fixes if not fix.edits), None)
        self.edits = []


class Note:
    """A code, a sentence, a place."""

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span
