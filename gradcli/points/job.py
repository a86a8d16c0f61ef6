"""The work on one block of rows, for this process, another one, or another machine.

A job says all there is to know and can be pickled: parse a block, answer its points, write the
rows. The answers do not depend on who does which block.
"""

from __future__ import annotations

import threading

from gradcli.answers.ask import Ask
from gradcli.execute import circular
from gradcli.ops.lazy import np
from gradcli.points.compute import Answers, Points
from gradcli.program import Program
from gradcli.render import numbers
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.errors import Diagnostic
    from gradcli.points.compute import Layout
    from gradcli.points.inputs import Input
    from gradcli.points.table import Block, Rows
    from gradcli.points.writing import Output


class Job:
    """command, asked: the question, as `Ask` takes it. inputs: what `wanted` columns give.
    layout, output: of the answers; None until the first point is answered. on_error: "stop",
    "skip" or "null". paired: whether sines and cosines are calculated together, which is the same
    on all machines that share a job.
    """

    __slots__ = ("asked", "command", "inputs", "key", "layout", "name", "on_error", "output",
                 "paired", "text", "wanted")

    def __init__(self, source: Source, command: str, asked: Mapping[str, Any],
                 inputs: Sequence[Input], wanted: Sequence[int], on_error: str) -> None:
        import uuid

        self.text = source.text
        self.name = source.name
        self.command = command
        self.asked = dict(asked)
        self.inputs = list(inputs)
        self.wanted = list(wanted)
        self.on_error = on_error
        self.paired = circular.available()
        self.layout: Layout | None = None
        self.output: Output | None = None
        self.key = uuid.uuid4().hex

    def ask(self, point: Mapping[str, Any] | None = None) -> Ask:
        """The question, at a point."""
        ask = Ask(Program(Source(self.text, self.name)), **self.asked)
        ask.at.update(point or {})
        return ask

    def points(self) -> Points:
        """What answers it, in this thread."""
        return Points(self.ask(), self.command, [i.name for i in self.inputs], layout=self.layout,
                      paired=self.paired)


class Done:
    """A block that is done. piece: its rows, written. until: how far the input is used up. count:
    of its rows. problems: number of a row to what is wrong there. missing: number of a title to the
    first point that has no such gradient. bad: rows with an answer that is NaN or infinite, and
    the first of them: its number, its point. doubtful, first_doubtful: the same of rows with an
    answer that may be wrong. left_out: what derivatives leave out.
    """

    __slots__ = ("bad", "count", "doubtful", "first_bad", "first_doubtful", "left_out", "missing",
                 "piece", "problems", "until")

    def __init__(self, piece: bytes, until: int, count: int,
                 problems: Mapping[int, Diagnostic], missing: Mapping[int, dict[str, Any]],
                 bad: int = 0, first_bad: tuple[int, dict[str, Any]] | None = None,
                 doubtful: int = 0, first_doubtful: tuple[int, dict[str, Any]] | None = None
                 ) -> None:
        self.piece = piece
        self.until = until
        self.count = count
        self.problems = dict(problems)
        self.missing = dict(missing)
        self.bad = bad
        self.first_bad = first_bad
        self.doubtful = doubtful
        self.first_doubtful = first_doubtful
        self.left_out: list[str] = []


_local = threading.local()


def _points(job: Job) -> Points:
    """Of this thread: ways that were found for one block serve the next."""
    if getattr(_local, "key", None) != job.key:
        _local.key, _local.points = job.key, job.points()
    found: Points = _local.points
    return found


def work(job: Job, block: Block) -> Done:
    """One block from rows to rows."""
    assert job.output is not None
    rows = block.parse(job.wanted, job.output.echo)
    columns = [i.array(rows.columns) for i in job.inputs]
    answers, problems = _answered(job, columns, rows)
    if problems and job.on_error == "stop":
        first = min(problems)
        problems = {first: problems[first]}
        dropped: Mapping[int, Diagnostic] = dict.fromkeys(
            range(first, rows.count), problems[first])
    else:
        dropped = problems
    answered: list[Any] = []
    missing = {}
    bad = np.zeros(rows.count, bool)
    for k, (values, gaps) in enumerate(answers.columns()):
        if values.dtype.kind in "fc" and not np.isfinite(values).all():
            bad |= ~np.isfinite(values) if gaps is None else ~(np.isfinite(values) | gaps)
        if gaps is not None and gaps.any():
            row = int(np.flatnonzero(gaps)[0])
            missing[k] = _point(job, columns, row)
            values = None if gaps.all() else np.where(gaps, None, values.astype(object))
        answered.append(values)
    if not answered and job.layout is not None:     # no row could be answered
        answered = [np.zeros(rows.count)] * len(job.layout.titles)
    doubtful = np.zeros(rows.count, bool)
    doubtful[list(answers.doubtful)] = True
    counted: list[Any] = []
    for some in (bad, doubtful):
        some[list(dropped)] = False
        first = int(np.argmax(some)) if rows.count else 0
        counted += [int(some.sum()), (rows.first + first, _point(job, columns, first))
                    if some.any() else None]
    done = Done(job.output.piece(rows, answered, dropped), block.done, rows.count,
                {rows.first + k: d for k, d in problems.items()}, missing, *counted)
    done.left_out += answers.left_out
    return done


def _answered(job: Job, columns: Sequence[Any], rows: Rows
              ) -> tuple[Answers, dict[int, Diagnostic]]:
    """The answers, and what is wrong with some rows."""
    if not rows.bad:
        answers = _points(job).answers(columns)
        problems = answers.failed
    else:
        good = np.array([k for k in range(rows.count) if k not in rows.bad], dtype=int)
        answers = _points(job).answers([c[good] for c in columns])
        problems = {int(good[k]): d for k, d in answers.failed.items()}
        answers.spread(good, rows.count)
    for k, d in problems.items():
        d.notes = (*d.notes, f"in row {rows.first + k} (the first is 0), where "
                   + ", ".join(f"{i.name} = {_shown(c[k])}"
                               for i, c in zip(job.inputs, columns, strict=True)))
    return answers, {**problems, **rows.bad}


def _shown(value: Any) -> str:
    return numbers.exact(value.tolist())


def _point(job: Job, columns: Sequence[Any], row: int) -> dict[str, Any]:
    return {i.name: float(c[row]) if c.ndim == 1 else c[row]
            for i, c in zip(job.inputs, columns, strict=True)}


def likely_layout(job: Job) -> Layout | None:
    """The layout where there are no points: that at ones, if there is an answer."""
    points = job.points()
    points.answers([np.ones((1, *i.shape)) for i in job.inputs])
    return points.layout


def first_layout(job: Job, block: Block) -> Layout | None:
    """The layout of the first point of a block that can be answered."""
    rows = block.parse(job.wanted, None)
    columns = [i.array(rows.columns) for i in job.inputs]
    points = job.points()
    for k in range(rows.count):
        if k not in rows.bad:
            points.answers([c[k:k + 1] for c in columns])
            if points.layout is not None:
                return points.layout
    return None
