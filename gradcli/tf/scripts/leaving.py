"""Changes of what left the tape: TensorFlow's operations for NumPy's and for plain numbers."""

from __future__ import annotations

import ast

from gradcli.tf.scripts.texts import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.tf.scripts.texts import Script

# Functions of NumPy by their names in TensorFlow, where these differ.
NUMPY = {
    "log": "math.log", "log1p": "math.log1p", "expm1": "math.expm1", "sum": "reduce_sum",
    "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "prod": "reduce_prod",
    "amax": "reduce_max", "amin": "reduce_min", "std": "math.reduce_std",
    "var": "math.reduce_variance", "dot": "linalg.matvec", "inner": "reduce_sum",
    "power": "pow", "concatenate": "concat", "clip": "clip_by_value", "diag": "linalg.diag_part",
    "trace": "linalg.trace", "array": "stack", "asarray": "convert_to_tensor",
    "append": "concat", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "ceil": "math.ceil", "outer": "tensordot", "fabs": "abs"}
# Those that have the same name in both.
SAME = ("abs", "add", "cos", "cosh", "cumsum", "divide", "einsum", "exp", "expand_dims", "matmul",
        "maximum", "minimum", "multiply", "negative", "reshape", "sign", "sin", "sinh", "sqrt",
        "square", "squeeze", "stack", "subtract", "tan", "tanh", "tensordot", "tile", "transpose",
        "where", "convert_to_tensor")
# Functions that call another one with arrays.
WRAPPERS = ("numpy_function", "py_function")
# Methods of Keras's models that give arrays: the model itself gives tensors.
PREDICT = ("predict", "predict_on_batch")


def left_engine(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the operation of TensorFlow for what left it: `x` for `x.numpy()` or `float(x)`,
    `tf.math.log(x)` for `np.log(x)`, and so on outwards.
    """
    if not isinstance(node, ast.Call):
        return
    if getattr(node.func, "attr", "") in WRAPPERS and len(node.args) > 1:
        yield from _unwrapped(script, node)
        return
    outer = node
    while True:
        above = script.above[outer]
        if isinstance(above, ast.Call) and _of_numpy(script, above) and outer in above.args:
            outer = above
        elif isinstance(above, ast.Call) and _is_tensor_maker(script, above) and (
                above.args[:1] == [outer]):
            outer = above
        else:
            break
    made = ast.unparse(_InTensorFlow(script).visit(ast.parse(script.code(outer), mode="eval")))
    if made != ast.unparse(outer):
        yield script.replaced(outer, made)


def _unwrapped(script: Script, node: ast.Call) -> Iterator[Change]:
    """Yield the call of a function in place of one that hands it arrays, with the operations of
    TensorFlow in it; of a lambda what it gives.
    """
    function, given = node.args[:2]
    parts = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    inner = _InTensorFlow(script)
    if isinstance(function, ast.Lambda) and len(function.args.args) == len(parts):
        meant = {a.arg: part for a, part in zip(function.args.args, parts, strict=True)}
        body = _With(meant).visit(ast.parse(script.code(function.body), mode="eval").body)
        new = ast.unparse(inner.visit(body))
        above = script.above[node]
        yield script.replaced(node, f"({new})" if isinstance(above, ast.expr) else new)
    elif isinstance(function, ast.Name):
        change = script.replaced(
            node, f"{function.id}({', '.join(map(script.code, parts))})")
        made = next((n for n in ast.walk(script.tree) if isinstance(n, ast.FunctionDef)
                     and n.name == function.id), None)
        for statement in made.body if made is not None else ():
            text = ast.unparse(inner.visit(ast.parse(ast.unparse(statement)).body[0]))
            if text != ast.unparse(statement):
                pad = "\n" + " " * statement.col_offset
                change += Change("", (*script.span(statement), text.replace("\n", pad)))
        yield change


class _With(ast.NodeTransformer):
    """An expression with others in place of names."""

    def __init__(self, meant: dict[str, ast.expr]) -> None:
        self.meant = meant

    def visit_Name(self, node: ast.Name) -> Any:
        """Return what a name means."""
        return self.meant.get(node.id, node)


def _of_numpy(script: Script, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and (
        call.func.value.id in script.np)


def _is_tensor_maker(script: Script, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in (
        "constant", "Variable") and ast.unparse(call.func.value) == script.tf


class _InTensorFlow(ast.NodeTransformer):
    """Operations of TensorFlow in place of NumPy's and of numbers."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def visit_Call(self, node: ast.Call) -> Any:
        """Return the operation on tensors that a call is."""
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("numpy", "item") and (
                not node.args):
            return function.value
        if isinstance(function, ast.Attribute) and function.attr in PREDICT and node.args:
            return ast.Call(function.value, node.args[:1], [])
        if isinstance(function, ast.Name) and function.id == "float" and len(node.args) == 1:
            return node.args[0]
        if _is_tensor_maker(self.script, node) and not node.keywords and len(node.args) == 1 and (
                not isinstance(node.args[0], (ast.Constant, ast.List, ast.Tuple))):
            return node.args[0]
        name = getattr(function, "attr", "")
        if not _of_numpy(self.script, node) or name not in (*NUMPY, *SAME):
            return node
        tensorflow = NUMPY.get(name, name)
        node.func = ast.parse(f"{self.script.tf}.{tensorflow}", mode="eval").body
        return node
