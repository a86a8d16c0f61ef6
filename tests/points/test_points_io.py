"""Rows in and rows out of `--points`: against the csv and json modules, NumPy and pyarrow, in
blocks of all sizes, and with everything that can be wrong with a file.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import pickle
import re
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import folded
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.points.cells import json_texts, texts
from gradcli.points.files import open_table
from gradcli.points.ranges import is_range, ranges
from gradcli.points.table import Rows, Table
from gradcli.points.writing import output
from gradcli.render import machine as as_json
from gradcli.render import messages, numbers

TEXT_FORMATS = ("csv", "tsv", "plain", "markdown", "ndjson", "json")
SIZES = (1, 2, 3, 5, 1000)


class Trickle(io.RawIOBase):
    """A pipe that brings a few bytes at a time."""

    def __init__(self, data: bytes, step: int = 3) -> None:
        self.data = data
        self.step = step
        self.at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.data[self.at:self.at + min(self.step, len(buffer))]
        buffer[:len(part)] = part
        self.at += len(part)
        return len(part)


def table(data: bytes | str, format: str | None = "csv", size: int = 1000) -> Table:
    raw = data.encode() if isinstance(data, str) else data
    return open_table("-", format, io.BytesIO(raw), size)


def parsed(found: Table, echo: str | None = None, wanted: Sequence[int] | None = None
           ) -> list[Rows]:
    """All blocks, each sent through pickle, as workers get and return them."""
    places = range(len(found.names)) if wanted is None else wanted
    rows = []
    for block in found.blocks():
        sent = pickle.loads(pickle.dumps(block))
        rows.append(pickle.loads(pickle.dumps(sent.parse(places, echo))))
    return rows


def columns(found: Table, wanted: Sequence[int] | None = None) -> list[list[float]]:
    """All columns as lists, and no bad rows."""
    places = range(len(found.names)) if wanted is None else wanted
    rows = parsed(found, None, places)
    assert not any(r.bad for r in rows)
    return [[x for r in rows for x in r.columns[k].tolist()] for k in range(len(places))]


def problems(found: Table, wanted: Sequence[int] | None = None) -> list[Diagnostic]:
    return [d for r in parsed(found, None, wanted) for _, d in sorted(r.bad.items())]


def written(found: Table, format: str, on_error: str = "null",
            wanted: Sequence[int] | None = None) -> bytes:
    """Everything, with the sum of the columns and a missing gradient as answers."""
    places = range(len(found.names)) if wanted is None else wanted
    out = pickle.loads(pickle.dumps(output(
        format, found, places, ["f", "df/dx[0,1]"], on_error, {"command": "grad", "file": "e"})))
    stream = io.BytesIO()
    sink = out.sink(stream)
    for rows in parsed(found, out.echo, places):
        total = np.zeros(rows.count) + sum(rows.columns)
        sink.write(out.piece(rows, [total, None], rows.bad))
    sink.close()
    return stream.getvalue()


def told(problem: Diagnostic) -> tuple[str, int, int]:
    """Code, line and column."""
    assert problem.source is not None
    assert problem.span is not None
    assert messages.render([problem]).count("\n") >= 2
    return (problem.code, *problem.source.position(problem.span[0]))


# --- numbers as text --------------------------------------------------------------------------

@given(st.lists(st.floats(), max_size=8))
@example([0.0, -0.0, 5e-324, 1e16, 1e-5, 123456789012345680.0, 1e22, 1e300])
def test_numbers_are_written_as_everywhere(values: list[float]) -> None:
    array = np.array(values)
    assert texts(array) == [numbers.exact(v).encode() for v in values]
    assert json_texts(array) == [as_json.dump(v).encode() for v in values]


def test_numbers_of_other_types() -> None:
    for array in (np.array([1, -2]), np.array([True, False]), np.array([1 + 2j]),
                  np.array([1.5, None, math.inf], object), np.array([0.5], np.float32)):
        assert texts(array) == [numbers.exact(v).encode() for v in array.tolist()]
        assert json_texts(array) == [as_json.dump(v).encode() for v in array.tolist()]


# --- CSV and TSV ------------------------------------------------------------------------------

def whole_rows(text: str, separator: str) -> list[list[str]]:
    """What the csv module reads."""
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]


# Pieces that meet in all ways: quotes that open, close, are doubled, stand inside a cell.
PIECES = st.lists(st.sampled_from(
    ["1", "2.5", "a", "é", " ", '"', '""', ",", "\t", "\n", "\r\n", '"a"', '"1,2"', '"\n"']),
    max_size=30).map("".join)


@given(PIECES, st.sampled_from(SIZES), st.sampled_from(["csv", "tsv"]))
@example('"a"b"c,1\n', 1, "csv")
@example('a"b,"c\nd"\n', 2, "csv")
@example('"a""b""",2\n', 1, "csv")
def test_cells_are_those_of_the_csv_module(text: str, size: int, format: str) -> None:
    separator = "," if format == "csv" else "\t"
    data = f"n{separator}m\n{text}"
    # A sentinel tells whether a quote is open at the end, which the module does not mind.
    end = "" if data.endswith("\n") else "\n"
    if whole_rows(f"{data}{end}x\n", separator)[-1] != ["x"]:
        with pytest.raises(GradcliError, match="never closed"):
            parsed(table(data, format, size))
        return
    expected = whole_rows(data, separator)[1:]
    found = parsed(table(data, format, size), "arrow", [])
    assert sum(r.count for r in found) == len(expected)
    cells = [row for r in found for row in zip(*r.echo or (), strict=True)]
    bad = {r.first + k for r in found for k in r.bad}
    assert bad == {k for k, row in enumerate(expected) if len(row) != 2}
    for k, row in enumerate(expected):
        if k not in bad:
            assert list(cells[k]) == row


