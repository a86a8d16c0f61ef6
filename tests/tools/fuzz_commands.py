"""Inputs without end for the whole command line: all commands, options, formats and files.

    python tests/tools/fuzz_commands.py --count 500000 [--seed N] [--first K]  the long run
    python tests/tools/fuzz_commands.py --only K [--seed N]  one input again, told

Whatever is given, the answer is an answer or an error with a code: no traceback, no status 70, no
bare warning, no hang, and JSON and CSV that read back. An input has a number; (seed, number) is all
that it is made of. Inputs run in children of this process, so that one that kills its process is a
finding like any other. What fails is shortened before it is shown.
"""

from __future__ import annotations

import argparse
import csv
import gc
import io
import json
import mmap
import os
import random
import re
import resource
import shlex
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from alarms import Hang, alarm
from asked import valid
from conftest import one_application
from folders import ROOT
from jsonschema.exceptions import ValidationError
from program_grammars import blocks, point, sound, wild
from slips import noise, soup, spoiled

from gradcli.base.workers import pools
from gradcli.cli.environment import Environment
from gradcli.cli.main import run
from gradcli.cli.options import Option, commands, find, read
from gradcli.ops import NAMES, TABLE

COMMANDS = [row.name for row in commands()]

COLOUR = r"\x1b\[[0-9;]*m"
FORMULAS = [text.encode() for text in (
    "x^2*sin(y)+exp(x*y)", "100(y-x^2)^2+(1-x)^2", "[x*cos(y), x*sin(y)]", "2x^2 + 3sin(x)",
    "f(t) = t^3; f'(x) + f''(y)", "var w = [1, 2]; const c = 3\nsum(w^2)*c",
    "y = x²·π − √(x)",
    "g = grad(x^3, x)\ngrad(g, x)", "x if x > 0 else -x", "A = [[1, 2], [3, 4]]\nsum(A @ A.T)*x",
    "input x = 2, domain=[0, 5]\nlog(x)/x", "a, b = [x, y]; a*b", "floor(x)*y",
    "where(x > 0, x, y)",
    "softplus(x) + logaddexp(x, y)", "# nothing\n\nx")]
SECONDS = 60        # of work per input: a thousand times what one takes
MEMORY = 3 * 1024 ** 3
SHARE = 5000        # inputs that one child runs; its start takes as long as a thousand of them
LISTENS = 0.05      # seconds that a scheduler may take to answer
VALIDATED = 20_000  # characters of JSON that are held to a schema

Files = dict[str, bytes]


class Case(NamedTuple):
    """A command line with what it reads: standard input, and the files of its folder."""

    argv: list[str]
    stdin: bytes
    files: Files

    def __str__(self) -> str:
        lines = [f"gradcli {shlex.join(self.argv)}"]
        lines += [f"  {name}: {data!r}" for name, data in
                  [("stdin", self.stdin), *self.files.items()] if data]
        return "\n".join([line if len(line) < 3000 else line[:3000] + " ..." for line in lines])


# --- what inputs are made of ----------------------------------------------------------------------

EXTREME = (
    "0", "-0.0", "1", "-1", "0.5", "3", "2", "1e200", "-1e200", "1e308", "5e-324", "1e-320",
    "1e-200", "inf", "-inf", "nan", "9" * 30, "1e400", "1e16", "709.8", "-745.2", "170.7", "[]",
    "[[]]", "[0]", "[1e200, 1e-200]", "[1, 2, 3]", "[[1, 2], [3, 4]]", "[[0, 0], [0, 0]]",
    "zeros(0, 3)", "ones(3, 0)", "zeros(2, 0, 2)", "ones(200)", "ones(2, 3, 4)", '"a"', '""',
    '["a", "b"]', "true", "[true, false]", "none", "int(2)", "int([])", "int([1, 2])",
    "int(-9223372036854775807)", "float32(1e38)", "float32(1e-45)", "float32([1, 3e38])",
    "float32([])", "bool(1)", "{'a': 1}", "[1, 'a']", "complex(1, 2)", "linspace(0, 1, 5)",
    "linspace(1, 2, 0)", "range(3)", "pi", "-pi/2", "[inf, nan]", "eye(2)", "eye(0)")
