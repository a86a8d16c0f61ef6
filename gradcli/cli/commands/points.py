"""`--points`: grad, jac, hess or eval at every row of a table, from rows in to rows out.

Rows go through in blocks, so memory does not grow with their number. What is wrong with single rows
goes to standard error, as all messages do.
"""

from __future__ import annotations

import gc
from collections import deque
from contextlib import ExitStack, closing, contextmanager

from gradcli.base.errors import GradcliError
from gradcli.base.workers.pools import helpless, pool
from gradcli.cli.commands.output import Destination, complain
from gradcli.cli.commands.question import QUESTIONS, guarded, question_arguments
from gradcli.cli.environment import OK, WRONG
from gradcli.cli.files import whole_file
from gradcli.points import job as stream
from gradcli.points.files import ENDINGS, ending, open_table
from gradcli.points.job import Job, assigned, inputs_of, lookalikes
from gradcli.points.ranges import is_range, ranges
from gradcli.points.writing import output
from gradcli.questions.plain_data import data, heading
from gradcli.render.numbers import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any, BinaryIO

    from gradcli.base.errors import Diagnostic
    from gradcli.cli.environment import Environment
    from gradcli.cli.options.questions import QuestionOptions
    from gradcli.lang.running.program import Program
    from gradcli.points.job import Done
    from gradcli.points.table import Table
    from gradcli.render.progress import Progress

# Rows in a block: a few of the executor's, so that a block is worth handing to another process.
ROWS = 32_768
# So many rows that are wrong are reported in full, the others counted.
REPORTED = 10
# Statements of a formula that is not short.
MANY = 100
# What can be written and not read.
WRITTEN = {**ENDINGS, "json": "json", "md": "markdown"}


def run(options: QuestionOptions, environment: Environment) -> int:
    """Answer a question at every row; 1 with --strict if a gradient is None or a number NaN,
    infinite or perhaps wrong.
    """
    status: int = guarded(
        options, environment, lambda program, options: _answer(program, options, environment))
    return status


def _answer(program: Program, options: QuestionOptions, environment: Environment) -> int:
    command = options.command.name
    with ExitStack() as stack:
        table = stack.enter_context(_table(options, environment))
        question = question_arguments(program, options)
        inputs, wanted = inputs_of(program, table, question["at"])
        job = Job(program.source, command, question, inputs, wanted, options.on_error)
        # Other machines may have no compiler, and other functions of vectors.
        job.expected = 0 if options.scheduler else table.rows()
        blocks = stream.prepared(job, table.blocks())
        chosen = _format(options, environment, table)
        written = "plain" if chosen == "table" else chosen
        job.output = output(
            written, table, wanted, job.layout.titles if job.layout else (), job.on_error,
            {**heading(program.source, command), "mode": question["mode"]})
        executor, workers = stack.enter_context(pool(options.jobs or 1, options.scheduler))
        progress = environment.progress(
            options.quiet, options.output in (None, "-") and chosen != "table")
        report = Report(job, options, environment, progress)
        to = stack.enter_context(_stream(options, environment, chosen))
        bar: Generator[Done] = finished(stream.run_blocks(job, blocks, executor, workers))
        if progress is not None:
            bar = progress(bar, table.total, lambda done: done.until)
        with closing(bar), job.output.sink(to) as sink:
            for done in bar:
                sink.write(done.piece)
                report.add(done)
                gc.enable()     # behind the first block: the work may take hours
        if not options.quiet:
            report.compiled()
            report.near(lookalikes(program, table, job.inputs))
            if command != "eval":
                report.assigned(assigned(program, job.inputs))
    report.end()
    return WRONG if options.strict and (
        report.missing or report.bad or report.doubtful or report.left_out) else OK


def finished(blocks: Iterator[Done]) -> Generator[Done]:
    """Yield the blocks. Raises E0738 where an executor has lost its workers."""
    try:
        yield from blocks
    except Exception as problem:
        if type(problem).__module__.partition(".")[0] in ("concurrent", "distributed"):
            raise helpless(problem) from None
        raise


