"""The answers in the text of one file: lines, pages, tables and JSON; and whose the file is."""

from __future__ import annotations

import html
import json
import re

from gradcli.base.errors import GradcliError, Source
from gradcli.homework.handed_in.layouts import parse as parse
from gradcli.homework.handed_in.records import ClassTable, Parsed, Unreadable, short
from gradcli.homework.handed_in.words import is_no_answer
from gradcli.homework.sheets.cells import STUDENT, columns, delimiter, fitted, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gradcli.homework.handed_in.labels import Ids
    from gradcli.homework.sheets.cells import SourceRow


# --------------------------------------------------------------------------------------------------
# What students write into the editor of a web page, as plain text.
#
# `html.parser` takes minutes for some texts of 64 KiB; here every character is looked at once.

# Elements that begin and end a line.
BLOCKS = frozenset(
    "address article blockquote br dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre section table td"
    " th tr ul".split())
LISTS = {"ol": "enumerate", "ul": "itemize"}
UNSEEN = frozenset("head script style template title".split())
STRUCK = frozenset("del s strike".split())
_SHOWN = re.compile(r"<(?:math|img)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,30})")


def plain(page: str) -> str:
    """Return the text of a page in HTML; raised letters are powers: x<sup>2</sup> is x^(2). Lists
    are those of LaTeX. A heading that is the title of the page is the system's, not the student's.
    """
    title = page.partition("<title>")[2].partition("</title>")[0]
    if title.strip():
        page = page.replace(f"<h1>{title}</h1>", "", 1)
    if _SHOWN.search(page):
        from gradcli.homework.handed_in.documents import typeset

        page = typeset(page)
    parts: list[str] = []
    unseen: str | None = None
    for closing, name, data in _pieces(page):
        if unseen is not None:
            if not (closing and name == unseen):
                continue
            unseen = None
        elif name in UNSEEN and not closing:
            unseen = name
            continue
        if name in BLOCKS:
            parts.append("\n")
            if name in LISTS:
                parts.append(f"\\{'end' if closing else 'begin'}{{{LISTS[name]}}}\n")
            elif name == "li" and not closing:
                parts.append("\\item{} ")
        elif name == "sup":
            parts.append(")" if closing else "^(")
        elif name == "sub" and not closing:
            parts.append("_")
        elif name in STRUCK and not closing:
            parts.append("\\struckout?")     # for a person, as in documents
        parts.append(html.unescape(data).replace("\n", " ").replace("\xa0", " "))
    return "\n".join([" ".join(line.split()) for line in "".join(parts).split("\n")])


def _pieces(page: str) -> list[tuple[bool, str, str]]:
    """Return (whether it closes, element's name, text behind the tag) for each tag; the first has
    none.
    """
    found = []
    closing, name, start, at = False, "", 0, 0
    ends = True     # whether there is another end of a comment
    while (at := page.find("<", at)) >= 0:
        tag = _TAG.match(page, at)
        if tag is None and not page.startswith(("<!", "<?"), at):
            at += 1
            continue
        end = page.find(">", at)
        if ends and page.startswith("<!--", at):
            behind = page.find("-->", at)
            ends = behind >= 0
            end = behind + 2 if ends else end
        if end < 0:
            break
        found.append((closing, name, page[start:at]))
        closing, name = (tag[1] == "/", tag[2].lower()) if tag else (False, "")
        start = at = end + 1
    found.append((closing, name, page[start:]))
    return found


# --------------------------------------------------------------------------------------------------
# Answers in a table or in JSON.

TITLES = {"problem": ("id", "question", "exercise", "task", "problem id", "question id", "aufgabe"),
          "answer": ("response", "solution", "antwort")}


