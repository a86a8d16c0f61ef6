"""The outcome of a check as plain data: what it is without a check, and where a person decides."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RIGHT = frozenset(("correct", "domain"))
"""Verdicts on answers whose values are right."""
WAITS = ": a person has to look at it"
"""What a message says until somebody did."""


def unchecked(verdict: str, message: str) -> dict[str, Any]:
    """Return the outcome for an answer that was not checked; `check` has the keys."""
    return {"verdict": verdict, "mistake": None, "also": [], "confidence": None,
            "message": message, "read_as": None, "alternatives": [], "witness": None,
            "points": {"usable": 0, "agree": 0, "disagree": 0, "undefined": 0}, "score": 0.0,
            "fingerprint": None, "hint": None, "ms": 0.0}


def leave(result: dict[str, Any], why: str) -> None:
    """Leave an answer to a person."""
    result.update(verdict="undecided", score=0.0, witness=None, message=f"{why}{WAITS}")
