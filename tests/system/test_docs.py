"""The pages in docs/: every example is run and prints what is shown; nothing of the language is
left out.

A ```gradcli block of docs/language.md is a program. Its first line may be its command, such as
`# gradcli grad FILE --wrt x`, else it is run. What it prints at a terminal of 80 columns is in the
```text block behind it or, without one, in a comment on each line with a `print`. A ```csv block
is a file, named behind the word. In a ```gradcli wrong block each line is a program by itself, and
its error stands in a comment. The ```python blocks of docs/python.md are one session.

`pytest --update-golden tests/system/test_docs.py` writes the outputs into the pages and
docs/operations.md as a whole; the sessions of docs/python.md are written by hand.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import test_oracle
from folders import ROOT
from printed import as_shown
from stock_lark import stock

import gradcli
from gradcli.base.errors import GradcliError
from gradcli.cli.environment import Environment
from gradcli.cli.main import run
from gradcli.lang.running import declare, recording
from gradcli.lang.syntax.code import CONSTANTS, VERBS
from gradcli.lang.syntax.grammar import grammar_text
from gradcli.lang.syntax.lexer import KEYWORDS
from gradcli.ops import PUBLIC, TABLE, describe
from gradcli.ops.describe import GROUPS, groups, reference
from gradcli.ops.kinds import Op
from gradcli.ops.values import DTYPES
from gradcli.render import progress

DOCS = ROOT / "docs"
LANGUAGE, OPERATIONS, PYTHON = [
    DOCS / f"{name}.md" for name in ("language", "operations", "python")]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A fenced block: its word, what stands behind it, its text and its line on the page."""

    word: str
    rest: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return [Block(m[1], m[2].strip(), m[3], text.count("\n", 0, m.start()) + 1)
            for m in FENCE.finditer(text)]


class Example(NamedTuple):
    """A program of the page and what it prints: a block, or None where comments tell."""

    program: Block
    shown: Block | None


def examples() -> Iterator[Example]:
    found = blocks_of(LANGUAGE)
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block.word == "gradcli" and block.rest != "wrong":
            yield Example(block, after if after is not None and after.word == "text" else None)


EXAMPLES = list(examples())
WRONG = [line for block in blocks_of(LANGUAGE) if (block.word, block.rest) == ("gradcli", "wrong")
         for line in block.text.splitlines()]
PRINTING = re.compile(r"^(?P<code>.*\bprint\(.*\))(?P<gap> +)# (?P<shown>.*)$")


class Terminal(BytesIO):
    def isatty(self) -> bool:
        return True


