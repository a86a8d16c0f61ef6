"""Numbers and arrays as lines of text for people: the part of `table` that needs no terminal.

Vectors are `[1, 2, 3]` folded between elements, matrices grids with aligned columns, and arrays of
more than SUMMARISED elements a summary. A number is never cut: a line is rather too wide.
"""

from __future__ import annotations

from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SUMMARISED = 60


def count(value: Any) -> int:
    """Return the number of elements of nested lists; 1 for a scalar or None."""
    product = 1
    for axis in numbers.shape(value):
        product *= axis
    return product


def lines(value: Any, digits: int, width: int, whole: bool = False) -> list[str]:
    """Return the lines of a scalar, an array in full, or the summary of a large one unless `whole`.

    The lines are at most `width` wide, as far as single numbers allow. What is nested
    irregularly is written as it is.
    """
    if not isinstance(value, list | dict):
        return [numbers.significant(value, digits)]
    if not numbers.regular(value):
        return [_nested(value, digits)]
    if count(value) > SUMMARISED and not whole:
        return summary(value, digits)
    return _bracketed(_texts(value, digits), width)


def inline(value: Any, digits: int) -> str:
    """Return a scalar or an array in full on one line, whatever its width."""
    return _nested(value, digits)


def _nested(value: Any, digits: int) -> str:
    if isinstance(value, dict):
        parts = [f"{key}: {_nested(item, digits)}" for key, item in value.items()]
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join([_nested(item, digits) for item in value])}]"
    return numbers.significant(value, digits)


def summary(value: Any, digits: int) -> list[str]:
    """Return the shape, and of numbers the least, the largest and the Euclidean norm, one per line.
    """
    from math import hypot

    shape = numbers.shape(value)
    found = [f"{' x '.join(map(str, shape))} array" if len(shape) > 1 else f"vector of {shape[0]}"]
    items = [item for _, item in numbers.elements(value)]
    if not items or not all(isinstance(item, int | float) for item in items):
        return found
    known = [item for item in items if item == item]
    if known:
        found += [f"{word} {numbers.significant(number, digits)}" for word, number in (
            ("min", min(known)), ("max", max(known)), ("norm", hypot(*known)))]
    if len(known) < len(items):
        found.append(f"{len(items) - len(known)} nan")
    return found


def _texts(value: Any, digits: int) -> Any:
    """Return the numbers as texts, nested alike; the columns of matrices are aligned."""
    if len(numbers.shape(value)) < 2:
        return [numbers.significant(item, digits) for item in value]
    columns: dict[int | str, list[str]] = {}
    for index, item in numbers.elements(value):
        columns.setdefault(index[-1], []).append(numbers.significant(item, digits))
    ready = [iter(numbers.aligned(columns[at])) for at in range(len(columns))]

    def nest(part: Any) -> Any:
        if part and isinstance(part[0], list):
            return [nest(inner) for inner in part]
        return [next(ready[at]) for at in range(len(part))]

    return nest(value)


def _bracketed(texts: Any, width: int) -> list[str]:
    if not texts or not isinstance(texts[0], list):
        return fold(texts, width)
    found: list[str] = []
    for at, part in enumerate(texts):
        inner = _bracketed(part, width - 2)
        inner[-1] += "," if at < len(texts) - 1 else "]"
        found += [("[" if not found and row == 0 else " ") + line for row, line in enumerate(inner)]
    return found


def fold(texts: Sequence[str], width: int) -> list[str]:
    """Return the lines of `[a, b, c]`, broken after commas where one would be longer than `width`.
    """
    # A line may have a million elements: its pieces are put together at the end.
    found: list[list[str]] = [[]]
    used = 1
    for at, text in enumerate(texts):
        # The padding of an aligned column goes behind the comma.
        last = at == len(texts) - 1
        piece = f"{text.rstrip()}]" if last else f"{text.rstrip()},".ljust(len(text) + 1)
        if found[-1] and used + len(piece) > width:
            found.append([])
            used = 1
        found[-1].append(piece)
        used += len(piece) + 1
    if not texts:
        return ["[]"]
    return [("[" if at == 0 else " ") + " ".join(pieces) for at, pieces in enumerate(found)]
