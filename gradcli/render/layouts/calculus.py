"""verify and the commands of calculus as pages: polynomials, lines and planes are formulas that
gradcli reads.
"""

from __future__ import annotations

from gradcli.render import entries, latex, numbers
from gradcli.render.layouts.targets import TargetPage, along, name_of, with_records
from gradcli.render.page import WRONG, Code, Phrase, Remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Result = dict[str, Any]
    Row = dict[str, Any]


HALVED = 8          # at most so many halved steps are named
ENDS = (6, 4)       # of many iterates, what a terminal shows


def pages(answer: dict[str, Any], digits: int | None = None, *, verbose: bool = False,
          held: Mapping[str, Any] | None = None) -> list[TargetPage]:
    """Return a page for each target, the first one with the rows of all. digits: of the numbers in
    formulas, None for all; held: inputs that stand still, and where; verbose: all numbers that
    verify compared.
    """
    several = len(answer["results"]) > 1
    if answer["command"] == "verify":
        return with_records(answer, [
            _verified(result, verbose, digits, several) for result in answer["results"]])
    found = []
    for result in map(numbers.unsigned, answer["results"]):
        page = TargetPage(result["of"], _title(result, held or {}), digits, several)
        if answer["command"] != "newton":       # there it is where the way begins
            page.add(numbers.closed(page.name), result["value"])
        PAGES[answer["command"]](page, result)
        notes = list(dict.fromkeys([
            f"{note['message']}{entries.line(note)}" for note in result.get("notes") or ()]))
        for text in notes:
            page.remark(text)
        page.messages = [f"note: {f'{page.name}: ' if several else ''}{text}" for text in notes]
        found.append(page)
    return with_records(answer, found)


def _title(result: Result, held: Mapping[str, Any]) -> list[Any]:
    pieces: list[Any] = [f"{result['of']} = ", result["value"]]
    for between, point in ((" at ", result["at"]), (" with ", held)):
        for k, (name, value) in enumerate(point.items()):
            pieces += [between if k == 0 else ", ", f"{name} = ", value]
    return pieces


# --- formulas -------------------------------------------------------------------------------------


def shifted(name: str, at: float, tex: bool = False) -> str:
    """Return `(x - 3)`, or `x` where the point is 0. The point has all its digits, since the
    formula holds there.
    """
    written = latex.element(name) if tex else name
    if at == 0:
        return written
    number = numbers.grouped(latex.number(abs(at)) if tex else numbers.exact(abs(at)))
    inner = f"{written} {'-' if at > 0 else '+'} {number}"
    return f"\\left({inner}\\right)" if tex else f"({inner})"


def total(terms: Sequence[tuple[float, str]], tex: bool = False, digits: int | None = None) -> str:
    """Return the sum `3 + 2*x - x^2` of (coefficient, factors): terms that are 0 are left out, a
    factor of 1 is not written.
    """
    text = ""
    for coefficient, factors in terms:
        if coefficient == 0:
            continue
        size = (latex.number if tex else numbers.significant)(abs(coefficient), digits)
        one = factors if factors and abs(coefficient) == 1 else (
            _product(coefficient, size, factors, tex) if factors else size)
        sign = "-" if coefficient < 0 else "+" if text else ""
        text += f" {sign} {one}" if text else f"{sign}{one}"
    return text or "0"


def _product(coefficient: float, size: str, factors: str, tex: bool) -> str:
    """Return the text of a coefficient's size times factors."""
    if type(coefficient) is numbers.Exact:
        return f"{numbers.grouped(size)} {factors}" if tex else numbers.multiplied(size, factors)
    return f"{size}{' ' if tex else '*'}{factors}"


def _factors(powers: Mapping[str, int], at: Mapping[str, float], tex: bool) -> str:
    parts = [shifted(n, at[n], tex) + ("" if k == 1 else f"^{{{k}}}" if tex else f"^{k}")
             for n, k in powers.items()]
    return (" " if tex else "*").join(parts)


def _of(page: TargetPage) -> str:
    """Return the target in LaTeX."""
    return latex.element(page.name)


def _name(name: str) -> Code:
    return Code(name, latex.element(name))




# --- commands -------------------------------------------------------------------------------------


