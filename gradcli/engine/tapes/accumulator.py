"""ForwardAccumulator: tangents pushed along while operations run, as tf.autodiff's."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import quiet
from gradcli.engine.record import record as records
from gradcli.engine.record.record import IDS, OP, OUT, Segment
from gradcli.engine.record.tensor import Tensor, core_shape, flatten, leaf, like, same, value_of
from gradcli.engine.record.variable import Variable, plain_value
from gradcli.engine.sweeps import tangent
from gradcli.engine.sweeps.derivatives import directional_in_range
from gradcli.engine.tapes.requests import is_zero, note, tensors_of, zeros_for
from gradcli.ops.values import is_float, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from gradcli.engine.record.record import Accumulator, Entry, Record, Tape
    from gradcli.engine.tapes.requests import Event


class ForwardAccumulator:
    """The directional derivatives of values in a block; see `gradcli.ForwardAccumulator`."""

    __slots__ = ("_outer", "_pushed", "_record", "_seeds", "_tapes", "constants", "events",
                 "primals", "recording", "tangents", "variables")

    def __init__(self, primals: Any, tangents: Any) -> None:
        if not same(primals, tangents):
            raise error("E0313", "primals and tangents are not nested in the same way",
                        help="give one tangent for each primal")
        self.recording = False
        self.primals = [p for p in flatten(primals) if isinstance(p, Tensor)]
        self.events: list[Event] = []
        self._record: Record | None = None
        # Those that were recording already when the block began.
        self._outer: list[Accumulator] = []
        self._tapes: list[Tape] = []
        self.tangents: dict[int, Tensor] = {}
        self.variables: dict[Variable, Tensor] = {}
        # What the tangents came from: where numbers left the range of floats, they are found again.
        self._pushed = Segment()
        self._pushed.scalar = False
        self._seeds: dict[int, Tensor] = {}
        # Derivatives of what the primals reach, which do not depend on them, and what is made of
        # these: their tangent is 0, not missing.
        self.constants: set[int] = set()
        for primal, direction in zip(flatten(primals), flatten(tangents), strict=True):
            if not isinstance(primal, Tensor):
                raise error("E0310", f"a primal must be a tensor or variable, not {primal!r:.40}",
                            help="make it one: gradcli.constant(...)")
            if primal.id in self.tangents:
                raise error("E0310", "the same primal is given twice",
                            help="add its tangents and give it once")
            v = direction.read() if isinstance(direction, Tensor) else leaf(
                plain_value(direction, primal.dtype if is_float(primal.value) else None))
            if core_shape(v) != primal.shape:
                raise error("E0301", f"the tangent has shape {show(core_shape(v))}, the primal"
                            f" {show(primal.shape)}", help="give a tangent of the primal's shape")
            if is_float(primal.value) and v.dtype != primal.dtype:
                raise error("E0302", f"the tangent is {v.dtype.name}, the primal"
                            f" {primal.dtype.name}",
                            help=f'cast it: cast(..., "{primal.dtype.name}")')
            if primal.id is not None and is_float(primal.value):
                self.tangents[primal.id] = self._seeds[primal.id] = v
                if isinstance(primal, Variable):
                    self.variables[primal] = v

    def __enter__(self) -> Self:
        """Start recording. Raises E0504 if it is already recording."""
        if self.recording:
            raise error("E0504", "the accumulator is already recording",
                        help="leave its block before entering it again")
        self.recording = True
        record = self._record = records.current()
        self._note("open")
        self._outer, self._tapes = list(record.accumulators), list(record.tapes)
        record.accumulators.append(self)
        record.settle()
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._record is not None
        self.recording = False
        self._note("close")
        self._record.accumulators.remove(self)
        self._record.settle()

    def _note(self, kind: str, ids: tuple[int, ...] = ()) -> None:
        note(self.events, self._record or records.current(), kind, ids, 3, "ask")

    def push(self, entry: Entry) -> None:
        """Carry the tangents on to the result of an operation."""
        op, ids = entry[OP], entry[IDS]
        if not is_float(entry[4]):
            return
        if any(i in self.tangents and op.edge(k) for k, i in enumerate(ids)):
            with quiet():
                made = tangent.of_entry(entry, self.tangents, True)
            if made is None:
                return
            if not isinstance(made, Tensor) or made.id is None:
                made = leaf(value_of(made))
            self.tangents[entry[OUT]] = made
            self._pushed.append(entry)
            self._tell(made, entry[OUT])
        elif any(i in self.constants and op.edge(k) for k, i in enumerate(ids)):
            self.constants.add(entry[OUT])

    def note_derived(self, made: int, target: int) -> None:
        """Note that the value `made` is a derivative of `target`."""
        if made not in self.tangents and (target in self.tangents or target in self.constants):
            self.constants.add(made)

    def _tell(self, made: Tensor, target: int) -> None:
        """Notify outer tapes and accumulators that `made` is a derivative."""
        assert made.id is not None
        if self._tapes and self._record is not None:
            self._record.seen.add(made.id)
        for tape in self._tapes:
            tape.derived[made.id] = (target, target)
        for accumulator in self._outer:
            accumulator.note_derived(made.id, target)

    def assigned(self, variable: Variable) -> None:
        """Keep the tangent of a primal variable for its new state."""
        if variable in self.variables and variable.id is not None:
            self.tangents[variable.id] = self._seeds[variable.id] = self.variables[variable]

    def jvp(self, primals: Any, unconnected_gradients: Any = "none") -> Any:
        """Return the tangent of a tensor, or of each of a structure; None where none was carried
        there, or zeros with unconnected_gradients="zero". Zeros too for a derivative that does not
        depend on the primals. Raises E0310 for what is not a tensor, E0312 for another word.
        """
        zero = is_zero(unconnected_gradients)
        out = []
        for primal in tensors_of(primals, "primal"):
            assert primal.id is not None
            found = self.tangents.get(primal.id)
            if found is not None and primal.id not in self._seeds:
                found = self.tangents[primal.id] = directional_in_range(
                    self._pushed, self._seeds, primal, self.primals, found)
            if found is None and (zero or primal.id in self.constants):
                found = leaf(zeros_for(primal.shape, primal))
                self._tell(found, primal.id)
            out.append(found)
        self._note("ask", tuple([g.id for g in out if g is not None and g.id is not None]))
        return like(primals, out)
