"""Texts that a run prints, beside those that a page or a golden file shows.

Numbers are compared to the digits that the computation determines, the rest to the byte: another
processor takes other kernels, which add up in another order and round the last digits otherwise.
"""

from __future__ import annotations

import re

NUMBER = re.compile(r"((?<![\w.)\]])-)?(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
PADDING = re.compile(r" +|─+|━+|-{2,}")
# A double has 15 to 17 digits. One that is printed with fewer is the same on every machine, or its
# other digits are zeros here and are not there.
FULL = 15
RELATIVE = 1e-12
# What is left of a difference of equal numbers: some roundings of the numbers beside it.
RESIDUE = 16 * 2.0**-53


def as_shown(printed: str, shown: str) -> str:
    """Put the numbers of `shown` for those of `printed` that agree with them.

    What differs otherwise stays as it was printed, so that a comparison says where that is.
    """
    ours, theirs = printed.split("\n"), shown.split("\n")
    if printed == shown or len(ours) != len(theirs):
        return printed
    found = [line_as_shown(*pair) for pair in zip(ours, theirs, strict=True)]
    if any(len(now) != len(before) for now, before in zip(found, ours, strict=True)):
        # A number with a digit more makes the whole column of a table wider.
        found = [line if unpadded(now) == unpadded(line) else now
                 for now, line in zip(found, theirs, strict=True)]
    return "\n".join(found)


def line_as_shown(printed: str, shown: str) -> str:
    ours, theirs = ([m[0] for m in NUMBER.finditer(line)] for line in (printed, shown))
    if len(ours) != len(theirs):
        return printed
    scale = max([abs(float(word)) for word in ours + theirs if is_full(word)], default=0.0)
    words = iter([line if agree(word, line, scale) else word
                  for word, line in zip(ours, theirs, strict=True)])
    return NUMBER.sub(lambda m: next(words), printed)


def agree(one: str, other: str, scale: float = 0.0) -> bool:
    """Whether two numbers are one, computed twice, in a line of numbers as large as `scale`."""
    if one == other or not (is_full(one) or is_full(other)):
        return one == other
    a, b = float(one), float(other)
    return abs(a - b) <= max(RELATIVE * max(abs(a), abs(b)), RESIDUE * scale)


def is_full(word: str) -> bool:
    """Whether a number has all digits of a double, which no person types."""
    digits = word.lower().partition("e")[0].replace(".", "").lstrip("-0")
    return len(digits) >= FULL and not word.lstrip("-").isdigit()


def unpadded(line: str) -> str:
    return PADDING.sub(lambda m: m[0][0], line.strip())
