"""A way through a program, recorded at one point to be run at others.

What decided the way (the conditions of branches and loops, indices, lengths) was noted when it was
recorded; a point where one of these is another takes another way. Which names a point gives, the
shapes of the values and what is no number are the same for all points of a way.
"""

from __future__ import annotations

from gradcli.engine.compiled.trace import Recorded, Unrecorded, holds
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.lang.running.calls import as_tensor
from gradcli.lang.running.run import is_number, plain_structure
from gradcli.questions.named import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Run, Target
    from gradcli.questions.ask import Ask
    from gradcli.questions.named import Form

    T = TypeVar("T")


class Way:
    """One way. function: of the values that a point gives, in order, to those of the answers. form:
    what these are given as.
    """

    __slots__ = ("form", "function")

    def __init__(self, function: Callable[..., Sequence[Any]], form: Form) -> None:
        self.function = function
        self.form = form

    def run(self, values: Sequence[Any]) -> Any:
        """Return value and derivatives at a point. Raises `Elsewhere` if another way leads through
        it.
        """
        found = self.function(*values)
        return found[0], self.form(found[1:])


def way(question: Ask, what: str, at: Mapping[str, Any], names: Sequence[str]) -> Way:
    """The way of one point. names: of what varies. Raises Unrecorded as `recorded` does."""
    def asked(run: Run) -> tuple[list[Any], Form]:
        target = question.program.targets(run, question.of)[0]
        value = _value(target)
        found, form = named(question, what, run, target, names)
        return [value, *found], form

    found, form, read = recorded(question.program, at, names, asked)
    return Way(_function(found, read), form)


def _value(target: Target) -> Any:
    """A target as one tensor. Raises Unrecorded for a structure."""
    value = target.tensor
    if isinstance(value, list) and value and all(is_number(item) for item in value):
        return as_tensor(value)
    if isinstance(value, (list, dict)):
        raise Unrecorded
    return value.read() if isinstance(value, Tensor) else plain_structure(value)


def recorded(program: Program, at: Mapping[str, Any], names: Sequence[str],
             asked: Callable[[Run], tuple[list[Any], T]]) -> tuple[Recorded, T, list[bool]]:
    """What ran at one point, with the answers to a question behind it.

    names: of what varies. asked: gives what is wanted, tensors or plain values, and anything else,
    which is handed on. With it comes which of the names the program read. Raises what the program
    raises, and Unrecorded where what ran does not hold at other points: for tapes of the file,
    custom gradients, assignments and what was calculated outside of the engine.
    """
    if program.names.tapes:
        raise Unrecorded
    run = program.traced_run(at)
    record = run.record
    with record:
        guards, record.guards = record.guards or [], None
        own = list(record.history())
        found, more = asked(run)
        entries = record.history()
    if not record.portable or not all(map(holds, own)):
        raise Unrecorded
    inputs: dict[int, Any] = {}
    for name in names:
        if name in run.bindings:
            value: Tensor = run.bindings[name][0].value
            assert value.id is not None
            inputs[value.id] = value.value
    answers = [(f.id if isinstance(f, Tensor) else None, value_of(f)) for f in found]
    # Behind the value of the target stand derivatives.
    derived = dict.fromkeys([*record.derived, *[i for i, _ in answers[1:] if i is not None]])
    return (Recorded(entries, inputs, answers, guards, list(derived), len(own)), more,
            [name in run.bindings for name in names])


def _function(found: Recorded, read: Sequence[bool]) -> Callable[..., Sequence[Any]]:
    """What runs the record. read: which of the values that a point gives are read at all."""
    from gradcli.engine.compiled.python import generated, is_scalar

    function: Callable[..., Sequence[Any]]
    if is_scalar(found):
        function = generated(found)
    else:
        from gradcli.engine.compiled.single import Replay

        function = Replay(found).run
    if all(read):
        return function
    return lambda *values: function(*[v for v, r in zip(values, read, strict=True) if r])
