"""Answers to derivative homework for checks.py, in a spelling that every engine can be given:
functions have brackets, `2x sin(x)` is a product, and `spelled_out` writes its signs.
"""

from __future__ import annotations

import re

# Function, its derivative as students write it, and a wrong one with the mistake it was made with.
PAIRS = (
    ("x^5 - 4x^3 + 7", "5x^4 - 12x^2", "5x^4 - 12x^2 + 7", "constant_not_dropped"),
    ("3x^4 - 2x^2 + x", "12x^3 - 4x + 1", "12x^3 - 4x", "missing_term"),
    ("1/x^2", "-2/x^3", "-2/x", "power_exponent_increased"),
    ("sqrt(x)", "1/(2sqrt(x))", "sqrt(x)/2", "power_exponent_not_reduced"),
    ("x^(2/3) + 4x", "2/(3x^(1/3)) + 4", "2/3x^(1/3) + 4", "missing_parentheses"),
    ("(2x - 1)^3", "6(2x - 1)^2", "3(2x - 1)^2", "missing_chain_factor"),
    ("x^2 sin(x)", "2x sin(x) + x^2 cos(x)", "2x cos(x)", "product_of_derivatives"),
    ("x e^x", "e^x + x e^x", "e^x", "product_one_term"),
    ("x^3 ln(x)", "3x^2 ln(x) + x^2", "3x^2 ln(x) - x^2", "product_minus"),
    ("(x + 1)(x^2 - 3)", "3x^2 + 2x - 3", "2x", "product_of_derivatives"),
    ("x^2 e^(-x)", "(2x - x^2) e^(-x)", "(2x + x^2) e^(-x)", "sign_error"),
    ("e^x cos(x)", "e^x (cos(x) - sin(x))", "e^x (cos(x) + sin(x))", "trig_sign"),
    ("x/(x^2 + 1)", "(1 - x^2)/(x^2 + 1)^2", "(x^2 - 1)/(x^2 + 1)^2", "quotient_reversed"),
    ("(x - 1)/(x + 1)", "2/(x + 1)^2", "2/(x + 1)", "quotient_denominator_not_squared"),
    ("sin(x)/x", "(x cos(x) - sin(x))/x^2", "x cos(x) - sin(x)", "quotient_denominator_dropped"),
    ("e^x/x", "e^x (x - 1)/x^2", "e^x (x + 1)/x^2", "quotient_plus"),
    ("x^2/(x + 1)", "(x^2 + 2x)/(x + 1)^2", "2x", "quotient_of_derivatives"),
    ("ln(x)/x^2", "(1 - 2ln(x))/x^3", "(1 + 2ln(x))/x^3", "quotient_plus"),
    ("tan(x)", "1/cos(x)^2", "1/cos(x)", "trig_rule"),
    ("sin(3x)", "3cos(3x)", "cos(3x)", "missing_chain_factor"),
    ("cos(x^2)", "-2x sin(x^2)", "2x sin(x^2)", "trig_sign"),
    ("sin(x)^2", "2sin(x) cos(x)", "2sin(x)", "missing_chain_factor"),
    ("e^(3x^2)", "6x e^(3x^2)", "e^(6x)", "chain_outer_at_inner_derivative"),
    ("ln(x^2 + 1)", "2x/(x^2 + 1)", "1/(x^2 + 1)", "missing_chain_factor"),
    ("sqrt(x^2 + 9)", "x/sqrt(x^2 + 9)", "x/(2sqrt(x^2 + 9))", "chain_constant_lost"),
    ("(x^2 + 3x)^4", "4(x^2 + 3x)^3 (2x + 3)", "4(2x + 3)^3", "chain_outer_at_inner_derivative"),
    ("e^sin(x)", "cos(x) e^sin(x)", "sin(x) e^sin(x)", "trig_rule"),
    ("ln(cos(x))", "-sin(x)/cos(x)", "1/cos(x)", "missing_chain_factor"),
    ("sin(2x) cos(3x)", "2cos(2x) cos(3x) - 3sin(2x) sin(3x)", "-6cos(2x) sin(3x)",
     "product_of_derivatives"),
    ("2^x", "2^x ln(2)", "x 2^(x - 1)", "power_rule_on_exponential"),
    ("x^x", "x^x (ln(x) + 1)", "x x^(x - 1)", "power_rule_on_exponential"),
    ("atan(x)", "1/(1 + x^2)", "1/(1 - x^2)", "inverse_trig_rule"),
    ("asin(x/2)", "1/sqrt(4 - x^2)", "1/sqrt(1 - x^2/4)", "missing_chain_factor"),
    ("x atan(2x)", "atan(2x) + 2x/(1 + 4x^2)", "atan(2x) + x/(1 + 4x^2)", "missing_chain_factor"),
    ("sqrt(1 + e^(2x))", "e^(2x)/sqrt(1 + e^(2x))", "e^x", "linear_extrapolation"),
    ("(1 + ln(x))^3", "3(1 + ln(x))^2/x", "3(1/x)^2", "chain_outer_at_inner_derivative"),
    ("x^2 sin(1/x)", "2x sin(1/x) - cos(1/x)", "2x sin(1/x) + x^2 cos(1/x)",
     "missing_chain_factor"),
    ("(3x + 2)/(x^2 - 4x)", "(8 - 4x - 3x^2)/(x^2 - 4x)^2", "3/(2x - 4)",
     "quotient_of_derivatives"),
    ("x sqrt(1 - x^2)", "(1 - 2x^2)/sqrt(1 - x^2)", "sqrt(1 - x^2) + x^2/sqrt(1 - x^2)",
     "sign_error"),
    ("tanh(x^2)", "2x/cosh(x^2)^2", "1/cosh(x^2)^2", "missing_chain_factor"),
)

# One problem, and how a class answers it when it is right.
CLASS = ("x^2 sin(3x) + e^(2x)", (
    "2x sin(3x) + 3x^2 cos(3x) + 2e^(2x)",
    "3x^2 cos(3x) + 2x sin(3x) + 2e^(2x)",
    "x(2sin(3x) + 3x cos(3x)) + 2e^(2x)",
    "2e^(2x) + 2x sin(3x) + x^2 cos(3x) 3",
    "2(e^(2x) + x sin(3x)) + 3x^2 cos(3x)",
    "sin(3x) 2x + x^2 (3cos(3x)) + e^(2x) 2",
    "2x*sin(3x) + x^2*cos(3x)*3 + 2e^(x + x)",
    "2x sin(3x) + 3x x cos(3x) + e^(2x) + e^(2x)",
    "2 x sin(3 x) + 3 x^2 cos(3 x) + 2 e^x e^x",
    "2x sin(3x) + x^2 cos(3x)*3 + 2(e^x)^2",
))

FUNCTIONS = "sin cos tan asin acos atan sinh cosh tanh ln sqrt".split()
_TOKEN = re.compile(r"\s*(?:([a-z]+)|(\d+(?:\.\d+)?)|(.))")


def spelled_out(text: str, power: str = "**") -> str:
    """The same with `*` where factors only stand side by side, and another sign for powers."""
    parts: list[str] = []
    factor_ends = False
    for name, number, sign in _TOKEN.findall(text):
        if factor_ends and (name or number or sign == "("):
            parts.append("*")
        parts.append(name or number or (power if sign == "^" else sign))
        factor_ends = bool(number) or sign == ")" or (bool(name) and name not in FUNCTIONS)
    return "".join(parts)
