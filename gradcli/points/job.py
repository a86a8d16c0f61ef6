"""The work on one block of rows, for this process, another one, or another machine.

A job holds all that a worker needs and can be pickled: parse a block, compute its points, write the
rows. The results do not depend on who does which block.
"""

from __future__ import annotations

import os
from _thread import _local as ThreadLocal
from collections import deque
from itertools import chain, product

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.lazy import np
from gradcli.base.similar import nearest
from gradcli.engine.compiled import statements
from gradcli.engine.record.variable import ASSIGNING
from gradcli.lang.running.program import Program
from gradcli.questions.many.rows import Answers, Points
from gradcli.questions.question import Question
from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any

    from gradcli.points.table import Block, Rows, Table
    from gradcli.points.writing import Output
    from gradcli.questions.many.rows import AnswerLayout


class Job:
    """A question at the points of a table.

    command, options: the question, as `Question` takes it.
    inputs: the inputs that the `wanted` columns give.
    layout, output: of the results; None until the first point is done.
    on_error: "stop", "skip" or "null".
    paired: whether sines and cosines are calculated together, which is the same on all machines
        that share a job.
    expected: about how many points there are, where all workers are of this machine; else 0.
    """

    __slots__ = ("command", "expected", "inputs", "key", "layout", "name", "on_error", "options",
                 "output", "paired", "text", "wanted")

    def __init__(self, source: Source, command: str, options: Mapping[str, Any],
                 inputs: Sequence[Input], wanted: Sequence[int], on_error: str) -> None:
        self.text = source.text
        self.name = source.name
        self.command = command
        self.options = dict(options)
        self.inputs = list(inputs)
        self.wanted = list(wanted)
        self.on_error = on_error
        self.paired = statements.available()
        self.expected = 0
        self.layout: AnswerLayout | None = None
        self.output: Output | None = None
        self.key = os.urandom(16).hex()

    def question(self, point: Mapping[str, Any] | None = None) -> Question:
        """Return the question, at a point."""
        question = Question(Program(Source(self.text, self.name)), **self.options)
        question.at.update(point or {})
        return question

    def points(self) -> Points:
        """Return an object that answers the question at points, in this thread."""
        return Points(self.question(), self.command, [i.name for i in self.inputs],
                      layout=self.layout, paired=self.paired, expected=self.expected)


