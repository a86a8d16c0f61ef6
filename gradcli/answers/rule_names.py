"""What the rule for a derivative is called in class, and its formula as a textbook has it.

Rows by the name of an operation; whatever is not named here is "derivative of NAME", so that no
operation is without a name. The table of operations writes its rules so that they do not cancel
and compute fast; where that differs from the formula that is taught, the taught one stands here.
A test holds both together.
"""

from __future__ import annotations

from gradcli.answers.formula_text import written
from gradcli.ops.discrete import greater, less, logical_and
from gradcli.ops.elementwise import cos, exp, log, power, sin, sqrt, square, where
from gradcli.ops.kinds import BILINEAR, FLAT, LINEAR, STOP, UNREGISTERED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op

NAMES = {
    "add": "sum rule", "subtract": "difference rule", "negative": "constant multiple rule",
    "positive": "identity", "multiply": "product rule", "divide": "quotient rule",
    "square": "power rule", "power": "power rule", "reciprocal": "power rule",
    "sqrt": "power rule", "cbrt": "power rule", "rsqrt": "power rule", "sum": "sum rule",
    "mean": "sum rule", "exp": "exponential rule", "exp2": "exponential rule",
    "where": "rule of the chosen branch", "maximum": "rule of the larger one",
    "minimum": "rule of the smaller one", "clip": "rule of the chosen branch",
    "relu": "rule of the chosen branch", "relu6": "rule of the chosen branch",
    "stop_gradient": "no derivative: stopped on purpose",
}
KINDS = {
    LINEAR: "linear map, transposed", BILINEAR: "product rule",
    FLAT: "no derivative: a step function", STOP: "no derivative",
    UNREGISTERED: "no derivative: nobody registered a rule",
}
PI = 3.141592653589793
E = 2.718281828459045
CONSTANT = "constant multiple rule"
BASE = "exponential rule"
# Of x^x, whose base and exponent are one: both rules together.
GENERAL = "general power rule"

# Per argument, of operands that are formulas being written.
TAUGHT: dict[str, Sequence[Callable[..., Any]]] = {
    "divide": (lambda x, y: 1 / y, lambda x, y: -(x / square(y))),
    "reciprocal": (lambda x: -(1 / square(x)),),
    "sqrt": (lambda x: 1 / (2.0 * sqrt(x)),),
    "rsqrt": (lambda x: -(1 / (2.0 * power(x, 1.5))),),
    "hypot": (lambda x, y: x / sqrt(square(x) + square(y)),
              lambda x, y: y / sqrt(square(x) + square(y))),
    "atan2": (lambda y, x: x / (square(x) + square(y)),
              lambda y, x: -(y / (square(x) + square(y)))),
    "exp2": (lambda x: power(2.0, x) * log(written(2.0)),),
    "log2": (lambda x: 1 / (x * log(written(2.0))),),
    "log10": (lambda x: 1 / (x * log(written(10.0))),),
    "tan": (lambda x: 1 / square(cos(x)),),
    "cot": (lambda x: -(1 / square(sin(x))),),
    "sigmoid": (lambda x: exp(-x) / square(1 + exp(-x)),),
    "relu": (lambda x: where(greater(x, 0.0), 1.0, 0.0),),
    "relu6": (lambda x: where(logical_and(greater(x, 0.0), less(x, 6.0)), 1.0, 0.0),),
    "erf": (lambda x: 2.0 * exp(-square(x)) / sqrt(written(PI)),),
    "erfc": (lambda x: -(2.0 * exp(-square(x)) / sqrt(written(PI))),),
    "erfi": (lambda x: 2.0 * exp(square(x)) / sqrt(written(PI)),),
    "ndtr": (lambda x: exp(-square(x) / 2.0) / sqrt(2.0 * written(PI)),),
    "radians": (lambda x: written(PI) / 180.0,),
    "degrees": (lambda x: 180.0 / written(PI),),
    "asinh": (lambda x: 1 / sqrt(square(x) + 1),),
    "acosh": (lambda x: 1 / sqrt(square(x) - 1),),
}


def rule_name(op: Op, k: int, constant: Sequence[bool]) -> str:
    """What the rule for argument k is called. constant: which arguments do not vary."""
    if getattr(op, "custom", False):
        return f"custom gradient of {op.name}"
    if not op.edge(k):
        return NAMES[op.name] if op.name == "stop_gradient" else KINDS[
            FLAT if op.kind == FLAT else STOP]
    others = [c for j, c in enumerate(constant) if j != k]
    if op.name in ("multiply", "divide") and k == 0 and others == [True]:
        return CONSTANT
    if op.name == "multiply" and others == [True]:
        return CONSTANT
    if op.name == "power" and k == 1:
        return BASE
    return NAMES.get(op.name) or KINDS.get(op.kind) or f"derivative of {op.name}"


def taught(op: Op, k: int, operands: Sequence[Any], ans: Any) -> Any:
    """The partial of an elementwise operation in argument k as it is taught, written or a number;
    None for an argument without one.
    """
    if op.name == "power":
        return _power(k, *operands)
    if op.name in TAUGHT:
        return TAUGHT[op.name][k](*operands)
    rule = op.rules[k] if op.rules else None
    return rule(*operands, ans) if callable(rule) else rule


def _power(k: int, x: Any, y: Any) -> Any:
    if k == 1:
        return power(x, y) if x == E else power(x, y) * log(written(x))
    if not isinstance(y, float):
        return y * power(x, y - 1)
    if y in (0, 1):
        return y
    return y * x if y == 2 else y * power(x, y - 1)
