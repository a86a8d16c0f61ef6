"""An answer to raw tokens: words split, numbers read, nothing put in yet.

The text is plain by then (`plain`): ASCII, Greek letters and the signs of roots. Characters are
told apart by one dictionary look-up on the first one, as in `gradcli.lang.lexer`.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.reading import tokens as t
from gradcli.reading.functions import GREEK, SPECIAL
from gradcli.reading.names import Names
from gradcli.reading.tokens import Tokens

MAX_TOKENS = 1000
MAX_NUMBER = 40

DIGITS = frozenset("0123456789")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").union(GREEK)
BEHIND_WORD = DIGITS | {"_", "'"}

_CALLED, _NAMED, _WORD, _NUMBER, _BLANK, _TIMES = range(-6, 0)
_FIRST = {
    **dict.fromkeys(LETTERS, _WORD), **dict.fromkeys(DIGITS, _NUMBER), ".": _NUMBER,
    **dict.fromkeys(" \t\r\n\f", _BLANK),
    "+": t.PLUS, "-": t.MINUS, "*": _TIMES, "/": t.SLASH, "^": t.CIRCUMFLEX, "(": t.LPAR,
    ")": t.RPAR, "[": t.LSQB, "]": t.RSQB, "{": t.LBRACE, "}": t.RBRACE, "<": t.LESS,
    ">": t.GREATER, ",": t.COMMA, ";": t.SEMICOLON, "|": t.BAR,
    **dict.fromkeys(("√", "∛", "∜", *t.CHARACTERS, *t.SUMS, *t.PRODUCTS), _NAMED),
    t.FACTORIAL_SIGN: t.FACTORIAL, t.CALL_SIGN: _CALLED,
}
ROOTS = {"√": "sqrt", "∛": "cbrt", "∜": "∜"}


def scan(text: str, at: int, end: int, names: Names) -> Tokens:
    """The raw tokens of text[at:end]; END is the last.

    Raises E0710 to E0719 for what is no part of an answer.
    """
    found = Tokens(text)
    kinds, starts, ends, words = found.kinds, found.starts, found.ends, found.words
    plain_runs, called_runs = names.plain_runs, names.called_runs
    text = text[:end] + "\n\n\n"  # every scan below stops here at the latest
    while at < end:
        first = text[at]
        kind = _FIRST.get(first, 0)
        if kind == _BLANK:
            at += 1
            continue
        stop = at + 1
        if kind == _WORD:
            while text[stop] in LETTERS:
                stop += 1
            run = text[at:stop]
            behind = text[stop]
            if behind in BEHIND_WORD:
                from gradcli.reading.suffixes import suffixed

                at = suffixed(found, text, at, stop, names)
                continue
            if behind == "(":
                pieces = called_runs.get(run) or names.split(run, True, at)
            else:
                pieces = plain_runs.get(run) or names.split(run, False, at)
            for kind, word, size in pieces:
                kinds.append(kind)
                starts.append(at)
                at += size
                ends.append(at)
                words.append(word)
            continue
        if kind == _NUMBER:
            stop = number_end(text, at, names)
            if kinds and kinds[-1] == t.NAME and words[-1] in "xX":
                _times(found, names)
            words.append(text[at:stop])
            kind = t.NUMBER
        elif kind == _TIMES:
            kind = t.STAR
            if text[stop] == "*":
                kind = t.CIRCUMFLEX
                stop += 1
            words.append("")
        elif kind > 0:
            words.append("")
        elif kind == _NAMED:
            kind = t.ROOT if first in ROOTS else t.NAME if first in t.CHARACTERS else t.SUM
            words.append(ROOTS.get(first, first))
        elif kind == _CALLED:
            at = stop
            stop = text.index("(", at)
            words.append(SPECIAL[text[at:stop]])
            kind = t.FUNCTION
        else:
            from gradcli.reading.refusals import bad_character

            raise bad_character(text, at, names)
        kinds.append(kind)
        starts.append(at)
        ends.append(stop)
        at = stop
    if len(kinds) > MAX_TOKENS:
        raise error("E0710", f"an answer has at most {MAX_TOKENS} numbers, names and signs",
                    (starts[MAX_TOKENS], ends[MAX_TOKENS]), help="shorten the answer")
    kinds.append(t.END)
    starts.append(end)
    ends.append(end)
    words.append("")
    return found


def _times(found: Tokens, names: Names) -> None:
    """The x of `3 x 10^2` is a sign where no variable has that name."""
    if found.words[-1] not in names.written and found.kinds[-2:-1] == [t.NUMBER]:
        found.kinds[-1] = t.STAR
        found.words[-1] = ""


def number_end(text: str, at: int, names: Names) -> int:
    """Where the number that begins here ends. Raises E0713 for one that cannot be read."""
    end = at
    while text[end] in DIGITS:
        end += 1
    if end == at and text[end + 1] not in DIGITS:
        from gradcli.reading.refusals import lone_dot

        raise lone_dot(text, at, names)
    if text[end] == "." or (text[end] == "," and names.decimal_comma and text[end + 1] in DIGITS):
        end += 1
        while text[end] in DIGITS:
            end += 1
    if text[end] in "eE":
        letter = text[end]
        exponent = end + 2 if text[end + 1] in "+-" else end + 1
        if text[exponent] in DIGITS and (letter == "E" or "e" not in names.written):
            end = exponent + 1
            while text[end] in DIGITS:
                end += 1
    if end - at > MAX_NUMBER:
        raise error("E0713", f"a number has at most {MAX_NUMBER} digits", (at, end),
                    help="round it")
    return end
