"""The part of an instruction that an error is about: an argument, an option, a name.

The code that raises an error says what it is about (`errors.About`), in terms of values and names;
the span of that part is found here, when there is an error: the text of the instruction is read
once more. Where the part is not certain, all of the instruction is marked.
"""

from __future__ import annotations

from gradcli.engine.record.tensor import value_of
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax import lexer as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import GradcliError, Source, Span
    from gradcli.lang.syntax.code import Instruction

    Range = tuple[int, int]     # of tokens, the latter end excluded

SIGNS = {
    "add": t.PLUS, "subtract": t.MINUS, "multiply": t.STAR, "divide": t.SLASH,
    "floor_divide": t.DOUBLE_SLASH, "mod": t.PERCENT, "matmul": t.AT, "power": t.CIRCUMFLEX,
    "equal": t.EQUAL_EQUAL, "not_equal": t.NOT_EQUAL, "less": t.LESS, "less_equal": t.LESS_EQUAL,
    "greater": t.GREATER, "greater_equal": t.GREATER_EQUAL,
}
CALLS = (c.CALL, c.METHOD, c.NUMPY, c.PRIME)
_OPENING, _CLOSING = frozenset(t.OPENING), frozenset(t.CLOSING)
# The last tokens of operands: a sign behind one has two sides.
_ENDS = frozenset((*t.CLOSING, *t.IDENTIFIERS, t.NUMBER, t.SUPERSCRIPT, t.PI, t.STRING, t.TRUE,
                   t.FALSE, t.NONE))


def locate(source: Source, problem: GradcliError, at: Instruction, args: Sequence[Any] = (),
           named: Mapping[str, Any] | None = None) -> None:
    """Set the span of an error of the instruction `at` to the part that it is about, if unset.

    args, named: the values that the instruction took.
    """
    about, problem.about = problem.about, None
    first = problem.diagnostics[0]
    if about is None or first.span is not None:
        return
    kind, what = about
    written = InstructionText(source.text, at)
    if kind == "value":
        key = _holder(what, args, named or {})
        if key is not None and (span := written.argument(key)) is not None:
            held = args[key] if isinstance(key, int) else (named or {})[key]
            first.span = written.item(span, held, what)
    elif kind == "option":
        first.span = written.option(what)
    elif kind == "beyond":
        first.span = written.beyond(what)
    else:
        first.span = written.callee()


