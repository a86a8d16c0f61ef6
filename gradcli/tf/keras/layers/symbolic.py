"""Tensors without values, of which functional models are made: shapes, and what gives them."""

from __future__ import annotations

from functools import wraps
from itertools import count

import gradcli.tf as tf
from gradcli.engine.record import record as records
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import TensorShape, as_dtype, floatx
from gradcli.tf.keras.variables import KerasDType, auto_name, name_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_number = count().__next__


class KerasTensor:
    """A shape and a type that a layer gives, as keras.KerasTensor; None is a length of any kind.

    node: the call of a layer that gives it, None for an input.
    """

    def __init__(self, shape: Any, dtype: Any = None, node: Node | None = None,
                 name: str | None = None) -> None:
        self.shape = tuple(shape)
        self.dtype = KerasDType(as_dtype(dtype or floatx()).name)
        self.node = node
        self.name = name or auto_name("keras_tensor")

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> NoReturn:
        raise ValueError(
            "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a"
            " symbolic placeholder for a shape and dtype, used when constructing Keras Functional"
            " models or Keras Functions. You can only use it as input to a Keras layer or a Keras"
            " operation (from the namespaces `keras.layers` and `keras.ops`). You are likely doing"
            " something like:\n\n```\nx = Input(...)\n...\ntf_fn(x)  # Invalid.\n```\n\nWhat you"
            " should do instead is wrap `tf_fn` in a layer:\n\n```\nclass MyLayer(Layer):\n    def"
            " call(self, x):\n        return tf_fn(x)\n\nx = MyLayer()(x)\n```\n")

    def __gradcli_items__(self) -> list[tuple[str, Any]]:
        """Return nothing: no program reaches a variable by way of a symbolic tensor."""
        return []

    def __bool__(self) -> bool:
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def _without(self, kind: str) -> NoReturn:
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It"
                         " doesn't have any actual numerical value. You cannot convert it to"
                         f" {kind}.")

    def __float__(self) -> float:
        self._without("a float")

    def __int__(self) -> int:
        self._without("an int")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self._without("a NumPy array")

    def __iter__(self) -> NoReturn:
        raise TypeError("Iterating over a symbolic KerasTensor is not supported.")

    def __repr__(self) -> str:
        return (f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, ragged=False,"
                f" name={self.name}>")


class Node:
    """One call of a layer on symbolic tensors."""

    def __init__(self, layer: Any, args: Any, options: Any) -> None:
        self.layer, self.args, self.options = layer, args, options
        self.number = _number()
        self.outputs: Any = None


class Operation:
    """An operator between symbolic tensors, which stands among the layers of a model."""

    weights: tuple[Any, ...] = ()

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = auto_name(name)
        self.title = name.title().replace("_", "")
        self.function = function

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the operator."""
        return self.function(*args, **options)


def _operator(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: recorded(Operation(name, function), args, {})


for _sign, _name, _function in (
        ("add", "add", lambda a, b: a + b), ("sub", "subtract", lambda a, b: a - b),
        ("mul", "multiply", lambda a, b: a * b), ("truediv", "true_divide", lambda a, b: a / b),
        ("pow", "power", lambda a, b: a ** b), ("matmul", "matmul", lambda a, b: a @ b),
        ("floordiv", "floor_divide", lambda a, b: a // b), ("mod", "mod", lambda a, b: a % b)):
    setattr(KerasTensor, f"__{_sign}__", _operator(_name, _function))
    setattr(KerasTensor, f"__r{_sign}__", _operator(
        _name, lambda a, b, f=_function: f(b, a)))
for _sign, _name, _function in (
        ("gt", "greater", lambda a, b: a > b), ("ge", "greater_equal", lambda a, b: a >= b),
        ("lt", "less", lambda a, b: a < b), ("le", "less_equal", lambda a, b: a <= b)):
    setattr(KerasTensor, f"__{_sign}__", _operator(_name, _function))
setattr(KerasTensor, "__neg__", _operator("negative", lambda a: -a))    # noqa: B010
setattr(KerasTensor, "__getitem__", _operator("get_item", lambda a, key: a[key]))  # noqa: B010


def also_symbolic(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that on symbolic tensors is an operator among the layers of a model."""
    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        if is_symbolic(args, options):
            return recorded(Operation(name, function), args, options)
        return function(*args, **options)

    return called


