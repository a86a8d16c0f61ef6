"""The class of what made a value no finite number, and the sentence about it."""

from __future__ import annotations

import math
import re

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES, span_of
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.sweeps.absorbing import SELECTING
from gradcli.engine.sweeps.wide_values import UNABLE
from gradcli.explain.catalogue import Note
from gradcli.explain.numbers import rewrites
from gradcli.explain.numbers.cancelled import Cancelled
from gradcli.explain.numbers.exact_forms import exact_form
from gradcli.explain.numbers.limits import beginning, exact
from gradcli.explain.numbers.logarithms import in_logarithms
from gradcli.explain.numbers.origins import Root, Trail
from gradcli.explain.numbers.words import Words, at_element, number, tight
from gradcli.explain.written import (
    bad_index,
    element,
    finite,
    first_zero,
    has_inf,
    is_nan,
    operands_at,
)
from gradcli.ops.kinds import BILINEAR, LINEAR, TABLE
from gradcli.ops.values import shape_of
from gradcli.ops.wide import wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.numbers.limits import Limits
    from gradcli.explain.numbers.origins import Origin
    from gradcli.explain.numbers.trials import Trials
    from gradcli.explain.written import Index
    from gradcli.lang.running.log import Asked, State
    from gradcli.lang.running.run import Binding, Run

# Growing operations, whose infinity is an overflow and not a pole.
PRODUCTS = frozenset((
    "multiply", "add", "subtract", "square", "power", "divide", "reciprocal", "matmul", "sum",
    "mean", "prod", "squared_difference", "lerp", "ldexp"))
GROWING = PRODUCTS - {"power", "divide", "reciprocal"} | {
    "exp", "exp2", "expm1", "sinh", "cosh", "softplus", "logaddexp", "erfi", "erfcx", "besseli",
    "logcosh", "elu", "selu"}
MOST_TURNS = 50
# Classes of values that may have a limit.
AROUND = ("nan-indeterminate", "nan-pole")
# Where operations have poles, and where domains end.
EDGES = (0.0, 1.0, -1.0)
QUOTIENTS = ("divide", "reciprocal", "rsqrt")
SCALE = "scale the operands, or add logarithms in place of a product"
ADVICE = {"gamma": "work with its logarithm: lgamma", "cast_float": "keep the float64",
          "det": "work with its logarithm: logabsdet"}
LOGARITHM = "work with its logarithm: softplus, logsumexp, log_softmax"


class Cause:
    """A code, the operation (None: the value came so) and what to say of it."""

    __slots__ = ("code", "entry", "rewrite", "span", "text")

    def __init__(self, code: str, entry: Entry | None, text: str, rewrite: str | None,
                 span: Span | None = None) -> None:
        self.code = code
        self.entry = entry
        self.text = text
        self.rewrite = rewrite
        self.span = span_of(entry) if entry is not None else span

    def note(self, *said: str) -> Note:
        """As a note; `said` goes before the rewrite."""
        text = "; ".join([self.text, *[s for s in said if s]])
        return Note(self.code, f"{text}; {self.rewrite}" if self.rewrite else text, self.span)


