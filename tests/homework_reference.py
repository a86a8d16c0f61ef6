"""An independent judge of the pairs in tests/data/homework.

    python tests/homework_reference.py            verdicts and mistakes of all pairs, in full
    python tests/homework_reference.py --write    derive the right answers again (needs SymPy)

SymPy differentiates the functions (`--write`, into reference.json); mpmath evaluates both sides to
40 digits at random points of the natural domain; the wrong rule behind a mistake is applied to the
function as it is written (homework_expressions.py). Nothing of gradcli is used.
"""

from __future__ import annotations

import ast
import json
import random
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpf

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.homework_expressions import (
    Node,
    Number,
    Undefined,
    Wrong,
    choices,
    names,
    parse,
    tangent,
    value,
)

FOLDER = Path(__file__).parent / "data" / "homework"
EQUAL = mpf("1e-18")  # of 40 digits: what cancels keeps at least these
DIFFERENT = mpf("1e-8")  # nearer than this no wrong answer of the data is
Pair = dict[str, Any]
Point = dict[str, Number]

# Names that describe an answer without explaining it: never in `ok` beside one that does.
VAGUE = {"constant_factor", "constant_added", "rounded_constant", "right_on_part_of_domain",
         "evaluated_at_point", "one_row_wrong"}


def load() -> list[Pair]:
    lines = (FOLDER / "pairs.ndjson").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def problem_of(pair: Pair) -> str:
    """Pairs of one problem share their id up to the last letters."""
    return str(pair["id"]).rstrip("abcdefghijklmnopqrstuvwxyz")


def listed(value: Any) -> list[str]:
    """A list as it is, a text as a list of one."""
    return [value] if isinstance(value, str) else list(value)


def variables(pair: Pair, field: str = "wrt") -> list[str]:
    """Names from a list, or from a text with commas."""
    given = pair.get(field, [])
    return [n.strip() for n in given.split(",")] if isinstance(given, str) else list(given)


# ---- what SymPy derives ----------------------------------------------------------------------


def derive(pair: Pair) -> Any:
    """The right answer by SymPy, as a string, or nested lists of strings."""
    import importlib

    sympy = importlib.import_module("sympy")
    texts = pair["function_sympy"]
    letters = set().union(*(names(parse(t)) for t in listed(texts))) | set(variables(pair))
    known = {name: sympy.Symbol(name, real=True) for name in letters}
    functions = [sympy.sympify(t, locals=known) for t in listed(texts)]
    f, wrt, order = functions[0], [known[n] for n in variables(pair)], pair.get("order", 1)
    at = {known[n]: sympy.Rational(str(v)) if not isinstance(v, str) else sympy.sympify(v)
          for n, v in pair.get("at", {}).items() if n in known}
    answer: Any
    match pair["kind"]:
        case "derivative":
            answer = sympy.diff(f, wrt[0], order)
        case "value":
            answer = sympy.diff(f, wrt[0], order) if len(wrt) == 1 else [f.diff(v) for v in wrt]
        case "partial":
            answer = f.diff(wrt[0], order) if len(wrt) == 1 else f.diff(*wrt)
        case "gradient":
            answer = [f.diff(v) for v in wrt]
        case "jacobian":
            answer = [[g.diff(v) for v in wrt] for g in functions]
        case "hessian":
            answer = [[f.diff(v, w) for w in wrt] for v in wrt]
        case "directional":
            v = sympy.Matrix([sympy.Rational(str(c)) for c in pair["direction"]])
            answer = sum(f.diff(n) * c for n, c in zip(wrt, v, strict=True)) / v.norm()
        case "implicit":
            x, y = wrt[0], known[pair.get("dependent", "y")]
            answer = first = -f.diff(x) / f.diff(y)
            for _ in range(order - 1):
                answer = answer.diff(x) + answer.diff(y) * first
        case "parametric":
            x, answer = functions
            for _ in range(order):
                answer = answer.diff(wrt[0]) / x.diff(wrt[0])
        case "tangent":
            answer = f.subs(at) + sum(f.diff(n).subs(at) * (n - at[n]) for n in wrt)
        case _:
            raise ValueError(pair["kind"])

    def text(found: Any) -> Any:
        if isinstance(found, list):
            return [text(one) for one in found]
        return str(found.replace(sympy.DiracDelta, lambda *_: sympy.Integer(0)))

    return text(answer)


