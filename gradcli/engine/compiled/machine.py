"""llvmlite, and the functions that machine code calls: those behind Python's `math`, and others.
"""

from __future__ import annotations

import math
import sys
from functools import cache

from gradcli.base.errors import GradcliError
from gradcli.engine.compiled.llvm import Refused
from gradcli.ops.kinds import EDGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


@cache
def available() -> bool:
    """Return whether llvmlite is installed, without loading it."""
    from importlib.util import find_spec

    return find_spec("llvmlite") is not None


@cache
def binding() -> Any:
    """Return llvmlite, ready to make code. Raises Refused where it does not load."""
    try:
        from llvmlite import binding as found

        found.initialize_native_target()
        found.initialize_native_asmprinter()
    except (ImportError, OSError, RuntimeError) as problem:
        raise Refused(f"llvmlite: {problem}") from None
    return found


def features() -> Mapping[str, bool]:
    """Return what this processor has, by LLVM's names."""
    found: Mapping[str, bool] = binding().get_host_cpu_features()
    return found


def symbol(name: str, function: Any) -> str:
    """Give a function of a library a name, by which code can call it, and return that."""
    from ctypes import c_void_p, cast

    address = cast(function, c_void_p).value
    assert address is not None
    binding().add_symbol(name, address)
    return name


def compiled(text: str, effort: int = 0) -> Any:
    """Return the engine that holds the code of a text; it goes with the code. effort: from 0 to 3;
    what calls functions of libm most of the time gains nothing by it.
    """
    llvm = binding()
    module = llvm.parse_assembly(text)
    # An engine takes it over.
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(),
        opt=effort)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine


class Outside:
    """Functions of Python that machine code calls, for as long as this is kept. count: of calls.
    raised: what cannot pass through machine code, such as the interruption by a user.
    """

    __slots__ = ("_kept", "count", "raised")

    def __init__(self) -> None:
        self.count = 0
        self.raised: list[BaseException] = []
        self._kept: dict[Any, Any] = {}

    def __call__(self, function: Callable[..., float], count: int) -> int:
        """Return the address that calls a function of so many floats; where it raises, or gives no
        float, the answer is NaN.
        """
        from ctypes import PYFUNCTYPE, c_double, c_void_p, cast

        def called(*values: float) -> float:
            try:
                found = function(*values)
            except (GradcliError, *EDGE):
                return math.nan
            except BaseException as problem:
                self.raised.append(problem)
                return math.nan
            return found if type(found) is float else math.nan

        self.count += 1
        if function not in self._kept:
            self._kept[function] = PYFUNCTYPE(c_double, *[c_double] * count)(called)
        address = cast(self._kept[function], c_void_p).value
        assert address is not None
        return address


SINCOS = "libm_sincos"
UNARY = ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10"
         " log1p cbrt erf erfc").split()
TAKES = {"pow": 2, "atan2": 2, "fmod": 2}


@cache
def library() -> Any:
    """Return the library that has C's functions of mathematics."""
    from ctypes import CDLL

    return CDLL("ucrtbase" if sys.platform == "win32" else None)


@cache
def libm() -> dict[Any, str]:
    """Return the functions of `math` with their names in libm, of those that are the same there.

    LLVM knows them by other names, lest it thinks that it knows what they do.
    """
    from ctypes import POINTER, byref, c_double

    found: dict[Any, str] = {math.sqrt: "sqrt"}
    for name in (*UNARY, *TAKES):
        ours, theirs = getattr(math, name), getattr(library(), name, None)
        if theirs is None:
            continue
        theirs.restype, theirs.argtypes = c_double, [c_double] * TAKES.get(name, 1)
        if all(_same(ours, theirs, values) for values in _probes(TAKES.get(name, 1))):
            found[ours] = symbol(f"libm_{name}", theirs)
    both = getattr(library(), "sincos", None)
    if both is not None:
        both.restype = None
        both.argtypes = [c_double, POINTER(c_double), POINTER(c_double)]
        s, c = c_double(), c_double()
        if all(both(x, byref(s), byref(c)) is None and _same(math.sin, lambda _: s.value, (x,))
               and _same(math.cos, lambda _: c.value, (x,)) for x, in _probes(1)):
            found[SINCOS] = symbol(SINCOS, both)
    return found


def _same(ours: Callable[..., float], theirs: Callable[..., float], values: Sequence[float]
          ) -> bool:
    """Return whether two functions give the same bits; where ours raises, theirs is no number."""
    there = theirs(*values)
    try:
        return ours(*values).hex() == there.hex()
    except (ValueError, OverflowError):
        return there - there != 0.0


def _probes(count: int) -> list[tuple[float, ...]]:
    line = [*[k / 7.0 for k in range(-40, 41)], *[math.ldexp(s * 1.1, k) for s in (1.0, -1.0)
                                                  for k in range(-1070, 1024, 29)],
            0.0, -0.0, math.inf, -math.inf, math.nan]
    return [(x,) for x in line] if count == 1 else [(x, y) for x in line[::7] for y in line[::5]]
