"""A program as Python code has it: parsed once, run at any point, asked for derivatives.

    >>> p = gradcli.loads("x^2*sin(y)")
    >>> p.gradient(at={"x": 1.5, "y": 0.5})
    {'x': 1.438..., 'y': 1.974...}
"""

from __future__ import annotations

from gradcli.base.errors import Source, read
from gradcli.engine import calculus
from gradcli.lang.running import program
from gradcli.lang.running.calls import MissingGradients
from gradcli.lang.running.program import doubted, names_of
from gradcli.lang.running.run import own, parts, plain_structure, tensor_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.lang.running.run import Run, Target
    from gradcli.questions.many.prepared import Prepared


class Program(program.Program):
    """A parsed expression file. Shapes: a scalar is a float, anything else a NumPy array.

    Every question raises `GradcliError` with `.code`, `.span` and `.help` for bad input.
    """

    def run(self, at: Mapping[str, Any] | None = None, **options: Any) -> Run:
        """Run as `gradcli.lang.running.program.Program.run` does; an error about a gradient that is
        None tells why it is.
        """
        try:
            return super().run(at, **options)
        except MissingGradients as problem:
            from gradcli.explain.missing.file import complete

            complete(problem, self, at or {})
            raise

    def value(self, of: str | None = None, at: Mapping[str, Any] | None = None) -> Any:
        """The value of a target: a float, int, bool, str or array."""
        run = self.run(at)
        with run.record:
            target = self.targets(run, [of] if of else (), derived=False)[0]
            return own(plain_structure(target.tensor))

    def gradient(self, of: str | None = None, wrt: str | Sequence[str] | None = None,
                 at: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Name of a source to the gradient of the sum of the target, in the source's shape; None
        where no path joins them.
        """
        return self._ask(of, wrt, at, lambda t, s: calculus.gradient(parts(t), s))

    def jacobian(self, of: str | None = None, wrt: str | Sequence[str] | None = None,
                 at: Mapping[str, Any] | None = None, *, sparse: bool = False) -> dict[str, Any]:
        """Name of a source to an array of target shape + source shape, or None. sparse: triples in
        place of arrays (`gradcli.engine.sparse.triples`).
        """
        return self._ask(of, wrt, at, lambda t, s: calculus.jacobian(
            tensor_of(t), s, sparse=sparse))

    def hessian(self, of: str | None = None, wrt: str | Sequence[str] | None = None,
                at: Mapping[str, Any] | None = None, *, sparse: bool = False
                ) -> dict[str, dict[str, Any]]:
        """Row name to column name to a block of row shape + column shape, or None. sparse: triples
        in place of arrays.
        """
        run = self.run(at)
        with run.record:
            target = self.targets(run, [of] if of else ())[0]
            sources = self.sources(run, names_of(wrt))
            blocks = calculus.hessian(
                tensor_of(target), [run.source(s) for s in sources], sparse=sparse).blocks
        doubted(run)
        return {
            row.name: {column.name: blocks[i, j] for j, column in enumerate(sources)}
            for i, row in enumerate(sources)}

    def prepare(self, of: str | None = None, wrt: str | Sequence[str] | None = None, *,
                what: str = "gradient", sparse: bool = False) -> Prepared:
        """The same question for many points: called with values by name, it gives the value of the
        target and its derivatives. what: "gradient", "jacobian" or "hessian". sparse: matrices as
        triples (`gradcli.engine.sparse.triples`).
        """
        from gradcli.questions.many.prepared import Prepared

        return Prepared(self, of, wrt, what, sparse)

    def _ask(self, of: str | None, wrt: str | Sequence[str] | None, at: Mapping[str, Any] | None,
             question: Callable[[Target, list[Tensor]], list[Any]]) -> dict[str, Any]:
        run = self.run(at)
        with run.record:
            target = self.targets(run, [of] if of else ())[0]
            sources = self.sources(run, names_of(wrt))
            answers = question(target, [run.source(s) for s in sources])
        doubted(run)
        return {s.name: g for s, g in zip(sources, answers, strict=True)}


def load(path: str) -> Program:
    """The program in a file. Raises `GradcliError` (E06xx, E01xx)."""
    return Program(read(str(path)))


def loads(text: str, name: str = "<text>") -> Program:
    """The program in a text."""
    return Program(Source(text, name))
