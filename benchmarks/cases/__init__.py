"""What is asked: one module for each question, one function in it for each engine."""

from __future__ import annotations

from benchmarks.cases import (
    checks,
    csv_rows,
    first_gradient,
    hessians,
    jacobian,
    memory,
    mixture,
    parsing,
    points,
    repeated_gradient,
    small_arrays,
    startup,
)
from benchmarks.harness.case import Case

CASES: list[Case] = [
    case for module in (
        startup, first_gradient, parsing, repeated_gradient, points, csv_rows, hessians, jacobian,
        mixture, small_arrays, checks, memory)
    for case in module.CASES]


def case_of(key: str) -> Case:
    return next(case for case in CASES if case.key == key)
