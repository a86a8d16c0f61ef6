"""The commands of calculus as sheets: polynomials, lines and planes as formulas that gradcli reads.
"""

from __future__ import annotations

from gradcli.render import latex, numbers
from gradcli.render.delimited import cell
from gradcli.render.page import Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Result = dict[str, Any]
    Row = dict[str, Any]

HALVED = 8          # at most so many halved steps are named
ENDS = (6, 4)       # of many iterates, what a terminal shows


def sheets(answer: dict[str, Any], digits: int | None = None, *, verbose: bool = False,
           held: Mapping[str, Any] | None = None) -> list[Sheet]:
    """A sheet for each target. digits: of the numbers in formulas, None for all; held: inputs that
    stand still, and where.
    """
    make = SHEETS[answer["command"]]
    several = len(answer["results"]) > 1
    found = []
    for result in map(numbers.unsigned, answer["results"]):
        sheet = Sheet(result["of"], _title(result, held or {}), digits)
        if answer["command"] != "newton":       # there it is where the way begins
            sheet.say(numbers.closed(sheet.name), result["value"])
        make(sheet, result)
        notes = list(dict.fromkeys([
            f"{note['message']}{_line(note)}" for note in result.get("notes") or ()]))
        sheet.remarks += [(text, False) for text in notes]
        sheet.told = [f"note: {f'{sheet.name}: ' if several else ''}{text}" for text in notes]
        found.append(sheet)
    return found


def _line(note: Mapping[str, Any]) -> str:
    return f" (line {note['line']})" if note.get("line") else ""


def _title(result: Result, held: Mapping[str, Any]) -> list[Any]:
    pieces: list[Any] = [f"{result['of']} = ", result["value"]]
    for between, point in ((" at ", result["at"]), (" with ", held)):
        for k, (name, value) in enumerate(point.items()):
            pieces += [between if k == 0 else ", ", f"{name} = ", value]
    return pieces


# --- formulas -------------------------------------------------------------------------------------


def shifted(name: str, at: float, tex: bool = False) -> str:
    """`(x - 3)`; `x` where the point is 0. The point has all its digits: it is where this holds."""
    written = latex.element(name) if tex else name
    if at == 0:
        return written
    number = latex.number(abs(at)) if tex else numbers.exact(abs(at))
    inner = f"{written} {'-' if at > 0 else '+'} {number}"
    return f"\\left({inner}\\right)" if tex else f"({inner})"


def total(terms: Sequence[tuple[float, str]], tex: bool = False, digits: int | None = None) -> str:
    """`3 + 2*x - x^2` of (coefficient, factors): those that are 0 are left out, 1 is not written.
    """
    text = ""
    for coefficient, factors in terms:
        if coefficient == 0:
            continue
        size = _number(abs(coefficient), tex, digits)
        one = factors if factors and abs(coefficient) == 1 else (
            f"{size}{' ' if tex else '*'}{factors}" if factors else size)
        sign = "-" if coefficient < 0 else "+" if text else ""
        text += f" {sign} {one}" if text else f"{sign}{one}"
    return text or "0"


def _number(value: float, tex: bool, digits: int | None) -> str:
    if tex:
        return latex.number(value, digits)
    return numbers.exact(value) if digits is None else numbers.significant(value, digits)


def _factors(powers: Mapping[str, int], at: Mapping[str, float], tex: bool) -> str:
    parts = [shifted(n, at[n], tex) + ("" if k == 1 else f"^{{{k}}}" if tex else f"^{k}")
             for n, k in powers.items()]
    return (" " if tex else "*").join(parts)


def _of(sheet: Sheet) -> str:
    """The target in LaTeX."""
    return latex.element(sheet.name)


def _first(sheet: Sheet, wrt: str) -> str:
    """`df/dx`, known to LaTeX as what it is."""
    name = numbers.first_derivative(sheet.name, wrt)
    sheet.tex[name] = latex.derivative(_of(sheet), {latex.element(wrt): 1})
    return name


