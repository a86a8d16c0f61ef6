"""The README, the tutorials and docs/points.md: each command is run at a terminal of 80 columns and
prints what is shown; the README's pictures show what its commands print.

`pytest --update-golden tests/test_readme.py` writes the outputs into the pages, and the pictures.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from conftest import OnPage
from folders import ROOT
from test_imports import ROOMS
from transcripts import blocks, on_terminal, picture, steps, texts

README = ROOT / "README.md"
PAGES = [README, *(ROOT / f"docs/{name}.md" for name in (
    "shell", "paper", "tapes", "student", "points", "repl", "tensorflow"))]
SHOWN = [(page, *step) for page in PAGES for block in blocks(page.read_text())
         for step in steps(block)]
PICTURES = {"docs/pictures/terminal-grad.svg":
            "gradcli grad samples/expr.txt --wrt x,a,b",
            "docs/pictures/terminal-why.svg":
            "gradcli why samples/seeds/integer_cast.txt"}
# Commands without outputs: in the table of the README, and in blocks for a shell.
TABLE = [command for line in README.read_text().split("## I want")[1].split("\n\n")[1].splitlines()
         for command in re.findall(r"`(gradcli [^`]*)`", line)]
PLAIN = [line for page in [*PAGES, ROOT / "docs/teacher.md"]
         for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
         for line in block.splitlines() if line.startswith("gradcli ")]


def test_the_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 300


def test_the_readme_names_every_command(shim: Path) -> None:
    text = on_terminal("gradcli --help | cat", ROOT, shim)
    commands = re.findall(r"^  (\w+) ", text.split("Commands:")[1], re.MULTILINE)
    assert len(commands) > 20
    assert {command.split()[1] for command in TABLE} == set(commands)


@pytest.mark.parametrize(("page", "command", "shown"), SHOWN,
                         ids=[command for _, command, _ in SHOWN])
def test_command_prints_what_the_page_shows(
        page: Path, command: str, shown: str, shim: Path, on_page: OnPage) -> None:
    on_page(page, command, shown, on_terminal(command, ROOT, shim))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands without outputs read, in which they may write."""
    here = tmp_path_factory.mktemp("page")
    shutil.copytree(ROOT / "samples/homework", here, dirs_exist_ok=True)
    shutil.copy(ROOT / "samples/pendulum.txt", here / "FILE")
    shutil.copy(ROOT / "samples/pendulum.csv", here / "points.csv")
    shutil.copy(ROOT / "samples/scripts/two_heads.py", here / "train.py")
    (here / "docs/pictures").mkdir(parents=True)
    return here


@pytest.mark.parametrize("command", [c for c in [*TABLE, *PLAIN] if " " in c.strip()[8:]])
def test_command_without_output_works(command: str, folder: Path, shim: Path) -> None:
    """A wrong answer among the homework is status 1."""
    printed = on_terminal(f"{command}; echo status $?", folder, shim)
    assert printed.rstrip().endswith("status 1" if " hw run " in command else "status 0")


@pytest.mark.parametrize(("name", "command"), PICTURES.items(), ids=PICTURES)
def test_the_picture_shows_what_the_command_prints(
        name: str, command: str, shim: Path, request: pytest.FixtureRequest) -> None:
    """Texts are compared, as versions of Rich draw the same text otherwise."""
    drawn = picture(command, on_terminal(command, ROOT, shim, colour=True))
    if request.config.getoption("--update-golden"):
        (ROOT / name).write_text(drawn, encoding="utf-8")
    stored = (ROOT / name).read_text(encoding="utf-8")
    assert f"({name})" in README.read_text()
    assert texts(stored) == texts(drawn)
    assert "http" not in stored.replace("http://www.w3.org/2000/svg", "").replace(
        "https://www.textualize.io", "")
    assert len(texts(stored)) > 10


def test_python_example_gives_what_it_shows() -> None:
    """`>>>` lines of the README's Python block, evaluated; the line below is their value."""
    block = README.read_text().split("```python\n")[1].split("```")[0].splitlines()
    names: dict[str, object] = {}
    compared = 0
    for line, following in zip(block, [*block[1:], ""], strict=True):
        if not line.startswith(">>> "):
            continue
        code = line[4:]
        if following and not following.startswith(">>>"):
            assert eval(code, names) == ast.literal_eval(following)
            compared += 1
        else:
            exec(code, names)
    assert compared >= 2


# --- docs/architecture.md ---------------------------------------------------------------------

ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_every_path_of_the_architecture_exists() -> None:
    named = set(re.findall(r"`((?:gradcli|grammars|tests)/[^`]*)`", ARCHITECTURE))
    assert len(named) > 30
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_rooms_of_the_architecture_are_those_of_the_imports() -> None:
    assert tuple(re.findall(r"^\| `(\w+)/`", ARCHITECTURE, re.MULTILINE)) == ROOMS[1:]


# --- docs/contributing.md ---------------------------------------------------------------------

CONTRIBUTING = (ROOT / "docs/contributing.md").read_text(encoding="utf-8")
DIFFS = re.findall(r"^```diff (\S+)\n(.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL)
# What is made for trial.
NEW = {"samples/none/source-empty.txt", "gradcli/render/org.py", "gradcli/formulas/text/julia.py",
       "gradcli/schemas/curvature.schema.json", "samples/errors/CODE-name.txt"}


def test_every_path_of_contributing_exists() -> None:
    named = set(re.findall(r"\b((?:gradcli|tests|docs|samples)/[\w./-]*\w/?)", CONTRIBUTING))
    assert len(named) > 40
    assert {name for name in named if not (ROOT / name).exists()} == NEW
    links = re.findall(r"\]\((\w+\.md)\)", CONTRIBUTING)
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)


@pytest.mark.parametrize(("path", "diff"), DIFFS, ids=[path for path, _ in DIFFS])
def test_the_lines_around_a_change_are_in_its_file(path: str, diff: str) -> None:
    """Those that stay and those that go; what is added is not there yet."""
    there = "\n" + (ROOT / path).read_text(encoding="utf-8")
    lines = diff.splitlines()
    assert {line[:1] for line in lines} <= {" ", "+", "-"}
    assert "\n".join(["", *[line[1:] for line in lines if not line.startswith("+")]]) in there
    assert [line for line in lines if line.startswith("+def") and line[1:] in there] == []


def test_contributing_is_short() -> None:
    lines = CONTRIBUTING.splitlines()
    assert len(lines) <= 250
    assert [line for line in lines if len(line) > 100] == []
