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

from gradcli.engine import calculus
from gradcli.engine.record.record import OUT
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.absorbing import absorbed, differs_alone
from gradcli.engine.sweeps.derivatives import weights_of
from gradcli.engine.sweeps.reverse import cotangents
from gradcli.explain.catalogue import Note
from gradcli.explain.elements import bad_index, element, finite, is_nan
from gradcli.explain.numbers.causes import Explainer
from gradcli.explain.numbers.limits import LocalSeries
from gradcli.explain.numbers.origins import Root
from gradcli.explain.numbers.slopes import Slopes
from gradcli.explain.numbers.trials import FEW_STEPS
from gradcli.explain.numbers.words import at_element, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.engine.sweeps.reverse import Shares
    from gradcli.explain.numbers.causes import Fault
    from gradcli.explain.numbers.origins import Origins
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.run import Binding, Run

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
