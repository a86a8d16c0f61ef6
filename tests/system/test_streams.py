"""Streams, files, values and names from outside: what is read, what is written, what goes wrong."""

from __future__ import annotations

import gc
import io
import math
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import USUAL, gradients, ok
from commands import Ran, shell
from test_outputs import LINES, line
from transcripts import in_process

import gradcli
from gradcli import questions
from gradcli.base.errors import GradcliError
from gradcli.cli.commands import question
from gradcli.cli.commands.question import TimeUp
from gradcli.cli.environment import Environment, Messages, forget
from gradcli.cli.files import write_file
from gradcli.cli.main import run
from gradcli.cli.options import FORMATS
from gradcli.engine.record import record

# --- streams and files ------------------------------------------------------------------------

class Forbidden(io.RawIOBase):
    """A standard input that nobody may touch."""

    def readable(self) -> bool:
        raise AssertionError("standard input was read")

    read = readinto = readline = readable  # type: ignore[assignment]


def test_standard_input_is_read_for_a_dash_only(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("x^2\n")
    for arguments in (["grad", "-e", "x^2", "--at", "x=3"], ["grad", str(path), "--at", "x=3"],
                      ["ops", "sin"], ["grad", "no-such-file"]):
        out, err = io.StringIO(), io.StringIO()
        environment = Environment(Forbidden(), out, err, {})  # type: ignore[arg-type]
        assert run(arguments, environment) in (0, 3)
    assert in_process(["grad", "-", "--at", "x=3"], b"x^2\n")[:2] == (0, "df/dx\t6\n")
    assert in_process(["grad", "--at", "x=3", "-"], b"x^2")[:2] == (0, "df/dx\t6\n")
    assert in_process(["grad", "-"], b"")[0] == 3
    assert in_process(["grad", "-"], b"x^\xff2")[2].startswith("error[E0603]")


def test_an_open_pipe_nobody_writes_to_is_no_hindrance(gradcli: Callable[..., Ran],
                                                      home: dict[str, str | None]) -> None:
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gradcli", "grad", "-e", "x^2", "--at", "x=3"], stdin=reader,
            capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, **{k: v for k, v in home.items() if v is not None}})
    finally:
        os.close(reader)
        os.close(writer)
    assert (done.returncode, done.stdout, done.stderr) == (0, "df/dx\t6\n", "")


@pytest.mark.parametrize("arguments", [
    "ops --format json", "ops --format table", "ops sin --help", "--help",
    "grad -e 'sum(x)' --at 'x=linspace(0, 1, 20000)' --format json",
    "grad '-esum(x)' --at 'x=linspace(0, 1, 20000)' --format plain"])   # read by Typer
def test_a_closed_pipe_ends_quietly(arguments: str, home: dict[str, str | None]) -> None:
    done = shell(f"set -o pipefail; G {arguments} | head -c 10", home)
    assert (done.returncode, len(done.stdout), done.stderr) == (0, 10, "")
    done = shell(f"G {arguments} | true; echo ${{PIPESTATUS[0]}}", home)
    assert (done.stdout, done.stderr) == ("0\n", "")


CLOSED = "gradcli: cannot write the answer: standard output is closed\n"


def test_closed_streams_and_a_full_disk(home: dict[str, str | None]) -> None:
    usual = "grad -e x^2 --at x=3"
    for script, expected in (
            (f"G {usual} >&-", (3, "", CLOSED)), (f"G {usual} >&- 2>&-", (3, "", "")),
            (f"G {usual} -o /dev/null >&-", (0, "", "")), ("G --help >&-", (3, "", CLOSED)),
            (f"G {usual} 2>&-", (0, "df/dx\t6\n", "")),
            (f"G {usual} <&-", (0, "df/dx\t6\n", "")), ("G grad -e 'x$' 2>&-", (3, "", "")),
            ("G grad --wtr >&- 2>&-", (2, "", ""))):
        done = shell(script, home)
        assert (done.returncode, done.stdout, done.stderr) == expected, script
    if os.path.exists("/dev/full"):
        for arguments in (usual, "--version", f"{usual} -v --format=json", "ops"):
            done = shell(f"G {arguments} >/dev/full", home)
            assert (done.returncode, done.stdout) == (3, "")
            assert done.stderr.startswith("gradcli: cannot write the answer: ")
            assert done.stderr.count("\n") == 1
        for script, expected in (
                ("G grad -e 'x$'", 3), ("G grad --wtr", 2), (f"G {usual}", 0),
                ("G grad -e 'floor(x)' --at x=1.5", 0), (f"G {usual} >/dev/full", 3)):
            done = shell(f"{script} 2>/dev/full >&1", home)     # messages are lost, not the status
            assert (done.returncode, done.stderr) == (expected, ""), script


