"""Steps and remarks beside the numbers of a set: x^3 - x = 0, f'(x) = 3x^2 - 3, f''(1) = 6 > 0.

One that is true changes nothing; any other sends the answer to a person.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import Values
from gradcli.homework.checking import compare
from gradcli.homework.checking.built import build, constant, flat
from gradcli.homework.checking.problem import slope
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.names import ProblemNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.homework.checking.problem import Reference

NEAR = 1e-8
SAMPLES = (-7.31, -3.77, -2.13, -0.83, -0.29, 0.37, 0.91, 1.73, 2.57, 4.19, 9.43)
"""Where the sides of a step are compared; in a range, as far along it."""
NAMED = re.compile(r"([a-zA-Z])('{0,3})\s*(?:\(([^()]*)\))?")
"""A function with what is put in: f'(x), f(-1), y."""
REMARK = re.compile(r"[fghy]('{1,3})\s*\(([^()]*)\)\s*(?:=([^<>=]*))?(?:([<>])\s*0)?")
"""A derivative at a number: f''(1) = 6 > 0."""


def is_true(sides: Sequence[str], reference: Reference) -> bool:
    """Return whether the sides of an equation are equal; or it is that of the problem, as
    3x^2 - 3 = 0 is, up to a factor. Raises E0711 and others for a side that cannot be read.
    """
    if len(reference.wrt) > 1:
        return False
    name = reference.wrt[0]
    x = np.array(SAMPLES)
    low, high = reference.problem.domain.get(name, (-np.inf, np.inf))
    if np.isfinite(high - low):
        x = low + (high - low) * (x + 10) / 20
    found = [_values(side, x, reference) for side in sides]
    if all(_equal(found[0], other) for other in found[1:]):
        return True
    if name == "f" or not all(_equal(found[0], other) for other in found[1:-1]):
        return False
    with np.errstate(all="ignore"):
        ratio = (found[0] - found[-1]) / _values("f" + "'" * reference.kind.solved, x, reference)
        ratio = ratio[np.isfinite(ratio)]
        return len(ratio) > 2 and bool(ratio[0]) and _equal(ratio / ratio[0], np.ones(len(ratio)))


def holds(text: str, reference: Reference) -> bool:
    """Return whether a text is a remark on a derivative at a number, and true."""
    found = REMARK.fullmatch(text)
    if found is None or len(reference.wrt) > 1 or not (found[3] or found[4]):
        return False
    try:
        at, typed = constant("at", found[2]), constant("at", found[3]) if found[3] else None
    except GradcliError:
        return False
    (value,) = _values("f" + found[1], np.array([at]), reference).tolist()
    if typed is not None and not abs(value - typed) <= NEAR * (1 + abs(value)) + compare.allowed(
            None, value, typed, found[3].strip(" +-")):
        return False
    return not found[4] or (value > 0 if found[4] == ">" else value < 0)


def is_global(at: Sequence[float], sort: str, reference: Reference) -> bool:
    """Return whether a function of one variable is nowhere larger than at a point, or smaller, as
    far as numbers of all sizes show.
    """
    if len(reference.wrt) > 1:
        return False
    name = reference.wrt[0]
    low, high = reference.problem.domain.get(name, (-np.inf, np.inf))
    x = np.concatenate([np.linspace(-20.0, 20.0, 4001), np.geomspace(20, 1e9, 200),
                        -np.geomspace(20, 1e9, 200)])
    if np.isfinite(high - low):
        x = np.linspace(low, high, 4001)
    with np.errstate(all="ignore"):
        found = _values("f", np.append(x[(x >= low) & (x <= high)], at[0]), reference)
    found = found * (1 if sort == "max" else -1)
    other = found[:-1][~np.isnan(found[:-1])]
    return bool((other <= found[-1] + NEAR * (1 + abs(found[-1]))).all())


def _values(side: str, x: Any, reference: Reference) -> Any:
    """Return the values of a side, or of the function or a derivative that it names."""
    (name,) = reference.wrt
    named = NAMED.fullmatch(side)
    if named and named[1] in "fygh" and named[1] != name and named[3] in (None, name):
        formula, node = reference.formula, reference.functions[0]
        if named[2]:
            node = slope(formula, node, name, len(named[2]))
    else:
        formula = Formula()
        node, *_ = flat(build(read(side, ProblemNames((name,))).code, formula, (name,),
                              degrees=reference.problem.angle == "degree"))
        if set(formula.leaves([node])) - {name}:
            return np.full(x.shape, np.nan)
    with np.errstate(all="ignore"):
        (found,) = Values(formula, {name: x}).plain([node])
    return np.broadcast_to(np.asarray(found, float), x.shape)


def _equal(one: Any, other: Any) -> bool:
    with np.errstate(all="ignore"):
        good = np.isfinite(one) & np.isfinite(other)
        return bool(good.sum() > 2 and (abs(one - other) <= NEAR * (1 + abs(one)))[good].all())
