"""The rules of differentiation as a class has them: each a name, and an equation between terms.

A rule is a pair of functions of its parts, called twice: with letters they give the general rule,
(u*v)' = u'*v + u*v', with what stands in a formula a step. Source: any first course, such as
Stewart, Calculus, chapter 3.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.base.errors import error
from gradcli.formulas.build import TermReplay
from gradcli.formulas.rewrites import rebuilt
from gradcli.formulas.sharing import negative_power
from gradcli.formulas.terms import CALL, HALF, MINUS, NAME, NUMBER, ONE, PRODUCT, SUM, ZERO
from gradcli.formulas.textbook import textbook
from gradcli.ops import TABLE
from gradcli.ops.kinds import FLAT, STOP
from gradcli.questions.steps.trace import BASE, CONSTANT, GENERAL, NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term

    Make = Callable[..., Term]

MARK = "\0"
"""Begins the names that no file has: letters of rules, and derivatives that are to be taken."""
FUNCTIONS, EXPONENTS, CONSTANTS = "uvwpqrsfgh", "nmk", "cab"
"""Letters of what depends on x, and of what does not, where a file has not names of its own so."""
SHOWN = 3
"""So many letters stand in a general rule."""
MOST = 500
"""A file with names of its own for so many letters has not one that is free."""
CHAIN = "chain rule, "


class Rule:
    """A rule at work. parts: what stands for its letters. left, right: of the parts, what is
    differentiated and what becomes of it. kinds: u for a letter of what depends on x, n and c for
    those of numbers.
    """

    __slots__ = ("kinds", "left", "name", "parts", "right")

    def __init__(self, name: str, parts: Sequence[Term], left: Make, right: Make,
                 kinds: str = SHOWN * "u") -> None:
        self.name = name
        self.parts = list(parts)
        self.left = left
        self.right = right
        self.kinds = kinds


class Rules:
    """The rules for derivatives by x.

    dependent: names of functions of x to the terms of their derivatives, which stay. pending: names
    of derivatives that are still to be taken to what they are of. free: kind of letters to those
    that no name of the file is.
    """

    __slots__ = ("_varying", "algebra", "dependent", "free", "pending", "x")

    def __init__(self, algebra: Algebra, x: Term, dependent: Mapping[Term, Term] | None = None
                 ) -> None:
        self.algebra = algebra
        self.x = x
        self.dependent = dict(dependent or {})
        self.pending: dict[str, Term] = {}
        self.free = {kind: [
            name for name in (*letters, *[f"{kind}{k}" for k in range(1, SHOWN + 1)], *[
                f"{kind}_{k}" for k in range(1, MOST)]) if not algebra.table.has_name(name)]
            for kind, letters in (("c", CONSTANTS), ("n", EXPONENTS), ("u", FUNCTIONS))}
        for letter in (*self.free["c"], *self.free["n"]):
            algebra.table.name(MARK + letter)       # which stand first in products
        self._varying = {x, *self.dependent, *[
            algebra.table.name(MARK + letter) for letter in self.free["u"]]}

    def letters(self, rule: Rule) -> list[Term]:
        """Return the terms of the letters of a general rule."""
        kinds = rule.kinds[:len(rule.parts)]
        return [self.algebra.table.name(MARK + self.free[kind][kinds[:k].count(kind)])
                for k, kind in enumerate(kinds)]

    def varies(self, term: Term) -> bool:
        """Return whether a term depends on x."""
        return any(t in self._varying for t in self.algebra.table.of([term]) if t.kind == NAME)

    def derivative(self, term: Term) -> Term:
        """Return the derivative of a term where nobody would write a step, of a constant, of x and
        of multiples; else the name of what is still to be taken.
        """
        a = self.algebra
        if not self.varies(term):
            return a.number(ZERO)
        if term is self.x:
            return a.number(ONE)
        if term in self.dependent:
            return self.dependent[term]
        factor, rest = self._constant(term)
        if rest is not term:
            return a.times(factor, self.derivative(rest))
        return self.taken(term)

    def taken(self, term: Term) -> Term:
        """Return the name of a derivative that is still to be taken."""
        name = f"{MARK}{term.number}"
        self.pending[name] = term
        return self.algebra.table.name(name)

    def _constant(self, term: Term) -> tuple[Term, Term]:
        """Return the factor of a term that does not depend on x, and the rest."""
        a = self.algebra
        still = [item for item in term.items if not any(map(self.varies, item))] if (
            term.kind == PRODUCT) else []
        if not still and (term.kind != PRODUCT or term.value == 1):
            return a.number(ONE), term
        return a.times(a.number(term.value), a.product_of(still)), a.product_of([
            item for item in term.items if item not in still])

    # ---- which rule ----------------------------------------------------------------------------

    def rule(self, term: Term) -> Rule:
        """Return the rule for a term. Raises E0804 for operations on arrays."""
        a, d = self.algebra, self.derivative
        if term.shape or (term.kind == CALL and not term.operation.elementwise and (
                term.operation.kind not in (FLAT, STOP))):
            raise error("E0804", "a derivation with letters is of formulas of numbers",
                        help="give the values of arrays with --at: then steps are of numbers")
        if not self.varies(term):
            return Rule("constant rule", [term], lambda c: c, lambda c: a.number(ZERO), "c")
        if term is self.x:
            return Rule("derivative of x", [], lambda: term, lambda: a.number(ONE))
        if term.kind == SUM:
            return Rule(NAMES["add"], self._summands(term), a.add,
                        lambda *u: a.add(*map(d, u)))
        factor, rest = self._constant(term)
        if rest is not term:
            return Rule(CONSTANT, [factor, rest], a.times, lambda c, u: a.times(c, d(u)), "cu")
        if term.kind == PRODUCT:
            return self._product(term)
        if term.is_call("where"):
            def chosen(u: Term, v: Term) -> Term:
                return a.call(term.operation, [term.args[0], u, v], {}, ())

            return Rule(NAMES["where"], term.args[1:], chosen, lambda u, v: chosen(d(u), d(v)))
        return self._call(term)

    def _summands(self, term: Term) -> list[Term]:
        """Return the summands in the order in which they were written."""
        a = self.algebra
        by_term = dict(term.items)
        written = a.table.written.get(term.number) or [*by_term, None]
        return [part for part in [
            a.number(term.value) if t is None else a.times(a.number(by_term[t]), t)
            for t in written] if not part.is_number(0)]

    def _product(self, term: Term) -> Rule:
        a, d = self.algebra, self.derivative
        if len(term.items) == 1:
            return self._power(*term.items[0])
        up = [a.power(b, e) for b, e in term.items if not negative_power(e)]
        below = a.product_of([(b, a.times(e, a.number(MINUS))) for b, e in term.items
                              if negative_power(e)])
        if below.is_number(1):
            return Rule(NAMES["multiply"], up, a.times, lambda *u: a.add(*[
                a.times(*u[:k], d(one), *u[k + 1:]) for k, one in enumerate(u)]))
        if not up:
            return self._reciprocal(below)
        return Rule(NAMES["divide"], [a.times(*up), below], self._over, lambda u, v: self._over(
            a.add(a.times(d(u), v), a.negative(a.times(u, d(v)))), v, 2))

    def _power(self, base: Term, exponent: Term) -> Rule:
        a, d = self.algebra, self.derivative
        log = TABLE["log"]
        if self.varies(base) and self.varies(exponent):
            return Rule(GENERAL, [base, exponent], a.power, lambda u, v: a.times(
                a.power(u, v), a.add(a.times(d(v), a.call(log, [u], None, None)),
                                     a.times(v, self._over(d(u), u)))))
        if self.varies(exponent):
            return self._inner(BASE, exponent, lambda u: a.power(base, u), lambda u: a.times(
                a.power(base, u), a.call(log, [base], None, None), d(u)))
        if exponent.is_number(-1) and base is not self.x:
            return self._reciprocal(base)
        if exponent.kind == NUMBER and exponent.value == HALF:
            return self._inner("derivative of sqrt", base, lambda u: a.power(u, exponent),
                               lambda u: a.times(a.number(HALF), a.power(u, a.number(-HALF)), d(u)))
        return self._inner(NAMES["power"], base, a.power, lambda u, n: a.times(
            n, a.power(u, a.add(n, a.number(MINUS))), d(u)), exponent)

    def _reciprocal(self, below: Term) -> Rule:
        a = self.algebra
        return Rule("reciprocal rule", [below], lambda u: self._over(a.number(ONE), u),
                    lambda u: self._over(a.negative(self.derivative(u)), u, 2))

    def _call(self, term: Term) -> Rule:
        """Return the rule of an operation: its slopes times what is inside."""
        a, op = self.algebra, term.operation
        moving = [k for k, arg in enumerate(term.args) if self.varies(arg) and op.edge(k)]
        name = NAMES.get(op.name) or (
            "step function" if op.kind == FLAT else f"derivative of {op.name}")

        def call(*u: Term) -> Term:
            given = list(term.args)
            for k, one in zip(moving, u, strict=True):
                given[k] = one
            return a.call(op, given, term.attributes, ())

        def right(*u: Term) -> Term:
            return a.add(*[a.times(slope(a, term, k, call(*u)), self.derivative(one))
                           for k, one in zip(moving, u, strict=True)])

        args = [term.args[k] for k in moving]
        return self._inner(name, args[0], call, right) if len(args) == 1 else Rule(
            f"{CHAIN if args else ''}{name}", args, call, right)

    def _inner(self, name: str, arg: Term, left: Make, right: Make, *more: Term) -> Rule:
        """Return the rule of a function of one term, by the chain rule unless that is x itself."""
        if arg is self.x:
            return Rule(name, more, lambda *n: left(arg, *n), lambda *n: right(arg, *n), "n")
        return Rule(CHAIN + name, [arg, *more], left, right, "un")

    def _over(self, above: Term, below: Term, power: int = 1) -> Term:
        a = self.algebra
        return a.times(above, a.power(below, a.number(Fraction(-power))))


def slope(a: Algebra, term: Term, k: int, at: Term) -> Term:
    """Return the partial derivative of an operation in argument k as its row has it. at: the same
    operation on the arguments where it is wanted.
    """
    names = [f"{MARK}a{j}" for j in range(len(term.args))]
    given = [a.table.name(name) for name in names]
    made = a.call(term.operation, given, term.attributes, ())
    replay = TermReplay(a, {name: 0.37 + 0.21 * j for j, name in enumerate(names)})
    (found,) = replay.gradient(made, [names[k]])
    return a.number(ZERO) if found is None else substituted(
        a, textbook(a, found, [made]), dict(zip(given, at.args, strict=True)))


def substituted(a: Algebra, term: Term, other: Mapping[Term, Term]) -> Term:
    """Return a term with other terms in place of some of its parts; sums keep their order."""
    found: dict[int, Term] = {}
    for one in a.table.of([term]):
        made = found[one.number] = other[one] if one in other else rebuilt(
            a, one, found, lambda t, args: a.call(t.operation, args, t.attributes, t.shape))
        if made.kind == SUM and one.kind == SUM and made is not one:
            _keep_order(a, one, made, found)
    return found[term.number]


def _keep_order(a: Algebra, before: Term, after: Term, found: Mapping[int, Term]) -> None:
    """Note in which order the summands of a sum are to stand, by those that they come from."""
    order: list[Term | None] = []
    rest: dict[Term | None, None] = {t: None for t, _ in after.items}
    if after.value:
        rest[None] = None
    for t in a.table.written.get(before.number) or [*dict(before.items), None]:
        made = None if t is None else found[t.number]
        for core in [made, None if made is None else a.split(made)[1], *(
                [p for p, _ in made.items] if made is not None and made.kind == SUM else [])]:
            if core in rest:
                del rest[core]
                order.append(core)
    a.table.written.setdefault(after.number, [*order, *rest])
