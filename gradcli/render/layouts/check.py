"""The result of a check as text: lines of name and value, JSON, CSV, Markdown.

A witness is the point where an answer differs, with the right value and the one given; of vectors
and matrices each component has its own line or row.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

COLUMNS = ("id", "verdict", "mistake", "also", "confidence", "score", "message", "read_as", "at",
           "expected", "got", "usable", "agree", "disagree", "undefined", "error")
COUNTS = ("usable", "agree", "disagree", "undefined")


def render(result: dict[str, Any], format: str, quiet: bool = False) -> str:
    """One result in a format, ending in a line end. quiet: plain has the verdict only."""
    if format == "plain":
        return "".join([f"{name}\t{value}\n" for name, value in _plain(result, quiet)])
    if format in ("csv", "tsv"):
        delimiter = "\t" if format == "tsv" else ","
        return header(delimiter) + row(result, delimiter)
    if format == "markdown":
        return "\n".join(_markdown(result))
    from gradcli.render import machine

    return machine.dump(result) + "\n"


def header(delimiter: str) -> str:
    """The first line of CSV."""
    return delimiter.join(COLUMNS) + "\n"


def row(result: dict[str, Any], delimiter: str) -> str:
    """The line of CSV for a result or for an error; spreadsheets take texts as texts."""
    import csv
    import io

    from gradcli.render import machine
    from gradcli.render.delimited import cell

    witness = result.get("witness") or {}
    error = result.get("error")
    id = result.get("id")
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerow([
        "" if id is None else cell(id if isinstance(id, str) else machine.dump(id)),
        *[cell(_said(result.get(name))) for name in ("verdict", "mistake", "also", "confidence")],
        numbers.exact(result["score"]) if "score" in result else "",
        *[cell(_said(result.get(name))) for name in ("message", "read_as")],
        cell(", ".join([f"{name}={numbers.exact(value)}" for name, value in
                        (witness.get("at") or {}).items()])),
        *[_number(witness.get(name)) for name in ("expected", "got")],
        *[_number((result.get("points") or {}).get(name)) for name in COUNTS],
        "" if error is None else cell(f"{error['code']}: {error['message']}")])
    return stream.getvalue()


def _said(value: Any) -> str:
    return "" if value is None else " ".join(value) if isinstance(value, list) else str(value)


def _number(value: Any) -> str:
    return "" if value is None else numbers.exact(value)


def components(witness: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(index from 1 or "", right value, value given) of each component."""
    given = dict(numbers.elements(witness.get("got")))
    for index, expected in numbers.elements(witness.get("expected")):
        label = ",".join([str(int(at) + 1) for at in index])
        yield label, expected, given.get(index, given.get(()))


def _plain(result: dict[str, Any], quiet: bool) -> Iterator[tuple[str, str]]:
    yield "verdict", result["verdict"]
    if quiet:
        return
    yield "score", numbers.exact(result["score"])
    yield "mistake", _text(result["mistake"])
    for name in result["also"]:
        yield "also", _text(name)
    for name in ("confidence", "message", "read_as"):
        yield name, _text(result[name])
    for text in result["alternatives"]:
        yield "alternative", _text(text)
    witness = result["witness"]
    if witness:
        for name, value in witness["at"].items():
            yield f"at {_text(name)}", numbers.exact(value)
        for index, expected, got in components(witness):
            place = f"[{index}]" if index else ""
            yield f"expected{place}", numbers.exact(expected)
            yield f"got{place}", numbers.exact(got)
    for name in COUNTS:
        yield name, numbers.exact(result["points"][name])


def _text(value: Any) -> str:
    return "None" if value is None else visible(value)


def _markdown(result: dict[str, Any]) -> Iterator[str]:
    from gradcli.render.markdown import LEFT, RIGHT, code, prose, table

    yield f"**{result['verdict']}**: {prose(result['message'])}\n"
    lines = [("read as", code(result["read_as"] or "")),
             ("mistake", code(result["mistake"] or "")),
             ("also", ", ".join(map(code, result["also"]))),
             ("confidence", result["confidence"] or "")]
    if any(text for _, text in lines):
        yield "".join([f"- {name}: {text}\n" for name, text in lines if text])
    witness = result["witness"]
    if witness:
        names = list(witness["at"])
        rows = list(components(witness))
        several = any(index for index, _, _ in rows)
        point = [numbers.exact(value) for value in witness["at"].values()]
        yield table(
            [*map(code, names), *(["component"] if several else []), "expected", "got"],
            [RIGHT] * len(names) + [LEFT] * several + [RIGHT] * 2,
            [[*point, *([index] if several else []), numbers.exact(expected), numbers.exact(got)]
             for index, expected, got in rows])
