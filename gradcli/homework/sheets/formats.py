"""The file formats of sheets: TOML, CSV and lists."""

from __future__ import annotations

import os
import re
import tomllib
from datetime import timedelta

from gradcli.base.errors import Diagnostic, GradcliError, Source, read, split
from gradcli.homework.checking.fields import in_cells, in_list
from gradcli.homework.checking.problem import DEFAULTS
from gradcli.homework.sheets.cells import delimiter, folded, records
from gradcli.homework.sheets.deadline import ATTEMPTS, LAST, Deadline, due_time, extension, span
from gradcli.homework.sheets.places import spans
from gradcli.homework.sheets.sheet import ID, OPTIONS, Sheet, SheetProblems, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo
    from typing import Any, BinaryIO

    from gradcli.base.errors import Source, Span
    from gradcli.homework.sheets.cells import SourceCell
    from gradcli.homework.sheets.places import KeyPath

SCHEMA = 1
MAX_BYTES = 1024 * 1024
TABLES = ("schema", "sheet", "credit", "late", "problem")
HEAD = ("id", "title", "seed", "attempt", *OPTIONS)
LATE = ("penalty", "due", "timezone", "grace", "extensions")
# TOML wants the seconds of a time.
_MINUTES = re.compile(r"^(\s*[\w\"'@.+-]+\s*=\s*\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d)"
                      r"(?=\s*(?:Z|[+-]\d\d:\d\d)?\s*(?:#.*)?$)", re.MULTILINE)
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def toml_sheet(source: Source) -> Sheet:
    """Parse a sheet in TOML. Raises what `parse` does."""
    document = _document(source)
    return _TomlReader(source, document).sheet()


def _document(source: Source) -> dict[str, Any]:
    size = 1
    try:
        # tomllib takes no lone carriage return, and counts \r\n as one character.
        return tomllib.loads(_MINUTES.sub(r"\1:00", source.text))
    except tomllib.TOMLDecodeError as problem:
        message, help = str(problem), "see https://toml.io for what TOML looks like"
        at = len(source.text)
        found = _AT.search(message)
        if found:
            message = message[:found.start()]
            if found[1]:
                at = _offset(source, int(found[1]), int(found[2]))
        line = source.line(source.position(at)[0])
        if re.search(r'^\s*\w+\s*=\s*[^"\'\[{\d\s+-]', line):
            help = 'texts stand in quotes, such as function = "x^2"'
            size = max(1, len(line.rstrip()) - source.position(at)[1] + 1)
        message = re.sub(r"(?i)\b(?:invalid|illegal)\b", "unexpected", message)
        message = message[:1].lower() + message[1:]
    except RecursionError:
        message, help, at = "brackets are nested too deeply", "write fewer brackets", 0
    except ValueError as problem:       # a number of thousands of digits
        message, help, at = f"a number cannot be read: {str(problem)[:100]}", "shorten it", 0
    raise GradcliError(Diagnostic(
        "E0709", f"this is not TOML: {message}", source=source, span=(at, at + size), help=help))


def _offset(source: Source, line: int, column: int) -> int:
    r"""Return the offset of a line and column of `tomllib`, for which \r\n is one character."""
    at = 0
    for _ in range(line - 1):
        at = source.text.index("\n", at) + 1
    return min(at + column - 1, len(source.text))


