"""The sentences about a None, as lines: which gradient, why, where, and what to write instead."""

from __future__ import annotations

from gradcli.render import entries
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Line = tuple[str, str]


def lines(file: str, names: list[str], value: Any, reason: dict[str, Any], at: int
          ) -> Iterator[Line]:
    """(head, text) of each line; a text may be long, and goes on beside its head."""
    verb = "also" if at else "would be None" if value is not None else \
        "is None" if len(names) == 1 else "are None"
    yield "", f"{entries.listed(names)} {verb}: {reason['message']}"
    for place in (reason, *(reason.get("related") or ())):
        if place.get("line"):
            label = "" if place is reason else f"  {place.get('message', '')}"
            yield "", f"  {_place(file, place)}{label}"
    if reason.get("fix"):
        # A fix that nobody could try out is advice; one that a second cause defeats says so.
        alone = " (not enough alone)" if reason.get("fix_works") is False else ""
        yield ("  try:" if reason.get("fix_works") is None else "  fix:"), reason["fix"] + alone


def _place(file: str, place: dict[str, Any]) -> str:
    """`expr.txt:2:1`, which editors and terminals can open, or `line 2` of nameless text."""
    if not file or file.startswith("<"):
        return f"line {place['line']}"
    return ":".join([file, *[str(place[key]) for key in ("line", "column") if place.get(key)]])


def text(answer: dict[str, Any], with_notes: bool) -> str:
    """The causes of an answer as plain lines, for standard error beside plain output."""
    out = []
    for result in answer.get("results") or ():
        items = entries.named(answer["command"], result)
        for names, value, reason, at in entries.reasons(items):
            out += [f"{head} {said}" if head else said for head, said in lines(
                answer.get("file") or "", names, value, reason, at)]
        if with_notes:
            out += [f"note: {entries.told(names, note)}"
                    for names, _, note, _ in entries.notes(items)]
    return "".join([visible(line) + "\n" for line in out])
