"""The notes on a gradient that is 0, and the sweep that finds where a cotangent became 0."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, ancestry, span_of
from gradcli.engine.record.tensor import value_of
from gradcli.engine.sweeps import constant
from gradcli.engine.sweeps.derivatives import weights_of
from gradcli.engine.sweeps.reverse import slope
from gradcli.explain import elements
from gradcli.explain.catalogue import Note
from gradcli.explain.notes import observe_sweep
from gradcli.explain.written import called, element_text, number, written
from gradcli.ops import lookup
from gradcli.ops.kinds import BILINEAR, LINEAR
from gradcli.ops.values import shape_of, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.engine.record.tensor import Tensor
    from gradcli.explain.elements import Index
    from gradcli.lang.running.run import Run

# Notes on one gradient.
MAX_NOTES = 3

# Ranks of notes: a cotangent that was not 0 became 0 there; it was 0 before; one use of several
# does not count.
ONCE, TWICE, UNUSED = range(3)

# The better of two or several, and how the others or itself is called.
LOSERS = {"maximum": "smaller", "minimum": "larger"}
BEST = {
    "reduce_max": "the largest element", "reduce_min": "the smallest element",
    "segment_largest": "the largest of its segment", "segment_smallest": "the smallest of its"
    " segment", "pool_max": "the largest of a window", "cummax": "the largest so far",
    "cummin": "the smallest so far"}

# Operations that are made of others, all of which are behind one that sorts.
RANKED = ("median", "quantile", "percentile", "top_k")


class ZeroNotes:
    """The notes on the gradient in one source."""

    __slots__ = ("_found", "_moving", "_smooth", "swept", "wrt")

    def __init__(self, swept: ReverseSweep, wrt: int) -> None:
        self.swept = swept
        self.wrt = wrt
        # By what and where: its rank, how far from the target, the note.
        self._found: dict[tuple[str, Any], tuple[int, int, Note]] = {}
        # A slope vanished just at this point, which needs no word.
        self._smooth = False
        self._moving: set[int] | None = None

    def notes(self) -> list[Note]:
        """Return the notes found, the one nearest to the target first, at most MAX_NOTES."""
        # A use that does not count is no reason where another one does.
        found = sorted([one for one in self._found.values() if one[0] < UNUSED or not self._smooth],
                       key=lambda one: one[:2])
        out: list[Note] = []
        for rank, _, note in found:
            if rank == found[0][0] and note.message not in [n.message for n in out]:
                out.append(note)
        return out[:MAX_NOTES]

    def add(self, entry: Entry | None, code: str, text: str, rank: int = ONCE) -> None:
        """Note a finding; of several at one location the lowest rank, then the last, stays."""
        span, out = (None, 0) if entry is None else (span_of(entry), entry[OUT])
        known = self._found.get((code, span or text))
        if known is None or (rank, -out) < known[:2]:
            self._found[code, span or text] = rank, -out, Note(code, text, span)

    def unasked(self, at: Index) -> None:
        """Note that the target itself has the cotangent 0."""
        self.add(None, "zero-dead", f"the output gradient is exactly 0{_in(at)}")

    def cancelled(self, parts: Sequence[tuple[Entry, int, Any]], at: Index) -> None:
        """Note that the shares of several uses add up to 0."""
        if len(parts) < 2 or not np.isfinite([c for _, _, c in parts]).all():
            return
        newest = max((entry for entry, _, _ in parts), key=lambda entry: entry[OUT])
        ways = [f" through {self._subject(entry)}{self._where(entry)}" for entry, _, _ in parts]
        if len(set(ways)) == 1:
            self.summed(newest, [c for _, _, c in parts], at)
        else:
            self.add(newest, "zero-cancelled", f"the parts of the gradient{_in(at)} cancel: "
                     + _listed([number(c) + way for (_, _, c), way in zip(
                         parts, ways, strict=True)]))

    def summed(self, entry: Entry, parts: Sequence[float], at: Index) -> None:
        """Note that parts through one operation add up to 0."""
        self.add(entry, "zero-cancelled", f"the parts of the gradient{_in(at)} cancel:"
                  f" {_listed([number(c) for c in parts])}, {'both' if len(parts) == 2 else 'all'}"
                  f" through {self._subject(entry)}")

    def underflow(self, entry: Entry) -> None:
        """Note that the slopes along the path multiply to less than a float holds."""
        self.add(entry, "zero-dead", f"{self._subject(entry)}: the slopes along the path multiply"
                  " to less than a float holds")

    def empty(self, entry: Entry) -> None:
        """Note that an operation has no elements."""
        self.add(entry, "zero-flat", f"{self._subject(entry)} is empty: there is nothing to move")

    def dead(self, entry: Entry, k: int, at: Index, local: Any, rank: int = ONCE) -> None:
        """Note that operand k has slope 0 at this element. local: slopes in the answer's shape."""
        op = entry[OP]
        code, text = "zero-dead", None
        if op.elementwise and op.rules[k] == 0.0:
            code, text = "zero-flat", f"{self._name(entry)} is flat: its slope is 0 everywhere"
        elif op.name == "power" and k == 0 and not np.any(entry[VALUES][1]):
            code, text = "zero-flat", f"{self._subject(entry)} is 1 whatever the base: it is flat"
        elif op.elementwise:
            position = _position(shape_of(entry[ANS]), shape_of(entry[VALUES][k]), at, local)
            xs = [elements.fitted(v, position) for v in entry[VALUES]]
            # At a kink the note on that says it.
            if op.kink is None or not np.any(op.kink(*xs)):
                text = self._elementwise(entry, k, xs, position, self._count(entry, local))
        elif op.kind == LINEAR:
            if rank == ONCE and self._is_all(entry):
                what = element_text(at) or "it"
                self.add(entry, code, f"{self._subject(entry)} does not use {what}", UNUSED)
            return
        else:
            text = self._whole(entry, k, at)
        if text is not None:
            self.add(entry, code, text, rank)
        elif rank == ONCE:
            self._smooth = True

    def _elementwise(self, entry: Entry, k: int, xs: Sequence[Any], position: Index, count: str
                     ) -> str | None:
        """Return the sentence why an elementwise operation has slope 0 in operand k, or None.

        xs: the operands' elements at the position of the answer. count: for arrays, "in 2 of 3
        elements".
        """
        op, x, at = entry[OP], xs[k], _in(position)
        name, text, kind = self._name(entry), self._subject(entry), op.name
        if kind == "relu" or (kind == "relu6" and x < 0):
            return self._state(entry, "off", x, at, count) + ": its slope is 0 for every x below 0"
        if kind == "relu6":
            return self._state(entry, "at its bound 6", x, at, count) + (
                ": its slope is 0 for every x above 6")
        if kind == "clip" and k == 0:
            low = x < xs[1]
            side = "below" if low else "above"
            return (f"{name} cuts {telling(x)} off at {telling(xs[1] if low else xs[2])}{at}: its"
                    f" slope is 0 {side} that bound{count and f' ({count})'}")
        if kind == "clip":
            side = "below" if k == 1 else "above"
            return (f"{name} has no use for its bound {telling(x)}{at}: {telling(xs[0])} is not"
                    f" {side} it")
        if kind in LOSERS:
            return (f"{name} takes {telling(xs[1 - k])} and not {telling(x)}{at}: the"
                    f" {LOSERS[kind]} one has slope 0{count and f' ({count})'}")
        if kind == "where":
            return (f"{name} takes the other value{at}: the condition is"
                    f" {'false' if k == 1 else 'true'} there{count and f' ({count})'}")
        if kind == "multiply":
            return self._factor(entry, 1 - k, "a factor", at)
        if kind == "divide" and k == 1 and xs[0] == 0:
            return self._factor(entry, 0, "the numerator", at)
        if kind == "divide" and k == 0 and np.isinf(xs[1]):
            return f"{text} divides by infinity{at}"
        if kind == "power":
            return self._power(entry, k, xs, at)
        if kind in ("mod", "fmod") and k == 1:
            return (f"{text} does not move with its divisor {telling(x)}{at}, which is the larger"
                    " one")
        if "never_flat" in entry[OP].traits or (kind == "divide" and x != 0) or (
                kind == "sech" and elements.fitted(entry[ANS], position) == 0):
            return self._state(entry, "saturated", x, at, count) + (
                ": its slope there is smaller than a float can be")
        if self._is_flat(entry, k, xs):
            return self._state(entry, "flat", x, at, count) + ": its slope is 0 there and around"
        return None

    def _is_flat(self, entry: Entry, k: int, xs: Sequence[Any]) -> bool:
        """Return whether the slope is 0 also near the point, and not just at it."""
        op = entry[OP]
        if not all(type(x) is float for x in xs) or any(
                self._moves(entry, j) for j in range(len(xs)) if j != k):
            return False
        for step in (-1e-6, 1e-6):
            near = [*xs]
            near[k] += step * max(1.0, abs(near[k]))
            if slope(op, k, near, op.on_scalars(near)) != 0:
                return False
        return True

    def _factor(self, entry: Entry, k: int, what: str, at: str) -> str | None:
        """Return the clause that operand k is 0; None if it is so only at this point."""
        if self._moves(entry, k):
            return None
        where = at if shape_of(entry[VALUES][k]) else ""
        return f"{self._operand(entry, k, what)} in {self._subject(entry)} is exactly 0{where}"

    def _state(self, entry: Entry, state: str, x: Any, at: str, count: str) -> str:
        """Return "relu(-2.1) is off"; for an array, in how many elements, and the first one."""
        name = self._name(entry)
        if count:
            return f"{name} is {state} {count} ({_of_state(x)}{at})"
        if name[1:-1].isidentifier():
            return f"{name[1:-1]}({_of_state(x)}) is {state}"
        return f"{name} is {state} at {_of_state(x)}"

    def _operand(self, entry: Entry, k: int, otherwise: str) -> str:
        name = self.swept.named(entry[IDS][k])
        return f"{otherwise.replace('a ', 'the ')} {name}" if name else otherwise

    def _power(self, entry: Entry, k: int, xs: Sequence[Any], at: str) -> str | None:
        (base, exponent), text = xs, self._subject(entry)
        if k == 0 and exponent == 0:
            return f"the exponent in {text} is exactly 0{at}"
        if k == 1 and base in (0, 1):
            above = " above 0" if base == 0 else ""
            return f"{text} is {telling(base)} for every exponent{above}{at}"
        if k == 1 and base < 0:
            return f"the base in {text} is negative{at}: the slope in the exponent counts as 0"
        if base != 0:
            return f"{text} is saturated{at}: its slope there is smaller than a float can be"
        return None

    def _whole(self, entry: Entry, k: int, at: Index) -> str | None:
        """Return the sentence why no element of an answer that is not elementwise moves with this
        one; None if there is none.
        """
        op, name, x = entry[OP], self._name(entry), entry[VALUES][k]
        if op.name in BEST:
            best = BEST[op.name]
            # In a window or scan it may tie without winning.
            tied = op.kink is not None and best.endswith("element") and np.any(elements.fitted(
                op.kink(entry[ANS], *entry[VALUES], **entry[ATTRIBUTES]), at))
            taken = telling(elements.element(x, at))
            return None if tied else f"{name} does not take {taken}{_in(at)}: it is not {best}"
        if op.kind == BILINEAR and not self._moves(entry, 1 - k):
            what = element_text(at) or "it"
            return f"all that {what} is multiplied with in {self._subject(entry)} is exactly 0"
        return None

    def _is_all(self, entry: Entry) -> bool:
        """Return whether no other operation of the written call could use the element."""
        whole = lookup(called(entry, self.swept.source))
        return whole is None or whole.expand is None or whole.name in RANKED

    def _moves(self, entry: Entry, k: int) -> bool:
        """Return whether operand k depends on the source, so that it is 0 at this point only."""
        if self._moving is None:
            self._moving = self.swept.reached(self.wrt)
        return entry[IDS][k] in self._moving

    def _count(self, entry: Entry, local: Any) -> str:
        """Return "in 2 of 3 elements" for those that the operation turns to 0; "" for a scalar."""
        if not np.shape(local):
            return ""
        live = np.asarray(self.swept.totals[entry[OUT]]) != 0
        dead = (local == 0) & live if live.any() else local == 0
        return f"in {int(dead.sum())} of {dead.size} elements"

    def _subject(self, entry: Entry) -> str:
        text = written(entry, self.swept.source)
        if self.swept.by_rule(entry):
            return f"the derivative of `{text}`" if text else "the derivative"
        return f"`{text or entry[OP].name}`"

    def _name(self, entry: Entry) -> str:
        if self.swept.by_rule(entry):
            return f"`{entry[OP].name}` in the derivative of `{written(entry, self.swept.source)}`"
        return f"`{called(entry, self.swept.source)}`"

    def _where(self, entry: Entry) -> str:
        span = span_of(entry)
        return f" ({self.swept.source.where(span[0])})" if span is not None else ""