class _TomlReader:
    __slots__ = ("document", "found", "source", "spans")

    def __init__(self, source: Source, document: dict[str, Any]) -> None:
        self.source = source
        self.document = document
        self.spans = spans(source.text)
        self.found = SheetProblems(source)

    def key(self, *path: str | int) -> Span:
        return self._place(path)[0]

    def value(self, *path: str | int) -> Span:
        return self._place(path)[1]

    def _place(self, path: KeyPath) -> tuple[Span, Span]:
        """Return the spans of name and value of a path, or of the table that it is in; of several
        tables of a name, of the first.
        """
        if (*path, 0) in self.spans and path not in self.spans:
            path = (*path, 0)
        while path and path not in self.spans:
            path = path[:-1]
        return self.spans.get(path, ((0, 0), (0, 0)))

    def sheet(self) -> Sheet:
        self._version()
        for name in self.document:
            if name not in TABLES:
                self.found.unknown("table", name, self.key(name), TABLES)
        head = self._table("sheet", HEAD)
        defaults = {}
        for name in OPTIONS:
            if name in head:
                value = self.found.option(name, head[name], self.value("sheet", name))
                if value is not None:
                    defaults[name] = value
        credit = self._credit()
        given = {**defaults, "credit": credit} if credit else defaults
        late = self._table("late", LATE)
        penalty, deadline = self._penalty(late), self._deadline(late)
        for k, fields in enumerate(self._problems()):
            self._problem(k, fields, given)
        return self.found.sheet(self._id(head), title=self._text(head, "title"), late=penalty,
                                seed=self._seed(head), options=defaults, deadline=deadline,
                                attempt=self._attempt(head))

    def _version(self) -> None:
        version = self.document.get("schema", SCHEMA)
        if isinstance(version, bool) or not isinstance(version, int):
            self.found.report("E0703", "`schema` must be a whole number", self.value("schema"),
                              f"write schema = {SCHEMA}")
        elif version != SCHEMA:
            self.found.report(
                "E0708", f"this sheet is of version {version}, and gradcli reads version {SCHEMA}",
                self.value("schema"), "install a later gradcli" if version > SCHEMA else
                f"write schema = {SCHEMA}")

    def _table(self, name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        table = self.document.get(name, {})
        if not isinstance(table, dict):
            self.found.report("E0703", f"`{name}` must be a table", self.value(name),
                              f"write [{name}], and below it its keys")
            return {}
        for key in table:
            if key not in known:
                self.found.unknown(f"key of [{name}]", key, self.key(name, key), known)
        return table

    def _credit(self) -> dict[str, float]:
        table = self.document.get("credit", {})
        if not isinstance(table, dict):
            self._table("credit", ())
            return {}
        found = {}
        for name, share in table.items():
            place = self.value("credit", name)
            good = type(share) in (int, float) and 0 <= share <= 1
            read = self.found.option("credit", {name: share if good else 0.0}, place)
            if read and not good:
                self.found.report("E0703", f"`{name}` must be a share from 0 to 1", place,
                                  f"write {name} = 0.5")
            if read:
                found.update(read)
        return found

    def _penalty(self, table: Mapping[str, Any]) -> float:
        penalty = table.get("penalty", 0.0)
        if isinstance(penalty, bool) or not isinstance(penalty, (int, float)) \
                or not 0 <= penalty <= 1:
            self.found.report("E0703", "`penalty` must be a share from 0 to 1",
                              self.value("late", "penalty"), "write penalty = 0.1")
            return 0.0
        return float(penalty)

    def _deadline(self, table: Mapping[str, Any]) -> Deadline:
        due = self._due("due", table.get("due"), self.value("late", "due"))
        grace = self._grace(table.get("grace", "0 s"))
        given = table.get("extensions", {})
        if not isinstance(given, (dict, str)):
            self.found.report("E0703", "`extensions` must be a table, or the name of a CSV file",
                              self.value("late", "extensions"), "write [late.extensions], and"
                              " below it s1234567 = 2026-11-27T23:59")
        extensions = {name: extension(value) for name, value in given.items()} if isinstance(
            given, dict) else {}
        for name, value in extensions.items():
            if value is None:
                self._due(name, "", self.value("late", "extensions", name))
        return Deadline(due, self._zone(table.get("timezone")), grace, {
            name: value for name, value in extensions.items() if value is not None},
            given if isinstance(given, str) else None)

    def _due(self, name: str, value: Any, place: Span) -> datetime | None:
        found = due_time(value)
        if value is not None and found is None:
            self.found.report("E0703", f"`{name}` must be a time", place,
                              f"write {name} = 2026-11-20T23:59")
        return found

    def _grace(self, value: Any) -> timedelta:
        found = span(value) if isinstance(value, str) else None
        if found is None:
            self.found.report("E0703", "`grace` must be a text such as `15 min` or `2 h`",
                              self.value("late", "grace"), 'write grace = "15 min"')
        return found or timedelta(0)

    def _zone(self, name: Any) -> tzinfo | None:
        if name is None:
            return None
        from zoneinfo import ZoneInfo

        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, TypeError, OSError):
            self.found.report("E0703", "`timezone` must be the name of one, as the IANA writes it",
                              self.value("late", "timezone"), 'write timezone = "Europe/Berlin"')
            return None

    def _attempt(self, head: Mapping[str, Any]) -> str:
        attempt = head.get("attempt", LAST)
        if attempt not in ATTEMPTS:
            self.found.report("E0703", f"`attempt` must be one of {', '.join(ATTEMPTS)}",
                              self.value("sheet", "attempt"), 'write attempt = "last"')
        return str(attempt)

    def _problems(self) -> list[Any]:
        given = self.document.get("problem", [])
        if isinstance(given, list):
            return given
        self.found.report("E0703", "`problem` must be a list of tables", self.key("problem"),
                          "write [[problem]], with two brackets")
        return []

    def _problem(self, k: int, fields: Any, defaults: Mapping[str, Any]) -> None:
        whole = self.key("problem", k)
        if not isinstance(fields, dict):
            self.found.report("E0703", "a problem must be a table", whole,
                              "write [[problem]], and below it its fields")
            return
        if isinstance(fields.get("credit"), dict) and "credit" in defaults:
            fields = {**fields, "credit": {**defaults["credit"], **fields["credit"]}}
        self.found.add(fields, defaults, whole,
                       {name: self.key("problem", k, name) for name in fields},
                       {name: self.value("problem", k, name) for name in fields})

    def _id(self, head: Mapping[str, Any]) -> str:
        id = head.get("id", stem(self.source.name))
        if "id" in head and (not isinstance(id, str) or not ID.fullmatch(id)):
            self.found.report("E0703", "`id` must be a text of at most 32 characters without"
                              " spaces, brackets, quotes and , ; : = #", self.value("sheet", "id"),
                              'write id = "calc1-hw3"')
        return str(id)

    def _text(self, head: Mapping[str, Any], name: str) -> str:
        text = head.get(name, "")
        if not isinstance(text, str):
            self.found.report("E0703", f"`{name}` must be a text", self.value("sheet", name),
                              f'write {name} = "..."')
        return str(text)

    def _seed(self, head: Mapping[str, Any]) -> int | str:
        seed = head.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, (int, str)):
            self.found.report("E0703", "`seed` must be a whole number or a text",
                              self.value("sheet", "seed"), "write seed = 7")
            return 0
        return seed


