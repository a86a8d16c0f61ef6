"""What the parser makes of a text: code, spans, statements, errors."""

from __future__ import annotations

import ast
import operator
import subprocess
import sys
from typing import Any

import pytest
from conftest import folded
from draws import drawn
from programs import Draw, Form, Grammar

from gradcli.base.errors import GradcliError, Source
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.parser import parse, parse_expression

SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "mod": "%",
    "matmul": "@", "power": "^", "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=",
    "greater": ">", "greater_equal": ">=", "negative": "-", "positive": "+", "logical_not": "not ",
}


def infix(code: c.Code) -> str:
    """Code without jumps as text with every bracket written."""
    stack: list[str] = []

    def pop(count: int) -> list[str]:
        taken = stack[len(stack) - count:]
        del stack[len(stack) - count:]
        return taken

    def named(count: int, names: tuple[str, ...]) -> str:
        values = pop(count + len(names))
        return ", ".join([*values[:count], *map("{}={}".format, names, values[count:])])

    for opcode, argument, _, _ in code:
        if opcode == c.LOAD:
            stack.append(argument)
        elif opcode == c.PUSH:
            stack.append(f"{argument:g}" if isinstance(argument, float) else repr(argument))
        elif opcode == c.BINARY:
            left, right = pop(2)
            stack.append(f"({left}{SIGNS[argument]}{right})")
        elif opcode == c.UNARY:
            stack.append(f"({SIGNS[argument]}{pop(1)[0]})")
        elif opcode == c.CALL:
            stack.append(f"{argument[0]}({named(*argument[1:])})")
        elif opcode == c.PRIME:
            stack.append(f"{argument[0]}{chr(39) * argument[1]}({named(argument[2], ())})")
        elif opcode == c.METHOD:
            arguments = named(*argument[1:])
            stack.append(f"{stack.pop()}.{argument[0]}({arguments})")
        elif opcode == c.NUMPY:
            stack.append(f"np.{argument[0]}({named(*argument[1:])})")
        elif opcode == c.ATTRIBUTE:
            stack.append(f"{stack.pop()}.{argument}")
        elif opcode == c.INDEX:
            values = pop(sum(len(item.lstrip(":")) for item in argument))
            items = []
            for item in argument:
                if item == "i":
                    items.append(values.pop(0))
                else:
                    items.append(":".join(values.pop(0) if part in item else "" for part in "aos"))
            stack.append(f"{stack.pop()}[{', '.join(items)}]")
        elif opcode == c.LIST:
            stack.append(f"[{', '.join(pop(argument))}]")
        elif opcode == c.DICT:
            values = pop(2 * argument)
            stack.append(f"{{{', '.join(map('{}: {}'.format, values[::2], values[1::2]))}}}")
        else:
            raise AssertionError(c.NAMES[opcode])
    assert len(stack) == 1
    return stack[0]


def names_of(code: c.Code) -> list[tuple[str, Any]]:
    return [(c.NAMES[opcode], argument) for opcode, argument, _, _ in code]


# ---- precedence -----------------------------------------------------------------------------


