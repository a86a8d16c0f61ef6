"""Recovery from errors of syntax, so that all errors of a text are found at once.

The statement of an error is taken for a whole one, and the tokens that it has spoilt are taken out
or read again: an indentation, the heads of branches, all behind a bracket that is never closed.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.lang.messages.surroundings import (
    LINE_ENDS,
    head_end,
    indentations,
    is_head,
    is_margin,
    line_start,
    unclosed_brackets,
)
from gradcli.lang.syntax import lexer as t
from gradcli.lang.syntax.grammar import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.base.errors import Diagnostic, Source, Span
    from gradcli.lang.syntax.code import Emitter
    from gradcli.lang.syntax.export import Row
    from gradcli.lang.syntax.lexer import Tokens

MAX_ERRORS = 20


def all_errors(emitter: Emitter, run: Callable[[int], None], first: GradcliError, source: Source
               ) -> GradcliError:
    """Return the first error and those of later lines (at most 20) as one, with their source.

    run: reads on from a token, and raises the next error.
    """
    found: list[Diagnostic] = []
    problem: GradcliError | None = first
    while problem is not None:
        found += problem.diagnostics
        if len(found) >= MAX_ERRORS:
            break
        at = _recover(emitter, problem)
        try:
            run(at)
            problem = None
        except GradcliError as another:
            problem = another
    for diagnostic in found:
        diagnostic.source = source
    return GradcliError(*found)


def _recover(emitter: Emitter, problem: GradcliError) -> int:
    """Treat the statement of an error as a whole one; return the token at which to go on.

    Blocks whose head was read stay open, so that the lines behind the error are read as part of
    them. A bad line that has a block gives its lines to the block around it.
    """
    kinds, at = emitter.kinds, emitter.at
    accepted = _pop_statement(emitter)
    if not at or kinds[at - 1] in LINE_ENDS:
        if kinds[at] in accepted:  # nothing is wrong with this line but what stands before it
            if problem.code == "E0112":
                _dissolve_second(emitter, at)
            return at
        if kinds[at] == t.INDENT:
            _dissolve(emitter, at)
            return at
    if is_margin(emitter, at):
        at += 1 + (kinds[at + 1] == t.NEWLINE)
        _dissolve(emitter, at)
        _dissolve_second(emitter, at)
        return at
    first = line_start(emitter, at)
    unclosed = unclosed_brackets(emitter, at)
    if unclosed:
        at = _read_again(emitter, at, problem.span or (0, 0))
    else:
        while kinds[at] not in (t.NEWLINE, t.END):
            at += 1
        at += kinds[at] == t.NEWLINE
    if kinds[at] == t.INDENT and unclosed and not is_head(emitter, first):
        _delete(emitter, at, _partner(emitter, at) + 1)  # lines that continue the expression
    elif kinds[at] == t.INDENT or is_head(emitter, first) or kinds[at - 2] == t.COLON:
        _dissolve(emitter, at)
    return at


def _pop_statement(emitter: Emitter) -> Row:
    """Replace the read part of a statement by a whole one; return the row of what may follow."""
    rows, gotos, rules = tables()
    statement = next(symbol for symbol, _, _, name in rules if name == "statement")
    states, values = emitter.states, emitter.values
    if len(states) > 1 and rows[states[-2]].get(t.DEDENT) == states[-1]:
        # A whole block, not yet one because of what follows: its head goes with it.
        del states[-4:], values[-4:]
    while statement not in gotos[states[-1]]:
        states.pop()
        values.pop()
    states.append(gotos[states[-1]][statement])
    while emitter.blocks and emitter.blocks[-1].depth >= len(values):
        emitter.blocks.pop()
    values.append(None)
    if not emitter.blocks:
        emitter.code.clear()
    emitter.begin = len(emitter.code)
    return rows[states[-1]]


def _dissolve(emitter: Emitter, at: int) -> None:
    """Delete the indentation of the block at `at`, if one begins there, and the heads of each
    `elif` and `else` that follow.
    """
    emitter.cautious = True
    kinds = emitter.kinds
    while True:
        if kinds[at] == t.INDENT:
            end = _partner(emitter, at)
            wrong, depth = [end], 0  # what belongs to the indentation
            for place in range(end - 1, at, -1):
                depth += (kinds[place] == t.DEDENT) - (kinds[place] == t.INDENT)
                if not depth and is_margin(emitter, place):
                    wrong.append(place)
            for place in [*wrong, at]:
                _delete(emitter, place, place + 1)
            at = end - len(wrong)
        if kinds[at] not in (t.ELIF, t.ELSE):
            return
        line_end = kinds.index(t.NEWLINE, at)
        colon = head_end(emitter, at, line_end)
        if colon >= line_end - 1:
            _delete(emitter, at, line_end + 1)
        else:
            _delete(emitter, at, colon + 1)
            at = kinds.index(t.NEWLINE, at) + 1


def _dissolve_second(emitter: Emitter, at: int) -> None:
    """Dissolve a block that seems to begin with the second line from `at`, only because the first
    line has the wrong indentation.
    """
    emitter.cautious = True
    kinds = emitter.kinds
    while kinds[at] == t.DEDENT:
        at += 1
    if kinds[at] != t.END and not is_head(emitter, at):
        second = kinds.index(t.NEWLINE, at) + 1
        if kinds[second] == t.INDENT:
            _dissolve(emitter, second)


def _partner(tokens: Tokens, indent: int) -> int:
    """Return the DEDENT of an INDENT."""
    depth = 0
    while True:
        depth += (tokens.kinds[indent] == t.INDENT) - (tokens.kinds[indent] == t.DEDENT)
        if not depth:
            return indent
        indent += 1


def _delete(tokens: Tokens, first: int, end: int) -> None:
    for parts in (tokens.kinds, tokens.starts, tokens.ends):
        del parts[first:end]


def _read_again(tokens: Tokens, at: int, error: Span) -> int:
    """Lex the text behind a bracket that is never closed again, as it has swallowed the ends of
    lines; return the first token of the next line that is not part of the error.

    error: its span, in an earlier line than token `at` if it is about the bracket.
    """
    from bisect import bisect_left

    text = tokens.text
    line = text.rfind("\n", 0, tokens.starts[at]) + 1
    if tokens.kinds[at] == t.NEWLINE:  # all of the text was swallowed
        resume = len(text)
    elif line > error[0]:
        resume = line
    else:
        resume = text.find("\n", tokens.starts[at]) + 1 or len(text)
    kinds, starts, ends = t.lex(text, resume, indentations(tokens, at))
    cut = bisect_left(tokens.starts, resume)
    tokens.kinds[cut:] = [t.NEWLINE, *kinds]
    tokens.starts[cut:] = [resume, *starts]
    tokens.ends[cut:] = [resume, *ends]
    while is_margin(tokens, cut + 1):
        _delete(tokens, cut + 1, cut + 2)
    return cut + 1
