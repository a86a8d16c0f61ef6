"""Causes of slopes that are not finite: the class of the operation that made one, and the
sentence.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, IDS, OP, VALUES
from gradcli.engine.sweeps.wide_values import UNABLE
from gradcli.explain.catalogue import Note
from gradcli.explain.elements import bad_index, element, finite, first_zero, is_nan, operands_at
from gradcli.explain.numbers import rewrites
from gradcli.explain.numbers.causes import ADVICE, SCALE, Explainer, Fault
from gradcli.explain.numbers.origins import Root
from gradcli.explain.numbers.words import at_element, number
from gradcli.ops.kinds import BILINEAR, LINEAR, TABLE
from gradcli.ops.values import shape_of
from gradcli.ops.wide import wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.elements import Index
    from gradcli.explain.numbers.origins import Origin


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
            return self._behind(origin).note(UNUSED if finite(g) else _product(origin), ends)
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

    def _behind(self, origin: Origin) -> Fault:
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
