"""Derivative rules as students get them wrong: tangents of one operation, as data.

A row is a name, rows of the operation table, the wrong tangent, and a sentence for the student. The
function gets the operation as a `Site` and returns the tangent, or None where the mistake cannot be
made there. In a sentence, {piece} is the place in the function, {u} and {w} are its operands, and
{inner} is the inner derivative. Names and
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
    of_other,
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
    sentence: what is said to the student; by default that of the first rule of this name.
    rank: position in the table, likelier mistakes first.
    second: of two mistakes at one operation the other, None where there is one only.
    """

    __slots__ = ("name", "rank", "rows", "second", "sentence", "wrong")

    def __init__(self, name: str, rows: str, wrong: Wrong, sentence: str = "", *,
                 rank: float = 0.0, second: Rule | None = None) -> None:
        self.name = name
        self.rows = frozenset(rows.split())
        self.wrong = wrong
        self.sentence = sentence
        self.rank = rank
        self.second = second

    def at(self, site: Site) -> Node | None:
        """Return the wrong tangent of an operation, None where the mistake cannot be made."""
        if self.rows and site.op.name not in self.rows:
            return None
        return self.wrong(site)


TRIG = ("sin cos tan sec csc cot sinh cosh tanh sech csch coth asin acos atan acot asec acsc asinh"
        " acosh atanh")