def _taylor(page: TargetPage, result: Result) -> None:
    terms, at = result["terms"], result["at"]
    plain, tex = (total([(t["coefficient"], _factors(t["powers"], at, how)) for t in terms], how,
                        page.digits) for how in (False, True))
    arguments = ", ".join(map(latex.element, at))
    name = f"T{result['order']}"
    page.facts.rows.append((name, Code(
        plain, f"T_{{{result['order']}}}\\left({arguments}\\right) &= {tex}")))
    page.add(f"{name}({page.name})", plain)
    page.table.fill(["term", "derivative", "coefficient"])
    target = numbers.closed(page.name)
    for term in terms:
        powers = term["powers"]
        name = _factors(powers, at, False) or "1"
        tex = _factors(powers, at, True) or "1"
        page.table.rows.append([Code(name, tex), term["derivative"], term["coefficient"]])
        if powers:
            order = sum(powers.values())
            below = "".join([f"d{n}{k if k > 1 else ''}" for n, k in powers.items()])
            page.add(f"d{order if order > 1 else ''}{target}/{below}", term["derivative"])
    for (name, *_), term in zip(page.table.rows, terms, strict=True):
        bare = name[1:-1] if name.startswith("(") and name.endswith(")") and (
            name.count("(") == 1) else name
        page.add_own(f"coefficient({bare})", term["coefficient"])


def _tangent(page: TargetPage, result: Result) -> None:
    (_graph if result["kind"] in ("line", "plane") else _parametric)(page, result)


def _parametric(page: TargetPage, result: Result) -> None:
    """Add to the page: of a curve the vector along it, of a surface those along both variables and
    the normal.
    """
    of, at, point = page.name, result["at"], result["point"]
    (first, *_) = at
    curve = result["kind"] == "curve"
    vectors = {first: result["vector"]} if curve else result["vectors"]
    columns = [("tangent vector" if curve else Phrase(f"along {n}"), v) for n, v in vectors.items()]
    # Where a curve stands still, its direction is that of a higher derivative.
    still = curve and result.get("unit_vector") is None
    keys = [key for key in (("direction" if still else "unit_vector",) if curve else (
        "normal_vector", "unit_normal")) if result.get(key)]
    columns += [(key.replace("_", " "), result[key]) for key in keys]
    ways = {first: result["direction"]} if "direction" in keys else vectors
    page.table.fill(["component", "point", *[name for name, _ in columns]], [
        [Code(str(k)), p, *[values[k] for _, values in columns]] for k, p in enumerate(point)])
    for k, p in enumerate(point):
        plain, tex = (total([(p, ""), *[(v[k], shifted(n, at[n], how))
                                        for n, v in ways.items()]], how, page.digits)
                      for how in (False, True))
        page.facts.rows.append((f"tangent {k}", Code(plain, f"r_{{{k}}} &= {tex}")))
        page.add(f"tangent({of})[{k}]", plain)
        for name, vector in vectors.items():
            page.add(numbers.first_derivative(of, name, (k,)), vector[k])
    if curve:
        page.facts.rows.append(("speed", result["length"]))
        page.add(f"speed({of})", result["length"])
    for key in keys:
        page.add(f"{key}({of})", result[key])


def _graph(page: TargetPage, result: Result) -> None:
    of, kind = page.name, result["kind"]
    slopes = list(result["slopes"].items())
    name = _of(page)
    plain, tex = (total([*[(m, latex.element(n) if how else n) for n, m in slopes],
                         (result["intercept"], "")], how, page.digits) for how in (False, True))
    page.facts.rows.append(("tangent" if kind == "line" else "tangent plane",
                            Code(plain, f"{name} &= {tex}")))
    page.add(f"tangent({of})", plain)
    for axis, slope in slopes:
        page.add(numbers.first_derivative(of, axis), slope)
    page.add(f"intercept({of})", result["intercept"])
    if kind == "line":
        _normal(page, result, slopes[0][0])
    axes = [*result["slopes"], of]
    page.table.fill(["axis", "slope", "normal vector", "unit normal"], zip(
        map(_name, axes), [*result["slopes"].values(), None], result["normal_vector"],
        result["unit_normal"], strict=True))
    for name, values in (("normal_vector", result["normal_vector"]),
                         ("unit_normal", result["unit_normal"])):
        for axis, value in zip(axes, values, strict=True):
            page.add_own(f"{name}({axis})", value)


