"""Text as typed to plain text: other spellings of signs, as of a phone or another keyboard.

Plain text is what the scanner knows: ASCII, Greek letters, the signs of roots. Every character
keeps the span that it came from, so an error is shown where the student typed it.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.lang.paper.tokens import COUNTING, FACTORIAL_SIGN, GREEK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Code

SIGNS = {
    **dict.fromkeys("·×⋅∙•∗✕✖⨯\u2062", "*"), **dict.fromkeys("−–—‐‑‒➖", "-"),
    **dict.fromkeys("÷∕⁄∶", "/"),
    **dict.fromkeys("⟨〈‹❬", "<"), **dict.fromkeys("⟩〉›❭", ">"), **dict.fromkeys("∣❘│", "|"),
    **dict.fromkeys("❨❪⟮⦅", "("), **dict.fromkeys("❩❫⟯⦆", ")"), **dict.fromkeys("❲⟦〔", "["),
    **dict.fromkeys("❳⟧〕", "]"), "❴": "{", "❵": "}", **dict.fromkeys("ˆ⌃∧", "^"),
    **dict.fromkeys("′’‘´ʹʼ＇", "'"), **dict.fromkeys("″“”", "''"),
    "‴": "'''", "∆": "Δ", "Π": "π", "î": "i", "ĵ": "j", "ê": "e",
    # Blanks; marks that cannot be seen; an arrow or hat over a vector.
    **dict.fromkeys("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
                    "\u200a\u202f\u205f\u3000\u2028\u2029\x85", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2064\ufeff\xad\ufe0e\ufe0f"
                    "\u0302\u20d7", ""),
    "\u2063": ",",
}
RAISED_SLASHES = "ᐟ⸍"
ROOTS = {"2": "√", "3": "∛", "4": "∜"}


class Placeholder:
    """A part of the text for which one character stands.

    kind: one of those of `parts`.
    place: span of the whole.
    places: spans of its pieces, those of a sum's index, lower and upper bound.
    order: of a norm.
    """

    __slots__ = ("kind", "order", "place", "places")

    def __init__(self, kind: str, place: Span, places: Sequence[Span], order: str = "") -> None:
        self.kind = kind
        self.place = place
        self.places = tuple(places)
        self.order = order


class PlainText:
    """Plain text that grows, and for each of its characters the (start, end) of its origin.

    parts: the parts for which some characters stand. expands: there are such characters, or
    factorials.
    """

    __slots__ = ("characters", "ends", "expands", "parts", "starts", "text")

    def __init__(self) -> None:
        self.characters: list[str] = []
        self.parts: dict[str, Placeholder] = {}
        self.expands = False
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.text = ""

    def put(self, text: str, start: int, end: int) -> None:
        """Append text that all came from one span."""
        for character in text:
            self.characters.append(character)
            self.starts.append(start)
            self.ends.append(end)

    def last(self) -> str:
        """Return the last character that is no blank; a blank if there is none."""
        for character in reversed(self.characters):
            if character != " ":
                return character
        return " "

    def finish(self, size: int) -> PlainText:
        """End behind the last of the `size` characters of the text as typed; return self."""
        self.text = "".join(self.characters)
        self.starts.append(size)
        self.ends.append(size)
        return self

    def span(self, start: int, end: int) -> Span:
        """Return the span in the text as typed of plain[start:end]."""
        if start >= end:
            return (self.starts[start], self.starts[start])
        first = self.starts[start]
        return first, max(first, self.ends[end - 1])

    def moved(self, code: Code) -> Code:
        """Return code with the spans of the text as typed."""
        return [(opcode, argument, *self.span(start, end)) for opcode, argument, start, end in code]

    def moved_error(self, problem: GradcliError) -> GradcliError:
        """Return an error with the spans of the text as typed."""
        moved = []
        for d in problem.diagnostics:
            span = d.span and self.span(*d.span)
            moved.append(Diagnostic(d.code, d.message, span=span, label=d.label, notes=d.notes,
                                    help=d.help))
        return GradcliError(*moved)


def counts(text: str) -> bool:
    """Return whether factorials or binomials may stand in a text: those of numbers are numbers."""
    if "!" in text:
        return True
    if "(" in text:
        for word in COUNTING:
            if word in text:
                return True
    return False


def put_character(found: PlainText, text: str, at: int) -> int:
    """Append the plain form of the character or superscripts at `at`; return where to go on.

    Raises E0713 for a fraction such as ½ behind a digit.
    """
    character = text[at]
    if character == "!":
        found.put(FACTORIAL_SIGN, at, at + 1)
        return at + 1
    if character < "\x7f" or character in GREEK or character in "√∛∜∂∇±∓∞°…ºª":
        found.put(character, at, at + 1)
        return at + 1
    if character in SIGNS:
        found.put(SIGNS[character], at, at + 1)
        return at + 1
    import unicodedata

    kind = unicodedata.decomposition(character).partition(" ")[0]
    if kind in ("<super>", "<sub>"):
        return _raised(found, text, at, kind)
    if kind == "<fraction>":
        if found.last().isdecimal():
            raise error("E0713", "a mixed number", (at - 1, at + 1),
                        help="put + between the number and the fraction")
        top, _, bottom = unicodedata.normalize("NFKC", character).partition("\u2044")
        found.put(f"({top}/{bottom or 1})", at, at + 1)
        return at + 1
    normal = unicodedata.normalize("NFKC", character)
    if normal != character and all(
            c in GREEK or (c.isascii() and c.isprintable()) for c in normal):
        found.put(normal, at, at + 1)
    else:
        found.put(SIGNS.get(normal, character), at, at + 1)
    return at + 1


def _raised(found: PlainText, text: str, at: int, kind: str) -> int:
    """Convert superscripts to an exponent, subscripts to an index: `x⁻²` to x^(-2), `x₁` to x_{1};
    return the offset behind them.
    """
    import unicodedata

    end = at
    inside = ""
    while end < len(text) and (text[end] in RAISED_SLASHES or unicodedata.decomposition(
            text[end]).startswith(kind)):
        inside += "/" if text[end] in RAISED_SLASHES else unicodedata.normalize(
            "NFKC", text[end]).replace("−", "-")
        end += 1
    # x³√y is x³ times a root, x ³√y is x times a third root.
    if kind == "<super>" and text[end:end + 1] == "√" and inside in ROOTS and (
            text[at - 1:at].isspace() or not (found.last().isalnum() or found.last() in ")]}|")):
        found.put(ROOTS[inside], at, end + 1)
        return end + 1
    found.put("^(" if kind == "<super>" else "_{", at, at + 1)
    for k, character in enumerate(inside):
        if kind == "<super>" and character.isdecimal() and inside[k - 1:k].isalpha():
            found.put("^", min(at + k, end - 1), min(at + k, end - 1))      # e¹⁻ᵗ²
        found.put(character, min(at + k, end - 1), min(at + k + 1, end))
    found.put(")" if kind == "<super>" else "}", end - 1, end)
    return end
