"""Stretches: a loop over scalars, run as generated Python and recorded as one entry.

The body of a `for` that only calculates with numbers is turned into two small Python functions, its
values and its adjoints, once; the record gets one entry for thousands of operations. The slopes
come from the operation table: a row's rule is run on symbols and leaves the text of its formula.
Whoever wants more than the adjoints of numbers (another derivative, an explanation) has the stretch
expanded into the ordinary entries that it stands for; their ids were set aside for that.

Measured (4 operations a turn, 250 turns, with the gradient): 0.33 us an operation, of which
compiling is 0.15, where one entry at a time takes 1.5 us.
"""

from __future__ import annotations

from itertools import chain
from math import hypot

from gradcli.base.errors import GradcliError
from gradcli.engine.compiled.trace import Standing
from gradcli.engine.record.operators import PLAIN
from gradcli.engine.sweeps.extremes import LARGE, are_extreme
from gradcli.ops.binding import fast_rules
from gradcli.ops.kinds import EDGE, Op
from gradcli.ops.text import Symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry

    Operand = str | float     # a variable of the generated code, or a number


class Step:
    """One operation of the body: `var = op(*operands)`; place: its instruction; tracked: whether
    it goes on the record.
    """

    __slots__ = ("op", "operands", "place", "tracked", "var")

    def __init__(self, var: str, op: Op, operands: tuple[Operand, ...], place: Any) -> None:
        self.var = var
        self.op = op
        self.operands = operands
        self.place = place
        self.tracked = True


class Plan:
    """A body that was found to be one: steps, and what is read and bound.

    inputs: name to the variable that holds it when a turn begins. bound: name to the variable that
    holds it when the turn ends. tracked: the inputs that are on the record. extreme: a constant
    is very large or very small.
    """

    __slots__ = ("_backward", "adjoints", "bound", "carried", "count", "depends", "extreme",
                 "forward", "inputs", "kept", "steps", "tracked")

    def __init__(self, steps: list[Step], inputs: Mapping[str, str], bound: Mapping[str, str],
                 tracked: frozenset[str]) -> None:
        self.steps = steps
        self.inputs = dict(inputs)
        self.bound = dict(bound)
        self.tracked = tracked
        self.carried = [name for name in inputs if name in bound]
        # What a file calls a name need not be one of Python.
        self.adjoints = {name: f"b{k}" for k, name in enumerate(bound)}
        self.count = sum(step.tracked for step in steps)
        self.extreme = are_extreme(
            [o for step in steps for o in step.operands if isinstance(o, float)])
        self.kept = self._needed()
        self.forward = self._forward()
        self._backward: Callable[..., Any] | None = None
        self.depends: dict[int, dict[str, set[str]]] = {}

    # --- generated code -----------------------------------------------------------------------

    def _needed(self) -> list[str]:
        """Return the variables that the adjoints of a turn read, and those that it began with."""
        kept = [self.inputs[name] for name in self.carried]
        if not self.count:
            return []
        fixed = {self.inputs[n] for n in self.inputs if n not in self.bound}
        for step in self.steps:
            for k, operand in enumerate(step.operands):
                if isinstance(operand, str) and step.tracked:
                    for var in slope(step, k)[1]:
                        if var not in kept and var not in fixed:
                            kept.append(var)
        return kept

    def _forward(self) -> Callable[..., Any]:
        names: dict[str, Any] = {}
        lines = []
        for step in self.steps:
            lines.append(f"   {step.var} = {call_text(step.op, step.operands, names)}")
        if self.kept:
            lines.append(f"   save(({', '.join(self.kept)},))")
        targets = [self.inputs[n] for n in self.carried]
        finals = [self.bound[n] for n in self.carried]
        if targets:
            lines.append(f"   {', '.join(targets)}, = {', '.join(finals)},")
        ends = [self.inputs[n] if n in self.inputs else self.bound[n] for n in self.bound]
        before = [f" {var} = 0.0" for name, var in self.bound.items() if name not in self.inputs]
        source = "\n".join([
            f"def forward(turns, save, {', '.join(self.inputs.values())}):",
            " done = 0; item = None", *before, " try:", "  for item in turns:", *lines,
            "   done += 1", " except EDGE:", f"  return True, done, item, ({', '.join(ends)},)",
            f" return False, done, item, ({', '.join(ends)},)"])
        return _compiled(source, "forward", names)

    def backward(self) -> Callable[..., Any]:
        """Return the function `(turns, values of the inputs, adjoints of the bound names) ->
        adjoints of the inputs`: the turns are what `forward` saved.
        """
        if self._backward is None:
            names: dict[str, Any] = {}
            lines: list[str] = []
            begun: set[str] = set()
            fixed = [n for n in self.inputs if n not in self.bound and n in self.tracked]
            # A carried name's adjoint goes to the variable that it was bound to; one that is bound
            # and not carried has an adjoint in the last turn only.
            for name in self.bound:
                var, g = self.bound[name], self.adjoints[name]
                lines.append(_added(var, g, begun))
                if name not in self.inputs:
                    lines.append(f"  {g} = 0.0")
            for name in self.carried:
                lines.append(f"  g_{self.inputs[name]} = 0.0")
                begun.add(self.inputs[name])
            begun.update(self.inputs[n] for n in fixed)
            for step in reversed(self.steps):
                if not step.tracked or step.var not in begun:
                    continue
                for k, operand in enumerate(step.operands):
                    if isinstance(operand, str) and self._is_tracked(operand):
                        text = slope(step, k, names)[0]
                        product = (f"g_{step.var}" if text == "1.0" else f"-g_{step.var}"
                                   if text == "-1.0" else f"g_{step.var}*{text}")
                        lines.append(_added(operand, product, begun))
            lines += [f"  {self.adjoints[n]} = g_{self.inputs[n]}" for n in self.carried]
            taken = f"for {', '.join(self.kept)}, in reversed(turns):" if self.kept else \
                "for _ in turns:"
            outs = [*[self.adjoints[n] for n in self.carried],
                    *[f"g_{self.inputs[n]}" for n in fixed]]
            source = "\n".join([
                f"def backward(turns, {', '.join([*self.inputs.values()])},"
                f" {', '.join(self.adjoints.values())}):",
                *[f" g_{self.inputs[n]} = 0.0" for n in fixed],
                f" {taken}", *(lines or ["  pass"]), f" return {', '.join(outs)},"])
            self._backward = _compiled(source, "backward", names)
        return self._backward

    def _is_tracked(self, var: str) -> bool:
        for step in self.steps:
            if step.var == var:
                return step.tracked
        return any(self.inputs[n] == var for n in self.tracked)

    def sources_of(self, turns: int) -> dict[str, set[str]]:
        """Return per bound name the tracked inputs that it depends on after so many turns."""
        turns = min(turns, len(self.bound) + 1)
        found = self.depends.get(turns)
        if found is None:
            now = {name: {name} if name in self.tracked else set() for name in self.inputs}
            for _ in range(turns):
                inside = {var: now[n] for n, var in self.inputs.items()}
                for step in self.steps:
                    inside[step.var] = set().union(*[
                        inside.get(o, set()) for o in step.operands if isinstance(o, str)]) \
                        if step.tracked else set()
                now = {**now, **{n: inside.get(v, set()) for n, v in self.bound.items()}}
            found = self.depends[turns] = {n: now[n] for n in self.bound}
        return found


