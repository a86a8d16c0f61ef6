"""What is measured, as data: cases, and the sides that answer them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# What a side may need instead of the name of a package or a program.
CHECKOUT = "gradcli"     # this checkout, in the running Python
WHEEL = "gradcli's wheel"   # an environment of its own with the wheel installed and compiled


def same(answer: Any) -> Any:
    return answer


def numbers_in(text: str, folder: Path) -> list[float]:
    """The numbers with a point that a command printed, as answers."""
    return [float(t) for t in re.findall(r"(?<![\w.])-?\d+\.\d+(?:[eE][-+]?\d+)?", text)]


class Side:
    """One engine's answer to a case. needs: a package, a program, CHECKOUT or WHEEL."""

    def __init__(self, name: str, needs: str) -> None:
        self.name = name
        self.needs = needs


class Worker(Side):
    """Timed inside a process that is ready, in the folder of the case: build imports, traces,
    compiles and returns the action that is timed. read: from what the action returns to the numbers
    that are compared.
    """

    def __init__(self, name: str, needs: str, build: Callable[[], Callable[[], Any]],
                 read: Callable[[Any], Any] = same) -> None:
        super().__init__(name, needs)
        self.build = build
        self.read = read


class Place:
    """Where a command runs. program: what the side needs (an interpreter for a package); folder:
    for the files of the case.
    """

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder

    @property
    def gradcli(self) -> str:
        """The installed command beside the interpreter."""
        return str(Path(self.program).with_name("gradcli"))


class Command(Side):
    """Timed as a whole process. terminal: with a pseudo-terminal instead of pipes. read: from its
    output, and the folder, to the numbers that are compared; None: it answers nothing.
    """

    def __init__(self, name: str, needs: str, argv: Callable[[Place], list[str]],
                 terminal: bool = False,
                 read: Callable[[str, Path], Any] | None = numbers_in) -> None:
        super().__init__(name, needs)
        self.argv = argv
        self.terminal = terminal
        self.read = read


class Ratio:
    """Median of one side divided by that of another, or without a peer the median itself. target:
    at most this, where one was set.
    """

    def __init__(self, ours: str, peer: str | None, target: float | None = None) -> None:
        self.ours = ours
        self.peer = peer
        self.target = target


class Case:
    """One question, asked of several engines.

    key: for --only. cores: how many the processes are bound to; with one, libraries are told to use
    one thread. unit: "s" is measured by the harness; "MB" is the largest memory of a command;
    anything else is what the action returns. rounds: at most so many, where one takes long.
    A command with one round is not run before it. tolerance: of the comparison, relative. prepare:
    writes files that the commands read. quick: whether --quick runs it unasked. per: what an action
    does so many of, and one round is the time of one of them.
    """

    def __init__(self, key: str, title: str, sides: Sequence[Side], ratios: Sequence[Ratio], *,
                 cores: int = 1, unit: str = "s", rounds: int | None = None,
                 tolerance: float = 1e-9, prepare: Callable[[Path], None] | None = None,
                 quick: bool = True, per: int = 1) -> None:
        self.key = key
        self.title = title
        self.sides = list(sides)
        self.ratios = list(ratios)
        self.cores = cores
        self.unit = unit
        self.rounds = rounds
        self.tolerance = tolerance
        self.prepare = prepare
        self.quick = quick
        self.per = per

    def side(self, name: str) -> Side:
        return next(s for s in self.sides if s.name == name)
