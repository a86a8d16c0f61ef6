"""The explanation of a gradient of Python code that is NaN, infinite or 0 everywhere: that of files
(`gradcli.explain.numbers`), on what the tape recorded.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import OUT, PLACE, span_of
from gradcli.engine.record.tensor import Tensor
from gradcli.explain import catalogue as reasons
from gradcli.explain.elements import finite, is_nan
from gradcli.explain.missing.scene import Naming
from gradcli.explain.notes import Kinks
from gradcli.explain.numbers.cancelled import Cancellation
from gradcli.explain.numbers.nonfinite import NonfiniteGradients
from gradcli.explain.numbers.zeros import ZeroGradients
from gradcli.explain.python.run import PythonText, TapeRun
from gradcli.explain.python.trials import TapeTrials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Segment
    from gradcli.explain.catalogue import Note
    from gradcli.explain.python.scene import PythonTrace


def answer_of(g: Any) -> str:
    """Return what a derivative is, in a word."""
    return "NaN" if is_nan(g) else "infinite" if not finite(g) else "0" if not np.any(g) else (
        "finite")


def causes(window: Segment, trace: PythonTrace, derived: Mapping[int, tuple[int, int]],
           namings: Sequence[Naming], targets: Sequence[Tensor], source: Tensor,
           own: Iterable[int], tensorflow: bool) -> tuple[str, list[reasons.Reason]]:
    """Return what the gradient is, in a word, and the causes why it is NaN, infinite, 0 or nothing
    but rounding, or what made the targets no numbers; none where nothing is wrong.

    window: entries of the tape, with values. derived: of the tape. namings: of the program's
    values. own: ids of the source on the tape. tensorflow: zeros absorb as there.
    """
    placed = [e[PLACE] for e in reversed(window) if e[PLACE] is not None]
    made = {e[OUT] for e in window}
    namings = [_outside(n, trace) if n.kind == "computed" and n.id not in made else n
               for n in namings]
    text = PythonText(trace.texts, [*placed, *[n.span for n in namings if n.span is not None]])
    known = [*trace.tensors(), *targets, *[Tensor(source.value, i) for i in own]]
    run: Any = TapeRun(window, known, derived, namings, trace.events.requests, text)
    ids = sorted(own)
    with run.record:
        try:
            parts = calculus.gradient(targets, [Tensor(source.value, i) for i in ids],
                                      tensorflow=tensorflow)
        except Exception:  # a rule of the user's: whoever asks for the gradient will see it
            return "None", []
        reached = [(i, g) for i, g in zip(ids, parts, strict=True) if g is not None]
        if not reached:
            return "None", []
        with quiet():
            whole = sum(g for _, g in reached)
        answer = answer_of(whole)
        notes: list[Note] = []
        whole_target = all(finite(t.value) for t in targets)
        healthy = answer == "finite" and whole_target
        # Where TensorFlow's semantics absorb an infinite slope, other parts may have made the 0.
        absorbed = run.record.absorbed and not tensorflow
        if not healthy and (absorbed or answer != "0" or not whole_target):
            why = NonfiniteGradients(run, targets, [], [i for i, _ in reached], text,
                                     tensorflow=tensorflow)
            why.explainer.words.ruled = run.ruled
            worst = [(i, g) for i, g in reached if not finite(g)] or reached[:1]
            notes = [n for i, g in worst for n in why.why(i, g, TapeTrials(
                run, text, targets, i, trace.names, tensorflow))]
        if healthy:
            notes = [n for i, g in reached for n in Cancellation(run, targets, text).of(
                Tensor(source.value, i), g)]
            answer = "rounding" if notes else answer
        if answer == "0" and not notes:
            zeros = ZeroGradients(run, targets, [], [i for i, _ in reached], text)
            notes = [n for i, _ in reached for n in zeros.why(i)]
            kinks = Kinks(run, targets, text) if not notes and run.record.has_kinks() else None
            notes += kinks.of(Tensor(source.value, ids[0])) if kinks is not None else []
    last = next((span for e in reversed(run.record.entries) for span in [span_of(e)] if span), None)
    return answer, [_reason(n, text, last) for k, n in enumerate(notes)
                    if n.message not in [m.message for m in notes[:k]]]


def _outside(naming: Naming, trace: PythonTrace) -> Naming:
    """Return the naming of a value that no tape recorded, at the place that may have spoiled it."""
    place = trace.suspect(naming.id)
    return naming if place is None else Naming(naming.name, naming.id, place, "outside")


def _reason(note: Note, text: PythonText, last: Span | None) -> reasons.Reason:
    """Return a note as a reason. last: its span where it has none."""
    said = note.message.removesuffix(f"; {note.fix}") if note.fix else note.message
    return reasons.Reason(note.code, said, text.located(note.span or last), note.fix)
