"""Whether the answers of four methods are the same number."""

from __future__ import annotations

from gradcli.finite import noise
from gradcli.ops.lazy import np
from gradcli.ops.values import dtype_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.verifying.directions import Directions
    from gradcli.verifying.ways import Differences

AGREE, DIFFER, UNDECIDED, NONE = "agree", "differ", "undecided", "none"

# Relative differences that are still none: the complex step and both sweeps are exact but for
# rounding, differences are good for about ten digits where the function is smooth.
EXACT, BY_DIFFERENCES = 1e-8, 1e-5
SINGLE = 1e4                # times as much for float32
TRUSTED = 1e-3              # differences whose own error estimate is larger decide nothing
KINK = 1e-2                 # slopes left and right that are farther apart than this
FLOOR = 1e3                 # times the noise: numbers below are compared as if they were this large


def judge(along: Directions, reverse: Any, forward: Any, by_complex: Any,
          differences: Differences | None, scale: float, value: Any) -> list[dict[str, Any]]:
    """One object for each number that was compared. scale: the largest value of the target."""
    loose = SINGLE if dtype_of(value) == "float32" else 1.0
    known = [m for m in (reverse, forward) if np.isfinite(m).any()]
    largest = max([float(np.abs(m[np.isfinite(m)]).max()) for m in known], default=0.0)
    found = []
    for i, j, of, wrt in along.labels():
        x = 1.0 if along.random else abs(float(np.asarray(value).ravel()[j]))
        floor = FLOOR * loose * max(noise(scale, x), noise(largest, 1.0))
        one = {
            "of_index": of, "wrt_index": wrt, "reverse": float(reverse[i, j]),
            "forward": float(forward[i, j]),
            "complex": None if by_complex is None else float(by_complex[i, j]),
            "central": None if differences is None else float(differences.values[i, j]),
            "error": None if differences is None else float(differences.errors[j])}
        sides = None if differences is None else (
            float(differences.left[i, j]), float(differences.right[i, j]))
        one["verdict"], one["difference"] = _verdict(one, sides, floor, loose)
        found.append(one)
    return found


def _verdict(one: dict[str, Any], sides: tuple[float, float] | None, floor: float, loose: float
             ) -> tuple[str, float]:
    """(verdict, largest relative difference between a sweep and what it is held against)."""
    reverse, forward, by_complex = one["reverse"], one["forward"], one["complex"]
    ours = (reverse, forward)
    if _both_finite(*ours) and _apart(*ours, floor) > EXACT * loose:
        return DIFFER, _apart(*ours, floor)
    if by_complex is not None and _both_finite(*ours):
        most = max([_apart(a, by_complex, floor) for a in ours])
        return (AGREE if most <= EXACT * loose else DIFFER), most
    central, error = one["central"], one["error"]
    if central is None:
        return UNDECIDED, max([_apart(a, b, floor) for a in ours for b in ours])
    if not _both_finite(*ours):
        # The sweeps know of a pole, or one of them of more than the other: nothing to compare.
        return UNDECIDED, float("nan")
    most = max([_apart(a, central, floor) for a in ours])
    if most <= BY_DIFFERENCES * loose:
        return AGREE, most
    if central != central or sides is None:
        return UNDECIDED, most
    low, high = min(sides), max(sides)
    if low != low or high != high:
        return UNDECIDED, most
    if high - low > KINK * max(abs(low), abs(high), floor):
        # A kink: any slope between those of both sides is as right as another.
        inside = all(low - KINK * abs(low) <= a <= high + KINK * abs(high) for a in ours)
        return (UNDECIDED if inside else DIFFER), most
    if not error <= TRUSTED * max(abs(central), floor):
        return UNDECIDED, most
    noise = min([abs(a - central) for a in ours]) <= 10.0 * error
    return (AGREE if noise and most <= TRUSTED else DIFFER), most


def _both_finite(a: float, b: float) -> bool:
    return a - a == 0.0 == b - b


def _apart(a: float, b: float, floor: float) -> float:
    if a == b or abs(a - b) <= floor / FLOOR:
        return 0.0
    if a != a or b != b:
        return float("nan") if a == a or b == b else 0.0
    return abs(a - b) / max(abs(a), abs(b), floor)
