"""The path from a source to a target, operation by operation, passable for a derivative or not."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    span_of,
)
from gradcli.engine.record.saved import is_hollow
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.reverse import cotangents
from gradcli.ops.kinds import EDGE, UNREGISTERED, Op
from gradcli.ops.values import SCALAR_TYPES, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.scene import Window
    from gradcli.lang.running.log import Assignment
    from gradcli.lang.running.run import Run

    Link = tuple[int, Iterable[tuple[int, bool]], Any]

# Paths are counted up to this number, which doubles with each fork.
MAX_PATHS = 1000


class PathStep:
    """One value on a path.

    id: its id.
    before: the id of the value it was computed from.
    span: where it is written.
    entry: its operation; None for the assignment of a variable.
    open: a derivative passes.
    value: the computed value.
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
         states: Sequence[Assignment] = (), window: Window | None = None) -> list[PathStep]:
    """Return a path from a source to a target as steps in order: of the paths with the fewest steps
    that block a derivative, a shortest one. Empty if there is none, or if the target is the source.

    states: values that variables took. window: the part of the trace that a tape recorded; None:
    all.
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
    # Of equal paths the one to the earliest target: sets of ids have no order of their own.
    at = min(ends, key=lambda t: (best[t], t))
    steps: list[PathStep] = []
    while at in came:
        before, passes, what = came[at]
        steps.append(
            PathStep(at, before, span_of(what), what, passes, what[ANS]) if isinstance(what, tuple)
            else PathStep(at, before, what.span, None, passes, what.value))
        at = before
    return steps[::-1]


def count_paths(history: Sequence[Entry], sources: Collection[int], targets: Collection[int],
                window: Window | None = None) -> int:
    """Count the paths on which a derivative passes from a source to a target, up to MAX_WAYS."""
    count = dict.fromkeys(sources, 1)
    for out, links, _ in _links(history, (), sources, window):
        total = sum([count[i] for i, passes in links if passes and i in count])
        if total and out not in count:
            count[out] = min(total, MAX_PATHS)
    return min(sum([count.get(t, 0) for t in set(targets)]), MAX_PATHS)


def _links(history: Sequence[Entry], states: Sequence[Assignment], sources: Collection[int],
           window: Window | None) -> Iterator[Link]:
    """Yield (id, ((id of operand, whether a derivative passes), ...), entry or state) in order of
    time for each value that depends on the sources.
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
    """Return whether a source was watched before it was used."""
    return window is None or id not in sources or window.late.get(id, 0) <= entry[OUT]


def _gives(entry: Entry, id: int) -> bool:
    """Return whether a custom gradient function, which is called, gives an argument a gradient."""
    if entry[OP].kind == UNREGISTERED:
        return False
    ans = entry[ANS]
    seed = 1.0 if type(ans) is float else np.ones_like(ans)
    return any(i == id for i, _ in _cotangents(entry, seed, id))


def _of_state(state: Assignment, below: set[int]) -> Link | None:
    """Return the link to a variable's state from the assigned value and, for `assign_add` and
    `assign_sub`, from the state before. None if neither depends on a source.
    """
    kept = None if state.how == "assign" else state.before
    before = [i for i in (state.taken, kept) if i in below]
    if not before:
        return None
    below.add(state.after)
    return state.after, [(i, False) for i in before], state


def slope(step: PathStep, upstream: Any = 1.0) -> Any:
    """Return the slope of a step from scalar to scalar; None for arrays and without a derivative.

    upstream: the cotangent that arrives, which matters where a custom gradient function does more
    than multiply by it.
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
    """Return the cotangents of one operand by the rule of an operation, without recording."""
    record = records.current()
    before, record.in_rules = record.in_rules, True
    try:
        with quiet():
            return list(cotangents(entry, seed, {id}, False))
    finally:
        record.in_rules = before


# --------------------------------------------------------------------------------------------------
# Values that a tape did not keep, made again.
#
# An entry under a tape keeps what the rules of its operation read, and of the rest the shape
# (`gradcli.engine.record.saved`). A trace shows all of it.

def bound(run: Run) -> dict[int, Any]:
    """Return the values that the file has bound to a name, by id."""
    tensors = [b.value for bindings in run.bindings.values() for b in bindings]
    tensors += [variable.origin() for variable in run.variables.values()]
    return {t.id: t.value for t in tensors if isinstance(t, Tensor) and t.id is not None}


def is_link(entry: Entry) -> bool:
    """Return whether an entry links a variable's first state to a later one, whose value is known
    only to the entries that read it (`gradcli.lang.running.tapes`).
    """
    return entry[OP].name == "positive" and entry[PLACE] is None


def values_by_id(entries: Sequence[Entry]) -> dict[int, Any]:
    """Return values by id: answers of operations, and for other ids the values that were read."""
    found = {entry[OUT]: entry[ANS] for entry in entries if not is_link(entry)}
    for entry in entries:
        for i, value in zip(entry[IDS], entry[VALUES], strict=True):
            if i is not None and (i not in found or (is_hollow(found[i]) and not is_hollow(value))):
                found[i] = value
    for entry in entries:
        found.setdefault(entry[OUT], entry[ANS])
    return found


def filled(values: Mapping[int, Any], entries: Sequence[Entry], known: Mapping[int, Any]
           ) -> dict[int, Any]:
    """Return the values of a trace in which values that were not kept are recomputed; an array of
    None stands for one that cannot be.

    values: by id, in part hollow. known: values by id that are right.
    """
    found = {i: known[i] if i in known and is_hollow(v) else v for i, v in values.items()}
    made = {entry[OUT] for entry in entries}
    for i, v in found.items():
        if i not in made and i not in known and is_hollow(v):
            found[i] = _unknown(v)
    for entry in entries:
        value = found[entry[OUT]]
        if is_hollow(value):
            found[entry[OUT]] = _unknown(value) if is_link(entry) else _again(entry, found)
    return found


def _again(entry: Entry, values: Mapping[int, Any]) -> Any:
    op, ans = entry[OP], entry[ANS]
    operands = [v if i is None else values[i] for i, v in zip(
        entry[IDS], entry[VALUES], strict=True)]
    # Random numbers have no operands, and custom functions cannot be computed here.
    if type(op) is not Op or entry[BATCH] or not operands or any(
            unknown(v) or (i is None and is_hollow(v))
            for i, v in zip(entry[IDS], operands, strict=True)):
        return _unknown(ans)
    try:
        with quiet():
            made = op.compute(operands, entry[ATTRIBUTES], [
                0 if type(v) in SCALAR_TYPES else v.ndim for v in operands])
    except (GradcliError, *EDGE):
        return _unknown(ans)
    return made if getattr(made, "shape", None) == ans.shape else _unknown(ans)


def _unknown(like: Any) -> Any:
    return np.full(like.shape, None)


def unknown(value: Any) -> bool:
    """Return whether the numbers of an array could not be recomputed."""
    return type(value) not in SCALAR_TYPES and value.dtype.kind == "O"
