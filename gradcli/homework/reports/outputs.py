"""All files of a run, written side by side, student by student.

One student's results are in memory at a time. Each file gets its name when all are written.
"""

from __future__ import annotations

from contextlib import ExitStack

from gradcli.homework.marking.marks import MISSING, NONE, Review, class_marks
from gradcli.homework.reports.gradebook import Gradebook, page, results_json
from gradcli.homework.reports.items import Stats
from gradcli.homework.reports.junit import Junit
from gradcli.homework.reports.lms import fill
from gradcli.homework.sheets.cells import file_stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.records import Student
    from gradcli.homework.marking.folder import OutputFolder
    from gradcli.homework.marking.overrides import Override
    from gradcli.homework.marking.results import Result
    from gradcli.homework.reports.lms import FilledExport
    from gradcli.homework.sheets.sheet import Sheet

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
