"""Models: layers that are trained; Sequential, and functional ones of symbolic tensors."""

from __future__ import annotations

import gradcli.tf as tf
from gradcli.engine.record import tensor as engine
from gradcli.tf.keras.annotated import annotated, mask_of
from gradcli.tf.keras.layers.layer import Layer
from gradcli.tf.keras.layers.simple import InputLayer
from gradcli.tf.keras.layers.symbolic import Input, KerasTensor, Node, nodes_of, run
from gradcli.tf.keras.models.training import Trainer
from gradcli.tf.keras.variables import auto_name
from gradcli.tf.names import without
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Model(Trainer, Layer):
    """A layer with training, as keras.Model: subclassed, or of symbolic inputs and outputs."""

    _nodes: list[Node]
    _structure: tuple[Any, Any]

    def __new__(cls, *args: Any, **options: Any) -> Any:
        if cls is Model and (args or "inputs" in options):
            cls = Functional
        return super().__new__(cls, *args, **options)

    def __init__(self, *args: Any, **options: Any) -> None:
        if isinstance(self, Functional) or not (args or "inputs" in options):
            super().__init__(*args, **options)
        else:       # a subclass that is told its inputs and outputs
            Functional.__init__(self, *args, **options)     # type: ignore[arg-type]

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Apply the layers between the inputs and outputs that it was made of."""
        if "_nodes" not in self.__dict__:
            raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()`"
                                      " method implemented.")
        return run(self._nodes, self._structure[0], inputs, self._structure[1])

    @property
    def layers(self) -> list[Any]:
        """Return the layers."""
        found: list[Any] = self._layers
        return found

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Return the layer of a name or at a place."""
        if index is not None:
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are:"
                         f" {[layer.name for layer in self.layers]}.")

    def summary(self, line_length: int | None = None, positions: Any = None, print_fn: Any = None,
                expand_nested: bool = False, show_trainable: bool = False, layer_range: Any = None
                ) -> None:
        """Print the layers with their shapes and numbers of variables."""
        from gradcli.tf.keras.models.summary import summary

        for option, value in (("positions", positions), ("expand_nested", expand_nested),
                              ("show_trainable", show_trainable), ("layer_range", layer_range)):
            if value:
                raise refused("Model.summary", option)
        summary(self, line_length, print_fn)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the variables to a file of arrays, whose name has to end in `.weights.h5`."""
        from gradcli.tf.keras.models.saving import save_weights

        save_weights(self, str(filepath))

    def load_weights(self, filepath: Any) -> None:
        """Read the variables from a file that `save_weights` wrote."""
        from gradcli.tf.keras.models.saving import load_weights

        load_weights(self, str(filepath))


class Stacked(Model):
    """A model that has its layers in a list of its own."""

    def __gradcli_items__(self) -> list[tuple[str, Any]]:
        """Return how a program reaches the layers."""
        return [(f".layers[{k}]", layer) for k, layer in enumerate(self.layers)]


class Functional(Stacked):
    """A model of symbolic inputs and outputs, and of the layers between them."""

    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None,
                 **options: Any) -> None:
        nodes = nodes_of(outputs, inputs)
        title = "functional" if type(self) is Functional else type(self).__name__
        super(Model, self).__init__(name=name or auto_name(title), **options)
        self.inputs, self.outputs = engine.flatten(inputs), engine.flatten(outputs)
        self._structure = inputs, outputs
        self._nodes = nodes
        self._inner = [*[_given(x) for x in self.inputs],
                       *{id(node.layer): node.layer for node in nodes}.values()]
        self.output = outputs
        self.input_names = [x.name for x in self.inputs]
        self.output_names = [_giver(x) for x in self.outputs]
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Apply the layers between the inputs and outputs; inputs may be given by their names."""
        if isinstance(inputs, dict) and not isinstance(self._structure[0], dict):
            absent = [name for name in self.input_names if name not in inputs]
            if absent:
                raise ValueError(f"Missing data for input \"{absent[0]}\". You passed a data"
                                 f" dictionary with keys {list(inputs)}. Expected the following"
                                 f" keys: {self.input_names}")
            inputs = [inputs[name] for name in self.input_names]
        elif isinstance(inputs, dict):
            inputs = {key: inputs[key] for key in self._structure[0]}
        given = engine.flatten(inputs)
        if len(given) != len(self.inputs):
            raise ValueError(f'Layer "{self.name}" expects {len(self.inputs)} input(s), but it'
                             f" received {len(given)} input tensors.")
        fitted = [of_rank(x, asked) for x, asked in zip(given, self.inputs, strict=True)]
        for k, (x, asked) in enumerate(zip(fitted, self.inputs, strict=True)):
            if any(n is not None and m != n for m, n in zip(
                    x.shape[1:], asked.shape[1:], strict=True)):
                raise ValueError(f"Input {k} with name '{asked.name}' of layer '{self.name}' is"
                                 f" incompatible with the layer: expected shape={asked.shape},"
                                 f" found shape={tuple(x.shape)}")
        return super().call(engine.like(self._structure[0], fitted), training, mask)

    @property
    def layers(self) -> list[Any]:
        """Return the layers, inputs first; operators between them are `operations` only."""
        return [inner for inner in self._inner if isinstance(inner, Layer)]

    @property
    def operations(self) -> list[Any]:
        """Return the layers and operators."""
        return list(self._inner)

    input = property(lambda self: self._structure[0])
    input_shape = property(lambda self: shapes_of_symbolic(self._structure[0]))
    output_shape = property(lambda self: shapes_of_symbolic(self._structure[1]))


