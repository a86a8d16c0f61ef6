"""The tangent of an operation that has only a VJP: the VJP is linear in the cotangent, and its own
VJP with respect to that is the JVP.
"""

from __future__ import annotations

from gradcli.ops.values import dtype_of, plain, shape_of
from gradcli.tape.tensor import Tensor, leaf, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op


def jvp(op: Op, given: Sequence[Any], ans: Any, xs: Sequence[Any], attributes: Mapping[str, Any]
        ) -> Any:
    """The sum over the operands of their tangents (None: no tangent) carried through `op`; None
    where the rule lets none pass.
    """
    from gradcli.ops.lazy import np
    from gradcli.tape.gradient_tape import GradientTape

    value = value_of(ans)
    dummy = leaf(plain(np.ones(shape_of(value), dtype_of(value))))
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(dummy)
        # An answer with an id tells the rule that it is being recorded.
        answer = ans if isinstance(ans, Tensor) and ans.id is not None else leaf(value_of(ans))
        parts = op.rules[0](dummy, answer, *xs, **attributes)  # type: ignore[misc, operator]
    total = None
    for part, t in zip(parts, given, strict=True):
        if t is None or not isinstance(part, Tensor):
            continue
        found = tape.pull_back(part, dummy, t)
        if found is not None:
            total = found if total is None else total + found
    return total
