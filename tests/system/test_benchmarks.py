"""The harness of benchmarks/: its cases are sound, engines take turns, wrong numbers are found."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import checking_rates as rates
from benchmarks.cases import CASES, answers, checks, formulas, parsing, programs
from benchmarks.harness import report, rounds
from benchmarks.harness.case import Case, Command, Ratio, Worker
from benchmarks.harness.compare import alone, digest
from benchmarks.harness.engines import Engines
from benchmarks.run import IN_README
from gradcli.python.program import loads


def test_cases_are_sound() -> None:
    assert len({case.key for case in CASES}) == len(CASES)
    assert set(IN_README) <= {case.key for case in CASES}
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


def test_answers_are_what_they_are_said_to_be() -> None:
    known = {name: getattr(math, name) for name in answers.FUNCTIONS if name != "ln"}
    known.update(ln=math.log, e=math.e)

    def value(text: str, x: float) -> float:
        return float(eval(answers.spelled_out(text), known, {"x": x}))

    for function, right, wrong, _ in answers.PAIRS:
        differences = []
        for x in checks.POINTS:
            slope = (value(function, x + 1e-5) - value(function, x - 1e-5))/2e-5
            assert math.isclose(value(right, x), slope, rel_tol=1e-6, abs_tol=1e-6), right
            differences.append(abs(value(wrong, x) - slope))
        assert max(differences) > 1e-3, wrong
    for right in answers.CLASS[1][1:]:
        assert math.isclose(value(right, 0.7), value(answers.CLASS[1][0], 0.7), rel_tol=1e-12)
    assert answers.spelled_out("2x sin(x) + x^2 (1 - e^(3x))x", "^") == \
        "2*x*sin(x)+x^2*(1-e^(3*x))*x"


def test_gradcli_judges_the_answers() -> None:
    assert checks.gradcli(checks.RIGHT[:6], False)() == [1.0]*6
    assert checks.gradcli(checks.WRONG[:2], False)() == [0.0]*2
    assert checks.gradcli(checks.SHARED[:10], True)() == [1.0]*10


def verdicts(method: str, function: str, answer: str) -> set[str]:
    """Those of a few seeds."""
    question = rates.Question({"id": "1", "kind": "derivative", "function": function, "wrt": "x",
                               "answer": answer, "verdict": "correct"})
    way = next(way for name, way in rates.METHODS.items() if name.startswith(method))
    with np.errstate(all="ignore"):
        return {way(question, seed) for seed in range(5)}


@pytest.mark.parametrize(("method", "function", "answer", "verdict"), [
    ("gradcli", "x^2", "2x", "accept"), ("gradcli", "x^2", "2.00001x", "reject"),
    ("gradcli", "tanh(x)", "1 - tanh(x)^2", "accept"),
    ("gradcli's points, relative 1e-8", "x^2", "2x", "accept"),
    ("gradcli's points, relative 1e-8", "tanh(x)", "1 - tanh(x)^2", "reject"),
    ("gradcli's points, relative 1e-8", "x^2", "2.00001x", "reject"),
    ("gradcli's points, relative 1e-4", "x^2", "2.00001x", "accept"),
    ("WeBWorK", "x^2", "2x", "accept"), ("WeBWorK", "x^2", "2.00001x", "accept"),
    ("WeBWorK", "x^2", "2.001x", "reject"), ("WeBWorK", "x^2", "2x ln(x)/ln(x)", "reject"),
    ("WeBWorK", "sqrt(x - 5)", "1/(2sqrt(x - 5))", "undecided"),
    ("WeBWorK", "x^2", "2t", "reject"),
    ("IMathAS", "x^2", "2x", "accept"), ("IMathAS", "x^2", "2.001x", "accept"),
    ("IMathAS", "x^2", "2.01x", "reject"), ("IMathAS", "x^2", "2x sqrt(x)/sqrt(x)", "reject"),
    ("IMathAS", "x^2", "2x sqrt(x + 9)/sqrt(x + 9)", "accept"),
    ("IMathAS", "sqrt(x - 50)", "1/(2sqrt(x - 50))", "undecided"),
    ("Numbas", "x^2", "2x", "accept"), ("Numbas", "x^2", "2x + 0.00005", "accept"),
    ("Numbas", "x^2", "2x + 0.001", "reject"), ("Numbas", "x|x|", "2x", "accept"),
    ("Numbas", "sqrt(x - 1)", "1/(2sqrt(x - 1))", "undecided")])
def test_the_settings_of_others(method: str, function: str, answer: str, verdict: str) -> None:
    assert verdicts(method, function, answer) == {verdict}


def test_a_section_of_the_results_is_replaced_alone(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("# Results\n\ntables\n", encoding="utf-8")
    report.write_section(page, "One", "1")
    report.write_section(page, "Two", "2")
    report.write_section(page, "One", "11")
    assert page.read_text(encoding="utf-8") == (
        "# Results\n\ntables\n\n## One\n\n11\n\n## Two\n\n2\n")
    assert report.sections(page.read_text(encoding="utf-8")) == (
        "\n## One\n\n11\n\n## Two\n\n2\n")
