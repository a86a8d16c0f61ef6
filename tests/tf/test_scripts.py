"""`gradcli why SCRIPT.py` and `gradcli run SCRIPT.py`: the script runs, its gradients are told."""

from __future__ import annotations

import json
import signal
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
    "predicted by Keras": ("""
import numpy as np
model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False)])
data = np.ones((3, 2), "float32")
model(data)
with tf.GradientTape() as tape:
    loss = tf.keras.losses.MeanSquaredError()(np.zeros((3, 1), "float32"), model.predict(data))
tape.gradient(loss, model.trainable_variables)
""", [("None", "path-left-engine", 9, ["model.layers[0].kernel"])]),
    "features of another run": ("""
import numpy as np
layer = tf.keras.layers.Dense(3)
data = np.ones((3, 2), "float32")
model = tf.keras.Sequential([layer, tf.keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    features = layer(data)
    tape.watch(features)
    score = model(data)
tape.gradient(score, features)
""", [("None", "source-computed-twice", 11, ["features"])]),
    "numbers that a model returns": ("""
class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1.0], [2.0]])
    def __call__(self, data):
        return tf.matmul(data, self.w).numpy()
net = Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.constant(net(tf.ones([3, 2]))) ** 2)
tape.gradient(loss, net.trainable_variables)
""", [("None", "path-left-engine", 8, ["net.w"])]),
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


def test_draws_have_gradients_in_where_they_lie(tmp_path: Path) -> None:
    text = """
spread = tf.Variable(0.5)
with tf.GradientTape(persistent=True) as tape:
    normal = tf.reduce_sum(tf.random.normal([2], mean=x, stddev=spread))
    uniform = tf.reduce_sum(tf.random.uniform([2], minval=x, maxval=4.0))
print(tape.gradient(normal, x).numpy(), tape.gradient(normal, spread) is None)
print(tape.gradient(uniform, x).numpy() < 1.0)
"""
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    assert gradcli_("run", str(path)).stdout == "[1. 1.] False\n[ True  True]\n"


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
    (("--at", "x=1"), "a Python script has no --at: the script itself says"),
    (("--write",), "why {path} --fix | patch -p0` changes it"),
    (("--timeout", "3"), "`timeout -s INT 60 gradcli why {path}` ends it"),
    (("-v", "--epochs", "1"), "behind `--`: gradcli why {path} -v -- --epochs 1"),
    (("--epochs=1", "a b"), "behind `--`: gradcli why {path} -- --epochs=1 'a b'"),
])
def test_options_of_files_are_refused(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD)
    done = gradcli_("why", str(path), *words)
    assert done.returncode == 2
    assert told.format(path=path) in " ".join(done.stderr.split())


@pytest.mark.parametrize(("text", "told"), [
    ("tape.gradient(y, [])", "script.py:6: the gradients of an empty list."),
    ("tape.gradient(y.numpy(), x)", "script.py ended where it asked a tape for a gradient"),
    ("tape.gradiant(y, x)", "script.py ended before it asked a tape for a gradient"),
    ("y = x", "script.py asks no tape for a gradient"),
])
def test_no_gradient_is_asked_for(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"{HEAD}with tf.GradientTape() as tape:\n    y = tf.reduce_sum(x)\n\n{text}\n")
    done = gradcli_("why", str(path))
    assert told in " ".join(done.stdout.split())


