"""The parts that LaTeX delimits itself: cases, binomials, norms, sums and products over an index.

In the plain text such a part is one character (`CHARACTERS`, `SUMS`), which is an operand or a
function to everything behind the scanner; `expanded` puts the code in its place. A sum is written
out where its bounds are numbers. Names as bounds are for a program, which has loops: there the sum
stays a call, and `gradcli.lang.paper.documents` writes the loop.

Until the indices have their values a factorial and a binomial are calls of no operation,
`FACTORIAL` and `BINOMIAL`; then they are numbers. Of names, a factorial is gamma(n + 1) where n
counts terms or is fixed, and E0714 elsewhere; a binomial is a polynomial in n for a number k, else
the quotient of gammas, which is the same for whole numbers.
"""

from __future__ import annotations

import math

from gradcli.base.errors import GradcliError, error
from gradcli.lang.paper.conditions import is_opposite, rows_of, test_of
from gradcli.lang.paper.marks import arrange
from gradcli.lang.paper.parser import FACTORIAL, parse
from gradcli.lang.paper.scanner import plain, scan
from gradcli.lang.paper.written import operand_begin
from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.base.errors import Span
    from gradcli.lang.paper.names import ProblemNames
    from gradcli.lang.paper.plain import Placeholder
    from gradcli.lang.syntax.code import Code

MAX_DEPTH = 10
MAX_TERMS = 200
MAX_CODE = 5000
MAX_BINOMIAL = 20  # as a polynomial
LARGEST = 170  # whose factorial is a double

SUM, PRODUCT, BINOMIAL, CASES, NORM = (
    "sum over", "product over", "binomial", "cases", "norm")
NORMS = {"": ("norm",), "2": ("norm",), "1": ("abs", "sum"), r"\infty": ("abs", "max")}
"""Order -> the operations, one after the other."""


