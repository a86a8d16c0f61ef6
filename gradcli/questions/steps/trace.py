"""An evaluation trace: what leads to a target, what each value is called, and its formula so far.

Source of the form: Griewank and Walther, Evaluating Derivatives (2008), section 2.1: values v1, v2,
... in the order in which they were computed.
"""

from __future__ import annotations

from gradcli.engine.record import record as records
from gradcli.engine.record.record import (
    ATTRIBUTES,
    IDS,
    OP,
    OUT,
    VALUES,
    active,
    ancestry,
    descendants,
)
from gradcli.engine.record.saved import is_hollow
from gradcli.engine.record.tensor import Tensor
from gradcli.explain.path import bound, filled, values_by_id
from gradcli.ops.graph import reached
from gradcli.ops.kinds import BILINEAR, FLAT, LINEAR, STOP, UNREGISTERED
from gradcli.ops.table.discrete import greater, less, logical_and
from gradcli.ops.table.elementwise import exp, log, power, sqrt, square, where
from gradcli.ops.table.trigonometric import cos, sin
from gradcli.ops.values import is_float, shape_of
from gradcli.questions.steps.text import Notation, applied, name, spelled, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.lang.running.run import Run
    from gradcli.ops.kinds import Op
    from gradcli.ops.text import Text

# A formula of more characters than this is not written out again in those behind it.
LONGEST = 36
LETTERS = ("v", "w", "u", "t", "v_")


class TargetEntries:
    """The entries that lead to a target, in order. names: id to what a value is called. leaves: ids
    that no entry made. own: ids of the sources. inside: ids that a derivative reaches from a
    source. depends: ids that depend on one in any way.
    """

    __slots__ = ("depends", "entries", "inside", "leaves", "names", "own", "values")

    def __init__(self, run: Run, ids: set[int], sources: Mapping[str, Tensor]) -> None:
        history = records.current().history()
        wanted = ancestry(history, ids)
        self.entries = [e for e in history if e[OUT] in wanted]
        made = {e[OUT] for e in self.entries}
        self.values = values_by_id(self.entries)
        own = {s.id: s.value for s in sources.values() if s.id is not None}
        for i in ids & set(own):
            self.values.setdefault(i, own[i])
        if any(is_hollow(v) for v in self.values.values()):
            self.values = filled(self.values, self.entries, {**bound(run), **own})
        self.own = set(own)
        self.leaves = [i for i in sorted(wanted) if i not in made and i in self.values]
        self.inside = active(self.entries, [i for i in own if is_float(own[i])])
        self.depends = descendants(self.entries, own)
        self.names = _names(run, sources, self.entries)

    def kind(self, entry: Entry) -> str:
        """Return the kind of an entry: input, constant, step, cut (where a derivative ends) or
        behind (what depends on a cut).
        """
        out = entry[OUT]
        if out in self.own:
            return "input"
        if out in self.inside:
            return "step"
        if out not in self.depends:
            return "constant"
        return "behind" if self.inside.isdisjoint(entry[IDS]) else "cut"


def _names(run: Run, sources: Mapping[str, Tensor], entries: Sequence[Entry]) -> dict[int, str]:
    """Return the names of values: the name that the file gives to one and to no other, else v and
    its number.
    """
    found: dict[int, str] = {}
    for text, bindings in run.bindings.items():
        values = [b.value for b in bindings if isinstance(b.value, Tensor)]
        if text in run.variables:
            values = [run.variables[text].origin()]
        ids = {v.id for v in values if v.id is not None}
        if len(ids) == 1:
            found.setdefault(ids.pop(), text)
    found.update({s.id: text for text, s in sources.items() if s.id is not None})
    used = set(run.bindings) | set(run.functions)
    letter = next((c for c in LETTERS if not any(
        n.startswith(c) and n[len(c):].isdigit() for n in used)), "step_")
    for k, entry in enumerate(entries, 1):
        found.setdefault(entry[OUT], f"{letter}{k}")
    return found


