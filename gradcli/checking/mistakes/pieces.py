"""Pieces of a function as text: as they were typed, or, of what was derived, as short as may be."""

from __future__ import annotations

from gradcli.ops.elementwise import add, divide, multiply, negative, power, subtract
from gradcli.sweeps.rounding import UNIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.checking.reference import Reference
    from gradcli.tape.formula import Formula

LONGEST = 44
LARGEST = 360       # denominator of a fraction: half a degree
PI = 3.141592653589793
# How tightly a text holds together.
SUM, PRODUCT, POWER, ATOM = range(4)


def typed(reference: Reference, node: int) -> str:
    """The text of a node, from the function as it was typed if it stands there; empty if long."""
    place = reference.formula.places[node]
    text = reference.reading.text
    if place is not None:
        piece = text[place[0]:place[1]].strip()
        if piece and len(piece) <= LONGEST:
            return piece
    return shown(reference.formula, node)


def shown(formula: Formula, node: int) -> str:
    """A node as a formula without signs of products: 2x cos(x^2); empty if it gets long."""
    if len(formula.needed([node])) > 24:
        return ""
    text = _text(formula, node)[0]
    return text if len(text) <= LONGEST else ""


def _text(formula: Formula, node: int) -> tuple[str, int]:
    op = formula.ops[node]
    args = formula.args[node]
    if op is None:
        return (args, ATOM) if isinstance(args, str) else _number(args)
    if op in (multiply, divide, negative):
        return _product(formula, node)
    if op is add or op is subtract:
        left, right = _text(formula, args[0])[0], _text(formula, args[1])
        minus = op is subtract
        inside = right[0]
        if minus and right[1] == SUM:
            inside = f"({inside})"
        elif inside.startswith("-"):
            minus, inside = not minus, inside[1:]
        return f"{left} {'-' if minus else '+'} {inside}", SUM
    if op is power:
        return f"{_bound(_text(formula, args[0]), ATOM)}^{_bound(_text(formula, args[1]), ATOM)}", \
            POWER
    if op.name == "square":
        return f"{_bound(_text(formula, args[0]), ATOM)}^2", POWER
    if op.name == "exp":
        return f"e^{_bound(_text(formula, args[0]), ATOM)}", POWER
    name = {"log": "ln"}.get(op.name, op.name)
    return f"{name}({', '.join([_text(formula, a)[0] for a in args])})", ATOM


def _number(value: float) -> tuple[str, int]:
    if value == 2.718281828459045:
        return "e", ATOM
    above, below = ratio(abs(value))
    text = f"{'-' * (value < 0)}{above}{f'/{below}' if below else ''}"
    return text, SUM if value < 0 else PRODUCT if below else ATOM


def number(value: float) -> str:
    """A number as text."""
    return _number(value)[0]


def ratio(value: float) -> tuple[str, str]:
    """A positive number that six digits would round as a fraction, of pi perhaps: pi/180, 1/3. The
    second text is empty where it is none; then the first has six digits.
    """
    from fractions import Fraction

    text = f"{value:.6g}"
    if float(text) == value or not 1e-6 < value < 1e6:
        return text, ""
    for unit, over, under in ((1.0, "", ""), (PI, "pi", ""), (1/PI, "", "pi")):
        found = Fraction(value/unit).limit_denominator(LARGEST)
        if abs(found*unit - value) <= 4*UNIT*value:
            p, q = found.as_integer_ratio()
            above = over if over and p == 1 else f"{p} {over}".strip()
            below = f"{q} {under}".strip() if q > 1 or not under else under
            return above, "" if below == "1" else f"({below})" if " " in below else below
    return text, ""


def _bound(text: tuple[str, int], least: int) -> str:
    return text[0] if text[1] >= least else f"({text[0]})"


def _product(formula: Formula, node: int) -> tuple[str, int]:
    """Numbers first, then the factors, then what they are divided by."""
    up: list[int] = []
    down: list[int] = []
    k = _factors(formula, node, up, down)
    sign = "-" if k < 0 else ""
    k = abs(k)
    texts = [_bound(_text(formula, f), POWER) for f in up]
    texts.sort(key=len)
    first, over = ratio(k)
    above = _joined(([] if first == "1" and texts else [first]) + texts)
    below = [*([over] if over else []), *[_bound(_text(formula, f), POWER) for f in down]]
    if not below:
        return f"{sign}{above}", PRODUCT if not sign else SUM
    under = below[0] if len(below) == 1 else f"({_joined(below)})"
    return f"{sign}{above}/{under}", PRODUCT if not sign else SUM


def _factors(formula: Formula, node: int, up: list[int], down: list[int]) -> float:
    """The factors of a node that are no numbers; the product of those that are."""
    op, args = formula.ops[node], formula.args[node]
    value = formula.value(node)
    if value is not None and value not in (2.718281828459045, 3.141592653589793):
        return value
    if op is multiply:
        return _factors(formula, args[0], up, down) * _factors(formula, args[1], up, down)
    if op is negative:
        return -_factors(formula, args[0], up, down)
    if op is divide:
        below = _factors(formula, args[1], down, up)
        if below:
            return _factors(formula, args[0], up, down) / below
    up.append(node)
    return 1.0


def _joined(texts: list[str]) -> str:
    """Factors side by side; with a blank or a sign where letters would run together."""
    made = texts[0]
    for text in texts[1:]:
        if text[0].isdigit():
            made += f"*{text}"
        elif made[-1].isdigit() and text[0] != "(" and "^" not in made:
            made += text
        elif text[0] == "(" and (made[-1] == ")" or made[-1].isdigit()):
            made += text
        else:
            made += f" {text}"
    return made
