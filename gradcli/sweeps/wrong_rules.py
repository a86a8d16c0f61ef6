"""Derivative rules as students get them wrong: tangents of one operation, as data.

A row is (name, rows of the operation table, wrong tangent). The function gets the operation as a
`Site` and answers the wrong tangent, or None where the mistake cannot be made there. Names and
formulas are those of the catalogue of mistakes; a name may have several rows, and of two rows that
explain an answer equally well the upper one is the likelier mistake.

Sources of the catalogue: Maharaj and Ntuli, S. Afr. J. Sci. 114 (2018); Siyepu, Int. J. STEM
Education 2 (2015) 10.1186/s40594-015-0029-5; Chikwanha et al. 10.5296/ijssr.v10i2.19811;
AIP Conf. Proc. 1974, 050009 (2018).
"""

from __future__ import annotations

from gradcli.ops import lookup
from gradcli.ops.elementwise import divide, power
from gradcli.sweeps.site import Outer, Site, as_power, coefficient, inner_square, outer, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.tape.formula import Node

    Wrong = Callable[[Site], Node | None]

ANY = ""
"""In place of names of rows: the function itself says where the mistake can be made."""
LOGS = "log log2 log10"


class Rule:
    """name: of the mistake; rows: of the operation table, empty for all; wrong: the tangent that
    it gives; rank: place in the table, likelier mistakes first.
    """

    __slots__ = ("name", "rank", "rows", "wrong")

    def __init__(self, name: str, rows: str, wrong: Wrong, rank: int) -> None:
        self.name = name
        self.rows = frozenset(rows.split())
        self.wrong = wrong
        self.rank = rank

    def at(self, site: Site) -> Node | None:
        """The wrong tangent there, None where the mistake cannot be made."""
        if self.rows and site.op.name not in self.rows:
            return None
        return self.wrong(site)


def _active(wrong: Callable[[Node, Node, Node, Node], Node]) -> Wrong:
    """A rule for two operands that both depend on the variable, in terms of u, w, tu, tw."""
    def at(s: Site) -> Node | None:
        if s.w is None or s.tu is None or s.tw is None:
            return None
        return wrong(s.u, s.w, s.tu, s.tw)
    return at


def _over(wrong: Callable[[Node, Node, Node, Node], Node]) -> Wrong:
    """A rule for a constant over what depends on the variable: few use the quotient rule there."""
    def at(s: Site) -> Node | None:
        if s.w is None or s.tu is not None or s.tw is None:
            return None
        return wrong(s.u, s.w, s.number(0.0), s.tw)
    return at


def _chain(wrong: Callable[[Site, Outer], Node | None]) -> Wrong:
    """A rule for g(u) where u is more than the variable."""
    def at(s: Site) -> Node | None:
        g = outer(s)
        if g is None or s.is_leaf(g.u):
            return None
        return wrong(s, g)
    return at


def _power(wrong: Callable[[Node, Node, Node], Node | None]) -> Wrong:
    """A rule for c*u^n, in terms of u, n, tu."""
    def at(s: Site) -> Node | None:
        p = as_power(s)
        if p is None or p.n is None:
            return None
        found = wrong(p.u, p.n, p.tu)
        return None if found is None else p.scaled(found)
    return at


def _unary(wrong: Callable[[Site, Node, Node], Node | None]) -> Wrong:
    """A rule for functions of one operand, in terms of u and tu."""
    def at(s: Site) -> Node | None:
        return None if s.tu is None else wrong(s, s.u, s.tu)
    return at


# ---- chain rule ------------------------------------------------------------------------------


def _constant_lost(s: Site, g: Outer) -> Node | None:
    """The inner derivative without its numbers; all of it would be `missing_chain_factor`."""
    k = coefficient(s.formula, g.tu.number)
    if k in (0.0, 1.0, -1.0) or g.tu.value is not None:
        return None
    return g.slope(g.u) * (g.tu / k)


def _inner_constant_lost(s: Site, g: Outer) -> Node | None:
    """The same, where the number stands in u itself: of 3x^2, 2x is left."""
    k = coefficient(s.formula, g.u.number)
    if k in (0.0, 1.0, -1.0) or g.tu.value is not None:
        return None
    return g.slope(g.u) * (g.tu / k)


