r"""What the reader of formulas does not know of LaTeX, in words that it knows, each as long as
before, so that all places stay: `\lfloor x \rfloor` is ` floor( x )`.
"""

from __future__ import annotations

import re

from gradcli.errors import error
from gradcli.reading.functions import ALONE, LOADED, SCHOOL, SPECIAL

COMMENT = re.compile(r"(?<!\\)%[^\n]*")
BRACKETS = (
    (r"\lfloor", " floor("), (r"\rfloor", ")      "), (r"\lceil", " ceil("), (r"\rceil", ")     "),
    (r"\left\{", "(      "), (r"\right\}", ")       "), (r"\{", "( "), (r"\}", ") "),
    (r"\left.", "      "), (r"\right.", "       "),
    (r"\Gamma(", " gamma("), (r"\Gamma\left(", " gamma\\left("),
)
# Around brackets that become calls, \left and \right say nothing.
SIDES = re.compile(r"\\(?:left|right)(?=\s*\\[lr](?:floor|ceil)\b)")
DERIVATIVE = re.compile(
    r"\\[dtc]?frac\s*\{\s*(?:\\mathrm\{d\}|d|\\partial)(?:\^\{?\d\}?)?\s*[a-zA-Z]?\s*\}"
    r"\s*\{\s*(?:\\mathrm\{d\}|d|\\partial)\s*[a-zA-Z\\][^{}]*\}")
# A function and its bracket with a blank between them: the blank goes before the function.
CALLED = re.compile(r"(\\[A-Za-z]+(?:\s*\{[A-Za-z]+\})?)(\s*)((?:\\left)?)(\s*)(?=\()")
WORD = re.compile(r"\\(?:mathrm|text|textrm|mathit|operatorname)\s*\{\s*([A-Za-z]{2,})\s*\}")

ASCII = {word: loaded for word, loaded in LOADED.items() if word != loaded}
"""Names that a shell types more easily than the letter that they are read as: mu, lambda."""


def normal(text: str) -> str:
    """The text in words that `gradcli.reading` knows, character by character in its place.

    Raises E0720 for a derivative: --wrt asks for that.
    """
    text = COMMENT.sub(_blank, text)
    found = DERIVATIVE.search(text)
    if found is not None:
        raise error("E0720", "a derivative is no part of the formula here", found.span(),
                    help="give the function alone; --wrt x asks for its derivative")
    text = SIDES.sub(_blank, text)
    for before, after in BRACKETS:
        text = text.replace(before, after)
    return CALLED.sub(_called, text)


def _called(found: re.Match[str]) -> str:
    function, before, left, after = found.groups()
    word = function.rstrip("}").replace("{", "\\").split("\\")[-1].strip()
    if (word in SPECIAL or word in SCHOOL) and not function.startswith(("\\frac", "\\left")):
        return f"{before}{after}{function}{left}"
    return found.group()


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def variables(text: str) -> tuple[str, ...]:
    r"""Names that would be read as something else: \mathrm{loss} as four letters, E as e."""
    words = [w for w in WORD.findall(text) if w not in SCHOOL and w not in SPECIAL
             and w not in ALONE and w not in LOADED]
    if re.search(r"(?<![\\A-Za-z])E(?![A-Za-z])", text):
        words.append("E")
    return tuple(dict.fromkeys(words))
