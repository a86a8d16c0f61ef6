"""Digits that cancel, so that a value or derivative consists of rounding errors.

1 - cos(x) at 1e-9 is 0 in floats: the operands agree in all their digits, and only their rounding
is left. Every operation with a large condition number shows the rounding of its operand in this
way: a logarithm or lgamma of a number near 1, a large power, acos next to the end of its domain.
That does harm only where the answer changes with it, which its own derivative by the operation
tells: cos(x) - 1 has the slope -sin(x), and nothing is lost. An error as large as that from
rounding the sources is no loss either.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine import calculus
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    ancestry,
    span_of,
)
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.reverse import slope
from gradcli.explain.catalogue import Note
from gradcli.explain.numbers.words import Wording, minus, tight
from gradcli.explain.written import called, sides, written
from gradcli.ops.kinds import BILINEAR, LINEAR
from gradcli.ops.values import is_complex, is_float, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Source
    from gradcli.engine.record.record import Entry
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.run import Run
    from gradcli.ops.kinds import Op


# The relative rounding of one operation in 64 and in 32 bits.
UNIT, UNIT_32 = 2.0**-52, 2.0**-23
# An answer that moves less, relative to what rounding the sources does or, if it is 0, at all, is
# right enough.
INHERENT, LEAST = 16.0, 1e-9
# A bound is of first order.
SAFE = 4.0
# Share of rounding from which on no digit is right.
ALL = 0.1
# Ratio of answer to operands below which rounding shows: several operations may do harm.
SHOWN = 2.0**-6
# The largest number of operations that are examined.
MOST = 8
# Powers that are calculated exactly, and so many numbers at once.
MOST_POWER, MOST_EXACT = 32, 100
# Larger arrays are not examined for rounded elements.
MOST_NUMBERS = 10_000
# Longer records are not examined for the effect of all operations.
MOST_ENTRIES = 10_000
# Numbers that arithmetic on a few of them does not round: multiples of GRAIN, of a modest size.
GRAIN, MODEST = 2.0**-10, 2.0**20
ARITHMETIC = frozenset((
    "add", "subtract", "multiply", "divide", "power", "square", "sqrt", "reciprocal",
    "squared_difference"))
SUMS = frozenset(("sum", "mean", "matmul", "contraction", "convolution", "cumsum"))
PRODUCTS = frozenset(("matmul", "contraction"))
# Exact on whole numbers that are not too large, if the answer is one.
WHOLE = frozenset(("add", "subtract", "multiply", "square", "sum", "divide", "sqrt"))
TOTALS = frozenset(("sum", "mean", "det")) | PRODUCTS
LOGARITHMS = frozenset(("log", "log2", "log10"))
# Whose rules take complex numbers as they are.
PLAIN = frozenset(("add", "subtract", "power")) | LOGARITHMS
# Operation -> whether its answer is exact, if its operands are.
EXACT: dict[str, Callable[..., bool]] = {
    "add": lambda ans, x, y: ans == x + y, "subtract": lambda ans, x, y: ans == x - y,
    "multiply": lambda ans, x, y: ans == x * y, "divide": lambda ans, x, y: ans * y == x,
    "square": lambda ans, x: ans == x * x, "sqrt": lambda ans, x: ans * ans == x,
    "power": lambda ans, x, y: ans == x ** y if y in range(MOST_POWER) else x in (0, 1),
    **dict.fromkeys(("exp", "exp2", "cos", "cosh", "sech"), lambda ans, x: x == 0),
    **dict.fromkeys(("sin", "tanh", "erf"), lambda ans, x: x == 0),
    "sigmoid": lambda ans, x: x == 0}


class Cancellation:
    """The operations of a record that show rounding, in the targets and in their derivatives."""

    __slots__ = ("run", "source", "targets")

    def __init__(self, run: Run, targets: Sequence[Tensor], source: Source) -> None:
        self.run = run
        self.source = source
        self.targets = targets

    def of_value(self, trials: Trials | None = None) -> list[Note]:
        """Return a note if most digits of the targets' sum are wrong."""
        with np.errstate(all="ignore"), self.run.record:
            whole = float(np.sum([np.sum(t.value) for t in self.targets]))
            return self._notes(self.targets, whole, None, trials) if np.isfinite(whole) else []

    def rounding(self) -> float:
        """Bound how far visible rounding may have moved the targets; 0 for a long record."""
        entries = self.run.record.history()
        if len(entries) > MOST_ENTRIES:
            return 0.0
        with np.errstate(all="ignore"):
            found = _worst(_lost(entries, [t.id for t in self.targets if t.id is not None]))
            return sum(moved for _, _, moved in self._effects(self.targets, found))

    def of(self, wrt: Tensor, g: Any, trials: Trials | None = None) -> list[Note]:
        """Return a note if most digits of g, the derivative of the targets' sum, are wrong."""
        return self._of_derivative([wrt], g, trials)

    def of_second(self, row: Tensor, column: Tensor, block: Any, trials: Trials | None = None
                  ) -> list[Note]:
        """Return a note if most digits of a block of second derivatives are wrong."""
        return self._of_derivative([row, column], block, trials)

    def _of_derivative(self, sources: Sequence[Tensor], g: Any, trials: Trials | None
                       ) -> list[Note]:
        """Return a note on the derivative g by some sources, which is recorded once more for it."""
        record = self.run.record
        before = len(record.entries), record.absorbed, dict(record.lost)
        try:
            with np.errstate(all="ignore"):
                made = list(self.targets)
                for source in sources:
                    (one,) = calculus.gradient(made, [source], emit=True)
                    if not isinstance(one, Tensor):
                        return []
                    made = [one]
                # With weights, so that elements of both signs do not cancel.
                n = int(np.size(made[0].value))
                seeds = [np.cos(np.arange(n) + 0.5).reshape(made[0].shape)] if made[0].shape else []
                return self._notes(made, g, sources[-1].value, trials, seeds)
        except GradcliError:  # a rule that has no derivative of its own: nothing can be told
            return []
        finally:
            del record.entries[before[0]:]
            record.absorbed, record.lost = before[1:]

    def _notes(self, made: Sequence[Tensor], g: Any, x: Any, trials: Trials | None,
               seeds: Sequence[Any] = ()) -> list[Note]:
        """Return a note on the operation whose rounding moves `made` most, if that is too much.

        g: the answer of which digits are counted.
        x: the source, of a derivative; None: `made` is a value.
        seeds: weights of the elements of `made`.
        """
        last = max((t.id for t in self.targets if t.id is not None), default=0)
        half = math.sqrt(_unit(made[0].value))
        found = self._harmful(made, _size(g), x, half, last, seeds)
        if found is None:
            return []
        entry, off, share = found
        kind = "value" if x is None else "derivative"
        message = _message(entry, self.source, share, kind, entry[OUT] > last)
        if trials is not None and entry[OUT] <= last:
            from gradcli.explain.numbers.cancelled import exact_form

            # By so much the value itself may be off.
            ((_, _, away),) = self._effects(self.targets, [(entry, off)])
            away = SAFE*away + half*max(_size(t.value) for t in self.targets)
            form = exact_form(self.run, entry, self.source, trials, away, x is not None)
            message += f"; {form}" if form else ""
        return [Note("digits-cancelled", message, span_of(entry))]

    def _harmful(self, made: Sequence[Tensor], size: float, x: Any, half: float, last: int,
                 seeds: Sequence[Any]) -> tuple[Entry, Any, float] | None:
        """Return the operation whose rounding moves `made` most, its error, and the share of the
        answer's size by which that moves it; None where it is no more than `half` of the digits, or
        what rounding of the sources does anyway.
        """
        entries = self.run.record.history()
        found = _worst(_lost(entries, [t.id for t in made if t.id is not None], last))
        culprit, worst = None, 0.0
        for entry, off, moved in self._effects(made, found, seeds):
            # No number moves by more than any; infinity only where the difference made it.
            if bool(np.isfinite(moved)) == bool(np.isfinite(size)) and not moved <= worst:
                culprit, worst = (entry, off), moved
        least = 0.0 if size else _least(entries, last, x)
        if culprit is None or (size < np.inf and not worst > max(half*size, least)):
            return None
        if size < np.inf and worst <= INHERENT*self._inherent(made, seeds) and not _near_pole(
                made, *culprit, seeds):
            return None
        return *culprit, worst/size if 0.0 < size < np.inf else np.inf

    def at_edge(self, distance: float, seeds: Sequence[Any]) -> Entry | None:
        """Return the first operation whose rounding moves the targets, weighted by the seeds, by
        more than their distance from the edge of a domain, and by more than rounding of the sources
        does.
        """
        with np.errstate(all="ignore"), self.run.record:
            found = _worst(_lost(self.run.record.history(), [
                t.id for t in self.targets if t.id is not None]))
            least = max(distance, INHERENT*self._inherent(self.targets, seeds)) if found else 0.0
            return next((e for e, _, moved in self._effects(self.targets, found, seeds)
                         if moved > least), None)

    def _effects(self, made: Sequence[Tensor], found: Sequence[tuple[Entry, Any]],
                 seeds: Sequence[Any] = ()) -> Iterator[tuple[Entry, Any, float]]:
        """Yield (entry, its error, how far that moves the answer) of the operations `found`."""
        made_of = [Tensor(e[ANS], e[OUT]) for e, _ in found]
        slopes = calculus.gradient(made, made_of, seeds=seeds) if found else []
        for (entry, off), one in zip(found, slopes, strict=True):
            yield entry, off, _moved(one, off)

    def _inherent(self, made: Sequence[Tensor], seeds: Sequence[Any] = ()) -> float:
        """Return how far rounding all named values would move the answer; a value given as an exact
        decimal counts as not rounded.
        """
        leaves = [b.value for bindings in self.run.bindings.values() for b in bindings
                  if isinstance(b.value, Tensor) and is_float(b.value.value)]
        slopes = calculus.gradient(made, leaves, seeds=seeds) if leaves else []
        computed = {entry[OUT] for entry in self.run.record.history()} if leaves else set()
        return sum(_moved(one, _unit(x.value)*np.where(
            x.id not in computed and _is_exact(x.value), 0.0, np.abs(x.value)))
            for x, one in zip(leaves, slopes, strict=True))


