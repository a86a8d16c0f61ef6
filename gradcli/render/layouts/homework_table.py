"""What the commands of `gradcli hw` tell, for a person at a terminal, by rich."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.layouts import check_table
from gradcli.render.layouts import homework as told
from gradcli.render.layouts.derivatives import GAP, print_parts
from gradcli.render.remarks import hanging
from gradcli.render.terminal import View, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.render.terminal import Column

# Of the bar of a problem: kind, colour, character, character where there is ASCII only.
KINDS = (("right", "green", "\u2588", "#"), ("wrong", "red", "\u2592", "x"),
         ("review", "yellow", "\u2591", "?"), ("blank", "dim", "\u00b7", "."))
BAR = 20
TEXT, NARROW = 28, 12
ALIKE = 10
"""So many answers that several gave are listed on a terminal."""
MOST = 40
"""So many changes are listed on a terminal."""


def render(answer: dict[str, Any], *, width: int, color: bool, digits: int, encoding: str,
           whole: bool = False) -> str:
    """The answer as text, no wider than `width` if that is possible. whole: nothing is left out."""
    from io import StringIO

    buffer = StringIO()
    view = View({}, digits, width, encoding, whole=whole)
    print_parts(PAGES[answer["command"]](view, answer), buffer, width, color)
    return buffer.getvalue()


def _class(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    sheet = answer["sheet"]
    yield view.text(f"{sheet['title'] or sheet['id']}: {told.people(answer['students'])}", "bold")
    yield view.text("")
    yield _problems(view, answer)
    yield view.text("")
    lines = [fact for fact in told.facts(answer) if fact[0] not in ("sheet", "students")]
    yield from check_table.facts(view, iter(lines))
    waiting = answer["answers"]["review"]
    if waiting:
        where = f" in {answer['out']}/review.csv" if "out" in answer else ""
        yield hanging(view, "note:", f"{waiting:,} answer{'s wait' if waiting > 1 else ' waits'}"
                      f" for you{where}; write scores there and run this again")


def _stats(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    """What went wrong: the mistakes of each problem, and wrong answers that several gave."""
    sheet = answer["sheet"]
    yield view.text(f"{sheet['title'] or sheet['id']}: {told.people(answer['students'])}", "bold")
    yield view.text("")
    yield _mistakes(view, answer)
    alike = [(one["problem"], cluster) for one in answer["problems"]
             for cluster in one["clusters"] if cluster["count"] > 1]
    if alike:
        alike.sort(key=lambda pair: -pair[1]["count"])
        shown = alike if view.whole else alike[:ALIKE]
        room = max(NARROW, (view.width - 24) // 2)
        yield view.text("")
        yield view.table([
            (["problem"], [(view.name(problem), "") for problem, _ in shown]),
            (["answer of several"], [(view.name(one["answer"], room), "") for _, one in shown]),
            (["how many"], [([f"{one['count']:>8,}"], "") for _, one in shown]),
            (["mistake"], [(view.name(one["mistake"] or "", room), "") for _, one in shown])])
    yield view.text("")
    lines = [fact for fact in told.facts(answer) if fact[0] not in ("sheet", "students")]
    yield from check_table.facts(view, iter(lines))


def _mistakes(view: View, answer: dict[str, Any]) -> Any:
    """A row for each problem: counts, and its most frequent mistakes."""
    problems = answer["problems"]
    columns: list[Column] = [(["problem"], [(view.name(one["problem"]), "") for one in problems]),
                             *_counts(problems)]
    room = max(NARROW, view.width - _wide(columns))
    columns.append((["mistakes"], [(_counted(view, one, room), "") for one in problems]))
    return view.table(columns)


def _counted(view: View, problem: dict[str, Any], room: int) -> list[str]:
    """The most frequent mistakes, with as many in a line as there is room for."""
    lines: list[str] = []
    for part in told.counted(problem["mistakes"], told.MISTAKES).split(", "):
        if lines and len(lines[-1]) + len(part) + 2 < room:
            lines[-1] += f" {part},"
        else:
            lines.append(f"{part},")
    return [piece for line in [*lines[:-1], lines[-1].removesuffix(",")]
            for piece in view.name(line, room)]


def _counts(problems: list[dict[str, Any]]) -> Iterator[Column]:
    """How many answers were right, wrong and so on."""
    for kind, style, *_ in KINDS:
        texts = [f"{one[kind]:,}" for one in problems]
        wide = max(map(len, [kind, *texts]))
        yield ([kind.rjust(wide)], [
            ([text.rjust(wide)], style if one[kind] else "")
            for text, one in zip(texts, problems, strict=True)])


def _wide(columns: list[Column]) -> int:
    """The characters that columns take, with the gaps behind them."""
    return sum([max([widest(head), *[widest(lines) for lines, _ in cells]]) + GAP
                for head, cells in columns])


def _export(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    yield from check_table.facts(view, iter(told.facts(answer)))


def _problems(view: View, answer: dict[str, Any]) -> Any:
    """A row for each problem; where there is room, a bar of how it went and the mistakes."""
    problems = answer["problems"]
    columns: list[Column] = [
        (["problem"], [(view.name(one["problem"]), "") for one in problems]),
        (["function"], [(view.name(one["function"], TEXT), "") for one in problems]),
        *_counts(problems)]
    room = view.width - _wide(columns)
    if room >= BAR:
        bars = [bar(view, one) for one in problems]
        columns.append((["how it went"], [([text], style) for text, style in bars]))
    if room >= BAR + GAP + TEXT:
        columns.append((["mistakes"], [
            (_counted(view, one, room - BAR - GAP), "") for one in problems]))
    return view.table(columns)


def bar(view: View, counts: dict[str, Any], width: int = BAR) -> tuple[str, str]:
    """Shares as a bar, a character for each kind, and no colour; what there is has one at least."""
    total = sum([counts[kind] for kind, *_ in KINDS])
    if not total:
        return "", ""
    lengths = [max(1, round(counts[kind] * width / total)) if counts[kind] else 0
               for kind, *_ in KINDS]
    lengths[lengths.index(max(lengths))] += width - sum(lengths)
    return "".join([(fancy if view.fancy else ascii) * length for (_, _, fancy, ascii), length
                    in zip(KINDS, lengths, strict=True)]), ""


def _lint(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    sheet, problems = answer["sheet"], answer["problems"]
    yield view.text(f"{sheet['title'] or sheet['id']}: {len(problems)} problems,"
                    f" {numbers.exact(sheet['max_score'])} points", "bold")
    for one in problems:
        yield view.text("")
        yield view.text(f"{one['problem']}: {told.task(one['kind'], one['order'])} of"
                        f" {one['read_as']} by {', '.join(one['wrt'])}", "bold")
        texts = [told.short(value["expected"], view.digits) for value in one["values"]]
        yield view.table([
            (["at"], [(view.name(told.place(value["at"], view.digits), TEXT), "")
                      for value in one["values"]]),
            (["right answer"], [(view.name(text, max(TEXT, view.width - TEXT - 6)), "")
                              for text in texts])])
        for warning in one["warnings"]:
            yield hanging(view, "warning:", warning)


def _diff(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    changes = answer["changes"]
    if not changes:
        yield view.text("no mark changed")
        return
    yield view.text(f"{len(changes):,} mark{'s' if len(changes) > 1 else ''} changed", "bold")
    yield view.text("")
    head, body = told.rows(answer)
    shown = body if view.whole else body[:MOST]
    columns: list[Column] = []
    for at, name in enumerate(head):
        texts = ["" if row[at] is None else numbers.exact(row[at]) for row in shown]
        if name.endswith("score"):
            texts = numbers.aligned(texts)
        columns.append(([name.replace("_", " ")], [(view.name(text), "") for text in texts]))
    yield view.table(columns)
    if len(shown) < len(body):
        yield view.text(f"... and {len(body) - len(shown):,} more; --format csv lists all")


def _explain(view: View, answer: dict[str, Any]) -> Iterator[Any]:
    yield view.text(f"student {answer['student']}, problem {answer['problem']['id']}:"
                    f" {numbers.exact(answer['score'])} of {numbers.exact(answer['max'])} points",
                    "bold")
    yield view.text("")
    yield check_table.verdict(view, answer)
    told_above = ("student", "problem", "verdict", "score", "message")
    yield from check_table.facts(view, iter(
        [fact for fact in told.facts(answer) if fact[0] not in told_above]))
    if answer["witness"]:
        yield view.text("")
        yield check_table.witness(view, answer["witness"])


PAGES = {"hw run": _class, "hw stats": _stats, "hw export": _export, "hw lint": _lint,
         "hw diff": _diff, "hw explain": _explain}
