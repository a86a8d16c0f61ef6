"""Fixes tried before they are offered: applied to a copy of the text, run, asked the same question.

All causes of one None are mended at once: lifting one of two proves nothing. A fix that changes
the value of the target, or anything else that the file says, is none.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, islice, product
from math import inf

from gradcli.errors import GradcliError
from gradcli.explain.missing.outline import applied
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gradcli.explain.reason import Edit, Fix, Reason
    from gradcli.lang.log import Log
    from gradcli.program import Program

    # The values of the target and the gradient; None: the question was not reached.
    Again = Callable[[Program], tuple[list[Any], Any] | None]

MAX_TRIALS = 12
# What all trials of one run may take, in steps: of a long program only a few are tried.
MAX_STEPS = 2_000_000
# Nothing mends them; they are causes only where nothing else is.
NO_MEND = ("path-nondifferentiable", "path-value-independent")
# These ask for another gradient, so that the target is another.
ASKS_ANEW = ("source-downstream", "forward-wrong-order")


def tried(program: Program, found: list[Reason], values: list[Any], again: Again,
          harmless: Callable[[Program], bool], log: Log, steps: int) -> None:
    """Choose for each cause the first fix that works together with those of the others, and note
    whether it does: `fix_works` stays None where nothing could be tried.
    """
    mendable = [r for r in found if any(fix.edits for fix in r.fixes)]
    if not mendable:
        return
    if any(r.code in ASKS_ANEW for r in mendable):
        values = []

    def gradient(chosen: Mapping[int, Fix]) -> Any:
        edits = together([(mendable[k], fix.edits) for k, fix in chosen.items()])
        return _gradient(program, applied(program.source.text, edits), values, again, harmless)

    limit = max(MAX_STEPS, 4*steps)
    if log.tried > limit:
        return
    for chosen in islice(_choices(mendable), MAX_TRIALS):
        whole = gradient(chosen) if log.tried <= limit else None
        if whole is not None:
            for k in [*chosen] if len(chosen) > 1 else ():
                # The smallest set of changes: one that another makes superfluous is left out.
                fewer = {n: fix for n, fix in chosen.items() if n != k}
                part = gradient(fewer) if fewer and log.tried <= limit else None
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
    """The chosen fixes bring the gradient back: offer them, also for the causes that need none of
    their own. Where the gradient is back, what else cut some other way is no cause.
    """
    spare = next(iter(chosen.values()))
    for k, reason in enumerate(mendable):
        reason.choose(chosen.get(k, spare))
        reason.fix_works = True
    found[:] = [r for r in found if r.fix_works is not None or r.code not in NO_MEND]


def together(chosen: Iterable[tuple[Reason, Sequence[Edit]]]) -> list[Edit]:
    """The changes for several causes in one list. In one place, a watch stands before what is moved
    there.
    """
    order = sorted(chosen, key=lambda one: not one[0].code.startswith("source-"))
    return list(dict.fromkeys(edit for _, edits in order for edit in edits))


def _choices(mendable: Sequence[Reason]) -> Iterator[dict[int, Fix]]:
    """Which fix for which cause: for all of them first, then for fewer."""
    for size in range(len(mendable), 0, -1):
        for which in combinations(range(len(mendable)), size):
            options = [[fix for fix in mendable[k].fixes if fix.edits] for k in which]
            for fixes in product(*options):
                yield dict(zip(which, fixes, strict=True))


def _gradient(program: Program, text: str | None, values: list[Any], again: Again,
              harmless: Callable[[Program], bool]) -> Any:
    """The gradient in a changed text, None if it has none or anything else has another value.
    values: those that the target must keep; empty: any.
    """
    if text is None:
        return None
    try:
        changed = _parsed(text, program.source.name)
        changed.max_steps, changed.tf = program.max_steps, program.tf
        found = again(changed)
    except GradcliError:
        return None
    if found is None or found[1] is None or (values and not _same(found[0], values)):
        return None
    return found[1] if harmless(changed) else None


@lru_cache(4)
def _parsed(text: str, name: str) -> Program:
    """A changed program. Many sources may share a fix, so the last ones are kept."""
    from gradcli.program import Program
    from gradcli.source import Source

    return Program(Source(text, name))


def _same(a: list[Any], b: list[Any]) -> bool:
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        if is_float(x) != is_float(y) or type(x) is not float or type(y) is not float:
            from gradcli.ops.lazy import np

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
