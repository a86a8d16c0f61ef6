"""All files of a run, written side by side, student by student.

One student's results are in memory at a time. Each file gets its name when all are written.
"""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import ExitStack
from xml.etree import ElementTree

from gradcli.homework.marking.marks import (
    BLANK,
    FULL,
    MISSING,
    NONE,
    RIGHT,
    WAITING,
    Review,
    class_marks,
    feedback,
)
from gradcli.homework.reports.gradebook import Gradebook, page, results_json
from gradcli.homework.reports.items import Stats
from gradcli.homework.reports.lms import fill
from gradcli.homework.sheets.cells import cell, file_stems, number
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.handed_in.records import InputNote, Student
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.overrides import Override
    from gradcli.homework.marking.results import OutputFolder, Result
    from gradcli.homework.reports.lms import FilledExport
    from gradcli.homework.sheets.sheet import Sheet


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
COLUMNS = ("about", "student_id", "file", "line", "message")
WORDS = {"skipped": "passed over", "unknown": "answer* to no problem of the sheet",
         "repeated": "answered twice", "unreadable": "file* that cannot be read",
         "encoding": "file* not in UTF-8", "student": "about whose a file is",
         "override": "override* that count nothing",
         "joined": "line* taken for the rest of the answer above"}
"""What is counted; * stands for the s of more than one."""


class Notes:
    """The file notes.csv while it is written, and the number of notes of each kind."""

    __slots__ = ("_raw", "_writer", "counts")

    def __init__(self, stream: TextIO, raw: bool = False) -> None:
        self._raw = raw
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow(COLUMNS)
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
FEEDBACK, GRADESCOPE = "feedback", "gradescope"
ALL = (GRADEBOOK, REVIEW, FEEDBACK, ITEMS, GRADESCOPE, JUNIT)
USUAL = (GRADEBOOK, REVIEW, FEEDBACK, ITEMS, JUNIT)


class OutputSummary:
    """The summary of the files.

    waiting: the number of answers that a person should look at.
    exports: files of learning management systems, filled in.
    stats: the counts of the class.
    """

    __slots__ = ("exports", "stats", "waiting")

    def __init__(self, stats: Stats, waiting: int, exports: list[FilledExport]) -> None:
        self.stats = stats
        self.waiting = waiting
        self.exports = exports


def write_outputs(folder: OutputFolder, sheet: Sheet, students: Sequence[Student],
                  results: Iterable[Result], *, files: Iterable[str] = USUAL,
                  overrides: Mapping[tuple[str, str], Override] | None = None, level: str = "hint",
                  raw: bool = False, templates: Iterable[str] = (), column: str | None = None,
                  visibility: str = "visible") -> OutputSummary:
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

    Raises E0745 for a template before anything is written, E0748 for a file that cannot be written.
    """
    templates, files = list(templates), {*files}
    for path in templates:      # while there is nothing half done
        fill(path, sheet, (), column)
    # Gradescope looks for the results of its one student in one place.
    alone = sum([student.handed_in for student in students]) <= 1
    stems = file_stems([student.id for student in students])
    scores: list[tuple[Student, float | None]] = []
    stats = Stats(sheet)
    review = None
    with ExitStack() as stack:
        writers: list[Gradebook | Review | Junit] = []
        if GRADEBOOK in files:
            writers.append(Gradebook(stack.enter_context(folder.open(GRADEBOOK)), sheet, raw))
        if REVIEW in files:
            review = Review(stack.enter_context(folder.open(REVIEW)), sheet, raw, overrides)
            writers.append(review)
        if JUNIT in files:
            writers.append(Junit(stack.enter_context(folder.open(JUNIT)), sheet))
        for marks in class_marks(sheet, students, results, sheet.late):
            stats.add(marks)
            for writer in writers:
                writer.add(marks)
            if FEEDBACK in files and level != NONE:
                folder.write(f"{FEEDBACK}/{stems[marks.student.id]}.md",
                             page(sheet, marks, level))
            if GRADESCOPE in files and marks.status != MISSING:
                below = "" if alone else f"/{stems[marks.student.id]}"
                folder.write(f"{GRADESCOPE}{below}/results.json",
                             results_json(sheet, marks, level, visibility))
            if templates:
                scores.append((marks.student, None if marks.status == MISSING else marks.score))
        for writer in writers:
            if isinstance(writer, Junit):
                writer.finish()
        if ITEMS in files:
            stats.items.write(stack.enter_context(folder.open(ITEMS)), raw)
        exports = [fill(path, sheet, scores, column) for path in templates]
        for name, filled in zip(_export_names(exports), exports, strict=True):
            folder.write(name, filled.text)
    return OutputSummary(stats, review.count if review else 0, exports)


def _export_names(exports: Iterable[FilledExport]) -> list[str]:
    """Return gradebook-canvas.csv, gradebook-moodle.csv; a second one of a kind gets a number."""
    names: list[str] = []
    for filled in exports:
        name = f"gradebook-{filled.system}"
        number = sum([other.startswith(name) for other in names])
        names.append(f"{name}-{number + 1}.csv" if number else f"{name}.csv")
    return names
