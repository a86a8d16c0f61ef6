"""Numbers that belong to another point: for problems that ask for a value, or a tangent there."""

from __future__ import annotations

from functools import partial

from gradcli.checking.mistakes.sample import evaluated
from gradcli.checking.mistakes.ways import at_point, line
from gradcli.checking.mistakes.whole import function, names_of
from gradcli.checking.mistakes.wrong import WHOLE, Found
from gradcli.checking.reference import slope
from gradcli.ops.elementwise import subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcli.checking.mistakes.ways import Way

NEAR = 1e-6
"""How far from a curve a point of it may be, whose numbers may be rounded."""


def other_points(way: Way, c: int) -> list[Found]:
    """The right formula at another point, and other numbers at the right one."""
    formula = way.reference.formula
    d = way.reference.nodes[c]
    made: list[Found] = []
    for point in filter(partial(is_on_curve, way), _points(way)):
        text = ", ".join([f"{n} = {v:g}" for n, v in point.items()])
        node = formula.substituted(d, {
            formula.leaf(n): formula.number(v) for n, v in point.items()})
        made.append(Found("evaluated_at_wrong_point", WHOLE, 10 + len(made), node=node,
                          detail={"at": text}))
    for text, node in _values(way, c):
        made.append(Found("evaluated_at_wrong_point", WHOLE, 10 + len(made), node=node,
                          detail={"what": text}))
    return made


def is_on_curve(way: Way, point: Mapping[str, float]) -> bool:
    """Whether a point can be one of an implicit problem's curve; all are where there is none."""
    formula, node = way.reference.formula, way.reference.constraint
    if node is None or not set(formula.leaves([node])) <= set(point):
        return True
    value, = evaluated(formula, [node], point, {})
    return bool(abs(value) <= NEAR * (1.0 + max(map(abs, point.values()))))


def _points(way: Way) -> Iterator[dict[str, float]]:
    at = way.problem.at
    names = list(at)
    values = list(at.values())
    yield {n: -v for n, v in at.items()}
    for value in (0.0, 1.0):
        yield dict.fromkeys(names, value)
    if len(names) > 1:
        yield dict(zip(names, values[1:] + values[:1], strict=True))
        yield dict(zip(names, values[::-1], strict=True))
        for k, name in enumerate(names):
            yield {**at, name: -values[k]}
            yield {**at, name: 0.0}


def _values(way: Way, c: int) -> Iterator[tuple[str, int]]:
    """f(p), f''(p) and f(p + 1) - f(p)."""
    formula, at = way.reference.formula, way.problem.at
    f = function(way, c)
    if way.problem.kind in ("implicit", "parametric"):
        return
    yield "the value of the function itself there", f
    names = names_of(way, c)
    yield "the second derivative there", slope(formula, f, names[0], 2)
    if names[0] in at:
        shifted = formula.substituted(f, {
            formula.leaf(names[0]): formula.number(at[names[0]] + 1.0)})
        yield "the difference to the next whole step", formula.share(subtract, (shifted, f))


def other_lines(way: Way) -> list[Found]:
    """Tangents whose slope belongs to another point, or is another number."""
    reference, problem = way.reference, way.problem
    formula, f = reference.formula, reference.functions[0]
    slopes = [slope(formula, f, n) for n in reference.wrt]
    made: list[Found] = []

    def keep(steep: list[int], text: str) -> None:
        made.append(Found("evaluated_at_wrong_point", WHOLE, 10 + len(made),
                          node=line(way, steep, problem.at), detail={"what": text}))

    for point in _points(way):
        leaves = {formula.leaf(n): formula.number(v) for n, v in point.items()}
        keep([formula.substituted(s, leaves) for s in slopes], "the slope at another point")
    here = at_point(way)
    if len(slopes) == 1:
        keep([formula.substituted(f, here)], "the function's value as the slope")
        keep([formula.substituted(slope(formula, slopes[0], reference.wrt[0]), here)],
             "the second derivative as the slope")
    return made
