"""The answers at a batch of points, each by the way that it takes through the program."""

from __future__ import annotations

from gradcli.answers.ask import Ask
from gradcli.errors import Diagnostic, GradcliError
from gradcli.execute.blocks import BLOCK
from gradcli.ops.lazy import np
from gradcli.points.paths import MAX_PATHS, Path, recorded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Points:
    """A question asked at many points.

    names: of the columns that are inputs. titles: of the answers, in order. A batch is given as one
    array for each name, with the points along the first axis.
    """

    __slots__ = ("ask", "names", "paths", "size", "titles")

    def __init__(self, ask: Ask, names: Sequence[str], size: int = BLOCK) -> None:
        self.ask = ask
        self.names = list(names)
        self.size = size
        self.paths: list[Path] = []
        self.titles: list[str] = []

    def answers(self, columns: Sequence[Any]) -> tuple[list[Any], dict[int, Diagnostic]]:
        """One array for each title, NaN where there is no gradient, and the rows that failed."""
        n = len(columns[0])
        found: list[Any] = []
        failed: dict[int, Diagnostic] = {}
        pending = np.arange(n)
        for path in self.paths:
            pending = self._along(path, columns, pending, found, n)
        while len(pending) and len(self.paths) < MAX_PATHS:
            row = int(pending[0])
            try:
                path = recorded(self.ask, self.names, self._point(columns, row), self.size)
            except GradcliError as problem:
                failed[row] = problem.diagnostics[0]
                pending = pending[1:]
                continue
            self.paths.append(path)
            pending = self._along(path, columns, pending, found, n)
        return found, failed

    def _point(self, columns: Sequence[Any], row: int) -> dict[str, Any]:
        return {name: float(c[row]) if c.ndim == 1 else c[row]
                for name, c in zip(self.names, columns, strict=True)}

    def _along(self, path: Path, columns: Sequence[Any], pending: Any, found: list[Any], n: int
               ) -> Any:
        """Answer the pending points that go one way; those that are left."""
        if not len(pending):
            return pending
        everyone = len(pending) == n
        given = columns if everyone else [c[pending] for c in columns]
        takes = path.takes(given)
        if not takes.any():
            return pending
        whole = bool(takes.all())
        answers = path.answers.run(given if whole else [c[takes] for c in given])
        if not found:
            found.extend(np.full((n, *a.shape[1:]), np.nan, a.dtype) for a in answers)
        rows = pending if whole else pending[takes]
        for into, values in zip(found, answers, strict=True):
            into[rows] = values
        return pending[:0] if whole else pending[~takes]
