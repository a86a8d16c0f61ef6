"""A language that formulas are written in. It differs from others in data, in the operations that
it writes otherwise, and in the file around its formulas.

A text is made bottom-up from those of the parts, so no formula is too deep to be written.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from fractions import Fraction
from itertools import chain, count

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.formulas.arrays import size
from gradcli.formulas.rewrites import rebuilt
from gradcli.formulas.sharing import LONGEST, Units
from gradcli.formulas.terms import ARRAY, MINUS, NAME, NUMBER, ONE, PRODUCT, SUM, ZERO
from gradcli.formulas.text.arithmetic import Arithmetic
from gradcli.ops import TABLE
from gradcli.ops.text import ATOM, COMPARISONS, MULTIPLIED, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Pattern, Piece
    from gradcli.render.layouts.formula import Answer


# Nobody reads a longer formula.
MAX_CHARACTERS = 1_000_000


class Language(Arithmetic, ABC):
    """A language. Its operations that are neither a pattern nor a call are methods, `op_` and the
    name.

    title: as messages name it. functions: operation to the function of the language. patterns: how
    operations are written that are no calls. lowered: operation to what is written in place of it,
    made of terms. others: the languages that have what this one has not.
    """

    __slots__ = ()

    title: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ("gradcli", "python")
    functions: ClassVar[Mapping[str, str]] = {}
    patterns: ClassVar[Mapping[str, Pattern]] = COMPARISONS
    lowered: ClassVar[Mapping[str, Callable[..., Term]]] = {}

    def accepts(self, name: str) -> bool:
        """Return whether the language can have a name. Letters with some number behind are one."""
        return True

    def rename(self, names: Iterable[str], terms: Iterable[Term]) -> None:
        """Find other names for those that the language cannot have beside what terms need."""
        self.names = renamed(names, self.accepts, self.reserved(
            self.algebra.table.of(terms)))

    def reserved(self, terms: Sequence[Term]) -> set[str]:
        """Return the names that the texts of terms have for functions and constants."""
        return set()

    def lengths(self, terms: Sequence[Term], names: Mapping[int, str]) -> dict[int, int]:
        """Return the lengths of the texts of terms that are in order, parts first."""
        own, _ = self._written(terms, names, LONGEST)
        return {number: len(text) for number, text in own.items()}

    def texts(self, terms: Sequence[Term], names: Mapping[int, str],
              whole: Sequence[Term] = (), longest: int = MAX_CHARACTERS) -> list[str]:
        """Return terms as text; those of `whole` are written out although they have a name. Raises
        E0803 where one has more than `longest` characters.
        """
        own, found = self._written(
            Units(self.algebra.table, [*terms, *whole]).terms, names, longest)
        made = [found[t.number][0] for t in terms] + [own[t.number] for t in whole]
        if any(len(text) > longest for text in made):
            raise error("E0803", f"a formula would have more than {longest:,} characters",
                        help="ask for numbers, or without --inline for names of what stands more"
                        " than once")
        return made

    def _written(self, terms: Sequence[Term], names: Mapping[int, str], longest: int
                 ) -> tuple[dict[int, str], dict[int, Piece]]:
        """Return the texts of terms that are in order, parts first, and their texts in others,
        where named ones are names. The latter are cut behind `longest` characters, lest texts grow
        with every path through the terms.
        """
        own: dict[int, str] = {}
        found: dict[int, Piece] = {}
        for term in terms:
            text, strength = self._text(term, found, names)
            own[term.number] = text
            found[term.number] = self.identifier(names[term.number]) if (
                term.number in names) else (text[:longest + 1], strength)
        return own, found

    def _text(self, term: Term, found: Mapping[int, Piece], names: Mapping[int, str]) -> Piece:
        if term.kind == NUMBER:
            return self.number(term.value)
        if term.kind == NAME:
            return self.constant(term.value) if term.attributes else self.identifier(term.value)
        if term.kind == ARRAY:
            return self.array(term.value)
        if term.kind == SUM:
            return self.sum(term, found)
        if term.kind == PRODUCT:
            return self.product(term, found)
        return self.call(term, [found[a.number] for a in term.args])

    @staticmethod
    @abstractmethod
    def file(answer: Answer) -> str:
        """Return the answer to `derive`, whose formulas are in this language, as a file."""

    # --- operations -----------------------------------------------------------------------------

    def call(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return an operation of the table. Raises E0802 where the language has none like it."""
        name = term.operation.name
        special = getattr(self, "op_" + name, None)
        if special is not None:
            found: Piece = special(term, args)
            return found
        if name in self.patterns:
            pattern, places, strength = self.patterns[name]
            return pattern.format(*map(inside, args, places)), strength
        return self.function(term, args)

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return an operation that is written as a call. Raises E0802 where there is no function.
        """
        function = self.functions.get(term.operation.name)
        if function is None:
            raise self.missing(term)
        return f"{function}({listed(args)})", ATOM

    def missing(self, term: Term) -> Exception:
        """Return the error of an operation that the language does not have."""
        name = term.operation.name
        what = "`index` at a computed place" if name in ("put", "index") else f"`{name}`"
        others = [f"--format {language}" for language in self.others]
        if term.operation.internal or (name == "put" and len(term.args) > 1):
            del others[1:]
        return error("E0802", f"{what} cannot be written as {self.title}",
                     help=f"{' or '.join(others)} writes it" if others else
                     "gradcli grad gives numbers")

    def no_arrays(self) -> Exception:
        """Return the error of arrays where formulas are of numbers."""
        return error("E0802", f"arrays cannot be written as {self.title}",
                     help="--format gradcli or --format python writes them")


class Scalars(Language):
    """A language without arrays."""

    __slots__ = ()

    def op_stop_gradient(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the operand itself: nobody differentiates these formulas again."""
        return args[0]

    def _text(self, term: Term, found: Mapping[int, Piece], names: Mapping[int, str]) -> Piece:
        """Return the text of a number. Raises E0802 for arrays: a name is that of one number."""
        if term.shape:
            raise self.no_arrays()
        return super()._text(term, found, names)


