"""What the digits of an answer are worth: whether so many may have cancelled that it is told."""

from __future__ import annotations

from gradcli.lang.targets import parts
from gradcli.ops.lazy import np
from gradcli.ops.values import is_float
from gradcli.tape.record import ANS, OP, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Ask
    from gradcli.explain.reason import Note
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

# Of a longer record nobody looks whether digits cancelled.
MOST_ENTRIES = 10_000
# Half of the digits of a number in 64 and in 32 bits, and an exponent that loses as many.
HALF, HALF_32, LARGE = 2.0**-26, 2.0**-11, 2.0**26
INFINITE = 1e308
LOGARITHMS, TOTALS = frozenset(("log", "log2", "log10")), frozenset(("sum", "mean"))
SHOWING = LOGARITHMS | TOTALS | {"add", "subtract", "power"}
# Of more numbers at once nobody looks.
MOST_NUMBERS = 10_000


def shown(run: Run) -> float:
    """By which factor a sum of numbers, a logarithm or a power makes the rounding of its operand
    larger, at the most; of arrays only whether it is more than LARGE. A long record is not looked
    at.
    """
    entries = run.record.compact()
    worst = 1.0
    if len(entries) > MOST_ENTRIES:
        return worst
    for entry in entries:
        op = entry[OP].name
        if op not in SHOWING:
            continue
        values, ans = entry[VALUES], entry[ANS]
        x = values[0]
        if op == "power":
            # What is not 0 or huge is a power of a number near 1.
            y = values[1]
            large = abs(y) if type(y) is float else INFINITE if np.any(np.abs(y) > LARGE) else 1.0
        elif type(ans) is float and type(x) is float:
            size = 1.0 if op in LOGARITHMS else abs(x)
            if not size > worst * abs(ans):
                continue
            large = size / abs(ans) if ans else INFINITE
        elif type(ans) is not float and (entries.scalar or not is_float(ans)):
            continue
        else:
            part = HALF_32 if getattr(ans, "dtype", None) == "float32" else HALF
            large = INFINITE if np.any(np.abs(ans) < _most(op, part, x)) else 1.0
        if large > worst:
            worst = large
    return worst


def _most(op: str, part: float, x: Any) -> Any:
    """What an answer is less than in size if it shows the rounding of x."""
    if op in LOGARITHMS:
        return part
    size = np.abs(x)
    if op in TOTALS:
        return part * np.max(size, initial=0.0) if np.size(size) <= MOST_NUMBERS else 0.0
    return part * size


def of_value(ask: Ask, run: Run, target: Target) -> list[Note]:
    """What the digits of a value are worth, if some cancelled."""
    found = _cancelled(ask, run, target)
    if found is None:
        return []
    from gradcli.answers import retrying

    told: list[Note] = found.of_value(retrying.of_value(ask, run, target))
    return told


def _cancelled(ask: Ask, run: Run, target: Target, share: float = 1.0) -> Any:
    """What knows the operations that show rounding; None if all together they make it less than
    LARGE. share: of a derivative, how large it is beside its parts.
    """
    made = ask.made(target)
    if shown not in made:
        made[shown] = shown(run)
    if not made[shown] > LARGE * share:
        return None
    if _cancelled not in made:
        from gradcli.explain.cancelled import Cancelled

        made[_cancelled] = Cancelled(run, parts(target), ask.program.source)
    return made[_cancelled]


def of_derivative(ask: Ask, run: Run, target: Target, binding: Binding, g: Any, field: str
                  ) -> list[Note]:
    """What the digits of a derivative are worth, if some cancelled: there, or between its parts,
    which are about as large as a quotient of value and source.
    """
    found = None if ask.output_gradient is not None else _of_parts(
        ask, run, target, g, binding.value.value)
    if found is None:
        return []
    from gradcli.answers import retrying

    told: list[Note] = found.of(binding.value, g, retrying.of_derivative(
        ask, run, target, binding.name, field))
    return told


def of_second(ask: Ask, run: Run, target: Target, row: Binding, column: Binding, block: Any
              ) -> list[Note]:
    """The same of a second derivative."""
    x, y = row.value.value, column.value.value
    found = _of_parts(ask, run, target, block, x * y if type(x) is type(y) is float else None)
    if found is None:
        return []
    from gradcli.answers import retrying

    told: list[Note] = found.of_second(ask.source(row), ask.source(column), block,
                                       retrying.of_second(ask, run, target, row.name, column.name))
    return told


def _of_parts(ask: Ask, run: Run, target: Target, g: Any, x: Any) -> Any:
    """What knows the operations that show rounding, those of a derivative among them: its parts are
    about as large as a quotient of the value and x. None if there can be none.
    """
    value = getattr(target.tensor, "value", target.tensor)
    share = 1.0
    if type(x) is type(g) is type(value) is float and x and value and (
            abs(g * x) < abs(value) and len(run.record.compact()) <= MOST_ENTRIES):
        share = abs(g * x / value)
    return _cancelled(ask, run, target, share)
