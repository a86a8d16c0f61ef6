"""TensorFlow's functions by gradcli's table: signatures and answers as TensorFlow 2.21 has them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from conftest import folded
from folders import DATA
from record_tensorflow import evaluated

import gradcli.tf as tf
from gradcli import GradcliError
from gradcli.tf.calls import SILENT, function, rows

RECORDED = json.loads((DATA / "tf" / "functions.json").read_text("utf-8"))
NAMES = set((DATA.parent.parent / "gradcli" / "tf" / "tensorflow_names.txt").read_text(
    "utf-8").split())

# TensorFlow computes these in float32 with less care than to the last digits.
ROUGH = {"linalg.sqrtm": 3e-6, "linalg.logm": 1e-6, "linalg.lstsq": 2e-5, "linalg.pinv": 2e-6}


@folded
@pytest.mark.parametrize("case", RECORDED["calls"], ids=lambda case: case["call"])
def test_answers_as_tensorflow(case: dict[str, Any]) -> None:
    found = evaluated(tf, case["call"])
    compare(found, case["answer"], ROUGH.get(case["call"].partition("(")[0], 1e-6))


def compare(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for part, one in zip(found, expected, strict=True):
            compare(part, one, tolerance)
        return
    assert isinstance(found, tf.Tensor)
    assert (found.dtype.name, list(found.shape)) == (expected["dtype"], expected["shape"])
    theirs: Any = expected["value"]
    if expected["dtype"].startswith("complex"):
        theirs = np.asarray(theirs[0][0]) + 1j * np.asarray(theirs[0][1])
    exact = expected["dtype"] in ("bool", "int32", "int64")
    np.testing.assert_allclose(np.asarray(found.value), theirs, 0 if exact else tolerance,
                               0 if exact else tolerance / 4)


@folded
@pytest.mark.parametrize("path", sorted(rows()))
def test_signatures_are_tensorflow_s(path: str) -> None:
    import inspect

    ours = [(p.name, None if p.default is p.empty else p.default)
            for p in inspect.signature(function(path)).parameters.values()]  # type: ignore[arg-type]
    theirs = [(name, default) for name, default in RECORDED["signatures"][path]
              if name not in ("name", "kwargs")]
    plain = [(name, default) for name, default in ours if name not in ("name", "indexing")]
    assert [name for name, _ in plain] == [name for name, _ in theirs]
    assert [default for _, default in plain] == [default for _, default in theirs]


def test_every_path_is_tensorflow_s() -> None:
    assert set(rows()) <= NAMES


def unused() -> list[tuple[str, str]]:
    """The options that a row's expression does not mention."""
    import inspect
    import re

    found = []
    for path, line in sorted(rows().items()):
        expression = line.partition(" -> ")[2]
        words = set(re.findall(r"\w+", expression))
        found += [(path, p.name) for p in inspect.signature(function(path)).parameters.values()
                  if expression and p.default is not p.empty
                  and p.name not in words and p.name not in SILENT]
    return found


@folded
@pytest.mark.parametrize(("path", "name"), unused())
def test_what_is_not_implemented_is_refused_by_name(path: str, name: str) -> None:
    import inspect

    call = function(path)
    assert call is not None
    required = {p.name: 1.0 for p in inspect.signature(call).parameters.values()
                if p.default is p.empty}
    with pytest.raises(GradcliError) as problem:
        call(**required, **{name: "something else"})
    assert problem.value.code == "E0208"
    assert f"`{name}`" in str(problem.value)
