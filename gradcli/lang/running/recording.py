"""Blocks that record (tape, forward, stop_recording, resume), and methods such as `x.assign(e)`."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor, flatten, leaf, value_of
from gradcli.engine.record.variable import Variable
from gradcli.engine.tapes.accumulator import ForwardAccumulator
from gradcli.lang.running.calls import (
    NoGradient,
    as_tensor,
    is_number,
    kind_of,
    mapped,
    no_operand,
    one_each,
    one_of,
)
from gradcli.lang.running.tapes import FileTape
from gradcli.lang.running.verbs import number_answers, tensors
from gradcli.ops import PUBLIC
from gradcli.ops.values import broadcast_shape, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Block

    Method = Callable[[Running, Any, list[Any], Mapping[str, Any]], Any]

ATTRIBUTES = {
    "tape": ("persistent", "watch_accessed_variables"), "forward": (), "stop_recording": (),
    "resume": ()}


def entered(run: Running, block: Block, stack: list[Any], local: dict[str, Any] | None) -> Any:
    """Open a block; return the object to close at its end.

    Raises E0208 (an attribute that does not exist), E0306 (one that is neither true nor false),
    E0507 (no tape of that name) and what the tape itself raises.
    """
    names = block.attributes
    values = stack[len(stack) - len(names):]
    del stack[len(stack) - len(names):]
    arguments = stack[len(stack) - block.arguments:]
    del stack[len(stack) - block.arguments:]
    attributes = dict(zip(names, values, strict=True))
    for name, value in attributes.items():
        if name not in ATTRIBUTES[block.keyword]:
            raise GradcliError(Diagnostic(
                "E0208", f"`{block.keyword}` has no attribute `{name}`",
                span=block.spans[f"{name} name"], help=one_of(name, ATTRIBUTES[block.keyword])))
        if not isinstance(value, bool):
            raise GradcliError(Diagnostic(
                "E0306", f"`{name}` is true or false", span=block.spans[f"{name} value"],
                help=f"write {name}=true"))
    if block.keyword == "tape":
        tape = FileTape(block.name, block.spans, attributes.get("persistent", False),
                        attributes.get("watch_accessed_variables", True), run.tf)
        run.bind(block.name, tape, block.spans["name"], "tape", local=local)
        return _Recording(run, tape).__enter__()
    if block.keyword == "forward":
        accumulator = ForwardAccumulator(arguments[0], _direction(*arguments))
        run.bind(block.name, accumulator, block.spans["name"], "accumulator", local=local)
        accumulator.__enter__()
        return accumulator if run.run.log is None else _LoggedForward(run, accumulator, block)
    tape = tape_named(run, block, local)
    if block.keyword == "resume":
        return _Recording(run, tape).__enter__()
    pause = tape.stop_recording()
    pause.__enter__()
    return pause


class _LoggedForward:
    """An accumulator's block in a logged run; it notes the ids between which it ran."""

    __slots__ = ("accumulator", "block", "run", "start")

    def __init__(self, run: Running, accumulator: ForwardAccumulator, block: Block) -> None:
        self.run = run
        self.accumulator = accumulator
        self.block = block
        self.start = fresh_id()

    def __exit__(self, *exception: object) -> None:
        self.accumulator.__exit__()
        assert self.run.run.log is not None
        self.run.run.log.windows.append(
            (self.accumulator, self.block, self.start, fresh_id()))


class _Recording:
    """A tape that is being recorded; closed, it is the file's newest of that name."""

    __slots__ = ("run", "tape")

    def __init__(self, run: Running, tape: FileTape) -> None:
        self.run = run
        self.tape = tape

    def __enter__(self) -> _Recording:
        self.tape.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.tape.__exit__()
        if self.run.weigh:
            self.run.run.held[self.tape.name] = self.tape.stats()
        self.run.run.tapes.pop(self.tape.name, None)
        self.run.run.tapes[self.tape.name] = self.tape


def tape_named(run: Running, block: Block, local: dict[str, Any] | None) -> FileTape:
    """Return the tape that a block names. Raises E0507 if there is none."""
    names = {**run.scope, **(local or {})}
    found = names.get(block.name)
    if not isinstance(found, FileTape):
        what = "this is no tape" if block.name in names else "nothing has this name"
        known = [name for name, value in names.items() if isinstance(value, FileTape)]
        raise GradcliError(Diagnostic(
            "E0507", f"there is no tape `{block.name}` here", span=block.spans["name"], label=what,
            help=f"the tapes here are {', '.join(known)}" if known else
            f"open it first: tape {block.name}:"))
    return found