def _added(var: str, product: str, begun: set[str]) -> str:
    if var in begun:
        return f"  g_{var} += {product}"
    begun.add(var)
    return f"  g_{var} = {product}"


def _compiled(source: str, name: str, names: dict[str, Any]) -> Callable[..., Any]:
    names["EDGE"] = EDGE
    exec(source, names)
    made: Callable[..., Any] = names[name]
    return made


def slope(step: Step, k: int, names: dict[str, Any] | None = None) -> tuple[str, list[str]]:
    """Return the partial of a step in operand k as Python text, and the variables that it reads."""
    names = {} if names is None else names
    op = step.op
    rule = op.rules[k]
    if isinstance(rule, float):
        return number_text(rule), []
    places = [*step.operands, step.var]
    symbols = [
        Symbol(p, frozenset((p,)), names) if isinstance(p, str) else p for p in places]
    try:
        found = rule(*symbols)  # type: ignore[misc]
        if isinstance(found, Symbol):
            return found.text, [p for p in places if isinstance(p, str) and p in found.reads]
        return number_text(float(found)), []
    except (TypeError, AttributeError, GradcliError, *EDGE):
        # A rule that looks at its numbers, or fails at the constants among them, is called.
        names[f"r_{op.name}_{k}"] = fast_rules(op)[k]
        texts = [p if isinstance(p, str) else number_text(p) for p in places]
        return (f"r_{op.name}_{k}({', '.join(texts)})",
                [p for p in places if isinstance(p, str)])


