"""Derivatives as formulas: files in the language that was asked for, or lines for people.

An answer holds the formulas as text in its language; here they get names, a head and a frame.
"""

from __future__ import annotations

from gradcli.render import numbers, write
from gradcli.render.layouts.formulas import FILES, closed, doubts, heading, why
from gradcli.render.markdown import code
from gradcli.render.numbers import visible
from gradcli.render.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Answer = dict[str, Any]

MISSING, OFF = "\x1b[33m", "\x1b[0m"
"""A derivative that is None is yellow, as in the tables of numbers."""


def page(answer: Answer) -> Page:
    """Return names and formulas, for shells and spreadsheets."""
    return Page(fields=_fields(answer), records=_records(answer))


def _fields(answer: Answer) -> Iterator[tuple[str, str]]:
    for one in answer["definitions"]:
        yield one["name"], one["formula"]
    for result in answer["results"]:
        yield heading(result), str(result["formula"])


def table(answer: Answer, width: int | None = None, color: bool = False) -> str:
    """Return equations below each other, those that define names first. Longer ones continue below
    the sign, if there is a width.
    """
    rows = [(d["name"], d["formula"], False) for d in answer["definitions"]]
    rows += [(heading(r), r["formula"] or f"None: {why(r)}", r["formula"] is None)
             for r in answer["results"]]
    names = max([len(name) for name, _, _ in rows], default=0)
    lines: list[str] = []
    for t in answer["targets"]:
        if t["formula"]:
            lines += _folded(f"{visible(t['of'])} = ", visible(t["formula"]), width)
    if lines:
        lines.append("")
    for name, text, missing in rows:
        shown = _folded(f"{visible(name):<{names}} = ", visible(text), width)
        lines += [f"{MISSING}{line}{OFF}" for line in shown] if missing and color else shown
    if answer["conditions"]:
        lines += ["", *_folded("holds where ", visible(" and ".join(answer["conditions"])), width)]
    if answer["conditions"]:
        lines += [visible(text) for text in doubts(answer)]
    return "\n".join(lines) + "\n"


def _folded(head: str, text: str, width: int | None) -> list[str]:
    """Return a head and a text in lines of at most `width` where possible: they break at spaces,
    and continue below the text, or near the margin where the head takes most of the line.
    """
    if width is None or len(head) + len(text) <= width:
        return [head + text]
    from textwrap import wrap

    indent = len(head) if len(head) <= width // 2 else 4
    return wrap(head + text, width, subsequent_indent=" " * indent, break_long_words=False,
                break_on_hyphens=False, drop_whitespace=True)


def markdown(answer: Answer) -> str:
    """Return a table of formulas in Markdown."""
    rows = [(d["name"], d["formula"]) for d in answer["definitions"]] + [
        (heading(r), r["formula"] or f"None: {why(r)}") for r in answer["results"]]
    lines = ["| | formula |", "|---|---|"]
    lines += [f"| {code(name)} | {code(text)} |" for name, text in rows]
    if answer["conditions"]:
        lines += ["", f"They hold where {visible(' and '.join(answer['conditions']))}."]
        lines += [f"\n{visible(line)}." for line in doubts(answer)]
    return "\n".join(lines) + "\n"


def _records(answer: Answer) -> Iterator[Sequence[Any]]:
    """Yield a row for each formula, those that define names first."""
    yield ["of", "element", "wrt", "formula", "conditions", "reason"]
    for one in answer["definitions"]:
        yield [one["name"], "", "", _cell(one["formula"]), "", ""]
    conditions = " and ".join(answer["conditions"])
    for result in answer["results"]:
        by = [numbers.indexed(closed(w["name"]), tuple(w["element"])) for w in result["wrt"]]
        missing = result["formula"] is None
        yield [result["of"], " ".join(map(str, result["element"])), " ".join(by),
               "None" if missing else _cell(result["formula"]), "" if missing else conditions,
               result["reasons"][0]["code"] if result["reasons"] else ""]


def _cell(formula: str) -> Any:
    """Return a formula as a cell; one that is a number stays a number in a spreadsheet."""
    for kind in (int, float):
        try:
            number = kind(formula)
        except ValueError:
            continue
        if numbers.exact(number) == formula:
            return number
    return formula


def language(chosen: str) -> str:
    """Return the language of the formulas in a format."""
    return chosen if chosen in FILES else "gradcli"


def render(answer: Answer, chosen: str, width: int | None = None, color: bool = False) -> str:
    """Return an answer as text; its formulas are in the language of the format. width, color: of
    tables, which are not folded without a width.
    """
    if chosen == "table":
        return table(answer, width, color)
    if chosen in FILES or chosen == "markdown":
        return FILES.get(chosen, markdown)(answer)
    shown = {k: v for k, v in answer.items() if k not in ("needs", "renamed")}
    return write(shown, [page(answer)], chosen)
