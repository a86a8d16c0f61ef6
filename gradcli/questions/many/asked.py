"""What is asked at each point: arrays of fixed shape, and what their elements are called.

`asked` answers in the two ways that points need: recorded (`emit`), so that the derivatives can be
run at other points too, and as the command line answers a single point.
"""

from __future__ import annotations

from functools import partial

from gradcli.engine import calculus
from gradcli.engine.compiled.trace import Unrecorded
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.lang.running.calls import NoGradient, as_tensor
from gradcli.lang.running.run import Target, is_number, own, parts, plain_structure, tensor_of
from gradcli.ops.table.shapes import index
from gradcli.ops.values import zeros
from gradcli.questions import notes
from gradcli.questions.ask import seeds_of
from gradcli.questions.derivatives import gradients, hessian, jacobians, with_constants
from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gradcli.lang.running.run import Binding, Run
    from gradcli.questions.ask import Ask

    Index = tuple[int, ...]
    Name = Callable[[Index], str]
    # What the values that were found are given as.
    Form = Callable[[Sequence[Any]], Any]
    # (target, sources, run, names) to tensors, plain values or None, and the form of their values;
    # names: what other points give otherwise if the answer is recorded for them, else None.
    Question = Callable[
        [Target, Sequence[Binding], Run, Sequence[str] | None], tuple[list[Any], Form]]


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


def asked(ask: Ask, command: str, run: Run, emit: bool) -> list[Part]:
    """The parts of an answer, within `run.record`: per target its value, then its derivatives.

    Raises Unrecorded with `emit` for what has no recorded form.
    """
    derivatives = DERIVATIVES[command]
    bindings = ask.program.sources(run, ask.wrt) if derivatives else []
    found: list[Part] = []
    for target in ask.program.targets(run, ask.of, derived=derivatives is not None):
        found.extend(_values(target))
        if derivatives:
            found.extend(derivatives(ask, target, bindings, emit))
    return found


def left_out(ask: Ask, command: str, run: Run) -> list[str]:
    """What the derivatives of an answer leave out, within `run.record`."""
    if DERIVATIVES[command] is None or ask.mode == "finite" or not run.record.is_partial():
        return []
    bindings = ask.program.sources(run, ask.wrt)
    return [f"{target.name} by {b.name}: {said['message']}"
            for target in ask.program.targets(run, ask.of, derived=True) for b in bindings
            for said in notes.left_out(ask, run, target, [b])]


def _values(target: Target) -> Iterator[Part]:
    names = target.name.split(",")
    whole = [target.tensor] if len(names) == 1 else target.tensor
    for name, value in zip(names, whole, strict=True):
        if isinstance(value, NoGradient) or value is None:
            yield Part(partial(numbers.indexed, name), None, (), False)
            continue
        tensor = tensor_of(Target(name, value, target.span, target.source))
        yield Part(partial(numbers.indexed, name), tensor, tensor.shape, False)


def _gradients(ask: Ask, target: Target, bindings: list[Binding], emit: bool) -> Iterator[Part]:
    found = _recorded_gradients(ask, target, bindings) if emit else (
        gradients(ask, target, bindings))
    for b, g in zip(bindings, found, strict=True):
        yield Part(partial(numbers.first_derivative, target.name, b.name, ()),
                   _given(ask, g, b.value.shape), b.value.shape)


def _recorded_gradients(ask: Ask, target: Target, bindings: list[Binding]) -> list[Any]:
    tensors = parts(target)
    sources = [ask.source(b) for b in bindings]
    if ask.mode == "finite":
        raise Unrecorded
    if ask.mode == "reverse":
        found = calculus.gradient(
            tensors, sources, seeds=seeds_of(ask, tensors), emit=True)
    elif len(tensors) == 1 and not any(t.shape for t in (*tensors, *sources)) and (
            ask.output_gradient is None):
        found = [calculus.jvp(tensors[0], [s], [1.0], emit=True) for s in sources]
    else:
        raise Unrecorded
    return with_constants(ask, found, tensors, sources, ())


def _jacobians(ask: Ask, target: Target, bindings: list[Binding], emit: bool) -> Iterator[Part]:
    """A list of scalars is differentiated item by item, which takes no arrays at all."""
    items = target.tensor if isinstance(target.tensor, list) else []
    if items and all(is_number(item) and not getattr(item, "shape", ()) for item in items):
        rows = [_recorded_jacobians(ask, Target(target.name, item, target.span), bindings)
                for item in items] if emit else zip(*[
                    [None]*len(items) if g is None else g
                    for g in jacobians(ask, target, bindings)], strict=True)
        for b, column in zip(bindings, zip(*rows, strict=True), strict=True):
            there = ask.unconnected == "zero" or any(g is not None for g in column)
            for k, g in enumerate(column):
                yield Part(partial(numbers.first_derivative, target.name, b.name, (k,)),
                           zeros(b.value.shape) if g is None and there else g, b.value.shape)
        return
    shape = tensor_of(target).shape
    found = _recorded_jacobians(ask, target, bindings) if emit else (
        jacobians(ask, target, bindings))
    for b, g in zip(bindings, found, strict=True):
        whole = (*shape, *b.value.shape)
        yield Part(partial(_split, numbers.first_derivative, (target.name, b.name), len(shape)),
                   _given(ask, g, whole), whole)


