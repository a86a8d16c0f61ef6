"""Languages that write arrays and their parts."""

from __future__ import annotations

from gradcli.formulas.arrays import size
from gradcli.formulas.text import ATOM, MULTIPLIED, inside
from gradcli.formulas.writing import Writer
from gradcli.ops.lazy import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.formulas.terms import Term
    from gradcli.formulas.text import Text


class Arrays(Writer):
    """A language with arrays. none: what it calls an axis of length 1 in an index."""

    __slots__ = ()

    none = "none"

    def op_one_minus_square(self, term: Term, args: Sequence[Text]) -> Text:
        """1 - x^2, which is exact near 1 as a product."""
        x = inside(args[0], MULTIPLIED)
        return f"(1 - {x})*(1 + {x})", MULTIPLIED

    def op_index(self, term: Term, args: Sequence[Text]) -> Text:
        """x[1, :]."""
        rest = iter([text for text, _ in args[1:]])
        inner = [next(rest) if item == "i" else self._subscript(item)
                 for item in term.attributes["pattern"]]
        return f"{inside(args[0], ATOM)}[{', '.join(inner)}]", ATOM

    def _subscript(self, item: Any) -> str:
        """One item of an index."""
        if isinstance(item, slice):
            parts = ["" if p is None else str(p) for p in (item.start, item.stop)]
            return ":".join(parts) + ("" if item.step is None else f":{item.step}")
        return self.none if item is None else str(item)

    def op_put(self, term: Term, args: Sequence[Text]) -> Text:
        """Zeros with elements at some places. Raises E0802 for computed places."""
        if len(term.args) > 1:
            raise self.missing(term)
        numbers = np.arange(size(term.shape)).reshape(term.shape)
        places = np.ravel(numbers[tuple(term.attributes["pattern"])]).tolist()
        flat = self.scattered(places, args[0][0], term)
        return (flat if len(term.shape) == 1 else self.reshaped(flat, term.shape)), ATOM

    def scattered(self, places: Sequence[int], text: str, term: Term) -> str:
        """A vector with elements at some places, as many as `term` has elements."""
        raise NotImplementedError  # each language has its own function for it

    def reshaped(self, text: str, shape: Sequence[int]) -> str:
        """An array in another shape."""
        raise NotImplementedError  # each language has its own function for it


def summed_axes(term: Term) -> tuple[int, ...]:
    """The axes that `sum_to` sums over, counted from the right."""
    before, after = term.args[0].shape, term.shape
    extra = len(before) - len(after)
    return tuple(k - len(before) for k, n in enumerate(before)
                 if k < extra or (n != 1 and after[k - extra] == 1))
