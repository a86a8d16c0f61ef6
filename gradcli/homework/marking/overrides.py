"""The decisions that a person wrote into review.csv, read back.

An override belongs to a student, a problem and the digest of an answer; in a row that decides for
several students, to a problem and the digests of equal answers. The digest is letters, which no
spreadsheet takes for a number or a date, so it finds the answer whatever became of ids and texts on
the way, and its student, too. Any CSV file with the columns `student_id` (or `student`), `problem`,
`override_score` and perhaps `comment` will do as well: what it says is of any answer, or of the one
that it quotes. Rows with neither a score nor a comment are passed over. None is dropped: those of
earlier answers, and of students and problems that are gone, are kept for review.csv.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress

from gradcli.base.errors import GradcliError, Source, read
from gradcli.homework.handed_in.records import Unreadable, decoded_text, read_bytes
from gradcli.homework.marking.results import read_results
from gradcli.homework.sheets.cells import cell as as_cell
from gradcli.homework.sheets.cells import columns, delimiter, failure, records, uncell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gradcli.homework.marking.results import Result
    from gradcli.homework.sheets.cells import SourceCell, SourceRow
    from gradcli.homework.sheets.sheet import Sheet

MAX_BYTES = 256 * 1024 * 1024
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)
THOUSANDS = re.compile(r",\d{3}\Z", re.ASCII)      # 1,000 where commas separate cells
LONGEST = 40        # characters of a number
COLUMNS = {"student_id": ("student",), "problem": (), "override_score": (), "comment": (),
           "answer": (), "reason": (), "digest": (), "max_score": ()}
EARLIER, GONE = "earlier answer", "not in the class or the sheet"
"""The reasons of rows that count nothing: the answer is another one now, or there is none."""

NEEDED = ("student_id", "problem", "override_score")


# --------------------------------------------------------------------------------------------------
# Digests. KEY-ANSWER is of an answer of one student, KEY-VALUE-ANSWER-... of equal answers; the key
# is that of student and problem, or of the problem alone. Consonants make no words and no numbers.

LETTERS = "bcdfghjklmnpqrstvwxz"
DIGEST = re.compile(f"[{LETTERS}]{{12}}(-[{LETTERS}]{{10}})+")
MOST_EQUAL = 500        # different answers that a digest names


def _letters(count: int, *texts: str) -> str:
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(data).digest()[:8])
    found = ""
    for _ in range(count):
        number, letter = divmod(number, len(LETTERS))
        found += LETTERS[letter]
    return found


def key(problem: str, student: str | None = None) -> str:
    """Return the key of a problem, or of a student's answer to it."""
    return _letters(12, "problem", problem) if student is None else _letters(
        12, "student", problem, student)


def form(answer: str) -> str:
    """Return the digest of an answer; blanks more or less do not change it."""
    lines = [" ".join(line.split()) for line in answer.splitlines()]
    return _letters(10, "answer", "\n".join(filter(None, lines)))


def value(result: Result) -> str:
    """Return a digest that is equal for answers that are equal and of which the same is said."""
    same = form(result.answer)
    if result.fingerprint:
        same = f"values {result.fingerprint}"
    elif result.verdict == "domain":        # right where defined, and defined at as many points
        same = f"points {result.points and sorted(result.points.items())}"
    return _letters(10, "value", result.verdict, result.message or "", same)