class Stretch(Standing):
    """The operation of an entry that is many turns of a plan.

    turns: what was saved of each. values: the inputs when it began. ids: of the tracked inputs.
    outs: the ids of the bound names; of those set aside, `plan.count` are for each turn.
    """

    __slots__ = ("ids", "outs", "plan", "turns", "values")

    def __init__(self, plan: Plan, turns: list[Any], values: Sequence[float],
                 ids: Mapping[str, int]) -> None:
        steps = [step for step in plan.steps if step.tracked]
        super().__init__(plan.count * len(turns),
                         next((s.op.kink for s in steps if s.op.kink is not None), None),
                         any(s.op.partial for s in steps))
        self.plan = plan
        self.turns = turns
        self.values = values
        self.ids = dict(ids)
        place = {step.var: n for n, step in enumerate(steps)}
        base = self.last - plan.count + 1
        self.outs = {
            name: base + place[var] for name, var in plan.bound.items() if var in place}

    def pull_back(self, adjoints: dict[int, float], asked: set[int], wanted: dict[int, float]
                  ) -> bool:
        """See `Standing`; a source that was made inside has paths to what else was made there."""
        if not asked.isdisjoint(self.outs.values()):
            return False
        plan = self.plan
        # Two names may be bound to one value: the first brings its adjoint.
        given: dict[str, int] = {}
        for name, i in self.outs.items():
            if i in adjoints and i not in given.values():
                given[name] = i
        if not given:
            return True
        found = plan.backward()(self.turns, *self.values, *[
            adjoints[given[name]] if name in given else 0.0 for name in plan.bound])
        for i in given.values():
            del adjoints[i]
        depends = plan.sources_of(len(self.turns))
        reached = set().union(*[depends[name] for name in given])
        names = [*plan.carried, *[
            n for n in plan.inputs if n not in plan.bound and n in plan.tracked]]
        for name, g in zip(names, found, strict=True):
            if name in reached:
                i = self.ids[name]
                adjoints[i] = adjoints[i] + g if i in adjoints else g
        return True

    def is_extreme(self) -> bool:
        """See `Standing`. What grows in a loop is seen in some of its turns."""
        plan, turns = self.plan, self.turns
        return plan.extreme or are_extreme(self.values) or (bool(plan.kept) and not hypot(
            *chain.from_iterable(turns[::16]), *chain.from_iterable(turns[-1:])) < LARGE)

    def expand(self) -> list[Entry]:
        """Return the entries that this stretch stands for."""
        plan = self.plan
        out: list[Entry] = []
        number = self.first
        held: dict[str, tuple[float, int | None]] = {
            plan.inputs[n]: (v, self.ids.get(n))
            for n, v in zip(plan.inputs, self.values, strict=True)}
        for _ in self.turns:
            for step in plan.steps:
                pairs = [held[o] if isinstance(o, str) else (o, None) for o in step.operands]
                values = tuple([v for v, _ in pairs])
                ans = step.op.on_scalars(values)
                if step.tracked:
                    ids = tuple([i for _, i in pairs])
                    out.append((step.op, number, ids, values, ans, PLAIN, step.place, ()))
                    held[step.var] = ans, number
                    number += 1
                else:
                    held[step.var] = ans, None
            held.update({plan.inputs[n]: held[plan.bound[n]] for n in plan.carried})
        return out


def run(plan: Plan, turns: Iterable[Any], values: Sequence[float]
        ) -> tuple[bool, int, Any, Sequence[float], list[Any]]:
    """Run turns of the body and return: whether one failed at an edge, how many were done before,
    the item that the last one began with, the values of the bound names, and what was saved.
    """
    saved: list[Any] = []
    failed, done, item, ends = plan.forward(turns, saved.append, *values)
    if not plan.kept:
        saved = [None] * done
    return failed, done, item, ends, saved


# --------------------------------------------------------------------------------------------------
# Numbers and operations as Python text, and symbols that leave the text of what is done with them.
# They run, and nobody reads them: each operation has its brackets.

INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


def call_text(op: Op, operands: Sequence[Operand], names: dict[str, Any]) -> str:
    """Return a call of an operation as Python text."""
    texts = [o if isinstance(o, str) else number_text(o) for o in operands]
    if op.name in INFIX:
        return f"{texts[0]} {INFIX[op.name]} {texts[1]}"
    if op.name == "negative":
        return f"-{texts[0]}"
    names[f"f_{op.name}"] = op.floats
    return f"f_{op.name}({', '.join(texts)})"


def number_text(x: float) -> str:
    """Return a number as Python text; infinity and NaN, which have no literal, as a call of float.
    """
    if x - x != 0.0:
        return f"float('{x!r}')"
    return repr(x) if x >= 0 else f"({x!r})"


class Symbol(Symbolic):
    """A number that is only a text: what a rule makes of symbols is the text of its slope."""

    __slots__ = ("names", "reads", "text")

    def __init__(self, text: str, reads: frozenset[str], names: dict[str, Any]) -> None:
        self.text = text
        self.reads = reads
        self.names = names

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        if attributes or op.floats is None or not op.elementwise:
            raise TypeError(op.name)
        reads = frozenset().union(*[a.reads for a in args if isinstance(a, Symbol)])
        texts = [a.text if isinstance(a, Symbol) else float(a) for a in args]
        return Symbol(f"({call_text(op, texts, self.names)})", reads, self.names)

    def __bool__(self) -> bool:
        raise TypeError("a symbol is neither true nor false")