@folded
@pytest.mark.parametrize(("text", "expected"), [
    ("a+b*c", "(a+(b*c))"),
    ("a-b-c", "((a-b)-c)"),
    ("a/b/c", "((a/b)/c)"),
    ("a*b/c*d", "(((a*b)/c)*d)"),
    ("a//b%c@d", "(((a//b)%c)@d)"),
    ("a^b^c", "(a^(b^c))"),
    ("a**b^c", "(a^(b^c))"),
    ("-x^2", "(-(x^2))"),
    ("-2^2", "(-(2^2))"),
    ("2^-1", "(2^(-1))"),
    ("x^-y^2", "(x^(-(y^2)))"),
    ("2^-3^2", "(2^(-(3^2)))"),
    ("-x*y", "((-x)*y)"),
    ("a*-b", "(a*(-b))"),
    ("--x", "(-(-x))"),
    ("+x - -y", "((+x)-(-y))"),
    ("2x", "(2*x)"),
    ("2 x", "(2*x)"),
    ("2x^2", "(2*(x^2))"),
    ("-2x", "(-(2*x))"),
    ("2x*3y", "((2*x)*(3*y))"),
    ("x*2y", "(x*(2*y))"),
    ("x*-2y", "(x*(-(2*y)))"),
    ("1+2x", "(1+(2*x))"),
    ("2(x+1)", "(2*(x+1))"),
    ("3sin(x)^2", "(3*(sin(x)^2))"),
    ("2f'(x)", "(2*f'(x))"),
    ("2x/3", "((2*x)/3)"),
    ("0x", "(0*x)"),
    ("0xy", "(0*xy)"),
    ("2exp(x)", "(2*exp(x))"),
    ("2e3x", "(2000*x)"),
    ("x²", "(x^2)"),
    ("x⁻¹", "(x^-1)"),
    ("x¹⁰", "(x^10)"),
    ("2³", "(2^3)"),
    ("2x²", "(2*(x^2))"),
    ("-x²", "(-(x^2))"),
    ("x^2²", "(x^(2^2))"),
    ("sin(x)²", "(sin(x)^2)"),
    ("√x", "sqrt(x)"),
    ("√2", "sqrt(2)"),
    ("√(x+1)", "sqrt((x+1))"),
    ("2√x", "(2*sqrt(x))"),
    ("√x*y", "(sqrt(x)*y)"),
    ("√√x", "sqrt(sqrt(x))"),
    ("√f(x)[0]", "sqrt(f(x)[0])"),
    ("x^√2", "(x^sqrt(2))"),
    ("-√x", "(-sqrt(x))"),
    ("2π", "(2*pi)"),
    ("π²", "(pi^2)"),
    ("a·b×c÷d−e", "((((a*b)*c)/d)-e)"),
    ("a<b+1", "(a<(b+1))"),
    ("a≤b", "(a<=b)"),
    ("a≥b", "(a>=b)"),
    ("a≠b", "(a!=b)"),
    ("y == x^2", "(y==(x^2))"),
    ("not a == b", "(not (a==b))"),
    ("not not a", "(not (not a))"),
    ("(a+b)*c", "((a+b)*c)"),
    ("((x))", "x"),
    ("sin(x)", "sin(x)"),
    ("f()", "f()"),
    ("f(x, y,)", "f(x, y)"),
    ("f(x, axis=1, keepdims=true)", "f(x, axis=1, keepdims=True)"),
    ("f(a=1)", "f(a=1)"),
    ("f(a==1)", "f((a==1))"),
    ("f''(x)", "f''(x)"),
    ("t.gradient(y, x)", "t.gradient(y, x)"),
    ("t.gradient(y, [a, b], k=1)", "t.gradient(y, [a, b], k=1)"),
    ("np.mean(x)^2", "(np.mean(x)^2)"),
    ("a*np.mean(f(x, np.max(A.T, [1])), k=0)", "(a*np.mean(f(x, np.max(A.T, [1])), k=0))"),
    ("2np.pi + np.inf", "((2*3.14159)+inf)"),
    ("np.mean", None),
    ("A.np.T + t.np(x) + np(x)", "((A.np.T+t.np(x))+np(x))"),
    ("np(x).T", "np(x).T"),
    ("A.T", "A.T"),
    ("A.T.shape[0]", "A.T.shape[0]"),
    ("-A.T^2", "(-(A.T^2))"),
    ("A[0]", "A[0]"),
    ("A[-1]", "A[(-1)]"),
    ("A[:, 1]", "A[::, 1]"),
    ("A[1:n, ::2, :3]", "A[1:n:, ::2, :3:]"),
    ("A[a:b:c]", "A[a:b:c]"),
    ("f(x)[0](", None),
    ("[]", "[]"),
    ("[1, 2, 3,]", "[1, 2, 3]"),
    ("[[1, 2], [3, 4]]", "[[1, 2], [3, 4]]"),
    ("{}", "{}"),
    ('{"w": w, "b": 2b,}', "{'w': w, 'b': (2*b)}"),
    ("[true, False, none]", "[True, False, None]"),
    ("var(x) + input", "(var(x)+input)"),
    ("tape.resume(forward)", "tape.resume(forward)"),
    ("2*print(x)", "(2*print(x))"),
    ("3.", "3"),
    (".5 + 1e-3", "(0.5+0.001)"),
    ("1e999", "inf"),
    ("'it''", None),
    (r"'a\tb\\\'\x41\u03b1'", r'''"a\tb\\'Aα"'''),
])
def test_reading(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(GradcliError):
            parse_expression(Source(text))
    else:
        assert infix(parse_expression(Source(text))) == expected


def run(code: c.Code) -> Any:
    """A stack machine for numbers and jumps."""
    operations: dict[str, Any] = {
        "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
        "floor_divide": operator.floordiv, "equal": operator.eq, "not_equal": operator.ne,
        "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
        "greater_equal": operator.ge, "power": operator.pow, "negative": operator.neg,
        "positive": operator.pos, "logical_not": operator.not_,
    }
    stack: list[Any] = []
    at = 0
    while at < len(code):
        opcode, argument, _, _ = code[at]
        at += 1
        if opcode == c.PUSH:
            stack.append(argument)
        elif opcode == c.BINARY:
            right = stack.pop()
            stack.append(operations[argument](stack.pop(), right))
        elif opcode == c.UNARY:
            stack.append(operations[argument](stack.pop()))
        elif opcode == c.JUMP:
            at += argument
        elif opcode == c.JUMP_IF_FALSE:
            at += 0 if stack.pop() else argument
        elif bool(stack[-1]) == (opcode == c.OR):
            at += argument
        else:
            stack.pop()
    assert at == len(code)
    (value,) = stack
    return value


# What means the same here and in Python, with brackets and without.
EXPRESSIONS = Grammar({"e": [
    "0.0", "1.0", "2.0", "3.0", "True", "False", Form("({e?})", 8), "{e} + {e?}", "{e?} - {e}",
    "{e} * {e?}", "-{e}", "+{e}", "not {e}", "(({e}) < ({e?}))", "(({e?}) == ({e}))",
    "{e} and {e?}", "{e?} or {e}", "{e} and {e?} or {e?}", "{e?} or {e} and {e?}",
    "{e?} if {e} else {e?}", "({e?} if {e?} else {e})", "({e?} and {e})", "({e} or {e?})"]},
    ends={"e": 0})


def test_jumps_and_precedence_agree_with_python() -> None:
    draw, compared = Draw(EXPRESSIONS, drawn(7)), 0
    while compared < 2000:
        text = draw.text("e", 6)
        try:
            expected = eval(text)
        except SyntaxError:  # `-not x`
            with pytest.raises(GradcliError):
                parse_expression(Source(text))
            continue
        except TypeError:
            continue
        assert run(parse_expression(Source(text))) == expected, text
        compared += 1


def test_conditional_code() -> None:
    code = parse_expression(Source("a if c else b"))
    assert names_of(code) == [("LOAD", "c"), ("JUMP_IF_FALSE", 2), ("LOAD", "a"), ("JUMP", 1),
                              ("LOAD", "b")]
    code = parse_expression(Source("f(1, a and b)"))
    assert names_of(code) == [("PUSH", 1.0), ("LOAD", "a"), ("AND", 1), ("LOAD", "b"),
                              ("CALL", ("f", 2, ()))]


# ---- spans ----------------------------------------------------------------------------------


def spans_of(text: str) -> list[tuple[str, str]]:
    return [(c.NAMES[opcode], text[start:end])
            for opcode, _, start, end in parse(Source(text))[0].code]


def test_spans_of_operators_and_calls() -> None:
    assert spans_of("2*(x + 1)^2 - sin( y )") == [
        ("PUSH", "2"), ("LOAD", "x"), ("PUSH", "1"), ("BINARY", "x + 1"), ("PUSH", "2"),
        ("BINARY", "(x + 1)^2"), ("BINARY", "2*(x + 1)^2"), ("LOAD", "y"), ("CALL", "sin( y )"),
        ("BINARY", "2*(x + 1)^2 - sin( y )"), ("RESULT", "2*(x + 1)^2 - sin( y )")]


def test_spans_of_the_rest() -> None:
    assert spans_of("-A.T[0, 1:] + f'(x²)") == [
        ("LOAD", "A"), ("ATTRIBUTE", "A.T"), ("PUSH", "0"), ("PUSH", "1"), ("INDEX", "A.T[0, 1:]"),
        ("UNARY", "-A.T[0, 1:]"), ("LOAD", "x"), ("PUSH", "²"), ("BINARY", "x²"),
        ("PRIME", "f'(x²)"), ("BINARY", "-A.T[0, 1:] + f'(x²)"), ("RESULT", "-A.T[0, 1:] + f'(x²)")]
    assert spans_of("[2x, √y, t.f(1)]") == [
        ("PUSH", "2"), ("LOAD", "x"), ("BINARY", "2x"), ("LOAD", "y"), ("CALL", "√y"),
        ("LOAD", "t"), ("PUSH", "1"), ("METHOD", "t.f(1)"), ("LIST", "[2x, √y, t.f(1)]"),
        ("RESULT", "[2x, √y, t.f(1)]")]
    assert spans_of("a and b if c else d") == [
        ("LOAD", "c"), ("JUMP_IF_FALSE", "c"), ("LOAD", "a"), ("AND", "a"), ("LOAD", "b"),
        ("JUMP", "a and b if c else"), ("LOAD", "d"), ("RESULT", "a and b if c else d")]


def test_spans_count_code_points_of_the_text_as_it_is() -> None:
    text = "α = 1\r\ny = 2·α # é\r\n"
    first, second = parse(Source(text))
    assert text[first.start:first.end] == "α = 1"
    assert text[second.start:second.end] == "y = 2·α"


# ---- statements -----------------------------------------------------------------------------


def one(text: str) -> c.Statement:
    (statement,) = parse(Source(text))
    return statement


def test_binding() -> None:
    statement = one("y = x^2")
    assert names_of(statement.code) == [("LOAD", "x"), ("PUSH", 2.0), ("BINARY", "power"),
                                        ("BIND", "y")]
    assert statement.names == ("y",)
    assert statement.code[-1][2:] == (0, 1)


def test_result() -> None:
    statement = one(" x ")
    assert names_of(statement.code) == [("LOAD", "x"), ("RESULT", None)]
    assert (statement.start, statement.end, statement.names) == (1, 2, ())


def test_unpacking() -> None:
    statement = one("a, b, c = f(x)")
    assert names_of(statement.code) == [("LOAD", "x"), ("CALL", ("f", 1, ())),
                                        ("UNPACK", ("a", "b", "c"))]
    assert statement.names == ("a", "b", "c")
    assert statement.code[-1][2:] == (0, 7)


@pytest.mark.parametrize(("text", "parameters"), [
    ("f(x, y) = x^2*y", ("x", "y")), ("f(x) = x^2*y", ("x",)), ("f() = x^2*y", ()),
    ("input(var) = x^2*y", ("var",)),
])
def test_function(text: str, parameters: tuple[str, ...]) -> None:
    statement = one(text)
    ((opcode, function, start, end),) = statement.code
    assert (opcode, start, end) == (c.DEFINE, 0, len(text))
    assert function.parameters == parameters
    assert (function.name,) == statement.names
    assert infix(function.code) == "((x^2)*y)"


def test_declaration_with_everything() -> None:
    text = "var w: float32[3, :] = normal(3, 2, seed=1), trainable=false, note='a'"
    statement = one(text)
    opcode, declaration, start, end = statement.code[-1]
    assert (opcode, text[start:end], statement.names) == (c.DECLARE, text, ("w",))
    assert (declaration.keyword, declaration.name) == ("var", "w")
    assert (declaration.dtype, declaration.shape) == ("float32", (3, None))
    assert declaration.has_value
    assert declaration.attributes == ("trainable", "note")
    assert {part: text[slice(*span)] for part, span in declaration.spans.items()} == {
        "keyword": "var", "name": "w", "type": "float32[3, :]", "value": "normal(3, 2, seed=1)",
        "trainable": "trainable=false", "trainable name": "trainable", "trainable value": "false",
        "note": "note='a'", "note name": "note", "note value": "'a'"}
    assert names_of(statement.code[:-1]) == [
        ("PUSH", 3.0), ("PUSH", 2.0), ("PUSH", 1.0), ("CALL", ("normal", 2, ("seed",))),
        ("PUSH", False), ("PUSH", "a")]


@pytest.mark.parametrize(("text", "dtype", "shape", "has_value"), [
    ("input x", None, None, False),
    ("input x = 2, domain=[0, 5]", None, None, True),
    ("input x, domain=[0, 5]", None, None, False),
    ("const n: int64 = 10", "int64", None, True),
    ("const n: int64[] = 10", "int64", (), True),
    ("input var: bool[:]", "bool", (None,), False),
    ("var input = 1", None, None, True),
])
def test_declaration(text: str, dtype: str | None, shape: Any, has_value: bool) -> None:
    declaration = one(text).code[-1][1]
    found = declaration.dtype, declaration.shape, declaration.has_value
    assert found == (dtype, shape, has_value)


def test_soft_keywords_are_names_elsewhere() -> None:
    assert [s.names for s in parse(Source("var = 1; tape = 2\nresume = var(tape) + input"))] == [
        ("var",), ("tape",), ("resume",)]


def test_lines_semicolons_comments_and_brackets() -> None:
    text = "# head\r\na = 1; b = 2;\r\n\r\n  \nc = (a +\n  # inside\n\n  b)\n\fd # end"
    assert [text[s.start:s.end].split()[0] for s in parse(Source(text))] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing"])
def test_empty_program(text: str) -> None:
    assert parse(Source(text)) == []


# ---- one expression -------------------------------------------------------------------------


def test_parse_expression_leaves_the_value() -> None:
    assert names_of(parse_expression(Source(" 2*pi "))) == [
        ("PUSH", 2.0), ("LOAD", "pi"), ("BINARY", "multiply")]


@pytest.mark.parametrize(("text", "span"), [
    ("", (0, 0)), ("x = 2", (0, 5)), ("1; 2", (3, 4)), ("1\n2", (2, 3)), ("f(x) = 1", (0, 8)),
    ("input x", (0, 7)), ("print(x)", (0, 8)), ("if c: x", (0, 7)), ("pass", (0, 4)),
    ("x.assign(2)", (0, 11)),
])
def test_parse_expression_refuses_anything_else(text: str, span: tuple[int, int]) -> None:
    source = Source(text)
    with pytest.raises(GradcliError) as caught:
        parse_expression(source)
    assert (caught.value.code, caught.value.span) == ("E0107", span)
    assert caught.value.source is source


# ---- long inputs ----------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "statements", "instructions"), [
    ("+".join(["x"] * 100_000), 1, 200_000),
    ("^".join(["x"] * 20_000), 1, 40_000),
    ("(" * 200 + "x" + ")" * 200, 1, 2),
    ("[" * 200 + "x" + "]" * 200, 1, 202),
    ("-" * 20_000 + "x", 1, 20_002),
    (" and ".join(["x"] * 20_000), 1, 40_000),
    ("".join(f"x if y > {i} else " for i in range(20_000)) + "z", 1, 120_002),
    ("[" + ",".join(["1"] * 100_000) + "]", 1, 100_002),
    ("A[" + ",".join(["1"] * 50_000) + "]", 1, 50_003),
    ("f(" + ",".join(f"a{i}=1" for i in range(20_000)) + ")", 1, 20_002),
    ("\n".join(f"x{i + 1} = x{i} + 1" for i in range(100_000)), 100_000, 4),
    ("; ".join(["x"] * 50_000), 50_000, 2),
    ("x" + "[0]" * 20_000, 1, 40_002),
    ("√" * 20_000 + "x", 1, 20_002),
    ("\n" * 100_000 + "# c\n" * 50_000 + "x", 1, 2),
], ids=["sum", "tower", "brackets", "lists", "signs", "and", "conditionals", "list", "index",
        "keywords", "bindings", "semicolons", "postfix", "roots", "blank"])
