"""The way from a source to a target, operation by operation, whether a derivative passes or not."""

from __future__ import annotations

from gradcli.ops.kinds import UNREGISTERED
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import SCALAR_TYPES, is_float
from gradcli.sweeps.reverse import cotangents
from gradcli.tape import record as records
from gradcli.tape.record import ANS, BATCH, IDS, OP, OUT, VALUES, span_of
from gradcli.tape.tensor import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.explain.missing.scene import Window
    from gradcli.lang.log import State
    from gradcli.tape.record import Entry

    Link = tuple[int, Iterable[tuple[int, bool]], Any]

# Ways are counted up to here: their number doubles with each fork.
MAX_WAYS = 1000


class Step:
    """One value on the way. id: its own; before: that of the value it was made of. span: where
    that is written. entry: the operation; None for a variable that was assigned. open: whether a
    derivative passes. value: its own.
    """

    __slots__ = ("before", "entry", "id", "open", "span", "value")

    def __init__(self, id: int, before: int, span: Span | None, entry: Entry | None, open: bool,
                 value: Any) -> None:
        self.id = id
        self.before = before
        self.span = span
        self.entry = entry
        self.open = open
        self.value = value


def path(history: Sequence[Entry], sources: Collection[int], targets: Collection[int],
         states: Sequence[State] = (), window: Window | None = None) -> list[Step]:
    """A way from a source to a target: of those with the fewest places that let no derivative
    pass, a shortest one. Empty if no way joins them, or if the target is the source.

    states: values that variables took. window: what a tape recorded; None: everything.
    """
    best = dict.fromkeys(sources, (0, 0))
    came: dict[int, tuple[int, bool, Any]] = {}
    for out, links, what in _links(history, states, sources, window):
        if out in best:
            continue
        for i, passes in links:
            if i in best:
                closed, length = best[i]
                found = (closed + (not passes), length + 1)
                if out not in best or found < best[out]:
                    best[out] = found
                    came[out] = (i, passes, what)
    ends = [t for t in targets if t in best]
    if not ends:
        return []
    # Of equal ways that to the earliest target: sets of ids have no order of their own.
    at = min(ends, key=lambda t: (best[t], t))
    steps: list[Step] = []
    while at in came:
        before, passes, what = came[at]
        steps.append(
            Step(at, before, span_of(what), what, passes, what[ANS]) if isinstance(what, tuple)
            else Step(at, before, what.span, None, passes, what.value))
        at = before
    return steps[::-1]


def ways(history: Sequence[Entry], sources: Collection[int], targets: Collection[int],
         window: Window | None = None) -> int:
    """How many ways let a derivative pass from a source to a target; MAX_WAYS if there are more."""
    count = dict.fromkeys(sources, 1)
    for out, links, _ in _links(history, (), sources, window):
        total = sum([count[i] for i, passes in links if passes and i in count])
        if total and out not in count:
            count[out] = min(total, MAX_WAYS)
    return min(sum([count.get(t, 0) for t in set(targets)]), MAX_WAYS)


def _links(history: Sequence[Entry], states: Sequence[State], sources: Collection[int],
           window: Window | None) -> Iterator[Link]:
    """(value, (value that it was made of, whether a derivative passes) ..., what made it), in the
    order in which they were made, of all that the sources went into.
    """
    below = set(sources)
    waiting = sorted(states, key=lambda state: state.after)[::-1]
    for entry in history:
        while waiting and waiting[-1].after < entry[OUT]:
            found = _of_state(waiting.pop(), below)
            if found is not None:
                yield found
        if below.isdisjoint(entry[IDS]):
            continue
        below.add(entry[OUT])
        passing = is_float(entry[ANS]) and (window is None or window.state(entry[OUT]) is None)
        operands: dict[int, bool] = {}
        for k, i in enumerate(entry[IDS]):
            if i in below:
                operands[i] = operands.get(i, False) or (
                    passing and entry[OP].edge(k) and _in_time(entry, i, sources, window)
                    and (not getattr(entry[OP], "custom", False) or _gives(entry, i)))
        yield entry[OUT], operands.items(), entry
    while waiting:
        found = _of_state(waiting.pop(), below)
        if found is not None:
            yield found


def _in_time(entry: Entry, id: int, sources: Collection[int], window: Window | None) -> bool:
    """Whether a source was watched before it was used."""
    return window is None or id not in sources or window.late.get(id, 0) <= entry[OUT]


def _gives(entry: Entry, id: int) -> bool:
    """Whether a rule that the user wrote returns a gradient for an argument; it is asked."""
    if entry[OP].kind == UNREGISTERED:
        return False
    ans = entry[ANS]
    seed = 1.0 if type(ans) is float else np.ones_like(ans)
    return any(i == id for i, _ in _cotangents(entry, seed, id))


def _of_state(state: State, below: set[int]) -> Link | None:
    """The state of a variable, made of what was assigned and, if that was added, of the state
    before.
    """
    kept = None if state.how == "assign" else state.before
    before = [i for i in (state.taken, kept) if i in below]
    if not before:
        return None
    below.add(state.after)
    return state.after, [(i, False) for i in before], state


def slope(step: Step, upstream: Any = 1.0) -> Any:
    """The slope of a step from a number to a number; None where there is none, or an array.
    upstream: what comes to it, which counts where a gradient function of the user's does more than
    multiply by that.
    """
    entry = step.entry
    if entry is None or not step.open or entry[BATCH] or entry[OP].kind == UNREGISTERED:
        return None
    numbers = [v for i, v in zip(entry[IDS], entry[VALUES], strict=True) if i == step.before]
    if any(type(v) not in SCALAR_TYPES for v in (*numbers, entry[ANS])):
        return None
    parts = [value_of(c) for i, c in _cotangents(entry, upstream, step.before) if i == step.before]
    known = bool(parts) and all(type(c) in SCALAR_TYPES for c in parts)
    return float(sum(parts))/upstream if known else None


def _cotangents(entry: Entry, seed: Any, id: int) -> list[tuple[int, Any]]:
    """What the rule of an operation gives for one of its operands, outside of every record."""
    record = records.current()
    before, record.in_rules = record.in_rules, True
    try:
        with quiet():
            return list(cotangents(entry, seed, {id}, False))
    finally:
        record.in_rules = before
