"""Kinds of problems beyond derivatives: right, wrong and doubtful answers, and the right answer
that mpmath derives without gradcli.
"""

from __future__ import annotations

import itertools
import tomllib
from typing import Any

import mpmath
import numpy as np
import pytest
from conftest import folded
from folders import DATA

from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields


def problems(name: str) -> list[tuple[str, dict[str, Any], list[str], list[tuple[str, str, str]]]]:
    """The problems of a file: a title, fields, functions for Python, and answers with the sign
    that says what they are and the mistake that they show.
    """
    found: list[tuple[str, dict[str, Any], list[str], list[tuple[str, str, str]]]] = []
    for line in (DATA / "homework" / name).read_text("utf-8").splitlines():
        if not line.strip() or line[0] == "#":
            continue
        if line[0] in "+-?":
            line = line.replace("⏎", "\n")
            answer, _, mistake = line[2:].rpartition(" | ") if " | " in line else (line[2:], "", "")
            found[-1][3].append((line[0], answer, mistake))
            continue
        kind, function, fields, python = [part.strip() for part in line.split("|")]
        if function[0] == "[":
            function = function[1:-1]
        found.append((f"{kind} {function} {fields}", {
            "kind": kind, "function": function, **tomllib.loads(fields.replace("; ", "\n"))},
            python.split("; "), []))
    return found


PROBLEMS = [*problems("kinds.txt"), *problems("sets.txt")]
ANSWERS = [(fields, *answer) for _, fields, _, answers in PROBLEMS for answer in answers]
STATED = [(fields, *answer) for _, fields, _, answers in problems("statements.txt")
          for answer in answers]
VERDICTS = {"+": ("correct",), "-": ("wrong",), "?": ("undecided", "unreadable")}


@folded
@pytest.mark.parametrize(("fields", "sign", "answer", "mistake"), [*ANSWERS, *STATED])
def test_answers_to_each_kind(fields: dict[str, Any], sign: str, answer: str, mistake: str) -> None:
    found = check(prepare(from_fields(fields)), answer)
    assert found["verdict"] in VERDICTS[sign], found
    assert not mistake or mistake == found["mistake"], found


@pytest.mark.parametrize(("fields", "functions"), [
    pytest.param(fields, functions, id=title) for title, fields, functions, _ in PROBLEMS
    if functions != ["-"]])