def _near_pole(made: Sequence[Tensor], entry: Entry, off: Any, seeds: Sequence[Any]) -> bool:
    """Return whether an operation is rounding of a 0 that would be a pole of `made`: its size then
    means nothing, however exact the sources are.
    """
    if not np.any(off > ALL*np.abs(entry[ANS])):
        return False
    (one,) = calculus.gradient(made, [Tensor(entry[ANS], entry[OUT])], seeds=seeds)
    whole = sum(np.sum(t.value * (seeds[0] if seeds else 1.0)) for t in made)
    return one is not None and bool(np.sum(value_of(one)*entry[ANS])*whole < 0.0)


def _message(entry: Entry, source: Source, share: float, kind: str, late: bool) -> str:
    name = f"`{written(entry, source) or called(entry, source)}`"
    op = entry[OP].name
    digits = 0 if not share <= ALL else int(-math.log10(share))
    if late:
        which = f"{'all digits' if not digits else 'digits'} cancel between the parts of this"\
                f" {kind}"
    elif op in LOGARITHMS:
        which = f"{name} is of a number so near to 1 that its rounding shows"
    elif op == "power":
        which = f"{name} makes much of the rounding of its base"
    else:
        which = f"{'all digits' if not digits else 'digits'} cancel in {name}"
    if digits:
        return f"{which}: about {digits} of 16 digits of this {kind} are right"
    return f"{which}: what is left is rounding, and so is this {kind}"


