"""`gradcli check`: one answer, and a stream of them.

Verdicts are test_check.py's; here is what the command line makes of them. The derivatives in the
examples are those of any table of derivatives.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from asked import valid
from commands import Ran
from conftest import folded
from loaded import HEAVY, command, loaded_by
from readers import by_typer, compared
from terminals import bare, on_terminal
from transcripts import in_process

from gradcli.cli.commands import check
from gradcli.cli.options import find, read
from gradcli.cli.options import homework as homework_rows
from gradcli.homework import check as checking
from gradcli.homework import lines

Gradcli = Callable[..., Ran]

# Every option with an argument list that shows it at work, the status and what is printed.
EFFECTS: dict[str, list[tuple[list[str], int, str]]] = {
    "wrt": [(["x^2 y", "2x y", "--wrt", "x"], 0, "verdict\tcorrect\n"),
            (["x^2 y", "(2x y, x^2)", "--wrt", "x,y"], 0, "verdict\tcorrect\n"),
            (["x^2 y", "(2x y, x^2)", "--wrt", "x", "--wrt=y"], 0, "verdict\tcorrect\n")],
    "kind": [(["[r cos t, r sin t]", "[[cos t, -r sin t], [sin t, r cos t]]", "--kind",
               "jacobian", "--wrt", "r,t"], 0, "verdict\tcorrect\n")],
    "at": [(["x^2", "6", "--at", "x=3"], 0, "verdict\tcorrect\n"),
           (["x^2", "5", "--at", "x=3"], 1, "verdict\twrong\n"),
           (["sin x", "0", "--at", "x=pi/2"], 0, "verdict\tcorrect\n")],
    "to": [(["sqrt x", "2.025", "--at", "x=4", "--to", "x=4.1", "--kind", "estimate"], 0,
            "verdict\tcorrect\n"),
           (["sqrt x", "2.0248", "--at", "x=4", "--to", "x=4.1"], 1, "answered_original")],
    "words": [(["|x|", "does not exist", "--at", "x=0", "--words", "DNE"], 0,
               "verdict\tcorrect\n"),
              (["|x|", "0", "--at", "x=0", "--words", "DNE"], 1, "verdict\twrong\n")],
    "order": [(["x^3", "6x", "--order", "2"], 0, "verdict\tcorrect\n"),
              (["x^3", "3x^2", "--order", "2"], 1, "verdict\twrong\n")],
    "direction": [(["x y", "(3y + 4x)/5", "--wrt", "x,y", "--direction", "3,4"], 0,
                   "verdict\tcorrect\n")],
    "dependent": [(["x^2 + y^2 = 25", "-x/y", "--dependent", "y", "--wrt", "x"], 0,
                   "verdict\tcorrect\n")],
    "parameters": [(["a x^2", "2 a x", "--parameters", "a"], 0, "verdict\tcorrect\n")],
    "tolerance": [(["x^2", "6.1", "--at", "x=3", "--tolerance", "5%"], 0, "verdict\tcorrect\n"),
                  (["x^2", "6.1", "--at", "x=3", "--tolerance", "0.01 abs"], 1,
                   "verdict\twrong\n")],
    "domain": [(["sqrt(x^2)", "1", "--domain", "x=1:5"], 0, "verdict\tcorrect\n"),
               (["sqrt(x^2)", "1"], 1, "verdict\twrong\n")],
    "domain_policy": [(["x^2", "2 sqrt(x)^2"], 0, "verdict\tdomain\nscore\t1\n"),
                      (["x^2", "2 sqrt(x)^2", "--domain-policy", "reject"], 1,
                       "verdict\tdomain\nscore\t0\n")],
    "log": [(["log x", "1/x"], 0, "verdict\tcorrect\n"),
            (["log x", "1/(x ln 10)", "--log", "ten"], 0, "verdict\tcorrect\n")],
    "angle": [(["sin x", "pi/180 cos x", "--angle", "degree"], 0, "verdict\tcorrect\n")],
    "real_roots": [(["x^(1/3)", "1/(3 x^(2/3))", "--real-roots"], 0, "verdict\tcorrect\n")],
    "decimal_comma": [(["0,5 x^2", "1,0 x", "--decimal-comma"], 0, "verdict\tcorrect\n")],
    "unit": [(["5t^2", "2000 cm/s", "--unit", "m/s", "--at", "t=2"], 0, "verdict\tcorrect\n"),
             (["5t^2", "20 m", "--unit", "m/s", "--at", "t=2"], 1, "mistake\tunit_wrong\n")],
    "seed": [(["x^2", "2x", "--seed", "12"], 0, "verdict\tcorrect\n"),
             (["x^2", "2x", "--seed", "a word"], 0, "verdict\tcorrect\n")],
    "format": [(["x^2", "2x", "--format", "ndjson"], 0, '"verdict": "correct"')],
    "digits": [(["x^3", "x^2", "--format", "table", "--digits", "3"], 1, "5.07")],
    "output": [(["x^2", "2x", "-o", "-"], 0, "verdict\tcorrect\n")],
    "color": [(["x^2", "2x", "--format", "table", "--color", "always"], 0, "\x1b[1;32mcorrect"),
              (["x^2", "3x", "--format", "table", "--color", "always"], 1, "\x1b[1;31mwrong")],
    "quiet": [(["x^2", "2x", "-q"], 0, "verdict\tcorrect\n")],
    "verbose": [(["x^2", "2x", "-v", "--format=table"], 0, "512 usable")],
}
# At work further below, with a file or a cluster.
ELSEWHERE = {"batch", "jobs", "open", "scheduler"}


@pytest.mark.parametrize(("arguments", "expected", "shown"), [
    pytest.param(*effect, id=f"{name}{k}") for name, effects in EFFECTS.items()
    for k, effect in enumerate(effects)])
def test_option(arguments: list[str], expected: int, shown: str) -> None:
    status, out, err = in_process(["check", *arguments])
    assert (status, err) == (expected, "")
    assert shown in out


def test_every_option_is_shown_at_work() -> None:
    assert {option.name for option in find("check").options} == set(EFFECTS) | ELSEWHERE


def test_kinds_are_those_of_the_library() -> None:
    from gradcli.homework.checking.kinds import KINDS

    assert homework_rows.KINDS == KINDS


# --- one answer -------------------------------------------------------------------------------

@folded
@pytest.mark.parametrize(("expected", "arguments"), [
    (0, ["x^2 sin x", "2x sin x + x^2 cos x"]), (0, ["x", "1"]), (0, ["--help"]), (0, ["-h"]),
    (0, ["x^2", "2x", "--wrt=x"]), (0, ["--wrt", "x", "x^2", "--", "2x"]),
    (0, ["x^2 + y^2 = 25", "-x/y", "--dependent", "y"]),
    (0, ["pi x^2 + y^2 = 25", "-pi x/y", "--kind", "implicit"]),
    (1, ["x^2", "3x"]), (1, ["x^2", "2x +"]), (1, ["x^2", ""]), (1, ["x^2", "2x)("]),
    (1, ["x^2", "__import__('os').system('true')"]), (1, ["x^2", "(" * 5000]),
    (1, ["x^2", "9^9^9^9^9^9"]), (1, ["x^2", "\x1b[2J"]), (1, ["x^2", "[/b][link=a]"]),
    (2, []), (2, ["x^2"]), (2, ["x^2", "2x", "2x"]), (2, ["x^2", "2x", "--wtr", "x"]),
    (2, ["x^2", "2x", "--kind", "nothing"]), (2, ["x^2", "2x", "--at", "x"]),
    (2, ["x^2", "2x", "--domain", "x=5"]), (2, ["x^2", "2x", "--format", "latex"]),
    (2, ["x^2", "2x", "--batch", "-"]), (2, ["--batch", "-", "--format", "table"]),
    (2, ["x^2", "2x", "-j", "2"]), (2, ["x^2", "2x", "--order", "0"]),
    (2, ["--batch", "-", "-j", "2", "--scheduler", "tcp://a:1"]),
    (3, ["x^2 +", "2x"]), (3, ["", "2x"]), (3, ["x^2", "2x", "--order", "9"]),
    (3, ["x y", "y"]), (3, ["x^2", "2x", "--at", "x=z"]), (3, ["x^2", "2x", "--tolerance", "?"]),
    (3, ["x^2", "2x", "--domain", "x=5:1"]), (3, ["x^2", "2x", "--kind", "value"]),
    (3, ["(" * 3000 + "x" + ")" * 3000, "1"]), (3, ["x^2", "2x", "-o", "no-such-folder/a"]),
    (3, ["--batch", "no-such-file.ndjson"]), (3, ["--batch", "samples"]),
])
def test_status(expected: int, arguments: list[str]) -> None:
    status, out, err = in_process(["check", *arguments])
    assert status == expected, err
    assert "Traceback" not in err
    assert "a bug" not in err
    assert all(c.isprintable() or c in "\n\t" for c in out + err)
    if status in (2, 3):
        assert out == ""
        assert err
    else:
        assert out


ANSWERS = ("-sin x", "-2x", "-x", "-(x+1)", "- sin x", "-1", "-cos(x)", "-omega", "-j", "-xq", "-π")


@folded
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("form", ["{a} {b}", "--wrt x {a} {b}", "{a} --wrt x {b}", "-- {a} {b}",
                                  "{a} --wrt=x -- {b}", "{a} {b} -vq"])
def test_an_answer_may_begin_with_a_minus(answer: str, form: str) -> None:
    """Typed as it is, wherever, whoever reads the line."""
    words = [word.format(a="-cos x", b=answer) for word in form.split()]
    if answer == "-j" and "--" not in words:
        return      # that is an option
    found, _ = by_typer(["check", *words])
    assert isinstance(found, homework_rows.CheckOptions)
    assert (found.function, found.answer) == ("-cos x", answer)
    plain = read(["check", *words])
    assert plain is None or vars(plain) == vars(found)
    assert plain is not None or "--" in words or "-vq" in words


def test_options_stay_options() -> None:
    for words in (["-q"], ["-v"], ["-h"], ["-vv"], ["-o", "-"]):
        status, _, _ = in_process(["check", "x", *words])
        assert status == (0 if words == ["-h"] else 2)


def test_standard_input_is_an_answer() -> None:
    assert in_process(["check", "x^2", "-"], b"2x\n")[0] == 0
    assert in_process(["check", "x^2", "-"], b"3x")[0] == 1


@pytest.mark.parametrize(("arguments", "place", "words"), [
    (["x^2 + sin(", "1"], "function:1:10", ["E0704"]),
    (["x^2", "2x", "--at", "x=z"], "--at:1:1", ["E0703", "`at`", "`z`"]),
    (["x^2", "2x", "--domain", "x=5:1"], "--domain:1:1", ["E0703", "--domain x=0:5"]),
    (["x^2", "2x", "--direction", "a"], "--direction:1:1", ["E0703"]),
    (["x^2", "2x", "--kind", "value"], "function:1:1", ["E0702", "`at`", "--at x=2"]),
])
def test_a_bad_problem_has_a_place_and_a_help(
        arguments: list[str], place: str, words: list[str]) -> None:
    status, _, err = in_process(["check", *arguments])
    assert status == 3
    assert f"--> {place}\n" in err
    assert "^" in err.partition("-->")[2]
    assert "= help: " in err
    for word in words:
        assert word in err
    status, out, err = in_process(["check", *arguments, "--format", "json"])
    assert (status, out) == (3, "")
    valid(json.loads(err), "error")


def test_an_unreadable_answer_is_shown_with_its_place() -> None:
    status, out, err = in_process(["check", "x^2", "2x + sin"])
    assert status == 1
    assert out.startswith("verdict\tunreadable\n")
    assert "--> answer:1:6\n" in err
    assert in_process(["check", "x^2", "2x +", "-q"])[1:] == ("verdict\tunreadable\n", "")
    assert in_process(["check", "x^2", "2x +", "--format", "json"])[2] == ""


CASES = [["x^2", "2x"], ["x^2", "3x"], ["x^2 y", "(2x y, 1)", "--wrt", "x,y"], ["x^2", "2x +"],
         ["x^2", ""], ["sqrt(x)", "1/0"], ["x^2", "2 sqrt(x)^2"], ["sin(x^2)", "cos(x^2)"],
         ["x^2 y^2", "[[1,2],[3,4]]", "--kind", "hessian", "--wrt", "x,y"], ["ln(x^2)", "=2/x"],
         ["x^2", "2*λ"], ["x^2", "1/x+1"]]


@pytest.mark.parametrize("arguments", CASES, ids=[" ".join(case[:2]) for case in CASES])
def test_every_format_says_the_same(arguments: list[str]) -> None:
    status, out, _ = in_process(["check", *arguments, "--format", "json"])
    result = json.loads(out)
    valid(result, "check")
    assert list(result) == ["schema", "id", *lines.KEYS]
    assert status == (0 if result["verdict"] in ("correct", "domain") else 1)
    plain = dict(line.split("\t") for line in
                 in_process(["check", *arguments])[1].splitlines()[::-1])
    assert plain["verdict"] == result["verdict"]
    assert plain["usable"] == str(result["points"]["usable"])
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        (row,) = csv.DictReader(io.StringIO(
            in_process(["check", *arguments, "--format", format])[1]), delimiter=delimiter)
        assert (row["verdict"], row["mistake"]) == (result["verdict"], result["mistake"] or "")
        assert float(row["score"]) == result["score"]
        assert row["disagree"] == str(result["points"]["disagree"])
    assert result["verdict"] in in_process(["check", *arguments, "--format", "markdown"])[1]
    for columns in ("80", "30"):
        status, table, _ = on_terminal(["check", *arguments], COLUMNS=columns)
        assert bare(table).startswith(result["verdict"])
    status, table, _ = on_terminal(["check", *arguments], encoding="ascii")
    assert table.isascii()


def test_the_witness_is_told_component_by_component() -> None:
    arguments = ["check", "x^2 y", "(2x y, 1)", "--wrt", "x,y"]
    witness = json.loads(in_process([*arguments, "--format", "json"])[1])["witness"]
    x, y = witness["at"]["x"], witness["at"]["y"]
    assert witness["expected"] == pytest.approx([2*x*y, x*x], rel=1e-14)
    assert witness["got"] == pytest.approx([2*x*y, 1.0], rel=1e-14)
    plain = in_process(arguments)[1].splitlines()
    assert f"at x\t{x}" in plain
    assert "got[2]\t1" in plain
    assert bare(on_terminal(arguments)[1]).count(f"x = {x}") == 2    # the sentence and the table


def test_seeds_are_numbers_or_words(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    prepare = checking.prepare

    def noted(problem: Any, seed: Any) -> Any:
        seen.append(seed)
        return prepare(problem, seed)

    monkeypatch.setattr(checking, "prepare", noted)
    for seeds in ([], ["--seed", "7"], ["--seed=autumn"], ["--seed", "9" * 30]):
        for answer, expected in (("cos(x) y", 0), ("cos(x) + y", 1)):
            assert in_process(["check", "sin(x) y", answer, "--wrt=x", *seeds])[0] == expected
    assert seen[::2] == [0, 7, "autumn", "9" * 30]


def test_a_result_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert in_process(["check", "x^2", "2x", "--format=json", "-o", str(path)])[:2] == (0, "")
    assert json.loads(path.read_text())["verdict"] == "correct"


# --- two readers of one command line ----------------------------------------------------------

TEXTS = ("x", "-x", "x=1", "", " ", "-", "--", "=", "json", "plain", "3", "-3", "0", "-e", "-q",
         "-vv", "--help", "x^2", "θ", "a b", "--wrt=x", "-o", "-j4", "x=0:5", "two", "tcp://a:1")


def command_lines(count: int) -> Iterator[list[str]]:
    """Mostly sound command lines of check and hw, and slips of all kinds."""
    stream = random.Random(6)
    for _ in range(count):
        name = stream.choice([row.name for row in homework_rows.ROWS])
        argv = [*name.split(), *stream.choice((["a", "b"], ["a"], [], ["-a", "-b c"], ["--", "a"]))]
        for _ in range(stream.choice((0, 1, 2, 3))):
            option = stream.choice(
                find("hw run" if stream.random() < 0.1 else name).options)
            flag = stream.choice(option.flags)
            if option.kind in ("flag", "count"):
                argv.append(flag)
                continue
            text = stream.choice(option.choices or TEXTS if stream.random() < 0.8 else TEXTS)
            argv += [f"{flag}={text}"] if stream.random() < 0.3 else [flag, text]
        yield argv


def test_both_readers_agree() -> None:
    plain, both = compared(command_lines(800))
    assert plain > 80
    assert both > plain


# --- a stream of answers ----------------------------------------------------------------------

def line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def batch(text: str | bytes, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Status and objects, each held to the schema."""
    data = text.encode() if isinstance(text, str) else text
    status, out, err = in_process(["check", "--batch", "-", *arguments], data)
    assert err == ""
    found = [json.loads(text) for text in out.splitlines()]
    for one in found:
        valid(one, "check")
    return status, found


