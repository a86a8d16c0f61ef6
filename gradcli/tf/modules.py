"""Modules with TensorFlow's names and order."""

from __future__ import annotations

from functools import wraps

from gradcli.engine.record import module
from gradcli.tf.scopes import name_scope, prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Module(module.Module):
    """An owner of variables that can list all of them, as tf.Module; a layer of Keras's is none."""

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid"
                             " Python identifiers (e.g. a valid class name).")
        super().__init__(name)
        self._scope = name_scope(f"{prefix()}{self.name}/")

    @property
    def name_scope(self) -> Any:
        """Return the block in which variables are named after the module."""
        return self._scope

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that runs in the scope of its module."""
        @wraps(method)
        def scoped(self: Module, *args: Any, **options: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **options)

        return scoped

    @property
    def variables(self) -> Any:
        """Return all variables, each once."""
        return tuple(super().variables)

    @property
    def trainable_variables(self) -> Any:
        """Return the variables that training changes."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> Any:
        """Return the variables that training does not change."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> Any:
        """Return the modules in it, and those in these, each once."""
        return tuple(super().submodules)
