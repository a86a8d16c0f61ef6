"""What to write instead in Python code, in the words of its text."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType

from gradcli.base.lazy import np
from gradcli.explain.python.text import item_set, targets_of

# What needs no brackets as an operand.
ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)

# What TensorFlow calls the operations of rewrites; the others are called the same there.
IN_TENSORFLOW = {
    "log": "math.log", "log1p": "math.log1p", "xlogy": "math.xlogy", "xlog1py": "math.xlog1py",
    "softplus": "math.softplus", "log_sigmoid": "math.log_sigmoid", "sum": "reduce_sum",
    "log_softmax": "nn.log_softmax", "softmax": "nn.softmax", "logsumexp": "reduce_logsumexp",
    "divide_no_nan": "math.divide_no_nan", "reciprocal_no_nan": "math.reciprocal_no_nan",
    "clip": "clip_by_value", "lgamma": "math.lgamma", "erfcx": "math.erfcx"}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.explain.python.text import PythonFiles


def to_call(texts: PythonFiles, place: Any) -> str:
    """Return the advice how to run the function around a location: a special method is run by an
    operator, `__call__` by a call of an instance.
    """
    name = texts.scope(place).name
    if not name.startswith("__"):
        return f"call {name}"
    text = texts.of(place)
    owner, calls = calls_to(texts, place)
    written = {text.segment(call) for call in calls}
    short = [call for call in written if len(call) <= 40]
    return f"call {short[0]}" if name == "__call__" and len(short) == len(written) == 1 else (
        f"use the {owner}")


def calls_to(texts: PythonFiles, place: Any) -> tuple[str, list[ast.Call]]:
    """Return the class of the function around a location, and the calls of that function in its
    file: `__call__` and `call` are run by calls of names that instances were bound to.
    """
    text = texts.of(place)
    assert text.tree is not None
    name = getattr(texts.scope(place), "name", "")
    owner = next((n.name for n in reversed(texts.around(place)) if isinstance(n, ast.ClassDef)), "")
    made = {getattr(t, "id", getattr(t, "attr", "")) for n in ast.walk(text.tree)
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)
            and getattr(n.value.func, "id", "") == owner for t in n.targets}
    names = made if name in ("__call__", "call") and owner else {name}
    return owner, [call for one in names for call in text.calls_of(one)]


def assigning(statement: Any, name: str) -> str | None:
    """Return the assignment that a binding of a variable's name stands for: `w.assign_sub(e)` for
    `w = w - e`. None if the statement does not bind just that name.
    """
    if [ast.unparse(t) for t in targets_of(statement)] != [name]:
        return None
    value = statement.value
    if isinstance(statement, ast.AugAssign):
        value = ast.BinOp(ast.Name(name), statement.op, value)
    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == name and isinstance(
            value.op, (ast.Add, ast.Sub)):
        how = "assign_add" if isinstance(value.op, ast.Add) else "assign_sub"
        return f"{name}.{how}({ast.unparse(value.right)})"
    return f"{name}.assign({ast.unparse(value)})"


def collecting(statement: Any) -> str | None:
    """Return the advice to collect in a list what a statement puts into an element of an array;
    None for any other statement.
    """
    item = item_set([statement])
    if item is None or isinstance(statement, ast.AugAssign):
        return None
    value, array = statement.value, ast.unparse(item.value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and (
            value.func.attr in ("numpy", "item")):
        value = value.func.value
    return f"collect the values in a list and stack it: {array}.append({ast.unparse(value)})," \
        f" then {array} = ops.stack({array})"


def straight_through(texts: PythonFiles, place: Any) -> str | None:
    """Return a step such as `ops.round(x)` rewritten to keep its value and to have the slope of its
    operand; None if its form is not known.
    """
    nodes = texts.around(place)
    node: Any = nodes[-1] if nodes else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        parts, sign = [node.left, node.right], "/"
        prefix = "ops."
    elif isinstance(node, ast.Call) and not node.keywords:
        function: Any = node.func
        owner = getattr(function, "value", None)
        of_module = isinstance(owner, ast.Name) and owner.id in ("ops", "np", "numpy", "math")
        parts, sign = list(node.args), ", "
        if owner is not None and not of_module and not parts:
            parts = [owner]  # x.round()
        prefix = "" if owner is None and function.id not in dir(builtins) else "ops."
    else:
        return None
    if len(parts) != 1 + (sign == "/"):
        return None
    text = sign.join(ast.unparse(p) if isinstance(p, ATOMS) or (
        sign != "/" and isinstance(p, ast.BinOp) and not isinstance(p.op, (ast.Add, ast.Sub)))
        else f"({ast.unparse(p)})" for p in parts)
    found = f"{text} + {prefix}stop_gradient({ast.unparse(node)} - {text})"
    within = nodes[-2] if len(nodes) > 1 else None
    return f"({found})" if isinstance(within, ast.expr) and not isinstance(within, ast.Call) else (
        found)


def spelled(module: str, names: Mapping[str, Any], name: str) -> str:
    """Return the name of an operation with its module."""
    if module == "tf":
        return f"tf.{IN_TENSORFLOW.get(name, name)}"
    if getattr(names.get(module), "__name__", "") == "numpy" and not hasattr(np, name):
        module = "ops" if isinstance(names.get("ops"), ModuleType) else "gradcli.ops"
    return f"{module}.{name}"
