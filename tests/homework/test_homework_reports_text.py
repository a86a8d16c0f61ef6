"""What students and other programs read: feedback, Gradescope, JUnit, GitHub, item analysis."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from homework_made import CHAIN, HOSTILE, SHEET, answer, checked, some
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gradcli.base.errors import GradcliError
from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking import marks
from gradcli.homework.marking.marks import FULL, HINT, LEVELS, VERDICT, feedback
from gradcli.homework.marking.output_folder import OutputFolder
from gradcli.homework.marking.overrides import Override
from gradcli.homework.marking.results import Result
from gradcli.homework.reports import feedback as feedback_pages
from gradcli.homework.reports import outputs
from gradcli.homework.reports.items import COLUMNS, Items
from gradcli.homework.reports.outputs import Junit
from gradcli.homework.reports.typeset import Typesetter
from gradcli.homework.sheets import cells
from gradcli.render import html
from gradcli.render.numbers import visible

ANY = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=40),
                st.text(alphabet="`*_[]()<>&#!|~\\$:/w.x\n ", min_size=1, max_size=30))


def everybody() -> list[marks.Marks]:
    students, found = some()
    return list(marks.class_marks(SHEET, students, found, 0.25))


def one(student: str, text: str, found: dict[str, Any], **who: Any) -> marks.Marks:
    return next(marks.class_marks(SHEET, [Student(student, **who)],
                                  [answer(student, "1a", text, found)]))


def hostile(student: str, text: str) -> marks.Marks:
    """The same text wherever somebody's text can stand."""
    found = checked("wrong", message=text, read_as=text, mistake=text, confidence="high",
                    witness={"at": {text: 1.5}, "expected": [[1.0, None]], "got": "NaN"})
    made = one(student, text, found, last_name=text, first_name=text, email=text, section=text)
    result = made.results[0]
    assert result is not None
    result.file = text
    marks.overridden(result, Override(0.5, text, None, 2))
    return made


# --- feedback ---------------------------------------------------------------------------------


def test_feedback_in_full() -> None:
    assert feedback_pages.markdown(SHEET, everybody()[1], FULL) == """\
# Chain rule

Student: Carl Gauß (`s2`)

Score: 1.875 of 7 (2.5 less 0.625 for being late); 2 answers wait for a person

## Problem 1a

Not right. 1 of 2.

- Your answer: `cos(x^2)`
- Read as: `cos(x^2)`
- Hint: looks like the inner derivative of `x^2` is missing: multiply by 2x.
- For example, at x = 1.235 the value is 0.1122, and the answer gives -3.

## Problem 1b

Not right. 1.5 of 3.

- Your answer: `<2xy, y^2>`
- Read as: `[2*x*y, y^2]`

## Problem 2

Could not be read by the program: a person will look at it. 0 of 1 until then.

- Your answer: `1/x)`
- Hint: one ) too many.

## Problem 3

Not right; a person will look at it. 0 of 1 until then.

- Your answer: `2x^2`
"""


@pytest.mark.parametrize("level", [VERDICT, HINT, FULL])
def test_every_form_says_that_a_person_will_look(level: str) -> None:
    waiting = everybody()[1]
    pages = (feedback_pages.markdown(SHEET, waiting, level),
             html.write([feedback_pages.page(SHEET, waiting, level, Typesetter())]),
             feedback_pages.comment(SHEET, waiting, level))
    for page in pages:
        assert "could not be read by the program: a person will look at it" in page.lower()
        assert page.count("until then") == 2
        assert "2 answers wait for a person" in page
    found = json.loads(outputs.results_json(SHEET, waiting, level))
    assert found["output"].endswith("; 2 answers wait for a person")
    assert "a person will look at it" in found["tests"][2]["output"]


def test_feedback_says_what_its_level_allows() -> None:
    page = {level: feedback_pages.markdown(SHEET, everybody()[1], level) for level in LEVELS}
    assert "Read as" not in page[VERDICT]
    assert "looks like" not in page[VERDICT].lower()
    assert "looks like" in page[HINT]
    assert "the value is" not in page[HINT]
    for text in page.values():
        assert "secret" not in text     # the hidden problem
        assert "is 12," not in text
        assert "1.23456" not in text


def test_feedback_of_somebody_who_handed_nothing_in() -> None:
    text = feedback_pages.markdown(SHEET, everybody()[3], FULL)
    assert "Nothing was handed in." in text
    assert "Problem" not in text


@pytest.mark.parametrize(("verdict", "score", "words"), [
    ("wrong", 2.0, "accepted"), ("correct", 0.0, "not accepted"),
    ("undecided", 1.0, "accepted in part")])
