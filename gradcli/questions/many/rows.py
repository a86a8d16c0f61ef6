"""The answers at a batch of points, each by the path that it takes through the program.

A path is a trace that is run on whole blocks. Its guards are calculated for a block as the answers
are; points where one of them is another take another path, which is traced when the first of them
is met.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.base.lazy import np, quiet
from gradcli.engine.compiled.blocks import BLOCK, Executor
from gradcli.engine.compiled.graph import graph
from gradcli.engine.compiled.trace import Unrecorded, mixes_points
from gradcli.engine.record.record import ancestry, descendants
from gradcli.ops.kinds import EDGE
from gradcli.ops.values import dtype_of, shape_of, show
from gradcli.questions.many.again import Forward, WideTrace, extreme_rows, is_doubtful, settled
from gradcli.questions.many.parts import Part, left_out, parts_of, plain_value
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
           size: int, paired: bool | None = None, expected: int = 0) -> Path:
    """Trace a question at one point. names: of the columns. size, paired, expected: as `Executor`
    takes them, the last as its `points`.

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
    return Path(Executor(guards, size, paired, expected) if kept else None,
                [found.guards[k][1] for k in kept if k < first],
                sum(first <= k < second for k in kept),
                Executor(graph(found.entries, inputs, found.answers), size, paired, expected),
                parts, Forward(question, run, ran, inputs) if absorbs else None, WideTrace(found),
                unsaid)


# --------------------------------------------------------------------------------------------------
# The answers at the points, each by the path that it takes.

# After so many ways points are asked one by one: each has a way of its own, it seems.
MAX_PATHS = 64
# Codes of errors that no point has to itself: names are wrong everywhere.
NAMES = "E02"


class AnswerLayout:
    """The layout that an answer has at every point: per part its shape and whether it is a truth
    value, and the titles of all numbers.
    """

    __slots__ = ("shapes", "titles", "truths")

    def __init__(self, parts: Sequence[Part]) -> None:
        self.shapes = [part.shape for part in parts]
        self.truths = [_is_truth(part) for part in parts]
        self.titles = [part.name(at) for part in parts for at in np.ndindex(*part.shape)]

    def check(self, parts: Sequence[Part]) -> None:
        """Raise E0615 where another point has another layout."""
        for part, shape, truth in zip(parts, self.shapes, self.truths, strict=True):
            if part.shape != shape:
                raise error("E0615", f"`{part.name(())}` has shape {show(part.shape)} here and"
                            f" {show(shape)} at the first point", help="ask for something that has"
                            " the same shape at all points, such as a sum")
            if part.value is not None and _is_truth(part) != truth:
                raise error("E0615", f"`{part.name(())}` is a number at some points and a truth"
                            " value at others", help="write 1 and 0 for true and false")


def _is_truth(part: Part) -> bool:
    return dtype_of(plain_value(part)) == "bool" if part.value is not None else False


class Answers:
    """Numbers at a batch of n points.

    arrays: per part [n, its shape]. missing: per part which points have no gradient, [n], or None
    if all have one. failed: row to what is wrong there. doubtful: rows with a number that may be
    wrong, since something on the way left the range of floats. left_out: what derivatives
    leave out.
    """

    __slots__ = ("arrays", "doubtful", "failed", "left_out", "missing")

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.missing: list[Any] = []
        self.failed: dict[int, Diagnostic] = {}
        self.doubtful: set[int] = set()
        self.left_out: dict[str, None] = {}

    def put(self, k: int, n: int, rows: Any, values: Any, missing: bool) -> None:
        """Put in the values of part k at some rows of n."""
        while len(self.arrays) <= k:
            self.arrays.append(None)
            self.missing.append(None)
        if len(rows) == n:
            self.arrays[k] = values
        else:
            if self.arrays[k] is None:
                self.arrays[k] = np.full((n, *values.shape[1:]), np.nan if (
                    values.dtype.kind in "fc") else 0, values.dtype)
            whole = np.result_type(self.arrays[k], values)
            self.arrays[k] = self.arrays[k].astype(whole, copy=False)
            self.arrays[k][rows] = values
        if missing:
            if self.missing[k] is None:
                self.missing[k] = np.zeros(n, bool)
            self.missing[k][slice(None) if len(rows) == n else rows] = True

    def spread(self, rows: Any, n: int) -> None:
        """Spread the answers over rows of n, the others NaN."""
        self.doubtful = {int(rows[k]) for k in self.doubtful}
        arrays, gaps = self.arrays, self.missing
        self.arrays, self.missing = [], []
        for k, (values, missing) in enumerate(zip(arrays, gaps, strict=True)):
            self.put(k, n, rows, values, False)
            if missing is not None:
                self.missing[k] = np.zeros(n, bool)
                self.missing[k][rows] = missing

    def columns(self) -> list[tuple[Any, Any]]:
        """Return (numbers [n], which of them are missing or None) for each title of the layout."""
        return [(array[(slice(None), *at)], missing)
                for array, missing in zip(self.arrays, self.missing, strict=True)
                for at in np.ndindex(*array.shape[1:])]


