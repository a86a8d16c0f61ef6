"""What derivatives are called, and what is said of them, in every format."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, Any]


def heading(result: Answer) -> str:
    """`df/dx`, `d2f/dxdy`, `d3f/dx2dy`, `df[0]/dx[1]`."""
    of = numbers.indexed(closed(result["of"]), tuple(result["element"]))
    below = _below([numbers.indexed(closed(w["name"]), tuple(w["element"]))
                    for w in result["wrt"]])
    order = len(result["wrt"])
    return f"d{order if order > 1 else ''}{of}/{below}"


def _below(names: list[str]) -> str:
    """`dxdx`, `dx3`, `dx2dy`: powers from the third order on, where they are no part of a name."""
    if len(names) < 3 or any(not n[-1].isalpha() for n in names):
        return "".join(["d" + n for n in names])
    from itertools import groupby

    counted = [(name, len(list(same))) for name, same in groupby(names)]
    return "".join([f"d{name}{count if count > 1 else ''}" for name, count in counted])


def closed(name: str) -> str:
    """A name; what is no name in brackets."""
    return name if name.isidentifier() else f"({name})"


def identifier(result: Answer) -> str:
    """`df_dx`, `d2f_dxdy`, `df0_dx1`."""
    def flat(name: str, element: list[int]) -> str:
        return "".join([c if c.isalnum() or c == "_" else "_" for c in name]) + "_".join(
            [str(k) for k in element])

    order = len(result["wrt"])
    return (f"d{order if order > 1 else ''}{flat(result['of'], result['element'])}_"
            + _below([flat(w["name"], w["element"]) for w in result["wrt"]]))


def identifiers(answer: Answer) -> list[str]:
    """One name for each result, different from all others."""
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
    """Sentences on what the formulas are and where they hold."""
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
    """Conditions that the given values do not meet, and what is left out, as sentences."""
    return [f"{n['message'][:1].upper()}{n['message'][1:]}" for n in answer["notes"]
            if n["code"] in ("outside", "part-left-out")]


def why(result: Answer) -> str:
    """Why there is no derivative."""
    return result["reasons"][0]["message"] if result["reasons"] else "no path"
