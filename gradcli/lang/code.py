"""The interpreter's form: flat code for a stack machine, emitted while the text is parsed.

A program is a list of `Statement`s. A statement's code is a list of instructions, each a plain
tuple `(opcode, argument, start, end)`: `start` and `end` are the offsets in the text that the
instruction came from, so every value can be traced to its place without further bookkeeping.
Jumps are relative, so code can be moved and spliced while it is emitted.

    x^2 * sin(y)   ->   LOAD x; PUSH 2.0; BINARY power; LOAD y; CALL (sin, 1, ());
                        BINARY multiply; RESULT
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Instruction = tuple[int, Any, int, int]
    Code = list[Instruction]

# Opcodes, the commonest first. `argument` and what they do to the stack stand beside each.
BINARY = 0          # operation name; b, a popped (b on top), op(a, b) pushed
LOAD = 1            # name; its value pushed
PUSH = 2            # a float, str, bool or None (`none`); pushed
UNARY = 3           # operation name; a popped, op(a) pushed
CALL = 4            # (name, positional count, keyword names); keywords above positionals
PRIME = 5           # (name, order, positional count): f''(x)
METHOD = 6          # (method name, positional count, keyword names); the object below them
ATTRIBUTE = 7       # attribute name; the object popped
INDEX = 8           # one code per item: "i" an index; a slice is a string of up to three of
                    # "a" (start), "o" (stop), "s" (step) behind ":", each present part on the stack
LIST = 9            # item count
DICT = 10           # item count; keys and values alternate
JUMP = 11           # relative to the next instruction
JUMP_IF_FALSE = 12  # relative; pops the condition
AND = 13            # relative; false: keep it and jump, true: pop it and go on
OR = 14             # relative; true: keep it and jump, false: pop it and go on
BIND = 15           # name; pops the value
UNPACK = 16         # tuple of names; pops one structure or tensor of as many items
DECLARE = 17        # Declaration; pops attribute values, then the value if there is one
DEFINE = 18         # Function
RESULT = 19         # None; pops the value of an expression that stands alone

NAMES = {
    value: name for name, value in list(globals().items())
    if name.isupper() and isinstance(value, int)
}


class Statement:
    """One statement: its code, its place, and the names it binds (as written, left to right)."""

    __slots__ = ("code", "end", "names", "start")

    def __init__(self, code: Code, start: int, end: int, names: tuple[str, ...] = ()) -> None:
        self.code = code
        self.start = start
        self.end = end
        self.names = names


class Declaration:
    """`var x: float32[3, 2] = e, trainable=false`; `shape` holds None for a free dimension.

    keyword is "var", "const" or "input". attributes: names whose values stand on the stack above
    the value, in this order. spans: name of a part ("name", "type", "value", an attribute) to its
    (start, end); an attribute's span covers `name=value`, "value" only the value.
    """

    __slots__ = ("attributes", "dtype", "has_value", "keyword", "name", "shape", "spans")

    def __init__(self, keyword: str, name: str, dtype: str | None,
                 shape: tuple[int | None, ...] | None, has_value: bool,
                 attributes: tuple[str, ...], spans: dict[str, tuple[int, int]]) -> None:
        self.keyword = keyword
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.has_value = has_value
        self.attributes = attributes
        self.spans = spans


class Function:
    """`f(x, y) = x^2*y`: code leaves the value on the stack."""

    __slots__ = ("code", "end", "name", "parameters", "start")

    def __init__(self, name: str, parameters: tuple[str, ...], code: Code, start: int, end: int
                 ) -> None:
        self.name = name
        self.parameters = parameters
        self.code = code
        self.start = start
        self.end = end
