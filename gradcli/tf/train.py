"""Checkpoints: the values of all variables below some objects, in a file."""

from __future__ import annotations

import os
from contextlib import suppress

from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ENDING = "/.ATTRIBUTES/VARIABLE_VALUE"
FILE = ".npz"
LATEST = "checkpoint"       # the file that names the last one of a folder


def variables_of(holder: Any, path: str = "", seen: frozenset[int] = frozenset()
                 ) -> Iterator[tuple[str, Any]]:
    """Yield each variable below an object with its path: attributes, items and numbers of lists,
    joined by slashes.
    """
    if isinstance(holder, Variable):
        yield path, holder
        return
    if id(holder) in seen or isinstance(holder, (str, engine.Tensor)):
        return
    items: dict[str, Any] = {}
    if isinstance(holder, dict):
        items = {str(key): item for key, item in holder.items()}
    elif isinstance(holder, (list, tuple)):
        items = {str(k): item for k, item in enumerate(holder)}
    elif hasattr(holder, "apply_gradients") or hasattr(holder, "add_weight"):
        items = {str(k): v for k, v in enumerate(holder.variables)}     # of Keras's
    else:
        with suppress(TypeError):
            items = {key: item for key, item in vars(holder).items() if not key.startswith("_")}
    for key in sorted(items):
        yield from variables_of(items[key], f"{path}/{key}".lstrip("/"), seen | {id(holder)})


class Checkpoint:
    """Objects whose variables are written and read together, as tf.train.Checkpoint.

    Files have the values by TensorFlow's paths, as NumPy's arrays; TensorFlow's own files are
    others. Objects of Keras have to be built before they are restored.
    """

    def __init__(self, root: Any = None, **objects: Any) -> None:
        self._objects = dict(objects)
        if root is not None:
            self._objects.update(vars(root))
        self.save_counter = Variable(0, trainable=False, dtype="int64", name="save_counter")
        vars(self).update(objects)

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write all values, and return the name."""
        return self._written(str(file_prefix), self._objects)

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write all values under the next number, and return the name."""
        self.save_counter.assign_add(1)
        path = f"{file_prefix}-{self.save_counter.numpy()}"
        self._written(path, {**self._objects, "save_counter": self.save_counter})
        with open(os.path.join(os.path.dirname(path), LATEST), "w", encoding="utf-8") as file:
            file.write(os.path.basename(path))
        return path

    def _written(self, path: str, objects: dict[str, Any]) -> str:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path + FILE, "wb") as file:
            np.savez(file, **{key + ENDING: v.numpy() for key, v in variables_of(objects)})
        return path

    def restore(self, save_path: Any, options: Any = None) -> Status:
        """Read the values of the variables that there are. None reads nothing."""
        return self._restored(save_path, {**self._objects, "save_counter": self.save_counter})

    def read(self, save_path: Any, options: Any = None) -> Status:
        """Read the values that `write` wrote."""
        return self._restored(save_path, self._objects)

    def _restored(self, save_path: Any, objects: dict[str, Any]) -> Status:
        mine = {key + ENDING: v for key, v in variables_of(objects)}
        if save_path is None:
            return Status(set(mine), set())
        with _opened(str(save_path)) as found:
            for name in objects:
                if not any(key.startswith(f"{name}/") for key in mine) and any(
                        key.startswith(f"{name}/") for key in found.files):
                    raise ValueError(
                        f"`{name}` has no variables yet: gradcli restores those that there are, so"
                        " build the model (call it once) before `restore`")
            both = set(mine) & set(found.files)
            for key in both:
                mine[key].assign(found[key])
            return Status(set(mine) - both, set(found.files) - both)


class Status:
    """What was restored, as TensorFlow's CheckpointLoadStatus."""

    def __init__(self, unbound: set[str], unused: set[str]) -> None:
        self._unbound, self._unused = unbound, unused

    def assert_existing_objects_matched(self) -> Status:
        """Raise AssertionError for variables that were not in the file."""
        if self._unbound:
            raise AssertionError(f"Found {len(self._unbound)} Python objects that were not bound"
                                 f" to checkpointed values: {sorted(self._unbound)}")
        return self

    def assert_consumed(self) -> Status:
        """Raise AssertionError unless file and objects have the same variables."""
        if self._unused:
            raise AssertionError(f"Unresolved objects in checkpoint: {sorted(self._unused)}")
        return self.assert_existing_objects_matched()

    def expect_partial(self) -> Status:
        """Return the status: nothing is said of what was left."""
        return self


class CheckpointManager:
    """The last checkpoints of a folder, as tf.train.CheckpointManager."""

    def __init__(self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None,
                 checkpoint_name: str = "ckpt") -> None:
        self.checkpoint, self.directory = checkpoint, str(directory)
        self._most, self._name = max_to_keep, checkpoint_name
        self.checkpoints: list[str] = []
        last = latest_checkpoint(directory)
        if last is not None:
            self.checkpoints.append(last)

    @property
    def latest_checkpoint(self) -> str | None:
        """Return the name of the last one."""
        return self.checkpoints[-1] if self.checkpoints else None

    def save(self) -> str:
        """Write a checkpoint, remove those that are too many, and return its name."""
        path = self.checkpoint.save(os.path.join(self.directory, self._name))
        self.checkpoints.append(path)
        while self._most is not None and len(self.checkpoints) > self._most:
            with suppress(FileNotFoundError):
                os.remove(self.checkpoints.pop(0) + FILE)
        return path

    def restore_or_initialize(self) -> str | None:
        """Read the last one, if there is one, and return its name."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
        return self.latest_checkpoint


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = None) -> str | None:
    """Return the name of the last checkpoint of a folder; None if there is none."""
    try:
        with open(os.path.join(str(checkpoint_dir), latest_filename or LATEST),
                  encoding="utf-8") as file:
            return os.path.join(str(checkpoint_dir), file.read())
    except FileNotFoundError:
        return None


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Return the paths and shapes of what a checkpoint has."""
    with _opened(_file(ckpt_dir_or_file)) as found:
        return [(key, list(found[key].shape)) for key in sorted(found.files)]


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """Return the value at a path, as an array."""
    with _opened(_file(ckpt_dir_or_file)) as found:
        return found[name]


def _file(given: Any) -> str:
    return (latest_checkpoint(given) or str(given)) if os.path.isdir(given) else str(given)


def _opened(path: str) -> Any:
    """Return the arrays of a file. Raises E0601 where there is none that gradcli wrote."""
    from gradcli.base.errors import error

    try:
        return np.load(path + FILE)
    except FileNotFoundError:
        raise error("E0601", f"there is no checkpoint `{path}`",
                    help="gradcli reads those that it wrote; TensorFlow's have another form"
                    ) from None
