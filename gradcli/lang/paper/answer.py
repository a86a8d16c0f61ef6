"""A student's answer as read: flat code, an echo, and what was left out on the left side."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.lang.paper.marks import arrange
from gradcli.lang.paper.names import ProblemNames, other_case
from gradcli.lang.paper.parser import parse
from gradcli.lang.paper.plain import counts
from gradcli.lang.paper.scanner import plain, scan
from gradcli.lang.paper.tokens import MINUS, NAME, PLUS, SCHOOL
from gradcli.lang.paper.written import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.lang.paper.parts import PartsReader
    from gradcli.lang.paper.plain import PlainText
    from gradcli.lang.paper.tokens import AnswerTokens
    from gradcli.lang.syntax.code import Code

MAX_LENGTH = 2000
SEVERAL_SIDES = "of several sides the last is read"
# Of what answers are mostly made; without other characters and words there is no other notation
# (`notations`).
SIGNS = "0123456789 +-*/^()='.,;[]{}·×−²³⁴√π\n"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + SIGNS)
APART = str.maketrans(dict.fromkeys(SIGNS, " "))
BESIDE = ("in", "by", "ca", "et", "dp", "sf", "D", "Df", "T", "so", "So", "it", "It", "we", "We",
          "I")
"""Short words that may stand beside a formula, besides those of three letters."""


class Reading:
    """One reading of an answer.

    text: as typed; all offsets count in it.
    code: flat code that leaves one value on the stack (only LOAD, PUSH of a float, BINARY, UNARY
        negative, CALL and LIST).
    read_as: the code as a formula.
    left: the text left of the equals sign if it only named the answer, or None.
    labels: those of the components, if each has one: f_x = 2x, f_y = 3.
    sides: all text left of the last equals sign, if it begins with a name of the answer.
    rounded: the number behind ≈ that the answer is said to be, or "".
    equation: the code of a left side that is a formula of its own, or None.
    notes: on spellings that were understood otherwise.
    conditions: beside the formula, which were not looked at.
    unit: behind the formula, "" without one; scale: what that is multiplied by in the unit asked
        for, 0 where it measures something else.
    expansion: puts the parts of its text into code, if there are any.
    names: those that the code loads, in order, once each.
    """

    __slots__ = ("_read_as", "code", "conditions", "equation", "expansion", "labels", "left",
                 "notes", "origin", "rounded", "scale", "sides", "text", "tokens", "unit")

    def __init__(self, text: str, code: Code, tokens: AnswerTokens, origin: PlainText | None
                 ) -> None:
        self.text = text
        self.code = code
        self.tokens = tokens  # for other readings
        self.origin = origin
        self.expansion: PartsReader | None = None
        self.left: str | None = None
        self.labels: tuple[str, ...] = ()
        self.sides = ""
        self.rounded = ""
        self.equation: Code | None = None
        self.notes: list[str] = []
        self.conditions: list[str] = []
        self.unit = ""
        self.scale = 1.0
        self._read_as: str | None = None

    @property
    def read_as(self) -> str:
        """The formula with every sign and few brackets; for an equation both sides."""
        if self._read_as is None:
            shown = written(self.code)
            if self.equation is not None:
                shown = f"{written(self.equation)} = {shown}"
            self._read_as = shown
        return self._read_as

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the code loads, those of an equation's left side first."""
        from gradcli.lang.syntax.code import LOAD

        return tuple(dict.fromkeys(
            ins[1] for ins in (self.equation or []) + self.code if ins[0] == LOAD))

    def expand(self) -> None:
        """Put the code of the parts, if there are any, into the reading and its equation.

        Raises E0710 for code that becomes too long, E0714 for a factorial of something that is no
        whole number, E0720 for a part that is not understood, and what `read` raises for the text
        inside.
        """
        if self.expansion is None or self.origin is None:
            return
        expansion, parts = self.expansion, self.origin.parts
        code = expansion.expanded(self.code, parts)
        if self.equation is not None:
            self.equation = expansion.finished(expansion.expanded(self.equation, parts))
        self.code = expansion.finished(code)


