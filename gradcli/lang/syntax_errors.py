"""Errors of syntax: all of a text, and where to go on after each.

    E0101  a character that means nothing            E0107  a statement of the wrong form
    E0102  a token that does not fit                 E0108  a string
    E0103  brackets                                  E0109  brackets nested too deep
    E0104  a coefficient with two readings           E0110  a statement of a later version
    E0105  a number                                  E0111  `x += 1`
    E0106  a product or a call without its sign

What is said about a token that does not fit is in `explanations`, about what the grammar reads and
an action refuses in `refusals`, about what the lexer could not read in `unreadable`.
"""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError, error
from gradcli.lang import lexer as t
from gradcli.lang.explanations import EXPLANATIONS
from gradcli.lang.refusals import excerpt
from gradcli.lang.surroundings import SPELLING, before, statement_start, unclosed_brackets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.code import Statement
    from gradcli.lang.grammar import Row
    from gradcli.lang.parser import Parser
    from gradcli.source import Source

MAX_ERRORS = 20


def unexpected(parser: Parser, at: int, row: Row) -> GradcliError:
    """The error for token `at`, which is not in `row`, the tokens that its state accepts."""
    for explanation in EXPLANATIONS:
        found = explanation(parser, at, row)
        if found is not None:
            return found
    if parser.kinds[at] in (t.NEWLINE, t.END):
        return error("E0102", "the statement ends too early", before(parser, at),
                     label="something is missing behind this")
    wanted = ("a value" if t.NUMBER in row and t.NAME in row
              else "an operator or the end of the line" if t.NEWLINE in row
              else "a name" if t.NAME in row
              else " or ".join(f"`{SPELLING[kind]}`" for kind in sorted(row) if kind in SPELLING))
    return error("E0102", f"unexpected `{excerpt(parser, at, at + 1)}`", parser.span(at, at),
                 label=f"expected {wanted}" if wanted else "")


def all_errors(parser: Parser, error: GradcliError, source: Source) -> GradcliError:
    """The first error and those of later lines (at most 20) as one, with their source."""
    found: list[Diagnostic] = []
    problem: GradcliError | None = error
    while problem is not None:
        found += problem.diagnostics
        if len(found) >= MAX_ERRORS:
            break
        at = _resume(parser, problem)
        parser.code.clear()
        try:
            parser.run(at)
            problem = None
        except GradcliError as another:
            problem = another
    for diagnostic in found:
        diagnostic.source = source
    return GradcliError(*found)


def _resume(parser: Parser, problem: GradcliError) -> int:
    """The token at which to go on: the first of the next line that is not part of the error.

    An open bracket has swallowed the ends of lines, a block of a later version is skipped as a
    whole: then the rest of the text is read into tokens again.
    """
    at, text = parser.at, parser.text
    line_end = text.find("\n", parser.starts[at])
    if problem.code == "E0110":
        resume = _behind_block(text, parser.starts[statement_start(parser, at)])
    elif unclosed := unclosed_brackets(parser, at):
        line = text.rfind("\n", 0, parser.starts[at]) + 1
        if parser.kinds[at] == t.NEWLINE:  # all of the text was swallowed
            resume = len(text)
        else:
            resume = line if line > parser.starts[unclosed[0]] else line_end + 1 or len(text)
    else:
        while parser.kinds[at] not in (t.NEWLINE, t.END):
            at += 1
        return at + (parser.kinds[at] == t.NEWLINE)
    parser.kinds, parser.starts, parser.ends = t.lex(text, resume)
    return 0


def _behind_block(text: str, start: int) -> int:
    """Where the first line begins that is not indented more than the one of offset `start`."""
    line = text.rfind("\n", 0, start) + 1
    margin = start - line
    end = text.find("\n", start)
    while end >= 0:
        line = end + 1
        end = text.find("\n", line)
        rest = text[line:end] if end >= 0 else text[line:]
        words = rest.lstrip()
        if words and words[0] != "#" and len(rest) - len(words) <= margin:
            return line
    return len(text)


def not_one_expression(statements: list[Statement], source: Source) -> GradcliError:
    """E0107: a value was asked for, and the text is something else."""
    message, span = "an expression is missing", (0, len(source.text))
    if statements:
        wrong = statements[1] if len(statements) > 1 else statements[0]
        message, span = "one expression is expected here", (wrong.start, wrong.end)
    return GradcliError(Diagnostic("E0107", message, span=span, source=source,
                                   help="write a value such as `2` or `pi/4`"))
