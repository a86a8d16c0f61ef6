"""gradcli repl: sessions of three readers, in a pipe and on a terminal, and what is hostile."""

from __future__ import annotations

import os
import re
import select
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from folders import DATA
from transcripts import in_process

SESSIONS = sorted((DATA / "session").glob("*.txt"))
PROMPT = "> "
PATIENCE = 60.0


def blocks(path: Path) -> list[tuple[str, str]]:
    """The inputs of a session, each with what is shown: lines that begin with `> ` or `... `."""
    found: list[tuple[list[str], list[str]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT):
            found.append(([line[2:]], []))
        elif line.startswith("... "):
            found[-1][0].append(line[4:])
        elif found:
            found[-1][1].append(line)
    return [("\n".join(typed), "\n".join(shown)) for typed, shown in found]


@pytest.mark.parametrize("path", SESSIONS, ids=[path.stem for path in SESSIONS])
def test_a_session_is_as_it_was(path: Path, request: pytest.FixtureRequest, tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    """Each input is entered behind all before it; what is new is its answer."""
    monkeypatch.chdir(tmp_path)
    made = []
    before = ("", "")
    typed = ""
    for text, _ in blocks(path):
        typed += text + "\n"
        status, out, err = in_process(["repl", "--keep-going"], typed.encode())
        assert status in (0, 1, 2, 3), err
        assert out.startswith(before[0])
        new = err[len(before[1]):] if err.startswith(before[1]) else err
        shown = (out[len(before[0]):] + new).rstrip()
        before = out, err
        made.append("> " + text.replace("\n", "\n... ") + "\n" + shown)
    whole = "\n".join(made) + "\n"
    if request.config.getoption("--update-golden"):
        path.write_text(whole, encoding="utf-8")
    assert whole == path.read_text(encoding="utf-8")


def test_a_pipe_ends_at_the_first_error() -> None:
    status, out, err = in_process(["repl"], b"x = 2\nx^^2\nx\n")
    assert (status, out) == (3, "x\t2\n")
    assert "E0102" in err
    status, out, _ = in_process(["repl", "--keep-going"], b"x = 2\nx^^2\nx\n")
    assert (status, out) == (3, "x\t2\nx\t2\n")


def test_what_fails_changes_nothing() -> None:
    """A statement that is wrong binds nothing, and the question before stays the last one."""
    status, out, _ = in_process(["repl", "--keep-going"], b"\n".join([
        b"x = 2", b"x = 3 +", b"f(t) = t^", b"for i in range(3):\n", b"    y = nope(i)", b"names",
        b"grad floor(x)*x", b"grad x^^2", b"why"]))
    assert status == 3
    assert "var x = 2\n" in out
    assert "f(t)" not in out
    assert "for" not in out
    assert "floor(x)" in out.partition("df/dx")[2]


def test_a_saved_session_is_an_expression_file(tmp_path: Path) -> None:
    file = tmp_path / "kept.txt"
    typed = f"y = x^2 sin x\nx = 3\nh(t) = t^2\nz = h(y) + 1\nsave {file}\n"
    assert in_process(["repl"], typed.encode())[0] == 0
    status, out, _ = in_process(["eval", str(file), "--of", "z"])
    assert (status, out) == (0, f"z\t{(9*0.1411200080598672)**2 + 1!r}\n")


@pytest.mark.parametrize("typed", [
    b"\xff\xfe\x00\x01\n", b"x" * 1_000_000 + b"\n", b"(" * 100_000 + b"\n",
    b"for i in range(3):\n",
    b"if x:\n\n\n", b"grad 'unfinished\n", b"save\n", b"f(f) = f(f)\nf(1)\n", b"ans = ans\n",
    b"a = b\nb = a\na\nb\n", b"x = x\n", b"grad --wrt\n", b"-e\n", b"--help\n", b"plot\n",
    b"tape t:\n    y = x^2\n", b"why\nsteps\nstudy\n", b"hw run nope\n", b"check\n"],
    ids=lambda typed: repr(typed[:24]))
def test_hostile_lines_are_errors_at_most(typed: bytes) -> None:
    status, out, err = in_process(["repl", "--keep-going"], typed + b"1+1\n")
    assert status in (0, 1, 2, 3), err
    assert "Traceback" not in out + err
    assert "a bug" not in err
    assert out.endswith("ans\t2\n")


def test_a_closed_pipe_ends_it() -> None:
    done = subprocess.run(f"{sys.executable} -m gradcli repl | head -1", shell=True, check=True,
                          input=b"1\n" * 500, capture_output=True)
    assert done.stdout == b"ans\t1\n"
    assert done.stderr == b""


def test_a_pipe_loads_no_editor_and_no_history(tmp_path: Path) -> None:
    code = ("import sys; from gradcli.cli.main import run; from gradcli.cli.environment import"
            " Environment; run(['repl'], Environment()); print(sorted({'readline',"
            " 'prompt_toolkit', 'typer', 'rich', 'scipy', 'matplotlib'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], input=b"x = 3\nx^2\n", check=True,
                          capture_output=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)})
    assert done.stdout.endswith(b"[]\n")
    assert not list(tmp_path.iterdir())


