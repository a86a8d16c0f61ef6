"""Random things for generated tests: the same each time, or others each day.

`GRADCLI_SEED=7 make test` draws others than the fixed ones, `GRADCLI_SEED=random` new ones each
time, and more of them; the head of the run says the number that brings them back.
"""

from __future__ import annotations

import os
import random

if os.environ.get("GRADCLI_SEED") == "random":
    # Written down before other processes start, which draw the same.
    os.environ["GRADCLI_SEED"] = str(random.SystemRandom().randrange(10**9))
SEED = os.environ.get("GRADCLI_SEED") or None


def many(few: int, all: int) -> int:
    """How many to draw: few each time that the tests run, all where a seed is given."""
    return few if SEED is None else all


def drawn(what: object) -> random.Random:
    """What draws the things of one test, which is named."""
    return random.Random(what if SEED is None else f"{SEED} {what}")
