"""How a process ends: at once, unless something waits for its end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import run

USUAL = """\
import sys
class Kept:
    def __del__(self):
        print("freed")
kept = Kept()
sys.argv = ["gradcli", {arguments}]
from gradcli.__main__ import script
{before}
script()
"""
GRAD = '"grad", "-e", "x^2", "--at", "x=3"'


def ended(warm: dict[str, str | None], before: str = "", arguments: str = GRAD) -> str:
    ran = run(sys.executable, "-c", USUAL.format(before=before, arguments=arguments), env=warm)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("arguments", [
    GRAD, f'{GRAD}, "--format", "table"', '"eval", "-e", "sum([1, 2])"', '"check", "x^2", "2x"',
    '"grad", "-e", "x^2", "--points", "x=[0, 1]"', '"grad", "--help"', '"--version"'])
def test_a_process_that_nothing_waits_for_frees_nothing(
        arguments: str, warm: dict[str, str | None]) -> None:
    ended(warm, arguments=arguments)        # the first check makes tables, with Lark
    assert "freed" not in ended(warm, arguments=arguments)


@pytest.mark.parametrize(("before", "told"), [
    ("import atexit; atexit.register(print, 'handled')", "df/dx\t6\nhandled\nfreed\n"),
    ("import threading, time\n"
     "threading.Thread(target=lambda: (time.sleep(0.2), print('done'))).start()",
     "df/dx\t6\ndone\nfreed\n"),
    ("import cProfile; profile = cProfile.Profile(); profile.enable()", "df/dx\t6\nfreed\n"),
    ("import multiprocessing", "df/dx\t6\nfreed\n")])
def test_what_waits_for_the_end_of_a_process_gets_one(
        before: str, told: str, warm: dict[str, str | None]) -> None:
    assert ended(warm, before) == told


def test_files_that_a_script_leaves_open_are_written(
        tmp_path: Path, warm: dict[str, str | None]) -> None:
    path = tmp_path / "script.py"
    path.write_text("file = open(__file__ + '.out', 'w')\nfile.write('all')\n", encoding="utf-8")
    assert ended(warm, arguments=f'"run", {str(path)!r}') == "freed\n"
    assert path.with_name("script.py.out").read_text(encoding="utf-8") == "all"


def test_a_status_is_that_of_the_command(warm: dict[str, str | None]) -> None:
    for arguments, status in ((["check", "x^2", "x"], 1), (["grad", "--wtr"], 2),
                              (["grad", "-e", "x$"], 3)):
        ran = run(sys.executable, "-m", "gradcli", *arguments, env=warm)
        assert ran.returncode == status
        assert (ran.stdout + ran.stderr).endswith("\n")
