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
everything behind it. Those that are here look at a whole statement. Text that the grammar reads and
an action refuses is in `refusals`, text that the lexer could not read in `unreadable`.
`gradcli.lang.syntax.recovery` goes on behind an error.
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
    before,
    is_head,
    open_brackets,
    operand_end,
    statement_start,
)
from gradcli.lang.messages.unreadable import unreadable
from gradcli.lang.syntax import lexer as t

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
