"""The text of a Python program: statements, names and branches around a location.

`co_positions` gives the lines and columns of an instruction; the text comes from `linecache`, so
everything that has lines there (files, notebooks) can be read; the rest is explained without text.
"""

from __future__ import annotations

import ast
import linecache

from gradcli.engine.record.provenance import bytes_of, position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.engine.record.provenance import Position

    Range = tuple[int, int, int, int]  # line, end line, column, end column as `ast` counts

LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Methods that ask a tape for a gradient of what they compute themselves.
TRAINING = ("fit", "train_on_batch", "train_step", "minimize")


class PythonFile:
    """One file. tree: None where it has no lines, or none that parse."""

    __slots__ = ("lines", "path", "tree")

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.lines = linecache.getlines(path)
        except Exception:  # whoever puts lines there may have let go of them
            self.lines = []
        self.tree: ast.Module | None = None
        if self.lines:
            try:
                self.tree = ast.parse("".join(self.lines))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self.tree = None

    def around(self, where: Range | None) -> list[ast.AST]:
        """Return the nodes around a range, from the module to the smallest."""
        if self.tree is None or where is None:
            return []
        found: list[ast.AST] = [self.tree]
        while True:
            inner = next((n for n in _parts(found[-1]) if _holds(n, where)), None)
            if inner is None:
                return found
            found.append(inner)

    def calls_of(self, name: str) -> list[ast.Call]:
        """Return the calls of functions or methods of that name."""
        return [] if self.tree is None or not name else [
            node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and name in (
                getattr(node.func, "id", ""), getattr(node.func, "attr", ""))]

    def position(self, node: Any, last: Any = None) -> Position:
        """Return the position of a node; last: of the nodes from it to this one."""
        last = node if last is None else last
        return (self.path, node.lineno, self._column(node.lineno, node.col_offset),
                last.end_lineno, self._column(last.end_lineno, last.end_col_offset))

    def range_at(self, position: Position) -> Range:
        """Convert a position to lines and byte offsets as `ast` counts them."""
        _, line, column, end_line, end_column = position
        return line, end_line, self._bytes(line, column), self._bytes(end_line, end_column)

    def _bytes(self, line: int, column: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text[:column - 1].encode()) if text else column - 1

    def segment(self, node: Any) -> str:
        """Return the text of a node in one line."""
        return " ".join((ast.get_source_segment("".join(self.lines), node) or "").split())

    def line(self, number: int) -> str:
        """Return a line of the text, stripped."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="ignore")) + 1


class PythonFiles:
    """The files of a program, each read once."""

    __slots__ = ("_around", "_bound", "_texts")

    def __init__(self) -> None:
        self._texts: dict[str, PythonFile] = {}
        # By the id of the code, which places keep, and the offset: code is slow to compare.
        self._around: dict[tuple[int, int], list[ast.AST]] = {}
        self._bound: dict[tuple[int, int], tuple[str | None, Any]] = {}

    def of(self, place: Any) -> PythonFile:
        """Return the text of a location of `gradcli.engine.record.provenance` or a position."""
        path = place[0] if isinstance(place[0], str) else place[0].co_filename
        if path not in self._texts:
            self._texts[path] = PythonFile(path)
        return self._texts[path]

    def around(self, place: Any) -> list[ast.AST]:
        """Return the nodes around a location, from the module to the smallest."""
        if place is None:
            return []
        if isinstance(place[0], str):
            text = self.of(place)
            return text.around(text.range_at(place))
        key = id(place[0]), place[1]
        if key not in self._around:
            self._around[key] = self.of(place).around(bytes_of(place))
        return self._around[key]

    def bound(self, place: Any) -> tuple[str | None, Any]:
        """Return the name that the value made at a location gets there, and the statement."""
        if place is None or isinstance(place[0], str):
            return None, None
        key = id(place[0]), place[1]
        if key not in self._bound:
            self._bound[key] = (
                name_bound(self.around(place), bytes_of(place)), self.statement(place))
        return self._bound[key]

    def statement(self, place: Any) -> Any:
        """Return the statement at a location."""
        return next((n for n in reversed(self.around(place)) if isinstance(n, ast.stmt)), None)

    def scope(self, place: Any) -> Any:
        """Return the function around a location; None for the module. Default values and decorators
        of a function belong to the one around it.
        """
        nodes = self.around(place)
        parts = [*nodes[1:], None]
        return next((n for n, part in zip(nodes[::-1], parts[::-1], strict=False)
                     if isinstance(n, SCOPES) and not _is_outside(n, part)), None)

    def located(self, place: Any) -> Position | None:
        """Return the position of a location; of a `with` block, only of its head."""
        if place is None or isinstance(place[0], str):
            return place  # type: ignore[no-any-return]
        head = block_at(self.around(place))
        if head is not None and bytes_of(place) in (
                range_of(head), *[range_of(item.context_expr) for item in head.items]):
            item = head.items[-1]
            return self.of(place).position(head, item.optional_vars or item.context_expr)
        return position(place)

    def written(self, place: Any, longest: int = 40) -> str:
        """Return the text of the operation at a location, shortened if long; "" without a text."""
        nodes = self.around(place)
        if not nodes or range_of(nodes[-1]) != bytes_of(place):
            return ""
        text = self.of(place).segment(nodes[-1])
        return text if len(text) <= longest else f"{text[:longest - 3].rstrip()}..."


def _is_outside(function: Any, part: Any) -> bool:
    """Return whether a part of a function runs where the function is defined."""
    arguments = function.args
    return any(part is one for one in (
        *arguments.defaults, *arguments.kw_defaults, *getattr(function, "decorator_list", ())))


def block_at(nodes: Sequence[ast.AST]) -> ast.With | ast.AsyncWith | None:
    """Return the `with` that a location enters: the location is all of it or a context manager."""
    head = next((n for n in reversed(nodes) if isinstance(n, (ast.With, ast.AsyncWith))), None)
    if head is None or nodes[-1] is head or nodes[-1] in [i.context_expr for i in head.items]:
        return head
    return None


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the child nodes that have a position; those of a child without one in its place."""
    for part in ast.iter_child_nodes(node):
        if hasattr(part, "lineno"):
            yield part
        else:
            yield from _parts(part)


