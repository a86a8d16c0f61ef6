"""The test for numbers so large or small that a slope, or a product of slopes, may leave the range
of floats in a sweep although the derivative does not.

What is lost when a product flushes to 0 is less than the smallest float. It matters if it meets
factors of more than 1e50 later, and then there are values, constants or inputs of that size; or if
the derivative is hardly larger than what was lost. So the usual case pays for a look at the values,
in C code, and at the derivative.
"""

from __future__ import annotations

from _operator import itemgetter
from math import hypot

from gradcli.base.lazy import np, quietly
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, IDS, OP, VALUES
from gradcli.engine.record.saved import is_hollow
from gradcli.ops.values import SCALAR_TYPES, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry, Segment
    from gradcli.engine.record.tensor import Tensor

LARGE = 1e50
SMALL = 1e-50
# The smallest float times 1e50 changes no more than rounding does in what is larger.
FAINT = 1e-260
answer = itemgetter(ANS)
# Elements above which a product of two arrays may start threads.
LONG = 5000
# For arrays of float32, whose smallest number is 1e-45.
LARGE_32 = 1e10
FAINT_32 = 1e-24
# log2 of what becomes a float if it meets 1e50.
NEAR = -1240.0
LIMITS = {"d": LARGE, "f": LARGE_32, "D": LARGE, "F": LARGE_32}


def extreme(entries: Segment, sources: Iterable[Tensor], answers: Iterable[Any] = ()) -> bool:
    """Return whether the result of an entry is very large, or a constant, a source or a divisor is
    very large or very small; or a derivative in `answers` is next to nothing.
    """
    answers, sources = list(answers), list(sources)
    if not entries.scalar and _is_ordinary(entries, sources, answers):
        return False
    if any(map(faint, answers)):
        return True
    if not entries.scalar and not all(np.all(a) for a in answers) and any(
            map(_vanishes, entries)):
        return True
    for source in sources:
        v = source.value
        if type(v) is float and not (SMALL < v < LARGE or -LARGE < v < -SMALL or v == 0.0):
            return True
        if type(v) is not float and (_is_large(v) or _is_small(v)):
            return True
    if not entries.scalar:
        return _arrays(entries)
    if not entries.stretched:
        return _numbers(entries)
    rest = []
    for entry in entries:
        op: Any = entry[OP]
        if op.kind != "stretch":
            rest.append(entry)
        elif op.is_extreme():
            return True
    return _numbers(rest)


def _is_ordinary(entries: Sequence[Entry], sources: Sequence[Tensor], answers: Sequence[Any]
                 ) -> bool:
    """Return whether all numbers that count are 0 or from 1e-10 to 1e10, and no derivative is 0: of
    small arrays a few calls for all tell at once what else is asked of each.
    """
    near = [s.value for s in sources]
    far = []
    for op, _, ids, values, ans, _, _, _ in entries:
        if "bounded" not in op.traits:
            far.append(ans)
        if op.steep is not None:
            near.append(values[op.steep])
        if None in ids:
            near += [v for i, v in zip(ids, values, strict=True) if i is None]
    large, line = _in_line(far), _in_line([*answers, *near])
    if large is None or line is None:
        return False
    slopes = sum([1 if type(g) is float else g.size for g in answers])
    zeros = line.size - np.count_nonzero(line)
    return bool(np.vdot(large, large) < LARGE_32**2 and np.vdot(line, line) < LARGE_32**2
                and quietly(_faint, line) == zeros
                and (not zeros or np.count_nonzero(line[:slopes]) == slopes))


def _faint(line: Any) -> int:
    """Return the number of elements below 1e-10."""
    return int(np.count_nonzero(np.abs(line) < 1/LARGE_32))


def _in_line(values: Sequence[Any]) -> Any:
    """Return all elements of floats and small arrays of floats in a line; None of others."""
    parts = []
    size = 0
    for v in values:
        if type(v) is float:
            v = np.array(v)
        size += getattr(v, "size", LONG)
        if size >= LONG or v.dtype.char not in "df":
            return None
        parts.append(v.ravel())
    return np.concatenate(parts) if parts else np.ones(1)


