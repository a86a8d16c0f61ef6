"""Shorter formulas by SymPy, checked: what it gives is taken where it is shorter and has the same
values at points.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np, quiet
from gradcli.engine.record.tensor import value_of
from gradcli.formulas.build import TermReplay
from gradcli.formulas.rewrites import factored
from gradcli.formulas.terms import NUMBER, ONE, PRODUCT
from gradcli.formulas.text.gradcli import Gradcli
from gradcli.formulas.text.languages import lowered
from gradcli.formulas.text.sympy import Sympy
from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term

# Points at which values are compared, the seed they are drawn by, and how near they have to be.
POINTS, SEED, NEAR = 12, 20, 1e-8
# Beyond so many characters SymPy takes minutes.
LONGEST = 4_000

# What comes back from SymPy: these have other arguments there, or were not tried.
ONE_WAY = frozenset((
    "beta zeta li shi chi lambertw cbrt logical_and logical_or logical_not").split())
FUNCTIONS = {function: name for name, function in Sympy.functions.items() if name not in ONE_WAY}


def simplified(a: Algebra, terms: Sequence[Term], names: Mapping[str, Any]
               ) -> tuple[list[Term], list[str]]:
    """Return the terms, shorter where SymPy finds the same value in fewer characters; and what was
    refused, as sentences. Raises E0805 where SymPy is not installed.
    """
    try:
        import sympy
    except ImportError:
        raise error("E0805", "--simplify needs SymPy, which is not installed",
                    help="pip install 'gradcli[simplify]'") from None
    found = []
    refused: list[str] = []
    for term in terms:
        try:
            new = _simplified(a, term, sympy)
        except (GradcliError, TypeError, ValueError, AttributeError, KeyError, NotImplementedError):
            # SymPy raises these, the last on purpose, for what it cannot do: the term stays.
            new = term
        if new is not term and not _same(a, term, new, names):
            refused.append(f"SymPy's {Gradcli(a).texts([new], {})[0][:80]} has other values")
            new = term
        left = _below(a, new)
        for base in _below(a, term):
            if base not in left:
                a.note(base, "!= 0")
        found.append(new)
    return found, refused


def _below(a: Algebra, term: Term) -> list[Term]:
    """Return what stands below a line somewhere in a term."""
    return [base for t in a.table.of([term]) if t.kind == PRODUCT for base, exponent in t.items
            if exponent.kind == NUMBER and exponent.value < 0]


def _length(a: Algebra, term: Term) -> int:
    return len(Gradcli(a).texts([term], {})[0])


def _simplified(a: Algebra, term: Term, sympy: Any) -> Term:
    if term.shape:
        return term
    writer = Sympy(a)
    (plain,) = lowered(a, [term], writer.lowered)
    names = a.table.names([plain])
    writer.rename(names, [plain])
    (text,) = writer.texts([plain], {})
    if len(text) > LONGEST:
        return term
    known = {writer.identifier(n)[0]: sympy.Symbol(n, real=True) for n in names}
    known["cbrt"] = sympy.Function("cbrt")
    tree = sympy.sympify(text, locals=known)
    before = dict(a.conditions)
    best, size = term, _length(a, term)
    for change in (sympy.factor_terms, sympy.simplify, sympy.factor):
        (made,) = factored(a, [_term(a, change(tree))])
        length = _length(a, made)
        if length < size:
            best, size = made, length
    a.conditions = before
    return best


def _term(a: Algebra, tree: Any) -> Term:
    """Return SymPy's tree as a term. Raises KeyError for a function that gradcli does not have."""
    kind = type(tree).__name__
    if tree.is_Rational:
        return a.number(Fraction(int(tree.p), int(tree.q)))
    if tree.is_Float:
        return a.constant(float(tree))
    if kind in ("Pi", "Exp1"):
        return a.table.constant("pi" if kind == "Pi" else "e")
    if tree.is_Symbol:
        return a.table.name(tree.name)
    args = [_term(a, arg) for arg in tree.args]
    if tree.is_Add:
        return a.sum_of([(t, ONE) for t in args])
    if tree.is_Mul:
        return a.times(*args)
    if kind == "exp":
        return a.call(TABLE["exp"], args, None, None)
    if tree.is_Pow:
        if tree.base == 1 or kind == "exp":
            raise KeyError(kind)
        if type(tree.base).__name__ == "Exp1":
            return a.call(TABLE["exp"], args[1:], None, None)
        return a.power(*args)
    name = "cbrt" if kind == "cbrt" else FUNCTIONS[kind]
    if name in ("maximum", "minimum") and len(args) != 2:
        raise KeyError(kind)
    return a.call(TABLE[name], args, None, None)


def _same(a: Algebra, first: Term, second: Term, names: Mapping[str, Any]) -> bool:
    """Return whether two terms have the same values at points, near those that ran and elsewhere.
    """
    draw = np.random.default_rng(SEED)
    compared = 0
    used = a.table.names([first])
    for k in range(4 * POINTS):
        spread = (0.2, 1.0, 3.0)[k % 3]
        at = {n: float(v) * (1 + spread * draw.uniform(-1, 1)) + 0.05 * draw.uniform(-1, 1)
              if n in used and not np.shape(v) else v for n, v in names.items()}
        if k % 4 == 3:
            at = {n: -v if n in used and draw.uniform() < 0.5 else v for n, v in at.items()}
        replay = TermReplay(a, at)
        with replay.record, quiet():
            x, y = [value_of(replay.run(t)) for t in (first, second)]
        if not (np.isfinite(x) and np.isreal(x)):
            continue
        if not abs(x - y) <= NEAR * max(abs(x), 1e-12):
            return False
        compared += 1
        if compared == POINTS:
            break
    return compared > 0 or not used
