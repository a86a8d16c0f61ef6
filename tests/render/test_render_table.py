"""Tables at a terminal: golden texts, widths measured by rich, hostile names, encodings."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hand_made import (
    ALL,
    CHECKED,
    CONSTANT,
    HESSIAN,
    HOSTILE,
    JACOBIAN,
    OPERATIONS,
    SIMPLE,
    VALUES,
    VECTORS,
    Answer,
    answer,
    block,
    grad,
    hostile,
    note,
    reason,
    slope,
)
from rich.cells import cell_len

from gradcli import render
from gradcli.render import entries
from gradcli.render.layouts import derivatives
from gradcli.render.page import Block, Grid
from gradcli.render.view import View, brief, fold_list


def shown(given: Answer, width: int = 80, **options: Any) -> str:
    return render.text(given, "table", width=width, **{
        "color": False, "digits": 6, "encoding": "utf-8", "whole": False, **options})


def test_the_table_of_the_contract() -> None:
    assert shown(SIMPLE) == """\
y = 9 at x = 3, c = 2

source   at   gradient
──────────────────────
x        3       6
c        2    None

dy/dc is None: `c` is a constant and nothing watches it
  expr.txt:2:1
  expr.txt:4:5  first used here
  fix: var c = 2.0
"""


def test_vectors_and_matrices() -> None:
    assert shown(VECTORS) == """\
loss = 0.123457 at w = [1, 2.5, -3], A = [[1, 2], [3, 4]], k = 3

source   at             gradient
────────────────────────────────────────────────
w        [1, 2.5, -3]   [0.25, 0.333333, -1e-17]
A        [[1, 2],       [[1.5,      -20.25],
          [3, 4]]        [0.333333,   4]]
k        3              0 *

note: dloss/dk: `floor` is flat almost everywhere (line 4)
"""


def test_verification() -> None:
    assert shown(CHECKED) == """\
y = 9 at x = 3, z = 1

source   at   gradient   finite    difference
─────────────────────────────────────────────
x        3    6          6.00000   1.7e-08
z        1    2          3         0.33
"""


def test_verification_fails_where_the_exit_status_says_so() -> None:
    from gradcli.questions import VERIFY_TOLERANCE

    assert entries.TOLERANCE == VERIFY_TOLERANCE


def test_verification_of_arrays_shows_what_differs_only() -> None:
    def check(value: list[float], difference: float) -> Answer:
        return {"method": "finite", "gradient": value, "difference": difference}

    found = shown(grad(slope("v", [1.0, 2.0], [3.0, 4.0], verify=check([3.0, 4.5], 0.125)),
                       slope("w", [1.0, 2.0], [3.0, 4.0], verify=check([3.0, 4.0], 0.0))))
    assert "v        [1, 2]   [3, 4]     [3, 4.5]   0.12" in found
    assert "w        [1, 2]   [3, 4]                0" in found


def test_jacobian() -> None:
    assert shown(JACOBIAN) == """\
Jacobian of y = [1, 2] at x = [1, 2, 3], c = 2

∂y     x[0]   x[1]       x[2]      c
────────────────────────────────────
y[0]    1        0   0.333333   None
y[1]   12.5      2   1e-09      None

dy/dc is None: `c` is a constant and nothing watches it
  expr.txt:2:1
  expr.txt:4:5  first used here
  fix: var c = 2.0
"""


def test_verification_of_a_jacobian() -> None:
    result = JACOBIAN["results"][0]
    checked = {**result["sources"][0], "verify": {
        "method": "finite", "jacobian": result["sources"][0]["jacobian"], "difference": 1.7e-8}}
    found = shown(answer("jac", {**result, "sources": [checked]}))
    assert found.endswith("\ncheck (finite): relative difference of dy/dx 1.7e-08\n")


def test_hessian() -> None:
    assert shown(HESSIAN) == """\
Hessian of z = 9 at x = 3, v = [1, 2]

∂²z       x   v[0]        v[1]
──────────────────────────────
x       2      0.1   22
v[0]    0.1    1.5    0
v[1]   22      0      0.333333

eigenvalues   [-1, 0.5, 22]
definiteness  indefinite
"""


def test_values() -> None:
    assert shown(VALUES) == """\
name    value
──────────────────────────────
y       9
A       [[1, 2],
         [3, 4.5]]
name    text
holds   true
parts   {w: 1, rest: [2, [3]]}

note: A: noted (line 3)
"""
    assert shown(answer("eval", VALUES["results"][0])) == "y = 9\n"
    assert shown(answer("eval", VALUES["results"][1])) == (
        "A = [[1, 2],\n     [3, 4.5]]\n\nnote: A: noted (line 3)\n")


def test_operations() -> None:
    assert shown(OPERATIONS) == """\