PLAIN = ("x^2", "sin(x)/x", "x^2*sin(y)", "sum(x)", "prod(x)", "x*y", "exp(x)", "log(x)", "[x, y]",
         "x^2 + y^2 - 25", "sqrt(x)", "[x*y, x + y]", "x @ y", "x[0]", "x.T", "norm(x)", "abs(x)",
         "[x^2, y, x*y]", "where(x > 0, log(x), 0)", "sum(x^2)", "x", "1", "x/y", "max(x, y)",
         "x if x > 0 else -x", "floor(x)", "tan(x)", "x^y", "1/x", "softmax(x)",
         "linspace(x, 2, 3)")
SAMPLES = {path: path.read_bytes() for path in sorted((ROOT / "samples").rglob("*.txt"))
           if path.stat().st_size < 4000 and "homework" not in path.parts}
DATA = (b"x,y\n1,2\n3,4\n", b"x\n1e200\n-1e200\n0\nnan\n", b"x,y\n", b"", b"x;y\n1;2\n",
        b'{"x": 1, "y": 2}\n{"x": [1, 2], "y": null}\n', b"x[0],x[1]\n1,2\n", b'x,"y"\n"1",""\n',
        b"x\n1\n1,2\n", b"\xef\xbb\xbfx\r\n1\r\n2\r\n", b"x\n=1\n", b"x,x\n1,2\n", b"x\nfoo\n",
        b'{"x": 1}\n[]\n', b'{"x": "a"}\n', b"x\ty\n1\t2\n", b'{"x": NaN}\n', b'{"x": 1e999}\n')
WORDS = ("x", "y", "x=1", "x=2,y=3", "x=[1,2", "x==2", "=", ",", "", " ", "-", "--", "1", "0", "-1",
         "1e9", "9" * 30, "nan", "inf", "1K", "json", "f", "x,y", "x,,y", "[1,2]", '"a"', "none",
         "{}", "()", "x y", "\x1b[31m", "\u202e", "\udcff", "\0", "\n", "θ=1", "=cmd()", "a" * 300,
         "--at", "-x", "-qv", "-vv", "@file", "%s", "{x}", "[bold]", "x:=1", "x=y", "x=x", "x:y=1",
         "x=0:1", "x=a:b", "y=1:0", "x=nan:1", "x=-1e308:1e308", "x=0:0", "x+y", "x-y", "a=1")
ANSWERS = ("2x", "2x sin x + x^2 cos x", "cos(x)", "1/x", "[2x, 0]", "<2x, 1>", "3", "0.333", "-",
           "y = 2x + 1", "dy/dx = -x/y", "e^x", "x^x (ln x + 1)", "\\frac{1}{x}", "|x|/x", "0",
           "1/0", "", "?", "2·x", "x²", "sin^-1 x", "ln|x|", "tan^2 x", "3 \\cdot 2^x", "1e400")
FUNCTIONS = ("x^2", "x^2 sin x", "ln x", "e^(3x)", "x^2 + y^2", "x^2 + y^2 = 25", "sqrt(x)", "x y",
             "|x|", "x^x", "1/x", "arctan x", "(cos t, sin t)", "5", "a x^2 + b", "n!", "x/0")
SHEET = (ROOT / "samples/homework/sheet.toml").read_bytes()
SMALL = b"""\
[sheet]
id = "hw"
[[problem]]
id = "1"
function = "x^2 sin(x)"
[[problem]]
id = "2"
function = "x^2 + 3xy"
wrt = ["x", "y"]
"""
ENDS = ("txt", "json", "csv", "tsv", "md", "tex", "py", "c", "rs", "svg", "dot", "mmd", "ndjson",
        "parquet", "arrow", "csv.gz", "html", "png", "", "JSON", "gz")
