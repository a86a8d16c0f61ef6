"""The labels that tell the answers of a hand-in apart: `1a)`, `Q1a.`, `1 (a):`, `**1a**`, and `(b)`
below `1.`

What may be a label is read by one grammar, made of the ids of the sheet: nothing else is a label.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Key = tuple[str, ...]


# What students and forms write in front of an id, in the languages of some classes.
NOUNS = ("question|problem|prob|exercise|ex|task|part|item|number|no|nr|answer|ans|solution|sol|"
         "aufgabe|aufg|teilaufgabe|teil|antwort|lösung|exercice|exo|réponse|uppgift|svar|oppgave|"
         "opgave|ejercicio|pregunta|problema|esercizio|domanda|questão|vraag|fråga|spørsmål|tehtävä|"
         "zadanie|frage|übung|uebung|zu|ad|q|p")
LINKS = "to|for|of|zu|zur|till|au"
WORD = (rf"(?:(?:{NOUNS})(?![^\W\d_])\.?\s*+(?:(?:{LINKS}|{NOUNS})(?![^\W\d_])\.?\s*+){{0,2}}"
        r"[#°]?\s*+|[qp]|#)")
# Between the parts of an id: 1a, 1 a, 1.a, 1-a, 1(a), 1) a, (1)(a), 1: a.
BETWEEN = r"\s*+[.\-_,:)\]]*+\s*+[(\[]?\s*+"
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
# Letters and signs of other keyboards, each for one of ASCII.
ASCII = {0xFF01 + k: 0x21 + k for k in range(94)} | {0x2460 + k: 0x31 + k for k in range(9)} | {
    ord(sign): plain for sign, plain in zip(
        "\u3000【】〔〕。﹕∶\ufe0f\u20e3", " [][].:: )", strict=True)}

SIGN, SET_OFF, WEAK = 3, 2, 1
"""How clear a label is: by a sign, `1a)`; set off by a word or letters, `Problem 1a`, `**1a**`; by
what may be a product or difference as well, `1a 2x`, `2 - x`."""


DASHES = "-–—−~"


class Label(NamedTuple):
    """A label at the begin of a text.

    key: the parts of the id, or of the first part of several: `1` of 1a and 1b.
    id: None for such a first part.
    rest: the text behind the label.
    level: SIGN, SET_OFF or WEAK.
    sign: what stands behind the id: ")", ":", ".", "=", "-", " " or "" for nothing at all.
    several: whether more than a number or letter was written: `1a` and `p2`, not `2` for p2.
    """

    key: Key
    id: str | None
    rest: str
    level: int
    sign: str
    several: bool = True


class Ids:
    """The ids of a sheet's problems, as students write them."""

    __slots__ = ("_bare", "_folded", "_full", "_inner", "_keys", "_known", "_part", "_roman", "all")

    def __init__(self, ids: Sequence[str]) -> None:
        self.all = list(ids)
        self._folded = {fold(id): id for id in ids}
        self._keys: dict[Key, str | None] = {}
        self._known: dict[tuple[str, Key | None], Key | None] = {}
        parts_of = {id: parts(id) for id in ids}
        for id, key in parts_of.items():
            # Ids that differ in other signs only are found as they stand.
            self._keys[key] = id if [*parts_of.values()].count(key) == 1 else None
        for key in [*self._keys]:
            for k in range(1, len(key)):
                self._keys.setdefault(key[:k], None)
        self._keys.pop((), None)
        numbered = {(*key[:-1], ROMAN[place - 1]): key for key in self._keys
                    for place in [_place(key)] if 0 < place <= len(ROMAN)}
        # Where parts are numbered, or have letters: 1.ii for 1.2 and for 1b, II for 2.
        self._roman = {key: meant for key, meant in numbered.items() if key not in self._keys}
        self._bare = {key[1:]: key for key in self._keys
                      if key[1:] and re.fullmatch(NOUNS, key[0]) and key[1:] not in self._keys}
        spelled = {_spelled(key) for key in (*self._keys, *self._bare)}
        spelled |= {re.escape(text) for id in ids for text in (id, fold(id))}
        self._full = _pattern(spelled | {_spelled(key) for key in self._roman if key[1:]})
        self._inner = re.compile(rf"(?<=[\s,;]){WORD}?\(?(?:{_either(spelled)})\s*+[):]",
                                 re.IGNORECASE)
        behind = {key[k:] for key in (*self._keys, *self._roman)
                  for k in range(1, len(key))} | {key for key in self._roman if not key[1:]}
        self._part = _pattern({_spelled(key) for key in behind})

    def find(self, written: str) -> str | None:
        """Return the id that is meant, None if there is none."""
        found = self._folded.get(fold(written))
        if found is None and len(written) < 100:
            label = self.label(written.translate(ASCII).strip() + " ", None)
            found = label.id if label is not None and not label.rest else None
        return found

    def label(self, text: str, context: Key | None = (), set_off: bool = False) -> Label | None:
        """Return the label at the begin of a text, None where there is none.

        context: the key of the label above, whose parts are left out here; None to have all.
        set_off: whether the text is a heading or the like.
        """
        head = text[:80].translate(ASCII) + text[80:]
        for pattern in (self._full, self._part) if context is not None else (self._full,):
            found = pattern.match(head)
            if found is None:
                continue
            key = self._key(found["id"], context if pattern is self._part else None)
            if key is None:
                continue
            label = self._label(found, key, head, text, set_off)
            if label is not None and (pattern is self._full or label.level == SET_OFF or (
                    label.level == SIGN and label.sign not in ("=", "\t"))):
                return label
        return None

    def _label(self, found: re.Match[str], key: Key, head: str, text: str, set_off: bool
               ) -> Label | None:
        """Return the label whose id was found, by what stands behind it."""
        mark, bracket, at = found["mark"], found["bracket"], found.end("id")
        closed = bool(mark) and head.startswith(mark, at)
        if closed:
            at += len(mark)
        if mark and not closed and head.startswith(f".{mark}", at):     # **1a.**
            closed, end = True, at + 1 + len(mark)
            head, text = [f"{one[:at + 1]:{end}}{one[end:]}" for one in (head, text)]
        at = _end(_POINTS, head, at)
        behind = _BEHIND.match(head, at)
        assert behind is not None
        signs, at = behind[0].replace(" ", ""), behind.end()
        if mark and not closed and head.startswith(mark, at):
            closed, at = True, at + len(mark)
        rest = text[_end(_POINTS, text, at):].strip()
        if mark and not closed and rest.endswith(mark):
            rest = rest[:-len(mark)].rstrip()
        if mark in ("'", '"') and rest.rstrip(",")[-1:] == rest[:1] == mark:
            rest = rest.rstrip(",")[1:-1].strip()
        if found["word"] and rest[:3].lower() == "is ":
            rest = rest[3:].lstrip()
        set_off = set_off or closed or len((found["word"] or "").strip(" .#")) > 1
        id = self._folded.get(fold(found["id"])) or self._keys[key]
        several = len(key) > 1 and (len(parts(found["id"])) > 1 or bool(found["word"])
                                    or key not in self._bare.values())
        signs = signs.removeprefix("\\")
        if (bracket and signs[:1] not in [*")]}>"]) or (bracket == "<") != (signs == ">"):
            return None
        if signs == "=" and not (found["word"] or re.fullmatch(r"[\w.-]+", found["id"])):
            return None
        if signs and (signs[0] not in f"{DASHES};,|" or signs[-1] == ">"):
            tight = (bracket and bracket == text[found.start("bracket")] and len(signs) == 1
                     and head[at:at + 1].strip() and not closed)
            return Label(key, id, rest, WEAK if tight and not several else SIGN, signs[0], several)
        blank = [not head[k:k + 1].strip() for k in (behind.start(), at)]
        if not signs and not blank[0] and not closed:
            return None     # 2^x
        if signs and ((signs[0] in DASHES and blank == [True, False]) or (
                signs == "|" and rest.count("|") % 2)):
            signs, rest = "", text[behind.start():].strip()     # 1a -2x, 1a |x|
        elif signs and not several and not set_off and not blank[1]:
            return None     # 2-x
        elif not signs and rest[:1] in [*"+-*/^=·×−,;|)]}!'"] and not set_off:
            return None
        sign = "-" if signs and signs[0] in DASHES else signs[:1] or (" " if rest else "")
        return Label(key, id, rest, SET_OFF if set_off else WEAK, sign, several)

    def _key(self, written: str, context: Key | None) -> Key | None:
        """Return the key that is meant, with the parts of the label above that were left out."""
        place = written, context
        if place not in self._known:
            if len(self._known) > 1000:
                self._known.clear()
            self._known[place] = self._new_key(written, context)
        return self._known[place]

    def _new_key(self, written: str, context: Key | None) -> Key | None:
        literal = self._folded.get(fold(written))
        key = parts(literal if literal is not None and context is None else written)
        for k in range(len(context or ()), -1, -1):
            meant = (*(context or ())[:k], *key)
            if meant in self._keys:
                return meant
            if meant in self._roman:
                return self._roman[meant]
            if meant in self._bare:
                return self._bare[meant]
        if context == ():       # (b) where no other id ends so
            ends = [other for other in self._keys if other[-len(key):] == key]
            return ends[0] if len(ends) == 1 else None
        return key if literal is not None else None

    def nth(self, base: Key, number: int) -> Key | None:
        """Return the key of the part with a number, of those that a list below a label numbers;
        None where these have no parts, or not so many.
        """
        below = [key for key in self._keys if len(key) == len(base) + 1 and key[:-1] == base]
        names = [key[-1] for key in below]
        wanted = str(number)
        if names and names[0] == "i" and names[1:2] in ([], ["ii"]):
            wanted = ROMAN[number - 1] if number <= len(ROMAN) else ""
        elif not any(name.isdecimal() for name in names):
            wanted = chr(ord("a") + number - 1) if number <= 26 else ""
        return (*base, wanted) if wanted in names else None

    def id_of(self, key: Key) -> str | None:
        """Return the id with a key; None for the first part of several."""
        return self._keys.get(key)

    def inner(self, text: str) -> list[int]:
        """Return where labels may begin behind the begin of a text, outside of all brackets."""
        found, depth, at = [], 0, 0
        for match in self._inner.finditer(text):
            for character in text[at:match.start()]:
                # The bracket behind a label closes none.
                depth = max(0, depth + (character in "([{") - (character in ")]}"))
            at = match.start()
            if depth == 0:
                found.append(at)
        return found


