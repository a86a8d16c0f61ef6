"""Blocks: their code, held against Python, stock Lark and the language's description; their errors.

The errors of one line are in test_parser.py.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import folded
from draws import drawn, many
from program_grammars import blocks, runnable
from stock_lark import stock_reductions
from test_grammar import driver_reductions, error_of
from test_parser import one
from transcripts import in_process

from gradcli.base.errors import Source
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.parser import parse

# ---- a stack machine that logs ----------------------------------------------------------------

MAX_STEPS = 1_000_000  # which no runnable program takes


class Machine:
    """Runs code with plain numbers. log: the values of `out` and the blocks opened and closed."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.names: dict[str, Any] = {}
        self.steps = 0

    def load(self, name: str, local: dict[str, Any] | None) -> Any:
        return local[name] if local is not None and name in local else self.names[name]

    def call(self, name: str, arguments: list[Any], local: dict[str, Any] | None) -> Any:
        if name == "out":
            self.log.append(plain(arguments))
            return None
        if name == "range":
            return list(range(int(arguments[0])))
        if name == "zip":
            return list(zip(*arguments, strict=True))
        function, outer = self.load(name, local)
        inner = dict(outer or {})
        inner.update(zip(function.parameters, arguments, strict=True))
        return self.run(function.code, inner)

    def run(self, code: c.Code, local: dict[str, Any] | None) -> Any:
        stack: list[Any] = []
        opened: list[c.Block] = []
        scope = self.names if local is None else local

        def close(count: int) -> None:
            for _ in range(count):
                self.log.append(("close", opened.pop().name))

        def taken(count: int) -> list[Any]:
            values = stack[len(stack) - count:]
            del stack[len(stack) - count:]
            return values

        at = 0
        while at < len(code):
            opcode, argument, _, _ = code[at]
            at += 1
            self.steps += 1
            assert self.steps < MAX_STEPS
            if opcode == c.LOAD:
                stack.append(self.load(argument, local))
            elif opcode == c.PUSH:
                stack.append(argument)
            elif opcode == c.BINARY:
                left, right = taken(2)
                stack.append({
                    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b,
                    "multiply": lambda a, b: a * b, "less": lambda a, b: a < b,
                    "equal": lambda a, b: a == b, "greater": lambda a, b: a > b,
                    "greater_equal": lambda a, b: a >= b, "not_equal": lambda a, b: a != b,
                }[argument](left, right))
            elif opcode == c.UNARY:
                stack.append(-stack.pop() if argument == "negative" else not stack.pop())
            elif opcode == c.CALL:
                stack.append(self.call(argument[0], taken(argument[1]), local))
            elif opcode == c.LIST:
                stack.append(taken(argument))
            elif opcode == c.JUMP:
                at += argument
            elif opcode == c.JUMP_IF_FALSE:
                at += 0 if stack.pop() else argument
            elif opcode in (c.AND, c.OR):
                if bool(stack[-1]) == (opcode == c.OR):
                    at += argument
                else:
                    stack.pop()
            elif opcode == c.BIND:
                scope[argument] = stack.pop()
            elif opcode == c.UNPACK:
                scope.update(zip(argument, stack.pop(), strict=True))
            elif opcode == c.DEFINE:
                scope[argument.name] = argument, local
            elif opcode in (c.POP, c.RESULT):
                stack.pop()
            elif opcode == c.ITERATE:
                stack.append(iter(stack.pop()))
            elif opcode == c.NEXT:
                try:
                    stack.append(next(stack[-1]))
                except StopIteration:
                    stack.pop()
                    at += argument
            elif opcode == c.ENTER:
                taken(argument.arguments + len(argument.attributes))
                opened.append(argument)
                self.log.append(("open", argument.name))
            elif opcode == c.EXIT:
                assert opened[-1] is argument
                close(1)
            elif opcode == c.LEAVE:
                close(argument[1])
                at += argument[0]
            elif opcode == c.RETURN:
                value = stack.pop()
                close(len(opened))
                return value
            else:
                raise AssertionError(c.NAMES[opcode])
        assert not opened
        assert not stack, "something was left"
        return None


def plain(values: Any) -> Any:
    """Numbers in tuples, so that 2 and 2.0, a list and a tuple compare equal."""
    return tuple(plain(v) for v in values) if isinstance(values, list | tuple) else values


def as_python(text: str) -> str:
    """Blocks that Python lacks as `with` statements."""
    text = re.sub(r"(?m)^([ \t]*)(?:tape|stop_recording|resume) (\w+)(?:, \w+=(.*?))?"
                  r"(?:, other=(.*?))?:(?=\s|$)", r"\1with opened('\2', \3, \4):", text)
    text = re.sub(r"(?m)^([ \t]*)forward (\w+)\((.*?)\):(?=\s|$)", r"\1with opened('\2', \3):",
                  text)
    return text.replace("true", "True").replace(", , )", ")").replace(", )", ")")


def python_log(text: str) -> list[Any]:
    log: list[Any] = []

    @contextmanager
    def opened(name: str, *_: Any) -> Iterator[None]:
        log.append(("open", name))
        try:
            yield
        finally:
            log.append(("close", name))

    def out(*values: Any) -> None:
        log.append(plain(values))

    exec(compile(as_python(text), "program", "exec"), {"opened": opened, "out": out})
    return log


def test_control_flow_agrees_with_python() -> None:
    stream = drawn(20240701)
    seen: set[int] = set()

    def note(code: c.Code) -> None:
        for opcode, argument, _, _ in code:
            seen.add(opcode)
            if opcode == c.DEFINE:
                note(argument.code)

    for _ in range(many(700, 2000)):
        text = runnable(stream)
        statements = parse(Source(text))
        machine = Machine()
        for statement in statements:
            machine.run(statement.code, None)
            note(statement.code)
        assert machine.log == python_log(text), text
    assert seen >= {c.LEAVE, c.NEXT, c.ITERATE, c.RETURN, c.ENTER, c.EXIT, c.POP, c.UNPACK, c.JUMP}


