"""One question asked at many points, one after the other.

The first points are asked through the program. Then the way that a point takes is recorded, with
everything that decided it, and run at the points that follow: over numbers as generated Python
statements (`gradcli.engine.compiled.python`), over arrays as NumPy calls on arrays that are laid
out
once (`gradcli.engine.compiled.single`). A point that takes another way has that recorded, too. What
does
not hold at other points (tapes of the file, custom gradients, assignments, `np.`), an edge where
Python's arithmetic raises, and a derivative that is NaN, where zeros may absorb, are asked through
the program: so answers, errors and None are the same at every point.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.engine.compiled.trace import Doubtful, Elsewhere, Unrecorded
from gradcli.lang.running.program import doubted, names_of, plain_value
from gradcli.lang.running.run import own, plain_structure
from gradcli.ops.kinds import EDGE
from gradcli.ops.values import shape_of
from gradcli.questions.ask import Ask
from gradcli.questions.many.ways import way
from gradcli.questions.named import NAMED, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.lang.running.program import Program
    from gradcli.questions.many.ways import Way

# Points that are asked before a way is recorded. Over numbers that costs as much as 20 (a short
# formula) to 100 questions (1,000 operations in lines: 50 against 0.4 ms), over arrays as 2 to 4.
PATIENCE = 20
PATIENCE_OF_ARRAYS = 2
# After so many ways, points that take none of them are asked: each has one of its own, it seems.
MAX_WAYS = 16
# The same for sets of names, shapes, truth values and texts that points give.
MAX_KNOWN = 64


class Known:
    """What is known of points that give the same names in the same shapes.

    ways: the last taken first. left: points to ask before the next way is recorded; None: always.
    """

    __slots__ = ("left", "patience", "ways")

    def __init__(self, patience: int) -> None:
        self.ways: list[Way] = []
        self.patience = patience
        self.left: int | None = patience


class Prepared:
    """A question of a program, to be asked at many points. Not for two threads at a time."""

    __slots__ = ("_known", "_question", "_what")

    def __init__(self, program: Program, of: str | None, wrt: Any, what: str,
                 sparse: bool = False) -> None:
        if what not in NAMED:
            raise error("E0208", f"`{what}` cannot be prepared",
                        help=f"{' or '.join(NAMED)} can")
        self._question = Ask(
            program, of=[of] if of else (), wrt=names_of(wrt), sparse=sparse, noted=False)
        self._what = what
        self._known: dict[Any, Known] = {}

    def __call__(self, at: Mapping[str, Any] | None = None) -> Any:
        """The value of the target and its derivatives by name, as `Program.value` and
        `Program.gradient` (`jacobian`, `hessian`) give them; arrays belong to the caller.

        Raises what these raise.
        """
        at = {} if at is None else at
        if not hasattr(at, "items"):
            return self._asked(at)
        key, names, values = _given(at)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                return self._asked(at)
            known = self._known[key] = Known(
                PATIENCE if all(type(v) is float for v in values) else PATIENCE_OF_ARRAYS)
        ways = known.ways
        for k in range(len(ways)):
            try:
                answer = ways[k].run(values)
            except Elsewhere:
                continue
            except (Doubtful, GradcliError, IndexError, *EDGE):
                return self._asked(at)
            if k:
                ways.insert(0, ways.pop(k))
            return answer
        answer = self._asked(at)
        if known.left is not None:
            known.left -= 1
            if not known.left:
                self._learn(known, at, names)
        return answer

    def _asked(self, at: Mapping[str, Any]) -> Any:
        """The answer of the program itself."""
        question = self._question
        run = question.program.run(at)
        with run.record:
            target = question.program.targets(run, question.of)[0]
            value = own(plain_structure(target.tensor))
            found, form = named(question, self._what, run, target)
        doubted(run)
        return value, form(found)

    def _learn(self, known: Known, at: Mapping[str, Any], names: list[str]) -> None:
        known.left = None
        try:
            known.ways.insert(0, way(self._question, self._what, at, names))
        except (Unrecorded, Elsewhere, GradcliError, IndexError, *EDGE):
            return
        if len(known.ways) < MAX_WAYS:
            known.left = known.patience


def _given(at: Mapping[str, Any]) -> tuple[Any, list[str], list[Any]]:
    """What points must have in common, the names of what varies, and its values: floats and
    arrays of floats.
    """
    key: list[Any] = []
    names: list[str] = []
    values: list[Any] = []
    for name, value in at.items():
        if type(value) is not float:
            if getattr(getattr(value, "dtype", None), "char", "") != "d" or not value.ndim:
                value = plain_value(name, value)
            if type(value) is not float:
                if getattr(value, "dtype", None) is None or value.dtype.char != "d":
                    key.append((name, repr(value) if isinstance(value, (bool, str))
                                else value.tobytes(), shape_of(value)))
                    continue
                key.append((name, value.shape))
                names.append(name)
                values.append(value)
                continue
        key.append(name)
        names.append(name)
        values.append(value)
    return tuple(key), names, values
