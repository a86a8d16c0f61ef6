"""The lexer: text to three parallel lists (kinds, starts, ends), written by hand without `re`.

`lex` makes the lists; `Tokens` are the lists and the text, which is all that a message about an
error of syntax asks for.

The tokens are those that `grammars/*.lark` define as terminals; a test holds the two together. The
lexer never raises: text that fits nothing becomes an ERROR token, which no state of the parser
accepts and which `lang.messages` explains. Newlines inside brackets, blank lines and comments leave
no token; every other line ends with NEWLINE, the last one too; END is always last.

Indentation is Python's: INDENT stands before the first token of a line that is indented more than
the one before it, a DEDENT for each block that a line leaves. Two indentations are compared as
texts, one the beginning of the other; where neither is, tabs and spaces are mixed. A file may have
a margin, that of its first line.

Characters are told apart by one dictionary look-up on the first one: that is what makes this faster
than a compiled regular expression (and importing `re` costs as much as all of gradcli).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span

MAX_NESTING = 200
MAX_NUMBER_LENGTH = 400

# Kinds of token; ERROR is 0 and in no row of the parser's table.
(ERROR, END, NEWLINE, NAME, NUMBER, LPAR, RPAR, LSQB, RSQB, LBRACE, RBRACE, COMMA, SEMICOLON, COLON,
 DOT, PLUS, MINUS, STAR, SLASH, DOUBLE_SLASH, PERCENT, AT, CIRCUMFLEX, SUPERSCRIPT, SQRT, PI, EQUAL,
 EQUAL_EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, AUGMENTED, PRIMED, STRING, IF,
 ELSE, AND, OR, NOT, TRUE, FALSE, NONE, VAR, CONST, INPUT, TAPE, FORWARD, STOP_RECORDING, RESUME,
 NEAR, INDENT, DEDENT, ELIF, WHILE, FOR, IN, BREAK, CONTINUE, DEF, RETURN, EXPECT, PASS,
 ) = range(64)

KIND_NAMES = {
    value: name for name, value in list(globals().items())
    if name.isupper() and type(value) is int and not name.startswith("MAX_")
}

KEYWORDS = {
    "if": IF, "else": ELSE, "and": AND, "or": OR, "not": NOT,
    "true": TRUE, "True": TRUE, "false": FALSE, "False": FALSE, "none": NONE, "None": NONE,
    "var": VAR, "const": CONST, "input": INPUT, "tape": TAPE, "forward": FORWARD,
    "stop_recording": STOP_RECORDING, "resume": RESUME, "elif": ELIF, "while": WHILE, "for": FOR,
    "in": IN, "break": BREAK, "continue": CONTINUE, "def": DEF, "return": RETURN, "expect": EXPECT,
    "pass": PASS,
    # reserved: Python's other keywords
    **dict.fromkeys(
        ("as", "assert", "async", "await", "class", "del", "except", "finally", "from", "global",
         "import", "is", "lambda", "nonlocal", "raise", "try", "with", "yield"), ERROR),
}
SOFT_KEYWORDS = frozenset((VAR, CONST, INPUT, TAPE, FORWARD, STOP_RECORDING, RESUME))
IDENTIFIERS = SOFT_KEYWORDS | {NAME}

OPENING = {LPAR: RPAR, LSQB: RSQB, LBRACE: RBRACE}
CLOSING = {closing: opening for opening, closing in OPENING.items()}

OPERATORS = {
    "+": PLUS, "-": MINUS, "*": STAR, "/": SLASH, "//": DOUBLE_SLASH, "%": PERCENT, "@": AT,
    "^": CIRCUMFLEX, "**": CIRCUMFLEX, "=": EQUAL, "==": EQUAL_EQUAL, "!=": NOT_EQUAL, "<": LESS,
    "<=": LESS_EQUAL, ">": GREATER, ">=": GREATER_EQUAL, "~=": NEAR, "!": ERROR, "~": ERROR,
    **dict.fromkeys(("+=", "-=", "*=", "/=", "//=", "%=", "@=", "^=", "**="), AUGMENTED),
}
SINGLE = {
    "(": LPAR, ")": RPAR, "[": LSQB, "]": RSQB, "{": LBRACE, "}": RBRACE, ",": COMMA,
    ";": SEMICOLON, ":": COLON, "·": STAR, "×": STAR, "−": MINUS, "÷": SLASH, "√": SQRT, "π": PI,
    "≠": NOT_EQUAL, "≤": LESS_EQUAL, "≥": GREATER_EQUAL,
}

DIGITS = frozenset("0123456789")
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
WORD = LETTERS | DIGITS

# The class of a first character, besides the kind of a SINGLE.
_WORD, _NUMBER, _DOT, _OPERATOR, _BLANK, _LINE_END, _COMMENT, _QUOTE, _SUPERSCRIPT = range(-9, 0)
_FIRST = {
    **dict.fromkeys(LETTERS, _WORD), **dict.fromkeys(DIGITS, _NUMBER), ".": _DOT,
    **dict.fromkeys("+-*/%@^=<>!~", _OPERATOR), **dict.fromkeys(" \t\r\f", _BLANK), "\n": _LINE_END,
    "#": _COMMENT, '"': _QUOTE, "'": _QUOTE, **dict.fromkeys("⁻" + SUPERSCRIPTS, _SUPERSCRIPT),
    **SINGLE,
}


class Tokens:
    """A text and its tokens: their kinds, and the offsets at which each starts and ends."""

    __slots__ = ("ends", "kinds", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds, self.starts, self.ends = lex(text)

    def token(self, index: int) -> str:
        """Return the text of a token."""
        return self.text[self.starts[index]:self.ends[index]]

    def span(self, first: int, last: int) -> Span:
        """Return the span from the beginning of one token to the end of another."""
        return self.starts[first], self.ends[last]


def lex(text: str, at: int = 0, levels: list[str] | None = None
        ) -> tuple[list[int], list[int], list[int]]:
    """Return the kinds, starts and ends of the tokens of `text` from `at`, the beginning of a line.

    levels: the margin of the text and the indentations of the blocks that are open there, outermost
    first; by default the first line has the margin.
    """
    kinds: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    size = len(text)
    text += "\n"  # every scan below stops here at the latest
    depth = 0
    levels = [] if levels is None else list(levels)
    twins: dict[str, str] = {}  # wrong indentations, and what they are taken for
    hopeless = False
    line = at  # where a line began that has no token yet, else -1
    while at <= size:
        first = text[at]
        kind = _FIRST.get(first)
        if kind == _BLANK:
            at += 1
            continue
        if kind == _LINE_END:
            if not depth:
                if line < 0:
                    kinds.append(NEWLINE)
                    starts.append(at)
                    ends.append(at + 1)
                line = at + 1
            at += 1
            continue
        if kind == _COMMENT:
            at = text.index("\n", at)
            continue
        if line >= 0:
            indentation = text[line:at].rpartition("\f")[2]
            if not levels:
                levels.append(indentation)
            elif indentation != levels[-1]:
                for change in _changes(levels, twins, indentation):
                    kinds.append(change)
                    starts.append(line)
                    ends.append(line if change == DEDENT else at)
                if len(levels) > MAX_NESTING + 1:
                    levels.pop()
                    hopeless = True
            line = -1
        end = at + 1
        if kind is None:
            if is_name_start(first):
                kind = _WORD
            else:
                kind = ERROR
        if kind == _WORD:
            while text[end] in WORD:
                end += 1
            if text[end] > "\x7f":
                while is_name_part(text[end]):
                    end += 1
            if text[end] == "'":
                while text[end] == "'":
                    end += 1
                kind = PRIMED
            else:
                kind = KEYWORDS.get(text[at:end], NAME)
        elif kind == _NUMBER or kind == _DOT:
            if kind == _DOT and text[end] not in DIGITS:
                kind = DOT
            else:
                end = _number_end(text, at)
                kind = NUMBER if end - at <= MAX_NUMBER_LENGTH else ERROR
        elif kind == _OPERATOR:
            kind = OPERATORS[first]
            if text[end] in "=*/":
                for longer in (text[at:at + 3], text[at:at + 2]):
                    if longer in OPERATORS:
                        kind = OPERATORS[longer]
                        end = at + len(longer)
                        break
        elif kind == _QUOTE:
            end = _string_end(text, at)
            if end:
                kind = STRING
            else:
                kind = ERROR
                end = text.index("\n", at)
        elif kind == _SUPERSCRIPT:
            while text[end] in SUPERSCRIPTS:
                end += 1
            kind = SUPERSCRIPT if text[end - 1] != "⁻" else ERROR
        elif kind in OPENING:
            depth += 1
            if depth > MAX_NESTING:
                kind = ERROR
                hopeless = True
        elif kind in CLOSING and depth:
            depth -= 1
        kinds.append(kind)
        starts.append(at)
        ends.append(end)
        at = end
        if hopeless:
            break  # the text is refused for this; the rest, maybe megabytes of it, changes nothing
    if kinds and kinds[-1] != NEWLINE:  # an open bracket swallowed the last one
        kinds.append(NEWLINE)
        starts.append(size)
        ends.append(size)
    while len(levels) > 1:
        levels.pop()
        kinds.append(DEDENT)
        starts.append(size)
        ends.append(size)
    kinds.append(END)
    starts.append(size)
    ends.append(size)
    return kinds, starts, ends


def _changes(levels: list[str], twins: dict[str, str], indentation: str) -> list[int]:
    """Return the tokens for a line that is not indented as the line before it, and update `levels`.

    An ERROR comes last. A line between two blocks is taken for one of the inner, which goes on with
    its indentation. One with tabs for spaces, or the other way round, is taken for one of the
    innermost block, and so are later ones like it (`twins`). One too deep adds its level.
    """
    for wrong, right in twins.items():
        if indentation.startswith(wrong):
            indentation = right + indentation[len(wrong):]
            break
    if indentation == levels[-1]:
        return []
    if indentation.startswith(levels[-1]):
        levels.append(indentation)
        return [INDENT if len(levels) <= MAX_NESTING + 1 else ERROR]
    if not levels[-1].startswith(indentation):
        twins[indentation] = levels[-1]
        return [ERROR]
    changes = []
    while len(levels) > 1 and len(levels[-2]) >= len(indentation):
        levels.pop()
        changes.append(DEDENT)
    if levels[-1] != indentation:
        levels[-1] = indentation
        changes.append(ERROR)
    return changes


def is_name_part(character: str) -> bool:
    """Return whether a name may contain the character: a letter, digit, subscript or `_`."""
    return (character.isalnum() or character == "_") and not _is_excluded(character)


def is_name_start(character: str) -> bool:
    """Return whether a name may begin with the character: no digit and no subscript."""
    return (is_name_part(character) and not character.isdecimal()
            and not "₀" <= character <= "₉")


def _is_excluded(character: str) -> bool:
    """Return whether Python counts it as alphanumeric, but names do not: `π`, `²`, `½`, `①`."""
    return (character in "²³¹ˣʸπ" or "¼" <= character <= "¾" or "⁰" <= character <= "ⁿ"
            or "⅐" <= character <= "↉" or "①" <= character <= "⓿" or "❶" <= character <= "➓")


def _number_end(text: str, end: int) -> int:
    """Return the offset behind a number; its dot is left out before a name or another dot."""
    begin = end
    while text[end] in DIGITS:
        end += 1
    if text[end] == ".":
        after = text[end + 1]
        if after in DIGITS:
            end += 2
            while text[end] in DIGITS:
                end += 1
        elif end > begin and after not in "._" and not after.isalnum():
            end += 1
    if text[end] in "eE":
        exponent = end + 2 if text[end + 1] in "+-" else end + 1
        if text[exponent] in DIGITS:
            end = exponent + 1
            while text[end] in DIGITS:
                end += 1
    return end


def _string_end(text: str, at: int) -> int:
    """Return the offset behind the closing quote of a string; 0 if its line has none."""
    quote = text[at]
    at += 1
    while (character := text[at]) != "\n":
        at += 1
        if character == quote:
            return at
        if character == "\\" and text[at] != "\n":
            at += 1
    return 0
