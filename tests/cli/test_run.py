"""`gradcli run`: what programs print, in every format, as it happens; expectations; exit statuses;
and the question commands on programs with blocks.

The language itself is in test_program_language.py.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from asked import gradients, loaded, ok, run_text, valid
from commands import Ran, shell
from folders import ROOT
from terminals import on_terminal, pty
from transcripts import in_process
from transcripts import on_terminal as terminal

import gradcli
from gradcli import questions
from gradcli.cli.commands.question import TimeUp, stop_after
from gradcli.cli.options import FORMATS
from gradcli.questions.running import MAX_EXPLAINED
from gradcli.questions.running import run as run_program
from gradcli.render.numbers import visible

EVERYTHING = r"""
var x = 3.0
tape t, persistent=true:
    y = x^2
    z = floor(x)
print("y is", y, t.gradient(y, x))
print(t.gradient(z, x), [t.gradient(z, x), 1], {"g": t.gradient(z, x)})
print()
print(1/0, -1/0, 0/0, 0.1 + 0.2, -0.0, 1e300, int(-7), 2 > 1, none, "")
d = {"w": {"v": [x, 1]}}
print([1, 2.5], [[1, 2], [3, 4]], zeros(0), [], {}, [x, "a", [none]], d, range(3))
print(x, t, "tab\there", "\x1b[31mred\x07", "a|b", "=1+1", "漢\u202e")
for k in range(2):
    x.assign_add(1)
    print(k, x)
