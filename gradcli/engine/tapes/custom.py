"""Gradients that the user writes: custom_gradient, register_gradient, recompute_grad.

A call of a custom function is one entry: an operation of its own, made for the call, whose rule is
the user's. The operations inside the function are recorded as usual, so that a rule may use their
results and be differentiated; only the derivative from the arguments to the result is the user's.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.record import fresh_id, place_in
from gradcli.engine.record.tensor import (
    Tensor,
    flatten,
    leaf,
    like,
    operand,
    record_operation,
    value_of,
)
from gradcli.engine.record.variable import Variable, plain_value
from gradcli.ops import lookup
from gradcli.ops.kinds import GENERAL, UNREGISTERED, Op
from gradcli.ops.rows import Unlisted
from gradcli.ops.table.discrete import cast_float
from gradcli.ops.table.shapes import index, rebatch, reshape, stack, unbatch
from gradcli.ops.values import dtype_of, is_float, shape_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.ops.values import Shape

class CustomOp(Unlisted):
    """One call of a custom function, as a row that only its own entry has.

    inner: ids of the values that the function returned, before the call made them its own.
    nones: the arguments that its rule gave no gradient, once it ran.
    place: where the rule of a file returns.
    """

    __slots__ = ("inner", "name", "nones", "place", "roles", "rules")
    custom = True
    kind = GENERAL
    variadic = True
    by_parts = True
    jvp = None
    batching = ""
    prepare = None

    def __init__(self, name: str, rule: Callable[..., Sequence[Any]],
                 inner: tuple[int, ...], nones: set[int], place: Any = None) -> None:
        self.name = name
        self.place = place
        self.rules = (rule,)
        self.inner = inner
        self.nones = nones

    def bare(self) -> CustomOp:
        """Return a copy without its rule."""
        return CustomOp(self.name, _no_rule, self.inner, self.nones, self.place)


def _place_of(grad: Any) -> Any:
    """Return where a gradient function is written: in a file its span, in Python its first
    instruction; None if it has no text.
    """
    if hasattr(grad, "place"):
        return grad.place
    code = getattr(getattr(grad, "__wrapped__", grad), "__code__", None)
    return None if code is None else (code, 0)


def _no_rule(g: Any, ans: Any, *xs: Any, **attributes: Any) -> Sequence[Any]:
    """Return no gradients, in place of a rule that is gone."""
    return [None] * len(xs)


def record_custom(name: str, args: Sequence[Tensor], outputs: Sequence[Tensor],
                  rule: Callable[..., Sequence[Any]]) -> list[Tensor]:
    """Record a call with a rule of its own; return its outputs as tensors that only it leads to.

    rule: `(*upstreams)`, one per output, to one gradient per argument, each a tensor, number or
    None. Several outputs are one value packed, and taken apart by ordinary operations.
    """
    smooth = [out for out in outputs if is_float(out.value)]
    if not smooth:
        return [leaf(out.value) for out in outputs]
    shapes = [out.shape for out in smooth]
    dtypes = [out.dtype.name for out in smooth]
    packed = smooth[0].value if len(smooth) == 1 else np.concatenate(
        [np.reshape(out.value, -1) for out in smooth])
    made = Tensor(packed, fresh_id())
    nones: set[int] = set()
    op: Any = CustomOp(
        name, _rule(name, rule, [is_float(o.value) for o in outputs], shapes, dtypes, args, nones),
        tuple([out.id for out in smooth if out.id is not None]), nones,
        getattr(rule, "place", None))
    record = records.current()
    ids = tuple([a.id for a in args])
    wanted = record.wants(ids)
    place = place_in(record, 3)
    if wanted or record.accumulators:
        record_operation(record, op, made, ids, [a.value for a in args], {}, (), place, wanted)
    if not wanted and record.trace is not None:
        record.trace.push((op.bare(), made.id, ids, 0.0, place))
    parts = iter([made] if len(smooth) == 1 else _unpacked(made, shapes, dtypes))
    return [next(parts) if is_float(out.value) else leaf(out.value) for out in outputs]


def _unpacked(packed: Any, shapes: Sequence[Shape], dtypes: Sequence[str]) -> list[Any]:
    parts = []
    start = 0
    for shape, dtype in zip(shapes, dtypes, strict=True):
        n = 1
        for length in shape:
            n *= length
        piece = reshape(index(packed, pattern=(slice(start, start + n),)), shape=shape)
        parts.append(piece if dtype_of(value_of(piece)) == dtype else cast_float(
            piece, dtype=dtype))
        start += n
    return parts


def _rule(name: str, rule: Callable[..., Sequence[Any]], smooth: Sequence[bool],
          shapes: Sequence[Shape], dtypes: Sequence[str], args: Sequence[Tensor],
          nones: set[int]) -> Callable[..., Sequence[Any]]:
    """Return the user's rule as the sweeps call it, with one packed cotangent, maybe with seed
    axes.

    smooth: whether each output gets an upstream gradient.
    shapes, dtypes: of these.
    args: of the call.
    nones: receives the arguments without a gradient.
    """
    wanted = [a.shape for a in args]

    def of_one(g: Any) -> list[Any]:
        parts = iter([g] if len(shapes) == 1 else _unpacked(g, shapes, dtypes))
        upstream = [
            next(parts) if is_smooth else leaf(0.0) for is_smooth in smooth]
        found = [_checked(name, k, c, shape) for k, (c, shape) in enumerate(
            zip(_strictly(rule, upstream), wanted, strict=True))]
        nones.update([k for k, c in enumerate(found) if c is None])
        return found

    def of_all(g: Any, ans: Any, *xs: Any, **attributes: Any) -> Sequence[Any]:
        recorded = isinstance(ans, Tensor) and ans.id is not None
        batch = g.batch if isinstance(g, Tensor) else 0
        if not batch:
            parts = of_one(g if recorded and isinstance(g, Tensor) else leaf(value_of(g)))
        else:
            # The rule knows nothing of seed axes: it runs once for each.
            rows = unbatch(g)
            found = [of_all(index(rows, pattern=(k,)), ans, *xs)
                     for k in range(shape_of(value_of(rows))[batch - 1])]
            parts = [
                None if any(row[n] is None for row in found)
                else rebatch(stack(*[row[n] for row in found], axis=0))
                for n in range(len(wanted))]
        if recorded:
            return parts
        return [
            None if c is None else Tensor(value_of(c), None, batch) if batch else value_of(c)
            for c in parts]

    return of_all


def _strictly(rule: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Call a user's rule, in which types mix as little as elsewhere."""
    record = records.current()
    in_rules, record.in_rules = record.in_rules, False
    try:
        return rule(*arguments)
    finally:
        record.in_rules = in_rules


