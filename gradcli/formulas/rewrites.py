"""What may be written instead, as data. Nothing here changes a value by more than rounding where
the formula is defined; what holds only under a condition names it.
"""

from __future__ import annotations

EVEN = frozenset(("cos", "cosh", "abs", "sech", "sec", "sinc", "bessel_j0"))
"""f(-x) is f(x)."""

ODD = frozenset((
    "sin", "tan", "sinh", "tanh", "csc", "cot", "csch", "coth", "asin", "atan", "asinh", "atanh",
    "erf", "erfi", "cbrt", "sign", "acsc", "acot", "dawsn", "erfinv", "fresnels", "fresnelc"))
"""f(-x) is -f(x)."""

INVERSES = {
    ("log", "exp"): "", ("exp", "log"): "> 0", ("sin", "asin"): "", ("cos", "acos"): "",
    ("tan", "atan"): "", ("sinh", "asinh"): "", ("cosh", "acosh"): "", ("tanh", "atanh"): "",
    ("asinh", "sinh"): "", ("expm1", "log1p"): "", ("log1p", "expm1"): "", ("atanh", "tanh"): "",
}
"""f(g(x)) is x: where it is defined, or where x is as the text says."""

VALUES = {
    ("sin", 0): 0, ("cos", 0): 1, ("tan", 0): 0, ("exp", 0): 1, ("log", 1): 0, ("sinh", 0): 0,
    ("cosh", 0): 1, ("tanh", 0): 0, ("asin", 0): 0, ("atan", 0): 0, ("asinh", 0): 0, ("erf", 0): 0,
    ("erfc", 0): 1, ("expm1", 0): 0, ("log1p", 0): 0, ("gamma", 1): 1, ("gamma", 2): 1,
    ("sign", 1): 1, ("sign", -1): -1, ("cbrt", 0): 0, ("cbrt", 1): 1, ("log2", 2): 1,
    ("log10", 10): 1, ("sec", 0): 1, ("sech", 0): 1,
}
"""Values of operations on whole numbers that are whole."""

POSITIVE = frozenset(("exp", "cosh", "sech", "gamma_positive", "sigmoid", "softplus", "exp2"))
"""Operations whose value is never 0."""
