"""Errors of syntax: tokens that do not fit, and texts that are no expression.

    E0101  a character that means nothing            E0107  a statement of the wrong form
    E0102  a token that does not fit                 E0108  a string
    E0103  brackets                                  E0109  brackets or blocks nested too deep
    E0104  a coefficient with two readings           E0111  `x += 1`
    E0105  a number                                  E0112  the colon or the lines of a block
    E0106  a product or a call without its sign      E0113  a statement outside of its block
                                                     E0114  a decorator and its rule

What is said about a token that does not fit is in `tokens`, about what the grammar reads and an
action refuses in `refusals`, about what the lexer could not read in `unreadable`.
`gradcli.lang.syntax.recovery` goes on behind an error.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.lang.messages.refusals import excerpt
from gradcli.lang.messages.surroundings import SPELLING, before
from gradcli.lang.messages.tokens import EXPLANATIONS
from gradcli.lang.syntax import lexer as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Source
    from gradcli.lang.syntax.code import Statement
    from gradcli.lang.syntax.export import Row
    from gradcli.lang.syntax.lexer import Tokens


def unexpected(tokens: Tokens, at: int, row: Row) -> GradcliError:
    """The error for token `at`, which is not in `row`, the tokens that its state accepts."""
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
    """E0107: a value was asked for, and the text is something else."""
    message, span = "an expression is missing", (0, len(source.text))
    if statements:
        wrong = statements[1] if len(statements) > 1 else statements[0]
        message, span = "one expression is expected here", (wrong.start, wrong.end)
    return GradcliError(Diagnostic("E0107", message, span=span, source=source,
                                   help="write a value such as `2` or `pi/4`"))
