"""The parts of an answer at each point: arrays of fixed shape, and the names of their elements.

`parts_of` answers in the two ways that points need: recorded (`emit`), so that the derivatives can
be run at other points too, and as the command line answers a single point.
"""

from __future__ import annotations

from functools import partial

from gradcli.engine import calculus
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.lang.running.calls import NoGradient, is_number
from gradcli.lang.running.run import Target, parts, tensor_of
from gradcli.ops.table.shapes import index
from gradcli.ops.values import zeros
from gradcli.questions import notes
from gradcli.questions.derivatives import gradients, hessian, jacobians
from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gradcli.lang.running.run import Binding, Run
    from gradcli.questions.question import Question

    Index = tuple[int, ...]
    Name = Callable[[Index], str]


class Part:
    """One array of an answer. name: index of an element to what it is called. value: a tensor or
    plain value, or None where there is no gradient. shape: of the array, of a missing one too.
    derivative: not the value of a target.
    """

    __slots__ = ("derivative", "name", "shape", "value")

    def __init__(self, name: Name, value: Any, shape: Sequence[int], derivative: bool = True
                 ) -> None:
        self.name = name
        self.value = value
        self.shape = tuple(shape)
        self.derivative = derivative


def parts_of(question: Question, command: str, run: Run, emit: bool) -> list[Part]:
    """Return the parts of an answer, within `run.record`: per target its value, then its
    derivatives.

    Raises Unrecorded with `emit` for what has no recorded form.
    """
    derivatives = DERIVATIVES[command]
    bindings = question.program.sources(run, question.wrt) if derivatives else []
    found: list[Part] = []
    for target in question.program.targets(run, question.of, derived=derivatives is not None):
        found.extend(_values(target))
        if derivatives:
            found.extend(derivatives(question, run, target, bindings, emit))
    return found


def left_out(question: Question, command: str, run: Run) -> list[str]:
    """Return what the derivatives of an answer leave out, within `run.record`."""
    if DERIVATIVES[command] is None or question.mode == "finite" or not run.record.is_partial():
        return []
    bindings = question.program.sources(run, question.wrt)
    return [f"{target.name} by {b.name}: {said['message']}"
            for target in question.program.targets(run, question.of, derived=True) for b in bindings
            for said in notes.left_out(question, run, target, [b])]


def _values(target: Target) -> Iterator[Part]:
    names = target.name.split(",")
    whole = [target.tensor] if len(names) == 1 else target.tensor
    for name, value in zip(names, whole, strict=True):
        if isinstance(value, NoGradient) or value is None:
            yield Part(partial(numbers.indexed, name), None, (), False)
            continue
        tensor = tensor_of(Target(name, value, target.span, target.source))
        yield Part(partial(numbers.indexed, name), tensor, tensor.shape, False)


def _gradients(question: Question, run: Run, target: Target, bindings: list[Binding], emit: bool
               ) -> Iterator[Part]:
    for b, g in zip(bindings, gradients(question, run, target, bindings, emit), strict=True):
        yield Part(partial(numbers.first_derivative, target.name, b.name, ()),
                   _given(question, g, b.value.shape), b.value.shape)


def _jacobians(question: Question, run: Run, target: Target, bindings: list[Binding], emit: bool
               ) -> Iterator[Part]:
    """Yield the Jacobians. A list of scalars is differentiated item by item, which takes no arrays
    at all.
    """
    items = target.tensor if isinstance(target.tensor, list) else []
    if items and all(is_number(item) and not getattr(item, "shape", ()) for item in items):
        rows = [jacobians(question, run, Target(target.name, item, target.span), bindings, emit)
                for item in items] if emit else zip(*[
                    [None]*len(items) if g is None else g
                    for g in jacobians(question, run, target, bindings)], strict=True)
        for b, column in zip(bindings, zip(*rows, strict=True), strict=True):
            there = question.unconnected == "zero" or any(g is not None for g in column)
            for k, g in enumerate(column):
                yield Part(partial(numbers.first_derivative, target.name, b.name, (k,)),
                           zeros(b.value.shape) if g is None and there else g, b.value.shape)
        return
    shape = tensor_of(target).shape
    for b, g in zip(bindings, jacobians(question, run, target, bindings, emit), strict=True):
        whole = (*shape, *b.value.shape)
        yield Part(partial(_split, numbers.first_derivative, (target.name, b.name), len(shape)),
                   _given(question, g, whole), whole)


def _hessians(question: Question, run: Run, target: Target, bindings: list[Binding], emit: bool
              ) -> Iterator[Part]:
    found = hessian(question, run, target, bindings, emit)
    for (i, j), block in sorted(found.blocks.items()):
        row, column = bindings[i], bindings[j]
        rank = len(row.value.shape)
        whole = (*row.value.shape, *column.value.shape)
        if question.tf and (i, j) in found.constant:
            block = None
        yield Part(partial(_split, numbers.second_derivative,
                           (target.name, row.name, column.name), rank),
                   _given(question, block, whole), whole)


def _successive(question: Question, run: Run, target: Target, bindings: list[Binding], emit: bool
                ) -> Iterator[Part]:
    """Return the derivative in the first source, that one's in the second, and so on; with one name
    k times the first k derivatives. Sources are scalars, or the `element` of an array that the
    question has; of a target the sum counts.
    """
    tensors: list[Tensor] = parts(target)
    for k, b in enumerate(bindings):
        (g,) = calculus.gradient(
            tensors, [question.source(run, b)], emit=True) if tensors else (None,)
        if g is None and k:
            g = 0.0     # a derivative that no longer depends on the source
        element = getattr(question, "element", ())
        if element and isinstance(g, Tensor):
            g = index(g, pattern=element)
        tensors = [g] if isinstance(g, Tensor) else []
        yield Part(partial(numbers.first_derivative, target.name + "'" * k, b.name, ()), g, ())
        if g is None:
            for later in bindings[k + 1:]:
                yield Part(partial(numbers.first_derivative, target.name, later.name, ()), None, ())
            return


def _split(name: Callable[..., str], of: Sequence[str], rank: int, at: Index) -> str:
    """Return the name of an element whose index has two parts."""
    return name(*of, at[:rank], at[rank:])


def _given(question: Question, g: Any, shape: Sequence[int]) -> Any:
    return zeros(tuple(shape)) if g is None and question.unconnected == "zero" else g


DERIVATIVES: dict[str, Callable[..., Iterator[Part]] | None] = {
    "grad": _gradients, "jac": _jacobians, "hess": _hessians, "eval": None,
    "successive": _successive}


def plain_value(part: Part) -> Any:
    """Return the value of a part without its past; None stays None."""
    return value_of(part.value)
