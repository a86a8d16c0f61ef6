"""A comparison of the answers of four methods, which should be the same number."""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.engine.finite import TRUSTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.questions.verify.methods import Differences, Directions

AGREE, DIFFER, UNDECIDED, NONE = "agree", "differ", "undecided", "none"

# Relative differences that are still none: the complex step and both sweeps are exact but for
# rounding, differences are good for about ten digits where the function is smooth.
EXACT, BY_DIFFERENCES = 1e-8, 1e-5
SINGLE = 1e4                # times as much for float32
KINK = 1e-2                 # slopes left and right that are farther apart than this
NOISE = 1e-12               # of a number is what rounding may have made of it
FLOOR = 1e3                 # times the noise: numbers below are compared as if they were this large
UNSURE = 10.0               # times what rounding does to a method, a difference of it says nothing

SIDE = 1e-3                 # times nearer to one method, a number has it on its side

# Why a number is undecided.
WHY = {
    "alone": "no other method has a number to hold it against",
    "infinite": "the derivative is not a finite number there",
    "absorbed": "0 meets an infinite slope: the reverse sweep counts that as 0, the forward sweep"
                " has no number for it",
    "rounding": "the methods differ, but no more than rounding alone moves them there",
    "cancelled": "all digits cancel on the way: the exact methods agree on what rounding left, and"
                 " differences do not",
    "apart": "the complex step and differences contradict each other",
    "outside": "differences leave the domain of the function",
    "kink": "the slopes on both sides differ, and any between them is as right",
    "jump": "the function jumps there, which differences see and rules do not",
    "rough": "differences are not good enough there: the function changes too fast or is rounded"
             " too much"}


def worst(verdicts: list[str]) -> str:
    """Return what is to be said of all together."""
    return next((v for v in (DIFFER, UNDECIDED, AGREE, NONE) if v in verdicts), NONE)


class Judged:
    """Of the numbers that were compared one object each, and why some are undecided, as in WHY."""

    __slots__ = ("elements", "why")

    def __init__(self) -> None:
        self.elements: list[dict[str, Any]] = []
        self.why: dict[str, None] = {}


class Case:
    """One number by all methods. sides: the slopes to the left and right; ends: what these tend to,
    and their size. floor: numbers below are compared as if they were this large, by differences;
    exact: by the others. unsure: what rounding does, asked for when something differs; shaken: by
    results on the way alone, without another branch. custom: whether the file has a rule for it.
    edge: whether the point is where branches meet.
    """

    __slots__ = ("by_complex", "central", "custom", "edge", "ends", "error", "exact", "floor",
                 "loose", "ours", "shaken", "sides", "unsure")

    def __init__(self, one: dict[str, Any], sides: tuple[float, float] | None,
                 floor: float, exact: float, loose: float, unsure: Callable[[], float],
                 shaken: Callable[[], float], custom: bool, edge: Callable[[], bool],
                 ends: tuple[float, ...] = (math.nan, math.nan, math.nan)) -> None:
        self.ours = one["reverse"], one["forward"]
        self.by_complex, self.central, self.error = one["complex"], one["central"], one["error"]
        self.sides = sides
        self.ends = ends
        self.floor = floor
        self.exact = exact
        self.loose = loose
        self.unsure = unsure
        self.shaken = shaken
        self.custom = custom
        self.edge = edge


def judge(along: Directions, reverse: Any, forward: Any, by_complex: Any,
          differences: Differences | None, *, single: bool, custom: bool, edge: Callable[[], bool],
          rounding: Callable[[], Any], shaken: Callable[[], Any]) -> Judged:
    """Compare the methods number by number, and return the verdicts. single: float32 is on the way.
    custom: a gradient of the file is. edge: whether branches meet there. rounding: by how much it
    moves each number; infinite where the complex step says nothing. shaken: what the complex step
    says when results on the way are off by some last digits.
    """
    loose = SINGLE if single else 1.0
    known = [m for m in (reverse, forward) if np.isfinite(m).any()]
    largest = max([float(np.abs(m[np.isfinite(m)]).max()) for m in known], default=0.0)
    judged = Judged()
    for i, j, of, wrt in along.labels():
        one = {
            "of_index": of, "wrt_index": wrt, "reverse": float(reverse[i, j]),
            "forward": float(forward[i, j]),
            "complex": None if by_complex is None else float(by_complex[i, j]),
            "central": None if differences is None else float(differences.values[i, j]),
            "error": None if differences is None else float(differences.errors[i, j])}
        sides = None if differences is None else (
            float(differences.left[i, j]), float(differences.right[i, j]))
        ends = (math.nan,)*3 if differences is None else tuple(
            map(float, differences.ends[:, i, j]))
        exact = FLOOR * loose * NOISE * largest
        coarse = 0.0 if differences is None else (
            FLOOR * loose * NOISE * float(differences.noise[j]))
        floor = max(exact, coarse if coarse - coarse == 0.0 else 0.0)
        case = Case(one, sides, floor, exact, loose,
                    lambda i=i, j=j: UNSURE * float(rounding()[i, j]),  # type: ignore[misc]
                    lambda i=i, j=j: UNSURE * float(  # type: ignore[misc]
                        abs(shaken()[i, j] - by_complex[i, j])), custom, edge, ends)
        one["verdict"], one["difference"], why = _verdict(case)
        if why:
            judged.why[why] = None
        judged.elements.append(one)
    return judged