def _linear(s: Site, g: Outer, whole: bool) -> Node | None:
    """g(p + q) as if it were g(p) + g(q). whole: of a constant q, g(q) itself is left."""
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


# ---- quotients -------------------------------------------------------------------------------


def _square(u: Node) -> Node:
    return u**2.0


def _reversed(u: Node, w: Node, tu: Node, tw: Node) -> Node:
    return (u * tw - tu * w) / _square(w)


def _not_squared(u: Node, w: Node, tu: Node, tw: Node) -> Node:
    return (tu * w - u * tw) / w


def _plus(u: Node, w: Node, tu: Node, tw: Node) -> Node:
    return (tu * w + u * tw) / _square(w)


def _inverse_lost(s: Site, numbers: bool) -> Node | None:
    """Of c/w, the derivative of 1/w: c is a number, or made of the other variables."""
    if s.op is not divide or s.w is None or s.tu is not None or s.tw is None or (
            s.is_number(s.u) is not numbers):
        return None
    return -(s.tw / _square(s.w))


# ---- sums and products -----------------------------------------------------------------------


def _constant(s: Site) -> tuple[Node, Node, float, float] | None:
    """(c, tu, sign of c, sign of tu) of a sum of a constant and something else."""
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


def _constant_kept(s: Site) -> Node | None:
    found = _constant(s)
    if found is None:
        return None
    c, t, of_c, of_t = found
    return _signed(t, of_t) + _signed(c, of_c)


def _constant_to_one(s: Site) -> Node | None:
    found = _constant(s)
    if found is None or not s.is_number(found[0]):
        return None
    _, t, of_c, of_t = found
    return _signed(t, of_t) + of_c


def _factor_dropped(s: Site) -> Node | None:
    found = parts(s)
    if found is None or not s.is_number(found[0]):
        return _inverse_lost(s, True)
    return s.tangent(found[1])


def _other_dropped(s: Site) -> Node | None:
    found = parts(s)
    if found is None or s.is_number(found[0]):
        return _inverse_lost(s, False)
    return s.tangent(found[1])


def _term(s: Site, sign_u: float, sign_w: float) -> Node | None:
    if s.tu is None or s.tw is None:
        return None
    t = _signed(s.tu, sign_u)
    return t + s.tw if sign_w > 0 else t - s.tw


# ---- exponentials, logarithms, powers --------------------------------------------------------


def _exponential(s: Site) -> tuple[Node, Node, Node] | None:
    """(c, w, tw) of c^w, e^w included; c may depend on the variable."""
    if s.op.name == "exp" and s.tu is not None:
        return s.number(2.718281828459045), s.u, s.tu
    if s.op is power and s.tw is not None and s.w is not None:
        return s.u, s.w, s.tw
    return None


def _as_power_rule(s: Site, times: str) -> Node | None:
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


def _as_exponential(s: Site, times: str) -> Node | None:
    if s.op is power and s.tu is not None and s.tw is not None:  # u^w
        return s.v * s.call("log", s.u) * s.tw
    p = as_power(s)
    if p is None or p.n is None or s.op.name in ("reciprocal", "divide") or (
            times and s.is_x(p.u)):
        return None
    made = p.scaled(p.u**p.n * s.call("log", p.u))
    return made * p.tu if times else made


def _base_missing(s: Site) -> Node | None:
    if s.op.name in ("log2", "log10"):
        return None if s.tu is None else s.tu / s.u
    if s.op is divide and s.w is not None and s.row(s.u) == "log" and s.row(s.w) == "log":
        inner = s.operands(s.u)[0]
        tangent = s.tangent(inner)
        return None if tangent is None or s.tw is not None else tangent / inner
    if s.op is power and s.tu is None and s.tw is not None:
        return s.v * s.tw
    return None if s.op.name != "exp2" or s.tu is None else s.v * s.tu


def _constant_power(s: Site) -> Node | None:
    """pi^3 as if pi were the variable."""
    if s.w is None or s.tu is not None or s.tw is not None or not (
            s.is_number(s.u) and s.is_number(s.w)):
        return None
    return s.w * s.u**(s.w - 1.0)


