"""Derivatives of y(x) where F(x, y(x)) = 0, to any order; of several y where F is as many
equations; by several x to first order.

y' = -(dF/dy)^-1 dF/dx is a differential equation. Its right side is put on the record, and y comes
out as a power series, coefficient by coefficient: that of order k + 1 from those of the right side
up to order k.
"""

from __future__ import annotations

from math import factorial

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.base.lazy import np
from gradcli.engine import calculus
from gradcli.engine.sweeps.series import AtKink, Expansion, NoSeries, Series, guarded
from gradcli.ops.values import shape_of
from gradcli.questions.calculus.point import Point, in_option, one_of
from gradcli.questions.calculus.point import order as in_order
from gradcli.questions.plain_data import data
from gradcli.questions.question import answer
from gradcli.questions.steps import letters
from gradcli.render.entries import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

MOST = 100
# How far F may be from 0, relative to how far a step of 1 % of x and y takes it.
NEAR = 1e-3


def implicit(question: Question, dependent: Sequence[str], order: int | None = None,
             hint: int | None = None) -> Answer:
    """Return dy/dx and what follows, up to an order. With more than one dependent variable the
    targets are the equations of one system; with none it is y, or the one that --wrt leaves.
    Without a point the derivation is with letters. hint: the first steps of that only. Raises E0834
    where the dependent one may be several, E0835 where the point is not on the curve, or where the
    curve has no slope there.
    """
    dependent = dependent or [dependent_of(question)]
    for name in dependent:
        if dependent.count(name) > 1:
            raise in_option("E0834", f"`{name}` is named twice", ",".join(dependent),
                            "--dependent", "name each variable once")
    if hint:
        return letters.implicit(question, dependent[0], hint)
    if question.wrt:
        question.wrt = [*[name for name in question.wrt if name not in dependent], *dependent]
    try:
        run = question.run()
    except GradcliError as problem:
        if len(dependent) > 1 or order is not None or not letters.wanted(question, problem):
            raise
        return letters.implicit(question, dependent[0])
    with run.record:
        in_order(question, run, "implicit")
        points = [Point(question, run, target)
                  for target in question.program.targets(run, question.of)]
        groups = [[point] for point in points] if len(dependent) == 1 else [points]
        results = [_result(group, dependent, order or 1) for group in groups]
    return answer(question, "implicit", results)


def dependent_of(question: Question) -> str:
    """Return the variable that depends on the others where nobody says which. Raises E0834."""
    names = question.program.default_sources
    free = [name for name in names if name not in question.wrt]
    if "y" in free and len(names) > 1:
        return "y"
    if len(free) == 1 and question.wrt:
        return free[0]
    source = question.program.source
    raise GradcliError(Diagnostic(
        "E0834", f"which of {listed(free)} depends on the others?" if len(names) > 1 else
        "an implicit function needs an equation between two variables",
        span=(0, len(source.text.rstrip())), source=source,
        help=f"name it: --dependent {free[-1]}" if len(names) > 1 else "such as x^2 + y^2 = 25"))


class System:
    """The equations that some points are targets of. y, x: which names depend, and which do not;
    jacobian: a row for each equation, a column for each name.
    """

    __slots__ = ("equations", "jacobian", "names", "point", "points", "values", "x", "y")

    def __init__(self, points: Sequence[Point], y: Sequence[int]) -> None:
        self.points = points
        self.point = points[0]
        self.names = self.point.names
        self.y = list(y)
        self.x = [k for k in range(len(self.names)) if k not in y]
        self.equations = [element for point in points for element in point.elements()]
        self.values = [float(e.value) for e in self.equations]
        self.jacobian = np.concatenate([point.jacobian() for point in points])

    def names_of(self, which: Sequence[int]) -> str:
        """Return the names of some variables, separated by commas."""
        return ", ".join([self.names[k] for k in which])


