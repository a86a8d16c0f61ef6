"""What a rule of program.lark for blocks and their statements does; actions.py has the contract.

A head opens a block: it emits what stands in front of it and puts an `Open` on `parser.blocks`.
The whole statement closes it. Code stays in one list in the order of the text, so a block costs
nothing but its jumps, which get their lengths when it is closed; only the code of a `def` is moved,
once, into its Function.
"""

from __future__ import annotations

from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.lexer import (
    CLOSING,
    DEDENT,
    DEF,
    ELIF,
    EQUAL_EQUAL,
    FOR,
    FORWARD,
    GREATER,
    GREATER_EQUAL,
    IF,
    LESS,
    LESS_EQUAL,
    NEWLINE,
    NOT_EQUAL,
    OPENING,
    RESUME,
    STOP_RECORDING,
    TAPE,
    WHILE,
)
from gradcli.lang.syntax.statements import attribute_names, finish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.expressions import Action
    from gradcli.lang.syntax.parser import Parser

# What `break` cannot look beyond.
_BOUNDS = frozenset((WHILE, FOR, DEF))
# Blocks that ENTER opens and EXIT closes.
ENTERED = frozenset((TAPE, FORWARD, STOP_RECORDING, RESUME))
COMPARISONS = {EQUAL_EQUAL: "equal", NOT_EQUAL: "not_equal", LESS: "less",
               LESS_EQUAL: "less_equal", GREATER: "greater", GREATER_EQUAL: "greater_equal"}


class Open:
    """A block whose end has not been read.

    keyword: the kind of its first token, `first`. depth: where the value of its head lies on the
    parser's stack. inside: whether it is (in) a `def`. start: where in the code a loop goes on, or
    that of a function begins. pending: the place of the conditional jump that has no length yet;
    jumps: those of the jumps to the end. names: those bound outside of a `def`. data: the Block, or
    the function's name and parameters.
    """

    __slots__ = ("data", "depth", "first", "inside", "jumps", "keyword", "names", "pending",
                 "start")

    def __init__(self, keyword: int, first: int, depth: int, inside: bool, start: int) -> None:
        self.keyword = keyword
        self.first = first
        self.depth = depth
        self.inside = inside
        self.start = start
        self.pending = -1
        self.jumps: list[int] = []
        self.names: dict[str, None] = {}
        self.data: Any = None


def _open(parser: Parser, values: list[Any], size: int) -> Open:
    """Open a block at the reduction of its head, a rule of `size` symbols."""
    first = values[-size]
    keyword = parser.kinds[first]
    inside = keyword == DEF or (bool(parser.blocks) and parser.blocks[-1].inside)
    opened = Open(keyword, first, len(values) - size, inside, parser.begin)
    parser.blocks.append(opened)
    return opened


def _begin(parser: Parser) -> None:
    """The head is complete: what comes is the block's."""
    parser.begin = len(parser.code)


def _end(parser: Parser, first: int, at: int) -> None:
    """End a statement with a block, which is closed and whose code is complete."""
    code = parser.code
    if parser.blocks:
        parser.begin = len(code)
    else:
        parser.statements.append(
            c.Statement(code[:], *_whole(parser, first, at), tuple(parser.names)))
        parser.begin = 0
        parser.names = {}
        code.clear()


def _whole(parser: Parser, first: int, at: int) -> Span:
    """From token `first` to the end of the last line before token `at`."""
    last = at - 1
    while parser.kinds[last] in (NEWLINE, DEDENT):
        last -= 1
    return parser.span(first, last)


def _emit(parser: Parser, opcode: int, argument: Any, span: Span) -> int:
    """Emit an instruction; its place."""
    parser.code.append((opcode, argument, *span))
    return len(parser.code) - 1


def _land(parser: Parser, place: int, target: int) -> None:
    """The jump at `place` leads to the instruction `target`."""
    opcode, argument, start, end = parser.code[place]
    length = target - place - 1
    parser.code[place] = (
        opcode, (length, argument[1]) if opcode == c.LEAVE else length, start, end)


# ---- if, while, for -------------------------------------------------------------------------


def _condition_head(parser: Parser, values: list[Any], at: int) -> int:
    # IF test COLON | elif test COLON
    first, test, _ = values[-3:]
    opened = _open(parser, values, 3) if parser.kinds[first] == IF else parser.blocks[-1]
    opened.pending = _emit(parser, c.JUMP_IF_FALSE, 0, parser.span(test, at - 2))
    _begin(parser)
    return int(first)


def _otherwise(parser: Parser, values: list[Any], at: int) -> int:  # ELIF | ELSE COLON
    """End a branch: a jump over the others, to where the condition before it jumps if false."""
    opened = parser.blocks[-1]
    word = at - 1 if parser.kinds[at - 1] == ELIF else at - 2
    opened.jumps.append(_emit(parser, c.JUMP, 0, parser.span(word, word)))
    _land(parser, opened.pending, len(parser.code))
    opened.pending = -1
    _begin(parser)
    return word


