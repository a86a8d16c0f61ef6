"""Terms: what a formula is made of, each there once.

A term is a number, a name, a constant array, a sum, a product of powers, or an operation of the
table on terms. Terms are numbered as they are made, in a graph; equal terms are the same object.
Shapes are those of whole arrays.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.base.lazy import np
from gradcli.ops.graph import Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Protocol, TypeAlias

    from gradcli.ops.kinds import Op

    Shape = tuple[int, ...]
    Number: TypeAlias = Fraction | float

    class TermAlgebra(Protocol):
        """The operations of an algebra of terms that rules of simplification are written in; see
        `gradcli.formulas.algebra.Algebra`, which applies the rules.
        """

        table: TermTable
        conditions: dict[tuple[Term, str], None]

        def number(self, value: Number) -> Term: ...
        def constant(self, value: float) -> Term: ...
        def add(self, *terms: Term) -> Term: ...
        def sum_of(self, terms: Iterable[tuple[Term, Number]]) -> Term: ...
        def split(self, term: Term) -> tuple[Number, Term | None]: ...
        def negative(self, term: Term) -> Term: ...
        def times(self, *terms: Term) -> Term: ...
        def product_of(self, powers: Iterable[tuple[Term, Term]]) -> Term: ...
        def collected(self, coefficient: Number, items: list[tuple[Term, Term]]) -> Term: ...
        def power(self, base: Term, exponent: Term) -> Term: ...
        def call(self, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
                 shape: Shape | None) -> Term: ...
        def note(self, term: Term, text: str) -> None: ...

NUMBER, NAME, ARRAY, SUM, PRODUCT, CALL = "number", "name", "array", "sum", "product", "call"


class Term:
    """One term; equal ones are identical.

    kind: one of the above. value: of a number a fraction or float, of a constant array the array,
    of a name the name, of a sum the constant in it, of a product the coefficient. items: of a sum
    (term, coefficient) each, of a product (base, exponent term) each. op, args, attributes: of a
    call. number: where it stands among all terms.
    """

    __slots__ = ("args", "attributes", "items", "kind", "number", "op", "shape", "value")

    def __init__(self, kind: str, number: int, shape: Shape, value: Any = None,
                 items: Sequence[tuple[Term, Any]] = (), op: Op | None = None,
                 args: Sequence[Term] = (), attributes: Mapping[str, Any] | None = None) -> None:
        self.kind = kind
        self.number = number
        self.shape = shape
        self.value = value
        self.items = tuple(items)
        self.op = op
        self.args = tuple(args)
        self.attributes = dict(attributes or {})

    def parts(self) -> tuple[Term, ...]:
        """Return the terms that this one is made of."""
        if self.kind == PRODUCT:
            return tuple([t for item in self.items for t in item])
        return tuple([t for t, _ in self.items]) or self.args

    @property
    def operation(self) -> Op:
        """Return the operation of a call."""
        assert self.op is not None
        return self.op

    def is_call(self, *names: str) -> bool:
        """Return whether the term is a call of one of these operations."""
        return self.op is not None and self.op.name in names

    def is_number(self, value: int | None = None) -> bool:
        """Return whether the term is a number, and if a value is given, this number."""
        return self.kind == NUMBER and (value is None or self.value == value)

    def __repr__(self) -> str:
        what = self.op.name if self.op is not None else repr(self.value)
        return f"<{self.kind} {self.number}: {what}>"


# Names of constants of the language: no name of a file becomes one of these.
CONSTANTS = ("pi", "e")


class TermTable(Graph):
    """All terms there are. fractions: float to the number that it was before it was run. written:
    number of a sum to its summands in the order in which they were written, None for the constant.
    typed: the numbers of those that somebody wrote so.
    """

    __slots__ = ("all", "fractions", "typed", "written")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Term] = []
        self.fractions: dict[float, Term] = {}
        self.written: dict[int, list[Term | None]] = {}
        self.typed: set[int] = set()

    def term(self, key: Any, kind: str, shape: Shape, **fields: Any) -> Term:
        """Return the term of this key; made if there is none."""
        number = self.known.get(key)
        if number is None:
            made = Term(kind, len(self.all), shape, **fields)
            number = self.node(key, tuple([t.number for t in made.parts()]))
            self.all.append(made)
        return self.all[number]

    def of(self, terms: Iterable[Term]) -> list[Term]:
        """Return terms and all that they are made of, operands first."""
        return [self.all[n] for n in self.needed([t.number for t in terms])]

    def names(self, terms: Iterable[Term]) -> list[str]:
        """Return the names of the file that terms are made of, in order of appearance."""
        return [t.value for t in self.of(terms) if t.kind == NAME and not t.attributes]

    def number(self, value: Number) -> Term:
        """Return the term of an exact number or a float."""
        if isinstance(value, float):
            value = exact(value)
        found = self.term((NUMBER, isinstance(value, Fraction), repr(value)), NUMBER, (),
                         value=value)
        if isinstance(value, Fraction) and value.denominator > 1:
            self.fractions[as_float(value)] = found
        return found

    def name(self, name: str, shape: Shape = ()) -> Term:
        """Return the term of a name of the file."""
        return self.term((NAME, name), NAME, shape, value=name)

    def constant(self, name: str) -> Term:
        """Return the term of `pi` or `e`; a name of the file that is spelled alike is another term.
        """
        return self.term((NAME, name, "constant"), NAME, (), value=name, attributes={"constant": 1})

    def has_name(self, name: str) -> bool:
        """Return whether a name of the file is spelled so."""
        return (NAME, name) in self.known

    def array(self, value: Any) -> Term:
        """Return the term of a constant array."""
        key = ARRAY, value.dtype.str, value.shape, value.tobytes()
        return self.term(key, ARRAY, value.shape, value=value)

    def call(self, op: Op, args: Sequence[Term], attributes: Mapping[str, Any] | None,
             shape: Shape) -> Term:
        """Return the term of an operation on terms, not simplified."""
        named = dict(attributes or {})
        key = (CALL, id(op), tuple([a.number for a in args]),
               repr(sorted([(name, _attribute_key(value)) for name, value in named.items()])),
               shape)
        return self.term(key, CALL, shape, op=op, args=args, attributes=named)

    def sum(self, constant: Number, items: Sequence[tuple[Term, Number]]) -> Term:
        """Return the term of a sum as it stands; `algebra` simplifies."""
        key = SUM, repr(constant), tuple([(t.number, repr(c)) for t, c in items])
        return self.term(key, SUM, joint([t for t, _ in items]), value=constant, items=items)

    def turned(self, term: Term) -> Term:
        """Return a sum with all signs turned."""
        made = self.sum(-term.value, [(t, -c) for t, c in term.items])
        if term.number in self.written:
            self.written.setdefault(made.number, self.written[term.number])
        return made

    def product(self, coefficient: Number, items: Sequence[tuple[Term, Term]]) -> Term:
        """Return the term of a product of powers as it stands."""
        key = PRODUCT, repr(coefficient), tuple([(b.number, e.number) for b, e in items])
        return self.term(key, PRODUCT, joint([t for item in items for t in item]),
                        value=coefficient, items=items)

    def monic(self, term: Term) -> Term:
        """Return a product without its coefficient."""
        base, exponent = term.items[0]
        if len(term.items) == 1 and exponent.is_number(1):
            return base
        return self.product(ONE, term.items)


def _attribute_key(value: Any) -> Any:
    """Return an attribute as part of a key: of an array all bytes, since its text has some digits
    only.
    """
    return (value.dtype.str, value.shape, value.tobytes()) if hasattr(value, "tobytes") else value


def joint(terms: Iterable[Term]) -> Shape:
    """Return the shape of elementwise arithmetic on terms."""
    shapes = {t.shape for t in terms}
    shapes.discard(())
    if len(shapes) > 1:
        return tuple(np.broadcast_shapes(*shapes))
    return shapes.pop() if shapes else ()


# --------------------------------------------------------------------------------------------------
# Constants of a formula: exact fractions where a float stands for one, so that folding them does
# not round, and the well-known ones by their names.

ZERO, ONE, MINUS, HALF = Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2)

# Decimals of up to so many digits were written by somebody and mean what they say.
DIGITS = 12
# Beyond this, fractions are floats: nobody reads them.
LARGEST = 10**15
# A float is a fraction p/q if q is no larger and the quotient is the same float.
DENOMINATOR = 1000
# Fractions of well-known constants.
SIMPLE = 360
MULTIPLE = 1000

# Value to how it is written: a name, or (operation, argument).
KNOWN: tuple[tuple[float, tuple[Any, ...]], ...] = (
    (math.pi, ("pi",)),
    (math.e, ("e",)),
    (math.log(2.0), ("log", 2)),
    (math.log(10.0), ("log", 10)),
    (math.sqrt(math.pi), ("sqrt", "pi")),
    (1.0 / math.pi, ("1/", "pi")),
    (1.0 / math.sqrt(math.pi), ("1/sqrt", "pi")),
    (math.sqrt(2.0), ("sqrt", 2)),
    (math.sqrt(2.0 * math.pi), ("sqrt", "2*pi")),
    (1.0 / math.sqrt(2.0 * math.pi), ("1/sqrt", "2*pi")),
    (math.sqrt(3.0), ("sqrt", 3)),
    (math.pi**2, ("^2", "pi")),
    *[(math.log(n), ("log", n)) for n in (3, 5, 6, 7, 11, 13)],
    *[(math.sqrt(n), ("sqrt", n)) for n in (5, 6, 7, 10)],
    *[(f(n), (f.__name__, n)) for f in (math.sin, math.cos) for n in (1, 2, 3)],
    *[(math.exp(n), ("e^", n)) for n in (-3, -2, -1, 2, 3, 4)],
    (math.sqrt(math.e), ("sqrt", "e")),
)


def exact(value: float) -> Number:
    """Return the fraction that a float stands for, or the float."""
    if value == 0:
        return ZERO  # a formula has no signed zeros
    if value - value != 0:
        return value
    if value == int(value) and abs(value) < LARGEST:
        return Fraction(int(value))
    text = repr(value)
    digits = text.split("e")[0].replace(".", "").replace("-", "").strip("0")
    if len(digits) <= DIGITS:
        return Fraction(text)
    if 1e-4 < abs(value) < 1e6:
        near = Fraction(value).limit_denominator(DENOMINATOR)
        if near.numerator / near.denominator == value:
            return near
    return value


def known(value: float) -> tuple[Fraction, tuple[Any, ...]] | None:
    """Return (fraction, constant) of a float that is a simple fraction of a well-known constant, to
    within two units in the last place; else None.
    """
    for constant, name in KNOWN:
        ratio = value / constant
        near = _simple(ratio) if 1e-4 < abs(ratio) < MULTIPLE else None
        if near is not None and abs(constant * near.numerator / near.denominator - value) <= (
                4e-16 * abs(value)):
            return near, name
    return None


def simple(value: float) -> Fraction | None:
    """Return the fraction with a small denominator that a float is to within two units in the last
    place, else None.
    """
    near = _simple(value) if 1e-4 < abs(value) < MULTIPLE else None
    return near if near is not None and abs(
        near.numerator / near.denominator - value) <= 4e-16 * abs(value) else None


def _simple(ratio: float) -> Fraction | None:
    """Return the fraction with a small denominator that a float is to within rounding: the first
    such convergent of its continued fraction; None if there is none.
    """
    p, q, p_before, q_before = 1, 0, 0, 1
    rest = ratio
    while True:
        n = math.floor(rest)
        p, q, p_before, q_before = n * p + p_before, n * q + q_before, p, q
        if q > SIMPLE:
            return None
        if abs(p / q - ratio) <= 1e-15 * abs(ratio):
            return Fraction(p, q)
        rest = 1 / (rest - n)


def tidy(value: Number) -> Number:
    """Return a result of exact arithmetic, as a float once it is too long to be read."""
    if isinstance(value, Fraction) and (
            abs(value.numerator) > LARGEST or value.denominator > LARGEST):
        return _float(value)
    return value


def _float(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_float(value: Number) -> float:
    """Return a number as a float."""
    return _float(value) if isinstance(value, Fraction) else value


def plus(a: Number, b: Number) -> Number:
    """Return a + b."""
    if a is ZERO:
        return b
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return tidy(a + b)
    return as_float(a) + as_float(b)


def times(a: Number, b: Number) -> Number:
    """Return a*b."""
    if b is ONE:
        return a
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return tidy(a * b)
    return as_float(a) * as_float(b)


def whole(value: Number) -> int | None:
    """Return a whole number as an int; None for another."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return None


def to_power(a: Number, n: int) -> Number | None:
    """Return a^n for a whole n; None where that is no readable number."""
    if a == 0 and n <= 0:
        return math.inf if n else None
    if isinstance(a, Fraction):
        if abs(n) * max(a.numerator.bit_length(), a.denominator.bit_length()) > 60:
            return None
        return tidy(a**n)
    try:
        found = float(a**n)
    except OverflowError:
        return None
    return found if found - found == 0 and found != 0 else None


def decimal(value: Fraction) -> str | None:
    """Return a fraction as a short decimal that reads back as the same number, else None."""
    shown = repr(_float(value))
    try:
        return shown if Fraction(shown) == value else None
    except ValueError:
        return None
