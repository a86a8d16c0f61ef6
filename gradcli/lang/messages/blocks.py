"""What to say about the heads, indentation and branches of blocks that do not fit.

The functions of `explanations` that are about blocks; they are given and return the same.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.messages.refusals import bad_decorator, excerpt
from gradcli.lang.messages.surroundings import (
    BEGINNINGS,
    FIRST_WORDS,
    SOFT_HEADS,
    head_end,
    is_head,
    is_margin,
    line_start,
    open_brackets,
    operand_end,
    statement_start,
)
from gradcli.lang.syntax import lexer as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import GradcliError
    from gradcli.lang.syntax.grammar import Row
    from gradcli.lang.syntax.parser import Parser


def missing_block(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """A head without indented lines; a decorator without a `def`."""
    if t.INDENT in row and not is_margin(parser, at):
        first = line_start(parser, at - 1)
        return error("E0112", f"the block of `{excerpt(parser, first, at - 1)}` is missing",
                     parser.span(first, at - 2),
                     help="indent the lines that belong to it, or write `pass`")
    if t.DEF in row and t.NAME not in row:
        first = line_start(parser, at - 1)
        more = parser.kinds[at] == t.AT
        return error("E0114", "a function has one decorator" if more
                     else f"`{excerpt(parser, first, at - 1)}` stands in front of no `def`",
                     parser.span(first, at - 2), help="leave one out" if more
                     else "write the function on the next line: `def f(x):`")
    return None


def indentation(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """A line that is indented without a head before it."""
    if parser.kinds[at] != t.INDENT:
        return None
    tabs = "\t" in parser.token(at)
    return error("E0102", "unexpected indentation", parser.span(at, at),
                 label="tabs" if tabs else "",
                 help="begin the line in the same column as the lines before it"
                 + (", without tabs" if tabs else ""))


def decorator(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`@tf.function`, `@custom_gradient()`."""
    first = statement_start(parser, at)
    if parser.kinds[first] != t.AT or at == first or parser.kinds[at] == t.ERROR:
        return None
    return bad_decorator(parser, first, parser.kinds.index(t.NEWLINE, at))


