"""What a student gets to read: a page in Markdown or HTML, a comment in a grading worksheet, and
all pages in the archive that Moodle takes for feedback files.
"""

from __future__ import annotations

from gradcli.homework.marking.marks import MISSING, RIGHT, WAITING, feedback
from gradcli.homework.sheets.cells import code, number, plain, prose
from gradcli.render.numbers import visible
from gradcli.render.page import BAD, GOOD, Code, Facts, Page, Paragraph, Title, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import ExitStack
    from typing import Any
    from zipfile import ZipFile

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.handed_in.records import Student
    from gradcli.homework.marking.marks import Feedback, Marks
    from gradcli.homework.marking.output_folder import OutputFolder
    from gradcli.homework.marking.results import Result
    from gradcli.homework.reports.typeset import Typesetter
    from gradcli.homework.sheets.sheet import Sheet

FOLDER = "feedback"
MARKDOWN, HTML, MOODLE = KINDS = ("markdown", "html", "moodle")
ARCHIVE = "feedback-moodle.zip"
ABSENT = "Nothing was handed in."
ANSWER, READ_AS = "Your answer", "Read as"
OURS = '<p class="gradcli">'
"""How a comment begins that may be replaced by a newer one."""
NAME = 80       # characters of a name in an archive


def _score(marks: Marks) -> str:
    less = f" ({number(marks.raw)} less {number(marks.late_penalty)} for being late)"
    return f"{number(marks.score)} of {number(marks.maximum)}{less if marks.late_penalty else ''}"


def _waiting(marks: Marks) -> str:
    """Return what is said behind a score that may change yet."""
    return f"; {marks.open}" if marks.open else ""


def _points(problem: Problem, result: Result | None, found: Feedback, unit: str = "") -> str:
    score = number(result.score if result else 0.0)
    until = " until then" if found.waits else ""
    return f"{score} of {number(float(problem.points))}{unit}{until}"


def _items(result: Result | None, found: Feedback) -> Iterator[tuple[str, str]]:
    """Yield what is said of an answer, each with its name; code is `Code`."""
    if result is not None and result.answer.strip():
        yield ANSWER, Code(result.answer.strip())
    if found.read_as:
        yield READ_AS, Code(found.read_as)
    if found.message:
        yield "Hint", _stopped(found.message)
    if found.witness:
        yield "For example", _stopped(found.witness)
    if found.comment:
        yield "Comment", found.comment


