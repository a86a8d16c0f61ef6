"""Calls as they are written: the name and the arguments of one, by their places in the text."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, OP, VALUES
from gradcli.lang.syntax.lexer import (
    AND,
    DEDENT,
    DOUBLE_SLASH,
    END,
    EQUAL_EQUAL,
    GREATER,
    GREATER_EQUAL,
    IF,
    INDENT,
    LESS,
    LESS_EQUAL,
    MINUS,
    NAME,
    NEWLINE,
    NOT,
    NOT_EQUAL,
    NUMBER,
    OR,
    PLUS,
    lex,
)
from gradcli.lang.syntax.lexer import (
    CLOSING as CLOSING_KINDS,
)
from gradcli.lang.syntax.lexer import (
    OPENING as OPENING_KINDS,
)
from gradcli.ops.values import SCALAR_TYPES, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry

    Index = tuple[int, ...]

# What binds less than a product.
COMPARISONS = frozenset((EQUAL_EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL))
LOOSE = COMPARISONS | {PLUS, MINUS, AND, OR, NOT, IF}
OPENING, CLOSING = "([{", ")]}"
ITEM = re.compile(r"(x|\(\))(\.x|\[\])*")
# What stands before a whole value.
WHOLE = re.compile(r"([(,[]|[^=]=|\breturn)$")


@lru_cache(8)
def arguments_of(text: str, span: Span) -> Sequence[Span]:
    """The places of the arguments of the call that a span is, keywords among them; empty if it is
    no call that ends with its arguments.
    """
    tokens, opening = _call(text, span)
    found: list[Span] = []
    start = opening + 1
    depth = 0
    for k in range(start, len(tokens)):
        word = tokens[k][0]
        depth += (word in OPENING) - (word in CLOSING)
        if (word == "," and depth == 0) or k == len(tokens) - 1:
            if k > start:
                found.append((tokens[start][1], tokens[k - 1][2]))
            start = k + 1
    return found


@lru_cache(4096)
def called(text: str, span: Span) -> str:
    """What a call calls, as it is written; empty if it is none."""
    tokens, opening = _call(text, span)
    return text[span[0]:tokens[opening][1]].strip() if tokens else ""


def _call(text: str, span: Span) -> tuple[list[tuple[str, int, int]], int]:
    """The tokens of a call, as (text, start, end), and which of them opens its arguments; none if a
    span does not end with brackets after something.
    """
    tokens = [(text[span[0] + a:span[0] + b], span[0] + a, span[0] + b)
              for a, b in _tokens(text[span[0]:span[1]])]
    depth = 0
    for k in range(len(tokens) - 1, 0, -1):
        depth += (tokens[k][0] in CLOSING) - (tokens[k][0] in OPENING)
        if depth == 0:
            return (tokens, k) if tokens[-1][0] == ")" else ([], 0)
    return [], 0


def term(text: str) -> str:
    """An expression as a part of a sum or difference: in brackets, unless it is a product."""
    kinds, starts, ends = lex(text)
    depth = 0
    for kind, start, end in zip(kinds, starts, ends, strict=True):
        word = text[start:end]
        depth += (word in OPENING and bool(word)) - (word in CLOSING and bool(word))
        if depth == 0 and kind in LOOSE:
            return f"({text})"
    return text


def is_atom(text: str) -> bool:
    """Whether an expression is a name, an item of one, or in brackets: it needs none anywhere."""
    outer = []
    depth = 0
    for kind, a, b in zip(*lex(text), strict=True):
        depth -= kind in CLOSING_KINDS
        if depth == 0:
            outer.append("x" if kind == NAME else text[a:b])
        depth += kind in OPENING_KINDS
    return ITEM.fullmatch("".join(outer)) is not None


def operands_of(text: str, span: Span) -> list[str]:
    """The arguments of a call, or what stands on both sides of a comparison or a `//`."""
    arguments = [text[a:b].strip() for a, b in arguments_of(text, span)]
    if arguments:
        return arguments
    whole = text[span[0]:span[1]]
    outer: dict[bool, Span] = {}
    depth = 0
    for kind, a, b in zip(*lex(whole), strict=True):
        depth += (kind in OPENING_KINDS) - (kind in CLOSING_KINDS)
        if depth == 0 and (kind in COMPARISONS or kind == DOUBLE_SLASH):
            outer[kind in COMPARISONS] = a, b
    place = outer.get(True) or outer.get(False)
    return [whole[:place[0]].strip(), whole[place[1]:].strip()] if place is not None else []


def sides(text: str) -> tuple[str, str] | None:
    """What stands on both sides of the last plus or minus of a sum outside of all brackets."""
    depth = 0
    last: Span | None = None
    before = None
    for kind, a, b in zip(*lex(text), strict=True):
        depth += (kind in OPENING_KINDS) - (kind in CLOSING_KINDS)
        binary = before in CLOSING_KINDS or before in (NAME, NUMBER)
        if depth == 0 and kind in (PLUS, MINUS) and binary:
            last = a, b
        before = kind
    return (text[:last[0]].strip(), text[last[1]:].strip()) if last is not None else None


def grouped(text: str, span: Span, new: str) -> str:
    """What takes the place of an operand: in brackets, but where none are needed."""
    lead = text[text.rfind("\n", 0, span[0]) + 1:span[0]].rstrip(" \t")
    after = text[span[1]:].lstrip(" \t")[:1]
    begins = WHOLE.search(lead) is not None
    whole = begins and after in ("", "\n", "\r", "#", ")", ",", "]", ";")
    glued = text[span[0] - 1:span[0]].isalnum()  # 2int(x)
    return new if whole or (is_atom(new) and not glued) else f"({new})"


def _tokens(text: str) -> list[Span]:
    kinds, starts, ends = lex(text)
    return [(a, b) for kind, a, b in zip(kinds, starts, ends, strict=True)
            if kind not in (NEWLINE, END, INDENT, DEDENT)]


# --------------------------------------------------------------------------------------------------
# Elements of values: which are NaN, infinite or 0, and which elements of operands made one.

# Operations whose answer has elements of their first operand, in other places.
TAKING = ("index", "reshape", "transpose")


def operands_at(entry: Entry, index: Index, every: bool = False) -> list[tuple[int, Any, Index]]:
    """(argument, value, element) of the operands that the element `index` of the answer is made
    of; of an operation that is not elementwise the first element that is not finite, or 0.
    """
    op, values, shape = entry[OP], entry[VALUES], shape_of(entry[ANS])
    found: list[tuple[int, Any, Index]] = []
    for k, value in enumerate(values):
        if op.name == "where" and k > 0 and _picked(values[0], shape, index) != (k == 1):
            continue
        if op.role(k) != "data" or not _is_float(value):
            if every and not shape_of(value) and type(value) in (int, float):
                found.append((k, float(value), ()))
            continue
        own = shape_of(value)
        if 0 in own:
            continue
        if not own:
            found.append((k, value, ()))
        elif op.elementwise:
            at = fitting(index, shape, own)
            found.append((k, plain_number(value[at]), at))
        elif op.name in TAKING and k == 0 and len(index) == len(shape):
            at = _taken(entry, index, own)
            found.append((k, plain_number(value[at]), at))
        else:
            at = bad_index(value)
            if every and finite(value):
                found.append((k, 0.0 if not value.any() else 1.0, at))
            else:
                found.append((k, plain_number(value[at]) if at else value, at))
    return found


def _taken(entry: Entry, index: Index, own: Index) -> Index:
    """The element of its operand that an element of a rearranged answer is."""
    places = np.arange(float(math.prod(own))).reshape(own)
    made = entry[OP].compute([places, *entry[VALUES][1:]], entry[ATTRIBUTES])
    return tuple(int(n) for n in np.unravel_index(int(element(made, index)), own))


def _picked(mask: Any, shape: Index, index: Index) -> bool:
    own = shape_of(mask)
    return bool(mask[fitting(index, shape, own)] if own else mask)


def fitting(index: Index, shape: Index, own: Index) -> Index:
    """The element of a broadcast operand that an element of the answer is made of."""
    if len(index) != len(shape):
        return (0,) * len(own)
    return tuple(
        0 if n == 1 else i for i, n in zip(index[len(index) - len(own):], own, strict=True))


def _is_float(value: Any) -> bool:
    return type(value) is float or (
        type(value) not in SCALAR_TYPES and value.dtype.kind in "fc")


def finite(value: Any) -> bool:
    """Whether a value has neither NaN nor infinity in it."""
    if type(value) is float:
        return value - value == 0.0
    if type(value) in SCALAR_TYPES or value.dtype.kind not in "fc":
        return True
    return bool(np.isfinite(value).all())


def is_nan(value: Any) -> bool:
    """Whether a value has a NaN in it."""
    if type(value) in SCALAR_TYPES:
        return bool(value != value)
    return bool(np.isnan(value).any())


def has_inf(value: Any) -> bool:
    """Whether a value has an infinity in it."""
    return not finite(value) and bool(np.isinf(value).any())


def has_zero(value: Any) -> bool:
    """Whether a value has a 0 in it."""
    return value == 0.0 if type(value) is float else not np.all(value)


def first_zero(value: Any) -> Index | None:
    """The first element that is 0; None if there is none."""
    if not shape_of(value):
        return () if value == 0 else None
    return first_hit(np.asarray(value) == 0) if has_zero(value) else None


def bad_index(value: Any) -> Index:
    """The first element that is NaN, else the first that is infinite, else the first."""
    shape = shape_of(value)
    if not shape:
        return ()
    for hit in (np.isnan(value), ~np.isfinite(value)):
        if hit.any():
            return first_hit(hit)
    return (0,) * len(shape)


def first_hit(hit: Any) -> Index:
    """The first element where an array is true."""
    return tuple(int(n) for n in np.unravel_index(int(np.argmax(hit)), hit.shape))


def element(value: Any, index: Index) -> Any:
    """One element of a value."""
    shape = shape_of(value)
    if not shape:
        return plain_number(value)
    return plain_number(value[index]) if len(index) == len(shape) else value


def plain_number(value: Any) -> Any:
    """A real number of NumPy's as one of Python's."""
    return value.item() if hasattr(value, "item") and value.dtype.kind != "c" else value


def fitted(value: Any, index: Index) -> Any:
    """The element of a broadcast operand at an element of the answer."""
    return element(value, fitting(index, index, shape_of(value)))


def block_of(shape: Index, own: Index, index: Index) -> tuple[Any, ...]:
    """The part of an answer where an element of a broadcast operand counts."""
    surplus = len(shape) - len(own)
    return (slice(None),) * surplus + tuple([
        slice(None) if n == 1 and m != 1 else i
        for i, n, m in zip(index, own, shape[surplus:], strict=True)])


def place_in(block: Any, inside: Sequence[int]) -> Index:
    """The element of an array of one of a part of it; the part ...: of the whole."""
    if block is ...:
        return tuple(inside)
    left = iter(inside)
    return tuple([i if type(i) is int else next(left) for i in block])
