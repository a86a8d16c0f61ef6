"""Forward sweeps in which one operation, or all of a kind, are differentiated by a wrong rule.

Forward, since wrong rules are not linear in the adjoint: u'v' cannot be told in a reverse sweep.
The values stay right, and so do the tangents of all that does not depend on the wrong one.
"""

from __future__ import annotations

from gradcli.sweeps.formula import Tangents
from gradcli.sweeps.site import Site
from gradcli.sweeps.wrong_rules import DOUBLE, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gradcli.sweeps.wrong_rules import Rule
    from gradcli.tape.formula import Formula


class Sweeps:
    """All wrong sweeps over what one node is made of.

    right: the right tangents; node: whose tangent it is about.
    """

    __slots__ = ("_after", "formula", "node", "order", "parameters", "right", "variable")

    def __init__(self, formula: Formula, node: int, seeds: Mapping[str, int | None], variable: str,
                 parameters: frozenset[str] = frozenset()) -> None:
        """seeds: name to the node of its tangent. variable: what students call x."""
        self.formula = formula
        self.node = node
        self.variable = variable
        self.parameters = parameters
        self.order = [k for k in formula.needed([node]) if formula.ops[k] is not None]
        self.right = Tangents(formula, seeds)
        self.right.of(node)
        self._after: dict[int, list[int]] = {}

    def singles(self) -> Iterator[tuple[Rule, int, int | None]]:
        """(rule, site, tangent of the node) for each rule at each site that it changes."""
        carried = self.right.carried
        for k in self.order:
            site = self._site(k, carried)
            for rule in self._rules(k):
                made = rule.at(site)
                if made is not None and made.number != carried[k]:
                    yield rule, k, self._passed_on({k: made.number})

    def single(self, rule: Rule, k: int) -> int | None:
        """The tangent of the node under one rule at one site; the right one where that does not
        apply.
        """
        made = rule.at(self._site(k, self.right.carried))
        if made is None:
            return self.right.carried[self.node]
        return self._passed_on({k: made.number})

    def pair(self, one: tuple[Rule, int], other: tuple[Rule, int]) -> int | None:
        """The tangent under two wrong rules at two sites, the first site before the second."""
        (rule, k), (second, later) = one, other
        made = rule.at(self._site(k, self.right.carried))
        if made is None:
            return None
        return self._swept({k: made.number}, {later: second})

    def everywhere(self, rules: Sequence[Rule]) -> int | None:
        """The tangent where the first of some rules that applies is used at every site; the right
        one where none does.
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
        """The nodes that depend on a node, in order."""
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
    """The rules that are for the operation of a node."""
    op = formula.ops[k]
    assert op is not None
    found = known.get(op.name)
    if found is None:
        found = known[op.name] = [r for r in rules if not r.rows or op.name in r.rows]
    return found


def at_all_sites(rules: Iterable[Rule]) -> list[tuple[Rule, ...]]:
    """What somebody may do wrong at every site: the rules of one name, whichever applies, and,
    where a name has several, each of them.
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
