"""What a student typed: the table of readings, values, alternatives, errors and their places."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest
from conftest import folded
from folders import DATA, ROOT
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark

from gradcli.base.errors import GradcliError, Source
from gradcli.lang.paper.answer import Reading, alternatives, read
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.parser import ACTIONS, GRAMMARS, tables
from gradcli.lang.paper.tokens import ALONE, INVERSE, KIND_NAMES, SCHOOL, SPECIAL, TWO
from gradcli.lang.paper.written import written
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax import grammar as programs
from gradcli.lang.syntax.export import build
from gradcli.lang.syntax.grammar import grammar_text, module_text
from gradcli.lang.syntax.parser import parse_expression
from gradcli.ops import PUBLIC, lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.syntax.code import Code

OPTIONS = ("ten", "comma", "vector")


def names_of(setting: str) -> ProblemNames:
    words = setting.split()
    return ProblemNames(tuple(word for word in words if word not in OPTIONS),
                        log="ten" if "ten" in words else "natural", decimal_comma="comma" in words,
                        vector="vector" in words)


def rows() -> list[tuple[str, str, str]]:
    found = []
    for line in (DATA / "readings.tsv").read_text("utf-8").splitlines():
        if "\t" in line:
            setting, typed, expected = line.split("\t")
            for number in ("200b", "202e", "00a0"):
                typed = typed.replace(f"\\u{number}", chr(int(number, 16)))
            found.append((setting, typed, expected))
    return found


ROWS = rows()
X = ProblemNames(("x", "y", "t", "a", "b", "c", "n"))


def plain(code: Code) -> list[tuple[int, object]]:
    return [ins[:2] for ins in code]


def error_of(typed: str, names: ProblemNames = X) -> GradcliError:
    with pytest.raises(GradcliError) as caught:
        read(typed, names)
    return caught.value


def attempt(typed: str, names: ProblemNames) -> Reading | GradcliError:
    try:
        return read(typed, names)
    except GradcliError as problem:
        return problem


def check_error(problem: GradcliError, typed: str) -> None:
    assert problem.span is not None
    assert 0 <= problem.span[0] <= problem.span[1] <= len(typed)
    assert problem.help
    assert "E0710" <= problem.code <= "E0721"
    assert (problem.message + problem.help).isprintable()


def value(code: Code, at: dict[str, float]) -> float:
    """The value of a code by the operation table."""
    stack: list[float] = []
    for opcode, argument, _, _ in code:
        if opcode == c.LOAD:
            stack.append(at[argument])
        elif opcode == c.PUSH:
            stack.append(argument)
        else:
            name, count = (argument[0], argument[1]) if opcode == c.CALL else (
                argument, 2 if opcode == c.BINARY else 1)
            operands = stack[-count:]
            del stack[-count:]
            op = lookup(name)
            assert op is not None
            stack.append(float(op.on_scalars(operands)))
    (answer,) = stack
    return answer


# ---- the table ------------------------------------------------------------------------------


def test_the_table_is_large() -> None:
    assert len(ROWS) > 500


@folded
@pytest.mark.parametrize(("setting", "typed", "expected"), ROWS)
def test_reading_of_the_table(setting: str, typed: str, expected: str) -> None:
    names = names_of(setting)
    if expected.startswith("E07"):
        assert error_of(typed, names).code == expected
    else:
        assert read(typed, names).read_as == expected


# Written in Python by hand: what a mathematician means by it.
POINT = {"x": 0.7, "y": 1.3, "t": 0.4, "a": 0.6, "b": 1.9, "c": 0.8, "n": 3.0,
         "e": math.e, "pi": math.pi}
MEANT = {
    "2x": "2*x", "xsinx": "x*sin(x)", "x(x+1)": "x*(x+1)", "(x+1)(x-2)": "(x+1)*(x-2)",
    "8xsin(2x)": "8*x*sin(2*x)", "xy(a+b)": "x*y*(a+b)", "ac(x+1)": "a*c*(x+1)",
    "sin 2x": "sin(2*x)", "2 sin x cos x": "2*sin(x)*cos(x)", "cos2x": "cos(2*x)",
    "ln 2": "log(2)", "sin^2 x": "sin(x)**2", "sin^2(x)": "sin(x)**2", "sin^-1 x": "asin(x)",
    "tan^(-1) x": "atan(x)", "sin⁻¹ x": "asin(x)", "sin(x)^2": "sin(x)**2", "|x-1|": "abs(x-1)",
    "ln|x|": "log(abs(x))", "e^-x": "exp(-x)", "e^2x": "e**2*x", "e^(2x)": "exp(2*x)",
    "1/2x": "x/2", "1/x+1": "1/x+1", "a/bc": "a/b*c", "-x^2": "-(x**2)", "2^3x": "2**3*x",
    "2^3^x": "2**(3**x)", "sin x/2": "sin(x)/2", "sin x^2": "sin(x**2)", "√x+1": "sqrt(x)+1",
    "√(x+1)": "sqrt(x+1)", "2√x": "2*sqrt(x)", "√2x": "sqrt(2)*x", "∛x": "x**(1/3)",
    "\\sqrt[3]{x}": "x**(1/3)", "\\frac{x+1}{x-1}": "(x+1)/(x-1)", "x−y": "x-y", "x÷y": "x/y",
    "x·y×2": "x*y*2", "2πx": "2*pi*x", "x²y³": "x**2*y**3", "e⁻ˣ": "exp(-x)",
    "log_2(x)": "log2(x)", "log_3 x": "log(x)/log(3)", "lg x": "log10(x)", "tg x": "tan(x)",
    "ctg x": "1/tan(x)", "cosec x": "1/sin(x)", "arsinh x": "asinh(x)", "secxtanx": "tan(x)/cos(x)",
    "\\sin^{2}x": "sin(x)**2", "\\left(x+1\\right)^{10}": "(x+1)**10", "e^{-\\frac{x}{2}}":
    "exp(-x/2)", "nx^(n-1)": "n*x**(n-1)", "acos(ax)": "a*cos(a*x)", "[x+1]^2": "(x+1)**2",
    "||x|-1|": "abs(abs(x)-1)", "x^-1/2": "1/x/2", "-x sin x": "-x*sin(x)", "½x": "x/2",
    "e^sin x cos x": "exp(sin(x))*cos(x)", "2sec^2(x)tan(x)": "2/cos(x)**2*tan(x)",
    "f'(x) = 3x^2": "3*x**2", "y' = 2x": "2*x", "dy/dx = x": "x", "ln x^2": "log(x**2)",
    "sinh 2x": "sinh(2*x)", "x^2 - -x": "x**2+x", "x*-2": "-2*x", "root(4)(x)": "x**(1/4)",
}


@folded
@pytest.mark.parametrize("typed", MEANT)
def test_values_are_what_is_meant(typed: str) -> None:
    reading = read(typed, X)
    functions = {name: getattr(math, name) for name in dir(math) if name[0] != "_"}
    expected = eval(MEANT[typed], functions | {"abs": abs} | POINT)
    assert value(reading.code, POINT) == pytest.approx(expected, rel=1e-14)


@folded
@pytest.mark.parametrize(("setting", "typed", "expected"), [
    row for row in ROWS if not row[2].startswith("E07") and " = " not in row[2]])
def test_what_is_written_is_read_the_same_by_all(setting: str, typed: str, expected: str) -> None:
    names = names_of(setting)
    reading = read(typed, names)
    assert plain(read(reading.read_as, names).code) == plain(reading.code)
    program = parse_expression(Source(reading.read_as))
    if not any(ins[0] == c.LIST for ins in reading.code):
        at = {name: 0.3 + 0.1 * k for k, name in enumerate(reading.names)}
        one, other = value(reading.code, at), value(program, at)
        assert one == other or (math.isnan(one) and math.isnan(other))


def test_only_the_agreed_instructions() -> None:
    for setting, typed, expected in ROWS:
        if not expected.startswith("E07"):
            for opcode, argument, _, _ in read(typed, names_of(setting)).code:
                assert opcode in (c.LOAD, c.PUSH, c.BINARY, c.UNARY, c.CALL, c.LIST)
                if opcode == c.UNARY:
                    assert argument == "negative"
                elif opcode == c.BINARY:
                    assert argument in ("add", "subtract", "multiply", "divide", "power")
                elif opcode == c.CALL:
                    op = lookup(argument[0])
                    assert op is not None
                    assert (op.name, len(op.parameters)) == argument[:2]


# ---- names, left sides, notes -----------------------------------------------------------------


@pytest.mark.parametrize(("typed", "left"), [
    ("f'(x) = 2x", "f'(x)"), ("\\frac{dy}{dx}=2x", "\\frac{dy}{dx}"), ("∇f = x", "∇f"),
    (" y =2x", "y"), ("f_{xy}(1, 2) = 3", "f_{xy}(1, 2)"), ("2x", None), ("x^2+y^2 = 25", None)])
def test_a_left_side_is_kept_as_typed(typed: str, left: str | None) -> None:
    assert read(typed, X).left == left


def test_an_equation_has_two_codes() -> None:
    reading = read("y - 4 = 3(x - 2)", X)
    assert reading.equation is not None
    assert (written(reading.equation), written(reading.code)) == ("y - 4", "3*(x - 2)")
    assert reading.names == ("y", "x")


def test_notes_say_what_was_understood() -> None:
    names = ProblemNames(("x",))
    assert read("E^2 Sin x", names).notes == ["`E` is read as e", "`Sin` is read as sin"]
    assert read("x^2 sin x", names).notes == []
    assert read("f(x) = 2 = 3", names).notes == ["of several sides the last is read"]
    assert read("f'(x) = 3", names).left == "f'(x)"


def test_names_of_a_reading() -> None:
    assert read("2x + C sin(y x)", X).names == ("x", "C", "y")


# ---- other readings ---------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "other"), [
    ("1/2x", "1/(2*x)"), ("1/x+1", "1/(x + 1)"), ("e^2x", "e^(2*x)"), ("sin x/2", "sin(x/2)"),
    ("sin x^2", "sin(x)^2"), ("a/bc", "a/(b*c)"), ("2^3x", "2^(3*x)"), ("x^1/2", "x^(1/2)"),
    ("sqrt x+1", "sqrt(x + 1)"), ("cos x sin x", "cos(x*sin(x))"), ("-x^2", "(-x)^2"),
    ("x^2y", "x^(2*y)"), ("ln x y", "ln(x)*y"), ("|2|x|+1|", "abs(2*abs(x) + 1)"),
    ("√2x", "sqrt(2*x)"), ("√x^2", "sqrt(x^2)"), ("√x+1", "sqrt(x + 1)"), ("log2x", "log2(x)"),
    ("2e-3", "2*e - 3"), ("acosx", "arccos(x)"), ("e^-x/2", "e^(-x/2)"),
    ("sin 2x^2", "sin(2*x)^2"), ("sin x(x+1)", "sin(x*(x + 1))"), ("ln|x|^2", "ln(abs(x))^2")])
def test_the_first_other_reading(typed: str, other: str) -> None:
    assert alternatives(read(typed, X), X)[0].read_as == other


@pytest.mark.parametrize(("typed", "other"), [
    ("x+1/x-1", "(x + 1)/(x - 1)"), ("2x - x+1", "2*x - (x + 1)"), ("2xx+1", "2*x*(x + 1)"),
    ("1/2x + 1/3x", "1/(2*x) + 1/(3*x)"), ("y - 4 = 1/2x", "y - 4 = 1/(2*x)"),
    ("e^2x/3", "e^(2*x/3)"), ("f'(x) = 1/2x", "1/(2*x)"), ("2x^2", "(2*x)^2")])
def test_other_readings(typed: str, other: str) -> None:
    assert other in [found.read_as for found in alternatives(read(typed, X), X)]


@pytest.mark.parametrize("typed", ["x", "2x", "(x+1)^2", "sin(x)", "x*y", "1/x"])
def test_what_has_one_reading(typed: str) -> None:
    assert alternatives(read(typed, X), X) == []


def check_alternatives(reading: Reading, names: ProblemNames) -> None:
    found = alternatives(reading, names)
    codes = {str(plain(one.code)) for one in [reading, *found]}
    assert len(codes) == len(found) + 1 <= 17
    for one in found:
        check_places(one)


def check_places(reading: Reading) -> None:
    assert all(0 <= start <= end <= len(reading.text) for _, _, start, end in reading.code)


def check_echo(reading: Reading, names: ProblemNames) -> None:
    """What is written is read as the same; where it is longer than an answer may be, it is not."""
    shown = written(reading.code)
    if len(shown) <= 500:
        assert plain(read(shown, names).code) == plain(reading.code)


# ---- places and errors ------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "marked"), [
    ("2x + х", "х"), ("x² + х", "х"), ("√(x) − x!", "!"), ("\\frac{1}{x} + \\foo", "\\foo"),
    ("\\sqrt{x} + sin", "sin"), ("f'(x) = ln*x", "ln"), ("（x＋1", "（"), ("½x + 0,5", ","),
    ("\\frac{x+1}{x2}", "x2"), ("2x dx", "dx"), ("x + 2 3", "2 3"),
    ("xf(x)", "f"), ("ln^-1 x", "ln^-1"), ("|x", "|"), ("(x]", "]"), ("x**", "**"),
    ("y' = х", "х"), ("2x + y' = 3", "2x + y'"), ("x⁻² + 1e999", "1e999")])
def test_an_error_is_where_it_was_typed(typed: str, marked: str) -> None:
    problem = error_of(typed, ProblemNames(("x",)))
    assert problem.span is not None
    assert typed[slice(*problem.span)].strip() == marked
    assert problem.help


@pytest.mark.parametrize(("typed", "places"), [
    ("x²y", ["x", "²", "x²", "y", "x²y"]),
    ("\\frac{1}{x}", ["1", "x", "\\frac{1}{x}"]),
    ("y' = 2·sin x", ["2", "x", "sin x", "2·sin x"]),
])
def test_code_tells_its_places(typed: str, places: list[str]) -> None:
    found = [typed[start:end] for _, _, start, end in read(typed, X).code]
    assert found[:-1] == places[:-1]
    assert found[-1].strip("{}") in (places[-1], "1}{x")


def test_messages_show_no_control_characters() -> None:
    for character in "\x00\x1b\x9b\u202e\u2066\x7f":
        problem = error_of(f"2x{character}[31m")
        assert (problem.message + (problem.help or "")).isprintable()
        assert f"U+{ord(character):04X}" in problem.message


def test_an_unknown_letter_is_named() -> None:
    assert error_of("2х").message == (
        "`х` is U+0445 CYRILLIC SMALL LETTER HA, a letter of another alphabet")


@pytest.mark.parametrize(("typed", "code"), [
    ("x+" * 1001, "E0710"), ("+".join("x" * 600), "E0710"), ("(" * 101 + "x" + ")" * 101, "E0716"),
    ("sin " * 101 + "x", "E0716"), ("1" * 41, "E0713"), ("|" * 300, "E0716"),
    ("x" * 33 + "_" + "1" * 33, "E0711"), ("\\frac{" * 200 + "x", "E0716"),
    ("√" * 500 + "x", "E0716")])
def test_limits(typed: str, code: str) -> None:
    assert error_of(typed).code == code


@pytest.mark.parametrize("typed", [
    "(" * 100 + "x" + ")" * 100, "-" * 900 + "x", "x^" * 400 + "x", "x+" * 490 + "x",
    "sin^2 " * 99 + "x", "1/2x" + "+1/2x" * 190, "|x|" * 150, "x" * 500, "²" * 900,
    "\\frac{1}{" * 60 + "x" + "}" * 60, "\\sqrt{" * 90 + "x" + "}" * 90, "e^-" * 300 + "x",
    "((((x" * 200, "f'" * 900 + "=x", "\\begin{pmatrix" + "x" * 3, "=" * 1999, "x_" * 900,
    "\\left(" * 300, "]" * 1999, "d/d" * 600 + "=x"])
def test_hostile_input_ends_soon(typed: str) -> None:
    names = ProblemNames(("x",), vector=True)
    begin = time.process_time()
    found = attempt(typed, names)
    if isinstance(found, GradcliError):
        check_error(found, typed)
    else:
        check_places(found)
        check_alternatives(found, names)
        check_echo(found, names)
    assert time.process_time() - begin < 1


# ---- properties -----------------------------------------------------------------------------

PIECES = [typed for _, typed, _ in ROWS] + list("x()[]{}|^_'=,;<>.+-*/\\$² \x00\u202e") + [
    "\\frac", "\\end{pmatrix}", "sin", "log_", "1e9", "{}"]
ALL_NAMES = [ProblemNames(("x", "y", "a")), ProblemNames(("x", "y"), vector=True),
             ProblemNames(("e", "x", "x1")),
             ProblemNames(("t", "theta"), log="ten", decimal_comma=True, vector=True)]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=30),
       st.sampled_from(ALL_NAMES))
def test_any_text_is_read_or_refused_with_a_place(typed: str, names: ProblemNames) -> None:
    found = attempt(typed, names)
    if isinstance(found, GradcliError):
        check_error(found, typed)
    else:
        check_places(found)
        check_alternatives(found, names)
        check_echo(found, names)


# ---- tables of functions and of the grammar ---------------------------------------------------


def test_functions_are_rows_of_the_operation_table() -> None:
    for word, name in (SCHOOL | ALONE | SPECIAL).items():
        op = lookup("sqrt" if name == "root" else name)
        assert op is not None, word
        assert op.name == name or name == "root"
        assert len(op.parameters) == (2 if name in TWO else 1), word
        assert op.elementwise
    assert set(INVERSE) | set(INVERSE.values()) <= set(SCHOOL.values())


def test_every_elementwise_operation_has_a_word() -> None:
    of_truth = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
                "logical_and", "logical_or", "logical_not", "logical_xor", "isfinite", "isinf",
                "isnan", "dawsn_derivative", "erfcx_derivative"}
    known = SCHOOL.keys() | ALONE.keys() | SPECIAL.keys()
    missing = [
        word for word, op in PUBLIC.items()
        if op.elementwise and not op.attributes and len(op.parameters) in (1, 2)
        and op.floats is not None and op.name not in of_truth and word not in known]
    assert missing == []


def test_the_grammar_is_lalr_and_has_its_actions() -> None:
    lark = Lark(grammar_text(GRAMMARS), parser="lalr", lexer="basic", strict=True)
    terminals = {symbol.name for rule in lark.rules for symbol in rule.expansion if symbol.is_term}
    assert terminals <= set(KIND_NAMES.values())
    aliases = {rule.alias for rule in lark.rules if rule.alias}
    assert aliases - ACTIONS.keys() == {
        "add", "subtract", "multiply", "divide", "power", "negative", "number", "name"}
    assert aliases >= ACTIONS.keys()


def test_the_tables_are_exported_like_those_of_programs() -> None:
    found: dict[str, object] = {}
    exec(module_text(GRAMMARS, KIND_NAMES), found)
    assert found["FORMAT"] == programs.FORMAT
    assert found["TABLES"] == tables() == build(grammar_text(GRAMMARS), KIND_NAMES)
    assert len(tables()[0]) < 100


@pytest.mark.parametrize(("action", "unloaded"), [
    ("from gradcli.lang.syntax.parser import parse_expression;"
     "from gradcli.base.errors import Source;"
     "parse_expression(Source('x^2'))", ("gradcli.lang.paper",)),
    ("from gradcli.lang.paper.names import ProblemNames;"
     "from gradcli.lang.paper.answer import read; read('2x sin x', ProblemNames(('x',)))",
     ("re", "json", "numpy", "dataclasses", "typing", "lark", "gradcli.lang.syntax._tables",
      "gradcli.lang.syntax.parser", "unicodedata"))])
def test_one_language_does_not_load_the_other(action: str, unloaded: tuple[str, ...]) -> None:
    tables()
    script = f"import sys; old = set(sys.modules); {action}; print(*set(sys.modules) - old)"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                             check=True, cwd=ROOT).stdout.split()
    assert printed
    assert not set(unloaded) & set(printed)
