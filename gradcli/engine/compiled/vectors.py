"""Blocks of points as machine code: vectors of points go through all statements, and nothing but
the answers is written to memory.

The statements are those of the block executor, in the same order; only the functions differ. Where
there are functions of vectors, glibc's libmvec, and one passes a probe, it is called: it differs by
some units in the last place. Else libm's function is called for each point, which is the one behind
Python's `math`.

Measured (value and gradient of 30 operations, a million points, AVX-512): 10 ns a point with sines,
where NumPy's calls on blocks take 47; 5 and 33 without. With libm's functions, 89 and 10.
"""

from __future__ import annotations

import math
from functools import cache

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.compiled import statements
from gradcli.engine.compiled.llvm import Refused, literal
from gradcli.engine.compiled.machine import compiled, features, libm, library, symbol
from gradcli.engine.compiled.statements import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.compiled.statements import Statements, Step

# Statements of one loop: LLVM takes more than proportionally long for larger ones.
MOST = 1000
# How near to libm a function has to come, relative to its value: four units in the last place.
TOLERANCE = 9e-16
# Names of NumPy's functions in libmvec.
NAMES = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "cbrt": "cbrt",
    "erf": "erf", "erfc": "erfc", "power": "pow", "arctan2": "atan2", "hypot": "hypot"}
# Those that may tell nobody of an overflow, and the least that may be an underflow.
STEEP = {"exp": 1e-300, "exp2": 1e-300, "expm1": 0.0, "sinh": 0.0, "cosh": 0.0, "power": 1e-300,
         "erfc": 1e-300, "hypot": 0.0}
LARGE = 1e300
# Below the smallest float with all its digits.
TINY = 2.0**-1022
# What the code answers.
FAR, NAN = 1, 2
# What arithmetic marks, an overflow and an underflow together, by processor (`fenv.h`).
MARKS = {"x86_64": 8 | 16, "amd64": 8 | 16, "aarch64": 4 | 8, "arm64": 4 | 8}
# libmvec's mark of an instruction set, by points in a vector: AVX-512, AVX2, SSE4.
SETS = {8: "e", 4: "d", 2: "b"}


@cache
def width() -> int:
    """Return how many points a vector holds."""
    has = features()
    if has.get("avx512f") and _library() is not None:
        return 8
    return 4 if has.get("avx2") else 2


@cache
def function(ufunc: Any) -> str | None:
    """Return the function of libmvec that is a ufunc on vectors, if it passes the probe."""
    name = ufunc.__name__
    if name not in NAMES or _library() is None:
        return None
    mark = f"{SETS[width()]}N{width()}{'v' * ufunc.nin}"
    found = getattr(_library(), f"_ZGV{mark}_{NAMES[name]}", None)
    known = None if found is None else symbol(f"mvec_{NAMES[name]}", found)
    return known if known is not None and _exact(ufunc, known) else None


@cache
def _library() -> Any:
    from ctypes import CDLL

    try:
        return CDLL("libmvec.so.1")
    except OSError:
        return None


def _exact(ufunc: Any, known: str) -> bool:
    """Return whether a function is near enough to NumPy's on some thousand arguments, the same for
    each place in a vector, with the same infinities and NaN.
    """
    far = np.ldexp(1.1, np.arange(-1000, 1000, 3))
    line = np.concatenate([
        np.linspace(-7.0, 7.0, 4097), np.linspace(-720.0, 720.0, 2048),
        np.arange(-512, 513) * (np.pi/2), far, -far,
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]])
    given = [line]
    if ufunc.nin == 2:
        special = np.concatenate([line[-7:], [0.5, 2.0, 3.0, -2.5, 1e-9, 1e9]])
        draw = np.random.default_rng(0).permutation
        given = [np.concatenate(c) for c in (
            (line, draw(line), np.repeat(special, len(special))),
            (np.clip(draw(line), -9.0, 9.0), draw(line), np.tile(special, len(special))))]
    loop = Loop(width(), {ufunc: known}.get)
    loop.answer(0, loop.apply(ufunc, [loop.input(k) for k in range(ufunc.nin)]))
    block = Block(loop, ufunc.nin, [line.dtype])
    found, turned = np.empty((2, len(given[0])))
    block.run(given, [found])
    block.run([np.roll(c, 3) for c in given], [turned])
    with np.errstate(all="ignore"):
        exact = ufunc(*given)
        near = np.abs(found - exact) <= TOLERANCE * np.abs(exact)
    same = near | (found == exact) | (np.isnan(found) & np.isnan(exact)) | (
        np.maximum(np.abs(found), np.abs(exact)) < TINY)
    return bool(same.all() and found.tobytes() == np.roll(turned, -3).tobytes())


