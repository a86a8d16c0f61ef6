"""Explanations of ERROR tokens: characters, words and literals that no statement can hold."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.lang.messages.refusals import excerpt
from gradcli.lang.messages.surroundings import (
    ENDINGS,
    adjacent,
    indentations,
    operand_start,
    statement_start,
)
from gradcli.lang.syntax.lexer import (
    COLON,
    COMMA,
    DIGITS,
    EQUAL,
    LPAR,
    LSQB,
    MAX_NESTING,
    MAX_NUMBER_LENGTH,
    NEWLINE,
    RPAR,
    RSQB,
    SEMICOLON,
    is_name_start,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.syntax.lexer import Tokens

# Characters that stand for something gradcli writes otherwise.
INSTEAD = {
    **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛´′ʹ", "'"), "″": "''",
    **dict.fromkeys("–—‒‐‑", "-"), **dict.fromkeys("∗⋅∙•⨯", "*"), **dict.fromkeys("∕⁄", "/"),
    "∞": "inf", "∧": "and", "∨": "or", "¬": "not", "≈": "==", "←": "=", "≔": "=",
    "∑": "sum(...)", "∏": "prod(...)", "∂": "grad(y, x)", "∇": "grad(y, x)", "∛": "cbrt(x)",
    "`": '"', "~": "not", "&": "and", "?": "a if condition else b",
}

# Words of Python: what is said where one begins a statement, and what is written instead.
STATEMENTS = {
    "with": ("`with` is not needed", "write `tape t:` and indent the lines to record"),
    "import": ("nothing is imported", "leave the line out: every operation is there"),
    "from": ("nothing is imported", "leave the line out: every operation is there"),
    "class": ("there are no classes", "write a function for each method: `def f(x):`"),
    "try": ("errors are not caught", "leave the `try` out, and test with `if` before"),
    "raise": ("errors are not raised", "write `expect` and the condition that holds"),
    "assert": ("`assert` is written `expect`", "write `expect a == b`"),
    "del": ("names are not deleted", "leave the line out"),
    "global": ("`global` is not needed", "give the value back with `return`: a function sees the"
               " names of the file and binds its own"),
    "nonlocal": ("`nonlocal` is not needed", "give the value back with `return`: a function sees"
                 " the names around it and binds its own"),
}
RESERVED = {
    "lambda": "write `f(x) = ...` for a function, or choose another name, such as `lam`",
    "is": "write `==` to compare",
    "class": "choose another name",
}


def unreadable(tokens: Tokens, at: int) -> GradcliError:
    """Return E0101, E0102, E0105, E0108, E0109 or E0112 for the ERROR token `at`."""
    text = tokens.token(at)
    span = tokens.span(at, at)
    first = text[:1] or " "  # an empty token is a margin that is missing
    if first in " \t\f\r":
        return _indentation(tokens, at)
    if first in "\"'":
        return _unclosed(tokens, at)
    if first in DIGITS or first == ".":
        return error("E0105", f"a number of {len(text)} characters is too long", span,
                     help=f"write at most {MAX_NUMBER_LENGTH} characters, or use `e` as in `1e400`")
    if first in "([{":
        return error("E0109", f"more than {MAX_NESTING} brackets are open", span,
                     label="one too many", help="bind parts of the expression to names")
    if is_name_start(first):
        return _word(tokens, at)
    return _character(tokens, at)


def _word(tokens: Tokens, at: int) -> GradcliError:
    text, span = tokens.token(at), tokens.span(at, at)
    line_end = tokens.kinds.index(NEWLINE, at)
    used = tokens.kinds[at + 1] not in (EQUAL, COMMA, NEWLINE, SEMICOLON)
    if text == "lambda" and used:
        return error("E0102", "there is no `lambda`", span,
                     help="write `f(x) = ...` on a line of its own, and `f` here")
    if text not in STATEMENTS or not used or at != statement_start(tokens, at):
        return error("E0102", f"`{text}` is a reserved word", span,
                     help=RESERVED.get(text, f"choose another name, such as `{text}_`"))
    message, advice = STATEMENTS[text]
    words = [tokens.token(place) for place in range(at + 1, line_end)]
    if text == "with" and "as" in words[:-1]:
        name = words[words.index("as") + 1]
        if "ForwardAccumulator" in words:
            advice = f"write `forward {name}(x, v):`"
        elif "stop_recording" in words:
            advice = "write `stop_recording t:`"
        else:
            persistent = ", persistent=true" if "persistent" in words else ""
            advice = f"write `tape {name}{persistent}:`"
    elif text == "with" and "stop_recording" in words:
        advice = f"write `stop_recording {words[0]}:`"
    elif text in ("import", "from") and "numpy" in words:
        advice = "leave the line out: `np.` works without it"
    elif text == "assert":
        advice = f"write `expect {excerpt(tokens, at + 1, line_end)}`"
    return error("E0102", message, span, help=advice)


def _indentation(tokens: Tokens, at: int) -> GradcliError:
    """Return the error of a line's margin: too deep, between two blocks, or tabs and spaces."""
    levels = indentations(tokens, at)
    text = tokens.token(at).rpartition("\f")[2]
    start, end = tokens.span(at, at)
    span = (start, end) if end > start else tokens.span(at + 1, at + 1)
    if len(levels) > MAX_NESTING and len(text) > len(levels[-1]):
        return error("E0109", f"more than {MAX_NESTING} blocks are open",
                     tokens.span(at + 1, at + 1), label="one too many",
                     help="put the inner blocks into a function")
    if levels[-1].startswith(text):
        columns = [str(len(level) + 1) for level in levels if len(level) > len(text)][:1]
        columns[:0] = [str(len(level) + 1) for level in levels if len(level) < len(text)][-1:]
        return error("E0112", "this line is indented less than its block, and unlike any around it",
                     span, help=f"begin the line in column {' or '.join(columns)}")
    kind = "tabs" if "\t" in levels[-1] else "spaces"
    return error("E0112", "tabs and spaces are mixed in the indentation", span,
                 label="tabs here" if "\t" in text else "spaces here",
                 help=f"indent with {kind} only, as the lines before it")