def test_long_inputs(text: str, statements: int, instructions: int) -> None:
    found = parse(Source(text))
    assert len(found) == statements
    assert len(found[-1].code) == instructions


# ---- errors ---------------------------------------------------------------------------------

ERRORS = [
    # text, code, line, column, part of the message, part of the help
    # two readings
    ("1/2x", "E0104", 1, 1, "`1/2x` can be read in two ways", "`1/(2x)` or `(1/2)*x`"),
    ("1/-2x", "E0104", 1, 1, "`1/-2x`", "`1/(-2x)` or `(1/-2)*x`"),
    ("y = a*b / 2x^2", "E0104", 1, 5, "two ways", "`a*b / (2x^2)` or `(a*b / 2)*x^2`"),
    ("x^2y", "E0104", 1, 1, "two ways", "`x^(2y)` or `x^2*y`"),
    ("x^-2y", "E0104", 1, 1, "two ways", "`x^(-2y)` or `x^-2*y`"),
    ("2^3x", "E0104", 1, 1, "two ways", "`2^(3x)` or `2^3*x`"),
    ("a//2(x+1)", "E0104", 1, 1, "two ways", "`a//(2(x+1))` or `(a//2)*(x+1)`"),
    ("a%2x", "E0104", 1, 1, "two ways", "`a%(2x)`"),
    ("A@2x", "E0104", 1, 1, "two ways", "`(A@2)*x`"),
    ("1÷2π", "E0104", 1, 1, "two ways", "`1÷(2π)` or `(1÷2)*π`"),
    ("√x^2", "E0104", 1, 1, "two ways", "`√(x^2)` or `(√x)^2`"),
    ("√x²", "E0104", 1, 1, "two ways", "`√(x²)` or `(√x)²`"),
    ("√2x", "E0104", 1, 1, "two ways", "`√(2x)` or `√2*x`"),
    # products and calls without their sign
    ("sin x", "E0106", 1, 1, "`sin` needs brackets", "`sin(x)`"),
    ("2 + sin 2x", "E0106", 1, 5, "`sin` needs brackets", "`sin(2x)`"),
    ("print x", "E0106", 1, 1, "`print` needs brackets", "`print(x)`"),
    ("x y", "E0106", 1, 1, "`x` and `y` stand side by side", "`x*y`"),
    ("a = x 2 + 1", "E0106", 1, 5, "side by side", "`x*2`"),
    ("(x)(y)", "E0106", 1, 1, "side by side", "`(x)*(y)`"),
    ("(x+1)(y)", "E0106", 1, 1, "plain name", "`(x+1)*(y)`"),
    ("f(x)(y)", "E0106", 1, 1, "plain name", "`f(x)*(y)`"),
    ("x²(y)", "E0106", 1, 1, "side by side", "`x²*(y)`"),
    ("2πr", "E0106", 1, 2, "side by side", "`π*r`"),
    ("2[1, 2]", "E0106", 1, 1, "multiplies a name or a round bracket", "`2*[1, 2]`"),
    ('2"a"', "E0106", 1, 1, "multiplies a name", '`2*"a"`'),
    ("sin^2(x)", "E0106", 1, 1, "exponent of `sin`", "`sin(x)^2`"),
    ("sin^2 x", "E0106", 1, 1, "exponent of `sin`", "`sin(x)^2`"),
    ("2sin²(x)", "E0106", 1, 2, "exponent of `sin`", "`sin(x)^2`"),
    ("sin^-1(x)", "E0106", 1, 1, "exponent of `sin`", "`asin(x)`"),
    ("cos⁻¹(x)", "E0106", 1, 1, "exponent of `cos`", "`acos(x)`"),
    # brackets
    ("sin(x", "E0103", 1, 4, "`(` is never closed", "`sin(x)`"),
    ("y = (x + 1\nz = 2", "E0103", 1, 5, "`(` is never closed", "`y = (x + 1)`"),
    ("a = 1\ny = f(x\nz(2)\n", "E0103", 2, 6, "never closed", "`y = f(x)`"),
    ("y = [1, 2\nz = 3\n", "E0103", 1, 5, "`[` is never closed", "`y = [1, 2]`"),
    ("y = (x; z = 2", "E0103", 1, 5, "never closed", "`y = (x)`"),
    ("A[", "E0103", 1, 2, "`[` is never closed", "`]`"),
    ("x + 1)", "E0103", 1, 6, "`)` closes nothing", "leave the `)` out"),
    ("f(x]", "E0103", 1, 4, "`]` does not close `(`", "write `)`"),
    ("()", "E0102", 1, 1, "empty", None),
    ("(" * 201 + "x" + ")" * 201, "E0109", 1, 201, "more than 200 brackets", None),
    ("f(x)(", "E0103", 1, 5, "`(` is never closed", "`)`"),
    ("x^{2}", "E0102", 1, 3, "curly brackets", "`(2)`"),
    ("{a: 1, b}", "E0102", 1, 1, "curly brackets", None),
    ("(a, b)", "E0102", 1, 3, "one expression", "`[a, b]`"),
    # numbers
    ("0x10", "E0105", 1, 1, "`0x10`", "`16`"),
    ("0b11", "E0105", 1, 1, "`0b11`", "`3`"),
    ("2e", "E0105", 1, 1, "`2e`", "`2*e`"),
    ("3 + 2e^x", "E0105", 1, 5, "`2e`", "`2*e^x`"),
    ("1_000", "E0105", 1, 1, "`1_000`", "`1000`"),
    ("1,5", "E0105", 1, 1, "decimal separator", "`1.5`"),
    ("y = 2 + 1,5", "E0105", 1, 9, "decimal separator", "`1.5`"),
    ("sin((1,5))", "E0105", 1, 6, "decimal separator", "`1.5`"),
    ("1.2.3", "E0105", 1, 1, "`1.2.3`", "one decimal point"),
    ("2 3", "E0105", 1, 1, "`2 3`", "`2*3`"),
    ("2.x", "E0105", 1, 1, "point", "`2*x`"),
    ("3.e5", "E0105", 1, 1, "point", "`3e5`"),
    ("9" * 401, "E0105", 1, 1, "401 characters", "400"),
    # left sides and forms
    ("a, b", "E0107", 1, 1, "square brackets", "`[a, b]`"),
    ("a, b = 1, 2", "E0107", 1, 8, "square brackets", "`[1, 2]`"),
    ("a,b=1,2", "E0107", 1, 5, "square brackets", "`[1,2]`"),
    ("1,2,3", "E0107", 1, 1, "square brackets", "`[1,2,3]`"),
    ("a, b += 1", "E0111", 1, 6, "one name", None),
    ("x + 1 = 2", "E0107", 1, 1, "`x + 1` is not a name", "`x + 1 == 2`"),
    ("2 = x", "E0107", 1, 1, "`2` is a number", "`x = 2`"),
    ("f(2) = 3", "E0107", 1, 3, "parameters", "`f(x) = ...`"),
    ("f(x, x) = 3", "E0107", 1, 6, "parameters", None),
    ("a, a = f(x)", "E0107", 1, 4, "twice", None),
    ("a, 2 = f(x)", "E0107", 1, 1, "`a, 2`", None),
    ("true = 1", "E0107", 1, 1, "`true` is a constant", None),
    ("π = 3", "E0107", 1, 1, "`π` is a constant", None),
    ("A[0] = 3", "E0107", 1, 1, "`A[0]`", "assign"),
    ("a = b = 2", "E0107", 1, 7, "one `=`", "`b = 2; a = b`"),
    ("a = b =", "E0107", 1, 7, "one `=`", "write `==`"),
    ("var x", "E0107", 1, 1, "no value", "`var x = 1.0`"),
    ("var x, y = 1", "E0107", 1, 1, "no value", "one name at a time"),
    ("input x, y", "E0107", 1, 10, "`y`", "one name at a time"),
    ("lambda = 2", "E0102", 1, 1, "reserved", "`lam`"),
    ("x is y", "E0102", 1, 3, "reserved", "`==`"),
    ("x=1 y=2", "E0102", 1, 5, "missing before `y`", "`x=1; y= ...`"),
    ("input x domain=[0, 1]", "E0102", 1, 9, "comma is missing", "`input x, domain="),
    ("var x 3", "E0102", 1, 7, "`=` is missing", "`var x = 3`"),
    ("var x: float64[2.5] = 1", "E0102", 1, 16, "`2.5` is not a size", "`:`"),
    ("x += 1", "E0111", 1, 3, "two meanings",
     "`x.assign_add(1)` changes the variable, `x = x + 1`"),
    ("x -= a - b", "E0111", 1, 3, "two meanings", "`x = x - (a - b)`"),
    ("x *= 2", "E0111", 1, 3, "two meanings", "`x.assign(x * 2)`"),
    ("x++", "E0111", 1, 2, "`++`", "`x = x + 1`"),
    # operators
    ("(x = 1)", "E0102", 1, 4, "`=` cannot stand inside", "`==`"),
    ("y = 2 if x = 1 else 3", "E0102", 1, 12, "`=` cannot stand inside", "`==`"),
    ("a < b < c", "E0102", 1, 7, "chained", "`a < b and b < c`"),
    ("a < b < (c", "E0102", 1, 7, "chained", "a < b and b < (c"),
    ("y = f(0 <= x + 1 < 2)", "E0102", 1, 18, "chained", "`0 <= x + 1 and x + 1 < 2`"),
    ("a && b", "E0101", 1, 3, "`&&`", "`and`"),
    ("a || b", "E0101", 1, 3, "`||`", "`or`"),
    ("!x", "E0101", 1, 1, "`!`", "`not x`"),
    ("n!", "E0101", 1, 2, "`!`", "gamma"),
    ("|x + 1| + 2", "E0101", 1, 1, "`|`", "`abs(x + 1)`"),
    ("f(x) := x^2", "E0102", 1, 6, "`:=`", "`f(x) = ...`"),
    ("x -> y", "E0102", 1, 3, "`->`", None),
    ("x =< y", "E0102", 1, 3, "`=<`", "`<=`"),
    ("x <> y", "E0102", 1, 3, "`<>`", "`!=`"),
    ("x === y", "E0102", 1, 3, "`===`", "`==`"),
    ("x^", "E0102", 1, 2, "missing behind `^`", None),
    ("x.", "E0102", 1, 2, "a name is missing behind `.`", None),
    ("var x: = 3", "E0102", 1, 8, "a type is missing between `:` and `=`", "such as `float64`"),
    ("var x: 3", "E0102", 1, 8, "a type is missing between `:` and `3`", None),
    ("e^", "E0102", 1, 2, "missing behind `^`", None),
    ("2 * / 3", "E0102", 1, 5, "between `*` and `/`", None),
    ("* x", "E0102", 1, 1, "`*` cannot begin", None),
    ("a =", "E0102", 1, 3, "value of `a` is missing", None),
    ("a;;b", "E0102", 1, 3, "missing before `;`", None),
    ("1 if x > 0", "E0102", 1, 3, "`else` is missing", "`1 if x > 0 else ...`"),
    ("x²^3", "E0102", 1, 3, "already has an exponent", "`(x²)^...`"),
    ("√-x", "E0102", 1, 1, "`√` cannot stand before `-`", "`√(-x)`"),
    ("x'", "E0102", 1, 1, "`x'` needs its argument", "`x'(x)`"),
    ("f(x)'", "E0102", 1, 5, "prime", "`f'(x)`"),
    ("f'(x=1)", "E0102", 1, 1, "no keyword", None),
    ("f(a=1, 2)", "E0102", 1, 8, "follows a named argument", None),
    ("f(a=1, b)", "E0102", 1, 8, "follows a named argument", None),
    ("f(a=1, a=2)", "E0102", 1, 8, "given twice", None),
    ("a = 1\n  b = 2", "E0102", 2, 1, "indentation", "same column"),
    # characters and strings
    ("\\frac{a}{b}", "E0101", 1, 1, "`\\`", "`(a)/(b)`"),
    ("\\sqrt{x}", "E0101", 1, 1, "`\\`", "`sqrt(x)`"),
    ("2 \\cdot x", "E0101", 1, 3, "`\\`", "`*`"),
    ("x + \\\n1", "E0101", 1, 5, "`\\`", "brackets"),
    ("$x", "E0101", 1, 1, "`$`", "without `$`"),
    ("“a”", "E0101", 1, 1, "U+201C left double quotation mark", '`"`'),
    ("x – 1", "E0101", 1, 3, "U+2013 en dash", "`-`"),
    ("x\u00a0+ 1", "E0101", 1, 2, "U+00A0", "ordinary space"),
    ("x\u200b+ 1", "E0101", 1, 2, "U+200B", "ordinary space"),
    ("½x", "E0101", 1, 1, "U+00BD", "`0.5`"),
    ("xⁿ", "E0101", 1, 2, "U+207F", "`^n`"),
    ("x ⋅ y", "E0101", 1, 3, "U+22C5", "`*`"),
    ("\uff08x\uff09", "E0101", 1, 1, "U+FF08", "`(`"),
    ("x\u0304", "E0101", 1, 2, "U+0304", "accent"),
    ('a = "abc', "E0108", 1, 5, "not closed", '`"abc"`'),
    (r'"a\q"', "E0108", 1, 3, r"`\q` is not an escape sequence", r"`\\q`"),
    (r'"\ud800"', "E0108", 1, 2, "not an escape", None),
]