RIGHT = {"function": "x^2 sin x", "wrt": "x", "answer": "2x sin x + x^2 cos x"}
WRONG = {**RIGHT, "answer": "2x cos x"}


def test_a_batch_that_is_not_there(gradcli: Gradcli) -> None:
    ran = gradcli("check", "--batch", "nosuch.ndjson")
    assert ran.returncode == 3
    assert "help: give a file of NDJSON, or `-` for standard input" in ran.stderr


def test_answers_come_in_order_with_their_ids() -> None:
    ids = [1, "two", None, [3, {"deep": ["é", 1.5]}], 12345678901234567890, "", True, {}, -0.5]
    status, found = batch("".join([line(id=id, **RIGHT) for id in ids]))
    assert status == 0
    assert [one["id"] for one in found] == ids
    assert {one["verdict"] for one in found} == {"correct"}
    assert list(found[0]) == ["schema", "id", *lines.KEYS]
    status, found = batch(line(**WRONG) + line(id=2, **RIGHT))
    assert status == 1
    assert [one["id"] for one in found] == [None, 2]
    assert [one["verdict"] for one in found] == ["wrong", "correct"]
    assert found[0]["witness"]["expected"] != found[0]["witness"]["got"]


@pytest.mark.parametrize(("fields", "verdict"), [
    ({"function": "x^2 y", "wrt": "x,y", "answer": "(2xy, x^2)"}, "correct"),
    ({"function": "x^2 y", "wrt": ["x", "y"], "answer": "(2xy, x^2)"}, "correct"),
    ({"function": "x^3", "order": 2, "answer": "6x", "at": {}, "dependent": ""}, "correct"),
    ({"function": "x^3", "at": {"x": 2}, "answer": 12, "tolerance": None}, "correct"),
    ({"function": "x^3", "at": {"x": 2}, "answer": 12.5, "tolerance": 0.1}, "correct"),
    ({"function": "x y", "wrt": "x,y", "direction": [3, 4], "answer": "(3y+4x)/5"}, "correct"),
    ({"function": "x^2 + y^2 = 25", "wrt": "x", "dependent": "y", "answer": "-x/y"}, "correct"),
    ({"function": "a x^2", "wrt": "x", "parameters": ["a"], "answer": "2ax"}, "correct"),
    ({"function": "abs(x)", "domain": {"x": [1, 5]}, "answer": "1"}, "correct"),
    ({"function": "x^2", "answer": None}, "blank"), ({"function": "x^2", "answer": " "}, "blank"),
    ({"function": "x^2", "answer": "2x +"}, "unreadable"),
    ({"function": "x^2", "answer": "y_1(2)"}, "wrong"),
])
def test_fields(fields: dict[str, Any], verdict: str) -> None:
    _, (found,) = batch(line(**fields))
    assert found.get("verdict") == verdict, found


