"""The parser: Lark's LALR table, driven by a loop that emits flat code while it reads the tokens.

`parse` and `parse_expression` are the whole interface. There is no tree and no recursion: each
reduction appends instructions (`code`) to one list, in the order in which a stack machine wants
them. The action of a rule is named in the grammar (`-> call`): a function of `expressions`,
`statements` or `blocks` (imported when a text has a block), which sees the parser as an `Emitter`,
or else the name of an operation, for which the loop itself emits BINARY or UNARY. The value of a
symbol is the number of its first token unless its action says otherwise; its last token need not be
kept, for at a reduction that is the token before the next one.

Chains of rules such as power -> coefficient -> unary -> ... -> test do nothing but change the
state; the machine (`grammar.Machine`) remembers where each chain ends.

Errors are explained in `gradcli.lang.messages`, and `recovery` goes on behind one; both are
imported when there is one.

Measured (CPython 3.11, best of several on a quiet machine): 32-36 us for the 29 characters of
`x^2*sin(y)+exp(x*y)-3.5*x/y+1`, 8 of them for the tokens; a sum of 100,000 terms 0.4 s, 100,000
bindings 1.6 s. A fresh process that imports this and parses `x^2*sin(y)+exp(x*y)` takes 17.1 ms
against 13.2 of `python -c pass` (medians 1.3 x); tables from the wheel's module or from the cache
cost the same 0.6 ms.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.expressions import ACTIONS
from gradcli.lang.syntax.grammar import Machine, tables
from gradcli.lang.syntax.lexer import END
from gradcli.lang.syntax.statements import STATEMENT_ACTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Source
    from gradcli.lang.syntax.code import Code, Statement


def parse(source: Source) -> list[Statement]:
    """Return the statements of a program.

    Raises GradcliError with all independent syntax errors (E01xx, at most 20) and their spans.
    """
    parser = Parser(source.text)
    try:
        parser.run(0)
    except GradcliError as error:
        from gradcli.lang.syntax.recovery import all_errors

        raise all_errors(parser, parser.run, error, source) from None
    return parser.statements


def parse_expression(source: Source) -> Code:
    """Return the code of a text that is one expression; it leaves the value on the stack.

    Raises GradcliError as `parse` does, and E0107 for any other statement or none.
    """
    statements = parse(source)
    code = statements[0].code if len(statements) == 1 else None
    if not code or code[-1][0] != c.RESULT or code[-1][2] != statements[0].start:
        from gradcli.lang.messages.unexpected import not_one_expression

        raise not_one_expression(statements, source)
    return code[:-1]


class Parser(c.Emitter):
    """One text, driven through the table."""

    __slots__ = ()

    def run(self, at: int) -> None:
        """Read statements from token `at`, the first of a line, to the end.

        `states` and `values` are the table's stacks as they are in front of this token.
        """
        machine = _machine or _made()
        rows, rules, jumps, jump = machine.rows, machine.rules, machine.jumps, machine.jump
        kinds, starts, ends = self.kinds, self.starts, self.ends
        emit = self.code.append
        states, values = self.states, self.values
        state = states[-1]
        kind = kinds[at]
        try:
            while True:
                step = rows[state].get(kind, 0)
                if step > 0:
                    if kind == END:
                        return
                    state = step
                    states.append(state)
                    values.append(at)
                    at += 1
                    kind = kinds[at]
                    continue
                if not step:
                    from gradcli.lang.messages.unexpected import unexpected

                    raise unexpected(self, at, rows[state])
                symbol, size, action = rules[-step]
                if not size:
                    values.append(action and action(self, values, at))
                    states.append(0)
                else:
                    if action.__class__ is str:
                        emit((c.BINARY if size == 3 else c.UNARY, action,
                              starts[values[-size]], ends[at - 1]))
                    elif action is not None:
                        values[-size] = action(self, values, at)
                    if size > 1:
                        del values[1 - size:]
                        del states[1 - size:]
                key = states[-2] << 16 | symbol << 8 | kind
                state = jumps.get(key) or jump(key)
                states[-1] = state
        except GradcliError:
            self.at = at
            raise


_machine: Machine | None = None


def _made() -> Machine:
    """Make the machine of programs, when the first text is parsed."""
    global _machine
    _machine = Machine(tables(), ACTIONS | STATEMENT_ACTIONS)
    return _machine
