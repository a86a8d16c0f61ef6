"""Taylor polynomials: of one variable by power series, of several by repeated derivatives."""

from __future__ import annotations

from math import comb, factorial, inf, prod

from gradcli.base.lazy import np
from gradcli.engine import calculus
from gradcli.engine.record.tensor import Tensor, value_of
from gradcli.engine.sweeps.series import AtKink, Expansion, NoSeries, polynomial
from gradcli.ops import PUBLIC
from gradcli.questions.calculus.point import Point, each, remark
from gradcli.questions.plain_data import is_finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

DEFAULT, MOST = 3, 100
MOST_TERMS = 1000


def taylor(question: Question, order: int | None = None) -> Answer:
    """Return the terms, each with its powers, derivative and coefficient."""
    order = order or DEFAULT

    def of(point: Point) -> Answer:
        point.scalar("a Taylor polynomial")
        point.check_smooth("Taylor polynomial", order)
        if len(point.names) == 1:
            terms = [{"powers": {point.names[0]: k} if k else {}, "derivative": c * factorial(k),
                      "coefficient": c} for k, c in enumerate(coefficients(point, order))]
        else:
            terms = _several(point, order)
        _check(point, terms)
        point.curves = _second(point, terms)
        told = point.head()
        if told["value"] - told["value"] != 0:
            told["notes"].append(remark(
                "removable", f"`{point.target.name}` has no value there: this is the series of"
                " what continues it"))
        return {**told, "order": order, "terms": terms}

    return each("taylor", question, of)


def _second(point: Point, terms: Sequence[Answer]) -> dict[tuple[int, int], Any]:
    """Return the second derivatives of numbers among the terms, by pairs of variables."""
    names = [b.name for b in point.bindings]
    if names != point.names:
        return {}
    found = {}
    for term in terms:
        by = [names.index(name) for name, k in term["powers"].items() for _ in range(k)]
        if len(by) == 2:
            found[by[0], by[1]] = term["derivative"]
    return found


def coefficients(point: Point, order: int) -> list[float]:
    """Return the coefficients in one variable, from order 0. Raises E0832 for more than 100, E0833
    where a path is cut.
    """
    if order > MOST:
        raise point.error("E0832", f"the order {order} is more than {MOST}",
                          f"ask for --order {MOST} or less")
    return series_of(point, order)


def series_of(point: Point, order: int) -> list[float]:
    """Return the coefficients by power series; by derivatives of derivatives where a rule of the
    file or of an operation does not work on series.
    """
    point.jacobian()    # tells where there is none, and why
    (source,) = point.sources
    if source.id is None or point.tensor.id is None:
        return [float(point.value), *[0.0] * order]
    value = point.value
    if type(value) is float and value - value != 0:
        around = point.around()
        found = around.regular(point.tensor.id, order) if around is not None else None
        if found is not None:
            return [v + 0.0 for v in found]
    one = np.ones(source.shape) if source.shape else 1.0
    try:
        c = Expansion(point.run.record.history(), {source.id: polynomial(source.value, one)},
                      [point.tensor.id]).of(point.tensor.id, order)
    except NoSeries:
        return by_derivatives(point.tensor, source, order)
    except AtKink as kink:
        raise point.error("E0833", "there is no Taylor polynomial at a kink: the derivative"
                          f" passes through `{kink.op.name}` at one; {kink.op.kinks}",
                          "take another point with --at, or a lower --order") from None
    return [float(v) + 0.0 for v in c or [point.value, *[0.0] * order]]


def by_derivatives(target: Tensor, source: Tensor, order: int) -> list[float]:
    """Return the coefficients by recording each derivative and differentiating again: fine for low
    orders.
    """
    out = [_number(target)]
    for k in range(1, order + 1):
        (g,) = calculus.gradient([target], [source], emit=True)
        if g is None:
            return out + [0.0] * (order + 1 - k)
        target = g
        out.append(_number(g) / factorial(k))
    return out


def _number(tensor: Tensor) -> float:
    return float(np.sum(tensor.value))


def _several(point: Point, order: int) -> list[Answer]:
    """Return all partial derivatives up to the order, each the derivative of one of the order
    before.
    """
    n = len(point.names)
    if comb(n + order, order) > MOST_TERMS:
        raise point.error("E0832", f"the polynomial of order {order} in {n} variables has"
                          f" {comb(n + order, order):,} terms; the limit is {MOST_TERMS:,}",
                          "ask for a lower --order, or name fewer variables with --wrt")
    point.jacobian()    # tells where there is none, and why
    before = len(point.run.record.history())
    terms = [_term((), float(point.value), point.names)]
    level: list[tuple[tuple[int, ...], Tensor | None]] = [((), point.tensor)]
    for k in range(order):
        # By the variables from its last one on: the others are the same by symmetry.
        level = [((*by, j), slopes[j]) for by, tensor in level
                 for slopes in [_slopes(point, tensor, recorded=k + 1 < order)]
                 for j in range(by[-1] if by else 0, n)]
        terms += [_term(by, 0.0 if t is None else float(value_of(t)), point.names)
                  for by, t in level]
    point.check_rules(before)
    return terms