# --- commands -------------------------------------------------------------------------------------


def _taylor(sheet: Sheet, result: Result) -> None:
    terms, at = result["terms"], result["at"]
    plain, tex = (total([(t["coefficient"], _factors(t["powers"], at, how)) for t in terms], how,
                        sheet.digits) for how in (False, True))
    arguments = ", ".join(map(latex.element, at))
    name = f"T{result['order']}"
    sheet.formulas = [(name, plain,
                       f"T_{{{result['order']}}}\\left({arguments}\\right) &= {tex}")]
    sheet.say(f"{name}({sheet.name})", plain)
    sheet.head = ["term", "derivative", "coefficient"]
    target = numbers.closed(sheet.name)
    for term in terms:
        powers = term["powers"]
        name = _factors(powers, at, False) or "1"
        sheet.tex[name] = _factors(powers, at, True) or "1"
        sheet.rows.append([name, term["derivative"], term["coefficient"]])
        if powers:
            order = sum(powers.values())
            below = "".join([f"d{n}{k if k > 1 else ''}" for n, k in powers.items()])
            sheet.say(f"d{order if order > 1 else ''}{target}/{below}", term["derivative"])
    for (name, *_), term in zip(sheet.rows, terms, strict=True):
        bare = name[1:-1] if name.startswith("(") and name.endswith(")") and (
            name.count("(") == 1) else name
        sheet.say_own(f"coefficient({bare})", term["coefficient"])


def _tangent(sheet: Sheet, result: Result) -> None:
    (_graph if result["kind"] in ("line", "plane") else _parametric)(sheet, result)


def _parametric(sheet: Sheet, result: Result) -> None:
    """Of a curve the vector along it, of a surface those along both variables and the normal."""
    of, at, point = sheet.name, result["at"], result["point"]
    (first, *_) = at
    curve = result["kind"] == "curve"
    vectors = {first: result["vector"]} if curve else result["vectors"]
    columns = [("tangent vector" if curve else f"along {n}", v) for n, v in vectors.items()]
    # Where a curve stands still, its direction is that of a higher derivative.
    still = curve and result.get("unit_vector") is None
    keys = [key for key in (("direction" if still else "unit_vector",) if curve else (
        "normal_vector", "unit_normal")) if result.get(key)]
    columns += [(key.replace("_", " "), result[key]) for key in keys]
    ways = {first: result["direction"]} if "direction" in keys else vectors
    sheet.head = ["component", "point", *[name for name, _ in columns]]
    sheet.rows = [[str(k), p, *[values[k] for _, values in columns]]
                  for k, p in enumerate(point)]
    for k, p in enumerate(point):
        plain, tex = (total([(p, ""), *[(v[k], shifted(n, at[n], how))
                                        for n, v in ways.items()]], how, sheet.digits)
                      for how in (False, True))
        sheet.formulas.append((f"tangent {k}", plain, f"r_{{{k}}} &= {tex}"))
        sheet.say(f"tangent({of})[{k}]", plain)
        for name, vector in vectors.items():
            sheet.say(numbers.first_derivative(of, name, (k,)), vector[k])
    if curve:
        sheet.facts = [("speed", result["length"])]
        sheet.say(f"speed({of})", result["length"])
    for key in keys:
        sheet.say(f"{key}({of})", result[key])


