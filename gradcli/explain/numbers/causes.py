"""Causes of values that are not finite: the class of the operation that made one, and the
sentence.
"""

from __future__ import annotations

import math
import re

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES, span_of
from gradcli.engine.record.tensor import Tensor
from gradcli.explain.catalogue import Note
from gradcli.explain.elements import (
    bad_index,
    element,
    finite,
    first_zero,
    has_inf,
    is_nan,
    operands_at,
)
from gradcli.explain.numbers import rewrites
from gradcli.explain.numbers.cancelled import Cancellation, exact_form
from gradcli.explain.numbers.limits import beginning, exact
from gradcli.explain.numbers.origins import Root, Trail
from gradcli.explain.numbers.rewrites import in_logarithms
from gradcli.explain.numbers.words import Wording, at_element, number, tight
from gradcli.ops.kinds import BILINEAR, LINEAR
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.elements import Index
    from gradcli.explain.numbers.limits import LocalSeries
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.log import Assignment, LoggedRequest
    from gradcli.lang.running.run import Binding, Run

# Whose overflow is that of a product or sum.
PRODUCTS = frozenset((
    "multiply", "add", "subtract", "square", "power", "divide", "reciprocal", "matmul", "sum",
    "mean", "prod", "squared_difference", "lerp", "ldexp"))
MOST_TURNS = 50
# Classes of values that may have a limit.
AROUND = ("nan-indeterminate", "nan-pole")
# The values at which operations have poles, and at which domains end.
EDGES = (0.0, 1.0, -1.0)
QUOTIENTS = ("divide", "reciprocal", "rsqrt")
SCALE = "scale the operands, or add logarithms in place of a product"
ADVICE = {"gamma": "work with its logarithm: lgamma", "cast_float": "keep the float64",
          "det": "work with its logarithm: logabsdet"}
LOGARITHM = "work with its logarithm: softplus, logsumexp, log_softmax"


class Fault:
    """A code, the operation (None: the value was given so), the sentence and a rewrite."""

    __slots__ = ("code", "entry", "rewrite", "span", "text")

    def __init__(self, code: str, entry: Entry | None, text: str, rewrite: str | None,
                 span: Span | None = None) -> None:
        self.code = code
        self.entry = entry
        self.text = text
        self.rewrite = rewrite
        self.span = span_of(entry) if entry is not None else span

    def note(self, *said: str) -> Note:
        """Return the cause as a note; `said` comes before the rewrite."""
        text = "; ".join([self.text, *[s for s in said if s]])
        return Note(self.code, f"{text}; {self.rewrite}" if self.rewrite else text, self.span,
                    self.rewrite or None)


