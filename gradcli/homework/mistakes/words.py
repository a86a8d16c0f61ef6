"""The sentence of each mistake, and the rules that some of the sentences cite."""

from __future__ import annotations

# {piece}: the place in the function; {u}, {w}: its operands; {inner}: the inner derivative.
SENTENCES = {
    "missing_chain_factor": "the inner derivative of {piece} is missing: multiply by {inner}",
    "chain_constant_lost": "the inner derivative of {piece} has lost its number: it is {inner}",
    "chain_outer_at_inner_derivative": "the outer function of {piece} was taken at the derivative"
        " of {u}: leave {u} inside, and multiply by {inner}",
    "chain_outer_at_x": "the outer function of {piece} was taken at {x}: leave {u} inside",
    "chain_outer_not_differentiated": "in {piece} only the inside was differentiated: the outer"
        " function has a derivative too",
    "product_of_derivatives": "the derivatives of {u} and {w} were multiplied: (uv)' is u'v + uv'",
    "product_one_term": "one term of the product rule is missing for {piece}: (uv)' is u'v + uv'",
    "product_minus": "the product rule for {piece} has a minus: (uv)' is u'v + uv'",
    "quotient_reversed": "the quotient rule for {piece} is the wrong way round: (u/v)' is"
        " (u'v - uv')/v^2",
    "quotient_denominator_not_squared": "the denominator of {piece} was not squared: (u/v)' is"
        " (u'v - uv')/v^2",
    "quotient_denominator_dropped": "the denominator is missing after the quotient rule for"
        " {piece}: divide by the square of {w}",
    "quotient_plus": "the quotient rule for {piece} has a plus: (u/v)' is (u'v - uv')/v^2",
    "quotient_of_derivatives": "the derivatives of {u} and {w} were divided: (u/v)' is"
        " (u'v - uv')/v^2",
    "power_coefficient": "the exponent did not come down as a factor in {piece}: (u^n)' is"
        " n u^(n-1) u'",
    "power_coefficient_off_by_one": "{piece} was multiplied by the new exponent: the old one comes"
        " down, (u^n)' is n u^(n-1) u'",
    "power_exponent_not_reduced": "the exponent of {piece} was not lowered by 1: (u^n)' is"
        " n u^(n-1) u'",
    "power_exponent_increased": "the exponent of {piece} went up by 1, and should go down: (u^n)'"
        " is n u^(n-1) u'",
    "power_rule_on_exponential": "the power rule was used on {piece}, whose exponent varies:"
        " {rule}",
    "exponential_rule_on_power": "the rule for exponentials was used on {piece}, whose base varies:"
        " {rule}",
    "missing_log_base": "the logarithm of the base is missing in {piece}",
    "log_rule": "the logarithm was not differentiated rightly in {piece}: (ln u)' is u'/u",
    "trig_sign": "the sign of the derivative of {piece} is wrong: {rule}",
    "trig_rule": "another function's derivative was used for {piece}: {rule}",
    "inverse_trig_rule": "another function's derivative was used for {piece}: {rule}",
    "inverse_as_reciprocal": "{piece} was taken for 1 over a function: it is an inverse function,"
        " {rule}",
    "constant_not_dropped": "the constant {c} was kept: its derivative is 0",
    "constant_to_one": "the constant {c} became 1: its derivative is 0",
    "power_rule_on_constant": "the power rule was used on the constant {piece}: its derivative is"
        " 0",
    "constant_factor_dropped": "the constant factor {c} of {piece} is missing: it stays",
    "other_variable_dropped": "the factor {c} of {piece} is missing: it does not depend on {x}, and"
        " stays",
    "sign_error": "the sign of a term of {piece} is wrong",
    "missing_term": "the derivative of {term} is missing",
    "abs_ignored": "{piece} was differentiated as if it were what is inside: for negative values it"
        " has the other sign",
    "linear_extrapolation": "{piece} was split over the sum inside: a function of a sum is not the"
        " sum of its values",
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
    "implicit_inverted": "the fraction is upside down: dy/dx is -Fx/Fy",
    "implicit_sign": "the minus sign is missing: dy/dx is -Fx/Fy",
    "implicit_missing_dydx": "a derivative of {dependent} lacks its factor d{dependent}/d{x}",
    "slope_not_evaluated": "the slope is still a formula: put in the point first",
    "not_a_number": "{number} asked for, and this is something else",
    "not_a_formula": "one formula is asked for, and this is something else",
    "missing_parentheses": "brackets are missing: {piece} would be right",
}


RULES = {
    "sin": "cos u", "cos": "-sin u", "tan": "sec^2 u", "sec": "sec u tan u",
    "csc": "-csc u cot u", "cot": "-csc^2 u", "sinh": "cosh u", "cosh": "sinh u",
    "tanh": "sech^2 u", "sech": "-sech u tanh u", "csch": "-csch u coth u", "coth": "-csch^2 u",
    "asin": "1/sqrt(1 - u^2)", "acos": "-1/sqrt(1 - u^2)", "atan": "1/(1 + u^2)",
    "acot": "-1/(1 + u^2)", "asec": "1/(|u| sqrt(u^2 - 1))", "acsc": "-1/(|u| sqrt(u^2 - 1))",
    "asinh": "1/sqrt(u^2 + 1)", "acosh": "1/sqrt(u^2 - 1)", "atanh": "1/(1 - u^2)"}


OF_POWERS = {"power_rule_on_exponential": "(c^u)' is c^u ln(c) u'",
             "exponential_rule_on_power": "(u^n)' is n u^(n-1) u'"}


BOTH_VARY = "(u^v)' is u^v (v' ln u + v u'/u)"
