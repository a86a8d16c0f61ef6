"""Explanations of values and gradients that are not finite: the operation that made them, its
class.

| code | what happened |
|---|---|
| nan-overflow | a value, or a product with a slope, is too large for a float |
| nan-underflow | a value is 0 only because a float has no smaller number, and that 0 does harm |
| nan-domain | an operation outside of its domain: log of a negative number |
| nan-pole | an operation at its pole: 1/0, log(0) |
| nan-indeterminate | 0/0, inf - inf, 0*inf |
| nan-spread | NaN or infinity came with the data, or one bad element spoils all others |
| nan-dead-branch | the value is not used here, its slope still is: 0*inf |
| nan-infinite-slope | the value is finite, its slope is not: sqrt at 0 |
| nan-zero-times-inf | the cotangent is 0, the slope infinite, and nothing selects |

A gradient is explained by the reverse sweep that gave it, repeated on the full record.
"""

from __future__ import annotations

import math
from functools import partial

from gradcli.base.lazy import np
from gradcli.engine import calculus
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.absorbing import absorbed, differs_alone
from gradcli.engine.sweeps.derivatives import weights_of
from gradcli.engine.sweeps.reverse import cotangents
from gradcli.engine.sweeps.wide_values import UNABLE
from gradcli.explain.catalogue import Note
from gradcli.explain.elements import bad_index, element, finite, first_zero, is_nan, operands_at
from gradcli.explain.numbers import rewrites
from gradcli.explain.numbers.causes import ADVICE, SCALE, Explainer, Fault
from gradcli.explain.numbers.limits import LocalSeries
from gradcli.explain.numbers.origins import Root
from gradcli.explain.numbers.trials import FEW_STEPS
from gradcli.explain.numbers.words import at_element, number
from gradcli.ops.kinds import BILINEAR, LINEAR, TABLE
from gradcli.ops.values import shape_of
from gradcli.ops.wide import wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.record.record import Entry
    from gradcli.engine.sweeps.reverse import Shares
    from gradcli.explain.elements import Index
    from gradcli.explain.numbers.origins import Origin, Origins
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.run import Binding, Run

UNUSED = "the gradient there is 0, because the value is not used"


