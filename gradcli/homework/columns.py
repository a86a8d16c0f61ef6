"""Which column of a table is meant: titles that schools and forms write, compared loosely."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STUDENT = {"student": ("student id", "id", "sis user id", "id number", "matrikelnummer",
                       "username", "user name", "login", "login id", "sis login id", "netid",
                       "email", "email address", "e mail", "e mail address", "mail", "name",
                       "full name", "your name", "student name")}
"""What a table of a class calls the column that says whose a row is."""


def folded(title: str) -> str:
    """A title for comparison: small letters and digits, single spaces."""
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))


def columns(titles: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """For each name the number of the column that is called so, or by one of its synonyms; the
    earlier synonym wins, then the earlier column.
    """
    folds = [folded(title) for title in titles]
    found = {}
    for name, others in synonyms.items():
        for word in (name.replace("_", " "), *others):
            if word in folds:
                found[name] = folds.index(word)
                break
    return found
