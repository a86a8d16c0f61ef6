"""The rarer instructions, and the comparisons of `expect`.

An instruction takes the interpreter, its argument, the stack, the span and the scope of the
function that runs, if one does. Modules that only some programs need are imported when they do.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.engine.record.tensor import core_shape, value_of
from gradcli.lang.running.calls import (
    NoGradient,
    as_tensor,
    attribute,
    bound,
    call_numpy,
    call_operation,
    is_number,
    item,
    literal,
    mapped,
    one_of,
    truth,
)
from gradcli.lang.running.declare import declare
from gradcli.lang.running.run import Expect
from gradcli.lang.running.verbs import prime
from gradcli.lang.syntax import code as c
from gradcli.ops import PUBLIC
from gradcli.ops.table.shapes import index as index_op
from gradcli.ops.values import SCALAR_TYPES, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Block, Declaration, Expectation, Function

    Scope = dict[str, Any] | None
    Stack = list[Any]
    Instruction = Callable[[Running, Any, Stack, Span, Scope], None]


def pop_items(stack: Stack, count: int) -> list[Any]:
    """Remove the upper `count` items from a stack and return them."""
    items = stack[len(stack) - count:]
    del stack[len(stack) - count:]
    return items


def _call(stack: Stack, arg: tuple[str, int, Sequence[str]]) -> tuple[list[Any], dict[str, Any]]:
    """Remove the positional and the keyword arguments of a call from the stack and return them."""
    _, count, keywords = arg
    named = dict(zip(keywords, pop_items(stack, len(keywords)), strict=True))
    return pop_items(stack, count), named


def _list(run: Running, arg: int, stack: Stack, span: Span, local: Scope) -> None:
    stack.append(literal(pop_items(stack, arg)))


def _dict(run: Running, arg: int, stack: Stack, span: Span, local: Scope) -> None:
    items = pop_items(stack, 2 * arg)
    for key in items[::2]:
        if not isinstance(key, str):
            raise error("E0306", "a key of a dictionary must be a text", help='write {"w": w}')
    stack.append(dict(zip(items[::2], items[1::2], strict=True)))


def _index(run: Running, arg: Sequence[str], stack: Stack, span: Span, local: Scope) -> None:
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


def _attribute(run: Running, arg: str, stack: Stack, span: Span, local: Scope) -> None:
    stack[-1] = attribute(stack[-1], arg)


def _prime(run: Running, arg: tuple[str, int, int], stack: Stack, span: Span, local: Scope
           ) -> None:
    name, order, count = arg
    points = pop_items(stack, count)
    at = run.at
    try:
        stack.append(prime(run, name, order, points, local))
    except GradcliError as problem:
        run.blame(problem, at, points)
        raise


def _unpack(run: Running, arg: Sequence[str], stack: Stack, span: Span, local: Scope
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


def _method(run: Running, arg: tuple[str, int, Sequence[str]], stack: Stack, span: Span,
            local: Scope) -> None:
    from gradcli.lang.running.recording import call_method

    args, named = _call(stack, arg)
    obj = stack.pop()
    at = run.at
    try:
        stack.append(call_method(run, obj, arg[0], args, named))
    except GradcliError as problem:
        run.blame(problem, at, args, named)
        raise


def _numpy(run: Running, arg: tuple[str, int, Sequence[str]], stack: Stack, span: Span,
           local: Scope) -> None:
    args, named = _call(stack, arg)
    at = run.at
    try:
        stack.append(call_numpy(arg[0], args, named))
    except GradcliError as problem:
        run.blame(problem, at, args, named)
        raise


def _iterate(run: Running, arg: None, stack: Stack, span: Span, local: Scope) -> None:
    stack.append(_iterated(run, stack.pop()))


def _expect(run: Running, arg: Expectation, stack: Stack, span: Span, local: Scope) -> None:
    attributes = dict(zip(arg.attributes, pop_items(stack, len(arg.attributes)), strict=True))
    operands = pop_items(stack, 2 if arg.operator else 1)
    run.run.expects.append(checked(arg, operands, attributes, span))


def _declare(run: Running, arg: Declaration, stack: Stack, span: Span, local: Scope) -> None:
    attributes = dict(zip(arg.attributes, pop_items(stack, len(arg.attributes)), strict=True))
    declare(run, arg, stack.pop() if arg.has_value else None, attributes, local)
    run.run.last = arg.name if arg.keyword != "input" else run.run.last


def _define(run: Running, arg: Function, stack: Stack, span: Span, local: Scope) -> None:
    if arg.decorator == "gradient_of":
        from gradcli.lang.running.rules import register

        register(run, arg, local)
    elif local is not None:
        # Brackets keep the functions of a scope apart from its values.
        local[arg.name + "()"] = arg
    else:
        run.run.defined.setdefault(arg.name, (arg.start, arg.end))
        run.run.functions[arg.name] = arg


def enter(run: Running, arg: Block, stack: Stack, local: Scope) -> Any:
    """Open a block; return the object to close at its end."""
    from gradcli.lang.running.recording import entered

    return entered(run, arg, stack, local)


RARE: dict[int, Instruction] = {
    c.LIST: _list, c.DICT: _dict, c.INDEX: _index, c.ATTRIBUTE: _attribute, c.PRIME: _prime,
    c.UNPACK: _unpack, c.METHOD: _method, c.NUMPY: _numpy, c.ITERATE: _iterate, c.EXPECT: _expect,
    c.DECLARE: _declare, c.DEFINE: _define,
}


# --------------------------------------------------------------------------------------------------
# `expect a == b`, `expect a ~= b, rtol=1e-9`, `expect c`: checks that a program makes itself.

# Default tolerances of `~=`: relative, and absolute for numbers close to 0.
RTOL, ATOL = 1e-9, 1e-12


def checked(expectation: Expectation, operands: Sequence[Any], attributes: Mapping[str, Any],
            span: Span) -> Expect:
    """Compare the operands of an `expect`: all elements of arrays and all items of structures.

    None equals only none, and NaN equals NaN. Raises E0208 for an attribute that does not exist,
    E0311 for a value that is neither true nor false.
    """
    allowed = ("rtol", "atol") if expectation.operator == "near" else ()
    for name in attributes:
        if name not in allowed:
            raise GradcliError(Diagnostic(
                "E0208", f"this `expect` has no attribute `{name}`",
                span=expectation.spans[f"{name} name"],
                help=one_of(name, allowed) if allowed else "rtol and atol belong to ~="))
    if not expectation.operator:
        value = _settled(operands[0])
        return Expect(span, truth(value), value, None)
    left, right = [_settled(o) for o in operands]
    if expectation.operator in ("equal", "near", "not_equal"):
        near = expectation.operator == "near"
        rtol = _tolerance(expectation, attributes, "rtol", RTOL) if near else 0.0
        atol = _tolerance(expectation, attributes, "atol", ATOL) if near else 0.0
        holds = same(left, right, rtol, atol) != (expectation.operator == "not_equal")
        return Expect(span, holds, left, right)
    value = value_of(call_operation(PUBLIC[expectation.operator], [left, right], {}))
    return Expect(span, bool(value.all()) if hasattr(value, "all") else bool(value), left, right)


def _tolerance(expectation: Expectation, attributes: Mapping[str, Any], name: str, default: float
               ) -> float:
    """Return a tolerance; raise E0306 for anything but a number from 0 up."""
    value = value_of(attributes.get(name, default))
    if type(value) not in (int, float) or not value >= 0.0:
        raise GradcliError(Diagnostic(
            "E0306", f"`{name}` is a number, 0 or more", span=expectation.spans[f"{name} value"],
            help=f"such as {name}={default}"))
    return float(value)


def _settled(value: Any) -> Any:
    """Return a value without tensors; a gradient that is None becomes None."""
    return mapped(value, lambda one: None if isinstance(one, NoGradient) else value_of(one))


def same(left: Any, right: Any, rtol: float, atol: float) -> bool:
    """Return whether two settled values agree in structure, shape and numbers."""
    if isinstance(left, dict) or isinstance(right, dict):
        return (isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys()
                and all(same(left[k], right[k], rtol, atol) for k in left))
    if isinstance(left, list) or isinstance(right, list):
        a, b = _items(left), _items(right)
        return (a is not None and b is not None and len(a) == len(b)
                and all(same(x, y, rtol, atol) for x, y in zip(a, b, strict=True)))
    if left is None or right is None or isinstance(left, str) or isinstance(right, str):
        return type(left) is type(right) and bool(left == right)
    if not is_number(left) or not is_number(right):
        return left is right
    if type(left) in SCALAR_TYPES and type(right) in SCALAR_TYPES:
        if left == right or (left != left and right != right):
            return True
        return bool(abs(left - right) <= atol + rtol * abs(right) < float("inf"))
    from gradcli.base.lazy import np

    if shape_of(left) != shape_of(right):
        return False
    return bool(np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=True))


def _items(value: Any) -> list[Any] | None:
    """Return a list's items, or the rows of an array. Raises E0301 for a value without items."""
    if isinstance(value, list):
        return value
    if hasattr(value, "tolist") and shape_of(value):
        return list(value)
    raise error("E0301", "a list is compared with what has no items",
                help="give both sides the same structure")


def _iterated(run: Running, value: Any) -> Iterator[Any]:
    """Return an iterator over a list's items, a dictionary's keys, a range or a tensor's rows.

    Raises E0317 for a value without items.
    """
    if isinstance(value, (list, range, tuple)):
        items: Any = value
        count: int | None = len(value)
    elif isinstance(value, dict):
        items, count = list(value), len(value)
    elif not is_number(value) or isinstance(value_of(value), str):
        raise error("E0317", "there is nothing to loop over",
                    help="give range(10), a list or a tensor")
    else:
        shape = core_shape(value)
        if not shape:
            whole = value_of(value)
            n = int(whole) if whole == whole // 1 else 10
            raise error("E0317", "one number has no items to loop over", help=f"write range({n})")
        count = shape[0]
        items = (call_operation(index_op, [as_tensor(value)], {"pattern": (k,)})
                 for k in range(count))
    if run.progress is not None and not run.looping:
        run.looping += 1
        return iter(_watched(run, run.progress(items, count)))
    return iter(items)


def _watched(run: Running, items: Any) -> Iterator[Any]:
    try:
        yield from items
    finally:
        run.looping -= 1