def _least(entries: Sequence[Entry], last: int, x: Any) -> float:
    """Return the error that a derivative in x may have if it is 0, relative to the size of the
    program's numbers; 0 for a value.
    """
    size = 0.0 if x is None else _size(x)
    if not size:
        return 0.0 if x is None else LEAST
    largest = max((_size(e[ANS]) for e in entries if e[OUT] <= last and is_float(e[ANS])),
                  default=0.0)
    return LEAST*min(1.0, largest/size)


def _size(value: Any) -> float:
    return float(np.max(np.abs(value), initial=0.0))


def _moved(slope: Any, off: Any) -> float:
    if slope is None:
        return 0.0
    return float(np.sum(np.where(off > 0.0, np.abs(value_of(slope)) * off, 0.0)))


def _unit(value: Any) -> float:
    return UNIT_32 if getattr(value, "dtype", None) in ("float32", "complex64") else UNIT


def _lost(entries: Sequence[Entry], targets: Sequence[int], last: float = math.inf
          ) -> Iterator[tuple[Entry, Any]]:
    """Yield the operations that show rounding, each with a bound on its error.

    last: the id after which derivatives begin; in them a value of exactly 0 or 1 is saturated and
    counts as not rounded.
    """
    wanted = ancestry(entries, targets)
    rounded: set[int] = set()
    saturated: set[int] = set()
    twins: dict[Any, int] = {}
    first: dict[int | None, Any] = {}
    for entry in entries:
        if entry[OUT] not in wanted or not is_float(entry[ANS]):
            continue
        if type(entry[ANS]) is float and all(isinstance(v, (int, float)) for v in entry[VALUES]):
            # The same operation on the same numbers is rounded in the same way.
            made = [first.get(i, v) for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
            if entry[OP].elementwise:
                first[entry[OUT]] = (twins.setdefault((entry[OP], *made), entry[OUT]),)
            if entry[OP].name in ("subtract", "divide") and made[0] == made[1]:
                continue
        if entry[OUT] > last and saturated:
            rounded -= saturated
            saturated.clear()
        inexact = not rounded.isdisjoint(entry[IDS])
        # A difference of two exact numbers is exact, a sum of more need not be.
        if inexact or _rounds(entry):
            rounded.add(entry[OUT])
            if _saturated(entry[ANS]):
                saturated.add(entry[OUT])
            off = _off(entry, rounded) if inexact or entry[OP].name in TOTALS else 0.0
            if np.any(off):
                yield entry, off


def _worst(found: Iterable[tuple[Entry, Any]]) -> list[tuple[Entry, Any]]:
    """Return the MOST operations with the largest relative errors."""
    def share(one: tuple[Entry, Any]) -> float:
        entry, off = one
        return -float(np.max(np.where(off > 0.0, off/np.abs(entry[ANS]), 0.0), initial=0.0))

    return sorted(found, key=share)[:MOST]


def reached(entry: Entry, rounded: Container[int | None]) -> Any:
    """Return how far the answer moves, to first order, if a rounded operand changes by its size."""
    op, ids, values, ans = entry[OP], entry[IDS], entry[VALUES], entry[ANS]
    if op.name in TOTALS:
        sizes = [np.abs(v) for v in values]
        if any(entry[BATCH]):
            return 0.0
        if op.name in PRODUCTS:
            return op.compute(sizes, entry[ATTRIBUTES])
        return np.max(sizes[0], initial=0.0) if op.name != "det" else np.prod(
            np.sum(sizes[0], axis=-1), axis=-1)
    far: Any = 0.0
    if op.elementwise and op.rules and (
            op.name in PLAIN or not any(map(is_complex, (*values, ans)))):
        for k, i in enumerate(ids):
            if i in rounded and op.edge(k) and is_float(values[k]):
                far = np.maximum(far, np.abs(slope(op, k, values, ans) * values[k]))
    return far


def _off(entry: Entry, rounded: set[int]) -> Any:
    """Return a bound on the error that rounded operands cause, where it shows; 0 elsewhere."""
    far = reached(entry, rounded)
    return np.where((np.abs(entry[ANS]) < SHOWN*far) & np.isfinite(far), _unit(entry[ANS])*far, 0.0)


def _rounds(entry: Entry) -> bool:
    """Return whether an operation on exact numbers may have rounded its answer."""
    op, values, ans = entry[OP], entry[VALUES], entry[ANS]
    name = op.name
    if "exact" in op.traits or (
            not op.elementwise and name not in SUMS and op.kind in (LINEAR, BILINEAR)):
        return False
    if name in WHOLE and all(map(_whole, (*values, ans))):
        return False
    if name in PRODUCTS or name == "det":
        return not (all(map(_whole, values)) and bool(np.max(reached(entry, ())) < 1/UNIT))
    if name in ARITHMETIC and is_exact(op, values, ans):
        return False
    if not all(map(_short, (*values, ans))):
        return True
    return not (name in ARITHMETIC or name in SUMS or all(map(_saturated, values)))


def _is_exact(value: Any) -> Any:
    """Return a mask of the floats that equal the shortest decimals that stand for them."""
    if np.size(value) > MOST_NUMBERS or is_complex(value):
        return False
    return np.reshape([v - v == 0.0 and Fraction(repr(v)) == v for v in np.ravel(value).tolist()],
                      np.shape(value))


def is_exact(op: Op, values: Sequence[Any], ans: Any) -> bool | None:
    """Return whether an operation on numbers did not round its answer; None if unknown."""
    known = EXACT.get(op.name)
    if known is None or any(map(is_complex, values)) or np.size(ans) > MOST_EXACT or not all(
            bool(np.isfinite(v).all()) for v in (ans, *values)):
        return None
    numbers = [np.ravel(v).tolist() for v in np.broadcast_arrays(ans, *values)]
    return all(known(*map(Fraction, one)) for one in zip(*numbers, strict=True))


def _saturated(value: Any) -> bool:
    return bool(np.all(np.equal(value, 0) | np.equal(np.abs(value), 1)))


def _whole(value: Any) -> bool:
    return _multiple(value, 1.0) and bool(np.sum(np.abs(value)) < 1/UNIT)


def _short(value: Any) -> bool:
    if not isinstance(value, (int, float)) and not is_float(value):
        return True
    return _multiple(value, GRAIN) and bool(np.all(np.abs(value) < MODEST))


def _multiple(value: Any, grain: float) -> bool:
    """Return whether all numbers are multiples of a grain, complex ones in both parts."""
    parts = (np.real(value), np.imag(value)) if is_complex(value) else (value,)
    return all(bool(np.all(np.remainder(part, grain) == 0)) for part in parts)


# --------------------------------------------------------------------------------------------------
# The same function without the rounding, in the words of the program, tried before it is offered.

# f(u) - 1 and 1 - f(u), by f.
LESS_1 = {"exp": "expm1({})", "cos": "-2*sin({half})^2", "cosh": "2*sinh({half})^2"}
FROM_1 = {"exp": "-expm1({})", "cos": "2*sin({half})^2", "tanh": "2*sigmoid({double})",
          "sigmoid": "sigmoid({minus})", "erf": "erfc({})", "erfc": "erf({})"}
# The logarithm of f(u), by f.
LOGARITHM = {"cosh": "logcosh({})", "sigmoid": "log_sigmoid({})", "exp": "{}"}


def exact_form(run: Run, entry: Entry, source: Source, trials: Trials, off: float, derived: bool
               ) -> str:
    """Return the advice to write another form of an operation; empty if none is known that keeps
    the function, within `off` at the point, and its digits.

    derived: the derivative has to keep its digits, else the value.
    """
    words = Wording(source)
    by_out = {e[OUT]: e for e in run.record.history()}
    old = words.of(entry)
    if old is None:
        return ""
    for new in _forms(words, by_out, entry):
        if trials.steadies(entry[PLACE][2:4], new, off, derived):
            return f"write `{new}` for `{old}`"
    return ""


def _forms(words: Wording, by_out: dict[int, Entry], entry: Entry) -> Iterator[str]:
    name, ids = entry[OP].name, entry[IDS]
    inner = [by_out.get(i) if i is not None else None for i in ids]
    if name in ("add", "subtract"):
        for k in (0, 1):
            f, other = inner[k], entry[VALUES][1 - k]
            one = ids[1 - k] is None and not shape_of(other) and abs(other) == 1
            if f is not None and one:
                # The sign of f and of the 1.
                plus = name == "add" or k == 0
                up = (other == 1) == (name == "add" or k == 1)
                parts = words.operands(f)
                if plus != up and parts:
                    yield from _formatted((LESS_1 if plus else FROM_1).get(f[OP].name), parts[0])
        return
    first = inner[0]
    if first is None:
        return
    written = words.operands(entry)
    if name == "log":
        parts = words.operands(first)
        if parts:
            yield from _formatted(LOGARITHM.get(first[OP].name), parts[0])
    rest = _beside_1(words, first)
    if rest is None:
        return
    if name == "power" and written and len(written) == 2:
        yield f"exp({tight(written[1])}*log1p({rest}))"
    elif name == "log":
        yield f"log1p({rest})"
    elif name in ("log2", "log10"):
        yield f"log1p({rest})/ln({name[3:]})"


def _formatted(form: str | None, u: str) -> Iterator[str]:
    if form is not None:
        yield form.format(u, half=f"{tight(u)}/2", double=f"-2*{tight(u)}", minus=minus(u))


def _beside_1(words: Wording, entry: Entry) -> str | None:
    """Return the text of u if an operation is 1 + u, u + 1 or, with -u, 1 - u; else None."""
    text, name = words.of(entry), entry[OP].name
    if text is None or name not in ("add", "subtract"):
        return None
    parts = sides(text)
    if parts is None:
        return None
    for k in (0, 1) if name == "add" else (0,):
        value = entry[VALUES][k]
        if entry[IDS][k] is None and not shape_of(value) and value == 1:
            return parts[1 - k] if name == "add" else minus(parts[1])
    return None
