"""What a rule of expression.lark does when it is reduced: emit code, hand on a value.

An action is given the parser, the stack of values (`values[-1]` belongs to the rule's last symbol)
and the number of the next token; the comment beside it is its rule. The value that it returns is
the number of the new symbol's first token, or what the rule that takes it needs (a count, names).
An alias of the grammar that is not here and not in `statement_actions` names an operation.
"""

from __future__ import annotations

from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.lexer import (
    AT,
    CIRCUMFLEX,
    DOUBLE_SLASH,
    IDENTIFIERS,
    LPAR,
    MINUS,
    PERCENT,
    PI,
    PLUS,
    PRIMED,
    SLASH,
    SQRT,
    SUPERSCRIPTS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.lang.syntax.code import Code
    from gradcli.lang.syntax.parser import Parser

    Action = Callable[[Parser, list[Any], int], Any]


def _name(parser: Parser, values: list[Any], at: int) -> int:  # ident
    at -= 1
    start, end = parser.starts[at], parser.ends[at]
    parser.code.append((c.LOAD, parser.text[start:end], start, end))
    return at


def _number(parser: Parser, values: list[Any], at: int) -> int:  # NUMBER
    at -= 1
    start, end = parser.starts[at], parser.ends[at]
    parser.code.append((c.PUSH, float(parser.text[start:end]), start, end))
    return at


def _constant(opcode: int, value: str | bool | None) -> Action:  # PI | TRUE | FALSE | NONE
    def action(parser: Parser, values: list[Any], at: int) -> int:
        parser.code.append((opcode, value, *parser.span(at - 1, at - 1)))
        return at - 1
    return action


def _string(parser: Parser, values: list[Any], at: int) -> int:  # STRING
    inside = parser.token(at - 1)[1:-1]
    if "\\" in inside:
        from gradcli.lang.syntax.escapes import unescaped

        inside = unescaped(inside, parser.starts[at - 1] + 1)
    parser.code.append((c.PUSH, inside, *parser.span(at - 1, at - 1)))
    return at - 1


def _coefficient(parser: Parser, values: list[Any], at: int) -> int:  # literal named_power
    number, base = values[-2:]
    kinds = parser.kinds
    before = number - 1  # the token in front of the number and its signs tells the number's role
    while kinds[before] in _SIGNS:
        before -= 1
    if (kinds[before] in AMBIGUOUS_AFTER or kinds[base] not in _MULTIPLIED
            or is_malformed_number(parser, number, base)):
        from gradcli.lang.messages.refusals import bad_coefficient

        raise bad_coefficient(parser, values, before, at)
    parser.code.append((c.BINARY, "multiply", *parser.span(number, at - 1)))
    return int(number)


_SIGNS = (PLUS, MINUS)
AMBIGUOUS_AFTER = frozenset((SLASH, DOUBLE_SLASH, PERCENT, AT, CIRCUMFLEX))
_MULTIPLIED = IDENTIFIERS | {LPAR, PRIMED, PI, SQRT}


def is_malformed_number(parser: Parser, number: int, base: int) -> bool:
    """Whether number and name look like one number written wrong: `2e`, `0x10`, `1_000`."""
    if parser.ends[number] != parser.starts[base] or parser.kinds[base] not in IDENTIFIERS:
        return False
    name = parser.token(base).lower()
    if name[0] == "_":
        return name[1:].isdecimal()
    if parser.token(number) == "0" and name[0] in _FOREIGN_DIGITS and len(name) > 1:
        return not name[1:].strip(_FOREIGN_DIGITS[name[0]])
    return name == "e"


_FOREIGN_DIGITS = {"x": "0123456789abcdef", "o": "01234567", "b": "01"}


def _superscript(parser: Parser, values: list[Any], at: int) -> int:  # literal|postfix SUPERSCRIPT
    first: int = values[-2]
    exponent = float(parser.token(at - 1).translate(_PLAIN_DIGITS))
    parser.code.append((c.PUSH, exponent, *parser.span(at - 1, at - 1)))
    parser.code.append((c.BINARY, "power", *parser.span(first, at - 1)))
    return first


_PLAIN_DIGITS = str.maketrans("⁻" + SUPERSCRIPTS, "-0123456789")


def _root(parser: Parser, values: list[Any], at: int) -> int:  # SQRT radicand
    first: int = values[-2]
    parser.code.append((c.CALL, ("sqrt", 1, ()), *parser.span(first, at - 1)))
    return first


def _ambiguous_root(root: int) -> Action:  # root CIRCUMFLEX unary | root SUPERSCRIPT
    def action(parser: Parser, values: list[Any], at: int) -> int:
        from gradcli.lang.messages.refusals import ambiguous_root

        raise ambiguous_root(parser, values[root], values[root + 1], at)
    return action


def _call(parser: Parser, values: list[Any], at: int) -> int:  # ident LPAR arguments RPAR
    first: int = values[-4]
    count, names = values[-2]
    parser.code.append((c.CALL, (parser.token(first), count, names), *parser.span(first, at - 1)))
    return first


def _prime(parser: Parser, values: list[Any], at: int) -> int:  # PRIMED LPAR arguments RPAR
    first: int = values[-4]
    count, names = values[-2]
    if names:
        from gradcli.lang.messages.refusals import prime_keywords

        raise prime_keywords(parser, first, at)
    primed = parser.token(first)
    name = primed.rstrip("'")
    parser.code.append(
        (c.PRIME, (name, len(primed) - len(name), count), *parser.span(first, at - 1)))
    return first


def _method(parser: Parser, values: list[Any], at: int) -> int:
    # postfix DOT ident LPAR arguments RPAR
    first: int = values[-6]
    count, names = values[-2]
    opcode = c.METHOD
    if values[-5] == first + 1 and parser.token(first) == "np":
        opcode = c.NUMPY
        del parser.code[_emitted_since(parser.code, parser.starts[first])]
    parser.code.append(
        (opcode, (parser.token(values[-4]), count, names), *parser.span(first, at - 1)))
    return first


def _attribute(parser: Parser, values: list[Any], at: int) -> int:  # postfix DOT ident
    first: int = values[-3]
    name = parser.token(at - 1)
    if at == first + 3 and parser.token(first) == "np":
        if name not in _NUMPY_CONSTANTS:
            from gradcli.lang.messages.refusals import no_numpy_constant

            raise no_numpy_constant(parser, first, at)
        parser.code[-1] = (c.PUSH, _NUMPY_CONSTANTS[name], *parser.span(first, at - 1))
        return first
    parser.code.append((c.ATTRIBUTE, name, *parser.span(first, at - 1)))
    return first


_NUMPY_CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "inf": float("inf"),
                    "nan": float("nan")}


