"""The question `study`: what a curve sketch asks for, as plain data."""

from __future__ import annotations

import re
from math import inf, isfinite

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.base.lazy import quiet
from gradcli.formulas.analysis.boxes import Zero
from gradcli.formulas.analysis.constants import value_of
from gradcli.formulas.analysis.limits import RIGHT, limit
from gradcli.formulas.terms import NUMBER, ZERO
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.questions.calculus.curve import Curve
from gradcli.questions.calculus.point import remark
from gradcli.questions.calculus.sketch import Sketch, asymptotes, symmetry
from gradcli.questions.derive.derive import Derivation
from gradcli.questions.question import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.formulas.terms import Term
    from gradcli.lang.running.run import Target
    from gradcli.questions.calculus.sketch import Special
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

LONGEST = 40
"""Longer exact forms are not read by anybody."""


def study(question: Question, over: tuple[str, float, float] | None = None) -> Answer:
    """Return what is special about each target. over: the name of the variable and the ends of an
    interval; by default the one variable, on all of the line. Raises E0831 for a target that is no
    number, or of another number of variables.
    """
    derivation = Derivation(question, "gradient", 1)
    with derivation.run.record:
        targets = question.program.targets(derivation.run, question.of)
        results = [_of(derivation, target, over) for target in targets]
    return answer(question, "study", results)


def _of(derivation: Derivation, target: Target, over: tuple[str, float, float] | None) -> Answer:
    question = derivation.question
    term = derivation.primal[target.name]
    names = [n for n in derivation.names if n in derivation.algebra.table.names([term])]
    names = list(question.wrt) or ([over[0]] if over else names) or list(derivation.names)[:1]
    if term.shape or len(names) != 1:
        raise GradcliError(Diagnostic(
            "E0831", f"`{target.name}` has {'several elements' if term.shape else 'the variables'}"
            f" {', '.join(names)}", span=target.span, source=question.program.source,
            help="study takes a formula of one variable; give the others values with --at"))
    curve = Curve(derivation, target, names)
    return Told(Sketch(curve, over[1:] if over else None)).result()