COMMON = (
    Rule("missing_chain_factor", ANY, of_chain(lambda s, g: g.slope(g.u)),
         "the inner derivative of {piece} is missing: multiply by {inner}"),
    Rule("product_of_derivatives", "multiply", of_active(lambda u, w, tu, tw: tu * tw),
         "the derivatives of {u} and {w} were multiplied: (uv)' is u'v + uv'"),
    Rule("quotient_of_derivatives", "divide", of_active(lambda u, w, tu, tw: tu / tw),
         "the derivatives of {u} and {w} were divided: (u/v)' is (u'v - uv')/v^2"),
    Rule("quotient_reversed", "divide", of_active(quotient_reversed),
         "the quotient rule for {piece} is the wrong way round: (u/v)' is (u'v - uv')/v^2"),
    Rule("product_one_term", "multiply", of_active(lambda u, w, tu, tw: tu * w),
         "one term of the product rule is missing for {piece}: (uv)' is u'v + uv'"),
    Rule("product_one_term", "multiply", of_active(lambda u, w, tu, tw: u * tw)),
    Rule("power_coefficient", ANY, of_power(
        lambda u, n, tu: None if n.value == -1 else u**(n - 1.0) * tu),
         "the exponent did not come down as a factor in {piece}: (u^n)' is n u^(n-1) u'"),
    Rule("power_exponent_not_reduced", ANY, of_power(
        lambda u, n, tu: None if n.value == -1 else n * u**n * tu),
         "the exponent of {piece} was not lowered by 1: (u^n)' is n u^(n-1) u'"),
    Rule("power_exponent_increased", ANY, of_power(
        lambda u, n, tu: None if n.value == -1 else n * u**(n + 1.0) * tu),
         "the exponent of {piece} went up by 1, and should go down: (u^n)' is n u^(n-1) u'"),
    Rule("trig_sign", TRIG, minus,
         "the sign of the derivative of {piece} is wrong: {rule}"),
    Rule("quotient_denominator_not_squared", "divide", of_active(quotient_not_squared),
         "the denominator of {piece} was not squared: (u/v)' is (u'v - uv')/v^2"),
    Rule("quotient_denominator_not_squared", "divide", of_constant_over(quotient_not_squared)),
    Rule("quotient_denominator_dropped", "divide", of_active(lambda u, w, tu, tw: tu * w - u * tw),
         "the denominator is missing after the quotient rule for {piece}: divide by the square of"
         " {w}"),
    Rule("quotient_plus", "divide", of_active(quotient_plus),
         "the quotient rule for {piece} has a plus: (u/v)' is (u'v - uv')/v^2"),
    Rule("product_minus", "multiply", of_active(lambda u, w, tu, tw: tu * w - u * tw),
         "the product rule for {piece} has a minus: (uv)' is u'v + uv'"),
    Rule("product_minus", "multiply", of_active(lambda u, w, tu, tw: u * tw - tu * w)),
    Rule("abs_ignored", "abs sqrt", absolute,
         "{piece} was differentiated as if it were what is inside: for negative values it has the"
         " other sign"),
    Rule("chain_outer_at_inner_derivative", ANY, of_chain(lambda s, g: g.slope(g.tu)),
         "the outer function of {piece} was taken at the derivative of {u}: leave {u} inside, and"
         " multiply by {inner}"),
    Rule("chain_outer_not_differentiated", ANY, of_chain(
        lambda s, g: None if g.kind == "exponential" else g.value(g.u) * g.tu),
         "in {piece} only the inside was differentiated: the outer function has a derivative too"),
    Rule("chain_outer_at_x", ANY, of_chain(lambda s, g: g.slope(s.x) * g.tu),
         "the outer function of {piece} was taken at {x}: leave {u} inside"),
    Rule("missing_chain_factor", ANY, of_chain(middle_lost),
         "the inner derivative of {piece} lacks a factor: it is {inner}"),
    Rule("chain_constant_lost", ANY, of_chain(constant_lost),
         "the inner derivative of {piece} has lost its number: it is {inner}"),
    Rule("chain_constant_lost", ANY, of_chain(inner_constant_lost)),
    Rule("constant_not_dropped", "add subtract", constant_kept,
         "the constant {c} was kept: its derivative is 0"),
    Rule("other_variable_dropped", "multiply divide", other_dropped,
         "the factor {c} of {piece} is missing: it does not depend on {x}, and stays"),
    Rule("missing_log_base", ANY, base_missing,
         "the logarithm of the base is missing in {piece}"),
    Rule("power_rule_on_exponential", "exp power", lambda s: as_power_rule(s, ""),
         "the power rule was used on {piece}, whose exponent varies: {rule}"),
    Rule("power_rule_on_exponential", "exp power", lambda s: as_power_rule(s, "tw")),
    Rule("power_rule_on_exponential", "power", lambda s: as_power_rule(s, "tu")),
    Rule("exponential_rule_on_power", ANY, lambda s: as_exponential(s, ""),
         "the rule for exponentials was used on {piece}, whose base varies: {rule}"),
    Rule("exponential_rule_on_power", ANY, lambda s: as_exponential(s, "tu")),
    Rule("power_rule_on_constant", "power", constant_power,
         "the power rule was used on the constant {piece}: its derivative is 0"),
    Rule("log_rule", "log", of_unary(lambda s, u, tu: tu / s.v),
         "the logarithm was not differentiated rightly in {piece}: (ln u)' is u'/u"),
    Rule("log_rule", "log", of_unary(lambda s, u, tu: tu * s.v / u)),
    Rule("log_rule", "log", of_unary(lambda s, u, tu: None if s.is_x(u) else 1.0 / tu)),
    Rule("power_coefficient_off_by_one", ANY, of_power(
        lambda u, n, tu: None if n.value == 0.5 else (n - 1.0) * u**(n - 1.0) * tu),
         "{piece} was multiplied by the new exponent: the old one comes down, (u^n)' is n u^(n-1)"
         " u'"),
    Rule("trig_rule", "tan", of_calls("sec"),
         "another function's derivative was used for {piece}: {rule}"),
    Rule("trig_rule", "tan", of_calls("sec tan")),
    Rule("trig_rule", "sec", of_calls("tan tan")),
    Rule("trig_rule", "sec", of_calls("sec sec")),
    Rule("trig_rule", "csc", of_calls("cot cot", -1.0)),
    Rule("trig_rule", "csc", of_calls("csc csc", -1.0)),
    Rule("trig_rule", "cot", of_calls("csc cot", -1.0)),
    Rule("trig_rule", "cot", of_calls("sec sec")),
    Rule("trig_rule", "tanh", of_calls("sech tanh")),
    Rule("inverse_trig_rule", "acos", of_unary(
        lambda s, u, tu: -(tu / s.call("sqrt", 1.0 + square_of(u)))),
         "another function's derivative was used for {piece}: {rule}"),
    Rule("inverse_trig_rule", "atan", of_unary(lambda s, u, tu: tu / (1.0 - square_of(u)))),
    Rule("inverse_trig_rule", "asin", of_unary(
        lambda s, u, tu: tu / s.call("sqrt", 1.0 + square_of(u)))),
    Rule("inverse_trig_rule", "atanh", of_unary(lambda s, u, tu: tu / (1.0 + square_of(u)))),
    Rule("inverse_trig_rule", "asinh", of_unary(
        lambda s, u, tu: tu / s.call("sqrt", 1.0 - square_of(u)))),
    *[Rule("inverse_trig_rule", row, of_other(other)) for row, other in (
        ("asin", "atan"), ("acos", "acot"), ("atan", "asin"), ("acot", "acos"),
        ("asinh", "acosh"), ("acosh", "asinh"), ("atanh", "asinh"), ("asec", "acosh"))],
    Rule("inverse_as_reciprocal", "asin", of_reciprocal("sin"),
         "{piece} was taken for 1 over a function: it is an inverse function, {rule}"),
    Rule("inverse_as_reciprocal", "acos", of_reciprocal("cos")),
    Rule("inverse_as_reciprocal", "atan", of_reciprocal("tan")),
)