def write() -> None:
    right: dict[str, Any] = {}
    for pair in load():
        if problem_of(pair) not in right:
            right[problem_of(pair)] = derive(pair)
    body = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in right.items())
    (FOLDER / "reference.json").write_text("{\n" + body + "\n}\n", encoding="utf-8")


def right_answers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))
    return found


# ---- points ----------------------------------------------------------------------------------


def numbers(pair: Pair) -> Point:
    """What `at` fixes, in 40 digits."""
    return {n: value(parse(str(v)), {}) for n, v in pair.get("at", {}).items()}


def _sample(pair: Pair, name: str, r: random.Random, scale: float) -> Number:
    if name in pair.get("domain", {}):
        low, high = pair["domain"][name]
        return mpf(low) + (mpf(high) - mpf(low)) * mpf(r.random())
    if name in variables(pair, "parameters") or name in ("C", "c", "k"):
        return mpf(r.uniform(0.3, 3))
    kind = r.random()
    if kind < 5 / 8:
        return mpf(r.uniform(-3, 3)) * scale
    if kind < 7 / 8:
        return mpf(10) ** mpf(r.uniform(-2, 2)) * r.choice((-1, 1)) * scale
    return mpf(r.random()) * scale


def _letters(*trees: Any) -> set[str]:
    found: set[str] = set()
    for tree in trees:
        found |= _letters(*tree) if isinstance(tree, list) else names(tree)
    return found


def points(pair: Pair, trees: Any, need: int, seed: int = 0) -> Iterator[Point]:
    """Points at which the function has a value; those of the curve for an implicit problem."""
    fixed = numbers(pair) if pair["kind"] != "tangent" else {}
    functions = [parse(t) for t in listed(pair["function_sympy"])]
    letters = sorted(_letters(functions, trees) | set(variables(pair)))
    r = random.Random(f"{pair['id']} {seed}")
    given = 0
    for scale in (1.0, 10.0, 100.0, 1e3, 1e-3, 1.0):
        for _ in range(4 * need if scale != 1.0 else 8 * need):
            at = {n: fixed[n] if n in fixed else _sample(pair, n, r, scale) for n in letters}
            try:
                if pair["kind"] == "implicit":
                    _onto_curve(pair, functions[0], at)
                for f in functions:
                    value(f, at)
            except Undefined:
                continue
            given += 1
            yield at
            if given >= need or len(fixed) == len(letters):
                return
        if given >= 10:
            return


def _onto_curve(pair: Pair, f: Node, at: Point) -> None:
    """Newton's method in the dependent variable."""
    y = pair.get("dependent", "y")
    for _ in range(60):
        v, t = tangent(f, at, {y: mpf(1)})
        if t == 0 or abs(at[y]) > 10**6:
            raise Undefined
        step = v / t
        at[y] -= step
        if abs(step) <= abs(at[y]) * mpf("1e-38"):
            return
    raise Undefined


# ---- verdicts --------------------------------------------------------------------------------


def trees(text: Any) -> Any:
    return [trees(t) for t in text] if isinstance(text, list) else parse(text)


def flat(tree: Any) -> list[Node]:
    return [leaf for t in tree for leaf in flat(t)] if isinstance(tree, list) else [tree]


def shape(tree: Any) -> tuple[int, ...]:
    return (len(tree), *shape(tree[0])) if isinstance(tree, list) else ()


def near(a: Number, b: Number, within: Number = EQUAL) -> bool:
    return bool(abs(a - b) <= within * max(abs(a), abs(b)) + mpf("1e-34"))


def values(tree: Any, at: Point) -> list[Number]:
    return [value(leaf, at) for leaf in flat(tree)]


