"""Programs of blocks, hostile and mutated: an answer or a coded error with a place, whatever they
are; no traceback, no hang, nothing left open.

1,500 inputs from fixed seeds, in this process: statements with any value in any place, and sound
programs with lines and characters changed. An alarm guards each input.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from draws import drawn
from program_grammars import in_places
from programs import Draw, Form, Grammar
from slips import spoiled
from test_fuzz import ask, refuse

from gradcli.engine.record import record as records
from gradcli.lang.running.recording import OF_ACCUMULATOR, OF_TAPE, OF_VARIABLE
from gradcli.lang.running.statements import STATEMENTS
from gradcli.lang.syntax.code import VERBS

INPUTS, SHARES = 1_500, 4
BUDGETS = ("--max-steps", "20000", "--max-memory", "1M")
FORMATS = ("plain", "plain", "json", "ndjson", "csv", "tsv", "markdown", "latex", "table")
# What the statements are about: one name of each kind of value.
START = """\
var x = 2.0
var w = [1.0, 2.0, 3.0]
var n: int64 = 3
var s: string = "text"
const c = 4.0
p = 1.5
L = [x, [p, w]]
D = {"a": x, "b": w}
k, m, u = [1, 2, 3]
def f(a):
    return a*x
@custom_gradient
def g(a):
    def grad(upstream):
        return upstream*2
    return a^2
tape t, persistent=true:
    y = x^2*sum(w)
q = t.gradient(y, p)
forward v(x, 1.0):
    z = x^3