@pytest.mark.parametrize("command", LINES)
def test_every_command_says_that_its_answer_is_lost(command: str, tmp_path: Path) -> None:
    """On a full disk, and where standard output is closed; and nothing of what it cannot say."""
    argv = line(command, tmp_path)
    for name, mode, reason in ((os.devnull, "r", "standard output is closed"),
                               ("/dev/full", "w", "No space left on device")):
        if not os.path.exists(name):
            continue
        with open(name, mode) as out, open(name, mode) as lost:
            told = io.StringIO()
            assert run(argv, Environment(io.BytesIO(), out, told, {})) == 3
            assert told.getvalue().endswith(f"gradcli: cannot write the answer: {reason}\n")
            # What is told besides may be lost without a trace.
            messages: Any = Messages(lost)
            assert run(argv, Environment(io.BytesIO(), io.StringIO(), messages, {})) in (0, 1)
            forget(out)
            forget(lost)


def test_output_goes_to_the_file_and_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    for format in FORMATS:
        argv = ["grad", "-e", "θ^2", "--at", "θ=3", "--format", format]
        assert ok(*argv, "-o", str(path)) == ""
        assert path.read_bytes().decode() == ok(*argv)
    assert ok("grad", "-e", "x^2", "--at", "x=3", "--color=always", "--format=table", "-o",
              str(path)) == ""
    assert "\x1b" not in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.txt"]


