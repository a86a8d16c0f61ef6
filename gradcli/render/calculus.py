"""The commands of calculus as sheets: polynomials, lines and planes as formulas that gradcli reads.
"""

from __future__ import annotations

from gradcli.render import latex, numbers
from gradcli.render.sheet import Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Result = dict[str, Any]


def sheets(answer: dict[str, Any]) -> list[Sheet]:
    """A sheet for each target."""
    make = SHEETS[answer["command"]]
    found = []
    for result in answer["results"]:
        sheet = Sheet(result["of"], _title(result))
        make(sheet, result)
        sheet.remarks += [(f"{note['message']}{_line(note)}", False)
                          for note in result.get("notes") or ()]
        found.append(sheet)
    return found


def _line(note: Mapping[str, Any]) -> str:
    return f" (line {note['line']})" if note.get("line") else ""


def _title(result: Result) -> list[Any]:
    pieces: list[Any] = [f"{result['of']} = ", result["value"]]
    for k, (name, value) in enumerate(result["at"].items()):
        pieces += [" at " if k == 0 else ", ", f"{name} = ", value]
    return pieces


# --- formulas -------------------------------------------------------------------------------------


def shifted(name: str, at: float, tex: bool = False) -> str:
    """`(x - 3)`; `x` where the point is 0."""
    written = latex.name(name) if tex else name
    if at == 0:
        return written
    number = latex.number(abs(at)) if tex else numbers.exact(abs(at))
    inner = f"{written} {'-' if at > 0 else '+'} {number}"
    return f"\\left({inner}\\right)" if tex else f"({inner})"


def total(terms: Sequence[tuple[float, str]], tex: bool = False) -> str:
    """`3 + 2*x - x^2` of (coefficient, factors): those that are 0 are left out, 1 is not written.
    """
    text = ""
    for coefficient, factors in terms:
        if coefficient == 0:
            continue
        size = latex.number(abs(coefficient)) if tex else numbers.exact(abs(coefficient))
        one = factors if factors and abs(coefficient) == 1 else (
            f"{size}{' ' if tex else '*'}{factors}" if factors else size)
        sign = "-" if coefficient < 0 else "+" if text else ""
        text += f" {sign} {one}" if text else f"{sign}{one}"
    return text or "0"


def _factors(powers: Mapping[str, int], at: Mapping[str, float], tex: bool) -> str:
    parts = [shifted(n, at[n], tex) + ("" if k == 1 else f"^{{{k}}}" if tex else f"^{k}")
             for n, k in powers.items()]
    return (" " if tex else "*").join(parts)


def _taylor(sheet: Sheet, result: Result) -> None:
    terms, at = result["terms"], result["at"]
    plain, tex = (total([(t["coefficient"], _factors(t["powers"], at, how)) for t in terms], how)
                  for how in (False, True))
    arguments = ", ".join([latex.name(n) for n in at])
    sheet.formulas = [(f"T{result['order']}", plain,
                       f"T_{{{result['order']}}}\\left({arguments}\\right) &= {tex}")]
    sheet.head = ["term", "derivative", "coefficient"]
    for term in terms:
        name = _factors(term["powers"], at, False) or "1"
        sheet.tex[name] = f"${_factors(term['powers'], at, True) or '1'}$"
        sheet.rows.append([name, term["derivative"], term["coefficient"]])


def _tangent(sheet: Sheet, result: Result) -> None:
    at, of = result["at"], result["of"]
    if result["kind"] == "curve":
        (t,) = at
        sheet.head = ["component", "point", "tangent vector", "unit vector"]
        units = result["unit_vector"] or [None] * len(result["vector"])
        sheet.rows = [[str(k), p, v, u] for k, (p, v, u) in enumerate(
            zip(result["point"], result["vector"], units, strict=True))]
        sheet.facts = [("speed", result["length"])]
        for k, (p, v) in enumerate(zip(result["point"], result["vector"], strict=True)):
            sheet.formulas.append((
                f"tangent {k}", total([(p, ""), (v, shifted(t, at[t]))]),
                f"r_{{{k}}} &= {total([(p, ''), (v, shifted(t, at[t], True))], True)}"))
        return
    slopes = list(result["slopes"].items())
    name = latex.name(of) if of.isidentifier() else f"\\text{{{latex.escaped(of)}}}"
    plain = total([*[(m, n) for n, m in slopes], (result["intercept"], "")])
    tex = total([*[(m, latex.name(n)) for n, m in slopes], (result["intercept"], "")], True)
    sheet.formulas = [("tangent" if result["kind"] == "line" else "tangent plane", plain,
                       f"{name} &= {tex}")]
    if result["kind"] == "line":
        ((x, _),) = slopes
        normal = result["normal"]
        if normal is None:  # it is vertical
            both = f"{x} = {numbers.exact(at[x])}", f"{latex.name(x)} &= {latex.number(at[x])}"
        else:
            m, b = normal["slope"], normal["intercept"]
            both = total([(m, x), (b, "")]), f"{name} &= " + total(
                [(m, latex.name(x)), (b, "")], True)
        sheet.formulas.append(("normal", *both))
    sheet.head = ["axis", "slope", "normal vector", "unit normal"]
    sheet.rows = [[axis, slope, n, u] for axis, slope, n, u in zip(
        [*result["slopes"], of], [*result["slopes"].values(), None], result["normal_vector"],
        result["unit_normal"], strict=True)]