class Formulas:
    """The formulas of a trace: each step in terms of the inputs, as long as that is short.

    How long is known of all of them, from a walk in gradcli's spelling; LaTeX is written where it
    is asked for.
    """

    __slots__ = ("_done", "_entries", "_long", "_names")

    def __init__(self, trace: TargetEntries) -> None:
        self._names = trace.names
        self._entries = {entry[OUT]: entry for entry in trace.entries}
        # Of what has no name of its own: its value.
        self._done: dict[int, Notation] = {
            i: name(trace.names[i]) if i in trace.names else written(trace.values[i])
            for i in trace.leaves}
        self._long: set[int] = set()
        texts: dict[int, Text] = {i: w.text for i, w in self._done.items()}
        for entry in trace.entries:
            full = spelled(entry[OP], [
                texts[i] if i in texts else self._operand(i, v).text
                for i, v in zip(entry[IDS], entry[VALUES], strict=True)], _given(entry))
            out = entry[OUT]
            if len(full.text) > LONGEST:
                self._long.add(out)
                full = name(self._names[out]).text
            texts[out] = full

    def _operand(self, i: int | None, value: Any) -> Notation:
        if i in self._names:
            return name(self._names[i])
        return written(value) if i is None or i not in self._done else self._done[i]

    def operands(self, entry: Entry) -> list[Notation]:
        """Return what a step is made of, by name."""
        return [self._operand(i, v) for i, v in zip(entry[IDS], entry[VALUES], strict=True)]

    def operation(self, entry: Entry) -> Notation:
        """Return a step in terms of its operands."""
        return applied(entry[OP], self.operands(entry), _given(entry))

    def so_far(self, entry: Entry) -> Notation:
        """Return a step in terms of the inputs; of its operands, where that is too long."""
        return self.operation(entry) if entry[OUT] in self._long else self._short(entry[OUT])

    def _short(self, id: int) -> Notation:
        """Return what stands for a value in the formulas behind it."""
        def unwritten(i: int) -> list[int]:
            return [] if i in self._done or i in self._long else [
                j for j in self._entries[i][IDS] if j in self._entries]

        for i in sorted(reached([id], unwritten)):
            entry = self._entries[i]
            if i in self._long:
                self._done[i] = name(self._names[i])
            elif i not in self._done:
                self._done[i] = applied(entry[OP], [
                    self._done[j] if j in self._done else self._operand(j, v)
                    for j, v in zip(entry[IDS], entry[VALUES], strict=True)], _given(entry))
        return self._done[id]


def _given(entry: Entry) -> dict[str, Any]:
    """Return the attributes that the file gave, or that differ from what they are by default."""
    defaults = getattr(entry[OP], "attributes", {})
    rank = len(shape_of(entry[VALUES][0])) if entry[VALUES] else 0
    return {
        k: _counted(v, rank) if k == "axis" else v for k, v in entry[ATTRIBUTES].items()
        if isinstance(v, (int, float, str, bool, tuple, list)) and defaults.get(k) != v
        # All axes are what an axis is by default.
        and not (k == "axis" and defaults.get(k, 0) is None and v == tuple(range(-rank, 0)))}


def _counted(axis: Any, rank: int) -> Any:
    """Return an axis, or several, counted from the front; the record counts from the back."""
    if isinstance(axis, (tuple, list)):
        found = [_counted(one, rank) for one in axis]
        return found[0] if len(found) == 1 else found
    return axis + rank if isinstance(axis, int) and axis < 0 else axis


# --------------------------------------------------------------------------------------------------
# What the rule for a derivative is called in class, and its formula as a textbook has it.
#
# Rows by the name of an operation; whatever is not named here is "derivative of NAME", so that no
# operation is without a name. The table of operations writes its rules so that they do not cancel
# and compute fast; where that differs from the formula that is taught, the taught one stands here.
# A test holds both together.

NAMES = {
    "add": "sum rule", "subtract": "difference rule", "negative": "constant multiple rule",
    "positive": "identity", "multiply": "product rule", "divide": "quotient rule",
    "square": "power rule", "power": "power rule", "reciprocal": "power rule",
    "sqrt": "power rule", "cbrt": "power rule", "rsqrt": "power rule", "sum": "sum rule",
    "mean": "sum rule", "exp": "exponential rule", "exp2": "exponential rule",
    "where": "rule of the chosen branch", "maximum": "rule of the larger one",
    "minimum": "rule of the smaller one", "clip": "rule of the chosen branch",
    "relu": "rule of the chosen branch", "relu6": "rule of the chosen branch",
    "stop_gradient": "no derivative: stopped on purpose",
}
KINDS = {
    LINEAR: "linear map, transposed", BILINEAR: "product rule",
    FLAT: "no derivative: a step function", STOP: "no derivative",
    UNREGISTERED: "no derivative: no rule is registered",
}
PI = 3.141592653589793
E = 2.718281828459045
CONSTANT = "constant multiple rule"
BASE = "exponential rule"
# Of x^x, whose base and exponent are one: both rules together.
GENERAL = "general power rule"