# --------------------------------------------------------------------------------------------------
# The loop.

class Lanes(np.lib.mixins.NDArrayOperatorsMixin):
    """A vector of points that is only known when the instructions run: what NumPy's functions make
    of it are instructions, too. truth: of truth values.
    """

    __slots__ = ("loop", "name", "truth")

    def __init__(self, loop: Loop, name: str, truth: bool) -> None:
        self.loop = loop
        self.name = name
        self.truth = truth

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        if method == "reduce" and ufunc is np.maximum:
            return np.inf   # how large all are is only asked for to save work
        if method != "__call__" or options:
            raise Refused(ufunc.__name__)
        return self.loop.apply(ufunc, operands)

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> Any:
        if function is np.where:
            return self.loop.choice(*operands)
        if function is np.result_type:
            return np.dtype(float)
        if function is np.iscomplexobj:
            return False
        raise Refused(function.__name__)

    @property
    def dtype(self) -> Any:
        return np.dtype(bool if self.truth else float)

    def astype(self, dtype: Any, copy: bool = True) -> Lanes:
        return Lanes(self.loop, self.loop.double(self), False)

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no value")


class Loop:
    """The statements on a vector of points.

    width: points in a vector. function: gives the name of that of vectors for a ufunc. d, b: the
    types of vectors of doubles and of truth values.
    """

    __slots__ = ("_called", "_extreme", "_known", "_lines", "_nan", "_stores", "b", "d", "function",
                 "width")

    def __init__(self, width: int, function: Callable[[Any], str | None]) -> None:
        self.width = width
        self.function = function
        self.d, self.b = f"<{width} x double>", f"<{width} x i1>"
        self._lines: list[str] = []
        self._stores: list[str] = []
        self._known: dict[str, str] = {}
        self._called: dict[str, str] = {}
        self._extreme, self._nan = "%far", "%none"

    # --- values -------------------------------------------------------------------------------

    def put(self, instruction: str) -> str:
        """Return the name of an instruction's result; equal ones stand once."""
        name = self._known.get(instruction)
        if name is None:
            name = self._known[instruction] = f"%t{len(self._known)}"
            self._lines.append(f"{name} = {instruction}")
        return name

    def number(self, instruction: str) -> Lanes:
        """Return the doubles that an instruction makes."""
        return Lanes(self, self.put(instruction), False)

    def input(self, k: int) -> Lanes:
        """Return the vector of an input."""
        return self.number(f"load {self.d}, ptr %i{k}, align 8")

    def double(self, value: Any) -> str:
        """Return an operand as a vector of doubles."""
        if type(value) is Lanes:
            return value.name if not value.truth else self.put(
                f"uitofp {self.b} {value.name} to {self.d}")
        array = np.asarray(value)
        if array.shape or array.dtype.kind not in "fib" or array.dtype.char == "f":
            raise Refused("a constant that is no float")
        return f"<{', '.join([f'double {literal(float(array))}'] * self.width)}>"

    def truth(self, value: Any) -> str:
        """Return an operand as a vector of truth values."""
        if type(value) is Lanes and value.truth:
            return value.name
        return self.put(f"fcmp une {self.d} {self.double(value)}, zeroinitializer")

    # --- functions ----------------------------------------------------------------------------

    def apply(self, ufunc: Any, operands: Sequence[Any]) -> Lanes:
        """Return what a function of NumPy makes of operands. Raises Refused where it is unknown."""
        name = ufunc.__name__
        if name in OF_BITS and all(getattr(o, "truth", False) for o in operands):
            name = OF_BITS[name]
        if name in OF_TRUTHS:
            given = [self.truth(o) for o in operands]
            ones = f"<{', '.join(['i1 true'] * self.width)}>"
            return Lanes(self, self.put(OF_TRUTHS[name].format(*given, ones, b=self.b)), True)
        if any(type(o) is Lanes and o.truth for o in operands) and name not in ARITHMETIC:
            raise Refused(name)
        given = [self.double(o) for o in operands]
        if name in COMPARISONS:
            return Lanes(self, self.put(
                f"fcmp {COMPARISONS[name]} {self.d} {given[0]}, {given[1]}"), True)
        if name in FORMULAS:
            found: Lanes = FORMULAS[name](*operands)
            return found
        if name in INSTRUCTIONS:
            return self.number(INSTRUCTIONS[name].format(*given, d=self.d, w=self.width))
        known = self.function(ufunc)
        found = self._each(name, given) if known is None else self.number(
            self._call(known, self.d, given))
        if name in STEEP:
            self._note(abs(found), STEEP[name], operands, name == "power")
        return found

    def _call(self, known: str, kind: str, given: Sequence[str]) -> str:
        """Return the call of a function of some type."""
        self._called[known] = f"{kind} @{known}({', '.join([kind] * len(given))})"
        return f"call {kind} @{known}({', '.join([f'{kind} {name}' for name in given])})"

    def _each(self, name: str, given: Sequence[str]) -> Lanes:
        """Call libm's function for each point. Raises Refused where there is none."""
        known = libm().get(getattr(math, NAMES.get(name, ""), None))
        if known is None:
            raise Refused(name)
        found = "undef"
        for k in range(self.width):
            one = self.put(self._call(known, "double", [
                self.put(f"extractelement {self.d} {v}, i32 {k}") for v in given]))
            found = self.put(f"insertelement {self.d} {found}, double {one}, i32 {k}")
        return Lanes(self, found, False)

    def _note(self, size: Lanes, least: float, operands: Sequence[Any], may_vanish: bool) -> None:
        """Note where a size is very large or small, but for what infinities or a base of 0 make."""
        far = np.logical_or(size > LARGE, size < least)
        for o in operands:
            far = np.logical_and(far, np.isfinite(o))
        if may_vanish:
            far = np.logical_and(far, np.not_equal(operands[0], 0.0))
        self._extreme = self.put(f"or {self.b} {self._extreme}, {far.name}")

    def choice(self, condition: Any, x: Any, y: Any) -> Lanes:
        """Return x where a condition holds, else y."""
        kinds = {type(o) is Lanes and o.truth for o in (x, y)}
        if True in kinds:
            raise Refused("where")
        return self.number(f"select {self.b} {self.truth(condition)}, {self.d} {self.double(x)},"
                           f" {self.d} {self.double(y)}")

    # --- text ---------------------------------------------------------------------------------

    def answer(self, k: int, value: Any) -> None:
        """Store a vector as answer k."""
        if value.truth:
            bytes_ = f"<{self.width} x i8>"
            name = self.put(f"zext {self.b} {value.name} to {bytes_}")
            self._stores.append(f"store {bytes_} {name}, ptr %o{k}, align 1")
        else:
            self._stores.append(f"store {self.d} {value.name}, ptr %o{k}, align 8")
            self._nan = self.put(f"or {self.b} {self._nan}, {(value != value).name}")

    def text(self, inputs: int, answers: Sequence[int]) -> str:
        """Return the function `run`: of the addresses of columns and answers, and of their length,
        which is a vector's at least; it returns FAR if a value was very large or small, plus NAN
        if an answer is no number.

        answers: bytes of an element of each.
        """
        w, names = self.width, [f"%i{k}" for k in range(inputs)]
        sizes = [8] * inputs + list(answers)
        names += [f"%o{k}" for k in range(len(answers))]
        lines = [f"declare {self.d} @llvm.{name}.v{w}f64({', '.join([self.d] * count)})"
                 for name, count in INTRINSICS.items()]
        lines += [f"declare {declared}" for declared in self._called.values()]
        lines += [
            f"declare i1 @llvm.vector.reduce.or.v{w}i1({self.b})",
            "define i32 @run(ptr %all, i64 %n) {", "entry:",
            *[f"{name}.p = getelementptr ptr, ptr %all, i64 {k}\n{name}.a = load ptr, ptr {name}.p"
              for k, name in enumerate(names)],
            f"%last = sub i64 %n, {w}", "br label %loop", "loop:",
            "%k = phi i64 [0, %entry], [%at, %loop]",
            f"%far = phi {self.b} [zeroinitializer, %entry], [{self._extreme}, %loop]",
            f"%none = phi {self.b} [zeroinitializer, %entry], [{self._nan}, %loop]",
            *[f"{name}.b = mul i64 %k, {size}\n"
              f"{name} = getelementptr i8, ptr {name}.a, i64 {name}.b"
              for name, size in zip(names, sizes, strict=True)],
            *self._lines, *self._stores,
            # The last vector begins so early that it ends with the points.
            f"%next = add i64 %k, {w}", "%late = icmp sgt i64 %next, %last",
            "%at = select i1 %late, i64 %last, i64 %next",
            "%done = icmp eq i64 %k, %last", "br i1 %done, label %end, label %loop", "end:",
            *[f"%a{k} = call i1 @llvm.vector.reduce.or.v{w}i1({self.b} {marks})\n"
              f"%told{k} = select i1 %a{k}, i32 {mark}, i32 0"
              for k, (marks, mark) in enumerate(((self._extreme, FAR), (self._nan, NAN)))],
            "%told = or i32 %told0, %told1", "ret i32 %told", "}"]
        return "\n".join(lines)


