"""The explanation of a missing gradient of a file: its causes, and fixes that were tried.

The program runs a second time and keeps everything. `causes` finds what holds, `propose` what may
be written instead, `tried` whether that brings the gradient back.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, islice, product
from math import inf

from gradcli.base.errors import GradcliError
from gradcli.engine.record.record import PLACE
from gradcli.engine.record.tensor import flatten, value_of
from gradcli.explain.missing.causes import causes, propose
from gradcli.explain.missing.file_scene import gap_of, scene_of
from gradcli.explain.missing.outline import FixContext, Outline, applied
from gradcli.explain.missing.scene import Gap
from gradcli.lang.running.calls import NoGradient, is_number, mapped
from gradcli.lang.running.instructions import same
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Unpack

    from gradcli.explain.catalogue import Edit, Fix, Reason
    from gradcli.explain.missing.scene import Scene
    from gradcli.lang.running.calls import MissingGradients
    from gradcli.lang.running.log import Log, LoggedRequest
    from gradcli.lang.running.program import Program
    from gradcli.lang.running.run import Binding, Options, Printed, Run, Target

    # The values of the target and the gradient; None: the question was not reached.
    Again = Callable[[Program], tuple[list[Any], Any] | None]


def of_named(program: Program, at: Mapping[str, Any], run: Run, target: Target, binding: Binding,
             again: Again, *, tape: str | None = None, unwatched: bool = False,
             late: Mapping[int, tuple[int, Any]] | None = None) -> list[Reason]:
    """Return the causes of a None that was asked for by names, the one to mend first on top.

    run: a logged run.
    target, binding: of any run of the program.
    tape: the name of the tape that was asked; None: the last to close.
    unwatched: no tape watches the source.
    late: as in `Gap`.
    again: asks the same question of a changed program.
    """
    with run.record:
        unnamed = target.name == program.unnamed and target.name not in run.bindings
        (target,) = program.targets(run, [] if unnamed else [target.name])
        (binding,) = program.sources(run, [binding.name])
    asked = None
    if run.tapes:
        asked = run.tapes[tape] if tape is not None else next(reversed(run.tapes.values()))
    return _explained(program, run, gap_of(
        run, target.tensor, binding.value, target_name=target.name, target_span=target.span,
        binding=binding, tape=asked, unwatched=unwatched, late=late), at, again)


def complete(problem: MissingGradients, program: Program, at: Mapping[str, Any],
             **options: Unpack[Options]) -> None:
    """Add the causes of missing gradients to the errors of a run that calculates with them.

    The program runs a second time, since its tapes did not record everything.
    """
    run = program.logged_run(at)
    for diagnostic, missing in problem.missing:
        why = of_missing(program, at, run, missing)[0]
        where = "" if why.span is None else f" (line {program.source.position(why.span[0])[0]})"
        diagnostic.notes = (*diagnostic.notes, f"{why.message}{where}")
        if why.fix:
            diagnostic.help = f"{'fix' if why.fix_works else 'try'}: {why.fix}"


def of_missing(program: Program, at: Mapping[str, Any], run: Run, missing: NoGradient
               ) -> list[Reason]:
    """Return the causes of a gradient that the file itself asked for, as in `g = t.gradient(z, x)`.

    run: the run that it comes from, or a logged run of the same program at the same point.
    """
    if run.log is None:
        run = program.logged_run(at, **run.options)
    log = run.log
    assert log is not None
    assert missing.asked is not None
    number, item = missing.asked
    request = log.requests[number]
    missing = flatten(request.found)[item]

    def again(changed: Program) -> tuple[list[Any], Any] | None:
        found = trial_runs(log).run((changed.source.text, number),
                                    lambda: changed.logged_run(at, until=number, **run.options))
        assert found.log is not None
        if len(found.log.requests) <= number:
            return None
        asked = found.log.requests[number]
        answers = flatten(asked.found)
        g = answers[item] if item < len(answers) else None
        return list(asked.made.values()), None if isinstance(g, NoGradient) else value_of(g)

    return _explained(program, run, gap_of(
        run, missing.target if request.kind == "jvp" else request.targets, missing.source,
        tape=request.tape, asked_at=request.span, request=request,
        text=program.source.text), at, again)


def _explained(program: Program, run: Run, gap: Gap, at: Mapping[str, Any], again: Again
               ) -> list[Reason]:
    log = run.log
    assert log is not None
    outline = _outline(program.source.text)
    everything = scene_of(run, gap.own, outline, program.source)
    gap.source = gap.source or _unnamed(everything, gap.own, "the source")
    gap.target = gap.target or _unnamed(everything, gap.targets, "the target")
    with run.record:
        found = causes(everything, gap)
    context = FixContext(outline, everything, gap, [
        name for name, d in program.names.declared.items() if d.keyword == "var"])
    for reason in found:
        reason.fixes = propose(context, reason)
        if reason.fixes:
            reason.choose(reason.fixes[0])
    tried(program, found, list(gap.targets.values()), again,
          lambda changed: not harms(program, at, run, changed), log, run.steps)
    return found


def _unnamed(scene: Scene, ids: Iterable[int], otherwise: str) -> str:
    """Return names for values without one: their text if it is short, else `otherwise`."""
    def text(id: int) -> str:
        entry = scene.maker(id)
        return scene.name(id) or (
            scene.written(entry) if entry is not None and entry[PLACE] else "...")

    texts = [*map(text, ids)]
    if not texts or any(text.endswith("...") for text in texts):
        return otherwise
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


@lru_cache(2)
def _outline(text: str) -> Outline:
    """Return the outline of a text, cached for all that is explained in it."""
    return Outline(text)


# --------------------------------------------------------------------------------------------------
# Fixes are tried before they are offered: applied to a copy of the text, which is run and asked the
# same question.
#
# All causes of one None are mended at once: lifting one of two proves nothing. A fix that changes
# the value of the target, or anything else that the file says, is none: both programs run to the
# end, and the changed one is given None as answer wherever the original got None; then everything
# that either of them says has to be the same.

MAX_TRIALS = 12
# The budget in steps for all trials of one run: of a long program only a few are tried.
MAX_STEPS = 2_000_000
# The number of runs that are kept.
MAX_KEPT = 4
# These cannot be mended, and are causes only where there is no other.
NO_MEND = ("path-nondifferentiable", "path-value-independent")
# These fixes ask for another gradient, so that the target changes.
ASKS_ANEW = ("source-downstream", "forward-wrong-order")
# A rewritten formula is rounded elsewhere.
RTOL, ATOL = 1e-9, 1e-12
WATCHED = "watched_variables"


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


class Outputs:
    """All that a run says: printed values, expectations met or not, values of bare expressions,
    answers to its questions (None for a missing one), and whether it ran to its end.
    """

    __slots__ = ("answers", "ended", "expects", "prints", "results")

    def __init__(self, run: Run, prints: list[Any]) -> None:
        assert run.log is not None
        self.prints = prints
        self.expects = [expect.holds for expect in run.expects]
        self.results = [v for v in map(_plain, run.results.values()) if v is not None]
        self.answers = [[_plain(g) for g in flatten(q.found)] for q in run.log.requests]
        self.ended = run.log.ended

    def agrees_with(self, other: Outputs) -> bool:
        """Return whether another run says the same; it may answer what is missing here."""
        return (
            self.ended == other.ended and _agree(self.prints, other.prints)
            and self.expects == other.expects and len(self.answers) == len(other.answers)
            and all(len(a) == len(b) and all(x is None or _agree(x, y) for x, y in
                                             zip(a, b, strict=True))
                    for a, b in zip(self.answers, other.answers, strict=True))
            and _among(self.results, other.results))


def harms(program: Program, at: Mapping[str, Any], run: Run, changed: Program) -> bool:
    """Return whether the changed program says anything else than the original, apart from
    derivatives that the original lacks.

    run: a logged run of the original, in which results are cached.
    """
    log = run.log
    assert log is not None
    if "outputs" not in log.made:
        # The run may have ended before its end.
        whole, outputs = _outputs(program, at, {}, run.options)
        assert whole.log is not None
        log.made["outputs"] = outputs
        missing = log.made["given"] = {
            number: given for number, request in enumerate(whole.log.requests)
            if (given := _missing(request))}
        for number, given in missing.items():
            for k in given:
                outputs.answers[number][k] = None
    found = trial_runs(log).run(("harm", changed.source.text), lambda: _outputs(
        changed, at, log.made["given"], run.options)[0])
    assert found.log is not None
    before: Outputs = log.made["outputs"]
    # `expect` and comparisons of what has no items with lists refuse.
    try:
        return not before.agrees_with(found.log.made["outputs"])
    except GradcliError:
        return True


def _outputs(program: Program, at: Mapping[str, Any], given: Mapping[int, Mapping[int, Any]],
             options: Options) -> tuple[Run, Outputs]:
    prints: list[Any] = []

    def output(printed: Printed) -> None:
        # The list of watched variables is what a watch is meant to change.
        told = WATCHED not in program.source.text[slice(*printed.span)]
        prints.append([_plain(value) for value in printed.values] if told else None)

    run = program.logged_run(at, output, given=given, **options)
    assert run.log is not None
    outputs = run.log.made["outputs"] = Outputs(run, prints)
    return run, outputs


def _missing(request: LoggedRequest) -> dict[int, Any]:
    """Return by number the answers to a question that are None, or 0 because that was asked for."""
    zero = "unconnected_gradients" in request.arguments()[1]
    return {k: g for k, g in enumerate(flatten(request.found))
            if isinstance(g, NoGradient) or (zero and not _any(value_of(g)))}


def _any(value: Any) -> bool:
    return bool(value.any() if hasattr(value, "any") else value)


def _plain(value: Any) -> Any:
    """Return a snapshot of a value, since a variable may change later."""
    def of(one: Any) -> Any:
        if one is None or isinstance(one, (str, NoGradient)):
            return one if isinstance(one, str) else None
        return value_of(one) if is_number(one) else type(one).__name__

    return mapped(value, of)


def _agree(a: Any, b: Any) -> bool:
    return same(a, b, RTOL, ATOL)


def _among(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether the values occur among the others in the same order."""
    rest = iter(others)
    return all(any(_agree(value, other) for other in rest) for value in values)
