"""A target and its variables at a point: values, first and second derivatives, element by element.
"""

from __future__ import annotations

from math import fsum, inf

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import OP, VALUES
from gradcli.engine.record.tensor import Tensor
from gradcli.lang.running.run import tensor_of
from gradcli.lang.syntax.code import CONSTANTS
from gradcli.ops import PUBLIC
from gradcli.ops.values import is_complex, is_float, shape_of, show
from gradcli.questions import digits
from gradcli.questions.notes import boundaries, left_out, moved, troubles
from gradcli.questions.plain_data import data, is_finite
from gradcli.questions.question import answer, note, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.explain.catalogue import Note
    from gradcli.explain.notes import Kinks
    from gradcli.explain.numbers.limits import LocalSeries
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

# Causes of a missing derivative where it is 0 in truth.
ZERO = ("source-unrelated", "target-constant")


class Point:
    """One target of one run. names: of each element of each variable, `x` or `v[0]`; values: of
    these; value: of the target, an array for a vector. slopes, curves: the derivatives that were
    asked for, by variable and by pairs of them.
    """

    __slots__ = ("bindings", "curves", "free", "names", "question", "run", "slopes", "sources",
                 "target", "tensor", "values")

    def __init__(self, question: Question, run: Run, target: Target,
                 free: Sequence[str] = ()) -> None:
        self.free = free
        self.slopes: list[Any] = []
        self.curves: dict[tuple[int, int], Any] = {}
        self.question = question
        self.run = run
        self.target = target
        self.tensor: Tensor = tensor_of(target)
        self.bindings: list[Binding] = question.program.sources(run, question.wrt)
        self.sources = [question.source(run, b) for b in self.bindings]
        self.names: list[str] = []
        self.values: list[float] = []
        if is_complex(self.tensor):
            raise self.error("E0831", f"`{target.name}` is complex, and this is for real numbers",
                             "take a part of it: real(...), imag(...) or abs(...)")
        for binding in self.bindings:
            value = self.at(binding)
            if not is_float(value):
                raise self.error(
                    "E0833",
                    f"`{binding.name}` is not a floating point number and has no derivatives",
                    "name another variable with --wrt")
            for index in np.ndindex(shape_of(value)) if shape_of(value) else [()]:
                self.names.append(f"{binding.name}[{','.join(map(str, index))}]" if index
                                  else binding.name)
                self.values.append(float(value[index] if index else value))
        for name, value in ((target.name, self.value), *[
                (b.name, b.value.value) for b in self.bindings]):
            if 0 in shape_of(value):
                raise self.error("E0831", f"`{name}` is empty: there is nothing to differentiate",
                                 "give it at least one element")

    @property
    def value(self) -> Any:
        return self.tensor.value

    def at(self, binding: Binding) -> Any:
        """Return the value of a variable that the answer belongs to: of one that was assigned, the
        state that the target reads. Raises E0836 where it reads several.
        """
        if not self.run.assigned(binding):
            return binding.value.value
        from gradcli.questions.states import the_state

        return the_state(self.question, self.run, self.target, binding)

    def free_to_move(self, what: str) -> None:
        """Raise E0836 for a variable that the file assigns before the target reads it: no other
        value can be given to it.
        """
        if any(self.run.assigned(b) for b in self.bindings):
            from gradcli.questions.states import check_free

            check_free(self.question, self.run, self.target, self.bindings, what)

    def error(self, code: str, message: str, help: str) -> GradcliError:
        """Return an error at the target."""
        return GradcliError(Diagnostic(code, message, span=self.target.span,
                                       source=self.question.program.source, help=help))

    def scalar(self, what: str) -> float:
        """Return the value of a target that is one number. Raises E0831."""
        if self.tensor.shape != ():
            raise self.error("E0831", f"{what} needs a target that is one number, and"
                             f" `{self.target.name}` has shape {show(self.tensor.shape)}",
                             "take an element, such as y[0], or a sum")
        if isinstance(self.value, str):
            raise self.error("E0310", f"`{self.target.name}` is not a tensor to differentiate",
                             "name a number or a tensor with --of")
        return float(self.value)

    def jacobian(self) -> Any:
        """Return one row for each element of the target, one column for each name; 0 where the
        target does not depend on a variable. Raises E0833 where a path is cut.
        """
        found = self.slopes = calculus.jacobian(self.tensor, self.sources)
        columns = []
        for binding, block in zip(self.bindings, found, strict=True):
            n = calculus.size(shape_of(binding.value.value))
            if block is None:
                self._check_cut(binding)
                block = 0.0
            columns.append(np.broadcast_to(np.reshape(block, (-1, n)) if shape_of(block) else block,
                                           (calculus.size(self.tensor.shape), n)))
        # Nobody asked for the sign of 0.
        return np.concatenate(columns, axis=1).astype(float) + 0.0

    def finite(self, derivatives: Any) -> Any:
        """Return the derivatives. Raises E0833 where one of them is no number, or the target is
        none: what a rule gives there is no slope of anything.
        """
        if not is_finite(self.value) and np.isnan(self.value).any():
            raise self.error("E0833", f"`{self.target.name}` has no value there, and so no"
                             f" derivatives{self.said_around()}", self._instead())
        for value in np.ravel(derivatives).tolist():
            if value - value != 0:
                raise self.error("E0833", f"a derivative of `{self.target.name}` is {value} there"
                                 f"{self.said_around()}", self._instead())
        return derivatives

    def _instead(self) -> str:
        around = self.around()
        if around is not None and around.regular(around.target) is not None:
            return "`gradcli taylor` gives the series of what continues it"
        return "take another point with --at; `gradcli why` tells where it comes from"

    def around(self) -> LocalSeries | None:
        """Return what the target is around the point, along its one variable, a number."""
        from gradcli.explain.numbers.nonfinite import limits_of
        from gradcli.questions import retrying

        if len(self.bindings) != 1:
            return None
        trials = retrying.of_derivative(
            self.question, self.run, self.target, self.bindings[0].name, "gradient")
        own = [one for one in limits_of(self.run, tensors_of(self.target), trials)
               if one.name == self.bindings[0].name]
        return own[0] if own else None

    def said_around(self) -> str:
        """Return the same as the end of a sentence, if it is known."""
        around = self.around()
        said = around.sentence() if around is not None and around.surprises() else None
        return f"; {said}" if said is not None else ""

    def total(self, parts: Sequence[float], what: str) -> float:
        """Return the exact sum, rounded once. Raises E0833 where it is larger than any number."""
        try:
            found = fsum(parts)
        except (OverflowError, ValueError):     # of parts, or of infinities with both signs
            found = inf
        if found - found != 0:
            raise self.error("E0833", f"{what} of `{self.target.name}` is larger than any floating"
                             " point number", "take another point with --at, or other units")
        return found

    def check_smooth(self, what: str, order: int = 1) -> None:
        """Raise E0833 at a kink on a path, where a derivative is a convention. To first order a
        kink that decides nothing may be passed.
        """
        found: Kinks | None = None
        if self.run.record.has_kinks():
            from gradcli.explain.notes import Kinks

            found = Kinks(self.run, tensors_of(self.target), self.question.program.source)
        for binding in self.bindings:
            for told in (*(found.of(binding.value, order) if found is not None else ()),
                         *boundaries(self.question, self.run, self.target, binding, order)):
                raise GradcliError(Diagnostic(
                    "E0833", f"there is no {what} of `{self.target.name}`: {told.message}",
                    span=told.span or self.target.span, source=self.question.program.source,
                    help="take another point with --at; `gradcli grad` tells the slope that is"
                    " convention"))

    def check_rules(self, before: int) -> None:
        """Raise E0833 if derivatives recorded behind the first `before` entries are at a kink:
        there is no derivative of the next order. Ties are choices that rules make on purpose.
        """
        for entry in self.run.record.history()[before:]:
            op = entry[OP]
            if op.kink is None or not op.elementwise or "tie" in op.kinks or all(
                    rule == 0.0 for rule in op.rules):
                continue
            with quiet():
                hits = op.kink(*entry[VALUES])
            if np.any(hits):
                raise self.error("E0833", f"the derivative passes through `{op.name}` at a kink;"
                                 f" {op.kinks}", "take another point with --at, or a lower --order")

    def _check_cut(self, binding: Binding) -> None:
        from gradcli.questions.causes import causes

        why = [r for r in causes(self.question, self.run, self.target, binding)
               if r.code not in ZERO]
        if why:
            raise GradcliError(Diagnostic(
                "E0833", f"there is no derivative of `{self.target.name}` by `{binding.name}`:"
                f" {why[0].message}", span=why[0].span or self.target.span,
                source=self.question.program.source,
                help="`gradcli why` tells more, and what can be written instead"))

    def hessian(self, target: Tensor | None = None) -> Any:
        """Return the Hessian of the target, or of an element of it, over all names; 0 where the
        first derivative is constant or not there.
        """
        t = self.tensor if target is None else target
        blocks = calculus.hessian(t, self.sources).blocks
        if t is self.tensor:
            self.curves = dict(blocks)
        sizes = [calculus.size(shape_of(b.value.value)) for b in self.bindings]
        return np.block([[
            np.zeros((m, n)) if blocks[i, j] is None else np.reshape(blocks[i, j], (m, n))
            for j, n in enumerate(sizes)] for i, m in enumerate(sizes)]).astype(float) + 0.0

    def elements(self) -> list[Any]:
        """Return the target's elements as tensors of their own."""
        if self.tensor.shape == ():
            return [self.tensor]
        return [PUBLIC["reshape"](self.tensor, shape=(-1,))[k]
                for k in range(calculus.size(self.tensor.shape))]

    def head(self) -> Answer:
        """Return what all answers begin with: target, point, value, notes."""
        notes = troubles(self.question, self.run, self.target)
        notes += moved(self.question, self.run, self.target, self.bindings)
        notes += left_out(self.question, self.run, self.target, self.bindings)
        notes += [told for told in self._lost_digits() if told not in notes]
        if self.run.record.has_kinks():
            from gradcli.explain import notes as kinks

            for binding in self.bindings:
                for n in kinks.kinks(self.run, tensors_of(self.target), binding.value,
                                     self.question.program.source):
                    if note(self.question, n) not in notes:
                        notes.append(note(self.question, n))
        for binding in self.bindings:
            notes += [said for n in boundaries(self.question, self.run, self.target, binding)
                      for said in [note(self.question, n)] if said not in notes]
        notes += [remark("free-variable", f"`{name}` does not occur in the formula: derivatives by"
                         " it are 0") for name in self.free]
        return {"of": self.target.name, "variables": self.names,
                "at": dict(zip(self.names, self.values, strict=True)),
                "value": data(self.value), "notes": notes}


    def _lost_digits(self) -> list[Answer]:
        """Return notes on derivatives whose digits cancelled."""
        if not is_finite(self.value):
            return []
        found: list[tuple[str, Note]] = []
        for b, g in zip(self.bindings, self.slopes, strict=False):
            if g is not None and is_finite(g):
                found += [(f"by {b.name}", n) for n in digits.of_derivative(
                    self.question, self.run, self.target, b, g, "jacobian")]
        for (i, j), block in sorted(self.curves.items()):
            if block is not None and i <= j and is_finite(block):
                row, column = self.bindings[i], self.bindings[j]
                found += [(f"by {row.name} and {column.name}", n) for n in digits.of_second(
                    self.question, self.run, self.target, row, column, block)]
        return [{**told, "message": f"derivative of {self.target.name} {by}: {told['message']}"}
                for by, one in found for told in (note(self.question, one),)]