ARITHMETIC = {"add", "subtract", "multiply", "divide"}
COMPARISONS = {"less": "olt", "less_equal": "ole", "greater": "ogt", "greater_equal": "oge",
               "equal": "oeq", "not_equal": "une"}
OF_TRUTHS = {"logical_and": "and {b} {0}, {1}", "logical_or": "or {b} {0}, {1}",
             "logical_not": "xor {b} {0}, {1}", "logical_xor": "xor {b} {0}, {1}"}
OF_BITS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not"}
INTRINSICS = {
    "fabs": 1, "sqrt": 1, "floor": 1, "ceil": 1, "trunc": 1, "roundeven": 1, "copysign": 2}
INSTRUCTIONS = {
    "add": "fadd {d} {0}, {1}", "subtract": "fsub {d} {0}, {1}", "multiply": "fmul {d} {0}, {1}",
    "divide": "fdiv {d} {0}, {1}", "negative": "fneg {d} {0}", "square": "fmul {d} {0}, {0}",
    **{name: f"call {{d}} @llvm.{known}.v{{w}}f64({{d}} {{0}})" for name, known in (
        ("absolute", "fabs"), ("fabs", "fabs"), ("sqrt", "sqrt"), ("floor", "floor"),
        ("ceil", "ceil"), ("trunc", "trunc"), ("rint", "roundeven"))},
    "copysign": "call {d} @llvm.copysign.v{w}f64({d} {0}, {d} {1})"}
