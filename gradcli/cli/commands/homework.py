"""hw run: a whole class; and which other command of hw is which."""

from __future__ import annotations

import gc
import os

from gradcli.cli.commands.homework_output import deliver, exports_of, numbers_of, wished
from gradcli.cli.environment import INTERRUPTED, OK, WRONG, write
from gradcli.cli.options.homework import share
from gradcli.cli.options.table import split
from gradcli.homework.handed_in.opening import mapping, open_submissions
from gradcli.homework.handed_in.roster import open_roster
from gradcli.homework.marking.folder import OutputFolder
from gradcli.homework.reports.notes import NOTES, summary
from gradcli.homework.run import run as run_class
from gradcli.homework.sheets.formats import open_sheet
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.homework.handed_in.records import Submissions
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.run import Ran
    from gradcli.homework.sheets.sheet import Sheet


def run(_: str, values: dict[str, Any], environment: Environment) -> int:
    """Check and grade a class; 1 if an answer is not right."""
    gc.enable()     # a command that may run for hours is not one answer
    sheet = open_sheet(values["sheet"])
    if values["late"] is not None:
        sheet.late = share(values["late"]) or 0.0
    roster = None if values["roster"] is None else open_roster(values["roster"])
    submissions = _submissions(values, sheet, roster, environment)
    out = OutputFolder(values["out"])
    wish = wished(values, sheet)
    bar = _bar(values, environment)
    each = None
    if values["format"] == "ndjson":
        def each(text: str) -> None:
            write(environment.stdout, text)
    try:
        ran = run_class(sheet, submissions, roster, out, wish, bar, each)
    except KeyboardInterrupt:
        environment.tell("gradcli: interrupted; what is checked is kept in"
              f" {visible(out.path)}, run this again to go on\n")
        return INTERRUPTED
    answer = _answer(ran, out, sheet)
    if values["format"] == "github":
        from gradcli.cli.commands.homework_reports import annotate

        annotate(out.path, environment, _folder(values))
    elif values["format"] != "ndjson":
        deliver(answer, values, environment)
    _remarks(ran, out, values, environment)
    return _status(ran, values)


def _submissions(values: dict[str, Any], sheet: Sheet, roster: Roster | None,
                 environment: Environment) -> Submissions:
    path = values["folder"] if values["wide"] is None else values["wide"]
    refuse_inside(values["out"], path)
    return open_submissions(
        path, sheet, roster, wide=values["wide"] is not None,
        student_column=values["student_column"],
        mapping=mapping(values["map"]) if values["map"] else None,
        student_pattern=values["student_pattern"], follow=values["follow"],
        stdin=environment.input() if path == "-" else None)


def _folder(values: dict[str, Any]) -> str:
    """The folder that the paths of the results start from."""
    path = str(values["folder"] if values["wide"] is None else values["wide"])
    return path if os.path.isdir(path) else ""


def refuse_inside(out: str, folder: str) -> None:
    """Raises E0749 where the results would be taken for submissions the next time."""
    from gradcli.base.errors import Diagnostic, GradcliError, Source

    there, here = os.path.realpath(folder), os.path.realpath(out)
    if os.path.isdir(there) and os.path.commonpath([there, here]) == there:
        raise GradcliError(Diagnostic(
            "E0749", f"the results would be among what was handed in, in `{folder}`",
            span=(0, len(out)), source=Source(out, "--out"),
            help="give a folder outside of it: --out"))


def _bar(values: dict[str, Any], environment: Environment) -> Any:
    """Progress, where a person watches and nothing else is written there."""
    if values["quiet"] or not environment.terminal(environment.stderr) or (
            values["format"] == "ndjson" and environment.terminal(environment.stdout)):
        return None
    from gradcli.render.progress import Progress

    progress = Progress(environment.stderr)

    def bar(items: Iterable[Any], total: int) -> Iterable[Any]:
        return progress(items, total)

    return bar


def _answer(ran: Ran, out: OutputFolder, sheet: Sheet) -> dict[str, Any]:
    return {
        "schema": 1, "command": "hw run", **numbers_of(ran.written.stats), "out": out.path,
        "checked": ran.checked, "reused": ran.reused, "seconds": round(ran.seconds, 3),
        "per_second": round(ran.checked / ran.seconds) if ran.checked and ran.seconds else None,
        "notes": dict(ran.notes), "exports": exports_of(ran.written)}


def _remarks(ran: Ran, out: OutputFolder, values: dict[str, Any], environment: Environment
             ) -> None:
    """What was odd, for standard error."""
    lines = []
    if not numbers_of(ran.written.stats)["students"]["handed_in"]:
        lines.append("notes: nobody handed anything in: is this the right folder?")
    if ran.notes:
        lines.append(f"notes: {summary(ran.notes)}; see {out.path}/{NOTES}")
    for student, problem in ran.stale:
        lines.append(f"{student}, problem {problem}: the answer has changed since its override,"
                     " which is not used")
    if not values["quiet"]:
        environment.tell("".join([_line(visible(line), environment) + "\n" for line in lines]))


def _line(text: str, environment: Environment) -> str:
    """A remark, in lines as wide as the terminal if there is one."""
    if not environment.terminal(environment.stderr):
        return text
    from textwrap import fill

    return fill(text, max(20, environment.width(environment.stderr)), subsequent_indent=" " * 7,
                break_long_words=False, break_on_hyphens=False)


def _status(ran: Ran, values: dict[str, Any]) -> int:
    if values["exit_zero"]:
        return OK
    wanted = {name for text in values["fail_on"] for name in split(text)}
    if wanted:
        verdicts = ran.written.stats.numbers()["answers"]["verdicts"]
        return WRONG if any(verdicts.get(name) for name in wanted) else OK
    return OK if ran.written.stats.all_right else WRONG