expect x == 5
expect [1, nan] == [1, nan]
""".lstrip()
PRINTED = [
    "y is 9 6", "None [None, 1] {g: None}", "",
    "inf -inf nan 0.30000000000000004 -0 1e+300 -7 true None ",
    "[1, 2.5] [[1, 2], [3, 4]] [] [] {} [3, a, [None]] {w: {v: [3, 1]}} [0, 1, 2]",
    "3 <t> tab\there \\x1b[31mred\\x07 a|b =1+1 漢\\u202e", "0 4", "1 5"]
FAILING = 'print("before")\nexpect 1 == 2\nprint("after")\n'
BROKEN = 'print("before", 1)\nx = [1, 2] + [1, 2, 3]\n'


def program(text: str, *arguments: str) -> Any:
    """The JSON answer of a program, held to its schema."""
    status, out, _ = run_text(text, "--format", "json", *arguments)
    assert status in (0, 1)
    answer = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    valid(answer, "run")
    return answer


def printed(text: str, *arguments: str) -> list[str]:
    """The lines that a program prints; nothing else may be said."""
    status, out, err = run_text(text, *arguments)
    assert (status, err) == (0, "")
    return out.splitlines()


# --- formats ------------------------------------------------------------------------------------

def test_plain_prints_a_line_for_each_print() -> None:
    status, out, err = run_text(EVERYTHING)
    assert status == 0
    assert out == "\n".join(PRINTED) + "\n"
    assert err.count("the gradient printed in line 6 is None: ") == 1
    assert "`floor(x)`" in err


def test_json_has_every_value_as_text_and_as_data() -> None:
    answer = program(EVERYTHING)
    assert [p["line"] for p in answer["printed"]] == [5, 6, 7, 8, 10, 11, 14, 14]
    for one, line in zip(answer["printed"], PRINTED, strict=True):
        shown = " ".join([item["text"] for item in one["values"]])
        assert "".join([c if c == "\t" else visible(c) for c in shown]) == line
    first, gaps, empty, numbers, arrays, others, *_ = [
        [item["value"] for item in p["values"]] for p in answer["printed"]]
    assert first == ["y is", 9.0, 6.0]
    assert gaps == [None, [None, 1.0], {"g": None}]
    assert empty == []
    assert numbers[:3] == ["Infinity", "-Infinity", "NaN"]
    assert numbers[3:] == [0.30000000000000004, 0.0, 1e300, -7, True, None, ""]
    assert math.copysign(1, numbers[4]) == -1
    assert arrays == [[1.0, 2.5], [[1.0, 2.0], [3.0, 4.0]], [], [], {}, [3.0, "a", [None]],
                      {"w": {"v": [3.0, 1.0]}}, [0, 1, 2]]
    assert others[3] == "\x1b[31mred\x07"
    assert answer["expects"] == [
        {"line": 15, "holds": True, "left": 5.0, "right": 5.0},
        {"line": 16, "holds": True, "left": [1.0, "NaN"], "right": [1.0, "NaN"]}]
    assert answer["held"] == answer["notes"] == []


def test_a_printed_none_has_its_reasons() -> None:
    values = program(EVERYTHING)["printed"][1]["values"]
    for item in values:
        (why,) = item["reasons"]
        assert why["code"] == "path-step-function"
        assert (why["line"], why["column"], why["end_line"], why["end_column"]) == (4, 9, 4, 17)
        assert why["fix"] == "x + stop_gradient(floor(x) - x)"
    for text, code, line in (
            ("const c = 2.0\ntape t:\n    y = c^2\nprint(t.gradient(y, c))",
             "source-constant-unwatched", 1),
            ("var x = 2.0\ntape t:\n    y = x\nz = x^2\nprint(t.gradient(z, x))",
             "path-outside-tape", 4),
            ("var x = 2.0, trainable=false\ntape t:\n    y = x^2\nprint(t.gradient(y, x))",
             "source-nontrainable", 1),
            ("var x = 2.0\ntape t:\n    stop_recording t:\n        y = x^2\n"
             "print(t.gradient(y, x))",
             "path-stop-recording", 4),
            ("x = 2.0\nprint(grad(stop_gradient(x), x))", "path-stop-gradient", 2)):
        (item,) = program(text)["printed"][0]["values"]
        assert item["value"] is None
        assert (item["reasons"][0]["code"], item["reasons"][0]["line"]) == (code, line), text
        status, out, err = run_text(text)
        assert (status, out) == (0, "None\n")
        assert item["reasons"][0]["message"] in err
        assert run_text(text, "-q") == (0, "None\n", "")


def test_the_first_missing_gradients_of_a_loop_are_explained() -> None:
    text = ("var x = 2.5\nfor k in range(60):\n    tape t:\n        y = floor(x)\n"
            "    print(k, t.gradient(y, x))\nprint(1)")
    items = [p["values"][-1] for p in program(text)["printed"]]
    assert [bool(item["reasons"]) for item in items] == \
        [True] * MAX_EXPLAINED + [False] * (60 - MAX_EXPLAINED) + [False]
    _, out, err = run_text(text)
    assert out.count("None") == 60
    assert err.count("is None: ") < 3       # the same reason in the same line is told once


def test_ndjson_is_the_same_in_lines() -> None:
    answer = program(EVERYTHING)
    status, out, err = run_text(EVERYTHING, "--format", "ndjson")
    assert (status, err) == (0, "")
    common = {key: answer[key] for key in ("schema", "command", "file")}
    assert [json.loads(line) for line in out.splitlines()] == [
        {**common, **item} for item in (*answer["printed"], *answer["expects"])]


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_rows_for_spreadsheets(format: str, delimiter: str) -> None:
    out = run_text(EVERYTHING, "--format", format)[1]
    rows = list(csv.reader(io.StringIO(out), delimiter=delimiter))
    width = 11
    assert rows[0] == ["line", *[f"value{k}" for k in range(1, width)]]
    assert {len(row) for row in rows} == {width}
    assert [row[0] for row in rows[1:]] == ["5", "6", "7", "8", "10", "11", "14", "14"]
    assert rows[1][1:4] == ["y is", "9", "6"]
    assert rows[4][1:4] == ["inf", "-inf", "nan"]       # numbers stay numbers
    assert rows[6][3:8] == ["tab\\there", "\\x1b[31mred\\x07", "a|b", "'=1+1", "漢\\u202e"]
    assert run_text("x = 1", "--format", format)[1] == "line\n"


def test_documents() -> None:
    table = run_text(EVERYTHING, "--format", "markdown")[1].splitlines()
    assert table[:3] == ["| line | printed |", "|---:|---|", "| 5 | `y is 9 6` |"]
    assert len(table) == 2 + len(PRINTED)
    assert r"a\|b" in table[7]
    tabular = run_text(EVERYTHING, "--format", "latex")[1].splitlines()
    assert tabular[0] == r"\begin{tabular}{rl}"
    assert tabular[3] == r"5 & y is 9 6 \\"
    assert tabular[-1] == r"\end{tabular}"


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_tells_failures_on_standard_error_and_by_its_status(format: str) -> None:
    status, out, err = run_text(FAILING, "--format", format)
    assert status == 1
    assert "before" in out
    assert "after" in out
    assert err == "<stdin>:2: expectation does not hold: left is 1, right is 2\n"
    assert all(c.isprintable() or c in "\n\t" for c in out)


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_printed_before_an_error_is_printed_by_lines(format: str) -> None:
    status, out, err = run_text(BROKEN, "--format", format)
    assert status == 3
    assert ("before" in out) == (format in ("table", "plain", "ndjson", "csv", "tsv"))
    if format in ("json", "ndjson"):
        message = json.loads(err)
        valid(message, "error")
        assert (message["error"]["code"], message["error"]["line"]) == ("E0301", 2)
    else:
        assert err.startswith("error[E0301]: ")


def test_nothing_is_printed_after_an_error_and_independent_errors_are_told_together() -> None:
    text = ("print(1)\nx = [1, 2] + [1, 2, 3]\nprint(2)\ny = x + 1\nz = zeros(2) @ zeros(3)\n"
            "for k in range(3):\n    print(k)\n")
    status, out, err = run_text(text)
    assert (status, out) == (3, "1\n")
    assert re.findall(r"--> <stdin>:(\d)", err) == ["2", "5"]
    assert err.endswith("2 errors\n")


def test_the_digits_of_a_table() -> None:
    text = 'print(1/3, [1/3, 2], {"a": 2/3}, 1e-17, "x", int(1234567), none)'
    exact = ["0.3333333333333333 [0.3333333333333333, 2] {a: 0.6666666666666666} 1e-17 x 1234567"
             " None"]
    assert printed(text) == printed(text, "--format", "table") == exact
    assert printed(text, "--digits", "3") == exact
    short = "0.333 [0.333, 2] {a: 0.667} 1e-17 x 1234567 None"
    assert printed(text, "--format", "table", "--digits", "3") == [short]
    argv = ["run", "-e", text]
    assert on_terminal([*argv, "--digits", "3"])[1] == short + "\n"
    assert on_terminal(argv)[1].startswith("0.333333 [0.333333, 2] {a: 0.666667} 1e-17 x ")


def test_large_arrays_are_whole_but_on_a_terminal() -> None:
    argv = ["run", "-e", 'print(linspace(0, 1, 20001), {"a": [ones(40, 50), "b"]}, ones(3))']
    (line,) = ok(*argv).splitlines()
    assert line.startswith("[0, 5e-05, 0.0001, ")
    assert line.count(", ") == 20_000 + 1_999 + 1 + 2      # the vector, the matrix, "b", ones(3)
    told = json.loads(ok(*argv, "--format", "json"))["printed"][0]["values"]
    assert len(told[0]["value"]) == 20001
    status, out, err = on_terminal(argv)
    assert (status, err) == (0, "")
    norm = math.sqrt(20001*40001/(6*20000))
    assert out == (f"<vector of 20001, min 0, max 1, norm {norm:.4f}>"
                   " {a: [<40 x 50 array, min 1, max 1, norm 44.7214>, b]} [1, 1, 1]\n")


def test_a_long_side_of_an_expectation_is_cut() -> None:
    status, _, err = run_text("expect ones(100000) == 2")
    assert status == 1
    assert len(err) < 400
    status, _, err = run_text('expect "\\x1b[31m" == "\\n"')
    assert (status, err) == (
        1, "<stdin>:1: expectation does not hold: left is \\x1b[31m, right is \\n\n")


# --- options ------------------------------------------------------------------------------------

def test_values_from_outside() -> None:
    text = "input a = 1\nvar v = 2.0\np = 3.0\nprint(a, v, p, q)"
    assert printed(text, "--at", "q=4") == ["1 2 3 4"]
    assert printed(text, "--at", "a=5,v=6", "--at", "p=7,q=[1, 2]") == ["5 6 7 [1, 2]"]
    status, _, err = run_text(text)
    assert status == 3
    assert err.startswith("error[E0203]: `q` has no value")


def test_verbose_tells_what_tapes_held() -> None:
    text = ("var w = ones(100)\ntape first:\n    a = w^2\n    b = sum(a)\ntape second:\n"
            "    c = 1.0\n"
            "expect b == 100\nexpect 1 == 1")
    status, out, err = run_text(text, "-v")
    assert (status, out) == (0, "")
    assert "note: 2 of 2 expectations hold\n" in err
    held = program(text, "-v")["held"]
    assert [(tape["tape"], tape["entries"], tape["watched"]) for tape in held] == [
        ("first", 2, 1), ("second", 0, 0)]
    assert 800 <= held[0]["bytes"] <= 2400
    assert f"note: tape first held 2 entries and {held[0]['bytes']:,} bytes of arrays" in err
    assert program(text)["held"] == []


def test_notes_and_quiet() -> None:
    text = "pi = 3\nprint(pi)\nvar x = 2.0\ntape t:\n    y = x^2\n    print(t.gradient(y, x))"
    answer = program(text)
    assert [note["code"] for note in answer["notes"]] == ["shadowed-constant", "recording-ended"]
    assert [note["line"] for note in answer["notes"]] == [1, 6]
    assert program(text, "-q")["notes"] == []
    status, out, err = run_text(text)
    assert (status, out) == (0, "3\n4\n")
    assert err.count("note: ") == 2
    assert run_text(text, "-q") == (0, "3\n4\n", "")
    assert run_text(FAILING, "-q")[2].endswith("left is 1, right is 2\n")     # no note, the result


@pytest.mark.parametrize(("text", "arguments", "code"), [
    ("while true: pass", ["--max-steps", "5000"], "E0401"),
    ("while true:\n    x = 1\n", ["--max-steps", "5000"], "E0401"),
    ("for k in range(1e9): pass", ["--max-steps", "5000"], "E0401"),
    ("tape t, persistent=true:\n    y = 1\nwhile true:\n    resume t:\n        continue",
     ["--max-steps", "5000"], "E0401"),
    ("def f(n):\n    return f(n + 1)\nf(0)", [], "E0402"),
    ("print(ones(1000, 1000))", ["--max-memory", "1M"], "E0403"),
    ("var w = ones(1000)\ntape t:\n    y = w^2\nprint(t.jacobian(y, w))", ["--max-memory", "1M"],
     "E0403"),
    ("while true: pass", ["--timeout", "0.05"], "E0406"),
    ("while true:\n    tape t:\n        y = 1\n", ["--timeout", "0.05"], "E0406"),
])
def test_budgets(text: str, arguments: list[str], code: str) -> None:
    status, out, err = run_text(text, *arguments)
    assert (status, out) == (3, "")
    assert err.startswith(f"error[{code}]: ")
    assert "\n  --> <stdin>:" in err
    assert "= help: " in err


def test_an_alarm_lost_in_a_finalizer_is_not_told() -> None:
    """Python cannot raise from a finalizer or a callback of the collector: it prints and goes on.
    Other exceptions are still told; the next alarm stops the work.
    """
    class Dying:
        def __init__(self, dies: Callable[[], object]) -> None:
            self.dies = dies

        def __del__(self) -> None:
            self.dies()

    told: list[str] = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda lost: told.append(str(lost.exc_value))
    try:
        done = stop_after(1e6)
        Dying(lambda: signal.raise_signal(signal.SIGALRM))
        Dying(lambda: int("x"))
        with pytest.raises(TimeUp):
            signal.raise_signal(signal.SIGALRM)
        done()
        assert told == ["invalid literal for int() with base 10: 'x'"]
        Dying(lambda: int("y"))
        assert len(told) == 2
    finally:
        sys.unraisablehook = before


def test_an_expression_on_the_command_line_and_no_input() -> None:
    assert ok("run", "-e", "x = 2; print(x^2); expect x == 2") == "4\n"
    assert ok("run", "-e", "for k in range(2): print(k)") == "0\n1\n"
    assert ok("run", "-", stdin=b"") == ""
    assert loaded("run", "-", stdin=b"x = 1")["printed"] == []


@pytest.mark.parametrize(("arguments", "expected"), [
    (["-e", "print(1)"], 0), (["-e", "expect 1 == 1"], 0), (["-e", "expect 1 == 2"], 1),
    (["-e", "expect 1 == 2; print(x)", "--at", "x=1"], 1), (["-e", "expect 1 == 2; $"], 3),
    (["-e", "expect 1 == 2; print([1, 2] + [1, 2, 3])"], 3), (["-e", "print(x)"], 3),
    (["-e", "print(1)", "--wrt", "x"], 2), (["-e", "print(1)", "--of", "x"], 2),
    (["-e", "print(1)", "--tape", "t"], 2), (["-e", "print(1)", "--strict"], 2), ([], 2),
    (["-e", "print(1)", "file"], 2), (["no-such-file.txt"], 3), (["-e", "print(1)", "--tf"], 0),
    (["-e", "print(1)", "-o", "no-such-folder/out.txt"], 3),
])
def test_status(arguments: list[str], expected: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(["run", *arguments])[0] == expected


def test_output_to_a_file_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    for format in FORMATS:
        arguments = ["--format", format, "-q"]
        status, out, err = run_text(EVERYTHING, *arguments, "-o", str(path))
        assert (status, out, err) == (0, "", "")
        assert path.read_bytes().decode() == run_text(EVERYTHING, *arguments)[1]
    path.write_text("precious\n")
    for text in (BROKEN, "print(1)\nwhile true: pass"):
        assert run_text(text, "-o", str(path), "--max-steps", "1000")[:2] == (3, "")
        assert path.read_text() == "precious\n"
    status, _, err = run_text(FAILING, "-o", str(path))
    assert status == 1
    assert path.read_text() == "before\nafter\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.txt"]


def test_from_python() -> None:
    """The library call: all prints in the answer, or handed over as they happen."""
    ask = questions.Question(gradcli.loads("x = 1.5\nprint(x)\nprint(grad(floor(x), x))\nprint(2)"))
    found = run_program(ask)
    assert [item["value"] for p in found["printed"] for item in p["values"]] == [1.5, None, 2.0]
    seen: list[tuple[Any, bool]] = []
    found = run_program(ask, lambda told, waits: seen.append((told["values"][0]["value"], waits)))
    assert seen == [(1.5, False), (None, True), (2.0, False)]
    assert [p["line"] for p in found["printed"]] == [3]
    assert found["printed"][0]["values"][0]["reasons"]


# --- processes and terminals --------------------------------------------------------------------

TRAINING = """\
var w = 0.0
for k in range(300):
    tape t:
        loss = (w - 3)^2
    w.assign_sub(0.05*t.gradient(loss, w))
    if k % 100 == 99: print("step", k + 1, w > 2.9)