def _checked(name: str, k: int, gradient: Any, shape: Shape) -> Any:
    """Return a gradient as an operand. Raises E0314 for one that has not the argument's shape."""
    if gradient is None:
        return None
    try:
        c = operand(gradient)
        if isinstance(c, str):
            raise TypeError
    except (GradcliError, TypeError, ValueError):
        raise error("E0314", f"the gradient that `{name}` gives for argument {k + 1} is"
                    f" {gradient!r:.40}, no tensor", help="return a tensor of the argument's shape"
                    ) from None
    c = float(c) if type(c) is int else c
    got = c.shape if isinstance(c, Tensor) else shape_of(c)
    if got != shape:
        raise error("E0314", f"the gradient that `{name}` gives for argument {k + 1} has shape"
                    f" {show(got)}, the argument {show(shape)}",
                    help="multiply by the upstream gradient and sum back to the argument's shape")
    return c


class _Watcher:
    """A reader that notes the variables that are read, and nothing else."""

    __slots__ = ("found", "known")

    def __init__(self, known: Sequence[Variable]) -> None:
        self.found: list[Variable] = []
        self.known = {id(v) for v in known}

    def read(self, variable: Variable) -> None:
        if (variable.watched and id(variable) not in self.known
                and all(variable is not v for v in self.found)):
            self.found.append(variable)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a gradient of its own, as tf.custom_gradient.

        @gradcli.custom_gradient
        def log1pexp(x):
            e = ops.exp(x)
            def grad(upstream):
                return upstream * (1 - 1 / (1 + e))
            return ops.log(1 + e), grad

    `f(*args)` returns its value, or several, and a function of one upstream gradient per value that
    returns one gradient per argument (None: none). Where f reads trainable variables, that function
    takes `variables=` as well and returns (gradients of the arguments, gradients of the variables).
    Unlike TensorFlow's, it applies to keyword arguments too; a number given to a keyword-only
    parameter is an option, which has no gradient. As in TensorFlow, numbers and arrays reach f
    unchanged, and take the type of the tensor beside them. Calls raise E0316 for another return
    value than that pair, E0314 for a wrong number or shape of gradients.
    """
    name = getattr(f, "__name__", "custom")

    def call(*args: Any, **keywords: Any) -> Any:
        args, options = _bound(f, args, keywords) if keywords else (args, {})
        inside, named = like((args, options), [_as_given(a) for a in flatten((args, options))])
        tensors = [a if isinstance(a, Tensor) else leaf(plain_value(a))
                   for a in flatten(inside) if _is_argument(a)]
        tensors += [a for a in flatten(named) if isinstance(a, Tensor)]
        variables = [a for a in flatten((args, options)) if isinstance(a, Variable)]
        record = records.current()
        watcher = _Watcher(variables)
        record.readers.append(watcher)
        try:
            answer = f(*inside, **named)
        finally:
            record.readers.remove(watcher)
        try:
            value, grad = answer
            if not callable(grad):
                raise TypeError
        except (TypeError, ValueError, GradcliError):
            raise error("E0316", f"`{name}` must return its value and a gradient function",
                        help="end it with: return value, grad") from None
        outputs = [_output(v) for v in flatten(value)]
        rule = _user_rule(name, grad, len(tensors), watcher.found)
        rule.place = _place_of(grad)  # type: ignore[attr-defined]
        states = [v.read() for v in watcher.found]
        return like(value, record_custom(name, [*tensors, *states], outputs, rule))

    call.__name__ = name
    call.__doc__ = f.__doc__
    return call


def _bound(f: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
           ) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments by position, and those of keyword-only parameters, of which only
    tensors are arguments; defaults only where a later parameter was given.
    """
    from inspect import signature

    bound = signature(f).bind(*args, **keywords)
    left: dict[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD:
            if name not in bound.arguments:
                left[name] = parameter.default
            else:
                bound.arguments.update(left)
                left = {}
    return bound.args, bound.kwargs


def _as_given(value: Any) -> Any:
    """Return a value as f gets it: the present state of a variable, a copy of an array."""
    if isinstance(value, Tensor):
        return value.read()
    return np.array(value) if hasattr(value, "__array_interface__") else value


def _is_argument(value: Any) -> bool:
    """Return whether the rule gives a gradient for a value: a tensor, number or array."""
    return (isinstance(value, Tensor) or type(value) in (float, int, bool)
            or hasattr(value, "__array_interface__"))


def _output(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.read()
    if _is_argument(value):
        return leaf(operand(value))
    raise error("E0316", f"a custom function returns tensors, not {value!r:.40}",
                help="end it with: return value, grad")


def _user_rule(name: str, grad: Callable[..., Any], count: int, variables: Sequence[Variable]
               ) -> Callable[..., Sequence[Any]]:
    def rule(*upstream: Any) -> Sequence[Any]:
        if variables:
            try:
                given, of_variables = grad(*upstream, variables=list(variables))
            except GradcliError:
                raise
            except TypeError:
                from inspect import signature

                parameters = signature(grad).parameters
                if "variables" in parameters or any(
                        p.kind == p.VAR_KEYWORD for p in parameters.values()):
                    raise
                names = ", ".join(v.name for v in variables)
                raise error("E0316", f"`{name}` uses the variable {names}, so its gradient function"
                            " must take `variables`", help="def grad(upstream, variables): return"
                            " (gradients of arguments), [gradients of variables]") from None
        else:
            given, of_variables = grad(*upstream), []
        found = list(given) if isinstance(given, (list, tuple)) else [given]
        last = list(of_variables) if isinstance(of_variables, (list, tuple)) else [of_variables]
        if len(found) != count or len(last) != len(variables):
            raise error("E0314", f"the gradient function of `{name}` gave {len(found)} gradients"
                        f" for {count} arguments" if len(found) != count else
                        f"the gradient function of `{name}` gave {len(last)} gradients for"
                        f" {len(variables)} variables", help="return one for each, or None")
        return [*found, *last]

    return rule


def register_gradient(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the gradient of an operation that has none, as tf.RegisterGradient.

        @gradcli.register_gradient("adjust_contrast")
        def rule(upstream, image, factor):
            return gradient_of_image, gradient_of_factor

    Raises E0302 for a name that is no text, E0201 for an operation that does not exist, E0506 for
    one that has a gradient.
    """
    if not isinstance(name, str):
        raise error("E0302", "the name of an operation is a text",
                    help='such as register_gradient("adjust_contrast")')
    op = lookup(name)
    if op is None:
        raise error("E0201", f"unknown operation `{name}`", help="`gradcli ops` lists them all")
    if op.kind != UNREGISTERED:
        raise error("E0506", f"`{name}` already has a gradient",
                    help="write a custom_gradient for another one")

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        give_rule(op, rule)
        return rule

    return register


def give_rule(op: Op, rule: Callable[..., Any]) -> None:
    """Turn an unregistered row into one with this rule, `(upstream, *arguments)`."""
    count = len(op.parameters)

    def parts(g: Any, ans: Any, *xs: Any, **attributes: Any) -> list[Any]:
        found = _strictly(rule, [g, *xs])
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(found) != count:
            raise error("E0314", f"the gradient of `{op.name}` gave {len(found)} gradients for"
                        f" {count} arguments", help="return one for each, or None")
        return [_checked(op.name, k, c, shape_of(value_of(x)))
                for k, (c, x) in enumerate(zip(found, xs, strict=True))]

    op.kind = GENERAL
    op.rules = (parts,)
    op.edges = (True,) * count
    op.by_parts = True


def _unrecorded(f: Callable[..., Any], xs: Sequence[Any]) -> Any:
    """Return f(*xs) without recording it on the present tapes; tapes that f opens work."""
    record = records.current()
    before = record.tapes, record.accumulators, record.seen, record.paused
    record.tapes, record.accumulators, record.paused = [], [], record.everything
    record.settle()
    record.split()
    try:
        return f(*xs)
    finally:
        record.tapes, record.accumulators, record.seen, record.paused = before
        record.settle()
        record.split()


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose inner values are not kept: its gradient runs it once more."""
    from gradcli.engine.tapes.tape import GradientTape

    def call(*args: Any) -> Any:
        def forgetful(*xs: Any) -> Any:
            value = _unrecorded(f, xs)

            def grad(*upstream: Any, variables: Sequence[Variable] = ()) -> Any:
                tensors = [x for x in flatten(xs) if isinstance(x, Tensor)]
                with GradientTape() as tape:
                    tape.watch(tensors)
                    again = f(*xs)
                found = iter(tape.gradient(again, [*tensors, *variables],
                                           output_gradients=like(again, list(upstream))))
                of_arguments = [next(found) if isinstance(x, Tensor) else None
                                for x in flatten(xs) if _is_argument(x)]
                return (of_arguments, list(found)) if variables else of_arguments

            return value, grad

        forgetful.__name__ = getattr(f, "__name__", "recomputed")
        return custom_gradient(forgetful)(*args)

    return call
