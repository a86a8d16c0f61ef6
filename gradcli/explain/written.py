"""Calls as they are written: the name and the arguments of one, by their places in the text."""

from __future__ import annotations

from gradcli.lang.lexer import (
    AND,
    DEDENT,
    END,
    EQUAL_EQUAL,
    GREATER,
    GREATER_EQUAL,
    IF,
    INDENT,
    LESS,
    LESS_EQUAL,
    MINUS,
    NEWLINE,
    NOT,
    NOT_EQUAL,
    OR,
    PLUS,
    lex,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import Span

# What binds less than a product.
LOOSE = frozenset((PLUS, MINUS, AND, OR, NOT, IF, EQUAL_EQUAL, NOT_EQUAL, LESS, LESS_EQUAL,
                   GREATER, GREATER_EQUAL))
OPENING, CLOSING = "([{", ")]}"


def arguments_of(text: str, span: Span) -> list[Span]:
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


def grouped(text: str, span: Span, new: str) -> str:
    """What takes the place of an operand: in brackets, but where it is the whole value anyway."""
    before = text[:span[0]].rstrip(" \t")[-1:]
    after = text[span[1]:].lstrip(" \t")[:1]
    whole = before in ("=", "(", ",", "[") and after in ("", "\n", "\r", "#", ")", ",", "]", ";")
    return new if whole and not text[:span[0]].rstrip(" \t").endswith("==") else f"({new})"


def _tokens(text: str) -> list[Span]:
    kinds, starts, ends = lex(text)
    return [(a, b) for kind, a, b in zip(kinds, starts, ends, strict=True)
            if kind not in (NEWLINE, END, INDENT, DEDENT)]