def _direction(primals: Any, tangents: Any) -> Any:
    """Return the tangents, nested as the primals are.

    Raises E0310 for a primal without a name and E0302 or E0309 for a tangent that is not a number.
    """
    for primal in flatten(primals):
        if not isinstance(primal, Tensor):
            raise error("E0310", f"the primal must be a tensor with a name, not {kind_of(primal)}",
                        help="bind it first: x = 3")
    tangents = one_each(primals, tangents)
    for tangent in flatten(tangents):
        if not is_number(tangent):
            raise no_operand(PUBLIC["add"], tangent)
    return tangents


# --------------------------------------------------------------------------------------------------
# Methods of variables, tapes and accumulators.

def call_method(run: Running, obj: Any, name: str, args: list[Any], named: Mapping[str, Any]
                ) -> Any:
    """Call a method of an object.

    Raises E0318 for a method that the object does not have, E0207 and E0208 for wrong arguments and
    what the method itself raises.
    """
    for kind, methods, what in (
            (Variable, OF_VARIABLE, "a variable"), (FileTape, OF_TAPE, "a tape"),
            (ForwardAccumulator, OF_ACCUMULATOR, "an accumulator")):
        if isinstance(obj, kind):
            found = methods.get(name)
            if found is not None:
                method, parameters, required = found
                return method(run, obj, _arranged(name, parameters, required, args, named), named)
            if kind is not Variable:
                raise error("E0318", f"{what} has no method `{name}`",
                            help=one_of(name, [*methods]), about=("callee", None))
    op = PUBLIC.get(name)
    if isinstance(obj, Variable) and op is None and not any(
            name in methods for methods in (OF_TAPE, OF_ACCUMULATOR)):
        raise error("E0318", f"a variable has no method `{name}`",
                    help=one_of(name, [*OF_VARIABLE]), about=("callee", None))
    if name in OF_VARIABLE:
        raise error("E0318", f"only a variable can be changed with `.{name}(...)`",
                    help="declare it with var, or bind the name again: x = ...",
                    about=("callee", None))
    if name in OF_TAPE or name in OF_ACCUMULATOR:
        raise error("E0318", f"only a {'tape' if name in OF_TAPE else 'forward accumulator'} has"
                    f" `.{name}(...)`", help="write tape t: before the lines it shall record"
                    if name in OF_TAPE else "write forward acc(x, v): before the lines",
                    about=("callee", None))
    raise error("E0318", f"there is no method `{name}`",
                help=f"write {op.name}(x)" if op is not None else "`gradcli ops` lists operations",
                about=("callee", None))


def _arranged(name: str, parameters: tuple[str, ...], required: int, args: list[Any],
              named: Mapping[str, Any]) -> list[Any]:
    """Return all arguments in order, None for those left out. Raises E0207 and E0208."""
    for key in named:
        if key not in parameters:
            raise error("E0208", f"`{name}` has no option `{key}`", help=one_of(key, parameters),
                        about=("option", key))
    given = [*args, *[None] * (len(parameters) - len(args))]
    missing = [p for k, p in enumerate(parameters[:required])
               if k >= len(args) and p not in named]
    if len(args) > len(parameters) or missing:
        shown = ", ".join(parameters[:max(required, 1)])
        raise error("E0207", f"`{name}` takes {required} argument{'s' * (required != 1)}, not"
                    f" {len(args)}", help=f"write .{name}({shown})",
                    about=("beyond", len(parameters)))
    for k, p in enumerate(parameters):
        if p in named:
            if k < len(args):
                raise error("E0207", f"`{name}` is given `{p}` twice", help=f"leave out {p}=...",
                            about=("option", p))
            given[k] = named[p]
    return given


def _assignable(how: str, variable: Variable, value: Any) -> Any:
    """Return a value that a variable can take: numbers, or a text if it is one. Raises E0302."""
    value = as_tensor(value) if isinstance(value, (list, range)) else value
    is_text = isinstance(value_of(value), str)
    if isinstance(value, NoGradient):
        raise no_operand(PUBLIC["add"], value)
    if not (is_text or is_number(value)) or is_text != (variable.dtype == "string") or (
            is_text and how != "assign"):
        raise error("E0302", f"`{variable.name}` is {variable.dtype} and {_DONE[how]}"
                    f" {kind_of('' if is_text else value)}", help="give a value of its type",
                    about=("value", value))
    if how != "assign":
        broadcast_shape(how, [variable.shape, shape_of(value_of(value))])
    return value


_DONE = {"assign": "is assigned", "assign_add": "is added", "assign_sub": "is subtracted"}


