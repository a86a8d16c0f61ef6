"""--student-pattern: students by a regular expression of the teacher's, on names that are not.

A pattern such as (\\w+\\s?)* takes hours on a name that was made for it, and Python cannot be told
to stop: it runs in a process that can be killed.
"""

from __future__ import annotations

import re

from gradcli.errors import Diagnostic, GradcliError
from gradcli.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_PATH = 1024
BATCH = 2000


def finder(pattern: str) -> Callable[[Sequence[str]], Mapping[str, str | None]]:
    """What finds the student in each of some paths: the group called student, or the first one,
    or all that the pattern matches. None where it does not, or takes too long.

    Raises E0732 where it is no pattern.
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        at = getattr(problem, "pos", None) or 0
        message = getattr(problem, "msg", None) or str(problem)
        raise GradcliError(Diagnostic(
            "E0732", f"this is no regular expression: {message}",
            source=Source(pattern, "--student-pattern"), span=(at, at + 1),
            help=r"write one such as (?P<student>\d+)_hw3")) from None

    def find(paths: Sequence[str]) -> Mapping[str, str | None]:
        from gradcli.workers.guarded import Guarded

        guarded = Guarded()
        found: dict[str, str | None] = {}
        try:
            for at in range(0, len(paths), BATCH):
                some = paths[at:at + BATCH]
                outcomes = guarded.run(searching, pattern, pattern, some)
                found.update({path: outcome if good else None for path, (good, outcome)
                              in zip(some, outcomes, strict=True)})
        finally:
            guarded.close()
        return found

    return find


def searching(pattern: str) -> Callable[[str], str | None]:
    """What finds the student in a path."""
    compiled = re.compile(pattern)
    group = "student" if "student" in compiled.groupindex else 1 if compiled.groups else 0

    def search(path: str) -> str | None:
        found = compiled.search(path[:MAX_PATH])
        said: str | None = found[group] if found else None
        return said.strip() or None if said else None

    return search
