"""Tangent lines, planes and vectors, and derivatives in a direction."""

from __future__ import annotations

from math import fsum, hypot, sqrt

from gradcli.base.lazy import np, quiet
from gradcli.ops.values import show, telling
from gradcli.questions.calculus.point import Point, counted, each, in_option, one_of, remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

# How far to look for a derivative that is not 0 where the first one is.
FURTHER = 9


def tangent(question: Question) -> Answer:
    """Return the tangent: of one number by one variable a line, by several a plane; of a vector by
    one variable the tangent of a curve, by two the tangent plane of a surface.
    """
    def of(point: Point) -> Answer:
        point.check_smooth("tangent")
        if not point.tensor.shape:
            return _graph(point)
        return _curve(point) if len(point.names) == 1 else _surface(point)

    return each("tangent", question, of)


def _graph(point: Point) -> Answer:
    """Return the tangent y = intercept + slopes . x. normal: (slopes, -1), which is orthogonal to
    the graph.
    """
    y = point.scalar("a tangent")
    slopes = point.finite(point.jacobian()[0]).tolist()
    # Exact sums: the intercept is a difference of numbers that may be nearly equal.
    intercept = point.total(
        [y, *[-m * x for m, x in zip(slopes, point.values, strict=True)]], "the intercept")
    length = hypot(1.0, *slopes)
    found: Answer = {
        **point.head(), "kind": "line" if len(slopes) == 1 else "plane",
        "slopes": dict(zip(point.names, slopes, strict=True)), "intercept": intercept,
        "normal_vector": [*slopes, -1.0],
        "unit_normal": [*[m / length for m in slopes], -1.0 / length]}
    if len(slopes) == 1:
        # The normal of a horizontal tangent is vertical: it has no slope.
        m, x = slopes[0], point.values[0]
        found["normal"] = None if m == 0 else {"slope": -1.0 / m, "intercept": y + x / m}
    if len(slopes) > 2:
        found["notes"].append(remark(
            "level-surface", "this is tangent to the graph; of the level surface"
            f" {point.target.name} = {telling(y)} the slopes are a normal vector"))
    return found


def _curve(point: Point) -> Answer:
    """Return the tangent of a curve. direction: of the tangent line, from the first derivative that
    is not 0; order: of that derivative.
    """
    _one_vector(point)
    velocity = point.finite(point.jacobian()[:, 0]).tolist()
    speed = hypot(*velocity)
    order, way = (1, velocity) if speed else _further(point)
    found = {**point.head(), "kind": "curve", "point": np.asarray(point.value).tolist(),
             "vector": velocity, "length": speed,
             "unit_vector": _unit(velocity), "direction": _unit(way), "order": order}
    if not speed:
        found["notes"].append(remark("singular", "the curve stands still there: its tangent is" + (
            f" that of the derivative of order {order}" + (
                "; it is a cusp or turns back" if order % 2 == 0 else "") if order else
            " not known, the first derivatives are all 0")))
    return found


def _further(point: Point) -> tuple[int | None, list[float]]:
    """Return the first derivative of a curve that is not 0, by its order; None where none is found.
    """
    from gradcli.engine.sweeps.series import AtKink, Expansion, NoSeries, polynomial

    (source,), target = point.sources, point.tensor
    if source.id is not None and target.id is not None:
        one = np.ones(source.shape) if source.shape else 1.0
        try:
            c = Expansion(point.run.record.history(), {source.id: polynomial(source.value, one)},
                          [target.id]).of(target.id, FURTHER)
        except (AtKink, NoSeries):
            c = None
        for k, one in enumerate(c or ()):
            if k > 1 and np.any(one) and np.isfinite(one).all():
                return k, one.tolist()
    return None, [0.0]


def _unit(vector: list[float]) -> list[float] | None:
    length = hypot(*vector)
    return [v / length for v in vector] if length else None


def _surface(point: Point) -> Answer:
    """Return the vectors along both variables, and in three dimensions the normal."""
    _one_vector(point)
    if len(point.names) != 2 or point.tensor.shape[0] < 3:
        raise point.error(
            "E0831", "the tangent of a curve needs one variable, that of a surface two and three"
            f" components, and `{point.target.name}` has shape {show(point.tensor.shape)} and the"
            f" variables {', '.join(point.names)}",
            "name one variable with --wrt, or one component of the target")
    along = point.finite(point.jacobian()).T.tolist()
    found: Answer = {
        **point.head(), "kind": "surface", "point": np.asarray(point.value).tolist(),
        "vectors": dict(zip(point.names, along, strict=True))}
    normal = None
    if len(along[0]) == 3:
        (a, b, c), (d, e, f) = along
        normal = [b * f - c * e, c * d - a * f, a * e - b * d]
        found["normal_vector"], found["unit_normal"] = normal, _unit(normal)
    if np.linalg.matrix_rank(np.array(along)) < 2:
        found["notes"].append(remark(
            "singular", "both tangent vectors lie in one line: there is no tangent plane"))
    return found


