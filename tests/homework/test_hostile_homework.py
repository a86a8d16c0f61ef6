"""What nobody trusts: answers, names and files that are meant to do harm, by the real command.

Each threat has a test here; where it has others elsewhere, these are named.

    9^9^9^9 and its like            test_bombs                  test_check_cli: HOSTILE
    millions of digits              test_digits                 test_reading: test_limits
    numbers that take long          test_work_while_reading, test_derivatives_that_grow
    nesting, long sums              test_nesting                test_reading: test_limits
    splitting of words              test_splitting              test_reading: test_hostile_input_...
    exponential tapes               test_no_programs, test_squares
    memory: points x nodes          test_memory                 test_homework_executors: memory
    slow answers                    test_slow_answers           test_homework_executors: forever
    eval, files from an answer      test_nothing_is_run_or_opened
    huge or odd files               test_a_hostile_folder       test_homework_submissions
    path traversal                  test_everybody_gets_...     test_homework_reports_text
    zip                             test_a_hostile_folder       test_homework_submissions
    terminal escapes, Rich markup   test_terminals              test_hw_cli: test_names_are_names
    CSV formulas                    test_no_cell_is_a_formula   test_homework_reports...
    GitHub, JUnit                   test_annotations_and_xml    test_homework_reports_text
    homoglyphs                      test_homoglyphs             test_reading
    probing the points              test_bumps
    hidden problems                 test_hidden_problems        test_homework_reports_text
"""

from __future__ import annotations

import csv
import json
import os
import random
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from alarms import alarm
from conftest import folded
from terminals import bare, on_terminal
from transcripts import in_process

from gradcli.base.errors import GradcliError
from gradcli.homework import check as check_module
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.sheets.formats import MAX_BYTES as MAX_SHEET
from gradcli.lang.paper.tokens import SCHOOL, SPECIAL

LIMIT = 2.0
"""Seconds of work that an answer may take."""
EASY = prepare(from_fields({"function": "x^2", "wrt": "x"}))


def verdict_of(answer: str, ready: Any = EASY, limit: float = LIMIT) -> dict[str, Any]:
    """The result for an answer, which is there in time and not for lack of a bug report.

    The best of three counts: what else the processor does makes one of them slow.
    """
    taken = []
    while len(taken) < 3 and min(taken, default=limit) >= limit:
        begin = time.thread_time()
        found = check(ready, answer)
        taken.append(time.thread_time() - begin)
    assert min(taken) < limit, answer[:80]
    assert "bug" not in found["message"]
    return found


# --- answers ------------------------------------------------------------------------------------

@pytest.mark.parametrize("answer", [
    "9^9^9^9", "9^9^9^9^9^9^9", "(((9^64)^64)^64)^64", "x*9**9**9**9", "(9^99999999)^99999999",
    "gamma(9^9^9)", "9^9^9!", "10^(10^(10^10))x", "2x + 0*9^9^9^9", "e^e^e^e^e^x", "exp(exp(9^9))x",
    "9^9^9^9 - 9^9^9^9 + 2x", "1e308*10 - 1e308*10", "binomial(9^9, 9^8)", "(9^9^9 mod 7)x"])
def test_bombs(answer: str) -> None:
    """Numbers are floats from the beginning: an infinity, and not right."""
    assert verdict_of(answer)["verdict"] != "correct"


def monsters(count: int) -> list[str]:
    """Formulas that are short and would be long, or huge, if all that they say were done."""
    draw = random.Random(15)
    huge = ("999999999", "499999999", "1e14", "5e13", "200", "170", "171", "99", "20", "7", "-1e14")

    def size() -> str:
        return draw.choice(huge)

    def made(depth: int) -> str:
        if not depth:
            return draw.choice(("x", "x", "2", size()))
        inner = made(depth - 1)
        kind = draw.randrange(11)
        letter = "abcdgh"[depth % 6]
        return (
            rf"\binom{{{inner}}}{{{size()}}}", f"binomial({inner}, {size()})",
            f"nCr({size()}, {inner})", rf"\binom{{{inner}}}{{{inner}}}", f"({inner})!",
            f"fact({inner})", rf"\sum_{{{letter}=1}}^{{{size()}}} ({inner})",
            rf"\prod_{{{letter}=1}}^{{{size()}}} ({inner})", f"({inner})^({size()})",
            rf"\sum_{{{letter}=1}}^{{40}} {letter}\binom{{{size()}}}{{{letter}}} ({inner})",
            rf"\frac{{{inner}}}{{{inner}}}")[kind]

    return [made(draw.choice((1, 1, 2, 3, 4, 5, 8, 12))) for _ in range(count)]