def _of_state(x: Any) -> str:
    """Format an operand, with more digits if it would look like a bound, a whole number."""
    return telling(x) if float(number(x)).is_integer() else number(x)


def _listed(parts: Sequence[str]) -> str:
    """Join up to three parts by commas and "and"; of more, two and the number of the rest."""
    if len(parts) > 3:
        parts = [*parts[:2], f"{len(parts) - 2} more"]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _in(at: Index) -> str:
    return f" in {element_text(at)}" if at else ""


def _position(shape: Index, own: Index, at: Index, local: Any) -> Index:
    """Return the first position of the answer where element `at` of an operand counts with slope 0.

    shape, own: of the answer and the operand.
    local: the slopes in the answer's shape.
    """
    block = elements.block_of(shape, own, at)
    off = np.argwhere(np.asarray(local)[block] == 0)
    return elements.place_in(block, off[0].tolist())


# --------------------------------------------------------------------------------------------------
# The reverse sweep with all its shares kept: where a cotangent became 0.

class ReverseSweep:
    """One reverse sweep for all sources: the cotangent of each value, and the share of each use.

    totals: cotangents by id. into: by id (operation, argument, share).
    """

    __slots__ = ("_ruled", "_swept", "bindings", "derived", "entries", "into", "source", "sources",
                 "totals", "weights")

    def __init__(self, run: Run, targets: Sequence[Tensor], seeds: Sequence[Any],
                 sources: Sequence[int], source: Source) -> None:
        self.entries = run.record.history()
        self.derived = run.record.derived
        self.bindings = run.bindings
        self.source = source
        self.sources = sources
        self.weights = weights_of(targets, seeds)
        self.totals: dict[int, Any] = {}
        self.into: dict[int, list[tuple[Entry, int, Any]]] = {}
        self._swept = False
        self._ruled: set[int] | None = None

    def sweep(self) -> None:
        """Run the sweep, once."""
        if not self._swept:
            self._swept = True
            observe_sweep(self.entries, self.weights, self.sources, self._keep)

    def _keep(self, entry: Entry, k: int, g: Any, c: Any) -> None:
        self.totals[entry[OUT]] = value_of(g)
        i = entry[IDS][k]
        assert i is not None
        self.into.setdefault(i, []).append((entry, k, value_of(c)))

    def named(self, id: int | None) -> str | None:
        """Return the name that a value was bound to, in backquotes; None if there is none."""
        for bound in self.bindings.values():
            for b in bound:
                if id is not None and getattr(b.value, "id", None) == id:
                    return f"`{b.name}`"
        return None

    def first(self) -> Span | None:
        """Return the span of the value whose derivative went into the target."""
        wanted = ancestry(self.entries, self.weights)
        firsts = {self.derived[i][0] for i in wanted if i in self.derived}
        return next((span_of(e) for e in reversed(self.entries) if e[OUT] in firsts), None)

    def by_rule(self, entry: Entry) -> bool:
        """Return whether an operation belongs to a derivative rule and not to the file."""
        if not self.derived:
            return False
        if self._ruled is None:
            self._ruled = constant.made_by_rules(self.entries, self.derived, self.weights)
        return entry[OUT] in self._ruled

    def reached(self, wrt: int) -> set[int]:
        """Return the ids of the values that depend on a source."""
        moving = {wrt}
        for e in self.entries:
            if any(i in moving and e[OP].edge(j) and e[OP].rules[j:j + 1] != (0.0,)
                   for j, i in enumerate(e[IDS])):
                moving.add(e[OUT])
        return moving
