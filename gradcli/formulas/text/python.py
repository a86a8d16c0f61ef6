"""Formulas as NumPy writes them; what NumPy has not comes from `math` or from gradcli itself."""

from __future__ import annotations

import keyword
import unicodedata
from abc import ABC, abstractmethod
from fractions import Fraction

from gradcli.base.lazy import np
from gradcli.formulas.arrays import size
from gradcli.formulas.lowering import LOWERED
from gradcli.formulas.text.writing import Writer, chosen, listed
from gradcli.ops import lookup
from gradcli.ops.rows import INTERNAL
from gradcli.ops.text import ATOM, COMPARISONS, MULTIPLIED, POWER, SIGN, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.ops.kinds import Op
    from gradcli.ops.text import Piece


# --------------------------------------------------------------------------------------------------
# Languages that write arrays and their parts.

class Arrays(Writer, ABC):
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

FUNCTIONS = {
    **{name: f"np.{name}" for name in (
        "matmul floor_divide zeros_like ones_like kron cross outer sinc dot").split()},
    **{name: f"np.linalg.{name}" for name in "inv det solve cholesky pinv".split()},
    "matvec": "np.matmul", "isinf": "", "logical_xor": ""}
"""Operation to what NumPy calls it where the row computes otherwise; empty: by the row."""


def function_of(op: Op) -> str:
    """Return what NumPy calls an operation, empty where it has none."""
    by_row = getattr(op.arrays, "__qualname__", "") if op.elementwise else ""
    return FUNCTIONS.get(op.name, by_row if by_row.startswith("np.") else "")


OF_MATH = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma"}
"""Operations that Python's `math` has and NumPy has not."""


