"""Unknown words that an answer is read to have: `foo(x)`, `where`."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.refusals import nearest
from gradcli.lang.paper.tokens import CALLED, OTHER_SYSTEMS, STOP_WORDS, TWO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import GradcliError
    from gradcli.lang.paper.answer import Reading
    from gradcli.lang.paper.names import ProblemNames
    from gradcli.lang.paper.tokens import AnswerTokens


def unknown_word(reading: Reading, names: ProblemNames, apart: bool = False
                 ) -> GradcliError | None:
    """Return E0711 for a word that is read as a product of undeclared letters: `foo(x)`, `where`;
    None without one. Three letters may be a product: `mgl(1 - cos x)`.

    apart: whether two are a word where they stand apart, as in an answer: `hm 2x`, `yes`.
    """
    tokens = reading.tokens.raw
    assert tokens is not None
    begin = 0
    for at in range(len(tokens.kinds)):
        glued = at > begin and tokens.starts[at] == tokens.ends[at - 1]
        if tokens.kinds[at] != t.NAME or not glued:
            word = tokens.words[begin:at]
            if word and word[-1] == "e" and tokens.kinds[at] == t.CIRCUMFLEX:
                del word[-1]
            letters = [letter for letter in word if letter not in names.written
                       and len(letter) == 1]
            called = glued and tokens.kinds[at] == t.LPAR
            double = called and len(letters) > 2 and any(map(str.__eq__, letters, letters[1:]))
            alone = apart and _is_apart(tokens, begin, at, letters)
            if len(letters) > 3 or double or letters == ["o", "r"] or (
                    "".join(word) in STOP_WORDS or alone):
                span = tokens.starts[begin], tokens.ends[at - 1]
                if reading.origin is not None:
                    span = reading.origin.span(*span)
                spelled = reading.text[slice(*span)]
                whole = spelled + reading.text[span[1]:].partition(" ")[0].partition("(")[0]
                if whole.lower() in OTHER_SYSTEMS:    # cuberoot, whose end is a function
                    span, spelled = (span[0], span[0] + len(whole)), whole
                return error("E0711", f"`{spelled}` is not known here", span,
                             help=_meant(spelled, tokens.words[begin:at], alone))
            begin = at
    return None


def _is_apart(tokens: AnswerTokens, begin: int, end: int, letters: list[str]) -> bool:
    """Return whether undeclared letters are a word before a formula, or all there is: hm 2x,
    yes.
    """
    if begin or len(letters) < 2 or tokens.words[:end] != letters or letters[0].isdecimal():
        return False
    return tokens.kinds[end] == t.END or tokens.starts[end] > tokens.ends[end - 1]


def _meant(spelled: str, words: list[str], alone: bool) -> str:
    """Return advice for a word that is not known. alone: it is no product of letters."""
    word = spelled.lower()
    if word in STOP_WORDS or word == "or":
        return "give one formula"
    if word in CALLED:
        return f"write {word}({'a, b' if CALLED[word] in TWO else 'x'})"
    if word in OTHER_SYSTEMS:
        return f"write {OTHER_SYSTEMS[word]}"
    near = nearest(word)
    if near:
        return f"did you mean `{near}`?"
    if alone:
        return "give the formula without words"
    if len(words) < 5 and "e" not in words:
        return f"write {'*'.join(words)} for a product"
    return "put one letter in place of the word"