# Per argument, of operands that are formulas being written.
TAUGHT: dict[str, Sequence[Callable[..., Any]]] = {
    "divide": (lambda x, y: 1 / y, lambda x, y: -(x / square(y))),
    "reciprocal": (lambda x: -(1 / square(x)),),
    "sqrt": (lambda x: 1 / (2.0 * sqrt(x)),),
    "rsqrt": (lambda x: -(1 / (2.0 * power(x, 1.5))),),
    "hypot": (lambda x, y: x / sqrt(square(x) + square(y)),
              lambda x, y: y / sqrt(square(x) + square(y))),
    "atan2": (lambda y, x: x / (square(x) + square(y)),
              lambda y, x: -(y / (square(x) + square(y)))),
    "exp2": (lambda x: power(2.0, x) * log(written(2.0)),),
    "log2": (lambda x: 1 / (x * log(written(2.0))),),
    "log10": (lambda x: 1 / (x * log(written(10.0))),),
    "tan": (lambda x: 1 / square(cos(x)),),
    "cot": (lambda x: -(1 / square(sin(x))),),
    "sigmoid": (lambda x: exp(-x) / square(1 + exp(-x)),),
    "relu": (lambda x: where(greater(x, 0.0), 1.0, 0.0),),
    "relu6": (lambda x: where(logical_and(greater(x, 0.0), less(x, 6.0)), 1.0, 0.0),),
    "erf": (lambda x: 2.0 * exp(-square(x)) / sqrt(written(PI)),),
    "erfc": (lambda x: -(2.0 * exp(-square(x)) / sqrt(written(PI))),),
    "erfi": (lambda x: 2.0 * exp(square(x)) / sqrt(written(PI)),),
    "ndtr": (lambda x: exp(-square(x) / 2.0) / sqrt(2.0 * written(PI)),),
    "radians": (lambda x: written(PI) / 180.0,),
    "degrees": (lambda x: 180.0 / written(PI),),
    "asinh": (lambda x: 1 / sqrt(square(x) + 1),),
    "acosh": (lambda x: 1 / sqrt(square(x) - 1),),
}


def rule_name(op: Op, k: int, constant: Sequence[bool]) -> str:
    """Return what the rule for argument k is called. constant: which arguments do not vary."""
    if getattr(op, "custom", False):
        return f"custom gradient of {op.name}"
    if not op.edge(k):
        return NAMES[op.name] if op.name == "stop_gradient" else KINDS[
            FLAT if op.kind == FLAT else STOP]
    others = [c for j, c in enumerate(constant) if j != k]
    if op.name in ("multiply", "divide") and k == 0 and others == [True]:
        return CONSTANT
    if op.name == "multiply" and others == [True]:
        return CONSTANT
    if op.name == "power" and k == 1:
        return BASE
    return NAMES.get(op.name) or KINDS.get(op.kind) or f"derivative of {op.name}"


def taught(op: Op, k: int, operands: Sequence[Any], ans: Any) -> Any:
    """Return the partial of an elementwise operation in argument k as it is taught, written or a
    number; None for an argument without one.
    """
    if op.name == "power":
        return _power(k, *operands)
    if op.name in TAUGHT:
        return TAUGHT[op.name][k](*operands)
    rule = op.rules[k] if op.rules else None
    return rule(*operands, ans) if callable(rule) else rule


def _power(k: int, x: Any, y: Any) -> Any:
    if k == 1:
        return power(x, y) if x == E else power(x, y) * log(written(x))
    if not isinstance(y, float):
        return y * power(x, y - 1)
    if y in (0, 1):
        return y
    return y * x if y == 2 else y * power(x, y - 1)