def test_options_hold_where_a_line_does_not_say() -> None:
    text = line(answer="2x y") + line(answer="x^2", wrt="y") + line(answer="1", function="x")
    status, found = batch(text, "x^2 y", "--wrt", "x")
    assert status == 0
    assert [one["verdict"] for one in found] == ["correct"] * 3
    assert batch(line(function="x^2", answer="2.02", at={"x": 1}), "--tolerance=5%")[0] == 0
    status, out, err = in_process(["check", "--batch", "-", "--at", "x=?"], line(**RIGHT).encode())
    assert (status, out) == (3, "")
    assert "--> --at:1:1" in err


BAD: list[tuple[str | bytes, str, str]] = [
    ("{", "E0709", "not JSON"), ("nothing", "E0709", "not JSON"), ("[1, 2]", "E0709", "object"),
    ('"text"', "E0709", "not a JSON object"), ("1", "E0709", "not a JSON object"),
    (b"\xff\xfe{}", "E0709", "UTF-8"), ("[" * 100_000, "E0709", "nested too deeply"),
    ('{"a":' * 50_000, "E0709", "nested too deeply"), ('{"id": NaN}', "E0709", "NaN"),
    ('{"id": ' + "9" * 5000 + "}", "E0709", "digits"), ("\0\0\0", "E0709", "not JSON"),
    ("{} {}", "E0709", "not JSON"), ("{}", "E0702", "`answer`"),
    (line(answer="2x"), "E0702", "`function`"), (line(function="x^2"), "E0702", "`answer`"),
    (line(function="x^2 +", answer="2x"), "E0704", "missing"),
    (line(function="x y", answer="y"), "E0702", "`wrt`"),
    (line(function=3, answer="2x"), "E0703", "`function`"),
    (line(function="x^2", answer=[[["2x"]]]), "E0703", "`answer`"),
    (line(function="x^2", answer={"a": 1}), "E0703", "`answer`"),
    (line(function="x^2", answer=True), "E0703", "`answer`"),
    (line(function="x^2", answer="2x", order="2"), "E0703", "`order`"),
    (line(function="x^2", answer="2x", kind="slope"), "E0701", "slope"),
    (line(function="x^2", answer="2x", wtr="x"), "E0701", "`wtr`"),
    (line(function="x^2", answer="2x", at={"x": "import os"}), "E0703", "`at`"),
    (line(function="x" * 100_000, answer="2x"), "E0703", "`function`"),
    (line(function="x" + "+x" * 9000, answer="2x"), "E07", ""),
    (line(function="(" * 9000, answer="2x"), "E07", ""),
    (line(function="x^2", answer="2x", id="a" * 2_000_000), "E0709", "longer"),
]


