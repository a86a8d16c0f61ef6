"""Wrong sweeps in numbers: what all rules at all sites give at a few points, without new formulas.

A wrong tangent at a site is a row of values; all rows of a site go through the rest of the sweep
together, and meet the wrong rules of the operations on their way: so pairs cost little more.
"""

from __future__ import annotations

from gradcli.ops import lookup
from gradcli.ops.elementwise import divide, power
from gradcli.ops.lazy import np
from gradcli.sweeps.formula import partial, template
from gradcli.sweeps.rounding import _value
from gradcli.sweeps.site import Site
from gradcli.tape.formula import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.ops.kinds import Op
    from gradcli.sweeps.wrong_rules import Rule
    from gradcli.sweeps.wrong_tangents import Sweeps
    from gradcli.tape.formula import Formula

    Key = tuple[Rule, int]


class Seen(Node):
    """An operand with its values. number: of its node, -1 if there is none."""

    __slots__ = ("seen",)

    def __init__(self, formula: Formula, number: int, seen: Any) -> None:
        self.formula = formula
        self.number = number
        self.seen = seen

    @property
    def value(self) -> float | None:
        return self.seen if isinstance(self.seen, float) else None

    def __add__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, self.seen + _of(other))

    def __radd__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, other + self.seen)

    def __sub__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, self.seen - _of(other))

    def __rsub__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, other - self.seen)

    def __mul__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, self.seen * _of(other))

    def __rmul__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, other * self.seen)

    def __truediv__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, _value(divide, (self.seen, _of(other))))

    def __rtruediv__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, _value(divide, (_of(other), self.seen)))

    def __pow__(self, other: Any) -> Seen:
        return Seen(self.formula, -1, _power(self.seen, _of(other)))

    def __neg__(self) -> Seen:
        return Seen(self.formula, -1, -self.seen)


def _of(operand: Any) -> Any:
    return operand.seen if operand.__class__ is Seen else operand


def _power(x: Any, n: Any) -> Any:
    if isinstance(n, float):
        if n == 1:
            return x
        if n == 0:
            return 1.0
    return _value(power, (x, n))


class SeenSite(Site):
    """A site whose operands have values. known: those of all nodes."""

    __slots__ = ("known",)

    def __init__(self, formula: Formula, k: int, carried: Mapping[int, Any], variable: str,
                 parameters: frozenset[str], known: Mapping[int, Any]) -> None:
        self.known = known
        super().__init__(formula, k, carried, variable, parameters)

    def node(self, k: int) -> Seen:
        return Seen(self.formula, k, self.known[k])

    def tangent(self, node: Node) -> Seen | None:
        return self.carried.get(node.number)

    def number(self, value: float) -> Seen:
        return Seen(self.formula, -1, value)

    def call(self, name: str, *operands: Node) -> Seen:
        op = lookup(name)
        assert op is not None
        return Seen(self.formula, -1, _value(op, [_of(o) for o in operands]))

    def slope(self, op: Op, operands: tuple[Node, ...], place: int = 0) -> Seen:
        return Seen(self.formula, -1, _slope(op, [_of(o) for o in operands], place))

    def folded(self, node: Node) -> Seen:
        return self.node(node.number)


def _slope(op: Op, xs: list[Any], place: int) -> Any:
    """The partial derivative of an operation at values."""
    made = template(op)[place]
    if made is None or isinstance(made, float):
        return made or 0.0
    steps, answer = made
    found: list[Any] = []

    def operand(o: Any) -> Any:
        if isinstance(o, float):
            return o
        if o >= 0:
            return found[o]
        return _value(op, xs) if -o > len(xs) else xs[-o - 1]

    for step, operands in steps:
        found.append(_value(step, [operand(o) for o in operands]))
    return operand(answer)