def _one_vector(point: Point) -> None:
    if len(point.tensor.shape) != 1:
        raise point.error(
            "E0831", "the tangent of a curve or surface needs one vector, and"
            f" `{point.target.name}` has shape {show(point.tensor.shape)}",
            "take a row of it, such as y[0], or one element")


def directional(question: Question, direction: tuple[str, list[float], dict[str, Any]]) -> Answer:
    """Return the derivative along a direction as it is given, and for each unit of length.
    direction: as it was written, numbers in the order of the variables, and in their place those of
    each variable by name, an array for an array.
    """
    text, components, by_name = direction

    def of(point: Point) -> Answer:
        point.scalar("a directional derivative")
        point.check_smooth("directional derivative")
        given = _by_name(point, by_name, text) if by_name else np.asarray(
            components, float).ravel().tolist()
        if len(given) != len(point.names):
            raise in_option(
                "E0834", f"the direction has {counted(len(given), 'number')}, and there"
                f" {'is' if len(point.names) == 1 else 'are'}"
                f" {counted(len(point.names), 'variable')}: {', '.join(point.names)}", text,
                "--direction", "give a number for each variable, in the order of --wrt")
        length = hypot(*given)
        if length == 0 or length - length != 0:
            raise in_option("E0834", "a direction needs a length that is neither 0 nor infinite",
                            text, "--direction", "such as 3,4")
        slopes = point.finite(point.jacobian()[0]).tolist()
        along = point.total([g * v for g, v in zip(slopes, given, strict=True)], "the slope")
        return {**point.head(), "direction": dict(zip(point.names, given, strict=True)),
                "length": length, "gradient": dict(zip(point.names, slopes, strict=True)),
                "derivative": along, "per_length": along / length, "steepest": hypot(*slopes)}

    return each("directional", question, of)


def _by_name(point: Point, by_name: dict[str, Any], text: str) -> list[float]:
    given: list[float] = [0.0] * len(point.names)
    for name, value in by_name.items():
        places = [k for k, n in enumerate(point.names) if n == name or n.startswith(f"{name}[")]
        if not places:
            one_of(name, point.names, "--direction")
        values = [] if isinstance(value, str) else np.asarray(value, float).ravel().tolist()
        if len(values) != len(places):
            raise in_option("E0834", f"the component of the direction along `{name}` is not"
                            f" {counted(len(places), 'number')}", text, "--direction",
                            "such as x=3,y=4")
        for k, v in zip(places, values, strict=True):
            given[k] = v
    return given


# --------------------------------------------------------------------------------------------------
# The standard uncertainty of a result from those of its inputs.
#
# First order: var(y) = sum of dy/dx_i dy/dx_j cov(x_i, x_j) (JCGM 100:2008, Guide to the Expression
# of Uncertainty in Measurement, 5.1.2 and 5.2.2). Second order, for normally distributed inputs:
# the
# mean moves by tr(H C)/2, and the variance grows by tr(H C H C)/2, what is the second moment of the
# quadratic term (A. Mathai and S. Provost, Quadratic Forms in Random Variables (1992), 3.2b).

# Above this share of the first order the second is worth a note.
NOTABLE = 0.05
# Rounding may leave a matrix of correlations so far from positive semidefinite.
INDEFINITE = -1e-12


def propagate(question: Question, sigma: dict[str, Any], correlation: dict[tuple[str, str], float],
              second_order: bool = False) -> Answer:
    """Return the uncertainty of each target. sigma: name to uncertainty, of an array to one of each
    element or one for all; correlation: (name, name) to a number. Raises E0834 for invalid ones.
    """
    for name in sigma:
        # The inputs are named here first: nobody has written --wrt.
        if name not in question.program.names.order and not question.wrt:
            one_of(name, question.program.default_sources or [], "--sigma")
    question.wrt = question.wrt or list(sigma)

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
            **point.head(), "sigma": first,
            "relative": abs(first / y) if y and abs(y) < float("inf") else None,
            "inputs": [{
                "wrt": name, "at": point.values[i], "sigma": s[i], "derivative": float(g[i]),
                "contribution": parts[i], "share": shares[i] / variance if variance else 0.0}
                for i, name in enumerate(point.names)],
            "correlations": [{"first": a, "second": b, "correlation": v}
                             for (a, b), v in correlation.items()]}
        if second_order:
            found["second_order"] = _second(point, np.array(s), np.array(r), first, found)
        elif first == 0 and any(s) and np.any(point.hessian()*np.outer(s, s)):
            found["notes"].append(remark("first-order-zero", "all slopes are 0 there: what the"
                                         " uncertainties do is of second order, which"
                                         " --second-order tells"))
        return found

    return each("propagate", question, of)


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
    """Return the uncertainty of each element; one that is not given is 0."""
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
                raise in_option("E0834", f"the uncertainty of `{name}` is {v:g}, which is not a"
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
