"""Operations on whole arrays as terms: what moves nothing is left out, what was joined and is
taken apart again is the part.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.formulas.terms import ARRAY, CALL, NUMBER, SUM
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.formulas.terms import Shape, Term, TermAlgebra
    from gradcli.ops.kinds import Op


def call(a: TermAlgebra, op: Op, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
         ) -> Term:
    """Return an operation on whole arrays, simplified where there is a rule."""
    if op.name in SAME and args[0].shape == shape:
        return args[0]
    rule = RULES.get(op.name)
    found = rule(a, args, attributes, shape) if rule is not None else None
    if found is not None and found.shape == shape:
        return found
    return a.table.call(op, args, attributes, shape)


SAME = frozenset((
    "reshape", "align", "broadcast_to", "sum_to", "cast_float", "unbatch", "rebatch"))
"""Where the shape stays, the value does."""


def _sum(a: TermAlgebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
         ) -> Term | None:
    return args[0] if args[0].shape == () else None


def _reshape(a: TermAlgebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
             ) -> Term | None:
    """Merge several reshapes into the last one."""
    x = args[0]
    if x.is_call("reshape", "align"):
        return call(a, TABLE["reshape"], x.args, {"shape": shape}, shape)
    return _constant(a, x.value.reshape(shape)) if x.kind == ARRAY else None


def _constant(a: TermAlgebra, value: Any) -> Term | None:
    """Return a constant array, or the number that it holds; None for other types than floats."""
    if value.dtype.kind != "f":
        return None
    return a.table.array(value) if value.shape else a.constant(float(value))


def _broadcast(a: TermAlgebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
               ) -> Term | None:
    """Broadcast a number itself in place of an array of one element."""
    x = args[0]
    if x.is_call("reshape", "align", "broadcast_to") and x.args[0].shape == ():
        return a.table.call(TABLE["broadcast_to"], x.args, {"shape": shape}, shape)
    return None


def position(pattern: Sequence[Any], indices: Sequence[Term]) -> list[Any] | None:
    """Return the items of an index that is constant; None if it is not."""
    left = list(indices)
    items = []
    for item in pattern:
        if item == "i":
            term = left.pop(0)
            if term.kind != NUMBER:
                return None
            items.append(int(term.value))
        else:
            items.append(item)
    return items


def _index(a: TermAlgebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
           ) -> Term | None:
    x, where = args[0], position(attributes["pattern"], args[1:])
    if where is None:
        return None
    if x.is_call("stack") and x.attributes["axis"] == -len(x.shape) and where and (
            isinstance(where[0], int)):
        part = x.args[where[0]]
        rest = tuple(where[1:])
        return part if not rest else a.call(TABLE["index"], [part], {"pattern": rest}, shape)
    if x.is_call("concat") and len(x.shape) == 1 and len(where) == 1:
        return _joined(x, where[0])
    if x.is_call("put") and len(x.args) == 1:
        return _put_there(a, x, where, shape)
    if x.kind == SUM and x.value == 0 and all(
            t.kind == ARRAY or (t.is_call("put") and len(t.args) == 1) for t, _ in x.items):
        return _taken_apart(a, x, where, shape)
    return _constant(a, np.asarray(x.value[tuple(where)])) if x.kind == ARRAY else None


def _put_there(a: TermAlgebra, x: Term, where: Sequence[Any], shape: Shape) -> Term | None:
    """Return the slice of a scatter into zeros: what was scattered if both have the same places,
    zeros if they share none; None where that is not known.
    """
    if size(x.shape) > LARGE:
        return None
    numbers = np.arange(size(x.shape)).reshape(x.shape)
    put, taken = [np.ravel(numbers[tuple(at)]).tolist() for at in (x.attributes["pattern"], where)]
    if put == taken and len(set(put)) == len(put):
        return call(a, TABLE["reshape"], x.args, {"shape": shape}, shape)
    if set(put) & set(taken):
        return None
    return _constant(a, np.zeros(shape))


# Places in larger arrays are not looked at one by one.
LARGE = 10_000


def _taken_apart(a: TermAlgebra, x: Term, where: Sequence[Any], shape: Shape) -> Term | None:
    """Return the sum of the same slice of all summands; None where one of them is not known."""
    found = []
    for term, c in x.items:
        part = _index(a, [term], {"pattern": where}, shape)
        if part is None:
            return None
        if part.kind != ARRAY or part.value.any():
            found.append((part, c))
    return a.sum_of(found) if found else _constant(a, np.zeros(shape))


def _joined(x: Term, where: Any) -> Term | None:
    """Return the one of joined vectors that a slice takes out; None if the slice is another."""
    start = 0
    for one in x.args:
        end = start + one.shape[0]
        if where == slice(start, end):
            return one
        start = end
    return None


def _plain_index(a: TermAlgebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
                 ) -> Term | None:
    """Return an index with its numbers in the pattern, whether they were operands or not."""
    found = _index(a, args, attributes, shape)
    where = position(attributes["pattern"], args[1:])
    if found is not None or where is None or len(args) == 1:
        return found
    return a.table.call(TABLE["index"], args[:1], {"pattern": tuple(where)}, shape)


def _put(a: TermAlgebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
         ) -> Term | None:
    where = position(attributes["pattern"], args[1:])
    if where is None or len(args) == 1:
        return None
    return a.table.call(TABLE["put"], args[:1], {**attributes, "pattern": tuple(where)}, shape)


RULES: dict[str, Callable[..., Term | None]] = {
    "reshape": _reshape, "align": _reshape, "broadcast_to": _broadcast,
    "sum": _sum, "index": _plain_index, "put": _put, "mean": _sum, "max": _sum, "min": _sum}


def part(a: TermAlgebra, term: Term, k: int) -> Term:
    """Return row k of a term."""
    shape = term.shape[1:]
    if term.is_call("index") and len(term.args) == 1 and all(
            isinstance(i, int) for i in term.attributes["pattern"]):
        pattern = (*term.attributes["pattern"], k)
        return call(a, TABLE["index"], term.args, {"pattern": pattern}, shape)
    if term.kind == CALL and term.operation.elementwise and all(
            arg.shape in ((), term.shape) for arg in term.args):
        return a.call(term.operation, [part(a, arg, k) if arg.shape else arg for arg in term.args],
                      term.attributes, shape)
    return call(a, TABLE["index"], [term], {"pattern": (k,)}, shape)


def element(a: TermAlgebra, term: Term, index: Sequence[int]) -> Term:
    """Return one element of a term."""
    for k in index:
        term = part(a, term, k)
    return term


def size(shape: Shape) -> int:
    """Return the number of elements of an array."""
    n = 1
    for length in shape:
        n *= length
    return n


def indices(shape: Shape) -> list[tuple[int, ...]]:
    """Return the indices of all elements of an array, in order."""
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*i, k) for i in found for k in range(n)]
    return found


# --------------------------------------------------------------------------------------------------
# Short vectors that a file makes of numbers, `[x, y, z]`: operations on them are those on their
# elements, so that formulas of numbers stay such.

# Longer ones are shorter as vectors.
LONGEST = 4


def by_element(a: TermAlgebra, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
               shape: Shape) -> Term | None:
    """Return an operation on vectors of terms, element by element; None for others."""
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


def largest(a: TermAlgebra, term: Term) -> Term:
    """Return the largest (or least) element of a vector of terms as nested maxima of pairs. Use it
    only where no derivative is taken: where elements tie, the derivative is another.
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


def _vector(a: TermAlgebra, elements: Sequence[Term]) -> Term:
    return a.table.call(TABLE["stack"], elements, {"axis": -1}, (len(elements),))


def _shaped(a: TermAlgebra, number: Term, shape: Shape) -> Term | None:
    """Return a number, or a vector of it."""
    return _vector(a, [number] * shape[0]) if shape else number


def _elements(a: TermAlgebra, term: Term, n: int) -> list[Term] | None:
    """Return the n elements of a vector; None where they are not known."""
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
