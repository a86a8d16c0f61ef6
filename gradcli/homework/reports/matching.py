"""The students of the rows in a learning management system's export.

A student is looked for by number, login and e-mail, and only if none of these finds anybody by
name. A student with two rows, or with a row that somebody else has, is reported and left alone: a
mark in a wrong row is worse than none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcli.homework.handed_in.records import Student

    # Columns of the export (several make one text), what they hold of a student, and whether
    # capitals matter.
    MatchRule = tuple[tuple[str, ...], Callable[[Student], str], bool]

CANVAS: tuple[MatchRule, ...] = (
    (("ID",), lambda s: s.lms, True),
    (("SIS User ID",), lambda s: s.id, True),
    (("SIS Login ID",), lambda s: s.id, False),
    (("ID",), lambda s: s.id, True),
    (("SIS Login ID",), lambda s: s.email, False),
    (("SIS User ID",), lambda s: s.email, False),
)
CANVAS_NAMES: tuple[MatchRule, ...] = ((("Student",), lambda s: _joined(
    ", ", s.last_name, s.first_name), False),)

# Moodle compares e-mail addresses letter by letter when it imports.
MOODLE: tuple[MatchRule, ...] = (
    (("Identifier",), lambda s: f"Participant {s.lms}" if s.lms else "", True),
    (("ID number",), lambda s: s.id, True),
    (("Username",), lambda s: s.id, True),
    (("Email address",), lambda s: s.email, True),
    (("Email address",), lambda s: s.id, True),
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