def shapes_of_symbolic(structure: Any) -> Any:
    """Return the shapes of nested symbolic tensors."""
    return engine.like(structure, [x.shape for x in engine.flatten(structure)])


def of_rank(x: Any, asked: KerasTensor) -> Any:
    """Return an input in the type that is asked for, with an axis of length 1 at the end more or
    less where that is all that it lacks. Raises ValueError for another number of axes.
    """
    wanted = len(asked.shape)
    mask = mask_of(x)
    fitted = x if x.dtype == asked.dtype else tf.cast(x, asked.dtype)
    rank = len(fitted.shape)
    if rank == wanted + 1 and fitted.shape[-1] == 1:
        fitted = tf.squeeze(fitted, -1)
    elif rank == wanted - 1 and asked.shape[-1] == 1:
        fitted = fitted[..., None]
    elif rank != wanted:
        raise ValueError(f"Invalid input shape for input {x} with name '{asked.name}' and path"
                         f" ''. Expected shape {asked.shape}, but input has incompatible shape"
                         f" {tuple(x.shape)}")
    return fitted if mask is None or fitted is x else annotated(fitted, mask=mask)


def _giver(x: KerasTensor) -> str:
    """Return the name of the layer that gives a symbolic tensor."""
    name: str = x.name if x.node is None else x.node.layer.name
    return name


def _given(x: KerasTensor) -> Layer:
    layer = InputLayer(batch_shape=x.shape, name=x.name)
    layer.output = x
    return layer