FORMULAS: dict[str, Callable[..., Any]] = {
    "positive": lambda x: x,
    "radians": lambda x: x * (np.pi / 180.0),
    "degrees": lambda x: x * (180.0 / np.pi),
    "reciprocal": lambda x: 1.0 / x,
    "maximum": lambda x, y: np.where(np.logical_or(np.greater_equal(x, y), np.not_equal(x, x)),
                                     x, y),
    "minimum": lambda x, y: np.where(np.logical_or(np.less_equal(x, y), np.not_equal(x, x)), x, y),
    "sign": lambda x: np.where(x > 0.0, 1.0, np.where(x < 0.0, -1.0, np.where(x == 0.0, 0.0, x))),
    "heaviside": lambda x, y: np.where(x < 0.0, 0.0, np.where(x > 0.0, 1.0, np.where(
        x == 0.0, y, x))),
    "logaddexp": lambda x, y: np.where(x == y, x + np.log(2.0), np.maximum(x, y) + np.log1p(
        np.exp(-np.abs(x - y)))),
    "isnan": lambda x: x != x, "isfinite": lambda x: x - x == 0.0,
    "isinf": lambda x: np.abs(x) == np.inf}


# --------------------------------------------------------------------------------------------------
# A graph on columns.

class Block:
    """A loop compiled, with the type of each answer; not for two threads at a time."""

    __slots__ = ("_call", "_engine", "_kinds", "width")

    def __init__(self, loop: Loop, inputs: int, kinds: Sequence[Any]) -> None:
        from ctypes import CFUNCTYPE, c_int, c_int64, c_void_p

        self.width = loop.width
        self._kinds = kinds
        self._engine = compiled(loop.text(inputs, [kind.itemsize for kind in kinds]), 2)
        self._call = CFUNCTYPE(c_int, c_void_p, c_int64)(self._engine.get_function_address("run"))

    def run(self, columns: Sequence[Any], answers: Sequence[Any]) -> tuple[bool, bool]:
        """Write the answers at points, a vector of them at least, and return whether a number left
        the range of floats, and whether an answer is no number.
        """
        given = [np.ascontiguousarray(c, float) for c in columns]
        places = np.array([a.ctypes.data for a in (*given, *answers)], np.uintp)
        environment, marks = _environment()
        environment.feclearexcept(marks)
        told = self._call(places.ctypes.data, len(given[0]))
        far = told & FAR or environment.fetestexcept(marks)
        return bool(far), bool(told & NAN)