def _assign(how: str) -> Method:
    def method(run: Running, variable: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
        value = _assignable(how, variable, given[0])
        before = variable.id
        taken = value.read().id if isinstance(value, Tensor) else None
        found = getattr(variable, how)(value)
        if run.run.log is not None:
            from gradcli.lang.running.log import Assignment

            run.run.log.states.append(Assignment(
                how, variable.name, taken, before, variable.id, run.at[2:], variable.value))
        return found
    return method


def _watch(run: Running, tape: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
    items = flatten(given[0])
    for item in items:
        if not isinstance(item, Tensor):
            raise error("E0310", "only tensors and variables can be watched, not"
                        f" {kind_of(item)}", help="bind it to a name first",
                        about=("value", item))
    tape.watch(items)


def _watched_variables(run: Running, tape: Any, given: list[Any], named: Mapping[str, Any]
                       ) -> Any:
    return list(tape.watched_variables())


def _reset(run: Running, tape: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
    tape.reset()


def _question(how: str) -> Method:
    def method(run: Running, tape: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
        target, sources, *options = given
        target, sources = (
            tensors(target, "target", _refused), tensors(sources, "source", _refused))
        keywords: dict[str, Any] = {"unconnected_gradients": options[-1]}
        if how == "gradient" and options[0] is not None:
            keywords["output_gradients"] = one_each(target, options[0])
        if tape.recording and not tape.persistent:
            run.run.notes.append((
                "recording-ended", f"`{tape.name}` is not persistent and stops recording at this"
                " question", run.at[2:]))
        first = fresh_id()
        try:
            found = getattr(tape, how)(target, sources, **keywords)
        except GradcliError as problem:
            if problem.code == "E0501" and tape.used_at is not None:
                line = run.source.position(tape.used_at[0])[0]
                problem.diagnostics[0].message = (
                    f"`{tape.name}` is used up: it answered in line {line} and is not persistent")
                problem.diagnostics[0].help = f"write tape {tape.name}, persistent=true:"
                problem.diagnostics[0].related = ((tape.used_at, "the one answer it had"),)
            raise
        if tape.used_at is None:
            tape.used_at = run.at[2:]
        found = _with_gaps(found, sources, target, tape)
        return number_answers(run, how, tape, target, sources, found, first)
    return method


def _with_gaps(found: Any, sources: Any, target: Any, tape: FileTape) -> Any:
    """Return the answer with a `NoGradient` for each None, so that its cause can be found."""
    first = next((t for t in flatten(target) if isinstance(t, Tensor)), None)
    rest = iter(flatten(sources))

    def filled(g: Any) -> Any:
        source = next(rest)
        return NoGradient(first, source, tape) if g is None else g

    return mapped(found, filled)


def _refused(what: str, value: Any) -> GradcliError:
    return error("E0310", f"the {what} must be a tensor with a name, not {kind_of(value)}",
                 help="bind it to a name first: x = 3")


def _jvp(run: Running, accumulator: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
    targets = tensors(given[0], "target", _refused)
    first = fresh_id()
    found = accumulator.jvp(targets, given[1])
    rest = iter(flatten(targets))
    source = next(iter(accumulator.tangents), None)

    def filled(value: Any) -> Any:
        target = next(rest)
        return NoGradient(target, Tensor(0.0, source), accumulator) if value is None else value

    found = mapped(found, filled)
    return number_answers(run, "jvp", accumulator, targets, Tensor(0.0, source), found, first)


def _read_value(run: Running, variable: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
    return leaf(variable.value) if variable.dtype == "string" else variable.read_value()


OF_VARIABLE: dict[str, tuple[Method, tuple[str, ...], int]] = {
    "assign": (_assign("assign"), ("value",), 1),
    "assign_add": (_assign("assign_add"), ("delta",), 1),
    "assign_sub": (_assign("assign_sub"), ("delta",), 1),
    "read_value": (_read_value, (), 0),
}
_WORDS = ("unconnected_gradients",)
OF_TAPE: dict[str, tuple[Method, tuple[str, ...], int]] = {
    "gradient": (_question("gradient"), ("target", "sources", "output_gradients", *_WORDS), 2),
    "jacobian": (_question("jacobian"), ("target", "sources", *_WORDS), 2),
    "batch_jacobian": (_question("batch_jacobian"), ("target", "source", *_WORDS), 2),
    "watch": (_watch, ("tensor",), 1),
    "watched_variables": (_watched_variables, (), 0),
    "reset": (_reset, (), 0),
}
OF_ACCUMULATOR: dict[str, tuple[Method, tuple[str, ...], int]] = {
    "jvp": (_jvp, ("primals", *_WORDS), 1),
}
