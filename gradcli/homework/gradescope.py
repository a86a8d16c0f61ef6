"""gradescope/results.json: one student, as the autograder specification of Gradescope wants it.

score, output, visibility, stdout_visibility and tests, each with score, max_score, status, name,
number, output, tags and visibility. https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

from gradcli.homework.harmless import number
from gradcli.homework.told import told
from gradcli.render.json import dump
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.checking.problem import Problem
    from gradcli.homework.marks import Marks
    from gradcli.homework.results import Result
    from gradcli.homework.sheet import Sheet


def results_json(sheet: Sheet, marks: Marks, level: str = "hint", visibility: str = "visible"
                 ) -> str:
    """The file for one student. level: as for feedback; at `none` and `verdict` nothing else."""
    output = f"{number(marks.score)} of {number(marks.maximum)}"
    if marks.late_penalty:
        output += f" ({number(marks.raw)} less {number(marks.late_penalty)} for being late)"
    return dump({
        "score": marks.score, "output": output, "output_format": "text",
        "test_output_format": "text", "test_name_format": "text", "visibility": visibility,
        "stdout_visibility": "hidden",
        "tests": [_test(problem, result, level, visibility, at) for at, (problem, result)
                  in enumerate(zip(sheet.problems, marks.results, strict=True), 1)]}) + "\n"


def _test(problem: Problem, result: Result | None, level: str, visibility: str, at: int
          ) -> dict[str, Any]:
    found = told(problem, result, level)
    score = result.score if result else 0.0
    most = float(problem.points)
    lines = [found.verdict]
    lines += [f"your answer: {result.answer.strip()}"] if result and result.answer.strip() else []
    lines += [f"read as: {found.read_as}"] if found.read_as else []
    lines += [text for text in (found.message, found.witness, found.comment) if text]
    tags = [result.verdict if result else "blank"]
    if found.message and result and result.mistake:
        tags.append(result.mistake)
    return {
        "score": score, "max_score": most, "status": "passed" if score >= most else "failed",
        "name": f"Problem {visible(problem.id)}", "number": str(at),
        "output": "\n".join(map(visible, lines)), "tags": list(map(visible, tags)),
        "visibility": visibility}
