"""Wrong rules: gradients of the file compared with what their functions compute."""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.finite import estimate
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    VALUES,
    active,
    ancestry,
    leading,
    span_of,
)
from gradcli.engine.record.tensor import Tensor
from gradcli.explain.written import called
from gradcli.ops.kinds import STOP
from gradcli.ops.values import dtype_of, is_float, shape_of
from gradcli.questions.verify.compare import BY_DIFFERENCES, EXACT, SINGLE
from gradcli.questions.verify.methods import typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Run
    from gradcli.questions.question import Question

SEED = 7
# What may be to blame.
CODES = ("custom-gradient", "stop-gradient", "upstream")


def rules_on_the_way(run: Run, targets: Sequence[Tensor], source: Tensor) -> list[Entry]:
    """Return the calls with a gradient of the file between a source and the targets."""
    if source.id is None:
        return []
    entries = run.record.history()
    ids = [t.id for t in targets if t.id is not None]
    between = active(entries, [source.id]) & leading(entries, ids)
    return [e for e in entries if e[OUT] in between and (
        getattr(e[OP], "custom", False) or e[OP].name in run.registered)]


def not_linear(elements: Sequence[dict[str, Any]], scaled: Any) -> bool:
    """Return whether a reverse sweep with twice the weight, halved, says something else."""
    return scaled is not None and any(
        abs(one["reverse"] - two) > EXACT * max(abs(one["reverse"]), abs(two))
        for one, two in zip(elements, np.ravel(scaled).tolist(), strict=True))


def blamed(question: Question, run: Run, targets: Sequence[Tensor], entries: Sequence[Entry]
           ) -> Iterator[tuple[str, str, Span | None]]:
    """Yield (code, message, location) of each wrong rule, each location once."""
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
            on_way = ancestry(run.record.history(), [
                t.id for t in targets if t.id is not None])
            if entry[OUT] in on_way and span_of(entry) not in said:
                said.add(span_of(entry))
                name = called(entry, question.program.source)
                yield ("stop-gradient", f"`{name}` hides a way from derivatives, which differences"
                       " see", span_of(entry))


def _wrong_call(run: Run, entry: Entry) -> list[str]:
    """Return the arguments of a custom function, from 1, whose gradient is not that of what it
    computed inside; those that are one value together, for only their sum can be told.
    """
    op: Any = entry[OP]
    history = run.record.history()
    made = {e[OUT]: e[ANS] for e in history if e[OUT] in op.inner}
    made.update({i: v for i, v in zip(entry[IDS], entry[VALUES], strict=True)
                 if i is not None and i in op.inner})
    inner = [Tensor(made[i], i) for i in op.inner if i in made]
    sizes = [calculus.size(t.shape) for t in inner]
    if len(inner) != len(op.inner) or sum(sizes) != calculus.size(shape_of(entry[ANS])):
        return []
    g = _weights(np.random.default_rng(SEED), entry[ANS])
    wrong = []
    # Not every rule that is wrong is so for positive weights.
    for weights in (g, -2.0 * g):
        seeds = [typed(piece.reshape(t.shape) if t.shape else float(piece[0]), t.value)
                 for piece, t in zip(np.split(np.ravel(weights), np.cumsum(sizes)[:-1]), inner,
                                     strict=True)]
        given = op.rules[0](typed(weights, entry[ANS]), entry[ANS], *entry[VALUES])
        for i in dict.fromkeys(entry[IDS]):
            same = [k for k, other in enumerate(entry[IDS]) if other == i]
            value = entry[VALUES][same[0]]
            if i is None or not is_float(value):
                continue
            (body,) = calculus.gradient(inner, [Tensor(value, i)], seeds=seeds, entries=history)
            rule = [_plain(given[k], value) for k in same]
            room = EXACT * (SINGLE if dtype_of(value) == "float32" else 1.0)
            which = " and ".join([str(k + 1) for k in same])
            if _apart(sum(rule[1:], rule[0]), _plain(body, value)) > room and which not in wrong:
                wrong.append(which)
    return wrong


def _wrong_rule(entry: Entry) -> list[str]:
    """Return the arguments of an operation with a registered gradient where differences say
    otherwise.
    """
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
    """Return a gradient as an array of the shape of its value; None is 0."""
    if gradient is None:
        return np.zeros(shape_of(value))
    return np.asarray(getattr(gradient, "value", gradient), float)


def _apart(a: Any, b: Any) -> float:
    a, b = np.asarray(a), np.asarray(b)
    largest = float(max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0), 1e-300))
    return float(np.abs(a - b).max(initial=0.0)) / largest
