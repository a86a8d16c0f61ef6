"""check: one answer against one function, or with --batch a line out for each line of NDJSON.

Lines are answered in order, and what is there before more is waited for, so a program that asks
line by line gets its answers line by line; and no more lines are in memory than the processes work
on.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack, contextmanager, nullcontext

from gradcli.base.errors import Diagnostic, GradcliError, Source, decode, listed
from gradcli.cli.commands.output import Destination, complain
from gradcli.cli.environment import BAD_INPUT, OK, WRONG, write
from gradcli.homework.checking.fields import from_fields, in_options
from gradcli.homework.checking.problem import DEFAULTS
from gradcli.homework.lines import (
    KEYS,
    MAX_LINE,
    SCHEMA,
    Checker,
    Line,
    right,
    undecided,
    unreadable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, BinaryIO

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.homework import CheckOptions, HomeworkOptions
    from gradcli.homework.checking.prepared import PreparedProblem

    # Fields of problems that do not say, and the seed.
    About = tuple[dict[str, Any], int | str]


MAX_ANSWER = 64 * 1024


def run(options: CheckOptions, environment: Environment) -> int:
    """Check one answer; 1 if it is not right.

    Raises E0701 to E0709 where the problem cannot be set.
    """
    from gradcli.homework.check import check

    answer = options.answer or ""
    if answer == "-":
        answer = decode(environment.input().read(MAX_ANSWER), "<stdin>").text.strip()
    ready = _prepared(options)
    found = check(ready, answer)
    _show({"schema": SCHEMA, "id": None, **{key: found[key] for key in KEYS}}, options,
          environment)
    if found["verdict"] == "unreadable" and options.format in (None, "table", "plain") \
            and not options.quiet:
        complain(unreadable(ready, answer), options, environment)
    return OK if right(found, ready.problem.domain_policy) else WRONG


def _show(answer: dict[str, Any], options: CheckOptions, environment: Environment) -> None:
    from gradcli.render.layouts.check import page

    destination = Destination(options, environment)
    destination.write(
        answer, [page(destination.rounded(answer), options.quiet, options.verbose > 0)])


# ---- the problem that a command line states, and where on it an error stands -------------------


def fields_of(options: CheckOptions) -> dict[str, Any]:
    """Return the fields of a problem that the command line gives."""
    given = vars(options)
    found = {name: given[name] for name in DEFAULTS if given.get(name) not in (None, False, [])}
    for name in ("wrt", "at", "to", "parameters", "domain"):
        if name in found:
            found[name] = ",".join(listed(found[name]))
    return found


def seed_of(options: HomeworkOptions) -> int | str:
    """Return --seed, as a number if it is one."""
    text = options.seed
    if text is None:
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


def _prepared(options: CheckOptions) -> PreparedProblem:
    """Return the problem of the command line, ready; what is wrong with it has its place there."""
    from gradcli.homework import check

    fields = fields_of(options)
    try:
        return check.prepare(from_fields(fields), seed_of(options))
    except GradcliError as problem:
        raise located(problem, fields) from None


def located(problem: GradcliError, fields: dict[str, Any]) -> GradcliError:
    """Return the error with the option that it names as its place, and the function by default."""
    found = []
    about = problem.about[1] if problem.about is not None else None
    for one in problem.diagnostics:
        source, span = one.source, one.span
        if source is None:
            words = (about, *one.message.split("`")[1:2])
            name = next((word for word in words if word in fields), "function")
            text = str(fields.get(name, ""))
            source = Source(text, name if name == "function" else f"--{name.replace('_', '-')}")
            span = (0, len(text)) if span is None or name != "function" else span
        found.append(Diagnostic(
            one.code, one.message, span=span, source=source, label=one.label, related=one.related,
            notes=one.notes, help=in_options(one)))
    return GradcliError(*found)


CHUNK = 64 * 1024
# Lines that another process gets at once: some tenth of a second of work.
BLOCK = 200
MARK = b"\xef\xbb\xbf"


def run_batch(options: CheckOptions, environment: Environment) -> int:
    """Answer all lines; 3 if one was no problem, else 1 if an answer is not right."""
    from gradcli.base.workers.batches import Job, run_batches
    from gradcli.base.workers.pools import pool

    gc.enable()     # a command that may run for hours is not one answer
    defaults = fields_of(options)
    _checked(defaults)
    name = "<stdin>" if options.batch == "-" else options.batch or ""
    status = OK
    with ExitStack() as stack:
        stream = stack.enter_context(_opened(options, environment))
        put = stack.enter_context(_lines(options, environment))
        executor, workers = stack.enter_context(
            pool(options.jobs or 1, options.scheduler, guarded=True))
        about = defaults, seed_of(options)

        def tell(block: Sequence[Line], found: list[tuple[bool, Any]]) -> None:
            nonlocal status
            for line, (done, outcome) in zip(block, found, strict=True):
                result, is_right = outcome if done else (_given_up(outcome), False)
                answer = line.told(result, name)
                put(answer)
                status = max(status, BAD_INPUT if "error" in answer else OK if is_right else WRONG)

        job = Job(checker, about, repr(about), Line.asked, lambda line: repr(line.asked()))
        source = blocks(stream)
        for first in source:
            run_batches(executor, workers, job, _until_pause(first, source), tell)
            put(None)
    return status


def _until_pause(first: list[Line] | None, source: Iterator[list[Line] | None]
                 ) -> Iterator[list[Line]]:
    """Yield blocks as long as they come without waiting."""
    block = first
    while block is not None:
        yield block
        block = next(source, None)


def _checked(defaults: dict[str, Any]) -> None:
    """Raise the error of an option that would be wrong on every line."""
    from gradcli.homework.checking.fields import READERS

    for name, value in defaults.items():
        try:
            READERS[name](name, value)
        except GradcliError as problem:
            raise located(problem, defaults) from None


def _opened(options: CheckOptions, environment: Environment) -> Any:
    """Open the file of lines as a stream of bytes. Raises E0601."""
    path = options.batch or ""
    if path == "-":
        return nullcontext(environment.input())
    try:
        return open(path, "rb")
    except (OSError, ValueError):
        from gradcli.base.errors import read

        try:
            read(path)      # says what is wrong, and what may have been meant
        except GradcliError as failure:
            if " -e " in (failure.diagnostics[0].help or ""):
                failure.diagnostics[0].help = "give a file of NDJSON, or `-` for standard input"
            raise
        raise


class LineWriter:
    """A writer of lines to standard output or a file; None is a pause, before which all is
    written.
    """

    __slots__ = ("_flush", "_format", "_text")

    def __init__(self, text: Callable[[str], Any], flush: Callable[[], Any], format: str) -> None:
        self._text = text
        self._flush = flush
        self._format = format
        if format != "ndjson":
            from gradcli.render.layouts.check import COLUMNS

            self._row(COLUMNS)

    def __call__(self, answer: dict[str, Any] | None) -> None:
        if answer is None:
            self._flush()
        elif self._format == "ndjson":
            from gradcli.render import machine as json

            self._text(json.dump(answer) + "\n")
        else:
            from gradcli.render.layouts.check import row

            self._row(row(answer))

    def _row(self, cells: Sequence[Any]) -> None:
        from gradcli.render.delimited import lines

        self._text(lines([cells], "\t" if self._format == "tsv" else ","))


@contextmanager
def _lines(options: CheckOptions, environment: Environment) -> Iterator[LineWriter]:
    """Open what lines are written to: standard output, or a file that is written whole."""
    format = options.chosen() or "ndjson"
    if options.output in (None, "-"):
        stream = environment.stdout
        yield LineWriter(lambda text: write(stream, text), stream.flush, format)
        return
    from gradcli.cli.files import whole_file

    with whole_file(options.output) as file:
        yield LineWriter(lambda text: file.write(text.encode("utf-8", "backslashreplace")),
                    lambda: None, format)


# ---- lines -----------------------------------------------------------------------------------


def blocks(stream: BinaryIO) -> Iterator[list[Line] | None]:
    """Yield the numbered lines of a stream in blocks; None where it pauses. Empty lines are left
    out, and of one that is too long only the beginning is kept.
    """
    read = getattr(stream, "read1", stream.read)
    found: list[Line] = []
    size = 0
    number = 1
    rest = b""
    while data := read(CHUNK):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if number == 1:
                line = line.removeprefix(MARK)
            if line.strip():
                found.append(Line(number, line))
                size += len(line)
            number += 1
            if len(found) == BLOCK or size > MAX_LINE:
                yield found
                found, size = [], 0
        # One byte more than is allowed tells that it was too long.
        rest = rest[:MAX_LINE + 1]
        if not _has_more(stream):
            if found:
                yield found
                found, size = [], 0
            yield None
    if rest.strip():
        found.append(Line(number, rest.removeprefix(MARK) if number == 1 else rest))
    if found:
        yield found


def _has_more(stream: BinaryIO) -> bool:
    """Return whether a read would not wait; False where that cannot be known."""
    from select import select

    try:
        return bool(select([stream.fileno()], [], [], 0)[0])
    except (OSError, ValueError, AttributeError):
        return False


_checkers: dict[str, Checker] = {}


def checker(about: About) -> Checker:
    """Return what checks lines. Problems stay prepared from one call to the next."""
    key = repr(about)
    if key not in _checkers:
        _checkers.clear()
        _checkers[key] = Checker(*about)
    return _checkers[key]


def _given_up(reason: str) -> dict[str, Any]:
    """Return the result for an answer that no process could check."""
    return undecided(f"it cannot be checked: {reason}: a person has to look at it")
