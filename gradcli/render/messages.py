"""Messages: errors for people (an excerpt with carets) and for programs (the JSON error object),
and remarks on answers.

    error[E0201]: unknown function `sinn`
      --> expr.txt:3:7
       |
     3 | y = 2*sinn(x)
       |       ^^^^ no operation or function has this name
       |
       = help: did you mean `sin`?

Columns count code points; carets are placed by display width. Tabs are shown as four spaces, what
cannot be seen as an escape. A line wider than the terminal is shown as a window around the caret,
a span of several lines by its first. Messages, notes and help are never cut; at a terminal they are
wrapped, elsewhere they are lines to be searched for and copied.
"""

from __future__ import annotations

from gradcli.render import entries
from gradcli.render.numbers import encodable, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Diagnostic, Source, Span

    Cell = tuple[str, int]
    Paint = Callable[[str, str], str]
    Line = tuple[str, str]


TAB = "    "
GAP = "..."
LEAST = 24      # columns of source text that are always shown, however narrow the terminal

_RED, _BLUE, _BOLD, _OFF = "\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"


def render(diagnostics: Sequence[Diagnostic], color: bool = False, width: int = 80,
           encoding: str = "utf-8", wrapped: bool = False) -> str:
    """Return all diagnostics, separated by blank lines, with a count at the end if there are
    several. wrapped: sentences, too, are at most `width` wide.

    What `encoding` lacks is shown as an escape in excerpts, so that carets stand right below it.
    """
    paint = _painted if color else _unpainted
    parts = ["".join([line + "\n" for line in _lines(one, paint, width, encoding, wrapped)])
             for one in diagnostics]
    if len(parts) > 1:
        parts.append(f"{len(parts)} errors\n")
    return "\n".join(parts)


def _painted(style: str, text: str) -> str:
    return f"{style}{text}{_OFF}" if text else ""


def _unpainted(style: str, text: str) -> str:
    return text


def _sentence(text: str, width: int, indent: int) -> list[str]:
    """Return a text in lines; the first one stands beside a head that is `indent` wide."""
    from textwrap import wrap

    return wrap(text, max(LEAST, width - indent), break_long_words=False, break_on_hyphens=False,
                replace_whitespace=False) or [""]


def _lines(one: Diagnostic, paint: Paint, width: int, encoding: str, wrapped: bool) -> list[str]:
    places: list[tuple[Span, str]] = []
    if one.source is not None and one.span is not None:
        places = [(one.span, one.label), *(one.related if one.source.text else ())]
    pad = " " * max([len(str(one.source.position(span[0])[0])) for span, _ in places]
                    if one.source is not None else [], default=1)
    bar = paint(_BLUE, f" {pad} |")
    head = f"error[{one.code}]"

    def sentence(text: str, indent: int) -> list[str]:
        return _sentence(visible(text), width, indent) if wrapped else [visible(text)]

    first, *further = sentence(one.message, len(head) + 2)
    lines = [paint(_RED, head) + paint(_BOLD, f": {first}")]
    lines += [" " * (len(head) + 2) + paint(_BOLD, text) for text in further]
    for at, (span, label) in enumerate(places):
        assert one.source is not None
        lines += [bar] * (at > 0)
        lines += _place(one.source, span, label, at == 0, len(pad), paint, width, encoding,
                        wrapped)
    advice = [("note", note) for note in one.notes]
    if one.help is not None:
        advice.append(("help", one.help))
    lines += [bar] * (bool(places) and bool(advice))
    for kind, text in advice:
        indent = len(pad) + len(kind) + 6
        first, *further = sentence(text, indent)
        lines.append(f"{paint(_BLUE, f' {pad} =')} {paint(_BOLD, f'{kind}:')} {first}")
        lines += [" " * indent + more for more in further]
    return lines