BYTES = st.lists(st.one_of(
    st.binary(max_size=4), st.sampled_from(
        [b"x,y\n", b"1,2\n", b'"', b'{"x":1}\n', b"\r", b"\r\n", b"\xef\xbb\xbf", b"nan", b"\0",
         b"1e5", b"[", b"{", b'""', b"_", b'"a,\n"', b",", b"\n"])), max_size=25).map(b"".join)


HEADS = {"csv": b'x,"y"\n', "tsv": b"x\ty\n", "ndjson": b'{"x": 1, "y": 2}\n'}


@given(st.one_of(PIECES.map(str.encode), BYTES), st.sampled_from([*HEADS]),
       st.sampled_from([*TEXT_FORMATS, "arrow"]), st.sampled_from(["skip", "null"]),
       st.integers(1, 7))
@example(b"1,2\n,\n1,2,3\n\n1\n1_0,2\n", "csv", "csv", "null", 1)
@example(b'1\r,2\r\n"a",2\n3,4\r', "csv", "csv", "null", 1)
def test_the_size_of_blocks_and_chunks_does_not_show(
        text: bytes, given: str, format: str, on_error: str, step: int) -> None:
    data = HEADS[given] + text + b'\n1,"2"\n3,4'
    found: set[bytes | str] = set()
    for size in SIZES:
        for stream in (io.BytesIO(data), Trickle(data, step)):
            try:
                got = written(open_table("-", given, stream, size),  # type: ignore[arg-type]
                              format, on_error)
                if format == "arrow":   # the file has as many batches as there are blocks
                    got = repr(ipc.open_file(got).read_all().to_pydict()).encode()
                found.add(got)
            except GradcliError as problem:
                found.add(messages.render(problem.diagnostics))
    assert len(found) == 1


@given(st.lists(st.tuples(*[st.floats(allow_nan=False)] * 3), max_size=20),
       st.sampled_from(SIZES), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_floats_come_back_to_the_last_bit(
        rows: list[tuple[float, float, float]], size: int, end: str, quoted: bool) -> None:
    cell = '"{!r}"' if quoted else "{!r}"
    data = end.join(["x,y,z", *[",".join(map(cell.format, row)) for row in rows]])
    found = columns(table(data, "csv", size))
    assert struct.pack(f"{3 * len(rows)}d", *[v for c in found for v in c]) == struct.pack(
        f"{3 * len(rows)}d", *[v for c in zip(*rows, strict=True) for v in c])


@pytest.mark.parametrize(("cell", "value"), [
    ("1", 1.0), (" 1.5 ", 1.5), ("+2", 2.0), ("-.5e-3", -0.5e-3), ("1e999", math.inf),
    ("nan", math.nan), ("NaN", math.nan), ("inf", math.inf), ("-Infinity", -math.inf),
    ('"7"', 7.0), ("1_0", None), ("", None), (" ", None), ("1 2", None), ("0x10", None),
    ("١", None), ("１", None), ("1\0", None), ("1,5", None), ("true", None), ("None", None)])
def test_what_is_a_number(cell: str, value: float | None) -> None:
    # Alone in its block, and beside a row that sends the block through the other reading.
    for other in ("1,2\n", "1\n"):
        found, = parsed(table(f"x,y\n0,{cell}\n{other}"))
        if value is None:
            assert math.isnan(found.columns[1][0])
            assert found.bad[0].code == "E0612"
        else:
            np.testing.assert_array_equal(found.columns[1][:1], [value])
            assert 0 not in found.bad


@folded
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("text", "places"), [
    ("x,y\n1,2\n\n3,abc\n", [("E0612", 4, 3)]),
    ("x,y\r\n1,2\r\n\r\n3,\r\n", [("E0612", 4, 3)]),
    ("\ufeffx,y\n1\n1,2,3,4\n", [("E0612", 2, 2), ("E0612", 3, 5)]),
    ('s,x\n"a\nb",1\n"c\nd",q\n', [("E0612", 5, 4)]),
    ("s,x\né日,q\n", [("E0612", 2, 4)]),
    ("\n\nx,y\n1,2\n,2\n", [("E0612", 5, 1)]),
    ("x,y\n1_000,2\n", [("E0612", 2, 1)]),
    ('x,y\n"1",""\n', [("E0612", 2, 5)])])
