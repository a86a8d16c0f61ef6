"""Forward sweeps in which one operation, or all of a kind, are differentiated by a wrong rule.

Forward, since wrong rules are not linear in the adjoint: a reverse sweep cannot express u'v'. The
values stay right, and so do the tangents of all that does not depend on the wrong one.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.formulas.nodes import Tangents, partial
from gradcli.homework.mistakes.rules import DOUBLE, RULES
from gradcli.homework.mistakes.site import OperandValues, Site, ValuedSite, slope_at, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.homework.mistakes.rules import Rule

    Key = tuple[Rule, int]


class Sweeps:
    """All wrong sweeps over the operands of one node, direct and indirect.

    right: the right tangents; node: the one whose tangent is wanted.
    """

    __slots__ = ("_after", "formula", "node", "order", "parameters", "right", "variable")

    def __init__(self, formula: Formula, node: int, seeds: Mapping[str, int | None], variable: str,
                 parameters: frozenset[str] = frozenset()) -> None:
        """Sweep once with the right rules.

        seeds: name to the node of its tangent. variable: the name that students give to x.
        """
        self.formula = formula
        self.node = node
        self.variable = variable
        self.parameters = parameters
        self.order = [k for k in formula.needed([node]) if formula.ops[k] is not None]
        self.right = Tangents(formula, seeds)
        self.right.of(node)
        self._after: dict[int, list[int]] = {}

    def singles(self) -> Iterator[tuple[Rule, int, int | None]]:
        """Yield (rule, site, tangent of the node) for each rule at each site that it changes."""
        carried = self.right.carried
        for k in self.order:
            site = self._site(k, carried)
            for rule in self._rules(k):
                made = rule.at(site)
                if made is not None and made.number != carried[k]:
                    yield rule, k, self._passed_on({k: made.number})

    def single(self, rule: Rule, k: int) -> int | None:
        """Return the tangent of the node under one rule at one site; the right one if it cannot
        apply.
        """
        made = rule.at(self._site(k, self.right.carried))
        if made is None:
            return self.right.carried[self.node]
        return self._passed_on({k: made.number})

    def pair(self, one: tuple[Rule, int], other: tuple[Rule, int]) -> int | None:
        """Return the tangent under two wrong rules at two sites, the earlier site first."""
        (rule, k), (second, later) = one, other
        made = rule.at(self._site(k, self.right.carried))
        if made is None:
            return None
        return self._swept({k: made.number}, {later: second})

    def everywhere(self, rules: Sequence[Rule]) -> int | None:
        """Return the tangent with the first rule that applies at every site; the right one without
        any.
        """
        tangents = Tangents(self.formula, {})
        tangents.carried = carried = dict(self.right.carried)
        for k in self.order:
            carried[k] = tangents.of_node(k)
            site = self._site(k, carried)
            for rule in rules:
                made = rule.at(site)
                if made is not None:
                    carried[k] = made.number
                    break
        return carried[self.node]

    def _rules(self, k: int) -> list[Rule]:
        return _of_row(self.formula, k, _by_row, RULES)

    def _doubles(self, k: int) -> list[Rule]:
        return _of_row(self.formula, k, _doubles_by_row, DOUBLE)

    def _site(self, k: int, carried: dict[int, int | None]) -> Site:
        return Site(self.formula, k, carried, self.variable, self.parameters)

    def _downstream(self, k: int) -> list[int]:
        """Return the nodes that depend on a node, in order."""
        after = self._after.get(k)
        if after is None:
            args = self.formula.args
            reached = {k}
            after = self._after[k] = []
            for other in self.order:
                if other > k and not reached.isdisjoint(args[other]):
                    reached.add(other)
                    after.append(other)
        return after

    def _passed_on(self, changed: dict[int, int | None]) -> int | None:
        return self._swept(changed, {})

    def _swept(self, changed: dict[int, int | None], rules: dict[int, Rule]) -> int | None:
        tangents = Tangents(self.formula, {})
        tangents.carried = carried = {**self.right.carried, **changed}
        first = min(changed)
        after = self._downstream(first)
        for k in after:
            carried[k] = tangents.of_node(k)
            if k in rules:
                made = rules[k].at(self._site(k, carried))
                if made is None:
                    return None
                carried[k] = made.number
        return carried[self.node]


_by_row: dict[str, list[Rule]] = {}
_doubles_by_row: dict[str, list[Rule]] = {}


def _of_row(formula: Formula, k: int, known: dict[str, list[Rule]], rules: tuple[Rule, ...]
            ) -> list[Rule]:
    """Return the rules for the operation of a node. known: cache by the name of the operation."""
    op = formula.ops[k]
    assert op is not None
    found = known.get(op.name)
    if found is None:
        found = known[op.name] = [r for r in rules if not r.rows or op.name in r.rows]
    return found


def at_all_sites(rules: Iterable[Rule]) -> list[tuple[Rule, ...]]:
    """Return the rules that somebody may use at every site: those of one name, whichever applies,
    and, where a name has several, each of them alone.
    """
    by_name: dict[str, list[Rule]] = {}
    for rule in dict.fromkeys(rules):
        by_name.setdefault(rule.name, []).append(rule)
    found: list[tuple[Rule, ...]] = []
    for same in by_name.values():
        same.sort(key=lambda rule: rule.rank)
        found.append(tuple(same))
        if len(same) > 1:
            found += [(rule,) for rule in same]
    return found


# --------------------------------------------------------------------------------------------------
# Wrong sweeps in numbers: what all rules at all sites give at a few points, without new formulas.
#
# A wrong tangent at a site is a row of values; all rows of a site go through the rest of the sweep
# together, and meet the wrong rules of the operations on their way: so pairs cost little more.

LONG = 48
"""So many operations at most are swept site by site."""


class WrongTangents:
    """The wrong tangents of a node under one rule at one site each, at some points.

    keys: (rule, site) of each row of `values`.
    right: the right tangent there.
    everywhere: tuples of rules to the row with the first of them that applies at each site, where
        there are several sites.
    """

    __slots__ = ("_carried", "_known", "_partials", "_points", "_sweeps", "everywhere", "keys",
                 "right", "values")

    def __init__(self, sweeps: Sweeps, evaluated: Callable[[list[int]], Mapping[int, Any]],
                 points: int) -> None:
        """Evaluate the sweeps.

        evaluated: function from nodes to the values of these and of all their operands, by node.
        """
        self._sweeps = sweeps
        self._points = points
        formula = sweeps.formula
        carried = sweeps.right.carried
        tangents = [t for k in sweeps.order if (t := carried[k]) is not None]
        slopes = [p for k in sweeps.order for place, a in enumerate(formula.args[k])
                  if carried[a] is not None and type(p := partial(formula, k, place)) is int]
        leaves = [t for k, t in carried.items() if formula.ops[k] is None and t is not None]
        self._known = dict(evaluated([
            sweeps.node, formula.leaf(sweeps.variable), *tangents, *slopes, *leaves]))
        # Constants inside of exponents, which no tangent needs.
        missing = [a for k in sweeps.order for a in formula.args[k] if a not in self._known]
        if missing:
            self._known.update(evaluated(missing))
        self._partials: dict[tuple[int, int], Any] = {}
        self._carried = {k: None if t is None else OperandValues(formula, t, self._known[t])
                         for k, t in carried.items()}
        top = self._carried[sweeps.node]
        self.right = np.broadcast_to(0.0 if top is None else top.seen, (points,))
        self.keys, self.values = self._each(sweeps._rules)
        with np.errstate(all="ignore"):
            self.everywhere = self._everywhere()

    def _each(self, rules: Callable[[int], list[Rule]]) -> tuple[list[Key], Any]:
        """Return each rule at each site, and the rows."""
        keys: list[Key] = []
        made: list[Any] = []
        adjoints = self._adjoints() if self._is_long() else None
        with np.errstate(all="ignore"):
            for k in self._sweeps.order:
                found = self._at(k, rules(k))
                if found:
                    keys += [(rule, k) for rule, _ in found]
                    rows = self._stacked([t for _, t in found])
                    made.append(self._forward(k, rows) if adjoints is None else
                                self._moved(adjoints[k], k, rows))
        return keys, np.concatenate(made) if made else np.empty((0, self._points))

    def doubles(self) -> tuple[list[Key], Any]:
        """Return two mistakes at one site, and the rows."""
        return self._each(self._sweeps._doubles)

    def _is_long(self) -> bool:
        """Return whether forward sweeps from each site, and pairs of sites, are too much."""
        return len(self._sweeps.order) > LONG

    def _moved(self, adjoint: Any, k: int, rows: Any) -> Any:
        """Return tangents of the node, given wrong ones of a site: all after it is linear."""
        right = self._carried[k]
        moved = rows if right is None else rows - right.seen
        return np.broadcast_to(self.right + adjoint * moved, rows.shape)

    def _site(self, k: int, carried: Mapping[int, Any]) -> ValuedSite:
        sweeps = self._sweeps
        return ValuedSite(sweeps.formula, k, carried, sweeps.variable, sweeps.parameters,
                          self._known)

    def _at(self, k: int, rules: list[Rule]) -> list[tuple[Rule, Any]]:
        """Return the rules that apply at a site, and the values of their tangents."""
        site = self._site(k, self._carried)
        found = []
        for rule in rules:
            made = rule.at(site)
            if made is not None:
                found.append((rule, values_of(made)))
        return found

    def _stacked(self, values: list[Any]) -> Any:
        rows = np.empty((len(values), self._points))
        for k, value in enumerate(values):
            rows[k] = value
        return rows

    def _partial(self, k: int, place: int) -> Any:
        """Return the right partial derivative of a node."""
        key = k, place
        if key not in self._partials:
            formula = self._sweeps.formula
            op = formula.ops[k]
            assert op is not None
            self._partials[key] = slope_at(op, [self._known[a] for a in formula.args[k]], place)
        return self._partials[key]

    def _tangent(self, k: int, carried: Mapping[int, Any]) -> Any:
        """Return the tangent of a node by the right rule, with any tangents of the operands."""
        total: Any = 0.0
        for place, a in enumerate(self._sweeps.formula.args[k]):
            t = carried[a]
            if t is not None:
                total = total + values_of(t) * self._partial(k, place)
        return total

    def _forward(self, k: int, rows: Any) -> Any:
        """Return tangents of the node, given wrong ones of a site, a row each."""
        formula, sweeps = self._sweeps.formula, self._sweeps
        carried = dict(self._carried)
        carried[k] = OperandValues(formula, -1, rows)
        for later in sweeps._downstream(k):
            carried[later] = OperandValues(formula, -1, self._tangent(later, carried))
        return np.broadcast_to(values_of(carried[sweeps.node]), rows.shape)

    def _everywhere(self) -> dict[tuple[Rule, ...], Any]:
        sweeps, formula = self._sweeps, self._sweeps.formula
        places: dict[Rule, set[int]] = {}
        for rule, k in self.keys:
            places.setdefault(rule, set()).add(k)
        found: dict[tuple[Rule, ...], Any] = {}
        for rules in at_all_sites(places):
            sites = set().union(*[places[rule] for rule in rules])
            if len(sites) < 2:
                continue
            carried = dict(self._carried)
            made_up: set[int] = set()       # tangents where the right rules have none
            for k in sweeps.order:
                if carried[k] is not None or not made_up.isdisjoint(formula.args[k]):
                    carried[k] = OperandValues(formula, -1, self._tangent(k, carried))
                    made_up.add(k)
                if k in sites:
                    site = self._site(k, carried)
                    made = next((m for rule in rules if (m := rule.at(site)) is not None), None)
                    if made is not None:
                        carried[k] = OperandValues(formula, -1, values_of(made))
                        made_up.add(k)
            found[rules] = np.broadcast_to(values_of(carried[sweeps.node]), (self._points,))
        return found

    def pairs(self, most: int) -> tuple[list[tuple[Key, Key]], Any]:
        """Return pairs of rules of which one is used inside of the other, and their rows."""
        sweeps, formula = self._sweeps, self._sweeps.formula
        if self._is_long():
            return [], np.empty((0, self._points))
        adjoints = self._adjoints()
        rules_at: dict[int, list[Rule]] = {}
        for rule, k in self.keys:
            rules_at.setdefault(k, []).append(rule)
        keys: list[tuple[Key, Key]] = []
        made: list[Any] = []
        with np.errstate(all="ignore"):
            for k, inner in rules_at.items():
                site = self._site(k, self._carried)
                rows = self._stacked([values_of(rule.at(site)) for rule in inner])
                carried = dict(self._carried)
                carried[k] = OperandValues(formula, -1, rows)
                after = sweeps._downstream(k)
                for later in after:
                    carried[later] = OperandValues(formula, -1, self._tangent(later, carried))
                top = values_of(carried[sweeps.node])
                for later in after:
                    outer = self._site(later, carried)
                    for rule in rules_at.get(later, ()):
                        wrong = rule.at(outer)
                        if wrong is None or len(keys) > most:
                            continue
                        moved = adjoints[later] * (values_of(wrong) - values_of(carried[later]))
                        made.append(np.broadcast_to(top + moved, rows.shape))
                        keys += [((one, k), (rule, later)) for one in inner]
        return keys, np.concatenate(made) if made else np.empty((0, self._points))

    def _adjoints(self) -> dict[int, Any]:
        """Return the derivative of the node's tangent by that of each site."""
        sweeps, args = self._sweeps, self._sweeps.formula.args
        found: dict[int, Any] = dict.fromkeys(sweeps.order, 0.0)
        found[sweeps.node] = 1.0
        with np.errstate(all="ignore"):
            for k in reversed(sweeps.order):
                for place, a in enumerate(args[k]):
                    if a in found and self._carried[a] is not None:
                        found[a] = found[a] + found[k] * self._partial(k, place)
        return found
