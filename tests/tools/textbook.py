"""Records what SymPy prints for the derivatives of textbooks, and their values by mpmath.

    python tests/tools/textbook.py

Rewrites `tests/data/derive/textbook.tsv`: a formula on each line (chapters are comments), the
lengths of what SymPy's diff, simplify, factor and together print of its derivative by x, with ^ in
place of ** and without blanks, and values of the derivative where it is real. Write a formula on a
line of its own to add it.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent.parent / "data" / "derive" / "textbook.tsv"
POINTS = (0.37, 1.83, -0.61)
OTHERS = {"a": 1.3, "b": 0.7, "c": -0.4, "d": 2.1, "n": 2.6, "y": 0.9, "z": -1.2, "s": 1.1,
          "A": 0.8, "w": 1.9, "p": 0.2}
"""Where values are taken: x, and the other names."""

SLOW = 30
"""Seconds after which SymPy has found nothing."""


def recorded() -> Iterator[tuple[str, list[int], list[tuple[float, float]]]]:
    """Yield each formula with the four lengths, and (x, derivative) where it has a value."""
    for line in PATH.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            formula, lengths, values = line.split("\t")
            yield formula, [int(n) for n in lengths.split()], [
                (float(x), float(slope)) for x, slope in (v.split(":") for v in values.split())]


def lengths_of(formula: str) -> list[int]:
    """Return the lengths of SymPy's four forms."""
    import sympy

    names: dict[str, Any] = {n: sympy.Symbol(n, real=True) for n in ("x", *OTHERS)}
    names.update(log10=lambda x: sympy.log(x, 10), log2=lambda x: sympy.log(x, 2),
                 abs=sympy.Abs, e=sympy.E)
    slope = sympy.diff(sympy.sympify(formula.replace("^", "**"), locals=names), names["x"])
    forms = [slope]
    for change in (sympy.simplify, sympy.factor, sympy.together):
        signal.alarm(SLOW)
        forms.append(change(slope))
        signal.alarm(0)
    return [len(str(form).replace("**", "^").replace(" ", "")) for form in forms]


def values_of(formula: str) -> list[tuple[float, float]]:
    """Return (x, derivative) at the points where it is real, by mpmath to 30 digits."""
    import mpmath as mp  # type: ignore[import-untyped]

    names = {n: getattr(mp, n) for n in (
        "sin cos tan sec csc cot asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt"
        " pi log10").split()}
    names.update(abs=abs, log2=lambda x: mp.log(x, 2), **{n: mp.mpf(v) for n, v in OTHERS.items()})
    names["number"] = mp.mpf
    text = re.sub(r"\b\d+\b", r"number(\g<0>)", formula).replace("^", "**")
    code = compile(text, formula, "eval")
    found = []
    with mp.workdps(30):
        for x in POINTS:
            slope = mp.diff(lambda at: eval(code, {**names, "x": at}), mp.mpf(x))
            value = eval(code, {**names, "x": mp.mpf(x)})
            if mp.im(slope) == 0 and mp.im(value) == 0 and mp.isfinite(slope):
                found.append((x, float(mp.re(slope))))
    return found


def main() -> int:
    """Rewrite the table."""
    lines = []
    for line in PATH.read_text(encoding="utf-8").splitlines():
        formula = line.split("\t")[0]
        if not formula.startswith("#"):
            values = " ".join([f"{x!r}:{slope!r}" for x, slope in values_of(formula)])
            line = f"{formula}\t{' '.join(map(str, lengths_of(formula)))}\t{values}"
        lines.append(line)
    PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
