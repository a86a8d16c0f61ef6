"""Errors as excerpts and as JSON: golden texts, and what must hold for any text."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest
from folders import ROOT
from rich.cells import cell_len

import gradcli
from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.render.machine import dump
from gradcli.render.messages import as_json, excerpt, render

TEXT = "var x = 3\n# a comment\ny = 2*sinn(x)\n"
PLACE = (TEXT.index("sinn"), TEXT.index("sinn") + 4)


def unknown(**more: object) -> Diagnostic:
    given = {"span": PLACE, "source": Source(TEXT, "expr.txt"),
             "label": "no operation or function has this name", "help": "did you mean `sin`?",
             **more}
    return Diagnostic("E0201", "unknown function `sinn`", **given)  # type: ignore[arg-type]


def at(text: str, marked: str, **more: object) -> Diagnostic:
    start = text.index(marked)
    given = {"span": (start, start + len(marked)), "source": Source(text, "f"), **more}
    return Diagnostic("E0101", "message", **given)  # type: ignore[arg-type]


def test_the_form_of_the_contract() -> None:
    assert render([unknown()]) == """\
error[E0201]: unknown function `sinn`
  --> expr.txt:3:7
   |
 3 | y = 2*sinn(x)
   |       ^^^^ no operation or function has this name
   |
   = help: did you mean `sin`?
"""


def test_related_places_and_notes() -> None:
    shown = render([unknown(related=[((4, 5), "bound here")], notes=["first", "second"])])
    assert shown == """\
error[E0201]: unknown function `sinn`
  --> expr.txt:3:7
   |
 3 | y = 2*sinn(x)
   |       ^^^^ no operation or function has this name
   |
  ::: expr.txt:1:5
   |
 1 | var x = 3
   |     - bound here
   |
   = note: first
   = note: second
   = help: did you mean `sin`?
"""


def test_without_help_the_excerpt_is_the_end() -> None:
    assert render([unknown(help=None)]).endswith("^^^^ no operation or function has this name\n")


def test_without_a_span_there_is_no_place() -> None:
    assert render([Diagnostic("E0601", "cannot read `a`", help="give a file", notes=["n"])]) == """\
error[E0601]: cannot read `a`
   = note: n
   = help: give a file
"""
    assert render([Diagnostic("E0601", "message", source=Source("x"))]) == "error[E0601]: message\n"


def test_a_file_without_text_is_named_without_an_excerpt() -> None:
    shown = render([Diagnostic("E0601", "cannot read `a.txt`", source=Source("", "a.txt"),
                               span=(0, 0), help="did you mean `b.txt`?")])
    assert shown == """\
error[E0601]: cannot read `a.txt`
  --> a.txt
   |
   = help: did you mean `b.txt`?
