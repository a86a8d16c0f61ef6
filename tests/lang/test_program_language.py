"""The language of blocks, statement by statement: what each form does, its scope, and what is told
where it cannot work. Numbers are computed by hand, by mpmath or by the same steps in Python.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path

import mpmath
import pytest
from asked import run_text
from conftest import folded
from transcripts import in_process

from gradcli import loads


def printed(text: str, *arguments: str) -> list[str]:
    """The lines that a program prints; it fails nowhere and has nothing else to say."""
    status, out, err = run_text(text, *arguments)
    assert (status, err) == (0, ""), err
    return out.splitlines()


def numbers(text: str, *arguments: str) -> list[float]:
    return [float(line) for line in printed(text, *arguments)]


def failure(text: str, *arguments: str) -> tuple[str, int, str]:
    """(code, line, message) of the one error of a program; it has a help line."""
    status, _, err = run_text(text, *arguments, "--format", "json")
    assert status == 3, err
    message = json.loads(err)
    assert "errors" not in message
    one = message["error"]
    assert one["help"], one
    assert "\n" not in one["message"] + one["help"]
    return one["code"], one["line"], one["message"]


# --- values, names and scopes -------------------------------------------------------------------

@pytest.mark.parametrize(("text", "lines"), [
    # functions see the names of the file as they are when called; what they bind is their own
    ("x = 1\ndef f(a):\n    return a*x\nx = 5\nprint(f(2))\nx = 6\nprint(f(2))", ["10", "12"]),
    ("def f(a):\n    x = a\n    return x\nx = 1\nprint(f(3), x)", ["3 1"]),
    ("def f(a):\n    a = a + 1\n    return a\na = 1\nprint(f(a), a)", ["2 1"]),
    ("def f():\n    for k in range(3): pass\n    return k\nk = 7\nprint(f(), k)", ["2 7"]),
    ("def f(a):\n    total = total + a\n    return total\ntotal = 5\nprint(f(1), f(1), total)",
     ["6 6 5"]),
    ("def f(a):\n    return h(a)\ndef h(a):\n    return 3*a\nprint(f(1))", ["3"]),
    ("def f(a): return a\ndef f(a): return 2*a\nprint(f(1))", ["2"]),
    # functions in functions, and closures
    ("def outer(a):\n    def inner(b):\n        return a*b\n    return inner(2) + inner(3)\n"
     "print(outer(10))", ["50"]),
    ("def outer(a):\n    def inner(b):\n        a = 100\n        return a*b\n    c = inner(2)\n"
     "    return a + c\nprint(outer(1))", ["201"]),
    ("def outer(n):\n    def even(k):\n        return true if k == 0 else odd(k - 1)\n"
     "    def odd(k):\n        return false if k == 0 else even(k - 1)\n    return even(n)\n"
     "print(outer(10), outer(7))", ["true false"]),
    # blocks open no scope, and loop variables stay
    ("if 2 > 1:\n    inside = 4\nprint(inside)", ["4"]),
    ("for k in range(3):\n    last = k\nprint(k, last)\nfor k in range(0): pass\nprint(k)",
     ["2 2", "2"]),
    ("tape t:\n    y = 3\nprint(y)", ["3"]),
    # a second name of a variable is the same variable
    ("var w = 1\nh = w\nw.assign(5)\nprint(h)\nh.assign(6)\nprint(w)", ["5", "6"]),
    ("var w = 1\ndef bump(v):\n    v.assign_add(1)\nbump(w)\nbump(w)\nprint(w)", ["3"]),
    ("var w = 1\nL = [w, w]\nL[0].assign(4)\nprint(L[1], w)", ["4 4"]),
    ("var w = 1\ny = w\nw = w + 1\nprint(w, y)\ny.assign(7)\nprint(w, y)", ["2 1", "2 7"]),
    # arguments by name, several values
    ("def f(a, b): return a - b\nprint(f(b=1, a=5), f(5, b=1))", ["4 4"]),
    ("def f(a): return a, a^2\np, q = f(3)\nprint(p, q, f(2))", ["3 9 [2, 4]"]),
    ("def f(a):\n    b = a\nprint(f(1))\ndef g(a):\n    return\nprint(g(1))", ["None", "None"]),
    ("a, b = [[1, 2], [3, 4]]\nprint(b)\na, b = {\"x\": 1, \"y\": 2}\nprint(a, b)",
     ["[3, 4]", "1 2"]),
    # a name of an operation may be a variable; a function of the file hides the operation
    ("gamma = 3\nprint(gamma, gamma(5))", ["3 24"]),
    ("def sin(a):\n    return 100*a\nprint(sin(2))", ["200"]),
])
def test_names_and_scopes(text: str, lines: list[str]) -> None:
    assert printed(text) == lines


@pytest.mark.parametrize(("text", "lines"), [
    ("if 1 > 2: print(1)\nelif 2 > 1: print(2)\nelse: print(3)", ["2"]),
    ("if \"\": print(1)\nelif []: print(2)\nelif 0: print(3)\nelse:\n    print(4)", ["4"]),
    ("k = 0\nwhile k < 6:\n    k = k + 1\n    if k == 2: continue\n    if k == 4: break\n"
     "    print(k)\nprint(\"end\", k)", ["1", "3", "end 4"]),
    ("for a in [1, 2.5]: print(a)", ["1", "2.5"]),
    ("for a in [[1, 2], [3, 4]]: print(a)", ["[1, 2]", "[3, 4]"]),
    ("for a in [1, \"b\", none]: print(a)", ["1", "b", "None"]),
    ("for a in {\"x\": 1, \"y\": 2}: print(a)", ["x", "y"]),
    ("for a, b in zip([1, 2], [3, 4]): print(a*b)", ["3", "8"]),
    ("for a, b in [[1, 2], [3, 4]]: print(a, b)", ["1 2", "3 4"]),
    ("for a, b, c in zip(range(2), [1.5, 2.5], linspace(0, 1, 2)): print(a, b, c)",
     ["0 1.5 0", "1 2.5 1"]),
    ("for a in range(3, 0, -1): print(a)", ["3", "2", "1"]),
    ("for a in range(2.0, 4.0): print(a)", ["2", "3"]),
    ("for a in linspace(0, 1, 3): print(a)", ["0", "0.5", "1"]),
    ("for a in []: print(a)\nfor a in range(0): print(a)\nfor a in zeros(0): print(a)", []),
    ("for i in range(3):\n    for j in range(3):\n        if j > i: break\n        print(i, j)",
     ["0 0", "1 0", "1 1", "2 0", "2 1", "2 2"]),
    ("items = [1, 2]\nfor a in items:\n    items = [9]\n    print(a, items)", ["1 [9]", "2 [9]"]),
    ("def f(x):\n    while true:\n        x = x + 1\n        if x > 10: return x\nprint(f(0))",
     ["11"]),
    ("def f():\n    for k in range(5):\n        for j in range(5):\n"
     "            if j == 2: return k, j\n"
     "print(f())", ["[0, 2]"]),
    ("pass\nif true: pass\nprint(1)", ["1"]),
])
def test_control_flow(text: str, lines: list[str]) -> None:
    assert printed(text) == lines


def test_recursion_to_the_depth_budget() -> None:
    text = "def down(n):\n    if n <= 0:\n        return 0\n    return 1 + down(n - 1)\n"
    assert printed(text + "print(down(999))") == ["999"]
    assert failure(text + "print(down(1100))")[:2] == ("E0402", 4)
    nested = text.replace("return 1 +", "tape t:\n        y = n\n    return 1 +")
    assert printed(nested + "print(down(500))") == ["500"]


# --- variables and declarations -----------------------------------------------------------------

@pytest.mark.parametrize(("text", "lines"), [
    ("var x = 3\nx.assign(4)\nprint(x)\nx.assign_add(0.5)\nx.assign_sub(1)\nprint(x)", ["4",
     "3.5"]),
    ("var x = 3\ny = x.assign(5)\nprint(y)\nx.assign(value=6)\nprint(y, x.read_value())",
     ["5", "6 6"]),
    ("var w = [1, 2]\nw.assign([w[1], 5])\nprint(w)\nw.assign_add(1)\nprint(w)", ["[2, 5]",
     "[3, 6]"]),
    ("var w = [1, 2]\nw.assign(range(2))\nprint(w)", ["[0, 1]"]),
    ("var n: int64 = 3\nn.assign(4)\nn.assign_add(2)\nprint(n, n/4)", ["6 1.5"]),
    ("var s: string = \"a\"\ns.assign(\"b\")\nprint(s)", ["b"]),
    ("var b: bool = true\nb.assign(false)\nprint(b, not b)", ["false true"]),
    ("var A: float32[2, :] = [[1, 2, 3], [4, 5, 6]]\nprint(A.shape, A[1, 2])", ["[2, 3] 6"]),
    ("const c: int32 = 3\nprint(c)\ninput i: float64[2] = [1, 2], domain=[0, 5]\nprint(i)",
     ["3", "[1, 2]"]),
    ("var a = 1\nvar b = 2, trainable=false\nprint(trainable_variables(), trainable_variables(b))",
     ["[1] []"]),
    ("for k in range(3):\n    var v = float(k)\nprint(v)", ["2"]),
    ("def make(a):\n    var v = a\n    v.assign_add(1)\n    return v\nprint(make(1), make(5))",
     ["2 6"]),
])
def test_variables(text: str, lines: list[str]) -> None:
    assert printed(text) == lines


def test_a_variable_keeps_what_was_recorded() -> None:
    """The value that a tape saw stays, whatever is assigned afterwards."""
    text = ("var x = 3.0\ntape t, persistent=true:\n    y = x^2\nx.assign(10)\n"
            "print(t.gradient(y, x), y, x)\n")
    assert printed(text) == ["6 9 10"]


@folded
@pytest.mark.parametrize(("text", "code", "line"), [
    ("var x = 3\nx.assign([1, 2])", "E0301", 2), ("var x = [1, 2]\nx.assign(3)", "E0301", 2),
    ("var x = [1, 2]\nx.assign_add([1, 2, 3])", "E0301", 2),
    ("var x = [1, 2]\nx.assign_add(ones(2, 2))", "E0301", 2),
    ("var x = 3\nx.assign(\"a\")", "E0302", 2), ("var x = 3\nx.assign(none)", "E0302", 2),
    ("var x = 3\nx.assign({\"a\": 1})", "E0302", 2), ("var x = 3\nx.assign()", "E0207", 2),
    ("var x = 3\nx.assign(1, 2)", "E0207", 2), ("var x = 3\nx.assign(v=1)", "E0208", 2),
    ("var n: int64 = 3\nn.assign(4.5)", "E0302", 2), ("var n: int64 = 3\nn.assign(inf)", "E0302",
     2),
    ("var n: int32 = 3\nn.assign_add(0.5)", "E0302", 2),
    ("var s: string = \"a\"\ns.assign(3)", "E0302", 2),
    ("var s: string = \"a\"\ns.assign_add(\"b\")", "E0302", 2),
    ("var s: string = \"a\"\nprint(s.T)", "E0308", 2), ("var s: string = \"a\"\ns + 1", "E0302", 2),
    ("x = 3\nx.assign(4)", "E0318", 2), ("const x = 3\nx.assign(4)", "E0318", 2),
    ("var x = 3\nx.sin()", "E0318", 2), ("var x = 3\nx.asign(3)", "E0318", 2),
    ("x.assign(4)", "E0203", 1), ("var x = 3, trainable=2", "E0306", 1),
    ("var x = 3, trainabel=false", "E0208", 1), ("var x: float65 = 3", "E0306", 1),
    ("var n: int64 = 2.5", "E0306", 1), ("var x: float64[2] = [1, 2, 3]", "E0301", 1),
    ("input x = 7, domain=[0, 5]", "E0405", 1), ("input x = 7, domain=3", "E0405", 1),
    ("var x = \"a\" + 1", "E0302", 1), ("var x = {\"a\": 1}", "E0306", 1),
])
def test_variables_refused(text: str, code: str, line: int) -> None:
    assert failure(text)[:2] == (code, line)


# --- tapes --------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "lines"), [
    ("var x = 3\ntape t:\n    y = x^2\nprint(t.gradient(y, x))", ["6"]),
    ("var x = 3\ntape t, persistent=true:\n    y = x^2\n    z = y^2\n"
     "print(t.gradient(y, x), t.gradient(z, x), t.gradient(z, y))", ["6 108 18"]),
    ("x = 3\ntape t:\n    t.watch(x)\n    y = x^2\nprint(t.gradient(y, x))", ["6"]),
    ("var x = 3\ntape t, watch_accessed_variables=false:\n    t.watch(x)\n    y = x^2\n"
     "print(t.gradient(y, x), t.watched_variables())", ["6 [3]"]),
    # structures
    ("var w = 2\nvar b = 1\ntape t, persistent=true:\n    y = w^2 + 3b\n"
     "print(t.gradient(y, [w, b]), t.gradient(y, {\"w\": w, \"b\": b}), t.gradient([y, w], w))",
     ["[4, 3] {w: 4, b: 3} 5"]),
    ("var x = [1, 2]\nvar y = 3\ntape t, persistent=true:\n    p = x*y\n    q = x + y\n"
     "    r = sum(p)\n    s = sum(q)\nprint(t.gradient(p, y, output_gradients=[1, 2]))\n"
     "print(t.gradient([p, q], y, output_gradients=[[1, 2], [3, 4]]))\n"
     "print(t.gradient([r, s], y, output_gradients=[1, 10]))", ["5", "12", "23"]),
    ("var x = 2\nvar z = 5\ntape t, persistent=true:\n    y = x^2\n"
     "print(t.gradient(y, z, unconnected_gradients=\"zero\"), t.gradient(y, [], none))", ["0 []"]),
    ("var x = [1, 2]\ntape t:\n    y = x^3\nprint(t.jacobian(y, x))", ["[[3, 0], [0, 12]]"]),
    ("var x = [[1, 2], [3, 4]]\ntape t:\n    y = x^2\nprint(t.batch_jacobian(y, x))",
     ["[[[2, 0], [0, 4]], [[6, 0], [0, 8]]]"]),
    # a loop leaves its tapes, whichever way
    ("var x = 2\nfor k in range(4):\n    tape t:\n        y = x^2*float(k)\n"
     "        if k == 1: continue\n"
     "        if k == 3: break\n    print(k, t.gradient(y, x))\nprint(k, t.gradient(y, x))",
     ["0 0", "2 8", "3 12"]),
    ("var x = 2\ndef f():\n    tape t:\n        y = x^3\n        return t, y\na, b = f()\n"
     "print(a.gradient(b, x))", ["12"]),
    ("var x = 2\ndef f():\n    for k in range(5):\n        tape a:\n"
     "            for j in range(5):\n"
     "                tape b:\n                    if j == 2: return k\nprint(f())\n"
     "tape t:\n    y = x^2\nprint(t.gradient(y, x))", ["0", "4"]),
    # nesting: derivatives of derivatives
    ("var x = 2\ntape outer:\n    tape inner:\n        y = x^3\n    d = inner.gradient(y, x)\n"
     "print(d, outer.gradient(d, x))", ["12 12"]),
    ("var x = 2\ntape a:\n    tape b:\n        tape c:\n            y = x^4\n"
     "        p = c.gradient(y, x)\n"
     "    q = b.gradient(p, x)\nprint(p, q, a.gradient(q, x))", ["32 48 48"]),
    # pauses, resets, second blocks
    ("var x = 2\ntape t, persistent=true:\n    y = x^2\n    stop_recording t:\n        z = x^3\n"
     "    w = y + z\n"
     "print(t.gradient(w, x), t.gradient(z, x, unconnected_gradients=\"zero\"))", ["4 0"]),
    ("var x = 2\ntape t:\n    y = x^2\nq = x^3\nresume t:\n    z = y*q\nprint(t.gradient(z, x))",
     ["32"]),
    ("var x = 2\ntape t, persistent=true:\n    y = x^2\n    t.reset()\n    z = x*y\n"
     "print(t.gradient(z, x))",
     ["4"]),
    ("var x = 2\ntape t:\n    y = x^2\ntape t:\n    z = x^3\nprint(t.gradient(z, x))", ["12"]),
    # the verbs use the innermost open tape
    ("var x = 2\ntape t:\n    y = x^3\n    print(grad(y, x), hessian(y, x), jvp(y, x, 2))",
     ["12 12 24"]),
    ("var x = 2\ntape t:\n    y = x\ndef f(a): return a^3\nprint(f'(2), f''(2), f'''(x))",
     ["12 12 6"]),
])
def test_tapes(text: str, lines: list[str]) -> None:
    assert printed(text, "-q") == lines


@pytest.mark.parametrize(("text", "lines"), [
    ("x = 2.0\nforward a(x, 1.0):\n    y = x^3\nprint(a.jvp(y), a.jvp(x))", ["12 1"]),
    ("var w = [1, 2]\nforward a(w, [1, 10]):\n    y = w^2\n    z = sum(y)\n"
     "print(a.jvp(y), a.jvp([y, z]))",
     ["[2, 40] [[2, 40], 42]"]),
    ("x = 2.0\nz = 3.0\nforward a([x, z], [1, 10]):\n    y = x*z\nprint(a.jvp({\"y\": y}))",
     ["{y: 23}"]),
    ("x = 2.0\nz = 3.0\nforward a({\"p\": x, \"q\": z}, {\"p\": 1, \"q\": 10}):\n    y = x*z\n"
     "print(a.jvp(y))", ["23"]),
    ("x = 2.0\nforward a(x, 1.0):\n    forward b(x, 1.0):\n        y = x^4\n    p = b.jvp(y)\n"
     "print(p, a.jvp(p))", ["32 48"]),
    ("var x = 2.0\nforward a(x, 1.0):\n    tape t:\n        y = x^3\n    g = t.gradient(y, x)\n"
     "print(g, a.jvp(g))", ["12 12"]),
    ("x = 2.0\nforward a(x, 1.0):\n    y = 3.0\nz = x^2\n"
     "print(a.jvp(y, unconnected_gradients=\"zero\"))",
     ["0"]),
])
def test_forward_accumulators(text: str, lines: list[str]) -> None:
    assert printed(text) == lines


X = "var x = 2.0\n"
TAPE = X + "tape t:\n    y = x^2\n"


@folded
@pytest.mark.parametrize(("text", "code", "line"), [
    (TAPE + "t.gradient(y, x)\nt.gradient(y, x)", "E0501", 5), (TAPE + "grad(y, x)", "E0502", 4),
    (TAPE + "t.reset()", "E0504", 4), (TAPE + "stop_recording t:\n    z = y", "E0504", 4),
    (X + "tape t:\n    resume t:\n        y = x", "E0504", 3),
    (X + "tape t:\n    stop_recording t:\n        stop_recording t:\n            y = x", "E0504",
     4),
    (X + "resume t:\n    y = x", "E0507", 2), (X + "stop_recording x:\n    y = x", "E0507", 2),
    (X + "tape t, persistant=true:\n    y = x", "E0208", 2), (X + "tape t, persistent=1:\n"
     "    y = x",
                                                             "E0306", 2),
    (TAPE + "t.watch(3)", "E0310", 4), (TAPE + "t.watch(\"x\")", "E0310", 4),
    (TAPE + "t.watch([x, 3])", "E0310", 4), (TAPE + "t.gradient(y, 3)", "E0310", 4),
    (TAPE + "t.gradient(y, \"x\")", "E0310", 4), (TAPE + "t.gradient(none, x)", "E0310", 4),
    (TAPE + "t.gradient(t, x)", "E0310", 4), (TAPE + "t.gradient(y)", "E0207", 4),
    (TAPE + "t.gradient(y, x, 1, 2, 3)", "E0207", 4),
    (TAPE + "t.gradient(y, x, sources=x)", "E0207", 4),
    (TAPE + "t.gradient(y, x, wrt=3)", "E0208", 4), (TAPE + "t.grad(y, x)", "E0318", 4),
    (TAPE + "t.gradient(y, x, unconnected_gradients=\"nil\")", "E0312", 4),
    (TAPE + "t.gradient(y, x, unconnected_gradients=[1, 2])", "E0312", 4),
    (TAPE + "t.gradient([y, y], x, output_gradients=[1, 2, 3])", "E0313", 4),
    (TAPE + "t.gradient(y, x, output_gradients=[1, 2])", "E0301", 4),
    (TAPE + "t.jacobian([y, y], x)", "E0310", 4), (TAPE + "t.batch_jacobian(y, x)", "E0301", 4),
    (TAPE + "x.watch(y)", "E0318", 4), (TAPE + "y.gradient(y, x)", "E0318", 4),
    (TAPE + "t + 1", "E0302", 4), (TAPE + "sin(t)", "E0302", 4), (TAPE + "t == t", "E0302", 4),
    (TAPE + "t.T", "E0308", 4), (TAPE + "t[0]", "E0302", 4), (TAPE + "a, b = t", "E0307", 4),
    (TAPE + "if t: pass", "E0311", 4), (TAPE + "for k in t: pass", "E0317", 4),
    (TAPE + "zip(t, t)", "E0317", 4), (TAPE + "expect t < 3", "E0302", 4),
    (TAPE + "x.assign(t)", "E0302", 4), (TAPE + "var v = t", "E0306", 4),
    (TAPE + "[t, 1] + 1", "E0302", 4),
    ("forward a(1.0, 1.0):\n    y = 2", "E0310", 1), (X + "forward a(x, [1, 2]):\n    y = x",
     "E0301", 2),
    (X + "forward a(x, \"v\"):\n    y = x", "E0302", 2), (X + "forward a(x, none):\n    y = x",
     "E0309", 2),
    (X + "forward a([x, x], [1, 2]):\n    y = x", "E0310", 2),
    (X + "forward a({\"a\": x}, {\"b\": 1}):\n    y = x", "E0313", 2),
    (X + "forward a(x, 1), persistent=true:\n    y = x", "E0208", 2),
    (X + "forward a(x, 1):\n    y = x\na.gradient(y, x)", "E0318", 4),
])
def test_tapes_refused(text: str, code: str, line: int) -> None:
    assert failure(text)[:2] == (code, line)


def test_an_error_in_a_block_closes_its_tapes() -> None:
    """What follows runs as if the block had ended; errors that do not depend on it are told too."""
    text = ("var x = [1.0, 2.0]\ntape t:\n    forward a(x, [1, 1]):\n        stop_recording t:\n"
            "            y = x @ ones(3)\ng = grad(x^2, x)\nz = y + 1\n")
    status, out, err = run_text(text)
    assert (status, out) == (3, "")
    assert re.findall(r"error\[(E\d+)\]", err) == ["E0301", "E0502"]
    assert re.findall(r"--> <stdin>:(\d)", err) == ["5", "6"]


def test_a_missing_gradient_is_a_value_that_says_why_when_it_is_used() -> None:
    text = "x = 2.5\ng = grad(floor(x), x)\nexpect g == none\nL = [g, 1]\ny = 2*g\n"
    status, _, err = run_text(text)
    assert status == 3
    assert "error[E0309]: `multiply` cannot calculate with a gradient that is None" in err
    assert "= note: the path from x to floor(x) is cut by `floor(x)`" in err


# --- custom gradients ---------------------------------------------------------------------------

CUSTOM = ("@custom_gradient\ndef f(a):\n    def grad(upstream):\n        return {0}\n"
          "    return {1}\n")


@pytest.mark.parametrize(("text", "lines"), [
    (CUSTOM.format("upstream*10", "a^2") + "x = 3.0\ny = f(x)\nprint(y, grad(y, x), f'(2))",
     ["9 10 10"]),
    # the rule closes over what the function computed, and may be differentiated itself
    (CUSTOM.format("upstream*a*100", "a^2") + "def g(b):\n    return f(b)*f(b)\nx = 3.0\n"
     "print(g'(x), g''(x))", ["5400 181800"]),
    ("@custom_gradient\ndef f(a, b):\n    c = a*b\n    def grad(upstream):\n"
     "        return upstream*c, none\n"
     "    return a + b\nx = 3.0\ny = f(x, 2.0)\nprint(y, grad(y, x))", ["5 6"]),
    ("@custom_gradient\ndef f(a, b):\n    def grad(upstream):\n        return 10, 20\n"
     "    return a*b\n"
     "x = 3.0\nprint(grad(f(x, 2), x), grad(f(2, x), x), grad(f(x, x), x))", ["10 20 30"]),
    ("@custom_gradient\ndef f(a):\n    def grad(u, v):\n        return 7*u + 100*v\n"
     "    return a, a^2\n"
     "x = 3.0\ny, z = f(x)\nprint(y, z, grad(y, x), grad(z, x), grad([y, z], x))",
     ["3 9 7 100 107"]),
    ("var w = 2.0\nvar x = 3.0\n@custom_gradient\ndef f(a):\n    def grad(upstream, variables):\n"
     "        return upstream*7, [upstream*8]\n    return a*w\ntape t:\n    y = f(x)\n"
     "print(y, t.gradient(y, [x, w]))", ["6 [7, 8]"]),
    (CUSTOM.format("[2]", "2*a") + "x = [3.0]\ny = f(x)\nprint(grad(sum(y), x))", ["[2]"]),
    ("def outer(b):\n    @custom_gradient\n    def f(a):\n        def grad(upstream):\n"
     "            return upstream*a*b\n        return a*b\n    return f(b)\nx = 3.0\n"
     "print(outer(x), grad(outer(x), x))", ["9 9"]),
    (CUSTOM.format("stop_gradient(upstream)", "where(a > 0, a, 0)") + "x = -1.0\n"
     "print(grad(f(x)^2, x))",
     ["0"]),
    # operations without a gradient get one from the file
    ("@gradient_of(adjust_contrast)\ndef rule(upstream, image, factor):\n"
     "    return upstream*factor, none\n"
     "var p = [[[0.1], [0.5]]]\ntape t:\n    y = sum(adjust_contrast(p, 3.0))\n"
     "print(t.gradient(y, p))",
     ["[[[3], [3]]]"]),
])
def test_custom_gradients(text: str, lines: list[str]) -> None:
    assert printed(text) == lines


ASK = "x = 3.0\ny = f(x)\nprint(grad(y, x))"


@pytest.mark.parametrize(("text", "code", "line"), [
    (CUSTOM.format("upstream, upstream", "a") + ASK, "E0314", 3),
    (CUSTOM.format("\"text\"", "a") + ASK, "E0314", 3),
    (CUSTOM.format("[1, 2, 3]", "a") + ASK, "E0314", 8),
    (CUSTOM.format("upstream @ upstream", "a") + ASK, "E0301", 4),
    (CUSTOM.format("upstream", "a, a^2") + ASK, "E0207", 3),
    (CUSTOM.format("upstream", "f(a)") + ASK, "E0402", 5),
    (CUSTOM.format("upstream", "a").replace("    return a\n", "    b = a\n") + ASK, "E0316", 2),
    (CUSTOM.format("upstream", "a").replace("    def", "    if a < 0:\n      def").replace(
        "        return", "          return") + ASK, "E0316", 1),
    (CUSTOM.format("upstream", "a") + "f([1, \"a\"])", "E0302", 6),
    (CUSTOM.format("upstream", "a") + "f(\"a\")", "E0302", 6),
    (CUSTOM.format("upstream", "a") + "f(1, 2)", "E0207", 6),
    ("var w = 2.0\n" + CUSTOM.format("upstream", "a*w") + ASK, "E0316", 4),
    ("var w = 2.0\n" + CUSTOM.format("upstream", "a*w").replace("(upstream)", "(u, variables)")
     .replace("upstream", "u") + ASK, "E0314", 4),
    ("@gradient_of(sin)\ndef r(u, a): return u", "E0506", 1),
    ("@gradient_of(sinn)\ndef r(u, a): return u", "E0201", 1),
    ("@gradient_of(adjust_contrast)\ndef r(u): return u", "E0207", 2),
    ("var p = [[[0.1], [0.5]]]\ntape t:\n    y = adjust_contrast(p, 3.0)\nt.gradient(y, p)",
     "E0503", 3),
])
def test_custom_gradients_refused(text: str, code: str, line: int) -> None:
    assert failure(text)[:2] == (code, line)


# --- statements that are calls --------------------------------------------------------------------

@folded
@pytest.mark.parametrize(("text", "code", "line"), [
    ("for k in 3: pass", "E0317", 1), ("for k in \"abc\": pass", "E0317", 1),
    ("for k in none: pass", "E0317", 1), ("zip([1], 2)", "E0317", 1),
    ("zip([1, 2], [3])", "E0301", 1), ("range()", "E0207", 1), ("range(1, 2, 0)", "E0303", 1),
    ("range(2.5)", "E0303", 1), ("range(\"a\")", "E0303", 1), ("range(n=3)", "E0208", 1),
    ("print(1, sep=2)", "E0208", 1), ("while none: pass", "E0311", 1),
    ("while [1, 2]: pass", "E0311", 1), ("if none == none: x = 1 + none", "E0309", 1),
    ("a, b = 3", "E0307", 1), ("a, b = [1, 2, 3]", "E0307", 1), ("a, b = none", "E0307", 1),
    ("for a, b in [1, 2]: pass", "E0307", 1), ("def f(a): return a\nf()", "E0207", 2),
    ("def f(a): return a\nf(1, 2)", "E0207", 2), ("def f(a): return a\nf(b=2)", "E0207", 2),
    ("def f(a): return a\nf + 1", "E0205", 2), ("x = 3\nprint(x(2))", "E0206", 2),
    ("if 1 > 2:\n    q = 3\nprint(q)", "E0202", 3),
    ("def f(a):\n    if a > 0: z = 1\n    return z\nf(-1)", "E0202", 3), ("nosuch(3)", "E0201", 1),
    ("print(z)\nz = 3", "E0202", 1), ("y = np.nosuch(3)", "E0209", 1),
    ("x = 3.0\nexpect x == 3, rtol=1", "E0208", 2), ("expect 1 ~= 2, rtol=-1", "E0306", 1),
    ("expect 1 ~= 2, rtol=\"a\"", "E0306", 1), ("expect 1 ~= 2, tol=1", "E0208", 1),
    ("expect none", "E0311", 1), ("expect [1, 2]", "E0311", 1), ("expect none < 1", "E0309", 1),
    ("expect {} < 1", "E0302", 1), ("expect [1, \"a\"] == 3", "E0301", 1),
    ("load(3)", "E0207", 1), ("load(\"a.csv\", \"b.csv\")", "E0207", 1),
    ("load(\"a.csv\", header=true)", "E0208", 1), ("load(\"a.txt\")", "E0611", 1),
    ("load(\"/etc/passwd.csv\")", "E0610", 1), ("load(\"../a.csv\")", "E0610", 1),
    ("load(\"a\\\\b.csv\")", "E0610", 1), ("load(\"a\\0.csv\")", "E0610", 1),
])
def test_statements_refused(text: str, code: str, line: int) -> None:
    assert failure(text)[:2] == (code, line)


@folded
@pytest.mark.parametrize(("expectation", "holds"), [
    ("none == none", True), ("none != 1", True), ("[1, 2] == none", False), ("nan == nan", True),
    ("nan != nan", False), ("nan ~= nan", True), ("inf ~= inf", True), ("1 ~= inf", False),
    ("inf == -inf", False), ("\"a\" == \"a\"", True), ("\"a\" == 1", False), ("true == 1", True),
    ("int(1) == 1.0", True), ("[1, 2] == [1, 2]", True), ("[1, 2] == [1, 2, 3]", False),
    ("ones(2, 2) == [[1, 1], [1, 1]]", True), ("ones(2, 2) == 1", False),
    ("[1, 2] == [[1, 2]]", False),
    ("{\"a\": 1, \"b\": [1, nan]} == {\"a\": 1, \"b\": [1, nan]}", True),
    ("{\"a\": 1} == {\"b\": 1}", False), ("{\"a\": 1} == [1]", False), ("[] == []", True),
    ("[[1], \"a\"] == [[1], \"a\"]", True), ("zeros(0) == []", True), ("[1, 2] < [2, 3]", True),
    ("[1, 2] < 2", False), ("1 ~= 1 + 1e-10", True), ("1 ~= 1 + 1e-8", False),
    ("1 ~= 1 + 1e-8, rtol=1e-7", True), ("0 ~= 1e-13", True), ("0 ~= 1e-13, atol=0", False),
    ("[1, 2.0] ~= [1.0000000001, 2]", True), ("{\"a\": 1} ~= {\"a\": 1.1}, rtol=0.2", True),
    ("2 > 1 and 1 < 2", True), ("not 2 > 1", False), ("2 > 1", True),
    ("range(3) == [0, 1, 2]", True),
    ("[3, 4].shape == [2]", True), ("grad(floor(p), p) == none", True), ("grad(p^2, p) == 3", True),
    ("grad(p^2, [p, p]) == [3, 3]", True), ("grad(p^2, {\"a\": p}) == {\"a\": 3}", True),
])
def test_expectations(expectation: str, holds: bool) -> None:
    status, out, err = run_text(f"p = 1.5\nexpect {expectation}\n")
    assert (status, out) == (0 if holds else 1, ""), err
    assert err.startswith("<stdin>:2: expectation does not hold: ") != holds


def test_numpy_s_functions_leave_the_tape() -> None:
    text = ("x = [1.0, 2.0]\nprint(np.mean(x), np.sum(x), np.array(x), np.exp(0), np.pi)\n"
            "print(grad(np.sum(x^2), x) == none)\n")
    assert printed(text.replace(" == none", "").rsplit("print", 1)[0]) == [
        "1.5 3 [1, 2] 1 3.141592653589793"]
    status, out, err = run_text("x = 2.0\ny = np.sin(x)\nprint(grad(y, x))")
    assert (status, out) == (0, "None\n")
    assert "`np.sin(x)`, which is computed outside" in err


# --- files of numbers ---------------------------------------------------------------------------

def loaded_from(folder: Path, name: str) -> tuple[int, str, str]:
    (folder / "program.txt").write_text(f'print(load("{name}"))\n')
    return in_process(["run", str(folder / "program.txt")])


@pytest.mark.parametrize(("name", "content", "shown"), [
    ("a.csv", b"1,2\n3,4\n", "[[1, 2], [3, 4]]"), ("a.csv", b"x,y\n1,2\n3,4\n",
     "{x: [1, 3], y: [2, 4]}"),
    ("a.tsv", b"1\t2\n", "[[1, 2]]"), ("a.CSV", b"1\n\n2", "[[1], [2]]"),
    ("a.csv", b"\xef\xbb\xbf1,2\r\n3,4\r\n", "[[1, 2], [3, 4]]"),
    ("a.csv", b'"1"," 2 "\n', "[[1, 2]]"),
    ("a.csv", b"nan,inf\n-inf,1e400\n", "[[nan, inf], [-inf, inf]]"),
    ("a.csv", "größe,\"a,b\"\n1,2\n".encode(), "{größe: [1], a,b: [2]}"),
    ("sub/a.csv", b"1\n", "[[1]]"), ("./sub/../a.csv", b"1\n", "[[1]]"),
])
def test_files_of_numbers(tmp_path: Path, name: str, content: bytes, shown: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / name).write_bytes(content)
    status, out, err = loaded_from(tmp_path, name)
    assert (status, out) == (0, shown + "\n")
    assert ("NaN is made of plain numbers" in err) is ("nan" in shown)


@pytest.mark.parametrize(("content", "code", "words"), [
    (b"", "E0611", "is empty"), (b"\n\n", "E0611", "is empty"),
    (b"\xff\xfe1,2\n", "E0611", "not UTF-8"), (b"1" * 200_000, "E0611", "field larger"),
    (b"1,2\n3\n", "E0612", "line 2: 1 cells, not 2"), (b"1,2\n\n3,4,5\n", "E0612",
     "line 3: 3 cells"),
    (b"1,2\n3,abc\n", "E0612", "line 2, column 2: 'abc'"), (b"x,y\n1,\n", "E0612",
     "line 2, column 2: ''"),
    (b"1,2,\n1,2,\n", "E0612", "line 1, column 3: ''"), (b"x,,y\n1,2,3\n", "E0612",
     "column 2 has no name"),
    (b"x,x\n1,2\n", "E0612", "two columns are called `x`"),
    (b"x,y\n", "E0612", "a header and no numbers"),
    (b"1;2\n", "E0612", "a header and no numbers"), (b"1\n1_000\n", "E0612", "'1_000'"),
    ("1\n٣\n".encode(), "E0612", "line 2"), (b"1,2\n\x003,4\n", "E0612",
     "line 2, column 1: '\\x003'"),
    (b"1,2\n\x1b[31m,4\n", "E0612", "line 2"),
])
def test_files_that_hold_something_else(tmp_path: Path, content: bytes, code: str,
words: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    status, out, err = loaded_from(tmp_path, "a.csv")
    assert (status, out) == (3, "")
    assert err.startswith(f"error[{code}]: ")
    assert words in err
    assert "program.txt:1:12" in err
    assert all(c.isprintable() or c == "\n" for c in err)


def test_no_way_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("1\n")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/b.csv").write_text("2\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.csv").write_text("3\n")
    (home / "link.csv").symlink_to(tmp_path / "secret.csv")
    (home / "folder").symlink_to(tmp_path / "beside")
    (home / "inside.csv").symlink_to("a.csv")
    for name in ("../secret.csv", str(tmp_path / "secret.csv"), str(home / "a.csv"), "link.csv",
                 "folder/b.csv", "../home/../secret.csv"):
        status, out, err = loaded_from(home, name)
        assert (status, out) == (3, "")
        assert err.startswith("error[E0610]: "), name
    assert loaded_from(home, "inside.csv") == (0, "[[3]]\n", "")
    # The program's own place counts, not that of a link to it.
    assert loaded_from(home, "../home/a.csv") == (0, "[[3]]\n", "")


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")        # opened, it would wait for ever
    for name, words in (("folder.csv", "it is a folder"), ("pipe.csv", "it is no regular file"),
                        ("nosuch.csv", "no such file")):
        status, _, err = loaded_from(tmp_path, name)
        assert status == 3
        assert err.startswith("error[E0611]: cannot read ")
        assert words in err


def test_a_large_file_is_under_the_memory_budget(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1.0,2.0\n" * 20_000)
    (tmp_path / "program.txt").write_text('d = load("a.csv")\nprint(sum(d))\n')
    argv = ["run", str(tmp_path / "program.txt")]
    assert in_process(argv)[:2] == (0, "60000\n")
    status, _, err = in_process([*argv, "--max-memory", "100K"])
    assert status == 3
    assert err.startswith("error[E0403]: ")


# --- whole programs against other computations ----------------------------------------------------

def test_gradient_descent_takes_the_same_steps_as_python() -> None:
    text = ("var w = [0.5, -1.0]\nvar b = 0.1\nconst X = [[1, 2], [3, -1], [0.5, 4]]\n"
            "const y = [1, 2, 3]\nfor k in range(25):\n    tape t:\n        r = X @ w + b - y\n"
            "        loss = mean(r^2)\n    g = t.gradient(loss, [w, b])\n"
            "    w.assign_sub(0.05*g[0])\n"
            "    b.assign_sub(0.05*g[1])\nprint(w[0])\nprint(w[1])\nprint(b)\nprint(loss)\n")
    X, y, w, b = [[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]], [1.0, 2.0, 3.0], [0.5, -1.0], 0.1
    loss = 0.0
    for _ in range(25):
        r = [row[0]*w[0] + row[1]*w[1] + b - v for row, v in zip(X, y, strict=True)]
        loss = sum(v*v for v in r)/3
        slopes = [2/3*sum(v*row[k] for v, row in zip(r, X, strict=True)) for k in range(2)]
        b -= 0.05*2/3*sum(r)
        w = [w[k] - 0.05*slopes[k] for k in range(2)]
    assert numbers(text) == pytest.approx([*w, b, loss], rel=1e-13)


def test_a_series_and_its_derivatives_against_mpmath() -> None:
    """The Bessel function J0 by its power series, in a loop with a break; x = 1.7."""
    text = ("def series(x):\n    term = 1.0\n    total = 1.0\n    for k in range(1, 60):\n"
            "        n = float(k)\n        term = -term*(x/2)^2/(n*n)\n"
            "        total = total + term\n"
            "        if abs(term) < 1e-30: break\n    return total\n"
            "x = 1.7\nprint(series(x))\nprint(series'(x))\nprint(series''(x))\n"
            "print(series'''(x))\n")
    with mpmath.workdps(40):
        expected = [float(mpmath.diff(lambda v: mpmath.besselj(0, v), mpmath.mpf("1.7"), n))
                    for n in range(4)]
    assert numbers(text) == pytest.approx(expected, rel=1e-12)


def test_the_sensitivity_of_an_orbit_against_a_complex_step() -> None:
    """The logistic map: dx_n/dr after 30 steps, in a file by a tape, here by a complex step."""
    text = ("var r = 3.2\ntape t:\n    x = 0.3\n    k = 0\n    while k < 30:\n"
            "        x = r*x*(1 - x)\n"
            "        k = k + 1\nprint(x)\nprint(t.gradient(x, r))\n")
    x: complex = 0.3
    r = complex(3.2, 1e-200)
    for _ in range(30):
        x = r*x*(1 - x)
    assert numbers(text) == pytest.approx([x.real, x.imag/1e-200], rel=1e-12)


def test_a_branch_per_step_against_a_complex_step() -> None:
    """Piecewise dynamics: the branch is chosen anew in each step, by value."""
    text = ("def step(x, a):\n    if x > 1:\n        return x/a - sin(x)/10\n    elif x > 0.5:\n"
            "        return a*x^2 + 0.3\n    return exp(x)*a/2\nvar a = 1.3\nx = 0.2\ntape t:\n"
            "    for k in range(50):\n        x = step(x, a)\nprint(x)\nprint(t.gradient(x, a))\n")
    import cmath

    x: complex = 0.2
    a = complex(1.3, 1e-200)
    for _ in range(50):
        x = (x/a - cmath.sin(x)/10 if x.real > 1 else a*x**2 + 0.3 if x.real > 0.5
             else cmath.exp(x)*a/2)
    assert numbers(text) == pytest.approx([x.real, x.imag/1e-200], rel=1e-10)


def test_newton_s_method_with_the_second_derivative_of_a_tape() -> None:
    text = ("var x = 1.0\nfor k in range(30):\n    tape outer:\n        tape inner:\n"
            "            y = x^4 - 3x^2 + exp(x/2)\n        d = inner.gradient(y, x)\n"
            "    dd = outer.gradient(d, x)\n    if abs(d) < 1e-13: break\n"
            "    x.assign_sub(d/dd)\nprint(x)\n")
    with mpmath.workdps(30):
        root = float(mpmath.findroot(lambda v: 4*v**3 - 6*v + mpmath.exp(v/2)/2, 1.0))
    assert numbers(text) == pytest.approx([root], rel=1e-12)


def test_momentum_in_a_dictionary_of_variables() -> None:
    text = ("var a = 4.0\nvar b = -3.0\nva = 0.0\nvb = 0.0\nfor k in range(10):\n    tape t:\n"
            "        loss = a^2 + 10*b^2 + a*b\n    g = t.gradient(loss, {\"a\": a, \"b\": b})\n"
            "    va = 0.9*va + g[\"a\"]\n    vb = 0.9*vb + g[\"b\"]\n    a.assign_sub(0.01*va)\n"
            "    b.assign_sub(0.01*vb)\nprint(a)\nprint(b)\n")
    a, b, va, vb = 4.0, -3.0, 0.0, 0.0
    for _ in range(10):
        da, db = 2*a + b, 20*b + a
        va, vb = 0.9*va + da, 0.9*vb + db
        a, b = a - 0.01*va, b - 0.01*vb
    assert numbers(text) == pytest.approx([a, b], rel=1e-14)


def test_arc_length_of_a_recursive_midpoint_rule() -> None:
    """Recursion under the tape of the file: the integral of sqrt(1 + x^2) and its end's slope."""
    text = ("def rule(a, b, n):\n    m = (a + b)/2\n    if n == 0:\n        f = sqrt(1 + m^2)\n"
            "        return f*(b - a)\n    return rule(a, m, n - 1) + rule(m, b, n - 1)\n"
            "b = 2.0\ny = rule(0, b, 10)\nprint(y)\nprint(grad(y, b))\n")
    exact = (2*math.sqrt(5) + math.asinh(2))/2
    value, slope = numbers(text)
    assert value == pytest.approx(exact, rel=1e-6)
    assert slope == pytest.approx(math.sqrt(5), rel=1e-6)


