"""Questions to a tape: the entries that lead to the derivatives, and the results."""

from __future__ import annotations

from gradcli.engine.record import record as records
from gradcli.engine.record.record import OP, OUT, Segment, expanded, leading
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.record.variable import Variable
from gradcli.engine.sweeps import constant, derivatives, reverse
from gradcli.engine.tapes.requests import zeros_for
from gradcli.ops.kinds import UNREGISTERED
from gradcli.ops.values import is_float, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.tapes.watching import Watching


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

    def answer(self, g: Any, k: int, shape: tuple[int, ...]) -> Any:
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
