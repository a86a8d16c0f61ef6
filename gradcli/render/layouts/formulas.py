"""Derivatives as files that gradcli, Python, C, LaTeX and SymPy read."""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, Any]


def gradcli(answer: Answer) -> str:
    """Return an expression file that reads back."""
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
    """Return a value as files of gradcli and Python write it."""
    if isinstance(value, list):
        return f"[{', '.join([_literal(v) for v in value])}]"
    return repr(value) if not isinstance(value, bool) else str(value).lower()


WIDTH = 79


def python(answer: Answer) -> str:
    """Return a Python module with one function."""
    needs = set(answer["needs"])
    lines = []
    if "math" in needs:
        lines += ["import math", ""]
    if "np" in needs or any("np." in text for text in _parameters(answer)):
        lines.append("import numpy as np")
    if "gradcli" in needs:
        lines += ["", "from gradcli import ops"] if lines and lines[-1] else [
            "from gradcli import ops"]
    functions = sorted(needs - {"np", "math", "gradcli"})
    if functions:
        lines += ["", *[f"{n} = np.vectorize(math.{n}, otypes=[float])" for n in functions]]
    if lines:
        lines += ["", ""]
    lines.append(f"def {_function(answer)}({', '.join(_parameters(answer))}):")
    told = [line.replace("\\", "\\\\").replace('"', '\\"') for line in about(answer)]
    answers = [heading(r) for r in answer["results"]]
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
    """Return the parameters of the function, those without a default first."""
    def default(one: Answer) -> str:
        text = repr(one["value"]).replace("nan", "np.nan").replace("inf", "np.inf")
        return f"{one['name']}=np.array({text})" if one["shape"] else f"{one['name']}={text}"

    free = [one["name"] for one in answer["inputs"] if one["value"] is None]
    return free + [default(one) for one in answer["inputs"] if one["value"] is not None]


CONSTANTS = {"pi": "3.14159265358979323846", "e": "2.71828182845904523536"}


def c(answer: Answer) -> str:
    """Return a C function of doubles that fills an array, or returns the one result."""
    # A backslash at its end would take the next line into a comment.
    lines = [f"// {line}" + "." * line.endswith("\\") for line in about(answer)]
    if "posix" in answer["needs"]:
        lines.append("#define _XOPEN_SOURCE 600  // for functions of Bessel")
    lines.append("#include <math.h>")
    given = ", ".join([f"double {one['name']}" for one in answer["inputs"]])
    results = [r for r in answer["results"] if r["formula"] is not None]
    name = _function(answer)
    if not results:
        return "\n".join(lines) + "\n"
    body = [f"    const double {n} = {CONSTANTS[n]};" for n in CONSTANTS if n in answer["needs"]]
    body += [f"    const double {d['name']} = {d['formula']};" for d in answer["definitions"]]
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
    """Return statements for SymPy."""
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
    """Return aligned equations in LaTeX."""
    rows = [rf"{_symbol(d['name'])} &= {d['formula']}" for d in answer["definitions"]]
    by = [w for r in answer["results"] for w in r["wrt"]]
    straight = len(answer["inputs"]) < 2 and len({w["name"] for w in by}) == 1 and not any(
        w["element"] for w in by)
    called = {r["name"]: r["identifier"] for r in answer["renamed"]}
    for r in answer["results"]:
        named = {**r, "of": called.get(r["of"], r["of"]), "wrt": [
            {**w, "name": called.get(w["name"], w["name"])} for w in r["wrt"]]}
        rows.append(f"{_fraction(named, 'd' if straight else chr(92) + 'partial ')} &="
                    f" {r['formula'] or chr(92) + 'text{None}'}")
    lines = [f"% {line}" for line in about(answer)]
    return "\n".join([*lines, r"\begin{align*}", " \\\\\n".join([f"  {row}" for row in rows]),
                      r"\end{align*}"]) + "\n"


def _fraction(result: Answer, d: str) -> str:
    order = len(result["wrt"])
    single = order == 1 or len({(w["name"], tuple(w["element"])) for w in result["wrt"]}) == 1
    of = _symbol(result["of"], result["element"])
    power = f"^{{{order}}}" if order > 1 else ""
    if single:
        w = result["wrt"][0]
        below = f"{d}{_symbol(w['name'], w['element'])}{power}"
    else:
        from itertools import groupby

        below = r" \, ".join([
            f"{d}{name}" + (f"^{{{count}}}" if (count := len(list(same))) > 1 else "")
            for name, same in groupby([_symbol(w["name"], w["element"]) for w in result["wrt"]])])
    above = f"{d.rstrip()}{power} {of}" if power or d != "d" else f"{d}{of}"
    return rf"\frac{{{above}}}{{{below}}}"


def _symbol(name: str, element: Any = ()) -> str:
    """Return a name in LaTeX as formulas write it, with the index of an element."""
    from gradcli.render.latex import latex_name

    shown = latex_name(name) if name.isidentifier() else rf"\left({name}\right)".replace("_", r"\_")
    if not element:
        return shown
    index = ",".join(map(str, element))
    if shown.endswith("}") and "_{" in shown:
        return f"{{{shown}}}_{{{index}}}"
    return f"{shown}_{{{index}}}"


FILES = {"gradcli": gradcli, "python": python, "c": c, "sympy": sympy, "latex": latex}
"""By language."""


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
