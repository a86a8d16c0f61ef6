"""`gradcli why SCRIPT.py` and `gradcli run SCRIPT.py`: the script runs, its gradients are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import gradcli

HEAD = "import tensorflow as tf\nx = tf.Variable([1.0, 2.0])\n"
SCHEMA = json.loads((Path(gradcli.__file__).parent / "schemas" / "why.schema.json").read_text())


def gradcli_(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gradcli", *words], capture_output=True,
                          text=True, timeout=120, check=False)


def findings(tmp_path: Path, text: str, *words: str) -> dict[str, object]:
    path = tmp_path / "script.py"
    path.write_text(text)
    done = gradcli_("why", str(path), "--format", "json", *words)
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    jsonschema.validate(answer, SCHEMA)
    return answer


# What follows HEAD: (answer, code, line, sources) of each finding.
SCRIPTS: dict[str, tuple[str, list[tuple[str, str, int, list[str]]]]] = {
    "whole": ("""
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(x ** 2)
tape.gradient(loss, x)
""", []),
    "constant that nobody watches": ("""
c = tf.constant(3.0)
with tf.GradientTape() as tape:
    loss = c * c
tape.gradient(loss, c)
""", [("None", "source-constant-unwatched", 4, ["c"])]),
    "left to NumPy": ("""
import numpy as np
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(np.mean(x))
tape.gradient(loss, x)
""", [("None", "path-left-engine", 6, ["x"])]),
    "two of three, by attributes": ("""
class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable(2.0)
        self.b = tf.Variable(1.0)
        self.scale = tf.Variable(1.0)
net = Net()
with tf.GradientTape() as tape:
    hidden = tf.round(net.w * 2.0 + net.b)
    loss = hidden * net.scale
tape.gradient(loss, net.trainable_variables)
""", [("None", "path-step-function", 11, ["net.b", "net.w"])]),
    "zero each time": ("""
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.nn.relu(x - 10.0))
tape.gradient(loss, x)
""", [("0", "zero-dead", 5, ["x"])]),
    "NaN": ("""
z = tf.Variable(0.0)
with tf.GradientTape() as tape:
    loss = tf.where(z > 0.0, tf.math.log(z), 0.0)
tape.gradient(loss, z)
""", [("NaN", "nan-dead-branch", 6, ["z"])]),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_findings(name: str, tmp_path: Path) -> None:
    text, expected = SCRIPTS[name]
    answer = findings(tmp_path, HEAD + text)
    found = [(f["answer"], f["code"], f["line"], f["sources"])
             for f in answer["findings"]]  # type: ignore[attr-defined]
    assert found == expected
    assert answer["status"] == 0


def test_it_ends_as_python_would(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + """import sys
print(sys.argv[1:], __name__, tf.constant(6.0))
if "fail" in sys.argv:
    x.assign([1.0])
sys.exit(4)
""")
    done = gradcli_("run", str(path), "a", "b")
    assert done.stdout == "['a', 'b'] __main__ tf.Tensor(6.0, shape=(), dtype=float32)\n"
    assert (done.stderr, done.returncode) == ("", 4)
    done = gradcli_("run", str(path), "--", "fail", "--slow")
    assert done.returncode == 1
    assert "gradcli/" not in done.stderr
    assert done.stderr.startswith(
        f'Traceback (most recent call last):\n  File "{path}", line 6, in <module>\n')


@pytest.mark.parametrize(("words", "told"), [
    (("--wrt", "x"), "a Python script has no --wrt"),
    (("--at", "x=1"), "a Python script has no --at"),
])
def test_options_of_files_are_refused(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD)
    done = gradcli_("why", str(path), *words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_names_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + "tf.image.resize(x, [2, 2])\n")
    done = gradcli_("run", str(path))
    assert done.returncode == 1
    assert "gradcli has no `tf.image.resize`, which TensorFlow has" in done.stderr
    path.write_text(HEAD + "tf.reduce_meen(x)\n")
    done = gradcli_("run", str(path))
    assert "has no attribute 'reduce_meen'; did you mean `reduce_mean`?" in done.stderr
