"""Formulas as people type them, each with what it means and the derivatives that mpmath finds.

    python tests/tools/typed_formulas.py    # records the values by mpmath

A row of tests/data/typed/formulas.txt has the text as typed; what it means in Python over mpmath,
or two readings separated by " ~ ", or the code of the error that it is; and the derivatives at
POINT by each name of the meaning.
"""

from __future__ import annotations

import ast
import json
from typing import Any

from folders import DATA

ROWS = DATA / "typed/formulas.txt"
POINT = {"x": 0.7, "y": 1.3, "z": 0.9, "a": 1.1, "b": 2.3, "c": 0.4, "k": 0.6, "m": 1.7, "n": 2.5,
         "r": 1.2, "v": 0.8, "θ": 0.5, "theta": 0.5, "α": 1.4, "alpha": 1.4, "λ": 0.3, "X": 0.7,
         "E": 1.9, "x_1": 0.7, "x_2": 0.9, "x1": 0.7, "x2": 0.9, "h": 1.6, "g": 1.5, "t": 0.65}


class Row:
    """A formula as typed. code: of the error that it is, "" where it is none. readings: for each of
    its readings the derivatives at POINT, by name; one unless people differ.
    """

    def __init__(self, line: str) -> None:
        self.typed, meaning, *values = line.split("\t")
        self.code = meaning if meaning[0] == "E" and meaning[1:].isdigit() else ""
        self.meanings = [] if self.code else meaning.split(" ~ ")
        self.readings: list[dict[str, float]] = [json.loads(one) for one in values]

    def line(self) -> str:
        """Return the row as the file has it."""
        return "\t".join([self.typed, self.code or " ~ ".join(self.meanings), *[
            json.dumps(one, ensure_ascii=False) for one in self.readings]])


def rows() -> list[Row]:
    """The rows of the table."""
    return [Row(line) for line in ROWS.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]


def derivatives(meaning: str) -> dict[str, float]:
    """The derivatives of a formula at POINT by each of its names, by differences of 50 digits."""
    import mpmath

    mpmath.mp.dps = 50
    functions: dict[str, Any] = {
        name: getattr(mpmath, name) for name in dir(mpmath) if name.isalpha()}
    functions |= {"abs": abs, "min": min, "log10": mpmath.log10, "mpf": mpmath.mpf, "cbrt":
                  mpmath.cbrt}
    names = sorted({node.id for node in ast.walk(ast.parse(meaning)) if isinstance(node, ast.Name)
                    and node.id in POINT})

    def value(**changed: Any) -> Any:
        at = {name: mpmath.mpf(str(POINT[name])) for name in names}
        return eval(meaning, {**functions, **at, **changed})

    return {name: float(mpmath.re(mpmath.diff(
        lambda v, name=name: value(**{name: v}), mpmath.mpf(str(POINT[name]))))) for name in names}


def main() -> None:
    """Record the values anew."""
    found = []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            row = Row(line)
            row.readings = [derivatives(one) for one in row.meanings]
            line = row.line()
        found.append(line)
    ROWS.write_text("\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