# --- on a terminal --------------------------------------------------------------------------------

def at_terminal(typed: Sequence[str], state: Path, *arguments: str, toolkit: bool = False) -> str:
    """What a terminal shows of a session; each text is typed when the prompt before it is there."""
    import pty

    blocked = state / "blocked" / "prompt_toolkit"
    blocked.mkdir(parents=True, exist_ok=True)
    (blocked / "__init__.py").write_text("raise ImportError\n")
    child, terminal = pty.fork()
    if not child:
        os.environ.update(
            TERM="xterm", COLUMNS="80", XDG_STATE_HOME=str(state), NO_COLOR="1",
            PROMPT_TOOLKIT_NO_CPR="1", PYTHONPATH="" if toolkit else str(blocked.parent))
        os.execv(sys.executable, [sys.executable, "-m", "gradcli", "repl", *arguments])
    shown = b""
    waiting = list(typed)
    seen = idle = 0
    last = ""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            if toolkit and shown and waiting:       # whose prompt ends in signs that vary
                os.write(terminal, waiting.pop(0).encode())
            idle += 1
            if idle % 10 == 0 and last == "\x03":   # readline may sleep over an interrupt
                os.write(terminal, b"\r")
            continue
        idle = 0
        try:
            new = os.read(terminal, 65536)
        except OSError:
            break
        if not new:
            break
        shown += new
        if waiting and not toolkit and re.search(rb"(> |\.\.\. )$", shown[seen:]):
            seen = len(shown)
            last = waiting.pop(0)
            os.write(terminal, last.encode())
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode("utf-8", "replace")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_person_types(tmp_path: Path) -> None:
    shown = at_terminal(
        ["x = 3\r", "x^2 sin x\r", "\x03", "for i in range(2):\r", "    print(7*i)\r", "\r",
         "z^^2\r", "tange\t x^2\r", "names\r", "\x04"], tmp_path)
    for words in ("help tells more", "ans = 1.27008", "... ", "\r\n7\r\n", "error[E0102]",
                  "normal vector", "var x = 3"):
        assert words in shown, (words, shown)
    history = tmp_path / "gradcli" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert "x^2 sin x" in history.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_an_endless_line_is_interrupted(tmp_path: Path) -> None:
    shown = at_terminal(
        ["s = 0\r", "for i in range(10^9):\r", "    s = s + i\r", "\r", "1 + 1\r", "\x04"],
        tmp_path, "--no-history", "--timeout", "2", "--max-steps", "100000000000")
    assert "E0406" in shown
    assert "ans = 2" in shown
    assert not (tmp_path / "gradcli").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_prompt_toolkit_is_used_where_it_is(tmp_path: Path) -> None:
    pytest.importorskip("prompt_toolkit", reason="the extra repl is not installed")
    shown = at_terminal(["x = 3\r", "x^2\r", "\x04"], tmp_path, toolkit=True)
    assert "ans = 9" in shown
    assert "x^2" in (tmp_path / "gradcli" / "history").read_text()
