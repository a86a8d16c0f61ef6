"""Arithmetic of numbers beyond the range of floats: mantissas with exponents of their own."""

from __future__ import annotations

import math

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

# Exponents of the smallest positive and the smallest normal float, and of what zeros have.
SMALLEST, NORMAL, NOTHING = -1074, -1022, -(2**40)
# A doubt that is so many bits below a number does not change it.
BITS = 40


class Unbounded:
    """Numbers mantissa * 2^exponent, element by element.

    mantissa: 0, of magnitudes from 0.5 to 1, or not finite. doubt: log2 of the possible error of
    each, -inf for none; None: all is right.

    Nearly all are single numbers, a float64 and an int64 of NumPy: a function that Python has takes
    a fraction of the time on them that one of arrays takes.
    """

    __slots__ = ("doubt", "exponent", "mantissa")

    def __init__(self, mantissa: Any, exponent: Any = 0, doubt: Any = None) -> None:
        self.doubt = doubt
        if type(mantissa) is np.ndarray and mantissa.ndim == 0:
            mantissa = mantissa[()]
        if isinstance(mantissa, float) and (type(exponent) is int or exponent.ndim == 0):
            one, by = math.frexp(mantissa)
            self.mantissa: Any = np.float64(one)
            self.exponent: Any = np.int64(
                NOTHING if one == 0.0 or not math.isfinite(one) else by + exponent)
            return
        m, more = np.frexp(mantissa)
        self.mantissa = m
        self.exponent = np.where(
            np.logical_and(np.isfinite(m), m), np.add(more, exponent, dtype=int), NOTHING)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return a number or an array as unbounded numbers."""
        if type(value) is cls:
            return value
        return cls(value if type(value) is float else np.asarray(value, np.float64))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(np.shape(self.mantissa))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def is_single(self) -> bool:
        """Return whether it is one number, not an array."""
        return type(self.exponent) is np.int64

    def floats(self) -> Any:
        """Return the nearest floats: 0, subnormal or infinite beyond their range."""
        if self.is_single():
            return np.ldexp(self.mantissa, min(max(int(self.exponent), -3000), 3000))
        return np.ldexp(
            self.mantissa, np.minimum(np.maximum(self.exponent, -3000), 3000).astype(np.intc))

    def size(self) -> Any:
        """Return log2 of the magnitude; -inf of 0."""
        if self.is_single():
            m = abs(self.mantissa)
            return np.log2(m) + self.exponent if m else np.float64(-math.inf)
        m = np.abs(self.mantissa)
        return np.where(m == 0, -np.inf, np.log2(np.where(m == 0, 1.0, m)) + self.exponent)

    def text(self) -> str:
        """Write the largest of the numbers beyond floats to four digits, as a power of ten."""
        sizes = np.where(self.beyond(), self.size(), -np.inf)
        at = np.unravel_index(np.argmax(sizes), np.shape(sizes))
        digits = float(sizes[at]) * float(np.log10(2.0))
        return f"{np.sign(self.mantissa)[at] * 10 ** (digits % 1):.4g}e{int(digits // 1)}"

    def is_doubtful(self) -> Any:
        """Return a mask of where the doubt is too large to be left out."""
        return np.False_ if self.doubt is None else (
            (self.doubt == np.inf) | (self.doubt > self.size() - BITS))

    def beyond(self) -> Any:
        """Return a mask of where the number, finite and not 0, is no normal float."""
        return (self.exponent != NOTHING) & ((self.exponent <= NORMAL) | (self.exponent > 1024))

    # --- arithmetic ---------------------------------------------------------------------------

    # The exponent of what is 0 or not finite does not count, so none is left out here.

    def __mul__(self, other: Any) -> Self:
        if type(other) is float:
            one, by = math.frexp(other)
            if one == 0.5:
                return self._doubled(by - 1)
        a, b = self, self.of(other)
        doubt = None
        if a.doubt is not None or b.doubt is not None:
            p, q = as_number(a.doubt), as_number(b.doubt)
            doubt = largest(p + b.size(), q + a.size(), p + q)
        return type(self)(a.mantissa * b.mantissa, a.exponent + b.exponent, doubt)

    def _doubled(self, times: int) -> Self:
        """Return the numbers times a power of two."""
        doubt = None if self.doubt is None else self.doubt + times
        if self.is_single():
            exponent = self.exponent if self.exponent == NOTHING else self.exponent + times
        else:
            exponent = np.where(self.exponent == NOTHING, NOTHING, self.exponent + times)
        return self._replaced(self.mantissa, exponent, doubt)

    def _replaced(self, mantissa: Any, exponent: Any, doubt: Any) -> Self:
        """Return numbers of mantissas that are as they have to be."""
        found = object.__new__(type(self))
        found.mantissa, found.exponent, found.doubt = mantissa, exponent, doubt
        return found

    def __truediv__(self, other: Any) -> Self:
        a, b = self, self.of(other)
        doubt = None
        if a.doubt is not None or b.doubt is not None:
            size = b.size()
            doubt = largest(as_number(a.doubt) - size, np.where(
                b.is_doubtful(), np.inf, as_number(b.doubt) + a.size() - 2 * size))
        return type(self)(a.mantissa / b.mantissa, a.exponent - b.exponent, doubt)

    def __add__(self, other: Any) -> Self:
        a, b = self, self.of(other)
        if a.is_single() and b.is_single():
            top: Any = max(a.exponent, b.exponent)
        else:
            top = np.maximum(a.exponent, b.exponent)
        return type(self)(_shifted(a, top) + _shifted(b, top), top, either(a, b))

    def __neg__(self) -> Self:
        return self._replaced(-self.mantissa, self.exponent, self.doubt)

    def __abs__(self) -> Self:
        return self._replaced(np.abs(self.mantissa), self.exponent, self.doubt)

    def __sub__(self, other: Any) -> Self:
        return self + -self.of(other)

    def __rsub__(self, other: Any) -> Self:
        return self.of(other) + -self

    def __rtruediv__(self, other: Any) -> Self:
        return self.of(other) / self

    __rmul__ = __mul__
    __radd__ = __add__


def either(*numbers: Unbounded) -> Any:
    """Return the largest of their doubts."""
    found = [x.doubt for x in numbers if x.doubt is not None]
    return largest(*found) if found else None


def as_number(doubt: Any) -> Any:
    """Return a doubt as a number: -inf for none."""
    return -np.inf if doubt is None else doubt


def largest(*doubts: Any) -> Any:
    """Return the largest doubt, element by element."""
    found: Any = -np.inf
    for doubt in doubts:
        # -inf + inf: nothing is wrong with a factor, or the other is 0.
        found = np.maximum(found, np.where(np.isnan(doubt), -np.inf, doubt))
    return found


def _shifted(x: Unbounded, top: Any) -> Any:
    """Return the mantissas for another exponent, not a smaller one."""
    if x.is_single() and type(top) is np.int64:
        return x.mantissa if x.exponent == NOTHING else np.float64(
            math.ldexp(x.mantissa, max(int(x.exponent - top), -2000)))
    # Not np.clip, which takes ten times as long for a few numbers.
    return np.ldexp(x.mantissa, np.maximum(x.exponent - top, -2000).astype(np.intc))