@folded
@pytest.mark.parametrize(("text", "code", "words"), BAD, ids=[f"{k}" for k in range(len(BAD))])
def test_a_bad_line_is_an_error_of_that_line(text: str | bytes, code: str, words: str) -> None:
    data = text.encode() if isinstance(text, str) else text
    around = line(id="before", **RIGHT).encode(), line(id="after", **RIGHT).encode()
    status, found = batch(around[0] + data.rstrip(b"\n") + b"\n" + around[1])
    assert status == 3
    assert [one.get("verdict") for one in found] == ["correct", None, "correct"]
    assert found[2]["id"] == "after"
    error = found[1]["error"]
    assert error["code"].startswith(code)
    assert words in error["message"]
    assert (error["file"], error["line"]) == ("<stdin>", 2)
    assert error["help"]
    assert len(error["message"]) < 500


def test_the_place_of_an_error_is_in_the_line() -> None:
    text = line(id=1, function="x^2 + sin(", answer="1")
    _, (found,) = batch(text)
    error = found["error"]
    assert text[error["column"] - 1:error["end_column"] - 1] == "("
    _, (found,) = batch('{"id": 1, }')
    assert found["error"]["column"] == '{"id": 1, }'.index("}") + 1


HOSTILE = ["9^9^9^9^9", "(" * 1999, "x" * 1999, "-" * 1999 + "x", "x^" * 900 + "x", "sin" * 600,
           "1e999999999", "9" * 1900, "|" * 1001, "x" + "+x" * 900, "f(" * 900, "\x00", "\ud800",
           "\u202e2x", "х", "=2x", "@SUM(A1)", "\\frac{" * 300, "[[" * 500, "{}", "lambda: 0",
           "__class__", "../../etc/passwd", "load('x')", "1/0", "0/0", "0^0", "log(-1)", "nan",
           "x!" * 500, "exp(exp(exp(exp(x))))", "∞", "[/b]", "[red]x", "%s%n", "'; drop table",
           "\n", "2x\n2x", "e^(e^(e^(e^(e^x))))"]