print("done")
"""
SHOWN = ["step 100 true", "step 200 true", "step 300 true", "done"]
# The bar does not wait here until half a second has gone by.
AT_ONCE = ("import gradcli.render.progress as p; p.PATIENCE = p.STEP = 0.0;"
           " from gradcli.cli.main import main; main()")


def test_prints_appear_as_they_happen(home: dict[str, str | None]) -> None:
    """In a pipe too: the line is there while the program is still at work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", "run", "-e", 'print("first")\nwhile true: pass',
         "--max-steps", "999999999999"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **{k: v for k, v in home.items() if v is not None}})
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"first\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, b"", b"")


def test_prints_come_before_the_error_that_follows(home: dict[str, str | None]) -> None:
    for format in ("plain", "ndjson", "csv"):
        done = shell(f"G run -e 'print(41); x = [1] + [1, 2, 3] + [1, 2]' --format {format} 2>&1",
                     home)
        assert done.returncode == 3
        assert done.stdout.index("41") < done.stdout.index("E0301")


@pytest.mark.parametrize("format", ["plain", "ndjson", "csv", "json"])
def test_a_closed_pipe_ends_quietly(format: str, home: dict[str, str | None]) -> None:
    script = f"G run -e 'for k in range(20000): print(k)' --format {format}"
    done = shell(f"{script} | head -c 10; echo \" ${{PIPESTATUS[0]}}\"", home)
    assert (done.stdout[10:], done.stderr) == (" 0\n", "")


