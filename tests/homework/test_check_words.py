"""Words and numbers that have two meanings, or none, in an answer and in a function."""

from __future__ import annotations

import pytest
from conftest import folded
from draws import drawn
from test_check import check

from gradcli.base.errors import GradcliError
from gradcli.homework.check import prepare
from gradcli.homework.checking.fields import from_fields, in_json, in_options
from gradcli.homework.lint import lint
from gradcli.homework.sheets.formats import parse
from gradcli.lang.paper.tokens import CALLED, OTHER_SYSTEMS, SCHOOL


def refused(function: str) -> GradcliError:
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"function": function, "wrt": "x"}))
    assert caught.value.code == "E0704"
    return caught.value


# ---- mixed numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_mixed_number_is_right_as_a_product_and_left_to_a_person_as_a_sum(seed: int) -> None:
    draw = drawn(seed)
    whole, bottom = draw.randint(1, 9), draw.randint(2, 9)
    top = draw.randint(1, bottom - 1)
    frac = draw.choice((r"\frac", r"\tfrac", r"\dfrac"))
    answer = rf"{whole}{frac}{{{top}}}{{{bottom}}}"
    power = draw.choice(("", "x", " x^2"))
    by = {"": "x", "x": "x^2/2", " x^2": "x^3/3"}[power]
    typed = answer + power
    product, total = f"({whole}*{top}/{bottom})*{by}", f"({whole} + {top}/{bottom})*{by}"
    assert check(product, typed, seed, wrt="x")["verdict"] == "correct"
    found = check(total, typed, seed, wrt="x")
    assert found["verdict"] == "undecided"
    assert "a person has to look at it" in found["message"]
    assert f"{whole} + {top}/{bottom}" in found["alternatives"][0]
    assert check(f"{total} + {by}", typed, seed, wrt="x")["verdict"] == "wrong"
    assert "mixed number" in refused(f"{answer}x").message


@pytest.mark.parametrize("answer", ["2 1/2", "2½", "2 1/2 x", "-2 1/2"])
def test_plain_mixed_numbers_cannot_be_read(answer: str) -> None:
    found = check("5x/2", answer, wrt="x")
    assert found["verdict"] == "unreadable"
    assert "put + " in found["message"]
    assert "mixed number" in refused(f"{answer}*x").message


@pytest.mark.parametrize(("function", "answer"), [
    (r"2\cdot\frac{1}{2}x", "1"), (r"x^2\frac{1}{2}", "x"), (r"2\frac{x}{2}", "1"),
    (r"2\frac{3}{2}x", "3"), (r"(2+\frac{1}{2})x", "5/2"), (r"2(1/2)x", "1"),
    (r"2^2\frac{1}{2}x", "2"), (r"2.5\frac{1}{2}x", "1.25")])
def test_what_is_no_mixed_number(function: str, answer: str) -> None:
    assert check(function, answer, wrt="x")["verdict"] == "correct"


# ---- words -------------------------------------------------------------------------------------


@folded
@pytest.mark.parametrize("word", sorted(OTHER_SYSTEMS))
def test_functions_of_other_systems_are_told_what_to_write(word: str) -> None:
    for text in (f"{word}(x)", f"x^2 + 3{word}(x, 3)", f"x{word}(2x)"):
        told = refused(text)
        assert f"`{word}`" in told.message, text
        assert told.help == f"write {OTHER_SYSTEMS[word]}"
        found = check("x^2", text, wrt="x")
        assert found["verdict"] == "unreadable"
        assert OTHER_SYSTEMS[word] in found["message"]


@pytest.mark.parametrize("word", ["foo", "bump", "weight", "where", "hello", "binomal", "gama",
                                  "arcsn", "coss", "sinn", "tanhh", "expp", "lnn", "sqrtt"])
def test_unknown_words_of_a_sheet_are_errors(word: str) -> None:
    text = f'[[problem]]\nid = "1"\nfunction = "x^2 + {word}(x)"\nwrt = "x"\n'
    found, wrong = lint(parse(text, "sheet.toml"))
    assert not found["problems"]
    (one,) = wrong
    assert one.code == "E0704"
    assert one.span is not None
    assert text[slice(*one.span)] == word
    assert one.help
    near = one.help.removeprefix("did you mean `").removesuffix("`?")
    if near != one.help:  # the suggestion is right when it is followed
        assert near in SCHOOL or near in CALLED
        prepare(from_fields({"function": f"{near}({'x, 2' if near == 'binomial' else 'x'})",
                             "wrt": "x"}))
    elif one.help.startswith("write "):
        product = one.help.removeprefix("write ").removesuffix(" for a product")
        prepare(from_fields({"function": f"x^2 + {product}*(x)", "wrt": "x"}))


@pytest.mark.parametrize(("function", "answer"), [
    ("mgl(1 - cos x)", "mgl sin x"), ("GMm/x", "-GMm/x^2"), ("ab(x + 1)", "ab"),
    ("nRT/x", "-nRT/x^2"), ("qvBsin(x)", "qvBcos(x)"), ("abc x", "abc"), ("axsin(bx)",
     "asin(bx) + abx cos(bx)"), ("abce^x", "abce^x"), ("xyz(x + 1)", "2xyz + yz"),
    ("lnx(x + 1)", "(x + 1)/x + lnx"), ("expx", "expx"), ("xsinx", "sinx + xcosx")])
def test_products_of_letters_are_products(function: str, answer: str) -> None:
    assert check(function, answer, wrt="x")["verdict"] == "correct"


@pytest.mark.parametrize(("text", "help"), [
    ("foo(5,2)*x", "write its formula in place of it"), ("binomal(5,2)*x",
     "did you mean `binomial`?"), ("x(1,5)", "write 1.5"), ("2x + 3,5", "write 3.5"),
    ("a(1,5)x", "write 1.5"), ("hypott(x,3)", "did you mean `hypot`?")])
def test_a_comma_in_brackets_is_of_a_function_or_of_a_number(text: str, help: str) -> None:
    assert refused(text).help == help
    found = check("x^2", text, wrt="x")
    assert found["verdict"] == "unreadable"
    assert help in found["message"]


@pytest.mark.parametrize("quotes", ["''", "‘’", "´´"])
@pytest.mark.parametrize("left", ["", "y = ", "f'(x) = "])
def test_quotation_marks_are_no_primes(quotes: str, left: str) -> None:
    found = check("x^2", f"{left}{quotes[0]}2x{quotes[1]}", wrt="x")
    assert found["verdict"] == "unreadable"
    assert found["message"] == "quotation marks are not part of a formula; leave them out"


def test_a_word_is_told_before_its_letters() -> None:
    assert "write cbrt(x)" in check("x^(4/3)", "4/3 cuberoot x", wrt="x")["message"]


@pytest.mark.parametrize(("function", "name"), [
    ("a t^2", "t"), ("b k^2", "b"), ("x^2 y", "x"), ("u v", "u"), ("t z", "t")])
def test_the_variable_that_is_missing_is_one_of_the_function(function: str, name: str) -> None:
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields({"function": function}))
    assert caught.value.help == f'write wrt = "{name}"'
    prepare(from_fields({"function": function, "wrt": name}))
    assert in_options(caught.value.diagnostics[0]) == f"give --wrt {name}"
    assert in_json(caught.value.diagnostics[0]) == f'write "wrt": "{name}"'
