"""Values of curves and fields: a program at many points of the ranges on the axes."""

from __future__ import annotations

import re

from gradcli.base.errors import Diagnostic, GradcliError, Source, error
from gradcli.base.lazy import np
from gradcli.lang.running.calls import NoGradient, is_number
from gradcli.lang.running.run import Target, tensor_of
from gradcli.lang.typed.constants import constant
from gradcli.ops.table.shapes import index
from gradcli.ops.values import SCALAR_TYPES, shape_of
from gradcli.questions.many.rows import Points
from gradcli.questions.question import Question
from gradcli.render.numbers import significant, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Run
    from gradcli.questions.plain_data import Answer

    Index = tuple[int, ...]


# Beyond, the width of a range or of a picture is no float.
LARGEST = 1e300
# Below, what is drawn with takes a range for a point.
SMALLEST = 1e-280


# --------------------------------------------------------------------------------------------------
# `--over x=-10:10`: an input and its range on an axis.

class Over:
    """An input, or the element `at` of one that is an array, which an axis shows from `low` to
    `high`. name: of both, as `x[0]`.
    """

    __slots__ = ("at", "base", "high", "low", "name")

    def __init__(self, base: str, at: tuple[int, ...], low: float, high: float) -> None:
        self.base = base
        self.at = at
        self.name = joined(base, at)
        self.low = low
        self.high = high


def over(texts: Sequence[str]) -> list[Over]:
    """Parse one or two inputs with their ranges. Raises E0812 for anything else."""
    found: list[Over] = []
    for text in texts:
        name, equals, _ = text.partition("=")
        try:
            base, at = element(name)
        except ValueError:
            base, at = "", ()
        if not (equals and base):
            raise _bad("--over", text, (0, len(text)), f"`{text}` names no input and range",
                       "write NAME=A:B, such as x=-10:10, or x[0]=-1:1 for an element")
        found.append(Over(base, at, *limits_of(text, "--over", len(name) + 1)))
        if found[-1].name in [o.name for o in found[:-1]]:
            raise _bad("--over", text, (0, len(name)), f"`{found[-1].name}` has two ranges",
                       "leave one of them out")
        if len(found) > 2:
            raise _bad("--over", text, (0, len(text)), "two inputs at most have an axis each",
                       "give others a value with --at")
    return found


def limits_of(text: str, option: str, start: int = 0) -> tuple[float, float]:
    """Return the two numbers of A:B, which begins at `start`. Raises E0812 where these are none."""
    low, colon, _ = text[start:].partition(":")
    if not colon:
        raise _bad(option, text, (start, len(text)), "the range has no second number",
                   "write A:B, such as -10:10")
    first = _number(text, option, start, start + len(low))
    second = _number(text, option, start + len(low) + 1, len(text))
    if not first < second:
        raise _bad(option, text, (start, len(text)), "the range is empty",
                   "write the smaller number first")
    if second - first <= max(1e-9 * max(abs(first), abs(second)), SMALLEST):
        raise _bad(option, text, (start, len(text)), "the range is too narrow to be drawn",
                   "write numbers that differ in their first nine digits")
    return first, second


def _number(text: str, option: str, start: int, stop: int) -> float:
    part = text[start:stop]
    help = "write a number, such as 2*pi"
    if not part.strip():
        raise _bad(option, text, (start, stop), "a number is missing", help)
    try:
        value = constant(part.strip(), option)
    except GradcliError as problem:
        shift = start + len(part) - len(part.lstrip())
        for one in problem.diagnostics:
            one.source = Source(text, option)
            one.span = (start, stop) if one.span is None else (
                one.span[0] + shift, one.span[1] + shift)
            one.related = tuple(((a + shift, b + shift), s) for (a, b), s in one.related)
        raise
    if type(value) not in SCALAR_TYPES or isinstance(value, (str, complex)) or not (
            abs(value) <= LARGEST):
        raise _bad(option, text, (start, stop), f"`{part.strip()}` is not a finite number", help)
    return float(value)