def _conditional(parser: Parser, values: list[Any], at: int) -> None:
    # branches | branches else_head suite
    opened = parser.blocks.pop()
    jumps = opened.jumps if opened.pending < 0 else [*opened.jumps, opened.pending]
    for place in jumps:
        _land(parser, place, len(parser.code))
    _end(parser, opened.first, at)


def _while_head(parser: Parser, values: list[Any], at: int) -> None:  # WHILE test COLON
    opened = _open(parser, values, 3)  # it starts with its condition, which has been emitted
    opened.pending = _emit(parser, c.JUMP_IF_FALSE, 0, parser.span(values[-2], at - 2))
    _begin(parser)


def _for_head(parser: Parser, values: list[Any], at: int) -> None:  # FOR names IN test COLON
    targets, _, items, _ = values[-4:]
    names = _distinct_names(parser, targets, "variables of the loop")
    opened = _open(parser, values, 5)
    _emit(parser, c.ITERATE, None, parser.span(items, at - 2))
    span = parser.span(targets[0], targets[-1])
    opened.start = opened.pending = _emit(parser, c.NEXT, 0, span)
    if len(names) == 1:
        _emit(parser, c.BIND, names[0], span)
    else:
        _emit(parser, c.UNPACK, names, span)
    parser.names.update(dict.fromkeys(names))
    _begin(parser)


def _distinct_names(parser: Parser, places: list[int], what: str) -> tuple[str, ...]:
    """The names that tokens are; raises E0107 for one that stands twice."""
    names = tuple([parser.token(place) for place in places])
    if len(set(names)) < len(names):
        from gradcli.lang.messages.refusals import repeated_name

        raise repeated_name(parser, places, what)
    return names


def _loop(parser: Parser, values: list[Any], at: int) -> None:
    # while_head suite | for_head suite
    opened = parser.blocks.pop()
    word = parser.span(opened.first, opened.first)
    place = _emit(parser, c.JUMP, 0, word)
    _land(parser, place, opened.start)
    for jump in opened.jumps:
        _land(parser, jump, len(parser.code))
    if opened.keyword == FOR and opened.jumps:
        _emit(parser, c.POP, None, word)  # the iterator, which `break` has left
    _land(parser, opened.pending, len(parser.code))
    _end(parser, opened.first, at)


def _leave_loop(back: bool) -> Action:  # BREAK | CONTINUE
    def action(parser: Parser, values: list[Any], at: int) -> None:
        entered = 0
        loop = None
        for opened in reversed(parser.blocks):
            if opened.keyword in _BOUNDS:
                loop = opened if opened.keyword != DEF else None
                break
            entered += opened.keyword in ENTERED
        if loop is None:
            _misplaced(parser, at - 1)
            return
        opcode, argument = (c.LEAVE, (0, entered)) if entered else (c.JUMP, 0)
        place = _emit(parser, opcode, argument, parser.span(at - 1, at - 1))
        if back:
            _land(parser, place, loop.start)
        else:
            loop.jumps.append(place)
        finish(parser, at - 1, at)
    return action


def _misplaced(parser: Parser, word: int) -> None:
    """E0113, unless an earlier error may have hidden the head that is missing."""
    if not parser.cautious:
        from gradcli.lang.messages.refusals import misplaced

        raise misplaced(parser, word)


def _pass(parser: Parser, values: list[Any], at: int) -> None:  # PASS
    """Nothing, not even a statement."""


# ---- functions --------------------------------------------------------------------------------


def _def_head(parser: Parser, values: list[Any], at: int) -> None:
    # DEF ident LPAR parameters RPAR COLON
    name, _, places = values[-5:-2]
    parameters = _distinct_names(parser, places, "parameters")
    opened = _open(parser, values, 6)
    opened.names, parser.names = parser.names, {}
    opened.data = parser.token(name), parameters, parser.span(opened.first, at - 2)
    _begin(parser)


def _function(decorated: bool) -> Action:  # [decorator] def_head suite
    def action(parser: Parser, values: list[Any], at: int) -> None:
        opened = parser.blocks.pop()
        name, parameters, head = opened.data
        code = parser.code
        body = code[opened.start:]
        function = c.Function(name, parameters, body, *_whole(parser, opened.first, at), block=True)
        parser.names = opened.names
        parser.names[name] = None
        first = opened.first
        if decorated:
            first, function.decorator, function.operation, function.decorated = values[-3]
            if function.decorator == "custom_gradient" and not parser.cautious:
                inner = [ins[1] for ins in body if ins[0] == c.DEFINE]
                if "grad" not in [one.name for one in inner]:
                    from gradcli.lang.messages.refusals import no_rule

                    raise no_rule(parser, function, head, inner)
        code[opened.start:] = [(c.DEFINE, function, *head)]
        _end(parser, first, at)
    return action


