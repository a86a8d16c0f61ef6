"""What a program printed and expected, in every format."""

from __future__ import annotations

from gradcli.render.numbers import exact
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def line(printed: dict[str, Any]) -> str:
    """One print as a line of text, its values separated by blanks."""
    return " ".join([item["text"] for item in printed["values"]]) + "\n"


def fill(printed: dict[str, Any]) -> dict[str, Any]:
    """The same print with the text of each value."""
    for item in printed["values"]:
        item["text"] = exact(item["value"])
    return printed


def render(answer: dict[str, Any], format: str) -> str:
    """The whole answer as text; empty if there is nothing to print."""
    if format in ("json", "ndjson"):
        from gradcli.render.json import dump

        if format == "json":
            return dump(answer) + "\n"
        return "".join([dump(item) + "\n" for item in (*answer["printed"], *answer["expects"])])
    if format in ("csv", "tsv"):
        import csv
        from io import StringIO

        buffer = StringIO()
        writer = csv.writer(
            buffer, delimiter="\t" if format == "tsv" else ",", lineterminator="\n")
        writer.writerow(["line", "printed"])
        writer.writerows([
            [printed["line"], *[item["text"] for item in printed["values"]]]
            for printed in answer["printed"]])
        return buffer.getvalue()
    if format in ("markdown", "latex"):
        return _table(answer, format)
    return "".join([line(printed) for printed in answer["printed"]])


def _table(answer: dict[str, Any], format: str) -> str:
    rows = [(str(printed["line"]), visible(line(printed)[:-1])) for printed in answer["printed"]]
    if format == "markdown":
        body = [f"| {number} | {text.replace('|', chr(92) + '|')} |" for number, text in rows]
        return "\n".join(["| line | printed |", "|---:|---|", *body]) + "\n"
    from gradcli.render.latex import escaped

    body = [rf"{number} & {escaped(text)} \\" for number, text in rows]
    return "\n".join([
        r"\begin{tabular}{rl}", r"line & printed \\", r"\hline", *body, r"\end{tabular}"]) + "\n"


def failures(answer: dict[str, Any]) -> Iterator[str]:
    """A line for each expectation that does not hold."""
    for expect in answer["expects"]:
        if not expect["holds"]:
            sides = (f"left is {exact(expect['left'])}, right is {exact(expect['right'])}"
                     if expect["right"] is not None or expect["left"] is not False
                     else "it is false")
            yield f"{answer['file']}:{expect['line']}: expectation does not hold: {sides}"


def remarks(answer: dict[str, Any], with_notes: bool) -> Iterator[str]:
    """Why something printed was None, and the notes on the run."""
    from gradcli.render import causes

    said: set[str] = set()
    for printed in answer["printed"]:
        for item in printed["values"]:
            for k, why in enumerate(item["reasons"]):
                name = f"None in line {printed['line']}"
                lines = [f"{head} {text}" if head else text for head, text in causes.lines(
                    answer["file"], [name], None, why, k)]
                if lines[0] not in said:
                    said.add(lines[0])
                    yield from lines
    for note in answer["notes"] if with_notes else ():
        yield f"note: {note['message']} (line {note['line']})"