def test_a_person_has_the_last_word(verdict: str, score: float, words: str) -> None:
    result = answer("s", "1a", "x", checked(verdict, message="machine"))
    marks.overridden(result, Override(score, "by hand", None, 2))
    found = feedback(SHEET["1a"], result, VERDICT)
    assert (found.verdict, found.comment, found.message) == (words, "by hand", "")


def test_a_hidden_problem_tells_the_verdict_only() -> None:
    result = answer("s", "3", "2x^2", {**CHAIN, "message": "secret"})
    found = feedback(SHEET["3"], result, FULL)
    assert (found.verdict, found.read_as, found.message, found.witness) == ("not right", "", "", "")


def test_a_hint_does_not_give_the_expected_value_away() -> None:
    result = answer("s", "1a", "x", checked(
        "wrong", message="at x = 1.3 this is 1.3, and should be -0.309196",
        witness={"at": {"x": 1.3}, "expected": -0.309196, "got": 1.3}))
    assert feedback(SHEET["1a"], result, HINT).message == ""
    assert feedback(SHEET["1a"], result, FULL).witness == (
        "at x = 1.3 the value is -0.3092, and the answer gives 1.3")
    named = answer("s", "1a", "cos(x^2)", CHAIN)
    assert "should be" in str(named.message)
    assert feedback(SHEET["1a"], named, HINT).message == feedback(SHEET["1a"], named,
                                                                  FULL).message == (
        "looks like the inner derivative of `x^2` is missing: multiply by 2x")
    shape = answer("s", "1a", "x", checked("wrong", message="a vector of 2 is asked for"))
    assert feedback(SHEET["1a"], shape, HINT).message == "a vector of 2 is asked for"


def test_nobody_waits_for_a_person_who_was_there() -> None:
    result = answer("s", "1a", "6x = 0", checked(
        "undecided", message="one side is right: a person has to look at it"))
    assert feedback(SHEET["1a"], result, HINT).message.endswith("a person has to look at it")
    result.override = {"score": None, "comment": "see me"}
    assert feedback(SHEET["1a"], result, HINT).message.endswith("a person has to look at it")
    result.override = {"score": 1.0, "comment": ""}
    assert feedback(SHEET["1a"], result, HINT).message == "one side is right"


def test_witness_values_are_rounded_and_may_be_anything() -> None:
    assert cells.rounded([[1 / 3, None], ["NaN", -1e300]]) == (
        "[[0.3333, undefined], [undefined, -1e+300]]")
    assert cells.rounded(float("nan")) == "undefined"


SAFE = {"heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline",
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}


@given(ANY, ANY)
def test_feedback_is_the_markup_of_gradcli_and_no_other(student: str, text: str) -> None:
    page = feedback_pages.markdown(SHEET, hostile(student, text), FULL)
    assert page.replace("\n", "").isprintable()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)
    assert {token.type for token in tokens} <= SAFE
    assert [t.tag for t in tokens if t.type == "heading_open"] == ["h1"] + ["h2"] * 4
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "code_inline", "softbreak", "text_special"}


@given(ANY)
def test_a_code_span_shows_the_text_itself(text: str) -> None:
    shown = visible(text)
    rendered = MarkdownIt().parse(f"a {cells.code(text)} b")[1].children or []
    if shown.strip():
        assert [c.content for c in rendered if c.type == "code_inline"] == [shown]


@given(ANY)
def test_prose_shows_the_text_itself(text: str) -> None:
    shown = visible(text)
    rendered = MarkdownIt("commonmark").parse(f"a {cells.plain(text)} b")[1].children or []
    assert "".join([c.content for c in rendered]) == f"a {shown} b"


# --- names of files ---------------------------------------------------------------------------


NAME = st.from_regex(r"[sS]?[a-cA-C.1_-]{0,3}", fullmatch=True)


@given(ANY | NAME, ANY | NAME)
@example("Ann", f"ann-{hashlib.sha256(b'Ann').hexdigest()[:cells.DIGEST]}")
@example("a b", f"a-b-{hashlib.sha256(b'a b').hexdigest()[:cells.DIGEST]}")
def test_names_of_files_stay_in_the_folder_and_apart(student: str, other: str) -> None:
    stems = cells.file_stems([student, other])
    file = stems[student]
    assert os.path.normpath(f"feedback/{file}.md") == f"feedback/{file}.md"
    assert file.isascii()
    assert file.isprintable()
    assert not set(file) & set('/\\:*?"<>| ')
    assert not file.startswith(".")
    assert len(file) < 70
    assert len({stem.lower() for stem in stems.values()}) == len({student, other})


