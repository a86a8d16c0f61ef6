"""Words of a formula as typed: names of the file, products without signs, and requests in words."""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError, error
from gradcli.lang.messages.unknown import FACTORS, USUAL, readings
from gradcli.lang.messages.unknown import WORDS as ENGLISH
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.tokens import (
    ALONE,
    BARE,
    CALLED,
    COUNTING,
    FUNCTION,
    GREEK,
    NAME,
    SCHOOL,
)
from gradcli.lang.running.names import is_known
from gradcli.lang.syntax import lexer as t
from gradcli.lang.syntax.lexer import Tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

DECLARERS = frozenset((t.VAR, t.CONST, t.INPUT, t.FOR, t.TAPE))
INDEXED = re.compile(r"[^\W\d_](?:_\w+|\d+)")
"""A letter with an index: x1, x_1, v_max."""
BEFORE = frozenset((t.PLUS, t.MINUS, t.STAR, t.SLASH, t.CIRCUMFLEX, t.LPAR, t.COMMA))
BEHIND = frozenset((t.PLUS, t.MINUS, t.STAR, t.SLASH, t.CIRCUMFLEX, t.RPAR, t.COMMA, t.NEWLINE,
                    t.END, t.SUPERSCRIPT))
"""What stands around a word that is a name whatever it may be made of: velocity*t sin t."""
ON_PAPER = frozenset((*CALLED, *SCHOOL, *ALONE))
LETTERS = 3
"""So many letters side by side are a product at most; longer words are names."""
BARE_WORDS = frozenset((*SCHOOL, *ALONE, *BARE))
"""Functions that need no brackets."""
BASED = re.compile(r"log(?:_|[₀-₉])\w*")
BASES = re.compile(r"log(\d+)")
APPLIED = re.compile(r"\(\s*[^\W\d]\s*\)")
"""What stands behind the name of a function: (x)."""
CAPITALS = ("Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh")
INVERSES = re.compile(r"a(?:sin|cos|tan)[^\W_]+")


class WordsOfFile:
    """The names that a text binds, and those that a command line gives.

    names: all of them. functions: those that are called.
    """

    __slots__ = ("functions", "names")

    def __init__(self, text: str, known: Collection[str]) -> None:
        self.names = set(known) - t.KEYWORDS.keys()
        self.functions: set[str] = set()
        tokens = Tokens(text)
        kinds = tokens.kinds
        for at, kind in enumerate(kinds):
            if kind not in t.IDENTIFIERS:
                continue
            if kinds[at + 1] == t.EQUAL or (at and kinds[at - 1] in DECLARERS):
                self.names.add(tokens.token(at))
            elif kinds[at + 1] == t.LPAR and (at == 0 or kinds[at - 1] in (
                    t.DEF, t.NEWLINE, t.SEMICOLON, t.INDENT, t.DEDENT)):
                self._head(tokens, at)

    def _head(self, tokens: Tokens, at: int) -> None:
        """Add the names of `f(x, y) =` and `def f(x, y):`."""
        end = at + 2
        while tokens.kinds[end] in t.IDENTIFIERS or tokens.kinds[end] == t.COMMA:
            end += 1
        if tokens.kinds[end] == t.RPAR and tokens.kinds[end + 1] in (t.EQUAL, t.COLON):
            self.functions.add(tokens.token(at))
            self.names.update(tokens.token(k) for k in range(at + 2, end, 2))

    def calls_operations(self, formula: str) -> bool:
        """Return whether a formula calls what only the language has: sum(x)."""
        tokens = Tokens(formula)
        for at in range(len(tokens.kinds) - 1):
            word = tokens.token(at)
            if tokens.kinds[at] not in t.IDENTIFIERS or tokens.kinds[at + 1] != t.LPAR:
                continue
            if len(word) > 1 and is_known(word) and word not in ON_PAPER and (
                    word not in self.functions):
                return True
        return False

    def declared(self, formula: str) -> list[str]:
        """Return the words of a formula that are names: of the file, letters with an index or of
        other alphabets, and words that stand for themselves between signs.
        """
        tokens = Tokens(formula)
        found = {*self.names, *[
            letter for letter in formula if letter in GREEK and letter != "π"
            and GREEK[letter] not in self.names]}
        for at, kind in enumerate(tokens.kinds):
            word = tokens.token(at)
            if kind not in t.IDENTIFIERS or is_known(word) or word in ON_PAPER:
                continue
            if word == "E" or INDEXED.fullmatch(word) or (
                    word in GREEK.values() and word != "pi" and not any(
                        GREEK.get(name) == word for name in self.names)):
                found.add(word)
            elif len(word) > LETTERS and tokens.kinds[at + 1] in BEHIND and (
                    at == 0 or tokens.kinds[at - 1] in BEFORE) and not splits(word, found, ()) \
                    and not readings(word, found, False):
                found.add(word)
        return sorted(found)