def test_bad_rows_know_their_place_in_the_file(
        text: str, places: list[tuple[str, int, int]], size: int) -> None:
    found = table(text, "csv", size)
    wanted = [found.names.index(name) for name in found.names if name != "s"]
    assert [told(d) for d in problems(found, wanted)] == places


def test_a_bad_row_is_shown_with_its_line() -> None:
    problem, = problems(table("x,y\n1,2\n3,4x\n"))
    assert messages.render([problem]) == (
        "error[E0612]: `4x` is not a number\n"
        "  --> <stdin>:3:3\n"
        "   |\n"
        " 3 | 3,4x\n"
        "   |   ^^ column `y`\n"
        "   |\n"
        "   = help: write a number, or nan where there is none\n")


def test_columns_that_are_not_wanted_may_hold_anything() -> None:
    data = 'id,x,note\na_1,1.5,\nb,2.5,"é, ""x"""\n'
    assert columns(table(data), [1]) == [[1.5, 2.5]]
    assert written(table(data), "csv", wanted=[1]).decode() == (
        'id,x,note,f,"df/dx[0,1]"\na_1,1.5,,1.5,None\nb,2.5,"é, ""x""",2.5,None\n')


def test_bytes_that_are_no_utf_8_are_an_error_of_their_row() -> None:
    data = b"s,x\na,1\n\xe9,2\nb,3\n"
    found = problems(table(data), [1])
    assert [told(d) for d in found] == [("E0603", 3, 1)]
    assert written(table(data), "csv", "null", [1]).splitlines()[2] == b"\xe9,2,,"


def test_names_are_trimmed_and_may_be_empty_or_twice() -> None:
    found = table(' x ,,"a b",y,y\n1,2,3,4,5\n')
    assert found.names == ["x", "", "a b", "y", "y"]
    assert (found.position("x"), found.position("z")) == (0, None)
    with pytest.raises(GradcliError, match="two columns are called `y`"):
        found.position("y")
    assert found.header(None) == found.header("csv") == ' x ,,"a b",y,y'
    assert found.header("tsv") == "x\t\ta b\ty\ty"


@pytest.mark.parametrize(("data", "code", "message"), [
    (b"", "E0611", "is empty"), (b"\n\r\n\n", "E0611", "is empty"),
    (b"\xef\xbb\xbf", "E0611", "is empty"),
    (b"1,2\n3,4\n", "E0612", "row of numbers"), (b"x\0y,z\n1,2\n", "E0604", "NUL"),
    (b"x,y\r1,2\r3,4\r", "E0612", "carriage return"), (b'x,"y\n1,2\n', "E0612", "never closed"),
    (b"\xff\xfex\0\n\0", "E0603", "not UTF-8"), (b"\0\0\0\0", "E0604", "NUL")])
def test_a_table_without_names(data: bytes, code: str, message: str) -> None:
    with pytest.raises(GradcliError, match=message) as caught:
        table(data)
    assert caught.value.code == code
    assert messages.render(caught.value.diagnostics)


def test_a_header_alone_has_no_rows() -> None:
    for text in ("x,y", "x,y\n", "x,y\r\n\r\n"):
        assert parsed(table(text)) == []
        assert written(table(text), "csv") == b'x,y,f,"df/dx[0,1]"\n'
        assert json.loads(written(table(text), "json"))["points"] == []
        assert written(table(text), "ndjson") == b""


def test_a_quote_that_is_never_closed() -> None:
    with pytest.raises(GradcliError, match="never closed") as caught:
        parsed(table("x,y\n1,2\n3,4\n5,\"6\n" + "7,8\n" * 50, "csv", 2))
    assert told(caught.value.diagnostics[0]) == ("E0612", 4, 3)


