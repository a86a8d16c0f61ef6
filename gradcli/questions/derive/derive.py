"""The question `derive`: derivatives as formulas, as plain data that renderers print.

A program runs once. The terms of its target are run on a record again, the engine emits the
adjoint, and what it emitted becomes terms; for the next order the same is done with these.
"""

from __future__ import annotations

import re
from math import comb

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import IDS, OUT, VALUES, ancestry
from gradcli.engine.record.tensor import Tensor
from gradcli.formulas import arrays
from gradcli.formulas.algebra import Algebra
from gradcli.formulas.arrays import size
from gradcli.formulas.build import OnRecord, TermReplay, element_of, terms_of
from gradcli.formulas.terms import ZERO
from gradcli.lang.running.calls import no_operand
from gradcli.lang.running.run import parts, tensor_of
from gradcli.ops import TABLE
from gradcli.ops.values import SMOOTH_DTYPES, dtype_of, is_float, shape_of
from gradcli.questions.notes import left_out
from gradcli.questions.question import Question, reason, tensors_of
from gradcli.questions.states import is_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.formulas.terms import Term
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer

# What somebody who writes decimals has in his text.
DECIMAL = re.compile(r"\d\.\d|\.\d|\de[-+]?\d", re.IGNORECASE)
# Longer formulas are not read a second time for their constants.
SHORT = 2_000
# More elements of a Jacobian or Hessian are no formulas that anybody reads.
MAX_PARTS = 400


class Derivative:
    """One derivative: of what, by which names, at which element of target and sources.

    term: None where there is no derivative; then `reasons` says why. tensor: where derivatives are
    taken on the record of the run.
    """

    __slots__ = ("by", "of", "reasons", "row", "tensor", "term")

    def __init__(self, of: str, by: Sequence[tuple[str, tuple[int, ...]]], term: Term | None,
                 row: tuple[int, ...] = (), reasons: Sequence[Answer] = (),
                 tensor: Tensor | None = None) -> None:
        self.of = of
        self.by = list(by)
        self.term = term
        self.row = row
        self.reasons = list(reasons)
        self.tensor = tensor


