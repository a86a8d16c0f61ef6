"""The forms of wrong tangents: the functions of the table in `gradcli.homework.mistakes.rules`.

Each gets an operation as a `Site` and returns a tangent, or None where the mistake cannot be made;
some make such a function of a formula in u, w and their tangents.
"""

from __future__ import annotations

from gradcli.homework.mistakes.site import (
    Outer,
    Site,
    as_power,
    coefficient,
    inner_square,
    outer,
    parts,
    square_base,
)
from gradcli.ops import lookup
from gradcli.ops.table.elementwise import divide, power

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.formulas.nodes import Node

    Wrong = Callable[[Site], Node | None]
    Inner = Callable[[Site, Outer], Node | None]


def of_active(wrong: Callable[[Node, Node, Node, Node], Node]) -> Wrong:
    """Return a rule for two operands that both depend on the variable, in terms of u, w, tu, tw."""
    def at(s: Site) -> Node | None:
        if s.w is None or s.tu is None or s.tw is None:
            return None
        return wrong(s.u, s.w, s.tu, s.tw)
    return at


def of_constant_over(wrong: Callable[[Node, Node, Node, Node], Node]) -> Wrong:
    """Return a rule for a constant over u(x), where few use the quotient rule."""
    def at(s: Site) -> Node | None:
        if s.w is None or s.tu is not None or s.tw is None:
            return None
        return wrong(s.u, s.w, s.number(0.0), s.tw)
    return at


def of_chain(wrong: Callable[[Site, Outer], Node | None]) -> Wrong:
    """Return a rule for g(u) where u is more than the variable."""
    def at(s: Site) -> Node | None:
        g = outer(s)
        if g is None or s.is_leaf(g.u):
            return None
        return wrong(s, g)
    return at


def of_power(wrong: Callable[[Node, Node, Node], Node | None]) -> Wrong:
    """Return a rule for c*u^n, in terms of u, n, tu."""
    def at(s: Site) -> Node | None:
        p = as_power(s)
        if p is None or p.n is None:
            return None
        found = wrong(p.u, p.n, p.tu)
        return None if found is None else p.scaled(found)
    return at


def of_unary(wrong: Callable[[Site, Node, Node], Node | None]) -> Wrong:
    """Return a rule for functions of one operand, in terms of u and tu."""
    def at(s: Site) -> Node | None:
        return None if s.tu is None else wrong(s, s.u, s.tu)
    return at


def with_inner(wrong: Wrong, inner: Inner) -> Wrong:
    """Return a rule for g(u) that also takes a wrong inner derivative."""
    def at(s: Site) -> Node | None:
        g = outer(s)
        if g is None or s.is_leaf(g.u):
            return None
        tangent = inner(s, g)
        return None if tangent is None else wrong(s.instead(g.u, tangent))
    return at


# ---- chain rule ------------------------------------------------------------------------------


def unit(s: Site, g: Outer) -> Node | None:
    """Return 1 in place of the inner derivative."""
    return s.number(1.0)


def middle_lost(s: Site, g: Outer) -> Node | None:
    """Return the slope of f at g(u), times u': that of g is missing. g may have an addend."""
    negative, node = False, g.u
    while s.row(node) in ("add", "subtract"):
        left, right = s.operands(node)
        if (s.tangent(left) is None) == (s.tangent(right) is None):
            return None
        if s.tangent(left) is None:
            negative, node = negative ^ (s.row(node) == "subtract"), right
        else:
            node = left
    inner = None if s.is_leaf(node) else outer(s.inside(node))
    if inner is None or s.is_leaf(inner.u):
        return None
    return g.slope(g.u) * (-inner.tu if negative else inner.tu)


def without_constant(s: Site, g: Outer) -> Node | None:
    """Return the inner derivative without its numbers; all of it would be `unit`."""
    k = coefficient(s.formula, g.tu.number)
    return None if k in (0.0, 1.0, -1.0) or g.tu.value is not None else g.tu / k


def constant_lost(s: Site, g: Outer) -> Node | None:
    inner = without_constant(s, g)
    return None if inner is None else g.slope(g.u) * inner


