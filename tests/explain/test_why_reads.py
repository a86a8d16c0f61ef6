"""Why a derivative is None, in programs where a branch, a loop or a name that has nothing to do
with the target stands beside its computation: only what the target is computed from is to blame.

Each program says itself which cause is right, by how it is built.
"""

from __future__ import annotations

import random
import re

import pytest
from draws import drawn

from gradcli import loads
from gradcli.questions import why
from gradcli.questions.question import Question

HEAD = """var x = 2.0
const k = 1.0
def sq(x): return x^2
def clampit(v):
    if v > 3: return x
    return v*2
def other(v):
    if v > 3: return x
    return v*3
def g(v):
    for j in range(0): v = v*x
    return v
def f(v, mode):
    if mode == 1: return g(v)
    return v*3
"""


def blamed(*lines: str) -> tuple[str, str]:
    """The code of the first cause of dy/dx, and the text of its line."""
    text = HEAD + "tape t:\n" + "".join(
        f"    {line}\n" for block in lines for line in block.split("\n"))
    text += "print(t.gradient(y, x))\n"
    answer = why.why(Question(loads(text)))
    reason = answer["results"][0]["sources"][0]["reasons"][0]
    return reason["code"], text.splitlines()[reason["line"] - 1].strip()


# Blocks that bind z and blame x, with the cause if y is made of z.
BESIDE = {
    "choice": ("z = x if k > 5 else k", "source-untaken-branch"),
    "branch": ("z = k\nif k > 5: z = x", "source-untaken-branch"),
    "arms": ("if k > 5:\n    z = x\nelse:\n    z = k", "source-untaken-branch"),
    "condition": ("z = k\nif x > 5: z = 2*k", "source-condition-only"),
    "parameter": ("z = sq(k)", "source-shadowed"),
    "break": ("z = 0.0\nwhile true:\n    z = z + k\n    if z > x: break", "source-condition-only"),
    "continue": ("z = k\nfor i in range(3):\n    if i > x: continue\n    z = z*k",
                 "source-condition-only"),
    "empty": ("z = k\nfor i in range(0): z = z*x", "source-in-dead-code"),
    "return": ("z = other(k)", "source-untaken-branch"),
    "loop": ("z = f(k, 1)", "source-in-dead-code"),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_the_target_is_computed_from_is_to_blame(name: str) -> None:
    block, code = BESIDE[name]
    assert blamed(block, "y = z*k")[0] == code


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("target", ["y = k*2", "y = k*3\ny = y + k"])
def test_what_stands_beside_it_is_not(name: str, target: str) -> None:
    block, _ = BESIDE[name]
    for lines in ((block, target), (target, block)):
        assert blamed(*lines) == ("source-unrelated", "var x = 2.0")


def test_a_number_that_nothing_went_into() -> None:
    for block, _ in BESIDE.values():
        assert blamed(block, "y = 3.0*2") == ("target-constant", "y = 3.0*2")


def test_of_two_functions_the_one_that_is_called_for_it() -> None:
    for lines in (("y = clampit(k)", "z = other(k)"), ("z = other(k)", "y = clampit(k)")):
        code, _ = blamed(*lines)
        assert code == "source-untaken-branch"
        answer = why.why(Question(loads(HEAD + "tape t:\n" + "".join(
            f"    {line}\n" for line in lines) + "t.gradient(y, x)\n")))
        assert answer["results"][0]["sources"][0]["reasons"][0]["line"] == 5
    assert blamed("z = f(k, 1)", "y = f(k, 2)") == (
        "source-untaken-branch", "if mode == 1: return g(v)")


@pytest.mark.parametrize("seed", range(10))
def test_any_number_of_them_beside_it(seed: int) -> None:
    """Of several blocks with names of their own the one that y reads."""
    draw = random.Random(seed)
    names = draw.sample(sorted(BESIDE), 4)
    blocks = [re.sub(r"\b([iz])\b", rf"\g<1>{i}", BESIDE[n][0]) for i, n in enumerate(names)]
    read = draw.randrange(4)
    code = blamed(*blocks, f"y = z{read}*k")[0]
    assert code == BESIDE[names[read]][1]
    assert blamed(*blocks, "y = 2*k")[0] == "source-unrelated"


# Training steps, and what they print; ways to end outside of the last tape.
STEPS = ("tape t{k}:\n    loss = (w*b - 5)^2\ng = t{k}.gradient(loss, w)\nw.assign_sub(0.01*g)",
         "for i in range(2):\n    tape t{k}:\n        loss = (w*b - 5)^2\n"
         "    gw, gb = t{k}.gradient(loss, [w, b])\n    w.assign_sub(0.01*gw)\n"
         "    b.assign_sub(0.01*gb)",
         "tape t{k}: loss = floor(w)*b^2\nb.assign(loss)",
         "w.assign(floor(w*2.5))")
LAST = {"l = (w*b - 5)^2 + w\nfinal = l*0.5": "path-outside-tape",
        "final = floor(w*b)": "path-step-function",
        "final = stop_gradient(w)*b": "path-stop-gradient"}


@pytest.mark.parametrize("seed", range(12))
def test_what_was_trained_before_is_no_cause(seed: int) -> None:
    draw = drawn(seed)
    steps = [draw.choice(STEPS).format(k=k) for k in range(draw.randrange(1, 4))]
    for last, code in LAST.items():
        inside, _, outside = last.partition("\n")
        end = f"tape u:\n    {inside}\n{outside}\nprint(u.gradient(final, [w, b]))\n"
        told = []
        for before in ([], steps):
            text = "\n".join(["var w = 2.0", "var b = 1.5", *before, end])
            first = text[:text.index("tape u")].count("\n") + 1
            answer = why.why(Question(loads(text)))
            sources = answer["results"][-1]["sources"]
            reasons = [r for source in sources for r in source["reasons"]]
            assert code in [r["code"] for r in reasons], text
            assert all(at["line"] >= first for r in reasons for at in (r, *r["related"])), text
            told.append([(r["code"], r["fix"], r["fix_works"]) for r in reasons])
        assert told[0] == told[1]


def test_a_constant_beside_a_step_of_training() -> None:
    """Of the operations around a source, two that make the same state are equally wide."""
    text = ("var x = 2.0\np = 1.5\ntape t:\n    y = x^2\ntape t:\n    loss = (x - 3)^2\n"
            "x.assign_sub(0.1*t.gradient(loss, x))\nprint(loss, x)\n")
    (reason,) = why.why(Question(loads(text), of=["p"]))["results"][0]["sources"][0]["reasons"]
    assert (reason["code"], reason["line"]) == ("target-constant", 2)
