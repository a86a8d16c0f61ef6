r"""What a program in LaTeX calls names, and what looks like a formula there and is none.

In LaTeX each letter is a name of its own, and a word is one in \mathrm. Some signs would be read as
something else than is meant: a derivative, f(x + 1) for a product, a product of vectors. These are
refused.
"""

from __future__ import annotations

import re

from gradcli.errors import error
from gradcli.lang.lexer import KEYWORDS
from gradcli.reading.functions import ALONE, GREEK, LOADED, SCHOOL, SPECIAL

SPELLINGS = {spelling: LOADED[word] for letter, word in GREEK.items() for spelling in (letter, word)
             if spelling != LOADED[word]}
"""What else people call a Greek letter, and the name that it is read as: mu is μ, σ is sigma."""

DERIVATIVE = re.compile(
    r"\\[dtc]?frac\s*\{\s*(?:\\mathrm\{d\}|d|\\partial)(?:\^\{?\d\}?)?\s*[a-zA-Z]?\s*\}"
    r"\s*\{\s*(?:\\mathrm\{d\}|d|\\partial)\s*[a-zA-Z\\][^{}]*\}")
DIFFERENTIAL = re.compile(r"\\(?:mathrm|text|operatorname)\s*\{\s*d\s*\}\s*(?=\\?[A-Za-z])"
                          r"|\\(?:mathrm|rm)\s+d\s*(?=\\?[A-Za-z])")
DIFFERENCE = re.compile(r"\\Delta(?![A-Za-z])\s*(?:\\[,!]\s*)?(?=[A-Za-z]|\\[a-z])")
BOLD = r"\\(?:mathbf|boldsymbol|bm|vec|overrightarrow)(?![A-Za-z])\s*(?:\{[^{}]*\}|\\?[A-Za-z])"
TRANSPOSED = re.compile(rf"({BOLD})(?:_(?:\w|\{{[^{{}}]*\}}))?\s*\^\s*\{{?\s*(?:T\b|\\top)")
BESIDE = re.compile(rf"({BOLD})(?:_(?:\w|\{{[^{{}}]*\}}))?\s*"
                    rf"((?:\\cdot|\\times|\\[,;:!])?\s*)({BOLD})")
# A word in \mathrm; a letter or a Greek one with an index or without; both before a bracket.
WORD = re.compile(r"\\(?:mathrm|text|textrm|mathit|operatorname)\s*\{\s*([A-Za-z]{2,})\s*\}")
COMMAND = re.compile(r"\\[A-Za-z]+")
INDEX = r"(?:_(?:\{[^{}]*\}|\w))?"
CALLED = re.compile(rf"(?:(\\[A-Za-z]+)|(?<![A-Za-z\\])([A-Za-z]+))({INDEX})\s*"
                    r"(?:\\left|\\[bB]igg?l?)?\s*\(")
FUNCTIONS = frozenset((
    "f", "g", "h", "y", "F", "G", "zeta", "sigma", "phi", "varphi", "Phi", "psi", "Psi"))
"""Names that mean functions where a bracket follows, letters if nothing shows them as variables."""
BARE = re.compile(r"\s*(?:[A-Za-z]|\\[A-Za-z]+)(?:_(?:\{\w+\}|\w))?\s*(?:\\right)?\s*")


def variables(text: str) -> tuple[str, ...]:
    r"""Names that would be read as something else if they were not declared: \mathrm{loss} as four
    letters, E as e, th as a function. Not e, and not p, which may be half of a pi.
    """
    words = [w for w in WORD.findall(text) if w not in SCHOOL and w not in SPECIAL
             and w not in ALONE and w not in LOADED and w not in KEYWORDS]
    letters = {letter for letter in COMMAND.sub(" ", text) if letter.isascii() and letter.isalpha()}
    return tuple(dict.fromkeys([*words, *sorted(letters - {"e", "p"})]))


def refuse(text: str, begin: int, end: int) -> None:
    """Raise E0720 for what is no formula in text[begin:end], in spite of its looks."""
    found = DERIVATIVE.search(text, begin, end)
    if found is not None:
        raise error("E0720", "a derivative is no part of the formula here", found.span(),
                    help="give the function alone; --wrt x asks for its derivative")
    found = DIFFERENTIAL.search(text, begin, end)
    if found is not None:
        raise error("E0720", "a differential is no part of a formula", found.span(),
                    help="give the function alone; --wrt x asks for its derivative")
    found = DIFFERENCE.search(text, begin, end)
    if found is not None:
        raise error("E0720", "this difference is one quantity, not a product", found.span(),
                    help=r"give it a name, such as \mathrm{dx}")
    found = TRANSPOSED.search(text, begin, end) or BESIDE.search(text, begin, end)
    if found is not None:
        raise error("E0720", "products of vectors and matrices are not read", found.span(),
                    help="write a program without --latex: x @ y")
    for found in re.finditer(BOLD, text[begin:end]):
        letter = found.group().rstrip("} ")[-1]
        rest = COMMAND.sub(_blank, text[begin:found.start()] + " " * len(found.group())
                           + text[begin + found.end():end])
        plain = re.sub(BOLD, _blank, text[begin:found.start()] + " " * len(found.group())
                       + text[begin + found.end():end])
        if letter.isalpha() and letter in COMMAND.sub(_blank, plain) and letter in rest:
            place = begin + found.start(), begin + found.end()
            raise error("E0720", f"`{letter}` is another name where it is not bold", place,
                        help="give them two letters")


def refuse_application(text: str, begin: int, end: int) -> None:
    """Raise E0712 for a name before a bracket that people read as a function: f(x + 1), u(x)."""
    for found in CALLED.finditer(text, begin, end):
        command, run, index = found.groups()
        if command is not None:
            name = command[1:]
            if (name not in GREEK.values() and name != "varphi") or (name == "Gamma" and not index):
                continue
        else:
            if not index and (run in SCHOOL or run in SPECIAL or any(
                    run.endswith(word) for word in SCHOOL)):
                continue
            name = run[-1]
        inside = text[found.end():closing(text, found.end() - 1, end)]
        function = name in FUNCTIONS and not index and (command is not None or not re.search(
            name + r"(?!\s*\()", COMMAND.sub(_blank, text[begin:end])))
        if function or BARE.fullmatch(inside) or (
                "," in inside and "(" not in inside):
            raise error("E0712", f"`{name}{index}` is not a function that is known here",
                        (found.end(1 if command else 2) - len(name) - bool(command), found.end(3)),
                        help="write its formula in place of it; or a product with \\cdot")


def closing(text: str, at: int, end: int) -> int:
    """Where the bracket that opens at `at` is closed; `end` if it is not."""
    depth = 0
    for k in range(at, end):
        depth += (text[k] == "(") - (text[k] == ")")
        if not depth:
            return k
    return end


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())
