"""Operations on whole arrays as terms: what moves nothing is left out, what was joined and is
taken apart again is the part.
"""

from __future__ import annotations

from gradcli.formulas.numbers import ZERO
from gradcli.formulas.terms import CALL, NUMBER
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Shape, Term
    from gradcli.ops.kinds import Op


def call(a: Algebra, op: Op, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
         ) -> Term:
    """An operation on whole arrays."""
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


def _sum(a: Algebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
         ) -> Term | None:
    return args[0] if args[0].shape == () else None


def _reshape(a: Algebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
             ) -> Term | None:
    """The last of several reshapes counts."""
    x = args[0]
    if x.is_call("reshape", "align"):
        return call(a, TABLE["reshape"], x.args, {"shape": shape}, shape)
    return None


def _broadcast(a: Algebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
               ) -> Term | None:
    """A number spreads as it is."""
    x = args[0]
    if x.is_call("reshape", "align", "broadcast_to") and x.args[0].shape == ():
        return a.table.call(TABLE["broadcast_to"], x.args, {"shape": shape}, shape)
    return None


def position(pattern: Sequence[Any], indices: Sequence[Term]) -> list[Any] | None:
    """The items of an index that is constant; None if it is not."""
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


def _index(a: Algebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
           ) -> Term | None:
    x, where = args[0], position(attributes["pattern"], args[1:])
    if where is None:
        return None
    if x.is_call("stack") and x.attributes["axis"] == -len(x.shape) and where and (
            isinstance(where[0], int)):
        part = x.args[where[0]]
        rest = tuple(where[1:])
        return part if not rest else a.call(TABLE["index"], [part], {"pattern": rest}, shape)
    if x.is_call("put") and len(x.args) == 1 and len(where) == len(x.shape) and all(
            isinstance(k, int) for k in (*where, *x.attributes["pattern"])):
        if len(x.attributes["pattern"]) != len(where):
            return None
        lengths = x.shape
        same = all(i % n == j % n for i, j, n in zip(
            where, x.attributes["pattern"], lengths, strict=True))
        return x.args[0] if same else a.number(ZERO)
    return None


def _plain_index(a: Algebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
                 ) -> Term | None:
    """An index with its numbers in the pattern, whether they were operands or not."""
    found = _index(a, args, attributes, shape)
    where = position(attributes["pattern"], args[1:])
    if found is not None or where is None or len(args) == 1:
        return found
    return a.table.call(TABLE["index"], args[:1], {"pattern": tuple(where)}, shape)


def _put(a: Algebra, args: Sequence[Term], attributes: dict[str, Any], shape: Shape
         ) -> Term | None:
    where = position(attributes["pattern"], args[1:])
    if where is None or len(args) == 1:
        return None
    return a.table.call(TABLE["put"], args[:1], {**attributes, "pattern": tuple(where)}, shape)


RULES: dict[str, Callable[..., Term | None]] = {
    "reshape": _reshape, "align": _reshape, "broadcast_to": _broadcast,
    "sum": _sum, "index": _plain_index, "put": _put, "mean": _sum, "max": _sum, "min": _sum}


def elements(a: Algebra, term: Term) -> list[Term]:
    """The elements of a term, one scalar term each, in order."""
    if not term.shape:
        return [term]
    found = []
    for k in range(term.shape[0]):
        rest = (slice(None),) * 0
        found += elements(a, part(a, term, k, rest))
    return found


def part(a: Algebra, term: Term, k: int, rest: Sequence[Any] = ()) -> Term:
    """Row k of a term."""
    shape = term.shape[1:]
    if term.is_call("index") and len(term.args) == 1 and all(
            isinstance(i, int) for i in term.attributes["pattern"]):
        pattern = (*term.attributes["pattern"], k)
        return call(a, TABLE["index"], term.args, {"pattern": pattern}, shape)
    if term.kind == CALL and term.op is not None and term.op.elementwise and all(
            arg.shape in ((), term.shape) for arg in term.args):
        return a.call(term.op, [part(a, arg, k) if arg.shape else arg for arg in term.args],
                      term.attributes, shape)
    return call(a, TABLE["index"], [term], {"pattern": (k, *rest)}, shape)