# --------------------------------------------------------------------------------------------------
# Sheets without tables: CSV whose columns are fields, and lists of `id: function`.

FLAGS = ("hidden", "real_roots", "decimal_comma", "normalize", "unit_required")
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
NUMBERS = ("points", "rtol")
# Fields with several texts, which semicolons part.
SEVERAL = ("accept", "variants")
_ENTRY = re.compile(r"\s*([^\s:]{1,32})\s*:(.*)")


def csv_sheet(source: Source) -> Sheet:
    """Parse a sheet in CSV, a row for each problem: `id,function,wrt,points`, and other fields."""
    found = SheetProblems(source, in_cells)
    table = [record.cells for record in records(source, delimiter(source.text), "E0709")
             if not record.empty]
    if not table:
        return found.sheet(stem(source.name))
    header = [folded(cell.text).replace(" ", "_") for cell in table[0]]
    for name, cell in zip(header, table[0], strict=True):
        if name not in DEFAULTS:
            found.unknown("field", cell.text, cell.span, DEFAULTS)
        elif header.count(name) > 1:
            found.report("E0706", f"there are two columns `{name}`", cell.span, "leave one out")
    for needed in ("id", "function"):
        if needed not in header and not found.wrong:
            found.report("E0702", f"the column `{needed}` is missing",
                         (table[0][0].start, table[0][-1].span[1]),
                         "begin with the row id,function,wrt,points")
    if not found.wrong:
        for row in table[1:]:
            _row(found, header, row)
    return found.sheet(stem(source.name))


