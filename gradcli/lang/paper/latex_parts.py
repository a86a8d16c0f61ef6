"""The text that LaTeX delimits: arguments in braces, and the parts that are set aside for
`parts`.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.plain import Placeholder, PlainText
from gradcli.lang.paper.tokens import GREEK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.base.errors import Span


class LatexParts:
    """A LaTeX text, read up to offset `at`. waiting: the use of the next argument."""

    __slots__ = ("at", "end", "found", "text", "waiting")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.end = len(text)
        self.found = PlainText()
        self.waiting = ""

    def name_end(self, at: int) -> int:
        """Return the offset behind the name of the command that begins at `at`."""
        end = at + 1
        while end < self.end and self.text[end] in LETTERS:
            end += 1
        return end if end > at + 1 else min(end + 1, self.end)

    def behind_blanks(self, at: int) -> int:
        """Return the next offset that is no blank."""
        while at < self.end and self.text[at] in " ~\t\r\n":
            at += 1
        return at

    def argument(self, at: int) -> tuple[int, int, int]:
        """Return (start, end, next offset) of the argument at `at`.

        Raises E0720 without one, E0716 for one that is never closed.
        """
        text, end = self.text, self.end
        before = at
        at = self.behind_blanks(at)
        if at >= end or text[at] in "}&$^_":
            raise error("E0720", "a command of LaTeX without its argument",
                        (min(before, end - 1), max(at, before)), help="put it between { and }")
        if text[at] == "\\":
            stop = self.name_end(at)
            if text[at + 1:stop] in WORDS:  # F_\text{net}
                behind = self.argument(stop)[2]
                return at, behind, behind
            return at, stop, stop
        if text[at] != "{":
            return at, at + 1, at + 1
        depth = 0
        k = at
        while k < end:
            if text[k] == "\\":
                k += 1
            else:
                depth += (text[k] == "{") - (text[k] == "}")
                if not depth:
                    return at + 1, k, k + 1
            k += 1
        raise error("E0716", "this bracket is never closed", (at, at + 1), help="close it")

    def argument_ends(self, use: str, at: int) -> None:
        """Put in what follows an argument whose last character is at `at`. use: of the argument."""
        if use == "top":
            self.found.put("/", at, at + 1)
            self.waiting = "bottom"
        elif use == "bottom":
            self.found.put(")", at, at + 1)
        elif use.startswith("^"):
            self.found.put(use + ")", at, at + 1)

    # ---- parts ----------------------------------------------------------------------------------

    def _part(self, kind: str, characters: Sequence[str], place: Span, places: Sequence[Span],
              use: str = "", order: str = "") -> None:
        """Set a part aside as one of `characters`. Raises E0710 for too many parts.

        places: spans of its pieces. use: of the part.
        """
        found = self.found
        if len(found.parts) == len(characters):
            raise error("E0710", f"a formula has at most {len(characters)} sums, cases, binomials"
                        " and norms", place, help="name some of them")
        character = characters[len(found.parts)]
        found.parts[character] = Placeholder(kind, place, places, order)
        found.expands = True
        self.at = place[1]
        if use and use != "word":
            found.put(f"({character})", *place)
            self.argument_ends(use, place[1] - 1)
        else:
            found.put(character, *place)

    def binomial(self, at: int, use: str) -> None:
        r"""Set \binom{n}{k} aside."""
        upper = self.argument(self.at)
        lower = self.argument(upper[2])
        self._part("binomial", t.CHARACTERS, (at, lower[2]), [upper[:2], lower[:2]], use)

    def sum(self, at: int, end: int, name: str) -> None:
        r"""Set the sign of \sum_{k=1}^{n} or \prod\limits^{n}_{k=1} aside; its terms follow.

        Raises E0720 for missing and for infinite bounds.
        """
        text = self.text
        bounds: dict[str, Span] = {}
        behind = end
        while True:
            begin = self.behind_blanks(behind)
            if text.startswith(("\\limits", "\\nolimits"), begin):
                behind = self.name_end(begin)
                continue
            script = text[begin:begin + 1]
            if begin >= self.end or script not in ("_", "^") or script in bounds:
                break
            first, last, behind = self.argument(begin + 1)
            bounds[script] = first, last
        low = bounds.get("_", (at, end))
        equals = text.find("=", *low)
        if len(bounds) < 2 or equals < 0 or text.find("=", equals + 1, low[1]) >= 0:
            raise error("E0720", "a sum without its bounds" if name == "sum" else
                        "a product without its bounds", (at, behind),
                        help=f"write \\{name}_{{k=1}}^{{n}}")
        places = [(low[0], equals), (equals + 1, low[1]), bounds["^"]]
        infinite = next((span for span in places if "\\infty" in text[slice(*span)]
                         or "∞" in text[slice(*span)]), None)
        if infinite is not None:
            raise error("E0720", "an infinite sum has no last term" if name == "sum" else
                        "an infinite product has no last factor", infinite,
                        help="give a number or a name as the bound")
        characters = t.SUMS if name == "sum" else t.PRODUCTS
        self._part(SUMS[name], characters, (at, behind), places)

    def norm(self, at: int, end: int) -> None:
        r"""Set \|x\| or \lVert x \rVert_1 aside. Raises E0717 without its end, E0720 for others."""
        text = self.text
        ending = "\\|" if text[at + 1] == "|" else "\\rVert" if text[at + 1] == "l" else "\\Vert"
        closed = text.find(ending, end, self.end)
        if closed < 0:
            raise error("E0717", "this bar has no partner", (at, end), help=f"write {ending}")
        stop = closed
        for side in ("\\right", "\\left"):
            if text[:closed].rstrip().endswith(side):
                stop = text.rindex(side, end, closed)
        behind = closed + len(ending)
        order = ""
        if text[behind:behind + 1] == "_":
            first, last, behind = self.argument(behind + 1)
            order = text[first:last].strip()
            if order not in ("1", "2", "\\infty"):
                raise error("E0720", "this norm is not known", (first, last),
                            help="the norms are 1, 2 and \\infty")
        self._part("norm", t.CHARACTERS, (at, behind), [(end, stop)], order=order)

    def is_cases(self, at: int) -> bool:
        r"""Return whether \left\{ \begin{array} or the like begins cases, behind \left."""
        at = self.behind_blanks(at)
        if not self.text.startswith(("\\{", "\\lbrace"), at):
            return False
        at = self.behind_blanks(self.name_end(at))
        return self.text.startswith(("\\begin{array}", "\\begin{matrix}", "\\begin{aligned}"), at)

    def cases(self, at: int, begin: int, use: str) -> None:
        """Set cases aside. at: where they begin; begin: offset at or before their environment.

        Raises E0720 for cases without an end.
        """
        text = self.text
        begin = text.index("\\begin", begin)
        inside = text.index("}", begin) + 1
        if text.startswith("{array}", begin + 6):
            inside = self.argument(inside)[2]
        depth = 0
        stop = begin
        while True:
            found = [k for k in (text.find("\\begin", stop, self.end),
                                 text.find("\\end", stop, self.end)) if k >= 0]
            if not found:
                raise error("E0720", "this environment has no end", (begin, inside),
                            help=f"write {text[begin:inside].replace('begin', 'end', 1)}")
            stop = min(found)
            depth += 1 if text.startswith("\\begin", stop) else -1
            if not depth:
                break
            stop += 4
        behind = text.find("}", stop, self.end) + 1 or self.end
        if begin != at:  # \left\{ ... \right.
            closed = self.behind_blanks(behind)
            side = self.name_end(closed) if closed < self.end else closed
            if text[closed:side] != "\\right" or side == self.end:
                raise error("E0720", "cases without their end", (at, behind),
                            help="write \\right. behind them")
            behind = side + 1 + (text[side] == "\\")
        self._part("cases", t.CHARACTERS, (at, min(behind, self.end)), [(inside, stop)], use)


# --------------------------------------------------------------------------------------------------
# The commands of LaTeX, as data: what each is as plain text, and what it is refused for.

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
LETTER = {name: letter for letter, name in reversed(GREEK.items())}
COMMANDS = {
    **LETTER, "varphi": "φ", "vartheta": "θ", "varepsilon": "ε", "varrho": "ρ",
    **dict.fromkeys(("cdot", "times", "ast", "star"), "*"), "div": "/", "pm": "±", "mp": "∓",
    **dict.fromkeys(("langle", "lt"), "<"), **dict.fromkeys(("rangle", "gt"), ">"),
    **dict.fromkeys(("vert", "lvert", "rvert", "mid"), "|"), "lbrace": "{", "rbrace": "}",
    "lbrack": "[", "rbrack": "]", "infty": "∞", "degree": "°", "circ": "°", "prime": "'",
    **dict.fromkeys(("Rightarrow", "Longrightarrow", "implies", "therefore"), "⇒"),
    "partial": "∂", "nabla": "∇", "dots": "…", "ldots": "…", "cdots": "…", "imath": "i",
    "jmath": "j", "ell": "l", "colon": ":", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥",
    "ne": "≠", "neq": "≠", "approx": "≈", "lfloor": " floor(", "rfloor": ")", "lceil": " ceil(",
    "rceil": ")", "slash": "/",
    **dict.fromkeys((",", ";", ":", "!", " ", ">", "\n", "\t", "quad", "qquad", "(", ")", "[", "]",
                     "thinspace", "enspace", "medspace", "thickspace", "negthinspace"), " "),
    **dict.fromkeys(("left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "bigg", "Bigg",
                     "biggl", "biggr", "Biggl", "Biggr", "middle", "displaystyle", "textstyle",
                     "scriptstyle", "limits", "nolimits", "rm", "it", "bf"), ""),
    "{": "{", "}": "}", "%": "%", "$": "$", "&": "&", "#": "#", "_": "_",
}
SIDES = frozenset(("left", "right", "middle"))
BEFORE_BRACKETS = frozenset((
    "left", "big", "Big", "bigl", "Bigl", "bigg", "Bigg", "biggl", "Biggl"))
FRACTIONS = frozenset(("frac", "dfrac", "tfrac", "cfrac"))
BINOMIALS = frozenset(("binom", "dbinom", "tbinom"))
SUMS = {"sum": "sum over", "prod": "product over"}
WORDS = frozenset((
    "operatorname", "mathrm", "text", "textrm", "mathbf", "mathit", "mathsf", "vec", "hat", "bar",
    "boldsymbol", "bm", "mbox", "textbf", "textit", "overrightarrow", "widehat", "mathop",
    "boxed", "mathbb", "mathcal", "mathnormal", "mathscr"))
# With one of these a letter is another name; in an answer that is the unit vector or the mean that
# the problem calls by its letter.
ACCENTS = {"hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "tilde": "tilde",
           "widetilde": "tilde", "dot": "dot", "ddot": "ddot", "check": "check", "breve": "breve"}
MATRICES = frozenset(("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array"))
CASES = frozenset(("cases", "dcases", "rcases"))
NORMS = frozenset(("|", "Vert", "lVert"))

# Commands that have a meaning, but none as a formula here.
REFUSED = {
    **dict.fromkeys(("int", "iint", "iiint", "oint"), (
        "an integral is not read", "give the formula that it is, such as x^2/2")),
    **dict.fromkeys(("lim", "limsup", "liminf", "sup", "inf", "to", "rightarrow"), (
        "a limit is not read", "give the formula that it is")),
    "over": ("`\\over` is not understood here", r"write \frac{x+1}{x-1}"),
    "choose": ("`\\choose` is not understood here", r"write \binom{n}{k}"),
    "atop": ("`\\atop` is not understood here", r"write \frac{x+1}{x-1}"),
    **dict.fromkeys(("bmod", "pmod", "mod"), (
        "a remainder is not read in this spelling", r"write \operatorname{mod}(x, y)")),
    **dict.fromkeys(("top", "intercal", "dagger"), (
        "a transposed matrix is not read", "write its elements")),
}