def _absolute(s: Site) -> Node | None:
    if s.op.name == "abs":
        return s.tu
    base = inner_square(s)
    return None if base is None else s.tangent(base)


# ---- trigonometric functions -----------------------------------------------------------------


def _minus(s: Site) -> Node | None:
    return None if s.tu is None else -(s.slope(s.op, (s.u,)) * s.tu)


def _of_calls(names: str, sign: float = 1.0) -> Wrong:
    """The product of functions of u, a sign, and the inner derivative."""
    def at(s: Site) -> Node | None:
        if s.tu is None:
            return None
        made = s.number(sign)
        for name in names.split():
            made = made * s.call(name, s.u)
        return made * s.tu
    return at


def _reciprocal_of(name: str) -> Wrong:
    """sin^-1 as if it were 1/sin."""
    def at(s: Site) -> Node | None:
        if s.tu is None:
            return None
        op = lookup(name)
        assert op is not None
        return -(s.slope(op, (s.u,)) / s.call(name, s.u)**2.0) * s.tu
    return at


TRIG = ("sin cos tan sec csc cot sinh cosh tanh sech csch coth asin acos atan acot asec acsc asinh"
        " acosh atanh")

_COMMON: tuple[tuple[str, str, Wrong], ...] = (
    ("missing_chain_factor", ANY, _chain(lambda s, g: g.slope(g.u))),
    ("product_of_derivatives", "multiply", _active(lambda u, w, tu, tw: tu * tw)),
    ("quotient_of_derivatives", "divide", _active(lambda u, w, tu, tw: tu / tw)),
    ("quotient_reversed", "divide", _active(_reversed)),
    ("product_one_term", "multiply", _active(lambda u, w, tu, tw: tu * w)),
    ("product_one_term", "multiply", _active(lambda u, w, tu, tw: u * tw)),
    ("power_coefficient", ANY, _power(
        lambda u, n, tu: None if n.value == -1 else u**(n - 1.0) * tu)),
    ("power_exponent_not_reduced", ANY, _power(
        lambda u, n, tu: None if n.value == -1 else n * u**n * tu)),
    ("power_exponent_increased", ANY, _power(lambda u, n, tu: n * u**(n + 1.0) * tu)),
    ("trig_sign", TRIG, _minus),
    ("quotient_denominator_not_squared", "divide", _active(_not_squared)),
    ("quotient_denominator_not_squared", "divide", _over(_not_squared)),
    ("quotient_denominator_dropped", "divide", _active(lambda u, w, tu, tw: tu * w - u * tw)),
    ("quotient_plus", "divide", _active(_plus)),
    ("product_minus", "multiply", _active(lambda u, w, tu, tw: tu * w - u * tw)),
    ("product_minus", "multiply", _active(lambda u, w, tu, tw: u * tw - tu * w)),
    ("chain_outer_at_inner_derivative", ANY, _chain(lambda s, g: g.slope(g.tu))),
    ("chain_outer_not_differentiated", ANY, _chain(lambda s, g: g.value(g.u) * g.tu)),
    ("chain_outer_at_x", ANY, _chain(lambda s, g: g.slope(s.x) * g.tu)),
    ("chain_constant_lost", ANY, _chain(_constant_lost)),
    ("chain_constant_lost", ANY, _chain(_inner_constant_lost)),
    ("abs_ignored", "abs sqrt", _absolute),
    ("constant_not_dropped", "add subtract", _constant_kept),
    ("other_variable_dropped", "multiply divide", _other_dropped),
    ("missing_log_base", ANY, _base_missing),
    ("power_rule_on_exponential", "exp power", lambda s: _as_power_rule(s, "")),
    ("power_rule_on_exponential", "exp power", lambda s: _as_power_rule(s, "tw")),
    ("power_rule_on_exponential", "power", lambda s: _as_power_rule(s, "tu")),
    ("exponential_rule_on_power", ANY, lambda s: _as_exponential(s, "")),
    ("exponential_rule_on_power", ANY, lambda s: _as_exponential(s, "tu")),
    ("power_rule_on_constant", "power", _constant_power),
    ("log_rule", "log", _unary(lambda s, u, tu: tu / s.v)),
    ("log_rule", "log", _unary(lambda s, u, tu: tu * s.v / u)),
    ("log_rule", "log", _unary(lambda s, u, tu: None if s.is_x(u) else 1.0 / tu)),
    ("power_coefficient_off_by_one", ANY, _power(
        lambda u, n, tu: None if n.value == 0.5 else (n - 1.0) * u**(n - 1.0) * tu)),
    ("trig_rule", "tan", _of_calls("sec")),
    ("trig_rule", "tan", _of_calls("sec tan")),
    ("trig_rule", "sec", _of_calls("tan tan")),
    ("trig_rule", "sec", _of_calls("sec sec")),
    ("trig_rule", "csc", _of_calls("cot cot", -1.0)),
    ("trig_rule", "csc", _of_calls("csc csc", -1.0)),
    ("trig_rule", "cot", _of_calls("csc cot", -1.0)),
    ("trig_rule", "cot", _of_calls("sec sec")),
    ("trig_rule", "tanh", _of_calls("sech tanh")),
    ("inverse_trig_rule", "acos", _unary(
        lambda s, u, tu: -(tu / s.call("sqrt", 1.0 + _square(u))))),
    ("inverse_trig_rule", "atan", _unary(lambda s, u, tu: tu / (1.0 - _square(u)))),
    ("inverse_trig_rule", "asin", _unary(lambda s, u, tu: tu / s.call("sqrt", 1.0 + _square(u)))),
    ("inverse_trig_rule", "atanh", _unary(lambda s, u, tu: tu / (1.0 + _square(u)))),
    ("inverse_trig_rule", "asinh", _unary(lambda s, u, tu: tu / s.call("sqrt", 1.0 - _square(u)))),
    ("inverse_as_reciprocal", "asin", _reciprocal_of("sin")),
    ("inverse_as_reciprocal", "acos", _reciprocal_of("cos")),
    ("inverse_as_reciprocal", "atan", _reciprocal_of("tan")),
)