class Slopes(Explainer):
    """Explanations of slopes that are not finite."""

    __slots__ = ()

    def gradient(self, origin: Origin, g: Any, wrt: int, of: str, then: str = "") -> Note:
        """Return the note on what made a derivative g NaN or infinite, or would have.

        wrt: id of the source.
        of: the word for g in the sentence.
        then: the clause on what happened to the slope afterwards.
        """
        entry = origin.entry
        if origin.upstream is not None and not finite(origin.upstream):
            return Fault("nan-overflow", entry, f"the parts of the gradient that meet in"
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
            return self._of_unused(origin).note(UNUSED if finite(g) else _product(origin), ends)
        cause = self._zero_times(origin) if root is None and zero else \
            self._of_root(origin, root) if root is not None else \
            self._steep(origin, None if origin.turned is not None or is_nan(g) else element(g, at))
        if finite(g):
            ends = "what is not used absorbs it, so the derivative is a number"
        elif origin.turned is not None:
            then = f"{self.words.where(origin.turned)} has slope 0 there, and {_product(origin)}"
        return cause.note(then, ends)

    def _dead(self, origin: Origin) -> Fault:
        """Return the cause that values are unused: all that one selection leaves out together."""
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
            names = list(dict.fromkeys([self.described(entry, index) for entry, index, _ in group]))
            says.append(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not used here:"
                        f" {self._chooses(by)}")
            at = group[0][0]
            whole = rewrites.dead_branches(self.words, [(entry, k) for entry, _, k in group], by)
            writes += [self.words.write(whole, at)] if whole is not None else [
                self.words.write(rewrites.inside(self.trail, self.words, entry), at)
                for entry, *_ in group]
        return Fault("nan-dead-branch", groups[0][1][0][0], "; ".join(says),
                     "; ".join(dict.fromkeys(filter(None, writes))) or None)

    def _makers(self, origin: Origin) -> list[tuple[Entry, Index, int]]:
        """Return (operation, element, operand) of the roots of operands that are not finite;
        without these, of the operation itself.
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
        """Return the clause why a product 0 * inf is taken as 0."""
        if origin.zero_by is not None and self._unused(origin.zero_by, wrt):
            return "the gradient there is 0, because with a factor 0 the value is not used"
        if origin.entry[OP].name != "sqrt":
            return UNUSED
        return f"0 times inf counts as 0 at {self.words.name(origin.entry)}, as in TensorFlow"

    def _unused(self, by: Entry, wrt: int) -> bool:
        """Return whether an operation selects, or multiplies by a constant 0."""
        return "selecting" in by[OP].traits or (by[OP].name == "multiply" and any(
            first_zero(v) is not None and not self.trail.depends(i, wrt)
            for i, v in zip(by[IDS], by[VALUES], strict=True)))

    def _of_unused(self, origin: Origin) -> Fault:
        """Return the cause of an infinite slope of a value that another operation does not use."""
        entry, by = origin.entry, origin.turned
        assert by is not None
        selects = "selecting" in by[OP].traits
        return Fault(
            "nan-dead-branch" if selects else "nan-zero-times-inf", entry,
            f"{self.described(entry, origin.index)} has slope {_slope(origin)}, and"
            f" {self.words.where(by)} {'does not use its operand' if selects else 'has a factor 0'}"
            " here", self.words.write(rewrites.off_edge(self.trail, self.words, entry), entry))

    def _root(self, origin: Origin) -> Root | None:
        """Return the root of the value that spoiled the slope; None if all values were finite."""
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

    def _of_root(self, origin: Origin, root: Root) -> Fault:
        entry = origin.entry
        if root.entry is not entry and not entry[OP].elementwise and not shape_of(
                entry[ANS]) and _some_finite(entry):
            start = self.given(root).text.removesuffix(", and that spreads") \
                if root.entry is None else self.spoiled(root.entry, root.index)
            return Fault("nan-spread", entry, f"{start}; {self.words.where(entry)} carries it to"
                         " the gradient of every element",
                         self.guard(root.entry, entry) if root.entry is not None else None)
        cause = self.value(root, True)
        if cause.code == "nan-pole" and origin.upstream == 0:
            return self._zero_times(origin)
        if origin.upstream == 0 and cause.code != "nan-spread" and not is_nan(origin.slope):
            cause.text += f"; what comes after has slope 0 there, and {_product(origin)}"
        return cause

    def _zero_times(self, origin: Origin, ends: str = "") -> Fault:
        """Return the cause of a product 0 * inf of slopes. ends: what it counts as, if anything."""
        entry, by = origin.entry, origin.zero_by
        after = "what comes after" if by is None or by is entry else self.words.where(by)
        cause = Fault(
            "nan-zero-times-inf", entry, f"{self.described(entry, origin.index)} has slope"
            f" {_slope(origin)}; {after} has slope 0 there"
            + (f"; {ends}" if ends else f", and {_product(origin)}"),
            self.words.write(rewrites.of_product(self.trail, self.words, entry), entry))
        if not ends and self.limits and self.limits[0].surprises():
            zero = cause.rewrite is not None and "_no_nan(" in cause.rewrite
            cause.rewrite = None if zero else cause.rewrite
            self.add_limits(cause, by)
        return cause

    def _steep(self, origin: Origin, alone: Any) -> Fault:
        """Return the cause where values are finite, but a slope or its product is not.

        alone: the derivative, if nothing else happened to it.
        """
        entry, index = origin.entry, origin.index
        values = [v for _, v, _ in operands_at(entry, index, every=True)]
        says = self.described(entry, index)
        if origin.slope is None:
            if entry[OP].kind in (LINEAR, BILINEAR):
                return Fault("nan-overflow", entry, f"{says}: its slope times that of what comes"
                             " after is too large for a float", SCALE)
            own = "no finite derivative here" if entry[OP].name in TABLE else \
                "a rule of its own for the gradient, which is not finite here"
            return Fault("nan-indeterminate", entry, f"{says} has {own}", None)
        if finite(origin.slope):
            return Fault("nan-overflow", entry, f"{says}: its slope {_slope(origin)} times that of"
                         f" what comes after, {number(origin.upstream)}, is too large for a float",
                         SCALE)
        for k in range(len(values)):
            small = self.trail.underflow(entry, k, index)
            if small is not None:
                return self.underflow(
                    small, f"the slope of {self.words.where(entry)} there is {_slope(origin)}")
        size = _size(origin, values)
        if size is not None:
            return Fault("nan-overflow", entry, f"{says} has a slope too large for a float{size}",
                         ADVICE.get(entry[OP].name, SCALE))
        if is_nan(origin.slope):
            return Fault("nan-indeterminate", entry, f"{says} has the slope 0/0",
                         self.words.write(
                             rewrites.off_edge(self.trail, self.words, entry), entry)
                         or "keep the operands off that point")
        rounded = self.to_edge(entry, index)
        if rounded:
            return Fault(
                "nan-infinite-slope", entry, f"{rounded}{says} has an infinite slope", None)
        off = rewrites.off_edge(self.trail, self.words, entry)
        if alone is not None:
            return Fault(
                "nan-infinite-slope", entry, f"{says} has an infinite slope: {number(alone)} is"
                " right", self.words.write(off, entry, "for a finite slope, of another function, "))
        return Fault(
            "nan-infinite-slope", entry, f"{says} has an infinite slope",
            self.words.write(off, entry)
            or "keep the operand off the edge, or change the formula")


def _size(origin: Origin, values: Sequence[Any]) -> str | None:
    """Return the clause on the size of a slope beyond the range of floats, "" if it is unknown;
    None if the slope is infinite or NaN.
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
    """Return whether some, but not all, elements of an operand are finite."""
    return any(map(_some, entry[VALUES]))


def _some(value: Any) -> bool:
    """Return whether some, but not all, elements of an array are finite."""
    return bool(shape_of(value)) and not finite(value) and bool(np.isfinite(value).any())


def _ends(g: Any, of: str, at: Index) -> str:
    """Return the clause on the value of a derivative; "" for a gradient without finite elements, as
    the gradient stands beside it.
    """
    if of == "gradient" and not _some(g):
        return ""
    return f"the {of} is {number(element(g, at))}{at_element(at)}"


def _product(origin: Origin) -> str:
    return f"0 times {_slope(origin)} is not a number"


def _slope(origin: Origin) -> str:
    return "inf" if origin.slope is None else number(origin.slope)


# The sweep with zeros that absorb for all sources together, where one source has its id.
ABSORBING = 0

CODES = (
    "nan-overflow", "nan-underflow", "nan-domain", "nan-pole", "nan-indeterminate", "nan-spread",
    "nan-dead-branch", "nan-infinite-slope", "nan-zero-times-inf")

# The largest number of sources in which a target's limit is reported.
MOST_SOURCES = 3

# The clause on a slope that was only infinite and became NaN.
MEET = "infinite parts of both signs meet"


def of_value(run: Run, targets: Sequence[Tensor], source: Source, trials: Trials | None = None
             ) -> list[Note]:
    """Return notes on the first operations with finite operands that made targets NaN or infinite.

    trials: tries rewrites; without it none is offered.
    """
    explainer = Explainer(run, source, trials=trials)
    explainer.limits = limits_of(run, targets, trials)
    if trials is not None:
        trials.exact = partial(_exact, run, targets, weights_of(targets, []))
    return [cause.note() for cause in _of_values(explainer, targets)]


def limits_of(run: Run, targets: Sequence[Tensor], trials: Trials | None) -> list[LocalSeries]:
    """Return the target's series around the point in up to MOST_SOURCES named sources, the one that
    was asked about first; empty unless the target is one named scalar.
    """
    if trials is None or not trials.of or trials.steps > FEW_STEPS or len(targets) != 1:
        return []
    (target,) = targets
    if type(target.value) is not float or target.id is None:
        return []
    ids = {name: run.bindings[name][0].value.id for name in trials.at}
    found = []
    for name in sorted(ids, key=lambda name: name != trials.wrt)[:MOST_SOURCES]:
        x, own = trials.at[name], ids[name]
        if type(x) is float and x - x == 0 and own is not None:
            found.append(LocalSeries(
                run.record.history(), (own, x), name, target.id, trials.of,
                [i for i in ids.values() if i is not None and i != own], target.value,
                partial(trials.value, name), trials.order))
    return found


def _of_values(explainer: Explainer, targets: Sequence[Tensor]) -> list[Fault]:
    found: dict[tuple[str, Span | None], Fault] = {}
    for t in targets:
        if finite(t.value):
            continue
        entry = explainer.trail.by_out.get(t.id) if t.id is not None else None
        at = bad_index(t.value)
        root = Root(None, at, t.id, element(t.value, at)) if entry is None else \
            explainer.trail.root(entry, at)
        cause = explainer.value(root, is_nan(element(t.value, at)))
        found.setdefault((cause.code, cause.span), cause)
    return list(found.values())


# --------------------------------------------------------------------------------------------------
# Gradients, and blocks of second derivatives.

class NonfiniteGradients:
    """Explanations of gradients (or Jacobians) of the same targets that are not finite.

    seeds: cotangents of the targets, by default ones.
    sources: ids of all sources of the sweep.
    mode: how the gradients were computed.
    tensorflow: zeros absorb at sqrt only.
    of: the word for them in sentences.

    A Jacobian is explained by the sweep through the sum of its rows.
    """

    __slots__ = ("explainer", "mode", "of", "run", "sources", "swept", "targets", "tensorflow",
                 "varying", "weights")

    def __init__(self, run: Run, targets: Sequence[Tensor], seeds: Sequence[Any],
                 sources: Sequence[int], source: Source, *, mode: str = "reverse",
                 tensorflow: bool = False, of: str = "gradient") -> None:
        self.run = run
        self.targets = targets
        self.sources = sources
        self.mode = mode
        self.tensorflow = tensorflow
        self.of = of
        self.explainer = Slopes(run, source)
        self.weights = weights_of(targets, seeds)
        self.swept: dict[int | None, Origins] = {}
        self.varying: set[int] = set()

    def why(self, wrt: int, g: Any, trials: Trials | None = None) -> list[Note]:
        """Return notes on the gradient g in one source if it holds NaN or infinity, or would if
        zeros had not absorbed it, or if the value itself is not finite.

        trials: tries rewrites; without it none is offered.
        """
        self.explainer.words.trials = trials
        self.explainer.limits = limits_of(self.run, self.targets, trials)
        if trials is not None:
            trials.exact = partial(_exact, self.run, self.targets, self.weights,
                                   wrt if self.of == "gradient" else None)
        infinite, nan = self._origins(finite(g), wrt).get(wrt, (None, None))
        if finite(g):
            healthy = [t for t in self.targets if not finite(t.value)]
            if nan is not None and self.run.record.absorbed and not healthy:
                # A value that is 0 or infinite only for lack of range is a number, and used.
                _, slope = (None, math.nan) if nan.is_chosen() else _exact(
                    self.run, self.targets, self.weights, wrt)
                return [] if finite(slope) else [self.explainer.gradient(nan, g, wrt, self.of)]
            return [cause.note(f"the gradient looks healthy, but the value is {_bad(t.value)}")
                    for t in healthy[:1] for cause in _of_values(self.explainer, [t])]
        first = (nan or infinite) if is_nan(g) else (infinite or nan)
        if first is not None:
            then = MEET if is_nan(g) and nan is None and self.mode != "finite" else ""
            return [self.explainer.gradient(first, g, wrt, self.of, then)]
        if self.mode == "finite" and not all(finite(t.value) for t in self.targets):
            return [Note("nan-indeterminate", "differences of values that are not finite are no"
                         " number", None)]
        return [_elsewhere(self.weights, g, self.of, self.explainer.binding(wrt))]

    def _origins(self, plain: bool, wrt: int) -> Origins:
        """Return the origins in the sweep that gave the gradient: with zeros that absorb if that
        was repeated after NaN, plain if g is finite (`plain`).
        """
        if plain or not self.run.record.absorbed or self.mode == "finite":
            return self._swept(None, self.sources, cotangents)
        joint = self._swept(ABSORBING, self.sources, absorbed(
            self.weights, self.tensorflow, self.varying))
        if len(self.sources) > 1 and differs_alone(self.explainer.trail.entries, wrt, self.varying):
            return self._swept(wrt, [wrt], absorbed(self.weights, self.tensorflow))
        return joint

    def _swept(self, key: int | None, sources: Sequence[int], each: Shares) -> Origins:
        if key not in self.swept:
            self.swept[key] = self.explainer.trail.origins(self.weights, sources, each)
        return self.swept[key]


def of_second(run: Run, target: Tensor, row: Tensor, column: Tensor, block: Any, source: Source,
              trials: Trials | None = None) -> list[Note]:
    """Return notes on a Hessian block that holds NaN or infinity; if the first gradient is not
    finite itself, notes on that.

    The first gradient is recorded for this once more; the record has to be the current one.
    """
    if finite(block):
        return []
    last = max((entry[OUT] for entry in run.record.history()), default=0)
    first = calculus.gradient([target], [row], emit=True)[0]
    if first is None:
        return []
    if not finite(first.value):
        assert row.id is not None
        return NonfiniteGradients(
            run, [target], [], [row.id], source, of="first derivative").why(
                row.id, first.value, trials)
    assert column.id is not None
    explainer = Slopes(run, source, last, trials)
    weights = weights_of([first], [])
    infinite, nan = explainer.trail.origins(weights, [column.id], cotangents).get(
        column.id, (None, None))
    origin = (nan or infinite) if is_nan(block) else (infinite or nan)
    if origin is None:
        return [_elsewhere(weights, block, "second derivative")]
    return [explainer.gradient(origin, block, column.id, "second derivative")]


def _exact(run: Run, targets: Sequence[Tensor], weights: dict[int, Any], wrt: int | None = None
           ) -> tuple[list[Any], Any]:
    """Return values and derivative as if floats had no largest and no smallest number."""
    from gradcli.engine.sweeps.wide import exact

    values, slope = exact(run.record.history(), weights, wrt)
    return [values.get(t.id or 0, t.value) for t in targets], slope


def _bad(value: Any) -> str:
    at = bad_index(value)
    return number(element(value, at)) + at_element(at)


def _elsewhere(weights: dict[int, Any], g: Any, of: str, source: Binding | None = None) -> Note:
    """Return the note on a gradient that no single operation spoiled, at the source's location."""
    span = None if source is None else source.span
    if not all(finite(value_of(w)) for w in weights.values()):
        return Note("nan-spread", "the output gradient itself is not finite", span)
    if is_nan(g):
        return Note("nan-indeterminate", f"no operation alone makes the {of} {_bad(g)}: on the path"
                    " 0 meets infinity, or infinity infinity", span)
    return Note("nan-overflow", f"parts of the {of} that meet here add up to more than a float"
                " holds", span)
