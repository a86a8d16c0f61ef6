"""Gradients of lookups: the rows that were looked up, as tf.IndexedSlices.

TensorFlow hands the gradient of `tf.gather` back as the rows that were taken, so does the tape here
where nothing but gathers along the first axis leads from a source to the target.
"""

from __future__ import annotations

from gradcli.engine.record import tensor as engine
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES
from gradcli.engine.record.variable import Variable
from gradcli.ops.kinds import PUBLIC
from gradcli.ops.values import Rows, is_float
from gradcli.tf.dtypes import TensorShape, plain
from gradcli.tf.tensor import as_tensor, cast, constant, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.tf.dtypes import DType


class IndexedSlices:
    """Rows of a tensor that is 0 elsewhere, as tf.IndexedSlices; a row may be there several times.

    values: [n, ...]; indices: [n]; dense_shape: of the tensor, or None.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    @property
    def dtype(self) -> DType:
        """Return the type of the values."""
        kind: DType = self.values.dtype
        return kind

    @property
    def shape(self) -> TensorShape:
        """Return the shape of the tensor."""
        return TensorShape(None if self.dense_shape is None else
                           [int(n) for n in self.dense_shape.value])

    @property
    def device(self) -> str:
        """Return the place of the values."""
        place: str = self.values.device
        return place

    @property
    def name(self) -> str:
        """Raise AttributeError, as TensorFlow does."""
        name: str = self.values.name
        return name

    def with_values(self, values: Any) -> IndexedSlices:
        """Return the same rows with other values."""
        return IndexedSlices(values, self.indices, self.dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self.values)

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        """Return the tensor; rows that are there several times add up. Raises ValueError where the
        shape is not known.
        """
        if self.dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices for argument `value`"
                             f" without dense_shape: {self}")
        made = as_tensor(PUBLIC["unsorted_segment_sum"](
            self.values, self.indices, num_segments=int(self.dense_shape.value[0])))
        return made if dtype is None else cast(made, dtype)

    def __str__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self.indices!s}, values={self.values!s}{shape})"


# ---- the gradients of a tape ---------------------------------------------------------------------

gathered = False    # something was: until then no tape is looked through


def gather(params: Any, indices: Any, axis: Any = 0, batch_dims: Any = 0) -> Any:
    """Return the rows, or other slices, that indices name."""
    global gathered
    gathered = True
    params, indices = operands(PUBLIC["gather"], (params, indices))
    return as_tensor(PUBLIC["gather"](params, indices, axis=plain(axis), batch_dims=plain(
        batch_dims)))


def gradients(question: Callable[..., Any], tape: Any, target: Any, sources: Any, *options: Any
              ) -> Any:
    """Return the gradients of a target that a tape gives, slices where only lookups lead to it."""
    wanted, found = engine.flatten(sources), []
    if gathered:
        targets = [t for t in engine.flatten(target) if isinstance(t, engine.Tensor)]
        window = tape.window()
        found = [lookups(window, targets, tape.states.get(s, ()) if isinstance(s, Variable) else (
            s.id,)) if isinstance(s, engine.Tensor) else None for s in wanted]
    if not any(found):
        return question(tape, target, sources, *options)
    taken = [entry for entries in found for entry in entries or ()]
    answers = question(tape, target, [*wanted, *[
        as_tensor(engine.Tensor(entry[ANS], entry[OUT])) for entry in taken]], *options)
    cotangents = iter(answers[len(wanted):])
    return engine.like(sources, [g if not entries else sliced(
        s, entries, [next(cotangents) for _ in entries])
        for s, g, entries in zip(wanted, answers, found, strict=False)])


def lookups(window: Sequence[Entry], targets: Sequence[Any], own: Collection[int | None]
            ) -> list[Entry] | None:
    """Return the entries that gather rows of a source, where no other way leads to the targets;
    None if there is another way, or none.

    own: the ids of the source.
    """
    if not any(type(e[ATTRIBUTES].get("pattern")) is Rows for e in window):
        return None
    live = {t.id for t in targets}
    reaching = []
    for entry in reversed(window):
        op: Any = entry[OP]
        if entry[OUT] in live and is_float(entry[ANS]):
            ways = [i for k, i in enumerate(entry[IDS]) if i is not None and op.edge(k)]
            live.update(ways)
            reaching.append((entry, ways))
    mine, found = set(own), []
    for entry, ways in reversed(reaching):
        if mine.isdisjoint(ways):
            continue
        if entry[OP].name == "positive":
            mine.add(entry[OUT])
        elif type(entry[ATTRIBUTES].get("pattern")) is Rows:
            found.append(entry)
        else:
            return None
    return found if found and mine.isdisjoint([t.id for t in targets]) else None


def sliced(source: Any, found: Sequence[Entry], cotangents: Sequence[Any]) -> IndexedSlices:
    """Return the gradient in a source from those of what was gathered from it."""
    shape = [int(n) for n in source.shape]
    values = [PUBLIC["reshape"](as_tensor(c), shape=[-1, *shape[1:]]) for c in cotangents]
    indices = [PUBLIC["reshape"](constant(e[VALUES][1]), shape=[-1]) for e in found]
    rows, at = [as_tensor(parts[0] if len(parts) == 1 else PUBLIC["concat"](*parts, axis=0))
                for parts in (values, indices)]
    return IndexedSlices(rows, at, constant(shape))
