"""A row of the table as text: its derivative is traced from the rule itself, so it cannot drift."""

from __future__ import annotations

from gradcli.ops.kinds import COMPOSITE, Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Binding strength of what a text was made by: sum, product, sign, power, atom.
SUM, PRODUCT, SIGN, POWER, ATOM = range(5)


class Text:
    """A formula being written: operators and operations on it write more of it."""

    __slots__ = ("strength", "text")
    value = None

    def __init__(self, text: str, strength: int = ATOM) -> None:
        self.text = text
        self.strength = strength

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Text:
        if op.name == "square":
            return Text(f"{_in(args[0], ATOM)}^2", POWER)
        if op.name == "negative":
            return -_text(args[0])
        parts = [*[_in(a, SUM) for a in args], *[f"{k}={v}" for k, v in attributes.items()]]
        return Text(f"{op.name}({', '.join(parts)})")

    def __add__(self, other: Any) -> Text:
        return Text(f"{self.text} + {_in(other, PRODUCT)}", SUM)

    def __radd__(self, other: Any) -> Text:
        return _text(other) + self

    def __sub__(self, other: Any) -> Text:
        return Text(f"{self.text} - {_in(other, PRODUCT)}", SUM)

    def __rsub__(self, other: Any) -> Text:
        return _text(other) - self

    def __mul__(self, other: Any) -> Text:
        return Text(f"{_in(self, PRODUCT)}*{_in(other, SIGN)}", PRODUCT)

    def __rmul__(self, other: Any) -> Text:
        return _text(other) * self

    def __truediv__(self, other: Any) -> Text:
        return Text(f"{_in(self, PRODUCT)}/{_in(other, SIGN)}", PRODUCT)

    def __rtruediv__(self, other: Any) -> Text:
        return _text(other) / self

    def __neg__(self) -> Text:
        return Text(f"-{_in(self, SIGN)}", SIGN)


def _text(value: Any) -> Text:
    return value if isinstance(value, Text) else Text(
        f"{value:.12g}" if isinstance(value, float) else str(value))


def _in(value: Any, strength: int) -> str:
    t = _text(value)
    return t.text if t.strength >= strength else f"({t.text})"


def derivatives(op: Op) -> list[str | None]:
    """The partials of an elementwise row as formulas, None for an argument without one; empty for
    other kinds, whose rules are about shapes.
    """
    if not op.elementwise or not op.rules:
        return []
    names = [Text(p) for p in op.parameters]
    # Traced with the value's own formula in place of `ans`: 1/(2*sqrt(x)), not 0.5/ans.
    ans = Text(f"{op.name}({', '.join(op.parameters)})")
    return [
        None if rule is None else _text(rule(*names, ans) if callable(rule) else rule).text
        for rule in op.rules]


def describe(op: Op) -> dict[str, Any]:
    """A row as plain data: what `gradcli ops` prints."""
    arguments = [*op.parameters, *[
        f"{k}={'none' if v is None else str(v).lower() if isinstance(v, bool) else v}"
        for k, v in op.attributes.items()]]
    latex = ""
    if op.latex and op.kind != COMPOSITE:
        latex = op.latex.format(*[p.lstrip("*") for p in op.parameters], *"xyz")
    return {
        "name": op.name, "aliases": list(op.aliases), "kind": op.kind, "arguments": arguments,
        "derivative": derivatives(op), "domain": op.domain, "kinks": op.kinks, "doc": op.doc,
        "latex": latex}
