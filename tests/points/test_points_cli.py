"""`--points` as its users run it: files, pipes, ranges, bad rows, interrupted runs.

Where processes, their ends or real pipes are the point, a process is started.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import hostile_work
import numpy as np
import pytest
from commands import Ran
from transcripts import here, in_process

from gradcli.base.errors import GradcliError
from gradcli.base.workers import pools
from gradcli.base.workers.guarded import Guarded, processes
from gradcli.cli.commands.points import finished
from gradcli.points import job as stream

Gradcli = Callable[..., Ran]

THREE = "x,y\n1,2\n-1,0.5\n3,-2\n"
TEXT = "x^2*sin(y)"
ROWS = [[float(a) for a in line.split(",")] for line in THREE.split()[1:]]


def expected() -> list[list[float]]:
    return [[x**2*np.sin(y), 2*x*np.sin(y), x**2*np.cos(y)] for x, y in ROWS]


def test_csv_in_csv_out(gradcli: Gradcli) -> None:
    ran = gradcli("grad", "-e", TEXT, "--points", "-", stdin=THREE)
    assert ran.returncode == 0
    assert ran.stderr == ""
    rows = list(csv.reader(io.StringIO(ran.stdout)))
    assert rows[0] == ["x", "y", "f", "df/dx", "df/dy"]
    assert [row[:2] for row in rows[1:]] == [line.split(",") for line in THREE.split()[1:]]
    np.testing.assert_allclose([[float(c) for c in row[2:]] for row in rows[1:]], expected(),
                               rtol=1e-14)


def test_ndjson_in_ndjson_out() -> None:
    lines = "".join([json.dumps({"x": x, "y": y}) + "\n" for x, y in ROWS])
    ran = here("grad", "-e", TEXT, "--points", "-", "--points-format", "ndjson", stdin=lines)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [list(row) for row in found] == [["row", "f", "df/dx", "df/dy"]] * 3
    assert [row["row"] for row in found] == [0, 1, 2]
    np.testing.assert_allclose([list(row.values())[1:] for row in found], expected(), rtol=1e-14)


def test_json_is_one_object() -> None:
    ran = here("grad", "-e", TEXT, "--points", "-", "--format", "json", stdin=THREE)
    found = json.loads(ran.stdout)
    assert (found["schema"], found["command"], found["mode"]) == (1, "grad", "reverse")
    assert [row["row"] for row in found["points"]] == [0, 1, 2]


@pytest.mark.parametrize("ending", ["csv", "tsv", "md", "parquet", "arrow"])
@pytest.mark.parametrize(("command", "title"), [
    ("eval", "f"), ("grad", "df/dx"), ("hess", "d2f/dxdx")])
def test_no_two_columns_of_an_output_have_one_name(command: str, title: str, ending: str,
                                                   tmp_path: Path) -> None:
    points, to = tmp_path / "a.tsv", tmp_path / f"out.{ending}"
    points.write_text(f"x\t{title}\n2\t5\n")
    ran = here(command, "-e", "x^3", "--points", str(points), "-o", str(to))
    assert (ran.returncode, ran.stdout, to.exists()) == (3, "", False)
    assert ran.stderr.startswith(f"error[E0612]: the table has a column `{title}` already")
    ran = here(command, "-e", "x^3", "--points", str(points), "--format", "ndjson")
    assert list(json.loads(ran.stdout))[:1] == ["row"]


@pytest.mark.parametrize("value", ["1e-3", "1e38", "1e-45", "nan", "[[1, 1e38]]"])
@pytest.mark.parametrize("points", ["x=[]", "x=[1, 2]"])
def test_short_floats_are_read_without_a_warning(value: str, points: str) -> None:
    """A program's own numbers, constants of its derivatives among them, may be of any type."""
    for one in ("sum(x*c)", "x*sum(loggamma(c*x))", "sum(loggamma(x))"):
        ran = here("grad", "-e", f"var x: float32 = 1\nconst c: float32 = {value}\n{one}",
                   "--points", points, "--wrt", "x")
        assert "Warning" not in ran.stderr
        assert ran.returncode == 0


@pytest.mark.parametrize(("command", "text", "titles"), [
    ("eval", "x > 1", ["f"]), ("jac", "[x, x^2]", ["f[0]", "f[1]", "df[0]/dx", "df[1]/dx"]),
    ("hess", "y = x^3", ["y", "d2y/dxdx"]), ("grad", "x*v[1] + v[0]", ["f", "df/dx", "df/dv[0]",
                                                                      "df/dv[1]"])])
