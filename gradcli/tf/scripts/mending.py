"""The changes of a script that bring its gradients back: each is tried by running the script."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from time import perf_counter

from gradcli.tf.scripts import script
from gradcli.tf.scripts.changes import changes
from gradcli.tf.scripts.texts import Scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.tf.scripts.texts import Change

# Runs of a script that try changes, and changes that only together mend one finding.
MOST_RUNS = 60
TOGETHER = 3
# A trial ends after so many times the time of the first run, and after so many seconds at least.
LONGER = 3.0
LEAST_SECONDS = 5.0
# The alarm rings again after so many seconds, should the script catch the first.
AGAIN = 0.5
# How near gradients have to be to be the same.
SAME = 1e-4


class Mended:
    """A script with the changes that help.

    text: with them; words: what they are; gained: the number of gradients that are right with them.
    left: the findings of the script with them, each with why it is left; interrupted: by the user,
    so that not all were tried.
    """

    __slots__ = ("gained", "interrupted", "left", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        self.gained = 0
        self.interrupted = False
        self.left: list[tuple[script.Finding, str]] = []


class Step:
    """A script with some changes more: its text, its run, and the changes in words."""

    __slots__ = ("made", "text", "words")

    def __init__(self, text: str, made: script.Run, words: list[str]) -> None:
        self.text = text
        self.made = made
        self.words = words


def mended(made: script.Run, arguments: Sequence[str], real: bool = False) -> Mended:
    """Return a script with all changes that help: the first cause is mended, then the next."""
    found = Mended(made.text)
    trials = Trials(made, arguments, real)
    at: Step | None = Step(made.text, made, [])
    while at is not None:
        step, at = at, None
        for group in script.grouped(step.made):
            at = _helping(step, group, trials)
            if at is not None:
                found.words += at.words
                break
    found.text, found.interrupted = step.text, trials.interrupted
    found.left = [(group, trials.why_left(group)) for group in script.grouped(step.made)]
    found.gained = len(_wrong(made)) - len(_wrong(step.made))
    return found


def _helping(start: Step, group: script.Finding, trials: Trials) -> Step | None:
    """Return a script in which a finding is mended; None if no change helps. Of those with the
    fewest changes the first one that leaves other gradients as they were, else the first.
    """
    waiting = [Step(start.text, start.made, [])]
    for _ in range(TOGETHER):
        helps: Step | None = None
        further: list[Step] = []
        for step in waiting:
            for change, alike in _proposed(step, group):
                then = _tried(step, change, group, trials)
                if then is None:
                    continue
                if _better(start.made, then.made, group):
                    for other in alike:
                        then, change = _with(start, step, then, change, other, group, trials)
                    if _leaves(start.made, then.made, group):
                        return then
                    helps = helps or then
                elif _nearer(step.made, then.made, group):
                    further.append(then)
        if helps is not None:
            return helps
        waiting = further
    return None


def _proposed(step: Step, group: script.Finding) -> Iterator[tuple[Change, list[Change]]]:
    """Yield the changes for a finding, or for what is left of it, each with those alike."""
    known = Scripts(step.made.path, step.text)
    for one in script.grouped(step.made):
        if not _numbers(one).isdisjoint(_numbers(group)):
            yield from changes(known, one.reasons, one.at)


def _tried(step: Step, change: Change, group: script.Finding, trials: Trials) -> Step | None:
    """Return the script with a change more; None if that is no script, or was not run to its end.
    """
    path = step.made.path
    text = change.of(step.text) if change.path == path else None
    if text is None or text == step.text or not _is_python(text, path):
        return None
    made = trials.run(text, group)
    return Step(text, made, [*step.words, change.words]) if made is not None else None


def _with(start: Step, step: Step, then: Step, change: Change, other: Change,
          group: script.Finding, trials: Trials) -> tuple[Step, Change]:
    """Return the script with a change that helps and with one like it, where that helps alone, too:
    it opens a path of its own. Else with the first alone.
    """
    alone = _tried(step, other, group, trials)
    if alone is not None and _better(start.made, alone.made, group):
        both = change + other
        whole = _tried(step, both, group, trials)
        if whole is not None and _better(start.made, whole.made, group):
            return whole, both
    return then, change


def _is_python(text: str, path: str) -> bool:
    try:
        compile(text, path, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


# ---- what a change has changed -------------------------------------------------------------------


def _wrong(made: script.Run) -> set[tuple[int, int]]:
    """Return the numbers of the gradients that came out wrong."""
    return {g.number for g, _ in script.wrong(made)}


def _numbers(group: script.Finding) -> set[tuple[int, int]]:
    return {g.number for g in group.gradients}


def _harmless(before: script.Run, after: script.Run) -> bool:
    """Return whether nothing goes wrong that was right; what was not reached before is not held
    against a change.
    """
    asked = before.heard.questions
    return (after.problem is None or before.problem is not None) and (
        after.heard.questions >= asked) and (
        {number for number in _wrong(after) if number[0] <= asked} <= _wrong(before))


def _better(before: script.Run, after: script.Run, group: script.Finding) -> bool:
    """Return whether a change mends a finding, and nothing goes wrong with it that was right."""
    return _wrong(after).isdisjoint(_numbers(group)) and _harmless(before, after)


def _nearer(before: script.Run, after: script.Run, group: script.Finding) -> bool:
    """Return whether a finding has another first cause after a change: the one before is mended."""
    if not _harmless(before, after):
        return False
    causes: list[set[Any]] = [set(), set()]
    for found, made in zip(causes, (before, after), strict=True):
        for one in script.grouped(made):
            if not _numbers(one).isdisjoint(_numbers(group)):
                first = one.reasons[0] if one.reasons else None
                found.add((first.code, first.text.strip(), first.column) if first else None)
    return None not in causes[1] and causes[1].isdisjoint(causes[0])


def _leaves(before: script.Run, after: script.Run, group: script.Finding) -> bool:
    """Return whether the gradients that were right have the same first values, up to the question
    that shows the finding: what comes later may be of variables that are trained otherwise.
    """
    last = min(_numbers(group))[0]
    bad = _wrong(before)
    now = {g.number: g.first for g in after.heard.gradients.values()}
    return all(
        g.first is None or now.get(g.number) is None or all(
            abs(a - b) <= SAME*max(abs(g.first[1]), 1e-30)
            for a, b in zip(g.first, now[g.number] or (), strict=True))
        for g in before.heard.gradients.values() if g.number not in bad and g.number[0] <= last)


# ---- running a changed script --------------------------------------------------------------------


class Trials:
    """The runs of a script with changes: so many, each of them so long.

    tried: what came of them, by the finding that they are for (its place and first cause).
    """

    __slots__ = ("arguments", "first", "interrupted", "most", "real", "runs", "seconds", "tried")

    def __init__(self, first: script.Run, arguments: Sequence[str], real: bool) -> None:
        self.first = first
        self.arguments = arguments
        self.real = real
        self.runs = 0
        self.interrupted = False
        self.seconds = max(LONGER*first.seconds, LEAST_SECONDS)
        # A script that a user had to end is ended where it was, too.
        self.most = first.heard.questions if isinstance(
            first.problem, KeyboardInterrupt) else None
        self.tried: dict[Any, list[str]] = {}

    def run(self, text: str, group: script.Finding) -> script.Run | None:
        """Run a changed script without its prints; None if it may not run, or takes too long."""
        if self.interrupted or self.runs >= MOST_RUNS:
            return None
        self.runs += 1
        began = perf_counter()
        with _silent(), _alarm(self.seconds):
            made = script.run(self.first.path, self.arguments, self.real, text, self.most,
                              self.first.lines)
        self.interrupted = isinstance(made.problem, KeyboardInterrupt)
        late = perf_counter() - began >= self.seconds
        self.tried.setdefault(_key(group), []).append(
            f"it takes more than {self.seconds:.3g} seconds then" if late else
            f"it ends with {type(made.problem).__name__} then: {made.problem}"
            if made.problem is not None and self.first.problem is None else "")
        return None if late or self.interrupted else made

    def why_left(self, group: script.Finding) -> str:
        """Return why a finding is left."""
        tried = self.tried.get(_key(group))
        if tried:
            why = tried[0] if all(tried) else ""
            return f"no change of the text that was tried helps{why and f' ({why})'}"
        elsewhere = group.reasons[0].file if group.reasons else None
        if elsewhere is not None and elsewhere != self.first.path:
            return f"its cause is in {elsewhere}, and only {self.first.path} is changed here"
        return "not all changes were tried" if self.interrupted or self.runs >= MOST_RUNS else (
            "no change of the text is known that might help")


def _key(group: script.Finding) -> Any:
    first = group.reasons[0] if group.reasons else None
    return group.at, first and (first.code, first.text)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """End a script after so many seconds, where the system has an alarm."""
    import signal
    import threading

    def ring(number: int, frame: Any) -> None:
        raise script.Enough

    if not hasattr(signal, "setitimer") or (
            threading.current_thread() is not threading.main_thread()):
        yield
        return
    handler = signal.signal(signal.SIGALRM, ring)
    before = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    except script.Enough:       # it rang when the script had just ended
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)
        signal.signal(signal.SIGALRM, handler)


@contextmanager
def _silent() -> Iterator[None]:
    before = sys.stdin
    with open(os.devnull, "w") as nowhere, open(os.devnull) as nothing:
        sys.stdin = nothing
        try:
            with redirect_stdout(nowhere), redirect_stderr(nowhere):
                yield
        finally:
            sys.stdin = before
