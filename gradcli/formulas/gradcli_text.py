"""Formulas as gradcli reads them."""

from __future__ import annotations

from gradcli.formulas.writing import AND, ATOM, COMPARISON, MULTIPLIED, NOT, OR, Writer, inside
from gradcli.ops.lazy import np
from gradcli.ops.rows import INTERNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from gradcli.formulas.terms import Term
    from gradcli.formulas.writing import Text


class Gradcli(Writer):
    """An expression file."""

    __slots__ = ()

    lowered: ClassVar = {"cofactor": lambda a, x: _cofactor(a, x)}

    def op_logical_and(self, term: Term, args: Sequence[Text]) -> Text:
        """a and b."""
        return f"{inside(args[0], AND)} and {inside(args[1], NOT)}", AND

    def op_logical_or(self, term: Term, args: Sequence[Text]) -> Text:
        """a or b."""
        return f"{inside(args[0], OR)} or {inside(args[1], AND)}", OR

    def op_logical_not(self, term: Term, args: Sequence[Text]) -> Text:
        """not a."""
        return f"not {inside(args[0], COMPARISON)}", NOT

    def op_one_minus_square(self, term: Term, args: Sequence[Text]) -> Text:
        """1 - x^2, which is exact near 1 as a product."""
        x = inside(args[0], MULTIPLIED)
        return f"(1 - {x})*(1 + {x})", MULTIPLIED

    def op_floor_divide(self, term: Term, args: Sequence[Text]) -> Text:
        """a // b as a call: the operator has its own strength."""
        return f"floor_divide({args[0][0]}, {args[1][0]})", ATOM

    def op_index(self, term: Term, args: Sequence[Text]) -> Text:
        """x[1, :]."""
        rest = iter([text for text, _ in args[1:]])
        inner = [next(rest) if item == "i" else subscript(item)
                 for item in term.attributes["pattern"]]
        return f"{inside(args[0], ATOM)}[{', '.join(inner)}]", ATOM

    def op_put(self, term: Term, args: Sequence[Text]) -> Text:
        """Zeros with elements at some places."""
        places, shape = put_places(term)
        if places is None:
            raise self.missing(term)
        x = args[0][0] if len(term.args[0].shape) == 1 else (
            f"reshape({args[0][0]}, [{len(places)}])")
        flat = f"scatter({[[k] for k in places]}, {x}, [{int(np.prod(shape))}])"
        return (flat if len(shape) == 1 else f"reshape({flat}, {list(shape)})"), ATOM

    def op_sum_to(self, term: Term, args: Sequence[Text]) -> Text:
        """The sum over the axes that are not in a shape."""
        axes = summed_axes(term)
        text = f"sum({args[0][0]}, axis={list(axes)})" if axes else args[0][0]
        kept = [n for k, n in enumerate(term.args[0].shape) if k - len(term.args[0].shape)
                not in axes]
        return (text if tuple(kept) == term.shape else f"reshape({text}, {list(term.shape)})"), ATOM

    def op_align(self, term: Term, args: Sequence[Text]) -> Text:
        """Unit axes in front."""
        return f"reshape({args[0][0]}, {list(term.shape)})", ATOM

    def op_cast_float(self, term: Term, args: Sequence[Text]) -> Text:
        """Another floating point type."""
        return f"cast({args[0][0]}, \"{term.attributes['dtype']}\")", ATOM

    def op_cast_other(self, term: Term, args: Sequence[Text]) -> Text:
        """A whole number or truth value."""
        return f"cast({args[0][0]}, \"{term.attributes['dtype']}\")", ATOM

    def call(self, term: Term, args: Sequence[Text]) -> Text:
        """By its name in the table, with what differs from the defaults."""
        assert term.op is not None
        if hasattr(self, "op_" + term.op.name) or term.op.name in (
                "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
            return super().call(term, args)
        from gradcli.ops import lookup

        if term.op.name in INTERNAL or lookup(term.op.name) is not term.op:
            raise self.missing(term)
        named = [f"{k}={literal(v)}" for k, v in term.attributes.items()
                 if term.op.attributes.get(k, self) != v]
        return f"{term.op.name}({', '.join([*[a for a, _ in args], *named])})", ATOM


def _cofactor(a: Any, x: Any) -> Any:
    from gradcli.formulas.python_text import cofactor

    return cofactor(a, x)


def literal(value: Any) -> str:
    """An attribute as a file writes it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([literal(v) for v in value])}]"
    if hasattr(value, "tolist"):
        return literal(value.tolist())
    return repr(value)


def subscript(item: Any) -> str:
    """One item of an index."""
    if isinstance(item, slice):
        parts = ["" if p is None else str(p) for p in (item.start, item.stop)]
        return ":".join(parts) + ("" if item.step is None else f":{item.step}")
    return "none" if item is None else str(item)


def put_places(term: Term) -> tuple[list[int] | None, tuple[int, ...]]:
    """(places in the flattened array of what `put` puts there, its shape)."""
    shape = term.shape
    if len(term.args) > 1:
        return None, shape
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    return np.ravel(numbers[tuple(term.attributes["pattern"])]).tolist(), shape


def summed_axes(term: Term) -> tuple[int, ...]:
    """The axes that `sum_to` sums over, counted from the right."""
    before, after = term.args[0].shape, term.shape
    extra = len(before) - len(after)
    return tuple(k - len(before) for k, n in enumerate(before)
                 if k < extra or (n != 1 and after[k - extra] == 1))