def verdict(pair: Pair, right: Any, need: int = 60) -> str:
    """What the pair deserves; `too near` where 40 digits see a difference that 16 may not."""
    if not pair["answer"].strip():
        return "blank"
    if pair["answer_sympy"] is None:
        return "unreadable" if pair["verdict"] == "unreadable" else "wrong"
    d, a = trees(right), trees(pair["answer_sympy"])
    if _typed_number(pair) and _letters(a) & set(pair["at"]):
        return "wrong"  # a formula, where its value was asked for
    agree = disagree = close = undefined = 0
    for at in points(pair, [d, a], need):
        try:
            expected = values(d, at)
        except Undefined:
            continue
        if any(abs(e) > mpf("1e290") for e in expected):
            continue
        if shape(a) != shape(d):
            return "wrong"
        try:
            got = values(a, at)
        except Undefined:
            undefined += 1
            continue
        if _typed_number(pair):
            agree, disagree = (1, 0) if _tolerated(pair, expected, got) else (0, 1)
        elif all(near(e, g) for e, g in zip(expected, got, strict=True)):
            agree += 1
        elif all(near(e, g, DIFFERENT) for e, g in zip(expected, got, strict=True)):
            close += 1
        else:
            disagree += 1
    usable = agree + disagree + close + undefined
    if not usable:
        return "undecided"
    if disagree > 1 or (disagree and usable == 1) or undefined == usable:
        return "wrong"
    if close or disagree:
        return "too near"
    return "domain" if undefined > 0.02 * usable else "correct"


def _typed_number(pair: Pair) -> bool:
    return bool(pair["kind"] == "value" or (pair["kind"] != "tangent" and pair.get("at")))


def _tolerated(pair: Pair, expected: list[Number], got: list[Number]) -> bool:
    """Rounded numbers: to the tolerance, or correctly rounded to at least three digits."""
    tolerance = pair.get("tolerance")
    for e, g, leaf in zip(expected, got, flat(trees(pair["answer_sympy"])), strict=True):
        allowed = mpf(0)
        if isinstance(tolerance, str) and tolerance.endswith("%"):
            allowed = mpf(tolerance[:-1]) / 100 * abs(e)
        elif isinstance(tolerance, int | float):
            allowed = mpf(tolerance) * max(1, abs(e))
        else:
            text = ast.unparse(leaf).lstrip("-")
            if "." in text and text.replace(".", "").isdecimal():
                digits = text.replace(".", "").lstrip("0")
                if len(digits) >= 3:
                    allowed = mpf("0.5") * mpf(10) ** -len(text.partition(".")[2])
        if abs(e - g) > allowed and not near(e, g):
            return False
    return True


# ---- mistakes --------------------------------------------------------------------------------


class Answers:
    """The answer, and what else was computed, at a few points where all of it is defined."""

    def __init__(self, pair: Pair, right: Any, need: int = 24) -> None:
        self.pair, self.right, self.answer = pair, trees(right), trees(pair["answer_sympy"])
        self.at: list[Point] = []
        self.d: list[list[Number]] = []
        self.a: list[list[Number]] = []
        for at in points(pair, [self.right, self.answer], need, seed=1):
            try:
                d, a = values(self.right, at), values(self.answer, at)
            except Undefined:
                continue
            if all(abs(v) < mpf("1e200") for v in d + a):
                self.at.append(at)
                self.d.append(d)
                self.a.append(a)

    def equals(self, formula: Any, entry: int = 0) -> bool:
        """Whether formula(at) is the answer wherever it is defined, and not the right answer."""
        met = 0
        different = False
        for at, d, a in zip(self.at, self.d, self.a, strict=True):
            try:
                found = formula(at)
            except (Undefined, ZeroDivisionError, ValueError, KeyError):
                continue
            if not mp.isfinite(found) or isinstance(found, mp.mpc):
                continue
            if not near(found, a[entry]):
                return False
            met += 1
            if entry < len(d):
                different = different or not near(d[entry], a[entry], DIFFERENT)
        return met >= min(4, len(self.at)) and met > 0 and different


def sites(f: Node, at: Point, wrt: Mapping[str, Number]) -> Iterator[tuple[str, list[Wrong]]]:
    """(name, wrong tangents at one node, or at all nodes that have it)."""
    everywhere: dict[str, Wrong] = {}
    for node in ast.walk(f):
        if not isinstance(node, ast.expr) or isinstance(node, ast.Name | ast.Constant):
            continue
        try:
            found = choices(node, at, wrt)
        except Undefined:
            continue
        for choice in found:
            yield choice.partition("/")[0], [{id(node): choice}]
            everywhere.setdefault(choice, {})[id(node)] = choice
    for choice, wrong in everywhere.items():
        if len(wrong) > 1:
            yield choice.partition("/")[0], [wrong]