def _recorded_jacobians(ask: Ask, target: Target, bindings: list[Binding]) -> list[Any]:
    if ask.mode != "reverse":
        raise Unrecorded
    tensor = tensor_of(target)
    sources = [ask.source(b) for b in bindings]
    found = (calculus.jacobian(tensor, sources, emit=True) if tensor.shape else
             calculus.gradient([tensor], sources, emit=True))
    return with_constants(ask, found, [tensor], sources, tensor.shape)


def _hessians(ask: Ask, target: Target, bindings: list[Binding], emit: bool) -> Iterator[Part]:
    if emit and ask.mode == "finite":
        raise Unrecorded
    found = hessian(ask, target, bindings, emit=emit)
    for (i, j), block in sorted(found.blocks.items()):
        row, column = bindings[i], bindings[j]
        rank = len(row.value.shape)
        whole = (*row.value.shape, *column.value.shape)
        if ask.tf and (i, j) in found.constant:
            block = None
        yield Part(partial(_split, numbers.second_derivative,
                           (target.name, row.name, column.name), rank),
                   _given(ask, block, whole), whole)


def _successive(ask: Ask, target: Target, bindings: list[Binding], emit: bool) -> Iterator[Part]:
    """The derivative in the first source, that one's in the second, and so on; with one name k
    times the first k derivatives. Sources are scalars, or the `element` of an array that the
    question has; of a target the sum counts.
    """
    tensors: list[Tensor] = parts(target)
    for k, b in enumerate(bindings):
        (g,) = calculus.gradient(tensors, [ask.source(b)], emit=True) if tensors else (None,)
        if g is None and k:
            g = 0.0     # a derivative that no longer depends on the source
        element = getattr(ask, "element", ())
        if element and isinstance(g, Tensor):
            g = index(g, pattern=element)
        tensors = [g] if isinstance(g, Tensor) else []
        yield Part(partial(numbers.first_derivative, target.name + "'" * k, b.name, ()), g, ())
        if g is None:
            for later in bindings[k + 1:]:
                yield Part(partial(numbers.first_derivative, target.name, later.name, ()), None, ())
            return


def _split(name: Callable[..., str], of: Sequence[str], rank: int, at: Index) -> str:
    """The name of an element whose index has two parts."""
    return name(*of, at[:rank], at[rank:])


def _given(ask: Ask, g: Any, shape: Sequence[int]) -> Any:
    return zeros(tuple(shape)) if g is None and ask.unconnected == "zero" else g


DERIVATIVES: dict[str, Callable[..., Iterator[Part]] | None] = {
    "grad": _gradients, "jac": _jacobians, "hess": _hessians, "eval": None,
    "successive": _successive}


def plain_value(part: Part) -> Any:
    """The value of a part without its past; None stays None."""
    return value_of(part.value)


def identity(part: Part) -> int | None:
    """The id of a part on the record; None for what is the same everywhere."""
    return part.value.id if isinstance(part.value, Tensor) else None


# --------------------------------------------------------------------------------------------------
# What can be prepared: the tensors that answer a question, and how their values are given.
#
# Each question is one function that is asked in two ways: as the program itself answers, and
# recorded (`emit`), so that what ran answers at other points too.

def value_of_target(target: Target, emit: bool) -> Any:
    """A target as one tensor; not emitted, as its value, which may be a structure."""
    value = target.tensor
    if not emit:
        return own(plain_structure(value))
    if isinstance(value, list) and value and all(is_number(item) for item in value):
        return as_tensor(value)
    if isinstance(value, (list, dict)):
        raise Unrecorded
    return value.read() if isinstance(value, Tensor) else plain_structure(value)


def gradient(target: Target, sources: Sequence[Binding], run: Run, names: Sequence[str] | None
              ) -> tuple[list[Any], Form]:
    emit = names is not None
    value = value_of_target(target, emit)
    found = calculus.gradient(parts(target), [run.source(s) for s in sources], emit=emit)
    return [value, *found], _by_name(sources)


def _by_name(sources: Sequence[Binding]) -> Form:
    names = [s.name for s in sources]
    return lambda values: (values[0], dict(zip(names, values[1:], strict=True)))