"""


def test_several_are_separated_and_counted() -> None:
    one = Diagnostic("E0101", "first")
    assert render([one, Diagnostic("E0102", "second")]) == (
        "error[E0101]: first\n\nerror[E0102]: second\n\n2 errors\n")
    assert "errors" not in render([one])


def test_the_gutter_is_as_wide_as_the_largest_number() -> None:
    text = "a\n" * 99 + "b\n"
    assert render([at(text, "b", related=[((0, 1), "here")])]).splitlines() == [
        "error[E0101]: message",
        "    --> f:100:1",
        "     |",
        " 100 | b",
        "     | ^",
        "     |",
        "    ::: f:1:1",
        "     |",
        "   1 | a",
        "     | - here"]


@pytest.mark.parametrize(("text", "marked", "line", "marks"), [
    ("\tx = yy", "yy", "    x = yy", "        ^^"),
    ("s = '\u6f22\u5b57' + yy", "yy", "s = '\u6f22\u5b57' + yy", " " * 13 + "^^"),
    ("\u6f22\u5b57", "\u5b57", "\u6f22\u5b57", "  ^^"),
    ("e\u0301 + yy", "yy", "e\u0301 + yy", "    ^^"),
    ("a\x1b[0m + yy", "yy", "a\\x1b[0m + yy", " " * 11 + "^^"),
    ("'\u202e' yy", "yy", "'\\u202e' yy", "         ^^"),
    ("x\u00a0yy", "\u00a0", "x\\xa0yy", " ^^^^"),
    ("a = (\n1,\n2)", "(\n1,\n2)", "a = (", "    ^"),
    ("y = x +", "+", "y = x +", "      ^"),
    ("a\r\nb", "b", "b", "^"),
])
def test_carets_stand_below_what_they_mark(text: str, marked: str, line: str, marks: str) -> None:
    start = text.index(marked)
    assert excerpt(Source(text), (start, start + len(marked)), "", 60) == (line, [marks])


@pytest.mark.parametrize(("text", "offset", "line", "marks"), [
    ("x = ", 4, "x = ", "    ^"), ("x\n", 2, "", "^"), ("x\ny", 1, "x", " ^"), ("", 0, "", "^"),
])
def test_an_empty_span_has_one_caret(text: str, offset: int, line: str, marks: str) -> None:
    assert excerpt(Source(text), (offset, offset), "", 60) == (line, [marks])


def test_a_label_that_does_not_fit_has_a_line_of_its_own() -> None:
    text = "x + " * 10 + "yy"
    assert excerpt(Source(text), (40, 42), "the label", 60)[1] == [" " * 40 + "^^ the label"]
    assert excerpt(Source(text), (40, 42), "the label", 50)[1] == [
        " " * 40 + "^^", " " * 40 + "the label"]
    assert excerpt(Source(text), (40, 42), "the label", 45)[1] == [
        " " * 40 + "^^", " " * 36 + "the label"]


def test_long_lines_are_shown_around_the_caret() -> None:
    text = "a+" * 100 + "BAD" + "+c" * 100
    shown, marks = excerpt(Source(text), (200, 203), "here", 40)
    assert shown.startswith("...")
    assert shown.endswith("...")
    assert len(shown) <= 40
    at_mark = marks[0].index("^^^")
    assert shown[at_mark:at_mark + 3] == "BAD"
    assert marks[0].endswith("^^^ here")
    start, _ = excerpt(Source(text), (0, 1), "", 40)
    assert start == text[:34] + "..." or start == text[:37] + "..."
    end, _ = excerpt(Source(text), (402, 403), "", 40)
    assert end == "..." + text[-34:]


def test_any_excerpt_fits_and_points_at_its_span() -> None:
    draw = random.Random(11)
    alphabet = "abc  \t\u6f22\u0301\u202e\x1b\U0001f600+"
    for _ in range(3000):
        text = "".join(draw.choices(alphabet, k=draw.randrange(1, 200)))
        start = draw.randrange(len(text))
        span = (start, min(len(text), start + draw.randrange(1, 9)))
        width = draw.randrange(24, 90)
        shown, (marks,) = excerpt(Source(text), span, "", width)
        assert cell_len(shown) <= width
        assert cell_len(marks) <= width
        assert shown.replace(" ", "").isprintable()
        # What stands above the first caret is the first marked character, or its escape.
        first = text[start]
        seen, column = "", 0
        for character in shown:
            if column == len(marks) - len(marks.lstrip(" ")) and cell_len(character):
                seen = character
                break
            column += cell_len(character)
        if first.isprintable() and cell_len(first):
            assert seen == first
        elif first == "\t":
            assert seen == " "
        elif not first.isprintable():
            assert seen == "\\"


def test_a_line_of_megabytes_is_windowed() -> None:
    text = "x+" * 2_000_000
    shown, _ = excerpt(Source(text), (2_000_000, 2_000_001), "", 60)
    assert len(shown) <= 60


def test_hostile_names_and_messages_are_escaped() -> None:
    shown = render([Diagnostic(
        "E0201", "unknown `\x1b[2J`", source=Source("x\n", "a\x1b[0m\n.txt"), span=(0, 1),
        label="\x9b", notes=["\u202e"], help="a\nb")])
    assert shown.replace("\n", "").isprintable()
    assert len(shown.splitlines()) == 8
    assert "unknown `\\x1b[2J`" in shown


def test_colour_adds_codes_and_changes_no_text() -> None:
    import re

    one = unknown(related=[((4, 5), "bound here")], notes=["n"])
    shown = render([one, one], color=True)
    assert shown.startswith("\x1b[1;31merror[E0201]\x1b[0m")
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == render([one, one])


def test_as_json() -> None:
    found = as_json([unknown()], "other.txt")
    assert found == {"schema": 1, "error": {
        "code": "E0201", "message": "unknown function `sinn`", "file": "expr.txt", "line": 3,
        "column": 7, "end_line": 3, "end_column": 11, "help": "did you mean `sin`?"}}


def test_as_json_without_a_place_and_with_further_errors() -> None:
    found = as_json([Diagnostic("E0601", "m"), unknown()], "other.txt")
    assert found["error"] == {
        "code": "E0601", "message": "m", "file": "other.txt", "line": None, "column": None,
        "end_line": None, "end_column": None, "help": None}
    assert [one["code"] for one in found["errors"]] == ["E0201"]
    schema = json.loads((ROOT / "gradcli" / "schemas" / "error.schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(dump(found)), schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(("text", "at", "code", "help"), [
    ("", {}, "E0210", "write an expression such as x^2"),
    ("# a remark\n", {"x": 1.0}, "E0210", "write an expression such as x^2"),
    ("g(x, y) = x*y\n", {}, "E0210", "it defines `g`; add a line with a formula, such as g(x, y)"),
    ("x = 0.5\ny = x^2\n", {}, "E0211", "name one: --wrt x"),
    ("x^2 = y + 1\n", {}, "E0107", "an equation is written `x^2 - (y + 1)`"),
    ("d/dx x^2\n", {}, "E0106", "write the function alone and ask for it with --wrt x"),
])
def test_what_a_beginner_writes(text: str, at: dict[str, float], code: str, help: str) -> None:
    with pytest.raises(GradcliError) as found:
        gradcli.loads(text).gradient(at=at)
    (one,) = found.value.diagnostics
    assert one.code == code
    assert help in (one.help or "")