class Derivation:
    """A program that ran, its terms, and derivatives of them.

    made_up: names without a value, which ran with some value. states: id of a variable's state
    that is not its first to the name. wanted: ids of the targets.
    left_out: notes on what the derivatives leave out. near: floats near simple fractions are these.
    expanded: by source the target without the names that are computed from it, the ids in hidden.
    """

    __slots__ = ("algebra", "bindings", "expanded", "given", "hidden", "left_out", "made_up",
                 "names", "on_record", "order", "parts", "primal", "question", "replay", "run",
                 "shapes", "states", "wanted", "what")

    def __init__(self, question: Question, what: str, order: int, near: bool = False) -> None:
        self.question = question
        self.what = what
        self.order = 2 if what == "hessian" and order == 1 else order
        self.algebra = Algebra(DECIMAL.search(question.program.source.text) is not None, near)
        self.given, self.made_up = values_for(question)
        self.run = run_with(question, self.given, self.made_up)
        self.bindings = names_of(self.run, question.wrt or question.program.asked_alone(self.run))
        self.names = {b.name: b.value.value for b in self.bindings}
        self.states: dict[int, str] = {}
        self.parts: list[Derivative] = []
        self.primal: dict[str, Term] = {}
        self.expanded: dict[str, Term] = {}
        self.hidden: list[int | None] = []
        self.left_out: list[Answer] = []
        with quiet():
            self._derive()

    # --- derivatives --------------------------------------------------------------------------

    def _derive(self) -> None:
        run, question = self.run, self.question
        with run.record:
            targets = question.program.targets(run, question.of)
            sources = question.program.sources(run, question.wrt)
            self.shapes = {s.name: shape_of(s.value.value) for s in sources}
            self._check_way()
            self.wanted = [t.id for target in targets for t in tensors_of(target)]
            self._find_states(targets)
            self.replay = TermReplay(self.algebra, self.names)
            self.on_record = OnRecord(self.algebra, run.record, self._known(), {
                s.name: question.source(run, s) for s in sources})
            for target in targets:
                self.left_out += left_out(question, run, target, sources)
                missing = self._missing(target, sources)
                tensor = tensor_of(target) if self.what == "jacobian" or not isinstance(
                    target.tensor, list) else None
                (term,) = self._terms([tensor]) if tensor is not None else [self._total(target)]
                self.primal[target.name] = term
                self._expand(target, sources, tensor)
                if self.what == "jacobian" and term.shape:
                    self._check_count(arrays.size(term.shape) * len(sources))
                    for index in arrays.indices(term.shape):
                        self._of_term(target, sources, missing, arrays.element(
                            self.algebra, term, index), index)
                else:
                    self._of_term(target, sources, missing, term, ())

    def _expand(self, target: Target, sources: Sequence[Binding], tensor: Tensor | None) -> None:
        """Write the target again for each source that another one is computed from: the derivative
        goes through that value, which so is no input.
        """
        history = self.run.record.history()
        self.expanded.clear()
        computed = [b.value.id for b in self.bindings if b.kind == "computed"]
        for source in sources if self.order == 1 else ():
            behind = [id for id in computed if id != source.value.id and source.value.id in (
                ancestry(history, [id]))]
            if behind:
                self.hidden = behind
                (self.expanded[source.name],) = self._terms([tensor]) if (
                    tensor is not None) else [self._total(target)]
                self.hidden = []

    def _terms(self, tensors: Sequence[Tensor]) -> list[Term]:
        return terms_of(
            self.algebra, self.run.record.history(), self._known(), tensors, written=True)

    def _known(self) -> dict[int, Term]:
        """Return the names by the ids that they have in the run."""
        table = self.algebra.table
        known = {b.value.id: table.name(b.name, b.value.shape)
                 for b in self.bindings
                 if b.value.id is not None and b.value.id not in self.hidden}
        known.update({id: table.name(name, shape_of(self.names[name]))
                      for id, name in self.states.items()})
        return known

    def _find_states(self, targets: Sequence[Target]) -> None:
        """Find the values of variables that targets read."""
        found = states_read(
            self.question.program, self.run.record.history(), self.bindings, targets)
        for name, value in found.values.items():
            if self.made_up and not np.array_equal(value, self.names[name]):
                self.made_up.add(name)  # what it was assigned may come of a made-up value
            self.names[name] = value
        self.states = found.later

    def _total(self, target: Target) -> Term:
        """Return the sum over the items of a list, which may differ in shape."""
        terms = []
        for tensor, term in zip(parts(target), self._terms(parts(target)), strict=True):
            if dtype_of(tensor.value) == "string":
                raise no_operand(TABLE["stack"], tensor.value)
            rank = len(tensor.shape)
            terms.append(arrays.call(self.algebra, TABLE["sum"], [term], {
                "axis": tuple(range(-rank, 0)), "keepdims": False}, ()) if rank else term)
        return self.algebra.add(*terms)

    def _missing(self, target: Target, sources: Sequence[Binding]) -> dict[str, list[Answer]]:
        """Return the sources without a gradient, and the reasons."""
        found = calculus.gradient(tensors_of(target), [
            self.question.source(self.run, s) for s in sources])
        out = {}
        for source, g in zip(sources, found, strict=True):
            if g is None and not any(calculus.derivative_constant(t, source.value)
                                     for t in tensors_of(target)[:1]):
                from gradcli.questions.causes import causes

                question = self.question.replaced(at=self.given)
                out[source.name] = [] if self.question.unconnected == "zero" else [
                    reason(question, r) for r in causes(question, self.run, target, source)]
        return out

    def _of_term(self, target: Target, sources: Sequence[Binding],
                 missing: Mapping[str, list[Answer]], term: Term, row: tuple[int, ...]) -> None:
        """Add all derivatives of one term."""
        names = [s.name for s in sources]
        tensors: list[Tensor] = []
        own = self.on_record.has_own_rules([t.id for t in tensors_of(target)])
        if own:
            tensors = [element_of(tensor_of(target), row)] if row else parts(target)
        whole = Derivative(target.name, [], term, row)
        level = self._derivatives(whole, [], term, tensors, names, missing)
        if not any(self._shape(n) for n in names) and not own:
            self._check_count(comb(len(names) + self.order - 1, self.order))
        for _ in range(1, self.order):
            self._check_count(sum([arrays.size(self._shape(p.by[-1][0])) for p in level]))
            level = [made for part in level for made in self._next(
                part, names if own else names[names.index(part.by[-1][0]):], missing)]
        self.parts += level

    def _derivatives(self, part: Derivative, by: Sequence[tuple[str, tuple[int, ...]]], term: Term,
                     tensors: Sequence[Tensor], names: Sequence[str],
                     missing: Mapping[str, list[Answer]]) -> list[Derivative]:
        """Return the derivatives of a part, or of an element of it, by names. tensors: where they
        are taken on the record of the run.
        """
        found: list[tuple[Term | None, Tensor | None]]
        if tensors:
            found = self.on_record.gradient(tensors, names)
        else:
            found = [(g, None) for g in self.replay.gradient(term, names)]
            for k, name in enumerate(names):
                if name in self.expanded:
                    whole = self.expanded[name]
                    found[k] = self.replay.gradient(arrays.element(
                        self.algebra, whole, part.row) if part.row else whole, [name])[0], None
        out = []
        for name, (g, tensor) in zip(names, found, strict=True):
            reasons = missing.get(name, ())
            if name in missing:
                g, tensor = self._absent(), None
            elif g is None:
                g = self.algebra.number(ZERO)
            out.append(Derivative(part.of, [*by, (name, ())], g, part.row, reasons, tensor))
        return out

    def _next(self, part: Derivative, names: Sequence[str], missing: Mapping[str, list[Answer]]
              ) -> list[Derivative]:
        """Return the derivatives of a derivative. names: from its own on, as the others are the
        same by symmetry; all where a rule of the file need not be symmetric.
        """
        *before, (last, _) = part.by
        term = part.term
        if term is None:
            return [Derivative(part.of, [*part.by, (n, ())], None, part.row, part.reasons)
                    for n in names]
        out = []
        for index in arrays.indices(self._shape(last)):
            piece = arrays.element(self.algebra, term, index) if term.shape else term
            tensors = [] if part.tensor is None else [element_of(part.tensor, index)]
            out += self._derivatives(part, [*before, (last, index)], piece, tensors, names, missing)
        return out

    def _absent(self) -> Term | None:
        """Return what a source without a path gives."""
        return self.algebra.number(ZERO) if self.question.unconnected == "zero" else None

    def _shape(self, name: str) -> tuple[int, ...]:
        return self.shapes[name]

    def _check_count(self, count: int) -> None:
        if count > MAX_PARTS:
            raise GradcliError(Diagnostic(
                "E0803", f"that would be {count:,} formulas; the limit is {MAX_PARTS}",
                help="ask for numbers: gradcli jac, gradcli hess"))

    def _check_way(self) -> None:
        """Raise E0801 where a made-up value decided the path."""
        run = self.run
        if not self.made_up or not run.record.guards:
            return
        ids = {b.value.id: b.name for b in self.bindings if b.name in self.made_up}
        history = run.record.history()
        for guard, _ in run.record.guards:
            names = [ids[i] for i in ancestry(history, [guard]) if i in ids]
            if names:
                from gradcli.engine.record.record import span_of

                decides = next((span_of(e) for e in history if e[OUT] == guard), None)
                raise GradcliError(Diagnostic(
                    "E0801", f"which branch of the program runs depends on `{names[0]}`, which has"
                    " no value", span=decides or self._place(names[0]),
                    source=self.question.program.source,
                    help=f"give one: --at {names[0]}=2; the formula holds for that branch"))

    def _place(self, name: str) -> tuple[int, int] | None:
        found = self.question.program.names
        if name in found.inputs:
            return found.inputs[name]
        return self.bindings[[b.name for b in self.bindings].index(name)].span


