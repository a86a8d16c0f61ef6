"""The answers of a class in one table, as forms export it: a row for each student, a column for
each problem; or a row for each answer.
"""

from __future__ import annotations

import re

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.columns import STUDENT, columns, folded
from gradcli.homework.separated import delimiter, fitted, records
from gradcli.homework.submissions.class_answers import MAX_BYTES, OfClass, unreadable
from gradcli.homework.submissions.parsed import Ids, fold, short
from gradcli.homework.submissions.records import Submissions, Unreadable
from gradcli.homework.submissions.texts import read_bytes, text
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.homework.separated import Record
    from gradcli.homework.sheet import Sheet
    from gradcli.homework.submissions.roster import Roster

LONG = {**STUDENT, "problem": ("problem id", "question", "question id", "exercise", "task"),
        "answer": ("response", "solution")}


def open_table(path: str, sheet: Sheet, roster: Roster | None = None, *,
               student_column: str | None = None, mapping: Mapping[str, str] | None = None
               ) -> Submissions:
    """What is in a CSV file of a class. student_column: the title of the column that says whose a
    row is. mapping: titles to problem ids, for columns whose title does not tell.

    Raises E0733 (a column is missing or cannot be told) and E0734 (cannot be read).
    """
    try:
        data = read_bytes(path, MAX_BYTES, follow=True)
    except Unreadable as problem:
        raise unreadable(path, str(problem)) from None
    return table_of(data, path, sheet, roster, student_column, mapping)


def table_of(data: bytes, path: str, sheet: Sheet, roster: Roster | None,
             student_column: str | None, mapping: Mapping[str, str] | None) -> Submissions:
    """What is in the bytes of a CSV file; see `open_table`."""
    try:
        said, remark = text(data)
    except Unreadable as problem:
        raise unreadable(path, str(problem)) from None
    source = Source(said, path)
    table = records(source, delimiter(said), "E0734")
    head = next((record for record in table if not record.empty), None)
    if head is None:
        raise unreadable(path, "there is nothing in it")
    titles = [cell.text.strip() for cell in head.cells]
    ids = Ids(sheet.ids)
    of_class = OfClass(ids, path, roster)
    if remark:
        of_class.note("encoding", remark)
    known = columns(titles, LONG)
    if student_column is None and mapping is None and len(known) == 3:
        for row in table:
            if row.empty:
                continue
            cells = fitted(row, len(titles), source, known["answer"], "E0734")
            line = source.position(row.start)[0]
            parsed = of_class.of(cells[known["student"]], line)
            if parsed is not None:
                parsed.add(cells[known["problem"]], cells[known["answer"]], line)
        return of_class.submissions()
    student = _student_column(source, head, titles, student_column)
    problems = _problem_columns(source, head, titles, ids, mapping or {}, student)
    for id in sheet.ids:
        if id not in problems.values():
            of_class.note("skipped", f"no column for problem {id}", source.position(head.start)[0])
    for row in table:
        if row.empty:
            continue
        cells = fitted(row, len(titles), source, None, "E0734")
        line = source.position(row.start)[0]
        parsed = of_class.of(cells[student], line)
        if parsed is not None:
            for k, id in problems.items():
                parsed.add(id, cells[k], line)
    return of_class.submissions()


def _student_column(source: Source, head: Record, titles: Sequence[str], wanted: str | None
                    ) -> int:
    place = head.start, max(head.start + 1, head.cells[-1].span[1])
    if wanted is not None:
        same = [k for k, title in enumerate(titles) if folded(title) == folded(wanted)]
        if same:
            return same[0]
        import difflib

        near = difflib.get_close_matches(wanted, titles, n=1)
        raise GradcliError(Diagnostic(
            "E0733", f"there is no column `{wanted}`", source=source, span=place,
            help=f"did you mean `{near[0]}`?" if near else "--student-col names a column of the"
            " first row"))
    known = columns(titles, STUDENT)
    if not known:
        raise GradcliError(Diagnostic(
            "E0733", "no column says who the student is", source=source, span=place,
            help=f'name it with --student-col, such as --student-col "{short(titles[0])}"'))
    return known["student"]


def _problem_columns(source: Source, head: Record, titles: Sequence[str], ids: Ids,
                     mapping: Mapping[str, str], student: int) -> dict[int, str]:
    """Number of a column to the problem that is answered there."""
    found: dict[int, str] = {}
    for title, id in mapping.items():
        same = [k for k, other in enumerate(titles) if folded(other) == folded(title)]
        meant = ids.find(id)
        if not same or meant is None:
            what = f"column `{title}`" if not same else f"problem `{id}` in the sheet"
            raise GradcliError(Diagnostic(
                "E0733", f"--map: there is no {what}", source=source,
                span=(head.start, max(head.start + 1, head.cells[-1].span[1])),
                help='write --map "title of a column=id of a problem"'))
        found[same[0]] = meant
    left = [k for k in range(len(titles)) if k != student and k not in found]
    for how in (ids.find, lambda title: _within(title, ids)):
        for k in left:
            told = how(titles[k])
            if k not in found and told is not None and told not in found.values():
                found[k] = told
    if not found:
        raise GradcliError(Diagnostic(
            "E0733", "no column is called like a problem of the sheet", source=source,
            span=(head.start, max(head.start + 1, head.cells[-1].span[1])),
            help='say which is which, such as --map "Question 1=1a"'))
    return dict(sorted(found.items()))


def _within(title: str, ids: Ids) -> str | None:
    """The one problem whose id is a word of a title: `Question 1a [2 points]`, `Q1a`.

    The words that stand first or last, or behind `Question`, say more than those between.
    """
    words = [fold(word) for word in re.findall(r"[^\s()\[\]:;,]+", title)[:200]]
    words = [word.rstrip(".") for word in words]
    meant = [ids.find(word) for word in words]
    behind = [id for word, id in zip(["", *words], meant, strict=False)
              if id is not None and re.fullmatch(
                  r"q|question|problem|exercise|task|part|no|nr|aufgabe", word)]
    ends = [id for id in (*meant[:1], *meant[-1:]) if id is not None]
    for some in (behind, ends, [id for id in meant if id is not None]):
        if len(set(some)) == 1:
            return some[0]
    return None
