"""The changes of a script that bring its gradients back: each is tried by running the script."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from gradcli.tf.scripts import script
from gradcli.tf.scripts.changes import changes
from gradcli.tf.scripts.texts import Scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Runs of a script that try changes.
MOST_RUNS = 60


class Mended:
    """A script with the changes that help.

    text: with them; words: what they are; left: the findings of the script with them; gained: the
    number of gradients that are right with them; interrupted: by the user, so that not all were
    tried.
    """

    __slots__ = ("gained", "interrupted", "left", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        self.gained = 0
        self.interrupted = False
        self.left: list[script.Finding] = []


def mended(made: script.Run, arguments: Sequence[str], real: bool = False) -> Mended:
    """Return a script with all changes that help: the first cause is mended, then the next."""
    found = Mended(made.text)
    wrong, runs = len(_wrong(made)), 0
    # A script that a user had to end is ended where it was, too.
    most = made.heard.questions if isinstance(made.problem, KeyboardInterrupt) else None
    helped = True
    while helped:
        helped = False
        for text, words, group in _proposed(made, found.text):
            runs += 1
            if runs > MOST_RUNS:
                break
            again = _again(made.path, text, arguments, real, most)
            if isinstance(again.problem, KeyboardInterrupt):
                found.interrupted = True
                break
            if _better(made, again, group):
                found.text, made, helped = text, again, True
                found.words.append(words)
                break
    found.left = script.grouped(made)
    found.gained = wrong - len(_wrong(made))
    return found


def _proposed(made: script.Run, text: str) -> Iterator[tuple[str, str, script.Finding]]:
    """Yield the text with a change, the change in words, and what it is to mend."""
    known = Scripts(made.path, text)
    for group in script.grouped(made):
        for change in changes(known, group.reasons, group.at):
            new = change.of(text) if change.path == made.path else None
            if new is not None and new != text and _is_python(new, made.path):
                yield new, change.words, group


def _is_python(text: str, path: str) -> bool:
    try:
        compile(text, path, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _wrong(made: script.Run) -> set[tuple[int, int]]:
    """Return the numbers of the gradients that came out wrong."""
    return {g.number for g, _ in script.wrong(made)}


def _better(before: script.Run, after: script.Run, group: script.Finding) -> bool:
    """Return whether a change mends a finding, and nothing goes wrong with it that was right; what
    was not reached before is not held against it.
    """
    asked = before.heard.questions
    if (after.problem is not None and before.problem is None) or after.heard.questions < asked:
        return False
    now = _wrong(after)
    return now.isdisjoint([g.number for g in group.gradients]) and (
        {number for number in now if number[0] <= asked} <= _wrong(before))


def _again(path: str, text: str, arguments: Sequence[str], real: bool, most: int | None
           ) -> script.Run:
    """Run a changed script without its prints. most: questions after which it is ended."""
    with _silent():
        return script.run(path, arguments, real, text, most)


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
