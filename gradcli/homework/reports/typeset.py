"""Problems and answers in LaTeX, as they were read: every factor and bracket where it stood."""

from __future__ import annotations

import re
from functools import lru_cache

from gradcli.base.errors import GradcliError
from gradcli.homework.checking.prepared import derive
from gradcli.lang.paper.answer import read
from gradcli.lang.syntax import code as c
from gradcli.ops import lookup
from gradcli.ops.text import ATOM, LATEX, MULTIPLIED, Text
from gradcli.questions.steps.text import Notation, applied, name
from gradcli.render import latex
from gradcli.render.layouts.homework import asked
from gradcli.render.page import Code as Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.problem import Problem
    from gradcli.lang.paper.answer import Reading
    from gradcli.lang.paper.names import ProblemNames
    from gradcli.lang.syntax.code import Code

# A product has a dot only where its factors would run into each other: 2*3, and 2*1/3, which is no
# mixed number; 2x has no space, either.
NEAR, DOT = re.compile(r"(?<=\d) \\cdot (?=[a-z\\(](?!frac))"), re.compile(
    r"(?<!\d) \\cdot (?![\d-])")


ASKED = ("kind", "order", "function", "direction", "at")


class Typesetter:
    """The formulas of a sheet's problems; "" for what cannot be read."""

    __slots__ = ("_readings", "answer")

    def __init__(self) -> None:
        self._readings: dict[str, tuple[ProblemNames, Reading, tuple[str, ...]] | None] = {}
        # A class gives the same answers again and again.
        self.answer = lru_cache(10_000)(self._answer)

    def function(self, problem: Problem) -> str:
        """Return the function of a problem in LaTeX."""
        known = self._known(problem)
        return "" if known is None else _drawn(known[1])

    def question(self, problem: Problem) -> tuple[str, ...]:
        """Return what is asked: words, and the function."""
        known = self._known(problem)
        text = asked({**{key: getattr(problem, key) for key in ASKED},
                      "wrt": known[2] if known else problem.wrt})
        before, _, after = text.partition(problem.function)
        return before, Shown(problem.function, self.function(problem)), after

    def _answer(self, problem: Problem, read_as: str) -> str:
        """Return an answer in LaTeX. read_as: its text as a check wrote it."""
        known = self._known(problem)
        if known is None or not read_as:
            return ""
        try:
            return _drawn(read(read_as, known[0]))
        except GradcliError:
            return ""

    def _known(self, problem: Problem) -> tuple[ProblemNames, Reading, tuple[str, ...]] | None:
        if problem.id not in self._readings:
            try:
                found = derive(problem)
                self._readings[problem.id] = found.names, found.reading, found.wrt
            except GradcliError:
                self._readings[problem.id] = None
        return self._readings[problem.id]


def _drawn(reading: Reading) -> str:
    shown = formula(reading.code)
    return shown if reading.equation is None else f"{formula(reading.equation)} = {shown}"


def formula(code: Code) -> str:
    """Return code as a formula in LaTeX."""
    stack: list[Any] = []
    for opcode, argument, _, _ in code:
        if opcode == c.LOAD:
            stack.append(name(argument))
        elif opcode == c.PUSH:
            stack.append(_number(argument))
        else:
            count = {c.BINARY: 2, c.UNARY: 1, c.LIST: argument}.get(opcode) or argument[1]
            operands = stack[len(stack) - count:]
            del stack[len(stack) - count:]
            if opcode == c.LIST:
                stack.append(operands)
                continue
            op = lookup(argument[0] if opcode == c.CALL else argument)
            assert op is not None, argument
            made = applied(op, [_array(one) for one in operands], {})
            # -ax is no (-a)x.
            stack.append(made if opcode != c.UNARY else Notation(made.text, made.tex, MULTIPLIED))
    return DOT.sub(r"\\,", NEAR.sub(" ", _array(stack[-1]).tex))


def _number(value: float) -> Notation:
    tex = latex.number(float(value))
    return Notation(Text(tex), tex, MULTIPLIED if "times" in tex else ATOM)


def _array(value: Any) -> Notation:
    """Return a vector as (a, b), a matrix as such; a formula as it is."""
    if not isinstance(value, list):
        found: Notation = value
        return found
    if all(isinstance(row, list) for row in value):
        rows = r" \\ ".join([" & ".join([_array(one).tex for one in row]) for row in value])
        tex = LATEX.format(rf"\begin{{matrix}} {rows} \end{{matrix}}")
    else:
        tex = LATEX.format(r",\; ".join([_array(one).tex for one in value]))
    return Notation(Text(tex), tex)
