r"""The left side of an answer: `f'(x) =`, `dy/dx =`, `y =`, or a formula of its own; and its claim
about the right side: a derivative by y, the second one, that at 2.

A left side that only names the answer is left out. Such names are: a letter, with primes, an index
and arguments or without (f, y', f''(x), f^(3)(x), f_x, f_{xy}(1, 2), D_u f); a quotient of
differentials (dy/dx, d/dx(x^2), d^2y/dx^2, ∂f/∂x, \frac{d}{dx}[..]); ∇f, Df, Jf, and a few words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.tokens import GREEK

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").union(GREEK)
DIGITS = frozenset("0123456789")
WORDS = frozenset((
    "ans", "answer", "derivative", "grad", "gradient", "hess", "hessian", "jac", "jacobian",
    "slope", "solution", "tangent"))
OPERATORS = frozenset("∇DJHΔ")  # of a function: ∇f, Df, Jf, Hf
CONSTANTS = ("e", "π")
CLOSING = {"(": ")", "[": "]", "{": "}"}


def sides(text: str, end: int) -> list[tuple[int, int]]:
    """Return the spans of the parts between the equals signs of text[:end]; empty ones are left
    out, but the last. `:=` is an equals sign too.
    """
    found = []
    begin = 0
    while True:
        at = text.find("=", begin, end)
        stop = end if at < 0 else at - 1 if at > begin and text[at - 1] == ":" else at
        if at < 0 or text[begin:stop].strip():
            found.append((begin, stop))
        if at < 0:
            return found
        begin = at + 1


def in_lines(text: str, end: int) -> str:
    """Return the text with commas for line ends outside of brackets and between formulas, so that
    each line is a component.
    """
    found = list(text)
    for at in _line_ends(text, end):
        found[at] = ","
    return "".join(found)


def formula_lines(text: str, minus: bool = False) -> list[str]:
    """Return the lines of a text, those of one formula together: brackets are open, or a sign
    stands before or behind the line end. minus: a line that begins with a minus is a formula of its
    own.
    """
    from itertools import pairwise

    text = "\n".join(text.splitlines())
    ends = [-1, *_line_ends(text, len(text), "(-" if minus else "("), len(text)]
    return [text[begin + 1:end].strip() for begin, end in pairwise(ends)]


def _line_ends(text: str, end: int, first: str = "") -> list[int]:
    """Return the line ends of text[:end] between formulas. first: signs that begin a formula."""
    found = []
    depth = 0
    for at in range(end):
        character = text[at]
        depth += (character in "([{<") - (character in ")]}>")
        if character == "\n" and depth <= 0:
            before, behind = text[:at].rstrip()[-1:], text[at + 1:end].lstrip()[:1]
            if before not in UNFINISHED and (
                    behind not in UNFINISHED or (behind and behind in first)):
                found.append(at)
    return found


UNFINISHED = ("", *"+-*/^=,;·×−(")


def lists(text: str, begin: int, end: int) -> bool:
    """Return whether a comma or semicolon stands outside of all brackets: f_x = 2x, f_y = 3."""
    depth = 0
    for character in text[begin:end]:
        depth += (character in "([{<") - (character in ")]}>")
        if character in ",;" and depth <= 0:
            return True
    return False


def unlabelled(text: str, end: int, names: ProblemNames) -> tuple[str, tuple[str, ...]]:
    """Return the text with blanks for the labels of components, and the labels: f_x = 2x, f_y = 3;
    those of one component together, f_xy = f_yx. Both empty where a component has none.
    """
    found = list(text)
    labels = []
    begin = depth = 0
    for at in range(end + 1):
        character = text[at] if at < end else ","
        depth += (character in "([{<") - (character in ")]}>")
        if character not in ",;" or depth > 0:
            continue
        first = begin
        for stop in [k for k in range(begin, at) if text[k] in "=:"]:
            if text[begin:stop].strip() and is_label(text[begin:stop], names):
                begin = stop + 1
        if begin == first:
            return "", ()
        labels.append("".join(text[first:begin - 1].split()))
        found[first:begin] = " " * (begin - first)
        begin = at + 1
    return "".join(found), tuple(labels)


def listed(text: str, names: ProblemNames) -> tuple[str, ...]:
    """Return the labels that a left side lists, (f_x, f_y); empty where it does not."""
    bare = "".join(text.split())
    if {"(": ")", "[": "]", "<": ">"}.get(bare[:1]) != bare[-1:]:
        return ()
    labels, begin, depth = [], 1, 0
    for at in range(1, len(bare)):
        if (bare[at] in ",;" or at == len(bare) - 1) and not depth:
            labels.append(bare[begin:at])
            begin = at + 1
        depth += (bare[at] in "([{<") - (bare[at] in ")]}>")
    return tuple(labels) if all(one and is_label(one, names) for one in labels) else ()


def approximate(text: str, end: int, names: ProblemNames) -> tuple[str, str]:
    """Return the text, at its length, without the mark of a rounded number, and the number.

    ≈ 5.44 and f'(1) ≈ 5.44 get an equals sign and have none, of 2e ≈ 5.44 the formula stays.
    """
    found = ROUNDED.search(text)
    if found and names.written.keys().isdisjoint(text[:found.start()]):
        text = text[:found.start()] + f" ≈{found[1]} ".ljust(len(found.group()))
    stripped = text.lstrip()
    if stripped[:1] == "~" and stripped[1:2]:
        begin = len(text) - len(stripped)
        stop = begin + 1 + (stripped[1:2] in ("~", "="))
        return text[:begin] + " " * (stop - 1 - begin) + "=" + text[stop:], ""
    at = text.find("≈", 0, end)
    if at < 0 or text.find("≈", at + 1, end) >= 0:
        return text, ""
    left = "".join(text[:at].rpartition("=")[2].split())
    if not left or (left not in names.written and is_label(left, names)):
        return text[:at] + "=" + text[at + 1:], ""
    right = "".join(text[at + 1:end].split())
    if left not in names.written and re.fullmatch(r"-?(?:\d+\.?\d*|\.\d+)", right):
        return text[:at] + " " * (len(text) - at), right
    return text, ""


# e ~ 2.718, and e (≈ 2.718) where the value is no answer of its own.
ROUNDED = re.compile(r"(?<=[\w)])\s*(?:~|\(\s*[≈~])(\s*-?[\d.]+)\s*\)?\s*$")


def introduced(text: str, end: int, names: ProblemNames) -> str:
    """Return the text, at its length, with an equals sign for a colon, an arrow or `is` behind a
    label, or in front of all: `Answer: 2x`, `⇒ 2x`, `f'(x) is 2x`.
    """
    for sign in (":", "=>", "-->", "->", "→", "⇒", "⟹", "⟶", " is "):
        at = text.find(sign, 0, end)
        if at < 0 or text[at + 1:at + 2] == "=" or "=" in text[:at]:
            continue
        label = "".join(text[:at].split())
        if (not label and sign != ":") or (
                len(label) > 1 and label not in names.written and is_label(label, names)):
            return text[:at] + "=" + " " * (len(sign) - 1) + text[at + len(sign):]
    return text


def names_a_derivative(text: str, names: ProblemNames) -> bool:
    """Return whether a side is y', f'(x), dy/dx: right of an equals sign it names the left side."""
    bare = "".join(text.split())
    return ("'" in bare and is_label(bare, names)) or _is_quotient(bare)


def is_label(text: str, names: ProblemNames) -> bool:
    """Return whether a left side only names the answer."""
    text = "".join(text.split()).replace("^'", "'")
    if not text or _is_derivative(text, names):
        return True
    head = text[:text.find("(")] if closed(text, text.find("(")) == len(text) else text
    if text[0] == "f" and len(head) > 1 and all(letter in names.written for letter in head[1:]):
        return True  # fx, fxy(1,2)
    if text in CONSTANTS and text not in names.written:
        return False    # e = 2.718
    return (text in names.written or _is_quotient(text) or _is_name(text, names)
            or text.lower().rstrip(":") in WORDS)


def is_side(text: str, names: ProblemNames) -> bool:
    """Return whether a possible label is a side of an equation: y, or y(x - 1).

    F(x, y) names the equation, y' and dy/dx are not part of a curve.
    """
    bare = "".join(text.split())
    head = bare.partition("(")[0]
    if "'" in bare or _is_quotient(bare) or bare.lower().rstrip(":") in WORDS:
        return False
    return head == bare or head in names.written or head in CONSTANTS or any(
        sign in bare for sign in "-/")


def argument(text: str) -> str:
    """Return the text in the brackets of y(x); "" without them."""
    head, _, rest = "".join(text.split()).partition("(")
    return rest[:-1] if rest[-1:] == ")" and head.isidentifier() else ""


def _is_derivative(text: str, names: ProblemNames) -> bool:
    """Return whether a text is a formula's derivative: (x^2)', D(x^2), D_x(x^2), d(x^2)/dx."""
    begin = 0
    if text[0] in "dD" and text[0] not in names.written:
        begin = _index(text, 1)
    behind = closed(text, begin)
    rest = text[behind:]
    if not behind:
        return False
    if not begin:
        return bool(rest) and not rest.strip("'")
    return rest == "" if text[0] == "D" else len(rest) == 3 and rest[:2] == "/d"


def closed(text: str, at: int) -> int:
    """Return the offset behind the bracket that opens at `at`; 0 if there is none, or no end."""
    if text[at:at + 1] not in CLOSING:
        return 0
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] in CLOSING) - (text[k] in CLOSING.values())
        if not depth:
            return k + 1
    return 0


def _is_quotient(text: str) -> bool:
    r"""Return whether a text is dy/dx, d^2y/dx^2, ∂f/∂x(1,2) or d/dx(...), also with \frac."""
    bare = _apart(text.translate(_WITHOUT))
    if bare[:1] not in ("d", "∂"):
        return False
    at = _power(bare, 1)
    function = at
    while at < len(bare) and bare[at] in LETTERS:
        at += 1
    if at - function > 1 or bare[at:at + 1] != "/" or bare[at + 1:at + 2] != bare[0]:
        return False
    of_function = at > function
    at += 1
    while bare[at:at + 1] == bare[0] and bare[at + 1:at + 2] and bare[at + 1] in LETTERS:
        at = _power(bare, at + 2)
    rest = bare[at:]
    # Any formula may follow d/dx; arguments or a point may follow dy/dx.
    return bare[at - 1] not in "d∂/" and (
        not of_function or not any(sign in rest for sign in "+-*/^"))


GLUED = re.compile(r"(([d∂])[^\W\d_])(\2[^\W\d_])")


def _apart(text: str) -> str:
    """Return dy/dx for dydx, any other text as it is."""
    whole = GLUED.fullmatch(text)
    return f"{whole[1]}/{whole[3]}" if whole else text


_WITHOUT = dict.fromkeys(map(ord, "()[]{}* "))


def _power(text: str, at: int) -> int:
    """Return the offset behind `^2` or `2` at `at`; `at` itself without one."""
    if text[at:at + 1] == "^":
        at += 1
    while at < len(text) and text[at] in DIGITS:
        at += 1
    return at


def _is_name(text: str, names: ProblemNames) -> bool:
    """Return whether a text is f, y', f''(x), f^(3)(x), f_x, f_{xy}(1, 2), D_u f(x, y) or ∇f."""
    at = 0
    for word in ("grad", "Hess", "hess"):
        if text.startswith(word) and len(text) > len(word):
            at = len(word)
    if not at and text[0] in OPERATORS:
        at = _index(text, 1)
        if at == len(text):
            return True
    if text[at:at + 1] == "(" and text[-1] == ")" and at:
        at += 1
        text = text[:-1]
    if at < len(text) and text[at] in LETTERS:
        at = _index(text, at + 1)
    elif not at:
        return False
    while text[at:at + 1] == "'":
        at += 1
    if text[at:at + 2] in ("^(", "^{") and text[at - 1] not in CONSTANTS:   # e² is a power
        at = _group(text, at + 1, "(){}'")
    return at > 0 and (at == len(text) or _group(text, at, "(),.-/{}[]") == len(text))