class PartsReader:
    """One text whose parts are read. counted: names that count terms: indices and those in their
    bounds. depth: the number of parts around the one that is read.
    """

    __slots__ = ("counted", "depth", "names", "text")

    def __init__(self, text: str, names: ProblemNames) -> None:
        self.text = text
        self.names = names
        self.counted: set[str] = set()
        self.depth = 0

    def read(self, begin: int, end: int) -> Code:
        """Return the code of text[begin:end], inside of a part. Raises what `answer.read` does."""
        if self.depth == MAX_DEPTH:
            raise error("E0716", f"more than {MAX_DEPTH} sums, cases and binomials inside each"
                        " other", (begin, end), help="use fewer of them")
        origin = plain(self.text, self.names, begin, end)
        try:
            code = parse(arrange(scan(origin.text, 0, len(origin.text), self.names), self.names))
        except GradcliError as problem:
            raise origin.moved_error(problem) from None
        if code[-1][0] == c.LIST:
            raise error("E0718", "a list where one formula is expected", (begin, end),
                        help="give one formula")
        code = origin.moved(code)
        if origin.expands:
            self.depth += 1
            code = self.expanded(code, origin.parts)
            self.depth -= 1
        return code

    def expanded(self, code: Code, parts: Mapping[str, Placeholder]) -> Code:
        """Return code with that of its parts put in; factorials and binomials of names are left."""
        found: Code = []
        for instruction in code:
            opcode, argument, begin, end = instruction
            if opcode == c.LOAD and argument in parts:
                found += self._operand(parts[argument])
            elif opcode == c.CALL and argument[0] in parts:
                first = operand_begin(found, len(found))
                body = found[first:]
                del found[first:]
                found += self._sum(parts[argument[0]], body)
            else:
                found.append(instruction)
                continue
            _check_length(len(found), (begin, end))
        return found

    def finished(self, code: Code) -> Code:
        """Return code without the calls of this module, but for the sums that stay.

        Raises E0714 for a factorial of a name that is differentiated.
        """
        code = settled(code, {})
        found: Code = []
        for instruction in code:
            opcode, argument, begin, end = instruction
            if opcode == c.CALL and argument[0] in (SUM, PRODUCT):
                loop = self._loop(found, argument[2], (begin, end))
                found.append((opcode, (argument[0], 1, loop), begin, end))
                continue
            if opcode != c.CALL or argument[0] not in (FACTORIAL, BINOMIAL):
                found.append(instruction)
                continue
            _check_length(len(found), (begin, end))
            first = operand_begin(found, len(found))
            if argument[0] == BINOMIAL:
                upper = operand_begin(found, first)
                found[upper:] = _binomial(found[upper:first], found[first:], (begin, end))
            elif {ins[1] for ins in found[first:] if ins[0] == c.LOAD} <= self.counted.union(
                    self.names.fixed):
                found += [(c.PUSH, 1.0, begin, end), (c.BINARY, "add", begin, end),
                          (c.CALL, ("gamma", 1, ()), begin, end)]
            else:
                from gradcli.lang.paper.refusals import CHARACTERS

                message, advice = CHARACTERS["!"]
                if found[first][0] == c.LOAD and first == len(found) - 1:
                    advice = f"write gamma({found[first][1]} + 1)"
                raise error("E0714", message, (begin, end), help=advice)
        return found

    def _loop(self, before: Code, loop: tuple[str, Code, Code], place: Span
              ) -> tuple[str, Code, Code]:
        """Return index and bounds of a sum that stays; its body ends `before`. Raises E0720."""
        index, low, high = loop
        if not self.names.program:
            if number(low) is not None and number(high) is not None:
                _check_length(MAX_CODE + 1, place)
            raise error("E0720", "the bounds of a sum are numbers here", place,
                        help="write all its terms")
        for opcode, argument, begin, end in before[operand_begin(before, len(before)):]:
            if opcode == c.LOAD and index in subscript(argument) and (
                    len(subscript(argument)) < 3) and (
                    index != subscript(argument) or number(low) not in (0.0, 1.0)):
                raise error("E0720", f"`{argument}` is not known for each {index}", (begin, end),
                            help="give the bounds as numbers")
        return index, self.finished(low), self.finished(high)

    def _operand(self, part: Placeholder) -> Code:
        if part.kind == CASES:
            return self._cases(part)
        place = part.place
        operands = [self.read(*span) for span in part.places]
        if part.kind == BINOMIAL:
            return [*operands[0], *operands[1], (c.CALL, (BINOMIAL, 2, ()), *place)]
        (inside,) = operands
        return [*inside, *[(c.CALL, (name, 1, ()), *place) for name in NORMS[part.order]]]

    def _cases(self, part: Placeholder) -> Code:
        """Return the code of where(a, x, where(b, y, z)), with nan where no condition holds.

        Raises E0720 for cases after the one that holds otherwise.
        """
        rows = rows_of(self.text, *part.places[0])
        tests: list[Code] = []
        found: Code = []
        for count, (value, condition) in enumerate(rows):
            test = [] if condition is None else test_of(self.text, *condition, self.read)
            if condition is None and count < len(rows) - 1:
                raise error("E0720", "cases after the one that holds otherwise", part.place,
                            help=r"put \text{otherwise} last")
            if tests and test and count == len(rows) - 1 and is_opposite(tests[-1], test):
                test = []
            tests.append(test)
            found += [*test, *self.read(*value)]
        if tests[-1]:
            found += _nowhere(tests, part.place)
            tests.append([])
        return [*found, *[(c.CALL, ("where", 3, ()), *part.place)] * (len(tests) - 1)]

    def _sum(self, part: Placeholder, body: Code) -> Code:
        """Return the code of a sum or product over an index. body: the code of its term.

        Raises E0720 for an index that is not a name.
        """
        place = part.place
        index_at, low_at, high_at = part.places
        (index, *more) = self.read(*index_at)
        if more or index[0] != c.LOAD or index[1] in ("e", "pi"):
            raise error("E0720", "this is not an index", index_at, help="write a letter, as in k=1")
        name: str = index[1]
        low, high = self.read(*low_at), self.read(*high_at)
        bounds = [number(code) for code in (low, high)]
        code = [*body, (c.CALL, (part.kind, 1, (name, low, high)), *place)]
        if None in bounds and self.names.program:
            for one in ([index], low, high):
                self.counted.update(ins[1] for ins in one if ins[0] == c.LOAD)
        _write_out(code)
        return code