def _place(
    source: Source, span: Span, label: str, primary: bool, pad: int, paint: Paint, width: int,
    encoding: str, wrapped: bool,
) -> list[str]:
    """Return the location and the line of a span, with marks below; of a file without text the name
    only.
    """
    arrow = paint(_BLUE, f" {' ' * pad}{'-->' if primary else ':::'}")
    if not source.text:
        return [f"{arrow} {visible(source.name)}"]
    line, column = source.position(span[0])
    text, marks = excerpt(
        source, span, label, width - pad - 4, "^" if primary else "-", encoding)
    if wrapped and len(marks) > 1:
        marks[1:] = _folded(marks[1], width - pad - 4)
    bar = paint(_BLUE, f" {' ' * pad} |")
    return [f"{arrow} {visible(source.name)}:{line}:{column}", bar,
            paint(_BLUE, f" {line:>{pad}} |") + (f" {text}" if text else ""),
            *[f"{bar} {paint(_RED if primary else _BLUE, mark)}" for mark in marks]]


def _folded(label: str, width: int) -> list[str]:
    """Return a label that stands alone in as many lines as it needs."""
    if _width(map(_cell, label)) <= max(width, LEAST):
        return [label]
    return _sentence(label.strip(), width, 0)


def excerpt(
    source: Source, span: Span, label: str, width: int, mark: str = "^",
    encoding: str = "utf-8",
) -> tuple[str, list[str]]:
    """Return the line where the span starts, and the lines below it: marks, and the label beside
    them.

    The label goes to a line of its own if it does not fit beside the marks. Both lines are at
    most `width` wide as long as that is 24 or more; a label may be longer.
    """
    number, column = source.position(span[0])
    line = source.line(number)
    start = min(column - 1, len(line))
    end = max(start, min(start + span[1] - span[0], len(line)))
    width = max(width, LEAST)
    # A line may be megabytes long: only what could be visible is looked at.
    first = max(0, start - 2 * width)
    cells = [_cell(character, encoding) for character in line[first:start + 2 * width]]
    low, high = _window(cells, start - first, end - first, width,
                        first > 0, start + 2 * width < len(line))
    before = GAP if first + low > 0 else ""
    after = GAP if first + high < len(line) else ""
    text = before + "".join([shown for shown, _ in cells[low:high]]) + after
    indent = len(before) + _width(cells[low:start - first])
    marks = mark * max(1, _width(cells[start - first:min(end - first, high)]))
    label = encodable(label, encoding)
    if not label:
        return text, [" " * indent + marks]
    if indent + len(marks) + 1 + _width(map(_cell, label)) <= width:
        return text, [f"{' ' * indent}{marks} {label}"]
    indent_label = max(0, min(indent, width - _width(map(_cell, label))))
    return text, [" " * indent + marks, " " * indent_label + label]


def _window(
    cells: list[Cell], start: int, end: int, width: int, cut_before: bool, cut_after: bool,
) -> tuple[int, int]:
    """Return the range of cells to show: all if they fit, else the marked ones and those around
    them.

    The marked part comes first; the room left is shared, a third before it and the rest after it.
    """
    if not cut_before and not cut_after and _width(cells) <= width:
        return 0, len(cells)
    room = width - 2 * len(GAP)
    low, used = start, 0
    high = start
    while high < min(end, len(cells)) and used + cells[high][1] <= room:
        used += cells[high][1]
        high += 1
    third = (room - used) // 3
    while low > 0 and cells[low - 1][1] <= third:
        third -= cells[low - 1][1]
        used += cells[low - 1][1]
        low -= 1
    while high < len(cells) and used + cells[high][1] <= room:
        used += cells[high][1]
        high += 1
    while low > 0 and used + cells[low - 1][1] <= room:
        used += cells[low - 1][1]
        low -= 1
    return low, high


def _width(cells: Iterable[Cell]) -> int:
    return sum([width for _, width in cells])


