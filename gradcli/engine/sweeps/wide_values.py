"""The values of a record in a range without end, from those that were recorded: values that were
flushed to 0 or infinity are calculated again.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES
from gradcli.engine.record.saved import is_hollow
from gradcli.ops.kinds import BILINEAR, EDGE, LINEAR
from gradcli.ops.unbounded import SMALLEST
from gradcli.ops.values import dtype_of, is_complex, is_float, shape_of
from gradcli.ops.wide import BAND, Wide, choice, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

# Operations times elements: more would take longer than a few seconds.
MAX_WORK = 10_000_000


class Beyond(Exception):
    """An error: something that wide numbers cannot sweep: batches, complex numbers, too much."""


# What as a whole makes no number that it is not given, or 0.
EXACT = ("real", "imag", "conj", "angle")
# And what rules that Python code gave may raise.
UNABLE = (Beyond, GradcliError, TypeError, ValueError, AttributeError, *EDGE)


class Type:
    """The limits of a type of floats.

    tiny: the smallest normal number.
    close: relative differences that rounding explains.
    rounding: that of a slope and a product.
    floor: a smaller doubt is none.
    band: powers of two that are calculated together.
    """

    def __init__(self, tiny: float, close: float, rounding: float, floor: float, band: int) -> None:
        self.band = band
        self.tiny = tiny
        self.close = close
        self.rounding = rounding
        self.floor = floor


DOUBLE = Type(2.0**-1022, 1e-11, 2.0**-50, 1e-290, BAND)
SINGLE = Type(2.0**-126, 1e-4, 2.0**-21, 1e-36, 32)


def size(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    n = 1
    for length in shape:
        n *= length
    return n


def type_of(value: Any) -> Type:
    return SINGLE if dtype_of(value) == "float32" else DOUBLE


def reads_answer(op: Any) -> bool:
    """Return whether the rule of an operation as a whole may read its result.

    That of a custom gradient reads its arguments: the result of its body has nothing to do with the
    derivative.
    """
    return op.kind != BILINEAR and not getattr(op, "custom", False)


def _left(entry: Entry, ans: Any, kind: Type) -> Any:
    """Return a mask of where an operation as a whole left the range of floats: infinite of finite
    operands, subnormal, or 0 though no operand has a 0.
    """
    op = entry[OP]
    if "ordering" in op.traits or op.name in EXACT:
        return np.zeros(shape_of(ans), bool)
    numbers = [v for k, v in enumerate(entry[VALUES]) if op.edge(k) and is_float(v)]
    sizes = np.abs(ans)
    left = (sizes > 0) & (sizes < kind.tiny)
    if all(np.isfinite(v).all() for v in numbers):
        left |= np.isinf(sizes)
    if op.kind != LINEAR and op.smooth and all(np.all(v) for v in numbers):
        left |= sizes == 0
    return left


class WideValues:
    """Values of a record in a range without end.

    changed: id to a value that differs from the recorded one.
    """

    def __init__(self, entries: Sequence[Entry], values: Mapping[int, Any] | None = None) -> None:
        work = 0
        self._kept: dict[int | None, Any] = {}
        self._whole = not records.current().hollow
        for entry in entries:
            ans = entry[ANS]
            if any(entry[BATCH]) or (type(ans) is not float and is_complex(ans)):
                raise Beyond
            work += 1 if type(ans) is float else getattr(ans, "size", 1)
            if not self._whole:
                self._keep(zip((*entry[IDS], entry[OUT]), (*entry[VALUES], ans), strict=True))
        if work > MAX_WORK:
            raise Beyond
        if not self._whole:
            self._keep((values or {}).items())
        self._slopes: dict[tuple[int, int], Wide] = {}
        self.changed: dict[int | None, Wide] = {}
        for entry in entries:
            self._value(entry)

    def _keep(self, values: Iterable[tuple[int | None, Any]]) -> None:
        """Remember values by id, for entries that do not keep them."""
        self._kept.update((i, v) for i, v in values if i is not None and not self._is_gone(v))

    def _is_gone(self, value: Any) -> bool:
        """Return whether a tape has not kept a value, since no rule reads it."""
        return not self._whole and is_hollow(value) and not value.flat[0]

    def _value(self, entry: Entry) -> None:
        op = entry[OP]
        ans: Any = self._kept.get(entry[OUT], entry[ANS])
        if not is_float(ans):
            return
        moved = not self.changed.keys().isdisjoint(entry[IDS])
        kind = type_of(ans)
        gone = self._is_gone(ans)
        fine = np.zeros(shape_of(ans), bool) if gone else (
            (np.abs(ans) >= kind.tiny) & np.isfinite(ans))
        left = None if op.elementwise or gone or fine.all() else _left(entry, ans, kind)
        if not moved and (fine.all() or (left is not None and not left.any())):
            return
        again: Any = None
        if any(i not in self.changed and self._is_gone(self._kept.get(i, v))
               for i, v in zip(entry[IDS], entry[VALUES], strict=True)):
            if gone or (not moved and ("bounded" in op.traits or op.kind == LINEAR)):
                return
        elif op.elementwise and op.rules:
            again = op(*self.operands(entry)[:-1])
        elif op.kind in (LINEAR, BILINEAR) or "homogeneous" in op.traits:
            again = op(*self.operands(entry)[:-1], **entry[ATTRIBUTES])
        elif gone:
            return
        elif not op.smooth:
            again = wide(ans)
        if again is None:
            again = Wide(ans, 0, np.inf if moved or left is None else np.where(
                left, np.where(np.isinf(ans), np.inf, float(SMALLEST)), -np.inf))
        again = wide(again)
        near = again.floats()
        if gone:
            self._kept[entry[OUT]] = ans = near
            fine = (np.abs(ans) >= kind.tiny) & np.isfinite(ans)
        same = (near == ans) | (fine & (np.abs(near - ans) <= kind.close * np.abs(ans))) | (
            np.isnan(near) & np.isnan(ans))
        # Beyond the range of the type the same float stands for different numbers.
        same = same & (fine | (again.mantissa == 0) | ~np.isfinite(again.mantissa))
        same = same & ~again.is_doubtful()
        if not same.all():
            self.changed[entry[OUT]] = choice(same, ans, again)

    def operands(self, entry: Entry) -> list[Any]:
        """Return the operands as rules see them, and the result last."""
        return [self.changed[i] if i in self.changed else
                wide(self._kept.get(i, v)) if is_float(v) else v
                for i, v in zip((*entry[IDS], entry[OUT]), (*entry[VALUES], entry[ANS]),
                                strict=True)]

    def slope(self, entry: Entry, k: int) -> Any:
        """Return the partial of an elementwise entry in operand k; a number is kept for reuse."""
        place = entry[OUT], k
        if place in self._slopes:
            return self._slopes[place]
        rule = entry[OP].rules[k]
        found = wide(rule(*self.operands(entry)) if callable(rule) else rule)
        if found.is_single():
            self._slopes[place] = found
        return found

    def unknown(self, entry: Entry, parts: list[Wide]) -> list[Wide]:
        """Return the shares of an entry swept with floats, in doubt if its rule reads no float."""
        read = {*entry[IDS], *([entry[OUT]] if reads_answer(entry[OP]) else [])}
        if entry[OP].kind == LINEAR or self.changed.keys().isdisjoint(read):
            return parts
        return [Wide(c.mantissa, c.exponent, np.inf) for c in parts]
