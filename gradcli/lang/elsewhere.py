"""Names of functions in other systems, and what to write for them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span

DERIVATIVES = ("diff", "derivative", "differentiate", "deriv")
ROOTS = ("nthroot", "nroot", "surd", "nthrt")
OTHER_SYSTEMS = {
    **dict.fromkeys(ROOTS, "x^(1/3), and the degree for 3"),
    **dict.fromkeys(("squareroot", "sqroot", "sqrroot"), "sqrt(x)"), "sqr": "sqrt(x) or x^2",
    **dict.fromkeys(("cuberoot", "cubicroot", "curt", "cubrt"), "cbrt(x)"),
    **{f"{arc}{word}": f"{arc}{name}(x)" for arc in ("", "arc") for word, name in (
        ("sine", "sin"), ("cosine", "cos"), ("tangent", "tan"), ("cotangent", "cot"),
        ("secant", "sec"), ("cosecant", "csc"))},
    **dict.fromkeys(("loge", "logarithm", "naturallog"), "ln(x)"),
    "exponential": "exp(x)", "absval": "abs(x)", "absolutevalue": "abs(x)",
    "versin": "1 - cos(x)", "vers": "1 - cos(x)", "coversin": "1 - sin(x)",
    **dict.fromkeys(("haversin", "hav"), "(1 - cos(x))/2"), "exsec": "sec(x) - 1",
    "excsc": "csc(x) - 1",
    **dict.fromkeys(DERIVATIVES, "the formula alone: `gradcli grad` gives its derivative"),
    **dict.fromkeys(("int", "integral", "integrate", "limit", "lim", "piecewise"),
                    "the formula that it stands for"),
}

# Spellings of homework that no operation has, and functions that are none here.
SPELLINGS = {
    "root": OTHER_SYSTEMS["nthroot"], "sen": "sin(x)", "cotg": "cot(x)", "arcsen": "arcsin(x)",
    "arccotan": "arccot(x)", "signum": "sign(x)",
    **{f"arg{word}": f"{name}(x)" for word, name in (
        ("sinh", "asinh"), ("cosh", "acosh"), ("tanh", "atanh"), ("coth", "acoth"),
        ("sh", "asinh"), ("ch", "acosh"), ("th", "atanh"))},
    "factorial": "gamma(n + 1)", "fact": "gamma(n + 1)",
    **dict.fromkeys(("binomial", "binom", "choose", "comb", "nCr", "nchoosek"),
                    "gamma(n + 1)/(gamma(k + 1)*gamma(n - k + 1))"),
    "D": OTHER_SYSTEMS["derivative"],   # d may be a factor
}


# TensorFlow's words for what is declared here.
DECLARED = {"Variable": "var x = 3.0", "constant": "const x = 3.0"}


def equivalent(name: str) -> str | None:
    """Return what to write for a function of this name; None if it is not known elsewhere."""
    return DECLARED.get(name) or SPELLINGS.get(name) or OTHER_SYSTEMS.get(name.lower())


def of_module(text: str, start: int) -> str | None:
    """Return what to write for a function of the module `tf` in the text; None if unknown."""
    import re

    from gradcli.ops import PUBLIC

    found = re.match(r"tf\.(?:\w+\.)?(\w+)\(", text[start:])
    name = found[1] if found else ""
    return equivalent(name) or (f"{name}(...)" if name in PUBLIC else None)


def derivative_sign(text: str, span: Span) -> Span | None:
    """Return the span of the d, dy or d2y before a slash and the dx of a call, or None."""
    import re

    found = re.search(r"(?<![\w.])(d\w{0,2})\s*/\s*$", text[:span[0]][-80:])
    if found is None or text[span[0]] != "d" or span[1] - span[0] < 2:
        return None
    begin = min(span[0], 80)
    return span[0] - begin + found.start(1), span[0] - begin + found.end(1)