def test_every_question(command: str, text: str, titles: list[str]) -> None:
    ran = here(command, "-e", text, "--points", "-", stdin="id,x,v[0],v[1]\na,2,3,4\nb,5,6,7\n"
                  if "v" in text else "x\n2\n5\n")
    rows = list(csv.reader(io.StringIO(ran.stdout)))
    assert rows[0][-len(titles):] == titles
    assert len(rows) == 3
    at = {"x": 2, "v": [3, 4]} if "v" in text else {"x": 2}
    single = here(command, "-e", text, "--at", ",".join([f"{n}={v}" for n, v in at.items()]))
    wanted = dict(line.split("\t") for line in single.stdout.splitlines())
    found = dict(zip(rows[0], rows[1], strict=True))
    for name, value in wanted.items():
        assert found[name] == value


def test_a_grid_without_a_file() -> None:
    ran = here("eval", "-e", "x + 10y", "--points", "x=linspace(0,1,3)", "--points", "y=[1,2]")
    assert ran.stdout == "x,y,f\n0,1,10\n0,2,20\n0.5,1,10.5\n0.5,2,20.5\n1,1,11\n1,2,21\n"


def test_branches_take_their_own_ways() -> None:
    ran = here("grad", "-e", "x^2 if x > 0 else -x", "--points", "x=[-2,3,-1,4]")
    assert ran.stdout == "x,f,df/dx\n-2,2,-1\n3,9,6\n-1,1,-1\n4,16,8\n"


# --- None, NaN -----------------------------------------------------------------------------------


def test_a_none_is_said_once_and_can_be_strict() -> None:
    question = ("grad", "-e", "floor(x)*y", "--points", "-")
    ran = here(*question, stdin=THREE)
    assert [row[-2:] for row in csv.reader(io.StringIO(ran.stdout))][1:] == [
        ["None", "1"], ["None", "-1"], ["None", "3"]]
    assert ran.stderr.count("floor") >= 1
    assert ran.stderr.count("df/dx is None") == 1
    assert here(*question, "--strict", stdin=THREE).returncode == 1
    assert here(*question, "-q", stdin=THREE).stderr == ""


def test_zeros_absorb_as_at_a_single_point() -> None:
    ran = here("grad", "-e", "where(x > 0, sqrt(x), 0)", "--points", "x=[0,4]")
    assert ran.stdout == "x,f,df/dx\n0,0,0\n4,2,0.25\n"


# --- rows that are wrong -------------------------------------------------------------------------

BAD = "x,y\n1,2\nfive,0.5\n3,-2\n4\n"


def test_stop_is_the_default_and_names_line_and_column() -> None:
    ran = here("eval", "-e", "x + y", "--points", "-", stdin=BAD)
    assert ran.returncode == 3
    assert ran.stdout == "x,y,f\n1,2,3\n"
    assert ":3:1" in ran.stderr
    assert "five,0.5" in ran.stderr


def test_skip_leaves_them_out_and_says_so() -> None:
    ran = here("eval", "-e", "x + y", "--points", "-", "--on-error", "skip", stdin=BAD)
    assert ran.returncode == 0
    assert ran.stdout == "x,y,f\n1,2,3\n3,-2,1\n"
    assert ran.stderr.count("error[") == 2
    assert "2 rows left out" in ran.stderr


def test_null_leaves_them_empty() -> None:
    ran = here("eval", "-e", "x + y", "--points", "-", "--on-error", "null", stdin=BAD)
    assert ran.stdout == "x,y,f\n1,2,3\nfive,0.5,\n3,-2,1\n4,,\n"
    assert "2 rows left empty" in ran.stderr


def test_what_fails_in_evaluation_names_the_row_and_its_point() -> None:
    text = "L = [1, 2]\ny = L[int(x)]*x"
    ran = here("eval", "-e", text, "--points", "x=[0,1,7]")
    assert ran.returncode == 3
    assert ran.stdout == "x,y\n0,0\n1,2\n"
    assert "row 2" in ran.stderr
    assert "x = 7" in ran.stderr
    ran = here("eval", "-e", text, "--points", "x=[0,7,1]", "--on-error", "skip")
    assert ran.stdout == "x,y\n0,0\n1,2\n"


def test_only_the_first_of_many_bad_rows_are_told() -> None:
    ran = here("eval", "-e", "x", "--points", "-", "--on-error", "skip",
                  stdin="x\n" + "bad\n"*100 + "1\n")
    assert ran.stderr.count("error[") == 10
    assert "100 rows left out" in ran.stderr


