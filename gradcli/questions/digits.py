"""The worth of an answer's digits: a note where many of them may have cancelled."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, IDS, OP, VALUES
from gradcli.lang.running.run import parts
from gradcli.ops.binding import fast_rules
from gradcli.ops.kinds import EDGE
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Note
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.question import Question

# Of a longer record nobody looks whether digits cancelled.
MOST_ENTRIES = 10_000
# What loses half of the digits of a number, and what loses all.
LARGE = 2.0**26
INFINITE = 1e100
TOTALS = frozenset(("sum", "mean", "matmul", "contraction", "det"))
# Whose slopes cost nothing, however many numbers they are of.
SUMS = frozenset(("add", "subtract"))
# Of more numbers at once nobody looks.
MOST_NUMBERS = 10_000


def shown(run: Run) -> float:
    """Return the largest factor by which a sum of numbers or a function of one enlarges the
    rounding error of its operand; 1 for a record of more than MOST_ENTRIES entries.
    """
    entries = run.record.compact()
    worst = 1.0
    if len(entries) > MOST_ENTRIES:
        return worst
    for entry in entries:
        op, ans = entry[OP], entry[ANS]
        if "steady" in op.traits or not (op.elementwise or op.name in TOTALS):
            continue
        if type(ans) is float and op.elementwise:
            worst = max(worst, _grown(entry))
        elif not entries.scalar and is_float(ans):
            worst = max(worst, _grown_of_arrays(entry))
    return worst


def _grown(entry: Entry) -> float:
    """Return the condition of an operation on numbers: relative change by relative change."""
    op, values, ans = entry[OP], entry[VALUES], entry[ANS]
    size = 0.0
    for k, rule in enumerate(op.fast_rules or fast_rules(op)):
        if entry[IDS][k] is None or rule is None or type(values[k]) is not float:
            continue
        try:
            c = rule if rule.__class__ is float else rule(*values, ans)
            size = max(size, abs(c * values[k]))
        except EDGE:
            return INFINITE
    return min(size / abs(ans), INFINITE) if ans else INFINITE if size else 0.0


def _grown_of_arrays(entry: Entry) -> float:
    """Return the same of arrays, in the element where it is most."""
    from gradcli.explain.numbers.cancelled import UNIT, UNIT_32, reached

    op, ans = entry[OP], entry[ANS]
    if op.name not in SUMS and max(np.size(v) for v in (*entry[VALUES], ans)) > MOST_NUMBERS:
        return 1.0
    with np.errstate(all="ignore"):
        far = reached(entry, {i for i in entry[IDS] if i is not None})
        grown = np.where(np.isfinite(far) & (far > 0.0), far / np.abs(ans), 0.0)
    part = UNIT_32 / UNIT if getattr(ans, "dtype", None) == "float32" else 1.0
    return min(float(np.max(grown, initial=0.0)) * part, INFINITE)


def of_value(question: Question, run: Run, target: Target) -> list[Note]:
    """Return what the digits of a value are worth, if some cancelled."""
    found = _cancelled(question, run, target)
    if found is None:
        return []
    from gradcli.questions import retrying

    told: list[Note] = found.of_value(retrying.of_value(question, run, target))
    return told


def _cancelled(question: Question, run: Run, target: Target, order: int = 0,
               share: float = 1.0) -> Any:
    """Return what knows the operations that show rounding; None if all together they make it less
    than LARGE. A derivative is about as many times steeper than the value as its order says. share:
    how large it is beside its parts.
    """
    made = run.cache(target)
    if shown not in made:
        made[shown] = shown(run)
    if not made[shown] ** (order + 1) > LARGE * share:
        return None
    if _cancelled not in made:
        from gradcli.explain.numbers.cancelled import Cancellation

        made[_cancelled] = Cancellation(run, parts(target), question.program.source)
    return made[_cancelled]


def of_derivative(question: Question, run: Run, target: Target, binding: Binding, g: Any, field: str
                  ) -> list[Note]:
    """Return what the digits of a derivative are worth, if some cancelled: there, or between its
    parts, which are about as large as a quotient of value and source.
    """
    found = None if question.output_gradient is not None else _of_parts(
        question, run, target, 1, g, binding.value.value)
    if found is None:
        return []
    from gradcli.questions import retrying

    told: list[Note] = found.of(binding.value, g, retrying.of_derivative(
        question, run, target, binding.name, field))
    return told


def of_second(question: Question, run: Run, target: Target, row: Binding, column: Binding,
              block: Any) -> list[Note]:
    """Return the same of a second derivative."""
    x, y = row.value.value, column.value.value
    found = _of_parts(question, run, target, 2, block,
                      x * y if type(x) is type(y) is float else None)
    if found is None:
        return []
    from gradcli.questions import retrying

    told: list[Note] = found.of_second(
        question.source(run, row), question.source(run, column), block,
        retrying.of_second(question, run, target, row.name, column.name))
    return told


def _of_parts(question: Question, run: Run, target: Target, order: int, g: Any, x: Any) -> Any:
    """Return what knows the operations that show rounding, those of a derivative among them: its
    parts are about as large as a quotient of the value and x. None if there can be none.
    """
    value = getattr(target.tensor, "value", target.tensor)
    share = 1.0
    if type(x) is type(g) is type(value) is float and x and value and (
            abs(g * x) < abs(value) and len(run.record.compact()) <= MOST_ENTRIES):
        share = abs(g * x / value)
    return _cancelled(question, run, target, order, share)
