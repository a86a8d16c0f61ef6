"""One cause of a missing gradient."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Span

    Edit = tuple[int, int, str]


class Reason:
    """One cause. edit: the change of the text that would mend it; fix: how it reads."""

    __slots__ = ("code", "edit", "fix", "fix_works", "message", "related", "span")

    def __init__(self, code: str, message: str, span: Span | None, *, fix: str | None = None,
                 edit: Edit | None = None, related: Sequence[tuple[Span, str]] = ()) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.fix = fix
        self.edit = edit
        self.related = list(related)
        self.fix_works: bool | None = None