def screen(text: str) -> list[str]:
    """The lines on a terminal after what was sent to it: returns, erased lines, the cursor moved
    up; colours are left out.
    """
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|[^\x1b]", text):
        if part == "\n":
            row, column = row + 1, 0
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b["):
            count = int(part[2:-1] or 1) if part[2:-1].isdigit() or part[2:] == part[-1] else 0
            if part[-1] == "A":
                row = max(0, row - count)
            elif part[-1] == "K":
                lines[row] = lines[row][:column] if count != 2 else ""
        else:
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + 1:]
            column += 1
        lines += [""] * (row + 1 - len(lines))
    return [line.rstrip() for line in lines]


def watched(text: str, tmp_path: Path, *arguments: str, command: str = "run") -> str:
    """What a real terminal is sent while a command works under a progress bar, and its status."""
    command = shlex.join([sys.executable, "-c", AT_ONCE, command, "-e", text, *arguments])
    return terminal(f"PYTHONPATH={shlex.quote(str(ROOT))} {command}; echo status $?", tmp_path,
                    tmp_path)


def test_a_progress_bar_leaves_nothing_behind(tmp_path: Path) -> None:
    text = watched(TRAINING, tmp_path)
    assert "running" in text        # it was there
    assert "\x1b[?25h" in text.rpartition("\x1b[?25l")[2]       # the cursor is back
    assert [line for line in screen(text) if line] == [*SHOWN, "status 0"]
    text = watched(TRAINING, tmp_path, "-q")
    assert text.split("\n") == [*SHOWN, "status 0", ""]


