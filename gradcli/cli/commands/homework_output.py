"""Where the answers of hw go and in which format."""

from __future__ import annotations

import os

from gradcli.cli.commands.output import TERMINAL_DIGITS, Output
from gradcli.cli.commands.problem import seed_of
from gradcli.homework.run import Wish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.homework.reports.items import Stats
    from gradcli.homework.sheets.sheet import Sheet

# Processes, unless --jobs says how many; two at least, for one that dies is replaced only then.
FEWEST, MOST = 2, 8


def deliver(answer: dict[str, Any], values: dict[str, Any], environment: Environment) -> None:
    """Print an answer, or write it to the file of -o; with -q nothing."""
    output = Output(values, environment)
    if values["quiet"] and output.path is None and values["format"] is None:
        return
    if output.format == "table":
        from gradcli.render.layouts import homework_table

        view = output.view()
        if answer["command"] == "hw lint":  # what it shows is for people, wherever it goes
            view["digits"] = values["digits"] or TERMINAL_DIGITS
        output.put(homework_table.render(answer, whole=not output.to_terminal, **view))
    else:
        from gradcli.render.layouts import homework

        output.put(homework.render(output.rounded(answer), output.format))


def numbers_of(stats: Stats) -> dict[str, Any]:
    """The class as a whole, without how long it took."""
    found = stats.numbers()
    del found["ms"]
    return found


def wished(values: dict[str, Any], sheet: Sheet) -> Wish:
    """The options as the run takes them."""
    jobs = values.get("jobs") or max(FEWEST, min(MOST, os.cpu_count() or 1))
    return Wish(
        seed=sheet.seed if values.get("seed") is None else seed_of(values), jobs=jobs,
        scheduler=values.get("scheduler"), fresh=bool(values.get("fresh")),
        overrides=values["overrides"], level=values["feedback"], raw=values["raw_csv"],
        templates=values["template"], column=values["column"],
        gradescope=values["gradescope"], visibility=values["visibility"],
        roster_path=values.get("roster"))


def exports_of(written: Any) -> list[dict[str, Any]]:
    """The gradebooks that were filled in, as plain data."""
    return [{
        "system": one.system, "column": one.column, "count": one.count,
        "unmatched": [student.id for student in one.unmatched],
        "doubtful": [student.id for student in one.doubtful], "left": one.left,
        "notes": one.notes} for one in written.exports]
