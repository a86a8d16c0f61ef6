"""Markdown: a heading line per result and GitHub's pipe tables, numbers in full.

Names are code spans; text of others cannot break a table or start markup.
"""

from __future__ import annotations

from gradcli.render import entries
from gradcli.render import page as parts
from gradcli.render.numbers import significant, visible
from gradcli.render.page import Code, Page, Phrase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


LEFT, RIGHT = ":--", "--:"


def write(pages: Sequence[Page]) -> str:
    """Return all pages; blocks are separated by blank lines, remarks are one list."""
    texts: list[str] = []
    for page in pages:
        before = None
        for block in page.blocks:
            text = _block(block, page.digits)
            if text and isinstance(block, parts.Remark) and isinstance(before, parts.Remark):
                texts[-1] += text
            elif text:
                texts.append(text)
            before = block
    return "\n".join(texts)


def _block(block: parts.Block, digits: int | None) -> str:
    if isinstance(block, parts.Title):
        pieces = block.pieces if isinstance(block.pieces, tuple) else (block.pieces,)
        texts = [one if isinstance(one, str) else significant(one, digits) for one in pieces]
        return f"{_inline(texts)}\n"
    if isinstance(block, parts.Verdict):
        return f"**{prose(block.word)}**{block.message and f': {prose(block.message)}'}\n"
    if isinstance(block, parts.Facts):
        return "".join([
            f"- {prose(name) if isinstance(name, Phrase) else name}: {_inline([value], digits)}\n"
            for name, value in block.rows])
    if isinstance(block, parts.Table):
        return table(
            [head if type(head) is str else _inline([head]) for head in block.head],
            [LEFT if side == "l" else RIGHT for side in block.sides],
            [["<br>".join([_inline([line], digits) for line in value if line])
              if isinstance(value, tuple) else _inline([value], digits) for value in row]
             for row in block.rows])
    if isinstance(block, (parts.Equations, parts.Preformatted)):
        return "\n".join(["```text", *block.lines, "```\n"])
    if isinstance(block, parts.Causes):
        return _remarks(block.items)
    if isinstance(block, parts.Remark):
        return f"- {block.head and f'{block.head} '}{prose(block.text)}\n"
    assert isinstance(block, parts.Paragraph)
    return f"{prose(block.text)}\n"


def _inline(pieces: Iterable[Any], digits: int | None = None) -> str:
    """Return code, sentences and numbers, one behind the other."""
    return "".join([
        code(piece) if isinstance(piece, Code) else prose(piece) if isinstance(piece, str) else
        _inline(piece, digits) if isinstance(piece, tuple) else
        "" if piece is None else significant(piece, digits) for piece in pieces])


def code(text: str) -> str:
    """Return a code span, safe in a table cell."""
    shown = visible(text).replace("|", "\\|")
    fence = "`" if "`" not in shown else "``"
    space = " " if "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}" if shown else ""


def prose(text: str) -> str:
    """Return a sentence in which text in backquotes is code, and all else is free of markup."""
    pieces = visible(text).split("`")
    if len(pieces) % 2 == 0:
        return _escaped("`".join(pieces))
    return "".join([code(piece) if at % 2 else _escaped(piece) for at, piece in enumerate(pieces)])


def _escaped(text: str) -> str:
    for character in "\\`*_[]|<>":
        text = text.replace(character, "\\" + character)
    return text


def table(header: Sequence[str], sides: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a pipe table of finished cells."""
    lines = [header, sides, *rows]
    return "".join([f"| {' | '.join(line)} |\n" for line in lines])


def _remarks(items: entries.Named) -> str:
    lines = []
    for names, value, remark, _ in [*entries.reasons(items), *entries.notes(items)]:
        who = code(entries.listed(names)) + (" is None" if value is None else "")
        fix = f"; fix: {code(remark['fix'])}" if remark.get("fix") else ""
        lines.append(f"- {f'{who}: ' if who else ''}{prose(remark['message'])}"
                     f"{entries.line(remark)}{fix}\n")
    return "".join(lines)