def test_rows_are_handed_on_when_they_are_there() -> None:
    class Once(Trickle):
        def readinto(self, buffer: Any) -> int:
            count = super().readinto(buffer)
            assert count, "it was read further than was asked for"
            return count

    blocks = open_table("-", None, Once(b"x\n1\n2\n3\n4\n", 2), 2).blocks()  # type: ignore[arg-type]
    for expected in ([1.0, 2.0], [3.0, 4.0]):
        assert next(blocks).parse([0], None).columns[0].tolist() == expected


def test_a_line_without_end_is_refused() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    for format in ("csv", "ndjson"):
        with pytest.raises(GradcliError, match="16 MiB") as caught:
            open_table("-", format, Endless(), 10)     # type: ignore[arg-type]
        assert caught.value.code == "E0602"
    found = table(b"x\n1\n" + b"2" * 20_000_000)
    with pytest.raises(GradcliError, match="16 MiB"):
        parsed(found)


def test_a_long_line_is_one_row() -> None:
    data = b"x,y\n" + b"1" * 200_000 + b",2\n3," + b"q" * 200_000 + b"\n"
    for size in (1, 2):
        rows = parsed(table(data, "csv", size))
        assert rows[0].columns[0][0] == math.inf
        problem, = [d for r in rows for d in r.bad.values()]
        assert told(problem) == ("E0612", 3, 3)
        assert len(problem.message) < 100


def test_progress_is_counted_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("x\ty\n1\t2\n\n3\t4\n")
    with open_table(str(path), None, None, 1) as found:
        assert (found.format, found.unit, found.total) == ("tsv", "bytes", path.stat().st_size)
        assert [block.done for block in found.blocks()][-1] == found.total
    assert table("x\n1\n").total is None


# --- NDJSON -----------------------------------------------------------------------------------

VALUES = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3),
    st.lists(st.floats(), max_size=2), st.sampled_from(["NaN", "Infinity", "-Infinity"]))


def number(value: Any) -> float | None:
    """What counts as a number in JSON."""
    if type(value) in (int, float):
        return float(value)
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value) if isinstance(
        value, str) else None


@given(st.lists(st.dictionaries(st.sampled_from(["x", "y", "z"]), VALUES), max_size=6),
       st.sampled_from(SIZES))
def test_objects_are_those_of_the_json_module(rows: list[dict[str, Any]], size: int) -> None:
    text = "".join([json.dumps(row) + "\n" for row in [{"x": 1, "y": 2.5}, *rows]])
    found = parsed(table(text, "ndjson", size))
    expected = [[number(row.get(key)) for key in "xy"] for row in rows]
    assert {r.first + k - 1 for r in found for k in r.bad} == {
        k for k, row in enumerate(expected) if None in row}
    got = [row for r in found for row in zip(*[c.tolist() for c in r.columns], strict=True)][1:]
    for values, row in zip(got, expected, strict=True):
        want = [math.nan] * 2 if None in row else row
        np.testing.assert_array_equal(values, want)


@pytest.mark.parametrize("size", SIZES)
def test_arrays_are_columns(size: int) -> None:
    data = '{"a": [[1, 2], [3, 4]], "x": 5}\n\n{"x": 6, "a": [[7, 8], [9, "NaN"]], "more": 1}\n'
    found = table(data, "ndjson", size)
    assert found.names == ["a[0,0]", "a[0,1]", "a[1,0]", "a[1,1]", "x"]
    np.testing.assert_array_equal(
        columns(found), [[1, 7], [2, 8], [3, 9], [4, math.nan], [5, 6]])
    assert columns(table(data, "ndjson", size), [2, 4]) == [[3, 9], [5, 6]]


@folded
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("line", "column", "message"), [
    ('{"x": 1, "v": [1]}', 15, "no array of 2"),
    ('{"x": 1, "v": [1, [2]]}', 15, "not a number"),
    ('{"x": null, "v": [1, 2]}', 7, "`x` is not a number"),
    ('{"x": true, "v": [1, 2]}', 7, "`x` is"),
    ('{"v": [1, 2]}', 1, "has no `x`"), ("[1, 2]", 1, "not a JSON object"),
    ("7", 1, "not a JSON object"),
    ('{"x": 1 "v"}', 9, "not JSON: "), ('{"x": 1}{"x": 2}', 9, "not JSON: "),
    ('{"x": 1, "v": [1, 2]},', 22, "not JSON: "), ("   ", 1, "not JSON"),
    ("[" * 100_000, 1, "nested too deeply"), ('{"x": "1", "v": [1, 2]}', 7, "`x` is not a number")])