@folded
@pytest.mark.parametrize(("text", "code", "line", "column", "message", "help_"), ERRORS,
                         ids=[text[:30] for text, *_ in ERRORS])
def test_error(text: str, code: str, line: int, column: int, message: str, help_: str | None
               ) -> None:
    source = Source(text, "a.txt")
    with pytest.raises(GradcliError) as caught:
        parse(source)
    error = caught.value
    assert error.source is source
    assert error.span is not None
    assert (error.code, source.position(error.span[0])) == (code, (line, column))
    assert message in error.message
    assert help_ is None or help_ in (error.help or "")
    assert len(error.diagnostics) == 1


def places(text: str) -> list[tuple[str, int]]:
    with pytest.raises(GradcliError) as caught:
        parse(Source(text))
    return [(d.code, d.source.position(d.span[0])[0]) for d in caught.value.diagnostics
            if d.source and d.span]


@pytest.mark.parametrize(("text", "expected"), [
    ("x ^\ny = 2\nz = 1/2x\na, b\n", [("E0102", 1), ("E0104", 3), ("E0107", 4)]),
    ("y = (x + 1\nz = sin(2\nw = 3^\nv = 1", [("E0103", 1), ("E0103", 2), ("E0102", 3)]),
    ("y = f(1,\n 2 2\n)\nz = 3^", [("E0105", 2), ("E0102", 4)]),
    ("a b (\nz = 3^\n", [("E0106", 1), ("E0102", 2)]),
    ("tape t:\n    y = (x\n\n  # c\n    z = y^\nx^\n", [("E0103", 2), ("E0102", 5), ("E0102", 6)]),
    ("if a:\n  b^\nelse:\n  c^\nd^", [("E0102", 2), ("E0102", 4), ("E0102", 5)]),
    ("a^; b^; c\nd^", [("E0102", 1), ("E0102", 2)]),
    ("(1]\n(2]", [("E0103", 1), ("E0103", 2)]),
    ('x = "a\ny = "b\nz = 1', [("E0108", 1), ("E0108", 2)]),
])
def test_errors_of_several_lines(text: str, expected: list[tuple[str, int]]) -> None:
    assert places(text) == expected