class Python(Arrays):
    """A NumPy function. needs: the modules that its text imports."""

    __slots__ = ()

    name = "python"
    title = "a NumPy function"
    patterns: ClassVar = {**COMPARISONS, "matmul": ("{0} @ {1}", (SIGN, POWER), MULTIPLIED)}
    power_sign = "**"
    none = "None"
    lowered: ClassVar = LOWERED

    def accepts(self, name: str) -> bool:
        """Return whether a name is an identifier of Python and no keyword or module in use."""
        return accepted(name) and name not in ("np", "math", "ops")

    def reserved(self, terms: Sequence[Term]) -> set[str]:
        """Return the functions of `math` in the formulas."""
        return {OF_MATH[t.op.name] for t in terms if t.op is not None and t.op.name in OF_MATH}

    def constant(self, name: str) -> Piece:
        """Return NumPy's pi or e."""
        self.needs.add("np")
        return f"np.{name}", ATOM

    def float(self, value: float) -> Piece:
        """Return a float; not a number and infinity are NumPy's."""
        text, strength = super().float(value)
        bare = text.lstrip("-")
        if bare in ("nan", "inf"):
            self.needs.add("np")
            return text.replace(bare, f"np.{bare}"), strength
        return text, strength

    def array(self, value: Any) -> Piece:
        """Return np.array([...])."""
        self.needs.add("np")
        return f"np.array({super().array(value)[0]})", ATOM

    def nested(self, value: Any) -> str:
        """Return numbers as floats, since powers of NumPy's integers stay integers; True is written
        large.
        """
        if isinstance(value, (bool, int, float)):
            text = repr(value if isinstance(value, bool) else float(value))
            return text.replace("nan", "np.nan").replace("inf", "np.inf")
        return super().nested(value)

    def root(self, base: Piece) -> Piece:
        """Return np.sqrt(x)."""
        self.needs.add("np")
        return f"np.sqrt({base[0]})", ATOM

    def powered(self, base: Piece, exponent: Piece, term: Term) -> Piece:
        """Return x**n, or NumPy's function where a root or power of Python's numbers might be
        complex.
        """
        if term.kind == "number" and isinstance(term.value, Fraction) and (
                term.value.denominator == 1):
            return super().powered(base, exponent, term)
        self.needs.add("np")
        return f"np.power({base[0]}, {exponent[0]})", ATOM

    def scattered(self, places: Sequence[int], text: str, term: Term) -> str:
        """Return np.bincount([2, 3], np.ravel(x), 5)."""
        return f"np.bincount({places}, np.ravel({text}), {size(term.shape)})"

    def reshaped(self, text: str, shape: Sequence[int]) -> str:
        """Return np.reshape(x, (2, 3))."""
        return f"np.reshape({text}, {shape})"

    def op_sum_to(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the sum over the axes that are not in a shape."""
        axes = summed_axes(term)
        text = f"np.sum({args[0][0]}, axis={axes})" if axes else args[0][0]
        return self.reshaped(text, term.shape), ATOM

    def op_solve(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return np.linalg.solve, of the transposed matrix too."""
        matrix = args[0][0]
        if term.attributes.get("adjoint"):
            matrix = f"np.swapaxes({matrix}, -1, -2)"
        return f"np.linalg.solve({matrix}, {args[1][0]})", ATOM

    def op_reshape(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return np.reshape with the shape."""
        return self.reshaped(args[0][0], term.shape), ATOM

    op_align = op_reshape

    def op_broadcast_to(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return np.broadcast_to with the shape."""
        return f"np.broadcast_to({args[0][0]}, {term.shape})", ATOM

    def op_transpose(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return np.transpose, with the axes unless they are reversed."""
        axes = tuple(a + len(term.shape) for a in term.attributes["axes"])
        if axes == tuple(range(len(term.shape)))[::-1]:
            return f"np.transpose({args[0][0]})", ATOM
        return f"np.transpose({args[0][0]}, {axes})", ATOM

    def op_stack(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return np.stack or np.concatenate."""
        axis = term.attributes["axis"] + len(term.shape)
        name = "stack" if term.operation.name == "stack" else "concatenate"
        return f"np.{name}([{listed(args)}]{f', axis={axis}' if axis else ''})", ATOM

    op_concat = op_stack

    def op_cast_float(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a cast to another floating point type."""
        return f"np.{term.attributes['dtype']}({args[0][0]})", ATOM

    op_cast_other = op_cast_float

    def op_stop_gradient(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the operand itself: text has no derivatives to stop."""
        return args[0]

    def op_sum(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a reduction such as np.sum with its axes."""
        axes = tuple(term.attributes["axis"])
        named = "" if len(axes) == len(term.args[0].shape) else f", axis={axes}"
        kept = ", keepdims=True" if term.attributes["keepdims"] else ""
        name = term.operation.name.removeprefix("reduce_")
        return f"np.{name}({args[0][0]}{named}{kept})", ATOM

    op_mean = op_max = op_min = op_reduce_max = op_reduce_min = op_sum

    def call(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the text of a call; a row with a writer of its own needs NumPy, too."""
        if hasattr(self, "op_" + term.operation.name):
            self.needs.add("np")
        return super().call(term, args)

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return NumPy's function, else that of `math` at each element, else gradcli's own. Raises
        E0802 for an operation that only rules use.
        """
        op = term.operation
        named = [f"{k}={v.tolist() if hasattr(v, 'tolist') else v!r}"
                 for k, v in chosen(term).items()]
        function = function_of(op)
        if function and not named:
            self.needs.add("np")
            return f"{function}({listed(args)})", ATOM
        if op.name in OF_MATH:
            self.needs |= {"np", "math", op.name}
            return f"{op.name}({listed(args)})", ATOM
        if op.name in INTERNAL or lookup(op.name) is not op:
            raise self.missing(term)
        self.needs.add("gradcli")
        return f"ops.{op.name}({', '.join([listed(args), *named])})", ATOM


def accepted(name: str) -> bool:
    """Return whether Python reads a name as it is written."""
    return name.isidentifier() and not keyword.iskeyword(name) and (
        unicodedata.normalize("NFKC", name) == name)