def read(text: str, names: ProblemNames, both: bool = False) -> Reading:
    """Read an answer. both: it is an equation between two sides, y = x y + 1, and no label.

    Raises GradcliError with a code from E0710 to E0721, the span in `text` and one help.
    """
    if len(text) > MAX_LENGTH:
        raise error("E0710", f"an answer has at most {MAX_LENGTH} characters, not {len(text)}",
                    (MAX_LENGTH, len(text)), help="shorten the answer")
    if text.isascii() and "\\" not in text and "$" not in text and "{,}" not in text \
            and not names.program and not counts(text):
        return _read(text, text, names, None, both)
    origin = plain(text, names)
    try:
        found = _read(text, origin.text, names, origin, both)
    except GradcliError as problem:
        if not origin.text.strip():     # as of commands that only make blanks
            problem.diagnostics[0].span = 0, len(text)
            raise
        raise origin.moved_error(problem) from None
    if origin.expands:
        from gradcli.lang.paper.parts import PartsReader

        found.expansion = PartsReader(text, names)
        found.expand()
    return found


def understood(text: str, names: ProblemNames, number: bool = False) -> tuple[str, list[str]]:
    """Return an answer, at its length, without what stands beside the formula, in the notation that
    `read` knows; and the conditions that were left out. number: a number is asked for.
    """
    if len(text) > MAX_LENGTH or _is_plain(text):
        return text, []
    from gradcli.lang.paper.notations import rewritten

    return rewritten(text, names, number)


def _is_plain(text: str) -> bool:
    """Return whether a text has no other notation than `read` knows, and nothing beside it."""
    return PLAIN.issuperset(text) and all(
        word in SCHOOL or (len(word) < 3 and word not in BESIDE)
        for word in text.translate(APART).split()) and not (
        "=/" in text or ".." in text or text.rstrip().endswith("'")
        or any(part[:1].isalpha() for part in text.split(".")[1:]))


def _read(typed: str, text: str, names: ProblemNames, origin: PlainText | None, both: bool
          ) -> Reading:
    """Read the plain form `text` of an answer as typed."""
    end = len(text.rstrip())
    if end > 1 and text[end - 1] == "." and text[end - 2] not in "0123456789.":
        end -= 1  # the full stop of a sentence
    elif end > 1 and text[end - 1] in ",;":
        end -= 1
    labels: tuple[str, ...] = ()
    if names.vector and "\n" in text[:end].lstrip():
        from gradcli.lang.paper.left import in_lines

        text = in_lines(text, end)
    if names.vector and text.count("=", 0, end) + text.count(":", 0, end) > 1:
        from gradcli.lang.paper.left import unlabelled

        bare, labels = unlabelled(text, end, names)
        text = bare or text
    rounded = ""
    if "≈" in text or "~" in text:
        from gradcli.lang.paper.left import approximate

        text, rounded = approximate(text, end, names)
        end = min(end, len(text.rstrip()))
    if not names.program and (
            ":" in text or ">" in text or " is " in text or not text.isascii()):
        from gradcli.lang.paper.left import introduced

        text = introduced(text, end, names)
    before: list[tuple[int, int]] = []
    begin = 0
    if "=" in text:
        before, (begin, end) = _sides(text, end, names, both)
    left = _left(text, before, names, both)
    if before and left is None and names.vector and not both:
        from gradcli.lang.paper.left import listed

        labels = listed(text[slice(*before[0])], names)
        left = "" if labels else None
    equation = _equation(text, *before[0], names) if before and left is None else None
    raw = scan(text, begin, end, names)
    if raw.kinds[:2] == [PLUS, MINUS] and raw.ends[0] == raw.starts[1]:
        raise error("E0714", "`+-` stands for two values", (raw.starts[0], raw.ends[1]),
                    help="give one of them")
    tokens = arrange(raw, names)
    found = Reading(typed, parse(tokens), tokens, origin)
    found.labels, found.rounded = labels, rounded
    found.left = left
    if left is not None:
        found.sides = text[before[0][0]:before[-1][1]]
    found.equation = equation
    if origin is not None:
        found.code = origin.moved(found.code)
        if equation is not None:
            found.equation = origin.moved(equation)
        if left is not None:
            start, stop = origin.span(*before[0])
            found.left = typed[start:stop].strip()
    if len(before) > 1:
        found.notes.append(SEVERAL_SIDES)
    if "log" in text and not names.program:
        from gradcli.lang.paper.scanner import log_notes

        found.notes += log_notes(text + " ", begin, end, names)
    if names.notes:
        words = set(tokens.spellings())
        if not names.other_case.isdisjoint(words):
            _check_case(tokens, names)
        found.notes += [note for word, note in names.notes.items() if word in words]
    return found