def _normal(page: TargetPage, result: Result, x: str) -> None:
    """Add the line across the tangent to the page; it is vertical where the tangent is horizontal.
    """
    normal = result["normal"]
    of = page.name
    if normal is None:
        at = result["at"][x]
        plain = f"{x} = {numbers.significant(at, page.digits)}"
        tex = f"{latex.element(x)} &= {latex.number(at, page.digits)}"
    else:
        m, b = normal["slope"], normal["intercept"]
        plain, right = (total([(m, latex.element(x) if how else x), (b, "")], how, page.digits)
                        for how in (False, True))
        tex = f"{_of(page)} &= {right}"
    page.facts.rows.append(("normal", Code(plain, tex)))
    page.add(f"normal({of})", plain)
    if normal is not None:
        page.add(f"normal_slope({of})", normal["slope"])
        page.add(f"normal_intercept({of})", normal["intercept"])


def _directional(page: TargetPage, result: Result) -> None:
    of, tex = page.name, _of(page)
    for label, key, sign in (
            ("derivative along the direction", "derivative", rf"\nabla_{{v}} {tex}"),
            ("per unit of length", "per_length", rf"\nabla_{{v/|v|}} {tex}"),
            ("steepest", "steepest", rf"\left|\nabla {tex}\right|")):
        page.facts.rows.append((Phrase(label, sign), result[key]))
        page.add(f"{key}({of})", result[key])
    page.table.fill(["variable", "direction", "gradient"], [
        [_name(name), v, result["gradient"][name]] for name, v in result["direction"].items()])
    for name, slope in result["gradient"].items():
        page.add(numbers.first_derivative(of, name), slope)
    for name, v in result["direction"].items():
        page.add_own(f"direction({name})", v)
    page.add_own("length", result["length"])


def _divergence(page: TargetPage, result: Result) -> None:
    _field(page, result, "divergence", rf"\operatorname{{div}} {_of(page)}", 1)


def _curl(page: TargetPage, result: Result) -> None:
    _field(page, result, "curl", rf"\operatorname{{curl}} {_of(page)}", 1)


def _laplacian(page: TargetPage, result: Result) -> None:
    _field(page, result, "laplacian", rf"\Delta {_of(page)}", 2)


def _field(page: TargetPage, result: Result, what: str, tex: str, order: int) -> None:
    page.facts.rows.append((Phrase(what, tex), result[what]))
    page.add(f"{what}({page.name})", result[what])
    page.table.fill(["derivative", "value"])
    for term in result["terms"]:
        row = () if term["component"] is None else (term["component"],)
        of, wrt = numbers.indexed(numbers.closed(page.name), row), term["wrt"]
        name = numbers.first_derivative(of, wrt) if order == 1 else (
            numbers.second_derivative(of, wrt, wrt))
        page.table.rows.append([Code(name, latex.derivative(
            latex.element(numbers.indexed(page.name, row)), {latex.element(wrt): order})),
            term["derivative"]])
        page.add(name, term["derivative"])


def _implicit(page: TargetPage, result: Result) -> None:
    of = page.name
    for k, one in enumerate(result.get("equations") or [result]):
        row = (k,) if "equations" in result else ()
        for name, value in one["partials"].items():
            label = numbers.first_derivative(of, name, row)
            page.facts.rows.append((Phrase(label, latex.derivative(
                latex.element(numbers.indexed(of, row)), {latex.element(name): 1})), value))
            page.add(label, value)
    page.table.fill(["derivative", "value"])
    sign = "d" if isinstance(result["wrt"], str) else r"\partial"
    for one in result["derivatives"]:
        k, y, x = one["order"], one["of"], one["wrt"]
        name = f"d{y}/d{x}" if k == 1 else f"d{k}{y}/d{x}{k}"
        page.table.rows.append([Code(name, latex.derivative(
            latex.element(y), {latex.element(x): k}, sign)), one["derivative"]])
        page.add_own(name, one["derivative"])