def _directional(sheet: Sheet, result: Result) -> None:
    sheet.facts = [("derivative along the direction", result["derivative"]),
                   ("per unit of length", result["per_length"]),
                   ("steepest", result["steepest"])]
    sheet.head = ["variable", "direction", "derivative"]
    sheet.rows = [[name, v, result["gradient"][name]] for name, v in result["direction"].items()]


def _divergence(sheet: Sheet, result: Result) -> None:
    sheet.facts = [("divergence", result["divergence"])]
    _terms(sheet, result, 1)


def _curl(sheet: Sheet, result: Result) -> None:
    sheet.facts = [("curl", result["curl"])]
    _terms(sheet, result, 1)


def _laplacian(sheet: Sheet, result: Result) -> None:
    sheet.facts = [("laplacian", result["laplacian"])]
    _terms(sheet, result, 2)


def _terms(sheet: Sheet, result: Result, order: int) -> None:
    derivative = numbers.first_derivative if order == 1 else (
        lambda of, wrt, row=(): numbers.second_derivative(
            numbers.indexed(of, row) if row else of, wrt, wrt))
    sheet.head = ["derivative", "value"]
    sheet.rows = [[derivative(result["of"], term["wrt"], () if term["component"] is None
                              else (term["component"],)), term["derivative"]]
                  for term in result["terms"]]


def _implicit(sheet: Sheet, result: Result) -> None:
    x, y = result["wrt"], result["dependent"]
    sheet.facts = [(numbers.first_derivative(result["of"], name), value)
                   for name, value in result["partials"].items()]
    sheet.head = ["derivative", "value"]
    for one in result["derivatives"]:
        k = one["order"]
        sheet.rows.append([f"d{y}/d{x}" if k == 1 else f"d{k}{y}/d{x}{k}", one["derivative"]])


def _newton(sheet: Sheet, result: Result) -> None:
    goal = result["goal"]
    steps = f"{result['steps']} step{'' if result['steps'] == 1 else 's'}"
    sheet.verdict = (f"a {goal} after {steps}: {result['reason']}" if result["converged"] else
                     f"no {goal} after {steps}: {result['reason']}")
    sheet.bad = not result["converged"]
    names = list(result["solution"])
    sheet.facts = [*result["solution"].items(), (result["of"], result["found"])]
    sheet.plain = [*sheet.facts, ("steps", result["steps"]), ("converged", result["converged"]),
                   ("reason", result["reason"])]
    sheet.head = ["step", *names, "value", "gradient" if goal == "minimum" else "residual",
                  "length of step"]
    sheet.rows = [[str(row["step"]), *[row["at"][n] for n in names], row["value"],
                   row["residual"], row["length"]] for row in result["iterates"]]
    if any(row["share"] < 1 for row in result["iterates"]):
        sheet.remarks.append(("steps that lead away were halved until they did not: "
                              + ", ".join([str(row["step"]) for row in result["iterates"]
                                           if row["share"] < 1]), False))


def _propagate(sheet: Sheet, result: Result) -> None:
    sheet.facts = [("sigma", result["sigma"])]
    if result["relative"] is not None:
        sheet.facts.append(("relative", result["relative"]))
    second = result.get("second_order")
    if second:
        sheet.facts += [("mean to second order", second["mean"]),
                        ("sigma to second order", second["sigma"])]
    sheet.head = ["input", "at", "sigma", "derivative", "contribution", "share"]
    sheet.rows = [[one["wrt"], *[one[key] for key in sheet.head[1:]]] for one in result["inputs"]]
    if result["correlations"]:
        sheet.remarks.append(("correlations: " + ", ".join([
            f"{c['first']}:{c['second']} = {numbers.exact(c['correlation'])}"
            for c in result["correlations"]]), False))


SHEETS = {
    "taylor": _taylor, "tangent": _tangent, "directional": _directional,
    "divergence": _divergence, "curl": _curl, "laplacian": _laplacian, "implicit": _implicit,
    "newton": _newton, "propagate": _propagate}