def test_output_is_written_whole_or_not_at_all(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_text("precious\n")
    for bad in ("x^", "nosuch(x)", "x*y"):
        assert in_process(["grad", "-e", bad, "--at", "x=1", "-o", str(path)])[0] == 3
        assert path.read_text() == "precious\n"

    def broken(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    status, _, err = in_process(["grad", *USUAL, "-o", str(path)])
    assert status == 3
    assert err.startswith("error[E0605]: cannot write")
    assert path.read_text() == "precious\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.txt"]


def test_output_keeps_modes_and_links_and_replaces_no_device(tmp_path: Path) -> None:
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    path.write_text("old\n")
    path.chmod(0o640)
    link.symlink_to(path)
    ok("eval", "-e", "1", "-o", str(link))
    assert link.is_symlink()
    assert path.read_text() == "f\t1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ok("eval", "-e", "1", "-o", str(pipe))
        assert os.read(reader, 100) == b"f\t1\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    for target in ("", str(tmp_path), str(tmp_path / "no/where.txt"), "a\0b"):
        status, out, err = in_process(["grad", *USUAL, "-o", target])
        assert (status, out) == (3, "")
        assert err.startswith("error[E0605]: cannot write")
    if os.geteuid():
        tmp_path.chmod(0o500)
        assert in_process(["grad", *USUAL, "-o", str(tmp_path / "x")])[0] == 3
        tmp_path.chmod(0o700)


def test_files_of_all_kinds(tmp_path: Path) -> None:
    def grad(content: bytes) -> tuple[int, str, str]:
        (tmp_path / "f.txt").write_bytes(content)
        return in_process(["grad", str(tmp_path / "f.txt"), "--at", "x=3"])

    assert grad(b"x^2") == (0, "df/dx\t6\n", "")
    assert grad(b"\xef\xbb\xbfx^2\r\n") == (0, "df/dx\t6\n", "")
    assert grad(b"\n\n# only\nx^2 # here\n\n") == (0, "df/dx\t6\n", "")
    for content, code in ((b"", "E0210"), (b"\0" * 100, "E0604"), (b"\x7fELF\x02\xd0", "E0603"),
                          (b"\xff\xfex\0^\x002\0", "E0603")):
        status, out, err = grad(content)
        assert (status, out) == (3, "")
        assert err.startswith(f"error[{code}]")
    status, _, err = in_process(["grad", str(tmp_path)])
    assert status == 3
    assert "is a directory" in err
    assert f"did you mean `{tmp_path}`" not in err
    (tmp_path / "formula.txt").write_text("x")
    assert "did you mean" in in_process(["grad", str(tmp_path / "formulae.txt")])[2]


def test_a_broken_standard_input_is_bad_input() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    out, err = io.StringIO(), io.StringIO()
    assert run(["grad", "-"], Environment(Broken(), out, err, {})) == 3  # type: ignore[arg-type]
    assert err.getvalue().startswith("error[E0601]: cannot read")


def test_a_sum_of_100_000_terms(tmp_path: Path) -> None:
    path = tmp_path / "sum.txt"
    path.write_text(" + ".join(["x*y"] * 100_000))
    assert gradients(str(path), "--at", "x=2,y=3") == {"x": 300_000.0, "y": 200_000.0}
    path.write_text(" + ".join(["x*y"] * 10_000) + " + $")
    status, _, err = in_process(["grad", str(path), "--at", "x=2,y=3"])
    assert status == 3
    assert len(err) < 2000      # the line is shown in part


# --- values and names -------------------------------------------------------------------------

@pytest.mark.parametrize(("value", "code"), [
    ("", "E0214"), ("a", "E0214"), ("x", "E0214"), ("1;2", "E0214"), ("y=2", "E0214"),
    ("(", "E0103"), ("[1,2", "E0103"), ("=2", "E0102"), ("none", "E0306"), ("{'a': 1}", "E0306"),
    ("[[1,2],[3]]", "E0301"),
    ("sinn(1)", "E0201"), ("1e", "E0105"), ("1_000", "E0105"), ("'text'", "E0302"), ("$", "E0101"),
])
def test_values_that_are_none(value: str, code: str) -> None:
    status, out, err = in_process(["grad", "-e", "x^2", "--at", f"x={value}"])
    assert (status, out) == (3, "")
    assert err.startswith(f"error[{code}]")
    assert "\n  --> " in err


@pytest.mark.parametrize("value", ["true", "bool(1)"])
def test_a_value_without_a_slope_says_so(value: str) -> None:
    """A truth value is no reason to ask for `a formula with a variable`."""
    assert ok("grad", "-e", "float(x)^2", "--at", f"x={value}", "--wrt=x", "-q") == "df/dx\tNone\n"
    _, _, err = in_process(["grad", "-e", "float(x)^2", "--at", f"x={value}"])
    assert "write a formula with a variable" not in err


@pytest.mark.parametrize(("value", "gradient"), [
    ("3", 6.0), (" 3 ", 6.0), ("-3", -6.0), ("+3", 6.0), (".5", 1.0), ("3.", 6.0), ("1e-3", 2e-3),
    ("2*pi", 4 * math.pi), ("√4", 4.0), ("2²", 8.0), ("sum([1, 2])", 6.0),
    ("1 if 2 > 1 else 0", 2.0),
    ("inf", math.inf), ("1e999", math.inf), ("-inf", -math.inf), ("nan", math.nan),
])
def test_values(value: str, gradient: float) -> None:
    (found,) = gradients("-e", "x^2", "--at", f"x={value}").values()
    assert repr(float(found)) == repr(gradient)


HOSTILE = ["\x1b[31mred", "a\nb", "\u202eevil", "[bold]x", "=cmd()", "x|y", "`x`", "\udcff",
           "a" * 500, "\0"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_others_reaches_the_terminal_unescaped(text: str) -> None:
    for arguments in (["grad", "-e", "x^2", "--at", "x=1", "--wrt", text],
                      ["grad", "-e", "x^2", "--at", "x=1", "--of", text],
                      ["grad", "-e", "x^2", "--at", f"{text}=1"],
                      ["grad", "-e", "x^2", "--at", f"x={text}"],
                      ["grad", "-e", text], ["grad", text], ["ops", text],
                      ["grad", "-e", "x^2", "--at", "x=1", "--tape", text],
                      ["grad", "-e", "x^2", "--at", "x=1", "-o", f"no/such/{text}"]):
        for format in ("plain", "json"):
            status, out, err = in_process([*arguments, "--format", format])
            assert status == (2 if text == "=cmd()" and f"{text}=1" in arguments else 3), arguments
            assert all(c.isprintable() or c == "\n" for c in out + err)


def test_questions_answer_like_the_library() -> None:
    """`gradcli.questions` is all that stands between the command line and the library."""
    program = gradcli.loads("x^2*y")
    told = questions.grad(questions.Question(program, at={"x": 3.0, "y": 2.0}))
    assert [s["gradient"] for s in told["results"][0]["sources"]] == list(
        program.gradient(at={"x": 3.0, "y": 2.0}).values())


def test_time_that_is_up_while_a_record_closes_leaves_none_open(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """An alarm may come between any two instructions; what Python code asks next has its places."""
    closes = record.Record.__exit__

    def interrupted(self: record.Record, *exception: object) -> None:
        monkeypatch.setattr(record.Record, "__exit__", closes)
        record.local.records.remove(self)
        raise TimeUp("stopped")

    record.current()
    monkeypatch.setattr(record.Record, "__exit__", interrupted)
    status, _, err = in_process(["eval", "-e", "int(2.5)", "--timeout", "100"])
    assert (status, "E0406" in err) == (3, True)
    assert record.current() is record.local.records[-1]
    assert record.current().place is None


ENDLESS = "f(n) = n if n < 2 else f(n - 1) + f(n - 2)\nf(60)"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_time_that_is_up_in_a_callback_of_the_collector_is_up_after_it(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised there is lost."""
    struck = []

    def slow(phase: str, told: dict[str, int]) -> None:
        while not struck:
            struck.extend([1] if time.monotonic() > begin + 0.1 else [])

    monkeypatch.setattr(question, "AGAIN", 0.05)
    begin = time.monotonic()
    gc.callbacks.append(slow)
    try:
        status, _, err = in_process(["eval", "-e", ENDLESS, "--timeout", "0.05", "--max-steps",
                                     "9999999"])
    finally:
        gc.callbacks.remove(slow)
    assert (status, "E0406" in err) == (3, True)


def test_timeout_covers_the_work_and_nothing_after_it() -> None:
    before = signal.getsignal(signal.SIGALRM)
    status, out, err = in_process(["eval", "-e", ENDLESS, "--timeout", "0.05"])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0406]: ")
    assert "\n  --> -e:" in err
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before
    assert ok("eval", "-e", "1", "--timeout", "1000") == "f\t1\n"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("arguments", [
    ["eval", "-e", "ones(1e5)"], ["eval", "-e", "outer(ones(1e3), ones(1e3))"],
    ["eval", "-e", "x*y", "--at", "x=ones(1000),y=ones(1000, 1)"],
    ["jac", "-e", "2x", "--at", "x=ones(1000)"], ["hess", "-e", "sum(x^3)", "--at", "x=ones(1000)"],
    ["jac", "-e", "2x", "--at", "x=ones(1000)", "--mode", "forward"],
])
def test_the_memory_budget_covers_derivatives_too(arguments: list[str]) -> None:
    status, out, err = in_process([*arguments, "--max-memory", "500K"])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0403]: ")


def test_more_than_the_machine_has_is_an_error_like_any_other() -> None:
    status, out, err = in_process(["eval", "-e", "outer(ones(1e7), ones(1e7))"])    # 800 TB
    assert (status, out) == (3, "")
    assert err.startswith("error[E0403]: ")
    assert "\n  --> -e:1:1" in err


@pytest.mark.parametrize("size", [100, 100_000])
def test_a_full_disk_is_told_with_the_name_of_the_file(size: int, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "page.html"
    path.write_text("before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(GradcliError) as caught:
            write_file(str(path), "x" * size)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    one, = caught.value.diagnostics
    assert (one.code, str(path) in one.message) == ("E0605", True)
    assert (one.help or "").startswith("make room")
    assert [(it.name, it.read_text()) for it in tmp_path.iterdir()] == [("page.html", "before")]
