"""Values that a tape did not keep, made again.

An entry under a tape keeps what the rules of its operation read, and of the rest the shape
(`gradcli.tape.saved`). A trace shows all of it.
"""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.ops.kinds import EDGE, Op
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import SCALAR_TYPES
from gradcli.tape.record import ANS, ATTRIBUTES, BATCH, IDS, OP, OUT, PLACE, VALUES
from gradcli.tape.saved import is_hollow
from gradcli.tape.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.lang.run import Run
    from gradcli.tape.record import Entry


def bound(run: Run) -> dict[int, Any]:
    """Values that the file has under a name, by id."""
    tensors = [b.value for bindings in run.bindings.values() for b in bindings]
    tensors += [variable.origin() for variable in run.variables.values()]
    return {t.id: t.value for t in tensors if isinstance(t, Tensor) and t.id is not None}


def is_link(entry: Entry) -> bool:
    """Whether an entry leads from a variable's first state to a later one, whose value only those
    that read it have (`gradcli.lang.file_tape`).
    """
    return entry[OP].name == "positive" and entry[PLACE] is None


def seen(entries: Sequence[Entry]) -> dict[int, Any]:
    """Values by id: of operations what they made, of all else what was read."""
    found = {entry[OUT]: entry[ANS] for entry in entries if not is_link(entry)}
    for entry in entries:
        for i, value in zip(entry[IDS], entry[VALUES], strict=True):
            if i is not None and (i not in found or (is_hollow(found[i]) and not is_hollow(value))):
                found[i] = value
    for entry in entries:
        found.setdefault(entry[OUT], entry[ANS])
    return found


def filled(values: Mapping[int, Any], entries: Sequence[Entry], known: Mapping[int, Any]
           ) -> dict[int, Any]:
    """The values of a trace, what was not kept made again by its operation; an array of None where
    that is not possible. known: values by id that are right.
    """
    found = {i: known[i] if i in known and is_hollow(v) else v for i, v in values.items()}
    made = {entry[OUT] for entry in entries}
    for i, v in found.items():
        if i not in made and i not in known and is_hollow(v):
            found[i] = _unknown(v)
    for entry in entries:
        value = found[entry[OUT]]
        if is_hollow(value):
            found[entry[OUT]] = _unknown(value) if is_link(entry) else _again(entry, found)
    return found


def _again(entry: Entry, values: Mapping[int, Any]) -> Any:
    op, ans = entry[OP], entry[ANS]
    operands = [v if i is None else values[i] for i, v in zip(
        entry[IDS], entry[VALUES], strict=True)]
    # What is drawn at random has no operands, and what a custom function does is not known.
    if type(op) is not Op or entry[BATCH] or not operands or any(
            unknown(v) or (i is None and is_hollow(v))
            for i, v in zip(entry[IDS], operands, strict=True)):
        return _unknown(ans)
    try:
        with quiet():
            made = op.compute(operands, entry[ATTRIBUTES], [
                0 if type(v) in SCALAR_TYPES else v.ndim for v in operands])
    except (GradcliError, *EDGE):
        return _unknown(ans)
    return made if getattr(made, "shape", None) == ans.shape else _unknown(ans)


def _unknown(like: Any) -> Any:
    return np.full(like.shape, None)


def unknown(value: Any) -> bool:
    """Whether the numbers of an array could not be made again."""
    return type(value) not in SCALAR_TYPES and value.dtype.kind == "O"