def words_of(formula: str) -> list[tuple[str, int]]:
    """Return the words of a formula, as the language finds them, with where each ends."""
    tokens = Tokens(formula)
    return [(tokens.token(at), tokens.ends[at]) for at, kind in enumerate(tokens.kinds)
            if kind in t.IDENTIFIERS or tokens.token(at) in t.KEYWORDS]


def splits(word: str, known: Collection[str], asked: Collection[str]) -> bool:
    """Return whether a word is a product of functions and letters: xsinx, arsinhx, xy, ax, xe.

    known: the other names of the program. asked: names that the command line gives or asks for; a
    word is taken apart as well where one of them is in no other place.
    """
    if not word.isalpha() or word.endswith(ENGLISH) or word in GREEK.values():
        return False
    pieces = ProblemNames(tuple(sorted(known))).pieces(word)
    if pieces is None:
        return False
    letters = USUAL.union(known, ("pi", "e"))
    functions = [k for k, (kind, _, _) in enumerate(pieces) if kind == FUNCTION]
    names = [name for kind, name, _ in pieces if kind == NAME]
    if functions:
        before, behind = pieces[:functions[0]], pieces[functions[0] + 1:]
        arguments = [name for kind, name, _ in behind if kind == NAME]
        return bool(arguments) and behind[-1][0] == NAME and not word.startswith("root") and (
            not {"e", "pi"}.issuperset(arguments)) and letters.issuperset(arguments) and all(
            name in letters or name in FACTORS for _, name, _ in before)
    if not 1 < len(names) <= LETTERS or ("e" in names and len(names) > 2):
        return False    # bet, met
    if any(name in asked for name in names):
        return True
    return all(name in letters or name in FACTORS for name in names) and any(
        name in USUAL for name in names)


def is_product(word: str, known: Collection[str], behind: str, alone: bool) -> bool:
    """Return whether a word of a formula that the language refuses may be a function on paper, or a
    product of letters and functions, and is no function that is not known: out(x), H(x), no
    differential and no other word. behind: the text behind it. alone: it is a formula of the
    command line, where any letters are variables.
    """
    called = behind.startswith("(")
    if called and (word in ON_PAPER or word in COUNTING or BASED.fullmatch(word)):
        return True
    if word in BARE_WORDS or BASED.match(word):
        return True
    if len(word) == 1:
        return not called or word in USUAL or not (
            word in GREEK or APPLIED.match(behind) or word == "D")
    if INDEXED.fullmatch(word):     # indices are read by the scanner
        return not called or word[0] in USUAL
    if word[0] == "d" and word[1:] in USUAL:
        return False
    try:
        pieces = ProblemNames(tuple(known)).split(word, called, 0)
    except GradcliError:
        return any(map(str.isdigit, word))
    if called and pieces[-1][0] == FUNCTION:
        return True
    letters = USUAL.union(FACTORS, known, ("e", "pi"))
    return (alone and not called and len(set(word)) == len(word) and not is_known(word)) or all(
        kind == FUNCTION or name in letters for kind, name, _ in pieces)


