"""Names in Python code: in the caller's frame, at the statements that make values, and among those
that the computation of a target reads.
"""

from __future__ import annotations

import ast
import re
from itertools import islice
from types import ModuleType

from gradcli.base.lazy import np
from gradcli.engine.record.provenance import all_names, together
from gradcli.engine.record.record import IDS, OP, PLACE, VALUES
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing.scene import Naming
from gradcli.explain.python import text
from gradcli.explain.python import text as python_text
from gradcli.explain.python.text import PythonFiles
from gradcli.ops.graph import reached
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType
    from typing import Any

    from gradcli.engine.record.provenance import PythonEvents
    from gradcli.engine.record.record import Entry

# Containers of the caller's frame are searched for tensors up to so many items.
MAX_ITEMS = 100
# The file names of a notebook's cells, which share one scope.
CELLS = ("ipykernel", "<ipython-input")
# Attributes and items on the way to a variable, and objects that are looked through for it.
DEEPEST = 5
MOST_HOLDERS = 5_000
# Longer expressions are no names.
LONGEST = 40


class ValueNames:
    """The names of a program's values.

    names: those of the caller's frame; passing: those of them that a loop binds anew each turn.
    held: id of a value (of a variable, that of its first state) to the name that holds it.
    born, kinds: locations and kinds of constants and variables by id.
    firsts: id of a variable's state to that of its first state.
    entries: operations by the ids of their answers.
    place: where the question was asked.
    """

    __slots__ = ("born", "entries", "events", "firsts", "held", "kinds", "names", "passing",
                 "place", "texts")

    def __init__(self, events: PythonEvents | None, frame: FrameType | None, place: Any) -> None:
        self.events = together(events)
        self.texts = PythonFiles()
        self.place = place
        self.entries: dict[int, Entry] = {}
        self.born = {id: at for id, at, *_ in self.events.births}
        self.kinds = {id: kind for id, _, kind, _ in self.events.births}
        self.firsts = {time: start for time, *_, start in self.events.states}
        self.names = all_names(frame) if frame is not None else {}
        self.passing = self._in_loops()
        for name in self.passing & {*self.names}:
            self.names[name] = self.names.pop(name)     # behind the others
        self.held = {
            value.origin().id if isinstance(value, Variable) else value.id: name
            for name, value in reversed(self.names.items()) if isinstance(value, Tensor)}

    def _in_loops(self) -> set[str]:
        """Return the names that `for` loops bind around the question, but not those it is in."""
        scope: Any = self.texts.scope(self.place)
        if scope is None and self.place is not None:
            scope = self.texts.of(self.place).tree
        within = self.texts.around(self.place)
        return {part.id for node in (ast.walk(scope) if scope is not None else ())
                if isinstance(node, ast.For) and node not in within
                for part in ast.walk(node.target) if isinstance(part, ast.Name)}

    def name_of_state(self, state: int) -> str:
        """Return the name of a variable by the id of one of its states."""
        first = self.firsts.get(state, state)
        return self.held.get(first) or self.texts.bound(self.born.get(first))[0] or "the variable"

    def namings(self, source: str, at: Any, targets: set[int], made: set[int]) -> list[Naming]:
        """Return the namings of values at the statements that made them and in the caller's frame.

        source: its name counts only in its own scope.
        at: a location in that scope.
        made: ids of what the targets are computed from; constants and variables among it without a
            name are named by their text.
        """
        scope = self.scope_of(at)
        found: list[Naming] = []
        known: set[tuple[str, int]] = set()
        named: set[int] = set()
        unpacked: dict[Any, list[tuple[int, Any]]] = {}

        def add(name: str, id: int, place: Any, statement: Any) -> None:
            if name == source and self.scope_of(place) is not scope:
                return
            kind = self.kinds.get(id, "computed")
            where: Any = self.texts.of(place).position(statement)
            found.append(Naming(
                name, id, where,
                "literal" if kind == "constant" and id in targets else kind))
            known.add((name, id))
            named.add(id)

        computed = [(id, e[PLACE][2:4]) for id, e in self.entries.items() if e[PLACE] is not None]
        places = {place for _, place in computed}
        # A layer that makes its variables when it is first called does not name them.
        born = [(id, place) for id, place in self.born.items() if place not in places]
        for id, place in sorted([*born, *computed]):
            name, statement = self.texts.bound(place)
            if name is not None:
                add(name, id, place, statement)
            elif statement is not None and python_text.names_unpacked(statement):
                unpacked.setdefault(statement, []).append((id, place))
        for statement, values in unpacked.items():
            names = python_text.names_unpacked(statement)
            if len(values) % len(names) == 0:
                for k, (id, place) in enumerate(values):
                    add(names[k % len(names)], id, place, statement)
        for name, holder in self.names.items():
            for path, value in [(name, holder), *items_of(name, holder)]:
                if isinstance(value, Tensor) and value.id is not None:
                    first = value.origin().id if isinstance(value, Variable) else value.id
                    if (path, first) not in known and first is not None:
                        found.append(Naming(path, first, self.birth(value), self.kind_of(value)))
                        named.add(first)
        # A variable that was assigned more often than is remembered begins later.
        begun: dict[int, int] = {}
        for _, _, _, _, before, start in self.events.states:
            begun.setdefault(start, before)
        for start, before in begun.items():
            if start not in made and before in made:
                found.append(Naming(self.name_of_state(start), before, None, "variable"))
        for id in made - named:
            if id in self.born:
                found.append(Naming(self._argument_of(id) or self.texts.written(self.born[id])
                                    or "a value", id, self.born[id], self.kinds[id]))
        return sorted(found, key=lambda n: n.id)

    def _argument_of(self, id: int) -> str | None:
        """Return the text of the argument of a call or operator that a constant was made of."""
        place = self.born[id]
        user = next((e for e in self.entries.values() if id in e[IDS]), None)
        k = user[IDS].index(id) if user is not None else 0
        value = user[VALUES][k] if user is not None and user[VALUES] else None
        nodes = self.texts.around(place)
        given = python_text.operands_of(nodes[-1]) if nodes and user is not None else []
        for node in getattr(nodes[-1], "args", given) if nodes else ():
            held = self.names.get(node.id) if isinstance(node, ast.Name) else None
            if value is not None and _equal(held, value):
                return str(node.id)
        if user is None or user[PLACE] is None or user[PLACE][2:4] != place or (
                len(given) != len(user[IDS])):
            return None
        text = ast.unparse(given[k])
        return text if len(text) <= LONGEST else None

    def suspect(self, id: int) -> Any:
        """Return the location of the last operation that is not defined for all numbers, of those
        without a record that made a value; None if several statements have such, or none.
        """
        made = reached([id], lambda i: [
            k for k in self.entries[i][IDS] if k is not None] if i in self.entries else [])
        found = [self.entries[i] for i in sorted(made) if i in self.entries]
        places = [e[PLACE][2:4] for e in found if e[PLACE] is not None and e[OP].domain]
        statements = {self.texts.statement(place) for place in places}
        return places[-1] if len(statements) == 1 else None

    def tensors(self) -> list[Tensor]:
        """Return the tensors that the caller's names still hold."""
        return [value for name, holder in self.names.items()
                for _, value in [(name, holder), *items_of(name, holder)]
                if isinstance(value, Tensor) and not isinstance(value, Variable)]

    def scope_of(self, place: Any) -> Any:
        """Return the function around a location, or its file; a notebook's cells are one scope."""
        scope = self.texts.scope(place)
        if scope is not None or place is None:
            return scope
        text = self.texts.of(place)
        return CELLS if any(mark in text.path for mark in CELLS) else text

    def kind_of(self, value: Tensor) -> str:
        """Return the kind of a value, as in `Binding`."""
        if isinstance(value, Variable):
            return "variable" if value.watched else "nontrainable"
        return "computed" if value.id in self.entries else "constant"

    def birth(self, value: Tensor) -> Any:
        """Return the location where a value was made; None if unknown."""
        first = value.origin().id if isinstance(value, Variable) else value.id
        if first in self.born:
            return self.born[first]
        entry = self.entries.get(first or 0)
        return entry[PLACE][2:4] if entry is not None and entry[PLACE] is not None else None

    def name_of(self, value: Any, otherwise: str, argument: int = -1) -> str:
        """Return the caller's name for a value; of several, the one in argument number `argument`
        of the question. `otherwise` if there is none.
        """
        names = [name for name, v in self.names.items() if v is value]
        asked = self._argument(argument)
        if asked is not None and names:
            read = python_text.read_in([asked])
            names = [n for n in names if n in read] or names
        if names and names[0] not in self.passing:
            return names[0]
        if isinstance(value, Variable):
            lasting = {name: v for name, v in self.names.items() if name not in self.passing}
            path = path_to(value, lasting) or next(iter(names), path_to(value, self.names))
            if path is not None:
                return path
        if names:
            return names[0]
        if isinstance(asked, (ast.Attribute, ast.Subscript, ast.Call)):
            text = ast.unparse(asked)
            if len(text) <= LONGEST:
                return text
        bound, _ = self.texts.bound(self.birth(value) if isinstance(value, Tensor) else None)
        if bound is not None:
            return bound
        for name, holder in self.names.items():
            for path, item in items_of(name, holder):
                if item is value:
                    return path
        return otherwise

    def _argument(self, k: int) -> Any:
        """Return the node of an argument of the call that asks; None where it asks for its own, as
        a model's `fit` does.
        """
        nodes = self.texts.around(self.place)
        call = nodes[-1] if nodes else None
        if not isinstance(call, ast.Call) or not 0 <= k < len(call.args) or self.trains():
            return None
        return call.args[k]

    def trains(self) -> bool:
        """Return whether the question is one of a training step, of its own loss."""
        return python_text.is_training(next(iter(self.texts.around(self.place)[-1:]), None))


