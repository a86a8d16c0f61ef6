"""The pairs of tests/data/homework: verdicts that mpmath verified, and the mistakes they show.

`pairs.ndjson` was there while the checker was built; `blind.ndjson` was written by somebody who saw
neither the checker nor the other pairs.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from string import ascii_lowercase
from typing import Any

from folders import DATA

from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.checking.problem import DEFAULTS


def pairs_of(name: str) -> list[dict[str, Any]]:
    """The pairs of a file."""
    text = (DATA / "homework" / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


PAIRS = pairs_of("pairs.ndjson")
BLIND = pairs_of("blind.ndjson")
FIELDS = frozenset(DEFAULTS)
SEEDS = 20


def result(pair: dict[str, Any], seed: object) -> dict[str, Any]:
    """What gradcli says of a pair; its problem is prepared once for all answers, as in a sheet."""
    fields = {name: value for name, value in pair.items() if name in FIELDS and name != "id"}
    return check(ready(json.dumps(fields), seed), pair["answer"])


@functools.cache
def ready(fields: str, seed: object) -> Any:
    return prepare(from_fields(json.loads(fields)), seed)


@functools.cache
def results() -> list[dict[str, Any]]:
    """What gradcli says of all."""
    return [result(pair, 0) for pair in PAIRS]


def named(pairs: list[dict[str, Any]], found: list[dict[str, Any]]) -> tuple[int, int, int]:
    """How many mistakes there are, are named first, are named in `also`."""
    first = also = total = 0
    for pair, one in zip(pairs, found, strict=True):
        if pair["mistake"]:
            total += 1
            names = {pair["mistake"], *pair.get("ok", [])}
            first += one["mistake"] in names
            also += one["mistake"] not in names and not names.isdisjoint(one["also"])
    return total, first, also


def test_verdicts_agree_with_mpmath() -> None:
    wrong = [(pair["id"], pair["answer"], pair["verdict"], found["verdict"], found["message"])
             for pair, found in zip(PAIRS, results(), strict=True)
             if found["verdict"] != pair["verdict"]]
    assert not wrong


def test_no_right_answer_is_rejected_and_no_wrong_one_accepted() -> None:
    """The same, as the figures that matter most."""
    pairs = Counter((pair["verdict"], found["verdict"])
                    for pair, found in zip(PAIRS, results(), strict=True))
    assert pairs["correct", "wrong"] == 0
    assert pairs["wrong", "correct"] == pairs["wrong", "domain"] == 0


def test_the_mistakes_are_named() -> None:
    """At least nine of ten first or in `also`; many more, in fact."""
    total, first, also = named(PAIRS, results())
    assert total > 600
    assert first >= 0.95 * total
    assert first + also >= 0.98 * total


def test_verdicts_do_not_depend_on_the_seed() -> None:
    """Each problem with two of twenty seeds; all of them, with all seeds, were compared by hand."""
    moved, problems = [], list(dict.fromkeys(pair["id"].rstrip(ascii_lowercase) for pair in PAIRS))
    for pair in PAIRS:
        k = problems.index(pair["id"].rstrip(ascii_lowercase))
        for seed in (k % SEEDS, (7 * k + 3) % SEEDS):
            found = result(pair, seed)
            if found["verdict"] != pair["verdict"]:
                moved.append((pair["id"], seed, found["verdict"]))
    assert not moved


def test_a_wrong_verdict_has_a_point_that_shows_it() -> None:
    for pair, found in zip(PAIRS, results(), strict=True):
        if found["verdict"] == "wrong" and found["points"]["disagree"]:
            witness = found["witness"]
            assert witness["expected"] != witness["got"], pair["id"]


def test_pairs_that_nobody_had_seen() -> None:
    """No right answer rejected, no wrong one accepted; nine of ten mistakes are named."""
    found = [result(pair, 0) for pair in BLIND]
    wrong = [(pair["id"], pair["answer"], pair["verdict"], one["verdict"])
             for pair, one in zip(BLIND, found, strict=True)
             if one["verdict"] not in (pair["verdict"] if isinstance(pair["verdict"], list)
                                      else [pair["verdict"]])]
    assert not wrong
    total, first, also = named(BLIND, found)
    assert total > 400
    assert first >= 0.9 * total
    assert first + also >= 0.95 * total