SLOW = {"png", "pdf", "svg"}    # pictures of whole libraries
LEFT_OUT = {"max_steps", "max_memory"}      # every program gets these
TIMES = ("10", "0", "-1", "nan", "inf", "1e-300", "1e-9", "1e-4", "0.001", "0.01", "1e9", "1e18",
         "1e300", "x", "")
# Nobody listens there; a port out of range; what is no address.
SCHEDULERS = ("tcp://127.0.0.1:1", "tls://127.0.0.1:1", "ws://localhost:1", "ucx://127.0.0.1:1",
              "tcp://127.0.0.1:99999", "tcp://[::1]:1", "tcp://", "127.0.0.1:1", "x")


class Inputs:
    """Inputs from one stream of random numbers."""

    def __init__(self, seed: object) -> None:
        self.random = random.Random(f"commands {seed}")
        self.choose = self.random.choice

    def chance(self, share: float) -> bool:
        """Whether something with this probability happens."""
        return self.random.random() < share

    def case(self) -> Case:
        """One command line."""
        name = self.choose(tuple(COMMANDS))
        if name.startswith("hw ") and self.chance(0.8):     # slow, and all of them have tests
            name = self.choose(("grad", "eval", "check", "verify", "taylor", "derive", "run"))
        if name.startswith("hw "):
            return self._class(name)
        if name == "check":
            return self._check()
        if name == "ops":
            words = self.choose(([], [self.choose((*NAMES, "besselj", *WORDS))]))
            return self._case(name, [*words, *self._options(name, [])], b"", {})
        return self._question(name)

    def _case(self, name: str, rest: list[str], stdin: bytes, files: Files) -> Case:
        argv = [*name.split(), *rest]
        if self.chance(0.02):
            argv.insert(self.random.randrange(len(argv) + 1), self.choose(WORDS))
        if self.chance(0.01):
            del argv[self.random.randrange(len(argv))]
        return Case(argv, stdin, files)

    # --- programs --------------------------------------------------------------------------------

    def _text(self) -> bytes:
        """A program, more or less."""
        form, draw = self.random.randrange(16), self.random
        if form <= 3:
            return self.choose(PLAIN).encode()
        if form <= 6:
            return self._row().encode()
        if form == 7:
            return sound(draw).encode()
        if form == 8:
            return wild(draw).encode()
        if form == 9:
            return spoiled(draw, sound(draw).encode(), FORMULAS)
        if form == 10:
            return soup(draw).encode()
        if form == 11:
            return noise(draw) if self.chance(0.3) else spoiled(draw,
                self.choose(PLAIN).encode(), FORMULAS)
        if form == 12:
            return self.choose(tuple(SAMPLES.values()))
        if form == 13:
            return blocks(draw).encode()
        if form == 14:
            value, kind = self.choose(EXTREME), self.choose((
                "", "", ": float32", ": float64", ": int32", ": int64", ": string", ": bool",
                ": float32[2]", ": float64[:]", ": complex128"))
            return f"{self.choose(('var', 'const', 'input'))} x{kind} = {value}\n{self._row()}"\
                .encode()
        return spoiled(draw, self.choose(tuple(SAMPLES.values())), tuple(SAMPLES.values()))

    def _row(self) -> str:
        """An operation of the table, given extreme values or names that get them."""
        name = self.choose(tuple(NAMES))
        row = TABLE.get(name)
        count = len(row.parameters) if row is not None and self.chance(0.9) else self.choose(
            (0, 1, 2, 3))
        given = [self.choose(("x", "x", "x", "y", self.choose(EXTREME))) for _ in range(count)]
        if row is not None and row.attributes and self.chance(0.4):
            given.append(f"{self.choose(tuple(row.attributes))}={self.choose(EXTREME)}")
        text = f"{name}({', '.join(given)})"
        return self.choose(("{}", "{}", "{}", "sum({})", "{}*x", "y = {}\ny^2", "x^2*{}")).format(
            text)

    def _given(self, text: bytes) -> list[str]:
        """Values for the names of a text."""
        known = point(self.random, text.decode("utf-8", "replace"))
        if known and self.chance(0.5):
            return ["--at", known]
        names = sorted(set(re.findall(r"(?<![\w.])[^\W\d]\w*(?![\w(])",
                                      text.decode("utf-8", "replace"))) & {
                                          *"xyzuwtabAM", "θ", "λ", "x_1"})
        pairs = [f"{name}={self.choose(EXTREME)}" for name in names if self.chance(0.97)]
        if self.chance(0.03):
            pairs.append(self.choose(WORDS))
        return ["--at", ",".join(pairs)] if pairs else []

    def _question(self, name: str) -> Case:
        text = self._text()
        files: Files = {}
        stdin = b""
        given = self._given(text)
        form = self.random.randrange(4)
        if form == 0:
            rest, stdin = ["-"], text
        elif form == 1:
            rest, files["f.txt"] = ["f.txt"], text
        else:
            rest = [self.choose(("-e", "--expression")),
                    text.decode("utf-8", "surrogateescape").replace("\0", "")]
        budget = ["--max-steps", "5000", "--max-memory", "1M"]
        more = self._options(name, given)
        if name in ("grad", "jac", "hess", "eval") and self.chance(0.15):
            end = self.choose(("csv", "csv", "ndjson", "tsv", "parquet", "arrow", "csv.gz"))
            files[f"p.{end}"] = self._rows()
            given = self.choose(([], [], given))
            more += ["--points", self.choose((f"p.{end}", f"p.{end}", "x=linspace(0,1,5)",
                                              "x=[1,2],y=[3]", "x=[]", "-", f"x={given}"))]
            if self.chance(0.5):
                more += ["--on-error", self.choose(("skip", "null"))]
            more += self._workers(name)
        if name == "plot":
            more += ["--over", self.choose((
                "x=-2:2", "x=0:1", "y=0:1", "x=-1e200:1e200", "x=0:1e-300", "x=1:1", "x=5:-5",
                "x=a:b", "x=[]:1", "x=0:inf"))]
            if not any(word.startswith("--format") for word in more):
                more += ["--format", self.choose(("text", "json"))]
        wanted = {"implicit": ["--dependent", self.choose(("y", "x", "z", "y,x"))],
                  "directional": ["--direction", self.choose(("1", "3,4", "0,0", "x=1,y=2", "[]",
                                                              self.choose(EXTREME)))],
                  "propagate": ["--sigma", self.choose(("x=0.1", "x=0.1,y=0.2", "x=0", "x=1e200",
                                                        "x=-1", f"x={self.choose(EXTREME)}"))]}
        if self.chance(0.97):
            more += wanted.get(name, [])
        return self._case(name, [*rest, *given, *more, *budget], stdin, files)

    def _rows(self) -> bytes:
        """A table of points, more or less."""
        data = self.choose(DATA)
        if self.chance(0.4):
            names = self.choose((("x",), ("x", "y"), ("x[0]", "x[1]", "y"), ("a", "x"), ("X",)))
            lines = [",".join(names)] + [
                ",".join([self.choose(EXTREME).replace(",", " ") for _ in names])
                for _ in range(self.choose((0, 1, 2, 5, 40)))]
            data = "\n".join(lines).encode() + b"\n"
        return spoiled(self.random, data, DATA) if self.chance(0.3) else data

    # --- answers, classes ------------------------------------------------------------------------

    def _formula(self, texts: Sequence[str]) -> str:
        text = self.choose(texts).encode()
        if self.chance(0.4):
            text = spoiled(self.random, text, [one.encode() for one in ANSWERS])
        return text.decode("utf-8", "replace").replace("\0", "")

    def _check(self) -> Case:
        if self.chance(0.2):
            lines = [json.dumps({
                key: value for key, value in (
                    ("function", self._formula(FUNCTIONS)), ("answer", self._formula(ANSWERS)),
                    ("wrt", self.choose(("x", ["x"], ["x", "y"], 1, None))), ("id", 1),
                    ("at", {"x": self.choose((1, "a", [], None, 1e200))}),
                    ("tolerance", self.choose(("1%", -1, "x"))),
                    ("order", self.choose((1, 0, "a"))))
                if self.chance(0.9 if key in ("function", "answer") else 0.15)})
                for _ in range(self.choose((0, 1, 2, 3)))]
            text = "\n".join(lines).encode() + self.choose((b"", b"\n", b"\n\n"))
            if self.chance(0.2):
                text = spoiled(self.random, text, [b"{", b"}", b"[1]\n", b"\xff"])
            return self._case("check", ["--batch", "-", *self._options("check", [], ("format",))],
                              text, {})
        given = [] if self.chance(0.7) else ["--at", f"x={self.choose(EXTREME)}"]
        return self._case("check", [
            self._formula(FUNCTIONS), self._formula(ANSWERS), *given,
            *self._options("check", given, ("batch",))], b"", {})

    def _class(self, name: str) -> Case:
        sheet = self.choose((SMALL, SMALL, SHEET))
        if self.chance(0.4):
            sheet = spoiled(self.random, sheet, [SMALL, SHEET])
        files: Files = {"sheet.toml": sheet}
        for student in ("ada", "emmy"):
            for problem in ("1", "2"):
                files[f"in/{student}/{problem}.txt"] = self._formula(ANSWERS).encode()
        table = "id,1,2\nada," + ",".join(f'"{self._formula(ANSWERS)}"' for _ in "12") + "\n"
        files["class.csv"] = table.encode()
        files["roster.csv"] = b"student_id,last_name,first_name\nada,L,A\nemmy,N,E\n"
        for at in ("class.csv", "roster.csv"):
            if self.chance(0.2):
                files[at] = spoiled(self.random, files[at], [sheet, b'"', b"\n"])
        words = {"hw run": ["sheet.toml", self.choose(("in", "class.csv", "nowhere"))],
                 "hw lint": ["sheet.toml"], "hw diff": ["results", "results"],
                 "hw explain": [self.choose(("ada", "x")), self.choose(("1", "9"))],
                 "hw stats": [], "hw report": [], "hw export": []}[name]
        return self._case(name, [*words, *self._options(name, [])], b"", files)

    # --- options ---------------------------------------------------------------------------------

    def _options(self, name: str, given: Sequence[str], without: Sequence[str] = ()) -> list[str]:
        """Some of the options of a command, mostly with values of their sort."""
        known = [o for o in find(name).options if o.name not in LEFT_OUT and o.name not in without
                 and o.name not in ("expression", "points", "at", "over", "dependent", "direction",
                                    "sigma", "latex", "batch", "jobs", "scheduler")]
        found: list[str] = []
        for option in known:
            usual = {"format": 0.6, "output": 0.05, "verbose": 0.1, "strict": 0.1, "wrt": 0.15,
                     "of": 0.04, "watch": 0.04, "tape": 0.02}.get(option.name, 0.07)
            if self.chance(usual):
                found += self._option(option, name, given)
        if self.chance(0.02) and "latex" in [o.name for o in find(name).options]:
            found.append("--latex")
        if name == "hw run" or self.chance(0.01):
            found += self._workers(name)
        return found

    def _workers(self, name: str) -> list[str]:
        """Who works on rows or answers; processes take long to start."""
        if "jobs" not in [o.name for o in find(name).options] or self.chance(0.9):
            return []
        return [self.choose(("--jobs", "-j")), "2"] if self.chance(0.25) else [
            "--scheduler", self.choose((*SCHEDULERS, self.choose(WORDS)))]

    def _option(self, option: Option, name: str, given: Sequence[str]) -> list[str]:
        flag = self.choose(option.flags)
        if option.kind in ("flag", "count"):
            return [flag]
        value = self._value(option, given)
        if option.name == "format" and value in SLOW and self.chance(0.97):
            value = "json"
        if option.name == "output":
            if name in ("plot", "graph") and value.rpartition(".")[2].lower() in SLOW:
                value = "o.json"
        return [f"{flag}={value}"] if flag.startswith("--") and self.chance(0.3) else [flag, value]

    def _value(self, option: Option, given: Sequence[str]) -> str:
        if self.chance(0.04):
            return self.choose(WORDS).replace("/", "")
        if option.choices:
            return self.choose(option.choices)
        if option.kind == "number":
            return self.choose(("1", "2", "3", "5", "17", "0", "99999"))
        if option.name == "output":
            return self.choose((f"o.{self.choose(ENDS)}", "o", "-", "no/where.txt"))
        if option.name == "out":
            return self.choose(("results", "out", "sheet.toml", "in"))
        if option.name == "timeout":
            return self.choose(TIMES)
        if option.metavar in ("NAME[,NAME]", "NAME"):
            return self.choose(("x", "x", "y", "x,y", "y,x", "x,x", "z", "loss", "f", "x[0]"))
        if option.name in ("tolerance", "late"):
            return self.choose(("0.1", "1%", "3 digits", "0", "-1", "1e-300", "nan"))
        if option.metavar == "FILE":
            return self.choose(("class.csv", "roster.csv", "no.csv", "in", ""))
        if option.metavar in ("NAME=A:B", "A:B"):
            return self.choose((
                "x=0:5", "x=1:0", "-1:1", "1:1", "x=-1e300:1e300", "x=:", "0:1e-320"))
        if option.name == "output_gradient":
            return self.choose(EXTREME)
        return self.choose((*WORDS, "1", "2", "x=1"))