def _graph(sheet: Sheet, result: Result) -> None:
    of, kind = sheet.name, result["kind"]
    slopes = list(result["slopes"].items())
    name = _of(sheet)
    plain, tex = (total([*[(m, latex.element(n) if how else n) for n, m in slopes],
                         (result["intercept"], "")], how, sheet.digits) for how in (False, True))
    sheet.formulas = [("tangent" if kind == "line" else "tangent plane", plain,
                       f"{name} &= {tex}")]
    sheet.say(f"tangent({of})", plain)
    for axis, slope in slopes:
        sheet.say(numbers.first_derivative(of, axis), slope)
    sheet.say(f"intercept({of})", result["intercept"])
    if kind == "line":
        _normal(sheet, result, slopes[0][0])
    sheet.head = ["axis", "slope", "normal vector", "unit normal"]
    axes = [*result["slopes"], of]
    sheet.tex.update({axis: latex.element(axis) for axis in axes})
    sheet.rows = [[axis, slope, n, u] for axis, slope, n, u in zip(
        axes, [*result["slopes"].values(), None], result["normal_vector"],
        result["unit_normal"], strict=True)]
    for name, values in (("normal_vector", result["normal_vector"]),
                         ("unit_normal", result["unit_normal"])):
        for axis, value in zip(axes, values, strict=True):
            sheet.say_own(f"{name}({axis})", value)


def _normal(sheet: Sheet, result: Result, x: str) -> None:
    """The line across the tangent; vertical where that is horizontal."""
    normal = result["normal"]
    of = sheet.name
    if normal is None:
        at = result["at"][x]
        plain = f"{x} = {_number(at, False, sheet.digits)}"
        tex = f"{latex.element(x)} &= {latex.number(at, sheet.digits)}"
    else:
        m, b = normal["slope"], normal["intercept"]
        plain, right = (total([(m, latex.element(x) if how else x), (b, "")], how, sheet.digits)
                        for how in (False, True))
        tex = f"{_of(sheet)} &= {right}"
    sheet.formulas.append(("normal", plain, tex))
    sheet.say(f"normal({of})", plain)
    if normal is not None:
        sheet.say(f"normal_slope({of})", normal["slope"])
        sheet.say(f"normal_intercept({of})", normal["intercept"])


def _directional(sheet: Sheet, result: Result) -> None:
    of, tex = sheet.name, _of(sheet)
    for label, key, sign in (
            ("derivative along the direction", "derivative", rf"\nabla_{{v}} {tex}"),
            ("per unit of length", "per_length", rf"\nabla_{{v/|v|}} {tex}"),
            ("steepest", "steepest", rf"\left|\nabla {tex}\right|")):
        sheet.facts.append((label, result[key]))
        sheet.signs[label] = sign
        sheet.say(f"{key}({of})", result[key])
    sheet.head = ["variable", "direction", "gradient"]
    sheet.rows = [[name, v, result["gradient"][name]] for name, v in result["direction"].items()]
    for name, slope in result["gradient"].items():
        sheet.say(_first(sheet, name), slope)
        sheet.tex[name] = latex.element(name)
    for name, v in result["direction"].items():
        sheet.say_own(f"direction({name})", v)
    sheet.say_own("length", result["length"])


def _divergence(sheet: Sheet, result: Result) -> None:
    _field(sheet, result, "divergence", rf"\operatorname{{div}} {_of(sheet)}", 1)


def _curl(sheet: Sheet, result: Result) -> None:
    _field(sheet, result, "curl", rf"\operatorname{{curl}} {_of(sheet)}", 1)


def _laplacian(sheet: Sheet, result: Result) -> None:
    _field(sheet, result, "laplacian", rf"\Delta {_of(sheet)}", 2)


def _field(sheet: Sheet, result: Result, what: str, tex: str, order: int) -> None:
    sheet.facts = [(what, result[what])]
    sheet.signs[what] = tex
    sheet.say(f"{what}({sheet.name})", result[what])
    sheet.head = ["derivative", "value"]
    for term in result["terms"]:
        row = () if term["component"] is None else (term["component"],)
        of, wrt = numbers.indexed(numbers.closed(sheet.name), row), term["wrt"]
        name = numbers.first_derivative(of, wrt) if order == 1 else (
            numbers.second_derivative(of, wrt, wrt))
        sheet.tex[name] = latex.derivative(
            latex.element(numbers.indexed(sheet.name, row)), {latex.element(wrt): order})
        sheet.rows.append([name, term["derivative"]])
        sheet.say(name, term["derivative"])