@cache
def _environment() -> tuple[Any, int]:
    """Return the library that tells what marks arithmetic has left, and those that count. Raises
    Refused for a processor whose marks are not known.
    """
    import platform

    marks = MARKS.get(platform.machine().lower())
    if marks is None:
        raise Refused("the processor")
    return library(), marks


def block(graph: Statements) -> Block:
    """Return a graph of statements on floats, compiled. Raises Refused where it is none."""
    if len(graph.steps) > MOST or any(s.shape or s.dtype != float for s in graph.samples):
        raise Refused("vectors")
    if _library() is None and statements.available():
        raise Refused("NumPy's functions of vectors are faster than libm")
    _environment()
    loop = Loop(width(), function)
    values: list[Any] = [loop.input(k) for k in range(len(graph.samples))]
    for step in graph.steps:
        operands = [values[o] if isinstance(o, int) else o.value for o in step.operands]
        values.append(_applied(loop, step, operands))
    kinds = []
    for k, answer in enumerate([a for a in graph.answers if isinstance(a, int)]):
        loop.answer(k, values[answer])
        kinds.append(values[answer].dtype)
    return Block(loop, len(graph.samples), kinds)


def _applied(loop: Loop, step: Step, operands: Sequence[Any]) -> Lanes:
    """Return a step on vectors, which may be a formula that was not taken apart."""
    if step.shape or step.dtype.char not in "d?":
        raise Refused("arrays")
    try:
        if step.function is select:
            found = loop.choice(*operands)
        elif isinstance(step.function, np.ufunc):
            found = loop.apply(step.function, operands)
        else:
            found = step.function(*operands)
    except (TypeError, AttributeError, ValueError, IndexError, GradcliError):
        raise Refused("a formula") from None
    if type(found) is not Lanes or found.truth != (step.dtype.char == "?"):
        raise Refused("a formula")
    return found
