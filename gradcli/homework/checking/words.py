"""Answers in words: right if the sheet lists them, and else for a person."""

from __future__ import annotations

import re

from gradcli.formulas.nodes import Formula
from gradcli.homework.checking.built import build, flat
from gradcli.homework.checking.outcome import leave
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.tokens import SCHOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.homework.checking.prepared import PreparedProblem

TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox)\s*\{([^{}]*)\}")
MISSING = frozenset((
    "dne", "doesnotexist", "doesn'texist", "doesntexist", "itdoesnotexist", "thelimitdoesnotexist",
    "thederivativedoesnotexist", "f'(x)doesnotexist", "notdefined", "undefined", "∄",
    "existiertnicht", "nichtdefiniert", "notexist", "n'existepas", "d.n.e", "thelimitdne",
    "thederivativedne", "limitdoesnotexist"))
"""Ways to say that there is none: where a sheet lists one, all are right."""

LEFT = re.compile(r"(?:(?:answer|ans|antwort)\s*[:=]|(?:[fy]\s*'\s*(?:\(([^()]*)\))?"
                  r"|d[fy]\s*/\s*d[a-z])\s*=?)\s*(?=[^\W\d]|∄|\\)", re.IGNORECASE)
PLACE = re.compile(r"[\s,]*(?:\b(?:at|when|if|for|where|bei|für)\s+|[,(]\s*)"
                   r"([a-zA-Z])\s*=\s*([^\s(),;]+?)[\s).]*$", re.IGNORECASE)
WORDS = re.compile(r"(?<![\\\w])[^\W\d_]{3,}")
KNOWN = frozenset((*SCHOOL, *"the answer ans antwort derivative slope limit lim value".split()))
"""Words that may stand in a formula, which is no answer in words."""


def judge_words(prepared: PreparedProblem, text: str, result: dict[str, Any]) -> None:
    """Fill in the verdict on an answer in words: right if the sheet lists it, wrong if it is a
    formula, and else for a person.
    """
    given = _folded(_bare(text, prepared.problem.at))
    listed = {_folded(word) for word in prepared.problem.words}
    if given in listed or (given in MISSING and listed & MISSING):
        result.update(verdict="correct", score=1.0, message="right", read_as=text.strip())
        return
    formula = Formula()
    reading = read(text, prepared.reference.names)      # what cannot be read is for a person, too
    letters = set(formula.leaves(flat(build(reading.code, formula, ()))))
    if letters <= set(prepared.reference.wrt) and KNOWN.issuperset(
            WORDS.findall(TEXT.sub(r" \1 ", text).casefold())):
        result.update(verdict="wrong", score=0.0, message="this is not the answer",
                      read_as=reading.read_as, fingerprint=reading.read_as)
    else:
        leave(result, "these words are not listed")


def _bare(text: str, at: Mapping[str, float]) -> str:
    """Return an answer without its label and the point of the problem: f'(0) = DNE at x = 0."""
    place = PLACE.search(text)
    if place is not None and _is_value(place[2], at.get(place[1])):
        text = text[:place.start()]
    label = LEFT.match(text.strip().replace("’", "'"))
    if label is None or not (label[1] is None or label[1].strip() in at or any(
            _is_value(label[1], value) for value in at.values())):
        return text
    return text.strip()[label.end():]


def _is_value(text: str, value: float | None) -> bool:
    try:
        return value is not None and float(text.replace("−", "-")) == value
    except ValueError:
        return False


def _folded(text: str) -> str:
    """Return a text without blanks, signs around it and capitals."""
    text = TEXT.sub(r"\1", text).replace("’", "'").casefold()
    return "".join(text.split()).strip(".!,;:$\"'`()")
