"""Derivatives of y(x) where F(x, y(x)) = 0, to any order.

y is found as a power series, coefficient by coefficient: with all of them up to order k - 1 put
into F, the coefficient of order k of F is what -dF/dy times the next one has to cancel.
"""

from __future__ import annotations

from math import factorial

from gradcli.analysis.point import Point, each, one_of
from gradcli.analysis.series import NoSeries, Series, along

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask

MOST = 100
# How far F may be from 0, relative to how far a step of 1 % of x and y takes it.
NEAR = 1e-3


def implicit(ask: Ask, options: dict[str, Any]) -> Answer:
    """dy/dx and what follows. Raises E0835 where the point is not on the curve, or where the curve
    has no slope there.
    """
    dependent, order = options["dependent"].strip(), options.get("order") or 1
    independent = [name for name in ask.wrt if name != dependent]
    if ask.wrt:
        ask.wrt = [*independent, dependent]

    def of(point: Point) -> Answer:
        y = one_of(dependent, point.names, "--dependent")
        others = [k for k in range(len(point.names)) if k != y]
        if len(others) != 1:
            raise point.error(
                "E0831", "an implicit derivative is by one variable, and there are"
                f" {', '.join([point.names[k] for k in others]) or 'none'}", "name one with --wrt")
        if order > MOST:
            raise point.error("E0832", f"the order {order} is more than {MOST}",
                              f"ask for --order {MOST} or less")
        return _solved(point, others[0], y, order)

    return each("implicit", ask, of)


def _solved(point: Point, x: int, y: int, order: int) -> Answer:
    value = point.scalar("an implicit derivative")
    slopes = point.jacobian()[0].tolist()
    names = point.names
    reach = sum([abs(g) * max(1.0, abs(v)) for g, v in zip(slopes, point.values, strict=True)])
    if slopes[y] == 0 or slopes[y] - slopes[y] != 0 or slopes[x] - slopes[x] != 0:
        raise point.error("E0835", f"the derivative of `{point.target.name}` by {names[y]} is"
                          f" {slopes[y]:g} there, so {names[y]} is no function of {names[x]}",
                          f"take another point, or ask for --dependent {names[x]}")
    if not abs(value) <= NEAR * 1e-2 * reach:
        raise point.error(
            "E0835", f"the point is not on the curve: `{point.target.name}` is {value:g} there, not"
            " 0", f"`gradcli newton --wrt {names[y]}` finds a point that is")
    c = _series(point, x, y, slopes, order)
    return {**point.told(), "wrt": names[x], "dependent": names[y],
            "partials": {names[x]: slopes[x], names[y]: slopes[y]},
            "derivatives": [{"order": k, "derivative": c[k] * factorial(k)}
                            for k in range(1, order + 1)]}


def _series(point: Point, x: int, y: int, slopes: list[float], order: int) -> list[float]:
    c = [point.values[y], 0.0 - slopes[x] / slopes[y]]
    sources = {b.name: s for b, s in zip(point.bindings, point.sources, strict=True)}
    ids = [sources[point.names[k]].id if point.names[k] in sources else None for k in (x, y)]
    if order == 1 or None in ids:
        if order > 1:
            raise point.error("E0832", "of elements of a vector there is only the first order",
                              "give each variable a name of its own")
        return c
    entries = point.run.record.history()
    assert point.tensor.id is not None
    for k in range(2, order + 1):
        seeds = {ids[0]: Series([point.values[x], 1.0, *[0.0] * (k - 1)]),
                 ids[1]: Series([*c, 0.0])}
        try:
            found = along(entries, seeds, point.tensor.id)  # type: ignore[arg-type]
        except NoSeries:
            raise point.error(
                "E0832", "an operation on the way has a gradient of its own, which gives only the"
                " first order", "ask for --order 1") from None
        rest = found.c[k] if found is not None and len(found.c) > k else 0.0
        c.append(0.0 - rest / slopes[y])
    return c
