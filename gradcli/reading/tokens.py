"""The tokens of an answer: their kinds, and what one is in the text and in the grammar.

Those of the first group are the terminals of `grammars/answer.lark`; the others are what the
scanner finds and `marks` turns into them.
"""

from __future__ import annotations

# ERROR is 0 and in no row of the parser's table.
(ERROR, END, NUMBER, NAME, FUNCTION, POWERED, BASED, PLUS, MINUS, STAR, SLASH, CIRCUMFLEX, LPAR,
 RPAR, LSQB, RSQB, BAR_OPEN, BAR_CLOSE, COMMA, SEMICOLON, FACTORIAL,
 ROOT, SUM, LBRACE, RBRACE, LESS, GREATER, BAR) = range(28)

# Characters of the plain text that nobody can type: operands, sums and products that stand for a
# part (`parts`), the factorial that LaTeX has, and what stands before a word that LaTeX calls. In
# what was typed they are refused.
CHARACTERS = tuple(map(chr, range(0xE000, 0xE040)))
SUMS = tuple(map(chr, range(0xE040, 0xE080)))
PRODUCTS = tuple(map(chr, range(0xE0C0, 0xE100)))
FACTORIAL_SIGN = "\ue080"
CALL_SIGN = "\ue081"
PRIVATE = frozenset((*CHARACTERS, *SUMS, *PRODUCTS, FACTORIAL_SIGN, CALL_SIGN))

KIND_NAMES = {
    value: name for name, value in list(globals().items())
    if name.isupper() and type(value) is int
}


class Tokens:
    """The text, and parallel lists: kinds, the places in the text, and the words.

    The word of a NAME is the name that it loads, of a FUNCTION the operation that it calls, of a
    NUMBER its digits; elsewhere it is empty. What was not typed: products, the places of signs;
    closing, those of opening brackets, each with that of its closing one. raw: of arranged
    tokens, those that the scanner found.
    """

    __slots__ = ("closing", "ends", "kinds", "products", "raw", "starts", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.words: list[str] = []
        self.products: list[int] = []
        self.closing: list[tuple[int, int]] = []
        self.raw: Tokens | None = None

    def put(self, kind: int, start: int, end: int, word: str = "") -> None:
        """Append one."""
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)
        self.words.append(word)

    def spellings(self) -> list[str]:
        """The names and functions as the text has them."""
        return [self.text[start:end] for kind, start, end in
                zip(self.kinds, self.starts, self.ends, strict=True)
                if NAME <= kind <= POWERED]
