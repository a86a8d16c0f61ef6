"""The README's own commands, and those of docs/points.md: each is run at a terminal of 80 columns
and prints what is shown.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from conftest import OnPage
from folders import ROOT
from transcripts import blocks, make_shim, on_terminal, steps

README = ROOT / "README.md"
POINTS = ROOT / "docs/points.md"
SHOWN, OF_POINTS = [
    [(page, *step) for block in blocks(page.read_text()) for step in steps(block)]
    for page in (README, POINTS)]


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shim(tmp_path_factory.mktemp("bin"))


def test_there_is_a_tour() -> None:
    assert len(SHOWN) >= 12
    used = {word for _, command, _ in SHOWN for word in command.split()}
    assert {"grad", "jac", "hess", "eval", "ops"} <= used


@pytest.mark.parametrize(("page", "command", "shown"), [*SHOWN, *OF_POINTS],
                         ids=[command for _, command, _ in (*SHOWN, *OF_POINTS)])
def test_command_prints_what_the_page_shows(
        page: Path, command: str, shown: str, shim: Path, on_page: OnPage) -> None:
    on_page(page, command, shown, on_terminal(command, ROOT, shim))


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
