"""The corpora through the block executor: several points of a formula at once, with sines and
cosines together and each by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpora import COUNTS, agrees, cases

from gradcli.python.program import loads
from gradcli.questions import Question
from gradcli.questions.many.rows import Points


def by_formula(name: str) -> list[list[dict[str, Any]]]:
    """The cases of each formula."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in cases(name):
        found.setdefault(row["expr"], []).append(row)
    return list(found.values())


# Who calculates: NumPy, sines and cosines by themselves or together, or machine code.
HOW: dict[str, dict[str, Any]] = {
    "single": {"paired": False}, "paired": {"paired": True}, "vectors": {"expected": 10**12}}


def answered(rows: list[dict[str, Any]], command: str, how: str) -> tuple[dict[str, Any], int]:
    """Title to the numbers at all points, and in how many ways they were found."""
    names = list(rows[0]["vars"])
    question = Question(loads(rows[0]["expr"]), wrt=rows[0]["wrt"])
    points = Points(question, command, names, **HOW[how])
    answers = points.answers([np.array([row["vars"][n] for row in rows]) for n in names])
    assert not answers.failed
    assert points.layout is not None
    return dict(zip(points.layout.titles, [numbers for numbers, _ in answers.columns()],
                    strict=True)), len(points.paths)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", COUNTS)
def test_values_and_gradients(name: str, how: str) -> None:
    recorded = 0
    for rows in by_formula(name):
        found, ways = answered(rows, "grad", how)
        recorded += ways > 0
        for k, row in enumerate(rows):
            assert agrees(found["f" if "f" in found else "result"][k], row["value"],
                          row["f64"][0]), row["id"]
            for v in row["wrt"]:
                (slope,) = [n for title, n in found.items() if title.endswith(f"/d{v}")]
                assert agrees(slope[k], row["grad"][v], row["f64"][1]), (row["id"], v)
    assert recorded == len(by_formula(name))


@pytest.mark.parametrize("name", COUNTS)
def test_hessians(name: str) -> None:
    for rows in by_formula(name)[::2]:
        if "hess" not in rows[0]:
            continue
        found, _ = answered(rows, "hess", "paired")
        for k, row in enumerate(rows):
            for i, line in zip(row["wrt"], row["hess"], strict=True):
                for j, want in zip(row["wrt"], line, strict=True):
                    (second,) = [n for title, n in found.items() if title.endswith(f"/d{i}d{j}")]
                    assert agrees(second[k], want, row["f64"][1]), (row["id"], i, j)