def test_a_progress_bar_is_gone_before_an_error(tmp_path: Path) -> None:
    for fails, code in (("q = zeros(2) @ zeros(3) if k > 200 else 1", "E0301"),
                        ("while k > 200: pass", "E0401")):
        text = watched(TRAINING.replace("    tape", f"    {fails}\n    tape"), tmp_path,
                       "--max-steps", "100000")
        assert "running" in text
        shown = [line for line in screen(text) if line]
        assert shown[:2] == SHOWN[:2]
        assert shown[2].startswith(f"error[{code}]: ")
        assert shown[-1] == "status 3"
        assert not any("running" in line for line in shown)


def test_a_progress_bar_is_gone_before_the_errors_of_rows(tmp_path: Path) -> None:
    rows = "\n".join(["x", *["0" if k == 149_000 else "4" for k in range(150_000)]])
    (tmp_path / "p.csv").write_text(rows + "\n")
    text = watched("x if x > 0 else eye(2) @ eye(3)", tmp_path, "--points", "p.csv", "--on-error",
                   "skip", "--output", "o.csv", command="eval")
    assert "running" in text
    shown = [line for line in screen(text) if line]
    assert [line for line in shown if "error[" in line] == [
        line for line in shown if line.startswith("error[E0301]: ")]
    assert sum("error[" in line for line in shown) == 1
    assert not any("running" in line for line in shown)


