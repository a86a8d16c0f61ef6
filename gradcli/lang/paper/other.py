"""Other readings of an answer: the same tokens, with brackets elsewhere.

An edit puts brackets around some tokens, or moves the closing bracket of a function that was
written without. Those that people forget first come first: beside a slash or in an exponent; then
around the argument of a function; then around whole products and sums.
"""

from __future__ import annotations

from itertools import islice

from gradcli.base.errors import GradcliError
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.marks import arrange
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.parser import parse
from gradcli.lang.paper.scanner import scan
from gradcli.lang.paper.tokens import SCHOOL, AnswerTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gradcli.lang.syntax.code import Code

    # Brackets to put in, (first, behind the last); closing brackets to take out.
    Edit = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]
    Ends = Callable[[int], int]

MAX_READINGS = 16
MAX_TRIES, MAX_TOKENS = 64, 8000
"""So many other tokens are tried, and fewer where these are long."""

OPENING = frozenset((t.LPAR, t.LSQB, t.BAR_OPEN))
CLOSING = frozenset((t.RPAR, t.RSQB, t.BAR_CLOSE))
SIGNS = (t.PLUS, t.MINUS)
STOPS = CLOSING | {t.COMMA, t.SEMICOLON, t.END}
OPERATORS = frozenset((t.PLUS, t.MINUS, t.STAR, t.SLASH, t.CIRCUMFLEX))


def different(tokens: AnswerTokens, candidates: Iterable[AnswerTokens]
              ) -> list[tuple[AnswerTokens, Code]]:
    """Return those of other tokens that can be read, at most 16, all different, with code."""
    seen: set[tuple[object, ...]] = set()
    found: list[tuple[AnswerTokens, Code]] = []
    for other in islice(candidates, _tries(tokens)):
        if len(found) == MAX_READINGS:
            break
        if not seen:
            seen.add(_plain(parse(tokens)))
        try:
            code = parse(other)
        except GradcliError:
            continue
        key = _plain(code)
        if key not in seen:
            seen.add(key)
            found.append((other, code))
    return found


def others(tokens: AnswerTokens, names: ProblemNames) -> Iterator[AnswerTokens]:
    """Yield the tokens of other readings, the most plausible first; some cannot be read."""
    for raw in islice(other_words(tokens.raw, names), _tries(tokens)) if (
            tokens.raw is not None) else ():
        try:
            yield arrange(raw, names)
        except GradcliError:
            continue
    for edit in PartEnds(tokens).edits():
        yield edited(tokens, edit)