def _verdict(case: Case) -> tuple[str, float, str]:
    """Return (verdict, largest relative difference between a sweep and its reference, why it is
    undecided).
    """
    if not _finite(*case.ours):
        return _of_infinite(case)
    between = _apart(*case.ours, case.exact)
    if between > EXACT * case.loose:
        sure = abs(case.ours[0] - case.ours[1]) > case.unsure()
        return (DIFFER, between, "") if sure else _rounded(case, between)
    if case.by_complex is None or not _finite(case.by_complex):
        return _by_differences(case)
    most = _most(case, case.by_complex, case.exact)
    if most <= EXACT * case.loose:
        # All three are made of the same values, on the same branch: they agree on rounding, too.
        why = "cancelled" if _cancelled(case) else _edge(case)
        return (UNDECIDED if why else AGREE), most, why
    if max([abs(a - case.by_complex) for a in case.ours]) <= case.unsure():
        return _rounded(case, most)
    if case.central is not None and all(
            abs(a - case.central) <= SIDE * abs(a - case.by_complex) for a in case.ours):
        return UNDECIDED, most, "apart"
    return DIFFER, most, ""


def without_part(one: dict[str, Any]) -> bool:
    """Return whether differences, which leave nothing out, have the number of the sweeps."""
    return one["central"] is not None and _apart(
        one["reverse"], one["central"], FLOOR * NOISE) <= BY_DIFFERENCES


def _cancelled(case: Case) -> bool:
    """Return whether rounding explains that differences have quite another number."""
    if case.central is None or not _finite(case.central) or (
            _most(case, case.central, case.floor) <= KINK):
        return False
    off = abs(case.ours[0] - case.central)
    return bool(off > case.error and off <= case.shaken()) or (
        0.0 < abs(case.ours[0]) <= case.shaken())


def _edge(case: Case) -> str:
    """Return why a slope that three methods have of one branch is not that of the function: a jump,
    or a kink that differences see on both sides.
    """
    if case.central is None or case.sides is None or not case.edge():
        return ""
    low, high = min(case.sides), max(case.sides)
    if math.inf in map(abs, case.sides):
        return "jump"
    inside = all(low - KINK * abs(low) <= a <= high + KINK * abs(high) for a in case.ours)
    gap = high - low
    return "kink" if inside and case.error <= KINK * gap and gap > max(
        KINK * abs(low), KINK * abs(high), case.floor) else ""


def _rounded(case: Case, most: float) -> tuple[str, float, str]:
    """Return the verdict where the exact methods differ by rounding alone."""
    verdict, off, why = _by_differences(case)
    if verdict == AGREE:
        return AGREE, off, ""
    return UNDECIDED, most, why if why == "outside" else "rounding"


def _of_infinite(case: Case) -> tuple[str, float, str]:
    """Return the verdict on a sweep without a number, which may be right at a pole; a rule of the
    file is not where the complex step and differences have the same number.
    """
    off = float("nan")
    if case.custom and case.by_complex is not None and _finite(case.by_complex) and (
            _trusted(case) and _apart(case.by_complex, case.central, case.floor)
            <= BY_DIFFERENCES * case.loose):
        return DIFFER, off, ""
    return UNDECIDED, off, "absorbed" if _finite(case.ours[0]) else "infinite"


def _by_differences(case: Case) -> tuple[str, float, str]:
    central = case.central
    if central is None:
        return UNDECIDED, _apart(*case.ours, case.exact), "alone"
    most = _most(case, central, case.floor)
    if most <= BY_DIFFERENCES * case.loose:
        return AGREE, most, ""
    if not _finite(central) or case.sides is None:
        return UNDECIDED, most, "outside"
    if math.inf in map(abs, case.sides):
        return UNDECIDED, most, "jump"
    low, high = min(case.sides), max(case.sides)
    if low != low or high != high:
        return UNDECIDED, most, "outside"
    if high - low > KINK * max(abs(low), abs(high), case.floor):
        # A kink: any slope between those of both sides is as right as another.
        inside = all(low - KINK * abs(low) <= a <= high + KINK * abs(high) for a in case.ours)
        return (UNDECIDED, most, "kink") if inside or _steep(case) else (DIFFER, most, "")
    if not _trusted(case):
        off = _beside(case)
        return (AGREE, off, "") if off <= BY_DIFFERENCES * case.loose else (
            UNDECIDED, most, "rough")
    near = min([abs(a - central) for a in case.ours])
    if near <= 10.0 * case.error and most <= TRUSTED:
        return AGREE, most, ""
    return (UNDECIDED, most, "rounding") if near <= case.unsure() else (DIFFER, most, "")


def _beside(case: Case) -> float:
    """Return how far the slopes of both sides tend to others, relative to them: where branches
    meet, a slope of 0 may have nothing but bends around it.
    """
    *ends, size = case.ends
    if not (size and _finite(*ends)):
        return math.inf
    return float(max([abs(a - end) / max(abs(a), size) for a in case.ours for end in ends]))


def _steep(case: Case) -> bool:
    """Return whether one-sided slopes are those of a jump, or of a bend that is narrower than the
    step.
    """
    low, high = case.sides or (0.0, 0.0)
    return not _trusted(case) and max(abs(low), abs(high)) > abs(case.central) / KINK


def _trusted(case: Case) -> bool:
    """Return whether differences know the number, by their own estimate."""
    return case.central is not None and _finite(case.central) and bool(
        case.error <= TRUSTED * max(abs(case.central), case.floor))


def _most(case: Case, other: float, floor: float) -> float:
    return max([_apart(a, other, floor) for a in case.ours])


def _finite(*numbers: float) -> bool:
    return all(a - a == 0.0 for a in numbers)


def _apart(a: float, b: float, floor: float) -> float:
    if a == b or abs(a - b) <= floor / FLOOR:
        return 0.0
    if a != a or b != b:
        return float("nan") if a == a or b == b else 0.0
    return abs(a - b) / max(abs(a), abs(b), floor)
