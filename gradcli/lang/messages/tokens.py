"""What to say about a token that does not fit: one function for each mistake people make.

Each is given the parser, the token and the row of tokens that the state accepts, and returns the
error or None. They are tried in the order of `EXPLANATIONS`, which matters: a bracket that was
never closed explains whatever went wrong behind it. Those that are here look at a whole statement.
"""

from __future__ import annotations

from gradcli.base.errors import error
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
    is_head,
    open_brackets,
    operand_end,
    statement_start,
)
from gradcli.lang.messages.unreadable import unreadable
from gradcli.lang.syntax import lexer as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import GradcliError
    from gradcli.lang.syntax.grammar import Row
    from gradcli.lang.syntax.parser import Parser


def _unreadable(parser: Parser, at: int, row: Row) -> GradcliError | None:
    return unreadable(parser, at) if parser.kinds[at] == t.ERROR else None


def _missing_separator(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`x=1 y=2`, `input x domain=[0, 1]`: the name in front of `=` begins something new."""
    kinds = parser.kinds
    name = at - 1 if kinds[at] == t.EQUAL else at
    first = statement_start(parser, at)
    declares = kinds[first] in (t.VAR, t.CONST, t.INPUT)
    attributed = declares or kinds[first] == t.EXPECT or is_head(parser, first)
    if declares and at == first + 2 and kinds[at] in BEGINNINGS and kinds[at + 1] != t.EQUAL:
        left = excerpt(parser, first, at)
        return error("E0102", "`=` is missing", parser.span(at, at),
                     help=f"write `{left} = {excerpt(parser, at, operand_end(parser, at))}`")
    if (name <= first + 1 or kinds[name] not in t.IDENTIFIERS or kinds[name + 1] != t.EQUAL
            or kinds[name - 1] not in ENDINGS or open_brackets(parser, at)):
        return None
    left, right = excerpt(parser, first, name), excerpt(parser, name, name + 2)
    separator, what = (",", "a comma") if attributed else (";", "`;` or a new line")
    return error("E0102", f"{what} is missing before `{parser.token(name)}`",
                 parser.span(name, name), help=f"write `{left}{separator} {right} ...`")


def _second_binding(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`a = b = 2`."""
    kinds = parser.kinds
    first = statement_start(parser, at)
    if (kinds[at] != t.EQUAL or kinds[at - 1] not in ENDINGS or t.EQUAL not in kinds[first:at]
            or t.IF in kinds[first:at] or open_brackets(parser, at)):
        return None
    middle, end = kinds.index(t.EQUAL, first), kinds.index(t.NEWLINE, at)
    name, other = excerpt(parser, first, middle), excerpt(parser, middle + 1, at)
    apart = f"`{other} = {excerpt(parser, at + 1, end)}; {name} = {other}`, or "
    return error("E0107", "a statement has one `=`", parser.span(at, at),
                 help=f"write {apart if end > at + 1 else ''}`==` to compare")


def _binding_inside(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`(x = 1)`, `a, b += 1`."""
    kinds = parser.kinds
    if kinds[at] not in (t.EQUAL, t.AUGMENTED) or not at or kinds[at - 1] not in ENDINGS:
        return None
    if kinds[at] == t.AUGMENTED:
        return error("E0111", f"`{parser.token(at)}` needs one name on its left",
                     parser.span(at, at), help="write a statement with `=` for each name")
    found = error("E0102", "`=` cannot stand inside an expression", parser.span(at, at),
                  help="write `==` to compare")
    opened = open_brackets(parser, at)
    if opened:
        found.diagnostics[0].related = (
            (parser.span(opened[-1], opened[-1]), "inside this bracket"),)
    return found


def _condition(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`if x = 3:`, `expect x = 3`."""
    kinds = parser.kinds
    first = statement_start(parser, at)
    if (kinds[at] != t.EQUAL or kinds[first] not in (t.IF, t.ELIF, t.WHILE, t.EXPECT)
            or at == first + 1 or t.COMMA in kinds[first:at]):
        return None
    end = at + 1
    while kinds[end] not in (t.NEWLINE, t.SEMICOLON, t.COLON, t.COMMA, t.EQUAL):
        end += 1
    colon = ":" if kinds[first] != t.EXPECT else ""
    left, right = excerpt(parser, first, at), excerpt(parser, at + 1, end) if end > at + 1 else "0"
    return error("E0102", "`=` binds a name, it does not compare", parser.span(at, at),
                 help=f"write `{left} == {right}{colon}`")


def _bare_argument(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`f(a=1, b)`, `var x = 1, y`: only `name=value` may follow."""
    kinds = parser.kinds
    if (kinds[at - 1] == t.COMMA and kinds[at] in BEGINNINGS
            and t.NAME in row and t.NUMBER not in row):
        argument = at
    elif set(row) == {t.EQUAL} and kinds[at - 2] == t.COMMA:
        argument = at - 1
    else:
        return None
    written = excerpt(parser, argument, argument + 1)
    if open_brackets(parser, at):
        return error("E0102", f"`{written}` stands behind a named argument",
                     parser.span(argument, argument), help="write arguments without a name first")
    decimal = decimal_comma(parser, argument - 2, argument + 1)
    if decimal:
        return decimal
    first = statement_start(parser, at)
    word = parser.token(first)
    if parser.kinds[first] == t.EXPECT:
        advice = "write one `expect` for each condition"
    elif is_head(parser, first):
        advice = (f"write `{written}=true`" if parser.kinds[argument] in t.IDENTIFIERS
                  else f"write a line with its own `{word}` for each")
    else:
        advice = f"declare one name at a time, each with its own `{word}`"
    return error("E0107", f"`{written}` is no attribute of the form `name=value`",
                 parser.span(argument, argument), help=advice)


def _near(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`a ~= b` outside of an `expect`."""
    if parser.kinds[at] != t.NEAR:
        return None
    if parser.kinds[statement_start(parser, at)] == t.EXPECT:
        return error("E0102", "`~=` stands between two values", parser.span(at, at),
                     help="write one `expect` for each comparison, as in `expect a ~= b`")
    return error("E0102", "`~=` belongs to `expect`", parser.span(at, at),
                 help="write `abs(a - b) < 1e-9`")


def _reserved(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """A word of a statement where none begins: `x in y`, `for = 2`."""
    kinds = parser.kinds
    word = at - 1 if at and kinds[at] == t.EQUAL else at
    if kinds[word] not in FIRST_WORDS | {t.IF, t.IN, t.ELSE} or (
            word < at and word != statement_start(parser, at)):
        return None
    if kinds[word] in (t.IF, t.ELSE) and kinds[word + 1] != t.EQUAL:
        return None
    text = parser.token(word)
    if kinds[word + 1] != t.EQUAL and kinds[word] == t.IN:
        advice = "`in` belongs to `for` only"
    elif kinds[word] == t.FOR and open_brackets(parser, at):
        advice = "write a `for` block, or apply an operation to the whole tensor"
    elif kinds[word + 1] != t.EQUAL:
        advice = f"begin a line with `{text}`, or choose another name, such as `{text}_`"
    else:
        advice = f"choose another name, such as `{text}_`"
    return error("E0102", f"`{text}` is a reserved word", parser.span(word, word), help=advice)


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