def by_rules(answers: Answers, f: Node, wrt: Mapping[str, Number], entry: int = 0,
             finish: Any = None) -> set[str]:
    """Names of the wrong rules whose tangent of `f` is the answer.

    finish: what becomes of the tangent t at a point (t, at), if it is not the answer itself.
    """
    finish = finish or (lambda t, at: t)
    found: set[str] = set()
    for name, (wrong,) in _sites_anywhere(answers, f, wrt):
        if name not in found and answers.equals(
                lambda at, wrong=wrong: finish(tangent(f, at, wrt, wrong)[1], at), entry):
            found.add(name)
    return found


def _sites_anywhere(answers: Answers, f: Node, wrt: Mapping[str, Number]
                    ) -> list[tuple[str, list[Wrong]]]:
    for at in answers.at:
        return list(sites(f, at, wrt))
    return []


def by_pairs(answers: Answers, f: Node, wrt: Mapping[str, Number], wanted: set[str]) -> bool:
    """Whether two wrong rules of these names, at two nodes, give the answer."""
    single = [(n, w[0]) for n, w in _sites_anywhere(answers, f, wrt)
              if n in wanted]
    for (one, first), (other, second) in combinations(single, 2):
        if {one, other} == wanted and first.keys().isdisjoint(second) and answers.equals(
                lambda at, both={**first, **second}: tangent(f, at, wrt, both)[1]):
            return True
    return False


def scalar_function(pair: Pair) -> Node | None:
    """The formula whose first derivative is asked for, if there is one."""
    if "previous_sympy" in pair:
        return parse(pair["previous_sympy"])
    if pair["kind"] in ("derivative", "value", "partial") and pair.get("order", 1) == 1 \
            and len(variables(pair)) == 1:
        return parse(pair["function_sympy"])
    return None


def fitting(pair: Pair, right: Any) -> set[str]:
    """All names of the catalogue that describe the answer of this pair."""
    answer, wrt = pair["answer_sympy"], variables(pair)
    found: set[str] = set()
    answers = Answers(pair, right)
    d = trees(right)
    if shape(answers.answer) != shape(d):
        return found | _shapes(pair, answers, d)
    if not answers.at:
        return found | ({"undefined_answer"} if answer is not None else set())
    if all(v == 0 for a in answers.a for v in a):
        return {"answer_zero"}
    one = {wrt[-1]: mpf(1)}
    f = scalar_function(pair)
    if f is not None:
        found |= by_rules(answers, f, one)
        if pair.get("second"):
            if by_pairs(answers, f, one, {pair["mistake"], pair["second"]}):
                found |= {pair["mistake"], pair["second"]}
    if not shape(d):
        found |= _whole(pair, answers, d)
    for test in (_shapes, _directional, _implicit, _parametric, _tangent_line, _numbers):
        found |= test(pair, answers, d)
    return found