def _index(parser: Parser, values: list[Any], at: int) -> int:  # postfix LSQB items RSQB
    first: int = values[-4]
    parser.code.append((c.INDEX, tuple(values[-2]), *parser.span(first, at - 1)))
    return first


def _collection(opcode: int) -> Action:  # LSQB tests comma RSQB | LBRACE pairs comma RBRACE
    def action(parser: Parser, values: list[Any], at: int) -> int:
        first: int = values[-4]
        parser.code.append((opcode, values[-3], *parser.span(first, at - 1)))
        return first
    return action


def _empty(opcode: int) -> Action:  # LSQB RSQB | LBRACE RBRACE
    def action(parser: Parser, values: list[Any], at: int) -> int:
        first: int = values[-2]
        parser.code.append((opcode, 0, *parser.span(first, at - 1)))
        return first
    return action


# ---- jumps ----------------------------------------------------------------------------------
# A jump is emitted where it stands, before its length is known; its argument is the number of the
# whole expression's first token until `_jump_over` replaces it. The value is the jump's place.


def _short_circuit(opcode: int) -> Action:  # disjunction OR | conjunction AND
    def action(parser: Parser, values: list[Any], at: int) -> int:
        first: int = values[-2]
        parser.code.append((opcode, first, *parser.span(first, at - 2)))
        return len(parser.code) - 1
    return action


