"""Records what TensorFlow answers to calls of its functions: tests/data/tf/functions.json.

Run with a Python that has TensorFlow: python tests/tools/record_tensorflow.py. Each path of
gradcli's table is called at least once, as tests/data/tf/calls.txt says where that is not of one
matrix; a call is a text, so that both sides run the same.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
X = "tf.constant([[0.5, 0.25], [0.75, 0.125]])"
V = "tf.constant([0.5, -1.5, 2.0, 0.25])"
S = "tf.constant([[2.0, 0.5], [0.5, 1.0]])"
ORDER = "tf.constant([2, 0, 1])"
IMAGE = "tf.reshape(tf.range(32.0), [1, 4, 4, 2]) / 16"

# Random, or determined up to a sign.
UNDETERMINED = ("nn.dropout", "linalg.eigh")


def lines() -> dict[str, str]:
    """The lines of gradcli's table by path."""
    found = {}
    for table in ("functions.txt", "keras/functions/functions.txt"):
        for line in (ROOT / "gradcli" / "tf" / table).read_text("utf-8").splitlines():
            if line and not line.startswith("#"):
                found.update(dict.fromkeys(line.partition("(")[0].split(), line))
    return found


def calls() -> list[str]:
    """All calls as texts, one at least for each path."""
    found = (ROOT / "tests" / "data" / "tf" / "calls.txt").read_text("utf-8").splitlines()
    named = {call.partition("(")[0] for call in found}
    for path, line in lines().items():
        if path in named or path.startswith("random.") or path in UNDETERMINED:
            continue
        paths = line.partition("(")[0].split()
        others = [call for call in found if call.partition("(")[0] in paths]
        one = re.match(r"[^(]*\(\w+\)", line)
        found += [path + call[call.index("("):] for call in others[:1]] or (
            [f"{path}(X)"] if one else [])
    return found


def evaluated(tf: Any, call: str) -> Any:
    """What a call gives."""
    names = {name: eval(text, {"tf": tf}) for name, text in (
        ("X", X), ("V", V), ("S", S), ("I", ORDER), ("IMAGE", IMAGE))}
    # Only the function is looked up in tf; operands are made there, too.
    return eval(f"tf.{call}", {"tf": tf, **names})


def plain(found: Any) -> Any:
    """An answer as JSON has it: of a tensor its type, shape and numbers."""
    if isinstance(found, (list, tuple)):
        return [plain(part) for part in found]
    value = found.numpy()
    numbers = value.tolist()
    if value.dtype.kind == "c":
        numbers = [[value.real.tolist(), value.imag.tolist()]]
    return {"dtype": found.dtype.name, "shape": list(found.shape), "value": numbers}


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    answers = []
    for call in calls():
        try:
            answers.append({"call": call, "answer": plain(evaluated(tf, call))})
        except Exception as problem:
            print(call, type(problem).__name__, str(problem)[:200])
    signatures = {}
    for path in lines():
        of = tf
        for part in path.split("."):
            of = getattr(of, part)
        signatures[path] = [
            [p.name, None if p.default is p.empty else getattr(p.default, "name", p.default)]
            for p in inspect.signature(of).parameters.values()]
    (ROOT / "tests" / "data" / "tf" / "functions.json").write_text(json.dumps(
        {"tensorflow": tf.__version__, "calls": answers, "signatures": signatures},
        default=str, separators=(",", ":")).replace('{"call"', '\n{"call"') + "\n")


if __name__ == "__main__":
    main()
