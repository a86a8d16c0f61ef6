"""The question `derive`: derivatives as formulas, as plain data that renderers print.

A program runs once. The terms of its target are run on a record again, the engine emits the
adjoint, and what it emitted becomes terms; for the next order the same is done with these.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.answers.ask import Ask, tensors_of
from gradcli.answers.plain_data import data, note, reason
from gradcli.errors import Diagnostic, GradcliError
from gradcli.execute.recorded import ancestors
from gradcli.formulas import arrays
from gradcli.formulas.algebra import Algebra
from gradcli.formulas.build import Replay, terms_of
from gradcli.formulas.conditions import told
from gradcli.formulas.numbers import ZERO
from gradcli.formulas.sharing import Shared, shared
from gradcli.formulas.terms import NAME, needed
from gradcli.formulas.writing import lower
from gradcli.lang.targets import parts, tensor_of
from gradcli.ops import TABLE
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import is_float, shape_of
from gradcli.tape.record import IDS, OP, OUT, PLACE, VALUES
from gradcli.tape.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.answers.ask import Answer
    from gradcli.formulas.terms import Term
    from gradcli.formulas.writing import Writer
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

    Written = tuple[list[Term], list[tuple[str, Term]], list[str], list[str]]

# More elements of a Jacobian or Hessian are no formulas that anybody reads.
MAX_PARTS = 400


class Part:
    """One derivative: of what, by which names, at which element of target and sources.

    term: None where there is no derivative; then `reasons` says why.
    """

    __slots__ = ("by", "of", "reasons", "row", "term")

    def __init__(self, of: str, by: Sequence[tuple[str, tuple[int, ...]]], term: Term | None,
                 row: tuple[int, ...] = (), reasons: Sequence[Answer] = ()) -> None:
        self.of = of
        self.by = list(by)
        self.term = term
        self.row = row
        self.reasons = list(reasons)


def derived(ask: Ask, *, what: str = "gradient", order: int = 1, language: str = "gradcli",
            simplify: bool = False, named: bool = True) -> Answer:
    """The derivatives of the targets as formulas.

    what: "gradient" (of the sum of a target's elements), "jacobian" (of each element) or "hessian".
    order: of the derivative; beyond 1, each pair of sources once. language: "gradcli", "python",
    "c", "latex", "sympy" or "text". named: what stands more than once gets names. simplify: by
    SymPy. Raises E0801 where the way through the program depends on a value that is not given,
    E0802 for what the language does not have, E0803 for what is too long, E0804 for what has no
    formula.
    """
    return Derivation(ask, what, order).answer(language, simplify, named)


class Derivation:
    """A program that ran, its terms, and derivatives of them.

    made_up: names without a value, which ran with some value. states: id of a variable's state
    that is not its first to the name.
    """

    __slots__ = ("algebra", "ask", "bindings", "given", "made_up", "names", "order", "parts",
                 "primal", "replay", "run", "states", "what")

    def __init__(self, ask: Ask, what: str, order: int) -> None:
        self.ask = ask
        self.what = what
        self.order = 2 if what == "hessian" and order == 1 else order
        self.algebra = Algebra()
        self.given, self.made_up = _values(ask)
        self.run = _run(ask, self.given, self.made_up)
        self.bindings = _named(self.run, ask.wrt)
        self.names = {b.name: b.value.value for b in self.bindings}
        self.states: dict[int, str] = {}
        self.parts: list[Part] = []
        self.primal: dict[str, Term] = {}
        with quiet():
            self._derive()

    # --- derivatives --------------------------------------------------------------------------

    def _derive(self) -> None:
        run, ask = self.run, self.ask
        with run.record:
            targets = ask.program.targets(run, ask.of)
            sources = ask.program.sources(run, ask.wrt)
            self._check_way()
            self._find_states(targets)
            self.replay = Replay(self.algebra, self.names)
            for target in targets:
                missing = self._missing(target, sources)
                tensor = tensor_of(target) if self.what == "jacobian" or not isinstance(
                    target.tensor, list) else None
                (term,) = self._terms([tensor]) if tensor is not None else [self._total(target)]
                self.primal[target.name] = term
                if self.what == "jacobian" and term.shape:
                    self._check_size(term, sources)
                    for index in _indices(term.shape):
                        self._of_term(target, sources, missing, _element(
                            self.algebra, term, index), index)
                else:
                    self._of_term(target, sources, missing, term, ())

    def _terms(self, tensors: Sequence[Tensor]) -> list[Term]:
        known: dict[int, Term] = {}
        for b in self.bindings:
            if b.value.id is not None:
                known[b.value.id] = self.algebra.table.name(b.name, b.value.shape)
        for id, name in self.states.items():
            known[id] = self.algebra.table.name(name, shape_of(self.names[name]))
        return terms_of(self.algebra, self.run.record.history(), known, tensors)

    def _find_states(self, targets: Sequence[Target]) -> None:
        """The states of variables that targets read: a formula has one value for a name. Raises
        E0804 where there are several.
        """
        history = self.run.record.history()
        ids = ancestors(history, [t.id for target in targets for t in tensors_of(target)])
        firsts = {b.value.id: b for b in self.bindings if b.kind in ("variable", "nontrainable")}
        links = {e[OUT]: firsts[e[IDS][0]] for e in history if e[OUT] in ids and len(e[IDS]) == 1
                 and e[OP].name == "positive" and e[PLACE] is None and e[IDS][0] in firsts}
        found: dict[str, dict[int, Any]] = {}
        for entry in history:
            for i, value in zip(entry[IDS], entry[VALUES], strict=True):
                if entry[OUT] not in ids or entry[OUT] in links:
                    continue
                b = links.get(i) if i in links else firsts.get(i)
                if i is not None and b is not None:
                    found.setdefault(b.name, {})[i] = value
        for name, states in found.items():
            values = list(states.values())
            if any(not np.array_equal(v, values[0]) for v in values[1:]):
                b = next(b for b in self.bindings if b.name == name)
                raise GradcliError(Diagnostic(
                    "E0804", f"`{name}` has {len(values)} values on the way to the target, and a"
                    " formula has one value for a name", span=b.span,
                    source=self.ask.program.source,
                    help=f"bind a new name to what {name} becomes, or ask for numbers"))
            if self.made_up and not np.array_equal(values[0], self.names[name]):
                self.made_up.add(name)  # what it was assigned may come of a made-up value
            self.names[name] = values[0]
            self.states.update((i, name) for i in states if i in links)

    def _total(self, target: Target) -> Term:
        """The sum over the items of a list, which may differ in shape."""
        terms = []
        for tensor, term in zip(parts(target), self._terms(parts(target)), strict=True):
            rank = len(tensor.shape)
            terms.append(arrays.call(self.algebra, TABLE["sum"], [term], {
                "axis": tuple(range(-rank, 0)), "keepdims": False}, ()) if rank else term)
        return self.algebra.add(*terms)

    def _missing(self, target: Target, sources: Sequence[Binding]) -> dict[str, list[Answer]]:
        """Sources without a gradient, and why."""
        found = calculus.gradient(tensors_of(target), [self.ask.source(s) for s in sources])
        out = {}
        for source, g in zip(sources, found, strict=True):
            if g is None and not calculus.derivative_constant(tensors_of(target)[0], source.value):
                from gradcli.answers.causes import causes

                ask = _with(self.ask, self.given)
                out[source.name] = [] if self.ask.unconnected == "zero" else [
                    reason(ask, r) for r in causes(ask, target, source)]
        return out

    def _of_term(self, target: Target, sources: Sequence[Binding],
                 missing: Mapping[str, list[Answer]], term: Term, row: tuple[int, ...]) -> None:
        """All derivatives of one term."""
        names = [s.name for s in sources]
        own = next((t.op for t in needed([term]) if t.op is not None
                    and TABLE.get(t.op.name) is not t.op), None)
        if own is None:
            firsts = self.replay.gradient(term, names)
        elif self.order == 1 and not row:
            firsts = self._direct(target, sources)
        else:
            raise GradcliError(Diagnostic(
                "E0804", f"`{own.name}` has a gradient of its own, which has no second derivative"
                " as a formula", span=target.span, source=self.ask.program.source,
                help="ask for numbers: gradcli hess, gradcli jac"))
        zero = self.algebra.number(ZERO)
        level: list[Part] = []
        for name, g in zip(names, firsts, strict=True):
            if name in missing:
                level.append(Part(target.name, [(name, ())], self._absent(), row, missing[name]))
            else:
                level.append(Part(target.name, [(name, ())], g or zero, row))
        for _ in range(1, self.order):
            level = [made for part in level for made in self._next(part, names, missing)]
        self.parts += level

    def _direct(self, target: Target, sources: Sequence[Binding]) -> list[Term | None]:
        """The gradient from the record itself: a function with a rule of its own cannot be run
        again.
        """
        record = self.run.record
        first = record.history()[-1][OUT] if record.history() else 0
        with record:
            found = calculus.gradient(
                parts(target), [self.ask.source(s) for s in sources], emit=True)
        known: dict[int, Term] = {b.value.id: self.algebra.table.name(b.name, b.value.shape)
                                  for b in self.bindings if b.value.id is not None}
        known.update({id: self.algebra.table.name(name, shape_of(self.names[name]))
                      for id, name in self.states.items()})
        terms = terms_of(self.algebra, record.history(), known, found, first + 1)
        return [None if g is None else t for g, t in zip(found, terms, strict=True)]

    def _next(self, part: Part, names: Sequence[str], missing: Mapping[str, list[Answer]]
              ) -> list[Part]:
        """The derivatives of a derivative by the names from its own on: the others are the same by
        symmetry.
        """
        if part.term is None:
            return [part] if len(names) == 1 else [
                Part(part.of, [*part.by, (n, ())], None, part.row, part.reasons)
                for n in names[names.index(part.by[-1][0]):]]
        out = []
        term = part.term
        shape = self._shape(part.by[-1][0])
        pieces: list[tuple[tuple[int, ...], Term]] = [((), term)]
        if shape:
            self._check_count(len(self.parts) + _size(shape))
            pieces = [(i, _element(self.algebra, term, i) if term.shape else term)
                      for i in _indices(shape)]
        later = list(names)[list(names).index(part.by[-1][0]):]
        for index, piece in pieces:
            found = self.replay.gradient(piece, later)
            *before, (last, _) = part.by
            for name, g in zip(later, found, strict=True):
                by = [*before, (last, index), (name, ())]
                if name in missing:
                    out.append(Part(part.of, by, self._absent(), part.row, missing[name]))
                else:
                    out.append(Part(part.of, by, g or self.algebra.number(ZERO), part.row))
        return out

    def _absent(self) -> Term | None:
        """What a source without a path gives."""
        return self.algebra.number(ZERO) if self.ask.unconnected == "zero" else None

    def _shape(self, name: str) -> tuple[int, ...]:
        return self.replay.names[name].shape

    def _check_size(self, term: Term, sources: Sequence[Binding]) -> None:
        self._check_count(_size(term.shape) * len(sources))

    def _check_count(self, count: int) -> None:
        if count > MAX_PARTS:
            raise GradcliError(Diagnostic(
                "E0803", f"that would be {count:,} formulas, and {MAX_PARTS} are the most",
                help="ask for numbers: gradcli jac, gradcli hess"))

    def _check_way(self) -> None:
        """Raises E0801 where a made-up value decided the way."""
        run = self.run
        if not self.made_up or not run.record.guards:
            return
        ids = {b.value.id: b.name for b in self.bindings if b.name in self.made_up}
        for guard, _ in run.record.guards:
            names = [ids[i] for i in ancestors(run.record.history(), [guard]) if i in ids]
            if names:
                raise GradcliError(Diagnostic(
                    "E0801", f"which way the program goes depends on `{names[0]}`, which has no"
                    " value", span=self._place(names[0]), source=self.ask.program.source,
                    help=f"give one: --at {names[0]}=2; the formula holds on that way"))

    def _place(self, name: str) -> tuple[int, int] | None:
        found = self.ask.program.names
        if name in found.inputs:
            return found.inputs[name]
        return self.bindings[[b.name for b in self.bindings].index(name)].span

    # --- the answer ---------------------------------------------------------------------------

    def answer(self, language: str, simplify: bool, named: bool) -> Answer:
        """All as plain data, formulas as text."""
        a = self.algebra
        terms = [p.term for p in self.parts if p.term is not None]
        terms = a.factored(terms)
        writer = writer_of(language, a)
        primal = list(self.primal.values())
        refused: list[str] = []
        terms, definitions, texts, defined = self._written(terms, writer, named)
        if simplify:
            from gradcli.formulas.simplify import simplified

            shorter, refused = simplified(a, terms, self.names)
            other = self._written(shorter, writer, named)
            if _length(other) < _length((terms, definitions, texts, defined)):
                terms, definitions, texts, defined = other
        left = iter(texts)
        results = [self._result(p, None if p.term is None else next(left)) for p in self.parts]
        used = {t.value for t in needed([*terms, *[t for _, t in definitions]])
                if t.kind == NAME and not t.attributes}
        shown = lower(a, primal, writer.lowered)
        try:
            values = writer.texts(shown, {})
        except GradcliError:
            values = [""] * len(shown)
        return {
            "schema": 1, "command": "derive", "file": self.ask.program.source.name,
            "language": language, "what": self.what, "order": self.order,
            "simplified": simplify,
            "inputs": [self._input(b, writer) for b in self.bindings if b.name in used],
            "targets": [{"of": of, "formula": text[:MAX_SHOWN] and (
                text if len(text) <= MAX_SHOWN else None)}
                for of, text in zip(self.primal, values, strict=True)],
            "definitions": [{"name": n, "formula": text} for (n, _), text in zip(
                definitions, defined, strict=True)],
            "results": results, "conditions": told(self, writer),
            "needs": sorted(writer.needs),
            "notes": [note(self.ask, _note(n)) for n in (
                *self.run.notes, *[("not-simplified", text, None) for text in refused])]}

    def _written(self, terms: Sequence[Term], writer: Writer, named: bool) -> Written:
        """Terms, the names of what stands more than once, and the texts of both."""
        a, program = self.algebra, self.ask.program
        terms = lower(a, terms, writer.lowered)
        taken = {*program.names.bound, *program.names.reads, *self.names, *program.names.functions}
        made = shared(a.table, terms, taken, writer.lengths) if named else Shared(terms, [])
        texts = writer.texts(terms, made.names, [t for _, t in made.definitions])
        return terms, made.definitions, texts[:len(terms)], texts[len(terms):]

    def _result(self, part: Part, text: str | None) -> Answer:
        return {
            "of": part.of, "element": list(part.row),
            "wrt": [{"name": n, "element": list(i)} for n, i in part.by],
            "formula": text, "reasons": part.reasons,
            "shape": list(part.term.shape) if part.term is not None else None}

    def _input(self, b: Binding, writer: Writer) -> Answer:
        """A name that the formulas read, with its value where there is one."""
        return {"name": writer.identifier(b.name)[0], "shape": list(b.value.shape),
                "value": None if b.name in self.made_up else data(self.names[b.name])}


def _length(written: Written) -> int:
    """Characters, names counted."""
    _, definitions, texts, defined = written
    return sum([len(t) for t in (*texts, *defined)]) + sum([len(n) + 3 for n, _ in definitions])


# A formula of a function that is longer is not shown beside its derivatives.
MAX_SHOWN = 400


def _note(said: tuple[Any, ...]) -> Any:
    from gradcli.explain.reason import Note

    return Note(*said)


def writer_of(language: str, a: Algebra) -> Writer:
    """What writes a language."""
    if language == "python":
        from gradcli.formulas.python_text import Python

        return Python(a)
    if language in ("c", "latex", "sympy"):
        from gradcli.formulas import others_text

        return {"c": others_text.C, "latex": others_text.Latex, "sympy": others_text.Sympy}[
            language](a)
    from gradcli.formulas.gradcli_text import Gradcli

    return Gradcli(a)


# --- running ------------------------------------------------------------------------------------


def _values(ask: Ask) -> tuple[dict[str, Any], set[str]]:
    """Values to run with, and the names whose value nobody gave: any will do, since formulas hold
    at all points.
    """
    program = ask.program
    given = dict(ask.at)
    made_up: set[str] = set()
    if program.names.tapes:
        return given, made_up  # what a tape did not see is a number, of values that count
    wanted = [*program.names.inputs, *[
        n for n, d in program.names.declared.items() if d.keyword == "input"]]
    for k, name in enumerate(dict.fromkeys(wanted)):
        declared = program.names.declared.get(name)
        if name in given or (declared is not None and not _open(program, name)):
            continue
        value: Any = 0.57 + 0.13 * (k % 7)
        lengths = () if declared is None or declared.shape is None else declared.shape
        shape = tuple([n for n in lengths if n is not None])
        if len(shape) < len(lengths):
            continue  # the error of the run says that it has no value
        if shape:
            value = (value + 0.0173 * np.arange(_size(shape))).reshape(shape)
        given[name] = value
        made_up.add(name)
    return given, made_up


def _open(program: Any, name: str) -> bool:
    """Whether an input is declared without a value."""
    from gradcli.lang import code as c

    for statement in program.statements:
        for k, (opcode, arg, _, _) in enumerate(statement.code):
            if opcode == c.DECLARE and arg.name == name:
                return "value" not in arg.spans and k >= 0
    return False


def _run(ask: Ask, given: Mapping[str, Any], made_up: set[str]) -> Run:
    try:
        run = ask.program.traced_run(given, max_steps=ask.max_steps, tf=ask.tf)
        guards = run.record.guards
        ask.program.choose(run, ask.tape)
        run.record.guards, run.record.absorbing = guards, False
        ask.on_tape, ask.said = run.on_tape, run.watched
        return run
    except GradcliError as problem:
        if made_up:
            for one in problem.diagnostics:
                one.notes = (*one.notes, f"{', '.join(f'`{n}`' for n in sorted(made_up))} ran with"
                             " a value that was made up, since none was given: --at gives one")
        raise


def _with(ask: Ask, at: Mapping[str, Any]) -> Ask:
    """The same question at other values."""
    return Ask(ask.program, at=at, of=ask.of, wrt=ask.wrt, watch=ask.watch, tape=ask.tape,
               tf=ask.tf, max_steps=ask.max_steps, max_bytes=ask.max_bytes)


def _named(run: Run, wrt: Sequence[str]) -> list[Binding]:
    """The bindings that stay names: variables, inputs, arrays and what is asked for. Constants that
    are one number are folded.
    """
    found = []
    for name, bindings in run.bindings.items():
        b = bindings[0]
        if name in wrt and b.kind == "computed":
            b = bindings[-1]
        elif b.kind not in ("variable", "nontrainable", "input", "constant", "literal"):
            continue
        if not isinstance(b.value, Tensor) or not (
                is_float(b.value.value) or b.kind == "input"):
            continue
        folded = b.kind in ("constant", "literal") and not b.value.shape
        if name in wrt or not folded:
            found.append(b)
    return found


def _size(shape: Sequence[int]) -> int:
    n = 1
    for length in shape:
        n *= length
    return n


def _indices(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """All places of an array, in order."""
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*i, k) for i in found for k in range(n)]
    return found


def _element(a: Algebra, term: Term, index: Sequence[int]) -> Term:
    """One element of a term."""
    for k in index:
        term = arrays.part(a, term, k)
    return term

