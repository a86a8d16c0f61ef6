"""`--points`: grad, jac, hess or eval at every row of a table, from rows in to rows out.

Rows go through in blocks, so memory does not grow with their number. What is wrong with single rows
goes to standard error, as all messages do.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack

from gradcli.cli.commands.question import QUESTIONS, guarded
from gradcli.cli.commands.values import asked
from gradcli.cli.environment import write
from gradcli.cli.files import whole_file
from gradcli.cli.main import OK, WRONG
from gradcli.errors import GradcliError
from gradcli.points import stream
from gradcli.points.inputs import inputs_of
from gradcli.points.job import Job
from gradcli.points.pools import pool
from gradcli.points.ranges import is_range, ranges
from gradcli.points.table import open_table
from gradcli.points.writing import output
from gradcli.render import diagnostics
from gradcli.render.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.errors import Diagnostic
    from gradcli.points.job import Done
    from gradcli.points.table import Table
    from gradcli.program import Program

# Rows in a block: a few of the executor's, so that a block is worth handing to another process.
ROWS = 32_768
# So many rows that are wrong are told in full, the others counted.
TOLD = 10

ENDINGS = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "ndjson": "ndjson", "jsonl": "ndjson",
    "json": "json", "md": "markdown", "parquet": "parquet", "arrow": "arrow", "feather": "arrow"}


def run(command: str, values: dict[str, Any], environment: Environment) -> int:
    """Answer a question at every row; 1 with --strict if a gradient is None."""
    gc.enable()     # a command that may run for hours is not one answer
    status: int = guarded(values, environment, lambda program: _answer(
        command, program, values, environment))
    return status


def _answer(command: str, program: Program, values: dict[str, Any], environment: Environment
            ) -> int:
    with ExitStack() as stack:
        table = stack.enter_context(_table(values, environment))
        question = asked(values)
        inputs, wanted = inputs_of(program, table, question["at"])
        job = Job(program.source, command, question, inputs, wanted, values["on_error"])
        blocks = stream.prepared(job, table.blocks())
        chosen = _format(values, environment, table)
        written = "plain" if chosen == "table" else chosen
        job.output = output(
            written, table, wanted, job.layout.titles if job.layout else (), job.on_error,
            {"command": command, "file": program.source.name, "mode": question["mode"]})
        executor, workers = stack.enter_context(pool(values["jobs"] or 1, values["scheduler"]))
        report = Report(job, values, environment)
        to = stack.enter_context(_stream(values, environment, chosen))
        sink = job.output.sink(to)
        bar: Iterable[Done] = stream.done(job, blocks, executor, workers)
        if environment.terminal(environment.stderr) and not values["quiet"]:
            bar = Progress(environment.stderr)(bar, table.total, lambda done: done.until)
        for done in bar:
            sink.write(done.piece)
            report.add(done)
        sink.close()
    report.end()
    return WRONG if values.get("strict") and report.missing else OK


def _table(values: dict[str, Any], environment: Environment) -> Table:
    texts: list[str] = values["points"]
    if is_range(texts[0]):
        return ranges(texts, ROWS)
    stdin: Any = environment.input() if texts[0] == "-" else None
    return open_table(texts[0], values["points_format"], stdin, ROWS)


def _format(values: dict[str, Any], environment: Environment, table: Table) -> str:
    """--format, else by the name of -o, else a table on a terminal, else as the input."""
    path = values["output"]
    if values["format"]:
        return str(values["format"])
    if path is not None and path != "-":
        ending = path.rpartition(".")[2].lower()
        return ENDINGS.get(ending, table.format)
    return "table" if environment.terminal(environment.stdout) else table.format


def _stream(values: dict[str, Any], environment: Environment, chosen: str) -> Any:
    """Where the rows go: a context manager."""
    path = None if values["output"] == "-" else values["output"]
    if chosen == "table":
        from gradcli.cli.commands.points_table import Gathered

        return Gathered(path, values, environment)
    if path is not None:
        return whole_file(path)
    return environment.output()


class Report:
    """What went wrong at some rows, for standard error. missing: whether a gradient was None."""

    __slots__ = ("environment", "job", "missing", "told", "values", "wrong")

    def __init__(self, job: Job, values: dict[str, Any], environment: Environment) -> None:
        self.job = job
        self.values = values
        self.environment = environment
        self.missing: dict[int, dict[str, Any]] = {}
        self.wrong = 0

    def add(self, done: Done) -> None:
        """A block is done. Raises what is wrong with its first bad row under --on-error stop."""
        for k, point in done.missing.items():
            self.missing.setdefault(k, point)
        for _, problem in sorted(done.problems.items()):
            if self.job.on_error == "stop":
                raise GradcliError(problem)
            self.wrong += 1
            if self.wrong <= TOLD and not self.values["quiet"]:
                self._tell(problem)

    def end(self) -> None:
        """Why gradients are None, and how many rows are missing."""
        told = self.environment.stderr
        self.environment.stdout.flush()
        if not self.values["quiet"]:
            self._explain()
        if self.wrong:
            what = "left out" if self.job.on_error == "skip" else "left empty"
            rows = "row" if self.wrong == 1 else "rows"
            write(told, f"gradcli: {self.wrong:,} {rows} {what}\n")

    def _tell(self, problem: Diagnostic) -> None:
        stream = self.environment.stderr
        write(stream, diagnostics.render(
            [problem], self.environment.color(stream, self.values["color"]),
            self.environment.width(stream), getattr(stream, "encoding", None) or "utf-8") + "\n")

    def _explain(self) -> None:
        """Each None once, as at the first point that has it."""
        from gradcli.render import causes

        said = ""
        assert self.job.layout is not None or not self.missing
        for k, point in sorted(self.missing.items()):
            title = self.job.layout.titles[k]   # type: ignore[union-attr]
            if title.partition("[")[0] not in said:
                answer = QUESTIONS[self.job.command](self.job.ask(point))
                said += causes.text(answer, False)
        write(self.environment.stderr, said)