def test_a_file_is_called_like_its_student() -> None:
    ids = ["wkim", "s1234567", "0042", "Ann", "jane.doe_2", "S1", "s1", "a b", "é", "-x", "con",
           "x" * 41, "w-0123456789ab"]
    stems = cells.file_stems(ids)
    assert [id for id in ids if stems[id] == id] == ids[:5]
    assert all(stems[id].rpartition("-")[2] != id for id in ids[5:])


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = OutputFolder(str(tmp_path / "out"))
    folder.write("feedback/a.md", "one\n")

    def stops() -> None:
        with folder.open("feedback/a.md") as stream:
            stream.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stops()
    assert os.listdir(tmp_path / "out" / "feedback") == ["a.md"]
    assert (tmp_path / "out" / "feedback" / "a.md").read_text() == "one\n"


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", "a//b", "", ".", "a/..", "a\0b"])
def test_no_file_is_written_outside(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leads out"):
        OutputFolder(str(tmp_path / "out")).write(name, "x")
    assert os.listdir(tmp_path) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "kept.csv").write_text("kept")
    (out / "feedback").symlink_to(outside)
    (out / "gradebook.csv").symlink_to(outside / "kept.csv")
    folder = OutputFolder(str(out))
    with pytest.raises(GradcliError) as caught:
        folder.write("feedback/a.md", "x")
    assert caught.value.code == "E0748"
    folder.write("gradebook.csv", "new")
    assert (outside / "kept.csv").read_text() == "kept"
    assert (out / "gradebook.csv").read_text() == "new"
    assert os.listdir(outside) == ["kept.csv"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(GradcliError) as caught:
            OutputFolder(str(path)).write("a.csv", "x")
        assert caught.value.code == "E0748"
    (tmp_path / "out" / "a.csv").mkdir(parents=True)
    with pytest.raises(GradcliError) as caught:
        OutputFolder(str(tmp_path / "out")).write("a.csv", "x")
    assert caught.value.code == "E0748"
    assert os.listdir(tmp_path / "out") == ["a.csv"]


# --- JUnit ------------------------------------------------------------------------------------


def junit(people: list[marks.Marks]) -> str:
    stream = io.StringIO(newline="")
    made = Junit(stream, SHEET)
    for each in people:
        made.add(each)
    made.finish()
    return stream.getvalue()


def test_junit_of_the_class() -> None:
    root = ElementTree.fromstring(junit(everybody()))
    assert [(s.get("name"), s.get("tests"), s.get("failures"), s.get("errors"), s.get("skipped"))
            for s in root] == [("s1", "4", "0", "1", "0"), ("s2", "4", "2", "2", "0"),
                               ("s3", "4", "0", "0", "4"), ("s4", "4", "0", "0", "4")]
    failure = root[1][0].find("failure")
    assert failure is not None
    assert failure.get("message") == "missing_chain_factor"
    assert "read as: cos(x^2)" in (failure.text or "")
    hidden = root[1][3][0]
    assert "secret" not in ElementTree.tostring(hidden, "unicode")
    assert "power" not in ElementTree.tostring(hidden, "unicode")


@given(ANY, ANY)
def test_junit_is_xml_whatever_the_names_are(student: str, text: str) -> None:
    people = [hostile(student, text), one(student, text, checked("unreadable", message=text))]
    root = ElementTree.fromstring(junit(people).encode("utf-8"))
    assert [suite.get("name") for suite in root] == [visible(student)] * 2
    assert len(root[0]) == 4


# --- Gradescope -------------------------------------------------------------------------------


def test_gradescope_has_the_fields_of_its_specification() -> None:
    found = json.loads(outputs.results_json(SHEET, everybody()[1], FULL, "after_published"))
    assert found["score"] == 1.875
    assert found["visibility"] == "after_published"
    assert set(found) <= {
        "score", "execution_time", "output", "output_format", "test_output_format",
        "test_name_format", "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard"}
    first = found["tests"][0]
    assert first == {
        "score": 1.0, "max_score": 2.0, "status": "failed", "name": "Problem 1a", "number": "1",
        "output": "not right\nyour answer: cos(x^2)\nread as: cos(x^2)\nlooks like the inner"
        " derivative of `x^2` is missing: multiply by 2x\nat x = 1.235 the value is 0.1122, and the"
        " answer gives -3", "tags": ["wrong", "missing_chain_factor"],
        "visibility": "after_published"}
    assert found["tests"][3]["output"] == (
        "not right; a person will look at it\nyour answer: 2x^2")
    assert [t["status"] for t in json.loads(outputs.results_json(SHEET, everybody()[0]))["tests"]
            ] == ["passed", "passed", "failed", "passed"]


@given(ANY, ANY)
def test_gradescope_has_nothing_unprintable(student: str, text: str) -> None:
    written = outputs.results_json(SHEET, hostile(student, text), FULL)
    assert written[:-1].isprintable()
    for test in json.loads(written)["tests"]:
        assert test["output"].replace("\n", "").isprintable()


# --- GitHub -----------------------------------------------------------------------------------


def test_github_messages() -> None:
    assert list(outputs.messages(SHEET, everybody())) == [
        "::warning file=s1/answers.txt,line=3,title=s1%2C problem 2::"
        "right, but undefined for x < 0\n",
        "::error file=s2/answers.txt,line=3,title=s2%2C problem 1a::looks like the inner derivative"
        " of `x^2` is missing: multiply by 2x\n",
        "::error file=s2/answers.txt,line=3,title=s2%2C problem 1b::not right\n",
        "::warning file=s2/answers.txt,line=3,title=s2%2C problem 2::one ) too many\n",
        "::warning file=s2/answers.txt,line=3,title=s2%2C problem 3::"
        "not right; a person will look at it\n",
        "::notice ::3 right, 2 wrong, 3 for review\n"]


def test_github_shows_ten_of_a_kind() -> None:
    many = [one(f"s{k}", "x", checked("wrong")) for k in range(30)]
    lines = list(outputs.messages(SHEET, many))
    assert len(lines) == 11
    assert lines[-1] == "::notice ::0 right, 30 wrong, 0 for review\n"


@given(ANY, ANY)
def test_a_github_message_is_one_line_with_its_own_properties(student: str, text: str) -> None:
    made = one(student, text, checked("wrong", message=text))
    result = made.results[0]
    assert result is not None
    result.file = text
    line = next(outputs.messages(SHEET, [made]))
    assert line[:-1].isprintable()
    properties = line.removeprefix("::error ").split("::")[0]
    assert [p.partition("=")[0] for p in properties.split(",")] == ["file", "line", "title"]


# --- items ------------------------------------------------------------------------------------


def wrong(student: str, text: str, read_as: str | None, fingerprint: str | None = None,
          mistake: str | None = None) -> Result:
    return answer(student, "1a", text, checked(
        "wrong", read_as=read_as, fingerprint=fingerprint, mistake=mistake, confidence="high"))


def items(found: list[Result]) -> Items:
    made = Items(SHEET)
    for each in marks.class_marks(SHEET, [Student(r.student) for r in found], found):
        made.add(each)
    return made


def test_answers_that_are_the_same_are_one_cluster() -> None:
    made = items([
        wrong("a", "cos(x^2)", "cos(x^2)", "f1", "missing_chain_factor"),
        wrong("b", "cos(x*x)", "cos(x*x)", "f1", "missing_chain_factor"),
        wrong("c", "cos(x^2)", "cos(x^2)", "f1"),
        wrong("d", "-x", "-x", None, "trig_sign"), wrong("e", " -x ", "-x"), wrong("f", "y", None),
        answer("g", "1a", "2x cos(x^2)", checked()), answer("h", "1a", "", checked("blank"))])
    found = made.items[0].numbers()
    assert (found["attempts"], found["blank"], found["right"], found["wrong"]) == (7, 1, 1, 6)
    assert found["share"] == 0.1429
    assert found["mistakes"] == {"missing_chain_factor": 2, "trig_sign": 1}
    assert found["clusters"] == [
        {"answer": "cos(x^2)", "count": 3, "mistake": "missing_chain_factor"},
        {"answer": "-x", "count": 2, "mistake": "trig_sign"},
        {"answer": "y", "count": 1, "mistake": None}]
    stream = io.StringIO(newline="")
    made.write(stream)
    row = next(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))
    assert list(row) == list(COLUMNS)
    assert row["mistakes"] == "missing_chain_factor: 2; trig_sign: 1"
    assert row["clusters"] == "cos(x^2) (3); -x (2); y (1)"


def test_clusters_do_not_depend_on_the_order() -> None:
    found = [wrong(s, t, t, "f") for s, t in (("a", "2"), ("b", "1"), ("c", "2"), ("d", "1"))]
    backwards = [wrong(s, t, t, "f") for s, t in (("a", "1"), ("b", "2"), ("c", "1"), ("d", "2"))]
    assert items(found).items[0].numbers() == items(backwards).items[0].numbers()


@given(ANY)
def test_item_analysis_holds_no_formula(text: str) -> None:
    stream = io.StringIO(newline="")
    items([wrong("a", text, text, mistake=text)]).write(stream)
    assert stream.getvalue().replace("\n", "").isprintable()
    for row in csv.reader(io.StringIO(stream.getvalue(), newline="")):
        assert len(row) == len(COLUMNS)
        assert not [c for c in row if c.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))]


def test_a_missing_student_counts_nowhere() -> None:
    made = Items(SHEET)
    made.add(everybody()[3])
    assert [(i.attempts, i.blank) for i in made.items] == [(0, 0)] * 4
    assert made.items[0].numbers()["share"] is None