def test_hostile_answers_cost_themselves_only() -> None:
    text = "".join([json.dumps({"id": k, "function": "x^2", "wrt": "x", "answer": answer}) + "\n"
                    for k, answer in enumerate(HOSTILE)])
    status, found = batch(text)
    assert status == 1
    assert [one["id"] for one in found] == list(range(len(HOSTILE)))
    for one in found:
        assert "a bug" not in one["message"]
        assert one["ms"] < 2000
        assert one["verdict"] != "correct" or HOSTILE[one["id"]] in ("=2x", "2x\n2x")


def test_numbers_that_are_none_are_strings() -> None:
    status, out, _ = in_process(["check", "--batch", "-"], line(
        function="sqrt(x)", wrt="x", answer="log(-1 - x^2)").encode())
    assert status == 1
    assert "NaN" not in out.replace('"NaN"', "")
    json.loads(out, parse_constant=lambda name: pytest.fail(name))


def test_many_lines_share_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    prepare = checking.prepare

    def counted(problem: Any, seed: Any) -> Any:
        calls.append(problem.function)
        return prepare(problem, seed)

    monkeypatch.setattr(checking, "prepare", counted)
    monkeypatch.setattr(check, "_checkers", {})
    text = "".join([line(id=k, function=f"x^{k % 3 + 2}", wrt="x", answer=f"{k}x")
                    for k in range(90)])
    assert len(batch(text)[1]) == 90
    assert sorted(calls) == ["x^2", "x^3", "x^4"]
    calls.clear()
    text = "".join([line(id=k, function=f"x^2 + {k % 40}", answer=f"2x + {k} - {k}")
                    for k in range(80)])
    assert batch(text)[0] == 0
    assert len(calls) == 80         # forty take turns, and thirty-two are kept


