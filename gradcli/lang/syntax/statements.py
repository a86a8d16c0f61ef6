"""Actions for the rules of program.lark about simple statements; `expressions` has the contract.

A statement outside of blocks takes the code that was emitted since the one before it; within blocks
the code stays where it is, in one list in the order of the text. The left side of a binding was
read as an expression; its loads stand first in the statement's code and are left out. Actions that
open and close blocks are in `blocks`, which is imported when a text has one.
"""

from __future__ import annotations

from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.expressions import attribute_names
from gradcli.lang.syntax.lexer import COMMA, IDENTIFIERS, LPAR, RPAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Emitter
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
