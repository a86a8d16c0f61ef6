"""The parser of answers: the exported table of `answer.lark`, driven by a loop that emits flat
code.

The machine, the kind of loop and the instructions are those of programs
(`gradcli.lang.syntax.grammar`, `parser`, `code`). The loop is not: answers have no statements and
no empty rules, and half of their rules are numbers and names, which are emitted in the loop itself.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper import written
from gradcli.lang.paper.tokens import KIND_NAMES, TWO
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.grammar import Machine, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.lang.paper.tokens import AnswerTokens
    from gradcli.lang.syntax.code import Code
    from gradcli.lang.syntax.export import Tables

    Action = Callable[["AnswerParser", list[Any], int], Any]

GRAMMARS = ("answer.lark",)
INFINITY = float("inf")
FACTORIAL = "factorial"  # no operation: `parts` makes a number or gammas of it
MODULE = "gradcli.lang.paper._tables"

# Functions that have a sign; an answer that names them means the same.
SIGNS = frozenset(("add", "subtract", "multiply", "divide", "power"))


class AnswerParser:
    """The tokens of an answer while they are parsed, and the code so far."""

    __slots__ = ("code", "ends", "starts", "words")

    def __init__(self, tokens: AnswerTokens) -> None:
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.words = tokens.words
        self.code: Code = []


def parse(tokens: AnswerTokens) -> Code:
    """Return the code of an answer; it leaves one value on the stack.

    Raises E0715 (arguments of a function), E0718 (lists) and E0721 (a token that does not fit).
    """
    machine = _machine or _make_machine()
    rows, rules, jumps, jump = machine.rows, machine.rules, machine.jumps, machine.jump
    parser = AnswerParser(tokens)
    kinds, starts, ends, words = tokens.kinds, tokens.starts, tokens.ends, tokens.words
    code = parser.code
    emit = code.append
    states, values = [1], []
    state, at = 1, 0
    kind = kinds[0]
    while True:
        step = rows[state].get(kind, 0)
        if step > 0:
            if kind == t.END:
                return code
            state = step
            states.append(state)
            values.append(at)
            at += 1
            kind = kinds[at]
            continue
        if not step:
            from gradcli.lang.paper.refusals import unexpected

            raise unexpected(tokens, at, rows[state])
        symbol, size, action = rules[-step]
        if action == "number":
            value = float(words[at - 1].replace(",", "."))
            if value == INFINITY:
                from gradcli.lang.paper.refusals import too_large

                raise too_large((starts[at - 1], ends[at - 1]))
            emit((c.PUSH, value, starts[at - 1], ends[at - 1]))
        elif action == "name":
            emit((c.LOAD, words[at - 1], starts[at - 1], ends[at - 1]))
        else:
            if action.__class__ is str:
                emit((c.BINARY if size == 3 else c.UNARY, action,
                      starts[values[-size]], ends[at - 1]))
            elif action is not None:
                values[-size] = action(parser, values, at)
            if size > 1:
                del values[1 - size:]
                del states[1 - size:]
        key = states[-2] << 16 | symbol << 8 | kind
        state = jumps.get(key) or jump(key)
        states[-1] = state


def _bars(parser: AnswerParser, values: list[Any], at: int) -> int:  # BAR_OPEN sum BAR_CLOSE
    first: int = values[-3]
    parser.code.append((c.CALL, ("abs", 1, ()), parser.starts[first], parser.ends[at - 1]))
    return first


def _factorial(parser: AnswerParser, values: list[Any], at: int) -> int:  # atom FACTORIAL
    name = "radians" if parser.words[at - 1] else FACTORIAL      # 30°
    parser.code.append((c.CALL, (name, 1, ()), parser.starts[at - 1], parser.ends[at - 1]))
    return int(values[-2])


def _call(parser: AnswerParser, values: list[Any], at: int) -> int:  # FUNCTION LPAR items RPAR
    first, _, count, _ = values[-4:]
    name = parser.words[first]
    span = parser.starts[first], parser.ends[at - 1]
    if name in written.NAMES and written.emit(parser.code, name, count, span):
        return int(first)
    wanted = 2 if name in TWO else 1
    if count > 2 and name in ("maximum", "minimum"):
        parser.code += [(c.CALL, (name, 2, ()), *span)] * (count - 2)
        count = 2
    if count != wanted:
        raise error("E0715", f"`{name}` takes {wanted} argument{'s' * (wanted > 1)}, not {count}",
                    span, help=f"write {name}({'a, b' if wanted > 1 else 'x'})")
    if name in SIGNS:
        parser.code.append((c.BINARY, name, *span))
    elif name == "negative":
        parser.code.append((c.UNARY, name, *span))
    elif name != "positive":
        parser.code.append((c.CALL, (name, count, ()), *span))
    return int(first)


def _exponent_begin(parser: AnswerParser, values: list[Any], at: int) -> tuple[int, int]:
    return values[-1], len(parser.code)


def _exponent_end(parser: AnswerParser, values: list[Any], at: int) -> tuple[int, int, int]:
    return (*values[-2], len(parser.code))


def _powered_call(parser: AnswerParser, values: list[Any], at: int) -> int:  # powered LPAR sum RPAR
    first, begin, end = values[-4]
    code = parser.code
    span = parser.starts[first], parser.ends[at - 1]
    exponent = code[begin:end]
    code[begin:end] = []
    name = parser.words[first]
    if name not in written.NAMES or not written.emit(code, name, 1, span):
        if name in TWO:
            raise error("E0715", f"`{name}` takes 2 arguments, not 1", span,
                        help=f"write {name}(a, b)")
        if name != "positive":
            code.append((c.CALL, (name, 1, ()), *span) if name != "negative"
                        else (c.UNARY, name, *span))
    code.extend(exponent)
    code.append((c.BINARY, "power", *span))
    return int(first)


def _based_call(parser: AnswerParser, values: list[Any], at: int) -> int:  # based LPAR sum RPAR
    first, begin, end = values[-4]
    code = parser.code
    span = parser.starts[first], parser.ends[at - 1]
    base = code[begin:end]
    code[begin:end] = []
    if len(base) == 1 and base[0][1] in (2.0, 10.0, "e"):
        name = {2.0: "log2", 10.0: "log10", "e": "log"}[base[0][1]]
        code.append((c.CALL, (name, 1, ()), *span))
        return int(first)
    code.append((c.CALL, ("log", 1, ()), *span))
    code.extend(base)
    code.append((c.CALL, ("log", 1, ()), base[0][2], base[-1][3]))
    code.append((c.BINARY, "divide", *span))
    return int(first)


# LSQB items RSQB | LSQB rows RSQB
def _list(parser: AnswerParser, values: list[Any], at: int) -> int:
    first: int = values[-3]
    parser.code.append((c.LIST, values[-2], parser.starts[first], parser.ends[at - 1]))
    return first


def _row(parser: AnswerParser, values: list[Any], at: int) -> int:  # items
    # A row of one is a component: [a; b] is a vector.
    count: int = values[-1]
    if count > 1:
        code = parser.code
        parser.code.append((c.LIST, count, code[-1][2], code[-1][3]))
    return count


def _one(parser: AnswerParser, values: list[Any], at: int) -> int:
    return 1


def _two(parser: AnswerParser, values: list[Any], at: int) -> int:
    return 2


def _one_more(parser: AnswerParser, values: list[Any], at: int) -> int:
    count: int = values[-3]
    return count + 1


ACTIONS: dict[str, Action] = {
    "bars": _bars, "call": _call, "powered_call": _powered_call, "based_call": _based_call,
    "exponent_begin": _exponent_begin, "exponent_end": _exponent_end, "list": _list, "row": _row,
    "one": _one, "two": _two, "one_more": _one_more, "factorial": _factorial,
}

_loaded: Tables | None = None
_machine: Machine | None = None


def tables() -> Tables:
    """Return the tables of `answer.lark`; the same object every time."""
    global _loaded
    if _loaded is None:
        _loaded = load(MODULE, GRAMMARS, KIND_NAMES)
    return _loaded


def _make_machine() -> Machine:
    """Make the machine of answers, when the first one is parsed."""
    global _machine
    _machine = Machine(tables(), ACTIONS)
    return _machine
