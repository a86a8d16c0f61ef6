"""Explanations of brackets, operators and operands that do not fit into an expression.

The explanations of `unexpected` that are about expressions. Each takes the tokens, the token and
the row of tokens that the state accepts, and returns the error, or None if the mistake is another.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.messages.refusals import (
    decimal_comma,
    excerpt,
    is_function,
    power_of_function,
    two_readings,
)
from gradcli.lang.messages.surroundings import (
    BEGINNINGS,
    BOUNDS,
    COMPARISONS,
    ENDINGS,
    SPELLING,
    adjacent,
    is_head,
    open_brackets,
    operand_end,
    operand_start,
    statement_start,
    unclosed_brackets,
)
from gradcli.lang.syntax import lexer as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import GradcliError
    from gradcli.lang.syntax.export import Row
    from gradcli.lang.syntax.lexer import Tokens

# Two operators side by side that other languages have, and what is written here.
FOREIGN = {
    "=<": "<=", "=>": ">=", "<>": "!=", "===": "==", ":=": "=", "->": "f(x) = ...",
    "++": "x = x + 1", "--": "x = x - 1",
}

GREEK = frozenset("""
    alpha beta gamma delta epsilon zeta eta theta iota kappa lam lamda mu nu xi omicron pi rho sigma
    tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega""".split())


def closing_bracket(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a closing bracket that closes nothing or another shape: `x)`, `(x]`."""
    kind = tokens.kinds[at]
    if kind not in t.CLOSING:
        return None
    closing = tokens.token(at)
    opened = open_brackets(tokens, at)
    if not opened:
        return error("E0103", f"`{closing}` closes nothing", tokens.span(at, at),
                     help=f"leave the `{closing}` out, or open it before")
    if t.OPENING[tokens.kinds[opened[-1]]] == kind:
        if t.COLON not in row or t.COMMA in row or kind != t.RBRACE:
            return None
        inside = excerpt(tokens, opened[-1] + 1, at)
        return error("E0102", "curly brackets hold pairs `key: value`",
                     tokens.span(opened[-1], at),
                     help=None if ":" in inside else f"write `({inside})` to group")
    opening, before = tokens.token(opened[-1]), tokens.token(opened[-1] - 1)
    fitting = f"write `{SPELLING[t.OPENING[tokens.kinds[opened[-1]]]]}`"
    if kind == t.RPAR and opened[-1] and adjacent(tokens, opened[-1] - 1) and (
            is_function(before) or f"{before}(" in tokens.text):
        fitting = f"write `{before}({excerpt(tokens, opened[-1] + 1, at)})`"
    found = error("E0103", f"`{closing}` does not close `{opening}`", tokens.span(at, at),
                  help=fitting)
    found.diagnostics[0].related = ((tokens.span(opened[-1], opened[-1]), "opened here"),)
    return found


