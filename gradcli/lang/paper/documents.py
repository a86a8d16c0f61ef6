r"""LaTeX in the place of a program: `program(source)` for `--latex`.

A formula, or a name, an equals sign and its formula: `f(x) = \frac{x^2}{1+e^{-x}}`; several of
them, or a document that displays them (`lines`). `gradcli.lang.paper` reads each formula as it
reads those of students: what LaTeX writes with braces and environments is taken apart there, and
the rest is mathematics as people write it by hand, for which there is one grammar (`answer.lark`),
not that of programs. A second one for LaTeX would have to say again where `\sin 2x \cos x` ends,
and could say it differently. The formulas become a text of the language whose source maps each part
back to the LaTeX.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError, error
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.lines import NO_NAME, formulas, lines, without_alignment
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.tokens import ALONE, GREEK, LOADED, SCHOOL, SPECIAL
from gradcli.lang.paper.written import ATOM, BINARY, COMPARISONS, POWER, SIGN, number
from gradcli.lang.running.program import Program
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.lexer import KEYWORDS
from gradcli.lang.typed.source import RewrittenSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import Source, Span
    from gradcli.lang.syntax.code import Code

    Words = list[tuple[str, Span]]  # with their places

__all__ = ["SPELLINGS", "program"]


def program(source: Source) -> Program:
    """Return the program of a text in LaTeX.

    Raises E0210 for a text without a formula, E0710 to E0721 for text that cannot be read; spans
    are those in the LaTeX.
    """
    try:
        writer = _DocumentReader(source.text).written()
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source = source
        raise
    return Program(RewrittenSource(source, writer.pieces))


class _DocumentReader:
    """A LaTeX text while it is read. known: the names in it; functions: names that were given as
    f(x), each with the text of its arguments.
    """

    __slots__ = ("functions", "known", "text")

    def __init__(self, text: str) -> None:
        self.text = without_alignment(formulas(text))
        self.known = variables(self.text)
        self.functions: dict[str, str] = {}

    def written(self) -> ProgramWriter:
        """Return all formulas, written as a program."""
        writer = ProgramWriter()
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
        """Replace a part of the text by blanks; offsets stay."""
        self.text = self.text[:begin] + " " * (end - begin) + self.text[end:]

    def apply(self, begin: int, end: int) -> None:
        """Blank out the arguments of f(x) where f was given as f(x).

        Raises E0712 for f(2), and for the application of a function that was never given.
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
        """Return the code of a part of the text, with offsets that count from its beginning."""
        try:
            names = ProblemNames(self.known, vector=vector, program=True)
            return read(self.text[begin:end], names).code
        except GradcliError as problem:
            for one in problem.diagnostics:
                one.span = None if one.span is None else (one.span[0] + begin, one.span[1] + begin)
            raise


def _bare(arguments: str) -> str:
    """Return arguments without blanks and commands that only space and size them."""
    for word in ("\\left", "\\right", "\\,", "\\ "):
        arguments = arguments.replace(word, "")
    return "".join(arguments.split())


# --------------------------------------------------------------------------------------------------
# The names of a program in LaTeX, and text there that looks like a formula and is none.
#
# In LaTeX each letter is a name of its own, and a word is one in \mathrm. Some text would be read
# with another meaning: a derivative, f(x + 1) as a product, a product of vectors. It is refused.

SPELLINGS = {spelling: LOADED[word] for letter, word in GREEK.items() for spelling in (letter, word)
             if spelling != LOADED[word]}
"""What else people call a Greek letter, and the name that it is read as: mu is μ, σ is sigma."""

DERIVATIVE = re.compile(
    r"\\[dtc]?frac\s*\{\s*(?:\\mathrm\{d\}|d|\\partial)(?:\^\{?\d\}?)?\s*[a-zA-Z]?\s*\}"
    r"\s*\{\s*(?:\\mathrm\{d\}|d|\\partial)\s*[a-zA-Z\\][^{}]*\}")
DIFFERENTIAL = re.compile(r"\\(?:mathrm|text|operatorname)\s*\{\s*d\s*\}\s*(?=\\?[A-Za-z])"
                          r"|\\(?:mathrm|rm)\s+d\s*(?=\\?[A-Za-z])")
DIFFERENCE = re.compile(r"\\Delta(?![A-Za-z])\s*(?:\\[,!]\s*)?(?=[A-Za-z]|\\[a-z])")
BOLD = r"\\(?:mathbf|boldsymbol|bm|vec|overrightarrow)(?![A-Za-z])\s*(?:\{[^{}]*\}|\\?[A-Za-z])"
TRANSPOSED = re.compile(rf"({BOLD})(?:_(?:\w|\{{[^{{}}]*\}}))?\s*\^\s*\{{?\s*(?:T\b|\\top)")
BESIDE = re.compile(rf"({BOLD})(?:_(?:\w|\{{[^{{}}]*\}}))?\s*"
                    rf"((?:\\cdot|\\times|\\[,;:!])?\s*)({BOLD})")