def _nowhere(tests: Sequence[Code], place: Span) -> Code:
    """Return the code of nan, which depends on all names in the conditions."""
    names = dict.fromkeys(ins[1] for test in tests for ins in test if ins[0] == c.LOAD)
    found: Code = [(c.PUSH, math.nan, *place)]
    for name in names:
        found += [(c.LOAD, name, *place), (c.BINARY, "multiply", *place)]
    return found


def _write_out(found: Code) -> None:
    """Write out the terms of the sum or product that ends the code, where its bounds are numbers.

    Raises E0710 for more than MAX_CODE instructions, E0720 for a bound that is no whole number; a
    sum of more than MAX_TERMS terms stays.
    """
    _, (kind, _, (index, low, high)), begin, end = found[-1]
    bounds = []
    for code in (low, high):
        bound = number(code)
        if bound is None:
            return
        if bound % 1 != 0:
            raise error("E0720", "a bound of a sum is a whole number", (code[0][2], code[-1][3]),
                        help="count terms with it: k=1, k=2, ...")
        bounds.append(int(bound))
    first, count = bounds[0], max(0, bounds[1] - bounds[0] + 1)
    at = operand_begin(found, len(found) - 1)
    body = found[at:-1]
    if count > MAX_TERMS or count * len(body) > MAX_CODE:
        return
    del found[at:]
    if not count:
        found.append((c.PUSH, 0.0 if kind == SUM else 1.0, begin, end))
    for k in range(first, first + count):
        found += settled(body, {index: k})
        if k > first:
            found.append((c.BINARY, "add" if kind == SUM else "multiply", begin, end))
        _check_length(len(found) - at, (begin, end))  # in which other sums may have been written


def _check_length(size: int, place: Span) -> None:
    """Raise E0710 for more than MAX_CODE instructions."""
    if size > MAX_CODE:
        raise error("E0710", "the formula is too long when it is written out", place,
                    help="take fewer terms")


def subscript(name: str) -> str:
    """Return the text behind the last underscore of a name; "" without one."""
    return name.rpartition("_")[2] if "_" in name else ""


def settled(code: Code, values: Mapping[str, int]) -> Code:
    """Return code with numbers for the indices, also below other names (x_k), and for the
    factorials and binomials that are known then. Raises E0720 for an index of two sums.
    """
    found: Code = []
    for opcode, argument, begin, end in code:
        place = begin, end
        if opcode == c.LOAD and argument in values:
            found += _whole(values[argument], place)
        elif opcode == c.LOAD and values and "_" in argument:
            found.append((opcode, _indexed(argument, values, place), begin, end))
        elif opcode == c.CALL and argument[0] in (SUM, PRODUCT):
            index, low, high = argument[2]
            inner = {name: value for name, value in values.items() if name != index}
            if len(inner) < len(values):
                raise error("E0720", f"`{index}` is the index of two sums", place,
                            help="give the inner sum another index")
            found.append((opcode, (argument[0], 1, (index, settled(low, values),
                                                    settled(high, values))), begin, end))
            _write_out(found)
        else:
            found.append((opcode, argument, begin, end))
            if opcode == c.CALL and argument[0] in (FACTORIAL, BINOMIAL):
                _settle(found)
    return found


