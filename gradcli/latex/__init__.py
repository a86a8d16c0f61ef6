r"""LaTeX in the place of a program: `program(source)` for `--latex`.

A formula, or a name, an equals sign and its formula: `f(x) = \frac{x^2}{1+e^{-x}}`; several of
them, or a document that displays them (`lines`). `gradcli.reading` reads each formula, as it reads
those of students: what LaTeX writes with braces and environments is taken apart there, and what is
left is mathematics as people write it by hand, for which there is one grammar (`answer.lark`), not
that of programs. A second one for LaTeX would have to say again where `\sin 2x \cos x` ends, and
could say it differently. What was read becomes a text of the language whose source knows what
stood where in the LaTeX.
"""

from __future__ import annotations

from gradcli.errors import GradcliError, error
from gradcli.latex.lines import formulas, lines, without_alignment
from gradcli.latex.source import LatexSource, moved
from gradcli.latex.words import CALLED, SPELLINGS, closing, refuse, refuse_application, variables
from gradcli.latex.writing import Writer
from gradcli.program import Program
from gradcli.reading import Names, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.code import Code
    from gradcli.source import Source

__all__ = ["SPELLINGS", "LatexSource", "moved", "program"]


def program(source: Source) -> Program:
    """The program of a text in LaTeX. Raises E0210 for a text without a formula, E0710 to E0721 for
    what cannot be read; the places are those in the LaTeX.
    """
    try:
        writer = _Reader(source.text).written()
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source = source
        raise
    return Program(LatexSource(source, writer.texts, writer.spans))


class _Reader:
    """A text on its way. known: the names in it; functions: names that were given as f(x), each
    with the text of its arguments.
    """

    __slots__ = ("functions", "known", "text")

    def __init__(self, text: str) -> None:
        self.text = without_alignment(formulas(text))
        self.known = variables(self.text)
        self.functions: dict[str, str] = {}

    def written(self) -> Writer:
        """All formulas, written as a program."""
        writer = Writer()
        for line in lines(self.text):
            start, end = line.parts[0][0], line.parts[-1][1]
            for (_, before), (behind, _) in zip(line.parts, line.parts[1:], strict=False):
                self.blank(before, behind)
            refuse(self.text, start, end)
            self.apply(start, end)
            code = self.code(start, end, vector=True)
            if line.name is not None:
                writer.name(self.code(*line.name), line.name)
                if line.arguments:
                    name = self.text[slice(*line.name)].strip()
                    self.functions[name] = _bare(line.arguments)
            writer.formula(code, start)
        return writer

    def blank(self, begin: int, end: int) -> None:
        """Take a part of the text away; places stay."""
        self.text = self.text[:begin] + " " * (end - begin) + self.text[end:]

    def apply(self, begin: int, end: int) -> None:
        """Take the arguments away from f(x) where f was given as f(x). Raises E0712 for f(2), and
        for the application of what was never given.
        """
        for found in CALLED.finditer(self.text, begin, end):
            name = (found.group(1) or found.group(2)) + found.group(3)
            if name not in self.functions:
                continue
            closed = closing(self.text, found.end() - 1, end)
            if _bare(self.text[found.end() - 1:closed + 1]) != self.functions[name]:
                raise error("E0712", f"`{name}` was given for other arguments",
                            (found.start(), min(closed + 1, end)),
                            help="write its formula in place of it")
            self.blank(found.end(3), closed + 1)
        refuse_application(self.text, begin, end)

    def code(self, begin: int, end: int, vector: bool = False) -> Code:
        """The code of a part of the text, with places that count from its beginning."""
        try:
            return read(self.text[begin:end], Names(self.known, vector=vector, program=True)).code
        except GradcliError as problem:
            for one in problem.diagnostics:
                one.span = None if one.span is None else (one.span[0] + begin, one.span[1] + begin)
            raise


def _bare(arguments: str) -> str:
    """Arguments without what only spaces and sizes them."""
    for word in ("\\left", "\\right", "\\,", "\\ "):
        arguments = arguments.replace(word, "")
    return "".join(arguments.split())
