"""Derivatives as formulas: lines for people, cells for spreadsheets; and what every format says of
them.
"""

from __future__ import annotations

from gradcli.render import numbers, write
from gradcli.render.markdown import code
from gradcli.render.numbers import visible
from gradcli.render.page import Code, Equations, Page, Phrase, Remark, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block

    Answer = dict[str, Any]

MISSING, OFF = "\x1b[33m", "\x1b[0m"
"""A derivative that is None is yellow, as in the tables of numbers."""


def page(answer: Answer) -> Page:
    """Return names and formulas, for shells and spreadsheets, and as a document."""
    return Page(fields=_fields(answer), records=_records(answer), blocks=_blocks(answer))


def _blocks(answer: Answer) -> Iterator[Block]:
    """Yield the formulas below what they are of. `tex` of the answer: their equations in LaTeX."""
    first, *more = about(answer)
    yield Title((first,))
    for target in answer["targets"]:
        if target["formula"]:
            yield Remark(f"`{target['of']} = {target['formula']}`")
    texts = [f"{d['name']} = {d['formula']}" for d in answer["definitions"]]
    texts += [f"{heading(r)} = {r['formula'] or 'None'}" for r in answer["results"]]
    tex = answer.get("tex") or [""] * len(texts)
    for text, line in zip(texts, tex, strict=True):
        yield Equations([Phrase(text, line) if line else Code(text)])
    for line in more:
        yield Remark(line)


def _fields(answer: Answer) -> Iterator[tuple[str, str]]:
    for one in answer["definitions"]:
        yield one["name"], one["formula"]
    for result in answer["results"]:
        yield heading(result), str(result["formula"])
    yield from values(answer)


def table(answer: Answer, width: int | None = None, color: bool = False,
          digits: int | None = None) -> str:
    """Return equations below each other, those that define names first, then values with so many
    digits. Longer ones continue below the sign, if there is a width.
    """
    rows = [(d["name"], d["formula"], False) for d in answer["definitions"]]
    rows += [(heading(r), r["formula"] or f"None: {why(r)}", r["formula"] is None)
             for r in answer["results"]]
    names = max([len(name) for name, _, _ in rows], default=0)
    lines: list[str] = []
    for t in answer["targets"]:
        if t["formula"]:
            lines += _folded(f"{visible(t['of'])} = ", visible(t["formula"]), width)
    if lines:
        lines.append("")
    for name, text, missing in rows:
        shown = _folded(f"{visible(name):<{names}} = ", visible(text), width)
        lines += [f"{MISSING}{line}{OFF}" for line in shown] if missing and color else shown
    found = list(values(answer, digits))
    if found:
        lines += ["", *[f"{visible(name)}: {value}" for name, value in found]]
    if answer["conditions"]:
        lines += ["", *_folded("holds where ", visible(" and ".join(answer["conditions"])), width)]
    if answer["conditions"]:
        lines += [visible(text) for text in doubts(answer)]
    return "\n".join(lines) + "\n"


def _folded(head: str, text: str, width: int | None) -> list[str]:
    """Return a head and a text in lines of at most `width` where possible: they break at spaces,
    and continue below the text, or near the margin where the head takes most of the line.
    """
    if width is None or len(head) + len(text) <= width:
        return [head + text]
    from textwrap import wrap

    indent = len(head) if len(head) <= width // 2 else 4
    return wrap(head + text, width, subsequent_indent=" " * indent, break_long_words=False,
                break_on_hyphens=False, drop_whitespace=True)


def markdown(answer: Answer) -> str:
    """Return a table of formulas in Markdown."""
    rows = [(d["name"], d["formula"]) for d in answer["definitions"]] + [
        (heading(r), r["formula"] or f"None: {why(r)}") for r in answer["results"]]
    lines = ["| | formula |", "|---|---|"]
    lines += [f"| {code(name)} | {code(text)} |" for name, text in rows]
    lines += [f"\n{code(name)} is {code(value)}." for name, value in values(answer)]
    if answer["conditions"]:
        lines += ["", f"They hold where {visible(' and '.join(answer['conditions']))}."]
        lines += [f"\n{visible(line)}." for line in doubts(answer)]
    return "\n".join(lines) + "\n"


def _records(answer: Answer) -> Iterator[Sequence[Any]]:
    """Yield a row for each formula, those that define names first."""
    yield ["of", "element", "wrt", "formula", "conditions", "reason"]
    for one in answer["definitions"]:
        yield [one["name"], "", "", _cell(one["formula"]), "", ""]
    conditions = " and ".join(answer["conditions"])
    for result in answer["results"]:
        by = [numbers.indexed(closed(w["name"]), tuple(w["element"])) for w in result["wrt"]]
        missing = result["formula"] is None
        yield [result["of"], " ".join(map(str, result["element"])), " ".join(by),
               "None" if missing else _cell(result["formula"]), "" if missing else conditions,
               result["reasons"][0]["code"] if result["reasons"] else ""]


