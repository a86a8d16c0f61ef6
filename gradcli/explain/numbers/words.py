"""The words for operations and numbers in an explanation of NaN and infinity."""

from __future__ import annotations

import re

from gradcli.engine.record.record import OP, OUT, PLACE
from gradcli.explain.elements import plain_number
from gradcli.explain.written import called, element_text, term, written
from gradcli.lang.syntax import code as c
from gradcli.ops import lookup
from gradcli.ops.values import shape_of, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from typing import Any

    from gradcli.base.errors import Source
    from gradcli.engine.record.record import Entry
    from gradcli.explain.elements import Index
    from gradcli.explain.numbers.trials import Trials

    # The new text, and the operation that it replaces.
    Rewrite = tuple[str, Entry | None]

# Signs of binary operations in a text, and in a sentence.
SIGNS = {"divide": ("/", "÷"), "multiply": ("*", "·", "×"), "power": ("^", "**")}
BETWEEN = {"divide": "/", "multiply": "*", "power": "^", "add": " + ", "subtract": " - "}


class Wording:
    """The program's text, from which operations are named.

    last: id of the last value that the program itself made; later ones, and those in `ruled`,
    belong to derivatives, whose operands are not in the text. trials: tries a rewrite before it is
    offered; None: none is offered.
    """

    __slots__ = ("last", "ruled", "source", "trials")

    def __init__(self, source: Source, last: int | None = None, trials: Trials | None = None
                 ) -> None:
        self.source = source
        self.last = last
        self.ruled: Container[int] = ()
        self.trials = trials

    def of(self, entry: Entry) -> str | None:
        """Return the text of an operation; None if it has none, or one on several lines."""
        place = entry[PLACE]
        if place is None or self.late(entry):
            return None
        text = self.source.text[place[2]:place[3]]
        return None if "\n" in text else text

    def name(self, entry: Entry) -> str:
        """Return the name of an operation in backquotes."""
        if self.late(entry):
            return f"the slope of `{written(entry, self.source) or entry[OP].name}`"
        return f"`{called(entry, self.source)}`"

    def described(self, entry: Entry, values: Sequence[Any], index: Index) -> str:
        """Return the text of an operation with its operands' values at an element."""
        text, at, name = written(entry, self.source), at_element(index), entry[OP].name
        if self.late(entry):
            return self.name(entry) + at
        if not entry[OP].elementwise:
            return f"`{text or name}`"
        if text and _names(called(entry, self.source), name):
            return f"{self.name(entry)} of {listed(values)}{at}"
        inner = f"`{name}` of {listed(values)}"
        if name in BETWEEN and len(values) == 2:
            first, second = map(number, values)
            bare = name not in ("power", "divide") or not first.startswith("-")
            inner = BETWEEN[name].join([
                first if bare else f"({first})",
                f"({second})" if second.startswith("-") else second])
        return f"`{text}` ({inner}{at})" if text else inner + at

    def write(self, rewrite: Rewrite | None, at: Entry, lead: str = "") -> str | None:
        """Return the advice to write a rewrite; None unless it is known to work. at: the operation
        at which the note stands; lead: words before it.
        """
        if rewrite is None or self.trials is None:
            return None
        new, old = rewrite
        if old is None:
            return f"there is `{new}`"
        text = self.of(old)
        if text is None or not self.trials.works(old[PLACE][2:4], new):
            return None
        here, there = [self.source.position(e[PLACE][2])[0] if e[PLACE] else 0 for e in (at, old)]
        new = self.trials.spelled(new, old)
        return f"{lead}write `{new}` for `{text}`{f' in line {there}' if there != here else ''}"

    def jumps(self, rewrite: Rewrite) -> bool:
        """Return whether the rewrite has another value at the point than the limit there."""
        new, old = rewrite
        return old is not None and self.of(old) is not None and self.trials is not None and (
            self.trials.jumps(old[PLACE][2:4], new))

    def late(self, entry: Entry) -> bool:
        """Return whether an operation belongs to a derivative and not to the program."""
        return entry[OUT] in self.ruled or (self.last is not None and entry[OUT] > self.last)

    def where(self, entry: Entry) -> str:
        """Return the name of an operation with its line and column."""
        place = entry[PLACE]
        if place is None:
            return self.name(entry)
        return f"{self.name(entry)} ({self.source.where(place[2])})"

    def operands(self, entry: Entry) -> list[str] | None:
        """Return the texts of an operation's operands; None if it is only a part of its text.

        The call of a file says with its name what it calls, that of Python code in its place.
        """
        text, name = self.of(entry), entry[OP].name
        if text is None:
            return None
        if entry[PLACE][0] == c.BINARY and name in SIGNS:
            return _split(text, SIGNS[name], first=name == "power")
        if entry[PLACE][0] == c.CALL:
            if text.startswith("√"):
                return [text[1:].strip()] if name == "sqrt" else None
            head, bracket, rest = text.partition("(")
            called = entry[PLACE][1]
            if bracket and rest.endswith(")") and (called == name or _names(
                    head.strip().rpartition(".")[2], name)):
                return [part for part in arguments(rest[:-1])
                        if not re.match(r"\s*\w+\s*=(?!=)", part)]
        return None

    def domain(self, entry: Entry) -> str:
        """Return the clause on the operation's domain, in the words of its operand."""
        op = entry[OP]
        if not op.domain:
            return ""
        parts = self.operands(entry) or [""]
        if len(op.parameters) == 1:
            mine, text = op.parameters[-1], parts[-1]
            if any(letter.isalpha() for letter in text):
                told = [text if word == mine else word for word in op.domain.split(" ")]
                return f" (domain: {' '.join(told)})"
        return f" (domain of {op.name}({', '.join(op.parameters)}): {op.domain})"


