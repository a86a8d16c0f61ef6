"""The text of operations and calls: names, arguments and operands by their spans."""

from __future__ import annotations

import re
from functools import lru_cache

from gradcli.engine.record.record import OP, span_of
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
from gradcli.lang.syntax.lexer import CLOSING as CLOSING_KINDS
from gradcli.lang.syntax.lexer import OPENING as OPENING_KINDS
from gradcli.ops import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry


# Operators that bind less than a product.
COMPARISONS = frozenset((EQUAL_EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL))
LOOSE = COMPARISONS | {PLUS, MINUS, AND, OR, NOT, IF}
OPENING, CLOSING = "([{", ")]}"
ITEM = re.compile(r"(x|\(\))(\.x|\[\])*")
# The text before a value that needs no brackets.
WHOLE = re.compile(r"([(,[]|[^=]=|\breturn)$")


@lru_cache(8)
def arguments_of(text: str, span: Span) -> Sequence[Span]:
    """Return the spans of the arguments of the call at a span, keyword arguments included; empty if
    the text there is no call that ends with its arguments.
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
def head_of(text: str, span: Span) -> str:
    """Return the text of the function that a call calls; empty if the span is no call."""
    tokens, opening = _call(text, span)
    return text[span[0]:tokens[opening][1]].strip() if tokens else ""


def _call(text: str, span: Span) -> tuple[list[tuple[str, int, int]], int]:
    """Return the tokens of a call as (text, start, end), and the position of the bracket that opens
    its arguments; ([], 0) if the span does not end with brackets after something.
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
    """Return an expression as a term of a sum: in brackets if it binds less than a product."""
    kinds, starts, ends = lex(text)
    depth = 0
    for kind, start, end in zip(kinds, starts, ends, strict=True):
        word = text[start:end]
        depth += (word in OPENING and bool(word)) - (word in CLOSING and bool(word))
        if depth == 0 and kind in LOOSE:
            return f"({text})"
    return text


def is_atom(text: str) -> bool:
    """Return whether an expression is a name, an item of one, or in brackets: it needs none."""
    outer = []
    depth = 0
    for kind, a, b in zip(*lex(text), strict=True):
        depth -= kind in CLOSING_KINDS
        if depth == 0:
            outer.append("x" if kind == NAME else text[a:b])
        depth += kind in OPENING_KINDS
    return ITEM.fullmatch("".join(outer)) is not None


def operands_of(text: str, span: Span) -> list[str]:
    """Return the texts of the arguments of a call, or of both sides of a comparison or a `//`."""
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
    """Return the texts around the last binary plus or minus outside of all brackets, or None."""
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
    """Return the text that replaces an operand at a span, in brackets where it needs them."""
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



# Longer texts are not quoted in full.
LONGEST = 40


def written(entry: Entry, source: Source) -> str:
    """Return the text of an operation in one line, shortened if long; "" without a location."""
    span = span_of(entry)
    text = " ".join(source.text[span[0]:span[1]].split()) if span is not None else ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST - 3].rstrip()}..."


def called(entry: Entry, source: Source) -> str:
    """Return the name of the called function as the file writes it; of an operator, or of a row
    that no file can name, the text of the operation.
    """
    span = span_of(entry)
    head = head_of(source.text, span) if span is not None else ""
    name = head.rpartition(".")[2]
    call = head.replace(".", "").isidentifier()
    if call and lookup(name) is not None:
        return name
    op = entry[OP]
    return op.name if call and not op.internal else written(entry, source) or op.name


def number(value: float) -> str:
    """Format a number for a sentence: six significant digits."""
    return f"{value:.6g}"


def element_text(index: tuple[int, ...]) -> str:
    """Format an index for a sentence: "element [0, 1]"; empty for a scalar."""
    return f"element [{', '.join([str(int(k)) for k in index])}]" if index else ""