def test_driver_agrees_with_stock_lark(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = drawn(20240702)
    for _ in range(many(400, 1500)):
        text = blocks(stream)
        expected = stock_reductions(text)
        assert expected is not None, text
        assert driver_reductions(text, monkeypatch) == expected, text
        assert error_of(text) is None, text


def spoiled(stream: random.Random, text: str) -> str:
    """One slip: a line, a word or an indentation removed, doubled, moved or replaced."""
    lines = text.split("\n")
    at = stream.randrange(len(lines))
    form = stream.randrange(6)
    if form == 0:
        del lines[at]
    elif form == 1:
        lines.insert(at, stream.choice(lines))
    elif form == 2:
        lines[at] = stream.choice(("", " ", "   ", "\t", "        ")) + lines[at].lstrip()
    elif form == 3:
        lines[at] = lines[at].replace(stream.choice((":", "(", ")", "=", " ")), "", 1)
    elif form == 4:
        words = lines[at].split(" ")
        words[stream.randrange(len(words))] = stream.choice(
            ("if", "else", "for", "(", "=", "tape", "x", "return", ":", "@", ";", "in", "def"))
        lines[at] = " ".join(words)
    else:
        place = stream.randrange(len(text) + 1)
        return text[:place] + stream.choice("()[]:;,=\n\t '^x2.@") + text[place:]
    return "\n".join(lines)


def test_a_slip_is_read_or_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our parser refuses what stock Lark refuses, with a code and a place for each error."""
    stream = drawn(20240703)
    count, refused = many(400, 1500), 0
    for _ in range(count):
        text = blocks(stream)
        for _ in range(stream.choice((1, 1, 2, 3))):
            text = spoiled(stream, text)
        expected = stock_reductions(text)
        assert driver_reductions(text, monkeypatch) == expected, text
        error = error_of(text)
        if expected is None:
            refused += 1
            assert error is not None, text
        if error is not None:
            shown = [(d.code, d.span, d.message) for d in error.diagnostics]
            assert len(set(shown)) == len(shown), text
    assert refused > 0.4*count


# ---- the code of each construct ---------------------------------------------------------------


def listing(code: c.Code) -> list[str]:
    """An instruction as a word or two, with arguments where they say something."""
    shown = []
    for opcode, argument, _, _ in code:
        if opcode in (c.ENTER, c.EXIT):
            argument = f"{argument.keyword} {argument.name}"
        elif opcode == c.DEFINE:
            argument = argument.name
        elif opcode == c.EXPECT:
            argument = argument.operator
        elif isinstance(argument, float):
            argument = f"{argument:g}"
        shown.append(c.NAMES[opcode] + ("" if argument in (None, "") else f" {argument}"))
    return shown


def emitted(text: str) -> str:
    return "; ".join(listing(one(text).code))


@folded
@pytest.mark.parametrize(("text", "expected"), [
    ("if c: y = 1", "LOAD c; JUMP_IF_FALSE 2; PUSH 1; BIND y"),
    ("if c:\n  y = 1\nelse:\n  x",
     "LOAD c; JUMP_IF_FALSE 3; PUSH 1; BIND y; JUMP 2; LOAD x; RESULT"),
    ("if a: x\nelif b: y\nelif c: z\nelse: w",
     "LOAD a; JUMP_IF_FALSE 3; LOAD x; RESULT; JUMP 12; LOAD b; JUMP_IF_FALSE 3; LOAD y; RESULT;"
     " JUMP 7; LOAD c; JUMP_IF_FALSE 3; LOAD z; RESULT; JUMP 2; LOAD w; RESULT"),
    ("if a: pass\nelif b: pass", "LOAD a; JUMP_IF_FALSE 1; JUMP 2; LOAD b; JUMP_IF_FALSE 0"),
    ("while a and b: x = 1",
     "LOAD a; AND 1; LOAD b; JUMP_IF_FALSE 3; PUSH 1; BIND x; JUMP -7"),
    ("while true:\n  if a: break\n  if b: continue\n  x",
     "PUSH True; JUMP_IF_FALSE 9; LOAD a; JUMP_IF_FALSE 1; JUMP 6; LOAD b; JUMP_IF_FALSE 1;"
     " JUMP -8; LOAD x; RESULT; JUMP -11"),
    ("for a in u: x = a", "LOAD u; ITERATE; NEXT 4; BIND a; LOAD a; BIND x; JUMP -5"),
    ("for a, b in zip(u, v): pass",
     "LOAD u; LOAD v; CALL ('zip', 2, ()); ITERATE; NEXT 2; UNPACK ('a', 'b'); JUMP -3"),
    ("for a in u:\n  if a: continue\n  break",
     "LOAD u; ITERATE; NEXT 7; BIND a; LOAD a; JUMP_IF_FALSE 1; JUMP -5; JUMP 1; JUMP -7; POP"),
    ("for a in u if c else v: pass",
     "LOAD c; JUMP_IF_FALSE 2; LOAD u; JUMP 1; LOAD v; ITERATE; NEXT 2; BIND a; JUMP -3"),
    ("tape t: y = x", "ENTER tape t; LOAD x; BIND y; EXIT tape t"),
    ("tape t, persistent=a, watch_accessed_variables=b: x",
     "LOAD a; LOAD b; ENTER tape t; LOAD x; RESULT; EXIT tape t"),
    ("forward acc(x, [1, 2]), k=3: y = x",
     "LOAD x; PUSH 1; PUSH 2; LIST 2; PUSH 3; ENTER forward acc; LOAD x; BIND y; EXIT forward acc"),
    ("stop_recording t:\n  x", "ENTER stop_recording t; LOAD x; RESULT; EXIT stop_recording t"),
    ("resume t: x", "ENTER resume t; LOAD x; RESULT; EXIT resume t"),
    ("while c:\n  tape t:\n    stop_recording t: continue\n    break",
     "LOAD c; JUMP_IF_FALSE 7; ENTER tape t; ENTER stop_recording t; LEAVE (-5, 2);"
     " EXIT stop_recording t; LEAVE (2, 1); EXIT tape t; JUMP -9"),
    ("for a in u:\n  tape t: break",
     "LOAD u; ITERATE; NEXT 6; BIND a; ENTER tape t; LEAVE (2, 1); EXIT tape t; JUMP -6; POP"),
    ("tape t:\n  for a in u: break",
     "ENTER tape t; LOAD u; ITERATE; NEXT 4; BIND a; JUMP 1; JUMP -4; POP; EXIT tape t"),
    ("expect a == b", "LOAD a; LOAD b; EXPECT equal"),
    ("expect a ~= b, rtol=1e-9, atol=x",
     "LOAD a; LOAD b; PUSH 1e-09; LOAD x; EXPECT near"),
    ("expect -a ~= b + 1", "LOAD a; UNARY negative; LOAD b; PUSH 1; BINARY add; EXPECT near"),
    ("expect a", "LOAD a; EXPECT"),
    ("expect a < b, k=1", "LOAD a; LOAD b; PUSH 1; EXPECT less"),
    ("expect (a) >= f(b)", "LOAD a; LOAD b; CALL ('f', 1, ()); EXPECT greater_equal"),
    ("expect (a == b)", "LOAD a; LOAD b; BINARY equal; EXPECT"),
    ("expect not a == b", "LOAD a; LOAD b; BINARY equal; UNARY logical_not; EXPECT"),
    ("expect c or a == b", "LOAD c; OR 3; LOAD a; LOAD b; BINARY equal; EXPECT"),
    ("expect a == b if c else d",
     "LOAD c; JUMP_IF_FALSE 4; LOAD a; LOAD b; BINARY equal; JUMP 1; LOAD d; EXPECT"),
    ("expect d if c else a == b",
     "LOAD c; JUMP_IF_FALSE 2; LOAD d; JUMP 3; LOAD a; LOAD b; BINARY equal; EXPECT"),
    ("expect a + b", "LOAD a; LOAD b; BINARY add; EXPECT"),
    # what a statement leaves
    ("print(x)", "LOAD x; CALL ('print', 1, ()); POP"),
    ("print(x) + 1", "LOAD x; CALL ('print', 1, ()); PUSH 1; BINARY add; RESULT"),
    ("x.assign(2)", "LOAD x; PUSH 2; METHOD ('assign', 1, ()); POP"),
    ("x.assign_add(2)", "LOAD x; PUSH 2; METHOD ('assign_add', 1, ()); POP"),
    ("x.assign_sub(y)", "LOAD x; LOAD y; METHOD ('assign_sub', 1, ()); POP"),
    ("t.watch(x)", "LOAD t; LOAD x; METHOD ('watch', 1, ()); POP"),
    ("t.reset()", "LOAD t; METHOD ('reset', 0, ()); POP"),
    ("t.gradient(y, x, k=1)",
     "LOAD t; LOAD y; LOAD x; PUSH 1; METHOD ('gradient', 2, ('k',)); RESULT"),
    ("x.assign(2).T", "LOAD x; PUSH 2; METHOD ('assign', 1, ()); ATTRIBUTE T; RESULT"),
    ("f(x.assign(2))", "LOAD x; PUSH 2; METHOD ('assign', 1, ()); CALL ('f', 1, ()); RESULT"),
    ("tape t: t.watch(x); x", "ENTER tape t; LOAD t; LOAD x; METHOD ('watch', 1, ()); POP; LOAD x;"
     " RESULT; EXIT tape t"),
    ("np.mean(x)", "LOAD x; NUMPY ('mean', 1, ()); RESULT"),
    ("y = np.max(A, axis=0)", "LOAD A; PUSH 0; NUMPY ('max', 1, ('axis',)); BIND y"),
    ("f(x, np.mean(a if c else b))", "LOAD x; LOAD c; JUMP_IF_FALSE 2; LOAD a; JUMP 1; LOAD b;"
     " NUMPY ('mean', 1, ()); CALL ('f', 2, ()); RESULT"),
    ("y = np.e", "PUSH 2.71828; BIND y"),
    ("np.mean(x).T", "LOAD x; NUMPY ('mean', 1, ()); ATTRIBUTE T; RESULT"),
    ("x.np.T", "LOAD x; ATTRIBUTE np; ATTRIBUTE T; RESULT"),
])
def test_code(text: str, expected: str) -> None:
    assert emitted(text) == expected


def function_of(text: str) -> c.Function:
    ((opcode, function, _, _),) = one(text).code
    assert opcode == c.DEFINE
    assert isinstance(function, c.Function)
    return function


@pytest.mark.parametrize(("text", "parameters", "expected"), [
    ("def f(x, y):\n  return x", ("x", "y"), "LOAD x; RETURN"),
    ("def f(x, y,): return x, 2", ("x", "y"), "LOAD x; PUSH 2; LIST 2; RETURN"),
    ("def f(): return", (), "PUSH; RETURN"),
    ("def f(var): pass", ("var",), ""),
    ("def f(x):\n  x\n  print(x)\n  y = x", ("x",),
     "LOAD x; POP; LOAD x; CALL ('print', 1, ()); POP; LOAD x; BIND y"),
    ("def f(x):\n  if x: return 1\n  return 2", ("x",),
     "LOAD x; JUMP_IF_FALSE 2; PUSH 1; RETURN; PUSH 2; RETURN"),
    ("def f(x):\n  for a in x:\n    tape t: return a", ("x",),
     "LOAD x; ITERATE; NEXT 6; BIND a; ENTER tape t; LOAD a; RETURN; EXIT tape t; JUMP -7"),
    ("def f(x):\n  def g(y): return y\n  h(z) = z\n  return g", ("x",),
     "DEFINE g; DEFINE h; LOAD g; RETURN"),
    ("def f(x):\n  tape t:\n    x\n  var w = 1", ("x",),
     "ENTER tape t; LOAD x; POP; EXIT tape t; PUSH 1; DECLARE <w>"),
])
def test_functions(text: str, parameters: tuple[str, ...], expected: str) -> None:
    function = function_of(text)
    shown = "; ".join(listing(function.code))
    assert re.sub(r"DECLARE .*object.*", "DECLARE <w>", shown) == expected
    assert (function.name, function.parameters, function.block) == ("f", parameters, True)
    assert (function.decorator, function.operation, function.decorated) == ("", "", None)


def test_one_line_functions_are_no_blocks() -> None:
    assert not function_of("f(x) = x").block
    inner = function_of("def f(x):\n  g(y) = 2*y\n  return g(x)").code[0][1]
    assert (inner.name, inner.block, listing(inner.code)) == (
        "g", False, ["PUSH 2", "LOAD y", "BINARY multiply"])


def test_decorators() -> None:
    text = "@custom_gradient\ndef f(x):\n  def grad(up): return 2*up\n  return x\n"
    function = function_of(text)
    assert (function.decorator, function.operation) == ("custom_gradient", "")
    assert function.decorated is not None
    assert text[slice(*function.decorated)] == "@custom_gradient"
    assert text[function.start:function.end] == text[17:-1]
    statement = one(text)
    assert (statement.start, statement.end, statement.names) == (0, len(text) - 1, ("f",))
    text = "@gradient_of( floor )  # why\n\ndef rule(up, x): return none"
    function = function_of(text)
    assert (function.decorator, function.operation) == ("gradient_of", "floor")
    assert function.decorated is not None
    assert text[slice(*function.decorated)] == "@gradient_of( floor )"


@pytest.mark.parametrize("rule", [
    "  def grad(up): return up", "  grad(up) = up",
    "  if x: \n    def grad(up): return up\n  else:\n    def grad(up): return 2*up",
])
def test_a_gradient_rule_may_stand_anywhere_inside(rule: str) -> None:
    assert function_of(f"@custom_gradient\ndef f(x):\n{rule}\n  return x").decorator


@pytest.mark.parametrize(("text", "names"), [
    ("if c:\n  x = 1\n  y = 2\nelse:\n  z = 3; x = 4", ("x", "y", "z")),
    ("for a, b in u:\n  for c in a:\n    a, d = c", ("a", "b", "c", "d")),
    ("while c: pass", ()),
    ("def f(x):\n  y = x\n  def g(z): w = z", ("f",)),
    ("if c:\n  a = 1\n  def f(x):\n    y = x\n  b = 2\n  g(x) = x", ("a", "f", "b", "g")),
    ("tape t:\n  y = 1\n  forward acc(x, v):\n    var w = 2\n  resume t: z = 1",
     ("t", "y", "acc", "w", "z")),
    ("stop_recording t:\n  x", ()),
    ("tape t: input x", ("t", "x")),
])
def test_names(text: str, names: tuple[str, ...]) -> None:
    assert one(text).names == names


def test_statements_are_separate() -> None:
    text = "x = 1\nif x:\n  y = 2\n  # end\n\nz = 3\npass\ndef f():\n  pass\n  \nf()"
    statements = parse(Source(text))
    assert [text[s.start:s.end] for s in statements] == [
        "x = 1", "if x:\n  y = 2", "z = 3", "def f():\n  pass", "f()"]
    assert [s.names for s in statements] == [("x",), ("y",), ("z",), ("f",), ()]
    assert all(s.code for s in statements)


def test_spans_of_blocks() -> None:
    text = ("tape t, persistent=true:\n    y = x\n    forward acc(x, v):\n        z = x\n\n"
            "expect a == f(b), k = 1\nexpect  a and b\nexpect a ~= -b\n")
    statements = parse(Source(text))

    def parts(spans: dict[str, tuple[int, int]]) -> dict[str, str]:
        return {part: text[slice(*span)] for part, span in spans.items()}

    code = statements[0].code
    assert (code[1][0], text[slice(*code[1][2:])]) == (c.ENTER, "tape t, persistent=true:")
    assert parts(code[1][1].spans) == {
        "name": "t", "head": "tape t, persistent=true:", "persistent": "persistent=true",
        "persistent name": "persistent", "persistent value": "true",
        "block": text[:text.index("\n\n")]}
    assert code[1][1] is code[-1][1]
    (inner,) = [ins[1] for ins in code if ins[0] == c.ENTER and ins[1].keyword == "forward"]
    assert parts(inner.spans) == {
        "name": "acc", "head": "forward acc(x, v):", "block": "forward acc(x, v):\n        z = x"}
    assert (inner.arguments, code[1][1].arguments) == (2, 0)
    assert [parts(s.code[-1][1].spans) for s in statements[1:]] == [
        {"left": "a", "right": "f(b)", "k": "k = 1", "k name": "k", "k value": "1"},
        {"value": "a and b"},
        {"left": "a", "right": "-b"}]
    assert [text[slice(*s.code[-1][2:])] for s in statements[1:]] == [
        "expect a == f(b), k = 1", "expect  a and b", "expect a ~= -b"]


def test_spans_of_instructions() -> None:
    text = ("for a, b in zip(u, v):\n  if a > b: break\n  else: continue\n"
            "while not c: pass\ndef f(x):\n  return x, 1\n")
    code = parse(Source(text))[0].code
    found = [(c.NAMES[opcode], text[start:end]) for opcode, _, start, end in code]
    assert found[3:] == [
        ("ITERATE", "zip(u, v)"), ("NEXT", "a, b"), ("UNPACK", "a, b"), ("LOAD", "a"),
        ("LOAD", "b"), ("BINARY", "a > b"), ("JUMP_IF_FALSE", "a > b"), ("JUMP", "break"),
        ("JUMP", "else"), ("JUMP", "continue"), ("JUMP", "for"), ("POP", "for")]
    code = parse(Source(text))[1].code
    assert [text[start:end] for _, _, start, end in code] == ["c", "not c", "not c", "while"]
    ((_, function, start, end),) = parse(Source(text))[2].code
    assert text[start:end] == "def f(x)"
    assert [text[start:end] for _, _, start, end in function.code] == [
        "x", "1", "x, 1", "return x, 1"]


@pytest.mark.parametrize("text", [
    "if c :\n\n  # a comment\n  x\n\n\n# another\n  y\nelse :\n  z",
    "  if c:\n    x\n  y",
    "if c:\r\n\tx\r\n\r\n\ty\r\n",
    "if (a and\n  b):\n  x",
    "\f\nif c:\n  x\n\f\n  y",
    "if c: x;\nelse: y; z;",
    "while while_: x".replace("while_", "c"),
    "for tape in resume: var = tape",
    "tape tape: tape = forward",
    "forward forward(input, var): x",
    "def tape(t): return tape(t)",
    "tape = 1; tape(2); tape.T",
    "forward(x); resume + 1; stop_recording[0]",
    "expect {\"a\": 1}[\"a\"] == 1",
    "if {\"a\": 1}[\"a\"]: x",
    "if A[1:2]: x[:, 1] + 2",
    "if c:\n x\nelif d:\n\t y\nelse:\n            z",
])
def test_layouts(text: str) -> None:
    assert stock_reductions(text) is not None
    assert parse(Source(text))


# ---- long inputs ------------------------------------------------------------------------------

LONG = {
    "block": "def f(x):\n" + "  y = x*2 + 1\n" * 40_000 + "  return y\n",
    "loop": "for i in u:\n" + "  if i > 3: x = i\n  else: continue\n" * 15_000,
    "branches": "if x == 0: y\n" + "".join(f"elif x == {i}: y = {i}\n" for i in range(15_000)),
    "functions": "if c:\n" + "  def f(x): return x, 2\n" * 15_000,
    "statements": "if c: " + "; ".join(["x = 1"] * 40_000),
    "breaks": "while c:\n" + "  if x: break\n" * 20_000,
    "blocks": "tape t: x = 1\n" * 15_000,
    "stairs": "".join(f"{' ' * level}if c:\n" for level in range(200)) + " " * 200 + "x\n" * 1,
}


@pytest.mark.parametrize("name", LONG)
def test_long_blocks_take_linear_time(name: str) -> None:
    """Each takes half a second; with quadratic time it would be a minute."""
    began = time.process_time()
    statements = parse(Source(LONG[name]))
    assert time.process_time() - began < 10
    assert len(statements) == (15_000 if name == "blocks" else 1)


def test_limits_of_nesting() -> None:
    stairs = LONG["stairs"]
    assert parse(Source(stairs))
    text = stairs.replace("x\n", "if c:\n" + " " * 201 + "x\n") + "y = 3^\n"
    error = error_of(text)
    assert error is not None
    (found,) = error.diagnostics
    assert (found.code, found.message) == ("E0109", "more than 200 blocks are open")
    assert found.span is not None
    assert text[slice(*found.span)] == "x"


# ---- errors -----------------------------------------------------------------------------------

ERRORS = [
    # text, code, line, the text it points at, part of the message, part of the help
    # colons and blocks
    ("for i in range(3)\n  x\n", "E0112", 1, ")", "colon is missing behind `for i in range(3)`",
     "`for i in range(3):`"),
    ("if x > a y = 1", "E0112", 1, "a", "colon is missing behind `if x > a`", "`if x > a:`"),
    ("if x > a {\n  y\n", "E0112", 1, "a", "colon is missing behind `if x > a`", "`if x > a:`"),
    ("if x then y = 1", "E0112", 1, "x", "colon is missing behind `if x`", "`if x:`"),
    ("if x;", "E0112", 1, "x", "colon is missing", "`if x:`"),
    ("if x: y\nelse\n  z", "E0112", 2, "else", "colon is missing behind `else`", "`else:`"),
    ("while x\n  y", "E0112", 1, "x", "colon is missing", "`while x:`"),
    ("def f(x)\n  return x", "E0112", 1, ")", "colon is missing", "`def f(x):`"),
    ("def f(x) return x", "E0112", 1, ")", "colon is missing", "`def f(x):`"),
    ("tape t\n  y", "E0112", 1, "t", "colon is missing", "`tape t:`"),
    ("tape t persistent=true:\n  y", "E0112", 1, "t", "colon is missing", "`tape t:`"),
    ("tape t, persistent=true\n  y", "E0112", 1, "true", "colon is missing", "persistent=true:`"),
    ("forward a(x, v)\n  y", "E0112", 1, ")", "colon is missing", "`forward a(x, v):`"),
    ("if x:\ny = 1", "E0112", 1, "if x:", "block of `if x:` is missing", "`pass`"),
    ("if x:", "E0112", 1, "if x:", "block of `if x:` is missing", "indent"),
    ("if x:  # todo\n  # later\n", "E0112", 1, "if x:", "block of `if x:` is missing", None),
    ("def f(x):\n  tape t:\ny", "E0112", 2, "tape t:", "block of `tape t:` is missing", None),
    ("if a:\nelse:\n  b", "E0112", 1, "if a:", "block of `if a:` is missing", None),
    ("x = 1; if c: y", "E0112", 1, "if", "`if` begins a line of its own", "next line"),
    ("x = 1; tape t: y", "E0112", 1, "tape", "`tape` begins a line of its own", "next line"),
    ("if a: if b: c", "E0112", 1, "if", "`if` begins a line of its own", "next line, indented"),
    ("if a: forward b(x, v): c", "E0112", 1, "forward", "begins a line of its own", "indented"),
    ("if a: b; else: c", "E0112", 1, "else", "`else` begins a line of its own", "next line"),
    ("if a: @custom_gradient", "E0112", 1, "@", "`@` begins a line of its own", None),
    ("if a:;", "E0102", 1, ";", "statement is missing before `;`", "leave the `;` out"),
    # indentation
    ("a\n  b\nc", "E0102", 2, "  ", "unexpected indentation", "same column"),
    ("if a:\n  b\n\t  c\n", "E0112", 3, "\t  ", "tabs and spaces", "spaces only"),
    ("if a:\n\tb\n        c\n\td", "E0112", 3, "        ", "tabs and spaces", "tabs only"),
    ("if a:\n    b\n  c\n", "E0112", 3, "  ", "less than its block", "column 1 or 5"),
    ("if a:\n  b\n  if c:\n      d\n    e", "E0112", 5, "    ", "less than", "column 3 or 7"),
    ("  a\nb", "E0112", 2, "b", "less than", "column 3"),
    ("if a:\n  b\n else:\n  c", "E0112", 3, " ", "less than", "column 1 or 3"),
    ("if a:\n    b\n\tc\n\tif d:\n\t\te\n", "E0112", 3, "\t", "tabs and spaces", None),
    # branches
    ("else:\n  x", "E0113", 1, "else", "`else` has no `if` before it", "column of its `if`"),
    ("x\nelif c: y", "E0113", 2, "elif", "`elif` has no `if` before it", None),
    ("if a:\n  else: b", "E0113", 2, "else", "`else` has no `if` before it", None),
    ("if a: b\nelse: c\nelif d: e", "E0113", 3, "elif", "after the `else`", "in front of"),
    ("if a:\n  b\nelse:\n  c\nelse:\n  d", "E0113", 5, "else", "after the `else`", "leave one"),
    ("for a in u:\n  b\nelse:\n  c", "E0113", 3, "else", "a loop has no `else`", "behind the loop"),
    ("if a: b\nelse if c: d\nelse: e", "E0102", 2, "else if", "is written `elif`", "`elif c:`"),
    ("if a: b\nelseif c: d\n", "E0102", 2, "elseif", "is written `elif`", "`elif c:`"),
    ("if a: b\nelsif (c > d):\n  d\n", "E0102", 2, "elsif", "is written `elif`", "`elif (c > d):`"),
    ("if a: b\nelse c > d: e", "E0102", 2, "c > d", "`else` has no condition", "`elif c > d:`"),
    ("if x = 3:\n  y", "E0102", 1, "=", "does not compare", "`if x == 3:`"),
    ("if (x = 3): y", "E0102", 1, "=", "does not compare", "`if (x == 3):`"),
    ("if a: b\nelif x + 1 = 3: y", "E0102", 2, "=", "does not compare", "`elif x + 1 == 3:`"),
    ("while x =: y", "E0102", 1, "=", "does not compare", "`while x == 0:`"),
    ("if a < b < c: d", "E0102", 1, "<", "chained", "`a < b and b < c`"),
    ("while a < b < c: d", "E0102", 1, "<", "chained", "`a < b and b < c`"),
    ("if: x", "E0102", 1, ":", "value is missing between `if` and `:`", "`if a < b:`"),
    ("if a if b: c", "E0102", 1, "if b", "`else` is missing", None),
    ("if (x > 0:\n  y", "E0103", 1, "(", "never closed", "`if (x > 0):`"),
    ("if x == [1, 2:\n  y", "E0103", 1, "[", "never closed", "`if x == [1, 2]:`"),
    # loops
    ("break", "E0113", 1, "break", "outside of a loop", "leave the `break` out"),
    ("if a:\n  continue", "E0113", 2, "continue", "outside of a loop", "`for` or `while`"),
    ("for i in u:\n  def f(): break", "E0113", 2, "break", "outside of a loop", "`return`"),
    ("break 2", "E0102", 1, "2", "unexpected `2`", None),
    ("for i range(3): x", "E0102", 1, "range", "`in` is missing", "`for i in range(3):`"),
    ("for i = 1: x", "E0102", 1, "for i", "loops over the items", "`for i in range(3):`"),
    ("for (a, b) in u: x", "E0102", 1, "(", "without brackets", "`for i in range(3):`"),
    ("for a, a in u: x", "E0107", 1, "a", "`a` stands twice", "different names"),
    ("for in u: x", "E0102", 1, "for", "loops over the items", "`for i in range(3):`"),
    ("for i in : x", "E0102", 1, ":", "value is missing between `in` and `:`", "`range(3)`"),
    ("for 2 in u: x", "E0102", 1, "for", "loops over the items", None),
    ("for", "E0102", 1, "for", "loops over the items", "`for i in range(3):`"),
    ("x in y", "E0102", 1, "in", "`in` is a reserved word", "`for` only"),
    ("[a for a in u]", "E0102", 1, "for", "`for` is a reserved word", "`for` block"),
    # functions
    ("return x", "E0113", 1, "return", "outside of a `def`", "expression alone"),
    ("if c: return", "E0113", 1, "return", "outside of a `def`", None),
    ("def f(x) = x^2", "E0107", 1, "=", "has a block", "`f(x) = x^2`, or `def f(x): return x^2`"),
    ("def f(x, y=1): x", "E0107", 1, "y=", "no default values", "`y` alone"),
    ("def f(x: float64): x", "E0107", 1, "x:", "no types", "`x` alone"),
    ("def f(x, x): x", "E0107", 1, "x", "`x` stands twice", "different names"),
    ("def f(2): x", "E0107", 1, "2", "`2` is not a name", "`def f(x, y):`"),
    ("def f(*a): x", "E0107", 1, "*", "`*` is not a name", None),
    ("def f: x", "E0107", 1, "def f", "no brackets", "`def f():`"),
    ("def (x): x", "E0107", 1, "def", "needs a name", "`def f(x):`"),
    ("def", "E0107", 1, "def", "needs a name", None),
    ("def f(x\n  return x", "E0103", 1, "(", "never closed", "`def f(x):`"),
    ("def f(x) -> y: x", "E0102", 1, "->", "`->` is not an operator", None),
    ("@tf.custom_gradient\ndef f(x): x", "E0114", 1, "@tf.custom_gradient", "not a decorator",
     "`@custom_gradient`"),
    ("@custom_gradient()\ndef f(x): x", "E0114", 1, "@custom_gradient()", "not a decorator", None),
    ("@custom_gradient(x)\ndef f(x): x", "E0114", 1, "@custom_gradient(x)", "not a decorator",
     None),
    ("@gradient_of\ndef f(x): x", "E0114", 1, "@gradient_of", "not a decorator", "`floor`"),
    ('@gradient_of("floor")\ndef f(x): x', "E0114", 1, '@gradient_of("floor")', "not a decorator",
     "`@gradient_of(op)`"),
    ("@property\ndef f(x): x", "E0114", 1, "@property", "`@property` is not a decorator",
     "`@custom_gradient` and `@gradient_of(op)`"),
    ("@custom_gradient\nx = 1", "E0114", 1, "@custom_gradient", "in front of no `def`", "next"),
    ("@custom_gradient", "E0114", 1, "@custom_gradient", "in front of no `def`", None),
    ("if a:\n  @gradient_of(floor)\nb", "E0114", 2, "@gradient_of(floor)", "no `def`", None),
    ("@custom_gradient\n@gradient_of(floor)\ndef f(x): x", "E0114", 1, "@custom_gradient",
     "one decorator", "leave one out"),
    ("@custom_gradient\ndef f(x):\n  return x\n", "E0114", 2, "def f(x)", "no gradient rule",
     "`grad`"),
    ("@custom_gradient\ndef f(x):\n  def rule(up): return up\n  return x", "E0114", 3, "rule",
     "is named `rule`", "`def grad(up):`"),
    # tapes and their kin
    ("tape:\n  x", "E0107", 1, "tape", "`tape` needs a name", "`tape t:`"),
    ("forward: x", "E0107", 1, "forward", "needs a name", "`forward acc(x, v):`"),
    ("resume: x", "E0107", 1, "resume", "needs a name", "`resume t:`"),
    ("tape t(persistent=true): x", "E0102", 1, "(", "after a comma", "`tape t, persistent=true:`"),
    ("tape t, persistent: x", "E0107", 1, "persistent", "not an attribute", "`persistent=true`"),
    ("tape t, a=1, a=2: x", "E0102", 1, "a", "given twice", None),
    ("forward a: x", "E0107", 1, "forward a", "two arguments", "`forward a(x, v):`"),
    ("forward a(x): y", "E0107", 1, "forward a(x):", "two arguments", "`forward a(x, v):`"),
    ("forward a(x, v=1): y", "E0107", 1, "forward a(x, v=1):", "two arguments", None),
    # expect
    ("expect", "E0102", 1, "expect", "value is missing", "`expect a == b`"),
    ("expect a = 3", "E0102", 1, "=", "does not compare", "`expect a == 3`"),
    ("expect a ~= b, c", "E0107", 1, "c", "not an attribute", "one `expect`"),
    ("expect a ~= b rtol=1", "E0102", 1, "rtol", "comma is missing", "`expect a ~= b, rtol="),
    ("expect a ~= b ~= c", "E0102", 1, "~=", "between two values", "one `expect`"),
    ("expect a ~= b and c", "E0102", 1, "and", "", None),
    ("y = a ~= b", "E0102", 1, "~=", "belongs to `expect`", "`abs(a - b) < 1e-9`"),
    ("expect = 3", "E0102", 1, "expect", "reserved", "`expect_`"),
    # habits
    ("with tf.GradientTape() as t:\n  y = x^2\n", "E0102", 1, "with", "not needed", "`tape t:`"),
    ("with tf.GradientTape(persistent=True) as g:\n  y", "E0102", 1, "with", "not needed",
     "`tape g, persistent=true:`"),
    ("with t.stop_recording():\n  y", "E0102", 1, "with", "not needed", "`stop_recording t:`"),
    ("with tf.autodiff.ForwardAccumulator(x, v) as a:\n  y", "E0102", 1, "with", "not needed",
     "`forward a(x, v):`"),
    ("import numpy as np", "E0102", 1, "import", "nothing is imported", "`np.` works without it"),
    ("import tensorflow as tf", "E0102", 1, "import", "nothing is imported", "every operation"),
    ("from numpy import *", "E0102", 1, "from", "nothing is imported", "`np.` works without it"),
    ("class A:\n  x = 1", "E0102", 1, "class", "there are no classes", "`def f(x):`"),
    ("f = lambda x: x", "E0102", 1, "lambda", "there is no `lambda`", "`f(x) = ...`"),
    ("assert x == 2", "E0102", 1, "assert", "is written `expect`", "`expect x == 2`"),
    ("try:\n  x\n", "E0102", 1, "try", "", None),
    ("global x", "E0102", 1, "global", "`global` is not needed", "`return`"),
    ("del x", "E0102", 1, "del", "names are not deleted", "leave the line out"),
    ("import = 3", "E0102", 1, "import", "reserved word", "`import_`"),
    ("for = 3", "E0102", 1, "for", "reserved word", "`for_`"),
    ("pass = 3", "E0102", 1, "pass", "reserved word", "`pass_`"),
    ("if a:\n  x++", "E0111", 2, "++", "`++` is not an operator", "`x = x + 1`"),
    ("if a:\n  x += 1", "E0111", 2, "+=", "two meanings", "`x.assign_add(1)`"),
    ("if a: print x", "E0106", 1, "print x", "needs brackets", "`print(x)`"),
    ("np.linalg.norm(x)", "E0102", 1, "np.linalg", "not a constant of NumPy", "right behind `np.`"),
    ("y = np.mean", "E0102", 1, "np.mean", "not a constant of NumPy", "`np.mean(...)`"),
    # inside of blocks
    ("def f(x):\n  y = 1/2x\n  return y", "E0104", 2, "1/2x", "two ways", "`(1/2)*x`"),
    ("if a: y = sin x", "E0106", 1, "sin x", "needs brackets", "`sin(x)`"),
    ("if a: a, b", "E0107", 1, "a, b", "square brackets", "`[a, b]`"),
    ("if a:\n  1, 2 = 3\n", "E0107", 2, "1, 2", "not a list of names", None),
    ("if c: x + 1 = 2", "E0107", 1, "x + 1", "not a name", "`x + 1 == 2`"),
    ("if c:\n  y = (x + 1\n  z = 2\nw = 3", "E0103", 2, "(", "never closed", "`y = (x + 1)`"),
    ("if c:\n  y =\nz", "E0102", 2, "=", "value of `y` is missing", "`y = 0`"),
    ("if c: y = a = b", "E0107", 1, "=", "one `=`", "`a = b; y = a`"),
    ("while c: x=1 y=2", "E0102", 1, "y", "missing before `y`", None),
]


def told(text: str) -> list[Any]:
    error = error_of(text)
    assert error is not None
    return list(error.diagnostics)


@folded
@pytest.mark.parametrize(("text", "code", "line", "place", "message", "help_"), ERRORS,
                         ids=[text[:30] for text, *_ in ERRORS])
def test_error(text: str, code: str, line: int, place: str, message: str, help_: str | None
               ) -> None:
    (found,) = told(text)
    assert (found.code, found.source.position(found.span[0])[0]) == (code, line)
    assert text[slice(*found.span)] == place
    assert message in found.message
    assert help_ is None or help_ in (found.help or "")


@folded
@pytest.mark.parametrize(("text", "expected"), [
    # the head of a block: its lines are read all the same
    ("for i in range(3)\n  y = i^\n  z = 1\nw = 1/2x", [("E0112", 1), ("E0102", 2), ("E0104", 4)]),
    ("if x = 3:\n  y^\nelif z = 2:\n  y^\nelse:\n  z^\nw^", [
        ("E0102", 1), ("E0102", 2), ("E0102", 4), ("E0102", 6), ("E0102", 7)]),
    ("if x = 3: y\nelse: z^\nw", [("E0102", 1), ("E0102", 2)]),
    ("while (x:\n  break\n  y^\nz", [("E0103", 1), ("E0102", 3)]),
    ("def f(x)\n  return x\nz^", [("E0112", 1), ("E0102", 3)]),
    ("with g() as t:\n  y = t^\nelse:\n z", [("E0102", 1), ("E0102", 2)]),
    ("class A:\n  def f(self):\n    return 2^\nx^", [("E0102", 1), ("E0102", 3), ("E0102", 4)]),
    ("if a:\n  b\nelse c > 2:\n  d^\nelse:\n  e^", [("E0102", 3), ("E0102", 4), ("E0102", 6)]),
    # a line of a block: its neighbours know that they are in it
    ("for i in u:\n  y = i^\n  if y: break\n  z (\n  continue\nbreak", [
        ("E0102", 2), ("E0103", 4), ("E0113", 6)]),
    ("def f(x):\n  y = x^\n  if y:\n    z = 1/2x\n    return 3\n  else:\n    break\n"
     "  return 2 2\nq (", [("E0102", 2), ("E0104", 4), ("E0113", 7), ("E0105", 8), ("E0103", 9)]),
    ("if a:\n  b^\nelif c:\n  d^\nelse:\n  e^\nf^", [("E0102", n) for n in (2, 4, 6, 7)]),
    ("if a: b^\nelse: c\nd^", [("E0102", 1), ("E0102", 3)]),
    ("tape t:\n  y = f(a,\n    b c\n  z = 1/2x\nw^", [("E0103", 2), ("E0104", 4), ("E0102", 5)]),
    ("if a:\n  if b:\n    (x\n  c = 1^\nd^\n", [("E0103", 3), ("E0102", 4), ("E0102", 5)]),
    # layout
    ("if a:\nb\n  c^\nd^", [("E0112", 1), ("E0102", 3), ("E0102", 4)]),
    ("a\n  b^\n  c\n    d^\ne^", [("E0102", n) for n in (2, 2, 4, 4, 5)]),
    ("if a:\n    b\n  c^\n  d\ne^", [("E0112", 3), ("E0102", 3), ("E0102", 5)]),
    ("if a:\n    b\n\tc^\n\td\ne^", [("E0112", 3), ("E0102", 3), ("E0102", 5)]),
    ("def f():\nif a:\n  b^\n", [("E0112", 1), ("E0102", 3)]),
    # decorators
    ("@custom_gradient\ndef f(x):\n  def grad(up)\n    return up^\n  return x",
     [("E0112", 3), ("E0102", 4)]),
    ("@nothing\ndef f(x):\n  return x^\n@custom_gradient\ny^",
     [("E0114", 1), ("E0102", 3), ("E0114", 4), ("E0102", 5)]),
    ("@custom_gradient\ndef f(x): return x\nbreak", [("E0114", 2), ("E0113", 3)]),
    # whole blocks in front of a line that cannot begin one
    ("if a:\n  b\n)\nc^", [("E0103", 3), ("E0102", 4)]),
    ("def f(x):\n  return x\nwith y\nreturn 2", [("E0102", 3), ("E0113", 4)]),
    ("for a in u:\n  for b in u:\n    c\n* 2\nbreak", [("E0102", 4), ("E0113", 5)]),
])
def test_errors_of_several_lines(text: str, expected: list[tuple[str, int]]) -> None:
    assert [(d.code, d.source.position(d.span[0])[0]) for d in told(text)] == expected


def test_a_rule_that_is_missing_points_at_its_decorator() -> None:
    (found,) = told("@custom_gradient\ndef f(x):\n  return x\n")
    assert found.related == (((0, 16), "asks for a rule"),)


def test_at_most_twenty_errors_in_blocks() -> None:
    assert len(told("def f(x):\n" + "  if x = 2:\n    y^\n" * 50)) == 20


def test_blocks_are_imported_when_a_text_has_one() -> None:
    import subprocess
    import sys

    script = ("import sys\nfrom gradcli.lang.syntax.parser import parse\n"
              "from gradcli.base.errors import Source\n"
              "parse(Source('var x: float64 = 2, trainable=false; a, b = f(x)^2; print(a)'))\n"
              "print('gradcli.lang.syntax.blocks' in sys.modules)\n"
              "parse(Source('if x: pass'))\n"
              "print('gradcli.lang.syntax.blocks' in sys.modules)\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("name", ["persistent", "watch_accessed_variables"])
def test_an_attribute_without_comma_and_value(name: str) -> None:
    text = f"var x = 2.0\ntape t {name}:\n    y = x^2\nprint(t.gradient(y, x))\n"
    status, _, err = in_process(["run", "-"], text.encode())
    assert status == 3
    assert f"help: write `tape t, {name}=true:`" in err
    status, out, _ = in_process(["run", "-"], text.replace(
        f"tape t {name}:", f"tape t, {name}=true:").encode())
    assert (status, out) == (0, "4\n")
