"""The answers of a class in one stream, an answer a line; and whatever comes through a pipe."""

from __future__ import annotations

import json

from gradcli.homework.submissions.class_answers import MAX_BYTES, OfClass, unreadable
from gradcli.homework.submissions.class_tables import table_of
from gradcli.homework.submissions.parsed import Ids
from gradcli.homework.submissions.records import Submissions, Unreadable
from gradcli.homework.submissions.student_tables import Pairs, typed
from gradcli.homework.submissions.texts import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from gradcli.homework.sheet import Sheet
    from gradcli.homework.submissions.roster import Roster

MAX_LINE = 64 * 1024
STDIN = "<stdin>"


def open_stdin(stdin: BinaryIO, sheet: Sheet, roster: Roster | None = None, *,
               student_column: str | None = None, mapping: Mapping[str, str] | None = None
               ) -> Submissions:
    """What comes through a pipe: NDJSON if it begins with a brace, else CSV as `open_table`.

    Raises E0733 and E0734.
    """
    first = stdin.readline(MAX_LINE + 1)
    before = 0
    while first and not first.strip():
        first = stdin.readline(MAX_LINE + 1)
        before += 1
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or not first.removeprefix(
            b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        data = b"\n" * before + first + stdin.read(MAX_BYTES + 1 - len(first))
        if len(data) > MAX_BYTES + before:
            raise unreadable("-", f"larger than {MAX_BYTES // 1024 ** 2} MiB")
        return table_of(data, STDIN, sheet, roster, student_column, mapping)
    of_class = OfClass(Ids(sheet.ids), STDIN, roster)
    _lines(of_class, stdin, first, before + 1)
    return of_class.submissions()


def open_lines(path: str, sheet: Sheet, roster: Roster | None = None) -> Submissions:
    """What is in NDJSON, `{"student": "s1", "problem": "1a", "answer": "2x"}` a line. Lines that
    are no such object are passed over with a note; of whom they name, something was handed in.

    Raises E0734 (cannot be read).
    """
    of_class = OfClass(Ids(sheet.ids), path, roster)
    try:
        with open(path, "rb") as file:
            _lines(of_class, file, file.readline(MAX_LINE + 1), 1)
    except (OSError, ValueError) as problem:
        raise unreadable(path, getattr(problem, "strerror", None) or str(problem)) from None
    return of_class.submissions()


def _lines(of_class: OfClass, file: BinaryIO, line: bytes, number: int) -> None:
    """The lines of a file from one on that was read already."""
    while line:
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
            of_class.note("skipped", f"longer than {MAX_LINE // 1024} KiB", number)
        elif line.strip():
            _line(of_class, line, number)
        line = file.readline(MAX_LINE + 1)
        number += 1


def _line(of_class: OfClass, line: bytes, number: int) -> None:
    student = None
    try:
        said, _ = text(line)
        entry = json.loads(said, parse_int=str, parse_float=str, parse_constant=str,
                           object_pairs_hook=Pairs)
        fields = dict(entry.pairs) if isinstance(entry, Pairs) else {}
        if isinstance(fields.get("student"), str):
            fields["student"].encode()      # a lone surrogate cannot be written again
            student = fields["student"]
        problem, answer = fields["problem"], typed(fields["answer"])
        if student is None or not isinstance(problem, str):
            raise TypeError
    except (Unreadable, ValueError, RecursionError):
        of_class.note("skipped", "no JSON", number)
        return
    except (KeyError, TypeError):
        of_class.note("skipped", 'not of the form {"student": "s1", "problem": "1a", "answer":'
                      ' "2x"}', number)
        if student is not None:
            of_class.of(student, number)
        return
    parsed = of_class.of(student, number)
    if parsed is not None:
        parsed.add(problem, answer, number)
