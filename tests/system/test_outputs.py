"""What -o and the end of a file's name mean, in every command that writes to a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from transcripts import in_process

from gradcli.cli.options import commands, ending, find

COMMANDS = [row.name for row in commands()]

LINES = {
    "grad": "-e x^2 --at x=3", "jac": "-e [x,x^2] --at x=3", "hess": "-e x^3 --at x=3",
    "eval": "-e 2", "why": "-e floor(x) --at x=1.5", "run": "-e print(2)", "ops": "sin",
    "verify": "-e x^2 --at x=3", "taylor": "-e x^2 --at x=3", "tangent": "-e x^2 --at x=3",
    "directional": "-e x*y --at x=1,y=2 --direction 3,4", "divergence":
    "-e [x,y] --wrt x,y --at x=1,y=2", "curl": "-e [x,y] --wrt x,y --at x=1,y=2",
    "laplacian": "-e x^2 --at x=3", "implicit": "-e x^2-y --at x=2,y=4 --wrt x --dependent y",
    "study": "-e x^2", "limit": "-e sin(x)/x --at x=0",
    "newton": "-e x^2-2 --at x=1", "propagate": "-e x^2 --at x=3 --sigma x=1",
    "steps": "-e x^2 --at x=3", "derive": "-e x^2", "plot": "-e x^2 --over x=0:1", "graph":
    "-e x^2 --at x=3", "check": "x^2 2x", "hw lint": "{sheet}"}
FROM_RESULTS = ("hw diff", "hw explain", "hw report", "hw stats")
"""Commands that need a class that was graded: they write as `hw lint` does."""
USUAL = {"txt": "plain", "json": "json", "ndjson": "ndjson", "jsonl": "ndjson", "csv": "csv",
         "tsv": "tsv", "md": "markdown", "tex": "latex", "py": "python", "c": "c", "h": "c",
         "dot": "dot", "gv": "dot", "mmd": "mermaid", "svg": "svg"}
SHEET = '[[problem]]\nid = "1"\nfunction = "x^2"\n'


def line(command: str, folder: Path) -> list[str]:
    (folder / "s.toml").write_text(SHEET)
    return [*command.split(), *LINES[command].format(sheet=folder / "s.toml").split()]


def test_all_commands_are_here() -> None:
    writing = {name for name in COMMANDS if any(o.name == "output" for o in find(name).options)}
    assert writing == {*LINES, *FROM_RESULTS}


@pytest.mark.parametrize("command", LINES)
def test_an_end_that_tells_no_format_is_refused(
        command: str, tmp_path: Path) -> None:
    for end in ("rs", "xlsx", "docx", "JS0N", "csv.zip", "xhtml"):
        path = tmp_path / f"out.{end}"
        status, out, err = in_process([*line(command, tmp_path), "-o", str(path)])
        assert (status, out) == (2, "")
        told = " ".join(err.split())
        assert "does not tell the format; end its name in ." in told
        assert "or give --format" in told
        assert not path.exists()


@pytest.mark.parametrize("command", LINES)
def test_an_end_means_what_format_means(command: str, tmp_path: Path) -> None:
    """Byte for byte, of each format that the command has; a name without an end is plain."""
    choices = find(command).formats()
    argv = line(command, tmp_path)
    for end, format in USUAL.items():
        if format not in choices or format == "svg":
            continue
        named, told = tmp_path / f"named.{end.upper()}", tmp_path / "told"
        assert in_process([*argv, "-o", str(named)])[1] == ""
        assert in_process([*argv, "-o", str(told), "--format", format])[1] == ""
        first, second = (re.sub(rb'"ms": [0-9.]+', b"", path.read_bytes())
                         for path in (named, told))
        assert first == second != b"", end
    if command not in ("plot", "graph"):
        bare = tmp_path / "folder.d" / "bare"
        bare.parent.mkdir(exist_ok=True)
        in_process([*argv, "-o", str(bare)])
        in_process([*argv, "-o", str(told), "--format", "plain"])
        assert bare.read_bytes() == told.read_bytes()


def test_rows_and_batches_have_ends_of_their_own(
        tmp_path: Path) -> None:
    rows = ["eval", "-e", "x", "--points", "x=[1,2]", "-o"]
    batch = tmp_path / "b.ndjson"
    batch.write_text('{"function": "x^2", "answer": "2x"}\n')
    answers = ["check", "--batch", str(batch), "-o"]
    for argv, end, begin in (
            (rows, "csv", b"x,f\n"), (rows, "tsv", b"x\tf\n"), (rows, "parquet", b"PAR1"),
            (rows, "csv.gz", b"\x1f\x8b"), (rows, "json", b'{"schema"'), (answers, "csv", b"id,"),
            (answers, "json", None), (answers, "tex", None), (rows, "tex", None)):
        path = tmp_path / f"out.{end}"
        status, _, err = in_process([*argv, str(path)])
        if begin is None:
            assert status == 2
            assert "does not tell the format" in " ".join(err.split())
        else:
            assert status == 0
            assert path.read_bytes().startswith(begin)


def test_ending() -> None:
    assert [ending(name) for name in (None, "", "a", "a.B", "x.d/a", ".csv", "a.b.c", "-", "a.")
            ] == ["", "", "", "b", "", "", "c", "", ""]