def _decorator(of: int) -> Action:  # AT ident [LPAR ident RPAR] NEWLINE
    """of: how many symbols name the operation, with their brackets."""
    def action(parser: Parser, values: list[Any], at: int) -> tuple[int, str, str, Span]:
        first: int = values[-3 - of]
        name = parser.token(values[-2 - of])
        if name != ("gradient_of" if of else "custom_gradient"):
            from gradcli.lang.messages.refusals import bad_decorator

            raise bad_decorator(parser, first, at - 1)
        return first, name, parser.token(values[-3]) if of else "", parser.span(first, at - 2)
    return action


def _return_nothing(parser: Parser, values: list[Any], at: int) -> None:  # RETURN
    _emit(parser, c.PUSH, None, parser.span(at - 1, at - 1))
    _return(parser, at - 1, at)


def _return_values(parser: Parser, values: list[Any], at: int) -> None:  # RETURN tests
    word, count = values[-2:]
    if count > 1:
        _emit(parser, c.LIST, count, parser.span(word + 1, at - 1))
    _return(parser, word, at)


def _return(parser: Parser, word: int, at: int) -> None:
    if not parser.blocks or not parser.blocks[-1].inside:
        _misplaced(parser, word)
        return
    _emit(parser, c.RETURN, None, parser.span(word, at - 1))
    finish(parser, word, at)


# ---- tapes and their kin ----------------------------------------------------------------------


def _enter(parser: Parser, values: list[Any], at: int, size: int, arguments: int) -> None:
    name, attributes = parser.token(values[1 - size]), values[-2]
    opened = _open(parser, values, size)
    head = parser.span(opened.first, at - 1)
    spans = {"name": parser.span(values[1 - size], values[1 - size]), "head": head}
    keyword = parser.token(opened.first)
    block = opened.data = c.Block(
        keyword, name, arguments, attribute_names(parser, attributes, spans), spans)
    if opened.keyword in (TAPE, FORWARD):
        parser.names[name] = None
    _emit(parser, c.ENTER, block, head)
    _begin(parser)


def _block_head(parser: Parser, values: list[Any], at: int) -> None:
    # block_word ident attributes COLON
    _enter(parser, values, at, 4, 0)


def _forward_head(parser: Parser, values: list[Any], at: int) -> None:
    # FORWARD ident LPAR arguments RPAR attributes COLON
    count, keywords = values[-4]
    if count != 2 or keywords:
        from gradcli.lang.messages.refusals import bad_accumulator

        raise bad_accumulator(parser, values[-7], at)
    _enter(parser, values, at, 7, count)


def _block(parser: Parser, values: list[Any], at: int) -> None:  # block_head suite
    opened = parser.blocks.pop()
    block = opened.data
    block.spans["block"] = _whole(parser, opened.first, at)
    _emit(parser, c.EXIT, block, block.spans["head"])
    _end(parser, opened.first, at)


# ---- expect -----------------------------------------------------------------------------------


def _expected(parser: Parser, values: list[Any], at: int) -> tuple[str, dict[str, Span]]:  # test
    """Leave the two sides of a comparison on the stack, if the whole test is one."""
    first = values[-1]
    opcode, operation, *span = parser.code[-1]
    if (opcode != c.BINARY or operation not in COMPARISONS.values()
            or tuple(span) != parser.span(first, at - 1)):
        return "", {"value": parser.span(first, at - 1)}
    parser.code.pop()
    depth = 0
    for operator in range(first, at):
        kind = parser.kinds[operator]
        depth += (kind in OPENING) - (kind in CLOSING)
        if not depth and kind in COMPARISONS:
            break
    return operation, {"left": parser.span(first, operator - 1),
                       "right": parser.span(operator + 1, at - 1)}


def _near(parser: Parser, values: list[Any], at: int) -> tuple[str, dict[str, Span]]:
    # sum NEAR sum
    left, operator, right = values[-3:]
    return "near", {"left": parser.span(left, operator - 1), "right": parser.span(right, at - 1)}


def _expectation(parser: Parser, values: list[Any], at: int) -> None:
    # EXPECT expected attributes
    word, (operator, spans), attributes = values[-3:]
    names = attribute_names(parser, attributes, spans)
    _emit(parser, c.EXPECT, c.Expectation(operator, names, spans), parser.span(word, at - 1))
    finish(parser, word, at)


BLOCK_ACTIONS: dict[str, Action] = {
    "condition_head": _condition_head,
    "otherwise": _otherwise,
    "conditional": _conditional,
    "while_head": _while_head,
    "for_head": _for_head,
    "loop": _loop,
    "break": _leave_loop(back=False),
    "continue": _leave_loop(back=True),
    "pass": _pass,
    "def_head": _def_head,
    "no_parameters": lambda parser, values, at: [],
    "function": _function(decorated=False),
    "decorated_function": _function(decorated=True),
    "decorator": _decorator(0),
    "decorator_of": _decorator(3),
    "return_nothing": _return_nothing,
    "return_values": _return_values,
    "block_head": _block_head,
    "forward_head": _forward_head,
    "block": _block,
    "expected": _expected,
    "near": _near,
    "expectation": _expectation,
}
