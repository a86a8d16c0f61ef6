"""Real formulas against derivatives computed with 50 and 110 digits: tests/data/corpora.

Every case has an expression, a point, the value, the gradient and often the Hessian there.
`f64` holds the relative errors of a plain float64 sweep over the same text: how well doubles can
do. A component must agree to 1e-9 relative, or to 100 times that; where the truth is exactly 0,
to as much absolute, since sin(pi*0.5)' cannot be 0 in doubles.
"""

from __future__ import annotations

import numpy as np
import pytest
from corpora import COUNTS, Row, agrees, cases

from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.python.program import loads


def wrong(row: Row) -> list[str]:
    """The components that do not agree."""
    program = loads(row["expr"])
    at, wrt, (f_value, f_slope) = row["vars"], row["wrt"], row["f64"]
    out = []
    value = program.value(at=at)
    if not agrees(value, row["value"], f_value):
        out.append(f"value {value!r}, not {row['value']!r}")
    for name, g in program.gradient(at=at, wrt=wrt).items():
        if not agrees(g, row["grad"][name], f_slope):
            out.append(f"d/d{name} {g!r}, not {row['grad'][name]!r}")
    if "hess" in row:
        blocks = program.hessian(at=at, wrt=wrt)
        for i, line in zip(wrt, row["hess"], strict=True):
            for j, want in zip(wrt, line, strict=True):
                if not agrees(blocks[i][j], want, f_slope):
                    out.append(f"d2/d{i}d{j} {blocks[i][j]!r}, not {want!r}")
    return out


@pytest.mark.parametrize("name", COUNTS)
def test_every_formula_of_a_corpus(name: str) -> None:
    rows = cases(name)
    assert len(rows) == COUNTS[name]
    failed = {}
    for row in rows:
        try:
            problems = wrong(row)
        except GradcliError as problem:
            problems = [str(problem)]
        if problems:
            failed[row["id"]] = problems
    assert failed == {}


@pytest.mark.parametrize("name", COUNTS)
def test_forward_mode_agrees(name: str) -> None:
    for row in cases(name)[::7]:
        program = loads(row["expr"])
        run = program.run(row["vars"])
        with run.record:
            target = program.targets(run)[0].tensor
            for source in program.sources(run, row["wrt"]):
                got = calculus.jvp(target, [source.value], [1.0])
                assert agrees(got, row["grad"][source.name], row["f64"][1]), row["id"]


@pytest.mark.parametrize("name", COUNTS)
def test_arrays_give_at_each_point_what_scalars_give(name: str) -> None:
    """One array per variable, several points of the same formula in it: values, the gradient of
    the sum, and the diagonal Jacobian.
    """
    by_text: dict[str, list[Row]] = {}
    for row in cases(name):
        by_text.setdefault(row["expr"], []).append(row)
    for text, rows in list(by_text.items())[::2]:
        names = rows[0]["wrt"]
        at = {v: np.array([row["vars"][v] for row in rows]) for v in rows[0]["vars"]}
        program = loads(text)
        values = np.broadcast_to(program.value(at=at), len(rows))
        slopes = program.gradient(at=at, wrt=names)
        blocks = program.jacobian(at=at, wrt=names)
        for k, row in enumerate(rows):
            assert agrees(values[k], row["value"], row["f64"][0]), row["id"]
            for v in names:
                assert agrees(slopes[v][k], row["grad"][v], row["f64"][1]), row["id"]
                np.testing.assert_array_equal(blocks[v][k, k], slopes[v][k])


def test_names_of_operations_and_constants_are_good_names_for_variables() -> None:
    at = {"e": 2.0, "gamma": 3.0, "pi": 0.5, "sin": 0.25, "E": 1.0, "I": 4.0, "S": 5.0, "C": 6.0}
    slopes = loads("e*gamma(gamma) + pi*sin(sin) + E*I*S*C").gradient(at=at, wrt=list(at))
    assert slopes["e"] == 2.0
    assert slopes["E"] == 120.0
    assert slopes["pi"] == np.sin(0.25)
    assert slopes["sin"] == pytest.approx(0.5 * np.cos(0.25), rel=1e-15)
    assert slopes["gamma"] == pytest.approx(2.0 * 1.845568670196934278786975819835, rel=1e-14)