class InstructionText:
    """The text of an instruction, in tokens."""

    __slots__ = ("arg", "count", "ends", "keywords", "kinds", "opcode", "starts")

    def __init__(self, text: str, at: Instruction) -> None:
        self.opcode, self.arg, start, end = at
        self.count, self.keywords = 0, ()
        if self.opcode == c.PRIME:
            _, _, self.count = self.arg
        elif self.opcode in CALLS:
            _, self.count, self.keywords = self.arg
        # The text of an expression is one line, also where it stands in the middle of one.
        kinds, self.starts, self.ends = t.lex(text[:end], start)
        self.kinds = [kind for kind in kinds if kind not in (t.NEWLINE, t.END, t.DEDENT)]

    def argument(self, key: int | str) -> Span | None:
        """Return the span of operand, argument or index `key`, or of the value of option `key`."""
        if self.opcode in CALLS:
            at = key if isinstance(key, int) else (
                self.count + self.keywords.index(key) if key in self.keywords else None)
            parts = self._arguments()
            if at is None or at >= len(parts):
                return None
            start, end = parts[at]
            return self._span(start if isinstance(key, int) else start + 2, end)
        if not isinstance(key, int):
            return None
        if self.opcode == c.BINARY:
            return self._operand(key)
        if self.opcode == c.UNARY:
            return self._span(1, len(self.kinds))
        if self.opcode == c.INDEX:
            first = self._opened()
            parts = self._parts(first + 1, len(self.kinds) - 1)
            return self._span(0, first) if not key else (
                self._span(*parts[key - 1]) if len(parts) == len(self.arg) >= key else None)
        return None

    def item(self, span: Span, held: Any, value: Any) -> Span:
        """Return the span of the one item that holds a value, however deep, in the list at `span`;
        the span of the list if that is not clear.

        held: the value of the list.
        """
        start, end = self.starts.index(span[0]), self.ends.index(span[1])
        plain = value_of(held)
        items = plain.tolist() if getattr(plain, "ndim", 0) else plain
        if not isinstance(items, list) or (self.kinds[start], self.kinds[end]) != (t.LSQB, t.RSQB):
            return span
        parts = self._parts(start + 1, end)
        key = _holder(value, items, {})
        if not isinstance(key, int) or len(parts) != len(items):
            return span
        return self.item(self._span(*parts[key]), items[key], value)

    def items(self, span: Span) -> list[Span]:
        """Return the spans of the items of the list at `span`; if there is no list, `span`."""
        start, end = self.starts.index(span[0]), self.ends.index(span[1])
        if (self.kinds[start], self.kinds[end]) != (t.LSQB, t.RSQB):
            return [span]
        return [self._span(*part) for part in self._parts(start + 1, end)]

    def option(self, name: str) -> Span | None:
        """Return the span of the name of an option, before its value."""
        if name not in self.keywords:
            return None
        start, _ = self._arguments()[self.count + self.keywords.index(name)]
        return self._span(start, start + 1)

    def beyond(self, count: int) -> Span | None:
        """Return the span of the positional arguments behind the first `count`."""
        parts = self._arguments()[:self.count] if self.opcode in CALLS else []
        return self._span(parts[count][0], parts[-1][1]) if len(parts) > count else None

    def callee(self) -> Span | None:
        """Return the span of the name of the called function, or of the attribute that is read."""
        end = self._opened() if self.opcode in CALLS else len(self.kinds)
        return self._span(0 if self.opcode == c.NUMPY else end - 1, end)

    def _span(self, start: int, end: int) -> Span:
        return self.starts[start], self.ends[end - 1]

    def _opened(self) -> int:
        """Return the bracket that the last token closes."""
        depth = 0
        for at in range(len(self.kinds) - 1, -1, -1):
            depth += (self.kinds[at] in _CLOSING) - (self.kinds[at] in _OPENING)
            if not depth:
                return at
        return 0

    def _parts(self, start: int, end: int) -> list[Range]:
        """Split tokens at the commas outside of brackets."""
        parts: list[Range] = []
        depth = 0
        begin = start
        for at in range(start, end):
            kind = self.kinds[at]
            depth += (kind in _OPENING) - (kind in _CLOSING)
            if kind == t.COMMA and not depth:
                parts.append((begin, at))
                begin = at + 1
        return parts if begin >= end else [*parts, (begin, end)]

    def _arguments(self) -> list[Range]:
        if self.kinds[-1] != t.RPAR or self.kinds[0] == t.SQRT:
            return [(1, len(self.kinds))]       # √x
        return self._parts(self._opened() + 1, len(self.kinds) - 1)

    def _operand(self, key: int) -> Span:
        """Return the span of the left (0) or right (1) side of a sign, coefficient or exponent."""
        size = len(self.kinds)
        depth = 0
        signs: list[int] = []
        for at, kind in enumerate(self.kinds):
            depth += (kind in _OPENING) - (kind in _CLOSING)
            if (not depth and kind == SIGNS.get(self.arg)
                    and at and self.kinds[at - 1] in _ENDS):
                signs.append(at)
        if signs:
            at = signs[0 if self.arg == "power" else -1]
            return self._span(*((0, at), (at + 1, size))[key])
        at = size - 1 if self.arg == "power" else next(
            (k + 1 for k, kind in enumerate(self.kinds) if kind == t.NUMBER), 1)
        return self._span(*((0, at), (at, size))[key])


def _holder(value: Any, args: Sequence[Any], named: Mapping[str, Any]) -> int | str | None:
    """Return the key of the one argument that is, or holds, a value; None if that is not clear."""
    given: list[tuple[int | str, Any]] = [*enumerate(args), *named.items()]
    for holds in (_is, _has):
        found = [key for key, arg in given if holds(arg, value)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is(arg: Any, value: Any) -> bool:
    if isinstance(arg, (list, tuple)):
        return any(_is(item, value) for item in arg)
    return arg is value or value_of(arg) is value_of(value)


def _has(arg: Any, value: Any) -> bool:
    """Return whether equal numbers or texts are among the items of an argument."""
    if isinstance(arg, (list, tuple)):
        return any(_has(item, value) for item in arg)
    plain, wanted = value_of(arg), value_of(value)
    if not isinstance(wanted, (int, float, str)):
        return False
    if hasattr(plain, "tolist"):
        return wanted in plain.reshape(-1).tolist()
    return isinstance(plain, (int, float, str)) and bool(plain == wanted)
