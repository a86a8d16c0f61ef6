"""Points without a file: `x=linspace(0,1,1e6)`, and grids by naming several.

The last name changes fastest. Only the present block is calculated, each number from its own index
alone, so 1e12 points take no memory and no number depends on the size of a block.

An option is a range if a name and `=` are in front and there is no file of exactly that name.
"""

from __future__ import annotations

import re

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.lazy import np
from gradcli.lang.typed.constants import constant
from gradcli.points.cells import BETWEEN, texts
from gradcli.points.table import Rows, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Span

OPTION = "--points"
NAME = re.compile(r"\s*([^\W\d]\w*(?:\[[\d,\s]*\])?)\s*=(?!=)")
CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
# Beyond, a number of points is no longer exact, and its answers would take centuries.
MOST = 2 ** 53


class Axis:
    """The numbers along one axis.

    There are `count` of them, calculated from their indices by `rule`, a key of RULES.
    """

    __slots__ = ("arguments", "count", "rule")

    def __init__(self, rule: str, count: int, arguments: tuple[Any, ...]) -> None:
        self.rule = rule
        self.count = count
        self.arguments = arguments

    def values(self, index: Any) -> Any:
        """Return the numbers at these indices: float64."""
        with np.errstate(all="ignore"):
            return RULES[self.rule](index, self.count, *self.arguments)


def _line(index: Any, count: int, start: float, stop: float) -> Any:
    """Return NumPy's linspace at these indices: the last is exactly `stop`."""
    step = (stop - start) / max(count - 1, 1)
    if step == 0.0 and stop != start:       # the step is too small for a float, the whole is not
        values = index / (count - 1) * (stop - start) + start
    else:
        values = index * step + start
    return np.where((index == count - 1) & (count > 1), stop, values)


def _powers(index: Any, count: int, start: float, stop: float, base: float) -> Any:
    return np.power(base, _line(index, count, start, stop))


def _ratios(index: Any, count: int, start: float, stop: float) -> Any:
    """Return NumPy's geomspace at these indices: both ends are exact."""
    sign = -1.0 if start < 0 else 1.0
    ends = np.log10([abs(start), abs(stop)])
    values = sign * np.power(10.0, _line(index, count, *ends))
    values = np.where(index == 0, start, values)
    return np.where((index == count - 1) & (count > 1), stop, values)


def _steps(index: Any, count: int, start: float, step: float) -> Any:
    return index * step + start


def _given(index: Any, count: int, values: Any) -> Any:
    return values[index]


RULES: dict[str, Callable[..., Any]] = {
    "line": _line, "powers": _powers, "ratios": _ratios, "steps": _steps, "given": _given}


class Ranges(Table):
    """A grid."""

    __slots__ = ("_axes", "_count", "_size")

    def __init__(self, names: Sequence[str], axes: Sequence[Axis], count: int, size: int) -> None:
        super().__init__(OPTION, "csv", names, count, "rows")
        self._axes = list(axes)
        self._count = count
        self._size = size

    def arrow_schema(self, wanted: Sequence[int]) -> Any:
        """Return the columns in Arrow's terms: all are numbers."""
        return super().arrow_schema(range(len(self.names)))

    def blocks(self) -> Iterator[Block]:
        for start in range(0, self._count, self._size):
            yield Block(self._axes, start, min(start + self._size, self._count))


class Block:
    """The points from `first` to before `done`."""

    __slots__ = ("axes", "done", "first")

    def __init__(self, axes: list[Axis], first: int, done: int) -> None:
        self.axes = axes
        self.first = first
        self.done = done

    def parse(self, wanted: Sequence[int], echo: str | None) -> Rows:
        index = np.arange(self.first, self.done)
        columns: list[Any] = []
        for axis in reversed(self.axes):
            columns.insert(0, axis.values(index % axis.count))
            index //= axis.count
        repeated: list[Any] | None = None
        if echo is not None and echo in BETWEEN:
            repeated = list(map(BETWEEN[echo].join, zip(*map(texts, columns), strict=True)))
        elif echo is not None:
            repeated = columns
        return Rows(self.first, self.done - self.first, [columns[k] for k in wanted], repeated, {})


def is_range(text: str) -> bool:
    """Return whether `--points` means a range here, not a file."""
    import os

    return NAME.match(text) is not None and not os.path.exists(text)


def ranges(given: Sequence[str], size: int) -> Table:
    """Return the grid of all the ranges, the first name slowest. size: rows of a block.

    Raises E0613 for what is no range, and what the constant expressions in them raise.
    """
    axes: dict[str, Axis] = {}
    for text in given:
        for start, stop in _parts(text, 0, len(text)):
            found = NAME.match(text, start, stop)
            if found is None:
                raise _bad(text, (start, stop), f"`{text[start:stop].strip()}` is no range",
                           "write NAME=RANGE, such as x=linspace(0, 1, 11)")
            name = "".join(found[1].split())
            if name in axes:
                raise _bad(text, found.span(1), f"`{name}` has two ranges", "give it one")
            axes[name] = _axis(text, found.end(), stop)
    count = 1
    for axis in axes.values():
        count *= axis.count
    if count > MOST:
        raise _bad(given[-1], (0, len(given[-1])), f"that is a grid of {count:.4g} points",
                   "give fewer; 9e15 is the most")
    return Ranges(list(axes), list(axes.values()), count, size)


