"""Output of a program's prints and expects, in every format.

A value is printed in full and exactly, but in `table`: there numbers have the digits of tables, and
on a terminal an array of more than LARGE elements is a summary.
"""

from __future__ import annotations

from gradcli.render import numbers, write
from gradcli.render.numbers import escape, visible
from gradcli.render.page import Code, Page, Table, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Printed = dict[str, Any]

# NumPy, too, prints larger arrays in part.
LARGE = 1_000
# What is shown of each side of an expectation that does not hold.
SHOWN = 200


def fill(printed: Printed) -> Printed:
    """Add the exact text of each value to a print, and return the print."""
    for item in printed["values"]:
        item["text"] = numbers.exact(item["value"])
    return printed


def line(printed: Printed, show: Callable[[Any], str] = numbers.exact) -> str:
    """Return one print as text, its values separated by blanks; lines and tabs are the program's
    own.

    Whatever else a terminal would obey is shown as an escape.
    """
    text = " ".join([show(item["value"]) for item in printed["values"]]) + "\n"
    if text[:-1].isprintable():
        return text
    return "".join([c if c in "\n\t" else escape(c) for c in text])


def for_people(digits: int, whole: bool) -> Callable[[Any], str]:
    """Return the function that shows a value in `table`: with `digits` significant digits, and a
    large array as a summary unless `whole`.
    """
    def show(value: Any) -> str:
        if isinstance(value, list):
            if not whole and value and numbers.regular(value):
                from gradcli.render.view import count, summary

                if count(value) > LARGE:
                    return f"<{', '.join(summary(value, digits))}>"
            return f"[{', '.join([show(item) for item in value])}]"
        if isinstance(value, dict):
            return f"{{{', '.join([f'{key}: {show(item)}' for key, item in value.items()])}}}"
        return numbers.significant(value, digits)

    return show


def ndjson(answer: dict[str, Any], item: dict[str, Any]) -> str:
    """Return one print or expectation as a line of NDJSON."""
    from gradcli.render.machine import dump

    common = {key: answer[key] for key in ("schema", "command", "file")}
    return dump({**common, **item}) + "\n"


def render(answer: dict[str, Any], format: str, show: Callable[[Any], str] = numbers.exact) -> str:
    """Return the whole answer as text; empty if there is nothing to print. show: the writer of
    values for people.
    """
    if format == "ndjson":
        return "".join([
            ndjson(answer, item) for item in (*answer["printed"], *answer["expects"])])
    if format in ("table", "plain"):
        return "".join([line(printed, show) for printed in answer["printed"]])
    rows = [(str(one["line"]), visible(line(one, show)[:-1])) for one in answer["printed"]]
    if format == "markdown":
        from gradcli.render.markdown import code

        body = [f"| {number} | {code(text) if text.strip() else ''} |" for number, text in rows]
        return "\n".join(["| line | printed |", "|---:|---|", *body]) + "\n"
    table = Table(["line", "printed"], rows, "rl")
    return write(answer, [Page(records=_records(answer["printed"]), blocks=[table] if (
        format != "html") else [Title(("Prints of ", Code(answer["file"]))), table])], format)


def _records(prints: list[Printed]) -> Iterator[list[Any]]:
    """Yield a row for each print, all as wide as the widest."""
    width = max([len(printed["values"]) for printed in prints], default=0)
    yield ["line", *[f"value{k}" for k in range(1, width + 1)]]
    for printed in prints:
        values = [item["value"] for item in printed["values"]]
        yield [printed["line"], *["None" if value is None else value for value in values],
               *[""] * (width - len(values))]


def failures(answer: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each expectation that does not hold."""
    for expect in answer["expects"]:
        if not expect["holds"]:
            left, right = _short(expect["left"]), _short(expect["right"])
            alone = expect["left"] is False and expect["right"] is None
            sides = "it is false" if alone else f"left is {left}, right is {right}"
            yield f"{answer['file']}:{expect['line']}: expectation does not hold: {sides}"


def _short(value: Any) -> str:
    text = numbers.exact(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def remarks(answer: dict[str, Any]) -> Iterator[str]:
    """Yield lines on why something printed was None, and the notes on the run."""
    from gradcli.render import entries
    from gradcli.render.messages import causes

    said: set[str] = set()
    for printed in answer["printed"]:
        for item in printed["values"]:
            for k, why in enumerate(entries.unused(item["reasons"])):
                name = f"the gradient printed in line {printed['line']}"
                lines = [f"{head} {text}" if head else text for head, text in causes(
                    answer["file"], [name], None, why, k, texts=answer.get("lines"))]
                if lines[0] not in said:
                    said.add(lines[0])
                    yield from lines
            for note in item["notes"]:
                what = "what is" if note["code"].startswith(
                    ("nan-", "range-", "digits-")) else "the gradient"
                line = (f"note: {what} printed in line {printed['line']}: {note['message']}"
                        f"{entries.line(note)}")
                if line not in said:
                    said.add(line)
                    yield line
    for note in answer["notes"]:
        yield f"note: {note['message']} (line {note['line']})"


def details(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that -v adds: how many expectations hold, and the size of each tape."""
    if answer["expects"]:
        held = sum(expect["holds"] for expect in answer["expects"])
        yield f"note: {held} of {len(answer['expects'])} expectations hold"
    for tape in answer["held"]:
        entries = "1 entry" if tape["entries"] == 1 else f"{tape['entries']:,} entries"
        yield (f"note: tape {tape['tape']} held {entries} and {tape['bytes']:,} bytes of arrays at"
               " its end")
