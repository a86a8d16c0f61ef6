"""Tensors that know more than their value: the logits of which they are, which times are masked."""

from __future__ import annotations

from gradcli.tf.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Annotated(Tensor):
    """A tensor with what layers and losses behind it want to know; results of it do not have it.

    logits: of which probabilities are, for the losses to be computed of. _keras_mask: True where
    there is data, by sample and time; the name is Keras's, which programs read.
    """

    __slots__ = ("_keras_mask", "logits", "plain")
    __hash__ = Tensor.__hash__
    _keras_mask: Any
    logits: Any
    plain: Any

    def read(self) -> Any:
        """Return the tensor without its notes."""
        return self.plain


Annotated.__name__ = Tensor.__name__


def annotated(tensor: Any, logits: Any = None, mask: Any = None) -> Any:
    """Return a tensor with notes, beside those that it has."""
    made = Annotated(tensor.value, tensor.id, tensor.batch)
    made.plain = tensor.plain if isinstance(tensor, Annotated) else tensor.read()
    made.logits = logits_of(tensor) if logits is None else logits
    made._keras_mask = mask_of(tensor) if mask is None else mask
    return made


def logits_of(output: Any) -> Any:
    """Return the logits of which probabilities are, None where these are not known."""
    return output.logits if isinstance(output, Annotated) else None


def mask_of(x: Any) -> Any:
    """Return the mask of a tensor, None where it has none."""
    return x._keras_mask if isinstance(x, Annotated) else None
