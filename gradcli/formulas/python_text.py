"""Formulas as NumPy writes them; what NumPy has not comes from `math` or from gradcli itself."""

from __future__ import annotations

import keyword
from fractions import Fraction

from gradcli.formulas.gradcli_text import put_places, subscript, summed_axes
from gradcli.formulas.numbers import MINUS, ONE
from gradcli.formulas.writing import (
    ATOM,
    MULTIPLIED,
    POWER,
    SIGN,
    Writer,
    inside,
)
from gradcli.ops import TABLE, lookup
from gradcli.ops.rows import INTERNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.terms import Term
    from gradcli.formulas.writing import Text

FUNCTIONS = {
    **{name: name for name in (
        "sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt hypot abs sign"
        " maximum minimum floor ceil trunc where copysign heaviside fmod mod isnan isfinite"
        " logical_and logical_or logical_not radians degrees sinc matmul floor_divide zeros_like"
        " ones_like kron cross outer").split()},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "round": "rint", "logaddexp": "logaddexp",
    "inv": "linalg.inv", "det": "linalg.det", "solve": "linalg.solve", "outer": "outer",
    "cholesky": "linalg.cholesky", "pinv": "linalg.pinv", "dot": "dot", "matvec": "matmul"}
"""Operation to what NumPy calls it."""

OF_MATH = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma"}
"""Operations that Python's `math` has and NumPy has not."""


def _inverted(name: str) -> Callable[[Algebra, Term], Term]:
    return lambda a, x: a.power(a.call(TABLE[name], [x], None, None), a.number(MINUS))


def _of_inverse(name: str) -> Callable[[Algebra, Term], Term]:
    return lambda a, x: a.call(TABLE[name], [a.power(x, a.number(MINUS))], None, None)


def cofactor(a: Algebra, x: Term) -> Term:
    """det(x)*inv(x)^T, of a matrix that has an inverse."""
    det = a.table.call(TABLE["det"], [x], None, x.shape[:-2])
    inverse = a.table.call(TABLE["inv"], [x], None, x.shape)
    axes = (*range(-len(x.shape), -2), -1, -2)
    turned = a.table.call(TABLE["transpose"], [inverse], {"axes": axes}, x.shape)
    a.note(det, "!= 0")
    return a.times(det, turned)


def _sigmoid(a: Algebra, x: Term) -> Term:
    return a.power(a.add(a.number(ONE), a.call(TABLE["exp"], [a.negative(x)], None, None)),
                   a.number(MINUS))


LOWERED: dict[str, Callable[..., Term]] = {
    "sec": _inverted("cos"), "csc": _inverted("sin"), "cot": _inverted("tan"),
    "sech": _inverted("cosh"), "csch": _inverted("sinh"), "coth": _inverted("tanh"),
    "asec": _of_inverse("acos"), "acsc": _of_inverse("asin"), "acot": _of_inverse("atan"),
    "asech": _of_inverse("acosh"), "acsch": _of_inverse("asinh"), "acoth": _of_inverse("atanh"),
    "sigmoid": _sigmoid, "cofactor": cofactor,
    "relu": lambda a, x: a.call(TABLE["maximum"], [x, a.number(Fraction(0))], None, None),
    "softplus": lambda a, x: a.call(TABLE["logaddexp"], [x, a.number(Fraction(0))], None, None),
    "log_sigmoid": lambda a, x: a.negative(a.call(
        TABLE["logaddexp"], [a.negative(x), a.number(Fraction(0))], None, None)),
}
"""Operations written with others that every language has."""