class Arrays(Language):
    """A language with arrays. none: what it calls an axis of length 1 in an index."""

    __slots__ = ()

    none = "none"

    def op_one_minus_square(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return 1 - x^2 as a product, which is exact near 1."""
        x = inside(args[0], MULTIPLIED)
        return f"(1 - {x})*(1 + {x})", MULTIPLIED

    def op_index(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return x[1, :]."""
        rest = iter([text for text, _ in args[1:]])
        inner = [next(rest) if item == "i" else self._subscript(item)
                 for item in term.attributes["pattern"]]
        return f"{inside(args[0], ATOM)}[{', '.join(inner)}]", ATOM

    def _subscript(self, item: Any) -> str:
        """Return one item of an index."""
        if isinstance(item, slice):
            parts = ["" if p is None else str(p) for p in (item.start, item.stop)]
            return ":".join(parts) + ("" if item.step is None else f":{item.step}")
        return self.none if item is None else str(item)

    def op_put(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return zeros with elements at some indices. Raises E0802 for computed indices."""
        if len(term.args) > 1:
            raise self.missing(term)
        numbers = np.arange(size(term.shape)).reshape(term.shape)
        places = np.ravel(numbers[tuple(term.attributes["pattern"])]).tolist()
        flat = self.scattered(places, args[0][0], term)
        return (flat if len(term.shape) == 1 else self.reshaped(flat, term.shape)), ATOM

    @abstractmethod
    def scattered(self, places: Sequence[int], text: str, term: Term) -> str:
        """Return a vector with elements at some places, as long as `term` has elements."""

    @abstractmethod
    def reshaped(self, text: str, shape: Sequence[int]) -> str:
        """Return an array in another shape."""


def summed_axes(term: Term) -> tuple[int, ...]:
    """Return the axes that `sum_to` sums over, counted from the right."""
    before, after = term.args[0].shape, term.shape
    extra = len(before) - len(after)
    return tuple(k - len(before) for k, n in enumerate(before)
                 if k < extra or (n != 1 and after[k - extra] == 1))


def listed(args: Sequence[Piece]) -> str:
    """Return the operands of a call as text."""
    return ", ".join([text for text, _ in args])


def chosen(term: Term) -> dict[str, Any]:
    """Return the attributes of an operation that are not its defaults, among which there is no
    array.
    """
    defaults = term.operation.attributes
    return {name: value for name, value in term.attributes.items()
            if name not in defaults or hasattr(value, "tolist") or defaults[name] != value}


# --------------------------------------------------------------------------------------------------
# Names of a file as other languages can have them.

# So often `_` is put behind a name. Letters and a number, which are next, every language accepts.
TRIES = 99


def renamed(names: Iterable[str], accepted: Callable[[str], bool], reserved: Collection[str]
            ) -> dict[str, str]:
    """Return a dict from names that a language cannot have to others that are not taken: alpha for
    α, beta_1 for β₁, double_ for double; x1 where `_` may not stand there. reserved: names that
    formulas need for something else.
    """
    def free(name: str) -> bool:
        return accepted(name) and name not in reserved

    names = list(dict.fromkeys(names))
    taken = {name for name in names if free(name)}
    found = {}
    for name in names:
        if name in taken:
            continue
        made = spelled(name)
        plain, letters = (spelled("".join(filter(kept, made))) for kept in (
            str.isalnum, str.isalpha))
        found[name] = next(other for other in chain(
            (made + "_"*k for k in range(TRIES)), [plain], (f"{letters}{k}" for k in count(1)))
            if free(other) and other not in taken)
        taken.add(found[name])
    return found


def spelled(name: str) -> str:
    """Return a name in ASCII letters, digits and `_`."""
    out = ""
    below = False
    for character in name:
        was_below, below = below, "SUBSCRIPT" in unicodedata.name(character, "")
        if below and not was_below and out[-1:] not in ("", "_"):
            out += "_"
        out += _letters(character) if not character.isascii() else (
            character if character.isalnum() else "_")
    return out if out[:1].isalpha() or out[:1] == "_" else "v" + out


def _letters(character: str) -> str:
    """Return the ASCII letters that replace a character of a name: alpha, 1 for a subscript, e for
    é, u732b.
    """
    plain = unicodedata.normalize("NFKC", character)
    words = unicodedata.name(plain, "").split() if len(plain) == 1 else []
    if words[:1] == ["GREEK"] and "LETTER" in words:
        letter = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
        return letter.capitalize() if "CAPITAL" in words else letter
    found = "".join([c for c in unicodedata.normalize("NFKD", character)
                     if c.isascii() and (c.isalnum() or c == "_")])
    return found or f"u{ord(character):x}"


# --------------------------------------------------------------------------------------------------
# Operations written with others, for languages that do not have them.

def lowered(a: Algebra, terms: Sequence[Term], table: Mapping[str, Callable[..., Term]]
            ) -> list[Term]:
    """Return the terms with some operations written as others. table: name of an operation to the
    function that makes its replacement from the algebra and the operands.
    """
    if not table:
        return list(terms)
    found: dict[int, Term] = {}
    for term in a.table.of(terms):
        lower = None if term.op is None else table.get(term.op.name)
        found[term.number] = lower(a, *[found[t.number] for t in term.args]) if lower else rebuilt(
            a, term, found, lambda t, args: a.call(t.operation, args, t.attributes, t.shape))
    return [found[t.number] for t in terms]


def _call(a: Algebra, name: str, *args: Term) -> Term:
    return a.call(TABLE[name], args, None, None)


def _inverted(name: str) -> Callable[[Algebra, Term], Term]:
    return lambda a, x: a.power(_call(a, name, x), a.number(MINUS))


def _of_inverse(name: str) -> Callable[[Algebra, Term], Term]:
    return lambda a, x: _call(a, name, a.power(x, a.number(MINUS)))


def cofactor(a: Algebra, x: Term) -> Term:
    """Return det(x)*inv(x)^T, of a matrix that has an inverse."""
    det = a.table.call(TABLE["det"], [x], None, x.shape[:-2])
    inverse = a.table.call(TABLE["inv"], [x], None, x.shape)
    axes = (*range(-len(x.shape), -2), -1, -2)
    turned = a.table.call(TABLE["transpose"], [inverse], {"axes": axes}, x.shape)
    a.note(det, "!= 0")
    return a.times(det, turned)


def _unless_zero(which: int, value: Callable[..., Term]) -> Callable[..., Term]:
    """Return a rule that gives 0 where operand `which` is 0, whatever the other one is."""
    def lower(a: Algebra, *args: Term) -> Term:
        return _call(a, "where", _call(a, "equal", args[which], a.number(ZERO)), a.number(ZERO),
                     value(a, *args))

    return lower


def _quotient(a: Algebra, x: Term, y: Term) -> Term:
    return a.product_of([(x, a.number(ONE)), (y, a.number(MINUS))])


ZEROS: dict[str, Callable[..., Term]] = {
    "xdivy": _unless_zero(0, _quotient),
    "xlogy": _unless_zero(0, lambda a, x, y: a.times(x, _call(a, "log", y))),
    "xlog1py": _unless_zero(0, lambda a, x, y: a.times(x, _call(a, "log1p", y))),
    "divide_no_nan": _unless_zero(1, _quotient),
    "relu6": lambda a, x: _call(a, "minimum", _call(
        a, "maximum", x, a.number(ZERO)), a.number(Fraction(6))),
}
"""For languages whose choices compute one side only."""

LOWERED: dict[str, Callable[..., Term]] = {
    "sec": _inverted("cos"), "csc": _inverted("sin"), "cot": _inverted("tan"),
    "sech": _inverted("cosh"), "csch": _inverted("sinh"), "coth": _inverted("tanh"),
    "asec": _of_inverse("acos"), "acsc": _of_inverse("asin"), "acot": _of_inverse("atan"),
    "asech": _of_inverse("acosh"), "acsch": _of_inverse("asinh"), "acoth": _of_inverse("atanh"),
    "sigmoid": lambda a, x: a.power(a.add(a.number(ONE), _call(a, "exp", a.negative(x))),
                                    a.number(MINUS)),
    "cofactor": cofactor,
    "relu": lambda a, x: _call(a, "maximum", x, a.number(ZERO)),
    "softplus": lambda a, x: _call(a, "logaddexp", x, a.number(ZERO)),
    "log_sigmoid": lambda a, x: a.negative(_call(
        a, "logaddexp", a.negative(x), a.number(ZERO))),
}
"""For languages with the functions of C."""

SYMBOLIC: dict[str, Callable[..., Term]] = {
    **ZEROS,
    "sigmoid": LOWERED["sigmoid"], "relu": LOWERED["relu"],
    "softplus": lambda a, x: _call(a, "log", a.add(a.number(ONE), _call(a, "exp", x)))}
"""For those of computer algebra."""