LESS_COMMON = (
    Rule("constant_factor_dropped", "multiply divide", factor_dropped,
         "the constant factor {c} of {piece} is missing: it stays"),
    Rule("sign_error", "add", lambda s: term(s, 1.0, -1.0),
         "the sign of a term of {piece} is wrong"),
    Rule("sign_error", "add", lambda s: term(s, -1.0, 1.0)),
    Rule("sign_error", "subtract", lambda s: term(s, 1.0, 1.0)),
    Rule("sign_error", "subtract", lambda s: term(s, -1.0, -1.0)),
    Rule("sign_error", "negative", lambda s: s.tu),
    Rule("sign_error", "multiply divide", sign_lost),
    Rule("missing_term", "add", of_active(lambda u, w, tu, tw: tu),
         "the derivative of {term} is missing"),
    Rule("missing_term", "add", of_active(lambda u, w, tu, tw: tw)),
    Rule("missing_term", "subtract", of_active(lambda u, w, tu, tw: tu)),
    Rule("missing_term", "subtract", of_active(lambda u, w, tu, tw: -tw)),
    Rule("linear_extrapolation", ANY, of_chain(lambda s, g: linear(s, g, False)),
         "{piece} was split over the sum inside: a function of a sum is not the sum of its values"),
    Rule("linear_extrapolation", ANY, of_chain(lambda s, g: linear(s, g, True))),
    Rule("linear_extrapolation", "sqrt", split_root),
    Rule("constant_to_one", "add subtract", constant_to_one,
         "the constant {c} became 1: its derivative is 0"),
    Rule("quotient_of_derivatives", "divide", of_constant_over(lambda u, w, tu, tw: 1.0 / tw)),
    Rule("quotient_reversed", "divide", of_constant_over(quotient_reversed)),
    Rule("quotient_denominator_dropped", "divide",
         of_constant_over(lambda u, w, tu, tw: -(u * tw))),
    Rule("quotient_plus", "divide", of_constant_over(quotient_plus)),
    Rule("power_coefficient", ANY, of_power(
        lambda u, n, tu: u**-2.0 * tu if n.value == -1 else None)),
    Rule("power_exponent_not_reduced", ANY, of_power(
        lambda u, n, tu: -(tu / u) if n.value == -1 else None)),
    Rule("power_coefficient_off_by_one", ANY, of_power(
        lambda u, n, tu: -0.5 * u**-0.5 * tu if n.value == 0.5 else None)),
)

RARE = 100
"""Rank from which on a mistake is rare: one is not thought of where a common one explains as much.
"""
RULES = COMMON + LESS_COMMON
"""All rules, likelier mistakes first."""
for first, rules in ((0, COMMON), (RARE, LESS_COMMON)):
    for rank, rule in enumerate(rules, first):
        rule.rank = rank

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
    Rule(name, " ".join(rule.rows), with_inner(rule.wrong, inner), rank=rank * RARE + rule.rank,
         second=rule)
    for rank, (name, inner) in enumerate(_INNER) for rule in RULES if rule.name in _BESIDE])
"""Two mistakes at one operation: cos(x^2) answered sin(x^2)."""

SENTENCES = {
    **{rule.name: rule.sentence for rule in reversed(RULES) if rule.sentence},
    "answered_original": "this is the function itself, not its derivative",
    "integrated": "the function was integrated, not differentiated",
    "wrong_order": "this is the {order} derivative{by}, which was not asked for",
    "reciprocal_of_derivative": "this is 1 over the derivative: turn it over",
    "wrong_variable": "this is the derivative with respect to {variable}",
    "other_variable_not_constant": "{variable} was differentiated too: it counts as a constant"
        " here",
    "wrong_variable_name": "this is right with {wanted} in place of {given}",
    "evaluated_at_point": "this is the derivative's value at {at}: the formula is asked for",
    "constant_factor": "this is the right derivative times {k}",
    "constant_added": "{k} was added to the right derivative",
    "rounded_constant": "a number was rounded: write it exactly",
    "right_on_part_of_domain": "this is right only for {region}",
    "misread_function": "this is the derivative of {piece}: read the function again",
    "answer_zero": "this is 0, as if the function were a constant",
    "undefined_answer": "this is not defined for any real number",
    "transposed": "rows and columns are exchanged",
    "components_swapped": "the components are right, but in another order",
    "components_missing": "this has only {given} of the {wanted} components",
    "components_summed": "the components were added up: write them as a vector",
    "mixed_partials_missing": "the mixed derivatives are missing: entries {entries}",
    "one_row_wrong": "only row {row} is wrong: entries {entries}",
    "direction_not_normalised": "the direction was not made a unit vector: divide by {length}",
    "evaluated_at_wrong_point": "this is the derivative at {at}",
    "degree_mode": "the calculator was set to the other unit of angles: use {unit}",
    "root_missing": "the root was not taken: the length is the root of the sum of the squares",
    "differential_missing": "the factor d{x} is missing: a differential is asked for",
    "followed_through": "this is right given your own answer to the part before",
    "values_extra": "a number does not belong to the set",
    "classification_wrong": "a maximum and a minimum are taken for each other",
    "classification_missing": "it is not said which are maxima and which minima",
    "implicit_inverted": "the fraction is upside down: dy/dx is -Fx/Fy",
    "implicit_sign": "the minus sign is missing: dy/dx is -Fx/Fy",
    "implicit_missing_dydx": "a derivative of {dependent} lacks its factor d{dependent}/d{x}",
    "slope_not_evaluated": "the slope is still a formula: put in the point first",
    "not_a_number": "{number} asked for, and this is something else",
    "not_a_formula": "one formula is asked for, and this is something else",
    "unit_missing": "the unit is missing",
    "unit_wrong": "this is right in another unit",
    "missing_parentheses": "brackets are missing: {piece} would be right",
}
"""What is said to the student of each mistake, those of other questions included."""
