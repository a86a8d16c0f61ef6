"""Layer: a function with variables, which are made when the shape of the input is known."""

from __future__ import annotations

import inspect
from itertools import zip_longest
from warnings import warn

import gradcli.tf as tf
from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import as_dtype, layer_type
from gradcli.tf.keras.annotated import Annotated, annotated, mask_of
from gradcli.tf.keras.constraint import get as constraint_of
from gradcli.tf.keras.identifiers import serialized
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.layers.inputs import (
    REQUIRED,
    InputSpec,
    building,
    defaults_of,
    shapes_of,
    signature_of,
)
from gradcli.tf.keras.layers.symbolic import KerasTensor, is_symbolic, recorded
from gradcli.tf.keras.metric import Metric
from gradcli.tf.keras.regularizer import get as regularizer_of
from gradcli.tf.keras.variables import (
    KerasDType,
    SeedGenerator,
    Variable,
    auto_name,
    name_scope,
)
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_training: list[Any] = []       # what the calls that are running were told, outermost first



def owned(value: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    """Yield what there is of some kinds in nested lists and dictionaries."""
    if isinstance(value, kinds):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from owned(item, kinds)
    elif isinstance(value, (list, tuple)) and not isinstance(value, engine.Tensor):
        for item in value:
            yield from owned(item, kinds)


def once(items: Any) -> list[Any]:
    """Return items, each once."""
    return list({id(item): item for item in items}.values())


class Layer:
    """A function with variables, as keras.layers.Layer: `build` makes them, `call` applies it.

    A subclass is told from a variable, layer or metric that is an attribute, or in a list or
    dictionary that is one, what it owns.
    """

    # Beside what an instance has, not among it: that is searched for what it owns.
    __slots__ = ("__dict__", "__weakref__", "_given")
    _input_spec: InputSpec | None = None
    _given: tuple[tuple[Any, ...], dict[str, Any]]
    _without: tuple[str, ...] = ()  # options of a class above that this one has not
    _lent = ""      # an attribute whose variables are not the layer's

    def __new__(cls, *args: Any, **options: Any) -> Any:
        made = super().__new__(cls)
        made._given = args, options
        return made

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "build" in cls.__dict__:
            cls.build = building(cls.build)    # type: ignore[method-assign]

    def __init__(self, *, activity_regularizer: Any = None, trainable: bool = True,
                 dtype: Any = None, autocast: bool = True, name: str | None = None,
                 **options: Any) -> None:
        self.name = name or auto_name(type(self).__name__)
        shape = options.pop("input_shape", None)
        width = options.pop("input_dim", None)
        if width is not None:
            shape = (width,)
        if shape is not None:
            warn("Do not pass an `input_shape`/`input_dim` argument to a layer. When using"
                 " Sequential models, prefer using an `Input(shape)` object as the first layer in"
                 " the model instead.", stacklevel=2)
            self._input_shape_arg = shape
        if options:
            raise ValueError("Unrecognized keyword arguments passed to"
                             f" {type(self).__name__}: {options}")
        self.built = False
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self.autocast = autocast
        if isinstance(dtype, dict):     # as `get_config` gives it
            dtype = dtype["config"]["name"]
        self._dtype = KerasDType(as_dtype(dtype or layer_type()).name)
        self._trainable = trainable
        self._weights: list[Variable] = []
        self._losses: list[Any] = []
        self.activity_regularizer = regularizer_of(activity_regularizer)

    # ---- what a subclass writes --------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a shape."""
        self.built = True

    def call(self, *args: Any, **options: Any) -> Any:
        """Apply the layer."""
        # What Keras raises for a subclass of the user's that has none.
        raise NotImplementedError(
            f"Layer {type(self).__name__} does not have a `call()` method implemented.")

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """Return the mask of the output: that of the input."""
        return previous_mask

    def add_weight(self, *args: Any, **options: Any) -> Variable:
        """Make a variable of the layer. Raises ValueError for a name in the place of the shape."""
        if args and isinstance(args[0], str):
            raise ValueError("`name` must be passed as a keyword argument. Received:"
                             f" add_weight('{args[0]}', ...). Use: add_weight(shape=...,"
                             f" name='{args[0]}').")
        return self._add_weight(*args, **options)

    def _add_weight(self, shape: Any = None, initializer: Any = None, dtype: Any = None,
                    trainable: bool = True, autocast: bool = True, regularizer: Any = None,
                    constraint: Any = None, aggregation: Any = "none",
                    overwrite_with_gradient: bool = False, name: str | None = None) -> Variable:
        if overwrite_with_gradient:
            raise refused("add_weight", "overwrite_with_gradient")
        kind = as_dtype(dtype or self._dtype)
        made = initializer or ("glorot_uniform" if kind.is_floating else "zeros")
        with name_scope(self.name, self):
            variable = Variable(initializer_of(made), shape, kind, trainable, name=name)
        variable.regularizer = regularizer_of(regularizer)
        variable.constraint = constraint_of(constraint)
        if not self._trainable:
            variable.trainable = False
        self._weights.append(variable)
        return variable

    add_variable = add_weight

    def add_loss(self, loss: Any) -> None:
        """Add a number to the losses, in `call`."""
        self._losses += engine.flatten(loss)

    def add_metric(self, *args: Any, **options: Any) -> None:
        """Refuse, as Keras 3 does."""
        # Keras's own answer to what it had before.
        raise NotImplementedError(
            "Layer `add_metric()` method is deprecated. Add your metric in"
            " `Model.compile(metrics=[...])`, or create metric trackers in init() or build() when"
            " subclassing the layer or model, then call `metric.update_state()` whenever"
            " necessary.")

    # ---- what it owns ------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in vars(type(self)) and not isinstance(
                getattr(type(self), name, None), property):
            # What is set again is the last that was set.
            self.__dict__.pop(name, None)
        super().__setattr__(name, value)

    def _owned(self, *kinds: type) -> list[Any]:
        self._check_begun()
        return once([item for name, value in self.__dict__.items() if name != self._lent
                     for item in owned(value, kinds)])

    def _check_begun(self) -> None:
        if "_weights" not in self.__dict__:
            raise RuntimeError(f"In layer '{type(self).__name__}', you forgot to call"
                               " `super().__init__()` as the first statement in the `__init__()`"
                               " method. Go add it!")

    @property
    def _layers(self) -> list[Layer]:
        return self._owned(Layer)

    @property
    def weights(self) -> list[Any]:
        """Return the variables: its own, those that training changes first, then its layers'."""
        return once([*self._own, *[v for layer in self._layers for v in layer.weights]])

    @property
    def _own(self) -> list[Any]:
        return sorted(self._owned(Variable), key=lambda v: not v.watched)

    @property
    def variables(self) -> list[Any]:
        """Return the weights, and the states of what draws random numbers."""
        return once([*self._own, *[seeds.state for seeds in self._owned(SeedGenerator)],
                     *[v for layer in self._layers for v in layer.variables]])

    @property
    def trainable_weights(self) -> list[Any]:
        """Return the variables that training changes."""
        return [v for v in self.weights if v.trainable] if self.trainable else []

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Return the weights that training does not change."""
        return [v for v in self.weights if not (v.trainable and self.trainable)]

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Return the variables that training does not change."""
        return [v for v in self.variables if not (v.trainable and self.trainable)]

    @property
    def trainable(self) -> bool:
        """Return whether training changes the layer."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if value == self._trainable:
            return      # as in Keras, where what is inside stays as it is then
        self._trainable = bool(value)
        for variable in self._owned(Variable):
            if variable.watched:
                variable.trainable = self._trainable
        for layer in self._layers:
            layer.trainable = value

    @property
    def metrics(self) -> list[Any]:
        """Return the metrics."""
        return once([*self._owned(Metric), *[m for la in self._layers for m in la.metrics]])

    @property
    def losses(self) -> list[Any]:
        """Return what was added to the loss in the last call, and the penalties of variables."""
        added = [loss for layer in self._flatten_layers() for loss in layer._losses]
        return added + [v.regularizer(v) for v in self.trainable_weights
                        if getattr(v, "regularizer", None) is not None]

    def _flatten_layers(self) -> list[Layer]:
        return once([self, *[inner for la in self._layers for inner in la._flatten_layers()]])

    def _clear_losses(self) -> None:
        for layer in self._flatten_layers():
            layer._losses.clear()

    def get_weights(self) -> list[Any]:
        """Return the values of the variables as arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights: Any) -> None:
        """Assign arrays to the variables, in order."""
        mine = self.weights
        if len(mine) != len(weights):
            raise ValueError(f"You called `set_weights(weights)` on layer '{self.name}' with a"
                             f" weight list of length {len(weights)}, but the layer was expecting"
                             f" {len(mine)} weights.")
        for variable, value in zip(mine, weights, strict=True):
            if tuple(variable.shape) != tuple(np.shape(value)):
                raise ValueError(
                    f"Layer {self.name} weight shape {variable.shape} is not compatible with"
                    f" provided weight shape {np.shape(value)}.")
            variable.assign(value)

    def count_params(self) -> int:
        """Return the number of numbers in all variables."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer '{self.name}', but the"
                             " layer isn't built. You can build it manually via:"
                             " `layer.build(input_shape)`.")
        return sum([int(np.prod(v.shape, dtype=int)) for v in self.weights])

    @property
    def dtype(self) -> KerasDType:
        """Return the type of the variables."""
        return self._dtype

    compute_dtype = variable_dtype = dtype

    @property
    def path(self) -> Any:
        """Return the names of the layers that it is in, and its own."""
        return self.__dict__.get("_path")

    @property
    def input_spec(self) -> InputSpec | None:
        """Return what it takes."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: InputSpec | None) -> None:
        self._input_spec = value

    def another(self, **options: Any) -> Any:
        """Return a layer made as this one was, but for some options."""
        args, given = self._given
        return type(self)(*args, **{**given, **options})

    def get_config(self) -> dict[str, Any]:
        """Return the options by name, objects among them as plain data."""
        found = {"name": self.name, "trainable": self.trainable, "dtype": {
            "module": "keras", "class_name": "DTypePolicy", "config": {"name": str(self._dtype)},
            "registered_name": None}}
        if self.activity_regularizer is not None:
            found["activity_regularizer"] = serialized(self.activity_regularizer)
        # A `get_config` of the program's own adds what the program's class has.
        ours = type(self).get_config is not Layer.get_config
        return {**found, **{name: serialized(value)
                            for name, value in self._options(ours).items()}}

    def _options(self, ours: bool) -> dict[str, Any]:
        """Return the options by name: attributes, where it has them. ours: of gradcli's classes
        alone.
        """
        names: dict[str, Any] = {}
        for kind in self._kinds():
            if not ours or kind.__module__.startswith("gradcli."):
                # What a class has to be told by its subclass is not an option of that.
                names.update({name: default for name, default in defaults_of(kind).items()
                              if name not in names and (not names or default is not REQUIRED)})
        args, options = self._given
        given = {**names, **dict(zip(names, args, strict=False)), **options}
        own = self.__dict__.get("options", {})
        found = {name: own.get(name, getattr(self, name, given[name])) for name in names
                 if name not in self._without}
        if found.get("data_format", "") is None:
            found["data_format"] = "channels_last"
        return found

    def _kinds(self) -> list[type]:
        """Return the classes whose options the layer has."""
        return [kind for kind in type(self).__mro__ if issubclass(kind, Layer)
                and kind is not Layer]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return a layer with these options."""
        try:
            return cls(**config)
        except TypeError as problem:
            raise TypeError(f"Error when deserializing class '{cls.__name__}' using"
                            f" config={config}.\n\nException encountered: {problem}") from None

    # ---- applying it -------------------------------------------------------------------------

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the layer to inputs, building it first where it is not."""
        self._check_begun()
        if is_symbolic(args, options):
            return recorded(self, args, options)
        args = engine.like(args, [self._converted(x) for x in engine.flatten(args)])
        options = {key: self._converted(value, False) for key, value in options.items()}
        first = next(iter(engine.flatten(args)), None)
        if first is None and args and not isinstance(args[0], (list, tuple, dict)):
            raise ValueError("Inputs to a layer should be tensors. Got 'None' (of type <class"
                             f" 'NoneType'>) as input for layer '{self.name}'.")
        for x in engine.flatten(args):
            if x is not None and not isinstance(x, engine.Tensor):
                raise ValueError(
                    "Only input tensors may be passed as positional arguments. The following"
                    f" argument value should be passed as a keyword argument: {x} (of type"
                    f" {type(x)})")
        if self._input_spec is not None and first is not None:
            self._input_spec.check(first, self.name)
        with name_scope(self.name, self):
            self._maybe_build(args, options)
            if self._input_spec is not None and first is not None:
                self._input_spec.check(first, self.name)
            masks = self._hand_masks(args, options)
            training = self._told(options)
            _training.append(training)
            if not _training[:-1]:
                self._clear_losses()
            try:
                y = self.call(*args, **options)
            finally:
                _training.pop()
        self.built = True
        if self.supports_masking:
            y = self._masked(args, options, y, masks)
        elif any(mask is not None for mask in engine.flatten(masks)):
            warn(f"Layer '{self.name}' (of type {type(self).__name__}) was passed an input with a"
                 " mask attached to it. However, this layer does not support masking and will"
                 " therefore destroy the mask information. Downstream layers will not see the"
                 " mask.", stacklevel=2)
        if self.activity_regularizer is not None:
            for part in engine.flatten(y):
                self.add_loss(self.activity_regularizer(part) / (
                    part.shape[0] if part.shape else 1))
        return y

    def _converted(self, x: Any, positional: bool = True) -> Any:
        """Return an argument as a tensor, real numbers in the type of the layer."""
        if not isinstance(x, engine.Tensor):
            if not hasattr(x, "__array__"):
                return x
            x = tf.convert_to_tensor(x)
        kind = x.dtype
        if self.autocast and as_dtype(kind).is_floating and kind != self._dtype:
            made = tf.cast(x, self._dtype)
            return made if mask_of(x) is None else annotated(made, mask=mask_of(x))
        return x

    def _hand_masks(self, args: Any, options: dict[str, Any]) -> Any:
        """Tell `call` the masks of the inputs where it asks, and return those of the first."""
        parameters = signature_of(self)
        if "mask" not in parameters and not any(
                type(x) is Annotated for x in engine.flatten([args, options])):
            return None
        given = {**dict(zip(parameters, args, strict=False)), **options}
        with_tensors = {name: value for name, value in given.items() if any(
            isinstance(v, engine.Tensor) for v in engine.flatten(value))}
        masks = {name: engine.like(value, [mask_of(v) for v in engine.flatten(value)])
                 for name, value in with_tensors.items()}
        for name, mask in masks.items():
            asked = "mask" if len(masks) == 1 else f"{name}_mask"
            if asked in parameters and given.get(asked) is None:
                options[asked] = mask
        if options.get("mask") is not None:
            return options["mask"]
        return next(iter(masks.values()), None)

    def _masked(self, args: Any, options: dict[str, Any], y: Any, previous: Any) -> Any:
        """Return outputs with the masks that `compute_mask` says."""
        inputs = args[0] if args else next(iter(options.values()), None)
        parts = engine.flatten(y)
        if all(mask_of(part) is not None for part in parts):
            return y
        masks = self.compute_mask(inputs, previous)
        if all(mask is None for mask in engine.flatten(masks)):
            return y
        return engine.like(y, [
            part if mask is None or mask_of(part) is not None else annotated(part, mask=mask)
            for part, mask in zip_longest(parts, engine.flatten(masks)[:len(parts)])])

    def _told(self, options: dict[str, Any]) -> Any:
        """Return whether the model is being trained, and tell `call` if it asks."""
        parameter = signature_of(self).get("training")
        value = options.get("training")
        if value is None and _training:
            value = _training[-1]
        if value is None and parameter is not None and parameter.default is not parameter.empty:
            value = parameter.default
        if parameter is None:
            options.pop("training", None)
        elif value is not None:
            options["training"] = value
        return value

    def _maybe_build(self, args: Any, options: dict[str, Any]) -> None:
        if self.built:
            return
        names = list(signature_of(self))
        given = {**dict(zip(names, args, strict=False)), **options}
        shapes = {f"{name}_shape": shapes_of(value) for name, value in given.items()
                  if any(isinstance(v, engine.Tensor) for v in engine.flatten(value))}
        taken = list(inspect.signature(self.build).parameters)
        if len(taken) > 1:
            for name in taken:
                self._check_build(name, names)
            self.build(**{name: shapes[name] for name in taken if name in shapes})
        elif shapes:
            self.build(next(iter(shapes.values())))

    def _check_build(self, name: str, names: Any) -> None:
        """Raise ValueError for a parameter of `build` that is the shape of none of `call`."""
        title = type(self).__name__
        begin = "For a `build()` method with more than one argument, all arguments should have a" \
            " `_shape` suffix and match an argument from `call()`. E.g. `build(self, foo_shape," \
            f" bar_shape)`  For layer '{title}', "
        if not name.endswith("_shape"):
            raise ValueError(f"{begin}Received `build()` argument `{name}`, which does not end in"
                             " `_shape`.")
        if name.removesuffix("_shape") not in names:
            raise ValueError(f"{begin}received `build()` argument `{name}`, but `call()` does not"
                             f" have argument `{name.removesuffix('_shape')}`.")

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the output for inputs of a shape."""
        made = recorded(self, (KerasTensor(tuple(input_shape), self._dtype),), {})
        return engine.like(made, [part.shape for part in engine.flatten(made)])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"
