"""The language of gradcli itself: formulas in an expression file that reads back."""

from __future__ import annotations

from gradcli.formulas.arrays import size
from gradcli.formulas.text.languages import Arrays, chosen, cofactor, summed_axes
from gradcli.ops import lookup
from gradcli.ops.text import ATOM, COMPARISON, NOT, PATTERNS
from gradcli.render.layouts.formula import about, identifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.ops.text import Piece
    from gradcli.render.layouts.formula import Answer


class Gradcli(Arrays):
    """An expression file."""

    __slots__ = ()

    title = "an expression file"
    others = ()
    patterns: ClassVar = {**PATTERNS, "logical_not": ("not {0}", (COMPARISON,), NOT)}
    lowered: ClassVar = {"cofactor": cofactor}

    def scattered(self, places: Sequence[int], text: str, term: Term) -> str:
        """Return scatter([[2], [3]], [x, y], [5])."""
        values = text if len(term.args[0].shape) == 1 else self.reshaped(text, [len(places)])
        return f"scatter({[[k] for k in places]}, {values}, [{size(term.shape)}])"

    def reshaped(self, text: str, shape: Sequence[int]) -> str:
        """Return reshape(x, [2, 3])."""
        return f"reshape({text}, {list(shape)})"

    def op_sum_to(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return the sum over the axes that are not in a shape."""
        axes, before = summed_axes(term), term.args[0].shape
        text = f"sum({args[0][0]}, axis={list(axes)})" if axes else args[0][0]
        kept = tuple(n for k, n in enumerate(before) if k - len(before) not in axes)
        return (text if kept == term.shape else self.reshaped(text, term.shape)), ATOM

    def op_align(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return an array with unit axes in front."""
        return self.reshaped(args[0][0], term.shape), ATOM

    def op_cast_float(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a cast to another type: of floating point, whole numbers, truth values."""
        return f"cast({args[0][0]}, \"{term.attributes['dtype']}\")", ATOM

    op_cast_other = op_cast_float

    def function(self, term: Term, args: Sequence[Piece]) -> Piece:
        """Return a call by the name in the table, with the attributes that differ from the
        defaults.
        """
        op = term.operation
        if op.internal or lookup(op.name) is not op:
            raise self.missing(term)
        named = [f"{k}={literal(v)}" for k, v in chosen(term).items()]
        return f"{op.name}({', '.join([*[a for a, _ in args], *named])})", ATOM

    @staticmethod
    def file(answer: Answer) -> str:
        """Return an expression file that reads back."""
        lines = [f"# {line}" for line in about(answer)]
        for one in answer["inputs"]:
            given = "" if one["value"] is None else f" = {literal(one['value'])}"
            if not given and one["shape"]:
                given = f": float64{one['shape']}"
            lines.append(f"input {one['name']}{given}")
        lines += [f"{d['name']} = {d['formula']}" for d in answer["definitions"]]
        lines += [f"{name} = {r['formula']}" for name, r in zip(
            identifiers(answer), answer["results"], strict=True) if r["formula"] is not None]
        return "\n".join(lines) + "\n"


def literal(value: Any) -> str:
    """Return an attribute as a file writes it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([literal(v) for v in value])}]"
    if hasattr(value, "tolist"):
        return literal(value.tolist())
    return repr(value)