def _axis(text: str, start: int, stop: int) -> Axis:
    """Return the numbers of an expression: a call of linspace and the like, a list, a number."""
    call = CALL.fullmatch(text, start, stop)
    if call is None or call[1] not in CALLS or not _one_pair(text, *call.span(2)):
        value = np.asarray(_constant(text, start, stop))
        if value.dtype.kind not in "biuf" or value.ndim > 1:
            raise _bad(text, (start, stop), f"`{text[start:stop].strip()}` is no list of numbers",
                       "write a number, a list such as [1, 2, 3], or linspace(0, 1, 11)")
        return Axis("given", value.size, (value.astype(float).reshape(-1),))
    least, most, make = CALLS[call[1]]
    places = list(_parts(text, *call.span(2)))
    if not least <= len(places) <= most:
        usual = "start, stop" if least == 1 else "start, stop, count"
        raise _bad(text, (call.start(1), call.end(2) + 1),
                   f"`{call[1]}` does not take {len(places)} numbers", f"write {call[1]}({usual})")
    values = []
    for a, b in places:
        value = np.asarray(_constant(text, a, b))
        if value.dtype.kind not in "biuf" or value.ndim or not np.isfinite(value):
            raise _bad(text, (a, b), f"`{text[a:b].strip()}` is not a finite number",
                       "write a number such as 2*pi")
        values.append(float(value))
    return make(_Call(text, call[1], places, values))


class _Call:
    """A call of linspace or its like: its arguments and their spans."""

    __slots__ = ("name", "places", "text", "values")

    def __init__(self, text: str, name: str, places: list[Span], values: list[float]) -> None:
        self.text = text
        self.name = name
        self.places = places
        self.values = values

    def count(self) -> int:
        """Return the third argument, a whole number; 50 without it."""
        if len(self.values) < 3:
            return 50
        value = self.values[2]
        if value != int(value) or not 0 <= value <= MOST:
            a, b = self.places[2]
            raise self.wrong(2, f"`{self.text[a:b].strip()}` is not a number of points",
                             "give a whole number, such as 1e6")
        return int(value)

    def wrong(self, argument: int, message: str, help: str) -> GradcliError:
        return _bad(self.text, self.places[argument], message, help)


def _linspace(call: _Call) -> Axis:
    return Axis("line", call.count(), tuple(call.values[:2]))


def _logspace(call: _Call) -> Axis:
    return Axis("powers", call.count(), (*call.values[:2], *(call.values[3:] or (10.0,))))


def _geomspace(call: _Call) -> Axis:
    start, stop = call.values[:2]
    if not start * stop > 0 and not (start and stop and (start > 0) == (stop > 0)):
        raise call.wrong(0 if not start else 1, "`geomspace` needs two numbers of one sign,"
                         " neither of them 0", "such as geomspace(1, 1000, 4)")
    return Axis("ratios", call.count(), (start, stop))


def _arange(call: _Call) -> Axis:
    """Return NumPy's arange: from start to before stop."""
    import math

    values = [0.0, *call.values] if len(call.values) == 1 else call.values
    start, stop, step = values if len(values) == 3 else (*values, 1.0)
    if step == 0.0:
        raise call.wrong(2, "a step of 0 leads nowhere", "give another step")
    count = (stop - start) / step
    if not count <= MOST:
        raise call.wrong(len(call.values) - 1, f"that is {count:.4g} points", "give a larger step")
    return Axis("steps", max(0, math.ceil(count)), (start, step))


# Name: the least and the most arguments, and what makes an axis of them.
CALLS: dict[str, tuple[int, int, Callable[[_Call], Axis]]] = {
    "linspace": (2, 3, _linspace), "logspace": (2, 4, _logspace), "geomspace": (2, 3, _geomspace),
    "arange": (1, 3, _arange), "range": (1, 3, _arange)}


def _constant(text: str, start: int, stop: int) -> Any:
    """Return the value of a part of an option; errors are shown in the whole option."""
    part = text[start:stop]
    start += len(part) - len(part.lstrip())
    part = part.strip()
    if not part:
        raise _bad(text, (start, start), "a value is missing",
                   "write NAME=RANGE, such as x=linspace(0, 1, 11)")
    try:
        return constant(part, OPTION)
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source = Source(text, OPTION)
            one.span = (one.span[0] + start, one.span[1] + start) if one.span else (
                start, start + len(part))
            one.related = tuple(((a + start, b + start), s) for (a, b), s in one.related)
        raise


def _parts(text: str, start: int, stop: int) -> Iterator[Span]:
    """Yield the spans of the parts of a comma list; commas inside brackets do not separate."""
    depth = 0
    for k in range(start, stop):
        if text[k] in "([{":
            depth += 1
        elif text[k] in ")]}":
            depth -= 1
        elif text[k] == "," and depth == 0:
            yield start, k
            start = k + 1
    if text[start:stop].strip():
        yield start, stop


def _one_pair(text: str, start: int, stop: int) -> bool:
    """Return whether the brackets around this belong together: not in `f(1)*(2)`."""
    depth = 0
    for k in range(start, stop):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if depth < 0:
            return False
    return True


def _bad(text: str, span: Span, message: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0613", message, span=span, source=Source(text, OPTION), help=help))
