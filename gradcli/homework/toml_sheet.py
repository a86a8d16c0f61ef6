"""Sheets in TOML."""

from __future__ import annotations

import re
import tomllib

from gradcli.errors import Diagnostic, GradcliError
from gradcli.homework.places import places
from gradcli.homework.sheet import ID, OPTIONS, Found, Sheet, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.errors import Span
    from gradcli.homework.places import Path
    from gradcli.source import Source

SCHEMA = 1
TABLES = ("schema", "sheet", "credit", "late", "problem")
HEAD = ("id", "title", "seed", *OPTIONS)
LATE = ("penalty",)
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def toml_sheet(source: Source) -> Sheet:
    """The sheet in a TOML text. Raises what `gradcli.homework.sheet.parse` does."""
    document = _document(source)
    return _Reader(source, document).sheet()


def _document(source: Source) -> dict[str, Any]:
    size = 1
    try:
        # tomllib takes no lone carriage return, and counts \r\n as one character.
        return tomllib.loads(source.text)
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
        "E0709", f"this is no TOML: {message}", source=source, span=(at, at + size), help=help))


def _offset(source: Source, line: int, column: int) -> int:
    """Where a line and column of `tomllib` are: for it \\r\\n is one character, at the end."""
    at = 0
    for _ in range(line - 1):
        at = source.text.index("\n", at) + 1
    return min(at + column - 1, len(source.text))


class _Reader:
    __slots__ = ("document", "found", "places", "source")

    def __init__(self, source: Source, document: dict[str, Any]) -> None:
        self.source = source
        self.document = document
        self.places = places(source.text)
        self.found = Found(source)

    def key(self, *path: str | int) -> Span:
        return self._place(path)[0]

    def value(self, *path: str | int) -> Span:
        return self._place(path)[1]

    def _place(self, path: Path) -> tuple[Span, Span]:
        """Of a path, or of the table that it is in."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, ((0, 0), (0, 0)))

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
        late = self._late()
        for k, fields in enumerate(self._problems()):
            self._problem(k, fields, given)
        return self.found.sheet(self._id(head), title=self._text(head, "title"), late=late,
                                seed=self._seed(head), options=defaults)

    def _version(self) -> None:
        version = self.document.get("schema", SCHEMA)
        if isinstance(version, bool) or not isinstance(version, int):
            self.found.tell("E0703", "`schema` must be a whole number", self.value("schema"),
                            f"write schema = {SCHEMA}")
        elif version != SCHEMA:
            self.found.tell(
                "E0708", f"this sheet is of version {version}, and gradcli reads version {SCHEMA}",
                self.value("schema"), "install a later gradcli" if version > SCHEMA else
                f"write schema = {SCHEMA}")

    def _table(self, name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        table = self.document.get(name, {})
        if not isinstance(table, dict):
            self.found.tell("E0703", f"`{name}` must be a table", self.value(name),
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
            read = self.found.option("credit", {name: share}, self.value("credit", name))
            if read:
                found.update(read)
        return found

    def _late(self) -> float:
        table = self._table("late", LATE)
        penalty = table.get("penalty", 0.0)
        if isinstance(penalty, bool) or not isinstance(penalty, (int, float)) \
                or not 0 <= penalty <= 1:
            self.found.tell("E0703", "`penalty` must be a share from 0 to 1",
                            self.value("late", "penalty"), "write penalty = 0.1")
            return 0.0
        return float(penalty)

    def _problems(self) -> list[Any]:
        given = self.document.get("problem", [])
        if isinstance(given, list):
            return given
        self.found.tell("E0703", "`problem` must be a list of tables", self.key("problem"),
                        "write [[problem]], with two brackets")
        return []

    def _problem(self, k: int, fields: Any, defaults: Mapping[str, Any]) -> None:
        whole = self.key("problem", k)
        if not isinstance(fields, dict):
            self.found.tell("E0703", "a problem must be a table", whole,
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
            self.found.tell("E0703", "`id` must be a text of at most 32 characters without spaces,"
                            " brackets, quotes and , ; : = #", self.value("sheet", "id"),
                            'write id = "calc1-hw3"')
        return str(id)

    def _text(self, head: Mapping[str, Any], name: str) -> str:
        text = head.get(name, "")
        if not isinstance(text, str):
            self.found.tell("E0703", f"`{name}` must be a text", self.value("sheet", name),
                            f'write {name} = "..."')
        return str(text)

    def _seed(self, head: Mapping[str, Any]) -> int | str:
        seed = head.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, (int, str)):
            self.found.tell("E0703", "`seed` must be a whole number or a text",
                            self.value("sheet", "seed"), "write seed = 7")
            return 0
        return seed
