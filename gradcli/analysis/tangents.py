"""Tangent lines, planes and vectors, and derivatives in a direction."""

from __future__ import annotations

from math import fsum, hypot

from gradcli.analysis.point import Point, each, in_option, one_of
from gradcli.ops.lazy import np
from gradcli.ops.values import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask


def tangent(ask: Ask, options: dict[str, Any]) -> Answer:
    """Of one number by one variable a line, by several a plane; of a vector by one variable the
    tangent of a curve.
    """
    return each("tangent", ask, lambda p: _curve(p) if p.tensor.shape else _graph(p))


def _graph(point: Point) -> Answer:
    """y = intercept + slopes . x. normal: (slopes, -1), which is orthogonal to the graph."""
    y = point.scalar("a tangent")
    slopes = _finite(point, point.jacobian()[0].tolist())
    # Exact sums: the intercept is a difference of numbers that may be nearly equal.
    intercept = fsum([y, *[-m * x for m, x in zip(slopes, point.values, strict=True)]])
    length = hypot(1.0, *slopes)
    found: Answer = {
        **point.told(), "kind": "line" if len(slopes) == 1 else "plane",
        "slopes": dict(zip(point.names, slopes, strict=True)), "intercept": intercept,
        "normal_vector": [*slopes, -1.0],
        "unit_normal": [*[m / length for m in slopes], -1.0 / length]}
    if len(slopes) == 1:
        # The normal of a horizontal tangent is vertical: it has no slope.
        m, x = slopes[0], point.values[0]
        found["normal"] = None if m == 0 else {"slope": -1.0 / m, "intercept": y + x / m}
    return found


def _curve(point: Point) -> Answer:
    if len(point.names) != 1 or len(point.tensor.shape) != 1:
        raise point.error(
            "E0831", "the tangent of a curve needs one vector and one variable, and"
            f" `{point.target.name}` has shape {show(point.tensor.shape)} and the variables"
            f" {', '.join(point.names)}",
            "name one variable with --wrt, or one component of the target")
    velocity = _finite(point, point.jacobian()[:, 0].tolist())
    speed = hypot(*velocity)
    return {**point.told(), "kind": "curve", "point": np.asarray(point.value).tolist(),
            "vector": velocity, "length": speed,
            "unit_vector": None if speed == 0 else [v / speed for v in velocity]}


def directional(ask: Ask, options: dict[str, Any]) -> Answer:
    """The derivative along a direction as it is given, and for each unit of length. components: in
    the order of the variables; by_name: in its place, of each variable.
    """
    text, by_name = options["direction"], options["by_name"]

    def of(point: Point) -> Answer:
        point.scalar("a directional derivative")
        given: list[float] = [0.0] * len(point.names)
        for name, value in by_name.items():
            if type(value) is not float:
                raise in_option("E0834", f"the component of the direction along `{name}` is not one"
                                " number", text, "--direction", "such as x=3,y=4")
            given[one_of(name, point.names, "--direction")] = value
        if not by_name:
            given = np.asarray(options["components"], float).ravel().tolist()
        if len(given) != len(point.names):
            raise in_option(
                "E0834", f"the direction has {len(given)} numbers, and there are"
                f" {len(point.names)} variables: {', '.join(point.names)}", text, "--direction",
                "give a number for each variable, in the order of --wrt")
        length = hypot(*given)
        if length == 0 or length - length != 0:
            raise in_option("E0834", "a direction needs a length that is neither 0 nor infinite",
                            text, "--direction", "such as 3,4")
        slopes = _finite(point, point.jacobian()[0].tolist())
        along = fsum([g * v for g, v in zip(slopes, given, strict=True)])
        return {**point.told(), "direction": dict(zip(point.names, given, strict=True)),
                "length": length, "gradient": dict(zip(point.names, slopes, strict=True)),
                "derivative": along, "per_length": along / length, "steepest": hypot(*slopes)}

    return each("directional", ask, of)


def _finite(point: Point, slopes: list[float]) -> list[float]:
    for slope in slopes:
        if slope - slope != 0:
            raise point.error("E0833", f"a derivative of `{point.target.name}` is {slope} there",
                              "take another point with --at; `gradcli why` tells where it comes"
                              " from")
    return slopes
