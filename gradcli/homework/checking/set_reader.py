r"""Reads answers that are sets of numbers or points: `x = 1, -1`, `{-1; 1}`, `x = ±1`, `1 and -1`,
`max at x = 1, min at -1`, `(0, 0) saddle`, `x^3 - x = 0 => x = 0, x = ±1`.

Every character is accounted for: it belongs to a word of `set_words`, to a sign between numbers, to
mathematics that is a number, a point or a step that is true, or the answer is for a person.
"""

from __future__ import annotations

import re
from itertools import accumulate
from math import isfinite
from typing import NamedTuple

from gradcli.base.errors import GradcliError, error
from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import Values
from gradcli.homework.checking import compare
from gradcli.homework.checking.built import build, flat
from gradcli.homework.checking.set_steps import NAMED, holds, is_global, is_true
from gradcli.homework.checking.set_words import (
    ALL,
    KINDS_OF,
    KNOWN,
    NONE,
    ONE,
    PLURAL,
    POINT_LETTERS,
    SO,
    SORT_OF,
    SPLIT,
    TWO,
    WITH_NONE,
)
from gradcli.lang.paper.answer import MAX_LENGTH, read
from gradcli.lang.paper.left import closed
from gradcli.lang.paper.names import SUBSCRIPTS, ProblemNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcli.homework.checking.problem import Reference

NEAR = 1e-9
WRITTEN = {
    r"\pm": "±", "+/-": "±", "+-": "±", r"\{": "{", r"\}": "}", r"\left": "", r"\right": "",
    r"\quad": " ", r"\qquad": " ", r"\,": " ", r"\;": " ", r"\ ": " ", "$": "", r"\lor": " or ",
    r"\vee": " or ", "∨": " or ", r"\land": " and ", "∧": " and ", r"\in ": "∈", r"\in{": "∈{",
    r"\mid": "|", r"\emptyset": "∅", r"\varnothing": "∅",
    "&": " and ", "−": "-", "–": "-", "—": "-",
    r"\Rightarrow": "⇒", r"\implies": "⇒", r"\Longrightarrow": "⇒", r"\to": "⇒", "→": "⇒",
    "=>": "⇒", "->": "⇒", "⟹": "⇒", "⇔": "⇒", "<⇒": "⇒", r"\approx": "≈", "’": "'",
    "∈": "=", "≈": "=", "\r": "\n"}
TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox|mathbb)\s*\{([^{}]*)\}")
WORD = re.compile(r"(?<![\\\w])[^\W\d_]+(?:[-'][^\W\d_]+)*(?![\w'])\.?")
PHRASES = (
    (re.compile(r"\b(?:neither|weder)\s+(?:an?\s+|ein\s+)?(?:local\s+)?max\w*\s+(?:nor|noch)\s+"
                r"(?:an?\s+|ein\s+)?(?:local\s+)?min\w*", re.IGNORECASE), "neither"),
    (re.compile(r"\b(?:is|ist)\s+(?:no|not\s+an?|kein)\s+(?:local\s+|lokales\s+)?extrem\w+",
                re.IGNORECASE), "is neither"),
    # {x | x = 1 or x = 2}, x = -1 (max, y = 2), x = -1 (y = 2)
    (re.compile(r"\{\s*([a-z])\s*(?:=\s*[ℝR]\s*)?[|:]\s*((?=\1\s*=)(?:(?!\band\b)[^{}<>,;])*)\}"),
     r" \2 "),
    (re.compile(r"\(\s*([^\W\d_]+)\s*[,:;]\s*(y\s*=\s*[^(),;=]+)\)"), r", \2 (\1)"),
    (re.compile(r"(?<=[\d)])\s*\(\s*((?:[yf]|f\s*\([^()]*\))\s*=\s*[^(),;=]+)\)"), r", \1"),
    # a maximum of 4 at x = -1
    (re.compile(r"\b((?:max|min)[^\W\d_]*)\s+(?:of\s+|von\s+)?([-+√\d][^\s,;=()]*)\s+(?:at|bei)\s+"
                r"([a-z]\s*=\s*[^\s,;=()]+)", re.IGNORECASE), r"\1 at \3, y = \2"),
    (re.compile(r"\b(?:global|absolut)\w*\s+(max|min)[^\W\d_]*", re.IGNORECASE), r"global\1"),
    (re.compile(r"(?<![^,;{])\s*(?:zero|null)\s*(?=[,;}]|and\b|or\b|und\b|oder\b)|"
                r"(?:(?<=[,;])|\b(?P<and>and|or|und|oder)\b)\s*(?:zero|null)\s*(?=$|[,;}.])",
                re.IGNORECASE), r" \g<and> 0 "),
    (re.compile(r"(?:\w\s*=\s*)?(?:∅|(?<![\w}])\{\s*\})"), " none "),
    (re.compile(r"(\([^()]*[,;][^()]*\))\s*(?=\()"), r"\1, "),          # (0, 0) (1, 1)
    (re.compile(r"(=\s*[^\s,;=]+)[ \t]+(?=[a-z]_?\{?\d*\}?\s*=)"), r"\1, "),         # x = 1 x = -1
    (re.compile(r"\b([HTWPEQN])_?\{?\d+\}?\s*=?\s*(?=\()"), r"\1"),          # H_1(-1|2)
    (re.compile(r"\b([a-zA-Z])_?(\d)[,/](\d)\s*="), r"\1_{\2,\3} ="))         # x1,2 = ±1
BAR = re.compile(r"\(([^()|]*)\|([^()|]*)\)")        # HP(-1|2)
INDEX = r"(?:_?\{?\d[\d,/]*\}?)?"
OWN = {"zeros": "N", "inflection": "W", "extrema": "E", "critical": "E"}
"""The letter in an index that says what is asked for: x_E1 of an extremum."""
MORE = re.compile(r"(?i:\b(?:max|min)[^\W\d_]*\s+values?\b)"
                  r"|\.\s*\.|…|dots|(?:^|\n)\s*\d+[.)](?=\s)")
"""A value that is no place, dots for what is not written, and numbers that count lines."""
UNREAD = re.compile(r"[<>≤≥∞ℤ]|\binf|\\mathbb")


class Item(NamedTuple):
    """One number or point of an answer: its coordinates, as typed, and what it is called.

    stated: it stands in f(1) = 2, which does not say that 1 belongs to the set.
    """

    at: tuple[float, ...]
    texts: tuple[str, ...]
    sort: str
    stated: bool = False


class Token(NamedTuple):
    """A part of an answer.

    kind: "at" of numbers, "sort" of what they are called, "," or ";" between them, else "word".
    axis: of a number, the coordinate that it is called, or -1.
    """

    kind: str
    text: str
    items: tuple[Item, ...] = ()
    axis: int = -1
    inside: bool = False


def items(text: str, reference: Reference) -> list[Item]:
    """Return the items of an answer. Raises E0711 and others for what is no list of numbers."""
    if len(text) > MAX_LENGTH:
        raise error("E0710", f"an answer has at most {MAX_LENGTH} characters, not {len(text)}",
                    (MAX_LENGTH, len(text)), help="shorten the answer")
    plain = _plain(text)
    depths = list(accumulate([(c in "([{") - (c in ")]}") for c in plain], initial=0))
    if MORE.search(plain) or min(depths) < 0 or depths[-1]:
        raise unclear(text)
    tokens = list(Scanner(plain, reference).tokens())
    words = [token.text for token in tokens if token.kind == "word"]
    denied = [word for word in words if word in NONE]
    if not any(token.kind == "at" for token in tokens):
        if len(denied) == 1 and not any(token.kind == "sort" for token in tokens):
            return []
        raise unclear(text)
    if denied or not WITH_NONE.isdisjoint(words) or _drops(tokens, len(reference.wrt)):
        raise unclear(text)
    found = _called(_points(_grouped(tokens, len(reference.wrt)), len(reference.wrt)))
    called = {token.text for token in tokens if token.kind == "sort"}
    for word in called & {"globalmax", "globalmin"}:
        sort = SORT_OF[word]
        if {SORT_OF[other] for other in called - {word}} & {sort, "extremum"} or not all(
                is_global(item.at, sort, reference) for item in found if item.sort == sort):
            raise unclear(text)
    return found


