"""Actions for the rules of program.lark about blocks and their statements; `expressions` has the
contract.

A head opens a block: it emits the code that precedes the block and puts an `OpenBlock` on
`emitter.blocks`. The whole statement closes it. Code stays in one list in the order of the text, so
a block costs nothing but its jumps, which get their lengths when it is closed; only the code of a
`def` is moved, once, into its Function.
"""

from __future__ import annotations

from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.code import OpenBlock
from gradcli.lang.syntax.expressions import attribute_names, distinct
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Emitter
    from gradcli.lang.syntax.expressions import Action

# The heads that bound the search for the loop of a `break`.
_BOUNDS = frozenset((WHILE, FOR, DEF))
# Blocks that ENTER opens and EXIT closes.
ENTERED = frozenset((TAPE, FORWARD, STOP_RECORDING, RESUME))
COMPARISONS = {EQUAL_EQUAL: "equal", NOT_EQUAL: "not_equal", LESS: "less",
               LESS_EQUAL: "less_equal", GREATER: "greater", GREATER_EQUAL: "greater_equal"}


def _open(emitter: Emitter, values: list[Any], size: int) -> OpenBlock:
    """Open a block at the reduction of its head, a rule of `size` symbols."""
    first = values[-size]
    keyword = emitter.kinds[first]
    inside = keyword == DEF or (bool(emitter.blocks) and emitter.blocks[-1].inside)
    opened = OpenBlock(keyword, first, len(values) - size, inside, emitter.begin)
    emitter.blocks.append(opened)
    return opened


def _begin(emitter: Emitter) -> None:
    """Mark the end of a head: the code that follows is the block's."""
    emitter.begin = len(emitter.code)


def _end(emitter: Emitter, first: int, at: int) -> None:
    """End a statement with a block, which is closed and whose code is complete."""
    code = emitter.code
    if emitter.blocks:
        emitter.begin = len(code)
    else:
        emitter.statements.append(
            c.Statement(code[:], *_whole(emitter, first, at), tuple(emitter.names)))
        emitter.begin = 0
        emitter.names = {}
        code.clear()


def _whole(emitter: Emitter, first: int, at: int) -> Span:
    """Return the span from token `first` to the end of the last line before token `at`."""
    last = at - 1
    while emitter.kinds[last] in (NEWLINE, DEDENT):
        last -= 1
    return emitter.span(first, last)


def _emit(emitter: Emitter, opcode: int, argument: Any, span: Span) -> int:
    """Emit an instruction; return its index in the code."""
    emitter.code.append((opcode, argument, *span))
    return len(emitter.code) - 1


def _land(emitter: Emitter, place: int, target: int) -> None:
    """Set the length of the jump at index `place` so that it leads to the instruction `target`."""
    opcode, argument, start, end = emitter.code[place]
    length = target - place - 1
    emitter.code[place] = (
        opcode, (length, argument[1]) if opcode == c.LEAVE else length, start, end)


# ---- if, while, for -------------------------------------------------------------------------


def _condition_head(emitter: Emitter, values: list[Any], at: int) -> int:
    # IF test COLON | elif test COLON
    first, test, _ = values[-3:]
    opened = _open(emitter, values, 3) if emitter.kinds[first] == IF else emitter.blocks[-1]
    opened.pending = _emit(emitter, c.JUMP_IF_FALSE, 0, emitter.span(test, at - 2))
    _begin(emitter)
    return int(first)


def _otherwise(emitter: Emitter, values: list[Any], at: int) -> int:  # ELIF | ELSE COLON
    """End a branch: jump over the others, and let the condition before it jump here if false."""
    opened = emitter.blocks[-1]
    word = at - 1 if emitter.kinds[at - 1] == ELIF else at - 2
    opened.jumps.append(_emit(emitter, c.JUMP, 0, emitter.span(word, word)))
    _land(emitter, opened.pending, len(emitter.code))
    opened.pending = -1
    _begin(emitter)
    return word


def _conditional(emitter: Emitter, values: list[Any], at: int) -> None:
    # branches | branches else_head suite
    opened = emitter.blocks.pop()
    jumps = opened.jumps if opened.pending < 0 else [*opened.jumps, opened.pending]
    for place in jumps:
        _land(emitter, place, len(emitter.code))
    _end(emitter, opened.first, at)


