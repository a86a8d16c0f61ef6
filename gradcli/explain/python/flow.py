"""The flow of a plain value through the text of a Python program: from `float(x)`, which no record
knows of, to where it comes back into the engine.

A value is held by names that a statement binds to it, names bound to what is computed from these,
attributes, parameters of functions that are called with it, and results of functions and
properties. A name counts in its own scope; attributes and functions are known by their names alone,
so also in other files.
"""

from __future__ import annotations

import ast

from gradcli.engine.record.record import IDS, PLACE
from gradcli.explain.missing.scene import hop
from gradcli.explain.python import text as python_text
from gradcli.lang.running.log import Unrun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.provenance import PythonEvents
    from gradcli.engine.record.record import Entry
    from gradcli.explain.python.text import Branch, PythonFile, PythonFiles

    Flows = dict[Any, "ValueFlow"]

ITERATING = (ast.For, ast.AsyncFor, ast.comprehension)
BINDING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)
# Names bound to names bound to what left: so many times.
ROUNDS = 8


class Scope:
    """A function, or a file.

    names: under which it is called.
    parameters: in order.
    shift: number of leading parameters that a call does not write (`self`).
    local: the names that it binds.
    nodes: its own, with nested functions but not their nodes.
    owner: the class of which it is a method.
    """

    __slots__ = ("local", "names", "node", "nodes", "outer", "owner", "parameters", "shift")

    def __init__(self, node: Any, outer: Scope | None, owner: str) -> None:
        self.node = node
        self.outer = outer
        self.owner = owner
        arguments = getattr(node, "args", None)
        self.parameters = [] if arguments is None else [
            a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        others = [] if arguments is None else [
            a.arg for a in (*arguments.kwonlyargs, arguments.vararg, arguments.kwarg) if a]
        self.shift = 1 if owner and not any(
            getattr(d, "id", "") == "staticmethod" for d in node.decorator_list) else 0
        name = getattr(node, "name", "")
        self.names = {name, owner} if name == "__init__" else {name, "()"} if (
            name in ("__call__", "call", "forward")) else {name} if name else set()
        self.nodes: list[ast.AST] = []
        self.local = {*self.parameters, *others}

    def of(self, name: str) -> Scope:
        """Return the scope to which a name read in this scope belongs."""
        scope = self
        while name not in scope.local and scope.outer is not None:
            scope = scope.outer
        return scope


def scopes(tree: ast.AST) -> dict[Any, Scope]:
    """Return all scopes of a file by their nodes, the file itself first."""
    found = {tree: Scope(tree, None, "")}
    todo: list[tuple[ast.AST, Scope, str]] = [(tree, found[tree], "")]
    for node, scope, owner in todo:
        for part in ast.iter_child_nodes(node):
            scope.nodes.append(part)
            if isinstance(part, python_text.SCOPES):
                found[part] = Scope(part, scope, owner if hasattr(part, "name") else "")
                if isinstance(node, ast.Assign):  # a lambda with a name
                    found[part].names = {t.id for t in node.targets if isinstance(t, ast.Name)}
                scope.local.add(getattr(part, "name", ""))
                todo.append((part, found[part], ""))
                continue
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                scope.local.add(part.id)
            todo.append((part, scope, part.name if isinstance(part, ast.ClassDef) else
                         "" if owner and isinstance(part, ast.stmt) else owner))
    for scope in found.values():
        for part in scope.nodes:
            if isinstance(part, (ast.Global, ast.Nonlocal)):
                scope.local -= set(part.names)
    return found


def _blocks(node: Any) -> list[list[ast.AST]]:
    """Return the lists of statements inside a statement."""
    return [block for field in ("body", "orelse", "finalbody", "handlers")
            if isinstance(block := getattr(node, field, None), list) and block]


class ValueFlow:
    """All that holds the value of one expression.

    held: (scope, name), or ("", ".name") of an attribute.
    filled: names of containers that got it as an item.
    calls: functions that return it.
    given: (function, number or name of the parameter).
    attributes: those that the program binds.
    files: those searched, with their scopes.
    """

    __slots__ = ("attributes", "calls", "files", "filled", "given", "held", "node", "texts")

    def __init__(self, texts: PythonFiles, place: Any) -> None:
        self.texts = texts
        self.node = texts.around(place)[-1]
        self.held: set[tuple[Any, str]] = set()
        self.filled: set[str] = set()
        self.calls: set[str] = set()
        self.given: set[tuple[str, int | str]] = set()
        self.attributes: set[str] = set()
        self.files: dict[PythonFile, dict[Any, Scope]] = {}
        self._look_through(texts.of(place))
        if isinstance(self.node, ast.Subscript) and isinstance(self.node.ctx, ast.Store):
            # NumPy takes the value into an element of an array.
            nodes, file = texts.around(place), self.files[texts.of(place)]
            self._keep(self.node, next(file[n] for n in reversed(nodes) if n in file))
            self._spread()

    def meets(self, place: Any, plain: Sequence[bool] = ()) -> bool:
        """Return whether the computation at a location used the value.

        plain: which of its operands are plain numbers; only these count, since a tensor is known by
        its id.
        """
        nodes, text = self.texts.around(place), self.texts.of(place)
        if not nodes:
            return False
        self._look_through(text)
        scope = next(self.files[text][n] for n in reversed(nodes[:-1] or nodes)
                     if n in self.files[text])
        parts = python_text.operands_of(nodes[-1])
        if plain and len(parts) == len(plain):
            return any(self._holds_at(nodes, part, scope)
                       for part, is_plain in zip(parts, plain, strict=True) if is_plain)
        return self._holds_at(nodes, nodes[-1], scope)

    def decides(self) -> Iterator[tuple[Branch, PythonFile]]:
        """Yield the conditions and loops that have the value in their heads, with their texts."""
        for text, file in self.files.items():
            for scope in file.values():
                for node in scope.nodes:
                    head = node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else getattr(
                        node, "test", None)
                    if head is not None and self.holds(head, scope):
                        nodes = text.around(python_text.range_of(head))
                        branch = python_text.branch_at(nodes)
                        if branch is not None and self._holds_at(nodes, head, scope):
                            yield branch, text

    def _look_through(self, text: PythonFile) -> None:
        """Search a file for all that holds the value."""
        if text in self.files:
            return
        assert text.tree is not None
        self.files[text] = scopes(text.tree)
        self.attributes |= {part.attr for part in ast.walk(text.tree)
                            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)}
        self._spread()

    def _spread(self) -> None:
        """Find all that holds the value, from what is known to hold it."""
        for _ in range(ROUNDS):
            before = len(self.held), len(self.calls), len(self.given)
            for file in self.files.values():
                for scope in file.values():
                    self._pass(scope)
            if before == (len(self.held), len(self.calls), len(self.given)):
                break

    def _pass(self, scope: Scope) -> None:
        for function, which in self.given:
            if function in scope.names:
                self._take(scope, which)
        if isinstance(scope.node, ast.Lambda) and self.holds(scope.node.body, scope):
            self.calls |= scope.names
        for part in scope.nodes:
            if isinstance(part, ast.Return):
                if part.value is not None and self.holds(part.value, scope):
                    self.calls |= scope.names - {"()"}
                    if "()" in scope.names:
                        self.calls |= self._instances(scope.owner)
            elif isinstance(part, ast.Call):
                self._hand_on(part, scope)
            else:
                given = part.iter if isinstance(part, ITERATING) else part.value if isinstance(
                    part, BINDING) else None
                if given is not None and self.holds(given, scope):
                    self._bind(part, scope)

    def _instances(self, owner: str) -> set[str]:
        """Return the names and attributes that objects of a class are bound to: a call of one runs
        its `__call__`.
        """
        return {getattr(t, "id", getattr(t, "attr", "")) for file in self.files.values()
                for scope in file.values() for part in scope.nodes
                if isinstance(part, ast.Assign) and isinstance(part.value, ast.Call)
                and getattr(part.value.func, "id", "") == owner for t in part.targets} - {""}

    def _take(self, scope: Scope, which: int | str) -> None:
        """Note that a parameter holds the value."""
        if isinstance(which, int):
            at = which + scope.shift
            rest = scope.node.args.vararg
            name = scope.parameters[at] if at < len(scope.parameters) else (
                rest.arg if rest is not None else "")
        else:
            name = which
        if name in scope.local:
            self.held.add((scope, name))

    def _hand_on(self, call: ast.Call, scope: Scope) -> None:
        """Note the parameters that get the value from a call, and containers it is added to."""
        parts: list[tuple[int | str, ast.AST]] = [
            *enumerate(call.args), *[(k.arg or "", k.value) for k in call.keywords]]
        for which, part in parts:
            if not self.holds(part, scope):
                continue
            self.given.add((self._callee(call.func, scope), which))
            if isinstance(call.func, ast.Attribute) and call.func.attr in (
                    "append", "add", "extend", "insert", "update", "assign"):
                self._keep(call.func.value, scope, inside=True)

    def _bind(self, part: Any, scope: Scope) -> None:
        """Note that the targets of a statement hold the value; for an item, its container."""
        targets = [part.target] if isinstance(part, (*ITERATING, ast.NamedExpr)) else \
            python_text.targets_of(part)
        for target in targets:
            self._keep(target, scope)

    def _keep(self, target: ast.AST, scope: Scope, inside: bool = False) -> None:
        """Note that a target holds the value; inside: as an item of an older container."""
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._keep(item, scope)
        elif isinstance(target, (ast.Subscript, ast.Starred)):
            self._keep(target.value, scope, inside=True)
        elif isinstance(target, ast.Attribute):
            self.held.add(("", f".{target.attr}"))
        elif isinstance(target, ast.Name):
            self.held.add((scope.of(target.id), target.id))
            if inside:
                self.filled.add(target.id)

    def _holds_at(self, nodes: Sequence[ast.AST], node: ast.AST, scope: Scope) -> bool:
        """Return whether the expression `node` at the end of `nodes` contains the value; names that
        were certainly bound again since count no more.
        """
        anew = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)
                and part.id in scope.local and part.id not in (
                    self.filled | self._written_elsewhere())
                and self._before(nodes, part.id, scope) is False}
        return self.holds(node, scope, anew)

    def _written_elsewhere(self) -> set[str]:
        """Return the names that functions bind in other scopes."""
        return {name for file in self.files.values() for scope in file.values()
                for part in scope.nodes if isinstance(part, (ast.Global, ast.Nonlocal))
                for name in part.names}

    def _before(self, nodes: Sequence[ast.AST], name: str, scope: Scope) -> bool | None:
        """Return whether a name last got the value before the end of `nodes`; None if uncertain."""
        for outer, inner in zip(nodes[-2::-1], nodes[:0:-1], strict=True):
            if isinstance(outer, python_text.SCOPES):
                return None
            block: list[ast.AST] = next((b for b in _blocks(outer) if inner in b), [])
            place = block.index(inner) if inner in block else 0
            found = self._of_block(block[:place], name, scope)
            if found is None and isinstance(outer, python_text.LOOPS) and (
                    self._of_block(block[place:], name, scope)):
                found = True  # in the turn before
            if found is not None:
                return found
        return None

    def _of_block(self, block: Sequence[ast.AST], name: str, scope: Scope) -> bool | None:
        """Return whether a name holds the value after statements; None if they need not bind it."""
        return next((found for found in (self._of_statement(s, name, scope)
                                         for s in reversed(block)) if found is not None), None)

    def _of_statement(self, statement: Any, name: str, scope: Scope) -> bool | None:
        binds = any(isinstance(part, ast.Name) and part.id == name and isinstance(
            part.ctx, ast.Store) for part in ast.walk(statement))
        if not binds or isinstance(statement, python_text.SCOPES):
            return None
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            return self.holds(statement.value, scope)
        if isinstance(statement, ast.AugAssign):
            return self.holds(statement.value, scope) or None
        ways = [self._of_block(block, name, scope) for block in _blocks(statement)]
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return ways[0]
        if isinstance(statement, ast.If) and True not in ways:
            return False if statement.orelse and None not in ways else None
        if isinstance(statement, (ast.For, ast.AsyncFor)) and True not in ways:
            return self.holds(statement.iter, scope) or None
        return True

    def holds(self, node: ast.AST, scope: Scope, anew: Container[str] = ()) -> bool:
        """Return whether an expression contains the value. anew: names that hold it no more."""
        return any(
            part is self.node
            or (isinstance(part, ast.Name) and part.id not in anew and (
                scope.of(part.id), part.id) in self.held)
            or (isinstance(part, ast.Attribute) and (
                ("", f".{part.attr}") in self.held or part.attr in self.calls))
            or (isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
                and part.func.id in self.calls)
            for part in ast.walk(node))

    def _callee(self, function: ast.AST, scope: Scope) -> str:
        """Return the name of the called function; `()` for a call of an object of the program."""
        name = getattr(function, "id", "") or getattr(function, "attr", "")
        if any(name in other.names for file in self.files.values() for other in file.values()):
            return name
        if isinstance(function, ast.Attribute) and name not in self.attributes:
            return name     # a method, not an object in an attribute
        while isinstance(function, (ast.Attribute, ast.Subscript)):
            function = function.value
        root = getattr(function, "id", "")
        return "()" if root in scope.of(root).local else name