def _choice(parser: Parser, values: list[Any], at: int) -> int:  # disjunction IF disjunction ELSE
    """Put the condition, which was emitted second, in front of the value."""
    code, starts = parser.code, parser.starts
    first, condition_if, condition, _ = values[-4:]
    middle = _emitted_since(code, starts[condition_if])
    begin = _emitted_since(code, starts[first])
    value_code, condition_code = code[begin:middle], code[middle:]
    code[begin:] = [
        *condition_code,
        (c.JUMP_IF_FALSE, len(value_code) + 1, *parser.span(condition, at - 2)),
        *value_code,
        (c.JUMP, first, *parser.span(first, at - 1)),
    ]
    return len(code) - 1


def _emitted_since(code: Code, start: int) -> int:
    """Where the code of the text from offset `start` begins; older code is of text before it."""
    place = len(code)
    while place and code[place - 1][2] >= start:
        place -= 1
    return place


def _jump_over(parser: Parser, values: list[Any], at: int) -> int:
    # choice test | either conjunction | both inversion
    place: int = values[-2]
    opcode, first, start, end = parser.code[place]
    parser.code[place] = (opcode, len(parser.code) - place - 1, start, end)
    return int(first)


# ---- lists of things --------------------------------------------------------------------------


def _arguments(count: int, keywords: int) -> Action:
    """`count` and `keywords` are where these values lie on the stack; 0: there are none."""
    def action(parser: Parser, values: list[Any], at: int) -> tuple[int, tuple[str, ...]]:
        names = distinct(parser, values[keywords]) if keywords else ()
        return values[count] if count else 0, names
    return action


def distinct(parser: Parser, keywords: list[int]) -> tuple[str, ...]:
    """The names of keyword arguments, given by their tokens; raises E0102 for a repeated one."""
    names = tuple([parser.token(keyword) for keyword in keywords])
    if len(set(names)) < len(names):
        from gradcli.lang.messages.refusals import repeated_keyword

        raise repeated_keyword(parser, keywords)
    return names


def _next_item(parser: Parser, values: list[Any], at: int) -> list[Any]:  # .. COMMA ..
    items: list[Any] = values[-3]
    items.append(values[-1])
    return items


def _slice(stop: int, step: int) -> Action:  # bound COLON bound [COLON bound]
    def action(parser: Parser, values: list[Any], at: int) -> str:
        parts = (("a", values[stop - 2]), ("o", values[stop]), ("s", step and values[step]))
        return ":" + "".join(letter for letter, present in parts if present)
    return action


ACTIONS: dict[str, Action] = {
    "name": _name,
    "number": _number,
    "pi": _constant(c.LOAD, "pi"),
    "true": _constant(c.PUSH, True),
    "false": _constant(c.PUSH, False),
    "none": _constant(c.PUSH, None),
    "string": _string,
    "coefficient": _coefficient,
    "superscript": _superscript,
    "root": _root,
    "ambiguous_root": _ambiguous_root(-3),
    "ambiguous_superscript": _ambiguous_root(-2),
    "call": _call,
    "prime": _prime,
    "method": _method,
    "attribute": _attribute,
    "index": _index,
    "list": _collection(c.LIST),
    "dict": _collection(c.DICT),
    "empty_list": _empty(c.LIST),
    "empty_dict": _empty(c.DICT),
    "either": _short_circuit(c.OR),
    "both": _short_circuit(c.AND),
    "choice": _choice,
    "jump_over": _jump_over,
    "no_arguments": _arguments(0, 0),
    "positional_arguments": _arguments(-2, 0),
    "keyword_arguments": _arguments(0, -2),
    "mixed_arguments": _arguments(-4, -2),
    "one": lambda parser, values, at: 1,
    "one_more": lambda parser, values, at: values[-3] + 1,
    "first_item": lambda parser, values, at: [values[-1]],
    "next_item": _next_item,
    "single": lambda parser, values, at: "i",
    "slice": _slice(-1, 0),
    "stepped_slice": _slice(-3, -1),
    "absent": lambda parser, values, at: False,
    "present": lambda parser, values, at: True,
}
