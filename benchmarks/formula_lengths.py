"""How long are derived formulas? Compared with what SymPy's `diff` prints for the same cases.

    python benchmarks/formula_lengths.py [--simplify] [--show N]

For every formula of tests/data/corpora: the characters of all first derivatives, names of common
subexpressions and their definitions counted, over those of `str(sympy.diff(f, x))` for the same
names. SymPy has to be installed; it is no dependency of gradcli.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gradcli.python.program import loads
from gradcli.questions.derive.answer import answered
from gradcli.questions.derive.derive import Derivation
from gradcli.questions.question import Question

CORPORA = Path(__file__).resolve().parent.parent / "tests" / "data" / "corpora"
# What the corpora call functions, in SymPy; others make the case unreadable for it.
NAMES = {
    "lgamma": "loggamma", "log2": "lambda x: log(x)/log(2)", "log10": "lambda x: log(x)/log(10)",
    "log1p": "lambda x: log(1 + x)", "expm1": "lambda x: exp(x) - 1", "abs": "Abs",
    "ci": "Ci", "erfcx": "lambda x: exp(x**2)*erfc(x)"}
KNOWN = ("sin cos tan sec csc cot asin acos atan asec acsc acot sinh cosh tanh sech csch coth"
         " asinh acosh atanh asech acsch acoth exp log sqrt cbrt erf erfc erfi erfinv gamma"
         " digamma polygamma besselj bessely atan2 Abs").split()


def formulas() -> dict[str, tuple[str, list[str]]]:
    """Every text of the corpora once, to (corpus, names)."""
    found: dict[str, tuple[str, list[str]]] = {}
    for path in sorted(CORPORA.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                found.setdefault(row["expr"], (path.name.split(".")[0], row["wrt"]))
    return found


def of_sympy(text: str, wrt: list[str]) -> int | None:
    """Characters of SymPy's derivatives; None where it cannot read the text."""
    import sympy

    words = set(re.findall(r"[A-Za-z_]\w*", text))
    calls = set(re.findall(r"([A-Za-z_]\w*)\(", text))
    known: dict[str, Any] = {n: sympy.Symbol(n, real=True) for n in words - calls
                             if n not in ("pi",) or n in wrt}
    if "e" in words and "e" not in wrt:
        known["e"] = sympy.E
    for name in calls:
        if name in NAMES:
            known[name] = eval(NAMES[name], {n: getattr(sympy, n) for n in (
                "log", "exp", "erfc", "loggamma", "Abs", "Ci")})
        elif name not in KNOWN:
            return None
    f = sympy.sympify(text.replace("^", "**"), locals=known)
    return sum([len(str(sympy.diff(f, known[n]))) for n in wrt])


def of_gradcli(text: str, wrt: list[str], simplify: bool) -> tuple[int, list[str]]:
    """Characters of the derivatives and of the definitions they use, and the texts."""
    question = Question(loads(text), wrt=wrt)
    answer = answered(Derivation(question, "gradient", 1), "gradcli", simplify, True)
    lines = [f"{d['name']} = {d['formula']}" for d in answer["definitions"]]
    lines += [r["formula"] for r in answer["results"]]
    return sum([len(line) for line in lines]), lines


def main() -> None:
    """Print the median of the ratios, and of each corpus."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--simplify", action="store_true", help="with gradcli derive --simplify")
    options.add_argument("--show", type=int, default=0, help="print the N worst cases")
    options.add_argument("--every", type=int, default=1, help="only every Nth formula")
    chosen = options.parse_args()
    ratios: dict[str, list[float]] = {}
    worst = []
    unread = 0
    ours, theirs = 0.0, 0.0
    for text, (corpus, wrt) in list(formulas().items())[::chosen.every]:
        start = time.perf_counter()
        other = of_sympy(text, wrt)
        theirs += time.perf_counter() - start
        if other is None:
            unread += 1
            continue
        start = time.perf_counter()
        mine, lines = of_gradcli(text, wrt, chosen.simplify)
        ours += time.perf_counter() - start
        ratios.setdefault(corpus, []).append(mine / other)
        worst.append((mine / other, mine, other, text, lines))
    every = [r for found in ratios.values() for r in found]
    for corpus, found in ratios.items():
        print(f"{corpus:12} {len(found):5} cases   median {statistics.median(found):.2f}")
    print(f"{'all':12} {len(every):5} cases   median {statistics.median(every):.2f}"
          f"   mean {statistics.mean(every):.2f}   worst {max(every):.2f}   above 2:"
          f" {sum([r > 2 for r in every])}   not read by SymPy: {unread}")
    print(f"time: gradcli {ours:.1f} s, SymPy {theirs:.1f} s")
    for ratio, mine, other, text, lines in sorted(worst, reverse=True)[:chosen.show]:
        print(f"{ratio:.2f} {mine} {other}  {text}")
        for line in lines:
            print("      ", line)


if __name__ == "__main__":
    main()
