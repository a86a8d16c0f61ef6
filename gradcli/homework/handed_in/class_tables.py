"""The answers of a class in one table, as forms export it: a row for each student, a column for
each problem; or a row for each answer.
"""

from __future__ import annotations

import json
import os
import re

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.handed_in.attempts import Attempt
from gradcli.homework.handed_in.class_answers import ClassAnswers
from gradcli.homework.handed_in.labels import Ids, fold
from gradcli.homework.handed_in.records import (
    CANVAS,
    Student,
    Unreadable,
    answer_in,
    decoded_table,
    decoded_text,
    read_bytes,
    short,
)
from gradcli.homework.handed_in.roster import TITLES, described
from gradcli.homework.handed_in.texts import SCORES, JsonObject, typed
from gradcli.homework.handed_in.words import is_no_answer
from gradcli.homework.sheets.cells import (
    STUDENT,
    columns,
    delimiter,
    every_column,
    fitted,
    folded,
    records,
)
from gradcli.homework.sheets.deadline import day_first, readings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from gradcli.homework.handed_in.records import Submissions
    from gradcli.homework.handed_in.roster import Roster
    from gradcli.homework.sheets.cells import SourceRow
    from gradcli.homework.sheets.sheet import Sheet


TIMES = {"time": ("timestamp", "zeitstempel", "completed", "completion time", "submitted",
                  "submission time", "submitted at", "abgegeben", "beendet"),
         "attempt": ()}
LONG = {**STUDENT, "problem": ("problem id", "question", "question id", "exercise", "task"),
        "answer": ("response", "solution")}


def open_table(path: str, sheet: Sheet, roster: Roster | None = None, *,
               student_column: str | None = None, mapping: Mapping[str, str] | None = None
               ) -> Submissions:
    """Read the submissions in a CSV file of a class.

    student_column: title of the column that names the student of each row. mapping: titles to
    problem ids, for columns whose title does not say the problem.

    Raises E0733 (a column is missing or cannot be identified) and E0734 (cannot be read).
    """
    try:
        data = read_bytes(path, MAX_BYTES, follow=True)
    except Unreadable as problem:
        raise unreadable(path, str(problem)) from None
    return table_of(data, path, sheet, roster, student_column, mapping)


def table_of(data: bytes, path: str, sheet: Sheet, roster: Roster | None,
             student_column: str | None, mapping: Mapping[str, str] | None) -> Submissions:
    """Parse the bytes of a CSV file of a class; parameters and errors are those of `open_table`."""
    try:
        said, remark = decoded_table(data)
    except Unreadable as problem:
        raise unreadable(path, str(problem)) from None
    source = Source(said, path)
    table = records(source, delimiter(said), "E0734")
    head = next((record for record in table if not record.empty), None)
    if head is None:
        raise unreadable(path, "there is nothing in it")
    titles = [cell.text.strip() for cell in head.cells]
    ids = Ids(sheet.ids)
    of_class = ClassAnswers(sheet, path, roster)
    if remark:
        of_class.note("encoding", remark)
    shape = table_shape(titles)
    known = columns(titles, LONG)
    long = {"problem", "answer"} <= {*known} and not shape.questions
    if long and student_column is None and mapping is None and shape.who:
        shape.who = [k for k in shape.who if k != known["problem"]]
    who = _student_columns(source, head, titles, shape, student_column)
    if long and student_column is None and mapping is None:
        last, problems = known["answer"], {}
    else:
        last = None
        problems = _problem_columns(source, head, titles, ids, mapping or {}, shape, who, of_class)
        for id in sheet.ids:
            if id not in problems.values():
                of_class.note("skipped", f"no column for problem {id}",
                              source.position(head.start)[0])
    rows = [(source.position(row.start)[0], fitted(row, len(titles), source, last, "E0734"))
            for row in table if not row.empty]
    # Where a problem has no column, one that names none may be its.
    unclaimed = last is None and {*sheet.ids}.difference(problems.values()) != set()
    others = [k for k in range(len(titles)) if k not in problems and k not in who
              and k not in shape.left_out and k not in shape.about.values()
              and not SCORES.search(titles[k])
              and (last is None or k not in (known["problem"], last))]
    order = day_first([shape.time(cells) for _, cells in rows])
    for line, cells in rows:
        attempt = Attempt(readings(shape.time(cells), order),
                          number=shape.attempt(cells) if long else shape.attempt(cells) or line)
        parsed = of_class.of(shape.student(cells, who), line, [cells[k].strip() for k in who],
                             shape.system, attempt)
        if parsed is None:
            continue
        if last is not None:
            parsed.add(cells[known["problem"]], answer_in(cells[last]), line)
        for k in others:
            if not unclaimed:
                parsed.leave(cells[k], f"below `{short(titles[k])}`", line)
            elif cells[k].strip() and not is_no_answer(cells[k]):
                parsed.note("unclaimed", f"`{short(cells[k])}` stands below `{short(titles[k])}`,"
                            " which names no problem", line)
        for k, id in problems.items():
            # Moodle writes a dash for no response.
            blank = k in shape.questions and cells[k].strip() == "-"
            parsed.add(id, "" if blank else answer_in(cells[k]), line)
    return of_class.submissions()