def on_paper(question: Question, what: str, order: int) -> Derivation:
    """Return a derivation in which the numbers of a formula stay as they were written, such as
    sqrt(2) + sqrt(3).
    """
    program = question.program
    names = program.names
    if len(program.source.text) <= SHORT and len(program.statements) == 1 and not (
            names.bound or names.functions):
        try:
            return Derivation(
                question.replaced(program=program.recording_constants()), what, order, near=True)
        except GradcliError:    # an operation wants a number that is not a tensor
            pass
    return Derivation(question, what, order, near=True)


# --------------------------------------------------------------------------------------------------
# Programs run to become formulas, with made-up values where nobody gave one: formulas hold at all
# points.

def values_for(question: Question) -> tuple[dict[str, Any], set[str]]:
    """Return values to run with, and the names without a given value: those get any value, since
    formulas hold at all points.
    """
    program = question.program
    given = dict(question.at)
    made_up: set[str] = set()
    if program.names.tapes:
        return given, made_up  # what a tape did not see is a number, of values that count
    wanted = [*program.names.inputs, *[
        n for n, d in program.names.declared.items() if d.keyword == "input"]]
    for k, name in enumerate(dict.fromkeys(wanted)):
        declared = program.names.declared.get(name)
        if name in given or (declared is not None and not _is_free(program, name)):
            continue
        value: Any = 0.57 + 0.13 * (k % 7)
        lengths = () if declared is None or declared.shape is None else declared.shape
        shape = tuple([n for n in lengths if n is not None])
        if len(shape) < len(lengths):
            continue  # the error of the run says that it has no value
        if declared is not None and declared.dtype not in (None, *SMOOTH_DTYPES):
            value = True if declared.dtype == "bool" else 2 + k % 7
            if shape:
                value = np.full(shape, value)
        elif shape:
            value = (value + 0.0173 * np.arange(size(shape))).reshape(shape)
        given[name] = value
        made_up.add(name)
    _refuse_joined(question, [name for name in made_up if name in program.names.inputs])
    return given, made_up