class Override:
    """A person's decision on an answer, or on equal answers of several students.

    score: None for a comment alone.
    answer: the answer that it was given for, as review.csv shows it; None if the file does not say.
    digest: of that answer, "" if the file does not say.
    equal: the digests of values and answers of several, () for a decision on one.
    before: whether that was an earlier answer when the file was written.
    others: overrides of other answers to the same problem.
    later: overrides of the same answer in files that this one goes before.
    most: the points that the problem gave then, None if the file does not say.
    student, problem: as the file has them, where there are none such.
    whole: the digest as it stands in the file.
    """

    __slots__ = ("answer", "before", "comment", "digest", "equal", "later", "line", "most",
                 "others", "problem", "score", "student", "whole")

    def __init__(self, score: float | None, comment: str, answer: str | None, line: int,
                 before: bool = False, digest: str = "", equal: Sequence[str] = ()) -> None:
        self.score = score
        self.comment = comment
        self.answer = answer
        self.line = line
        self.before = before
        self.digest = digest
        self.equal = tuple(equal)
        self.most: float | None = None
        self.student = self.problem = self.whole = ""
        self.others: list[Override] = []
        self.later: list[Override] = []

    def other(self, answer: str) -> bool:
        """Return whether it was given for another answer than this."""
        if self.digest:
            return self.digest != form(answer)
        return self.answer is not None and self.answer not in (
            answer, as_cell(answer), as_cell(answer, raw=True))

    def same(self, that: Override) -> bool:
        """Return whether both name the same answer, or none."""
        if self.digest and that.digest:
            return self.digest == that.digest
        if self.answer is None or that.answer is None:
            return self.answer is that.answer
        return not (self.other(that.answer) and that.other(self.answer))

    def lost(self, counts: Override) -> bool:
        """Return whether it says something else than the one that counts."""
        return self.score not in (None, counts.score) or self.comment not in ("", counts.comment)


class Overrides(dict[tuple[str, str], Override]):
    """All overrides, by student and problem; several: those of equal answers, by problem and digest
    of value or answer; gone: those of students or problems that are not there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.several: dict[tuple[str, str], Override] = {}
        self.gone: list[Override] = []

    def own(self, result: Result) -> list[Override]:
        """Return the overrides of this student's answer alone."""
        return [one for one in self._said(result) if not one.other(result.answer)]

    def earlier(self, result: Result) -> list[Override]:
        """Return the overrides of other answers than this."""
        return [one for one in self._said(result) if one.other(result.answer)]

    def shared(self, result: Result) -> Override | None:
        """Return the override of all answers that are equal to this: typed alike, or of the same
        values. What else was handed in with an answer is for a person.
        """
        if not self.several or result.doubt is not None:
            return None
        return (self.several.get((result.problem, form(result.answer)))
                or self.several.get((result.problem, value(result))))

    def of(self, result: Result) -> Override | None:
        """Return what counts for an answer: what was said of it alone, then of all equal ones."""
        there, shared = self.own(result), self.shared(result)
        there += [shared] if shared is not None else []
        if not there:
            return None
        return Override(next((one.score for one in there if one.score is not None), None),
                        next((one.comment for one in there if one.comment), ""),
                        there[0].answer, there[0].line)

    def outweighed(self, result: Result) -> list[Override]:
        """Return the overrides of this answer in files that another one outweighs."""
        counts = self.of(result)
        return [] if counts is None else [
            one for there in self.own(result) for one in (there, *there.later) if one.lost(counts)]

    def of_other_points(self, result: Result) -> list[Override]:
        """Return the scores for this answer that were given of more or fewer points."""
        shared = self.shared(result)
        return [one for one in (*self.own(result), *([shared] if shared is not None else []))
                if one.score is not None and one.most not in (None, result.max)]

    def groups(self) -> list[Override]:
        """Return the overrides of several, each once."""
        return list({id(one): one for one in self.several.values()}.values())

    def add_shared(self, problem: str, this: Override) -> Override | None:
        """Add an override of equal answers; return the one of these answers that there is."""
        this.problem = problem
        first = self.several.get((problem, this.equal[0]))
        for digest in this.equal if first is None else ():
            self.several.setdefault((problem, digest), this)
        return first

    def _said(self, result: Result) -> Iterator[Override]:
        said = self.get((result.student, result.problem))
        if said is not None:
            yield said
            yield from said.others


def add_from_results(found: Overrides, path: str, sheet: Sheet, students: Sequence[str]) -> None:
    """Add the overrides that the results in a file have, as far as it can be read."""
    there = {*students}
    with suppress(GradcliError):
        for one in read_results(path):
            given = one.override
            if given is None or (given["score"] is None and not given["comment"]):
                continue
            this = Override(given["score"], given["comment"], one.answer, 0,
                            digest=form(one.answer))
            if one.student in there and one.problem in sheet.ids:
                found.setdefault((one.student, one.problem), this)
                continue
            this.student, this.problem = one.student, one.problem
            this.whole = f"{key(one.problem, one.student)}-{this.digest}"
            found.gone.append(this)