class TableShape:
    """What the columns of a table of the class are about.

    system: CANVAS where its numbers are in the column `lms`, else "".
    about: what is said of a student to the number of its column.
    who: the columns that say who it is, the one to be believed first.
    questions: the columns that have answers, where the system tells them from others; else none.
    left_out: the columns that have none, whatever they are called.
    """

    __slots__ = ("about", "left_out", "questions", "system", "who")

    def __init__(self, system: str, about: dict[str, int], who: list[int], questions: list[int],
                 left_out: set[int]) -> None:
        self.system = system
        self.about = about
        self.who = who
        self.questions = questions
        self.left_out = left_out

    def time(self, cells: Sequence[str]) -> str:
        """Return what a row says of the time when it was handed in."""
        return cells[self.about["time"]] if "time" in self.about else ""

    def attempt(self, cells: Sequence[str]) -> int:
        """Return the number of the attempt of a row; 0 where none is known."""
        text = cells[self.about["attempt"]].strip() if "attempt" in self.about else ""
        return int(text) if text.isdecimal() and len(text) < 6 else 0

    def student(self, cells: Sequence[str], who: Sequence[int]) -> Student:
        """Return the student whom a row is by; the first of the columns `who` is the id."""
        said = {name: cells[k].strip() for name, k in self.about.items()}
        texts = [text for text in [cells[k].strip() for k in who] if text]
        name = f"{said.get('first_name', '')} {said.get('last_name', '')}".strip()
        return described((texts or [name])[0], said)


CANVAS_QUIZ = {"name": (), "lms": ("id",), "student_id": ("sis id",), "section": (),
               "time": ("submitted",), "attempt": ()}
_CANVAS_QUESTION = re.compile(r"\d+: ")
RESPONSE = r"response|antwort|r[eé]ponse|respuesta|risposta"
_RESPONSE = re.compile(rf"(?:{RESPONSE})\s*\d+", re.IGNORECASE)
# Titles with nothing but a number, which may count columns, and not name problems.
_NUMBERED = re.compile(
    rf"(?:{RESPONSE}|question|frage|q|problem|answer|aufgabe)\.?\s*\d+(?:\.\d+)*", re.IGNORECASE)


def table_shape(titles: Sequence[str]) -> TableShape:
    """Return what the columns are about, by the titles that systems and people write."""
    folds = [folded(title) for title in titles]
    if {"name", "id", "n correct", "n incorrect"} <= {*folds}:
        about = columns(titles, CANVAS_QUIZ)
        who = [about[name] for name in ("student_id", "lms") if name in about]
        questions = [k for k, title in enumerate(titles) if _CANVAS_QUESTION.match(title)]
        return TableShape(CANVAS, about, who, questions, {*range(len(titles))} - {*questions})
    about = columns(titles, {**TITLES, **TIMES})
    who = every_column(titles, STUDENT)
    if {"start time", "completion time"} <= {*folds} and "id" in folds:
        # Microsoft Forms numbers the responses.
        who = [k for k in who if folds[k] != "id"]
        about.pop("student_id", None)
    responses = [k for k, title in enumerate(titles) if _RESPONSE.fullmatch(title)]
    return TableShape("", about, who, responses, {*about.values(), *who} if not responses else
                      {*range(len(titles))} - {*responses})


def _student_columns(source: Source, head: SourceRow, titles: Sequence[str], shape: TableShape,
                     wanted: str | None) -> list[int]:
    place = head.start, max(head.start + 1, head.cells[-1].span[1])
    if wanted is not None:
        same = [k for k, title in enumerate(titles) if folded(title) == folded(wanted)]
        if same:
            return same[:1]
        import difflib

        near = difflib.get_close_matches(wanted, titles, n=1)
        raise GradcliError(Diagnostic(
            "E0733", f"there is no column `{wanted}`", source=source, span=place,
            help=f"did you mean `{near[0]}`?" if near else "--student-col names a column of the"
            " first row"))
    if not shape.who and not {"first_name", "last_name"} <= {*shape.about}:
        raise GradcliError(Diagnostic(
            "E0733", "no column says who the student is", source=source, span=place,
            help=f'name it with --student-col, such as --student-col "{short(titles[0])}"'))
    return shape.who