class Rows:
    """The wrong tangents of a node under one rule at one site each, at some points.

    keys: (rule, site) of each row of `values`. right: the right tangent there. everywhere: name to
    the row of its rules at all sites, where there are several.
    """

    __slots__ = ("_carried", "_known", "_partials", "_points", "_sweeps", "everywhere", "keys",
                 "right", "values")

    def __init__(self, sweeps: Sweeps, evaluated: Callable[[list[int]], Mapping[int, Any]],
                 points: int) -> None:
        """evaluated: nodes to their values, by node, of all that they are made of."""
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
        self._carried = {k: None if t is None else Seen(formula, t, self._known[t])
                         for k, t in carried.items()}
        top = self._carried[sweeps.node]
        self.right = np.broadcast_to(0.0 if top is None else top.seen, (points,))
        self.keys: list[Key] = []
        made: list[Any] = []
        with np.errstate(all="ignore"):
            for k in sweeps.order:
                found = self._at(k)
                if found:
                    self.keys += [(rule, k) for rule, _ in found]
                    made.append(self._forward(k, self._stacked([t for _, t in found])))
            self.values = np.concatenate(made) if made else np.empty((0, points))
            self.everywhere = self._everywhere()

    def _site(self, k: int, carried: Mapping[int, Any]) -> SeenSite:
        sweeps = self._sweeps
        return SeenSite(sweeps.formula, k, carried, sweeps.variable, sweeps.parameters,
                        self._known)

    def _at(self, k: int) -> list[tuple[Rule, Any]]:
        """The rules that apply at a site, and the values that they give."""
        site = self._site(k, self._carried)
        found = []
        for rule in self._sweeps._rules(k):
            made = rule.at(site)
            if made is not None:
                found.append((rule, _of(made)))
        return found

    def _stacked(self, values: list[Any]) -> Any:
        rows = np.empty((len(values), self._points))
        for k, value in enumerate(values):
            rows[k] = value
        return rows

    def _partial(self, k: int, place: int) -> Any:
        """The right partial derivative of a node."""
        key = k, place
        if key not in self._partials:
            formula = self._sweeps.formula
            op = formula.ops[k]
            assert op is not None
            self._partials[key] = _slope(op, [self._known[a] for a in formula.args[k]], place)
        return self._partials[key]

    def _tangent(self, k: int, carried: Mapping[int, Any]) -> Any:
        """The right rule, on any tangents of the operands."""
        total: Any = 0.0
        for place, a in enumerate(self._sweeps.formula.args[k]):
            t = carried[a]
            if t is not None:
                total = total + _of(t) * self._partial(k, place)
        return total

    def _forward(self, k: int, rows: Any) -> Any:
        """Tangents of the node, from wrong ones of a site, a row each."""
        formula, sweeps = self._sweeps.formula, self._sweeps
        carried = dict(self._carried)
        carried[k] = Seen(formula, -1, rows)
        for later in sweeps._downstream(k):
            carried[later] = Seen(formula, -1, self._tangent(later, carried))
        return np.broadcast_to(_of(carried[sweeps.node]), rows.shape)

    def _everywhere(self) -> dict[str, Any]:
        sweeps, formula = self._sweeps, self._sweeps.formula
        sites: dict[str, set[int]] = {}
        rules: dict[str, list[Rule]] = {}
        for rule, k in self.keys:
            sites.setdefault(rule.name, set()).add(k)
            if rule not in rules.setdefault(rule.name, []):
                rules[rule.name].append(rule)
        found: dict[str, Any] = {}
        for name, places in sites.items():
            if len(places) < 2:
                continue
            carried = dict(self._carried)
            rules[name].sort(key=lambda rule: rule.rank)
            for k in sweeps.order:
                if carried[k] is not None:
                    carried[k] = Seen(formula, -1, self._tangent(k, carried))
                if k in places:
                    site = self._site(k, carried)
                    made = next((m for rule in rules[name] if (m := rule.at(site)) is not None),
                                None)
                    if made is not None:
                        carried[k] = Seen(formula, -1, _of(made))
            found[name] = np.broadcast_to(_of(carried[sweeps.node]), (self._points,))
        return found

    def pairs(self, most: int) -> tuple[list[tuple[Key, Key]], Any]:
        """Pairs of rules of which one is used inside of the other, and their rows."""
        sweeps, formula = self._sweeps, self._sweeps.formula
        adjoints = self._adjoints()
        rules_at: dict[int, list[Rule]] = {}
        for rule, k in self.keys:
            rules_at.setdefault(k, []).append(rule)
        keys: list[tuple[Key, Key]] = []
        made: list[Any] = []
        with np.errstate(all="ignore"):
            for k, inner in rules_at.items():
                site = self._site(k, self._carried)
                rows = self._stacked([_of(rule.at(site)) for rule in inner])
                carried = dict(self._carried)
                carried[k] = Seen(formula, -1, rows)
                after = sweeps._downstream(k)
                for later in after:
                    carried[later] = Seen(formula, -1, self._tangent(later, carried))
                top = _of(carried[sweeps.node])
                for later in after:
                    outer = self._site(later, carried)
                    for rule in rules_at.get(later, ()):
                        wrong = rule.at(outer)
                        if wrong is None or len(keys) > most:
                            continue
                        moved = adjoints[later] * (_of(wrong) - _of(carried[later]))
                        made.append(np.broadcast_to(top + moved, rows.shape))
                        keys += [((one, k), (rule, later)) for one in inner]
        return keys, np.concatenate(made) if made else np.empty((0, self._points))

    def _adjoints(self) -> dict[int, Any]:
        """The derivative of the node's tangent by that of each site."""
        sweeps, args = self._sweeps, self._sweeps.formula.args
        found: dict[int, Any] = dict.fromkeys(sweeps.order, 0.0)
        found[sweeps.node] = 1.0
        with np.errstate(all="ignore"):
            for k in reversed(sweeps.order):
                for place, a in enumerate(args[k]):
                    if a in found and self._carried[a] is not None:
                        found[a] = found[a] + found[k] * self._partial(k, place)
        return found
