"""Derivative rules as students get them wrong: tangents of one operation, as data.

A row is (name, rows of the operation table, wrong tangent). The function gets the operation as a
`Site` and returns the wrong tangent, or None where the mistake cannot be made there. Names and
formulas are those of the catalogue of mistakes; a name may have several rows, and of two rows that
explain an answer equally well the upper one is the likelier mistake.

Sources of the catalogue: Maharaj and Ntuli, S. Afr. J. Sci. 114 (2018); Siyepu, Int. J. STEM
Education 2 (2015) 10.1186/s40594-015-0029-5; Chikwanha et al. 10.5296/ijssr.v10i2.19811; AIP Conf.
Proc. 1974, 050009 (2018).
"""

from __future__ import annotations

from gradcli.homework.mistakes.forms import (
    absolute,
    as_exponential,
    as_power_rule,
    base_missing,
    constant_kept,
    constant_lost,
    constant_power,
    constant_to_one,
    factor_dropped,
    inner_constant_lost,
    linear,
    middle_lost,
    minus,
    of_active,
    of_calls,
    of_chain,
    of_constant_over,
    of_power,
    of_reciprocal,
    of_unary,
    other_dropped,
    quotient_not_squared,
    quotient_plus,
    quotient_reversed,
    sign_lost,
    split_root,
    square_of,
    term,
    unit,
    with_inner,
    without_constant,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.formulas.nodes import Node
    from gradcli.homework.mistakes.forms import Inner, Wrong
    from gradcli.homework.mistakes.site import Site

ANY = ""
"""In place of names of rows: the function itself says where the mistake can be made."""


class Rule:
    """A wrong rule.

    name: of the mistake.
    rows: of the operation table, empty for all.
    wrong: function that returns the wrong tangent.
    rank: position in the table, likelier mistakes first.
    second: of two mistakes at one operation the other, None where there is one only.
    """

    __slots__ = ("name", "rank", "rows", "second", "wrong")

    def __init__(self, name: str, rows: str, wrong: Wrong, rank: float, second: Rule | None = None
                 ) -> None:
        self.name = name
        self.rows = frozenset(rows.split())
        self.wrong = wrong
        self.rank = rank
        self.second = second

    def at(self, site: Site) -> Node | None:
        """Return the wrong tangent of an operation, None where the mistake cannot be made."""
        if self.rows and site.op.name not in self.rows:
            return None
        return self.wrong(site)


TRIG = ("sin cos tan sec csc cot sinh cosh tanh sech csch coth asin acos atan acot asec acsc asinh"
        " acosh atanh")

MIDDLE_LOST = of_chain(middle_lost)
"""Of f(g(h(x))), the factor g' is missing."""

_COMMON: tuple[tuple[str, str, Wrong], ...] = (
    ("missing_chain_factor", ANY, of_chain(lambda s, g: g.slope(g.u))),
    ("product_of_derivatives", "multiply", of_active(lambda u, w, tu, tw: tu * tw)),
    ("quotient_of_derivatives", "divide", of_active(lambda u, w, tu, tw: tu / tw)),
    ("quotient_reversed", "divide", of_active(quotient_reversed)),
    ("product_one_term", "multiply", of_active(lambda u, w, tu, tw: tu * w)),
    ("product_one_term", "multiply", of_active(lambda u, w, tu, tw: u * tw)),
    ("power_coefficient", ANY, of_power(
        lambda u, n, tu: None if n.value == -1 else u**(n - 1.0) * tu)),
    ("power_exponent_not_reduced", ANY, of_power(
        lambda u, n, tu: None if n.value == -1 else n * u**n * tu)),
    ("power_exponent_increased", ANY, of_power(
        lambda u, n, tu: None if n.value == -1 else n * u**(n + 1.0) * tu)),
    ("trig_sign", TRIG, minus),
    ("quotient_denominator_not_squared", "divide", of_active(quotient_not_squared)),
    ("quotient_denominator_not_squared", "divide", of_constant_over(quotient_not_squared)),
    ("quotient_denominator_dropped", "divide", of_active(lambda u, w, tu, tw: tu * w - u * tw)),
    ("quotient_plus", "divide", of_active(quotient_plus)),
    ("product_minus", "multiply", of_active(lambda u, w, tu, tw: tu * w - u * tw)),
    ("product_minus", "multiply", of_active(lambda u, w, tu, tw: u * tw - tu * w)),
    ("abs_ignored", "abs sqrt", absolute),
    ("chain_outer_at_inner_derivative", ANY, of_chain(lambda s, g: g.slope(g.tu))),
    ("chain_outer_not_differentiated", ANY, of_chain(lambda s, g: g.value(g.u) * g.tu)),
    ("chain_outer_at_x", ANY, of_chain(lambda s, g: g.slope(s.x) * g.tu)),
    ("missing_chain_factor", ANY, MIDDLE_LOST),
    ("chain_constant_lost", ANY, of_chain(constant_lost)),
    ("chain_constant_lost", ANY, of_chain(inner_constant_lost)),
    ("constant_not_dropped", "add subtract", constant_kept),
    ("other_variable_dropped", "multiply divide", other_dropped),
    ("missing_log_base", ANY, base_missing),
    ("power_rule_on_exponential", "exp power", lambda s: as_power_rule(s, "")),
    ("power_rule_on_exponential", "exp power", lambda s: as_power_rule(s, "tw")),
    ("power_rule_on_exponential", "power", lambda s: as_power_rule(s, "tu")),
    ("exponential_rule_on_power", ANY, lambda s: as_exponential(s, "")),
    ("exponential_rule_on_power", ANY, lambda s: as_exponential(s, "tu")),
    ("power_rule_on_constant", "power", constant_power),
    ("log_rule", "log", of_unary(lambda s, u, tu: tu / s.v)),
    ("log_rule", "log", of_unary(lambda s, u, tu: tu * s.v / u)),
    ("log_rule", "log", of_unary(lambda s, u, tu: None if s.is_x(u) else 1.0 / tu)),
    ("power_coefficient_off_by_one", ANY, of_power(
        lambda u, n, tu: None if n.value == 0.5 else (n - 1.0) * u**(n - 1.0) * tu)),
    ("trig_rule", "tan", of_calls("sec")),
    ("trig_rule", "tan", of_calls("sec tan")),
    ("trig_rule", "sec", of_calls("tan tan")),
    ("trig_rule", "sec", of_calls("sec sec")),
    ("trig_rule", "csc", of_calls("cot cot", -1.0)),
    ("trig_rule", "csc", of_calls("csc csc", -1.0)),
    ("trig_rule", "cot", of_calls("csc cot", -1.0)),
    ("trig_rule", "cot", of_calls("sec sec")),
    ("trig_rule", "tanh", of_calls("sech tanh")),
    ("inverse_trig_rule", "acos", of_unary(
        lambda s, u, tu: -(tu / s.call("sqrt", 1.0 + square_of(u))))),
    ("inverse_trig_rule", "atan", of_unary(lambda s, u, tu: tu / (1.0 - square_of(u)))),
    ("inverse_trig_rule", "asin", of_unary(
        lambda s, u, tu: tu / s.call("sqrt", 1.0 + square_of(u)))),
    ("inverse_trig_rule", "atanh", of_unary(lambda s, u, tu: tu / (1.0 + square_of(u)))),
    ("inverse_trig_rule", "asinh", of_unary(
        lambda s, u, tu: tu / s.call("sqrt", 1.0 - square_of(u)))),
    ("inverse_as_reciprocal", "asin", of_reciprocal("sin")),
    ("inverse_as_reciprocal", "acos", of_reciprocal("cos")),
    ("inverse_as_reciprocal", "atan", of_reciprocal("tan")),
)

_RARE: tuple[tuple[str, str, Wrong], ...] = (
    ("constant_factor_dropped", "multiply divide", factor_dropped),
    ("sign_error", "add", lambda s: term(s, 1.0, -1.0)),
    ("sign_error", "add", lambda s: term(s, -1.0, 1.0)),
    ("sign_error", "subtract", lambda s: term(s, 1.0, 1.0)),
    ("sign_error", "subtract", lambda s: term(s, -1.0, -1.0)),
    ("sign_error", "negative", lambda s: s.tu),
    ("sign_error", "multiply divide", sign_lost),
    ("missing_term", "add", of_active(lambda u, w, tu, tw: tu)),
    ("missing_term", "add", of_active(lambda u, w, tu, tw: tw)),
    ("missing_term", "subtract", of_active(lambda u, w, tu, tw: tu)),
    ("missing_term", "subtract", of_active(lambda u, w, tu, tw: -tw)),
    ("linear_extrapolation", ANY, of_chain(lambda s, g: linear(s, g, False))),
    ("linear_extrapolation", ANY, of_chain(lambda s, g: linear(s, g, True))),
    ("linear_extrapolation", "sqrt", split_root),
    ("constant_to_one", "add subtract", constant_to_one),
    ("quotient_of_derivatives", "divide", of_constant_over(lambda u, w, tu, tw: 1.0 / tw)),
    ("quotient_reversed", "divide", of_constant_over(quotient_reversed)),
    ("quotient_denominator_dropped", "divide", of_constant_over(lambda u, w, tu, tw: -(u * tw))),
    ("quotient_plus", "divide", of_constant_over(quotient_plus)),
    ("power_coefficient", ANY, of_power(lambda u, n, tu: u**-2.0 * tu if n.value == -1 else None)),
    ("power_exponent_not_reduced", ANY, of_power(
        lambda u, n, tu: -(tu / u) if n.value == -1 else None)),
    ("power_coefficient_off_by_one", ANY, of_power(
        lambda u, n, tu: -0.5 * u**-0.5 * tu if n.value == 0.5 else None)),
)

RARE = 100
"""Rank from which on a mistake is rare: one is not thought of where a common one explains as much.
"""
RULES = tuple([Rule(*row, rank) for rank, row in enumerate(_COMMON)]
              + [Rule(*row, RARE + rank) for rank, row in enumerate(_RARE)])
"""All rules, likelier mistakes first."""

_INNER: tuple[tuple[str, Inner], ...] = (
    ("missing_chain_factor", unit),
    ("chain_constant_lost", without_constant),
)
"""Mistakes of the chain rule that leave a wrong inner derivative, which other rules then take."""
_BESIDE = frozenset((
    "trig_sign", "trig_rule", "inverse_trig_rule", "inverse_as_reciprocal", "power_coefficient",
    "power_coefficient_off_by_one", "power_exponent_not_reduced", "power_exponent_increased",
    "power_rule_on_exponential", "exponential_rule_on_power", "missing_log_base", "log_rule",
    "quotient_reversed", "quotient_denominator_not_squared"))
"""Mistakes with the outer function, which are made with any inner derivative."""
DOUBLE = tuple([
    Rule(name, " ".join(rule.rows), with_inner(rule.wrong, inner), rank * RARE + rule.rank, rule)
    for rank, (name, inner) in enumerate(_INNER) for rule in RULES if rule.name in _BESIDE])
"""Two mistakes at one operation: cos(x^2) answered sin(x^2)."""
