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

Derivatives with the same causes share one paragraph. Here is what there is to say, in parts:
`why_table` shows it on a terminal, `why_text` in a pipe.
"""

from __future__ import annotations

from gradcli.base.errors import Source
from gradcli.render import entries, layout, numbers, remarks
from gradcli.render.messages import excerpt
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    # ("gap",), ("title" | "text" | "mark" | "finished", text), ("note", head, text), ("rows", head,
    # rows), ("head", result with the sources that it speaks of, subject, message)
    Part = tuple[Any, ...]
    Row = tuple[str, ...]

SMALL = 12          # elements of an array that is shown within a line
ROWS = 30           # a longer way is shown without its middle
FACTORS = 6         # a longer product is not written out
MANY = 1000         # ways are not counted beyond
FIRST = ("gradient", "jacobian")    # questions whose answer is made of products of slopes
SECOND = ("hessian", "hvp")
ANSWERING = ("zero-", "nan-", "derivative-constant")
STOPS, WATCHED, UNWATCHED = "stops", "watched", "not watched"


class Look:
    """How wide, in which encoding, and a value as which text: in full, and for the title."""

    __slots__ = ("brief", "encoding", "file", "number", "texts", "width")

    def __init__(self, answer: dict[str, Any], width: int, encoding: str,
                 number: Callable[[Any], str], brief: Callable[[Any], str]) -> None:
        self.file = answer.get("file") or ""
        self.texts: dict[int, str] = answer.get("lines") or {}
        self.width = width
        self.encoding = encoding
        self.number = number
        self.brief = brief


def parts(answer: dict[str, Any], look: Look) -> Iterator[Part]:
    """The whole page."""
    before: Any = None
    for at, result in enumerate(answer.get("results") or ()):
        if at:
            yield ("gap",)
        yield from _title(result, look)
        for group in groups(result):
            yield ("gap",)
            yield from _derivative(result, group, look)
        names = result.get("names") or []
        if names and names != before:
            yield ("gap",)
            yield from watched(names)
        before = names
        for note in result.get("notes") or ():
            yield "note", "note:", entries.told([""], note)


def _title(result: dict[str, Any], look: Look) -> Iterator[Part]:
    if result.get("question"):
        turn = f" (answer {result['turn']} of {result['turns']})" if "turn" in result else ""
        yield "title", f"line {result['line']}: {result['question']}{turn}"
    point = ", ".join([f"{source['wrt']} = {look.brief(source.get('at'))}"
                       for source in result.get("sources") or ()])
    head = f"{result['of']} = {look.brief(result.get('value'))}"
    full = f"{head} at {point}"
    yield "title", full if point and len(full) <= look.width else head


def groups(result: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The sources, those with the same causes together."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for at, source in enumerate(result.get("sources") or ()):
        key = tuple([entries.same(r, source["wrt"]) for r in source.get("reasons") or ()])
        found.setdefault(key or at, []).append(source)
    return list(found.values())


def _derivative(result: dict[str, Any], group: list[dict[str, Any]], look: Look
                ) -> Iterator[Part]:
    """One derivative, or several with the same causes: what it is, why, and its way."""
    only = {**result, "sources": group, "notes": []}
    items = entries.named("why", only)
    notes = entries.notes(items)
    source = group[0]
    if source.get("reasons"):
        for names, value, reason, at in entries.reasons(items):
            subject = remarks.subject(names, value, at, len(result["sources"]))
            yield "head", {**only, "sources": [] if at else group}, subject, reason["message"]
            yield from _places(reason, look)
            yield from _fix(reason, look)
    else:
        why = [n for n in notes if answering(n[2])][:1]
        subject = f"{name_of(result, source)} = {look.number(source.get('gradient'))}"
        yield "head", only, subject, "".join([n[2]["message"] for n in why])
        for found in why:
            notes.remove(found)
            yield from _places(found[2], look)
    for names, _, note, _ in notes:
        yield "note", "note:", entries.told(names if len(group) > 1 else [""], note)
    yield from way(result, source, len(group), look)


def answering(note: dict[str, Any]) -> bool:
    """Whether a note says why a derivative is 0, NaN or infinite."""
    return str(note["code"]).startswith(ANSWERING)


def name_of(result: dict[str, Any], source: dict[str, Any], index: tuple[int | str, ...] = ()
          ) -> str:
    """`dy/dx[0]`; `d2y/dxdx[0]` of a question for second derivatives."""
    of, wrt = result["of"], source["wrt"]
    if result.get("kind") in SECOND:
        return numbers.second_derivative(of, wrt, wrt, (), index)
    return numbers.first_derivative(of, wrt, (), index)


def _places(remark: dict[str, Any], look: Look) -> Iterator[Part]:
    """Where it is, as error messages show it: the line, and marks below."""
    places = [p for p in (remark, *(remark.get("related") or ())) if p.get("line")]
    pad = _pad(remark)
    for place in places:
        first = place is remark
        yield "finished", f" {pad}{'-->' if place is places[0] else ':::'} {_at(look.file, place)}"
        text = look.texts.get(place["line"])
        if text is None:
            continue
        start = (place.get("column") or 1) - 1
        ends_here = place.get("end_line") == place["line"]
        end = place["end_column"] - 1 if ends_here else len(text) if place.get("end_line") else (
            start + 1)
        label = "" if first else place.get("message") or ""
        shown, marks = excerpt(Source(text), (start, end), label, look.width - len(pad) - 4,
                               "^" if first else "-", look.encoding)
        yield "finished", f" {pad} |"
        yield "finished", f" {place['line']:>{len(pad)}} | {shown}".rstrip()
        for mark in marks:
            yield "mark", f" {pad} | {mark}"


def _pad(remark: dict[str, Any]) -> str:
    lines = [p.get("line") or 0 for p in (remark, *(remark.get("related") or ()))]
    return " " * len(str(max(lines)))


def _at(file: str, place: dict[str, Any]) -> str:
    if not file or file.startswith("<"):
        return f"line {place['line']}"
    return ":".join([visible(file), *[str(place[k]) for k in ("line", "column") if place.get(k)]])


def _fix(reason: dict[str, Any], look: Look) -> Iterator[Part]:
    if not reason.get("fix"):
        return
    works = reason.get("fix_works")
    head = "try:" if works is None else "fix:"
    tried = "" if works is None else " (tried, works)" if works else " (tried, not enough alone)"
    yield "note", f" {_pad(reason)} = {head}", reason["fix"] + tried


# --- the way ----------------------------------------------------------------------------------


def way(result: dict[str, Any], source: dict[str, Any], several: int, look: Look
         ) -> Iterator[Part]:
    """The way from a source to the target, and what its slopes make together."""
    steps = source.get("path") or []
    if not steps:
        return
    yield ("gap",)
    head = ("line", f"from {source['wrt']} to {result['of']}", "operation", "value", "derivative")
    yield "rows", head, _rows(steps, look)
    if several > 1:
        yield "text", "the paths from the others end in the same place"
    elif source.get("gradient") is not None and not source.get("reasons") and (
            result.get("kind", "gradient") in FIRST):
        yield from _product(steps, source, look)


def paths(result: dict[str, Any], look: Look) -> Iterator[Part]:
    """The ways alone, those of each group of sources once."""
    for group in groups(result):
        yield from way(result, group[0], len(group), look)


def _rows(steps: list[dict[str, Any]], look: Look) -> list[Row]:
    """(line, text, operation, value, whether a derivative passes) of each place."""
    found: list[Row] = []
    for at, step in enumerate(steps):
        line = "" if step.get("line") is None else str(step["line"])
        text = step["text"]
        if at and step.get("name") and step["name"] != text:
            text = f"{step['name']} = {text}"
        if step.get("times", 1) > 1:
            text = f"{text} ({step['times']} times)"
        value = look.number(step["value"]) if step.get("value") is not None else _shape(
            step.get("shape"))
        found.append((line, text, step.get("operation") or "", value, _passes(step, at, look)))
    if len(found) <= ROWS:
        return found
    closed = [k for k, step in enumerate(steps) if not step["recorded"]]
    shown = sorted({*range(ROWS // 3), *closed[:ROWS // 3],
                    *range(len(found) - ROWS // 3, len(found))})
    rows: list[Row] = []
    for before, k in zip([-1, *shown], shown, strict=False):
        if k > before + 1:
            rows.append(("", f"... {k - before - 1} more", "", "", ""))
        rows.append(found[k])
    return rows


def _passes(step: dict[str, Any], at: int, look: Look) -> str:
    if at == 0:
        return WATCHED if step["recorded"] else UNWATCHED
    if not step["recorded"]:
        return STOPS
    return "passes" if step.get("slope") is None else look.number(step["slope"])


def _shape(shape: Sequence[int] | None) -> str:
    if not shape:
        return ""
    return f"vector of {shape[0]}" if len(shape) == 1 else f"{' x '.join(map(str, shape))} array"


def _product(steps: list[dict[str, Any]], source: dict[str, Any], look: Look) -> Iterator[Part]:
    """The slopes multiplied out, and what the other ways do."""
    slopes = [step.get("slope") for step in steps[1:]]
    ways = source.get("ways") or 0
    known = [float(s) for s in slopes if s is not None]
    total = 1.0
    for slope in known:
        total *= slope
    # Where a branch is not used, an infinite slope counts for nothing.
    whole = bool(known) and len(known) == len(slopes) and not source.get("shape") and (
        total - total == 0)
    product = " * ".join(map(look.number, known)) if len(known) <= FACTORS else "the slopes"
    along = f"{product} = {look.number(total)}" if len(known) > 1 else look.number(total)
    others = ways - 1 if ways < MANY else f"{MANY} or more"
    more = f"and {others} other {'path' if ways == 2 else 'paths'}"
    if ways > 1 and whole:
        yield "text", (f"along this path: {along}; {more}, together"
                       f" {look.number(source['gradient'])}")
    elif ways > 1:
        yield "text", more
    elif whole and len(known) > 1:
        yield "text", f"along this path: {along}"


def watched(names: list[dict[str, Any]]) -> Iterator[Part]:
    """What is watched and what is not, by name and line."""
    for on, head in ((True, "watched:"), (False, "not watched:")):
        listed = []
        for name in names:
            if name["watched"] == on:
                where = f"line {name['line']}" if name.get("line") else ""
                kind = "" if on else name.get("kind") or ""
                said = ", ".join(filter(None, (kind, where)))
                listed.append(f"{name['name']} ({said})" if said else name["name"])
        if listed:
            yield "note", head, ", ".join(listed)
        elif on:
            yield "note", head, "nothing"


# --------------------------------------------------------------------------------------------------
# The page of `gradcli why` in a pipe: in plain form each derivative has a line `name<TAB>value`,
# and what is said of it is indented.

WIDE = 100          # columns of source text


def render(answer: dict[str, Any], format: str, digits: int | None = None) -> str:
    """The page in one of the other formats. digits: of numbers for people, None for all. Raises
    ValueError for a format that there is not.
    """
    if format in ("csv", "tsv"):
        return _delimited(answer, "\t" if format == "tsv" else ",")
    if format == "plain":
        return "".join(list(_plain(answer)))
    formats = {"markdown": _markdown, "latex": _latex}
    if format not in formats:
        raise ValueError(f"unknown format `{format}`")
    return "".join(list(formats[format](answer, digits)))


def _exact(value: Any) -> str:
    """A number or a small array in full; of a large one the shape."""
    if layout.count(value) > SMALL:
        return layout.summary(value, 1)[0]
    return numbers.exact(value)


def _plain(answer: dict[str, Any]) -> Iterator[str]:
    """Lines `name<TAB>value`; all that is said of them is indented."""
    return _lines(parts(answer, Look(answer, WIDE, "utf-8", _exact, _exact)))


def plain_paths(answer: dict[str, Any]) -> str:
    """The paths alone, as `grad -v` tells them beside plain output."""
    look = Look(answer, WIDE, "utf-8", _exact, _exact)
    return "".join([line for result in answer.get("results") or ()
                    for line in _lines(paths(result, look))])


def _lines(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        kind = part[0]
        if kind == "head":
            for source, index, _, value, _ in entries.gradients(part[1]):
                yield f"{visible(name_of(part[1], source, index))}\t{numbers.exact(value)}\n"
            # The subject names what the lines above do not: also, would be, 3 of 4.
            alone = len(part[1]["sources"]) == 1 and part[1]["sources"][0].get("gradient") is None
            said = part[3] if alone or not part[3] else f"{part[2]}: {part[3]}"
            yield f"  {visible(said)}\n" if said else ""
        elif kind == "gap":
            yield "\n"
        elif kind == "note":
            yield f"  {part[1]} {visible(part[2])}\n"
        elif kind == "rows":
            yield from _aligned(part[1], part[2])
        elif kind == "title":
            yield visible(part[1]) + "\n"
        else:
            yield f"  {visible(part[1])}\n"


def _aligned(head: Row, rows: list[Row]) -> Iterator[str]:
    cells = [tuple(map(visible, row)) for row in (head, *rows)]
    wide = [min(WIDE, max(map(len, column))) for column in zip(*cells, strict=True)]
    for row in cells:
        yield ("  " + "   ".join([text.ljust(width) for text, width in zip(row, wide, strict=True)])
               ).rstrip() + "\n"


def _delimited(answer: dict[str, Any], delimiter: str) -> str:
    """A row per element, with its first cause, or the note on why it is 0, NaN or infinite."""
    import csv
    import io

    from gradcli.render.delimited import cell

    def number(value: Any) -> str:
        return "" if value is None or isinstance(value, list | dict) else numbers.exact(value)

    stream = io.StringIO()
    out = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    out.writerow(["of", "value", "wrt", "at", "gradient", "reason", "line", "column", "message",
                  "fix", "fix_works"])
    for result in answer.get("results") or ():
        for source, index, at, gradient, _ in entries.gradients(result):
            remark: dict[str, Any] = next(iter([
                *(source.get("reasons") or ()), *filter(answering, source.get("notes") or ())]), {})
            out.writerow([
                cell(result["of"]), number(result.get("value")),
                cell(numbers.indexed(source["wrt"], index)), number(at), numbers.exact(gradient),
                remark.get("code") or "", number(remark.get("line")), number(remark.get("column")),
                cell(remark.get("message") or ""), cell(remark.get("fix") or ""),
                number(remark.get("fix_works"))])
    return stream.getvalue()


def _markdown(answer: dict[str, Any], digits: int | None) -> Iterator[str]:
    """As of `grad`, then a table for each way."""
    from gradcli.render.markdown import LEFT, RIGHT, code, prose, render, table

    def told(result: dict[str, Any], wrt: str, part: Part) -> str:
        if part[0] == "gap":
            return "\n"
        if part[0] != "rows":
            return f"\n{prose(part[1])}\n"
        head = [part[1][0], f"from {code(wrt)} to {code(result['of'])}", *part[1][2:]]
        return table(head, [RIGHT, LEFT, LEFT, RIGHT, RIGHT], [
            [row[0], code(row[1]), *map(prose, row[2:])] for row in part[2]])

    for result, lines in _beside(answer, render, told, digits):
        yield from lines
        for at, (_, head, text) in enumerate(watched(result.get("names") or [])):
            yield f"{'' if at else chr(10)}- {head} {prose(text)}\n"


def _latex(answer: dict[str, Any], digits: int | None) -> Iterator[str]:
    """As of `grad`; the ways are comments, as reasons are."""
    from gradcli.render.latex import render

    def told(result: dict[str, Any], wrt: str, part: Part) -> str:
        if part[0] == "rows":
            return "".join([f"%{line}" for line in _aligned(part[1], part[2])])
        return f"% {visible(part[1])}\n" if part[0] == "text" else ""

    for _, lines in _beside(answer, render, told, digits):
        yield from lines


def _beside(answer: dict[str, Any], of_grad: Callable[[dict[str, Any]], str],
            told: Callable[[dict[str, Any], str, Part], str], digits: int | None
            ) -> Iterator[tuple[dict[str, Any], Iterator[str]]]:
    """Each result with its text: what `grad` shows, then its ways, told part by part."""
    def show(value: Any) -> str:
        if digits is None or layout.count(value) > SMALL:
            return _exact(value)
        return layout.inline(value, digits)

    # A product is of the factors in full: the way rounds what it shows.
    look = Look(answer, WIDE, "utf-8", show, show)

    def lines(at: int, result: dict[str, Any]) -> Iterator[str]:
        yield "\n" if at else ""
        yield of_grad({"command": "grad", "results": [numbers.rounded(result, digits)]})
        for group in groups(result):
            for part in way(result, group[0], len(group), look):
                yield told(result, group[0]["wrt"], part)

    for at, result in enumerate(answer.get("results") or ()):
        yield result, lines(at, result)
