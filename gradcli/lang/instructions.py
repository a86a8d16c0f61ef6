"""The rarer instructions: functions of the interpreter, the argument, the stack, the place and the
scope of the function that runs, if one does. What only programs need is imported when they do.
"""

from __future__ import annotations

from gradcli.errors import GradcliError, error
from gradcli.lang import code as c
from gradcli.lang.calls import as_tensor, call_numpy, call_operation
from gradcli.lang.declare import declared
from gradcli.lang.structures import attribute, bound, is_number, item, literal
from gradcli.lang.verbs import prime
from gradcli.ops.shapes import index as index_op
from gradcli.tape.tensor import core_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.code import Block, Declaration, Expectation, Function
    from gradcli.lang.interpreter import Interpreter

    Scope = dict[str, Any] | None
    Stack = list[Any]
    Instruction = Callable[[Interpreter, Any, Stack, Span, Scope], None]


def taken(stack: Stack, count: int) -> list[Any]:
    """The upper items of a stack, taken off it."""
    items = stack[len(stack) - count:]
    del stack[len(stack) - count:]
    return items


def _call(stack: Stack, arg: tuple[str, int, Sequence[str]]) -> tuple[list[Any], dict[str, Any]]:
    """The positional and the keyword arguments of a call, taken off the stack."""
    _, count, keywords = arg
    named = dict(zip(keywords, taken(stack, len(keywords)), strict=True))
    return taken(stack, count), named


def _list(run: Interpreter, arg: int, stack: Stack, span: Span, local: Scope) -> None:
    stack.append(literal(taken(stack, arg)))


def _dict(run: Interpreter, arg: int, stack: Stack, span: Span, local: Scope) -> None:
    items = taken(stack, 2 * arg)
    for key in items[::2]:
        if not isinstance(key, str):
            raise error("E0306", "a key of a dictionary must be a text", help='write {"w": w}')
    stack.append(dict(zip(items[::2], items[1::2], strict=True)))


def _index(run: Interpreter, arg: Sequence[str], stack: Stack, span: Span, local: Scope) -> None:
    """Pop the parts of an index and the object, push the element or slice."""
    parts: list[Any] = []
    values: list[Any] = []
    for part in reversed(arg):
        if part == "i":
            value = stack.pop()
            if value is None:
                parts.append(None)
            else:
                values.append(as_tensor(value) if isinstance(value, list) else value)
                parts.append("i")
        else:
            bounds = {letter: stack.pop() for letter in reversed(part[1:])}
            parts.append(slice(*[bound(bounds.get(letter)) for letter in "aos"]))
    parts.reverse()
    values.reverse()
    obj = stack.pop()
    at = run.at
    try:
        if isinstance(obj, (list, dict)):
            stack.append(item(obj, parts, values))
        else:
            stack.append(call_operation(index_op, [obj, *values], {"pattern": tuple(parts)}))
    except GradcliError as problem:
        if len(values) == len(parts):
            run.blame(problem, at, [obj, *values])
        raise
    if isinstance(obj, (list, dict)) and run.run.log is not None:
        run.run.log.pick(span, obj, stack[-1], values)


def _attribute(run: Interpreter, arg: str, stack: Stack, span: Span, local: Scope) -> None:
    stack[-1] = attribute(stack[-1], arg)


def _prime(run: Interpreter, arg: tuple[str, int, int], stack: Stack, span: Span, local: Scope
           ) -> None:
    name, order, count = arg
    points = taken(stack, count)
    at = run.at
    try:
        stack.append(prime(run, name, order, points, local))
    except GradcliError as problem:
        run.blame(problem, at, points)
        raise


def _unpack(run: Interpreter, arg: Sequence[str], stack: Stack, span: Span, local: Scope
            ) -> None:
    value = stack.pop()
    if isinstance(value, (list, tuple, range)):
        items = list(value)
    elif isinstance(value, dict):
        items = list(value.values())
    else:
        shape = core_shape(value) if is_number(value) else ()
        if not shape:
            raise error("E0307", "one value cannot be unpacked into several names",
                        help="give a list: [a, b]")
        items = [call_operation(index_op, [value], {"pattern": (k,)}) for k in range(shape[0])]
    if len(items) != len(arg):
        raise error("E0307", f"{len(arg)} names for {len(items)} values",
                    help="give each value a name")
    for name, value in zip(arg, items, strict=True):
        run.bind_value(name, value, span, local)


def _method(run: Interpreter, arg: tuple[str, int, Sequence[str]], stack: Stack, span: Span,
            local: Scope) -> None:
    from gradcli.lang.methods import call_method

    args, named = _call(stack, arg)
    obj = stack.pop()
    at = run.at
    try:
        stack.append(call_method(run, obj, arg[0], args, named))
    except GradcliError as problem:
        run.blame(problem, at, args, named)
        raise


def _numpy(run: Interpreter, arg: tuple[str, int, Sequence[str]], stack: Stack, span: Span,
           local: Scope) -> None:
    args, named = _call(stack, arg)
    at = run.at
    try:
        stack.append(call_numpy(arg[0], args, named))
    except GradcliError as problem:
        run.blame(problem, at, args, named)
        raise


def _iterate(run: Interpreter, arg: None, stack: Stack, span: Span, local: Scope) -> None:
    from gradcli.lang.blocks import iterated

    stack.append(iterated(run, stack.pop()))


def _expect(run: Interpreter, arg: Expectation, stack: Stack, span: Span, local: Scope) -> None:
    from gradcli.lang.expectations import checked

    attributes = dict(zip(arg.attributes, taken(stack, len(arg.attributes)), strict=True))
    operands = taken(stack, 2 if arg.operator else 1)
    run.run.expects.append(checked(arg, operands, attributes, span))


def _declare(run: Interpreter, arg: Declaration, stack: Stack, span: Span, local: Scope) -> None:
    attributes = dict(zip(arg.attributes, taken(stack, len(arg.attributes)), strict=True))
    declared(run, arg, stack.pop() if arg.has_value else None, attributes, local)
    run.run.last = arg.name if arg.keyword != "input" else run.run.last


def _define(run: Interpreter, arg: Function, stack: Stack, span: Span, local: Scope) -> None:
    if arg.decorator == "gradient_of":
        from gradcli.lang.rules import register

        register(run, arg, local)
    elif local is not None:
        # Brackets keep the functions of a scope apart from its values.
        local[arg.name + "()"] = arg
    else:
        run.run.defined.setdefault(arg.name, (arg.start, arg.end))
        run.run.functions[arg.name] = arg


def enter(run: Interpreter, arg: Block, stack: Stack, local: Scope) -> Any:
    """Open a block: what has to be closed at its end."""
    from gradcli.lang.blocks import entered

    return entered(run, arg, stack, local)


RARE: dict[int, Instruction] = {
    c.LIST: _list, c.DICT: _dict, c.INDEX: _index, c.ATTRIBUTE: _attribute, c.PRIME: _prime,
    c.UNPACK: _unpack, c.METHOD: _method, c.NUMPY: _numpy, c.ITERATE: _iterate, c.EXPECT: _expect,
    c.DECLARE: _declare, c.DEFINE: _define,
}
