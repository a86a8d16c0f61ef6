"""hw: a whole class is checked and graded, and what a sheet, or the results of a run, say."""

from __future__ import annotations

import gc
import os

from gradcli.base.errors import GradcliError, listed
from gradcli.cli.commands.check import seed_of
from gradcli.cli.commands.output import TERMINAL_DIGITS, Destination
from gradcli.cli.environment import INTERRUPTED, OK, WRONG, write
from gradcli.cli.options.homework import share
from gradcli.homework.handed_in.class_tables import mapping, open_submissions
from gradcli.homework.handed_in.roster import open_roster
from gradcli.homework.marking.earlier import RESULTS, SavedRun
from gradcli.homework.marking.marks import class_marks
from gradcli.homework.marking.output_folder import OutputFolder
from gradcli.homework.marking.results import read_results
from gradcli.homework.reports.items import Stats
from gradcli.homework.reports.outputs import NOTES, summary
from gradcli.homework.run import RunOptions
from gradcli.homework.run import run as run_class
from gradcli.homework.sheets.formats import open_sheet
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeVar

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.homework import ClassOptions, ReportOptions
    from gradcli.homework.handed_in.records import Submissions
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.reports.outputs import OutputSummary
    from gradcli.homework.reports.whole_class import ClassReport
    from gradcli.homework.run import RunSummary
    from gradcli.homework.sheets.sheet import Sheet

    Counts = TypeVar("Counts", Stats, ClassReport)

# Processes, unless --jobs says how many; two at least, for one that dies is replaced only then.
FEWEST, MOST = 2, 8
REPORT = "report.html"


def run(options: ClassOptions, environment: Environment) -> int:
    """Check and grade a class; 1 if an answer is not right."""
    gc.enable()     # a command that may run for hours is not one answer
    sheet = open_sheet(options.sheet)
    if options.late is not None:
        sheet.late = share(options.late) or 0.0
    roster = None if options.roster is None else open_roster(options.roster)
    submissions = _submissions(options, sheet, roster, environment)
    out = OutputFolder(options.out)
    run_options = _run_options(options, sheet)
    if submissions.choices:
        from gradcli.homework.marking.best import take_best

        take_best(sheet, submissions, run_options.seed, run_options.jobs, run_options.scheduler)
    bar = environment.progress(options.quiet, options.format == "ndjson")
    each = None
    if options.format == "ndjson":
        def each(text: str) -> None:
            write(environment.stdout, text)
    try:
        outcome = run_class(sheet, submissions, roster, out, run_options, bar, each)
    except KeyboardInterrupt:
        environment.tell("gradcli: interrupted; what is checked is kept in"
              f" {visible(out.path)}, run this again to go on\n")
        return INTERRUPTED
    answer = _answer(outcome, out, sheet)
    if options.format == "github":
        path = _handed_in(options)
        _annotate(out.path, environment, path if os.path.isdir(path) else "")
    elif options.format != "ndjson":
        _show(answer, options, environment)
    _remarks(outcome, out, options, environment)
    return _status(outcome, options)


def _submissions(options: ClassOptions, sheet: Sheet, roster: Roster | None,
                 environment: Environment) -> Submissions:
    path = _handed_in(options)
    refuse_inside(options.out, path)
    return open_submissions(
        path, sheet, roster, wide=options.wide is not None,
        student_column=options.student_column,
        mapping=mapping(options.map) if options.map else None,
        student_pattern=options.student_pattern, follow=options.follow,
        stdin=environment.input() if path == "-" else None)


def _handed_in(options: ClassOptions) -> str:
    return (options.folder if options.wide is None else options.wide) or ""


def refuse_inside(out: str, folder: str) -> None:
    """Raise E0749 where the results would be taken for submissions the next time."""
    from gradcli.base.errors import Diagnostic, GradcliError, Source

    there, here = os.path.realpath(folder), os.path.realpath(out)
    if os.path.isdir(there) and os.path.commonpath([there, here]) == there:
        raise GradcliError(Diagnostic(
            "E0749", f"the results would be among what was handed in, in `{folder}`",
            span=(0, len(out)), source=Source(out, "--out"),
            help="give a folder outside of it: --out"))


