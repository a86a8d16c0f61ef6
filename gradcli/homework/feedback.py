"""feedback/<student>.md: what a student gets to read, in Markdown."""

from __future__ import annotations

from gradcli.homework.harmless import code, number, plain, prose
from gradcli.homework.marks import MISSING
from gradcli.homework.told import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.checking.problem import Problem
    from gradcli.homework.marks import Marks
    from gradcli.homework.results import Result
    from gradcli.homework.sheet import Sheet


def page(sheet: Sheet, marks: Marks, level: str) -> str:
    """The text for one student."""
    lines = [f"# {plain(sheet.title or sheet.id)}", "",
             f"Student: {plain(marks.student.name)} ({code(marks.student.id)})", ""]
    if marks.status == MISSING:
        lines += ["Nothing was handed in.", ""]
    lines.append(f"Score: {number(marks.score)} of {number(marks.maximum)}")
    if marks.late_penalty:
        lines[-1] += f" ({number(marks.raw)} less {number(marks.late_penalty)} for being late)"
    if marks.status != MISSING:
        for problem, result in zip(sheet.problems, marks.results, strict=True):
            lines += ["", *_problem(problem, result, level)]
    return "\n".join(lines) + "\n"


def _problem(problem: Problem, result: Result | None, level: str) -> Iterator[str]:
    found = told(problem, result, level)
    score = number(result.score if result else 0.0)
    yield f"## Problem {plain(problem.id)}"
    yield ""
    yield f"{_stopped(found.verdict.capitalize())} {score} of {number(float(problem.points))}."
    items = []
    if result is not None and result.answer.strip():
        items.append(f"Your answer: {code(result.answer.strip())}")
    if found.read_as:
        items.append(f"Read as: {code(found.read_as)}")
    if found.message:
        items.append(_stopped(f"Hint: {prose(found.message)}"))
    if found.witness:
        items.append(_stopped(f"For example, {prose(found.witness)}"))
    if found.comment:
        items.append(f"Comment: {plain(found.comment)}")
    if items:
        yield ""
        yield from [f"- {item}" for item in items]


def _stopped(text: str) -> str:
    """With a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