def refuse_two_splits(word: str, known: Collection[str], formula: str) -> None:
    """Raise E0104 for a word of a formula that is taken apart in two ways: sinxy, acosx, Asin(x),
    log3 x.
    """
    at = formula.index(word)
    behind = formula[at + len(word):]
    inverse, base = INVERSES.fullmatch(word), BASES.fullmatch(word)
    whole = ""
    if inverse is not None and word not in ON_PAPER and not word.startswith(
            ("asinh", "acosh", "atanh")):
        both = [f"a*{word[1:4]}({word[4:]})", f"arc{word[1:4]}({word[4:]})"]
    elif word in CAPITALS:
        whole = formula
        both = [formula.replace(word, f"A*{word[1:]}"), formula.replace(word, f"arc{word[1:]}")]
    elif base is not None and behind[:1].isspace() and base[1] not in ("2", "10"):
        whole = formula
        both = [formula.replace(word, f"log {base[1]}"), formula.replace(word, f"log_{base[1]}")]
    else:
        both = readings(word, known, behind.lstrip().startswith(("^", "**")))
    if len(both) > 1:
        raise error("E0104", f"`{word}` can be read in two ways", (at, at + len(word)) if not whole
                    else (0, len(whole)), help=f"write `{both[0]}` or `{both[1]}`")


# ---- requests in words ---------------------------------------------------------------------------


def _words(words: str) -> re.Pattern[str]:
    """Return the pattern of words that are not called."""
    return re.compile(rf"\b(?:{words})\b(?!\s*\()", re.IGNORECASE)


REQUESTS = [
    (re.compile(r"(?<!\w)[d∂]\w?\s*/\s*[d∂]\w(?!\w)"), "a formula cannot name its own derivative",
     "write the function alone and ask for it with --wrt x"),
    (re.compile(r"(?<!\w)d\s*\(.*\)\s*/\s*d\w|(?<!\w)D\s*\("),
     "a formula cannot name its own derivative",
     "write the function alone and ask for it with --wrt x"),
    (re.compile(r"\dC\d"), "a number of combinations is written with brackets",
     "such as binomial(5, 2)"),
    (re.compile(r"\blim(?:it)?\b", re.IGNORECASE), "a limit is not part of a formula",
     "`gradcli limit` takes formula and place apart: gradcli limit 'sin(x)/x' --at x=0"),
    (_words(r"(?:the\s+)?(?:(?:first|second|partial)\s+)?derivative(?:\s+of)?|differentiate"
            r"|derive|diff|slope\s+of|gradient\s+of|ableitung|dérivée"),
     "the formula alone is asked for", "leave the words out: gradcli gives its derivative"),
    (re.compile(r"\b(?:integral|integrate|int)\b(?!\s*\()|[∫∮]", re.IGNORECASE),
     "an integral is not part of a formula", "give the formula alone: gradcli differentiates only"),
    (_words("solve|find|minimi[sz]e|maximi[sz]e|simplify|plot|graph|expand|factor|evaluate"
            "|calculate|compute"),
     "the formula alone is asked for", "leave the word out; `gradcli --help` lists the commands"),
    (re.compile(r"(?<=\S)\s+d[xyztuvwrsθ]\s*$"), "a differential is not part of a formula",
     "leave it out"),
    (re.compile(r"[∑Σ∏]"), "a sum over an index is read in LaTeX only",
     r"write its terms, or \sum_{k=1}^{5} k x^k"),
]


def refuse_words(formula: str) -> None:
    """Raise E0720 for words that ask for something: lim, derivative of, integral."""
    for pattern, message, advice in REQUESTS:
        found = pattern.search(formula)
        if found is not None:
            raise error("E0720", message, found.span(), help=advice)
