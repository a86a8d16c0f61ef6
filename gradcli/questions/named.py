"""Derivatives of a target by the names of its sources: what is asked for to tensors and the form
that their values are given in.

For one point the tensors are the answers. Recorded, to be run at other points, matrices are one
sweep in few directions, and how its values make a matrix is found out once.
"""

from __future__ import annotations

from gradcli.engine import calculus
from gradcli.lang.running.run import tensor_of
from gradcli.ops.values import is_float, zeros
from gradcli.questions.derivatives import gradients, hessian, jacobians

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.question import Question

    # What the values that were found are given as.
    Form = Callable[[Sequence[Any]], Any]


def named(question: Question, what: str, run: Run, target: Target,
          varies: Sequence[str] | None = None) -> tuple[list[Any], Form]:
    """Return derivatives as tensors, plain values or None, and the form of their values; within
    `run.record`.

    what: "gradient", "jacobian" or "hessian". varies: names of what is another value at other
    points, for which the answer is recorded then. Raises Unrecorded where that cannot be.
    """
    return NAMED[what](question, run, target, question.program.sources(run, question.wrt), varies)


def _gradient(question: Question, run: Run, target: Target, sources: list[Binding],
              varies: Sequence[str] | None) -> tuple[list[Any], Form]:
    return gradients(question, run, target, sources, varies is not None), _by_source(sources)


def _jacobian(question: Question, run: Run, target: Target, sources: list[Binding],
              varies: Sequence[str] | None) -> tuple[list[Any], Form]:
    if varies is None:
        return jacobians(question, run, target, sources), _by_source(sources)
    from gradcli.engine.sparse.recorded import Matrix

    y, xs = tensor_of(target), [question.source(run, s) for s in sources]
    smooth = [x.id is not None and is_float(x.value) for x in xs]
    wanted = [x for x, s in zip(xs, smooth, strict=True) if s]
    varying = _varying(run, varies)
    if varying is None or not (question.sparse or _compresses([y], wanted, varying)):
        found, by_source = jacobians(question, run, target, sources, emit=True), _by_source(sources)
        return found, by_source if not question.sparse else lambda values: by_source(
            [_triples(v, y, x) for v, x in zip(values, xs, strict=True)])
    matrix = Matrix([y], wanted, question.sparse, varying=varying)

    def form(values: Sequence[Any]) -> Any:
        blocks = iter(matrix.blocks(values)[0])
        return _by_source(sources)([next(blocks) if s else None for s in smooth])

    return matrix.tensors, form


def _hessian(question: Question, run: Run, target: Target, sources: list[Binding],
             varies: Sequence[str] | None) -> tuple[list[Any], Form]:
    if varies is None:
        blocks = hessian(question, run, target, sources).blocks
        return [*blocks.values()], lambda values: _by_pair(
            sources, dict(zip(blocks, values, strict=True)))
    every = [(i, j) for i in range(len(sources)) for j in range(len(sources))]
    xs = [question.source(run, s) for s in sources]

    def recorded() -> tuple[list[Any], Form]:
        blocks = hessian(question, run, target, sources, emit=True).blocks
        return [blocks[place] for place in every], lambda values: _by_pair(sources, {
            (i, j): _triples(v, xs[i], xs[j]) if question.sparse else v
            for (i, j), v in zip(every, values, strict=True)})

    if _varying(run, varies) is None:
        return recorded()
    from gradcli.engine.sparse.recorded import Matrix
    from gradcli.engine.sparse.triples import empty

    y = tensor_of(target)
    constant = calculus.hessian(y, xs, sparse=True).constant
    first = calculus.gradient([y], xs, emit=True)
    rows = [i for i, g in enumerate(first) if g is not None]
    slopes, wanted = [first[i] for i in rows], [xs[i] for i in rows]
    varying = _varying(run, varies)
    if varying is None or not (question.sparse or _compresses(slopes, wanted, varying)):
        return recorded()
    matrix = Matrix(slopes, wanted, question.sparse, symmetric=True, varying=varying)

    def form(values: Sequence[Any]) -> Any:
        found: dict[tuple[int, int], Any] = dict.fromkeys(every)
        for i, line in zip(rows, matrix.blocks(values), strict=True):
            found.update({(i, j): block for j, block in zip(rows, line, strict=True)})
        for i, j in constant:
            found[i, j] = empty(xs[i].shape, xs[j].shape) if question.sparse else zeros(
                xs[i].shape + xs[j].shape)
        return _by_pair(sources, found)

    return matrix.tensors, form


NAMED: Mapping[str, Callable[..., tuple[list[Any], Form]]] = {
    "gradient": _gradient, "jacobian": _jacobian, "hessian": _hessian}


def _by_source(sources: Sequence[Binding]) -> Form:
    names = [s.name for s in sources]
    if len(names) == 1:
        (name,) = names
        return lambda values: {name: values[0]}     # a quarter of the time
    return lambda values: dict(zip(names, values, strict=True))


def _by_pair(sources: Sequence[Binding], blocks: Mapping[tuple[int, int], Any]
             ) -> dict[str, dict[str, Any]]:
    return {row.name: {column.name: blocks[i, j] for j, column in enumerate(sources)}
            for i, row in enumerate(sources)}


# Where more derivatives than these can differ from 0, a dense answer is no less work.
MAX_PLACED = 1_000_000


def _varying(run: Run, varies: Sequence[str]) -> Collection[int | None] | None:
    """Return the ids of values that vary with the point, on a record whose structure holds at other
    points; None where it does not, since an index varies, or where none is needed.
    """
    from gradcli.engine.record.record import IDS, OP, descendants

    entries = run.record.history()
    if entries.scalar:
        return None
    varying = descendants(
        entries, [run.bindings[n][0].value.id for n in varies if n in run.bindings])
    return None if any(
        i in varying and not e[OP].elementwise and e[OP].role(k) == "index"
        for e in entries for k, i in enumerate(e[IDS])) else varying


def _compresses(targets: Sequence[Tensor], sources: Sequence[Tensor],
                varying: Collection[int | None]) -> bool:
    """Return whether so few derivatives can differ from 0 that they may be placed one by one."""
    from gradcli.engine.record import record as records
    from gradcli.engine.sparse import sweeps

    return sweeps.nonzeros(records.current().history(), sweeps.Flattened(targets),
                           sweeps.Flattened(sources), varying) <= MAX_PLACED


def _triples(value: Any, target: Tensor, source: Tensor) -> Any:
    if value is None or hasattr(value, "coordinates"):
        return value
    from gradcli.engine.sparse.triples import everywhere

    return everywhere(value, target.shape, source.shape)
