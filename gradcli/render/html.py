"""HTML: one page that needs nothing else, no network and no script, and that prints on A4.

Formulas are MathML, made of the LaTeX that phrases have; shares are bars in SVG. Whatever a text
holds is shown as text: it is escaped, and the page allows nothing but its own style.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from html import escape

from gradcli.render import entries
from gradcli.render import page as parts
from gradcli.render.messages import causes
from gradcli.render.numbers import significant, visible
from gradcli.render.page import Bar, Code, Phrase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradcli.render.page import Page

# A4 has room for some 90 characters in a line; formulas do not break, code does.
LONGEST = 72
LONGEST_CELL = 40
BAR = 120       # pixels
FILLS = {"green": "#2e7d32", "red": "#c0392b", "yellow": "#e0a800", "dim": "#c8c8c8",
         "": "#33659c"}
"""Style of a share to its colour; they differ in lightness, too."""

CSS = """
:root { color-scheme: light dark; --text: #1a1a1a; --page: #fff; --quiet: #555; --line: #ddd;
  --strong: #888; --code: #f4f4f4; --bad: #a32117; --good: #1f6b25; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --page: #16181b; --quiet: #a9adb3; --line: #34383d; --strong: #7d838b;
    --code: #24282d; --bad: #ff8a7a; --good: #7fd18b; }
}
body { font: 16px/1.45 "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif;
  color: var(--text); background: var(--page); max-width: 62em; margin: 0 auto;
  padding: 1em 1.2em 3em; }
h1 { font-size: 1.7em; line-height: 1.2; margin: .4em 0; }
h2 { font-size: 1.2em; margin: 1.8em 0 .4em; border-bottom: 1px solid var(--strong); }
h1, h2, p, dd, td, th, code, li { overflow-wrap: anywhere; unicode-bidi: isolate; }
p { margin: .5em 0; max-width: 46em; }
table { border-collapse: collapse; max-width: 100%; min-width: 50%;
  margin: .6em 0 1em; font-size: .94em; }
caption { text-align: left; color: var(--quiet); padding: 0 0 .3em; }
th, td { text-align: left; vertical-align: top; padding: .28em .7em .28em 0;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--strong); overflow-wrap: normal; }
tbody th { font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bad { color: var(--bad); }
.good { color: var(--good); }
code { font: .92em "DejaVu Sans Mono", Consolas, Menlo, monospace; background: var(--code);
  padding: 0 .2em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); padding: .5em; }
