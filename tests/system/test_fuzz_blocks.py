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
from program_generator import Generator
from test_fuzz import ask, refuse

from gradcli.engine.record import record as records
from gradcli.lang.running.methods import OF_ACCUMULATOR, OF_TAPE, OF_VARIABLE
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
HEADS = ("if {0}:", "while {0}:", "for k in {0}:", "for k, m in {0}:",
         "for k, m in zip({0}, {1}):", "for k in range(4):", "for k in [1, 2]:", "if p < 5:",
         "while p < 5 and p > 0:", "tape t:", "tape t, persistent=true:",
         "tape u, persistent={0}:", "tape t, watch_accessed_variables={0}:", "stop_recording t:",
         "stop_recording u:", "resume t:", "resume u:", "resume {n}:", "forward v({0}, {1}):",
         "forward v([x, w], [1.0, [1, 2, 3]]):", "def f(a):", "def f(a, b):",
         "@custom_gradient\n{i}def g(a):\n{i}    def grad(upstream):\n{i}        return {0}",
         "@gradient_of(floor)\n{i}def r(u, a):",
         "@gradient_of(adjust_contrast)\n{i}def r(u, a, b):")
SIMPLE = ("{n} = {0}", "{n} = {0}", "k, m = {0}", "var {n} = {0}", "const {n} = {0}",
          "var {n}: int64 = {0}", "var {n}: float32[:] = {0}, trainable={1}", "input {n} = {0}",
          "{n}.{m}({0})", "{n}.{m}({0}, {1})", "{n}.{m}()", "{n} = {n}.{m}({0}, {1})",
          "x.assign({0})", "x.assign_add({0})", "w.assign_sub({0})", "print({0})",
          "print({0}, {1})", "expect {0}", "expect {0} == {1}", "expect {0} ~= {1}, rtol={0}",
          "expect {0} != {1}",
          "expect {0} < {1}",
          "print(t.gradient({0}, {1}))", "print(t.gradient({0}, {1}, output_gradients={0}))",
          "print(t.jacobian({0}, {1}))", "print(v.jvp({0}))", "t.watch({0})", "t.reset()", "{0}",
          "f(a) = {0}", "{n} = t.gradient(y, [x, w])", "print(grad({0}, {1}))")
RETURNS = ("return {0}", "return {0}", "return {0}, {1}", "return")
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


class Hostile:
    """Programs from one stream of random numbers."""

    def __init__(self, stream: random.Random) -> None:
        self.random = stream
        self.spoiler = Generator(stream)

    def program(self) -> bytes:
        form = self.random.randrange(8)
        if form < 2:
            return self._lines_changed(self.random.choice(SOUND)).encode()
        if form == 2:
            text = self._lines_changed(self.random.choice(SOUND)).encode()
            return self.spoiler.spoiled(text, [one.encode() for one in SOUND])
        lines: list[str] = []
        for _ in range(self.random.choice((1, 2, 3, 5))):
            lines += self._statement("", self.random.choice((0, 1, 2, 3)), False, False)
        start = COVERED if self.random.random() < 0.3 else START
        return (start + "\n".join(lines) + "\n").encode()

    def _lines_changed(self, text: str) -> str:
        """A few lines dropped, doubled, moved, pushed in or out, or put in."""
        lines = text.splitlines()
        for _ in range(self.random.choice((0, 1, 2, 4))):
            at = self.random.randrange(len(lines))
            form = self.random.randrange(6)
            if form == 0 and len(lines) > 1:
                del lines[at]
            elif form == 1:
                lines.insert(at, lines[at])
            elif form == 2:
                lines.insert(self.random.randrange(len(lines)), lines.pop(at))
            elif form == 3:
                lines[at] = "    " + lines[at]
            elif form == 4:
                lines[at] = lines[at].removeprefix("    ")
            else:
                margin = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
                lines[at:at] = self._statement(margin, 1, False, False)
        return "\n".join(lines) + "\n"

    def _statement(self, margin: str, depth: int, loop: bool, function: bool) -> list[str]:
        if depth == 0 or self.random.random() < 0.3:
            forms = [*SIMPLE, *("break", "continue") * (3 * loop), *RETURNS * (2 * function)]
            return [margin + self._filled(self.random.choice(forms), margin)]
        head = self.random.choice(HEADS)
        inner = margin + "    "
        defines = "def " in head
        loop = head.startswith(("for", "while")) or (loop and not defines)
        lines = [margin + self._filled(head, margin)]
        for _ in range(self.random.choice((1, 1, 2, 3))):
            lines += self._statement(inner, depth - 1, loop, function or defines)
        if head.startswith("if") and self.random.random() < 0.5:
            other = self.random.choice(("else:", "elif {0}:"))
            lines.append(margin + self._filled(other, margin))
            lines += self._statement(inner, depth - 1, loop, function)
        return lines

    def _filled(self, template: str, margin: str) -> str:
        return (template.replace("{0}", self._value(2)).replace("{1}", self._value(1))
                .replace("{n}", self.random.choice(NAMES[:13])).replace("{i}", margin)
                .replace("{m}", self.random.choice(METHODS)))

    def _value(self, depth: int) -> str:
        choose = self.random.choice
        if depth == 0 or self.random.random() < 0.4:
            return choose(NAMES)
        one, other = self._value(depth - 1), self._value(depth - 1)
        return choose((
            f"{choose(CALLS)}({one})", f"{choose(CALLS)}({one}, {other})", f"({one})*({other})",
            f"({one}) + ({other})", f"({one}) < ({other})", f"[{one}, {other}]",
            f"({one})[{other}]", f'{{"a": {one}}}', f"({one}) and ({other})", f"-({one})",
            f"({one}).T",
            f"{choose(NAMES[:13])}.{choose(METHODS)}({one}, {other})",
            f"t.gradient({one}, {other})"))


def inputs(number: int, count: int) -> Iterator[tuple[list[str], bytes]]:
    """(argv, text)"""
    stream = drawn(f"gradcli blocks {number}")
    hostile = Hostile(stream)
    for _ in range(count):
        data = hostile.program()
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
