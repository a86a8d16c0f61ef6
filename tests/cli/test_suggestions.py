"""What a mistyped command line is answered: what was meant, what was said twice, where an option
belongs; help that is not cut, and errors as wide as the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from commands import Ran
from rich.cells import cell_len
from terminals import on_terminal
from test_man import PAGES, plain
from transcripts import in_process

from gradcli.base.similar import nearest
from gradcli.cli.app import near

FORMULA = ["-e", "x^2", "--at", "x=3"]


def usage(*arguments: str) -> str:
    """The last line that a wrong command line is answered."""
    status, out, err = in_process(list(arguments))
    assert (status, out) == (2, "")
    return err.splitlines()[-1]


@pytest.mark.parametrize(("arguments", "meant"), [
    (["newton", *FORMULA, "--tol", "3"], "(Possible options: --tolerance)"),
    (["newton", *FORMULA, "--max-iter", "3"], "(Possible options: --iterations, --max-steps)"),
    (["grad", *FORMULA, "--fromat", "json"], "(Possible options: --format)"),
    (["grad", *FORMULA, "--verfiy"], "(Possible options: --verify)"),
    (["div", *FORMULA], "Did you mean 'divergence'?"),
    (["tang", *FORMULA], "Did you mean 'tangent'?"), (["gard", *FORMULA], "Did you mean 'grad'?"),
    (["tayler", *FORMULA], "Did you mean 'taylor'?"), (["hw", "rnu"], "Did you mean 'run'?")])
def test_what_was_meant(
        arguments: list[str], meant: str) -> None:
    assert usage(*arguments).endswith(meant)


@pytest.mark.parametrize("arguments", [
    ["verify", *FORMULA, "--tol", "3"], ["verify", *FORMULA, "--mode", "forward"], ["nonsense"],
    ["hw", "nonsense"]])
def test_no_suggestion_is_better_than_a_wrong_one(
        arguments: list[str]) -> None:
    line = usage(*arguments)
    assert "Possible" not in line
    assert "mean" not in line


def test_an_option_without_its_command() -> None:
    assert usage("-e", "x^2").endswith("(commands have it: gradcli grad -e ...)")
    assert usage("--sigma", "x=1").endswith("gradcli propagate --sigma ...)")


@pytest.mark.parametrize("arguments", [
    ["grad", "-e", "x", "-e", "y"], ["grad", "-e", "x", "--expression=y"],
    ["grad", *FORMULA, "-o", "a", "-o", "b"],
    ["taylor", *FORMULA, "--order", "2", "--order", "3"],
    ["directional", *FORMULA, "--direction", "1", "--direction", "2"]])
def test_what_may_stand_once(arguments: list[str]) -> None:
    assert usage(*arguments).endswith("it is given 2 times, and may be given once.")


def test_an_alias_may_set_what_the_line_says_otherwise() -> None:
    """Options that say how: the later one counts, as everywhere in a shell."""
    line = ["hess", *FORMULA, "--mode", "forward", "--format", "json", "--digits", "3"]
    assert in_process([*line, "--mode=reverse", "--format=plain"]) == (0, "d2f/dxdx\t2\n", "")


def test_what_may_stand_more_than_once() -> None:
    """Lists go on, and of what an alias may set the later counts."""
    status, out, err = in_process([
        "grad", "-e", "x^2*y", "--at", "x=1", "--at", "y=2", "--wrt", "x", "--wrt", "y", "-vv",
        "-v", "-q", "-q", "--format", "csv", "--format", "plain", "--color", "never", "--color",
        "auto"])
    assert (status, out, err) == (0, "df/dx\t4\ndf/dy\t1\n", "")


def test_a_number_is_told_in_the_same_words() -> None:
    for text in ("0", "x", "-1", "1.5", ""):
        assert usage("taylor", *FORMULA, "--order", text).endswith(
            f"Invalid value for '--order': '{text}' is not a whole number from 1 on.")


def test_a_name_has_one_value() -> None:
    for option, arguments in (
            ("--at", ["grad", "-e", "x^2", "--at", "x=3,x=4"]),
            ("--sigma", ["propagate", *FORMULA, "--sigma", "x=1,x=2"]),
            ("--direction", ["directional", *FORMULA, "--direction", "x=1,x=2"])):
        status, out, err = in_process(arguments)
        assert (status, out) == (3, "")
        assert err.startswith(f"error[E0204]: {option} gives `x` two values\n  --> {option}:1:5")
    pair = ["propagate", "-e", "x*y", "--at", "x=1,y=2", "--sigma", "x=1,y=1", "--correlation"]
    for text in ("x:y=0.5,x:y=0.4", "x:y=0.5,y:x=0.5"):
        assert in_process([*pair, text])[2].startswith("error[E0834]")
    # What is asked is said once, as with every option that says what, not how.
    status, out, err = in_process(["grad", "-e", "x^2*y", "--at", "y=1,x=3", "--at", "x=4"])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0204]: --at gives `x` two values\n  --> --at:1:1")


@pytest.mark.parametrize(("word", "found"), [
    ("sni", "sin"), ("cso", "cos"), ("lgo", "log"), ("tnah", "tanh"), ("sigm", "sigmoid"),
    ("sinn", "sin"), ("Sin", "sin"), ("quite", None)])
def test_nearest(word: str, found: str | None) -> None:
    names = ["si", "sin", "sinh", "sign", "cos", "cosh", "log", "log1p", "tan", "tanh", "sigmoid"]
    assert nearest(word, names) == found


def test_near_has_an_order() -> None:
    assert near("--tol", ["--of", "--at", "--color", "--tolerance"]) == ["--tolerance"]
    assert near("--ta", ["--at", "--tape"]) == ["--tape"]
    assert near("--lta", ["--alt", "--tape"]) == ["--alt"]
    assert near("--", ["--at"]) == []


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [[], ["hw"]])
def test_no_summary_is_cut(group: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = in_process([*group, "--help"])[1]
    listed = out.partition("Commands:\n")[2].splitlines()
    assert len(listed) > 5
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)
    assert all(len(line) <= 80 for line in listed)


def test_related_pages_name_each_other() -> None:
    def see(name: str) -> set[str]:
        return set(re.findall(r"(\S+)\(1\)", plain(PAGES[name].partition("SEE ALSO")[2])))

    assert "gradcli-hw" in see("gradcli.1")
    assert "gradcli" in see("gradcli-hw.1")
    for one in ("steps", "derive", "plot", "graph"):
        assert see(f"gradcli-{one}.1") >= {
            f"gradcli-{other}" for other in ("steps", "derive", "plot", "graph") if other != one}
    for page in PAGES:
        assert page.removesuffix(".1") not in see(page)


# --- errors ---------------------------------------------------------------------------------------

LONG = ["grad", "-e", "y = 2*floor(x) + " + " + ".join(f"sinn{k}(x)" for k in range(3)), "--at",
        "x=1.5"]
WORDY = ["taylor", "-e", "2*floor(x) + 1", "--at", "x=1.5"]


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize("arguments", [
    LONG, WORDY, ["curl", "-e", "x*y", "--wrt", "x,y", "--at", "x=1,y=2"],
    ["grad", "-e", "none_of_this"], ["grad", "-e", "abc(x)", "--wrt", "x"]])
def test_errors_are_as_wide_as_the_terminal(arguments: list[str], columns: int) -> None:
    _, _, err = on_terminal(arguments, COLUMNS=str(columns), NO_COLOR="1")
    assert err
    assert all(cell_len(line) <= columns for line in err.splitlines()), err


def test_errors_are_lines_in_a_pipe() -> None:
    """The same words, one sentence a line; the excerpt is the same in both."""
    piped = on_terminal(WORDY, piped=("stderr",), COLUMNS="50", NO_COLOR="1")[2]
    shown = on_terminal(WORDY, COLUMNS="50", NO_COLOR="1")[2]
    assert len(piped.splitlines()[0]) > 50
    assert piped.split() == shown.split()
    assert [line for line in piped.splitlines() if "|" in line] == [
        line for line in shown.splitlines() if "|" in line]


@pytest.mark.parametrize("line", ["grad --help", "hw run --help", "hw stats --nonsense"])
def test_a_command_that_is_built_alone_says_the_same(
        line: str, gradcli: Callable[..., Ran]) -> None:
    """A process builds the command that it is asked for, the tests all of them."""
    alone = gradcli(*line.split())
    status, out, err = in_process(line.split())
    assert (alone.returncode, alone.stdout, alone.stderr) == (status, out, err)
    assert len(out + err) > 50