def case(seed: object, number: int) -> Case:
    """The input of a seed with this number."""
    return Inputs(f"{seed} {number}").case()


EARLY = ("run", "hw")
"""What tells first what was right: a program prints while it runs, a sheet has many problems."""


# --- what an answer has to be ---------------------------------------------------------------------

def complaint(one: Case, folder: Path) -> str | None:
    """What is wrong with the answer to an input; None if nothing is. Runs in an empty folder."""
    for name, data in one.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    out, err, shown, usage = io.StringIO(), io.StringIO(), io.StringIO(), io.StringIO()
    environment = Environment(io.BytesIO(one.stdin), out, err, {"COLUMNS": "80"})
    before = Path.cwd()
    os.chdir(folder)
    patience, pools.PATIENCE = pools.PATIENCE, LISTENS
    try:
        with (alarm(SECONDS), warnings.catch_warnings(record=True) as warned,
              redirect_stdout(shown), redirect_stderr(usage)):
            warnings.simplefilter("always")
            status = run(one.argv, environment)
            if "--timeout" in " ".join(one.argv):   # it may strike between a file and its `with`
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect(1)
        plain = read(one.argv)
        written = None if plain is None else _written(getattr(plain, "output", None))
    except Hang:
        return "a hang"
    except BaseException as problem:
        return f"raised {type(problem).__name__}: {problem}\n" + "".join(
            traceback.format_exception(problem))
    finally:
        os.chdir(before)
        pools.PATIENCE = patience
    try:
        return _judged(one, status, out.getvalue(), err.getvalue(), usage.getvalue(),
                       [str(w.message) for w in warned], written)
    finally:
        for entry in list(folder.iterdir()):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _written(path: str | None) -> tuple[str, bytes] | None:
    """(name, content) of the file that -o asked for."""
    return None if path is None or not os.path.isfile(path) else (path, Path(path).read_bytes())