def _newton(page: TargetPage, result: Result) -> None:
    goal, iterates = result["goal"], result["iterates"]
    steps = f"{result['steps']} step{'' if result['steps'] == 1 else 's'}"
    page.judge(f"a {goal} after {steps}: {result['reason']}" if result["converged"] else
               f"no {goal} found: {result['reason']}" if steps in result["reason"] else
               f"no {goal} found after {steps}: {result['reason']}", not result["converged"])
    names = list(result["solution"])
    page.facts.rows.extend([(_name(name), x) for name, x in (
        *result["solution"].items(), (page.name, result["found"]))])
    for name, value in result["solution"].items():
        page.add_own(name, value)
    page.add(numbers.closed(page.name), result["found"])
    for name in ("steps", "converged", "reason"):
        page.add_own(name, result[name])
    page.table.fill(
        ["step", *[Phrase(n, latex.element(n)) for n in names], "value",
         "gradient" if goal == "minimum" else "residual", "length of step"],
        [[Code(str(row["step"])), *[row["at"][n] for n in names], row["value"], row["residual"],
          row["length"]] for row in iterates])
    page.table.ends = ENDS
    halved = [str(row["step"]) for row in iterates if row["share"] < 1]
    if halved:
        which = ", ".join(halved) if len(halved) <= HALVED else f"{len(halved)} of {steps}"
        page.remark(f"steps that lead away were halved until they did not: {which}")
    longer = [str(row["step"]) for row in iterates if row["share"] > 1]
    if longer:
        page.remark(f"steps made longer, because they shrank by one ratio: {', '.join(longer)}")


def _propagate(page: TargetPage, result: Result) -> None:
    of, tex = page.name, _of(page)
    page.facts.rows.append((Phrase("sigma", rf"\sigma_{{{tex}}}"), result["sigma"]))
    page.add(f"sigma({of})", result["sigma"])
    if result["relative"] is not None:
        page.facts.rows.append((
            Phrase("relative", rf"\sigma_{{{tex}}} / \left|{tex}\right|"), result["relative"]))
    page.add(f"relative({of})", result["relative"])
    second = result.get("second_order")
    if second:
        page.facts.rows.extend([("mean to second order", second["mean"]),
                            ("sigma to second order", second["sigma"])])
        for key, value in second.items():
            page.add(f"second_order_{key}({of})", value)
    head = ["at", "sigma", "derivative", "contribution", "share"]
    page.table.fill(["input", *head])
    for one in result["inputs"]:
        name = one["wrt"]
        page.table.rows.append([_name(name), *[one[key] for key in head]])
        page.add(numbers.first_derivative(of, name), one["derivative"])
        for key in ("sigma", "contribution", "share"):
            page.add_own(f"{key}({name})", one[key])
    for c in result["correlations"]:
        page.add_own(f"correlation({c['first']},{c['second']})", c["correlation"])
    if result["correlations"]:
        page.remark("correlations: " + ", ".join([
            f"{c['first']}:{c['second']} = {numbers.significant(c['correlation'], page.digits)}"
            for c in result["correlations"]]))


PAGES = {
    "taylor": _taylor, "tangent": _tangent, "directional": _directional,
    "divergence": _divergence, "curl": _curl, "laplacian": _laplacian, "implicit": _implicit,
    "newton": _newton, "propagate": _propagate}


# --- verify: a row for each number that was compared; of many, those that differ ------------------

METHODS = ("reverse", "forward", "complex", "central")
WITHOUT = {"complex": "complex step", "central": "differences"}
VERDICT_SIGNS = {"agree": "", "differ": "!", "undecided": "?"}      # on a terminal
WORST = 12      # of a source with more numbers the worst ones are shown
VERDICTS = {
    "agree": "all derivatives agree", "differ": "derivatives differ (!)",
    "undecided": "nothing is wrong, but not everything could be decided (?)",
    "none": "there is no derivative to check"}


def _verified(result: dict[str, Any], verbose: bool, digits: int | None, several: bool
              ) -> TargetPage:
    value = result["value"]
    pieces: list[Any] = [f"{result['of']} = ", value] if not isinstance(value, list) else [
        f"{result['of']} of shape {' x '.join(map(str, result['shape'] or []))}"]
    at = [(s["wrt"], s["at"]) for s in result["sources"] if not isinstance(s["at"], list)]
    for k, (name, x) in enumerate(at):
        pieces += [" at " if k == 0 else ", ", f"{name} = ", x]
    page = TargetPage(result["of"], pieces, digits, several)
    page.judge(VERDICTS[result["verdict"]], result["verdict"] == "differ")
    page.table.fill(["derivative", "reverse", "forward", Phrase("complex step", brief="complex"),
                     "central", "error", "difference", Phrase("verdict", brief="")])
    page.table.brief = (5, 6)
    page.table.short = {"difference": "diff"}
    page.add(numbers.closed(page.name), value)
    page.add(f"verdict({page.name})", result["verdict"])
    for source in result["sources"]:
        _source(page, source, verbose)
    for block in result["blocks"]:
        _block(page, block)
    if several:
        page.messages = [text.replace("note: ", f"note: {page.name}: ", 1)
                         if text.startswith("note: ") else text for text in page.messages]
    return page


