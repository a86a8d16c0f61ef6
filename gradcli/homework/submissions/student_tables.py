"""The answers of one student as CSV or JSON."""

from __future__ import annotations

import json

from gradcli.errors import GradcliError
from gradcli.homework.columns import STUDENT, columns
from gradcli.homework.separated import delimiter, fitted, records
from gradcli.homework.submissions.parsed import Ids, Parsed, short
from gradcli.homework.submissions.records import OfSeveral, Unreadable
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gradcli.homework.separated import Record

TITLES = {"problem": ("id", "question", "exercise", "task", "problem id", "question id", "aufgabe"),
          "answer": ("response", "solution", "antwort")}


def csv_answers(text: str, ids: Ids) -> Parsed:
    """Two columns `problem,answer`, with or without these titles; or a row of ids with a row of
    answers below. An answer with commas and without quotes is taken as one. Raises `Unreadable`,
    `OfSeveral` where a column names several students.
    """
    source = Source(text)
    parsed = Parsed(ids)
    separator = delimiter(text)
    try:
        table = [record for record in records(source, separator, "E0709") if not record.empty]
    except GradcliError as failure:
        line = source.position(failure.span[0])[0] if failure.span else 0
        raise Unreadable(f"no CSV: {failure.message}, in line {line}") from None
    if not table:
        return parsed
    titles = [cell.text for cell in table[0].cells]

    def in_columns(row: Record, last: int | None) -> list[str]:
        try:
            return fitted(row, len(titles), source, last, "E0709")
        except GradcliError as failure:
            line = source.position(row.start)[0]
            raise Unreadable(f"{failure.message}, in line {line}") from None

    known = columns(titles, TITLES)
    long = "problem" in known and "answer" in known
    whose = columns(titles, STUDENT).get("student")
    if long and whose == known["problem"]:      # `id` is a title of either
        whose = None
    if whose is not None and (long or any(map(ids.find, titles))):
        parsed.student = one_student([row.cells[whose].text for row in table[1:]
                                      if whose < len(row.cells)])
    if long:
        for row in table[1:]:
            cells = in_columns(row, known["answer"])
            parsed.add(cells[known["problem"]], cells[known["answer"]],
                       source.position(row.start)[0])
    elif len(table) == 2 and len(titles) > 1 and sum(
            [ids.find(t) is not None for t in titles]) > len(titles) // 2:
        line = source.position(table[1].start)[0]
        for title, answer in zip(titles, in_columns(table[1], None), strict=True):
            parsed.add(title, answer, line)
    else:
        for row in table:
            first, *rest = [cell.text for cell in row.cells]
            parsed.add(first, separator.join(rest), source.position(row.start)[0])
    return parsed


def json_answers(text: str, ids: Ids) -> Parsed:
    """{"1a": "2x"}, {"student": "s1", "answers": {...}} or [{"problem": "1a", "answer": "2x"}].

    Numbers are kept as they are typed; lists are vectors. Raises `Unreadable`.
    """
    try:
        return _of_document(text, ids, json.loads(
            text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=Pairs))
    except RecursionError:
        raise Unreadable("no JSON: brackets are nested too deeply") from None
    except ValueError as problem:
        raise Unreadable(f"no JSON: {str(problem)[:100]}") from None


READERS: dict[str, Callable[[str, Ids], Parsed]] = {
    ".csv": csv_answers, ".tsv": csv_answers, ".json": json_answers}


def _of_document(text: str, ids: Ids, document: Any) -> Parsed:
    parsed = Parsed(ids)
    if isinstance(document, Pairs):
        named = dict(document.pairs)
        if isinstance(named.get("student"), str):
            parsed.student = named["student"]
        inner = named.get("answers")
        if isinstance(inner, (Pairs, list)):
            document = inner
    if isinstance(document, Pairs):
        for id, answer in document.pairs:
            if id != "student" or ids.find(id) is not None:
                parsed.add(id, typed(answer), _line(text, id))
    elif isinstance(document, list):
        objects = [dict(entry.pairs) if isinstance(entry, Pairs) else {} for entry in document]
        names = [fields["student"] for fields in objects if isinstance(fields.get("student"), str)]
        parsed.student = one_student(names) or parsed.student
        for fields in objects:
            if not isinstance(fields.get("problem"), str) or "answer" not in fields:
                raise Unreadable('no answers: write [{"problem": "1a", "answer": "2x"}]')
            parsed.add(fields["problem"], typed(fields["answer"]), None)
    else:
        raise Unreadable('no answers: write {"1a": "2x"}')
    return parsed


def one_student(names: Iterable[str]) -> str | None:
    """Whose answers these are; None if nobody is named. Raises `OfSeveral`."""
    several = list(dict.fromkeys([name.strip() for name in names if name.strip()]))
    if len(several) > 1:
        raise OfSeveral(f"it holds answers of several students: {short(several[0])},"
                        f" {short(several[1])}{', ...' if several[2:] else ''}")
    return several[0] if several else None


class Pairs:
    """An object with all its keys, those that come twice too."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def typed(answer: Any) -> str:
    """An answer as text: an object is no answer, but shown as one that cannot be read."""
    if answer is None or isinstance(answer, bool):
        return "" if answer is None else str(answer).lower()
    if isinstance(answer, list):
        return f"[{', '.join([typed(part) for part in answer])}]"
    if isinstance(answer, Pairs):
        return f"{{{', '.join([f'{name}: {typed(part)}' for name, part in answer.pairs])}}}"
    return str(answer)


def _line(text: str, id: str) -> int | None:
    at = text.find(json.dumps(id))
    return text.count("\n", 0, at) + 1 if at >= 0 else None