def _judged(one: Case, status: int, out: str, err: str, usage: str, warned: list[str],
            written: tuple[str, bytes] | None) -> str | None:
    told = f"status {status}\n{out[:1500]}{err[:1500]}{usage[:800]}"
    if status not in (0, 1, 2, 3):
        return told
    for word in ("Traceback", "a bug, not your", "Warning:"):
        if word in err + usage:
            return f"{word}\n{told}"
    if warned:
        return f"warned: {warned[0]}\n{told}"
    if status == 2:
        if out or (not usage and not err):
            return f"misuse, but output, or not told\n{told}"
        return None
    plain = read(one.argv)
    if plain is None:       # Typer may have read it otherwise than can be told here
        return None
    format = getattr(plain, "format", None)
    points = any(word.startswith(("--points", "--batch")) for word in one.argv)
    if status == 3:
        if out and not points and one.argv[0] not in EARLY:
            return f"an error and an answer\n{told}"
        if format in ("json", "ndjson"):
            return _try(_error, [line for line in err.splitlines() if line.startswith("{")][-1:],
                        told)
        codes = re.search(r"^error\[E\d{4}\]", re.sub(COLOUR, "", err), re.MULTILINE)
        if codes is None and not (points and re.search(r"E07\d\d", (
                out if written is None else written[1].decode()))):
            return f"status 3 without a code\n{told}"
        return None
    text = out
    if written is not None:
        name, data = written
        if format is None:
            format = name.rpartition(".")[2].lower() if "." in name else None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None if format in ("parquet", "arrow", "gz", "png", "pdf") or \
                name.endswith(".gz") else f"not UTF-8\n{told}"
        if name.endswith((".gz", ".parquet", ".arrow")):
            return None
    if format in ("parquet", "arrow") or any(word in SLOW for word in one.argv):
        return None
    shown = err if points else text + err       # rows come back as they stood
    if any(not (c.isprintable() or c in "\n\t\r") for c in re.sub(COLOUR, "", shown)):
        return f"a character that does not print\n{told}"
    if points and format is None:
        return None
    check = READ.get(format or "")
    return None if check is None else _try(check, text, told)


