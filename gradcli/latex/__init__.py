r"""LaTeX in the place of a program: `program(source)` for `--latex`.

Each line, or what stands between two `\\`, is a formula, or a name, an equals sign and its formula:
`f(x) = \frac{x^2}{1+e^{-x}}`. `gradcli.reading` reads the formula, as it reads those of students;
what it read becomes a text of the language whose source knows what stood where in the LaTeX.
"""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.latex.lines import parts
from gradcli.latex.source import LatexSource, moved
from gradcli.latex.words import ASCII, normal, variables
from gradcli.latex.writing import Writer
from gradcli.program import Program
from gradcli.reading import Names, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.source import Source

__all__ = ["ASCII", "LatexSource", "moved", "program"]


def program(source: Source) -> Program:
    """The program of a text in LaTeX. Raises E0210 for a text without a formula, E0710 to E0721 for
    what cannot be read; the places are those in the LaTeX.
    """
    base = 0
    writer = Writer()
    try:
        text = normal(source.text)
        known = variables(text)
        for left, (begin, end) in parts(text):
            if left is not None:
                base = left[0]
                writer.name(read(text[base:left[1]], Names(known)).code, base, text[base:left[1]])
            base = begin
            writer.formula(read(text[begin:end], Names(known, vector=True)).code, begin)
            writer.end_line()
            base = 0
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source = source
            one.span = None if one.span is None else (one.span[0] + base, one.span[1] + base)
        raise
    return Program(LatexSource(source, writer.texts, writer.spans))
