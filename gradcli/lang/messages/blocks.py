"""Explanations of heads, indentation and branches of blocks that do not fit.

The explanations of `unexpected` that are about blocks. Each takes the tokens, the token and the row
of tokens that the state accepts, and returns the error, or None if the mistake is another.
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
    from gradcli.lang.syntax.export import Row
    from gradcli.lang.syntax.lexer import Tokens


def missing_block(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a head without indented lines, or a decorator without a `def`."""
    if t.INDENT in row and not is_margin(tokens, at):
        first = line_start(tokens, at - 1)
        return error("E0112", f"the block of `{excerpt(tokens, first, at - 1)}` is missing",
                     tokens.span(first, at - 2),
                     help="indent the lines that belong to it, or write `pass`")
    if t.DEF in row and t.NAME not in row:
        first = line_start(tokens, at - 1)
        more = tokens.kinds[at] == t.AT
        return error("E0114", "a function has one decorator" if more
                     else f"`{excerpt(tokens, first, at - 1)}` stands in front of no `def`",
                     tokens.span(first, at - 2), help="leave one out" if more
                     else "write the function on the next line: `def f(x):`")
    return None


def indentation(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a line that is indented without a head before it."""
    if tokens.kinds[at] != t.INDENT:
        return None
    tabs = "\t" in tokens.token(at)
    return error("E0102", "unexpected indentation", tokens.span(at, at),
                 label="tabs" if tabs else "",
                 help="begin the line in the same column as the lines before it"
                 + (", without tabs" if tabs else ""))


def decorator(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain an unknown decorator: `@tf.function`, `@custom_gradient()`."""
    first = statement_start(tokens, at)
    if tokens.kinds[first] != t.AT or at == first or tokens.kinds[at] == t.ERROR:
        return None
    return bad_decorator(tokens, first, tokens.kinds.index(t.NEWLINE, at))


def branch(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain `else` and `elif` without an `if`, and `else if`."""
    kinds = tokens.kinds
    word = tokens.token(at)
    if kinds[at] == t.IF and at and kinds[at - 1] == t.ELSE and line_start(tokens, at) == at - 1:
        return error("E0102", "`else if` is written `elif`", tokens.span(at - 1, at),
                     help=f"write `elif {_condition_of(tokens, at + 1)}:`")
    if kinds[at] not in (t.ELIF, t.ELSE) or line_start(tokens, at) != at:
        return None
    span = tokens.span(at, at)
    before = _kind_before(tokens, at)
    if before == t.ELSE:
        return error("E0113", f"`{word}` comes after the `else`", span,
                     help="move it in front of the `else`" if kinds[at] == t.ELIF
                     else "leave one `else` out")
    if before in (t.FOR, t.WHILE):
        return error("E0113", f"a loop has no `{word}`", span,
                     help="write the lines behind the loop, without indentation")
    return error("E0113", f"`{word}` has no `if` before it", span,
                 help="begin it in the column of its `if`, right behind the block of that")


def _kind_before(tokens: Tokens, at: int) -> int:
    """Return the kind of the first token of the line before, or of the block that ends there."""
    kinds = tokens.kinds
    depth = 0
    while at and depth >= 0:
        at -= 1
        depth += (kinds[at] == t.DEDENT) - (kinds[at] == t.INDENT)
        if kinds[at] == t.NEWLINE and not depth:
            return kinds[line_start(tokens, at)]
    return t.ERROR


def _condition_of(tokens: Tokens, first: int) -> str:
    """Return the text from token `first` to a colon or the end of the line; `c` if empty."""
    line_end = tokens.kinds.index(t.NEWLINE, first)
    end = head_end(tokens, first, line_end)
    return excerpt(tokens, first, end) if end > first else "c"


def other_spelling(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain another spelling of `elif`: `elseif x > 0:`, `elsif (x > 0):`."""
    first = statement_start(tokens, at)
    word = tokens.token(first).lower()
    if tokens.kinds[first] != t.NAME or at == first or word not in ("elseif", "elsif"):
        return None
    return error("E0102", f"`{tokens.token(first)}` is written `elif`", tokens.span(first, first),
                 help=f"write `elif {_condition_of(tokens, first + 1)}:`")


def block_in_line(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a block that begins inside a line: `x = 1; if c: y = 2`, `if a: if b: c`."""
    kinds = tokens.kinds
    first = at - (kinds[at] in t.IDENTIFIERS and at > 0 and kinds[at - 1] in SOFT_HEADS)
    if (first != statement_start(tokens, first) or first == line_start(tokens, first)
            or (kinds[first] != t.AT and not is_head(tokens, first))):
        return None
    word = tokens.token(first)
    return error("E0112", f"`{word}` begins a line of its own", tokens.span(first, first),
                 help=f"write the `{word}` on the next line"
                 + (", indented" if kinds[first - 1] == t.COLON else ""))


def function_head(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a wrong head of a function: `def f(x) = x^2`, `def f(x=1):`, `def f:`."""
    kinds = tokens.kinds
    first = statement_start(tokens, at)
    if kinds[first] != t.DEF or at == first:
        return None
    if kinds[first + 1] not in t.IDENTIFIERS:
        return error("E0107", "a `def` needs a name", tokens.span(first, first),
                     help="write `def f(x):`")
    name = tokens.token(first + 1)
    line_end = kinds.index(t.NEWLINE, at)
    if not open_brackets(tokens, at):
        if kinds[at] == t.EQUAL:
            head = excerpt(tokens, first + 1, at)
            body = excerpt(tokens, at + 1, line_end) if line_end > at + 1 else "..."
            return error("E0107", "a `def` has a block, not a `=`", tokens.span(at, at),
                         help=f"write `{head} = {body}`, or `def {head}: return {body}`")
        if at == first + 2 and kinds[at] != t.LPAR:
            return error("E0107", f"`def {name}` has no brackets for its parameters",
                         tokens.span(first, first + 1), help=f"write `def {name}():`")
        return None
    parameter = excerpt(tokens, at - 1, at)
    if kinds[at] == t.EQUAL:
        return error("E0107", "parameters have no default values", tokens.span(at - 1, at),
                     help=f"write `{parameter}` alone, and give every argument in the call")
    if kinds[at] == t.COLON:
        return error("E0107", "parameters have no types", tokens.span(at - 1, at),
                     help=f"write `{parameter}` alone")
    if t.NAME in row and kinds[at] not in t.CLOSING:
        return error("E0107", f"`{excerpt(tokens, at, at + 1)}` is not a name of a parameter",
                     tokens.span(at, at), help=f"write names in the brackets: `def {name}(x, y):`")
    return None


def loop_head(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a wrong head of a loop: `for i range(3):`, `for i = 1:3`, `for (i in range(3))`."""
    kinds = tokens.kinds
    first = statement_start(tokens, at)
    if kinds[first] != t.FOR or at == first or (t.IN not in row and at > first + 1) or (
            kinds[at] == t.EQUAL and at == first + 1):
        return None
    name = tokens.token(first + 1) if kinds[first + 1] in t.IDENTIFIERS else "i"
    if t.IN in kinds[first:at]:
        return None
    if kinds[at] in t.IDENTIFIERS and t.IN in row:
        return error("E0102", "`in` is missing", tokens.span(at, at),
                     help=f"write `for {excerpt(tokens, first + 1, at)} in"
                     f" {_condition_of(tokens, at)}:`")
    if kinds[at] == t.LPAR:
        return error("E0102", "the variables of a `for` stand without brackets",
                     tokens.span(at, at), help=f"write `for {name} in range(3):`")
    return error("E0102", "a `for` loops over the items of something", tokens.span(first, at - 1),
                 help=f"write `for {name} in range(3):`")


# The attributes of a tape that are true or false.
OF_TAPES = ("persistent", "watch_accessed_variables")


def tape_head(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a wrong head of a tape: `tape:`, `forward acc:`, `tape t(persistent=true):`."""
    kinds = tokens.kinds
    first = statement_start(tokens, at)
    if kinds[first] not in SOFT_HEADS:
        return None
    word = tokens.token(first)
    if at == first + 1 and kinds[at] == t.COLON:
        names = {t.FORWARD: "acc(x, v)"}.get(kinds[first], "t")
        return error("E0107", f"`{word}` needs a name", tokens.span(first, first),
                     help=f"write `{word} {names}:`")
    if at != first + 2 or not is_head(tokens, first):
        return None
    name = tokens.token(first + 1)
    if kinds[first] == t.FORWARD:
        return error("E0107", f"`forward {name}` needs two arguments", tokens.span(first, at - 1),
                     label="a primal and its tangent", help=f"write `forward {name}(x, v):`")
    if kinds[at] == t.LPAR:
        end = operand_end(tokens, at)
        inside = excerpt(tokens, at, end)[1:-1] if kinds[end - 1] == t.RPAR else ""
        written = f"{name}, {inside}" if inside else name
        return error("E0102", f"the attributes of a `{word}` come after a comma",
                     tokens.span(at, at), help=f"write `{word} {written}:`")
    if kinds[first] == t.TAPE and tokens.token(at) in OF_TAPES and kinds[at + 1] == t.COLON:
        said = tokens.token(at)
        return error("E0102", f"`{said}` is an attribute, and needs a comma and a value",
                     tokens.span(at, at), help=f"write `{word} {name}, {said}=true:`")
    return None


def missing_colon(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a head without its colon: `for i in range(3)`, `if x > 0 y = 1`, `else`."""
    kinds = tokens.kinds
    first = statement_start(tokens, at)
    if (t.COLON not in row or not is_head(tokens, first) or first != line_start(tokens, at)
            or open_brackets(tokens, at)):
        return None
    line_end = kinds.index(t.NEWLINE, at)
    colon = head_end(tokens, at, line_end)
    if kinds[first] == t.ELSE and at < colon < line_end:
        return error("E0102", "an `else` has no condition", tokens.span(at, colon - 1),
                     help=f"write `else:`, or `elif {_condition_of(tokens, at)}:`")
    if kinds[at] not in BEGINNINGS | {t.NEWLINE, t.SEMICOLON, t.END, *FIRST_WORDS}:
        return None
    return error("E0112", f"a colon is missing behind `{excerpt(tokens, first, at)}`",
                 tokens.span(at - 1, at - 1), label="the head of a block ends here",
                 help=f"write `{excerpt(tokens, first, at)}:`")
