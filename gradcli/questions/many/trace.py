"""The ways through a program that points take, each run on whole blocks.

A way is recorded at one point, with everything that decided it: the conditions of branches and
loops, indices, lengths. These are calculated for a block as the answers are; points where one of
them is another go another way, which is recorded when the first of them is met.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.compiled.blocks import Executor
from gradcli.engine.compiled.graph import graph
from gradcli.engine.compiled.trace import (
    Unrecorded,
    ancestors,
    holds,
    may_fail,
    mixes_points,
    reached,
)
from gradcli.engine.record.record import OUT
from gradcli.ops.kinds import EDGE
from gradcli.questions.many.absorbing import Forward
from gradcli.questions.many.asked import Part, asked, identity, left_out, plain_value
from gradcli.questions.many.extremes import Again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.questions.ask import Ask


class Path:
    """One way: what decided it, and what it answers.

    guards: what decided it, then derivatives that the program takes itself, then what may be
    refused although no answer reads it. expected: the values of the first of these. slopes: how
    many the second are; where one is NaN, zeros may absorb. parts: of the answers, with their
    values at the point where it was recorded. forward: what ran before any derivative, where zeros
    may have to absorb; None where that is asked point by point. again: what ran, where numbers may
    have left the range of floats. left_out: messages on what derivatives leave out.
    """

    __slots__ = ("again", "answers", "expected", "forward", "guards", "left_out", "parts",
                 "slopes")

    def __init__(self, guards: Executor | None, expected: Sequence[Any], slopes: int,
                 answers: Executor, parts: Sequence[Part], forward: Forward | None,
                 again: Again, left_out: Sequence[str]) -> None:
        self.guards = guards
        self.expected = expected
        self.slopes = slopes
        self.answers = answers
        self.parts = parts
        self.forward = forward
        self.again = again
        self.left_out = left_out

    def takes(self, columns: Sequence[Any]) -> Any:
        """Which points go this way: truth values."""
        n = len(columns[0])
        if self.guards is None:
            return np.ones(n, bool)
        # What cannot be calculated decides something else.
        found, values = worked(self.guards, columns)
        if values is None:
            return found
        first = len(self.expected)
        good = np.ones(len(values[0]), bool)
        for value, expected in zip(values, self.expected, strict=False):
            same = value == expected
            good &= same.reshape(len(same), -1).all(axis=1)
        for value in values[first:first + self.slopes]:
            good &= ~has_nan(value)
        found[found] = good
        return found


def has_nan(values: Any) -> Any:
    """Which points have a NaN among their numbers."""
    if values.dtype.kind not in "fc":
        return np.zeros(len(values), bool)
    return np.isnan(values).reshape(len(values), -1).any(axis=1)


def worked(executor: Executor, columns: Sequence[Any]) -> tuple[Any, list[Any] | None]:
    """Which points work, as truth values, and the answers of those. A block in which one fails is
    halved until it stands alone.
    """
    n = len(columns[0])
    try:
        return np.ones(n, bool), executor.run(columns)
    except (GradcliError, IndexError, *EDGE):
        if n == 1:
            return np.zeros(1, bool), None
    halves = [worked(executor, [c[half] for c in columns])
              for half in (slice(n // 2), slice(n // 2, n))]
    arrays = [found for _, found in halves if found is not None]
    return np.concatenate([good for good, _ in halves]), [
        np.concatenate(parts) for parts in zip(*arrays, strict=True)] or None


def recorded(ask: Ask, command: str, names: Sequence[str], point: Mapping[str, Any], size: int,
             paired: bool | None = None) -> Path:
    """The way of one point. names: of the columns. size, paired: as `Executor` takes them.

    Raises what the program raises there, and Unrecorded where points have to be asked one by one.
    """
    if ask.program.names.tapes:
        raise Unrecorded
    run = ask.program.traced_run({**ask.at, **point}, max_steps=ask.max_steps, tf=ask.tf)
    if ask.tf and run.watched:
        raise Unrecorded  # which uses count is found out once all have run
    record = run.record
    with record:
        decided, record.guards = record.guards or [], None
        ran, slopes = record.history()[:], list(record.derived)
        if not record.portable or not all(map(holds, ran)):
            raise Unrecorded
        unsaid = left_out(ask, command, run)
        parts = asked(ask, command, run, emit=True)
        entries = record.history()
    inputs = {}
    for name in names:
        value = run.bindings[name][0].value
        inputs[value.id] = value.shape
    answers = graph(entries, inputs, [
        (identity(p), np.full(p.shape, np.nan) if p.value is None else plain_value(p))
        for p in parts])
    read = ancestors(entries, [identity(p) for p in parts])
    unread = [e[OUT] for e in ran if may_fail(e) and e[OUT] not in read]
    checked = [*decided, *[(i, None) for i in (*slopes, *unread)]]
    guards = graph(entries, inputs, checked)
    kept = [k for k, a in enumerate(guards.answers) if isinstance(a, int)]
    guards.answers = [guards.answers[k] for k in kept]
    forward = None
    given = reached(ran, inputs)
    if command == "grad" and ask.mode == "reverse" and not slopes and not any(
            mixes_points(e, given) for e in ran):
        forward = Forward(ask, run, ran, inputs)
    first, second = len(decided), len(decided) + len(slopes)
    return Path(Executor(guards, size, paired) if kept else None,
                [decided[k][1] for k in kept if k < first], sum(first <= k < second for k in kept),
                Executor(answers, size, paired), parts, forward,
                Again(entries, inputs, [identity(p) for p in parts], len(ran)), unsaid)
