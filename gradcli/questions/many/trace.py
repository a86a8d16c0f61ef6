"""A question traced at one point, with all that decided the answer, to be run at other points.

Two executors run a trace: `questions.many.rows` on blocks of points, `questions.many.prepared` at
one point after the other. What decided the path (the conditions of branches and loops, indices,
lengths) are its guards: a point where one of these is another takes another path. Which names a
point gives, the shapes of the values and what is no number are the same for all points of a path.
"""

from __future__ import annotations

from gradcli.engine.compiled.trace import Trace, Unrecorded, holds
from gradcli.engine.record.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from gradcli.lang.running.run import Run
    from gradcli.questions.question import Question

    T = TypeVar("T")


def trace(question: Question, at: Mapping[str, Any], names: Sequence[str],
          asked: Callable[[Run], tuple[list[Any], list[Any], T]]) -> tuple[Trace, T]:
    """Run a program at a point and ask it there, all recorded.

    names: of what is another value at other points; those that the program reads are the inputs of
    the trace. asked: gives values and derivatives, tensors or plain, and anything else, which is
    handed on. Raises what the program raises, and Unrecorded where what ran does not hold at other
    points: for tapes of the file, custom gradients, assignments and what was calculated outside of
    the engine.
    """
    program = question.program
    if program.names.tapes:
        raise Unrecorded
    run = program.traced_run(at, **question.options())
    if question.tf and run.watched:
        raise Unrecorded    # which uses count is found out once all have run
    record = run.record
    with record:
        guards, record.guards = record.guards or [], None
        own, slopes = len(record.history()), list(record.derived)
        if not record.portable or not all(map(holds, record.history())):
            raise Unrecorded
        values, derivatives, more = asked(run)
        entries = record.history()
    if not record.portable:
        raise Unrecorded
    inputs: dict[int, Any] = {}
    for name in names:
        if name in run.bindings:
            value: Tensor = run.bindings[name][0].value
            assert value.id is not None
            inputs[value.id] = value.value
    answers = [(f.id if isinstance(f, Tensor) else None, value_of(f))
               for f in (*values, *derivatives)]
    derived = dict.fromkeys((*record.derived, *[
        i for i, _ in answers[len(values):] if i is not None]))
    return Trace(entries, inputs, answers, guards, list(derived), own, slopes), more
