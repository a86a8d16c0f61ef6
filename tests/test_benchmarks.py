"""The harness of benchmarks/: its cases are sound, engines take turns, wrong numbers are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.cases import CASES, formulas, parsing, programs
from benchmarks.harness import report, rounds
from benchmarks.harness.case import Case, Command, Ratio, Worker
from benchmarks.harness.compare import alone, digest
from benchmarks.harness.engines import Engines
from gradcli.program import loads


def test_cases_are_sound() -> None:
    assert len({case.key for case in CASES}) == len(CASES)
    for case in CASES:
        names = [side.name for side in case.sides]
        assert len(set(names)) == len(names), case.key
        for ratio in case.ratios:
            assert {ratio.ours, ratio.peer or ratio.ours} <= set(names), case.key
        # A worker finds its case and its side by name.
        assert [s.name for s in case.sides if case.side(s.name) is s] == names


def test_engines_that_stand_alone_are_found() -> None:
    right = digest({"y": 2.0, "x": np.arange(5.0)})
    close = digest([2.0 + 1e-12, np.arange(5.0) + 1e-12])
    wrong = digest([2.0, np.array([0.0, 1.0, 2.0, 3.0, 4.000001])])
    assert alone({"a": right, "b": close, "c": wrong}, 1e-9) == ["c"]
    assert alone({"a": right, "b": wrong}, 1e-9) == ["a", "b"]
    assert alone({"a": right, "b": digest([2.0])}, 1e-9) == ["a", "b"]
    assert alone({"a": right, "b": close}, 1e-9) == []
    assert alone({"a": right}, 1e-9) == []


@pytest.mark.parametrize(("text", "formula", "by_hand"), [
    (formulas.WAVES, formulas.waves, formulas.waves_by_hand),
    (formulas.PLAIN, formulas.plain, formulas.plain_by_hand)])
def test_formulas_are_the_same_in_all_spellings(
        text: str, formula: Callable[[Any], Any], by_hand: Callable[[Any], Any]) -> None:
    program = loads(text)
    for x, y, z in np.random.default_rng(1).uniform(-2, 2, (5, 3)).tolist():
        at = {"x": x, "y": y, "z": z}
        value, *slopes = by_hand(np)(x, y, z)
        assert np.isclose(value, formula(np)(x, y, z), rtol=1e-13)
        assert np.isclose(value, program.value(at=at), rtol=1e-13)
        np.testing.assert_allclose(list(program.gradient(at=at).values()), slopes, rtol=1e-12)
    assert len(program.run({"x": 0.1, "y": 0.2, "z": 0.3}).record.history()) == 30


def test_programs_are_the_same_in_both_spellings() -> None:
    for text, f, at in ((programs.chain_lines(250), programs.chain(np), programs.CHAIN_AT),
                        (programs.RECURRENCE, programs.recurrence(np), programs.MIXED_AT),
                        (programs.MIXED, programs.mixed(np), programs.MIXED_AT)):
        program = loads(text)
        assert np.isclose(program.value(), f(*at.values()), rtol=1e-12)
        assert len(program.run().record.history()) in (1000, 1002)


def test_a_case_in_turns() -> None:
    engines = Engines([s.needs for s in parsing.CASES[0].sides], [])
    result = rounds.run(parsing.CASES[0], engines, 2, 0.001)
    assert not result.failed
    assert not result.wrong
    assert [len(f) for f in result.figures.values()] == [2, 2, 2]
    told = report.whole([result], engines.versions, 2)
    assert "| gradcli |" in told
    assert "stock Lark" in told


def test_missing_failed_and_wrong_engines_are_named() -> None:
    def printing(what: str) -> Command:
        return Command(what, "gradcli", lambda place: [place.program, "-c", what])

    case = Case("x", "what", [
        printing("print(1.5)"), printing("print(1.50)"), printing("print(2.5)"),
        printing("raise ValueError('no')"), Worker("gone", "no_such_engine", lambda: lambda: 0)],
        [Ratio("print(1.5)", "gone", 0.5)], rounds=2)
    result = rounds.run(case, Engines([s.needs for s in case.sides], []), 2, 0.0)
    assert result.missing == {"gone": "no_such_engine"}
    assert result.failed == {"raise ValueError('no')": "ValueError: no"}
    assert result.wrong == ["print(2.5)"]
    told = report.whole([result], {}, 2)
    assert "Not installed, so missing: no_such_engine." in told
    assert "the numbers of print(2.5) are not those of the others" in told
