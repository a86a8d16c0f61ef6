"""TensorFlow's functions, made of the rows of `functions.txt` when they are first asked for."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache

from gradcli.base.errors import error
from gradcli.engine.record import tensor as engine
from gradcli.ops.kinds import PUBLIC
from gradcli.ops.values import is_float, is_integer
from gradcli.tf.dtypes import plain
from gradcli.tf.own import HERE
from gradcli.tf.slices import IndexedSlices, gather
from gradcli.tf.tensor import (
    Tensor,
    as_tensor,
    constant,
    one_type,
    operands,
    product,
    quotient,
    refused,
    same_value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.ops.kinds import Op

# Operations that give slices of slices.
OF_VALUES = ("clip", "clip_by_norm", "positive", "stop_gradient")
ROW = re.compile(r"([\w. ]+)\((.*?)\)(?: -> (.+))?")
# Options that say nothing here.
SILENT = ("name", "layout", "validate_indices", "validate_args", "bad_indices_policy", "stable",
          "fast", "a_is_sparse", "b_is_sparse", "num", "dim")


@cache
def rows() -> dict[str, str]:
    """Return the lines of the table by path."""
    from importlib.resources import files

    found: dict[str, str] = {}
    for table in ("functions.txt", "keras/functions/functions.txt"):
        for line in files("gradcli.tf").joinpath(table).read_text("utf-8").splitlines():
            if line and not line.startswith("#"):
                found.update(dict.fromkeys(line.partition("(")[0].split(), line))
    return found


@cache
def function(path: str) -> Callable[..., Any] | None:
    """Return the function at a path below `tf`, such as "math.reduce_sum"; None if there is none.

    The same function at all of its paths.
    """
    line = rows().get(path)
    return None if line is None else _made(line)


@cache
def _made(line: str) -> Callable[..., Any]:
    """Compile a row to a function with TensorFlow's signature."""
    match = ROW.fullmatch(line)
    assert match is not None, line
    paths, signature, expression = match[1].split(), match[2], match[3]
    name = paths[0].rpartition(".")[2]
    head = f"def made({signature}, name=None)"
    definition = ast.parse(f"{head}: pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    given = [*definition.args.args, *definition.args.kwonlyargs]
    parameters = [a.arg for a in given]
    if definition.args.vararg is not None:
        parameters.append(definition.args.vararg.arg)
    if expression is None:
        operation = paths[-1].rpartition(".")[2]
        expression = f"{operation}({', '.join(parameters[:parameters.index('name')])})"
    names = [node for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    used = [node.id for node in names if node.id not in own]
    defaults = [*[None] * (len(definition.args.args) - len(definition.args.defaults)),
                *definition.args.defaults, *definition.args.kw_defaults]
    checks = "".join([
        f"    if not same({a.arg}, {ast.unparse(value)}):\n"
        f"        raise refused('tf.{paths[-1]}', '{a.arg}')\n"
        for a, value in zip(given, defaults, strict=True)
        if value is not None and a.arg not in used and a.arg not in SILENT])
    scope: dict[str, Any] = {"refused": refused, "same": same_value}
    for word in used:
        if word not in parameters and word not in scope:
            scope[word] = _named(word)
    # Its place is in this package, so that the tape notes that of the caller.
    exec(compile(f"{head}:\n{checks}    return {expression}", __file__, "exec"), scope)
    made: Callable[..., Any] = scope["made"]
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"TensorFlow's `tf.{paths[-1]}`: `{expression}` of gradcli's operations."
    made.__module__ = "gradcli.tf"
    return made


def _named(word: str) -> Any:
    """Return what a word of an expression means: one of `own`, an operation, or Python's."""
    for function in (gather, one_type, product, quotient):
        if function.__name__ == word:
            return function
    if word in HERE:
        return HERE[word]
    op = PUBLIC.get(word)
    return getattr(builtins, word) if op is None else lifted(op)


@cache
def lifted(op: Op) -> Callable[..., Any]:
    """Return an operation on what TensorFlow takes, giving what it gives: lists become tensors,
    literals have TensorFlow's types, options may be tensors.
    """
    def call(*given: Any, **options: Any) -> Any:
        for x in given:
            if type(x) is IndexedSlices and op.name in OF_VALUES:
                return x.with_values(call(x.values, *given[1:], **options))
            if type(x) is not Tensor:
                given = tuple(operands(op, given))
                break
        if options:
            options = {key: plain(value) for key, value in options.items()}
        found = answered(op(*given, **options))
        if given and whole(given[0]) and type(found) is Tensor and op.role(0) == "data" and (
                is_float(found.value) and all(map(whole, given))):
            raise error("E0302", f"`{op.name}` takes no {given[0].dtype.name}",
                        help="make it a float: tf.cast(x, tf.float32)")
        return found

    return call


def whole(x: Any) -> bool:
    """Return whether it is a tensor of whole numbers."""
    return type(x) is Tensor and is_integer(x.value)


def answered(found: Any) -> Any:
    """Return what an operation gave as TensorFlow gives it: tensors, in lists."""
    if type(found) is Tensor:
        return found
    if isinstance(found, (list, tuple)):
        return [None if part is None else answered(part) for part in found]
    return as_tensor(found) if isinstance(found, engine.Tensor) else constant(found)
