"""What Keras's options name: a text, a class, a function, an object, or what one was made with."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

_custom: dict[str, Any] = {}


def identified(identifier: Any, by_name: Mapping[str, Any], what: str) -> Any:
    """Return the object or function that an option names; of a class a new object, None for None.

    by_name: classes and functions. Raises ValueError for what is none.
    """
    found, config = identifier, {}
    if isinstance(identifier, dict):
        config = identifier.get("config", {})
        found = identifier.get("class_name")
        if found == "function":     # a function of the program, which has registered it
            found, config = config, {}
    if isinstance(found, str):
        found = _custom.get(found, by_name.get(found))
    if isinstance(found, type):
        return found(**config)
    if identifier is None or callable(found):
        return found
    raise ValueError(f"Could not interpret {what} identifier: {identifier}")


class Configured:
    """An object that says what it was made with: its attributes."""

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return an object with these options."""
        return cls(**config)

    def clone(self) -> Any:
        """Return another object with the same options."""
        return self.from_config(self.get_config())


# What Keras calls the modules of what is made here.
GROUPS = {"initializer": "initializers", "regularizer": "regularizers", "loss": "losses",
          "constraint": "constraints", "optimizer": "optimizers", "metric": "metrics",
          "confusion": "metrics", "schedule": "optimizers.schedules"}


def serialized(value: Any) -> Any:
    """Return an option as plain data: objects with what they were made with, functions by name."""
    if isinstance(value, (list, tuple)):
        return type(value)([serialized(part) for part in value])
    if hasattr(value, "get_config") and not isinstance(value, type):
        kind = type(value)
        path = kind.__module__.split(".")
        own = path[0] != "gradcli"
        group = "layers" if "layers" in path else GROUPS.get(path[-1], path[-1])
        return {"module": None if own else f"keras.{group}", "class_name": kind.__name__,
                "config": value.get_config(), "registered_name": kind.__name__ if own else None}
    return getattr(value, "__name__", value) if callable(value) else value


def get_custom_objects() -> dict[str, Any]:
    """Return what a program has registered, by name; it may be changed."""
    return _custom


@contextmanager
def custom_object_scope(custom_objects: Mapping[str, Any]) -> Iterator[None]:
    """Let names mean objects in a block."""
    before = dict(_custom)
    _custom.update(custom_objects)
    try:
        yield
    finally:
        _custom.clear()
        _custom.update(before)


def register_keras_serializable(package: str = "Custom", name: str | None = None
                                ) -> Callable[[Any], Any]:
    """Return a decorator under whose name a class or function is found."""
    def register(made: Any) -> Any:
        if isinstance(made, type) and not hasattr(made, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        _custom[f"{package}>{name or made.__name__}"] = made
        return made

    return register


CustomObjectScope = custom_object_scope