_RARE: tuple[tuple[str, str, Wrong], ...] = (
    ("constant_factor_dropped", "multiply divide", _factor_dropped),
    ("sign_error", "add", lambda s: _term(s, 1.0, -1.0)),
    ("sign_error", "add", lambda s: _term(s, -1.0, 1.0)),
    ("sign_error", "subtract", lambda s: _term(s, 1.0, 1.0)),
    ("sign_error", "subtract", lambda s: _term(s, -1.0, -1.0)),
    ("sign_error", "negative", lambda s: s.tu),
    ("missing_term", "add", _active(lambda u, w, tu, tw: tu)),
    ("missing_term", "add", _active(lambda u, w, tu, tw: tw)),
    ("missing_term", "subtract", _active(lambda u, w, tu, tw: tu)),
    ("missing_term", "subtract", _active(lambda u, w, tu, tw: -tw)),
    ("linear_extrapolation", ANY, _chain(lambda s, g: _linear(s, g, False))),
    ("linear_extrapolation", ANY, _chain(lambda s, g: _linear(s, g, True))),
    ("constant_to_one", "add subtract", _constant_to_one),
    ("quotient_of_derivatives", "divide", _over(lambda u, w, tu, tw: 1.0 / tw)),
    ("quotient_reversed", "divide", _over(_reversed)),
    ("quotient_denominator_dropped", "divide", _over(lambda u, w, tu, tw: -(u * tw))),
    ("quotient_plus", "divide", _over(_plus)),
    ("power_coefficient", ANY, _power(lambda u, n, tu: u**-2.0 * tu if n.value == -1 else None)),
    ("power_exponent_not_reduced", ANY, _power(
        lambda u, n, tu: -(tu / u) if n.value == -1 else None)),
    ("power_coefficient_off_by_one", ANY, _power(
        lambda u, n, tu: -0.5 * u**-0.5 * tu if n.value == 0.5 else None)),
)

RARE = 100
"""Rank from which on a mistake is rare: one is not thought of where a common one explains as much.
"""
RULES = tuple([Rule(*row, rank) for rank, row in enumerate(_COMMON)]
              + [Rule(*row, RARE + rank) for rank, row in enumerate(_RARE)])
"""All rules, likelier mistakes first."""
