"""Canvas, Moodle and Gradescope: one column of their own export filled in, all else unchanged.

Canvas wants Student, ID, SIS User ID, SIS Login ID, Section and `Name (id)` back, and its row
`Points Possible`; Moodle wants its columns unchanged, of the grader report or of an assignment's
grading worksheet. Byte order mark, separators, quotes, line ends and decimal commas stay.
"""

from __future__ import annotations

import re

from gradcli.base.errors import MAX_BYTES, Source, decode
from gradcli.homework.handed_in.records import CANVAS, MOODLE
from gradcli.homework.reports.feedback import OURS
from gradcli.homework.sheets.cells import delimiter, failure, number, records
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.records import Student
    from gradcli.homework.sheets.cells import SourceRow
    from gradcli.homework.sheets.sheet import Sheet

    # Columns of the export (several make one text), what they hold of a student, and whether
    # capitals matter.
    MatchRule = tuple[tuple[str, ...], Callable[[Student], str], bool]


# --------------------------------------------------------------------------------------------------
# The rows of students.
#
# A student is looked for by number, login and e-mail, and only if none of these finds anybody by
# name. A student with two rows, or with a row that somebody else has, is reported and left alone: a
# mark in a wrong row is worse than none.

CANVAS_KEYS: tuple[MatchRule, ...] = (
    (("ID",), lambda s: s.lms, True),
    (("SIS User ID",), lambda s: s.id, True),
    (("SIS Login ID",), lambda s: s.id, False),
    (("ID",), lambda s: s.id, True),
    (("SIS Login ID",), lambda s: s.login, False),
    (("SIS Login ID",), lambda s: s.email, False),
    (("SIS User ID",), lambda s: s.email, False),
)
CANVAS_NAMES: tuple[MatchRule, ...] = ((("Student",), lambda s: _joined(
    ", ", s.last_name, s.first_name), False),)

# Moodle compares e-mail addresses letter by letter when it imports.
MOODLE_KEYS: tuple[MatchRule, ...] = (
    (("Identifier",), lambda s: f"Participant {s.lms}" if s.lms else "", True),
    (("ID number",), lambda s: s.id, True),
    (("Username",), lambda s: s.id, True),
    (("Username",), lambda s: s.login, True),
    (("Email address",), lambda s: s.email, True),
    (("Email address",), lambda s: s.id, True),
)
GRADESCOPE_KEYS: tuple[MatchRule, ...] = (
    (("SID",), lambda s: s.id, True),
    (("Email",), lambda s: s.email, False),
    (("Email",), lambda s: s.id, False),
)
GRADESCOPE_NAMES: tuple[MatchRule, ...] = (
    (("First Name", "Last Name"), lambda s: _joined(" ", s.first_name, s.last_name), False),
    (("Name",), lambda s: _joined(" ", s.first_name, s.last_name), False),
)
MOODLE_NAMES: tuple[MatchRule, ...] = (
    (("Full name",), lambda s: _joined(" ", s.first_name, s.last_name), False),
    (("First name", "Last name"), lambda s: _joined(" ", s.first_name, s.last_name), False),
    (("First name", "Surname"), lambda s: _joined(" ", s.first_name, s.last_name), False),
)


def _joined(between: str, first: str, second: str) -> str:
    return f"{first}{between}{second}" if first and second else ""


def match(students: Iterable[Student], rows: Sequence[Mapping[str, str]], keys: Sequence[MatchRule],
          names: Sequence[MatchRule]) -> tuple[dict[int, Student], list[Student], list[Student]]:
    """Return (row -> student, students of no row, students of no certain row).

    rows: the cells of each by the name of their column. keys, names: the rules to try first, and
    those to try where none of these finds a row.
    """
    students = list(students)
    certain: dict[int, list[Student]] = {}
    unmatched, doubtful = [], []
    by_key, by_name = [_index(rows, rule) for rule in keys], [_index(rows, rule) for rule in names]
    for student in students:
        found = _rows(student, keys, by_key) or _rows(student, names, by_name)
        if not found:
            unmatched.append(student)
        elif len(found) > 1:
            doubtful.append(student)
        else:
            certain.setdefault(found.pop(), []).append(student)
    matched = {}
    for row, claimed in certain.items():
        if len(claimed) > 1:
            doubtful += claimed
        else:
            matched[row] = claimed[0]
    return matched, unmatched, sorted(doubtful, key=lambda student: student.id)