def test_the_same_answer_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its id and the blanks around it; what differs by line stays the line's own."""
    calls = []
    plain = lines.checked

    def counted(ready: Any, answer: str) -> dict[str, Any]:
        calls.append(answer)
        return plain(ready, answer)

    monkeypatch.setattr(lines, "checked", counted)
    fields = [{**RIGHT, "id": 0}, {**WRONG, "id": 1}, {**RIGHT, "answer": f" {RIGHT['answer']} "},
              {"function": "x^2 +", "answer": "2x"}, {**WRONG, "id": 4}, {"answer": "2x"},
              {"function": "x^2 +", "answer": "2x", "id": [5]}]
    status, found = batch("".join([line(**one) for one in fields]) + "{\n")
    assert status == 3
    assert [one["id"] for one in found] == [0, 1, None, None, 4, None, [5], None]
    assert [one.get("verdict") for one in found] == [
        "correct", "wrong", "correct", None, "wrong", None, None, None]
    assert [one["error"]["line"] for one in found if "error" in one] == [4, 6, 7, 8]
    assert calls == [RIGHT["answer"], WRONG["answer"]]


def test_points_and_credit_count_in_the_score() -> None:
    wrong = {"function": "sin(x^2)", "answer": "cos(x^2)"}
    for fields, score in (({}, 0), ({"points": 4}, 0), ({"points": 4, "answer": "2x cos(x^2)"}, 4),
                          ({"points": 4, "credit": {"missing_chain_factor": 0.5}}, 2),
                          ({"credit": {"missing_chain_factor": 0.25}}, 0.25),
                          ({"credit": {"sign_error": 0.25}}, 0)):
        assert batch(line(**{**wrong, **fields}))[1][0]["score"] == score, fields


@pytest.mark.parametrize(("function", "answer", "message"), [
    ("x^2", "+-2x", "`+-` stands for two values"), ("x^2", "y' = +-2x", "`+-` stands for two"),
    ("x^2", "2é", "no letter of a formula"), ("x^2", "2ß", "no letter of a formula"),
    ("x^2", "2х", "a letter of another alphabet"),
    ("+".join(["x^2"] * 800), "2x", "a function has at most 2000 characters, not 3199"),
    ("x y", "y", "--wrt x"),
    ("x^2 + y^2 = -1", "-x/y", "--domain x=0:5")])
def test_what_is_told(function: str, answer: str, message: str) -> None:
    options = ["--dependent=y", "--wrt=x"] if "=" in function else []
    _, out, err = in_process(["check", function, answer, *options])
    assert message in out + err
    _, out, _ = in_process(["check", "x^2", "x+-2x + 3x"])
    assert "correct" in out


