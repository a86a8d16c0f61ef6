"""Pages of the answers of `gradcli hw`.

Each answer has facts (a name and a text) and rows (a head and cells, a number or a text each). A
terminal shows them with bars, where it is wide enough.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.layouts import check
from gradcli.render.page import UNLIMITED, Facts, Page, Phrase, Remark, Table, Title
from gradcli.render.view import GAP, NAME, widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block
    from gradcli.render.view import View

    Sized = tuple[str, Sequence[Any], int]     # head, cells, columns of the terminal for a cell
    Fact = tuple[str, str]
    Head = tuple[str, ...]
    Row = list[Any]

# Columns that name a row, or say of it what the facts say already.
OMITTED = ("student", "problem", "at", "component", "function", "kind", "read_as", "usable",
          "points", "max_score", "file", "files")
# Of the bar of a problem: kind, colour, character, character where there is ASCII only.
KINDS = (("right", "green", "\u2588", "#"), ("wrong", "red", "\u2592", "x"),
         ("review", "yellow", "\u2591", "?"), ("blank", "dim", "\u00b7", "."))
BAR = 20
TEXT, NARROW = 28, 12
ALIKE = 10
"""So many answers that several gave are listed on a terminal."""
MOST = 40
"""So many changes are listed on a terminal."""
MISTAKES = 3
"""So many mistakes of a problem are named where there is little room."""


def page(answer: dict[str, Any]) -> Page:
    """Return the page of an answer."""
    _, rows, screen = LAYOUTS[answer["command"]]
    head, body = rows(answer)
    return Page(fields=_fields(answer, head, body), records=[head, *body],
                blocks=_blocks(answer, head, body),
                screen=lambda view: screen(view, answer))


def _fields(answer: dict[str, Any], head: Head, body: list[Row]) -> Iterator[Fact]:
    yield from facts(answer)
    keys = 2 if head[:2] in (("student", "problem"), ("problem", "at"), ("component", "at")) else 1
    for row in body:
        key = " ".join(map(_shown, row[:keys]))
        for name, value in zip(head, row, strict=True):
            if name not in OMITTED and value not in (None, ""):
                yield f"{key} {name}", _shown(value)


def _blocks(answer: dict[str, Any], head: Head, body: list[Row]) -> Iterator[Block]:
    yield Facts(facts(answer))
    if body:
        yield Table(head, [[*map(_shown, row)] for row in body],
                    "".join(["r" if _is_number(value) else "l" for value in body[0]]))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return "" if value is None else numbers.exact(value)


def facts(answer: dict[str, Any]) -> list[Fact]:
    """Return the facts of an answer: all that its page says besides the rows."""
    return list(LAYOUTS[answer["command"]][0](answer))


# ---- run and stats ---------------------------------------------------------------------------

PROBLEMS = ("problem", "function", "right", "wrong", "review", "blank", "mean_score", "max_score",
            "mistakes")


def _class_facts(answer: dict[str, Any]) -> Iterator[Fact]:
    sheet, students, answers = answer["sheet"], answer["students"], answer["answers"]
    yield "sheet", sheet["title"] or sheet["id"]
    yield "students", people(students)
    yield "answers", (f"{answers['right']:,} right, {answers['wrong']:,} wrong,"
                      f" {answers['review']:,} for review, {answers['blank']:,} blank")
    if answer["percent"]["mean"] is not None:
        yield "percent", spread(answer["percent"])
    if answer["mistakes"]:
        yield "mistakes", counted(answer["mistakes"], 10)
    for export in answer.get("exports") or ():
        yield f"gradebook for {export['system']}", exported(export)
    if "checked" in answer:
        yield "checked", checked(answer)
    if "out" in answer:
        yield "results", answer["out"]


def people(students: dict[str, Any]) -> str:
    """Return the counts of students: 30 handed in, 2 missing, 1 late."""
    parts = [f"{students['handed_in']:,} handed in"]
    for name in ("missing", "late"):
        if students[name]:
            parts.append(f"{students[name]:,} {name}")
    return ", ".join(parts)


def spread(percent: dict[str, Any]) -> str:
    """Return the spread of percentages: mean 71.2, median 75, from 20 to 100."""
    return (f"mean {numbers.exact(percent['mean'])}, median {numbers.exact(percent['median'])},"
            f" from {numbers.exact(percent['lowest'])} to {numbers.exact(percent['highest'])}")


def counted(mistakes: dict[str, int], most: int) -> str:
    """Return the first `most` mistakes with their counts: missing_chain_factor 4, trig_sign 2."""
    listed = [f"{name} {count}" for name, count in list(mistakes.items())[:most]]
    return ", ".join([*listed, *(["..."] if len(mistakes) > most else [])])


def checked(answer: dict[str, Any]) -> str:
    """Return the number of checked answers and their time: 1,234 in 0.61 s (2,023 a second), 17 as
    before.
    """
    text = f"{answer['checked']:,}"
    if answer["per_second"] is not None:
        text += f" in {answer['seconds']:.3g} s ({answer['per_second']:,} a second)"
    return text + (f", {answer['reused']:,} as before" if answer["reused"] else "")


def exported(export: dict[str, Any]) -> str:
    """Return a sentence on the marks that were filled in and the students without a certain row."""
    parts = [f"{export['count']:,} marks in the column `{export['column']}`"]
    for name, what in (("unmatched", "have no row"), ("doubtful", "have no certain row")):
        if export[name]:
            parts.append(f"{', '.join(export[name][:5])}{', ...' * (len(export[name]) > 5)}"
                         f" {what if len(export[name]) > 1 else what.replace('have', 'has')}")
    return "; ".join([*parts, *export["notes"]])


def _class_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    return PROBLEMS, [
        [one["problem"], one["function"], one["right"], one["wrong"], one["review"], one["blank"],
         one["mean_score"], one["max_score"], counted(one["mistakes"], 10 ** 6)]
        for one in answer["problems"]]


# ---- export ----------------------------------------------------------------------------------


def _export_facts(answer: dict[str, Any]) -> Iterator[Fact]:
    for export in answer["exports"]:
        yield f"gradebook for {export['system']}", exported(export)
    yield "written", ", ".join([
        name if count == 1 and "." in name else f"{name} ({count} file{'s' * (count > 1)})"
        for name, count in answer["files"].items()])
    yield "results", answer["out"]


def _export_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    return ("file", "files"), [[name, count] for name, count in answer["files"].items()]


# ---- lint ------------------------------------------------------------------------------------

LINT = ("problem", "at", "expected", "kind", "read_as", "usable", "points")


def _lint_facts(answer: dict[str, Any]) -> Iterator[Fact]:
    sheet = answer["sheet"]
    yield "sheet", sheet["title"] or sheet["id"]
    yield "points", numbers.exact(sheet["max_score"])
    for one in answer["problems"]:
        yield one["problem"], (f"{task(one['kind'], one['order'])} of {one['read_as']} by"
                               f" {', '.join(one['wrt'])}, usable at {one['usable']} of"
                               f" {one['points']} points")
        for warning in one["warnings"]:
            yield f"warning {one['problem']}", warning


TASKS = {"value": "value of the {}derivative", "partial": "{}partial derivative",
         "directional": "directional derivative", "implicit": "{}implicit derivative",
         "parametric": "{}parametric derivative", "derivative": "{}derivative",
         "jacobian": "Jacobian", "hessian": "Hessian", "function": "value", "norm": "length of the"
         " derivative", "unit": "unit vector along the derivative", "linearization": "linear"
         " approximation", "estimate": "estimate by the tangent", "critical": "critical points",
         "inflection": "points of inflection"}
ORDERS = ("", "second ", "third ")


def task(kind: str, order: int) -> str:
    """Return the kind of a problem in words: second derivative, gradient, directional derivative.
    """
    ordinal = ORDERS[order - 1] if order <= len(ORDERS) else f"{order}th "
    return TASKS.get(kind, kind).format(ordinal)


def _lint_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    return LINT, [
        [one["problem"], place(value["at"]), value["expected"], one["kind"], one["read_as"],
         one["usable"], one["points"]]
        for one in answer["problems"] for value in one["values"]]


def place(at: dict[str, Any], digits: int = 17) -> str:
    """Return a point as text: x=1.3, y=0.7."""
    return ", ".join([f"{name}={numbers.significant(value, digits)}"
                      for name, value in at.items()])


# ---- diff ------------------------------------------------------------------------------------

DIFF = ("student", "problem", "old_score", "new_score", "old_verdict", "new_verdict", "why")


def _diff_facts(answer: dict[str, Any]) -> Iterator[Fact]:
    yield "changed", f"{len(answer['changes'])}"


def _diff_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    return DIFF, [[", ".join(one[name]) if name == "why" else one[name] for name in DIFF]
                  for one in answer["changes"]]


# ---- explain ---------------------------------------------------------------------------------


def _explain_facts(answer: dict[str, Any]) -> Iterator[Fact]:
    problem = answer["problem"]
    yield "student", answer["student"]
    yield "problem", problem["id"]
    yield "asked for", asked(problem)
    if problem["read_as"] is not None:
        yield "function read as", problem["read_as"]
    yield "answer", answer["answer"]
    if answer["file"] is not None:
        yield "file", answer["file"] + (f":{answer['line']}" if answer["line"] else "")
    yield "verdict", answer["verdict"]
    yield "score", f"{numbers.exact(answer['score'])} of {numbers.exact(answer['max'])}"
    for name, title in (("message", "message"), ("read_as", "read as")):
        if answer[name] is not None:
            yield title, answer[name]
    for text in answer["alternatives"]:
        yield "or read as", text
    if answer["doubt"] is not None:
        yield "not claimed", answer["doubt"]
    if answer["mistake"] is not None:
        yield "mistake", answer["mistake"]
        yield "confidence", answer["confidence"] or "none"
    if answer["also"]:
        yield "also", ", ".join(answer["also"])
    if answer["points"] is not None:
        yield "points", ", ".join([f"{count} {name}" for name, count in answer["points"].items()])
    if answer["override"] is not None:
        yield "override", overridden(answer["override"])


def asked(problem: dict[str, Any]) -> str:
    """Return a problem in words: derivative of x^2 sin(x) by x."""
    parts = [f"{task(problem['kind'], problem['order'])} of {problem['function']}"]
    if problem["wrt"]:
        parts.append(f"by {', '.join(problem['wrt'])}")
    if problem["direction"]:
        parts.append(f"in the direction {numbers.exact(list(problem['direction']))}")
    if problem["at"]:
        parts.append(f"at {place(problem['at'])}")
    return " ".join(parts)


def overridden(override: dict[str, Any]) -> str:
    """Return the score that a person gave in place of the automatic one, and the comment."""
    score = "" if override["score"] is None else (
        f"{numbers.exact(override['score'])} in place of {numbers.exact(override['automatic'])}")
    earlier = "" if score or override.get("earlier") is None else (
        f"{numbers.exact(override['earlier'])} for an earlier answer")
    return ": ".join([text for text in (score or earlier, override["comment"]) if text])


def _explain_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    witness = answer["witness"]
    found = [] if not witness else [
        [index or "1", place(witness["at"]), expected, got]
        for index, expected, got in check.components(witness)]
    return ("component", "at", "expected", "got"), found


# ---- on a terminal ---------------------------------------------------------------------------


def _title(answer: dict[str, Any]) -> Title:
    sheet = answer["sheet"]
    return Title(f"{sheet['title'] or sheet['id']}: {people(answer['students'])}")


def _class(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    yield _title(answer)
    yield _problems(view, answer)
    yield _facts(answer, "sheet", "students", gap=True)
    waiting = answer["answers"]["review"]
    if waiting:
        rows = answer.get("review_rows", waiting)
        several = "" if rows == waiting else f"{rows:,} row{'s' if rows > 1 else ''} of "
        where = f" in {several}{answer['out']}/review.csv" if "out" in answer else ""
        yield Remark(f"{waiting:,} answer{'s wait' if waiting > 1 else ' waits'} for you{where};"
                     " write scores there and run this again", head="note:")


def _facts(answer: dict[str, Any], *omitted: str, gap: bool = False) -> Facts:
    """Return a block of the facts but those with a name in `omitted`."""
    return Facts([fact for fact in facts(answer) if fact[0] not in omitted], gap)


def _stats(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    """Yield the mistakes of each problem, and the wrong answers that several students gave."""
    yield _title(answer)
    problems = answer["problems"]
    columns = [("problem", [one["problem"] for one in problems], NAME), *_counts(problems)]
    yield _table([*columns, _mistakes(view, problems, max(NARROW, view.width - _wide(
        view, columns)))])
    alike = [(one["problem"], cluster) for one in problems
             for cluster in one["clusters"] if cluster["count"] > 1]
    if alike:
        alike.sort(key=lambda pair: -pair[1]["count"])
        room = max(NARROW, (view.width - 24) // 2)
        yield Table(
            ["problem", "answer of several", "how many", "mistake"],
            [[problem, one["answer"], f"{one['count']:>8,}", one["mistake"] or ""]
             for problem, one in (alike if view.whole else alike[:ALIKE])],
            limits={1: room, 3: room}, gap=True)
    yield _facts(answer, "sheet", "students", gap=True)


def _problems(view: View, answer: dict[str, Any]) -> Table:
    """Return a table with a row for each problem; where there is room, with a bar of the verdicts
    and the mistakes.
    """
    problems = answer["problems"]
    columns: list[Sized] = [
        ("problem", [one["problem"] for one in problems], NAME),
        ("function", [one["function"] for one in problems], TEXT), *_counts(problems)]
    room = view.width - _wide(view, columns)
    if room >= BAR:
        columns.append(("how it went", [bar(view, one) for one in problems], UNLIMITED))
    if room >= BAR + GAP + TEXT:
        columns.append(_mistakes(view, problems, room - BAR - GAP))
    return _table(columns)


def _table(columns: list[Sized]) -> Table:
    return Table([head for head, _, _ in columns],
                 zip(*[cells for _, cells, _ in columns], strict=True), gap=True,
                 limits={k: limit for k, (_, _, limit) in enumerate(columns)})


def _wide(view: View, columns: list[Sized]) -> int:
    """Return the number of characters that columns take, with the gaps behind them."""
    return sum([max([widest([head]), *[widest(view.name(text, limit)) for text in cells]]) + GAP
                for head, cells, limit in columns])


def _counts(problems: list[dict[str, Any]]) -> Iterator[Sized]:
    """Yield a column per verdict with its number of answers: right, wrong and so on."""
    for kind, style, *_ in KINDS:
        texts = [f"{one[kind]:,}" for one in problems]
        wide = max(map(len, [kind, *texts]))
        yield kind.rjust(wide), [Phrase(text.rjust(wide), style=style if one[kind] else "")
                                 for text, one in zip(texts, problems, strict=True)], UNLIMITED


def _mistakes(view: View, problems: list[dict[str, Any]], room: int) -> Sized:
    """Return the column of the most frequent mistakes, with as many in a line as there is room for.
    """
    cells = []
    for problem in problems:
        lines: list[str] = []
        for part in counted(problem["mistakes"], MISTAKES).split(", "):
            if lines and len(lines[-1]) + len(part) + 2 < room:
                lines[-1] += f" {part},"
            else:
                lines.append(f"{part},")
        lines[-1] = lines[-1].removesuffix(",")
        cells.append(tuple([piece for line in lines for piece in view.name(line, room)]))
    return "mistakes", cells, UNLIMITED


def bar(view: View, counts: dict[str, Any], width: int = BAR) -> str:
    """Return shares as a bar, a character for each kind and without colour; a kind that occurs has
    at least one character.
    """
    total = sum([counts[kind] for kind, *_ in KINDS])
    if not total:
        return ""
    lengths = [max(1, round(counts[kind] * width / total)) if counts[kind] else 0
               for kind, *_ in KINDS]
    lengths[lengths.index(max(lengths))] += width - sum(lengths)
    return "".join([(fancy if view.fancy else ascii) * length for (_, _, fancy, ascii), length
                    in zip(KINDS, lengths, strict=True)])


def _export(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    yield _facts(answer)


def _lint(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    sheet, problems = answer["sheet"], answer["problems"]
    yield Title(f"{sheet['title'] or sheet['id']}: {len(problems)} problems,"
                f" {numbers.exact(sheet['max_score'])} points")
    for one in problems:
        yield Title(f"{one['problem']}: {task(one['kind'], one['order'])} of {one['read_as']} by"
                    f" {', '.join(one['wrt'])}", gap=True)
        yield Table(["at", "right answer"], [
            [place(value["at"], view.digits), numbers.significant(value["expected"], view.digits)]
            for value in one["values"]], limits={0: TEXT, 1: max(TEXT, view.width - TEXT - 6)})
        for warning in one["warnings"]:
            yield Remark(warning, head="warning:")


def _diff(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    changes = answer["changes"]
    if not changes:
        yield Remark("no mark changed")
        return
    yield Title(f"{len(changes):,} mark{'s' if len(changes) > 1 else ''} changed")
    head, body = _diff_rows(answer)
    shown = body if view.whole else body[:MOST]
    columns: list[Sized] = []
    for at, name in enumerate(head):
        texts = [_shown(row[at]) for row in shown]
        columns.append((name.replace("_", " "), numbers.aligned(texts) if name.endswith("score")
                        else texts, NAME))
    yield _table(columns)
    if len(shown) < len(body):
        yield Remark(f"... and {len(body) - len(shown):,} more; --format csv lists all")


def _explain(view: View, answer: dict[str, Any]) -> Iterator[Block]:
    yield Title(f"student {answer['student']}, problem {answer['problem']['id']}:"
                f" {numbers.exact(answer['score'])} of {numbers.exact(answer['max'])} points")
    yield check.verdict(answer, gap=True)
    yield _facts(answer, "student", "problem", "verdict", "score", "message")
    yield from check.witness(view, answer["witness"])


LAYOUTS = {
    "hw run": (_class_facts, _class_rows, _class), "hw stats": (_class_facts, _class_rows, _stats),
    "hw export": (_export_facts, _export_rows, _export),
    "hw lint": (_lint_facts, _lint_rows, _lint), "hw diff": (_diff_facts, _diff_rows, _diff),
    "hw explain": (_explain_facts, _explain_rows, _explain)}
"""Command to its facts, its rows and its blocks on a terminal."""
