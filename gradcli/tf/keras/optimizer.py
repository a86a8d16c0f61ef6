"""Optimizers: rules that say how far a variable moves for a gradient. The formulas are Keras 3's.
"""

from __future__ import annotations

from warnings import warn

import gradcli.tf as tf
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import floatx
from gradcli.tf.keras.initializer import Constant
from gradcli.tf.keras.initializer import get as initializer_of
from gradcli.tf.keras.schedule import LearningRateSchedule
from gradcli.tf.keras.variables import Variable, auto_name, name_scope
from gradcli.tf.tensor import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, ClassVar

MISSING = ("use_ema", "ema_overwrite_frequency", "loss_scale_factor",
           "gradient_accumulation_steps")
COMMON = ("weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema", "ema_momentum",
          "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps", "name")


class Optimizer:
    """Gradient steps, as keras.optimizers.Optimizer: `update_step` of a subclass takes one.

    slots: the names of what is kept for each variable, with their first values, in groups that are
    made one after the other. defaults: the options of a subclass, in order.
    """

    slots: ClassVar[tuple[dict[str, Any], ...]] = ()
    defaults: ClassVar[dict[str, Any]] = {}
    rate: ClassVar[float] = 0.001

    def __init__(self, learning_rate: Any = None, *args: Any, **options: Any) -> None:
        order = (*self.defaults, *[key for key in COMMON if key not in self.defaults])
        if len(args) > len(order):
            raise TypeError(f"{type(self).__name__} takes {len(order) + 1} arguments")
        named = dict(zip(order, args, strict=False))
        given: dict[str, Any] = {**dict.fromkeys(COMMON), **self.defaults, **named}
        if options.pop("decay", None) is not None:
            warn("Argument `decay` is no longer supported and will be ignored.", stacklevel=3)
        unknown = {key: value for key, value in options.items() if key not in given}
        if unknown:
            raise ValueError(f"Argument(s) not recognized: {unknown}")
        given.update(options)
        for option in MISSING:
            if given.pop(option):
                raise refused(f"tf.keras.optimizers.{type(self).__name__}", option)
        given.pop("ema_momentum")
        self.name = given.pop("name") or auto_name(type(self).__name__)
        self.weight_decay, self.clipnorm, self.clipvalue, self.global_clipnorm = [
            given.pop(key) for key in ("weight_decay", "clipnorm", "clipvalue", "global_clipnorm")]
        clips = {key: getattr(self, key) for key in ("clipnorm", "clipvalue", "global_clipnorm")}
        if len([v for v in clips.values() if v is not None]) > 1:
            raise ValueError("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set."
                             " Received: " + ", ".join([f"{k}={v}" for k, v in clips.items()]))
        for key, value in given.items():
            setattr(self, key, value)
        rate = self.rate if learning_rate is None else learning_rate
        self.built = False
        self._kept: dict[int, dict[str, Variable]] = {}
        self._slices: Any = None
        with name_scope(self.name, self):
            self.iterations = Variable(0, dtype="int64", trainable=False, name="iteration")
            self.variables: list[Variable] = [self.iterations]
            if callable(rate) and not isinstance(rate, engine.Tensor):
                self._learning_rate: Any = rate
                return
            if not isinstance(rate, float):
                raise ValueError(
                    "Argument `learning_rate` should be float, or an instance of"
                    " LearningRateSchedule, or a callable (that takes in the current iteration"
                    " value and returns the corresponding learning rate value). Received instead:"
                    f" learning_rate={rate}")
            self._learning_rate = Variable(rate, trainable=False, name="learning_rate")
            self.variables.append(self._learning_rate)

    # ---- the rate ------------------------------------------------------------------------------

    @property
    def learning_rate(self) -> Any:
        """Return the learning rate of the next step."""
        if isinstance(self._learning_rate, LearningRateSchedule):
            return self._learning_rate(self.iterations)
        if isinstance(self._learning_rate, Variable):
            return self._learning_rate
        return self._learning_rate()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value) and not isinstance(value, engine.Tensor):
            self._learning_rate = value
        elif isinstance(self._learning_rate, Variable):
            self._learning_rate.assign(value)
        else:
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its"
                " `learning_rate` constructor argument, hence its learning rate is not settable."
                " If you need the learning rate to be settable, you should instantiate the"
                " optimizer with a float `learning_rate` argument.")

    # ---- variables -----------------------------------------------------------------------------

    def build(self, variables: Sequence[Any]) -> None:
        """Make what is kept for each variable."""
        self.built = True
        self._seen = list(variables)    # their ids stay theirs
        with name_scope(self.name, self):
            for group in self.slots:
                for variable in variables:
                    self._kept.setdefault(id(variable), {}).update({
                        name: self._slot(variable, name, start)
                        for name, start in group.items() if self._wants(name)})
        for variable in variables:
            self._kept.setdefault(id(variable), {})

    def _wants(self, slot: str) -> bool:
        """Return whether something is kept with these options."""
        return True

    def _slot(self, variable: Any, name: str, start: Any) -> Variable:
        value = getattr(self, start) if isinstance(start, str) else start
        return self.add_variable_from_reference(variable, name, Constant(value))

    def add_variable_from_reference(self, reference_variable: Any, name: str | None = None,
                                    initializer: Any = "zeros") -> Variable:
        """Make a variable of the shape of another one, named after it."""
        title = getattr(reference_variable, "path", reference_variable.name)
        title = title.replace("/", "_").replace(":", "_")
        return self.add_variable(reference_variable.shape, initializer, reference_variable.dtype,
                                 name=f"{title}_{name or 'var'}")

    def add_variable(self, shape: Any, initializer: Any = "zeros", dtype: Any = None,
                     aggregation: Any = "none", layout: Any = None, name: str | None = None
                     ) -> Variable:
        """Make a variable of the optimizer."""
        with name_scope(self.name, self):
            made = Variable(initializer_of(initializer), shape, dtype, False, name=name)
        self.variables.append(made)
        return made

    def assign(self, variable: Any, value: Any) -> None:
        """Set a new state of a variable."""
        variable.assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to a variable."""
        variable.assign_add(value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from a variable."""
        variable.assign_sub(value)

    def _get_variable_index(self, variable: Any) -> int:
        return next(k for k, v in enumerate(self._seen) if v is variable)

    def kept(self, variable: Any) -> dict[str, Variable]:
        """Return what is kept for a variable, by name."""
        return self._kept[id(variable)]

    # ---- steps ---------------------------------------------------------------------------------

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Variable:
        """Move each variable by its gradient; those without one stay.

        Raises ValueError where there is no gradient at all, or for a variable that the optimizer
        did not see at its first step.
        """
        grads, variables = zip(*grads_and_vars, strict=True)
        self.apply(grads, variables)
        return self.iterations

    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> None:
        """Move each variable by its gradient."""
        variables = list(self._seen if trainable_variables is None else trainable_variables)
        if not self.built:
            self.build(variables)
        for v in variables:
            if id(v) not in self._kept:
                raise ValueError(
                    f"Unknown variable: {v}. This optimizer can only be called for the variables"
                    " it was originally built with. When working with a new set of variables, you"
                    " should recreate a new optimizer instance.")
        pairs = [(g, v) for g, v in zip(grads, variables, strict=True) if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        if len(pairs) < len(variables):
            without = [getattr(v, "path", v.name) for g, v in zip(grads, variables, strict=True)
                       if g is None]
            warn(f"Gradients do not exist for variables {without} when minimizing the loss. If"
                 " using `model.compile()`, did you forget to provide a `loss` argument?",
                 stacklevel=3)
        clipped = self._clipped([g if isinstance(g, tf.IndexedSlices) else tf.convert_to_tensor(g)
                                 for g, _ in pairs])
        rate = tf.convert_to_tensor(self.learning_rate)
        if self.weight_decay is not None:
            for _, v in pairs:
                v.assign(v - v * cast(self.weight_decay, v) * tf.cast(rate, v.dtype))
        self._begin()
        for g, (_, v) in zip(clipped, pairs, strict=True):
            self._slices = g if isinstance(g, tf.IndexedSlices) else None
            self.update_step(tf.cast(tf.convert_to_tensor(g), v.dtype), v, tf.cast(rate, v.dtype))
        for _, v in pairs:
            if getattr(v, "constraint", None) is not None:
                v.assign(v.constraint(v))
        self.iterations.assign_add(1)

    def _begin(self) -> None:
        """Do what belongs to the step of all variables."""

    def _squared(self, gradient: Any) -> Any:
        """Return the squares of a gradient; as in Keras of each slice by itself, before those of
        one row add up.
        """
        if self._slices is None:
            return tf.square(gradient)
        return tf.cast(tf.convert_to_tensor(self._slices.with_values(
            tf.square(self._slices.values))), gradient.dtype)

    def _clipped(self, grads: list[Any]) -> list[Any]:
        if self.clipnorm:
            return [tf.clip_by_norm(g, self.clipnorm) for g in grads]
        if self.global_clipnorm:
            clipped: list[Any] = tf.clip_by_global_norm(grads, self.global_clipnorm)[0]
            return clipped
        if self.clipvalue:
            return [tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in grads]
        return grads

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Variable:
        """Take one step for a loss: a function, or a tensor on a tape. Keras 2 has it, 3 not."""
        if callable(loss) and not isinstance(loss, engine.Tensor):
            with tf.GradientTape() as tape:
                value = loss()
        elif tape is None:
            raise ValueError("`tape` is required when a `Tensor` loss is passed.")
        else:
            value = loss
        variables = var_list() if callable(var_list) else var_list
        return self.apply_gradients(
            list(zip(tape.gradient(value, variables), variables, strict=True)))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Move a variable."""
        raise NotImplementedError

    def _power(self, beta: float, variable: Any, more: int = 1) -> Any:
        """Return a decay rate to the number of this step."""
        return tf.pow(cast(beta, variable), tf.cast(self.iterations + more, variable.dtype))

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        rate = self._learning_rate
        own = {key: getattr(self, key) for key in self.defaults if key != "weight_decay"}
        return {"name": self.name,
                "learning_rate": float(rate) if isinstance(rate, Variable) else rate,
                **{key: getattr(self, key) for key in (
                    "weight_decay", "clipnorm", "global_clipnorm", "clipvalue")},
                "use_ema": False, "ema_momentum": 0.99, "ema_overwrite_frequency": None,
                "loss_scale_factor": None, "gradient_accumulation_steps": None, **own}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return an optimizer with these options."""
        return cls(**config)


def cast(option: float, variable: Any) -> Any:
    """Return an option in the type of a variable, by way of float32, as Keras's `cast` does."""
    return tf.cast(tf.constant(option, floatx()), variable.dtype)
