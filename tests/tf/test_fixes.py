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