def returns(events: PythonEvents, entries: Mapping[int, Entry], born: Mapping[int, Any],
            below: set[int], made: set[int], texts: PythonFiles, flows: Flows) -> list[Entry]:
    """Return hops from the values `below` that left the engine to those in `made` that use them."""
    left = [event for event in events.exits if event[2] in below]
    if not left:
        return []
    sinks = _sinks(events, entries, born, made)
    found: list[Entry] = []
    for time, place, id, how in reversed(left):
        if place is None or not texts.around(place) or not any(out > time for out, *_ in sinks):
            continue
        flow = _flow(texts, place, flows)
        for out, at, plain in sinks:
            if out > time and flow.meets(at, plain):
                found.append(hop("path-left-engine", how, id, out, place, how))
    return found


def deciding(events: PythonEvents, below: set[int], texts: PythonFiles, flows: Flows
             ) -> list[Unrun]:
    """Return the branches and loops that the values `below` decided after leaving the engine."""
    found = []
    for _, place, id, _ in events.exits:
        if id in below and place is not None and texts.around(place):
            for branch, text in _flow(texts, place, flows).decides():
                found.append(Unrun("turn" if branch.what == "loop" else branch.what,
                                   text.position(branch.test), id, set(), branch.binds))
    return found


def _flow(texts: PythonFiles, place: Any, flows: Flows) -> ValueFlow:
    if place not in flows:
        flows[place] = ValueFlow(texts, place)
    return flows[place]


def _sinks(events: PythonEvents, entries: Mapping[int, Entry], born: Mapping[int, Any],
           made: set[int]) -> list[tuple[int, Any, Sequence[bool]]]:
    """Return (id, location, which operands are plain) of values computed from plain numbers."""
    found: list[tuple[int, Any, Sequence[bool]]] = [
        (id, born[id], ()) for id in made if id in born]
    found += [(time, place, ()) for time, place, _, taken, *_ in events.states
              if taken is None and time in made]
    for id in made:
        entry = entries.get(id)
        if entry is not None and None in entry[IDS] and entry[PLACE] is not None:
            found.append((id, entry[PLACE][2:4], [i is None for i in entry[IDS]]))
    return [one for one in found if one[1] is not None]
