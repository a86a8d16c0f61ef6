"""--exact: exact numbers in place of floats, in every format, with the values of the floats."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asked import valid
from folders import DATA
from transcripts import in_process, steps

from gradcli.lang.running.program import constant

TRANSCRIPT = DATA / "exact.txt"
COMMANDS = [command for command, _ in steps(TRANSCRIPT.read_text(encoding="utf-8"))]


def test_exact_answers(golden: Callable[[Path, str], None]) -> None:
    shown = ""
    for command in COMMANDS:
        status, out, err = in_process(shlex.split(command)[1:])
        shown += f"$ {command}\n{out}{err}" + (f"status {status}\n" if status else "")
    golden(TRANSCRIPT, shown)


def pairs(value: Any) -> Iterator[tuple[float, str]]:
    """(float, exact text) of all numbers of an answer in JSON."""
    if isinstance(value, dict):
        for key, one in value.items():
            if f"{key}_exact" in value:
                yield from together(one, value[f"{key}_exact"])
            elif not key.endswith("_exact"):
                yield from pairs(one)
    for one in value if isinstance(value, list) else ():
        yield from pairs(one)


def together(number: Any, text: Any) -> Iterator[tuple[float, str]]:
    if isinstance(text, str):
        yield number, text
    elif isinstance(text, dict):
        for key in text:
            yield from together(number[key], text[key])
    elif isinstance(text, list):
        for one, other in zip(number, text, strict=True):
            yield from together(one, other)


def test_exact_texts_have_the_values_beside_them() -> None:
    """In JSON, which has both; nothing else differs from the answer without --exact."""
    found = 0
    for command in COMMANDS:
        arguments = shlex.split(command)[1:]
        if "--exact" not in arguments or "--format" in arguments or "--points" in arguments:
            continue
        answer = json.loads(in_process([*arguments, "--format", "json"])[1])
        valid(answer, answer["command"])
        arguments.remove("--exact")
        if arguments[0] == "derive":
            arguments.append("--value")
        plain = json.loads(in_process([*arguments, "--format", "json"])[1])
        assert same(answer, plain), command
        for number, text in pairs(answer):
            assert constant(text, "") == pytest.approx(number, rel=1e-12), (command, text)
            found += 1
    assert found > 100


def same(answer: Any, plain: Any) -> bool:
    """Whether two answers are the same but for exact texts and rounding."""
    if isinstance(plain, dict):
        return {k for k in answer if not k.endswith("_exact")} == set(plain) and all(
            same(answer[k], one) for k, one in plain.items())
    if isinstance(plain, list):
        return len(answer) == len(plain) and all(map(same, answer, plain))
    if isinstance(plain, float):
        return bool(answer == pytest.approx(plain, rel=1e-9, abs=1e-12))
    return bool(answer == plain)