def _while_head(emitter: Emitter, values: list[Any], at: int) -> None:  # WHILE test COLON
    opened = _open(emitter, values, 3)  # it starts with its condition, which has been emitted
    opened.pending = _emit(emitter, c.JUMP_IF_FALSE, 0, emitter.span(values[-2], at - 2))
    _begin(emitter)


def _for_head(emitter: Emitter, values: list[Any], at: int) -> None:  # FOR names IN test COLON
    targets, _, items, _ = values[-4:]
    names = distinct(emitter, targets, "variables of the loop")
    opened = _open(emitter, values, 5)
    _emit(emitter, c.ITERATE, None, emitter.span(items, at - 2))
    span = emitter.span(targets[0], targets[-1])
    opened.start = opened.pending = _emit(emitter, c.NEXT, 0, span)
    if len(names) == 1:
        _emit(emitter, c.BIND, names[0], span)
    else:
        _emit(emitter, c.UNPACK, names, span)
    emitter.names.update(dict.fromkeys(names))
    _begin(emitter)


def _loop(emitter: Emitter, values: list[Any], at: int) -> None:
    # while_head suite | for_head suite
    opened = emitter.blocks.pop()
    word = emitter.span(opened.first, opened.first)
    place = _emit(emitter, c.JUMP, 0, word)
    _land(emitter, place, opened.start)
    for jump in opened.jumps:
        _land(emitter, jump, len(emitter.code))
    if opened.keyword == FOR and opened.jumps:
        _emit(emitter, c.POP, None, word)  # the iterator, which `break` has left
    _land(emitter, opened.pending, len(emitter.code))
    _end(emitter, opened.first, at)


def _leave_loop(back: bool) -> Action:  # BREAK | CONTINUE
    def action(emitter: Emitter, values: list[Any], at: int) -> None:
        entered = 0
        loop = None
        for opened in reversed(emitter.blocks):
            if opened.keyword in _BOUNDS:
                loop = opened if opened.keyword != DEF else None
                break
            entered += opened.keyword in ENTERED
        if loop is None:
            _misplaced(emitter, at - 1)
            return
        opcode, argument = (c.LEAVE, (0, entered)) if entered else (c.JUMP, 0)
        place = _emit(emitter, opcode, argument, emitter.span(at - 1, at - 1))
        if back:
            _land(emitter, place, loop.start)
        else:
            loop.jumps.append(place)
        emitter.finish(at - 1, at)
    return action


def _misplaced(emitter: Emitter, word: int) -> None:
    """Raise E0113, unless an earlier error may have hidden the head that is missing."""
    if not emitter.cautious:
        from gradcli.lang.messages.refusals import misplaced

        in_function = bool(emitter.blocks) and emitter.blocks[-1].inside
        raise misplaced(emitter, word, in_function)


def _pass(emitter: Emitter, values: list[Any], at: int) -> None:  # PASS
    """Do nothing: `pass` is not even a statement."""


# ---- functions --------------------------------------------------------------------------------


def _def_head(emitter: Emitter, values: list[Any], at: int) -> None:
    # DEF ident LPAR parameters RPAR COLON
    name, _, places = values[-5:-2]
    parameters = distinct(emitter, places, "parameters")
    opened = _open(emitter, values, 6)
    opened.names, emitter.names = emitter.names, {}
    opened.data = emitter.token(name), parameters, emitter.span(opened.first, at - 2)
    _begin(emitter)


def _function(decorated: bool) -> Action:  # [decorator] def_head suite
    def action(emitter: Emitter, values: list[Any], at: int) -> None:
        opened = emitter.blocks.pop()
        name, parameters, head = opened.data
        code = emitter.code
        body = code[opened.start:]
        whole = _whole(emitter, opened.first, at)
        function = c.Function(name, parameters, body, *whole, block=True)
        emitter.names = opened.names
        emitter.names[name] = None
        first = opened.first
        if decorated:
            first, function.decorator, function.operation, function.decorated = values[-3]
            if function.decorator == "custom_gradient" and not emitter.cautious:
                inner = [ins[1] for ins in body if ins[0] == c.DEFINE]
                if "grad" not in [one.name for one in inner]:
                    from gradcli.lang.messages.refusals import no_rule

                    raise no_rule(emitter, function, head, inner)
        code[opened.start:] = [(c.DEFINE, function, *head)]
        _end(emitter, first, at)
    return action


