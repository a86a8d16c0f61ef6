"""check --batch: a line of NDJSON in, a line out, in the same order, as they come.

What is there is answered before more is waited for, so a program that asks line by line gets its
answers line by line; and no more lines are in memory than the processes work on.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack, nullcontext

from gradcli.base.errors import GradcliError, error
from gradcli.base.workers.batches import Job, run_batches
from gradcli.base.workers.pools import pool
from gradcli.cli.commands.check import fields_of, located, seed_of
from gradcli.cli.environment import BAD_INPUT, OK, WRONG, write
from gradcli.homework.lines import SCHEMA, Checker, failed, undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, BinaryIO

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.homework import CheckOptions

    Line = tuple[int, bytes]
    # Fields of problems that do not say, the seed, and where the lines come from.
    About = tuple[dict[str, Any], int | str, str]

CHUNK = 64 * 1024
# No line is longer; the rest of one is read over.
MAX_LINE = 1024 * 1024
# Lines that another process gets at once: some tenth of a second of work.
BLOCK = 200
MARK = b"\xef\xbb\xbf"


def run(options: CheckOptions, environment: Environment) -> int:
    """Answer all lines; 3 if one was no problem, else 1 if an answer is not right."""
    gc.enable()     # a command that may run for hours is not one answer
    defaults = fields_of(options)
    _checked(defaults)
    name = "<stdin>" if options.batch == "-" else options.batch
    status = OK
    with ExitStack() as stack:
        stream = stack.enter_context(_opened(options, environment))
        put = stack.enter_context(_output(options, environment))
        executor, workers = stack.enter_context(
            pool(options.jobs or 1, options.scheduler, guarded=True))
        about = defaults, seed_of(options), name

        def tell(block: Sequence[Line], found: list[tuple[bool, Any]]) -> None:
            nonlocal status
            for line, (done, outcome) in zip(block, found, strict=True):
                answer, means = outcome if done else (_given_up(line, outcome), WRONG)
                put(answer)
                status = max(status, means)

        job = Job(answers, about, repr(about))
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


class _Output:
    """Lines to standard output or a file; None is a pause, before which all is written."""

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


def _output(options: CheckOptions, environment: Environment) -> Any:
    path = None if options.output == "-" else options.output
    format = options.chosen() or "ndjson"
    if path is None:
        stream = environment.stdout
        return nullcontext(_Output(lambda text: write(stream, text), stream.flush, format))
    return _file(path, format)


class _file:
    """A whole file, which has its name when all is written."""

    __slots__ = ("_context", "_format")

    def __init__(self, path: str, format: str) -> None:
        from gradcli.cli.files import whole_file

        self._context = whole_file(path)
        self._format = format

    def __enter__(self) -> _Output:
        file = self._context.__enter__()
        return _Output(lambda text: file.write(text.encode("utf-8", "backslashreplace")),
                       lambda: None, self._format)

    def __exit__(self, *exception: Any) -> None:
        self._context.__exit__(*exception)


# ---- lines -----------------------------------------------------------------------------------


def blocks(stream: BinaryIO) -> Iterator[list[Line] | None]:
    """Yield the numbered lines of a stream in blocks; None where it pauses. Empty lines are left
    out, and of one that is too long only the beginning is kept.
    """
    read = getattr(stream, "read1", stream.read)
    found: list[Line] = []
    number = 1
    rest = b""
    while data := read(CHUNK):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if number == 1:
                line = line.removeprefix(MARK)
            if line.strip():
                found.append((number, line))
            number += 1
            if len(found) == BLOCK:
                yield found
                found = []
        # One byte more than is allowed tells that it was too long.
        rest = rest[:MAX_LINE + 1]
        if not _has_more(stream):
            if found:
                yield found
                found = []
            yield None
    if rest.strip():
        found.append((number, rest.removeprefix(MARK) if number == 1 else rest))
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


def answers(about: About) -> Callable[[Line], tuple[dict[str, Any], int]]:
    """Return the function from a line to its object and the exit status that it means. Problems
    stay prepared from one call to the next.
    """
    key = repr(about)
    if key not in _checkers:
        _checkers.clear()
        _checkers[key] = Checker(*about)
    checker = _checkers[key]

    def of(line: Line) -> tuple[dict[str, Any], int]:
        number, raw = line
        if len(raw) > MAX_LINE:
            too_long = error("E0709", f"the line is longer than {MAX_LINE // 1024 ** 2} MiB",
                             help="write one object on each line")
            return failed(too_long, None, "", number, checker.name), BAD_INPUT
        answer, is_right = checker.answer(raw, number)
        return answer, BAD_INPUT if "error" in answer else OK if is_right else WRONG

    return of


def _given_up(line: Line, reason: str) -> dict[str, Any]:
    """Return the object for an answer that no process could check."""
    import json

    try:
        id = json.loads(line[1]).get("id")
    except (ValueError, RecursionError, AttributeError):
        id = None
    return {"schema": SCHEMA, "id": id, **undecided(
        f"it cannot be checked: {reason}: a person has to look at it")}
