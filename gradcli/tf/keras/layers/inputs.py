"""What layers take, and how they are built: options, shapes, the parameters of their `call`."""

from __future__ import annotations

import inspect
from functools import lru_cache, wraps

from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.variables import name_scope
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


REQUIRED: Any = inspect.Parameter.empty
# Options that every layer has, and such as are not here.
NOT_LISTED = ("self", "name", "trainable", "dtype", "lora_rank", "weights",
              "use_cudnn", "renorm", "synchronized", "cell", "flash_attention", "arguments")


@lru_cache(maxsize=1000)
def defaults_of(kind: type) -> dict[str, Any]:
    """Return the options that a class adds, with their defaults."""
    if "defaults" in vars(kind):
        found: dict[str, Any] = vars(kind)["defaults"]
        return found
    if "__init__" not in vars(kind):
        return {}
    parameters = inspect.signature(vars(kind)["__init__"]).parameters.values()
    return {p.name: p.default for p in parameters if p.name not in NOT_LISTED
            and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


class InputSpec:
    """What a layer takes: the number of axes, and the lengths of some."""

    def __init__(self, dtype: Any = None, shape: Any = None, ndim: int | None = None,
                 max_ndim: int | None = None, min_ndim: int | None = None,
                 axes: dict[int, Any] | None = None, allow_last_axis_squeeze: bool = False,
                 name: str | None = None, optional: bool = False) -> None:
        for option, given in (("dtype", dtype), ("optional", optional),
                              ("allow_last_axis_squeeze", allow_last_axis_squeeze)):
            if given:
                raise refused("tf.keras.InputSpec", option)
        self.ndim = len(shape) if shape is not None else ndim
        self.min_ndim, self.max_ndim, self.axes = min_ndim, max_ndim, axes or {}

    def check(self, x: Any, layer: str) -> None:
        """Raise ValueError for an input that the layer does not take."""
        shape = tuple(x.shape)
        begin = f"Input 0 with name '{getattr(x, 'name', None)}' of layer '{layer}' is" \
            " incompatible with the layer: expected"
        found = f"found ndim={len(shape)}. Full shape received: {shape}"
        for word, fits in (("", self.ndim in (None, len(shape))),
                           ("max_", self.max_ndim is None or len(shape) <= self.max_ndim),
                           ("min_", self.min_ndim is None or len(shape) >= self.min_ndim)):
            if not fits:
                raise ValueError(f"{begin} {word}ndim={getattr(self, word + 'ndim')}, {found}")
        for axis, length in self.axes.items():
            if length is not None and shape[axis] not in (None, length):
                raise ValueError(f"{begin} axis {axis} of input shape to have value {length}, but"
                                 f" received input with shape {shape}")


def refuse(layer: Any, **options: Any) -> None:
    """Raise E0208 for an option that is given and that there is not here."""
    for name, value in options.items():
        if value:
            raise refused(f"tf.keras.layers.{type(layer).__name__}", name)


def signature_of(layer: Any) -> Any:
    """Return the parameters of the `call` of a layer, by name."""
    return _parameters(getattr(layer.call, "__func__", layer.call), hasattr(layer.call, "__self__"))


@lru_cache(maxsize=1000)
def _parameters(function: Any, bound: bool) -> Any:
    found = dict(inspect.signature(function).parameters)
    if bound:
        found.pop(next(iter(found)))
    return found


def shapes_of(value: Any) -> Any:
    """Return the shapes of nested tensors, nested alike."""
    return engine.like(value, [tuple(v.shape) for v in engine.flatten(value)])


def building(build: Any) -> Any:
    """Return a `build` that is in the name scope of its layer, and says that it is built."""
    if getattr(build, "opens", False):
        return build

    @wraps(build)
    def opened(self: Any, *args: Any, **options: Any) -> None:
        with name_scope(self.name, self):
            build(self, *args, **options)
        self.built = True

    opened.opens = True     # type: ignore[attr-defined]
    return opened
