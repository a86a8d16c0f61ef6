"""Answers at points where those of a trace may be wrong, found again.

Numbers that left the range of floats on the way: the derivative that was traced is a program like
any other, and its operations are run on wide numbers (`gradcli.ops.wide`), so that a slope that is
no float, or a product that is none half-way, still counts. What floats know as well stays what they
found. Gradients that came out as NaN: which zeros absorb an infinite slope depends on the values,
so what ran is run again on a batch of the points concerned, through the tape's own operations, and
swept as the command line would (`gradcli.engine.sweeps.absorbing`).
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.compiled.statements import INTO
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    IDS,
    OP,
    OUT,
    VALUES,
    Record,
    Segment,
    ancestry,
    descendants,
    fresh_id,
)
from gradcli.engine.record.tensor import Tensor, apply, value_of
from gradcli.engine.sweeps import absorbing
from gradcli.engine.sweeps.extremes import FAINT, LARGE, extreme
from gradcli.engine.sweeps.wide import flushed
from gradcli.lang.running.run import parts
from gradcli.ops.kinds import EDGE
from gradcli.ops.wide import Wide, wide
from gradcli.questions.question import seeds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.engine.compiled.statements import Statements
    from gradcli.engine.compiled.trace import Trace
    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Run
    from gradcli.questions.many.parts import Part
    from gradcli.questions.question import Question

# Rows of which the values of all statements are kept at a time.
ROWS = 4096
# Differences that rounding explains.
CLOSE = 1e-11
# The smallest float, and the smallest with all its digits: smaller numbers are neither right nor
# wrong.
SMALLEST, NORMAL = 2.0**-1074, 2.0**-1022


def extreme_rows(graph: Statements, columns: Sequence[Any]) -> Any:
    """Return truth values: at which points numbers are very large or very small, and others no
    normal float.
    """
    found = [_rows(graph, [c[k:k + ROWS] for c in columns])
             for k in range(0, len(columns[0]), ROWS)]
    return np.concatenate(found)


def _rows(graph: Statements, columns: Sequence[Any]) -> Any:
    n = len(columns[0])
    # NumPy takes a single row another way.
    values = [np.concatenate([c, c[-1:]]) for c in columns]
    constants = [o.value for step in graph.steps for o in step.operands if not isinstance(o, int)]
    with np.errstate(all="ignore"):  # the bounds are no numbers of float32
        large, lost = np.full(n, any(map(_is_extreme, constants))), np.zeros(n, bool)
        for value in columns:
            size = np.abs(value).reshape(n, -1)
            large |= ((size > 0) & ((size < 1 / LARGE) | (size > LARGE))).any(axis=1)
        for step in graph.steps:
            operands = [values[o] if isinstance(o, int) else o.value for o in step.operands]
            if step.function in INTO:
                value = np.empty((n + 1, *step.shape), step.dtype)
                step.function(*operands, out=value)
            else:
                value = step.function(*operands)
            values.append(value)
            if value.dtype.kind == "f":
                size = np.abs(value[:n]).reshape(n, -1)
                large |= (~(size < LARGE) | ((size > 0) & (size < 1 / LARGE))).any(axis=1)
                lost |= (~((size >= NORMAL) & (size < np.inf))).any(axis=1)
        for k in graph.answers:
            if isinstance(k, int) and values[k].dtype.kind == "f":
                size = np.abs(values[k][:n]).reshape(n, -1)
                least = 0.0 if values[k].ndim == 1 else SMALLEST  # zeros are common among many
                large |= ((size >= least) & (size < FAINT)).any(axis=1)
    return large & lost


def is_doubtful(run: Run, parts: Sequence[Part]) -> bool:
    """Return whether an answer at a point may be wrong."""
    if run.record.lost:
        return True
    values = [p.value for p in parts if not p.derivative and isinstance(p.value, Tensor)]
    if not extreme(run.record.compact(), [
            b[0].value for b in run.bindings.values() if isinstance(b[0].value, Tensor)],
            [v.value for v in values]):
        return False
    return bool(flushed(run.record.history(), [v.id for v in values if v.id is not None]))


def _is_extreme(constant: Any) -> bool:
    array = np.asarray(constant)
    size = np.abs(array) if array.dtype.kind == "f" else np.ones(1)
    return bool(((size > 0) & ((size < 1 / LARGE) | (size > LARGE))).any())


class WideTrace:
    """A trace, of numbers alone, to be run on wide ones. own: ids of the values of the program.
    lost: what is the same at all points has left the range of floats already. silent: a function
    does not tell NumPy of an underflow.
    """

    __slots__ = ("answers", "entries", "inputs", "lost", "own", "silent")

    def __init__(self, trace: Trace) -> None:
        entries, self.inputs = trace.entries, list(trace.inputs)
        self.answers = [i for i, _ in trace.answers]
        needed, varies = ancestry(entries, self.answers), descendants(entries, self.inputs)
        self.entries = [e for e in entries if e[OUT] in needed and e[OUT] in varies]
        self.own = {e[OUT] for e in entries[:trace.own]}
        fixed = Segment()
        fixed.extend(e for e in entries if e[OUT] in needed and e[OUT] not in varies)
        fixed.scalar = False
        self.lost = bool(fixed) and extreme(fixed, ()) and bool(
            flushed(fixed, [e[OUT] for e in fixed]))
        self.silent = any(e[OP].elementwise and e[OP].arrays is None for e in self.entries)

    def run(self, columns: Sequence[Any]) -> tuple[list[Any], Any] | None:
        """Return per part its numbers as far as they are known, else NaN, and at which points all
        values of the program are numbers; None where not all is of numbers.
        """
        if self.lost or any(not e[OP].elementwise or type(e[ANS]) not in (float, bool)
                            for e in self.entries):
            return None
        with np.errstate(all="ignore"):
            return self._run(columns)

    def _run(self, columns: Sequence[Any]) -> tuple[list[Any], Any] | None:
        known: dict[int | None, Any] = {
            i: wide(c) for i, c in zip(self.inputs, columns, strict=True)}
        held = np.ones(len(columns[0]), bool)
        try:
            for entry in self.entries:
                known[entry[OUT]] = entry[OP](*[
                    known[i] if i in known else v
                    for i, v in zip(entry[IDS], entry[VALUES], strict=True)])
                if entry[OUT] in self.own and type(known[entry[OUT]]) is Wide:
                    held &= np.isfinite(known[entry[OUT]].floats())
        except (GradcliError, TypeError, ValueError, AttributeError, *EDGE):
            return None
        return [_sure(known[i]) if i in known else None for i in self.answers], held


def _sure(value: Any) -> Any:
    if type(value) is not Wide:
        return None
    if value.doubt is None:
        return value.floats()
    return np.where(value.doubt > value.size() - 30, np.nan, value.floats())


def settled(old: Any, new: Any, held: Any) -> Any:
    """Return what replaces numbers that floats found: other ones, where these are known; and what
    are no numbers, where the values are (held).
    """
    held = held.reshape(-1, *[1] * (old.ndim - 1))
    with np.errstate(all="ignore"):
        same = (np.abs(new - old) <= CLOSE * np.abs(new)) | np.isnan(new)
        same |= ~np.isfinite(old) & ~held
        same |= np.maximum(np.abs(new), np.abs(old)) <= NORMAL
    return np.where(same, old, new)


class Forward:
    """The entries of a program before any derivative, with its targets and sources."""

    __slots__ = ("as_tensorflow", "entries", "inputs", "sources", "targets")

    def __init__(self, question: Question, run: Run, entries: Sequence[Entry], inputs: Iterable[int]
                 ) -> None:
        self.entries = entries
        self.inputs = list(inputs)
        self.as_tensorflow = question.tf
        self.sources = [
            question.source(run, b) for b in question.program.sources(run, question.wrt)]
        self.targets = []
        for target in question.program.targets(run, question.of):
            tensors = parts(target)
            self.targets.append((tensors, seeds_of(question, tensors)))

    def gradients(self, columns: Sequence[Any]) -> Iterator[Any]:
        """Return per target and source the gradients [points, source's shape], or None."""
        n = len(columns[0])
        record = Record()
        with record, quiet():
            made = {i: Tensor(column, fresh_id(), 1)
                    for i, column in zip(self.inputs, columns, strict=True)}
            for entry in self.entries:
                ids: Any = entry[IDS]
                if any(i in made for i in ids):
                    made[entry[OUT]] = apply(
                        entry[OP], [made[i] if i in made else v
                                    for i, v in zip(ids, entry[VALUES], strict=True)],
                        entry[ATTRIBUTES])
            entries = record.history()
            for tensors, weights in self.targets:
                seeds: dict[int, Any] = {}
                for k, t in enumerate(tensors):
                    again: Any = made.get(t.id)     # type: ignore[arg-type]
                    if again is not None:
                        seed = np.ones((n, *t.shape)) * (weights[k] if weights else 1.0)
                        seeds[again.id] = Tensor(seed + value_of(seeds.get(again.id, 0.0)), None, 1)
                for s in self.sources:
                    source: Any = made.get(s.id)    # type: ignore[arg-type]
                    found = None if source is None else absorbing.reverse(
                        entries, seeds, [source.id], as_tensorflow=self.as_tensorflow
                    ).get(source.id)
                    yield None if found is None else value_of(found)