def _table(options: QuestionOptions, environment: Environment) -> Table:
    texts = options.points
    if is_range(texts[0]):
        return ranges(texts, ROWS)
    stdin: Any = environment.input() if texts[0] == "-" else None
    return open_table(texts[0], options.points_format, stdin, ROWS)


def _format(options: QuestionOptions, environment: Environment, table: Table) -> str:
    """Return --format, else the format of the ending of -o, else a table on a terminal, else the
    format of the input.
    """
    path = options.output
    if options.format:
        return options.format
    if path is not None and path != "-":
        return WRITTEN.get(ending(path)[0], table.format)
    return "table" if environment.terminal(environment.stdout) else table.format


def _stream(options: QuestionOptions, environment: Environment, chosen: str) -> Any:
    """Return the context manager of the stream that rows are written to."""
    path = None if options.output == "-" else options.output
    if chosen == "table":
        return Gathered(Destination(options, environment))
    if path is None:
        return environment.output()
    if ending(path)[1] and chosen not in ("parquet", "arrow"):
        return _packed(path)
    return whole_file(path)


@contextmanager
def _packed(path: str) -> Iterator[BinaryIO]:
    """Open a file that is written whole and packed with gzip, without the name and the time that
    gzip stores, so that equal answers are equal bytes.
    """
    import gzip

    with whole_file(path) as file, gzip.GzipFile("", "wb", 6, file, 0) as packed:
        yield packed    # type: ignore[misc]


