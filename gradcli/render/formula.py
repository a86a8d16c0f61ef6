"""Derivatives as formulas: files in the language that was asked for, or lines for people.

An answer holds the formulas as text in its language; here they get names, a head and a frame.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, Any]

LANGUAGES = {
    "table": "gradcli", "plain": "gradcli", "json": "gradcli", "markdown": "gradcli",
    "gradcli": "gradcli", "python": "python", "c": "c", "latex": "latex", "sympy": "sympy"}
"""Format to the language that its formulas are in."""


def render(answer: Answer, chosen: str) -> str:
    """An answer as text; its formulas are in the language of the format."""
    return FORMATS[chosen](answer)


def heading(result: Answer) -> str:
    """`df/dx`, `d2f/dxdy`, `df[0]/dx[1]`."""
    of = numbers.indexed(closed(result["of"]), tuple(result["element"]))
    below = "".join(["d" + numbers.indexed(closed(w["name"]), tuple(w["element"]))
                     for w in result["wrt"]])
    order = len(result["wrt"])
    return f"d{order if order > 1 else ''}{of}/{below}"


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
            + "".join(["d" + flat(w["name"], w["element"]) for w in result["wrt"]]))


def identifiers(answer: Answer) -> list[str]:
    """One name for each result, different from all others."""
    taken = {d["name"] for d in answer["definitions"]} | {i["name"] for i in answer["inputs"]}
    found = []
    for result in answer["results"]:
        name = identifier(result)
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
    lines += [f"{heading(r)} is None: {visible(_why(r))}"
              for r in answer["results"] if r["formula"] is None]
    return lines


def _why(result: Answer) -> str:
    return result["reasons"][0]["message"] if result["reasons"] else "no path"


# --- files of each language -----------------------------------------------------------------------


def gradcli(answer: Answer) -> str:
    """An expression file that reads back."""
    lines = [f"# {line}" for line in about(answer)]
    for one in answer["inputs"]:
        lines.append(f"input {one['name']}{_given(one)}")
    lines += [f"{d['name']} = {d['formula']}" for d in answer["definitions"]]
    lines += [f"{name} = {r['formula']}" for name, r in zip(
        identifiers(answer), answer["results"], strict=True) if r["formula"] is not None]
    return "\n".join(lines) + "\n"


def _given(one: Answer) -> str:
    if one["value"] is None:
        return f": float64{one['shape']}" if one["shape"] else ""
    return f" = {_literal(one['value'])}"


def _literal(value: Any) -> str:
    """A value as files of gradcli and Python write it."""
    if isinstance(value, list):
        return f"[{', '.join([_literal(v) for v in value])}]"
    return repr(value) if not isinstance(value, bool) else str(value).lower()


WIDTH = 79


def python(answer: Answer) -> str:
    """A module with one function."""
    needs = set(answer["needs"])
    lines = []
    if "math" in needs:
        lines += ["import math", ""]
    if "np" in needs or any("np." in text for text in _parameters(answer)):
        lines.append("import numpy as np")
    if "gradcli" in needs:
        lines += ["", "from gradcli import ops"] if lines[-1:] != [""] else [
            "from gradcli import ops"]
    functions = sorted(needs - {"np", "math", "gradcli"})
    if functions:
        lines += ["", *[f"{n} = np.vectorize(math.{n}, otypes=[float])" for n in functions]]
    if lines:
        lines += ["", ""]
    lines.append(f"def {_function(answer)}({', '.join(_parameters(answer))}):")
    told = about(answer)
    answers = [f"{heading(r)}" for r in answer["results"]]
    lines.append(f'    """{told[0]}: {_folded(answers)}.')
    lines += ["", *[f"    {line}." for line in told[1:]], '    """'] if told[1:] else []
    if not told[1:]:
        lines[-1] += '"""'
    lines += [f"    {d['name']} = {d['formula']}" for d in answer["definitions"]]
    formulas = [str(r["formula"]) for r in answer["results"]]
    if len(formulas) == 1:
        lines.append(f"    return {formulas[0]}")
    elif len(", ".join(formulas)) < 80:
        lines.append(f"    return {', '.join(formulas)}")
    else:
        lines += ["    return (", *[f"        {f}," for f in formulas], "    )"]
    return "\n".join(lines) + "\n"


def _folded(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])


def _function(answer: Answer) -> str:
    taken = {one["name"] for one in answer["inputs"]}
    name = answer["what"] if answer["order"] == 1 or answer["what"] == "hessian" else "derivatives"
    return name + "_" if name in taken else name


def _parameters(answer: Answer) -> list[str]:
    """Names without a value first."""
    def default(one: Answer) -> str:
        text = repr(one["value"]).replace("nan", "np.nan").replace("inf", "np.inf")
        return f"{one['name']}=np.array({text})" if one["shape"] else f"{one['name']}={text}"

    free = [one["name"] for one in answer["inputs"] if one["value"] is None]
    return free + [default(one) for one in answer["inputs"] if one["value"] is not None]


