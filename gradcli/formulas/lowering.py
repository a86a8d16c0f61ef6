"""Operations written with others, for languages that do not have them."""

from __future__ import annotations

from fractions import Fraction

from gradcli.formulas.rewrites import rebuilt
from gradcli.formulas.terms import MINUS, ONE, ZERO
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term


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
