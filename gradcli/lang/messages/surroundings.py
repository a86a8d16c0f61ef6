"""The surroundings of a token: its statement, the brackets and operands on either side.

Used on errors only, so everything is found again from the tokens.
"""

from __future__ import annotations

from gradcli.lang.syntax import lexer as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span
    from gradcli.lang.syntax.lexer import Tokens

COMPARISONS = frozenset(
    (t.EQUAL_EQUAL, t.NOT_EQUAL, t.LESS, t.LESS_EQUAL, t.GREATER, t.GREATER_EQUAL))
# The first and last tokens of operands.
BEGINNINGS = t.IDENTIFIERS | {t.NUMBER, t.PRIMED, t.STRING, t.PI, t.SQRT, t.TRUE, t.FALSE, t.NONE,
                              t.LPAR, t.LSQB, t.LBRACE}
ENDINGS = t.IDENTIFIERS | {t.NUMBER, t.STRING, t.PI, t.TRUE, t.FALSE, t.NONE, t.SUPERSCRIPT,
                           t.RPAR, t.RSQB, t.RBRACE}
# The tokens that bound the operands of a comparison.
BOUNDS = COMPARISONS | {t.NEWLINE, t.SEMICOLON, t.COMMA, t.COLON, t.EQUAL, t.AUGMENTED, t.IF,
                        t.ELSE, t.AND, t.OR, t.NOT, t.ERROR, t.INDENT, t.DEDENT, t.ELIF, t.WHILE,
                        t.IN, t.RETURN, t.EXPECT, t.NEAR}
# The tokens between lines, and the first ones of a line with a block.
LINE_ENDS = frozenset((t.NEWLINE, t.INDENT, t.DEDENT))
HEADS = frozenset((t.IF, t.ELIF, t.ELSE, t.WHILE, t.FOR, t.DEF))
SOFT_HEADS = frozenset((t.TAPE, t.FORWARD, t.STOP_RECORDING, t.RESUME))
# Words that begin a statement and stand nowhere else.
FIRST_WORDS = frozenset((t.ELIF, t.WHILE, t.FOR, t.BREAK, t.CONTINUE, t.DEF, t.RETURN, t.EXPECT,
                         t.PASS))
# One way to write each token.
SPELLING = {
    kind: text
    for text, kind in (*t.OPERATORS.items(), *t.SINGLE.items(), ("else", t.ELSE), ("in", t.IN),
                       ("def", t.DEF), ("3", t.NUMBER))
    if text.isascii() and kind != t.ERROR
}


def line_start(tokens: Tokens, at: int) -> int:
    """Return the first token of the line that token `at` belongs to; brackets continue a line."""
    while at and tokens.kinds[at - 1] not in LINE_ENDS and not is_margin(tokens, at - 1):
        at -= 1
    return at


def is_head(tokens: Tokens, first: int) -> bool:
    """Return whether the line of token `first`, its first one, has the form of a block's head."""
    kind = tokens.kinds[first]
    return kind in HEADS or (kind in SOFT_HEADS and tokens.kinds[first + 1] in t.IDENTIFIERS)


def head_end(tokens: Tokens, first: int, end: int) -> int:
    """Return the colon of the head that begins with token `first`; `end` if it is not before."""
    depth = 0
    for place in range(first, end):
        kind = tokens.kinds[place]
        depth += (kind in t.OPENING) - (kind in t.CLOSING)
        if kind == t.COLON and not depth:
            return place
    return end


def statement_start(tokens: Tokens, at: int) -> int:
    """Return the first token of the simple statement or head that token `at` belongs to."""
    line = line_start(tokens, at)
    first = at
    while first > line and tokens.kinds[first - 1] != t.SEMICOLON:
        first -= 1
    if first == line and is_head(tokens, line):
        colon = head_end(tokens, line, at)
        if colon < at:
            return colon + 1
    return first


