"""Questions to a tape or an accumulator: their arguments, each checked, the sources that a tape
watches, and what it recorded of the paths between.
"""

from __future__ import annotations

from math import inf

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.engine.record import record as records
from gradcli.engine.record.record import OP, OUT, Segment, expanded, fresh_id, leading, place_in
from gradcli.engine.record.recording import Recording
from gradcli.engine.record.tensor import Tensor, flatten, leaf
from gradcli.engine.record.variable import Variable, plain_value
from gradcli.engine.sweeps import constant, derivatives, reverse
from gradcli.ops.kinds import UNREGISTERED
from gradcli.ops.values import SCALAR_TYPES, dtype_of, is_float, plain, zeros

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
            raise error("E0302", f"the output gradient is {w.dtype.name}, the target"
                        f" {t.dtype.name}",
                        help=f'cast it: cast(..., "{t.dtype.name}")')
        if isinstance(w, Tensor):
            w = w.read()
        elif w is not None:
            w = plain_value(w)
            if dtype_of(w).startswith("complex") and not t.dtype.startswith("complex"):
                raise error("E0302", f"the output gradient is {dtype_of(w)}, the target"
                            f" {t.dtype.name}",
                            help="give real numbers")
            w = plain_value(w, t.dtype.name if is_float(t.value) else None)
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
    """A used tape: its `entries`, `watched`, `late` and `derived`. whole: entries have values."""

    __slots__ = ("derived", "entries", "late", "watched", "whole")

    def __init__(self, entries: list[Entry], watched: set[int], late: dict[int, int],
                 derived: dict[int, tuple[int, int]], whole: bool = False) -> None:
        self.whole = whole
        self.entries = entries
        self.watched = watched
        self.late = late
        self.derived = derived


# Below this norm, of 64 and of 32 bits, a derivative may be nothing but rounding.
TINY, TINY_32 = 1e-13, 1e-7


def is_notable(answer: Tensor | None, zero: bool = True) -> bool:
    """Return whether a value is NaN or infinite in part, or, if `zero`, 0 everywhere but for what
    may be rounding.
    """
    value = answer.value if answer is not None else None
    if type(value) is float:
        return value - value != 0.0 or (zero and -TINY < value < TINY)
    if value is None or type(value) in SCALAR_TYPES or value.dtype.kind not in "fc":
        return False
    least = TINY if dtype_of(value) in ("float64", "complex128") else TINY_32
    # One product tells of most arrays that all is well.
    if value.itemsize > 2 and least*least < float(np.vdot(value, value).real) < inf:
        return False
    return not np.isfinite(value).all() or (zero and bool(np.abs(value).max(initial=0.0) < least))


