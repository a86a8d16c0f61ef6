"""Errors of syntax: tokens that do not fit, and texts that are no expression.

    E0101  a character that means nothing            E0107  a statement of the wrong form
    E0102  a token that does not fit                 E0108  a string
    E0103  brackets                                  E0109  brackets or blocks nested too deep
    E0104  a coefficient with two readings           E0111  `x += 1`
    E0105  a number                                  E0112  the colon or the lines of a block
    E0106  a product or a call without its sign      E0113  a statement outside of its block
                                                     E0114  a decorator and its rule

There is one function for each mistake that people make. It takes the tokens, the token and the row
of tokens that the state accepts, and returns the error, or None if the mistake is another. They are
tried in the order of `EXPLANATIONS`, which matters: a bracket that was never closed explains
everything behind it. Those that are here look at a whole statement, or at characters, words and
literals that no statement can hold. Text that the grammar reads and an action refuses is in
`refusals`. `gradcli.lang.syntax.recovery` goes on behind an error.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.lang.messages.blocks import (
    block_in_line,
    branch,
    decorator,
    function_head,
    indentation,
    loop_head,
    missing_block,
    missing_colon,
    other_spelling,
    tape_head,
)
from gradcli.lang.messages.expressions import (
    chained_comparison,
    closing_bracket,
    comma,
    foreign_operator,
    function_exponent,
    missing_else,
    missing_operand,
    number_and_dot,
    open_bracket,
    prime,
    second_exponent,
    side_by_side,
)
from gradcli.lang.messages.refusals import decimal_comma, excerpt
from gradcli.lang.messages.surroundings import (
    BEGINNINGS,
    ENDINGS,
    FIRST_WORDS,
    SPELLING,
    adjacent,
    before,
    indentations,
    is_head,
    open_brackets,
    operand_end,
    operand_start,
    statement_start,
)
from gradcli.lang.syntax import lexer as t
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
    from gradcli.base.errors import Source
    from gradcli.lang.syntax.code import Statement
    from gradcli.lang.syntax.export import Row
    from gradcli.lang.syntax.lexer import Tokens


def _unreadable(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    return unreadable(tokens, at) if tokens.kinds[at] == t.ERROR else None


def _missing_separator(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a missing separator: `x=1 y=2`, `input x domain=[0, 1]`."""
    kinds = tokens.kinds
    name = at - 1 if kinds[at] == t.EQUAL else at
    first = statement_start(tokens, at)
    declares = kinds[first] in (t.VAR, t.CONST, t.INPUT)
    attributed = declares or kinds[first] == t.EXPECT or is_head(tokens, first)
    if declares and at == first + 2 and kinds[at] in BEGINNINGS and kinds[at + 1] != t.EQUAL:
        left = excerpt(tokens, first, at)
        return error("E0102", "`=` is missing", tokens.span(at, at),
                     help=f"write `{left} = {excerpt(tokens, at, operand_end(tokens, at))}`")
    if (name <= first + 1 or kinds[name] not in t.IDENTIFIERS or kinds[name + 1] != t.EQUAL
            or kinds[name - 1] not in ENDINGS or open_brackets(tokens, at)):
        return None
    left, right = excerpt(tokens, first, name), excerpt(tokens, name, name + 2)
    separator, what = (",", "a comma") if attributed else (";", "`;` or a new line")
    return error("E0102", f"{what} is missing before `{tokens.token(name)}`",
                 tokens.span(name, name), help=f"write `{left}{separator} {right} ...`")


