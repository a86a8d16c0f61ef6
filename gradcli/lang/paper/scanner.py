"""The scanner: an answer to plain text and to raw tokens, with words split and nothing put in yet.

The text of tokens is plain: ASCII, Greek letters and the signs of roots. Characters are told apart
by one dictionary look-up on the first one, as in `gradcli.lang.syntax.lexer`.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.names import MAX_NAME, ProblemNames
from gradcli.lang.paper.plain import PlainText, counts, put_character
from gradcli.lang.paper.tokens import GREEK, LOADED, PRIVATE, SPECIAL, AnswerTokens

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


def plain(text: str, names: ProblemNames, begin: int = 0, end: int | None = None) -> PlainText:
    """Return the plain form of text[begin:end], which is not ASCII or has LaTeX in it.

    Raises E0713 for `2½`, E0714 for a character of `tokens.PRIVATE` and E0720 for LaTeX that is not
    known; other characters without a plain form stay.
    """
    end = len(text) if end is None else end
    if not PRIVATE.isdisjoint(text):
        from gradcli.lang.paper.refusals import bad_character

        at = min(text.index(character) for character in PRIVATE.intersection(text))
        raise bad_character(text, at)
    if "\\" in text or "$" in text or "{,}" in text or names.program:
        from gradcli.lang.paper.latex import LatexReader

        found = LatexReader(text, names.program, names.decimal_comma).run(begin, end)
    else:
        found = PlainText()
        while begin < end:
            begin = put_character(found, text, begin)
        found.finish(end)
    found.expands = found.expands or counts(text)
    return found


def scan(text: str, at: int, end: int, names: ProblemNames) -> AnswerTokens:
    """Return the raw tokens of text[at:end]; END is the last.

    Raises E0710 to E0719 for text that is not part of an answer.
    """
    found = AnswerTokens(text)
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
        elif names.degrees and first in t.DEGREES:
            words.append(first)
            kind = t.FACTORIAL
        else:
            from gradcli.lang.paper.refusals import bad_character

            raise bad_character(text, at)
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


def _times(found: AnswerTokens, names: ProblemNames) -> None:
    """Make the x of `3 x 10^2` a sign where no variable has that name."""
    if found.words[-1] not in names.written and found.kinds[-2:-1] == [t.NUMBER]:
        found.kinds[-1] = t.STAR
        found.words[-1] = ""


def number_end(text: str, at: int, names: ProblemNames) -> int:
    """Return the offset behind the number that begins here. Raises E0713 for an unreadable one."""
    end = at
    while text[end] in DIGITS:
        end += 1
    if end == at and text[end + 1] not in DIGITS:
        from gradcli.lang.paper.refusals import lone_dot

        raise lone_dot(text, at)
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


# --------------------------------------------------------------------------------------------------
# Words with digits or an underscore behind them: `x_1`, `log2(x)`, `log_2 x`, `cos2x`, `5x10^2`.
#
# Kept apart from the scanner because few answers have any.

WORD = DIGITS.union("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")


def suffixed(found: AnswerTokens, text: str, at: int, stop: int, names: ProblemNames) -> int:
    """Append the tokens of the letters text[at:stop] and of the digits or index behind them; return
    the offset at which to go on.

    Raises E0711 (a digit or index that means nothing), E0712 (log with two readings) and E0719 (an
    apostrophe).
    """
    run = text[at:stop]
    if text[stop] == "'":
        from gradcli.lang.paper.refusals import apostrophe

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
            raise error("E0711", "this index is not part of a name", (stop, max(end, stop + 1)),
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
            "E0711", f"a number directly follows `{letter}`", (stop - 1, end),
            help=f"write {letter}^{number} or {letter}*{number}" if letter in names.written else
            f"write {letter}_{number} for a name, {letter}*{number} for a product")
    return stop


def log_notes(text: str, begin: int, end: int, names: ProblemNames) -> list[str]:
    """Return notes on log5 x, which is no logarithm to the base 5 here."""
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
    """Return the offset behind digits, `_1`, `_ab` or `_{1}`, and their form in a name."""
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


def _behind_number(found: AnswerTokens, at: int) -> bool:
    return bool(found.kinds) and found.kinds[-1] == t.NUMBER and found.ends[-1] == at


def _split(found: AnswerTokens, text: str, at: int, stop: int, names: ProblemNames) -> None:
    if at == stop:
        return
    for kind, word, size in names.split(text[at:stop], False, at):
        found.put(kind, at, at + size, word)
        at += size