def test_right_answers_agree_with_mpmath(fields: dict[str, Any], functions: list[str]) -> None:
    prepared = prepare(from_fields(fields))
    reference = prepared.reference
    if reference.solutions is not None:
        _solutions_agree(reference.solutions, fields["kind"], functions[0], reference.wrt)
        return
    used = 0
    for k in range(0, prepared.size, max(1, prepared.size // 8)):
        if not prepared.side.finite[:, k].all():
            continue
        point = {n: float(v if isinstance(v, float) else v[k]) for n, v in prepared.inputs.items()}
        wanted = derived(fields, functions, point, reference)
        given = prepared.side.values[:, k].tolist()
        assert len(wanted) == len(given)
        for one, other in zip(wanted, given, strict=True):
            assert abs(one - other) <= 1e-7 * (1 + abs(one)), (point, wanted, given)
        used += 1
    assert used


def _solutions_agree(found: list[Any], kind: str, function: str, names: tuple[str, ...]) -> None:
    """Derivatives are 0 there; that there are no others, the answers say."""
    def value(*at: Any) -> Any:
        return eval(function, {**vars(mpmath), **dict(zip(names, at, strict=True))})

    order = {"zeros": 0, "inflection": 2}.get(kind, 1)
    for at, sort in found:
        for k in range(len(names)):
            orders = tuple([order if j == k else 0 for j in range(len(names))])
            slope = mpmath.diff(value, at, orders)
            assert abs(slope) < 1e-6, (at, slope)
        if kind == "extrema" and sort in ("max", "min"):
            beside = [value(*[v + d for v in at]) - value(*at) for d in (-1e-3, 1e-3)]
            assert all(sort == ("max" if rise < 0 else "min") for rise in beside)


def derived(fields: dict[str, Any], functions: list[str], point: dict[str, float], reference: Any
            ) -> list[float]:
    """The right answer at a point, by numerical derivatives of mpmath."""
    at = {n: float(mpmath.mpf(eval(v, {"pi": mpmath.pi})) if isinstance(v, str) else v)
          for n, v in fields.get("at", {}).items()}
    letters = sorted({n for n in "xyzt" for f in functions if n in _words(f)})

    def value(f: str, there: dict[str, Any]) -> Any:
        return eval(f, {**vars(mpmath), **there})

    def slope(f: str, name: str, there: dict[str, Any]) -> Any:
        return mpmath.diff(lambda v: value(f, {**there, name: v}), there[name])

    kind, first = fields["kind"], functions[0]
    line = kind in ("tangent", "normal", "linearization", "estimate")
    there = at if line else point
    if kind == "function":
        return [value(first, {**at, **point})]
    if kind == "implicit":
        below = slope(first, fields["dependent"], point)
        return [-slope(first, n, point) / below for n in reference.wrt]
    if not line:
        vector = [slope(f, n, there) for f in functions for n in (
            reference.wrt if len(functions) == 1 else letters)]
        if kind == "differential":
            return [sum(v * point[f"d{n}"] for n, v in zip(reference.wrt, vector, strict=True))]
        length = mpmath.sqrt(sum(v * v for v in vector))
        return [length] if kind == "norm" else [v / length for v in vector]
    if len(functions) == 2:
        foot = [value(f, at) for f in functions]
        along = [slope(f, letters[0], at) for f in functions]
        steep = {"x": along[1], "y": -along[0]}
        place = dict(zip("xy", foot, strict=True))
    elif reference.form == "equation":
        steep = {n: slope(first, n, at) for n in letters}
        place = at
    else:
        steep = {**{n: slope(first, n, at) for n in letters}, "y or z": mpmath.mpf(-1)}
        place = {**at, "y or z": value(first, at)}
    if kind == "normal":
        (one, other), (a, b) = steep, steep.values()
        steep = {one: b, other: -a}
    if kind == "estimate":
        point = fields["to"]
    if "y" in point and "y" not in place:
        steep["y"], place["y"] = steep.pop("y or z"), place["y or z"]
    solved = next(n for n in steep if n not in point)
    rest = sum(steep[n] * (point[n] - place[n]) for n in steep if n != solved)
    return [place[solved] - rest / steep[solved]]


def _words(text: str) -> list[str]:
    return "".join([c if c.isalpha() else " " for c in text]).split()


def test_each_new_kind_has_twenty_answers() -> None:
    """So that a kind is known by more than one example."""
    by_kind = itertools.groupby(sorted(fields["kind"] for fields, *_ in ANSWERS))
    few = {kind: n for kind, found in by_kind if (n := len(list(found))) < 20}
    assert not few


def test_values_are_finite() -> None:
    for _, fields, _, _ in PROBLEMS:
        values = prepare(from_fields(fields)).side.values
        assert np.isfinite(values).any() or not len(values)


NUMBERS = (-3, -2, -1, 0, 1, 2, 3, 4)
JOINED = (", ", "; ", " and ", " or ", ",", "\n", ", x = ")
AROUND = ("{}", "x = {}", "{{{}}}", "x: {}", r"$\{{{}\}}$", "the zeros are {}", "x_1 = {}")


def test_a_set_is_right_if_it_is_equal_however_it_is_written() -> None:
    """In any order, with repetitions, in any brackets; and no other set."""
    random = np.random.default_rng(17)
    prepared = prepare(from_fields({"kind": "zeros", "function": "(x-1)(x-2)(x+3)^2"}))
    for _ in range(400):
        chosen = random.choice([-3, 1, 2, *random.choice(NUMBERS, 2)], random.integers(1, 6))
        extra = [-3, 1, 2] if random.random() < 0.5 else []
        given = [*map(int, chosen), *extra]
        random.shuffle(given)
        around = str(random.choice(AROUND))
        joined = str(random.choice(JOINED if around != AROUND[2] else JOINED[:2]))
        answer = around.format(joined.join(map(str, given)))
        expected = "correct" if set(given) == {-3, 1, 2} else "wrong"
        assert check(prepared, answer)["verdict"] == expected, answer


LINES: list[tuple[dict[str, Any], tuple[int, int, int]]] = [
    # and the line: a x + b y = c
    ({"kind": "tangent", "function": "x^2 + y^2 = 25", "at": {"x": 3, "y": 4}}, (3, 4, 25)),
    ({"kind": "tangent", "function": "[t^2, t^3]", "at": {"t": 2}}, (3, -1, 4)),
    ({"kind": "normal", "function": "x^2", "at": {"x": 3}}, (1, 6, 57)),
    ({"kind": "normal", "function": "x^2 + y^2 = 25", "at": {"x": 5, "y": 0}}, (0, 1, 0)),
    ({"kind": "tangent", "function": "x^2 + y^2 = 25", "at": {"x": -5, "y": 0}}, (1, 0, -5)),
    ({"kind": "tangent", "function": "x = y^2", "at": {"x": 0, "y": 0}}, (1, 0, 0))]


@pytest.mark.parametrize(("fields", "line"), LINES)
def test_a_line_is_right_if_its_equation_is_a_multiple(
        fields: dict[str, Any], line: tuple[int, int, int]) -> None:
    random = np.random.default_rng(4)
    prepared = prepare(from_fields(fields))
    for _ in range(60):
        k = int(random.choice([-7, -3, -1, 1, 2, 5, 11]))
        wrong = random.random() < 0.5
        change = [int(v) for v in random.choice([-1, 0, 1], 3)] if wrong else [0, 0, 0]
        a, b, c = [k * one + d for one, d in zip(line, change, strict=True)]
        if not a and not b:
            continue
        same = all(one[0] * other[1] == one[1] * other[0] for one, other in itertools.combinations(
            zip((a, b, c), line, strict=True), 2))
        answer = str(random.choice([
            f"{a}x + {b}y = {c}", f"{a}x = {c} - {b}y", f"{a}x + {b}y - ({c}) = 0",
            f"0 = {c} - {a}x - {b}y"]))
        found = check(prepared, answer)["verdict"]
        assert found == "correct" if same else found in ("wrong", "undecided"), answer