def _stopped(text: str) -> str:
    """Return the text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


# --------------------------------------------------------------------------------------------------
# Markdown.

def markdown(sheet: Sheet, marks: Marks, level: str) -> str:
    """Return the page of one student."""
    lines = [f"# {plain(sheet.title or sheet.id)}", "",
             f"Student: {plain(marks.student.name)} ({code(marks.student.id)})", ""]
    if marks.status == MISSING:
        lines += [ABSENT, ""]
    lines.append(f"Score: {_score(marks)}{_waiting(marks)}")
    if marks.status != MISSING:
        for problem, result in zip(sheet.problems, marks.results, strict=True):
            lines += ["", *_section(problem, result, level)]
    return "\n".join(lines) + "\n"


def _section(problem: Problem, result: Result | None, level: str) -> Iterator[str]:
    found = feedback(problem, result, level)
    yield f"## Problem {plain(problem.id)}"
    yield ""
    yield f"{_stopped(found.verdict.capitalize())} {_points(problem, result, found)}."
    items = list(_items(result, found))
    if items:
        yield ""
    for name, text in items:
        shown = code(text) if isinstance(text, Code) else plain(text) if (
            name == "Comment") else prose(text)
        yield f"- {name}{',' if name == 'For example' else ':'} {shown}"


# --------------------------------------------------------------------------------------------------
# HTML.

def page(sheet: Sheet, marks: Marks, level: str, typeset: Typesetter) -> Page:
    """Return the page of one student; the number that matters is on top."""
    return Page(blocks=_blocks(sheet, marks, level, typeset))


def _blocks(sheet: Sheet, marks: Marks, level: str, typeset: Typesetter) -> Iterator[Any]:
    yield Title(sheet.title or sheet.id)
    yield Verdict(f"{_score(marks)} points", "")
    who: list[tuple[str, Any]] = [
        ("Student", (marks.student.name, " (", Code(marks.student.id), ")"))]
    yield Facts([*who, *([("Not final", _stopped(marks.open))] if marks.open else [])])
    if marks.status == MISSING:
        yield Paragraph(ABSENT)
        return
    for problem, kind, result in zip(sheet.problems, marks.kinds, marks.results, strict=True):
        found = feedback(problem, result, level)
        yield Title(f"Problem {problem.id}")
        style = GOOD if kind == RIGHT else "" if kind == WAITING else BAD
        yield Verdict(found.verdict.capitalize(), style, _points(problem, result, found, " points"))
        rows: list[tuple[str, Any]] = [("Question", typeset.question(problem))]
        rows += [(name, Code(text, typeset.answer(problem, text)) if name == READ_AS else text)
                 for name, text in _items(result, found)]
        yield Facts(rows)


def comment(sheet: Sheet, marks: Marks, level: str) -> str:
    """Return the same in HTML of the plainest kind, in one line: for a cell of a worksheet."""
    from gradcli.render.html import inline

    parts = [f"{OURS}{inline([f'Score: {_score(marks)}{_waiting(marks)}'])}</p>"]
    for problem, result in zip(sheet.problems, marks.results, strict=True):
        found = feedback(problem, result, level)
        lines = [inline([f"Problem {problem.id}: {found.verdict},"
                         f" {_points(problem, result, found)}."])]
        lines += [f"{name}: {inline([text])}" for name, text in _items(result, found)]
        parts.append(f"<p>{'<br>'.join(lines)}</p>")
    return "".join(parts)


# --------------------------------------------------------------------------------------------------
# The files.

class Pages:
    """The pages of a class while they are written. unnumbered: students without a number that
    Moodle knows them by.
    """

    __slots__ = ("_archive", "_folder", "_kinds", "_level", "_numbers", "_sheet", "_stems",
                 "_typeset", "unnumbered")

    def __init__(self, folder: OutputFolder, sheet: Sheet, level: str, kinds: Iterable[str],
                 stems: Mapping[str, str], numbers: Mapping[str, str], stack: ExitStack) -> None:
        """Begin. kinds: of KINDS. stems: of files, by student. numbers: of Moodle's participants,
        by student, from a worksheet; without one, those in the names of files count. stack: closes
        the archive.
        """
        self._folder = folder
        self._sheet = sheet
        self._level = level
        self._kinds = {*kinds}
        self._stems = stems
        self._numbers = numbers
        self._archive: ZipFile | None = None
        self._typeset: Typesetter | None = None
        self.unnumbered: list[str] = []
        if self._kinds & {HTML, MOODLE}:
            from gradcli.homework.reports.typeset import Typesetter

            self._typeset = Typesetter()
        if MOODLE in self._kinds:
            from zipfile import ZIP_DEFLATED, ZipFile

            stream: Any = stack.enter_context(folder.open(ARCHIVE))
            self._archive = stack.enter_context(ZipFile(stream.buffer, "w", ZIP_DEFLATED))

    def add(self, marks: Marks) -> None:
        """Write the page of a student."""
        stem = f"{FOLDER}/{self._stems[marks.student.id]}"
        if MARKDOWN in self._kinds:
            self._folder.write(f"{stem}.md", markdown(self._sheet, marks, self._level))
        if self._typeset is None:
            return
        from gradcli.render.html import write

        text = write([page(self._sheet, marks, self._level, self._typeset)])
        if HTML in self._kinds:
            self._folder.write(f"{stem}.html", text)
        if self._archive is not None:
            self._pack(marks, text)

    def _pack(self, marks: Marks, text: str) -> None:
        """Put a page where Moodle looks for it. Students who handed nothing in need no number."""
        number = self._numbers.get(marks.student.id, "") if self._numbers else marks.student.lms
        if number:
            assert self._archive is not None
            from zipfile import ZIP_DEFLATED, ZipInfo

            # The same results are the same bytes.
            entry = ZipInfo(f"{participant(marks.student, number)}/feedback.html")
            entry.compress_type = ZIP_DEFLATED
            self._archive.writestr(entry, text.encode("utf-8", "backslashreplace"))
        elif marks.status != MISSING:
            self.unnumbered.append(marks.student.id)


def participant(student: Student, number: str) -> str:
    """Return the folder of a student in archives of Moodle, `Ann Lee_5500_assignsubmission_file_`.

    Moodle reads the number behind the first `_`; the name is for people.
    """
    name = "".join([c if c.isalnum() or c in " .,'()-" else "-" for c in visible(student.name)])
    return f"{name.strip(' .')[:NAME] or 'student'}_{number}_assignsubmission_file_"
