"""Blocks that open something (tape, forward, stop_recording, resume), and the items of a `for`."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor, core_shape, flatten, value_of
from gradcli.engine.tapes.accumulator import ForwardAccumulator
from gradcli.lang.running.calls import (
    as_tensor,
    call_operation,
    is_number,
    kind_of,
    no_operand,
    one_each,
    one_of,
)
from gradcli.lang.running.tapes import FileTape
from gradcli.ops import PUBLIC
from gradcli.ops.table.shapes import index as index_op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Block

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


def iterated(run: Running, value: Any) -> Iterator[Any]:
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
