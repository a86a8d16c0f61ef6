"""Which names the computation of a target reads in the text of a Python program, whatever scope
they are of, and which ones a statement binds.
"""

from __future__ import annotations

import ast
import re

from gradcli.explain.python import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

HEADS = (ast.If, ast.While, ast.For, ast.AsyncFor)


def read_for(tree: ast.AST, target: str) -> tuple[set[str], set[str]] | None:
    """The names in `target`, and all names that are read for them; None if nothing binds one."""
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
    """The names that a condition decides on, at the end of `nodes`; None: a value, or what a
    function returns.
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
    """The names that one node binds, or calls something of that may change it."""
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
    return set(_each(node))


def _each(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
