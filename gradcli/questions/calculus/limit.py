"""The question `limit`: what a target tends to, from both sides or at infinity.

An expansion tells it, with what proves it (`formulas.analysis.limits`); where there is none, values
nearer and nearer to the point do, with an estimate of the error.
"""

from __future__ import annotations

from math import inf, isfinite, isinf, nan

from gradcli.base.lazy import np, quiet
from gradcli.formulas.analysis.boxes import Zero, substituted
from gradcli.formulas.analysis.constants import value_of
from gradcli.formulas.analysis.limits import LEFT, RIGHT, Limit, limit
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.questions.calculus.curve import BREAK, Curve
from gradcli.questions.calculus.point import in_option, remark
from gradcli.questions.calculus.study import exact_text
from gradcli.questions.derive.derive import Derivation
from gradcli.questions.question import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.formulas.terms import Term
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

SIDES = {"left": LEFT, "right": RIGHT}
STEPS = 40
FEWEST = 6
CLOSE = 1e-6
"""An estimate counts if it is no larger, for the size of the limit."""


def limit_of(question: Question, side: str | None = None) -> Answer:
    """Return the limits of the targets where a variable tends to its value in `at`. side: "left" or
    "right", both without. Raises E0834 where not one variable moves.
    """
    name = _moving(question)
    at = float(question.at[name])
    held = {n: v for n, v in question.at.items() if n != name}
    fixed = question.replaced(at=held, wrt=[name])
    derivation = Derivation(fixed, "gradient", 1)
    with derivation.run.record:
        targets = fixed.program.targets(derivation.run, fixed.of)
        results = [_of(Curve(derivation, target, [name]), at, side) for target in targets]
    return answer(question, "limit", results)


def _moving(question: Question) -> str:
    """Return the variable that moves: the one that --wrt names, else the one of --at."""
    names = list(question.wrt) or list(question.at)
    if len(names) != 1 or names[0] not in question.at:
        raise in_option(
            "E0834", f"{len(names)} variables have a value, and one of them moves" if names else
            "no point is given", ",".join(names), "--at",
            f"name the one that moves: --wrt {names[0]}" if names else "such as --at x=0")
    value = question.at[names[0]]
    if type(value) not in (float, int) or value != value:
        raise in_option("E0834", f"`{names[0]}` is not a number", names[0], "--at",
                        "such as x=0, or x=inf")
    return names[0]


def _of(curve: Curve, at: float, side: str | None) -> Answer:
    a = curve.algebra
    writer = Gradcli(a)
    writer.rename([curve.name], [curve.term])
    point: Term | float = at if isinf(at) else a.constant(at)
    sides = [side] if side else ["right"] if isinf(at) else ["left", "right"]
    found = {name: _one(curve, point, SIDES[name]) for name in sides}
    if isinf(at):
        (whole,) = found.values()
    else:
        whole = _both(list(found.values()))
    result: Answer = {
        "of": curve.target.name, "variable": curve.name,
        "formula": writer.texts([curve.term], {}, [])[0], "at": {curve.name: at}, "side": side,
        "value": _number(whole), "exact": exact_text(writer, whole.exact)}
    for name in ("left", "right"):
        one = None if isinf(at) else found.get(name)
        result[name] = None if one is None else _number(one)
        result[f"{name}_exact"] = None if one is None else exact_text(writer, one.exact)
    numeric = [one for one in found.values() if isinstance(one, Estimate)]
    result["method"] = "numeric" if numeric else "continuity" if _is_continuous(
        curve, point, whole) else "series"
    result["error"] = max([one.error for one in numeric], default=0.0)
    result["proved"] = all(one.proved for one in found.values() if one.sort != "undefined") and (
        not numeric)
    result["notes"] = _notes(curve, at, found, whole, result)
    return result


def _number(one: Limit) -> float | None:
    return one.value if one.sort == "limit" else None


def _both(sides: list[Limit]) -> Limit:
    """Return the limit from both sides; where the target has no value on one, that of the other."""
    known = [one for one in sides if one.sort != "undefined"]
    if not known or any(one.sort != "limit" for one in known):
        return Limit(nan, sort="unknown" if known else "undefined")
    first, last = known[0], known[-1]
    same = first.value == last.value or (isfinite(first.value) and isfinite(last.value) and (
        abs(first.value - last.value) <= _room(first) + _room(last)))
    return first if same else Limit(nan, sort="different")


