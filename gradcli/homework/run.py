"""A whole run: the submissions of a class, checked, marked and written.

Each result is written to a journal at once (`gradcli.homework.marking.earlier`), so a run that is
interrupted, or killed, is continued by the next one. When all is checked the marks are added up and
written, one student's at a time: however large the class, only the offsets of results are in
memory.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from heapq import merge
from time import perf_counter

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.workers.pools import pool
from gradcli.homework.checking.outcome import unchecked
from gradcli.homework.handed_in.records import InputNote
from gradcli.homework.marking import executors
from gradcli.homework.marking.earlier import (
    MANIFEST,
    RESULTS,
    EarlierResults,
    Journal,
    file_hash,
    load_valid,
    manifest,
    read_manifest,
    renamed,
    save,
    text_hash,
)
from gradcli.homework.marking.marks import automatic, changed, counted, overridden, result
from gradcli.homework.marking.override_rows import add_from_results, joined_overrides
from gradcli.homework.marking.overrides import GONE
from gradcli.homework.marking.results import blank, in_order, line, read_results
from gradcli.homework.reports.lms import fill
from gradcli.homework.reports.outputs import (
    DECISIONS,
    GRADESCOPE,
    NOTES,
    REVIEW,
    USUAL,
    Notes,
    write_outputs,
)
from gradcli.homework.sheets.cells import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TextIO

    from gradcli.homework.handed_in.records import Answer, Student, Submission, Submissions
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.marking.earlier import SavedRun
    from gradcli.homework.marking.output_folder import OutputFolder
    from gradcli.homework.marking.overrides import Override, Overrides
    from gradcli.homework.marking.results import Result
    from gradcli.homework.reports.outputs import OutputSummary
    from gradcli.homework.sheets.sheet import Sheet


class RunOptions:
    """The options of a run.

    jobs, scheduler: the executor.
    fresh: whether to check all answers, not only new ones.
    wait: whether to wait for another run in the folder.
    overrides: a file that goes before the review.csv in the folder.
    level: of feedback.
    templates, column, gradescope, visibility, raw, pages, comments: see `write_outputs`.
    roster_path: for the manifest.
    """

    __slots__ = ("column", "comments", "fresh", "gradescope", "jobs", "level", "overrides", "pages",
                 "raw", "roster_path", "scheduler", "seed", "templates", "visibility", "wait")

    def __init__(self, *, seed: int | str = 0, jobs: int = 1, scheduler: str | None = None,
                 fresh: bool = False, overrides: str | None = None, level: str = "hint",
                 raw: bool = False, templates: Sequence[str] = (), column: str | None = None,
                 gradescope: bool = False, visibility: str = "visible",
                 roster_path: str | None = None, wait: bool = False,
                 pages: Sequence[str] = ("markdown",), comments: bool = False) -> None:
        self.seed = seed
        self.jobs = jobs
        self.scheduler = scheduler
        self.fresh = fresh
        self.overrides = overrides
        self.level = level
        self.raw = raw
        self.templates = templates
        self.column = column
        self.gradescope = gradescope
        self.visibility = visibility
        self.roster_path = roster_path
        self.wait = wait
        self.pages = pages
        self.comments = comments


class RunSummary:
    """The summary of a run.

    checked, reused: numbers of answers.
    stale: overrides of answers that have changed since.
    notes: the number of each kind.
    written: the files.
    """

    __slots__ = ("checked", "notes", "reused", "seconds", "stale", "written")

    def __init__(self) -> None:
        self.checked = self.reused = 0
        self.seconds = 0.0
        self.stale: list[tuple[str, str]] = []
        self.notes: Counter[str]
        self.written: OutputSummary


def run(sheet: Sheet, submissions: Submissions, roster: Roster | None, out: OutputFolder,
        options: RunOptions, progress: Callable[[Iterable[Any], int], Iterable[Any]] | None = None,
        each: Callable[[str], Any] | None = None) -> RunSummary:
    """Check what changed, mark all, write all files, and return the summary.

    progress: wraps an iterator, with its length. each: called with the line of each result.

    Raises E0701 to E0705 for problems, with their locations in the sheet, E0738 for workers, E0740
    to E0745 for overrides and templates, E0748 and E0749 for the folder. On KeyboardInterrupt what
    is checked is kept, and the exception goes on.
    """
    executors.prepared(sheet, options.seed)
    refuse_other_sheet(out.path, sheet)
    for template in options.templates:     # while nothing has been done
        fill(template, sheet, (), options.column)
    ran = RunSummary()
    with out.alone(options.wait), ExitStack() as stack:
        everybody = students(submissions, roster)
        overrides, read = read_decisions(options, out, sheet, everybody)
        new = manifest(
            sheet, seed=options.seed,
            overrides=text_hash(" ".join(read.values())) if read else None,
            roster=None if options.roster_path is None else file_hash(options.roster_path))
        journal = stack.enter_context(Journal(out.path, new, options.fresh))
        earlier = stack.enter_context(
            EarlierResults(new) if options.fresh else load_valid(out.path, new))
        with out.together(MANIFEST):
            with out.open(NOTES) as stream:
                notes = Notes(stream, options.raw)
                notes.add(submissions.notes)
                there = submissions if progress is None else progress(submissions,
                                                                      len(submissions))
                found = RunResults(sheet, options.seed, journal, earlier)
                started = perf_counter()
                found.check(_handed_in(there, notes, new.files, sheet), options)
                ran.seconds = perf_counter() - started
                with out.open(RESULTS) as lines:
                    marked = _marked(found.results(everybody, overrides), overrides, lines, ran,
                                     notes, each)
                    ran.written = _outputs(out, sheet, everybody, marked, overrides, options)
            ran.checked, ran.reused, ran.notes = found.checked, found.reused, notes.counts
            save(out, sheet, everybody)
            out.write(MANIFEST, new.text())
            refuse_changed(read, out)
        journal.finish()
    return ran


def _outputs(out: OutputFolder, sheet: Sheet, students: Sequence[Student],
             results: Iterable[Result], overrides: Overrides,
             options: RunOptions) -> OutputSummary:
    return write_outputs(
        out, sheet, students, results, overrides=overrides,
        files=(*USUAL, GRADESCOPE) if options.gradescope else USUAL, level=options.level,
        raw=options.raw, templates=options.templates, column=options.column,
        visibility=options.visibility, pages=options.pages, comments=options.comments)


def _handed_in(submissions: Iterable[Submission], notes: Notes, digests: dict[str, str],
               sheet: Sheet) -> Iterator[Answer]:
    """Yield the answers, one by one, with those that they follow from, and collect the notes and
    digests.
    """
    for submission in submissions:
        notes.add(submission.notes)
        digests[submission.student.id] = submission.digest
        given = {answer.problem: answer.answer for answer in submission.answers}
        for answer in submission.answers:
            answer.basis = given.get(sheet[answer.problem].follows, "")
            yield answer


class RunResults:
    """The results of a run: new ones, those still valid, and blank ones.

    Only their offsets are kept in memory.
    """

    __slots__ = ("_earlier", "_journal", "_known", "_seed", "_sheet", "checked", "reused")

    def __init__(self, sheet: Sheet, seed: int | str, journal: Journal,
                 earlier: EarlierResults) -> None:
        self._sheet = sheet
        self._seed = seed
        self._journal = journal
        self._earlier = earlier
        # Answers that need not be checked, by student and problem.
        self._known: dict[tuple[str, str], Answer] = {}
        self.checked = self.reused = 0

    def check(self, answers: Iterable[Answer], options: RunOptions) -> None:
        """Check the answers that have no valid result."""
        with pool(options.jobs, options.scheduler, guarded=True) as (executor, workers):
            executors.check_answers(
                self._sheet, self._new(answers), self._note, executor=executor, workers=workers,
                seed=self._seed)

    def _new(self, answers: Iterable[Answer]) -> Iterator[Answer]:
        """Yield the answers that must be checked."""
        for answer in answers:
            if answer.fault is not None or not answer.answer.strip():
                self._known[answer.student, answer.problem] = answer
            elif not answer.basis and self._old(answer) is not None:
                self._known[answer.student, answer.problem] = answer
                self.reused += 1
            else:
                yield answer

    def _old(self, answer: Answer) -> Result | None:
        place = answer.student, answer.problem, answer.answer, answer.file, answer.line
        found = self._journal.find(*place) or self._earlier.find(*place)
        if found is not None:
            counted(self._sheet[answer.problem], found)
            found.doubt, found.beside = answer.doubt, answer.beside
        return found

    def _note(self, outcomes: list[tuple[Answer, dict[str, Any]]]) -> None:
        for answer, outcome in outcomes:
            one = result(self._sheet, self._sheet[answer.problem], answer.student, answer.answer,
                         outcome, self._seed, answer.file, answer.line, answer.doubt,
                         answer.beside)
            self._journal.append(answer.student, answer.problem, line(one))
        self._journal.flush()
        self.checked += len(outcomes)

    def results(self, students: Iterable[Student],
                overrides: Overrides
                ) -> Iterator[tuple[Result, str | None]]:
        """Yield all results in order, with the line of the file where there is one.

        Students who handed nothing in have only results that a person gave a score or a comment.
        """
        told = overrides.told()
        for student in sorted(students, key=lambda student: student.id):
            for problem in self._sheet.problems:
                if not student.handed_in:
                    if (student.id, problem.id) in told:
                        yield blank(self._sheet, problem, student.id, self._seed), None
                    continue
                answer = self._known.get((student.id, problem.id))
                if answer is None:
                    yield self._journal.read(student.id, problem.id)
                elif answer.fault is not None:
                    yield result(
                        self._sheet, problem, student.id, answer.answer,
                        unchecked("unreadable", answer.fault), self._seed, answer.file,
                        answer.line, answer.doubt, answer.beside), None
                elif answer.answer.strip():
                    old = self._old(answer)
                    assert old is not None
                    yield old, None
                else:
                    yield blank(self._sheet, problem, student.id, self._seed), None


def _marked(found: Iterable[tuple[Result, str | None]],
            overrides: Overrides, stream: TextIO, ran: RunSummary,
            notes: Notes, each: Callable[[str], Any] | None) -> Iterator[Result]:
    """Yield the results with their overrides, each written to the stream first.

    found: results, with the line of the file where there is one.
    ran, notes: receive stale overrides, and remarks on them.
    each: called with each line.
    """
    notes.add(overrides.remarks)
    for said in overrides.gone:
        notes.add([InputNote("override", f"problem {said.problem}: {GONE}: {_given(said)} counts"
                             " nothing; see review.csv", student=said.student)])
    for said in overrides.restored:
        notes.add([InputNote("kept", f"problem {said.problem}: {_given(said)} is in review.csv"
                             " again, from which its row was taken: empty its cells to take it"
                             " back", student=said.student)])
    some = bool(overrides or overrides.several or overrides.before)
    for one, text in found:
        if some:
            if decide(one, overrides):
                ran.stale.append((one.student, one.problem))
            notes.add(_remarks(one, overrides))
        if text is None or one.override is not None:
            text = line(one)
        stream.write(text)
        if each is not None:
            each(text)
        yield one


def _remarks(result: Result, overrides: Overrides) -> Iterator[InputNote]:
    """Yield notes on what a person said that does not count, or not as it was meant."""
    for said in overrides.earlier(result):
        yield _unused(result, said, "the answer has changed since a person gave")
    for said in overrides.outweighed(result):
        yield _unused(result, said, "another file's decision counts, not")
    for said in overrides.of_other_points(result):
        yield _unused(result, said, f"of {number(said.most)} points, not of the"
                      f" {number(result.max)} that it gives now, a person gave", "points")


def decide(result: Result, overrides: Overrides) -> bool:
    """Give a result what a person said of it; return whether that was said of another answer."""
    override = overrides.of(result)
    if override is not None:
        overridden(result, override)
    earlier = overrides.earlier(result)
    scores = [said.score for said in earlier if said.score is not None]
    if scores and (override is None or override.score is None):
        changed(result, min(scores))
    return bool(earlier) and override is None


def _unused(result: Result, said: Override, why: str, about: str = "override") -> InputNote:
    return InputNote(about, f"problem {result.problem}: {why} {_given(said)}; see review.csv",
                     result.file, result.line, result.student)


def _given(said: Override) -> str:
    given = [f"a score of {number(said.score)}"] if said.score is not None else []
    given += [f"the comment `{said.comment}`"] if said.comment else []
    return " and ".join(given)


def students(submissions: Submissions, roster: Roster | None) -> list[Student]:
    """Return everybody: who handed something in, and the others of the roster."""
    there = {student.id for student in submissions.students}
    return [*submissions.students, *[
        student for student in (roster.students if roster is not None else ())
        if student.id not in there]]


def refuse_other_sheet(folder: str, sheet: Sheet) -> None:
    """Raise E0749 where the results of another sheet would be written over."""
    try:
        before = read_manifest(os.path.join(folder, MANIFEST))
    except GradcliError:
        return
    if before.sheet != sheet.id:
        raise GradcliError(Diagnostic(
            "E0749", f"`{folder}` holds the results of the sheet `{before.sheet}`, not of"
            f" `{sheet.id}`", span=(0, len(folder)), source=Source(folder, "--out"),
            help="give each sheet a folder of its own: --out"))


def override_files(given: str | None, folder: str) -> list[str]:
    """Return the file that was given, and the review.csv of an earlier run, if it is there.

    The overrides in the latter must not be lost.
    """
    review = os.path.join(folder, REVIEW)
    if not os.path.isfile(review):
        return [given] if given else []
    if given and not (os.path.exists(given) and os.path.samefile(given, review)):
        return [given, review]
    return [review]


def read_decisions(options: RunOptions, out: OutputFolder, sheet: Sheet,
                   students: Iterable[Student]
                   ) -> tuple[Overrides, dict[str, str]]:
    """Return the overrides of the files that have some, and a hash of each file.

    Rows that somebody took out of review.csv since the last run count all the same.
    """
    read = {path: file_hash(path) for path in override_files(options.overrides, out.path)}
    last = os.path.join(out.path, DECISIONS)
    now = renamed(out.path, sheet)
    found = joined_overrides(read, sheet, [student.id for student in students], now,
                             last if os.path.isfile(last) else None)
    add_from_results(found, os.path.join(out.path, RESULTS), now)
    return found, read


def refuse_changed(read: Mapping[str, str], out: OutputFolder) -> None:
    """Raise E0751 where a file with overrides is another one than was read: what somebody wrote
    meanwhile would be written over.
    """
    for path in {**read, os.path.join(out.path, REVIEW): ""}:
        if read.get(path) != (file_hash(path) if os.path.isfile(path) else None):
            raise GradcliError(Diagnostic(
                "E0751", f"`{path}` was changed while this ran, and is not written over",
                span=(0, len(path)), source=Source(path, "--out"),
                help="run this again; what is checked is kept"))


# --------------------------------------------------------------------------------------------------
# The files of a run, written again from its results: other templates, levels, overrides.

def export(saved: SavedRun, out: OutputFolder, options: RunOptions) -> OutputSummary:
    """Write the outputs of an earlier run again, with newer overrides; nothing is checked.

    Raises as `run` does. Returns what `write_outputs` returns.
    """
    with out.alone(options.wait):
        overrides, read = read_decisions(options, out, saved.sheet, saved.students)
        decided = read or os.path.isfile(os.path.join(out.path, DECISIONS))
        with out.together(MANIFEST):
            with out.open(RESULTS) as stream:
                written = _outputs(out, saved.sheet, saved.students,
                                   _results(saved, overrides if decided else None, stream),
                                   overrides, options)
            refuse_changed(read, out)
    return written


def _results(saved: SavedRun, overrides: Overrides | None,
             stream: TextIO) -> Iterator[Result]:
    for one in _checked(saved, overrides):
        if overrides is not None:
            automatic(one)
            decide(one, overrides)
        stream.write(line(one))
        yield one


def _checked(saved: SavedRun, overrides: Overrides | None
             ) -> Iterator[Result]:
    """Yield the results, and blank ones of students who handed nothing in but have an override."""
    there = read_results(os.path.join(saved.folder, RESULTS))
    if overrides is None:
        yield from there
        return
    absent = {student.id for student in saved.students if not student.handed_in}
    given = in_order(saved.sheet, [
        blank(saved.sheet, saved.sheet[problem], student, saved.manifest.seed)
        for student, problem in overrides.told()
        if student in absent and problem in saved.sheet.ids])
    yield from merge((one for one in there if one.student not in absent), given,
                     key=lambda one: one.student)
