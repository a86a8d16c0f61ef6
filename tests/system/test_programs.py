"""The generator of programs: what it draws is all of its grammars, and stays whole made smaller."""

from __future__ import annotations

import random
import re

import differential_programs
import pytest
from draws import drawn
from program_grammars import ANY, INPUTS, RUNNABLE, SOUND, STARTING
from programs import Draw, Form, Grammar


@pytest.mark.parametrize(("grammar", "start", "names", "count"), [
    (SOUND, "program", INPUTS, 900), (RUNNABLE, "block", STARTING, 400),
    (ANY, "block", STARTING, 400),
    (differential_programs.GRAMMAR, "program", {"s": ["x"], "v": ["u"]}, 400)])
def test_every_form_is_drawn(grammar: Grammar, start: str, names: dict[str, list[str]], count: int
                             ) -> None:
    stream = random.Random(3)
    found = set().union(*[Draw(grammar, stream, names).tree(start, 3).features()
                          for _ in range(count)])
    every = {form.text for forms in grammar.forms.values() for form in forms}
    # Whether a statement stands in a loop or a function makes no other form of it.
    plain = re.compile("[LF]")
    missing = {plain.sub("", form) for form in every} - {plain.sub("", form) for form in found}
    assert not missing


def test_scopes_depths_and_brackets() -> None:
    grammar = Grammar({
        "program": ["{def=}\n{s+} = {f!}({s})\nif {s1}:\n    {block&}\n{s!}"],
        "def": ["{f+}({s*}) = {s@}"],
        "block": ["{s+} = {s0}\n{s!}"],
        "s": ["{s!}", Form("{s:2}+{s:2}", 1, 1), "({s?})"]}, ends={"s": 0.0}, functions=["f"])
    for seed in range(40):
        text = Draw(grammar, drawn(seed), {"s": ["x"], "f": ["g"]}).text("program", 2)
        head, line, _, inner, last, end = text.splitlines()
        assert "s2" in head.partition("=")[2]
        assert "x" not in head
        assert line.startswith(("s3 = g(", "s3 = f1("))
        assert not {"s2", "s3"} & set(re.findall(r"\w+", line)[1:])
        assert inner in ("    s4 = s3", "    s4 = x")
        assert last.strip() in ("s4", "s3", "x")
        assert end in ("x", "s3")