def _equal(held: Any, value: Any) -> bool:
    """Return whether an array that a name holds is what was made into a constant."""
    return hasattr(held, "__array__") and not isinstance(held, Tensor) and (
        shape_of(held) == shape_of(value)) and bool(np.array_equal(
            held, value, equal_nan=True) or np.allclose(held, value, equal_nan=True))


def items_of(name: str, holder: Any) -> list[tuple[str, Any]]:
    """Return (text to reach it, value) of a container's items or an object's attributes.

    A class whose objects hold their parts elsewhere says so by `__gradcli_items__`, which returns
    texts that follow the name, such as ".layers[0]", with the values.
    """
    if name.startswith("__") or isinstance(holder, (str, type)):
        return []
    own = getattr(type(holder), "__gradcli_items__", None)
    if own is not None:
        return [(f"{name}{text}", item) for text, item in islice(own(holder), MAX_ITEMS)]
    if isinstance(holder, (list, tuple)):
        return [(f"{name}[{k}]", item) for k, item in enumerate(holder[:MAX_ITEMS])]
    if isinstance(holder, dict):
        return [(f"{name}[{key!r}]", item) for key, item in islice(holder.items(), MAX_ITEMS)]
    if isinstance(holder, ModuleType) or not any(
            "__dict__" in vars(kind) for kind in type(holder).__mro__):
        return []
    return [(f"{name}.{key}", item) for key, item in islice(vars(holder).items(), MAX_ITEMS)]