# A word in \mathrm; a letter or a Greek one with an index or without; both before a bracket.
WORD = re.compile(r"\\(?:mathrm|text|textrm|mathit|operatorname)\s*\{\s*([A-Za-z]{2,})\s*\}")
COMMAND = re.compile(r"\\[A-Za-z]+")
INDEX = r"(?:_(?:\{[^{}]*\}|\w))?"
CALLED = re.compile(rf"(?:(\\[A-Za-z]+)|(?<![A-Za-z\\])([A-Za-z]+))({INDEX})\s*"
                    r"(?:\\left|\\[bB]igg?l?)?\s*\(")
FUNCTIONS = frozenset((
    "f", "g", "h", "y", "F", "G", "zeta", "sigma", "phi", "varphi", "Phi", "psi", "Psi"))
"""Names that mean functions where a bracket follows, letters if nothing shows them as variables."""
BARE = re.compile(r"\s*(?:[A-Za-z]|\\[A-Za-z]+)(?:_(?:\{\w+\}|\w))?\s*(?:\\right)?\s*")


def variables(text: str) -> tuple[str, ...]:
    r"""Return names that would be read as something else if they were not declared: \mathrm{loss}
    as four letters, E as e, th as a function. Not e, and not p, which may be half of a pi.
    """
    words = [w for w in WORD.findall(text) if w not in SCHOOL and w not in SPECIAL
             and w not in ALONE and w not in LOADED and w not in KEYWORDS]
    letters = {letter for letter in COMMAND.sub(" ", text) if letter.isascii() and letter.isalpha()}
    return tuple(dict.fromkeys([*words, *sorted(letters - {"e", "p"})]))


def refuse(text: str, begin: int, end: int) -> None:
    """Raise E0720 for what looks like a formula in text[begin:end] and is none."""
    found = DERIVATIVE.search(text, begin, end)
    if found is not None:
        raise error("E0720", "a derivative is not part of the formula here", found.span(),
                    help="give the function alone; --wrt x asks for its derivative")
    found = DIFFERENTIAL.search(text, begin, end)
    if found is not None:
        raise error("E0720", "a differential is not part of a formula", found.span(),
                    help="give the function alone; --wrt x asks for its derivative")
    found = DIFFERENCE.search(text, begin, end)
    if found is not None:
        raise error("E0720", "this difference is one quantity, not a product", found.span(),
                    help=r"give it a name, such as \mathrm{dx}")
    found = TRANSPOSED.search(text, begin, end) or BESIDE.search(text, begin, end)
    if found is not None:
        raise error("E0720", "products of vectors and matrices are not read", found.span(),
                    help="write a program without --latex: x @ y")
    for found in re.finditer(BOLD, text[begin:end]):
        letter = found.group().rstrip("} ")[-1]
        rest = COMMAND.sub(_blank, text[begin:found.start()] + " " * len(found.group())
                           + text[begin + found.end():end])
        plain = re.sub(BOLD, _blank, text[begin:found.start()] + " " * len(found.group())
                       + text[begin + found.end():end])
        if letter.isalpha() and letter in COMMAND.sub(_blank, plain) and letter in rest:
            place = begin + found.start(), begin + found.end()
            raise error("E0720", f"`{letter}` is another name where it is not bold", place,
                        help="give them two letters")


def refuse_application(text: str, begin: int, end: int) -> None:
    """Raise E0712 for a name before a bracket that people read as a function: f(x + 1), u(x)."""
    for found in CALLED.finditer(text, begin, end):
        command, run, index = found.groups()
        if command is not None:
            name = command[1:]
            if (name not in GREEK.values() and name != "varphi") or (name == "Gamma" and not index):
                continue
        else:
            if not index and (run in SCHOOL or run in SPECIAL or any(
                    run.endswith(word) for word in SCHOOL)):
                continue
            name = run[-1]
        inside = text[found.end():closing(text, found.end() - 1, end)]
        function = name in FUNCTIONS and not index and (command is not None or not re.search(
            name + r"(?!\s*\()", COMMAND.sub(_blank, text[begin:end])))
        if function or BARE.fullmatch(inside) or (
                "," in inside and "(" not in inside):
            raise error("E0712", f"`{name}{index}` is not a function that is known here",
                        (found.end(1 if command else 2) - len(name) - bool(command), found.end(3)),
                        help="write its formula in place of it; or a product with \\cdot")


def closing(text: str, at: int, end: int) -> int:
    """Return the offset of the bracket that closes the one at `at`; `end` if there is none."""
    depth = 0
    for k in range(at, end):
        depth += (text[k] == "(") - (text[k] == ")")
        if not depth:
            return k
    return end


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


# --------------------------------------------------------------------------------------------------
# Code that was read, written as a program, with where each word of it was read.
#
# A sum over an index that stays a loop (`gradcli.lang.paper.parts`) makes a function of its
# formula: the loops stand in it before what is returned, so that nothing outside of it is bound.