class Python(Writer):
    """A NumPy function. needs: the modules that its text imports."""

    __slots__ = ()

    name = "python"
    power = "**"
    functions: ClassVar = FUNCTIONS
    lowered: ClassVar = LOWERED

    def identifier(self, name: str) -> Text:
        """A name that Python keeps for itself gets an underscore."""
        return python_name(name), ATOM

    def constant(self, name: str) -> Text:
        """pi and e are NumPy's."""
        self.needs.add("np")
        return f"np.{name}", ATOM

    def float(self, value: float) -> Text:
        """Not a number and infinity are NumPy's."""
        text, strength = super().float(value)
        bare = text.lstrip("-")
        if bare in ("nan", "inf"):
            self.needs.add("np")
            return text.replace(bare, f"np.{bare}"), strength
        return text, strength

    def array(self, value: Any) -> Text:
        """np.array([...])."""
        self.needs.add("np")
        return f"np.array({super().array(value)[0]})", ATOM

    def nested(self, value: Any) -> str:
        """Floats, since powers of NumPy's integers stay integers; True is written large."""
        if isinstance(value, (bool, int, float)):
            text = repr(value if isinstance(value, bool) else float(value))
            return text.replace("nan", "np.nan").replace("inf", "np.inf")
        return super().nested(value)

    def root(self, base: Text) -> Text:
        """np.sqrt(x)."""
        self.needs.add("np")
        return f"np.sqrt({base[0]})", ATOM

    def powered(self, base: Text, exponent: Text, term: Term) -> Text:
        """x**n; NumPy's function where a root or power of Python's numbers might be complex."""
        if term.kind == "number" and isinstance(term.value, Fraction) and (
                term.value.denominator == 1):
            return super().powered(base, exponent, term)
        self.needs.add("np")
        return f"np.power({base[0]}, {exponent[0]})", ATOM

    def op_one_minus_square(self, term: Term, args: Sequence[Text]) -> Text:
        """1 - x^2, which is exact near 1 as a product."""
        x = inside(args[0], MULTIPLIED)
        return f"(1 - {x})*(1 + {x})", MULTIPLIED

    def op_matmul(self, term: Term, args: Sequence[Text]) -> Text:
        """a @ b."""
        return f"{inside(args[0], SIGN)} @ {inside(args[1], POWER)}", MULTIPLIED

    def op_index(self, term: Term, args: Sequence[Text]) -> Text:
        """x[1, :]."""
        rest = iter([text for text, _ in args[1:]])
        inner = [next(rest) if item == "i" else _python_subscript(item)
                 for item in term.attributes["pattern"]]
        return f"{inside(args[0], ATOM)}[{', '.join(inner)}]", ATOM

    def op_put(self, term: Term, args: Sequence[Text]) -> Text:
        """Zeros with elements at some places."""
        places, shape = put_places(term)
        if places is None:
            raise self.missing(term)
        size = 1
        for n in shape:
            size *= n
        flat = (f"np.bincount({places}, np.ravel({args[0][0]}), {size})")
        return (flat if len(shape) == 1 else f"np.reshape({flat}, {shape})"), ATOM

    def op_sum_to(self, term: Term, args: Sequence[Text]) -> Text:
        """The sum over the axes that are not in a shape."""
        axes = summed_axes(term)
        text = f"np.sum({args[0][0]}, axis={axes})" if axes else args[0][0]
        return f"np.reshape({text}, {term.shape})", ATOM

    def op_solve(self, term: Term, args: Sequence[Text]) -> Text:
        """np.linalg.solve, of the transposed matrix too."""
        matrix = args[0][0]
        if term.attributes.get("adjoint"):
            matrix = f"np.swapaxes({matrix}, -1, -2)"
        return f"np.linalg.solve({matrix}, {args[1][0]})", ATOM

    def op_reshape(self, term: Term, args: Sequence[Text]) -> Text:
        """np.reshape."""
        return f"np.reshape({args[0][0]}, {term.shape})", ATOM

    op_align = op_reshape

    def op_broadcast_to(self, term: Term, args: Sequence[Text]) -> Text:
        """np.broadcast_to."""
        return f"np.broadcast_to({args[0][0]}, {term.shape})", ATOM

    def op_transpose(self, term: Term, args: Sequence[Text]) -> Text:
        """x.T, or axes in another order."""
        axes = tuple(a + len(term.shape) for a in term.attributes["axes"])
        if axes == tuple(range(len(term.shape)))[::-1]:
            return f"np.transpose({args[0][0]})", ATOM
        return f"np.transpose({args[0][0]}, {axes})", ATOM

    def op_stack(self, term: Term, args: Sequence[Text]) -> Text:
        """np.stack."""
        axis = term.attributes["axis"] + len(term.shape)
        inner = ", ".join([a for a, _ in args])
        return f"np.stack([{inner}]{f', axis={axis}' if axis else ''})", ATOM

    def op_concat(self, term: Term, args: Sequence[Text]) -> Text:
        """np.concatenate."""
        axis = term.attributes["axis"] + len(term.shape)
        inner = ", ".join([a for a, _ in args])
        return f"np.concatenate([{inner}]{f', axis={axis}' if axis else ''})", ATOM

    def op_cast_float(self, term: Term, args: Sequence[Text]) -> Text:
        """Another floating point type."""
        return f"np.{term.attributes['dtype']}({args[0][0]})", ATOM

    op_cast_other = op_cast_float

    def op_stop_gradient(self, term: Term, args: Sequence[Text]) -> Text:
        """The value itself."""
        return args[0]

    def op_sum(self, term: Term, args: Sequence[Text]) -> Text:
        """np.sum with its axes."""
        assert term.op is not None
        axes = tuple(term.attributes["axis"])
        named = "" if len(axes) == len(term.args[0].shape) else f", axis={axes}"
        kept = ", keepdims=True" if term.attributes["keepdims"] else ""
        return f"np.{term.op.name}({args[0][0]}{named}{kept})", ATOM

    op_mean = op_max = op_min = op_sum

    def call(self, term: Term, args: Sequence[Text]) -> Text:
        """NumPy's function, else that of `math` at each element, else gradcli's own. Raises E0802
        for an operation that only rules use.
        """
        assert term.op is not None
        name = term.op.name
        if hasattr(self, "op_" + name):
            self.needs.add("np")
            return super().call(term, args)
        inner = ", ".join([a for a, _ in args])
        changed = any(term.op.attributes.get(k, self) != v for k, v in term.attributes.items())
        if name in FUNCTIONS and not changed:
            self.needs.add("np")
            return f"np.{FUNCTIONS[name]}({inner})", ATOM
        if name in OF_MATH:
            self.needs |= {"np", "math", name}
            return f"{name}({inner})", ATOM
        if name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
            return super().call(term, args)
        if name in INTERNAL or lookup(name) is not term.op:
            raise self.missing(term)
        self.needs.add("gradcli")
        named = [f"{k}={v!r}" for k, v in term.attributes.items()
                 if term.op.attributes.get(k, self) != v]
        return f"ops.{name}({', '.join([inner, *named])})", ATOM


def python_name(name: str) -> str:
    """A name that Python takes."""
    return name + "_" if keyword.iskeyword(name) or name in ("np", "math", "ops") else name


def _python_subscript(item: Any) -> str:
    return "None" if item is None else subscript(item)
