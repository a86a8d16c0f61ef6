"""One sentence for each mistake, for the student: its appearance, its location, the right rule."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.formulas.rounding import UNIT, Values
from gradcli.homework.checking.answered import Answered
from gradcli.homework.checking.compare import Comparison, Side
from gradcli.homework.mistakes.derivation import BETWEEN, EVERYWHERE, SITE, WHOLE, Explanation
from gradcli.homework.mistakes.rules import SENTENCES
from gradcli.homework.mistakes.sample import LEAST, evaluated, near, rows, taken
from gradcli.homework.mistakes.site import Site, outer
from gradcli.ops.table.elementwise import add, divide, multiply, negative, power, subtract
from gradcli.ops.text import ADDED, ATOM, MULTIPLIED, PATTERNS, POWER, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.formulas.nodes import Formula
    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.checking.prepared import PreparedProblem
    from gradcli.homework.checking.problem import Reference
    from gradcli.homework.mistakes.derivation import AnswerDerivation
    from gradcli.homework.mistakes.sample import Sample
    from gradcli.lang.paper.answer import Reading

SLOPES = {
    "sin": "cos u", "cos": "-sin u", "tan": "sec^2 u", "sec": "sec u tan u",
    "csc": "-csc u cot u", "cot": "-csc^2 u", "sinh": "cosh u", "cosh": "sinh u",
    "tanh": "sech^2 u", "sech": "-sech u tanh u", "csch": "-csch u coth u", "coth": "-csch^2 u",
    "asin": "1/sqrt(1 - u^2)", "acos": "-1/sqrt(1 - u^2)", "atan": "1/(1 + u^2)",
    "acot": "-1/(1 + u^2)", "asec": "1/(|u| sqrt(u^2 - 1))", "acsc": "-1/(|u| sqrt(u^2 - 1))",
    "asinh": "1/sqrt(u^2 + 1)", "acosh": "1/sqrt(u^2 - 1)", "atanh": "1/(1 - u^2)"}
"""Derivatives by u of the functions whose rules are learnt by heart."""
OF_POWERS = {"power_rule_on_exponential": "(c^u)' is c^u ln(c) u'",
             "exponential_rule_on_power": "(u^n)' is n u^(n-1) u'"}
BOTH_VARY = "(u^v)' is u^v (v' ln u + v u'/u)"


def sentence(derivation: AnswerDerivation, found: Explanation) -> str:
    """Return the sentence for the student about an explanation."""
    values = {**_places(derivation, found), **_details(found)}
    text = found.detail.get("sentence") or (
        found.rule is not None and found.rule.sentence) or SENTENCES[found.name]
    if values.get("inner") == "1":
        text = text.removesuffix(", and multiply by {inner}")
    message = "looks like " + text.format_map(_Texts(values))
    if found.level == EVERYWHERE:
        message += ", and the same elsewhere"
    if found.site is None and "component" in found.detail:
        message += f", in component {found.detail['component']}"
    if found.also is not None:
        message += f"; and {sentence(derivation, found.also).removeprefix('looks like ')}"
    return message


class _Texts(dict[str, str]):
    """The texts that a sentence names, in general words where one is not known."""

    def __missing__(self, key: str) -> str:
        return {"piece": "the function", "inner": "the derivative of what is inside",
                "u": "the first part", "w": "the second", "x": "the variable",
                "by": "", "region": "part of the values", "c": "in front", "term": "a term",
                "rule": "look it up"}.get(key, "something else")


def _details(found: Explanation) -> dict[str, str]:
    made = {}
    for key, value in found.detail.items():
        if isinstance(value, float):
            value = number_text(value)
        if value:
            made[key] = str(value)
    return made


def _places(derivation: AnswerDerivation, found: Explanation) -> dict[str, str]:
    """Return the texts of the operation that was differentiated wrongly, and of its parts."""
    reference = derivation.reference
    values = {"x": reference.wrt[0], "dependent": derivation.problem.dependent,
              "number": "numbers are" if reference.shape else "one number is",
              "unit": "degrees" if derivation.problem.angle == "degree" else "radians"}
    if found.site is None or found.step is None:
        return values
    sweeps = derivation.sweeps(found.step)
    formula = reference.formula
    site = Site(formula, found.site, sweeps.right.carried, found.step[1], sweeps.parameters)
    values["x"] = found.step[1]
    nodes = {"piece": found.site, "u": site.u.number}
    if site.w is not None:
        nodes["w"] = site.w.number
        nodes["c"] = (site.u if site.tu is None else site.w).number
        if found.rule is not None and found.name == "missing_term":
            kept = found.rule.at(site)
            lost = site.w if kept is not None and site.tu is not None and (
                kept.number == site.tu.number) else site.u
            nodes["term"] = lost.number
    if site.op.name in SLOPES:
        values["rule"] = f"({site.op.name} u)' is {SLOPES[site.op.name]} u'"
    if found.name in OF_POWERS:
        both = site.tu is not None and site.tw is not None
        values["rule"] = BOTH_VARY if both else OF_POWERS[found.name]
    g = outer(site)
    if g is not None and found.rule is not None and (
            found.name.startswith(("chain", "missing_chain", "linear"))):
        nodes["u"] = g.u.number
        values["inner"] = shown(formula, g.tu.number)
    for key, node in nodes.items():
        values[key] = typed(reference, node)
    if site.op is divide and site.tu is not None and values.get("c"):       # x/2 is 1/2 x
        values["c"] = f"1/{values['c']}" if (
            values["c"].isalpha() or values["c"].isdigit()) else f"1/({values['c']})"
    if values.get("u") == values["piece"]:      # sin^2 x stands for sin x, too
        values["u"] = shown(formula, nodes["u"])
    return {key: text for key, text in values.items() if text}


# --------------------------------------------------------------------------------------------------
# Pieces of a function as text: as they were typed, or, of what was derived, as short as may be.

LONGEST = 44
LARGEST = 360       # denominator of a fraction: half a degree
PI = 3.141592653589793


def typed(reference: Reference, node: int) -> str:
    """Return the text of a node, as typed in the function if it stands there; empty if long."""
    place = reference.formula.places[node]
    text = reference.reading.text
    if place is not None:
        piece = text[place[0]:place[1]].strip()
        if piece and len(piece) <= LONGEST:
            return piece
    return shown(reference.formula, node)


def shown(formula: Formula, node: int) -> str:
    """Return a node as a formula without signs of products: 2x cos(x^2); empty if it gets long."""
    if len(formula.needed([node])) > 24:
        return ""
    text = _text(formula, node)[0]
    return text if len(text) <= LONGEST else ""


def _text(formula: Formula, node: int) -> tuple[str, int]:
    op, args, leaf = formula.ops[node], formula.args[node], formula.given[node]
    if op is None:
        return (leaf, ATOM) if isinstance(leaf, str) else _number(leaf)
    if op in (multiply, divide, negative):
        return _product(formula, node)
    texts = [_text(formula, a) for a in args]
    if op is add or op is subtract:
        (left, _), (right, strength) = texts
        minus = op is subtract
        if minus and strength == ADDED:
            right = f"({right})"
        elif right.startswith("-"):
            minus, right = not minus, right[1:]
        return f"{left} {'-' if minus else '+'} {right}", ADDED
    if op is power or op.name == "square":
        pattern, places, strength = PATTERNS[op.name]
        return pattern.format(*map(inside, texts, places)), strength
    if op.name == "exp":
        return f"e^{inside(texts[0], ATOM)}", POWER
    name = {"log": "ln"}.get(op.name, op.name)
    return f"{name}({', '.join([text for text, _ in texts])})", ATOM


def _number(value: float) -> tuple[str, int]:
    if value == 2.718281828459045:
        return "e", ATOM
    above, below = ratio(abs(value))
    text = f"{'-' * (value < 0)}{above}{f'/{below}' if below else ''}"
    return text, ADDED if value < 0 else MULTIPLIED if below else ATOM


def number_text(value: float) -> str:
    """Return a number as text."""
    return _number(value)[0]


def ratio(value: float) -> tuple[str, str]:
    """Return a positive number that six digits would round as a fraction: pi/180, 1/3.

    The second text is empty where it is none; then the first has six digits.
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