def test_lines_that_are_no_object_of_numbers(
        line: str, column: int, message: str, size: int) -> None:
    data = '{"x": 1, "v": [1, 2]}\n\n' + line + '\n{"v": [3, 4], "x": 2}'
    found = parsed(table(data, "ndjson", size))
    assert sum(r.count for r in found) == 3
    problem, = [d for r in found for d in r.bad.values()]
    assert told(problem)[1] == 3
    assert told(problem)[0] == "E0612"
    assert re.search(message, problem.message)
    if size == 1:
        assert told(problem)[2] == min(column, 1 + len(line)) or line == "   "


def test_numbers_of_json_that_are_large() -> None:
    data = '{"x": 1e999, "y": -0}\n{"x": ' + "9" * 5000 + ', "y": 9007199254740993}\n'
    assert columns(table(data, "ndjson")) == [[math.inf, math.inf], [0.0, 9007199254740992.0]]


def test_objects_as_cells() -> None:
    data = '{"s": "a,b", "x": 1.0, "t": null, "o": {"k": true}}\n{"x": 2, "s": "c"}\n'
    found = written(table(data, "ndjson"), "csv", wanted=[1])
    assert list(csv.reader(io.StringIO(found.decode()))) == [
        ["s", "x", "t", "o", "f", "df/dx[0,1]"], ["a,b", "1", "", "{k: true}", "1", "None"],
        ["c", "2", "", "", "2", "None"]]


# --- hostile bytes ----------------------------------------------------------------------------

@given(BYTES, st.sampled_from(["csv", "tsv", "ndjson"]), st.sampled_from(TEXT_FORMATS),
       st.sampled_from(SIZES))
def test_no_bytes_end_in_a_traceback(data: bytes, format: str, to: str, size: int) -> None:
    for head in (b"", b"x,y\n1,2\n", b'{"x": 1}\n'):
        found: Iterable[Diagnostic] = ()
        try:
            got = table(head + data, format, size)
            found = problems(got)
            written(table(head + data, format, size), to, "skip")
            written(table(head + data, format, size), to)
        except GradcliError as problem:
            found = problem.diagnostics
        for one in found:
            assert messages.render([one])
            assert messages.as_json([one])


# --- files ------------------------------------------------------------------------------------

def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(b"x\n" + b"1\n" * 999, mtime=0)[:30])
    (tmp_path / "none.csv.gz").write_bytes(b"x\n1\n")
    for name in ("missing.csv", ".", "nul\0.csv", "missing.parquet", ".arrow/x", "broken.csv.gz",
                 "none.csv.gz"):
        with pytest.raises(GradcliError, match="cannot read") as caught:
            parsed(open_table(str(tmp_path / name), None, None, 10))
        assert caught.value.code == "E0601"

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(GradcliError, match="permission denied"):
        open_table("p.csv", None, None, 10)


@pytest.mark.parametrize(("name", "data", "format"), [
    ("p.csv", b"x,y\n1,2\n", "csv"), ("p.TSV", b"x\ty\n1\t2\n", "tsv"),
    ("p.dat", b"x,y\n1,2\n", "csv"), ("p.jsonl", b'{"x": 1, "y": 2}', "ndjson"),
    ("p.ndjson.gz", gzip.compress(b'{"x": 1, "y": 2}', mtime=0), "ndjson"),
    ("p.csv.gz", gzip.compress(b"x,y\n1,2\n", mtime=0), "csv")])