def _slopes(point: Point, tensor: Tensor | None, recorded: bool) -> list[Tensor | None]:
    """Return the derivative by each name; None where it is 0 everywhere."""
    if tensor is None:
        return [None] * len(point.names)
    found: list[Tensor | None] = []
    for source, g in zip(point.sources, calculus.gradient(
            [tensor], point.sources, emit=recorded), strict=True):
        if not source.shape:
            found.append(g)
        elif g is None:
            found += [None] * calculus.size(source.shape)
        else:
            flat = PUBLIC["reshape"](g, shape=(-1,))
            found += [flat[i] for i in range(calculus.size(source.shape))]
    return found


def _term(by: tuple[int, ...], derivative: float, names: Sequence[str]) -> Answer:
    """Return a term of the polynomial. by: the variables of its derivative, in order; each
    repetition divides its coefficient.
    """
    derivative += 0.0    # nobody asked for the sign of 0
    powers = {names[k]: by.count(k) for k in dict.fromkeys(by)}
    return {"powers": powers, "derivative": derivative,
            "coefficient": derivative / prod([factorial(p) for p in powers.values()])}


def _check(point: Point, terms: list[Answer]) -> None:
    """Raise E0833 where a coefficient is not a number: there is no polynomial."""
    for term in terms:
        if term["coefficient"] - term["coefficient"] != 0:
            order = sum(term["powers"].values())
            around = point.around() if abs(term["coefficient"]) == inf else None
            if around is not None and around.overflows():
                raise point.error(
                    "E0833", f"`{point.target.name}` is larger than any floating point number"
                    " there", "take another point with --at, or other units")
            known = order == 0 and term["coefficient"] != term["coefficient"] and is_finite(
                point.value)
            what = f"the derivative of order {order} of " if order else (
                "the series of " if known else "")
            raise point.error(
                "E0833", f"{what}`{point.target.name}` is {term['coefficient']} there: there is no"
                f" Taylor polynomial{point.said_around()}",
                "take another point with --at")


# --------------------------------------------------------------------------------------------------
# Divergence, curl and Laplacian at a point.

def divergence(question: Question) -> Answer:
    """Return the sum of dF_i/dx_i; terms has each."""
    def of(point: Point) -> Answer:
        rows = _field(point, "a divergence", ())
        terms = [{"component": i, "wrt": name, "derivative": rows[i][i]}
                 for i, name in enumerate(point.names)]
        return {**point.head(), "terms": terms,
                "divergence": point.total(
                    [rows[i][i] for i in range(len(rows))], "the divergence")}

    return each("divergence", question, of)


def curl(question: Question) -> Answer:
    """Return the curl: in three dimensions a vector, in two a number, dF_1/dx_0 - dF_0/dx_1."""
    def of(point: Point) -> Answer:
        d = _field(point, "a curl", (2, 3))
        pairs = [(1, 0)] if len(d) == 2 else [(2, 1), (0, 2), (1, 0)]
        found = [d[i][j] - d[j][i] for i, j in pairs]
        terms = [{"component": i, "wrt": name, "derivative": d[i][j]}
                 for i in range(len(d)) for j, name in enumerate(point.names) if i != j]
        return {**point.head(), "terms": terms, "curl": found[0] if len(d) == 2 else found}

    return each("curl", question, of)


def laplacian(question: Question) -> Answer:
    """Return the sum of the second derivatives; of a vector that of each element."""
    def of(point: Point) -> Answer:
        point.jacobian()
        point.slopes = []  # which are not told
        point.check_smooth("Laplacian", 2)
        before = len(point.run.record.history())
        terms, sums = [], []
        for k, element in enumerate(point.elements()):
            second = point.finite(point.hessian(element).diagonal()).tolist()
            terms += [{"component": k if point.tensor.shape else None, "wrt": name,
                       "derivative": d} for name, d in zip(point.names, second, strict=True)]
            sums.append(point.total(second, "the Laplacian"))
        point.check_rules(before)
        return {**point.head(), "terms": terms,
                "laplacian": sums if point.tensor.shape else sums[0]}

    return each("laplacian", question, of)


def _field(point: Point, what: str, sizes: tuple[int, ...]) -> list[list[float]]:
    """Return the Jacobian of a field with as many components as variables. Raises E0831, and E0833
    where it does not exist.
    """
    shape = point.tensor.shape
    n = len(point.names)
    if shape != (n,) or (sizes and n not in sizes):
        wanted = "as many components as variables" if not sizes else "two or three of each"
        raise point.error(
            "E0831", f"{what} needs a vector field with {wanted}, and `{point.target.name}` has"
            f" shape [{', '.join(map(str, shape))}] and the variables {', '.join(point.names)}",
            "write the field as a vector, such as [x*y, y*z, z*x], and name the variables with"
            " --wrt")
    point.check_smooth(what.split()[1])
    rows: list[list[float]] = point.finite(point.jacobian()).tolist()
    return rows
