"""Which mistakes of the catalogue describe a wrong answer: by wrong rules, in 40 digits.

For the families of mistakes see tests/data/homework/README.md.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, permutations
from typing import Any

import mpmath  # type: ignore[import-untyped]
from homework_expressions import (
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
from homework_reference import (
    DIFFERENT,
    Pair,
    Point,
    flat,
    letters_of,
    listed,
    near,
    numbers,
    points,
    shape,
    trees,
    values,
    variables,
    verdict,
    wants_number,
)
from mpmath import mp, mpf


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


def sites(f: Node, at: Point, wrt: Mapping[str, Number]) -> Iterator[tuple[str, Wrong]]:
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
            yield choice.partition("/")[0], {id(node): choice}
            everywhere.setdefault(choice, {})[id(node)] = choice
    for choice, wrong in everywhere.items():
        if len(wrong) > 1:
            yield choice.partition("/")[0], wrong


def by_rules(answers: Answers, f: Node, wrt: Mapping[str, Number], entry: int = 0,
             finish: Callable[[Number, Point], Number] | None = None) -> set[str]:
    """Names of the wrong rules whose tangent of `f` is the answer.

    finish: what becomes of the tangent t at a point (t, at), if it is not the answer itself.
    """
    found: set[str] = set()
    for name, wrong in sites(f, answers.at[0], wrt):
        def made(at: Point, wrong: Wrong = wrong) -> Number:
            t = tangent(f, at, wrt, wrong)[1]
            return finish(t, at) if finish else t

        if name not in found and answers.equals(made, entry):
            found.add(name)
    return found


def by_pairs(answers: Answers, f: Node, wrt: Mapping[str, Number], wanted: set[str]) -> bool:
    """Whether two wrong rules of these names, at two nodes, give the answer."""
    single = [(n, w) for n, w in sites(f, answers.at[0], wrt) if n in wanted]
    for (one, first), (other, second) in combinations(single, 2):
        both = {**first, **second}
        if {one, other} == wanted and len(both) == len(first) + len(second) and answers.equals(
                lambda at, both=both: tangent(f, at, wrt, both)[1]):
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


def fitting(pair: Pair, right: Any, need: int = 24) -> set[str]:
    """All names of the catalogue that describe the answer of this pair."""
    answer, wrt = pair["answer_sympy"], variables(pair)
    found: set[str] = set()
    answers = Answers(pair, right, need)
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
    for test in (_shapes, _directional, _implicit, _parametric, _tangent_line, _at_points):
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
        if x in letters_of(a) and all(
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
        if any(near(value(d, {**at, **dict.fromkeys(others, one)}), g[0])
               for at, g in zip(answers.at, answers.a, strict=True)) and others and equals(
                lambda at: value(d, {**at, **dict.fromkeys(others, one)})):
            found.add("other_variable_dropped")
    if not letters_of(a) and letters_of(d):
        if any(equals(lambda at, p=p: value(d, {**at, x: mpf(p)})) for p in range(-3, 4)):
            found.add("evaluated_at_point")
    unknown = letters_of(a) - letters_of(d) - names(f) - set(wrt)
    for letter in unknown:
        if all(near(value(a, {**at, letter: at[x]}), v[0])
               for at, v in zip(answers.at, answers.d, strict=True)):
            found.add("wrong_variable_name")
    for variant in map(parse, pair.get("variants_sympy", [])):
        if equals(lambda at, v=variant: tangent(v, at, {x: one})[1]):
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
    k = ratios[0]
    if all(near(q, k) for q in ratios) and not near(k, mpf(1)):
        found.add("constant_factor")
        if any(near(k, c) or near(1 / k, c) for c in _literals(answers.pair)):
            found.add("constant_factor_dropped")
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


def _literals(pair: Pair) -> list[Number]:
    return [mpf(str(n.value)) for text in listed(pair["function_sympy"])
            for n in ast.walk(parse(text)) if isinstance(n, ast.Constant)]


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
    at = answers.at or list(points(pair, [d, answers.answer], 12))

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
            if len(a) <= 4 and not same(a, right) and any(
                    same(a, list(p)) for p in permutations(right)):
                found.add("components_swapped")
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
        for name, wrong in sites(f, at, {x: mpf(1), y: answers.a[0][0]}):
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
        for name, wrong in sites(f, here, {x: mpf(1)}):
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


def _at_points(pair: Pair, answers: Answers, d: Any) -> set[str]:
    """B4: numbers, typed or rounded, so that they are compared to the digits of the answer."""
    if (not wants_number(pair) or pair["kind"] not in ("value", "derivative", "partial")
            or shape(d) or letters_of(answers.answer)):
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
    if any(hit(lambda k=k: _nth(f, here, x, k)) for k in (2, 3, 4)):
        found.add("wrong_order")
    if hit(lambda: -value(d, here)):
        found.add("sign_error")
    for name, wrong in sites(f, here, {x: one}):
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
        fits = fitting(pair, right, min(need, 24))
        for name in [pair["mistake"], *pair["ok"]]:
            if name not in fits:
                found.append(f"{pair['id']}: {name} does not give {pair['answer']!r}, but"
                             f" {', '.join(sorted(fits)) or 'nothing'} does")
    return found
