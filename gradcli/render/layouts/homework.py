"""What the commands of `gradcli hw` tell, as text: lines of name and value, JSON, CSV, Markdown.

Each answer has facts (a name and a text) and rows (a head and cells, a number or a text each);
`homework_table` shows the same to people.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.delimited import cell
from gradcli.render.markdown import LEFT, RIGHT, prose, table
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Fact = tuple[str, str]
    Head = tuple[str, ...]
    Row = list[Any]

# Columns that name a row, or say of it what the facts say already.
UNTOLD = ("student", "problem", "at", "component", "function", "kind", "read_as", "usable",
          "points", "max_score", "file", "files")
DIGITS = 6
"""Of the right answers that `hw lint` shows to a teacher; JSON has all."""
MISTAKES = 3
"""So many mistakes of a problem are named where there is little room."""


def render(answer: dict[str, Any], format: str) -> str:
    """The answer in a format, ending in a line end."""
    if format in ("json", "ndjson"):
        from gradcli.render import machine

        return machine.dump(answer) + "\n"
    head, body = rows(answer)
    if format in ("csv", "tsv"):
        return separated(head, body, "\t" if format == "tsv" else ",")
    if format == "markdown":
        parts = ["".join([f"- {name}: {prose(text)}\n" for name, text in facts(answer)])]
        if body:
            parts.append(table(
                head, [RIGHT if _is_number(value) else LEFT for value in body[0]],
                [[prose(_shown(value)) for value in row] for row in body]))
        return "\n".join([part for part in parts if part])
    lines = [f"{visible(name)}\t{visible(text)}\n" for name, text in facts(answer)]
    for row in body:
        lines += [f"{visible(_key(row, head))} {name}\t{visible(_shown(value))}\n"
                  for name, value in zip(head, row, strict=True)
                  if name not in UNTOLD and value not in (None, "")]
    return "".join(lines)


def separated(head: Head, body: list[Row], delimiter: str) -> str:
    """CSV or TSV; spreadsheets take texts as texts."""
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(head)
    for row in body:
        writer.writerow([_shown(value) if _is_number(value) else cell(_shown(value))
                         for value in row])
    return stream.getvalue()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return "" if value is None else numbers.exact(value)


def _keys(head: Head) -> int:
    """How many columns name the row."""
    return 2 if head[:2] in (("student", "problem"), ("problem", "at"), ("component", "at")) else 1


def _key(row: Row, head: Head) -> str:
    return " ".join([_shown(value) for value in row[:_keys(head)]])


def facts(answer: dict[str, Any]) -> list[Fact]:
    """What is told besides the rows."""
    return list(FACTS[answer["command"]](answer))


def rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    """The head and the cells."""
    return ROWS[answer["command"]](answer)


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
    """30 handed in, 2 missing, 1 late."""
    parts = [f"{students['handed_in']:,} handed in"]
    for name in ("missing", "late"):
        if students[name]:
            parts.append(f"{students[name]:,} {name}")
    return ", ".join(parts)


def spread(percent: dict[str, Any]) -> str:
    """mean 71.2, median 75, from 20 to 100."""
    return (f"mean {numbers.exact(percent['mean'])}, median {numbers.exact(percent['median'])},"
            f" from {numbers.exact(percent['lowest'])} to {numbers.exact(percent['highest'])}")


def counted(mistakes: dict[str, int], most: int) -> str:
    """missing_chain_factor 4, trig_sign 2."""
    listed = [f"{name} {count}" for name, count in list(mistakes.items())[:most]]
    return ", ".join([*listed, *(["..."] if len(mistakes) > most else [])])


def checked(answer: dict[str, Any]) -> str:
    """1,234 in 0.61 s (2,023 a second), 17 as before."""
    text = f"{answer['checked']:,}"
    if answer["per_second"] is not None:
        text += f" in {answer['seconds']:.3g} s ({answer['per_second']:,} a second)"
    return text + (f", {answer['reused']:,} as before" if answer["reused"] else "")


def exported(export: dict[str, Any]) -> str:
    """What was filled in, and who has no row."""
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
         "jacobian": "Jacobian", "hessian": "Hessian"}
ORDERS = ("", "second ", "third ")


def task(kind: str, order: int) -> str:
    """What a problem asks for: second derivative, gradient, directional derivative."""
    ordinal = ORDERS[order - 1] if order <= len(ORDERS) else f"{order}th "
    return TASKS.get(kind, kind).format(ordinal)


def _lint_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    return LINT, [
        [one["problem"], place(value["at"], DIGITS), short(value["expected"]),
         one["kind"], one["read_as"], one["usable"], one["points"]]
        for one in answer["problems"] for value in one["values"]]


def short(value: Any, digits: int = DIGITS) -> str:
    """A number or nested lists of numbers, rounded for people."""
    if isinstance(value, list):
        return f"[{', '.join([short(item, digits) for item in value])}]"
    return numbers.significant(value, digits)


def place(at: dict[str, Any], digits: int = 17) -> str:
    """x=1.3, y=0.7."""
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
    """What the problem is: derivative of x^2 sin(x) by x."""
    parts = [f"{task(problem['kind'], problem['order'])} of {problem['function']}"]
    if problem["wrt"]:
        parts.append(f"by {', '.join(problem['wrt'])}")
    if problem["direction"]:
        parts.append(f"in the direction {numbers.exact(list(problem['direction']))}")
    if problem["at"]:
        parts.append(f"at {place(problem['at'])}")
    return " ".join(parts)


def overridden(override: dict[str, Any]) -> str:
    """What a person said of the answer."""
    score = "" if override["score"] is None else (
        f"{numbers.exact(override['score'])} in place of {numbers.exact(override['automatic'])}")
    return ": ".join([text for text in (score, override["comment"]) if text])


def _explain_rows(answer: dict[str, Any]) -> tuple[Head, list[Row]]:
    from gradcli.render.layouts.check import components

    witness = answer["witness"]
    found = [] if not witness else [
        [index or "1", place(witness["at"]), expected, got]
        for index, expected, got in components(witness)]
    return ("component", "at", "expected", "got"), found


FACTS = {"hw run": _class_facts, "hw stats": _class_facts, "hw export": _export_facts,
         "hw lint": _lint_facts, "hw diff": _diff_facts, "hw explain": _explain_facts}
ROWS = {"hw run": _class_rows, "hw stats": _class_rows, "hw export": _export_rows,
        "hw lint": _lint_rows, "hw diff": _diff_rows, "hw explain": _explain_rows}