def _second_binding(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a second equals sign: `a = b = 2`."""
    kinds = tokens.kinds
    first = statement_start(tokens, at)
    if (kinds[at] != t.EQUAL or kinds[at - 1] not in ENDINGS or t.EQUAL not in kinds[first:at]
            or t.IF in kinds[first:at] or open_brackets(tokens, at)):
        return None
    middle, end = kinds.index(t.EQUAL, first), kinds.index(t.NEWLINE, at)
    name, other = excerpt(tokens, first, middle), excerpt(tokens, middle + 1, at)
    apart = f"`{other} = {excerpt(tokens, at + 1, end)}; {name} = {other}`, or "
    return error("E0107", "a statement has one `=`", tokens.span(at, at),
                 help=f"write {apart if end > at + 1 else ''}`==` to compare")


def _binding_inside(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a binding inside an expression, or of several names: `(x = 1)`, `a, b += 1`."""
    kinds = tokens.kinds
    if kinds[at] not in (t.EQUAL, t.AUGMENTED) or not at or kinds[at - 1] not in ENDINGS:
        return None
    if kinds[at] == t.AUGMENTED:
        return error("E0111", f"`{tokens.token(at)}` needs one name on its left",
                     tokens.span(at, at), help="write a statement with `=` for each name")
    found = error("E0102", "`=` cannot stand inside an expression", tokens.span(at, at),
                  help="write `==` to compare")
    opened = open_brackets(tokens, at)
    if opened:
        found.diagnostics[0].related = (
            (tokens.span(opened[-1], opened[-1]), "inside this bracket"),)
    return found


def _condition(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain `=` in a condition: `if x = 3:`, `expect x = 3`."""
    kinds = tokens.kinds
    first = statement_start(tokens, at)
    if (kinds[at] != t.EQUAL or kinds[first] not in (t.IF, t.ELIF, t.WHILE, t.EXPECT)
            or at == first + 1 or t.COMMA in kinds[first:at]):
        return None
    end = at + 1
    while kinds[end] not in (t.NEWLINE, t.SEMICOLON, t.COLON, t.COMMA, t.EQUAL):
        end += 1
    colon = ":" if kinds[first] != t.EXPECT else ""
    left, right = excerpt(tokens, first, at), excerpt(tokens, at + 1, end) if end > at + 1 else "0"
    return error("E0102", "`=` binds a name, it does not compare", tokens.span(at, at),
                 help=f"write `{left} == {right}{colon}`")


def _bare_argument(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain an argument where only `name=value` may follow: `f(a=1, b)`, `var x = 1, y`."""
    kinds = tokens.kinds
    if (kinds[at - 1] == t.COMMA and kinds[at] in BEGINNINGS
            and t.NAME in row and t.NUMBER not in row):
        argument = at
    elif set(row) == {t.EQUAL} and kinds[at - 2] == t.COMMA:
        argument = at - 1
    else:
        return None
    written = excerpt(tokens, argument, argument + 1)
    if open_brackets(tokens, at):
        return error("E0102", f"`{written}` follows a named argument",
                     tokens.span(argument, argument), help="write arguments without a name first")
    decimal = decimal_comma(tokens, argument - 2, argument + 1)
    if decimal:
        return decimal
    first = statement_start(tokens, at)
    word = tokens.token(first)
    if tokens.kinds[first] == t.EXPECT:
        advice = "write one `expect` for each condition"
    elif is_head(tokens, first):
        advice = (f"write `{written}=true`" if tokens.kinds[argument] in t.IDENTIFIERS
                  else f"write a line with its own `{word}` for each")
    else:
        advice = f"declare one name at a time, each with its own `{word}`"
    return error("E0107", f"`{written}` is not an attribute of the form `name=value`",
                 tokens.span(argument, argument), help=advice)


def _near(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain `a ~= b` outside of an `expect`."""
    if tokens.kinds[at] != t.NEAR:
        return None
    if tokens.kinds[statement_start(tokens, at)] == t.EXPECT:
        return error("E0102", "`~=` stands between two values", tokens.span(at, at),
                     help="write one `expect` for each comparison, as in `expect a ~= b`")
    return error("E0102", "`~=` belongs to `expect`", tokens.span(at, at),
                 help="write `abs(a - b) < 1e-9`")


def _reserved(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a word of a statement where none begins: `x in y`, `for = 2`."""
    kinds = tokens.kinds
    word = at - 1 if at and kinds[at] == t.EQUAL else at
    if kinds[word] not in FIRST_WORDS | {t.IF, t.IN, t.ELSE} or (
            word < at and word != statement_start(tokens, at)):
        return None
    if kinds[word] in (t.IF, t.ELSE) and kinds[word + 1] != t.EQUAL:
        return None
    text = tokens.token(word)
    if kinds[word + 1] != t.EQUAL and kinds[word] == t.IN:
        advice = "`in` belongs to `for` only"
    elif kinds[word] == t.FOR and open_brackets(tokens, at):
        advice = "write a `for` block, or apply an operation to the whole tensor"
    elif kinds[word + 1] != t.EQUAL:
        advice = f"begin a line with `{text}`, or choose another name, such as `{text}_`"
    else:
        advice = f"choose another name, such as `{text}_`"
    return error("E0102", f"`{text}` is a reserved word", tokens.span(word, word), help=advice)

EXPLANATIONS = (
    missing_block,
    indentation,
    _unreadable,
    closing_bracket,
    foreign_operator,
    open_bracket,
    branch,
    decorator,
    _near,
    other_spelling,
    block_in_line,
    function_head,
    loop_head,
    tape_head,
    _condition,
    missing_colon,
    _reserved,
    _missing_separator,
    _second_binding,
    _binding_inside,
    chained_comparison,
    prime,
    number_and_dot,
    function_exponent,
    second_exponent,
    _bare_argument,
    side_by_side,
    comma,
    missing_else,
    missing_operand,
)


def unexpected(tokens: Tokens, at: int, row: Row) -> GradcliError:
    """Return the error for token `at`, which is not in `row`, the tokens that its state accepts."""
    for explanation in EXPLANATIONS:
        found = explanation(tokens, at, row)
        if found is not None:
            return found
    if tokens.kinds[at] in (t.NEWLINE, t.END):
        return error("E0102", "the statement ends too early", before(tokens, at),
                     label="something is missing behind this")
    wanted = ("a value" if t.NUMBER in row and t.NAME in row
              else "the end of the line" if t.NEWLINE in row and t.PLUS not in row
              else "an operator or the end of the line" if t.NEWLINE in row
              else "a name" if t.NAME in row
              else " or ".join(f"`{SPELLING[kind]}`" for kind in sorted(row) if kind in SPELLING))
    return error("E0102", f"unexpected `{excerpt(tokens, at, at + 1)}`", tokens.span(at, at),
                 label=f"expected {wanted}" if wanted else "")


def not_one_expression(statements: list[Statement], source: Source) -> GradcliError:
    """Return E0107 for a text that is not the one expression that is needed."""
    message, span = "an expression is missing", (0, len(source.text))
    if statements:
        wrong = statements[1] if len(statements) > 1 else statements[0]
        message, span = "one expression is expected here", (wrong.start, wrong.end)
    return GradcliError(Diagnostic("E0107", message, span=span, source=source,
                                   help="write a value such as `2` or `pi/4`"))


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
