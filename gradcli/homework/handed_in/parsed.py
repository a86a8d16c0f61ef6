"""The answers of one student while a file is read: whose ids they have, and what is odd."""

from __future__ import annotations

import re
from unicodedata import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What students and forms write in front of the id.
WORD = r"(?:(?:q|question|problem|prob|p|ex|exercise|task|part|no|nr|aufgabe|answer)\b\.?|q|p)"
_AROUND = re.compile(rf"\s*+(?:{WORD}\s*)?[(\[]?\s*(.*?)\s*[)\]]?\s*[:.)]?\s*", re.IGNORECASE)
SHOWN = 40


class Ids:
    """The ids of a sheet's problems, as students write them: 1a, 1A, Q1a, (1a), Problem 1a."""

    __slots__ = ("_folded", "all", "line")

    def __init__(self, ids: Sequence[str]) -> None:
        self.all = list(ids)
        self._folded = {fold(id): id for id in ids}
        longest = sorted({*ids, *self._folded}, key=len, reverse=True)
        either = "|".join([re.escape(id) for id in longest]) or r"(?!)"
        # `1a: ...`, `1b) ...`, `2 = ...`, `3. ...`, `(1a) ...`, each perhaps behind `Problem`.
        self.line = re.compile(
            rf"(?:{WORD}\s*)?(?:\(({either})\)(?=\s|:|\Z)\s*:?|({either})\s*(?:\)\s*:?|[:=]"
            r"|\.(?=\s|\Z)))\s*(.*)", re.IGNORECASE | re.DOTALL)

    def find(self, written: str) -> str | None:
        """The id that is meant, if there is one."""
        found = self._folded.get(fold(written))
        if found is None and len(written) < 100:
            bare = _AROUND.fullmatch(written)
            found = self._folded.get(fold(bare[1])) if bare else None
        return found


def fold(id: str) -> str:
    return normalize("NFKC", id).strip().casefold()


class Parsed:
    """answers: id to (text, line). notes: (about, message, line). student: whose it says it is."""

    __slots__ = ("answers", "ids", "notes", "student")

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.student: str | None = None
        self.answers: dict[str, tuple[str, int | None]] = {}
        self.notes: list[tuple[str, str, int | None]] = []

    def add(self, written: str, answer: str, line: int | None) -> None:
        """One more answer, to the problem with the id that is written there. The last counts that
        is not empty.
        """
        id = self.ids.find(written)
        if id is None:
            if answer.strip():
                self.note("unknown", f"the sheet has no problem `{short(written)}`, where"
                          f" `{short(answer)}` is answered", line)
            return
        answer = answer.strip()
        before, at = self.answers.get(id, ("", None))
        if before:
            shown = f"`{short(before)}`" + (f" in line {at}" if at else "")
            self.note("repeated", f"problem {id} is answered again: this answer counts, not {shown}"
                      if answer else f"problem {id} stands here again, empty: {shown} counts", line)
        if answer or not before:
            self.answers[id] = answer, line

    def note(self, about: str, message: str, line: int | None = None) -> None:
        self.notes.append((about, message, line))


def short(text: str) -> str:
    """The beginning of a text, for a note."""
    bare = " ".join(text[:4 * SHOWN].split())
    return bare if len(bare) <= SHOWN else bare[:SHOWN - 1] + "…"