def test_at_most_twenty_errors() -> None:
    assert places("x^\n" * 100) == [("E0102", line) for line in range(1, 21)]


def test_bracket_error_points_at_its_partner() -> None:
    with pytest.raises(GradcliError) as caught:
        parse(Source("f(x]"))
    assert caught.value.diagnostics[0].related == (((1, 2), "opened here"),)


def test_long_text_is_cut_in_messages() -> None:
    with pytest.raises(GradcliError) as caught:
        parse(Source("+".join(["x"] * 1000) + " = 2"))
    assert len(caught.value.message) < 100


# ---- start-up -------------------------------------------------------------------------------


def printed_by(script: str) -> Any:
    """What a fresh process prints, as a literal."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=True)
    return ast.literal_eval(done.stdout)


def test_parsing_imports_little() -> None:
    script = (
        "import sys\n"
        "from gradcli.lang.syntax.parser import parse\n"
        "from gradcli.lang.syntax.grammar import tables\n"
        "from gradcli.base.errors import Source\n"
        "tables()\n"  # which may have to be built
        "before = set(sys.modules)\n"
        "parse(Source('x^2*sin(y)'))\n"
        "print(sorted(set(sys.modules) - before))\n")
    assert printed_by(script) == []
    script = (
        "import sys, gradcli.lang.syntax.parser\n"
        "print([m for m in sys.modules if m.startswith('gradcli.')"
        " or m in ('re', 'typing', 'json', 'numpy', 'lark', 'enum', 'dataclasses', 'functools',"
        " 'inspect', 'logging', 'pathlib', 'collections')])")
    assert set(printed_by(script)) - {"gradcli._version"} == {
        "gradcli.base", "gradcli.base.errors", "gradcli.lang", "gradcli.lang.syntax",
        "gradcli.lang.syntax.expressions", "gradcli.lang.syntax.code",
        "gradcli.lang.syntax.grammar", "gradcli.lang.syntax.lexer", "gradcli.lang.syntax.parser"}
