"""Programs for TensorFlow in blocks, and what they print here and with TensorFlow.

`data/tf/programs/NAME.txt` is a program, `NAME.json` what each block printed with TensorFlow 2.21.0
and Keras 3.15.1 (CPU). They run here with `tensorflow` meaning `gradcli.tf`. A block is, by the
word behind `# %%`:

- nothing: text is equal, numbers to rounding in float32;
- random: it has random numbers: text is equal, any number may stand where one does;
- timed: so are the times in it;
- missing NAME: TensorFlow has it and gradcli not, which says so.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterable
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple
from unittest import mock

from folders import DATA

import gradcli.tf as tf

PROGRAMS = {path.stem: path for path in sorted((DATA / "tf" / "programs").glob("*.txt"))}
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?")
TIMES = re.compile(r"\d+(?:us|ms|s)\b")
# A number printed with as many digits as this has rounding in float32 behind it.
NEAR = 2e-6


class Block(NamedTuple):
    """A block of a program: the word behind its mark, its text in its line."""

    kind: str
    code: str


def blocks(text: str) -> list[Block]:
    """Return the blocks of a program."""
    found = []
    for part in re.finditer(r"(?ms)^# %%([^\n]*)\n(.*?)(?=^# %%|\Z)", text):
        found.append(Block(part[1].strip(), "\n" * (text[:part.start()].count("\n") + 1) + part[2]))
    return found


def run(block: Block, scope: dict[str, Any], name: str) -> str:
    """Run a block, and return what it prints, or the error for a name that is missing."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), mock.patch.dict(os.environ, COLUMNS="80"):
        try:
            exec(compile(block.code, name, "exec"), scope)
        except AttributeError as problem:
            if not block.kind.startswith("missing"):
                raise
            return str(problem)
    return output.getvalue()


def spaced(text: str) -> str:
    """Return a text without the blanks by which arrays are aligned."""
    return re.sub(r"(?<=[\[ ]) +|(?<=\[) | +(?=[\],])", "", text)


def same(found: str, expected: str, kind: str) -> bool:
    """Return whether a block printed what TensorFlow did."""
    if found == expected:
        return True
    if kind == "timed":
        found, expected = [TIMES.sub("0s", text) for text in (found, expected)]
    masked = [spaced(NUMBER.sub("0.0", text)) for text in (found, expected)]
    if masked[0] != masked[1]:
        return False
    pairs = zip(NUMBER.findall(found), NUMBER.findall(expected), strict=True)
    return kind == "random" or all(
        abs(float(a) - float(b)) <= max(NEAR * max(abs(float(b)), 1.0), _last(b)) for a, b in pairs)


def _last(number: str) -> float:
    """Return one unit of the last digit that is printed, 0 where that is many digits."""
    digits = number.partition("e")[0].partition(".")[2]
    return 0.0 if len(digits) > 5 else 1.01 * 10.0 ** -len(digits)


@cache
def printed(name: str) -> list[tuple[Block, str, str]]:
    """Return the blocks of a program with what they print here, and with TensorFlow."""
    path = PROGRAMS[name]
    recorded = json.loads(path.with_suffix(".json").read_text())
    assert recorded["tensorflow"] == tf.__version__
    text = path.read_text().replace("import tensorflow as tf", "import gradcli.tf as tf").replace(
        "from tensorflow import", "from gradcli.tf import")
    tf.keras.backend.clear_session()
    scope: dict[str, Any] = {"__name__": "__main__"}
    return [(block, run(block, scope, str(path)), expected) for block, expected in zip(
        blocks(text), recorded["printed"], strict=True)]


def differences(name: str) -> list[str]:
    """Return the lines of a program that are printed otherwise than with TensorFlow."""
    wrong = []
    for k, (block, found, expected) in enumerate(printed(name)):
        if block.kind.startswith("missing"):
            fits = f"gradcli has no `{block.kind.partition(' ')[2]}`" in found
        else:
            fits = same(found, expected, block.kind)
        if not fits:
            lines = zip_longest(found.splitlines(), expected.splitlines(), fillvalue="")
            wrong += [f"block {k}: {ours}\n  TensorFlow: {theirs}" for ours, theirs in lines
                      if not same(ours, theirs, block.kind)]
    return wrong


def equal_bytes(names: Iterable[str]) -> float:
    """Return the share of blocks that print the same bytes, of those without random numbers."""
    equal = [found == expected for name in names for block, found, expected in printed(name)
             if not block.kind]
    return sum(equal) / len(equal)
