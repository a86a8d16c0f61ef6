"""The largest memory of a command that streams 1e8 points: what the system counts as resident."""

from __future__ import annotations

from benchmarks.harness.case import WHEEL, Case, Command, Place, Ratio


def gradcli(place: Place) -> list[str]:
    return [place.gradcli, "grad", "-e", "x^2*sin(x)", "--points", "x=linspace(0, 1, 1e8)",
            "-o", "/dev/null"]


CASES = [
    Case("memory", "peak memory of 1e8 points, streamed", [
        Command("gradcli", WHEEL, gradcli, read=None),
    ], [Ratio("gradcli", None, 500)], cores=2, unit="MB", rounds=1, quick=False),
]
