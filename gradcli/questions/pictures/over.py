"""`--over x=-10:10`: an input and its range on an axis."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source, error
from gradcli.base.lazy import np
from gradcli.lang.running.calls import NoGradient, is_number
from gradcli.lang.running.program import constant
from gradcli.lang.running.run import Target, tensor_of
from gradcli.ops.table.shapes import index
from gradcli.ops.values import SCALAR_TYPES
from gradcli.questions.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Run

    Index = tuple[int, ...]

# Beyond, the width of a range or of a picture is no float.
LARGEST = 1e300
# Below, what is drawn with takes a range for a point.
SMALLEST = 1e-280


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
