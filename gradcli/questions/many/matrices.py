"""Jacobians and Hessians as questions: recorded, they are one sweep in few directions, and how its
values make a matrix is found out once.
"""

from __future__ import annotations

from gradcli.engine import calculus
from gradcli.engine.compiled.trace import reached
from gradcli.engine.record import record as records
from gradcli.engine.record.record import IDS, OP
from gradcli.engine.sparse import sweeps
from gradcli.engine.sparse.recorded import Matrix
from gradcli.engine.sparse.triples import Triples, empty, everywhere
from gradcli.lang.running.run import tensor_of
from gradcli.ops.values import is_float, zeros
from gradcli.questions.many.asked import gradient, value_of_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.many.asked import Form, Question


def jacobian(sparse: bool) -> Question:
    """The Jacobian in each source, by name; as triples where it is sparse."""
    def question(target: Target, sources: Sequence[Binding], run: Run,
                 given: Sequence[str] | None) -> tuple[list[Any], Form]:
        emit = given is not None
        value = value_of_target(target, emit)
        y, xs = tensor_of(target), [run.source(s) for s in sources]
        names = [s.name for s in sources]
        smooth = [x.id is not None and is_float(x.value) for x in xs]
        wanted = [x for x, s in zip(xs, smooth, strict=True) if s]
        open = _open(run, given)
        if open is None or not (sparse or _compresses([y], wanted, open)):
            found = calculus.jacobian(y, xs, emit=emit, sparse=sparse and not emit)
            return [value, *found], lambda values: (values[0], {
                name: _triples(v, y, x) if sparse else v
                for name, v, x in zip(names, values[1:], xs, strict=True)})
        matrix = Matrix([y], wanted, sparse, open=open)

        def form(values: Sequence[Any]) -> Any:
            blocks = iter(matrix.blocks(values[1:])[0])
            return values[0], {name: next(blocks) if s else None
                               for name, s in zip(names, smooth, strict=True)}

        return [value, *matrix.tensors], form

    return question


def hessian(sparse: bool) -> Question:
    """The Hessian, by names of row and column; as triples where it is sparse."""
    def question(target: Target, sources: Sequence[Binding], run: Run,
                 given: Sequence[str] | None) -> tuple[list[Any], Form]:
        emit = given is not None
        value = value_of_target(target, emit)
        y, xs = tensor_of(target), [run.source(s) for s in sources]
        names = [s.name for s in sources]
        every = [(i, j) for i in range(len(xs)) for j in range(len(xs))]

        def recorded() -> tuple[list[Any], Form]:
            blocks = calculus.hessian(y, xs, emit=emit, sparse=sparse and not emit).blocks
            return [value, *[blocks[place] for place in every]], lambda values: (
                values[0], _named(names, {
                    (i, j): _triples(v, xs[i], xs[j]) if sparse else v
                    for (i, j), v in zip(every, values[1:], strict=True)}))

        if _open(run, given) is None:
            return recorded()
        constant = calculus.hessian(y, xs, sparse=True).constant
        gradients = calculus.gradient([y], xs, emit=True)
        rows = [i for i, g in enumerate(gradients) if g is not None]
        first, wanted = [gradients[i] for i in rows], [xs[i] for i in rows]
        open = _open(run, given)
        if open is None or not (sparse or _compresses(first, wanted, open)):
            return recorded()
        matrix = Matrix(first, wanted, sparse, symmetric=True, open=open)

        def form(values: Sequence[Any]) -> Any:
            found: dict[tuple[int, int], Any] = dict.fromkeys(every)
            for i, line in zip(rows, matrix.blocks(values[1:]), strict=True):
                found.update({(i, j): block for j, block in zip(rows, line, strict=True)})
            for i, j in constant:
                found[i, j] = empty(xs[i].shape, xs[j].shape) if sparse else zeros(
                    xs[i].shape + xs[j].shape)
            return values[0], _named(names, found)

        return [value, *matrix.tensors], form

    return question


# Where more derivatives than these can differ from 0, a dense answer is no less work.
MAX_PLACED = 1_000_000

QUESTIONS: Mapping[str, Callable[[bool], Question]] = {
    "gradient": lambda sparse: gradient, "jacobian": jacobian, "hessian": hessian}


def _open(run: Run, given: Sequence[str] | None) -> Collection[int | None] | None:
    """Ids of values that are others at another point, on a record whose structure holds there; None
    where it does not, since places are taken from an index that varies, or where none is needed.
    """
    entries = records.current().history()
    if given is None or entries.scalar:
        return None
    open = reached(entries, [run.bindings[n][0].value.id for n in given if n in run.bindings])
    return None if any(
        i in open and not e[OP].elementwise and e[OP].role(k) == "index"
        for e in entries for k, i in enumerate(e[IDS])) else open


def _compresses(targets: Sequence[Tensor], sources: Sequence[Tensor],
                open: Collection[int | None]) -> bool:
    """Whether so few derivatives can differ from 0 that they may be placed one by one."""
    return sweeps.nonzeros(records.current().history(), sweeps.Side(targets),
                           sweeps.Side(sources), open) <= MAX_PLACED


def _named(names: Sequence[str], blocks: Mapping[tuple[int, int], Any]) -> dict[str, Any]:
    return {row: {column: blocks[i, j] for j, column in enumerate(names)}
            for i, row in enumerate(names)}


def _triples(value: Any, target: Tensor, source: Tensor) -> Triples | None:
    return value if value is None or isinstance(value, Triples) else everywhere(
        value, target.shape, source.shape)
