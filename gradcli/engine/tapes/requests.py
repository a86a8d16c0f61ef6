"""The arguments of a question to a tape or an accumulator, each checked: targets, sources, weights,
words.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record.record import fresh_id, place_in
from gradcli.engine.record.tensor import Tensor, flatten
from gradcli.engine.record.variable import plain_value
from gradcli.ops.values import dtype_of, is_float, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry, Record

    # (kind, time, place, ids); kind: "open", "close", "pause", "resume", "reset", "watch" or "ask".
    # A time is an id: all that were made before are smaller.
    Event = tuple[str, int, Any, tuple[int, ...]]


def is_zero(word: Any) -> bool:
    """Return whether `unconnected_gradients` asks for zeros.

    Raises E0312 for anything but "none" and "zero".
    """
    value = getattr(word, "value", word)
    if not (value is None or isinstance(value, str)):
        raise error("E0312", f"unconnected_gradients is a text, not {kind_of(value)}",
                    help='"none" or "zero"', about=("value", value))
    if value not in (None, "none", "zero"):
        raise error("E0312", f"unknown value for unconnected_gradients: `{value}`",
                    help='"none" or "zero"', about=("value", value))
    return bool(value == "zero")


def kind_of(value: Any) -> str:
    """Return a value's type in words."""
    return "None" if value is None else f"the {type(value).__name__}"


def tensors_of(structure: Any, what: str) -> list[Tensor]:
    """Return the leaves of a structure. Raises E0310 for anything that is not a tensor."""
    found = flatten(structure)
    for item in found:
        if not isinstance(item, Tensor):
            raise error("E0310", f"the {what} must be a tensor or variable, not {kind_of(item)}"
                        f" {item!r:.40}", help=_kept(what))
    return found


def _kept(what: str) -> str:
    """Return advice on a number in place of a tensor: a target that is made one has no history."""
    return "keep it a tensor: .numpy(), .item() and float() leave the tape" if (
        what == "target") else "make it one: gradcli.constant(...)"


def one_tensor(value: Any, what: str) -> Tensor:
    """Return the value. Raises E0310 for a structure or anything else that is not a tensor."""
    if not isinstance(value, Tensor):
        raise error("E0310", f"the {what} must be one tensor, not {kind_of(value)}",
                    help="ask for each separately" if isinstance(value, (list, tuple, dict))
                    else _kept(what))
    return value


def weights_of(target: Any, given: Any, count: int, filled: bool) -> list[Any]:
    """Return the output gradients, one for each of `count` targets, in their types; None: ones.

    Raises E0313 where their number differs, unless `filled`: then ones stand for missing ones.
    Raises E0302 or E0306 for a type that is not the target's.
    """
    if given is None:
        return []
    weights = _by_target(target, given)
    if filled:
        weights = [*weights[:count], *[None] * (count - len(weights))]
    if len(weights) != count:
        raise error("E0313", f"{len(weights)} output gradients for {count} targets",
                    help="give one for each target")
    out = []
    for w, t in zip(weights, flatten(target), strict=True):
        if w is not None and isinstance(w, Tensor) and is_float(t.value) and w.dtype != t.dtype:
            raise error("E0302", f"the output gradient is {w.dtype}, the target {t.dtype}",
                        help=f'cast it: cast(..., "{t.dtype}")')
        if isinstance(w, Tensor):
            w = w.read()
        elif w is not None:
            w = plain_value(w)
            if dtype_of(w).startswith("complex") and not t.dtype.startswith("complex"):
                raise error("E0302", f"the output gradient is {dtype_of(w)}, the target {t.dtype}",
                            help="give real numbers")
            w = plain_value(w, t.dtype if is_float(t.value) else None)
        out.append(w)
    return out


def _by_target(target: Any, given: Any) -> list[Any]:
    """Return the weights in the order of the targets; a list of numbers is one target's weight."""
    if isinstance(target, dict) and isinstance(given, dict) and set(target) == set(given):
        return [w for key, t in target.items() for w in _by_target(t, given[key])]
    if isinstance(target, (list, tuple)) and isinstance(given, (list, tuple)) and (
            len(target) == len(given)):
        return [w for t, g in zip(target, given, strict=True) for w in _by_target(t, g)]
    if not isinstance(target, Tensor):
        return flatten(given)
    if not isinstance(given, (list, tuple)) or not _is_list_of_one(given, target.shape):
        return [given]
    return list(given)


def _is_list_of_one(given: Sequence[Any], shape: tuple[int, ...]) -> bool:
    """Return whether a list for one target of this shape holds its weight instead of numbers."""
    if any(w is None or isinstance(w, Tensor) for w in given):
        return True
    return len(given) == 1 and np.shape(given[0]) == shape


def zeros_for(shape: tuple[int, ...], source: Tensor) -> Any:
    """Return zeros of a shape in the type of a source, in place of a missing gradient."""
    if dtype_of(source.value) == "float64":
        return zeros(shape)
    if dtype_of(source.value) == "int64" and not shape:
        return 0
    if dtype_of(source.value) == "string":
        return zeros(shape)
    return np.zeros(shape, dtype_of(source.value))


# --------------------------------------------------------------------------------------------------
# What was done with a tape or an accumulator, and when and where: for `why`.

# What was done is remembered up to so many times.
MAX_EVENTS = 2000


def note(events: list[Event], record: Record, kind: str, ids: tuple[int, ...], depth: int,
         often: str) -> None:
    """Append an event.

    depth: the number of frames up to the code that did it. often: the kind that is dropped from the
    older half when there are too many.
    """
    if len(events) >= MAX_EVENTS:
        half = MAX_EVENTS // 2
        events[:half] = [event for event in events[:half] if event[0] != often]
        del events[:-MAX_EVENTS + 1]
    events.append((kind, fresh_id(), place_in(record, depth + 1), ids))


class Past:
    """A used tape without values: its `entries`, `watched`, `late` and `derived`."""

    __slots__ = ("derived", "entries", "late", "watched")

    def __init__(self, entries: list[Entry], watched: set[int], late: dict[int, int],
                 derived: dict[int, tuple[int, int]]) -> None:
        self.entries = entries
        self.watched = watched
        self.late = late
        self.derived = derived
