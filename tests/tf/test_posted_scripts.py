"""Scripts as people post them: run as TensorFlow runs them, and explained where one is broken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gradcli.tf.scripts import mending, script
from tests.tools import posted

# From TensorFlow 2.21: the sum of each gradient's elements, and of their sizes.
TENSORFLOW = json.loads((posted.FOLDER / "gradients.json").read_text())
FAULTS = posted.faults()
# Mended by no change of the text: what to write there is for a person.
BY_HAND = {name for name, fault in FAULTS.items() if any(c["="] for c in fault.changes)}
# The advice is another formula than the script had: the gradient is there, and not the same.
OTHER = {"deep_relu", "dqn", "normalized", "triplet"}


def near(found: list[Any], expected: list[Any]) -> bool:
    """Return whether gradients are the same but for the rounding of 32 bits."""
    return len(found) == len(expected) and all(
        (a is None) == (b is None) and (a is None or b is None or all(
            abs(p - q) <= 2e-4 * max(b[1], 1e-6) for p, q in zip(a, b, strict=True)))
        for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", TENSORFLOW)
def test_whole(name: str) -> None:
    made, gradients, _ = posted.run(name, posted.whole(name))
    assert made.problem is None
    assert near(gradients, TENSORFLOW[name])
    assert script.findings(made)["findings"] == []


def test_each_has_a_fault() -> None:
    assert set(FAULTS) == set(TENSORFLOW) == {p.stem for p in posted.FOLDER.glob("*.py")}
    assert len(FAULTS) >= 40
    assert len(OTHER) <= len(FAULTS)//8


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_fault(name: str) -> None:
    fault = FAULTS[name]
    made, _, _ = posted.run(name, fault.broken())
    first, *_ = script.findings(made)["findings"]
    assert (first["answer"], first["code"], (first["text"] or "").strip()) == (
        fault.answer, fault.code, fault.line), first
    assert fault.advice in (first["fix"] or "")
    assert "gradcli" not in (first["fix"] or "")
    assert "ops." not in (first["fix"] or "")


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_fix(name: str) -> None:
    fault = FAULTS[name]
    text = fault.by_hand()
    if name not in BY_HAND:
        made, _, _ = posted.run(name, text)
        mended = mending.mended(made, [])
        assert mended.words
        assert not mended.left
        text = mended.text
    made, gradients, _ = posted.run(name, text)
    assert made.problem is None
    assert script.findings(made)["findings"] == []
    assert name in OTHER or near(gradients, TENSORFLOW[name])
