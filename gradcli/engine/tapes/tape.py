"""GradientTape: a window on the record, with the ids that it watches, as tf.GradientTape.

A tape holds the segments that were recorded while it was recording, and nothing of them once it is
used up. An operation is on a tape if one of its operands was, or was watched, at the time it ran.
"""

from __future__ import annotations

from _weakref import ref

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.provenance import MAX_TRACED, position
from gradcli.engine.record.record import ANS, OUT, PLACE, VALUES, fresh_id, stripped, traced
from gradcli.engine.record.tensor import Tensor, flatten, like, value_of
from gradcli.engine.record.variable import Variable
from gradcli.engine.sweeps import derivatives, reverse
from gradcli.engine.tapes.requests import (
    Past,
    Request,
    Watching,
    is_notable,
    is_zero,
    kind_of,
    note,
    one_tensor,
    tensors_of,
    total,
    weights_of,
)
from gradcli.ops.table.shapes import transpose, unbatch
from gradcli.ops.values import is_float, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from gradcli.engine.record.record import Segment
    from gradcli.engine.tapes.requests import Event


# So many operations are looked through for that which made a target.
RECENT = 8


class GradientTape(Watching):
    """A record of operations that computes derivatives on request; see `gradcli.GradientTape`."""

    __slots__ = ("__weakref__", "entered", "events", "first_use", "past", "persistent", "used")

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True,
                 tensorflow_semantics: bool = False) -> None:
        super().__init__(watch_accessed_variables, tensorflow_semantics)
        self.persistent = persistent
        self.entered = False
        self.used = False
        self.first_use: Any = None  # the place of the first question
        self.events: list[Event] = []
        # What a used tape held, for `why`: without values if its answer was missing, whole if it
        # was NaN, infinite or 0 everywhere.
        self.past: Past | None = None

    def _forget(self) -> None:
        self.forget()
        self.past = None

    # --- recording ----------------------------------------------------------------------------

    def __enter__(self) -> Self:
        """Start or resume recording. Raises E0504 if it is already recording."""
        if self.recording:
            raise error("E0504", "the tape is already recording",
                        help="leave its block before entering it again")
        record = records.current()
        if self.used and not self.persistent:
            self._forget()
            self.used = False
        self._record = record
        if not self.entered and record.trace is not None:
            record.trace.tapes.append(ref(self))
        self.entered = True
        self._start("open")
        return self

    def __exit__(self, *exception: object) -> None:
        if self.recording:
            self._stop("close")

    def _note(self, kind: str, ids: tuple[int, ...] = (), depth: int = 4) -> None:
        """Note an event of the tape. depth: the number of frames up to the code that caused it."""
        note(self.events, self._record or records.current(), kind, ids, depth, "watch")

    def _start(self, kind: str) -> None:
        assert self._record is not None
        self._note(kind)
        self.recording = True
        self.begin(self._record, self.watched)

    def _stop(self, kind: str = "") -> None:
        assert self._record is not None
        if kind:
            self._note(kind)
        self.recording = False
        self.end(self._record)

    def stop_recording(self) -> _Pause:
        """Return a context in which this tape, and no other, records nothing.

        Raises E0502 if it was never entered, E0504 if it is not recording.
        """
        if not self.entered:
            raise _never_entered("stop recording")
        if not self.recording:
            raise error("E0504", "the tape is not recording", help="use it inside its block")
        return _Pause(self)

    def reset(self) -> None:
        """Forget all that was recorded and watched. Raises E0504 if it is not recording."""
        if not self.recording or self._record is None:
            raise error("E0504", "the tape is not recording", help="reset it inside its block")
        self._note("reset", depth=3)
        if self._record.trace is not None:
            for entry in self.window()[-MAX_TRACED:]:
                self._record.trace.push(traced(entry))
        self._forget()
        self._record.split()

    # --- watching -----------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Make a tensor, a variable or each of a nested structure a source.

        Raises E0502 before the block, E0310 for anything that is no tensor.
        """
        if not self.entered:
            raise _never_entered("watch anything")
        if self.used and not self.persistent:
            raise self._used_up()
        items = flatten(tensor)
        for item in items:
            if not isinstance(item, Tensor):
                raise error("E0310", "only tensors and variables can be watched, not"
                            f" {kind_of(item)} {item!r:.40}",
                            help="make it one: gradcli.constant(...)")
        for item in items:
            if isinstance(item, Variable):
                self.watch_state(item)
            elif item.id is not None:
                self.watch_id(item.id)
        self._note("watch", tuple([item.id for item in items if item.id is not None]), 3)

    # --- requests -----------------------------------------------------------------------------

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = "none") -> Any:
        """Return the gradient of the sum of all elements of all targets, in the structure of
        `sources`.

        Each in the shape and type of its source; None where no path joins them, or zeros with
        unconnected_gradients="zero". output_gradients: weights of the targets' elements, in the
        targets' shapes. Raises E0310 for what is no tensor, E0301 and E0313 for weights that do not
        fit, E0312 for another word, E0501 for a used tape, E0502 for one never entered, E0503 for
        an operation without a rule.
        """
        zero = is_zero(unconnected_gradients)
        targets, wanted = tensors_of(target, "target"), tensors_of(sources, "source")
        weights = weights_of(target, output_gradients, len(targets), self.tensorflow_semantics)
        q = Request(self, self._ask("gradient"), targets, wanted, zero, self.compact())
        asked = [Tensor(s.value, i) for s, own in zip(wanted, q.ids, strict=True)
                 for i in own if i in q.on_tape]
        answers = iter(derivatives.gradient(
            [Tensor(t.value, t.id) for t in targets], asked, seeds=weights, emit=q.emit,
            entries=q.entries, tensorflow=self.tensorflow_semantics))
        found = {t.id: g for t, g in zip(asked, answers, strict=True) if g is not None}
        out = []
        for k, s in enumerate(wanted):
            parts = [found[i] for i in q.ids[k] if i in found]
            if not parts and is_float(s.value):
                parts = q.itself(weights, k)
            out.append(q.as_result(total(parts), k, s.shape))
        self._done(q, out)
        return like(sources, out)

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = "none",
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """Return for each source the Jacobian, target shape + source shape, as `sources` are
        nested.

        The last two arguments are TensorFlow's: the first is ignored here, and a loop over the rows
        (experimental_use_pfor=False) needs a persistent tape there and here. Raises as `gradient`,
        and E0310 where the target is not one tensor.
        """
        zero = is_zero(unconnected_gradients)
        target = one_tensor(target, "target")
        wanted = tensors_of(sources, "source")
        self._check_loop(experimental_use_pfor)
        q = Request(self, self._ask("jacobian"), [target], wanted, zero, self.window())
        y = Tensor(target.value, target.id)
        out = []
        for k, s in enumerate(wanted):
            parts = derivatives.jacobian(y, q.leaves(k), emit=q.emit, entries=q.entries,
                                         tensorflow=self.tensorflow_semantics)
            out.append(q.as_result(q.derivative(parts, k), k, target.shape + s.shape))
        self._done(q, out)
        return like(sources, out)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = "none",
                       parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """Return the Jacobians of row i of the target in row i of the source, for all i.

        target [b, ...] and source [b, ...] give [b, target's rest, source's rest], by one batched
        sweep over the rest. None where no path joins them. Raises E0301 for shapes that do not fit,
        and E0315 where a row of the target depends on other rows of the source: TensorFlow sums
        over them without a word.
        """
        zero = is_zero(unconnected_gradients) or self.tensorflow_semantics
        target, source = one_tensor(target, "target"), one_tensor(source, "source")
        _check_batches(target, source)
        b, rest = target.shape[0], target.shape[1:]
        self._check_loop(experimental_use_pfor)
        q = Request(
            self, self._ask("batch_jacobian"), [target], [source], zero, self.window())
        parts = _batch_jacobians(Tensor(target.value, target.id), q.leaves(0), q.entries,
                                 emit=q.emit, check=not self.tensorflow_semantics)
        out = q.as_result(q.derivative(parts, 0), 0, (b, *rest, *source.shape[1:]))
        self._done(q, [out])
        return out

    def check_explainable(self) -> None:
        """Raise E0501 for a tape that is used up and forgotten, E0502 for one never entered."""
        if not self.entered:
            raise _never_entered("tell why")
        if self.used and not self.persistent and self.past is None and not any(self._segments):
            raise self._used_up()

    def stats(self) -> dict[str, int]:
        """Return the number of entries on the tape and of bytes in their arrays (each once)."""
        arrays: dict[int, int] = {}
        window = self.window()
        for entry in window:
            for value in (*entry[VALUES], entry[ANS]):
                if hasattr(value, "nbytes") and not _is_hollow(value):
                    base = value if value.base is None else value.base
                    arrays[id(base)] = int(getattr(base, "nbytes", value.nbytes))
        return {"entries": len(window), "bytes": sum(arrays.values()),
                "watched": len(self.watched)}

    # --- what the requests share --------------------------------------------------------------

    def _ask(self, what: str) -> tuple[int, Any]:
        """Note a question, and return when and where it is asked.

        Raises E0502 or E0501; a tape that is not persistent stops recording.
        """
        if not self.entered:
            raise _never_entered(f"compute a {what.replace('_', ' ')}")
        if self.used and not self.persistent:
            raise self._used_up()
        self._note("ask")
        _, time, place, _ = self.events[-1]
        if self.recording and not self.persistent:
            self._stop()
        return time, place

    def _used_up(self) -> GradcliError:
        place = position(self.first_use)
        where = f"in line {place[1]} of {place[0]}" if place is not None else "earlier"
        return error("E0501", f"the tape is used up: it answered one question, {where}, and is"
                     " not persistent", help="GradientTape(persistent=True) answers many")

    def _done(self, question: Request, answers: Sequence[Any]) -> None:
        """Note that a question was answered; one that raised an error leaves the tape unchanged."""
        time, place = question.asking
        if not self.used:
            self.used = True
            self.first_use = place
        trace = records.current().trace
        if trace is not None:
            targets = [t.id for t in question.targets]
            trace.requests.append((
                time, fresh_id(), place, targets, question.ids,
                [None if g is None else g.id for g in answers],
                [self._place_of(id) for id in targets], self.watched))
        if not self.persistent:
            states, past = self.states, None
            if trace is not None and (any(map(is_notable, answers)) or any(
                    is_notable(t, zero=False) for t in question.targets)):
                past = Past(self.window(), self.watched, self.late, self.derived, whole=True)
            elif trace is not None and question.missing:
                past = Past([stripped(*traced(e)) for e in self.window()], self.watched, self.late,
                            self.derived)
            self._forget()
            self.states, self.past = states, past  # watched_variables() still tells them

    def _place_of(self, id: int | None) -> Any:
        """Return the place of the operation that made a value, None unless it is recent."""
        for segment in reversed(self._segments):
            for entry in segment[:-RECENT - 1:-1]:
                if entry[OUT] == id:
                    return entry[PLACE]
        return None

    def _check_loop(self, at_once: bool) -> None:
        if not at_once and not self.persistent:
            raise error("E0505", "a loop over rows needs a persistent tape",
                        help="leave experimental_use_pfor out, or say persistent=True")


class _Pause:
    """The context of `stop_recording`."""

    __slots__ = ("tape",)

    def __init__(self, tape: GradientTape) -> None:
        self.tape = tape

    def __enter__(self) -> None:
        if not self.tape.recording:
            raise error("E0504", "the tape is not recording", help="it is already paused")
        self.tape._stop("pause")

    def __exit__(self, *exception: object) -> None:
        self.tape._start("resume")


def _never_entered(what: str) -> GradcliError:
    return error("E0502", f"the tape was never entered, so it cannot {what}",
                 help="put the calculation inside `with tape:`")


def _is_hollow(value: Any) -> bool:
    return bool(value.base is not None and value.strides and not any(value.strides))


# ---- batch_jacobian: no row of the target depends on another row of the source ------------------


def _check_batches(target: Tensor, source: Tensor) -> None:
    """Raise E0301 where there is no batch axis, or where the two have different ones."""
    for x, what in ((target, "target"), (source, "source")):
        if len(x.shape) < 2:
            raise error("E0301", f"batch_jacobian needs a {what} with a batch axis and at least"
                        f" one more, not {show(x.shape)}", help="use jacobian")
    if source.shape[0] != target.shape[0]:
        raise error("E0301", f"the target {show(target.shape)} and the source"
                    f" {show(source.shape)} differ in their first length",
                    help="row i of the target belongs to row i of the source")


def _batch_jacobians(target: Tensor, sources: Sequence[Tensor], entries: Segment, *, emit: bool,
                     check: bool) -> list[Any]:
    """Return for each source that a path reaches [b, target's rest, source's rest]: one seed for
    each element of a row, in all rows at once.

    check: whether to raise E0315 where a row depends on another one's source.
    """
    b, rest = target.shape[0], target.shape[1:]
    m = derivatives.size(rest)
    seeds = np.zeros((m, b, *rest))
    for k in range(m):
        seeds.reshape(m, b, m)[k, :, k] = 1.0
    seed = Tensor(seeds.astype(target.dtype.name), None, 1)
    parts = []
    with quiet():
        found = reverse.reverse(
            entries, {target.id: seed}, [s.id for s in sources if s.id is not None],  # type: ignore[dict-item]
            emit=emit)
        for s in sources:
            rows = found.get(s.id) if s.id is not None else None
            if rows is None:
                continue
            if check:
                _check_rows(entries, target, s, rows)
            rows = derivatives.rows_in_range(entries, target, seed.value, s, rows)
            moved = transpose(
                unbatch(rows if isinstance(rows, Tensor) else Tensor(rows, None, 1)),
                axes=(1, 0, *range(2, 1 + len(s.shape))))
            part = moved.reshape(shape=(b, *rest, *s.shape[1:]))
            parts.append(part if emit else np.array(value_of(part)))
    return parts


def _check_rows(entries: Segment, target: Tensor, source: Tensor, rows: Any) -> None:
    """Raise E0315 unless a probe weighted row by row has the weighted gradient."""
    b, m = target.shape[0], derivatives.size(target.shape[1:])
    if b < 2 or not m:
        return
    rng = np.random.default_rng(0)
    weights = rng.uniform(1.0, 2.0, b)
    inside = rng.uniform(1.0, 2.0, (1, m))
    flat = np.reshape(value_of(rows), (m, b, -1))
    expected = weights[:, None] * np.einsum("m,mbn->bn", inside[0], flat)
    seed = (weights[:, None] * inside).reshape(target.shape)
    record = records.current()
    paused, record.paused = record.paused, True
    record.settle()
    try:
        got = reverse.reverse(entries, {target.id: seed}, [source.id])[source.id]  # type: ignore[dict-item, list-item, index]
    finally:
        record.paused = paused
        record.settle()
    got = np.reshape(value_of(got), (b, -1))
    scale = np.abs(flat).sum() * float(np.abs(seed).max()) + 1e-300
    rough = 1e-4 if "float32" in (target.dtype, source.dtype) else 1e-9
    if np.isfinite(expected).all() and np.abs(got - expected).max() > rough * scale:
        raise error("E0315", "rows of the target depend on other rows of the source",
                    help="jacobian gives the derivatives across rows too")
