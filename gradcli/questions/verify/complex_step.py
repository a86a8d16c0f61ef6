"""The complex step: f'(x) is the imaginary part of f(x + ih) divided by h, for a tiny h.

Nothing is subtracted, so nothing cancels, and h may be so small that the error is that of rounding
alone (W. Squire and G. Trapp, SIAM Review 40, 1998). What ran is run again on complex numbers, from
its record, a function with a gradient of its own by what it computes inside. Operations that are
not written for complex numbers are refused, and so is a point on a kink.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.record.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, VALUES, window
from gradcli.ops.continued import continued
from gradcli.ops.kinds import BILINEAR, FLAT, LINEAR
from gradcli.ops.values import dtype_of, is_float, shape_of
from gradcli.questions.states import is_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.engine.record.tensor import Tensor
    from gradcli.lang.running.run import Binding, Run
    from gradcli.questions.verify.methods import CheckedFunction, Directions

STEP = 1e-20
SMALL = 1e-80   # a smaller number that moves is moved like one of size 1, if less is no step
TINY, SHORTEST = 1e-300, 1e-286     # a number to which a step can be relative, and what it is then
# How far a result is off that is shaken, relative; which way, is always drawn alike.
SHAKEN, SEED = 4e-16, 20
# How far the real part may be from the value that was recorded, relative to it; of float32.
SAME, SINGLE = 1e-9, 1e-5

# What hands on a value, and a derivative only in part or in fewer digits.
HANDED_ON = ("stop_gradient", "check_numerics", "cast_float")


def method_of(op: Any) -> str:
    """Return how an operation takes complex numbers: "parts", "analytic", "written", "written for
    arrays", "inverse"; empty if it takes none.
    """
    if op.kind in (LINEAR, BILINEAR):
        return "parts"
    if op.complex_form in ("", "arrays"):
        return op.complex_form and "analytic"
    return "inverse" if "by_inverse" in op.traits else (
        "written" if op.elementwise else "written for arrays")


class Refused(Exception):
    """An operation on the way takes no complex numbers."""


def complex_step(run: Run, function: CheckedFunction, binding: Binding, along: Directions,
                 moved: float = 0.0, shorter: float = 1.0, shaken: bool = False) -> tuple[Any, str]:
    """Return (the Jacobian between weights and directions or None, why there is none).

    To see what rounding does: moved: of the source, relative; shorter: of the step, times; shaken:
    every result is off by some last digits, each by others.
    """
    try:
        tensors = function.tensors
        if not run.record.everything or run.tapes:
            run = function.question.logged(run)     # a tape of the file keeps only what rules read
            with run.record:
                tensors = function.again(run)
                binding = function.source(run, binding)
        entries = run.record.history()
        value = np.asarray(binding.value.value, float) * (1.0 + moved)
        columns = []
        with quiet(), np.errstate(all="ignore"):
            for k in range(len(along.columns)):
                for size in _sizes(value, None if along.random else k):
                    step = shorter * STEP * size
                    found = _along(entries, binding.value, value + 1j * step * np.asarray(
                        along.direction(k)), [t.id for t in tensors],
                        0.0 if moved or shaken else step,
                        np.random.default_rng(SEED) if shaken else None)
                    # A gradient that does not depend on the source does not move.
                    if function.row is None and not any(t.id in found for t in tensors):
                        raise Refused(
                            f"nothing that is recorded leads from {binding.name} there")
                    column = along.of_values([
                        np.zeros(t.shape) if t.id not in found else _moves(found[t.id]) / step
                        for t in tensors])
                    if np.all(column):
                        break
                columns.append(column)
    except Refused as problem:
        return None, str(problem)
    except ImportError:
        return None, "it needs SciPy, which is not installed"
    except (GradcliError, TypeError, ValueError, np.linalg.LinAlgError) as problem:
        return None, f"it stopped: {problem}"
    return np.stack(columns, axis=-1), ""


def _moves(found: Any) -> Any:
    """Return the imaginary part; of what left the range of floats nothing is known."""
    return np.where(np.isfinite(np.real(found)), np.imag(found), np.nan)


def _sizes(value: Any, k: int | None) -> list[float]:
    """Return what a step is relative to: element k, or the smallest, if that is small; then what to
    try where that is so short that nothing is left of what it moves.
    """
    sizes = np.abs(np.ravel(value) if k is None else np.ravel(value)[k:k + 1])
    if (sizes >= SMALL).any():
        return [float(sizes[sizes >= SMALL].min(initial=1.0))]
    return [*[max(float(size), SHORTEST) for size in sizes[sizes >= TINY][:1]], 1.0]


def _along(entries: Sequence[Entry], source: Tensor, start: Any, targets: Sequence[int | None],
           step: float, stream: Any) -> dict[int, Any]:
    """Return the complex values of everything that the source moves, and with it its later states.
    step: its length; held to what was computed unless it is 0. stream: of what the last digits are
    off by, if they are.
    """
    assert source.id is not None
    carried: dict[int, Any] = {source.id: start}
    wanted = [t for t in targets if t is not None]
    for entry in window(entries, [source.id], wanted):
        given = [carried.get(i) if i is not None else None for i in entry[IDS]]
        if any(z is not None for z in given):
            made = entry[ANS] + (start - source.value) if is_link(entry, source.id) else (
                _of_call(entries, entry, carried) if getattr(entry[OP], "custom", False) else
                _of_entry(entry, given, step))
            if made is not None:
                carried[entry[OUT]] = made if stream is None else _shaken(made, stream)
    return carried


def _shaken(made: Any, stream: Any) -> Any:
    """Return a result of which both parts are off by some last digits."""
    made = np.asarray(made, complex)
    off = stream.uniform(-SHAKEN, SHAKEN, (2, *made.shape))
    return made.real * (1.0 + off[0]) + 1j * (made.imag * (1.0 + off[1]))


def _of_call(entries: Sequence[Entry], entry: Entry, carried: Mapping[int, Any]) -> Any:
    """Return what a function with a gradient of its own computed inside, whatever its gradient."""
    op: Any = entry[OP]
    if not any(i in carried for i in op.inner):
        return None
    known = {e[OUT]: e[ANS] for e in entries if e[OUT] in op.inner and e[OUT] not in carried}
    values = [carried.get(i, known.get(i)) for i in op.inner]
    shape = shape_of(entry[ANS])
    if len(values) == 1 and np.shape(values[0]) == shape:
        return values[0]
    if any(v is None for v in values):
        raise Refused(f"`{op.name}` has a value that is not recorded")
    made = np.concatenate([np.reshape(v, -1) for v in values])
    if made.shape != shape:
        raise Refused(f"`{op.name}` has a value that is not recorded")
    return made


def _of_entry(entry: Entry, given: Sequence[Any], step: float) -> Any:
    """Return the complex value of one entry, None where what moves is not seen in it."""
    op, ans = entry[OP], entry[ANS]
    if op.kind == "hop":
        raise Refused(f"`{op.name}` is not recorded")
    if not is_float(ans) or op.kind == FLAT or "in_steps" in op.traits:
        return None
    if op.name in HANDED_ON:
        return given[0]
    moving = [k for k, z in enumerate(given) if z is not None and op.role(k) == "data"]
    if not moving:
        return None
    method = method_of(op)
    if not method:
        raise Refused(f"`{op.name}` takes no complex numbers")
    values = [z if k in moving else v for k, (z, v) in enumerate(
        zip(given, entry[VALUES], strict=True))]
    if step and _on_kink(entry, values):
        raise Refused(f"`{op.name}` has a kink there")
    if method == "parts":
        made = _bilinear(entry, values) if op.kind == BILINEAR else _linear(entry, values, moving)
    elif method == "analytic":
        made = _computed(entry, values)
    elif method == "inverse":
        made = continued(op)(values[0], np.asarray(ans, float))
    elif method == "written":
        made = continued(op)(*[
            np.asarray(v) + 0j if k in moving else np.asarray(v) for k, v in enumerate(values)])
    elif any(entry[BATCH] or ()):
        raise Refused(f"`{op.name}` takes no complex numbers")
    else:
        made = continued(op)(op, [np.asarray(v) for v in values], entry[ATTRIBUTES], ans)
    made = np.asarray(made)
    if np.isnan(np.imag(made)).any() or (step and not _same(made, ans, values, step)):
        raise Refused(f"`{op.name}` has another value for complex numbers")
    return made


def _same(made: Any, ans: Any, values: Sequence[Any], step: float) -> bool:
    """Return whether a real part is what was computed, but for what rounding of the operands does.
    """
    known = np.real(np.asarray(ans))
    if made.shape != known.shape:
        return False
    largest = max([float(np.abs(np.real(v)).max(initial=0.0)) for v in values if is_float(v)
                   or np.iscomplexobj(v)], default=0.0)
    relative = SINGLE if dtype_of(ans) == "float32" else SAME
    room = relative * (np.abs(known) + np.abs(np.imag(made)) / step * largest)
    off = np.abs(np.real(made) - known)
    return bool((~(off > room) | (np.real(made) == known)).all()
                and (np.isnan(known) == np.isnan(np.real(made))).all())


def _on_kink(entry: Entry, values: Sequence[Any]) -> bool:
    """Return whether the rule follows a convention where something moves: no limit can confirm it.
    """
    op: Any = entry[OP]
    if op.kink is None:
        return False
    if not op.elementwise:
        return bool(np.any(op.kink(entry[ANS], *entry[VALUES], **entry[ATTRIBUTES])))
    moves = sum([np.abs(np.imag(v)) for v in values if np.iscomplexobj(v)])
    return bool(np.any(np.asarray(op.kink(*entry[VALUES])) & (moves > 0)))


def _linear(entry: Entry, values: Sequence[Any], moving: Sequence[int]) -> Any:
    real = _computed(entry, [np.real(v) if k in moving else v for k, v in enumerate(values)])
    return real + 1j * np.asarray(_computed(entry, [
        np.imag(v) if k in moving else _none_of(v, entry[OP], k) for k, v in enumerate(values)]))


def _none_of(value: Any, op: Any, k: int) -> Any:
    """Return zeros for data that does not move; an index or condition stays."""
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
