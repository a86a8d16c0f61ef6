"""Short vectors that a file makes of numbers, `[x, y, z]`: operations on them are those on their
elements, so that formulas of numbers stay such.
"""

from __future__ import annotations

from gradcli.formulas.arrays import size
from gradcli.formulas.terms import ARRAY
from gradcli.ops import TABLE
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Shape, Term
    from gradcli.ops.kinds import Op

# Longer ones are shorter as vectors.
LONGEST = 4


def by_element(a: Algebra, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
               shape: Shape) -> Term | None:
    """An operation on vectors of numbers, element by element; None for another."""
    if not any(_is_vector(t) for t in args) or len(shape) > 1 or size(shape) > LONGEST:
        return None
    if op.elementwise and shape:
        split = [_elements(a, t, shape[0]) for t in args]
        found = [s for s in split if s is not None]
        if len(found) < len(split):
            return None
        return _vector(a, [a.call(op, row, attributes, ()) for row in zip(*found, strict=True)])
    if len(args) > 1:
        return None
    (x,) = args
    if op.name == "stop_gradient":
        return _vector(a, [a.call(op, [t], attributes, ()) for t in x.args])
    if op.name in ("ones_like", "zeros_like"):
        return _vector(a, [a.constant(float(op.name == "ones_like"))] * len(x.args))
    if op.name in ("sum", "sum_to") and size(shape) == 1:
        return _shaped(a, a.add(*x.args), shape)
    if op.name in ("broadcast_to", "reshape", "align") and len(x.args) == 1:
        return _shaped(a, x.args[0], shape)
    return None


def largest(a: Algebra, term: Term) -> Term:
    """The largest element of a vector of numbers by pairs, where no slope counts: where elements
    tie, that is another.
    """
    if not (term.is_call("reduce_max", "reduce_min") and _is_vector(term.args[0])):
        return term
    pair = TABLE[term.operation.name.replace("reduce_max", "maximum").replace(
        "reduce_min", "minimum")]
    found, *rest = term.args[0].args
    for one in rest:
        found = a.call(pair, [found, one], None, None)
    return _shaped(a, found, term.shape) or term


def _is_vector(term: Term) -> bool:
    return term.is_call("stack") and len(term.shape) == 1 and len(term.args) <= LONGEST


def _vector(a: Algebra, elements: Sequence[Term]) -> Term:
    return a.table.call(TABLE["stack"], elements, {"axis": -1}, (len(elements),))


def _shaped(a: Algebra, number: Term, shape: Shape) -> Term | None:
    """A number, or a vector of it."""
    return _vector(a, [number] * shape[0]) if shape else number


def _elements(a: Algebra, term: Term, n: int) -> list[Term] | None:
    """The elements of a vector, as many as there have to be; None where they are not known."""
    if term.shape == ():
        return [term] * n
    if _is_vector(term):
        found = list(term.args)
    elif term.is_call("broadcast_to", "reshape", "align") and term.args[0].shape == ():
        found = [term.args[0]] * term.shape[0]
    elif term.kind == ARRAY and term.value.dtype.kind == "f" and len(term.shape) == 1:
        found = [a.constant(float(v)) for v in term.value]
    elif term.is_call("put") and len(term.args) == 1 and term.args[0].shape == ():
        held = np.zeros(term.shape)
        held[tuple(term.attributes["pattern"])] = 1.0
        found = [term.args[0] if v else a.constant(0.0) for v in held.tolist()]
    else:
        return None
    return found * n if len(found) == 1 else found