class Sequential(Stacked):
    """Layers one after the other."""

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None
                 ) -> None:
        super().__init__(trainable=trainable, name=name)
        self._stack: list[Layer] = []
        self._begin: Any = None
        self.output: Any = None
        for layer in layers or []:
            self.add(layer, rebuild=False)
        self._build_of_begin()

    def add(self, layer: Any, rebuild: bool = True) -> None:
        """Put a layer behind the others, or an input before them."""
        if isinstance(layer, KerasTensor):
            self._begin = layer
        elif isinstance(layer, InputLayer):
            self._begin = layer.output
        elif isinstance(layer, Layer):
            if any(layer.name == other.name for other in self._stack):
                raise ValueError("All layers added to a Sequential model should have unique names."
                                 f" Name '{layer.name}' is already the name of a layer in this"
                                 f" model. Update the `name` argument to pass a unique name.")
            if not self._stack and self._begin is None and hasattr(layer, "_input_shape_arg"):
                self._begin = Input(layer._input_shape_arg)
            self._stack.append(layer)
        else:
            raise ValueError("Only instances of `keras.Layer` can be added to a Sequential model."
                             f" Received: {layer} (of type {type(layer)})")
        if rebuild:
            self._build_of_begin()

    def pop(self, rebuild: bool = True) -> Layer:
        """Take the last layer away, and return it."""
        return self._stack.pop()

    def _build_of_begin(self) -> None:
        if self._begin is not None and self._stack:
            self.build(self._begin.shape)

    def build(self, input_shape: Any = None) -> None:
        """Make the variables of all layers for inputs of a shape."""
        if not self._stack:
            raise ValueError(f"Sequential model {self.name} cannot be built because it has no"
                             " layers. Call `model.add(layer)`.")
        if self._begin is None:
            self._begin = Input(batch_shape=input_shape)
        auto_name("functional")     # Keras makes one, which takes a number
        x = self._begin
        for layer in self._stack:
            x = layer(x)
        self.output = x

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Apply the layers."""
        if self._begin is not None and isinstance(inputs, engine.Tensor):
            inputs = of_rank(inputs, self._begin)
        for layer in self._stack:
            inputs = layer(inputs)
        return inputs

    @property
    def layers(self) -> list[Any]:
        """Return the layers."""
        return list(self._stack)

    @property
    def inputs(self) -> list[Any]:
        """Return the symbolic inputs."""
        return engine.flatten(self._begin)

    @property
    def outputs(self) -> list[Any]:
        """Return the symbolic outputs."""
        return engine.flatten(self.output)

    input = property(lambda self: self._begun(self._begin, "input"))
    input_shape = property(lambda self: self._begun(self._begin, "input shape").shape)
    output_shape = property(lambda self: self._begun(self.output, "output shape").shape)

    def _begun(self, found: Any, what: str) -> Any:
        if found is None:
            raise AttributeError(f"Sequential model '{self.name}' has no defined {what} yet.")
        return found


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None,
                call_function: Any = None, recursive: bool = False, **options: Any) -> Any:
    """Return a model of new layers with the options of a model's, and new variables."""
    for option, given in (("input_tensors", input_tensors), ("call_function", call_function),
                          ("recursive", recursive)):
        if given:
            raise refused("tf.keras.models.clone_model", option)
    made: dict[int, Any] = {}

    def another(layer: Any) -> Any:
        if id(layer) not in made:
            function = clone_function or (lambda one: one.from_config(one.get_config()))
            made[id(layer)] = clone_model(layer) if isinstance(layer, Stacked) else (
                function(layer) if isinstance(layer, Layer) else layer)
        return made[id(layer)]

    if isinstance(model, Sequential):
        begin = [] if model._begin is None else [_fresh(model._begin)]
        return Sequential([*begin, *map(another, model.layers)], name=model.name)
    if not isinstance(model, Functional):
        raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a"
                         f" subclassed model instead: {model}")
    new = {id(x): _fresh(x) for x in model.inputs}

    def mapped(structure: Any) -> Any:
        return engine.like(structure, [new.get(id(x), x) for x in engine.flatten(structure)])

    for node in model._nodes:
        outputs = another(node.layer)(*mapped(node.args), **mapped(node.options))
        new.update({id(x): y for x, y in zip(
            engine.flatten(node.outputs), engine.flatten(outputs), strict=True)})
    return Functional(mapped(model._structure[0]), mapped(model._structure[1]), name=model.name)


def _fresh(x: KerasTensor) -> KerasTensor:
    """Return another input of the same shape, type and name."""
    return Input(batch_shape=x.shape, dtype=x.dtype, name=x.name)


without(Model, "keras.Model", """export from_config quantize save stateless_call to_json
    get_compile_config""")
