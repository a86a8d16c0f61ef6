"""The explanation of a gradient of Python code that is NaN, infinite or 0 everywhere: that of files
(`gradcli.explain.numbers`), on what the tape recorded.
"""

from __future__ import annotations

from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import PLACE
from gradcli.engine.record.tensor import Tensor
from gradcli.explain import catalogue as reasons
from gradcli.explain.elements import finite, is_nan
from gradcli.explain.notes import Kinks
from gradcli.explain.numbers.nonfinite import NonfiniteGradients
from gradcli.explain.numbers.zeros import ZeroGradients
from gradcli.explain.python.run import PythonText, TapeRun
from gradcli.explain.python.trials import TapeTrials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Segment
    from gradcli.explain.catalogue import Note
    from gradcli.explain.missing.scene import Naming
    from gradcli.explain.python.text import PythonFiles


def answer_of(g: Any) -> str:
    """Return what a derivative is, in a word."""
    return "NaN" if is_nan(g) else "infinite" if not finite(g) else "0" if not np.any(g) else (
        "finite")


def causes(window: Segment, derived: Mapping[int, tuple[int, int]], namings: Iterable[Naming],
           texts: PythonFiles, targets: Sequence[Tensor], source: Tensor, own: Iterable[int],
           names: Mapping[str, Any], known: Iterable[Tensor], tensorflow: bool
           ) -> tuple[str, list[reasons.Reason]]:
    """Return what the gradient is, in a word, and the causes why it is NaN, infinite or 0, or what
    made the targets so; none where nothing is wrong with it.

    window: entries of the tape, with values. namings: of the program's values. own: ids of the
    source on the tape. names: of the caller's frame. known: tensors that they still
    hold. tensorflow: zeros absorb as there.
    """
    placed = [e[PLACE] for e in reversed(window) if e[PLACE] is not None]
    text = PythonText(texts, [*placed, *[n.span for n in namings if n.span is not None]])
    run: Any = TapeRun(window, [*known, *targets, *[Tensor(source.value, i) for i in own]],
                       derived, namings, text)
    ids = sorted(own)
    with run.record:
        parts = calculus.gradient(targets, [Tensor(source.value, i) for i in ids],
                                  tensorflow=tensorflow)
        reached = [(i, g) for i, g in zip(ids, parts, strict=True) if g is not None]
        if not reached:
            return "None", []
        with quiet():
            whole = sum(g for _, g in reached)
        answer = answer_of(whole)
        notes: list[Note] = []
        healthy = answer == "finite" and all(finite(t.value) for t in targets)
        if not healthy and (run.record.absorbed or answer != "0" or not all(
                finite(t.value) for t in targets)):
            why = NonfiniteGradients(run, targets, [], [i for i, _ in reached], text,
                                     tensorflow=tensorflow)
            worst = [(i, g) for i, g in reached if not finite(g)] or reached[:1]
            notes = [n for i, g in worst for n in why.why(i, g, TapeTrials(
                run, text, targets, i, names, tensorflow))]
        if answer == "0" and not notes:
            zeros = ZeroGradients(run, targets, [], [i for i, _ in reached], text)
            notes = [n for i, _ in reached for n in zeros.why(i)]
            kinks = Kinks(run, targets, text) if not notes and run.record.has_kinks() else None
            notes += kinks.of(Tensor(source.value, ids[0])) if kinks is not None else []
    return answer, [_reason(n, text) for k, n in enumerate(notes)
                    if n.message not in [m.message for m in notes[:k]]]


def _reason(note: Note, text: PythonText) -> reasons.Reason:
    said = note.message.removesuffix(f"; {note.fix}") if note.fix else note.message
    return reasons.Reason(note.code, said, text.located(note.span), note.fix)
