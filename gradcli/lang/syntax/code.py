"""The interpreter's form: flat code for a stack machine, and the `Emitter` that a parser fills.

A program is a list of `Statement`s. A statement's code is a list of instructions, each a plain
tuple `(opcode, argument, start, end)`: `start` and `end` are the offsets in the text that the
instruction came from, so every value can be traced to its source without further bookkeeping. Jumps
are relative, so code can be moved and spliced while it is emitted.

    x^2 * sin(y)   ->   LOAD x; PUSH 2.0; BINARY power; LOAD y; CALL (sin, 1, ());
                        BINARY multiply; RESULT

A statement with blocks is flat code too. In the table `c`, `d` and `u` stand for the code of an
expression; an arrow is where a jump leads.

    if c: .. elif d: .. else: ..   c; JUMP_IF_FALSE -> A; ..; JUMP -> C
                                   A: d; JUMP_IF_FALSE -> B; ..; JUMP -> C; B: ..; C:
    while c: ..                    A: c; JUMP_IF_FALSE -> B; ..; JUMP -> A; B:
                                   `break` leads to B, `continue` to A
    for a in u: ..                 u; ITERATE; A: NEXT -> C; BIND a; ..; JUMP -> A; B: POP; C:
                                   `break` leads to B, which takes the iterator off (and is there
                                   only if there is a `break`), `continue` to A
    tape t, k=c: ..                c; ENTER; ..; EXIT
    def f(x): ..                   DEFINE, whose Function has the code of the block

A `break` or `continue` that leaves blocks of ENTER on its way is a LEAVE instead of a JUMP. RETURN
stands wherever a `return` does: inside of loops, whose iterators lie below the value, and of blocks
that are still open.
"""

from __future__ import annotations

from gradcli.lang.syntax.lexer import Tokens

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
POP = 20            # None; pops what a statement such as x.assign(3) or print(x) left
NUMPY = 21          # (name, positional count, keyword names): np.mean(x), which leaves the tape
ITERATE = 22        # None; pops what a `for` goes over, pushes its iterator
NEXT = 23           # relative; pushes the next item above the iterator, or pops that and jumps
LEAVE = 24          # (relative, blocks): a jump that closes as many tape-like blocks before
RETURN = 25         # None; pops the value and leaves the function
ENTER = 26          # Block; pops its attributes' values, then its arguments; opens it
EXIT = 27           # Block; closes the innermost open block
EXPECT = 28         # Expectation; pops its attributes' values, then right and left

NAMES = {
    value: name for name, value in list(globals().items())
    if name.isupper() and isinstance(value, int)
}

# Names of calls that are no operations, in the order of advice. Their functions,
# `lang.running.verbs`, load at the first call.
VERBS = dict.fromkeys((
    "grad", "jacobian", "hessian", "jvp", "vjp", "hvp", "len", "print", "range", "zip", "watch",
    "load", "trainable_variables"))
# Names that mean a number where nothing in the program binds them.
CONSTANTS = {
    "pi": 3.141592653589793, "e": 2.718281828459045, "tau": 6.283185307179586,
    "inf": float("inf"), "nan": float("nan"),
}


class Statement:
    """One statement: its code, its span, and the names it binds (as written, left to right)."""

    __slots__ = ("code", "end", "names", "start")

    def __init__(self, code: Code, start: int, end: int, names: tuple[str, ...] = ()) -> None:
        self.code = code
        self.start = start
        self.end = end
        self.names = names