class About:
    """What every explanation of one run needs.

    last: id of the last value that the program itself made. trials: as `Words` takes them. limits:
    what the target is around the point, in one of its sources each.
    """

    __slots__ = ("limits", "run", "trail", "words")

    def __init__(self, run: Run, source: Source, last: int | None = None,
                 trials: Trials | None = None) -> None:
        self.run = run
        self.trail = Trail(run.record.history())
        self.words = Words(source, last, trials)
        self.limits: list[Limits] = []

    # --- values -------------------------------------------------------------------------------

    def value(self, root: Root, is_bad_nan: bool) -> Cause:
        """The cause of a value that is NaN (or infinite), from where it began, and what the target
        is around the point.
        """
        cause = self._assigned(root) or self._value(root, is_bad_nan)
        if cause.code in AROUND:
            self.around(cause, root.turned)
        return cause

    def around(self, cause: Cause, turned: Entry | None) -> None:
        """Add what the target is around the point, and where it has a limit what continues it."""
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

    def _is_regular(self, limits: Limits, entry: Entry) -> bool:
        """Whether an operation has a limit, the same in all turns of a loop."""
        first, turns = limits.regular(entry[OUT], 1), limits.turns(entry)
        return first is not None and len(turns) <= MOST_TURNS and all(
            limits.regular(one[OUT], 1) == first for one in turns)

    def _continued(self, limits: Limits, entries: Sequence[Entry]) -> str | None:
        """The advice to give one of some operations the first two terms of its series where it has
        no value.
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

    def _assigned(self, root: Root) -> Cause | None:
        """Of a variable that was assigned what is not finite the first place where it was not,
        through all assignments and gradients on the way.
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
            question = next((q for q in self.run.log.questions
                             if q.first < root.entry[OUT] < q.last), None)
            bad = [i for i, v in question.made.items() if not finite(v)] if question else []
            if bad and bad[0] in self.trail.by_out:
                id = bad[0]
                continue
            return self._in_turn(root, last, question)
        return None

    def _in_turn(self, root: Root, state: State, question: Asked | None) -> Cause:
        """The cause of a variable's value, and in which turn it was. question: whose gradient it
        was, if it was one.
        """
        assert self.run.log is not None
        assert root.entry is not None
        late = self.words.last
        self.words.last = question.first if question is not None else late
        cause = self._made(root.entry, root.index)
        self.words.last = late
        turns = [one.after for one in self.run.log.states if one.span == state.span]
        turn = turns.index(state.after) + 1
        if len(turns) > 1:
            cause.text += f", in turn {turn} of {len(turns)}"
        cause.text += f"; from there on `{state.name}` is not finite"
        if turn > 1 and cause.code == "nan-overflow":
            cause.rewrite = "take smaller steps"
        return cause

    def _value(self, root: Root, is_bad_nan: bool) -> Cause:
        turned = root.turned if is_bad_nan else None
        if root.entry is None:
            return self.given(root) if turned is None else self._indeterminate(turned, root)
        cause = self._made(root.entry, root.index)
        if turned is None:
            return cause
        if cause.code == "nan-pole":
            if turned[OP].name not in ("multiply", "xlogy", "matmul", "sum"):
                return self._indeterminate(turned, root)
            # The infinity made the NaN of a product, so it is what has to be mended.
            return Cause(
                "nan-indeterminate", root.entry, f"{self.spoiled(root.entry, root.index)}"
                f", and 0 times inf in {self.words.where(turned)} is not a number",
                self.words.write(
                    rewrites.of_product(self.trail, self.words, root.entry), root.entry))
        cause.text += f"; {self.words.where(turned)} makes NaN of it"
        return cause

    def _made(self, entry: Entry, index: Index) -> Cause:
        """The cause where an operation made of finite operands what is not finite."""
        operands = operands_at(entry, index, every=True)
        values = [v for _, v, _ in operands]
        if getattr(entry[OP], "custom", False):
            return Cause("nan-domain" if is_nan(element(entry[ANS], index)) else "nan-overflow",
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
            return Cause(kind, entry, f"{self.told(entry, index)} is too large for a float",
                         self.rescaled(entry, ADVICE.get(entry[OP].name, LOGARITHM)))
        # Of two operands that are told, such as 1/0, the domain says no more.
        domain = self.words.domain(entry) if kind == "nan-domain" or len(values) == 1 else ""
        before = self.to_edge(entry, index)
        return Cause(kind, entry, before + self.spoiled(entry, index) + domain,
                     self.guard(entry, entry, before != "") or (
                         "keep the operand inside of the domain" if kind == "nan-domain" else
                         None if before else "keep the operand away from that point"))

    def _rounded(self, entry: Entry, operands: Sequence[tuple[int, Any, Index]]) -> Entry | None:
        """The operation whose rounding alone decides that an operand is at or beyond an edge."""
        for k, value, at in operands:
            id, whole = entry[IDS][k], entry[VALUES][k]
            if id is not None and type(value) is float:
                picked: Any = 1.0
                if shape_of(whole):
                    picked = np.zeros(shape_of(whole))
                    picked[at] = 1.0
                lost = Cancelled(self.run, [Tensor(whole, id)], self.words.source).at_edge(
                    min(abs(value - edge) for edge in EDGES), [picked])
                if lost is not None and not self.words.late(lost):
                    return lost
        return None

    def to_edge(self, entry: Entry, index: Index) -> str:
        """The clause that an operand is at an edge, 0 or 1 or -1, only by rounding; else empty."""
        lost = self.trail.rounded(entry, index)
        if lost is None or self.words.late(lost[0]):
            return ""
        return f"{self.told(*lost)} is rounded to {number(element(lost[0][ANS], lost[1]))}; "

    def _cancelled(self, lost: Entry, then: str) -> Cause:
        """What is left of digits that cancel, and what happened with it."""
        trials = self.words.trials
        form = exact_form(self.run, lost, self.words.source, trials, math.inf, derived=False) \
            if trials is not None else ""
        return Cause("digits-cancelled", lost, f"all digits cancel in {self.words.name(lost)}: what"
                     f" is left is rounding; {then}", form or "there is no digit to go on from")

    def guard(self, entry: Entry, at: Entry, rounded: bool = False) -> str | None:
        """The advice to keep an operation inside of its domain, in a note at `at`. rounded: only
        rounding brought it to the edge, so that a bound would hide a number.
        """
        rewrite = rewrites.inside(self.trail, self.words, entry)
        zero = rewrite is not None and "_no_nan(" in rewrite[0]
        if rewrite is not None and rounded and ("clip(" in rewrite[0] or "maximum(" in rewrite[0]):
            return None
        if rewrite is not None and self.words.jumps(rewrite):
            return None
        return self.words.write(rewrite, at, "if 0 is meant there, " if zero else "guard it: ")

    def rescaled(self, entry: Entry, otherwise: str) -> str:
        """The advice to write in logarithms what is too large or too small for a float."""
        otherwise = SCALE if entry[OP].name in PRODUCTS else otherwise
        return next(filter(None, (
            self.words.write(in_logarithms(self.trail, self.words, entry, sizes), entry)
            for sizes in (False, True))), otherwise)

    def underflow(self, small: Entry, then: str) -> Cause:
        """A 0 that stands for a smaller number, or an infinity for a larger one, and what happened
        with it.
        """
        large = has_inf(small[ANS])
        says = self.told(small, bad_index(small[ANS]) if large else first_zero(small[ANS]) or ())
        what = "large for a float" if large else "small for a float and becomes 0"
        return Cause("nan-overflow" if large else "nan-underflow", small,
                     f"{says} is too {what}; {then}",
                     self.rescaled(small, "work with its logarithm"))

    def given(self, root: Root) -> Cause:
        """A value that came so: an input, a variable, a constant."""
        bad = f"is {number(root.value)}{at_element(root.index)}"
        binding = self.binding(root.leaf)
        if binding is not None:
            return Cause("nan-spread", None, f"`{binding.name}` {bad} where it gets its value, and"
                         " that spreads", f"give `{binding.name}` finite values", binding.span)
        return Cause("nan-spread", root.user, f"a constant {bad}, and that spreads",
                     "give it finite values")

    def binding(self, id: int | None) -> Binding | None:
        """The first name that got this value."""
        return next((b for bindings in self.run.bindings.values() for b in bindings
                     if id is not None and getattr(b.value, "id", None) == id), None)

    def _indeterminate(self, turned: Entry, root: Root) -> Cause:
        """Infinity met infinity, or 0, and made NaN."""
        at = bad_index(turned[ANS])
        came = f"the infinity comes from {self.words.where(root.entry)}" if root.entry else \
            self.given(root).text.removesuffix(", and that spreads")
        rewrite = rewrites.of_product(self.trail, self.words, root.entry) \
            if root.entry is not None and turned[OP].name == "multiply" else None
        return Cause(
            "nan-indeterminate", turned, f"{self.told(turned, at)} is not a number; {came}",
            self.words.write(rewrite, turned) or (
                "keep both operands finite" if len(turned[IDS]) > 1 else
                "keep its operand finite"))

    # --- words --------------------------------------------------------------------------------

    def told(self, entry: Entry, index: Index) -> str:
        """The operation with its operands' values at an element."""
        return self.words.told(
            entry, [v for _, v, _ in operands_at(entry, index, every=True)], index)

    def spoiled(self, entry: Entry, index: Index) -> str:
        """The same, and that the element is not finite."""
        nan = is_nan(element(entry[ANS], index))
        return f"{self.told(entry, index)} is {'not a number' if nan else 'infinite'}"


def _class_of(entry: Entry, values: Sequence[Any], value: Any) -> str:
    """The class of what an operation makes of finite operands."""
    name = entry[OP].name
    if not entry[OP].elementwise:
        if not all(v.size for v in entry[VALUES] if shape_of(v)):
            return "nan-indeterminate"
        return "nan-domain" if is_nan(value) and entry[OP].kind not in (LINEAR, BILINEAR) else \
            "nan-overflow"
    if is_nan(value):
        return "nan-indeterminate" if name == "divide" and values[-1:] == [0] else "nan-domain"
    if name in GROWING:
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

UNUSED = "the gradient there is 0, because the value is not used"


class Slopes(About):
    """The same for gradients."""

    __slots__ = ()

    def gradient(self, origin: Origin, g: Any, wrt: int, of: str, then: str = "") -> Note:
        """What made a derivative NaN or infinite, or, if g is finite, would have.

        wrt: id of the source. of: what g is called. then: what happened to the slope afterwards.
        """
        entry = origin.entry
        if origin.upstream is not None and not finite(origin.upstream):
            return Cause("nan-overflow", entry, f"the parts of the gradient that meet in"
                         f" {self.words.name(entry)}{at_element(origin.index)} add up to more than"
                         " a float holds", SCALE).note(then, _ends(g, of, bad_index(g)))
        shape = shape_of(g)
        own = len(origin.index) == len(shape) and all(map(int.__lt__, origin.index, shape)) and (
            not finite(element(g, origin.index)))
        at = origin.index if own else bad_index(g)
        ends = "" if finite(g) else _ends(g, of, at)
        zero = origin.upstream is not None and origin.upstream == 0
        if origin.unused():
            return self._dead(origin).note(
                UNUSED if finite(g) else f"its slope still counts, and {_product(origin)}", ends)
        root = self._root(origin)
        if finite(g) and zero:
            return self._zero_times(origin, self._taken(origin, wrt)).note()
        if origin.turned is not None and self._unused(origin.turned, wrt):
            return self._behind(origin).note(UNUSED if finite(g) else _product(origin), ends)
        cause = self._zero_times(origin) if root is None and zero else \
            self._of_root(origin, root) if root is not None else \
            self._steep(origin, None if origin.turned is not None or is_nan(g) else element(g, at))
        if finite(g):
            ends = "what is not used absorbs it, so the derivative is a number"
        elif origin.turned is not None:
            then = f"{self.words.where(origin.turned)} has slope 0 there, and {_product(origin)}"
        return cause.note(then, ends)

    def _dead(self, origin: Origin) -> Cause:
        """Operations whose values are not used: all that one selection leaves out together."""
        groups: list[tuple[Entry, list[tuple[Entry, Index, int]]]] = []
        for one in (origin, *origin.beside):
            assert one.zero_by is not None
            if not groups or all(by is not one.zero_by for by, _ in groups):
                groups.append((one.zero_by, []))
            group = next(group for by, group in groups if by is one.zero_by)
            group += [made for made in self._makers(one)
                      if made[0] not in [entry for entry, *_ in group]]
        says, writes = [], []
        for by, group in groups:
            names = list(dict.fromkeys([self.told(entry, index) for entry, index, _ in group]))
            says.append(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not used here:"
                        f" {self._chooses(by)}")
            at = group[0][0]
            whole = rewrites.dead_branches(self.words, [(entry, k) for entry, _, k in group], by)
            writes += [self.words.write(whole, at)] if whole is not None else [
                self.words.write(rewrites.inside(self.trail, self.words, entry), at)
                for entry, *_ in group]
        return Cause("nan-dead-branch", groups[0][1][0][0], "; ".join(says),
                     "; ".join(dict.fromkeys(filter(None, writes))) or None)

    def _makers(self, origin: Origin) -> list[tuple[Entry, Index, int]]:
        """What made operands that are not finite, or else the operation itself: element, operand.
        """
        entry, index, root = origin.entry, origin.index, self._root(origin)
        if root is None or root.entry is None or root.entry is entry:
            return [(entry, index, origin.k)]
        roots = [self.trail.root(self.trail.by_out[i], at)
                 for k, v, at in operands_at(entry, index) if not finite(v)
                 for i in [entry[IDS][k]] if i in self.trail.by_out] if (
                     entry[OP].elementwise) else [root]
        return [(one.entry, one.index, 0) for one in (root, *roots) if one.entry is not None]

    def _chooses(self, by: Entry) -> str:
        return "the first derivative is another branch's" if self.words.late(by) else \
            f"{self.words.where(by)} takes the other value"

    def _taken(self, origin: Origin, wrt: int) -> str:
        """Why a product 0 * inf is taken as 0."""
        if origin.zero_by is not None and self._unused(origin.zero_by, wrt):
            return "the gradient there is 0, because with a factor 0 the value is not used"
        if origin.entry[OP].name != "sqrt":
            return UNUSED
        return f"0 times inf counts as 0 at {self.words.name(origin.entry)}, as in TensorFlow"

    def _unused(self, by: Entry, wrt: int) -> bool:
        """Whether an operation selects, or multiplies by a constant 0."""
        return by[OP].name in SELECTING or (by[OP].name == "multiply" and any(
            first_zero(v) is not None and not self.trail.depends(i, wrt)
            for i, v in zip(by[IDS], by[VALUES], strict=True)))

    def _behind(self, origin: Origin) -> Cause:
        """An infinite slope of a value that is made of one which is not used."""
        entry, by = origin.entry, origin.turned
        assert by is not None
        selects = by[OP].name in SELECTING
        return Cause(
            "nan-dead-branch" if selects else "nan-zero-times-inf", entry,
            f"{self.told(entry, origin.index)} has slope {_slope(origin)}, and"
            f" {self.words.where(by)} {'does not use its operand' if selects else 'has a factor 0'}"
            " here", self.words.write(rewrites.off_edge(self.trail, self.words, entry), entry))

    def _root(self, origin: Origin) -> Root | None:
        """Where the value that spoiled the slope began, if it was no finite one."""
        entry = origin.entry
        index = origin.index if entry[OP].elementwise else bad_index(entry[ANS])
        if entry[OP].elementwise and not finite(element(entry[ANS], index)):
            return self.trail.root(entry, index)
        bad = [(k, v, at) for k, v, at in operands_at(entry, index) if not finite(v)]
        if not bad:
            return None if entry[OP].elementwise or finite(entry[ANS]) else \
                Root(entry, index, None, None)
        k, value, at = bad[0]
        i = entry[IDS][k]
        before = self.trail.by_out.get(i) if i is not None else None
        return Root(None, at, i, value, user=entry) if before is None else \
            self.trail.root(before, at)

    def _of_root(self, origin: Origin, root: Root) -> Cause:
        entry = origin.entry
        if root.entry is not entry and not entry[OP].elementwise and not shape_of(
                entry[ANS]) and _some_finite(entry):
            start = self.given(root).text.removesuffix(", and that spreads") \
                if root.entry is None else self.spoiled(root.entry, root.index)
            return Cause("nan-spread", entry, f"{start}; {self.words.where(entry)} carries it to"
                         " the gradient of every element",
                         self.guard(root.entry, entry) if root.entry is not None else None)
        cause = self.value(root, True)
        if cause.code == "nan-pole" and origin.upstream == 0:
            return self._zero_times(origin)
        if origin.upstream == 0 and cause.code != "nan-spread" and not is_nan(origin.slope):
            cause.text += f"; what comes after has slope 0 there, and {_product(origin)}"
        return cause

    def _zero_times(self, origin: Origin, ends: str = "") -> Cause:
        """A product 0 * inf of slopes. ends: what it counts as, if it does."""
        entry, by = origin.entry, origin.zero_by
        after = "what comes after" if by is None or by is entry else self.words.where(by)
        cause = Cause(
            "nan-zero-times-inf", entry, f"{self.told(entry, origin.index)} has slope"
            f" {_slope(origin)}; {after} has slope 0 there"
            + (f"; {ends}" if ends else f", and {_product(origin)}"),
            self.words.write(rewrites.of_product(self.trail, self.words, entry), entry))
        if not ends and self.limits and self.limits[0].surprises():
            zero = cause.rewrite is not None and "_no_nan(" in cause.rewrite
            cause.rewrite = None if zero else cause.rewrite
            self.around(cause, by)
        return cause

    def _steep(self, origin: Origin, alone: Any) -> Cause:
        """Finite values, a slope or a product with it that is not. alone: the derivative, if
        nothing else happened to it.
        """
        entry, index = origin.entry, origin.index
        values = [v for _, v, _ in operands_at(entry, index, every=True)]
        says = self.told(entry, index)
        if origin.slope is None:
            if entry[OP].kind in (LINEAR, BILINEAR):
                return Cause("nan-overflow", entry, f"{says}: its slope times that of what comes"
                             " after is too large for a float", SCALE)
            own = "no finite derivative here" if entry[OP].name in TABLE else \
                "a rule of its own for the gradient, which is not finite here"
            return Cause("nan-indeterminate", entry, f"{says} has {own}", None)
        if finite(origin.slope):
            return Cause("nan-overflow", entry, f"{says}: its slope {_slope(origin)} times that of"
                         f" what comes after, {number(origin.upstream)}, is too large for a float",
                         SCALE)
        for k in range(len(values)):
            small = self.trail.underflow(entry, k, index)
            if small is not None:
                return self.underflow(
                    small, f"the slope of {self.words.where(entry)} there is {_slope(origin)}")
        size = _size(origin, values)
        if size is not None:
            return Cause("nan-overflow", entry, f"{says} has a slope too large for a float{size}",
                         ADVICE.get(entry[OP].name, SCALE))
        if is_nan(origin.slope):
            return Cause("nan-indeterminate", entry, f"{says} has the slope 0/0",
                         self.words.write(
                             rewrites.off_edge(self.trail, self.words, entry), entry)
                         or "keep the operands off that point")
        rounded = self.to_edge(entry, index)
        if rounded:
            return Cause(
                "nan-infinite-slope", entry, f"{rounded}{says} has an infinite slope", None)
        off = rewrites.off_edge(self.trail, self.words, entry)
        if alone is not None:
            return Cause(
                "nan-infinite-slope", entry, f"{says} has an infinite slope: {number(alone)} is"
                " right", self.words.write(off, entry, "for a finite slope, of another function, "))
        return Cause(
            "nan-infinite-slope", entry, f"{says} has an infinite slope",
            self.words.write(off, entry)
            or "keep the operand off the edge, or change the formula")


def _size(origin: Origin, values: Sequence[Any]) -> str | None:
    """About how large a slope is that no float holds, empty if nobody knows; None if it is infinite
    or no number.
    """
    entry, rule = origin.entry, origin.entry[OP].rules[origin.k]
    ans = element(entry[ANS], origin.index)
    if len(values) != len(entry[VALUES]) or not callable(rule) or type(ans) is not float:
        return None
    try:
        with np.errstate(all="ignore"):
            slope = wide(rule(*map(wide, values), wide(ans)))
            if np.any(slope.is_doubtful()):
                return "" if np.isinf(slope.mantissa).any() else None
            return f", about {slope.text()}" if slope.beyond().all() else None
    except UNABLE:
        return None


def _some_finite(entry: Entry) -> bool:
    """Whether some, but not all, elements of an operand are finite."""
    return any(map(_some, entry[VALUES]))


def _some(value: Any) -> bool:
    """Whether some, but not all, elements of an array are finite."""
    return bool(shape_of(value)) and not finite(value) and bool(np.isfinite(value).any())


def _ends(g: Any, of: str, at: Index) -> str:
    """Which number it is; of a gradient only where not all are: the gradient stands beside it."""
    if of == "gradient" and not _some(g):
        return ""
    return f"the {of} is {number(element(g, at))}{at_element(at)}"


def _product(origin: Origin) -> str:
    return f"0 times {_slope(origin)} is not a number"


def _slope(origin: Origin) -> str:
    return "inf" if origin.slope is None else number(origin.slope)