def _tries(tokens: AnswerTokens) -> int:
    return min(MAX_TRIES, MAX_TOKENS // len(tokens.kinds))


def _plain(code: Code) -> tuple[object, ...]:
    """Return code without its spans."""
    return tuple([ins[:2] for ins in code])


def edited(tokens: AnswerTokens, edit: Edit) -> AnswerTokens:
    """Return the tokens with the brackets of an edit put in and taken out."""
    pairs, removed = edit
    opening: dict[int, int] = {}
    closing: dict[int, int] = {}
    for first, behind in pairs:
        if first >= 0:
            opening[first] = opening.get(first, 0) + 1
        closing[behind] = closing.get(behind, 0) + 1
    found = _copied(tokens)
    for place in sorted({*opening, *closing, *removed}, reverse=True):
        shut, opened = closing.get(place, 0), opening.get(place, 0)
        start = tokens.starts[place]
        where = [tokens.ends[place - 1] if place else start] * shut + [start] * opened
        put = slice(place, place + (place in removed))
        found.kinds[put] = [t.RPAR] * shut + [t.LPAR] * opened
        found.starts[put] = found.ends[put] = where
        found.words[put] = [""] * len(where)
    return found


class PartEnds:
    """The positions at which the parts of an answer begin and end."""

    __slots__ = ("closing", "kinds", "partner", "products", "words")

    def __init__(self, tokens: AnswerTokens) -> None:
        self.kinds = kinds = tokens.kinds
        self.words = tokens.words
        self.products = frozenset(tokens.products)
        self.closing = tokens.closing
        self.partner: dict[int, int] = {}
        opened: list[int] = []
        for place, kind in enumerate(kinds):
            if kind in OPENING:
                opened.append(place)
            elif kind in CLOSING:
                first = opened.pop()
                self.partner[first] = place
                self.partner[place] = first

    # ---- where something ends: the place behind it --------------------------------------------

    def unary_end(self, at: int) -> int:
        """Return the position behind signs, an operand and its powers."""
        kinds = self.kinds
        while True:
            while kinds[at] in SIGNS:
                at += 1
            at = self.atom_end(at)
            if kinds[at] != t.CIRCUMFLEX:
                return at
            at += 1

    def atom_end(self, at: int) -> int:
        """Return the position behind a number, name, bracket, or function with its argument."""
        kind = self.kinds[at]
        while kind in (t.FUNCTION, t.POWERED, t.BASED):
            at += 1
            if kind != t.FUNCTION:
                at += self.kinds[at] == t.MINUS
                at = self.partner.get(at, at) + 1
            kind = self.kinds[at]
        at = self.partner.get(at, at) + 1
        return at + (self.kinds[at] == t.FACTORIAL)

    def juxtaposed_end(self, at: int) -> int:
        """Return the position behind the operands side by side that begin here."""
        at = self.unary_end(at)
        while at in self.products:
            at = self.unary_end(at + 1)
        return at

    def letters_end(self, at: int) -> int:
        """Return the position behind the numbers and letters side by side that begin here, before
        the first bracket or function: behind 2x in 2x(x + 1), 2x sin x.
        """
        at = self.unary_end(at)
        while at in self.products and self.kinds[at + 1] in (t.NAME, t.NUMBER):
            at = self.unary_end(at + 1)
        return at

    def product_end(self, at: int) -> int:
        """Return the position behind the factors that begin here."""
        at = self.unary_end(at)
        while self.kinds[at] in (t.STAR, t.SLASH):
            at = self.unary_end(at + 1)
        return at

    def two_terms_end(self, at: int) -> int:
        """Return the position behind two terms, where there are two."""
        at = self.product_end(at)
        return self.product_end(at + 1) if self.kinds[at] in SIGNS else at

    def sum_end(self, at: int) -> int:
        """Return the position behind all that belongs to the same bracket."""
        kinds = self.kinds
        while kinds[at] not in STOPS:
            at = self.partner.get(at, at) + 1
        return at

    # ---- where something begins -----------------------------------------------------------------

    def operand_begin(self, at: int) -> int:
        """Return the first token of the operand that ends before `at`."""
        at -= 1
        at -= self.kinds[at] == t.FACTORIAL
        at = self.partner.get(at, at)
        while at and self.kinds[at - 1] in (t.FUNCTION, t.POWERED, t.BASED):
            at -= 1
        return at

    def juxtaposed_begin(self, at: int) -> int:
        """Return the first of the operands side by side that end before `at`."""
        at = self.operand_begin(at)
        while at - 1 in self.products or (at and self.kinds[at - 1] == t.CIRCUMFLEX):
            at = self.operand_begin(at - 1)
        return at

    def sum_begin(self, at: int) -> int:
        """Return the first token behind the bracket or comma before `at`."""
        kinds = self.kinds
        while at and kinds[at - 1] not in OPENING and kinds[at - 1] not in (t.COMMA, t.SEMICOLON):
            at -= 1
            at = self.partner.get(at, at)
        return at

    # ---- edits ---------------------------------------------------------------------------------

    def edits(self) -> Iterator[Edit]:
        """Yield all edits, the most plausible first."""
        kinds = self.kinds
        divisions = [at for at, kind in enumerate(kinds) if kind == t.SLASH]
        powers = [at for at, kind in enumerate(kinds) if kind == t.CIRCUMFLEX]
        below = self._wraps(divisions, self.juxtaposed_end)
        raised = self._wraps(powers, self.juxtaposed_end)
        yield from _edits(below)
        yield from _edits(raised)
        # e^2x (1 + 2x) and 1/2x (x + 1)
        short = self._wraps(powers, self.letters_end), self._wraps(divisions, self.letters_end)
        for pairs, long in zip(short, (raised, below), strict=True):
            yield from _edits([pair for pair in pairs if pair not in long])
        for together in _together(raised, below, self.words) + _together(*short, self.words):
            if len(together) > 1:
                yield tuple(together), ()
        yield from self._functions()
        yield from _edits(self._wraps(powers, self.product_end))
        yield from _edits(self._wraps(divisions, self.two_terms_end))
        yield from _edits(self._wraps(divisions, self.sum_end))
        yield from _edits(self._wraps(powers, self.sum_end))
        yield from self._function_sums()
        for at in divisions:  # x+1/x-1
            above = self.sum_begin(at)
            yield ((above, at),), ()
            yield ((above, at), (at + 1, self.sum_end(at + 1))), ()
        for at in powers:  # 2x^2, -x^2
            begin = self.juxtaposed_begin(at)
            if begin < self.operand_begin(at):
                yield ((begin, at),), ()
            while begin and kinds[begin - 1] in SIGNS and (
                    begin == 1 or kinds[begin - 2] in OPERATORS | OPENING):
                begin -= 1
                yield ((begin, at),), ()
        signs = [at for at, kind in enumerate(kinds)
                 if kind in (t.MINUS, t.STAR) and kinds[at - 1] not in OPERATORS | OPENING and at]
        for at in signs:  # 2x - x+1, x*x+1
            if self.sum_end(at + 1) > self.product_end(at + 1):
                yield ((at + 1, self.sum_end(at + 1)),), ()
            if kinds[at] == t.STAR:
                yield ((self.sum_begin(at), at),), ()

    def _wraps(self, operators: list[int], end: Ends) -> list[tuple[int, int]]:
        """Return brackets around what follows each operator."""
        found = []
        for at in operators:
            behind = end(at + 1)
            if behind > self.unary_end(at + 1):
                found.append((at + 1, behind))
        return found

    def _functions(self) -> Iterator[Edit]:
        """Yield edits that move the closing bracket of a function: sin x/2, sin x^2, sin 2x."""
        kinds = self.kinds
        for first, last in self.closing:
            at = first + 1
            inside = self.unary_end(at)
            behind = at
            while behind < last:
                factor = behind
                behind = self.unary_end(behind)
                behind += behind in self.products
            factor = self.atom_end(factor) if kinds[factor] not in SIGNS else last
            if factor < last and kinds[factor] == t.CIRCUMFLEX:
                yield ((-1, factor),), (last,)  # sin x^2, sin 2x^2
            at = last + 1
            if kinds[at] == t.CIRCUMFLEX:
                at = self.unary_end(at + 1)
                yield ((-1, at),), (last,)
            while at in self.products:
                at = self.unary_end(at + 1)
            if at > last + 1:
                yield ((-1, at),), (last,)
            behind = at
            while kinds[behind] in (t.STAR, t.SLASH):
                behind = self.unary_end(behind + 1)
            if behind > at:
                yield ((-1, behind),), (last,)
            if inside < last:
                yield ((-1, inside),), (last,)  # sin 2x

    def _function_sums(self) -> Iterator[Edit]:
        """Yield edits that extend the argument of a function to a sum: sqrt x+1."""
        for _, last in self.closing:
            behind = self.sum_end(last + 1)
            if behind > last + 1:
                yield ((-1, behind),), (last,)


def _together(raised: list[tuple[int, int]], below: list[tuple[int, int]], words: list[str]
              ) -> list[list[tuple[int, int]]]:
    """Return lists of brackets that may be meant in several places at once: a^2x e^-ax - 2a e^-ax
    has them in all powers of e.
    """
    natural = [pair for pair in raised if words[pair[0] - 2] == "e"]
    return [below, natural, raised, below + raised]


def _edits(pairs: list[tuple[int, int]]) -> Iterator[Edit]:
    for pair in pairs:
        yield (pair,), ()


# --------------------------------------------------------------------------------------------------
# Other readings of the words and bars of an answer, before anything is put in.
#
# log2x   log(2x)     or log2(x)          2e-3    0.002       or 2*e - 3
# acosx   a*cos(x)    or acos(x)          |2|x|+1|    |2|*x*|1|   or |2*|x| + 1|

def other_words(raw: AnswerTokens, names: ProblemNames) -> Iterator[AnswerTokens]:
    """Yield the raw tokens read in another way, one change each."""
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
        letter = ProblemNames((*names.variables, "e"), names.log, names.decimal_comma, names.vector,
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


def _copied(raw: AnswerTokens) -> AnswerTokens:
    found = AnswerTokens(raw.text)
    found.kinds, found.words = raw.kinds[:], raw.words[:]
    found.starts, found.ends = raw.starts[:], raw.ends[:]
    return found


def _joined(raw: AnswerTokens, at: int, word: str) -> AnswerTokens:
    """Return the tokens with two neighbours as one function."""
    found = _copied(raw)
    found.kinds[at] = t.FUNCTION
    found.words[at] = word
    found.ends[at] = raw.ends[at + 1]
    for items in (found.kinds, found.words, found.starts, found.ends):
        del items[at + 1]
    return found
