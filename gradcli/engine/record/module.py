"""Modules: owners of variables that can list all of them, as tf.Module."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.engine.record.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Module:
    """An owner of variables: as attributes, in lists, in dictionaries or in other modules.

        class Dense(gradcli.Module):
            def __init__(self, n, m, name=None):
                super().__init__(name=name)
                self.w = gradcli.Variable(gradcli.ops.normal(n, m, seed=1))

    name: an identifier, by default that of the class in lower case. Order is TensorFlow's: the
    attributes of a module by their names, dictionaries by their keys, then those of each module
    among them. Raises E0302 for a name that is no identifier.
    """

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self.name = name

    @property
    def name(self) -> str:
        """Return the name given, or that of the class: `MyDense` is `my_dense`."""
        given: str | None = vars(self).get("_name")
        return _snake(type(self).__name__) if given is None else given

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str) or not (name.isascii() and name.isidentifier()):
            raise error("E0302", f"{name!r} is not a name of a module",
                        help="letters, digits and _, such as dense_1")
        self._name = name

    @property
    def variables(self) -> list[Variable]:
        """Return all variables, each once."""
        return [item for item in _owned(self) if isinstance(item, Variable)]

    @property
    def trainable_variables(self) -> list[Variable]:
        """Return the variables that training changes."""
        return [v for v in self.variables if v.trainable]

    @property
    def submodules(self) -> list[Module]:
        """Return the modules in it, and those in these, each once."""
        return [item for item in _owned(self) if isinstance(item, Module)]


def _owned(module: Module) -> Iterator[Any]:
    """Yield variables and modules: those of a module itself, then those of each module in it."""
    seen = {id(module)}
    pending = [module]
    while pending:
        attributes = vars(pending.pop())
        inside = []
        for key in sorted(attributes):
            for item in _leaves(attributes[key], seen):
                yield item
                if isinstance(item, Module):
                    inside.append(item)
        pending += reversed(inside)


def _leaves(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the variables and modules in nested lists and dictionaries that are not in `seen`."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (Variable, Module, list, tuple, dict)):
            if id(item) in seen:
                continue
            seen.add(id(item))
        if isinstance(item, (Variable, Module)):
            yield item
        elif isinstance(item, dict):
            pending += [item[key] for key in reversed(_in_order(item))]
        elif isinstance(item, (list, tuple)):
            pending += reversed(item)


def _in_order(items: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # keys of several kinds have none
        return list(items)


def _snake(name: str) -> str:
    """Return `MyDense2D` as `my_dense2_d`: TensorFlow's rule for the names of modules."""
    out = ""
    for k, letter in enumerate(name):
        following = name[k + 1:k + 2]
        if letter.isupper() and k and (name[k - 1].islower() or name[k - 1].isdigit()
                                       or following.islower()):
            out += "_"
        out += letter.lower()
    return out
