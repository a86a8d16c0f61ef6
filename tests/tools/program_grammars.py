"""Grammars of gradcli's language, for tests that take any program (how to read them: programs.py).

SOUND writes programs that should have an answer, of scalars, vectors of three and matrices of three
by three, in brackets where the language asks for them. WILD has any operation of the table on
anything. RUNNABLE and ANY nest blocks; runnable programs are Python's but for the four kinds that
`with` would open there, all end, and they read no name that may not be bound.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from programs import Draw, Form, Grammar

from gradcli.lang.syntax.code import VERBS
from gradcli.ops import NAMES, PUBLIC, TABLE

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "≠", "≤", "≥")

# --- sound programs -------------------------------------------------------------------------------

# s, v and m are parts, and names that a program binds, of scalars, vectors and matrices; xs, xv and
# xm names of inputs.
INPUTS = {"xs": ("x", "y", "z", "θ", "gamma", "x_1"), "xv": ("u", "w", "λ"), "xm": ("A", "M")}
VALUES = {
    "xs": ("0.5", "2", "-1.25", "3", "0", "1e-3", "pi/4"),
    "xv": ("[1, 2, 3]", "[0.5, -1, 0]", "linspace(0, 1, 3)", "zeros(3)"),
    "xm": ("[[1, 2, 3], [0, 1, 4], [5, 6, 0]]", "eye(3)", "ones(3, 3)")}
# How tightly a text binds, from loosest to tightest.
TEST, SUM, PRODUCT, UNARY, COEFFICIENT, POWER, NUMBER = range(7)
# Rows whose arguments have more to fulfil than to be numbers.
PARTICULAR = {"cast", "string", "polygamma", "gammainc_log", "gammaincl_log", "erfcx_derivative",
              "dawsn_derivative", "elliptic_moment", "besselj", "bessely", "besseli", "besselk",
              "sphericalj", "where", "isnan", "isfinite"}


def elementwise(count: int) -> list[str]:
    """Return the names of elementwise operations of so many parameters."""
    return [name for name, op in PUBLIC.items() if op.elementwise and len(op.parameters) == count
            and op.kind != "stop" and op.name not in PARTICULAR]


def _of_all_kinds(kind: str, calls: float) -> list[Form]:
    """Return the forms that scalars, vectors and matrices share."""
    shared = [
        Form("{k!}", 3), Form("{xk!}", 4), Form("{k:1}{plus}{k:2}", 2, SUM),
        # A number in front of a name is ambiguous behind these signs.
        Form("{k:2}{times}{k:6}", 2, PRODUCT), Form("{sign}{k:3}", 1, UNARY),
        Form("{k:9}{power}", 1, POWER), Form("{k:1} if {b} else {k:1}", 1, TEST),
        Form("{one}({k})", 0.65*calls), Form("{two}({k}, {k})", 0.35*calls)]
    return [Form(form.text.replace("k", kind), form.weight, form.strength) for form in shared]


def _declarations(kind: str, types: Sequence[str], weight: int) -> list[Form]:
    """Return statements that declare a name of a kind."""
    return [*[Form(f"{{keyword}} {{{kind}+}}{type} = {{x{kind}}}", weight/len(types))
              for type in types],
            Form(f"var {{{kind}+}} = {{x{kind}}}, trainable=false", weight/12)]


def _made(kind: str, weight: int) -> list[Form]:
    """Return statements that bind a part of a kind, to a new name or another one."""
    return [Form(f"{{{kind}+}} = {{{kind}3}}", 2*weight),
            Form(f"{{{kind}!}} = {{{kind}3}}", weight)]


SOUND = Grammar({
    "program": [Form("{lines}{result}{end}", 7), Form("{lines}{made}{end}", 3)],
    "lines": ["", Form("{statement}{newline}{lines}", 1.5)],
    "newline": [Form("\n", 3), "; ", "  # a comment\n", "\r\n\n"],
    "end": ["", "\n", "  # end", ";\n"],
    "statement": ["{declared}", "{g+}({s*}) = {s@3}", "{s+}, {s+} = [{s3}, {s3}]",
                  Form("{s2}", 0.6), Form("{v2}", 0.2), Form("{m2}", 0.2), Form("{made}", 4)],
    "declared": [*_declarations("s", ("", ": float64", ": float64[]"), 4),
                 *_declarations("v", ("", ": float64[3]", ": float64[:]"), 1),
                 *_declarations("m", ("", ": float64[3, 3]", ": float64[:, 3]"), 1)],
    "keyword": ["var", "const", "input"],
    "made": [*_made("s", 4), *_made("v", 1), *_made("m", 1)],
    "result": [Form("{s3}", 4), "{v3}", "{m3}"],
    "xs": [Form("-1.25", 1, UNARY), Form("pi/4", 1, PRODUCT), *[
        Form(text, 1, NUMBER) for text in VALUES["xs"] if text not in ("-1.25", "pi/4")]],
    "xv": VALUES["xv"], "xm": VALUES["xm"],
    "s": [*_of_all_kinds("s", 1.5), Form("{xs}", 3, PRODUCT),
          Form("{factor}{s!}", 0.5, COEFFICIENT), Form("{factor}{xs!}", 0.5, COEFFICIENT),
          Form("{reduction}({v})", 0.25), Form("{reduction}({m})", 0.25),
          *[Form(form.replace("name", name), 0.1) for name in ("{v!}", "{xv!}") for form in (
              "name[{index}]", "dot(name, {v1})", "sum(name[{slice}])")],
          "{g!}{prime}({s1})", Form("√({s})", 1, COEFFICIENT)],
    "v": [*_of_all_kinds("v", 4), Form("{xv}", 3), Form("{m:9} @ {v:9}", 0.25, PRODUCT),
          Form("[{s}, {s}, {s}]", 0.25), Form("sum({m:9}, axis={axis})", 0.25),
          Form("where({v1:1} > 0, {v1}, 0)", 0.25)],
    "m": [*_of_all_kinds("m", 4), Form("{xm}", 3), Form("{m:9} @ {m:9}", 0.25, PRODUCT),
          Form("{m:9}.T", 0.25), Form("reshape({m:9}, [3, 3])", 0.25), Form("exp({m:9})", 0.25)],
    "b": [Form("{s:1} {compare} {s:1}", 4), "not {s:1} {compare} {s:1}",
          "{s:1} {compare} {s:1} {join} {s0:6} > 0"],
    "plus": ["+", "-", " + ", " - ", "−"], "times": ["*", "/", " * ", "·", "×", "÷", "%"],
    "sign": ["-", "+"], "factor": ["2", "3.5", ".5"], "prime": ["", "", "'", "''"],
    "power": ["^2", "²", "³", "**3", "^0.5", "^-1", "⁻¹", "^{s0:6}"],
    "index": ["0", "1", "2", "-1"], "slice": ["1:", ":2", "::2", "::-1"], "axis": ["0", "1", "-1"],
    "compare": COMPARISONS, "join": ["and", "or"], "one": elementwise(1), "two": elementwise(2),
    "reduction": ["sum", "mean", "prod", "max", "min", "norm", "logsumexp", "var", "std"]},
    ends=dict.fromkeys("svm", 0.15), brackets=0.05, functions=["g"])


def sound(stream: random.Random) -> str:
    """Write a program that should have an answer, once its inputs have values."""
    return Draw(SOUND, stream, INPUTS).text("program", 3)


def names_read(text: str) -> set[str]:
    """The names in a text that are not called; of a coefficient as in 2x the name alone."""
    found = re.finditer(r"[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|([^\W\d]\w*)(\(?)",
                        re.sub("[²³⁻¹]", " ", text))
    return {match[1] for match in found if match[1] and not match[2]}


def point(stream: random.Random, text: str) -> str:
    """Values for the inputs that a text reads, as --at takes them."""
    read = names_read(text)
    return ",".join([f"{name}={stream.choice(VALUES[kind])}"
                     for kind, names in INPUTS.items() for name in names if name in read])


# --- by the grammar of the language alone ---------------------------------------------------------


def _calls() -> list[Form]:
    """Return calls of everything there is, most with as many arguments as it takes."""
    found = []
    for name in (*NAMES, *VERBS):
        row = TABLE.get(name)
        found += [Form(f"{name}({', '.join(['{e}']*n)})", 0.25 if row is None else 0.05)
                  for n in range(4)]
        if row is not None:
            given = ["{e}"]*len(row.parameters)
            keywords = [f"{attribute}={{e}}" for attribute in row.attributes]
            found.append(Form(f"{name}({', '.join(given)})", 0.5 if keywords else 0.8))
            found += [Form(f"{name}({', '.join([*given, keyword])})", 0.3/len(keywords))
                      for keyword in keywords]
    return found


WILD = Grammar({
    "program": ["{line}", "{line}", "{line}\n{line}", "{line}\n{line}\n{line}",
                "{line}\n{line}\n{line}\n{line}"],
    "line": [
        "{e3}", "{e3}", "{e3}", "a = {e3}", "b = {e3}", "a, b = {e3}", "f(x) = {e3}",
        "f(x, y) = {e3}", "var a = {e3}", "const b = {e3}", "input x = {e3}",
        "input x = {e3}, domain={e3}", "var n: int64 = {e3}", "var w: float32[3, :] = {e3}",
        "var s: string = {e3}", "var k = {e3}, trainable={e3}", "x.assign({e3})", "x += {e3}",
        "grad({e3}, x)", "grad({e3}, [x, y])", "hessian({e3}, x)", "jacobian({e3}, x)",
        "jvp({e3}, x, {e3})", "vjp({e3}, x, {e3})", "hvp({e3}, x, {e3})", "f'({e3})", "f''({e3})"],
    "call": _calls(),
    "e": ["x", "y", "a", "b", "f", "u", "A", "0", "1", "2.5", "-3", "1e300", "inf", "nan", "pi",
          "none", "true", '"text"', "[]", "{}", "[1, 2, 3]", "[[1, 2], [3, 4]]", "int(2)",
          "float32(1)", "bool(1)", "[x, y]", '{"w": x}', "range(3)", "zeros(0)", "zeros(2, 0)",
          "x.shape", "1 == 2",
          Form("{call=}", 4), "({e}) {operator} ({e})", "(({e}) if ({e}) else ({e}))",
          *[Form(text, 1/9) for text in (
              "[{e}, {e}]", "({e})[{e}]", "({e})[{e}:{e}]", "({e})[:, {e}]", "({e}).T",
              "({e}).shape", '{"k": {e}}', '({e})["k"]', "({e})[{e}, {e}]")],
          *[Form(text, 1/8) for text in (
              "-({e})", "not ({e})", "({e}) {compare} ({e})", "({e}) and ({e})", "({e}) or ({e})",
              "f({e})", "f'({e})", "√({e})")]],
    "operator": ["+", "-", "*", "/", "//", "%", "@", "^", "**"], "compare": COMPARISONS},
    ends={"e": 0.2})


def wild(stream: random.Random) -> str:
    """Write statements that parse, with anything applied to anything."""
    return Draw(WILD, stream).text("program", 3)


# --- blocks ---------------------------------------------------------------------------------------


def in_places(kinds: Mapping[str, Sequence[str | Form]], in_loops: Sequence[str | Form],
              in_functions: Sequence[str | Form]) -> dict[str, list[Form]]:
    """Return kinds of statements for each place where they may stand: `block` outside, `blockL` in
    loops, `blockF` in functions, `blockLF` in both. A hole `{block}` is one for the same place,
    `{loop block}` one for a loop there, `{body block}` one for a function. More `simple` statements
    may stand in loops and in functions.
    """
    found = {}
    for place in ("", "L", "F", "LF"):
        below = {None: place, "loop": "L" + place.strip("L"), "body": "F"}
        more = [*in_loops * ("L" in place), *in_functions * ("F" in place)]
        for kind, forms in kinds.items():
            found[kind + place] = [Form(re.sub(
                rf"\{{(?:(loop|body) )?({'|'.join(kinds)})(?![a-z])",
                lambda match: f"{{{match[2]}{below[match[1]]}",  # noqa: B023 (called at once)
                form if isinstance(form, str) else form.text),
                1.0 if isinstance(form, str) else form.weight)
                for form in (*forms, *more * (kind == "simple"))]
    return found


# n counts a loop, and is bound nowhere else; fz, fa, fb, fc: functions of none to three arguments.
SUITES: dict[str, Sequence[str | Form]] = {
    "suite": [Form(" {line}", 3), Form("\n    {block=}", 7)],
    "line": [Form("{simple}{semicolon}", 2), "{simple}; {simple}{semicolon}",
             "{simple}; {simple}; {simple}{semicolon}"],
    "block": ["{st=}", "{st=}\n{block=}"]}
STATEMENTS: list[str | Form] = [
    Form("{simple}", 3),
    Form("if {c}:{suite&}{elifs=}", 1.5), Form("if {c}:{suite&}{elifs=}\nelse:{suite&}", 1.5),
    Form("{n*} = 0\nwhile {1} < {few}:\n    {1} = {1} + 1\n    {loop block&}", 1.2),
    Form("for {a*}, {a*} in zip([{items}], [{3}]):{loop suite&}", 0.7),
    Form("for {a*} in range({few}):{loop suite&}", 0.55),
    Form("for {a*} in [{items}]:{loop suite&}", 0.55),
    *[Form(f"{keyword} {{t*}}:{{suite&}}", 0.5) for keyword in ("stop_recording", "resume")],
    Form("tape {t*}{options}:{suite&}", 0.5), Form("forward {t*}({e1}, {e1}):{suite&}", 0.5)]
FUNCTIONS = (
    "def {fz+}():\n    {a*} = 5\n    {body block@}\n    return {values@}",
    "def {fa+}({a*}):\n    out({2})\n    {body block@}\n    return {values@}",
    "def {fb+}({a*}, {a*}):\n    out({2})\n    {body block@}\n    return {values@}",
    "def {fc+}({a*}, {a*}, {a*}):\n    out({2})\n    {body block@}\n    return {values@}")
SIMPLE: list[str | Form] = [
    Form("out({e2})", 2), "pass", Form("{a+} = {e2}", 1.5), Form("{a!} = {e2}", 2.5)]
CALLED: list[str | Form] = [
    Form(f"out({{{name}!}}({', '.join(['{e1}']*count)}))", 0.4)
    for count, name in enumerate(("fz", "fa", "fb", "fc"))]
# Both values are numbers, so that a caller may add what it gets.
RETURNED: list[str | Form] = ["return {e2}"]
EXPRESSIONS: dict[str, Sequence[str | Form]] = {
    "c": ["{e1} < {e1}", "{e1} == {e1}", "not {e1} >= {e1}", "{e1} < {e1} and {e1}",
          "{e1} > {e1} or {e1} != 2", "({e1} if {e1} else {e1}) < 2"],
    "e": [Form("{a!}", 6), Form("{n!}", 0.5), "0", "1", "2", "7",
          "{e} + {e}", "({e} - {e})", "({e} + {e})*2", "(-{e})", "({e} if {e} < 3 else {e})",
          "({e} and {e})", "({e} or {e})"],
    "values": [Form("{e1}", 2), "{e1}, {e1}"], "few": [*"01234"],
    "items": ["{e1}", "{e1}, {e1}", "{e1}, {e1}, {e1}", "{e1}, {e1}, {e1}, {e1}"],
    "semicolon": [Form("", 2), ";"],
    "options": [Form("", 2), ", persistent={c}", ", persistent=true, other={e1}"]}


def _blocks(statements: Sequence[str | Form], simple: Sequence[str | Form]) -> Grammar:
    """Return a grammar of blocks with these statements."""
    kinds = {**SUITES, "elifs": [Form("", 2), "\nelif {c}:{suite&}{elifs=}"],
             "simple": simple, "st": statements}
    forms = in_places(kinds, [Form("{stop}", 2)], RETURNED)
    return Grammar(
        {**EXPRESSIONS, "stop": ["break", "continue"], **forms},
        ends={"e": 0.3, **dict.fromkeys([k for k in forms if k[:2] == "st"], 0.35)},
        functions=["fz", "fa", "fb", "fc"])


RUNNABLE = _blocks([*STATEMENTS, *[Form(text, 0.25) for text in FUNCTIONS]], [*SIMPLE, *CALLED])
ANY = _blocks(
    [*STATEMENTS, *[Form(text, 0.18) for text in FUNCTIONS],
     *[Form(f"@gradient_of(floor)\n{text}", 0.04) for text in FUNCTIONS],
     *[Form("@custom_gradient\n" + text.replace(
         "\n    ", "\n    def grad({a*}):{body suite@}\n    ", 1), 0.04) for text in FUNCTIONS]],
    [*SIMPLE, "expect {e2} == {e1}", "expect {e2} ~= {e1}, rtol={e1}", "var {b*} = {e2}",
     "{a!}.assign({e2})", "{b*}(x) = {e2}", "np.mean({e2}) + np.pi"])
START, STARTING = "x = 1\ny = 2\nz = 3\n", {"a": ("x", "y", "z")}


def _program(grammar: Grammar, stream: random.Random, counts: Sequence[int]) -> tuple[str, Draw]:
    """Write statements of up to four levels, indented in one of several ways."""
    draw = Draw(grammar, stream, STARTING)
    text = START + "".join([
        draw.text("st", stream.randint(1, 4)) + "\n" for _ in range(stream.choice(counts))])
    indent = stream.choice(("  ", "    ", "\t", " "))
    return re.sub("(?m)^(?:    )+", lambda m: indent*(len(m[0])//4), text), draw


def runnable(stream: random.Random) -> str:
    """Write a program whose effects are its calls of `out` and the blocks that it opens."""
    text, draw = _program(RUNNABLE, stream, (1, 2, 3))
    return f"{text}out({', '.join(draw.names['a'])})\n"


def blocks(stream: random.Random) -> str:
    """Write a program with every statement there is; it need not have a meaning."""
    end, shown = stream.choice(("\n", "\r\n")), []
    for line in _program(ANY, stream, (1, 1, 2))[0].splitlines():
        shown += stream.choice(([], [], [], [], [""], ["# a comment"], ["   # another"]))
        shown.append(line + stream.choice(("", "", "", "  ", "  # why", "\t")))
    return end.join(shown) + stream.choice(("", end))
