"""What to write instead, for each cause: changes of the program's text, the smallest first.

A proposal is only that: `trials` finds out whether it helps. A cause without an entry in
`PROPOSALS` has no mechanical mend; its advice is a sentence in `ADVICE`, or none.
"""

from __future__ import annotations

from gradcli.explain.missing import path_fixes, source_fixes
from gradcli.explain.missing.scene import place_of
from gradcli.explain.naming import LONGEST
from gradcli.explain.reason import Fix
from gradcli.explain.written import operands_of, term
from gradcli.tape.record import IDS, OP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.explain.missing.ground import Ground
    from gradcli.explain.reason import Reason

    Proposals = Callable[[Ground, Reason], list[Fix]]

ADVICE = {
    "path-custom-none": "return a gradient for this argument",
    "path-dtype-cast": "keep it a float",
    "path-gradient-not-recorded": "move the line into the block of {tape}",
    "path-left-engine": "use the operation without np.",
    "path-outside-tape": "move the line into the block of {tape}",
    "path-reset": "reset before the line",
    "path-state-write": "bind a new name to it, without var or assign",
    "path-value-independent": "use its values, not only its shape",
    "path-step-function": "ask for 0: --unconnected zero",
    "path-stop-gradient": "remove stop_gradient",
    "path-stop-recording": "move the line out of the block",
    "source-auto-watch-off": "{tape}.watch({source})",
    "source-condition-only": "a smooth gate, such as sigmoid(k*(a - b)) for a > b",
    "source-constant-unwatched": "{tape}.watch({source})",
    "source-downstream": "swap target and source",
    "source-dtype": "write a number with a point: 3.0",
    "source-in-dead-code": "let that code run",
    "source-is-copy": "ask for the original",
    "source-nontrainable": "{tape}.watch({source})",
    "source-not-picked": "a smooth choice, such as softmax weights; max(a, b) of the language gives"
                         " 0 instead",
    "source-not-watched-on-this-tape": "{tape}.watch({source})",
    "source-rebound": "give the new value a name of its own",
    "source-shadowed": "rename one of the two",
    "source-untaken-branch": "where(c, a, b) computes both branches",
    "source-after-target": "compute {target} after {source}",
    "source-watch-reset": "watch it again after the reset",
    "source-watched-late": "watch it before the line that uses it",
    "target-consumed": "write persistent=true",
    "target-dtype": "keep it a float",
    "target-empty": "put a target into the list",
    "forward-wrong-order": "ask the inner one first: outer.jvp(inner.jvp(y))",
}


def propose(ground: Ground, reason: Reason) -> list[Fix]:
    """What may mend one cause, the smallest change first; advice, which nobody can try, last."""
    proposals = PROPOSALS.get(reason.code)
    found = proposals(ground, reason) if proposals is not None else []
    if any(not fix.edits for fix in found):
        return found
    advice = OWN_ADVICE.get(reason.code, _advice)(ground, reason)
    return [*found, Fix(advice)] if advice else found


def _advice(ground: Ground, reason: Reason) -> str | None:
    subject = ground.subject
    tape = subject.window.name if subject.window is not None else ""
    text = ADVICE.get(reason.code)
    if text is None:
        return None
    if "{tape}.watch" in text and not tape:
        return f"--watch {subject.source}"
    return text.format(tape=tape or "the tape", source=subject.source,
                       target=subject.target)


def _unrelated(ground: Ground, reason: Reason) -> str | None:
    names = [name for name in reason.about or () if name != ground.subject.target]
    if not names:
        return None
    return f"ask for what {ground.subject.target} depends on: {', '.join(names[:4])}"


def _substitute(ground: Ground, reason: Reason) -> str | None:
    """The row's substitute, with the user's own operands if they are short."""
    op, span = reason.abouts[0][OP], place_of(reason.abouts[0])
    if not op.substitute:
        return None
    parts = operands_of(ground.text, span) if span is not None else []
    if not parts or sum(map(len, parts)) > LONGEST or any("\n" in part for part in parts):
        parts = [p.lstrip("*") for p in op.parameters] or ["a", "b"]
    parts += ["a", "b"][len(parts):]
    return f"a smooth substitute: {op.substitute.format(*map(term, parts))}"


def _original(ground: Ground, reason: Reason) -> str | None:
    return f"ask for {reason.about or 'the original'} itself"


def _float(ground: Ground, reason: Reason) -> str | None:
    # Numbers of a file are floats, unless something made them integers.
    return f"make {ground.subject.source} a float"


def _meant(ground: Ground, reason: Reason) -> str | None:
    return f"did you mean {reason.about}?" if reason.about else None


def _arguments(ground: Ground, reason: Reason) -> str | None:
    names = [ground.scene.name(i) for entry in reason.abouts[:1] for i in entry[IDS]]
    known = [name for name in names if name]
    return f"ask for {' or '.join(known)} instead" if known else (
        "ask for the gradient in its arguments instead")


OWN_ADVICE: dict[str, Callable[[Ground, Reason], str | None]] = {
    "source-dtype": _float, "source-is-copy": _original, "source-unrelated": _unrelated,
    "path-nondifferentiable": _substitute,
    "path-custom-internal": _arguments, "target-constant": _meant}


PROPOSALS: dict[str, Proposals] = {
    "forward-wrong-order": path_fixes.swap_accumulators,
    "path-dtype-cast": path_fixes.cast,
    "path-gradient-not-recorded": path_fixes.into_block,
    "path-left-engine": path_fixes.declared,
    "path-outside-tape": path_fixes.into_block,
    "path-reset": path_fixes.without_reset,
    "path-state-write": path_fixes.state,
    "path-step-function": path_fixes.step,
    "path-stop-gradient": path_fixes.stop_gradient,
    "path-stop-recording": path_fixes.out_of_pause,
    "source-auto-watch-off": source_fixes.automatic,
    "source-constant-unwatched": source_fixes.constant,
    "source-downstream": source_fixes.swap,
    "source-dtype": source_fixes.dtype,
    "source-is-copy": source_fixes.copy,
    "source-nontrainable": source_fixes.nontrainable,
    "source-not-watched-on-this-tape": source_fixes.watch,
    "source-rebound": source_fixes.rebound,
    "source-shadowed": source_fixes.rename,
    "source-untaken-branch": source_fixes.both_arms,
    "source-watch-reset": source_fixes.watch_again,
    "source-watched-late": source_fixes.watch_late,
    "target-consumed": path_fixes.persistent,
    "target-dtype": path_fixes.target_dtype,
}