def test_methods_of_tapes_are_known_before_a_program_runs() -> None:
    from gradcli.lang.running import names, recording

    assert set(names.OF_TAPE) == set(recording.OF_TAPE)


@pytest.mark.parametrize("command", ["grad", "jac", "hess", "derive", "verify", "steps", "taylor"])
def test_what_only_a_tape_watches_is_asked_about(command: str) -> None:
    """Of a file whose tape watches a constant; one that watches nothing has nothing to ask."""
    text = "x = 2.0\nk = 3.0\ntape t:\n    t.watch(x)\n    y = k*x^2\n"
    status, out, err = in_process([command, "-", "--format", "json"], text.encode())
    assert status == 0, err
    told = json.loads(out)
    assert '"x"' in out
    assert '"k"' not in out or command == "steps"  # its trace has every name
    if command == "grad":
        assert told["results"][0]["sources"][0]["gradient"] == 12
    status, _, err = in_process([command, "-"], text.replace("    t.watch(x)\n", "").encode())
    assert status == 3
    assert "E0211" in err


# --- none ---------------------------------------------------------------------------------------

NONES = """var x = 2.0
var w = 1.0
tape t, persistent=true:
    loss = x^2
g = t.gradient(loss, w)
d = t.gradient(loss, x)
n = none
def missing(a): return a == none
"""
# Expressions with whether they are none.
ARE_NONE = {"g": True, "n": True, "none": True, "d": False, "x": False, "0": False, '"a"': False,
            "[1, 2]": False, "[g, n]": False, "[1.0, 2.0] * x": False, "true": False}


