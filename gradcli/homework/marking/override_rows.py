"""Overrides read from the rows of review.csv, from tables like it, and from earlier results."""

from __future__ import annotations

import re
from contextlib import suppress

from gradcli.base.errors import Diagnostic, GradcliError, Source, read
from gradcli.homework.handed_in.records import InputNote, Unreadable, decoded_table, read_bytes
from gradcli.homework.marking.overrides import DIGEST, EARLIER, Override, Overrides, form, key
from gradcli.homework.marking.results import opened, parse
from gradcli.homework.sheets.cells import cell as as_cell
from gradcli.homework.sheets.cells import columns, delimiter, failure, records, uncell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gradcli.homework.sheets.cells import SourceCell, SourceRow
    from gradcli.homework.sheets.sheet import Sheet

MAX_BYTES = 256 * 1024 * 1024
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)
THOUSANDS = re.compile(r",\d{3}\Z", re.ASCII)      # 1,000 where commas separate cells
LONGEST = 40        # characters of a number
COLUMNS = {"student_id": ("student",), "problem": (), "override_score": (), "comment": (),
           "answer": (), "reason": (), "digest": (), "max_score": (), "count": ()}
NEEDED = ("student_id", "problem", "override_score")


def add_from_results(found: Overrides, path: str, renamed: Mapping[str, str]) -> None:
    """Add what counted in the results in a file, as far as it can be read, but for what was taken
    back since. renamed: the ids that problems have now, by those that they had.
    """
    with suppress(GradcliError), opened(path) as file:
        for number, raw in enumerate(file, 1):
            if b'"override": null' in raw:      # in a text its quotes would have strokes
                continue
            one = parse(raw, path, number)
            given = one.override
            if given is None or (given["score"] is None and not given["comment"]):
                continue
            digest = form(one.answer, one.beside)
            problem = renamed.get(one.problem, one.problem)
            if found.emptied.isdisjoint((f"{key(problem, one.student)}-{digest}",
                                         f"{key(problem)}-{digest}")):
                found.before[one.student, problem] = Override(
                    given["score"], given["comment"], one.answer, 0, digest=digest)


def joined_overrides(paths: Iterable[str], sheet: Sheet, students: Sequence[str],
                     renamed: Mapping[str, str] | None = None, last: str | None = None
                     ) -> Overrides:
    """Read the overrides in several files; of the same answer, the first score and the first
    comment count.

    last: a list of before, of which only the rows count that the others do not have anymore.
    renamed, and raises: as `read_overrides`.
    """
    found = Overrides()
    for path in (*paths, *filter(None, (last,))):
        if path is last:
            new = _own_list(path, sheet, students, renamed, found.named())
        else:
            new = read_overrides(path, sheet, students, renamed)
            found.emptied |= new.emptied
        for where, said in new.items():
            first = found.setdefault(where, said)
            for one in (said, *said.others) if first is not said else ():
                same = next((it for it in (first, *first.others) if it.same(one) or (
                    path is last and it.of_any)), None)
                if same is None:
                    first.others.append(one)
                else:
                    _outweigh(same, one)
        for one in new.groups():
            same = found.add_shared(one.problem, one)
            if same is not None:
                _outweigh(same, one)
        found.gone += new.gone
        found.remarks += new.remarks
        if path is last:
            merged = {id(one) for it in found.every() for one in it.later}
            found.restored = [one for one in new.every() if id(one) not in merged]
    return found


def _own_list(path: str, sheet: Sheet, students: Sequence[str],
              renamed: Mapping[str, str] | None, but: Collection[str]) -> Overrides:
    """Read the list that a run keeps for itself. No advice on tables helps with that one."""
    try:
        return read_overrides(path, sheet, students, renamed, but)
    except GradcliError as problem:
        first = problem.diagnostics[0]
        raise GradcliError(Diagnostic(
            "E0740", f"the list of decisions that the last run kept is damaged: {first.message}",
            span=first.span, source=first.source,
            help="put a copy of this file back, or delete it and run again: what stands in"
                 " review.csv counts all the same")) from None