def is_symbolic(args: Any, options: Any) -> bool:
    """Return whether there is a tensor without a value among arguments."""
    return any(isinstance(x, KerasTensor) for x in engine.flatten([args, options]))


def recorded(layer: Any, args: Any, options: Any) -> Any:
    """Call a layer on symbolic tensors, and return what it gives as such.

    Shapes are those of the layer on zeros; lengths of None are 2 in one run and 3 in another.
    """
    node = Node(layer, args, options)
    if hasattr(layer, "_maybe_build"):
        with name_scope(layer.name, layer):
            layer._maybe_build(args, options)
    record = records.current()
    paused, record.paused = record.paused, True
    record.settle()
    try:
        runs = [layer(*_zeros(args, n), **_zeros(options, n)) for n in (2, 3)]
    finally:
        record.paused = paused
        record.settle()
    first, second = map(engine.flatten, runs)
    node.outputs = engine.like(runs[0], [
        KerasTensor([m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)],
                    a.dtype, node) for a, b in zip(first, second, strict=True)])
    if not isinstance(layer, Operation):
        layer.output = node.outputs
    return node.outputs


def _zeros(structure: Any, n: int) -> Any:
    return engine.like(structure, [
        tf.zeros([n if length is None else length for length in x.shape], x.dtype)
        if isinstance(x, KerasTensor) else x for x in engine.flatten(structure)])


def nodes_of(outputs: Any, inputs: Any) -> list[Node]:
    """Return the calls that outputs need, from the inputs on, in the order in which they ran."""
    known = {id(x) for x in engine.flatten(inputs)}
    found: dict[int, Node] = {}
    pending = engine.flatten(outputs)
    while pending:
        x = pending.pop()
        if not isinstance(x, KerasTensor) or id(x) in known:
            continue
        known.add(id(x))
        if x.node is None:
            raise ValueError("Output with path `` is not connected to `inputs`:"
                             f" {x} is needed")
        if x.node.number not in found:
            found[x.node.number] = x.node
            pending += engine.flatten([x.node.args, x.node.options])
    return [found[k] for k in sorted(found)]


def run(nodes: list[Node], inputs: Any, given: Any, outputs: Any) -> Any:
    """Return the outputs for tensors in place of the inputs."""
    values = {id(x): value for x, value in zip(
        engine.flatten(inputs), engine.flatten(given), strict=True)}

    def filled(structure: Any) -> Any:
        return engine.like(structure, [
            values[id(x)] if isinstance(x, KerasTensor) else x for x in engine.flatten(structure)])

    for node in nodes:
        made = node.layer(*filled(node.args), **filled(node.options))
        values.update({id(x): value for x, value in zip(
            engine.flatten(node.outputs), engine.flatten(made), strict=True)})
    return filled(outputs)


def Input(shape: Any = None, batch_size: int | None = None, dtype: Any = None,
          sparse: Any = None, batch_shape: Any = None, name: str | None = None,
          tensor: Any = None, optional: bool = False) -> KerasTensor:
    """Return a symbolic tensor of a shape, the batch's length before it."""
    from gradcli.tf.tensor import refused

    for option, value in (("sparse", sparse), ("tensor", tensor), ("optional", optional)):
        if value:
            raise refused("tf.keras.Input", option)
    if batch_shape is None:
        if isinstance(shape, int):
            raise ValueError(f"Cannot convert '{shape}' to a shape.")
        shape = tuple(TensorShape(shape))
        batch_shape = (batch_size, *shape)
    return KerasTensor(batch_shape, dtype or floatx(), name=name or auto_name("input_layer"))
