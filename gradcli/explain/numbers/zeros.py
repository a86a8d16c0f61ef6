"""The explanation of a gradient that is exactly 0 although a path leads from its source to the
target.

The reverse sweep is repeated, and each operand's share of a cotangent is kept. From the source the
walk goes up along shares that are 0, to the operations where a cotangent that was not 0 became 0:
those nearest to the target.

| code | meaning |
|---|---|
| zero-flat | the operation is flat: its slope is 0 wherever it has one |
| zero-dead | its slope is 0 here: relu below 0, the losing side of a maximum, a factor 0 |
| zero-cancelled | parts that are not 0 add up to 0 |
| derivative-constant | a derivative of a derivative in which the source does not occur |

A smooth slope that just vanishes at this point (x^2 at 0) needs no note, and where a convention at
a kink decided, the note on the kink has said it.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import ANS, BATCH, IDS, OP, OUT, PLACE, VALUES
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps import constant, tangent
from gradcli.engine.sweeps.reverse import operands, slope
from gradcli.explain.catalogue import Note
from gradcli.explain.elements import block_of, element, place_in
from gradcli.explain.numbers.zero_words import ONCE, TWICE, ReverseSweep, ZeroNotes
from gradcli.ops.values import shape_of, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.elements import Index
    from gradcli.lang.running.run import Run


class ZeroGradients:
    """Explanations of gradients of the same targets that are exactly 0.

    seeds: cotangents of the targets, by default ones. sources: ids of all sources that may be asked
    about, as one sweep serves all of them.
    """

    __slots__ = ("run", "sources", "swept", "targets")

    def __init__(self, run: Run, targets: Sequence[Tensor], seeds: Sequence[Any],
                 sources: Sequence[int], source: Source) -> None:
        self.run = run
        self.targets = targets
        self.sources = sources
        self.swept = ReverseSweep(run, targets, seeds, sources, source)

    def why(self, wrt: int) -> list[Note]:
        """Return notes on why the gradient in the value `wrt` (an id) is 0; may be empty."""
        if is_constant(self.run, self.targets, wrt):
            return [constant_derivative(
                self.swept.named(wrt) or "the source", self.swept.first())]
        with quiet():
            return ZeroWalk(self.swept, wrt).notes()


def of_gradient(run: Run, targets: Sequence[Tensor], seeds: Sequence[Any], wrt: int,
                source: Source) -> list[Note]:
    """Return notes on why the gradient of the targets in the value `wrt` is exactly 0."""
    return ZeroGradients(run, targets, seeds, [wrt], source).why(wrt)


def is_constant(run: Run, targets: Sequence[Tensor], wrt: int) -> bool:
    """Return whether the targets are derivatives that do not depend on the value `wrt`."""
    record = run.record
    return bool(record.derived) and constant.is_constant(
        record.history(), record.derived, [t.id for t in targets if t.id is not None], [wrt])


def of_second(run: Run, target: Tensor, row: Tensor, column: Tensor, source: Source
              ) -> list[Note]:
    """Return notes on why the second derivatives of a target in two sources are exactly 0."""
    (first,) = calculus.gradient([target], [row], emit=True)
    if not isinstance(first, Tensor) or column.id is None:
        return []
    return of_gradient(run, [first], apart([first]), column.id, source)


def constant_derivative(name: str, span: Span | None) -> Note:
    """Return the note that a first derivative does not depend on the source.

    SEMANTICS gives the note the same code as the cause of the None under TensorFlow's rules.
    """
    return Note("derivative-constant", f"the first derivative does not depend on {name}: this one"
                " is 0", span)


def apart(targets: Sequence[Tensor]) -> list[Any]:
    """Return seeds with which rows of a Jacobian do not cancel: a power of 2 for each element."""
    out: list[Any] = []
    for k, t in enumerate(targets):
        shape = t.shape
        n = int(np.prod(shape)) if shape else 1
        out.append(2.0 ** (np.arange(n) % 32).reshape(shape) if shape else 2.0 ** (k % 32))
    return out


# --------------------------------------------------------------------------------------------------
# The way from a source to where a cotangent that was not 0 became 0.

# Elements of a source that are followed; operations on arrays that are looked at; turns of a loop
# in which a value is used.
MAX_ELEMENTS = 8
MAX_STEPS = 20_000
MAX_TURNS = 50


class ZeroWalk:
    """The walk from one source up along shares that are 0."""

    __slots__ = ("_seen", "_steps", "swept", "words", "wrt")

    def __init__(self, swept: ReverseSweep, wrt: int) -> None:
        self.swept = swept
        self.wrt = wrt
        self.words = ZeroNotes(swept, wrt)
        self._seen: set[tuple[int, Index]] = set()
        self._steps = 0

    def notes(self) -> list[Note]:
        """Walk and return the notes found."""
        self.swept.sweep()
        self._follow_all()
        return self.words.notes()

    def _follow_all(self) -> None:
        """Follow the elements of the source; of a large one, MAX_ELEMENTS of them."""
        uses = self.swept.into.get(self.wrt)
        shape = shape_of(uses[0][2] if uses else value_of(self.swept.weights.get(self.wrt, 0.0)))
        n = 1
        for length in shape:
            n *= length
        for flat in sorted({k * n // MAX_ELEMENTS for k in range(MAX_ELEMENTS)} if n else ()):
            self._follow(tuple([int(i) for i in np.unravel_index(flat, shape)]) if shape
                         else ())

    def _follow(self, at: Index) -> None:
        todo = [(self.wrt, at)]
        while todo and self._steps < MAX_STEPS:
            here = todo.pop()
            if here in self._seen:
                continue
            self._seen.add(here)
            uses = [(entry, k, element(c, here[1]))
                    for entry, k, c in self.swept.into.get(here[0], ())]
            # NaN: 0 times an infinite slope, which was 0 in the sweep that counted.
            parts = [(entry, k, c) for entry, k, c in uses if c != 0 and c == c]
            if parts:
                self.words.cancelled(parts, here[1])
                continue
            if not uses and here[0] in self.swept.weights:
                self.words.unasked(here[1])
            turns: dict[tuple[Any, int], int] = {}
            for entry, k, _ in uses:
                where = id(entry[PLACE]), k
                turns[where] = turns.get(where, 0) + 1
                if turns[where] > MAX_TURNS:
                    continue
                try:
                    todo += reversed(self._step(entry, k, here[1]))
                except GradcliError:
                    continue

    def _step(self, entry: Entry, k: int, at: Index) -> list[tuple[int, Index]]:
        """Note why the share of `entry` for element `at` of operand k is 0, if its cotangent was
        not; return (id, index) of the elements to follow next.
        """
        op, upstream = entry[OP], self.swept.totals[entry[OUT]]
        if entry[BATCH]:
            return []
        if 0 in shape_of(entry[ANS]):
            self.words.empty(entry)
            return []
        if getattr(op, "custom", False):
            if np.any(upstream):
                self.words.add(entry, "zero-dead", f"the gradient rule of `{op.name}` gives 0 here")
                return []
            return [(entry[OUT], (0,) * len(shape_of(upstream)))]
        if op.elementwise and type(upstream) is float and type(entry[ANS]) is float:
            local = slope(op, k, entry[VALUES], entry[ANS])
            if upstream == 0.0:
                if local == 0:
                    self.words.dead(entry, k, at, local, TWICE)
                return [(entry[OUT], ())]
            if local == 0:
                self.words.dead(entry, k, at, local)
            elif local * upstream == 0:
                self.words.underflow(entry)
            return []
        self._steps += 1
        local, block = self._local(entry, k, at)
        live = np.asarray(upstream)[block]
        slopes = np.asarray(local)[block]
        parts = np.ravel((live * slopes)[(live != 0) & (slopes != 0)]).tolist()
        if any(parts):
            # A share that is not the transpose of the slopes, such as a real part, has no word.
            if abs(sum(parts)) <= 1e-9 * max(map(abs, parts)):
                self.words.summed(entry, parts, at)
        elif parts:
            self.words.underflow(entry)
        else:
            off = live.any() and (not slopes.any() or (
                op.elementwise and ((live != 0) & (slopes == 0)).any()))
            if off or not slopes.any():
                # Dead twice is dead where it is nearest to the target, if there is a word for that.
                self.words.dead(entry, k, at, local, ONCE if off else TWICE)
            # Higher up something turned these to 0 before; where nothing moves, any will do.
            up = np.argwhere(slopes != 0)[:MAX_ELEMENTS].tolist()
            if not up and not off:
                up = [[0] * slopes.ndim]
            return [(entry[OUT], place_in(block, inside)) for inside in up]
        return []

    def _local(self, entry: Entry, k: int, at: Index) -> tuple[Any, Any]:
        """Return the slopes of an operation in element `at` of operand k, in the shape of its
        answer, and the index of the part of the answer into which that element goes.
        """
        op, shape = entry[OP], shape_of(entry[ANS])
        own = shape_of(entry[VALUES][k])
        if op.elementwise:
            *xs, ans = operands(entry, False)
            local = np.broadcast_to(value_of(slope(op, k, xs, ans)), shape)
            return local, block_of(shape, own, at)
        unit: Any = 1.0
        if own:
            unit = np.zeros(own)
            unit[at] = 1.0
        alone = tuple([-1 if j == k else None for j in range(len(entry[IDS]))])
        one: Any = (op, entry[OUT], alone, *entry[VALUES:])
        made = value_of(tangent.of_entry(one, {-1: unit}, False))
        return np.broadcast_to(zeros(shape) if made is None else made, shape), ...