def test_names_tell_the_format(name: str, data: bytes, format: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with open_table(str(tmp_path / name), None, None, 10) as found:
        assert found.format == format
        assert columns(found) == [[1.0], [2.0]]


# --- Parquet and Arrow ------------------------------------------------------------------------

def arrow_bytes(rows: pa.Table, kind: str) -> bytes:
    stream = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(rows, stream, row_group_size=3)
    elif kind == "feather":
        feather.write_feather(rows, stream)
    else:
        with (ipc.new_file if kind == "file" else ipc.new_stream)(stream, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=3)
    return stream.getvalue()


KINDS = ["parquet", "file", "stream", "feather"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_arrow_columns(kind: str, size: int) -> None:
    rows = pa.table({
        "x": [1.5, math.nan, -0.0, math.inf, 2.0], "n": pa.array([1, 2, 3, 4, 2 ** 53 + 1]),
        "h": pa.array([0.5, 1, 2, 3, 4], pa.float32()), "s": list("abcde"),
        "v": pa.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 0]], pa.list_(pa.float64(), 2))})
    data = arrow_bytes(rows, kind)
    format = "parquet" if kind == "parquet" else "arrow"
    for stream in (io.BytesIO(data), io.BufferedReader(Trickle(data, 1000))):
        found = open_table("-", format, stream, size)
        assert found.names == ["x", "n", "h", "s", "v[0]", "v[1]"]
        assert found.total == (5 if kind == "parquet" else None)
        np.testing.assert_array_equal(columns(found, [0, 1, 2, 4, 5]), [
            [1.5, math.nan, -0.0, math.inf, 2.0], [1, 2, 3, 4, 2.0 ** 53], [0.5, 1, 2, 3, 4],
            [1, 3, 5, 7, 9], [2, 4, 6, 8, 0]])
    text = written(table(data, format, size), "csv", wanted=[0]).decode().splitlines()
    assert text[:2] == ['x,n,h,s,v[0],v[1],f,"df/dx[0,1]"', "1.5,1,0.5,a,1,2,1.5,None"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_a_null_is_no_number(kind: str, size: int) -> None:
    format = "parquet" if kind == "parquet" else "arrow"
    # Arrow 26 is the first to write a list of a fixed size that is missing into Parquet.
    missing = None if format == "arrow" or int(pa.__version__.split(".")[0]) >= 26 else [None]
    rows = pa.table({
        "x": [1.0, None, 3.0], "n": pa.array([1, 2, None]),
        "v": pa.array([[1], missing, [None]], pa.list_(pa.float64(), 1))})
    data = arrow_bytes(rows, kind)
    found = parsed(table(data, format, size), None, [0])
    assert [r.first + k for r in found for k in r.bad] == [1]
    assert [r.first + k for r in parsed(table(data, format, size)) for k in sorted(r.bad)] == [1, 2]
    problem, = [d for r in found for d in r.bad.values()]
    assert "row 1 " in problem.message
    assert written(table(data, format, size), "csv").decode().splitlines()[1:] == [
        "1,1,1,3,None", ",2,,,", "3,,,,"]


def test_columns_of_text_are_no_numbers() -> None:
    found = table(arrow_bytes(pa.table({"s": ["1"], "b": [True]}), "file"), "arrow")
    for name in ("s", "b"):
        with pytest.raises(GradcliError, match="not numbers"):
            found.position(name)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_arrow_files(kind: str) -> None:
    data = arrow_bytes(pa.table({"x": np.arange(1000.0)}), kind)
    format = "parquet" if kind == "parquet" else "arrow"
    for cut in (b"", b"x,y\n1,2\n", data[:20], data[:len(data) // 2], b"ARROW1\0\0"):
        with pytest.raises(GradcliError, match="cannot read") as caught:
            parsed(table(cut, format))
        assert caught.value.code == "E0611"


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(GradcliError, match="not installed") as caught:
        open_table("p.parquet", None, None, 10)
    assert caught.value.help == "pip install 'gradcli[arrow]'"
    with pytest.raises(GradcliError, match="not installed"):
        output("arrow", table("x\n1\n"), [0], ["y"], "stop", {})


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("data", "format"), [
    (b"s,x\na,1.5\nb,2.5\nc,q\n", "csv"),
    (b'{"s": "a", "x": 1.5}\n{"s": "b", "x": 2.5}\n{"s": "c", "x": null}', "ndjson"),
    (arrow_bytes(pa.table({"s": ["a", "b", "c"], "x": [1.5, 2.5, None]}), "file"), "arrow")])
def test_answers_as_arrow_columns(data: bytes, format: str, to: str, size: int) -> None:
    got = written(table(data, format, size), to, wanted=[1])
    read = (parquet.ParquetFile(io.BytesIO(got)) if to == "parquet" else ipc.open_file(got))
    rows = (read.read() if to == "parquet" else read.read_all()).to_pydict()
    assert rows["s"] == ["a", "b", "c"]
    assert rows["x"][:2] == rows["f"][:2] == [1.5, 2.5]
    assert rows["f"][2] is None
    assert rows["df/dx[0,1]"] == [None] * 3
    again = table(written(table(data, format, size), to, "skip", [1]), to)
    assert again.names == ["s", "x", "f", "df/dx[0,1]"]
    assert columns(again, [1, 2]) == [[1.5, 2.5], [1.5, 2.5]]


def test_answers_that_are_partly_missing() -> None:
    found = table("x\n1\n2\n3\n")
    rows, = parsed(found, "csv")
    mixed = np.array([1.5, None, math.nan], object)
    out = output("csv", found, [0], ["g", "b"], "stop", {})
    assert out.piece(rows, [mixed, np.array([True, False, True])], {}) == (
        b"1,1.5,true\n2,None,false\n3,nan,true\n")
    out = output("ndjson", found, [0], ["g"], "stop", {})
    assert out.piece(rows, [mixed], {}) == (
        b'{"row": 0, "g": 1.5}\n{"row": 1, "g": null}\n{"row": 2, "g": "NaN"}\n')
    out = output("arrow", found, [0], ["g"], "stop", {})
    rows.echo = [rows.columns[0]]
    batch, = ipc.open_stream(out.piece(rows, [mixed], {}))
    assert batch.column(1).is_null().to_pylist() == [False, True, False]
    with pytest.raises(GradcliError, match="complex"):
        out.piece(rows, [np.array([1j, 2, 3])], {})


# --- writing ----------------------------------------------------------------------------------

def test_all_formats() -> None:
    data = "n,x\n\"a,b\",1\n=c|*d*,q\ne\x1b,nan\n"

    def text(format: str, on_error: str = "null") -> str:
        return written(table(data, "csv", 2), format, on_error, [1]).decode()

    assert text("csv") == (
        'n,x,f,"df/dx[0,1]"\n"a,b",1,1,None\n=c|*d*,q,,\ne\x1b,nan,nan,None\n')
    assert text("tsv") == (
        "n\tx\tf\tdf/dx[0,1]\na,b\t1\t1\tNone\n=c|*d*\tq\t\t\ne\x1b\tnan\tnan\tNone\n")
    assert text("plain", "skip") == (
        "n\tx\tf\tdf/dx[0,1]\na,b\t1\t1\tNone\ne\\x1b\tnan\tnan\tNone\n")
    assert text("markdown") == (
        "| `n` | `x` | `f` | `df/dx[0,1]` |\n| --: | --: | --: | --: |\n"
        "| a,b | 1 | 1 | None |\n| =c\\|\\*d\\* | q |  |  |\n"
        "| e\\\\x1b | nan | nan | None |\n")
    lines = [json.loads(line) for line in text("ndjson").splitlines()]
    assert lines == [
        {"row": 0, "f": 1.0, "df/dx[0,1]": None},
        {"row": 1, "f": None, "df/dx[0,1]": None,
         "error": {"code": "E0612", "message": "`q` is not a number"}},
        {"row": 2, "f": "NaN", "df/dx[0,1]": None}]
    assert text("ndjson").startswith('{"row": 0, "f": 1.0, "df/dx[0,1]": null}\n')
    assert json.loads(text("json")) == {
        "schema": 1, "command": "grad", "file": "e", "points": lines}
    assert [p["row"] for p in json.loads(text("json", "skip"))["points"]] == [0, 2]


@given(st.lists(st.lists(st.text("a,\"\t\n\r\\|é\x1b", max_size=5), min_size=2, max_size=2),
                max_size=5), st.sampled_from(["csv", "tsv"]))
def test_cells_survive_a_change_of_separator(rows: list[list[str]], to: str) -> None:
    separators = {"csv": ",", "tsv": "\t"}
    format = "tsv" if to == "csv" else "csv"
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separators[format]).writerows([["s", "t"], *rows])
    found = written(table(stream.getvalue(), format), to, wanted=[]).decode()
    got = list(csv.reader(io.StringIO(found, newline=""), delimiter=separators[to]))
    assert [row[:2] for row in got[1:]] == rows


def test_titles_that_hold_a_percent_sign_or_a_quote() -> None:
    found = table("x\n1\n")
    rows, = parsed(found)
    out = output("ndjson", found, [0], ['100%"d'], "stop", {})
    assert json.loads(out.piece(rows, [rows.columns[0]], {})) == {"row": 0, '100%"d': 1.0}


# --- ranges -----------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "expected"), [
    ("linspace(0, 1, 5)", np.linspace(0, 1, 5)), ("linspace(0,1)", np.linspace(0, 1)),
    ("linspace(-2*pi, pi^2, 1e3)", np.linspace(-2 * math.pi, math.pi ** 2, 1000)),
    ("linspace(0.1, 0.7, 7)", np.linspace(0.1, 0.7, 7)), ("linspace(3, 1, 1)", [3.0]),
    ("linspace(3, 1, 0)", []), ("linspace(2, 2, 3)", [2.0, 2.0, 2.0]),
    ("linspace(0, 5e-324, 4)", np.linspace(0, 5e-324, 4)),
    ("linspace(1, 0, 11)", np.linspace(1, 0, 11)),
    ("logspace(0, 3, 4)", np.logspace(0, 3, 4)),
    ("logspace(-1, 2, 9, 2)", np.logspace(-1, 2, 9, base=2)),
    ("geomspace(1, 1000, 7)", np.geomspace(1, 1000, 7)),
    ("geomspace(-8, -0.3, 5)", np.geomspace(-8, -0.3, 5)), ("geomspace(5, 7, 1)", [5.0]),
    ("geomspace(1e-200, 1e-300, 3)", np.geomspace(1e-200, 1e-300, 3)),
    ("arange(5)", np.arange(5.0)), ("range(2, 4)", [2.0, 3.0]),
    ("arange(1, 2, 0.25)", np.arange(1, 2, 0.25)),
    ("arange(2, 1, -0.5)", [2.0, 1.5]), ("range(1, 0)", []), ("[1, 2*3, -4]", [1.0, 6.0, -4.0]),
    ("2*pi", [2 * math.pi]), ("7", [7.0]), ("[]", []), ("2*linspace(0, 1, 3)", [0.0, 1.0, 2.0])])
