"""The answers in the text of one file: lines, pages, tables and JSON; and whose the file is."""

from __future__ import annotations

import html
import json
import re

from gradcli.base.errors import GradcliError, Source
from gradcli.homework.handed_in.equations import unread
from gradcli.homework.handed_in.layouts import parse as parse
from gradcli.homework.handed_in.records import ClassTable, Parsed, Unreadable, answer_in, short
from gradcli.homework.handed_in.words import is_about_student, is_no_answer
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
BUTTONS = frozenset("submit button reset hidden image file".split())
# What is seen of these no text tells; and attributes that scripts make formulas of.
EMBEDDED = frozenset("select object embed iframe canvas video audio applet".split())
_DATA = re.compile(r"\sdata-(?:latex|tex|math|formula|equation|value|asciimath|mathml)\w*\s*=\s*"
                   r"[\"']?[^\"'\s]", re.IGNORECASE)
# Texts that do not look as they read.
STYLES = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in (
    ("struckout", r"\sstyle\s*=[^>]*line-through"),
    ("hidden", r"\sstyle\s*=[^>]*(?:display\s*:\s*none|visibility\s*:\s*hidden)|"
     r"\shidden(?=[\s=/]|$)"),
    ("picture", r"\sstyle\s*=[^>]*url\("))}
_ATTRIBUTE = re.compile(r"([A-Za-z-]{1,40})(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_SHOWN = re.compile(r"<(?:math|img)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,30})")


def page_answers(page: str, ids: Ids) -> Parsed:
    """Parse the text of a page in HTML."""
    comments: list[str] = []
    parsed = parse(plain(page, comments), ids)
    for one in comments:
        parsed.leave(one, "in a comment")
    return parsed


def plain(page: str, comments: list[str] | None = None) -> str:
    """Return the text of a page in HTML; raised letters are powers: x<sup>2</sup> is x^(2). Lists
    are those of LaTeX. A heading that is the title of the page is the system's, not the student's.
    comments: receives those of the page.
    """
    title = page.partition("<title>")[2].partition("</title>")[0]
    if title.strip():
        page = page.replace(f"<h1>{title}</h1>", "", 1)
    if _SHOWN.search(page):
        from gradcli.homework.handed_in.documents import typeset

        page = typeset(page)
    parts: list[str] = []
    unseen: str | None = None
    for closing, name, inside, data in _pieces(page):
        if unseen is not None:
            if not (closing and name == unseen):
                continue
            unseen = None
        elif name in UNSEEN and not closing:
            unseen = name
            if "math/" in inside:       # of a page with formulas by scripts that was saved
                parts.append(unread("equation"))
            continue
        if name == "!--" and comments is not None and inside[:1] != "[":
            comments.append(inside)
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
        if name and not closing:
            parts.append(_shown(name, inside, not data.strip()))
        parts.append(html.unescape(data).replace("\n", " ").replace("\xa0", " "))
    return "\n".join([" ".join(line.split()) for line in "".join(parts).split("\n")])


def _shown(name: str, inside: str, empty: bool) -> str:
    """Return what an element shows that is not text in it: the value of a field, and for a person
    what only a browser makes. inside: its tag, behind the name; empty: whether it has no text.
    """
    if name == "input":
        fields = {found[1].lower(): html.unescape(found[2] or found[3] or found[4] or "")
                  for found in _ATTRIBUTE.finditer(inside)}
        kind = fields.get("type", "text").lower()
        if kind in ("checkbox", "radio"):
            return unread(kind) if "checked" in fields else ""
        return "" if kind in BUTTONS else f" {fields.get('value', '')} "
    if name in EMBEDDED or (empty and (name == "a" or _DATA.search(inside))):
        return unread(name)
    return "".join([unread(what) for what, styled in STYLES.items() if styled.search(inside)])


def _pieces(page: str) -> list[tuple[bool, str, str, str]]:
    """Return (whether it closes, element's name, the rest of the tag, text behind it) for each tag;
    the first has none. A comment is called !--.
    """
    found = []
    closing, name, inside, start, at = False, "", "", 0, 0
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
        found.append((closing, name, inside, page[start:at]))
        if tag:
            closing, name, inside = tag[1] == "/", tag[2].lower(), page[tag.end():end]
        else:
            closing, name = False, page[at + 1:at + 4] if page.startswith("<!--", at) else ""
            inside = page[at + 4:end - 2]
        start = at = end + 1
    found.append((closing, name, inside, page[start:]))
    return found


# --------------------------------------------------------------------------------------------------
# Answers in a table or in JSON.

TITLES = {"problem": ("id", "question", "exercise", "task", "problem id", "question id", "aufgabe"),
          "answer": ("response", "solution", "antwort")}
_ID = re.compile(r"\s*[\w.()-]{0,12}\s*")
# Titles of what systems and teachers write beside an answer.
SCORES = re.compile(r"\b(?:scores?|points|grade|marks?|total|result|state|status|time|duration|"
                    r"started|completed|attempt|feedback|browser|ip)\b", re.IGNORECASE)


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
        others = [k for k, title in enumerate(titles) if k != whose
                  and k not in (known["problem"], known["answer"]) and not SCORES.search(title)]
        for row in table[1:]:
            cells = in_columns(row, known["answer"])
            line = source.position(row.start)[0]
            _add(parsed, cells[known["problem"]], answer_in(cells[known["answer"]]), line)
            for k in others:
                parsed.leave(cells[k], f"below `{short(titles[k])}`", line)
    elif len(table) == 2 and len(titles) > 1 and sum(
            [ids.find(t) is not None for t in titles]) > len(titles) // 2:
        line = source.position(table[1].start)[0]
        for title, answer in zip(titles, in_columns(table[1], None), strict=True):
            _add(parsed, title, answer_in(answer), line)
    else:
        for row in table:
            first, *rest = [cell.text for cell in row.cells]
            line = source.position(row.start)[0]
            if rest or ids.find(first) is not None:
                _add(parsed, first, answer_in(separator.join(rest)), line)
            else:
                _add(parsed, "", first, line)
    return parsed


def _add(parsed: Parsed, written: str, answer: str, line: int | None) -> None:
    """Add an answer; what names no problem is noted, unless it is surely no answer: Name, Ann."""
    if not answer.strip() and not _ID.fullmatch(written):
        parsed.leave(written, "without an answer", line)
    if answer.strip() and parsed.ids.find(written) is None and (
            is_no_answer(answer) or is_about_student(f"{written}: {answer}")):
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
            inner = answer.pairs if isinstance(answer, JsonObject) and ids.find(id) is None else ()
            if inner and all(ids.find(f"{id} {part}") for part, _ in inner):    # {"1": {"a": ...}}
                for part, one in inner:
                    _add(parsed, f"{id} {part}", typed(one), _line(text, part))
            elif id != "student" or ids.find(id) is not None:
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