# What may stand behind an id.
_BEHIND = re.compile(
    r" *+\\?\.?[)\]}](?:\.(?=\s|\Z)| *+:(?!=))?| *+\.? *+:+| *+(?:->|=>|[→⇒⟶⟹↦])| *+=(?!=)|"
    r"\\?\.(?=\s|\Z)| *+\t|、| *+(?:[-–—−]{1,3}|~)(?!>)| *+[;|]|,(?=\s|\Z)|>|")


# What a problem is worth, as it stands behind the ids of a sheet.
_POINTS = re.compile(r"(?:\s*+[(\[]\s*+\d{1,3}(?:[.,]\d{1,2})?\s*+"
                     r"(?:points?|pts?\.?|marks?|punkte?|pkte?\.?|poäng|punti|puntos)\s*+[)\]])?",
                     re.IGNORECASE)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where what a pattern finds at a place ends, the place itself if that is nothing."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _pattern(spelled: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?P<mark>\*{{1,3}}|_{{1,3}}|~~|[`'\"$]|)\s*+(?P<word>{WORD})?"
                      rf"(?P<bracket>[(\[{{<])?\s*+(?P<id>{_either(spelled)})(?![^\W_])",
                      re.IGNORECASE)


def _either(spelled: Iterable[str]) -> str:
    return "|".join(sorted(filter(None, spelled), key=lambda one: (-len(one), one))) or r"(?!)"


def _spelled(key: Key) -> str:
    """Return a pattern of the parts of an id, with what students write between."""
    found = ""
    for k, part in enumerate(key):
        if k:
            alike = part.isdecimal() == key[k - 1].isdecimal()
            found += rf"(?=[^\w]){BETWEEN}" if alike else BETWEEN
        found += rf"0*{part}" if part.isdecimal() else re.escape(part)
    return found


def _place(key: Key) -> int:
    """Return which part an id is of its problem: 2 for 1.2 and 1b; 0 where it does not say."""
    last = key[-1]
    letter = ord(last) - ord("a") + 1 if len(key) > 1 and len(last) == 1 else 0
    return int(last) if last.isdecimal() else letter if 0 < letter < 9 else 0


def parts(id: str) -> Key:
    """Return the numbers and words of an id: 1 and a of 1a."""
    return tuple([part.lstrip("0") or "0" if part.isdecimal() else part
                  for part in re.findall(r"\d+|[^\W\d_]+", fold(id))])


def fold(id: str) -> str:
    return normalize("NFKC", id).strip().casefold()
