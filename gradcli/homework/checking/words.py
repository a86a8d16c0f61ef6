"""Answers in words: right if the sheet lists them, and else for a person."""

from __future__ import annotations

import re

from gradcli.formulas.nodes import Formula
from gradcli.homework.checking.built import build, flat
from gradcli.homework.checking.outcome import leave
from gradcli.lang.paper.answer import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem

TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox)\s*\{([^{}]*)\}")
MISSING = frozenset((
    "dne", "doesnotexist", "doesn'texist", "doesntexist", "itdoesnotexist", "thelimitdoesnotexist",
    "thederivativedoesnotexist", "f'(x)doesnotexist", "notdefined", "undefined", "∄",
    "existiertnicht", "nichtdefiniert", "notexist", "n'existepas"))
"""Ways to say that there is none: where a sheet lists one, all are right."""


def judge_words(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> None:
    """Fill in the verdict on an answer in words: right if the sheet lists it, wrong if it is a
    formula, and else for a person.
    """
    given = _folded(text)
    listed = {_folded(word) for word in prepared.problem.words}
    if given in listed or (given in MISSING and listed & MISSING):
        result.update(verdict="correct", score=1.0, message="right", read_as=text.strip())
        return
    formula = Formula()
    reading = read(text, prepared.reference.names)      # what cannot be read is for a person, too
    letters = set(formula.leaves(flat(build(reading.code, formula, ()))))
    if letters <= set(prepared.reference.wrt):
        result.update(verdict="wrong", score=0.0, message="this is not the answer",
                      read_as=reading.read_as, fingerprint=reading.read_as)
    else:
        leave(result, "these words are not listed")


def _folded(text: str) -> str:
    """Return a text without blanks, signs around it and capitals."""
    text = TEXT.sub(r"\1", text).replace("’", "'").casefold()
    return "".join(text.split()).strip(".!,;:$\"'`()")
