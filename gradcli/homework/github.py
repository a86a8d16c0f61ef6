"""Annotations for a GitHub workflow: a line for each answer that is not right.

GitHub shows ten errors and ten warnings of a step, so no more are written; the last line says how
many there are. Escapes are those of its toolkit: % CR LF in the message, : and , in properties too.
"""

from __future__ import annotations

import os

from gradcli.homework.marks import RIGHT, WAITING, WRONG
from gradcli.homework.told import HINT, told
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradcli.homework.marks import Marks
    from gradcli.homework.sheet import Sheet

MOST = 10


def messages(sheet: Sheet, everybody: Iterable[Marks], folder: str = "") -> Iterator[str]:
    """`::error file=,line=,title=::message` for wrong answers, `::warning` for those that wait.

    folder: what the files were handed in in; GitHub wants paths from where the workflow works.
    """
    counts = {RIGHT: 0, WRONG: 0, WAITING: 0}
    for marks in everybody:
        for problem, kind, result in zip(sheet.problems, marks.kinds, marks.results, strict=True):
            if kind not in counts or result is None:
                continue
            counts[kind] += 1
            if kind == RIGHT or counts[kind] > MOST:
                continue
            found = told(problem, result, HINT)
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