def test_ranges_are_those_of_numpy(text: str, expected: Sequence[float]) -> None:
    answers = []
    for size in SIZES:
        found = ranges([f"x = {text}"], size)
        assert (found.names, found.total, found.unit) == (["x"], len(expected), "rows")
        values = [v for r in parsed(found) for v in r.columns[0].tolist()]
        answers.append(struct.pack(f"{len(values)}d", *values))
        # logspace and geomspace go through a power, which may be a unit in the last place off.
        exact = not text.startswith(("logspace", "geomspace"))
        np.testing.assert_allclose(values, expected, rtol=0 if exact else 5e-16, atol=0)
    assert len(set(answers)) == 1


@pytest.mark.parametrize("size", SIZES)
def test_grids(size: int) -> None:
    for grid in (["x=[1,2],y=linspace(0,1,3)", "z=5"],
                  ["x=[1,2]", " y = linspace(0, 1, 3) , z=5"]):
        found = ranges(grid, size)
        assert found.names == ["x", "y", "z"]
        assert columns(found, [2, 0, 1]) == [
            [5.0] * 6, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [0.0, 0.5, 1.0] * 2]
        found = ranges(grid, size)
        assert written(found, "csv").decode().splitlines()[:3] == [
            'x,y,z,f,"df/dx[0,1]"', "1,0,5,6,None", "1,0.5,5,6.5,None"]
        assert json.loads(written(ranges(grid, size), "json"))["points"][5]["row"] == 5
    assert ranges(["x[0]=[1,2],x[1]=3"], size).names == ["x[0]", "x[1]"]


