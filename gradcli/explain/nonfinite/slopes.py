"""The class of what made a cotangent no finite number, and the sentence about it."""

from __future__ import annotations

from gradcli.explain.elements import (
    bad_index,
    element,
    finite,
    first_zero,
    is_nan,
    operands_at,
)
from gradcli.explain.nonfinite import rewrites
from gradcli.explain.nonfinite.causes import QUOTIENTS, SCALE, About, Cause, write
from gradcli.explain.nonfinite.origins import Root
from gradcli.explain.nonfinite.words import at_element, number
from gradcli.ops.kinds import BILINEAR, LINEAR, TABLE
from gradcli.ops.values import shape_of
from gradcli.sweeps.absorbing import SELECTING
from gradcli.tape.record import ANS, IDS, OP, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.explain.elements import Index
    from gradcli.explain.nonfinite.origins import Origin
    from gradcli.explain.reason import Note
    from gradcli.tape.record import Entry


class Slopes(About):
    """The same for gradients."""

    __slots__ = ()

    def gradient(self, origin: Origin, g: Any, wrt: int, of: str, then: str = "") -> Note:
        """What made a derivative NaN or infinite, or, if g is finite, would have.

        wrt: id of the source. of: what g is called. then: what happened to the slope afterwards.
        """
        entry, by = origin.entry, origin.zero_by
        if origin.upstream is not None and not finite(origin.upstream):
            return Cause("nan-overflow", entry, f"the parts of the gradient that meet in"
                         f" {self.words.name(entry)}{at_element(origin.index)} add up to more than"
                         " a float holds", SCALE).note(then, _ends(g, of, bad_index(g)))
        own = len(origin.index) == len(shape_of(g)) and not finite(element(g, origin.index))
        at = origin.index if own else bad_index(g)
        ends = "" if finite(g) else _ends(g, of, at)
        root = self._root(origin)
        zero = origin.upstream is not None and origin.upstream == 0
        if zero and by is not None and by[OP].name in SELECTING:
            made, index, k = entry, origin.index, origin.k
            if root is not None and root.entry is not None and root.entry is not entry:
                made, index, k = root.entry, root.index, 0
            return Cause(
                "nan-dead-branch", made, f"{self.told(made, index)} is not used here"
                f" ({self._chooses(by)}), its slope still is:"
                f" 0 * {_slope(origin)}",
                write(rewrites.dead_branch(self.trail, self.words, made, k, by))
            ).note(ends or "the derivative there is 0, because the value is not used")
        if finite(g) and zero:
            return self._zero_times(origin).note(self._taken(origin, wrt))
        if origin.turned is not None and self._unused(origin.turned, wrt):
            return self._behind(origin).note(
                ends or "the derivative there is 0, because the value is not used")
        cause = self._zero_times(origin) if root is None and zero else \
            self._of_root(origin, root) if root is not None else \
            self._steep(origin, alone=origin.turned is None and not is_nan(g))
        if finite(g):
            ends = "what is not used absorbs it, so the derivative is a number"
        elif origin.turned is not None:
            ends = f"{self.words.where(origin.turned)} then makes 0 * inf of it; {ends}"
        return cause.note(then, ends)

    def _chooses(self, by: Entry) -> str:
        return "the first derivative is another branch's" if self.words.late(by) else \
            f"{self.words.where(by)} takes the other value"

    def _taken(self, origin: Origin, wrt: int) -> str:
        """Why a product 0 * inf is taken as 0."""
        if origin.zero_by is not None and self._unused(origin.zero_by, wrt):
            return "the derivative there is 0, because with a factor 0 the value is not used"
        return f"0 * inf is taken as 0 at {self.words.name(origin.entry)}, as in TensorFlow"

    def _unused(self, by: Entry, wrt: int) -> bool:
        """Whether an operation selects, or multiplies by a constant 0."""
        return by[OP].name in SELECTING or (by[OP].name == "multiply" and any(
            first_zero(v) is not None and not self.trail.depends(i, wrt)
            for i, v in zip(by[IDS], by[VALUES], strict=True)))

    def _behind(self, origin: Origin) -> Cause:
        """An infinite slope of a value that is made of one which is not used."""
        entry, by = origin.entry, origin.turned
        assert by is not None
        upstream = "" if origin.upstream is None else f", upstream {number(origin.upstream)}"
        selects = by[OP].name in SELECTING
        return Cause(
            "nan-dead-branch" if selects else "nan-zero-times-inf", entry,
            f"{self.told(entry, origin.index)} has the slope {_slope(origin)}{upstream}, and"
            f" {self.words.where(by)} {'does not use its operand' if selects else 'has a factor 0'}"
            " here: inf * 0", write(rewrites.off_edge(self.trail, self.words, entry)))

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
                         write(rewrites.inside(self.trail, self.words, root.entry), "guard it: ")
                         if root.entry is not None else None)
        cause = self.value(root, True)
        if cause.code == "nan-pole" and origin.upstream == 0:
            return self._zero_times(origin)
        if origin.upstream is not None and cause.code != "nan-spread":
            cause.text += f"; upstream {number(origin.upstream)} times slope {_slope(origin)}"
        return cause

    def _zero_times(self, origin: Origin) -> Cause:
        entry, by = origin.entry, origin.zero_by
        made = "" if by is None or by is entry else f", which {self.words.where(by)} made,"
        return Cause(
            "nan-zero-times-inf", entry, f"{self.told(entry, origin.index)} has slope"
            f" {_slope(origin)}, and the upstream 0{made} times that is not a number",
            write(rewrites.of_product(self.trail, self.words, entry)))

    def _steep(self, origin: Origin, alone: bool) -> Cause:
        """Finite values, a slope or a product with it that is not. alone: and nothing else."""
        entry, index = origin.entry, origin.index
        values = [v for _, v, _ in operands_at(entry, index, every=True)]
        says = self.told(entry, index)
        if origin.slope is None:
            if entry[OP].kind in (LINEAR, BILINEAR):
                return Cause("nan-overflow", entry, f"{says}: upstream times slope is too large"
                             " for a float", SCALE)
            own = "no finite derivative here" if entry[OP].name in TABLE else \
                "a rule of its own for the gradient, which is not finite here"
            return Cause("nan-indeterminate", entry, f"{says} has {own}", None)
        upstream = f", upstream {number(origin.upstream)}"
        if finite(origin.slope):
            return Cause("nan-overflow", entry, f"{says}: upstream {number(origin.upstream)} times"
                         f" slope {_slope(origin)} is too large for a float", SCALE)
        for k in range(len(values)):
            small = self.trail.underflow(entry, k, index)
            if small is not None:
                return self.underflow(
                    small, f"the slope of {self.words.where(entry)} there is"
                    f" {_slope(origin)}{upstream}")
        if is_nan(origin.slope):
            return Cause("nan-indeterminate", entry, f"{says} has the slope 0/0{upstream}",
                         write(rewrites.off_edge(self.trail, self.words, entry))
                         or "keep the operands off that point")
        if entry[OP].name in (*QUOTIENTS, "log", "power") and all(values):
            return Cause("nan-overflow", entry, f"{says} has a slope too large for a float"
                         f"{upstream}", SCALE)
        right = ": that is right" if alone else ""
        return Cause(
            "nan-infinite-slope", entry, f"{says} has an infinite slope{upstream}{right}",
            write(rewrites.off_edge(self.trail, self.words, entry))
            or "keep the operand off the edge, or change the formula")


def _some_finite(entry: Entry) -> bool:
    """Whether some, but not all, elements of an operand are finite."""
    from gradcli.ops.lazy import np

    return any(
        shape_of(v) and v.dtype.kind in "fc" and np.isfinite(v).any()
        and not np.isfinite(v).all() for v in entry[VALUES])


def _ends(g: Any, of: str, at: Index) -> str:
    return f"the {of} is {number(element(g, at))}{at_element(at)}"


def _slope(origin: Origin) -> str:
    return "inf" if origin.slope is None else number(origin.slope)
