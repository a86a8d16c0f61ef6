"""What a rule of program.lark does when it is reduced; see actions.py for the contract.

A statement outside of blocks takes the code that was emitted since the one before it; within blocks
the code stays where it is, in one list in the order of the text. The left side of a binding was
read as an expression; its loads stand first in the statement's code and are left out. What opens
and closes blocks is in `block_actions`, which is imported when a text has one.
"""

from __future__ import annotations

from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.expressions import distinct
from gradcli.lang.syntax.lexer import COMMA, IDENTIFIERS, LPAR, RPAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.expressions import Action
    from gradcli.lang.syntax.parser import Parser


def finish(parser: Parser, first: int, at: int, names: tuple[str, ...] = ()) -> None:
    """End a simple statement, whose code is complete."""
    code = parser.code
    if parser.blocks:
        parser.begin = len(code)
        for name in names:
            parser.names[name] = None
    else:
        parser.statements.append(c.Statement(code[:], *parser.span(first, at - 1), names))
        code.clear()


def _result(parser: Parser, values: list[Any], at: int) -> None:  # test
    first: int = values[-1]
    start, end = parser.span(first, at - 1)
    opcode = c.RESULT
    last, argument, last_start, last_end = parser.code[-1]
    without_result = ((last == c.METHOD and argument[0] in WITHOUT_RESULT)
                      or (last == c.CALL and argument[0] in ("print", "watch")))
    if ((without_result and (last_start, last_end) == (start, end))
            or (parser.blocks and parser.blocks[-1].inside)):
        opcode = c.POP
    parser.code.append((opcode, None, start, end))
    finish(parser, first, at)


# Methods that are called for what they do.
WITHOUT_RESULT = frozenset(("assign", "assign_add", "assign_sub", "watch", "reset"))


def _binding(parser: Parser, values: list[Any], at: int) -> None:  # test EQUAL test
    first, equal, _ = values[-3:]
    code, begin = parser.code, parser.begin
    if equal == first + 1 and parser.kinds[first] in IDENTIFIERS:
        name = parser.token(first)
        del code[begin]
        code.append((c.BIND, name, *parser.span(first, first)))
        finish(parser, first, at, (name,))
        return
    parameters = _parameters(parser, first, equal)
    if parameters is None:
        from gradcli.lang.messages.refusals import bad_target

        raise bad_target(parser, first, equal, at)
    name = parser.token(first)
    body = code[begin + len(parameters) + 1:]  # behind the left side, read as a call
    function = c.Function(name, parameters, body, *parser.span(first, at - 1))
    code[begin:] = [(c.DEFINE, function, function.start, function.end)]
    finish(parser, first, at, (name,))


def _parameters(parser: Parser, first: int, equal: int) -> tuple[str, ...] | None:
    """The names in `f(x, y)`; None if the tokens up to `equal` are anything else."""
    kinds = parser.kinds
    if (kinds[first] not in IDENTIFIERS or kinds[first + 1] != LPAR or kinds[equal - 1] != RPAR):
        return None
    return _distinct_names(parser, first + 2, equal - 1)


def _distinct_names(parser: Parser, first: int, end: int) -> tuple[str, ...] | None:
    """The names in `x, y`, each different; None if the tokens are anything else."""
    kinds = parser.kinds
    if any(kinds[comma] != COMMA for comma in range(first + 1, end, 2)):
        return None
    places = range(first, end, 2)
    names = tuple([parser.token(place) for place in places if kinds[place] in IDENTIFIERS])
    return names if len(names) == len(places) == len(set(names)) else None


def _unpacking(parser: Parser, values: list[Any], at: int) -> None:  # tuple EQUAL test
    first, equal, _ = values[-3:]
    names = _distinct_names(parser, first, equal)
    if names is None:
        from gradcli.lang.messages.refusals import bad_target

        raise bad_target(parser, first, equal, at)
    del parser.code[parser.begin:parser.begin + len(names)]
    parser.code.append((c.UNPACK, names, *parser.span(first, equal - 1)))
    finish(parser, first, at, names)