@pytest.mark.parametrize("answer", [
    r"\binom{999999999}{499999999}", "binomial(1e14, 5e13)", r"\binom{-999999999}{499999999}",
    r"\sum_{k=1}^{100} \binom{1e14+k}{5e13}", "binomial(" * 60 + "x" + ", 20)" * 60,
    "binomial(x, " * 60 + "x" + ")" * 60, r"\binom{" * 9 + "x" + "}{20}" * 9,
    r"\sum_{a=1}^{200}(\sum_{b=a}^{200}(\sum_{c=b}^{200}(\sum_{d=c}^{200} x)))",
    r"\prod_{k=1}^{9e14} (x+k)", *[made for made in monsters(60) if len(made) < 2000]])
def test_work_while_reading(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reading computes or writes out has a budget, in an answer and in a function."""
    verdict_of(answer)
    monkeypatch.setattr(check_module, "PREPARING", 0.2)
    for fields in ({"function": f"x + {answer}"}, {"function": "x", "expected": answer}):
        begin = time.thread_time()
        try:
            prepare(from_fields({"wrt": "x", **fields}))
            code = "E0704"
        except GradcliError as problem:
            code = problem.code
        assert code in ("E0704", "E0705")
        assert time.thread_time() - begin < LIMIT


@pytest.mark.parametrize("fields", [
    {"function": "/".join(["(x+1)"] * 100), "order": 8},
    {"function": "tan(" * 90 + "x" + ")" * 90, "order": 8},
    {"function": "*".join([f"x_{k}" for k in range(200)]), "kind": "hessian"},
    {"function": f"[{', '.join(['x*y'] * 40)}]", "kind": "jacobian", "wrt": "x,y"},
    {"function": "tan(" * 90 + "x" + ")" * 90 + " = y", "dependent": "y", "order": 8}])
def test_derivatives_that_grow(fields: dict[str, Any]) -> None:
    begin = time.thread_time()
    with pytest.raises(GradcliError) as caught:
        prepare(from_fields(fields))
    assert caught.value.code == "E0704"
    assert time.thread_time() - begin < LIMIT


@pytest.mark.parametrize("answer", ["9" * 10 ** 6, "0." + "3" * 10 ** 6, "1e" + "9" * 10 ** 5,
                                    "9" * 41, "1e400", "9" * 1999 + "x", "0x" + "f" * 1000])
def test_digits(answer: str) -> None:
    found = verdict_of(answer)
    assert found["verdict"] == "unreadable"
    assert len(found["message"]) < 200


@pytest.mark.parametrize(("answer", "verdict"), [
    ("(" * 99 + "2x" + ")" * 99, "correct"), ("-" * 900 + "2x", "correct"),
    ("x" + "+x-x" * 240 + "+x", "correct"), ("2x" + "*1" * 490, "correct"),
    ("2x" + "/1" * 490, "correct"), ("2x^1" + "^1" * 480, "correct"),
    ("2x^(" + "1^(" * 90 + "1" + ")" * 91, "correct"), ("[" * 99 + "2x" + "]" * 99, None),
    ("(" * 10 ** 6, "unreadable"), ("(" * 150 + "2x" + ")" * 150, "unreadable"),
    ("x+" * 10 ** 5 + "x", "unreadable"), ("sqrt(" * 400 + "x" + ")" * 400, "unreadable"),
    ("|" * 1999, "unreadable"), ("\\frac{" * 300 + "x", "unreadable"),
    ("{" * 900 + "x" + "}" * 900, "unreadable"), ("sin " * 400 + "x", "unreadable")])
def test_nesting(answer: str, verdict: str | None) -> None:
    """Whatever may be read is read without a Python frame for each level."""
    before = sys.getrecursionlimit()
    depth = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 80)
    try:
        found = verdict_of(answer)
    finally:
        sys.setrecursionlimit(before)
    assert verdict is None or found["verdict"] == verdict, found["message"]
    assert "RecursionError" not in found["message"]


@pytest.mark.parametrize("answer", [
    "x" * 128, "xsinx" * 25, "sincostanlnexp" * 9, "asinacosatan(x)", "arc" * 40 + "sin(x)",
    "1/2x" * 100, "e^2x" * 100, "sin x/2 " * 100, "x1" * 200, "f'" * 500 + "(x) = 2x"])
def test_splitting(answer: str) -> None:
    """A word is split from the left without going back, and no more than 16 readings tried."""
    assert len(verdict_of(answer)["alternatives"]) <= 16


@folded
@pytest.mark.parametrize("answer", [
    "y = x*x; y*y", "x = x*x\nx = x*x\nx", "for i in range(9): x", "while 1: x",
    "x if x > 0 else 2x", "def f(x): return 2*x", "lambda x: 2*x", "let y = 2x in y",
    "import math\n2*x", "x := 2x", "[2x for i in 9]", "x += x", "with tape: 2x", "sum(x, 1, 99)",
    "load('2x')", "x.__class__", "map(f, x)", "y <- 2x", "print(2x)", "globals()", "`2x`", "$(2x)",
    "${2x}", "{{2x}}", "%(x)s"])
def test_no_programs(answer: str) -> None:
    """The language of answers has expressions only. What is left of some of these is a formula or a
    vector in brackets, as it would be without the rest.
    """
    found = verdict_of(answer)
    assert found["verdict"] in ("unreadable", "wrong", "undecided") or found["read_as"] == "2*x", \
        found


def test_squares() -> None:
    """x^2 squared again and again is a node each, and its derivative no more than a few."""
    for text in ("(" * 60 + "x" + ")^2" * 60, "(" * 60 + "x" + "+x)" * 60):
        found = verdict_of(text)
        assert found["verdict"] == "wrong"
        order = prepare(from_fields({"function": text, "wrt": "x"}))
        assert len(order.reference.formula.ops) < 2000
    components = verdict_of(f"({', '.join(['x'] * 200)})",
                            prepare(from_fields({"function": "x^2 + y^2", "wrt": "x,y"})))
    assert components["verdict"] == "wrong"
    assert "200 components" in components["message"]


@pytest.mark.parametrize("answer", [
    "x" + "+x^2" * 240, "+".join([f"sin({k}x)" for k in range(160)]),
    "+".join([f"{k}/x" for k in range(240)]), "2x + 1e-12(" + "+".join(
        [f"sin({k}x)" for k in range(150)]) + ")"])
def test_memory(answer: str) -> None:
    verdict_of(answer)
    tracemalloc.start()
    try:
        check(EASY, answer)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 ** 2


def chain(piece: str, count: int = 150) -> str:
    """As many different pieces as an answer may have."""
    found = ""
    for k in range(1, count):
        more = ("+" if found else "") + piece.replace("#", str(k))
        if len(found) + len(more) > 1990:
            break
        found += more
    return found


SLOW = ("zeta(#,x^2+2)", "besselj(x,#)", "besselj(#,x)", "besselie(#x,x)", "sphericalj(#x,x)",
        "gammainc(#x,x)", "ellipkinc(#,x)", "erfcx(#x)", "E1(#x)", "shi(#x)", "digamma(#x)",
        "floor(besselj(1,x-30#))", "ellipe(#x)", "gammaincinv(x,0.#)", "betaln(#x,x)")


@pytest.mark.parametrize("answer", [
    *[chain(piece) for piece in SLOW], "abs(erfi(" * 45 + "x" + ")-200)" * 45,
    "abs(" * 90 + "x" + "-50)" * 90, "digamma(" * 60 + "x" + ")" * 60,
    "max(x-500," * 60 + "x" + "-500)" * 60, "acosx+" * 330 + "1",
    *["\n".join(sign + "+".join(f"{word}({k + line}x)" for k in range(13)) for line in range(10))
      for sign in ("", "-") for word in ("digamma", "sin", "erfcx")]])
def test_slow_answers(answer: str) -> None:
    """A budget of work, between operations, also where points are searched for and mistakes, and
    one for all lines.
    """
    assert verdict_of(answer)["verdict"] in ("undecided", "wrong", "unreadable")


def test_a_tolerance_of_what_is_no_number() -> None:
    """The numbers of an answer may be compared with the right ones where they are none, too."""
    ready = prepare(from_fields({"function": "0.02364x^4 + 1.234sin(x)", "tolerance": "1%"}))
    for answer in (r"\begin{cases} x & x>0 \\ -x & x<0 \end{cases}" * 30, "9^9^9^9 x", "x/(1-1)",
                   "(9^9^9^9 - 9^9^9^9)x^3"):
        assert verdict_of(answer, ready)["verdict"] != "correct"


def test_it_does_not_matter_who_asks_first() -> None:
    """What is found out about a problem once is no work of the answer that happens to need it."""
    names = [f"x_{k}" for k in range(1, 9)]
    ready = prepare(from_fields({"function": "+".join(
        f"sin({x}^2 + e^({x}))/(1+{x}^2)" for x in names), "wrt": ",".join(names),
        "kind": "hessian"}))
    rows = [f"[{', '.join(f'{8 * k + j}.5x_1' for j in range(8))}]" for k in range(8)]
    first, again = (verdict_of(f"[{', '.join(rows)}]", ready) for _ in range(2))
    assert {**first, "ms": 0} == {**again, "ms": 0}
    assert first["confidence"] != "high"


def test_what_is_too_slow_is_left_to_a_person() -> None:
    found = verdict_of(chain("digamma(#x)"))
    assert (found["verdict"], found["score"]) == ("undecided", 0.0)
    assert "a person has to look at it" in found["message"]


def test_no_function_is_slow_alone() -> None:
    """A budget that is looked at between operations is one only if no operation takes longer."""
    for word in sorted({*SCHOOL, *SPECIAL}):
        for text in (f"{word}(x)", f"{word}(30x)", f"{word}(x, 1.5)", f"{word}(x, x)"):
            verdict_of(text, limit=0.5*LIMIT)


WATCHED = ("open", "exec", "compile", "import", "os.", "subprocess.", "socket.", "shutil.",
           "ctypes.", "pty.", "webbrowser.", "urllib.", "tempfile.")
PROGRAMS = [
    "__import__('os').system('touch pwned')", "open('/etc/passwd').read()", "eval('2*x')",
    "exec('import os')", "load('../../etc/passwd')", "load(\"sheet.toml\")", "@/etc/passwd",
    "file:///etc/passwd", "http://example.org/", "().__class__.__bases__[0].__subclasses__()",
    "x.__globals__", "${IFS}", "`id`", "$(id)", "; rm -rf /", "\\input{/etc/passwd}",
    "\\write18{id}", "read(x)", "csv('a.csv')", "numpy.load('a')", "os.environ", "%run x", "!ls",
    "{{7*7}}", "<?xml version='1.0'?><!DOCTYPE a SYSTEM 'file:///etc/passwd'>", "\N{SNOWMAN}"]
_watch: list[str] | None = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watch is not None and event.startswith(WATCHED):
        _watch.append(f"{event} {arguments!r:.200}")


def test_nothing_is_run_or_opened() -> None:
    """Python itself tells of whatever is run, opened or imported while answers are checked."""
    global _watch
    for text in PROGRAMS:       # what is loaded at first use is loaded then
        verdict_of(text)
    sys.addaudithook(_hook)
    _watch = []
    try:
        for text in PROGRAMS:
            assert verdict_of(text)["verdict"] != "correct"
        seen = [*_watch]
        with open(__file__, "rb"):      # the watch is awake
            pass
        assert len(_watch) > len(seen)
    finally:
        _watch = None
    assert seen == []


@pytest.mark.parametrize(("answer", "code_point"), [
    ("2х", "U+0445"), ("2х + 0", "U+0445"), ("ѕin(x)", "U+0455"), ("2ⅹ̱", "U+0331"),
    ("соs x", "U+0441"), ("2\u200bх", "U+0445"), ("2\U0001d465\u0445", "U+0445"), ("ꓫ", "U+A4EB")])
def test_homoglyphs(answer: str, code_point: str) -> None:
    found = verdict_of(answer)
    assert found["verdict"] == "unreadable"
    assert code_point in found["message"]


def test_letters_that_only_look_different_are_the_same() -> None:
    for answer in ("２ｘ", "2𝑥", "𝟐x", "2ｘ", "\u00a02x\u2003", "2\u200bx", "2\u2062x"):
        assert verdict_of(answer)["verdict"] == "correct", answer


@pytest.mark.parametrize("probe", [
    "2x + e^(-100x^2)", "2x + e^(-100(x-1)^2)", "2x + sin(pi x)", "2x + sin(2 pi x)/1000",
    "2x + 1e-6 e^(-50(x-2)^2)", "2x + (x-1)(x-2)(x-3)(x+1)(x+2)(x+3)", "2x + max(0, x - 2.9)",
    "2x(1 + 1e-7)", "2x + floor(x/3.2)", "2x + 1e-6 sin(40x)", "2|x|", "2x + (|x| - x)^9"])
def test_bumps(probe: str) -> None:
    """Right at the points that come to mind, and wrong all the same, whatever the seed is."""
    for seed in range(20):
        found = verdict_of(probe, prepare(from_fields({"function": "x^2", "wrt": "x"}), seed))
        assert found["verdict"] in ("wrong", "undecided"), (seed, found)
        assert seed or found["verdict"] == "wrong"


# --- a class ------------------------------------------------------------------------------------

SHEET = """\
[sheet]
id = "hw"
[[problem]]
id = "1a"
function = "x^2 sin(x)"
[[problem]]
id = "h"
function = "e^(3x)"
hidden = true
"""
ESCAPES = ["\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x1b]8;;http://x\x07a", "a\u202eb",
           "\u2066a", "a\x9b2Jb", "a\x7f\x08b", "a\u200bb", "a\r\nb\tc", "\x00"]
MARKUP = ["a[/b]", "[link=http://x]a", "[/]", "[bold red]a", "\\[", ":smile:", "[[", "<b>a</b>",
          "](x)", "![a](http://x)", "| a | b |"]
FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠A1",
            "=cmd|'/c calc'!A0", '=HYPERLINK("http://x","a")', " =1+1", "'=1"]
PATHS = ["../../x", "/etc/passwd", "..", ".", "a/../../b", "con", "a\\..\\b", "%2e%2e/x", "~root",
         "x" * 190, "-rf", "a\nb", "nul.txt"]
COMMANDS = ["a::error::b", "::set-output name=a::b", "a%0Ab", "a,line=1::b", "]]></testsuite>",
            "a&b<c>\"d'", "\ufffe", "${{ secrets.x }}"]
PEOPLE = [*ESCAPES, *MARKUP, *FORMULAS, *PATHS, *COMMANDS]


class Class:
    """A class of hostile names and answers, marked by the command from a stream of NDJSON."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inner = folder / "work" / "deep"
        self.inner.mkdir(parents=True)
        (self.inner / "sheet.toml").write_text(SHEET)
        names = [*PEOPLE, *[f"s{k}" for k in range(len(PEOPLE))]]
        self.names = {name.strip() for name in names}
        with open(self.inner / "class.ndjson", "w", encoding="utf-8") as file:
            for k, name in enumerate(names):
                for id, answer in (("1a", PEOPLE[k % len(PEOPLE)]), ("h", f"{k % 5 + 1}e^(3x)")):
                    file.write(json.dumps({"student": name, "problem": id, "answer": answer})
                               + "\n")
        self.before = self.files(folder)
        self.out = self.inner / "results"
        self.ran = self.hw("run", "sheet.toml", "class.ndjson", "-j", "2", "--gradescope",
                           "--feedback", "full")

    def hw(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("transcripts.ROOT", self.inner)
            return in_process(["hw", *arguments])

    @staticmethod
    def files(folder: Path) -> set[str]:
        return {str(path.relative_to(folder)) for path in folder.rglob("*")}

    def table(self, name: str) -> list[list[str]]:
        with open(self.out / name, newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    def results(self) -> list[dict[str, Any]]:
        text = (self.out / "results.ndjson").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n") if line]


@pytest.fixture(scope="module")
def of(tmp_path_factory: pytest.TempPathFactory) -> Class:
    return Class(tmp_path_factory.mktemp("hostile"))


def test_everybody_gets_a_mark_and_nothing_is_written_outside(of: Class) -> None:
    status, _, err = of.ran
    assert status == 1, err
    new = of.files(of.folder) - of.before
    assert all(name == "work/deep/results" or name.startswith("work/deep/results/")
               for name in new)
    # A name is stripped, and one of 190 letters is short enough.
    known = {one["student"] for one in of.results()}
    assert known == of.names
    assert len(of.table("gradebook.csv")) == len(known) + 1
    for folder in ("feedback", "gradescope"):
        names = sorted(path.name for path in (of.out / folder).iterdir())
        assert len({name.casefold() for name in names}) == len(known)
        for name in names:
            assert name.isascii()
            assert not name.startswith((".", "-"))
            assert not set(name) - set("abcdefghijklmnopqrstuvwxyz" "0123456789._-"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for path in of.out.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if path.name == "review.csv":       # for spreadsheets
                text = text.removeprefix("\ufeff")
            assert text.replace("\n", "").isprintable(), path


def test_no_cell_is_a_formula(of: Class) -> None:
    for name in ("gradebook.csv", "review.csv", "item-analysis.csv", "notes.csv"):
        table = of.table(name)
        assert len(table) > 1
        for row in table:
            for cell in row:
                assert not cell.lstrip(" ").startswith((*"=@\t\r\0＝＋－＠", "+")), (name, cell)
                if cell.lstrip(" ").startswith("-"):
                    float(cell)     # only a number may
    # What was typed is not lost: results.ndjson has it as it was.
    exact = {one["answer"] for one in of.results() if one["problem"] == "1a"}
    assert exact >= {text.strip() for text in PEOPLE if "\n" not in text}
    assert of.hw("export", "--raw-csv", "-q")[0] == 0
    assert any("=1+1" in row for row in of.table("gradebook.csv"))
    assert of.hw("export", "-q")[0] == 0
    assert not any("=1+1" in row for row in of.table("gradebook.csv"))


def test_terminals(of: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was typed reaches a terminal but as letters."""
    monkeypatch.chdir(of.inner)
    commands = [["hw", "stats"], ["hw", "run", "sheet.toml", "class.ndjson", "-j", "1"]]
    commands += [["hw", "explain", "--", name.strip(), "1a"]
                 for name in (*ESCAPES[:4], *MARKUP[:4])]
    commands += [["check", "x^2", answer] for answer in (*ESCAPES, *MARKUP) if "\0" not in answer]
    for command in commands:
        status, out, err = on_terminal([*command[:1], "--color=never", *command[1:]]
                                       if command[0] == "check" else
                                       [*command[:2], "--color=never", *command[2:]])
        assert status in (0, 1), (command, err)
        assert "Traceback" not in err
        assert all(c.isprintable() or c == "\n" for c in out + err), command
    out = bare(on_terminal(["hw", "explain", "--", "a[/b]", "1a"])[1])
    assert "a[/b]" in out


def test_annotations_and_xml(of: Class) -> None:
    _, out, _ = of.hw("run", "sheet.toml", "class.ndjson", "-j", "1", "--format", "github")
    lines = out.splitlines()
    assert len(lines) <= 21
    for line in lines:
        head, _, message = line.removeprefix("::").partition("::")
        assert head.split(" ")[0] in ("error", "warning", "notice")
        assert "::" not in head
        assert [part.partition("=")[0] for part in head.partition(" ")[2].split(",") if part] in (
            [], ["file", "line", "title"], ["title"])
        assert message
    tree = ElementTree.parse(of.out / "junit.xml").getroot()
    assert len(tree) == len(of.names)
    assert {case.get("name") for case in tree.iter("testcase")} == {"1a", "h"}
    for path in (of.out / "gradescope").rglob("results.json"):
        json.loads(path.read_text(encoding="utf-8"))


def test_hidden_problems(of: Class) -> None:
    """Of a hidden problem a student sees whether the answer is right, and no more."""
    wrong = [one for one in of.results() if one["problem"] == "h" and one["verdict"] == "wrong"]
    assert len(wrong) > 20
    assert all(one["witness"] and one["mistake"] for one in wrong)     # there is more to tell
    for path in (of.out / "feedback").iterdir():
        text = path.read_text(encoding="utf-8")
        part = text[text.index("## Problem h"):]
        kept = [line for line in part.splitlines() if line and "Your answer" not in line]
        assert kept[0] == "## Problem h"
        assert kept[1:] in (["Right. 1 of 1."], ["Not right. 0 of 1."]), part
    for path in (of.out / "gradescope").rglob("*.json"):
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
        (hidden,) = [test for test in tests if test["name"] == "Problem h"]
        told, _, answer = hidden["output"].partition("\n")
        assert told in ("right", "not right")
        assert answer.startswith("your answer: ")
        assert "\n" not in answer
    for case in ElementTree.parse(of.out / "junit.xml").getroot().iter("testcase"):
        if case.get("name") == "h":
            told = "".join(case.itertext()).strip().splitlines()
            assert told in ([], ["0 of 1: not right", told[-1] if told else ""]), told


# --- a folder -----------------------------------------------------------------------------------

def test_a_hostile_folder(tmp_path: Path) -> None:
    """Files that are none, are too large, lie elsewhere or never end; each costs its student only,
    who gets a line for review where a file was there.
    """
    secret = tmp_path / "secret.txt"
    secret.write_text("1a: 2x sin x + x^2 cos x\n")
    subs = tmp_path / "subs"

    def there(name: str) -> Path:
        (subs / name).mkdir(parents=True)
        return subs / name / "answers.txt"

    there("ann").write_text("1a: 2x sin x + x^2 cos x\n")
    there("huge").write_bytes(b"1a: " + b"x" * 70_000)
    there("nul").write_bytes(b"1a: 2x\0")
    there("binary").write_bytes(bytes(range(1, 256)) * 10)
    there("folder").mkdir()
    there("lines").write_bytes(b"\n" * 60_000)
    there("same").write_bytes(b"1a: x\n" * 9_000)
    there("zip").with_suffix(".zip").write_bytes(
        b"PK\x03\x04" + b"\0" * 22 + b"../../../pwned.txt")
    os.symlink(secret, there("link"))
    os.symlink("/dev/zero", there("device"))
    os.symlink(tmp_path, subs / "up")
    os.symlink("loop", subs / "loop")
    os.mkfifo(there("fifo"))
    (tmp_path / "sheet.toml").write_text(SHEET)
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transcripts.ROOT", tmp_path)
        with alarm(60):
            status, out, err = in_process(["hw", "run", "sheet.toml", "subs", "-j", "1", "--format",
                                           "json"])
        assert status == 1, err
        assert "Traceback" not in err
        with open(tmp_path / "results" / "gradebook.csv", newline="") as file:
            book = {row["student_id"]: row for row in csv.DictReader(file)}
        not_read = ("huge", "nul", "binary", "zip", "link", "device", "fifo", "up", "loop")
        assert set(book) == {"ann", "lines", "same", *not_read}
        assert book["ann"]["1a"] == "1"
        for name in not_read:
            assert (book[name]["status"], book[name]["score"]) == ("review", "0"), name
        notes = (tmp_path / "results" / "notes.csv").read_text()
        for word in ("link", "device", "fifo", "up", "loop", "64 KiB", "NUL", "no zip archive"):
            assert word in notes
        assert "2x sin x" not in (tmp_path / "results" / "feedback").joinpath(
            next(name for name in os.listdir(tmp_path / "results/feedback")
                 if name.startswith("huge"))).read_text()
        assert {path.name for path in tmp_path.iterdir()} == before | {"results"}
        # Sheets are a teacher's, and read with care all the same.
        for data, code in ((b"#" * (MAX_SHEET + 1), "E0707"), (b"\0" * 100, "E0604"),
                           (b"\xff\xfe" * 9, "E060"), (b"[" * 10_000, "E0709"),
                           (b'[[problem]]\nid = "1"\nfunction = "' + b"(" * 10_000 + b'"', "E070"),
                           (b"a" * 10_000 + b" = 1" + b"0" * 10_000, "E070")):
            (tmp_path / "bad.toml").write_bytes(data)
            status, out, err = in_process(["hw", "lint", "bad.toml"])
            assert (status, out) == (3, ""), data[:20]
            assert f"error[{code}" in err
            assert len(err) < 4000
