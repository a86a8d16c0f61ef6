"""A million rows of three inputs: CSV in, value and gradient out as CSV, on two cores.

pandas first only reads the same file and writes it again: the two calls in a process that has it
imported, and as a whole process. Then it does the same work: it reads, NumPy calculates the value
and the gradient by hand, and it writes the seven columns that gradcli writes. gradcli is the whole
command with its start-up, alone and with two workers, and the same command in a process that is
warm. Numbers have up to 17 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.harness.case import CHECKOUT, WHEEL, Case, Command, Ratio, Worker

ROWS = 1_000_000
FORMULA = "x^2*sin(y) + exp(x*z)"
ARGUMENTS = ["grad", "-e", FORMULA, "--points", "in.csv", "-o", "out.csv"]
PANDAS = "import pandas; pandas.read_csv('in.csv').to_csv('copy.csv', index=False)"


def prepare(folder: Path) -> None:
    """in.csv: the same numbers each time."""
    import random

    draw = random.Random(5).uniform
    with open(folder / "in.csv", "w", encoding="ascii") as file:
        file.write("x,y,z\n")
        file.writelines([f"{draw(-1, 1)!r},{draw(-1, 1)!r},{draw(-1, 1)!r}\n"
                         for _ in range(ROWS)])


def some_rows(text: str, folder: Path) -> list[float]:
    """Numbers of out.csv, line by line: every thousandth."""
    with open(folder / "out.csv", encoding="ascii") as file:
        return [float(x) for line in islice(file, 1, None, 1000) for x in line.split(",")]


def rows_written(answer: Any) -> list[float]:
    return some_rows("", Path())


def gradcli() -> Callable[[], Any]:
    from gradcli.cli.environment import Environment
    from gradcli.cli.main import run

    def action() -> None:
        assert run(ARGUMENTS, Environment()) == 0

    return action


def pandas() -> Callable[[], Any]:
    import pandas as pd

    return lambda: pd.read_csv("in.csv").to_csv("copy.csv", index=False)


def pandas_and_numpy() -> Callable[[], Any]:
    import numpy as np
    import pandas as pd

    def action() -> None:
        rows = pd.read_csv("in.csv")
        x, y, z = (rows[name].to_numpy() for name in "xyz")
        sin, e = np.sin(y), np.exp(x*z)
        rows["f"] = x*x*sin + e
        rows["df/dx"] = 2*x*sin + z*e
        rows["df/dy"] = x*x*np.cos(y)
        rows["df/dz"] = x*e
        rows.to_csv("out.csv", index=False)

    return action


CASES = [
    Case("csv", "CSV in, CSV out, 1e6 rows, 3 inputs", [
        Command("gradcli", WHEEL, lambda place: [place.gradcli, *ARGUMENTS], read=some_rows),
        Command("gradcli --jobs 2", WHEEL, lambda place: [
            place.gradcli, *ARGUMENTS, "--jobs", "2"], read=some_rows),
        Worker("gradcli, in process", CHECKOUT, gradcli, rows_written),
        Worker("pandas read_csv + to_csv", "pandas", pandas),
        Command("pandas, whole process", "pandas", lambda place: [place.program, "-c", PANDAS],
                read=None),
        Worker("pandas and numpy by hand", "pandas", pandas_and_numpy, rows_written),
    ], [Ratio("gradcli", "pandas read_csv + to_csv", 2),
        Ratio("gradcli", "pandas, whole process"),
        Ratio("gradcli --jobs 2", "pandas read_csv + to_csv"),
        Ratio("gradcli, in process", "pandas read_csv + to_csv"),
        Ratio("gradcli, in process", "pandas and numpy by hand")],
        cores=2, rounds=5, prepare=prepare, quick=False),
]