def _product(formula: Formula, node: int) -> tuple[str, int]:
    """Return the text of a product, numbers first and divisors last, and its binding strength."""
    up: list[int] = []
    down: list[int] = []
    k = _factors(formula, node, up, down)
    sign = "-" if k < 0 else ""
    k = abs(k)
    texts = [inside(_text(formula, f), POWER) for f in up]
    texts.sort(key=len)
    first, over = ratio(k)
    above = _joined(([] if first == "1" and texts else [first]) + texts)
    below = [*([over] if over else []), *[inside(_text(formula, f), POWER) for f in down]]
    if not below:
        return f"{sign}{above}", MULTIPLIED if not sign else ADDED
    under = below[0] if len(below) == 1 else f"({_joined(below)})"
    return f"{sign}{above}/{under}", MULTIPLIED if not sign else ADDED


def _factors(formula: Formula, node: int, up: list[int], down: list[int]) -> float:
    """Add the factors of a node that are no numbers to `up`, or to `down` if it divides by them;
    return the product of those that are numbers.
    """
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
    """Join factors side by side; with a blank or a sign where letters would run together."""
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


# --------------------------------------------------------------------------------------------------
# Answers that are right if they are read otherwise: with other brackets, or another name.

FEW = 8


def other_brackets(prepared: PreparedProblem, trial: Trial, sample: Sample, others: list[Reading],
                   deadline: float) -> list[Explanation]:
    """Return the first other reading that is right.

    Those that the answer's spelling speaks for go first; of the rest one may be right by chance.

    others: the readings. deadline: of `time.thread_time`; raises TimeoutError after it.
    """
    from gradcli.homework.checking.judge import is_right
    from gradcli.lang.paper.ambiguous import doubt

    inputs = taken(trial.inputs, sample.columns[:FEW])
    right = sample.right[:, :FEW]
    found: list[Explanation] = []
    for other in others:
        if _may_be(prepared, other, inputs, right) and is_right(prepared, other, deadline):
            against = doubt(trial.answered.reading, other)
            level, rank = (SITE, BETWEEN) if against == "sum" or _around_a_sum(
                trial, other) else (WHOLE, -9.0)
            found.append(Explanation("missing_parentheses", level, rank, agree=prepared.size,
                                     sure=not against, detail={"piece": other.read_as}))
            if not against:
                break
    return found


