"""Notes on a gradient, as data; explanations are loaded only where one is due."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine import calculus
from gradcli.engine.record.operators import COMPARISONS
from gradcli.engine.record.record import ANS, IDS, OP, OUT, VALUES
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.sweeps.extremes import extreme
from gradcli.lang.running.run import Target, parts
from gradcli.ops.values import is_complex, is_float
from gradcli.questions import digits
from gradcli.questions.plain_data import data, is_finite, is_zero
from gradcli.questions.question import note, seeds_of, tensors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.record.tensor import Tensor
    from gradcli.explain.catalogue import Note
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.run import Binding, Run, Target
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

    Of = Callable[[Question, Run, Target, list[int], str], Any]

# Longer runs are not made again beside the point.
MOST_STEPS = 20_000


def of_gradient(question: Question, run: Run, target: Target, binding: Binding, g: Any, field: str,
                trials: Trials | None = None) -> list[Answer]:
    """Return what has to be said of a derivative that exists: conventions at kinks, a name that was
    bound again. trials: what tries rewrites for it, where it is not asked for by names.
    """
    values = all(is_finite(t.value) for t in tensors_of(target))
    if question.mode == "finite" and values:
        from gradcli.questions.differences import rough

        # Where differences have no number, no operation on the way need be to blame.
        unsure = rough(question, run, target, binding)
        if unsure:
            return [note(question, n) for n in unsure]
    plain, whole, other = (run, target, binding), _whole(question, run, target, binding), None
    if whole is not None:
        with whole[0].record:   # with what it absorbs
            (other,) = calculus.gradient(parts(whole[1]), [whole[2].value])

    def told(explain: Callable[..., list[Note]]) -> list[Note]:
        def there(at: tuple[Run, Target, Binding]) -> list[Note]:
            with at[0].record:
                return explain(*at)

        return worded(there, plain, whole)

    found: list[Any] = told(lambda run, target, binding: digits.of_derivative(
        question, run, target, binding, g, field))
    said = left_out(question, run, target, [binding])
    if found and values and not is_finite(g):
        return said + [note(question, n) for n in found]
    if run.record.absorbed or not is_finite(g) or not values:
        # Where there is no value, its explanation knows what is around the point.
        found = found if values else []
        from gradcli.questions import retrying

        tried = trials or retrying.of_derivative(question, run, target, binding.name, field)
        found += told(lambda run, target, binding: _explained(
            question, run, target, binding, field, retrying.not_finite).why(
                binding.value.id, g, tried))
    if is_zero(g) and other is not None and not is_zero(other) and question.mode != "finite":
        # A constant on the way is 0 or infinite only because floats end.
        run.record.lost[binding.value.id] = 1
    # Why a 0 was absorbed, or comes with a value that is not a number, has been said.
    if is_zero(g) and not found and not said and not run.record.lost:
        found += _explained(question, run, target, binding, field, _zero).why(binding.value.id)
    kinks = _kinks(question, run, target)
    if kinks is not None:
        found += kinks.of(binding.value)
    # A comparison inside of an operation at a kink is that kink.
    told_at = {n.span for n in found if n.code in ("kink", "tie")}
    found += [n for n in boundaries(question, run, target, binding) if n.span not in told_at]
    if run.record.lost:
        from gradcli.explain import notes

        found += notes.lost(run.record, binding.value, binding.name, target.span)
    if len(run.bindings.get(binding.name, ())) > 1:
        from gradcli.explain import notes

        found += notes.rebound(run, binding)
    return said + [note(question, n) for n in found]


def _whole(question: Question, run: Run, target: Target, binding: Binding
           ) -> tuple[Run, Target, Binding] | None:
    """Return the same in a run that records what is made of numbers alone, if there is one."""
    whole = with_numbers(question, run, target)
    if whole is None or binding not in run.bindings.get(binding.name, ()):
        return None
    k = run.bindings[binding.name].index(binding)
    return *whole, whole[0].bindings[binding.name][k]


def boundaries(question: Question, run: Run, target: Target, binding: Binding, order: int = 1
               ) -> list[Note]:
    """Return notes on comparisons that are decided otherwise beside the point, where derivatives up
    to an order in a name are not the same on both sides.
    """
    made = run.cache(target)
    if boundaries not in made:
        compared = [e for e in run.record.compact() if e[OP] in COMPARISONS.values()]
        made[boundaries] = False
        if compared:
            from gradcli.explain.notes import is_equal

            made[boundaries] = any(map(is_equal, compared))
    tensors = tensors_of(target)
    if not made[boundaries] or not is_float(binding.value.value) or any(map(is_complex, tensors)):
        return []
    from gradcli.explain.notes import boundaries as found
    from gradcli.questions.retrying import beside

    # What a question of the file is about has no name by which another run has it.
    movable = binding.kind != "computed" and not run.assigned(binding) and (
        run.steps <= MOST_STEPS) and [t.id for t in tensors] == [
            t.id for t in tensors_of(question.same_target(run, target))]
    told: list[Note] = found(
        run, tensors, binding.value,
        beside(question, run, target, binding, order) if movable else None)
    return told


def left_out(question: Question, run: Run, target: Target, bindings: list[Binding]) -> list[Answer]:
    """Return what derivatives in these names leave out; differences leave out nothing."""
    made = run.cache(target)
    if left_out not in made:
        made[left_out] = question.mode != "finite" and run.record.is_partial()
    if not made[left_out]:
        return []
    from gradcli.explain.notes import left_out as found

    return [note(question, n) for n in found(
        run.record.history(), tensors_of(target), [question.source(run, b) for b in bindings],
        question.program.source)]


def _explained(question: Question, run: Run, target: Target, binding: Binding, field: str, of: Of
               ) -> Any:
    """Return what explains derivatives of a target, for all sources whose gradients are swept
    together.
    """
    made = run.cache(target)
    if of not in made or binding.value.id not in made[of].sources or field == "jacobian":
        made[of] = of(question, run, target, _sources(question, run, target, binding, field), field)
    return made[of]


def _kinks(question: Question, run: Run, target: Target) -> Any:
    """Return what knows the conventions on the ways to a target; None if there can be none."""
    made = run.cache(target)
    if _kinks not in made:
        made[_kinks] = None
        if run.record.has_kinks():
            from gradcli.explain.notes import Kinks

            made[_kinks] = Kinks(run, tensors_of(target), question.program.source)
    return made[_kinks]


def _sources(question: Question, run: Run, target: Target, binding: Binding,
             field: str) -> list[int]:
    """Return the sources of the sweep; Jacobians of what is no scalar have each their own."""
    sources = {binding.value.id}
    # A file that asks for itself need not have any that the command line would ask for.
    if (field == "gradient" or [t.shape for t in parts(target)] == [()]) and (
            question.wrt or question.program.differentiable(run)):
        sources |= {b.value.id for b in question.program.sources(run, question.wrt)
                    if question.watched(run, b)}
    return sorted(sources)


def _zero(question: Question, run: Run, target: Target, sources: list[int], field: str) -> Any:
    from gradcli.explain.numbers import zeros

    tensors = parts(target)
    seeds = zeros.apart(tensors) if field == "jacobian" else seeds_of(question, tensors)
    return zeros.ZeroGradients(run, tensors, seeds, sources, question.program.source)


# Longer programs are not run again for the sake of a note.
FEW_STEPS = 1_000


FEW_NUMBERS = 100_000


def moved(question: Question, run: Run, target: Target, bindings: Sequence[Binding]
          ) -> list[Answer]:
    """Return notes on sources that were assigned before the target read them."""
    if not any(run.assigned(b) for b in bindings):
        return []
    from gradcli.questions import states

    return states.remarks(question, run, target, bindings)


def troubles(question: Question, run: Run, target: Target) -> list[Answer]:
    """Return notes on names that hide others and on a target that is NaN or infinite; modules are
    loaded only where there is a note.
    """
    tensors = tensors_of(target)
    finite = all(type(t.value) is float and t.value - t.value == 0.0 for t in tensors)
    hidden = run.shadows() if question.verbose else []
    large = extreme(run.record.compact(), [
        b[0].value for b in run.bindings.values() if isinstance(b[0].value, Tensor)],
        [t.value for t in tensors])
    whole = with_numbers(question, run, target)
    rounded = worded(lambda there: digits.of_value(question, *there), (run, target), whole)
    lost = _lost_constants(question, *whole) if whole is not None else []
    if finite and not run.notes and not hidden and not large and not rounded and not lost:
        return []
    from gradcli.explain.catalogue import Note
    from gradcli.explain.notes import flushed, out_of_range
    from gradcli.explain.numbers import nonfinite
    from gradcli.questions import retrying

    said = [Note(*told) for told in (*run.notes, *hidden)]
    said += rounded
    if large and out_of_range(run, tensors):
        said.append(flushed(target.name, target.span))
    else:
        said += [Note("range-value", *told) for told in lost]
    bad = worded(lambda there: nonfinite.of_value(
        there[0], tensors_of(there[1]), question.program.source,
        retrying.of_value(question, *there)), (run, target), whole)
    return [note(question, n) for n in (*said, *bad)]


def worded(explain: Callable[[Any], list[Note]], plain: Any, whole: Any) -> list[Note]:
    """Return what is said of a run. whole: the same with what is made of numbers alone recorded,
    which decides whether anything is, and names what is no variable; None: there is nothing of that
    kind.
    """
    decided = explain(plain if whole is None else whole)
    if whole is None or not decided:
        return decided
    found = explain(plain)
    spread = any(n.code == "nan-spread" and n.message.startswith("a constant") for n in found)
    return decided if spread or not found else found


def with_numbers(question: Question, run: Run, target: Target) -> tuple[Run, Target] | None:
    """Return a run that also records values made of numbers alone, and its target; None where the
    target depends on none of those.
    """
    made = run.cache(target)
    if with_numbers not in made:
        made[with_numbers] = _with_numbers(question, run, target)
    found: tuple[Run, Target] | None = made[with_numbers]
    return found


def _with_numbers(question: Question, run: Run, target: Target) -> tuple[Run, Target] | None:
    if run.steps > FEW_STEPS:
        return None
    entries = run.record.compact()
    if not entries.scalar and sum([np.size(entry[ANS]) for entry in entries]) > FEW_NUMBERS:
        return None
    known = {entry[OUT] for entry in entries} | {
        getattr(run.bindings[name][0].value, "id", None)
        for name in question.at if name in run.bindings}
    met = [v for entry in entries for i, v in zip(entry[IDS], entry[VALUES], strict=False)
           if i not in known]
    met += [t.value for t in tensors_of(target) if t.id not in known]
    written = question.program.numbers()
    if all(type(v) is not float or abs(v) in written for v in met) and not (
            question.program.lost_numbers()):
        return None
    try:
        again = question.program.recording_constants().run(
            question.at, tape=question.tape, output=lambda printed: None, **question.options())
        return again, question.same_target(again, target)
    except GradcliError:    # an operation wants a number that is not a tensor
        return None


def _lost_constants(question: Question, run: Run, target: Target) -> list[tuple[str, Any]]:
    """Return what is said of a target that meets a constant which is 0 or infinite only because
    floats end: as it is written, or on its way. run: one that records constants.
    """
    found = question.program.lost_numbers()
    tensors = tensors_of(target)
    if found or not extreme(run.record.compact(), (), [t.value for t in tensors]):
        return found
    from gradcli.explain.notes import flushed, out_of_range

    told = flushed(target.name, target.span)
    return [(told.message, told.span)] if out_of_range(run, tensors) else []


def point(question: Question, run: Run, target: Target, binding: Binding) -> Answer:
    """Return the fields of a source that say where it is; see `gradcli.questions.states.point`."""
    if not run.assigned(binding):
        return {"at": data(binding.value.value)}
    from gradcli.questions import states

    return states.point(question, run, target, binding)