def _result(points: Sequence[Point], dependent: Sequence[str], order: int) -> Answer:
    point = points[0]
    y = [k for name in dependent for k in (
        [k for k, n in enumerate(point.names) if n.startswith(f"{name}[")]
        or [one_of(name, point.names, "--dependent")])]
    if len(y) == 1:
        point.scalar("an implicit derivative")
    for one in points:
        one.check_smooth("implicit derivative", order)
    system = System(points, y)
    if len(system.equations) != len(y):
        raise point.error(
            "E0831", f"{len(system.equations)} equation{'s make' if len(points) > 1 else ' makes'}"
            f" as many variables depend on the others, and --dependent names {len(y)}:"
            f" {system.names_of(y)}", "give an equation for each: a vector, or --of for each")
    if not system.x:
        raise point.error("E0831", "an implicit derivative is by a variable that does not depend on"
                          " the others, and there is none", "name one with --wrt")
    if order > 1 and len(system.x) > 1:
        raise point.error("E0832",
                          f"by several variables, {system.names_of(system.x)}, there is only"
                          " the first order", "name one with --wrt")
    if order > MOST:
        raise point.error("E0832", f"the order {order} is more than {MOST}",
                          f"ask for --order {MOST} or less")
    _check(system)
    return _as_answer(system, _derivatives(system, order))


def _check(system: System) -> None:
    """Raise E0835 where the equations do not hold, or do not make y a function of x."""
    point, names = system.point, system.names
    of_y = system.jacobian[:, system.y]
    singular = not np.isfinite(system.jacobian).all() or (
        of_y[0, 0] == 0 if len(system.y) == 1 else
        np.linalg.matrix_rank(of_y) < len(system.y))
    if singular and not system.jacobian.any(axis=1).all():
        raise point.error(
            "E0835", f"the point is singular: all derivatives of `{point.target.name}` are 0 there,"
            " so branches may meet, and no variable is a function of the others",
            "take another point; `gradcli taylor --order 2` tells how the curve looks there")
    if singular and len(system.y) == 1:
        (y,) = system.y
        others = [k for k in system.x if system.jacobian[0, k]] or system.x
        raise point.error("E0835", f"the derivative of `{point.target.name}` by {names[y]} is"
                          f" {system.jacobian[0, y]:g} there, so {names[y]} is not a function of"
                          f" {system.names_of(system.x)}",
                          f"take another point, or ask for --dependent {names[others[0]]}")
    if singular:
        raise point.error("E0835",
                          f"the derivatives of the equations by {system.names_of(system.y)}"
                          " are a singular matrix there, so these are no functions of"
                          f" {system.names_of(system.x)}",
                          "take another point, or let other variables depend")
    sizes = np.maximum(1.0, np.abs(point.values))
    for k, value in enumerate(system.values):
        if not abs(value) <= NEAR * 1e-2 * float(np.abs(system.jacobian[k]) @ sizes):
            which = f"`{point.target.name}`" if len(system.values) == 1 else f"equation {k}"
            raise point.error(
                "E0835", f"the point is not on the curve: {which} is {value:g} there, not 0",
                f"`gradcli newton --wrt {','.join([names[k] for k in system.y])}` finds a point"
                " that is")


def _derivatives(system: System, order: int) -> list[Answer]:
    def named(k: int, by: int, n: int, derivative: float) -> Answer:
        return {"of": system.names[k], "wrt": system.names[by], "order": n,
                "derivative": derivative + 0.0}

    if order == 1:
        first = -np.linalg.solve(system.jacobian[:, system.y], system.jacobian[:, system.x])
        return [named(k, by, 1, first[i, j]) for i, k in enumerate(system.y)
                for j, by in enumerate(system.x)]
    c = _solved(system, order)
    return [named(k, system.x[0], n, c[n][i] * factorial(n)) for i, k in enumerate(system.y)
            for n in range(1, order + 1)]


def _solved(system: System, order: int) -> list[list[float]]:
    """Return the coefficients of y, by order and equation."""
    try:
        return Solution(system).upto(order)
    except NoSeries:
        raise system.point.error(
            "E0832", "an operation on the path has a custom gradient, which gives only the"
            " first order", "ask for --order 1") from None
    except AtKink as kink:
        raise system.point.error(
            "E0833", f"the derivative passes through `{kink.op.name}` at a kink;"
            f" {kink.op.kinks}", "take another point, or a lower --order") from None