def _room(one: Limit) -> float:
    return one.error if isinstance(one, Estimate) else 1e-12 * (1e-3 + abs(one.value))


class Estimate(Limit):
    """A limit that values near the point seem to have. error: an estimate of how far it is off.
    spread: of the values nearest to the point, where they seem to have none.
    """

    __slots__ = ("error", "spread")

    def __init__(self, value: float, error: float, sort: str = "limit",
                 spread: tuple[float, float] | None = None) -> None:
        super().__init__(value, None, False, sort)
        self.error, self.spread = error, spread


def _one(curve: Curve, at: Term | float, side: int) -> Limit:
    found = limit(curve.algebra, curve.term, curve.name, at, side)
    if found.sort in ("limit", "undefined"):
        return found
    return estimated(curve, at, side)


def estimated(curve: Curve, at: Term | float, side: int) -> Limit:
    """Return a limit as values nearer and nearer to the point tell it, extrapolated."""
    a = curve.algebra
    if isinstance(at, float):
        xs = [np.sign(at) * 2.0**k for k in range(2, STEPS)]
    else:
        x = value_of(a, at)
        size = abs(x) or 1.0
        xs = [x + side * size * 2.0**-k for k in range(2, STEPS)]
    with quiet():
        values = [value_of(a, substituted(a, curve.term, curve.name, a.number(float(x))))
                  for x in xs]
    known = [v for v in values if isfinite(v)]
    if len(known) < FEWEST:
        return Limit(nan, sort="undefined" if all(v != v for v in values) else "unknown")
    return _extrapolated(known)


def _extrapolated(values: list[float]) -> Limit:
    """Return what a sequence tends to, by Aitken's method; as "unknown" where it does not settle.
    """
    best, error = nan, inf
    for sequence in (values, _accelerated(values)):
        for k in range(2, len(sequence)):
            moved = max(abs(sequence[k] - sequence[k - 1]), abs(sequence[k - 1] - sequence[k - 2]))
            if moved < error:
                best, error = sequence[k], moved
    error = 10 * error + 4e-16 * abs(best)
    if error <= CLOSE * (1 + abs(best)):
        return Estimate(best, error)
    last = values[len(values) // 2:]
    return Estimate(nan, inf, "unknown", (min(last), max(last)))


def _accelerated(values: list[float]) -> list[float]:
    found = []
    for x, y, z in zip(values, values[1:], values[2:], strict=False):
        second = z - 2 * y + x
        found.append(z - (z - y) ** 2 / second if second else z)
    return found


def _is_continuous(curve: Curve, at: Term | float, whole: Limit) -> bool:
    """Return whether the limit is the value, by the rules for continuous functions."""
    if isinstance(at, float) or whole.sort != "limit":
        return False
    x = value_of(curve.algebra, at)
    z = Zero(x, x, x, at)
    if not curve.defined(z) or any(
            c.relation == BREAK and curve.value(z, c.term)[0] == 0 for c in curve.conditions):
        return False
    value, _ = curve.value(z)
    return abs(value - whole.value) <= 1e-12 * (1 + abs(value))


def _notes(curve: Curve, at: float, found: dict[str, Limit], whole: Limit, result: Answer
           ) -> list[dict[str, Any]]:
    notes = []
    for name, one in found.items():
        where = ("" if isinf(at) else f" on the {name}")
        if one.sort == "undefined":
            notes.append(remark("undefined", f"`{curve.target.name}` has no values near there"
                                + where))
        elif isinstance(one, Estimate) and one.spread is not None:
            low, high = one.spread
            notes.append(remark("unsettled", f"no limit is seen{where}: nearer and nearer values"
                                f" lie between {low:.6g} and {high:.6g}"))
        elif one.sort == "unknown":
            notes.append(remark("unknown", f"no limit is known{where}"))
    if whole.sort == "different":
        notes.append(remark("two-sides", "there is no limit: those from the left and from the right"
                            " differ"))
    if result["method"] == "numeric" and result["value"] is not None:
        notes.append(remark("estimated", "estimated from values near the point, not proved"))
    return notes
