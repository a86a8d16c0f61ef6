"""review.csv while it is written: what a person should look at, and two columns for what they say.

Equal answers to a problem, typed alike or of equal values, that wait for the same reason are one
row, which decides for all. Rows that somebody filled in before stay, filled in, so that the file
can be written over itself; also those of an answer that has changed since, and of students and
problems that are gone, which then count nothing. First stands what waits, problem by problem, the
answers of many first; then what is decided; then what counts nothing. The rows that are filled in
stand in decisions.csv as well, for the next run to see which of them somebody took out.
"""

from __future__ import annotations

import csv

from gradcli.homework.marking.marks import waits
from gradcli.homework.marking.overrides import (
    EARLIER,
    GONE,
    MOST_EQUAL,
    Overrides,
    form,
    key,
    value,
)
from gradcli.homework.sheets.cells import cell, number, uncell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.marking.marks import Marks
    from gradcli.homework.marking.overrides import Override
    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.sheet import Sheet

COLUMNS = ("student_id", "problem", "reason", "verdict", "answer", "read_as", "mistake",
           "confidence", "message", "score", "max_score", "file", "line", "count", "others",
           "digest", "override_score", "comment")
ALIKE = ("undecided", "unreadable", "domain", "low confidence")
"""The reasons that lie in the answer, whoever gave it."""
LISTED = 30     # students in a row
WAITING, DECIDED, UNUSED = range(3)     # the parts of the file


class Row:
    """A row.

    fields: what stands in its columns.
    part, place: where it stands in the file.
    others: the students behind the first one, of whom `count` are there.
    equal: the digests of a row that is for several.
    """

    __slots__ = ("count", "equal", "fields", "others", "part", "place", "said")

    def __init__(self, part: int, place: int, said: Override | None = None) -> None:
        self.part = part
        self.place = place
        self.said = said
        self.fields: dict[str, Any] = {}
        self.count = 0
        self.others: list[str] = []
        self.equal: dict[str, None] = dict.fromkeys(said.equal if said is not None else ())

    @property
    def order(self) -> tuple[int, int, int, str, bool]:
        return (self.part, self.place, -self.count, self.fields["student_id"],
                self.fields["reason"] == EARLIER)


class Review:
    """The file while it is written; `finish` writes it.

    raw: without apostrophes (`harmless.cell`).
    overrides: all that persons wrote, of earlier answers too.
    kept: receives the rows that are filled in.
    count: the number of answers that still wait.
    """

    __slots__ = ("_alike", "_kept", "_overrides", "_problems", "_raw", "_rows", "_stream",
                 "count")

    def __init__(self, stream: TextIO, sheet: Sheet, raw: bool = False,
                 overrides: Overrides | None = None, kept: TextIO | None = None) -> None:
        self._stream = stream
        self._kept = kept
        self._raw = raw
        self._overrides = Overrides() if overrides is None else overrides
        self._problems = sheet.problems
        self._rows: list[Row] = []
        # Those that are for several: by the override that decides, else by problem and value.
        self._alike: dict[object, Row] = {}
        self.count = 0

    def add(self, marks: Marks) -> None:
        """Add the answers of a student."""
        for place, (problem, result) in enumerate(zip(self._problems, marks.results, strict=True)):
            if result is None:
                continue
            reason, given = waits(problem, result), result.override
            part = UNUSED
            if reason is not None or (given and (given["score"] is not None or given["comment"])):
                part = WAITING if reason is not None else DECIDED
                self._add(problem, result, place, part, reason)
            for one in self._overrides.earlier(result):
                self._unused(EARLIER, part, place, one, result.student, result.problem)

    def _add(self, problem: Problem, result: Result, place: int, part: int, reason: str | None
             ) -> None:
        """Add an answer that waits, or that has an override."""
        self.count += reason is not None
        alone = self._overrides.own(result) or self._overrides.earlier(result)
        said = None if alone else self._overrides.shared(result)
        key: object = None
        if said is not None:
            key = id(said)
        elif reason in ALIKE and result.answer.strip() and result.doubt is None and not alone:
            key = problem.id, value(result)
        row = self._alike.get(key) if key is not None else None
        if row is None:
            row = Row(part, place, said)
            row.fields = self._fields(result, reason)
            self._rows.append(row)
            if key is not None:
                self._alike[key] = row
        elif len(row.others) < LISTED:
            row.others.append(result.student)
        row.count += 1
        if key is not None and len(row.equal) < MOST_EQUAL:
            row.equal.update(dict.fromkeys((value(result), form(result.answer))))

    def _fields(self, result: Result, reason: str | None) -> dict[str, Any]:
        given = result.override or {"score": None, "comment": "", "automatic": result.score}
        texts = {"student_id": result.student, "problem": result.problem,
                 "reason": reason or "overridden", "answer": result.answer, "file": result.file,
                 "message": "; ".join([*filter(None, (result.message, result.doubt))]),
                 "comment": given["comment"], **{name: getattr(result, name) for name in (
                     "verdict", "read_as", "mistake", "confidence")}}
        return {**{name: cell(text, self._raw) for name, text in texts.items()},
                "score": number(given["automatic"]), "max_score": number(result.max),
                "line": "" if result.line is None else result.line,
                "override_score": number(given["score"]),
                "digest": f"{key(result.problem, result.student)}-"
                          f"{form(result.answer, result.beside)}"}

    def _unused(self, reason: str, part: int, place: int, said: Override, student: str,
                problem: str) -> None:
        """Add an override that counts nothing."""
        row = Row(part, place)
        texts = {"student_id": student, "problem": problem, "reason": reason,
                 "answer": uncell(said.answer or ""), "comment": said.comment}
        row.fields = {**{name: cell(text, self._raw) for name, text in texts.items()},
                      "override_score": number(said.score), "digest": said.whole or (
                          f"{key(problem, student)}-{said.digest}" if said.digest else "")}
        self._rows.append(row)

    @property
    def waiting(self) -> int:
        """Return the number of rows that wait."""
        return len([row for row in self._rows if row.part == WAITING and row.count])

    def finish(self) -> None:
        """Write all rows, behind a mark by which spreadsheets know UTF-8."""
        there = {row.said for row in self._alike.values()}
        for place, problem in enumerate(self._problems):
            for said in self._overrides.groups():
                if said.problem == problem.id and said not in there:
                    self._unused(EARLIER, UNUSED, place, said, said.student, said.problem)
        for said in self._overrides.gone:
            self._unused(GONE, UNUSED, len(self._problems), said, said.student, said.problem)
        self._stream.write("\ufeff")
        writers = [csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
                   for stream in (self._stream, self._kept) if stream is not None]
        for writer in writers:
            writer.writeheader()
        for row in sorted(self._rows, key=lambda row: row.order):
            if row.count > 1 or row.said is not None:
                row.fields["digest"] = "-".join([key(self._problems[row.place].id), *row.equal])
            if row.count:
                more = row.count - 1 - len(row.others)
                row.fields["count"] = row.count
                row.fields["others"] = cell("; ".join(
                    [*row.others, *([f"and {more} more"] if more else [])]), self._raw)
            written = row.fields["override_score"] or row.fields["comment"]
            for writer in writers if written else writers[:1]:
                writer.writerow(row.fields)