def _index(rows: Sequence[Mapping[str, str]], rule: MatchRule) -> dict[str, list[int]]:
    """Return the rows by the text of a rule's columns."""
    columns, _, exact = rule
    index: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        if all(name in row for name in columns):
            text = _normal(" ".join([row[name] for name in columns]), exact)
            if text:
                index.setdefault(text, []).append(at)
    return index


def _rows(student: Student, rules: Sequence[MatchRule], indices: Sequence[Mapping[str, list[int]]]
          ) -> set[int]:
    found: set[int] = set()
    for (_, value, exact), index in zip(rules, indices, strict=True):
        text = _normal(value(student), exact)
        if text:
            found.update(index.get(text, ()))
    return found


def _normal(text: str, exact: bool) -> str:
    text = " ".join(text.split())
    return text if exact else text.casefold()


# --------------------------------------------------------------------------------------------------
# The column.

GRADESCOPE = "gradescope"
POINTS_POSSIBLE = "Points Possible"
MAXIMUM = "Maximum Grade"
IDENTIFIER, COMMENTS = "Identifier", "Feedback comments"
# The columns of an export that are about the student, or that the system works out itself.
ABOUT = {
    CANVAS: {"Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account",
             "Section"},
    MOODLE: {"Identifier", "Full name", "First name", "Last name", "Surname", "ID number",
             "Username", "Institution", "Department", "Email address", "Status", "Group",
             MAXIMUM, "Grade can be changed", "Last modified (submission)",
             "Last modified (grade)", "Feedback comments", "Online text",
             "Last downloaded from this course"},
    GRADESCOPE: {"First Name", "Last Name", "Name", "SID", "Email", "Sections", "section_name",
                 "Max Points", "Status", "Submission ID", "Submission Time", "Lateness (H:M:S)",
                 "View Count", "Submission Count"}}
MATCHING = {CANVAS: (CANVAS_KEYS, CANVAS_NAMES), MOODLE: (MOODLE_KEYS, MOODLE_NAMES),
            GRADESCOPE: (GRADESCOPE_KEYS, GRADESCOPE_NAMES)}
CANVAS_TITLE = re.compile(r"(.*) \(\d+\)", re.DOTALL)
MOODLE_TITLE = re.compile(r"[^:]+: (.*) \((?:Real|[^()]*)\)", re.DOTALL)
GRADESCOPE_QUESTION = re.compile(r"\d+(?:\.\d+)*(?:: .*)? \([\d.]+ pts\)", re.DOTALL)
NOT_POINTS = re.compile(r".*\((Percentage|Letter|Feedback)\)", re.DOTALL)
DECIMAL_COMMA = re.compile(r"\s*\d+,\d+\s*", re.ASCII)


class FilledExport:
    """An export filled in.

    system: "canvas", "moodle" or "gradescope".
    text: the whole file.
    column: the title of the column that was filled.
    count: the number of cells that were.
    unmatched: students of no row.
    doubtful: students of more than one row, or of another's.
    left: names in the rows without a mark.
    notes: sentences for the teacher.
    numbers: of Moodle's participants, by the ids of students.
    """

    __slots__ = ("column", "count", "doubtful", "left", "notes", "numbers", "system", "text",
                 "unmatched")

    def __init__(self, system: str, column: str) -> None:
        self.system = system
        self.column = column
        self.text = ""
        self.count = 0
        self.unmatched: list[Student] = []
        self.doubtful: list[Student] = []
        self.left: list[str] = []
        self.notes: list[str] = []
        self.numbers: dict[str, str] = {}