def _whole(pair: Pair, answers: Answers, d: Node) -> set[str]:
    """B2: the answer as a whole."""
    found: set[str] = set()
    wrt, kind = variables(pair), pair["kind"]
    a = answers.answer
    x = wrt[0]
    one = mpf(1)
    equals = answers.equals
    f = parse(listed(pair["function_sympy"])[0])
    if equals(lambda at: -value(d, at)):
        found.add("sign_error")
    if equals(lambda at: 1 / value(d, at)):
        found.add("reciprocal_of_derivative")
    if kind in ("derivative", "partial", "value"):
        if equals(lambda at: value(f, at)):
            found.add("answered_original")
        if x in _letters(a) and all(
                near(tangent(a, at, {x: one})[1], value(f, at)) for at in answers.at):
            found.add("integrated")
        orders = {1, 2, 3, 4} - {pair.get("order", 1)}
        if len(wrt) == 1 and any(equals(lambda at, k=k: _nth(f, at, x, k)) for k in orders):
            found.add("wrong_order")
        others = names(f) - set(wrt) - set(variables(pair, "parameters"))
        if any(equals(lambda at, v=v: tangent(f, at, {v: one})[1])
               for v in names(f) - set(wrt)):
            found.add("wrong_variable")
        if others and equals(lambda at: tangent(f, at, dict.fromkeys([x, *others], one))[1]):
            found.add("other_variable_not_constant")
        if any(near(value(d, {**at, **{v: one for v in others}}), g[0])
               for at, g in zip(answers.at, answers.a, strict=True)) and others and equals(
                lambda at: value(d, {**at, **dict.fromkeys(others, one)})):
            found.add("other_variable_dropped")
    if not _letters(a) and _letters(d):
        if any(equals(lambda at, p=p: value(d, {**at, x: mpf(p)})) for p in range(-3, 4)):
            found.add("evaluated_at_point")
    unknown = _letters(a) - _letters(d) - names(f) - set(wrt)
    for letter in unknown:
        if all(near(value(a, {**at, letter: at[x]}), v[0])
               for at, v in zip(answers.at, answers.d, strict=True)):
            found.add("wrong_variable_name")
    for variant in pair.get("variants_sympy", []):
        if equals(lambda at, v=parse(variant): tangent(v, at, {x: one})[1]):
            found.add("misread_function")
    if "meant_sympy" in pair and all(
            near(value(parse(pair["meant_sympy"]), at), v[0])
            for at, v in zip(answers.at, answers.d, strict=True)):
        found.add("missing_parentheses")
    return found | _ratios(answers, unknown)


def _ratios(answers: Answers, unknown: set[str]) -> set[str]:
    found: set[str] = set()
    both = [(d[0], a[0]) for d, a in zip(answers.d, answers.a, strict=True) if d[0]]
    if not both:
        return found
    ratios = [a / d for d, a in both]
    if all(near(q, ratios[0]) for q in ratios) and not near(ratios[0], mpf(1)):
        found.add("constant_factor")
    if 0 < max(abs(q - 1) for q in ratios) <= mpf("0.02"):
        found.add("rounded_constant")
    gaps = [a - d - sum(at[n] for n in unknown & {"C", "c", "k"})
            for d, a, at in zip((d[0] for d in answers.d), (a[0] for a in answers.a),
                                answers.at, strict=True)]
    if all(near(g, gaps[0], mpf("1e-15")) for g in gaps):
        found.add("constant_added")
    equal = sum(near(q, mpf(1)) for q in ratios)
    if 0.15 * len(ratios) <= equal <= 0.98 * len(ratios):
        found.add("right_on_part_of_domain")
    return found


def _nth(f: Node, at: Point, x: str, k: int) -> Number:
    def along(z: Number) -> Number:
        return value(f, {**at, x: z})

    with mpmath.workdps(120):
        return mp.diff(along, at[x], k, h=mpf("1e-22"))


