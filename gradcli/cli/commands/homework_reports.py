"""hw lint, diff, explain, stats and export: what a sheet, or the results of a run, say."""

from __future__ import annotations

import gc
import os

from gradcli.base.errors import GradcliError
from gradcli.cli.commands.homework_output import deliver, exports_of, numbers_of, wished
from gradcli.cli.commands.problem import seed_of
from gradcli.cli.environment import OK, WRONG, write
from gradcli.homework.marking.earlier import RESULTS, Saved
from gradcli.homework.marking.marks import class_marks
from gradcli.homework.marking.results import read_results
from gradcli.homework.reports.items import Stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.results import Result


def run(command: str, values: dict[str, Any], environment: Environment) -> int:
    """One of the commands."""
    gc.enable()     # a command that may run for hours is not one answer
    return COMMANDS[command](values, environment)


def _lint(values: dict[str, Any], environment: Environment) -> int:
    """Raises all that is wrong with problems, when the others are told."""
    from gradcli.homework.lint import lint
    from gradcli.homework.sheets.formats import open_sheet

    stdin = environment.input() if values["sheet"] == "-" else None
    answer, wrong = lint(open_sheet(values["sheet"], stdin),
                         None if values["seed"] is None else seed_of(values))
    if answer["problems"]:
        deliver(answer, values, environment)
    if wrong:
        raise GradcliError(*wrong)
    return OK


def _diff(values: dict[str, Any], environment: Environment) -> int:
    """1 if a mark changed."""
    from gradcli.homework.marking.difference import difference

    changes = difference(values["old"], values["new"])
    deliver({"schema": 1, "command": "hw diff", "old": values["old"], "new": values["new"],
             "changes": [one.fields() for one in changes]}, values, environment)
    return WRONG if changes else OK


def _explain(values: dict[str, Any], environment: Environment) -> int:
    from gradcli.homework.lint import explain

    deliver(explain(Saved(values["results"]), values["student"], values["problem"]), values,
            environment)
    return OK


def _stats(values: dict[str, Any], environment: Environment) -> int:
    saved = Saved(values["results"])
    stats = Stats(saved.sheet)
    for marks in _everybody(saved):
        stats.add(marks)
    deliver({"schema": 1, "command": "hw stats", **numbers_of(stats), "out": saved.folder},
            values, environment)
    return OK


def _export(values: dict[str, Any], environment: Environment) -> int:
    """Write the files again that a run writes, from its results."""
    from gradcli.homework.marking.folder import OutputFolder
    from gradcli.homework.run import export

    saved = Saved(values["results"])
    out = OutputFolder(saved.folder)
    written = export(saved, out, wished(values, saved.sheet))
    deliver({"schema": 1, "command": "hw export", "out": saved.folder,
             "files": _counted(out.written), "exports": exports_of(written)}, values, environment)
    return OK


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Files by name, those of a folder together: how many there are."""
    found: dict[str, int] = {}
    for name in sorted(names):
        top = name.partition("/")[0]
        found[top] = found.get(top, 0) + 1
    return found


def annotate(folder: str, environment: Environment, handed_in: str) -> None:
    """The results for a GitHub workflow, on standard output. handed_in: the folder of the files."""
    from gradcli.homework.reports.gradebook import messages

    saved = Saved(folder)
    for text in messages(saved.sheet, _everybody(saved), handed_in):
        write(environment.stdout, text)


def _everybody(saved: Saved) -> Iterator[Marks]:
    return class_marks(saved.sheet, saved.students, _results(saved), saved.sheet.late)


def _results(saved: Saved) -> Iterator[Result]:
    return read_results(os.path.join(saved.folder, RESULTS))


COMMANDS = {"hw lint": _lint, "hw diff": _diff, "hw explain": _explain, "hw stats": _stats,
            "hw export": _export}
