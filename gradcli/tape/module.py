"""Module: whoever owns variables can tell all of them, as tf.Module."""

from __future__ import annotations

from gradcli.tape.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Module:
    """Something that owns variables: as attributes, in lists, in dictionaries or in other modules.

        class Dense(gradcli.Module):
            def __init__(self, n, m):
                self.w = gradcli.Variable(gradcli.ops.normal(n, m, seed=1))
    """

    @property
    def variables(self) -> list[Variable]:
        """All variables, in the order in which the attributes were set, each once."""
        found: dict[int, Variable] = {}
        seen: set[int] = set()
        pending: list[Any] = [self]
        while pending:
            item = pending.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, Variable):
                found.setdefault(id(item), item)
            elif isinstance(item, Module):
                pending += reversed(list(vars(item).values()))
            elif isinstance(item, (list, tuple, dict)):
                pending += reversed(list(item.values() if isinstance(item, dict) else item))
        return list(found.values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that training changes."""
        return [v for v in self.variables if v.trainable]