def _decorator(of: int) -> Action:  # AT ident [LPAR ident RPAR] NEWLINE
    """Return an action for a decorator. of: number of symbols that name the operation."""
    def action(emitter: Emitter, values: list[Any], at: int) -> tuple[int, str, str, Span]:
        first: int = values[-3 - of]
        name = emitter.token(values[-2 - of])
        if name != ("gradient_of" if of else "custom_gradient"):
            from gradcli.lang.messages.refusals import bad_decorator

            raise bad_decorator(emitter, first, at - 1)
        return first, name, emitter.token(values[-3]) if of else "", emitter.span(first, at - 2)
    return action


def _return_nothing(emitter: Emitter, values: list[Any], at: int) -> None:  # RETURN
    _emit(emitter, c.PUSH, None, emitter.span(at - 1, at - 1))
    _return(emitter, at - 1, at)


def _return_values(emitter: Emitter, values: list[Any], at: int) -> None:  # RETURN tests
    word, count = values[-2:]
    if count > 1:
        _emit(emitter, c.LIST, count, emitter.span(word + 1, at - 1))
    _return(emitter, word, at)


def _return(emitter: Emitter, word: int, at: int) -> None:
    if not emitter.blocks or not emitter.blocks[-1].inside:
        _misplaced(emitter, word)
        return
    _emit(emitter, c.RETURN, None, emitter.span(word, at - 1))
    emitter.finish(word, at)


# ---- tapes and their kin ----------------------------------------------------------------------


def _enter(emitter: Emitter, values: list[Any], at: int, size: int, arguments: int) -> None:
    name, attributes = emitter.token(values[1 - size]), values[-2]
    opened = _open(emitter, values, size)
    head = emitter.span(opened.first, at - 1)
    spans = {"name": emitter.span(values[1 - size], values[1 - size]), "head": head}
    keyword = emitter.token(opened.first)
    block = opened.data = c.Block(
        keyword, name, arguments, attribute_names(emitter, attributes, spans), spans)
    if opened.keyword in (TAPE, FORWARD):
        emitter.names[name] = None
    _emit(emitter, c.ENTER, block, head)
    _begin(emitter)


def _block_head(emitter: Emitter, values: list[Any], at: int) -> None:
    # block_word ident attributes COLON
    _enter(emitter, values, at, 4, 0)


def _forward_head(emitter: Emitter, values: list[Any], at: int) -> None:
    # FORWARD ident LPAR arguments RPAR attributes COLON
    count, keywords = values[-4]
    if count != 2 or keywords:
        from gradcli.lang.messages.refusals import bad_accumulator

        raise bad_accumulator(emitter, values[-7], at)
    _enter(emitter, values, at, 7, count)


def _block(emitter: Emitter, values: list[Any], at: int) -> None:  # block_head suite
    opened = emitter.blocks.pop()
    block = opened.data
    block.spans["block"] = _whole(emitter, opened.first, at)
    _emit(emitter, c.EXIT, block, block.spans["head"])
    _end(emitter, opened.first, at)


# ---- expect -----------------------------------------------------------------------------------


def _expected(emitter: Emitter, values: list[Any], at: int) -> tuple[str, dict[str, Span]]:  # test
    """Leave both sides of a comparison on the stack if the whole test is one; return its operation,
    or "", and the spans of its parts.
    """
    first = values[-1]
    opcode, operation, *span = emitter.code[-1]
    if (opcode != c.BINARY or operation not in COMPARISONS.values()
            or tuple(span) != emitter.span(first, at - 1)):
        return "", {"value": emitter.span(first, at - 1)}
    emitter.code.pop()
    depth = 0
    for operator in range(first, at):
        kind = emitter.kinds[operator]
        depth += (kind in OPENING) - (kind in CLOSING)
        if not depth and kind in COMPARISONS:
            break
    return operation, {"left": emitter.span(first, operator - 1),
                       "right": emitter.span(operator + 1, at - 1)}


def _near(emitter: Emitter, values: list[Any], at: int) -> tuple[str, dict[str, Span]]:
    # sum NEAR sum
    left, operator, right = values[-3:]
    return "near", {"left": emitter.span(left, operator - 1), "right": emitter.span(right, at - 1)}


def _expectation(emitter: Emitter, values: list[Any], at: int) -> None:
    # EXPECT expected attributes
    word, (operator, spans), attributes = values[-3:]
    names = attribute_names(emitter, attributes, spans)
    _emit(emitter, c.EXPECT, c.Expectation(operator, names, spans), emitter.span(word, at - 1))
    emitter.finish(word, at)


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
    "no_parameters": lambda emitter, values, at: [],
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
