"""Answers to another question: the function itself, another order, another variable, an inverse."""

from __future__ import annotations

from functools import partial

from gradcli.base.errors import GradcliError
from gradcli.homework.checking import built
from gradcli.homework.checking.prepared import derive
from gradcli.homework.checking.problem import Problem, slope
from gradcli.homework.checking.tangents import at_point, line, tangent
from gradcli.homework.mistakes.derivation import BETWEEN, SITE, WHOLE, Explanation
from gradcli.homework.mistakes.sample import evaluated
from gradcli.ops.table.elementwise import divide, multiply, negative, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcli.homework.checking.problem import Reference
    from gradcli.homework.mistakes.derivation import AnswerDerivation

def other_questions(derivation: AnswerDerivation, c: int) -> list[Explanation]:
    """Return other answers to one component that are made without looking at the student's."""
    reference = derivation.reference
    formula, kind = reference.formula, reference.kind
    made = [Explanation("sign_error", SITE, BETWEEN, node=formula.share(
        negative, (reference.nodes[c],)), detail={
            "sentence": "the sign is wrong: this is minus the right answer"})]
    for name, node, detail in kind.mistakes(reference, c):
        level, rank = (SITE, BETWEEN + len(made) / 10) if (
            name == "sign_error" or name in kind.unlikely) else (WHOLE, len(made))
        made.append(Explanation(name, level, rank, node=node, detail=detail))
    return made


def misread(derivation: AnswerDerivation) -> list[tuple[str, list[int]]]:
    """Return (text, nodes of its right answer) of functions that this one is easily taken for."""
    made = []
    for text in derivation.problem.variants:
        fields = {**derivation.problem.fields(), "function": text, "expected": None}
        try:
            other = derive(Problem(**fields))
        except GradcliError:
            continue
        if other.shape == derivation.reference.shape:
            made.append((text, _copied(other, derivation.reference)))
    return made


def _copied(other: Reference, reference: Reference) -> list[int]:
    """Return the nodes of one reference's answer in the formula of another."""
    source, target = other.formula, reference.formula
    places: dict[int, int] = {}
    for k in source.needed(other.nodes):
        op = source.ops[k]
        if op is None:
            value = source.given[k]
            places[k] = target.leaf(value) if isinstance(value, str) else target.number(value)
        else:
            places[k] = target.share(op, tuple([places[a] for a in source.args[k]]))
    return [places[k] for k in other.nodes]


def in_degrees(derivation: AnswerDerivation, c: int) -> list[Explanation]:
    """Return the right derivative with the arguments of trigonometric functions in degrees, or,
    where degrees are asked for, in radians.
    """
    reference = derivation.reference
    formula, d = reference.formula, reference.nodes[c]
    unit = formula.number(built.PI / 180)
    places: dict[int, int] = {}
    changed = False
    for k in formula.needed([d]):
        op = formula.ops[k]
        if op is None:
            places[k] = k
            continue
        args = [places[a] for a in formula.args[k]]
        if "of_angle" in op.traits:
            changed = True
            args = [formula.share(
                divide if derivation.problem.angle == "degree" else multiply, (args[0], unit))]
        places[k] = formula.share(op, tuple(args)) if args != list(formula.args[k]) else k
    if not changed:
        return []
    once = places[d]
    return [Explanation("degree_mode", WHOLE, 20, node=once),
            Explanation("degree_mode", WHOLE, 21, node=formula.share(multiply, (once, unit)))]


# --------------------------------------------------------------------------------------------------
# Numbers that belong to another point: for problems that ask for a value, or a tangent there.

NEAR = 1e-6
"""How far from a curve a point of it may be, whose numbers may be rounded."""


def other_points(derivation: AnswerDerivation, c: int) -> list[Explanation]:
    """Return the right formula at another point, and other numbers at the right one."""
    formula = derivation.reference.formula
    d = derivation.reference.nodes[c]
    made: list[Explanation] = []
    for point in filter(partial(is_on_curve, derivation), _points(derivation)):
        text = ", ".join([f"{n} = {v:g}" for n, v in point.items()])
        node = formula.substituted(d, {
            formula.leaf(n): formula.number(v) for n, v in point.items()})
        made.append(Explanation("evaluated_at_wrong_point", WHOLE, 10 + len(made), node=node,
                                detail={"at": text}))
    for text, node in _values(derivation, c):
        made.append(Explanation("evaluated_at_wrong_point", WHOLE, 10 + len(made), node=node,
                                detail={"sentence": f"this is {text}"}))
    return made


def is_on_curve(derivation: AnswerDerivation, point: Mapping[str, float]) -> bool:
    """Return whether a point can be on the curve of an implicit problem; True if there is none."""
    formula, node = derivation.reference.formula, derivation.reference.constraint
    if node is None or not set(formula.leaves([node])) <= set(point):
        return True
    value, = evaluated(formula, [node], point, {})
    return bool(abs(value) <= NEAR * (1.0 + max(map(abs, point.values()))))


def _points(derivation: AnswerDerivation) -> Iterator[dict[str, float]]:
    at = derivation.problem.at
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


def _values(derivation: AnswerDerivation, c: int) -> Iterator[tuple[str, int]]:
    """Yield f(p), f''(p) and f(p + 1) - f(p)."""
    reference, at = derivation.reference, derivation.problem.at
    if not reference.kind.linear:
        return
    formula, f = reference.formula, reference.function(c)
    yield "the value of the function itself there", f
    name = reference.by(c)[0]
    yield "the second derivative there", slope(formula, f, name, 2)
    if name in at:
        shifted = formula.substituted(f, {formula.leaf(name): formula.number(at[name] + 1.0)})
        yield "the difference to the next whole step", formula.share(subtract, (shifted, f))


def other_lines(derivation: AnswerDerivation) -> list[Explanation]:
    """Return tangents whose slope belongs to another point, or is another number."""
    reference = derivation.reference
    formula, slopes = reference.formula, reference.slopes()
    if reference.kind.component is not tangent:
        return []
    made: list[Explanation] = []

    def keep(steep: list[int], text: str) -> None:
        made.append(Explanation("evaluated_at_wrong_point", WHOLE, 10 + len(made),
                                node=line(reference, steep),
                                detail={"sentence": f"this is {text}"}))

    for point in filter(partial(is_on_curve, derivation), _points(derivation)):
        leaves = {formula.leaf(n): formula.number(v) for n, v in point.items()}
        keep([formula.substituted(s, leaves) for s in slopes], "the slope at another point")
    here = at_point(reference)
    if len(slopes) == 1 and reference.form == "one":
        keep([formula.substituted(reference.functions[0], here)],
             "the function's value as the slope")
        keep([formula.substituted(slope(formula, slopes[0], reference.wrt[0]), here)],
             "the second derivative as the slope")
    return made