def _try(check: Callable[[Any], None], text: Any, told: str) -> str | None:
    try:
        check(text)
    except (AssertionError, ValueError, KeyError, IndexError, csv.Error,
            ValidationError) as problem:
        return f"{type(problem).__name__}: {str(problem)[:600]}\n{told}"
    return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _loaded(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _object(text: str) -> None:
    """One object, as its command's schema says."""
    answer = _loaded(text)
    if len(text) < VALIDATED and "points" not in answer:
        valid(answer, str(answer.get("command", "check")).replace(" ", "-"))


def _objects(text: str) -> None:
    for line in text.splitlines():
        _loaded(line)


def _error(lines: list[str]) -> None:
    valid(_loaded(lines[0]), "error")


def _columns(text: str, delimiter: str = ",") -> None:
    """Rows as long as the first one."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    assert len({len(row) for row in rows}) <= 1, f"rows of {sorted({len(row) for row in rows})}"


def _tabs(text: str) -> None:
    lengths = {line.count("\t") for line in text.splitlines()}
    assert len(lengths) <= 1, f"rows of {sorted(lengths)} tabs"


READ: dict[str, Callable[[str], None]] = {
    "json": _object, "ndjson": _objects, "csv": _columns, "tsv": _tabs}


# --- running --------------------------------------------------------------------------------------

def shortened(one: Case, folder: Path, tries: int = 150) -> Case:
    """A shorter input that fails in the same way, as far as its first words tell."""
    def kind(found: str | None) -> str | None:
        return None if found is None else signature(found)

    wanted = kind(complaint(one, folder))
    for candidate in _candidates(one):
        tries -= 1
        if tries < 0:
            break
        if kind(complaint(candidate, folder)) == wanted:
            return shortened(candidate, folder, tries)
    return one


def _candidates(one: Case) -> Iterator[Case]:
    """An input with something left out."""
    for place in range(len(one.argv) - 1, 0, -1):
        for length in (2, 1):
            if place + length <= len(one.argv):
                yield one._replace(argv=one.argv[:place] + one.argv[place + length:])
    for name in one.files:
        yield one._replace(files={key: data for key, data in one.files.items() if key != name})
    for place, word in enumerate(one.argv):
        if "\n" in word:
            lines = word.split("\n")
            for k in range(len(lines)):
                shorter = "\n".join(lines[:k] + lines[k + 1:])
                yield one._replace(argv=[*one.argv[:place], shorter, *one.argv[place + 1:]])
    texts: list[tuple[str | None, bytes]] = [(None, one.stdin), *one.files.items()]
    for at, data in texts:
        lines = data.split(b"\n")
        for k in range(len(lines) if len(lines) > 1 else 0):
            less = b"\n".join(lines[:k] + lines[k + 1:])
            yield one._replace(stdin=less) if at is None else one._replace(
                files={**one.files, at: less})


def signature(found: str) -> str:
    """What findings of one cause have in common: the place of a bug, else the first line."""
    place = re.search(r"bug, not your mistake: (\w+): .*\((\w+\.py:\d+)\)", found)
    if place is not None:
        return f"{place[1]} {place[2]}"
    return re.sub(r"\d+|'[^']*'|`[^`]*`", "_", found.split("\n")[0])[:100]


@cache
def _scratch() -> Path:
    """A folder for the files of inputs, in memory where the system has such a place."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="gradcli-fuzz-", dir=memory))


def share(seed: object, numbers: range, at: mmap.mmap | None = None
          ) -> Iterator[tuple[int, str, Case]]:
    """The findings among the inputs of these numbers. at: where to leave the number under way."""
    folder = _scratch()
    for number in numbers:
        if at is not None:
            at[:8] = number.to_bytes(8, "little")
        one = case(seed, number)
        found = complaint(one, folder)
        if found is not None:
            yield number, found, one


def child(seed: object, numbers: range, at: mmap.mmap, pipe: int) -> None:
    """Run a share in a process of its own; findings are lines of JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    known: Counter[str] = Counter()
    with os.fdopen(pipe, "w") as out, one_application():
        for number, found, one in share(seed, numbers, at):
            known[signature(found)] += 1
            if known[signature(found)] == 1:
                one = shortened(one, _scratch())
                found = complaint(one, _scratch()) or found
            out.write(json.dumps([number, found, str(one)]) + "\n")
            out.flush()


def findings(seed: object, numbers: range) -> Iterator[tuple[int, str, str]]:
    """(number, what is wrong, the input) of all that fails, run in children."""
    at = mmap.mmap(-1, 8)
    _scratch()      # one for all children
    start = numbers.start
    while start < numbers.stop:
        part = range(start, min(start + SHARE, numbers.stop))
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reader)
            status = 1
            try:
                child(seed, part, at, writer)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writer)
        with os.fdopen(reader) as lines:
            for line in lines:
                yield tuple(json.loads(line))
        ended = os.waitpid(pid, 0)[1]
        start = part.stop
        if ended:
            last = int.from_bytes(at[:8], "little")
            yield last, f"the process died: {ended}", str(case(seed, last))
            start = last + 1


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    try:
        if asked.only is not None:
            one = case(asked.seed, asked.only)
            found = complaint(one, _scratch())
            print(one, found or "nothing wrong", sep="\n")
            return int(found is not None)
        begin, often = time.monotonic(), Counter[str]()
        for number, found, told in findings(
                asked.seed, range(asked.first, asked.first + asked.count)):
            name = signature(found)
            often[name] += 1
            if often[name] <= 3:
                print(f"--- {number}: {name}\n{told}\n{found[:3000]}\n", flush=True)
        print(f"{asked.count:,} inputs from {asked.first:,} (seed {asked.seed}) in"
              f" {time.monotonic() - begin:.0f} s, {sum(often.values())} findings")
        for name, count in often.most_common():
            print(f"{count:8} {name}")
        return int(bool(often))
    finally:
        shutil.rmtree(_scratch(), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
