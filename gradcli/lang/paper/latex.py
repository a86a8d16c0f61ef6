r"""LaTeX as plain text: \frac, \sqrt, \cdot, \left, matrices; sums and the like are set aside.

One pass without recursion: commands that wait for their argument, and text that ends with the next
brace, lie on stacks. Cases, binomials, sums and norms, whose limits LaTeX itself shows, become one
character each and are read by `parts`. All else is a formula as people write it by hand, with
products that have no sign and functions that have no brackets; so its rules are those of an answer
(`marks`, `answer.lark`), and LaTeX has no second grammar of formulas.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.lang.paper import tokens as t
from gradcli.lang.paper.latex_parts import (
    ACCENTS,
    BEFORE_BRACKETS,
    BINOMIALS,
    CASES,
    COMMANDS,
    FRACTIONS,
    LETTER,
    MATRICES,
    NORMS,
    REFUSED,
    SIDES,
    SUMS,
    WORDS,
    LatexParts,
)
from gradcli.lang.paper.plain import PlainText, put_character
from gradcli.lang.paper.tokens import ALONE, GREEK, LOADED, SCHOOL, SPECIAL, STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import GradcliError

MAX_ROOT = 12


class LatexReader(LatexParts):
    r"""A LaTeX text while it is read.

    program, decimal_comma: as in `ProblemNames`.
    braces: the use of each open one.
    matrices: the number of open ones.
    called: offset at which the bracket of a function begins.
    sets: for each open \{, whether it is such a bracket.
    """

    __slots__ = ("braces", "called", "decimal_comma", "matrices", "program", "sets")

    def __init__(self, text: str, program: bool = False, decimal_comma: bool = False) -> None:
        super().__init__(text)
        self.program = program
        self.decimal_comma = decimal_comma
        self.braces: list[str] = []
        self.matrices = 0
        self.called = -1
        self.sets: list[bool] = []

    def run(self, begin: int, end: int) -> PlainText:
        """Convert text[begin:end] to plain text.

        Raises E0713 for a comma inside a number, E0720 for what is unknown or unfinished.
        """
        text, found = self.text, self.found
        stripped = text[begin:end].strip().rstrip(".,; ")
        dollars = len(stripped) - len(stripped.lstrip("$"))
        self.at = begin
        if 1 <= dollars <= 2 and stripped.endswith("$" * dollars) and len(stripped) > 2 * dollars:
            self.at = text.index("$", begin) + dollars
            end = text.rindex(stripped[-1], begin, end) + 1 - dollars
        self.end = end
        while self.at < end:
            at = self.at
            character = text[at]
            if character == "\\":
                self._command(at)
            elif character in " ~\t\r\n":
                found.put(" ", at, at + 1)
                self.at += 1
            elif text.startswith("{,}", at):
                if self.decimal_comma:
                    found.put(",", at, at + 3)
                    self.at += 3
                    continue
                raise error("E0713", "a comma inside a number", (at, at + 3),
                            help="write a dot, as in 1.5")
            elif character == "{":
                use, self.waiting = self.waiting, ""
                found.put("" if use == "word" else "(" if use else "{", at, at + 1)
                self.braces.append(use)
                self.at += 1
            elif character == "}":
                self.at += 1
                use = self.braces.pop() if self.braces else ""
                found.put("" if use == "word" else ")" if use else "}", at, at + 1)
                self.argument_ends(use, at)
            elif character == "&" and self.matrices:
                found.put(",", at, at + 1)
                self.at += 1
            elif self.waiting:
                use, self.waiting = self.waiting, ""
                found.put("(" if use != "word" else "", at, at)
                put_character(found, text[:at + 1], at)
                found.put(")" if use != "word" else "", at, at + 1)
                self.at += 1
                self.argument_ends(use, at)
            elif self.program and character in "^_" and self._is_unbraced(at + 1):
                raise error("E0720", "without braces this takes one digit only", (at, at + 3),
                            help=f"write {text[at]}{{{text[at + 1:at + 3]}}}, or a blank between")
            elif character == "_":
                self._index(at)
            else:
                self.at = put_character(found, text[:end], at)
        if self.waiting:
            raise error("E0720", "a command of LaTeX without its argument", (end - 1, end),
                        help="write it out: (x+1)/(x-1), sqrt(x)")
        return found.finish(end)

    def _is_unbraced(self, at: int) -> bool:
        """Return whether several digits stand behind ^ or _, as in x^10."""
        return at + 1 < self.end and self.text[at].isdecimal() and self.text[at + 1].isdecimal()

    def _command(self, at: int) -> None:
        """Convert the command that begins at `at`. Raises E0720 for one that is not read."""
        text, found = self.text, self.found
        end = self.name_end(at)
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
        elif name in BINOMIALS:
            self.binomial(at, use)
        elif name in SUMS:
            if use:
                raise self._refused(at, end, name)
            self.sum(at, end, name)
        elif self.program and name in ACCENTS:
            self._accent(at, end, ACCENTS[name])
        elif self.program and name in NORMS:
            self.norm(at, end)
        elif self.program and name == "approx":
            raise error("E0720", "an approximation is not a formula", (at, end),
                        help="write = before the formula that is meant")
        elif name in WORDS:
            self._word(at, end)
        elif name == "left" and self.is_cases(end):
            self.cases(at, end, use)
        elif name in ("begin", "end"):
            self._environment(at, end, name, use)
        elif name == "Gamma" and self._bracket(end):
            self._function(at, end, "gamma")
        elif name in COMMANDS:
            self._sign(at, end, name, use)
        elif name in SCHOOL or name in ALONE:
            # A blank, so that a letter before it stays a factor: a\sin x is not asin x.
            found.put(" ", at, at + 1)
            for k in range(at + 1, end):
                found.put(text[k], k, k + 1)
        elif name in SPECIAL:
            self._function(at, end, name)
        else:
            raise self._refused(at, end, name)

    def _sign(self, at: int, end: int, name: str, use: str) -> None:
        """Convert a command that is one sign, or nothing."""
        shown = COMMANDS[name]
        if shown == "{":
            self.sets.append(at == self.called)
            shown = "(" if self.sets[-1] else "{"
        elif shown == "}" and self.sets and self.sets.pop():
            shown = ")"
        if use and use != "word":
            self.found.put(f"({shown})", at, end)
            self.argument_ends(use, end - 1)
        else:
            self.found.put(shown, at, end)
        if name in SIDES and self.text[end:end + 1] == ".":
            self.at += 1

    def _refused(self, at: int, end: int, name: str) -> GradcliError:
        shown = f"\\{name}" if name.isprintable() else "this command"
        message, advice = REFUSED.get(name, (
            f"`{shown}` is not understood here",
            "write the formula as you would type it on a calculator"))
        return error("E0720", message, (at, end), help=advice)

    # ---- words ----------------------------------------------------------------------------------

    def _word(self, at: int, end: int) -> None:
        r"""Convert \mathrm{loss}, \operatorname{erf}(x), \vec{x}. Raises E0720 for prose."""
        text = self.text
        begin = self.behind_blanks(end)
        closed = text.find("}", begin, self.end)
        if text[begin:begin + 1] == "{" and closed > 0:
            word = text[begin + 1:closed].strip()
            if (word in SPECIAL and word not in SCHOOL and word not in ALONE and word not in LOADED
                    and (self.program or self._bracket(closed + 1))):
                self._function(at, closed + 1, word)
                return
            if self.program and self._is_prose(word):
                raise error("E0720", "words are not part of a formula", (at, closed + 1),
                            help="leave them out")
        self.found.put(" ", at, end)
        self.waiting = "word"

    def _is_prose(self, word: str) -> bool:
        r"""Return whether the text in \text is not a name."""
        from gradcli.lang.syntax.lexer import KEYWORDS

        return word in STOP_WORDS or word in KEYWORDS or " " in word or "~" in word

    def _function(self, at: int, end: int, name: str) -> None:
        """Convert a function that is one only before a bracket.

        Raises E0715 for another place, E0712 for sinc, which has two meanings.
        """
        bracket = self._bracket(end)
        if name == "sinc" and self.program:
            raise error("E0712", "`sinc` has two meanings", (at, end),
                        help=r"write \frac{\sin x}{x} or \frac{\sin \pi x}{\pi x}")
        if not bracket:
            raise error("E0715", f"`{name}` needs brackets around what it is of", (at, end),
                        help=f"write {self.text[at:end].strip()}(x)")
        inside = self.text.find(name, at, end)
        self.found.put(t.CALL_SIGN, at, at + 1)
        for k, letter in enumerate(name):
            place = (at, end) if inside < 0 else (inside + k, inside + k + 1)
            self.found.put(letter, *place)
        self.at = self.called = bracket

    def _bracket(self, at: int) -> int:
        r"""Return the offset of the bracket of a call: (, \left(, \{. 0 if there is none."""
        at = self.behind_blanks(at)
        if self.text.startswith("\\", at):
            end = self.name_end(at)
            if self.text[at + 1:end] in BEFORE_BRACKETS:
                at = self.behind_blanks(end)
        return at if self.text.startswith(("(", "\\{", "\\lbrace"), at) and at < self.end else 0

    def _accent(self, at: int, end: int, accent: str) -> None:
        r"""Convert \hat y to the name y_hat, \bar{x}_1 to x_bar_1. Raises E0720 for no letter."""
        text = self.text
        begin, stop, behind = self.argument(end)
        letter = text[begin:stop].strip()
        if letter.startswith("\\"):
            letter = LETTER.get(letter[1:], "")
        if len(letter) != 1 or not letter.isalpha():
            raise error("E0720", "what stands below this is not a letter", (at, behind),
                        help=f"write {text[at:end]}{{x}}")
        index = ""
        if text[behind:behind + 1] == "_":
            first, last, behind = self.argument(behind + 1)
            index = "_" + self._subscript(first, last)
        self.found.put(" ", at, begin)
        self.found.put(letter, begin, stop)
        self.found.put(f"_{{{accent}{index}}}", at, behind)
        self.at = behind

    def _index(self, at: int) -> None:
        r"""Convert _{\text{max}}, _\mu; all other indices are as in plain text."""
        text, found = self.text, self.found
        begin = self.behind_blanks(at + 1)
        behind_log = "".join(found.characters[-3:]) == "log"
        if not behind_log and text[begin:begin + 1] in ("{", "\\"):
            first, last, behind = self.argument(at + 1)
            if "\\" in text[first:last] or "," in text[first:last]:
                found.put(f"_{{{self._subscript(first, last)}}}", at, behind)
                self.at = behind
                return
        found.put("_", at, at + 1)
        self.at = at + 1

    def _subscript(self, begin: int, end: int) -> str:
        """Return the letters and digits of an index, without the commands that only set them.

        Raises E0720 for an index that is more.
        """
        text = self.text
        word = ""
        at = begin
        while at < end:
            character = text[at]
            if character == "\\":
                stop = self.name_end(at)
                name = text[at + 1:stop]
                if name in GREEK.values() or name in ("max", "min"):
                    word += name
                elif name not in WORDS and COMMANDS.get(name) not in ("", " "):
                    raise self._refused(at, stop, name)
                at = stop
                continue
            if character.isascii() and character.isalnum():
                word += character
            elif character not in "{} ~,":
                raise error("E0720", "this index is not part of a name", (begin, end),
                            help="an index is a number or letters, such as x_1")
            at += 1
        if not word:
            raise error("E0720", "this index is empty", (begin, end), help="such as x_1")
        return word

    # ---- roots and matrices ---------------------------------------------------------------------

    def _root(self, at: int, end: int) -> None:
        r"""Convert \sqrt{x}, \sqrt x, \sqrt[3]{x}."""
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

    def _environment(self, at: int, end: int, name: str, use: str) -> None:
        """Convert the ends of a pmatrix and its kin, and whole cases. Raises E0720 for others."""
        closed = self.text.find("}", end, end + 16)
        kind = self.text[end + 1:closed] if closed > 0 and self.text[end:end + 1] == "{" else ""
        if kind in CASES and name == "begin":
            self.cases(at, at, use)
            return
        if kind not in MATRICES:
            if kind.rstrip("*").isalpha():
                raise error("E0720", f"the environment `{kind}` is not read", (at, closed + 1),
                            help=r"those of formulas are pmatrix, cases and their kin")
            raise self._refused(at, end, name)
        self.at = closed + 1
        if kind == "array" and name == "begin":
            self.at = self.argument(closed + 1)[2]  # how columns are aligned
        self.matrices += 1 if name == "begin" else -1
        self.found.put("[" if name == "begin" else "]", at, closed + 1)
