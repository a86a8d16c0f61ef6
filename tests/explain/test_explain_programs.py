"""Programs as people write them who then ask why a gradient is None: the first cause, its line, and
the gradient once `gradcli why --write` has mended the file.

`data/explain_programs.txt` holds them. Cause and line were decided from the catalogue and the
gradients calculated by hand before gradcli was asked; `null`: there is nothing to mend by itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asked import valid
from folders import DATA
from transcripts import in_process

from gradcli.explain.written import grouped, is_atom, operands_of


class Case:
    """title, text: of the program. code, line: of the first cause. mended: the gradient after."""

    def __init__(self, written: str) -> None:
        self.title, expected, self.text = written.split("\n", 2)
        self.code, line, mended = expected.removeprefix("--- ").split(" ", 2)
        self.line = int(line)
        self.mended = json.loads(mended)


WRITTEN = (DATA / "explain_programs.txt").read_text("utf-8")
CASES = [Case(one.rstrip("\n") + "\n") for one in WRITTEN.split("=== ")[1:]]


def run(path: Path) -> list[dict[str, Any]]:
    """What a program prints, one item per value."""
    status, out, err = in_process(["run", str(path), "--format", "json"])
    assert status == 0, err
    answer = json.loads(out)
    valid(answer, "run")
    return [value for printed in answer["printed"] for value in printed["values"]]


def write(path: Path, text: str) -> str:
    """What `why --write` makes of a text."""
    path.write_bytes(text.encode())
    status, _, err = in_process(["why", str(path), "--write"])
    assert status == 0, err
    return path.read_bytes().decode()


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_programs(case: Case, ending: str, tmp_path: Path) -> None:
    path = tmp_path / "program.txt"
    text = case.text.replace("\n", ending)
    path.write_bytes(text.encode())
    reasons = [reason for value in run(path) for reason in value["reasons"]]
    assert (reasons[0]["code"], reasons[0]["line"]) == (case.code, case.line)
    mended = write(path, text)
    if case.mended is None:
        assert mended == text
        return
    assert "\n" not in mended.replace(ending, "")
    last = run(path)[-1]
    assert not last["reasons"]
    np.testing.assert_allclose(last["value"], case.mended, rtol=1e-12)


def test_there_are_enough() -> None:
    assert len(CASES) > 110
    assert len({case.title for case in CASES}) == len(CASES)
    assert len({case.code for case in CASES}) >= 30


# --- how a fix is written ------------------------------------------------------------------------

LINES = [
    ("h = stop_gradient(w)", "h = w"),
    ("h = stop_gradient(w)^2", "h = w^2"),
    ("h = stop_gradient(w + 1)^2", "h = (w + 1)^2"),
    ("h = 2*stop_gradient(w*3)", "h = 2*(w*3)"),
    ("h = 2stop_gradient(w)", "h = 2(w)"),
    ("h = [stop_gradient(w), 1][0]", "h = [w, 1][0]"),
    ("h = float(int(w))*w*0 + stop_gradient(w)", "h = float(int(w))*w*0 + stop_gradient(w)"),
    ("h = float(int(w*1))", "h = float(w*1)"),
    ("h = np.array(w)*2", "h = w*2"),
    ("h = stop_gradient(  # why\n        w)", "h = (  # why\n        w)"),
    ("h = stop_gradient(\n        w\n    )", "h = (\n        w\n    )"),
]


@pytest.mark.parametrize(("line", "mended"), LINES)
def test_brackets_stay_only_where_they_are_needed(line: str, mended: str, tmp_path: Path) -> None:
    program = f"var w = 2.0\ntape t:\n    {line}\nprint(t.gradient(h, w))\n"
    assert write(tmp_path / "program.txt", program) == program.replace(line, mended)


def test_what_needs_no_brackets() -> None:
    assert [t for t in ("x", "x[0]", "x.T", "(a + b)", "θ_1", "2x", "-x", "f(x)", "not x", "f'(x)",
                        "x²", "a b", "3") if is_atom(t)] == ["x", "x[0]", "x.T", "(a + b)", "θ_1"]
    text = "def f(x):\n  return int(x)"
    assert grouped(text, (text.index("int"), len(text)), "a + b") == "a + b"


def test_operands() -> None:
    told = {"a // b > c": ["a // b", "c"], "a*b // c // 2": ["a*b // c", "2"], "x": [],
            "f(a, b > c)": ["a", "b > c"], "(a > b) != c": ["(a > b)", "c"], "a + b": []}
    assert {text: operands_of(text, (0, len(text))) for text in told} == told


# --- what is said ---------------------------------------------------------------------------------

SAID = [
    # Operands of the user's own, not parameters of ours.
    ("var w = 2.0\ntape t:\n    h = float(w*2 > 1 + w)\nprint(t.gradient(h, w))",
     "try: a smooth substitute: sigmoid(k*(w*2 - (1 + w))), with k how steep"),
    ("var logits = [1.0, 2.0]\ntape t:\n    h = float(argmax(logits))\n"
     "print(t.gradient(h, logits))",
     "try: a smooth substitute: sum(softmax(logits) * arange(len(logits)))"),
    # The declared name, not the word that declares.
    ("var w = 2.0\ntape t:\n    const h = w^2\n    y = 3*h\nprint(t.gradient(y, w))",
     "is None: h takes its first value from what came of w,"),
    # What has no name is called what stands there.
    ("var w = [1.0, 2.0]\ntape t:\n    y = sum(w^2)\nprint(t.gradient(y, w[0]))",
     "is None: w[0] is a part of w; y was made with w itself"),
    ("var w = 2.0\ntape t:\n    print(t.gradient(3*round(w) + 1, w))",
     "is None: the path from w to 3*round(w) + 1 is cut by `round(w)`,"),
    # Which of two targets of one name was meant.
    ("var w = 1.0\ntape t:\n    loss = w^2\n    loss = 0.0\nprint(t.gradient(loss, w))",
     "this loss depends on w"),
    # A block is named by its head, an `else` goes with its `if`.
    ("var w = 2.0\nif w > 1:\n    s = w^2\nelse:\n    s = w\ntape t:\n    y = s*3\n"
     "print(t.gradient(y, w))", "fix: move if w > 1: into the block of tape t"),
    # What a break left out, not the head of the loop.
    ("var w = 3.0\ntape t:\n    y = 1.0\n    for k in range(2):\n        if k < 1:\n"
     "            break\n        y = y*w\nprint(t.gradient(y, w))", "7:9"),
    # An assignment does not put a variable on the tape.
    ("var m = 0.0, trainable=false\nvar w = 1.0\ntape t:\n    m.assign(w)\n    y = m^2\n"
     "print(t.gradient(y, m))", "is None: m is declared trainable=false,"),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_words(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "program.txt"
    path.write_text(text + "\n")
    status, _, err = in_process(["run", str(path)])
    assert status == 0
    assert said in err


def test_an_assigned_value_that_is_a_sum_stays_one(tmp_path: Path) -> None:
    # s.assign_add(a if c else b) is s + (a if c else b).
    text = ("var w = 2.0\nvar s = 1.0\ntape t:\n    s.assign_add(w if w > 0 else 5)\n"
            "    y = s^2\nprint(t.gradient(y, w))\n")
    assert "    s = s + (w if w > 0 else 5)\n" in write(tmp_path / "program.txt", text)


def test_many_sources_with_one_cause(tmp_path: Path) -> None:
    """Each is told its own cause though they share the record that is walked."""
    count = 300
    names = [f"w{k}" for k in range(count)]
    path = tmp_path / "program.txt"
    path.write_text("\n".join([
        *[f"var {name} = {k}.5" for k, name in enumerate(names)], "tape t:", "    s = 0.0",
        *[f"    s = s + {name}^2" for name in names], "    y = stop_gradient(s)",
        f"print(t.gradient(y, [{', '.join(names)}]))", ""]))
    reasons = run(path)[0]["reasons"]
    assert [(r["code"], r["message"]) for r in reasons] == [
        ("path-stop-gradient", f"the path from {name} to y is cut by `stop_gradient(s)`")
        for name in names]
    assert all(r["fix_works"] for r in reasons)
