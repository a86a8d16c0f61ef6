"""All files of a run, written side by side, student by student.

One student's results are in memory at a time. Each file gets its name when all are written.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from contextlib import ExitStack
from xml.etree import ElementTree

from gradcli.homework.marking.marks import (
    BLANK,
    FULL,
    HINT,
    MISSING,
    NONE,
    RIGHT,
    WAITING,
    WRONG,
    class_marks,
    feedback,
)
from gradcli.homework.marking.review import Review
from gradcli.homework.reports.feedback import FOLDER, MARKDOWN, Pages, comment
from gradcli.homework.reports.items import Stats
from gradcli.homework.reports.lms import fill
from gradcli.homework.sheets.cells import cell, file_stems, number
from gradcli.render.machine import dump
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TextIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.handed_in.records import InputNote, Student
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.output_folder import OutputFolder
    from gradcli.homework.marking.overrides import Overrides
    from gradcli.homework.marking.results import Result
    from gradcli.homework.reports.lms import FilledExport
    from gradcli.homework.sheets.sheet import Sheet


# --------------------------------------------------------------------------------------------------
# gradebook.csv: a row for each student, a column for each problem.
#
# The first columns follow nbgrader's export in name and meaning. Text that a spreadsheet would run
# as a formula gets an apostrophe; numbers stay numbers.

COLUMNS = ("student_id", "last_name", "first_name", "email", "raw_score", "late_penalty", "score",
           "max_score", "percent", "n_correct", "n_wrong", "n_review", "n_blank", "status")


class Gradebook:
    """The file gradebook.csv while it is written. raw: without apostrophes (`cells.cell`)."""

    __slots__ = ("_raw", "_writer")

    def __init__(self, stream: TextIO, sheet: Sheet, raw: bool = False) -> None:
        self._raw = raw
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow([*COLUMNS, *[title(p.id, raw) for p in sheet.problems]])

    def add(self, marks: Marks) -> None:
        """Write the row of a student. A missing one has no score in a problem."""
        student = marks.student
        who = [student.id, student.last_name, student.first_name, student.email]
        missing = marks.status == MISSING
        self._writer.writerow([
            *[cell(text, self._raw) for text in who],
            *map(number, (marks.raw, marks.late_penalty, marks.score, marks.maximum,
                          marks.percent)),
            *[marks.count(kind) for kind in (RIGHT, WRONG, WAITING, BLANK)], marks.status,
            *["" if missing else number(result.score if result else 0.0)
              for result in marks.results]])


def title(problem: str, raw: bool = False) -> str:
    """Return the head of a problem's column: its id, distinct from the columns before."""
    return cell(f"problem {problem}" if problem in COLUMNS else problem, raw)


# --------------------------------------------------------------------------------------------------
# Annotations for a GitHub workflow: a line for each answer that is not right.
#
# GitHub shows ten errors and ten warnings of a step, so no more are written; the last line says how
# many there are. Escapes are those of its toolkit: % CR LF in the message, : and , in properties
# too.

MOST = 10


def messages(sheet: Sheet, everybody: Iterable[Marks], folder: str = "") -> Iterator[str]:
    """Yield `::error file=,line=,title=::message` for wrong answers, `::warning` for waiting ones.

    folder: the folder of submissions; GitHub wants paths from where the workflow works.
    """
    counts = {RIGHT: 0, WRONG: 0, WAITING: 0}
    for marks in everybody:
        for problem, kind, result in zip(sheet.problems, marks.kinds, marks.results, strict=True):
            if kind not in counts or result is None:
                continue
            counts[kind] += 1
            if kind == RIGHT or counts[kind] > MOST:
                continue
            found = feedback(problem, result, HINT)
            file = result.file and os.path.normpath(os.path.join(folder, result.file))
            place = [("file", file), ("line", result.line),
                     ("title", f"{marks.student.id}, problem {problem.id}")]
            properties = ",".join([f"{name}={_property(str(value))}" for name, value in place
                                   if value is not None])
            yield (f"::{'error' if kind == WRONG else 'warning'} {properties}::"
                   f"{_message(found.message or found.verdict)}\n")
    yield (f"::notice ::{counts[RIGHT]} right, {counts[WRONG]} wrong,"
           f" {counts[WAITING]} for review\n")