def range_of(node: Any) -> Range:
    """Return the range of a node: lines and byte offsets as `ast` counts them."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _holds(node: Any, where: Range) -> bool:
    line, end_line, start, end = where
    first = (node.lineno, node.col_offset)
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, (decorator.lineno, decorator.col_offset))
    return first <= (line, start) and (end_line, end) <= (node.end_lineno, node.end_col_offset)


# --- names ------------------------------------------------------------------------------------


def read_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that some nodes read, `self.x` among them."""
    found = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found.add(part.id)
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                found.add(f"{part.value.id}.{part.attr}")
    return found


def bound_in(nodes: Sequence[ast.AST]) -> frozenset[str] | None:
    """Return the names that some statements bind; None if they do more: return, leave a loop, call
    something for its effect.
    """
    found = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, (*LEAVING, ast.Yield)) or (
                    isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)):
                return None
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                found.add(part.id)
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                found.add(ast.unparse(part))
    return frozenset(found)


def targets_of(statement: Any) -> list[Any]:
    """Return the targets of a binding statement."""
    if isinstance(statement, ast.Assign):
        return list(statement.targets)
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        return [statement.target]
    return []


def operands_of(node: Any) -> list[Any]:
    """Return the operands of an operator, or the arguments of a call without keywords, in order."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    return list(node.args) if isinstance(node, ast.Call) and not node.keywords else []


def item_set(nodes: Sequence[ast.AST]) -> ast.Subscript | None:
    """Return the element that is assigned to, of an item or of a statement that assigns just one;
    None for anything else.
    """
    targets = [t for node in nodes for t in (targets_of(node) or [node])]
    item = targets[0] if len(targets) == 1 else None
    return item if isinstance(item, ast.Subscript) and isinstance(item.ctx, ast.Store) else None


def bindings_between(nodes: Sequence[ast.AST], name: str, first: int, last: int) -> int:
    """Count the bindings of a name between two lines of the innermost function in `nodes`."""
    scope = next((n for n in reversed(nodes[:-1]) if isinstance(n, SCOPES)), nodes[0])
    return sum([isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
                and first <= part.lineno <= last for part in ast.walk(scope)])


def name_bound(nodes: Sequence[ast.AST], where: Range | None) -> str | None:
    """Return the name that the value at a range gets: `x` for the product in `x = a*b`."""
    statement: Any = next((n for n in reversed(nodes) if isinstance(n, ast.stmt)), None)
    if statement is None or where is None:
        return None
    if isinstance(statement, ast.AugAssign):
        return ast.unparse(statement.target) if range_of(statement) == where else None
    for target in targets_of(statement):
        pairs = [(target, statement.value)]
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = list(zip(target.elts, statement.value.elts, strict=False))
        for to, value in pairs:
            if is_training(value):
                continue    # `history = model.fit(x, y)`: made inside, and not what it returns
            if value is not None and not isinstance(to, (ast.Tuple, ast.List)) and (
                    range_of(value) == where):
                return ast.unparse(to)
    return None


def is_training(node: Any) -> bool:
    """Return whether a node is a call of a method that computes a loss and asks for its gradient.
    """
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (
        node.func.attr in TRAINING)


def binding_in(nodes: Sequence[ast.AST], name: str) -> tuple[Any, ast.AST] | None:
    """Return the innermost function around the end of `nodes` that binds a name, and its parameter
    or where it is bound first; None if none does.
    """
    for scope in reversed([n for n in nodes if isinstance(n, SCOPES)]):
        todo: list[ast.AST] = [scope]
        for node in todo:
            todo += [n for n in ast.iter_child_nodes(node) if not isinstance(n, SCOPES)]
            if (isinstance(node, ast.arg) and node.arg == name) or (
                    isinstance(node, ast.Name) and node.id == name
                    and isinstance(node.ctx, ast.Store)):
                return scope, node
    return None


def last_binding(nodes: Sequence[ast.AST], name: str) -> Any:
    """Return the last statement above the end of `nodes`, in its function, that binds a name to
    something that is not computed from the name itself.
    """
    scope = next((n for n in reversed(nodes[:-1]) if isinstance(n, SCOPES)), nodes[0])
    line = getattr(nodes[-1], "lineno", 0)
    found: Any = None
    todo = [scope]
    part: Any
    for node in todo:
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, SCOPES):
                todo.append(part)
            if name in map(ast.unparse, targets_of(part)) and (
                    found is None or found.lineno < part.lineno) and part.lineno < line and (
                    name not in read_in([part]) and not isinstance(part, ast.AugAssign)):
                found = part
    return found


def names_unpacked(statement: Any) -> list[str]:
    """Return the names that `a, b = ...` binds, unless its right side is a tuple."""
    for target in targets_of(statement):
        if isinstance(target, (ast.Tuple, ast.List)) and not isinstance(
                statement.value, ast.Tuple):
            return [ast.unparse(to) for to in target.elts]
    return []


def keyword_of(node: Any, name: str) -> Any:
    """Return the keyword argument of that name in a node; None if there is none."""
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.keyword) and part.arg == name:
            return part
    return None


# --- branches ---------------------------------------------------------------------------------


class Branch:
    """A condition or loop head and what it decides.

    what, binds: as in `Unrun`.
    test: its node.

    holds, fails: the nodes that run if it holds and if it does not.
    """

    __slots__ = ("binds", "fails", "holds", "node", "test", "what")

    def __init__(self, what: str, node: Any, test: Any, holds: list[Any], fails: list[Any],
                 binds: frozenset[str] | None) -> None:
        self.what = what
        self.node = node
        self.test = test
        self.holds = holds
        self.fails = fails
        self.binds = binds


def branch_at(nodes: Sequence[ast.AST]) -> Branch | None:
    """Return the branch of the condition, or the loop of the iterable, at the end of `nodes`; None
    if they end in no such head.
    """
    for k in range(len(nodes) - 2, -1, -1):
        node: Any = nodes[k]
        if isinstance(node, (ast.For, ast.AsyncFor)) and node.iter is nodes[k + 1]:
            return Branch("loop", node, node.iter, list(node.body), [], bound_in(node.body))
        if getattr(node, "test", None) is not nodes[k + 1]:
            continue
        if isinstance(node, ast.IfExp):
            statement: Any = next(
                (n for n in reversed(nodes[:k]) if isinstance(n, ast.stmt)), None)
            named = [t for t in targets_of(statement) if statement is not None]
            return Branch("branch", node, node.test, [node.body], [node.orelse],
                          bound_in(named) if named else None)
        if isinstance(node, ast.While):
            return Branch("loop", node, node.test, list(node.body), [], bound_in(node.body))
        if isinstance(node, ast.If):
            holds, fails = list(node.body), list(node.orelse)
            binds = bound_in([*holds, *fails])
            inner = [n for n in nodes[:k] if isinstance(n, (*LOOPS, *SCOPES))][-1:]
            leaving = (ast.Break, ast.Return) if inner and isinstance(inner[0], LOOPS) else (
                ast.Break,)
            what = "leave" if any(isinstance(arm[-1], leaving) for arm in (holds, fails) if arm
                                  ) else "branch"
            after = _after(nodes[k - 1], node)
            # The statements behind a branch that leaves belong to the other branch.
            if isinstance(holds[-1], LEAVING):
                fails += after
            elif fails and isinstance(fails[-1], LEAVING):
                holds += after
            return Branch(what, node, node.test, holds, fails, binds)
    return None


def _after(parent: Any, node: Any) -> list[Any]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and node in block:
            return list(block[block.index(node) + 1:])
    return []


def truth(test: Any, where: Range | None, value: bool) -> bool | None:
    """Return the truth of a test of which the part at a range has a value; None if undecided."""
    if where is None or not _holds(test, where):
        return None
    if range_of(test) == where:
        return value
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, where, value)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        part = next((v for v in test.values if _holds(v, where)), None)
        inner = truth(part, where, value) if part is not None else None
        decides = isinstance(test.op, ast.Or)
        return inner if inner is decides or part is test.values[-1] else None
    return None
