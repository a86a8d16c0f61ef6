"""Every error code has a sample that triggers it and a golden rendering, and the set is complete.

samples/errors/CODE-name.txt holds its command in the first line; CODE-name.expected shows what a
person sees. After `--update-golden` read the diff: the files are the review of all wording.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import valid
from commands import Ran
from folders import DATA, ROOT, TESTS
from transcripts import header_commands, in_process

from gradcli.base.errors import MAX_BYTES

SAMPLES = sorted((ROOT / "samples/errors").glob("*.txt"))
# Made in tests: a file of more than 16 MiB is no sample, nor are Parquet files, clusters, sheets of
# a MiB, 200,000 files, workers that can do nothing, libraries and programs that are not installed,
# runs at once.
GENERATED = {"E0407", "E0602", "E0616", "E0617", "E0707", "E0731", "E0738", "E0750", "E0751",
             "E0805", "E0811", "E0821", "E0822"}
# Why an answer cannot be read is a result, not an error.
RESULTS = {f"E07{k}" for k in range(10, 22)}
# A file or folder that cannot be read has a name, but no lines.
WITHOUT_LINES = {"E0601", "E0602", "E0730", "E0734"}
# Where only the author knows what is missing, no suggestion is better than a wrong one.
WITHOUT_HELP = {"E0102-missing-operand": 1, "E0102-several": 2}
PLACES = DATA / "error_places.txt"
# The instruction that the clock interrupts is another one each time.
PLACE_VARIES = {"E0406-timeout"}


def case(path: Path) -> tuple[str, list[str]]:
    """(code, arguments) of a sample."""
    (arguments,) = header_commands(path)
    return path.stem.partition("-")[0], arguments


def objects(text: str) -> list[dict[str, Any]]:
    """All errors of a JSON error message, which is held to its schema."""
    message = json.loads(text)
    valid(message, "error")
    return [message["error"], *message.get("errors", ())]


def is_result(path: Path) -> bool:
    return case(path)[0] in RESULTS


by_name = pytest.mark.parametrize("path", [path for path in SAMPLES if not is_result(path)],
                                  ids=lambda path: path.stem)
answers_by_name = pytest.mark.parametrize("path", [path for path in SAMPLES if is_result(path)],
                                          ids=lambda path: path.stem)


@by_name
def test_a_person_sees(path: Path, golden: Callable[[Path, str], None]) -> None:
    code, arguments = case(path)
    status, out, err = in_process(arguments)
    assert (status, out) == (3, "")
    assert err.startswith(f"error[{code}]: ")
    shown = f"$ gradcli {' '.join(arguments)}\n{err}"
    if path.stem in PLACE_VARIES:
        shown = re.sub(r"(--> .*:[0-9]+):[0-9]+", r"\1:...", re.sub(r"\n   \| +\^+", "", shown))
    golden(path.with_suffix(".expected"), shown)


MARKED = re.compile(r"^ *--> (?P<file>.+):(?P<line>\d+):(?P<column>\d+)\n *\|\n"
                    r" *(?P=line) \| ?(?P<text>.*)\n *\| (?P<gap> *)(?P<carets>\^+)", re.M)


def marked(err: str) -> list[str]:
    """The line of each error, with what its carets mark in angle quotes."""
    found = []
    for m in MARKED.finditer(err):
        start, end = len(m["gap"]), len(m["gap"]) + len(m["carets"])
        found.append(f"{m['text'][:start]}«{m['text'][start:end]}»{m['text'][end:]}")
    return found


def test_carets_mark_what_a_person_says_they_mark() -> None:
    """tests/data/error_places.txt is decided by hand, and no option writes it anew: a line for each
    error of each sample, with what is to blame in angle quotes.
    """
    places: dict[str, list[str]] = {}
    for line in PLACES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, _, text = line.partition("\t")
        places.setdefault(name, []).append(text)
    samples = [path for path in SAMPLES if path.stem not in PLACE_VARIES]
    found = {path.stem: marked(in_process(case(path)[1])[2]) for path in samples}
    assert places == {name: texts for name, texts in found.items() if texts}
    nowhere = {name.partition("-")[0] for name, texts in found.items() if not texts}
    assert nowhere == WITHOUT_LINES - GENERATED


@by_name
def test_a_program_reads(path: Path) -> None:
    code, arguments = case(path)
    status, out, err = in_process([*arguments, "--format", "json"])
    assert (status, out) == (3, "")
    found = objects(err)
    assert found[0]["code"] == code
    for one in found:
        assert one["file"]
        place = [one[key] for key in ("line", "column", "end_line", "end_column")]
        if one["code"] in WITHOUT_LINES:
            assert place == [None] * 4
            continue
        line, column, end_line, end_column = place
        assert line >= 1 <= column
        assert (line, column) <= (end_line, end_column)
        if one["file"].startswith("samples/"):
            text = (ROOT / one["file"]).read_bytes()
            lines = text.decode("utf-8", "replace").split("\n")
            assert column <= len(lines[line - 1]) + 1
            assert end_column <= len(lines[end_line - 1]) + 1
    missing = sum(one["help"] is None for one in found)
    assert missing == WITHOUT_HELP.get(path.stem, 0)


@by_name
def test_messages_follow_the_house_style(path: Path) -> None:
    """Lower case, no full stop, no blame; help that is one suggestion."""
    for one in objects(in_process([*case(path)[1], "--format", "json"])[2]):
        held_to_the_style(one["message"], one["help"] or "")


def held_to_the_style(message: str, help: str) -> None:
    assert not re.match("[A-Z][a-z]", message)
    assert not message.endswith((".", "!"))
    assert not help.endswith((".\n", "!"))
    assert not re.search(r"\b(you|your|please|sorry|invalid|illegal|bad|wrong)\b", message)
    assert "\n" not in message + help


@answers_by_name
def test_an_answer_that_cannot_be_read(path: Path, golden: Callable[[Path, str], None]) -> None:
    """The result says why, and standard error where."""
    code, arguments = case(path)
    status, out, err = in_process(arguments)
    assert status == 1
    assert out.startswith("verdict\tunreadable\n")
    assert err.startswith(f"error[{code}]: ")
    command = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    golden(path.with_suffix(".expected"), f"$ {command}\n{out}{err}")
    status, out, other = in_process([*arguments, "--format", "json"])
    assert (status, other) == (1, "")
    answer = json.loads(out)
    assert (answer["verdict"], answer["score"], answer["mistake"]) == ("unreadable", 0.0, None)
    message, _, help = answer["message"].partition("; ")
    assert help
    held_to_the_style(message, help)
    assert f"error[{code}]: {message}\n" in err
    assert f"   = help: {help}\n" in err
    (place,) = re.findall(r"--> answer:1:([0-9]+)\n", err)
    assert 1 <= int(place) <= len(arguments[2]) + 1


def test_a_process_does_the_same(gradcli: Callable[..., Ran]) -> None:
    for name in ("E0201-function", "E0102-several", "E0603-encoding"):
        path = ROOT / f"samples/errors/{name}.txt"
        arguments = case(path)[1]
        ran = gradcli(*arguments, cwd=ROOT)
        assert (ran.returncode, ran.stdout) == (3, "")
        assert f"$ gradcli {' '.join(arguments)}\n{ran.stderr}" == \
            path.with_suffix(".expected").read_text(encoding="utf-8")


def test_the_samples_are_all_codes() -> None:
    used = set()
    for path in (ROOT / "gradcli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.update(re.findall(r"\AE0\d{3}\Z", node.value))
    assert used == {case(path)[0] for path in SAMPLES} | GENERATED
    assert {path.stem for path in (ROOT / "samples/errors").glob("*.expected")} == {
        path.stem for path in SAMPLES}


def test_what_is_no_sample_has_a_test() -> None:
    others = "".join([path.read_text(encoding="utf-8") for path in TESTS.glob(
        "*/test_*.py") if path != Path(__file__)])
    below = {"E0602", "E0616", "E0707"}
    assert {code for code in GENERATED - below if code not in others} == set()


def test_a_file_above_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    for arguments, stdin in ((["eval", str(path)], b""), (["eval", "-"], path.read_bytes())):
        status, out, err = in_process(arguments, stdin)
        assert (status, out) == (3, "")
        assert err.startswith("error[E0602]: ")
        assert "larger than 16 MiB" in err
        (one,) = objects(in_process([*arguments, "--format", "json"], stdin)[2])
        assert one["code"] == "E0602"
        assert one["help"]
    path.write_bytes(b"1 #" + b"#" * (MAX_BYTES - 3))
    assert in_process(["eval", str(path)])[:2] == (0, "f\t1\n")


def test_a_sheet_above_the_limits(tmp_path: Path) -> None:
    for text, words in (("#" * (1024 * 1024 + 1), "larger than 1 MiB"),
                        ("".join([f"{k}: x^{k}\n" for k in range(1001)]), "more than 1000")):
        path = tmp_path / "sheet.txt"
        path.write_text(text)
        for arguments, stdin in ((["hw", "lint", str(path)], b""),
                                 (["hw", "lint", "-"], text.encode())):
            status, out, err = in_process(arguments, stdin)
            assert (status, out) == (3, "")
            assert err.startswith("error[E0707]: ")
            assert words in err
            assert "help: split the sheet" in err


def test_a_complex_column(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("x\n1\n2\n")
    status, out, err = in_process([
        "eval", "-e", "complex(x, 1)", "--points", str(points), "-o", str(tmp_path / "f.arrow")])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0616]: `f` is complex")
    assert {path.name for path in tmp_path.iterdir()} == {"points.csv"}
