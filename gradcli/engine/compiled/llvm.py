"""Formulas of floats as text of LLVM: a row's function, run on symbols, leaves its instructions.

A function that looks at its values (`x if x > 0 else 0.0`) is run once for each way through it, and
branches where these part. Nothing is reordered, fused or left out, so the bits are those of Python.
Where Python would raise, a result is infinite or NaN; all that may be so are looked at, and the
truth value `Body.bad` tells in the end: then the interpreter is asked, which knows what to raise.
"""

from __future__ import annotations

import math
import struct

from gradcli.ops.text import Symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op

INSTRUCTIONS = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
# Ways through one function that are followed.
MAX_WAYS = 16
# Values whose sizes are looked at together.
TOGETHER = 8


class Refused(Exception):
    """A function that has no instructions: it calls what is not known, or makes whole numbers."""


class Truth:
    """A truth value that is only known when the instructions run. name: of the instruction."""

    __slots__ = ("body", "name")

    def __init__(self, body: Body, name: str) -> None:
        self.body = body
        self.name = name

    def __bool__(self) -> bool:
        return self.body.decided(self)


class Number(Symbolic):
    """A double that is only known when the instructions run."""

    __slots__ = ("body", "name")

    def __init__(self, body: Body, name: str) -> None:
        self.body = body
        self.name = name

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Any) -> Any:
        body = self.body
        if op.name in INSTRUCTIONS:
            a, b = [body.name(x) for x in args]
            found = body.number(f"{INSTRUCTIONS[op.name]} double {a}, {b}")
            return body.doubt(found) if op.name == "divide" else found
        if op.name == "negative":
            return body.number(f"fneg double {self.name}")
        if attributes or op.floats is None:
            raise Refused(op.name)
        return body.call(op.floats, args)

    def __pow__(self, other: Any) -> Any:
        return self.body.call(math.pow, (self, other))

    def __abs__(self) -> Number:
        return self.body.number(f"call double @llvm.fabs.f64(double {self.name})")

    def __pos__(self) -> Number:
        return self

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def _compared(self, sign: str, other: Any) -> Truth:
        return Truth(self.body, self.body.put(
            f"fcmp {sign} double {self.name}, {self.body.name(other)}"))

    def __lt__(self, other: Any) -> Truth:
        return self._compared("olt", other)

    def __le__(self, other: Any) -> Truth:
        return self._compared("ole", other)

    def __gt__(self, other: Any) -> Truth:
        return self._compared("ogt", other)

    def __ge__(self, other: Any) -> Truth:
        return self._compared("oge", other)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return self._compared("oeq", other)

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return self._compared("une", other)

    __hash__ = None  # type: ignore[assignment]