def _bad(option: str, text: str, span: Span, message: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0812", message, span=span, source=Source(text, option), help=help))


# --------------------------------------------------------------------------------------------------
# Elements of arrays in pictures: `y[0]`, `y[1]` as targets, `x[0]` as the input on an axis.

# Of an array so many elements are drawn: as many as there are colours.
MOST = 6


def element(text: str) -> tuple[str, Index]:
    """Read the name and the index of `y`, `y[1]`, `y[0,1]` and `y[0][1]`. Raises ValueError for
    what is none of these.
    """
    name, bracket, rest = text.strip().partition("[")
    if not name.strip().isidentifier() or (bracket and not rest.endswith("]")):
        raise ValueError(text)
    if not bracket:
        return name.strip(), ()
    return name.strip(), tuple([int(part) for part in rest[:-1].replace("][", ",").split(",")])


def joined(name: str, at: Index) -> str:
    """Return an element's name as `y[0][1]`: without a comma, which is a sum in the name of a
    target.
    """
    return name + "".join([f"[{k}]" for k in at])


def within(name: str, at: Index, shape: Sequence[int], option: str) -> Index:
    """Return an index counted from the front. Raises E0813 at the text of the option where an array
    of this shape has no such element.
    """
    if len(at) != len(shape) or not all(-n <= k < n for k, n in zip(at, shape, strict=True)):
        last = joined(name, tuple([n - 1 for n in shape]))
        wanted = joined(name, at)
        raise GradcliError(Diagnostic(
            "E0813", f"`{name}` has shape {list(shape)}, and so no `{wanted}`",
            span=(0, len(wanted)), source=Source(wanted, option),
            help=f"its elements are {joined(name, (0,) * len(shape))} to {last}" if shape else
            f"write {name}"))
    return tuple([k % n for k, n in zip(at, shape, strict=True)])


class Along(Question):
    """A question whose sources are one element of an array. element: which, or () for a number."""

    __slots__ = ("element",)

    def __init__(self, question: Question, element: Index) -> None:
        for name in Question.__slots__:
            setattr(self, name, getattr(question, name))
        self.element = element


class Elements:
    """A program whose array targets are one target for each element.

    cut: names of targets that have more than are drawn, how many, and what the last one is called.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self.cut: dict[str, tuple[int, str]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def targets(self, run: Run, of: Sequence[str] = (), *, derived: bool = True) -> list[Target]:
        """Return targets as `Program.targets` does, where a name may have an index."""
        found: list[Target] = []
        for text in of:
            name, at = _asked(text)
            (target,) = self._program.targets(run, [name])
            found += self._elements(target, at)
        return found or [one for target in self._program.targets(run, derived=derived)
                         for one in self._elements(target, ())]

    def _elements(self, target: Target, at: Index) -> Iterator[Target]:
        value = target.tensor
        if "," in target.name or value is None or isinstance(value, (NoGradient, str, dict)):
            yield target
            return
        apart = isinstance(value, list) and bool(value) and all(
            is_number(item) and not getattr(item, "shape", ()) for item in value)
        tensor = None if apart else tensor_of(target)
        shape = (len(value),) if tensor is None else tensor.shape
        if 0 in shape:
            yield target
            return
        if at:
            chosen = [within(target.name, at, shape, "--of")]
        else:
            chosen = list(np.ndindex(*shape))
            if len(chosen) > MOST:
                self.cut[target.name] = len(chosen), joined(target.name, chosen[-1])
        for place in chosen[:MOST]:
            yield Target(
                joined(target.name, place), value[place[0]] if tensor is None else tensor
                if not place else index(tensor, pattern=place), target.span, target.source)


def _asked(text: str) -> tuple[str, Index]:
    """Return the name and the index of a target; a sum has none."""
    if "[" not in text or "," in text:
        return text, ()
    try:
        return element(text)
    except ValueError:
        raise error("E0813", f"`{text}` names no element",
                    help="write y[1], or y[0][1] for a matrix") from None


# --------------------------------------------------------------------------------------------------
# A program at the points of a picture, by the executor of points.

class Evaluator:
    """A question at many points.

    question: the question. overs: the inputs that vary. order: how many derivatives in the only
    one, or 0 for the gradient in all. targets: what is asked for. elements: the program, whose
    arrays are one target for each element. missing: (target, number of the derivative from 1) that
    have no path.
    points: where the program is looked at, one after the other until one works.
    problem: what went wrong at the first of the points that could not be answered, which are NaN;
    None where all could.
    """

    __slots__ = ("_arrays", "_names", "_points", "count", "elements", "missing", "overs", "problem",
                 "question", "targets")

    def __init__(self, question: Question, overs: Sequence[Over], order: int,
                 points: Sequence[Sequence[float]]) -> None:
        self.elements = Elements(question.program)
        self.overs = list(overs)
        self.count = order or len(overs)
        self._names = list(dict.fromkeys([o.base for o in overs]))
        self._arrays: dict[str, Any] = {}
        self.question = Along(question, overs[0].at if order else ())
        self.question.program = self.elements  # type: ignore[assignment]
        self.question.wrt = [overs[0].base]*order or self._names
        self.missing: set[tuple[int, int]] = set()
        self.problem: Diagnostic | None = None
        self.targets: list[Target] = []
        for k, point in enumerate(points):
            try:
                self._look(point)
                break
            except GradcliError as problem:     # a program may refuse some points
                if not problem.code.startswith("E04") or k == len(points) - 1:
                    raise

        self._points = Points(self.question, "successive" if order else "grad", self._names)

    def at(self, point: Sequence[float]) -> dict[str, Any]:
        """Return the inputs at a point, by name."""
        return {name: column[0] if name in self._arrays else float(column[0]) for name, column in (
            zip(self._names, self._columns([np.array([x]) for x in point]), strict=True))}

    def still(self, name: str) -> Iterator[tuple[str, float]]:
        """Return the elements of an array that no axis varies, with their values."""
        if name in self._arrays:
            varied = {o.at for o in self.overs if o.base == name}
            for at in np.ndindex(*self._arrays[name].shape):
                if at not in varied:
                    yield joined(name, at), float(self._arrays[name][at])

    def _columns(self, points: Sequence[Any]) -> list[Any]:
        """Return points of the axes as an array for each name, points first; elements of an array
        that no axis varies keep their value.
        """
        found: dict[str, Any] = {name: np.repeat(array[None], len(points[0]), axis=0)
                 for name, array in self._arrays.items()}
        for o, numbers in zip(self.overs, points, strict=True):
            if o.base in found:
                found[o.base][(slice(None), *o.at)] = numbers
            else:
                found[o.base] = numbers
        return [found[name] for name in self._names]

    def _look(self, point: Sequence[float]) -> None:
        """Find the targets in a run at one point. Raises E0813 for what is no scalar number."""
        question = self.question
        self._find_arrays(point)
        for o in self.overs:
            if not o.at and o.base in question.at:
                _check_scalar(o, shape_of(question.at[o.base]))
                raise error("E0813", f"`{o.base}` has a range in --over and a value in --at",
                            help="give one of them")
        run = question.run(self.at(point), explain=False)
        with run.record:
            for o in self.overs:
                if o.base in run.bindings:
                    _check_scalar(o, run.bindings[o.base][0].value.shape)
            self.targets = question.program.targets(run, question.of)
            question.program.sources(run, question.wrt)
            for target in self.targets:
                self._check(target)
            self._check_free(run)

    def _check_free(self, run: Run) -> None:
        """Raise E0836 for an input that the file assigns before the target reads it."""
        varied = [run.bindings[o.base][0] for o in self.overs if o.base in run.bindings]
        if any(run.assigned(b) for b in varied):
            from gradcli.questions.states import check_free

            for target in self.targets:
                check_free(self.question, run, target, varied, "a plot")

    def _find_arrays(self, point: Sequence[float]) -> None:
        """Find the values of arrays of which an axis varies an element."""
        whole = {o.base for o in self.overs if o.at}
        if not whole or self._arrays:
            return
        run = self.question.run({
            o.base: x for o, x in zip(self.overs, point, strict=True) if not o.at}, explain=False)
        for o in self.overs:
            if o.at:
                value = run.bindings[o.base][0].value.value
                o.at = within(o.base, o.at, shape_of(value), "--over")
                self._arrays[o.base] = np.array(value, dtype=float)
        if isinstance(self.question, Along) and self.question.element:
            self.question.element = self.overs[0].at

    def _check(self, target: Target) -> None:
        whole = target.tensor if isinstance(target.tensor, list) and "," in target.name else [
            target.tensor]
        for item in whole:
            shape = tensor_of(Target(target.name, item, target.span, target.source)).shape
            if shape:
                raise error("E0813", f"`{target.name}` has shape {list(shape)}, and a curve needs a"
                            " number", help="plot one element or the sum: bind it to a name and"
                            " give --of")

    def __call__(self, *columns: Any) -> Any:
        """Return an array [targets, 1 + number of sources, points]: each target and its
        derivatives, NaN where there is none.
        """
        count, n = 1 + self.count, len(columns[0])
        answers = self._points.answers(self._columns(columns))
        if answers.failed and self.problem is None:
            self.problem = answers.failed[min(answers.failed)]
        found = np.full((len(self.targets), count, n), np.nan)
        if not answers.arrays:
            return found
        if any(array.dtype.kind == "c" for array in answers.arrays):
            raise error("E0813", "a complex number cannot be drawn on an axis",
                        help="plot its abs, real or imag")
        arrays = iter(zip(answers.arrays, answers.missing, strict=True))
        for i, target in enumerate(self.targets):
            found[i, 0] = sum([next(arrays)[0] for _ in target.name.split(",")])
            parts = [next(arrays) for _ in self.question.wrt]
            for k in range(1, count):
                values, missing = parts[k - 1] if len(parts) == self.count else parts[
                    self._names.index(self.overs[k - 1].base)]
                found[i, k] = values[(slice(None), *self.overs[k - 1].at)] if (
                    values.ndim > 1) else values
                if missing is not None and missing.all():
                    self.missing.add((i, k))
        if answers.failed:
            found[..., list(answers.failed)] = np.nan
        return found


def _check_scalar(over: Over, shape: Sequence[int]) -> None:
    if shape and not over.at:
        first = joined(over.base, (0,) * len(shape))
        raise error("E0813", f"`{over.base}` has shape {list(shape)}, but an axis shows one"
                    " number", help=f"vary one element: --over {first}={over.low:g}:{over.high:g}")


def elements_left(values: Evaluator) -> Iterator[Answer]:
    """Yield a note on each array of which not all elements are drawn."""
    for name, (count, last) in values.elements.cut.items():
        yield {"code": "elements", "message": f"{name} has {count:,} elements, of which the first"
               f" {MOST} are drawn; --of {last} draws another one"}


def first_problem(values: Evaluator) -> GradcliError:
    """Return what is wrong where nothing could be drawn at all."""
    if values.problem is not None:
        return GradcliError(values.problem)
    names = ", ".join([f"`{t.name}`" for t in values.targets])
    return error("E0814", f"{names} has no finite value in this range",
                 help="give --over a range where it is defined")


# --------------------------------------------------------------------------------------------------
# What a picture and its curves are called.

# Characters of a formula or of a point in a title.
LONG = 60
# Inputs whose values a title tells.
MANY = 6


def named(name: str, order: int) -> str:
    """Return the name of a derivative: f, f', f'', f''', f^(4)."""
    closed = name if order == 0 or "," not in name else f"({name})"
    return closed + ("'" * order if order < 4 else f"^({order})")


def title(values: Evaluator) -> str:
    """Return the formula if it is short, else what it is called and where; then the other inputs.
    """
    question, targets = values.question, values.targets
    lines = dict.fromkeys([_formula(question, target) for target in targets])
    what = ", ".join(lines)
    if not all(lines) or len(what) > LONG:
        file = question.program.source.name.rpartition("/")[2]
        what = f"{', '.join([t.name for t in targets])} in {file}"
    point = _point(values)
    return visible(_short(what)) + (f"\nat {visible(_short(point))}" if point else "")


def _formula(question: Question, target: Target) -> str:
    """Return the statement that made the target, on one line; empty where others may have made it.
    """
    name = target.name.partition("[")[0]
    if len(re.findall(rf"(?m)^\s*{re.escape(name)}\s*[-+*/]?=(?!=)",
                      question.program.source.text)) > 1:
        return ""
    for statement in question.program.statements:
        if statement.start <= target.span[0] < statement.end:
            text = question.program.source.text[statement.start:statement.end].strip()
            return "" if "\n" in text or ":" in text else text
    return ""


def _point(values: Evaluator) -> str:
    """Return the inputs that no axis varies: a = 2, x[1] = 3."""
    varied = {o.base for o in values.overs}
    run = values.question.run(values.at([1.0] * len(values.overs)), explain=False)
    found = []
    for name in values.question.program.default_sources:
        bindings = run.bindings.get(name)
        if name in varied:
            found += [f"{part} = {significant(value, 4)}" for part, value in values.still(name)]
        elif bindings and bindings[0].kind in ("input", "variable"):
            value = getattr(bindings[0].value, "value", None)
            if type(value) in SCALAR_TYPES:
                found.append(f"{name} = {significant(value, 4)}")
    return ", ".join(found[:MANY]) + (", ..." if len(found) > MANY else "")


def _short(text: str) -> str:
    return text if len(text) <= LONG else text[:LONG - 3] + "..."
