"""What to say about ERROR tokens: characters, words and literals that no statement can hold."""

from __future__ import annotations

from gradcli.errors import GradcliError, error
from gradcli.lang.lexer import DIGITS, MAX_NESTING, MAX_NUMBER_LENGTH, RPAR, RSQB, is_name_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.parser import Parser

# Characters that stand for something gradcli writes otherwise.
INSTEAD = {
    **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛´′ʹ", "'"), "″": "''",
    **dict.fromkeys("–—‒‐‑", "-"), **dict.fromkeys("∗⋅∙•⨯", "*"), **dict.fromkeys("∕⁄", "/"),
    "∞": "inf", "∧": "and", "∨": "or", "¬": "not", "≈": "==", "←": "=", "≔": "=",
    "∑": "sum(...)", "∏": "prod(...)", "∂": "grad(y, x)", "∇": "grad(y, x)", "∛": "cbrt(x)",
    "`": '"', "~": "not", "&": "and", "?": "a if condition else b",
}

RESERVED = {
    "lambda": "write `f(x) = ...` for a function, or choose another name, such as `lam`",
    "is": "write `==` to compare",
    "in": "`in` belongs to `for` only",
    "import": "every operation is there without an import",
    "from": "every operation is there without an import",
    "class": "choose another name",
}


def unreadable(parser: Parser, at: int) -> GradcliError:
    """E0101, E0102, E0105, E0108 or E0109 for the ERROR token `at`."""
    text = parser.token(at)
    span = parser.span(at, at)
    first = text[:1] or " "  # an empty token is a margin that is missing
    if first in " \t\f\r":
        return _indentation(parser, at)
    if first in "\"'":
        return _unclosed(parser, at)
    if first in DIGITS or first == ".":
        return error("E0105", f"a number of {len(text)} characters is too long", span,
                     help=f"write at most {MAX_NUMBER_LENGTH} characters, or use `e` as in `1e400`")
    if first in "([{":
        return error("E0109", f"more than {MAX_NESTING} brackets are open", span,
                     label="one too many", help="bind parts of the expression to names")
    if is_name_start(first):
        return error("E0102", f"`{text}` is a reserved word", span,
                     help=RESERVED.get(text, f"choose another name, such as `{text}_`"))
    return _character(parser, at)


def _indentation(parser: Parser, at: int) -> GradcliError:
    tabs = "\t" in parser.token(at)
    return error("E0102", "unexpected indentation", parser.span(at, at),
                 label="tabs" if tabs else "",
                 help="begin the line in the same column as the lines before it"
                 + (", without tabs" if tabs else ""))


def _unclosed(parser: Parser, at: int) -> GradcliError:
    text = parser.token(at).rstrip("\r")
    start, end = parser.starts[at], parser.starts[at] + len(text)
    behind_bracket = at and parser.ends[at - 1] == start and parser.kinds[at - 1] in (RPAR, RSQB)
    if text[0] == "'" and behind_bracket:
        return error("E0102", "a prime stands behind the name of a function", (start, start + 1),
                     help="write `f'(x)` for a derivative, `A.T` for the transpose")
    return error("E0108", "this string is not closed", (start, end),
                 label=f"no {text[0]} up to the end of the line", help=f"write `{text}{text[0]}`")


def _character(parser: Parser, at: int) -> GradcliError:
    text, start = parser.text, parser.starts[at]
    character = text[start]
    line_end = text.find("\n", start)
    rest = text[start:line_end if line_end >= 0 else len(text)].rstrip()
    if rest[:2] in ("&&", "||"):
        word = "and" if character == "&" else "or"
        return error("E0101", f"unexpected `{rest[:2]}`", (start, start + 2),
                     help=f"write `{word}`")
    if rest[:2] == "~=":
        return error("E0110", "`~=` belongs to `expect`, which is not part of this version",
                     (start, start + 2), help="write `abs(a - b) < 1e-9`")
    named = f"`{character}`" if character.isprintable() else "character"
    if character > "\x7f" or not character.isprintable():
        import unicodedata

        name = unicodedata.name(character, "no name").lower()
        named += f" (U+{ord(character):04X} {name})"
    return error("E0101", f"unexpected {named}", (start, start + 1),
                 help=_hint(parser, at, character, rest))


def _hint(parser: Parser, at: int, character: str, rest: str) -> str | None:
    if character == "|":
        inside, bar, _ = rest[1:].partition("|")
        return f"write `abs({inside.strip()})`" if bar and inside.strip() else "write `abs(x)`"
    if character == "!":
        follows = rest[1:].strip()
        if follows and (is_name_start(follows[0]) or follows[0] == "("):
            return f"write `not {follows}`"
        return "write `gamma(n + 1)` for a factorial, `not a` for a negation"
    if character == "\\":
        return _latex(rest)
    if character == "$":
        return "write the name without `$`"
    if character in INSTEAD:
        return f"write `{INSTEAD[character]}`"
    if character == "⁻":
        return "write `^-` and the exponent"
    if character.isspace() or character in "\u200b\u200c\u200d\u2060\ufeff":
        return "write an ordinary space, or nothing"
    if character > "\x7f":
        import unicodedata

        if unicodedata.category(character) == "Mn":
            return "write the name without the accent, such as `x_bar`"
        number = unicodedata.numeric(character, 0.0)
        if unicodedata.category(character) == "No" and number:
            return f"write `{number:.6g}`"
        plain = unicodedata.normalize("NFKC", character)
        if "<super>" in unicodedata.decomposition(character):
            return f"write `^{plain}`"
        if plain.isascii() and plain.isprintable():
            return f"write `{plain}`"
    return None


def _latex(rest: str) -> str:
    """What to write for a LaTeX command; `\\frac` with the user's own parts."""
    import re

    if rest == "\\":
        return "put the expression in brackets to continue it on the next line"
    fraction = re.match(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", rest)
    if fraction:
        return f"write `({fraction[1]})/({fraction[2]})`"
    root = re.match(r"\\sqrt\{([^{}]*)\}", rest)
    if root:
        return f"write `sqrt({root[1]})`"
    command = re.match(r"\\([A-Za-z]+)", rest)
    plain = {"cdot": "*", "times": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=",
             "geq": ">=", "ne": "!=", "infty": "inf", "frac": "a/b"}
    if command:
        return f"LaTeX is not read here: write `{plain.get(command[1], command[1])}`"
    return "write the formula without `\\`"
