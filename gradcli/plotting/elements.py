"""Elements of arrays in pictures: `y[0]`, `y[1]` as targets, `x[0]` as the input on an axis."""

from __future__ import annotations

from gradcli.answers.ask import Ask
from gradcli.errors import Diagnostic, GradcliError, error
from gradcli.lang.calls import NoGradient
from gradcli.lang.structures import is_number
from gradcli.lang.targets import Target, tensor_of
from gradcli.ops.lazy import np
from gradcli.ops.shapes import index
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.lang.run import Run
    from gradcli.program import Program

    Index = tuple[int, ...]

# Of an array so many elements are drawn: as many as there are colours.
MOST = 6


def split(text: str) -> tuple[str, Index]:
    """The name and the index of `y`, `y[1]`, `y[0,1]` and `y[0][1]`. Raises ValueError for what is
    none of these.
    """
    name, bracket, rest = text.strip().partition("[")
    if not name.strip().isidentifier() or (bracket and not rest.endswith("]")):
        raise ValueError(text)
    if not bracket:
        return name.strip(), ()
    return name.strip(), tuple([int(part) for part in rest[:-1].replace("][", ",").split(",")])


def joined(name: str, at: Index) -> str:
    """`y[0][1]`: without a comma, which is a sum in the name of a target."""
    return name + "".join([f"[{k}]" for k in at])


def within(name: str, at: Index, shape: Sequence[int], option: str) -> Index:
    """An index counted from the front. Raises E0813 where an array of this shape has none, at what
    the option says.
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


class Along(Ask):
    """A question whose sources are one element of an array. element: which, or () for a number."""

    __slots__ = ("element",)

    def __init__(self, ask: Ask, element: Index) -> None:
        for name in Ask.__slots__:
            setattr(self, name, getattr(ask, name))
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
        """As `Program.targets`, where a name may have an index."""
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
    """The name and the index of a target; a sum has none."""
    if "[" not in text or "," in text:
        return text, ()
    try:
        return split(text)
    except ValueError:
        raise error("E0813", f"`{text}` names no element",
                    help="write y[1], or y[0][1] for a matrix") from None