class Points:
    """A question asked at many points.

    names: of the columns that are inputs. layout: of the first point that is answered, which all
    others have to have, too. size, paired, expected: as `traced` takes them. A batch is given as
    one array for each name, with the points along the first axis.
    """

    __slots__ = ("at", "command", "expected", "layout", "names", "one_by_one", "paired", "paths",
                 "question", "size")

    def __init__(self, question: Question, command: str, names: Sequence[str], size: int = BLOCK,
                 layout: AnswerLayout | None = None, paired: bool | None = None,
                 expected: int = 0) -> None:
        self.question = question
        self.at = dict(question.at)
        self.command = command
        self.names = list(names)
        self.size = size
        self.layout = layout
        self.paired = paired
        self.expected = expected
        self.paths: list[Path] = []
        self.one_by_one = False

    def answers(self, columns: Sequence[Any]) -> Answers:
        """Return the answers at n points, and what went wrong at some of them. Raises E02xx, what
        is wrong with the names of the program or of the question.
        """
        out = Answers()
        # As numbers where some are told from others.
        pending: Any = range(len(columns[0]))
        for path in self.paths:
            pending = self._along(path, columns, pending, out)
        while len(pending):
            row = int(pending[0])
            if self.one_by_one or len(self.paths) >= MAX_PATHS:
                self._alone(columns, row, out)
                pending = pending[1:]
                continue
            try:
                path = traced(self.question, self.command, self.names, self._point(columns, row),
                              self.size, self.paired, self.expected)
                self._check(path.parts)
            except Unrecorded:
                self.one_by_one = True
            except (GradcliError, IndexError, *EDGE):
                # A point alone may not fail: there zeros absorb in derivatives that the program
                # takes itself, and no arrays are refused.
                self._alone(columns, row, out)
                pending = pending[1:]
            else:
                pending = self._along(path, columns, pending, out)
                if len(pending) and pending[0] == row:
                    # On a block it is decided otherwise: by the last bit of a sine, or since an
                    # absorbing zero decides.
                    self._alone(columns, row, out)
                    pending = pending[1:]
                else:
                    self.paths.append(path)
        return out

    def _point(self, columns: Sequence[Any], row: int) -> dict[str, Any]:
        return {name: float(c[row]) if c.ndim == 1 else c[row]
                for name, c in zip(self.names, columns, strict=True)}

    def _check(self, parts: Sequence[Part]) -> None:
        """Check that a point has the layout of the first."""
        if self.layout is None:
            self.layout = AnswerLayout(parts)
        self.layout.check(parts)

    def _along(self, path: Path, columns: Sequence[Any], pending: Any, out: Answers) -> Any:
        """Answer the pending points that go one way; those that are left."""
        n = len(columns[0])
        if not len(pending):
            return pending
        given = columns if len(pending) == n else [c[_numbers(pending)] for c in columns]
        takes = path.takes(given)
        if not takes.any():
            return pending
        if takes.all():
            rows, left = pending, pending[:0]
        else:
            numbers = _numbers(pending)
            rows, left = numbers[takes], numbers[~takes]
            given = [c[takes] for c in given]
        good, some = worked(path.answers, given)
        if some is None or not good.all():
            numbers = _numbers(rows)
            for row in numbers[~good]:
                self._alone(columns, int(row), out)
            rows, given = numbers[good], [c[good] for c in given]
        if some is None:
            return left
        found = some
        out.left_out.update(dict.fromkeys(path.left_out))
        self._absorb(path, given, found)
        if path.answers.flushed or path.again.lost or path.again.silent:
            path.answers.flushed = False
            out.doubtful.update(
                _numbers(rows)[self._find_again(path, given, found)].tolist())
        for k, (part, values) in enumerate(zip(path.parts, found, strict=True)):
            out.put(k, n, rows, self._without_sign(part, values), part.value is None)
        return left

    def _absorb(self, path: Path, given: Sequence[Any], found: list[Any]) -> None:
        """Ask again, with zeros that absorb, where a point of numbers has a NaN."""
        numbers = [values for part, values, a in zip(
            path.parts, found, path.answers.graph.answers, strict=True)
            if part.value is not None and values.dtype.kind in "fc" and not (
                path.answers.numbers and isinstance(a, int))]
        with quiet():
            # One NaN makes a sum NaN; infinities may, too, so this tells only that there is none.
            if not any(np.isnan(values.sum()) for values in numbers):
                return
        spoiled = np.zeros(len(given[0]), bool)
        ended = spoiled
        for part, values in zip(path.parts, found, strict=True):
            nan = has_nan(values) if part.value is not None else np.zeros_like(spoiled)
            if self.command != "successive":
                spoiled = spoiled | nan
            elif part.derivative:   # a curve ends where its function does
                spoiled = spoiled | (nan & ~ended)
            else:
                ended = nan
        if not spoiled.any():
            return
        points = [c[spoiled] for c in given]
        if path.forward is None:
            rows = [[plain_value(p) for p in self._asked(self._point(points, k))[0]]
                    for k in range(len(points[0]))]
            again = [None if part.value is None else np.stack(values)
                     for part, values in zip(path.parts, zip(*rows, strict=True), strict=True)]
        else:
            gradients = path.forward.gradients(points)
            again = [_filled(found[k][spoiled], next(gradients)) if part.derivative else None
                     for k, part in enumerate(path.parts)]
        for k, values in enumerate(again):
            if values is not None:
                found[k] = found[k].copy()
                found[k][spoiled] = values

    def _find_again(self, path: Path, given: Sequence[Any], found: list[Any]) -> Any:
        """Ask again where numbers have left the range of floats on the way; where the answers may
        be wrong all the same, as truth values.
        """
        large = (np.ones(len(given[0]), bool) if path.again.lost
                 else extreme_rows(path.answers.graph, given))
        doubtful = np.zeros(len(large), bool)
        if not large.any():
            return doubtful
        points = [c[large] for c in given]
        ran, unsure = path.again.run(points), doubtful[large]
        if ran is not None:
            again, held = ran
        else:
            rows, held = [], np.ones(len(unsure), bool)
            for k in range(len(unsure)):
                parts, unsure[k], _ = self._asked(self._point(points, k))
                rows.append([plain_value(part) for part in parts])
            again = [None if part.value is None else np.stack(values)
                     for part, values in zip(path.parts, zip(*rows, strict=True), strict=True)]
        for k, (part, values) in enumerate(zip(path.parts, again, strict=True)):
            if values is None or found[k].dtype.kind != "f":
                continue
            old = found[k][large]
            new = settled(old, values, held)
            wrong = np.isfinite(old) & np.isnan(values)
            if part.derivative:
                found[k] = found[k].copy()
                found[k][large] = new
            else:   # a value stays as the program has it
                wrong |= np.isfinite(old) & (new != old)
            unsure = unsure | wrong.reshape(len(wrong), -1).any(axis=1)
        doubtful[large] = unsure
        return doubtful

    def _alone(self, columns: Sequence[Any], row: int, out: Answers) -> None:
        """Answer one point as the command line would."""
        try:
            parts, doubtful, unsaid = self._asked(self._point(columns, row))
        except GradcliError as problem:
            self._failed(row, problem, out)
            return
        if doubtful:
            out.doubtful.add(row)
        out.left_out.update(dict.fromkeys(unsaid))
        for k, part in enumerate(parts):
            value = plain_value(part)
            missing = value is None
            values = np.asarray(np.full(part.shape, np.nan) if missing else value)[None]
            out.put(k, len(columns[0]), np.array([row]), self._without_sign(part, values), missing)

    def _without_sign(self, part: Part, values: Any) -> Any:
        """Return the values as they are told. Which sign a second derivative of 0 has depends on
        the point at which its way was recorded, so it is told without.
        """
        return values + 0.0 if self.command == "hess" and part.derivative else values

    def _failed(self, row: int, problem: GradcliError, out: Answers) -> None:
        """Note what is wrong at one point. Raises what is wrong with the names, at all of them."""
        if problem.code.startswith(NAMES):
            raise problem
        out.failed[row] = problem.diagnostics[0]

    def _asked(self, point: dict[str, Any]) -> tuple[list[Part], bool, list[str]]:
        """Return the answers at one point, whether one may be wrong, and what derivatives leave
        out.
        """
        self.question.at = {**self.at, **point}
        run = self.question.run(explain=False)
        with run.record:
            unsaid = left_out(self.question, self.command, run)
            parts = parts_of(self.question, self.command, run, emit=False)
            doubtful = is_doubtful(run, parts) or bool(run.cache("rough"))
        self._check(parts)
        return parts, doubtful, unsaid


def _numbers(rows: Any) -> Any:
    """Return numbers of rows, an array or a range, as an array."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def _filled(before: Any, values: Any) -> Any:
    """Return the values where there was a NaN before."""
    return None if values is None else np.where(np.isnan(before), values, before)