def _outweigh(first: Override, later: Override) -> None:
    first.later.append(later)
    first.score = later.score if first.score is None else first.score
    first.comment = first.comment or later.comment


def read_overrides(path: str, sheet: Sheet, students: Iterable[str],
                   renamed: Mapping[str, str] | None = None, but: Collection[str] = ()
                   ) -> Overrides:
    """Read overrides by (student, problem).

    renamed: the ids that problems have now, by those that they had.
    but: the marks of rows to pass over.

    Raises one error with all that is wrong: E0740 (no such columns, twice the same answer), E0741
    (no number), E0742 (no such student), E0743 (no such problem), E0744 (less than 0 or more than
    the problem gives); besides what `source.read` raises.
    """
    source, remark = _table(path)
    separator = delimiter(source.text)
    rows = (row for row in records(source, separator, "E0740")
            if not row.empty and row.cells[0].text.lower() != "sep=")
    head = next(rows, None)
    places = _places(head, source)
    reader = Reader(source, separator, places, sheet, students, renamed, but)
    if remark is not None and remark.startswith("not UTF-8"):
        reader.found.remarks.append(InputNote("encoding", f"{remark}: letters in comments may be"
                                              " others now; save it as CSV UTF-8", path))
    wrong: list[GradcliError] = []
    for row in rows:
        try:
            reader.read(row)
        except GradcliError as problem:
            wrong.append(problem)
    if wrong:
        raise GradcliError(*[one for problem in wrong for one in problem.diagnostics])
    return reader.found


def _table(path: str) -> tuple[Source, str | None]:
    """Return the text of a table, in whatever form and encoding a spreadsheet has saved it, and a
    remark on that.
    """
    try:
        text, remark = decoded_table(read_bytes(path, MAX_BYTES, follow=True))
    except Unreadable:
        return read(path), None     # which says what is wrong
    return Source(text, path), remark


