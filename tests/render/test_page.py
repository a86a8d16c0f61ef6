"""A format is one writer and one line in a table; a layout knows no format."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import Any

import pytest
from folders import ROOT
from hand_made import HESSIAN, JACOBIAN, SIMPLE, Answer
from transcripts import in_process

from gradcli import render
from gradcli.render import page as parts

BLOCKS = tuple(getattr(parts.Block, "__args__"))    # noqa: B009
FORMULA = ("-e", "x^2*floor(y)", "--at", "x=3,y=1.5")


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format that names the blocks of pages."""
    def write(pages: Any) -> str:
        blocks = [block for page in pages for block in page.blocks]
        assert all(isinstance(block, BLOCKS) for block in blocks)
        return "".join([f"{type(block).__name__}\n" for block in blocks])

    module = ModuleType("gradcli.render.trial")
    module.write = write    # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gradcli.render.trial", module)
    monkeypatch.setitem(render.WRITERS, "trial", ("trial",))


@pytest.mark.parametrize("answer", [SIMPLE, JACOBIAN, HESSIAN], ids=lambda one: one["command"])
def test_a_format_is_a_writer_and_a_line(answer: Answer, trial: None) -> None:
    assert {"Title", "Table", "Causes"} <= set(render.text(answer, "trial").split())


def test_layouts_compare_no_formats() -> None:
    """But for the lines that a program prints, and formulas in languages of their own."""
    for path in (ROOT / "gradcli/render/layouts").glob("*.py"):
        compared = {side.value for node in ast.walk(ast.parse(path.read_text("utf-8")))
                    if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)
                    if isinstance(side, ast.Constant) and isinstance(side.value, str)}
        assert path.stem in ("programs", "formula") or not compared & set(render.WRITERS), path


@pytest.mark.parametrize("command", [
    ("why", *FORMULA), ("steps", *FORMULA), ("verify", "-e", "x^2", "--at", "x=3"),
    ("newton", "-e", "x^2-2", "--at", "x=1"), ("check", "sin(x^2)", "cos(x^2)")],
    ids=lambda command: command[0])
@pytest.mark.parametrize("format", ["table", "plain", "csv", "markdown"])
def test_each_writer_writes_each_page(command: tuple[str, ...], format: str) -> None:
    status, out, err = in_process([*command, "--format", format])
    assert status in (0, 1), err
    assert out.endswith("\n")
