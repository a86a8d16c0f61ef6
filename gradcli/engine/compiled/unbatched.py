"""Entries whose batch axes are ordinary ones.

A sweep in several directions at once records operations with axes in front of the core, which rows
are told to leave alone. Most do just that with axes of their own in front: then the entry is one
without batch axes, for which there may be a view or a function that writes where it is told to.
That it is the same is seen by running both on random numbers.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    fresh_id,
)
from gradcli.ops import NAMES
from gradcli.ops.table.linalg import LETTERS
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.ops.kinds import Op


def unbatched(entry: Entry) -> list[Entry]:
    """Return the entries that replace this one: without batch axes, or itself."""
    op, batches = entry[OP], entry[BATCH]
    if not batches or op.elementwise or op.arrays is None:
        return [entry]
    if op.name == "align":
        return [_with(entry, NAMES["reshape"], {"shape": shape_of(entry[ANS])})]
    if op.name == "matmul" and batches == (0, 1, 1) and entry[VALUES][0].ndim == 2:
        return _one_product(entry)
    before = shape_of(entry[ANS])[:batches[-1]]
    changes: dict[str, Any] = {}
    for name, value in entry[ATTRIBUTES].items():
        if name == "shape":
            changes[name] = (*before, *value)
        elif name == "pattern":
            changes[name] = (*(slice(None),) * batches[-1], *value)
        elif name == "subscripts":
            changes[name] = _lettered(value, batches)
    found = _with(entry, op, {**entry[ATTRIBUTES], **changes})
    return [found] if _same(entry, found) else [entry]


def _lettered(subscripts: str, batches: Sequence[int]) -> str:
    """Return subscripts with letters for the batch axes too, which are aligned from the right."""
    free = [c for c in LETTERS if c not in subscripts][:max(batches)]
    inputs, output = subscripts.split("->")
    *terms, output = ["".join(free[len(free) - n:]) + term for n, term in zip(
        batches, (*inputs.split(","), output), strict=True)]
    return ",".join(terms) + "->" + output


def _with(entry: Entry, op: Op, attributes: Mapping[str, Any]) -> Entry:
    return (op, entry[OUT], entry[IDS], entry[VALUES], entry[ANS], attributes, entry[PLACE], ())


def _one_product(entry: Entry) -> list[Entry]:
    """Return the entries of a matrix times many vectors as one product, where NumPy would make one
    for each.
    """
    (a_id, b_id), (a, b), ans = entry[IDS], entry[VALUES], entry[ANS]
    if b.ndim > 2 and (b.ndim > 3 or b.shape[-1] != 1):
        return [entry]
    reshape, place = NAMES["reshape"], entry[PLACE]
    flat, result = b.reshape(b.shape[:2]), ans.reshape(ans.shape[:2])
    turned, rows, product = fresh_id(), fresh_id(), fresh_id()
    transposed = (NAMES["transpose"], turned, (a_id,), (a,), a.T, {"axes": (-1, -2)}, place, ())
    if b_id is None and np.array_equal(flat, np.eye(len(flat))):  # all directions as they are
        return [transposed, (
            reshape, entry[OUT], (turned,), (a.T,), ans, {"shape": ans.shape}, place, ())]
    return [
        transposed,
        (reshape, rows, (b_id,), (b,), flat, {"shape": flat.shape}, place, ()),
        (entry[OP], product, (rows, turned), (flat, a.T), result, {}, place, ()),
        (reshape, entry[OUT], (product,), (result,), ans, {"shape": ans.shape}, place, ())]


def _same(entry: Entry, other: Entry) -> bool:
    random = np.random.default_rng(0)
    values = [random.uniform(1.0, 2.0, shape_of(v)) if entry[OP].role(k) == "data" else v
              for k, v in enumerate(entry[VALUES])]
    try:
        return bool(np.array_equal(_run(entry, values), _run(other, values)))
    except (GradcliError, ValueError, IndexError, TypeError):
        return False


def _run(entry: Entry, values: list[Any]) -> Any:
    batches = entry[BATCH] or (0,) * (len(values) + 1)
    arrays: Any = entry[OP].arrays
    return arrays([len(shape_of(v)) - b for v, b in zip(values, batches[:-1], strict=True)],
                  *values, **entry[ATTRIBUTES])
