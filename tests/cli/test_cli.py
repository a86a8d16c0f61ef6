"""The command line: every option at work, every exit status, two readers of one command line.

Formats are in test_formats.py, streams and files in test_streams.py, what terminals show in
test_terminal.py.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from asked import USUAL, gradients, loaded, ok
from conftest import folded
from readers import compared
from transcripts import in_process

from gradcli.cli.options import find
from gradcli.render import DOCUMENTS, EXACT

COMMANDS = ("grad", "jac", "hess", "eval", "why", "run", "ops")
OPTIONS = list({one.name: one for name in COMMANDS for one in find(name).options}.values())

TWO_KINDS = "const c = 2; var x = 3; var k = 4, trainable=false; c*x*k"
# Every option with an argument list that shows it at work, and what the output then holds.
EFFECTS: dict[str, list[tuple[list[str], str]]] = {
    "expression": [(["eval", "-e", "2^10"], "f\t1024\n"), (["eval", "--expression=1"], "f\t1\n")],
    "latex": [(["grad", "-e", r"\frac{x^{2}}{2}", "--at", "x=3", "--latex"], "df/dx\t3\n"),
              (["eval", "-e", r"\sqrt{x}", "--at", "x=9", "--latex"], "f\t3\n")],
    "wrt": [(["grad", *USUAL, "--wrt", "y"], "df/dy\t1.97"),
            (["hess", *USUAL, "--wrt", "x,y"], "d2f/dydy\t"),
            (["jac", *USUAL, "--wrt", "y", "--wrt", "x"], "df/dx\t")],
    "of": [(["grad", "-e", "a = x^2; b = 5x", "--at", "x=1", "--of", "a"], "da/dx\t2\n"),
           (["grad", "-e", "a = x^2; b = 5x", "--at", "x=1", "--of=a", "--of=b"],
            "da/dx\t2\ndb/dx\t5\n"),
           (["grad", "-e", "a = x^2; b = 5x", "--at", "x=1", "--of", "a+b"], "\t7\n"),
           (["eval", "-e", "a = x^2; b = 5x", "--at", "x=1", "--of=a", "--of=b"], "a\t1\nb\t5\n")],
    "at": [(["eval", "-e", "x + y", "--at", "x=1", "--at", "y=2"], "f\t3\n"),
           (["eval", "-e", "sum(x)*y", "--at", "x=[1,2],y=2*pi/pi"], "f\t6\n")],
    "mode": [(["grad", "-e", "x^2", "--at", "x=3", "--mode", mode], "df/dx\t6")
             for mode in ("reverse", "forward")] + [
             (["grad", "-e", "abs(x - 1)", "--at", "x=1", "--mode", "finite"], "df/dx\t0")],
    "verify": [(["grad", "-e", "x^2", "--at", "x=3", "--verify"], "df/dx\t6\t")],
    "exact": [(["eval", "-e", "1/3 + 1/6", "--exact"], "f\t1/2\n"),
              (["tangent", "-e", "x^2*sin(x)", "--at", "x=pi", "--exact"], "-pi^2*x + pi^3")],
    "eig": [(["hess", "-e", "x^2 - y^2", "--at", "x=3,y=1", "--eig"], "definiteness\tindefinite")],
    "sparse": [(["jac", "-e", "2*x", "--at", "x=[1,2]", "--sparse"],
                "df[0]/dx[0]\t2\ndf[1]/dx[1]\t2\n"),
               (["hess", "-e", "x[0]^2*x[1]", "--at", "x=[1,2,3]", "--sparse"],
                "d2f/dx[0]dx[0]\t4\nd2f/dx[0]dx[1]\t2\nd2f/dx[1]dx[0]\t2\n")],
    "unconnected": [(["grad", "-e", "x = 1; y = 2; x^2", "--wrt", "y", "--unconnected", "zero"],
                     "df/dy\t0\n")],
    "output_gradient": [(["grad", "-e", "[x, x^2]", "--at", "x=3", "--output-gradient", "[1, 10]"],
                         "df/dx\t61\n"),
                        (["grad", "-e", "x^2", "--at", "x=3", "--output-gradient", "1/2"],
                         "df/dx\t3\n")],
    "watch": [(["grad", "-e", TWO_KINDS, "--wrt", "c,k", "--watch", "c,k"],
               "df/dc\t12\ndf/dk\t6\n")],
    "tf": [(["grad", "-e", TWO_KINDS, "--tf"], "df/dx\t8\n")],
    "fix": [(["why", "-e", "2*floor(x)", "--at", "x=1.5", "--fix"], "\n-2*floor(x)\n")],
    "framework": [(["why", "-e", "2*floor(x)", "--at", "x=1.5", "--framework", "jax"],
                   "\n  path-step-function: 0\n    write: `x + jax.lax.stop_gradient(")],
    "format": [(["eval", "-e", "1", "--format", "ndjson"], '"value": 1.0')],
    "digits": [(["eval", "-e", "pi", "--format", "table", "--digits", "3"], "f = 3.14\n")],
    "strict": [(["grad", *USUAL, "--strict"], "df/dx\t1.43")],
    "strict_syntax": [(["derive", "-e", "xe^2", "--strict-syntax"], "df/dxe\t2*xe\n")],
    "output": [(["eval", "-e", "1", "-o", "-"], "f\t1\n")],
    "color": [(["grad", *USUAL, "--format", "table", "--color", "always"], "\x1b[1m"),
              (["grad", *USUAL, "--format", "table", "--color", "never"], "\nx  ")],
    "quiet": [(["eval", "-e", "1", "-q"], "f\t1\n"), (["eval", "-e", "1", "--quiet"], "f\t1\n")],
    "verbose": [(["eval", "-e", "1", "-v"], "f\t1\n"), (["ops", "sin", "-vv"], "sin\tcos(x)\n")],
    "max_steps": [(["eval", "-e", "1", "--max-steps", "100"], "f\t1\n")],
    "max_memory": [(["eval", "-e", "sum(ones(10))", "--max-memory", "1K"], "f\t10\n")],
    "timeout": [(["eval", "-e", "1", "--timeout", "100"], "f\t1\n")],
    "no_derivative": [(["ops", "--no-derivative"], "floor\tx + stop_gradient(floor(x) - x)\n")],
    "search": [(["ops", "--search", "bessel"], "besselj\t")],
    "group": [(["ops", "--group", "logic"], "isnan\tNone\n")],
    "points": [(["eval", "-e", "x^2", "--points", "x=[2,3]"], "x,f\n2,4\n3,9\n")],
    "points_format": [(["eval", "-e", "length*angle", "--points", "samples/pendulum.csv",
                        "--points-format", "csv"], "hall,0.5,0.1,0.05\n")],
    "on_error": [(["eval", "-e", "x", "--points", "samples/errors/points.csv", "--on-error",
                   "skip"], "x,y,f\n1,2,1\n5,8,5\n")],
    "jobs": [(["eval", "-e", "x", "--points", "x=1", "--jobs", "1"], "x,f\n1,1\n")],
}
# An option whose only effect so far is an error: a file of this version has one tape.
REFUSED = {"tape"}
# Options that want a file, a script or a browser: at work in test_why.py, test_scripts.py and
# test_html.py.
OF_FILES = {"write", "real", "open"}
# One that wants a cluster: at work in test_cluster.py.
OF_CLUSTERS = {"scheduler"}


@folded
@pytest.mark.parametrize(("arguments", "shown"), [
    pytest.param(*effect, id=f"{name}{k}") for name, effects in EFFECTS.items()
    for k, effect in enumerate(effects)])
def test_option(arguments: list[str], shown: str) -> None:
    status, out, _ = in_process(arguments)
    assert status == 0
    assert shown in out


def test_every_option_is_shown_at_work() -> None:
    assert {option.name for option in OPTIONS} == (
        set(EFFECTS) | REFUSED | OF_FILES | OF_CLUSTERS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_accepted_where_it_exists_and_nowhere_else(command: str) -> None:
    values = {"expression": "x^2", "wrt": "x", "of": "f", "at": "x=2", "watch": "x", "digits": "3",
              "output_gradient": "2", "output": "-", "max_steps": "99", "max_memory": "1G",
              "timeout": "99",
              "points": "x=1", "jobs": "1"}
    own = [one.name for one in find(command).options]
    for option in OPTIONS:
        if option.name in OF_CLUSTERS and option.name in own:
            continue
        for flag in option.flags:
            argv = [command, *(["sin"] if command == "ops" else ["-e", "x^2", "--at", "x=1"])]
            if option.name == "expression":
                del argv[1:3]
            if option.name == "at" and "at" in own:
                del argv[3:]
            if option.name in ("no_derivative", "search", "group") and option.name in own:
                del argv[1:]    # a name says already which operation
            if option.name in ("points", "points_format", "jobs") and option.name in own:
                argv[-2:] = () if option.name == "points" else ("--points", "x=1")
            argv.append(flag)
            if option.kind not in ("flag", "count"):
                argv.append(values.get(option.name, option.choices[-1] if option.choices else "t"))
            if option.name == "open":
                argv += ["--format", "csv"]     # which is no page: no browser opens
            status = in_process(argv)[0]
            expected = (2 if option.name not in own or option.name in OF_FILES
                        else 3 if option.name in REFUSED else 0)
            assert status == expected, argv


def test_ops_of_a_group_of_a_word_and_without_derivatives() -> None:
    every = loaded("ops")["operations"]
    names = {one["name"]: one for one in every}
    assert {one["group"] for one in every} >= {"Arithmetic", "Comparison and logic"}
    assert {name: names[name]["differentiable"] for name in (
        "sin", "prod", "where", "floor", "less", "int", "unique", "normal", "zeros", "cast")} == {
        "sin": "yes", "prod": "yes", "where": "in part", "floor": "no", "less": "no", "int": "no",
        "unique": "no", "normal": "no", "zeros": "no", "cast": "yes"}
    for argv, kept in (
            (["--no-derivative"], lambda one: one["differentiable"] == "no"),
            (["--group", "LOGIC"], lambda one: one["group"] == "Comparison and logic"),
            (["--group", "logic", "--no-derivative", "--search", "true or false"], lambda one: (
                one["group"] == "Comparison and logic" and one["differentiable"] == "no"
                and "true or false" in one["doc"]))):
        assert loaded("ops", *argv)["operations"] == [one for one in every if kept(one)]
    for word in ("lg", "LOG10", "logarithm to base 10"):     # an alias, the name, what it does
        assert "log10" in [one["name"] for one in loaded("ops", "--search", word)["operations"]]
    for name in ("sin", "floor", "lg"):     # one alone is the same as among all
        (one,) = loaded("ops", name)["operations"]
        assert one in every


@pytest.mark.parametrize(("argv", "status", "told"), [
    (["--search", "sqqrt"], 3, "did you mean `sqrt`?"),
    (["--search", "qqq"], 3, "no operation that is asked for is about `qqq`"),
    (["--group", "qqq"], 3, "the groups are: Arithmetic; "),
    (["sin", "--no-derivative"], 2, "already says which operation"),
    (["sin", "--search", "sin"], 2, "already says which operation"),
    (["sin", "--group", "logic"], 2, "already says which operation")])
def test_ops_that_are_not_there(argv: list[str], status: int, told: str) -> None:
    found, out, err = in_process(["ops", *argv])
    assert (found, out) == (status, "")
    assert told in " ".join(err.split())


def test_a_comma_list_gives_one_result_each_and_plus_a_sum() -> None:
    formula = ["-e", "a = x^2; b = 5*x*y", "--at", "x=3,y=2"]
    both = loaded("grad", *formula, "--of", "a+b")["results"]
    assert [(r["of"], r["summed"], [s["gradient"] for s in r["sources"]]) for r in both] == [
        ("a,b", True, [16.0, 15.0])]
    for of in (["--of", "a,b"], ["--of", "a", "--of", "b"], ["--of", "a,", "b"]):
        each = loaded("grad", *formula, *of)["results"]
        assert [(r["of"], r["summed"]) for r in each] == [("a", False), ("b", False)]
        assert each[0]["sources"][0]["gradient"] == 6.0
        assert [s["gradient"] for s in each[1]["sources"]] == [10.0, 15.0]


def test_watch_and_tf() -> None:
    formula = ["-e", TWO_KINDS, "--wrt", "c,x,k"]
    assert gradients(*formula) == {"c": None, "x": 8.0, "k": None}
    assert gradients(*formula, "--watch", "c") == {"c": 12.0, "x": 8.0, "k": None}
    assert gradients(*formula, "--watch", "c,k", "--tf") == {"c": 12.0, "x": 8.0, "k": 6.0}
    plain = ["-e", "a = 3.0; var b = 2; a*b", "--wrt", "a,b"]
    assert gradients(*plain) == {"a": 2.0, "b": 3.0}
    assert gradients(*plain, "--tf") == {"a": None, "b": 3.0}
    assert gradients(*plain, "--tf", "--watch", "a") == {"a": 2.0, "b": 3.0}


def test_unconnected_zero_keeps_its_reasons() -> None:
    answer = loaded("grad", "-e", "var x = 1.5; var y = 2; floor(x)", "--unconnected", "zero")
    for source in answer["results"][0]["sources"]:
        assert source["gradient"] == 0.0
        assert source["reasons"]
        assert "zero-requested" in [note["code"] for note in source["notes"]]
    answer = loaded("jac", "-e", "var w = [1, 2]; [1.0, 2.0, 3.0]*2", "--unconnected=zero")
    assert answer["results"][0]["sources"][0]["jacobian"] == [[0.0, 0.0]] * 3
    answer = loaded("hess", "-e", "var x = 1.5; floor(x)", "--unconnected", "zero")
    assert answer["results"][0]["blocks"][0]["hessian"] == 0.0


def test_digits_are_for_people_only() -> None:
    third = ["eval", "-e", "1/3", "--digits", "3"]
    for format, shown in (("table", "f = 0.333\n"), ("markdown", "`f` = 0.333\n"),
                          ("latex", "f &= 0.333\n")):
        assert shown in ok(*third, "--format", format)
        assert "0.3333333333333333" in ok("eval", "-e", "1/3", "--format", format)
    assert {"markdown", "latex"} <= set(DOCUMENTS)
    for format in DOCUMENTS:
        assert "0.3333" not in ok(*third, "--format", format)
    for format in EXACT:
        assert "0.3333333333333333" in ok(*third, "--format", format)


@pytest.mark.parametrize("command", ["grad", "jac", "hess", "why", "steps", "run", "check"])
@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_digits_mean_the_same_in_every_command(command: str, format: str) -> None:
    argv = {"run": ["samples/training/three_points.txt"],
            "check": ["x^2/3", "x"]}.get(command, ["-e", "x^3/3", "--at", "x=1.2345678"])
    if (command, format) == ("check", "latex"):
        assert in_process([command, *argv, "--format", format])[0] == 2     # it has no LaTeX
        return
    _, out, _ = in_process([command, *argv, "--digits", "3", "--format", format])
    # What `check` says in words has its own digits.
    shown = [line for line in out.splitlines() if not line.startswith(("wrong", "**wrong"))]
    found = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", "\n".join(shown))
    assert found
    assert all(len(number.replace(".", "").lstrip("0")) <= 3 for number in found), out


def test_what_is_calculated_from_rounded_numbers_is_not_shown() -> None:
    """The product along a path is that of all digits."""
    for format in ("table", "markdown", "latex"):
        out = ok("why", "-e", "x^3/3", "--at", "x=1.2345678", "--digits", "3", "--format", format)
        assert "4.57 * 0.333 = 1.52\n" in out.replace("\\", "")


def test_quiet_drops_the_notes_and_keeps_the_answer() -> None:
    argv = ["grad", "-e", "abs(x) + sum(w)*[1, 2]", "--at", "x=0,w=[1, 2]"]
    loud, quiet = loaded(*argv)["results"][0], loaded(*argv, "-q")["results"][0]
    assert loud["notes"]
    assert quiet["notes"] == []
    assert all(source["notes"] == [] for source in quiet["sources"])
    assert [s["gradient"] for s in loud["sources"]] == [s["gradient"] for s in quiet["sources"]]


# --- exit statuses ----------------------------------------------------------------------------

@pytest.mark.parametrize(("expected", "arguments"), [
    (0, ["--version"]), (0, ["--help"]), (0, ["-h"]), (0, ["grad", "--help"]), (0, ["ops"]),
    (0, ["grad", *USUAL]), (0, ["grad", "-e", "floor(x)", "--at", "x=1.5"]),
    (0, ["grad", "-e", "log(x)", "--at", "x=-1"]),          # NaN is an answer
    (0, ["grad", "-e", "-x", "--at", "x=1"]), (0, ["grad", "-ex^2", "--at=x=1"]),
    (1, ["grad", "-e", "floor(x)", "--at", "x=1.5", "--strict"]),
    (1, ["hess", "-e", "floor(x)", "--at", "x=1.5", "--strict"]),
    (1, ["jac", "-e", "floor(x)", "--at", "x=1.5", "--strict"]),
    (0, ["hess", "-e", "x + y", "--at", "x=1,y=2", "--strict"]),    # a zero is no None
    (1, ["grad", "-e", "x*stop_gradient(x)", "--at", "x=3", "--verify"]),
    (1, ["jac", "-e", "[x, x*stop_gradient(x)]", "--at", "x=3", "--verify"]),
    (1, ["grad", "-e", "relu(x)", "--at", "x=0", "--verify"]),      # a kink: 0 against 1/2
    (0, ["grad", "-e", "x^3*exp(x)", "--at", "x=3", "--verify"]),
    (0, ["grad", "-e", "sum(sin(w))", "--at", "w=[1, 2, 3]", "--verify"]),
    (2, []), (2, ["gard"]), (2, ["grad"]), (2, ["grad", "-e"]), (2, ["grad", "-e", "x", "file"]),
    (2, ["grad", *USUAL, "--wtr", "x"]), (2, ["grad", *USUAL, "--format", "xml"]),
    (2, ["grad", *USUAL, "--mode", "sideways"]), (2, ["grad", *USUAL, "--digits", "0"]),
    (2, ["grad", *USUAL, "--digits", "six"]), (2, ["grad", *USUAL, "--at", "x"]),
    (2, ["grad", *USUAL, "--at", "=3"]), (2, ["grad", *USUAL, "--wrt", ","]),
    (2, ["grad", *USUAL, "--max-memory", "5X"]), (2, ["grad", *USUAL, "--timeout", "0"]),
    (2, ["grad", *USUAL, "--color", "maybe"]), (2, ["ops", "sin", "cos"]), (2, ["eval", "--tf"]),
    (3, ["grad", "-e", "x^"]), (3, ["grad", "-e", "x^2"]), (3, ["grad", "no-such-file.txt"]),
    (3, ["grad", "samples"]), (3, ["grad", ""]), (3, ["grad", "-e", ""]), (3, ["ops", "sinn"]),
    (3, ["grad", *USUAL, "--wrt", "z"]), (3, ["grad", *USUAL, "--at", "z=1"]),
    (3, ["eval", "-e", "f(n) = f(n + 1); f(0)"]), (3, ["eval", "-e", "1", "--max-steps", "1"]),
    (3, ["grad", *USUAL, "-o", "no-such-folder/out.txt"]),
])
def test_status(expected: int, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = in_process(arguments)
    assert status == expected, err
    assert capsys.readouterr() == ("", ""), "all is written to the streams of the environment"
    if status in (2, 3):
        assert out == ""
        assert err
    else:
        assert out
        assert "error" not in err


def test_usage_errors_name_the_option_and_what_is_near() -> None:
    for arguments, words in (
        (["grad", *USUAL, "--wtr", "x"], ["--wtr", "--wrt"]),
        (["grad", *USUAL, "--format", "xml"], ["--format", "'xml'", "ndjson"]),
        (["grad", *USUAL, "--at", "x"], ["--at", "`x`", "NAME=VALUE"]),
        (["grad"], ["`-`", "formula"]), (["gard"], ["'gard'"]),
        (["grad", *USUAL, "--timeout", "soon"], ["--timeout", "'soon'"])):
        status, _, told = in_process(arguments)
        assert status == 2
        assert "Usage: gradcli" in told
        for word in words:
            assert word in told.partition("Error: ")[2]


def test_a_bug_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(ask: Any) -> Any:
        raise RuntimeError("spanner")

    from gradcli.cli.commands import question

    monkeypatch.setitem(question.QUESTIONS, "grad", broken)
    status, out, err = in_process(["grad", *USUAL])
    assert (status, out) == (70, "")
    assert err.count("\n") == 1
    assert "bug" in err
    assert "RuntimeError: spanner (test_cli.py:" in err
    for loud in (["-vv"], ["-v", "-v"], ["-vvv"]):
        status, _, err = in_process(["grad", *USUAL, *loud])
        assert status == 70
        assert "Traceback (most recent call last)" in err


def test_ctrl_c_gives_130(home: dict[str, str | None]) -> None:
    """In a process of its own, which sends itself the signal in the middle of its work."""
    code = ("import os, signal, sys\n"
            "signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
            "from gradcli.cli.main import main\n"
            "signal.setitimer(signal.ITIMER_PROF, 0.3)\n"      # of work: waiting does not count
            "main()")
    endless = "f(n) = n if n < 2 else f(n - 1) + f(n - 2)\nf(60)"
    for arguments in (["eval", "-e", endless], ["eval", f"-e{endless}"]):   # plain, and by Typer
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=100,
            env={**os.environ, **{k: v for k, v in home.items() if v is not None}}, check=False)
        assert (done.returncode, done.stdout) == (130, "")
        assert "Traceback" not in done.stderr


# --- two readers of one command line ----------------------------------------------------------

TEXTS = ("x", "x,y", "x=1", "x=[1,2],y=3", "", " ", "-", "--", "-x", "-1", "=", "x=-1", "json",
         "plain", "table", "reverse", "finite", "zero", "none", "always", "2G", "0", "12", "1.5",
         "1e3", "+3", " 4", "٣", "9" * 20, "nan", "-e", "--at", "-q", "-vv", "--help", "x^2", "θ",
         "a b", "%d", "@x", "--wrt=x", "-o", "-ox", "--tf=1", "--no-tf")


def command_lines(count: int) -> Iterator[list[str]]:
    """Mostly sound command lines, and slips of all kinds."""
    stream = random.Random(20)
    for _ in range(count):
        name = stream.choice(COMMANDS)
        argv = [name, *stream.choice(([], ["-e", "x^2"], ["file.txt"], ["-"], ["sin"]))]
        for _ in range(stream.choice((0, 1, 2, 3, 4))):
            option = stream.choice(find(name).options if stream.random() < 0.95 else OPTIONS)
            flag = stream.choice(option.flags)
            if stream.random() < 0.03:
                flag = flag[:-1]
            if option.kind in ("flag", "count"):
                argv.append(flag)
                continue
            text = stream.choice((*option.choices, *TEXTS) if stream.random() < 0.4 else
                                 option.choices or {"number": ("1", "12")}.get(option.kind, TEXTS))
            form = stream.random()
            argv += ([f"{flag}={text}"] if form < 0.3 else [flag + text] if form < 0.35
                     else [flag, text])
        if stream.random() < 0.2:
            argv.insert(stream.randrange(1, len(argv) + 1), stream.choice(TEXTS))
        yield argv


def test_both_readers_read_the_same() -> None:
    plain, both = compared(command_lines(450))
    assert plain > 80
    assert both > plain + 3
