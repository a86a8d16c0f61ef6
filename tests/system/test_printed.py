"""Which texts count as the same on another machine, and which never do."""

from __future__ import annotations

import math

import pytest
from printed import as_shown

SHOWN = """\
$ gradcli grad f.txt --wrt x --at x=0.1
df/dx\t2.4967767215162243
loss = 0.19113323440747557 after 12 of 100 steps
K = [[0.5, -0.3681448321703907], [5.551115123125783e-17, 12345678901234567]]
note: line 3, column 14: 3 elements differ by 1.1102230246251565e-16
"""


def shifted(text: str, word: str, by: int) -> str:
    """The text with a number that is some floats away."""
    x = float(word)
    for _ in range(abs(by)):
        x = math.nextafter(x, math.copysign(math.inf, by))
    assert text.count(word) == 1
    return text.replace(word, repr(x))


@pytest.mark.parametrize("by", [-40, -3, -1, 1, 2, 40])
@pytest.mark.parametrize("word", ["2.4967767215162243", "0.19113323440747557"])
def test_last_digits_may_differ(word: str, by: int) -> None:
    other = shifted(SHOWN, word, by)
    assert other != SHOWN
    assert as_shown(other, SHOWN) == SHOWN
    assert as_shown(SHOWN, other) == other


@pytest.mark.parametrize(("one", "other"), [
    ("0.30000000000000004", "0.3"),
    ("1", "0.9999999999999999"),
    ("-7", "-7.000000000000001"),
    ("1e-05", "1.0000000000000001e-05"),
    ("[5.551115123125783e-17, 0.5000000000000001]", "[0, 0.5000000000000001]"),
    ("[-5.551115123125783e-17, 0.5000000000000001]", "[1.1102230246251565e-16, 0.5]"),
    ("0.5000000000000001x - 2", "0.5x - 2"),
    ("│ 0.30000000000000004 │\n├─────────────────────┤", "│ 0.3                 │\n├─────┤"),
    ("x   0.30000000000000004  y\nlong name            z", "x   0.3  y\nlong name  z"),
])
def test_a_rounding_may_take_digits_away(one: str, other: str) -> None:
    assert as_shown(one, other) == other
    assert as_shown(other, one) == one


@pytest.mark.parametrize(("word", "wrong"), [
    ("2.4967767215162243", "2.4967767215262243"),      # the twelfth digit
    ("2.4967767215162243", "-2.4967767215162243"),
    ("2.4967767215162243", "2.49677672151"),
    ("2.4967767215162243", "nan"),
    ("2.4967767215162243", "2.4967767215162243e1"),
    ("0.5,", "0.50,"),
    ("0.5,", "0.6,"),
    ("0.1\n", "0.10000001\n"),
    ("5.551115123125783e-17", "5.551115123125783e-14"),
    ("12345678901234567", "12345678901234568"),
    ("after 12 of", "after 13 of"),
    ("column 14", "column 15"),
    ("3 elements", "4 elements"),
    ("f.txt", "g.txt"),
    ("K = ", "K  = "),
    ("\t", "  "),
    ("loss = ", "\nloss = "),
    ("note: ", ""),
    ("[[0.5, ", "[["),
])
def test_everything_else_is_compared_to_the_byte(word: str, wrong: str) -> None:
    other = SHOWN.replace(word, wrong, 1)
    assert other != SHOWN
    assert as_shown(other, SHOWN) != SHOWN
    assert as_shown(SHOWN, other) != other


def test_a_wrong_number_is_seen_beside_one_that_agrees() -> None:
    other = shifted(SHOWN, "0.19113323440747557", 1).replace("12 of", "13 of")
    assert as_shown(other, SHOWN) == SHOWN.replace("12 of", "13 of")


def test_padding_is_free_only_where_a_number_is_longer() -> None:
    assert as_shown("x   0.3\nname  y", "x   0.3\nname y") != "x   0.3\nname y"
    shown = "x   0.30000000000000004\nname y"
    assert as_shown("x   0.3\nname  y", shown) == shown
    assert as_shown("x   0.3\nnamey", shown) != shown