def inner_constant_lost(s: Site, g: Outer) -> Node | None:
    """Return the tangent without the number that stands in u itself: of 3x^2, 2x is left."""
    k = coefficient(s.formula, g.u.number)
    if k in (0.0, 1.0, -1.0) or g.tu.value is not None:
        return None
    return g.slope(g.u) * (g.tu / k)


def linear(s: Site, g: Outer, whole: bool) -> Node | None:
    """Differentiate g(p + q) as if it were g(p) + g(q).

    whole: whether of a constant q, g(q) itself is left.
    """
    if s.row(g.u) not in ("add", "subtract"):
        return None
    total: Node | None = None
    for place, operand in enumerate(s.operands(g.u)):
        tangent = s.tangent(operand)
        if tangent is not None:
            part = g.slope(operand) * tangent
        elif whole:
            part = g.value(operand)
        else:
            continue
        if place and s.row(g.u) == "subtract":
            part = -part
        total = part if total is None else total + part
    return total


def split_root(s: Site) -> Node | None:
    """Differentiate sqrt(p^2 + q) as if it were p and something: the root and the square go."""
    if s.op.name != "sqrt" or s.row(s.u) not in ("add", "subtract"):
        return None
    total: Node | None = None
    for place, operand in enumerate(s.operands(s.u)):
        base = square_base(s, operand)
        tangent = None if base is None else s.tangent(base)
        if tangent is not None:
            part = -tangent if place and s.row(s.u) == "subtract" else tangent
            total = part if total is None else total + part
    return total


# ---- quotients -------------------------------------------------------------------------------


def square_of(u: Node) -> Node:
    return u**2.0


def quotient_reversed(u: Node, w: Node, tu: Node, tw: Node) -> Node:
    return (u * tw - tu * w) / square_of(w)


def quotient_not_squared(u: Node, w: Node, tu: Node, tw: Node) -> Node:
    return (tu * w - u * tw) / w


def quotient_plus(u: Node, w: Node, tu: Node, tw: Node) -> Node:
    return (tu * w + u * tw) / square_of(w)


def _inverse_lost(s: Site, numbers: bool) -> Node | None:
    """Differentiate c/w as if it were 1/w. numbers: whether c is a number or of other variables."""
    if s.op is not divide or s.w is None or s.tu is not None or s.tw is None or (
            s.is_number(s.u) is not numbers):
        return None
    return -(s.tw / square_of(s.w))


# ---- sums and products -----------------------------------------------------------------------


def _constant(s: Site) -> tuple[Node, Node, float, float] | None:
    """Return (c, tu, sign of c, sign of tu) of a sum of a constant and something else."""
    if s.w is None:
        return None
    sign = -1.0 if s.op.name == "subtract" else 1.0
    if s.tu is not None and s.tw is None:
        return s.w, s.tu, sign, 1.0
    if s.tu is None and s.tw is not None:
        return s.u, s.tw, 1.0, sign
    return None


def _signed(node: Node, sign: float) -> Node:
    return -node if sign < 0 else node


def constant_kept(s: Site) -> Node | None:
    found = _constant(s)
    if found is None:
        return None
    c, t, of_c, of_t = found
    return _signed(t, of_t) + _signed(c, of_c)


def constant_to_one(s: Site) -> Node | None:
    found = _constant(s)
    if found is None or not s.is_number(found[0]):
        return None
    _, t, of_c, of_t = found
    return _signed(t, of_t) + of_c


def factor_dropped(s: Site) -> Node | None:
    found = parts(s)
    if found is None or not s.is_number(found[0]):
        return _inverse_lost(s, True)
    return s.tangent(found[1])


def sign_lost(s: Site) -> Node | None:
    """Differentiate -c u as if it were c u; u/(-c) too."""
    found = parts(s)
    if found is None or not s.is_number(found[0]):
        return None
    c, u = found
    number = s.folded(c).value
    tangent = s.tangent(u)
    if tangent is None or not (s.row(c) == "negative" or (number is not None and number < 0)):
        return None
    return -(c * tangent) if s.op.name == "multiply" else -(tangent / c)