@pytest.mark.parametrize(("one", "is_none"), ARE_NONE.items())
def test_none_equals_none_and_nothing_else(one: str, is_none: bool) -> None:
    other = ["3", one][is_none]
    text = f"""print({one} == none, none == {one}, {one} != none, none != {one}, missing({one}))
print(7 if {one} == none else 8, not {one} == none, np.equal({one}, none), {one} == g)
if {one} != none:
    print("there")
print({other} == none)
"""
    yes, no = ("true", "false") if is_none else ("false", "true")
    expected = [f"{yes} {yes} {no} {no} {yes}", f"{7 if is_none else 8} {no} {yes} {yes}"]
    status, out, _ = run_text(NONES + text)
    assert status == 0
    assert out.splitlines() == [*expected, *([] if is_none else ["there"]), yes]


def test_a_comparison_with_none_is_no_operation() -> None:
    run = loads(NONES + "a = d == none\nb = g != none\nc = x == none\n").logged_run({})
    assert not {"equal", "not_equal"} & {entry[0].name for entry in run.record.history()}
    assert run.bindings["b"][0].value.value is False


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "+", "*"])
def test_none_is_no_number(sign: str) -> None:
    assert failure(f"n = none\nprint(n {sign} 1)")[:2] == ("E0309", 2)