operation   derivative       what it is
─────────────────────────────────────────────────────────────────────────
sin         cos(x)           Sine of an angle in radians.
where       None, c, 1 - c   a where c holds, else b | both are computed.
"""
    assert shown({**OPERATIONS, "operations": OPERATIONS["operations"][:1]}) == """\
sin(x)
Sine of an angle in radians.

d/dx   cos(x)
kind   elementwise
latex  \\sin\\left(x\\right)
also   sine
"""


def test_a_long_vector_is_one_line_where_there_is_room() -> None:
    texts = [str(k) for k in range(200_000)]
    assert fold_list(texts, 10**9) == [f"[{', '.join(texts)}]"]
    lines = fold_list(texts, 80)
    assert max(map(len, lines)) <= 80
    assert " ".join(map(str.strip, lines)) == f"[{', '.join(texts)}]"
    assert brief([[1.0, 20.0], [300.0, 4.0]], 6) == "[[1, 20], [300, 4]]"


def test_long_formulas_of_operations_are_folded() -> None:
    sin, where = OPERATIONS["operations"]
    long = {**sin, "name": "long", "derivative": ["cos(x)*" * 30 + "x"]}
    for operations in ([sin, where, long], [long]):
        found = shown({**OPERATIONS, "operations": operations})
        assert all(cell_len(line) <= 80 for line in found.splitlines())
        assert found.count("cos") >= 25


def test_sources_with_one_reason_share_a_paragraph() -> None:
    told = reason("source-dtype", "it is an int64")
    more = reason("path-cast", "a cast", line=9, fix="use x", fix_works=False)
    found = shown(grad(*[slope(name, 1, None, reasons=[told]) for name in "abcdef"],
                       slope("g", 1, None, reasons=[told, more])))
    assert ("7 of 7 derivatives are None (dy/da, dy/db, dy/dc, dy/dd and 3 more): it is an\n"
            "int64\n") in found
    assert "dy/dg also: a cast\n  expr.txt:9:1\n  fix: use x (not enough alone)\n" in found


def test_a_zero_that_was_asked_for_keeps_its_reason() -> None:
    found = shown(grad(slope("c", 2.0, 0.0, reasons=[CONSTANT])))
    assert "dy/dc would be None: `c` is" in found


def test_a_sum_is_called_a_sum() -> None:
    given = grad(slope("x", 1.0, 6.0), value=[1.0, 2.0, 3.0], summed=True)
    assert "gradient of the sum of its 3 elements; `gradcli jac` shows each\n" in shown(given)
    told = grad(slope("x", 1.0, 6.0), value=[1.0, 2.0], summed=True, notes=[note("sum", "a sum")])
    assert "of its" not in shown(told)
    assert "note: a sum (line 3)\n" in shown(told)


def test_a_place_without_a_file_is_a_line() -> None:
    for file in (None, "<stdin>"):
        assert "\n  line 2\n  line 4  first used here\n" in shown({**SIMPLE, "file": file})


def test_differences_are_announced() -> None:
    assert shown({**SIMPLE, "mode": "finite"}).startswith(
        "y = 9 at x = 3, c = 2 (finite differences)\n")


# --- size -------------------------------------------------------------------------------------

LARGE = grad(
    slope("w", [[0.5] * 20] * 10, [[float(i * j) for i in range(20)] for j in range(10)]),
    slope("v", [1.0] * 61, [float("nan"), *[-1.5] * 60]), slope("x", 1.0, -1 / 3),
    slope("u", [1.0] * 60, [1 / 7] * 60))


def test_large_arrays_are_summarised() -> None:
    found = shown(LARGE)
    assert "10 x 20 array" in found
    assert "max 171" in found
    # The norm of the outer product is the product of the norms.
    norm = (sum(i * i for i in range(20)) * sum(j * j for j in range(10))) ** 0.5
    assert f"norm {norm:.6g}" in found
    assert "vector of 61" in found
    assert "1 nan" in found
    assert "--format csv" in found
    assert found.count("0.142857") == 60
    assert "u        vector of 60    [0.142857," in found


def test_whole_arrays_on_demand() -> None:
    found = shown(LARGE, width=10_000, whole=True)
    assert "array" not in found
    assert found.count("-1.5") == 60


def wide(columns: int) -> Answer:
    values = [[1 / (i + j + 1) for i in range(columns)] for j in range(columns)]
    return answer("hess", {
        "of": "z", "shape": [], "value": 1.0, "summed": False, "at": {"v": [1.0] * columns},
        "blocks": [block("v", "v", values, (columns, columns))]})


def test_wide_matrices_are_split_into_groups_of_columns() -> None:
    found = shown(wide(12))
    heads = [line for line in found.splitlines() if line.startswith("∂²z")]
    assert " ".join(heads).replace("∂²z", "").split() == [f"v[{k}]" for k in range(12)]
    assert len(heads) == 2
    assert all(found.count(f"\nv[{k}] ") == 2 for k in range(12))


def test_large_matrices_are_summarised() -> None:
    found = shown(wide(21))
    assert "d2z/dvdv   21 x 21 array" in found
    assert "--format csv" in found


LONG = grad(slope("a_rather_long_parameter_name_of_someone", -1.23456e-100, -9.87654e-200),
            slope("b" * 70, [1 / 3] * 30, [-1.23456e-100] * 30),
            slope("c", 1 / 3, None, reasons=[CONSTANT], notes=[note("tie", "word " * 40)]),
            slope("d", [[1 / 3] * 7] * 8, [[-1.23456e-100] * 7] * 8, verify={
                "method": "finite", "gradient": [[1.0] * 7] * 8, "difference": 1e100}),
            of="a_target_with_a_long_name", value=-1.23456e-100)


@pytest.mark.parametrize("name", [*sorted(ALL), "LARGE", "LONG", "wide"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_everything_fits_80_columns(name: str, encoding: str) -> None:
    given = {**ALL, "LARGE": LARGE, "LONG": LONG, "wide": wide(12)}[name]
    for line in shown(given, encoding=encoding).splitlines():
        assert cell_len(line) <= 80, line
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [10, 20, 40, 60, 80, 200])
def test_numbers_are_never_cut(width: int) -> None:
    found = shown(LONG, width=width)
    assert "…" not in found
    assert found.count("-1.23456e-100") == 1 + 1 + 30 + 56   # value, point, gradients
    assert found.count("-9.87654e-200") == 1
    for number in re.findall(r"-?\d[\d.]*(?:e[-+]\d+)?", shown(wide(9), width=width)):
        assert "." not in number or 1e-2 < float(number) <= 1


def test_decimal_points_are_aligned_in_a_column() -> None:
    values = [6.0, -0.25, 123.5, 1e-17, 1.5e-9, 1e6]
    found = shown(grad(*[slope(f"x{k}", 1.0, value) for k, value in enumerate(values)]))
    ends = set()
    for line in found.splitlines()[4:]:
        text = line.split()[-1]
        units = re.match(r"-?\d+", text)
        assert units is not None
        ends.add(line.rindex(text) + units.end())
    assert len(ends) == 1


def test_tables_are_blocks_of_a_page() -> None:
    (page,) = derivatives.pages(SIMPLE)
    assert page.screen is not None
    blocks = list(page.screen(View(6, 80, "utf-8", whole=False)))
    assert all(isinstance(block, Block) for block in blocks)
    assert any(isinstance(block, Grid) for block in blocks)


def test_digits() -> None:
    given = grad(slope("x", 1.0, 1 / 3))
    assert "0.33\n" in shown(given, digits=2)
    assert "0.3333333333333333\n" in shown(given, digits=17)


# --- text of others ---------------------------------------------------------------------------

@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("color", [False, True])
def test_text_of_others_is_neither_markup_nor_control(text: str, color: bool) -> None:
    for given in hostile(text):
        found = re.sub(r"\x1b\[[0-9;]*m", "", shown(given, color=color)) if color else shown(given)
        assert found.replace("\n", "").isprintable()
        assert text.encode("unicode_escape").decode()[:3] in found or text[:2] in found
        for line in found.splitlines():
            assert cell_len(line) <= 80


@pytest.mark.parametrize("name", sorted(ALL))
def test_an_ascii_terminal_gets_ascii(name: str) -> None:
    found = shown(ALL[name], encoding="ascii")
    assert found.isascii()
    assert found.replace("-", "") == shown(ALL[name]).replace("─", "").replace(
        "∂²", "d2").replace("∂", "d").replace("-", "")


def test_names_that_the_encoding_lacks_are_escaped() -> None:
    found = shown(grad(slope("\u03b1", 1.0, 2.0)), encoding="latin-1")
    found.encode("latin-1")
    assert "\\u03b1" in found


def test_colour_means_something() -> None:
    assert "\x1b" not in shown(SIMPLE)
    found = shown(SIMPLE, color=True)
    assert "\x1b[33mNone" in found
    assert found.count("\x1b[33m") == 1
    assert re.sub(r"\x1b\[[0-9;]*m", "", found).split() == shown(SIMPLE).split()
    assert "\x1b[31m0.33" in shown(CHECKED, color=True)
    assert "\x1b[31m1.7e-08" not in shown(CHECKED, color=True)


def test_the_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = shown(SIMPLE), shown(SIMPLE, color=True)
    for name, value in [("NO_COLOR", "1"), ("FORCE_COLOR", "1"), ("TERM", "dumb"),
                        ("COLUMNS", "20"), ("LINES", "3")]:
        monkeypatch.setenv(name, value)
        assert (shown(SIMPLE), shown(SIMPLE, color=True)) == wanted
