"""What stands more than once in a formula, and gets a name where that makes the whole shorter."""

from __future__ import annotations

from gradcli.formulas.terms import CALL, NAME, NUMBER, ONE, PRODUCT, SUM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gradcli.formulas.terms import Table, Term

    Write = Callable[[Sequence[Term], Mapping[int, str]], list[str]]

# Longer texts are all of this length when it is counted what a name saves.
LONGEST = 3_000


def negative_power(exponent: Term) -> bool:
    """Whether a factor stands below the line."""
    if exponent.kind == SUM:
        return exponent.value <= 0 and all(c < 0 for _, c in exponent.items)
    return exponent.kind in (NUMBER, PRODUCT) and exponent.value < 0


def opposite(table: Table, exponent: Term) -> Term:
    """-exponent, of a number, sum or product."""
    if exponent.kind == SUM:
        return table.turned(exponent)
    if exponent.kind == NUMBER:
        return table.number(-exponent.value)
    if exponent.value == -1:
        return table.monic(exponent)
    return table.product(-exponent.value, exponent.items)


def power(table: Table, base: Term, exponent: Term) -> Term:
    """A factor as it stands above or below the line: with a positive exponent."""
    if negative_power(exponent):
        exponent = opposite(table, exponent)
    return base if exponent.is_number(1) else table.product(ONE, ((base, exponent),))


def units(table: Table, term: Term) -> list[Term]:
    """The parts of a term that its text is made of, each as often as it stands there."""
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


def in_order(table: Table, terms: Sequence[Term]) -> list[Term]:
    """Terms and all units of them, parts first."""
    done: set[int] = set()
    found: list[Term] = []
    pending = [(t, False) for t in terms[::-1]]
    while pending:
        term, ready = pending.pop()
        if ready:
            found.append(term)
        elif term.number not in done:
            done.add(term.number)
            pending.append((term, True))
            pending += [(u, False) for u in units(table, term)[::-1]]
    return found


class Shared:
    """A formula with names: definitions in order, each (name, term), and what is asked for."""

    __slots__ = ("definitions", "names", "terms")

    def __init__(self, terms: Sequence[Term], definitions: Sequence[tuple[str, Term]]) -> None:
        self.terms = list(terms)
        self.definitions = list(definitions)
        self.names = {t.number: n for n, t in definitions}


def shared(table: Table, terms: Sequence[Term], taken: Collection[str], lengths: Callable[
        [Sequence[Term], Mapping[int, str]], Mapping[int, int]], prefix: str = "t") -> Shared:
    """Names for what stands more than once and is long enough. lengths: of the texts of terms, by
    number, given names. taken: names that there are.
    """
    order = in_order(table, terms)
    chosen = _chosen(table, terms, order, lengths)
    while True:
        named = {t.number: f"{prefix}{k + 1}" for k, t in enumerate(
            t for t in order if t.number in chosen)}
        useless = _useless(table, terms, order, named, lengths)
        if not useless:
            break
        chosen -= useless
    chosen |= _too_deep(table, order, chosen)
    names: list[tuple[str, Term]] = []
    k = 0
    for term in order:
        if term.number in chosen:
            k += 1
            while f"{prefix}{k}" in taken:
                k += 1
            names.append((f"{prefix}{k}", term))
    return Shared(terms, names)


# Readers of formulas have a limit of nested brackets; people long before.
DEPTH = 40


def _too_deep(table: Table, order: Sequence[Term], chosen: Collection[int]) -> set[int]:
    """What gets a name because it is nested too deep."""
    found: set[int] = set()
    depths: dict[int, int] = {}
    for term in order:
        depth = 1 + max([depths[u.number] for u in units(table, term)], default=0)
        if depth > DEPTH and term.kind in (CALL, SUM):
            found.add(term.number)
            depth = 0
        depths[term.number] = 0 if term.number in chosen else depth
    return found


def _uses(table: Table, terms: Sequence[Term], order: Sequence[Term], named: Collection[int]
          ) -> dict[int, int]:
    """How often each term stands in the text, if the named ones are written once."""
    uses = {t.number: 0 for t in order}
    for t in terms:
        uses[t.number] += 1
    for term in reversed(order):
        n = 1 if term.number in named else uses[term.number]
        for unit in units(table, term):
            uses[unit.number] += n
    return uses


def _chosen(table: Table, terms: Sequence[Term], order: Sequence[Term], lengths: Callable[
        [Sequence[Term], Mapping[int, str]], Mapping[int, int]]) -> set[int]:
    """What looks worth a name, the largest first."""
    size = lengths(order, {})
    uses = {t.number: 0 for t in order}
    for t in terms:
        uses[t.number] += 1
    found: set[int] = set()
    varying: set[int] = set()
    for term in order:
        if term.kind == NAME and not term.attributes:
            varying.add(term.number)
        elif any(u.number in varying for u in units(table, term)):
            varying.add(term.number)
    varying -= {t.number for t in order if t.kind == NAME}
    for term in reversed(order):
        n = uses[term.number]
        if n > 1 and term.number in varying and (n - 1) * size[term.number] > 2 * n + OVERHEAD:
            found.add(term.number)
            n = 1
        for unit in units(table, term):
            uses[unit.number] += n
    return found


# Characters of a definition besides its text: `t1 = ` and the end of the line.
OVERHEAD = 6


def _useless(table: Table, terms: Sequence[Term], order: Sequence[Term], named: Mapping[int, str],
             lengths: Callable[[Sequence[Term], Mapping[int, str]], Mapping[int, int]]
             ) -> set[int]:
    """Names that do not pay, the names of their parts considered."""
    uses = _uses(table, terms, order, named)
    size = lengths(order, named)
    return {k for k, name in named.items() if (uses[k] - 1) * size[k] <= (
        len(name) * uses[k] + OVERHEAD)}
