"""Code that was read, written as a program, with where each word of it was read."""

from __future__ import annotations

from gradcli.errors import error
from gradcli.lang import code as c
from gradcli.lang.lexer import KEYWORDS
from gradcli.reading.written import ATOM, BINARY, POWER, SIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span
    from gradcli.lang.code import Code

    # Words with their places, and how strongly they bind.
    Piece = tuple[list[tuple[str, Span]], int]


class Writer:
    """texts: the words of the program; spans: where each was read."""

    __slots__ = ("spans", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.spans: list[Span] = []

    def name(self, code: Code, begin: int, text: str) -> None:
        """The left side of a line that begins at an offset of the LaTeX. Raises E0719 if it is no
        name of the language.
        """
        place = (begin, begin + len(text))
        if len(code) != 1 or code[0][0] != c.LOAD or code[0][1] in KEYWORDS:
            raise error("E0719", "this left side is no name", (0, len(text)),
                        help="write y = ..., f(x) = ..., or the formula alone")
        self._put([(f"{code[0][1]} = ", place)])

    def formula(self, code: Code, begin: int) -> None:
        """A formula that was read from an offset of the LaTeX on."""
        stack: list[Piece] = []
        for opcode, argument, first, last in code:
            place = (begin + first, begin + last)
            if opcode == c.LOAD:
                stack.append(([(argument, place)], ATOM))
            elif opcode == c.PUSH:
                stack.append(([(_number(argument), place)], ATOM))
            elif opcode == c.UNARY:
                words, rank = stack.pop()
                stack.append(([("-", place), *_closed(words, rank < POWER, place)], SIGN))
            elif opcode == c.BINARY:
                sign, rank, left, right = BINARY[argument]
                (second, second_rank), (one, first_rank) = stack.pop(), stack.pop()
                closed = second_rank < right or second_rank == SIGN
                stack.append(([*_closed(one, first_rank < left, place), (sign, place),
                               *_closed(second, closed, place)], rank))
            else:
                count = argument if opcode == c.LIST else argument[1]
                operands = stack[len(stack) - count:]
                del stack[len(stack) - count:]
                called = "" if opcode == c.LIST else argument[0]
                opening, closing = ("[", "]") if opcode == c.LIST else (f"{called}(", ")")
                whole: list[tuple[str, Span]] = [(opening, place)]
                for k, (words, _) in enumerate(operands):
                    whole += [(", ", place)] * (k > 0) + words
                stack.append(([*whole, (closing, place)], ATOM))
        self._put(stack[-1][0])

    def end_line(self) -> None:
        """The formula is finished."""
        end = self.spans[-1][1]
        self._put([("\n", (end, end))])

    def _put(self, words: list[tuple[str, Span]]) -> None:
        for text, span in words:
            self.texts.append(text)
            self.spans.append(span)


def _closed(words: list[tuple[str, Span]], wanted: bool, place: Span) -> list[tuple[str, Span]]:
    return [("(", place), *words, (")", place)] if wanted else words


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
