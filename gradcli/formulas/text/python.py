"""Python: formulas of NumPy, in a function; what NumPy has not comes from `math` or from gradcli
itself.
"""

from __future__ import annotations

import keyword
import unicodedata
from fractions import Fraction

from gradcli.formulas.arrays import size
from gradcli.formulas.text.languages import LOWERED, Arrays, chosen, listed, summed_axes
from gradcli.ops import lookup
from gradcli.ops.text import ATOM, COMPARISONS, MULTIPLIED, POWER, SIGN, Functions
from gradcli.render.layouts.formula import about, function_name, heading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.ops.kinds import Op
    from gradcli.ops.text import Piece
    from gradcli.render.layouts.formula import Answer

OF_NUMPY, OF_MATH = Functions("numpy"), Functions("math")
"""What NumPy calls operations whose rows compute otherwise; what `math` has and NumPy has not."""


def function_of(op: Op) -> str:
    """Return what NumPy calls an operation, empty where it has none."""
    by_row = getattr(op.arrays, "__qualname__", "") if op.elementwise else ""
    name = OF_NUMPY.get(op.name, "")
    return f"np.{name}" if name else by_row if by_row.startswith("np.") else ""


class Python(Arrays):
    """A NumPy function. needs: the modules that its text imports."""

    __slots__ = ()

    title = "a NumPy function"
    others = ("gradcli",)
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
        if op.internal or lookup(op.name) is not op:
            raise self.missing(term)
        self.needs.add("gradcli")
        return f"ops.{op.name}({', '.join([listed(args), *named])})", ATOM

    @staticmethod
    def file(answer: Answer) -> str:
        """Return a Python module with one function."""
        needs = set(answer["needs"])
        lines = []
        if "math" in needs:
            lines += ["import math", ""]
        if "np" in needs or any("np." in text for text in _parameters(answer)):
            lines.append("import numpy as np")
        if "gradcli" in needs:
            lines += ["", "from gradcli import ops"] if lines and lines[-1] else [
                "from gradcli import ops"]
        functions = sorted(needs - {"np", "math", "gradcli"})
        if functions:
            lines += ["", *[f"{n} = np.vectorize(math.{n}, otypes=[float])" for n in functions]]
        if lines:
            lines += ["", ""]
        lines.append(f"def {function_name(answer)}({', '.join(_parameters(answer))}):")
        told = [line.replace("\\", "\\\\").replace('"', '\\"') for line in about(answer)]
        answers = [heading(r) for r in answer["results"]]
        lines.append(f'    """{told[0]}: {_folded(answers)}.')
        lines += ["", *[f"    {line}." for line in told[1:]], '    """'] if told[1:] else []
        if not told[1:]:
            lines[-1] += '"""'
        lines += [f"    {d['name']} = {d['formula']}" for d in answer["definitions"]]
        formulas = [str(r["formula"]) for r in answer["results"]]
        if len(formulas) == 1:
            lines.append(f"    return {formulas[0]}")
        elif len(", ".join(formulas)) < 80:
            lines.append(f"    return {', '.join(formulas)}")
        else:
            lines += ["    return (", *[f"        {f}," for f in formulas], "    )"]
        return "\n".join(lines) + "\n"


def accepted(name: str) -> bool:
    """Return whether Python reads a name as it is written."""
    return name.isidentifier() and not keyword.iskeyword(name) and (
        unicodedata.normalize("NFKC", name) == name)


def _folded(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])


def _parameters(answer: Answer) -> list[str]:
    """Return the parameters of the function, those without a default first."""
    def default(one: Answer) -> str:
        text = repr(one["value"]).replace("nan", "np.nan").replace("inf", "np.inf")
        return f"{one['name']}=np.array({text})" if one["shape"] else f"{one['name']}={text}"

    free = [one["name"] for one in answer["inputs"] if one["value"] is None]
    return free + [default(one) for one in answer["inputs"] if one["value"] is not None]