class Done:
    """A block that is done.

    piece: its rows, written.
    until: the amount of input used up to its end.
    count: of its rows.
    problems: number of a row to its diagnostic.
    missing: number of a title to the first point without that gradient.
    bad, first_bad: the number of rows with a result that is NaN or infinite, and the first of them:
        its number, its point.
    doubtful, first_doubtful: likewise for rows with a result that may be wrong.
    left_out: what derivatives leave out.
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


_local: Any = ThreadLocal()


def _points(job: Job) -> Points:
    """Return the points of this thread: paths that were found for one block serve the next."""
    if getattr(_local, "key", None) != job.key:
        _local.key, _local.points = job.key, job.points()
    found: Points = _local.points
    return found


def work(job: Job, block: Block) -> Done:
    """Compute one block from rows to rows."""
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
    """Return the results, and the diagnostics of rows without one."""
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


def likely_layout(job: Job) -> AnswerLayout | None:
    """Return the layout for a table without points: that at ones, if it can be computed."""
    points = job.points()
    points.answers([np.ones((1, *i.shape)) for i in job.inputs])
    return points.layout


def first_layout(job: Job, block: Block) -> AnswerLayout | None:
    """Return the layout of the first point of a block that can be computed, None without one."""
    rows = block.parse(job.wanted, None)
    columns = [i.array(rows.columns) for i in job.inputs]
    points = job.points()
    for k in range(rows.count):
        if k not in rows.bad:
            points.answers([c[k:k + 1] for c in columns])
            if points.layout is not None:
                return points.layout
    return None


# --------------------------------------------------------------------------------------------------
# Which columns give a program its inputs: `x`, or for a vector `x[0]`, `x[1]`, ...
#
# Other columns are handed through: a table may have more than a program reads.

# What separates cells in other tables, and what to do about it.
SEPARATORS = {
    ";": "separate them by commas, and write 1.5 for 1,5", "|": "separate them by commas",
    "\t": "name the format: --points-format tsv", " ": "separate them by commas",
    ",": "name the format: --points-format csv"}


class Input:
    """An input that columns give.

    shape: of its value. indices: for each element, in row-major order, that of its column among the
    wanted ones.
    """

    __slots__ = ("indices", "name", "shape")

    def __init__(self, name: str, shape: tuple[int, ...], indices: Sequence[int]) -> None:
        self.name = name
        self.shape = shape
        self.indices = list(indices)

    def array(self, columns: Sequence[Any]) -> Any:
        """Return [points, shape] from one array for each wanted column."""
        if not self.shape:
            return columns[self.indices[0]]
        return np.stack([columns[k] for k in self.indices], axis=1).reshape(-1, *self.shape)


def inputs_of(program: Program, table: Table, at: Mapping[str, Any]
              ) -> tuple[list[Input], list[int]]:
    """Return the inputs that a table gives, and the positions of the columns that they need.

    Raises E0614 where no column is an input, a name is given twice or an element is missing.
    """
    found: dict[str, dict[tuple[int, ...], str]] = {}
    for column in dict.fromkeys(table.names):
        name, index = _element(column)
        if name in program.names.order and name not in program.names.functions:
            found.setdefault(name, {})[index] = column
    if not found:
        raise _no_input(table, program)
    for name in program.default_sources:
        d = program.names.declared.get(name)
        if name not in found and name not in at and (d is None or not d.has_value):
            near = nearest(name, [c for c in table.names if _element(c)[0] not in found])
            if near is not None:
                raise _bad(table, f"no column gives `{name}` a value",
                           f"call the column `{near}` {name}, if it is meant, or give --at"
                           f" {name}=...")
    inputs: list[Input] = []
    wanted_columns: list[int] = []
    for name, elements in found.items():
        if name in at:
            raise _bad(table, f"`{name}` has a column and a value in --at", "give one of them")
        shape = _shape(table, name, elements)
        indices = range(len(wanted_columns), len(wanted_columns) + len(elements))
        inputs.append(Input(name, shape, indices))
        for index in np.ndindex(*shape):
            position = table.position(elements[index])
            assert position is not None
            wanted_columns.append(position)
    return inputs, wanted_columns


def lookalikes(program: Program, table: Table, inputs: Sequence[Input]) -> list[tuple[str, str]]:
    """Return (column, input) for columns that differ from an input that none gives by case only."""
    given = {i.name for i in inputs}
    lower = {name.lower(): name for name in program.default_sources if name not in given}
    return [(column, lower[column.lower()]) for column in dict.fromkeys(table.names)
            if column not in program.names.order and column.lower() in lower]


def assigned(program: Program, inputs: Sequence[Input]) -> dict[str, int]:
    """Return inputs that the program assigns itself, with the line of the first assignment."""
    given = {i.name for i in inputs}
    text = program.source.text
    found: dict[str, int] = {}
    for start, method in sorted(program.names.objects.items()):
        name = next((n for n in given if text.startswith(n + ".", start)), None)
        if method in ASSIGNING and name is not None:
            found.setdefault(name, program.source.position(start)[0])
    return found


def _no_input(table: Table, program: Program) -> GradcliError:
    columns = ", ".join(table.names[:8]) + (", ..." if len(table.names) > 8 else "")
    message = f"no column of {columns} is an input of `{program.source.name}`"
    wanted = program.default_sources or list(program.names.order)
    if not wanted:
        return _bad(table, message, "the program reads no input; leave --points out")
    line = table.header(None).strip()
    if line[:1] in ("{", "[") and table.format != "ndjson":
        return _bad(table, message, "of JSON, give one object a line and --points-format ndjson")
    for sign, help in SEPARATORS.items():
        if len(table.names) == 1 and sign in line:
            return _bad(table, message, f"cells are not separated by {sign!r} in"
                        f" {table.format.upper()}; {help}")
    for column in table.names:
        near = nearest(_element(column)[0].rstrip("0123456789_."), wanted)
        if near is not None:
            return _bad(table, message, f"call the column `{column}` {near}, or {near}[0],"
                        f" {near}[1], ... if it is part of a vector")
    return _bad(table, message, f"call a column {wanted[0]}")


def _element(column: str) -> tuple[str, tuple[int, ...]]:
    """Return ("x", (0, 1)) for `x[0,1]`; (column, ()) for anything else."""
    name, bracket, rest = column.partition("[")
    parts = [part.strip() for part in rest[:-1].split(",")]
    if not bracket or not rest.endswith("]") or not all(
            part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return column, ()
    return name.strip(), tuple(map(int, parts))


def _shape(table: Table, name: str, elements: Mapping[tuple[int, ...], str]) -> tuple[int, ...]:
    """Return the shape that has exactly these elements. Raises an error if there is none."""
    ranks = {len(index) for index in elements}
    if len(ranks) > 1:
        raise _bad(table, f"{', '.join(map('`{}`'.format, elements.values()))} do not fit together",
                   f"give the elements of `{name}` as {name}[0], {name}[1], ...")
    shape = tuple([1 + max(axis) for axis in zip(*elements, strict=True)])
    if int(np.prod(shape, dtype=object)) != len(elements):
        # The first one that is missing has so many before it at most, however large the shape is.
        most = len(elements) + 1
        missing = next(at for at in product(*(range(min(n, most)) for n in shape))
                       if at not in elements)
        raise _bad(table, f"column `{name}[{','.join(map(str, missing))}]` is missing",
                   f"give all elements of `{name}`")
    return shape


def _bad(table: Table, message: str, help: str) -> GradcliError:
    line = table.header(None)
    return GradcliError(Diagnostic(
        "E0614", message, span=(0, len(line)), source=Source(line, table.name), help=help))


# --------------------------------------------------------------------------------------------------
# Blocks of rows through a job, in order, with bounded memory, on one process or many.

# Blocks that each worker may be ahead: enough to be busy, few enough to hold.
AHEAD = 2


def prepared(job: Job, blocks: Iterable[Block]) -> Iterator[Block]:
    """Return the blocks, with `job.layout` set from the first point that can be computed.

    The layout stays None where no point can be.
    """
    rest = iter(blocks)
    seen = []
    for block in rest:
        seen.append(block)
        job.layout = first_layout(job, block)
        if job.layout is not None:
            break
    if not seen:
        job.layout = likely_layout(job)
    return chain(seen, rest)


def run_blocks(job: Job, blocks: Iterable[Block], pool: Executor | None, workers: int
               ) -> Generator[Done]:
    """Yield each block done, in the order of the blocks.

    pool: anything with the interface of `concurrent.futures`; None: this process.
    """
    if pool is None:
        for block in blocks:
            yield work(job, block)
        return
    running: deque[Future[Done]] = deque()
    for block in blocks:
        running.append(pool.submit(work, job, block))
        if len(running) > AHEAD * workers:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()