def fill(path: str, sheet: Sheet, scores: Iterable[tuple[Student, float | None]],
         column: str | None = None, comments: Mapping[str, str] | None = None) -> FilledExport:
    """Return the export at `path` with each student's score; None leaves the cell unchanged.

    comments: by the ids of students, for the column of comments, where nobody else wrote one.
    column: the title of the one to fill; by default the one that is named like the sheet, or the
    only one there is. Raises E0745 for another file than an export, or one without that column,
    besides what `source.read` raises.
    """
    data = _bytes(path)
    source = decode(data, path)
    mark = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
    separator = delimiter(source.text)
    table = list(records(source, separator, "E0745"))
    head = next((row for row in table if not row.empty), None)
    system = _system(head, source)
    assert head is not None
    names = [cell.text.strip() for cell in head.cells]
    body = table[table.index(head) + 1:]
    at = _column(system, head, names, body, sheet, column, source)
    filled = FilledExport(system, names[at])
    people = [row for row in body if _is_person(row, names)]
    for row in people:
        if any(cell.text.strip() for cell in row.cells[len(names):]):
            raise failure("E0745", f"the row has {len(row.cells)} cells, not {len(names)}", source,
                          row.cells[len(names)].span, "export the file again")
    by_student = dict(scores)
    keys, called = MATCHING[system]
    rows = [dict(zip(names, [cell.text for cell in row.cells], strict=False)) for row in people]
    matched, filled.unmatched, filled.doubtful = match(by_student, rows, keys, called)
    comma = _decimal_comma(names, at, body)
    new: dict[int, dict[int, str]] = {}
    said = names.index(COMMENTS) if comments and COMMENTS in names else None
    for k, row in enumerate(people):
        student = matched.get(k)
        if student is None:
            filled.left.append(_called(row, names))
            continue
        filled.numbers[student.id] = rows[k].get(IDENTIFIER, "").rpartition(" ")[2]
        score = by_student[student]
        cells = new.setdefault(row.start, {})
        if score is not None:
            text = number(score)
            cells[at] = text.replace(".", ",") if comma else text
            filled.count += 1
        there = rows[k].get(COMMENTS, "").strip()
        if said is not None and comments and student.id in comments and (
                not there or there.startswith(OURS)):
            cells[said] = comments[student.id]
    filled.text = mark + "".join([
        _written(row, new[row.start], separator) if new.get(row.start) else
        source.text[row.start:_stop(row, separator)] for row in table])
    filled.notes = list(_notes(sheet, names, at, body))
    if comments and said is None:
        filled.notes.append(f"there is no column `{COMMENTS}`" + (
            ": allow feedback comments in the settings of the assignment, then export again"
            if system == MOODLE else ", which grading worksheets of Moodle have"))
    return filled


def _bytes(path: str) -> bytes:
    from gradcli.homework.marking.results import opened

    with opened(path) as file:
        return file.read(MAX_BYTES + 1)


def _system(head: SourceRow | None, source: Source) -> str:
    names = {cell.text.strip() for cell in head.cells} if head else set()
    if {"Student", "ID"} <= names and names & {"Section", "SIS Login ID", "SIS User ID"}:
        return CANVAS
    if "Email address" in names or {"Identifier", "Grade"} <= names:
        return MOODLE
    if {"Email", "Total Score", "Max Points"} <= names:
        return GRADESCOPE
    raise failure("E0745", "these are the columns of neither Canvas nor Moodle", source,
                  head.span if head else (0, 0),
                  "export the gradebook as CSV, in English, and give that file")


def _column(system: str, head: SourceRow, names: Sequence[str], body: Sequence[SourceRow],
            sheet: Sheet, column: str | None, source: Source) -> int:
    """Return the index of the column to fill."""
    points = next((row for row in body if _is_points(row, names)), None)
    free = [k for k, name in enumerate(names) if name and name not in ABOUT[system]
            and not _worked_out(system, name, points, k)]
    wanted = [column] if column is not None else [sheet.title, sheet.id]
    texts = {text.strip().casefold() for text in wanted if text.strip()}
    found = [k for k in free if column is not None and names[k] == column.strip()] or [
        k for k in free if {names[k].casefold(), _bare(system, names[k]).casefold()} & texts]
    if not found and column is None:
        found = [k for k in free if system == MOODLE and names[k] == "Grade"] or free[:2]
    if len(found) == 1:
        return found[0]
    listed = ", ".join([f"`{visible(names[k])}`" for k in free[:5]])
    if column is None:
        message = "no column is for this sheet alone"
    else:
        message = f"{'two columns are' if found else 'there is no column to fill that is'} called"
        message += f" `{visible(column)}`"
    asked = Source(column, "--column") if column else None
    raise failure("E0745", message, asked or source, (0, len(column or "")) if asked else head.span,
                  f"name one with --column: {listed}" if free else
                  "make the assignment first, then export again")


