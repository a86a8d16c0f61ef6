"""The page of `gradcli hw report`: the number that matters first, then where it comes from."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.layouts import homework
from gradcli.render.page import Bar, Code, Page, Paragraph, Phrase, Table, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.render.page import Block

WORDS = {"right": "right", "wrong": "wrong", "review": "waiting", "blank": "blank"}
"""Kinds of answers, as the heads of columns."""


def page(answer: dict[str, Any]) -> Page:
    """Return the page of a report. Shells, spreadsheets and terminals get what `hw stats` says."""
    counts = homework.page({**answer, "command": "hw stats", "problems": [
        {**one, "clusters": []} for one in answer["problems"]]})
    return Page(fields=counts.fields, records=counts.records, blocks=_blocks(answer),
                screen=counts.screen)


def _blocks(answer: dict[str, Any]) -> Iterator[Block]:
    sheet = answer["sheet"]
    yield Title(sheet["title"] or sheet["id"])
    yield Paragraph(" ".join(_summary(answer)))
    for part in (_marks, _problems, _steps, _help, _mistakes):
        yield from part(answer)


def _summary(answer: dict[str, Any]) -> Iterator[str]:
    percent, students, waiting = answer["percent"], answer["students"], answer["answers"]["review"]
    if percent["median"] is not None:
        yield (f"Half of the class has {_percent(percent['median'])} or more; the mean is"
               f" {_percent(percent['mean'])} of {_points(answer['sheet']['max_score'])}.")
    late = f", {students['late']:,} of them late" if students["late"] else ""
    yield (f"{students['handed_in']:,} of {_counted(students['total'], 'student')} handed something"
           f" in{late}.")
    if waiting:
        yield (f"{_counted(waiting, 'answer')} of {_counted(answer['waiting'], 'student')}"
               f" wait{'s' * (waiting == 1)} for a person, in review.csv, and"
               f" {'count' if waiting > 1 else 'counts'} nothing until then.")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _points(points: float) -> str:
    return f"{numbers.exact(points)} point{'s' * (points != 1)}"


def _percent(value: float) -> str:
    return f"{numbers.significant(float(value), 3)} %"


def _share(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)} %" if whole else ""


def _marks(answer: dict[str, Any]) -> Iterator[Block]:
    bins = answer["marks"]
    most = max([one["students"] for one in bins], default=0)
    if not most:
        return
    yield Title("Marks", gap=True)
    rows = [[f"{one['from']} to {one['to']} %", Bar(
        f"{one['students']:,}", _counted(one["students"], "student"),
        ("", one["students"] / most))] for one in bins]
    yield Table(["percent of the points", "students"], rows, "ll", caption=(
        "How many students have how many percent: a mark on a border counts above it."))


def _problems(answer: dict[str, Any]) -> Iterator[Block]:
    if not answer["problems"]:
        return
    yield Title("Problems", gap=True)
    rows = []
    for one in answer["problems"]:
        total = sum([one[kind] for kind in WORDS])
        parts = [(style, one[kind] / total) for kind, style, *_ in homework.KINDS] if total else []
        rows.append([
            one["problem"], _function(one), Bar(
                f"{_share(one['right'], total)} right",
                ", ".join([f"{one[kind]:,} {word}" for kind, word in WORDS.items()]), *parts),
            *[f"{one[kind]:,}" for kind in WORDS], _mean(one)])
    yield Table(["problem", "function", "how it went", *WORDS.values(), "mean points"], rows,
                "lllrrrrr", caption="Right is green, wrong red, waiting for a person yellow,"
                " blank grey; the mean is of those who tried.")


def _function(one: dict[str, Any]) -> Phrase:
    return Code(one["function"], one["tex"])


def _answer(one: dict[str, Any]) -> Phrase:
    return Code(one["answer"], one["answer_tex"])


def _mean(one: dict[str, Any]) -> str:
    if one["mean_score"] is None:
        return ""
    return f"{numbers.significant(one['mean_score'], 3)} of {numbers.exact(one['max_score'])}"


def _steps(answer: dict[str, Any]) -> Iterator[Block]:
    if not answer["steps"]:
        return
    yield Title("The hardest steps", gap=True)
    rows = [[one["problem"], _sentence(one["message"]), Bar(
        f"{one['students']:,} of {one['attempts']:,}",
        f"{one['students']:,} of {_counted(one['attempts'], 'student')} who tried",
        ("red", one["students"] / max(1, one["attempts"]))), _answer(one)]
        for one in answer["steps"]]
    yield Table(["problem", "what went wrong", "students", "answered, for example"], rows, "llll",
                caption="The same mistake at the same place; of those who tried the problem.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _mistakes(answer: dict[str, Any]) -> Iterator[Block]:
    if not answer["examples"]:
        return
    yield Title("Mistakes", gap=True)
    most = max([one["students"] for one in answer["examples"]])
    rows = []
    for one in answer["examples"]:
        shown = [(f"{case['problem']}: ", _function(case), " was answered ", _answer(case))
                 for case in one["examples"]]
        rows.append([one["mistake"].replace("_", " "), Bar(
            f"{one['students']:,}", _counted(one["students"], "answer"),
            ("red", one["students"] / most)), tuple(shown)])
    yield Table(["mistake", "answers", "for example"], rows, "lll", caption=(
        "Formulas as they were read."))


def _help(answer: dict[str, Any]) -> Iterator[Block]:
    few, missing = answer["help"], answer["missing"]
    if few["count"] or missing["count"]:
        yield Title("Who needs help", gap=True)
    if missing["count"]:
        names = [_called(one) for one in missing["students"]]
        more = missing["count"] - len(names)
        yield Paragraph(f"{_counted(missing['count'], 'student')} handed nothing in"
                        f"{': ' * bool(names)}{', '.join(names)}"
                        f"{f' and {more:,} more' if names and more else ''}.")
    if few["count"]:
        yield Paragraph(f"{_counted(few['count'], 'student')}"
                        f" ha{'ve' if few['count'] > 1 else 's'} less than half of the points, the"
                        " fewest first.")
        rows = [[_called(one) or f"{at}", _percent(one["percent"]), f"{one['blank']:,}",
                 f"{one['review']:,}", ", ".join([
                     f"{name.replace('_', ' ')} {count}" for name, count in one["mistakes"].items()
                 ])] for at, one in enumerate(few["students"], 1)]
        more = few["count"] - len(rows)
        yield Table(["student", "points", "blank", "waiting", "mistakes made most"], rows, "lrrrl",
                    caption=f"{more:,} more are in gradebook.csv." if more else "")


def _called(one: dict[str, Any]) -> str:
    if one["student"] is None:
        return ""
    return one["student"] if one["name"] in ("", one["student"]) else (
        f"{one['name']} ({one['student']})")
