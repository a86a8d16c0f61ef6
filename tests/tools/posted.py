"""The scripts in tests/data/tf/scripts, the fault that each has a version with, and the gradients
that a run asks for.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.engine.record.tensor import flatten
from gradcli.tf import tape as tapes
from gradcli.tf.scripts import script
from gradcli.tf.tensor import convert_to_tensor

FOLDER = Path(__file__).parents[1] / "data" / "tf" / "scripts"


class Fault:
    """A fault in a script: what it makes of a gradient, the code and the line of its cause, the
    changes that make it, and part of the advice.
    """

    def __init__(self, name: str, answer: str, code: str, line: str) -> None:
        self.name, self.answer, self.code, self.line = name, answer, code, line
        self.changes: list[dict[str, list[str]]] = []
        self.advice = ""

    def broken(self) -> str:
        """Return the script with the fault."""
        text = whole(self.name)
        for change in self.changes:
            text = replaced(text, change["-"], change["+"])
        return text

    def by_hand(self) -> str:
        """Return the broken script with what a reader of the advice writes; the same if nothing is
        to be written by hand.
        """
        text = self.broken()
        for change in self.changes:
            if change["="]:
                text = replaced(text, change["+"], change["="])
        return text


def whole(name: str) -> str:
    """Return a script without a fault."""
    return (FOLDER / f"{name}.py").read_text()


def faults() -> dict[str, Fault]:
    """Return the faults by the names of their scripts."""
    found: dict[str, Fault] = {}
    fault = None
    for line in (FOLDER / "faults.txt").read_text().splitlines():
        sign, text = line[:1], line[2:]
        if not line or sign == "#":
            continue
        if sign not in "-+=?" or line[1:2] != " ":
            head, _, cause = line.partition(": ")
            name, answer, code = head.split()
            fault = found[name] = Fault(name, answer, code, cause)
            continue
        assert fault is not None
        if sign == "?":
            fault.advice = text
            continue
        if sign == "-" and (not fault.changes or fault.changes[-1]["+"]):
            fault.changes.append({"-": [], "+": [], "=": []})
        fault.changes[-1][sign].append(text)
    return found


def replaced(text: str, old: list[str], new: list[str]) -> str:
    """Return a text with lines in place of others, which are there once, as far indented."""
    lines = text.split("\n")
    found = []
    for k in range(len(lines)):
        pad = lines[k][:len(lines[k]) - len(lines[k].lstrip())]
        pad = pad[:len(pad) - len(old[0]) + len(old[0].lstrip())]
        if lines[k:k + len(old)] == [pad + line for line in old]:
            found.append((k, pad))
    assert len(found) == 1, (old, found)
    (k, pad), = found
    return "\n".join([*lines[:k], *[pad + line for line in new], *lines[k + len(old):]])


def run(name: str, text: str) -> tuple[script.Run, list[list[float] | None], str]:
    """Run a script; return what was heard, of each gradient in order the sum of its elements and of
    their sizes, and what was printed.
    """
    gradients: list[list[float] | None] = []
    told = script.Heard.__call__

    def heard(self: Any, tape: Any, target: Any, sources: Any, found: Any, frame: Any) -> None:
        told(self, tape, target, sources, found, frame)
        gradients.extend(map(summed, flatten(found)))

    printed = io.StringIO()
    script.Heard.__call__ = heard  # type: ignore[method-assign]
    try:
        with contextlib.redirect_stdout(printed):
            made = script.run(str(FOLDER / f"{name}.py"), [], text=text)
    finally:
        script.Heard.__call__ = told  # type: ignore[method-assign]
    assert tapes.listener is None
    return made, gradients, printed.getvalue()


def summed(g: Any) -> list[float] | None:
    """Return the sum of the elements of a gradient, and that of their sizes."""
    if g is None:
        return None
    value = np.asarray(convert_to_tensor(g).value, dtype=float)
    return [float(value.sum()), float(np.abs(value).sum())]
