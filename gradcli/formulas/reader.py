"""How hard a formula is to read: its characters, and what stands in the way besides."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from gradcli.base.errors import GradcliError
from gradcli.formulas.terms import CALL, NUMBER, PRODUCT, SUM, whole
from gradcli.formulas.text.gradcli import Gradcli

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Number, Term

LONGEST = 1_000
"""Longer texts nobody reads."""
NEW_FUNCTIONS = 1.5
"""A form with functions that the term has not has to be shorter by this factor."""
NESTED = 1.25
"""One with quotients in sums that are in quotients, too."""
NEW_CALL = 2
"""One with a function of another argument has to be shorter by so many characters."""
LONG, LONG_NUMBER = re.compile(r"\d[\d.]{5,}"), 8
"""One with a long number that was not there, too."""
RARE = frozenset(("sec", "csc", "cot", "sech", "csch", "coth"))
FAMILIES = (frozenset(("sin", "cos", "tan", "sec", "csc", "cot")),
            frozenset(("sinh", "cosh", "tanh", "sech", "csch", "coth")))
"""Who has seen one of these knows the others, but for the rare ones."""
DIVIDED = 0.25
"""Each line of a fraction counts by so much more than its character."""
BRACKETS = 0.5
"""A pair of brackets in a polynomial counts by so much more than its two characters."""


class Reader:
    """Who reads forms of a term. before: the terms that he has seen before it; familiar: these and
    the term. long: the long numbers in it.
    """

    def __init__(self, a: Algebra, term: Term, before: Sequence[Term]) -> None:
        self.algebra = a
        self.writer = Gradcli(a, paper=True)
        self.known: dict[int, str] = {}
        self.before = frozenset(a.table.of(before))
        self.familiar = self.before | set(a.table.of([term]))
        self.functions = {t.operation.name for t in self.familiar if t.kind == CALL}
        for family in FAMILIES:
            if self.functions & family:
                self.functions |= family - RARE
        self.long = {*LONG.findall(self.text(term))}

    def text(self, term: Term) -> str:
        """Return a term as text, empty if that is too long."""
        found = self.known.get(term.number)
        if found is None:
            try:
                (found,) = self.writer.texts([term], {}, longest=LONGEST)
            except GradcliError:
                found = ""
            self.known[term.number] = found
        return found

    def length(self, term: Term) -> float:
        """Count the characters but for blanks; of a polynomial brackets count more."""
        text = self.text(term)
        brackets = text.count("(") if all(
            t.kind != CALL and not _is_divided(t) for t in self.algebra.table.of([term])) else 0
        return len(text) - text.count(" ") + BRACKETS * brackets if text else math.inf

    def cost(self, term: Term) -> float:
        """Return the length with what is added for what makes a form hard to read."""
        inside = self.algebra.table.of([term])
        new = [t for t in inside if t.kind == CALL and t not in self.familiar]
        found = self.length(term) + DIVIDED * self.text(term).count("/")
        found += LONG_NUMBER * len({*LONG.findall(self.text(term))} - self.long)
        if any(t.operation.name not in self.functions for t in new):
            found *= NEW_FUNCTIONS
        else:
            found += NEW_CALL * len(new)
        return found * NESTED if any(map(_is_nested, inside)) else found


def _is_nested(term: Term) -> bool:
    """Return whether a term is a quotient with a sum in which something is divided."""
    return _is_divided(term) and any(
        e.kind == NUMBER and whole(e.value) is not None and b.kind == SUM and (
            _is_fraction(b.value) or any(_is_divided(t) or _is_fraction(c) for t, c in b.items))
        for b, e in term.items)


def _is_divided(term: Term) -> bool:
    return term.kind == PRODUCT and (_is_fraction(term.value) or any(
        e.kind == NUMBER and e.value < 0 for _, e in term.items))


def _is_fraction(value: Number) -> bool:
    return isinstance(value, Fraction) and value.denominator > 1