def _message(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


# --------------------------------------------------------------------------------------------------
# gradescope/results.json: one student, as the autograder specification of Gradescope wants it.
#
# score, output, visibility, stdout_visibility and tests, each with score, max_score, status, name,
# number, output, tags and visibility.
# https://gradescope-autograders.readthedocs.io/en/latest/specs/

def results_json(sheet: Sheet, marks: Marks, level: str = "hint", visibility: str = "visible"
                 ) -> str:
    """Return the text of the file for one student.

    level: as for feedback; at `none` and `verdict` nothing else. visibility: of the tests.
    """
    output = f"{number(marks.score)} of {number(marks.maximum)}"
    if marks.late_penalty:
        output += f" ({number(marks.raw)} less {number(marks.late_penalty)} for being late)"
    output += f"; {marks.open}" if marks.open else ""
    return dump({
        "score": marks.score, "output": output, "output_format": "text",
        "test_output_format": "text", "test_name_format": "text", "visibility": visibility,
        "stdout_visibility": "hidden",
        "tests": [_test(problem, result, level, visibility, at) for at, (problem, result)
                  in enumerate(zip(sheet.problems, marks.results, strict=True), 1)]}) + "\n"


def _test(problem: Problem, result: Result | None, level: str, visibility: str, at: int
          ) -> dict[str, Any]:
    found = feedback(problem, result, level)
    score = result.score if result else 0.0
    most = float(problem.points)
    lines = [found.verdict]
    lines += [f"your answer: {result.answer.strip()}"] if result and result.answer.strip() else []
    lines += [f"read as: {found.read_as}"] if found.read_as else []
    lines += [text for text in (found.message, found.witness, found.comment) if text]
    tags = [result.verdict if result else "blank"]
    if found.message and result and result.mistake:
        tags.append(result.mistake)
    return {
        "score": score, "max_score": most, "status": "passed" if score >= most else "failed",
        "name": f"Problem {visible(problem.id)}", "number": str(at),
        "output": "\n".join(map(visible, lines)), "tags": list(map(visible, tags)),
        "visibility": visibility}


# --------------------------------------------------------------------------------------------------
# junit.xml: a test suite for each student, a test case for each problem.
#
# A wrong answer is a failure whose message is the mistake, a blank one is skipped, one that waits
# for a person is an error. Suites are written one by one; hidden problems show only the verdict.

class Junit:
    """The file junit.xml while it is written; `finish` closes it."""

    __slots__ = ("_sheet", "_stream")

    def __init__(self, stream: TextIO, sheet: Sheet) -> None:
        self._stream = stream
        self._sheet = sheet
        # The root element, open: ElementTree writes `<testsuites name="..." />`.
        root = _text(ElementTree.Element("testsuites", name=_safe(sheet.title or sheet.id)))
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        stream.write(root.removesuffix("/>").rstrip() + ">\n")

    def add(self, marks: Marks) -> None:
        """Write the suite of a student."""
        suite = ElementTree.Element("testsuite", name=_safe(marks.student.id))
        for problem, kind, result in zip(self._sheet.problems, marks.kinds, marks.results,
                                         strict=True):
            case = ElementTree.SubElement(
                suite, "testcase", classname=_safe(self._sheet.id), name=_safe(problem.id))
            if result is not None and result.ms is not None:
                case.set("time", f"{result.ms / 1000:.6f}")
            _outcome(case, problem, "skipped" if marks.status == MISSING else kind, result)
        counts = {name: str(len(suite.findall(f"testcase/{tag}"))) for name, tag in (
            ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
        suite.attrib.update(tests=str(len(suite)), **counts)
        self._stream.write(_text(suite) + "\n")

    def finish(self) -> None:
        self._stream.write("</testsuites>\n")


def _outcome(case: ElementTree.Element, problem: Problem, kind: str, result: Result | None
             ) -> None:
    """Fill in a test case; it stays empty if the answer is right."""
    if result is None or kind == BLANK:
        ElementTree.SubElement(
            case, "skipped", message="no answer" if kind == BLANK else "nothing handed in")
        return
    if kind == RIGHT:
        return
    found = feedback(problem, result, FULL)
    name = "review" if kind == WAITING else result.verdict
    mistake = None if problem.hidden else result.mistake
    outcome = ElementTree.SubElement(
        case, "error" if kind == WAITING else "failure",
        message=_safe(mistake or found.message or found.verdict), type=_safe(mistake or name))
    lines = [f"{number(result.score)} of {number(result.max)}: {found.verdict}"]
    lines += [f"answer: {result.answer.strip()}"] if result.answer.strip() else []
    lines += [f"read as: {found.read_as}"] if found.read_as else []
    lines += [text for text in (found.message, found.witness, found.comment) if text]
    outcome.text = "\n".join(map(_safe, lines))


def _safe(text: str) -> str:
    """Return the text with visible escapes, without characters that XML 1.0 cannot write."""
    shown = visible(text)
    return shown if shown.isascii() else "".join([c for c in shown if _is_xml(ord(c))])


def _is_xml(code: int) -> bool:
    # https://www.w3.org/TR/xml/#charsets
    return (code >= 0x20 or code in (9, 10, 13)) and not (
        0xd800 <= code <= 0xdfff or code in (0xfffe, 0xffff))


def _text(element: ElementTree.Element) -> str:
    return ElementTree.tostring(element, "unicode")


# --------------------------------------------------------------------------------------------------
# notes.csv: input that was passed over, or read differently than it looks.

NOTES = "notes.csv"
NOTE_COLUMNS = ("about", "student_id", "file", "line", "message")
WORDS = {"skipped": "passed over", "unknown": "answer* to no problem of the sheet",
         "unclaimed": "line* that no problem claims",
         "repeated": "answered twice", "unreadable": "file* that cannot be read",
         "encoding": "file* not in UTF-8", "student": "about whose a file is",
         "override": "override* that count nothing",
         "kept": "override* whose rows somebody took out",
         "points": "score* that a person gave of other points",
         "alone": "override* of several that count for one",
         "joined": "line* taken for the rest of the answer above",
         "loose": "line* that may be another answer than the one above",
         "left": "line* where no answers are looked for"}
"""What is counted; * stands for the s of more than one."""


class Notes:
    """The file notes.csv while it is written, and the number of notes of each kind."""

    __slots__ = ("_raw", "_writer", "counts")

    def __init__(self, stream: TextIO, raw: bool = False) -> None:
        self._raw = raw
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow(NOTE_COLUMNS)
        self.counts: Counter[str] = Counter()

    def add(self, notes: Iterable[InputNote]) -> None:
        """Write notes, and count them."""
        for note in notes:
            self.counts[note.about] += 1
            self._writer.writerow([
                cell(note.about, self._raw), cell(note.student, self._raw),
                cell(note.file, self._raw), "" if note.line is None else note.line,
                cell(note.message, self._raw)])


def summary(counts: Counter[str]) -> str:
    """Return the counts as a text, "3 passed over, 1 answered twice"."""
    return ", ".join([
        f"{counts[about]:,} " + WORDS.get(about, about).replace("*", "s" * (counts[about] != 1))
        for about in sorted(counts, key=lambda about: (-counts[about], about))])


# --------------------------------------------------------------------------------------------------
# All files.

GRADEBOOK, REVIEW, ITEMS, JUNIT = "gradebook.csv", "review.csv", "item-analysis.csv", "junit.xml"
FEEDBACK, GRADESCOPE = FOLDER, "gradescope"
DECISIONS = "decisions.csv"     # goes with REVIEW
ALL = (GRADEBOOK, REVIEW, FEEDBACK, ITEMS, GRADESCOPE, JUNIT)
USUAL = (GRADEBOOK, REVIEW, FEEDBACK, ITEMS, JUNIT)


class OutputSummary:
    """The summary of the files.

    waiting: the number of answers that a person should look at.
    rows: the number of rows of review.csv that they are.
    exports: files of learning management systems, filled in.
    stats: the counts of the class.
    unnumbered: students who have no place in the archive for Moodle.
    """

    __slots__ = ("exports", "rows", "stats", "unnumbered", "waiting")

    def __init__(self, stats: Stats, review: Review | None, exports: list[FilledExport],
                 unnumbered: list[str]) -> None:
        self.stats = stats
        self.waiting = 0 if review is None else review.count
        self.rows = 0 if review is None else review.waiting
        self.exports = exports
        self.unnumbered = unnumbered


def write_outputs(folder: OutputFolder, sheet: Sheet, students: Sequence[Student],
                  results: Iterable[Result], *, files: Iterable[str] = USUAL,
                  overrides: Overrides | None = None, level: str = "hint",
                  raw: bool = False, templates: Iterable[str] = (), column: str | None = None,
                  visibility: str = "visible", pages: Iterable[str] = (MARKDOWN,),
                  comments: bool = False) -> OutputSummary:
    """Write the files of a run, and return a summary.

    students: everybody, those of the roster who handed nothing in too.
    results: in order (`results.in_order`), of these students only.
    files: the names of those to write.
    overrides: all, of earlier answers too, for review.csv.
    level: of feedback.
    raw: whether CSV is without apostrophes in front of formulas.
    templates: exports of Canvas and Moodle to fill.
    column: the title of the column to fill in them.
    visibility: of Gradescope's tests.
    pages: the kinds of pages for students.
    comments: whether worksheets of Moodle get what the pages say, too.

    Raises E0745 for a template before anything is written, E0748 for a file that cannot be written.
    """
    templates, files = list(templates), {*files}
    numbers: dict[str, str] = {}
    for path in templates:      # while there is nothing half done
        numbers.update(fill(path, sheet, [(one, None) for one in students], column).numbers)
    # Gradescope looks for the results of its one student in one place.
    alone = sum([student.handed_in for student in students]) <= 1
    stems = file_stems([student.id for student in students])
    scores: list[tuple[Student, float | None]] = []
    said: dict[str, str] = {}
    stats = Stats(sheet)
    review = None
    with ExitStack() as stack:
        writers: list[Gradebook | Review | Junit | Pages] = []
        if GRADEBOOK in files:
            writers.append(Gradebook(stack.enter_context(folder.open(GRADEBOOK)), sheet, raw))
        if REVIEW in files:
            review = Review(stack.enter_context(folder.open(REVIEW)), sheet, raw, overrides,
                            stack.enter_context(folder.open(DECISIONS)))
            writers.append(review)
        if JUNIT in files:
            writers.append(Junit(stack.enter_context(folder.open(JUNIT)), sheet))
        drawn = Pages(folder, sheet, level, pages if FEEDBACK in files and level != NONE else (),
                      stems, numbers, stack)
        writers.append(drawn)
        for marks in class_marks(sheet, students, results, sheet.late):
            stats.add(marks)
            for writer in writers:
                writer.add(marks)
            if GRADESCOPE in files and marks.status != MISSING:
                below = "" if alone else f"/{stems[marks.student.id]}"
                folder.write(f"{GRADESCOPE}{below}/results.json",
                             results_json(sheet, marks, level, visibility))
            if templates:
                scores.append((marks.student, None if marks.status == MISSING else marks.score))
                if comments and level != NONE and marks.status != MISSING:
                    said[marks.student.id] = comment(sheet, marks, level)
        for writer in writers:
            if isinstance(writer, Junit | Review):
                writer.finish()
        if ITEMS in files:
            stats.items.write(stack.enter_context(folder.open(ITEMS)), raw)
        exports = [fill(path, sheet, scores, column, said) for path in templates]
        for name, filled in zip(_export_names(exports), exports, strict=True):
            folder.write(name, filled.text)
    return OutputSummary(stats, review, exports, drawn.unnumbered)


def _export_names(exports: Iterable[FilledExport]) -> list[str]:
    """Return gradebook-canvas.csv, gradebook-moodle.csv; a second one of a kind gets a number."""
    names: list[str] = []
    for filled in exports:
        name = f"gradebook-{filled.system}"
        number = sum([other.startswith(name) for other in names])
        names.append(f"{name}-{number + 1}.csv" if number else f"{name}.csv")
    return names
