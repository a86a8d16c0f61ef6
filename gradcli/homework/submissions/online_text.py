"""What students write into the editor of a web page, as plain text.

`html.parser` takes minutes for some texts of 64 KiB; here every character is looked at once.
"""

from __future__ import annotations

import html
import re

# Elements that begin and end a line.
BLOCKS = frozenset(
    "address article blockquote br dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre section table td"
    " th tr ul".split())
UNSEEN = frozenset("head script style template title".split())
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,30})")


def plain(page: str) -> str:
    """The text of a page; raised letters are powers: x<sup>2</sup> is x^(2)."""
    parts: list[str] = []
    unseen: str | None = None
    for closing, name, data in _pieces(page):
        if unseen is not None:
            if not (closing and name == unseen):
                continue
            unseen = None
        elif name in UNSEEN and not closing:
            unseen = name
            continue
        if name in BLOCKS:
            parts.append("\n")
        elif name == "sup":
            parts.append(")" if closing else "^(")
        elif name == "sub" and not closing:
            parts.append("_")
        parts.append(html.unescape(data).replace("\n", " ").replace("\xa0", " "))
    return "\n".join([" ".join(line.split()) for line in "".join(parts).split("\n")])


def _pieces(page: str) -> list[tuple[bool, str, str]]:
    """(whether it closes, the element's name, the text behind the tag); the first has no name."""
    found = []
    closing, name, start, at = False, "", 0, 0
    ends = True     # whether there is another end of a comment
    while (at := page.find("<", at)) >= 0:
        tag = _TAG.match(page, at)
        if tag is None and not page.startswith(("<!", "<?"), at):
            at += 1
            continue
        end = page.find(">", at)
        if ends and page.startswith("<!--", at):
            behind = page.find("-->", at)
            ends = behind >= 0
            end = behind + 2 if ends else end
        if end < 0:
            break
        found.append((closing, name, page[start:at]))
        closing, name = (tag[1] == "/", tag[2].lower()) if tag else (False, "")
        start = at = end + 1
    found.append((closing, name, page[start:]))
    return found