def _drops(tokens: Sequence[Token], n: int) -> bool:
    """Return whether only some of the numbers before the last `so` follow it: x = 3 ± 1, so x = 2.
    With sorts, max at 1, each may follow alone.
    """
    at = max([k for k, token in enumerate(tokens) if token.text in SO], default=0)
    before, after = [{tuple([round(v, 9) for v in item.at[:n]]) for token in part
                      for item in token.items if not item.stated and token.axis < n}
                     for part in (tokens[:at], tokens[at:])]
    return bool(after) and after < before and not any(token.kind == "sort" for token in tokens)


def unclear(text: str) -> GradcliError:
    """Return the error of a text that is no list of numbers."""
    return error("E0711", f"`{text.strip()[:40]}` is no list of numbers", (0, len(text)),
                 help="write numbers with commas between them, such as x = 1, 2")


def _plain(text: str) -> str:
    text = TEXT.sub(r" \1 ", text).translate(SUBSCRIPTS)
    for written, meant in WRITTEN.items():
        text = text.replace(written, meant)
    text = BAR.sub(r"(\1, \2)", text)
    for pattern, meant in PHRASES:
        text = pattern.sub(meant, text)
    return text.strip()


# ---- the tokens ----------------------------------------------------------------------------------


class Scanner:
    """The text of an answer, cut into tokens from the left to the right."""

    def __init__(self, text: str, reference: Reference, axis: int = -1) -> None:
        self.text = text
        self.reference = reference
        self.axis = axis

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens. Raises E0711 and others for what has no meaning."""
        text, at, begin = self.text, 0, 0
        while at <= len(text):
            found, end = self._sign(at, text[begin:at].strip())
            if found is None:
                at = end
                continue
            piece = text[begin:at].strip()
            if found and found[0].kind == "sort" and piece.endswith(" -"):
                piece = piece[:-1].strip()      # x = 1 - max
            if piece:
                if piece.startswith("- ") and begin:
                    raise unclear(text)         # max - 1
                yield from self._mathematics(piece)
            yield from found
            begin = at = end

    def _sign(self, at: int, before: str) -> tuple[list[Token] | None, int]:
        """Return the tokens of a word or sign at a place, and the end of them; None for a part of
        mathematics. before: the mathematics that it would end.
        """
        text = self.text
        sign = text[at:at + 1]
        if not sign:
            return [], at + 1
        if sign in SPLIT:
            return [Token(SPLIT[sign], sign)], at + 1
        if sign == ":" and self._label(before) is None:
            return [], at + 1
        if sign == "." and not text[at + 1:at + 2].strip() and not text[:at].endswith("."):
            return [Token(";", sign)], at + 1
        end = closed(text, at)
        if end:
            inner = text[at + 1:end - 1]
            words = [found.group().rstrip(".").casefold() for found in WORD.finditer(inner)]
            if sign in "([" and words and KNOWN.issuperset(words) and not WORD.sub(
                    "", inner).strip(" ,"):
                return [token._replace(inside=True) for word in words
                        for token in self._word(word)], end
            return None, end
        found = WORD.match(text, at)
        if found is None:
            return None, at + 1
        word = found.group().rstrip(".").casefold()
        if word not in KNOWN:
            head = re.match(r"[^\W\d_]+", word)
            if head is None or head.group() not in KNOWN or len(head.group()) < 2:
                return None, found.end()
            word = head.group()
        end = at + len(word) + (found.group()[len(word):] == ".")
        after = text[end:].lstrip()[:1]
        if word in self.reference.wrt or (len(word) == 1 and (after == "=" or (
                word in POINT_LETTERS and (after != "(" or text[at] == word)) or (
                word in "fg" and after == "("))):
            return None, end
        return self._word(word), end

    def _word(self, word: str) -> list[Token]:
        """Return the tokens of a word; raise E0711 for one that this kind of problem has not."""
        kind = self.reference.kind
        if word in SPLIT:
            return [Token(SPLIT[word], word)]
        sort = SORT_OF.get(word, "")
        if (sort and kind.solved != 1 and (sort, kind.solved) != ("inflection", 2)) or (
                word in KINDS_OF and kind.name not in KINDS_OF[word]):
            raise unclear(word)
        own = kind.solved == 2 or (sort == "extremum" and kind.sorted)
        return [Token("sort" if sort and not own else "word", word)]

    def _mathematics(self, piece: str) -> Iterator[Token]:
        """Yield the numbers of a piece without words; nothing for a step that is true."""
        reference = self.reference
        sides = _sides(piece)
        written, axis, axes = sides[:], self.axis, list[int]()
        while len(sides) > 1 and (label := self._label(sides[0])) is not None:
            axis = label
            axes.append(label)
            del sides[0]
        last, named = sides[-1], NAMED.fullmatch(sides[0])
        if len(sides) == 1 and last[:1] == "{" and closed(last, 0) == len(last):
            yield from Scanner(last[1:-1], reference, axis).tokens()
        elif holds(piece, reference) or (
                axis == len(reference.wrt) and "(" in written[0] and is_true(written, reference)):
            return      # f''(1) = 6 > 0; f(x) = 0, if that is asked for
        elif named and len(sides) == 1 and named[1] in "fgh" and not named[2] and named[3] in (
                None, *reference.wrt):
            return      # f(x) has a maximum; one of f'(x) is another
        elif named and len(sides) > 1 and _has_value(named, reference):
            yield _stated(named[3], sides[1:], reference)
        elif len(sides) == 1 or _are_numbers(sides):
            found = [_items(side, reference) for side in sides]
            if len(written) == len(sides) > 1 or any(
                    not _same(found[0], other) for other in found[1:]):
                raise unclear(piece)
            n = len(reference.wrt)
            if len(axes) == n > 1 and sorted(axes) == [*range(n)] and all(
                    len(item.at) == 1 for item in found[0]):
                found[0], axis = [Item(item.at * n, item.texts * n, "") for item in found[0]], WHOLE
            yield Token("at", piece, tuple(found[0]), axis)
        elif not is_true(written, reference):
            raise unclear(piece)

    def _label(self, side: str) -> int | None:
        """Return the coordinate that a left side names, len(wrt) for the value of the function, 99
        for a whole point; None for another side.
        """
        wrt = self.reference.wrt
        for k, name in enumerate(wrt):
            if re.fullmatch(rf"{re.escape(name)}{INDEX}", side, re.IGNORECASE):
                return k
        bare = "".join(side.split())
        if bare == f"({','.join(wrt)})":
            return WHOLE
        if re.fullmatch(rf"[PEQN]{INDEX}", side) or side in ("L", "S", "𝕃"):
            return WHOLE
        if len(wrt) == 1 and (re.fullmatch(rf"[xcr]{INDEX}", side) or re.fullmatch(
                rf"{re.escape(wrt[0])}(?:_\{{?(?:{OWN[self.reference.kind.name]})\d*\}}?"
                rf"|(?:{OWN[self.reference.kind.name]})\d+)", side)):
            return 0
        if re.fullmatch(rf"[fygz]{INDEX}(?:\({','.join(wrt)}\))?", bare):
            return len(wrt)
        return None


WHOLE = 99


def _sides(text: str) -> list[str]:
    """Return what stands between equals signs outside of brackets."""
    found, at = [""], 0
    while at < len(text):
        end = closed(text, at) or at + 1
        if text[at] in "=:":
            found.append("")
        else:
            found[-1] += text[at:end]
        at = end
    return [side.strip() for side in found]


def _has_value(named: re.Match[str], reference: Reference) -> bool:
    """Return whether a left side is a value of the function, f(-1)."""
    name, primes, place = named.groups()
    return name not in reference.wrt and not primes and any(map(str.isdigit, place or ""))


def _stated(place: str, sides: Sequence[str], reference: Reference) -> Token:
    """Return the point of the graph that f(1) = 2 states."""
    if len(sides) > 1:
        raise unclear(" = ".join(sides))
    found = [Item(at.at + value.at, at.texts + value.texts, "", stated=True)
             for at in _items(f"({place})", reference) for value in _items(sides[0], reference)]
    return Token("at", place, tuple(found))


def _are_numbers(sides: Sequence[str]) -> bool:
    """Return whether sides have no letters but those of numbers."""
    try:
        for side in sides:
            _values(side.replace("±", "+"))
    except GradcliError:
        return False
    return True


def _values(text: str, degrees: bool = False) -> list[float]:
    formula = Formula()
    nodes = flat(build(read(text, ProblemNames((), vector=True)).code, formula, (),
                       degrees=degrees))
    if letters := formula.leaves(nodes):
        raise error("E0711", f"`{letters[0]}` is no number: numbers are asked for",
                    (0, len(text)), help="write each number")
    return [float(value) + 0.0 for value, _ in Values(formula, {}).of(nodes)]


def _items(text: str, reference: Reference) -> list[Item]:
    """Read one number or point, two with one ±."""
    if text.count("±") > 1:
        raise unclear(text)
    return [_item(text.replace("±", sign), reference)
            for sign in ("+-" if "±" in text else "+")]


def _item(text: str, reference: Reference) -> Item:
    n = len(reference.wrt)
    text = text.lstrip("+ ")
    text = re.sub(r"([(;,])\s*\+", r"\1", text)
    if UNREAD.search(text):
        raise unclear(text)
    values = _values(text, degrees=reference.problem.angle == "degree")
    texts = tuple([part.strip() for part in re.split(r"[,;]", text.strip("()[]<> "))]) if len(
        values) > 1 else (text,)
    if len(values) > n + 1 or not all(map(isfinite, values)):
        raise error("E0711", f"a {'number' if n == 1 else f'point with {n} coordinates'} is asked"
                    f" for, not `{text}`", (0, len(text)), help="write x = 1, 2" if n == 1 else
                    "write (1, 2), (3, 4)")
    return Item(tuple(values), texts if len(texts) == len(values) else ("",) * len(values), "")


def _same(found: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether another way to write numbers has their values, or rounds them."""
    return len(found) == len(other) and all(
        len(a.at) == len(b.at) and all(
            abs(v - w) <= NEAR * (1 + abs(v)) + compare.allowed(None, v, w, text.strip("+- "))
            for v, w, text in zip(a.at, b.at, b.texts, strict=True))
        for a, b in zip(found, other, strict=True))