def remark(code: str, message: str) -> Answer:
    """Return a note without a location."""
    return {"code": code, "message": message, "line": None, "column": None}


def each(command: str, question: Question, work: Callable[[Point], Answer]) -> Answer:
    """Return an answer with one result for each target. work: makes it."""
    free = declared(question) if command in FREE else []
    run = question.run()
    with run.record:
        order(question, run, command)
        results = [work(Point(question, run, target, free))
                   for target in question.program.targets(run, question.of)]
    return answer(question, command, results)


def in_option(code: str, message: str, text: str, option: str, help: str) -> GradcliError:
    """Return an error in the text of an option."""
    return GradcliError(Diagnostic(code, message, span=(0, max(1, len(text))),
                                   source=Source(text, option), help=help))


def one_of(name: str, names: Sequence[str], option: str) -> int:
    """Return which of the variables a name is. Raises E0834."""
    if name not in names:
        known = ", ".join(names) or "(there are none)"
        raise in_option("E0834", f"`{name}` is not one of the variables {known}", name, option,
                        f"such as {names[0]}" if names else "name a variable of the formula")
    return list(names).index(name)


def counted(n: int, what: str, one: str = "", many: str = "s") -> str:
    """Return a number with its noun: `1 number`, `2 numbers`."""
    return f"{n} {what}{one if n == 1 else many}"


