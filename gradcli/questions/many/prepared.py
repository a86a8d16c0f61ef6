"""One question asked at many points, one after the other.

The first points are asked through the program. Then the path that a point takes is traced and run
at the points that follow: over numbers as generated Python statements
(`gradcli.engine.compiled.python`), over arrays as NumPy calls on arrays that are laid out once
(`gradcli.engine.compiled.single`). A point that takes another path has that traced, too. What does
not hold at other points, an edge where Python's arithmetic raises, and a derivative that is NaN,
where zeros may absorb, are asked through the program: so answers, errors and None are the same at
every point.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.engine.compiled.trace import Doubtful, Elsewhere, Unrecorded
from gradcli.engine.record.tensor import Tensor
from gradcli.lang.running.calls import as_tensor, is_number, own, plain_structure
from gradcli.lang.running.program import doubted, names_of, plain_value
from gradcli.ops.kinds import EDGE
from gradcli.ops.values import shape_of
from gradcli.questions.many.trace import trace
from gradcli.questions.named import NAMED, named
from gradcli.questions.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.compiled.trace import Trace
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Run, Target
    from gradcli.questions.named import Form

    # From the values of the inputs that are read to those of the answers.
    Function = Callable[[Sequence[Any]], Sequence[Any]]

# Points that are asked before a path is traced. Over numbers that costs as much as 20 (a short
# formula) to 100 questions (1,000 operations in lines: 50 against 0.4 ms), over arrays as 2 to 4.
PATIENCE = 20
PATIENCE_OF_ARRAYS = 2
# After so many paths, points that take none of them are asked: each has one of its own, it seems.
MAX_PATHS = 16
NUMBERS = {float}
# The same for sets of names, shapes, truth values and texts that points give.
MAX_KNOWN = 64


class KnownPaths:
    """The paths found so far at points that give the same names in the same shapes.

    paths: the last taken first, each as a function of the values that a point gives, which raises
    Elsewhere where another path leads through it. left: points to ask before the next path is
    traced; None: always.
    """

    __slots__ = ("left", "paths", "patience")

    def __init__(self, patience: int) -> None:
        self.paths: list[Callable[[Sequence[Any]], Any]] = []
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
        self._question = Question(
            program, of=[of] if of else (), wrt=names_of(wrt), sparse=sparse, as_data=False)
        self._what = what
        self._known: dict[Any, KnownPaths] = {}

    def __call__(self, at: Mapping[str, Any] | None = None) -> Any:
        """Return the value of the target and its derivatives by name, as `Program.value` and
        `Program.gradient` (`jacobian`, `hessian`) give them; arrays belong to the caller.

        Raises what these raise.
        """
        at = {} if at is None else at
        if type(at) is dict and set(map(type, at.values())) == NUMBERS:
            key: Any = tuple(at)
            names, values = key, [*at.values()]
        elif not hasattr(at, "items"):
            return self._asked(at)
        else:
            key, names, values = _given(at)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                return self._asked(at)
            known = self._known[key] = KnownPaths(
                PATIENCE if all(type(v) is float for v in values) else PATIENCE_OF_ARRAYS)
        paths = known.paths
        for path in paths:
            try:
                answer = path(values)
            except Elsewhere:
                continue
            except (Doubtful, GradcliError, IndexError, *EDGE):
                return self._asked(at)
            if path is not paths[0]:
                paths.remove(path)
                paths.insert(0, path)
            return answer
        answer = self._asked(at)
        if known.left is not None:
            known.left -= 1
            if not known.left:
                self._learn(known, at, names)
        return answer

    def _asked(self, at: Mapping[str, Any]) -> Any:
        """Return the answer of the program itself."""
        question = self._question
        run = question.program.run(at)
        with run.record:
            target = question.program.targets(run, question.of)[0]
            value = own(plain_structure(target.tensor))
            found, form = named(question, self._what, run, target)
        doubted(run)
        return value, form(found)

    def _learn(self, known: KnownPaths, at: Mapping[str, Any], names: Sequence[str]) -> None:
        known.left = None
        try:
            known.paths.insert(0, _traced(self._question, self._what, at, names))
        except (Unrecorded, Elsewhere, GradcliError, IndexError, *EDGE):
            return
        if len(known.paths) < MAX_PATHS:
            known.left = known.patience


def _traced(question: Question, what: str, at: Mapping[str, Any], names: Sequence[str]
            ) -> Callable[[Sequence[Any]], Any]:
    """Trace a question at a point. names: of what varies, in the order of the values that the
    result takes.
    """
    def asked(run: Run) -> tuple[list[Any], list[Any], tuple[Form, list[bool]]]:
        target = question.program.targets(run, question.of)[0]
        value = _value(target)
        found, form = named(question, what, run, target, names)
        return [value], found, (form, [name in run.bindings for name in names])

    found, (form, read) = trace(question, at, names, asked)
    run: Function

    def answer(values: Sequence[Any]) -> Any:
        found = run(values)
        return found[0], form(found[1:])

    def use(faster: Function) -> None:
        nonlocal run
        run = faster

    run = _function(found, read, use)
    return answer


def _value(target: Target) -> Any:
    """Return a target as one tensor. Raises Unrecorded for a structure."""
    value = target.tensor
    if isinstance(value, list) and value and all(is_number(item) for item in value):
        return as_tensor(value)
    if isinstance(value, (list, dict)):
        raise Unrecorded
    return value.read() if isinstance(value, Tensor) else plain_structure(value)


def _function(found: Trace, read: Sequence[bool], use: Callable[[Function], None]) -> Function:
    """Return what runs a trace. read: which of the values that a point gives are read at all. use:
    takes what runs it faster, when that is there.
    """
    from gradcli.engine.compiled.python import is_scalar, written

    def reading(function: Function) -> Function:
        if all(read):
            return function
        return lambda values: function([v for v, r in zip(values, read, strict=True) if r])

    if is_scalar(found):
        from gradcli.engine.compiled.jit import patient

        return reading(patient(*written(found), lambda faster: use(reading(faster))))
    from gradcli.engine.compiled.single import Replay

    replay = Replay(found)
    return reading(lambda values: replay.run(*values))


def _given(at: Mapping[str, Any]) -> tuple[Any, list[str], list[Any]]:
    """Return what points must have in common, the names of what varies, and its values: floats and
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
