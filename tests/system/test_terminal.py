"""What a person at a terminal sees: widths, colours, encodings; in this process with streams that
say they are terminals, and a few times on a real one of 80 columns.
"""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len
from terminals import bare, on_terminal, pty

TWELVE = "abcdghijklmn"
BIG = ["-e", "*".join(TWELVE) + "+" + "+".join(f"{name}^2" for name in TWELVE),
       "--at", ",".join(f"{name}={k}.5" for k, name in enumerate(TWELVE, 1))]
LONG = "a_name_that_goes_on_and_on_" * 5 + "and_ends"
# Command lines whose tables are to fit the terminal.
SHOWN = [
    ["grad", "-e", "x^2*sin(y)+exp(x*y)", "--at", "x=1.5,y=0.5"],
    ["grad", "samples/expr.txt", "--wrt", "x"],
    ["grad", *BIG], ["hess", *BIG, "--eig"], ["eval", *BIG],
    ["jac", "-e", "[r*cos(t), r*sin(t)]", "--at", "r=2,t=0.5"],
    ["jac", "-e", "A @ w", "--at", "A=ones(6, 7),w=linspace(0, 1, 7)"],
    ["hess", "-e", "sum(A @ A.T)", "--at", "A=[[1, 2], [3, 4]]"],
    ["grad", "-e", "sum(A @ A.T)*x", "--at", "A=ones(7, 8)/3,x=1e-300"],
    ["grad", "-e", "sum(w)", "--at", "w=linspace(0, 1, 50)"],
    ["grad", "-e", "sum(w)", "--at", "w=linspace(0, 1, 5000)"],
    ["jac", "-e", "w^2", "--at", "w=linspace(0, 1, 30)"],
    ["grad", "-e", f"{LONG}^2*{LONG}2", "--at", f"{LONG}=2,{LONG}2=3"],
    ["hess", "-e", f"{LONG}^2*{LONG}2", "--at", f"{LONG}=2,{LONG}2=3"],
    ["grad", "-e", "λ^2*漢字*θ", "--at", "λ=1,漢字=2,θ=3"],
    ["grad", "-e", "floor(x)*y", "--at", "x=1.5,y=2"],
    ["grad", "-e", "const c = 2; var k = 3, trainable=false; var x = 1; c*k*x", "--wrt", "c,k,x"],
    ["grad", "-e", "x*stop_gradient(x)", "--at", "x=3", "--verify"],
    ["grad", "-e", "log(x)/x", "--at", "x=0"],
    ["eval", "-e", "a = x^2; b = [x, y, a]; c = {\"k\": b, \"text\": \"t\"}", "--at", "x=2,y=3",
     "--of=a", "--of=b", "--of=c"],
    ["eval", "-e", "A", "--at", "A=ones(5, 20)/3"],
    ["ops"], ["ops", "where"], ["ops", "matmul"], ["ops", "softplus"],
]
IDS = [f"{k}-{arguments[0]}" for k, arguments in enumerate(SHOWN)]


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(request.config.rootpath)


@pytest.mark.parametrize("columns", ["80", "100"])
@pytest.mark.parametrize("arguments", SHOWN, ids=IDS)
def test_nothing_is_wider_than_the_terminal(arguments: list[str], columns: str) -> None:
    status, out, err = on_terminal(arguments, COLUMNS=columns)
    assert status in (0, 1), err
    assert out
    for line in bare(out).splitlines():
        assert cell_len(line) <= int(columns), line
        assert all(c.isprintable() for c in line)


@pytest.mark.parametrize("arguments", SHOWN, ids=IDS)
def test_twenty_columns_cut_no_number(arguments: list[str]) -> None:
    """Too narrow is ugly, not wrong: every number of the wide table is in the narrow one."""
    _, wide, _ = on_terminal([*arguments, "--color=never"], COLUMNS="200")
    status, narrow, _ = on_terminal([*arguments, "--color=never"], COLUMNS="20")
    assert status in (0, 1)
    if arguments[0] == "ops":
        return
    digits = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]\d+)?(?![\w.])")
    assert set(digits.findall(wide.split("\n", 1)[1])) <= set(digits.findall(narrow))


@pytest.mark.parametrize("columns", ["", "0", "-5", "wide", "1", "²", "99999999999999999999"])
def test_odd_widths(columns: str) -> None:
    status, out, err = on_terminal(SHOWN[0], COLUMNS=columns)
    assert (status, err) == (0, "")
    assert "2.49678" in out
    assert on_terminal(["grad", "-e", "x$"], COLUMNS=columns)[0] == 3


def test_a_table_for_a_person_plain_for_a_pipe() -> None:
    assert "gradient" in on_terminal(SHOWN[0])[1]
    assert on_terminal(SHOWN[0], piped=("stdout",))[1].startswith("df/dx\t2.49677662")
    assert on_terminal([*SHOWN[0], "-o", "-"])[1] == on_terminal(SHOWN[0])[1]


