"""`expect a == b`, `expect a ~= b, rtol=1e-9`, `expect c`: checks that a program makes itself."""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError, error
from gradcli.lang.calls import NoGradient, call_operation, one_of
from gradcli.lang.run import Expect
from gradcli.lang.structures import is_number, truth
from gradcli.ops import PUBLIC
from gradcli.ops.values import SCALAR_TYPES, shape_of
from gradcli.tape.tensor import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.code import Expectation

# What `~=` allows by default: a relative difference, and an absolute one for numbers close to 0.
RTOL, ATOL = 1e-9, 1e-12


def checked(expectation: Expectation, operands: Sequence[Any], attributes: Mapping[str, Any],
            span: Span) -> Expect:
    """Compare, all elements of arrays and all items of structures; none equals only none, and NaN
    equals NaN.

    Raises E0208 for an attribute that does not exist, E0311 for what has no truth value.
    """
    allowed = ("rtol", "atol") if expectation.operator == "near" else ()
    for name in attributes:
        if name not in allowed:
            raise GradcliError(Diagnostic(
                "E0208", f"this `expect` has no attribute `{name}`",
                span=expectation.spans[f"{name} name"],
                help=one_of(name, allowed) if allowed else "rtol and atol belong to ~="))
    if not expectation.operator:
        value = _settled(operands[0])
        return Expect(span, truth(value), value, None)
    left, right = [_settled(o) for o in operands]
    if expectation.operator in ("equal", "near", "not_equal"):
        near = expectation.operator == "near"
        rtol = _tolerance(expectation, attributes, "rtol", RTOL) if near else 0.0
        atol = _tolerance(expectation, attributes, "atol", ATOL) if near else 0.0
        holds = same(left, right, rtol, atol) != (expectation.operator == "not_equal")
        return Expect(span, holds, left, right)
    value = value_of(call_operation(PUBLIC[expectation.operator], [left, right], {}))
    return Expect(span, bool(value.all()) if hasattr(value, "all") else bool(value), left, right)


def _tolerance(expectation: Expectation, attributes: Mapping[str, Any], name: str, default: float
               ) -> float:
    """Raises E0306 for anything but a number from 0 up."""
    value = value_of(attributes.get(name, default))
    if type(value) not in (int, float) or not value >= 0.0:
        raise GradcliError(Diagnostic(
            "E0306", f"`{name}` is a number, 0 or more", span=expectation.spans[f"{name} value"],
            help=f"such as {name}={default}"))
    return float(value)


def _settled(value: Any) -> Any:
    """A value without tensors; a gradient that is None is none."""
    if isinstance(value, NoGradient):
        return None
    if isinstance(value, (list, tuple, range)):
        return [_settled(v) for v in value]
    if isinstance(value, dict):
        return {k: _settled(v) for k, v in value.items()}
    return value_of(value)


def same(left: Any, right: Any, rtol: float, atol: float) -> bool:
    """Whether two settled values agree in structure, shape and numbers."""
    if isinstance(left, dict) or isinstance(right, dict):
        return (isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys()
                and all(same(left[k], right[k], rtol, atol) for k in left))
    if isinstance(left, list) or isinstance(right, list):
        a, b = _items(left), _items(right)
        return (a is not None and b is not None and len(a) == len(b)
                and all(same(x, y, rtol, atol) for x, y in zip(a, b, strict=True)))
    if left is None or right is None or isinstance(left, str) or isinstance(right, str):
        return type(left) is type(right) and bool(left == right)
    if not is_number(left) or not is_number(right):
        return left is right
    if type(left) in SCALAR_TYPES and type(right) in SCALAR_TYPES:
        if left == right or (left != left and right != right):
            return True
        return bool(abs(left - right) <= atol + rtol * abs(right) < float("inf"))
    from gradcli.ops.lazy import np

    if shape_of(left) != shape_of(right):
        return False
    return bool(np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=True))


def _items(value: Any) -> list[Any] | None:
    """A list's items, or the rows of an array beside a list."""
    if isinstance(value, list):
        return value
    if hasattr(value, "tolist") and shape_of(value):
        return list(value)
    raise error("E0301", "a list is compared with what has no items",
                help="give both sides the same structure")