def branch(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`else` and `elif` where no `if` is, and `else if`."""
    kinds = parser.kinds
    word = parser.token(at)
    if kinds[at] == t.IF and at and kinds[at - 1] == t.ELSE and line_start(parser, at) == at - 1:
        return error("E0102", "`else if` is written `elif`", parser.span(at - 1, at),
                     help=f"write `elif {_condition_of(parser, at + 1)}:`")
    if kinds[at] not in (t.ELIF, t.ELSE) or line_start(parser, at) != at:
        return None
    span = parser.span(at, at)
    before = _kind_before(parser, at)
    if before == t.ELSE:
        return error("E0113", f"`{word}` stands behind the `else`", span,
                     help="move it in front of the `else`" if kinds[at] == t.ELIF
                     else "leave one `else` out")
    if before in (t.FOR, t.WHILE):
        return error("E0113", f"a loop has no `{word}`", span,
                     help="write the lines behind the loop, without indentation")
    return error("E0113", f"`{word}` stands behind no `if`", span,
                 help="begin it in the column of its `if`, right behind the block of that")


def _kind_before(parser: Parser, at: int) -> int:
    """What the line before begins with, or the head of the block that ends there."""
    kinds = parser.kinds
    depth = 0
    while at and depth >= 0:
        at -= 1
        depth += (kinds[at] == t.DEDENT) - (kinds[at] == t.INDENT)
        if kinds[at] == t.NEWLINE and not depth:
            return kinds[line_start(parser, at)]
    return t.ERROR


def _condition_of(parser: Parser, first: int) -> str:
    """The condition that begins with token `first`, up to a colon or the end of the line."""
    line_end = parser.kinds.index(t.NEWLINE, first)
    end = head_end(parser, first, line_end)
    return excerpt(parser, first, end) if end > first else "c"


def other_spelling(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`elseif x > 0:`, `elsif (x > 0):`."""
    first = statement_start(parser, at)
    word = parser.token(first).lower()
    if parser.kinds[first] != t.NAME or at == first or word not in ("elseif", "elsif"):
        return None
    return error("E0102", f"`{parser.token(first)}` is written `elif`", parser.span(first, first),
                 help=f"write `elif {_condition_of(parser, first + 1)}:`")


def block_in_line(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`x = 1; if c: y = 2`, `if a: if b: c`."""
    kinds = parser.kinds
    first = at - (kinds[at] in t.IDENTIFIERS and at > 0 and kinds[at - 1] in SOFT_HEADS)
    if (first != statement_start(parser, first) or first == line_start(parser, first)
            or (kinds[first] != t.AT and not is_head(parser, first))):
        return None
    word = parser.token(first)
    return error("E0112", f"`{word}` begins a line of its own", parser.span(first, first),
                 help=f"write the `{word}` on the next line"
                 + (", indented" if kinds[first - 1] == t.COLON else ""))


def function_head(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`def f(x) = x^2`, `def f(x=1):`, `def f:`."""
    kinds = parser.kinds
    first = statement_start(parser, at)
    if kinds[first] != t.DEF or at == first:
        return None
    if kinds[first + 1] not in t.IDENTIFIERS:
        return error("E0107", "a `def` needs a name", parser.span(first, first),
                     help="write `def f(x):`")
    name = parser.token(first + 1)
    line_end = kinds.index(t.NEWLINE, at)
    if not open_brackets(parser, at):
        if kinds[at] == t.EQUAL:
            head = excerpt(parser, first + 1, at)
            body = excerpt(parser, at + 1, line_end) if line_end > at + 1 else "..."
            return error("E0107", "a `def` has a block, not a `=`", parser.span(at, at),
                         help=f"write `{head} = {body}`, or `def {head}: return {body}`")
        if at == first + 2 and kinds[at] != t.LPAR:
            return error("E0107", f"`def {name}` has no brackets for its parameters",
                         parser.span(first, first + 1), help=f"write `def {name}():`")
        return None
    parameter = excerpt(parser, at - 1, at)
    if kinds[at] == t.EQUAL:
        return error("E0107", "parameters have no default values", parser.span(at - 1, at),
                     help=f"write `{parameter}` alone, and give every argument in the call")
    if kinds[at] == t.COLON:
        return error("E0107", "parameters have no types", parser.span(at - 1, at),
                     help=f"write `{parameter}` alone")
    if t.NAME in row and kinds[at] not in t.CLOSING:
        return error("E0107", f"`{excerpt(parser, at, at + 1)}` is no name of a parameter",
                     parser.span(at, at), help=f"write names in the brackets: `def {name}(x, y):`")
    return None


def loop_head(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`for i range(3):`, `for i = 1:3`, `for (i in range(3))`."""
    kinds = parser.kinds
    first = statement_start(parser, at)
    if kinds[first] != t.FOR or at == first or (t.IN not in row and at > first + 1) or (
            kinds[at] == t.EQUAL and at == first + 1):
        return None
    name = parser.token(first + 1) if kinds[first + 1] in t.IDENTIFIERS else "i"
    if t.IN in kinds[first:at]:
        return None
    if kinds[at] in t.IDENTIFIERS and t.IN in row:
        return error("E0102", "`in` is missing", parser.span(at, at),
                     help=f"write `for {excerpt(parser, first + 1, at)} in"
                     f" {_condition_of(parser, at)}:`")
    if kinds[at] == t.LPAR:
        return error("E0102", "the variables of a `for` stand without brackets",
                     parser.span(at, at), help=f"write `for {name} in range(3):`")
    return error("E0102", "a `for` goes over the items of something", parser.span(first, at - 1),
                 help=f"write `for {name} in range(3):`")


# What may be true or false of a tape.
OF_TAPES = ("persistent", "watch_accessed_variables")


def tape_head(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`tape:`, `forward acc:`, `tape t(persistent=true):`."""
    kinds = parser.kinds
    first = statement_start(parser, at)
    if kinds[first] not in SOFT_HEADS:
        return None
    word = parser.token(first)
    if at == first + 1 and kinds[at] == t.COLON:
        names = {t.FORWARD: "acc(x, v)"}.get(kinds[first], "t")
        return error("E0107", f"`{word}` needs a name", parser.span(first, first),
                     help=f"write `{word} {names}:`")
    if at != first + 2 or not is_head(parser, first):
        return None
    name = parser.token(first + 1)
    if kinds[first] == t.FORWARD:
        return error("E0107", f"`forward {name}` needs two arguments", parser.span(first, at - 1),
                     label="what moves, and its direction", help=f"write `forward {name}(x, v):`")
    if kinds[at] == t.LPAR:
        end = operand_end(parser, at)
        inside = excerpt(parser, at, end)[1:-1] if kinds[end - 1] == t.RPAR else ""
        written = f"{name}, {inside}" if inside else name
        return error("E0102", f"the attributes of a `{word}` stand behind a comma",
                     parser.span(at, at), help=f"write `{word} {written}:`")
    if kinds[first] == t.TAPE and parser.token(at) in OF_TAPES and kinds[at + 1] == t.COLON:
        said = parser.token(at)
        return error("E0102", f"`{said}` is an attribute, and needs a comma and a value",
                     parser.span(at, at), help=f"write `{word} {name}, {said}=true:`")
    return None


def missing_colon(parser: Parser, at: int, row: Row) -> GradcliError | None:
    """`for i in range(3)`, `if x > 0 y = 1`, `else`."""
    kinds = parser.kinds
    first = statement_start(parser, at)
    if (t.COLON not in row or not is_head(parser, first) or first != line_start(parser, at)
            or open_brackets(parser, at)):
        return None
    line_end = kinds.index(t.NEWLINE, at)
    colon = head_end(parser, at, line_end)
    if kinds[first] == t.ELSE and at < colon < line_end:
        return error("E0102", "an `else` has no condition", parser.span(at, colon - 1),
                     help=f"write `else:`, or `elif {_condition_of(parser, at)}:`")
    if kinds[at] not in BEGINNINGS | {t.NEWLINE, t.SEMICOLON, t.END, *FIRST_WORDS}:
        return None
    return error("E0112", f"a colon is missing behind `{excerpt(parser, first, at)}`",
                 parser.span(at - 1, at - 1), label="the head of a block ends here",
                 help=f"write `{excerpt(parser, first, at)}:`")