# --------------------------------------------------------------------------------------------------
# Which variables a command works on, and in which order, which fields and directions need: that of
# --wrt, else of --at where it names all, else of their declarations, else of the alphabet.

# What takes variables that do not occur in the formula, and what depends on their order.
FREE = ("taylor", "tangent", "directional", "divergence", "curl", "laplacian")
ORDERED = ("directional", "divergence", "curl")


def declared(question: Question) -> list[str]:
    """Return the variables of --at and --wrt that a program without declarations does not mention,
    and make them its inputs. There are none where a name has no value, since one may be misspelt.
    """
    names = question.program.names
    if names.declared or any(name not in question.at for name in names.inputs):
        return []
    known = {*names.order, *names.bound, *names.functions, *names.called, *CONSTANTS}
    found = [name for name in dict.fromkeys([*question.at, *question.wrt])
             if name not in known and name.isidentifier()]
    question.program.add_inputs(found)
    return found


def order(question: Question, run: Run, command: str) -> None:
    """Put the variables in the order of --at where it names all, else of declarations, else of
    the alphabet. Raises E0831 where a command needs an order and none of these is one.
    """
    names = [] if question.wrt else question.program.differentiable(run)
    given = [name for name in question.at if name in names]
    if len(given) == len(names):
        question.wrt = question.wrt or given
    elif not all(name in question.program.names.declared for name in names):
        sort = [_place(name) for name in names]
        if len({stem for stem, _, _ in sort}) == 1:
            question.wrt = sorted(names, key=_place)
        elif command in ORDERED:
            raise GradcliError(Diagnostic(
                "E0831", f"the order of the variables {', '.join(names)} is not clear, and a"
                f" {command} depends on it", span=None, source=question.program.source,
                help=f"say it: --wrt {','.join(names)}"))


def _place(name: str) -> tuple[str, int, str]:
    """Return what names in a row have in common, and where one stands: x, y, z; x1, x2, x10."""
    stem = name.rstrip("0123456789")
    return ("", 0, name) if len(name) == 1 else (stem, int(name[len(stem):] or 0), name)