class Body:
    """The instructions of one function.

    lines: the text. limit: what no result may reach that is looked at. libm: names of the functions
    that it may call. called: those that it does, with the types of their operands. outside: takes a
    function of Python and its number of operands, and gives the address that calls it. bad: the
    name of the truth value that tells whether a result has reached the limit, or a check failed.
    """

    __slots__ = ("_asked", "_block", "_decisions", "_doubts", "_forks", "_known", "_order",
                 "_total", "_ways", "bad", "called", "libm", "limit", "lines", "outside")

    def __init__(self, libm: Mapping[Any, str], limit: float,
                 outside: Callable[[Callable[..., float], int], int]) -> None:
        self.lines = ["entry:"]
        self.libm = libm
        self.limit = literal(limit)
        self.outside = outside
        self.called: dict[str, str] = {}
        self.bad = "false"
        self._total = 0
        self._block = "entry"
        # Instructions that stand before the place that is being written, and their order.
        self._known: dict[str, str] = {}
        self._order: list[str] = []
        self._doubts: list[str] = []
        self._ways = 0
        self._decisions: list[bool] | None = None
        self._asked: list[Truth] = []
        self._forks: list[tuple[int, int, str, list[str]]] = []

    # --- instructions -------------------------------------------------------------------------

    def put(self, instruction: str) -> str:
        """Return the name of an instruction's result; equal ones stand once."""
        name = self._known.get(instruction)
        if name is None:
            self._total += 1
            name = self._known[instruction] = f"%t{self._total}"
            self._order.append(instruction)
            self.lines.append(f"{name} = {instruction}")
        return name

    def number(self, instruction: str) -> Number:
        """Return the double that an instruction makes."""
        return Number(self, self.put(instruction))

    def name(self, value: Any) -> str:
        """Return a double as an operand."""
        kind = type(value)
        if kind is Number:
            return str(value.name)
        if kind is Truth:
            return self.put(f"uitofp i1 {value.name} to double")
        if kind is float or kind is bool or (kind is int and abs(value) < 2**53):
            return literal(float(value))
        raise Refused(kind.__name__)

    # --- checks -------------------------------------------------------------------------------

    def check(self, condition: str) -> None:
        """Note that the function's answer does not hold where a truth value is true."""
        if condition != "false":
            self.bad = condition if self.bad == "false" else self.put(
                f"or i1 {self.bad}, {condition}")

    def doubt(self, value: Number) -> Number:
        """Note that a value has to be below the limit, and return it."""
        if f"doubt {value.name}" not in self._known:
            self._known[f"doubt {value.name}"] = ""
            self._order.append(f"doubt {value.name}")
            self._doubts.append(value.name)
            if len(self._doubts) == TOGETHER:
                self.look()
        return value

    def look(self) -> None:
        """Write the check of all that is in doubt: sums of sizes tell of each."""
        total = None
        for name in self._doubts:
            size = self.put(f"call double @llvm.fabs.f64(double {name})")
            total = size if total is None else self.put(f"fadd double {total}, {size}")
        if total is not None:
            self.check(self.put(f"fcmp uge double {total}, {self.limit}"))
        self._doubts = []

    def smaller(self, value: Any, limit: float) -> str:
        """Return the name of the truth value that tells whether a size is below a limit."""
        size = self.put(f"call double @llvm.fabs.f64(double {self.name(value)})")
        return self.put(f"fcmp olt double {size}, {literal(limit)}")

    # --- functions ----------------------------------------------------------------------------

    def apply(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Return what a function of floats makes of values; one that cannot be written is called
        in Python.
        """
        state = len(self.lines), len(self._order), self.bad, self._doubts[:], self._block
        self._ways = 0
        try:
            return self._way(function, values, [])
        except (Refused, TypeError, AttributeError, ArithmeticError, ValueError):
            lines, known, bad, doubts, block = state
            self._enter(block, known)
            del self.lines[lines:]
            self.bad, self._doubts = bad, doubts
        finally:
            self._decisions = None
        given = ", ".join([f"double {self.name(v)}" for v in values])
        return self.doubt(self.number(
            f"call double inttoptr (i64 {self.outside(function, len(values))} to ptr)({given})"))

    def _way(self, function: Callable[..., Any], values: Sequence[Any], decisions: list[bool]
             ) -> Any:
        """Write the way behind these decisions with all that branch off it, and return what it
        leaves.
        """
        self._ways += 1
        if self._ways > MAX_WAYS:
            raise Refused(function.__name__)
        decided = len(decisions)
        self._decisions, self._asked, self._forks = decisions, [], []
        found = self.call(function, values)
        forks = self._forks
        for k in range(len(forks) - 1, -1, -1):
            number, before, bad, doubts = forks[k]
            ends = [self._ended(found, number)]
            self._enter(f"n{number}", before)
            ends.append(self._ended(
                self._way(function, values, [*decisions[:decided + k], False]), number))
            self._enter(f"j{number}", before)
            found, missed = self._joined(ends)
            self.bad, self._doubts = bad, doubts
            self.check(missed)
        return found

    def decided(self, truth: Truth) -> bool:
        """Return which way is taken where a function asks for a truth value, and branch there if it
        is new.
        """
        if self._decisions is None:
            raise TypeError("a symbol is neither true nor false")
        for known, taken in zip(self._asked, self._decisions, strict=False):
            if known.name == truth.name:
                return taken
        self._asked.append(truth)
        if len(self._asked) > len(self._decisions):
            self._total += 1
            number = self._total
            self.lines.append(f"br i1 {truth.name}, label %y{number}, label %n{number}")
            self._forks.append((number, len(self._order), self.bad, self._doubts))
            self._enter(f"y{number}", len(self._order))
            self._decisions.append(True)
        return self._decisions[len(self._asked) - 1]

    def _enter(self, block: str, before: int) -> None:
        """Begin a block, in which so many instructions are known."""
        self.lines.append(f"{block}:")
        self._block = block
        for instruction in self._order[before:]:
            del self._known[instruction]
        del self._order[before:]
        self.bad, self._doubts = "false", []

    def _ended(self, found: Any, number: int) -> tuple[str, str, str, str]:
        """End a way, and return the type and name of what it leaves, whether that is bad, and its
        last block.
        """
        self.look()
        if type(found) is Truth:
            kind, name = "i1", found.name
        elif type(found) is bool:
            kind, name = "i1", str(found).lower()
        elif type(found) in (float, Number):
            kind, name = "double", self.name(found)
        else:
            raise Refused(type(found).__name__)
        self.lines.append(f"br label %j{number}")
        return kind, name, self.bad, self._block

    def _joined(self, ends: Sequence[tuple[str, str, str, str]]) -> tuple[Any, str]:
        """Return what one of two ways leaves, and whether that is bad."""
        (kind, a, bad, here), (other, b, worse, there) = ends
        if kind != other:
            raise Refused("a number or a truth value")
        self._total += 1
        name, missed = f"%t{self._total}", "false"
        self.lines.append(f"{name} = phi {kind} [{a}, %{here}], [{b}, %{there}]")
        if {bad, worse} != {"false"}:
            missed = f"%b{self._total}"
            self.lines.append(f"{missed} = phi i1 [{bad}, %{here}], [{worse}, %{there}]")
        return (Truth if kind == "i1" else Number)(self, name), missed

    def call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Return what a function makes of values, along the way that is being followed."""
        if function in self.libm:
            return self._of_libm(self.libm[function], values)
        if function in ALONE:
            return ALONE[function](*values)
        code = getattr(function, "__code__", None)
        if code is None or code.co_freevars or not TYPES.isdisjoint(code.co_names):
            raise Refused(getattr(function, "__name__", "a function"))
        names = {name: _Module(self) if value is math else self._inner(value)
                 for name, value in getattr(function, "__globals__", {}).items()
                 if name in code.co_names}
        rebound: Any = type(literal)
        return rebound(code, names)(*values)

    def _inner(self, value: Any) -> Any:
        if type(value) is type(literal) or (callable(value) and value in self.libm):
            return lambda *values: self.call(value, values)
        return value

    def _of_libm(self, name: str, values: Sequence[Any]) -> Any:
        if name not in PURE:
            self.called[name] = ", ".join(["double"] * len(values))
        given = ", ".join([f"double {self.name(v)}" for v in values])
        return self.doubt(self.number(f"call double @{PURE.get(name, name)}({given})"))


    def two(self, name: str, value: Any, places: Sequence[str]) -> None:
        """Call a function that writes two doubles to places."""
        a, b = places
        self.lines.append(f"call void @{name}(double {self.name(value)}, ptr {a}, ptr {b})")


class _Module:
    """`math`, as functions of symbols."""

    __slots__ = ("body",)

    def __init__(self, body: Body) -> None:
        self.body = body

    def __getattr__(self, name: str) -> Any:
        found = getattr(math, name)
        if not callable(found):
            return found
        return lambda *values: found(*values) if not any(
            type(v) is Number for v in values) else self.body.call(found, values)


def literal(value: float) -> str:
    """Return a float as LLVM reads it to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _copysign(x: Any, y: Any) -> Any:
    body = x.body if type(x) is Number else y.body
    return body.number(
        f"call double @llvm.copysign.f64(double {body.name(x)}, double {body.name(y)})")


# What tells a symbol from a float.
TYPES = {"type", "isinstance", "getattr", "hasattr"}
# Instructions that round as the functions do: to the nearest, or not at all.
PURE = {"sqrt": "llvm.sqrt.f64"}
ALONE: dict[Any, Callable[..., Any]] = {
    abs: abs, math.fabs: abs, math.copysign: _copysign, math.isnan: lambda x: x != x,
    math.radians: lambda x: x * (math.pi / 180.0), math.degrees: lambda x: x * (180.0 / math.pi),
    math.isfinite: lambda x: x - x == 0.0, math.isinf: lambda x: abs(x) == math.inf}