def _problem_columns(source: Source, head: SourceRow, titles: Sequence[str], ids: Ids,
                     mapping: Mapping[str, str], shape: TableShape, who: Sequence[int],
                     of_class: ClassAnswers) -> dict[int, str]:
    """Return the problem that each column answers, by the number of the column.

    head, titles: the first row, and its cells without blanks.
    mapping: titles to problem ids, which goes first.
    who: the columns that say who a student is.
    of_class: receives a note where the order tells which is which.
    """
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
    left = [k for k in range(len(titles)) if k not in found and k not in who
            and k not in shape.left_out]
    if not found:
        found = _counted(titles, left, ids)
        if found:
            of_class.note("skipped", "the columns are taken for the problems in their order,"
                          f" {short(titles[min(found)])} for {found[min(found)]} and so on",
                          source.position(head.start)[0])
            return found
    for how in (ids.find, lambda title: _asked(title, ids)):
        for k in left:
            named = how(titles[k])
            if k not in found and named is not None and named not in found.values():
                found[k] = named
    if not found:
        raise GradcliError(Diagnostic(
            "E0733", "no column is called like a problem of the sheet", source=source,
            span=(head.start, max(head.start + 1, head.cells[-1].span[1])),
            help='say which is which, such as --map "Question 1=1a"'))
    return dict(sorted(found.items()))


def _counted(titles: Sequence[str], left: Sequence[int], ids: Ids) -> dict[int, str]:
    """Return the problems of columns that are as many and only numbered, `Response 1`, or questions
    of a quiz; nothing where their titles tell, or contradict it.
    """
    numbered = [k for k in left if _NUMBERED.fullmatch(titles[k])]
    counted = numbered or [k for k in left if _CANVAS_QUESTION.match(titles[k])]
    numbers = [re.sub(r"[^\d.]", "", titles[k]).strip(".") for k in numbered]
    if all(map(str.isdecimal, numbers)) and sorted(map(int, numbers)) != [
            *range(1, len(numbers) + 1)]:
        return {}
    named = [_asked(titles[k], ids) for k in counted]
    told = [id for id, other in zip(named, ids.all, strict=False) if id not in (None, other)]
    if len(counted) != len(ids.all) or {*named} == {*ids.all} or (told and not numbered):
        return {}
    return dict(zip(counted, ids.all, strict=True))


def _asked(title: str, ids: Ids) -> str | None:
    """Return the problem that a title names, by its last words where a quiz shows the question."""
    question = _CANVAS_QUESTION.match(title)
    if question is None:
        return _within(title, ids)
    return ids.find(title[question.end():]) or _within(title[question.end():], ids, sure=True)


def _within(title: str, ids: Ids, sure: bool = False) -> str | None:
    """Return the one problem whose id is a word of a title, `Question 1a [2 points]`, else None.

    The words that stand first or last, or behind `Question`, count more than those between, which
    count nothing if it has to be sure.
    """
    words = [fold(word) for word in re.findall(r"[^\s()\[\]:;,]+", title)[:200]]
    words = [word.rstrip(".") for word in words]
    meant = [ids.find(word) for word in words]
    behind = [id for word, id in zip(["", *words], meant, strict=False)
              if id is not None and re.fullmatch(
                  r"q|question|problem|exercise|task|part|no|nr|aufgabe", word)]
    ends = [id for id in (*meant[:1], *meant[-1:]) if id is not None]
    for some in (behind, ends, [] if sure else [id for id in meant if id is not None]):
        if len(set(some)) == 1:
            return some[0]
    return None


MAX_BYTES = 256 * 1024 * 1024


def unreadable(path: str, why: str) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0734", f"cannot read `{path}`: {why.lower()}", source=Source("", path), span=(0, 0),
        help="give a table with a row for each student, or a folder of their files"))


# --------------------------------------------------------------------------------------------------
# The answers of a class in one stream, an answer a line; and whatever comes through a pipe.

MAX_LINE = 64 * 1024
STDIN = "<stdin>"


