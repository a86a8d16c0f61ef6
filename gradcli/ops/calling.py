"""Calls as Python code writes them: `ops.sum([1.0, x], 0)`, `ops.concat([a, b], axis=1)`."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol

    class Signature(Protocol):
        """The part of an operation that says how its arguments are read."""

        name: str
        parameters: tuple[str, ...]
        attributes: dict[str, Any]
        variadic: bool
        expand: Callable[..., Any] | None
        doc: str
        traits: tuple[str, ...]


def arranged(op: Signature, args: Sequence[Any], attributes: Mapping[str, Any],
             stack: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return operands and attributes: lists become tensors, further arguments attributes.

    stack: the operation that joins the tensors of a list. Raises E0207 where there are more
    arguments than the operation has.
    """
    named = dict(attributes)
    if op.variadic:
        if isinstance(args[0], (list, tuple)):
            operands, extra = list(args[0]), args[1:]
        else:
            operands, extra = list(args), ()
    elif op.parameters[-1:] and op.parameters[-1].startswith("*"):
        operands, extra = list(args), ()
    else:
        count = len(op.parameters)
        operands, extra = list(args[:count]), args[count:]
    if "listed" in op.traits and len(extra) > 1:
        extra = (list(extra),)  # x.reshape(2, 3) as in NumPy
    free = [name for name in op.attributes if name not in named]
    if len(extra) > len(free):
        raise error("E0207", f"`{op.name}` takes {len(op.parameters)} arguments and"
                    f" {len(op.attributes)} options, not {len(args)}",
                    help=f"its options are {', '.join(op.attributes) or 'none'}")
    named.update(zip(free, extra, strict=False))
    return [tensor(a, stack) for a in operands], named


def check_options(op: Signature, attributes: Mapping[str, Any]) -> None:
    """Raise E0208 for an option that the operation does not have; operands may be named."""
    for name in attributes:
        if name not in op.attributes and (op.expand is None or name not in op.parameters):
            raise error("E0208", f"`{op.name}` has no option `{name}`",
                        help=f"it has {', '.join(op.attributes) or 'none'}")


def check_count(op: Signature, args: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """Raise E0207 if operands of a composite operation are missing, or its function's arguments."""
    from inspect import signature

    assert op.expand is not None
    if not op.parameters:
        try:
            signature(op.expand).bind(*args, **attributes)
        except TypeError:
            raise error("E0207", f"`{op.name}` does not take these arguments",
                        help=f"such as {op.doc}") from None
    missing = [name for name in op.parameters[len(args):]
               if name not in attributes and not name.startswith("*")]
    if missing:
        raise error("E0207", f"`{op.name}` takes {' and '.join(op.parameters)}",
                    help=f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")


def tensor(value: Any, stack: Callable[..., Any]) -> Any:
    """Return a list as an array, or stacked where it holds tensors; anything else unchanged."""
    if not isinstance(value, (list, tuple)):
        if type(value) is complex:
            return np.asarray(value)
        if not (type(value) in SCALAR_TYPES or hasattr(value, "__gradcli_apply__")
                or hasattr(value, "__array_interface__")):
            raise error("E0302", f"an operand must be a tensor or numbers, not {value!r:.40}",
                        help="make it a tensor: gradcli.constant(...)")
        return value
    items = [tensor(v, stack) for v in value]
    if any(hasattr(v, "__gradcli_apply__") for v in items):
        return stack(*items, axis=0)
    try:
        return np.asarray(items)
    except GradcliError:
        raise
    except ValueError:
        raise error("E0302", "the rows of this list have different lengths",
                    help="give every row as many numbers") from None