LOOPS = {"sum over": ("0", " + "), "product over": ("1", "*")}
"""What a loop is called in code -> what its total begins with, and the sign of its terms."""
INDENT = "    "


class Fragment:
    """Words, the rank of their loosest operator, and the lines that have to stand before them."""

    __slots__ = ("before", "rank", "words")

    def __init__(self, words: Words, rank: int, before: Sequence[Words] = ()) -> None:
        self.words = words
        self.rank = rank
        self.before = list(before)


class ProgramWriter:
    """A program while it is written. pieces: its words, and where each was read."""

    __slots__ = ("_left", "_loops", "pieces")

    def __init__(self) -> None:
        self.pieces: Words = []
        self._left: Words = []
        self._loops = 0

    def name(self, code: Code, place: Span) -> None:
        """Set the left side of the line. Raises E0719 if it is not a name of the language."""
        if len(code) != 1 or code[0][0] != c.LOAD or code[0][1] in KEYWORDS:
            raise error("E0719", "this left side is not a name", place, help=NO_NAME)
        self._left = [(f"{code[0][1]} = ", place)]

    def formula(self, code: Code, begin: int) -> None:
        """Write the line of a formula that was read from offset `begin` of the LaTeX on."""
        piece = self._piece(code, begin)
        words = piece.words
        if piece.before:
            place = piece.before[0][0][1]
            self._loops += 1
            name = f"formula__{self._loops}"
            self._line([(f"def {name}():", place)])
            for line in piece.before:
                self._line([(INDENT, line[0][1]), *line])
            self._line([(f"{INDENT}return ", place), *words])
            words = [(f"{name}()", place)]
        self._line([*self._left, *words])
        self._left = []

    def _line(self, words: Words) -> None:
        end = words[-1][1][1]
        self.pieces += [*words, ("\n", (end, end))]

    def _piece(self, code: Code, begin: int) -> Fragment:
        stack: list[Fragment] = []
        for opcode, argument, first, last in code:
            place = (begin + first, begin + last)
            if opcode == c.LOAD:
                stack.append(Fragment([(argument, place)], ATOM))
                continue
            if opcode == c.PUSH:
                stack.append(Fragment([(number(argument), place)], ATOM))
                continue
            count = (argument if opcode == c.LIST else argument[1] if opcode == c.CALL
                     else 2 if opcode == c.BINARY else 1)
            operands = stack[len(stack) - count:]
            del stack[len(stack) - count:]
            name = argument[0] if opcode == c.CALL else argument
            if name in LOOPS:
                stack.append(self._loop(operands[0], argument, begin, place))
                continue
            if opcode == c.UNARY:
                (one,) = operands
                words, rank = [("-", place), *_closed(one, one.rank < POWER, place)], SIGN
            elif opcode == c.BINARY or name in COMPARISONS:
                words, rank = _infix(name, operands, place)
            else:
                opening, closing = ("[", "]") if opcode == c.LIST else (f"{name}(", ")")
                words, rank = [(opening, place)], ATOM
                for k, one in enumerate(operands):
                    words += [(", ", place)] * (k > 0) + one.words
                words.append((closing, place))
            stack.append(Fragment(words, rank, [line for one in operands for line in one.before]))
        return stack[-1]

    def _loop(self, body: Fragment, argument: tuple[str, int, tuple[str, Code, Code]], begin: int,
              place: Span) -> Fragment:
        """Return a sum or product over an index as the name of its total, behind a loop.

        x_k is the element of x for k; the first one is that of the lower bound, 0 or 1.
        """
        self._loops += 1
        total, counter = f"total__{self._loops}", f"index__{self._loops}"
        kind, _, (index, lower, upper) = argument
        start, sign = LOOPS[kind]
        low, high = self._piece(lower, begin), self._piece(upper, begin)
        base = number(lower[0][1]) if len(lower) == 1 and lower[0][0] == c.PUSH else ""

        def inner(text: str) -> str:
            if text == index:
                return counter
            stem, under, below = text.rpartition("_")
            return f"{stem}[{counter} - {base}]" if under and below == index else text

        inside = [*body.before, [(f"{total} = {total}{sign}", place), *_closed(body, True, place)]]
        return Fragment([(total, place)], ATOM, [
            *low.before, *high.before, [(f"{total} = {start}", place)],
            [(f"for {counter} in range(", place), *low.words, (", ", place), *high.words,
             (" + 1):", place)],
            *[[(INDENT, place), *[(inner(text), span) for text, span in line]]
              for line in inside]])


def _infix(name: str, operands: list[Fragment], place: Span) -> tuple[Words, int]:
    one, other = operands
    sign, rank, left, right = COMPARISONS[name] if name in COMPARISONS else BINARY[name]
    closed = other.rank < right or other.rank == SIGN
    return [*_closed(one, one.rank < left, place), (sign, place),
            *_closed(other, closed, place)], rank


def _closed(piece: Fragment, wanted: bool, place: Span) -> Words:
    return [("(", place), *piece.words, (")", place)] if wanted else piece.words
