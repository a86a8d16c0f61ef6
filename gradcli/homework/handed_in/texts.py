"""Text decoded from bytes that may be anything, and the answers in it."""

from __future__ import annotations

import html
import os
import re
import stat

from gradcli.homework.handed_in.records import WORD, Ids, Parsed, Unreadable, short
from gradcli.lang.paper.left import formula_lines

MAX_BYTES = 64 * 1024
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read_bytes(path: str, limit: int = MAX_BYTES, follow: bool = False) -> bytes:
    """Read the bytes of a regular file. Raises `Unreadable`.

    The name may stand for another file since it was listed: it is opened without following a link
    and without waiting for a FIFO's other end, and checked once it is open.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    flags |= getattr(os, "O_BINARY", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as problem:
        raise Unreadable(_reason(problem)) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("not a regular file")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as problem:
        raise Unreadable(_reason(problem)) from None
    finally:
        os.close(handle)
    if len(data) > limit:
        raise Unreadable(f"larger than {limit // 1024:,} KiB")
    return data


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()


def text(data: bytes) -> tuple[str, str | None]:
    r"""Return the text, and a remark on its encoding if it is not UTF-8. Line ends are \n.

    A byte order mark identifies UTF-16. All else must look like a text of Windows-1252. Raises
    `Unreadable`.
    """
    remark = None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            found, remark = data.decode("utf-16"), "read as UTF-16"
        except UnicodeDecodeError:
            raise Unreadable("begins as UTF-16, but is none") from None
        if "\0" in found:
            raise Unreadable("not a text: it holds a NUL character")
    elif b"\0" in data:
        raise Unreadable("not a text: it holds a NUL byte")
    else:
        try:
            found = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            found, remark = _windows(data), "not UTF-8: read as Windows-1252"
    return found.replace("\r\n", "\n").replace("\r", "\n"), remark


def _windows(data: bytes) -> str:
    try:
        found = data.decode("cp1252")
    except UnicodeDecodeError:
        raise Unreadable("not a text: neither UTF-8 nor Windows-1252") from None
    if _CONTROL.search(found):
        raise Unreadable("not a text: it holds control characters, and is not UTF-8")
    return found


# --------------------------------------------------------------------------------------------------
# answers.txt: what a student types into an editor.
#
#     # student: s1234567
#     1a: 2x sin x + x^2 cos x
#     1b) f'(x) = 3x^2
#     2 = <2x+3y, 3x>
#     3:                          nothing is no answer
#     4: x^2 + 2x +
#        17                       indented lines continue
#
# Other lines that begin with # are comments. A line that is not indented and begins with no id was
# most likely broken by an editor: it continues, too, and a note says so. The end of a line stays in
# an answer where a formula may end there: lines may be steps of their own.

_STUDENT = re.compile(r"#\s*+student(?:\s+id)?\s*[:=]\s*(\S.*)", re.IGNORECASE)
# An id that could be one, but is not of this sheet: 7: 12b) a3:
_OTHER = re.compile(
    rf"(?:{WORD}\s*)?\(?(\d{{1,4}}[a-z]{{0,3}}(?:[.-]\w{{1,3}})?|[a-z]\d{{1,4}})\s*[:)]\s*(.*)",
    re.IGNORECASE | re.DOTALL)


def parse(text: str, ids: Ids) -> Parsed:
    """Return the answers in a text."""
    parsed = Parsed(ids)
    id: str | None = None
    lines: list[str] = []
    start = 0

    def finish() -> None:
        if id is not None:
            formulas = formula_lines("\n".join(filter(None, map(str.strip, lines))), minus=True)
            parsed.add(id, "\n".join([one.replace("\n", " ") for one in formulas]), start)

    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare:
            continue
        if line.startswith("#"):
            said = _STUDENT.match(line)
            if said and parsed.student is None:
                parsed.student = said[1].strip()
            continue
        if line[0].isspace() and id is not None:
            lines.append(bare)
            continue
        found = ids.line.fullmatch(bare)
        if found:
            finish()
            id, start, lines = found[1] or found[2], number, [found[3]]
            continue
        found = _OTHER.fullmatch(bare)
        if found:
            finish()
            id, start, lines = found[1], number, [found[2]]
        elif id is None:
            parsed.note("skipped", f"`{short(bare)}` belongs to no problem", number)
        else:
            parsed.note("joined", f"`{short(bare)}` is taken for the rest of the answer to {id}",
                        number)
            lines.append(bare)
    finish()
    return parsed


# --------------------------------------------------------------------------------------------------
# What students write into the editor of a web page, as plain text.
#
# `html.parser` takes minutes for some texts of 64 KiB; here every character is looked at once.

# Elements that begin and end a line.
BLOCKS = frozenset(
    "address article blockquote br dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre section table td"
    " th tr ul".split())
UNSEEN = frozenset("head script style template title".split())
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,30})")


def plain(page: str) -> str:
    """Return the text of a page in HTML; raised letters are powers: x<sup>2</sup> is x^(2)."""
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
    """Return (whether it closes, element's name, text behind the tag) for each tag; the first has
    none.
    """
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
