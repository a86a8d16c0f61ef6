"""Text of others made harmless for the place where it goes: a spreadsheet, Markdown, a file name.

Unprintable characters are visible escapes everywhere (`render.visible`).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from gradcli.render import numbers
from gradcli.render.delimited import FORMULA
from gradcli.render.delimited import cell as formula_safe
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

DIGITS = 4          # of the values that a student sees
SLUG = 40           # characters of an id in a file name
DIGEST = 12         # hexadecimal digits behind it: 100,000 students collide once in 50,000 classes
# Names that end as if they had a digest, and those of devices in Windows.
SPECIAL = re.compile(rf"-[0-9a-f]{{{DIGEST}}}$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")
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


def file_stems(ids: Iterable[str]) -> dict[str, str]:
    """Names for files that belong to ids: letters, digits, `.`, `_` and `-` only, no dot in front.

    An id that is such a name is its own. All others have a digest behind them, and so have those
    that some file systems take for the same (s1 and S1), or for a device: no two ids share a file.
    """
    found = {id: _slug(id) for id in ids}
    same = Counter([stem.lower() for id, stem in found.items() if stem == id])
    for id, stem in found.items():
        if stem != id or same[stem.lower()] > 1 or SPECIAL.search(stem.lower()):
            found[id] = f"{stem}-{_digest(id)}"
    return found


def _slug(id: str) -> str:
    slug = "".join([c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in id])
    return slug.strip("._-")[:SLUG] or "student"


def _digest(id: str) -> str:
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]


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


def rounded(value: Any, digits: int = DIGITS) -> str:
    """A number or nested lists of numbers for a student."""
    if isinstance(value, list | tuple):
        return f"[{', '.join([rounded(one, digits) for one in value])}]"
    if isinstance(value, str):      # NaN and infinities, from JSON
        return visible({"NaN": "undefined", "Infinity": "infinite",
                        "-Infinity": "minus infinite"}.get(value, value))
    if value is None or value != value:
        return "undefined"
    return numbers.significant(float(value), digits)


def point(at: dict[str, Any]) -> str:
    """`x = 1.5, y = 2`."""
    return ", ".join([f"{visible(name)} = {rounded(value)}" for name, value in at.items()])