def _refuse_joined(question: Question, names: Sequence[str]) -> None:
    """Raise E0203 for `xsinx` and its like, which are no inputs unless somebody names them."""
    found = question.program.names.apart(
        [name for name in names if name not in question.wrt], question.program.source, question.at)
    if found:
        raise GradcliError(*dict.fromkeys(found.values()))


def _is_free(program: Program, name: str) -> bool:
    """Return whether an input is declared without a value."""
    from gradcli.lang.syntax import code as c

    for statement in program.statements:
        for opcode, arg, _, _ in statement.code:
            if opcode == c.DECLARE and arg.name == name:
                return "value" not in arg.spans
    return False


def run_with(question: Question, given: Mapping[str, Any], made_up: set[str]) -> Run:
    """Run the program, traced. Its errors say which values were made up."""
    try:
        run = question.program.traced_run(given, **question.options())
        guards = run.record.guards
        question.program.choose(run, question.tape)
        run.record.guards, run.record.absorbing = guards, False
        return run
    except GradcliError as problem:
        if made_up and problem.code[:3] in ("E03", "E04"):  # of shapes and values
            for one in problem.diagnostics:
                one.notes = (*one.notes, "no value was given for"
                             f" {', '.join(f'`{n}`' for n in sorted(made_up))}: the program ran"
                             " with a placeholder; give one with --at")
        raise


def names_of(run: Run, wrt: Sequence[str]) -> list[Binding]:
    """Return the bindings that stay names in a formula: variables, inputs, arrays and what is asked
    for. Constants that are one number are folded.
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


# --------------------------------------------------------------------------------------------------
# States of variables: a formula has one value for a name.

class States:
    """The states of variables that targets read.

    values: name to the one value that is read. later: id of a state that is not a variable's first
    to its name.
    """

    __slots__ = ("later", "values")

    def __init__(self, values: dict[str, Any], later: dict[int, str]) -> None:
        self.values = values
        self.later = later


def states_read(program: Program, history: Sequence[Entry], bindings: Sequence[Binding],
                targets: Sequence[Target]) -> States:
    """Return the states of variables that targets read. Raises E0804 where there are several."""
    ids = ancestry(history, [t.id for target in targets for t in tensors_of(target)])
    firsts = {b.value.id: b for b in bindings if b.kind in ("variable", "nontrainable")}
    links = {e[OUT]: firsts[e[IDS][0]] for e in history if e[OUT] in ids and len(e[IDS]) == 1
             and e[IDS][0] in firsts and is_link(e, e[IDS][0])}
    found: dict[str, dict[int, Any]] = {}
    for entry in history:
        if entry[OUT] not in ids or entry[OUT] in links:
            continue
        for i, value in zip(entry[IDS], entry[VALUES], strict=True):
            b = links.get(i) if i in links else firsts.get(i)
            if i is not None and b is not None:
                found.setdefault(b.name, {})[i] = value
    made = States({}, {})
    for name, states in found.items():
        first, *others = states.items()
        another = [i for i, value in others if not np.array_equal(value, first[1])]
        if another:
            from gradcli.engine.record.record import span_of

            b = next(b for b in bindings if b.name == name)
            assigned = next((span_of(e) for e in history if e[OUT] == another[0]), None)
            raise GradcliError(Diagnostic(
                "E0804", f"`{name}` has {len(states)} values on the way to the target, and a"
                " formula has one value for a name", span=assigned or b.span, source=program.source,
                help=f"bind a new name to what {name} becomes, or ask for numbers"))
        made.values[name] = first[1]
        made.later.update((i, name) for i in states if i in links)
    return made
