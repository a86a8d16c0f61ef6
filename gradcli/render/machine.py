"""Answers as JSON: one object on one line, or one object per result (NDJSON).

Own writer, because the start-up path must stay lean: `import json` brings re and enum and took
10 ms beside the 11 ms of a bare interpreter (`python -I -S`, median of 41 runs); this module
costs less than one. Numbers are written as Python's repr writes them, which reads back exactly; NaN
and infinities become the strings "NaN", "Infinity" and "-Infinity", complex numbers strings such as
"(1+2j)". Printable non-ASCII text stays
UTF-8, everything unprintable (controls, bidirectional marks, lone surrogates) is escaped, so a
line of output is always one line and always encodable.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
            "\t": "\\t"}
_INFINITY = float("inf")


def dump(obj: Any) -> str:
    """Return JSON text of dicts, lists, tuples, strings, numbers, complex ones too, booleans and
    None.

    Keys are written as strings. Recursion is as deep as `obj` is nested. Raises TypeError for
    anything else, NumPy scalars of other types than float included.
    """
    parts: list[str] = []
    _write(obj, parts.append)
    return "".join(parts)


def _exact(value: Any) -> Any:
    """Return the texts of exact numbers, in lists and dicts with None for others; None if there are
    none.
    """
    if isinstance(value, float):
        return value.texts[0] if hasattr(value, "texts") else None
    if isinstance(value, dict):
        found = {key: _exact(one) for key, one in value.items() if isinstance(one, float)}
        return found if len(found) == len(value) and any(found.values()) else None
    if isinstance(value, list) and any(hasattr(one, "texts") for one in value):
        return [_exact(one) for one in value]
    return None


def _write(obj: Any, put: Any, told: Any = None) -> None:
    """Put the text of an object. told: what stands beside it of its exact numbers."""
    if isinstance(obj, dict):
        separator = "{"
        for key, value in obj.items():
            put(f"{separator}{_string(str(key))}: ")
            beside = None if told is not None else _exact(value)
            _write(value, put, beside)
            separator = ", "
            if beside is not None:
                put(f", {_string(f'{key}_exact')}: ")
                _write(beside, put)
        put("}" if obj else "{}")
    elif isinstance(obj, list | tuple):
        if {*map(type, obj)} == {float}:
            # Arrays are most of a large answer; a million floats take 1.8 s this way, else 2.8.
            text = ", ".join(map(repr, obj))
            if "n" not in text:     # neither nan nor inf
                put(f"[{text}]")
                return
        separator = "["
        for value in obj:
            put(separator)
            _write(value, put)
            separator = ", "
        put("]" if obj else "[]")
    else:
        put(_scalar(obj))


def _scalar(obj: Any) -> str:
    if isinstance(obj, float):
        if -_INFINITY < obj < _INFINITY:
            return float.__repr__(obj)
        return '"NaN"' if obj != obj else '"Infinity"' if obj > 0 else '"-Infinity"'
    if isinstance(obj, str):
        return _string(obj)
    if obj is None:
        return "null"
    if obj is True:
        return "true"
    if obj is False:
        return "false"
    if isinstance(obj, int):
        return int.__repr__(obj)
    if isinstance(obj, complex):
        return f'"{obj}"'
    raise TypeError(f"`{type(obj).__name__}` has no JSON form")


def _string(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join([_character(c) for c in text])}"'


def _character(c: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if c.isprintable():
        return c
    code = ord(c)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xd800 + (code >> 10):04x}\\u{0xdc00 + (code & 0x3ff):04x}"


def render(answer: dict[str, Any]) -> str:
    """Return the answer as one object on one line."""
    return dump({key: value for key, value in answer.items() if key != "lines"}) + "\n"


def render_ndjson(answer: dict[str, Any]) -> str:
    """Return an object per result or operation, each with what they have in common."""
    return "".join([dump(one) + "\n" for one in _separate(answer)])


def _separate(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    lists = ("results", "operations")
    yield from () if any(key in answer for key in lists) else (answer,)
    common = {key: value for key, value in answer.items() if key not in (*lists, "lines")}
    for key in lists:
        for item in answer.get(key) or ():
            yield {**common, **item}
