"""The source of a program that was typed in another notation: LaTeX, or formulas as on paper."""

from __future__ import annotations

from bisect import bisect_right

from gradcli.base.errors import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import GradcliError, Span

    Piece = tuple[str, Span]    # of the program, and where it was read


class RewrittenSource(Source):
    """The source of a program that was typed otherwise: its text is the program's, lines and
    columns are those of what was typed.

    typed: the source of what was typed. pieces: of the program, each with where it was read.
    read_as: what of it was read otherwise, in the language,
    or "" where that goes without saying.
    """

    __slots__ = ("_begins", "_verbatim", "pieces", "read_as", "typed")

    def __init__(self, typed: Source, pieces: Sequence[Piece], read_as: str = "") -> None:
        super().__init__("".join([text for text, _ in pieces]), typed.name)
        self.typed = typed
        self.read_as = read_as
        self.pieces = list(pieces)
        self._begins: list[int] = []
        at = 0
        for text, _ in pieces:
            self._begins.append(at)
            at += len(text)
        self._verbatim = [end - begin == len(text) and typed.text.startswith(text, begin)
                          for text, (begin, end) in pieces]

    @property
    def as_typed(self) -> Source:
        return self.typed

    def moved(self, span: Span) -> Span:
        """Return the span of what was typed from which a part of the program was read."""
        if not self.pieces:
            return 0, 0
        first = max(0, bisect_right(self._begins, span[0]) - 1)
        last = max(first, bisect_right(self._begins, max(span[0], span[1] - 1)) - 1)
        typed = self.typed.text
        inside = [place for _, place in self.pieces[first:last + 1]]
        begin, end = min([a for a, _ in inside]), max([b for _, b in inside])
        if self._verbatim[first] and begin == inside[0][0]:
            begin = inside[0][0] + span[0] - self._begins[first]
        elif typed[begin - 1:begin] == "\\":    # a function is read from its letters on
            begin -= 1
        if self._verbatim[last] and end == inside[-1][1]:
            end = inside[-1][0] + span[1] - self._begins[last]
        return begin, max(begin, end)

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) in what was typed for an offset of the program."""
        if offset >= len(self.text):
            return self.typed.position(len(self.typed.text))
        return self.typed.position(self.moved((offset, offset + 1))[0])

    def line(self, number: int) -> str:
        """Return a line of what was typed."""
        return self.typed.line(number)


def moved(problem: GradcliError) -> None:
    """Replace the spans of an error's diagnostics by those in what was typed."""
    for one in problem.diagnostics:
        source = one.source
        if isinstance(source, RewrittenSource):
            one.source = source.typed
            one.span = None if one.span is None else source.moved(one.span)
            one.related = tuple([(source.moved(span), label) for span, label in one.related])