class Told:
    """A sketch as plain data."""

    def __init__(self, sketch: Sketch) -> None:
        self.sketch = sketch
        self.curve = sketch.curve
        self.algebra = sketch.curve.algebra
        self.writer = Gradcli(self.algebra)
        self.writer.rename([self.curve.name], [self.curve.term])

    def text(self, term: Term | None) -> str | None:
        """Return a constant as text."""
        return exact_text(self.writer, term)

    def number(self, key: str, value: float, exact: Term | None) -> dict[str, Any]:
        """Return a number with its exact form."""
        return {key: value, "exact" if key == "x" else f"{key}_exact": self.text(exact)}

    def result(self) -> Answer:
        """Return the result of the target."""
        sketch, curve = self.sketch, self.curve
        signs = sketch.signs(1, [z.x for z in sketch.critical.found])
        bends = sketch.signs(2, [z.x for z in sketch.inflections.found])
        found = {
            "of": curve.target.name, "variable": curve.name,
            "formula": self.writer.texts([curve.term], {}, [])[0],
            "over": [sketch.low, sketch.high],
            "domain": [list(part) for part in self.domain()],
            "domain_text": self.domain_text(),
            "symmetry": symmetry(curve), **self.period(),
            "zeros": [self.zero(z) for z in sketch.zeros.found],
            "zero_on": self.zero_on(), "intercept": self.intercept(),
            "poles": [self.special(s) for s in sketch.specials
                      if s.sort in ("pole", "jump", "removable", "unknown")],
            "asymptotes": self.asymptotes(),
            "limits": self.limits(),
            "edges": [self.special(s) for s in sketch.specials if s.sort == "edge"],
            "critical": self.critical(signs),
            "kinks": [self.kink(s) for s in sketch.specials if s.sort == "kink"],
            "inflections": self.inflections(bends),
            "increasing": self.intervals(signs, 1, False),
            "decreasing": self.intervals(signs, -1, False),
            "constant": self.intervals(signs, 0, False),
            "convex": self.intervals(bends, 1, True),
            "concave": self.intervals(bends, -1, True),
            "complete": dict(sketch.complete),
        }
        found["notes"] = self.notes()
        return found

    def domain(self) -> list[tuple[float, float]]:
        """Return the largest intervals on which the target is defined, but for single points."""
        found: list[tuple[float, float]] = []
        for piece in self.sketch.pieces:
            if piece.defined and not self.curve.opaque:
                if found and found[-1][1] == piece.low and piece.first is not None and (
                        piece.first.defined):
                    found[-1] = found[-1][0], piece.high
                else:
                    found.append((piece.low, piece.high))
        return found

    def domain_text(self) -> str:
        """Return the domain as a sentence."""
        name, sketch = self.curve.name, self.sketch
        if self.curve.opaque:
            return "not known"
        parts = self.domain()
        if not parts:
            return "nowhere"
        holes = [s for s in sketch.specials if not s.defined and all(
            p.defined for p in sketch.pieces if s in (p.first, p.last))]
        whole = [parts[0][0], parts[-1][1]] == [sketch.low, sketch.high] and len(holes) == (
            len(parts) - 1)
        if whole:
            return f"all {name}" if not holes else f"{name} != " + ", ".join(
                [self.end(s.at.x) for s in holes])
        texts = []
        for low, high in parts:
            first, last = [next((s for s in sketch.specials if s.at.x == x), None)
                           for x in (low, high)]
            below = "<=" if first is not None and first.defined else "<"
            above = "<=" if last is not None and last.defined else "<"
            if low == -inf or (low == sketch.low and first is None):
                texts.append(f"{name} {above} {self.end(high)}")
            elif high == inf or (high == sketch.high and last is None):
                texts.append(f"{name} {below.replace('<', '>')} {self.end(low)}")
            else:
                texts.append(f"{self.end(low)} {below} {name} {above} {self.end(high)}")
        return " or ".join(texts)

    def end(self, x: float) -> str:
        """Return a point of the axis in its exact form, if it has one."""
        sketch = self.sketch
        for z in [*[s.at for s in sketch.specials], *sketch.critical.found,
                  *sketch.inflections.found]:
            if z.x == x and z.exact is not None:
                return self.text(z.exact) or f"{x:.6g}"
        return f"{x:.6g}"

    def period(self) -> dict[str, Any]:
        """Return the period."""
        every = self.sketch.period
        return {"period": None if every is None else value_of(self.algebra, every),
                "period_exact": self.text(every)}

    def proved(self, z: Zero, more: bool = True) -> bool:
        """Return whether a point is proved, and what else is told of it."""
        return z.proved and more and not self.curve.opaque

    def zero(self, z: Zero) -> dict[str, Any]:
        """Return a zero; between: the bounds that prove it, where it has no exact form."""
        found = {**self.number("x", z.x, z.exact), "proved": self.proved(z)}
        if found["exact"] is None:
            found["between"] = [z.low, z.high]
        return found

    def zero_on(self) -> list[list[float]]:
        """Return the intervals on which the target is 0."""
        sketch = self.sketch
        if sketch.zeros.everywhere:
            return [list(part) for part in self.domain()]
        return [list(part) for part in sketch.zeros.flat]

    def intercept(self) -> dict[str, Any] | None:
        """Return the value at 0, None where there is none."""
        a, curve = self.algebra, self.curve
        at = Zero(0.0, 0.0, 0.0, a.number(ZERO))
        if not self.sketch.low <= 0 <= self.sketch.high or not curve.defined(at):
            return None
        value, exact = curve.value(at)
        return self.number("value", value, exact) if isfinite(value) else None

    def special(self, s: Special) -> dict[str, Any]:
        """Return a point where the formula changes: its limits at both sides."""
        found = {**self.zero(s.at), "kind": s.sort}
        if s.defined:
            found.update(self.number("value", *s.value))
        for name, one in zip(("left", "right"), s.limits, strict=True):
            if one is not None:
                known = one.sort == "limit"
                found.update(self.number(name, one.value, one.exact) if known else {name: None})
                found["proved"] = found["proved"] and one.proved
        return found

    def kink(self, s: Special) -> dict[str, Any]:
        """Return a point where the slope jumps: its slopes at both sides."""
        return {**self.zero(s.at), **self.number("value", *s.value), "kind": s.sort, **{
            name: one.value if one is not None and one.sort == "limit" else None
            for name, one in zip(("slope_left", "slope_right"), s.slopes, strict=True)}}

    def asymptotes(self) -> list[dict[str, Any]]:
        """Return the asymptotes, as equations."""
        name, found = self.curve.name, []
        for one in asymptotes(self.sketch):
            if one["kind"] == "vertical":
                found.append({"kind": "vertical",
                              "formula": f"{name} = {self.end(one['at'].x)}"})
                continue
            a = self.algebra
            line = a.add(a.times(one["slope"], a.table.name(name)), one["intercept"])
            found.append({"kind": one["kind"],
                          "formula": f"y = {self.writer.texts([line], {}, [])[0]}"})
        return found

    def limits(self) -> dict[str, Any]:
        """Return the limits at the ends; None where there is none, or it is not known."""
        found = {}
        for key, end in (("-inf", -inf), ("inf", inf)):
            if self.sketch.reaches(end):
                with quiet():
                    one = limit(self.algebra, self.curve.term, self.curve.name, end, RIGHT)
                found[key] = one.value if one.sort == "limit" else None
        return found

    def critical(self, signs: Sequence[tuple[float, float, int, bool, Any]]
                 ) -> list[dict[str, Any]]:
        """Return the points with a horizontal tangent, and the extrema at kinks."""
        sketch, found = self.sketch, []
        for z in sketch.critical.found:
            kind, proved = sketch.kind(z.x, signs)
            found.append({**self.zero(z), **self.number("value", *self.curve.value(z)),
                          "kind": kind, "proved": self.proved(z, proved)})
        for s in sketch.specials:
            if not s.is_continuous():
                continue
            kind, proved = sketch.kind(s.at.x, signs)
            flat = s.sort == "smooth" and all(
                one is not None and one.value == 0 for one in s.slopes)
            if kind in ("minimum", "maximum") or (kind == "flat" and flat):
                found.append({**self.zero(s.at), **self.number("value", *s.value), "kind": kind,
                              "proved": self.proved(s.at, proved)})
        return sorted(found, key=lambda one: one["x"])

    def inflections(self, bends: Sequence[tuple[float, float, int, bool, Any]]
                    ) -> list[dict[str, Any]]:
        """Return the points where the curvature changes its sign, and the curve has a tangent."""
        sketch, found = self.sketch, []
        points = [*sketch.inflections.found, *[
            s.at for s in sketch.specials if s.sort in ("smooth", "vertical")]]
        for z in points:
            kind, proved = sketch.kind(z.x, bends)
            if kind in ("minimum", "maximum"):
                slope, exact = self.curve.value(z, self.curve.derivative(1))
                found.append({**self.zero(z), **self.number("value", *self.curve.value(z)),
                              **(self.number("slope", slope, exact) if isfinite(slope) else {}),
                              "proved": self.proved(z, proved)})
        return sorted(found, key=lambda one: one["x"])

    def intervals(self, signs: Sequence[Any], wanted: int, smooth: bool) -> list[list[float]]:
        """Return the intervals with a sign."""
        return [list(part) for part in self.sketch.joined(signs, wanted, smooth)]

    def notes(self) -> list[dict[str, Any]]:
        """Return what is said beside: what was not proved, and of what part all this is."""
        sketch = self.sketch
        found = [remark(code, text) for code, text in sketch.notes]
        if self.curve.opaque:
            found.append(remark("opaque", "nothing is proved of"
                                f" {', '.join(self.curve.opaque)}: other points are not excluded"))
        words = {"zeros": "zeros", "critical": "critical points",
                 "inflections": "points of inflection", "poles": "points without a value"}
        open_words = [words[key] for key, whole in sketch.complete.items() if not whole]
        if open_words and not self.curve.opaque:
            found.append(remark("not-proved", f"other {' and '.join(open_words)} are not"
                                " excluded"))
        return found


def exact_text(writer: Gradcli, term: Term | None) -> str | None:
    """Return a constant as text, None for none, and where that is long or not exact."""
    if term is None or any(t.kind == NUMBER and type(t.value) is float
                           for t in writer.algebra.table.of([term])):
        return None
    try:
        found = writer.texts([term], {}, [])[0]
    except GradcliError:
        return None
    return found if len(found) <= LONGEST and not HALF_READ.search(found) else None


HALF_READ = re.compile(r"\d\.\d{9}")
"""Decimals that nobody wrote."""
