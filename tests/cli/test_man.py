"""Manual pages, completion and the examples in help: all made from the rows of the options."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run
from conftest import folded
from folders import ROOT
from transcripts import in_process

from gradcli.cli.man import GROUPS, SIGNS, escaped, pages
from gradcli.cli.options import commands, find, read

COMMANDS = [row.name for row in commands()]

PAGES = pages()
# What man(7) and these pages know.
REQUESTS = {".TH", ".SH", ".SS", ".TP", ".B", ".nf", ".fi"}


def plain(page: str) -> str:
    """A page without its markup."""
    text = re.sub(r"\\f[BIR]", "", page)
    for character, sign in reversed(SIGNS.items()):
        text = text.replace(sign, character)
    return text.replace("\\&", "")


def test_there_is_a_page_for_each_command() -> None:
    assert set(PAGES) == {"gradcli.1", "gradcli-hw.1"} | {
        f"gradcli-{command.replace(' ', '-')}.1" for command in COMMANDS}


@folded
@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_page(command: str) -> None:
    page = plain(PAGES[f"gradcli-{command.replace(' ', '-')}.1"])
    row = find(command)
    blocks = re.split(r"\n\.SS .*\n\.TP\n|\n\.TP\n", page)
    assert [line[4:] for line in page.splitlines() if line.startswith(".SS ")] == list(
        dict.fromkeys([option.panel for option in row.options]))
    for option in row.options:
        (block,) = [b for b in blocks if re.match(rf"{re.escape(', '.join(option.flags))}\s", b)]
        assert option.help in block
        assert option.metavar in block
        assert ("One of" in block) == bool(option.metavar and option.choices)
        for choice in option.choices:
            assert choice in block
    for argument in row.arguments:
        assert f"[{argument.name.upper()}]" in page
    for example in row.examples:
        assert f"\n{example}\n" in page
    assert row.summary in page


@folded
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_roff(name: str) -> None:
    page = PAGES[name]
    lines = page.splitlines()
    assert lines[0].startswith(f'.TH "{name[:-2].upper()}" "1" ')
    assert page.endswith("\n")
    for line in lines:
        assert line, "a blank line is a paragraph of its own"
        if line[0] in ".'":
            assert line.split()[0] in REQUESTS
        # Each backslash begins a known escape, each font is ended.
        assert re.sub(r"\\(\((rs|ha|ti|ga|aq)|f[BIR]|-|&)", "", line).count("\\") == 0
        assert len(re.findall(r"\\f[BI]", line)) == line.count(r"\fR")
        assert not re.search(r"[^\\]-[-a-z]", line.removeprefix(".TH")) or line.startswith(".TH")
    assert lines.count(".nf") == lines.count(".fi") == 1
    sections = [line[4:] for line in lines if line.startswith(".SH ")]
    assert sections[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
    assert sections[-3:] == ["EXAMPLES", "EXIT STATUS", "SEE ALSO"]
    assert len(set(sections)) == len(sections)


def test_pages_name_each_other() -> None:
    for name, page in PAGES.items():
        for other in re.findall(r"\\fB([^\n]+?)\\fR\(1\)", page):
            assert f"{plain(other)}.1" in PAGES, name


def test_groff_finds_nothing_to_say() -> None:
    groff = shutil.which("groff")
    if groff is None:       # the tests above hold in any case
        return
    for name, page in PAGES.items():
        done = subprocess.run([groff, "-man", "-ww", "-Tutf8"], input=page, text=True,
                              capture_output=True, check=True)
        assert done.stderr == "", name


def test_a_line_cannot_become_a_command_of_roff() -> None:
    assert escaped(".5 of 'x^2'") == r"\&.5 of \(aqx\(ha2\(aq"
    assert escaped(r"\frac") == r"\(rsfrac"


def test_the_pages_are_written(tmp_path: Path) -> None:
    done = run(sys.executable, "-m", "gradcli.cli.man", str(tmp_path / "man1"), cwd=ROOT)
    assert done.returncode == 0
    assert {p.name: p.read_text() for p in (tmp_path / "man1").iterdir()} == PAGES
    assert run(sys.executable, "-m", "gradcli.cli.man", cwd=ROOT).stderr.startswith("usage")


# --- help -------------------------------------------------------------------------------------


@folded
@pytest.mark.parametrize("command", [*COMMANDS, "", "hw"])
def test_help_shows_every_example(command: str) -> None:
    status, out, err = in_process([*command.split(), "--help"])
    assert (status, err) == (0, "")
    for example in GROUPS[command][1] if command in GROUPS else find(command).examples:
        assert f"\n    {example}\n" in out


@folded
@pytest.mark.parametrize("example", [e for name in COMMANDS for e in find(name).examples])
def test_examples_are_command_lines(example: str) -> None:
    words = shlex.split(example.rpartition("| ")[2])
    assert words[0] == "gradcli"
    assert read(words[1:]) is not None


# --- completion -------------------------------------------------------------------------------


def completed(shell: str, words: str) -> str:
    """What a shell is told to complete a line to."""
    ask = {"_GRADCLI_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": words,
           "_TYPER_COMPLETE_FISH_ACTION": "get-args", "COMP_WORDS": words,
           "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = run(sys.executable, "-m", "gradcli", cwd=ROOT, env=ask)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_options_and_values(shell: str) -> None:
    every = completed(shell, "gradcli ")
    for command in COMMANDS:
        assert command.split()[0] in every
    assert "steps" in completed(shell, "gradcli st")
    assert "--unconnected" in completed(shell, "gradcli grad --un")
    formats = completed(shell, "gradcli grad --format ma")
    assert "markdown" in formats
    assert "json" not in formats
    assert "explain" in completed(shell, "gradcli hw e")
    assert "tanh" in completed(shell, "gradcli ops tan")


@pytest.mark.parametrize(("shell", "known"), [
    ("bash", "complete -o default -F"), ("zsh", "#compdef gradcli"),
    ("fish", "complete --command gradcli")])
def test_the_scripts_for_shells(shell: str, known: str) -> None:
    done = run(sys.executable, "-m", "gradcli", cwd=ROOT,
               env={"_GRADCLI_COMPLETE": f"source_{shell}"})
    assert done.returncode == 0
    assert known in done.stdout
    assert "_GRADCLI_COMPLETE=complete_" in done.stdout
    program = shutil.which(shell)
    if program is not None:
        assert run(program, "-n", "/dev/stdin", stdin=done.stdout).returncode == 0
