"""Layers without variables that are an expression of their input."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.tf.keras.annotated import annotated
from gradcli.tf.keras.functions.activation import elu, leaky_relu, linear, relu, softmax
from gradcli.tf.keras.functions.activation import get as activation_of
from gradcli.tf.keras.identifiers import get_custom_objects
from gradcli.tf.keras.layers.inputs import REQUIRED
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.symbolic import Input
from gradcli.tf.keras.regularizer import L1L2
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class InputLayer(Layer):
    """What is given to a model."""

    def __init__(self, shape: Any = None, batch_size: int | None = None, dtype: Any = None,
                 batch_shape: Any = None, name: str | None = None, **options: Any) -> None:
        shape = options.pop("input_shape", shape)
        super().__init__(name=name, **options)
        self.output = Input(shape, batch_size, dtype, batch_shape=batch_shape, name=self.name)
        self.built = True

    def call(self, x: Any = None) -> Any:
        """Return the input."""
        return x


class Activation(Layer):
    """An activation as a layer."""

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = activation_of(activation)
        self.supports_masking = True
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Apply the activation."""
        return self.activation(inputs)


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function: Callable[..., Any], output_shape: Any = None, mask: Any = None,
                 arguments: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.function, self.mask, self.arguments = function, mask, arguments or {}
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return the mask that it was given, or what a function says."""
        return self.mask(inputs, previous_mask) if callable(self.mask) else self.mask

    def call(self, inputs: Any) -> Any:
        """Apply the function."""
        return self.function(inputs, **self.arguments)



class Masking(Layer):
    """Mask times at which all features have one value."""

    def __init__(self, mask_value: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.mask_value = mask_value
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return where a feature has another value."""
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs: Any) -> Any:
        """Return the inputs, 0 where they are masked."""
        mask = self.compute_mask(inputs)
        return annotated(tf.where(mask[..., None], inputs, tf.zeros_like(inputs)), mask=mask)


class ActivityRegularization(Layer):
    """A penalty for the inputs."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **options: Any) -> None:
        super().__init__(activity_regularizer=L1L2(l1, l2), **options)
        self.l1, self.l2 = l1, l2
        self.supports_masking = True
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the inputs."""
        return inputs


class Softmax(Layer):
    """`softmax` as a layer; what is masked has no share."""

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis
        self.supports_masking = True
        self.built = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Apply the layer."""
        if mask is None:
            return softmax(inputs, self.axis)
        there = tf.cast(mask, "bool")
        y = softmax(tf.where(there, inputs, tf.constant(FAR, inputs.dtype)), self.axis)
        return tf.where(there, y, tf.zeros_like(y))


def _made(value: Any) -> Any:
    """Return the layer of its plain data; anything else as it is."""
    if not isinstance(value, dict) or "class_name" not in value or value["class_name"] == (
            "DTypePolicy"):
        return value
    kind = get_custom_objects().get(value.get("registered_name") or "") or getattr(
        tf.keras.layers, value["class_name"], None)
    return kind.from_config(value["config"]) if kind is not None else value


class Wrapper(Layer):
    """A layer around another one."""

    def __init__(self, layer: Any, **options: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(f"Layer {layer} supplied to Wrapper isn't a supported layer type."
                             " Please ensure wrapped layer is a valid Keras layer.")
        super().__init__(**options)
        self.layer = layer

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return a layer with these options; those inside are made first."""
        return super().from_config({name: _made(value) for name, value in config.items()})

    def build(self, input_shape: Any = None) -> None:
        """Make the variables of the layer inside."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True


# ---- layers that are one expression --------------------------------------------------------------


def simple(name: str, doc: str, call: Callable[..., Any], masks: bool = False, **defaults: Any
           ) -> type[Layer]:
    """Make a class of a function of the inputs and of options with defaults, REQUIRED for none.

    masks: whether the mask of the input is that of the output.
    """
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        if len(args) > len(defaults):
            raise TypeError(f"{name}.__init__() takes {len(defaults) + 1} positional arguments but"
                            f" {len(args) + 1} were given")
        given = {**defaults, **dict(zip(defaults, args, strict=False))}
        given.update({key: options.pop(key) for key in defaults if key in options})
        missing = [key for key, value in given.items() if value is REQUIRED]
        if missing:
            raise TypeError(f"{name}.__init__() missing 1 required positional argument:"
                            f" '{missing[0]}'")
        Layer.__init__(self, **options)
        self.options = given
        self.supports_masking = masks
        self.built = True

    def apply(self: Any, inputs: Any) -> Any:
        return call(inputs, **self.options)

    return type(name, (Layer,), {
        "__init__": __init__, "call": apply, "defaults": defaults, "__doc__": doc,
        "__module__": __name__})


FAR = -3e38 / 2     # what is masked is put so far


def _flat(x: Any, data_format: Any) -> Any:
    if data_format not in (None, "channels_last"):
        raise refused("tf.keras.layers.Flatten", "data_format")
    return tf.reshape(x, [x.shape[0], -1])


def _old_slope(x: Any, negative_slope: Any, alpha: Any) -> Any:
    return leaky_relu(x, negative_slope if alpha is None else alpha)


Flatten = simple("Flatten", "All axes behind the batch as one.", _flat, data_format=None)
Reshape = simple("Reshape", "Another shape behind the batch.", lambda x, target_shape: tf.reshape(
    x, [x.shape[0], *((target_shape,) if isinstance(target_shape, int) else target_shape)]),
    target_shape=REQUIRED)
Permute = simple("Permute", "The axes behind the batch in another order.",
                 lambda x, dims: tf.transpose(x, [0, *dims]), dims=REQUIRED)
RepeatVector = simple("RepeatVector", "Each vector n times.", lambda x, n: tf.repeat(
    x[:, None], n, 1), n=REQUIRED)
Rescaling = simple("Rescaling", "A multiple, and an offset.",
                   lambda x, scale, offset: x * scale + offset, True, scale=REQUIRED, offset=0.0)
ReLU = simple("ReLU", "`relu` as a layer.", relu, True, max_value=None, negative_slope=0.0,
              threshold=0.0)
LeakyReLU = simple("LeakyReLU", "`leaky_relu` as a layer.", _old_slope, True, negative_slope=0.3,
                   alpha=None)
ELU = simple("ELU", "`elu` as a layer.", elu, True, alpha=1.0)
Identity = simple("Identity", "The inputs.", linear, True)
UnitNormalization = simple(
    "UnitNormalization", "The inputs over their norm.",
    lambda x, axis: tf.math.l2_normalize(x, axis, 1e-12), True, axis=-1)
