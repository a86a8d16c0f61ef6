"""Machine code for statements over numbers, where llvmlite is installed (`gradcli[jit]`).

The same operations in the same order as the Python statements, through the functions that Python's
`math` calls, so the answers are the same to the last bit; where one might raise, or a check fails,
the Python statements are asked.

Measured (1,000 operations, value and gradient): 6 to 11 us where Python's statements take 29 to 77,
most of it in libm.
"""

from __future__ import annotations

import math

from gradcli.engine.compiled.llvm import Body, Number, Refused, literal
from gradcli.engine.compiled.machine import SINCOS, Outside, available, compiled, libm
from gradcli.engine.compiled.python import ELSEWHERE, LOST, NOT_A_NUMBER, TINY
from gradcli.engine.sweeps.extremes import FAINT, LARGE, SMALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.compiled.python import Operand, Writer

    # From inputs to answers.
    Function = Callable[[Sequence[float]], Sequence[Any]]

# Statements in a function: LLVM takes more than proportionally long for larger ones.
PIECE = 500
# To call a function of Python takes as long as so many statements.
OUTSIDE = 4
# Why statements are not compiled.
WHOLE = "a statement on whole numbers"
TRUTH = "an answer that is a truth value"
CALLING = "most of the time would go to functions of Python"


def patient(writer: Writer, answers: Sequence[Operand], use: Callable[[Function], None]
            ) -> Function:
    """Return the function that a writer has written, in Python. use: is given the same as machine
    code with the call at which that pays.
    """
    statements = writer.function(answers)
    left = waits(len(writer.formulas))

    def run(values: Sequence[float]) -> Sequence[Any]:
        return statements(*values)

    def counted(values: Sequence[float]) -> Sequence[Any]:
        nonlocal left
        left -= 1
        if not left:
            try:
                use(native(writer, answers, run))
            except Refused:
                use(run)
        return run(values)

    return counted if available() else run


# --------------------------------------------------------------------------------------------------
# When it pays: after so many calls that Python's statements have taken as long as compiling will,
# or for so many points that NumPy's calls on blocks would take longer.
#
# Of 1,000 operations with their gradient, a statement takes 15 ns in Python, 3 in machine code, and
# 15 to 35 us to write and compile; loading LLVM takes 80 ms, as five million statements.

CALLS = 1500
LOADING = 5_000_000


# Of 72 statements a million points take 47 ms in blocks, 10 in machine code; to load LLVM, compile
# and try the functions of vectors takes 200.

WORK = 400_000_000


def waits(statements: int) -> int:
    """Return the number of calls after which machine code pays."""
    return CALLS + LOADING // max(statements, 1)


def pays(points: int, statements: int) -> bool:
    """Return whether machine code would pay for so many points."""
    return points * statements >= WORK


# --------------------------------------------------------------------------------------------------
# A function of floats.

def native(writer: Writer, answers: Sequence[Operand], otherwise: Function) -> Function:
    """Return the function that a writer has written, as machine code.

    otherwise: the same function in Python, asked where this one cannot tell.

    Raises Refused where a statement has no machine code.
    """
    from ctypes import PYFUNCTYPE, c_double, c_int

    pieces = Pieces(writer, answers)
    engine = compiled(pieces.text())
    memory = (c_double * pieces.size)()
    # Python keeps its lock meanwhile: to hand it over and back takes as long as a short function.
    bound = PYFUNCTYPE(c_int, c_double * pieces.size)(engine.get_function_address("run"))
    first = writer.first
    last = first + len(answers)
    fixed = [(k, writer.value(a)) for k, a in enumerate(answers) if not isinstance(a, int)]

    raised = pieces.outside.raised

    def function(values: Sequence[float], kept: Any = (engine, pieces.outside)) -> Sequence[Any]:
        memory[:first] = values     # type: ignore[call-overload]
        if bound(memory) > FAINT_ONE:
            if raised:
                raise raised.pop()
            return otherwise(values)
        found: list[Any] = memory[first:last]
        for k, value in fixed:
            found[k] = value
        return found

    return function