@pytest.mark.parametrize(("arguments", "stdin", "code"), [
    (("-e", "x*y", "--points", "-"), "a,b\n1,2\n", "E0614"),
    (("-e", "x*y", "--points", "-"), "x\n1\n", "E0203"),
    (("-e", "x*y", "--points", "-", "--at", "x=1"), THREE, "E0614"),
    (("-e", "y = x^2\nz = 2y", "--points", "-"), THREE, "E0204"),
    (("-e", "x*v[1]", "--points", "-"), "x,v[1]\n1,2\n", "E0614"),
    (("-e", "x*y", "--points", "nowhere.csv"), "", "E0601"),
    (("-e", "x*y", "--points", "-", "--of", "z"), THREE, "E0204"),
    (("-e", "x*y", "--points", "x=linspace(0,1,0.5)"), "", "E0613"),
    (("-e", "x*y", "--points", "-", "--scheduler", "tcp://127.0.0.1:1"), THREE, "E0617"),
])
def test_bad_input_has_a_code(arguments: tuple[str, ...], stdin: str, code: str,
                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "PATIENCE", 0.1)
    ran = here("grad", *arguments, "--on-error", "skip", stdin=stdin)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert f"error[{code}]" in ran.stderr
    assert "help:" in ran.stderr


@pytest.mark.parametrize("arguments", [
    ("grad", "-", "--points", "-"), ("grad", "-e", "x", "--points", "a.csv", "--points", "b.csv"),
    ("grad", "-e", "x", "--points", "-", "--verify"), ("grad", "-e", "x", "--jobs", "2"),
    ("hess", "-e", "x", "--points", "-", "--eig"),
    ("grad", "-e", "x", "--points", "-", "--format", "latex"),
    ("grad", "-e", "x", "--points", "-", "--jobs", "2", "--scheduler", "tcp://h:1")])
def test_misuse_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    assert here(*arguments, stdin="x\n1\n").returncode == 2


def test_a_header_alone_answers_nothing() -> None:
    ran = here("grad", "-e", TEXT, "--points", "-", stdin="x,y\n")
    assert ran.returncode == 0
    assert ran.stdout == "x,y,f,df/dx,df/dy\n"


# --- output --------------------------------------------------------------------------------------


def test_output_files_choose_their_format(tmp_path: Path) -> None:
    for name, begins in (("a.csv", "x,y,f"), ("a.tsv", "x\ty\tf"), ("a.ndjson", '{"row"'),
                         ("a.md", "| `x`")):
        path = tmp_path / name
        assert here("eval", "-e", "x + y", "--points", "-", "-o", str(path),
                       stdin=THREE).stdout == ""
        assert path.read_text().startswith(begins)


