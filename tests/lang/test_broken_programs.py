"""Programs that were broken on purpose (broken_programs.py), diagnosed and mended by the command
line: the place that is named first, and the gradient behind the fix.

By hand, with other seeds:

    PYTHONPATH=.:tests/tools python tests/lang/test_broken_programs.py SEED COUNT
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from broken_programs import KINDS, Broken, broken_programs
from transcripts import in_process

from gradcli.base.errors import Source
from gradcli.python.program import Program

SEED, COUNT = 20260729, 200
# Of all programs: the place is the broken line; the mended gradient is the original's.
PLACED, MENDED = 0.95, 0.90


# --- gradients --------------------------------------------------------------------------------


def _command(command: str, path: Path, item: Broken, *options: str) -> str:
    """What a command says on standard output to the program's question. Raises RuntimeError if it
    fails.
    """
    arguments = [command, str(path), *options]
    if item.wrt:
        arguments += ["--wrt", ",".join(item.wrt), "--of", ",".join(item.of)]
    if item.tape:
        arguments += ["--tape", item.tape]
    status, out, err = in_process(arguments)
    if status != 0:
        raise RuntimeError(err)
    return out


def answer(path: Path, item: Broken) -> list[dict[str, Any]]:
    """The answers to the program's question, each with its reasons: of the command line's the
    sources, else what is printed.
    """
    found = json.loads(_command("grad" if item.wrt else "run", path, item, "--format", "json"))
    if item.wrt:
        sources: list[dict[str, Any]] = found["results"][0]["sources"]
        return sources
    return [value for printed in found["printed"] for value in printed["values"]]


def _leaves(value: Any) -> Iterator[Any]:
    """Numbers, arrays and missing gradients (None) of what was printed."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list) and (None in value or any(isinstance(v, list) for v in value)):
        for item in value:
            yield from _leaves(item)
    elif value is None:
        yield None
    elif not isinstance(value, str):
        yield np.asarray(value, float)


def gradients(answers: Sequence[dict[str, Any]], item: Broken) -> list[Any]:
    """The gradients among the answers, None for one that is missing."""
    return [leaf for told in answers
            for leaf in _leaves(told["gradient" if item.wrt else "value"])]


def target(text: str, item: Broken) -> Any:
    """The target's value; None if it is not a name of the file's own."""
    program = Program(Source(text, "broken.gc"))
    return np.asarray(program.value(item.target)) if item.target in program.names.bound else None


def same(left: Sequence[Any], right: Sequence[Any], rtol: float = 1e-12) -> bool:
    """Whether all are there and equal; a sum that cancels keeps its last digits."""
    return len(left) == len(right) and all(
        a is not None and b is not None and a.shape == b.shape
        and np.allclose(a, b, rtol=rtol, atol=rtol/10) for a, b in zip(left, right, strict=True))


# --- diagnosis --------------------------------------------------------------------------------


def reasons(answers: Sequence[dict[str, Any]], item: Broken) -> list[dict[str, Any]]:
    """The reasons of the source that was cut; of a program that asks by itself all of them."""
    return [r for told in answers if not item.wrt or told["wrt"] == item.cut
            for r in told["reasons"]]


class Outcome:
    """placed: the first reason names a broken line, and all of them are named. said: codes and
    lines. repaired: the text with the fixes. trouble: an exception, or why the generated program
    is none; mended, moved: whether the fixes bring the gradient back, and change the target.
    promised: whether all reasons say that their fixes work, and a gradient is None with them.
    """

    __slots__ = ("item", "mended", "moved", "placed", "promised", "repaired", "said", "trouble")

    def __init__(self, item: Broken) -> None:
        self.item = item
        self.placed = self.mended = self.moved = self.promised = False
        self.said: list[tuple[str, Any]] = []
        self.repaired = ""
        self.trouble = ""

    def __str__(self) -> str:
        item = self.item
        asked = f" --wrt {','.join(item.wrt)} --of {item.of[0]}" if item.wrt else ""
        asked += f" --tape {item.tape}" if item.tape else ""
        lines = [sorted(numbers) for numbers in item.lines]
        numbered = "\n".join(f"{k:3} {line}" for k, line in enumerate(
            item.broken.splitlines(), 1))
        return (f"{'+'.join(item.kinds)}, {item.setting}, {item.arrangement}{asked}: {item.cut}"
                f" broken in {lines}, said {self.said}, placed {self.placed}, mended"
                f" {self.mended} {'promised' if self.promised else ''} {self.trouble}\n"
                f"{item.original}--- broken\n{numbered}\n"
                f"--- mended\n{self.repaired}")