def test_a_trillion_points_take_no_memory() -> None:
    found = ranges(["x=linspace(0,1,1e12)"], 4)
    assert found.total == 10 ** 12
    assert next(iter(found.blocks())).parse([0], None).columns[0].tolist() == [
        k * (1 / (10 ** 12 - 1)) for k in range(4)]


@pytest.mark.parametrize(("text", "code", "column"), [
    ("x=linspace(0,1,1.5)", "E0613", 16), ("x=linspace(0,1,-1)", "E0613", 16),
    ("x=linspace(0,1,1e400)", "E0613", 16), ("x=linspace(0,[1],3)", "E0613", 14),
    ("x=linspace(0)", "E0613", 3), ("x=linspace(0,1,2,3)", "E0613", 3),
    ("x=linspace(0,,3)", "E0613", 14), ("x=linspace(nan,1,3)", "E0613", 12),
    ("x=geomspace(-1,1,3)", "E0613", 16), ("x=geomspace(0,1,3)", "E0613", 13),
    ("x=arange(0,1,0)", "E0613", 14), ("x=arange(0,1,1e-300)", "E0613", 14),
    ("x=arange(1e300)", "E0613", 10),
    ("x=1,x=2", "E0613", 5), ("x=1,y", "E0613", 5), ("x=", "E0613", 3), ('x="a"', "E0613", 3),
    ("x=[[1,2],[3,4]]", "E0613", 3), ("x=complex(1,2)", "E0613", 3),
    ("x=linspace(0,1,1e12),y=linspace(0,1,1e12)", "E0613", 1), ("x=linspace(0,q,3)", "E0214", 14),
    ("x=linspace(0,1+,3)", "E0102", 15), ("x=linspace(0,1", "E0103", 11), ("x=run.csv", "E0", 3)])
def test_what_is_no_range(text: str, code: str, column: int) -> None:
    with pytest.raises(GradcliError) as caught:
        ranges([text], 10)
    got, line, at = told(caught.value.diagnostics[0])
    assert got.startswith(code)
    assert (line, at) == (1, column) or code in ("E0102", "E0")


def test_a_file_of_that_name_is_no_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert all(map(is_range, ["x=3.csv", "x = linspace(0,1,3)", "é=1", "x[0]=1"]))
    assert not any(map(is_range, ["p.csv", "a/b=3", "-", "", "x==1", "3x=1", "=1"]))
    Path("x=3.csv").write_text("x\n1\n")
    assert not is_range("x=3.csv")
