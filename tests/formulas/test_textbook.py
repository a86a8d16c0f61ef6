"""Derivatives as textbooks print them: a table of them with the lengths of SymPy's forms and values
by mpmath, and forms that have to be so.
"""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from corpora import COUNTS, agrees, cases
from folders import DATA
from textbook import OTHERS, recorded

from gradcli.python.program import loads
from gradcli.questions.derive.answer import derived
from gradcli.questions.question import Question


def asked(formula: str) -> dict[str, Any]:
    return derived(Question(loads(formula), wrt=["x"]), paper=True)


def test_textbook_derivatives_are_as_short_as_those_of_sympy_and_right() -> None:
    """In characters but for blanks: as many in the median, at most 1.3 times as many; with the
    values of mpmath, and no decimal.
    """
    wrong = []
    ratios = []
    for formula, lengths, values in recorded():
        text = asked(formula)["results"][0]["formula"]
        ratios.append(len(text.replace(" ", "")) / min(lengths))
        if ratios[-1] > 1.3:
            wrong.append(f"{formula}: {text}, of {min(lengths)} characters by SymPy")
        if "." in text:
            wrong.append(f"{formula}: {text} has a decimal")
        program = loads(text)
        for x, want in values:
            got = program.value(at={n: {**OTHERS, "x": x}[n] for n in program.names.inputs})
            if got != pytest.approx(want, rel=1e-12, abs=1e-14):
                wrong.append(f"{formula} at {x}: {text} is {got}, not {want}")
    assert wrong == []
    assert len(ratios) >= 200
    assert statistics.median(ratios) <= 1.0


def test_forms() -> None:
    """A formula, its derivative as it is printed, and where that holds."""
    wrong = []
    for line in (DATA / "derive" / "forms.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            formula, form, *conditions = line.split("\t")
            answer = asked(formula)
            if (answer["results"][0]["formula"], answer["conditions"]) != (form, conditions):
                wrong.append(f"{formula}: {answer['results'][0]['formula']}"
                             f" where {answer['conditions']}, not {form} where {conditions}")
    assert wrong == []


@pytest.mark.parametrize("name", COUNTS)
def test_forms_of_a_corpus_evaluate_to_the_reference(name: str) -> None:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in cases(name):
        rows.setdefault(row["expr"], []).append(row)
    wrong = []
    for formula, points in rows.items():
        answer = derived(Question(loads(formula), wrt=points[0]["wrt"]), paper=True)
        names = "".join([f"{d['name']} = {d['formula']}\n" for d in answer["definitions"]])
        for result in answer["results"]:
            program = loads(names + result["formula"])
            for row in points[:4]:
                got = program.value(at={n: row["vars"][n] for n in program.names.inputs})
                want = row["grad"][result["wrt"][0]["name"]]
                if not agrees(got, want, row.get("f64", [0.0, 0.0])[1]):
                    wrong.append(f"{row['id']}: {result['formula']} is {got}, not {want}")
    assert wrong == []