def _implicit(sheet: Sheet, result: Result) -> None:
    of = sheet.name
    for k, one in enumerate(result.get("equations") or [result]):
        row = (k,) if "equations" in result else ()
        for name, value in one["partials"].items():
            label = numbers.first_derivative(of, name, row)
            sheet.signs[label] = latex.derivative(
                latex.element(numbers.indexed(of, row)), {latex.element(name): 1})
            sheet.facts.append((label, value))
            sheet.say(label, value)
    sheet.head = ["derivative", "value"]
    sign = "d" if isinstance(result["wrt"], str) else r"\partial"
    for one in result["derivatives"]:
        k, y, x = one["order"], one["of"], one["wrt"]
        name = f"d{y}/d{x}" if k == 1 else f"d{k}{y}/d{x}{k}"
        sheet.tex[name] = latex.derivative(latex.element(y), {latex.element(x): k}, sign)
        sheet.rows.append([name, one["derivative"]])
        sheet.say_own(name, one["derivative"])


def _newton(sheet: Sheet, result: Result) -> None:
    goal, iterates = result["goal"], result["iterates"]
    steps = f"{result['steps']} step{'' if result['steps'] == 1 else 's'}"
    sheet.verdict = (f"a {goal} after {steps}: {result['reason']}" if result["converged"] else
                     f"no {goal} found: {result['reason']}" if steps in result["reason"] else
                     f"no {goal} found after {steps}: {result['reason']}")
    sheet.bad = not result["converged"]
    names = list(result["solution"])
    sheet.tex.update({name: latex.element(name) for name in names})
    sheet.signs = {**sheet.tex, sheet.name: _of(sheet)}
    sheet.facts = [*result["solution"].items(), (sheet.name, result["found"])]
    for name, value in result["solution"].items():
        sheet.say_own(name, value)
    sheet.say(numbers.closed(sheet.name), result["found"])
    for name in ("steps", "converged", "reason"):
        sheet.say_own(name, result[name])
    sheet.head = ["step", *names, "value", "gradient" if goal == "minimum" else "residual",
                  "length of step"]
    sheet.rows = [[str(row["step"]), *[row["at"][n] for n in names], row["value"],
                   row["residual"], row["length"]] for row in iterates]
    sheet.ends = ENDS
    halved = [str(row["step"]) for row in iterates if row["share"] < 1]
    if halved:
        which = ", ".join(halved) if len(halved) <= HALVED else f"{len(halved)} of {steps}"
        sheet.remarks.append((
            f"steps that lead away were halved until they did not: {which}", False))
    longer = [str(row["step"]) for row in iterates if row["share"] > 1]
    if longer:
        sheet.remarks.append((
            f"steps made longer, because they shrank by one ratio: {', '.join(longer)}", False))


def _propagate(sheet: Sheet, result: Result) -> None:
    of, tex = sheet.name, _of(sheet)
    sheet.facts = [("sigma", result["sigma"])]
    sheet.signs["sigma"] = rf"\sigma_{{{tex}}}"
    sheet.say(f"sigma({of})", result["sigma"])
    if result["relative"] is not None:
        sheet.facts.append(("relative", result["relative"]))
        sheet.signs["relative"] = rf"\sigma_{{{tex}}} / \left|{tex}\right|"
    sheet.say(f"relative({of})", result["relative"])
    second = result.get("second_order")
    if second:
        sheet.facts += [("mean to second order", second["mean"]),
                        ("sigma to second order", second["sigma"])]
        for key, value in second.items():
            sheet.say(f"second_order_{key}({of})", value)
    head = ["at", "sigma", "derivative", "contribution", "share"]
    sheet.head = ["input", *head]
    for one in result["inputs"]:
        name = one["wrt"]
        sheet.rows.append([name, *[one[key] for key in head]])
        sheet.say(_first(sheet, name), one["derivative"])
        sheet.tex[name] = latex.element(name)
        for key in ("sigma", "contribution", "share"):
            sheet.say_own(f"{key}({name})", one[key])
    for c in result["correlations"]:
        sheet.say_own(f"correlation({c['first']},{c['second']})", c["correlation"])
    if result["correlations"]:
        sheet.remarks.append(("correlations: " + ", ".join([
            f"{c['first']}:{c['second']} = {_number(c['correlation'], False, sheet.digits)}"
            for c in result["correlations"]]), False))


