"""The part of LaTeX that students paste, as plain text: \\frac, \\sqrt, \\cdot, \\left, matrices.

One pass without recursion: what waits for its argument, and what ends with the next brace, lie on
stacks.
"""

from __future__ import annotations

from gradcli.errors import error
from gradcli.reading.functions import GREEK, SCHOOL, SPECIAL
from gradcli.reading.plain import Plain, put_character

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.errors import GradcliError

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
MAX_ROOT = 12

_GREEK = {name: letter for letter, name in reversed(GREEK.items())}
COMMANDS = {
    **_GREEK, "varphi": "φ", "vartheta": "θ", "varepsilon": "ε", "varrho": "ρ",
    **dict.fromkeys(("cdot", "times", "ast", "star"), "*"), "div": "/", "pm": "±", "mp": "∓",
    **dict.fromkeys(("langle", "lt"), "<"), **dict.fromkeys(("rangle", "gt"), ">"),
    **dict.fromkeys(("vert", "lvert", "rvert", "mid"), "|"), "lbrace": "{", "rbrace": "}",
    "lbrack": "[", "rbrack": "]", "infty": "∞", "degree": "°", "circ": "°", "prime": "'",
    "partial": "∂", "nabla": "∇", "dots": "…", "ldots": "…", "cdots": "…", "imath": "i",
    "jmath": "j", "colon": ":", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠",
    "neq": "≠", "approx": "≈",
    **dict.fromkeys((",", ";", ":", "!", " ", ">", "quad", "qquad", "(", ")", "[", "]",
                     "thinspace", "enspace"), " "),
    **dict.fromkeys(("left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "bigg", "Bigg",
                     "biggl", "biggr", "middle", "displaystyle", "textstyle", "limits", "nolimits",
                     "rm", "it", "bf"), ""),
    "{": "{", "}": "}", "%": "%", "$": "$", "&": "&", "#": "#", "_": "_",
}
SIDES = frozenset(("left", "right", "middle"))
FRACTIONS = frozenset(("frac", "dfrac", "tfrac", "cfrac"))
WORDS = frozenset((
    "operatorname", "mathrm", "text", "textrm", "mathbf", "mathit", "mathsf", "vec", "hat", "bar",
    "boldsymbol", "bm", "mbox", "textbf", "textit", "overrightarrow", "widehat", "mathop",
    "boxed", "mathbb", "mathcal"))
MATRICES = frozenset(("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix"))


