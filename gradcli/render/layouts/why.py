"""The page of `gradcli why`: of each derivative the value, what stands in its way, and the way.

    z = 3 at x = 1.5

    dz/dx is None: the path from x to z is cut by `floor`, a step function
      --> model.txt:2:5
       |
     2 | k = floor(x)
       |     ^^^^^^^^
       = fix: k = x + stop_gradient(floor(x) - x) (tried, works)

    line   from x to z    operation   value   derivative
    ──────────────────────────────────────────────────────
       1   var x = 1.5                1.5     watched
       2   k = floor(x)   floor       1       stops
       3   z = 3k         multiply    3       3

    watched: x (line 1)

Derivatives with the same causes share one paragraph. In a pipe each derivative has a line
`name<TAB>value`, and what is said of it is indented; Markdown and LaTeX have what they have of
`grad`, and the paths.
"""

from __future__ import annotations

from gradcli.base.errors import Source
from gradcli.render import entries, numbers
from gradcli.render.layouts.paths import (
    SMALL,
    WIDE,
    Form,
    aligned,
    exact,
    fields,
    form_of,
    groups,
    on_screen,
    path,
    paths,
)
from gradcli.render.messages import excerpt, location, subject
from gradcli.render.page import MISSING, Page, Paragraph, Preformatted, Remark, Table, Title
from gradcli.render.view import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block


SECOND = ("hessian", "hvp")
ANSWERING = ("zero-", "nan-", "derivative-constant")


def pages(answer: dict[str, Any], digits: int | None = None) -> list[Page]:
    """Return one page of all results. digits: of its numbers for people, but at a terminal."""
    return [Page(fields=_fields(blocks(answer, Form(answer, WIDE, "utf-8", exact, exact))),
                 records=_records(answer), blocks=_document(answer, digits),
                 screen=lambda view: on_screen(view, blocks(answer, form_of(view, answer))),
                 latex=_latex(answer, digits))]


def _head(result: dict[str, Any], subject: str, message: str, gap: bool) -> Remark:
    """Return the remark that opens a result: its derivatives, and the message on their cause."""
    missing = any(source.get("gradient") is None for source in result["sources"])
    return Remark(f"{subject}: {message}" if message else subject, MISSING if missing else "",
                  gap=gap, about=(result, subject, message))


def blocks(answer: dict[str, Any], form: Form) -> Iterator[Block]:
    """Yield the whole page, as lines and a terminal show it."""
    before: Any = None
    for at, result in enumerate(answer.get("results") or ()):
        yield from _title(result, form, at > 0)
        for group in groups(result):
            yield from _derivative(result, group, form)
        names = result.get("names") or []
        if names and names != before:
            yield from watched(names)
        before = names
        for note in result.get("notes") or ():
            yield Remark(entries.sentence([""], note), head="note:")
    yield from in_framework(answer)


def in_framework(answer: dict[str, Any]) -> Iterator[Block]:
    """Yield how the causes show in the framework that was asked for, and what to write there."""
    words = answer.get("framework") or {}
    for k, cause in enumerate(words.get("causes") or ()):
        if k == 0:
            yield Title(f"In {words['name']}", gap=True)
        yield Remark(cause["shows"], head=f"{cause['code']}:")
        yield Remark(cause["fix"], head="  write:")


def _title(result: dict[str, Any], form: Form, gap: bool) -> Iterator[Title]:
    if result.get("question"):
        turn = f" (answer {result['turn']} of {result['turns']})" if "turn" in result else ""
        yield Title(f"line {result['line']}: {result['question']}{turn}", gap=gap)
        gap = False
    point = ", ".join([f"{source['wrt']} = {form.brief(source.get('at'))}"
                       for source in result.get("sources") or ()])
    head = f"{result['of']} = {form.brief(result.get('value'))}"
    full = f"{head} at {point}"
    yield Title(full if point and len(full) <= form.width else head, gap=gap)


def _derivative(result: dict[str, Any], group: list[dict[str, Any]], form: Form
                ) -> Iterator[Block]:
    """Yield the remarks on one derivative, or several with the same causes: its value, its causes
    and its path.
    """
    only = {**result, "sources": group, "notes": []}
    items = entries.named("why", only)
    notes = entries.notes(items)
    source = group[0]
    if source.get("reasons"):
        for k, (names, value, reason, at) in enumerate(entries.reasons(items)):
            who = subject(names, value, at, len(result["sources"]))
            yield _head({**only, "sources": [] if at else group}, who, reason["message"],
                        gap=k == 0)
            yield from _places(reason, form)
            yield from _fix(reason)
    else:
        why = [n for n in notes if answering(n[2])][:1]
        head = f"{name_of(result, source)} = {form.number(source.get('gradient'))}"
        yield _head(only, head, "".join([n[2]["message"] for n in why]), gap=True)
        for found in why:
            notes.remove(found)
            yield from _places(found[2], form)
    for names, _, note, _ in notes:
        yield Remark(entries.sentence(names if len(group) > 1 else [""], note), head="note:")
    yield from path(result, source, len(group), form)


def answering(note: dict[str, Any]) -> bool:
    """Return whether a note says why a derivative is 0, NaN or infinite."""
    return str(note["code"]).startswith(ANSWERING)


def name_of(result: dict[str, Any], source: dict[str, Any], index: tuple[int | str, ...] = ()
          ) -> str:
    """Return `dy/dx[0]`, or `d2y/dxdx[0]` for a question about second derivatives."""
    of, wrt = result["of"], source["wrt"]
    if result.get("kind") in SECOND:
        return numbers.second_derivative(of, wrt, wrt, (), index)
    return numbers.first_derivative(of, wrt, (), index)


