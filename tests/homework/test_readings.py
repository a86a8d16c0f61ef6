"""Answers as students type them: what a person reads is read, and nothing wrong counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from draws import drawn

from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields

FOLDER = Path(__file__).parent.parent / "data" / "homework"
FITTING = {"=": ("correct", "domain"), "!": ("wrong",), "?": ("undecided", "unreadable")}
MOST = 0.01
"""The share of answers that a person reads which may be unreadable."""


def problems(name: str) -> list[tuple[dict[str, Any], list[tuple[str, str]]]]:
    """The problems of a file, each with its answers and the sign of what they are."""
    found: list[tuple[dict[str, Any], list[tuple[str, str]]]] = []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line[0] == "{":
            found.append((json.loads(line), []))
        elif line[0] != "#":
            found[-1][1].append((line[0], line[2:].replace("⏎", "\n")))
    return found


@pytest.mark.parametrize("name", ["readings.txt", "readings_kept.txt"])
def test_answers_are_read_as_a_person_reads_them(name: str) -> None:
    unread, others, count = [], [], 0
    for fields, answers in problems(name):
        ready = prepare(from_fields(fields))
        for sign, answer in answers:
            found = check(ready, answer)["verdict"]
            count += sign != "?"
            if found not in FITTING[sign]:
                (unread if sign != "?" and found in FITTING["?"] else others).append(
                    (fields["function"], answer, found))
    assert not others       # none right is wrong, none wrong is right, nothing is decided in doubt
    assert len(unread) <= MOST * count, unread


def test_the_tables_are_large() -> None:
    assert sum(len(answers) for _, answers in problems("readings.txt")) >= 400
    assert len(problems("readings.txt")) >= 60


PAIRS = [json.loads(line) for line in
         (FOLDER / "pairs.ndjson").read_text(encoding="utf-8").splitlines()]
FIELDS = ("kind", "function", "wrt", "at", "order", "direction", "dependent", "parameters",
          "tolerance", "domain", "log")
BESIDE = ["{}, x > 0", "{} for x != 2", "{} (x ≥ 1)", "{}, D = R", "{} for all x", "Answer: {}",
          "{} (chain rule)", "by the product rule, {}", "{}, x ∈ ℝ\\{{0}}", "$ {} $", "\\[{}\\]",
          "{} by the quotient rule", "the derivative is {}", "{} where x is not 0"]


@pytest.mark.parametrize("seed", range(8))
def test_what_stands_beside_an_answer_changes_no_verdict(seed: int) -> None:
    draw = drawn(seed)
    moved = []
    for pair in draw.sample([one for one in PAIRS if one["verdict"] in ("correct", "wrong")], 40):
        ready = prepare(from_fields({name: pair[name] for name in FIELDS if name in pair}))
        typed = draw.choice(BESIDE).format(pair["answer"])
        found = check(ready, typed)["verdict"]
        # A condition beside a wrong answer may make it right where it holds.
        if found != pair["verdict"] and (pair["verdict"], found) != ("wrong", "undecided"):
            moved.append((pair["id"], typed, pair["verdict"], found))
    assert not moved
