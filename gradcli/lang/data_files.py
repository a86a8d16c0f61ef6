"""`load("name.csv")`: numbers from a file beside the program, and from nowhere else."""

from __future__ import annotations

from gradcli.errors import error
from gradcli.ops.lazy import np
from gradcli.ops.values import check_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.errors import GradcliError
    from gradcli.source import Source

SEPARATORS = {"csv": ",", "tsv": "\t"}


def load(source: Source, name: str) -> Any:
    """A file of numbers, below the program's own folder.

    Without a header a tensor [rows, columns]; with one, a dictionary of columns [rows]. Raises
    E0610 for a file elsewhere, E0611 for one that cannot be read, E0612 for what is no number.
    """
    import csv
    import os

    ending = name.rpartition(".")[2].lower()
    if ending not in SEPARATORS:
        raise error("E0611", f"`{name}` is neither .csv nor .tsv", help="give a file of numbers")
    folder = os.path.realpath(os.path.dirname(source.name) or ".")
    path = os.path.realpath(os.path.join(folder, name))
    if os.path.isabs(name) or "\\" in name or os.path.commonpath([folder, path]) != folder:
        raise error("E0610", f"`{name}` lies outside the program's own folder",
                    help="put the file beside the program")
    try:
        check_bytes(8.0 * os.path.getsize(path))
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=SEPARATORS[ending]) if row]
    except (OSError, ValueError, csv.Error) as problem:
        reason = getattr(problem, "strerror", None) or "it is no text in UTF-8"
        raise error("E0611", f"cannot read `{name}`: {reason.lower()}",
                    help="give the name of a file beside the program") from None
    if not rows:
        raise error("E0611", f"`{name}` is empty", help="give a file of numbers")
    header = None if all(_number(cell) is not None for cell in rows[0]) else rows.pop(0)
    width = len(header or rows[0])
    table = np.empty((len(rows), width))
    for k, row in enumerate(rows):
        numbers = [_number(cell) for cell in row]
        if len(row) != width or None in numbers:
            raise _bad_row(name, k + 1 + (header is not None), row, width, numbers)
        table[k] = numbers
    if header is None:
        return table
    return {title.strip(): np.array(table[:, k]) for k, title in enumerate(header)}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _bad_row(name: str, line: int, row: list[str], width: int, numbers: list[float | None]
             ) -> GradcliError:
    if len(row) != width:
        return error("E0612", f"`{name}`, line {line}: {len(row)} cells, not {width}",
                     help="give every line as many cells as the first")
    column = numbers.index(None)
    return error("E0612", f"`{name}`, line {line}, column {column + 1}: {row[column]!r:.30} is no"
                 " number", help="leave out the line, or write nan")