class Reader:
    """The rows of a file, read one by one. found: what they say."""

    __slots__ = ("_but", "_ids", "_keys", "_most", "_people", "_places", "_problems", "_separator",
                 "_source", "found")

    def __init__(self, source: Source, separator: str, places: Mapping[str, int], sheet: Sheet,
                 students: Iterable[str], renamed: Mapping[str, str] | None = None,
                 but: Collection[str] = ()) -> None:
        self._source = source
        self._but = frozenset(but)
        self._separator = separator
        self._places = places
        self._most = {problem.id: float(problem.points) for problem in sheet.problems}
        self._people = KnownNames(students)
        self._ids = {**(renamed or {}), **{id: id for id in self._most}}
        self._problems = KnownNames(self._ids)
        self._keys: dict[str, tuple[str | None, str]] = {}
        self.found = Overrides()

    def read(self, row: SourceRow) -> None:
        """Parse a row, and add its override to what is found."""
        cells = {name: row.cells[at] for name, at in self._places.items() if at < len(row.cells)}
        texts = {name: cells[name].text if name in cells else "" for name in COLUMNS}
        digest = texts["digest"].strip().lower()
        known, *forms = digest.split("-") if DIGEST.fullmatch(digest) else ("",)
        where = self._where(cells, known, len(forms) > 1)
        if where is not None and known and key(where[1], where[0]) != known:
            known, forms = "", []       # a row that was copied for somebody else
            texts["answer"] = texts["reason"] = ""
        whose = known
        if where is not None:       # as it is called now
            where = where[0], self._ids[where[1]]
            whose = key(where[1], where[0])
        marks = {f"{whose}-{one}" for one in forms}
        comment = " ".join(uncell(texts["comment"]).split())
        if not texts["override_score"].strip() and not comment:
            self.found.emptied |= marks or {f"{whose}-"}    # without a digest: of any answer
        elif self._but.isdisjoint((*(marks or {whose}), f"{whose}-")):
            if where is None and not known:
                raise self._nowhere(cells)
            this = self._override(row, cells, texts, comment, where, forms)
            this.whole = "-".join([whose, *forms]) if known else ""
            if not digest:
                self._alone(this, texts["count"].strip())
            self._keep(this, where, texts["reason"].strip(), cells)

    def _alone(self, this: Override, count: str) -> None:
        """Add a remark if a row was of several students, whom its digest would name."""
        if count.isdecimal() and count != "1":
            self.found.remarks.append(InputNote(
                "alone", f"problem {this.problem}: without its `digest` the row, which was of"
                f" {count} students, counts for this one alone; save the table with that column",
                self._source.name, this.line, this.student))

    def _override(self, row: SourceRow, cells: Mapping[str, SourceCell], texts: Mapping[str, str],
                  comment: str, where: tuple[str | None, str] | None, forms: Sequence[str]
                  ) -> Override:
        score = None
        if texts["override_score"].strip():
            score = self._score(cells["override_score"],
                                None if where is None else self._most[where[1]])
        reason = texts["reason"].strip()
        answer = texts["answer"] if "answer" in cells else None
        if not answer and not reason and not forms:
            answer = None       # a row of their own, not that of a blank answer
        this = Override(score, comment, answer, self._source.position(row.start)[0],
                        reason == EARLIER, forms[0] if len(forms) == 1 else "",
                        forms if len(forms) > 1 else ())
        points = uncell(texts["max_score"]).strip().replace(",", ".")
        this.most = float(points) if NUMBER.fullmatch(points) else None
        this.student, this.problem = uncell(texts["student_id"]), uncell(texts["problem"])
        if where is not None:
            this.student, this.problem = where[0] or this.student, where[1]
        return this

    def _keep(self, this: Override, where: tuple[str | None, str] | None, reason: str,
              cells: Mapping[str, SourceCell]) -> None:
        if where is None:
            self.found.gone.append(this)
        elif where[0] is None:
            self._once(self.found.add_shared(where[1], this), this, cells)
        else:
            self._add((where[0], where[1]), this, reason, cells)

    def _add(self, where: tuple[str, str], this: Override, reason: str,
             cells: Mapping[str, SourceCell]) -> None:
        first = self.found.setdefault(where, this)
        before = next((one for one in (first, *first.others) if one is not this and (
            one.same(this) or (one.answer is None and reason != EARLIER)
            or (this.answer is None and not one.before))), None)
        self._once(before, this, cells)
        if before is None and first is not this:
            first.others.append(this)

    def _once(self, before: Override | None, this: Override, cells: Mapping[str, SourceCell]
              ) -> None:
        if before is not None and (before.score, before.comment) != (this.score, this.comment):
            raise failure("E0740", "the same answer is overridden twice", self._source,
                          cells["student_id"].span, "keep one of the rows",
                          f"and otherwise on line {before.line}")

    def _where(self, cells: Mapping[str, SourceCell], known: str, shared: bool
               ) -> tuple[str | None, str] | None:
        """Return the student (None: all who answered the same) and the problem of a row; None where
        they are not there.

        known: the key of its digest, "" without one.
        """
        student, problem = [table.meant(cells[name].text) if name in cells else [] for table, name
                            in ((self._people, "student_id"), (self._problems, "problem"))]
        if shared:
            return self._key(known, None)
        for one in student:
            for other in problem:
                if known and key(other, one) == known:
                    return one, other
        if len(student) != 1 or len(problem) != 1:
            return self._key(known, problem[0] if len(problem) == 1 else None) if known else None
        # A spreadsheet may have made one number of 0007 that is another student's, 7.
        there = self._key(known, problem[0]) if known else None
        if there is not None and there[0] is not None and _same_number(student[0], there[0]):
            return there
        return student[0], problem[0]

    def _key(self, known: str, problem: str | None) -> tuple[str | None, str] | None:
        """Return what has this key, of a problem first if one is given."""
        for id in [*([] if problem is None else [problem]), *self._ids]:
            mark = key(id)
            if mark not in self._keys:
                self._keys.update({key(id, name): (name, id) for name in self._people.all})
                self._keys[mark] = None, id
            if known in self._keys:
                return self._keys[known]
        return None

    def _nowhere(self, cells: Mapping[str, SourceCell]) -> GradcliError:
        """Return the error of a row that names nobody or nothing."""
        try:
            self._people.find(cells["student_id"], self._source, "E0742", "student",
                              "the roster or the folder")
            if "problem" not in cells:
                raise failure("E0743", "the row names no problem", self._source,
                              cells["student_id"].span, "give every row as many cells as the first")
            self._problems.find(cells["problem"], self._source, "E0743", "problem", "the sheet")
        except GradcliError as wrong:
            return wrong
        raise AssertionError

    def _score(self, cell: SourceCell, most: float | None) -> float:
        text = uncell(cell.text).strip()
        if self._separator != "," or not THOUSANDS.search(text):
            text = text.replace(",", ".")
        if len(text) > LONGEST or not NUMBER.fullmatch(text):
            raise failure("E0741", "the override is not a number", self._source, cell.span,
                          "write points, such as 0.5; leave it empty to keep the score")
        value = float(text)
        if value < 0 or (most is not None and value > most):
            raise failure("E0744", f"the problem gives from 0 to {most or 0:g} points",
                          self._source, cell.span, f"write a number up to {most or 0:g}, or change"
                          " `points` of the problem")
        return abs(value)


