"""Derivatives on the record of the run, where functions have rules of their own: a rule of a file
is a program, so what it does is recorded and differentiated like all else.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.execute.recorded import ancestors
from gradcli.formulas.build import terms_of
from gradcli.ops import TABLE
from gradcli.ops.shapes import index as indexed
from gradcli.tape.record import OP, OUT, PLACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.tape.record import Record
    from gradcli.tape.tensor import Tensor


class OnRecord:
    """A record, and the tensors that names are there.

    known: id to term, of the names and of what was asked for. places: of all that ran; what a
    sweep adds has the place of what it differentiates, what a rule of the file adds has its own.
    """

    __slots__ = ("algebra", "first", "known", "places", "record", "sources")

    def __init__(self, a: Algebra, record: Record, known: Mapping[int, Term],
                 sources: Mapping[str, Tensor]) -> None:
        self.algebra = a
        self.record = record
        self.known = dict(known)
        self.sources = dict(sources)
        history = record.history()
        self.first = history[-1][OUT] + 1 if history else 0
        self.places = {id(entry[PLACE]) for entry in history}

    def has_own_rules(self, ids: Sequence[int | None]) -> bool:
        """Whether functions with rules of the file lead to these."""
        history = self.record.history()
        found = ancestors(history, ids)
        return any(e[OUT] in found and TABLE.get(e[OP].name) is not e[OP] for e in history)

    def gradient(self, tensors: Sequence[Tensor], names: Sequence[str]
                 ) -> list[tuple[Term | None, Tensor | None]]:
        """The derivatives of the sum of all elements by names, as terms and where they are on the
        record; (None, None) where there is none.
        """
        with self.record:
            found = calculus.gradient(tensors, [self.sources[n] for n in names], emit=True)
        entries = self.record.history()
        rules = {e[OUT] for e in entries if e[OUT] >= self.first and id(e[PLACE]) in self.places}
        terms = terms_of(self.algebra, entries, self.known, found, rules)
        return [(None, None) if g is None else (term, g)
                for g, term in zip(found, terms, strict=True)]


def element_of(tensor: Tensor, place: tuple[int, ...]) -> Tensor:
    """One element of a tensor; a number has one for all places."""
    return indexed(tensor, pattern=place) if place and tensor.shape else tensor
