"""Changes of formulas that may bring a gradient back: what has a slope for what has none."""

from __future__ import annotations

import ast
import re

from gradcli.tf.scripts.stable import stable
from gradcli.tf.scripts.texts import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.tf.scripts.texts import Script

# What needs no brackets as an operand.
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
# Functions that cut off what is beyond a bound, and comparisons by what is larger.
BOUNDS = ("maximum", "minimum", "clip_by_value")
# How -inf is written.
MINUS_INFINITY = re.compile(r"""-(\w+\.inf|float\(['"]inf['"]\))|float\(['"]-inf['"]\)|\w+\.NINF""")
# What keeps the operand of a function off its edge: before and behind it.
GUARDS = {"log": ("{}.maximum(", ", 1e-7)"), "sqrt": ("", " + 1e-12"), "rsqrt": ("", " + 1e-12")}
GREATER, LESS = ("greater", "greater_equal"), ("less", "less_equal")


def stopped(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield `x` for `tf.stop_gradient(x)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        yield script.replaced(node, script.code(node.args[0]))


def stepped(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the step that passes the gradient straight through."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        yield _straight_through(script, node, node.args[0])


def _straight_through(script: Script, node: Any, operand: Any) -> Change:
    """Return an operation with its value and the slope of an operand."""
    x = script.code(operand)
    x = x if isinstance(operand, ATOMS) else f"({x})"
    new = f"{x} + {script.tf}.stop_gradient({script.code(node)} - {x})"
    above = script.above[node]
    return script.replaced(node, f"({new})" if isinstance(above, ast.expr) and not isinstance(
        above, ast.Call) else new)


def largest(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield `tf.reduce_max(x)`, the largest value, for `tf.argmax(x)`, its place."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (
            node.func.attr in ("argmax", "argmin")):
        yield script.replaced(node, _extreme(script, node))


def _extreme(script: Script, node: ast.Call) -> str:
    made = ast.parse(script.code(node), mode="eval").body
    assert isinstance(made, ast.Call)
    made.func = ast.parse(f"{script.tf}.reduce_{node.func.attr[3:]}", mode="eval").body  # type: ignore[attr-defined]
    made.keywords = [k for k in made.keywords if k.arg != "output_type"]
    return ast.unparse(made)


def cast(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield `x` for `tf.cast(x, tf.int32)`, and for a cast back to a float around it."""
    for call in (node, script.above.get(node)):
        if isinstance(call, ast.Call) and len(call.args) == 2 and (
                ast.unparse(call.func).endswith(".cast")):
            inner = call.args[0] if call is node else node.args[0]
            yield script.replaced(call, script.code(inner))


def switched_on(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield a function with a slope on both sides for one that is off or cuts: `tf.nn.leaky_relu`
    for `tf.nn.relu`, `tf.nn.softplus(x)` for `tf.maximum(x, 0.0)`, a bound that passes the gradient
    straight through; for a layer the activation that it is made with.
    """
    name = getattr(getattr(node, "func", None), "attr", "")
    if name in ("relu", "relu6") and node.args:
        for slope in ("", ", alpha=0.01"):
            yield script.replaced(
                node, f"{script.tf}.nn.leaky_relu({script.code(node.args[0])}{slope})")
    elif name in BOUNDS:
        varying = [a for a in node.args if not _is_number(a)]
        if name == "maximum" and len(varying) == 1 and any(
                _is_number(a) and ast.literal_eval(a) == 0 for a in node.args):
            for smooth in ("softplus", "leaky_relu"):
                yield script.replaced(
                    node, f"{script.tf}.nn.{smooth}({script.code(varying[0])})")
        elif varying:
            yield _straight_through(script, node, varying[0])
    elif "relu" in reason.message:
        made = [n.value for n in ast.walk(script.tree) if isinstance(n, ast.keyword)
                and n.arg == "activation" and ast.unparse(n.value) in ("'relu'", "'relu6'")]
        if made:
            yield Change('write activation="leaky_relu" for activation="relu"', *[
                (*script.span(n), '"leaky_relu"') for n in made])


def _is_number(node: Any) -> bool:
    try:
        return isinstance(ast.literal_eval(node), (int, float))
    except ValueError:
        return False


def smooth(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield a function with a slope for a choice made a number: `tf.reduce_max(x)` for the place of
    the largest, its probabilities for a one there, `tf.sigmoid(a - b)` for `a > b`.
    """
    above = script.above.get(node)
    as_number = isinstance(above, ast.Call) and ast.unparse(above.func).endswith(".cast")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name in ("argmax", "argmin"):
            if as_number:
                yield script.replaced(above, _extreme(script, node))
            elif isinstance(above, ast.Call) and ast.unparse(above.func).endswith(".one_hot"):
                axis = "".join([f", {script.code(k)}" for k in node.keywords if k.arg == "axis"])
                sign = "-" if name == "argmin" else ""
                x = f"{script.tf}.nn.softmax({sign}{script.code(node.args[0])}{axis})"
                yield script.replaced(
                    above, f"{x} + {script.tf}.stop_gradient({script.code(above)} - {x})")
            return
        sides = node.args[:2] if name in GREATER else node.args[1::-1] if name in LESS else []
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = [node.left, node.comparators[0]]
        if isinstance(node.ops[0], (ast.Lt, ast.LtE)):
            sides.reverse()
        elif not isinstance(node.ops[0], (ast.Gt, ast.GtE)):
            return
    else:
        return
    if as_number and len(sides) == 2:
        a, b = [script.code(side) for side in sides]
        b = b if isinstance(sides[1], ATOMS) else f"({b})"
        yield script.replaced(above, f"{script.tf}.sigmoid({a} - {b})")


REWRITE = re.compile(r"(?:guard it: )?write `(.+)` for `(.+?)`(?: in line (\d+))?(?:;.*)?")


def rewritten(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the rewrite of a formula that was found by computing it again."""
    match = REWRITE.fullmatch(reason.fix or "")
    if match is None or reason.file != script.path:
        return
    line = int(match[3] or reason.line)
    for expression in ast.walk(script.tree):
        if isinstance(expression, ast.expr) and expression.lineno == line and (
                " ".join(script.code(expression).split()) == match[2]):
            yield script.replaced(expression, match[1])
            return




def finite(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the rewrite of a formula; a large number for -inf where a mask has that; the statement
    with its logarithms, roots and quotients kept off their edges.
    """
    yield from stable(script, node)
    yield from rewritten(script, reason, node, asked)
    statement = script.statement_of(node)
    if "-inf" in reason.message or MINUS_INFINITY.search(script.code(statement)):
        masks = [n for n in ast.walk(script.tree) if MINUS_INFINITY.fullmatch(ast.unparse(n))]
        if masks:
            why = "a row of -inf alone has no softmax" if "-inf" in reason.message else (
                "-inf times 0 is not a number")
            yield Change(f"write `-1e9` for `{script.code(masks[0])}`: {why}",
                         *[(*script.span(n), "-1e9") for n in masks])
    if reason.code == "nan-overflow":
        return      # what is too large comes from the operands, not from an edge
    guards = [_guard(script, n) for n in ast.walk(statement)]
    edits = [edit for words, *two in guards for edit in two]
    if edits:
        words = [words for words, *two in guards if two]
        yield Change(f"{'; '.join(words[:2])}{'; and so on' if words[2:] else ''}", *edits)


def _guard(script: Script, node: Any) -> tuple[Any, ...]:
    """Return the words and the edits that keep a logarithm, root or quotient off its edge; no edits
    for anything else.
    """
    name = getattr(getattr(node, "func", None), "attr", "")
    operand = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else (
        node.args[0] if name in GUARDS and node.args else None)
    if operand is None or _is_number(operand):
        return ("",)
    before, after = GUARDS.get(name, ("(", " + 1e-12)"))
    before = before.format(script.tf)
    start, end = script.span(operand)
    x = script.code(operand)
    return (f"write `{before}{x}{after}` for `{x}` in `{script.code(node)}`",
            (start, start, before), (end, end, after))
