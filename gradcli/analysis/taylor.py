"""Taylor polynomials: of one variable to any order by power series, of several to the second."""

from __future__ import annotations

from math import factorial

from gradcli import calculus
from gradcli.analysis.point import Point, each
from gradcli.analysis.series import NoSeries, Series, along
from gradcli.tape.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask

DEFAULT, MOST = 3, 100


def taylor(ask: Ask, options: dict[str, Any]) -> Answer:
    """The terms, each with its powers, derivative and coefficient."""
    order = options.get("order") or DEFAULT

    def of(point: Point) -> Answer:
        point.scalar("a Taylor polynomial")
        if len(point.names) == 1:
            terms = [_term({point.names[0]: k}, c * factorial(k), c)
                     for k, c in enumerate(coefficients(point, order))]
        else:
            terms = _several(point, order)
        _check(point, terms)
        return {**point.told(), "order": order, "terms": terms}

    return each("taylor", ask, of)


def coefficients(point: Point, order: int) -> list[float]:
    """Of one variable, from order 0. Raises E0832 for more than 100, E0833 where a path is cut."""
    if order > MOST:
        raise point.error("E0832", f"the order {order} is more than {MOST}",
                          f"ask for --order {MOST} or less")
    return series_of(point, order)


def series_of(point: Point, order: int) -> list[float]:
    """The coefficients by power series; by derivatives of derivatives where a rule of the file or
    of an operation does not work on series.
    """
    point.jacobian()    # tells where there is none, and why
    (source,), x = point.sources, point.values[0]
    if source.id is None or point.tensor.id is None:
        return [float(point.value), *[0.0] * order]
    entries = point.run.record.history()
    shape = source.shape
    try:
        if shape:
            raise NoSeries
        found = along(entries, {source.id: Series([x, 1.0, *[0.0] * (order - 1)])},
                      point.tensor.id)
        c = [point.value] if found is None else found.c
        return [float(v) + 0.0 for v in c] + [0.0] * (order + 1 - len(c))
    except NoSeries:
        return by_derivatives(point.tensor, source, order)


def by_derivatives(target: Tensor, source: Tensor, order: int) -> list[float]:
    """Each derivative recorded and differentiated again: fine for low orders."""
    out = [_number(target)]
    for k in range(1, order + 1):
        (g,) = calculus.gradient([target], [source], emit=True)
        if g is None:
            return out + [0.0] * (order + 1 - k)
        target = g
        out.append(_number(g) / factorial(k))
    return out


def _number(tensor: Tensor) -> float:
    from gradcli.ops.lazy import np

    return float(np.sum(tensor.value))


def _several(point: Point, order: int) -> list[Answer]:
    if order > 2:
        raise point.error("E0832", f"of {len(point.names)} variables a polynomial goes to order 2,"
                          f" not {order}", "ask for --order 2, or name one variable with --wrt")
    names = point.names
    terms = [_term({}, float(point.value), float(point.value))]
    gradient = point.jacobian()[0].tolist()
    terms += [_term({n: 1}, g, g) for n, g in zip(names, gradient, strict=True)]
    if order == 2:
        second = point.hessian().tolist()
        for i, a in enumerate(names):
            for j in range(i, len(names)):
                powers = {a: 2} if i == j else {a: 1, names[j]: 1}
                terms.append(_term(powers, second[i][j], second[i][j] / (2 if i == j else 1)))
    return terms


def _term(powers: dict[str, int], derivative: float, coefficient: float) -> Answer:
    return {"powers": {n: k for n, k in powers.items() if k}, "derivative": derivative,
            "coefficient": coefficient}


def _check(point: Point, terms: list[Answer]) -> None:
    """Raises E0833 where a coefficient is no number: there is no polynomial."""
    for term in terms:
        if term["coefficient"] - term["coefficient"] != 0:
            order = sum(term["powers"].values())
            raise point.error(
                "E0833", f"the derivative of order {order} of `{point.target.name}` is"
                f" {term['coefficient']} there: there is no Taylor polynomial",
                "take another point with --at")