def indentations(tokens: Tokens, at: int) -> list[str]:
    """Return the margin and the indentations of the blocks open in front of token `at`."""
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    levels = [_indentation(text, text.rfind("\n", 0, starts[0]) + 1, starts[0])]
    for place in range(at):
        kind = tokens.kinds[place]
        if kind == t.DEDENT:
            levels.pop()
        elif kind == t.INDENT or is_margin(tokens, place):
            level = _indentation(text, starts[place], ends[place])
            if kind == t.INDENT:
                levels.append(level)
            elif levels[-1].startswith(level):
                levels[-1] = level
    return levels


def _indentation(text: str, start: int, end: int) -> str:
    return text[start:end].rpartition("\f")[2]


def is_margin(tokens: Tokens, at: int) -> bool:
    """Return whether an ERROR token stands for the indentation of a line."""
    return tokens.kinds[at] == t.ERROR and not tokens.token(at).strip(" \t\r\f")


def open_brackets(tokens: Tokens, at: int) -> list[int]:
    """Return the brackets open in front of token `at`, outermost first."""
    opened: list[int] = []
    for place in range(line_start(tokens, at), at):
        kind = tokens.kinds[place]
        if kind in t.OPENING:
            opened.append(place)
        elif kind in t.CLOSING and opened:
            opened.pop()
    return opened


def unclosed_brackets(tokens: Tokens, at: int) -> list[int]:
    """Return the brackets around token `at` and behind it in its line whose partner never comes."""
    opened = open_brackets(tokens, at)
    for place in range(at, len(tokens.kinds)):
        kind = tokens.kinds[place]
        if kind == t.NEWLINE:
            break
        if kind in t.OPENING:
            opened.append(place)
        elif kind in t.CLOSING and opened:
            opened.pop()
    return opened


def adjacent(tokens: Tokens, left: int) -> bool:
    return tokens.ends[left] == tokens.starts[left + 1]


def closing_bracket(tokens: Tokens, opening: int) -> int:
    """Return the token that closes the bracket `opening`; 0 if none does."""
    depth = 0
    for place in range(opening, len(tokens.kinds)):
        kind = tokens.kinds[place]
        depth += (kind in t.OPENING) - (kind in t.CLOSING)
        if not depth:
            return place
        if kind == t.NEWLINE:
            break
    return 0


def operand_start(tokens: Tokens, last: int) -> int:
    """Return the first token of the operand that ends with token `last`: `f(x)[0]`, `x²`, `A.T`."""
    kinds = tokens.kinds
    first = last
    while first:
        if kinds[first] in t.CLOSING:
            depth = 1
            while depth and first:
                first -= 1
                depth += (kinds[first] in t.CLOSING) - (kinds[first] in t.OPENING)
            if kinds[first - 1] not in ENDINGS | {t.PRIMED} - {t.NUMBER}:
                break
        elif kinds[first] != t.SUPERSCRIPT and kinds[first - 1] != t.DOT:
            break
        first -= 2 if kinds[first - 1] == t.DOT else 1
    return first


def operand_end(tokens: Tokens, first: int) -> int:
    """Return the token behind the operand that begins with token `first`: `2x`, `A[0].T`."""
    kinds = tokens.kinds
    end = first + 1
    if kinds[first] in t.OPENING:
        end = first
    elif kinds[first] == t.NUMBER and kinds[end] in t.IDENTIFIERS:
        end += 1
    while True:
        if kinds[end] in t.OPENING:
            closing = closing_bracket(tokens, end)
            if not closing:
                return max(end, first + 1)
            end = closing + 1
        elif kinds[end] == t.SUPERSCRIPT:
            end += 1
        elif kinds[end] == t.DOT and kinds[end + 1] in t.IDENTIFIERS:
            end += 2
        else:
            return end


def before(tokens: Tokens, at: int) -> Span:
    """Return the span of the token before token `at`, behind which something is missing."""
    return tokens.span(at - 1, at - 1) if at else tokens.span(at, at)
