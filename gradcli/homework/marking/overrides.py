"""The overrides that a person wrote into review.csv, read back.

Any CSV file with the columns `student_id` (or `student`), `problem`, `override_score` and perhaps
`comment` will do; spreadsheets may have written it with semicolons and decimal commas. Rows with
neither a score nor a comment are passed over. Of one problem there may be several where they say
that they belong to different answers: overrides of earlier answers are kept.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError, read
from gradcli.homework.sheets.cells import cell as as_cell
from gradcli.homework.sheets.cells import delimiter, failure, records, uncell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcli.base.errors import Source
    from gradcli.homework.sheets.cells import SourceCell, SourceRow
    from gradcli.homework.sheets.sheet import Sheet

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE)
THOUSANDS = re.compile(r",\d{3}\Z", re.ASCII)      # 1,000 where commas separate cells
LONGEST = 40        # characters of a number
COLUMNS = {"student": ("student_id", "student"), "problem": ("problem",),
           "score": ("override_score",), "comment": ("comment",), "answer": ("answer",),
           "reason": ("reason",)}
EARLIER = "earlier answer"
"""The reason of a row that counts nothing, since the answer is another one now."""

NEEDED = ("student", "problem", "score")


class Override:
    """A person's decision on an answer.

    score: None for a comment alone.
    answer: the answer that it was given for, as review.csv shows it; None if the file does not say.
    before: whether that was an earlier answer when the file was written.
    others: overrides of other answers to the same problem.
    later: overrides of the same answer in files that this one goes before.
    """

    __slots__ = ("answer", "before", "comment", "later", "line", "others", "score")

    def __init__(self, score: float | None, comment: str, answer: str | None, line: int,
                 before: bool = False) -> None:
        self.score = score
        self.comment = comment
        self.answer = answer
        self.line = line
        self.before = before
        self.others: list[Override] = []
        self.later: list[Override] = []

    def of(self, answer: str) -> Override | None:
        """Return the override of this answer, None if there is none."""
        there = [one for one in (self, *self.others) if not one.other(answer)]
        if not there:
            return None
        return Override(next((one.score for one in there if one.score is not None), None),
                        next((one.comment for one in there if one.comment), ""),
                        there[0].answer, there[0].line)

    def earlier(self, answer: str) -> list[Override]:
        """Return the overrides of other answers than this."""
        return [one for one in (self, *self.others) if one.other(answer)]

    def outweighed(self, answer: str) -> list[Override]:
        """Return the overrides of this answer that another one outweighs."""
        counts = self.of(answer)
        return [one for there in (self, *self.others) if not there.other(answer)
                for one in (there, *there.later) if counts is not None and (
                    one.score not in (None, counts.score)
                    or one.comment not in ("", counts.comment))]

    def other(self, answer: str) -> bool:
        """Return whether it was given for another answer than this."""
        return self.answer is not None and self.answer not in (
            answer, as_cell(answer), as_cell(answer, raw=True))

    def same(self, that: Override) -> bool:
        """Return whether both name the same answer, or none."""
        if self.answer is None or that.answer is None:
            return self.answer is that.answer
        return not (self.other(that.answer) and that.other(self.answer))


def joined_overrides(paths: Iterable[str], sheet: Sheet, students: Sequence[str]
                     ) -> dict[tuple[str, str], Override]:
    """Read the overrides in several files; of the same answer, the first score and the first
    comment count. Raises as `read_overrides`.
    """
    found: dict[tuple[str, str], Override] = {}
    for path in paths:
        for key, said in read_overrides(path, sheet, students).items():
            first = found.setdefault(key, said)
            for one in (said, *said.others) if first is not said else ():
                same = next((it for it in (first, *first.others) if it.same(one)), None)
                if same is None:
                    first.others.append(one)
                else:
                    same.later.append(one)
                    same.score = one.score if same.score is None else same.score
                    same.comment = same.comment or one.comment
    return found


def read_overrides(path: str, sheet: Sheet, students: Iterable[str]
                   ) -> dict[tuple[str, str], Override]:
    """Read overrides by (student, problem).

    Raises one error with all that is wrong: E0740 (no such columns, twice the same answer), E0741
    (no number), E0742 (no such student), E0743 (no such problem), E0744 (less than 0 or more than
    the problem gives); besides what `source.read` raises.
    """
    source = read(path)
    separator = delimiter(source.text)
    rows = (row for row in records(source, separator, "E0740") if not row.empty)
    head = next(rows, None)
    places = _places(head, source)
    people = KnownNames(students)
    problems = KnownNames(problem.id for problem in sheet.problems)
    most = {problem.id: float(problem.points) for problem in sheet.problems}
    found: dict[tuple[str, str], Override] = {}
    wrong: list[GradcliError] = []
    for row in rows:
        try:
            _read(row, places, source, separator, people, problems, most, found)
        except GradcliError as problem:
            wrong.append(problem)
    if wrong:
        raise GradcliError(*[one for problem in wrong for one in problem.diagnostics])
    return found


def _read(row: SourceRow, places: Mapping[str, int], source: Source, separator: str,
          people: KnownNames, problems: KnownNames, most: Mapping[str, float],
          found: dict[tuple[str, str], Override]
          ) -> None:
    """Parse one row, and add its override to `found`.

    places: index of each column.
    people, problems: the known names.
    most: points of each problem.
    """
    cells = {name: row.cells[at] for name, at in places.items() if at < len(row.cells)}
    comment = " ".join(uncell(cells["comment"].text).split()) if "comment" in cells else ""
    given = cells["score"].text.strip() if "score" in cells else ""
    if not given and not comment:
        return
    student = people.find(cells["student"], source, "E0742", "student", "the roster or the folder")
    if "problem" not in cells:
        raise failure("E0743", "the row names no problem", source, cells["student"].span,
                      "give every row as many cells as the first")
    problem = problems.find(cells["problem"], source, "E0743", "problem", "the sheet")
    score = _score(cells["score"], source, separator, most[problem]) if given else None
    line = source.position(row.start)[0]
    answer = cells["answer"].text if "answer" in cells else None
    reason = cells["reason"].text.strip() if "reason" in cells else ""
    if not answer and not reason:
        answer = None       # a row of their own, not that of a blank answer
    this = Override(score, comment, answer, line, reason == EARLIER)
    first = found.setdefault((student, problem), this)
    before = next((one for one in (first, *first.others) if one is not this and (
        one.answer == answer or (one.answer is None and reason != EARLIER)
        or (answer is None and not one.before))), None)
    if before is not None and (before.score, before.comment) != (score, comment):
        raise failure("E0740", "the same answer is overridden twice", source,
                      cells["student"].span, "keep one of the rows",
                      f"and otherwise on line {before.line}")
    if before is None and first is not this:
        first.others.append(this)


def _places(head: SourceRow | None, source: Source) -> dict[str, int]:
    """Return the index of each column. Raises E0740."""
    names = [cell.text.strip().lower() for cell in head.cells] if head else []
    places = {key: names.index(name) for key, known in COLUMNS.items()
              for name in known[::-1] if name in names}
    missing = [COLUMNS[key][0] for key in NEEDED if key not in places]
    if missing:
        raise failure("E0740", f"there is no column `{missing[0]}`", source,
                      head.span if head else (0, 0),
                      "give the review.csv of a run, filled in")
    return places


def _score(cell: SourceCell, source: Source, separator: str, most: float) -> float:
    text = uncell(cell.text).strip()
    if separator != "," or not THOUSANDS.search(text):
        text = text.replace(",", ".")
    if len(text) > LONGEST or not NUMBER.fullmatch(text):
        raise failure("E0741", "the override is not a number", source, cell.span,
                      "write points, such as 0.5; leave it empty to keep the score")
    value = float(text)
    if not 0 <= value <= most:
        raise failure("E0744", f"the problem gives from 0 to {most:g} points", source, cell.span,
                      f"write a number up to {most:g}, or change `points` of the problem")
    return abs(value)


class KnownNames:
    """The names that a row may mean, unchanged and as a spreadsheet gives them back."""

    __slots__ = ("_as_cells", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names}
        self._as_cells: dict[str, list[str]] = {}
        for name in self._names:
            for shown in {as_cell(name).strip(), as_cell(name, raw=True).strip()} - {name}:
                self._as_cells.setdefault(shown, []).append(name)

    def find(self, cell: SourceCell, source: Source, code: str, what: str, where: str) -> str:
        """Return the name that a cell means.

        Raises `code` if there is none, or if two look the same.

        what: noun for the message; where: the list that it should be in.
        """
        text = cell.text if cell.text in self._names else cell.text.strip()
        if text in self._names:
            return text
        found = self._as_cells.get(text, [])
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