def other_dropped(s: Site) -> Node | None:
    found = parts(s)
    if found is None or s.is_number(found[0]):
        return _inverse_lost(s, False)
    return s.tangent(found[1])


def term(s: Site, sign_u: float, sign_w: float) -> Node | None:
    if s.tu is None or s.tw is None:
        return None
    t = _signed(s.tu, sign_u)
    return t + s.tw if sign_w > 0 else t - s.tw


# ---- exponentials, logarithms, powers --------------------------------------------------------


def _exponential(s: Site) -> tuple[Node, Node, Node] | None:
    """Return (c, w, tw) of c^w, e^w included; c may depend on the variable."""
    if s.op.name == "exp" and s.tu is not None:
        return s.number(2.718281828459045), s.u, s.tu
    if s.op is power and s.tw is not None and s.w is not None:
        return s.u, s.w, s.tw
    return None


def as_power_rule(s: Site, times: str) -> Node | None:
    found = _exponential(s)
    if found is None:
        return None
    c, w, tw = found
    made = w * c**(w - 1.0)
    if times == "tw":
        return None if s.is_x(w) else made * tw
    if times == "tu":
        return None if s.tu is None or s.op is not power or s.is_x(c) else made * s.tu
    return made


def as_exponential(s: Site, times: str) -> Node | None:
    if s.op is power and s.tu is not None and s.tw is not None:  # u^w
        return s.v * s.call("log", s.u) * s.tw
    p = as_power(s)
    if p is None or p.n is None or s.op.name in ("reciprocal", "divide") or (
            times and s.is_x(p.u)):
        return None
    made = p.scaled(p.u**p.n * s.call("log", p.u))
    return made * p.tu if times else made


def base_missing(s: Site) -> Node | None:
    if s.op.name in ("log2", "log10"):
        return None if s.tu is None else s.tu / s.u
    if s.op is divide and s.w is not None and s.row(s.u) == "log" and s.row(s.w) == "log":
        inner = s.operands(s.u)[0]
        tangent = s.tangent(inner)
        return None if tangent is None or s.tw is not None else tangent / inner
    if s.op is power and s.tu is None and s.tw is not None:
        return s.v * s.tw
    return None if s.op.name != "exp2" or s.tu is None else s.v * s.tu


def constant_power(s: Site) -> Node | None:
    """Differentiate pi^3 as if pi were the variable."""
    if s.w is None or s.tu is not None or s.tw is not None or not (
            s.is_number(s.u) and s.is_number(s.w)):
        return None
    return s.w * s.u**(s.w - 1.0)


def absolute(s: Site) -> Node | None:
    if s.op.name == "abs":
        return s.tu
    base = inner_square(s)
    return None if base is None else s.tangent(base)


# ---- trigonometric functions -----------------------------------------------------------------


def minus(s: Site) -> Node | None:
    return None if s.tu is None else -(s.slope(s.op, (s.u,)) * s.tu)


def of_calls(names: str, sign: float = 1.0) -> Wrong:
    """Return a rule whose tangent is a product: functions of u, a sign, the inner derivative."""
    def at(s: Site) -> Node | None:
        if s.tu is None:
            return None
        made = s.number(sign)
        for name in names.split():
            made = made * s.call(name, s.u)
        return made * s.tu
    return at


def of_other(name: str) -> Wrong:
    """Return a rule whose tangent is that of another function: arcsin for arctan."""
    def at(s: Site) -> Node | None:
        if s.tu is None:
            return None
        op = lookup(name)
        assert op is not None
        return s.slope(op, (s.u,)) * s.tu
    return at


def of_reciprocal(name: str) -> Wrong:
    """Return a rule that takes sin^-1 for 1/sin."""
    def at(s: Site) -> Node | None:
        if s.tu is None:
            return None
        op = lookup(name)
        assert op is not None
        return -(s.slope(op, (s.u,)) / s.call(name, s.u)**2.0) * s.tu
    return at
