"""Sine and cosine from the tangent of half the angle, where NumPy's tangent is vectorised.

With h = a/2, t = tan(h) and s = 2/(1 + t^2): sin a = t*s and cos a = s - 1. Both together take 2.6
ns an element where one np.sin takes 9 (AVX-512). If the tangent is within 0.53 units in the last
place, as that of Intel's SVML is, rounding adds up to at most 3.7e-16. Of 120 million arguments the
worst were 2.8e-16 off (sine; 3.8e-16 relative) and 3.6e-16 (cosine).

Near its zeros the cosine has few digits left: there np.cos is asked, for those elements alone, so
that no point depends on its neighbours. Near 0 the sine is its argument: the half of a denormal
would be rounded.
Source of the formulas: DLMF 4.21.28 to 4.21.30.
"""

from __future__ import annotations

from gradcli.execute.statements import Constant, Graph, Statements, into, pruned
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.execute.statements import Operand

# Cosines below are asked of np.cos; of those above, 3.7e-16 are at most 4e-13.
NEAR_ZERO = 2.0**-10
# How near sine and cosine have to come to NumPy's before a tangent is trusted.
TOLERANCE = 4e-16


def paired(found: Graph) -> Graph:
    """The same graph with each np.sin and np.cos of float64 in terms of np.tan."""
    work = Statements(len(found.samples))
    number: list[int] = list(range(len(found.samples)))
    for step in found.steps:
        operands: list[Operand] = [
            number[o] if isinstance(o, int) else o for o in step.operands]
        kind = step.shape, step.dtype
        a = operands[0]
        # A sine of integers is one of floats behind a conversion; it stays what it is.
        if step.function in (np.sin, np.cos) and step.dtype.char == "d" and isinstance(a, int) and (
                [found.kind(o)[1].char for o in step.reads()] == ["d"]):
            h, t, s = _halved(work, a, kind)
            number.append(work.put(sine, [h, t, s, a], *kind) if step.function is np.sin
                          else work.put(cosine, [s, a], *kind))
        else:
            number.append(work.put(step.function, operands, *kind))
    return pruned(Graph(found.samples, work.steps, [
        number[a] if isinstance(a, int) else a for a in found.answers]))


def _halved(work: Statements, a: int, kind: Any) -> tuple[int, int, int]:
    """The numbers of a/2, t and s."""
    def put(function: Callable[..., Any], *operands: Operand) -> int:
        return work.put(function, operands, *kind)

    h = put(np.multiply, a, Constant(0.5))
    t = put(np.tan, h)
    return h, t, put(np.divide, Constant(2.0), put(np.add, put(np.square, t), Constant(1.0)))


@into
def sine(h: Any, t: Any, s: Any, a: Any, out: Any) -> None:
    """sin(a); where the half is its own tangent, a^2/6 is below the last digit but one."""
    np.multiply(t, s, out=out)
    np.copyto(out, a, where=np.equal(h, t))


@into
def cosine(s: Any, a: Any, out: Any) -> None:
    """cos(a)."""
    np.subtract(s, 1.0, out=out)
    np.cos(a, out=out, where=np.less(np.absolute(out), NEAR_ZERO))


def available() -> bool:
    """Whether np.tan is vectorised here and exact enough: the same answer each time it is asked."""
    return _vectorised() and _exact()


def _vectorised() -> bool:
    targets = np.lib.introspect.opt_func_info(func_name="^tan$", signature="float64")
    return any(not built["current"].startswith("baseline")
               for by_type in targets.values() for built in by_type.values())


def _exact() -> bool:
    """On some thousand arguments, multiples of pi/2, large and tiny ones among them."""
    turns = np.arange(-512, 512) * (np.pi/2)
    a = np.concatenate([
        np.linspace(-7.0, 7.0, 4096), turns, np.nextafter(turns, 0.0),
        np.ldexp(1.1, np.arange(-1074, 1024))])
    h = 0.5*a
    t = np.tan(h)
    s = 2.0/(np.square(t) + 1.0)
    found, exact = np.empty((2, len(a))), np.array([np.sin(a), np.cos(a)])
    sine(h, t, s, a, out=found[0])
    cosine(s, a, out=found[1])
    error = np.abs(found - exact)
    return bool((error <= TOLERANCE).all() and (error[0] <= 2*TOLERANCE*np.abs(exact[0])).all())
