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
    ending = name.rpartition(".")[2].lower()
    if ending not in SEPARATORS:
        raise error("E0611", f"`{name}` is neither .csv nor .tsv", help="give a file of numbers")
    rows = _rows(_path(source, name), name, SEPARATORS[ending])
    if not rows:
        raise error("E0611", f"`{name}` is empty", help="give a file of numbers")
    first = [_number(cell) for cell in rows[0][1]]
    header = None if None not in first else _header(name, rows, first)
    width = len(rows[0][1]) if header is None else len(header)
    table = np.empty((len(rows), width))
    for k, (line, row) in enumerate(rows):
        numbers = [_number(cell) for cell in row]
        if len(row) != width or None in numbers:
            raise _bad_row(name, line, row, width, numbers)
        table[k] = numbers
    if header is None:
        return table
    return {title: np.array(table[:, k]) for k, title in enumerate(header)}


def _path(source: Source, name: str) -> str:
    """Where the file is, links followed. Raises E0610 unless that is below the program's folder."""
    import os

    folder = os.path.realpath(os.path.dirname(source.name) or ".")
    if "\0" not in name and "\\" not in name and not os.path.isabs(name):
        path = os.path.realpath(os.path.join(folder, name))
        if os.path.commonpath([folder, path]) == folder:
            return path
    raise error("E0610", f"`{name}` lies outside the program's own folder",
                help="put the file beside the program")


def _rows(path: str, name: str, separator: str) -> list[tuple[int, list[str]]]:
    """(line, cells) of each line that is not blank. Raises E0611, and E0403 before a large file."""
    import csv
    import os

    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(0, "it is a folder" if os.path.isdir(path) else "it is no regular file")
        # A number takes a character and a separator at least.
        check_bytes(4.0 * os.path.getsize(path))
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            return [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except csv.Error as problem:
        reason = str(problem)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
    raise error("E0611", f"cannot read `{name}`: {reason}",
                help="give the name of a file of numbers beside the program")


def _header(name: str, rows: list[tuple[int, list[str]]], numbers: list[float | None]) -> list[str]:
    """The first row as names, taken off. Raises E0612 for one that looks like a row of numbers, has
    no rows below it, or names a column twice or not at all.
    """
    line, cells = rows.pop(0)
    titles = [cell.strip() for cell in cells]
    if not rows or "" in titles:
        what = "" in titles and any(n is not None for n in numbers)
        raise (_bad_row(name, line, cells, len(cells), numbers) if what else error(
            "E0612", f"`{name}` has a header and no numbers" if not rows else
            f"`{name}`, line {line}: column {titles.index('') + 1} has no name",
            help="give lines of numbers, separated by commas, in tsv files by tabs"))
    for title in titles:
        if titles.count(title) > 1:
            raise error("E0612", f"`{name}`, line {line}: two columns are called `{title}`",
                        help="give each column a name of its own")
    return titles


def _number(cell: str) -> float | None:
    if not cell.isascii() or "_" in cell:       # Python reads 1_000 and the digits of all scripts
        return None
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