class Declaration:
    """A declaration, `var x: float32[3, 2] = e, trainable=false`. shape: None for a free dimension.

    keyword is "var", "const" or "input". attributes: names whose values stand on the stack above
    the value, in this order. spans: name of a part ("keyword", "name", "type", "value", an
    attribute) to its (start, end); an attribute's span covers `name=value`, "value" only the value,
    "trainable name" and "trainable value" each side of such an attribute.
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
    """A function `f(x, y) = x^2*y`, whose code leaves its value on the stack, or a `def`.

    block: it is a `def`, whose bindings are its own.
    decorator: "", "custom_gradient" or "gradient_of".
    operation: the one that the latter names.
    decorated: the span of the decorator's line.
    """

    __slots__ = ("block", "code", "decorated", "decorator", "end", "name", "operation",
                 "parameters", "start")

    def __init__(self, name: str, parameters: tuple[str, ...], code: Code, start: int, end: int,
                 block: bool = False) -> None:
        self.name = name
        self.parameters = parameters
        self.code = code
        self.start = start
        self.end = end
        self.block = block
        self.decorator = ""
        self.operation = ""
        self.decorated: tuple[int, int] | None = None


class Block:
    """The head of a block: `tape t, persistent=true:`, `forward acc(x, v):`, `resume t:`.

    keyword: the first word.
    name: that of the tape or accumulator.
    arguments: the number of values that stand on the stack for `forward`.
    attributes, spans: as in a Declaration; "head" is the span from keyword to colon, "block" that
        of the whole block.
    """

    __slots__ = ("arguments", "attributes", "keyword", "name", "spans")

    def __init__(self, keyword: str, name: str, arguments: int, attributes: tuple[str, ...],
                 spans: dict[str, tuple[int, int]]) -> None:
        self.keyword = keyword
        self.name = name
        self.arguments = arguments
        self.attributes = attributes
        self.spans = spans


class Expectation:
    """An expectation: `expect a == b`, `expect a ~= b, rtol=1e-9` or `expect c`.

    operator: "equal", "near", the name of another comparison (both sides on the stack), or "" for
    one truth value. attributes: as in a Declaration.
    """

    __slots__ = ("attributes", "operator", "spans")

    def __init__(self, operator: str, attributes: tuple[str, ...],
                 spans: dict[str, tuple[int, int]]) -> None:
        self.operator = operator
        self.attributes = attributes
        self.spans = spans


class OpenBlock:
    """A block whose end has not been read.

    keyword: the kind of its first token, `first`.
    depth: position of its head's value on the parser's stack.
    inside: it is a `def` or in one.
    start: index in the code at which a loop goes on, or a function begins.
    pending: index of the conditional jump that has no length yet.
    jumps: those of the jumps to the end.
    names: those bound outside of a `def`.
    data: the Block, or the function's name and parameters.
    """

    __slots__ = ("data", "depth", "first", "inside", "jumps", "keyword", "names", "pending",
                 "start")

    def __init__(self, keyword: int, first: int, depth: int, inside: bool, start: int) -> None:
        self.keyword = keyword
        self.first = first
        self.depth = depth
        self.inside = inside
        self.start = start
        self.pending = -1
        self.jumps: list[int] = []
        self.names: dict[str, None] = {}
        self.data: Any = None


class Emitter(Tokens):
    """A text while the parser reads it: its tokens, and the code so far.

    code: emitted since the last whole statement outside of blocks.
    begin: index in it at which the simple statement or head begins that is being read.
    blocks: those that are open, outermost first.
    names: those bound since the outermost one, or the innermost `def`, was opened.
    states, values: the parser's stacks.
    at: the token that an error stopped at.
    cautious: an error has hidden a head, so that what follows may seem to lack it.
    """

    __slots__ = ("at", "begin", "blocks", "cautious", "code", "names", "statements", "states",
                 "values")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.at = 0
        self.begin = 0
        self.code: Code = []
        self.blocks: list[OpenBlock] = []
        self.names: dict[str, None] = {}
        self.cautious = False
        self.statements: list[Statement] = []
        self.states = [1]
        self.values: list[Any] = []

    def finish(self, first: int, at: int, names: tuple[str, ...] = ()) -> None:
        """End a simple statement whose code is complete: the tokens from `first` to before `at`.

        names: those that it binds.
        """
        code = self.code
        if self.blocks:
            self.begin = len(code)
            for name in names:
                self.names[name] = None
        else:
            self.statements.append(Statement(code[:], *self.span(first, at - 1), names))
            code.clear()
