"""Which rule is to blame: gradients of the file against what their functions compute."""

from __future__ import annotations

from gradcli import calculus
from gradcli.explain.naming import called
from gradcli.explain.reason import span_of
from gradcli.finite import estimate
from gradcli.lang.targets import parts
from gradcli.ops.kinds import STOP
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import is_float, shape_of
from gradcli.sweeps import reach
from gradcli.tape.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES
from gradcli.tape.tensor import Tensor
from gradcli.verifying.compare import BY_DIFFERENCES, EXACT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.answers.ask import Ask
    from gradcli.errors import Span
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target
    from gradcli.tape.record import Entry

SEED = 7


def rules_on_the_way(run: Run, targets: Sequence[Tensor], source: Tensor) -> list[Entry]:
    """The calls with a gradient of the file between a source and the targets."""
    if source.id is None:
        return []
    entries = run.record.history()
    ids = [t.id for t in targets if t.id is not None]
    between = reach.active(entries, [source.id]) & reach.leading(entries, ids)
    return [e for e in entries if e[OUT] in between and (
        getattr(e[OP], "custom", False) or e[OP].name in run.registered)]


def not_linear(elements: Sequence[dict[str, Any]], scaled: Any) -> bool:
    """Whether a reverse sweep with twice the weight, halved, says something else."""
    return scaled is not None and any(
        abs(one["reverse"] - two) > EXACT * max(abs(one["reverse"]), abs(two))
        for one, two in zip(elements, np.ravel(scaled).tolist(), strict=True))


def blamed(ask: Ask, run: Run, target: Target, binding: Binding, entries: Sequence[Entry]
           ) -> Iterator[tuple[str, str, Span | None]]:
    """(code, message, place) of what makes a difference, each place once."""
    said: set[Any] = set()
    for entry in entries:
        op: Any = entry[OP]
        custom = getattr(op, "custom", False)
        for which in (_wrong_call(run, entry) if custom else _wrong_rule(entry)):
            where: Any = op.place[-2:] if custom and op.place is not None else span_of(entry)
            message = (f"the gradient of `{op.name}` is not that of its function, for argument"
                       f" {which}")
            if (message, where) not in said:
                said.add((message, where))
                yield "custom-gradient", message, where
    for entry in run.record.history():
        if entry[OP].kind == STOP and entry[OP].name == "stop_gradient":
            on_way = reach.ancestry(run.record.history(), [
                t.id for t in parts(target) if t.id is not None])
            if entry[OUT] in on_way and span_of(entry) not in said:
                said.add(span_of(entry))
                yield ("stop-gradient", f"`{called(entry, ask.program.source)}` hides a way from"
                       " derivatives, which differences see", span_of(entry))


def _wrong_call(run: Run, entry: Entry) -> list[str]:
    """The arguments of a custom function, from 1, whose gradient is not that of what it computed
    inside; those that are one value together, for only their sum can be told.
    """
    op: Any = entry[OP]
    history = run.record.history()
    inner = [e for e in history if e[OUT] in op.inner]
    if len(op.inner) != 1 or not inner:
        return []
    stream = np.random.default_rng(SEED)
    g = _weights(stream, entry[ANS])
    given = op.rules[0](g, entry[ANS], *entry[VALUES])
    wrong = []
    for i in dict.fromkeys(entry[IDS]):
        same = [k for k, other in enumerate(entry[IDS]) if other == i]
        value = entry[VALUES][same[0]]
        (body,) = calculus.gradient([Tensor(inner[0][ANS], op.inner[0])], [Tensor(value, i)],
                                    seeds=[g], entries=history)
        rule = [_plain(given[k], value) for k in same]
        if is_float(value) and _apart(sum(rule[1:], rule[0]), _plain(body, value)) > EXACT:
            wrong.append(" and ".join([str(k + 1) for k in same]))
    return wrong


def _wrong_rule(entry: Entry) -> list[str]:
    """The arguments of an operation with a registered gradient where differences say otherwise."""
    op: Any = entry[OP]
    values = list(entry[VALUES])
    stream = np.random.default_rng(SEED)
    g = _weights(stream, entry[ANS])
    with quiet():
        given = op.rules[0](g, entry[ANS], *values, **entry[ATTRIBUTES])
    wrong = []
    for k, (value, c) in enumerate(zip(values, given, strict=False)):
        if not is_float(value) or entry[BATCH]:
            continue
        v = _weights(stream, value)

        def moved(t: float, k: int = k, v: Any = v) -> float:
            at = [x + t * v if n == k else x for n, x in enumerate(values)]
            return float(np.sum(g * np.asarray(op.compute(at, entry[ATTRIBUTES]))))

        with quiet():
            slope, _ = estimate(moved, 0.0)
        ours = 0.0 if c is None else float(np.sum(np.asarray(getattr(c, "value", c)) * v))
        if _apart(ours, slope) > BY_DIFFERENCES:
            wrong.append(str(k + 1))
    return wrong


def _weights(stream: Any, value: Any) -> Any:
    shape = shape_of(value)
    return stream.uniform(0.5, 1.5, shape) if shape else float(stream.uniform(0.5, 1.5))


def _plain(gradient: Any, value: Any) -> Any:
    """A gradient as an array of the shape of what it belongs to; none is 0."""
    if gradient is None:
        return np.zeros(shape_of(value))
    return np.asarray(getattr(gradient, "value", gradient), float)


def _apart(a: Any, b: Any) -> float:
    a, b = np.asarray(a), np.asarray(b)
    largest = float(max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0), 1e-300))
    return float(np.abs(a - b).max(initial=0.0)) / largest
