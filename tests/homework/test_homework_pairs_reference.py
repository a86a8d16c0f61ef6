"""The pairs of tests/data/homework say the truth, by mpmath and without gradcli."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from draws import SEED
from homework_expressions import Undefined, parse, tangent, value
from homework_mistakes import problems
from homework_reference import (
    DIGITS,
    VERIFIED,
    digests,
    load,
    near,
    points,
    problem_of,
    right_answers,
    theme_of,
    variables,
)
from mpmath import mp, mpf  # type: ignore[import-untyped]

PAIRS = load()
RIGHT = right_answers()
THEMES = sorted({theme_of(pair) for pair in PAIRS})
FEW = 16  # points; `python tests/tools/homework_reference.py` takes 60
DIGESTS, KNOWN = digests(), json.loads(VERIFIED.read_text(encoding="utf-8"))
FIELDS = {
    "id", "kind", "function", "wrt", "answer", "at", "order", "direction", "dependent",
    "parameters", "tolerance", "domain", "log", "variants",
}
EXPECTED = {
    "verdict", "mistake", "ok", "second", "function_sympy", "answer_sympy", "meant_sympy",
    "previous_sympy", "variants_sympy",
}
KINDS = {
    "derivative", "value", "partial", "gradient", "jacobian", "hessian", "directional", "implicit",
    "parametric", "tangent",
}
MISTAKES = """
    answered_original integrated sign_error wrong_order reciprocal_of_derivative wrong_variable
    other_variable_not_constant other_variable_dropped wrong_variable_name evaluated_at_point
    constant_factor constant_added rounded_constant right_on_part_of_domain misread_function
    answer_zero undefined_answer
    missing_chain_factor chain_constant_lost chain_outer_at_inner_derivative chain_outer_at_x
    chain_outer_not_differentiated product_of_derivatives product_one_term product_minus
    quotient_reversed quotient_denominator_not_squared quotient_denominator_dropped quotient_plus
    quotient_of_derivatives power_coefficient power_coefficient_off_by_one
    power_exponent_not_reduced power_exponent_increased power_rule_on_exponential
    exponential_rule_on_power missing_log_base log_rule trig_sign trig_rule inverse_trig_rule
    inverse_as_reciprocal constant_not_dropped constant_to_one power_rule_on_constant
    constant_factor_dropped missing_term abs_ignored linear_extrapolation missing_parentheses
    transposed components_swapped components_missing components_summed mixed_partials_missing
    one_row_wrong direction_not_normalised evaluated_at_wrong_point degree_mode implicit_inverted
    implicit_sign implicit_missing_dydx slope_not_evaluated not_a_number not_a_formula
""".split()


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield


@pytest.mark.parametrize("theme", THEMES)
def test_verdicts_and_mistakes_are_true(theme: str) -> None:
    """All pairs of a theme, unless neither they nor the judge have changed since all were verified
    (`python tests/tools/homework_reference.py`, a minute): then an eighth.
    """
    mine = [pair for pair in PAIRS if theme_of(pair) == theme]
    if SEED is None and KNOWN.get(theme) == DIGESTS[theme]:
        mine = random.Random(theme).sample(mine, -(-len(mine) // 8))
    found = [p for pair in mine for p in problems(pair, RIGHT[problem_of(pair)], FEW)]
    assert not found, "\n".join(found)


def test_pairs_are_complete() -> None:
    assert len(PAIRS) >= 240
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS)
    assert {problem_of(pair) for pair in PAIRS} == set(RIGHT)
    assert {pair["kind"] for pair in PAIRS} == KINDS
    assert {pair["mistake"] for pair in PAIRS} - {None} == set(MISTAKES)
    assert {pair.get("order", 1) for pair in PAIRS if pair["kind"] == "derivative"} == {1, 2, 3, 4}
    assert sum("second" in pair for pair in PAIRS) >= 10


def test_fields() -> None:
    for pair in PAIRS:
        assert set(pair) <= FIELDS | EXPECTED, pair
        assert pair["verdict"] == "wrong" or pair["mistake"] is None, pair
        assert pair["mistake"] not in pair["ok"], pair
        assert set(pair["ok"]) <= set(MISTAKES), pair
        assert pair["mistake"] is not None or not pair["ok"], pair
        assert pair.get("second") is None or pair["second"] in pair["ok"], pair


def _of(theme: str, **changed: Any) -> list[str]:
    pair = {**next(pair for pair in PAIRS if pair["id"] == theme), **changed}
    return problems(pair, RIGHT[problem_of(pair)], FEW)


def test_a_pair_that_lies_is_found() -> None:
    assert not _of("power-01a")
    assert _of("power-01a", verdict="wrong")
    assert _of("power-01a", verdict="domain")
    assert _of("power-01a", answer_sympy="5*x**4 + 1e-6*x**4")
    assert not _of("power-01d")
    assert _of("power-01d", mistake="sign_error")
    assert _of("power-01d", ok=["chain_outer_at_x"])
    assert _of("power-01d", verdict="correct")


def test_sympy_and_forward_tangents_agree() -> None:
    """Two derivations of the right answers: SymPy's formulas and tangents of the written ones."""
    met = 0
    for pair in PAIRS:
        names = variables(pair)
        if pair["kind"] not in ("derivative", "partial") or pair.get("order", 1) != 1 \
                or len(names) != 1 or not str(pair["id"]).endswith("a"):
            continue
        right, f = parse(RIGHT[problem_of(pair)]), parse(pair["function_sympy"])
        for at in points(pair, [right], 6):
            try:
                found, expected = tangent(f, at, {names[0]: mpf(1)})[1], value(right, at)
            except Undefined:
                continue
            assert near(found, expected), (pair["id"], at)
            met += 1
    assert met > 400
