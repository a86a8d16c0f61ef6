"""docs/tensorflow.md: its session is run, its table of differences holds. Its commands are run by
tests/system/test_readme.py.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from folders import ROOT
from test_tensors import DIFFERENT, HEAD, RECORDED, shown

import gradcli.tf as tf
from gradcli import GradcliError

PAGE = (ROOT / "docs" / "tensorflow.md").read_text("utf-8")


def test_session() -> None:
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    for k, text in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.S)):
        runner.run(parser.get_doctest(text, {}, f"block {k}", "tensorflow.md", 0))
    assert runner.summarize(verbose=False) == (0, 6)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: tf.image.resize, "gradcli has no `tf.image.resize`, which TensorFlow has"),
    (lambda: tf.linalg.svd([[1.0]], full_matrices=True),
     "`tf.linalg.svd` has no option `full_matrices` in gradcli")], ids=["name", "option"])
def test_messages_of_the_session(call: Callable[[], Any], message: str) -> None:
    assert message in PAGE
    with pytest.raises((AttributeError, GradcliError), match=re.escape(message)):
        call()


def test_all_differences_are_on_the_page() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    listed = {re.sub(r"\s", "", code).replace(".0", ".") for line in rows
              for code in re.findall(r"`([^`]+)`", line.split("|")[1])}
    done = {re.sub(r"\s", "", code).replace(".0", ".") for code in DIFFERENT}
    same_kind = {"tf.Variable(0.).assign(1)"}      # of the kind of another row
    assert listed == done - same_kind
    names: dict[str, Any] = {"tf": tf, "np": np}
    exec(HEAD, names)
    recorded = dict(RECORDED["cases"])
    for line in rows:
        for code in re.findall(r"`([^`]+)`", line.split("|")[1]):
            if "an error" in line.split("|")[3]:
                assert shown(code, names) == "raised"
            if "AttributeError" in line.split("|")[2]:
                assert recorded[code] == "raised"
