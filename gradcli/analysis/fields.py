"""Divergence, curl and Laplacian at a point."""

from __future__ import annotations

from gradcli.analysis.point import Point, each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask


def divergence(ask: Ask, options: dict[str, Any]) -> Answer:
    """The sum of dF_i/dx_i; terms has each."""
    def of(point: Point) -> Answer:
        rows = _field(point, "a divergence", ())
        terms = [{"component": i, "wrt": name, "derivative": rows[i][i]}
                 for i, name in enumerate(point.names)]
        return {**point.told(), "terms": terms,
                "divergence": point.total(
                    [rows[i][i] for i in range(len(rows))], "the divergence")}

    return each("divergence", ask, of)


def curl(ask: Ask, options: dict[str, Any]) -> Answer:
    """A vector in three dimensions, in two a number: dF_1/dx_0 - dF_0/dx_1."""
    def of(point: Point) -> Answer:
        d = _field(point, "a curl", (2, 3))
        pairs = [(1, 0)] if len(d) == 2 else [(2, 1), (0, 2), (1, 0)]
        found = [d[i][j] - d[j][i] for i, j in pairs]
        terms = [{"component": i, "wrt": name, "derivative": d[i][j]}
                 for i in range(len(d)) for j, name in enumerate(point.names) if i != j]
        return {**point.told(), "terms": terms, "curl": found[0] if len(d) == 2 else found}

    return each("curl", ask, of)


def laplacian(ask: Ask, options: dict[str, Any]) -> Answer:
    """The sum of the second derivatives; of a vector that of each element."""
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
        return {**point.told(), "terms": terms,
                "laplacian": sums if point.tensor.shape else sums[0]}

    return each("laplacian", ask, of)


def _field(point: Point, what: str, sizes: tuple[int, ...]) -> list[list[float]]:
    """The Jacobian of a field with as many components as variables. Raises E0831, and E0833 where
    it does not exist.
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
