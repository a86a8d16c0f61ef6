"""From the engine's values to plain data: floats, strings, None and nested lists."""

from __future__ import annotations

from gradcli.ops.values import SCALAR_TYPES, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.explain.catalogue import Note, Reason
    from gradcli.questions.ask import Answer, Ask


# Bytes of a number of an answer: in the array, and as a float in a list.
EACH = 8.0 + 32.0


def data(value: Any) -> Any:
    """A value as numbers and nested lists."""
    if value is None or type(value) in SCALAR_TYPES:
        return value
    if isinstance(value, dict):
        return {k: data(v) for k, v in value.items()}
    if isinstance(value, list):
        return [data(v) for v in value]
    if value.dtype.name == "float32":
        # The shortest text that reads back as the same 32 bits: 0.1, not 0.10000000149011612.
        return value.astype(str).astype(float).tolist()
    return value.tolist()


def derivative(field: str, g: Any, source: Any, sparse: bool) -> Answer:
    """A derivative in the value `source` as data: under its name, or triples under `sparse`."""
    if not sparse or g is None:
        return {field: data(g)}
    from gradcli.questions.sparse import triples

    return triples(g, shape_of(source))


def seen(g: Any) -> Any:
    """What notes on a derivative look at."""
    if not hasattr(g, "coordinates"):
        return g
    from gradcli.questions.sparse import remarkable

    return remarkable(g)


def undata(value: Any) -> Any:
    """Nested lists back to an array."""
    if not isinstance(value, list):
        return value
    from gradcli.base.lazy import np

    return np.array(value)


def shape(value: Any) -> list[int] | None:
    """The shape of a value; None for a structure."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return list(shape_of(value))


def place(ask: Ask, span: Span | None) -> Answer:
    """Lines and columns from 1, ends exclusive; None without a place."""
    if span is None:
        return {"line": None, "column": None, "end_line": None, "end_column": None}
    line, column = ask.program.source.position(span[0])
    end_line, end_column = ask.program.source.position(span[1])
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def reason(ask: Ask, why: Reason) -> Answer:
    """A cause of None as data."""
    related = []
    for span, message in why.related:
        line, column = ask.program.source.position(span[0])
        related.append({"line": line, "column": column, "message": message})
    return {"code": why.code, "message": why.message, **place(ask, why.span),
            "related": related, "fix": why.fix, "fix_works": why.fix_works}


def note(ask: Ask, what: Note) -> Answer:
    """A note as data."""
    at = place(ask, what.span)
    return {"code": what.code, "message": what.message, "line": at["line"],
            "column": at["column"]}


def lines(source: Source, items: Iterable[Answer]) -> Answer:
    """The text of each line that one of the items, or what is related to it, names."""
    numbers = {place["line"] for item in items for place in (item, *(item.get("related") or ()))}
    return {n: source.line(n) for n in sorted(numbers - {None})}
