"""Actions for the rules of expression.lark: each emits code when its rule is reduced.

An action is given the emitter, the stack of values (`values[-1]` belongs to the rule's last symbol)
and the number of the next token; the comment beside it is its rule. The value that it returns is
the number of the new symbol's first token, or what the rule that takes it needs (a count, names).
An alias of the grammar that is neither here nor in `statements` names an operation.
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

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Code, Emitter

    Action = Callable[[Emitter, list[Any], int], Any]


def _name(emitter: Emitter, values: list[Any], at: int) -> int:  # ident
    at -= 1
    start, end = emitter.starts[at], emitter.ends[at]
    emitter.code.append((c.LOAD, emitter.text[start:end], start, end))
    return at


def _number(emitter: Emitter, values: list[Any], at: int) -> int:  # NUMBER
    at -= 1
    start, end = emitter.starts[at], emitter.ends[at]
    emitter.code.append((c.PUSH, float(emitter.text[start:end]), start, end))
    return at


def _constant(opcode: int, value: str | bool | None) -> Action:  # PI | TRUE | FALSE | NONE
    def action(emitter: Emitter, values: list[Any], at: int) -> int:
        emitter.code.append((opcode, value, *emitter.span(at - 1, at - 1)))
        return at - 1
    return action


def _string(emitter: Emitter, values: list[Any], at: int) -> int:  # STRING
    inside = emitter.token(at - 1)[1:-1]
    if "\\" in inside:
        from gradcli.lang.syntax.escapes import unescaped

        inside = unescaped(inside, emitter.starts[at - 1] + 1)
    emitter.code.append((c.PUSH, inside, *emitter.span(at - 1, at - 1)))
    return at - 1


def _coefficient(emitter: Emitter, values: list[Any], at: int) -> int:  # literal named_power
    number, base = values[-2:]
    kinds = emitter.kinds
    before = number - 1  # the token in front of the number and its signs tells the number's role
    while kinds[before] in _SIGNS:
        before -= 1
    if _is_malformed_number(emitter, number, base):
        from gradcli.lang.messages.refusals import malformed_number

        raise malformed_number(emitter, number, base, at)
    if kinds[before] in _AMBIGUOUS_AFTER or kinds[base] not in _MULTIPLIED:
        from gradcli.lang.messages.refusals import bad_coefficient

        # The left operand lies below the operator, the signs and these two.
        left = values[before - number - 3] if kinds[before] in _AMBIGUOUS_AFTER else -1
        raise bad_coefficient(emitter, left, before, number, base, at)
    emitter.code.append((c.BINARY, "multiply", *emitter.span(number, at - 1)))
    return int(number)


_SIGNS = (PLUS, MINUS)
_AMBIGUOUS_AFTER = frozenset((SLASH, DOUBLE_SLASH, PERCENT, AT, CIRCUMFLEX))
_MULTIPLIED = IDENTIFIERS | {LPAR, PRIMED, PI, SQRT}


def _is_malformed_number(emitter: Emitter, number: int, base: int) -> bool:
    """Return whether number and name look like one number written wrong: `2e`, `0x10`, `1_000`."""
    if emitter.ends[number] != emitter.starts[base] or emitter.kinds[base] not in IDENTIFIERS:
        return False
    name = emitter.token(base).lower()
    if name[0] == "_":
        return name[1:].isdecimal()
    if emitter.token(number) == "0" and name[0] in _FOREIGN_DIGITS and len(name) > 1:
        return not name[1:].strip(_FOREIGN_DIGITS[name[0]])
    return name == "e"


_FOREIGN_DIGITS = {"x": "0123456789abcdef", "o": "01234567", "b": "01"}


def _superscript(emitter: Emitter, values: list[Any], at: int) -> int:
    # literal|postfix SUPERSCRIPT
    first: int = values[-2]
    exponent = float(emitter.token(at - 1).translate(_PLAIN_DIGITS))
    emitter.code.append((c.PUSH, exponent, *emitter.span(at - 1, at - 1)))
    emitter.code.append((c.BINARY, "power", *emitter.span(first, at - 1)))
    return first


_PLAIN_DIGITS = str.maketrans("⁻" + SUPERSCRIPTS, "-0123456789")


def _root(emitter: Emitter, values: list[Any], at: int) -> int:  # SQRT radicand
    first: int = values[-2]
    emitter.code.append((c.CALL, ("sqrt", 1, ()), *emitter.span(first, at - 1)))
    return first


def _ambiguous_root(root: int) -> Action:  # root CIRCUMFLEX unary | root SUPERSCRIPT
    def action(emitter: Emitter, values: list[Any], at: int) -> int:
        from gradcli.lang.messages.refusals import ambiguous_root

        raise ambiguous_root(emitter, values[root], values[root + 1], at)
    return action


def _call(emitter: Emitter, values: list[Any], at: int) -> int:  # ident LPAR arguments RPAR
    first: int = values[-4]
    count, names = values[-2]
    name = emitter.token(first)
    emitter.code.append((c.CALL, (name, count, names), *emitter.span(first, at - 1)))
    return first


def _prime(emitter: Emitter, values: list[Any], at: int) -> int:  # PRIMED LPAR arguments RPAR
    first: int = values[-4]
    count, names = values[-2]
    if names:
        from gradcli.lang.messages.refusals import prime_keywords

        raise prime_keywords(emitter, first, at)
    primed = emitter.token(first)
    name = primed.rstrip("'")
    emitter.code.append(
        (c.PRIME, (name, len(primed) - len(name), count), *emitter.span(first, at - 1)))
    return first


def _method(emitter: Emitter, values: list[Any], at: int) -> int:
    # postfix DOT ident LPAR arguments RPAR
    first: int = values[-6]
    count, names = values[-2]
    opcode = c.METHOD
    if values[-5] == first + 1 and emitter.token(first) == "np":
        opcode = c.NUMPY
        del emitter.code[_emitted_since(emitter.code, emitter.starts[first])]
    emitter.code.append(
        (opcode, (emitter.token(values[-4]), count, names), *emitter.span(first, at - 1)))
    return first


def _attribute(emitter: Emitter, values: list[Any], at: int) -> int:  # postfix DOT ident
    first: int = values[-3]
    name = emitter.token(at - 1)
    if at == first + 3 and emitter.token(first) == "np":
        if name not in _NUMPY_CONSTANTS:
            from gradcli.lang.messages.refusals import no_numpy_constant

            raise no_numpy_constant(emitter, first, at)
        emitter.code[-1] = (c.PUSH, _NUMPY_CONSTANTS[name], *emitter.span(first, at - 1))
        return first
    emitter.code.append((c.ATTRIBUTE, name, *emitter.span(first, at - 1)))
    return first


_NUMPY_CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "inf": float("inf"),
                    "nan": float("nan")}


def _index(emitter: Emitter, values: list[Any], at: int) -> int:  # postfix LSQB items RSQB
    first: int = values[-4]
    emitter.code.append((c.INDEX, tuple(values[-2]), *emitter.span(first, at - 1)))
    return first


def _collection(opcode: int) -> Action:  # LSQB tests comma RSQB | LBRACE pairs comma RBRACE
    def action(emitter: Emitter, values: list[Any], at: int) -> int:
        first: int = values[-4]
        emitter.code.append((opcode, values[-3], *emitter.span(first, at - 1)))
        return first
    return action


def _empty(opcode: int) -> Action:  # LSQB RSQB | LBRACE RBRACE
    def action(emitter: Emitter, values: list[Any], at: int) -> int:
        first: int = values[-2]
        emitter.code.append((opcode, 0, *emitter.span(first, at - 1)))
        return first
    return action


# ---- jumps ----------------------------------------------------------------------------------
# A jump is emitted where it stands, before its length is known; its argument is the number of the
# whole expression's first token until `_jump_over` replaces it. The value is the jump's place.


def _short_circuit(opcode: int) -> Action:  # disjunction OR | conjunction AND
    def action(emitter: Emitter, values: list[Any], at: int) -> int:
        first: int = values[-2]
        emitter.code.append((opcode, first, *emitter.span(first, at - 2)))
        return len(emitter.code) - 1
    return action


def _choice(emitter: Emitter, values: list[Any], at: int) -> int:  # disjunction IF disjunction ELSE
    """Move the condition, which was emitted second, in front of the value."""
    code, starts = emitter.code, emitter.starts
    first, condition_if, condition, _ = values[-4:]
    middle = _emitted_since(code, starts[condition_if])
    begin = _emitted_since(code, starts[first])
    value_code, condition_code = code[begin:middle], code[middle:]
    code[begin:] = [
        *condition_code,
        (c.JUMP_IF_FALSE, len(value_code) + 1, *emitter.span(condition, at - 2)),
        *value_code,
        (c.JUMP, first, *emitter.span(first, at - 1)),
    ]
    return len(code) - 1


def _emitted_since(code: Code, start: int) -> int:
    """Return the index at which the code of the text from offset `start` begins."""
    place = len(code)
    while place and code[place - 1][2] >= start:
        place -= 1
    return place


def _jump_over(emitter: Emitter, values: list[Any], at: int) -> int:
    # choice test | either conjunction | both inversion
    place: int = values[-2]
    opcode, first, start, end = emitter.code[place]
    emitter.code[place] = (opcode, len(emitter.code) - place - 1, start, end)
    return int(first)


# ---- lists of things --------------------------------------------------------------------------


def _arguments(count: int, keywords: int) -> Action:
    """Return an action for arguments; count, keywords: their stack positions, 0 for none."""
    def action(emitter: Emitter, values: list[Any], at: int) -> tuple[int, tuple[str, ...]]:
        names = distinct(emitter, values[keywords]) if keywords else ()
        return values[count] if count else 0, names
    return action


def distinct(emitter: Emitter, places: list[int], what: str = "") -> tuple[str, ...]:
    """Return the names of tokens. Raises E0102 for a repeated keyword argument, E0107 for another
    name that occurs twice; what: their kind.
    """
    names = tuple([emitter.token(place) for place in places])
    if len(set(names)) < len(names):
        from gradcli.lang.messages.refusals import repeated_name

        raise repeated_name(emitter, places, what)
    return names


def attribute_names(emitter: Emitter, attributes: list[tuple[int, int]], spans: dict[str, Span]
                    ) -> tuple[str, ...]:
    """Return attribute names; put their spans into `spans`. Raises E0102 for a repeated one."""
    names = distinct(emitter, [attribute for attribute, _ in attributes])
    for attribute, last in attributes:
        name = emitter.token(attribute)
        spans[name] = emitter.span(attribute, last)
        spans[f"{name} name"] = emitter.span(attribute, attribute)
        spans[f"{name} value"] = emitter.span(attribute + 2, last)
    return names


def _next_item(emitter: Emitter, values: list[Any], at: int) -> list[Any]:  # .. COMMA ..
    items: list[Any] = values[-3]
    items.append(values[-1])
    return items


def _slice(stop: int, step: int) -> Action:  # bound COLON bound [COLON bound]
    def action(emitter: Emitter, values: list[Any], at: int) -> str:
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
    "one": lambda emitter, values, at: 1,
    "one_more": lambda emitter, values, at: values[-3] + 1,
    "first_item": lambda emitter, values, at: [values[-1]],
    "next_item": _next_item,
    "single": lambda emitter, values, at: "i",
    "slice": _slice(-1, 0),
    "stepped_slice": _slice(-3, -1),
    "absent": lambda emitter, values, at: False,
    "present": lambda emitter, values, at: True,
}