class LATEX:
    """One text on its way. waiting: what the next argument is for; braces: what each open one is
    for; matrices: how many are open.
    """

    __slots__ = ("at", "braces", "found", "matrices", "text", "waiting")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found = Plain()
        self.waiting = ""
        self.braces: list[str] = []
        self.matrices = 0

    def run(self) -> Plain:
        """Go through the text. Raises E0720 for what is not known or not finished."""
        text, found = self.text, self.found
        end = len(text)
        stripped = text.strip()
        dollars = len(stripped) - len(stripped.lstrip("$"))
        if 1 <= dollars <= 2 and stripped.endswith("$" * dollars) and len(stripped) > 2 * dollars:
            self.at = text.index("$") + dollars
            end = text.rindex(stripped[-1]) + 1 - dollars
        while self.at < end:
            at = self.at
            character = text[at]
            if character == "\\":
                self._command(at)
            elif character in " ~\t\r\n":
                found.put(" ", at, at + 1)
                self.at += 1
            elif character == "{":
                use, self.waiting = self.waiting, ""
                found.put("" if use == "word" else "(" if use else "{", at, at + 1)
                self.braces.append(use)
                self.at += 1
            elif character == "}":
                self.at += 1
                use = self.braces.pop() if self.braces else ""
                found.put("" if use == "word" else ")" if use else "}", at, at + 1)
                self._argument_ends(use, at)
            elif character == "&" and self.matrices:
                found.put(",", at, at + 1)
                self.at += 1
            elif self.waiting:
                use, self.waiting = self.waiting, ""
                found.put("(" if use != "word" else "", at, at)
                put_character(found, text[:at + 1], at)
                found.put(")" if use != "word" else "", at, at + 1)
                self.at += 1
                self._argument_ends(use, at)
            else:
                self.at = put_character(found, text[:end], at)
        if self.waiting:
            raise error("E0720", "a command of LaTeX without its argument", (end - 1, end),
                        help="write it out: (x+1)/(x-1), sqrt(x)")
        return found

    def _argument_ends(self, use: str, at: int) -> None:
        """What follows an argument whose last character is at `at`."""
        if use == "top":
            self.found.put("/", at, at + 1)
            self.waiting = "bottom"
        elif use == "bottom":
            self.found.put(")", at, at + 1)
        elif use.startswith("^"):
            self.found.put(use + ")", at, at + 1)

    def _command(self, at: int) -> None:
        """One that begins at `at`."""
        text, found = self.text, self.found
        end = at + 1
        while end < len(text) and text[end] in LETTERS:
            end += 1
        if end == at + 1:
            end = min(end + 1, len(text))
        name = text[at + 1:end]
        self.at = end
        use, self.waiting = self.waiting, ""
        if name == "\\" and self.matrices:
            if not text[end:].lstrip().startswith("\\end"):
                found.put(";", at, end)
        elif name in FRACTIONS:
            found.put("(", at, end)
            self.waiting = "top"
            if use:  # the argument of another command is all of this fraction: too rare to follow
                raise self._refused(at, end, name)
        elif name == "sqrt":
            if use:
                raise self._refused(at, end, name)
            self._root(at, end)
        elif name in WORDS:
            found.put(" ", at, end)
            self.waiting = "word"
        elif name in ("begin", "end"):
            self._matrix(at, end, name)
        elif name in COMMANDS:
            if use and use != "word":
                found.put(f"({COMMANDS[name]})", at, end)
                self._argument_ends(use, end - 1)
            else:
                found.put(COMMANDS[name], at, end)
            if name in SIDES and text[end:end + 1] == ".":
                self.at += 1
        elif name in SCHOOL or name in SPECIAL:
            # A blank, so that a letter before it stays a factor: a\sin x is not asin x.
            found.put(" ", at, at + 1)
            for k in range(at + 1, end):
                found.put(text[k], k, k + 1)
        else:
            raise self._refused(at, end, name)

    def _refused(self, at: int, end: int, name: str) -> GradcliError:
        shown = f"\\{name}" if name.isprintable() else "this command"
        return error("E0720", f"`{shown}` is not understood here", (at, end),
                     help="write the formula as you would type it on a calculator")

    def _root(self, at: int, end: int) -> None:
        r"""\sqrt{x}, \sqrt x, \sqrt[3]{x}."""
        text, found = self.text, self.found
        if text[end:end + 1] != "[":
            found.put(" sqrt", at, end)
            self.waiting = "root"
            return
        closed = text.find("]", end, end + MAX_ROOT)
        if closed < 0:
            raise self._refused(at, end, "sqrt")
        degree = text[end + 1:closed].strip()
        self.at = closed + 1
        if degree in ("2", "3"):
            found.put(" cbrt" if degree == "3" else " sqrt", at, closed + 1)
            self.waiting = "root"
        else:
            found.put("(", at, closed + 1)
            self.waiting = f"^(1/({degree}))"

    def _matrix(self, at: int, end: int, name: str) -> None:
        r"""\begin{pmatrix}, \end{pmatrix}."""
        closed = self.text.find("}", end, end + 16)
        if (closed < 0 or self.text[end:end + 1] != "{"
                or self.text[end + 1:closed] not in MATRICES):
            raise self._refused(at, end, name)
        self.at = closed + 1
        self.matrices += 1 if name == "begin" else -1
        self.found.put("[" if name == "begin" else "]", at, closed + 1)
