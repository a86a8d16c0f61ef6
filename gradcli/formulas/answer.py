"""The answer to `derive` as plain data: formulas as text in one language, where they hold, and
what they read.
"""

from __future__ import annotations

from gradcli.answers.plain_data import data, note
from gradcli.errors import GradcliError
from gradcli.execute.recorded import ancestors
from gradcli.formulas.conditions import failing, told
from gradcli.formulas.factoring import factored
from gradcli.formulas.languages import writer_of
from gradcli.formulas.lowering import lowered
from gradcli.formulas.sharing import Shared, shared
from gradcli.formulas.terms import NAME, needed
from gradcli.tape.record import OP, OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.answers.ask import Answer
    from gradcli.errors import Span
    from gradcli.formulas.derive import Derivation, Part
    from gradcli.formulas.terms import Term
    from gradcli.formulas.writing import Writer
    from gradcli.lang.run import Binding

OUTSIDE = "outside"
"""The code of a note on a condition that the values of the question do not meet."""

# A formula of a function that is longer is not shown beside its derivatives.
MAX_SHOWN = 400


class Written:
    """Formulas as text. terms: what was written. definitions: (name, term) of what stands more
    than once; defined: their texts; names: the same by the numbers of terms. needs: what a file
    has to import.
    """

    __slots__ = ("defined", "definitions", "names", "needs", "terms", "texts")

    def __init__(self, found: Derivation, terms: Sequence[Term], writer: Writer, named: bool
                 ) -> None:
        a, names = found.algebra, found.ask.program.names
        self.terms = lowered(a, terms, writer.lowered)
        writer.rename([*found.names, *found.primal], self.terms)
        taken = {*names.bound, *names.reads, *found.names, *names.functions,
                 *writer.names.values()}
        made = shared(a.table, self.terms, taken, writer.lengths) if named else Shared(
            self.terms, [])
        self.definitions, self.names = made.definitions, made.names
        writer.needs.clear()
        texts = writer.texts(self.terms, made.names, [t for _, t in made.definitions])
        self.texts, self.defined = texts[:len(self.terms)], texts[len(self.terms):]
        self.needs = sorted(writer.needs)

    def length(self) -> int:
        """Characters, names counted."""
        return sum([len(t) for t in (*self.texts, *self.defined)]) + sum(
            [len(n) + 3 for n, _ in self.definitions])


def answered(found: Derivation, language: str, simplify: bool, named: bool) -> Answer:
    """All derivatives as plain data."""
    try:
        return _answered(found, language, simplify, named)
    except GradcliError as problem:
        if problem.code == "E0802" and problem.span is None:
            problem.diagnostics[0].span = _place(found, problem.diagnostics[0].message)
        raise


def _place(found: Derivation, message: str) -> Span | None:
    """Where the operation stands that a language does not have: the one that a message names, or
    the first on whole arrays, of whose slope others are.
    """
    from gradcli.tape.record import span_of

    history = found.run.record.history()
    ids = ancestors(history, found.wanted)
    mine = [e for e in history if e[OUT] in ids and span_of(e) is not None]
    named = [e for e in mine if f"`{e[OP].name}`" in message]
    whole = [e for e in mine if not e[OP].elementwise]
    return next((span_of(e) for e in [*named, *whole]), None)


def _answered(found: Derivation, language: str, simplify: bool, named: bool) -> Answer:
    a = found.algebra
    terms = factored(a, [p.term for p in found.parts if p.term is not None])
    writer = writer_of(language, a)
    primal = list(found.primal.values())
    refused: list[str] = []
    written = Written(found, terms, writer, named)
    if simplify:
        from gradcli.formulas.simplify import simplified

        shorter, refused = simplified(a, written.terms, found.names)
        other = Written(found, shorter, writer, named)
        if other.length() < written.length():
            written = other
    left = iter(written.texts)
    results = [_result(p, None if p.term is None else next(left)) for p in found.parts]
    inputs = _inputs(found, written, primal, language)
    return {
        "schema": 1, "command": "derive", "file": found.ask.program.source.name,
        "language": language, "what": found.what, "order": found.order,
        "simplified": simplify,
        "inputs": [_input(found, b, writer) for b in inputs],
        "targets": [{"of": of, "formula": _shown(writer_of(language, a), term)} for of, term in zip(
            found.primal, lowered(a, primal, writer.lowered), strict=True)],
        "definitions": [{"name": n, "formula": text} for (n, _), text in zip(
            written.definitions, written.defined, strict=True)],
        "results": results, "conditions": told(found, written.names),
        "needs": written.needs,
        "renamed": [{"name": n, "identifier": i} for n, i in writer.names.items()
                    if n in found.primal or any(n == b.name for b in inputs)],
        "notes": [*found.left_out, *[note(found.ask, _note(n)) for n in (
            *found.run.notes, *[("not-simplified", text, None) for text in refused],
            *[(OUTSIDE, f"the given values do not meet {text}", None)
              for text in failing(found)])]]}


def _shown(writer: Writer, term: Term) -> str | None:
    """The function itself, unless it is long or cannot be written."""
    try:
        (text,) = writer.texts([term], {}, longest=MAX_SHOWN)
    except GradcliError:
        return None
    return text


def _result(part: Part, text: str | None) -> Answer:
    return {
        "of": part.of, "element": list(part.row),
        "wrt": [{"name": n, "element": list(i)} for n, i in part.by],
        "formula": text, "reasons": part.reasons,
        "shape": list(part.term.shape) if part.term is not None else None}


def _inputs(found: Derivation, written: Written, primal: Sequence[Term], language: str
            ) -> list[Binding]:
    """What the formulas read, and what else the function of them does: a slope need not read all
    that it is the slope in. Languages of numbers are spared arrays that no formula reads.
    """
    used = _names([*written.terms, *[t for _, t in written.definitions]])
    ids = ancestors(found.run.record.history(), found.wanted)
    more = {b.name for b in found.bindings if b.value.id in ids} | _names(primal) | {
        p.by[-1][0] for p in found.parts if p.term is not None}
    return [b for b in found.bindings if b.name in used or (
        b.name in more and b.kind in ("variable", "nontrainable", "input", "computed")
        and not (b.value.shape and language in ("c", "sympy", "latex")))]


def _names(terms: Sequence[Term]) -> set[str]:
    return {t.value for t in needed(terms) if t.kind == NAME and not t.attributes}


def _input(found: Derivation, b: Binding, writer: Writer) -> Answer:
    """A name that the formulas read, with its value where there is one."""
    return {"name": writer.identifier(b.name)[0], "shape": list(b.value.shape),
            "value": None if b.name in found.made_up else data(found.names[b.name])}


def _note(said: tuple[Any, ...]) -> Any:
    from gradcli.explain.reason import Note

    return Note(*said)
