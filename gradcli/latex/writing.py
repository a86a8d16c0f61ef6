"""Code that was read, written as a program, with where each word of it was read.

A sum over an index that stays a loop (`gradcli.reading.parts`) makes a function of its formula: the
loops stand in it before what is returned, so that nothing outside of it is bound.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.lang import code as c
from gradcli.lang.lexer import KEYWORDS
from gradcli.latex.lines import NO_NAME
from gradcli.reading.written import ATOM, BINARY, COMPARISONS, POWER, SIGN, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Span
    from gradcli.lang.code import Code

    Words = list[tuple[str, Span]]  # with their places

LOOPS = {"sum over": ("0", " + "), "product over": ("1", "*")}
"""What a loop is called in code -> what its total begins with, and the sign of its terms."""
INDENT = "    "


class Piece:
    """Words, how strongly they bind, and the lines that have to stand before them."""

    __slots__ = ("before", "rank", "words")

    def __init__(self, words: Words, rank: int, before: Sequence[Words] = ()) -> None:
        self.words = words
        self.rank = rank
        self.before = list(before)


class Writer:
    """texts: the words of the program; spans: where each was read."""

    __slots__ = ("_left", "_loops", "spans", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.spans: list[Span] = []
        self._left: Words = []
        self._loops = 0

    def name(self, code: Code, place: Span) -> None:
        """The left side of the line. Raises E0719 if it is no name of the language."""
        if len(code) != 1 or code[0][0] != c.LOAD or code[0][1] in KEYWORDS:
            raise error("E0719", "this left side is no name", place, help=NO_NAME)
        self._left = [(f"{code[0][1]} = ", place)]

    def formula(self, code: Code, begin: int) -> None:
        """The line of a formula that was read from an offset of the LaTeX on."""
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
        for text, span in [*words, ("\n", (end, end))]:
            self.texts.append(text)
            self.spans.append(span)

    def _piece(self, code: Code, begin: int) -> Piece:
        stack: list[Piece] = []
        for opcode, argument, first, last in code:
            place = (begin + first, begin + last)
            if opcode == c.LOAD:
                stack.append(Piece([(argument, place)], ATOM))
                continue
            if opcode == c.PUSH:
                stack.append(Piece([(number(argument), place)], ATOM))
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
            stack.append(Piece(words, rank, [line for one in operands for line in one.before]))
        return stack[-1]

    def _loop(self, body: Piece, argument: tuple[str, int, tuple[str, Code, Code]], begin: int,
              place: Span) -> Piece:
        """A sum or product over an index, as the name of its total behind a loop. x_k is the
        element of x for k; the first one is that of the lower bound, 0 or 1.
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
        return Piece([(total, place)], ATOM, [
            *low.before, *high.before, [(f"{total} = {start}", place)],
            [(f"for {counter} in range(", place), *low.words, (", ", place), *high.words,
             (" + 1):", place)],
            *[[(INDENT, place), *[(inner(text), span) for text, span in line]]
              for line in inside]])


def _infix(name: str, operands: list[Piece], place: Span) -> tuple[Words, int]:
    one, other = operands
    sign, rank, left, right = COMPARISONS[name] if name in COMPARISONS else BINARY[name]
    closed = other.rank < right or other.rank == SIGN
    return [*_closed(one, one.rank < left, place), (sign, place),
            *_closed(other, closed, place)], rank


def _closed(piece: Piece, wanted: bool, place: Span) -> Words:
    return [("(", place), *piece.words, (")", place)] if wanted else piece.words
