"""Similar names, to suggest for a name or a path that does not exist."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of `names`, never the name itself; None if none is similar enough.

    Names with the same letters in another order come first, then longer ones with this beginning.
    """
    import difflib

    lower = {n.lower(): n for n in sorted(names, reverse=True) if n != name}
    word = name.lower()
    if word in lower:
        return lower[word]
    letters = sorted(word)
    turned = [n for n in lower if len(word) > 2 and sorted(n) == letters]
    begun = [n for n in lower if len(word) > 2 and n.startswith(word)]
    if turned or begun:
        return lower[min(turned or begun, key=lambda n: (len(n), n))]
    cutoff = 0.6 if len(name) > 3 else 0.7
    close = difflib.get_close_matches(word, lower, n=3, cutoff=cutoff)
    near = [n for n in close if distance(word, n) <= MOST_CHANGES[min(len(word), 8)]]
    return lower[near[0]] if near else None


MOST_CHANGES = (0, 0, 1, 1, 1, 2, 2, 2, 3)
"""By the length of a word, how many letters of it may be wrong."""


def distance(a: str, b: str) -> int:
    """Return the number of letters to change, leave out, put in or exchange with the next."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
            if earlier and j > 1 and x == b[j - 2] and y == a[i - 2]:
                row[j] = min(row[j], earlier[j - 2] + 1)
    return row[-1]


def nearby(path: str) -> str:
    """Suggest a file of a similar name, or how to give the formula itself."""
    import difflib
    import os

    if os.path.isdir(path):
        return "name a file in this folder"
    folder, name = os.path.split(path)
    try:
        names = [other for other in os.listdir(folder or ".") if other != name]
    except (OSError, ValueError):
        names = []
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    if close:
        return f"did you mean `{os.path.join(folder, close[0])}`?"
    return "give the path of a text file, `-` for standard input, or a formula with -e 'x^2'"
