"""The standard uncertainty of a result from those of its inputs.

First order: var(y) = sum of dy/dx_i dy/dx_j cov(x_i, x_j) (JCGM 100:2008, Guide to the Expression
of Uncertainty in Measurement, 5.1.2 and 5.2.2). Second order, for normally distributed inputs: the
mean moves by tr(H C)/2, and the variance grows by tr(H C H C)/2, what is the second moment of the
quadratic term (A. Mathai and S. Provost, Quadratic Forms in Random Variables (1992), 3.2b).
"""

from __future__ import annotations

from math import fsum, hypot, sqrt

from gradcli.analysis.point import Point, counted, each, in_option, one_of, remark
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.answers.ask import Answer, Ask

# Above this share of the first order the second is worth a note.
NOTABLE = 0.05
# Rounding may leave a matrix of correlations so far from positive semidefinite.
INDEFINITE = -1e-12


def propagate(ask: Ask, options: dict[str, Any]) -> Answer:
    """sigma: name to uncertainty, of an array to one of each element or one for all; correlation:
    (name, name) to a number. Raises E0834 for what is none.
    """
    sigma, correlation = options["sigma"], options["correlation"]
    for name in sigma:
        # The inputs are named here first: nobody has written --wrt.
        if name not in ask.program.names.order and not ask.wrt:
            one_of(name, ask.program.default_sources() or [], "--sigma")
    ask.wrt = ask.wrt or list(sigma)

    def of(point: Point) -> Answer:
        point.scalar("an uncertainty")
        point.check_smooth("uncertainty to first order")
        s = _sigmas(point, sigma)
        r = _correlations(point, correlation)
        g = point.finite(point.jacobian()[0])
        with quiet():
            parts = (g * s + 0.0).tolist()
        # In units of the largest, so that squares neither overflow nor vanish.
        unit = max(map(abs, parts)) or 1.0
        if unit == float("inf"):
            raise point.error("E0833", f"the uncertainty of `{point.target.name}` is larger than"
                              " any floating point number", "take smaller units")
        scaled = [part / unit for part in parts]
        # Each input's share: its own square, and half of what it has with each other.
        shares = [fsum([scaled[i] * r[i][j] * scaled[j] for j in range(len(parts))])
                  for i in range(len(parts))]
        variance = max(0.0, fsum(shares))
        first = unit * sqrt(variance)
        y = float(point.value)
        found: Answer = {
            **point.told(), "sigma": first,
            "relative": abs(first / y) if y and abs(y) < float("inf") else None,
            "inputs": [{
                "wrt": name, "at": point.values[i], "sigma": s[i], "derivative": float(g[i]),
                "contribution": parts[i], "share": shares[i] / variance if variance else 0.0}
                for i, name in enumerate(point.names)],
            "correlations": [{"first": a, "second": b, "correlation": v}
                             for (a, b), v in correlation.items()]}
        if options.get("second_order"):
            found["second_order"] = _second(point, np.array(s), np.array(r), first, found)
        elif first == 0 and any(s) and np.any(point.hessian()*np.outer(s, s)):
            found["notes"].append(remark("first-order-zero", "all slopes are 0 there: what the"
                                         " uncertainties do is of second order, which"
                                         " --second-order tells"))
        return found

    return each("propagate", ask, of)


def _second(point: Point, s: Any, r: Any, first: float, found: Answer) -> Answer:
    with quiet():
        curved = point.finite(point.hessian()) * s[:, None] * s[None, :]
        unit = float(np.abs(curved).max(initial=0.0)) or 1.0
        product = (curved / unit) @ r
        shift = unit * float(np.trace(product)) / 2
        more = unit * sqrt(max(0.0, float(np.trace(product @ product)) / 2))
    sigma = hypot(first, more)
    if abs(shift) > NOTABLE * first or abs(sigma - first) > NOTABLE * first:
        found["notes"].append({
            "code": "second-order", "message": "the second order changes the result by more than"
            f" {NOTABLE:.0%} of its uncertainty: the first is not enough", "line": None,
            "column": None})
    return {"shift": shift, "mean": float(point.value) + shift, "sigma": sigma}


def _sigmas(point: Point, sigma: Mapping[str, Any]) -> list[float]:
    """One for each element; what has none is exact."""
    found = [0.0] * len(point.names)
    for name, value in sigma.items():
        places = [k for k, n in enumerate(point.names) if n == name or n.startswith(f"{name}[")]
        if not places:
            one_of(name, point.names, "--sigma")
        if isinstance(value, str):
            raise in_option("E0834", f"the uncertainty of `{name}` is a text, not a number", value,
                            "--sigma", "give a standard deviation, such as 0.1")
        values = np.asarray(value, float).ravel().tolist()
        if len(values) == 1:
            values *= len(places)
        if len(values) != len(places):
            raise in_option("E0834", f"`{name}` has {counted(len(places), 'element')} and"
                            f" {counted(len(values), 'uncertaint', 'y', 'ies')}", name, "--sigma",
                            "give one for each, or one for all")
        for k, v in zip(places, values, strict=True):
            if not 0 <= v < float("inf"):
                raise in_option("E0834", f"the uncertainty of `{name}` is {v:g}, which is no"
                                " finite number from 0 on", f"{name}={v:g}", "--sigma",
                                "give a standard deviation, such as 0.1")
            found[k] = v
    return found


def _correlations(point: Point, correlation: Mapping[tuple[str, str], float]
                  ) -> list[list[float]]:
    n = len(point.names)
    r = [[float(i == j) for j in range(n)] for i in range(n)]
    for (a, b), value in correlation.items():
        i, j = (one_of(name, point.names, "--correlation") for name in (a, b))
        if i == j or not -1 <= value <= 1:
            raise in_option(
                "E0834", f"a correlation of `{a}` with `{b}` of {telling(value)} cannot be: it is"
                " between two inputs, and from -1 to 1", f"{a}:{b}={telling(value)}",
                "--correlation", "such as x:y=0.5")
        r[i][j] = r[j][i] = value
    if correlation and float(np.linalg.eigvalsh(np.array(r)).min()) < INDEFINITE:
        raise in_option(
            "E0834", "these correlations contradict each other: their matrix is not positive"
            " semidefinite", ",".join([f"{a}:{b}={v:g}" for (a, b), v in correlation.items()]),
            "--correlation", "no inputs can have them; give smaller ones")
    return r
