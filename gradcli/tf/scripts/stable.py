"""Formulas that overflow, in the form that TensorFlow has for them: `tf.nn.softmax(x)` for
`tf.exp(x) / tf.reduce_sum(tf.exp(x), axis=1, keepdims=True)`, and so on.

A row of `FORMS` for each. Parts of a formula may stand under names of their own in lines before.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gradcli.tf.scripts.texts import Change, Script

    # From an expression the function of TensorFlow, its operand, and the text behind that.
    Form = Callable[["Parts", Any], "tuple[str, Any, str] | None"]


class Parts:
    """The expressions of a function with what its names stand for.

    used: the expressions that the last formula was found in.
    """

    __slots__ = ("named", "script", "used")

    def __init__(self, script: Script, scope: Any) -> None:
        self.script = script
        bound: dict[str, list[Any]] = {}
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.setdefault(node.id, []).append(node)
        # A name that is bound once, to an expression whose own names do not change later.
        self.named = {
            nodes[0].id: above.value for nodes in bound.values() if len(nodes) == 1
            for above in [script.above[nodes[0]]] if isinstance(above, ast.Assign) and all(
                n.lineno < above.lineno for part in ast.walk(above.value)
                if isinstance(part, ast.Name) for n in bound.get(part.id, ()))}
        self.used: list[Any] = []

    def of(self, node: Any) -> Any:
        """Return what an expression stands for."""
        while isinstance(node, ast.Name) and node.id in self.named:
            node = self.named[node.id]
        self.used.append(node)
        return node

    def call(self, node: Any, *names: str) -> Any:
        """Return the call of one of these functions that an expression stands for, or None."""
        node = self.of(node)
        function = getattr(node, "func", None)
        return node if isinstance(function, ast.Attribute) and (
            function.attr in names and node.args) else None

    def same(self, a: Any, b: Any) -> bool:
        """Return whether two expressions stand for the same."""
        return ast.unparse(self.of(a)) == ast.unparse(self.of(b))

    def rest(self, call: Any, leave: str = "") -> str:
        """Return the text of a call's arguments behind the first, without one of them."""
        code = self.script.code
        return "".join([f", {code(a)}" for a in (*call.args[1:], *call.keywords)
                        if getattr(a, "arg", None) != leave])


def _is_one(node: Any) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _plus_one(parts: Parts, node: Any) -> Any:
    """Return what an expression adds to 1, or None."""
    node = parts.of(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if _is_one(one):
                return other
    return None


def log_softmax(parts: Parts, node: Any) -> tuple[str, Any, str] | None:
    """Find the logarithm of a softmax, of a part of one, or of one that is written out."""
    log = parts.call(node, "log")
    inner = parts.of(log.args[0]) if log is not None else None
    item = ""
    if isinstance(inner, ast.Subscript):
        item, inner = f"[{parts.script.code(inner.slice)}]", inner.value
    made = parts.call(inner, "softmax") if inner is not None else None
    if made is not None:
        return "nn.log_softmax", made.args[0], f"{parts.rest(made)}){item}"
    by_hand = softmax(parts, inner) if inner is not None else None
    return None if by_hand is None else ("nn.log_softmax", by_hand[1], f"{by_hand[2]}{item}")


def softmax(parts: Parts, node: Any) -> tuple[str, Any, str] | None:
    """Find an exponential divided by its sum along an axis."""
    node = parts.of(node)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return None
    above, total = parts.call(node.left, "exp"), parts.call(node.right, "reduce_sum")
    if above is None or total is None or not parts.same(above, total.args[0]):
        return None
    axis = [*total.args[1:2], *[k.value for k in total.keywords if k.arg == "axis"]]
    kept = [*total.args[2:3], *[k.value for k in total.keywords if k.arg == "keepdims"]]
    if not axis or [ast.unparse(k) for k in kept] != ["True"]:
        return None
    return "nn.softmax", above.args[0], f", axis={parts.script.code(axis[0])})"


def logsumexp(parts: Parts, node: Any) -> tuple[str, Any, str] | None:
    """Find the logarithm of a sum of exponentials."""
    log = parts.call(node, "log")
    total = parts.call(log.args[0], "reduce_sum") if log is not None else None
    made = parts.call(total.args[0], "exp") if total is not None else None
    return None if made is None else (
        "reduce_logsumexp", made.args[0], f"{parts.rest(total)})")


def softplus(parts: Parts, node: Any) -> tuple[str, Any, str] | None:
    """Find the logarithm of 1 and an exponential."""
    log = parts.call(node, "log")
    near = parts.call(node, "log1p")
    inner = _plus_one(parts, log.args[0]) if log is not None else (
        near.args[0] if near is not None else None)
    made = parts.call(inner, "exp") if inner is not None else None
    return None if made is None else ("math.softplus", made.args[0], ")")


def log_sigmoid(parts: Parts, node: Any) -> tuple[str, Any, str] | None:
    """Find the logarithm of a sigmoid."""
    log = parts.call(node, "log")
    made = parts.call(log.args[0], "sigmoid") if log is not None else None
    return None if made is None else ("math.log_sigmoid", made.args[0], ")")


def sigmoid(parts: Parts, node: Any) -> tuple[str, Any, str] | None:
    """Find `1 / (1 + exp(-x))`, and `exp(x) / (1 + exp(x))`."""
    node = parts.of(node)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return None
    inner = _plus_one(parts, node.right)
    below = parts.call(inner, "exp") if inner is not None else None
    if below is None:
        return None
    x = below.args[0]
    if _is_one(parts.of(node.left)):
        return ("sigmoid", x.operand, ")") if isinstance(x, ast.UnaryOp) and isinstance(
            x.op, ast.USub) else None
    return ("sigmoid", x, ")") if parts.same(node.left, below) else None


FORMS: tuple[Form, ...] = (log_softmax, logsumexp, log_sigmoid, softplus, softmax, sigmoid)


def stable(script: Script, node: Any) -> Iterator[Change]:
    """Yield the formulas of a function that have a form of their own, where an expression is a part
    of them.
    """
    scope = script.function(node)
    parts = Parts(script, scope)
    inside = set(ast.walk(node))
    for expression in ast.walk(scope):
        if not isinstance(expression, (ast.Call, ast.BinOp)):
            continue
        for form in FORMS:
            parts.used = []
            found = form(parts, expression)
            if found is not None and any(not inside.isdisjoint(ast.walk(n)) for n in parts.used):
                name, x, rest = found
                yield script.replaced(expression, f"{script.tf}.{name}({script.code(x)}{rest}")
                break
