"""The values of derivatives beside their formulas."""

from __future__ import annotations

from gradcli import questions
from gradcli.base.errors import GradcliError, Source
from gradcli.lang.running.program import Program
from gradcli.questions.plain_data import data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question


def valued(question: Question, answer: Answer) -> Answer:
    """Return an answer of `derived` in which each derivative has its value at the point, None where
    there is none: a gradient as `grad` has it, others by their formulas. It stays as it is where
    names have no values.
    """
    gradients: dict[tuple[str, str], Any] = {}
    try:
        if answer["what"] == "gradient" and answer["order"] == 1:
            for result in questions.grad(question)["results"]:
                for source in result["sources"]:
                    gradients[result["of"], source["wrt"]] = source["gradient"]
    except GradcliError:    # some names have no value
        return answer
    for result in answer["results"]:
        key = result["of"], result["wrt"][0]["name"]
        result["value"] = gradients[key] if key in gradients else _of_formula(answer, result)
    return answer


def _of_formula(answer: Answer, result: Answer) -> Any:
    """Return the value of a formula in the language at the values of its inputs; None without."""
    if result["formula"] is None:
        return None
    lines = [f"{one['name']} = {one['formula']}" for one in answer["definitions"]]
    program = Program(Source("\n".join([*lines, result["formula"]]), "formula"))
    at = {one["name"]: one["value"] for one in answer["inputs"] if one["value"] is not None
          and one["name"] in program.names.inputs}
    try:
        run = program.run(at)
    except GradcliError:
        return None
    (target,) = program.targets(run, [], derived=False)
    return data(getattr(target.tensor, "value", target.tensor))