# ---- points and what they are called -------------------------------------------------------------


def _points(tokens: Sequence[Token], n: int) -> list[Token]:
    """Join coordinates that are named one by one, x = 1, y = 2, and check that all are complete."""
    found: list[Token] = []
    for token in tokens:
        if token.kind != "at" or token.axis in (-1, 0, WHOLE):
            found.append(token)
            continue
        kept = [one for one in found if one.kind not in (",", ";", "word")]
        before = kept[-1] if kept else None
        if before is None or before.kind != "at" or len(before.items) > 1 < len(token.items) or any(
                len(item.at) != token.axis for item in before.items):
            raise unclear(token.text)
        while found[-1] is not before:
            found.pop()
        found[-1] = token._replace(items=tuple([
            Item(one.at + other.at, one.texts + other.texts, "")
            for one in before.items for other in token.items]))
    sizes = {(len(item.at), token.axis) for token in found for item in token.items
             if not item.stated}
    if any(size < n for size, _ in sizes) or (
            any(axis == n for _, axis in sizes) and len({size for size, _ in sizes}) > 1):
        raise unclear("; ".join([token.text for token in tokens if token.kind == "at"]))
    return found


def _grouped(tokens: Sequence[Token], n: int) -> list[Token]:
    """Join bare coordinates, 0, 0; 1, 1, if each group between other signs than commas has n."""
    numbers = [token for token in tokens if token.kind == "at"]
    bare = all(token.axis == -1 and len(token.items) == 1 == len(token.items[0].at)
               for token in numbers)
    if n == 1 or not bare or any(token.kind not in ("at", ",", ";") for token in tokens):
        return list(tokens)
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "at":
            groups[-1].append(token)
        elif token.text != ",":
            groups.append([])
    groups = [group for group in groups if group]
    if len(groups) < 2 or any(len(group) != n for group in groups):     # 0, 1 may be two points
        return list(tokens)
    found = []
    for group in groups:
        items = [token.items[0] for token in group]
        found += [Token(";", ";"), group[0]._replace(axis=WHOLE, items=(Item(
            sum([item.at for item in items], ()), sum([item.texts for item in items], ()), ""),))]
    return found


