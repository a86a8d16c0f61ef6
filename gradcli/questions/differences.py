"""Derivatives of whole programs by differences: `--mode finite` and `--verify`."""

from __future__ import annotations

from functools import partial

from gradcli.base.errors import Diagnostic, GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.finite import NOISE, NOISE_32, best, difference, noise
from gradcli.explain.catalogue import Note
from gradcli.lang.running.run import parts, tensor_of
from gradcli.ops.values import dtype_of, is_complex, is_float, plain, shape_of, zeros
from gradcli.questions.plain_data import data, is_finite, whole
from gradcli.questions.question import seeds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question


def finite(question: Question, run: Run, target: Target, binding: Binding, *, summed: bool) -> Any:
    """Return difference quotients of the whole program in every element of one source.

    summed: of the weighted sum of the target's elements, else of each. None for an unwatched or
    integer source. What is in doubt is kept with the run. Raises E0212 for a name that is
    computed, E0836 for one that is assigned.
    """
    return _slopes(
        question, run, target, [binding], lambda x: _value_at(question, target, binding, x, summed))


def finite_hessian(question: Question, run: Run, target: Target, row: Binding,
                   column: Binding) -> Any:
    """Return differences of exact gradients: an independent check of the second order alone."""
    if not question.watched(run, row):
        return None

    def gradient_at(x: Any) -> Any:
        moved = question.run({column.name: x})
        with moved.record:
            again = question.same_target(moved, target)
            source = question.program.sources(moved, [row.name])[0]
            g = calculus.gradient(parts(again), [source.value])[0]
        return zeros(shape_of(row.value.value)) if g is None else g

    return _slopes(question, run, target, [row, column], gradient_at)


def _slopes(question: Question, run: Run, target: Target, bindings: Sequence[Binding],
            f: Callable[[Any], Any]) -> Any:
    """Return slopes in the last of the bindings."""
    binding = bindings[-1]
    if binding.kind == "computed":
        raise GradcliError(Diagnostic(
            "E0212", f"differences need a value that can be changed; `{binding.name}` is computed",
            span=binding.span, source=question.program.source,
            help="name a variable or an input with --wrt"))
    value = binding.value.value
    if not question.watched(run, binding) or not is_float(value):
        return None
    if binding.kind == "variable":
        _check_free(question, target, binding)
    with quiet():
        found, doubt = _slopes_at(value, f)
        here = f(value)
        if not is_finite(here):     # where there is no value there is no slope
            found = plain(found*np.where(np.isfinite(here), 1.0, np.nan).reshape(
                (*shape_of(here), *[1]*len(shape_of(value)))))
    if doubt:
        run.cache("rough")[target.name, *[b.name for b in bindings]] = doubt
    return found


def rough(question: Question, run: Run, target: Target, *bindings: Binding) -> list[Note]:
    """Return a note on differences that are in doubt."""
    doubt = run.cache("rough").get((target.name, *[b.name for b in bindings])) if (
        question.mode == "finite") else None
    return [Note("differences-rough", f"differences are not good enough there: {doubt}",
                 target.span)] if doubt else []


def _check_free(question: Question, target: Target, binding: Binding) -> None:
    """Raise E0836 for a variable that the file assigns before the target reads it."""
    run = question.run(explain=False)
    again = run.bindings[binding.name][0]
    if run.assigned(again):
        from gradcli.questions.states import check_free

        check_free(question, run, question.same_target(run, target), [again],
                   "a difference quotient")


def _slopes_at(value: Any, f: Callable[[Any], Any]) -> tuple[Any, str]:
    """Return differences in every element, and why they are in doubt."""
    shape = shape_of(value)
    rounding = NOISE_32 if dtype_of(value) == "float32" else NOISE
    if not shape:
        found = best(f, value, abs(float(value)))
        return found.value, found.doubt(rounding)
    columns, doubt = [], ""
    for k in np.ndindex(shape):
        def moved(x: float, k: tuple[int, ...] = k) -> Any:
            changed = np.array(value)
            changed[k] = x
            return f(changed)

        found = best(moved, float(value[k]), abs(float(value[k])))
        columns.append(np.asarray(found.value))
        doubt = doubt or found.doubt(rounding)
    if not columns:     # of an empty source, whose value still tells the shape
        return np.zeros(shape_of(f(value)) + shape), ""
    stacked = np.stack(columns, axis=-1)
    return stacked.reshape(stacked.shape[:-1] + shape), doubt


def _value_at(question: Question, target: Target, binding: Binding, x: Any, summed: bool) -> Any:
    run = question.run({binding.name: x})
    with run.record:
        again = question.same_target(run, target)
        if not summed:
            value = tensor_of(again).value
            return value if shape_of(value) or is_complex(value) else float(value)
        tensors = parts(again)
        weights = seeds_of(question, tensors) or [1.0] * len(tensors)
    total = 0.0
    for t, weight in zip(tensors, weights, strict=True):
        part = t.value * weight
        total += float(part.sum()) if shape_of(part) else part
    return total


def verify(question: Question, run: Run, target: Target, bindings: list[Binding],
           sources: list[Answer], field: str) -> None:
    """Add to each source that has a derivative what differences say of it."""
    largest = max([_largest(t.value) for t in parts(target)], default=0.0)
    for binding, source in zip(bindings, sources, strict=True):
        _compare(source, field, binding, largest, partial(
            finite, question, run, target, binding, summed=field == "gradient"))


def verify_blocks(question: Question, run: Run, target: Target, bindings: list[Binding],
                  blocks: list[Answer]) -> None:
    """Add to each block of a Hessian what differences of gradients say of it."""
    by_name = {b.name: b for b in bindings}
    for block in blocks:
        row, column = by_name[block["row"]], by_name[block["col"]]
        with quiet():
            g = calculus.gradient(parts(target), [question.source(run, row)])[0]
        _compare(block, "hessian", column, _largest(0.0 if g is None else g), partial(
            finite_hessian, question, run, target, row, column))


def _compare(part: Answer, field: str, binding: Binding, largest: float,
             differences: Callable[[], Any]) -> None:
    """Add to a part of an answer how it compares with differences. largest: among the numbers that
    are differentiated.
    """
    found = whole(part, field)
    if found is None or part["reasons"] or binding.kind == "computed":
        return
    try:
        check = differences()
    except GradcliError as problem:
        if problem.code in ("E0204", "E0836"):  # there is nothing to hold it against
            return
        raise
    floor = noise(largest, _largest(binding.value.value))
    part["verify"] = {"method": "finite", field: data(check),
                      "difference": difference(found, check, floor)}


def _largest(value: Any) -> float:
    """Return the largest magnitude among the elements of a value; 0 for what is no number."""
    if not is_float(value):
        return 0.0
    return abs(value) if type(value) is float else float(abs(value).max(initial=0.0))