def _answer(outcome: RunSummary, out: OutputFolder, sheet: Sheet) -> dict[str, Any]:
    return {
        "schema": 1, "command": "hw run", **_numbers(outcome.written.stats), "out": out.path,
        "checked": outcome.checked, "reused": outcome.reused, "seconds": round(outcome.seconds, 3),
        "per_second": round(outcome.checked / outcome.seconds) if (
            outcome.checked and outcome.seconds) else None,
        "notes": dict(outcome.notes), "exports": _exports(outcome.written),
        "review_rows": outcome.written.rows}


def _remarks(outcome: RunSummary, out: OutputFolder, options: ClassOptions, environment: Environment
             ) -> None:
    """Tell what was odd on standard error."""
    lines = []
    if not _numbers(outcome.written.stats)["students"]["handed_in"]:
        lines.append("notes: nobody handed anything in: is this the right folder?")
    if outcome.notes:
        lines.append(f"notes: {summary(outcome.notes)}; see {out.path}/{NOTES}")
    for student, problem in outcome.stale:
        lines.append(f"{student}, problem {problem}: the answer has changed since its override,"
                     " which is not used and stays in review.csv")
    lines += _unnumbered(outcome.written)
    if not options.quiet:
        environment.tell("".join([_line(visible(line), environment) + "\n" for line in lines]))


def _unnumbered(written: OutputSummary) -> list[str]:
    """Tell who is not in the archive for Moodle."""
    found = written.unnumbered
    return [f"feedback-moodle.zip: {len(found):,} student{'s' * (len(found) > 1)} without a number"
            f" of Moodle: {', '.join(found[:5])}{', ...' * (len(found) > 5)}; give the grading"
            " worksheet with --template"] if found else []


def _line(text: str, environment: Environment) -> str:
    """Break a remark into lines as wide as the terminal if there is one."""
    if not environment.terminal(environment.stderr):
        return text
    from textwrap import fill

    return fill(text, max(20, environment.width(environment.stderr)), subsequent_indent=" " * 7,
                break_long_words=False, break_on_hyphens=False)


def _status(outcome: RunSummary, options: ClassOptions) -> int:
    if options.exit_zero:
        return OK
    wanted = set(listed(options.fail_on))
    if wanted:
        verdicts = outcome.written.stats.numbers()["answers"]["verdicts"]
        return WRONG if any(verdicts.get(name) for name in wanted) else OK
    return OK if outcome.written.stats.all_right else WRONG


# ---- what a sheet, or the results of a run, say ------------------------------------------------


def lint(options: ClassOptions, environment: Environment) -> int:
    """Check a sheet. Raises all that is wrong with problems, when the others are told."""
    from gradcli.homework.lint import lint as linted

    gc.enable()
    stdin = environment.input() if options.sheet == "-" else None
    answer, wrong = linted(open_sheet(options.sheet, stdin),
                           None if options.seed is None else seed_of(options))
    if answer["problems"]:
        _show(answer, options, environment)
    if wrong:
        raise GradcliError(*wrong)
    return OK


def diff(options: ClassOptions, environment: Environment) -> int:
    """Compare the marks of two runs; 1 if one changed."""
    from gradcli.homework.marking.difference import difference

    gc.enable()
    changes = difference(options.old, options.new)
    _show({"schema": 1, "command": "hw diff", "old": options.old, "new": options.new,
           "changes": [one.fields() for one in changes]}, options, environment)
    return WRONG if changes else OK


def explain(options: ClassOptions, environment: Environment) -> int:
    """Show one answer in full."""
    from gradcli.homework.lint import READINGS
    from gradcli.homework.lint import explain as explained

    _show(explained(SavedRun(options.results), options.student, options.problem,
                    None if options.verbose else READINGS), options, environment)
    return OK


def stats(options: ClassOptions, environment: Environment) -> int:
    """Count what is right and wrong, by problem."""
    gc.enable()
    saved = SavedRun(options.results)
    found = _with_everybody(Stats(saved.sheet), saved)
    _show({"schema": 1, "command": "hw stats", **_numbers(found), "out": saved.folder}, options,
          environment)
    return OK