def test_colour_is_decided_for_each_stream() -> None:
    def coloured(*more: str, piped: tuple[str, ...] = (), **variables: str) -> tuple[bool, bool]:
        out = on_terminal([*SHOWN[0], "--format=table", *more], piped=piped, **variables)[1]
        err = on_terminal(["grad", "-e", "x$", *more], piped=piped, **variables)[2]
        return "\x1b[" in out, "\x1b[" in err

    assert coloured() == (True, True)
    assert coloured(piped=("stdout",)) == (False, True)
    assert coloured(piped=("stderr",)) == (True, False)
    assert coloured(NO_COLOR="1") == (False, False)
    assert coloured(NO_COLOR="") == (True, True)
    assert coloured(TERM="dumb") == (False, False)
    assert coloured(piped=("stdout", "stderr"), CLICOLOR_FORCE="1") == (True, True)
    assert coloured(piped=("stdout", "stderr"), CLICOLOR_FORCE="0") == (False, False)
    assert coloured(CLICOLOR_FORCE="1", NO_COLOR="1") == (False, False)
    assert coloured("--color=never", CLICOLOR_FORCE="1") == (False, False)
    assert coloured("--color=always", NO_COLOR="1", piped=("stdout", "stderr")) == (True, True)


@pytest.mark.parametrize("arguments", SHOWN, ids=IDS)
def test_colour_changes_nothing_but_colour(arguments: list[str]) -> None:
    assert bare(on_terminal([*arguments, "--color=always"])[1]) == \
        on_terminal([*arguments, "--color=never"])[1]


@pytest.mark.parametrize("arguments", SHOWN, ids=IDS)
def test_an_ascii_terminal_gets_ascii(arguments: list[str]) -> None:
    status, out, _ = on_terminal(arguments, encoding="ascii", COLUMNS="80")
    assert status in (0, 1)
    assert out.isascii()
    for line in bare(out).splitlines():
        assert len(line) <= 80


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16"])
def test_errors_in_other_encodings(encoding: str) -> None:
    argv = ["grad", "-e", "λ^2 + sinn(θ)", "--color=never"]
    status, _, err = on_terminal(argv, encoding=encoding)
    assert status == 3
    lines = err.splitlines()
    at = next(k for k, line in enumerate(lines) if "no operation" in line)
    # The carets stand below what they mark, however long an escape made the line.
    assert lines[at].index("^") == lines[at - 1].index("sinn")


def test_the_point_is_in_the_title_and_missing_gradients_have_reasons() -> None:
    out = bare(on_terminal(["grad", "-e", "floor(x)*y", "--at", "x=1.5,y=2"])[1])
    assert out.startswith("f = 2 at x = 1.5, y = 2\n")
    assert re.search(r"^x +1\.5 +None$", out, re.MULTILINE)
    assert "df/dx is None: " in out
    assert "`floor(x)`" in out
    assert "  fix: " in out


def test_numbers_are_aligned_at_the_point() -> None:
    out = bare(on_terminal(["grad", "-e", "1000x + y/8 + 2.5z", "--at", "x=1,y=100,z=0.5"])[1])
    rows = [line for line in out.splitlines() if re.match("[xyz] ", line)]
    points = [re.search(r"(\d+)(\.\d+)?$", row) for row in rows]
    assert len({point.start() + len(point[1]) for point in points if point}) == 1


# --- a real terminal --------------------------------------------------------------------------

def test_a_real_terminal(home: dict[str, str | None]) -> None:
    status, text = pty(["grad", "-e", "x^2*sin(y)+exp(x*y)", "--at", "x=1.5,y=0.5"], home)
    assert status == 0
    assert bare(text) == ("f = 3.19571 at x = 1.5, y = 0.5\n\nsource   at    gradient\n" + "─" * 23
                          + "\nx        1.5   2.49678\ny        0.5   5.15006\n")
    assert "\x1b[1m" in text
    for columns, variables, limit in ((80, {}, 80), (50, {}, 50), (80, {"COLUMNS": "60"}, 60)):
        status, text = pty(["hess", *BIG], home, columns, NO_COLOR="1", **variables)
        assert status == 0
        assert "\x1b" not in text
        assert limit - 15 < max(map(cell_len, text.splitlines())) <= limit
    status, text = pty(["hess", *BIG], home, PYTHONIOENCODING="ascii", LC_ALL="C", TERM="dumb")
    assert status == 0
    assert text.isascii()
    assert "\x1b" not in text


def test_help_and_usage_errors_on_a_real_terminal(home: dict[str, str | None]) -> None:
    for arguments, expected in ((["--help"], 0), (["grad", "--help"], 0), (["grad", "--wtr"], 2)):
        status, text = pty(arguments, home)
        assert status == expected
        assert "Usage" in text
        assert max(map(cell_len, bare(text).splitlines())) <= 80
        status, text = pty(arguments, home, NO_COLOR="1", TERM="dumb")
        assert status == expected
        assert "\x1b[3" not in text