def c(answer: Answer) -> str:
    """A function of doubles that fills an array."""
    lines = [f"// {line}" for line in about(answer)]
    text = " ".join([str(r["formula"]) for r in answer["results"]]) + " ".join(
        [d["formula"] for d in answer["definitions"]])
    if "M_PI" in text or "M_E" in text:
        lines.append("#define _USE_MATH_DEFINES")
    lines.append("#include <math.h>")
    given = ", ".join([f"double {one['name']}" for one in answer["inputs"]])
    results = [r for r in answer["results"] if r["formula"] is not None]
    name = _function(answer)
    body = [f"    const double {d['name']} = {d['formula']};" for d in answer["definitions"]]
    if len(results) == 1:
        lines += ["", f"double {name}({given or 'void'})", "{", *body,
                  f"    return {results[0]['formula']};", "}"]
        return "\n".join(lines) + "\n"
    lines += ["", f"void {name}({given}{', ' if given else ''}double out[{len(results)}])", "{",
              *body]
    lines += [f"    out[{k}] = {r['formula']};  // {heading(r)}"
              for k, r in enumerate(results)]
    return "\n".join([*lines, "}"]) + "\n"


def sympy(answer: Answer) -> str:
    """Statements for SymPy."""
    lines = [f"# {line}" for line in about(answer)]
    lines.append("from sympy import *")
    names = [one["name"] for one in answer["inputs"]]
    if names:
        comma = "," if len(names) == 1 else ""
        lines.append(f"{', '.join(names)}{comma} = symbols(\"{' '.join(names)}{comma}\","
                     " real=True)")
    lines += [f"{d['name']} = {d['formula']}" for d in answer["definitions"]]
    lines += [f"{name} = {r['formula']}" for name, r in zip(
        identifiers(answer), answer["results"], strict=True)]
    return "\n".join(lines) + "\n"


def latex(answer: Answer) -> str:
    """Aligned equations."""
    rows = [rf"{_symbol(d['name'])} &= {d['formula']}" for d in answer["definitions"]]
    rows += [f"{_fraction(r)} &= {r['formula'] or chr(92) + 'text{None}'}"
             for r in answer["results"]]
    lines = [f"% {line}" for line in about(answer)]
    return "\n".join([*lines, r"\begin{align*}", " \\\\\n".join([f"  {row}" for row in rows]),
                      r"\end{align*}"]) + "\n"


def _fraction(result: Answer) -> str:
    order = len(result["wrt"])
    single = order == 1 or len({(w["name"], tuple(w["element"])) for w in result["wrt"]}) == 1
    d = r"\partial"
    of = _symbol(result["of"], result["element"])
    power = f"^{{{order}}}" if order > 1 else ""
    if single:
        w = result["wrt"][0]
        below = f"{d} {_symbol(w['name'], w['element'])}{power}"
    else:
        below = r" \, ".join([f"{d} {_symbol(w['name'], w['element'])}" for w in result["wrt"]])
    return rf"\frac{{{d}{power} {of}}}{{{below}}}"


def _symbol(name: str, element: Any = ()) -> str:
    """A name as LaTeX shows it: as the formulas do."""
    from gradcli.render.formula_names import latex_name

    shown = latex_name(name) if name.isidentifier() else rf"\left({name}\right)".replace("_", r"\_")
    if not element:
        return shown
    index = ",".join(map(str, element))
    if shown.endswith("}") and "_{" in shown:
        return f"{{{shown}}}_{{{index}}}"
    return f"{shown}_{{{index}}}"


# --- for people and programs ----------------------------------------------------------------------


def plain(answer: Answer) -> str:
    """One name and formula per line."""
    lines = [f"{d['name']}\t{d['formula']}" for d in answer["definitions"]]
    lines += [f"{heading(r)}\t{r['formula']}" for r in answer["results"]]
    return "\n".join(lines) + "\n"


def table(answer: Answer) -> str:
    """Equations below each other, what has a name first."""
    left = [d["name"] for d in answer["definitions"]] + [heading(r) for r in answer["results"]]
    right = [d["formula"] for d in answer["definitions"]] + [
        r["formula"] or f"None: {_why(r)}" for r in answer["results"]]
    width = max(map(len, left), default=0)
    shown = [(t["of"], t["formula"]) for t in answer["targets"] if t["formula"]]
    lines = [f"{of} = {formula}" for of, formula in shown]
    if lines:
        lines.append("")
    lines += [f"{a:<{width}} = {b}" for a, b in zip(left, right, strict=True)]
    if answer["conditions"]:
        lines += ["", "holds where " + " and ".join(answer["conditions"])]
    return "\n".join([visible(line) for line in lines]) + "\n"


def markdown(answer: Answer) -> str:
    """A table of formulas."""
    rows = [(d["name"], d["formula"]) for d in answer["definitions"]] + [
        (heading(r), r["formula"] or f"None: {_why(r)}") for r in answer["results"]]
    lines = ["| | formula |", "|---|---|"]
    lines += [f"| `{a}` | `{b}` |" for a, b in rows]
    lines += [f"\n{line}." for line in about(answer)[1:2] if answer["conditions"]]
    return "\n".join(lines) + "\n"


def json(answer: Answer) -> str:
    """One object."""
    from gradcli.render.json import dump

    shown = {k: v for k, v in answer.items() if k != "needs"}
    return dump(shown) + "\n"


FORMATS = {
    "gradcli": gradcli, "python": python, "c": c, "sympy": sympy, "latex": latex, "plain": plain,
    "table": table, "markdown": markdown, "json": json}