def _shapes(pair: Pair, answers: Answers, d: Any) -> set[str]:
    """B4: vectors and matrices, as a whole and entry by entry."""
    found: set[str] = set()
    if not shape(d):
        return found
    wanted, got = shape(d), shape(answers.answer)
    a, right = flat(answers.answer), flat(d)
    kind, wrt = pair["kind"], variables(pair)
    at = answers.at or [p for p in points(pair, [d, answers.answer], 12)]

    def same(mine: list[Node], theirs: list[Node]) -> bool:
        return len(mine) == len(theirs) and all(
            near(value(m, p), value(t, p)) for p in at[:12]
            for m, t in zip(mine, theirs, strict=True))

    if len(wanted) == 2:
        rows, columns = wanted
        turned = [right[i * columns + j] for j in range(columns) for i in range(rows)]
        if same(a, turned) and got == (columns, rows):
            found.add("transposed")
        if kind == "hessian" and got == wanted:
            off = [i for i in range(len(right)) if i // columns != i % columns]
            if all(near(value(a[i], p), mpf(0)) for i in off for p in at) and same(
                    [a[i] for i in range(len(a)) if i not in off],
                    [right[i] for i in range(len(a)) if i not in off]):
                found.add("mixed_partials_missing")
        if got == wanted:
            bad = {i // columns for i in range(len(a)) if not same([a[i]], [right[i]])}
            if len(bad) == 1 and rows > 1:
                found.add("one_row_wrong")
    if len(wanted) == 1:
        if got == wanted and not same(a, right) and any(
                same(a, list(p)) for p in permutations(right)):
            found.add("components_swapped")
        if got == () and all(
                near(value(a[0], p), sum(value(t, p) for t in right)) for p in at[:12]):
            found.add("components_summed")
        if len(a) < len(right) and any(same(a, list(c)) for c in combinations(right, len(a))):
            found.add("components_missing")
    if got == wanted and kind in ("gradient", "jacobian", "value"):
        functions = [parse(t) for t in listed(pair["function_sympy"])]
        common: set[str] | None = None
        for i in range(len(a)):
            if same([a[i]], [right[i]]):
                continue
            f, v = functions[i // len(wrt)], wrt[i % len(wrt)]
            fits = by_rules(answers, f, {v: mpf(1)}, i)
            if answers.equals(lambda p, i=i: -value(right[i], p), i):
                fits.add("sign_error")
            others = names(f) - {v}
            for o in others:
                if answers.equals(lambda p, f=f, o=o: tangent(f, p, {o: mpf(1)})[1], i):
                    fits.add("wrong_variable")
            if answers.equals(lambda p, i=i, others=others: value(
                    right[i], {**p, **dict.fromkeys(others, mpf(1))}), i):
                fits.add("other_variable_dropped")
            if answers.equals(lambda p, f=f, v=v, others=others: tangent(
                    f, p, dict.fromkeys([v, *others], mpf(1)))[1], i):
                fits.add("other_variable_not_constant")
            common = fits if common is None else common & fits
        found |= common or set()
    return found


def _directional(pair: Pair, answers: Answers, d: Any) -> set[str]:
    if pair["kind"] != "directional":
        return set()
    f, wrt = parse(pair["function_sympy"]), variables(pair)
    v = [mpf(str(c)) for c in pair["direction"]]
    size = mp.sqrt(sum(c * c for c in v))
    seeds = dict(zip(wrt, v, strict=True))
    found = set()
    if answers.equals(lambda at: tangent(f, at, seeds)[1]):
        found.add("direction_not_normalised")
    if answers.equals(lambda at: sum(tangent(f, at, {n: mpf(1)})[1] for n in wrt)):
        found.add("components_summed")
    unit = {n: c / size for n, c in seeds.items()}
    return found | by_rules(answers, f, unit)


def _implicit(pair: Pair, answers: Answers, d: Any) -> set[str]:
    if pair["kind"] != "implicit" or pair.get("order", 1) != 1:
        return set()
    f, x, y = parse(pair["function_sympy"]), variables(pair)[0], pair.get("dependent", "y")
    found: set[str] = set()

    def fx(at: Point) -> Number:
        return tangent(f, at, {x: mpf(1)})[1]

    def fy(at: Point) -> Number:
        return tangent(f, at, {y: mpf(1)})[1]

    equals = answers.equals
    if equals(lambda at: fy(at) / fx(at)) or equals(lambda at: -fy(at) / fx(at)):
        found.add("implicit_inverted")
    if equals(lambda at: fx(at) / fy(at)):
        found.add("implicit_sign")
    if equals(lambda at: fx(at) + fy(at)) or equals(lambda at: -fx(at) - fy(at)):
        found.add("implicit_missing_dydx")
    # Under a wrong rule the student solves "tangent of F along (1, dy/dx) is 0".
    def vanishes(wrong: Wrong) -> bool:
        met = 0
        for at, a in zip(answers.at, answers.a, strict=True):
            try:
                t = tangent(f, at, {x: mpf(1), y: a[0]}, wrong)[1]
            except Undefined:
                continue
            if not near(1 + t, mpf(1)):
                return False
            met += 1
        return met >= 4

    for at in answers.at[:1]:
        for name, (wrong,) in sites(f, at, {x: mpf(1), y: answers.a[0][0]}):
            if name not in found and vanishes(wrong):
                found.add(name)
    return found


def _parametric(pair: Pair, answers: Answers, d: Any) -> set[str]:
    if pair["kind"] != "parametric" or pair.get("order", 1) != 1:
        return set()
    x, y = [parse(t) for t in pair["function_sympy"]]
    one = {variables(pair)[0]: mpf(1)}
    return by_rules(answers, y, one, finish=lambda t, at: t / tangent(x, at, one)[1]) | by_rules(
        answers, x, one, finish=lambda t, at: tangent(y, at, one)[1] / t)


def _tangent_line(pair: Pair, answers: Answers, d: Any) -> set[str]:
    if pair["kind"] != "tangent":
        return set()
    f, wrt, here = parse(pair["function_sympy"]), variables(pair), numbers(pair)
    found: set[str] = set()
    if answers.equals(lambda at: value(f, here) + sum(
            tangent(f, at, {n: mpf(1)})[1] * (at[n] - here[n]) for n in wrt)):
        found.add("slope_not_evaluated")
    if len(wrt) == 1:
        x = wrt[0]
        for name, (wrong,) in sites(f, here, {x: mpf(1)}):
            try:
                steep = tangent(f, here, {x: mpf(1)}, wrong)[1]
            except Undefined:
                continue
            if answers.equals(lambda at, s=steep: value(f, here) + s * (at[x] - here[x])):
                found.add(name)
        for p in _other_places(here[x]):
            try:
                steep = tangent(f, {x: p}, {x: mpf(1)})[1]
            except Undefined:
                continue
            if answers.equals(lambda at, s=steep: value(f, here) + s * (at[x] - here[x])):
                found.add("evaluated_at_wrong_point")
    return found


def _other_places(p: Number) -> list[Number]:
    return [q for q in (-p, mpf(0), mpf(1), p + 1, p - 1) if q != p]


def _numbers(pair: Pair, answers: Answers, d: Any) -> set[str]:
    """B4: numbers, typed or rounded, so that they are compared to the digits of the answer."""
    if (not _typed_number(pair) or pair["kind"] not in ("value", "derivative", "partial")
            or shape(d) or _letters(answers.answer)):
        return set()
    f, here = parse(pair["function_sympy"]), numbers(pair)
    wrt = variables(pair)
    x, got = wrt[0], answers.a[0][0]
    one = mpf(1)

    def hit(formula: Any) -> bool:
        try:
            return near(formula(), got, mpf("2e-3"))
        except (Undefined, ZeroDivisionError):
            return False

    found: set[str] = set()
    places = [{**here, x: p} for p in _other_places(here[x]) if p in (-here[x], 0, 1)]
    if len(here) > 1:
        places += [dict(zip(here, p, strict=True)) for p in permutations(here.values())][1:]
    if any(hit(lambda p=p: value(d, p)) for p in places) or hit(lambda: value(f, here)) \
            or hit(lambda: _nth(f, here, x, 2)) \
            or hit(lambda: value(f, {**here, x: here[x] + 1}) - value(f, here)):
        found.add("evaluated_at_wrong_point")
    if hit(lambda: value(d, here, degrees=True)) \
            or hit(lambda: value(d, here, degrees=True) * mp.pi / 180):
        found.add("degree_mode")
    if hit(lambda: value(f, here)):
        found.add("answered_original")
    if hit(lambda: -value(d, here)):
        found.add("sign_error")
    for name, (wrong,) in sites(f, here, {x: one}):
        if hit(lambda wrong=wrong: tangent(f, here, {x: one}, wrong)[1]):
            found.add(name)
    if 0 < abs(got / value(d, here) - 1) <= mpf("0.02"):
        found.add("rounded_constant")
    return found


def unverifiable(pair: Pair) -> bool:
    """The answer says of itself what is wrong with it: there is no formula to compare."""
    return pair["mistake"] in ("not_a_number", "not_a_formula")


def problems(pair: Pair, right: Any, need: int = 60) -> list[str]:
    """What is wrong with the pair itself; empty if it says the truth."""
    found = []
    got = verdict(pair, right, need)
    if got != pair["verdict"]:
        found.append(f"{pair['id']}: verdict {pair['verdict']}, found {got}")
    if pair["mistake"] is not None and not unverifiable(pair):
        fits = fitting(pair, right)
        for name in [pair["mistake"], *pair["ok"]]:
            if name not in fits:
                found.append(f"{pair['id']}: {name} does not give {pair['answer']!r}: {sorted(fits)}")
    return found


def main() -> int:
    mp.dps = 40
    if "--write" in sys.argv:
        write()
    right = right_answers()
    found = [p for pair in load() for p in problems(pair, right[problem_of(pair)])]
    print("\n".join(found) or f"{len(load())} pairs verified")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