def test_nothing_is_said_twice() -> None:
    """The last of two values is as wrong as the first, and no reason to drop one of them."""
    text = '{"function": "x^2", "answer": "2x", "answer": "3x"}\n{"function": "x", "at": {"x": 1,' \
           ' "x": 2}, "answer": "1"}\n'
    assert [one["error"]["message"] for one in batch(text)[1]] == [
        "`answer` stands twice in one object", "`x` stands twice in one object"]
    for option, field in (("--at=x=1,x=2", "at"), ("--wrt=x,x", "wrt"), ("--domain=x=0:1,x=2:3",
                          "domain"), ("--parameters=a,b,a", "parameters")):
        status, out, err = in_process(["check", "x^2 + a + b", "2x", option])
        assert (status, out) == (3, ""), option
        assert f"`{field}` gives `{'a' if field == 'parameters' else 'x'}` twice" in err
        assert f"--{field}:1:1" in err


@pytest.mark.parametrize(("options", "place"), [
    (["x^2", "--at=z=1"], "--at:1:1"), (["x^2", "--domain=z=0:1"], "--domain:1:1"),
    (["x y", "--wrt=x,y", "--direction=1,2,3"], "--direction:1:1"),
    (["x y", "--wrt=x,y", "--direction=0,0"], "--direction:1:1"),
    (["x^2 = 4", "--wrt=x", "--dependent=y"], "--dependent:1:1"),
    (["x^2 + y^2 = 25", "--wrt=x", "--dependent=y", "--at=x=3"], "--at:1:1"),
    (["x^2 + y^2 = 25", "--wrt=x", "--dependent=y", "--at=x=3,y=9"], "--at:1:1"),
    (["1/x", "--at=x=0", "--kind=value"], "--at:1:1"), (["x^2 +"], "function:1:5")])
def test_the_option_that_is_wrong_is_marked(options: list[str], place: str) -> None:
    status, _, err = in_process(["check", options[0], "2x", *options[1:]])
    assert status == 3
    assert place in err


def test_lines_as_editors_write_them() -> None:
    text = "\ufeff" + line(id=1, **RIGHT).replace("\n", "\r\n") + "\n  \n\r\n" + line(
        id=2, **RIGHT).rstrip("\n")
    status, found = batch(text)
    assert status == 0
    assert [one["id"] for one in found] == [1, 2]
    assert batch("") == (0, [])
    assert batch("\n\n")[1] == []


def test_spreadsheets_get_tables() -> None:
    text = line(id="=1+1", **WRONG) + line(id=2, function="x^2 +", answer="-2x") + line(
        id={"a": 1}, function="x^2", answer="-2x")
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        status, out, err = in_process(["check", "--batch", "-", "--format", format], text.encode())
        assert (status, err) == (3, "")
        rows = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
        assert [row["id"] for row in rows] == ["'=1+1", "2", '{"a": 1}']
        assert [row["verdict"] for row in rows] == ["wrong", "", "wrong"]
        assert rows[1]["error"].startswith("E0704: ")
        assert rows[2]["read_as"] == "'-2*x"


MIXED: list[dict[str, Any]] = [
    {**RIGHT, "id": 0}, {**WRONG, "id": 1}, {"id": 2}, {**RIGHT, "answer": "9^9^9^9", "id": 3},
    {**RIGHT, "answer": "2x sin(", "id": 4}, {"id": 5, "function": "x^2", "answer": "2x"}]


def test_processes_give_the_same_answers_in_the_same_order(gradcli: Gradcli) -> None:
    text = "".join([line(**{**fields, "id": [k, fields["id"]]})
                    for k in range(250) for fields in MIXED[:2] + MIXED[k % 6:k % 6 + 1]])

    def timeless(out: str) -> list[Any]:
        found = [json.loads(text) for text in out.splitlines()]
        for one in found:
            one.pop("ms", None)
        return found

    one = gradcli("check", "--batch", "-", stdin=text)
    two = gradcli("check", "--batch", "-", "-j", "2", stdin=text)
    assert (one.returncode, one.stderr) == (two.returncode, two.stderr) == (3, "")
    assert len(timeless(one.stdout)) == 750
    assert timeless(one.stdout) == timeless(two.stdout)


def start(home: dict[str, str | None], *arguments: str, **rest: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gradcli", "check", "--batch", *arguments], text=True,
        stdout=subprocess.PIPE, env={**os.environ, **{k: v for k, v in home.items() if v}}, **rest)