# What the code answers, or'ed: all is known unless one of the first is there, or both others.
BAD, FAINT_ONE, SMALL_ONE = 4, 2, 1


class Pieces:
    """The formulas of a writer as functions of `PIECE` statements, which hand on values in memory:
    inputs, answers, then what is read by a later piece.

    size: of the memory. called: the functions of libm that are, with the types of their operands.
    outside: the functions of Python that are.
    """

    __slots__ = ("_answers", "_body", "_faint", "_functions", "_here", "_homes", "_limit",
                 "_numbers", "_pairs", "_small", "_vanishing", "_writer", "called", "outside",
                 "size")

    def __init__(self, writer: Writer, answers: Sequence[Operand]) -> None:
        self._writer = writer
        self.called: dict[str, str] = {}
        self._functions: list[str] = []
        self.outside = Outside()
        uses = writer.uses([*[a for a in answers if isinstance(a, int)], *writer.checks],
                           lambda k, n: True)
        first = writer.first
        self._numbers = [k for k in range(first, first + len(writer.formulas)) if uses[k]]
        self._pairs = self._sines()
        self._homes = self._places(answers)
        self._vanishing = {o for found in writer.checks.values() for what, others in found
                           if what is LOST for o in others}
        # Then the root of the squares is not larger than LARGE, which Python's statements look at.
        self._limit = LARGE / math.sqrt(len(writer.growing) + 1.0)
        for k in range(0, max(len(self._numbers), 1), PIECE):
            self._piece(self._numbers[k:k + PIECE], k == 0)
        if self.outside.count * OUTSIDE > len(self._numbers):
            raise Refused(CALLING)

    def text(self) -> str:
        """Return the functions as text of LLVM; the one to call is `run`."""
        lines = [*[f"declare double @{name}({types})" for name, types in (
            *[(n, "double") for n in ("llvm.fabs.f64", "llvm.sqrt.f64")],
            ("llvm.copysign.f64", "double, double"),
            *self.called.items())],
            f"declare void @{SINCOS}(double, ptr, ptr)",
            *self._functions, "define i32 @run(ptr %m) {"]
        found = "0"
        for k in range(len(self._functions)):
            lines += [f"%p{k} = call i32 @piece{k}(ptr %m)", f"%b{k} = or i32 {found}, %p{k}"]
            found = f"%b{k}"
        return "\n".join([*lines, f"ret i32 {found}", "}"])

    def _sines(self) -> dict[int, tuple[int, int]]:
        """Put each sine beside the cosine of the same angle, where both come from one call, and
        return the numbers of both by that of the first.
        """
        if SINCOS not in libm():
            return {}
        found: dict[Any, dict[Any, int]] = {}
        for number in self._numbers:
            formula = self._writer.formulas[number - self._writer.first]
            if formula.function in (math.sin, math.cos):
                found.setdefault(formula.operands[0], {})[formula.function] = number
        pairs = {min(p.values()): (p[math.sin], p[math.cos]) for p in found.values() if len(p) == 2}
        second = {max(p) for p in pairs.values()}
        self._numbers = [k for number in self._numbers if number not in second
                         for k in (number, *([max(pairs[number])] if number in pairs else ()))]
        return pairs

    def _places(self, answers: Sequence[Operand]) -> dict[int, list[int]]:
        """Return where in memory each value stands that is given, answered or handed on."""
        first = self._writer.first
        homes: dict[int, list[int]] = {k: [k] for k in range(first)}
        for k, answer in enumerate(answers, first):
            if isinstance(answer, int):
                homes.setdefault(answer, []).append(k)
        self.size = first + len(answers)
        self._answers = range(first, self.size)
        for number in [n for pair in self._pairs.values() for n in pair]:
            if number not in homes:
                homes[number] = [self.size]
                self.size += 1
        piece = {number: k // PIECE for k, number in enumerate(self._numbers)}
        for number, at in piece.items():
            for o in self._reads(number):
                if o not in homes and piece[o] != at:
                    homes[o] = [self.size]
                    self.size += 1
        return homes

    def _reads(self, number: int) -> list[int]:
        writer = self._writer
        operands = [*writer.formulas[number - writer.first].operands]
        for what, others in writer.checks.get(number, ()):
            if what is not LOST:
                operands += others
        return [o for o in operands if isinstance(o, int)]

    def _piece(self, numbers: Sequence[int], with_inputs: bool) -> None:
        """Add the function of some of the formulas."""
        writer = self._writer
        self._here: dict[int, Any] = {}
        self._body = body = Body(libm(), self._limit, self.outside)
        self._faint = self._small = "false"
        done: set[int] = set()
        if with_inputs:
            for number in range(writer.first):
                if writer.growing:
                    self._check(number, TINY, ())
                self._settle(number, 1)
        for number in numbers:
            formula = writer.formulas[number - writer.first]
            if formula.function is None:
                raise Refused(WHOLE)
            given = [self._value(o) for o in formula.operands]
            if number in self._pairs:
                pair = self._pairs[number]
                body.two(SINCOS, given[0], [self._place(n) for n in pair])
                done.update(pair)
            self._here[number] = value = self._value(number) if number in done else body.apply(
                formula.function, given)
            if number in writer.growing and type(value) is Number:
                body.doubt(value)
            if number in self._vanishing:
                self._small = body.put(f"or i1 {self._small}, {body.smaller(value, SMALL)}")
            self._settle(number, int(number in done))
        body.look()
        found, lines = "0", []
        for name, bit in ((body.bad, BAD), (self._faint, FAINT_ONE), (self._small, SMALL_ONE)):
            if name != "false":
                lines += [f"%z{bit} = select i1 {name}, i32 {bit}, i32 0",
                          f"%r{bit} = or i32 {found}, %z{bit}"]
                found = f"%r{bit}"
        self.called.update(body.called)
        self._functions.append("\n".join([
            f"define internal i32 @piece{len(self._functions)}(ptr %m) {{", *body.lines, *lines,
            f"ret i32 {found}", "}"]))

    def _settle(self, number: int, stored: int) -> None:
        """Check a value and store it. stored: in how many places it is already."""
        for what, others in self._writer.checks.get(number, ()):
            self._check(number, what, others)
        for home in self._homes.get(number, ())[stored:]:
            place, value = self._place(number, home), self._value(number)
            if home in self._answers and type(value) not in (Number, float):
                raise Refused(TRUTH)
            self._body.lines.append(f"store double {self._body.name(value)}, ptr {place}")

    def _place(self, number: int, home: int | None = None) -> str:
        """Return the name of the address of a value's place in memory, by default the first."""
        home = self._homes[number][0] if home is None else home
        return self._body.put(f"getelementptr double, ptr %m, i64 {home}")

    def _value(self, operand: Operand) -> Any:
        """Return an operand: a symbol or a number of Python."""
        if not isinstance(operand, int):
            return self._writer.value(operand)
        if operand not in self._here:
            place = self._place(operand)
            self._here[operand] = self._body.number(f"load double, ptr {place}")
        return self._here[operand]

    def _check(self, number: int, what: str, others: Sequence[Operand]) -> None:
        """Write a check (see `gradcli.engine.compiled.python`)."""
        body, value = self._body, self._value(number)
        v = body.name(value)

        if what is NOT_A_NUMBER:
            if type(value) is Number:
                body.doubt(value)
            elif value != value:
                raise Refused("a constant derivative")
        elif what is TINY:
            some = body.put(f"fcmp une double {v}, {literal(0.0)}")
            body.check(body.put(f"and i1 {body.smaller(value, SMALL)}, {some}"))
        elif what is ELSEWHERE:
            body.check(body.put(f"fcmp une double {v}, {body.name(self._value(others[0]))}"))
        else:
            assert what is LOST
            self._faint = body.put(f"or i1 {self._faint}, {body.smaller(value, FAINT)}")