def path_to(value: Any, names: Mapping[str, Any]) -> str | None:
    """Return how a program reaches a value by attributes and items: the variable
    `model.dense.kernel`, sooner than `variables[2]`; None if it is not found near.
    """
    level = [(name, holder) for name, holder in names.items() if not name.startswith("_")]
    objects = [one for one in level if not isinstance(one[1], (list, tuple, dict))]
    return _shortest(value, objects) or _shortest(value, level)


def _shortest(value: Any, level: list[tuple[str, Any]]) -> str | None:
    """Return the shortest path to a value from holders with their paths."""
    seen: set[int] = set()
    for _ in range(DEEPEST):
        following = []
        for name, holder in level:
            if id(holder) in seen or len(seen) > MOST_HOLDERS or isinstance(holder, Tensor):
                continue
            seen.add(id(holder))
            for path, item in items_of(name, holder):
                if path.rpartition(".")[2].startswith("_"):
                    continue
                if item is value:
                    return path
                following.append((path, item))
        level = following
    return None


HEADS = (ast.If, ast.While, ast.For, ast.AsyncFor)


def read_for(tree: ast.AST, target: str) -> tuple[set[str], set[str]] | None:
    """Return the names in `target`, and all names read for them; None if nothing binds one."""
    own = set(re.findall(r"[^\W\d]\w*", target))
    reads: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.NamedExpr, ast.comprehension)) and not isinstance(
                node, (*HEADS[:2], ast.With, ast.Try)):
            for name in bound_by(node):
                reads.setdefault(name, set()).update(_names(node))
    if own.isdisjoint(reads):
        return None
    todo = list(own)
    for name in todo:
        todo += reads.get(name, set()) - set(todo)
    return own, set(todo)


def bound_around(nodes: Sequence[ast.AST]) -> set[str] | None:
    """Return the names that the condition at the end of `nodes` decides on; None if it decides on a
    value or on what a function returns.
    """
    around: list[Any] = [n for n in nodes if isinstance(n, ast.stmt)]
    if not around:
        return None
    if isinstance(around[-1], HEADS):
        inner = list(ast.walk(around[-1]))
        if any(isinstance(n, (ast.Return, ast.Raise, ast.Yield)) for n in inner):
            return None
        if any(isinstance(n, (ast.Break, ast.Continue)) for n in inner):
            loops = [n for n in around if isinstance(n, text.LOOPS)]
            inner = list(ast.walk(loops[-1])) if loops else inner
        return {name for n in inner for name in bound_by(n)}
    return bound_by(around[-1]) or None


def bound_by(node: ast.AST) -> set[str]:
    """Return the names that one node binds, or that a call in it may change."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.For, ast.AsyncFor, ast.NamedExpr, ast.comprehension)):
        return _names(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        inside = set() if isinstance(call.func, ast.Name) and call.func.id == "print" else {
            name for part in call.args for name in _names(part)}
        return inside | (_names(call.func.value) if isinstance(call.func, ast.Attribute) else set())
    return {name for target in text.targets_of(node) for name in _names(target)}


def _names(node: ast.AST) -> set[str]:
    return set(_loaded_names(node))


def _loaded_names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