class Explainer:
    """The data that explanations of one run share.

    last: id of the last value that the program itself made.
    trials: as in `Wording`.
    limits: the series of the target around the point, one for each source.
    """

    __slots__ = ("limits", "run", "trail", "words")

    def __init__(self, run: Run, source: Source, last: int | None = None,
                 trials: Trials | None = None) -> None:
        self.run = run
        self.trail = Trail(run.record.history())
        self.words = Wording(source, last, trials)
        self.limits: list[LocalSeries] = []

    # --- values -------------------------------------------------------------------------------

    def value(self, root: Root, is_bad_nan: bool) -> Fault:
        """Return the cause of a value that is not finite, from its root, with the target's limit
        around the point. is_bad_nan: it is NaN, else infinite.
        """
        cause = self._assigned(root) or self._value(root, is_bad_nan)
        if cause.code in AROUND:
            self.add_limits(cause, root.turned)
        return cause

    def add_limits(self, cause: Fault, turned: Entry | None) -> None:
        """Add to a cause what the target tends to around the point and, where it has a limit, the
        rewrite that continues it.
        """
        said = None
        for limits in self.limits:
            entries = [one for one in (cause.entry, turned, self.trail.by_out.get(
                limits.target)) if one is not None and self._is_regular(limits, one)]
            if entries:
                last = entries[-1]
                said = limits.sentence() if last[OUT] == limits.target else limits.removable(
                    last[OUT], self.words.name(last))
                cause.rewrite = self._continued(limits, entries)
                break
            if limits.regular(limits.target) is not None:
                cause.rewrite = None
            said = said or limits.sentence()
        cause.text += f"; {said}" if said is not None else ""

    def _is_regular(self, limits: LocalSeries, entry: Entry) -> bool:
        """Return whether an operation has a limit, the same in all turns of a loop."""
        first, turns = limits.regular(entry[OUT], 1), limits.turns(entry)
        return first is not None and len(turns) <= MOST_TURNS and all(
            limits.regular(one[OUT], 1) == first for one in turns)

    def _continued(self, limits: LocalSeries, entries: Sequence[Entry]) -> str | None:
        """Return the advice to replace one of some operations by the first terms of its series at
        the point where it has no value.
        """
        for entry in entries:
            c, text = limits.regular(entry[OUT]), self.words.of(entry)
            if c is None or not text or any(
                    self.trail.depends(entry[OUT], i) for i in limits.others):
                continue
            name, point = limits.name, limits.point
            word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
            parts = self.words.operands(entry) if entry[OP].name == "divide" else None
            here = word.search(text) is not None
            if not here and (not parts or c[1] != 0):
                continue
            # The branch that is not used has a harmless operand, so that its slope does no harm.
            where = f"{name} == {exact(point)}" if here or not parts else f"{parts[1]} == 0"
            other = f"{tight(parts[0])}/where({where}, 1, {parts[1]})" if parts else word.sub(
                f"where({where}, {exact(point + 1.0)}, {name})", text)
            terms = beginning(c[:limits.order + 1], name, point)
            told = self.words.write((f"where({where}, {terms}, {other})", entry), entry)
            if told is not None:
                return told
        return None

    def _assigned(self, root: Root) -> Fault | None:
        """Return the cause at the first assignment that made a variable not finite, found back
        through assignments and gradients; None if the root is no such variable.
        """
        if self.run.log is None or root.entry is not None or root.user is None:
            return None
        states = {state.after: state for state in self.run.log.states}
        id, last = root.user[OUT], None
        while id in states or id in self.trail.by_out:
            if id in states:
                last = states[id]
                old = states.get(last.before or 0)
                id = last.before or 0 if last.how != "assign" and old is not None and not finite(
                    old.value) else last.taken or 0
                continue
            if last is None or finite(self.trail.by_out[id][ANS]):
                return None
            entry = self.trail.by_out[id]
            root = self.trail.root(entry, bad_index(entry[ANS]))
            if root.entry is None:
                id = root.user[OUT] if root.user is not None and root.user[OUT] in states else 0
                continue
            request = next((q for q in self.run.log.requests
                            if q.first < root.entry[OUT] < q.last), None)
            bad = [i for i, v in request.made.items() if not finite(v)] if request else []
            if bad and bad[0] in self.trail.by_out:
                id = bad[0]
                continue
            return self._in_turn(root, last, request)
        return None

    def _in_turn(self, root: Root, state: Assignment, request: LoggedRequest | None) -> Fault:
        """Return the cause of a variable's value with its turn. question: whose gradient it was."""
        assert self.run.log is not None
        assert root.entry is not None
        late = self.words.last
        self.words.last = request.first if request is not None else late
        cause = self._of_operation(root.entry, root.index)
        self.words.last = late
        turns = [one.after for one in self.run.log.states if one.span == state.span]
        turn = turns.index(state.after) + 1
        if len(turns) > 1:
            cause.text += f", in turn {turn} of {len(turns)}"
        cause.text += f"; from there on `{state.name}` is not finite"
        if turn > 1 and cause.code == "nan-overflow":
            cause.rewrite = "take smaller steps"
        return cause

    def _value(self, root: Root, is_bad_nan: bool) -> Fault:
        turned = root.turned if is_bad_nan else None
        if root.entry is None:
            return self.given(root) if turned is None else self._indeterminate(turned, root)
        cause = self._of_operation(root.entry, root.index)
        if turned is None:
            return cause
        if cause.code == "nan-pole" and not self._meets_itself(turned, root):
            if turned[OP].name not in ("multiply", "xlogy", "matmul", "sum"):
                return self._indeterminate(turned, root)
            # The infinity made the NaN of a product, so it is what has to be mended.
            return Fault(
                "nan-indeterminate", root.entry, f"{self.spoiled(root.entry, root.index)}"
                f", and 0 times inf in {self.words.where(turned)} is not a number",
                self.words.write(
                    rewrites.of_product(self.trail, self.words, root.entry), root.entry))
        cause.text += f"; {self.words.where(turned)} makes NaN of it"
        return cause

    def _meets_itself(self, turned: Entry, root: Root) -> bool:
        """Return whether an infinity became NaN where it met itself, as in x - max(x)."""
        bad = [(turned[IDS][k], at) for k, v, at in operands_at(turned, bad_index(turned[ANS]))
               if not finite(v)]
        return len(bad) > 1 and all(
            i in self.trail.by_out and self.trail.root(self.trail.by_out[i], at).entry
            is root.entry for i, at in bad)

    def _of_operation(self, entry: Entry, index: Index) -> Fault:
        """Return the cause where finite operands gave a value that is not finite."""
        operands = operands_at(entry, index, every=True)
        values = [v for _, v, _ in operands]
        if getattr(entry[OP], "custom", False):
            return Fault("nan-domain" if is_nan(element(entry[ANS], index)) else "nan-overflow",
                         entry, self.spoiled(entry, index), "look at what happens inside of it")
        kind = _class_of(entry, values, element(entry[ANS], index))
        if kind in (*AROUND, "nan-domain"):
            for k in (1,) if entry[OP].name == "divide" else range(len(values)):
                small = self.trail.underflow(entry, k, index)
                if small is not None:
                    return self.underflow(small, self.spoiled(entry, index))
            lost = self._rounded(entry, operands)
            if lost is not None:
                return self._cancelled(lost, self.spoiled(entry, index))
        if kind == "nan-overflow":
            return Fault(kind, entry, f"{self.described(entry, index)} is too large for a float",
                         self.rescaled(entry, ADVICE.get(entry[OP].name, LOGARITHM)))
        # Where two operands are shown, such as 1/0, the domain adds nothing.
        domain = self.words.domain(entry) if kind == "nan-domain" or len(values) == 1 else ""
        before = self.to_edge(entry, index)
        return Fault(kind, entry, before + self.spoiled(entry, index) + domain,
                     self.guard(entry, entry, before != "") or (
                         "keep the operand inside of the domain" if kind == "nan-domain" else
                         None if before else "keep the operand away from that point"))

    def _rounded(self, entry: Entry, operands: Sequence[tuple[int, Any, Index]]) -> Entry | None:
        """Return the operation whose rounding puts an operand at or beyond an edge; or None."""
        for k, value, at in operands:
            id, whole = entry[IDS][k], entry[VALUES][k]
            if id is not None and type(value) is float:
                picked: Any = 1.0
                if shape_of(whole):
                    picked = np.zeros(shape_of(whole))
                    picked[at] = 1.0
                lost = Cancellation(self.run, [Tensor(whole, id)], self.words.source).at_edge(
                    min(abs(value - edge) for edge in EDGES), [picked])
                if lost is not None and not self.words.late(lost):
                    return lost
        return None

    def to_edge(self, entry: Entry, index: Index) -> str:
        """Return the clause that an operand is at an edge (0, 1, -1) only by rounding; else ""."""
        lost = self.trail.rounded(entry, index)
        if lost is None or self.words.late(lost[0]):
            return ""
        return f"{self.described(*lost)} is rounded to {number(element(lost[0][ANS], lost[1]))}; "

    def _cancelled(self, lost: Entry, then: str) -> Fault:
        """Return the cause that digits cancel in an operation. then: the clause on what follows."""
        trials = self.words.trials
        form = exact_form(self.run, lost, self.words.source, trials, math.inf, derived=False) \
            if trials is not None else ""
        return Fault("digits-cancelled", lost, f"all digits cancel in {self.words.name(lost)}: what"
                     f" is left is rounding; {then}", form or "there is no digit to go on from")

    def guard(self, entry: Entry, at: Entry, rounded: bool = False) -> str | None:
        """Return the advice to keep an operation inside its domain, for a note at `at`.

        rounded: only rounding brought the operand to the edge, so that a bound would hide a number.
        """
        rewrite = rewrites.inside(self.trail, self.words, entry)
        zero = rewrite is not None and "_no_nan(" in rewrite[0]
        if rewrite is not None and rounded and ("clip(" in rewrite[0] or "maximum(" in rewrite[0]):
            return None
        if rewrite is not None and self.words.jumps(rewrite):
            return None
        return self.words.write(rewrite, at, "if 0 is meant there, " if zero else "guard it: ")

    def rescaled(self, entry: Entry, otherwise: str) -> str:
        """Return the advice to write in logarithms a value beyond the range of floats."""
        otherwise = SCALE if entry[OP].name in PRODUCTS else otherwise
        return next(filter(None, (
            self.words.write(in_logarithms(self.trail, self.words, entry, sizes), entry)
            for sizes in (False, True))), otherwise)

    def underflow(self, small: Entry, then: str) -> Fault:
        """Return the cause that a 0 stands for a smaller number, or an infinity for a larger one.
        then: the clause on what follows.
        """
        large = has_inf(small[ANS])
        says = self.described(
            small, bad_index(small[ANS]) if large else first_zero(small[ANS]) or ())
        what = "large for a float" if large else "small for a float and becomes 0"
        return Fault("nan-overflow" if large else "nan-underflow", small,
                     f"{says} is too {what}; {then}",
                     self.rescaled(small, "work with its logarithm"))

    def given(self, root: Root) -> Fault:
        """Return the cause of a value that was given so: an input, a variable, a constant."""
        bad = f"is {number(root.value)}{at_element(root.index)}"
        binding = self.binding(root.leaf)
        if binding is not None and binding.kind == "assigned":
            return Fault("nan-spread", None, f"`{binding.name}` {bad} since it was assigned here,"
                         " and that spreads", "ask the tape of the step before, whose gradient or"
                         " size of step made it so", binding.span)
        if binding is not None and binding.kind == "outside":
            return Fault("nan-spread", None, f"`{binding.name}` {bad}: of what made it, before any"
                         " tape recorded, only this is not defined for all numbers; and that"
                         " spreads", "guard it here: a divisor of 0, a logarithm or root of 0 or"
                         " less", binding.span)
        if binding is not None and binding.kind == "constant":
            return Fault("nan-spread", None, f"`{binding.name}` {bad} already, and that spreads",
                         f"give `{binding.name}` finite values", binding.span)
        if binding is not None:
            return Fault("nan-spread", None, f"`{binding.name}` {bad} where it gets its value, and"
                         " that spreads", f"give `{binding.name}` finite values", binding.span)
        return Fault("nan-spread", root.user, f"a constant {bad}, and that spreads",
                     "give it finite values")

    def binding(self, id: int | None) -> Binding | None:
        """Return the first binding of a name to this value."""
        return next((b for bindings in self.run.bindings.values() for b in bindings
                     if id is not None and getattr(b.value, "id", None) == id), None)

    def _indeterminate(self, turned: Entry, root: Root) -> Fault:
        """Return the cause where infinity met infinity, or 0, and gave NaN."""
        at = bad_index(turned[ANS])
        came = f"the infinity comes from {self.words.where(root.entry)}" if root.entry else \
            self.given(root).text.removesuffix(", and that spreads")
        rewrite = rewrites.of_product(self.trail, self.words, root.entry) \
            if root.entry is not None and turned[OP].name == "multiply" else None
        return Fault(
            "nan-indeterminate", turned, f"{self.described(turned, at)} is not a number; {came}",
            self.words.write(rewrite, turned) or (
                "keep both operands finite" if len(turned[IDS]) > 1 else
                "keep its operand finite"))

    # --- words --------------------------------------------------------------------------------

    def described(self, entry: Entry, index: Index) -> str:
        """Return the text of an operation with its operands' values at an element."""
        return self.words.described(
            entry, [v for _, v, _ in operands_at(entry, index, every=True)], index)

    def spoiled(self, entry: Entry, index: Index) -> str:
        """Return the clause that an element of an operation's answer is not finite."""
        nan = is_nan(element(entry[ANS], index))
        return f"{self.described(entry, index)} is {'not a number' if nan else 'infinite'}"


def _class_of(entry: Entry, values: Sequence[Any], value: Any) -> str:
    """Return the class (a `nan-` code) of a value that an operation made of finite operands."""
    name = entry[OP].name
    if not entry[OP].elementwise:
        if not all(v.size for v in entry[VALUES] if shape_of(v)):
            return "nan-indeterminate"
        return "nan-domain" if is_nan(value) and entry[OP].kind not in (LINEAR, BILINEAR) else \
            "nan-overflow"
    if is_nan(value):
        return "nan-indeterminate" if name == "divide" and values[-1:] == [0] else "nan-domain"
    if "growing" in entry[OP].traits:
        return "nan-overflow"
    if name in QUOTIENTS:
        return "nan-pole" if values[-1] == 0 else "nan-overflow"
    if name == "power":
        return "nan-pole" if values[0] == 0 else "nan-overflow"
    # Poles are at 0, 1, -1 and 2 (erfcinv), and at the negative whole numbers.
    pole = any(v % 1 == 0 and v <= 2 for v in values if type(v) in (int, float))
    return "nan-pole" if pole else "nan-overflow"


# --------------------------------------------------------------------------------------------------
# The class of what made a cotangent no finite number, and the sentence about it.
