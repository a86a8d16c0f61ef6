"""Words with digits or an underscore behind them: `x_1`, `log2(x)`, `log_2 x`, `cos2x`, `5x10^2`.

Kept apart from the scanner because few answers have any.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.reading import tokens as t
from gradcli.reading.functions import GREEK, LOADED, SPECIAL
from gradcli.reading.names import MAX_NAME, Names
from gradcli.reading.tokens import Tokens

DIGITS = frozenset("0123456789")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").union(GREEK)
WORD = DIGITS.union("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")


def suffixed(found: Tokens, text: str, at: int, stop: int, names: Names) -> int:
    """Put the tokens of the letters text[at:stop], and of what belongs to them, behind those found.

    Where to go on. Raises E0711 (a digit or index that means nothing) and E0719 (an apostrophe).
    """
    run = text[at:stop]
    if text[stop] == "'":
        from gradcli.reading.refusals import apostrophe

        raise apostrophe(at, stop)
    end, index = _index(text, stop)
    for k in range(len(run) if index else 0):
        word = run[k:] + index
        if word in names.written:
            kind, word = t.NAME, names.written[word]
        elif (word in SPECIAL and (k == 0 or len(word) > 2)
                and (text[end] == "(" or (text[end] == " " and word in ("log2", "log10")))):
            kind, word = t.FUNCTION, SPECIAL[word]
        else:
            continue
        _split(found, text, at, at + k, names)
        found.put(kind, at + k, end, word)
        return end
    if text[stop] == "_":
        for behind in range(end - 1, stop + 1, -1):  # ax_yz is a*x_y*z where there is an x_y
            for k in range(len(run)):
                word = text[at + k:behind]
                if word in names.written and text[behind] in LETTERS:
                    _split(found, text, at, at + k, names)
                    found.put(t.NAME, at + k, behind, names.written[word])
                    return behind
        if run[-3:].lower() == "log":
            _split(found, text, at, stop - 3, names)
            found.put(t.BASED, stop - 3, stop + 1, "log")
            return stop + 1
        word = text[at:end]
        if end < len(text) and text[end] == "(" and word in SPECIAL:
            found.put(t.FUNCTION, at, end, SPECIAL[word])
            return end
        if not index or len(index) >= MAX_NAME:
            raise error("E0711", "this index is no part of a name", (stop, max(end, stop + 1)),
                        help="an index is a number or letters, such as x_1")
        letters = next((size for size in range(len(run), 1, -1) if run[-size:] in LOADED), 1)
        stem = GREEK.get(run[-1], run[-letters:])
        _split(found, text, at, stop - letters, names)
        found.put(t.NAME, stop - letters, end, LOADED.get(stem, stem) + index)
        return end
    if run in ("x", "X") and run not in names.written and _behind_number(found, at):
        found.put(t.STAR, at, stop, "")
        return stop
    if run[-3:] == "log" and text[end] == "(":
        raise error("E0712", f"`log{text[stop:end]}` with a bracket has two readings",
                    (stop - 3, end), help=f"write log_{text[stop:end]}(x) for the base, or"
                    f" log({text[stop:end]}x)")
    _split(found, text, at, stop, names)
    power = text[end] == "^" and text[stop:end] != "10"  # x2^x is x*2^x; in 3x10^5, x may be a sign
    if found.kinds[-1] != t.FUNCTION and not power:
        letter, number = text[stop - 1], text[stop:end]
        raise error(
            "E0711", f"a number stands right behind `{letter}`", (stop - 1, end),
            help=f"write {letter}^{number} or {letter}*{number}" if letter in names.written else
            f"write {letter}_{number} for a name, {letter}*{number} for a product")
    return stop


def log_notes(text: str, begin: int, end: int, names: Names) -> list[str]:
    """What to say of log5 x, which is no logarithm to the base 5 here."""
    found = []
    at = text.find("log", begin, end)
    while at >= 0:
        stop = _index(text, at + 3)[0] if text[at + 3] in DIGITS else at + 3
        behind = stop + (stop < end and text[stop] == " ")
        number = text[at + 3:stop]
        if number and stop < end and text[behind] in LETTERS and f"log{number}" not in \
                names.written and not (behind > stop and number in ("2", "10")):
            found.append(f"`log{number}` is read as the logarithm of {number} times what follows:"
                         f" for the base {number}, write log_{number}(x)")
        at = text.find("log", at + 3, end)
    return list(dict.fromkeys(found))


def _index(text: str, stop: int) -> tuple[int, str]:
    """Where digits, `_1`, `_ab` or `_{1}` end, and how a name has them."""
    end = stop
    if text[end] != "_":
        while text[end] in DIGITS:
            end += 1
        return end, text[stop:end]
    end += 1
    closed = text[end] == "{"
    begin = end = end + closed
    if text[end] in DIGITS and not closed:
        while text[end] in DIGITS:
            end += 1
    elif text[end] != "_":
        while text[end] in WORD:
            end += 1
    inside = text[begin:end]
    if closed:
        if text[end] != "}":
            return end, ""
        end += 1
    return end, f"_{inside}" if inside else ""


def _behind_number(found: Tokens, at: int) -> bool:
    return bool(found.kinds) and found.kinds[-1] == t.NUMBER and found.ends[-1] == at


def _split(found: Tokens, text: str, at: int, stop: int, names: Names) -> None:
    if at == stop:
        return
    for kind, word, size in names.split(text[at:stop], False, at):
        found.put(kind, at, at + size, word)
        at += size
