"""The parser: Lark's LALR table, driven by a loop that emits flat code while it reads the tokens.

`parse` and `parse_expression` are the whole interface. There is no tree and no recursion: each
reduction appends instructions (`code`) to one list, in the order in which a stack machine wants
them. The action of a rule is named in the grammar (`-> call`): a function of this file (simple
statements), of `expressions` or of `blocks` (imported when a text has a block), which sees the
parser as an `Emitter`, or else the name of an operation, for which the loop itself emits BINARY or
UNARY. The value of a symbol is the number of its first token unless its action says otherwise; its
last token need not be kept, for at a reduction that is the token before the next one.

A statement outside of blocks takes the code that was emitted since the one before it; within blocks
the code stays where it is, in one list in the order of the text. The left side of a binding was
read as an expression; its loads stand first in the statement's code and are left out.

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
from gradcli.lang.syntax.expressions import ACTIONS, attribute_names
from gradcli.lang.syntax.grammar import Machine, tables
from gradcli.lang.syntax.lexer import COMMA, END, IDENTIFIERS, LPAR, RPAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.lang.syntax.code import Code, Emitter, Statement
    from gradcli.lang.syntax.expressions import Action


def _result(emitter: Emitter, values: list[Any], at: int) -> None:  # test
    first: int = values[-1]
    start, end = emitter.span(first, at - 1)
    opcode = c.RESULT
    last, argument, last_start, last_end = emitter.code[-1]
    without_result = ((last == c.METHOD and argument[0] in WITHOUT_RESULT)
                      or (last == c.CALL and argument[0] in ("print", "watch")))
    if ((without_result and (last_start, last_end) == (start, end))
            or (emitter.blocks and emitter.blocks[-1].inside)):
        opcode = c.POP
    emitter.code.append((opcode, None, start, end))
    emitter.finish(first, at)


# Methods that are called for what they do.
WITHOUT_RESULT = frozenset(("assign", "assign_add", "assign_sub", "watch", "reset"))


def _binding(emitter: Emitter, values: list[Any], at: int) -> None:  # test EQUAL test
    first, equal, _ = values[-3:]
    code, begin = emitter.code, emitter.begin
    if equal == first + 1 and emitter.kinds[first] in IDENTIFIERS:
        name = emitter.token(first)
        del code[begin]
        code.append((c.BIND, name, *emitter.span(first, first)))
        emitter.finish(first, at, (name,))
        return
    parameters = _parameters(emitter, first, equal)
    if parameters is None:
        from gradcli.lang.messages.refusals import bad_target

        raise bad_target(emitter, first, equal, at)
    name = emitter.token(first)
    body = code[begin + len(parameters) + 1:]  # behind the left side, read as a call
    function = c.Function(name, parameters, body, *emitter.span(first, at - 1))
    code[begin:] = [(c.DEFINE, function, function.start, function.end)]
    emitter.finish(first, at, (name,))


def _parameters(emitter: Emitter, first: int, equal: int) -> tuple[str, ...] | None:
    """Return the names in `f(x, y)`; None if the tokens up to `equal` are anything else."""
    kinds = emitter.kinds
    if (kinds[first] not in IDENTIFIERS or kinds[first + 1] != LPAR or kinds[equal - 1] != RPAR):
        return None
    return _distinct_names(emitter, first + 2, equal - 1)


def _distinct_names(emitter: Emitter, first: int, end: int) -> tuple[str, ...] | None:
    """Return the names in `x, y`, each different; None if the tokens are anything else."""
    kinds = emitter.kinds
    if any(kinds[comma] != COMMA for comma in range(first + 1, end, 2)):
        return None
    places = range(first, end, 2)
    names = tuple([emitter.token(place) for place in places if kinds[place] in IDENTIFIERS])
    return names if len(names) == len(places) == len(set(names)) else None


def _unpacking(emitter: Emitter, values: list[Any], at: int) -> None:  # tuple EQUAL test
    first, equal, _ = values[-3:]
    names = _distinct_names(emitter, first, equal)
    if names is None:
        from gradcli.lang.messages.refusals import bad_target

        raise bad_target(emitter, first, equal, at)
    del emitter.code[emitter.begin:emitter.begin + len(names)]
    emitter.code.append((c.UNPACK, names, *emitter.span(first, equal - 1)))
    emitter.finish(first, at, names)


def _loose_tuple(emitter: Emitter, values: list[Any], at: int) -> None:  # tuple | .. EQUAL tuple
    from gradcli.lang.messages.refusals import loose_tuple

    raise loose_tuple(emitter, values[-1], at)


def _augmented(emitter: Emitter, values: list[Any], at: int) -> None:  # test AUGMENTED test
    from gradcli.lang.messages.refusals import augmented

    raise augmented(emitter, values[-3], values[-2], values[-1], at)


def _declaration(emitter: Emitter, values: list[Any], at: int) -> None:
    # declarer ident type value attributes
    first, name, type_, value, attributes = values[-5:]
    keyword = emitter.token(first)
    spans = {"keyword": emitter.span(first, first), "name": emitter.span(name, name)}
    dtype = shape = None
    if type_ is not None:
        dtype, shape, spans["type"] = type_
    if value is not None:
        spans["value"] = value
    elif keyword != "input":
        from gradcli.lang.messages.refusals import missing_value

        raise missing_value(emitter, first, at)
    names = attribute_names(emitter, attributes, spans)
    declaration = c.Declaration(
        keyword, emitter.token(name), dtype, shape, value is not None, names, spans)
    emitter.code.append((c.DECLARE, declaration, *emitter.span(first, at - 1)))
    emitter.finish(first, at, (declaration.name,))


def _type(emitter: Emitter, values: list[Any], at: int) -> tuple[str, None, Span]:  # COLON ident
    return emitter.token(values[-1]), None, emitter.span(values[-1], at - 1)


def _scalar_type(emitter: Emitter, values: list[Any], at: int) -> tuple[str, tuple[()], Span]:
    # COLON ident LSQB RSQB
    return emitter.token(values[-3]), (), emitter.span(values[-3], at - 1)


def _shaped_type(emitter: Emitter, values: list[Any], at: int) -> tuple[str, tuple[Any, ...], Span]:
    # COLON ident LSQB dimensions RSQB
    return emitter.token(values[-4]), tuple(values[-2]), emitter.span(values[-4], at - 1)


def _size(emitter: Emitter, values: list[Any], at: int) -> int:  # NUMBER
    digits = emitter.token(at - 1)
    if not digits.isdecimal() or len(digits) > 15:
        from gradcli.lang.messages.refusals import bad_size

        raise bad_size(emitter, at - 1)
    return int(digits)


def _value(emitter: Emitter, values: list[Any], at: int) -> Span:  # EQUAL test
    return emitter.span(values[-1], at - 1)


def _next_attribute(emitter: Emitter, values: list[Any], at: int) -> list[tuple[int, int]]:
    # attributes COMMA ident EQUAL test
    attributes: list[tuple[int, int]] = values[-5]  # first and last token of each
    attributes.append((values[-3], at - 1))
    return attributes


def _in_blocks(name: str) -> Action:
    """Return an action of `blocks`, which is imported when it is needed."""
    def action(emitter: Emitter, values: list[Any], at: int) -> Any:
        from gradcli.lang.syntax.blocks import BLOCK_ACTIONS

        return BLOCK_ACTIONS[name](emitter, values, at)
    return action


STATEMENT_ACTIONS: dict[str, Action] = {
    "result": _result,
    "binding": _binding,
    "unpacking": _unpacking,
    "loose_tuple": _loose_tuple,
    "augmented": _augmented,
    "declaration": _declaration,
    "type": _type,
    "scalar_type": _scalar_type,
    "shaped_type": _shaped_type,
    "size": _size,
    "free": lambda emitter, values, at: None,
    "value": _value,
    "no_attributes": lambda emitter, values, at: [],
    "next_attribute": _next_attribute,
    **{name: _in_blocks(name) for name in (
        "block", "block_head", "break", "condition_head", "conditional", "continue",
        "decorated_function", "decorator", "decorator_of", "def_head", "expectation", "expected",
        "for_head", "forward_head", "function", "loop", "near", "no_parameters", "otherwise",
        "pass", "return_nothing", "return_values", "while_head")},
}


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
        machine = _machine or _make_machine()
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


def _make_machine() -> Machine:
    """Make the machine of programs, when the first text is parsed."""
    global _machine
    _machine = Machine(tables(), ACTIONS | STATEMENT_ACTIONS)
    return _machine