def _cell(character: str, encoding: str = "utf-8") -> Cell:
    """Return the text that is shown for a character, and the number of columns it takes."""
    if " " <= character <= "~":
        return character, 1
    if character == "\t":
        return TAB, len(TAB)
    shown = encodable(character, encoding)
    if shown != character:
        return shown, len(shown)
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me"):
        return character, 0
    return character, 2 if east_asian_width(character) in ("W", "F") else 1


def as_json(diagnostics: Sequence[Diagnostic], file: str | None = None) -> dict[str, Any]:
    """Return {"schema": 1, "error": first, "errors": [the further ones, if any]}; for
    `render.machine.dump`.

    Each is {"code", "message", "file", "line", "column", "end_line", "end_column", "help"}, unset
    fields None; `file` is used where a diagnostic knows no source.
    """
    first, *further = [_object(one, file) for one in diagnostics]
    answer: dict[str, Any] = {"schema": 1, "error": first}
    if further:
        answer["errors"] = further
    return answer


def _object(one: Diagnostic, file: str | None) -> dict[str, Any]:
    line = column = end_line = end_column = None
    if one.source is not None:
        file = one.source.name
        if one.span is not None and one.source.text:
            line, column = one.source.position(one.span[0])
            end_line, end_column = one.source.position(one.span[1])
    return {"code": one.code, "message": one.message, "file": file, "line": line, "column": column,
            "end_line": end_line, "end_column": end_column, "help": one.help}


# --------------------------------------------------------------------------------------------------
# The sentences about a None: which gradient, why, where, and what to write instead.

UNBOUNDED = 100         # of a line that is not for a terminal
SHORTEST = 24          # columns of a statement that are worth showing


def causes(file: str, names: list[str], value: Any, reason: dict[str, Any], at: int, *,
          texts: dict[int, str] | None = None, of: int = 0, width: int = 0) -> Iterator[Line]:
    """Yield (head, text) of each line; a text may be long, and goes on beside its head.

    texts: number of a line to what stands there, shown beside each place. of: among how many
    derivatives these are. width: columns that there are; 0: as many as it takes, within reason.
    """
    yield "", f"{subject(names, value, at, of)}: {reason['message']}"
    for place in (reason, *(reason.get("related") or ())):
        if place.get("line"):
            where = f"  {location(file, place)}"
            said = "" if place is reason else place.get("message", "")
            room = (width or UNBOUNDED) - len(where) - 3 - (len(said) + 4 if said else 0)
            text = _statement(place, (texts or {}).get(place["line"], ""), room)
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


def location(file: str, place: dict[str, Any]) -> str:
    """Return `expr.txt:2:1`, which editors and terminals can open, or `line 2` of nameless text."""
    if not file or file.startswith("<"):
        return f"line {place['line']}"
    return ":".join([file, *[str(place[key]) for key in ("line", "column") if place.get(key)]])


def _statement(place: dict[str, Any], text: str, room: int) -> str:
    """Return the line, or the part of it around the location; "" where there is no room for that.
    """
    shown = text.strip()
    if len(shown) <= room:
        return shown
    if room < SHORTEST:
        return ""
    from gradcli.base.errors import Source

    start = (place.get("column") or 1) - 1
    end = place["end_column"] - 1 if place.get("end_line") == place["line"] else start + 1
    return excerpt(Source(text), (start, end), "", room)[0].strip()


def remarks(answer: dict[str, Any]) -> str:
    """Return the causes and notes of an answer as lines, for standard error beside bare numbers."""
    out = []
    for result in answer.get("results") or ():
        items = entries.named(answer["command"], result)
        for names, value, reason, at in entries.reasons(items):
            out += [f"{head} {said}" if head else said for head, said in causes(
                answer.get("file") or "", names, value, reason, at,
                texts=answer.get("lines"), of=entries.count(items))]
        out += [f"note: {entries.sentence(names, note)}"
                for names, _, note, _ in entries.notes(items)]
    return "".join([visible(line) + "\n" for line in out])
