"""Names without a value: functions of other systems, and products or calls without their signs.

`xsinx`, `xe`, `xy`: a name may be any word, so a word is taken apart only where its pieces are
known: functions of school before a variable, names that the program has besides, constants. A word
that could be a name as well (`cost`, `constant`, `rate`, `dx`) is left alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gradcli.base.errors import Span

FUNCTIONS = tuple(sorted("""
    sin cos tan cot sec csc asin acos atan arcsin arccos arctan sinh cosh tanh asinh acosh atanh
    exp log ln sqrt cbrt abs""".split(), key=len, reverse=True))
USUAL = frozenset("xyztθφαβλω")
"""Variables, wherever a function stands before one."""
FACTORS = frozenset("abcekmnpqrABCK")
"""Letters that stand before a function without being known: `ksinx`."""
WORDS = ("cost", "cosy", "sect")
"""English, and the end of other words."""
LONGEST = 64
"""So many letters are looked into for functions and names."""
MOST = 3
"""Names that are written side by side; longer ones are words."""


def readings(word: str, known: Collection[str], exponent: bool) -> list[str]:
    """Return the readings of a word with its signs put in; empty where it is a name like any other.

    known: the other names of the program. exponent: a power follows, as in `xe^x`.
    """
    from gradcli.ops import PUBLIC

    if "_" in word or word.endswith(WORDS) or len(word) > LONGEST:
        return []
    letters = USUAL | frozenset(known)
    for function in FUNCTIONS:      # longer ones first: asin before sin
        at = word.find(function)
        if at >= 0 and function in PUBLIC:
            before = _factors(word[:at], letters if at > 1 else letters | FACTORS)
            found = [] if before is None else list(_called(word[at:], letters))
            if found:
                return ["*".join([*(before or ()), one]) for one in found[:2]]
    factors = _factors(word, {*known, "pi", *(("e",) if exponent and word[-1] == "e" else ())})
    if factors is None and word.startswith("pi"):
        factors = _factors(word, {*known, "pi", "r", "x"})
    if factors is None or not 1 < len(factors) <= MOST or factors[0] == "d" or (
            {"pi", "e"}.issuperset(factors)):
        return []
    return ["*".join(factors)]


def _called(text: str, letters: Collection[str]) -> Iterator[str]:
    """Yield readings of `sin2x`, `sinxcosx`, `sinxy`, `lnsinx`: function, argument, the rest."""
    from gradcli.ops import PUBLIC

    function = next((one for one in FUNCTIONS if text.startswith(one) and one in PUBLIC), None)
    if function is None:
        return
    rest = text[len(function):]
    digits = len(rest) - len(rest.lstrip("0123456789"))
    number, rest = rest[:digits], rest[digits:]
    for end in range(len(rest), 0, -1):
        if _factors(rest[:end], letters) is None:
            continue
        behind = rest[end:]
        more = [""] if not behind else [f"*{one}" for one in _called(behind, letters)]
        factors = _factors(rest[:end], letters) or []
        for one in more:
            first = number + factors[0]
            yield f"{function}({'*'.join([first, *factors[1:]])}){one}"
            if len(factors) > 1:
                yield f"{function}({first})*{'*'.join(factors[1:])}{one}"
            if function + number in PUBLIC and number:
                yield f"{function}{number}({'*'.join(factors)}){one}"
        return
    if not number:  # lnsinx
        yield from [f"{function}({one})" for one in _called(rest, letters)]


def _factors(word: str, known: Collection[str]) -> list[str] | None:
    """Split a word into known names, as few as possible; None if it does not consist of them."""
    best: list[list[str] | None] = [[]]
    for end in range(1, len(word) + 1):
        parts = [[*before, word[start:end]] for start in range(end)
                 for before in [best[start]]
                 if before is not None and word[start:end] in known]
        best.append(min(parts, key=len) if parts else None)
    return best[-1]


def called(word: str, functions: Collection[str], known: Collection[str]) -> str | None:
    """Return `x*sin` for the function `xsin`, whose end is a function and whose beginning is names;
    None if it is no such word.
    """
    for at in range(1, len(word) - 1 if len(word) <= LONGEST else 0):
        if word[at:] in functions and _factors(
                word[:at], USUAL | frozenset(known)) is not None:
            return f"{word[:at]}*{word[at:]}"
    return None


def differentials(text: str, start: int) -> tuple[str, str] | None:
    """Return (y, x) for `dy/dx` at an offset of the text; None if there is none."""
    import re

    found = re.match(r"d(\w+)\s*/\s*d(\w+)", text[start:start + 80])
    return (found[1], found[2]) if found else None


def order_of(pair: tuple[str, str]) -> int:
    """Return the order of a derivative: 2 of (2y, x2), for `d2y/dx2`."""
    (y, x) = pair
    return int(y[0]) if y and len(x) > 1 and y[0] == x[-1] and y[0] in "23456789" else 1


# --------------------------------------------------------------------------------------------------
# Names of functions in other systems, and what to write for them.

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
