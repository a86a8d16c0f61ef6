"""The derivation of an answer, as a student works it out: the steps at which rules are applied.

The row of a kind derives a component by asking for one derivative after the other. Given right
ones, it is the right answer; with a `Differentiator` that errs at one step, it is a wrong answer.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.homework.checking.problem import SLOPE, is_solved, solved
from gradcli.homework.mistakes.sample import evaluated
from gradcli.homework.mistakes.sweeps import Sweeps, WrongTangents, at_all_sites
from gradcli.ops.table.elementwise import add, multiply, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from gradcli.homework.checking.problem import Differentiation, Differentiator, Reference
    from gradcli.homework.mistakes.rules import Rule
    from gradcli.homework.mistakes.sample import Sample
    from gradcli.homework.mistakes.sweeps import Key

    Made: TypeAlias = "tuple[list[Explanation], Any]"
    Pair = tuple[Differentiation, Key, Key]


class AnswerDerivation:
    """The derivations of the components of an answer."""

    __slots__ = ("_sweeps", "problem", "reference")

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.problem = reference.problem
        self._sweeps: dict[Differentiation, Sweeps] = {}

    def sweeps(self, step: Differentiation) -> Sweeps:
        """Return the sweeps of one differentiation, right and wrong."""
        found = self._sweeps.get(step)
        if found is None:
            node, name, other = step
            formula = self.reference.formula
            seeds: dict[str, int | None] = {name: formula.number(1.0)}
            if other is not None:
                seeds[other[0]] = other[1]
            found = self._sweeps[step] = Sweeps(
                formula, node, seeds, name, frozenset(self.problem.parameters))
        return found

    def right(self, step: Differentiation) -> int:
        """Return the right derivative."""
        return self.derivative(step, self.sweeps(step).right.carried[step[0]])

    def derivative(self, step: Differentiation, tangent: int | None) -> int:
        """Return the derivative that a tangent leads to: 0 for None; of an equation, solved for
        dy/dx.
        """
        formula = self.reference.formula
        if tangent is None:
            tangent = formula.number(0.0)
        return solved(formula, tangent) if is_solved(step) else tangent

    def component(self, c: int, d: Differentiator) -> int:
        """Return the node of one component, given derivatives."""
        return self.reference.kind.component(self.reference, c, d)

    def steps(self, c: int) -> list[Differentiation]:
        """Return the differentiations that a component takes, in order."""
        found: list[Differentiation] = []

        def recorded(step: Differentiation) -> int:
            found.append(step)
            return self.right(step)

        self.component(c, recorded)
        return found


# --------------------------------------------------------------------------------------------------
# What explains an answer, and how explanations are ranked.

# Levels, the strongest first: another question answered exactly, one wrong step, the same one
# everywhere, two wrong steps, and what is left: the right answer times or plus something.
WHOLE, SITE, EVERYWHERE, PAIR, LEFT = range(5)
ENOUGH = 50
BETWEEN = 60.0
"""Rank of what is less likely than a common wrong rule, and more than a rare one."""
GENERIC = frozenset((
    "sign_error", "constant_factor", "constant_added", "constant_factor_dropped",
    "right_on_part_of_domain", "rounded_constant", "not_a_formula", "not_a_number",
    "evaluated_at_wrong_point", "one_row_wrong", "other_variable_dropped"))
"""Names that fit beside others without casting doubt on them."""
SPECIFIC = frozenset((
    "components_swapped", "transposed", "mixed_partials_missing", "direction_not_normalised",
    "other_variable_not_constant", "implicit_inverted", "implicit_missing_dydx", "misread_function",
    "missing_parentheses", "slope_not_evaluated"))
"""Names that say how the whole answer came about; that a part of it fits another one is no doubt.
"""
MOST = 6


class Explanation:
    """One explanation of a wrong answer.

    level: of those above.
    rank: within its level, the likelier first.
    node: of the reference's formula, its values, if there is one.
    step, site: the differentiation and operation with a wrong rule.
    rule: that rule.
    detail: texts for the sentence.
    sure: whether it cannot be chance.
    agree: the number of points at which it fits.
    also: another mistake in the same answer.
    joint: whether the rule was used in all derivatives of the answer.
    rules: those of which one was used at every site.
    """

    __slots__ = ("agree", "also", "detail", "joint", "level", "name", "node", "rank", "rule",
                 "rules", "site", "step", "sure")

    def __init__(self, name: str, level: int, rank: float = 0.0, *, node: int | None = None,
                 step: Differentiation | None = None, site: int | None = None,
                 rule: Rule | None = None, detail: dict[str, Any] | None = None, sure: bool = True,
                 agree: int = 0, also: Explanation | None = None, joint: bool = False,
                 rules: tuple[Rule, ...] = ()) -> None:
        self.name = name
        self.level = level
        self.rank = rank
        self.node = node
        self.step = step
        self.site = site
        self.rule = rule
        self.detail = detail or {}
        self.sure = sure
        self.agree = agree
        self.also = also
        self.joint = joint
        self.rules = rules

    def replaced(self, **changes: Any) -> Explanation:
        """Return a copy with these fields replaced."""
        fields = {name: getattr(self, name) for name in Explanation.__slots__}
        fields.update(changes)
        return Explanation(fields.pop("name"), fields.pop("level"), fields.pop("rank"), **fields)


def ranked(found: Iterable[Explanation]) -> list[Explanation]:
    """Return the best explanation of each name, the best first."""
    best: dict[str, Explanation] = {}
    for one in sorted(found, key=lambda f: (f.level, f.rank)):
        best.setdefault(one.name, one)
    return list(best.values())


def confidence(found: list[Explanation], single: bool, numbers: bool) -> str:
    """Return "high" if one explanation stands out, "low" if it may be another or may be chance.

    single: whether the problem has one point. numbers: whether the answer is one number, or a line,
    which is two: many mistakes lead to these.
    """
    first = found[0]
    if numbers and any(f.name not in GENERIC or (
            f.name == "sign_error" and first.name == "evaluated_at_wrong_point")
            for f in found[1:]):
        return "low"
    specific = first.level == WHOLE and first.name in SPECIFIC
    if specific and first.name == "direction_not_normalised":
        # The right number times a length: that needs no other digits than a whole number has.
        return "low" if any(f.name not in GENERIC for f in found[1:]) else "high"
    if not first.sure or first.level >= PAIR or (first.agree < ENOUGH and not single):
        return "low"
    for other in found[1:]:
        if specific and other.name not in SPECIFIC:
            continue
        if other.name in GENERIC or (other.level == SITE and other.rank >= BETWEEN > first.rank):
            continue
        likelier = other.level == EVERYWHERE and other.rank < first.rank
        if other.level <= max(SITE, first.level) or (likelier and first.level == SITE):
            return "low"
    return "high"


# --------------------------------------------------------------------------------------------------
# One rule used wrongly at one operation, at all of them, or two rules: in numbers, at the sample.
#
# The answer to a problem is a formula of the derivatives that it takes. Where one of these is not
# differentiated again, names stand for it in that formula, and the rows of all its wrong sweeps
# replace them at once.

MAX_PAIRS = 2_000
MAX_NODES = 6_000
"""So many nodes at most are made for mistakes in a derivative that is differentiated again."""
ENDS = ((0.0, "at 0"), (1.0, "at 1"))


class Steps:
    """The last derivatives of a component, under all wrong rules."""

    __slots__ = ("_formula", "_node", "_rows", "c", "derivation", "earlier", "last", "sample")

    def __init__(self, derivation: AnswerDerivation, sample: Sample, c: int) -> None:
        self.derivation = derivation
        self.sample = sample
        self.c = c
        self._formula = derivation.reference.formula
        steps = list(dict.fromkeys(derivation.steps(c)))
        self.last = steps if len(derivation.reference.by(c)) == 1 else steps[-1:]
        self.earlier = [s for s in steps if s not in self.last]
        self._rows = {step: [self._rows_of(step, p) for p, _ in ENDS] if is_solved(step) else
                      [self._rows_of(step, 0.0)] for step in self.last}
        self._node = derivation.component(c, self._placeholder)

    def _name(self, step: Differentiation) -> str:
        return f"step {self.last.index(step)}"

    def _placeholder(self, step: Differentiation) -> int:
        """Return a name for a derivative; of an equation, dy/dx from its tangent at two slopes."""
        formula = self._formula
        if step not in self.last:
            return self.derivation.right(step)
        name = self._name(step)
        if not is_solved(step):
            return formula.leaf(name)
        low, high = [formula.leaf(f"{name} {end}") for _, end in ENDS]
        return solved(formula, formula.share(add, (low, formula.share(multiply, (
            formula.leaf(SLOPE), formula.share(subtract, (high, low)))))))

    def _rows_of(self, step: Differentiation, p: float) -> WrongTangents:
        formula, sample = self._formula, self.sample
        inputs: dict[str, Any]
        if self.derivation.reference.kind.line:  # only the slopes at the point matter
            points = 1
            inputs = {**dict.fromkeys(sample.inputs, 1.0), **self.derivation.problem.at, SLOPE: p}
        else:
            points = len(sample.columns)
            inputs = {**sample.inputs, SLOPE: np.full(points, p)}
        known: dict[int, Any] = {} if is_solved(step) or points == 1 else dict(sample.known)

        def values(nodes: list[int]) -> dict[int, Any]:
            evaluated(formula, nodes, inputs, known)
            return known

        return WrongTangents(self.derivation.sweeps(step), values, points)

    def _finished(self, rows: dict[Differentiation, list[Any]]) -> Any:
        """Return the values of the component, given rows for derivatives; the others are right."""
        count = max([len(values[0]) for values in rows.values()])
        inputs: dict[str, Any] = dict(self.sample.inputs)
        for step in self.last:
            name = self._name(step)
            values = rows.get(step) or [r.right for r in self._rows[step]]
            for (_, end), value in zip(ENDS, values, strict=False):
                inputs[f"{name} {end}" if is_solved(step) else name] = value
        known = dict(self.sample.known)
        made, = evaluated(self._formula, [self._node], inputs, known)
        return np.broadcast_to(made, (count, len(self.sample.columns)))

    def singles(self) -> Made:
        """Return explanations by one rule at one site, and their values; of several derivatives of
        one function, in one or in all.
        """
        return self._each({step: [(r.keys, r.values) for r in rows]
                           for step, rows in self._rows.items()}, SITE)

    def doubles(self) -> Made:
        """Return explanations by two mistakes at one site, and their values."""
        return self._each({step: [r.doubles() for r in rows]
                           for step, rows in self._rows.items()}, PAIR)

    def _each(self, made: dict[Differentiation, list[tuple[list[Key], Any]]], level: int) -> Made:
        """Return explanations by each key, and their values.

        made: for each derivative and each of its ends, keys and rows. level: of the explanations.
        """
        found: list[Explanation] = []
        values: list[Any] = []
        for number, step in enumerate(self.last):
            keys = made[step][0][0]
            if keys:
                found += [_by_rule(level, number / 100, step, key) for key in keys]
                values.append(self._finished({step: [rows for _, rows in made[step]]}))
        if len(self.last) > 1 and len({step[0] for step in self.last}) == 1:
            keys = list(dict.fromkeys([key for step in self.last for key in made[step][0][0]]))
            if keys:
                found += [_by_rule(level, -0.5, self.last[0], key, joint=True) for key in keys]
                values.append(self._finished({
                    step: [_chosen(some, rows, keys, r.right) for (some, rows), r in zip(
                        made[step], self._rows[step], strict=True)] for step in self.last}))
        return found, _joined(values, self.sample)

    def everywhere(self) -> Made:
        """Return explanations by one rule at all sites of the last derivatives, with values."""
        several = list(dict.fromkeys([n for step in self.last
                                      for n in self._rows[step][0].everywhere]))
        if not several:
            return [], _joined([], self.sample)
        rows = {step: [np.stack([r.everywhere.get(n, r.right) for n in several])
                       for r in self._rows[step]] for step in self.last}
        return [self._everywhere(rules) for rules in several], self._finished(rows)

    def _everywhere(self, rules: tuple[Rule, ...]) -> Explanation:
        """Return the explanation by rules at all sites, described at the first of them."""
        step, rule, site = next(
            (step, *key) for step in self.last for key in self._rows[step][0].keys
            if key[0] in rules)
        return Explanation(rule.name, EVERYWHERE, rule.rank, step=step, rule=rule, site=site,
                           rules=rules)

    def pairs(self) -> tuple[list[Explanation | Pair], Any]:
        """Return explanations by two rules at two sites, one inside of the other, with values."""
        found: list[Explanation | Pair] = []
        values: list[Any] = []
        for step in self.last:
            made = [r.pairs(MAX_PAIRS) for r in self._rows[step]]
            keys = made[0][0]
            if keys:
                found += [(step, one, other) for one, other in keys]
                values.append(self._finished({step: [rows for _, rows in made]}))
        return found, _joined(values, self.sample)

    def in_earlier(self) -> list[Explanation]:
        """Return explanations by mistakes in derivatives that are then differentiated rightly."""
        derivation, c, formula = self.derivation, self.c, self._formula
        limit = len(formula.ops) + MAX_NODES
        found: list[Explanation] = []
        for step in self.earlier:
            for rule, site, tangent in derivation.sweeps(step).singles():
                if len(formula.ops) > limit:
                    return found
                wrong = derivation.derivative(step, tangent)
                found.append(Explanation(rule.name, SITE, rule.rank + 0.5, step=step, site=site,
                                         rule=rule, node=derivation.component(
                                             c, _instead(derivation, step, wrong))))
        first = {one.rule: one for one in reversed(found) if one.rule is not None}
        for rules in at_all_sites([one.rule for one in found if one.rule is not None]):
            if len(formula.ops) > limit:
                return found
            one = first[rules[0]]
            found.append(one.replaced(level=EVERYWHERE, rules=rules, node=derivation.component(
                c, _at_all(derivation, rules))))
        return found


def _by_rule(level: int, rank: float, step: Differentiation, key: Key, joint: bool = False
             ) -> Explanation:
    """Return the explanation by a rule at a site; of two mistakes there, by both."""
    rule, site = key
    second = rule.second
    return Explanation(rule.name, level, rule.rank + rank, step=step, site=site, rule=rule,
                       joint=joint,
                       also=None if second is None else Explanation(
                           second.name, SITE, second.rank, step=step, site=site, rule=second))


def _chosen(some: list[Key], rows: Any, keys: list[Key], right: Any) -> Any:
    """Return the rows of some keys, in the order of all; the right tangent for missing keys."""
    at = {key: k for k, key in enumerate(some)}
    return np.stack([rows[at[key]] if key in at else right for key in keys])


def _joined(values: list[Any], sample: Sample) -> Any:
    return np.concatenate(values) if values else np.empty((0, len(sample.columns)))


def pair(step: Differentiation, one: Key, other: Key) -> Explanation:
    """Return the explanation by two rules used wrongly, the likelier mistake first."""
    first, second = [Explanation(rule.name, SITE, rule.rank, step=step, site=site, rule=rule)
                     for rule, site in sorted((one, other), key=lambda key: key[0].rank)]
    return first.replaced(level=PAIR, rank=first.rank + second.rank, also=second)


def _instead(derivation: AnswerDerivation, step: Differentiation, wrong: int) -> Any:
    return lambda s: wrong if s == step else derivation.right(s)


def _at_all(derivation: AnswerDerivation, rules: tuple[Rule, ...]) -> Any:
    return lambda s: derivation.derivative(s, derivation.sweeps(s).everywhere(rules))


def node_of(derivation: AnswerDerivation, c: int, found: Explanation) -> int:
    """Return the node of a component under the mistakes of an explanation."""
    if found.node is not None:
        return found.node
    step = found.step
    assert step is not None
    if found.level == EVERYWHERE:
        return derivation.component(c, _at_all(derivation, found.rules))
    assert found.rule is not None
    assert found.site is not None
    rule, site = found.rule, found.site
    if found.joint:
        return derivation.component(
            c, lambda s: derivation.derivative(s, derivation.sweeps(s).single(rule, site)))
    other = found.also
    if found.level == PAIR and other is not None and other.site != site:
        assert other.rule is not None
        assert other.site is not None
        first, second = sorted(((rule, site), (other.rule, other.site)), key=lambda key: key[1])
        tangent = derivation.sweeps(step).pair(first, second)
    else:
        tangent = derivation.sweeps(step).single(rule, site)
    return derivation.component(c, _instead(
        derivation, step, derivation.derivative(step, tangent)))
