"""Errors of syntax: all of a text, and where to go on after each.

    E0101  a character that means nothing            E0107  a statement of the wrong form
    E0102  a token that does not fit                 E0108  a string
    E0103  brackets                                  E0109  brackets or blocks nested too deep
    E0104  a coefficient with two readings           E0111  `x += 1`
    E0105  a number                                  E0112  the colon or the lines of a block
    E0106  a product or a call without its sign      E0113  a statement outside of its block
                                                     E0114  a decorator and its rule

What is said about a token that does not fit is in `explanations`, about what the grammar reads and
an action refuses in `refusals`, about what the lexer could not read in `unreadable`.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.lang.messages.refusals import excerpt
from gradcli.lang.messages.surroundings import (
    LINE_ENDS,
    SPELLING,
    before,
    head_end,
    indentations,
    is_head,
    is_margin,
    line_start,
    unclosed_brackets,
)
from gradcli.lang.messages.tokens import EXPLANATIONS
from gradcli.lang.syntax import lexer as t
from gradcli.lang.syntax.grammar import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Source, Span
    from gradcli.lang.syntax.code import Statement
    from gradcli.lang.syntax.grammar import Row
    from gradcli.lang.syntax.parser import Parser

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
              else "the end of the line" if t.NEWLINE in row and t.PLUS not in row
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
        at = _recover(parser, problem)
        try:
            parser.run(at)
            problem = None
        except GradcliError as another:
            problem = another
    for diagnostic in found:
        diagnostic.source = source
    return GradcliError(*found)


def _recover(parser: Parser, problem: GradcliError) -> int:
    """Take the statement of an error for a whole one; the token at which to go on.

    Blocks whose head was read stay open, so that the lines behind the error are read as part of
    them. A bad line that has a block gives its lines to the block around it.
    """
    kinds, at = parser.kinds, parser.at
    accepted = _pop_statement(parser)
    if not at or kinds[at - 1] in LINE_ENDS:
        if kinds[at] in accepted:  # nothing is wrong with this line but what stands before it
            if problem.code == "E0112":
                _dissolve_second(parser, at)
            return at
        if kinds[at] == t.INDENT:
            _dissolve(parser, at)
            return at
    if is_margin(parser, at):
        at += 1 + (kinds[at + 1] == t.NEWLINE)
        _dissolve(parser, at)
        _dissolve_second(parser, at)
        return at
    first = line_start(parser, at)
    unclosed = unclosed_brackets(parser, at)
    if unclosed:
        at = _read_again(parser, at, problem.span or (0, 0))
    else:
        while kinds[at] not in (t.NEWLINE, t.END):
            at += 1
        at += kinds[at] == t.NEWLINE
    if kinds[at] == t.INDENT and unclosed and not is_head(parser, first):
        _delete(parser, at, _partner(parser, at) + 1)  # lines that continue the expression
    elif kinds[at] == t.INDENT or is_head(parser, first) or kinds[at - 2] == t.COLON:
        _dissolve(parser, at)
    return at


def _pop_statement(parser: Parser) -> Row:
    """Replace what was read of a statement by a whole one; the row of tokens that may follow it."""
    rows, gotos, rules = tables()
    statement = next(symbol for symbol, _, _, name in rules if name == "statement")
    states, values = parser.states, parser.values
    if len(states) > 1 and rows[states[-2]].get(t.DEDENT) == states[-1]:
        # A whole block, not yet one because of what follows: its head goes with it.
        del states[-4:], values[-4:]
    while statement not in gotos[states[-1]]:
        states.pop()
        values.pop()
    states.append(gotos[states[-1]][statement])
    while parser.blocks and parser.blocks[-1].depth >= len(values):
        parser.blocks.pop()
    values.append(None)
    if not parser.blocks:
        parser.code.clear()
    parser.begin = len(parser.code)
    return rows[states[-1]]


def _dissolve(parser: Parser, at: int) -> None:
    """Take the indentation of the block at `at` away, if one begins there, and the heads of each
    `elif` and `else` that follow.
    """
    parser.cautious = True
    kinds = parser.kinds
    while True:
        if kinds[at] == t.INDENT:
            end = _partner(parser, at)
            wrong, depth = [end], 0  # what belongs to the indentation
            for place in range(end - 1, at, -1):
                depth += (kinds[place] == t.DEDENT) - (kinds[place] == t.INDENT)
                if not depth and is_margin(parser, place):
                    wrong.append(place)
            for place in [*wrong, at]:
                _delete(parser, place, place + 1)
            at = end - len(wrong)
        if kinds[at] not in (t.ELIF, t.ELSE):
            return
        line_end = kinds.index(t.NEWLINE, at)
        colon = head_end(parser, at, line_end)
        if colon >= line_end - 1:
            _delete(parser, at, line_end + 1)
        else:
            _delete(parser, at, colon + 1)
            at = kinds.index(t.NEWLINE, at) + 1


def _dissolve_second(parser: Parser, at: int) -> None:
    """The same for a block that seems to begin with the second line from `at`, only because the
    first one is not indented as it should.
    """
    parser.cautious = True
    kinds = parser.kinds
    while kinds[at] == t.DEDENT:
        at += 1
    if kinds[at] != t.END and not is_head(parser, at):
        second = kinds.index(t.NEWLINE, at) + 1
        if kinds[second] == t.INDENT:
            _dissolve(parser, second)


def _partner(parser: Parser, indent: int) -> int:
    """The DEDENT of an INDENT."""
    depth = 0
    while True:
        depth += (parser.kinds[indent] == t.INDENT) - (parser.kinds[indent] == t.DEDENT)
        if not depth:
            return indent
        indent += 1


def _delete(parser: Parser, first: int, end: int) -> None:
    for tokens in (parser.kinds, parser.starts, parser.ends):
        del tokens[first:end]


def _read_again(parser: Parser, at: int, error: Span) -> int:
    """Read the text behind a bracket that is never closed into tokens again, as it has swallowed
    the ends of lines; the first token of the next line that is not part of the error.

    error: its place, in an earlier line than token `at` if it is about the bracket.
    """
    from bisect import bisect_left

    text = parser.text
    line = text.rfind("\n", 0, parser.starts[at]) + 1
    if parser.kinds[at] == t.NEWLINE:  # all of the text was swallowed
        resume = len(text)
    elif line > error[0]:
        resume = line
    else:
        resume = text.find("\n", parser.starts[at]) + 1 or len(text)
    kinds, starts, ends = t.lex(text, resume, indentations(parser, at))
    cut = bisect_left(parser.starts, resume)
    parser.kinds[cut:] = [t.NEWLINE, *kinds]
    parser.starts[cut:] = [resume, *starts]
    parser.ends[cut:] = [resume, *ends]
    while is_margin(parser, cut + 1):
        _delete(parser, cut + 1, cut + 2)
    return cut + 1


def not_one_expression(statements: list[Statement], source: Source) -> GradcliError:
    """E0107: a value was asked for, and the text is something else."""
    message, span = "an expression is missing", (0, len(source.text))
    if statements:
        wrong = statements[1] if len(statements) > 1 else statements[0]
        message, span = "one expression is expected here", (wrong.start, wrong.end)
    return GradcliError(Diagnostic("E0107", message, span=span, source=source,
                                   help="write a value such as `2` or `pi/4`"))
