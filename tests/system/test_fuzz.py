"""Whatever is given, the answer is an answer or a coded error with a place: never a traceback, a
hang, or output that does not read back.

1,000 programs (a third of them at least with an answer) and 1,000 command lines, from fixed seeds,
in this process; 5,000 programs where a seed is given. An alarm guards each input; nothing else is
timed.
"""

from __future__ import annotations

import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alarms import alarm
from draws import drawn, many
from folders import ROOT
from fuzz_commands import COLOUR, FORMULAS
from program_grammars import point, sound, wild
from slips import noise, soup, spoiled

from gradcli.cli.environment import Environment
from gradcli.cli.main import run
from gradcli.cli.options import find

PROGRAMS, COMMAND_LINES, SHARES = many(1_000, 5_000), 1_000, 8
SECONDS = 60        # of work per input: a thousand times what one takes
# What may be wrong with a program that is made to be right: a value is withheld (E0203), --wrt
# names what it lacks or what is computed (E0204, E0212), a slope that is None is used (E0309).
WITHHELD = frozenset(("E0203", "E0204", "E0212", "E0309"))
SORTS = ("valid",) * 6 + ("wild",) * 3 + ("spoiled", "spoiled", "sample", "soup", "noise")
BUDGETS = ("--max-steps", "20000", "--max-memory", "1M")
SEEDS = [path.read_bytes() for path in sorted((ROOT / "samples").rglob("*.txt"))]
def ask(argv: list[str], data: bytes) -> tuple[int, str, str]:
    """(status, stdout, stderr) of a command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    environment = Environment(io.BytesIO(data), out, err, {"COLUMNS": "80"})
    try:
        with alarm(SECONDS):
            status = run(argv, environment)
    except BaseException as problem:
        raise AssertionError(f"{type(problem).__name__}: {problem}\n{argv}\n{data!r}") from problem
    return status, out.getvalue(), err.getvalue()


def judge(argv: list[str], data: bytes, allowed: frozenset[str] = frozenset()) -> int:
    """Run one input and hold it to the contract; its status. allowed: the codes that it may have,
    any if empty.
    """
    status, out, err = ask(argv, data)
    told = f"{argv}\n{data!r}\nstatus {status}\n{out[:2000]}{err[:2000]}"
    assert status in (0, 1, 3), told
    machine = any(word in ("json", "ndjson") for word in argv)
    if status == 3:
        assert not out, told
        assert not allowed or allowed.issuperset(re.findall(r"\bE0\d{3}\b", err)), told
        if machine:
            errors = json.loads(err, parse_constant=refuse)
            for one in [errors["error"], *errors.get("errors", ())]:
                assert re.fullmatch("E0[1-6][0-9]{2}", one["code"]), told
                assert one["file"], told
                assert empty(data) or (one["line"] and one["column"]), told
                assert empty(data) or (one["end_line"], one["end_column"]) \
                    >= (one["line"], one["column"]), told
        else:
            heads = re.findall(r"^error\[E0[1-6]\d\d\]: \S.*\n( +)--> \S", err, re.MULTILINE)
            assert len(heads) == err.count("error[E0"), told
    elif machine:
        for line in out.splitlines():
            assert json.loads(line, parse_constant=refuse)["schema"] == 1, told
    assert all(c.isprintable() or c in "\n\t" for c in out + err), told
    return status


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def empty(data: bytes) -> bool:
    """Nothing has no lines."""
    return not data.removeprefix(b"\xef\xbb\xbf")


def command(stream: random.Random, given: str) -> list[str]:
    """One of the commands with some of its options, its text on standard input."""
    name = stream.choice(("grad", "grad", "grad", "jac", "hess", "eval")) if given else "eval"
    argv = [name, "-", *BUDGETS]
    if given:
        argv += ["--at", given]
    argv += ["--format", stream.choice((
        "plain", "json", "json", "ndjson", "csv", "tsv", "markdown", "latex"))]
    if stream.random() < 0.03:
        argv[-1] = "table"
    more = {"grad": ("--verify", "--mode=finite", "--mode=forward", "--output-gradient=2"),
            "jac": ("--mode=forward", "--verify"), "eval": (),
            "hess": ("--eig", "--verify", "--mode=forward")}
    shared = () if name == "eval" else ("--unconnected=zero", "--tf", "--strict", "-q")
    for option in (*more[name], *shared):
        slow = option in ("--verify", "--mode=finite")
        if stream.random() < (0.02 if slow else 0.06):
            argv.append(option)
    names, wrt = re.findall(r"(\w+)=", given), ""
    if name != "eval" and stream.random() < 0.1:
        wrt = stream.choice((*names, ",".join(names), "r6s"))
    if "--mode=finite" in argv:
        wrt = names[0]      # by all of a dozen it may take a minute
    if wrt:
        argv += ["--wrt", wrt]
    return argv


def inputs(number: int, count: int) -> Iterator[tuple[str, list[str], bytes]]:
    """(sort, argv, text) in the shares of SORTS."""
    stream = drawn(f"gradcli {number}")
    for k in range(count):
        sort = SORTS[k % len(SORTS)]
        if sort == "valid":
            data = sound(stream).encode()
        elif sort == "wild":
            data = wild(stream).encode()
        elif sort == "spoiled":
            data = spoiled(stream, sound(stream).encode(), FORMULAS)
        elif sort == "sample":
            source = stream.choice(SEEDS if stream.random() < 0.5 else FORMULAS)
            data = spoiled(stream, source, SEEDS)
        elif sort == "soup":
            data = soup(stream).encode()
        else:
            data = noise(stream)
        given = point(stream, data.decode("utf-8", "replace"))
        yield sort, command(stream, given if stream.random() < 0.95 else ""), data


@pytest.mark.parametrize("share", range(SHARES))
def test_programs(share: int, record_property: Callable[[str, object], None]) -> None:
    found: Counter[tuple[str, int]] = Counter()
    wrong = []
    for sort, argv, data in inputs(share, PROGRAMS // SHARES):
        try:
            found[sort, judge(argv, data, WITHHELD if sort == "valid" else frozenset())] += 1
        except AssertionError as problem:
            wrong.append(str(problem))
    assert not wrong, f"{len(wrong)} inputs, such as\n" + "\n".join(sorted(wrong, key=len)[:3])
    answered = sum(count for (_, status), count in found.items() if status != 3)
    record_property("answered", answered)
    assert 3 * answered >= PROGRAMS // SHARES, found


# --- command lines ----------------------------------------------------------------------------

QUESTIONS = ("grad", "jac", "hess", "eval")
COMMANDS = (*QUESTIONS, "why", "run", "ops")
WORDS = ("x", "y", "x=1", "x=2,y=3", "x=[1,2", "x==2", "=", ",", "", " ", "-", "--", "-e", "x^2*y",
         "1", "0", "-1", "1e9", "9" * 30, "nan", "inf", "2G", "1K", "json", "plain", "reverse",
         "zero", "always", "f", "x,y", "x,,y", "[1,2]", "[[1,2],[3]]", '"a"', "none", "true", "{}",
         "()", "x y", "\x1b[31m", "\u202e", "\udcff", "\0", "\n", "x\ny", "θ=1", "λ", "=cmd()",
         "a" * 300, "x:=1", "--at", "--wrt=x", "-x", "--help", "-h", "-qv", "-vv", "@file", "%s",
         "{x}", "[bold]", "2*pi", "x=2*pi", "x=sin(1)", "x=y", "x=1;2", "x=1/0", "x=1e400",
         "x=int(2)", "x=bool(1)", "x='t'", "x=[]", "x=zeros(0)", "x=ones(1000,1000)", "x=none",
         "pi=3", "e=2", "sin=1", "x=x", "x=[x]")


def line(stream: random.Random) -> list[str]:
    """A command with options and values that may or may not fit them."""
    name = stream.choice((*COMMANDS, *QUESTIONS) if stream.random() < 0.97 else WORDS)
    argv = [name]
    if name in QUESTIONS and stream.random() < 0.9:
        argv += stream.choice((["-"], ["-e", stream.choice(FORMULAS).decode()], ["-e", "x^2*y"]))
        if stream.random() < 0.6:
            argv += ["--at", f"x={value(stream)},y=2"]
    elif stream.random() < 0.3:
        argv.append(stream.choice(("sin", "where", "no-such-file", ".", "", "besselj")))
    known = [o for o in find(name).options if o.name != "timeout"] if name in COMMANDS else []
    for _ in range(stream.choice((0, 1, 1, 2, 3))):
        if not known or stream.random() < 0.05:
            argv.append(stream.choice(WORDS))
            continue
        option = stream.choice(known)
        flag = stream.choice(option.flags)
        if option.kind in ("flag", "count"):
            argv.append(flag)
            continue
        text = (stream.choice(option.choices) if option.choices and stream.random() < 0.7
                else "out.txt" if option.name == "output" else stream.choice(WORDS)
                if stream.random() < 0.6 else value(stream))
        joined = flag.startswith("--") and stream.random() < 0.3
        argv += [f"{flag}={text}"] if joined else [flag, text]
    return argv


def value(stream: random.Random) -> str:
    """A text for --at and its kin: constants, and what is left of them after a slip."""
    text = stream.choice(("3", "2*pi", "[1, 2]", "linspace(0, 1, 5)", "[[1, 2], [3, 4]]", "-1e-3",
                          "e^2", "sqrt(2)", "1 if 2 > 1 else 0", "float32(1)", "{'a': 1}",
                          "sum([1, 2])"))
    if stream.random() < 0.5:
        text = spoiled(stream, text.encode(), [b"(", b"x", b"=", b"2"]).decode("utf-8", "replace")
    return text.replace("\0", "") if stream.random() < 0.9 else text


@pytest.mark.parametrize("share", range(2))
def test_command_lines(share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stream = drawn(f"gradcli options {share}")
    found: Counter[int] = Counter()
    for _ in range(COMMAND_LINES // 2):
        argv = line(stream)
        status, out, err = ask(argv, b"x^2*y\n")
        told = f"{argv}\nstatus {status}\n{(out + err)[:2000]}"
        found[status] += 1
        assert status in (0, 1, 2, 3), told
        assert (status == 2) == ("Error: " in err or "Usage: " in err), told
        assert not (status in (2, 3) and out), told
        assert (status == 3) == ("error[E0" in err or '{"schema": 1, "error"' in err), told
        assert all(c.isprintable() or c in "\n\t" for c in re.sub(COLOUR, "", out + err)), told
    assert min(found[status] for status in (0, 2, 3)) > COMMAND_LINES // 40, found
    assert {path.name for path in tmp_path.iterdir()} <= {"out.txt"}