@pytest.mark.parametrize("arguments", [["-"], ["-", "-j", "2"], ["-", "--format", "csv"]])
def test_each_answer_comes_before_the_next_question(
        arguments: list[str], home: dict[str, str | None]) -> None:
    process = start(home, *arguments, stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    if "csv" in arguments:
        process.stdin.write(line(id="zero", **RIGHT))
        process.stdin.flush()
        assert process.stdout.readline().startswith("id,")
        assert process.stdout.readline().startswith("zero,correct")
    for k in range(5):
        process.stdin.write(line(id=f"number {k}", **(WRONG if k % 2 else RIGHT)))
        process.stdin.flush()
        assert f"number {k}" in process.stdout.readline()
    process.stdin.write('{"id": 7, ')     # half a line waits for its other half
    process.stdin.flush()
    process.stdin.write(line(**RIGHT)[1:])
    process.stdin.close()
    assert "7" in process.stdout.readline()
    assert process.stdout.read() == ""
    process.stdout.close()
    assert process.wait(60) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no FIFOs in its file system")
def test_a_fifo_is_a_file_that_goes_on(tmp_path: Path, home: dict[str, str | None]) -> None:
    fifo = tmp_path / "answers"
    os.mkfifo(fifo)
    process = start(home, str(fifo))
    assert process.stdout is not None
    with open(fifo, "w") as file:
        for k in range(3):
            file.write(line(id=f"number {k}", **RIGHT))
            file.flush()
            assert json.loads(process.stdout.readline())["id"] == f"number {k}"
    assert process.stdout.read() == ""
    process.stdout.close()
    assert process.wait(60) == 0


def test_an_interrupt_keeps_what_was_answered(home: dict[str, str | None]) -> None:
    for arguments in (["-"], ["-", "-j", "2"]):
        process = start(home, *arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(line(id="first", **RIGHT))
        process.stdin.flush()
        assert "first" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == ""
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def test_a_closed_pipe_ends_quietly(home: dict[str, str | None]) -> None:
    process = start(home, "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with suppress(BrokenPipeError):
        for _ in range(2000):
            process.stdin.write(line(**RIGHT))
    with suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


def test_answers_in_a_file_are_there_whole_or_not_at_all(tmp_path: Path) -> None:
    answers, results = tmp_path / "answers.ndjson", tmp_path / "results.ndjson"
    answers.write_text(line(id=1, **RIGHT) + line(id=2, **WRONG))
    assert in_process(["check", "--batch", str(answers), "-o", str(results)])[:2] == (1, "")
    assert [json.loads(text)["id"] for text in results.read_text().splitlines()] == [1, 2]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["answers.ndjson", "results.ndjson"]


def test_a_bug_costs_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    real = checking.check

    def broken(ready: Any, answer: str) -> Any:
        if answer == "spanner":
            raise RuntimeError("in the works")
        return real(ready, answer)

    monkeypatch.setattr(checking, "check", broken)
    status, found = batch(line(**RIGHT) + line(**{**RIGHT, "answer": "spanner"}) + line(**RIGHT))
    assert status == 1
    assert [one["verdict"] for one in found] == ["correct", "undecided", "correct"]
    assert "in the works" in found[1]["message"]


# --- budgets ----------------------------------------------------------------------------------

NEW = ("gradcli.homework.checking", "gradcli.lang.paper", "gradcli.homework",
       "gradcli.cli.options.homework",
       "gradcli.cli.commands.check", "gradcli.cli.commands.homework")


def test_a_gradient_loads_none_of_it(home: dict[str, str | None]) -> None:
    _, modules = loaded_by(
        command("grad", "-e", "x^2", "--at", "x=3"), home)
    assert "gradcli.cli.options" in modules
    assert not [name for name in modules if name.startswith(NEW)]


def test_a_check_in_a_pipe_loads_numpy_and_nothing_for_people(
        home: dict[str, str | None]) -> None:
    loaded_by(command("check", "x", "1"), home)     # the first run of a user makes the tables
    printed, modules = loaded_by(command("check", "x^2", "2x"), home)
    assert printed.startswith("verdict\tcorrect\n")
    assert "numpy" in modules
    assert not modules & (HEAVY - {"collections", "enum", "functools", "inspect", "json", "logging",
                                   "numpy", "pathlib", "re", "typing", "dataclasses"})
    assert not [name for name in modules if name.startswith((
        "gradcli.homework.sheets", "gradcli.homework.handed_in", "gradcli.homework.marking",
        "gradcli.homework.reports", "gradcli.homework.run"))]


def test_components_of_an_answer_may_be_an_array(gradcli: Callable[..., Ran]) -> None:
    lines = [{"id": 1, "kind": "gradient", "function": "x^2 y", "wrt": ["x", "y"],
              "answer": ["2xy", "x^2"]},
             {"id": 2, "kind": "hessian", "function": "x^2 y", "wrt": "x,y",
              "answer": [["2y", "2x"], ["2x", 0]]}]
    ran = gradcli("check", "--batch", "-", stdin="\n".join(map(json.dumps, lines)))
    assert [json.loads(line)["verdict"] for line in ran.stdout.splitlines()] == ["correct"] * 2
