"""The table of commands: rows that are whole, help and documents that are made of them."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from asked import SCHEMAS
from conftest import folded
from transcripts import in_process

from gradcli.cli import options
from gradcli.cli.commands import question
from gradcli.cli.environment import Environment
from gradcli.cli.main import run
from gradcli.cli.options import commands, find, read
from gradcli.cli.options.questions import QuestionOptions
from gradcli.render.layouts import study
from gradcli.render.layouts.calculus import PAGES

COMMANDS = [row.name for row in commands()]

ROOT = Path(__file__).resolve().parents[2]
MODULES = [path.stem for path in (ROOT / "gradcli/cli/options").glob("[!_]*.py")]


def test_each_row_has_its_place_and_is_found_by_name() -> None:
    places = {row.name: module for module in MODULES for row in getattr(
        import_module(f"gradcli.cli.options.{module}"), "ROWS", ())}
    assert list(dict.fromkeys(places[name] for name in COMMANDS)) == list(options.MODULES)
    assert sorted(places) == sorted(COMMANDS)
    assert [find(name) for name in COMMANDS] == list(commands())
    assert find("gradient") is None


@folded
@pytest.mark.parametrize("name", COMMANDS)
def test_a_row_is_whole(name: str) -> None:
    row = find(name)
    module, _, function = row.run.partition(".")
    runs = getattr(import_module(f"gradcli.cli.commands.{module}"), function)
    assert [*inspect.signature(runs).parameters] == ["options", "environment"]
    assert row.summary.endswith(".")
    assert row.examples
    assert row.schema().removesuffix(".schema.json") in SCHEMAS or not row.formats()
    flags = [flag for option in row.options for flag in option.flags]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("name", [name for name in COMMANDS if find(name).question])
def test_a_question_takes_the_options_of_its_row(name: str) -> None:
    row = find(name)
    module, _, function = row.question.rpartition(".")
    asked = getattr(import_module(f"gradcli.questions.{module}"), function)
    own = {one.name for one in row.options} - set(QuestionOptions.fields())
    first, *others = inspect.signature(asked).parameters
    assert (first, set(others)) == ("question", own)
    assert name in (*PAGES, *study.PAGES, "verify")


@folded
@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_panel_for_each_kind_of_option(name: str) -> None:
    """Each option stands in its own, in the order of the row."""
    status, out, err = in_process([*name.split(), "--help"])
    assert (status, err) == (0, "")
    shown: dict[str, list[str]] = {}
    for line in out.partition("Arguments:" if find(name).arguments else "\n\n")[2].splitlines():
        if re.fullmatch(r"[A-Z]\w+:", line):
            shown[line[:-1]] = []
        elif line.startswith("  -"):
            shown[[*shown][-1]].append(re.split(r",? +", line.strip())[0])
    meant: dict[str, list[str]] = {}
    for option in find(name).options:
        meant.setdefault(option.panel, []).append(option.flags[0])
    meant["Output"].append("-h")
    shown.pop("Examples", None)
    assert shown == meant
    assert [*shown] == [*meant]
    assert [panel for panel in shown if panel in ("Question", "Point", "Output", "Limits")] == [
        panel for panel in ("Question", "Point", "Output", "Limits") if panel in shown]


PANELS = {
    "Question": "expression latex wrt of mode kind", "Point": "at points sigma domain",
    "Output": "format digits output out color quiet verbose strict fix write",
    "Limits": "jobs scheduler max_steps max_memory timeout seed"}


@folded
@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_all_commands_have_the_panel_of_their_kind(name: str) -> None:
    panels = {one.name: one.panel for one in find(name).options}
    for panel, names in PANELS.items():
        assert {panels.get(one, panel) for one in names.split()} == {panel}


# --- documents ------------------------------------------------------------------------------------


def test_the_documentation_lists_all_commands(request: pytest.FixtureRequest) -> None:
    """Under --update-golden the list is written anew."""
    page = ROOT / "docs/README.md"
    rows = "".join([f"| `gradcli {name}` | {find(name).summary} |\n" for name in COMMANDS])
    text = page.read_text(encoding="utf-8")
    fresh, found = re.subn(r"(\| command \| .*\n\|---.*\n)(\|.*\n)*", lambda m: m[1] + rows, text)
    if request.config.getoption("--update-golden"):
        page.write_text(fresh, encoding="utf-8")
    assert found == 1
    assert page.read_text(encoding="utf-8") == fresh


def test_the_readme_names_every_command() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## I want")[2]
    named = set(re.findall(r"`gradcli (\w+)", table.partition("\n## ")[0]))
    assert {name.split()[0] for name in COMMANDS} <= named


# --- what reaches a command -----------------------------------------------------------------------


def test_reading_latex_leaves_the_options_as_they_are() -> None:
    line = ["grad", "-e", r"\mu^2", "--latex", "--at", "mu=3", "--wrt", "mu"]
    options = read(line)
    assert isinstance(options, QuestionOptions)
    before = dict(vars(options))
    out = StringIO()
    assert question.run(options, Environment(BytesIO(), out, StringIO(), {})) == 0
    assert out.getvalue().endswith("\t6\n")
    assert vars(options) == before


@pytest.mark.parametrize("line", [
    ["plot", "-e", "x", "--over", "x=0:1", "--format", "table"], ["grad", "--wtr", "x"],
    ["nonsense"], ["hw", "nonsense"], ["check", "x"], ["grad", "-e", "x", "-e", "y"]])
def test_a_usage_error_is_told_where_the_environment_says(
        line: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    out, err = StringIO(), StringIO()
    assert run(line, Environment(BytesIO(), out, err, {})) == 2
    assert out.getvalue() == ""
    assert "Error: " in err.getvalue()
    assert capfd.readouterr() == ("", "")
