"""Common subexpressions of a formula, which get a name where that makes the whole shorter."""

from __future__ import annotations

from gradcli.formulas.terms import CALL, NAME, NUMBER, ONE, PRODUCT, SUM
from gradcli.ops.graph import Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gradcli.formulas.terms import Term, TermTable

    # The lengths of the texts of terms, by number, given names.
    Lengths = Callable[[Sequence[Term], Mapping[int, str]], Mapping[int, int]]

# Longer texts are all of this length when it is counted what a name saves.
LONGEST = 3_000


def negative_power(exponent: Term) -> bool:
    """Return whether a factor with this exponent stands in the denominator."""
    if exponent.kind == SUM:
        return exponent.value <= 0 and all(c < 0 for _, c in exponent.items)
    return exponent.kind in (NUMBER, PRODUCT) and exponent.value < 0


def opposite(table: TermTable, exponent: Term) -> Term:
    """Return -exponent, of a number, sum or product."""
    if exponent.kind == SUM:
        return table.turned(exponent)
    if exponent.kind == NUMBER:
        return table.number(-exponent.value)
    if exponent.value == -1:
        return table.monic(exponent)
    return table.product(-exponent.value, exponent.items)


def power(table: TermTable, base: Term, exponent: Term) -> Term:
    """Return a factor as it stands in numerator or denominator: with a positive exponent."""
    if negative_power(exponent):
        exponent = opposite(table, exponent)
    return base if exponent.is_number(1) else table.product(ONE, ((base, exponent),))


def units(table: TermTable, term: Term) -> list[Term]:
    """Return the parts of a term that its text is made of, each as often as it stands there."""
    if term.kind == SUM:
        return [t for t, _ in term.items]
    if term.kind == CALL:
        return list(term.args)
    if term.kind != PRODUCT:
        return []
    if term.value != 1:
        return [table.monic(term)]
    if len(term.items) > 1 or negative_power(term.items[0][1]):
        return [power(table, b, e) for b, e in term.items]
    base, exponent = term.items[0]
    return [base] if exponent.kind == NUMBER else [base, exponent]


class Units(Graph):
    """Terms and all units of them as a graph, parts first. terms: by number."""

    __slots__ = ("terms",)

    def __init__(self, table: TermTable, terms: Sequence[Term]) -> None:
        super().__init__()
        self.terms: list[Term] = []
        done: set[int] = set()
        pending = [(t, False) for t in terms[::-1]]
        while pending:
            term, ready = pending.pop()
            if ready:
                self.terms.append(term)
                self.node(term.number, tuple([
                    self.known[u.number] for u in units(table, term)]))
            elif term.number not in done:
                done.add(term.number)
                pending.append((term, True))
                pending += [(u, False) for u in units(table, term)[::-1]]


class Shared:
    """A formula with names: definitions in order, each (name, term), and what is asked for."""

    __slots__ = ("definitions", "names", "terms")

    def __init__(self, terms: Sequence[Term], definitions: Sequence[tuple[str, Term]]) -> None:
        self.terms = list(terms)
        self.definitions = list(definitions)
        self.names = {t.number: n for n, t in definitions}


def shared(table: TermTable, terms: Sequence[Term], taken: Collection[str], lengths: Lengths,
           prefix: str = "t") -> Shared:
    """Return the terms with names for parts that occur more than once and are long enough. taken:
    names that cannot be used. lengths: the lengths of texts of terms, given names.
    """
    graph = Units(table, terms)
    asked = [graph.known[t.number] for t in terms]
    chosen = _chosen(graph, asked, lengths)
    while unprofitable := _unprofitable(graph, asked, sorted(chosen), lengths, prefix):
        chosen -= unprofitable
    chosen |= _too_deep(graph, chosen)
    names: list[tuple[str, Term]] = []
    k = 0
    for number in sorted(chosen):
        k += 1
        while f"{prefix}{k}" in taken:
            k += 1
        names.append((f"{prefix}{k}", graph.terms[number]))
    return Shared(terms, names)


# Readers of formulas have a limit of nested brackets; people long before.
DEPTH = 40


def _too_deep(graph: Units, chosen: Collection[int]) -> set[int]:
    """Return the numbers of the units that get a name because they are nested deeper than DEPTH."""
    found: set[int] = set()
    depths: list[int] = []
    for k, (term, args) in enumerate(zip(graph.terms, graph.args, strict=True)):
        depth = 1 + max([depths[a] for a in args], default=0)
        if depth > DEPTH and term.kind in (CALL, SUM):
            found.add(k)
            depth = 0
        depths.append(0 if k in chosen else depth)
    return found


def _chosen(graph: Units, asked: Sequence[int], lengths: Lengths) -> set[int]:
    """Return the numbers of the units that are used so often that a name may pay, larger ones
    first.
    """
    size = lengths(graph.terms, {})
    names = {k for k, t in enumerate(graph.terms) if t.kind == NAME and not t.attributes}
    varying = set(names)
    for k, args in enumerate(graph.args):
        if not varying.isdisjoint(args):
            varying.add(k)
    found: set[int] = set()

    def pays(k: int, n: int) -> bool:
        if n > 1 and k in varying and k not in names and (
                (n - 1) * size[graph.terms[k].number] > 2 * n + OVERHEAD):
            found.add(k)
        return k in found

    graph.uses(asked, pays)
    return found


# Characters of a definition besides its text: `t1 = ` and the end of the line.
OVERHEAD = 6


def _unprofitable(graph: Units, asked: Sequence[int], chosen: Sequence[int], lengths: Lengths,
                  prefix: str) -> set[int]:
    """Return the numbers of the chosen units whose name does not pay, since their parts have names.
    """
    named = {k: f"{prefix}{n}" for n, k in enumerate(chosen, 1)}
    uses = graph.uses(asked, lambda k, _: k in named)
    size = lengths(graph.terms, {graph.terms[k].number: name for k, name in named.items()})
    return {k for k, name in named.items() if (uses[k] - 1) * size[graph.terms[k].number] <= (
        len(name) * uses[k] + OVERHEAD)}
