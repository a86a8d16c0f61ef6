"""An independent judge of the pairs in tests/data/homework.

    python tests/tools/homework_reference.py            verdicts and mistakes of all pairs, in full;
                                                        if all are true, into verified.json
    python tests/tools/homework_reference.py --write    derive the right answers again (needs SymPy)

SymPy differentiates the functions (`--write`, into reference.json); mpmath evaluates both sides to
40 digits at random points of the natural domain; the wrong rule behind a mistake is applied to the
function as it is written (homework_expressions.py). Nothing of gradcli is used.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from folders import DATA
from homework_expressions import Node, Number, Undefined, names, parse, tangent, value
from mpmath import mp, mpf  # type: ignore[import-untyped]

FOLDER = DATA / "homework"
VERIFIED = FOLDER / "verified.json"
DIGITS = 40
EQUAL = mpf("1e-18")  # of 40 digits: what cancels keeps at least these
DIFFERENT = mpf("1e-8")  # nearer than this no wrong answer of the data is
Pair = dict[str, Any]
Point = dict[str, Number]


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


def letters_of(*trees: Any) -> set[str]:
    found: set[str] = set()
    for tree in trees:
        found |= letters_of(*tree) if isinstance(tree, list) else names(tree)
    return found


def points(pair: Pair, trees: Any, need: int, seed: int = 0) -> Iterator[Point]:
    """Points at which the function has a value; those of the curve for an implicit problem."""
    fixed = numbers(pair) if pair["kind"] != "tangent" else {}
    functions = [parse(t) for t in listed(pair["function_sympy"])]
    letters = sorted(letters_of(functions, trees) | set(variables(pair)))
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
    if wants_number(pair) and letters_of(a) & set(pair["at"]):
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
        if wants_number(pair):
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


def wants_number(pair: Pair) -> bool:
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


def theme_of(pair: Pair) -> str:
    return str(pair["id"]).partition("-")[0]


def digests() -> dict[str, str]:
    """What a verification of each theme has seen: its pairs, their right answers, and the judge."""
    right = right_answers()
    judge = b"".join([Path(__file__).with_name(f"homework_{part}.py").read_bytes()
                      for part in ("reference", "mistakes", "expressions")])
    found: dict[str, Any] = {}
    for pair in load():
        seen = found.setdefault(theme_of(pair), hashlib.sha256(judge))
        seen.update(json.dumps([pair, right[problem_of(pair)]]).encode())
    return {theme: seen.hexdigest()[:16] for theme, seen in found.items()}


def main() -> int:
    mp.dps = DIGITS
    if "--write" in sys.argv:
        write()
    from homework_mistakes import problems

    right = right_answers()
    found = [p for pair in load() for p in problems(pair, right[problem_of(pair)])]
    if not found:
        VERIFIED.write_text(json.dumps(digests(), indent=0) + "\n", encoding="utf-8")
    print("\n".join(found) or f"{len(load())} pairs verified")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
