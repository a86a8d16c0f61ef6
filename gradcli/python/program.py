"""The program as Python code has it: parsed once, run at any point, asked for derivatives.

    >>> p = gradcli.loads("x^2*sin(y)")
    >>> p.gradient(at={"x": 1.5, "y": 0.5})
    {'x': 1.438..., 'y': 1.974...}
"""

from __future__ import annotations

from gradcli.base.errors import Source, read
from gradcli.lang.running import program
from gradcli.lang.running.calls import MissingGradients, own, plain_structure
from gradcli.lang.running.program import doubted, names_of
from gradcli.questions.named import named
from gradcli.questions.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.lang.running.run import Run
    from gradcli.questions.many.prepared import Prepared


# Those that an explanation of an error of `Program.run` takes as well.
OPTIONS = ("max_steps", "max_bytes", "tf")


class Program(program.Program):
    """A parsed expression file. Shapes: a scalar is a float, anything else a NumPy array.

    Every question raises `GradcliError` with `.code`, `.span` and `.help` for bad input.
    """

    def run(self, at: Mapping[str, Any] | None = None, **options: Any) -> Run:
        """Run the program as `gradcli.lang.running.program.Program.run` does; an error about a
        gradient that is None tells why it is.
        """
        try:
            return super().run(at, **options)
        except MissingGradients as problem:
            from gradcli.explain.missing.file import complete

            complete(problem, self, at or {}, **{k: options[k] for k in OPTIONS if k in options})
            raise

    def value(self, of: str | None = None, at: Mapping[str, Any] | None = None) -> Any:
        """Return the value of a target: a float, int, bool, str or array."""
        run = self.run(at)
        with run.record:
            target = self.targets(run, [of] if of else (), derived=False)[0]
            return own(plain_structure(target.tensor))

    def gradient(self, of: str | None = None, wrt: str | Sequence[str] | None = None,
                 at: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the gradient in each source by name, in the source's shape; None where no path
        joins them.

        Of a target with several elements it is the gradient of their sum.
        """
        return self._ask("gradient", of, wrt, at)

    def jacobian(self, of: str | None = None, wrt: str | Sequence[str] | None = None,
                 at: Mapping[str, Any] | None = None, *, sparse: bool = False) -> dict[str, Any]:
        """Return the Jacobian in each source by name; None where no path joins them.

        Its shape is the target's followed by the source's. sparse: triples in place of arrays
        (`gradcli.engine.sparse.triples`).
        """
        return self._ask("jacobian", of, wrt, at, sparse)

    def hessian(self, of: str | None = None, wrt: str | Sequence[str] | None = None,
                at: Mapping[str, Any] | None = None, *, sparse: bool = False
                ) -> dict[str, dict[str, Any]]:
        """Return the blocks of the Hessian by row name and column name; None where no path joins
        them.

        The shape of a block is that of the row followed by that of the column. sparse: triples in
        place of arrays.
        """
        return self._ask("hessian", of, wrt, at, sparse)

    def prepare(self, of: str | None = None, wrt: str | Sequence[str] | None = None, *,
                what: str = "gradient", sparse: bool = False) -> Prepared:
        """Return a function that answers the same question at many points: called with values by
        name, it gives the value of the target and its derivatives.

        what: "gradient", "jacobian" or "hessian". sparse: matrices as triples
        (`gradcli.engine.sparse.triples`).
        """
        from gradcli.questions.many.prepared import Prepared

        return Prepared(self, of, wrt, what, sparse)

    def _ask(self, what: str, of: str | None, wrt: str | Sequence[str] | None,
             at: Mapping[str, Any] | None, sparse: bool = False) -> dict[str, Any]:
        question = Question(
            self, of=[of] if of else (), wrt=names_of(wrt), sparse=sparse, as_data=False)
        run = self.run(at)
        with run.record:
            found, form = named(question, what, run, self.targets(run, question.of)[0])
        doubted(run)
        answers: dict[str, Any] = form(found)
        return answers


def load(path: str) -> Program:
    """Return the program in a file. Raises `GradcliError` (E06xx, E01xx)."""
    return Program(read(str(path)))


def loads(text: str, name: str = "<text>") -> Program:
    """Return the program in a text."""
    return Program(Source(text, name))
