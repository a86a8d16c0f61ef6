"""Numbers and names of elements as text.

Two ways to write a number: `exact` is the shortest text that reads back to the same float (all
machine formats), `significant` rounds for people (tables only). `significant` keeps trailing
zeros of a number it had to round, so that `1` is exactly 1 and `1.00000` is merely close to it.

Elements of arrays are `dy/dx[0,1]`, `dy[0]/dx[1]`, `d2y/dxdx`, `d2y/dx[0]dx[1]`, `y[0]`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Index = tuple[int | str, ...]

# Whole numbers below this are not rounded in tables: they are short as they are.
WHOLE = 1e9
SAME, MOST = 1e-12, 17


class Exact(float):
    """A float that stands for an exact number. texts, tex: that number and its negative, as text
    and in LaTeX.
    """

    texts: Sequence[str]
    tex: Sequence[str]

    def __new__(cls, value: float, texts: Sequence[str], tex: Sequence[str]) -> Exact:
        made = super().__new__(cls, value)
        made.texts, made.tex = texts, tex
        return made

    def __abs__(self) -> Exact:
        return Exact(-self, self.texts[::-1], self.tex[::-1]) if self < 0 else self


def grouped(text: str) -> str:
    """Return a text as a factor: a sum in brackets."""
    return f"({text})" if _is_sum(text) else text


def _is_sum(text: str) -> bool:
    bare = _outside(text)
    return " + " in bare or " - " in bare


def multiplied(text: str, factors: str) -> str:
    """Return an exact number times factors: x^2/2, sqrt(3)*x/2, (1 + pi)*x."""
    bare = _outside(text)
    if _is_sum(text) or "/" not in bare:
        return f"{grouped(text)}*{factors}"
    k = bare.index("/")
    return f"{factors if text[:k] == '1' else f'{text[:k]}*{factors}'}{text[k:]}"


def _outside(text: str) -> str:
    """Return a text of the same length with `(` for all that is in brackets or braces."""
    out, depth = "", 0
    for character in text:
        depth -= character in ")}"
        out += "(" if depth else character
        depth += character in "({"
    return out


def exact(value: Any) -> str:
    """Return the shortest text that reads back exactly; `6` for 6.0, `-0`, `1e+300`, `nan`, `inf`.

    Strings come back unchanged, booleans as `true` and `false`, None as `None`, lists as
    `[1, 2]`, dicts as `{a: 1}`.
    """
    if isinstance(value, float):
        if type(value) is Exact:
            return value.texts[0]
        text = float.__repr__(value)
        return text[:-2] if text.endswith(".0") else text
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, list):
        return f"[{', '.join([exact(item) for item in value])}]"
    if isinstance(value, dict):
        return f"{{{', '.join([f'{key}: {exact(item)}' for key, item in value.items()])}}}"
    return str(value)


def apart(first: Any, second: Any, digits: int) -> int:
    """Count the digits that tell two floats apart, at least `digits`; rounding is no difference."""
    if isinstance(first, float) and isinstance(second, float) and (
            abs(first - second) > SAME * max(abs(first), abs(second))):
        while digits < MOST and significant(first, digits) == significant(second, digits):
            digits += 1
    return digits


def significant(value: Any, digits: int | None = 6) -> str:
    """Return a float rounded to `digits` significant digits for people, in lists and dicts, too;
    anything else as `exact` does, and all of it where digits is None.

    Fixed notation from 0.0001 to below 10^max(digits, 6), exponents beyond. Whole numbers below
    10^9 and integers are never rounded, and a tiny number stays what it is (1e-17, not 0).
    """
    if digits is not None and isinstance(value, list):
        return f"[{', '.join([significant(item, digits) for item in value])}]"
    if digits is not None and isinstance(value, dict):
        parts = [f"{key}: {significant(item, digits)}" for key, item in value.items()]
        return f"{{{', '.join(parts)}}}"
    if digits is None or not isinstance(value, float) or value - value != 0 or (
            type(value) is Exact):
        return exact(value)
    if value == int(value) and abs(value) < WHOLE:
        return exact(value)
    shortest = float.__repr__(value).partition("e")[0].lstrip("-").replace(".", "").strip("0")
    shown = max(1, min(digits, len(shortest)))
    scientific = f"{value:.{shown - 1}e}"
    exponent = int(scientific.partition("e")[2])
    if -5 < exponent < max(digits, 6):
        return f"{value:.{max(0, shown - 1 - exponent)}f}"
    return scientific


def aligned(texts: Sequence[str]) -> list[str]:
    """Pad the texts to one width, decimal points below each other; words end where units do."""
    points = [_point(text) for text in texts]
    left = max(points, default=0)
    padded = [" " * (left - point) + text for text, point in zip(texts, points, strict=True)]
    width = max(map(len, padded), default=0)
    return [text.ljust(width) for text in padded]


def _point(text: str) -> int:
    """Return the number of characters before the decimal point, or before where it would be."""
    at = 1 if text[:1] in ("-", "+") else 0
    start = at
    while at < len(text) and text[at].isdigit():
        at += 1
    return at if at > start else len(text)


def rounded(value: Any, digits: int | None) -> Any:
    """Round all floats in nested data to `digits` significant digits; None rounds nothing."""
    if digits is None:
        return value
    return _mapped(value, lambda x: float(significant(x, digits)))


def unsigned(value: Any) -> Any:
    """Return nested data with 0 for -0: nobody asked for its sign."""
    return _mapped(value, lambda x: x + 0.0)


def _mapped(value: Any, change: Callable[[float], float]) -> Any:
    """Apply a function to all floats in nested data."""
    if isinstance(value, float):
        return value if type(value) is Exact else change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    return value


def elements(value: Any, index: Index = ()) -> Iterator[tuple[Index, Any]]:
    """Yield every (index, scalar) of nested lists in row-major order; a scalar or None is one with
    (). The keys of dicts are part of the index. Recursion is as deep as the value is nested.
    """
    items: Any
    if isinstance(value, list):
        items = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    else:
        yield index, value
        return
    for position, item in items:
        if isinstance(item, list | dict):
            yield from elements(item, (*index, position))
        else:
            yield (*index, position), item


def shape(value: Any) -> tuple[int, ...]:
    """Return the shape of nested lists, by their first elements; () for a scalar."""
    axes = []
    while isinstance(value, list):
        axes.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(axes)


def regular(value: Any) -> bool:
    """Return whether nested lists are an array: no dicts, and all lists of a level of one shape."""
    if isinstance(value, dict):
        return False
    if not isinstance(value, list) or not value:
        return True
    if not isinstance(value[0], list):
        return not any(isinstance(item, list | dict) for item in value)
    return len({shape(item) for item in value}) == 1 and all(map(regular, value))


def indexed(name: str, index: Index) -> str:
    """Return a name with an index: `x`, `x[0]`, `x[0,1]`."""
    return f"{name}[{','.join(map(str, index))}]" if index else name


def first_derivative(of: str, wrt: str, row: Index = (), column: Index = ()) -> str:
    """Return `dy/dx`, `dy/dx[0,1]`, `dy[0]/dx[1]`; a target that is no name gets brackets:
    `d(a,b)/dx`.
    """
    return f"d{indexed(closed(of), row)}/d{indexed(closed(wrt), column)}"


def second_derivative(of: str, row: str, column: str, at: Index = (), to: Index = ()) -> str:
    """Return `d2y/dxdy`, `d2y/dxdx`, `d2y/dx[0]dx[1]`."""
    return f"d2{closed(of)}/d{indexed(closed(row), at)}d{indexed(closed(column), to)}"


def closed(name: str) -> str:
    """Return a name, possibly indexed or dotted, as it is, and any other text in round brackets."""
    return name if name.partition("[")[0].replace(".", "").isidentifier() else f"({name})"


# --------------------------------------------------------------------------------------------------
# Text of others made harmless: what cannot be seen is shown as an escape.
#
# Names, file names, messages and source lines may hold terminal escapes, line ends or bidirectional
# marks. Every text renderer passes such text through `visible` before it writes or measures it.

def visible(text: str) -> str:
    r"""Return `text` with every unprintable character as `\x1b`, `\u202e`, `\t`, ...

    Controls, line ends, bidirectional marks, zero-width characters, odd spaces and lone
    surrogates are unprintable; letters of all scripts and combining marks are not.
    """
    if text.isprintable():
        return text
    return "".join([escape(c) for c in text])


def escape(character: str) -> str:
    """Return the escape of one character, as Python would write it in a string."""
    return character if character.isprintable() else repr(character)[1:-1]


def encodable(text: str, encoding: str) -> str:
    r"""Return `visible(text)` in characters that `encoding` has; others as `\u2202`."""
    shown = visible(text)
    if shown.isascii():
        return shown
    return shown.encode(encoding, "backslashreplace").decode(encoding)
