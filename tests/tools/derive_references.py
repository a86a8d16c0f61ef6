"""Second derivatives of corpus formulas that have none on file, by mpmath.

    python tests/tools/derive_references.py          compare the recorded ones with new ones
    python tests/tools/derive_references.py --write  record them in tests/data/derive/second.jsonl

Formulas are read by Python's own parser and run on mpmath's functions with 60 digits; their second
derivatives are differences there, which leave some 25 of them. Nothing of gradcli is used. A point
is taken where rounding the arguments to doubles changes no second derivative by more than a part
in 10^12, so that an answer in doubles can be held to 1e-9.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
from folders import DATA

RECORDED = DATA / "derive" / "second.jsonl"
DIGITS = 60
# Points of one formula, and how far its arguments may lie from 0.
POINTS, NEAREST, FARTHEST = 2, 0.05, 20.0
SMOOTH = 1e-12
EPSILON = 2.0**-53
# What differences leave of a derivative that is 0.
NOISE = 1e-18
Row = dict[str, Any]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(mp, name) for name in (
        "sin cos tan sec csc cot sinh cosh tanh sech csch coth asin acos atan asec acsc acot asinh"
        " acosh atanh asech acsch acoth exp expm1 log log1p log10 sqrt erf erfc erfi erfinv gamma"
        " digamma besselj bessely ci").split()},
    "log2": lambda x: mp.log(x) / mp.log(2), "lgamma": mp.loggamma,
    "polygamma": lambda n, x: mp.psi(int(n), x),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "cbrt": lambda x: mp.sign(x) * mp.root(abs(x), 3)}


def corpus(name: str) -> list[Row]:
    with gzip.open(DATA / "corpora" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def function(text: str, names: list[str]) -> Callable[..., Any]:
    """A formula as a function of mpmath's numbers; integers in it are exact."""
    exact = re.sub(r"(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?)(?![\w.])", r'mpf("\1")', text)
    known = {**FUNCTIONS, "pi": +mp.pi, "e": +mp.e, "mpf": mp.mpf}
    return eval(f"lambda {', '.join(names)}: {exact.replace('^', '**')}", known)  # type: ignore[no-any-return]


def partial(f: Callable[..., Any], at: list[Any], orders: list[int]) -> Any:
    return mp.diff(f, tuple(at), tuple(orders)) if len(at) > 1 else mp.diff(f, at[0], orders[0])


def second(row: Row) -> list[list[float]] | None:
    """The Hessian, or None where doubles cannot have it."""
    names, wrt = list(row["vars"]), row["wrt"]
    f = function(row["expr"], names)
    at = [mp.mpf(row["vars"][n]) for n in names]
    places = [names.index(n) for n in wrt]
    out = []
    for i in places:
        line = []
        for j in places:
            orders = [(k == i) + (k == j) for k in range(len(names))]
            try:
                found = partial(f, at, orders)
                moved = sum([abs(at[k] * partial(f, at, [
                    n + (m == k) for m, n in enumerate(orders)])) for k in places])
            except (ValueError, ZeroDivisionError):
                return None
            if not mp.isfinite(found) or abs(mp.im(found)) > NOISE:
                return None
            size = abs(found)
            if size > NOISE and moved * EPSILON > SMOOTH * size:
                return None
            line.append(float(mp.re(found)) if size > NOISE else 0.0)
        out.append(line)
    return out


def rows() -> list[Row]:
    """Cases of the corpora without a Hessian, a few points of each formula."""
    found = []
    taken: dict[str, int] = {}
    for name in ("diffrules", "feynman"):
        for row in corpus(name):
            inside = all(NEAREST <= abs(v) <= FARTHEST for v in row["vars"].values())
            if "hess" in row or taken.get(row["expr"], 0) == POINTS or not inside:
                continue
            hess = second(row)
            if hess is not None:
                taken[row["expr"]] = taken.get(row["expr"], 0) + 1
                found.append({"id": row["id"], "expr": row["expr"], "vars": row["vars"],
                              "wrt": row["wrt"], "hess": hess})
    return found


def main() -> None:
    """Write the references, or say which of those on file differ."""
    mp.mp.dps = DIGITS
    made = "".join([json.dumps(row) + "\n" for row in rows()])
    if "--write" in sys.argv:
        RECORDED.write_text(made, encoding="utf-8")
    elif made != RECORDED.read_text(encoding="utf-8"):
        sys.exit(f"{RECORDED.name} has other numbers")
    print(len(made.splitlines()), "second derivatives")


if __name__ == "__main__":
    main()
