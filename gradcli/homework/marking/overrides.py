"""The decisions that a person wrote into review.csv.

An override belongs to a student, a problem and the digest of an answer; in a row that decides for
several students, to a problem and the digests of equal answers. The digest is letters, which no
spreadsheet takes for a number or a date, so it finds the answer whatever became of ids and texts on
the way, and its student, too. What else was handed in with an answer, a photo, say, is a part of
it. Any CSV file with the columns `student_id` (or `student`), `problem`, `override_score` and
perhaps `comment` will do as well: what it says is of any answer, or of the one that it quotes.

None is dropped: those of earlier answers, and of students and problems that are gone, are kept for
review.csv. A row with neither a score nor a comment takes back what it said before; a row that
somebody took out does not.
"""

from __future__ import annotations

import hashlib
import re

from gradcli.homework.sheets.cells import cell as as_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcli.homework.handed_in.records import InputNote
    from gradcli.homework.marking.results import Result

EARLIER, GONE = "earlier answer", "not in the class or the sheet"
"""The reasons of rows that count nothing: the answer is another one now, or there is none."""


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


def form(answer: str, beside: str | None = None) -> str:
    """Return the digest of an answer; blanks more or less do not change it.

    beside: a digest of what was handed in with it and cannot be read.
    """
    lines = [" ".join(line.split()) for line in answer.splitlines()]
    return _letters(10, "answer", "\n".join(filter(None, lines)), *filter(None, (beside,)))


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
    student, problem: whose it is, as the file has them where there are none such.
    whole: the digest as it stands in the file, "" without one.
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

    @property
    def marks(self) -> set[str]:
        """Return the digests that it names, one by one; the key alone where it names none."""
        whose, *forms = (self.whole or key(self.problem, self.student)).split("-")
        return {f"{whose}-{one}" for one in forms} or {whose}

    @property
    def of_any(self) -> bool:
        """Return whether it is of any answer."""
        return self.answer is None and not self.digest

    def other(self, answer: str, beside: str | None = None) -> bool:
        """Return whether it was given for another answer than this."""
        if self.digest:
            return self.digest != form(answer, beside)
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
    """All overrides, by student and problem.

    several: those of equal answers, by problem and digest of value or answer.
    gone: those of students or problems that are not there.
    before: what counted in the run before, by student and problem.
    emptied: the marks of rows in which nothing is written.
    restored: those whose rows somebody took out.
    remarks: what a file may have lost on its way.
    """

    def __init__(self) -> None:
        super().__init__()
        self.several: dict[tuple[str, str], Override] = {}
        self.gone: list[Override] = []
        self.before: dict[tuple[str, str], Override] = {}
        self.emptied: set[str] = set()
        self.restored: list[Override] = []
        self.remarks: list[InputNote] = []

    def every(self) -> Iterator[Override]:
        """Yield all that stand in the files."""
        for said in self.values():
            yield said
            yield from said.others
        yield from self.groups()
        yield from self.gone

    def told(self) -> set[tuple[str, str]]:
        """Return the students and problems that an override names, or that one counted for."""
        return {*self, *self.before}

    def named(self) -> set[str]:
        """Return the marks of all rows, also of those in which nothing is written."""
        return self.emptied.union(*[one.marks for one in self.every()])

    def own(self, result: Result) -> list[Override]:
        """Return the overrides of this student's answer alone."""
        return [one for one in self._said(result) if not one.other(result.answer, result.beside)]

    def earlier(self, result: Result) -> list[Override]:
        """Return the overrides of other answers than this, also what a row for several said."""
        there = [one for one in self._said(result) if one.other(result.answer, result.beside)]
        before = self.before.get((result.student, result.problem))
        if before is not None and before.other(result.answer, result.beside) and not any(
                one.same(before) for one in there):
            there.append(before)
        return there

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
