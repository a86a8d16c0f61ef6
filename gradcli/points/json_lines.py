"""NDJSON: one object per line, of numbers and arrays of numbers.

The first object names the columns; an array `x` is the columns `x[0]`, `x[1]`, as in CSV. Later
objects may hold more, in any order. NaN and infinities are strings, as in the output.
"""

from __future__ import annotations

import json
from itertools import chain, product

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.base.lazy import np
from gradcli.points.cells import BETWEEN, texts, written
from gradcli.points.table import Excerpt, Lines, Rows, Table, failure
from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

    Object = dict[str, Any]

NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
# An integer may be longer than Python cares to read as one.
DECODER = json.JSONDecoder(parse_int=float)


class Column:
    """An element of the value of a key. shape: of the whole value."""

    __slots__ = ("index", "key", "shape")

    def __init__(self, key: str, shape: tuple[int, ...], index: tuple[int, ...]) -> None:
        self.key = key
        self.shape = shape
        self.index = index

    def of(self, item: Object) -> Any:
        """Return the element; None if there is none of this shape."""
        value = item.get(self.key)
        for length, k in zip(self.shape, self.index, strict=True):
            if not isinstance(value, list) or len(value) != length:
                return None
            value = value[k]
        return value


class JsonLines(Table):
    """The table in a stream of NDJSON."""

    __slots__ = ("_columns", "_first", "_lines", "_number", "_size")

    def __init__(self, stream: BinaryIO, name: str, total: int | None, size: int) -> None:
        self._lines = lines = Lines(stream, name)
        self._size = size
        self._number, self._first = 1, b""
        while not self._first.strip(b"\r\n"):
            self._number = lines.line
            self._first = lines.take(1)
            if lines.line == self._number:
                raise failure("E0611", f"`{name}` is empty", name,
                              'give one JSON object per line, such as {"x": 1.5}')
        item = _object(self._first.strip(b"\r\n"), name, self._number)
        if isinstance(item, Diagnostic):
            raise GradcliError(item)
        self._columns = list(chain.from_iterable(
            _columns(key, value) for key, value in item.items()))
        super().__init__(
            name, "ndjson", [numbers.indexed(c.key, c.index) for c in self._columns], total,
            "bytes")

    def blocks(self) -> Iterator[Block]:
        lines, first, number = self._lines, 0, self._number
        data = self._first + lines.take(self._size - 1)
        while data:
            count = sum([line.strip(b"\r") != b"" for line in data.split(b"\n")])
            if count:
                yield Block(self.name, self._columns, data, first, count, number, lines.done)
            first += count
            number = lines.line
            data = lines.take(self._size)

    def close(self) -> None:
        self._lines.close()


def _columns(key: str, value: Any) -> Iterator[Column]:
    shape = numbers.shape(value) if numbers.regular(value) else ()
    if 0 in shape:
        shape = ()
    for index in product(*map(range, shape)):
        yield Column(key, shape, index)


class Block:
    """Unparsed lines of the file. line: the number of the first one."""

    __slots__ = ("columns", "count", "data", "done", "first", "line", "name")

    def __init__(self, name: str, columns: Sequence[Column], data: bytes, first: int, count: int,
                 line: int, done: int) -> None:
        self.name = name
        self.columns = columns
        self.data = data
        self.first = first
        self.count = count
        self.line = line
        self.done = done

    def parse(self, wanted: Sequence[int], echo: str | None) -> Rows:
        bad: dict[int, Diagnostic] = {}
        objects = self._objects()
        found = None if objects is None else self._at_once(objects, wanted)
        if objects is None or found is None:
            objects, found, bad = self._row_by_row(wanted)
        return Rows(self.first, self.count, found, self._echo(objects, wanted, found, bad, echo),
                    bad)

    def _objects(self) -> list[Object] | None:
        """Return an object for each row; None if a line is no object and nothing else."""
        try:
            text = self.data.decode()
            lines = text.replace("\r\n", "\n").split("\n")
            pairs = [DECODER.raw_decode(line) for line in lines if line]
        except (ValueError, RecursionError):
            return None
        whole = [end for _, end in pairs] == [len(line) for line in lines if line]
        objects = [item for item, _ in pairs]
        return objects if whole and {*map(type, objects)} == {dict} else None

    def _at_once(self, objects: list[Object], wanted: Sequence[int]) -> list[Any] | None:
        """Return the wanted columns; None if there is no number where one should be."""
        arrays: dict[str, Any] = {}
        for k in wanted:
            column = self.columns[k]
            if column.key not in arrays:
                values = _elements([item.get(column.key) for item in objects], column.shape)
                if values is None:
                    return None
                arrays[column.key] = values
        return [np.ascontiguousarray(arrays[c.key][:, *c.index])
                for c in (self.columns[k] for k in wanted)]

    def _row_by_row(self, wanted: Sequence[int]) -> tuple[
            list[Object], list[Any], dict[int, Diagnostic]]:
        found = [np.full(self.count, np.nan) for _ in wanted]
        objects: list[Object] = []
        bad: dict[int, Diagnostic] = {}
        for number, line in enumerate(self.data.split(b"\n"), self.line):
            raw = line.rstrip(b"\r")
            if not raw:
                continue
            row = len(objects)
            item = _object(raw, self.name, number)
            if isinstance(item, Diagnostic):
                bad[row] = item
                item = {}
            objects.append(item)
            values = [_number(self.columns[k].of(item)) for k in wanted]
            if None not in values:
                for column, value in zip(found, values, strict=True):
                    column[row] = value
            elif row not in bad:
                wrong = self.columns[wanted[values.index(None)]]
                bad[row] = _no_number(raw.decode(), self.name, number, wrong, item)
        return objects, found, bad

    def _echo(self, objects: list[Object], wanted: Sequence[int], found: list[Any],
              bad: dict[int, Diagnostic], echo: str | None) -> list[Any] | None:
        if echo is None:
            return None
        given: dict[int, Any] = dict(zip(wanted, found, strict=True))
        columns = []
        for k, column in enumerate(self.columns):
            if echo not in BETWEEN:
                columns.append(given[k] if k in given else [_text(column.of(o)) for o in objects])
            elif k in given:
                cells = texts(given[k])
                for row in bad:
                    cells[row], = written([_text(column.of(objects[row]))], echo)
                columns.append(cells)
            else:
                columns.append(written([_text(column.of(item)) for item in objects], echo))
        if echo not in BETWEEN:
            return columns
        return list(map(BETWEEN[echo].join, zip(*columns, strict=True)))


