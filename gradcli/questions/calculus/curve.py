"""A target of one variable as a term: its derivatives, where it is defined, and the points where it
may be without a value, a limit or a slope.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import quiet
from gradcli.engine.record.record import IDS, OP, OUT, VALUES, ancestry
from gradcli.formulas.analysis.boxes import Zero, Zeros, seen, substituted
from gradcli.formulas.analysis.constants import sign_of, value_of
from gradcli.formulas.analysis.exact import reduced
from gradcli.formulas.analysis.ranges import RULES, ranges
from gradcli.formulas.analysis.zeros import zeros
from gradcli.formulas.build import constant, terms_of
from gradcli.formulas.rewrites import factored, rebuilt
from gradcli.formulas.terms import HALF, MINUS, NUMBER, ONE, ZERO
from gradcli.lang.running.run import tensor_of
from gradcli.ops import TABLE
from gradcli.questions.derive.derive import Derivation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.lang.running.run import Target

NONZERO, ABOVE, FROM, BREAK = "!= 0", "> 0", ">= 0", ""
"""What has to hold of a term; where a BREAK is 0, the formula changes."""
WINDOW = 10.0
"""Where there is no end of points, and where nothing is known, those from -10 to 10 are told."""


class Condition:
    """A term and what has to hold of it; guarded: only on one side of a choice."""

    __slots__ = ("guarded", "relation", "term")

    def __init__(self, term: Term, relation: str, guarded: bool) -> None:
        self.term, self.relation, self.guarded = term, relation, guarded


class Curve:
    """One target of a question. name: of its variable. term: the target; slopes: its derivatives,
    from the first on, as far as asked for. conditions: those of its steps. opaque: the operations
    about which nothing is known.
    """

    __slots__ = (
        "_of",
        "algebra",
        "conditions",
        "derivation",
        "name",
        "opaque",
        "target",
        "term",
    )

    def __init__(self, derivation: Derivation, target: Target, names: Sequence[str]) -> None:
        self.derivation = derivation
        self.target = target
        self.algebra: Algebra = derivation.algebra
        run = derivation.run
        history = run.record.history()
        known = dict(derivation._known())
        tensor = tensor_of(target)
        with run.record, quiet():
            (self.term,) = terms_of(self.algebra, history, known, [tensor])
        self.name = names[0]
        self._of: dict[int, Term | None] = {}
        mine = ancestry(history, [tensor.id])
        entries = [e for e in history if e[OUT] in mine]
        self.conditions = list(_conditions(self.algebra, entries, known))
        self.opaque = sorted({e[OP].name for e in entries if e[OP].name not in ARITHMETIC
                              and e[OP].name not in RULES})

    def slope(self, term: Term) -> Term | None:
        """Return the derivative of a term, None where it has none."""
        if term.number not in self._of:
            try:
                with quiet():
                    (found,) = self.derivation.replay.gradient(term, [self.name])
            except GradcliError:    # too long, or without a formula
                found = None
            if found is not None:
                (found,) = factored(self.algebra, [found])
                found = reduced(self.algebra, found, self.name)
            self._of[term.number] = found
        return self._of[term.number]

    def derivative(self, order: int, term: Term | None = None) -> Term:
        """Return the derivative of an order, of the target or another term; 0 where no path of
        derivatives leads.
        """
        found = self.term if term is None else term
        for _ in range(order):
            slope = self.slope(found)
            found = self.algebra.number(ZERO) if slope is None else slope
        return found

    def has_breaks(self) -> bool:
        """Return whether the formula changes somewhere."""
        return any(c.relation == BREAK for c in self.conditions)

    def between(self, low: float, high: float) -> Term:
        """Return the target as it is between two neighbouring points where it changes: x for
        abs(x) where x > 0.
        """
        a = self.algebra
        found: dict[int, Term] = {}
        (x, *_) = samples(low, high)

        def call(old: Term, args: Sequence[Term]) -> Term:
            rule = BETWEEN.get(old.operation.name)
            made = rule(self, x, *args) if rule is not None else None
            return a.call(old.operation, args, old.attributes, old.shape) if made is None else made

        for t in a.table.of([self.term]):
            found[t.number] = call(t, [found[p.number] for p in t.args]) if t.args else rebuilt(
                a, t, found, call)
        return reduced(a, found[self.term.number], self.name)

    def sign_at(self, term: Term, x: float) -> int:
        """Return the sign of a term at a point, 0 where it is not seen."""
        with quiet():
            (r,) = ranges(self.algebra.table, [term], self.name, x, x)
        return int(r.sign())

    def zeros(self, term: Term, low: float, high: float, specials: Sequence[float]) -> Zeros:
        """Return the zeros of a term from low to high."""
        with quiet():
            if self.opaque and any(t.op is not None and t.op.name not in RULES
                                   for t in self.algebra.table.of([term])):
                low, high = max(low, -WINDOW), min(high, WINDOW)
                return seen(lambda x: self.value(x, term)[0], low, high)
            return zeros(self.algebra, term, self.name, low, high, self.slope, specials)

    def value(self, x: Zero | float, term: Term | None = None) -> tuple[float, Term | None]:
        """Return the value of a term at a point, and its exact form where there is one."""
        term = self.term if term is None else term
        a = self.algebra
        with quiet():
            if isinstance(x, Zero) and x.exact is not None:
                exact = substituted(a, term, self.name, x.exact)
                return value_of(a, exact) + 0.0, exact
            at = x.x if isinstance(x, Zero) else x
            (r,) = ranges(a.table, [term], self.name, at, at)
            low, high = float(r.low), float(r.high)
            if term is self.term and self.opaque:
                return self._run(at), None
            if bool(r.never) or not (isfinite(low) and isfinite(high)):
                return self._plain(term, at), None
            return low + (high - low) / 2, None

    def _run(self, at: float) -> float:
        """Return the value of the target as the program calculates it; NaN where it fails."""
        question = self.derivation.question
        try:
            run = question.run({self.name: at}, explain=False)
            with run.record:
                targets = question.program.targets(run, question.of)
                (own,) = [t for t in targets if t.name == self.target.name]
                return float(tensor_of(own).value)
        except (GradcliError, TypeError, ValueError):
            return float("nan")

    def _plain(self, term: Term, at: float) -> float:
        return value_of(self.algebra, substituted(
            self.algebra, term, self.name, self.algebra.number(at)))

    def sign(self, term: Term, low: float, high: float) -> tuple[int, bool]:
        """Return the sign of a term that has no zero between two numbers, and whether it is
        proved; 0 where it is not seen.
        """
        for x in samples(low, high):
            with quiet():
                (r,) = ranges(self.algebra.table, [term], self.name, x, x)
            sign = int(r.sign())
            if sign:
                return sign, True
        for x in samples(low, high):
            value = self._plain(term, x)
            if value and isfinite(value):
                return (1 if value > 0 else -1), False
        return 0, False

    def defined(self, x: Zero | float) -> bool:
        """Return whether the target has a value at a point."""
        guarded = False
        for c in self.conditions:
            if c.relation == BREAK or self._holds(c, x):
                continue
            if not c.guarded:
                return False
            guarded = True
        if not guarded and not self.opaque:
            return True
        value, _ = self.value(x)
        return value == value

    def _holds(self, c: Condition, x: Zero | float) -> bool:
        at = x.x if isinstance(x, Zero) else x
        (r,) = ranges(self.algebra.table, [c.term], self.name, at, at)
        sign = int(r.sign())
        if not sign and isinstance(x, Zero):
            value, exact = self.value(x, c.term)
            sign = 0 if (exact is not None and exact.is_number(0)) or not value or (
                abs(value) < 1e-12) else (1 if value > 0 else -1)
        if bool(r.never):
            return False
        return {NONZERO: sign != 0, ABOVE: sign > 0, FROM: sign >= 0}[c.relation]


def samples(low: float, high: float) -> Iterator[float]:
    """Yield some points between two, which may be infinite."""
    if low == -inf and high == inf:
        yield from (0.317, -1.734, 5.23, -21.7)
    elif high == inf:
        yield from (low + d for d in (1.0137, 0.1319, 17.3, 0.00317, 211.0))
    elif low == -inf:
        yield from (high - d for d in (1.0137, 0.1319, 17.3, 0.00317, 211.0))
    else:
        yield from (low + (high - low) * d for d in (0.5, 0.317, 0.734, 0.0523, 0.957))


ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "positive", "reciprocal",
              "square", "sqrt", "rsqrt", "power", "squared_difference", "logical_and", "logical_or",
              "logical_not", "equal", "not_equal"}


def _absolute(curve: Curve, x: float, u: Term) -> Term | None:
    sign = curve.sign_at(u, x)
    return u if sign > 0 else curve.algebra.negative(u) if sign else None


def _sign(curve: Curve, x: float, u: Term) -> Term | None:
    sign = curve.sign_at(u, x)
    return curve.algebra.number(Fraction(sign)) if sign else None


def _larger(curve: Curve, x: float, u: Term, v: Term) -> Term | None:
    sign = curve.sign_at(_minus(curve.algebra, u, v), x)
    return u if sign > 0 else v if sign else None


def _smaller(curve: Curve, x: float, u: Term, v: Term) -> Term | None:
    larger = _larger(curve, x, u, v)
    return None if larger is None else v if larger is u else u


def _positive_part(curve: Curve, x: float, u: Term) -> Term | None:
    sign = curve.sign_at(u, x)
    return u if sign > 0 else curve.algebra.number(ZERO) if sign else None


def _chosen(curve: Curve, x: float, condition: Term, u: Term, v: Term) -> Term | None:
    if condition.kind == NUMBER:
        return u if condition.value else v
    (r,) = ranges(curve.algebra.table, [condition], curve.name, x, x)
    return u if float(r.low) > 0.5 else v if float(r.high) < 0.5 else None


def _level(name: str) -> Any:
    """Return the rule of a step: a number."""
    def rule(curve: Curve, x: float, u: Term) -> Term | None:
        a = curve.algebra
        (r,) = ranges(a.table, [a.table.call(TABLE[name], [u], None, ())], curve.name, x, x)
        return a.number(Fraction(int(r.low))) if bool(r.sure) and r.low == r.high else None

    return rule


BETWEEN: dict[str, Callable[..., Term | None]] = {
    "abs": _absolute, "sign": _sign, "relu": _positive_part, "maximum": _larger,
    "minimum": _smaller, "where": _chosen,
    **{name: _level(name) for name in ("floor", "ceil", "round", "trunc")}}
"""What operations are between points where they change: by a value in between."""


def _conditions(a: Algebra, entries: Sequence[Entry], known: dict[int, Term]
                ) -> Iterator[Condition]:
    """Yield what has to hold of the operands of each operation, and where formulas change."""
    sides = {i for e in entries if e[OP].name == "where" for i in e[IDS][1:] if i is not None}
    guarded = ancestry(entries, sides) if sides else set()
    seen = set()
    for entry in entries:
        rule = CONDITIONS.get(entry[OP].name)
        if rule is None:
            continue
        args = [known[i] if i is not None and i in known else constant(a, v)
                for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        for term, relation in rule(a, *args):
            constant_holds = not a.table.names([term]) and (relation == BREAK or (
                sign_of(a, term)[0] >= (relation != FROM)))
            if not constant_holds and (term.number, relation) not in seen:
                seen.add((term.number, relation))
                yield Condition(term, relation, entry[OUT] in guarded)


def _call(a: Algebra, name: str, *args: Term) -> Term:
    return a.call(TABLE[name], args, None, None)


def _minus(a: Algebra, x: Term, y: Term) -> Term:
    return a.sum_of([(x, ONE), (y, MINUS)])


def _power(a: Algebra, x: Term, y: Term) -> Iterator[tuple[Term, str]]:
    if a.table.names([y]):
        yield x, ABOVE
        return
    p = value_of(a, y)
    if p != round(p):
        yield x, FROM if p > 0 else ABOVE
    elif p < 0:
        yield x, NONZERO


def _of(relation: str, made: Callable[..., Term] | None = None) -> Any:
    """Return the rule that something holds of the operand, or of what is made of it."""
    return lambda a, *args: [(args[-1] if made is None else made(a, *args), relation)]


def _inside(a: Algebra, x: Term) -> Term:
    """Return 1 - x^2."""
    return _minus(a, a.number(ONE), a.power(x, a.number(Fraction(2))))


def _stepping(shift: Fraction) -> Any:
    """Return the rule of a step at whole numbers, shifted: there a sine is 0."""
    def rule(a: Algebra, x: Term) -> list[tuple[Term, str]]:
        pi = a.table.constant("pi")
        return [(_call(a, "sin", a.times(pi, a.add(x, a.number(shift)))), BREAK)]

    return rule


CONDITIONS: dict[str, Callable[..., Any]] = {
    "divide": _of(NONZERO), "reciprocal": _of(NONZERO), "power": _power, "sqrt": _of(FROM),
    "rsqrt": _of(ABOVE), "log": _of(ABOVE), "log2": _of(ABOVE), "log10": _of(ABOVE),
    "log1p": _of(ABOVE, lambda a, x: a.add(x, a.number(ONE))),
    "tan": _of(NONZERO, lambda a, x: _call(a, "cos", x)),
    "sec": _of(NONZERO, lambda a, x: _call(a, "cos", x)),
    "cot": _of(NONZERO, lambda a, x: _call(a, "sin", x)),
    "csc": _of(NONZERO, lambda a, x: _call(a, "sin", x)),
    "asin": _of(FROM, _inside), "acos": _of(FROM, _inside), "atanh": _of(ABOVE, _inside),
    "acosh": _of(FROM, lambda a, x: _minus(a, x, a.number(ONE))),
    "coth": _of(NONZERO), "csch": _of(NONZERO), "acsch": _of(NONZERO), "acot": _of(NONZERO),
    "mod": _of(NONZERO), "abs": _of(BREAK), "relu": _of(BREAK), "sign": _of(BREAK),
    "cbrt": _of(BREAK), "hypot": lambda a, x, y: [(x, BREAK)],
    "maximum": _of(BREAK, _minus), "minimum": _of(BREAK, _minus),
    **{name: _of(BREAK, _minus) for name in (
        "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")},
    "floor": _stepping(ZERO), "ceil": _stepping(ZERO), "round": _stepping(HALF),
    "trunc": _stepping(ZERO)}
"""By the name of the operation."""