def test_a_short_program_has_no_bar(home: dict[str, str | None], gradcli: Callable[..., Ran]
                                    ) -> None:
    status, text = pty(["run", "-e", "for k in range(3): print(k)"], home)
    assert (status, text) == (0, "0\n1\n2\n")
    ran = gradcli("run", "-e", TRAINING)
    assert (ran.returncode, ran.stdout.splitlines(), ran.stderr) == (0, SHOWN, "")


# --- the question commands on programs with blocks ------------------------------------------------

TAPES = """\
var x = 2.0
var w = [1.0, 2.0]
tape first:
    y = x^3
tape second, persistent=true:
    z = x^2*sum(w^2)
"""


def tape_gradients(text: str, *arguments: str) -> Mapping[str, Any]:
    return gradients("-e", text, *arguments)


def test_a_tape_of_the_file_answers_the_command_line() -> None:
    assert tape_gradients(TAPES) == {"x": 20.0, "w": [8.0, 16.0]}       # the last to close
    assert tape_gradients(TAPES, "--tape", "second", "--wrt", "x") == {"x": 20.0}
    assert tape_gradients(TAPES, "--tape", "first", "--of", "y", "--wrt", "x") == {"x": 12.0}
    assert tape_gradients(TAPES, "--of", "y", "--wrt", "x") == {"x": None}
    assert tape_gradients(TAPES, "--of", "y", "--wrt", "x", "--unconnected", "zero") == {"x": 0.0}
    status, _, err = in_process(["grad", "-e", TAPES, "--tape", "third"])
    assert status == 3
    assert err.startswith("error[E0505]: ")
    assert "its tapes are first, second" in err


def test_a_used_up_tape_answers_the_command_line_all_the_same() -> None:
    text = TAPES + "g = first.gradient(y, x)\n"
    assert tape_gradients(text, "--tape", "first", "--of", "y", "--wrt", "x") == {"x": 12.0}
    assert ok("eval", "-e", text, "--of", "g") == "g\t12\n"


