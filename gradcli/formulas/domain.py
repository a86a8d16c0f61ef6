"""Where terms are defined and what sign they have, as far as their form tells."""

from __future__ import annotations

from gradcli.formulas.numbers import whole
from gradcli.formulas.rewrites import POSITIVE
from gradcli.formulas.terms import NAME, NUMBER, PRODUCT, SUM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.formulas.terms import Term

NONZERO, NONNEGATIVE, ABOVE = "!= 0", ">= 0", "> 0"
IMPLIED = {ABOVE: (ABOVE,), NONNEGATIVE: (ABOVE, NONNEGATIVE), NONZERO: (ABOVE, NONZERO)}
"""Condition to what it follows from."""

NOT_NEGATIVE = frozenset(("abs", "relu", "sqrt", "square"))


def positive(term: Term) -> bool:
    """Whether a term is positive wherever it is defined, but for rounding."""
    return _sign(term, True, {})


def _sign(term: Term, strict: bool, known: dict[tuple[int, bool], bool]) -> bool:
    """Whether a term is positive, or not negative if that is not strict. known: what was found;
    terms nest without a limit, so what is too deep to look at has no sign.
    """
    key = term.number, strict
    if key not in known:
        known[key] = False
        if len(known) < DEEPEST:
            known[key] = _found(term, strict, known)
    return known[key]


DEEPEST = 200


def _found(term: Term, strict: bool, known: dict[tuple[int, bool], bool]) -> bool:
    if term.kind == NUMBER:
        return bool(term.value > 0 if strict else term.value >= 0)
    if term.kind == NAME:
        return bool(term.attributes)
    if term.kind == SUM:
        return term.value >= 0 and all(
            c > 0 and _sign(t, False, known) for t, c in term.items) and (
            not strict or term.value > 0 or any(_sign(t, True, known) for t, _ in term.items))
    if term.kind == PRODUCT:
        return term.value > 0 and all(
            _sign(b, strict, known) or (not strict and _is_even(e)) for b, e in term.items)
    assert term.op is not None
    return term.op.name in POSITIVE or (not strict and term.op.name in NOT_NEGATIVE)


def _is_even(exponent: Term) -> bool:
    n = whole(exponent.value) if exponent.kind == NUMBER else None
    return n is not None and n % 2 == 0


def implied(terms: Iterable[Term]) -> set[tuple[Term, str]]:
    """What holds wherever terms are defined: log(x) and powers of x need x > 0. What only one side
    of a choice needs is left out.
    """
    found: set[tuple[Term, str]] = set()
    pending = list(terms)
    seen = {t.number for t in pending}
    while pending:
        term = pending.pop()
        if term.is_call("log", "log2", "log10"):
            found.add((term.args[0], ABOVE))
        for base, exponent in term.items if term.kind == PRODUCT else ():
            if exponent.kind == NUMBER:
                below = exponent.value < 0
                if whole(exponent.value) is None:
                    found.add((base, ABOVE if below else NONNEGATIVE))
                elif below:
                    found.add((base, NONZERO))
        parts = term.args[:1] if term.is_call("where") else term.parts()
        for part in parts:
            if part.number not in seen:
                seen.add(part.number)
                pending.append(part)
    return found
