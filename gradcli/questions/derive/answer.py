"""The answer to `derive` as plain data: formulas as text in one language, where they hold, and
what they read.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import OP, OUT, ancestry
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.formulas.build import TermReplay, terms_of
from gradcli.formulas.rewrites import ABOVE, IMPLIED, NONNEGATIVE, factored, implied, positive
from gradcli.formulas.sharing import Shared, shared
from gradcli.formulas.text import language_of
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.formulas.text.languages import Arrays, lowered
from gradcli.questions.derive.derive import Derivation, on_paper
from gradcli.questions.plain_data import data, heading
from gradcli.questions.question import note
from gradcli.render.numbers import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.formulas.text.languages import Language
    from gradcli.lang.running.run import Binding
    from gradcli.questions.derive.derive import Derivative
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

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

    def __init__(self, found: Derivation, terms: Sequence[Term], writer: Language, named: bool
                 ) -> None:
        a, names = found.algebra, found.question.program.names
        self.terms = lowered(a, terms, writer.lowered)
        writer.rename([*found.names, *found.primal], self.terms)
        taken = {*names.bound, *names.reads, *found.names, *names.functions,
                 *writer.names.values()}
        if named and writer.paper and _fits(Gradcli(a, paper=True), self.terms):
            named = False
        made = shared(a.table, self.terms, taken, writer.lengths) if named else Shared(
            self.terms, [])
        self.definitions, self.names = made.definitions, made.names
        writer.needs.clear()
        texts = writer.texts(self.terms, made.names, [t for _, t in made.definitions])
        self.texts, self.defined = texts[:len(self.terms)], texts[len(self.terms):]
        self.needs = sorted(writer.needs)

    def length(self) -> int:
        """Return the number of characters, names included."""
        return sum([len(t) for t in (*self.texts, *self.defined)]) + sum(
            [len(n) + 3 for n, _ in self.definitions])


def _on_paper(found: Derivation, terms: Sequence[Term], writer: Language, named: bool) -> Written:
    """Return terms in the form of textbooks; as they are where that needs names, and more text."""
    from gradcli.formulas.textbook import textbooks

    a = found.algebra
    before = dict(a.conditions)
    made = Written(found, textbooks(a, terms, list(found.primal.values())), writer, named)
    if made.definitions:
        plain = Written(found, factored(a, terms), writer, named)
        if plain.length() <= made.length():
            a.conditions = before
            return plain
    return made


LINE = 72
"""A formula of so many characters fits on a line."""


def _fits(writer: Language, terms: Sequence[Term]) -> bool:
    """Return whether each term fits on a line without names."""
    try:
        writer.texts(terms, {}, longest=LINE)
    except GradcliError:
        return False
    return True


def derived(question: Question, *, what: str = "gradient", order: int = 1,
            language: str = "gradcli", simplify: bool = False, named: bool = True,
            paper: bool = False) -> Answer:
    """Return the derivatives of the targets as formulas.

    what: "gradient" (of the sum of a target's elements), "jacobian" (of each element) or "hessian".
    order: of the derivative; beyond 1, each pair of sources once. language: "gradcli", "python",
    "c", "latex" or "sympy". named: what stands more than once gets names. simplify: by
    SymPy. paper: for people, in the form of textbooks, and without names where lines are short;
    else in the form that computes best. Raises E0801 where the way through the program depends on
    a value that is not given, E0802 for what the language does not have, E0803 for what is too
    long, E0804 for what has no formula.
    """
    found = on_paper(question, what, order) if paper else Derivation(question, what, order)
    return answered(found, language, simplify, named, paper)


def typeset(question: Question, *, what: str, order: int, language: str, simplify: bool,
            named: bool, paper: bool = True) -> Answer:
    """Return what `derived` does, with the same equations in LaTeX as `tex`; without these where
    LaTeX has not what they need, or shares other parts.
    """
    from gradcli.formulas.text.latex import Latex

    found = on_paper(question, what, order) if paper else Derivation(question, what, order)
    answer = answered(found, language, simplify, named, paper)
    try:
        other = answered(found, "latex", simplify, named, paper)
    except GradcliError:
        return answer
    if [d["name"] for d in answer["definitions"]] == [d["name"] for d in other["definitions"]]:
        answer["tex"] = Latex.equations(other)
    return answer


def answered(found: Derivation, language: str, simplify: bool, named: bool, paper: bool = False
             ) -> Answer:
    """Return all derivatives as plain data."""
    try:
        return _answered(found, language, simplify, named, paper)
    except GradcliError as problem:
        if problem.code == "E0802" and problem.span is None:
            problem.diagnostics[0].span = _place(found, problem.diagnostics[0].message)
        raise


def _place(found: Derivation, message: str) -> Span | None:
    """Return where the operation stands that a language does not have: the one that a message
    names, or the first on whole arrays, of whose slope others are.
    """
    from gradcli.engine.record.record import span_of

    history = found.run.record.history()
    ids = ancestry(history, found.wanted)
    mine = [e for e in history if e[OUT] in ids and span_of(e) is not None]
    named = [e for e in mine if f"`{e[OP].name}`" in message]
    whole = [e for e in mine if not e[OP].elementwise]
    return next((span_of(e) for e in [*named, *whole]), None)


def _answered(found: Derivation, language: str, simplify: bool, named: bool, paper: bool
              ) -> Answer:
    a = found.algebra
    terms = [p.term for p in found.parts if p.term is not None]
    writer = language_of(language)(a, paper)
    primal = list(found.primal.values())
    refused: list[str] = []
    if not paper:
        written = Written(found, factored(a, terms), writer, named)
    else:
        written = _on_paper(found, terms, writer, named)
    if simplify:
        from gradcli.questions.derive.simplify import simplified

        terms, refused = simplified(a, written.terms, found.names)
        other = Written(found, terms, writer, named)
        if other.length() < written.length():
            written = other
    left = iter(written.texts)
    results = [_result(p, None if p.term is None else next(left)) for p in found.parts]
    inputs = _inputs(found, written, primal, writer)
    return {
        **heading(found.question.program.source, "derive"),
        "language": language, "what": found.what, "order": found.order,
        "simplified": simplify,
        "inputs": [_input(found, b, writer) for b in inputs],
        "targets": [
            {"of": of, "formula": _shown(type(writer)(a, paper), term)} for of, term in zip(
                found.primal, lowered(a, primal, writer.lowered), strict=True)],
        "definitions": [{"name": n, "formula": text} for (n, _), text in zip(
            written.definitions, written.defined, strict=True)],
        "results": results, "conditions": conditions_of(found, written.names),
        "needs": written.needs,
        "renamed": [{"name": n, "identifier": i} for n, i in writer.names.items()
                    if n in found.primal or any(n == b.name for b in inputs)],
        "notes": [*found.left_out, *[note(found.question, _note(n)) for n in (
            *found.run.notes, *[("not-simplified", text, None) for text in refused],
            *[(OUTSIDE, f"the given values do not meet {text}", None)
              for text in failing(found)])]]}


def _shown(writer: Language, term: Term) -> str | None:
    """Return the text of the function itself; None if it is long or cannot be written."""
    try:
        (text,) = writer.texts([term], {}, longest=MAX_SHOWN)
    except GradcliError:
        return None
    return text


def _result(part: Derivative, text: str | None) -> Answer:
    return {
        "of": part.of, "element": list(part.row),
        "wrt": [{"name": n, "element": list(i)} for n, i in part.by],
        "formula": text, "reasons": part.reasons,
        "shape": list(part.term.shape) if part.term is not None else None}


def _inputs(found: Derivation, written: Written, primal: Sequence[Term], writer: Language
            ) -> list[Binding]:
    """Return what the formulas read, and what else the function of them does: a slope need not read
    all that it is the slope in. Languages of numbers are spared arrays that no formula reads.
    """
    names = found.algebra.table.names
    used = names([*written.terms, *[t for _, t in written.definitions]])
    ids = ancestry(found.run.record.history(), found.wanted)
    more = {*names(primal), *[b.name for b in found.bindings if b.value.id in ids],
            *[p.by[-1][0] for p in found.parts if p.term is not None]}
    return [b for b in found.bindings if b.name in used or (
        b.name in more and b.kind in ("variable", "nontrainable", "input", "computed")
        and (not b.value.shape or isinstance(writer, Arrays)))]


def _input(found: Derivation, b: Binding, writer: Language) -> Answer:
    """Return a name that the formulas read, with its value where there is one."""
    return {"name": writer.identifier(b.name)[0], "shape": list(b.value.shape),
            "value": None if b.name in found.made_up else data(found.names[b.name])}


def _note(said: tuple[Any, ...]) -> Any:
    from gradcli.explain.catalogue import Note

    return Note(*said)


# --------------------------------------------------------------------------------------------------
# Where a formula holds: what decided the way through the program, and what was left out.

OPPOSITE = {"less": ">=", "less_equal": ">", "greater": "<=", "greater_equal": "<",
            "equal": "!=", "not_equal": "=="}

# A condition of more characters says nothing to a reader; what ended a loop may have more.
LONGEST, LONGEST_LAST = 120, 400
# So many conditions are told, others only counted.
MOST = 12


def conditions_of(found: Derivation, names: Mapping[int, str]) -> list[str]:
    """Return conditions such as `x > 0`, those of the path first; where these are too many or too
    long, the last decision is first, and others are counted. names: of terms, by number.
    """
    a = found.algebra
    way = _of_way(found)
    out = [_decision(a, term, value, names, LONGEST) for term, value in way]
    for term, condition in _left_out(found):
        text = _text(a, term, names, LONGEST)
        out.append(None if text is None else f"{text} {condition}")
    shown = list(dict.fromkeys([text for text in out if text is not None]))
    hidden = out.count(None)
    if len(shown) + hidden <= MOST and not hidden:
        return shown
    last = _decision(a, *way[-1], names, LONGEST_LAST) if way else None
    if last is not None:
        hidden -= out[len(way) - 1] is None
        shown = list(dict.fromkeys([last, *shown]))
    hidden += max(0, len(shown) - MOST)
    return [*shown[:MOST], f"{hidden} more, not shown"] if hidden else shown


def _left_out(found: Derivation) -> list[tuple[Term, str]]:
    """Return what rewriting needs, unless the function itself needs it or it always holds."""
    domain = implied(found.primal.values())
    strong = {t for t, text in found.algebra.conditions if text == ABOVE}
    return [(term, text) for term, text in found.algebra.conditions
            if not any((term, other) in domain for other in IMPLIED[text])
            and not (text != ABOVE and term in strong) and not positive(term)]


def failing(found: Derivation) -> list[str]:
    """Return the conditions that do not hold at the point that was asked for."""
    out = []
    for term, text in _left_out(found):
        if found.made_up.intersection(found.algebra.table.names([term])) or term.shape:
            continue
        replay = TermReplay(found.algebra, found.names)
        with replay.record, quiet():
            value = value_of(replay.run(term))
        holds = value > 0 if text == ABOVE else value >= 0 if text == NONNEGATIVE else value != 0
        shown = _text(found.algebra, term, {}, LONGEST)
        if not np.all(holds) and shown is not None:
            out.append(f"{shown} {text}")
    return out


def _of_way(found: Derivation) -> list[tuple[Term | None, object]]:
    """Return what was decided, and how; None where that is no formula."""
    record = found.run.record
    table = found.algebra.table
    out: list[tuple[Term | None, object]] = []
    known = {b.value.id: table.name(b.name, b.value.shape) for b in found.bindings
             if b.value.id is not None}
    before = dict(found.algebra.conditions)
    for id, value in record.guards or ():
        try:
            (term,) = terms_of(found.algebra, record.history(), known, [Tensor(value, id, 0)])
        except GradcliError:
            out.append((None, value))
            continue
        if table.names([term]):
            out.append((term, value))
    found.algebra.conditions = before
    return out


def _decision(a: Algebra, term: Term | None, value: object, names: Mapping[int, str], longest: int
              ) -> str | None:
    """Return `x > 1` or its opposite; None for a decision that is too long or no number."""
    if term is None:
        return None
    if not (isinstance(value, bool) or type(value).__name__ == "bool_"):
        text = _text(a, term, names, longest)
        return f"{text} == {exact(float(value))}" if text is not None and isinstance(
            value, (int, float)) else None
    if value:
        return _text(a, term, names, longest)
    if term.op is not None and term.op.name in OPPOSITE:
        x, y = [_text(a, t, names, longest) for t in term.args]
        return None if x is None or y is None else f"{x} {OPPOSITE[term.op.name]} {y}"
    shown = _text(a, term, names, longest)
    return None if shown is None else f"not ({shown})"


def _text(a: Algebra, term: Term, names: Mapping[int, str], longest: int) -> str | None:
    """Return a term as gradcli writes it; None if it is too long."""
    try:
        (text,) = Gradcli(a, paper=True).texts([term], names, longest=longest)
    except GradcliError:
        return None
    return text
