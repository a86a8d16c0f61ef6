"""gradebook.csv: a row for each student, a column for each problem.

The first columns follow nbgrader's export in name and meaning. Text that a spreadsheet would run
as a formula gets an apostrophe; numbers stay numbers.
"""

from __future__ import annotations

import csv
import os

from gradcli.homework.marking.marks import BLANK, HINT, MISSING, RIGHT, WAITING, WRONG, feedback
from gradcli.homework.sheets.cells import cell, code, number, plain, prose
from gradcli.render.machine import dump
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TextIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.sheet import Sheet

COLUMNS = ("student_id", "last_name", "first_name", "email", "raw_score", "late_penalty", "score",
           "max_score", "percent", "n_correct", "n_wrong", "n_review", "n_blank", "status")


class Gradebook:
    """The file gradebook.csv while it is written. raw: without apostrophes (`harmless.cell`)."""

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
# feedback/<student>.md: what a student gets to read, in Markdown.

def page(sheet: Sheet, marks: Marks, level: str) -> str:
    """Return the text for one student."""
    lines = [f"# {plain(sheet.title or sheet.id)}", "",
             f"Student: {plain(marks.student.name)} ({code(marks.student.id)})", ""]
    if marks.status == MISSING:
        lines += ["Nothing was handed in.", ""]
    lines.append(f"Score: {number(marks.score)} of {number(marks.maximum)}")
    if marks.late_penalty:
        lines[-1] += f" ({number(marks.raw)} less {number(marks.late_penalty)} for being late)"
    if marks.status != MISSING:
        for problem, result in zip(sheet.problems, marks.results, strict=True):
            lines += ["", *_problem(problem, result, level)]
    return "\n".join(lines) + "\n"


def _problem(problem: Problem, result: Result | None, level: str) -> Iterator[str]:
    found = feedback(problem, result, level)
    score = number(result.score if result else 0.0)
    yield f"## Problem {plain(problem.id)}"
    yield ""
    yield f"{_stopped(found.verdict.capitalize())} {score} of {number(float(problem.points))}."
    items = []
    if result is not None and result.answer.strip():
        items.append(f"Your answer: {code(result.answer.strip())}")
    if found.read_as:
        items.append(f"Read as: {code(found.read_as)}")
    if found.message:
        items.append(_stopped(f"Hint: {prose(found.message)}"))
    if found.witness:
        items.append(_stopped(f"For example, {prose(found.witness)}"))
    if found.comment:
        items.append(f"Comment: {plain(found.comment)}")
    if items:
        yield ""
        yield from [f"- {item}" for item in items]


def _stopped(text: str) -> str:
    """Return the text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


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