def open_bracket(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a bracket that is never closed, at the end of its line or head, or later."""
    kinds = tokens.kinds
    opened = [place for place in unclosed_brackets(tokens, at) if place <= at]
    if kinds[at] == t.SEMICOLON:
        opened = open_brackets(tokens, at)
    elif kinds[at] == t.LBRACE and t.COLON in row:  # `if (x > 0) {`
        return None
    if not opened:
        return None
    unclosed = opened[-1]
    head = is_head(tokens, statement_start(tokens, unclosed))
    if (kinds[at] not in (t.NEWLINE, t.SEMICOLON) and not (head and kinds[at] == t.COLON)
            and unclosed < at
            and "\n" not in tokens.text[tokens.starts[unclosed]:tokens.starts[at]]):
        return None
    bracket = tokens.token(unclosed)
    line_end = unclosed + 1
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    while line_end < at and "\n" not in text[ends[line_end - 1]:starts[line_end]]:
        line_end += 1
    line_end -= head and kinds[line_end - 1] == t.COLON
    line = excerpt(tokens, statement_start(tokens, unclosed), line_end)
    closing = SPELLING[t.OPENING[tokens.kinds[unclosed]]]
    defines = unclosed == statement_start(tokens, unclosed) + 1 and (
        t.EQUAL in kinds[unclosed:line_end])
    complete = kinds[line_end - 1] in ENDINGS and not defines
    return error("E0103", f"`{bracket}` is never closed", tokens.span(unclosed, unclosed),
                 label="opened here", help=f"write `{line}{closing}{':' * head}`" if complete
                 else f"add the missing `{closing}`")


def foreign_operator(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain an operator of another language, two tokens side by side: `=<`, `:=`, `x++`."""
    ends_line = tokens.kinds[at] in (t.NEWLINE, t.SEMICOLON, t.END)
    for left in ((at - 2,) if ends_line else (at - 1, at)):
        if left < 0 or not adjacent(tokens, left):
            continue
        written = tokens.token(left) + tokens.token(left + 1)
        if written not in FOREIGN or (written in ("++", "--") and not ends_line):
            continue
        code, instead = "E0102", f"write `{FOREIGN[written]}`"
        if written in ("++", "--"):
            code, sign = "E0111", written[0]
            name = excerpt(tokens, statement_start(tokens, at), left) or "x"
            instead = (f"`{name}.assign_{'add' if sign == '+' else 'sub'}(1)` changes the variable,"
                       f" `{name} = {name} {sign} 1` binds a new tensor")
        elif written == ":=":
            instead = f"write `{excerpt(tokens, statement_start(tokens, at), left)} = ...`"
        return error(code, f"`{written}` is not an operator", tokens.span(left, left + 1),
                     help=instead)
    return None


def chained_comparison(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a chain of comparisons: `a < b < c`."""
    kinds = tokens.kinds
    if kinds[at] not in COMPARISONS or kinds[at - 1] not in ENDINGS:
        return None
    places = [at, at]  # of the comparison before it, and of the bound before that
    for turn in (0, 1):
        place, depth = places[0] - 1, 0
        while place >= 0 and (depth or kinds[place] not in BOUNDS):
            depth += (kinds[place] in t.CLOSING) - (kinds[place] in t.OPENING)
            if depth < 0:
                break
            place -= 1
        if turn == 0 and (place < 0 or kinds[place] not in COMPARISONS):
            return None
        places[turn] = place
    end, depth = at + 1, 0
    while kinds[end] != t.END and (depth > 0 or kinds[end] not in BOUNDS | t.CLOSING.keys()):
        depth += (kinds[end] in t.OPENING) - (kinds[end] in t.CLOSING)
        end += 1
    earlier, begin = places
    left, middle = excerpt(tokens, begin + 1, at), excerpt(tokens, earlier + 1, at)
    right = excerpt(tokens, at, end)
    return error("E0102", "comparisons cannot be chained", tokens.span(at, at),
                 help=f"write `{left} and {middle} {right}`")


def function_exponent(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain an exponent of a function: `sin²(x)`."""
    kinds = tokens.kinds
    if (at < 2 or kinds[at] not in BEGINNINGS or kinds[at - 1] != t.SUPERSCRIPT
            or not is_function(tokens.token(at - 2))):
        return None
    digits = tokens.token(at - 1)
    exponent = digits.translate(str.maketrans("⁻" + t.SUPERSCRIPTS, "-0123456789"))
    return power_of_function(tokens, at - 2, exponent, at, operand_end(tokens, at))


def side_by_side(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain two operands without an operator: `x y`, `(x)(y)`, `sin x`, `1.2.3`, `√2x`."""
    kinds = tokens.kinds
    if not at or kinds[at - 1] not in ENDINGS or kinds[at] not in BEGINNINGS or t.NUMBER in row:
        return None
    first, end = operand_start(tokens, at - 1), operand_end(tokens, at)
    left, right = excerpt(tokens, first, at), excerpt(tokens, at, end)
    span = tokens.span(first, end - 1)
    if kinds[at - 1] == t.NUMBER and kinds[at] == t.NUMBER:
        touching = adjacent(tokens, at - 1)
        return error("E0105", f"`{left}{'' if touching else ' '}{right}` is not one number", span,
                     help="a number has one decimal point" if touching
                     else f"write `{left}{right}` for one number, `{left}*{right}` for a product")
    if kinds[at - 1] == t.NUMBER and at > 1 and kinds[at - 2] == t.SQRT:
        return two_readings(f"√{left}{right}", tokens.span(at - 2, end - 1),
                            f"√({left}{right})", f"√{left}*{right}")
    if is_function(left) and kinds[at] not in (t.LSQB, t.LBRACE):
        inside = right[1:-1] if kinds[at] == t.LPAR else right
        return error("E0106", f"`{left}` needs brackets around its argument", span,
                     help=f"write `{left}({inside})`")
    if kinds[at] in (t.STRING, t.LSQB, t.LBRACE) and kinds[at - 1] in t.IDENTIFIERS:
        if kinds[at] == t.LBRACE and right[-1] in ")}":     # the wrong bracket
            right = right[1:-1]
        return error("E0106", f"an operator is missing behind `{left}`", span,
                     help=f"write `{left}({right})` for a call")
    if first > 1 and excerpt(tokens, first - 2, first).strip() == "d/" and left[0] == "d":
        return error("E0106", "a formula cannot name its own derivative",
                     tokens.span(first - 2, at),
                     help=f"write the function alone and ask for it with --wrt {left[1:] or 'x'}")
    what = "a call needs a plain name" if kinds[at] == t.LPAR else "an operator is missing"
    return error("E0106", f"{what}: `{left}` and `{right}` stand side by side", span,
                 help=None if _is_word(tokens, at - 1) or _is_word(tokens, at)
                 else f"write `{left}*{right}` for a product")


def _is_word(tokens: Tokens, at: int) -> bool:
    """Return whether a token is a word of another language, as in `lim x`: no product is meant."""
    word = tokens.token(at)
    if tokens.kinds[at] not in t.IDENTIFIERS or len(word) == 1 or not word.isalpha() or (
            word in GREEK or is_function(word)):
        return False
    return not any(tokens.kinds[k + 1] in (t.EQUAL, t.COLON) or tokens.kinds[k - 1] in (
        t.VAR, t.CONST, t.INPUT) for k in range(len(tokens.kinds) - 1) if tokens.token(k) == word)


def number_and_dot(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a dot behind a number: `2.x`, `1..2`, `3.e5`."""
    if tokens.kinds[at] != t.DOT or tokens.kinds[at - 1] != t.NUMBER:
        return None
    number, name = tokens.token(at - 1), tokens.token(at + 1)
    if tokens.kinds[at + 1] not in t.IDENTIFIERS:
        advice = "a number has one decimal point"
    elif name[0] in "eE" and name[1:].isdecimal():
        advice = f"write `{number}{name}`"
    else:
        advice = f"write `{number}*{name}`"
    return error("E0105", f"a point cannot end the number `{number}` here",
                 tokens.span(at - 1, at), help=advice)


def prime(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain `f'` without its argument."""
    if not at or tokens.kinds[at - 1] != t.PRIMED:
        return None
    primed = tokens.token(at - 1)
    name = primed.rstrip("'")
    return error("E0102", f"`{primed}` needs its argument in brackets", tokens.span(at - 1, at - 1),
                 help=f"write `{primed}(x)` for the derivative of a function, `{name}.T` for the"
                 " transpose of a matrix")


def comma(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a comma in round brackets: `(1,5)`, `(a, b)`."""
    if tokens.kinds[at] != t.COMMA:
        return None
    opened = open_brackets(tokens, at)
    if not opened or tokens.kinds[opened[-1]] != t.LPAR or tokens.kinds[at - 1] not in ENDINGS:
        return None
    decimal = decimal_comma(tokens, at - 1, at + 2)
    if decimal:
        return decimal
    end = operand_end(tokens, opened[-1])
    inside = excerpt(tokens, opened[-1], end)[1:-1] if tokens.kinds[end - 1] == t.RPAR else "a, b"
    return error("E0102", "round brackets hold one expression", tokens.span(at, at),
                 help=None if opened[0] in unclosed_brackets(tokens, at)
                 else f"write `[{inside}]` for a list")


def missing_else(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a conditional expression without `else`: `a if c`."""
    if (t.ELSE not in row or t.NEWLINE in row or t.RPAR in row
            or at == statement_start(tokens, at)):
        return None
    first = at - 1
    while first and tokens.kinds[first] != t.IF:
        first -= 1
    begin = first
    while begin and tokens.kinds[begin - 1] not in BOUNDS | t.OPENING.keys():
        begin -= 1
    return error("E0102", "`else` is missing", tokens.span(first, at - 1),
                 help=f"write `{excerpt(tokens, begin, at)} else ...`")


NAMED = {t.DOT: "a name", t.COLON: "a type"}
"""What stands behind a token that takes nothing but a name."""


def missing_operand(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a missing value: `x^`, `a =`, `2 * / 3`, `()`, `* x`; or name: `x.`, `var x: = 3`."""
    kinds = tokens.kinds
    what = "a value" if t.NUMBER in row else NAMED.get(kinds[at - 1])
    if what is None or t.NAME not in row:
        return None
    ends = kinds[at] in (t.NEWLINE, t.SEMICOLON, t.END)
    token = "" if ends else tokens.token(at)
    if at == statement_start(tokens, at):
        return error("E0102", "a statement is missing before `;`" if ends
                     else f"`{token}` cannot begin a statement", tokens.span(at, at),
                     help=f"leave the `{tokens.token(at)}` out" if kinds[at] != t.END else None)
    previous = tokens.token(at - 1)
    if kinds[at - 1] in t.OPENING and kinds[at] in t.CLOSING:
        return error("E0102", "these brackets are empty", tokens.span(at - 1, at),
                     help="write an expression between them")
    if kinds[at - 1] == t.SQRT and token:
        operand = excerpt(tokens, at, operand_end(tokens, at + 1))
        return error("E0102", f"`√` cannot stand before `{token}`", tokens.span(at - 1, at),
                     help=f"write `√({operand})`" if kinds[at] == t.MINUS else None)
    if kinds[at - 1] == t.EQUAL and ends:
        left = excerpt(tokens, statement_start(tokens, at), at - 1)
        return error("E0102", f"the value of `{left}` is missing", tokens.span(at - 1, at - 1),
                     help=f"write `{left} = 0`")
    between = f"between `{previous}` and `{token}`" if token else f"behind `{previous}`"
    advice = {t.EXPECT: "write `expect a == b`", t.IF: "write `if a < b:`",
              t.ELIF: "write `elif a < b:`", t.WHILE: "write `while a < b:`",
              t.IN: "write a number of turns, as in `range(3)`, or a tensor",
              t.COLON: "write a type, such as `float64`" if ends or kinds[at] == t.EQUAL else None}
    return error("E0102", f"{what} is missing {between}",
                 tokens.span(at - 1, at - 1) if ends or kinds[at] in t.CLOSING
                 else tokens.span(at, at), label=f"expected {what} here" if not ends else "",
                 help=advice.get(kinds[at - 1]))


def second_exponent(tokens: Tokens, at: int, row: Row) -> GradcliError | None:
    """Explain a second exponent: `x²^3`."""
    kinds = tokens.kinds
    if kinds[at] not in (t.CIRCUMFLEX, t.SUPERSCRIPT) or kinds[at - 1] != t.SUPERSCRIPT:
        return None
    base = excerpt(tokens, operand_start(tokens, at - 1), at)
    return error("E0102", f"`{base}` already has an exponent", tokens.span(at, at),
                 help=f"put it in brackets: `({base}){tokens.token(at)}...`")