def _unclosed(tokens: Tokens, at: int) -> GradcliError:
    text = tokens.token(at).rstrip("\r")
    start, end = tokens.starts[at], tokens.starts[at] + len(text)
    behind_bracket = at and tokens.ends[at - 1] == start and tokens.kinds[at - 1] in (RPAR, RSQB)
    if text[0] == "'" and behind_bracket:
        return error("E0102", "a prime must follow the name of a function", (start, start + 1),
                     help="write `f'(x)` for a derivative, `A.T` for the transpose")
    # The quote is the mistake if no string fits here, or it would take a bracket with it.
    meant = (not at or tokens.kinds[at - 1] in (LPAR, LSQB, COMMA, EQUAL, COLON)) and all(
        text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    return error("E0108", "this string is not closed", (start, end),
                 label=f"no {text[0]} up to the end of the line",
                 help=f"write `{text}{text[0]}`" if meant else None)


def _character(tokens: Tokens, at: int) -> GradcliError:
    text, start = tokens.text, tokens.starts[at]
    character = text[start]
    line_end = text.find("\n", start)
    rest = text[start:line_end if line_end >= 0 else len(text)].rstrip()
    if rest[:2] in ("&&", "||"):
        word = "and" if character == "&" else "or"
        return error("E0101", f"unexpected `{rest[:2]}`", (start, start + 2),
                     help=f"write `{word}`")
    named = f"`{character}`" if character.isprintable() else "character"
    if character > "\x7f" or not character.isprintable():
        import unicodedata

        name = unicodedata.name(character, "no name").lower()
        named += f" (U+{ord(character):04X} {name})"
    return error("E0101", f"unexpected {named}", (start, start + 1),
                 help=_hint(tokens, at, character, rest))


def _hint(tokens: Tokens, at: int, character: str, rest: str) -> str | None:
    if character == "|":
        inside, bar, _ = rest[1:].partition("|")
        return f"write `abs({inside.strip()})`" if bar and inside.strip() else "write `abs(x)`"
    if character == "!":
        follows = rest[1:].strip()
        if follows and (is_name_start(follows[0]) or follows[0] == "("):
            return f"write `not {follows}`"
        if not at or not adjacent(tokens, at - 1) or tokens.kinds[at - 1] not in ENDINGS:
            return "write `not a` for a negation"
        operand = excerpt(tokens, operand_start(tokens, at - 1), at)
        if operand[0] == "(" and operand[-1] == ")":
            operand = operand[1:-1]
        return f"write `gamma({operand} + 1)` for a factorial"
    if character == "\\":
        return _latex(rest)
    if character == "$":
        return "write the name without `$`; LaTeX is read with --latex"
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
    r"""Return advice for a LaTeX command; for `\frac` and `\sqrt` with the user's own parts."""
    import re

    if rest == "\\":
        return "put the expression in brackets to continue it on the next line"
    fraction = re.match(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", rest)
    if fraction:
        return f"write `({fraction[1]})/({fraction[2]})`, or ask for --latex"
    root = re.match(r"\\sqrt\{([^{}]*)\}", rest)
    if root:
        return f"write `sqrt({root[1]})`, or ask for --latex"
    command = re.match(r"\\([A-Za-z]+)", rest)
    plain = {"cdot": "*", "times": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=",
             "geq": ">=", "ne": "!=", "infty": "inf", "frac": "a/b"}
    if command:
        return f"write `{plain.get(command[1], command[1])}`; LaTeX is read with --latex"
    return "write the formula without `\\`"