def _around_a_sum(trial: Trial, other: Reading) -> bool:
    """Return whether the brackets make a factor of a whole sum, 2(a + b), which is rarely meant."""
    sums = ("add", "subtract")
    return trial.answered.reading.code[-1][1] in sums and other.code[-1][1] == "multiply"


def _may_be(prepared: PreparedProblem, other: Reading, inputs: dict[str, Any], right: Any) -> bool:
    """Return whether a reading is right, or nearly, at a few points; most are not."""
    try:
        answered = Answered(other, prepared.reference, prepared.problem)
        values = rows(evaluated(answered.formula, answered.nodes, inputs, {}), right.shape[1])
    except (GradcliError, KeyError):
        return False
    if len(values) != len(right):
        return False
    return bool((near(right, values, 1e-2) | ~np.isfinite(right) | ~np.isfinite(values)).all())


def other_names(prepared: PreparedProblem, trial: Trial) -> list[Explanation]:
    """Explain an answer that is right if letters unknown to the problem are its variables."""
    formula, nodes = trial.answered.formula, trial.answered.nodes
    for renamed in _renamed(prepared, trial.answered.unknown):
        values = Values(formula, {**trial.inputs, **{
            given: prepared.inputs[name] for given, name in renamed.items()}}, prepared.errors)
        side = Side(values, nodes, prepared.size)
        compared = Comparison(prepared.side, side, prepared.problem.rtol, prepared.zeros)
        agree = int(compared.agree.sum(axis=1).min())
        if not compared.disagree.any() and agree >= min(LEAST, prepared.size):
            given, name = next(iter(renamed.items()))
            return [Explanation("wrong_variable_name", WHOLE, -8.0, agree=agree, detail={
                "given": given, "wanted": name})]
    return []


def _renamed(prepared: PreparedProblem, unknown: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Yield assignments of one or two unknown names to variables of the problem."""
    names = [n for n in prepared.reference.variables if n not in prepared.problem.parameters]
    if len(unknown) == 1:
        for name in names:
            yield {unknown[0]: name}
    elif len(unknown) == 2:
        for name in names:
            for other in names:
                if other != name:
                    yield dict(zip(unknown, (name, other), strict=True))