SHEETS = {
    "taylor": _taylor, "tangent": _tangent, "directional": _directional,
    "divergence": _divergence, "curl": _curl, "laplacian": _laplacian, "implicit": _implicit,
    "newton": _newton, "propagate": _propagate}


# --------------------------------------------------------------------------------------------------
# Answers of calculus as CSV and TSV: one table, with a row for each field of the JSON.
#
# Columns: `of`, the target; `quantity`, the field, with a path where it has parts (`at.x`,
# `curl[0]`,
# `second_order.mean`); `value`. A list of objects, such as the iterates of Newton's method, has a
# row for each under the name of the list, and their fields are columns of their own. Formulas are
# quantities, too. A null is an empty cell.

# What has places of its own: the variables are those of `at`, notes go where messages go.
ELSEWHERE = ("of", "variables", "notes", "sources")


def render(answer: dict[str, Any], sheets: Sequence[Sheet], delimiter: str) -> str:
    """The answer as a header line and rows; the formulas are those of its sheets."""
    import csv
    import io

    rows = [row for result, sheet in zip(answer["results"], sheets, strict=True)
            for row in _rows(result, sheet)]
    names = {"of": 0, "quantity": 1, "value": 2}
    for row in rows:
        for name in row:
            names.setdefault(name, len(names))
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(map(cell, names))
    writer.writerows([[_cell(row.get(name)) for name in names] for row in rows])
    return stream.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else cell(value) if isinstance(value, str) else numbers.exact(value)


def _rows(result: dict[str, Any], sheet: Sheet) -> Iterator[Row]:
    of = result["of"]
    for key, value in numbers.unsigned(result).items():
        if key in ELSEWHERE:
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                if "powers" in item:    # those that are 0 are not in the JSON
                    item["powers"] = {**dict.fromkeys(result["at"], 0), **item["powers"]}
                yield {"of": of, "quantity": key, **{
                    f"{key}.of" if name == "of" else name: one
                    for name, one in _flat(item).items()}}
            continue
        for path, one in _paths(key, value):
            yield {"of": of, "quantity": path, "value": one}
    for name, text, _ in sheet.formulas:
        yield {"of": of, "quantity": name, "value": text}
    for source in result.get("sources") or ():
        yield from _compared(of, source)


def _compared(of: str, source: dict[str, Any]) -> Iterator[Row]:
    """What `verify` says of one source: its place, and a row for each number that was compared."""
    from gradcli.render.layouts.verify import name_of

    for path, one in _paths(f"at.{source['wrt']}", source["at"]):
        yield {"of": of, "quantity": path, "value": one}
    for k, element in enumerate(source["elements"]):
        yield {"of": of, "quantity": name_of(of, source["wrt"], element, k), **{
            key: " ".join(map(str, value)) if isinstance(value, list) else value
            for key, value in element.items()}}
    if not source["elements"]:
        yield {"of": of, "quantity": numbers.first_derivative(of, source["wrt"]),
               "verdict": source["verdict"]}


def _flat(item: dict[str, Any]) -> Row:
    return {path: one for key, value in item.items() for path, one in _paths(key, value)}


def _paths(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(`at.x`, number), (`curl[0]`, number): a dot before what has a name, brackets around places.
    """
    for index, one in numbers.elements(value):
        path, places = key, []
        for part in index:
            if isinstance(part, int):
                places.append(part)
            else:
                path, places = f"{numbers.indexed(path, tuple(places))}.{part}", []
        yield numbers.indexed(path, tuple(places)), one