def csv_answers(text: str, ids: Ids) -> Parsed:
    """Parse CSV: two columns `problem,answer`, with or without these titles; or a row of ids with a
    row of answers below. An answer with commas and without quotes is taken as one. Raises
    `Unreadable`, `ClassTable` where a column names several students.
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

    def in_columns(row: SourceRow, last: int | None) -> list[str]:
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
            _add(parsed, cells[known["problem"]], cells[known["answer"]],
                 source.position(row.start)[0])
    elif len(table) == 2 and len(titles) > 1 and sum(
            [ids.find(t) is not None for t in titles]) > len(titles) // 2:
        line = source.position(table[1].start)[0]
        for title, answer in zip(titles, in_columns(table[1], None), strict=True):
            _add(parsed, title, answer, line)
    else:
        for row in table:
            first, *rest = [cell.text for cell in row.cells]
            line = source.position(row.start)[0]
            if rest or ids.find(first) is not None:
                _add(parsed, first, separator.join(rest), line)
            else:
                _add(parsed, "", first, line)
    return parsed


def _add(parsed: Parsed, written: str, answer: str, line: int | None) -> None:
    """Add an answer; what names no problem is noted, unless it is surely no answer: Name, Ann."""
    if answer.strip() and parsed.ids.find(written) is None and is_no_answer(f"{written}: {answer}"):
        parsed.note("skipped", f"`{short(written)}` names no problem", line)
    else:
        parsed.add(written, answer, line)


def json_answers(text: str, ids: Ids) -> Parsed:
    """Parse {"1a": "2x"}, {"student": "s1", "answers": {...}} or [{"problem": "1a", "answer":
    "2x"}].

    Numbers are kept as they are typed; lists are vectors. Raises `Unreadable`.
    """
    try:
        return _of_document(text, ids, json.loads(
            text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=JsonObject))
    except RecursionError:
        raise Unreadable("no JSON: brackets are nested too deeply") from None
    except ValueError as problem:
        raise Unreadable(f"no JSON: {str(problem)[:100]}") from None


READERS: dict[str, Callable[[str, Ids], Parsed]] = {
    ".csv": csv_answers, ".tsv": csv_answers, ".json": json_answers}


def _of_document(text: str, ids: Ids, document: Any) -> Parsed:
    parsed = Parsed(ids)
    if isinstance(document, JsonObject):
        named = dict(document.pairs)
        if isinstance(named.get("student"), str):
            parsed.student = named["student"]
        inner = named.get("answers")
        if isinstance(inner, (JsonObject, list)):
            for id, answer in document.pairs:
                if id not in ("student", "answers"):
                    _add(parsed, id, typed(answer), _line(text, id))
            document = inner
    if isinstance(document, JsonObject):
        for id, answer in document.pairs:
            if id != "student" or ids.find(id) is not None:
                _add(parsed, id, typed(answer), _line(text, id))
    elif isinstance(document, list):
        objects = [dict(entry.pairs) if isinstance(entry, JsonObject) else {} for entry in document]
        names = [fields["student"] for fields in objects if isinstance(fields.get("student"), str)]
        parsed.student = one_student(names) or parsed.student
        for fields in objects:
            if not isinstance(fields.get("problem"), str) or "answer" not in fields:
                raise Unreadable('no answers: write [{"problem": "1a", "answer": "2x"}]')
            _add(parsed, fields["problem"], typed(fields["answer"]), None)
    else:
        raise Unreadable('no answers: write {"1a": "2x"}')
    return parsed


def one_student(names: Iterable[str]) -> str | None:
    """Return the one name of a student; None if nobody is named. Raises `ClassTable`."""
    several = list(dict.fromkeys([name.strip() for name in names if name.strip()]))
    if len(several) > 1:
        raise ClassTable(f"it holds answers of several students: {short(several[0])},"
                         f" {short(several[1])}{', ...' if several[2:] else ''}")
    return several[0] if several else None


class JsonObject:
    """A JSON object with all its keys, repeated ones too."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def typed(answer: Any) -> str:
    """Return an answer as text: an object is no answer, but shown as one that cannot be read."""
    if answer is None or isinstance(answer, bool):
        return "" if answer is None else str(answer).lower()
    if isinstance(answer, list):
        return f"[{', '.join([typed(part) for part in answer])}]"
    if isinstance(answer, JsonObject):
        return f"{{{', '.join([f'{name}: {typed(part)}' for name, part in answer.pairs])}}}"
    return str(answer)


def _line(text: str, id: str) -> int | None:
    at = text.find(json.dumps(id))
    return text.count("\n", 0, at) + 1 if at >= 0 else None