def report(options: ReportOptions, environment: Environment) -> int:
    """Write the class as one page."""
    from gradcli.homework.reports.whole_class import ClassReport
    from gradcli.render.layouts.whole_class import page

    gc.enable()
    saved = SavedRun(options.results)
    found = _with_everybody(ClassReport(saved.sheet), saved)
    told = options.output is None and options.chosen() == "html"
    if told:
        options.output = os.path.join(saved.folder, REPORT)
    destination = Destination(options, environment)
    answer = {"schema": 1, "command": "hw report", **found.numbers(options.anonymous),
              "out": saved.folder}
    destination.write(answer, [page(destination.rounded(answer))],
                      whole=not destination.to_terminal)
    if told and not options.quiet:
        write(environment.stdout, f"{visible(options.output or '')}\n")
    return OK


def export(options: ClassOptions, environment: Environment) -> int:
    """Write the files again that a run writes, from its results."""
    from gradcli.homework.run import export as exported

    gc.enable()
    saved = SavedRun(options.results)
    out = OutputFolder(saved.folder)
    written = exported(saved, out, _run_options(options, saved.sheet))
    if not options.quiet:
        environment.tell("".join([_line(visible(line), environment) + "\n"
                                  for line in _unnumbered(written)]))
    _show({"schema": 1, "command": "hw export", "out": saved.folder,
           "files": _counted(out.written), "exports": _exports(written)}, options, environment)
    return OK


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Count files by name, those of a folder together."""
    found: dict[str, int] = {}
    for name in sorted(names):
        top = name.partition("/")[0]
        found[top] = found.get(top, 0) + 1
    return found


def _annotate(folder: str, environment: Environment, handed_in: str) -> None:
    """Print the results for a GitHub workflow. handed_in: the folder of the files."""
    from gradcli.homework.reports.outputs import messages

    saved = SavedRun(folder)
    for text in messages(saved.sheet, _everybody(saved), handed_in):
        write(environment.stdout, text)


def _everybody(saved: SavedRun) -> Iterator[Marks]:
    results = read_results(os.path.join(saved.folder, RESULTS))
    return class_marks(saved.sheet, saved.students, results, saved.sheet.late)


def _with_everybody(found: Counts, saved: SavedRun) -> Counts:
    for marks in _everybody(saved):
        found.add(marks)
    return found


# ---- where answers go --------------------------------------------------------------------------


def _show(answer: dict[str, Any], options: ClassOptions, environment: Environment) -> None:
    """Print an answer, or write it to the file of -o; with -q nothing."""
    destination = Destination(options, environment)
    if options.quiet and destination.path is None and options.format is None:
        return
    from gradcli.render import EXACT
    from gradcli.render.layouts.homework import page
    from gradcli.render.numbers import rounded

    # What lint shows is for people, wherever it goes; tables of numbers are for programs.
    lint = answer["command"] == "hw lint"
    exact = destination.format in (("csv", "tsv") if lint else EXACT)
    digits = options.digits or (TERMINAL_DIGITS if lint else None)
    destination.write(answer, [page(answer if exact else rounded(answer, digits))],
                      whole=not destination.to_terminal or options.verbose > 0,
                      **({"digits": digits} if lint else {}))


def _numbers(stats: Stats) -> dict[str, Any]:
    """Return the class as a whole, without how long it took."""
    found = stats.numbers()
    del found["ms"]
    return found


def _run_options(options: ClassOptions, sheet: Sheet) -> RunOptions:
    """Return the options as the run takes them."""
    jobs = options.jobs or max(FEWEST, min(MOST, os.cpu_count() or 1))
    return RunOptions(
        seed=sheet.seed if options.seed is None else seed_of(options), jobs=jobs,
        scheduler=options.scheduler, fresh=options.fresh,
        overrides=options.overrides, level=options.feedback, raw=options.raw_csv,
        templates=options.template, column=options.column,
        gradescope=options.gradescope, visibility=options.visibility,
        pages=listed(options.pages) or ("markdown",), comments=options.comments,
        roster_path=options.roster, wait=options.wait)


def _exports(written: Any) -> list[dict[str, Any]]:
    """Return the gradebooks that were filled in, as plain data."""
    return [{
        "system": one.system, "column": one.column, "count": one.count,
        "unmatched": [student.id for student in one.unmatched],
        "doubtful": [student.id for student in one.doubtful], "left": one.left,
        "notes": one.notes} for one in written.exports]
