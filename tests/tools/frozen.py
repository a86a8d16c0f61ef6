"""Outputs as they were: command lines that cross programs, questions, options and formats.

    python tests/tools/frozen.py            # the outputs of tests/data/frozen as they are now
    python tests/tools/frozen.py --draw 2000 --seed 1    # other command lines, and their outputs

Other tests ask whether an answer is right; here every sentence, place, column and number of it
stands, and a change of one has to be wanted. Of random command lines those are kept that print a
line of a form which none before printed; of these, those that print the same in each process and
on each processor.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from folders import DATA, ROOT
from fuzz_commands import Case, Inputs
from printed import NUMBER, as_shown
from processors import settings
from transcripts import in_process

FROZEN = DATA / "frozen"
LONGEST = 6000      # characters of an output
SLOW = 1.0          # seconds of work
MILLISECONDS = re.compile(r'("ms": )[0-9.e-]+')


def outputs(one: Case) -> tuple[int, str, str]:
    """Run a command line that reads files of the checkout only: status, stdout, stderr."""
    with redirect_stderr(io.StringIO()):    # where Typer tells what is wrong with a command line
        status, out, err = in_process(one.argv, one.stdin)
    return status, MILLISECONDS.sub(r"\g<1>0", out), err


def frozen(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def entry(one: Case) -> dict[str, Any]:
    status, out, err = outputs(one)
    return {"argv": one.argv, "stdin": one.stdin.decode(), "status": status, "out": out, "err": err}


# --- drawing ----------------------------------------------------------------------------------


class Crossings(Inputs):
    """Command lines that mostly work: programs of the samples and tests, answers of students."""

    def __init__(self, seed: object) -> None:
        super().__init__(seed)
        self.points = programs()
        self.texts = list(self.points)
        self.answers = answered()

    def case(self) -> Case:
        while True:
            one = self._check() if self.chance(0.12) else super().case()
            words = " ".join(one.argv)
            if not one.files and one.argv[:1] != ["hw"] and not re.search(
                    r"--timeout|--jobs|-j|--scheduler|-o\b|--output|--write|\.npz", words):
                return one

    def _text(self) -> bytes:
        return self.choose(self.texts) if self.chance(0.8) else super()._text()

    def _given(self, text: bytes) -> list[str]:
        known = self.points.get(text)
        if known is None or self.chance(0.1):
            return super()._given(text)
        return ["--at", known] if known else []

    def _question(self, name: str) -> Case:
        one = super()._question(name)
        if "f.txt" in one.files:
            return Case([word if word != "f.txt" else "-" for word in one.argv],
                        one.files["f.txt"], {})
        return one

    def _check(self) -> Case:
        if self.chance(0.3):
            return super()._check()
        function, answer, more = self.choose(self.answers)
        return Case(["check", *self._options("check", [], ("batch",)), *more, "--", function,
                     answer], b"", {})


def programs() -> dict[bytes, str]:
    """The texts of programs that samples and other tests run, and where."""
    found = [path.read_bytes() for folder in ("samples", "tests/data/difficult",
                                              "tests/data/derive")
             for path in sorted((ROOT / folder).rglob("*.txt"))
             if path.stat().st_size < 3000 and not {"homework", "training"} & {*path.parts}]
    explained = (DATA / "explain_programs.txt").read_text()
    found += [part.partition("\n")[2].partition("\n")[2].encode()
              for part in explained.split("\n=== ")]
    points = dict.fromkeys(found, "")
    for name in ("feynman", "diffrules", "lineshapes", "benchfuncs"):
        for line in gzip.decompress(
                (DATA / f"corpora/{name}.jsonl.gz").read_bytes()).splitlines():
            one = json.loads(line)
            points[one["expr"].encode()] = ",".join(
                [f"{name}={json.dumps(value)}" for name, value in one["vars"].items()])
    return points


def answered() -> list[tuple[str, str, list[str]]]:
    """(function, answer, options) of the homework that other tests check."""
    found = []
    for name in ("pairs", "blind"):
        for line in (DATA / f"homework/{name}.ndjson").read_text().splitlines():
            one = json.loads(line)
            if one["kind"] == "derivative" and isinstance(one["function"], str):
                found.append((one["function"], one["answer"], ["--wrt", str(one["wrt"])]))
    return found


def forms(text: str) -> Iterator[str]:
    """The lines of a text without the numbers and names that it is about."""
    for line in text.splitlines():
        yield re.sub(r"`[^`]*`|\s+|\^+|-{2,}|─+", " ", NUMBER.sub("0", line))


def drawn(count: int, seed: int) -> list[Case]:
    """Command lines of which each prints something that none before did."""
    inputs, seen, found, idle = Crossings(seed), set[str](), list[Case](), 0
    while len(found) < count and idle < 500:
        one = inputs.case()
        try:
            one.stdin.decode()
            " ".join(one.argv).encode()
        except UnicodeError:
            continue
        begun = time.process_time()
        status, out, err = outputs(one)
        if time.process_time() - begun > SLOW:
            continue
        command = " ".join(one.argv[:1])
        new = {f"{command} {status} {form}" for text in (out, err) for form in forms(text)} - seen
        idle = 0 if new else idle + 1
        if status == 3 and inputs.chance(0.7):
            continue
        if new and len(out) + len(err) < LONGEST and status != 2:
            seen |= new
            found.append(one)
    return found


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs in two entries of one command line, but for the last digits of numbers."""
    texts = [(before[part], as_shown(now[part], before[part])) for part in ("out", "err")]
    if now["status"] == before["status"] and all(a == b for a, b in texts):
        return []
    return [f"{before['argv']} < {before['stdin']!r}",
            f"status {before['status']} -> {now['status']}",
            *[line for a, b in texts for line in difflib.unified_diff(
                a.splitlines(), b.splitlines(), lineterm="", n=0)]]


def elsewhere(entries: list[str], variables: dict[str, str]) -> list[dict[str, Any]]:
    """The same entries from a process of its own, with these variables in its environment."""
    again = subprocess.run(
        [sys.executable, __file__, "--stdin"], input="\n".join(entries), text=True, check=True,
        capture_output=True, cwd=ROOT,
        env={"PYTHONHASHSEED": "7", "PATH": "/usr/bin:/bin", **variables})
    return [json.loads(line) for line in again.stdout.splitlines()]


def write(cases: list[Case]) -> None:
    """Write what each prints, but for what another process prints otherwise, or an older processor:
    where it is rounding that decides, none is right.
    """
    entries = [json.dumps(entry(one), ensure_ascii=False) for one in cases]
    others = [elsewhere(entries, variables) for variables in ({}, *settings().values())]
    FROZEN.mkdir(exist_ok=True)
    by_command: dict[str, list[str]] = {}
    for one, *again in zip(entries, *others, strict=True):
        found = json.loads(one)
        if found == again[0] and not any(differences(found, other) for other in again):
            by_command.setdefault("".join(found["argv"][:1]) or "none", []).append(one)
    for path in FROZEN.glob("*.jsonl"):
        path.unlink()
    for command, lines in by_command.items():
        name = command if command.isalpha() else "other"
        with (FROZEN / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draw", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stdin", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.stdin:
        for line in sys.stdin:
            one = json.loads(line)
            print(json.dumps(entry(Case(one["argv"], one["stdin"].encode(), {})),
                             ensure_ascii=False))
    elif asked.draw:
        write(drawn(asked.draw, asked.seed))
    else:
        write([Case(one["argv"], one["stdin"].encode(), {})
               for path in sorted(FROZEN.glob("*.jsonl")) for one in frozen(path)])


if __name__ == "__main__":
    main()