def _names(word: str, name: str) -> bool:
    op = lookup(word)
    return op is not None and op.name == {"norm2": "norm"}.get(name, name)


def _split(text: str, signs: tuple[str, ...], first: bool) -> list[str] | None:
    """Return the texts on both sides of a sign outside of all brackets (first: the first one, else
    the last); None if there is none.
    """
    depth, cuts, k = 0, [], 0
    while k < len(text):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        sign = "**" if text.startswith("**", k) else text[k]
        if depth == 0 and sign in signs:
            cuts.append((k, k + len(sign)))
        k += len(sign)
    if not cuts:
        return None
    start, end = cuts[0 if first else -1]
    return [_bare(text[:start].strip()), _bare(text[end:].strip())]


def _bare(text: str) -> str:
    """Return a text without brackets around the whole."""
    return text[1:-1].strip() if text.startswith("(") and tight(text) == text else text


def arguments(text: str) -> list[str]:
    """Split a text at the commas outside of all brackets."""
    depth, parts, start = 0, [], 0
    for k, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    return [*parts, text[start:].strip()]


def tight(text: str) -> str:
    """Put an expression in brackets unless it can be a factor or a base as it is."""
    if text.replace("_", "").replace(".", "").isalnum():
        return text
    if text.endswith((")", "]")) and (text[0] in "([" or text[0].isalpha()):
        depth = 0
        for k, letter in enumerate(text):
            depth += (letter in "([") - (letter in ")]")
            # A bracket that closes before the end, or a sign outside of all.
            if depth == 0 and k < len(text) - 1 and not (letter.isalnum() or letter in "_."):
                return f"({text})"
        return text
    return f"({text})"


def minus(text: str) -> str:
    """Return the text of the negative of an expression."""
    bare = text[1:].strip()
    return bare if text.startswith("-") and term(bare) == bare else f"-{tight(text)}"


def at_element(index: Index) -> str:
    """Return " at element [1]" for an index; "" for a scalar's."""
    return f" at {element_text(index)}" if index else ""


def listed(values: Sequence[Any]) -> str:
    """Return the operands' values, joined by "and"."""
    return " and ".join(map(number, values)) or "its operands"


def number(value: Any) -> str:
    """Format a value for a sentence; of an array only the shape."""
    value = plain_number(value) if not shape_of(value) else value
    if type(value) is float or isinstance(value, complex):
        return "NaN" if value != value else f"{value:.6g}" if isinstance(
            value, complex) else telling(value + 0.0)
    if shape_of(value):
        return f"an array of shape [{', '.join(str(n) for n in shape_of(value))}]"
    return str(value)
