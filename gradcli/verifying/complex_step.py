"""The complex step: f'(x) is the imaginary part of f(x + ih) divided by h, for a tiny h.

Nothing is subtracted, so nothing cancels, and h may be so small that the error is that of rounding
alone (W. Squire and G. Trapp, SIAM Review 40, 1998). What ran is run again on complex numbers, from
its record; operations that are not analytic, or are not written for complex numbers, are refused.
"""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.lang.targets import parts
from gradcli.ops.kinds import BILINEAR, FLAT, LINEAR, STOP
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import is_float, shape_of
from gradcli.sweeps import reach
from gradcli.tape.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.answers.ask import Ask
    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target
    from gradcli.tape.record import Entry
    from gradcli.verifying.directions import Directions

STEP = 1e-20
# How far the real part may be from the value that was recorded.
SAME = 1e-9

# Operations whose arrays take complex numbers and are analytic there; what is linear or bilinear
# needs no list, it works on the parts.
ANALYTIC = frozenset((
    "add subtract multiply divide negative positive reciprocal square squared_difference lerp"
    " divide_no_nan multiply_no_nan reciprocal_no_nan power sqrt rsqrt exp exp2 expm1 log log2"
    " log10 log1p xlogy xlog1py xdivy sin cos tan sec csc cot one_minus_square asin acos atan asec"
    " acsc acot where sinh cosh tanh sech csch coth asinh acosh atanh asech acsch logit contraction"
    " inv det solve").split())
CONTINUED: dict[str, Any] = {
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "silu": lambda z: z / (1.0 + np.exp(-z)),
    "softplus": lambda z: np.log(1.0 + np.exp(z))}
# What hides a value from a derivative, and hands it on.
HANDED_ON = ("stop_gradient", "check_numerics")


class Refused(Exception):
    """An operation on the way takes no complex numbers."""


def complex_step(ask: Ask, run: Run, target: Target, binding: Binding, along: Directions
                 ) -> tuple[Any, str]:
    """(the Jacobian between weights and directions or None, why there is none)."""
    try:
        if not run.record.everything or run.tapes:
            run = ask.logged()      # a tape of the file keeps only what rules read
            with run.record:
                target = ask.same_target(run, target)
                binding = ask.program.sources(run, [binding.name])[0]
        tensors = parts(target)
        entries = run.record.history()
        columns = []
        with quiet(), np.errstate(all="ignore"):
            for k in range(len(along.columns)):
                found = _along(entries, binding.value, along.direction(k),
                               [t.id for t in tensors])
                if not any(t.id in found for t in tensors):
                    raise Refused(f"nothing that is recorded leads from {binding.name} there")
                columns.append(along.of_values([
                    np.zeros(t.shape) if t.id not in found else np.imag(found[t.id]) / STEP
                    for t in tensors]))
    except Refused as problem:
        return None, str(problem)
    except (GradcliError, TypeError, ValueError, np.linalg.LinAlgError) as problem:
        return None, f"it stopped: {problem}"
    return np.stack(columns, axis=-1), ""


def _along(entries: Sequence[Entry], source: Any, direction: Any, targets: Sequence[int | None]
           ) -> dict[int, Any]:
    """The complex values of everything that the source moves."""
    carried: dict[int, Any] = {source.id: np.asarray(source.value + 1j * STEP * np.asarray(
        direction))}
    wanted = [t for t in targets if t is not None]
    for entry in reach.window(entries, [source.id], wanted):
        given = [carried.get(i) if i is not None else None for i in entry[IDS]]
        if any(z is not None for z in given):
            made = _of_entry(entry, given)
            if made is not None:
                carried[entry[OUT]] = made
    return carried


def _of_entry(entry: Entry, given: Sequence[Any]) -> Any:
    """The complex value of one entry, None where what moves is not seen in it."""
    op, ans = entry[OP], entry[ANS]
    custom = getattr(op, "custom", False)
    if custom or op.kind == "hop":
        raise Refused(f"`{op.name}` has a gradient of its own" if custom else
                      f"`{op.name}` is not recorded")
    if not is_float(ans) or op.kind == FLAT:
        return None
    if op.name in HANDED_ON:
        return given[0]
    moving = [k for k, z in enumerate(given) if z is not None and op.role(k) == "data"]
    if not moving:
        return None
    if op.kind == STOP or (op.kind != LINEAR and op.kind != BILINEAR
                           and op.name not in ANALYTIC and op.name not in CONTINUED):
        raise Refused(f"`{op.name}` takes no complex numbers")
    values = [z if k in moving else v for k, (z, v) in enumerate(
        zip(given, entry[VALUES], strict=True))]
    if op.name in CONTINUED:
        made = CONTINUED[op.name](*values)
    elif op.kind == LINEAR:
        made = _computed(entry, [np.real(v) if k in moving else v for k, v in enumerate(values)]
                         ) + 1j * np.asarray(_computed(entry, [
                             np.imag(v) if k in moving else _none_of(v, op, k)
                             for k, v in enumerate(values)]))
    elif op.kind == BILINEAR:
        made = _bilinear(entry, values)
    else:
        made = _computed(entry, values)
    made = np.asarray(made)
    real, known = np.real(made), np.asarray(ans, float)
    if made.shape != known.shape or not np.allclose(
            real, known, rtol=SAME if known.dtype != np.float32 else 1e-5, atol=1e-12,
            equal_nan=True) or np.isnan(np.imag(made)).any():
        raise Refused(f"`{op.name}` has another value for complex numbers")
    return made


def _none_of(value: Any, op: Any, k: int) -> Any:
    """Zeros for data that does not move; an index or condition stays."""
    return np.zeros(shape_of(value)) if op.edge(k) else value


def _bilinear(entry: Entry, values: Sequence[Any]) -> Any:
    a, b = values
    real = _computed(entry, [np.real(a), np.real(b)])
    # The product of both imaginary parts is 1e-40 of it.
    return real + 1j * (np.asarray(_computed(entry, [np.real(a), np.imag(b)]))
                        + np.asarray(_computed(entry, [np.imag(a), np.real(b)])))


def _computed(entry: Entry, values: Sequence[Any]) -> Any:
    op = entry[OP]
    attributes: Mapping[str, Any] = entry[ATTRIBUTES]
    if op.elementwise:
        return op.compute(values, attributes)
    batches = entry[BATCH] or (0,) * (len(values) + 1)
    arrays = [np.asarray(v) for v in values]
    return op.compute(arrays, attributes, [a.ndim - b for a, b in zip(
        arrays, batches[:-1], strict=True)])