def _bare(system: str, name: str) -> str:
    """Return the name of the assignment in a column's title."""
    found = (CANVAS_TITLE if system == CANVAS else MOODLE_TITLE).fullmatch(name)
    return found[1] if found else name


def _worked_out(system: str, name: str, points: SourceRow | None, at: int) -> bool:
    """Return whether the system fills the column itself, or wants something else than points."""
    if system == GRADESCOPE:
        return GRADESCOPE_QUESTION.fullmatch(name) is not None
    if system == MOODLE:
        return NOT_POINTS.fullmatch(name) is not None or name == "Course total"
    if points is not None and at < len(points.cells):
        return "(" in points.cells[at].text    # `(read only)`, in the language of the user
    return False


def _is_points(row: SourceRow, names: Sequence[str]) -> bool:
    return "Student" in names and len(row.cells) > names.index("Student") and (
        row.cells[names.index("Student")].text.strip() == POINTS_POSSIBLE)


def _is_person(row: SourceRow, names: Sequence[str]) -> bool:
    """Return whether the row is a student's: neither empty nor one of Canvas's own in front."""
    if row.empty or _is_points(row, names):
        return False
    about = [cell.text.strip() for cell, name in zip(row.cells, names, strict=False)
             if name in {"ID", "Identifier", "ID number", "Username", "Email address",
                         "SIS User ID", "SIS Login ID", "Full name", "First name", "SID", "Email"}]
    return any(about)


def _called(row: SourceRow, names: Sequence[str]) -> str:
    texts = [cell.text.strip() for cell, name in zip(row.cells, names, strict=False)
             if name in ("Student", "Full name", "First name", "Last name", "Surname",
                         "First Name", "Last Name", "Name")]
    return " ".join(filter(None, texts)) or row.cells[0].text


def _decimal_comma(names: Sequence[str], at: int, body: Sequence[SourceRow]) -> bool:
    """Return whether numbers in the file have a decimal comma."""
    for row in body:
        for k, cell in enumerate(row.cells[:len(names)]):
            if (k == at or names[k] == MAXIMUM) and DECIMAL_COMMA.fullmatch(cell.text):
                return True
    return False


def _written(row: SourceRow, texts: Mapping[int, str], separator: str) -> str:
    """Return the row with other texts in some cells, quoted as the row is."""
    raws = [cell.raw for cell in row.cells]
    raws += [""] * (max(texts) + 1 - len(raws))
    others = [raw for k, raw in enumerate(raws) if k not in texts and raw]
    quoted = bool(others) and all(raw.startswith('"') for raw in others)
    for at, text in texts.items():
        if raws[at].startswith('"') or separator in text or '"' in text or (
                not raws[at] and quoted):
            text = '"' + text.replace('"', '""') + '"'
        raws[at] = text
    return separator.join(raws) + row.end


def _stop(row: SourceRow, separator: str) -> int:
    last = row.cells[-1]
    return last.start + len(last.raw) + len(row.end)


def _notes(sheet: Sheet, names: Sequence[str], at: int, body: Sequence[SourceRow]) -> Iterable[str]:
    most = sum([float(problem.points) for problem in sheet.problems])
    for row in body:
        most_in = next((names.index(name) for name in (MAXIMUM, "Max Points") if name in names),
                       len(row.cells))
        k = at if _is_points(row, names) else most_in
        if k < len(row.cells):
            text = row.cells[k].text.strip().replace(",", ".")
            if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) and float(text) != most:
                yield (f"the column `{visible(names[at])}` is out of {number(float(text))} points,"
                       f" the sheet out of {number(most)}")
                return
