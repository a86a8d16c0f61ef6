"""From checked answers to marks, the gradebook, the review list and overrides."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import folded
from homework_made import CHAIN, HOSTILE, SHEET, TEXT, answer, checked, some
from hypothesis import given
from hypothesis import strategies as st

from gradcli.base.errors import GradcliError, Source
from gradcli.homework.handed_in.records import Student
from gradcli.homework.marking import marks, results
from gradcli.homework.marking.override_rows import Reader, _places, read_overrides
from gradcli.homework.marking.overrides import Override
from gradcli.homework.marking.review import Review
from gradcli.homework.reports.items import Stats, spread
from gradcli.homework.reports.outputs import COLUMNS, Gradebook, title
from gradcli.homework.sheets import formats
from gradcli.homework.sheets.cells import cell, delimiter, records, uncell
from gradcli.render.machine import dump

IDS = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=40))


def everybody(late: float = 0.25) -> list[marks.Marks]:
    students, found = some()
    return list(marks.class_marks(SHEET, students, found, late))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def written(writer: Callable[[Any], Any], people: list[marks.Marks]) -> str:
    stream = io.StringIO(newline="")
    made = writer(stream)
    for one in people:
        made.add(one)
    if isinstance(made, Review):
        made.finish()
    return stream.getvalue().removeprefix("\ufeff")


def in_file(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


# --- scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("problem", "found", "score"), [
    ("1a", checked(), 2.0),
    ("1a", checked("wrong"), 0.0),
    ("1a", CHAIN, 1.0),                                         # [credit] of the sheet
    ("1a", {**CHAIN, "confidence": "low"}, 0.0),                # never changes a mark
    ("1a", {**CHAIN, "mistake": "trig_sign"}, 0.0),             # not in [credit]
    ("1b", checked("wrong", score=0.5), 1.5),                   # half of the entries
    ("1b", {**CHAIN, "score": 1 / 3}, 1.5),                     # whichever is more
    ("1b", {**CHAIN, "score": 2 / 3}, 2.0),
    ("1a", checked("domain"), 2.0),                             # policy note
    ("2", checked("domain"), 0.0),                              # policy review: not yet
    ("1a", checked("undecided", score=0.5), 0.0),
    ("1a", checked("unreadable"), 0.0),
    ("1a", checked("blank"), 0.0),
])
def test_the_score_of_an_answer(problem: str, found: dict[str, Any], score: float) -> None:
    assert marks.score(SHEET[problem], found) == pytest.approx(score, abs=1e-9)


def test_a_domain_that_the_sheet_rejects_gives_nothing() -> None:
    strict = formats.parse(TEXT.replace('"review"', '"reject"'), "hw3.toml")
    result = answer("s", "2", "1/x", checked("domain"), strict)
    assert result.score == 0.0
    assert marks.waits(strict["2"], result) is None
    assert marks.kind(strict["2"], result) == marks.WRONG


def test_scores_have_no_noise_of_binary_fractions() -> None:
    tenth = formats.parse(TEXT.replace("points = 3", "points = 0.3").replace("= 0.5", "= 0.1"),
                        "hw3.toml")
    assert marks.score(tenth["1b"], CHAIN) == 0.03


@pytest.mark.parametrize(("problem", "found", "reason"), [
    ("1a", checked(), None), ("1a", checked("wrong"), None), ("1a", CHAIN, None),
    ("1a", checked("undecided"), "undecided"), ("1a", checked("unreadable"), "unreadable"),
    ("1a", checked("domain"), None), ("2", checked("domain"), "domain"),
    ("1a", {**CHAIN, "confidence": "low"}, "low confidence"), ("1a", checked("blank"), None),
    # The mark can change only if the sheet gives credit for what may be the mistake.
    ("1a", checked("wrong", mistake="trig_sign", confidence="low"), None),
    ("1a", checked("wrong", mistake="trig_sign", also=["missing_term"], confidence="low"), None),
    ("1a", checked("wrong", mistake="trig_sign", also=["missing_chain_factor"],
                   confidence="low"), "low confidence"),
    ("1a", checked("wrong", mistake="right_on_part_of_domain", confidence="low"),
     "low confidence"),
    ("1b", {**CHAIN, "confidence": "low", "score": 0.5}, None)])
def test_what_waits_for_a_person(problem: str, found: dict[str, Any], reason: str | None) -> None:
    result = answer("s", problem, "x", found)
    assert marks.waits(SHEET[problem], result) == reason
    marks.overridden(result, Override(None, "seen", None, 2))
    assert marks.waits(SHEET[problem], result) == reason        # a comment decides nothing
    marks.overridden(result, Override(0.25, "", None, 2))
    assert marks.waits(SHEET[problem], result) is None


def test_an_override_wins_and_can_be_taken_back() -> None:
    result = answer("s", "1a", "cos(x^2)", CHAIN)
    marks.overridden(result, Override(2.0, "fine", None, 2))
    marks.overridden(result, Override(1.5, "well", None, 2))
    assert result.score == 1.5
    assert result.override == {"score": 1.5, "comment": "well", "automatic": 1.0}
    marks.overridden(result, Override(None, "only a word", None, 2))
    assert result.score == 1.0
    marks.automatic(result)
    assert result.score == 1.0
    assert result.fields()["override"] is None


# --- marks ------------------------------------------------------------------------------------


def test_marks_of_a_class() -> None:
    found = {one.student.id: one for one in everybody()}
    assert [(i, m.raw, m.late_penalty, m.score, m.maximum, m.percent, m.status)
            for i, m in found.items()] == [
        ("s1", 6.0, 0.0, 6.0, 7.0, 85.71, "review"),
        ("s2", 2.5, 0.625, 1.875, 7.0, 26.79, "review"),
        ("s3", 0.0, 0.0, 0.0, 7.0, 0.0, "blank"),
        ("s4", 0.0, 0.0, 0.0, 7.0, 0.0, "missing")]
    assert found["s1"].kinds == ["right", "right", "review", "right"]
    assert found["s2"].kinds == ["wrong", "wrong", "review", "review"]


def test_every_problem_counts_once() -> None:
    for one in everybody():
        assert sum(one.count(k) for k in ("right", "wrong", "review", "blank")) == 4


def test_results_of_somebody_else_are_not_lost_silently() -> None:
    students, found = some()
    with pytest.raises(ValueError, match="s2"):
        list(marks.class_marks(SHEET, students[:1], found))


def test_a_missing_student_with_an_override_is_graded() -> None:
    result = results.blank(SHEET, SHEET["1a"], "s4")
    marks.overridden(result, Override(2.0, "on paper", None, 2))
    one, = marks.class_marks(SHEET, [Student("s4", handed_in=False)], [result])
    assert (one.status, one.score, one.count("right")) == ("graded", 2.0, 1)


# --- results.ndjson ---------------------------------------------------------------------------


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    _, found = some()
    marks.overridden(found[4], Override(2.0, "ok \u202e", None, 2))
    path = in_file(tmp_path / "results.ndjson", "".join(map(results.line, found)))
    back = list(results.read_results(path))
    assert [r.fields() for r in back] == [r.fields() for r in found]
    first = json.loads(results.line(found[4]))
    assert list(first)[:19] == [
        "schema", "tool", "sheet", "sheet_hash", "student", "problem", "answer", "read_as",
        "verdict", "score", "max", "mistake", "also", "confidence", "message", "witness", "points",
        "seed", "file"]
    assert list(first)[-1] == "ms"
    assert "ms" not in found[4].comparable()


def test_the_order_is_by_student_and_as_on_the_sheet() -> None:
    _, found = some()
    shuffled = sorted(found, key=lambda r: (r.problem, r.answer), reverse=True)
    assert [(r.student, r.problem) for r in results.in_order(SHEET, shuffled)] == [
        (r.student, r.problem) for r in found]


@given(IDS, st.text(max_size=60))
def test_any_text_is_one_line_without_anything_unprintable(student: str, text: str) -> None:
    made = answer(student, "1a", text, checked(message=text, read_as=text))
    line = results.line(made)
    assert line == dump(made.fields()) + "\n"
    assert line.count("\n") == 1
    assert line[:-1].isprintable()
    back = results.parse(line.encode(), "results.ndjson", 1)
    assert (back.student, back.answer, back.message) == (student, text, text)


def test_what_is_no_number_is_a_string() -> None:
    made = answer("s", "1a", "x", checked("wrong", witness={
        "at": {"x": 1.0}, "expected": [float("nan"), -float("inf")], "got": float("inf")}))
    assert results.parse(results.line(made).encode(), "r", 1).witness == {
        "at": {"x": 1.0}, "expected": ["NaN", "-Infinity"], "got": "Infinity"}


@pytest.mark.parametrize("spoil", [
    lambda o: o.pop("verdict"), lambda o: o.update(schema=2), lambda o: o.update(score="1"),
    lambda o: o.update(score=-1.0), lambda o: o.update(verdict="fine"),
    lambda o: o.update(line=1.5), lambda o: o.update(also=[1]), lambda o: o.update(max=True),
    lambda o: o.update(student=None), lambda o: o.update(override={"score": 1}),
    lambda o: o.update(confidence="sure")])
def test_a_result_that_is_none_is_refused_with_its_place(
        spoil: Callable[[dict[str, Any]], Any], tmp_path: Path) -> None:
    good = answer("s", "1a", "x", checked())
    fields = good.fields()
    spoil(fields)
    path = in_file(tmp_path / "r.ndjson", results.line(good) + json.dumps(fields) + "\n")
    with pytest.raises(GradcliError) as caught:
        list(results.read_results(path))
    assert caught.value.code == "E0746"
    assert caught.value.source is not None
    assert caught.value.span is not None
    assert caught.value.source.position(caught.value.span[0])[0] == 2


@pytest.mark.parametrize("line", [
    "{", "[]", "1", "nul", "[" * 100_000, '{"schema": ' + "9" * 5000 + "}", '{"a": NaN}', "\ufffd"])
def test_what_is_no_object_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(GradcliError) as caught:
        list(results.read_results(in_file(tmp_path / "r.ndjson", line + "\n")))
    assert caught.value.code == "E0746"


def test_a_line_that_was_cut_off_is_passed_over_when_asked(tmp_path: Path) -> None:
    line = results.line(answer("s", "1a", "x", checked()))
    path = in_file(tmp_path / "r.ndjson", line + line[:50])
    assert len(list(results.read_results(path, cut=True))) == 1
    with pytest.raises(GradcliError):
        list(results.read_results(path))


# --- gradebook.csv ----------------------------------------------------------------------------


def test_the_gradebook() -> None:
    text = written(lambda stream: Gradebook(stream, SHEET), everybody())
    assert text == (
        "student_id,last_name,first_name,email,raw_score,late_penalty,score,max_score,percent,"
        "n_correct,n_wrong,n_review,n_blank,status,1a,1b,2,3\n"
        "s1,Noether,Emmy,Emmy@uni.example,6,0,6,7,85.71,3,0,1,0,review,2,3,0,1\n"
        "s2,Gauß,Carl,carl@uni.example,2.5,0.625,1.875,7,26.79,0,2,2,0,review,1,1.5,0,0\n"
        "s3,Kovalevskaya,Sofya,sofya@uni.example,0,0,0,7,0,0,0,0,4,blank,0,0,0,0\n"
        "s4,Abel,Niels,niels@uni.example,0,0,0,7,0,0,0,0,4,missing,,,,\n")


@given(st.lists(st.tuples(IDS, IDS, IDS, IDS), min_size=1, max_size=4, unique_by=lambda t: t[0]))
def test_no_cell_of_the_gradebook_is_a_formula(people: list[tuple[str, str, str, str]]) -> None:
    students = [Student(*who) for who in people]
    text = written(lambda stream: Gradebook(stream, SHEET),
                   list(marks.class_marks(SHEET, students, [])))
    text.encode("utf-8")
    assert text.replace("\n", "").isprintable()
    found = rows(text)
    assert len(found) == len(people)
    for row in found:
        assert None not in row
        for name, value in row.items():
            assert not value.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")), (name, value)


def test_raw_keeps_formulas_but_nothing_unprintable() -> None:
    people = list(marks.class_marks(SHEET, [Student("=1+1", "\x1b[31m")], []))
    row, = rows(written(lambda stream: Gradebook(stream, SHEET, raw=True), people))
    assert (row["student_id"], row["last_name"]) == ("=1+1", "\\x1b[31m")


def test_a_problem_called_like_a_column_has_a_title_of_its_own() -> None:
    assert title("score") not in COLUMNS
    assert title("=1") == "'=1"


def test_a_sheet_without_points_has_no_percent() -> None:
    free = formats.parse(
        'schema = 1\n[[problem]]\nid = "1"\nfunction = "x"\npoints = 0\n', "a.toml")
    one, = marks.class_marks(free, [Student("s")], [results.blank(free, free["1"], "s")])
    assert one.percent is None


# --- review.csv and overrides -----------------------------------------------------------------


def test_the_review_list() -> None:
    found = rows(written(lambda stream: Review(stream, SHEET), everybody()))
    assert [(r["student_id"], r["problem"], r["reason"], r["override_score"], r["comment"])
            for r in found] == [
        ("s1", "2", "domain", "", ""), ("s2", "2", "unreadable", "", ""),
        ("s2", "3", "low confidence", "", "")]
    assert (found[1]["file"], found[1]["line"]) == ("s2/answers.txt", "3")


def test_a_filled_review_list_comes_back_and_stays(tmp_path: Path) -> None:
    students, found = some()
    text = written(lambda stream: Review(stream, SHEET), everybody())
    table = list(csv.reader(io.StringIO(text)))
    table[1][-2:] = ["1", "=granted"]
    table[2][-2:] = ["", "please write it again"]
    stream = io.StringIO()
    csv.writer(stream, delimiter=";", quoting=csv.QUOTE_ALL).writerows(table)
    given = read_overrides(in_file(tmp_path / "review.csv", "\ufeff" + stream.getvalue()), SHEET,
                           [s.id for s in students])
    assert {key: (o.score, o.comment) for key, o in given.items()} == {
        ("s1", "2"): (1.0, "=granted"), ("s2", "2"): (None, "please write it again")}
    assert not given["s1", "2"].other("1/x")
    assert given["s1", "2"].other("2/x")
    for result in found:
        if (result.student, result.problem) in given:
            marks.overridden(result, given[result.student, result.problem])
    again = rows(written(lambda stream: Review(stream, SHEET),
                         list(marks.class_marks(SHEET, students, found))))
    assert [(r["reason"], r["score"], r["override_score"], r["comment"]) for r in again] == [
        ("unreadable", "0", "", "please write it again"), ("low confidence", "0", "", ""),
        ("overridden", "0", "1", "'=granted")]


HEAD = "student_id,problem,override_score,comment\n"


@pytest.mark.parametrize(("text", "code", "place", "help"), [
    (HEAD + "s1,1a,good,\n", "E0741", (2, 7), "write points"),
    (HEAD + "s1,1a,nan,\n", "E0741", (2, 7), ""), (HEAD + "s1,1a,1e999,\n", "E0744", (2, 7), ""),
    (HEAD + f"s1,1a,{'9' * 5000},\n", "E0741", (2, 7), ""),
    (HEAD + "s1,1a,１,\n", "E0741", (2, 7), ""),
    (HEAD + 's1,1a,"1,500",\n', "E0741", (2, 7), ""),
    (HEAD + "s1,1a,2.5,\n", "E0744", (2, 7), "up to 2"),
    (HEAD + "s1,1a,-1,\n", "E0744", (2, 7), ""),
    (HEAD + "\ns9,1a,1,\n", "E0742", (3, 1), "write the id"),
    (HEAD + "s1,9,1,\n", "E0743", (2, 4), ""),
    (HEAD + '"s1\n",1a,1,\nS2,1a,1,\n', "E0742", (4, 1), "s2"),
    (HEAD + "7,1a,1,\n", "E0742", (2, 1), "0007"),
    (HEAD + "s1,1a,1,\ns1,1a,2,\n", "E0740", (3, 1), "keep one"),
    ("student_id,problem,comment\ns1,1a,x\n", "E0740", (1, 1), ""), ("", "E0740", (1, 1), ""),
    (HEAD + 's1,1a,"1,\n', "E0740", (2, 7), ""),
])
def test_a_wrong_override_is_pointed_at(
        text: str, code: str, place: tuple[int, int], help: str, tmp_path: Path) -> None:
    path = in_file(tmp_path / "review.csv", text)
    with pytest.raises(GradcliError) as caught:
        read_overrides(path, SHEET, ["s1", "s2", "0007"])
    found = caught.value
    assert found.code == code
    assert found.source is not None
    assert found.source.name == path
    assert found.span is not None
    assert found.source.position(found.span[0]) == place
    assert found.help
    assert help in found.help


def test_all_wrong_overrides_are_told_at_once(tmp_path: Path) -> None:
    path = in_file(tmp_path / "review.csv", HEAD + "s1,1a,x,\ns1,1a,1,\ns8,1a,1,\ns1,8,1,\n")
    with pytest.raises(GradcliError) as caught:
        read_overrides(path, SHEET, ["s1"])
    assert [d.code for d in caught.value.diagnostics] == ["E0741", "E0742", "E0743"]


def test_overrides_as_spreadsheets_write_them(tmp_path: Path) -> None:
    text = "Student;Problem;Override_Score\r\ns1;1a;1,5\r\ns2;1a;\r\nnobody;1a;\r\n;;\r\n"
    given = read_overrides(in_file(tmp_path / "r.csv", text), SHEET, ["s1", "s2"])
    assert {key: o.score for key, o in given.items()} == {("s1", "1a"): 1.5}
    quoted = HEAD + 's1,1a,"1,5",\ns2,1a,",25",\n'
    given = read_overrides(in_file(tmp_path / "q.csv", quoted), SHEET, ["s1", "s2"])
    assert [o.score for o in given.values()] == [1.5, 0.25]


@given(IDS, st.text(max_size=30), st.booleans())
def test_ids_survive_the_way_through_a_spreadsheet(student: str, text: str, digest: bool) -> None:
    result = answer(student, "1a", text, checked("undecided"))
    people = list(marks.class_marks(SHEET, [Student(student)], [result]))
    stream = io.StringIO(newline="")
    review = Review(stream, SHEET)
    review.add(people[0])
    review.finish()
    table = list(csv.reader(io.StringIO(stream.getvalue(), newline="")))
    table[0][0] = "student_id"
    table[1][-2] = "0.5"
    table[1][-3] *= digest
    out = io.StringIO(newline="")
    csv.writer(out).writerows(table)
    source = Source(out.getvalue(), "review.csv")
    found = list(records(source, delimiter(source.text), "E0740"))
    reader = Reader(source, ",", _places(found[0], source), SHEET, [student, "other"])
    reader.read(found[1])
    assert [(key, o.score, o.other(text)) for key, o in reader.found.items()] == [
        ((student, "1a"), 0.5, False)]


@given(st.text(max_size=50))
def test_a_cell_comes_back(text: str) -> None:
    if text.isprintable() and not text.startswith("'"):
        assert uncell(cell(text)) == text


@given(st.text(alphabet='a,;"\n\r\t é', max_size=40))
def test_separated_reads_what_csv_reads(text: str) -> None:
    source = Source(text, "x.csv")
    try:
        found = [[c.text for c in row.cells] for row in records(source, ",", "E0740")]
    except GradcliError:
        with pytest.raises(csv.Error):
            list(csv.reader(io.StringIO(text, newline=""), strict=True))
        return
    # csv drops empty rows, and joins nothing else.
    assert [row for row in found if row != [""]] == [
        row for row in csv.reader(io.StringIO(text, newline="")) if row and row != [""]]
    pieces = [",".join(c.raw for c in row.cells) + row.end for row in records(source, ",", "E0740")]
    assert "".join(pieces) == text


# --- stats ------------------------------------------------------------------------------------


def test_stats_of_the_class() -> None:
    stats = Stats(SHEET)
    for one in everybody():
        stats.add(one)
    found = stats.numbers()
    assert found["students"] == {"total": 4, "handed_in": 3, "late": 1, "graded": 0, "review": 2,
                                 "blank": 1, "missing": 1}
    assert found["answers"]["total"] == 12
    assert [found["answers"][k] for k in ("right", "wrong", "review", "blank")] == [3, 2, 3, 4]
    assert found["answers"]["verdicts"] == {
        "blank": 4, "correct": 3, "wrong": 3, "domain": 1, "unreadable": 1}
    assert found["mistakes"] == {"missing_chain_factor": 1, "power_coefficient_off_by_one": 1}
    assert found["percent"]["median"] == 26.79
    assert not stats.all_right
    first = found["problems"][0]
    assert (first["attempts"], first["right"], first["share"], first["mean_score"]) == (
        2, 1, 0.5, 1.5)
    json.dumps(found)


def test_all_right_needs_every_answer() -> None:
    stats = Stats(SHEET)
    full = [answer("s", p.id, "x", checked()) for p in SHEET.problems]
    stats.add(next(marks.class_marks(SHEET, [Student("s")], full)))
    assert stats.all_right


def test_the_spread_of_scores() -> None:
    assert spread([40.0, 10.0, 30.0, 20.0]) == {
        "mean": 25.0, "lowest": 10.0, "lower_quartile": 15.0, "median": 25.0,
        "upper_quartile": 35.0, "highest": 40.0}
    assert spread([7.0]) == dict.fromkeys(spread([]), 7.0)
    assert set(spread([]).values()) == {None}


@folded
@pytest.mark.parametrize(("right", "of", "points"), [
    (right, of, points) for of in (2, 3, 6, 7, 9, 12) for right in range(1, of)
    for points in (of, 2 * of, 1)])
def test_shares_of_a_vector_add_up(right: int, of: int, points: int) -> None:
    """Components that are right are counted, not rounded: 2 of 3 of 3 points are 2."""
    free = formats.parse('schema = 1\n' + "".join([
        f'[[problem]]\nid = "{k}"\nfunction = "x"\npoints = {points}\n' for k in range(of)]),
        "a.toml")
    given = checked("wrong", score=right / of)
    found = {p.id: answer("s", p.id, "x", given, free) for p in free.problems}
    one = marks.Marks(Student("s"), free.problems, found)
    assert one.raw == right * points
    if points % of == 0:
        assert found["0"].score == right * points // of