def _row(found: SheetProblems, header: list[str], row: list[SourceCell]) -> None:
    whole = row[0].start, row[-1].start + len(row[-1].raw)
    if len(row) > len(header):
        found.report("E0709", f"this row has {len(row)} cells, and the first row {len(header)}",
                     (row[len(header)].start, whole[1]),
                     'put texts with commas in quotes: "[x, y]"')
        return
    fields: dict[str, Any] = {}
    spans = {}
    for name, cell in zip(header, row, strict=False):
        text = cell.text.strip()
        if text:
            fields[name] = _plain(name, text)
            spans[name] = cell.span
    found.add(fields, {}, whole, spans, spans)


def _plain(name: str, text: str) -> Any:
    """Return the value of a cell for a field; `from_fields` refuses what is left as a text."""
    if name in FLAGS:
        return TRUTHS.get(text.lower(), text)
    if name == "order" and text.isdecimal() and len(text) < 4:
        return int(text)
    if name in SEVERAL:
        return [part.strip() for part in text.split(";") if part.strip()]
    if name in NUMBERS:
        try:
            return float(text)
        except ValueError:
            return text
    if name == "credit":
        return dict(part.partition("=")[::2] for part in split(text.replace(" ", "")))
    return text


def list_sheet(source: Source) -> Sheet:
    """Parse a sheet of lines, `1a: x^2 sin(x)`.

    Empty lines and those that begin with # are skipped.
    """
    found = SheetProblems(source, in_list)
    at = 0
    for line in source.text.split("\n"):
        entry = _ENTRY.fullmatch(line.rstrip("\r"))
        bare = line.strip()
        if not bare or bare.startswith("#"):
            pass
        elif entry is None:
            start = at + line.index(bare)
            found.report("E0709", "a problem is missing its id" if ":" not in line else
                         "this is not a problem", (start, start + len(bare)),
                         "write id: function, such as 1a: x^2 sin(x)")
        else:
            spans = {"id": (at + entry.start(1), at + entry.end(1))}
            function = entry[2].strip()
            if function:
                start = at + entry.start(2) + entry[2].index(function)
                spans["function"] = start, start + len(function)
            found.add({"id": entry[1], **({"function": function} if function else {})}, {},
                      (at, at + len(line)), spans, spans)
        at += len(line) + 1
    return found.sheet(stem(source.name))


def open_sheet(path: str, stdin: BinaryIO | None = None) -> Sheet:
    """Open the sheet in a file, or on `stdin` for the path "-".

    Raises what `gradcli.base.errors.read` does, E0707 where the sheet is too large, and what
    `parse` raises.
    """
    if path != "-" and os.path.isfile(path) and os.path.getsize(path) > MAX_BYTES:
        raise _too_large(Source("", path))
    try:
        source = read(path, stdin)
    except GradcliError as failure:
        if failure.code == "E0601" and "did you mean" not in (failure.help or ""):
            failure.diagnostics[0].help = "give a problem sheet: a file such as hw.toml or hw.csv"
        raise
    return parse(source.text, source.name)


def parse(text: str, name: str) -> Sheet:
    """Parse the text of a sheet.

    name: its file, whose ending distinguishes CSV and lists from TOML.

    Raises E0701 (no such field, table or choice), E0702 (missing), E0703 (of another type), E0706
    (an id twice), E0707 (too large), E0708 (of a later version) and E0709 (cannot be read), with
    all that was found as diagnostics, each with its location.
    """
    source = Source(text, name)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise _too_large(Source("", name))
    ending = os.path.splitext(name)[1].lower()
    if ending in (".csv", ".tsv"):
        return csv_sheet(source)
    if ending == ".toml" or re.search(r"^\s*\[\[? *(?:problem|sheet)", text, re.MULTILINE):
        return toml_sheet(source)
    return list_sheet(source)


def _too_large(source: Source) -> GradcliError:
    return GradcliError(Diagnostic(
        "E0707", f"`{source.name}` is larger than {MAX_BYTES // 1024 ** 2} MiB", source=source,
        span=(0, 0), help="split the sheet"))