def _called(tokens: Sequence[Token]) -> list[Item]:
    """Give items the names that stand before or behind them."""
    found: list[Item] = []
    leading = ""
    waiting: list[int] = []        # the places of items without a name since the last name
    for group in _split(tokens, ";"):
        names = [token for token in group if token.kind == "sort"]
        numbers = [token for token in group if token.kind == "at"]
        whole = len(names) == len(numbers) == 1
        for part in [group] if whole else _split(group, ","):
            pattern = "".join([token.kind[0] for token in part if token.kind in ("at", "sort")])
            names = [token for token in part if token.kind == "sort"]
            numbers = [token for token in part if token.kind == "at"]
            if not names:
                if len(numbers) > 1:
                    raise unclear(numbers[1].text)
                waiting += range(len(found), len(found) + sum([len(t.items) for t in numbers]))
                found += [item._replace(sort=leading) for token in numbers for item in token.items]
                continue
            behind = pattern == "as" * len(names)
            if pattern == "s" or (behind and waiting and not leading):
                _name_all(found, waiting, part, len(numbers[0].items) if numbers else 0)
            if pattern != "s" and not behind and pattern != "sa" * len(names):
                raise unclear(part[-1].text)
            for name, number in zip(names, numbers, strict=False):
                found += [item._replace(sort=_sort(name)) for item in number.items]
            leading, waiting = "" if behind or pattern == "s" else _sort(names[-1]), []
    return found


def _name_all(found: list[Item], waiting: Sequence[int], part: Sequence[Token], here: int) -> None:
    """Give the items that wait for a name the one in this part, -1 and 1 are minima; raise E0711
    where it may belong to the last of them only. here: the number of items in the part.
    """
    name = next(token for token in part if token.kind == "sort")
    words = {token.text for token in part}
    if words & ALL or words & PLURAL:
        if not waiting or (words & TWO and len(waiting) + here != 2):
            raise unclear(name.text)
        for k in waiting:
            found[k] = found[k]._replace(sort=_sort(name))
    elif not here or not (name.inside or words & ONE):
        raise unclear(name.text)


def _sort(name: Token) -> str:
    return SORT_OF[name.text]


def _split(tokens: Sequence[Token], sign: str) -> list[list[Token]]:
    """Return the tokens between signs, without empty parts."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == sign:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if any(token.kind in ("at", "sort") for token in part)]
