"""The source of a program that was written in LaTeX: its text is the program's, lines and columns
are those of the LaTeX.
"""

from __future__ import annotations

from bisect import bisect_right

from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import GradcliError, Span


class LatexSource(Source):
    """latex: what was written. texts: the pieces of the program, spans: where each was read."""

    __slots__ = ("_ends", "_spans", "_starts_at", "latex")

    def __init__(self, latex: Source, texts: Sequence[str], spans: Sequence[Span]) -> None:
        super().__init__("".join(texts), latex.name)
        self.latex = latex
        self._spans = list(spans)
        self._starts_at: list[int] = []
        at = 0
        for text in texts:
            self._starts_at.append(at)
            at += len(text)

    def moved(self, span: Span) -> Span:
        """Where in the LaTeX a part of the program was read."""
        if not self._spans:
            return 0, 0
        first = max(0, bisect_right(self._starts_at, span[0]) - 1)
        last = max(first, bisect_right(self._starts_at, max(span[0], span[1] - 1)) - 1)
        inside = self._spans[first:last + 1]
        begin = min([a for a, _ in inside])
        if self.latex.text[begin - 1:begin] == "\\":  # a function is read from its letters on
            begin -= 1
        return begin, max([b for _, b in inside])

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) in the LaTeX of what stands at an offset of the program."""
        if offset >= len(self.text):
            return self.latex.position(len(self.latex.text))
        return self.latex.position(self.moved((offset, offset + 1))[0])

    def line(self, number: int) -> str:
        """A line of the LaTeX."""
        return self.latex.line(number)


def moved(problem: GradcliError) -> None:
    """The diagnostics of an error with the places in the LaTeX."""
    for one in problem.diagnostics:
        source = one.source
        if isinstance(source, LatexSource):
            one.source = source.latex
            one.span = None if one.span is None else source.moved(one.span)
            one.related = tuple([(source.moved(span), label) for span, label in one.related])