class Solution:
    """y as power series. c: its coefficients by order; slopes: of each equation by each name, where
    the number stands, and the stream or number that it is an element of.
    """

    __slots__ = ("c", "seeds", "slopes", "system")

    def __init__(self, system: System) -> None:
        self.system = system
        point = system.point
        self.c = [[point.values[k] for k in system.y]]
        self.seeds: list[Series] = []
        places: list[tuple[int, int]] = []
        for source in point.sources:
            n, first = calculus.size(source.shape), len(places)
            places += [(len(self.seeds), k) for k in range(n)]
            self.seeds.append(Series([source.value], self._step(source.shape, first, first + n)))
        rows = [calculus.gradient([equation], point.sources, emit=True)
                for equation in system.equations]
        streams = Expansion(
            point.run.record.history(),
            {source.id: seed for source, seed in zip(point.sources, self.seeds, strict=True)
             if source.id is not None},
            [g.id for row in rows for g in row if g is not None and g.id is not None]).carried
        self.slopes = [[(None if row[s] is None else streams.get(row[s].id, row[s].value), k)
                        for s, k in places] for row in rows]
        needed = {id(g): g for row in self.slopes for g, _ in row if isinstance(g, Series)}
        for seed in self.seeds:
            seed.needs = [(g, 1) for g in needed.values()]

    def upto(self, order: int) -> list[list[float]]:
        """Return the coefficients up to an order."""
        for seed in self.seeds:
            guarded(seed, order)
        return self.c

    def _step(self, shape: Any, first: int, last: int) -> Any:
        def step(_: Series, j: int) -> Any:
            values = self._order(j)[first:last]
            return np.reshape(values, shape) if shape else values[0]

        return step

    def _order(self, j: int) -> list[float]:
        """Return the coefficients of order j of all names."""
        x, y = self.system.x, self.system.y
        if len(self.c) == j:
            right = -self._slopes(j - 1)[:, x[0]]
            for i in range(1, j):
                right -= self._slopes(i)[:, y] @ np.multiply(self.c[j - i], j - i)
            self.c.append((np.linalg.solve(self._slopes(0)[:, y], right) / j).tolist())
        out = [0.0] * len(self.system.names)
        out[x[0]] = 1.0 if j == 1 else 0.0
        for k, value in zip(y, self.c[j], strict=True):
            out[k] = value
        return out

    def _slopes(self, j: int) -> Any:
        """Return the coefficients of order j of the matrix of slopes."""
        def one(g: Any, k: int) -> float:
            if isinstance(g, Series):
                g = g.c[j]
            elif g is None or j:
                return 0.0
            return float(np.ravel(g)[k]) if shape_of(g) else float(g)

        return np.array([[one(*place) for place in row] for row in self.slopes])


def _as_answer(system: System, derivatives: list[Answer]) -> Answer:
    """Return the answer. wrt, dependent: a name, or a list of several. partials: of one equation;
    equations: of several, each with its value.
    """
    names, single = system.names, len(system.y) == 1
    found = {
        **system.point.head(),
        "wrt": names[system.x[0]] if len(system.x) == 1 else [names[k] for k in system.x],
        "dependent": names[system.y[0]] if single else [names[k] for k in system.y]}
    if len(system.points) > 1:
        found["of"] = ", ".join([point.target.name for point in system.points])
        found["value"] = [data(point.value) for point in system.points]
    rows = [dict(zip(names, row, strict=True)) for row in system.jacobian.tolist()]
    if single:
        found["partials"] = {names[k]: rows[0][names[k]] for k in (*system.x, *system.y)}
    else:
        found["equations"] = [{"value": value, "partials": row}
                              for value, row in zip(system.values, rows, strict=True)]
    return {**found, "derivatives": derivatives}