def test_encoding_that_a_script_names(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_bytes("# -*- coding: latin-1 -*-\nprint(len('é'))\n".encode("latin-1"))
    assert gradcli_("run", str(path)).stdout == "1\n"
    path.write_bytes("# -*- coding: ascii -*-\nprint(len('é'))\n".encode("latin-1"))
    assert "is not UTF-8 text" in gradcli_("run", str(path)).stderr


# How a script may behave: what it does behind HEAD, the status, what it prints, and what is told on
# standard error.
UNUSUAL: dict[str, tuple[str, int, str, str]] = {
    "reads": ("print(input('name? '))", 1, "name? ", "EOFError"),
    "exits with words": ("raise SystemExit('bye')", 1, "", "bye"),
    "forks": ("""
import os
print("child" if os.fork() == 0 else os.wait() and "parent", flush=True)
""", 0, "child\nparent\n", ""),
    "raises in a thread": ("""
import threading
one = threading.Thread(target=lambda: tf.reduce_sum(x, axis=5))
one.start(), one.join()
""", 0, "", "axis 5 does not exist"),
    "starts processes": ("""
from multiprocessing import get_context
if __name__ == "__main__":
    with get_context("fork").Pool(1) as pool:
        print(pool.map(abs, [-1, -2]))
""", 0, "[1, 2]\n", ""),
    "has no syntax": ("x = = 3", 1, "", "SyntaxError: invalid syntax"),
    "imports Keras": ("""
from tensorflow.keras import layers
from tensorflow.keras.layers import Dense
import keras
print(layers.Dense is Dense is keras.layers.Dense)
""", 0, "True\n", ""),
    "is of TensorFlow 1": ("import tensorflow.compat.v1 as tf1; tf1.Session()", 1, "",
                           "gradcli has no `tf.compat.v1.Session`: these are the names of other"),
    "reads arguments": ("""
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
print(parser.parse_args().epochs)
""", 0, "3\n", ""),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual(name: str, tmp_path: Path) -> None:
    text, status, printed, said = UNUSUAL[name]
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    done = gradcli_("why", str(path), "--", "--epochs", "3")
    told = "ended before it asked" if "bye" not in said and status else "asks no tape"
    lines = done.stdout.removeprefix(printed)
    assert lines.startswith(f"{path} {told}")
    assert lines.count("\n") == 1
    assert done.returncode == status
    assert said in done.stderr
    assert "gradcli/" not in done.stderr


def test_empty_and_binary(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_bytes(b"")
    assert gradcli_("why", str(path)).stdout == f"{path} asks no tape for a gradient\n"
    path.write_bytes(bytes(range(256)))
    done = gradcli_("why", str(path))
    assert (done.stdout, done.returncode) == ("", 3)
    assert "is not UTF-8 text" in done.stderr


def test_modules_beside_it(tmp_path: Path) -> None:
    (tmp_path / "losses.py").write_text("""import tensorflow as tf
def loss_of(w):
    return tf.stop_gradient(w) * 2.0
""")
    text = """
from losses import loss_of
with tf.GradientTape() as tape:
    loss = loss_of(x)
tape.gradient(loss, x)
"""
    (finding,) = findings(tmp_path, HEAD + text)["findings"]  # type: ignore[misc]
    assert (Path(finding["file"]).name, finding["line"]) == ("losses.py", 3)
    assert finding["fix"] == "write `w` for `tf.stop_gradient(w)`"


ENDLESS = """
with tf.GradientTape() as tape:
    loss = tf.round(x)
tape.gradient(loss, x)
print("ready", flush=True)
while True:
    pass
"""


@pytest.mark.parametrize(("words", "told"), [
    ((), "is cut by `tf.round(x)`"), (("--fix",), "+    loss = x + tf.stop_gradient(")])
def test_interrupt(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    """Changes are tried up to where the script was interrupted."""
    path = tmp_path / "script.py"
    path.write_text(HEAD + ENDLESS)
    with subprocess.Popen([sys.executable, "-m", "gradcli", "why", str(path), *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stderr if words else process.stdout).readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told in printed
    assert "KeyboardInterrupt\n" in said


CUT = """
print("one")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.stop_gradient(x) ** 2)
tape.gradient(loss, x)
"""


def test_fix_is_a_diff(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + CUT)
    done = gradcli_("why", str(path), "--fix")
    changed = [line for line in done.stdout.splitlines() if line[:1] in "+-"][2:]
    assert changed == ["-    loss = tf.reduce_sum(tf.stop_gradient(x) ** 2)",
                       "+    loss = tf.reduce_sum(x ** 2)"]
    assert "1 gradient more is right" in done.stderr
    assert path.read_text() == HEAD + CUT
    path.write_text(HEAD + CUT.replace(
        "tf.stop_gradient(x) ** 2", "tf.cast(tf.equal(x, 1.0), tf.float32)"))
    done = gradcli_("why", str(path), "--fix", "--strict")
    assert done.stdout == ""
    assert "no change of the text is known that might help" in done.stderr
    assert done.returncode == 1
    assert gradcli_("why", str(path), "--write").returncode == 2


def test_markdown(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + CUT)
    done = gradcli_("why", str(path), "--format", "markdown")
    assert done.stderr == "one\n"
    assert "\n- dloss/dx is None, asked for at " in done.stdout
    assert f"```text\n  --> {path}:6:26\n" in done.stdout
    assert "\n- try: write `x` for `tf.stop_gradient(x)`\n" in done.stdout


def test_names_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + "tf.image.resize(x, [2, 2])\n")
    done = gradcli_("run", str(path))
    assert done.returncode == 1
    assert "gradcli has no `tf.image.resize`, which TensorFlow has" in done.stderr
    path.write_text(HEAD + "tf.reduce_meen(x)\n")
    done = gradcli_("run", str(path))
    assert "has no attribute 'reduce_meen'; did you mean `reduce_mean`?" in done.stderr