def _numbers(entries: Sequence[Entry]) -> bool:
    try:
        if not hypot(*map(answer, entries)) < LARGE:
            return True
        for entry in entries:
            if None in entry[IDS] and type(entry[ANS]) is not bool:
                for v in entry[VALUES]:
                    if not (SMALL < v < LARGE or -LARGE < v < -SMALL or v == 0.0):
                        return True
            elif entry[OP].steep is not None and _is_small(entry[VALUES][entry[OP].steep]):
                return True
    except (TypeError, OverflowError):  # a text, an integer that is no float
        return True
    return False


def faint(answer: Any) -> bool:
    """Return whether a number is 0 or nearly so, or an element of an array nearly so.

    Zeros are common among many elements.
    """
    if type(answer) is float:
        return -FAINT < answer < FAINT
    kind = _kind(answer)
    if kind not in LIMITS:
        return False
    sizes = np.abs(answer)
    return bool(((sizes < (FAINT_32 if kind in "fF" else FAINT)) & (sizes > 0)).any())


def _vanishes(entry: Entry) -> bool:
    """Return whether elements of an entry's result are 0 only because the range of floats ends, and
    not far beyond that end: those of a mask are far.
    """
    op, ans = entry[OP], entry[ANS]
    if not op.elementwise or "bounded" in op.traits or not is_float(ans) or np.all(ans):
        return False
    gone = np.equal(ans, 0)
    for v in entry[VALUES]:
        gone = gone & np.not_equal(v, 0)
    if not gone.any() or (records.current().hollow and is_hollow(ans)):
        return False
    from gradcli.ops.wide import wide

    with np.errstate(all="ignore"):
        found = wide(op(*[wide(np.broadcast_to(v, gone.shape)[gone]) for v in entry[VALUES]]))
        return bool((found.size() > NEAR).any())


def are_extreme(constants: Iterable[float]) -> bool:
    """Return whether one of these numbers is very large or very small."""
    return not all(SMALL < v < LARGE or -LARGE < v < -SMALL or v == 0.0 for v in constants)


def _arrays(entries: Sequence[Entry]) -> bool:
    with np.errstate(all="ignore"):
        for entry in entries:
            op = entry[OP]
            if "bounded" not in op.traits and _is_large(entry[ANS]):
                return True
            if op.steep is not None and _is_small(entry[VALUES][op.steep]):
                return True
            if None in entry[IDS] and is_float(entry[ANS]):  # comparisons lose nothing
                limit = LIMITS.get(_kind(entry[ANS]), LARGE)
                for i, v in zip(entry[IDS], entry[VALUES], strict=True):
                    if i is not None:
                        continue
                    if _is_large(v) if type(v) is not float else not (
                            1 / limit < v < limit or -limit < v < -1 / limit or v == 0.0):
                        return True
    return False


def _is_large(value: Any) -> bool:
    if type(value) is float:
        return not -LARGE < value < LARGE
    if type(value) is complex:
        return not abs(value) < LARGE
    kind = _kind(value)
    if kind not in LIMITS:
        return False
    limit = LIMITS[kind]
    if kind in "DF":
        return not np.abs(value).max() < limit
    if value.size < LONG:
        return not np.vdot(value, value) < limit * limit
    return not (value.max() < limit and value.min() > -limit)


def _kind(value: Any) -> str:
    """Return the type of an array in a letter; empty for no array, or one without elements."""
    if value is None or type(value) in SCALAR_TYPES or not getattr(value, "size", 0):
        return ""
    return str(value.dtype.char)


def _is_small(value: Any) -> bool:
    """Return whether a number, or one of an array, is very small but not 0."""
    if type(value) is float:
        return -SMALL < value < SMALL and value != 0.0
    kind = _kind(value)
    if kind not in LIMITS:
        return False
    limit = 1.0 / LIMITS[kind]
    sizes = np.abs(value)
    return bool(sizes.min() < limit) and bool(((sizes < limit) & (sizes > 0)).any())
