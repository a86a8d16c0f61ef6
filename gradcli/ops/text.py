"""Formulas as text with as few brackets as they need: what a rule writes that is run on texts.

Each text comes with how tightly the operator binds that made it. How an operation is written is a
pattern, (text around its operands, how tightly each place binds, how tightly the whole does), so a
language is a table of patterns.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.ops import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Self, TypeAlias

    from gradcli.ops.kinds import Op

    # A text and how tightly it binds.
    Piece: TypeAlias = tuple[str, int]
    Pattern: TypeAlias = tuple[str, tuple[int, ...], int]

# Binding strength of what a text was made by, weakest first.
CHOICE, OR, AND, NOT, COMPARISON, ADDED, MULTIPLIED, SIGN, POWER, ATOM = range(10)
ANY = CHOICE

COMPARISONS: dict[str, Pattern] = {
    name: (f"{{0}} {sign} {{1}}", (ADDED, ADDED), COMPARISON) for name, sign in (
        ("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">="),
        ("equal", "=="), ("not_equal", "!="))}

PATTERNS: dict[str, Pattern] = {
    "add": ("{0} + {1}", (ADDED, MULTIPLIED), ADDED),
    "subtract": ("{0} - {1}", (ADDED, MULTIPLIED), ADDED),
    "multiply": ("{0}*{1}", (MULTIPLIED, SIGN), MULTIPLIED),
    "divide": ("{0}/{1}", (MULTIPLIED, SIGN), MULTIPLIED),
    "reciprocal": ("1/{0}", (SIGN,), MULTIPLIED),
    "power": ("{0}^{1}", (ATOM, ATOM), POWER),
    "square": ("{0}^2", (ATOM,), POWER),
    "one_minus_square": ("1 - {0}^2", (ATOM,), ADDED),
    "logical_and": ("{0} and {1}", (AND, NOT), AND),
    "logical_or": ("{0} or {1}", (OR, AND), OR),
    **COMPARISONS}
"""How an expression file writes operations that are no calls there."""


LATEX = r"\left({}\right)"
"""Brackets that grow with what is inside."""


def inside(text: Piece, strength: int, brackets: str = "({})") -> str:
    """Return a text as an operand of something that binds so tightly."""
    return text[0] if text[1] >= strength else brackets.format(text[0])


class Functions(Mapping[str, str]):
    """What a language calls operations, by their names: the words of a language in `Op.names`."""

    __slots__ = ("language",)

    def __init__(self, language: str) -> None:
        self.language = language

    def __getitem__(self, name: str) -> str:
        for word in TABLE[name].names.split():
            language, _, other = word.partition(":")
            if language == self.language:
                return other or name
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in TABLE if self.get(name))

    def __len__(self) -> int:
        return len(list(self))


class Symbolic:
    """An operand that formulas are traced with: its operators apply operations of the table."""

    __slots__ = ()

    if TYPE_CHECKING:
        def __gradcli_apply__(
                self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
            """Return the operand that an operation makes of operands, one of them this."""

    def _applied(self, name: str, *args: Any) -> Self:
        found: Self = self.__gradcli_apply__(TABLE[name], args, {})
        return found

    def __add__(self, other: Any) -> Self:
        return self._applied("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return self._applied("add", other, self)

    def __sub__(self, other: Any) -> Self:
        return self._applied("subtract", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._applied("subtract", other, self)

    def __mul__(self, other: Any) -> Self:
        return self._applied("multiply", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._applied("multiply", other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._applied("divide", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._applied("divide", other, self)

    def __neg__(self) -> Self:
        return self._applied("negative", self)


class Text(Symbolic):
    """A formula in the spelling of expression files; operations on it write more of it."""

    __slots__ = ("strength", "text")
    value = None

    def __init__(self, text: str, strength: int = ATOM) -> None:
        self.text = text
        self.strength = strength

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Text:
        return applied(op, args, attributes)


def applied(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Text:
    """Return an operation on texts and plain values as text."""
    if op.name in SPELLED and type(args[0]) is float:
        spelled: Text = SPELLED[op.name](*args)
        return spelled
    texts = [(t.text, t.strength) for t in map(text_of, args)]
    if op.name == "negative":
        return Text(f"-{inside(texts[0], MULTIPLIED)}", min(SIGN, max(texts[0][1], MULTIPLIED)))
    if op.name == "unit_part":
        both = ", ".join(sorted(text for text, _ in texts))
        return Text(f"{inside(texts[0], MULTIPLIED)}/hypot({both})", MULTIPLIED)
    if op.name in PATTERNS and not attributes:
        pattern, places, strength = PATTERNS[op.name]
        return Text(pattern.format(*map(inside, texts, places)), strength)
    parts = [*[text for text, _ in texts], *[f"{k}={v}" for k, v in attributes.items()]]
    return Text(f"{op.name}({', '.join(parts)})")


def text_of(value: Any) -> Text:
    """Return a plain value as text, a number with 12 digits."""
    return value if isinstance(value, Text) else Text(
        f"{value:.12g}" if isinstance(value, float) else str(value))


def _polygamma_difference(n: float, x: Any, d: Any) -> Any:
    if n == 0.0:
        return TABLE["digamma"](x) - TABLE["digamma"](x + d)
    return TABLE["polygamma"](n, x) - TABLE["polygamma"](n, x + d)


def _besselie_derivative(k: float, n: Any, x: Any) -> Any:
    if k == 0.0:
        return TABLE["besselie"](n, x)
    around = _besselie_derivative(k - 1.0, n - 1.0, x) + _besselie_derivative(k - 1.0, n + 1.0, x)
    return 0.5 * around - TABLE["sign"](x) * _besselie_derivative(k - 1.0, n, x)


def _besselke_derivative(k: float, n: Any, x: Any) -> Any:
    if k == 0.0:
        return TABLE["besselke"](n, x)
    around = _besselke_derivative(k - 1.0, n - 1.0, x) + _besselke_derivative(k - 1.0, n + 1.0, x)
    return _besselke_derivative(k - 1.0, n, x) - 0.5 * around


SPELLED = {"polygamma_difference": _polygamma_difference,
           "besselie_derivative": _besselie_derivative,
           "besselke_derivative": _besselke_derivative}
"""What formulas write for rows that only rules use, which keep digits that this loses."""
