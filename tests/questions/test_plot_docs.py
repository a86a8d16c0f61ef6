"""docs/pictures.md: its commands print what is shown, and its pictures are what they draw.

Versions of matplotlib write the same picture differently, so pictures are compared as a reader sees
them: curves by the coordinates of their points, texts by what they say.
`pytest --update-golden tests/questions/test_plot_docs.py` writes page and pictures.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import OnPage
from folders import ROOT
from test_plot import SVG, Page, at
from transcripts import blocks, in_process, on_terminal, steps

PAGE = ROOT / "docs/pictures.md"
STEPS = [step for block in blocks(PAGE.read_text(encoding="utf-8")) for step in steps(block)]
DRAWN = [command for command, _ in STEPS if " -o " in command]
GRAPH = "gradcli graph samples/none/path-outside-tape.txt --format mermaid -q"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place where the page's commands may write."""
    here = tmp_path_factory.mktemp("page")
    (here / "docs/pictures").mkdir(parents=True)
    (here / "samples").symlink_to(ROOT / "samples")
    return here


@pytest.mark.parametrize(("command", "shown"), STEPS, ids=[command for command, _ in STEPS])
def test_the_page_shows_what_happens(
        command: str, shown: str, folder: Path, shim: Path, request: pytest.FixtureRequest,
        on_page: OnPage) -> None:
    on_page(PAGE, command, shown, on_terminal(command, folder, shim))
    made = re.search(r" -o (\S+)", command)
    if request.config.getoption("--update-golden") and made is not None:
        (ROOT / "docs/pictures").mkdir(exist_ok=True)
        shutil.copy(folder / made[1], ROOT / made[1])
    elif made is not None:
        assert f"](pictures/{Path(made[1]).name})" in PAGE.read_text(encoding="utf-8")
        alike(Page((folder / made[1]).read_text(encoding="utf-8")),
              Page((ROOT / made[1]).read_text(encoding="utf-8")))


def alike(one: Page, other: Page) -> None:
    """The same curves in the same frame, with the same texts."""
    assert sorted(one.texts) == sorted(other.texts)
    curves = [g.get("id", "") for g in one.root.iter(f"{SVG}g")
              if g.get("id", "").startswith("curve-")]
    height = abs(400 * one.scale["y"][0])
    for name in curves:
        first, second = one.pieces(name), other.pieces(name)
        assert len(first) == len(second)
        for piece in first:
            for x, y in piece[1:-1:10]:
                # A steep piece is known across, not up.
                near = [at(second, x + dx) for dx in (-0.02, 0.0, 0.02)
                        if any(p[0][0] <= x + dx <= p[-1][0] for p in second)]
                assert min(near) - 0.01 * height <= y <= max(near) + 0.01 * height
    arrows = [page.element("gradient").findall(f".//{SVG}path") if page.has("gradient") else []
              for page in (one, other)]
    assert len(arrows[0]) == len(arrows[1])
    assert curves or arrows[0]


def test_there_are_pictures() -> None:
    assert len(DRAWN) >= 3
    stored = {path.name for path in (ROOT / "docs/pictures").iterdir()
              if not path.name.startswith("terminal-")}
    assert stored == {Path(command.split(" -o ")[1]).name for command in DRAWN}
    assert all(path.stat().st_size < 300_000 for path in (ROOT / "docs/pictures").iterdir())


def test_the_graph_is_drawn_on_the_page(request: pytest.FixtureRequest) -> None:
    """The Mermaid block is what the command above it prints."""
    text = PAGE.read_text(encoding="utf-8")
    status, out, _ = in_process(GRAPH.split()[1:])
    assert status == 0
    assert f"```mermaid\n{out}```\n" in text
