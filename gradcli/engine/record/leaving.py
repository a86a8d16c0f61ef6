"""Values that NumPy and `math` take out of a tensor unasked: an error while a tape watches it.

`np.mean([x, y])` asks each tensor of the list for its value, and NumPy has no protocol by which
that could be recorded; `math.sin(x)` asks for a number. `.numpy()`, `.item()`, `float(x)` and
`int(x)` say what they do, and stay.
"""

from __future__ import annotations

from sys import _getframe

from gradcli.base.errors import GradcliError, error
from gradcli.engine.record import record as records
from gradcli.ops.kinds import ELEMENTWISE, NAMES
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

# Modules whose functions take numbers, and no tensors.
NUMERIC = ("math", "cmath", "statistics", "numpy")
# Calls that say what they do.
EXPLICIT = (("float",), ("int",), ("complex",))
# What has no derivative anyway: questions about a number, and steps.
WITHOUT = ("isnan", "isinf", "isfinite", "isclose", "floor", "ceil", "trunc")
# What operations of the same meaning are called.
RENAMED = {"fabs": "abs", "pow": "power"}

# By the id of the code, which is kept: code is slow to hash.
_callees: dict[tuple[int, int], tuple[CodeType, tuple[str, ...]]] = {}


def check(how: str, x: Any) -> None:
    """Raise E0209 where code that does not say so takes the value of a tensor that is on a tape, or
    has a tangent. To be called by a method of the tensor's that Python or NumPy calls.
    """
    if not is_float(x.value) or not _on_tape(x):
        return
    frame: FrameType | None = _getframe(3)
    inside = ""
    while frame is not None and _root(frame) in ("numpy", "statistics"):
        inside = inside or _root(frame)
        if frame.f_globals.get("__name__", "").startswith("numpy.testing"):
            return
        frame = frame.f_back
    if frame is None or _root(frame) == "gradcli":
        return
    if how == "array":
        raise _of_array()
    names = called(frame)
    if inside:
        raise _of_number(names)
    if names in EXPLICIT:
        return
    if names == ("[]",):
        raise _of_item()
    function = _found(frame, names)
    if function is not None and _module(function) in NUMERIC and names[-1] not in WITHOUT:
        raise _of_number(names)


def check_list(items: Any, maker: str) -> None:
    """Raise E0209 if the nested list for a constant or variable has a tensor on a tape in it.

    A constant of a tensor alone stays on the tape, and a variable is a copy, as the explanation of
    a None says.
    """
    for item in items:
        if isinstance(item, (list, tuple)):
            check_list(item, maker)
        elif hasattr(item, "__gradcli_apply__") and is_float(item.value) and _on_tape(item):
            raise error("E0209", f"`{maker}` takes the value of a tensor out of a list, and a tape"
                        " that watches it would lose it",
                        help="make the list a tensor, gradcli.ops.stack([...]), or leave the tape"
                        " with .numpy()")


def _on_tape(x: Any) -> bool:
    record = records.current()
    if record.paused or not (record.tapes or record.accumulators):
        return False
    return (x.id in record.seen or any(x.id in a.tangents for a in record.accumulators)
            or (getattr(x, "trainable", False) and any(t.watch_accessed for t in record.tapes)))


def _root(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0]


def called(frame: FrameType) -> tuple[str, ...]:
    """Return the dotted name of the function that a frame is calling, such as ("math", "sin");
    ("[]",) where it assigns to an element; empty where the code has no such name.
    """
    key = id(frame.f_code), frame.f_lasti
    if key not in _callees:
        if len(_callees) > 1000:
            _callees.clear()
        _callees[key] = frame.f_code, _names(frame.f_code, frame.f_lasti)
    return _callees[key][1]


def _names(code: CodeType, last: int) -> tuple[str, ...]:
    from dis import get_instructions

    instructions = list(get_instructions(code))
    here = next((i for i in instructions if i.offset == last), None)
    if here is None or here.positions is None or here.positions.col_offset is None:
        return ()
    if here.opname == "STORE_SUBSCR":
        return ("[]",)
    at = here.positions
    names = [i for i in instructions if i.offset < last and i.opname.startswith("LOAD_")
             and isinstance(i.argval, str) and i.positions is not None
             and (i.positions.lineno, i.positions.col_offset) == (at.lineno, at.col_offset)]
    # A constant text at the same place is not a name, and each attribute reaches further.
    return tuple([i.argval for i in names if i.opname != "LOAD_CONST"])


def _found(frame: FrameType, names: tuple[str, ...]) -> Any:
    """Return the object of a dotted name; None where there is none."""
    if not names:
        return None
    for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if names[0] in scope:
            found = scope[names[0]]
            break
    else:
        return None
    for name in names[1:]:
        found = getattr(found, name, None)
    return found


def _module(function: Any) -> str:
    """Return the module of a function, or of the object whose method it is."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__module__", None) or type(owner).__module__
    return str(name).partition(".")[0]


def _of_array() -> GradcliError:
    return error("E0209", "NumPy takes the value of a tensor out of a list or into an array, and a"
                 " tape that watches it would lose it",
                 help="make the list a tensor, gradcli.ops.stack([...]), or leave the tape with"
                 " .numpy()")


def _of_item() -> GradcliError:
    return error("E0209", "an element of a NumPy array takes the value of a tensor, and a tape that"
                 " watches it would lose it",
                 help="collect the values in a list and make that a tensor,"
                 " gradcli.ops.stack(values), or leave the tape with .numpy()")


def _of_number(names: tuple[str, ...]) -> GradcliError:
    name = names[-1] if names else ""
    op = NAMES.get(RENAMED.get(name, name))
    return error("E0209", f"`{'.'.join(names) or 'this function'}` takes numbers, and a tape that"
                 " watches the tensor would lose it",
                 help=f"write gradcli.ops.{op.name}(...), or leave the tape with float(...)"
                 if op is not None and op.kind == ELEMENTWISE else
                 "leave the tape with float(...) if no derivative is needed")