def test_jacobians_hessians_and_modes_of_tapes() -> None:
    text = "var w = [1.0, 2.0]\ntape t:\n    y = w^3*sum(w)\n    z = sum(y)\n"
    (result,) = loaded("jac", "-e", text, "--of", "y")["results"]
    # d(w_i^3 s)/dw_j = 3 w_i^2 s [i = j] + w_i^3, s = 3
    assert result["sources"][0]["jacobian"] == [[10.0, 1.0], [8.0, 44.0]]
    (result,) = loaded("hess", "-e", text)["results"]
    # z = (a^3 + b^3)(a + b): z_aa = 6a(a + b) + 6a^2, z_ab = 3a^2 + 3b^2
    assert result["blocks"][0]["hessian"] == [[24.0, 15.0], [15.0, 60.0]]
    for mode in ("reverse", "forward", "finite"):
        found = tape_gradients(text, "--mode", mode)["w"]
        assert found == pytest.approx([18.0, 45.0], rel=1e-9)


def test_a_variable_s_gradient_is_the_sum_over_its_states() -> None:
    text = "var x = 2.0\ny = x^2\nx.assign(5)\nz = y + x^3\n"
    assert tape_gradients(text) == {"x": 79.0}      # 2*2 + 3*25
    (result,) = loaded("hess", "-e", text)["results"]
    assert result["blocks"][0]["hessian"] == 32.0
    assert tape_gradients("var x = 2.0\ntape t:\n    y = x^2\n    x.assign(5)\n    z = y + x^3\n"
                          ) == {"x": 79.0}


def test_loops_and_functions_under_the_tape_of_the_file() -> None:
    """Newton's iteration for a square root: its derivative is that of the root."""
    text = ("input a = 3\nx = a\nfor k in range(40):\n    x = (x + a/x)/2\nx\n")
    assert tape_gradients(text)["a"] == pytest.approx(0.5/math.sqrt(3), rel=1e-14)
    assert tape_gradients(text, "--at", "a=7", "--mode", "forward")["a"] == pytest.approx(
        0.5/math.sqrt(7), rel=1e-14)
    text = ("def power(b, n):\n    if n == 0: return 1.0\n    half = power(b, n // 2)\n"
            "    return half*half if n % 2 == 0 else half*half*b\npower(x, 13)\n")
    assert tape_gradients(text, "--at", "x=1.5") == {"x": 13*1.5**12}
    (result,) = loaded("hess", "-e", text, "--at", "x=1.5")["results"]
    assert result["blocks"][0]["hessian"] == 156*1.5**11


def test_the_courtesy_of_the_command_line_ends_with_tapes() -> None:
    text = "var v = 1.0\nconst c = 2.0\np = 3.0\ninput q = 4.0\n"
    covered = text + "v*c*p*q\n"
    taped = text + "tape t:\n    y = v*c*p*q\n"
    names = ["--wrt", "v,c,p,q"]
    assert tape_gradients(covered, *names) == {"v": 24.0, "c": None, "p": 8.0, "q": 6.0}
    assert tape_gradients(covered, *names, "--tf") == {"v": 24.0, "c": None, "p": None, "q": None}
    assert tape_gradients(covered, *names, "--tf", "--watch", "c,q") == {
        "v": 24.0, "c": 12.0, "p": None, "q": 6.0}
    assert tape_gradients(covered.replace("input", "watch(p)\ninput"), *names, "--tf") == {
        "v": 24.0, "c": None, "p": 8.0, "q": None}
    assert tape_gradients(taped, *names) == {"v": 24.0, "c": None, "p": None, "q": None}
    watched = taped.replace("    y", "    t.watch(c)\n    t.watch(p)\n    y")
    assert tape_gradients(watched, *names) == {"v": 24.0, "c": 12.0, "p": 8.0, "q": None}


def test_names_bound_in_blocks_and_functions() -> None:
    text = ("var x = 2.0\nif x > 1:\n    big = x^2\nelse:\n    small = x\n"
            "for k in range(3):\n    last = x*float(k)\ndef f(a):\n    inner = a\n"
            "    return inner\n"
            "y = f(x)\n")
    assert tape_gradients(text, "--of", "big") == {"x": 4.0}
    assert tape_gradients(text, "--of", "last") == {"x": 2.0}
    for name in ("small", "inner"):
        status, _, err = in_process(["grad", "-e", text, "--of", name])
        assert status == 3
        assert err.startswith("error[E0204]: ")


