"""Text of others made harmless for the place where it goes: a spreadsheet, Markdown, a file name.

Unprintable characters are visible escapes everywhere (`render.visible`).
"""

from __future__ import annotations

import hashlib

from gradcli.render import numbers
from gradcli.render.delimited import FORMULA
from gradcli.render.delimited import cell as formula_safe
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIGITS = 4          # of the values that a student sees
SLUG = 40           # characters of an id in a file name
DIGEST = 12         # hexadecimal digits behind it: 100,000 students collide once in 50,000 classes
# What begins markup or an entity, or makes a link, in CommonMark and GitHub's and TeX's additions.
MARKUP = {ord(character): "\\" + character for character in "\\`*_{}[]<>|&~$@#^"}


def cell(text: str | None, raw: bool = False) -> str:
    """A text cell of a CSV file; raw: without the apostrophe that keeps a formula from running."""
    text = text or ""
    return visible(text) if raw else formula_safe(text)


def uncell(text: str) -> str:
    """The cell without the apostrophe that `cell` puts in front."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def number(value: float | None) -> str:
    """A number cell; empty for None."""
    return "" if value is None else numbers.exact(value)


def file_stem(id: str) -> str:
    """A name for a file that belongs to `id`: letters, digits, `.`, `_` and `-` only, no dot in
    front. That is the id itself where it is such a name in small letters; all others get a digest,
    so that no two ids share a file on any file system.
    """
    slug = "".join([c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in id])
    slug = slug.strip("._-")[:SLUG] or "student"
    if slug == id and id.islower() | id.isdecimal() and not RESERVED.fullmatch(id):
        return id
    return f"{slug}-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:DIGEST]}"


def code(text: str) -> str:
    """A code span; its fence is longer than any run of backquotes in the text."""
    shown = visible(text)
    if not shown.strip():
        return f"`{shown}`" if shown else ""
    fence = "`"
    while fence in shown:
        fence += "`"
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}"


def prose(text: str) -> str:
    """A sentence for Markdown; what stands in backquotes is code, all else is no markup."""
    pieces = visible(text).split("`")
    if len(pieces) % 2 == 0:
        return plain("`".join(pieces))
    return "".join([code(piece) if at % 2 else plain(piece) for at, piece in enumerate(pieces)])


def plain(text: str) -> str:
    """Text that Markdown shows as it is. Not for the beginning of a line."""
    shown = visible(text).translate(MARKUP)
    # GitHub makes links of bare addresses.
    return shown.replace("://", "\\://").replace("www.", "www\\.").replace("WWW.", "WWW\\.")


def rounded(value: Any) -> str:
    """A number or nested lists of numbers for a student."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(rounded, value))}]"
    if isinstance(value, str):      # NaN and infinities, from JSON
        return visible({"NaN": "undefined", "Infinity": "infinite",
                        "-Infinity": "minus infinite"}.get(value, value))
    if value is None or value != value:
        return "undefined"
    return numbers.significant(float(value), DIGITS)


def point(at: dict[str, Any]) -> str:
    """`x = 1.5, y = 2`."""
    return ", ".join([f"{visible(name)} = {rounded(value)}" for name, value in at.items()])
