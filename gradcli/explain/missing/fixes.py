"""Fixes for each cause: changes of the program's text, proposed and then tried, the smallest first.

A cause without a function in `PROPOSALS` has no mechanical fix; its advice is a sentence in
`ADVICE`, or none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import combinations, islice, product
from math import inf

from gradcli.base.errors import GradcliError
from gradcli.engine.record.record import IDS, OP, OUT
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing import changes
from gradcli.explain.missing.cuts import is_inside, taken_up
from gradcli.explain.missing.line_edits import out_of_pause
from gradcli.explain.missing.outline import applied
from gradcli.explain.missing.scene import Hop, place_of
from gradcli.explain.written import LONGEST, operands_of, term
from gradcli.ops.kinds import STOP
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.explain.missing.outline import FixContext
    from gradcli.explain.missing.scene import Gap, Scene
    from gradcli.lang.running.log import Log
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Run

    Proposals = Callable[[FixContext, Reason], list[Fix]]
    # The values of the target and the gradient; None: the question was not reached.
    Again = Callable[[Program], tuple[list[Any], Any] | None]

# In files as in Python.
ASKED_ZERO = 'ask for 0: unconnected_gradients="zero"'
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


def propose(context: FixContext, reason: Reason) -> list[Fix]:
    """Return the fixes that may mend one cause, the smallest first; untried advice comes last."""
    if reason.fixes:
        return reason.fixes     # the cause brought its own advice
    proposals = PROPOSALS.get(reason.code)
    found = proposals(context, reason) if proposals is not None else []
    if any(not fix.edits for fix in found):
        return found
    advice = OWN_ADVICE.get(reason.code, _advice)(context, reason)
    return [*found, Fix(advice)] if advice else found


def _advice(context: FixContext, reason: Reason) -> str | None:
    gap = context.gap
    tape = gap.window.name if gap.window is not None else ""
    text = ADVICE.get(reason.code)
    if text is None:
        return None
    if "{tape}.watch" in text and not tape:
        return f"--watch {gap.source}"
    if "--unconnected" in text and gap.asked_at is not None:
        # A question of the file has an option of its own; a slope `f'(x)` has none.
        asked = context.text[slice(*gap.asked_at)]
        return ASKED_ZERO if re.match(r"\w+\.(gradient|jacobian|jvp)\(", asked) else None
    return text.format(tape=tape or "the tape", source=gap.source,
                       target=gap.target)


def _unrelated(context: FixContext, reason: Reason) -> str | None:
    names = [name for name in reason.about or () if name != context.gap.target]
    if not names:
        return None
    return f"ask for what {context.gap.target} depends on: {', '.join(names[:4])}"


def _kept_float(context: FixContext, reason: Reason) -> str | None:
    return _smooth(context, reason.about) if is_discrete(reason.about) else ADVICE[reason.code]


def is_discrete(maker: Entry | None) -> bool:
    """Return whether a value was made by an operation with integer answers only, as `argmax`."""
    return maker is not None and maker[OP].kind == STOP and maker[OP].name != "cast_other"


def _substitute(context: FixContext, reason: Reason) -> str | None:
    return _smooth(context, reason.abouts[0])


def _smooth(context: FixContext, entry: Entry) -> str | None:
    """Return advice to use the row's substitute, with the user's own operands if they are short."""
    op, span = entry[OP], place_of(entry)
    if not op.substitute:
        return None
    parts = operands_of(context.text, span) if span is not None else []
    if not parts or sum(map(len, parts)) > LONGEST or any("\n" in part for part in parts):
        parts = [p.lstrip("*") for p in op.parameters] or ["a", "b"]
    parts += ["a", "b"][len(parts):]
    return f"a smooth substitute: {op.substitute.format(*map(term, parts))}"


def _gate(context: FixContext, reason: Reason) -> str | None:
    return gate(reason)


def gate(reason: Reason) -> str | None:
    """Return advice about a condition on the source; of a loop, to let all turns run."""
    if reason.about == "index":
        return None
    if reason.about == "branch":
        return ADVICE[reason.code]
    return "let all turns run and weigh each with a smooth gate, such as sigmoid(n - k) for k < n"


def _original(context: FixContext, reason: Reason) -> str | None:
    return f"ask for {reason.about or 'the original'} itself"


def _float(context: FixContext, reason: Reason) -> str | None:
    # Numbers of a file are floats, unless something made them integers.
    return f"make {context.gap.source} a float"


def _meant(context: FixContext, reason: Reason) -> str | None:
    return f"did you mean {reason.about}?" if reason.about else None


def of_custom(scene: Scene, gap: Gap, hop: Entry) -> str:
    """Return advice about a source that a custom function computes inside or reads from outside."""
    if isinstance(hop[OP], Hop) and not is_inside(scene, gap, hop):
        return f"make {taken_up(scene, gap, hop)} an argument of {hop[OP].name}"
    call = scene.maker(hop[OUT])
    known = [name for name in map(scene.name, call[IDS] if call is not None else ()) if name]
    return f"ask for {' or '.join(known) or 'its arguments'} instead"


def _arguments(context: FixContext, reason: Reason) -> str | None:
    return of_custom(context.scene, context.gap, reason.abouts[0])


OWN_ADVICE: dict[str, Callable[[FixContext, Reason], str | None]] = {
    "source-dtype": _float, "source-is-copy": _original, "source-unrelated": _unrelated,
    "source-condition-only": _gate, "path-nondifferentiable": _substitute,
    "target-dtype": _kept_float, "path-custom-internal": _arguments, "target-constant": _meant}
PROPOSALS: dict[str, Proposals] = {
    "forward-wrong-order": changes.swap_accumulators,
    "path-dtype-cast": changes.cast,
    "path-gradient-not-recorded": changes.into_block,
    "path-left-engine": changes.declared,
    "path-outside-tape": changes.into_block,
    "path-reset": changes.without_reset,
    "path-state-write": changes.state,
    "path-step-function": changes.step,
    "path-stop-gradient": changes.stop_gradient,
    "path-stop-recording": out_of_pause,
    "source-auto-watch-off": changes.automatic,
    "source-constant-unwatched": changes.constant,
    "source-downstream": changes.swap,
    "source-dtype": changes.dtype,
    "source-is-copy": changes.copy,
    "source-nontrainable": changes.nontrainable,
    "source-not-watched-on-this-tape": changes.watch,
    "source-rebound": changes.rebound,
    "source-shadowed": changes.rename,
    "source-untaken-branch": changes.both_arms,
    "source-watch-reset": changes.watch_again,
    "source-watched-late": changes.watch_late,
    "target-consumed": changes.persistent,
    "target-dtype": changes.target_dtype,
}
# --------------------------------------------------------------------------------------------------
# Fixes tried before they are offered: applied to a copy of the text, run, asked the same question.
#
# All causes of one None are mended at once: lifting one of two proves nothing. A fix that changes
# the value of the target, or anything else that the file says, is none.

MAX_TRIALS = 12
# The budget in steps for all trials of one run: of a long program only a few are tried.
MAX_STEPS = 2_000_000
# The number of runs that are kept.
MAX_KEPT = 4
# These cannot be mended, and are causes only where there is no other.
NO_MEND = ("path-nondifferentiable", "path-value-independent")
# These fixes ask for another gradient, so that the target changes.
ASKS_ANEW = ("source-downstream", "forward-wrong-order")


class TrialRuns:
    """The runs that tried fixes of one program: the last ones by key, since many sources may share
    a fix, and the steps that all of them took.
    """

    __slots__ = ("kept", "steps")

    def __init__(self) -> None:
        self.kept: dict[Any, Run] = {}
        self.steps = 0

    def run(self, key: Any, make: Callable[[], Run]) -> Run:
        """Return the run of a key; make it if there is none."""
        if key not in self.kept:
            if len(self.kept) >= MAX_KEPT:
                self.kept.clear()
            run = self.kept[key] = make()
            self.steps += run.steps
        return self.kept[key]


def trial_runs(log: Log) -> TrialRuns:
    """Return the runs that tried fixes for a logged run."""
    found: TrialRuns = log.made.setdefault("trials", TrialRuns())
    return found


def tried(program: Program, found: list[Reason], values: list[Any], again: Again,
          harmless: Callable[[Program], bool], log: Log, steps: int) -> None:
    """Choose for each cause the first fix that works together with those of the others, and set
    `fix_works`; it stays None where nothing could be tried.

    values: of the targets, which a fix must keep.
    again: asks a changed program the same question.
    harmless: whether a changed program keeps all else that it says.
    steps: of the original run.
    """
    mendable = [r for r in found if any(fix.edits for fix in r.fixes)]
    if not mendable:
        return
    if any(r.code in ASKS_ANEW for r in mendable):
        values = []

    def gradient(chosen: Mapping[int, Fix]) -> Any:
        edits = together([(mendable[k], fix.edits) for k, fix in chosen.items()])
        return _gradient(program, applied(program.source.text, edits), values, again, harmless)

    runs = trial_runs(log)
    limit = max(MAX_STEPS, 4*steps)
    if runs.steps > limit:
        return
    for chosen in islice(_choices(mendable), MAX_TRIALS):
        whole = gradient(chosen) if runs.steps <= limit else None
        if whole is not None:
            for k in [*chosen] if len(chosen) > 1 else ():
                # The smallest set of changes: one that another makes superfluous is left out.
                fewer = {n: fix for n, fix in chosen.items() if n != k}
                part = gradient(fewer) if fewer and runs.steps <= limit else None
                if part is not None and _same([part], [whole]):
                    chosen = fewer
            _settle(found, mendable, chosen)
            return
    for reason in mendable:
        reason.choose(next(fix for fix in reason.fixes if fix.edits))
        reason.fix_works = False
        if len(mendable) == len(found):
            # Nothing else is in the way, so the change itself is no good: say what it is about.
            reason.fix_works = None
            reason.advise()


def _settle(found: list[Reason], mendable: Sequence[Reason], chosen: Mapping[int, Fix]) -> None:
    """Choose the fixes that bring the gradient back, also for causes that need none of their own,
    and drop causes that cannot be mended and were not in the way.
    """
    spare = next(iter(chosen.values()))
    for k, reason in enumerate(mendable):
        reason.choose(chosen.get(k, spare))
        reason.fix_works = True
    found[:] = [r for r in found if r.fix_works is not None or r.code not in NO_MEND]


def together(chosen: Iterable[tuple[Reason, Sequence[Edit]]]) -> list[Edit]:
    """Return the edits for several causes; at one location a watch comes before moved lines."""
    order = sorted(chosen, key=lambda one: not one[0].code.startswith("source-"))
    return list(dict.fromkeys(edit for _, edits in order for edit in edits))


def _choices(mendable: Sequence[Reason]) -> Iterator[dict[int, Fix]]:
    """Yield combinations of fixes by the number of the cause, for all causes first."""
    for size in range(len(mendable), 0, -1):
        for which in combinations(range(len(mendable)), size):
            options = [[fix for fix in mendable[k].fixes if fix.edits] for k in which]
            for fixes in product(*options):
                yield dict(zip(which, fixes, strict=True))


def _gradient(program: Program, text: str | None, values: list[Any], again: Again,
              harmless: Callable[[Program], bool]) -> Any:
    """Return the gradient that a changed text gives; None if it has none or changes anything else.

    values: those that the targets must keep; empty: any.
    """
    if text is None:
        return None
    try:
        changed = _parsed(text, program.source.name)
        found = again(changed)
    except GradcliError:
        return None
    if found is None or found[1] is None or (values and not _same(found[0], values)):
        return None
    return found[1] if harmless(changed) else None


@lru_cache(4)
def _parsed(text: str, name: str) -> Program:
    """Return a changed program; the last few are cached, as many sources may share a fix."""
    from gradcli.base.errors import Source
    from gradcli.lang.running.program import Program

    return Program(Source(text, name))


def _same(a: list[Any], b: list[Any]) -> bool:
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        if is_float(x) != is_float(y) or type(x) is not float or type(y) is not float:
            from gradcli.base.lazy import np

            try:
                same = np.shape(x) == np.shape(y) and bool(
                    np.allclose(x, y, rtol=1e-12, atol=0.0, equal_nan=True))
            except (TypeError, ValueError):
                same = bool(x == y)
            if not same:
                return False
        elif not (x == y or (x != x and y != y) or abs(x - y) <= 1e-12*max(abs(x), abs(y)) < inf):
            return False
    return True
