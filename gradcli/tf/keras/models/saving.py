"""Weights in files."""

from __future__ import annotations

from gradcli.base.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDING = ".weights.h5"


def _check(path: str) -> None:
    if not path.endswith(ENDING):
        raise ValueError(f"The filename must end in `{ENDING}`. Received: filepath={path}")


def save_weights(model: Any, path: str) -> None:
    """Write the values of a model's variables, in order, as NumPy's arrays."""
    _check(path)
    with open(path, "wb") as file:
        np.savez(file, *model.get_weights())


def load_weights(model: Any, path: str) -> None:
    """Read the values of a model's variables. Raises ValueError for a file that TensorFlow wrote,
    which has another form.
    """
    _check(path)
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            raise ValueError(f"{path} is not a file that gradcli's `save_weights` wrote")
        file.seek(0)
        found = np.load(file)
        model.set_weights([found[f"arr_{k}"] for k in range(len(found.files))])