def outcome(item: Broken, path: Path) -> Outcome:
    """What becomes of one program, in a file of this path."""
    found = Outcome(item)
    try:
        path.write_text(item.original)
        original = gradients(answer(path, item), item)
        value, broken_value = target(item.original, item), target(item.broken, item)
        path.write_text(item.broken)
        answers = answer(path, item)
        told = reasons(answers, item)
        found.said = [(r["code"], r["line"]) for r in told]
        lines = [line for _, line in found.said]
        found.placed = bool(lines) and any(lines[0] in numbers for numbers in item.lines) and all(
            not numbers.isdisjoint(lines) for numbers in item.lines)
        _command("why", path, item, "--write")
        found.repaired = path.read_text()
        again = gradients(answer(path, item), item)
        found.mended = same(again, original)
        found.promised = all(r["fix_works"] for r in told) and any(g is None for g in again)
        if broken_value is not None:
            found.moved = not same([target(found.repaired, item)], [broken_value])
        if any(g is None for g in original):
            found.trouble = "the original has no gradient"
        elif not told or all(g is not None for g in gradients(answers, item)):
            found.trouble = "the broken one has all gradients"
        elif item.kept and value is not None and not same([value], [broken_value]):
            found.trouble = "the break changes the value"
    except Exception as problem:
        found.trouble = f"{type(problem).__name__}: {problem}"
    return found


def outcomes_of(seed: int, count: int) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        return [outcome(item, Path(folder, "broken.txt")) for item in broken_programs(seed, count)]


def table(outcomes: Sequence[Outcome]) -> str:
    """Per kind, how many were placed and mended; a program that is broken twice counts at both."""
    rows = [f"{'':14}{'programs':>9}{'placed':>9}{'mended':>9}"]
    groups = {kind: [o for o in outcomes if kind in o.item.kinds] for kind in KINDS}
    for name in ("alone", "in series", "side by side"):
        groups[name] = [o for o in outcomes if o.item.arrangement == name]
    for name in dict.fromkeys(o.item.setting for o in outcomes):
        groups[f"({name})"] = [o for o in outcomes if o.item.setting == name]
    groups["all"] = list(outcomes)
    for name, group in groups.items():
        n = max(len(group), 1)
        rows.append(f"{name:14}{len(group):9}{sum(o.placed for o in group)/n:9.1%}"
                    f"{sum(o.mended for o in group)/n:9.1%}")
    return "\n".join(rows)


# --- tests ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    found = outcomes_of(SEED, COUNT)
    print(f"\n{table(found)}")
    return found


def test_what_is_generated() -> None:
    items = list(broken_programs(SEED, COUNT))
    assert len({item.broken for item in items}) == COUNT
    assert sum(len(item.kinds) == 2 for item in items) == COUNT//4
    first = Counter(item.kinds[0] for item in items)
    assert min(first[kind] for kind in KINDS) >= COUNT//len(KINDS) - 1
    assert sum(item.kept for item in items) > 0.9*COUNT
    again = list(broken_programs(SEED, 20))
    assert [item.broken for item in again] == [item.broken for item in items[:20]]


def test_no_program_ends_in_an_exception_or_is_whole(outcomes: list[Outcome]) -> None:
    assert [str(o) for o in outcomes if o.trouble] == []


def test_the_broken_line_is_named_first(outcomes: list[Outcome]) -> None:
    missed = [str(o) for o in outcomes if not o.placed]
    assert len(missed) <= (1 - PLACED)*COUNT, "\n".join(missed)


def test_the_fix_brings_the_gradient_back(outcomes: list[Outcome]) -> None:
    missed = [str(o) for o in outcomes if not o.mended]
    assert len(missed) <= (1 - MENDED)*COUNT, "\n".join(missed)


def test_a_fix_keeps_the_value(outcomes: list[Outcome]) -> None:
    assert [str(o) for o in outcomes if o.moved] == []


def test_what_is_said_to_work_does(outcomes: list[Outcome]) -> None:
    assert [str(o) for o in outcomes if o.promised] == []


def _main(seed: int, count: int) -> None:
    found = outcomes_of(seed, count)
    for o in found:
        if o.trouble or o.moved or o.promised or not (o.placed and o.mended):
            print(o)
    print(table(found))
    print(f"trouble {sum(bool(o.trouble) for o in found)}, value moved"
          f" {sum(o.moved for o in found)}, promised {sum(o.promised for o in found)}")


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
