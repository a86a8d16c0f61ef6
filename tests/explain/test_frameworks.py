"""The catalogue in the words of frameworks: whole, readable as Python, and as the page has it."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any

import pytest
from asked import loaded
from folders import ROOT
from transcripts import in_process

from gradcli.cli.options import find
from gradcli.explain.catalogue import NAN, ZERO
from gradcli.explain.frameworks import FRAMEWORKS, ONLY_PYTORCH, WORDS, in_words, page
from gradcli.explain.missing.causes import CAUSES
from gradcli.render import FORMATS

# What TensorFlow, PyTorch and JAX answered to the programs that are the keys, and the slopes of
# formulas at a point; the version is beside them.
RECORDED = json.loads((ROOT / "tests/data/frameworks.json").read_text(encoding="utf-8"))
CAST = "samples/none/path-dtype-cast.txt"


def test_every_code_has_the_words_of_every_framework() -> None:
    assert set(WORDS) == {*CAUSES, *NAN, *ZERO}
    for words in WORDS.values():
        assert len(words) == len(FRAMEWORKS)
        assert all(shows and fix for shows, fix in words)


@pytest.mark.parametrize("cells", [*WORDS.values(), ONLY_PYTORCH], ids=[*WORDS, "only PyTorch"])
def test_what_is_written_as_code_is_python(cells: tuple[tuple[str, ...], ...]) -> None:
    for text in (text for row in cells for text in row):
        assert text.count("`") % 2 == 0
        for code in re.findall("`(.+?)`", text):
            ast.parse(code)


@pytest.mark.parametrize("code", WORDS)
def test_each_framework_is_spoken_of_in_its_own_names(code: str) -> None:
    for (_, fix), own in zip(WORDS[code], ("tf", "torch", "j"), strict=True):
        for module in re.findall(r"`\W*(tf|torch|jnp|jax)\.", fix):
            assert module.startswith(own)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_messages_are_those_that_the_framework_gave(framework: str) -> None:
    """Quoted as `NameError "text"`, with dots for what differs from case to case."""
    given = list(RECORDED[framework]["errors"].values())
    cells = [words[list(FRAMEWORKS).index(framework)] for words in WORDS.values()]
    told = " ".join([text for row in cells for text in row] + [
        text for row in ONLY_PYTORCH for text in row if framework == "pytorch"])
    quoted = re.findall(r'(\w+Error)?(?: |[^"`]* raises )"([^"]{9,})"', told)
    assert quoted
    for name, text in quoted:
        pattern = f"{name or '.*'}: .*" + ".*".join(map(re.escape, text.split("...")))
        assert any(re.match(pattern, message) for message in given), (name, text)
    named = set(re.findall(r"`(\w+Error)`", told))
    assert named <= {message.split(":")[0] for message in given}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_to_write_has_a_gradient_there(framework: str) -> None:
    """At the point where the catalogue's example has none, as the framework answered."""
    fixes = [words[list(FRAMEWORKS).index(framework)][1] for words in WORDS.values()]
    for formula, (_, gradient) in RECORDED[framework]["gradients"].items():
        assert any(f"`{formula}`" in fix for fix in fixes), formula
        assert math.isfinite(gradient)


def test_the_page_is_what_the_words_say(golden: Any) -> None:
    golden(ROOT / "docs" / "frameworks.md", page())


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_why_adds_the_words_for_the_causes_that_it_found(framework: str) -> None:
    answer = loaded("why", CAST, "--framework", framework)
    assert answer["framework"] == in_words(["path-dtype-cast"], framework)
    assert answer["framework"]["name"] == FRAMEWORKS[framework]
    both = loaded("why", "-e", "relu(x) + floor(y)", "--at", "x=-1,y=2.5", "--framework", framework)
    assert [cause["code"] for cause in both["framework"]["causes"]] == [
        "zero-dead", "path-step-function"]
    without = loaded("why", CAST)
    assert "framework" not in without
    del answer["framework"]
    assert answer == without


@pytest.mark.parametrize("format", [f for f in FORMATS if f not in ("csv", "tsv", "ndjson")])
def test_every_format_for_people_shows_them(format: str) -> None:
    status, out, _ = in_process(["why", CAST, "--framework", "jax", "--format", format])
    assert status == 0
    assert "jax.lax.stop" in out.replace("\\", "")


def test_a_gradient_that_exists_has_none() -> None:
    argv = ["why", "-e", "x^2", "--at", "x=3"]
    assert loaded(*argv, "--framework", "jax")["framework"] == {"name": "JAX", "causes": []}
    assert in_process([*argv, "--framework", "jax"]) == in_process(argv)


def test_what_takes_no_framework() -> None:
    for argv in (["why", CAST, "--framework", "mxnet"], ["why", CAST, "--fix", "--framework=jax"]):
        assert in_process(argv)[0] == 2


def test_the_option_lists_the_frameworks() -> None:
    command = find("why")
    assert command is not None
    (option,) = [one for one in command.options if one.name == "framework"]
    assert option.choices == tuple(FRAMEWORKS)
