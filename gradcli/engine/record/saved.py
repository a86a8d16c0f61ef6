"""The operand values that an entry keeps: only those that the rules of its operation read.

`add` keeps nothing, `multiply` both factors, or only the constant one. An array that no rule reads
is replaced by a hollow one: same shape and type, one element in memory. The values that a rule
reads are found once per row, by running it on probes.
"""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.ops.kinds import BILINEAR, LINEAR, STOP, Op
from gradcli.ops.values import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Below this many bytes a hollow array would be no smaller.
SMALL = 256

_reads: dict[str, list[tuple[bool, ...]]] = {}


class Probe:
    """An operand that remembers whether anything was done with it."""

    __slots__ = ("read",)

    def __init__(self) -> None:
        self.read = False

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        for a in args:
            if isinstance(a, Probe):
                a.read = True
        return Probe()

    def _touch(self, *others: Any) -> Any:
        for a in (self, *others):
            if isinstance(a, Probe):
                a.read = True
        return Probe()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _touch
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = _touch
    __lt__ = __le__ = __gt__ = __ge__ = __mod__ = __rmod__ = __floordiv__ = _touch


def is_hollow(value: Any) -> bool:
    """Return whether an array has one element in memory: a constant, or one not kept."""
    return type(value) not in SCALAR_TYPES and value.nbytes >= SMALL and bool(
        value.strides) and not any(value.strides)


def saved(op: Op, ids: Sequence[int | None], values: Sequence[Any], ans: Any
          ) -> tuple[Sequence[Any], Any]:
    """Return the operand values and the result as the entry keeps them.

    The derivative of an operand without an id is never taken, so a value that only its own rule
    reads is not needed.
    """
    if getattr(ans, "nbytes", 0) < SMALL:
        for v in values:
            if getattr(v, "nbytes", 0) >= SMALL:
                break
        else:
            return values, ans
    reads: Sequence[bool]
    if op.elementwise:
        by_rule = _reads.get(op.name)
        if by_rule is None:
            by_rule = _reads[op.name] = _read_by(op)
        used = [read for read, i in zip(by_rule, ids, strict=False) if i is not None]
        reads = [any(column) for column in zip(*used, strict=True)] or [False] * (len(values) + 1)
    elif op.kind == LINEAR:
        reads = [*[not op.edge(k) for k in range(len(values))], False]
    elif op.kind == BILINEAR:
        reads = [ids[1] is not None, ids[0] is not None, False]
    elif op.kind == STOP or type(op) is not Op:  # the rule of a custom gradient is a closure
        reads = [False] * (len(values) + 1)
    else:
        return values, ans
    kept = [
        v if needed or type(v) in SCALAR_TYPES or v.nbytes < SMALL else hollow(v)
        for v, needed in zip(values, reads, strict=False)]
    if not reads[-1] and getattr(ans, "nbytes", 0) >= SMALL:
        ans = hollow(ans)
    return kept, ans


def hollow(array: Any) -> Any:
    """Return an array of the same shape and type without memory; its elements mean nothing."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _read_by(op: Op) -> list[tuple[bool, ...]]:
    """Return for each partial of the row which arguments, and last whether the result, it reads."""
    out = []
    for rule in op.rules:
        probes = [Probe() for _ in range(len(op.parameters) + 1)]
        if callable(rule):
            try:
                result = rule(*probes)
            except Exception:  # a rule that asks for more than arithmetic: keep everything
                out.append((True,) * len(probes))
                continue
            if isinstance(result, Probe):
                result.read = True
        out.append(tuple([p.read for p in probes]))
    return out