def test_a_run_that_stops_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old\n")
    ran = here("eval", "-e", "x + y", "--points", "-", "-o", str(path), stdin=BAD)
    assert ran.returncode == 3
    assert path.read_text() == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_killed_run_leaves_nothing(home: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with subprocess.Popen(
            [sys.executable, "-m", "gradcli", "eval", "-e", "x + y", "--points", "-", "-o",
             str(path)], stdin=subprocess.PIPE, env={**os.environ, **home}) as process:
        assert process.stdin is not None
        try:
            # More than a pipe and a block hold: when this is written, rows have been answered.
            process.stdin.write(b"x,y\n" + b"1,2\n" * 200_000)
            process.stdin.flush()
            process.send_signal(signal.SIGKILL)
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait(60)
    assert not path.exists()
    if hasattr(os, "O_TMPFILE"):    # where files need no name until they are done
        assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_ends_quietly(home: dict[str, str]) -> None:
    ran = subprocess.run(
        f"{sys.executable} -m gradcli eval -e x --points 'x=linspace(0,1,1e6)' | head -n 2",
        shell=True, capture_output=True, text=True, env={**os.environ, **home}, timeout=120,
        check=False)
    assert ran.stdout == "x,f\n0,0\n"
    assert ran.stderr == ""


def test_a_table_for_people() -> None:
    ran = here("grad", "-e", TEXT, "--points", "-", "--format", "table", stdin=THREE)
    assert ran.stdout.splitlines()[0].split() == ["x", "y", "f", "df/dx", "df/dy"]
    assert len(ran.stdout.splitlines()) == 5


# --- the same bytes, whoever does the work -------------------------------------------------------


def test_processes_give_the_same_bytes(gradcli: Gradcli) -> None:
    question = ("grad", "-e", "sin(x)*exp(-y^2) if x > 0 else x*y", "--points",
                "x=linspace(-1,1,300)", "--points", "y=linspace(0,3,300)")
    alone = gradcli(*question)
    assert alone.stdout.count("\n") == 90_001
    assert gradcli(*question, "--jobs", "2").stdout == alone.stdout


def test_what_is_wrong_in_another_process_is_told_here(gradcli: Gradcli) -> None:
    question = ("eval", "-e", "L = [1, 2]\ny = L[int(x)]*x", "--points", "x=linspace(0,2,40000)")
    alone, together = gradcli(*question), gradcli(*question, "--jobs", "2")
    assert alone.returncode == together.returncode == 3
    assert together.stderr == alone.stderr
    assert together.stdout == alone.stdout


# --- processes that die --------------------------------------------------------------------------


def test_a_process_that_dies_costs_its_task_at_most(tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.touch()
    with processes(2) as executor:
        items = ["a", f"once:{once}", "b", "crash", "typed", "bug", "c"]
        futures = [executor.submit(hostile_work.act, item) for item in items]
        for item, future in zip(items, futures, strict=True):
            problem = future.exception()
            if item == "crash":
                assert isinstance(problem, GradcliError)
                assert problem.code == "E0738"
            elif item == "typed":
                assert isinstance(problem, GradcliError)
                assert problem.code == "E0704"
            elif item == "bug":
                assert isinstance(problem, ZeroDivisionError)
            else:
                assert future.result() == "p" + item.partition(":")[0]


@pytest.mark.parametrize("deaths", [1, 1000])
def test_rows_of_a_killed_process_are_done_again(
        deaths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed once, whoever did it, the answer is the same; whoever kills on is told so."""
    question = ["grad", "-e", "sin(x)*y", "--points", "x=linspace(-1,1,200)", "--points",
                "y=linspace(0,3,100)", "-o"]
    path, ask, left = tmp_path / "rows.csv", Guarded._ask, [deaths]

    def killed(self: Guarded, message: Any) -> None:
        ask(self, message)
        if message[0] == "items" and left[0]:
            left[0] -= 1
            assert self._process is not None
            self._process.kill()

    assert here(*question, str(tmp_path / "alone.csv")).returncode == 0
    monkeypatch.setattr(Guarded, "_ask", killed)
    ran = here(*question, str(path), "--jobs", "2")
    if deaths == 1:
        assert (ran.returncode, ran.stderr) == (0, "")
        assert path.read_bytes() == (tmp_path / "alone.csv").read_bytes()
    else:
        assert ran.returncode == 3
        assert ran.stderr.startswith("error[E0738]: a process of --jobs cannot do its part")
        assert not path.exists()


def test_a_cluster_that_loses_its_workers_is_told() -> None:
    class Lost(Executor):
        def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(wrong)
            return future

    blocks: Any = [None]
    job: Any = None
    wrong: Exception = BrokenExecutor("gone")
    with pytest.raises(GradcliError, match="no worker can do the work") as caught:
        list(finished(stream.run_blocks(job, blocks, Lost(), 1)))
    assert caught.value.code == "E0738"
    wrong = ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        list(finished(stream.run_blocks(job, blocks, Lost(), 1)))


@pytest.mark.parametrize("text", [
    "sum(arange(x))", "sum(arange(x, 5))", "sum(arange(0, 3, x))", "sum(linspace(0, 1, x)) + x",
    "sum(ones(x))", "sum(ones([x, 2])*y)", "sum(zeros(x, 2) + y)", "sum(eye(x)*y)", "sum(tri(x))",
    "sum(fill([x], y))", "sum(normal(x, seed=1))", "sum(geomspace(1, x, 3))*y", "sum(y*ones(x)*x)",
    "sum(logspace(0, 1, x))", "sum(repeat([1, 2], x))", "sum(one_hot(1, x))", "sum(range(x))"])
@pytest.mark.parametrize("command", ["eval", "grad"])
def test_sizes_are_those_of_each_point(command: str, text: str) -> None:
    more = ["--at", "y=2"] if "y" in text else []
    status, out, _ = in_process([command, "-e", text, "--points", "x=linspace(1, 3, 3)", *more,
                                 "--format", "ndjson"])
    assert status == 0
    rows = [json.loads(line) for line in out.splitlines()]
    for x, row in zip((1, 2, 3), rows, strict=True):
        _, alone, _ = in_process([command, "-e", text, "--at", f"x={x}", *more, "--format", "json"])
        (result,) = json.loads(alone)["results"]
        assert row["f"] == pytest.approx(result["value"], rel=1e-14), (x, row)
        for source in result.get("sources", ()):
            found = row[f"df/d{source['wrt']}"]
            assert found == (source["gradient"] if source["gradient"] is None else pytest.approx(
                source["gradient"], rel=1e-14)), (x, row)
