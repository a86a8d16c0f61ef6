"""Each limit on what people hand in holds to the unit: what is as large is read, one more is not.

The numbers are written here again, as the documents tell them: a limit that moves is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from transcripts import in_process

from gradcli.base.errors import GradcliError, decode
from gradcli.homework.handed_in.class_tables import open_submissions
from gradcli.homework.sheets.formats import open_sheet, parse


def read(command: str, *arguments: str, stdin: str = "") -> bool:
    status, _, err = in_process([command, *arguments], stdin.encode())
    assert status in (0, 1, 2, 3), err
    return status in (0, 1)


def accepted(code: str, do: Callable[[], object]) -> bool:
    try:
        do()
    except GradcliError as failure:
        return failure.code != code
    return True


def answer(text: str, *options: str) -> bool:
    """Whether it is right; what is too large is unreadable."""
    _, out, _ = in_process(["check", "--format", "json", *options, "--", "x^2", text])
    return bool(out) and json.loads(out)["verdict"] == "correct"


def blocks(n: int) -> bool:
    lines = [f"{' ' * k}if true:" for k in range(n)]
    return read("run", "-", stdin="\n".join([*lines, f"{' ' * n}print(1)", ""]))


def lists(n: int) -> bool:
    return read("eval", "-e", f"sum({'[' * n}1{']' * n})")


def calls(n: int) -> bool:
    """n calls of a function are open at once."""
    return read("run", "-", stdin="def f(n):\n  if n < 1.5:\n    return 1\n  return f(n - 1)\n"
                f"print(f({n}))\n")


def tokens(n: int) -> bool:
    """2 x, and a sign and a zero for two more."""
    return answer(f"{'+' * (n % 2)}2x" + "+0" * ((n - 2) // 2))


def problems(n: int) -> bool:
    text = "".join(f"{k}: x\n" for k in range(n))
    return accepted("E0707", lambda: parse(text, "hw.txt"))


def sheet(n: int, folder: Path) -> bool:
    path = folder / "hw.txt"
    path.write_text("1: x\n#" + "-" * (n - 7) + "\n")
    assert path.stat().st_size == n
    return accepted("E0707", lambda: open_sheet(str(path)))


def handed_in(path: Path) -> bool:
    """Whether the only answer is read."""
    found = open_submissions(str(path), parse("1: x^2\n", "hw.txt"))
    return [a.answer for one in found for a in one.answers if a.answer] == ["2x"]


def line(n: int, folder: Path) -> bool:
    path = folder / "class.ndjson"
    said = json.dumps({"student": "a", "problem": "1", "answer": "2x"})
    path.write_text(said[:-1] + " " * (n - len(said) - 1) + "}\n")
    return handed_in(path)


def student(n: int, folder: Path) -> bool:
    path = folder / "class.ndjson"
    path.write_text(json.dumps({"student": "a" * n, "problem": "1", "answer": "2x"}))
    return handed_in(path)


def answers_txt(n: int, folder: Path) -> bool:
    (folder / "in/a").mkdir(parents=True, exist_ok=True)
    (folder / "in/a/answers.txt").write_text("1: 2x\n" + "\n" * (n - 6))
    return handed_in(folder / "in")


def nested(n: int, folder: Path) -> bool:
    inner = folder.joinpath(str(n), *map(str, range(n)))
    inner.mkdir(parents=True)
    (inner / "answers.txt").write_text("1: 2x")
    return handed_in(folder / str(n))


def batch(n: int) -> bool:
    said = json.dumps({"function": "x^2", "answer": "2x"})
    (result,) = in_process(["check", "--batch", "-", "--format", "ndjson"],
                           (said[:-1] + " " * (n - len(said)) + "}\n").encode())[1].splitlines()
    return json.loads(result).get("verdict") == "correct"


def source(n: int) -> bool:
    return accepted("E0602", lambda: decode(b" " * n, "<stdin>"))


LIMITS: dict[str, tuple[int, Callable[..., bool]]] = {
    "brackets": (200, lambda n: read("eval", "-e", "(" * n + "1" + ")" * n)),
    "blocks": (200, blocks),
    "characters of a number": (400, lambda n: read("eval", "-e", "0." + "1" * (n - 2))),
    "lists in lists": (60, lists),
    "calls": (1_000, calls),
    "bytes of a file": (16 * 1024 ** 2, source),
    "order of derive": (12, lambda n: read("derive", "-e", "x^2", "--order", str(n))),
    "order of check": (8, lambda n: answer("0" if n > 2 else "2x", "--order", str(n))),
    "order of taylor": (100, lambda n: read(
        "taylor", "-e", "x", "--at", "x=0", "--order", str(n))),
    "characters of an answer": (2_000, lambda n: answer("2" + " " * (n - 2) + "x")),
    "tokens of an answer": (1_000, tokens),
    "digits of an answer": (40, lambda n: answer("2." + "0" * (n - 2) + "x")),
    "brackets of an answer": (100, lambda n: answer("(" * n + "2x" + ")" * n)),
    "terms of a sum": (200, lambda n: answer(rf"\sum_{{k=1}}^{{{n}}} 2x/{n}")),
    "bytes of a line of a batch": (1024 ** 2, batch),
    "problems of a sheet": (1_000, problems),
    "bytes of a sheet": (1024 ** 2, sheet),
    "bytes of a line of a class": (64 * 1024, line),
    "characters of a student": (200, student),
    "bytes of a student's file": (64 * 1024, answers_txt),
    "folders in folders": (8, nested),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_holds_to_the_unit(name: str, tmp_path: Path) -> None:
    limit, ask = LIMITS[name]
    more = (tmp_path,) if "folder" in ask.__code__.co_varnames else ()
    assert ask(limit, *more)
    assert not ask(limit + 1, *more)
