"""CSV and TSV, for spreadsheets and data frames.

Text that a spreadsheet would run as a formula gets a leading apostrophe (CWE-1236); numbers stay
numbers.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.render.page import Page

# The full-width forms are what some spreadsheets normalise before they look for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write(pages: Iterable[Page], delimiter: str) -> str:
    """Return the records of all pages."""
    return lines([row for page in pages for row in page.records], delimiter)


def lines(rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    """Return rows of texts, numbers and None."""
    import csv
    import io

    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(
        ["" if value is None else cell(value) if isinstance(value, str) else (
            cell if type(value) is numbers.Exact else str)(numbers.exact(value))
         for value in row] for row in rows)
    return stream.getvalue()


def cell(text: str) -> str:
    """Return a text in a form that is safe in a spreadsheet and on a terminal."""
    shown = visible(text)
    return f"'{shown}" if text.startswith(FORMULA) else shown
