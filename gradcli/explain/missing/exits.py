"""Where values that left the engine came back in: from `float(x)` to what was computed with it.

A plain number has no id, so the way is found in the text: names that a statement binds to what
left, names bound to what was made of these, functions and properties that return it, also to other
files, and what gradcli computed from one of them, later.
"""

from __future__ import annotations

import ast

from gradcli.explain.missing import python_text
from gradcli.explain.missing.scene import hop
from gradcli.tape.record import IDS, PLACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.explain.missing.python_text import Text, Texts
    from gradcli.tape.provenance import Trace
    from gradcli.tape.record import Entry

LOOPS = (ast.For, ast.AsyncFor)
BINDING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Expr)
# Names bound to names bound to what left: so many times.
ROUNDS = 8


def returns(trace: Trace, entries: Mapping[int, Entry], born: Mapping[int, Any], below: set[int],
            made: set[int], texts: Texts) -> list[Entry]:
    """Hops from the values `below` that left the engine to those `made` that came of them."""
    left = [event for event in trace.exits if event[2] in below]
    if not left:
        return []
    sinks = _sinks(trace, entries, born, made)
    found: list[Entry] = []
    traced: dict[Any, _Trail] = {}
    for time, place, id, how in reversed(left):
        if place is None or not texts.around(place) or not any(out > time for out, _ in sinks):
            continue
        if place not in traced:
            traced[place] = _Trail(texts.of(place), texts.around(place))
        trail = traced[place]
        for out, at in sinks:
            if out > time and trail.meets(texts, at):
                found.append(hop("path-left-engine", how, id, out, place, how))
    return found


def _sinks(trace: Trace, entries: Mapping[int, Entry], born: Mapping[int, Any], made: set[int]
           ) -> list[tuple[int, Any]]:
    """The values that took up plain numbers, and where."""
    found = [(id, born[id]) for id in made if id in born]
    found += [(time, place) for time, place, _, taken, *_ in trace.states
              if taken is None and time in made]
    for id in made:
        entry = entries.get(id)
        if entry is not None and None in entry[IDS] and entry[PLACE] is not None:
            found.append((id, entry[PLACE][2:4]))
    return [(id, place) for id, place in found if place is not None]


class _Trail:
    """What the text made of a value that left: names, in each file its own, and functions that
    return it. met: of nodes, whether they have the value in them.
    """

    __slots__ = ("calls", "met", "names", "node")

    def __init__(self, text: Text, nodes: list[ast.AST]) -> None:
        self.node = nodes[-1]
        self.names: dict[Text, set[str]] = {text: set()}
        self.calls: set[str] = set()
        self.met: dict[ast.AST, bool] = {}
        self._follow(self.names[text], nodes)
        self._spread(text)

    def _follow(self, names: set[str], nodes: list[ast.AST]) -> None:
        """What the statement at the end of `nodes` does with the value."""
        statement: Any = next((n for n in reversed(nodes) if isinstance(n, ast.stmt)), None)
        names |= _taken(statement)
        scope: Any = next((n for n in reversed(nodes) if isinstance(n, python_text.SCOPES)), None)
        if isinstance(statement, ast.Return) and hasattr(scope, "name"):
            self.calls.add(scope.name)

    def _spread(self, text: Text) -> None:
        """Find out which names of a file hold the value."""
        names = self.names[text]
        for _ in range(ROUNDS):
            before = len(names), len(self.calls)
            self._pass(text, names)
            if before == (len(names), len(self.calls)):
                break

    def _pass(self, text: Text, names: set[str]) -> None:
        assert text.tree is not None
        scopes: list[tuple[ast.AST, str]] = [(text.tree, "")]
        while scopes:
            node, function = scopes.pop()
            for part in ast.iter_child_nodes(node):
                name = getattr(part, "name", "") if isinstance(part, python_text.SCOPES) else \
                    function
                scopes.append((part, name))
                if isinstance(part, ast.Return):
                    if part.value is not None and function and self.holds(part.value, names):
                        self.calls.add(function)
                else:
                    given = part.iter if isinstance(part, LOOPS) else part.value if isinstance(
                        part, BINDING) else None
                    if given is not None and self.holds(given, names):
                        names |= _taken(part)

    def holds(self, node: ast.AST, names: set[str]) -> bool:
        """Whether an expression has the value in it."""
        for part in ast.walk(node):
            if part is self.node or (isinstance(part, ast.Name) and part.id in names) or (
                    isinstance(part, ast.Attribute) and part.attr in self.calls) or (
                    isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
                    and part.func.id in self.calls):
                return True
        return False

    def meets(self, texts: Texts, place: Any) -> bool:
        """Whether what was computed at a place used it."""
        nodes, text = texts.around(place), texts.of(place)
        if not nodes:
            return False
        if text not in self.names:
            self.names[text] = set()
            if self.calls:
                self._spread(text)
        node = nodes[-1]
        if node not in self.met:
            self.met[node] = self.holds(node, self.names[text])
        return self.met[node]


def _taken(statement: Any) -> set[str]:
    """The names that a statement binds; of `items.append(...)` the list."""
    found = set()
    targets = [statement.target] if isinstance(statement, (*LOOPS, ast.NamedExpr)) else \
        python_text.targets_of(statement)
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                found.add(part.id)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and isinstance(
            statement.value.func, ast.Attribute) and isinstance(
            statement.value.func.value, ast.Name):
        found.add(statement.value.func.value.id)
    return found