def values(answer: Answer, digits: int | None = None) -> Iterator[tuple[str, str]]:
    """Yield what each derivative with a value is called there, df/dx at x = 2, and the value with
    so many digits, or all.
    """
    at = ", ".join([f"{one['name']} = {numbers.exact(one['value'])}" for one in answer["inputs"]
                    if one["value"] is not None])
    for result in answer["results"]:
        if "value" in result:
            yield f"{heading(result)} at {at}" if at else heading(result), numbers.exact(
                numbers.rounded(result["value"], digits))


def _cell(formula: str) -> Any:
    """Return a formula as a cell; one that is a number stays a number in a spreadsheet."""
    for kind in (int, float):
        try:
            number = kind(formula)
        except ValueError:
            continue
        if numbers.exact(number) == formula:
            return number
    return formula


def render(answer: Answer, chosen: str, width: int | None = None, color: bool = False,
           digits: int | None = None) -> str:
    """Return an answer as text in a format that is no language of formulas. width, color, digits:
    of tables, which are not folded without a width.
    """
    if chosen == "table":
        return table(answer, width, color, digits)
    if chosen == "markdown":
        return markdown(answer)
    shown = {k: v for k, v in answer.items() if k not in ("needs", "renamed", "tex")}
    return write(shown, [page(answer)], chosen)


# --------------------------------------------------------------------------------------------------
# What derivatives are called, and what is said of them, in every format.

def heading(result: Answer) -> str:
    """Return the name of a derivative: `df/dx`, `d2f/dxdy`, `d3f/dx2dy`, `df[0]/dx[1]`."""
    of = numbers.indexed(closed(result["of"]), tuple(result["element"]))
    below = _below([numbers.indexed(closed(w["name"]), tuple(w["element"]))
                    for w in result["wrt"]])
    order = len(result["wrt"])
    return f"d{order if order > 1 else ''}{of}/{below}"


def _below(names: list[str]) -> str:
    """Return the denominator of a derivative, `dxdx`, `dx3`, `dx2dy`: powers from the third order
    on, where they cannot be read as part of a name.
    """
    if len(names) < 3 or any(not n[-1].isalpha() for n in names):
        return "".join(["d" + n for n in names])
    from itertools import groupby

    counted = [(name, len(list(same))) for name, same in groupby(names)]
    return "".join([f"d{name}{count if count > 1 else ''}" for name, count in counted])


def closed(name: str) -> str:
    """Return a name as it is, any other text in brackets."""
    return name if name.isidentifier() else f"({name})"


def identifier(result: Answer) -> str:
    """Return the name of a derivative as an identifier: `df_dx`, `d2f_dxdy`, `df0_dx1`."""
    def flat(name: str, element: list[int]) -> str:
        return "".join([c if c.isalnum() or c == "_" else "_" for c in name]) + "_".join(
            [str(k) for k in element])

    order = len(result["wrt"])
    return (f"d{order if order > 1 else ''}{flat(result['of'], result['element'])}_"
            + _below([flat(w["name"], w["element"]) for w in result["wrt"]]))


def identifiers(answer: Answer) -> list[str]:
    """Return one name for each result, different from all others."""
    taken = {d["name"] for d in answer["definitions"]} | {i["name"] for i in answer["inputs"]}
    called = {r["name"]: r["identifier"] for r in answer["renamed"]}
    found = []
    for result in answer["results"]:
        name = identifier({
            **result, "of": called.get(result["of"], result["of"]),
            "wrt": [{**w, "name": called.get(w["name"], w["name"])} for w in result["wrt"]]})
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(name)
    return found


def about(answer: Answer) -> list[str]:
    """Return sentences on what the formulas are and where they hold."""
    kinds = {"gradient": "Derivatives", "jacobian": "Jacobian", "hessian": "Hessian"}
    lines = [f"{kinds[answer['what']]} of {visible(target['of'])}, from {visible(answer['file'])}"
             for target in answer["targets"]]
    if answer["conditions"]:
        lines.append("They hold where " + " and ".join(answer["conditions"]))
    lines += [visible(text) for text in doubts(answer)]
    inputs = {i["name"] for i in answer["inputs"]}
    lines += [f"`{visible(r['name'])}` is called {r['identifier']} here"
              for r in answer["renamed"] if r["identifier"] in inputs]
    lines += [f"{heading(r)} is None: {visible(why(r))}"
              for r in answer["results"] if r["formula"] is None]
    return lines


def doubts(answer: Answer) -> list[str]:
    """Return sentences on conditions that the given values do not meet, and on parts left out."""
    return [f"{n['message'][:1].upper()}{n['message'][1:]}" for n in answer["notes"]
            if n["code"] in ("outside", "part-left-out")]


def why(result: Answer) -> str:
    """Return the reason why there is no derivative."""
    return result["reasons"][0]["message"] if result["reasons"] else "no path"


def function_name(answer: Answer) -> str:
    """Return a name for the function of all derivatives."""
    taken = {one["name"] for one in answer["inputs"]}
    name = answer["what"] if answer["order"] == 1 or answer["what"] == "hessian" else "derivatives"
    return name + "_" if name in taken else name
