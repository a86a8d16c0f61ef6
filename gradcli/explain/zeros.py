"""Why a gradient is exactly 0 although a path leads from its source to the target.

The reverse sweep is repeated, and what each operand got of a cotangent is kept. From the source
the trail goes up along shares that are 0, to the operations where a cotangent that was not 0 became
0: those nearest to the target.

| code | meaning |
|---|---|
| zero-flat | the operation is flat: its slope is 0 wherever it has one |
| zero-dead | its slope is 0 here: relu below 0, the losing side of a maximum, a factor 0 |
| zero-cancelled | parts that are not 0 add up to 0 |
| derivative-constant | a derivative of a derivative in which the source does not occur |

A smooth slope that just vanishes at this point (x^2 at 0) needs no word, and where a convention at
a kink decided, the note on the kink has said it.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.errors import GradcliError
from gradcli.explain.naming import called, element, number, written
from gradcli.explain.reason import Note, span_of
from gradcli.ops import lookup
from gradcli.ops.kinds import BILINEAR, LINEAR
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import is_float, shape_of, zeros
from gradcli.sweeps import constant, reach, tangent
from gradcli.sweeps.derivatives import seed_of
from gradcli.sweeps.reverse import cotangents, operands, slope
from gradcli.sweeps.reverse import reverse as swept
from gradcli.tape.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, PLACE, VALUES
from gradcli.tape.tensor import Tensor, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.run import Run
    from gradcli.source import Source
    from gradcli.tape.record import Entry

    Index = tuple[int, ...]

# Notes on one gradient; elements of a source that are followed; operations on arrays that are
# looked at; turns of a loop in which a value is used.
MAX_NOTES = 3
MAX_ELEMENTS = 8
MAX_STEPS = 20_000
MAX_TURNS = 50

# Operations whose slope is nowhere 0 but where a float has no smaller number.
NEVER_FLAT = frozenset((
    "sigmoid", "log_sigmoid", "tanh", "softplus", "exp", "exp2", "expm1", "erf", "erfc", "ndtr",
    "log_ndtr", "elu", "selu", "softsign", "atan", "reciprocal", "rsqrt", "log", "coth", "csch",
    "logaddexp", "erfcx"))
# The better of two or several, and how the others or itself is called.
LOSERS = {"maximum": "smaller", "minimum": "larger"}
BEST = {
    "reduce_max": "the largest element", "reduce_min": "the smallest element",
    "segment_largest": "the largest of its segment", "segment_smallest": "the smallest of its"
    " segment", "pool_max": "the largest of a window", "cummax": "the largest so far",
    "cummin": "the smallest so far"}

# Operations that are made of others, all of which are behind one that sorts.
RANKED = ("median", "quantile", "percentile", "top_k")


def of_gradient(run: Run, targets: Sequence[Tensor], seeds: Sequence[Any], wrt: int,
                source: Source) -> list[Note]:
    """Why the gradient of the targets with respect to the value `wrt` (an id) is exactly 0.

    seeds: cotangents of the targets, by default ones. Nothing to say, nothing in the list.
    """
    trail = _Trail(run, targets, seeds, wrt, source)
    if is_constant(run, targets, wrt):
        return [constant_derivative(trail.named(wrt) or "the source", trail.first())]
    with quiet():
        trail.sweep()
        trail.follow(wrt)
    return trail.notes()


def is_constant(run: Run, targets: Sequence[Tensor], wrt: int) -> bool:
    """Whether the targets are derivatives that do not depend on the value `wrt`."""
    record = run.record
    return bool(record.derived) and constant.is_constant(
        record.history(), record.derived, [t.id for t in targets if t.id is not None], [wrt])


def of_second(run: Run, target: Tensor, row: Tensor, column: Tensor, source: Source
              ) -> list[Note]:
    """Why the second derivatives of a target in two sources are exactly 0."""
    (first,) = calculus.gradient([target], [row], emit=True)
    if not isinstance(first, Tensor) or column.id is None:
        return []
    return of_gradient(run, [first], apart([first]), column.id, source)


def constant_derivative(name: str, span: Span | None) -> Note:
    """A derivative of a derivative in which the source does not occur. SEMANTICS calls the note
    so, and with TensorFlow's rules it is the cause of the None: one name for one thing.
    """
    return Note("derivative-constant", f"the first derivative does not depend on {name}: this one"
                " is 0", span)


def apart(targets: Sequence[Tensor]) -> list[Any]:
    """Seeds with which the rows of a Jacobian do not cancel: powers of 2, one for each element."""
    out: list[Any] = []
    for k, t in enumerate(targets):
        shape = t.shape
        n = int(np.prod(shape)) if shape else 1
        out.append(2.0 ** (np.arange(n) % 32).reshape(shape) if shape else 2.0 ** (k % 32))
    return out


class _Trail:
    """One sweep: the cotangent of each value, and what each of its uses gave to it."""

    __slots__ = ("_active", "_found", "_ruled", "_seen", "_steps", "bindings", "derived", "entries",
                 "into", "source", "totals", "weights", "wrt")

    def __init__(self, run: Run, targets: Sequence[Tensor], seeds: Sequence[Any], wrt: int,
                 source: Source) -> None:
        self.entries = run.record.history()
        self.derived = run.record.derived
        self.bindings = run.bindings
        self.wrt = wrt
        self.source = source
        self.weights: dict[int, Any] = {}
        for k, t in enumerate(targets):
            if t.id is not None and is_float(t.value):
                seed = seed_of(t, seeds[k] if seeds else None)
                self.weights[t.id] = self.weights[t.id] + seed if t.id in self.weights else seed
        self.totals: dict[int, Any] = {}
        self.into: dict[int, list[tuple[Entry, int, Any]]] = {}
        # By what and where: whether it is weak, how far from the target, the note.
        self._found: dict[tuple[str, Any], tuple[bool, int, Note]] = {}
        self._seen: set[tuple[int, Index]] = set()
        self._steps = 0
        self._active: set[int] | None = None
        self._ruled: set[int] | None = None

    def sweep(self) -> None:
        """The reverse sweep, with all shares kept."""
        def shares(entry: Entry, g: Any, reached: set[int], emit: bool
                   ) -> Iterable[tuple[int, Any]]:
            self.totals[entry[OUT]] = value_of(g)
            # Operands that stand twice have their shares in order; some arguments have none.
            places = [k for k, i in enumerate(entry[IDS]) if i in reached and entry[OP].edge(k)]
            for i, c in cotangents(entry, g, reached, emit):
                k = next(k for k in places if entry[IDS][k] == i)
                places.remove(k)
                self.into.setdefault(i, []).append((entry, k, value_of(c)))
                yield i, c

        swept(self.entries, self.weights, [self.wrt], shares=shares)

    def notes(self) -> list[Note]:
        """What was found, what is nearest to the target first."""
        found = sorted(self._found.values(), key=lambda one: one[:2])
        out: list[Note] = []
        for weak, _, note in found:
            if weak == found[0][0] and note.message not in [n.message for n in out]:
                out.append(note)
        return out[:MAX_NOTES]

    def named(self, id: int | None) -> str | None:
        """The name that a value was bound to."""
        for bound in self.bindings.values():
            for b in bound:
                if id is not None and getattr(b.value, "id", None) == id:
                    return f"`{b.name}`"
        return None

    def first(self) -> Span | None:
        """The place of what a derivative that went into the target is the derivative of."""
        wanted = reach.ancestry(self.entries, self.weights)
        firsts = {self.derived[i][0] for i in wanted if i in self.derived}
        return next((span_of(e) for e in reversed(self.entries) if e[OUT] in firsts), None)

    # --- the way up ---------------------------------------------------------------------------

    def follow(self, id: int) -> None:
        """Follow the elements of a source, of large ones some."""
        uses = self.into.get(id)
        shape = shape_of(uses[0][2]) if uses else shape_of(value_of(self.weights.get(id, 0.0)))
        n = 1
        for length in shape:
            n *= length
        for flat in sorted({k * n // MAX_ELEMENTS for k in range(MAX_ELEMENTS)} if n else ()):
            self._follow(id, tuple([int(i) for i in np.unravel_index(flat, shape)]) if shape
                         else ())

    def _follow(self, wrt: int, at: Index) -> None:
        todo = [(wrt, at)]
        while todo and self._steps < MAX_STEPS:
            here = todo.pop()
            if here in self._seen:
                continue
            self._seen.add(here)
            uses = [(entry, k, _at(c, here[1])) for entry, k, c in self.into.get(here[0], ())]
            # NaN: 0 times an infinite slope, which was 0 in the sweep that counted.
            parts = [(entry, k, c) for entry, k, c in uses if c != 0 and c == c]
            if parts:
                self._cancelled(parts, here[1])
                continue
            if not uses and here[0] in self.weights:
                self._add(None, "zero-dead", f"the output gradient is exactly 0{_in(here[1])}")
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
        """What became of the cotangent of `entry` on its way to element `at` of operand k: noted,
        if that was not 0; else where to look on.
        """
        op, upstream = entry[OP], self.totals[entry[OUT]]
        if entry[BATCH]:
            return []
        if getattr(op, "custom", False):
            if _any(upstream):
                self._add(entry, "zero-dead", f"the gradient rule of `{op.name}` gives 0 here")
                return []
            return [(entry[OUT], (0,) * len(shape_of(upstream)))]
        if op.elementwise and type(upstream) is float and type(entry[ANS]) is float:
            local = slope(op, k, entry[VALUES], entry[ANS])
            if upstream == 0.0:
                if local == 0:
                    self._dead(entry, k, at, local, weak=True)
                return [(entry[OUT], ())]
            if local == 0:
                self._dead(entry, k, at, local)
            elif local == local:
                self._underflow(entry)
            return []
        self._steps += 1
        local, block = self._local(entry, k, at)
        live = np.asarray(upstream)[block]
        slopes = np.asarray(local)[block]
        parts = np.ravel((live * slopes)[(live != 0) & (slopes != 0)]).tolist()
        if any(parts):
            # A share that is not the transpose of the slopes, such as a real part, has no word.
            if abs(sum(parts)) <= 1e-9 * max(map(abs, parts)):
                self._sum(entry, parts, at)
        elif parts:
            self._underflow(entry)
        else:
            off = live.any() and (not slopes.any() or (
                op.elementwise and ((live != 0) & (slopes == 0)).any()))
            if off or not slopes.any():
                # Dead twice is dead where it is nearest to the target, if there is a word for that.
                self._dead(entry, k, at, local, weak=not off)
            # Higher up something turned these to 0 before; where nothing moves, any will do.
            up = np.argwhere(slopes != 0)[:MAX_ELEMENTS].tolist()
            if not up and not off:
                up = [[0] * slopes.ndim]
            return [(entry[OUT], _place(block, inside)) for inside in up]
        return []

    def _local(self, entry: Entry, k: int, at: Index) -> tuple[Any, Any]:
        """The slopes of an operation in element `at` of operand k, in the shape of its answer, and
        the part of it where that element counts.
        """
        op, shape = entry[OP], shape_of(entry[ANS])
        own = shape_of(entry[VALUES][k])
        if op.elementwise:
            *xs, ans = operands(entry, False)
            local = np.broadcast_to(value_of(slope(op, k, xs, ans)), shape)
            return local, _block(shape, own, at)
        unit: Any = 1.0
        if own:
            unit = np.zeros(own)
            unit[at] = 1.0
        alone = tuple([-1 if j == k else None for j in range(len(entry[IDS]))])
        one: Any = (op, entry[OUT], alone, *entry[VALUES:])
        made = value_of(tangent.of_entry(one, {-1: unit}, False))
        return np.broadcast_to(zeros(shape) if made is None else made, shape), ...

    # --- what is said -------------------------------------------------------------------------

    def _add(self, entry: Entry | None, code: str, text: str, weak: bool = False) -> None:
        """Note it once for each place, as it was last. weak: only if nothing else is found."""
        span, out = (None, 0) if entry is None else (span_of(entry), entry[OUT])
        known = self._found.get((code, span or text))
        if known is None or (weak, -out) < known[:2]:
            self._found[code, span or text] = weak, -out, Note(code, text, span)

    def _subject(self, entry: Entry) -> str:
        text = written(entry, self.source)
        if self._by_rule(entry):
            return f"the derivative of `{text}`" if text else "the derivative"
        return f"`{text or entry[OP].name}`"

    def _name(self, entry: Entry) -> str:
        if self._by_rule(entry):
            return f"`{entry[OP].name}` in the derivative of `{written(entry, self.source)}`"
        return f"`{called(entry, self.source)}`"

    def _by_rule(self, entry: Entry) -> bool:
        """Whether a derivative rule did this, and not the file."""
        if not self.derived:
            return False
        if self._ruled is None:
            self._ruled = constant.made_by_rules(self.entries, self.derived, self.weights)
        return entry[OUT] in self._ruled

    def _cancelled(self, parts: Sequence[tuple[Entry, int, Any]], at: Index) -> None:
        """Shares of several uses that add up to 0."""
        if len(parts) < 2:
            return
        newest = max((entry for entry, _, _ in parts), key=lambda entry: entry[OUT])
        ways = [f" through {self._subject(entry)}{self._where(entry)}" for entry, _, _ in parts]
        if len(set(ways)) == 1:
            self._sum(newest, [c for _, _, c in parts], at)
        else:
            self._add(newest, "zero-cancelled", f"the parts of the gradient{_in(at)} cancel: "
                      + _listed([number(c) + way for (_, _, c), way in zip(
                          parts, ways, strict=True)]))

    def _sum(self, entry: Entry, parts: Sequence[float], at: Index) -> None:
        """Parts that add up to 0, all through one operation."""
        self._add(entry, "zero-cancelled", f"the parts of the gradient{_in(at)} cancel:"
                  f" {_listed([number(c) for c in parts])}, {'both' if len(parts) == 2 else 'all'}"
                  f" through {self._subject(entry)}")

    def _underflow(self, entry: Entry) -> None:
        self._add(entry, "zero-dead", f"{self._subject(entry)}: the slopes along the path multiply"
                  " to less than a float holds")

    def _where(self, entry: Entry) -> str:
        span = span_of(entry)
        if span is None:
            return ""
        line, column = self.source.position(span[0])
        return f" (line {line}, column {column})"

    def _dead(self, entry: Entry, k: int, at: Index, local: Any, weak: bool = False) -> None:
        """An operation whose slope is 0 at this element."""
        op = entry[OP]
        if op.elementwise and op.rules[k] == 0.0:
            self._add(entry, "zero-flat", f"{self._name(entry)} is flat: its slope is 0 everywhere",
                      weak)
        elif op.name == "power" and k == 0 and not _any(entry[VALUES][1]):
            self._add(entry, "zero-flat", f"{self._subject(entry)} is 1 whatever the base: it is"
                      " flat", weak)
        elif op.elementwise:
            position = _position(shape_of(entry[ANS]), shape_of(entry[VALUES][k]), at, local)
            xs = [_fitted(v, position) for v in entry[VALUES]]
            # At a kink the note on that says it.
            if op.kink is None or not _any(op.kink(*xs)):
                text = self._elementwise(entry, k, xs, position, self._count(entry, local))
                if text:
                    self._add(entry, "zero-dead", text, weak)
        else:
            self._whole(entry, k, at, weak)

    def _elementwise(self, entry: Entry, k: int, xs: Sequence[Any], position: Index, count: str
                     ) -> str | None:
        """xs: the operands at the position of the answer. count: of arrays, how many are 0."""
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
            return (f"{name} cuts {number(x)} off at {number(xs[1] if low else xs[2])}{at}: its"
                    f" slope is 0 {side} that bound{count and f' ({count})'}")
        if kind == "clip":
            side = "below" if k == 1 else "above"
            return (f"{name} has no use for its bound {number(x)}{at}: {number(xs[0])} is not"
                    f" {side} it")
        if kind in LOSERS:
            return (f"{name} takes {number(xs[1 - k])} and not {number(x)}{at}: the"
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
            return f"{text} does not move with its divisor {number(x)}{at}, which is the larger one"
        if kind in NEVER_FLAT or (kind == "divide" and x != 0) or (
                kind == "sech" and _fitted(entry[ANS], position) == 0):
            return self._state(entry, "saturated", x, at, count) + (
                ": its slope there is smaller than a float can be")
        if self._is_flat(entry, k, xs):
            return self._state(entry, "flat", x, at, count) + ": its slope is 0 there and around"
        return None

    def _is_flat(self, entry: Entry, k: int, xs: Sequence[Any]) -> bool:
        """Whether the slope is 0 near a point too, and not just at it."""
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
        """That operand k is 0; if it moves with the source, that is so only at this point."""
        if self._moves(entry, k):
            return None
        where = at if shape_of(entry[VALUES][k]) else ""
        return f"{self._operand(entry, k, what)} in {self._subject(entry)} is exactly 0{where}"

    def _state(self, entry: Entry, state: str, x: Any, at: str, count: str) -> str:
        """`relu(-2.1) is off`, or of an array in how many elements, and the first of them."""
        name = self._name(entry)
        if count:
            return f"{name} is {state} {count} ({number(x)}{at})"
        if " " in name:
            return f"{name} is {state} at {number(x)}"
        return f"{name[1:-1]}({number(x)}) is {state}"

    def _operand(self, entry: Entry, k: int, otherwise: str) -> str:
        name = self.named(entry[IDS][k])
        return f"{otherwise.replace('a ', 'the ')} {name}" if name else otherwise

    def _power(self, entry: Entry, k: int, xs: Sequence[Any], at: str) -> str | None:
        (base, exponent), text = xs, self._subject(entry)
        if k == 0 and exponent == 0:
            return f"the exponent in {text} is exactly 0{at}"
        if k == 1 and base in (0, 1):
            above = " above 0" if base == 0 else ""
            return f"{text} is {number(base)} for every exponent{above}{at}"
        if k == 1 and base < 0:
            return f"the base in {text} is negative{at}: the slope in the exponent counts as 0"
        if base != 0:
            return f"{text} is saturated{at}: its slope there is smaller than a float can be"
        return None

    def _whole(self, entry: Entry, k: int, at: Index, weak: bool) -> None:
        """Of an operation that is not elementwise: no element of the answer moves with this one."""
        op, name, x = entry[OP], self._name(entry), entry[VALUES][k]
        this = element(at) or "it"
        if op.name in BEST:
            best = BEST[op.name]
            # In a window or scan it may tie without winning.
            tied = op.kink is not None and best.endswith("element") and _any(_fitted(
                op.kink(entry[ANS], *entry[VALUES], **entry[ATTRIBUTES]), at))
            if not tied:
                self._add(entry, "zero-dead", f"{name} does not take {number(_at(x, at))}{_in(at)}:"
                          f" it is not {best}", weak)
        elif op.kind == LINEAR and not weak and self._is_all(entry):
            self._add(entry, "zero-dead", f"{self._subject(entry)} does not use {this}", weak=True)
        elif op.kind == BILINEAR and not self._moves(entry, 1 - k):
            self._add(entry, "zero-dead", f"all that {this} is multiplied with in"
                      f" {self._subject(entry)} is exactly 0", weak)

    def _is_all(self, entry: Entry) -> bool:
        """Whether no other operation of what is written here could use the element."""
        whole = lookup(called(entry, self.source))
        return whole is None or whole.expand is None or whole.name in RANKED

    def _moves(self, entry: Entry, k: int) -> bool:
        """Whether operand k moves with the source, so that it is 0 at this point only."""
        if self._active is None:
            moving = self._active = {self.wrt}
            for e in self.entries:
                if any(i in moving and e[OP].edge(j) and e[OP].rules[j:j + 1] != (0.0,)
                       for j, i in enumerate(e[IDS])):
                    moving.add(e[OUT])
        return entry[IDS][k] in self._active

    def _count(self, entry: Entry, local: Any) -> str:
        """How many elements of an array the operation turns to 0."""
        if not np.shape(local):
            return ""
        live = np.asarray(self.totals[entry[OUT]]) != 0
        dead = (local == 0) & live if live.any() else local == 0
        return f"in {int(dead.sum())} of {dead.size} elements"


def _listed(parts: Sequence[str]) -> str:
    """All of up to three, else two and how many there are besides."""
    if len(parts) > 3:
        parts = [*parts[:2], f"{len(parts) - 2} more"]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _in(at: Index) -> str:
    return f" in {element(at)}" if at else ""


def _at(value: Any, at: Index) -> Any:
    if not shape_of(value):
        return value.item() if hasattr(value, "item") else value
    return value[at].item()


def _fitted(value: Any, position: Index) -> Any:
    """The element of a broadcast operand at a position of the answer."""
    own = shape_of(value)
    rest = position[len(position) - len(own):]
    return _at(value, tuple([0 if n == 1 else i for i, n in zip(rest, own, strict=True)]))


def _position(shape: Index, own: Index, at: Index, local: Any) -> Index:
    """The first position of the answer where an element of an operand counts and has slope 0."""
    block = _block(shape, own, at)
    off = np.argwhere(np.asarray(local)[block] == 0)
    return _place(block, off[0].tolist())


def _block(shape: Index, own: Index, at: Index) -> tuple[Any, ...]:
    """The part of an answer where an element of a broadcast operand counts."""
    surplus = len(shape) - len(own)
    return (slice(None),) * surplus + tuple([
        slice(None) if n == 1 and m != 1 else i
        for i, n, m in zip(at, own, shape[surplus:], strict=True)])


def _place(block: Any, inside: Sequence[int]) -> Index:
    """The position in an array of a position in a part of it."""
    if block is ...:
        return tuple(inside)
    left = iter(inside)
    return tuple([i if type(i) is int else next(left) for i in block])


def _any(value: Any) -> bool:
    return bool(np.any(value))