def printed(folder: Path, text: str) -> str:
    """What the command of a program prints at a terminal, both streams together."""
    (folder / "program.txt").write_text(text, encoding="utf-8")
    for block in blocks_of(LANGUAGE):
        if block.word == "csv":
            (folder / block.rest).write_text(block.text, encoding="utf-8")
    first = text.partition("\n")[0]
    command = shlex.split(first[2:]) if first.startswith("# gradcli ") else ["", "run", "FILE"]
    screen = Terminal()
    stream = TextIOWrapper(screen, encoding="utf-8", newline="", write_through=True)
    environment = Environment(
        BytesIO(), stream, stream, {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm-256color"})
    before, patience = os.getcwd(), progress.PATIENCE
    os.chdir(folder)
    progress.PATIENCE = float("inf")  # a slow machine would draw its bar between the lines
    try:
        run(["program.txt" if word == "FILE" else word for word in command[1:]], environment)
    finally:
        os.chdir(before)
        progress.PATIENCE = patience
    stream.flush()
    lines = screen.getvalue().decode().split("\n")
    return "\n".join([line.rstrip() for line in lines]).rstrip("\n") + "\n"


def remarks(text: str) -> list[str]:
    """The comments of the lines that print."""
    found = [PRINTING.match(line) for line in text.splitlines()]
    return [m["shown"] for m in found if m]


def first_error(line: str) -> str:
    code = line.partition("  # ")[0].rstrip()
    with pytest.raises(GradcliError) as caught:
        gradcli.loads(code).run()
    return f"error[{caught.value.code}]: {caught.value.message}"


# --- docs/language.md -------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"line {e.program.line}" for e in EXAMPLES])
def test_example_prints_what_is_shown(example: Example, tmp_path: Path) -> None:
    told = remarks(example.program.text)
    shown = example.shown.text if example.shown is not None else "\n".join([*told, ""])
    assert example.shown is not None or told
    assert as_shown(printed(tmp_path, example.program.text), shown) == shown


@pytest.mark.parametrize("line", WRONG)
def test_wrong_line_has_the_error_that_is_shown(line: str) -> None:
    assert line.partition("  # ")[2].strip() == first_error(line)


def test_page_is_what_an_update_would_write(request: pytest.FixtureRequest, tmp_path: Path
                                            ) -> None:
    """Under --update-golden the page is written anew."""
    programs = iter(EXAMPLES)
    outputs: list[str] = []

    def anew(m: re.Match[str]) -> str:
        word, rest, text = m.groups()
        if word == "gradcli" and rest.strip() == "wrong":
            text = "".join([f"{line.partition('  # ')[0]}  # {first_error(line)}\n"
                            for line in text.splitlines()])
        elif word == "gradcli":
            program, shown = next(programs)
            out = printed(tmp_path, program.text)
            if shown is not None:
                outputs.append(out)
            else:
                lines = iter(out.splitlines())
                text = "".join([_told(line, lines) + "\n" for line in text.splitlines()])
                assert next(lines, None) is None, f"line {program.line} prints more:\n{out}"
        elif word == "text":
            text = outputs.pop()
        return f"```{word}{rest}\n{text}```"

    before = LANGUAGE.read_text(encoding="utf-8")
    fresh = as_shown(FENCE.sub(anew, before), before)
    if request.config.getoption("--update-golden"):
        LANGUAGE.write_text(fresh, encoding="utf-8")
    assert fresh == LANGUAGE.read_text(encoding="utf-8")


def _told(line: str, outputs: Iterator[str]) -> str:
    m = PRINTING.match(line)
    return f"{m['code']}{m['gap']}# {next(outputs)}" if m else line


def programs() -> list[str]:
    wrong = [line.partition("  # ")[0] + "\n" for line in WRONG]
    return [*[e.program.text for e in EXAMPLES], *wrong]


@cache
def used_rules() -> set[Any]:
    """The rules of the grammar, as stock Lark has them, that a parse of some example reduces."""
    lark, shaper = stock()
    machine: Any = lark.parser.parser.parser
    used: set[Any] = set()

    def recorder(rule: Any) -> Any:
        return lambda children: used.add(rule)

    before = machine.callbacks
    machine.callbacks = {rule: recorder(rule) for rule in before}
    try:
        for text in programs():
            shaper.text = text
            try:
                lark.parse(text)
            except Exception:  # a wrong line that is no sentence of the grammar
                continue
    finally:
        machine.callbacks = before
    return used


def test_every_rule_of_the_grammar_has_an_example() -> None:
    """Every alternative, also those without an alias; but for the file that has no statement."""
    lark, _ = stock()
    every = {rule for rule in lark.parser.parser.parser.callbacks
             if rule.expansion or rule.origin.name != "start"}
    assert len(every) > 150
    assert sorted(str(rule) for rule in every - used_rules()) == []


def terminals() -> dict[str, list[str]]:
    """Terminal to the texts that it may be, of those that are given as texts."""
    found = {}
    for line in grammar_text().splitlines():
        m = re.match(r'([A-Z_]+): ("[^"]+"(?: \| "[^"]+")*)$', line)
        if m and m[1] != "NEWLINE":
            found[m[1]] = re.findall(r'"([^"]+)"', m[2])
    return found


def test_every_operator_and_bracket_is_in_an_example() -> None:
    code = "\n".join(line.partition("  # ")[0] for text in programs() for line in text.splitlines())
    assert len(terminals()) > 25
    missing = [text for texts in terminals().values() for text in texts if text not in code]
    assert missing == []


def words_of(page: Path) -> set[str]:
    """The words of the page's code: in fenced blocks and between backquotes."""
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    code = "\n".join([b.text for b in blocks_of(page)] + inline)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def test_every_word_of_the_language_is_mentioned() -> None:
    wanted = {
        *KEYWORDS, *VERBS, *CONSTANTS, *DTYPES, "np", "T", "shape", "size", "ndim", "rtol", "atol",
        "output_gradients", "unconnected_gradients"}
    for table in (recording.OF_VARIABLE, recording.OF_TAPE, recording.OF_ACCUMULATOR):
        wanted |= table.keys()
    for attributes in (recording.ATTRIBUTES, declare.ATTRIBUTES):
        wanted |= {name for names in attributes.values() for name in names}
    assert len(wanted) > 90
    assert sorted(wanted - words_of(LANGUAGE)) == []


@pytest.mark.parametrize("page", [LANGUAGE, PYTHON], ids=lambda page: page.name)
def test_page_is_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n") <= 600
    lines = FENCE.sub("", text).splitlines()
    assert [line for line in lines if len(line) > 100 and not line.startswith("|")] == []


# --- docs/operations.md -----------------------------------------------------------------------


def test_operations_are_what_the_table_says(golden: Any) -> None:
    golden(OPERATIONS, reference())


def test_every_row_is_in_one_group() -> None:
    shown = [op.name for _, rows in groups() for op in rows]
    public = [op.name for op in TABLE.values() if not op.internal]
    assert len(shown) == len(set(shown))
    assert sorted(shown) == sorted(public)
    named = " ".join(names for _, names in GROUPS).split()
    assert len(named) == len(set(named))


def test_a_row_that_no_group_names_stands_behind_the_one_above(
        monkeypatch: pytest.MonkeyPatch) -> None:
    without = [(heading, names.replace("sech csch coth", "coth")) for heading, names in GROUPS]
    before = groups()
    monkeypatch.setattr(describe, "GROUPS", without)
    rows = {heading: [op.name for op in rows] for heading, rows in groups()}
    assert rows["Hyperbolic functions"][:6] == "sinh cosh tanh sech csch coth".split()
    assert {k: sorted(v) for k, v in rows.items()} == {
        heading: sorted(op.name for op in found) for heading, found in before}


def test_every_name_of_an_operation_is_on_the_page() -> None:
    assert sorted(set(PUBLIC) - words_of(OPERATIONS)) == []


def test_ops_lists_operations_in_the_order_of_the_page() -> None:
    out = TextIOWrapper(BytesIO(), encoding="utf-8")
    assert run(["ops", "--format", "plain"], Environment(BytesIO(), out)) == 0
    out.seek(0)
    listed = [line.split("\t")[0] for line in out.read().splitlines()]
    assert listed == [op.name for _, rows in groups() for op in rows]


def test_every_table_has_four_columns() -> None:
    for line in OPERATIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("|") and "kind" not in line:
            cells = re.split(r"(?<!\\)\|", line)
            assert len(cells) in (4, 6), line


# --- docs/python.md ---------------------------------------------------------------------------


class Outputs(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, as_shown(got, want), optionflags)


def test_python_session_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                            ) -> None:
    """All ```python blocks in order, in one name space; `...` in an output stands for any text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "curve.txt").write_text("input x = 3\ny = x^2\n", encoding="utf-8")
    # The session registers a gradient for good; in the tests for as long as it lasts.
    row = TABLE["adjust_contrast"]
    for slot in Op.__slots__:
        monkeypatch.setattr(row, slot, getattr(row, slot))
    names: dict[str, Any] = {}
    told: list[str] = []
    runner = doctest.DocTestRunner(Outputs(), optionflags=doctest.ELLIPSIS)
    ran = 0
    for block in blocks_of(PYTHON):
        if block.word == "python":
            test = doctest.DocTestParser().get_doctest(
                block.text, names, f"{PYTHON.name}:{block.line}", PYTHON.name, block.line)
            assert test.examples, f"line {block.line} shows nothing"
            result = runner.run(test, out=told.append, clear_globs=False)
            names.update(test.globs)
            ran += result.attempted
    assert not told, "".join(told)
    assert ran > 60


def test_every_public_name_is_mentioned() -> None:
    assert sorted({*gradcli.__all__} - words_of(PYTHON)) == []
    for kind in (gradcli.GradientTape, gradcli.ForwardAccumulator, gradcli.Variable,
                 gradcli.Module, gradcli.Program):
        own = {name for name, member in vars(kind).items() if not name.startswith("_")
               and (inspect.isfunction(member) or isinstance(member, property))}
        internal = {"continue_in", "read", "window", "sees_everything", "push",
                    "assigned", "note_derived", "origin",
                    "default_sources", "sources", "targets", "unnamed", "run", "logged_run",
                    "traced_run", "choose", "differentiable", "asked_alone",
                    "recording_constants", "lost_numbers", "numbers"}
        assert sorted(own - internal - words_of(PYTHON)) == [], kind


def rows_below(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of docs/python.md."""
    text = PYTHON.read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    rows = []
    for line in text.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif rows:
            break
    return rows[2:]


def test_names_for_those_of_tensorflow_exist() -> None:
    rows = rows_below("TensorFlow's names")
    assert len(rows) > 30
    for _, ours, *_ in rows:
        for name in re.findall(r"`ops\.(\w+)", ours):
            assert name in PUBLIC, name
        for name in re.findall(r"`gradcli\.(\w+)", ours):
            assert name in gradcli.__all__, name
        assert re.search(r"`(ops|gradcli|tape|acc|x|np)\b", ours), ours


def test_every_difference_from_tensorflow_is_listed() -> None:
    """By the cases of test_oracle.py, of which a pattern such as `op1_*` may name several."""
    rows = rows_below("Where gradcli differs on purpose")
    for switch, cases in (("yes", test_oracle.OWN), ("no", test_oracle.DIFFERENT)):
        patterns = [p for row in rows if row[3] == switch for p in re.findall(r"`(.+?)`", row[4])]
        for id in cases:
            assert any(fnmatch(id, p) for p in patterns), f"{id} is not in a row with {switch}"
        for p in patterns:
            assert any(fnmatch(id, p) for id in cases), f"{p} is no case that differs"