@pytest.mark.parametrize("command", ["grad", "jac", "hess", "eval"])
def test_prints_and_expectations_are_for_run(command: str) -> None:
    text = 'var x = 2.0\nprint("loud")\nexpect 1 == 2\ny = x^2\n'
    status, out, err = in_process([command, "-e", text])
    assert (status, err) == (0, "")
    assert "loud" not in out


# --- what the last name is, and what names mean ---------------------------------------------------

def test_the_last_name_of_a_loop_is_the_target() -> None:
    assert tape_gradients("var x = 2.0\ny = 1.0\nfor k in range(5):\n    y = y*x\n") == {"x": 80.0}
    text = ("var w = 1.0\nfor k in range(10):\n    tape t:\n        loss = (w - 3)^2\n"
            "    w.assign_sub(0.1*t.gradient(loss, w))\n")
    assert tape_gradients(text)["w"] == pytest.approx(-4*0.8**9, rel=1e-14)


def test_the_value_of_a_variable_is_its_last_state() -> None:
    text = "var w = 1.0\ntape t:\n    y = w^2\nw.assign(5)\n"
    assert ok("eval", "-e", text, "--of", "w", "--of", "y") == "w\t5\ny\t1\n"
    assert tape_gradients("var x = 2.0\nx.assign(5)\n", "--of", "x") == {"x": 1.0}


@pytest.mark.parametrize("name", ["t", "a"])
def test_tapes_and_accumulators_are_no_targets_and_take_no_values(name: str) -> None:
    text = "var x = 2.0\ntape t:\n    y = x^2\nforward a(x, 1.0):\n    z = x\n"
    for command in ("grad", "jac", "hess", "eval"):
        status, _, err = in_process([command, "-e", text, "--of", name])
        assert status == 3
        assert err.startswith("error[E0310]: ")
    status, _, err = in_process(["grad", "-e", text, "--at", f"{name}=3"])
    assert status == 3
    assert err.startswith("error[E0204]: ")


@pytest.mark.parametrize(("text", "code", "line"), [
    ("var w = 1.0\ntape t:\n    y = w^2\nz = y*3\n", "path-outside-tape", 4),
    ("var w = 1.0\ntape t:\n    q = w*2\n    t.reset()\n    y = q*3\n", "path-reset", 4),
    ("var w = 1.0\ntape t:\n    stop_recording t:\n        q = w*2\n    y = q*3\n",
     "path-stop-recording", 4),
    ("var w = 1.0\ntape t, watch_accessed_variables=false:\n    y = w*2\n",
     "source-auto-watch-off", 2),
    ("input w = 1.0\ntape t:\n    y = w*2\n", "source-constant-unwatched", 1),
    ("var w = 1.0\ntape t:\n    y = w\nz = w\n", "source-constant-unwatched", 2),
])
def test_the_command_line_tells_what_a_tape_missed(text: str, code: str, line: int) -> None:
    for command in ("grad", "jac", "hess"):
        (result,) = loaded(command, "-e", text)["results"]
        (item,) = result["blocks"] if command == "hess" else result["sources"]
        assert [(why["code"], why["line"]) for why in item["reasons"]] == [(code, line)]


@pytest.mark.parametrize(("block", "place"), [
    ("x = 2", "2:1"), ("tape t: y = x", "2:1"), ("tape t: continue", "3:13")])
def test_an_endless_loop_is_told_at_its_jump(block: str, place: str) -> None:
    status, _, err = run_text(f"x = 1\nwhile true:\n    {block}\n", "--max-steps", "1000")
    assert status == 3
    assert f"--> <stdin>:{place}\n" in err


def test_only_doubtful_gradients_wait_for_their_notes() -> None:
    """What comes after one that zeros absorbed appears as it happens."""
    text = ("var x = 0.0\nvar w = 2.0\ntape t, persistent=true:\n    y = where(x > 0, log(x), 0)\n"
            "    z = w^2\nprint(t.gradient(y, x))\nprint(z)\n")
    waits: list[bool] = []
    question = questions.Question(gradcli.loads(text))
    told = run_program(question, lambda one, wait: waits.append(wait))
    assert waits == [True, False]
    assert [n["code"] for n in told["printed"][0]["values"][0]["notes"]] == ["nan-dead-branch"]
