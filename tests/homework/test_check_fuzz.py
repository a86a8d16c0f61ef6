"""Whatever is typed as an answer, the answer to it is a verdict: never an exception, none late.

    PYTHONPATH=.:tests/tools python tests/homework/test_check_fuzz.py --count 100000 [--seed N]

is the long run, with its worst times.

Answers are those of tests/data/homework, changed in a few places or given to another problem,
formulas made at random, and noise, against 50 problems of all kinds. The suite runs a share of
them, from fixed seeds; an alarm guards each, and no time is asserted.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from alarms import alarm
from draws import drawn
from folders import DATA
from programs import Draw, Form, Grammar

from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.checking.prepared import PreparedProblem

PAIRS = DATA / "homework" / "pairs.ndjson"
FIELDS = ("kind", "function", "wrt", "at", "order", "dependent", "direction", "parameters",
          "tolerance", "domain", "log", "variants")
PROBLEMS = 50
COUNT, SHARES = 3200, 4
SECONDS = 20        # ten times what an answer may take on a machine that does nothing else
VERDICTS = {"correct", "wrong", "domain", "undecided", "unreadable", "blank"}
KEYS = {"verdict", "mistake", "also", "confidence", "message", "read_as", "alternatives", "witness",
        "points", "score", "fingerprint", "hint", "ms"}

SIGNS = "+-*/^()[]{}<>|,;=.'!_ 0123456789xyteaCsincoslntaqrp√∛²³⁻¹·×−÷π θ∞≤½$\\\"\t\n\0х\u202e😀"
WORDS = (
    *"x y t 2 3 0.5 1e300 1e-300 e pi C sin cos tan ln log log_2 exp sqrt abs asin atan".split(),
    *"sin^2 sin^-1 arctan sec ( ) ( ) [ ] < > | | + - * / ^ ^ , ; = x² √ i j k ** ''".split(),
    *"}{ } \\frac{ \\sqrt{ \\left( \\right) max( floor( gamma( atan2( besselj(".split(),
    " ", "9" * 39, "\\cdot ", "f'(x) =", "dy/dx =")
BETWEEN = ("+", "-", "*", "/", "^", " ", "*", "+")
FORMULAS = Grammar({
    "f": ["x", "x", "y", "t", "2", "3", "0.1", "x^2", "pi", "e", "a", Form("{one}({f})", 4),
          Form("({f}){between}({f})", 6)],
    "one": ["sin", "cos", "tan", "ln", "sqrt", "e^", "abs", "atan", "asin", "sec", "tanh", "floor",
            "lgamma", "cbrt", "-", "erf"], "between": BETWEEN}, ends={"f": 0.25})


class Answers:
    """What students might type, endlessly. texts: of real answers, which can be others each time.
    """

    def __init__(self, seed: object, texts: list[str]) -> None:
        self.draw = drawn(f"{seed}")
        self.texts = texts

    def next(self) -> str:
        sort = self.draw.choice((
            self.changed, self.changed, self.changed, self.formula, self.formula, self.soup,
            self.noise, self.extreme, self.real, self.joined))
        return sort()

    def real(self) -> str:
        return self.draw.choice(self.texts)

    def joined(self) -> str:
        return self.real() + self.draw.choice(BETWEEN) + self.real()

    def changed(self) -> str:
        """With one to four characters or words taken out, put in or doubled."""
        text = self.real()
        draw = self.draw
        for _ in range(draw.randint(1, 4)):
            at = draw.randint(0, len(text))
            to = min(len(text), at + draw.randint(1, 3))
            text = draw.choice((
                text[:at] + text[to:], text[:at] + draw.choice(SIGNS) + text[at:],
                text[:at] + draw.choice(WORDS) + text[to:], text[:to] + text[at:],
                text[:at] + text[at:to][::-1] + text[to:]))
        return text

    def formula(self) -> str:
        return Draw(FORMULAS, self.draw).text("f", 5)

    def soup(self) -> str:
        return "".join(self.draw.choices(WORDS, k=self.draw.randint(1, 25)))

    def noise(self) -> str:
        draw = self.draw
        if draw.random() < 0.5:
            return "".join(draw.choices(SIGNS, k=draw.randint(0, 40)))
        return "".join(chr(draw.choice((draw.randrange(32), draw.randrange(0x300),
                                        draw.randrange(0x11000)))) for _ in range(20))

    def extreme(self) -> str:
        """Near the limits and beyond."""
        draw, n = self.draw, self.draw.choice((3, 30, 90, 110, 300, 900, 3000))
        text = draw.choice(("x", "2", "sin x", self.real()))
        return draw.choice((
            "(" * n + text + ")" * n, "+".join([text] * n), "^".join([text] * n),
            "/".join([text] * n), "sin " * n + text, "-" * n + text, "|" * n + text + "|" * n,
            "sqrt(" * n + text + ")" * n, "9" * n, f"{text}^{'9' * min(n, 39)}", "x" * n,
            f"[{', '.join([text] * n)}]", "\\frac{" * n + text, "x^(" * n + text + ")" * n,
            "e^" * n + text, f"{text}!" * n, "1/" * n + text, " " * n, "x^2sin(x)" * n))


def pairs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]


def problems(known: list[dict[str, Any]]) -> list[PreparedProblem]:
    """50 problems, some of each kind."""
    kinds: dict[str, dict[str, dict[str, Any]]] = {}
    for pair in known:
        fields = {name: pair[name] for name in FIELDS if name in pair}
        kinds.setdefault(pair["kind"], {})[json.dumps(fields)] = fields
    chosen: list[dict[str, Any]] = []
    for one in kinds.values():
        listed = list(one.values())
        step = max(1, len(listed) // (PROBLEMS // len(kinds)))
        chosen += listed[::step][:PROBLEMS // len(kinds)]
    rest = [f for f in kinds["derivative"].values() if f not in chosen]
    chosen += rest[::7][:PROBLEMS - len(chosen)]
    assert len(chosen) == PROBLEMS
    return [prepare(from_fields(fields)) for fields in chosen]


def run(seed: object, count: int) -> Iterator[tuple[PreparedProblem, str, dict[str, Any]]]:
    """Problem, answer and verdict, each held to the contract."""
    known = pairs()
    ready = problems(known)
    own: dict[str, list[str]] = {}
    for pair in known:
        own.setdefault(pair["function"], []).append(pair["answer"])
    texts = [pair["answer"] for pair in known]
    answers = Answers(seed, texts)
    for _ in range(count):
        problem = answers.draw.choice(ready)
        # Half of the answers are made of those to the problem, which are nearly right.
        answers.texts = answers.draw.choice((texts, own[problem.problem.function]))
        text = answers.next()
        told = f"{problem.problem.fields()}\n{text!r}"
        try:
            with alarm(SECONDS):
                found = check(problem, text)
        except BaseException as failure:
            raise AssertionError(f"{type(failure).__name__}: {failure}\n{told}") from failure
        held(found, f"{told}\n{found}")
        yield problem, text, found


def held(found: dict[str, Any], told: str) -> None:
    assert set(found) == KEYS, told
    json.dumps(found)
    assert found["verdict"] in VERDICTS, told
    assert 0 <= found["score"] <= 1, told
    assert found["message"], told
    assert math.isfinite(found["ms"]), told
    assert len(found["alternatives"]) <= 16, told
    assert found["verdict"] != "correct" or (
        found["score"] == 1 and found["mistake"] is None and not found["witness"]), told
    assert found["verdict"] == "wrong" or not (found["mistake"] or found["also"]), told
    assert found["read_as"] or found["verdict"] in ("unreadable", "blank", "undecided"), told


@pytest.mark.parametrize("share", range(SHARES))
def test_every_answer_gets_a_verdict(share: int) -> None:
    verdicts = Counter(found["verdict"] for _, _, found in run(share, COUNT // SHARES))
    assert {"correct", "wrong", "unreadable"} <= set(verdicts)
    assert verdicts["unreadable"] < COUNT // SHARES * 3 // 4, verdicts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", default="long")
    given = parser.parse_args()
    verdicts: Counter[str] = Counter()
    worst: list[tuple[float, dict[str, Any], str]] = []
    memory = []
    began = time.perf_counter()
    for k, (problem, text, found) in enumerate(run(given.seed, given.count), 1):
        verdicts[found["verdict"]] += 1
        worst.append((found["ms"], problem.problem.fields(), text))
        if k % max(1, given.count // 10) == 0:
            worst = sorted(worst, key=lambda w: -w[0])[:10]
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
            print(f"{k} answers, {time.perf_counter() - began:.0f} s, the largest memory so far"
                  f" {memory[-1]} MB, the slowest {worst[0][0]:.0f} ms", flush=True)
    print(dict(verdicts))
    for ms, fields, text in worst:
        print(f"{ms:8.1f} ms  {fields}  {text[:120]!r}")
    if worst[0][0] > 2000:
        raise SystemExit("an answer took more than 2 s")
    if memory[-1] > memory[1] + 64:
        raise SystemExit(f"memory grows: {memory} MB")


if __name__ == "__main__":
    main()