def _check_case(tokens: AnswerTokens, names: ProblemNames) -> None:
    """Raise E0711 where a letter stands in both cases, X - x, but for a capital that begins."""
    text = tokens.text
    first = len(text) - len(text.lstrip())
    spelled = {text[start:end] for kind, start, end in zip(
        tokens.kinds, tokens.starts, tokens.ends, strict=True)
        if kind == NAME and (start > first or not text[start].isupper())}
    for letter in sorted(names.other_case & spelled):
        if letter.swapcase() in spelled:
            at = text.index(letter, first)
            raise other_case(letter, (at, at + 1))


def _sides(text: str, end: int, names: ProblemNames, both: bool
           ) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Return the spans of the sides before the last equals sign, and that of the last one.

    Raises E0719 for an empty one and for several equations.
    """
    from gradcli.lang.paper.left import lists, names_a_derivative, sides

    *before, (begin, end) = sides(text, end)
    if not text[begin:end].strip():
        raise error("E0719", "nothing follows the equals sign", (begin - 1, begin),
                    help="give the formula there")
    if both and len(before) > 1:
        raise error("E0719", "these are several equations", before[1],
                    help="write one equation, with one equals sign")
    for first, last in before[1:]:
        if not names.decimal_comma and lists(text, first, last):
            raise error("E0719", "these are several equations", (first, last),
                        help="give the right sides alone, as a list: (2x, 3y)")
    if len(before) == 1 and names_a_derivative(text[begin:end], names):
        return [(begin, end)], before[0]  # 2x = y'
    return before, (begin, end)


def _left(text: str, before: list[tuple[int, int]], names: ProblemNames, both: bool) -> str | None:
    """Return the first side if it names the answer; None for an equation or no side.

    Raises E0719 for y(x) in an equation of both sides, a product or a function.
    """
    if not before:
        return None
    from gradcli.lang.paper.left import argument, is_label, is_side

    left = text[slice(*before[0])].strip()
    if both and is_side(left, names):
        if is_label(left, names) and argument(left) in names.written:
            raise error("E0719", f"`{left}` is a product, or a function", before[0],
                        help=f"for the function, write {left.partition('(')[0].strip()} alone")
        return None
    return left if len(before) > 1 or is_label(left, names) else None


def _equation(text: str, begin: int, end: int, names: ProblemNames) -> Code:
    """Return the code of a left side that is a formula; raise E0719 for one that is none."""
    try:
        return parse(arrange(scan(text, begin, end, names), names))
    except GradcliError:
        while text[begin] == " ":
            begin += 1
        raise error("E0719", "this left side is not understood", (begin, end),
                    help="leave out what stands left of the equals sign") from None


def alternatives(reading: Reading, names: ProblemNames) -> list[Reading]:
    """Return other readings of the same text, the most plausible first; at most 16.

    They move the brackets and signs that were put in, and put in others where they are easily
    forgotten: 1/2x, 1/x+1, e^2x, sin x/2, sin x^2. All are different from the reading and from each
    other. An equation's left side stays.
    """
    from gradcli.lang.paper.other import others

    return other_readings(reading, others(reading.tokens, names))


def other_readings(reading: Reading, candidates: Iterable[AnswerTokens]) -> list[Reading]:
    """Return the readings of other tokens of the same text, at most 16; a left side stays."""
    from gradcli.lang.paper.other import different

    found = []
    for tokens, code in different(reading.tokens, candidates):
        origin = reading.origin
        one = Reading(reading.text, code if origin is None else origin.moved(code), tokens, origin)
        one.expansion = reading.expansion
        try:
            one.expand()
        except GradcliError:
            continue
        one.left, one.equation, one.notes = reading.left, reading.equation, reading.notes
        one.labels, one.sides = reading.labels, reading.sides
        one.unit, one.scale = reading.unit, reading.scale
        found.append(one)
    return found
