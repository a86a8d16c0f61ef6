"""Other readings of the words and bars of an answer, before anything is put in.

    log2x   log(2x)     or log2(x)          2e-3    0.002       or 2*e - 3
    acosx   a*cos(x)    or acos(x)          |2|x|+1|    |2|*x*|1|   or |2*|x| + 1|
"""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.reading import tokens as t
from gradcli.reading.functions import SCHOOL
from gradcli.reading.names import Names
from gradcli.reading.scanner import scan
from gradcli.reading.tokens import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def other_words(raw: Tokens, names: Names) -> Iterator[Tokens]:
    """The raw tokens read in another way, one change each."""
    kinds, words = raw.kinds, raw.words
    for at in range(len(kinds) - 1):
        if raw.ends[at] != raw.starts[at + 1] or kinds[at] not in (t.FUNCTION, t.NAME):
            continue
        pair = words[at], words[at + 1]
        if kinds[at] == t.FUNCTION and pair in _LOGARITHMS and kinds[at + 1] == t.NUMBER:
            yield _joined(raw, at, f"log{words[at + 1]}")
        elif pair[0] == "a" and kinds[at + 1] == t.FUNCTION and f"a{pair[1]}" in SCHOOL:
            yield _joined(raw, at, f"a{pair[1]}")
    if "e" not in names.written and any(
            kind == t.NUMBER and "e" in word for kind, word in zip(kinds, words, strict=True)):
        letter = Names((*names.variables, "e"), names.log, names.decimal_comma, names.vector,
                       fixed=names.fixed)
        try:
            yield scan(raw.text, raw.starts[0], raw.ends[-1], letter)
        except GradcliError:
            pass
    bars = [at for at, kind in enumerate(kinds) if kind == t.BAR]
    if len(bars) > 2 and len(bars) % 2 == 0:
        nested = _copied(raw)
        for count, at in enumerate(bars):
            nested.kinds[at] = t.BAR_OPEN if 2 * count < len(bars) else t.BAR_CLOSE
        yield nested


_LOGARITHMS = frozenset((log, base) for log in ("log", "log10") for base in ("2", "10"))


def _copied(raw: Tokens) -> Tokens:
    found = Tokens(raw.text)
    found.kinds, found.words = raw.kinds[:], raw.words[:]
    found.starts, found.ends = raw.starts[:], raw.ends[:]
    return found


def _joined(raw: Tokens, at: int, word: str) -> Tokens:
    """Two neighbours as one function."""
    found = _copied(raw)
    found.kinds[at] = t.FUNCTION
    found.words[at] = word
    found.ends[at] = raw.ends[at + 1]
    for items in (found.kinds, found.words, found.starts, found.ends):
        del items[at + 1]
    return found
