"""The derivative verbs of the language.

`grad(y, x)`, `jacobian`, `hessian`, `jvp`, `vjp`, `hvp` and `f'(x)` are recorded, so derivatives of
derivatives work to any order. A gradient that does not exist is a `NoGradient`: a value that can be
printed, asked for its reason, and not calculated with.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import quiet
from gradcli.engine import calculus
from gradcli.engine.record import record as records
from gradcli.engine.record.record import ANS, OUT, ancestry, fresh_id
from gradcli.engine.record.tensor import Tensor, core_shape, flatten, leaf, like, value_of
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.calls import (
    NoGradient,
    as_tensor,
    call_operation,
    is_number,
    kind_of,
    no_operand,
    operand,
)
from gradcli.lang.running.statements import STATEMENTS
from gradcli.ops import PUBLIC
from gradcli.ops.table.elementwise import positive
from gradcli.ops.table.shapes import index
from gradcli.ops.values import has_nan, is_float, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Segment
    from gradcli.engine.tapes.tape import GradientTape
    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Function
    from gradcli.ops.kinds import Op

    Verb = Callable[[Running, list[Any], Mapping[str, Any]], Any]


# The order from which on a derivative is one entry, which costs less than another sweep. Below,
# each slope is an entry, with its place and its domain.
HIGH = 4


def tensors(value: Any, what: str, refused: Callable[[str, Any], GradcliError]) -> Any:
    """Return targets or sources, each nested as it was; a number as a target becomes a tensor.

    what: "target" or "source". Raises E0309 for a gradient that is None, and for anything else that
    is not a tensor what `refused` returns.
    """
    if isinstance(value, list):
        return [tensors(v, what, refused) for v in value]
    if isinstance(value, dict):
        return {k: tensors(v, what, refused) for k, v in value.items()}
    if isinstance(value, Tensor):
        return value
    if isinstance(value, NoGradient):
        raise no_operand(PUBLIC["add"], value)
    if what == "target" and is_number(value):
        return leaf(value)
    problem = refused(what, value)
    problem.about = "value", value
    raise problem


def _targets(value: Any) -> list[Tensor]:
    return [t.read() for t in flatten(tensors(value, "target", _refused))]


def _sources(value: Any) -> list[Tensor]:
    """Return the sources; a variable is its first state, to which all others are linked."""
    return [s.origin() if isinstance(s, Variable) else s
            for s in flatten(tensors(value, "source", _refused))]


def _refused(what: str, value: Any) -> GradcliError:
    return error("E0310", f"the {what} of a derivative must be a tensor with a name, not a plain"
                 f" {'text' if isinstance(value, str) else 'value'}", help="bind it first: x = 3")


def _arguments(name: str, args: list[Any], named: Mapping[str, Any], count: int,
               options: Sequence[str] = ()) -> None:
    if len(args) != count:
        words = {1: "(x)", 2: "(y, x)", 3: "(y, x, v)"}[count]
        raise error("E0207", f"`{name}` takes {count} argument{'s' * (count > 1)}, not {len(args)}",
                    help=f"write {name}{words}", about=("beyond", count))
    for key in named:
        if key not in options:
            raise error("E0208", f"`{name}` has no option `{key}`",
                        help=f"it has {', '.join(options) or 'none'}", about=("option", key))


def _unconnected(named: Mapping[str, Any]) -> bool:
    if "unconnected_gradients" not in named:
        return False
    from gradcli.engine.tapes.requests import is_zero

    return is_zero(named["unconnected_gradients"])


class RecordedPart:
    """The part of the trace in which the derivatives of a verb are computed: the entries, and which
    values in them are derivatives.
    """

    __slots__ = ("tape",)

    def __init__(self, tape: GradientTape | None) -> None:
        self.tape = tape

    @property
    def entries(self) -> Segment:
        """The entries recorded so far; taking a derivative adds to them."""
        if self.tape is None:
            return records.current().history()
        from gradcli.lang.running.tapes import on_tape_of

        return on_tape_of(self.tape)

    @property
    def derived(self) -> Mapping[int, tuple[int, int]]:
        """Id of a derivative to the ids of its target and source."""
        return records.current().derived if self.tape is None else self.tape.derived


def _window(name: str) -> RecordedPart:
    """Return the implicit tape of the file, or the innermost of its own that is open.

    Raises E0502 where the file has tapes of its own and none is open here.
    """
    record = records.current()
    if record.everything:
        return RecordedPart(None)
    from gradcli.engine.tapes.tape import GradientTape

    for tape in reversed(record.tapes):
        if isinstance(tape, GradientTape):
            return RecordedPart(tape)
    raise error("E0502", f"`{name}` needs a tape, and none is open here",
                help="use it inside the block of a tape, or ask one: t.gradient(y, x)")


def _several(given: Any, count: int) -> list[Any]:
    """Return one value for each of several targets or sources; a tensor is split by rows."""
    add = PUBLIC["add"]
    if count == 1:
        return [operand(add, given)]
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, (list, range)):
        return [operand(add, v) for v in given]
    given = operand(add, given)
    shape = core_shape(given)
    return [call_operation(index, [given], {"pattern": (k,)}) for k in range(shape[0])] if shape \
        else [given]


def _filled(found: Any, target: Any, source: Tensor, shape: Sequence[int], zero: bool,
            window: RecordedPart) -> Any:
    """Return a derivative; for None a 0 where that is known or asked for, else a `NoGradient`."""
    if found is not None:
        return found
    if zero or calculus.derivative_constant(target, source, window.entries, window.derived):
        return calculus.as_derivative(
            leaf(zeros(shape)), [target] if type(target) is Tensor else [], source)
    return NoGradient(target, source, window.tape)


def _grad(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("grad", args, named, 2, ("output_gradients", "unconnected_gradients"))
    targets, sources = _targets(args[0]), _sources(args[1])
    seeds: list[Any] = []
    if "output_gradients" in named:
        given = named["output_gradients"]
        seeds = _several(given, len(targets))
        if len(seeds) != len(targets):
            raise error("E0313", f"{len(seeds)} output gradients for {len(targets)} targets",
                        help="give one for each target", about=("value", given))
    window = _window("grad")
    found = _next_order(targets, sources, window) if not seeds else None
    if found is None:
        found = calculus.gradient(targets, sources, seeds=seeds, emit=True, entries=window.entries)
    zero = _unconnected(named)
    target = targets[0] if len(targets) == 1 else leaf(0.0)
    return like(args[1], [
        _filled(g, target, s, s.shape, zero, window)
        for g, s in zip(found, sources, strict=True)])


def _vjp(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("vjp", args, named, 3)
    return _grad(run, args[:2], {"output_gradients": args[2]})


def _target(value: Any) -> Tensor:
    tensor = as_tensor(value)
    found = [tensor] if type(tensor) is Tensor else _targets(tensor)
    if len(found) != 1:
        raise error("E0310", f"the target must be one tensor, not {len(found)}",
                    help="take one of them, or stack them: [a, b]", about=("value", value))
    return found[0]


def _jacobian(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("jacobian", args, named, 2, ("unconnected_gradients",))
    target, sources = _target(args[0]), _sources(args[1])
    zero = _unconnected(named)
    window = _window("jacobian")
    found = _jacobians(target, sources, window)
    return like(args[1], [
        _filled(j, target, s, target.shape + s.shape, zero, window)
        for j, s in zip(found, sources, strict=True)])


def _jacobians(target: Tensor, sources: Sequence[Tensor], window: RecordedPart) -> list[Any]:
    found = calculus.jacobian(target, sources, emit=True, entries=window.entries)
    return [None if j is None else calculus.as_derivative(j, [target], s)
            for j, s in zip(found, sources, strict=True)]


def _hessian(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("hessian", args, named, 2)
    sources = _sources(args[1])
    targets = _targets(args[0])
    if not targets:
        raise error("E0310", "the target must be one tensor, not 0", help="name a tensor",
                    about=("value", args[0]))
    window = _window("hessian")
    first = calculus.gradient(targets, sources, emit=True, entries=window.entries)
    rows = [
        _filled(g, targets[0], s, s.shape, False, window)
        for g, s in zip(first, sources, strict=True)]
    blocks = [
        [g if isinstance(g, NoGradient) else _filled(j, g, s, g.shape + s.shape, False, window)
         for j, s in zip(_jacobians(g, sources, window) if isinstance(g, Tensor) else rows,
                         sources, strict=True)]
        for g in rows]
    return blocks[0][0] if isinstance(args[1], Tensor) else blocks


def _jvp(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("jvp", args, named, 3)
    target, sources = _target(args[0]), _sources(args[1])
    directions = _several(args[2], len(sources))
    if len(directions) != len(sources):
        raise error("E0313", f"{len(directions)} directions for {len(sources)} sources",
                    help="give one for each source", about=("value", args[2]))
    window = _window("jvp")
    found = calculus.jvp(target, sources, directions, emit=True, entries=window.entries)
    if found is not None:
        found = calculus.as_derivative(found, [target], sources[0])
    return _filled(found, target, sources[0], target.shape, False, window)


def _hvp(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("hvp", args, named, 3)
    g = _grad(run, args[:2], {})
    if isinstance(g, (list, dict)):
        return like(args[1], [
            h if isinstance(h, NoGradient) else _jvp(run, [h, args[1], args[2]], {})
            for h in flatten(g)])
    return g if isinstance(g, NoGradient) else _jvp(run, [g, args[1], args[2]], {})


def prime(run: Running, name: str, order: int, points: list[Any],
          local: dict[str, Any] | None = None) -> Any:
    """Return `f''(x)`: the derivative of f at a copy of x, which is linked to x."""
    function = run.function(name, local)
    op = PUBLIC.get(name) if function is None else None
    if function is None and op is None:
        raise error("E0201", f"unknown function `{name}`")
    count = len(function.parameters) if function is not None else len(op.parameters)  # type: ignore[union-attr]
    if len(points) != 1 or count != 1:
        raise error("E0207", f"`{name}{chr(39) * order}` needs a function of one argument,"
                    f" {count} {'is' if count == 1 else 'are'} taken and {len(points)} given",
                    help="write grad(y, x) for one of several arguments",
                    about=("beyond", 1) if count == 1 else None)
    x = operand(positive, points[0])
    if not is_float(value_of(x)):
        x = float(value_of(x)) if type(value_of(x)) in (int, bool) else x
    u = positive(x) if type(x) is Tensor else leaf(x)
    first = fresh_id()
    if records.current().everything:
        found = _followed(run, function, op, u, order, RecordedPart(None), local)
    else:
        from gradcli.engine.tapes.tape import GradientTape

        # The file's tapes need not watch the point: it has a tape of its own.
        with GradientTape(persistent=True) as tape:
            tape.watch(u)
            found = _followed(run, function, op, u, order, RecordedPart(tape), local)
    target = found.target if isinstance(found, NoGradient) else found
    return number_answers(run, "prime", None, target, u, found, first)


def _followed(run: Running, function: Function | None, op: Op | None, u: Tensor, order: int,
              window: RecordedPart, local: dict[str, Any] | None) -> Any:
    """Return the derivative of a function or operation at `u`."""
    if function is None:
        y = call_operation(op, [u], {})  # type: ignore[arg-type]
    elif function.decorator:
        from gradcli.lang.running.rules import custom_call

        y = custom_call(run, function, {function.parameters[0]: u}, local)
    else:
        y = run.call(function, [u], local if function.block else None)
    made = _higher(_target(y), u, order, window)
    if made is not None:
        return made
    for _ in range(order):
        target = _target(y)
        if u.shape == () != target.shape:
            # A vector of functions of one number: each has its own slope.
            found = calculus.jvp(target, [u], [1.0], emit=True, entries=window.entries)
            found = None if found is None else calculus.as_derivative(found, [target], u)
        else:
            found = calculus.gradient([target], [u], emit=True, entries=window.entries)[0]
        unrelated = target.id is None or u.id not in ancestry(window.entries, target.id)
        shape = target.shape if u.shape == () else u.shape
        y = _filled(found, target, u, shape, unrelated, window)
        if isinstance(y, NoGradient):
            return y
    return y


def _higher(target: Tensor, source: Tensor, order: int, window: RecordedPart) -> Tensor | None:
    """Return a derivative of high order as one entry; None where only sweeps can tell."""
    if order < HIGH:
        return None
    from gradcli.engine.sweeps import orders

    found = orders.higher(window.entries, target, source, order)
    return None if found is None else calculus.as_derivative(found, [target], source)


def _next_order(targets: Sequence[Tensor], sources: Sequence[Tensor], window: RecordedPart
                ) -> list[Any] | None:
    """Return the derivative of one number in one other as one entry, where the target is that of
    the order before; else None.
    """
    if len(targets) != 1 or len(sources) != 1:
        return None
    (target,), (source,) = targets, sources
    order, first = 1, target.id
    derived = window.derived
    while first is not None and derived.get(first, (0, None))[1] == source.id:
        order, first = order + 1, derived[first][0]
    if order != HIGH or first is None:    # beyond, one entry is the derivative of another
        return None
    made = next((e[ANS] for e in reversed(window.entries) if e[OUT] == first), None)
    if made is None:
        return None
    found = _higher(Tensor(made, first), source, order, window)
    return None if found is None else [calculus.as_derivative(found, [target], source)]


def _len(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    _arguments("len", args, named, 1)
    value = args[0]
    if isinstance(value, (list, dict, str, range)):
        return len(value)
    shape = core_shape(value) if is_number(value) else ()
    if not shape:
        what = "a scalar" if is_number(value) else kind_of(value)
        raise error("E0301", f"{what} has no length", help="give a list or a tensor",
                    about=("value", value))
    return shape[0]


# --------------------------------------------------------------------------------------------------
# Questions of the file, by a verb or a method.

# A loop may ask for any number of gradients; the newest are remembered.
MAX_REMEMBERED = 1000


def number_answers(run: Running, kind: str, tape: Any, targets: Any, sources: Any, found: Any,
                   first: int) -> Any:
    """Number the answers to a question of the file, so that one that is None can be found again in
    another run; return them.

    kind: the verb or method. first: an id from before the question.
    """
    number = run.run.asked
    run.run.asked += 1
    for k, item in enumerate(flatten(found)):
        if isinstance(item, NoGradient):
            item.asked = number, k
    if kind in ("gradient", "grad") and (type(targets) is not Tensor or targets.shape):
        _note_sum(run, targets, found)
    if run.run.record.absorbed or not all(map(_is_finite, flatten(targets))):
        doubtful = run.run.doubtful
        if len(doubtful) >= MAX_REMEMBERED:
            doubtful.clear()
        doubtful.update(g.id for g in flatten(found) if isinstance(g, Tensor) and g.id is not None)
    return found if run.run.log is None else run.run.log.request(
        number, kind, run.at, tape, targets, sources, found, first)


def _is_finite(target: Any) -> bool:
    if not isinstance(target, Tensor) or not is_float(target.value):
        return True
    with quiet():
        return not has_nan(target.value - target.value)


def _note_sum(run: Running, targets: Any, found: Any) -> None:
    """Remember that gradients belong to the sum of several elements."""
    count = 0
    for t in flatten(targets):
        size = 1
        for n in t.shape if isinstance(t, Tensor) else ():
            size *= n
        count += size
    summed = run.run.summed
    if len(summed) >= MAX_REMEMBERED:
        summed.clear()
    if count != 1:
        summed.update((g.id, (count, run.at[2:])) for g in flatten(found)
                      if isinstance(g, Tensor) and g.id is not None)


def _question(name: str, verb: Verb) -> Verb:
    """Return a verb whose answers are numbered."""
    def numbered(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
        first = fresh_id()
        found = verb(run, args, named)
        tape = _window(name).tape
        return number_answers(run, name, tape, args[0], args[1], found, first)
    return numbered


QUESTIONS: dict[str, Verb] = {
    "grad": _grad, "jacobian": _jacobian, "hessian": _hessian, "jvp": _jvp, "vjp": _vjp,
    "hvp": _hvp,
}
FUNCTIONS: dict[str, Verb] = {
    **{name: _question(name, verb) for name, verb in QUESTIONS.items()},
    "len": _len, **STATEMENTS,
}
