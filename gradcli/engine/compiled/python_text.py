"""Numbers and operations as Python text, and symbols that leave the text of what is done with them.
"""

from __future__ import annotations

from gradcli.ops.kinds import Op
from gradcli.ops.text import Symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Operand = str | float     # a variable of the generated code, or a number

INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


def call_text(op: Op, operands: Sequence[Operand], names: dict[str, Any]) -> str:
    """A call of an operation as Python text."""
    texts = [o if isinstance(o, str) else number_text(o) for o in operands]
    if op.name in INFIX:
        return f"{texts[0]} {INFIX[op.name]} {texts[1]}"
    if op.name == "negative":
        return f"-{texts[0]}"
    names[f"f_{op.name}"] = op.floats
    return f"f_{op.name}({', '.join(texts)})"


def number_text(x: float) -> str:
    """A number as Python text; infinity and NaN have none of their own."""
    if x - x != 0.0:
        return f"float('{x!r}')"
    return repr(x) if x >= 0 else f"({x!r})"


class Symbol(Symbolic):
    """A number that is only a text: what a rule makes of symbols is the text of its slope."""

    __slots__ = ("names", "reads", "text")

    def __init__(self, text: str, reads: frozenset[str], names: dict[str, Any]) -> None:
        self.text = text
        self.reads = reads
        self.names = names

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        if attributes or op.floats is None or not op.elementwise:
            raise TypeError(op.name)
        reads = frozenset().union(*[a.reads for a in args if isinstance(a, Symbol)])
        texts = [a.text if isinstance(a, Symbol) else float(a) for a in args]
        return Symbol(f"({call_text(op, texts, self.names)})", reads, self.names)

    def __bool__(self) -> bool:
        raise TypeError("a symbol is neither true nor false")
