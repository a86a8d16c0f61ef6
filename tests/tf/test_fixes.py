"""What `gradcli why SCRIPT.py --fix` changes in a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.tf.scripts import mending, script

FILE = Path(__file__).parents[1] / "data" / "tf" / "fixes.txt"


def cases() -> dict[str, tuple[str, str]]:
    """Return the scripts by their names: broken, and mended."""
    found = {}
    for case in FILE.read_text().split("\n== ")[1:]:
        name, *lines = case.rstrip().split("\n")
        texts = ["".join(["import tensorflow as tf\n", *[
            f"{line[2:]}\n" for line in lines if line[:1] != sign]]) for sign in "+-"]
        found[name] = texts[0], texts[1]
    return found


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_fix(name: str, tmp_path: Path) -> None:
    broken, mended = CASES[name]
    path = str(tmp_path / "script.py")
    found = mending.mended(script.run(path, [], text=broken), [])
    assert found.text == mended
    assert not found.left


# A gradient that a change brings back, after it a loop that then has no end.
ENDLESS = """import tensorflow as tf
w, loss = tf.Variable(2.0), tf.constant(1.0)
while loss > 0.5:
    with tf.GradientTape() as tape:
        loss = tf.stop_gradient(w) ** 2 + 1
    if tape.gradient(loss, w) is None:
        break
"""
HELPER = "import tensorflow as tf\n\n\ndef steps(w):\n    return tf.round(w)\n"
IMPORTING = """import tensorflow as tf
from steps_of_{name} import steps
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = steps(w)
tape.gradient(y, w)
"""
ASKING = """import tensorflow as tf
w = tf.Variable(float(input("w? ")))
with tf.GradientTape() as tape:
    y = tf.stop_gradient(w)
tape.gradient(y, w)
"""


def left(path: Path, text: str) -> tuple[mending.Mended, str]:
    """Return a mended script, and why its first finding is left."""
    found = mending.mended(script.run(str(path), [], text=text), [])
    return found, found.left[0][1] if found.left else ""


def test_trial_that_would_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mending, "LEAST_SECONDS", 0.2)
    found, why = left(tmp_path / "script.py", ENDLESS)
    assert not found.words
    assert "it takes more than" in why


def test_cause_in_another_file(tmp_path: Path) -> None:
    (tmp_path / f"steps_of_{tmp_path.name}.py").write_text(HELPER)
    found, why = left(tmp_path / "script.py", IMPORTING.format(name=tmp_path.name))
    assert not found.words
    assert why == f"its cause is in {tmp_path}/steps_of_{tmp_path.name}.py, and only " \
        f"{tmp_path}/script.py is changed here"


def test_input_is_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt="": "3")
    assert left(tmp_path / "script.py", ASKING)[0].words == ["write `w` for `tf.stop_gradient(w)`"]
    assert input() == "3"
