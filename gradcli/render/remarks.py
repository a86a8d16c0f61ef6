"""The sentences about a None, as lines: which gradient, why, where, and what to write instead."""

from __future__ import annotations

from gradcli.render import entries
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Line = tuple[str, str]

WIDTH = 100         # of a line that is not for a terminal
LEAST = 24          # columns of a statement that are worth showing


def lines(file: str, names: list[str], value: Any, reason: dict[str, Any], at: int, *,
          texts: dict[int, str] | None = None, of: int = 0, width: int = 0) -> Iterator[Line]:
    """Yield (head, text) of each line; a text may be long, and goes on beside its head.

    texts: number of a line to what stands there, shown beside each place. of: among how many
    derivatives these are. width: columns that there are; 0: as many as it takes, within reason.
    """
    yield "", f"{subject(names, value, at, of)}: {reason['message']}"
    for place in (reason, *(reason.get("related") or ())):
        if place.get("line"):
            where = f"  {_place(file, place)}"
            said = "" if place is reason else place.get("message", "")
            room = (width or WIDTH) - len(where) - 3 - (len(said) + 4 if said else 0)
            text = _line_at(place, (texts or {}).get(place["line"], ""), room)
            said = f"  ({said})" if said and text else f"  {said}" if said else ""
            yield "", f"{where}{f'   {text}' if text else ''}{said}"
    if reason.get("fix"):
        # A fix that nobody could try out is advice; one that a second cause defeats says so.
        alone = " (not enough alone)" if reason.get("fix_works") is False else ""
        yield ("  try:" if reason.get("fix_works") is None else "  fix:"), reason["fix"] + alone


def subject(names: list[str], value: Any, at: int, of: int) -> str:
    """Return `dy/dx is None`, `dy/dx also` for a further cause, or `3 of 4 derivatives are None
    (dy/da, dy/db, dy/dc)`.
    """
    who = entries.listed(names)
    if at:
        return f"{who} also"
    verb = "would be None" if value is not None else "is None" if len(names) == 1 else "are None"
    if len(names) > 1 and of:
        return f"{len(names)} of {of} derivatives {verb} ({who})"
    return f"{who} {verb}"


def _place(file: str, place: dict[str, Any]) -> str:
    """Return `expr.txt:2:1`, which editors and terminals can open, or `line 2` of nameless text."""
    if not file or file.startswith("<"):
        return f"line {place['line']}"
    return ":".join([file, *[str(place[key]) for key in ("line", "column") if place.get(key)]])


def _line_at(place: dict[str, Any], text: str, room: int) -> str:
    """Return the line, or the part of it around the location; "" where there is no room for that.
    """
    shown = text.strip()
    if len(shown) <= room:
        return shown
    if room < LEAST:
        return ""
    from gradcli.base.errors import Source
    from gradcli.render.messages import excerpt

    start = (place.get("column") or 1) - 1
    end = place["end_column"] - 1 if place.get("end_line") == place["line"] else start + 1
    return excerpt(Source(text), (start, end), "", room)[0].strip()


def text(answer: dict[str, Any]) -> str:
    """Return the causes and notes of an answer as lines, for standard error beside bare numbers."""
    out = []
    for result in answer.get("results") or ():
        items = entries.named(answer["command"], result)
        for names, value, reason, at in entries.reasons(items):
            out += [f"{head} {said}" if head else said for head, said in lines(
                answer.get("file") or "", names, value, reason, at,
                texts=answer.get("lines"), of=entries.count(items))]
        out += [f"note: {entries.sentence(names, note)}"
                for names, _, note, _ in entries.notes(items)]
    return "".join([visible(line) + "\n" for line in out])