def _elements(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return arrays of one shape as float64 [rows, shape]; None if one of them is none."""
    count = len(values)
    for length in shape:
        if {*map(type, values)} != {list} or {*map(len, values)} != {length}:
            return None
        values = list(chain.from_iterable(values))
    if {*map(type, values)} != {float}:
        try:
            values = [value if type(value) is float else NOT_FINITE[value] for value in values]
        except (KeyError, TypeError):
            return None
    return np.array(values, float).reshape(count, *shape)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return NOT_FINITE.get(value)
    return value if isinstance(value, float) else None


def _text(value: Any) -> str:
    return "" if value is None else numbers.exact(value)


def _object(raw: bytes, name: str, line: int) -> Object | Diagnostic:
    """Return the object in a line, or its diagnostic."""
    text = raw.decode("utf-8", "replace")
    at, message = 0, "the line is not a JSON object"
    try:
        raw.decode()
        item = DECODER.decode(text)
        if isinstance(item, dict):
            return item
    except json.JSONDecodeError as problem:
        at = problem.pos
        message = f"the line is not JSON: {problem.msg[0].lower()}{problem.msg[1:]}"
    except UnicodeDecodeError as problem:
        at = len(raw[:problem.start].decode())
        return Diagnostic(
            "E0603", f"byte 0x{raw[problem.start]:02x} is not UTF-8 text", span=(at, at + 1),
            source=Excerpt(text, name, line), help="save the file as UTF-8")
    except RecursionError:
        message = "the line is nested too deeply"
    return Diagnostic("E0612", message, span=(at, at + 1), source=Excerpt(text, name, line),
                      help='give one JSON object per line, such as {"x": 1.5}')


def _no_number(text: str, name: str, line: int, column: Column, item: Object) -> Diagnostic:
    title = numbers.indexed(column.key, column.index)
    if column.key not in item:
        return Diagnostic("E0612", f"the object has no `{column.key}`", span=(0, len(text)),
                          source=Excerpt(text, name, line),
                          help="give every object the keys of the first")
    # Where its value stands: after the key, as it would be written.
    key = json.dumps(column.key, ensure_ascii=False)
    at = text.find(key)
    start, stop = 0, len(text)
    if at >= 0:
        start = at + len(key)
        while text[start:start + 1] in (" ", "\t", ":"):
            start += 1
        try:
            stop = DECODER.raw_decode(text, start)[1]
        except ValueError:
            start, stop = at, at + len(key)
    value = item[column.key]
    if column.shape and numbers.shape(value) != column.shape:
        wanted = " x ".join(map(str, column.shape))
        return Diagnostic(
            "E0612", f"`{column.key}` is no array of {wanted} numbers", span=(start, stop),
            source=Excerpt(text, name, line), help="give all objects arrays of one shape")
    return Diagnostic(
        "E0612", f"`{title}` is not a number", span=(start, stop), source=Excerpt(text, name, line),
        help='write a number, or "NaN" where there is none')
