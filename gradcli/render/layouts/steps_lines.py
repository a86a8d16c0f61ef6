"""The steps of a derivative in the formats of one line a row, and each format's own way to them."""

from __future__ import annotations

from gradcli.render import delimited, numbers
from gradcli.render.layouts.steps import ON_PATHS, named, symbol_of
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.render.layouts.steps import Step, Symbol


def render(answer: dict[str, Any], format: str, whole: bool = False, encoding: str = "utf-8"
           ) -> str:
    """The answer in one of `gradcli.render.FORMATS`. whole: all steps, however many."""
    if format in ("json", "ndjson"):
        from gradcli.render import machine

        return machine.render(answer) if format == "json" else machine.render_ndjson(answer)
    if format in ("csv", "tsv"):
        return _delimited(answer, "\t" if format == "tsv" else ",")
    if format == "markdown":
        from gradcli.render.layouts import steps_markdown

        return steps_markdown.render(answer, whole)
    if format == "latex":
        from gradcli.render.layouts import steps_latex

        return steps_latex.render(answer, whole)
    symbol = symbol_of(encoding)
    several = len(answer["results"]) > 1
    return "".join([
        visible(f"{result['of']}: {called}" if several else called) + f"\t{numbers.exact(value)}\n"
        for result in answer["results"] for called, value in _plain(result, symbol)])


def _plain(result: dict[str, Any], symbol: Symbol) -> Iterator[tuple[str, Any]]:
    """Names and numbers: forwards the steps, then each walk's derivatives, local ones beside them.
    """
    for step in result["steps"]:
        yield _equal(named(result, step), step["operation"]), step["value"]
        for wrt, tangent in step.get("tangents", {}).items():
            if step["kind"] in ON_PATHS:
                yield from _slopes(step, symbol)
                yield numbers.first_derivative(step["name"], wrt), tangent
    for step in reversed(result["steps"]):
        if step["kind"] in ON_PATHS and "adjoint" in step:
            yield numbers.first_derivative(result["of"], step["name"]), step["adjoint"]
            yield from _slopes(step, symbol)


def _slopes(step: Step, symbol: Symbol) -> Iterator[tuple[str, Any]]:
    for partial in step["partials"]:
        value, formula = partial["value"], partial["formula"]
        yield _equal(symbol(step["name"], partial["wrt"]),
                     None if formula == numbers.exact(value) else formula), value


def _equal(called: str, formula: str | None) -> str:
    return called if formula is None else f"{called} = {formula}"


def _delimited(answer: dict[str, Any], delimiter: str) -> str:
    import csv
    import io

    forward = answer["mode"] == "forward"
    sources = [s["wrt"] for s in answer["results"][0]["sources"]] if forward else []
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow([
        "of", "number", "step", "kind", "operation", "formula", "value", "operand", "rule",
        "derivative", "slope", *([f"d/d{name}" for name in sources] if forward else ["adjoint"])])
    for result in answer["results"]:
        for step in result["steps"]:
            own = [result["of"], step["number"], step["name"], step["kind"], step["operation"],
                   step["formula"], step["value"]]
            carried = [step["tangents"][n] for n in sources] if forward else [step["adjoint"]]
            for partial in step["partials"] or [{}]:
                local = [partial.get(key) for key in ("wrt", "rule", "formula", "value")]
                writer.writerow([
                    *map(_cell, [*own, *local]), *map(numbers.exact, carried)])
    return stream.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return delimited.cell(value) if isinstance(value, str) else numbers.exact(value)