def _index(text: str, at: int) -> int:
    """Return the offset behind `_x`, `_{xy}` or `_1` at `at`; `at` itself without one."""
    if text[at:at + 1] != "_":
        return at
    if text[at + 1:at + 2] == "{":
        return _group(text, at + 1, "{},()")
    at += 1
    begin = at
    while at < len(text) and (text[at] in LETTERS or text[at] in DIGITS):
        at += 1
    if at - begin > 1 and text[begin] == "u":  # D_uf
        return begin + 1
    return at


def _group(text: str, at: int, allowed: str) -> int:
    """Return the offset behind the bracket that opens at `at`; 0 if it holds other characters."""
    opening = text[at]
    if opening not in CLOSING:
        return 0
    depth = 0
    for k in range(at, len(text)):
        character = text[k]
        if character == opening:
            depth += 1
        elif character == CLOSING[opening]:
            depth -= 1
            if not depth:
                return k + 1
        elif character not in LETTERS and character not in DIGITS and character not in allowed:
            return 0
    return 0


class Claim(NamedTuple):
    """The claim of a left side about its right side.

    of: the letter of what is differentiated.
    order: how often; None where it is not said, as in f(2).
    by: the variables, one for each time; None where they are not said.
    at: (name, value) of each place in brackets behind it, the name "" without one.
    operator: ∇, H or D.
    operand: the formula that is differentiated, of (x^2)' or d/dx(x^2).
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


def claim(text: str, names: ProblemNames) -> Claim | None:
    """Return the claim of the last left side in a text: of f'(x) = 3x^2 = f'(2), the right one.
    None where nothing that is known here names the answer.
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