def joined_overrides(paths: Iterable[str], sheet: Sheet, students: Sequence[str]) -> Overrides:
    """Read the overrides in several files; of the same answer, the first score and the first
    comment count. Raises as `read_overrides`.
    """
    found = Overrides()
    for path in paths:
        new = read_overrides(path, sheet, students)
        for where, said in new.items():
            first = found.setdefault(where, said)
            for one in (said, *said.others) if first is not said else ():
                same = next((it for it in (first, *first.others) if it.same(one)), None)
                if same is None:
                    first.others.append(one)
                else:
                    _outweigh(same, one)
        for one in new.groups():
            same = found.add_shared(one.problem, one)
            if same is not None:
                _outweigh(same, one)
        found.gone += new.gone
    return found


def _outweigh(first: Override, later: Override) -> None:
    first.later.append(later)
    first.score = later.score if first.score is None else first.score
    first.comment = first.comment or later.comment


def read_overrides(path: str, sheet: Sheet, students: Iterable[str]) -> Overrides:
    """Read overrides by (student, problem).

    Raises one error with all that is wrong: E0740 (no such columns, twice the same answer), E0741
    (no number), E0742 (no such student), E0743 (no such problem), E0744 (less than 0 or more than
    the problem gives); besides what `source.read` raises.
    """
    source = _table(path)
    separator = delimiter(source.text)
    rows = (row for row in records(source, separator, "E0740")
            if not row.empty and row.cells[0].text.lower() != "sep=")
    head = next(rows, None)
    places = _places(head, source)
    reader = Reader(source, separator, places, sheet, students)
    wrong: list[GradcliError] = []
    for row in rows:
        try:
            reader.read(row)
        except GradcliError as problem:
            wrong.append(problem)
    if wrong:
        raise GradcliError(*[one for problem in wrong for one in problem.diagnostics])
    return reader.found


def _table(path: str) -> Source:
    """Return the text of a table, in whatever encoding a spreadsheet has saved it."""
    try:
        return Source(decoded_text(read_bytes(path, MAX_BYTES, follow=True))[0], path)
    except Unreadable:
        return read(path)       # which says what is wrong


class Reader:
    """The rows of a file, read one by one. found: what they say."""

    __slots__ = ("_keys", "_most", "_people", "_places", "_problems", "_separator", "_source",
                 "found")

    def __init__(self, source: Source, separator: str, places: Mapping[str, int], sheet: Sheet,
                 students: Iterable[str]) -> None:
        self._source = source
        self._separator = separator
        self._places = places
        self._most = {problem.id: float(problem.points) for problem in sheet.problems}
        self._people = KnownNames(students)
        self._problems = KnownNames(self._most)
        self._keys: dict[str, tuple[str | None, str]] = {}
        self.found = Overrides()

    def read(self, row: SourceRow) -> None:
        """Parse a row, and add its override to what is found."""
        cells = {name: row.cells[at] for name, at in self._places.items() if at < len(row.cells)}
        texts = {name: cells[name].text if name in cells else "" for name in COLUMNS}
        comment = " ".join(uncell(texts["comment"]).split())
        given = texts["override_score"].strip()
        if not given and not comment:
            return
        reason, digest = texts["reason"].strip(), texts["digest"].strip().lower()
        known, *forms = digest.split("-") if DIGEST.fullmatch(digest) else ("",)
        where = self._where(cells, known, len(forms) > 1)
        if where is None and not known:
            raise self._nowhere(cells)
        if where is not None and known and key(where[1], where[0]) != known:
            known, forms, reason = "", [], ""       # a row that was copied for somebody else
            texts["answer"] = ""
        most = self._most[where[1]] if where is not None else None
        score = self._score(cells["override_score"], most) if given else None
        answer = texts["answer"] if "answer" in cells else None
        if not answer and not reason and not forms:
            answer = None       # a row of their own, not that of a blank answer
        this = Override(score, comment, answer, self._source.position(row.start)[0],
                        reason == EARLIER, forms[0] if len(forms) == 1 else "",
                        forms if len(forms) > 1 else ())
        points = uncell(texts["max_score"]).strip().replace(",", ".")
        this.most = float(points) if NUMBER.fullmatch(points) else None
        this.student, this.whole = uncell(texts["student_id"]), "-".join([known, *forms])
        if where is None:
            this.problem = uncell(texts["problem"])
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
        for id in [*([] if problem is None else [problem]), *self._most]:
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