def _block(page: TargetPage, block: dict[str, Any]) -> None:
    row, column, (one,) = block["row"], block["col"], block["elements"]
    name = numbers.second_derivative(page.name, row, column)
    _compared(page, [name], [one])
    by = [latex.element(row), latex.element(column)]
    _row(page, Code(name, latex.derivative(
        latex.element(page.name), {x: by.count(x) for x in by})), one)
    _remarks(page, {**block, "wrt": name})


def _compared(page: TargetPage, names: list[str], elements: list[dict[str, Any]]) -> None:
    for name, one in zip(names, elements, strict=True):
        page.add(name, one["reverse"])
        for key in (*METHODS[1:], "error", "difference", "verdict"):
            page.add(f"{key}({name})", one[key])


def _row(page: TargetPage, name: str, one: dict[str, Any]) -> None:
    if one["verdict"] == "differ":
        page.table.wrong.add(len(page.table.rows))
    page.table.rows.append([name, *map(one.get, METHODS), one["error"], one["difference"],
                            _word(one["verdict"])])


def _word(verdict: str) -> Code:
    return Code(verdict, brief=VERDICT_SIGNS.get(verdict))


def _source(page: TargetPage, source: dict[str, Any], verbose: bool) -> None:
    of, wrt, elements = page.name, source["wrt"], source["elements"]
    names = [name_of(of, wrt, one, k) for k, one in enumerate(elements)]
    _compared(page, names, elements)
    if not elements:
        name = numbers.first_derivative(of, wrt)
        page.add(name, None)
        page.add(f"verdict({name})", source["verdict"])
        tex = latex.derivative(latex.element(of), {latex.element(wrt): 1})
        page.table.rows.append([Code(name, tex), *[None] * (len(METHODS) + 2),
                                _word(source["verdict"])])
    shown = list(range(len(elements)))
    if len(elements) > WORST and not verbose:
        shown = sorted(shown, key=lambda k: _badness(elements[k]))[:WORST]
    for k in shown:
        one, name = elements[k], names[k]
        at, to = (() if along(one) else tuple(one[key]) for key in ("of_index", "wrt_index"))
        _row(page, Code(name, latex.derivative(
            latex.element(numbers.indexed(of, at)),
            {latex.element(numbers.indexed(wrt, to)): 1}) + (
                rf" \cdot r_{{{k + 1}}}" if along(one) else "")), one)
    if any(along(one) for one in elements):
        page.remark(f"r1 to r{len(elements)} are random directions, always the same, in place of"
                    f" each element of {wrt}")
    if len(shown) < len(elements):
        page.remark(f"{wrt}: the worst {len(shown)} of {len(elements)} numbers; -v shows all")
    _remarks(page, source)


def _badness(one: dict[str, Any]) -> tuple[int, float]:
    difference = one["difference"]
    return (("differ", "undecided", "agree").index(one["verdict"]),
            -difference if difference == difference else 0.0)


def _remarks(page: TargetPage, source: dict[str, Any]) -> None:
    said = {block.text for block in page.blocks if isinstance(block, Remark)}
    causes = [f"{c['message']}{entries.line(c)}" for c in source["causes"]]
    reasons = [f"{source['wrt']} has no derivative: {r['message']}{entries.line(r)}"
               for r in source["reasons"]]
    notes = list(dict.fromkeys([f"{n['message']}{entries.line(n)}" for n in source["notes"]]))
    lacking = [f"no {WITHOUT.get(m, m)} for {source['wrt']}: {why}"
               for m, why in source["methods"].items() if why]
    for text, style in (*[(text, WRONG) for text in causes],
                        *[(text, "") for text in (*reasons, *lacking, *notes)]):
        if text not in said:
            page.remark(text, style)
    page.messages += [text for text in [*causes, *reasons, *[f"note: {text}" for text in notes]]
                  if text not in page.messages]