"""
# The same under the tape that covers a file which opens none.
COVERED = START.replace("tape t, persistent=true:\n    y", "t = 5\ny").replace("t.gradient", "grad")
NAMES = ("x", "w", "n", "s", "c", "p", "L", "D", "q", "t", "v", "y", "z", "none", "true", "2",
         "0.5", "-1", "inf", "nan", "[]", "{}", "[1, 2]", "[[1], [2]]", '"x"', "range(3)",
         "zeros(0)",
         "int(2)", "float32(1)", "bool(1)", "f", "k", "m")
CALLS = (*VERBS, *STATEMENTS, "f", "g", "f'", "g''", "sin", "sum", "where", "matmul", "floor",
         "stack", "exp", "cast", "concat", "np.sin", "np.mean", "np.array", "relu", "cholesky",
         "reshape")
METHODS = (*OF_VARIABLE, *OF_TAPE, *OF_ACCUMULATOR, "nosuch", "sin")
# Any value in any place. v: a value, n: a name.
VALUES = {
    "v": [*NAMES, "{call}({v})", "{call}({v}, {v})", "({v})*({v})", "({v}) + ({v})",
          "({v}) < ({v})", "[{v}, {v}]", "({v})[{v}]", '{"a": {v}}', "({v}) and ({v})", "-({v})",
          "({v}).T", "{n}.{m}({v}, {v})", "t.gradient({v}, {v})"],
    "n": NAMES[:13], "m": METHODS, "call": CALLS}
SIMPLE = (
    "{n} = {v2}", "{n} = {v2}", "k, m = {v2}", "var {n} = {v2}", "const {n} = {v2}",
    "var {n}: int64 = {v2}", "var {n}: float32[:] = {v2}, trainable={v1}", "input {n} = {v2}",
    "{n}.{m}({v2})", "{n}.{m}({v2}, {v1})", "{n}.{m}()", "{n} = {n}.{m}({v2}, {v1})",
    "x.assign({v2})", "x.assign_add({v2})", "w.assign_sub({v2})", "print({v2})",
    "print({v2}, {v1})", "expect {v2}", "expect {v2} == {v1}", "expect {v2} ~= {v1}, rtol={v2}",
    "expect {v2} != {v1}", "expect {v2} < {v1}", "print(t.gradient({v2}, {v1}))",
    "print(t.gradient({v2}, {v1}, output_gradients={v2}))", "print(t.jacobian({v2}, {v1}))",
    "print(v.jvp({v2}))", "t.watch({v2})", "t.reset()", "{v2}", "f(a) = {v2}",
    "{n} = t.gradient(y, [x, w])", "print(grad({v2}, {v1}))")
HEADS = (
    *("while {v2}:", "for k in {v2}:", "for k, m in {v2}:", "for k, m in zip({v2}, {v1}):",
      "for k in range(4):", "for k in [1, 2]:", "while p < 5 and p > 0:"),
    *("tape t:", "tape t, persistent=true:", "tape u, persistent={v2}:",
      "tape t, watch_accessed_variables={v2}:", "stop_recording t:", "stop_recording u:",
      "resume t:", "resume u:", "resume {n}:", "forward v({v2}, {v1}):",
      "forward v([x, w], [1.0, [1, 2, 3]]):"),
    *("def f(a):", "def f(a, b):", "@gradient_of(floor)\ndef r(u, a):",
      "@custom_gradient\ndef g(a):\n    def grad(upstream):\n        return {v2}",
      "@gradient_of(adjust_contrast)\ndef r(u, a, b):"))
BLOCKS = in_places(
    {"simple": SIMPLE, "block": ["{st}", "{st}\n{block}"],
     "otherwise": [Form("", 2), "\nelse:\n    {block=}", "\nelif {v2}:\n    {block=}"],
     "st": ["{simple}", *[f"{head}\n    {{block}}{{otherwise=}}" for head in (
         "if {v2}:", "if p < 5:")], *[
         head + "\n    {" + ("body " if "def " in head else "loop " if head[:3] in ("for", "whi")
                             else "") + "block}" for head in HEADS]]},
    ["break", "continue"]*3, ["return {v2}", "return {v2}", "return {v2}, {v1}", "return"]*2)
GRAMMAR = Grammar(
    {**VALUES, **BLOCKS, "any": ["{st0}", "{st1}", "{st2}", "{st3}"],
     "program": ["{any}\n", "{any}\n{any}\n", "{any}\n{any}\n{any}\n",
                 "{any}\n{any}\n{any}\n{any}\n{any}\n"]},
    ends={"v": 0.4, **dict.fromkeys([kind for kind in BLOCKS if kind[:2] == "st"], 0.3)})
SOUND = [START + more for more in (
    "print(t.gradient(y, [x, w]), v.jvp(z))\nexpect f(2) == 4\nexpect t.gradient(y, x) == 24\n",
    "for k in range(5):\n    tape t:\n        loss = (x - 3)^2\n"
    "    x.assign_sub(0.1*t.gradient(loss, x))\n    print(k, loss, x)\nexpect x ~= 2.67232\n",
    "while p < 10:\n    p = p*x\n    if p > 5: break\n    elif p > 4:\n        continue\n"
    "    else:\n        print(p)\ny = p\n",
    "def fact(a):\n    if a <= 1: return 1\n    return a*fact(a - 1)\n"
    "print(fact(6), f'(2), g'(3))\n",
    "tape outer:\n    tape inner:\n        y = x^3\n        stop_recording inner:\n"
    "            m = x^2\n    d = inner.gradient(y, x)\nprint(outer.gradient(d, x), m)\n",
    "for k, m in zip([1.0, 2.0], [3.0, 4.0]):\n    for j in range(3):\n        print(k*m, j)\n"
    "print(D[\"a\"], L[1][0])\nresume t:\n    y = y + x\nprint(t.jacobian(y, w))\n")]


def program(stream: random.Random) -> bytes:
    """Write a program of any statements, or spoil a sound one."""
    form, draw = stream.randrange(8), Draw(GRAMMAR, stream)
    if form > 2:
        start = COVERED if stream.random() < 0.3 else START
        return (start + draw.text("program", 4)).encode()
    text = lines_changed(draw, stream.choice(SOUND)).encode()
    return text if form < 2 else spoiled(stream, text, [one.encode() for one in SOUND])


def lines_changed(draw: Draw, text: str) -> str:
    """Drop, double, move, push in or out or put in a few lines."""
    lines, stream = text.splitlines(), draw.random
    for _ in range(stream.choice((0, 1, 2, 4))):
        at = stream.randrange(len(lines))
        form = stream.randrange(6)
        if form == 0 and len(lines) > 1:
            del lines[at]
        elif form == 1:
            lines.insert(at, lines[at])
        elif form == 2:
            lines.insert(stream.randrange(len(lines)), lines.pop(at))
        elif form == 3:
            lines[at] = "    " + lines[at]
        elif form == 4:
            lines[at] = lines[at].removeprefix("    ")
        else:
            margin = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
            lines[at:at] = [margin + line for line in draw.text("st", 1).splitlines()]
    return "\n".join(lines) + "\n"


def inputs(number: int, count: int) -> Iterator[tuple[list[str], bytes]]:
    """(argv, text)"""
    stream = drawn(f"gradcli blocks {number}")
    for _ in range(count):
        data = program(stream)
        name = stream.choice(("run", "run", "run", "run", "grad", "grad", "jac", "hess", "eval"))
        argv = [name, "-", *BUDGETS, "--format", stream.choice(FORMATS)]
        if stream.random() < 0.2:
            argv.append(stream.choice(("-v", "-q")))
        if name != "run":
            if stream.random() < 0.5:
                argv += ["--of", stream.choice(("x", "y", "z", "t", "v", "q", "L", "D", "p", "s"))]
            if name != "eval":
                argv += stream.choice(([], [], ["--tape", stream.choice("tu")], ["--wrt", "x,p"],
                                       ["--tf"], ["--unconnected=zero"], ["--watch", "c"]))
        yield argv, data


def judge(argv: list[str], data: bytes) -> int:
    """Run one input and hold it to the contract; its status."""
    status, out, err = ask(argv, data)
    told = (f"{argv}\n{data.decode('utf-8', 'replace')}\nstatus {status}\n{out[-800:]}\n"
            f"{err[-2000:]}")
    assert status in (0, 1, 3), told
    format = argv[argv.index("--format") + 1]
    record = records.current()
    assert (record.tapes, record.accumulators, record.paused) == ([], [], False), told
    if format == "json" and status != 3:
        assert json.loads(out, parse_constant=refuse)["schema"] == 1, told
    if format == "ndjson":
        for line in out.splitlines():
            assert json.loads(line, parse_constant=refuse)["schema"] == 1, told
    if status == 3:
        assert argv[0] == "run" or not out, told
        if format in ("json", "ndjson"):
            message = json.loads(err)
            for one in (message["error"], *message.get("errors", ())):
                assert one["line"] or not data, told
                # Of what stands where nothing can, nobody knows what it was to be.
                # Words side by side are no product: there is nothing that is right to advise.
                assert one["help"] or one["code"] in ("E0101", "E0102", "E0106"), told
        else:
            heads = re.findall(r"^error\[E0[1-6]\d\d\]: \S.*\n( +)--> \S", err, re.MULTILINE)
            assert heads, told
            assert len(heads) == err.count("error[E0"), told
    elif status == 1:
        assert argv[0] == "run", told
        assert "expectation does not hold" in err, told
    assert all(c.isprintable() or c in "\n\t" for c in out + err), told
    return status


@pytest.mark.parametrize("share", range(SHARES))
def test_programs_of_blocks(share: int) -> None:
    found: Counter[int] = Counter()
    wrong = []
    for argv, data in inputs(share, INPUTS // SHARES):
        try:
            found[judge(argv, data)] += 1
        except AssertionError as problem:
            wrong.append(str(problem))
    assert not wrong, f"{len(wrong)} inputs, such as\n" + "\n".join(sorted(wrong, key=len)[:3])
    assert min(found[0], found[3]) > INPUTS // SHARES // 12, found
