"""What curves and fields are drawn from: a program at many points, by the executor of points."""

from __future__ import annotations

from gradcli.answers.ask import Ask
from gradcli.errors import GradcliError, error
from gradcli.lang.targets import Target, tensor_of
from gradcli.ops.lazy import np
from gradcli.points.compute import Points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.errors import Diagnostic


class Values:
    """A question at many points.

    ask: the question; its `wrt` are the sources. names: of the inputs that vary. targets: what is
    asked for. missing: (target, number of the derivative from 1) that have no path.
    points: where the program is looked at, one after the other until one works.
    problem: what went wrong at the first of the points that could not be answered, which are NaN;
    None where all could.
    """

    __slots__ = ("_points", "ask", "missing", "names", "problem", "targets")

    def __init__(self, ask: Ask, command: str, names: Sequence[str],
                 points: Sequence[Sequence[float]]) -> None:
        self.ask = ask
        self.names = list(names)
        self._points = Points(ask, command, names)
        self.missing: set[tuple[int, int]] = set()
        self.problem: Diagnostic | None = None
        self.targets: list[Target] = []
        for k, point in enumerate(points):
            try:
                self._look(dict(zip(names, point, strict=True)))
                break
            except GradcliError as problem:     # a program may refuse some points
                if not problem.code.startswith("E04") or k == len(points) - 1:
                    raise

    def _look(self, point: dict[str, float]) -> None:
        """Find the targets in a run at one point. Raises E0813 for what is no scalar number."""
        ask = self.ask
        at = dict(ask.at)
        for name in self.names:
            if name in at:
                raise error("E0813", f"`{name}` has a range in --over and a value in --at",
                            help="give one of them")
        ask.at = {**at, **point}
        try:
            run = ask.run(explain=False)
            with run.record:
                for name in self.names:
                    shape = run.bindings[name][0].value.shape if name in run.bindings else ()
                    if shape:
                        raise error("E0813", f"`{name}` has shape {list(shape)}, and an axis has"
                                    " room for a number", help="give --over a scalar input")
                self.targets = ask.program.targets(run, ask.of)
                ask.program.sources(run, ask.wrt)
                for target in self.targets:
                    self._check(target)
        finally:
            ask.at = at

    def _check(self, target: Target) -> None:
        whole = target.tensor if isinstance(target.tensor, list) and "," in target.name else [
            target.tensor]
        for item in whole:
            shape = tensor_of(Target(target.name, item, target.span, target.source)).shape
            if shape:
                raise error("E0813", f"`{target.name}` has shape {list(shape)}, and a curve needs a"
                            " number", help="plot one element or the sum: bind it to a name and"
                            " give --of")

    def __call__(self, *columns: Any) -> Any:
        """[targets, 1 + number of sources, points]: each target and its derivatives, NaN where
        there is none.
        """
        count, n = 1 + len(self.ask.wrt), len(columns[0])
        answers = self._points.answers(columns)
        if answers.failed and self.problem is None:
            self.problem = answers.failed[min(answers.failed)]
        found = np.full((len(self.targets), count, n), np.nan)
        if not answers.arrays:
            return found
        if any(array.dtype.kind == "c" for array in answers.arrays):
            raise error("E0813", "a complex number has no place on the axis",
                        help="plot its abs, real or imag")
        arrays = iter(zip(answers.arrays, answers.missing, strict=True))
        for i, target in enumerate(self.targets):
            found[i, 0] = sum([next(arrays)[0] for _ in target.name.split(",")])
            for k in range(1, count):
                values, missing = next(arrays)
                found[i, k] = values
                if missing is not None and missing.all():
                    self.missing.add((i, k))
        if answers.failed:
            found[..., list(answers.failed)] = np.nan
        return found


def first_problem(values: Values) -> GradcliError:
    """What is wrong where nothing could be drawn at all."""
    if values.problem is not None:
        return GradcliError(values.problem)
    names = ", ".join([f"`{t.name}`" for t in values.targets])
    return error("E0814", f"{names} has no finite value in this range",
                 help="give --over a range where it is defined")