def _places(remark: dict[str, Any], form: Form) -> Iterator[Preformatted]:
    """Yield the locations of a remark as error messages show them: the line, with marks below."""
    places = [p for p in (remark, *(remark.get("related") or ())) if p.get("line")]
    pad = _pad(remark)
    for place in places:
        first = place is remark
        arrow = "-->" if place is places[0] else ":::"
        yield Preformatted([f" {pad}{arrow} {location(form.file, place)}"])
        text = form.texts.get(place["line"])
        if text is None:
            continue
        start = (place.get("column") or 1) - 1
        ends_here = place.get("end_line") == place["line"]
        end = place["end_column"] - 1 if ends_here else len(text) if place.get("end_line") else (
            start + 1)
        label = "" if first else place.get("message") or ""
        shown, marks = excerpt(Source(text), (start, end), label, form.width - len(pad) - 4,
                               "^" if first else "-", form.encoding)
        yield Preformatted([f" {pad} |", f" {place['line']:>{len(pad)}} | {shown}".rstrip()])
        yield Preformatted([f" {pad} | {mark}" for mark in marks], MISSING)


def _pad(remark: dict[str, Any]) -> str:
    lines = [p.get("line") or 0 for p in (remark, *(remark.get("related") or ()))]
    return " " * len(str(max(lines)))


def _fix(reason: dict[str, Any]) -> Iterator[Remark]:
    if not reason.get("fix"):
        return
    works = reason.get("fix_works")
    head = "try:" if works is None else "fix:"
    tried = "" if works is None else " (tried, works)" if works else " (tried, not enough alone)"
    yield Remark(reason["fix"] + tried, head=f" {_pad(reason)} = {head}")


def watched(names: list[dict[str, Any]]) -> Iterator[Remark]:
    """Yield a remark of the watched names and one of the others, each name with its line."""
    for on, head in ((True, "watched:"), (False, "not watched:")):
        listed = []
        for name in names:
            if name["watched"] == on:
                where = f"line {name['line']}" if name.get("line") else ""
                kind = "" if on else name.get("kind") or ""
                said = ", ".join(filter(None, (kind, where)))
                listed.append(f"{name['name']} ({said})" if said else name["name"])
        if listed or on:
            yield Remark(", ".join(listed) or "nothing", head=head, gap=on)


# --- in a pipe ------------------------------------------------------------------------------------


def _fields(found: Iterable[Block]) -> Iterator[Sequence[str]]:
    """Yield lines `name<TAB>value`, and below each its remarks, indented."""
    for block in found:
        if isinstance(block, Remark) and block.about:
            result, subject, message = block.about
            if block.gap:
                yield ("",)
            for source, _, index, value, _ in entries.elements("why", result):
                yield name_of(result, source, index), numbers.exact(value)
            # The subject names what the lines above do not: also, would be, 3 of 4.
            alone = len(result["sources"]) == 1 and result["sources"][0].get("gradient") is None
            if message:
                yield (f"  {message if alone else f'{subject}: {message}'}",)
        elif isinstance(block, Title):
            yield from ([("",)] if block.gap else [])
            yield (block.pieces,)
        else:
            yield from fields([block])


def _records(answer: dict[str, Any]) -> Iterator[Sequence[Any]]:
    """Yield a row per element, with its first cause, or the note on why it is 0, NaN or infinite.
    """
    def number(value: Any) -> Any:
        return None if isinstance(value, list | dict) else value

    yield ("of", "value", "wrt", "at", "gradient", "reason", "line", "column", "message", "fix",
           "fix_works")
    for result in answer.get("results") or ():
        for source, _, index, gradient, _ in entries.elements("why", result):
            remark: dict[str, Any] = next(iter([
                *(source.get("reasons") or ()), *filter(answering, source.get("notes") or ())]), {})
            yield [result["of"], number(result.get("value")),
                   numbers.indexed(source["wrt"], index),
                   number(entries.pick(source.get("at"), index)),
                   "None" if gradient is None else gradient,
                   *map(remark.get, ("code", "line", "column", "message", "fix", "fix_works"))]


def _document(answer: dict[str, Any], digits: int | None) -> Iterator[Block]:
    """Yield the blocks of `grad`, then a table for each path."""
    from gradcli.render.layouts.derivatives import document

    form = _form(answer, digits)
    for result in answer.get("results") or ():
        yield from document({**answer, **GRAD}, numbers.rounded(result, digits))
        yield from paths(result, form)
        yield from watched(result.get("names") or [])
    yield from in_framework(answer)


def _latex(answer: dict[str, Any], digits: int | None) -> Iterator[Block]:
    """Yield the blocks of `grad` in LaTeX; paths are comments, as reasons are."""
    from gradcli.render.layouts.derivatives import equations

    form = _form(answer, digits)
    for result in answer.get("results") or ():
        yield from equations(GRAD, numbers.rounded(result, digits))
        for block in paths(result, form):
            yield Preformatted(
                [line[1:] for line in aligned(block)] if isinstance(block, Table) else
                [block.text] if isinstance(block, Paragraph) else [])
    yield from in_framework(answer)


GRAD = {"command": "grad"}


def _form(answer: dict[str, Any], digits: int | None) -> Form:
    """Return the form for documents: numbers to `digits` digits, or in full."""
    def show(value: Any) -> str:
        return brief(value, digits, SMALL)

    return Form(answer, WIDE, "utf-8", show, show)