def _indexed(name: str, values: Mapping[str, int], place: Span) -> str:
    below = subscript(name)
    stem = name[:len(name) - len(below) - 1]
    for index, value in values.items():
        if below == index and value >= 0:
            return f"{stem}_{value}"
        if index in below and len(below) < 3:
            raise error("E0720", f"the index {index} in `{name}` is not understood", place,
                        help=f"write an index alone, as in {stem}_{index}")
    return name


def _settle(found: Code) -> None:
    """Replace the factorial or binomial that ends the code by its number, if that is known.

    Raises E0714 for a factorial that does not exist, E0713 for a number that no double holds.
    """
    _, argument, begin, end = found[-1]
    last = operand_begin(found, len(found) - 1)
    first = last if argument[0] == FACTORIAL else operand_begin(found, last)
    lower, upper = number(found[last:-1]), number(found[first:last]) if first < last else 0.0
    if lower is None or upper is None or lower % 1 != 0 or upper % 1 != 0:
        return
    if argument[0] == FACTORIAL:
        if not 0 <= lower <= LARGEST:
            raise error("E0714", f"there is no factorial of {lower:g} here", (begin, end),
                        help=f"take it of a whole number from 0 to {LARGEST}")
        value: int | None = math.factorial(int(lower))
    else:
        value = _whole_binomial(int(upper), int(lower))
    if value is None or abs(value) > 1e307:
        raise error("E0713", "this number is too large", (begin, end),
                    help="write a number below 1e308")
    place = min(ins[2] for ins in found[first:]), max(ins[3] for ins in found[first:])
    found[first:] = _whole(value, place)


def _whole_binomial(upper: int, lower: int) -> int | None:
    """Return a binomial of whole numbers; None for one that no double holds."""
    if lower < 0:
        return 0
    sign = 1
    if upper < 0:
        upper, sign = lower - upper - 1, -1 if lower % 2 else 1
    return None if min(lower, upper - lower) > 1024 else sign * math.comb(upper, lower)


def _binomial(upper: Code, lower: Code, place: Span) -> Code:
    count = number(lower)
    if count is not None and count % 1 == 0 and 0 <= count <= MAX_BINOMIAL:
        found: Code = [*upper] if count else [(c.PUSH, 1.0, *place)]
        for k in range(1, int(count)):
            found += [*upper, (c.PUSH, float(k), *place), (c.BINARY, "subtract", *place),
                      (c.BINARY, "multiply", *place)]
        if count > 1:
            found += [(c.PUSH, float(math.factorial(int(count))), *place),
                      (c.BINARY, "divide", *place)]
        return found
    one: Code = [(c.PUSH, 1.0, *place), (c.BINARY, "add", *place),
                 (c.CALL, ("gamma", 1, ()), *place)]
    return [*upper, *one, *lower, *one, *upper, *lower, (c.BINARY, "subtract", *place), *one,
            (c.BINARY, "multiply", *place), (c.BINARY, "divide", *place)]


def number(code: Code) -> float | None:
    """Return the value of code that is arithmetic with small numbers, else None."""
    stack: list[float] = []
    for opcode, argument, _, _ in code:
        if opcode == c.PUSH:
            stack.append(argument)
        elif opcode == c.UNARY:
            stack[-1] = -stack[-1]
        elif opcode == c.BINARY:
            second = stack.pop()
            try:
                stack[-1] = OPERATIONS[argument](stack[-1], second)
            except (ArithmeticError, TypeError):
                return None
        else:
            return None
        value = stack[-1]
        if not (isinstance(value, float) and abs(value) < 1e15):
            return None
    return stack[0]


OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "add": float.__add__, "subtract": float.__sub__, "multiply": float.__mul__,
    "divide": float.__truediv__, "power": float.__pow__,
}


def _whole(value: int, place: Span) -> Code:
    found: Code = [(c.PUSH, float(abs(value)), *place)]
    if value < 0:
        found.append((c.UNARY, "negative", *place))
    return found