def _places(head: SourceRow | None, source: Source) -> dict[str, int]:
    """Return the index of each column. Raises E0740."""
    places = columns([cell.text for cell in head.cells] if head else [], COLUMNS)
    missing = [name for name in NEEDED if name not in places]
    if missing:
        raise failure("E0740", f"there is no column `{missing[0]}`", source,
                      head.span if head else (0, 0),
                      "give the review.csv of a run, filled in")
    return places


def _same_number(one: str, other: str) -> bool:
    """Return whether a spreadsheet may show both as the same number."""
    try:
        return abs(float(one) - float(other)) <= 1e-2 * abs(float(other))
    except ValueError:
        return False


class KnownNames:
    """The names that a row may mean, unchanged and as a spreadsheet gives them back."""

    __slots__ = ("_as_cells", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names}
        self._as_cells: dict[str, list[str]] = {}
        for name in self._names:
            for shown in {as_cell(name).strip(), as_cell(name, raw=True).strip()} - {name}:
                self._as_cells.setdefault(shown, []).append(name)

    @property
    def all(self) -> set[str]:
        return self._names

    def meant(self, cell: str) -> list[str]:
        """Return the names that a cell may mean."""
        for text in (cell, cell.strip()):
            if text in self._names:
                return [text]
        return self._as_cells.get(cell.strip(), [])

    def find(self, cell: SourceCell, source: Source, code: str, what: str, where: str) -> str:
        """Return the name that a cell means.

        Raises `code` if there is none, or if two look the same.

        what: noun for the message; where: the list that it should be in.
        """
        text, found = cell.text.strip(), self.meant(cell.text)
        if len(found) == 1:
            return found[0]
        if found:
            raise failure(code, f"more than one {what} looks like this", source, cell.span,
                          f"give each {what} another id")
        raise failure(code, f"there is no such {what} in {where}", source, cell.span,
                      self._help(text, what))

    def _help(self, text: str, what: str) -> str:
        import difflib

        from gradcli.render.numbers import visible

        zeros = [name for name in self._names if name.lstrip("0") == text]
        if text and len(zeros) == 1:
            return (f"did you mean `{visible(zeros[0])}`? Spreadsheets drop zeros in front:"
                    " import the column as text")
        close = [name for name in self._names if name.casefold() == text.casefold()]
        close = close or difflib.get_close_matches(
            text[:100], sorted(self._names), n=1, cutoff=0.7)
        return f"did you mean `{visible(close[0])}`?" if close else (
            f"write the id of the {what} as review.csv has it, or take the row out")
