"""A text with how tightly what made it binds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Text: TypeAlias = tuple[str, int]

# Binding strength of what a text was made by, weakest first.
CHOICE, OR, AND, NOT, COMPARISON, ADDED, MULTIPLIED, SIGN, POWER, ATOM = range(10)
ANY = CHOICE


def inside(text: Text, strength: int) -> str:
    """A text as an operand of something that binds so tightly."""
    return text[0] if text[1] >= strength else f"({text[0]})"