dl { margin: .4em 0; }
dl div { display: flex; gap: .8em; padding: .15em 0; }
dt { flex: 0 0 8.5em; color: var(--quiet); }
dd { margin: 0; flex: 1 1 auto; min-width: 0; }
svg { vertical-align: middle; margin-right: .5em; }
figure { margin: 1em 0; }
img { max-width: 100%; height: auto; background: #fff; }
.bar { white-space: nowrap; }
h1 code, h2 code { background: none; padding: 0; }
math { font-size: 1.08em; }
@media screen { td:has(math) { white-space: nowrap; } }
.eq, .wide { max-width: 100%; overflow-x: auto; }
.eq mtd { text-align: left; }
.eq mtd:first-child { text-align: right; }
@page { size: A4; margin: 16mm 15mm; }
@media print {
  body { font-size: 10.5pt; max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  tr, dl div { break-inside: avoid; }
  thead { display: table-header-group; }
  th, td { padding-right: .5em; }
  code, pre { background: none; }
  .eq, .wide { overflow: visible; }
}
"""


def write(pages: Sequence[Page]) -> str:
    """Return all pages as one document; its first title is that of the whole."""
    title = "gradcli"
    body: list[str] = []
    for page in pages:
        for block in page.blocks:
            first = isinstance(block, parts.Title) and not any(
                text.startswith("<h1>") for text in body)
            body.append(_block(block, page.digits, "h1" if first else "h2"))
            if first:
                title = _said(block, page.digits)
    allowed = f"default-src 'none'; style-src 'sha256-{_digest(CSS)}'; img-src data:"
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">', f"<title>{_text(title)}</title>",
        f"<style>{CSS}</style>", "</head>", "<body>", "<main>",
        *[text for text in body if text], "</main>", "</body>", "</html>", ""])


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _said(title: Any, digits: int | None) -> str:
    pieces = title.pieces if isinstance(title.pieces, tuple) else (title.pieces,)
    return "".join([one if isinstance(one, str) else significant(one, digits) for one in pieces])


def _block(block: parts.Block, digits: int | None, head: str) -> str:
    if isinstance(block, parts.Title):
        pieces = block.pieces if isinstance(block.pieces, tuple) else (block.pieces,)
        return f"<{head}>{inline(pieces, digits)}</{head}>"
    if isinstance(block, parts.Verdict):
        kind = {parts.GOOD: ' class="good"', parts.BAD: ' class="bad"'}.get(block.style, "")
        message = f": {_prose(block.message)}" if block.message else ""
        return f"<p><strong{kind}>{_text(block.word)}</strong>{message}</p>"
    if isinstance(block, parts.Facts):
        return _list([(inline([name]), inline([value], digits)) for name, value in block.rows])
    if isinstance(block, parts.Table):
        return _table(block, digits)
    if isinstance(block, parts.Equations):
        return _equations(block.lines)
    if isinstance(block, parts.Causes):
        return _causes(block)
    if isinstance(block, parts.Remark):
        before = f"<strong>{_text(block.head)}</strong> " if block.head else ""
        return f"<p>{before}{_prose(block.text)}</p>"
    if isinstance(block, parts.Preformatted):
        return _pre(block.lines)
    if isinstance(block, parts.Picture):
        data = base64.b64encode(block.svg).decode()
        return (f'<figure><img src="data:image/svg+xml;base64,{data}" alt="{_text(block.text)}">'
                "</figure>")
    assert isinstance(block, parts.Paragraph)
    return f"<p>{inline([block.text])}</p>"


def _list(rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows]
    return "\n".join(["<dl>", *lines, "</dl>"]) if lines else ""


def _table(block: parts.Table, digits: int | None) -> str:
    sides = [' class="n"' if side == "r" else "" for side in block.sides]
    heads = "".join([f'<th scope="col"{side}>{inline([head])}</th>'
                     for head, side in zip(block.head, sides, strict=True)])
    lines = ['<div class="wide">', "<table>"]
    if block.caption:
        lines.append(f"<caption>{_prose(block.caption)}</caption>")
    lines += [f"<thead><tr>{heads}</tr></thead>", "<tbody>"]
    for at, row in enumerate(block.rows):
        wrong = ' class="bad"' if at in block.wrong else ""
        high = _height(row)
        for line in range(high):
            cells = ""
            for k, (value, side) in enumerate(zip(row, sides, strict=True)):
                several = high > 1 and isinstance(value, tuple) and len(value) > 1
                if line and not several:
                    continue
                start, end = ('<th scope="row"', "</th>") if k == 0 else ("<td", "</td>")
                span = f' rowspan="{high}"' if high > 1 and not several else ""
                cell = _cell(value[line] if several else value, digits)
                cells += f"{start}{side}{span}>{cell}{end}"
            lines.append(f"<tr{wrong}>{cells}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>", "</div>"])


def _height(row: Sequence[Any]) -> int:
    """Return the number of lines of a row whose cells have lines that belong together, else 1."""
    counts = [len(value) for value in row if isinstance(value, tuple) and len(value) > 1]
    return counts[0] if len(counts) > 1 and len(set(counts)) == 1 else 1


def _cell(value: Any, digits: int | None) -> str:
    lines = value if isinstance(value, tuple) else (value,)
    return "<br>".join([inline([line], digits, LONGEST_CELL) for line in lines
                        if line not in ("", None)])


def inline(pieces: Iterable[Any], digits: int | None = None, longest: int = LONGEST) -> str:
    """Return formulas, code, sentences and numbers, one behind the other."""
    return "".join([
        _bar(piece) if isinstance(piece, Bar) else
        _formula(piece, longest) if isinstance(piece, Phrase) and piece.tex else
        f"<code>{_text(piece)}</code>" if isinstance(piece, Code) else
        _prose(piece) if isinstance(piece, str) else
        inline(piece, digits, longest) if isinstance(piece, tuple) else
        "" if piece is None else _text(significant(piece, digits)) for piece in pieces])


def _text(text: str) -> str:
    return escape(visible(text))


def _prose(text: str) -> str:
    """Return a sentence in which text in backquotes is code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return _text(text)
    return "".join([f"<code>{_text(piece)}</code>" if at % 2 else _text(piece)
                    for at, piece in enumerate(pieces)])


def _bar(piece: Bar) -> str:
    """Return the picture of shares, and its text beside it."""
    at, drawn = 0.0, ""
    for style, share in piece.shares:
        drawn += (f'<rect x="{at:.4g}" y="0" width="{100 * share:.4g}" height="12"'
                  f' fill="{FILLS[style]}"/>')
        at += 100 * share
    label = _text(piece.label)
    return (f'<span class="bar"><svg width="{BAR}" height="12" viewBox="0 0 100 12"'
            f' preserveAspectRatio="none" role="img"><title>{label}</title>{drawn}</svg>'
            f'{_text(piece)}</span>')


def _causes(block: parts.Causes) -> str:
    """Return why gradients are None, with place and fix as on a terminal, and notes."""
    lines = []
    for names, value, reason, at in entries.reasons(block.items):
        (_, first), *more = causes(
            block.answer.get("file") or "", names, value, reason, at,
            texts=block.answer.get("lines"), of=entries.count(block.items))
        lines.append(f"<p>{_prose(first)}</p>")
        lines.append(_pre([f"{head} {text}".removeprefix(" ") for head, text in more]))
    lines += [f"<p><strong>note:</strong> {_prose(entries.sentence(names, note))}</p>"
              for names, _, note, _ in entries.notes(block.items)]
    return "\n".join([line for line in lines if line])


def _pre(lines: Sequence[str]) -> str:
    return f"<pre>{escape(chr(10).join(map(visible, lines)))}</pre>" if lines else ""


def _equations(lines: Sequence[str]) -> str:
    """Return equations below each other, aligned at the sign."""
    tex = [line.tex for line in lines
           if isinstance(line, Phrase) and line.tex and len(line) <= LONGEST]
    drawn = len(tex) == len(lines) and mathml(
        r"\begin{align*}" + r" \\ ".join(tex) + r"\end{align*}")
    return f'<p class="eq"><math displaystyle="true">{drawn}</math></p>' if drawn else _pre(lines)


# --------------------------------------------------------------------------------------------------
# Formulas.

def _formula(piece: Phrase, longest: int) -> str:
    """Return a formula as MathML; as code, which can be broken into lines, where it is long."""
    drawn = "" if len(piece) > longest else mathml(piece.tex.replace("&=", "="))
    if not drawn:
        return f"<code>{_text(piece)}</code>"
    return f'<math alttext="{_text(piece)}">{drawn}</math>'


def typesets() -> bool:
    """Return whether the library that makes MathML is there."""
    try:
        import latex2mathml.converter  # noqa: F401
    except ImportError:
        return False
    return True


@lru_cache(10_000)
def mathml(tex: str) -> str:
    """Return what stands in the MathML of LaTeX; "" for what cannot be converted."""
    if not typesets():
        return ""
    from latex2mathml.converter import convert

    try:
        return str(convert(tex)).partition(">")[2].removesuffix("</math>")
    except Exception:   # it raises what it likes, and the text says the same
        return ""
