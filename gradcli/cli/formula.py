"""Formulas where a command line has a file, or a command: `gradcli 'x^2 sin x'`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LIKE_PATHS = frozenset("_./~-\\:")
"""Signs of names of files, besides letters and digits; with any other, a text is a formula."""
WORD = 3
"""So many letters make the name of a file or command; fewer are variables, a/b."""
OPERATORS = frozenset("+*/^()²³√ |·×0123456789")


def is_formula(text: str) -> bool:
    """Return whether a text is a formula, and not the name of a file, there or missing."""
    if os.path.lexists(text):
        return False
    if text.isalpha():
        return len(text) == 1 or _splits(text)
    bare = all(sign.isalnum() or sign in LIKE_PATHS for sign in text)
    if _has_ending(text) and (bare or not OPERATORS.difference(" ").intersection(
            sign for sign in text if not sign.isdigit())):
        return False
    if not bare:
        return bool(text.strip())
    words = "".join([sign if sign.isalpha() else " " for sign in text]).split()
    return bool(words or text.strip("./~-")) and not any(
        len(word) >= WORD and not _splits(word) for word in words)


def _has_ending(text: str) -> bool:
    """Return whether a text ends as a name of a file: .txt, .py."""
    head, dot, end = text.rpartition(".")
    return bool(head and dot) and 0 < len(end) <= 8 and end.isalnum() and end[0].isalpha() and (
        not head[-1].isdigit() or len(end) > 1)


def _splits(word: str) -> bool:
    """Return whether a word is a product of functions and letters, or one function."""
    from gradcli.lang.typed.words import splits

    return splits(word, (), ()) or word in ("pi", "tau")


def with_command(argv: Sequence[str]) -> list[str]:
    """Return a command line whose first word is no command with `derive` in front, if it is a
    formula or a file; else as it is.
    """
    first = argv[0] if argv else ""
    if first.startswith("-"):
        meant = is_signed(first)
    else:
        meant = is_formula(first) or (os.path.isfile(first) and not first.endswith(".py"))
    value = ["--value"] if any(word.startswith("--at") for word in argv) else []
    return ["derive", *value, *argv] if meant else list(argv)


def is_signed(word: str) -> bool:
    """Return whether a word that begins with a sign is a formula, -x^2, and no option, -x, -j4."""
    return len(word) > 2 and word[1] != "-" and not OPERATORS.isdisjoint(word) and not (
        word[1] in "eoj" and word[2] not in "^*/+")
