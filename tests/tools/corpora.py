"""Real formulas with derivatives that were computed with 50 and 110 digits: tests/data/corpora."""

from __future__ import annotations

import gzip
import json
from typing import Any

from folders import DATA

FOLDER = DATA / "corpora"
COUNTS = {"feynman": 200, "benchfuncs": 186, "lineshapes": 69, "diffrules": 1396}
Row = dict[str, Any]


def cases(name: str) -> list[Row]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def agrees(got: Any, want: float, f64: float) -> bool:
    tolerance = max(1e-9, 100.0 * f64)
    return got is not None and abs(got - want) <= tolerance * (abs(want) or 1.0)