class Watching(Recording):
    """A recording with sources.

    watched: the ids of the sources.
    late: those that were watched after something had been recorded, since when: uses before do not
        count.
    states: of a variable the ids of the states that it had.
    recording: whether it is one of the record's tapes.
    tensorflow_semantics: whether a derivative that does not depend on a source is None, not 0.
    """

    __slots__ = ("_record", "late", "recording", "states", "tensorflow_semantics", "watched")

    def __init__(self, watch_accessed: bool, tensorflow_semantics: bool) -> None:
        super().__init__(watch_accessed)
        self._record: Record | None = None
        self.recording = False
        self.tensorflow_semantics = tensorflow_semantics
        self.forget()

    def forget(self) -> None:
        """Forget all that was recorded and watched."""
        self._segments = []
        self.derived = {}
        self.watched: set[int] = set()
        self.late: dict[int, int] = {}
        self.states: dict[Variable, list[int]] = {}

    def watch_id(self, id: int) -> None:
        """Make a value a source."""
        if id in self.watched:
            return
        self.watched.add(id)
        if any(self._segments) or not self.recording:
            self.late[id] = fresh_id()
        if self._record is not None and self.recording:
            self._record.seen.add(id)

    def watch_state(self, variable: Variable) -> None:
        """Make the present state of a variable a source."""
        assert variable.id is not None
        ids = self.states.setdefault(variable, [])
        if variable.id not in self.watched:
            ids.append(variable.id)
            self.watch_id(variable.id)

    def read(self, variable: Variable) -> None:
        """Watch a variable that was read, if `watch_accessed` says so."""
        if variable.id in self.watched:
            return
        if variable in self.states or (self.watch_accessed and variable.watched):
            assert variable.id is not None
            self.states.setdefault(variable, []).append(variable.id)
            # Read for the first time, so nothing recorded before can have used this state.
            self.watched.add(variable.id)
            assert self._record is not None
            self._record.seen.add(variable.id)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that are sources, in order of construction."""
        return tuple(sorted(self.states, key=lambda v: v.serial))

    def sees_everything(self) -> bool:
        """Return whether its entries may have nothing to do with the ids that it watches."""
        return self._record is not None and self._record.everything


class Request:
    """One question to a tape.

    asking: when and where it is asked.
    ids: of each source those that it has on the tape.
    on_tape: the ids that are.
    entries: those that were on it.
    emit: whether to record the derivatives.
    missing: whether a derivative is None in part, or 0 for want of a path.

    Raises E0503 where an ancestor of a target has no rule, as TensorFlow does.
    """

    __slots__ = ("_zero", "asking", "emit", "entries", "ids", "missing", "on_tape", "sources",
                 "tape", "targets")

    def __init__(self, tape: Watching, asking: tuple[int, Any], targets: Sequence[Tensor],
                 sources: Sequence[Tensor], zero: bool, window: Segment) -> None:
        self.tape = tape
        self.asking = asking
        self.targets = targets
        self.sources = sources
        self._zero = zero
        self.missing = False
        self.emit = records.current().is_watched()
        _check_rules(window, targets)
        self.ids = [self._ids(s) for s in sources]
        self.entries, self.on_tape = on_tape(tape, window, self.ids)

    def _ids(self, source: Tensor) -> list[int]:
        states = self.tape.states
        if isinstance(source, Variable) and source in states and source.id is not None:
            return list(dict.fromkeys([*states[source], source.id]))
        return [] if source.id is None else [source.id]

    def leaves(self, k: int) -> list[Tensor]:
        """Return the tensors that a source was on the tape, or is as a target itself."""
        targets = [t.id for t in self.targets]
        return [Tensor(self.sources[k].value, i) for i in self.ids[k]
                if i in self.on_tape or i in targets]

    def itself(self, weights: Sequence[Any], k: int) -> list[Any]:
        """Return the gradient of a target with respect to itself, which needs no tape."""
        return [
            derivatives.seed_of(t, weights[n] if weights else None)
            for n, t in enumerate(self.targets) if t.id in self.ids[k] and is_float(t.value)]

    def derivative(self, parts: Sequence[Any], k: int) -> Any:
        """Return the sum of the derivatives of one target in the leaves of a source, or None."""
        g = total([g for g in parts if g is not None])
        if g is None or not self.emit:
            return g
        return derivatives.as_derivative(g, list(self.targets), self.sources[k])

    def as_result(self, g: Any, k: int, shape: tuple[int, ...]) -> Any:
        """Return the derivative in a source as a tensor; None, or the zeros that stand for it."""
        if g is None:
            tape, source = self.tape, self.sources[k]
            self.missing = True
            if self._zero or (not tape.tensorflow_semantics and is_float(source.value)
                              and self._is_constant_derivative(k)):
                return leaf(zeros_for(shape, source))
            return None
        return g if isinstance(g, Tensor) else leaf(plain(g))

    def _is_constant_derivative(self, k: int) -> bool:
        """Return whether a target is made of derivatives that do not depend on the source."""
        tape, own = self.tape, self.ids[k]
        if not tape.derived:
            return False
        ids = [t.id for t in self.targets if t.id is not None and is_float(t.value)]
        window = tape.window()
        # Of a source that this tape does not know, nothing is known: that is None.
        return not on_tape(tape, window, [own])[1].isdisjoint(own) and constant.is_constant(
            window, tape.derived, ids, own)


def on_tape(tape: Watching, window: Segment, sources: Sequence[Sequence[int]]
            ) -> tuple[Segment, set[int]]:
    """Return the entries that were on a tape, and the ids that are.

    Where all sources are watched from the start, all that they reach is on it: no need to look.
    """
    asked = {i for own in sources for i in own}
    if asked <= tape.watched and not tape.late and not tape.sees_everything():
        return window, asked
    window = expanded(window)
    ids, made = records.on_tape(window, tape.watched, tape.late)
    # A state is a leaf: it is asked for itself, and a link to the first one would count it again.
    made -= {i for own in tape.states.values() for i in own}
    live = Segment()
    live.extend([entry for entry in window if entry[OUT] in made])
    live.scalar = window.scalar
    return live, ids


def total(parts: Sequence[Any]) -> Any:
    """Return the sum; None of nothing."""
    found = None
    for part in parts:
        found = part if found is None else found + part
    return found


def _check_rules(window: Segment, targets: Sequence[Tensor]) -> None:
    for entry in window:
        if entry[OP].kind == UNREGISTERED:
            break
    else:
        return
    window = expanded(window)
    wanted = leading(window, [t.id for t in targets if t.id is not None])
    for entry in reversed(window):
        if entry[OUT] in wanted and entry[OP].kind == UNREGISTERED:
            raise reverse.without_rule(entry)