def open_stdin(stdin: BinaryIO, sheet: Sheet, roster: Roster | None = None, *,
               student_column: str | None = None, mapping: Mapping[str, str] | None = None
               ) -> Submissions:
    """Read submissions from a pipe: NDJSON if it begins with a brace, else CSV as `open_table`.

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
    of_class = ClassAnswers(sheet, STDIN, roster)
    _lines(of_class, stdin, first, before + 1)
    return of_class.submissions()


def open_lines(path: str, sheet: Sheet, roster: Roster | None = None) -> Submissions:
    """Read submissions in NDJSON, one `{"student": "s1", "problem": "1a", "answer": "2x"}` a line.

    Lines that are no such object are passed over with a note; the student that one names counts as
    having handed something in. Raises E0734 (cannot be read).
    """
    of_class = ClassAnswers(sheet, path, roster)
    try:
        with open(path, "rb") as file:
            _lines(of_class, file, file.readline(MAX_LINE + 1), 1)
    except (OSError, ValueError) as problem:
        raise unreadable(path, getattr(problem, "strerror", None) or str(problem)) from None
    return of_class.submissions()


def _lines(of_class: ClassAnswers, file: BinaryIO, line: bytes, number: int) -> None:
    """Parse the lines of a file from `line` on, which was read already; number: of that line."""
    while line:
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
            of_class.note("skipped", f"longer than {MAX_LINE // 1024} KiB", number)
        elif line.strip():
            _line(of_class, line, number)
        line = file.readline(MAX_LINE + 1)
        number += 1


def _line(of_class: ClassAnswers, line: bytes, number: int) -> None:
    student = None
    try:
        said, _ = decoded_text(line)
        entry = json.loads(said, parse_int=str, parse_float=str, parse_constant=str,
                           object_pairs_hook=JsonObject)
        fields = dict(entry.pairs) if isinstance(entry, JsonObject) else {}
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
        parsed = of_class.of(Student(student), number) if student is not None else None
        said = 'not of the form {"student": "s1", "problem": "1a", "answer": "2x"}'
        if parsed is not None:
            parsed.note("unclaimed", said, number)
        else:
            of_class.note("skipped", said, number)
        return
    parsed = of_class.of(Student(student), number)
    if parsed is not None:
        parsed.add(problem, answer, number)


# --------------------------------------------------------------------------------------------------
# Submissions of any form, by their path.

LINES = (".ndjson", ".jsonl")
TABLES = (".csv", ".tsv", ".xlsx", ".xlsm")


def open_submissions(path: str, sheet: Sheet, roster: Roster | None = None, *,
                     wide: bool = False, student_column: str | None = None,
                     mapping: Mapping[str, str] | None = None, student_pattern: str | None = None,
                     follow: bool = False, stdin: BinaryIO | None = None) -> Submissions:
    """Open submissions: a folder or a zip archive of one, a table of the class (`wide`, or by the
    name of the file), NDJSON, one student's file, or for the path "-" a table or NDJSON on `stdin`.

    student_column, mapping: see `class_tables.open_table`. student_pattern: a regular expression
    that finds the student in a path below the folder.

    Raises E0730 to E0734.
    """
    if path == "-" and stdin is not None:
        return open_stdin(stdin, sheet, roster, student_column=student_column, mapping=mapping)
    ending = os.path.splitext(path)[1].lower()
    if wide or (ending in TABLES and not os.path.isdir(path)):
        return open_table(path, sheet, roster, student_column=student_column, mapping=mapping)
    if ending in LINES and not os.path.isdir(path):
        return open_lines(path, sheet, roster)
    from gradcli.homework.handed_in import folder

    if os.path.isfile(path) and ending != ".zip":
        return folder.single(path, sheet, follow)
    whose = None
    if student_pattern is not None:
        from gradcli.homework.handed_in.folder import finder

        whose = finder(student_pattern)
    return folder.open_folder(path, sheet, roster, follow=follow, whose=whose)


def mapping(texts: list[str]) -> dict[str, str]:
    """Parse the texts of --map, `Question 1=1a`, to titles and problem ids. Raises E0733."""
    found = {}
    for said in texts:
        title, equal, id = said.rpartition("=")
        if not equal or not title.strip() or not id.strip():
            raise GradcliError(Diagnostic(
                "E0733", f"`{said}` is not a column and problem", source=Source(said, "--map"),
                span=(0, len(said)), help='write --map "title of a column=id of a problem"'))
        found[re.sub(r"\s+", " ", title).strip()] = id.strip()
    return found
