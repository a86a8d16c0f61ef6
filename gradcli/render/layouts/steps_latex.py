r"""The steps of a derivative in LaTeX (with amsmath): a tabular, and the chain rule in `align*`."""

from __future__ import annotations

from gradcli.render import layout
from gradcli.render.latex import _remarks, escaped, name, number
from gradcli.render.layouts import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.render.layouts.steps import Step

CDOT = r"\cdot"
# The derivative of one operation, and that of all operations in between.
PARTIAL = r"\partial"
TOTAL = r"\mathrm{d}"
LEGEND = f"${PARTIAL}$ is the derivative of one operation, ${TOTAL}$ that of all together.\n"


def render(answer: dict[str, Any], whole: bool) -> str:
    """A tabular for each result and, backwards, one display for each source."""
    parts = []
    for result in answer["results"]:
        if result["steps"]:
            parts.append(_tabular(answer, result, whole))
            parts += [text for s in result["sources"] for text in [_chain(result, s)] if text]
        if steps.legend(result, steps.symbol_of("utf-8")):
            parts.append(LEGEND)
        parts.append(_remarks(steps.remarks(answer, result)))
    return "\n".join([part for part in parts if part])


def _tabular(answer: dict[str, Any], result: dict[str, Any], whole: bool) -> str:
    ahead = answer["mode"] == "forward"
    heads = [f"${_fraction(CDOT, name(s['wrt']), TOTAL)}$" for s in result["sources"]
             ] if ahead else ["adjoint"]
    rows = steps.some(
        result["steps"], lambda step: [[[text] for text in row]
                                       for row in _rows(result, step, ahead)],
        sum([len(step["partials"]) or 1 for step in result["steps"]]), whole)
    columns = "lllll" + "r" * len(heads)
    lines = [f"\\begin{{tabular}}{{{columns}}}",
             " & ".join(["step", "formula", "value", "local derivative", "rule", *heads]) + r" \\",
             r"\hline", *[" & ".join([cell[0] for cell in row]) + r" \\" for row in rows],
             r"\end{tabular}", ""]
    return "\n".join(lines)


def _rows(result: dict[str, Any], step: Step, ahead: bool) -> list[list[str]]:
    """A row for each local derivative of a step, the first with what is the step's own."""
    carried = list(step["tangents"].values()) if ahead else [step["adjoint"]]
    tex = step["tex"]
    left = tex["name"]
    if [step["name"]] == result["result"] and step["name"] != result["of"]:
        left = f"{name(result['of'])} = {left}"
    operation = tex["operation"]
    formula = f"${left}" + (f" = {operation}" if operation is not None else "") + "$"
    first = ["" if step["number"] is None else str(step["number"]), formula,
             f"${_value(step['value'])}$"]
    last = [steps.MARKS[step["kind"]].strip(" ()") if step["kind"] in steps.MARKS
            else f"${_value(c)}$" for c in carried]
    rows = []
    for k, partial in enumerate(step["partials"] or [None]):
        local = ["", ""] if partial is None else [
            f"${_local(tex['name'], partial)}$", escaped(partial["rule"])]
        rows.append([*(first if k == 0 else [""] * 3), *local,
                     *(last if k == 0 else [""] * len(last))])
    return rows


def _local(left: str, partial: dict[str, Any]) -> str:
    parts = [_fraction(left, partial["tex"]["wrt"], PARTIAL)]
    if partial["tex"]["formula"] is not None:
        parts.append(partial["tex"]["formula"])
    if partial["value"] is not None and _value(partial["value"]) != parts[-1]:
        parts.append(_value(partial["value"]))
    elif len(parts) == 1 and steps.cut(partial):
        parts.append(number(None))
    return " = ".join(parts)


def _chain(result: dict[str, Any], source: dict[str, Any]) -> str:
    step = next((s for s in result["steps"] if s["name"] == source["wrt"]), None)
    if step is None or source.get("gradient") is None or not step.get("through"):
        return ""
    of, wrt = name(result["of"]), name(source["wrt"])
    through = step["through"]
    names = {s["name"]: s for s in result["steps"]}
    products = []
    for t in through[:steps.TERMS]:
        inner = _fraction(t["tex"]["step"], wrt, PARTIAL)
        own = t["step"] == result["of"]
        outer = _fraction(of, t["tex"]["step"], TOTAL)
        products.append(inner if own else f"{outer} \\cdot {inner}")
    rest = r" + \dotsb" if len(through) > steps.TERMS else ""
    lines = [f"{_fraction(of, wrt, TOTAL)} &= {' + '.join(products)}{rest}"]
    pairs = [(names[t["step"]]["adjoint"], t["value"]) for t in through]
    if not rest and all(isinstance(n, int | float) for pair in pairs for n in pair):
        lines.append("&= " + " + ".join([f"{_factor(a)} \\cdot {_factor(b)}" for a, b in pairs]))
    lines.append(f"&= {_value(source['gradient'])}")
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def _fraction(above: str, below: str, sign: str) -> str:
    return f"\\frac{{{sign} {above}}}{{{sign} {below}}}"


def _value(value: Any) -> str:
    """A number in full, a small array, else the shape."""
    if isinstance(value, list | dict):
        if layout.count(value) > steps.SMALL:
            return f"\\text{{{escaped(layout.summary(value, steps.EXACT)[0])}}}"
        return f"\\text{{{escaped(layout.inline(value, steps.EXACT))}}}"
    return number(value)


def _factor(value: float) -> str:
    text = number(value)
    return f"\\left({text}\\right)" if text.startswith("-") or "times" in text else text
