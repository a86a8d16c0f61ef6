"""The paths through a program that points take, each a trace that is run on whole blocks.

The guards of a trace are calculated for a block as the answers are; points where one of them is
another take another path, which is traced when the first of them is met.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.compiled.blocks import Executor
from gradcli.engine.compiled.graph import graph
from gradcli.engine.compiled.trace import Unrecorded, mixes_points
from gradcli.engine.record.record import ancestry, descendants
from gradcli.ops.kinds import EDGE
from gradcli.ops.values import shape_of
from gradcli.questions.many.again import Forward, WideTrace
from gradcli.questions.many.parts import Part, left_out, parts_of
from gradcli.questions.many.trace import trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.lang.running.run import Run
    from gradcli.questions.question import Question


class Path:
    """A path: what decided it, and what it answers.

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
                 again: WideTrace, left_out: Sequence[str]) -> None:
        self.guards = guards
        self.expected = expected
        self.slopes = slopes
        self.answers = answers
        self.parts = parts
        self.forward = forward
        self.again = again
        self.left_out = left_out

    def takes(self, columns: Sequence[Any]) -> Any:
        """Return which points take this path, as truth values."""
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
    """Return which points have a NaN among their numbers."""
    if values.dtype.kind not in "fc":
        return np.zeros(len(values), bool)
    return np.isnan(values).reshape(len(values), -1).any(axis=1)


def worked(executor: Executor, columns: Sequence[Any]) -> tuple[Any, list[Any] | None]:
    """Return which points work, as truth values, and the answers of those. A block in which one
    fails is halved until it stands alone.
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


def traced(question: Question, command: str, names: Sequence[str], point: Mapping[str, Any],
           size: int, paired: bool | None = None) -> Path:
    """Trace a question at one point. names: of the columns. size, paired: as `Executor` takes them.

    Raises what the program raises there, and Unrecorded where points have to be asked one by one.
    """
    def asked(run: Run) -> tuple[list[Any], list[Any], tuple[Run, list[Part], list[str]]]:
        unsaid = left_out(question, command, run)
        parts = parts_of(question, command, run, emit=True)
        return [], [np.full(p.shape, np.nan) if p.value is None else p.value for p in parts], (
            run, parts, unsaid)

    found, (run, parts, unsaid) = trace(question, {**question.at, **point}, names, asked)
    if len(found.inputs) < len(names):
        raise Unrecorded
    inputs = {i: shape_of(value) for i, value in found.inputs.items()}
    read = ancestry(found.entries, [i for i, _ in found.answers])
    unread = [i for i in found.fragile() if i not in read]
    guards = graph(found.entries, inputs, [
        *found.guards, *[(i, None) for i in (*found.slopes, *unread)]])
    kept = [k for k, a in enumerate(guards.answers) if isinstance(a, int)]
    guards.answers = [guards.answers[k] for k in kept]
    ran = found.entries[:found.own]
    given = descendants(ran, inputs)
    absorbs = command == "grad" and question.mode == "reverse" and not found.slopes and not any(
        mixes_points(e, given) for e in ran)
    first, second = len(found.guards), len(found.guards) + len(found.slopes)
    return Path(Executor(guards, size, paired) if kept else None,
                [found.guards[k][1] for k in kept if k < first],
                sum(first <= k < second for k in kept),
                Executor(graph(found.entries, inputs, found.answers), size, paired), parts,
                Forward(question, run, ran, inputs) if absorbs else None, WideTrace(found), unsaid)
