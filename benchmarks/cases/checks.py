"""Derivative homework: is an answer right? From two texts to a verdict, in a process that is warm.

gradcli compares at 512 points, with rounding bounds, and says what is wrong with a wrong answer;
the others compare at 8 points in (0, 1), to 1e-8. autograd takes what Python compiles; sympy reads
products without a sign as gradcli does; maxima is one process that is asked through pipes, for all
answers at once. Once each answer has a problem of its own, and once a class of 200 answers the same
one: what they share is then done once, and part of what is timed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.cases.answers import CLASS, FUNCTIONS, PAIRS, spelled_out
from benchmarks.harness.case import CHECKOUT, Case, Ratio, Side, Worker

POINTS = [0.13, 0.21, 0.34, 0.42, 0.55, 0.63, 0.76, 0.87]
STUDENTS = 200

Pairs = Sequence[tuple[str, str]]
Verdicts = list[float]   # 1 for right
# From pairs, and whether they share their function, to the action that judges all.
Judge = Callable[[Pairs, bool], Callable[[], Verdicts]]

RIGHT = [(function, answer) for function, answer, _, _ in PAIRS]
WRONG = [(function, answer) for function, _, answer, _ in PAIRS]
SHARED = [(CLASS[0], CLASS[1][k % len(CLASS[1])]) for k in range(STUDENTS)]


def gradcli(pairs: Pairs, shared: bool) -> Callable[[], Verdicts]:
    from gradcli.homework.check import check, prepare
    from gradcli.homework.checking.fields import from_fields

    def prepared(function: str) -> Any:
        return prepare(from_fields({"function": function, "wrt": "x"}))

    def each() -> Verdicts:
        return [float(check(prepared(function), answer)["verdict"] == "correct")
                for function, answer in pairs]

    def together() -> Verdicts:
        problem = prepared(pairs[0][0])
        return [float(check(problem, answer)["verdict"] == "correct") for _, answer in pairs]

    return together if shared else each


def autograd(pairs: Pairs, shared: bool) -> Callable[[], Verdicts]:
    import math

    import autograd.numpy as anp
    from autograd import elementwise_grad

    where = anp.array(POINTS)
    names = {name: getattr(anp, PYTHON.get(name, name)) for name in FUNCTIONS}
    names["e"] = math.e
    spelled = [(spelled_out(function), spelled_out(answer)) for function, answer in pairs]

    def function_of(text: str) -> Any:
        return eval(compile(f"lambda x: {text}", "<typed>", "eval"), names)

    def verdict(slopes: Any, answer: str) -> float:
        return float((abs(slopes - function_of(answer)(where)) <= 1e-8*abs(slopes)).all())

    def each() -> Verdicts:
        return [verdict(elementwise_grad(function_of(function))(where), answer)
                for function, answer in spelled]

    def together() -> Verdicts:
        slopes = elementwise_grad(function_of(spelled[0][0]))(where)
        return [verdict(slopes, answer) for _, answer in spelled]

    return together if shared else each


PYTHON = {"ln": "log", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def sympy(pairs: Pairs, shared: bool) -> Callable[[], Verdicts]:
    """With `lambdify`: for what sympy has not seen yet, `subs` and `evalf` at 8 points take longer.
    From the second turn on it has seen all of this, which spares it half of the work.
    """
    from sympy import E, Symbol, lambdify
    from sympy.parsing import sympy_parser as p

    rules = (*p.standard_transformations, p.convert_xor, p.implicit_multiplication)
    names, x = {"e": E}, Symbol("x")

    def read(text: str) -> Any:
        return p.parse_expr(text, names, rules)

    def each() -> Verdicts:
        return [float(all(near(*both(at)) for at in POINTS))
                for both in (lambdify(x, (read(function).diff(x), read(answer)), "math")
                             for function, answer in pairs)]

    def together() -> Verdicts:
        slopes = list(map(lambdify(x, read(pairs[0][0]).diff(x), "math"), POINTS))
        return [float(all(map(near, slopes, map(lambdify(x, read(answer), "math"), POINTS))))
                for _, answer in pairs]

    return together if shared else each


def near(slope: float, value: float) -> bool:
    return abs(slope - value) <= 1e-8*abs(slope)


MAXIMA = """
display2d: false$
points: {points}$
verdict(d, a) := block([good: 1], d: float(d), a: float(a),
    for p in points do block([s: subst(p, x, d)],
        if abs(s - subst(p, x, a)) > 1e-8*abs(s) then good: 0), print(good))$
kept(a) := block([good: 1], a: float(a),
    for k thru 8 do
        if abs(d[k] - subst(points[k], x, a)) > 1e-8*abs(d[k]) then good: 0, print(good))$
"""


def maxima(pairs: Pairs, shared: bool) -> Callable[[], Verdicts]:
    def spelled(text: str) -> str:
        return spelled_out(text, "^").replace("ln(", "log(").replace("e^", "%e^")

    if shared:
        lines = [f"d: makelist(subst(p, x, float(diff({spelled(pairs[0][0])}, x))), p, points)$\n"]
        lines += [f"kept({spelled(answer)})$\n" for _, answer in pairs]
    else:
        lines = [f"verdict(diff({spelled(function)}, x), {spelled(answer)})$\n"
                 for function, answer in pairs]
    process = subprocess.Popen(["maxima", "--very-quiet"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    process.stdin.write(MAXIMA.format(points=POINTS))  # type: ignore[union-attr]

    def action() -> Verdicts:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(lines))
        process.stdin.flush()
        found: Verdicts = []
        while len(found) < len(pairs):
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("maxima ended")
            if line.strip():
                found.append(float(line))
        return found

    return action


def sides(pairs: Pairs, shared: bool = False) -> list[Side]:
    def worker(name: str, needs: str, judge: Judge, kept: bool = shared) -> Worker:
        return Worker(name, needs, lambda: judge(pairs, kept))

    found: list[Side] = [worker("gradcli", CHECKOUT, gradcli)]
    for name, judge in (("autograd", autograd), ("maxima", maxima), ("sympy", sympy)):
        found.append(worker(name, name, judge, False))
        if shared:
            found.append(worker(f"{name}, derivative kept", name, judge))
    return found


CASES = [
    Case("check", "one answer to one problem, from texts to a verdict (512 points, others 8)",
         sides(RIGHT), [
             Ratio("gradcli", "autograd", 2.5), Ratio("gradcli", "maxima", 0.6),
             Ratio("gradcli", "sympy", 0.12)], per=len(RIGHT)),
    Case("check-class", "one of 200 answers to the same problem", sides(SHARED, True), [
        Ratio("gradcli", "autograd", 1), Ratio("gradcli", "maxima", 0.3),
        Ratio("gradcli", "sympy", 0.05), Ratio("gradcli", "autograd, derivative kept"),
        Ratio("gradcli", "maxima, derivative kept"), Ratio("gradcli", "sympy, derivative kept"),
    ], per=STUDENTS),
    Case("check-wrong", "one wrong answer to one problem (gradcli names the mistake, too)",
         sides(WRONG), [
             Ratio("gradcli", "autograd"), Ratio("gradcli", "maxima"), Ratio("gradcli", "sympy")],
         per=len(WRONG)),
]