class Report:
    """The problems of rows, for standard error. missing: points where a gradient was None, by
    target. bad: how many rows have a number that is NaN or infinite, first_bad: the first of them.
    doubtful, first_doubtful: likewise of rows with a number that may be wrong. left_out: what
    derivatives leave out.
    """

    __slots__ = ("bad", "doubtful", "environment", "first_bad", "first_doubtful", "job",
                 "left_out", "missing", "options", "progress", "wrong")

    def __init__(self, job: Job, options: QuestionOptions, environment: Environment,
                 progress: Progress | None) -> None:
        self.job = job
        self.options = options
        self.environment = environment
        self.progress = progress
        self.missing: dict[int, dict[str, Any]] = {}
        self.wrong = 0
        self.bad = 0
        self.first_bad: tuple[int, dict[str, Any]] | None = None
        self.doubtful = 0
        self.first_doubtful: tuple[int, dict[str, Any]] | None = None
        self.left_out: dict[str, None] = {}

    def add(self, done: Done) -> None:
        """Add the problems of a finished block. Raises that of its first bad row under --on-error
        stop.
        """
        for k, point in done.missing.items():
            self.missing.setdefault(k, point)
        self.bad += done.bad
        self.first_bad = self.first_bad or done.first_bad
        self.doubtful += done.doubtful
        self.first_doubtful = self.first_doubtful or done.first_doubtful
        self.left_out.update(dict.fromkeys(done.left_out))
        for _, problem in sorted(done.problems.items()):
            if self.job.on_error == "stop":
                raise GradcliError(problem)
            self.wrong += 1
            if self.wrong <= REPORTED and not self.options.quiet:
                self._tell(problem)

    def end(self) -> None:
        """Tell why gradients are None and numbers not finite, and how many rows are missing."""
        if not self.options.quiet:
            self._explain()
            self._explain_bad()
            self._explain_doubtful()
            for said in self.left_out:
                self.environment.tell(f"gradcli: {said}\n")
        if self.wrong:
            what = "left out" if self.job.on_error == "skip" else "left empty"
            rows = "row" if self.wrong == 1 else "rows"
            self.environment.tell(f"gradcli: {self.wrong:,} {rows} {what}\n")

    def compiled(self) -> None:
        """Tell with --verbose that many points would be faster with llvmlite."""
        from gradcli.engine.compiled import jit, machine

        if self.options.verbose and jit.pays(self.job.expected, MANY) and not machine.available():
            self.environment.tell(
                "gradcli: so many points are calculated faster with pip install 'gradcli[jit]'\n")

    def near(self, found: list[tuple[str, str]]) -> None:
        """Tell which columns may have been meant as inputs."""
        for column, name in found:
            self.environment.tell(f"gradcli: the column `{column}` is handed through: the"
                  f" input is called `{name}`\n")

    def assigned(self, found: dict[str, int]) -> None:
        """Tell which columns give a variable its first value, which need not be that of the answer.
        """
        for name, line in found.items():
            self.environment.tell(f"gradcli: `{name}` is assigned in line {line}: the column gives"
                  " its first value, a derivative belongs to the one that the target reads\n")

    def _tell(self, problem: Diagnostic) -> None:
        if self.progress is not None:
            self.progress.hide()
        complain([problem], self.options, self.environment, "\n")

    def _explain(self) -> None:
        """Tell the reason of each None once, at the first point that has it."""
        from gradcli.render.messages import remarks

        said = ""
        assert self.job.layout is not None or not self.missing
        for k, point in sorted(self.missing.items()):
            title = self.job.layout.titles[k]   # type: ignore[union-attr]
            if title.partition("[")[0] not in said:
                answer = QUESTIONS[self.job.command](self.job.question(point))
                said += remarks(answer)
        self.environment.tell(said)

    def _explain_bad(self) -> None:
        """Tell how many rows have NaN or infinity, and why the first one has."""
        if self.first_bad is None:
            return
        from gradcli.render.messages import remarks

        row, point = self.first_bad
        rows = "row has" if self.bad == 1 else "rows have"
        self.environment.tell(f"gradcli: {self.bad:,} {rows} NaN or infinity, first row"
              f" {row} (counted from 0), where {_where(point)}\n"
              + remarks(QUESTIONS[self.job.command](self.job.question(point))))

    def _explain_doubtful(self) -> None:
        """Tell how many rows may be wrong, since numbers on the way left the range of floats, or no
        step was good enough.
        """
        if self.first_doubtful is None:
            return
        row, point = self.first_doubtful
        rows = "row" if self.doubtful == 1 else "rows"
        steps = ", or differences are not good enough there" if (
            self.job.question(point).mode == "finite") else ""
        self.environment.tell(
            f"gradcli: {self.doubtful:,} {rows} may be wrong, since a number on the way is too"
            f" small or too large for a float{steps}, first row {row} (counted from 0), where"
            f" {_where(point)}\n")


def _where(point: dict[str, Any]) -> str:
    return ", ".join([f"{name} = {exact(data(value))}" for name, value in point.items()])


# --------------------------------------------------------------------------------------------------
# The rows of `--points` as a table: gathered, since a table's columns are as wide as its rows.

# A terminal is shown so many rows from either end.
SHOWN = 10


class Gathered:
    """Takes tab-separated lines and prints them as a table at the end: on a terminal the first and
    the last, elsewhere all of them.
    """

    __slots__ = ("count", "destination", "first", "last", "rest")

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self.first: list[str] = []
        self.last: deque[str] = deque(maxlen=SHOWN if destination.to_terminal else None)
        self.count = 0
        self.rest = b""

    def write(self, data: bytes) -> int:
        """Take some more bytes, which need not end with a line."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if len(self.first) <= SHOWN:      # the head line is one more
                self.first.append(line.decode())
            else:
                self.last.append(line.decode())
            self.count += 1
        return len(data)

    def flush(self) -> None:
        pass

    def __enter__(self) -> Gathered:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is not None or not self.first:
            return
        from gradcli.render.layouts.derivative_tables import points_page
        from gradcli.render.terminal import write as table

        header, *first = [line.split("\t") for line in self.first]
        last = [line.split("\t") for line in self.last]
        page = points_page(header, first, last, self.count - 1 - len(first) - len(last))
        self.destination.put(table([page], **self.destination.view()))
