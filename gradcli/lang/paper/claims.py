"""What a left side says that its right side is: a derivative by y, the second one, that at 2."""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.lang.paper.left import closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.lang.paper.names import Names


class Claim(NamedTuple):
    """of: the letter of what is differentiated. order: how often; None where it is not said, as of
    f(2). by: the variables, one for each time; None where they are not said. at: the values and
    names in brackets behind it, those of x=2 as a pair. operator: ∇, H or D. operand: the formula
    that is differentiated, of (x^2)' or d/dx(x^2).
    """

    of: str = ""
    order: int | None = None
    by: tuple[str, ...] | None = None
    at: tuple[tuple[str, str], ...] = ()
    operator: str = ""
    operand: str = ""


WRITTEN = str.maketrans({"{": "(", "}": ")", "[": "(", "]": ")"})
LETTER = r"[^\W\d_]"
CALL = r"\((?:[^()=]|\([^()]*\))*\)"
AT = rf"(?:{CALL}(?=\||at))?(?P<at>\((?:[^()]|\([^()]*\))*\)|(?:\||at).*)?"
PRIMES = re.compile(rf"\(?(?P<of>{LETTER})(?:_\w+)?(?:(?P<primes>'+)|\^\(+(?P<order>\d|'+)\)+)\)?"
                    rf"{AT}")
QUOTIENT = re.compile(
    rf"\(*(?P<d>[d∂])(?:\^?\(?(?P<order>\d)\)?)?(?P<of>{LETTER}?)\)*/\(*"
    rf"(?P<by>(?P=d)(?:[\w∂]|\^\(?\d\)?)+?)\)*{AT}")
INDEX = re.compile(rf"\(?(?P<of>{LETTER})_?\(?(?P<by>[\w,]+?)\)?\)?{AT}")
OPERATOR = re.compile(rf"(?P<operator>∇|grad|Hess|hess|D_\(?\w+?\)?|H(?=_?{LETTER})|D(?={LETTER}))"
                      rf"_?\(?(?P<of>{LETTER})?\)?{AT}")
OPERAND = re.compile(rf"\((?P<primed>.*)\)(?P<primes>'+)|D(?:_\(?(?P<by>{LETTER})\)?)?"
                     rf"\((?P<of>.*)\)|d\((?P<over>.*)\)/d(?P<below>{LETTER})")
WITHOUT = re.compile(rf"\(*(?P<d>[d∂])(?:\^?\(?(?P<order>\d)\)?)?\)*/"
                     rf"\(*(?P<by>(?P=d){LETTER}(?:\^\(?\d\)?)?)\)*(?P<at>[^=]+|.+\|.*=.*)")
BARE = re.compile(rf"(?P<of>{LETTER}){AT}")
CALLED = re.compile(rf"\(?(?P<of>{LETTER}){AT}\)?")
LONGEST = 80
SIDES = 4
"""So many parts between equals signs make one left side at most: f'(x)|_{x=1, y=2, z=3}."""


def claim(text: str, names: Names) -> Claim | None:
    """What the last left side in a text says: of f'(x) = 3x^2 = f'(2), the right one. None where
    nothing that is known here names the answer.
    """
    bare = "".join(text.split()).replace("^'", "'").replace("^{'}", "'").replace("=>", "=")
    parts = bare.split("=")
    for begin in range(len(parts) - 1, -1, -1):
        for end in range(min(begin + SIDES, len(parts)), begin, -1):
            side = "=".join(parts[begin:end])
            found = _claim(side.translate(WRITTEN), names) if len(side) <= LONGEST else None
            if found is not None:
                return found
    return None


def _claim(text: str, names: Names) -> Claim | None:
    whole = OPERAND.fullmatch(text)
    if whole is not None and text[0] not in names.written and whole["of"] not in names.written:
        by = _variables([whole["by"] or whole["below"] or ""], names)
        return Claim("", len(whole["primes"] or " "), by,
                     operand=whole["primed"] or whole["of"] or whole["over"] or "")
    for whole in (QUOTIENT.fullmatch(text), WITHOUT.fullmatch(text)):
        by = whole and _variables(whole["by"].replace(whole["d"], " ").split(), names)
        if not whole or not by or (whole["order"] or "1") != str(len(by)):
            continue
        of, at = whole.groupdict().get("of"), whole["at"]
        called = None if of else CALLED.fullmatch(at or "")
        if called is not None and called["of"] not in ("e", *names.written):     # d/dx f(2)
            of, at = called["of"], called["at"]
        # What d/dx stands before is a formula, no point.
        return Claim(of or "", len(by), by, _places(at) if of else (),
                     operand="" if of else at or "")
    whole = PRIMES.fullmatch(text)
    if whole is not None:
        primes = whole["primes"] or whole["order"]
        return Claim(whole["of"], int(primes) if primes.isdecimal() else len(primes), None,
                     _places(whole["at"]))
    whole = OPERATOR.fullmatch(text)
    if whole is not None:
        sign, of, at = whole["operator"], whole["of"] or "", _places(whole["at"])
        by = _indices(sign[2:].strip("()"), names) if sign[:2] == "D_" else None
        if by is not None:
            return Claim(of, len(by), by, at if of else (), "D")
        return Claim(of, at=at, operator=sign[0].upper().replace("G", "∇")) if of else None
    whole = BARE.fullmatch(text)
    if whole is not None and text not in names.written:
        return Claim(whole["of"], at=_places(whole["at"]))
    whole = INDEX.fullmatch(text)
    if whole is not None and ("_" in text or text[0] == "f"):
        by = _indices(whole["by"], names)
        return None if by is None else Claim(whole["of"], len(by), by, _places(whole["at"]))
    return Claim(names.written[text]) if text in names.written else None


def _indices(text: str, names: Names) -> tuple[str, ...] | None:
    """The variables in an index; None for one that only belongs to a name, as of y_t, f_max."""
    found = _variables(text.split(","), names)
    return found if found and set(found) <= set(names.written.values()) else None


def _variables(words: list[str], names: Names) -> tuple[str, ...] | None:
    """The variables in words such as x, xy and x^2; None if there is anything else in them, but
    for one letter.
    """
    found: list[str] = []
    for word in words:
        name, _, power = word.replace("(", "").replace(")", "").partition("^")
        begin = len(found)
        while name:
            for end in range(len(name), 0, -1):
                if name[:end] in names.written:
                    found.append(names.written[name[:end]])
                    break
            else:
                end = 1
                if not re.fullmatch(LETTER, name):
                    return None
                found.append(name)
            name = name[end:]
        if power:
            if not power.isdecimal() or len(found) == begin:
                return None
            found += [found[-1]] * (int(power[0]) - 1)
    return tuple(found) or None


def _places(text: str | None) -> tuple[tuple[str, str], ...]:
    """(name, value) for each place in `(1,2)` or `|_(x=1,y=2)`; the name is "" without one."""
    if not text:
        return ()
    bare = text.removeprefix("|").removeprefix("at").removeprefix("_")
    while closed(bare, 0) == len(bare) > 0:
        bare = bare[1:-1]
    found = []
    for part in bare.split(","):
        name, equal, value = part.rpartition("=")
        found.append((name if equal else "", value))
    return tuple(found)
