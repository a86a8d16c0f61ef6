"""`--over x=-10:10`: an input and its range on an axis."""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError
from gradcli.ops.values import SCALAR_TYPES
from gradcli.plotting.elements import joined, split
from gradcli.program import constant
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Span

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
    """One or two inputs with their ranges. Raises E0812 for anything else."""
    found: list[Over] = []
    for text in texts:
        name, equals, _ = text.partition("=")
        try:
            base, at = split(name)
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
    """The two numbers of A:B, which begins at `start`. Raises E0812 where these are none."""
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
        raise _bad(option, text, (start, stop), f"`{part.strip()}` is no finite number", help)
    return float(value)


def _bad(option: str, text: str, span: Span, message: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0812", message, span=span, source=Source(text, option), help=help))