def _loose_tuple(parser: Parser, values: list[Any], at: int) -> None:  # tuple | .. EQUAL tuple
    from gradcli.lang.messages.refusals import loose_tuple

    raise loose_tuple(parser, values[-1], at)


def _augmented(parser: Parser, values: list[Any], at: int) -> None:  # test AUGMENTED test
    from gradcli.lang.messages.refusals import augmented

    raise augmented(parser, values[-3], values[-2], values[-1], at)


def _declaration(parser: Parser, values: list[Any], at: int) -> None:
    # declarer ident type value attributes
    first, name, type_, value, attributes = values[-5:]
    keyword = parser.token(first)
    spans = {"keyword": parser.span(first, first), "name": parser.span(name, name)}
    dtype = shape = None
    if type_ is not None:
        dtype, shape, spans["type"] = type_
    if value is not None:
        spans["value"] = value
    elif keyword != "input":
        from gradcli.lang.messages.refusals import missing_value

        raise missing_value(parser, first, at)
    names = attribute_names(parser, attributes, spans)
    declaration = c.Declaration(
        keyword, parser.token(name), dtype, shape, value is not None, names, spans)
    parser.code.append((c.DECLARE, declaration, *parser.span(first, at - 1)))
    finish(parser, first, at, (declaration.name,))


def attribute_names(parser: Parser, attributes: list[tuple[int, int]], spans: dict[str, Span]
                    ) -> tuple[str, ...]:
    """The names of attributes, whose places are put into `spans`; raises E0102 for a repeated one.
    """
    names = distinct(parser, [attribute for attribute, _ in attributes])
    for attribute, last in attributes:
        name = parser.token(attribute)
        spans[name] = parser.span(attribute, last)
        spans[f"{name} name"] = parser.span(attribute, attribute)
        spans[f"{name} value"] = parser.span(attribute + 2, last)
    return names


def _type(parser: Parser, values: list[Any], at: int) -> tuple[str, None, Span]:  # COLON ident
    return parser.token(values[-1]), None, parser.span(values[-1], at - 1)


def _scalar_type(parser: Parser, values: list[Any], at: int) -> tuple[str, tuple[()], Span]:
    # COLON ident LSQB RSQB
    return parser.token(values[-3]), (), parser.span(values[-3], at - 1)


def _shaped_type(parser: Parser, values: list[Any], at: int) -> tuple[str, tuple[Any, ...], Span]:
    # COLON ident LSQB dimensions RSQB
    return parser.token(values[-4]), tuple(values[-2]), parser.span(values[-4], at - 1)


def _size(parser: Parser, values: list[Any], at: int) -> int:  # NUMBER
    digits = parser.token(at - 1)
    if not digits.isdecimal() or len(digits) > 15:
        from gradcli.lang.messages.refusals import bad_size

        raise bad_size(parser, at - 1)
    return int(digits)


def _value(parser: Parser, values: list[Any], at: int) -> Span:  # EQUAL test
    return parser.span(values[-1], at - 1)


def _next_attribute(parser: Parser, values: list[Any], at: int) -> list[tuple[int, int]]:
    # attributes COMMA ident EQUAL test
    attributes: list[tuple[int, int]] = values[-5]  # first and last token of each
    attributes.append((values[-3], at - 1))
    return attributes


def _in_blocks(name: str) -> Action:
    """An action of `block_actions`."""
    def action(parser: Parser, values: list[Any], at: int) -> Any:
        from gradcli.lang.syntax.blocks import BLOCK_ACTIONS

        return BLOCK_ACTIONS[name](parser, values, at)
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
    "free": lambda parser, values, at: None,
    "value": _value,
    "no_attributes": lambda parser, values, at: [],
    "next_attribute": _next_attribute,
    **{name: _in_blocks(name) for name in (
        "block", "block_head", "break", "condition_head", "conditional", "continue",
        "decorated_function", "decorator", "decorator_of", "def_head", "expectation", "expected",
        "for_head", "forward_head", "function", "loop", "near", "no_parameters", "otherwise",
        "pass", "return_nothing", "return_values", "while_head")},
}