def _claim(text: str, names: ProblemNames) -> Claim | None:
    whole = OPERAND.fullmatch(text)
    if whole is not None and text[0] not in names.written and whole["of"] not in names.written:
        by = _variables([whole["by"] or whole["below"] or ""], names)
        return Claim("", len(whole["primes"] or " "), by,
                     operand=whole["primed"] or whole["of"] or whole["over"] or "")
    text = _apart(text)
    for whole in (QUOTIENT.fullmatch(text), WITHOUT.fullmatch(text)):
        by = whole and _variables(whole["by"].replace(whole["d"], " ").split(), names)
        if not whole or not by or (whole["order"] or "1") != str(len(by)):
            continue
        of, at = whole.groupdict().get("of"), whole["at"]
        called = None if of else CALLED.fullmatch(at or "")
        if called is not None and called["of"] not in ("e", *names.written):     # d/dx f(2)
            of, at = called["of"], called["at"]
        # A formula follows d/dx, no point.
        return Claim(of or "", len(by), by, _points(at) if of else (),
                     operand="" if of else at or "")
    whole = PRIMES.fullmatch(text)
    if whole is not None and not (whole["order"] and whole["of"] in CONSTANTS):
        primes = whole["primes"] or whole["order"]
        return Claim(whole["of"], int(primes) if primes.isdecimal() else len(primes), None,
                     _points(whole["at"]))
    whole = OPERATOR.fullmatch(text)
    if whole is not None:
        sign, of, at = whole["operator"], whole["of"] or "", _points(whole["at"])
        by = _indices(sign[2:].strip("()"), names) if sign[:2] == "D_" else None
        if by is not None:
            return Claim(of, len(by), by, at if of else (), "D")
        return Claim(of, at=at, operator=sign[0].upper().replace("G", "∇")) if of else None
    whole = BARE.fullmatch(text)
    if whole is not None and text not in names.written:
        return Claim(whole["of"], at=_points(whole["at"]))
    whole = INDEX.fullmatch(text)
    if whole is not None and ("_" in text or text[0] == "f"):
        by = _indices(whole["by"], names)
        return None if by is None else Claim(whole["of"], len(by), by, _points(whole["at"]))
    return Claim(names.written[text]) if text in names.written else None


def _indices(text: str, names: ProblemNames) -> tuple[str, ...] | None:
    """Return the variables in an index; None for one that belongs to a name, as of y_t, f_max."""
    found = _variables(text.split(","), names)
    return found if found and set(found) <= set(names.written.values()) else None


def _variables(words: list[str], names: ProblemNames) -> tuple[str, ...] | None:
    """Return the variables in words such as x, xy and x^2; single letters count too. None if there
    is anything else in them.
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


def _points(text: str | None) -> tuple[tuple[str, str], ...]:
    """Return (name, value) for each place in `(1,2)` or `|_(x=1,y=2)`; the name may be ""."""
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
